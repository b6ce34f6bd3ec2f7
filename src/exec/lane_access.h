/*
 * What a lane's access is: which lanes make one, at which address, in which space. For handlers,
 * and for what inspects micro-ops from outside.
 */
#ifndef PL_EXEC_LANE_ACCESS_H
#define PL_EXEC_LANE_ACCESS_H

#include "src/exec/exec.h"

/* Lanes that run, of warp g->warp + w. */
static inline u32 mask_of(const struct gang *g, u32 w)
{
	return g->mode == MODE_GANG ? g->warp_at[g->warp + w].live : g->active;
}

/*
 * The address of a micro-op that has `mem`, and no index; lane: counted in the gang. A 32-bit base
 * wraps around as the hardware's adder does: compilers write [%r-140+144] for the start of shared
 * memory.
 */
static inline u64 lane_address(const struct gang *g, const struct uop *in, u32 lane)
{
	const u8 *row = g->regs + in->a;

	if (in->a == NO_ROW)
		return (u64)in->mem.offset;
	if (in->flags & UOPF_WIDE)
		return ((const u64 *)(const void *)row)[lane] + (u64)in->mem.offset;
	return ((const u32 *)(const void *)row)[lane] + (u32)in->mem.offset;
}

/*
 * The CTA that a shared address of `own` is of, by the field above its offset: 0 the own one, else
 * rank + 1. NULL: there is none.
 */
static inline struct cta *shared_owner(struct cta *own, u64 field)
{
	const struct cluster *cl = own->cluster;

	if (!field)
		return own;
	if (!cl)
		return field == 1 ? own : NULL;
	return field <= cl->size ? cl->cta[field - 1] : NULL;
}

/* The space of a generic address, which becomes an offset where that space has a window. */
static inline enum mem_space generic_space(const struct mem *m, u64 *address)
{
	if (*address - m->shared_base < MEM_SHARED_WINDOW) {
		*address -= m->shared_base;
		return MEM_SHARED;
	}
	if (*address - m->local_base < MEM_LOCAL_WINDOW) {
		*address -= m->local_base;
		return MEM_LOCAL;
	}
	return MEM_GLOBAL;
}

#endif
