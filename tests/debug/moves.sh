# Stops, steps and time: the sessions of moves.txt, and what needs several lines of a script.
. "${srcdir:-.}/tests/tap.sh"
. "$top/tests/debug/sessions.inc.sh"

build_programs
sessions "clang" "$top/tests/debug/moves.txt" --programs "$scratch/programs"

# debug SCRIPT: of calls.cu
debug()
{
	printf '%s\n' "$1" >"$scratch/script"
	timeout 60 ptxloom debug --batch -x "$scratch/script" -- "$scratch/programs/calls"
}

if [ -n "$no_programs" ]; then
	skip "scripts" "$no_programs"
	finish
	exit
fi
succeeds "commands of a breakpoint are run, silently" debug 'break 28
commands 1
silent
print t
continue
end
continue'
grep -v cudaSuccess "$scratch/out" >"$scratch/lines"
is lines 'Breakpoint 1 at calls.cu:28.
$1 = 0
$2 = 32
$3 = 0
$4 = 32
$5 = 0
$6 = 32
$7 = 0
$8 = 32
[The program exited with status 3]'
succeeds "stops are kept when the program is started again" debug 'break 26 if t == 40
tbreak 34
ignore 1 1
run
delete 2
run
info breakpoints'
says out '^Temporary breakpoint 2: '
says out 'stop only if t == 40$'
says out '^Breakpoint 1: .*CTA \(0,0,0\) warp 1, lane 8 \(00000100\)'

succeeds "detach" debug 'break 28
run
detach
print 6 * 7
info program
delete
break 36
run
print t
kill
info breakpoints'
says out '^\[Process [0-9]* goes on without the debugger\]$' "the program goes on"
says out '^\$1 = 42$' "the session, too"
says out '^It is not being run$' "without a program"
says out '^7 218 cudaSuccess$' "the program ends as ever"
says out '^\$1 = 0$' "it is started again"
ends 1 "nothing is left to detach from" debug 'break 28
run
detach
detach'
says out '^No program is being run$'

# A front end that is cut, or sends what it should not.
if command -v python3 >/dev/null 2>&1; then
	capture python3 "$top/tests/debug/front_end.py" "$bin/ptxloom" "$scratch/programs/calls"
	grep -E '^(#|ok|not ok)' "$scratch/out" >"$scratch/results"
	while IFS= read -r line; do
		case $line in
		"ok "*) ok 0 "front end: ${line#ok }" ;;
		"not ok "*) ok 1 "front end: ${line#not ok }" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done <"$scratch/results"
	ok "$([ "$(grep -c '^ok' "$scratch/results")" -ge 12 ]; echo $?)" "all of them ran"
else
	skip "front end" "no python3"
fi
finish
