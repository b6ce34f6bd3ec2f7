# Who may still write what a kernel waits for: such a kernel is not called a livelock. One that waits for nobody is.
. "${srcdir:-.}/tests/tap.sh"

needs_clang
succeeds "writers.cu builds" ptxloom cc "$srcdir/tests/programs/writers.cu" -o "$scratch/writers"

for who in nobody handler late_handler process host_function; do
	timeout 60 ptxloom run "$scratch/writers" $who >"$scratch/$who.out" 2>"$scratch/$who.err" &
done
wait
for who in handler late_handler process host_function; do
	empty "$(grep -qx "$who: cudaSuccess, 1 7" "$scratch/$who.out" ||
		head -n 5 "$scratch/$who.out" "$scratch/$who.err")" "what is written by a $who ends the wait"
done
empty "$(grep -qx "nobody: cudaErrorLaunchTimeout, 0 0" "$scratch/nobody.out" &&
	grep -q livelock "$scratch/nobody.err" ||
	head -n 5 "$scratch/nobody.out" "$scratch/nobody.err")" "a wait for nobody is reported"
finish
