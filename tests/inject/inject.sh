# Fault injection: calls, launches, memory, devices and copies that go wrong by rules; rules that are wrong; the sweep.
. "${srcdir:-.}/tests/tap.sh"
for file in samples/testkit/oom.cu samples/testkit/fsum.cu tests/inject/flips.cu \
	tests/inject/devices.cu tests/inject/order.cu tests/inject/pair.cu tests/inject/driver.c; do
	cp "$top/$file" "$scratch"
done
cd "$scratch" || exit 1

# wrong RULES TEXT: refused before the program starts, with one message and its place.
wrong()
{
	refused 2 "^--inject:$2" "refused: $1" ptxloom run --inject "$1" touch started
	[ ! -e started ] && [ "$(grep -c 'error:' err)" = 1 ]
	ok $? "one message, and nothing is started"
}

wrong 'call=cudaMaloc -> error 2' "1:6: error: CUDA has no function 'cudaMaloc'; did you mean cudaMalloc?"
wrong 'call=cudaMalloc -> error 123456' '1:26: error: CUDA has no error 123456'
wrong 'call=cudaMalloc -> error cudaErrorNone' \
	"1:26: error: CUDA has no error 'cudaErrorNone'"
wrong 'call=cudaMalloc -> error 0' '1:.*that is no error'
wrong 'call=cudaMalloc; call=cudaFree -> error 2' '1:16: error: an arrow is missing'
wrong 'call=cudaMalloc nth=0 -> error 2' '1:21: error: they are counted from 1'
wrong 'call=cudaMalloc nth=2 nth=3 -> error 2' '1:23: error: nth is there twice'
wrong 'cal=cudaMalloc -> error 2' "1:1: error: there is no condition 'cal'; did you mean call?"
wrong 'call=cudaMalloc prob=1.5 -> error 2' '1:22: error: prob is a number from 0 to 1'
wrong 'call=cudaMalloc bytes>64Q -> error 2' '1:17: error: bytes=VALUE is wanted'
wrong 'call=cudaMalloc bytes>=64Q -> error 2' '1:24: error: a size such as'
wrong 'call=cudaMemcpy dir=up -> delay 5ms' '1:21: error: dir is h2h, h2d, d2h or d2d'
wrong 'call=cudaMemcpy -> delay 5' '1:26: error: a delay is a time'
wrong 'call=cudaMemcpy -> rate 5' '1:25: error: a rate is bytes a second'
wrong 'kernel=f -> fault flood' '1:19: error: the fault is illegal_address'
wrong 'call=cudaMalloc -> fault trap' '1:1: error: fault needs kernel=NAME or launch=N'
wrong 'kernel=f call=cudaMalloc -> error 2' '1:1: error: kernel= has no meaning in such a rule'
wrong 'alloc=2 -> flip bit 5' '1:1: error: flip bit needs alloc=N and byte=N'
wrong 'alloc=2 byte=1 -> flip bit 8' '1:28: error: the bit of a byte is 0 to 7'
wrong 'kernel=f inst=0 -> flip 1' '1:15: error: inst is a number from 1 on'
wrong 'kernel=f -> flip 1' '1:1: error: flip needs inst=N or inst=rand'
wrong 'kernel=f inst=1 -> flip bit 128' '1:29: error: the bit of a register is 0 to 127'
wrong 'kernel=f inst=1 group=fp16 -> flip 1' '1:23: error: group is all, fp64, fp32, ld, pr or gp'
wrong 'call=cudaMalloc -> count' '1:1: error: count needs kernel=NAME or launch=N'
wrong 'kernel=f inst=3 -> count' '1:1: error: inst= has no meaning in such a rule'
wrong 'call=* -> lost xid 80' '1:20: error: the Xid is 79, 48, 94, 95 or 46'
wrong 'call=cudaMalloc -> error 2 now' "1:28: error: 'now' is too much"
wrong 'memory=much' '1:8: error: a size such as'
wrong ' # nothing' ' error: there is no rule'
printf '# two rules\ncall=cudaMalloc -> error 2\n\n  call=cudaFree nth=x -> error 2 # wrong\n' >rules
refused 2 '^rules:4:21: error: a number is wanted' "a place in a file" ptxloom run --inject @rules true
refused 2 'none: No such file' "a file that is not there" ptxloom run --inject @none true
refused 2 'PTXLOOM_INJECT:1:1: error' "the variable is checked, too" \
	env PTXLOOM_INJECT='x=1 -> error 2' ptxloom run true
