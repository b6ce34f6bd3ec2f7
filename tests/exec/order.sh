# The same run with any number of workers: clocks, SMs and output always, what CTAs do to one another
# with PTXLOOM_DETERMINISTIC.
. "${srcdir:-.}/tests/tap.sh"

cd "$srcdir" || exit 1

run()
{
	timeout 60 ptxloom exec tests/exec/order.ptx "$@" 2>&1
}

# alike DESCRIPTION ARG...: what 1, 2 and 8 workers print is the same, twice each.
alike()
{
	description=$1
	shift
	PTXLOOM_WORKERS=1 run "$@" >"$scratch/first"
	result=$?
	for workers in 1 2 2 8 8; do
		PTXLOOM_WORKERS=$workers run "$@" >"$scratch/next"
		cmp -s "$scratch/first" "$scratch/next" || result="$workers workers differ"
	done
	empty "$([ "$result" = 0 ] || { echo "$result"; head -n 3 "$scratch/first"; })" "$description"
}

clocks="--kernel clocks --grid 300 --block 64 --buffer o:u64[1200] --arg u32=1000 --dump o"
alike "clocks and SMs" $clocks
alike "clocks of long loops in few CTAs" --kernel clocks --grid 3 --block 1024 --buffer "o:u64[12]" \
	--arg u32=40000 --dump o
say="--kernel say --grid 70 --block 2"
alike "output of kernels" $say
seq 0 69 | sed 's/.*/CTA &\nCTA &/' >"$scratch/expected"
run $say >"$scratch/next"
cmp -s "$scratch/expected" "$scratch/next"
ok $? "output comes by the numbers of CTAs"
for seed in 1 2; do
	PTXLOOM_SEED=$seed alike "output with seed $seed" $say
	PTXLOOM_SEED=$seed alike "clocks with seed $seed" $clocks
done
meet="--kernel meet --grid 500 --buffer o:u32[502] --dump o"
for seed in 0 5; do
	PTXLOOM_DETERMINISTIC=1 PTXLOOM_SEED=$seed alike "sums and queues in one order, seed $seed" $meet
done

# Long waits end soon, and not early; limits on waiting for others are not over before their time.
run --kernel wait --grid 200 --block 256 --buffer "o:u64[200]" --arg u64=1000000000 --dump o >"$scratch/out"
awk '{for (i = 3; i <= NF; i++) { n++; if ($i < 1e9 || $i > 1.3e9) bad++ }} END {exit !n || bad}' "$scratch/out"
ok $? "waiting for 10^9 cycles in 200 CTAs"
run --kernel sleeps --grid 20 --block 96 --buffer "o:u64[20]" --arg u64=10000000 --dump o >"$scratch/out"
awk '{for (i = 3; i <= NF; i++) { n++; if ($i < 1e7 || $i > 1.3e7) bad++ }} END {exit !n || bad}' "$scratch/out"
ok $? "sleeping for 10 ms by the timer"
# Warps of a seeded run go one by one; the time that one of them waits is still shortened.
for seed in 1 2; do
	PTXLOOM_SEED=$seed run --kernel sleeps --grid 20 --block 96 --buffer "o:u64[20]" \
		--arg u64=10000000000 --dump o >"$scratch/out"
	awk '{for (i = 3; i <= NF; i++) { n++; if ($i < 1e10 || $i > 1.3e10) bad++ }} END {exit !n || bad}' \
		"$scratch/out"
	ok $? "sleeping for 10 s by the timer, seed $seed"
done
for workers in 1 2; do
	got=$(PTXLOOM_WORKERS=$workers run --kernel limit --grid 400 --block 64 --buffer "o:u64[2]" \
		--arg u64=100000000 --dump o)
	empty "$([ "$got" = "o[0..1] = 1 1" ] || echo "$got")" \
		"a limit of 10^8 cycles is not over before others have run, $workers workers"
done
finish
