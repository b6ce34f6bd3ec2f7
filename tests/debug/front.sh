# `ptxloom debug` as a process: how programs start and end, scripts, statuses, bad use. Programs here have no kernels;
# sessions.sh has those that do.
. "${srcdir:-.}/tests/tap.sh"

# A debugger that waits for something else than these tests do would wait for ever.
debug()
{
	timeout 60 ptxloom debug "$@"
}

# ---- how a program ends ----

succeeds "a program without kernels runs" debug --batch -ex run -- true
says out '^\[The program exited normally\]$'
succeeds "its exit status is told" debug --batch -ex run -ex 'print $_exitcode' -- sh -c 'exit 3'
says out '^\[The program exited with status 3\]$'
says out '= 3$'
succeeds "and its signal" debug --batch -ex run -- sh -c 'kill -9 $$'
says out '^\[The program was ended by SIGKILL, Killed\]$'
succeeds "what both print comes in order" debug --batch -ex 'echo a\n' -ex run -ex 'echo c\n' -- echo b
is out 'a
b
[The program exited normally]
c'
succeeds "continue starts it" debug --batch -ex continue -- echo started
says out '^started$'
ends 1 "but not again" debug --batch -ex continue -ex continue -- echo started
says out '^No program is being run$'
ok "$([ "$(grep -c '^started$' "$scratch/out")" -eq 1 ]; echo $?)" "it ran once"
succeeds "it keeps its standard input" sh -c 'echo typed | timeout 60 ptxloom debug --batch -ex run -- cat'
says out '^typed$'
capture sh -c 'printf "run\necho rest\\n\n" | timeout 60 ptxloom debug head -c 0'
says out '^rest$' "commands come from standard input without --batch"
succeeds "it gets the libraries" debug --batch -ex run -- sh -c 'echo "$LD_PRELOAD"'
says out 'libptxloom-preload\.so'
succeeds "and the device" debug -d v100 --batch -ex run -- sh -c 'echo "$PTXLOOM_DEVICE"'
says out '^v100$'

# ---- run again, arguments, environment ----

cat >"$scratch/show" <<'END'
#!/bin/sh
printf '<%s>\n' "$@"
END
chmod +x "$scratch/show"
succeeds "run takes arguments" debug --batch -ex 'run one "two three"' -- "$scratch/show" zero
is out '<one>
<two three>
[The program exited normally]'
succeeds "and keeps them" debug --batch -ex run -ex 'run one' -ex run -ex 'show args' -- echo '<zero  spaces>'
is out "<zero  spaces>
[The program exited normally]
The program is started again
one
[The program exited normally]
The program is started again
one
[The program exited normally]
Arguments of the program: one"
succeeds "arguments are split by a shell" debug --batch -ex "run < $scratch/in" -- cat
echo redirected >"$scratch/in"
succeeds "which redirects" debug --batch -ex "run < $scratch/in" -- cat
says out '^redirected$'
succeeds "set args" debug --batch -ex 'set args x y' -ex 'show args' -ex run -- echo
says out '^x y$'
succeeds "show args quotes" debug --batch -ex 'show args' -- echo "a b" "it's" ''
is out "Arguments of the program: 'a b' 'it'\\''s' ''"
succeeds "set env" debug --batch -ex 'set env COLOUR=light blue' -ex 'show env COLOUR' \
	-ex 'unset env HOME' -ex run -- \
	sh -c 'echo "<$COLOUR> <${HOME-none}>"'
says out '^COLOUR=light blue$'
says out '^<light blue> <none>$'
succeeds "kill and quit" debug --batch -ex kill -ex 'quit 0' -ex 'echo no\n' -- true
says out '^No program is being run$'
ends 7 "quit has a status" debug --batch -ex 'quit 7' -- true
succeeds "the shell" debug --batch -ex 'shell echo $((6 * 7))' -ex '!echo again' -- true
is out '42
again'

succeeds "settings of gdb's are accepted" debug --batch -ex 'set height 0' -ex 'set width 0' -ex 'set pagination off' \
	-ex 'set breakpoint pending on' -ex 'set confirm off' -ex 'show version' -ex 'info program' -- echo a b
says out '^ptxloom [0-9.]*$'
says out '^echo a b$'
says out '^It is not being run$'
for command in attach detach file handle signal tty core-file; do
	ends 1 "$command" debug --batch -ex "$command 1" -- true
	[ "$(wc -l <"$scratch/out")" -eq 1 ] && ! grep -q Undefined "$scratch/out"
	ok $? "is refused in one line"
