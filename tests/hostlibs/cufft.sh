# cuFFT as the host computes it, for a program that does not have the library.
. "${srcdir:-.}/tests/tap.sh"
. "$top/tests/hostlibs/hostlibs.sh"

program cufft
verdict $? "the program builds"
passes 81 "transforms" -d t4 "$scratch/cufft"
passes 81 "transforms that are checked" -d h100 --check=mem "$scratch/cufft"
said_once 'cuFFT: the host computes'

finish
