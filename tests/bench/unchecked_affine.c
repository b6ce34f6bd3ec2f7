/* Accesses at affine indices, unchecked. */
#include "tests/bench/unchecked.h"

#include "src/ops/op_affine.c"
