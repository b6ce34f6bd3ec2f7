#!/bin/sh
# Random tiles of every kind of matrix instruction on a GPU and on the emulated device: results must
# be the same. Needs a GPU of compute capability 9.0 and its driver; without one it says so.
#
#   tests/oracle/matrix_cross.sh BUILD [TILES [TEXT]]
#
# BUILD: build directory, with tests/oracle/matrix_cross; LIBCUDA: the GPU's driver library.
set -u
build=${1:?usage: matrix_cross.sh BUILD [TILES [TEXT]]}
shift
real=${LIBCUDA:-libcuda.so.1}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

PTXLOOM_DEVICE=h200 "$build/tests/oracle/matrix_cross" "$build/.libs/libcuda.so.1" "$@" >"$work/ours" ||
	{ echo "matrix_cross: the emulated device fails:"; grep fails "$work/ours"; exit 1; }
"$build/tests/oracle/matrix_cross" "$real" "$@" >"$work/gpu" 2>"$work/why"
status=$?
if [ $status -eq 77 ]; then
	echo "SKIP: no GPU here: $(head -n 1 "$work/why")"
	exit 77
fi
if cmp -s "$work/ours" "$work/gpu"; then
	echo "all $(wc -l <"$work/ours") groups of 4096 tiles agree"
	exit 0
fi
diff "$work/gpu" "$work/ours" | grep '^[<>]' | cut -f 1,2 | sort | uniq -c
exit 1