done

# ---- scripts ----

cat >"$scratch/script" <<'END'
# a comment
echo one\n
	echo two\n

nonsense
echo after an error\n
if 1 == 1
  echo yes\n
  if 0
    echo no\n
  else
    echo else\n
  end
end
set var $i = 0
while $i < 3
  print $i
  set var $i = $i + 1
end
define twice
  echo <$arg0> <$arg1> $argc\n
end
document twice
Prints its arguments.
end
twice a "b c"
help twice
echo no end of line
END
printf 'echo last' >>"$scratch/script"
ends 1 "a script with an error goes on, and its status is 1" debug --batch -x "$scratch/script" -- true
says out '^one$'
says out '^two$'
says out 'nonsense'
says out '^after an error$'
says out '^yes$'
says out '^else$'
says out '= 0$'
says out '= 2$'
says out '^<a> <"b c"> 2$'
says out '^Prints its arguments\.$'
says out 'last$'
ok "$(! grep -qE '= 3$|^no$' "$scratch/out"; echo $?)" "loops end, and what is not so is not done"
succeeds "the status is that of the last of -x and -ex" debug --batch -x "$scratch/script" -ex 'echo fine\n' -- true
printf 'source %s\n' "$scratch/script" >"$scratch/outer"
ends 1 "scripts run scripts" debug --batch -x "$scratch/outer" -- true
says out '^two$'
printf 'source %s\n' "$scratch/self" >"$scratch/self"
ends 1 "but not without end" debug --batch -x "$scratch/self" -- true
says out 'nested more than'
printf 'if 1\necho x\\n\n' >"$scratch/open"
ends 1 "a block has an end" debug --batch -x "$scratch/open" -- true
says out "open:1: there is no 'end' of 'if'"
cat >"$scratch/lost" <<'END'
commands 99
silent
if 1
echo not this
end
echo nor this\n
end
echo but this\n
END
ends 1 "commands of no breakpoint are not run" debug --batch -x "$scratch/lost" -- true
is out 'No breakpoint number 99.
but this'
ends 1 "a script that is not there" debug --batch -x "$scratch/absent" -- true
says out "absent: No such file"
ends 1 "a script that is a folder" debug --batch -x "$scratch" -- true
says out ": is a folder$"
head -c 4096 "$bin/ptxloom" >"$scratch/noise"
ends 1 "a script that is a program" debug --batch -x "$scratch/noise" -- true
says out "is not text"
head -c 1000000 /dev/zero | tr '\0' a >"$scratch/long"
ends 1 "a line of a million characters" debug --batch -x "$scratch/long" -- true
ok "$([ "$(wc -l <"$scratch/out")" -le 2 ]; echo $?)" "has one line about it"

# ---- colours ----

succeeds "colours on request" debug --color always --batch -ex 'echo Breakpoint 1: k at a/b.cu:12\n7\tint x;\n' -- true
esc=$(printf '\033')
says out "^$esc\[1mBreakpoint 1$esc\[0m: k at $esc\[32ma/b.cu:12$esc\[0m\$"
says out "^$esc\[33m7$esc\[0m	int x;"
succeeds "none in files" debug --batch -ex 'echo Breakpoint 1: k at a/b.cu:12\n' -- true
is out 'Breakpoint 1: k at a/b.cu:12'
ends 1 "layouts need a terminal" debug --batch -ex 'layout src' -- true
says out 'needs a terminal'

# ---- what cannot be debugged ----

ends 127 "a program that is not there" debug --batch -ex run -- ./absent
says err '^ptxloom: error: ./absent: No such file or directory$'
ends 127 "nor in PATH" debug --batch -ex run -- absent-program
ends 126 "a file that is no program" debug --batch -ex run -- "$scratch/script"
ends 126 "a folder" debug --batch -ex run -- "$scratch"
status 2 debug
says err 'no program given'
status 2 debug -x
says err "no value for '-x'"
status 2 debug --nonsense -- true
status 2 debug -d nonsense -- true
status 2 debug --color nonsense -- true
status 0 debug --help
printf 'echo text' >"$scratch/program"
chmod +x "$scratch/program"
succeeds "a script without a first line is not read" debug --batch -ex 'echo on\n' -- "$scratch/program"

# ---- the program's code, before it runs ----

