# cuFFT as the host computes it, for a program that does not have the library.
. "${srcdir:-.}/tests/tap.sh"

: "${CC:=cc}"

$CC -std=gnu11 -O1 -w -I"$top" "$top/tests/hostlibs/cufft.c" -o "$scratch/cufft" -ldl -lm >"$scratch/out" 2>&1
verdict $? "the program builds"
for how in "-d t4" "-d h100 --check=mem"; do
	# shellcheck disable=SC2086
	ptxloom run $how "$scratch/cufft" >"$scratch/out" 2>"$scratch/err"
	wrong=$(grep -v '^ok ' "$scratch/out" | grep -vE '^1\.\.[0-9]+$')
	[ "$(grep -c '^ok ' "$scratch/out")" -gt 80 ] || wrong="$wrong $(tail -n 3 "$scratch/err")"
	empty "$wrong" "transforms with $how"
done
[ "$(grep -c 'cuFFT: the host computes' "$scratch/err")" = 1 ]
ok $? "that it is not emulated is said once"

finish
