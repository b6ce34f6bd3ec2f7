/*
 * Handlers of integer arithmetic and moves: one function per row, made from its shape and expression.
 * Compiled once per host ISA level. Serves gang and warp mode; masked mode goes through op_masked (op_control.c).
 */
#include "src/exec/lane_shapes.h"

#define OP LANE_HANDLER
#include "src/exec/ops/int.def"
#include "src/exec/ops/carry.def"
#include "src/exec/ops/move.def"
#include "src/exec/ops/fused.def"
