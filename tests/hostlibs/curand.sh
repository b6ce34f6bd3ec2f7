# Generators of the host in place of cuRAND's for devices, with a library that stands in for NVIDIA's.
. "${srcdir:-.}/tests/tap.sh"

: "${CC:=cc}"

here=$top/tests/hostlibs
cd "$scratch" || exit 1
$CC -shared -fPIC "$here/standin.c" -o libcurand.so.10 -Wl,-soname,libcurand.so.10 >out 2>&1 &&
	$CC -std=gnu11 -O1 -w -I"$top" "$here/curand.c" -o curand -Wl,--no-as-needed ./libcurand.so.10 \
		-Wl,-rpath,"$scratch" -ldl -lm >out 2>&1
verdict $? "the program builds"
ptxloom run -d t4,a100 ./curand >out 2>err
wrong=$(grep -v '^ok ' out | grep -vE '^1\.\.[0-9]+$')
[ "$(grep -c '^ok ' out)" -ge 60 ] || wrong="$wrong $(tail -n 3 err)"
empty "$wrong" "numbers in the order of streams and in graphs, and statuses"
[ "$(grep -c 'cuRAND: the host computes' err)" -eq 1 ]
verdict $? "what is not emulated is said once"
grep -q 'illegal address: write of 8 bytes by curandGenerate' err
verdict $? "the fault names the function"

PTXLOOM_LIBS=curand=own ptxloom run ./curand >out 2>err
grep -q '^Bail out! there is no generator: 203$' out && ! grep -q "the host computes" err
verdict $? "with curand=own the library's statuses are its own"
finish
