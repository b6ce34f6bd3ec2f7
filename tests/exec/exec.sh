# ptxloom exec: data in, results out, every kind of initialiser and output, refusals, faults.
# And the library: its samples run, and it exports nothing but its interface.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

add="ptxloom exec samples/vector_add.ptx"
status 0 $add --block 4 --buffer a:f32=1,2.5,-3,0f3f800000 --buffer b:f32[4]=iota --buffer c:f32[4] --arg u32=4 --dump c
is out "c[0..3] = 1 3.5 -1 4"
status 0 $add --grid 2,1 --block 5,1,1 --buffer a:f32[10]=ones \
	--buffer b:f32[10]=iota --buffer c:f32[10]=zeros --arg u32=10 \
	--dump c --dump c:b32
is out "c[0..7] = 1 2 3 4 5 6 7 8
c[8..9] = 9 10
c[0..7] = 0x3f800000 0x40000000 0x40400000 0x40800000 0x40a00000 0x40c00000 0x40e00000 0x41000000
c[8..9] = 0x41100000 0x41200000"

# Files: raw and .npy, both ways.
status 0 $add --block 3 --buffer a:f32=1,2,3 --buffer b:f32[3] --buffer c:f32[3] --arg u32=3 --dump "c=$scratch/c.npy" \
	--dump "c=$scratch/c.raw"
ok "$([ ! -s "$scratch/out" ] && [ "$(wc -c <"$scratch/c.raw")" -eq 12 ]; echo $?)" "raw files hold the elements alone"
ok "$([ $((($(wc -c <"$scratch/c.npy") - 12) % 64)) -eq 0 ]; echo $?)" ".npy: elements begin at a multiple of 64"
status 0 $add --block 3 --buffer "a:f32=@$scratch/c.npy" \
	--buffer "b:f32[3]=@$scratch/c.raw" --buffer c:f32[3] --arg u32=3 --dump c
is out "c[0..2] = 2 4 6"
status 2 $add --block 3 --buffer "a:s32=@$scratch/c.npy"
says err "holds '<f4', not s32"
status 2 $add --block 3 --buffer "a:f32[4]=@$scratch/c.npy"
says err "has 3 elements, not 4"
status 2 $add --block 3 --buffer "a:f64=@$scratch/c.raw"
says err "12 bytes are not a whole number of f64"
head -c 50 "$scratch/c.npy" >"$scratch/short.npy"
status 2 $add --block 3 --buffer "a:f32=@$scratch/short.npy"
says err "damaged"
if command -v python3 >/dev/null; then
	python3 -c '
import ast, struct, sys
d = open(sys.argv[1], "rb").read()
assert d[:8] == b"\x93NUMPY\x01\x00"
n = struct.unpack("<H", d[8:10])[0]
assert ast.literal_eval(d[10:10 + n].decode()) == {"descr": "<f4", "fortran_order": False, "shape": (3,)}
assert struct.unpack("<3f", d[10 + n:]) == (1, 2, 3)' "$scratch/c.npy"
	ok $? ".npy is as NumPy writes it"
else
	skip ".npy is as NumPy writes it" "no python3"
fi

# Generators depend on the seed alone, whatever runs.
random="--block 8 --buffer a:f32[8]=random:7 --buffer b:f32[8] --buffer c:f32[8] --arg u32=8 --dump c"
status 0 $add $random
cp "$scratch/out" "$scratch/first"
for setting in PTXLOOM_WORKERS=1 PTXLOOM_SEED=5 PTXLOOM_HOST_ISA=base PTXLOOM_DEVICE=v100; do
	env "$setting" $add $random >"$scratch/out" 2>&1
	ok "$(cmp -s "$scratch/first" "$scratch/out"; echo $?)" "the same with $setting"
done

# What is counted and traced, the same each time.
status 0 $add --block 8 --buffer a:f32[8]=iota --buffer b:f32[8] --buffer c:f32[8] --arg u32=8 --count
says out "^l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum +2  [a-z]"
says out "^l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum +2  [a-z]"
says out "^l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum +1  [a-z]"
status 0 $add --block 40 --buffer a:f32[40]=iota --buffer b:f32[40] --buffer c:f32[40] --arg u32=40 \
	--trace "$scratch/trace"
