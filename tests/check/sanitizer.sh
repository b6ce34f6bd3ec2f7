# Options of compute-sanitizer, each as its row says; docs/sanitizer.md has all of them.
. "${srcdir:-.}/tests/tap.sh"
page=$top/docs/sanitizer.md
rows=$(sed -n 's/^OPTION("\([^"]*\)", \(NULL\|"[^"]*"\), "\([^"]*\)", \([A-Z_]*\), .*/\1|\2|\3|\4/p' \
	"$top/src/tools/sanitizer/sanitizer.def")
ok "$([ "$(echo "$rows" | wc -l)" -ge 70 ]; echo $?)" "there are options"
cd "$scratch" || exit 1
: >known

# value_of VALUES OPTION: one that is allowed, the last of a list.
value_of()
{
	case $1:$2 in
	*:--tool) echo memcheck ;;
	*:--suppressions) echo known ;;
	*:--kernel* | *:--filter | *:--exclude) echo kns=a ;;
	*:--save) echo found.xml ;;
	*:--target-processes-filter) echo regex:a ;;
	\#:*) echo 7 ;;
	\**) echo word ;;
	*) echo "${1##*,}" ;;
	esac
}

echo "$rows" | while IFS='|' read -r option other values effect; do
	grep -q "^| \`$option\`" "$page" || echo "no row of $option"
	set -- "$option"
	[ ! "$values" ] || set -- "$option=$(value_of "$values" "$option")"
	case $option in
	--xml) set -- --xml --save found.xml ;;
	--save) set -- "$@" --xml ;;
	--track-unused-memory) set -- "$@" --tool initcheck ;;
	--unused-memory-threshold) set -- "$@" --tool initcheck --track-unused-memory ;;
	esac
	timeout 20 ptxloom-sanitizer "$@" true >out 2>err
	rc=$?
	case $effect in
	REFUSED) [ $rc = 2 ] && grep -q "error: $option is not supported: ." err ;;
	NOTED | NVTX | DEFAULTS) [ $rc = 0 ] && grep -q "note: $option has no effect: ." err ;;
	MODE) [ $rc = 2 ] ;;
	*) [ $rc = 0 ] && ! grep -q note: err ;;
	esac || echo "$*: $rc, $(cat err)"
	if [ "$effect" = DEFAULTS ]; then
		timeout 20 ptxloom-sanitizer "$option" "${values%%,*}" true >out 2>err && [ ! -s err ] ||
			echo "$option: its default is noted"
	fi
	case $values in
	'*' | '') continue ;;
	esac
	timeout 20 ptxloom-sanitizer "$option" -1x true >out 2>err
	[ $? = 2 ] && grep -q "'-1x' is not a value of $option (" err || echo "$option takes a wrong value"
done >wrong
empty "$(cat wrong)" "each option does what its row says"

cp "$top/tests/check/race.ptx" "$top/tests/check/race.cu" .
mkdir sub
capture env PTXLOOM_CHECK_PREFIX='## 9%s' PTXLOOM_CHECK_STRIP=1 ptxloom exec --check=race race.ptx \
	--kernel race_no_barrier --block 64 --buffer 'o:u32[64]'
says err '^## 9%s Error: Race reported '
says err '^## 9%s RACECHECK SUMMARY: 1 hazard'
empty "$(grep '^=' err)" "no line has another prefix"
needs_clang
cp "$top/samples/checks/checks.cu" sub
succeeds "a program is built" ptxloom cc -g -lineinfo -arch=sm_80 sub/checks.cu -o checks
status 0 ptxloom-sanitizer --tool racecheck ./checks race
says err 'at reverse\(int\*\) in checks\.cu:[0-9]+$'
says err '^=========     launched by race\(\) in checks\.cu:[0-9]+$'
status 0 ptxloom-sanitizer --tool racecheck --strip-paths no ./checks race
says err 'at reverse\(int\*\) in /.*/sub/checks\.cu:[0-9]+$'
status 0 ptxloom-sanitizer --print-limit 0 --report-api-errors no ./checks invalid-access
says err '^========= Invalid __global__ write'

