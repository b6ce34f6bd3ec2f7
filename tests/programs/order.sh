# One order of everything (PTXLOOM_DETERMINISTIC, run --deterministic) and CUDA_LAUNCH_BLOCKING.
. "${srcdir:-.}/tests/style/tap.sh"

PATH=$(cd "$builddir" && pwd):$PATH
export PATH
unset PTXLOOM_DEVICE PTXLOOM_WORKERS PTXLOOM_SEED CUDA_VISIBLE_DEVICES CUDA_LAUNCH_BLOCKING
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
if ! ptxloom cc "$srcdir/tests/programs/order.cu" -o "$scratch/order" >"$scratch/out" 2>&1; then
	grep -q 'clang is not found' "$scratch/out" && { skip "one order" "no clang"; finish; }
	empty "$(cat "$scratch/out")" "order.cu builds"
	finish
fi
ptxloom cc "$srcdir/tests/programs/blocking.cu" -o "$scratch/blocking" >"$scratch/out" 2>&1
ok $? "blocking.cu builds"

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
