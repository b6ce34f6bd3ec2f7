/* Accesses at affine indices, unchecked. */
#include "tests/bench/unchecked.h"

#include "src/exec/op_affine.c"
