# Kernels that go wrong in memory, each with its like that does not: all are found, at their lines, none is invented.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
source=tests/check/mem.cu

# look KERNEL OPTION...: runs it in two CTAs of two warps.
look()
{
	kernel=$1
	shift
	timeout 120 env PTXLOOM_CHECK=mem "$@" ptxloom exec tests/check/mem.ptx --kernel "$kernel" --grid 2 \
		--block 64 --shared 128 --buffer o:u32[256] >"$scratch/out" 2>"$scratch/err"
	code=$?
}

# expected KERNEL: is the verdict what its name says, and the line the one that is marked?
expected()
{
	line=$(awk -v k="$1" '$0 ~ "// " k "$" { print FNR }' $source)
	case $1 in
	mem_*)
		{ [ "$code" -eq 86 ] || [ "$code" -eq 1 ]; } && [ -n "$line" ] &&
			grep -q "mem.cu:$line$" "$scratch/err" && grep -q 'ERROR SUMMARY: [1-9]' "$scratch/err"
		;;
	*) [ "$code" -eq 0 ] && grep -q 'ERROR SUMMARY: 0 errors' "$scratch/err" ;;
	esac
}

kernels=$(sed -n 's/^KERNEL \([a-z_]*\)(.*/\1/p' $source)
for kernel in $kernels; do
	look "$kernel"
	expected "$kernel"
	verdict $? "$kernel"
done
ok "$([ "$(echo "$kernels" | wc -l)" -ge 36 ]; echo $?)" "there are kernels"

for kernel in $kernels; do
	wrong=
	case $kernel in *_shared_* | *_heap_*) ;; *) continue ;; esac
	for mode in PTXLOOM_SEED=3 PTXLOOM_WORKERS=3 PTXLOOM_DETERMINISTIC=1 PTXLOOM_HOST_ISA=base \
		PTXLOOM_DEVICE=h100; do
		look "$kernel" "$mode"
		expected "$kernel" || wrong="$wrong $mode"
	done
	empty "$wrong" "$kernel in every mode"
done

look mem_shared_neighbour
says err '^========= Invalid __shared__ write of size 4 bytes$'
says err '^=========     Address 0x80 is out of bounds and is 0 bytes after the variable .*a of 128 bytes$'
look mem_heap_neighbour
says err 'is out of bounds and is 0 bytes after a 64-byte block of device-side malloc at 0x'
look mem_heap_freed
says err 'is out of bounds and is 0 bytes inside a freed 40-byte block of device-side malloc at 0x'
look mem_shared_neighbour PTXLOOM_CHECK=race,mem
says err '^========= Invalid __shared__ write of size 4 bytes$' "with another check"
for kernel in mem_misaligned_end mem_misaligned_end_generic; do
	look $kernel
	says err 'Address 0x[0-9a-f]+ is not a multiple of [48]; it is 102[02] bytes inside a 1024-byte' \
		"$kernel"
done
look mem_misaligned_outside
says err 'is out of bounds and is 2 bytes after a 1024-byte allocation'
# Sizes that programs and launches see are those of the program.
status 0 env PTXLOOM_CHECK=mem ptxloom exec tests/check/mem.ptx --kernel fine_shared_full --block 64 --buffer o:u32[64]
# An address of the cluster says whose shared memory it is.
cat >"$scratch/rank.ptx" <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry rank(.param .u64 o)
{
	.reg .b32 %a;
	.reg .b64 %s;
	.shared .align 8 .b64 bar;
	mov.u32 %a, bar;
	mbarrier.init.shared::cta.b64 [%a], 1;
	mapa.shared::cluster.u32 %a, %a, 1;
	mbarrier.arrive.shared::cta.b64 %s, [%a];
	ret;
}
END
status 86 ptxloom exec -d h100 --check=mem "$scratch/rank.ptx" --kernel rank --buffer o:u32[1]
says err ' is out of bounds and is in the shared memory of block 1 of the cluster, which has no such block$'
finish
