# NCCL as the host does it, for a program that does not have the library: devices of one process, and processes.
. "${srcdir:-.}/tests/tap.sh"
. "$top/tests/hostlibs/hostlibs.sh"

program nccl
verdict $? "the program builds"

before="none
$(ls /dev/shm 2>/dev/null)"
passes 40 "two devices" -d 2xt4 "$scratch/nccl"
said_once 'NCCL: the host'
grep -q 'rank 1 calls ncclAllReduce with 11 elements, rank 0 another' "$scratch/err"
ok $? "ranks that do not call the same are told"
passes 40 "eight devices" -d 8xh100 "$scratch/nccl"
passes 40 "three devices, in one order, watched" -d 3xt4 --deterministic --check=mem "$scratch/nccl"
passes 60 "two processes" -d t4 "$scratch/nccl" 2
passes 90 "three processes" -d t4 "$scratch/nccl" 3
passes 3 "a process that ends" -d t4 "$scratch/nccl" 2 dies
grep -q 'the process of rank 1 has ended; rank 0 cannot complete ncclAllReduce' "$scratch/err"
ok $? "the others are told"

empty "$(ls /dev/shm 2>/dev/null | grep '^ptxloom-nccl-' | grep -vxF "$before")" \
	"nothing of it remains in shared memory"

# ---- whose code ----

cd "$scratch" || exit 1
cat >opens.c <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	int (*start)(void) = (int (*)(void))dlsym(dlopen("./libnccl.so.2", RTLD_NOW), "ncclGroupStart");

	printf("%d\n", start ? start() : -1);
	return 0;
}
EOF
standin libnccl.so.2 && $CC -w opens.c -o opens -ldl
verdict $? "a library that stands in for NVIDIA's builds"
for way in ":0" "nccl=own:99" "own:99" "own,nccl=host:0" "cublas=own:0"; do
	got=$(PTXLOOM_LIBS=${way%%:*} ptxloom run ./opens 2>err)
	[ "$got" = "${way##*:}" ]
	ok $? "PTXLOOM_LIBS=${way%%:*}: $got"
done

finish
