# `ptxloom debug -p`: a program that `ptxloom run --debug-wait` has started waits for the debugger of its user.
. "${srcdir:-.}/tests/tap.sh"

for program in spin diverge; do
	if ! ptxloom cc -G "$top/tests/debug/$program.cu" -o "$scratch/$program" 2>"$scratch/err"; then
		skip "attaching" "no CUDA C++ can be compiled here: $(head -n 1 "$scratch/err")"
		finish
	fi
done

# waits [VARIABLE=VALUE..]: start the program; $pid is its process, $shell what has started it.
waits()
{
	: >"$scratch/program.err"
	env "$@" timeout 120 ptxloom run --debug-wait "$scratch/$program" >"$scratch/program" \
		2>"$scratch/program.err" &
	shell=$!
	pid=
	for tries in $(seq 100); do
		pid=$(sed -n 's/.*`ptxloom debug -p \([0-9]*\)`$/\1/p' "$scratch/program.err")
		[ -z "$pid" ] || break
		sleep 0.5
	done
	[ -n "$pid" ]
	ok $? "a program with --debug-wait says how to attach"
}

attach()
{
	timeout 60 ptxloom debug -p "$pid" --batch "$@"
}

waits
succeeds "its kernels are debugged" attach -ex 'info program' -ex 'break 9' -ex continue -ex 'print lane' -ex delete \
	-ex continue -ex run -ex 'info program'
says out "^It waits as process $pid\$" "it stands before its first use of CUDA"
says out '^Breakpoint 1: paths, CTA \(0,0,0\) warp 0, lanes 0-7' "it stops"
says out '^\$1 = 0$' "it has values"
says out "^\[Process $pid has ended\]\$" "its end is seen"
says out 'was not started from here: it cannot be started again' "it is not started again"
wait $shell
ok $? "its status goes to whoever has started it"
grep -q '^324 1225' "$scratch/program"
ok $? "so does what it prints"

waits
succeeds "the end of the debugger is not that of the program" attach -ex 'break 9' -ex continue
wait $shell
ok $? "it goes on"
grep -q '^324 1225' "$scratch/program"
ok $? "to its end"

waits
succeeds "detach" attach -ex 'break 9' -ex continue -ex detach -ex 'info program'
says out "^\[Process $pid goes on without the debugger\]\$" "the program goes on"
wait $shell
ok $? "as without a debugger"

waits
succeeds "kill" attach -ex 'break 9' -ex continue -ex kill
says out '^\[The program was killed\]$' "it is said"
wait $shell 2>/dev/null
[ $? -eq 137 ]
ok $? "and done"

program=spin
waits
timeout 60 ptxloom debug -p "$pid" --batch -ex continue >"$scratch/out" 2>"$scratch/err" &
front=$!
for tries in $(seq 100); do
	grep -q launching "$scratch/program" && break
	sleep 0.5
done
sleep 0.5
kill -INT "$(ps -o pid= --ppid $front 2>/dev/null | head -n 1)" 2>/dev/null || kill -INT $front
wait $front
says out '^Interrupted: spin, CTA' "Ctrl-C of the debugger stops its kernels"
kill -9 "$pid"
wait $shell 2>/dev/null
program=diverge

waits
kill -9 "$pid"
wait $shell 2>/dev/null
ends 126 "nobody waits there" ptxloom debug -p "$pid" --batch
says err "^ptxloom debug: error: process $pid does not wait for a debugger; " "a process that has ended"
ends 126 "nobody waits here" ptxloom debug -p $$ --batch
says err 'does not wait for a debugger' "a process that does not wait"

# Who may: the folder of the session counts only if nobody else can enter it.
mkdir "$scratch/open" "$scratch/own"
chmod 777 "$scratch/open"
chmod 700 "$scratch/own"
waits "XDG_RUNTIME_DIR=$scratch/open"
[ -z "$(ls "$scratch/open")" ]
ok $? "a folder that others can enter is not used"
succeeds "the other one is found" attach -ex continue
wait $shell
waits "XDG_RUNTIME_DIR=$scratch/own"
[ -S "$scratch/own/ptxloom/$pid" ]
ok $? "the folder of the session is"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$scratch"
	ends 126 "another user is refused" env XDG_RUNTIME_DIR="$scratch/own" setpriv --reuid=65534 \
		--regid=65534 --clear-groups "$bin/ptxloom" debug -p "$pid" --batch
	says err 'does not wait for a debugger' "another user cannot attach"
else
	skip "another user cannot attach" "only root can be another user"
fi
XDG_RUNTIME_DIR=$scratch/own
export XDG_RUNTIME_DIR
succeeds "its user can" attach -ex continue
wait $shell
unset XDG_RUNTIME_DIR

ends 2 "a process that is none" ptxloom debug -p abc
ends 2 "a process and a program" ptxloom debug -p 1 "$scratch/diverge"
finish
