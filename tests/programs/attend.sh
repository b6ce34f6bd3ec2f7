# Ctrl-C, SIGTERM, limits on time, the line about long launches; for programs and for Python.
. "${srcdir:-.}/tests/tap.sh"

hang=$scratch/hang
needs_clang
succeeds "hang.cu builds" ptxloom cc -lineinfo "$srcdir/tests/programs/hang.cu" -o "$hang"

# Where a program says which process it is, once it waits.
HANG_READY=$scratch/ready
export HANG_READY

# started COMMAND...: in the background, as $p; a second after it has launched its kernel.
started()
{
	rm -f "$HANG_READY"
	(trap - INT; exec timeout --foreground -k 5 60 "$@") >"$scratch/out" 2>"$scratch/err" &
	p=$!
	for _ in $(seq 600); do
		[ -s "$HANG_READY" ] || ! kill -0 $p 2>/dev/null || sleep 0.1
	done
	sleep 1
}

# signalled SIGNAL STATUS DESCRIPTION COMMAND...
signalled()
{
	skipping && { ok 0 "$3"; return; }
	signal=$1
	wanted=$2
	what=$3
	shift 3
	trap '' INT
	started "$@"
	kill -"$signal" "$(cat "$HANG_READY")"
	wait $p
	got=$?
	trap 'exit 1' INT
	empty "$([ "$got" -eq "$wanted" ] || {
		echo "exit status $got, expected $wanted"
		head -n 5 "$scratch/err"
	})" "$what"
}

where='block \([012],0,0\) warp [01] lanes 0xaaaaaaaa: running at '
for workers in 1 2; do
	signalled INT 130 "SIGINT ends a program that hangs in a kernel, $workers workers" \
		env PTXLOOM_WORKERS=$workers ptxloom run "$hang"
	says err 'interrupted \(SIGINT\)' "it says why"
	says err 'in kernel .*hang_here' "it names the kernel"
	says err "$where" "it tells where warps are"
	says out '^begins$' "what the kernel has printed is not lost"
	ok "$([ "$(wc -l <"$scratch/err")" -le 40 ]; echo $?)" "it does not say too much"
done
signalled TERM 143 "SIGTERM ends it, too" ptxloom run "$hang"
says err "$where" "and tells where warps are"
for how in handler late-handler; do
	signalled INT 3 "a program with a handler of its own goes on behind the launch, $how" ptxloom run "$hang" $how
	says out '^handled$' "its handler is called, $how"
	says out '^cudaErrorLaunchTimeout$' "the call that waits returns, $how"
	says err "$where" "warps are told of, $how"
done
signalled INT 130 "a process without kernels dies of SIGINT as ever" ptxloom run "$hang" host
empty "$(cat "$scratch/err")" "without a word"
ends 130 "a second SIGINT ends the process at once" sh -c '
	trap "" INT; (trap - INT; exec ptxloom run "$0" handler) & p=$!
	sleep 2; kill -INT $p; sleep 0.2; kill -INT $p; wait $p' "$hang"

for number in INT TERM; do
	signalled $number 0 "a handler for SIG$number may write what a kernel waits for" ptxloom run "$hang" writer
	empty "$(cat "$scratch/err")" "nobody takes the kernel for a livelock"
