# What is said of a kernel that faults: in words for people who have not written the emulator. Programs
# are built by `ptxloom cc`; PTX with inlined_at, which clang does not write, is our own.
. "${srcdir:-.}/tests/tap.sh"
cp "$srcdir/tests/programs/faults.cu" "$scratch/faults.cu"
cp "$srcdir/tests/programs/inlined.ptx" "$scratch/inlined.ptx"
cd "$scratch" || exit 1

# line MARK: number of the line of faults.cu that ends with this comment.
line()
{
	grep -n "/\* $1 \*/" faults.cu | cut -d: -f1
}

# tells PATTERN: a line of the message matches as a whole.
tells()
{
	says err "^($1)$" "$how: $1"
}

# silent PATTERN: no line matches.
silent()
{
	empty "$(grep -E -- "$1" err)" "$how: not $1"
}

# fault HOW ERROR [OPTION]: the program gets ERROR.
fault()
{
	how=$1
	capture ptxloom run $3 ./faults "$how"
	[ "$(cat out)" = "$2" ]
	verdict $? "$how: $2"
}

# finding HOW ERROR: the same as a finding, of which hardware may not know.
finding()
{
	fault "$1" "$2" --check=mem
	tells '========= ERROR SUMMARY: 1 error'
}

host="neither managed nor registered"
inlined()
{
	how="inlined, $1"
	ends 1 "$how: faults" ptxloom exec inlined.ptx --kernel "$1" --arg u64=0
	tells 'ptxloom: error: Invalid address: global write of 4 bytes'
}

# The lines of the user's, which inlined_at leads to; those of headers are left out.
printf 'first\n__device__ void put(int *p) {\n\tatomicAdd(p, 1);\n}\nk<<<>>> {\n\tput(p);\n}\n' >user.cu
inlined deep
tells '    at user\.cu:3:2, in put\(int\*\)'
tells '     3 \|         atomicAdd\(p, 1\);'
tells '       \|         \^'
tells '    called from user\.cu:6:2'
tells '    in kernel deep'
tells '    inlined\.ptx:[0-9]+: st\.global\.u32 \[%rd1\], %r1;'
silent 'atomic_functions'
inlined headers
tells '    at /usr/local/cuda/include/device_atomic_functions\.hpp:107:3'
inlined before
tells '    at user\.cu:6:2'
rm user.cu
inlined deep
tells '    at user\.cu:3:2, in put\(int\*\)'
silent '\|'

needs_clang
succeeds "faults.cu builds" ptxloom cc -lineinfo faults.cu -o faults

bad=cudaErrorIllegalAddress
out_of_bounds='=========     Address 0x[0-9a-f]+ is out of bounds and is '
fault null $bad
tells 'ptxloom: error: Invalid address: (generic|global) write of 4 bytes'
tells "    at .*faults\.cu:$(line put):[0-9]+, in put\(int\*, int\)"
tells " +$(line put) \|         p\[i\] = i; /\* put \*/"
tells ' +\| +\^'
tells "    called from .*faults\.cu:$(line write):[0-9]+"
tells '    in kernel write\(int\*, int\)'
tells '    PTX line [0-9]+: st\..*;'
tells '    by thread \(0,0,0\) of block \(0,0,0\), warp 0, lanes 0x00000001'
tells '    address 0x0 is a null pointer'
silent '-lineinfo'
# The host's function that holds the launch.
tells '    launched by (main|start\(char const\*\))\+0x[0-9a-f]+ of .*/faults \(addr2line -fCe .*/faults 0x[0-9a-f]+\)'
fault offset $bad
tells '    address 0xc is 12 bytes after a null pointer'
fault heap $bad
tells "    address 0x[0-9a-f]+ is host memory( \(of malloc or new\))?, $host"
fault stack $bad
tells "    address 0x[0-9a-f]+ is host memory \(the stack: a local variable\), $host"
fault static $bad
tells "    address 0x[0-9a-f]+ is host memory( \(of .*/faults\))?, $host"
finding after $bad
tells '========= Invalid __global__ write of size 4 bytes'
tells "=========     at put\(int\*, int\) in .*faults\.cu:$(line put)"
tells "========= +$(line put) \|         p\[i\] = i; /\* put \*/"
tells "=========     called from .*faults\.cu:$(line write):[0-9]+"
tells '=========     by thread \([0-9]+,0,0\) in block \([0-9]+,0,0\)'
tells "${out_of_bounds}12 bytes after a 4000-byte allocation at 0x[0-9a-f]+"
fault before $bad
tells '    address 0x[0-9a-f]+ is 4 bytes before a 64-byte allocation at 0x[0-9a-f]+'
finding freed $bad
tells "${out_of_bounds}8 bytes inside a freed 64-byte allocation at 0x[0-9a-f]+"
finding variable $bad
tells "${out_of_bounds}0 bytes after the variable table of 40 bytes at 0x[0-9a-f]+"
finding shared $bad
tells "${out_of_bounds}byte 4194304 of the block.s shared memory, which has 32"
fault misaligned cudaErrorMisalignedAddress
tells '    address 0x[0-9a-f]+ is not a multiple of 8; it is 4 bytes inside a 64-byte allocation at 0x[0-9a-f]+'
# Our header has atomicAdd; clang does not tell where it was inlined.
fault add $bad
silent 'atomics\.h'
tells "    at .*faults\.cu:$(line add):[0-9]+"
fault check cudaErrorAssert
tells ".*faults\.cu:$(line check): .*check\(int\): block: \[0,0,0\], thread: \[3,0,0\] Assertion \`n < 5\` failed\."
tells "    at .*faults\.cu:$(line check):[0-9]+"

succeeds "faults.cu builds without lines" ptxloom cc faults.cu -o faults
fault null $bad
tells '    at PTX line [0-9]+: st\..*;'
tells '    in put\(int\*, int\)'
tells '    called from PTX line [0-9]+'
tells '    \(build with -lineinfo to see the line of the source\)'
finish
