# Mistakes of every check in programs as people write them: each is found, with exit status 86 and at its line, as
# clang and nvcc build them, some by nvcc -G, too; and nothing is found by all checks in the same programs without it.
. "${srcdir:-.}/tests/tap.sh"
programs="planted planted_memory planted_calls"
count=0
for program in $programs; do
	sed -n 's/^static void \([a-z_0-9]*\)(bool bad)$/CASE(\1)/p' "$top/tests/check/$program.cu" \
		>"$scratch/$program.inc"
	count=$((count + $(wc -l <"$scratch/$program.inc")))
done
cd "$scratch" || exit 1

# found NAME: with its mistake.
found()
{
	line=$(awk -v k="!$1" '{ for (i = 1; i <= NF; i++) if ($i == k) print FNR }' "$source")
	capture timeout 60 ptxloom run --check="${1%%_*}" "./$program" "$1" bad
	[ $? -eq 86 ] && { [ ! "$line" ] || grep -q "$program\.cu:$line\b" err; }
}

# clean NAME: without it.
clean()
{
	capture timeout 60 ptxloom check "./$program" "$1" good &&
		! grep -q '^========= \(Warning\|Error\|Program\|Leaked\)' err
}

# try_all COMPILER COMMAND...
try_all()
{
	what=$1
	shift
	for program in $programs; do
		source=$top/tests/check/$program.cu
		succeeds "$what builds $program" "$@" -g -I. "$source" -o "$program" -lcuda
		for name in $(sed 's/CASE(\(.*\))/\1/' "$program.inc"); do
			skipping || found "$name"
			verdict $? "$what: $name"
			skipping || clean "$name"
			verdict $? "$what: $name without the mistake"
		done
	done
}

PTXLOOM_CHECK_LEAK=full
PTXLOOM_TIMEOUT=20s
export PTXLOOM_CHECK_LEAK PTXLOOM_TIMEOUT
needs_clang
try_all clang ptxloom cc -O1 -lineinfo
needs_nvcc
try_all nvcc "$nvcc" -arch=sm_80 -std=c++17 -lineinfo
programs=planted_calls
try_all "nvcc -G" "$nvcc" -arch=sm_80 -std=c++17 -G
skip_rest ""
ok "$([ "$count" -ge 108 ]; echo $?)" "there are programs"
finish
