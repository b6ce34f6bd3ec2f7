#!/bin/sh
# Random tiles of every kind of matrix instruction on a GPU and on the emulated device: results must
# be the same. Needs a GPU of compute capability 9.0 and its driver; without one it says so.
#
#   tests/oracle/matrix_cross.sh BUILD [TILES [TEXT]]
#
# BUILD: build directory, with tests/oracle/matrix_cross; LIBCUDA: the GPU's driver library; TILES of
# each form (10^6), TEXT: forms that contain it. All takes an hour and a half of one core.
set -u
build=${1:?usage: matrix_cross.sh BUILD [TILES [TEXT]]}
tiles=${2:-1000000}
text=${3:-}
real=${LIBCUDA:-libcuda.so.1}
jobs=${JOBS:-$(nproc)}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# cross NAME LIBRARY: every job takes its part of the forms
cross()
{
	part=0
	while [ "$part" -lt "$jobs" ]; do
		"$build/tests/oracle/matrix_cross" -t "$tiles" -f "$text" -p "$part/$jobs" "$2" \
			>"$work/$1.$part" 2>"$work/why" &
		part=$((part + 1))
	done
	wait
	sort "$work/$1".* >"$work/$1"
}

"$build/tests/oracle/matrix_cross" -t 1 -f m8n8k4.row.row.f16 "$real" >"$work/probe" 2>"$work/why"
if [ $? -eq 77 ]; then
	echo "SKIP: no GPU here: $(head -n 1 "$work/why")"
	exit 77
fi
cross gpu "$real"
PTXLOOM_DEVICE=h200 PTXLOOM_WORKERS=1
export PTXLOOM_DEVICE PTXLOOM_WORKERS
cross ours "$build/.libs/libcuda.so.1"
if cmp -s "$work/ours" "$work/gpu"; then
	echo "all $(wc -l <"$work/ours") digests of $(cut -f 1 "$work/gpu" | sort -u | wc -l) forms agree"
	exit 0
fi
diff "$work/gpu" "$work/ours" | grep '^[<>]' | cut -f 1,2 | sort | uniq -c
exit 1