refused 2 'is there twice' "the option once" ptxloom run --inject 'memory=1G' --inject 'memory=2G' true
refused 2 'needs --inject' "strict about what?" ptxloom run --inject-strict true
refused 2 'which calls are to fail' "a sweep of what?" ptxloom inject -- true
refused 2 "no function 'x\*'" "a sweep of nothing" ptxloom inject --sweep 'x*' -- true
refused 2 'No such file' "a golden file that is not there" \
	ptxloom inject --sweep 'cuda*' --golden none -- true

needs_clang
for name in oom devices order fsum flips pair; do
	succeeds "$name: builds" ptxloom cc -lineinfo "$name.cu" -o "$name"
done

# act RULES STATUS PATTERN DESCRIPTION [PROG ..]: with these rules it ends so, and this is a line of its output.
act()
{
	rules=$1
	want=$2
	pattern=$3
	what=$4
	shift 4
	[ $# -gt 0 ] || set -- ./oom
	ends "$want" "$what" ptxloom run --inject "$rules" "$@"
	says any "$pattern" "$what: $pattern"
}

act 'call=cudaMalloc nth=3 -> error 2' 1 '^oom: buffer 3: out of memory$' "the third allocation fails"
says err '^ptxloom: inject: PTXLOOM_INJECT:1: call=cudaMalloc nth=3 -> error 2: '
says err ': cudaMalloc, call 3 of these, thread 1: error 2 \(cudaErrorMemoryAllocation\)$'
[ "$(grep -c 'ptxloom: inject' err)" = 1 ]
ok $? "one act is one line"
act 'call=cudaMalloc nth>=4 -> error cudaErrorMemoryAllocation' 1 'buffer 4' "a name of an error"
act 'call=cudaMalloc* bytes<=4K -> error 2' 1 'buffer 1' "by the size"
act 'call=cudaMalloc* bytes>4097; ' 2 'bytes=VALUE' "no such operator"
act 'call=cudaMalloc* bytes>=4097 -> error 2' 0 'never acted; no call was made' "by a size that does not come"
act 'call=cudaMalloc nth=9 -> error 2' 0 'never acted; there were 5 of these calls' "too late"
ends 87 "strict: a rule that never acts" ptxloom run --inject-strict --inject 'call=cudaMalloc nth=9 -> error 2' ./oom
ends 0 "strict: all have acted" ptxloom run --inject-strict --inject 'call=cudaFree nth=2 -> delay 1ms' ./oom
act 'call=cudaFree -> error 1; call=cudaMalloc nth=5 -> error 2' 1 'buffer 5' "two rules"
act 'kernel=add_up -> error 701' 134 'cudaGetLastError' "a launch that is refused"
act 'kernel=add* launch=1 -> fault illegal_address' 134 'illegal_address instead of running: error 700' "a fault"
act 'kernel=sub* -> fault trap' 0 'never acted; no launch' "of another kernel"
act 'alloc=5 byte=4095 -> flip bit 3' 0 'byte 4095 of allocation 5, at 0x[0-9a-f]*: 0x00 becomes 0x08' "a bit flips"
act 'alloc=5 byte=4096 -> flip bit 3' 0 'never acted' "no such byte"
act 'alloc=1 byte=0 -> flip bit 0 ecc' 134 'which is found: error 214' "a bit flips, and is found"
act 'memory=1M' 0 'oom: right' "little memory"
act 'memory=64M' 0 '67108864' "less memory" python3 -c '
import ctypes
cuda = ctypes.CDLL("libcudart.so")
free, total = ctypes.c_size_t(), ctypes.c_size_t()
assert cuda.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total)) == 0
p = ctypes.c_void_p()
assert cuda.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(100 << 20)) == 2
assert cuda.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(60 << 20)) == 0
print(total.value)'

# The same calls are drawn in each run, and others with another seed.
for seed in 1 1 2; do
	ptxloom run --inject "call=cuda* prob=0.3 seed=$seed -> delay 1us" ./oom 2>&1 |
		grep -o 'cuda[A-Za-z]*, call [0-9]*' >"drawn.$seed"
	[ ! -e first ] && cp drawn.1 first
done
same first drawn.1 "the same calls for a seed"
! skipping && cmp -s drawn.1 drawn.2
ok $((! $?)) "other calls for another"
[ -s first ]
ok $? "some"

