# What is found does not depend on workers and seeds: programs with mistakes, each by 1, 2 and 4 workers and with three
# seeds. Each fourth one is run by one combination of these, in turn; with --long all are, by all of them.
. "${srcdir:-.}/tests/tap.sh"
long=
[ "$1" != --long ] || long=1
needs_clang
cd "$scratch" || exit 1

. "$top/tests/check/findings.inc.sh"

# look WORKERS SEED: what is found goes to `found`.
look()
{
	rm -f document
	PTXLOOM_WORKERS=$1 PTXLOOM_SEED=$2 PTXLOOM_CHECK_FORMAT=json PTXLOOM_CHECK_FILE=document \
		timeout 60 ptxloom check "./$program" "$name" bad >out 2>err
	[ -s document ] && findings document >found
}

PTXLOOM_CHECK_LEAK=full
PTXLOOM_TIMEOUT=20s
export PTXLOOM_CHECK_LEAK PTXLOOM_TIMEOUT
combinations="1:1 2:0 4:0 1:7 2:1 4:1 2:7 4:7"
count=0
programs=0
for program in planted planted_memory; do
	source=$top/tests/check/$program.cu
	sed -n 's/^static void \([a-z_0-9]*\)(bool bad)$/CASE(\1)/p' "$source" >"$program.inc"
	succeeds "$program is built" ptxloom cc -O1 -g -lineinfo -I. "$source" -o "$program" -lcuda
	skipping && continue
	for name in $(sed 's/CASE(\(.*\))/\1/' "$program.inc"); do
		programs=$((programs + 1))
		[ "$long" ] || [ $((programs % 4)) -eq 0 ] || continue
		look 1 0
		mv found expected
		which=$combinations
		if [ ! "$long" ]; then
			which=$(echo "$combinations" | cut -d ' ' -f $((count % 8 + 1)))
			count=$((count + 1))
		fi
		differs=
		for i in $which; do
			look "${i%:*}" "${i#*:}"
			cmp -s expected found || differs="$differs
$i: $(diff expected found)"
		done
		empty "$differs" "$name: with $(echo "$which" | tr '\n' ' ')"
	done
done
finish
