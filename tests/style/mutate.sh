# tests/mutate, on a small program: every change is tried and judged, the choice is the same each time, and nothing
# but the copy is touched.
. "${srcdir:-.}/tests/tap.sh"
mutate=$top/tests/mutate
cd "$scratch" || exit 1
mkdir work

# The test of tiny.c never asks about equal numbers, nor for the sum that nobody uses.
cat >tiny.c <<'END'
static int used;
/* a + b: no code */
static int larger(int a, int b)
{
	if (a > b)
		return a;
	return b;
}
static int count(int n)
{
	int i = 0;

	while (i != n)
		i++;
	used = i + 40; /* "1 + 1" */
	return i;
}
int main(void)
{
	return larger(1, 2) == 2 && larger(5, 3) == 5 && count(3) == 3 ? 0 : 1;
}
END
cp tiny.c tiny.orig
capture "$mutate" --list -n 1000 tiny.c
says out '^tiny\.c:5: > becomes >=$' "operators are changed"
says out '^tiny\.c:5: the condition is negated$' "conditions are negated"
says out '^tiny\.c:14: the statement is gone$' "statements are deleted"
says out '^tiny\.c:15: 40 is one more$' "constants are changed"
empty "$(grep -E '^tiny\.c:(1|2|3|4|7|8|9|10):' out; grep -c 'c:15: + becomes -' out | grep -vx 1)" \
	"declarations, comments and strings are not"
cp out all
capture "$mutate" --list -n 5 -s 7 tiny.c
cp out five
capture "$mutate" --list -n 5 -s 7 tiny.c
same five out "a seed chooses the same ones"
capture "$mutate" --list -n 5 -s 8 tiny.c
ok "$(! cmp -s five out; echo $?)" "another seed chooses others"
empty "$(sort five | uniq -d; sort all >known; sort five | comm -23 - known)" "out of all, each once"

ends 1 "some mutants survive" "$mutate" -n 1000 -l 5 -w work -b "${CC:-cc} -Werror -o tiny tiny.c" -c ./tiny tiny.c
says out '^survived: tiny\.c:5: > becomes >=$' "the one that only equal numbers show"
says out '^	if \(a >= b\)$' "it is shown"
says out '^survived: tiny\.c:15: \+ becomes -$' "the one that makes no difference"
says out '^killed: tiny\.c:5: the condition is negated$' "others are killed"
says out '^timeout: tiny\.c:14: the statement is gone$' "one that never ends is killed by time"
says out '^[0-9]+ killed \([0-9]+ by time\), [0-9]+ survived, [0-9]+ did not build$' "there are sums"
ok "$([ "$(grep -cE '^(killed|timeout|survived|stillborn): ' out)" -eq "$(wc -l <all)" ]; echo $?)" "all are tried"
same tiny.orig tiny.c "the file is as it was"
same tiny.orig work/tiny.c "its copy, too"

refused 2 'fail before anything is changed' "tests that fail anyway say nothing" \
	"$mutate" -w work -b true -c false tiny.c
refused 2 'does not build as it is' "nor does what cannot be built" "$mutate" -w work -b false -c true tiny.c
refused 2 "no file none.c" "a file that is not there" "$mutate" none.c
refused 2 "no path below" "a file elsewhere" "$mutate" -b true -c true "$scratch/tiny.c"
refused 2 "unknown option --frobnicate" "an unknown option" "$mutate" --frobnicate
succeeds "mutants that are all killed" "$mutate" -w work -b true -c 'cmp -s tiny.c ../tiny.orig' tiny.c
finish
