# docs/findings.md has an example of each kind of finding: its source is that of a file, and its text is what is
# printed, but for addresses.
. "${srcdir:-.}/tests/tap.sh"
page=$top/docs/findings.md
for item in samples tests; do ln -s "$top/$item" "$scratch/$item"; done
cd "$scratch" || exit 1

# KIND.cuda, KIND.sh, KIND.text: the blocks of each section.
awk '
/^## / { kind = substr($0, 4); next }
/^```/ { block = block == "" ? substr($0, 4) : ""; next }
kind != "" && block != "" { sub(/^\$ /, block == "sh" ? "" : "&"); print >(kind "." block) }' "$page"

# without_addresses FILE: nor what the summary says, nor where the samples are.
without_addresses()
{
	grep '^=========.' "$1" | grep -v 'SUMMARY' |
		sed -E 's,[^ ]*/samples/checks/checks\.cu,samples/checks/checks.cu,; s/0x[0-9a-f]{9,}/0x/g'
}

kinds=$(sed -n 's/^FINDING([A-Z_]*, [A-Z]*, "\([a-z-]*\)".*/\1/p' "$top/src/check/finding.def")
ok "$([ "$(echo "$kinds" | wc -l)" -ge 21 ]; echo $?)" "there are kinds"
is_built=
if has_clang; then
	succeeds "the samples build" ptxloom cc -g -lineinfo -arch=sm_80 samples/checks/checks.cu -o checks
	is_built=1
fi
for kind in $kinds; do
	[ -s "$kind.cuda" ] && [ -s "$kind.sh" ] && [ -s "$kind.text" ]
	ok $? "$kind: the page has a source, a command and a text"
	cat "$top"/samples/checks/checks.cu "$top"/tests/check/*.cu | awk -v block="$kind.cuda" '
	{ all = all $0 "\n" }
	END {
		while ((getline line <block) > 0)
			part = part line "\n"
		exit part == "" || !index(all, part)
	}'
	ok $? "$kind: the source is that of a program"
	if grep -q ' ./checks ' "$kind.sh" && [ ! "$is_built" ]; then
		skip "$kind: the text" "$tap_no_clang"
		skip "$kind: the kind" "$tap_no_clang"
		continue
	fi
	PTXLOOM_CHECK_BACKTRACE=no timeout 60 sh "./$kind.sh" >out 2>err
	ok "$([ "$(tail -n 1 out)" = 86 ]; echo $?)" "$kind: exit status 86"
	without_addresses err >got
	without_addresses "$kind.text" >expected
	same expected got "$kind: the text is what is printed"
	rm -f document
	PTXLOOM_CHECK_FORMAT=json PTXLOOM_CHECK_FILE=document timeout 60 sh "./$kind.sh" >out 2>err
	grep -q "\"kind\": \"$kind\"" document
	verdict $? "$kind: is the kind of the finding"
done
finish
