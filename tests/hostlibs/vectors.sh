# What the host computes in place of cuBLAS and cuFFT, beside the results of an H100.
. "${srcdir:-.}/tests/tap.sh"
. "$top/tests/hostlibs/hostlibs.sh"

program vectors
verdict $? "the program builds"
passes 15 "results are those of an H100, but for the order of sums" -d h100 "$scratch/vectors" "$here/h100.txt"

finish
