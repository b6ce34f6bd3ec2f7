#!/bin/sh
# Forms of instructions, and random programs, on a GPU and on the emulated device: results must be the
# same. Needs a GPU of compute capability 9.0 and its driver; without one it says so.
#
#   tests/oracle/form_cross.sh BUILD [OPTION...]
#
# BUILD: build directory, with tests/oracle/form_cross; LIBCUDA: the GPU's driver library; options are
# those of form_cross: -p 1000 for programs, -r 4 for programs about each row of memory and warps.
set -u
build=${1:?usage: form_cross.sh BUILD [OPTION...]}
shift
real=${LIBCUDA:-libcuda.so.1}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/results"

PTXLOOM_DEVICE=h200 "$build/tests/oracle/form_cross" "$build/.libs/libcuda.so.1" "$@" >"$work/ours" || {
	echo "form_cross: the emulated device fails:"
	grep -v '	[0-9a-f]\{8\}$' "$work/ours"
	exit 1
}
"$build/tests/oracle/form_cross" "$real" "$@" -w "$work/ours" -d "$work/results" >"$work/gpu" 2>"$work/why"
status=$?
if [ $status -eq 77 ]; then
	echo "SKIP: no GPU here: $(head -n 1 "$work/why")"
	exit 77
fi
tail -n 1 "$work/why"
[ $status -eq 0 ] && exit 0
cat "$work/gpu"
PTXLOOM_DEVICE=h200 "$build/tests/oracle/form_cross" "$build/.libs/libcuda.so.1" "$@" -x "$work/results"
exit 1
