# What the checks find does not depend on how a program is run: kernels of all checks times modes. Every kernel is run
# at every level of every factor, and every two levels meet: tests/pairs.awk makes the table.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

# Levels are variables of the environment, but for `check` and `way`.
cat >"$scratch/factors" <<'END'
factor check alone beside all
factor workers PTXLOOM_WORKERS=1 PTXLOOM_WORKERS=4
factor seed PTXLOOM_SEED=0 PTXLOOM_SEED=1 PTXLOOM_SEED=7
factor device DEVICE=own PTXLOOM_DEVICE=h100 PTXLOOM_DEVICE=v100
factor host HOST=native PTXLOOM_HOST_ISA=base
factor order PTXLOOM_DETERMINISTIC=0 PTXLOOM_DETERMINISTIC=1
factor copies PTXLOOM_ASYNC=late PTXLOOM_ASYNC=eager
factor way exec run debug
apart PTXLOOM_DEVICE=v100 run
END

# ---- cases: SUITE:KERNEL ----

suites="mem race copies sync registers"
for suite in $suites; do
	sed -n "s/^\.visible \.entry \([a-z_]*\)(.*/case $suite:\1/p" "tests/check/$suite.ptx"
done >"$scratch/cases"
# Instructions that sm_70 does not have, and its products, of which operands are followed as a whole.
while read -r _ case; do
	case $case in
	copies:* | registers:*accumulator | registers:*sparse* | registers:*metadata* | \
		registers:init_row_of_factor | registers:init_fragment)
		echo "never $case PTXLOOM_DEVICE=v100" ;;
	sync:*reduce* | sync:*subset* | sync:*copy* | sync:*mbar* | sync:*cluster* | sync:*livelock*)
		echo "never $case PTXLOOM_DEVICE=v100" ;;
	esac
	case $case in
	copies:race_mbarrier_used_before_init) echo "never $case PTXLOOM_DETERMINISTIC=1" ;;
	# Blocks of malloc have no distances then.
	mem:mem_heap_overflow | mem:mem_heap_byte | mem:mem_heap_freed_*) echo "never $case debug" ;;
	esac
done <"$scratch/cases" >"$scratch/never"

check_of()
{
	case $1 in
	# The engine's own.
	sync:bad_mbar_misaligned) echo mem ;;
	copies:*) echo race ;;
	registers:*) echo init ;;
	*) echo "${1%%:*}" ;;
	esac
}

# shape_of CASE: the launch.
shape_of()
{
	case $1 in
	sync:*partial_block | sync:*absent_lanes) echo --grid 2 --block 40 --buffer 'o:u32[256]' ;;
	sync:*cluster*) echo --grid 2 --block 64 --cluster 2 --buffer 'o:u32[256]' ;;
	sync:*) echo --grid 2 --block 64 --buffer 'o:u32[256]' ;;
	mem:*) echo --grid 2 --block 64 --shared 128 --buffer 'o:u32[256]' ;;
	registers:*) echo --block 64 --buffer 'o:u32[64]' ;;
	*) echo --grid 3 --block 64 --buffer 'o:u32[256]' ;;
	esac
}

# What these do depends on who comes first, and so does what is found: an error all the same. In deadlocks it is where
# others are by then.
depends()
{
	case $1 in
	race:race_reset_of_counter | race:race_guarded_* | copies:race_mbarrier_used_before_init) : ;;
	sync:bad_counts_differ | sync:bad_count_too_large | sync:bad_count_too_small) : ;;
	*) false ;;
	esac
}

# ---- runs ----

. "$top/tests/check/findings.inc.sh"

# look CASE CHECKS WAY VARIABLE...: runs it; what its own check has found goes to $scratch/found.
look()
{
	case=$1
	own=$(check_of "$case")
	way=$3
	case $2:$own in
	all:*) checks=mem,race,init,sync,leak,api ;;
	beside:mem) checks=mem,race ;;
	beside:*) checks=mem,$own ;;
	*) checks=$own ;;
	esac
	shift 3
	home=
	case $case in copies:* | sync:*) home=PTXLOOM_DEVICE=h100 ;; esac
	set -- timeout 120 env $home "$@" PTXLOOM_CHECK="$checks" PTXLOOM_CHECK_FORMAT=json \
		PTXLOOM_CHECK_FILE="$scratch/document"
	# shellcheck disable=SC2046 # words
	case $way in
	exec) set -- "$@" ptxloom exec ;;
	run) set -- "$@" ptxloom run "$scratch/launch" ;;
	debug) set -- "$@" ptxloom debug --batch -ex run $(printf -- '-ex continue %.0s' $(seq 40)) -- ;;
	esac
	: >"$scratch/document"
	# shellcheck disable=SC2046 # words
	"$@" "tests/check/${case%%:*}.ptx" --kernel "${case#*:}" $(shape_of "$case") >"$scratch/out" 2>"$scratch/err"
	if depends "$case"; then
		findings "$scratch/document" "$own" | grep -o error | sort -u >"$scratch/found"
	else
		findings "$scratch/document" "$own" >"$scratch/found"
	fi
}

cat "$scratch/factors" "$scratch/cases" "$scratch/never" | awk -f tests/pairs.awk >"$scratch/table"
ok "$(grep -qx 'missing 0' "$scratch/table"; echo $?)" "every two levels meet"
if ${CC:-gcc} -w tests/check/launch.c -o "$scratch/launch" -ldl >"$scratch/err" 2>&1; then
	ok 0 "a program of the driver interface is built"
else
	skip "programs" "no compiler"
	sed -i '/ run$/d' "$scratch/table"
fi
last=
wrong=
while read -r case check workers seed device host order copies way; do
	[ "$way" ] || break
	if [ "$case" != "$last" ]; then
		[ ! "$last" ] || empty "$wrong" "$last in every mode"
		wrong=
		last=$case
		look "$case" alone exec
		cp "$scratch/found" "$scratch/expected"
		case ${case#*:} in
		fine_*) [ ! -s "$scratch/expected" ] ;;
		warning_*) grep -q warning "$scratch/expected" ;;
		*) grep -q error "$scratch/expected" ;;
		esac || wrong="by itself: $(cat "$scratch/err" "$scratch/document")"
	fi
	look "$case" "$check" "$way" "$workers" "$seed" "$device" "$host" "$order" "$copies"
	cmp -s "$scratch/expected" "$scratch/found" || wrong="$wrong
$way $checks $workers $seed $device $host $order $copies:
$(diff "$scratch/expected" "$scratch/found")"
done <"$scratch/table"
[ ! "$last" ] || empty "$wrong" "$last in every mode"
ok "$([ "$(wc -l <"$scratch/cases")" -ge 170 ]; echo $?)" "there are kernels"
finish
