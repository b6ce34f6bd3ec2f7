# Singular values as the host computes them in place of cuSOLVER, with a library that stands in for NVIDIA's.
. "${srcdir:-.}/tests/tap.sh"
. "$top/tests/hostlibs/hostlibs.sh"

program_with libcusolver.so.12 cusolver
verdict $? "the program builds"
passes 45 "singular values of all types" -d t4 "$scratch/cusolver"

finish
