/*
 * What handlers of matrix instructions have in common: they are the whole warp's, so lanes that are
 * missing are an illegal instruction.
 */
#ifndef PL_EXEC_MMA_WARP_H
#define PL_EXEC_MMA_WARP_H

#include "src/ops/access.h"

/* All lanes of a warp have to be here. */
static inline bool matrix_is_whole(const struct gang *g, u32 w)
{
	return g->mode == MODE_GANG || g->active == g->warp_at[g->warp + w].live;
}

static inline const struct uop *matrix_part(struct gang *g, const struct uop *in)
{
	return exec_fault(g, in, FAULT_ILLEGAL_INSTRUCTION, g->active);
}

/* What a warp does; false: a fault was raised. */
typedef bool matrix_warp(struct gang *g, const struct uop *in, u32 w);

/* Every warp that has lanes; `each` is a constant, so that it is inlined. */
static inline __attribute__((always_inline)) const struct uop *
matrix_each_warp(struct gang *g, const struct uop *in, matrix_warp *each)
{
	for (u32 w = 0; w < WARPS; w++) {
		if (!matrix_is_whole(g, w))
			return matrix_part(g, in);
		if (mask_of(g, w) && !each(g, in, w))
			return NULL;
	}
	return in + 1;
}

#endif
