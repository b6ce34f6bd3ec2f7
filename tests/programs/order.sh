# One order of everything (PTXLOOM_DETERMINISTIC, run --deterministic) and CUDA_LAUNCH_BLOCKING.
. "${srcdir:-.}/tests/tap.sh"

needs_clang
for name in order blocking; do
	succeeds "$name.cu builds" ptxloom cc "$srcdir/tests/programs/$name.cu" -o "$scratch/$name"
done

for seed in 0 3; do
	PTXLOOM_SEED=$seed PTXLOOM_WORKERS=1 timeout 60 ptxloom run --deterministic "$scratch/order" \
		>"$scratch/first" 2>&1
	ok $? "streams in one order, seed $seed"
	for workers in 1 2 8 8; do
		PTXLOOM_SEED=$seed PTXLOOM_WORKERS=$workers timeout 60 ptxloom run --deterministic \
			"$scratch/order" >"$scratch/next" 2>&1
		empty "$(diff "$scratch/first" "$scratch/next")" \
			"streams, sums, output and times are the same with $workers workers, seed $seed"
	done
done
PTXLOOM_WORKERS=2 timeout 60 ptxloom run "$scratch/order" >"$scratch/next" 2>&1
ok $? "the same program without one order"

cat >"$scratch/expected" <<'END'
launch: over
copy: over
graph: over
fault: cudaErrorIllegalAddress, then cudaErrorIllegalAddress
END
for workers in 1 2; do
	CUDA_LAUNCH_BLOCKING=1 PTXLOOM_WORKERS=$workers timeout 60 ptxloom run "$scratch/blocking" \
		>"$scratch/out" 2>"$scratch/err"
	empty "$(diff "$scratch/expected" "$scratch/out")" \
		"CUDA_LAUNCH_BLOCKING=1: calls wait and answer errors, $workers workers"
	CUDA_LAUNCH_BLOCKING=0 PTXLOOM_WORKERS=$workers timeout 60 ptxloom run "$scratch/blocking" \
		>"$scratch/out" 2>"$scratch/err"
	grep -q '^launch: under way' "$scratch/out" && grep -q '^fault: cudaSuccess, then' "$scratch/out"
	ok $? "CUDA_LAUNCH_BLOCKING=0: they do not, $workers workers"
done
finish
