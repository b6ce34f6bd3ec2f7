# A program with textures and surfaces, built with our own header and, where there is one, with nvcc.
. "${srcdir:-.}/tests/tap.sh"

# try NAME COMMAND...: the program that the command makes as $scratch/NAME.
try()
{
	name=$1
	shift
	succeeds "$name: builds" "$@" -o "$scratch/$name" "$srcdir/tests/programs/textures.cu"
	succeeds "$name: runs" timeout 60 ptxloom run "$scratch/$name"
	is out "0 wrong"
}

needs_clang
try clang ptxloom cc
needs_nvcc
try nvcc "$nvcc" -arch=sm_80
finish
