/*
 * How twins of handlers tell an observer what is touched: see observer.h. Included by handler files
 * only.
 */
#ifndef PL_OPS_OBSERVE_H
#define PL_OPS_OBSERVE_H

#include "src/exec/observer.h"
#include "src/ops/access.h"

#define PLAIN(g, in) EXEC_NAME(exec_ops).mode[(g)->mode]->run[(in)->inner]((g), (in))

/* Does the observer want accesses of every kind? */
static inline bool tells_all(const struct gang *g)
{
	return g->env->observer->access && g->env->observer->every;
}

static PL_UNUSED void report_lanes(struct gang *g, struct exec_access *e, u32 mask,
				   enum mem_space space)
{
	const struct exec_observer *o = g->env->observer;

	e->mask = mask;
	e->space = (u8)space;
	if (mask)
		o->access(o->user, e);
}

/* Lanes whose address lies in a window, which is taken off. */
static PL_UNUSED u32 strip_window(u64 *address, u32 mask, u64 base, u64 size)
{
	u32 in = 0;

	for (u32 m = mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		if (address[l] - base < size) {
			address[l] -= base;
			in |= 1u << l;
		}
	}
	return in;
}

static PL_UNUSED void report_generic(struct gang *g, struct exec_access *e, u64 *address, u32 mask)
{
	const struct mem *m = g->env->mem;
	u32 shared = strip_window(address, mask, m->shared_base, MEM_SHARED_WINDOW);
	u32 local = strip_window(address, mask & ~shared, m->local_base, MEM_LOCAL_WINDOW);

	report_lanes(g, e, mask & ~shared & ~local, MEM_GLOBAL);
	report_lanes(g, e, shared, MEM_SHARED);
	report_lanes(g, e, local, MEM_LOCAL);
}

/* `bytes` of a space that lane l of warp w touches. */
static PL_UNUSED void tell_bytes(struct gang *g, const struct uop *in, u32 w, u32 l,
				 enum exec_access_kind kind, enum mem_space space, u64 address,
				 u64 bytes)
{
	u64 at[WARP_LANES] = {0};
	struct exec_access e = {.cta = g->cta,
				.in = in,
				.pc = (u32)(in - g->uops),
				.warp = cta_warp(g, w),
				.kind = (u8)kind,
				.size = 1,
				.count = 1,
				.extra = true,
				.bytes = bytes,
				.address = at};

	at[l] = address;
	if (bytes)
		report_lanes(g, &e, 1u << l, space);
}

/* The same at a generic address, or at an offset in shared memory, which is smaller than those. */
static PL_UNUSED void tell_place(struct gang *g, const struct uop *in, u32 w, u32 l,
				 enum exec_access_kind kind, u64 address, u64 bytes)
{
	enum mem_space space =
		address < MEM_SHARED_WINDOW ? MEM_SHARED : generic_space(g->env->mem, &address);

	tell_bytes(g, in, w, l, kind, space, address, bytes);
}

/* The mbarrier that a copy completes. */
static PL_UNUSED void tell_mbarrier(struct gang *g, const struct uop *in, u32 w, u32 l, u64 address)
{
	tell_place(g, in, w, l, ACCESS_COPY_DONE, address, sizeof(u64));
}

#endif
