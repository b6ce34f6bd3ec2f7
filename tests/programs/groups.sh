# Programs with cooperative groups, libcu++ and clusters. They need headers of the CUDA toolkit.
. "${srcdir:-.}/tests/style/tap.sh"

PATH=$(cd "$builddir" && pwd):$PATH
export PATH
unset PTXLOOM_DEVICE CUDA_VISIBLE_DEVICES
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
nvcc=
for place in nvcc /usr/local/cuda/bin/nvcc; do
	nvcc=$(command -v "$place") && break
done

# try NAME ARCH DEVICE: built for sm_ARCH; one worker and several, in natural and in another order.
try()
{
	if [ -z "$nvcc" ]; then
		skip "$1" "no nvcc"
		return
	fi
	"$nvcc" -std=c++17 -cudart shared -gencode "arch=compute_$2,code=compute_$2" -o "$scratch/$1" \
		"$srcdir/tests/programs/$1.cu" >"$scratch/out" 2>&1
	status=$?
	[ "$status" -eq 0 ] || head -n 30 "$scratch/out" | sed 's/^/# /'
	ok "$status" "$1: builds"
	for how in "1 0" "4 0" "1 77" "4 78"; do
		PTXLOOM_WORKERS=${how% *} PTXLOOM_SEED=${how#* } PTXLOOM_DEVICE=$3 timeout 60 \
			ptxloom run "$scratch/$1" >"$scratch/out" 2>&1
		[ "$(tail -n 1 "$scratch/out")" = "all right" ]
		status=$?
		[ "$status" -eq 0 ] || head -n 30 "$scratch/out" | sed 's/^/# /'
		ok "$status" "$1: is right with ${how% *} workers and seed ${how#* }"
	done
}

try groups 80 a100
try clusters 90 h100
finish
