# Generators of the host in place of cuRAND's for devices, with a library that stands in for NVIDIA's.
. "${srcdir:-.}/tests/tap.sh"
. "$top/tests/hostlibs/hostlibs.sh"

program_with libcurand.so.10 curand
verdict $? "the program builds"
passes 60 "numbers in the order of streams and in graphs, and statuses" -d t4,a100 "$scratch/curand"
said_once 'cuRAND: the host computes'
says err 'illegal address: write of 8 bytes by curandGenerate' "the fault names the function"

PTXLOOM_LIBS=curand=own ptxloom run "$scratch/curand" >"$scratch/out" 2>"$scratch/err"
grep -q '^Bail out! there is no generator: 203$' "$scratch/out" && ! grep -q "the host computes" "$scratch/err"
verdict $? "with curand=own the library's statuses are its own"

finish