# After a fault the device is lost, or the kernel alone ends.
cat >faults.cu <<'END'
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>
__global__ void put(int *p) { *p = 1; }
__device__ int x;
int main(int, char **args)
{
	int *p, ok = 1;
	if (args[1] && !fork()) {
		execl(args[1], args[1], (char *)nullptr);
		_exit(1);
	}
	cudaMalloc(&p, 4);
	put<<<1, 1>>>(p + 1);
	printf("%d\n", cudaDeviceSynchronize());
	for (int i = 0; i < 2; i++) {
		put<<<1, 1>>>((int *)16);
		printf("%d\n", cudaDeviceSynchronize());
	}
	cudaMemcpyToSymbol(x, &ok, 4);
	put<<<1, 1>>>(p);
	printf("%d\n", cudaMemcpy(&ok, p, 4, cudaMemcpyDeviceToHost));
	cudaFree(p);
	wait(nullptr);
}
END
succeeds "a program with faults is built" ptxloom cc -g -lineinfo faults.cu -o faults
status 3 ptxloom-sanitizer --leak-check full --error-exitcode 3 ./faults
ok "$([ "$(tr '\n' ' ' <out)" = '700 700 700 700 ' ]; echo $?)" "later calls fail"
says err '^========= ERROR SUMMARY: 1 error$'
status 3 ptxloom-sanitizer --leak-check full --error-exitcode 3 --destroy-on-device-error kernel ./faults
ok "$([ "$(tr '\n' ' ' <out)" = '0 0 0 0 ' ]; echo $?)" "later calls succeed"
says err '^========= LEAK SUMMARY: 0 bytes leaked in 0 allocations$'
says err '^========= ERROR SUMMARY: 3 errors$'
status 0 ptxloom run --after-fault=continue ./faults
ok "$([ "$(tr '\n' ' ' <out)" = '0 0 0 0 ' ]; echo $?)" "so they do without checks"
ok "$([ "$(grep -c '^ptxloom: error: Invalid address' err)" = 2 ]; echo $?)" "each fault is printed"

# Processes that are checked.
cp faults child
for which in all application-only faults child exclude:child regex:^ch exclude:faults,exclude:child \
	exclude-tree:faults; do
	timeout 60 ptxloom check --check=mem --target-processes="$which" --log-file='found.%p' ./faults ./child \
		>out 2>err
	found=$(cat found.* 2>/dev/null | grep -c '^========= Invalid')
	echo "$which: $found $(grep -c '^ptxloom: error: Invalid' err)"
	rm -f found.*
done >which
cat >want <<'END'
all: 2 0
application-only: 1 1
faults: 1 1
child: 1 1
exclude:child: 1 1
regex:^ch: 1 1
exclude:faults,exclude:child: 0 2
exclude-tree:faults: 0 2
END
same which want "the processes that are chosen are checked"
status 0 ptxloom-sanitizer --target-processes-filter exclude:faults --error-exitcode 9 ./faults
status 9 ptxloom-sanitizer --target-processes-filter faults --error-exitcode 9 ./faults
filter='--target-processes-filter exclude:faults'
for both in "$filter --target-processes all" "--target-processes all $filter"; do
	# shellcheck disable=SC2086 # words
	status 0 ptxloom-sanitizer $both --error-exitcode 9 ./faults
done
status 9 ptxloom-sanitizer --target-processes application-only --target-processes all --error-exitcode 9 ./faults
# shellcheck disable=SC2086 # words
status 2 ptxloom-sanitizer $filter --target-processes application-only ./faults
says err 'application-only and a filter do not go together'
for wrong in 'regex:(' 'exclude:' /bin/true 'a,,b'; do
	status 2 ptxloom check --target-processes="$wrong" true
	says err '^ptxloom: error: '
done
finish
