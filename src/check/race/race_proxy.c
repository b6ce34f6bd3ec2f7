/*
 * Accesses by other proxies than the generic one: bulk and tensor copies, wgmma, and tensor maps.
 * PTX ISA "Proxies", "Async proxy", "fence.proxy": what threads have written is seen there behind a
 * fence that stands between the two in the order of threads.
 */
#include "src/check/race/race_int.h"
#include "src/exec/turn.h"

#include <stdlib.h>

/* The proxies that a fence is for, a bit for each enum proxy. */
static u32 fenced_proxies(const struct isa_form *form)
{
	u32 global = 1u << PROXY_ASYNC_GLOBAL, shared = 1u << PROXY_ASYNC_SHARED;

	if (isa_form_has(form, M_tensormap_generic))
		return 1u << PROXY_TENSORMAP_CTA |
		       (race_scope(form) > SCOPE_CTA ? 1u << PROXY_TENSORMAP : 0);
	if (isa_form_has(form, M_async_generic))
		return shared;
	if (!isa_form_has(form, M_async))
		return 0;
	if (isa_form_has(form, M_global))
		return global;
	if (isa_form_has(form, M_shared_cta) || isa_form_has(form, M_shared_cluster))
		return shared;
	return global | shared;
}

static void acquire_maps(struct race_launch *l, struct race_cta *c, const struct exec_sync *s,
			 bool wide)
{
	const struct gang *g = exec_gang_of(s->cta, s->warp);
	const u64 *row =
		(const u64 *)(g->regs + s->in->a) + (size_t)(s->warp - g->first_warp) * WARP_LANES;

	if (s->in->a == NO_ROW)
		return;
	for (u32 m = s->mask; m; m &= m - 1)
		if (!map_set(&c->acquired, row[__builtin_ctz(m)] + 1, l->clock.now))
			known_fail();
	clock_tensormap_acquire(&l->clock, c->clock, s->warp, s->mask, wide);
}

void race_proxy_fence(struct race_launch *l, struct race_cta *c, const struct exec_sync *s,
		      const struct isa_form *form)
{
	u32 proxies = fenced_proxies(form);

	if (isa_form_has(form, M_tensormap_generic) && isa_form_has(form, M_acquire))
		acquire_maps(l, c, s, race_scope(form) > SCOPE_CTA);
	else if (proxies)
		clock_proxy_fence(&l->clock, c->clock, s->warp, s->mask, proxies);
}

u32 race_map_acquired(const struct race_cta *c, u64 map)
{
	const u64 *slot = map_get(&c->acquired, map + 1);

	return slot ? (u32)*slot : 0;
}

void race_fence_copied_map(struct race_launch *l, struct race_cta *c, const struct exec_access *a)
{
	const struct isa_form *form = exec_form(l->program, a->in);

	if (form)
		clock_proxy_fence(&l->clock, c->clock, a->warp, a->mask, fenced_proxies(form));
}

static enum race_fence map_fence_missing(const struct race_proxied *x, u64 who, u32 time)
{
	bool same = who_cta_of(who) == x->cta->number;

	if (clock_fenced(x->cta, x->thread, who, PROXY_TENSORMAP_CTA) < time)
		return FENCE_MAP_RELEASE;
	if (!same && clock_fenced(x->cta, x->thread, who, PROXY_TENSORMAP) < time)
		return FENCE_MAP_SCOPE;
	if (x->acquired < time ||
	    clock_fenced(x->cta, x->thread, who, PROXY_TENSORMAP_ACQUIRED) < time)
		return FENCE_MAP_ACQUIRE;
	return FENCE_NONE;
}

enum race_fence race_fence_missing(const struct race_proxied *x, u64 who, u32 time)
{
	enum proxy p = x->is_global ? PROXY_ASYNC_GLOBAL : PROXY_ASYNC_SHARED;
	u32 n = WARPGROUP_WARPS * WARP_LANES, first = x->thread / n * n;

	if (x->of_map)
		return map_fence_missing(x, who, time);
	if (clock_fenced(x->cta, x->thread, who, p) >= time)
		return FENCE_NONE;
	for (u32 i = first; x->of_group && i < first + n && i < x->cta->threads; i++)
		if (clock_fenced(x->cta, i, who, p) >= time)
			return FENCE_NONE;
	return FENCE_ASYNC;
}
