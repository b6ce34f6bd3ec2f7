# Search among schedules: what is found, made small and repeated; programs that drift; arguments and tokens that are
# wrong.
. "${srcdir:-.}/tests/tap.sh"
cp "$top/samples/testkit/race.cu" "$top/samples/testkit/mp.cu" \
	"$top/tests/explore/drift.cu" "$top/tests/explore/shapes.cu" "$top/tests/explore/stuck.cu" \
	"$top/tests/explore/lanes.cu" "$scratch"
cd "$scratch" || exit 1

# wrong TOKEN PLACE: one message, before anything is started.
wrong()
{
	refused 2 "^ptxloom: error: --schedule:1:$2: " "refused: $1" ptxloom run --schedule "$1" touch started
	[ ! -e started ] && [ "$(cat out err | wc -l)" = 1 ]
	ok $? "one message, and nothing is started"
}

wrong '1:' 3
wrong '1:1.0:w0@3/w64' 13
wrong '1:1.0:w0@0/n' 13
wrong '2:1.0:w0@3/w1' 1
wrong '1:1.0:w0@3/w0l4-4' 18
wrong '1:1.0:w0@3/w0l4-32' 17
wrong 'pct:0:1' 6
wrong 'natural+12' 11
wrong 'natural now' 8
wrong 'weak:0:natural' 6
wrong 'weak:1' 7
wrong 'weak:1:' 8
refused 2 '^ptxloom.*--weak.*number' "a seed of weak memory" ptxloom run --weak x true
refused 2 'none: No such file' "a file that is not there" ptxloom run --schedule @none true
printf '# a comment\n 1:1.0:\nw0@x/w1\n' >token
refused 2 '^ptxloom: error: token:3:4: ' "a place in a file" ptxloom debug --schedule @token -- true
refused 2 '^ptxloom: error: PTXLOOM_SCHEDULE:1:1: ' "the variable is checked, too" \
	env PTXLOOM_SCHEDULE=x ptxloom run true
refused 2 'no program given' "explore what?" ptxloom explore -n 3
refused 2 'from 1 to' "no schedules" ptxloom explore -n 0 true
refused 2 'I from 1 to N' "a shard that is none" ptxloom explore --shard 3/2 true
refused 2 'mixed, pct' "no such strategy" ptxloom explore --strategy best true
refused 2 'unknown option' "no such option" ptxloom explore --best true
ends 127 "a program that is not there" ptxloom explore -n3 -j1 -- ./nothing
is err 'ptxloom: error: ./nothing: No such file or directory'
ends 126 "a folder" ptxloom explore -- .
ends 3 "a program that fails by itself" ptxloom explore -- false
says out 'fails by itself: exit status 1; nothing was explored'
ends 3 "a program that launches nothing" ptxloom explore -- true
says out 'launches no kernel'

needs_clang
for name in race drift shapes mp stuck lanes; do
	succeeds "$name: builds" ptxloom cc -lineinfo "$name.cu" -o "$name"
done

# found NAME ARGUMENTS: explore fails, and the replay line does the same with any number of workers.
found()
{
	what=$1
	shift
	ends 1 "$what: found" ptxloom explore "$@"
	skipping && return
	cp out found
	token=$(sed -n 's/.*PTXLOOM_SCHEDULE=\([^ ]*\) .*/\1/p' found)
	command=$(sed -n 's/.*replay: //p' found)
	same=0
	for workers in 1 2 4 8; do
		sh -c "PTXLOOM_WORKERS=$workers $command" >again 2>&1
		[ $? = 1 ] || same=1
		[ $workers = 1 ] && cp again first
		cmp -s again first || same=1
	done
	ok $same "$what: the line repeats it with 1, 2, 4, 8 workers"
}

found race -n 50 -j 1 -- ./race 256
skipping || cp found one
says found 'warp [0-9]+ stops before race.cu:12 \(st.shared.*\) while warp [0-9]+ runs on to race.cu:15 \(ld.shared' \
	"race: the two lines"
says found '; 1 preemption of [0-9]+ is enough'
capture ptxloom explore -n 50 -j 4 -- ./race 256
[ "$(sed 's/ [0-9.]* s)/)/' out 2>/dev/null)" = "$(sed 's/ [0-9.]* s)/)/' one 2>/dev/null)" ]
ok $? "the same with -j 4"
succeeds "with a barrier nothing is found" ptxloom explore -n 60 -- ./race 256 fixed
says out '60 schedules passed'
found late -n 60 -- ./shapes late
succeeds "late: with the barrier" ptxloom explore -n 40 -- ./shapes late fixed
found ctas -n 60 -- ./shapes ctas
succeeds "ctas: one atomic" ptxloom explore -n 40 -- ./shapes ctas fixed
for race in step reduce; do
	found $race -n 60 -- ./lanes $race
	says found 'lanes [0-9]+ to [0-9]+ of warp 0 run on alone from lanes.cu:[0-9]+ .*; 1 preemption of' \
		"$race: the lanes"
	succeeds "$race: with __syncwarp" ptxloom explore -n 60 -- ./lanes $race fixed
