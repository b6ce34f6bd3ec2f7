# Bulk and tensor copies and surfaces that go wrong, by the check that finds it, each with its like that does not.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
source=tests/check/engines.cu
kernels=$(sed -n 's/^KERNEL \([a-z_]*\)(.*/\1/p' $source)
for kernel in $kernels; do echo "RUN($kernel)"; done >"$scratch/engines.inc"
PTXLOOM_DEVICE=h100
export PTXLOOM_DEVICE

# look KERNEL: under its check; the right ones under all that look at accesses.
look()
{
	check=${1%%_*}
	[ "$check" != fine ] || check=mem,init,sync,race
	capture timeout 120 ptxloom run --check="$check" "$scratch/program" "$1"
	code=$?
}

# expected KERNEL: is the verdict what its name says, at the line that is marked?
expected()
{
	line=$(awk -v k="$1" '$0 ~ "// " k "$" { print FNR }' $source)
	case $1 in
	fine_*) [ "$code" -eq 0 ] && grep -q 'SUMMARY: 0 ' "$scratch/err" ;;
	*) [ "$code" -eq 86 ] && [ -n "$line" ] && grep -q "engines.cu:$line\b" "$scratch/err" ;;
	esac
}

try_all()
{
	for kernel in $kernels; do
		skipping || look "$kernel"
		expected "$kernel"
		verdict $? "$1: $kernel"
	done
	skipping && return
	look mem_load_source
	says err '^========= Invalid __global__ read of size 256 bytes$'
	says err 'Address 0x[0-9a-f]*310 is out of bounds and is 784 bytes inside a 1024-byte allocation'
	look mem_store_destination
	says err '^========= Invalid __global__ write of size 256 bytes$'
	look mem_tile_map
	says err 'is out of bounds and is 0 bytes inside a freed 1024-byte allocation'
	look mem_surface_write
	says err 'is out of bounds and is byte 256 of a surface of 256$'
	look sync_tile
	says err 'No thread has waited for the phase of its mbarrier'
}

needs_clang
succeeds "clang builds it" ptxloom cc -arch=sm_90 -lineinfo -I"$scratch" $source -o "$scratch/program"
try_all clang
needs_nvcc
succeeds "nvcc builds it" "$nvcc" -arch=sm_90 -lineinfo -I"$scratch" $source -o "$scratch/program"
try_all nvcc
skip_rest ""
ok "$([ "$(echo "$kernels" | wc -l)" -ge 24 ]; echo $?)" "there are kernels"
finish
