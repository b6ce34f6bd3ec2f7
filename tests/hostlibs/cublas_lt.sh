# cublasLt as the host computes it, for a program that does not have the library.
. "${srcdir:-.}/tests/tap.sh"

: "${CC:=cc}"

$CC -std=gnu11 -O1 -w -I"$top" "$top/tests/hostlibs/cublas_lt.c" -o "$scratch/cublas_lt" -ldl -lm >"$scratch/out" 2>&1
verdict $? "the program builds"
for how in "-d t4" "-d h100 --check=mem"; do
	# shellcheck disable=SC2086
	ptxloom run $how "$scratch/cublas_lt" >"$scratch/out" 2>"$scratch/err"
	wrong=$(grep -v '^ok ' "$scratch/out" | grep -vE '^1\.\.[0-9]+$')
	[ "$(grep -c '^ok ' "$scratch/out")" -gt 30 ] || wrong="$wrong $(tail -n 3 "$scratch/err")"
	empty "$wrong" "products with $how"
done
[ "$(grep -c 'cuBLAS: the host computes' "$scratch/err")" = 1 ]
ok $? "that it is not emulated is said once"

finish
