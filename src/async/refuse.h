/*
 * Copies that name both memories: faults that say which of them. Included by handler files only.
 */
#ifndef PL_ASYNC_REFUSE_H
#define PL_ASYNC_REFUSE_H

#include "src/ops/access.h"

/*
 * A lane, counted from the first to work on, may not touch bytes at a generic address, or at an
 * offset in shared memory, which is smaller than those.
 */
static PL_UNUSED const struct uop *refuse_place(struct gang *g, const struct uop *in, u32 lane,
						struct access *a, enum fault_kind kind)
{
	u64 address = a->address[lane % WARP_LANES];
	const struct uop *next;

	a->warp = lane / WARP_LANES;
	next = refuse(g, in, a, kind, 1u << lane % WARP_LANES);
	g->fault->space =
		address < MEM_SHARED_WINDOW ? MEM_SHARED : generic_space(g->env->mem, &address);
	return next;
}

static PL_UNUSED const struct uop *refuse_read(struct gang *g, const struct uop *in, u32 lane,
					       u64 address, u32 bytes)
{
	struct access a = {.width = bytes};

	a.address[lane % WARP_LANES] = address;
	return refuse_place(g, in, lane, &a, FAULT_ILLEGAL_ADDRESS);
}

static PL_UNUSED const struct uop *refuse_write(struct gang *g, const struct uop *in, u32 lane,
						u64 address, u32 bytes)
{
	const struct uop *next = refuse_read(g, in, lane, address, bytes);

	g->fault->write = true;
	return next;
}

/* The address is no multiple of `bytes`. */
static PL_UNUSED const struct uop *refuse_odd(struct gang *g, const struct uop *in, u32 lane,
					      u64 address, u32 bytes)
{
	struct access a = {.width = bytes};

	a.address[lane % WARP_LANES] = address;
	return refuse_place(g, in, lane, &a, FAULT_MISALIGNED_ADDRESS);
}

#endif
