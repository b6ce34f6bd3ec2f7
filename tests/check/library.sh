# Nothing is found in algorithms of CUB and Thrust, warnings included.
. "${srcdir:-.}/tests/tap.sh"
cd "$scratch" || exit 1
needs_nvcc
if ! skipping; then
	echo '#include <cub/version.cuh>' >cub.cu
	"$nvcc" -arch=sm_80 -std=c++17 -E cub.cu >cub.ii 2>&1 || skip_rest "the toolkit has no CUB"
fi
succeeds "nvcc builds algorithms of CUB and Thrust" "$nvcc" -arch=sm_80 -std=c++17 -lineinfo \
	"$top/tests/check/library.cu" -o library
skipping || { capture timeout 300 ptxloom check ./library && grep -q '^cudaSuccess$' out; }
verdict $? "they run under all checks"
skipping || ! grep -q '^========= \(Warning\|Error:\|Invalid\|Uninit\|Program\|Leaked\)' err
verdict $? "nothing is found"
skip_rest ""
finish
