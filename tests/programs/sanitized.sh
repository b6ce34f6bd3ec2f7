# Programs in front of libraries that are built with a sanitizer, whose own library is loaded first:
# streams, events, graphs, processes that share events, textures, several devices. The thread sanitizer
# sees the order that streams and graphs make; kernels that race with each other on purpose are left to
# themselves. In a build without a sanitizer there is nothing to do.
. "${srcdir:-.}/tests/tap.sh"

kind=
for name in asan tsan; do
	grep -q "__${name}_init" "$libraries/libptxloom-runtime.so" && kind=$name
done
needs_clang
[ -n "$kind" ] || skip_rest "the libraries have no sanitizer"
# Of `ccache gcc`, too.
library=$(${CC:-cc} -print-file-name=lib$kind.so)
printf 'race:store_part_\nrace:load_part_\n' >"$scratch/kernels"
ASAN_OPTIONS=detect_leaks=0:handle_segv=0
TSAN_OPTIONS=suppressions=$scratch/kernels
export ASAN_OPTIONS TSAN_OPTIONS

for name in streams graphs conditions event_ipc textures jacobi; do
	succeeds "$name: builds" ptxloom cc "$srcdir/tests/programs/$name.cu" -o "$scratch/$name"
	for workers in 1 3; do
		capture env "LD_PRELOAD=$library" "LD_LIBRARY_PATH=$libraries" "PTXLOOM_WORKERS=$workers" \
			timeout 200 "$scratch/$name" &&
			! grep -Eq 'WARNING: ThreadSanitizer|ERROR: AddressSanitizer|runtime error:' \
				"$scratch/out" "$scratch/err"
		verdict $? "$name: nothing is found with $workers workers"
	done
done
finish
