/*
 * How handlers reach memory: the lanes' addresses, checked as a block and translated to host
 * addresses, by space. Included by handler files only.
 */
#ifndef PL_OPS_ACCESS_H
#define PL_OPS_ACCESS_H

#include "src/base/piece.h"
#include "src/exec/lane_access.h"
#include "src/ops/lanes.h"
#include "src/ops/local.h"

/* The lanes of one warp on their way to memory. */
struct access {
	u64 host[WARP_LANES];    /* host address per lane */
	u64 address[WARP_LANES]; /* as the program has it */
	u32 mask;
	u32 width;    /* bytes per lane */
	u32 warp;     /* in the gang, counted from g->warp */
	bool uniform; /* one address for all */
	/* generic: lanes whose address is in local memory; host[] is where its first word is */
	u32 local;
};

/* All but the addresses, which take long to clear. */
static inline void access_begin(struct access *a, u32 width, u32 warp, u32 mask)
{
	a->width = width;
	a->warp = warp;
	a->mask = mask;
	a->local = 0;
	a->uniform = false;
}

/* Addresses of the lanes: row + constant, or the constant alone. See lane_address. */
static ALWAYS_INLINE void get_addresses(const struct gang *g, const struct uop *in,
					struct access *a)
{
	u32 at = a->warp * WARP_LANES;

	a->uniform = in->a == NO_ROW;
	if (a->uniform) {
		FOR_LANES(l, WARP_LANES)
			a->address[l] = (u64)in->mem.offset;
	} else if (in->flags & UOPF_WIDE) {
		const u64 *r = ROW64(in->a) + at;

		FOR_LANES(l, WARP_LANES)
			a->address[l] = r[l] + (u64)in->mem.offset;
	} else {
		const u32 *r = ROW32(in->a) + at;

		FOR_LANES(l, WARP_LANES)
			a->address[l] = r[l] + (u32)in->mem.offset;
	}
}

/* Lowest and highest address of the active lanes. */
static inline void span(const struct access *a, u64 *lo, u64 *hi)
{
	u64 low = UINT64_MAX, high = 0;

	if (a->mask == FULL_MASK) {
		FOR_LANES(l, WARP_LANES) {
			low = a->address[l] < low ? a->address[l] : low;
			high = a->address[l] > high ? a->address[l] : high;
		}
	} else {
		for (u32 m = a->mask; m; m &= m - 1) {
			u64 x = a->address[__builtin_ctz(m)];

			low = x < low ? x : low;
			high = x > high ? x : high;
		}
	}
	*lo = low;
	*hi = high;
}

static inline u32 misaligned(const struct access *a)
{
	u32 bad = 0;

	for (u32 l = 0; l < WARP_LANES; l++)
		bad |= (a->address[l] & (a->width - 1) ? 1u : 0u) << l;
	return bad & a->mask;
}

static inline bool any_misaligned(const struct access *a)
{
	u64 bits = 0;

	FOR_LANES(l, WARP_LANES)
		bits |= a->mask >> l & 1 ? a->address[l] : 0;
	return bits & (a->width - 1);
}

static PL_UNUSED const struct uop *refuse(struct gang *g, const struct uop *in,
					  const struct access *a, enum fault_kind kind, u32 lanes)
{
	u32 warp = g->warp;

	/* An argument for the next frame that does not fit any more. */
	if (kind == FAULT_ILLEGAL_ADDRESS && in->mem.space == MEM_LOCAL &&
	    in->a == g->env->program->stack_row)
		kind = FAULT_STACK_OVERFLOW;
	g->fault->address = a->address[__builtin_ctz(lanes)];
	g->fault->size = a->width;
	g->fault->space = in->mem.space;
	g->fault->write = exec_is_store(in);
	g->warp = warp + a->warp;
	exec_fault(g, in, kind, lanes);
	g->warp = warp;
	return NULL;
}

/* A lane, counted from the first to work on, may not touch bytes at this address. */
static PL_UNUSED const struct uop *refuse_lane(struct gang *g, const struct uop *in, u32 lane,
					       u64 address, u32 bytes)
{
	struct access a = {.warp = lane / WARP_LANES, .width = bytes};

	a.address[lane % WARP_LANES] = address;
	return refuse(g, in, &a, FAULT_ILLEGAL_ADDRESS, 1u << lane % WARP_LANES);
}

/* Row i of those in the program's `ext`. */
static inline u32 ext_row(const struct gang *g, const struct uop *in, u32 i)
{
	return g->env->program->ext[in->ext + i];
}

/* Lanes to work on, one after the other: warp w and lane l of it. */
#define EACH_LANE(w, l)                                                                            \
	for (u32 w = 0; w < WARPS; w++)                                                            \
		for (u32 m_ = mask_of(g, w), l = 0; m_ && (l = (u32)__builtin_ctz(m_), true);      \
		     m_ &= m_ - 1)

