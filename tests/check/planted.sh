# Mistakes of every check in programs as people write them: each is found, with exit status 86 and at its line, as
# clang and nvcc build them; and nothing is found by all checks in the same programs without it.
. "${srcdir:-.}/tests/tap.sh"
source=$top/tests/check/planted.cu
names=$(sed -n 's/^static void \([a-z_0-9]*\)(bool bad)$/\1/p' "$source")
for name in $names; do echo "CASE($name)"; done >"$scratch/planted.inc"
cd "$scratch" || exit 1

# found NAME: with its mistake.
found()
{
	line=$(awk -v k="!$1" '{ for (i = 1; i <= NF; i++) if ($i == k) print FNR }' "$source")
	capture timeout 60 ptxloom run --check="${1%%_*}" ./planted "$1" bad
	[ $? -eq 86 ] && { [ ! "$line" ] || grep -q "planted\.cu:$line\b" err; }
}

# clean NAME: without it.
clean()
{
	capture timeout 60 ptxloom check ./planted "$1" good &&
		! grep -q '^========= \(Warning\|Error\|Program\|Leaked\)' err
}

# try_all OPTION COMPILER...
try_all()
{
	what=$1
	shift
	succeeds "$what builds it" "$@" -g -lineinfo -I. "$source" -o planted
	for name in $names; do
		skipping || found "$name"
		verdict $? "$what: $name"
		skipping || clean "$name"
		verdict $? "$what: $name without the mistake"
	done
}

PTXLOOM_CHECK_LEAK=full
PTXLOOM_TIMEOUT=20s
export PTXLOOM_CHECK_LEAK PTXLOOM_TIMEOUT
needs_clang
try_all clang ptxloom cc -O1
needs_nvcc
try_all nvcc "$nvcc" -arch=sm_80 -std=c++17
skip_rest ""
ok "$([ "$(echo "$names" | wc -l)" -ge 70 ]; echo $?)" "there are programs"
finish