# Results of instructions: the same bits whatever the number of workers, and another with another seed.
flip='kernel=* launch=1 inst=rand group=fp32'
for seed in 9 9 8; do
	workers=$((5 - ${workers:-1}))
	PTXLOOM_WORKERS=$workers ptxloom run --inject "$flip seed=$seed -> flip 1" ./fsum >"bits.$seed" 2>&1
	[ -e bits ] || cp bits.9 bits
done
same bits bits.9 "the same wrong bits with 4 workers and with 1"
! skipping && ! cmp -s bits.9 bits.8
ok $? "other bits with another seed"
skipping || cp bits err
says err 'instruction [0-9]+ of 100000 \(fp32\), block \([0-9]+,0,0\) thread \([0-9]+,0,0\), fsum.cu:14 \(atom'
says err ': memory at 0x[0-9a-f]+, bit [0-9]+: 0x[0-9a-f]{8} becomes 0x[0-9a-f]{8}$' "old and new value"
act 'kernel=halve* inst=2 group=fp64 -> flip bit 52' 0 '^1 wrong$' "a bit of a double" ./flips halve
says err 'instruction 2 \(fp64\), block \(0,0,0\) thread \(1,0,0\), flips.cu:[0-9]+ \(fma.rn.f64\): %fd[0-9]+, bit 52: '
says err 'bit 52: 0x3ff0000000000000 becomes 0x3fe0000000000000$'
act 'kernel=halve* inst=1 group=fp64 -> flip bit 0; kernel=halve* inst=9 group=fp64 -> flip zero' 0 '^2 wrong$' \
	"two of a launch" ./flips halve
act "kernel=copy* inst=3 group=ld seed=3 -> flip random" 1 "^copy 0 cudaErrorIllegalAddress" "a load" ./flips copy
act 'kernel=reduce* inst=386 group=pr -> flip 1' 0 'setp.*%p[0-9]+, bit 0: 0x0[01] becomes 0x0[01]$' "a predicate" \
	./flips reduce
act 'kernel=shout* inst=rand seed=5 -> flip zero' 1 '^thread 3 has 10$' "what a kernel prints is printed once" ./flips
[ "$(grep -c '^thread 3' out)" = 1 ]
ok $? "though it runs twice"
act 'kernel=copy* inst=99 -> flip 1' 0 'has 80 instructions only \(all\)$' "one that is not there" ./flips copy
says err 'never acted; there were 1 of these launches'
act 'kernel=called* launch=1 -> count' 0 'called\(int\*\): 1280 instructions of threads \(all\)$' "a count" \
	./flips called
act 'kernel=called* inst=1 -> flip bit 77' 0 'there is no bit 77' "a bit that the register has not" ./flips called
ends 0 "with a schedule" ptxloom run --schedule random:3 --inject 'kernel=copy* inst=1 -> flip 2' ./flips copy
says err 'two bits|bits .* become|becomes' "it acts"
act 'kernel=reduce* inst=1 group=gp -> flip bit 30' 86 'ERROR SUMMARY: 1 error' "with checks" \
	--check=mem,race ./flips reduce
refused 2 'which checks do not go with; inst=N does' "inst=rand with checks" \
	ptxloom run --check=race --inject 'kernel=f inst=rand -> flip 1' ./flips copy
refused 2 'do not go with PTXLOOM_SEED' "with a seed" \
	env PTXLOOM_SEED=3 ptxloom run --inject 'kernel=f inst=1 -> flip 1' ./flips copy

for way in 'profile' 'debug --batch -ex run --'; do
	# shellcheck disable=SC2086 # words
	PTXLOOM_INJECT='kernel=* inst=1 -> flip 1' capture ptxloom $way ./flips copy
	says err 'rules about results of instructions do not go with a (profile|debugger)$' "not with: $way"
done
PTXLOOM_INJECT='kernel=copy* inst=3 -> flip bit 0' capture ptxloom run --coverage=cov ./flips copy
says err 'coverage is not written: rules change results of instructions$' "not with coverage"
act 'kernel=heap* launch=1 inst=rand seed=2 -> flip zero' 0 'instruction [0-9]+ of [0-9]+ \(all\)' "with a heap" \
	./pair heap
act 'kernel=gather* launch=2 inst=5 group=fp32 -> flip bit 23' 0 '^gather 96$' "the second launch, in shared memory" \
	./pair gather
