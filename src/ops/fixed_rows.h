/*
 * Words of shared memory at the same place for every CTA of a launch: what their addresses are like
 * is found out once. Included by handler files only.
 */
#ifndef PL_OPS_FIXED_ROWS_H
#define PL_OPS_FIXED_ROWS_H

#include "src/ops/move_rows.h"

enum fixed { FIXED_NOT, FIXED_ROWS, FIXED_SAME };

/* Host address of these bytes, 0: they may not be touched. As of struct address_form. */
typedef u64 fixed_check(const struct gang *g, const struct uop *in, u64 address, u32 bytes);

/*
 * How all halves of the gang's warps lie: rows, or each at one address. What is allowed once always
 * is.
 */
static OUT_OF_LINE enum fixed find_fixed(struct gang *g, const struct uop *in, fixed_check *check)
{
	bool rows = true, same = true;

	if (in->flags & UOPF_WIDE)
		return FIXED_NOT;
	for (u32 at = 0; at < g->lanes; at += HALF_LANES) {
		u64 first;
		enum address_kind kind = classify_plain(g, in, at, HALF_LANES, 4, &first);

		rows &= kind == ADDRESS_ROW && check(g, in, first, 4 * HALF_LANES);
		same &= kind == ADDRESS_SAME && check(g, in, first, 4);
		if (first & 3)
			return FIXED_NOT;
	}
	return rows ? FIXED_ROWS : same ? FIXED_SAME : FIXED_NOT;
}

static inline bool load_may_be_fixed(const struct gang *g, const struct uop *in)
{
	return plain_size(in) == 4 && in->flags & UOPF_FIXED && g->full && g->cta->gangs == 1;
}

/*
 * What was found is kept in the `bias` of the micro-op's allocation cache, which is of no use in
 * shared memory, with the launch.
 */
static ALWAYS_INLINE bool load_fixed(struct gang *g, const struct uop *in, fixed_check *check)
{
	struct mem_cache *c = &g->caches[in->mem.cache];
	const u8 *base = g->shared;
	const u32 *r = ROW32(in->a);
	u32 *d = ROW32(in->d), off = (u32)in->mem.offset;

	if (PL_UNLIKELY(c->bias >> 2 != g->cta->launches))
		c->bias = g->cta->launches << 2 | find_fixed(g, in, check);
	if ((c->bias & 3) == FIXED_ROWS) {
		for (u32 at = 0; at < g->lanes; at += HALF_LANES)
			copy_lanes(d + at, base + (u32)(r[at] + off), HALF_LANES);
		return true;
	}
	if ((c->bias & 3) == FIXED_SAME) {
		for (u32 at = 0; at < g->lanes; at += HALF_LANES) {
			u32 *to = d + at;
			u32 v = *(const u32 *)(const void *)(base + (u32)(r[at] + off));

			FOR_LANES(l, HALF_LANES)
				to[l] = v;
		}
		return true;
	}
	return false;
}

#endif
