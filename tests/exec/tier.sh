# The same results with compiled runs of micro-ops as without: of kernels whose lanes overwrite what others load,
# diverge, meet numbers that are none, and fault; and what is told without a library that compiles.
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
forms=tests/exec/tier_forms.ptx
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

for from in 0 7; do
	same "vectors from $from on" "$forms" vectors --block 128 --grid 3 \
		--buffer w:f32[1300]=random:1 --buffer p:f64[700]=random:2 --buffer b:u32[800]=random:3 \
		--buffer out:u32[2600] --arg s32=300 --arg s32=$from --dump out
done
same "vectors and narrow elements by index" "$forms" scattered --block 128 --grid 3 \
	--buffer w:u32[1300]=random:1 --buffer p:u32[1300]=random:2 \
	--buffer "i:u32=$(seq 1 300 | awk '{printf "%s%d", s, $1 * 37 % 300; s = ","}')" \
	--buffer out:u32[9000] --arg s32=300 --dump out
for n in 300 257; do
	same "rows without their ends, of $n" "$forms" edges --block 128 --grid 3 \
		--buffer "in:u32[$((n * 9))]=random:1" --buffer "out:u32[$((n * 9))]" \
		--arg s32=$n --arg s32=9 --dump out
done
same "narrow elements" "$forms" narrow --block 128 --grid 3 \
	--buffer w:u32[400]=random:1 --buffer out:u32[2000] --arg s32=300 --dump out
for n in 250 256; do
	same "shared memory, $n threads of 256" "$forms" shared --block 256 --grid 2 \
		--buffer w:u32[512]=random:1 --buffer out:u32[512] --arg s32=$n --arg s32=37 --dump out
done
same "handlers that code calls" "$forms" called --block 128 --grid 3 \
	--buffer "in:f32=0,-0.0,1,2,inf,-1,nan,0.3,1e-40,1e30,$(seq 1 282 |
		awk '{printf "%s%s", s, $1 * 0.37 - 20; s = ","}')" \
	--buffer out:u32[300] --arg s32=292 --dump out
while read -r what by who name; do
	same "$name" "$forms" wrong --block 128 --grid 1 --buffer w:u32[512]=random:1 \
		--buffer out:u32[128] --arg s32="$what" --arg s32="$by" --arg s32="$who" --dump out
done <<'END'
0 100000000 40 a fault of a vector
0 4 40 a vector out of line
0 -16 0 a vector before the beginning
1 100000000 70 a fault of a byte
2 8192 100 a fault in shared memory
2 4 33 a vector in shared memory out of line
END
same "tiles of shared memory" tests/bench/kernels/bench.ptx sgemm --block 16,16 --grid 2,2 \
	--buffer a:f32[1024]=random:1 --buffer b:f32[1024]=random:2 --buffer out:f32[1024] \
	--arg s32=32 --dump out
same "bodies" "$kinds" nbody --block 128 --grid 2 --buffer a:f32[1024]=random:1 \
	--buffer out:f32[1024] --arg s32=256 --dump out
same "a matrix turned" "$kinds" transpose --block 32,8 --grid 2,2 \
	--buffer a:f32[4096]=random:1 --buffer out:f32[4096] --arg s32=64 --dump out

# compiled NAME LEAST PERCENT FILE KERNEL ARGUMENT..: so many micro-ops of the kernel are in runs, and code does so much
# of their work. The first CTA finds caches of allocations empty and is interpreted.
compiled()
{
	name=$1
	least=$2
	percent=$3
	file=$4
	kernel=$5
	shift 5
	PTXLOOM_STATS=1 PTXLOOM_WORKERS=1 PTXLOOM_TIER=2 ptxloom exec "$file" --kernel "$kernel" "$@" \
		>"$scratch/out" 2>"$scratch/err"
	sed -n 's/^ptxloom: stats:   code  *\([0-9]*\)\.[0-9] %.* runs have \([0-9]*\) of [0-9]* in kernels$/\1 \2/p' \
		"$scratch/err" >"$scratch/code"
	read -r share runs <"$scratch/code"
	[ "${share:-0}" -ge "$percent" ] && [ "${runs:-0}" -ge "$least" ]
	ok $? "$name are compiled: $runs micro-ops, $share %"
}

if ! compiles_runs; then
	skip "forms are compiled" "the level has none"
