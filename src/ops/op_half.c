/*
 * Handlers of f16 and bf16 arithmetic: one function per row, made from its shape and
 * expression. Compiled once per host ISA level. Serves gang and warp mode; masked mode goes
 * through op_masked (op_control.c).
 */
#include "src/ops/lane_shapes.h"

#define OP LANE_HANDLER
#include "src/uop/table/half.def"
