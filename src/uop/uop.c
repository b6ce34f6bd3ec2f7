/*
 * What is known of each micro-op, made of the tables.
 */
#include "src/uop/uop.h"
#include "src/mem/mem.h"

#define IS_VALUE true
#define IS_STATE false

const struct uop_info uop_info[EXEC_OPS] = {
#define OP(id, texts, shape, expr) [OP_##id] = {#id, UOP_LANE, MEM_NONE, EFFECT_QUIET, true},
#include "src/uop/table/all.def"
#undef OP
#define UOP(id, bodies, kind, space, nature, effect, twin, diverged)                               \
	[OP_##id] = {#id, UOP_##kind, MEM_##space, EFFECT_##effect, IS_##nature},
#include "src/uop/table/handlers.def"
#undef UOP
};