/* Number of a warp in its CTA. */
static inline u32 cta_warp(const struct gang *g, u32 w)
{
	return g->first_warp + g->warp + w;
}

/* Lane by lane: fills host[]; returns the lanes whose global address no allocation holds. */
static PL_UNUSED u32 bad_global(struct gang *g, const struct uop *in, struct access *a)
{
	struct mem_cache *c = &g->caches[in->mem.cache];
	u32 bad = 0;

	for (u32 m = a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		if (!mem_cache_hit(c, a->address[l], a->width) &&
		    !exec_cache_fill(g, in, a->address[l], a->width, a->warp * WARP_LANES + l,
				     exec_access(in)))
			bad |= 1u << l;
		a->host[l] = a->address[l] + c->bias;
	}
	return bad;
}

static inline struct cta *cluster_cta(const struct gang *g, u64 field)
{
	return shared_owner(g->cta, field);
}

/* Host address of an offset in the shared window, 0: outside. */
static inline u64 shared_host(const struct gang *g, u64 off, u32 width)
{
	const struct cta *c = cluster_cta(g, off >> MEM_SHARED_RANK_SHIFT);

	off &= MEM_SHARED_OFFSET;
	return c && off + width <= g->env->shared_bytes ? (u64)(uintptr_t)c->shared + off : 0;
}

/*
 * Is there any memory where an access would begin, were it aligned? Asked of misaligned ones: that
 * there is none is noticed first, but an access across the end of an allocation is misaligned.
 */
static PL_UNUSED bool begins_in_memory(struct gang *g, const struct uop *in, u64 at)
{
	struct mem_cache *c = &g->caches[in->mem.cache];
	enum mem_space space = MEM_GLOBAL;

	if (in->mem.space == MEM_GENERIC)
		space = generic_space(g->env->mem, &at);
	if (space == MEM_SHARED)
		return shared_host(g, at, 1) != 0;
	if (space == MEM_LOCAL)
		return at < g->env->local_bytes;
	return mem_cache_hit(c, at, 1) ||
	       mem_cache_fill(g->env->mem, c, at, 1, MEM_READ) != MEM_FOUND_NONE;
}

/* Misaligned global and generic addresses. */
static PL_UNUSED bool refuse_misaligned(struct gang *g, const struct uop *in, struct access *a)
{
	u32 bad = 0;

	for (u32 m = a->mask; m; m &= m - 1) {
		u64 at = a->address[__builtin_ctz(m)] & ~((u64)a->width - 1);

		bad |= begins_in_memory(g, in, at) ? 0 : m & -m;
	}
	return refuse(g, in, a, bad ? FAULT_ILLEGAL_ADDRESS : FAULT_MISALIGNED_ADDRESS,
		      bad ? bad : misaligned(a)) != NULL;
}

/*
 * Fills host[] when all lanes that take part are aligned and in [lo, lo + size), in one pass: an
 * offset is at most `last` if neither it nor what is left is negative. False: inspect them one by
 * one.
 */
static inline bool reach(struct access *a, u64 lo, u64 size, u64 bias)
{
	u64 bad = 0, bits = 0, last = size - a->width;

	if (size < a->width)
		return false;
	if (a->mask == FULL_MASK) {
		FOR_LANES(l, WARP_LANES) {
			u64 x = a->address[l] - lo;

			bad |= x | (last - x);
			bits |= a->address[l];
			a->host[l] = a->address[l] + bias;
		}
	} else {
		u32 mask = a->mask;

		FOR_LANES(l, WARP_LANES) {
			u64 x = a->address[l] - lo, on = 0 - (u64)(mask >> l & 1);

			bad |= (x | (last - x)) & on;
			bits |= a->address[l] & on;
			a->host[l] = a->address[l] + bias;
		}
	}
	return !(bad >> 63) && !(bits & (a->width - 1));
}

/* In the allocation that the micro-op touched last. No such range reaches into a window. */
static inline bool reach_cached(const struct gang *g, const struct uop *in, struct access *a)
{
	const struct mem_cache *c = &g->caches[in->mem.cache];

	return reach(a, c->lo, c->span, c->bias);
}

/* Each resolver fills host[] or raises a fault and returns false. */
static PL_UNUSED OUT_OF_LINE bool find_global(struct gang *g, const struct uop *in,
					      struct access *a)
{
	struct mem_cache *c = &g->caches[in->mem.cache];
	u64 lo, hi;
	u32 bad;