done
ends 0 "a thread that is cancelled while it waits keeps no lock" timeout -k 5 30 ptxloom run "$hang" cancelled
ends 0 "a program may close every file and use its number" timeout -k 5 30 ptxloom run "$hang" files
# asked HOW DESCRIPTION: SIGUSR1 twice, and if it still runs then, SIGTERM.
asked()
{
	skipping && { ok 0 "$2"; return; }
	ptxloom run "$hang" "$1" >"$scratch/out" 2>"$scratch/err" &
	p=$!
	sleep 2
	kill -USR1 $p
	sleep 0.5
	kill -USR1 $p
	[ "$1" = long ] || { sleep 0.5; kill -TERM $p; }
	wait $p
	got=$?
	wanted=143
	[ "$1" = long ] && wanted=0
	empty "$([ "$got" -eq "$wanted" ] || { echo "exit status $got"; head -n 5 "$scratch/err"; })" "$2"
}
for workers in 1 2; do
	export PTXLOOM_WORKERS=$workers
	asked hang "SIGUSR1 ends nothing, $workers workers"
	empty "$([ "$(grep -cE '^ptxloom: kernel hang_here\(.*\) has run for [0-9]+\.[0-9] s, 0 of 3 blocks are done$' \
		"$scratch/err")" -eq 2 ] || cat "$scratch/err")" "each is answered"
	empty "$([ "$(grep -cE "$where" "$scratch/err")" -ge 18 ] || cat "$scratch/err")" "with where warps are"
	unset PTXLOOM_WORKERS
done
PTXLOOM_DETERMINISTIC=1
export PTXLOOM_DETERMINISTIC
asked hang "a deterministic run is asked"
unset PTXLOOM_DETERMINISTIC
says err 'has run for .* 0 of 3 blocks are done$' "and answers"
asked long "a kernel that was asked goes on to its end"
says err 'kernel last_waits.* has run for .* of 2000 blocks are done$' "having told how far it is"
asked host "a program without kernels goes on, too"
says err '^ptxloom: no kernel is running$' "it is told so"
asked asked "a program with a handler of its own for SIGUSR1"
says out '^handled$' "gets the signal"
ok "$(! grep -q 'has run for' "$scratch/err"; echo $?)" "and nobody else"

# One that repeats nothing: what looks for livelocks stops it again and again, and looks for long.
cat >"$scratch/counts.cu" <<'EOF'
__global__ void counts(unsigned *p, unsigned long n)
{
	unsigned v = *p;

	for (unsigned long i = 0; i < n; i++)
		v = v * 1664525u + 1013904223u;
	*p = v;
}

int main()
{
	unsigned *p;

	cudaMalloc(&p, sizeof(*p));
	counts<<<1, 64>>>(p, 1ul << 60);
	return cudaDeviceSynchronize();
}
EOF
# Each question is asked when the one before was answered, or after ten seconds without an answer.
ask_again_and_again()
{
	ptxloom run "$scratch/counts" 2>"$scratch/err" &
	p=$!
	sleep 1
	asks=0
	while [ $asks -lt 60 ] && kill -0 $p; do
		asks=$((asks + 1))
		kill -USR1 $p
		for _ in $(seq 1000); do
			[ "$(grep -c 'has run for' "$scratch/err")" -lt $asks ] || break
			sleep 0.01
		done
		[ "$(grep -c 'has run for' "$scratch/err")" -eq $asks ] || break
	done
	kill -KILL $p
	wait $p 2>"$scratch/killed"
	echo "$asks questions, $(grep -c 'has run for' "$scratch/err") answers"
}
succeeds "a kernel that counts builds" ptxloom cc "$scratch/counts.cu" -o "$scratch/counts"
skipping || ask_again_and_again >"$scratch/out"
says out '^60 questions, 60 answers$' "a question is answered, too, while a livelock is looked for"

ends 124 "--timeout ends a kernel that hangs" timeout 30 ptxloom run --timeout=1s "$hang"
says err '^ptxloom: error: .*/hang ran for more than 1000 ms \(--timeout\)$' "it says so"
says err "$where" "and where warps are"
ends 124 "--timeout ends a program that hangs in its host part" \
	timeout 30 ptxloom run --timeout 1000 "$hang" host
ends 124 "--timeout ends programs that know nothing of CUDA, and their children" \
	timeout 30 ptxloom run --timeout=500ms sh -c 'sleep 100 & wait'
