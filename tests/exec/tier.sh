# The same results with compiled runs of micro-ops as without: of kernels whose lanes overwrite what others load,
# diverge, meet numbers that are none, and fault.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
: "${CC:=cc}"

if PTXLOOM_TIER=2 ptxloom exec samples/saxpy.ptx --arg u32=0 --arg f32=2 --arg u64=0 --arg u64=0 2>&1 |
	grep -q "not installed"; then
	skip_rest "LLVM is not installed"
fi

# same NAME FILE KERNEL ARGUMENT..: with either tier, at each level that is compiled for. One worker: CTAs
# overwrite what others load.
same()
{
	name=$1
	kernel=$3
	file=$2
	shift 3
	if skipping; then
		ok 0 "$name"
		return
	fi
	for level in v3 v4; do
		for tier in 1 2; do
			PTXLOOM_WORKERS=1 PTXLOOM_HOST_ISA=$level PTXLOOM_TIER=$tier \
				ptxloom exec "$file" --kernel "$kernel" "$@" \
				>"$scratch/$tier" 2>&1
			echo "status $?" >>"$scratch/$tier"
			sed 's/0x[0-9a-f]\{12\}/ADDRESS/g' "$scratch/$tier" >"$scratch/$tier.text"
		done
		if grep -q "has no level" "$scratch/1"; then
			skip "$name, $level" "the processor has no such level"
			continue
		fi
		cmp "$scratch/1.text" "$scratch/2.text"
		ok $? "$name, $level"
	done
}

kinds=tests/bench/kernels/kinds.ptx
kernels=tests/exec/tier.ptx
same "own elements" "$kernels" own --block 256 --grid 4 --buffer x:f32[1000]=random:3 --arg s32=1000 --dump x
same "other warps' elements" "$kernels" shift --block 256 --grid 4 \
	--buffer x:f32[1100]=random:3 --arg s32=1000 --arg s32=32 \
	--dump x
same "those before" "$kernels" shift --block 256 --grid 4 \
	--buffer x:f32[1100]=random:3 --arg s32=1000 --arg s32=-32 --dump x
same "elements by index" "$kernels" mix --block 256 --grid 4 \
	--buffer x:u32[1100]=random:3 --buffer i:u32[1000]=random:4 \
	--arg s32=1000 --dump x
same "one element for lanes of several warps" "$kernels" collide --block 256 --grid 1 \
	--buffer x:u32[64]=random:3 --buffer "i:u32=$(seq 1 256 | awk '{printf "%s%d", s, $1 * 7 % 64; s = ","}')" \
	--arg s32=256 --dump x
some=-3,-1,-0.0,0,2,inf,nan,5
some=$some,$some,1e-310,$some,7,$some
same "numbers" "$kernels" numbers --block 64 \
	--buffer "a:f64=$some" --buffer "b:f32=$some" --buffer d:f64[34] --buffer f:f32[34] \
	--arg s32=34 --dump d:b64 --dump f:b32
same "rows of different lengths" "$kernels" rows --block 256 --grid 2 \
	--buffer b:s32[401]=iota --buffer x:f32[1024]=random:5 \
	--buffer out:f32[400] --arg s32=400 --dump out
same "a fault" "$kernels" beyond --block 256 --grid 2 \
	--buffer x:f32[512]=random:5 --buffer out:f32[512] --arg s32=512 \
	--arg s32=100000000 --dump out
same "five points" "$kinds" jacobi --block 32,8 --grid 3,12 \
	--buffer x:f32[8100]=random:3 --buffer out:f32[8100] --arg s32=90 \
	--dump out
same "seven points" "$kinds" heat --block 32,4 --grid 2,5 \
	--buffer x:f64[64000]=random:3 --buffer out:f64[64000] --arg s32=40 \
	--dump out
same "loops that end at different times" "$kinds" collatz --block 256 --grid 2 \
	--buffer out:s32[500] --arg s32=500 --dump out

program=$scratch/stats
succeeds "a program builds" $CC "$top/tests/programs/stats.c" -o "$program" -ldl
if PTXLOOM_TIER=2 ptxloom exec samples/saxpy.ptx 2>&1 | grep -q "levels v3"; then
	skip "runs are compiled" "the level has none"
else
	PTXLOOM_TIER=2 succeeds "it runs" ptxloom run --stats "$program"
	says err '^ptxloom: stats:   compile .* [1-9][0-9]* runs of micro-ops, by LLVM$' "and runs are compiled"
fi
PTXLOOM_HOST_ISA=v2 PTXLOOM_TIER=2 ends 2 "levels without code are told" \
	ptxloom exec "$kernels" --kernel own --buffer x:f32[4] --arg s32=4
says err "PTXLOOM_TIER=2 compiles for levels v3 and v4 of the host, not for v2"
finish
