# Children by fork of a process that has used CUDA: errors, or devices of their own, in every mode.
. "${srcdir:-.}/tests/tap.sh"

forks=$scratch/forks
needs_clang
succeeds "forks.cu builds" ptxloom cc -lineinfo "$srcdir/tests/programs/forks.cu" -o "$forks"

ends 1 "calls of a child fail" ptxloom run "$forks"
says out '^child: cudaErrorInitializationError$' "with CUDA's error"
note='^ptxloom: note: this process is a child by fork .*PTXLOOM_FORK=fresh'
empty "$([ "$(grep -c "$note" "$scratch/err")" -eq 1 ] ||
	cat "$scratch/err")" "why is said once"
ends 2 "a word that --fork does not know is an error" ptxloom run --fork=yes "$forks"
says err "takes error or fresh, not 'yes'" "which says what it takes"

# fresh NAME OPTION...: parent and child compute the same.
all='parent: 200 of 200, counter 41, managed 8
child: 200 of 200, counter 41, managed 8'
fresh()
{
	ends 0 "a child has a device of its own, $1" ptxloom run --fork=fresh "$@" "$forks"
	is out "$all"
}
PTXLOOM_FORK=fresh ends 0 "the variable says so, too" ptxloom run "$forks"
for mode in --device=2xt4 --deterministic --stable --schedule=reverse --weak=3 --memory=1G \
	--check=mem,race,init,sync,leak \
	"--coverage=$scratch/cov" "--inject=call=cudaFree nth=1 -> delay 1ms"; do
	fresh "$mode"
done
if ! compiles_runs; then
	skip "a child runs compiled code" "LLVM, or the level, is not here"
else
	PTXLOOM_TIER=2 fresh --device=t4
	PTXLOOM_TIER=auto fresh --device=t4
fi
PTXLOOM_PROFILE=$scratch/profile-%p fresh --stable
empty "$(set -- "$scratch"/profile-*; [ $# -eq 2 ] || echo "$*")" "each writes a profile of its own"
empty "$(set -- "$scratch"/cov/*.ptxcov; [ $# -eq 2 ] || echo "$*")" "and so with coverage"
ends 0 "rules of injection count anew" ptxloom run --fork=fresh --inject 'call=cudaFree nth=1 -> delay 1ms' "$forks"
empty "$([ "$(grep -c 'call 1 of these, thread 1' "$scratch/err")" -eq 2 ] || cat "$scratch/err")" "in each process"
ends 0 "also after a fault of the parent" ptxloom run --fork=fresh "$forks" fault
is out "$all"
ends 0 "and in children of children" ptxloom run --fork=fresh "$forks" grand
is out "$all
grandchild: 200 of 200, counter 41, managed 8"
for which in all:3 application-only:1 forks:3 exclude:forks:0; do
	ends 0 "checked: ${which%:*}" \
		ptxloom run --fork=fresh --check=mem --target-processes="${which%:*}" "$forks" grand
	empty "$([ "$(grep -c 'ERROR SUMMARY' "$scratch/err")" -eq "${which##*:}" ] ||
		cat "$scratch/err")" "so many processes"
done
finish
