/*
 * Handlers of integer arithmetic and moves: one function per row, made from its shape and
 * expression. Compiled once per host ISA level. Serves gang and warp mode; masked mode goes through
 * op_masked (op_control.c).
 */
#include "src/ops/lane_shapes.h"

#define OP LANE_HANDLER
#include "src/uop/table/int.def"
#include "src/uop/table/carry.def"
#include "src/uop/table/move.def"
#include "src/uop/table/fused.def"
