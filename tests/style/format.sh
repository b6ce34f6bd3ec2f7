# clang-format would change nothing, in every C file of ours. Only the version that .clang-format was made for can
# tell: others lay lines out in other ways.
. "${srcdir:-.}/tests/tap.sh"

cd "$srcdir" || exit 1
srcdir=.
wanted=$(sed -n 's/^# For clang-format \([0-9]*\):.*/\1/p' .clang-format)
ok "$([ -n "$wanted" ]; echo $?)" ".clang-format says for which version it is"

# formatter: the first of that version.
formatter()
{
	for command in "clang-format-$wanted" clang-format; do
		case $("$command" --version 2>/dev/null) in
		*" version $wanted."*)
			echo "$command"
			return
			;;
		esac
	done
}
format=$(formatter)
all_files | grep '\.[ch]$' | ours >"$scratch/files"
ok "$([ "$(wc -l <"$scratch/files")" -gt 300 ]; echo $?)" "files were found"
[ -n "$format" ] || skip_rest "no clang-format $wanted"
# faults FILE...: one line for each place.
faults()
{
	xargs "${format:-true}" --style=file --dry-run -Werror 2>&1 | grep -i 'error' | head -n 40
}
empty "$(faults <"$scratch/files")" "every file is laid out by .clang-format"

# What judges the others is judged: a line that is too long, one with spaces.
cp .clang-format "$scratch"
printf 'int  x;\nint f(void)\n{\n        return x;\n}\n' >"$scratch/wrong.c"
ok "$([ "$(echo "$scratch/wrong.c" | faults | wc -l)" -ge 2 ]; echo $?)" "a file that is laid out otherwise is found"
finish