says err 'launch 2 of these, gather\(int\*\): instruction 5 \(fp32\), .* memory at 0x[0-9a-f]+, bit 23: 0x42000000 '
capture ptxloom run -d 2xt4 --inject 'kernel=put* device=1 launch=2 inst=40 group=gp -> flip bit 3;
	kernel=put* device=0 launch=1 inst=40 group=gp -> flip bit 3' ./pair
says err 'device=0 .*: launch 1 of these, put\(int\*\): instruction 40 ' "two devices: the first"
says err 'device=1 .*: launch 2 of these, put\(int\*\): instruction 40 ' "and the second"

# A device that is gone.
capture ptxloom run -d 2xt4 --inject 'device=1 call=cudaMemcpy nth=1 -> lost xid 79' ./devices
skipping || sed -i 's/second [01] /second /' out
is out 'copy 100
second 100 100 100
second 100 100 100
first 0 0 0 0'
says err 'device 1 is lost, Xid 79: error 100'

# Work of a stream begins later; the call returns at once.
act 'call=cudaMemcpyAsync dir=d2h -> delay 300ms' 0 '^host 7$' "a slow copy that is waited for" ./order
act 'call=cudaMemcpyAsync dir=d2h -> delay 300ms' 0 '^host 0$' "a slow copy that is not" ./order early
act 'call=cudaMemcpyAsync dir=d2h -> rate 1K/s' 0 'takes 250.000 ms longer' "a slow copy by its bytes" ./order
act 'call=cudaMemcpyAsync dir=h2d -> delay 300ms' 0 'never acted' "the other direction" ./order
act 'kernel=fill launch=2 -> fault assert' 0 '^graph 0 710$' "a kernel of a graph" ./order
act 'call=cudaGraphLaunch -> error cudaErrorUnknown' 0 '^graph 999 0$' "a graph" ./order

succeeds "driver: builds" cc driver.c -o driver -ldl
act 'call=cuMemAlloc nth=2 -> error CUDA_ERROR_OUT_OF_MEMORY' 0 '^2: 2$' "the driver interface" ./driver
says err 'cuMemAlloc_v2, call 2 of these, thread 1: error 2 \(CUDA_ERROR_OUT_OF_MEMORY\)$'
says out '^3: 0$' "and only there"

# The sweep.
ends 0 "each allocation fails once" ptxloom inject --sweep 'cudaMalloc*' -- ./oom
is out 'inject: cudaMalloc*: 5 of 5 survived'
ends 1 "one is not survived" ptxloom inject --sweep 'cudaMalloc*' -- ./oom bug
is out "inject: cudaMalloc nth=4: signal 6 (Aborted)
  again: ptxloom run --inject 'call=cudaMalloc* nth=4 -> error 2' -- ./oom bug
inject: cudaMalloc*: 4 of 5 survived"
ends 3 "a program that fails by itself" ptxloom inject --sweep 'cudaMalloc*' -- false
echo 'oom: right' >golden
ends 0 "the output is right" ptxloom inject --sweep cudaFree --golden golden -- ./oom
echo 'oom: wrong' >golden
ends 3 "the output is not what it has to be" ptxloom inject --sweep cudaFree --golden golden -- ./oom
echo 'oom: right' >golden
ends 1 "a failure that the exit status does not show" \
	ptxloom inject --sweep cudaMalloc --golden golden -- sh -c './oom || exit 0'
says out 'cudaMalloc nth=1: exit status 0, but the output is wrong'
ends 0 "checks find nothing beside what is injected" ptxloom inject --sweep cudaMalloc --check=mem,api,init -- ./oom
ends 1 "what is not freed is found" ptxloom inject --sweep cudaFree --check=leak -- ./oom
says out '^inject: cudaFree nth=1: checks find something$'
says out '^  Leaked 4096 bytes'
says out '^  again: ptxloom run --check=leak --inject .call=cudaFree nth=1 -> error 999. -- ./oom$'
ends 0 "with schedules" ptxloom inject --sweep cudaFree --error 2 --schedules 1 -- ./oom
ends 1 "and the schedule is said" ptxloom inject --sweep cudaMalloc --schedules 1 --golden golden -- \
	sh -c './oom || [ -n "$PTXLOOM_SCHEDULE" ]'
says out '^  again: ptxloom run --schedule random:1 --inject '