	if (PL_UNLIKELY(any_misaligned(a)))
		return refuse_misaligned(g, in, a);
	span(a, &lo, &hi);
	if (PL_UNLIKELY(!mem_cache_hit(c, lo, hi - lo + a->width))) {
		bad = bad_global(g, in, a);
		return !bad || refuse(g, in, a, FAULT_ILLEGAL_ADDRESS, bad) != NULL;
	}
	FOR_LANES(l, WARP_LANES)
		a->host[l] = a->address[l] + c->bias;
	return true;
}

static inline bool resolve_global(struct gang *g, const struct uop *in, struct access *a)
{
	return reach_cached(g, in, a) || find_global(g, in, a);
}

static PL_UNUSED u32 beyond(const struct access *a, u64 limit)
{
	u32 bad = 0;

	for (u32 l = 0; l < WARP_LANES; l++)
		bad |= (a->address[l] > limit - a->width || limit < a->width ? 1u : 0u) << l;
	return bad & a->mask;
}

/*
 * Lanes one by one: some may be in the shared memory of other CTAs of the cluster. Measured: where
 * there is no such CTA the instruction is illegal.
 */
static PL_UNUSED bool resolve_cluster(struct gang *g, const struct uop *in, struct access *a)
{
	u32 bad = 0, no_cta = 0;

	for (u32 m = a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		a->host[l] = shared_host(g, a->address[l], a->width);
		bad |= a->host[l] ? 0 : 1u << l;
		no_cta |= cluster_cta(g, a->address[l] >> MEM_SHARED_RANK_SHIFT) ? 0 : 1u << l;
	}
	if (no_cta)
		return refuse(g, in, a, FAULT_ILLEGAL_INSTRUCTION, no_cta) != NULL;
	return !bad || refuse(g, in, a, FAULT_ILLEGAL_ADDRESS, bad) != NULL;
}

static inline bool resolve_shared(struct gang *g, const struct uop *in, struct access *a)
{
	if (PL_LIKELY(reach(a, 0, g->env->shared_bytes, (u64)(uintptr_t)g->shared)))
		return true;
	if (any_misaligned(a))
		return refuse(g, in, a, FAULT_MISALIGNED_ADDRESS, misaligned(a)) != NULL;
	return resolve_cluster(g, in, a);
}

/* Are local addresses aligned and inside? Where they are is the business of local.h. */
static inline bool check_local(struct gang *g, const struct uop *in, struct access *a)
{
	u64 limit = g->env->local_bytes;

	if (PL_LIKELY(reach(a, 0, limit, 0)))
		return true;
	if (any_misaligned(a))
		return refuse(g, in, a, FAULT_MISALIGNED_ADDRESS, misaligned(a)) != NULL;
	return refuse(g, in, a, FAULT_ILLEGAL_ADDRESS, beyond(a, limit)) != NULL;
}

/* One lane of a generic access: which window, and is it inside. */
static PL_UNUSED bool resolve_lane(struct gang *g, const struct uop *in, struct access *a, u32 l)
{
	struct mem_cache *c = &g->caches[in->mem.cache];
	u64 at = a->address[l];

	switch (generic_space(g->env->mem, &at)) {
	case MEM_SHARED:
		a->host[l] = shared_host(g, at, a->width);
		return a->host[l] != 0;
	case MEM_LOCAL:
		a->local |= 1u << l;
		a->host[l] =
			(u64)(uintptr_t)local_byte(g, (g->warp + a->warp) * WARP_LANES + l, at);
		return at + a->width <= g->env->local_bytes;
	default:
		if (!mem_cache_hit(c, at, a->width) &&
		    !exec_cache_fill(g, in, at, a->width, a->warp * WARP_LANES + l,
				     exec_access(in)))
			return false;
		a->host[l] = at + c->bias;
		return true;
	}
}

static PL_UNUSED OUT_OF_LINE bool find_generic(struct gang *g, const struct uop *in,
					       struct access *a)
{
	u32 bad = 0;

	if (PL_UNLIKELY(any_misaligned(a)))
		return refuse_misaligned(g, in, a);
	for (u32 x = a->mask; x; x &= x - 1)
		if (!resolve_lane(g, in, a, (u32)__builtin_ctz(x)))
			bad |= x & -x;
	return !bad || refuse(g, in, a, FAULT_ILLEGAL_ADDRESS, bad) != NULL;
}

static inline bool resolve_generic(struct gang *g, const struct uop *in, struct access *a)
{
	a->local = 0;
	return reach_cached(g, in, a) || find_generic(g, in, a);
}

/*
 * One value of 1, 2, 4 or 8 bytes: see piece.h. Elements of parameters and of copies need not be
 * aligned.
 */
static inline u64 get(u64 host, u32 bytes)
{
	return piece_get((const void *)(uintptr_t)host, bytes);
}

static inline void put(u64 host, u32 bytes, u64 v)
{
	piece_put((void *)(uintptr_t)host, v, bytes);
}

#endif
