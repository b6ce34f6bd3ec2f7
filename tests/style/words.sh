# Words that have no place in the project: paths of one machine, notes to oneself, unfinished work.
# The patterns are written so that they do not match this file.
. "${srcdir:-.}/tests/tap.sh"

cd "$srcdir" || exit 1
srcdir=.
files=$(all_files)

# absent PATTERN DESCRIPTION: no file of ours holds a line that matches, whatever the case.
absent()
{
	empty "$(echo "$files" | tr '\n' '\0' | xargs -0 grep -nIEi -- "$1" /dev/null | cut -c1-160 | head -n 20)" "$2"
}

absent '(^|[^a-z0-9_.$])/(work|root|home|farm|users|mnt)/[a-z]' "no path of one machine"
absent '/tmp/(lead|build-[a-z]|house)' "no path of one machine's temporary files"
absent 'sub-?[a]gent|[^a-z]ai [a]gent|[c]laude|[a]nthropic|chat[g]pt|langu[a]ge model' \
	"no word about who or what wrote it"
absent '(this|previous|earlier) [s]ession|[h]elper session|share[d]/(design|oracle|reference|seeds)' \
	"no word about the circumstances of writing"
absent '(^|[^a-z_])(t[o]do|fi[x]me|x[x]x)([^a-z]|$)' "nothing is marked as unfinished"
absent '^([<]{7}|[>]{7}|[=]{7}$)' "no conflict marker"
absent 'all rights r[e]served|nvidia c[o]rporation' "no text of others"
ok "$([ "$(echo "$files" | wc -l)" -gt 30 ]; echo $?)" "files were found"

# Expressions with a standard term, docs/glossary.md: they are not to come back, neither where people read nor to
# comments.
dialect='told of|tells? of|telling of|(give|gives|gave|given|giving) back|lent|lends?|put aside|puts aside|looked at'
dialect="$dialect|parted|parting|meanwhile|spoils?|spoilt|spoiled|more often than not|whoever|nobody|somebody"
dialect="$dialect|(its|their|the) ways|ways meet|(that|which|one|it|they) (is|are) none|is none of"
dialect="$dialect|at hand|tak(e|es|en) apart"
dialect="$dialect|(have|has|had|get|gets|got) (a|its|their|another) turns?|seats?|worked out|makes? no sense"
dialect="$dialect|who (includes|makes|gives|asks|fetches|watches|runs|wants|has|works|starts|calls|needs|waits|reads)"
read_by_people='^((docs|tests)/.*\.md|[A-Z]+\.md|man/.*\.[13]|include/.*\.h|src/(tools/commands|base/setting)\.def)$'
plain='^(src|grammar|runtime|include|tests/(api|arith|fuzz|memory|progress|ref|unit))/.*\.(c|h|inc|l|y|def)$'

# dialect_of PATTERN: where files whose names match have such an expression, in running text.
dialect_of()
{
	echo "$files" | grep -E "$1" | tr '\n' '\0' |
		xargs -0 grep -nHiE "(^|[^a-z0-9_])($dialect)([^a-z0-9_]|\$)" | cut -c1-160 | head -n 20
}
empty "$(dialect_of "$read_by_people")" "documents use standard terms"
empty "$(dialect_of "$plain")" "and so do comments of the sources"
empty "$(echo "$files" | grep -E '^src/(uop|ops|mma|tex|async|host|lower|exec|sched|watch)/.*\.(c|h|inc|def)$' |
	tr '\n' '\0' | xargs -0 grep -nHiwE 'records?')" "a lowered instruction is a micro-op"
echo 'The seat is given back meanwhile.' >"$scratch/dialect.md"
found=$(files=$scratch/dialect.md && dialect_of 'dialect')
ok "$([ -n "$found" ]; echo $?)" "such an expression is found"

# A comment that points to a document or script points to one that exists.
empty "$(echo "$files" | tr '\n' '\0' |
	xargs -0 grep -noIE '(docs|tests/style|man)/[a-z][a-z_.-]*\.(md|sh|1)' /dev/null |
	while IFS=: read -r file line path; do
		[ -f "$path" ] || echo "$file:$line: no $path"
	done)" "documents and scripts that are named exist"

# So does one that names a file of the sources.
all_files | sed 's,.*/,,' | sort -u >"$scratch/known"
empty "$(sources '*.c' '*.h' '*.inc' '*.def' '*.l' '*.y' | grep -E '^(src|grammar|runtime|include|tests/unit)/' |
	tr '\n' '\0' | xargs -0 awk '
	FILENAME == ARGV[1] { known[$0] = 1; next }
	/^[ \t]*(\/\*|\* )|\/\* .*\*\// && !/#[ \t]*include/ {
		text = $0
		while (match(text, /(^|[^<A-Za-z0-9_.\/*-])[a-z][a-z_0-9]*\.(c|h|inc|def)([^A-Za-z0-9_.(]|\.?$|\. )/)) {
			name = substr(text, RSTART, RLENGTH)
			text = substr(text, RSTART + RLENGTH - 1)
			gsub(/^[^a-z]|[^a-z]*$/, "", name)
			if (!(name in known))
				print FILENAME ":" FNR ": there is no " name
		}
	}' "$scratch/known")" "files that comments name exist"

heads=$(sources '*.c' '*.h' '*.inc' '*.l' '*.y' | grep -E '^(src|grammar|runtime|include)/' | while read -r file; do
	head -n 3 "$file" | grep -q '/\*' || echo "$file: does not begin with what it owns"
done)
empty "$heads" "every source file begins with a comment"
finish
