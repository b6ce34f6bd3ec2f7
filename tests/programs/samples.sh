# The CUDA C++ samples, built and run as users do: with `ptxloom cc`, and with nvcc and either form of
# the CUDA runtime where there is one.
. "${srcdir:-.}/tests/style/tap.sh"

PATH=$(cd "$builddir" && pwd):$PATH
export PATH
unset PTXLOOM_DEVICE CUDA_VISIBLE_DEVICES
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
program=$scratch/program
nvcc=
for place in nvcc /usr/local/cuda/bin/nvcc; do
	nvcc=$(command -v "$place") && break
done

# succeeds DESCRIPTION COMMAND...: exit status 0; what a failure printed is shown.
succeeds()
{
	description=$1
	shift
	"$@" >"$scratch/out" 2>&1
	status=$?
	[ "$status" -eq 0 ] || head -n 30 "$scratch/out" | sed 's/^/# /'
	ok "$status" "$description"
}

# refused STATUS TEXT DESCRIPTION COMMAND...: ends with the status and says the text.
refused()
{
	want=$1
	text=$2
	description=$3
	shift 3
	"$@" >"$scratch/out" 2>&1
	status=$?
	if [ "$status" -eq "$want" ] && grep -q -- "$text" "$scratch/out"; then
		ok 0 "$description"
	else
		{
			echo "exit status $status, expected $want with: $text"
			head -n 30 "$scratch/out"
		} | sed 's/^/# /'
		ok 1 "$description"
	fi
}

# try NAME BUILD...: builds $program and runs it; every sample says at the end that all is right.
try()
{
	name=$1
	shift
	rm -f "$program"
	succeeds "$name: builds" "$@" -o "$program"
	succeeds "$name: runs" ptxloom run "$program"
	grep -q 'all right' "$scratch/out"
	ok $? "$name: checks its results"
}

for source in "$srcdir"/samples/*.cu; do
	sample=$(basename "$source")
	if ptxloom cc -ptx "$source" -o "$scratch/probe.ptx" >"$scratch/out" 2>&1 ||
		! grep -q 'clang is not found' "$scratch/out"; then
		try "$sample, ptxloom cc" ptxloom cc "$source"
		try "$sample, ptxloom cc for sm_70" ptxloom cc -arch=sm_70 "$source"
		succeeds "$sample, ptxloom cc: the PTX is accepted" ptxloom lint "$scratch/probe.ptx"
	else
		skip "$sample, ptxloom cc" "no clang"
	fi
	if [ -n "$nvcc" ]; then
		for kind in static shared; do
			try "$sample, nvcc, $kind runtime" "$nvcc" -arch=sm_80 -cudart "$kind" "$source"
			refused 1 cudaErrorNoDevice "$sample, nvcc, $kind runtime: without a device it fails" \
				env CUDA_VISIBLE_DEVICES= ptxloom run "$program"
		done
	else
		skip "$sample, nvcc" "no nvcc"
	fi
done

refused 2 nonsense "a device that does not exist is refused" ptxloom run -d nonsense true
refused 127 'no-such-program' "a program that does not exist is named" ptxloom run ./no-such-program
refused 7 seven "the exit status is that of the program" ptxloom run sh -c 'echo seven; exit 7'
succeeds "programs without CUDA are left alone" ptxloom run -- test 1 -eq 1
finish
