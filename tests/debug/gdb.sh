# What users of gdb type: short names, aliases, settings; what has no meaning here is one line.
. "${srcdir:-.}/tests/tap.sh"

if ! ptxloom cc -G "$top/tests/debug/diverge.cu" -o "$scratch/diverge" 2>"$scratch/err"; then
	skip "commands of gdb" "no CUDA C++ can be compiled here: $(head -n 1 "$scratch/err")"
	finish
fi

debug()
{
	timeout 60 ptxloom debug --batch "$@" "$scratch/diverge"
}

succeeds "short names" debug -ex 'b 9' -ex 'tb 15' -ex 'i b' -ex r -ex 'p lane' -ex 'p/x lane' -ex 'i r %r1' -ex bt \
	-ex s -ex n -ex 'x/2xw &out[0]' -ex 'disas' -ex 'i locals' -ex 'd 1' -ex k
says out '^Temporary breakpoint 2 at diverge\.cu:15\.$' "tb"
says out '^\$2 = 0x0$' "p/x"
says out '^#0  paths<<<1, 32>>> ' "bt"
says out '^Temporary breakpoint 2: paths, ' "n goes on to the line"
says out '^0x[0-9a-f]*:	0x00000000	0x00000000$' "x/2xw"
says out '^=> +[0-9]+ <\+[0-9]+>:' "disas marks the place"
says out '^j = 0$' "i locals"
says out '^\[The program was killed\]$' "k"

succeeds "aliases" debug -ex 'hbreak 9' -ex 'thbreak 15' -ex run -ex 'info all-registers %r1'
says out '^Breakpoint 1 at diverge\.cu:9\.$' "hbreak is break"
says out '^Temporary breakpoint 2 at ' "thbreak is tbreak"
says out '%r1  *\.b32' "info all-registers is info registers"

succeeds "temporary" debug -ex 'tbreak 9' -ex run -ex 'info breakpoints' -ex run
says out '^No breakpoints' "tbreak is gone where it has stopped"
says out '^\[The program exited normally\]$' "also when the program is started again"

succeeds "listsize" debug -ex 'show listsize' -ex 'set listsize 3' -ex 'list 9' -ex run -ex 'show listsize'
says out '^`list` shows 10 lines\.$' "it has a default"
is_three=$(grep -c '^[0-9][0-9]*	' "$scratch/out")
[ "$is_three" -eq 3 ]
ok $? "list shows as many lines"
says out '^`list` shows 3 lines\.$' "it is kept when the program runs and has ended"
ends 1 "listsize 0" debug -ex 'set listsize 0'

succeeds "apropos" debug -ex 'apropos BARRIER'
says out '^  info barriers ' "it lists commands by their help"
ends 1 "apropos of nothing" debug -ex 'apropos zzz'
says out "^No command is about 'zzz'\.\$" "it says so"
succeeds "confirm" debug -ex 'show confirm' -ex 'set confirm on' -ex 'show confirm'
says out ' are off\.$' "nothing is asked in batch mode"
says out ' are on\.$' "unless it is wanted"

succeeds "a variable may have the name of a setting" debug -ex 'break 15' -ex run -ex 'set r = 5' -ex 'print r'
says out '^\$1 = 5$' "it is assigned"

debug -ex 'break 9 if lane == 3' -ex 'tbreak 15' -ex 'disable 1' -ex 'catch fault' -ex 'dprintf 16,"%d\n",r' \
	-ex 'condition 4 lane == 3' -ex 'ignore 4 1' -ex 'display r' -ex run \
	-ex "save breakpoints $scratch/saved" >"$scratch/out"
sed 's,^break .*/,break ,' "$scratch/saved" >"$scratch/short"
says short '^break 9 if lane == 3$' "save breakpoints"
says short '^disable \$bpnum$' "with their states"
says short '^dprintf 16,"%d\\n",r$' "of every kind"
! grep -q 'tbreak\|display' "$scratch/short"
ok $? "those that are gone and displays are not in the file"
succeeds "what was saved" debug -ex 'break 8' -ex "source $scratch/saved" -ex 'info breakpoints' -ex run
says out '^2  *breakpoint  *keep n ' "is there again when the file is read"
says out 'stop only if lane == 3' "with conditions"
ends 1 "save without a file" debug -ex 'save breakpoints'
ends 1 "save into no folder" debug -ex 'save breakpoints /nowhere/at/all'
says out '^/nowhere/at/all: No such file or directory$' "says why"
ends 1 "break of a thread" debug -ex 'break 9 thread 3'
says out ' if threadIdx\.x == 3$' "says how"
ends 1 "break without a condition" debug -ex 'break 9 if'
says out '^A condition is needed' "says so"
ends 1 "thread apply" debug -ex 'break 9' -ex run -ex 'thread apply all bt'
says out 'print/lanes' "says what shows all lanes"

ptxloom debug --batch -ex 'break 10' -ex run -ex 'info ctas' -ex kill "$top/tests/debug/collatz.ptx" --block 1024 \
	--grid 2 --buffer out:u32[2048] --arg u32=0 >"$scratch/out"
says out '^1 has not begun\.$' "one is not several"
succeeds "frames" debug -ex 'break 9' -ex run -ex 'frame function paths' -ex 'frame level 0' -ex 'bt -full'
says out '^        lane = 0$' "bt -full has variables"
ends 1 "frame of no function" debug -ex 'break 9' -ex run -ex 'frame function nothing'
says out '^No frame for function "nothing"$' "says so"
succeeds "tables of cuda-gdb" debug -ex 'break 9' -ex run -ex 'info cuda managed' -ex 'info cuda contexts'
says out '^  *address  *bytes  *kind' "managed memory is among the allocations"
succeeds "registers by name" debug -ex 'break 9' -ex run -ex 'info registers $pc' -ex 'info registers pc %r1,%tid.x'
says out '^  *pc  *unsigned long  *0x' "the place is one"
says out '^  *tid\.x  *unsigned int  *0x0' "so are those of the machine"

# Every command before the program runs and after it has ended: none may bring the debugger down.
debug -ex help | sed -n 's/^  \(info [a-z]*\|[a-z][a-z-]*\).*/\1/p' | sort -u |
	grep -v '^\(define\|document\|if\|while\|layout\|quit\|shell\|commands\|save\|run\|start\)' >"$scratch/all"
{ cat "$scratch/all"; printf 'run\n'; cat "$scratch/all"; echo 'echo the end\n'; } >"$scratch/script"
debug -x "$scratch/script" >"$scratch/out" 2>&1
ok "$([ $? -le 1 ] && [ "$(wc -l <"$scratch/all")" -gt 60 ]; echo $?)" "all commands without a program"
says out '^the end$' "are answered"

for command in 'set cuda memcheck on' 'show cuda memcheck' 'set language c++' 'set step-mode on' \
	'set print pretty on' 'set history save on' 'set logging on' 'set scheduler-locking on' \
	'info inferiors' 'info sharedlibrary' 'info signals' 'rbreak pa' 'attach 1' 'core-file x' \
	'autostep 9' 'info autosteps' record checkpoint gcore 'info proc' 'info files' 'python print(1)' \
	'maintenance info' 'compile code 1' 'show print pretty' 'signal 2' 'handle 2 stop' 'info nothing' 'nothing'; do
	ends 1 "$command is refused" debug -ex "$command"
	[ "$(wc -l <"$scratch/out")" -eq 1 ] && [ ! -s "$scratch/err" ]
	ok $? "in one line"
done
finish
