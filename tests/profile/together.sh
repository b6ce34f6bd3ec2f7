# Launches that are profiled in every mode, and with every other tool at once: the counts are those of a plain profile,
# and what the other tool says is what it says without one. A row of `modes` is a test of each row of `programs`.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

# name|environment|what the mode itself says: a file in $scratch that is compared, or nothing
modes='one worker|PTXLOOM_WORKERS=1|
four workers|PTXLOOM_WORKERS=4|
another order|PTXLOOM_SEED=7|
one order|PTXLOOM_DETERMINISTIC=1|
stable|PTXLOOM_STABLE=1 PTXLOOM_WORKERS=3|
weak memory|PTXLOOM_WEAK=5|
a schedule|PTXLOOM_SCHEDULE=reverse|
the base instruction set|PTXLOOM_HOST_ISA=base|
eager copies|PTXLOOM_ASYNC=eager|
checked: mem|PTXLOOM_CHECK=mem|findings
checked: race|PTXLOOM_CHECK=race|findings
checked: init|PTXLOOM_CHECK=init|findings
checked: sync|PTXLOOM_CHECK=sync|findings
checked: all|PTXLOOM_CHECK=mem,race,init,sync|findings
checked, but for this kernel|PTXLOOM_CHECK=race,init PTXLOOM_CHECK_EXCLUDE=*|findings
coverage|PTXLOOM_COVERAGE=DIR/cov|coverage
coverage and checks|PTXLOOM_COVERAGE=DIR/cov PTXLOOM_CHECK=race|coverage findings
a log of launches|PTXLOOM_LOG=launch|
a recording|PTXLOOM_RECORD=DIR/record PTXLOOM_RECORD_LAUNCH=1|'

if compiles_runs; then
	modes="$modes
compiled|PTXLOOM_TIER=2|
compiled, coverage and checks|PTXLOOM_TIER=2 PTXLOOM_COVERAGE=DIR/cov PTXLOOM_CHECK=race|coverage findings"
else
	skip "compiled runs" "LLVM, or the level, is not here"
fi

# name|arguments of ptxloom exec
counts=tests/profile/counts.ptx
loads="--kernel strided --buffer in:u32[4096]=iota --buffer out:u32[4096] --arg u32=3"
programs="scattered loads|$counts $loads --grid 40 --block 96
bank conflicts|$counts --kernel column --grid 3 --block 32
a race|tests/check/race.ptx --kernel race_no_barrier --block 64 --buffer x:u32[64]
a barrier|tests/check/race.ptx --kernel fine_barrier --block 64 --buffer x:u32[64]
registers without values|tests/check/registers.ptx --kernel init_path --block 32 --buffer x:u32[64]"

# As a tool says it, without what differs from run to run.
quiet()
{
	sed -E 's/0x[0-9a-f]+/ADDRESS/g; s/[0-9.]+ ms/TIME/; s/process [0-9]+/process/
		/==PROF==|==WARNING==|^ptxloom: launch/d' "$1"
}

# runs FOLDER ENVIRONMENT COMMAND..: in a folder of its own, from the sources.
runs()
{
	runs_in=$scratch/$1
	rm -rf "$runs_in"
	mkdir -p "$runs_in"
	runs_with=$(printf '%s' "$2" | sed "s#DIR#$runs_in#g")
	shift 2
	# shellcheck disable=SC2086
	(set -f; exec env $runs_with "$@") >"$runs_in/out" 2>"$runs_in/err"
	echo $? >"$runs_in/status"
	quiet "$runs_in/err" >"$runs_in/findings"
	[ ! -d "$runs_in/cov" ] ||
		ptxloom coverage report "$runs_in/cov" --lcov 2>&1 | sed 's#^SF:.*/#SF:#' >"$runs_in/coverage"
}

# counted FOLDER ENVIRONMENT ARGUMENTS: profiled; all metrics that are not of the caches go to FOLDER/counts.
counted()
{
	# shellcheck disable=SC2086
	runs "$1" "$2" ptxloom profile -f -o "$scratch/$1.report" ptxloom exec $3 -d h100
	ptxloom profile -i "$scratch/$1.report" --csv --page raw --metrics "$exact" >"$scratch/$1/counts" 2>&1
	sed -i 's/^"0","[0-9]*"/"0","0"/' "$scratch/$1/counts"
}

exact=$(ptxloom profile --query-metrics | awk '/ exact/ {printf "%s%s", n++ ? "," : "", $1}')
OLDIFS=$IFS
IFS='
'
for program in $programs; do
	IFS=$OLDIFS
	arguments=${program#*|}
	counted plain "" "$arguments"
	ok "$([ "$(wc -l <"$scratch/plain/counts")" = 3 ]; echo $?)" "${program%%|*}: is profiled"
	IFS='
'
	for mode in $modes; do
		IFS=$OLDIFS
		name=${mode%%|*}
		rest=${mode#*|}
		set -f
		environment=${rest%%|*}
		counted profiled "$environment" "$arguments"
		capture diff "$scratch/plain/counts" "$scratch/profiled/counts"
		verdict $? "${program%%|*}, $name: the same counts"
		# shellcheck disable=SC2086
		runs alone "$environment" ptxloom exec $arguments -d h100
		for what in status ${rest##*|}; do
			capture diff "$scratch/alone/$what" "$scratch/profiled/$what"
			verdict $? "${program%%|*}, $name: the same $what"
		done
		set +f
		IFS='
'
	done
done
IFS=$OLDIFS

# What exec itself counts and traces is said beside a profile as it is without one.
scattered="$counts $loads --grid 40 --block 96"
counted plain "" "$scattered"
for own in --count --caches "--trace -" "--count --caches"; do
	counted profiled PTXLOOM_WORKERS=1 "$scattered $own"
	capture diff "$scratch/plain/counts" "$scratch/profiled/counts"
	verdict $? "exec $own: the same counts"
	# shellcheck disable=SC2086
	runs alone PTXLOOM_WORKERS=1 ptxloom exec $scattered $own -d h100
	ok "$([ -s "$scratch/alone/out" ] || [ -s "$scratch/alone/err" ]; echo $?)" "exec $own: says something"
	for what in status findings; do
		capture diff "$scratch/alone/$what" "$scratch/profiled/$what"
		verdict $? "exec $own: the same $what"
	done
	sed -i -E 's/0x[0-9a-f]+/ADDRESS/g; s/[+][0-9]+ line/ line/' "$scratch/alone/out" "$scratch/profiled/out"
	capture diff "$scratch/alone/out" "$scratch/profiled/out"
	verdict $? "exec $own: the same output"
done

# Filters are of the profile: what is expected is expected of all launches.
runs filtered "" ptxloom profile -k nothing ptxloom exec $scattered -d h100 --expect-metric 'global_ld_sectors >= 1'
ok "$(grep -qx 0 "$scratch/filtered/status"; echo $?)" "a launch that is not chosen is expected of"
ok "$(grep -q 'No kernels were profiled' "$scratch/filtered/err"; echo $?)" "and is not profiled"

# The debugger has counters of its own.
runs debugged "PTXLOOM_PROFILE=$scratch/debugged.report" timeout 60 ptxloom debug --batch -ex run -- \
	ptxloom exec tests/profile/counts.ptx --kernel column --block 32
capture cat "$scratch/debugged/out" "$scratch/debugged/err"
says out 'launches are profiled, or debugged, not at once: a debugger repeats' "profiled and debugged: it says why"
finish
