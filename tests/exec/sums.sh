# Sums of many lanes in few words are the same with any number of workers: they are added by lines of the host's caches.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

# sums BLOCK STEP MASK SKIP: prints the words.
sums()
{
	ptxloom exec tests/exec/sums.ptx --grid 300 --block "$1" --buffer "out:u32[65536]" --arg "u32=$2" \
		--arg "u32=$3" --arg "u32=$4" --dump "out=$scratch/words.raw" && cksum <"$scratch/words.raw"
}

for block in 32 96 100 256; do
	# Few words, one word, words of one line each, neighbours, words that nobody shares, every third lane.
	for pattern in "5 63 4000" "1 0 4000" "16 65535 4000" "1 255 7" "1 65535 4000" "7 1023 3"; do
		PTXLOOM_WORKERS=1 capture sums "$block" $pattern
		mv "$scratch/out" "$scratch/expected"
		for workers in 2 5; do
			PTXLOOM_WORKERS=$workers capture sums "$block" $pattern
			same "$scratch/expected" "$scratch/out" "$block threads, $pattern, $workers workers"
		done
	done
done
PTXLOOM_WORKERS=1 capture sums 256 5 63 4000
mv "$scratch/out" "$scratch/expected"
for isa in base v2 v3; do
	PTXLOOM_WORKERS=3 PTXLOOM_HOST_ISA=$isa capture sums 256 5 63 4000
	if grep -q 'this host has no level' "$scratch/err"; then
		skip "instructions of $isa" "there are none"
	else
		same "$scratch/expected" "$scratch/out" "instructions of $isa"
	fi
done

# However they are watched: the words are the same.
for mode in PTXLOOM_STABLE=1 PTXLOOM_DETERMINISTIC=1 PTXLOOM_CHECK=mem,init,race,sync PTXLOOM_WEAK=3 PTXLOOM_SEED=5 \
	PTXLOOM_COVERAGE="$scratch/cov" PTXLOOM_DEVICE=v100; do
	(export PTXLOOM_WORKERS=3 "$mode" && capture sums 256 5 63 4000)
	same "$scratch/expected" "$scratch/out" "${mode%%=*}"
done

# A warp whose words are not there, after others of its gang.
PTXLOOM_WORKERS=2 ends 1 "words that are not there" ptxloom exec tests/exec/sums.ptx --grid 2 --block 256 \
	--buffer "out:u32[128]" --arg u32=1 --arg u32=1048575 --arg u32=4000
says err 'at tests/exec/sums.ptx:23:' "have a line"
says err 'by thread \([0-9]+,0,0\) of block \([01],0,0\)' "and a thread"
finish
