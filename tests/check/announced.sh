# Pools that programs announce through NVTX, and allocations that are not used.
. "${srcdir:-.}/tests/tap.sh"
unset NVTX_INJECTION64_PATH
needs_clang
cp "$top/tests/check/announced.cu" "$scratch"
cd "$scratch" || exit 1
succeeds "the program is built" ptxloom cc -g -lineinfo announced.cu -o announced -ldl
line()
{
	grep -n "// $1\$" announced.cu | cut -d: -f1
}

# fine CHECK NAME, wrong CHECK NAME TEXT..
fine()
{
	status 0 ptxloom run --check="$1" ./announced "$2"
	empty "$(cat out)$(grep -v 'SUMMARY: 0' err)" "$2: nothing is found"
}
wrong()
{
	status 86 ptxloom run --check="$1" ./announced "$2"
	says err "$3"
}
invalid='Address 0x[0-9a-f]* is out of bounds and is'
fine mem inside
wrong mem past "$invalid 0 bytes after a 63-byte region of a pool at"
says err "at put\(unsigned char\*\) in .*announced\.cu:$(line put)\$"
wrong mem outside "$invalid 64 bytes after a 64-byte region of a pool at"
wrong mem freed "$invalid 0 bytes inside a freed 63-byte region of a pool at"
wrong mem reset "$invalid 0 bytes inside a freed 63-byte region of a pool at"
for name in resized ended layout; do fine mem $name; done
status 0 ptxloom run --check=mem ./announced nowhere
says err '^ptxloom: note: NVTX: a region that is not inside its pool was not registered$'
wrong init uninit 'Uninitialized __global__ memory read of size 1 byte \[63 times\]'
wrong init grown 'Uninitialized __global__ memory read of size 1 byte \[1 time\]$'
says err "at add\(unsigned char const\*, int\*\) in .*announced\.cu:$(line add)\$"
fine init marked
# Without a check that wants to know, NVTX finds no tool; one of the user's stays.
status 0 ptxloom run ./announced inside
says out '^not attached$'
status 0 env NVTX_INJECTION64_PATH=/nowhere ptxloom run --check=mem ./announced inside
says out '^not attached$'

status 86 ptxloom check --check=init --track-unused-memory --format=github ./announced unused
for name in none part later managed; do says err "^=========     allocated by .*announced\.cu:$(line $name)\$"; done
says err '^========= Unused memory in allocation 0x[0-9a-f]+ of size 400 bytes$'
says err '^=========     Not written any memory\.$'
says err '^=========     Not written 100 bytes at offset 0x12c \(0x[0-9a-f]+\)$'
says err '^=========     25% of allocation were unused\.$'
says err "^::error file=.*announced\.cu,line=$(line part)"
says err '^========= ERROR SUMMARY: 4 errors$'
status 0 ptxloom-sanitizer --tool initcheck --track-unused-memory=yes --unused-memory-threshold 50 ./announced unused
says err '^========= ERROR SUMMARY: 2 errors$'
status 0 ptxloom-sanitizer --tool initcheck --track-unused-memory=no ./announced unused
says err '^========= ERROR SUMMARY: 0 errors$'
status 2 ptxloom-sanitizer --track-unused-memory ./announced unused
says err 'needs --tool initcheck$'
status 2 ptxloom check --check=mem --track-unused-memory ./announced unused
says err '^ptxloom: error: unused memory is tracked by the check init'
status 2 ptxloom check --unused-memory-threshold 101 ./announced unused

# What kernels may do, by the program's own words; only the kernel that does more ends.
status 86 ptxloom check --check=mem --after-fault=continue ./announced permissions
empty "$(cat out)" "later calls succeed"
for what in write:writable read:readable 'atomic:readable/writable with atomic operations'; do
	says err "^=========     Address 0x[0-9a-f]+ is not ${what#*:}; it is 0 bytes inside a 4-byte allocation at 0x"
	says err ' called the counter$'
	says err "at twice\(int\*\) in .*announced\.cu:$(line "twice ${what%%:*}")\$"
done
for name in writes reads adds 'reads on a device'; do
	says err "^=========         Host Frame: .*announced\.cu:$(line "$name") "
done
says err '^ptxloom: note: NVTX: permissions are given to what is no region or allocation$'
says err '^ptxloom: note: NVTX: permissions of threads, streams and peers are not checked$'
says err '^========= ERROR SUMMARY: 4 errors$'
status 86 ptxloom check --check=mem ./announced permissions
says out '^failed$'
status 86 ptxloom check --check=init,leak --track-unused-memory ./announced names
says err '^========= Leaked 100 bytes at 0x[0-9a-f]+ called My allocation$'
says err '^========= Unused memory in allocation 0x[0-9a-f]+ called My allocation of size 100 bytes$'
says err '^========= Leaked 100 bytes at 0x[0-9a-f]+ called höhe$'
says err '^========= Leaked 100 bytes at 0x[0-9a-f]+$'
says err '^ptxloom: note: NVTX: a name is given to what is no region or allocation$'
finish
