# cuBLAS as the host computes it, for a program that does not have the library; then what PTXLOOM_LIBS chooses, with a
# library that stands in for NVIDIA's.
. "${srcdir:-.}/tests/tap.sh"
. "$top/tests/hostlibs/hostlibs.sh"

program cublas cublas_level2 cublas_types
verdict $? "the programs build"
passes 30 "cublas_level2" -d t4 --check=mem "$scratch/cublas_level2"
passes 15 "cublas_types" -d t4 --check=mem "$scratch/cublas_types"
passes 81 "BLAS on a T4" -d t4 "$scratch/cublas"
passes 81 "BLAS that is checked, in one order" -d gb202 --check=mem --deterministic "$scratch/cublas"
passes 81 "BLAS on an H100" -d h100 "$scratch/cublas"
said_once "the host computes"
grep -q "the host computes .* and all others in place" "$scratch/err"
ok $? "without the library, that it is all of it"
grep -q "illegal address: read of 16384 bytes by cublasSgemm_v2" "$scratch/err"
ok $? "a bad pointer is a fault of the device, with the function's name"

# ---- whose code ----

cd "$scratch" || exit 1
standin libcublas.so.13 && $CC "$here/user.c" -o linked ./libcublas.so.13 -Wl,-rpath,"$scratch" &&
	$CC -DOPENS "$here/user.c" -o opens -ldl
verdict $? "a library that stands in for NVIDIA's builds"
for program in ./linked ./opens; do
	for way in ":host own" "own:own own" "host:host host" "cublas=own:own own" "own,cublas=host:host host" \
		"host,cublas=own:own own" "cufft=own:host own"; do
		got=$(PTXLOOM_LIBS=${way%%:*} ptxloom run $program 2>/dev/null)
		[ "$got" = "${way#*:}" ] || printf '%s with %s: %s\n' "$program" "$way" "$got"
	done
done >wrong
empty "$(cat wrong)" "PTXLOOM_LIBS chooses, whether a program links the library or opens it"
PTXLOOM_LIBS=cubas=host ptxloom run ./linked >out 2>err
[ $? -ne 0 ] && grep -q "PTXLOOM_LIBS" err
ok $? "an unknown choice is refused"

finish