ends 5 "a program that ends in time keeps its status" ptxloom run --timeout=20s sh -c 'exit 5'
ends 137 "and its signal" ptxloom run --timeout=20s sh -c 'kill -9 $$'
ends 127 "one that is not there is said not to be" ptxloom run --timeout=20s "$scratch/none"
ends 2 "a time that is none is an error" ptxloom run --timeout=soon "$hang"
says err "^ptxloom.*--timeout takes a time.*, not 'soon'" "which says what it takes"
ends 124 "--progress takes a number of seconds" timeout 30 ptxloom run --timeout=3s --progress=1 "$hang"
says err '^ptxloom: progress: launch 1, hang_here\(.*\): 0 of 3 CTAs, for [0-9]+ s$' "a line stays each time"
ends 2 "so is a word that --progress does not know" ptxloom run --progress=yes "$hang"
ends 3 "PTXLOOM_TIMEOUT stops one launch" env PTXLOOM_TIMEOUT=1s timeout 30 ptxloom run "$hang"
says err 'ran for more than 1000 ms' "and says so"

ends 0 "no line where standard error is no terminal" timeout 100 ptxloom run "$hang" long
empty "$(cat "$scratch/err")" "nothing is written there"
ends 0 "--progress=always writes one anywhere" timeout 100 ptxloom run --progress=always "$hang" long
says err 'ptxloom: last_waits.*: [0-9]+ of 2000 CTAs, [0-9]+ %, [0-9]+ s left' "with what there is to know"
ok "$(tail -c 4 "$scratch/err" | od -An -c | tr -d ' \n' | grep -q '\\r033\[K$'; echo $?)" "it is wiped off at last"
skipping || script -qec true /dev/null >"$scratch/out" 2>&1 || skip_rest "no script(1)"
ends 0 "a terminal" timeout 100 script -qec "ptxloom run '$hang' long" /dev/null
says out 'ptxloom: last_waits.*: [0-9]+ of 2000 CTAs' "a line on a terminal"
ends 0 "a terminal, without" timeout 100 script -qec "ptxloom run --progress=never '$hang' long" /dev/null
ok "$(! grep -q 'CTAs' "$scratch/out"; echo $?)" "none when it is not wanted"

skip_rest ""
needs_clang
command -v python3 >"$scratch/out" 2>&1 || skip_rest "no python3"
skipping || ptxloom cc -ptx -lineinfo "$srcdir/tests/programs/hang.cu" -o "$scratch/hang.ptx"
cat >"$scratch/hang.py" <<'END'
import ctypes, os, sys
cuda = ctypes.CDLL("libcuda.so.1")
context, module, function, memory = (ctypes.c_void_p() for _ in range(4))
for status in (
    cuda.cuInit(0),
    cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
    cuda.cuCtxSetCurrent(context),
    cuda.cuModuleLoad(ctypes.byref(module), sys.argv[1].encode()),
    cuda.cuModuleGetFunction(ctypes.byref(function), module, b"_Z9hang_herePVi"),
    cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1024)),
    cuda.cuMemsetD8_v2(memory, 0, ctypes.c_size_t(1024)),
):
    if status:
        sys.exit("status %d" % status)
args = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
cuda.cuLaunchKernel(function, 3, 1, 1, 64, 1, 1, 0, None, args, None)
with open(os.environ["HANG_READY"], "w") as f:
    print(os.getpid(), file=f)
try:
    cuda.cuCtxSynchronize()
    for i in range(100000000):
        pass
except KeyboardInterrupt:
    print("KeyboardInterrupt")
END
signalled INT 0 "Python with a kernel that hangs gets its KeyboardInterrupt" \
	ptxloom run python3 "$scratch/hang.py" "$scratch/hang.ptx"
says out '^KeyboardInterrupt$' "and can handle it"
says err "$where" "warps are told of"
sed 's/_Z9hang_herePVi/_Z10last_waitsPVi/; s/cuMemAlloc_v2(\(.*\)),$/cuMemAllocManaged(\1, 1),/' "$scratch/hang.py" \
	>"$scratch/livelock.py"
ends 0 "Python with a livelock" timeout -k 5 30 ptxloom run python3 "$scratch/livelock.py" "$scratch/hang.ptx"
says err 'livelock: ' "is told so, though it has a handler for SIGINT"
finish
