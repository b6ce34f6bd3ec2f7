# Programs about streams, events and graphs: built with `ptxloom cc`, and with nvcc where there is one;
# those that need what our header has not, with nvcc alone.
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
ptxloom cc -ptx "$srcdir/samples/vector_add.cu" -o "$scratch/probe.ptx" >"$scratch/out" 2>&1
if grep -q 'clang is not found' "$scratch/out"; then has_clang=1; else has_clang=0; fi

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

# try NAME BUILD...: builds $program and runs it with one worker and with all; both end all right.
try()
{
	name=$1
	shift
	rm -f "$program"
	succeeds "$name: builds" "$@" -o "$program"
	for workers in 1 4; do
		succeeds "$name: runs with $workers workers" \
			env PTXLOOM_WORKERS=$workers timeout 60 ptxloom run "$program"
		grep -q 'all right' "$scratch/out"
		ok $? "$name: is right with $workers workers"
	done
}

for name in streams graphs conditions graph_memory event_ipc; do
	source=$srcdir/tests/programs/$name.cu
	if [ "$has_clang" -eq 0 ]; then
		try "$name, ptxloom cc" ptxloom cc "$source"
	else
		skip "$name, ptxloom cc" "no clang"
	fi
done
for name in streams graphs conditions graph_memory event_ipc device_graphs; do
	if [ -n "$nvcc" ]; then
		try "$name, nvcc" "$nvcc" -arch=sm_80 -rdc=true "$srcdir/tests/programs/$name.cu" \
			-lcudadevrt
	else
		skip "$name, nvcc" "no nvcc"
	fi
done
if [ -n "$nvcc" ]; then
	try "per_thread, nvcc" "$nvcc" -arch=sm_80 --default-stream per-thread \
		"$srcdir/tests/programs/per_thread.cu" -lpthread
	try "driver_streams, nvcc" "$nvcc" -arch=sm_80 "$srcdir/tests/programs/driver_streams.c" -lcuda
else
	skip "per_thread, nvcc" "no nvcc"
	skip "driver_streams, nvcc" "no nvcc"
fi
finish
