# What hosts do wrong with memory, and calls that fail: each is found at its place, none where all is right.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1
has_clang || skip_rest "$tap_no_clang"

succeeds "the program is built" ptxloom cc -O1 -lineinfo tests/check/calls.cu -o "$scratch/calls"
cases=$("$scratch/calls" 2>"$scratch/err")
ok "$([ "$(echo "$cases" | wc -l)" -ge 60 ] || skipping; echo $?)" "there are cases"

for case in $cases; do
	check=${case%%_*} full=
	case $case in
	leak_full_*) full=full ;;
	fine_*) check=mem,leak,api full=full ;;
	esac
	timeout 60 env PTXLOOM_CHECK_LEAK=$full ptxloom run --check="$check" "$scratch/calls" "$case" \
		>"$scratch/out" 2>"$scratch/err"
	code=$?
	case $case in
	fine_*) [ "$code" -eq 0 ] && grep -q '^========= ERROR SUMMARY: 0 errors$' "$scratch/err" ;;
	mem_kernel_* | mem_managed | mem_pinned | mem_registered)
		[ "$code" -eq 86 ] && grep -q '^========= Invalid __global__ write of size 4 bytes$' "$scratch/err" &&
			grep -q "^=========     launched by $case()" "$scratch/err"
		;;
	leak_*) [ "$code" -eq 86 ] && grep -q '^========= LEAK SUMMARY: .* leaked in [1-9]' "$scratch/err" ;;
	*)
		[ "$code" -eq 86 ] && grep -q '^========= Program hit cudaError' "$scratch/err" &&
			grep -q "^=========     called by $case()" "$scratch/err"
		;;
	esac
	verdict $? "$case"
done

if [ -n "$cases" ]; then
	status 86 ptxloom run --check=mem "$scratch/calls" mem_free_twice
	says err '^=========     p is 0 bytes inside a freed 1024-byte allocation at 0x'
	says err '^=========     allocated by .*mem_free_twice\(\)'
	says err '^=========     freed by mem_free_twice\(\)'
	status 86 ptxloom run --check=leak "$scratch/calls" leak_one_of_two
	says err '^========= Leaked 64 bytes at 0x'
	says err '^========= LEAK SUMMARY: 64 bytes leaked in 1 allocations$'
	status 86 ptxloom run --check=leak "$scratch/calls" leak_heap
	says err '^========= Leaked 96 bytes at 0x.* on the device heap and in 3 more blocks$'
	status 86 ptxloom run --check=leak "$scratch/calls" leak_heap_line
	says err '^========= Leaked 128 bytes at 0x.* on the device heap and in 7 more blocks$'
	status 86 ptxloom run --check=api "$scratch/calls" api_too_many_threads
	says err 'the block has 2048 threads in dimension x, the device allows 1024$'
	# Each check looks for its own.
	status 0 ptxloom run --check=mem "$scratch/calls" leak_device
	status 0 ptxloom run --check=mem "$scratch/calls" api_stream
	status 0 ptxloom run --check=leak "$scratch/calls" leak_full_stream
fi
finish
