# Every subcommand has a manual page that shows the same synopsis and options as its --help,
# and completion for bash, zsh and fish knows all of them.
. "${srcdir:-.}/tests/tap.sh"
completion=$srcdir/share/completion/ptxloom.bash
zsh=$srcdir/share/completion/_ptxloom
fish=$srcdir/share/completion/ptxloom.fish

# synopsis FILE: the SYNOPSIS of an mdoc page as one line of plain text.
# Knows the macros that our pages use there: Nm Op Oo Oc Fl Ar Cm Ns and text.
synopsis()
{
	awk '
	function word(w) {
		out = out (out == "" || glue ? "" : " ") w
		glue = 0
	}
	/^\.Sh / { inside = $2 == "SYNOPSIS"; next }
	!inside { next }
	{
		n = split($0, a, " ")
		option = 0
		macro = ""
		for (i = 1; i <= n; i++) {
			w = a[i]
			if (i == 1 && w ~ /^\./)
				w = substr(w, 2)
			else if (i == 1)
				macro = "text"
			if (w == "Nm") { macro = "Nm"; continue }
			if (w == "Op") { word("["); glue = 1; option++; continue }
			if (w == "Oo") { word("["); glue = 1; macro = ""; continue }
			if (w == "Oc") { out = out "]"; macro = ""; continue }
			if (w == "Fl") { macro = "Fl"; continue }
			if (w == "Ar" || w == "Cm") {
				# mdoc prints "file ..." for an Ar without a word; our pages always give one.
				macro = "Ar"
				continue
			}
			if (w == "Ns") { glue = 1; continue }
			gsub(/\\&/, "", w)
			gsub(/\\-/, "-", w)
			if (w == "...") glue = 1
			word((macro == "Fl" ? "-" : "") w)
			if (macro == "Fl") macro = ""
		}
		while (option-- > 0) out = out "]"
	}
	END { print out }' "$1"
}

names=$(sed -n 's/^COMMAND(\([a-z_]*\),.*/\1/p' "$srcdir/src/tools/commands.def")
ok "$([ -n "$names" ]; echo $?)" "commands.def has rows"

for name in $names; do
	page=$srcdir/man/ptxloom-$name.1
	if ! [ -f "$page" ]; then
		ok 1 "$name: has a manual page"
		continue
	fi
	help=$(ptxloom "$name" --help)
	ok $? "$name --help succeeds"
	shown=$(echo "$help" | sed -n '1s/^usage: //p')
	written=$(synopsis "$page")
	[ "$shown" = "$written" ] || printf '# --help: %s\n# manual: %s\n' "$shown" "$written"
	ok "$([ "$shown" = "$written" ]; echo $?)" "$name: manual page and --help have one synopsis"
	empty "$(echo "$help" | grep -oE '(^|[^a-z-])--[a-z][a-z-]*' | sed 's/^[^-]*--//' | sort -u |
		while read -r flag; do
			[ "$flag" = help ] && continue
			grep -qE "Fl -$flag( |=|$)" "$page" || echo "--$flag is not in the manual page"
			grep -qE -- "--$flag([^a-z-]|$)" "$completion" || echo "--$flag is not completed in bash"
			grep -qE -- "--$flag([^a-z-]|$)" "$zsh" || echo "--$flag is not completed in zsh"
			grep -qE -- "( -l |[^a-z-])$flag([^a-z-]|$)" "$fish" || echo "--$flag is not completed in fish"
		done)" "$name: every option is in the manual page and completed"
	missing=
	for file in "$completion" "$zsh" "$fish"; do
		grep -qE "(^|[^a-z])$name([^a-z]|$)" "$file" || missing="$missing $file"
	done
	empty "$missing" "$name: is completed"
	grep -qE "^\.Xr ptxloom-$name 1|Cm $name" "$srcdir/man/ptxloom.1"
	ok $? "$name: ptxloom(1) names it"
done

if command -v mandoc >/dev/null 2>&1; then
	empty "$(mandoc -T lint -W warning "$srcdir"/man/*.1 | grep -v 'referenced manual not found')" \
		"mandoc finds nothing"
else
	skip "mandoc finds nothing" "no mandoc"
fi
if command -v groff >/dev/null 2>&1; then
	empty "$(groff -mdoc -ww -z -Tutf8 "$srcdir"/man/*.1 2>&1)" "groff finds nothing"
else
	skip "groff finds nothing" "no groff"
fi
if command -v bash >/dev/null 2>&1; then
	bash -n "$completion"
	ok $? "the completion is valid bash"
	words=$(bash -c '. "$1"; COMP_WORDS=(ptxloom ""); COMP_CWORD=1; _ptxloom; echo "${COMPREPLY[*]}"' \
		- "$completion" | tr ' ' '\n' | sort)
	empty "$(for name in $names; do echo "$words" | grep -qx "$name" || echo "$name"; done)" \
		"the completion offers every command"
else
	skip "the completion is valid bash" "no bash"
fi
# Every variable of the environment is in ptxloom(1), and every name that the pages show exists.
known=$(sed -n 's/^SETTING(\([A-Z_]*\),.*/PTXLOOM_\1/p' "$srcdir/src/base/setting.def" | sort)
empty "$(echo "$known" | while read -r name; do
	grep -q "^\.\(It \)\?Ev $name\( \|$\)" "$srcdir/man/ptxloom.1" || echo "$name"
done)" "ptxloom(1) describes every variable"
empty "$(cat "$srcdir"/man/*.1 | sed -n 's/^.*Ev \(PTXLOOM_[A-Z_]*[A-Z]\).*/\1/p' | sort -u |
	while read -r name; do
		echo "$known" | grep -qx "$name" || echo "$name"
	done)" "every variable that a manual page names exists"
finish
