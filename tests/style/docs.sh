# Every command that README.md, docs/*.md and the manual pages show is run.
#   .Dl $       a line of a manual page; as in an sh block:
#   ```sh       lines that start with "$ " are run and must exit with 0
#   ```console  the same, and the lines below a command are its exact output
# Commands run one after the other in a scratch folder that sees the samples; ./bootstrap commands
# would start this test again, so .ci/run runs those, and here it is checked that it does.
. "${srcdir:-.}/tests/tap.sh"

# A copy: coverage leaves out sources that lie elsewhere.
cp -r "$top/samples" "$scratch/samples" && chmod -R u+w "$scratch/samples"
for item in tests docs README.md; do
	if [ -e "$top/$item" ]; then
		ln -s "$top/$item" "$scratch/$item"
	fi
done

# shown FILE: for each command of FILE a line "LINE KIND COMMAND", output lines as "LINE > TEXT".
shown()
{
	awk '
	/^\.Dl \$ / { print FNR " sh " substr($0, 7) }
	/^```/ { kind = kind == "" ? substr($0, 4) : ""; next }
	kind != "sh" && kind != "console" { next }
	/^\$ / { print FNR " " kind " " substr($0, 3); next }
	kind == "console" { print FNR " > " $0; next }
	!/^#/ && !/^$/ { print FNR " stray " $0 }' "$1"
}

# bootstrap_known LINE: ./bootstrap --help names the command, and .ci/run runs it.
bootstrap_known()
{
	word=$(echo "$1" | awk '{ print $2 }')
	"$top/bootstrap" --help | grep -q "^  $word " && grep -q "bootstrap $word" "$top/.ci/run"
}

# flush: compare the output of the last console command with what the document shows.
flush()
{
	[ -n "$pending" ] || return 0
	if [ "$expected" = "$actual" ]; then
		ok 0 "$pending"
	else
		printf 'expected:\n%s\ngot:\n%s\n' "$expected" "$actual" | sed 's/^/# /'
		ok 1 "$pending"
	fi
	pending=
}

newline='
'
pending=
for doc in "$srcdir"/README.md "$srcdir"/docs/*.md "$srcdir"/man/*.1; do
	[ -f "$doc" ] || continue
	shown "$doc" >"$scratch/.commands"
	while read -r line kind rest; do
		where="$(basename "$doc"):$line: $rest"
		case $kind in
		">")
			expected=${expected:+$expected$newline}$rest
			continue
			;;
		stray)
			flush
			ok 1 "$where (a line without \"\$ \" in a sh block)"
			continue
			;;
		esac
		flush
		case $rest in
		./bootstrap*)
			bootstrap_known "$rest"
			ok $? "$where"
			continue
			;;
		"ptxloom cc "* | "ptxloom debug "*" ./"* | "ptxloom run ./"* | "ptxloom run "*" ./"* | \
			"ptxloom check "*"./"* | \
			"ptxloom "*" --replay "* | PTXLOOM_*" ./"* | ./*)
			if ! has_clang; then
				skip "$where" "$tap_no_clang"
				continue
			fi
			;;
		esac
		status=0
		actual=$(cd "$scratch" && PATH=$bin:$PATH sh -c "$rest" 2>&1 </dev/null) || status=$?
		if [ "$kind" = console ]; then
			# Indentation is not compared: `read` drops it in the document as well.
			actual=$(echo "$actual" | sed 's/^[ 	]*//; s/[ 	]*$//')
			pending=$where
			expected=
		elif [ "$status" -ne 0 ]; then
			echo "$actual" | head -n 20 | sed 's/^/# /'
			ok 1 "$where (exit status $status)"
		else
			ok 0 "$where"
		fi
	done <"$scratch/.commands"
	flush
done
ok "$([ "$tap_count" -gt 0 ]; echo $?)" "commands were found"

# A link or path in a document must lead somewhere.
empty "$(for doc in "$srcdir"/*.md "$srcdir"/docs/*.md; do
	[ -f "$doc" ] || continue
	grep -oE '\]\([^)#:]+\)' "$doc" | sed 's/^](//; s/)$//' | while read -r target; do
		[ -e "$(dirname "$doc")/$target" ] || echo "$(basename "$doc"): no file $target"
	done
done)" "links between documents lead somewhere"
finish
