# ptxloom lint: messages with their places and hints, limits, options and exit statuses.
# `sh tests/golden/lint.sh --update` rewrites the expected output; review the difference.
. "${srcdir:-.}/tests/style/tap.sh"
PATH=$(cd "${builddir:-.}" && pwd):$PATH
export PATH
cd "$srcdir" || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
broken=tests/golden/lint.ptx
good=samples/vector_add.ptx

# status WANT COMMAND...: it exits with WANT; output in $scratch/out, $scratch/err.
status()
{
	want=$1
	shift
	"$@" >"$scratch/out" 2>"$scratch/err"
	got=$?
	[ "$got" -eq "$want" ] || sed 's/^/# /' "$scratch/out" "$scratch/err"
	ok "$([ "$got" -eq "$want" ]; echo $?)" "$* exits with $want, got $got"
}

# errors N: so many errors are on $scratch/err.
errors()
{
	got=$(grep -c ': error: ' "$scratch/err")
	ok "$([ "$got" -eq "$1" ]; echo $?)" "$1 errors are shown, got $got"
}

# says FILE PATTERN: a line of $scratch/FILE matches.
says()
{
	grep -qE -- "$2" "$scratch/$1"
	result=$?
	[ "$result" -eq 0 ] || head -n 5 "$scratch/$1" | sed 's/^/# /'
	ok "$result" "$1: $2"
}

status 1 ptxloom lint "$broken"
if [ "${1:-}" = --update ]; then
	cp "$scratch/err" tests/golden/lint.out
fi
if ! cmp -s tests/golden/lint.out "$scratch/err"; then
	diff tests/golden/lint.out "$scratch/err" | head -n 40 | sed 's/^/# /'
	ok 1 "every message is as expected"
else
	ok 0 "every message is as expected"
fi
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