says trace "^load global 4 \| cta 0,0,0 warp 1 lanes 000000ff \|"
says trace "^store global 4 \| cta 0,0,0 warp 0 lanes ffffffff \|"
status 2 $add --block 1 --buffer a:f32[1] --buffer b:f32[1] --buffer c:f32[1] --arg u32=1 \
	--trace "$scratch/none/trace"
if [ -e /dev/full ]; then
	status 2 $add --block 1 --buffer a:f32[1] --buffer b:f32[1] --buffer c:f32[1] --arg u32=1 --trace /dev/full
	says err "^/dev/full: error: No space left on device"
fi

# Types print as they are.
types=samples/vector_add.ptx
for case in "u8=255 255" "s8=-1 -1" "s16=-32768 -32768" "u64=0xffffffffffffffff 18446744073709551615" \
	"s64=-9223372036854775808 -9223372036854775808" "f16=1.5 1.5" "bf16=-2 -2" \
	"f64=0.1 0.10000000000000001" "b16=0xbeef 0xbeef" \
	"f64=0d4000000000000000 2" "f32=inf inf"; do
	type=${case%%=*}
	value=${case#*=}
	status 0 ptxloom exec $types --buffer "a:$type=${value% *}" \
		--buffer b:b8[1] --buffer c:b8[1] --arg u32=0 --dump a
	is out "a[0..0] = ${value#* }"
done

# Values beyond what a type holds are refused, for every type; infinity is what is called so.
for case in f16=100000 f16=65520 f16=-65520 bf16=4e38 f32=1e40 f64=1e309 u8=256 u8=-1 s8=128 s8=-129 b8=-129 u16=65536 \
	s16=32768 u32=4294967296 s32=2147483648 s32=-2147483649 u64=18446744073709551616 s64=9223372036854775808 \
	f32=0f3f8000001 f32=0f3f8 f64=0d3ff f32=0d3ff0000000000000; do
	status 2 ptxloom exec $types --buffer "a:$case"
	says err "'${case#*=}' is not a value of type ${case%%=*}"
done
for case in "f16=65519 65504" "f16=-inf -inf" "f16=nan nan" "bf16=3e38 3.004e+38" "u8=255 255"; do
	value=${case#*=}
	status 0 ptxloom exec $types --buffer "a:${case%%=*}=${value% *}" \
		--buffer b:b8[1] --buffer c:b8[1] --arg u32=0 --dump a
	is out "a[0..0] = ${value#* }"
done
status 2 ptxloom exec $types --buffer "a:u8[257]=iota"
says err "iota: 256 is not a value of type u8"
status 2 ptxloom exec $types --buffer "a:f16[65521]=iota"
says err "iota: 65520 is not a value of type f16"
for count in 18446744073709551615 18446744073709551616 99999999999999999999999 1152921504606846976 -1; do
	status 2 ptxloom exec $types --buffer "a:f32[$count]=1,2"
	says err "a:f32.*: (the number of elements in \[ \] is invalid|2 values for)"
done

# A parameter's type is not its size alone.
three="$add --block 1 --buffer a:f32[1] --buffer b:f32[1] --buffer c:f32[1]"
status 2 $three --arg f32=4
says err "^ptxloom exec: error: f32=4: parameter .* is of type \.u32, this is \.f32"
status 0 $three --arg s32=0
status 0 $three --arg b32=0
status 2 $three --arg u64=0
says err "takes 4 bytes, this has 8"
status 2 ptxloom exec samples/saxpy.ptx --arg u32=1 --arg u32=1 --buffer x:f32[1] --buffer y:f32[1]
says err "u32=1: parameter .* is of type \.f32, this is \.u32"

# A container that is whole beside a damaged one: what there is would be a program that lacks something.
image=tests/images/size.fatbin
cp "$image" "$scratch/bad.bin"
printf 'damaged' | dd of="$scratch/bad.bin" bs=1 seek=$(($(wc -c <"$image") - 60)) conv=notrunc 2>/dev/null
cat "$image" "$scratch/bad.bin" >"$scratch/both.bin"
cat "$scratch/bad.bin" "$image" >"$scratch/other.bin"
status 2 ptxloom exec "$image"
says err "--kernel is needed"
for file in bad both other; do
	status 1 ptxloom exec "$scratch/$file.bin"
	says err "error: image [13]: its zstd data are damaged"
done

# Refusals.
status 2 ptxloom exec
status 2 ptxloom exec a.ptx b.ptx
status 2 ptxloom exec "$scratch/none.ptx"
says err "No such file"
status 2 $add --grid 1,2,3,4
status 2 $add --grid -1
for cluster in 0 1,0 1,1,0; do
	status 2 $add --cluster "$cluster"
	says err "^ptxloom exec: error: --cluster takes X"
done
status 2 $add --arg f32=1e39
says err "'1e39' is not a value of type f32"
status 2 $add --arg f64=-1e309
status 2 $add --buffer a:f32[4]=twos
says err "'twos' is not a value of type f32"
status 2 $add --buffer a:f32[4] --buffer a:f32[4]
says err "there is a buffer of this name already"
status 2 $add --arg u33=1
says err "'u33' is not a type; the types are b8 "
status 2 $add --arg u8=256
status 2 $add --arg u8=-1
status 2 $add --arg u32
status 2 $add --buffer f32[4]
status 2 $add --buffer a:f32[4]=1,2,3
says err "3 values for 4 elements"
status 2 $add --buffer a:f32=random
says err "needs a number of elements"
status 2 $add --buffer a:f32[4]=random:x
status 2 $add --dump
status 2 $add --arg u32=1
says err "takes 4 parameters, 1 are given"
says err "^  \.u64 a, 8 bytes$"
status 2 $add --arg u32=1 --arg u64=0 --arg u64=0 --arg u32=0
says err "parameter a takes 8 bytes, this has 4"
status 2 $add --kernel other
says err "no kernel 'other'; there are:"
status 2 $add -d b300
status 2 env PTXLOOM_TIMEOUT=soon $add $random
says err "PTXLOOM_TIMEOUT takes a time"
status 2 $add $random --dump d
says err "no buffer or variable 'd'"
status 1 $add $random --block 2048
says err 'the launch of .* is refused: the block has 2048 threads in dimension x, the device allows 1024$'
echo 'add.s32;' >"$scratch/bad.ptx"
status 1 ptxloom exec "$scratch/bad.ptx"
says err "bad.ptx"

# A fault: what, where, who, and next to what.
status 1 $add --block 64 --buffer a:f32[64] --buffer b:f32[64] --buffer c:f32[50] --arg u32=64 --dump c
says err '^ptxloom: error: Invalid address: global write of 4 bytes$'
says err '^    at samples/vector_add\.ptx:[0-9]+: st\.global\.f32 \[%rd7\], %f2;$'
says err '^    by thread \(50,0,0\) of block \(0,0,0\), warp 1, lanes 0xfffc0000$'
says err '^    address 0x[0-9a-f]+ is 0 bytes after a 200-byte allocation at 0x[0-9a-f]+$'
ok "$([ ! -s "$scratch/out" ]; echo $?)" "nothing is printed after a fault"

# Products that are merged into sums, as ptxas does; the first word is scratch.
factors=in:u32=0x3f800800,0x3f800800,0x3f801000,0x3f800000,0x2000000,0x3ff00000,0x2000000,0x3ff00000
factors=$factors,0x4000000,0x3ff00000,0x3c103c10,0x3c203c20,0x3f823f82,0x3f843f84
status 0 ptxloom exec -d h200 tests/exec/contract.ptx --buffer "$factors" --buffer out:b32[34] --dump out
cut -d= -f2 "$scratch/out" | tr -s ' ' '\n' | grep . | tail -n 33 | paste -sd '       \n' >"$scratch/words"
is words "0x33800000 0xb3800000 0x00000000 0x00000000 0x00000000 0x33800000 0x00000000 0x33800000
0x00000000 0x00000000 0x00000000 0xb3800000 0x00000000 0x00000000 0x33800000 0x00000000
0x33800000 0x33800000 0x00000000 0x33800000 0x33800000 0x00000000 0x33800000 0x00000000
0x00000000 0x33800000 0x24800000 0xa4800000 0x00000000 0x39800000 0xb9800000 0x39800000
0xb9800000"

# Offsets of 32 bits in the constant window wrap around.
status 0 ptxloom exec tests/exec/wrap.ptx --block 4 --buffer o:u32[4] --dump o
is out "o[0..3] = 10 20 30 40"

# The warps of a warpgroup meet at wgmma.
for seed in 1 2 3; do
	PTXLOOM_SEED=$seed status 0 ptxloom exec tests/exec/warpgroup.ptx --kernel k -d h200 \
		--block 128 --buffer o:f32[128] --dump o
	ok "$([ "$(tr ' ' '\n' <"$scratch/out" | grep -cx 64)" -eq 128 ]; echo $?)" \
		"warpgroup, seed $seed: all sums are those of all warps' factors"
	PTXLOOM_SEED=$seed status 0 ptxloom exec tests/exec/warpgroup.ptx --kernel leave -d h200 \
		--block 128 --buffer o:u32[128] --dump o
	ok "$([ "$(tr ' ' '\n' <"$scratch/out" | grep -cx 1)" -eq 96 ]; echo $?)" \
		"warpgroup, seed $seed: three warps go on when the fourth has ended"
done

# Text of a newer version than is known runs as far as it is known; two digits are no older version.
for version in 9.4 9.12; do
	sed "s/^\.version .*/.version $version/" samples/saxpy.ptx >"$scratch/newer.ptx"
	status 0 ptxloom exec "$scratch/newer.ptx" --block 2 --arg u32=2 --arg f32=2 --buffer x:f32=1,2 \
		--buffer y:f32[2]=ones --dump y
	is out "y[0..1] = 3 5"
	status 1 ptxloom lint "$scratch/newer.ptx"
	says err "PTX version $version is not known; the newest is"
done
for version in 1.13 0.9 9. 9.1x; do
	sed "s/^\.version .*/.version $version/" samples/saxpy.ptx >"$scratch/newer.ptx"
	status 1 ptxloom exec "$scratch/newer.ptx"
done

# Calls through pointers that lie in initial data, and what a kernel prints.
status 0 ptxloom exec tests/exec/calls.ptx --block 6 --buffer o:u32[6] --dump o --dump table:u64
says out '^hello 9$'
says out '^o\[0\.\.5\] = 0 3 4 9 8 15$'

# To the limits: what a device would do, and how it ends where it would.
limits="ptxloom exec tests/exec/limits.ptx"
status 0 $limits --kernel say --block 1000
ok "$([ "$(sort -u "$scratch/out" | grep -c '^thread [0-9]*$')" -eq 1000 ]; echo $?)" "1000 threads print"
status 1 $limits --kernel check --grid 2 --block 64 --arg u32=37
says err 'a\.cu:17: k: block: \[[01],0,0\], thread: \[37,0,0\] Assertion `x < 5` failed'
status 0 $limits --kernel check --grid 2 --block 64 --arg u32=64
status 0 $limits --kernel heap --block 256 --buffer o:u32[256] --arg u64=4096 --dump o
says out '^o\[0\.\.[0-9]+\] = 0 2 4 6 8 '
status 0 $limits --kernel deep --block 40 --buffer o:u32[40] --arg u32=1000 --dump o
says out '^o\[0\.\.[0-9]+\] = 500500 500500 '
status 1 $limits --kernel deep --buffer o:u32[1] --arg u32=10000000
says err '^ptxloom: error: Stack overflow'
status 0 $limits --kernel poke --buffer big:u8[1073741824] --arg u64=1073741820
status 1 $limits --kernel poke --buffer big:u8[1073741824] --arg u64=1077936128
says err '^ptxloom: error: Invalid address: global write of 4 bytes$'
says err '-byte allocation at 0x'
status 1 $limits --kernel poke --buffer big:u8[64] --arg u64=2
says err '^ptxloom: error: Misaligned address: global write of 4 bytes$'
for at in 0 16 0xffffffffffff0000 0x123456789abc; do
	status 1 $limits --kernel wild --arg u64=$at
	says err '^ptxloom: error: Invalid address: global read of 4 bytes$'
done
status 1 $limits --kernel wild_atomic --arg u64=16
says err '^ptxloom: error: Invalid address: g[a-z]* atomic of 4 bytes$'
for workers in 1 2; do
	status 1 env PTXLOOM_TIMEOUT=200 PTXLOOM_WORKERS=$workers $limits --kernel forever --grid 4 --block 64
	says err '^ptxloom: error: Timeout'
	says err 'ran for more than 200 ms'
	says err 'block \(0,0,0\) warp 1 lanes 0xffffffff: running at tests/exec/limits\.ptx:[0-9]+: bra LOOP;'
done
for workers in 1 2; do
	status 130 timeout --preserve-status -s INT 1 \
		env PTXLOOM_WORKERS=$workers $limits --kernel forever --grid 4 --block 64
	says err '^ptxloom: error: Timeout: interrupted \(SIGINT\)$'
	says err 'block \(0,0,0\) warp 1 lanes 0xffffffff: running at tests/exec/limits\.ptx:[0-9]+: bra LOOP;'
done
status 143 sh -c "$limits"' --kernel forever --grid 4 --block 64 & p=$!
	sleep 1; kill -USR1 $p; sleep 1; kill -TERM $p; wait $p'
says err '^ptxloom: kernel forever has run for [0-9.]+ s, 0 of 4 blocks are done$'
says err 'block \(0,0,0\) warp 1 lanes 0xffffffff: running at tests/exec/limits\.ptx:[0-9]+: bra LOOP;'
status 0 $limits --kernel last --grid 1000000 --buffer o:u32[1] --dump o
is out "o[0..0] = 999999"

# Clusters.
status 0 ptxloom exec tests/exec/cluster.ptx -d h100 --grid 6 --cluster 3 --buffer o:u32[6] --dump o
is out "o[0..5] = 0 1 2 0 1 2"
status 1 ptxloom exec tests/exec/cluster.ptx -d h100 --grid 6 --cluster 4 --buffer o:u32[6] --dump o
says err 'refused: clusters of 4,1,1 CTAs: the grid has 6 CTAs in dimension x, not a multiple of 4$'
status 2 ptxloom exec tests/exec/cluster.ptx -d h100 --cluster a --buffer o:u32[6]

status 2 $add --dump-program --block 65536,65536
says err 'error: --block: a CTA of the device has 1 to 1024 threads$'
status 2 $add --dump-program --block 0
status 0 $add --dump-program
says out '^ +[0-9]+  add_f32 .*; add\.rn\.f32 %f2, %f0, %f1;$'
# Functions of the host: only when asked for, and by name.
cat >"$scratch/host.ptx" <<'END'
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) abs(.param .s32 x);
.global .u32 result;
.visible .entry k(.param .u32 x)
{
	.reg .b32 %r<3>;
	ld.param.u32 %r1, [x];
	{
	.param .s32 a;
	.param .b32 r;
	st.param.s32 [a], %r1;
	call.uni (r), abs, (a);
	ld.param.b32 %r2, [r];
	}
	st.global.u32 [result], %r2;
	ret;
}
END
host="ptxloom exec $scratch/host.ptx --arg s32=-7 --dump result:s32"
status 1 $host
says err "4:.* error: unresolved extern function 'abs'"
says err "4:.* note: the host has a function 'abs'; PTXLOOM_HOST_FUNCTIONS=abs lets kernels call it"
status 1 $host --host-functions=labs,ab,absolute
says err "unresolved extern function 'abs'"
for allowed in --host-functions --host-functions=all --host-functions=labs,abs; do
	status 0 $host $allowed
	is out "result[0..0] = 7"
done
export PTXLOOM_HOST_FUNCTIONS=abs
status 0 $host
status 1 $host --host-functions=labs
unset PTXLOOM_HOST_FUNCTIONS

status 0 ptxloom exec --help
says out '^usage: ptxloom exec FILE '

# The library.
status 0 "$bin/samples/saxpy_test" samples/saxpy.ptx
says out '0 of 1000 elements differ$'
status 0 "$bin/samples/reduce" samples/reduce.ptx
is out "the sum of 0 .. 99999 is 4999950000
Invalid address: write of 4 bytes in CTA 391, thread 0"
lib=$bin/.libs/libptxloom.so
if command -v nm >/dev/null && [ -e "$lib" ]; then
	nm -D --defined-only "$lib" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$scratch/exports"
	grep -oE '^PTXLOOM_API .*' include/ptxloom.h |
		grep -oE 'ptxloom_[a-z_]+\(' | tr -d '(' | sort >"$scratch/declared"
	empty "$(diff "$scratch/declared" "$scratch/exports")" \
		"the library exports what ptxloom.h declares, and nothing else"
else
	skip "the library exports what ptxloom.h declares" "no nm, or no shared library"
fi
empty "$(for f in $(grep -oE '^PTXLOOM_API .*' include/ptxloom.h |
		grep -oE 'ptxloom_[a-z_]+\(' | tr -d '('); do
	grep -lqE "^\.Fn $f( |$)" man/*.3 || echo "$f has no manual page"
done)" "every function of ptxloom.h has a manual page"
finish
