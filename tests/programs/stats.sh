# `ptxloom run --stats`: what a program has done is added up to the last launch, copy and instruction, also beside
# what else counts or watches; without it there is no line.
. "${srcdir:-.}/tests/tap.sh"

program=$scratch/stats
succeeds "the program builds" $CC "$srcdir/tests/programs/stats.c" -o "$program" -ldl

# line NAME REST: the line of a phase.
line()
{
	says err "^ptxloom: stats:   $1  *[0-9]*\.[0-9]* [m%]s*  *$2\$" "$1: $2"
}

# sums TIMES OPTION...: of so many rounds of the program.
sums()
{
	times=$1
	shift
	[ "$times" = 1 ] && round= || round=reset
	succeeds "the program runs ($times, $*)" ptxloom run --stats "$@" "$program" $round
	says err '^ptxloom: stats: [0-9]*\.[0-9]* ms from the first call of CUDA to the end$'
	line lower "$times kernels, [1-9][0-9]* micro-ops"
	line copy "$((2 * times)) copies, $((8 * times)).0 KiB"
	line wait '[0-9]* times the program waited for a device'
	line workers 'of [1-9][0-9]* in use'
}

instructions="3 launches, 24576 thread instructions, [0-9]*\.[0-9]* G/s for each worker"
sums 1
line parse '1 modules, [23][0-9]* B'
line execute "$instructions"
for option in --deterministic --stable --device=v100 "--coverage=$scratch/cov"; do
	sums 1 "$option"
	line execute "$instructions"
done
empty "$(set -- "$scratch"/cov/*.ptxcov; [ -s "$1" ] || echo none)" "coverage is still written"
sums 2
line execute "6 launches, 49152 thread instructions, .*"
sums 1 --check=mem,race
line execute '3 launches; instructions are not counted beside checks, profiles and debuggers'

empty "$(PTXLOOM_STATS=1 ptxloom run "$program" 2>&1 | grep -c '^ptxloom: stats' | grep -v '^7$')" \
	"the variable says so, too: seven lines"
empty "$(ptxloom run "$program" 2>&1)" "without it nothing is said"
empty "$(ptxloom run --stats true 2>&1)" "nor of a program that does not use CUDA"
ends 2 "a value that is no flag is an error" env PTXLOOM_STATS=maybe ptxloom run "$program"
finish