done
for strategy in pct random starve; do
	ends 1 "$strategy finds it, too" ptxloom explore -n 60 --strategy $strategy -- ./race 128
done

# All schedules with few preemptions: warps x operations x other warps; then the pairs of these.
succeeds "exhaustive: none fails" ptxloom explore --strategy exhaustive -- ./race 256 fixed
says out '^explore: all 280 schedules with at most 1 preemption passed' "8 warps, 5 operations, 7 others"
succeeds "exhaustive, two preemptions" ptxloom explore --strategy exhaustive --depth 3 -- ./race 64 fixed
says out '^explore: all 55 schedules with at most 2 preemptions passed' "10, and 45 pairs"
succeeds "exhaustive, a part" ptxloom explore --strategy exhaustive --depth 3 -n 20 -- ./race 64 fixed
says out '^explore: 20 schedules passed' "is not said to be all"
succeeds "exhaustive, two devices" ptxloom explore --strategy exhaustive -d t4 -d h100 -- ./race 64 fixed
says out '^explore: all 20 schedules with at most 1 preemption passed' "all for each"
found "ctas" --strategy exhaustive -- ./shapes ctas
says found 'schedule 2 of 4 fails' "exhaustive: CTAs of a small launch are told apart"
# also_exhaustive OPTION..: with these, too.
also_exhaustive()
{
	succeeds "exhaustive, $*" ptxloom explore --strategy exhaustive "$@" -- ./race 64 fixed
	says out '^explore: all 10 schedules with at most 1 preemption passed'
}
also_exhaustive --weak
also_exhaustive --check=mem,race
also_exhaustive --same-output
also_exhaustive --all -j 3
also_exhaustive --inject 'call=cudaFree -> delay 1ms'
: >parts
for part in 1/3 2/3 3/3; do
	ends 1 "exhaustive, $part" ptxloom explore --strategy exhaustive --all --shard $part -- ./race 64
	sed -n 's/.*, in \([0-9]*\) of 8 schedules.*/\1/p' out >>parts
done
ptxloom explore --strategy exhaustive --all -- ./race 64 >out
whole=$(sed -n 's/.*, in \([0-9]*\) of 8 schedules.*/\1/p' out)
ok "$([ "$(awk '{ n += $1 } END { print n }' parts)" = "$whole" ]; echo $?)" "shards have all of them"
ends 3 "exhaustive, too many" ptxloom explore --strategy exhaustive --depth 4 -- ./race 256 fixed
says out 'there are 3658900 schedules with at most 3 preemptions: say how many with -n' "are counted"
ends 3 "exhaustive, one warp" ptxloom explore --strategy exhaustive -- ./race 32 fixed
says out 'no launch or CTA has several warps' "is said"
refused 2 'exhaustive takes a --depth from 2 to 4, not 1' "exhaustive, no preemptions" \
	ptxloom explore --strategy exhaustive --depth 1 -- true

succeeds "other output is no failure" ptxloom explore -n 30 -- ./shapes output
ends 1 "but it is with --same-output" ptxloom explore -n 30 --same-output -- ./shapes output
succeeds "and not where it is the same" ptxloom explore -n 30 --same-output -- ./shapes output fixed
found mp --weak -n 50 -- ./mp
says found 'CTA \(1,0,0\): warp [0-9] does not see at mp.cu:25 \(ld.global.u32\) what CTA \(0,0,0\) has stored' \
	"mp: the two places"
succeeds "without --weak it passes" ptxloom explore -n 40 -- ./mp
succeeds "mp: with fences" ptxloom explore --weak -n 60 -- ./mp fixed
refused 1 'PTXLOOM_WEAK and PTXLOOM_SCHEDULE exclude each other' "not with a schedule" \
	env PTXLOOM_SCHEDULE=natural ptxloom run --weak 1 ./mp fixed
bad=0
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
	ptxloom run --weak $seed ./mp fixed >out 2>err || bad=1
	[ -s err ] && bad=1
done
ok $bad "seeds of weak memory, with fences"
ends 1 "the other failure needs no weak memory" ptxloom explore --weak -n 50 -- ./race 256
! grep -q 'weak:' out
ok $? "and its line has none"
ends 1 "shards have schedules of their own" ptxloom explore -n 50 --shard 2/3 -- ./race 256
says out 'schedule (2|5|8|11) of 50'

