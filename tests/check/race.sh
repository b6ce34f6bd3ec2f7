# Races, by kernels that have one or none: every one is found, at its lines, none is invented; in every order of
# warps, on every generation that has the instructions, with every number of workers.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

ptx=tests/check/race.ptx
source=tests/check/race.cu
kernels=$(sed -n 's/^KERNEL \([a-z_]*\)(.*/\1/p' $source)

# look KERNEL OPTION...: runs it in three CTAs of two warps.
look()
{
	kernel=$1
	shift
	timeout 120 env PTXLOOM_CHECK=race "$@" ptxloom exec $ptx --kernel "$kernel" --grid 3 --block 64 \
		--buffer o:u32[256] >"$scratch/out" 2>"$scratch/err"
	code=$?
}

# expected KERNEL: is the verdict what its name says?
expected()
{
	case $1 in
	race_*) [ "$code" -eq 86 ] && grep -q '^========= Error: Race' "$scratch/err" ;;
	warning_*) [ "$code" -eq 0 ] && grep -q '(0 errors, [1-9]' "$scratch/err" ;;
	*) [ "$code" -eq 0 ] && grep -q 'SUMMARY: 0 hazards displayed (0 errors, 0 warnings)' "$scratch/err" ;;
	esac
}

# at_lines KERNEL: a report names the lines that the source marks.
at_lines()
{
	for side in first second; do
		line=$(awk -v k="$1" -v s="$side" '$0 ~ "// " k " .*" s { print FNR }' $source)
		[ -z "$line" ] || grep -q "race.cu:$line\( \|$\)" "$scratch/err" || return 1
	done
}

for kernel in $kernels; do
	look "$kernel"
	expected "$kernel"
	verdict $? "$kernel"
	at_lines "$kernel"
	verdict $? "$kernel: lines"
	cp "$scratch/err" "$scratch/plain"
	wrong=
	for mode in PTXLOOM_SEED=1 PTXLOOM_SEED=7 PTXLOOM_WORKERS=4 PTXLOOM_DETERMINISTIC=1 PTXLOOM_HOST_ISA=base \
		PTXLOOM_DEVICE=v100 PTXLOOM_DEVICE=h100 PTXLOOM_CHECK=mem,race; do
		look "$kernel" "$mode"
		expected "$kernel" && at_lines "$kernel" || wrong="$wrong $mode"
	done
	empty "$wrong" "$kernel in every mode"
done
ok "$([ "$(echo "$kernels" | wc -l)" -ge 20 ]; echo $?)" "there are kernels"

look race_no_barrier
says err '^========= Error: Race reported between Read access by thread \(0,0,0\) in block \(0,0,0\) at race_no_barrier'
says err '^=========     and Write access by thread \(63,0,0\) in block \(0,0,0\) at race_no_b.*\[192 hazards\]$'
says err "^=========     on byte 252 of the block's shared memory$"
says err '^=========     No barrier of the block stands between them\.$'
says err '^========= RACECHECK SUMMARY: 1 hazard displayed \(1 error, 0 warnings\)$'
status 2 env PTXLOOM_CHECK=rase ptxloom exec $ptx --kernel fine_lock --buffer o:u32[8]
says err "PTXLOOM_CHECK"

if has_clang; then
	{
		sed 's/^#define KERNEL.*/#include <cstdio>\n#define KERNEL extern "C" __global__ void/' $source
		cat <<'END'
int main(int argc, char **)
{
	int *p;

	cudaMalloc(&p, 4096);
	cudaMemset(p, 0, 4096);
	if (argc > 1)
		race_sum<<<3, 64>>>(p);
	else
		fine_atomic_sum<<<3, 64>>>(p);
	cudaDeviceSynchronize();
	puts(cudaGetErrorName(cudaGetLastError()));
	return 0;
}
END
	} >"$scratch/program.cu"
	succeeds "a program is built" ptxloom cc -lineinfo "$scratch/program.cu" -o "$scratch/program"
	status 0 ptxloom run --check=race "$scratch/program"
	says err 'SUMMARY: 0 hazards'
	says out '^cudaSuccess$'
	status 86 ptxloom run --check=race "$scratch/program" x
	says err '^========= Error: Race reported between .* at race_sum in '
	says out '^cudaSuccess$' "the program goes on"
else
	skip "programs" "$tap_no_clang"
fi
finish
