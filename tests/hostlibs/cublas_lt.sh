# cublasLt as the host computes it, for a program that does not have the library.
. "${srcdir:-.}/tests/tap.sh"
. "$top/tests/hostlibs/hostlibs.sh"

program cublas_lt
verdict $? "the program builds"
passes 31 "products" -d t4 "$scratch/cublas_lt"
passes 31 "products that are checked" -d h100 --check=mem "$scratch/cublas_lt"
said_once 'cuBLAS: the host computes'

finish