# Dry runs.
ends 0 "a dry run of a sweep" ptxloom inject -n --sweep 'cudaMalloc*' -- ./oom
says out '^5: PTXLOOM_INJECT:1: .*: cudaMalloc, call 5 of these, thread 1: error 2 \(cudaErrorMemoryAllocation\)$'
says out '^inject: 5 acts in a dry run$'
ends 0 "of rules" ptxloom inject --dry-run --rules 'alloc=1 byte=3 -> flip bit 3; kernel=* launch=1 -> fault trap;
	kernel=* inst=3 -> flip 1; call=cudaFree nth=1 -> lost xid 79; memory=1M' -- ./oom
says out '^inject: 4 acts in a dry run$' "nothing of it is done"
refused 2 'needs --inject' "a dry run of what?" ptxloom run --inject-dry-run true
refused 2 'which calls' "and here" ptxloom inject -n -- true
refused 2 '--rules is for a dry run' "rules that are to act" ptxloom inject --rules 'memory=1G' -- true
ends 3 "a dry run of a program that fails" ptxloom inject -n --sweep cudaFree -- false

# Campaigns.
ends 0 "a campaign" ptxloom inject -n 12 -j 3 --group pr --kernel 'reduce*' -- ./flips reduce
says out '^inject: 12 of [0-9]+ instructions of threads \(pr\) in 1 launch, flip 1$'
[ "$(awk '/^  (masked|SDC|DUE)/ { n += $2 } END { print n }' out)" = 12 ]
ok $? "each run is one of the three"
skipping || { cp out campaign; command=$(sed -n '/^  SDC/ { n; s/^  again: //p; }' campaign); }
sh -c "$command" >again 2>err
! skipping && [ -s again ] && ! grep -q '^reduce 8128' again
ok $? "the command repeats a silent corruption"
says err '^ptxloom: inject: .*setp'
capture ptxloom inject -n 12 -j 1 --group pr --kernel 'reduce*' -- ./flips reduce
skipping || same out campaign "the same with -j 1"
ends 0 "the instructions of a campaign" ptxloom inject -n 3 --dry-run --seed 7 --model zero -- ./flips copy
says out '^3: kernel=\* group=gp launch=1 inst=[0-9]+ seed=10 -> flip zero$'
refused 2 'group is all, fp64' "no such group" ptxloom inject -n 3 --group fp8 -- true
refused 2 'what is flipped is' "no such model" ptxloom inject -n 3 --model most -- true
refused 2 '--group does not go' "a group of calls" ptxloom inject --sweep cudaFree --group gp -- true
while IFS='|' read -r option arguments; do
	# shellcheck disable=SC2086 # words
	refused 2 "^ptxloom inject: error: $option does not go" "$option without a meaning" \
		ptxloom inject $arguments -- true
done <<-'END'
	--error|-n 3 --error 2
	--error|--dry-run --rules memory=1G --error 2
	--schedules|-n 3 --schedules 2
	--schedules|--dry-run --sweep cudaFree --schedules 2
	--sweep|-n 3 --sweep cudaFree
	--seed|--sweep cudaFree --seed 0
	-j|--sweep cudaFree -j 2
	-j|-n 3 --dry-run -j 2
	--golden|--dry-run --sweep cudaFree --golden golden
	--kernel|--sweep cudaFree --kernel f
	--model|--sweep cudaFree --model 1
END
ends 0 "what checks find is apart" ptxloom inject -n 6 --group gp --check=mem --kernel 'copy*' -- ./flips copy
says out '^  found +[0-9]+ '
[ "$(awk '/^  (masked|SDC|found|DUE)/ { n += $2 } END { print n }' out)" = 6 ]
ok $? "and each run is one of the four"
ends 0 "two bits at a time" ptxloom inject -n 4 --model 2 --group gp -- ./flips copy
says out ', flip 2$'
refused 2 'runs no instruction of group fp64' "none of the group" ptxloom inject -n 3 --group fp64 -- ./flips copy
refused 2 '--runs takes a number from 1' "no runs" ptxloom inject -n 0 -- true
ends 3 "a campaign of a program that fails" ptxloom inject -n 3 -- false

ends 1 "a hang" ptxloom inject --sweep cudaMalloc --timeout 300ms -- sh -c './oom || sleep 60'
says out 'cudaMalloc nth=1: no end within 3[0-9][0-9] ms'
finish
