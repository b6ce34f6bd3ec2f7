/*
 * Handlers that count lanes, and that report what instructions say about caches. They take no time
 * of the emulated clocks: what runs must not depend on whether it is counted.
 */
#include "src/exec/lane_access.h"
#include "src/exec/observer.h"
#include "src/ops/access.h"
#include "src/ops/lanes.h"

/* Of the lanes of a warp that have come, `mask`, those of `some` count. */
static inline void count_some(struct exec_count *c, u32 mask, u32 some)
{
	u32 lanes = (u32)__builtin_popcount(some), missing = WARP_LANES - lanes;

	c->others += (u32)__builtin_popcount(mask & ~some);
	if (!some) {
		c->none++;
		return;
	}
	c->lanes += lanes;
	c->warps++;
	c->all += some == mask;
	c->mask |= some;
	c->missing = missing > c->missing ? missing : c->missing;
}

HANDLER(count_block)
{
	struct exec_count *c = &g->counts[in->count.at];

	g->clock -= EXEC_UOP_CYCLES;
	if (PL_LIKELY(g->full && g->mode == MODE_GANG)) {
		c->lanes += LANES;
		c->warps += WARPS;
		c->all += WARPS;
		c->mask = FULL_MASK;
		return in + 1;
	}
	for (u32 w = 0, n = WARPS; w < n; w++) {
		u32 mask = mask_of(g, w), lanes = (u32)__builtin_popcount(mask);

		if (!mask)
			continue;
		c->lanes += lanes;
		c->warps++;
		c->all += lanes == WARP_LANES;
		c->mask |= mask;
		c->missing = WARP_LANES - lanes > c->missing ? WARP_LANES - lanes : c->missing;
	}
	return in + 1;
}

HANDLER(count_pred)
{
	u32 not = in->flags & UOPF_GUARD_NOT && in->guard == NO_ROW ? FULL_MASK : 0;

	g->clock -= EXEC_UOP_CYCLES;
	for (u32 w = 0, n = WARPS; w < n; w++) {
		u32 mask = mask_of(g, w);

		if (mask)
			count_some(&g->counts[in->count.at], mask, (ROWP(in->a)[w] ^ not ) & mask);
	}
	return in + 1;
}

/*
 * An index past the end faults where it is used. `none` of the first case: groups of lanes that
 * part.
 */
HANDLER(count_index)
{
	g->clock -= EXEC_UOP_CYCLES;
	for (u32 w = 0, n = WARPS; w < n; w++) {
		const u32 *a = ROW32(in->a) + w * WARP_LANES;
		u32 mask = mask_of(g, w);
		bool differ = false;

		for (u32 left = mask; left;) {
			u32 index = a[__builtin_ctz(left)], same = 0;

			for (u32 m = left; m; m &= m - 1)
				same |= (u32)(a[__builtin_ctz(m)] == index) << __builtin_ctz(m);
			left &= ~same;
			differ |= same != mask;
			if (index < in->count.cases)
				count_some(&g->counts[in->count.at + index], mask, same);
		}
		g->counts[in->count.at].none += differ;
	}
	return in + 1;
}

HANDLER(hint)
{
	const struct exec_observer *o = g->env->observer;
	struct exec_hint h = {
		.cta = g->cta, .in = in, .pc = (u32)(in - g->uops), .kind = in->hint.kind};

	g->clock -= EXEC_UOP_CYCLES;
	for (u32 w = 0, n = WARPS; o && o->hint && w < n; w++) {
		h.mask = mask_of(g, w);
		h.warp = cta_warp(g, w);
		h.value = ROW64(in->a) + w * WARP_LANES;
		h.bytes = h.kind == HINT_BULK_PREFETCH ? ROW32(in->b) + w * WARP_LANES : NULL;
		if (h.mask)
			o->hint(o->user, &h);
	}
	return in + 1;
}
