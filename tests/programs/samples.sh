# The CUDA C++ samples, built and run as users do: with `ptxloom cc`, and with nvcc and either form of
# the CUDA runtime where there is one.
. "${srcdir:-.}/tests/tap.sh"

program=$scratch/program

# try NAME BUILD...: builds $program and runs it; every sample says at the end that all is right.
try()
{
	name=$1
	shift
	rm -f "$program"
	succeeds "$name: builds" "$@" -o "$program"
	succeeds "$name: runs" ptxloom run "$program"
	says out 'all right' "$name: checks its results"
}

for source in "$srcdir"/samples/*.cu; do
	sample=$(basename "$source")
	needs_clang
	try "$sample, ptxloom cc" ptxloom cc "$source"
	try "$sample, ptxloom cc for sm_70" ptxloom cc -arch=sm_70 "$source"
	succeeds "$sample, ptxloom cc: PTX" ptxloom cc -ptx "$source" -o "$scratch/sample.ptx"
	succeeds "$sample, ptxloom cc: the PTX is accepted" ptxloom lint "$scratch/sample.ptx"
	needs_nvcc
	for kind in static shared; do
		try "$sample, nvcc, $kind runtime" "$nvcc" -arch=sm_80 -cudart "$kind" "$source"
		refused 1 cudaErrorNoDevice "$sample, nvcc, $kind runtime: without a device it fails" \
			env CUDA_VISIBLE_DEVICES= ptxloom run "$program"
	done
done

skip_rest ""
refused 2 nonsense "a device that does not exist is refused" ptxloom run -d nonsense true
refused 127 'no-such-program' "a program that does not exist is named" ptxloom run ./no-such-program
refused 7 seven "the exit status is that of the program" ptxloom run sh -c 'echo seven; exit 7'
succeeds "programs without CUDA are left alone" ptxloom run -- test 1 -eq 1
finish
