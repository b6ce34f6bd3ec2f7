# Programs in front of libraries that are built with a sanitizer, whose own library is loaded first:
# streams, events, graphs, processes that share events, textures, several devices. The thread sanitizer
# sees the order that streams and graphs make; kernels that race with each other on purpose are left to
# themselves. In a build without a sanitizer there is nothing to do.
. "${srcdir:-.}/tests/style/tap.sh"

libraries=$(cd "$builddir" && pwd)/.libs
PATH=$(cd "$builddir" && pwd):$PATH
export PATH
unset PTXLOOM_DEVICE CUDA_VISIBLE_DEVICES
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

kind=
for name in asan tsan; do
	grep -q "__${name}_init" "$libraries/libptxloom-runtime.so" && kind=$name
done
if [ -z "$kind" ]; then
	skip "programs under a sanitizer" "the libraries have none"
	finish
	exit
fi
# Of `ccache gcc`, too.
library=$(${CC:-cc} -print-file-name=lib$kind.so)
printf 'race:store_part_\nrace:load_part_\n' >"$scratch/kernels"
ASAN_OPTIONS=detect_leaks=0:handle_segv=0
TSAN_OPTIONS=suppressions=$scratch/kernels
export ASAN_OPTIONS TSAN_OPTIONS

ptxloom cc -ptx "$srcdir/samples/vector_add.cu" -o "$scratch/probe.ptx" >"$scratch/out" 2>&1
if grep -q 'clang is not found' "$scratch/out"; then
	skip "programs under a sanitizer" "no clang"
	finish
	exit
fi
for name in streams graphs conditions event_ipc textures jacobi; do
	ptxloom cc "$srcdir/tests/programs/$name.cu" -o "$scratch/$name" >"$scratch/out" 2>&1
	status=$?
	[ "$status" -eq 0 ] || head -n 30 "$scratch/out" | sed 's/^/# /'
	ok "$status" "$name: builds"
	for workers in 1 3; do
		LD_PRELOAD=$library LD_LIBRARY_PATH=$libraries PTXLOOM_WORKERS=$workers \
			timeout 200 "$scratch/$name" >"$scratch/out" 2>&1
		status=$?
		grep -Eq 'WARNING: ThreadSanitizer|ERROR: AddressSanitizer|runtime error:' "$scratch/out" && status=1
		[ "$status" -eq 0 ] || grep -v '^ *$' "$scratch/out" | head -n 40 | sed 's/^/# /'
		ok "$status" "$name: nothing is found with $workers workers"
	done
done
finish
