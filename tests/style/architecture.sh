# docs/architecture.md is true: the files of its diagrams exist and define what is named beside them, its
# table has every folder of sources, and a debugger finds the way down in the order that is drawn. Files that
# any document names exist.
. "${srcdir:-.}/tests/tap.sh"

doc=$top/docs/architecture.md

# Lines of the diagrams that name a file: "DEPTH FILE NAME", DEPTH how far the line is indented.
awk '/^```/ { inside = !inside; next }
	inside && match($0, /(src|runtime|grammar)\/[a-z0-9_\/]+\.(c|h|def|inc)/) {
		name = substr($0, RSTART + RLENGTH)
		sub(/^ +/, "", name)
		sub(/[ (].*/, "", name)
		print RSTART - 1, substr($0, RSTART, RLENGTH), name
	}' "$doc" >"$scratch/steps"
ok "$([ "$(wc -l <"$scratch/steps")" -ge 40 ]; echo $?)" "the diagrams have steps"

# Definitions begin in the first column: the function itself, or the row or macro that makes it.
empty "$(while read -r _ file name; do
	[ -f "$top/$file" ] || echo "no file $file"
	[ ! -f "$top/$file" ] || [ "${name#op_}" != "$name" ] ||
		grep -qE "^[^ 	*/].*(^|[^a-zA-Z0-9_])$name([^a-zA-Z0-9_]|\$)" "$top/$file" ||
		echo "$file does not define $name"
done <"$scratch/steps")" "files and what they define exist"

# Paths in the text of any document, and sources that are named without their folder, exist.
named()
{
	(cd "$top" && awk 'FNR == 1 { inside = 0 } /^```/ { inside = !inside } !inside' "$@") |
		grep -oE '`[A-Za-z0-9_./*-]+`' | tr -d '`' | sort -u
}
documents=$(cd "$top" && ls ./*.md docs/*.md)
# shellcheck disable=SC2086
named $documents >"$scratch/named"
empty "$(grep -E '^(src|runtime|grammar|tests|samples|share|include|docs|man)/' "$scratch/named" |
	while read -r path; do
		# Programs are named as they are built; shellcheck disable=SC2086
		(cd "$top" && ls -d $path || ls -d "$path.c") >/dev/null 2>&1 || echo "no $path"
	done)" "paths in documents exist"
(cd "$top" && find src runtime grammar tests include share) | sed 's,.*/,,' | sort -u >"$scratch/names"
empty "$(grep -xE '[a-z0-9_]+\.(c|l|y|def|tsv|vec|sh)|[a-z0-9]+_[a-z0-9_]+\.h' "$scratch/named" |
	grep -vxFf "$scratch/names")" "sources that documents name exist"

folders=$(cd "$top" && ls -d src/*/ runtime grammar | sed 's,/$,,')
empty "$(for folder in $folders; do
	grep -q "^| \`$folder\` |" "$doc" || echo "$folder"
done)" "every folder of sources is explained"
empty "$(grep -oE '^\| `[a-z/]+`' "$doc" | tr -d '|` ' | while read -r folder; do
	[ -d "$top/$folder" ] || echo "$folder"
done)" "and every one that is explained exists"

# The way down as a debugger sees it: the functions at the outer level, in this order, among the frames above main.
if ! command -v gdb >/dev/null; then
	skip_rest "no gdb"
else
	needs_clang
fi
capture ptxloom cc "$top/samples/vector_add.cu" -o "$scratch/vector_add"
verdict $? "the program of the diagrams is built"
cat >"$scratch/commands" <<'END'
set pagination off
set breakpoint pending on
set debuginfod enabled off
break num_add_f32
run
backtrace
kill
END
skipping || timeout 120 gdb -q -batch -nx -x "$scratch/commands" "$scratch/vector_add" \
	>"$scratch/trace" 2>&1 </dev/null
if ! skipping && ! grep -q '^#0 .*numeric_f32\.h' "$scratch/trace"; then
	skip_rest "gdb cannot run programs here, or there is no debug information"
fi
skipping || sed -n 's/^#[0-9]* *\(0x[0-9a-f]* in \)\{0,1\}\([a-zA-Z0-9_]*\) .*/\2/p' "$scratch/trace" |
	sed 's/^plrt_//; s/^\(op_.*\)_\(base\|v[234]\)$/\1/' >"$scratch/frames"
skipping || awk '$1 == 1 { print $3 }' "$scratch/steps" >"$scratch/outer"
skipping || grep -nxFf "$scratch/outer" "$scratch/frames" | sed 's/.*://' | sed '1!G; h; $!d' >"$scratch/seen"
skipping || awk 'NR == FNR { want[++n] = $1; next }
	{ while (at < n && want[at + 1] != $1) at++; if (at++ == n) print $1 " is out of order" }' \
	"$scratch/outer" "$scratch/seen" >"$scratch/wrong"
empty "$(skipping || cat "$scratch/wrong")" "a debugger sees the steps in this order"
skipping || [ "$(wc -l <"$scratch/seen")" -ge 8 ]
ok $? "and most of them"
finish