# Orders in which no thread goes on: found at once, without a limit on time, and named.
found deadlock -n 30 -- ./stuck barrier
says found 'fails: deadlock in launch 1, barrier\(int volatile\*, int\*\), exit status 1' "deadlock: named"
says found '^    block \(0,0,0\) warp 1 lanes 0xffffffff: waiting at barrier 1 for 64 threads at ' "where it waits"
says found 'warp 0 stops before stuck.cu:[0-9]+ \(ld.volatile.*\) while warp 1 runs on to' "and how it comes to that"
ends 3 "a livelock in the natural order" ptxloom explore -n 30 -- ./stuck
says out 'fails by itself: livelock in launch 1, cross\(int\*, int\*, bool\), exit status 1; nothing'
succeeds "locks in one order" ptxloom explore -n 25 -- ./stuck cross fixed
bad=0
for schedule in natural random:3; do
	ptxloom run --schedule $schedule ./stuck >out 2>err
	grep -q 'livelock: every thread repeats itself' err || bad=1
done
ok $bad "a livelock under a schedule ends with a report"
bad=0
for schedule in natural reverse random:1 random:2 pct:2:4 pct:3:9; do
	ptxloom run --schedule $schedule ./stuck polite >out 2>err || bad=1
	ptxloom run --schedule $schedule ./stuck cross fixed >out 2>err || bad=1
done
ok $bad "what goes on at last is taken for none"

# All failures.
ends 1 "--all goes on" ptxloom explore --all -n 40 -- ./stuck last
says out '^explore: 2 distinct failures, in [0-9]+ of 40 schedules; [0-9]+ passed$'
[ "$(grep -c '^  replay: ' out)" = 2 ]
ok $? "a line for each"
grep '^  replay: ' out | sed 's/^  replay: //' >lines
while read -r line; do sh -c "$line" 2>err; done <lines >replayed
[ "$(sort -u replayed | tr '\n' ' ')" = 'alpha is last beta is last ' ]
ok $? "which does it again"
capture ptxloom explore --all -n 40 -j 1 -- ./stuck last
sed -n 's/^  replay: //p' out >again
same lines again "the same ones with -j 1"
succeeds "--all where nothing fails" ptxloom explore --all -n 10 -- ./race 256 fixed
says out '10 schedules passed'

# With checks and injected errors.
succeeds "checks that find nothing" ptxloom explore -n 8 --check=race,mem -- ./race 256 fixed
ends 3 "checks that find something by themselves" ptxloom explore -n 8 --check=race -- ./race 256
says out 'fails by itself: checks find something'
ends 1 "with an error that the program meets" ptxloom explore -n 30 --inject 'call=cudaFree -> delay 1ms' -- ./race 256
says out "^  replay: PTXLOOM_SCHEDULE=[^ ]* ptxloom run --inject 'call=cudaFree -> delay 1ms' ./race 256"
refused 2 "no function 'cudaMaloc'" "a wrong rule" ptxloom explore --inject 'call=cudaMaloc -> error 2' -- true
refused 2 '--check takes a list' "a check that is none" ptxloom explore --check deep -- true

# Runs that are not alike, whatever the schedule is: every other one launches another grid.
succeeds "a program that changes by itself" ptxloom explore -n 10 -j 1 -- sh -c '
	if mkdir turn 2>/dev/null; then ./race 256 fixed; else rmdir turn && ./race 128 fixed; fi'
says out '^explore: note: 5 of 10 runs launched something else than the natural run: ' "is told"
succeeds "one that does not" ptxloom explore -n 10 -- ./race 256 fixed
ok "$(grep -q note: "$scratch/out"; echo $((!$?)))" "is not"

found drift -n 60 -- ./drift
if ! skipping; then
	for drift in kernel grid more; do
		DRIFT=$drift ptxloom run --schedule "$token" ./drift >out 2>err
		echo $? >>err
		case $drift in
		kernel) says err 'launch 1 was reduce\(int\*\), the schedule has scale\(int\*\)' ;;
		grid) says err 'launch 1 was scale\(int\*\), the schedule has it with another grid' ;;
		more) says err 'launch 2 was scale\(int\*\), the schedule has only 1 launches' ;;
		esac
		[ "$(tail -n 1 err)" = 87 ]
		ok $? "$drift: 87"
	done
	ends 1 "--replay" ptxloom explore --replay "$token" -- ./drift
	ends 0 "the debugger runs it" ptxloom debug --schedule "$token" --batch -ex run -- ./drift
	says any 'exited with status 1' "and it fails there, too"
fi
finish
