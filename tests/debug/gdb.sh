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

for command in 'set print pretty on' 'set history save on' 'set logging on' 'set scheduler-locking on' \
	'info inferiors' 'info sharedlibrary' 'info signals' 'rbreak pa' 'attach 1' 'core-file x' \
	'signal 2' 'handle 2 stop' 'info nothing' 'nothing'; do
	ends 1 "$command is refused" debug -ex "$command"
	[ "$(wc -l <"$scratch/out")" -eq 1 ] && [ ! -s "$scratch/err" ]
	ok $? "in one line"
done
finish