else
	compiled "vectors" 30 65 "$forms" vectors --block 128 --grid 3 \
		--buffer w:f32[1300]=random:1 --buffer p:f64[700]=random:2 --buffer b:u32[800]=random:3 \
		--buffer out:u32[2600] --arg s32=300 --arg s32=0
	compiled "vectors and narrow elements by index" 25 65 "$forms" scattered --block 128 --grid 3 \
		--buffer w:u32[1300]=random:1 --buffer p:u32[1300]=random:2 --buffer i:u32[300]=iota \
		--buffer out:u32[9000] --arg s32=300
	compiled "rows without their ends" 8 75 "$forms" edges --block 128 --grid 3 \
		--buffer in:u32[9000]=random:1 --buffer out:u32[9000] --arg s32=300 --arg s32=30
	compiled "narrow elements" 21 65 "$forms" narrow --block 128 --grid 3 \
		--buffer w:u32[400]=random:1 --buffer out:u32[2000] --arg s32=300
	compiled "elements of shared memory" 42 95 "$forms" shared --block 256 --grid 2 \
		--buffer w:u32[512]=random:1 --buffer out:u32[512] --arg s32=256 --arg s32=37
	compiled "handlers' operations" 40 65 "$forms" called --block 128 --grid 3 \
		--buffer in:f32[292]=random:1 --buffer out:u32[300] --arg s32=292
	compiled "loops of stencils" 120 98 "$kinds" heat --block 32,4 --grid 2,5 \
		--buffer x:f64[64000]=random:3 --buffer out:f64[64000] --arg s32=40
fi

program=$scratch/stats
succeeds "a program builds" $CC "$top/tests/programs/stats.c" -o "$program" -ldl
if ! compiles_runs; then
	skip "runs are compiled" "the level has none"
else
	PTXLOOM_TIER=2 succeeds "it runs" ptxloom run --stats "$program"
	says err '^ptxloom: stats:   compile .* [1-9][0-9]* runs of micro-ops, by LLVM$' "and runs are compiled"
fi

# A loop that runs for a second: its code is made meanwhile, and nobody waits for it.
cat >"$scratch/turns.ptx" <<'END'
.version 7.0
.target sm_80
.address_size 64
.visible .entry turns(.param .u64 out, .param .u32 n)
{
	.reg .pred %p;
	.reg .b32 %r<4>, %s, %n;
	.reg .b64 %d, %o;
	ld.param.u64 %d, [out];
	ld.param.u32 %n, [n];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %o, %r1, 4;
	add.u64 %d, %d, %o;
LOOP:
	mul.lo.u32 %r1, %r1, 1664525;
	add.u32 %r1, %r1, 1013904223;
	shr.u32 %s, %r1, 7;
	xor.b32 %r1, %r1, %s;
	add.u32 %r1, %r1, %n;
	sub.u32 %n, %n, 1;
	setp.ne.u32 %p, %n, 0;
	@%p bra LOOP;
	st.global.u32 [%d], %r1;
	ret;
}
END
if ! compiles_runs; then
	skip "in the background" "the level has none"
else
	for tier in 1 auto; do
		PTXLOOM_STATS=1 PTXLOOM_WORKERS=1 PTXLOOM_TIER=$tier succeeds "with PTXLOOM_TIER=$tier" \
			ptxloom exec "$scratch/turns.ptx" --block 256 --buffer out:u32[256] --arg u32=4000000 \
			--dump "out=$scratch/turns.$tier"
	done
	cmp "$scratch/turns.1" "$scratch/turns.auto"
	ok $? "in the background, with the same results"
	says err '^ptxloom: stats:   code  *[1-9][0-9]*\.[0-9] %' "it is compiled"
fi
PTXLOOM_HOST_ISA=v2 PTXLOOM_TIER=2 ends 2 "levels without code are told" \
	ptxloom exec "$kernels" --kernel own --buffer x:f32[4] --arg s32=4
says err "PTXLOOM_TIER=2 compiles for levels v3 and v4 of the host, not for v2"

# A library that accepts no module, then libraries that are not whole.
if ! compiles_runs; then
	skip_rest "the level has no compiled runs"
fi
standin=tests/programs/llvm_standin.c
names="libLLVM-14.so.1 libLLVM-15.so.1 libLLVM-16.so.1 libLLVM-17.so.1"
names="$names libLLVM.so.18.1 libLLVM.so.19.1 libLLVM.so.20.1"
saxpy()
{
	PTXLOOM_TIER=$1 LD_LIBRARY_PATH=$scratch${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
		ptxloom exec "$kernels" --kernel own --block 64 --buffer x:f32[64]=random:3 --arg s32=64 --dump x
}
succeeds "a library stands in for LLVM" $CC -shared -fPIC -o "$scratch/libLLVM-14.so.1" "$standin"
saxpy 1 >"$scratch/interpreted"
succeeds "a program runs that LLVM refuses" saxpy 2
says err "^ptxloom: note: .* interpreted that LLVM does not compile: <stand-in>: no module is good enough$" \
	"what LLVM says is told"
cmp "$scratch/interpreted" "$scratch/out"
ok $? "with the same result"
for name in $names; do
	$CC -shared -fPIC -DINCOMPLETE -o "$scratch/$name" "$standin" || ok 1 "an incomplete library builds"
done
ends 2 "libraries that lack a function are not used" saxpy 2
says err "needs LLVM's library, which is not installed" "which is told"
finish
