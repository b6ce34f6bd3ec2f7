# What is said of a kernel that faults: in words for people who have not written the emulator. Programs
# are built by `ptxloom cc`; PTX with inlined_at, which clang does not write, is our own.
. "${srcdir:-.}/tests/style/tap.sh"
bin=$(cd "$builddir" && pwd)
PATH=$bin:$PATH
export PATH
unset PTXLOOM_DEVICE CUDA_VISIBLE_DEVICES PTXLOOM_SEED
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cp "$srcdir/tests/programs/faults.cu" "$scratch/faults.cu"
cp "$srcdir/tests/programs/inlined.ptx" "$scratch/inlined.ptx"
cd "$scratch" || exit 1

# line MARK: number of the line of faults.cu that ends with this comment.
line()
{
	grep -n "/\* $1 \*/" faults.cu | cut -d: -f1
}

# says PATTERN: a line of the message matches as a whole.
says()
{
	grep -qxE -- "$1" err
	result=$?
	[ "$result" -eq 0 ] || sed 's/^/# /' err
	ok "$result" "$how: $1"
}

# silent PATTERN: no line matches.
silent()
{
	empty "$(grep -E -- "$1" err)" "$how: not $1"
}

# fault HOW ERROR: the program gets ERROR.
fault()
{
	how=$1
	ptxloom run --check=mem ./faults "$how" >out 2>err
	[ "$(cat out)" = "$2" ]
	result=$?
	[ "$result" -eq 0 ] || sed 's/^/# /' out err
	ok "$result" "$how: $2"
}

host="neither managed nor registered"
inlined()
{
	how="inlined, $1"
	ptxloom exec inlined.ptx --kernel "$1" --arg u64=0 >out 2>err
	ok "$([ $? -eq 1 ]; echo $?)" "$how: faults"
	says 'ptxloom: error: Invalid address: global write of 4 bytes'
}

# The lines of the user's, which inlined_at leads to; those of headers are left out.
printf 'first\n__device__ void put(int *p) {\n\tatomicAdd(p, 1);\n}\nk<<<>>> {\n\tput(p);\n}\n' >user.cu
inlined deep
says '    at user\.cu:3:2, in put\(int\*\)'
says '     3 \|         atomicAdd\(p, 1\);'
says '       \|         \^'
says '    called from user\.cu:6:2'
says '    in kernel deep'
says '    inlined\.ptx:[0-9]+: st\.global\.u32 \[%rd1\], %r1;'
silent 'atomic_functions'
inlined headers
says '    at /usr/local/cuda/include/device_atomic_functions\.hpp:107:3'
inlined before
says '    at user\.cu:6:2'
rm user.cu
inlined deep
says '    at user\.cu:3:2, in put\(int\*\)'
silent '\|'

if ptxloom cc -lineinfo faults.cu -o faults >out 2>&1; then
	ok 0 "faults.cu builds"
else
	grep -q 'clang is not found' out
	result=$?
	[ "$result" -eq 0 ] || sed 's/^/# /' out
	[ "$result" -eq 0 ] && skip "programs that fault" "no clang" || ok 1 "faults.cu builds"
	finish
fi

bad=cudaErrorIllegalAddress
fault null $bad
says 'ptxloom: error: Invalid address: (generic|global) write of 4 bytes'
says "    at .*faults\.cu:$(line put):[0-9]+, in put\(int\*, int\)"
says " +$(line put) \|         p\[i\] = i; /\* put \*/"
says ' +\| +\^'
says "    called from .*faults\.cu:$(line write):[0-9]+"
says '    in kernel write\(int\*, int\)'
says '    PTX line [0-9]+: st\..*;'
says '    by thread \(0,0,0\) of block \(0,0,0\), warp 0, lanes 0x00000001'
says '    address 0x0 is a null pointer'
silent '-lineinfo'
# The host's function that holds the launch.
says '    launched by (main|start\(char const\*\))\+0x[0-9a-f]+ of .*/faults \(addr2line -fCe .*/faults 0x[0-9a-f]+\)'
fault offset $bad
says '    address 0xc is 12 bytes after a null pointer'
fault heap $bad
says "    address 0x[0-9a-f]+ is host memory( \(of malloc or new\))?, $host"
fault stack $bad
says "    address 0x[0-9a-f]+ is host memory \(the stack: a local variable\), $host"
fault static $bad
says "    address 0x[0-9a-f]+ is host memory( \(of .*/faults\))?, $host"
fault after $bad
says '    address 0x[0-9a-f]+ is 12 bytes after a 4000-byte allocation at 0x[0-9a-f]+'
fault before $bad
says '    address 0x[0-9a-f]+ is 4 bytes before a 64-byte allocation at 0x[0-9a-f]+'
fault freed $bad
says '    address 0x[0-9a-f]+ is 8 bytes inside a freed 64-byte allocation at 0x[0-9a-f]+'
fault variable $bad
says '    address 0x[0-9a-f]+ is 0 bytes after the variable table of 40 bytes at 0x[0-9a-f]+'
fault shared $bad
says '    address 0x[0-9a-f]+ is byte 4194304 of the block.s shared memory, which has 32'
fault misaligned cudaErrorMisalignedAddress
says '    address 0x[0-9a-f]+ is no multiple of 8; it is 4 bytes inside a 64-byte allocation at 0x[0-9a-f]+'
# Our header has atomicAdd; clang does not tell where it was inlined.
fault add $bad
silent 'atomics\.h'
says "    at .*faults\.cu:$(line add):[0-9]+"
fault check cudaErrorAssert
says ".*faults\.cu:$(line check): .*check\(int\): block: \[0,0,0\], thread: \[3,0,0\] Assertion \`n < 5\` failed\."
says "    at .*faults\.cu:$(line check):[0-9]+"

ptxloom cc faults.cu -o faults >out 2>&1
fault null $bad
says '    at PTX line [0-9]+: st\..*;'
says '    in put\(int\*, int\)'
says '    called from PTX line [0-9]+'
says '    \(build with -lineinfo to see the line of the source\)'
finish
