# Races and misuse of synchronisation are found in every order of warps, on every generation that has the instructions,
# with every number of workers, together with other checks: kernels times modes.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

for check in race sync; do
	# shellcheck source=/dev/null
	. "tests/check/$check.inc.sh"
	for kernel in $kernels; do
		wrong=
		for mode in PTXLOOM_SEED=1 PTXLOOM_SEED=7 PTXLOOM_WORKERS=4 PTXLOOM_DETERMINISTIC=1 \
			PTXLOOM_HOST_ISA=base PTXLOOM_DEVICE=v100 PTXLOOM_DEVICE=h100 "PTXLOOM_CHECK=mem,$check"; do
			fits "$kernel" "$mode" || continue
			look "$kernel" "$mode"
			expected "$kernel" && at_lines "$kernel" || wrong="$wrong $mode"
		done
		empty "$wrong" "$kernel in every mode"
	done
done
finish
