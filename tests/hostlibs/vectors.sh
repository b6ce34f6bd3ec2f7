# What the host computes in place of cuBLAS and cuFFT, beside the results of an H100.
. "${srcdir:-.}/tests/tap.sh"

: "${CC:=cc}"

here=$top/tests/hostlibs
$CC -std=gnu11 -O1 -w -I"$top" "$here/vectors.c" -o "$scratch/vectors" -ldl -lm >"$scratch/out" 2>&1
verdict $? "the program builds"
ptxloom run -d h100 "$scratch/vectors" "$here/h100.txt" >"$scratch/out" 2>"$scratch/err"
wrong=$(grep -v '^ok ' "$scratch/out" | grep -vE '^1\.\.[0-9]+$')
[ "$(grep -c '^ok ' "$scratch/out")" -ge 15 ] || wrong="$wrong $(tail -n 3 "$scratch/err")"
empty "$wrong" "results are those of an H100, but for the order of sums"

finish
