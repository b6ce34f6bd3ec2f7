# Programs about streams, events and graphs: built with `ptxloom cc`, and with nvcc where there is one;
# those that need what our header has not, with nvcc alone.
. "${srcdir:-.}/tests/tap.sh"

program=$scratch/program

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
		says out 'all right' "$name: is right with $workers workers"
	done
}

needs_clang
for name in streams graphs conditions graph_memory event_ipc; do
	try "$name, ptxloom cc" ptxloom cc "$srcdir/tests/programs/$name.cu"
done
needs_nvcc
for name in streams graphs conditions graph_memory event_ipc device_graphs; do
	try "$name, nvcc" "$nvcc" -arch=sm_80 -rdc=true "$srcdir/tests/programs/$name.cu" -lcudadevrt
done
try "per_thread, nvcc" "$nvcc" -arch=sm_80 --default-stream per-thread \
	"$srcdir/tests/programs/per_thread.cu" -lpthread
try "driver_streams, nvcc" "$nvcc" -arch=sm_80 "$srcdir/tests/programs/driver_streams.c" -lcuda
finish