cat >"$scratch/code" <<'END'
list saxpy
break 34
break nothing
info breakpoints
END
cat >"$scratch/global.ptx" <<'END'
.version 7.0
.target sm_80
.address_size 64
.global .u32 _ZN2ns5totalE;
.visible .entry k()
{
	ret;
}
END
succeeds "variables without debug information" debug --batch -ex 'info variables' "$scratch/global.ptx" --block 1
says out '^Non-debugging symbols:$'
says out ' ns::total$'
succeeds "PTX alone" debug --batch -x "$scratch/code" "$top/samples/saxpy.ptx" --block 4
says out 'mad\.lo\.s32'
says out '^Breakpoint 1 at saxpy\.ptx:34\.$'
says out 'when its code is loaded'
succeeds "is run by ptxloom exec" debug --batch -ex 'break 34' -ex run -ex 'print $tid.x' -ex continue \
	"$top/samples/saxpy.ptx" --block 4 --arg u32=4 --arg f32=2 --buffer x:f32=1,2,3,4 --buffer y:f32[4]=ones \
	--dump y
says out '^Breakpoint 1: saxpy'
says out '^y\[0\.\.3\] = 3 5 7 9$'
succeeds "with other options" debug --batch -ex 'run --block 1' -ex 'run --nonsense' "$top/samples/saxpy.ptx"
says out 'exited with status 2'

# ---- the program's connection ----

if command -v python3 >/dev/null 2>&1; then
	fake="python3 $srcdir/tests/debug/fake.py"
else
	skip_rest "no python3"
fi
succeeds "commands go to the program" debug --batch -ex run -ex 'one two' -ex '  three' -ex continue -- $fake serve
is out '<one two>
<three>
[The program exited normally]'
succeeds "what was set before is known there" debug --batch -ex 'break kernel' -ex run -- $fake state
says out "^b's' b'.*kernel"
ends 1 "commands after its end run here" debug --batch -ex run -ex continue -ex step -- $fake serve
says out 'not being run|No program'
for what in huge empty unknown partial; do
	capture debug --batch -ex run -ex 'echo on\n' -- $fake $what
	says out 'connection with the program is given up|^\[The program exited normally\]$' "$what frames are told"
	says out '^on$' "and the session goes on"
done
for what in huge empty unknown; do
	capture debug --batch -ex run -- $fake $what
	says out 'connection with the program is given up: ' "$what: why"
done
succeeds "a connection that is closed" debug --batch -ex run -ex continue -ex 'echo on\n' -- $fake cut
says out '^The program has closed its connection'
says out '^after the cut$'
says out '^on$'
succeeds "large frames" debug --batch -ex run -ex continue -- $fake large
ok "$([ "$(wc -c <"$scratch/out")" -gt 8000000 ]; echo $?)" "come whole"
succeeds "frames in pieces" debug --batch -ex run -ex continue -- $fake bytes
says out '^hello'
succeeds "run ends the one that runs" debug --batch -ex run -ex "run $srcdir/tests/debug/fake.py serve" \
	-ex kill -- $fake serve
says out '^The program is started again$'
says out '^\[The program was killed\]$'

# interrupted WHAT TIMES: a debugger that gets SIGINT as often, or until it ends.
interrupted()
{
	: >"$scratch/out"
	ptxloom debug --batch -ex run -ex 'echo on\n' -- $fake "$1" >"$scratch/out" 2>"$scratch/err" </dev/null &
	pid=$!
	for _ in $(seq 30); do
		grep -q running "$scratch/out" && break
		sleep 0.1
	done
	for _ in $(seq "$2"); do
		kill -INT "$pid" 2>/dev/null || break
		sleep 0.3
	done
	wait "$pid"
}
skipping || interrupted interrupt 1
says out '^interrupted$' "Ctrl-C is passed on"
skipping || interrupted deaf 30
says out 'does not answer; Ctrl-C again kills it' "a program that does not answer"
says out 'SIGKILL' "is killed"

# A program that outlives a debugger would wait for it for ever.
skipping || {
	ptxloom debug --batch -ex run -- $fake deaf >"$scratch/out" 2>&1 </dev/null &
	pid=$!
	sleep 1
	kill -KILL "$pid"
	for _ in $(seq 100); do
		! pgrep -f "fake.py deaf" >/dev/null || sleep 0.1
	done
}
ok "$(skipping || ! pgrep -f "fake.py deaf" >/dev/null; echo $?)" "no program outlives its debugger"
finish
