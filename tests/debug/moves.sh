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
succeeds "commands of a breakpoint have if, else and while" debug 'set var $n = 0
break 28
commands 1
silent
set var $n = $n + 1
if t == 0
  printf "first %d\n", $n
  if $n > 4
    echo late\n
  end
else
  set var $i = 0
  while $i < 2
    if $i
      printf "other %d %d\n", $n, $i
    end
    set var $i = $i + 1
  end
end
if 0
  echo never\n
end
continue
end
save breakpoints '"$scratch/saved"'
run
print $n'
grep -v -e cudaSuccess -e '^Saved to file' "$scratch/out" >"$scratch/lines"
is lines 'Breakpoint 1 at calls.cu:28.
first 1
other 2 1
first 3
other 4 1
first 5
late
other 6 1
first 7
late
other 8 1
[The program exited with status 3]
$1 = 8'
ok "$([ "$(grep -c '^ *end$' "$scratch/saved")" -eq 6 ]; echo $?)" "blocks of commands are saved"
ends 1 "an error in a block ends the commands" debug 'break 28
commands 1
if nothing > 1
  echo yes\n
end
echo after\n
end
run
print 6 * 7'
says out '^\$1 = 42$'
ok "$(! grep -qE '^(yes|after)$' "$scratch/out"; echo $?)" "what follows it is not run"
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
