/*
 * What is known of each micro-op, made of the tables.
 */
#include "src/uop/uop.h"
#include "src/mem/mem.h"
#include "src/uop/warp.h"

#include <string.h>

#define IS_VALUE true
#define IS_STATE false

const struct uop_info uop_info[EXEC_OPS] = {
#define OP(id, texts, shape, expr)                                                                 \
	[OP_##id] = {#id,       "",       #shape,       UOP_LANE, PAYLOAD_LANE,                    \
		     LIST_NONE, MEM_NONE, EFFECT_QUIET, true},
#include "src/uop/table/all.def"
#undef OP
#define UOP(id, bodies, kind, payload, rows, list, space, nature, effect, twin, diverged)          \
	[OP_##id] = {#id,                                                                          \
		     rows,                                                                         \
		     NULL,                                                                         \
		     UOP_##kind,                                                                   \
		     PAYLOAD_##payload,                                                            \
		     LIST_##list,                                                                  \
		     MEM_##space,                                                                  \
		     EFFECT_##effect,                                                              \
		     IS_##nature},
#include "src/uop/table/handlers.def"
#undef UOP
};

const u8 warp_families[WARP_ACTIONS] = {
#define ACTION(id, family) [WARP_##id] = WARP_FAMILY_##family,
#define SHUFFLE(id, source, in_range) [WARP_##id] = WARP_FAMILY_SHUFFLE,
#define VOTE(id, expr) [WARP_##id] = WARP_FAMILY_VOTE,
#define REDUCE(id, start, expr) [WARP_##id] = WARP_FAMILY_REDUCE,
#define REDUCE_MODE(id, expr) [WARP_##id] = WARP_FAMILY_REDUCE_MODE,
#include "src/uop/table/warp.def"
};

static void begin_payload(struct uop *in, u32 payload)
{
	memset(&in->lane, 0, sizeof(*in) - offsetof(struct uop, lane));
	if (payload == PAYLOAD_LANE)
		in->lane.e = NO_ROW;
	else if (payload == PAYLOAD_CALL)
		in->call.join = NO_PC;
	else if (payload == PAYLOAD_BRANCH)
		in->branch.target = in->branch.join = NO_PC;
}

void uop_become(struct uop *in, enum exec_op op)
{
	u32 from = uop_info[in->inner].payload, to = uop_info[op].payload;
	struct uop_access mem = in->mem;
	bool keep = uop_has_access(in->inner) && uop_has_access(op);

	in->op = in->op == in->inner ? (u16)op : in->op;
	in->inner = (u16)op;
	if (from == to)
		return;
	begin_payload(in, to);
	if (keep)
		in->mem = mem;
}

void uop_begin(struct uop *in, enum exec_op op)
{
	*in = (struct uop){.op = (u16)op,
			   .inner = (u16)op,
			   .d = NO_ROW,
			   .a = NO_ROW,
			   .b = NO_ROW,
			   .c = NO_ROW,
			   .guard = NO_ROW};
	begin_payload(in, uop_info[op].payload);
}
