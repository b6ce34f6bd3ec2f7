# Launches that can never end are ended with a report, however they are run; those that can do end. A row of `ways`
# is a test of each row of `programs`.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

# name|kernel of tests/check/sync.ptx|what its report says; nothing: it ends by itself
programs='a loop that waits for ever|bad_livelock|Deadlock: livelock: every thread repeats itself
a barrier that is never complete|bad_count_too_large|Deadlock
threads that wait for each other|fine_mbar|'

# name|environment|command; FILE is what runs the kernel as a program, DIR a folder
ways='by itself||run
two workers|PTXLOOM_WORKERS=2|run
a seed|PTXLOOM_SEED=5|run
another device|PTXLOOM_DEVICE=2xrtx5090|run
the base level|PTXLOOM_HOST_ISA=base|run
stable||run --stable
deterministic||run --deterministic
deterministic, seeded|PTXLOOM_SEED=3 PTXLOOM_WORKERS=4|run --deterministic
the natural schedule||run --schedule natural
reversed||run --schedule reverse
a random schedule||run --schedule random:2
priorities||run --schedule pct:3:8
weak memory||run --weak 4
coverage||run --coverage=DIR/coverage
coverage, two workers|PTXLOOM_WORKERS=2|run --coverage=DIR/coverage
stable coverage||run --stable --coverage=DIR/coverage
all checks||run --check=all
checks, one order||run --check=mem,sync --deterministic
syncs, weak||run --check=sync --weak 4
reset after faults||run --after-fault=reset
a new process after faults||run --after-fault=exit
limits||run --limit 100s --memory 1G
children of their own|PTXLOOM_FORK=fresh|run
a report, logs, statistics|PTXLOOM_REPORT=DIR/report PTXLOOM_LOG=launch PTXLOOM_STATS=1|run
a recording||run --record DIR/record
injected delays||run --inject call=cuMemAlloc->delay.1ms
flips||run --inject kernel=none.inst=5->flip.1
flips that are drawn||run --inject kernel=none.inst=rand->flip.1
lines of progress|PTXLOOM_PROGRESS=always|run
profile||profile
profile of caches, stable|PTXLOOM_STABLE=1|profile --set full
debugger||debug --batch -ex run --
exec||exec
counts||exec --count
a trace||exec --trace=DIR/trace
caches||exec --caches'

if ! ${CC:-gcc} -w tests/check/launch.c -o "$scratch/launch" -ldl 2>"$scratch/err"; then
	skip "launches that never end" "no compiler"
	finish
fi

# runs WAY ENVIRONMENT KERNEL: what is said goes to $scratch/out.
runs()
{
	rm -rf "$scratch/files"
	mkdir "$scratch/files"
	# Words of rules have dots for blanks.
	run_way=$(printf '%s' "$1" | sed "s#DIR#$scratch/files#g")
	run_with=$(printf '%s' "$2" | sed "s#DIR#$scratch/files#g")
	run_kernel=$3
	case $run_way in
	exec*) set -- ;;
	*) set -- "$scratch/launch" ;;
	esac
	set -- "$@" tests/check/sync.ptx --kernel "$run_kernel" --grid 2 --block 64 --buffer 'o:u32[256]'
	set -f
	# shellcheck disable=SC2086 # words
	for run_word in $run_way; do
		case $run_word in
		*'->'*) run_word=$(printf '%s' "$run_word" | sed 's/->/ -> /; s/\(.[a-z0-9]\)\.\([a-z0-9]\)/\1 \2/g') ;;
		esac
		run_words="${run_words:+$run_words
}$run_word"
	done
	IFS='
'
	# shellcheck disable=SC2086 # lines
	set -- $run_words "$@"
	unset IFS
	# shellcheck disable=SC2086 # words
	PTXLOOM_DEVICE=h100 PTXLOOM_WORKERS=1 timeout 60 env $run_with ptxloom "$@" >"$scratch/out" 2>&1
	run_status=$?
	run_words=
	set +f
}

while IFS='|' read -r way with command; do
	wrong=
	while IFS='|' read -r name kernel report; do
		runs "$command" "$with" "$kernel"
		if [ "$report" ]; then
			grep -q "$report" "$scratch/out"
		else
			! grep -q 'Deadlock' "$scratch/out" && [ "$run_status" = 0 ]
		fi || wrong="$wrong$name: status $run_status
$(head -n 5 "$scratch/out")
"
	done <<-END
	$programs
	END
	empty "$wrong" "$way"
done <<END
$ways
END
finish
