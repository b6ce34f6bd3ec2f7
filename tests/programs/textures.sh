# A program with textures and surfaces, built with our own header and, where there is one, with nvcc.
. "${srcdir:-.}/tests/style/tap.sh"

PATH=$(cd "$builddir" && pwd):$PATH
export PATH
unset PTXLOOM_DEVICE CUDA_VISIBLE_DEVICES
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# try NAME COMMAND...: the program that the command makes as $scratch/NAME.
try()
{
	name=$1
	shift
	"$@" -o "$scratch/$name" "$srcdir/tests/programs/textures.cu" >"$scratch/out" 2>&1
	status=$?
	[ "$status" -eq 0 ] || head -n 30 "$scratch/out" | sed 's/^/# /'
	ok "$status" "$name: builds"
	[ "$(timeout 60 ptxloom run "$scratch/$name" 2>&1)" = "0 wrong" ]
	ok "$?" "$name: is right"
}

if command -v clang >/dev/null || command -v clang-14 >/dev/null; then
	try clang ptxloom cc
else
	skip "clang" "no clang"
fi
nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc)
if [ -n "$nvcc" ]; then
	try nvcc "$nvcc" -arch=sm_80
else
	skip "nvcc" "no nvcc"
fi
finish
