# Singular values as the host computes them in place of cuSOLVER, with a library that stands in for NVIDIA's.
. "${srcdir:-.}/tests/tap.sh"

: "${CC:=cc}"

here=$top/tests/hostlibs
cd "$scratch" || exit 1
$CC -shared -fPIC "$here/standin.c" -o libcusolver.so.12 -Wl,-soname,libcusolver.so.12 >out 2>&1 &&
	$CC -std=gnu11 -O1 -w -I"$top" "$here/cusolver.c" -o cusolver -Wl,--no-as-needed ./libcusolver.so.12 \
		-Wl,-rpath,"$scratch" -ldl -lm >out 2>&1
verdict $? "the program builds"
ptxloom run -d t4 ./cusolver >out 2>err
wrong=$(grep -v '^ok ' out | grep -vE '^1\.\.[0-9]+$')
[ "$(grep -c '^ok ' out)" -ge 45 ] || wrong="$wrong $(tail -n 3 err)"
empty "$wrong" "singular values of all types"

finish
