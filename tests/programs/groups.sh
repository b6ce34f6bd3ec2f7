# Programs with cooperative groups, libcu++ and clusters. They need headers of the CUDA toolkit.
. "${srcdir:-.}/tests/tap.sh"

needs_nvcc

# try NAME ARCH DEVICE: built for sm_ARCH; one worker and several, in natural and in another order.
try()
{
	succeeds "$1: builds" "$nvcc" -std=c++17 -cudart shared -gencode "arch=compute_$2,code=compute_$2" \
		-o "$scratch/$1" "$srcdir/tests/programs/$1.cu"
	for how in "1 0" "4 0" "1 77" "4 78"; do
		works "$1: is right with ${how% *} workers and seed ${how#* }" env "PTXLOOM_WORKERS=${how% *}" \
			"PTXLOOM_SEED=${how#* }" "PTXLOOM_DEVICE=$3" timeout 60 ptxloom run "$scratch/$1"
	done
}

try groups 80 a100
try clusters 90 h100
finish
