/*
 * Loads and stores of programs whose shared variables lie apart: what lies between them is no
 * variable's. The micro-op's allocation cache has the variable that it touched last, as it has the
 * allocation in global memory, so that lanes within it need nothing else.
 */
#include "src/exec/extents.h"
#include "src/ops/move_rows.h"
#include "src/ops/observe.h"

static ALWAYS_INLINE u64 check_apart(const struct gang *g, const struct uop *in, u64 address,
				     u32 bytes)
{
	return mem_cache_hit(&g->caches[in->mem.cache], address, bytes)
		       ? (u64)(uintptr_t)g->shared + address
		       : 0;
}

/* Whatever variable it is. */
static u64 check_extent(const struct gang *g, const struct uop *in PL_UNUSED, u64 address,
			u32 bytes)
{
	u64 from, size;

	return exec_extent_of(g->env, address, bytes, &from, &size)
		       ? (u64)(uintptr_t)g->shared + address
		       : 0;
}

/* Lanes of which some may be outside, which the observer finds out. */
static void tell_apart(struct gang *g, const struct uop *in, const struct access *a, bool generic)
{
	u64 address[WARP_LANES];
	struct exec_access e = {.cta = g->cta,
				.in = in,
				.pc = (u32)(in - g->uops),
				.warp = cta_warp(g, a->warp),
				.kind = exec_is_store(in) ? ACCESS_STORE : ACCESS_LOAD,
				.size = in->mem.size,
				.count = in->mem.count,
				.bytes = a->width,
				.address = address};

	memcpy(address, a->address, sizeof(address));
	if (generic)
		report_generic(g, &e, address, a->mask);
	else
		report_lanes(g, &e, a->mask, MEM_SHARED);
}

static OUT_OF_LINE bool find_apart(struct gang *g, const struct uop *in, struct access *a)
{
	struct mem_cache *c = &g->caches[in->mem.cache];
	u64 lo, hi, from, size;

	if (!resolve_shared(g, in, a))
		return false;
	span(a, &lo, &hi);
	if (exec_extent_of(g->env, lo, hi - lo + a->width, &from, &size)) {
		c->lo = from;
		c->span = size;
	} else {
		tell_apart(g, in, a, false);
	}
	return true;
}

static ALWAYS_INLINE bool resolve_apart(struct gang *g, const struct uop *in, struct access *a)
{
	const struct mem_cache *c = &g->caches[in->mem.cache];

	return PL_LIKELY(reach(a, c->lo, c->span, (u64)(uintptr_t)g->shared)) ||
	       find_apart(g, in, a);
}

/* Generic addresses that are not of global memory. */
static OUT_OF_LINE bool find_generic_apart(struct gang *g, const struct uop *in, struct access *a)
{
	if (!find_generic(g, in, a))
		return false;
	tell_apart(g, in, a, true);
	return true;
}

static ALWAYS_INLINE bool resolve_generic_apart(struct gang *g, const struct uop *in,
						struct access *a)
{
	a->local = 0;
	return reach_cached(g, in, a) || find_generic_apart(g, in, a);
}

static const struct address_form form_apart = {
	.of_lane = plain_address,
	.of_warp = get_addresses,
	.classify = classify_plain,
	.check = check_apart,
	.resolve = resolve_apart,
};
#define FORM(name) name##_apart
#include "src/ops/memory_form.inc"

static const struct address_form form_generic_apart = {
	.of_lane = plain_address,
	.of_warp = get_addresses,
	.classify = classify_plain,
	.check = check_global,
	.resolve = resolve_generic_apart,
};
#define FORM(name) name##_generic_apart
#include "src/ops/memory_form.inc"

HANDLER(apart_load_shared)
{
	return load_may_be_fixed(g, in) && load_fixed(g, in, check_extent) ? in + 1
									   : load_apart(g, in);
}

HANDLER(apart_store_shared)
{
	return store_apart(g, in);
}

HANDLER(apart_load_generic)
{
	return load_generic_apart(g, in);
}

HANDLER(apart_store_generic)
{
	return store_generic_apart(g, in);
}
