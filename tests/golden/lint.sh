# ptxloom lint: messages with their places and hints, limits, options and exit statuses.
# `sh tests/golden/lint.sh --update` rewrites the expected output; review the difference.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
broken=tests/golden/lint.ptx
good=samples/vector_add.ptx

# errors N: so many errors are on $scratch/err.
errors()
{
	got=$(grep -c ': error: ' "$scratch/err")
	ok "$([ "$got" -eq "$1" ]; echo $?)" "$1 errors are shown, got $got"
}

status 1 ptxloom lint "$broken"
golden "${1:-}" err tests/golden/lint.out "every message is as expected"
all=$(grep -c ': error: ' tests/golden/lint.out)
ok "$([ -s "$scratch/out" ] && echo 1 || echo 0)" "messages go to standard error alone"

status 1 ptxloom lint --max-errors=3 "$broken"
errors 3
says err "^$broken: $((all - 3)) more errors$"
status 1 ptxloom lint --max-errors=$((all - 1)) "$broken"
says err "^$broken: 1 more error$"
status 1 ptxloom lint --max-errors=0 "$broken"
errors "$all"
# Past the default limit the others are counted.
awk 'BEGIN {
	print ".version 9.0\n.target sm_80\n.entry k() {"
	for (i = 0; i < 50; i++)
		print "\tnothing;"
	print "}"
}' >"$scratch/many.ptx"
status 1 ptxloom lint "$scratch/many.ptx"
errors 20
says err "many.ptx: 30 more errors$"

status 1 ptxloom lint -q "$broken"
ok "$([ -s "$scratch/err" ] && echo 1 || echo 0)" "-q writes nothing"
status 1 ptxloom lint --quiet "$broken"

status 0 ptxloom lint --rows
ok "$(grep -q '^run   add' "$scratch/out" && grep -q '^check ' "$scratch/out"; echo $?)" "rows have a state"
status 0 ptxloom lint "$good"
ok "$([ -s "$scratch/err" ] && echo 1 || echo 0)" "a correct module has no messages"
status 0 sh -c "ptxloom lint - <$good"
status 1 sh -c "ptxloom lint - <$broken"
says err "^<stdin>:15:"
status 0 sh -c "ptxloom lint --print $good | ptxloom lint -"
status 0 ptxloom lint --dump "$good"
says out "add"

# Of several files the worst counts, and each is read.
status 1 ptxloom lint "$good" "$broken" "$good"
status 2 ptxloom lint "$broken" "$scratch/absent.ptx"
says err "absent.ptx: error: No such file"
errors $((all + 1))
status 2 ptxloom lint
says err "no file given"
for number in many -1 4294967296; do
	status 2 ptxloom lint "--max-errors=$number" "$good"
done
says err "takes a number, not '4294967296'"
status 2 ptxloom lint --unheard-of "$good"
status 0 ptxloom lint --help
says out "max-errors=N"

# An empty file, binary rubbish, a NUL byte: errors, no crash.
: >"$scratch/empty.ptx"
status 1 ptxloom lint "$scratch/empty.ptx"
says err "no .version"
head -c 4096 "$(command -v ptxloom)" >"$scratch/rubbish.ptx"
status 1 ptxloom lint "$scratch/rubbish.ptx"
finish
