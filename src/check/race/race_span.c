/*
 * Loads of whole gangs from shared memory, the most frequent accesses of all: their addresses are
 * read from the rows of the gang.
 */
#include "src/check/race/race_int.h"
#include "src/exec/lane_access.h"

/* Does the quick state of shared memory see what a warp reads now? */
static bool is_quick(const struct race_cta *c, u32 warp)
{
	const struct quick *q = &c->quick;

	return q->since == c->clock->whole && !q->off && !q->is_never &&
	       c->clock->warp_known[warp] == q->since;
}

/* One warp, as if it had been told alone. */
static void span_warp_alone(struct race_launch *l, struct race_cta *c, const struct exec_span *s,
			    const struct exec_access *a, u32 lane0)
{
	struct exec_access alone = *a;
	u64 address[WARP_LANES];

	for (u32 i = 0; i < WARP_LANES; i++)
		address[i] = lane_address(s->g, s->in, lane0 + i);
	alone.address = address;
	race_access(l, c, &alone);
}

/* What a gang has read in the intervals before, it reads again. */
static bool follows_gang(struct race_launch *l, struct race_cta *c, const struct gang *g,
			 struct exec_access *a, const u32 *row)
{
	u32 n = exec_step_warps(g), waits = 0;

	a->warp = g->first_warp + g->warp;
	for (u32 w = 0; w < n; w++) {
		waits |= c->clock->waits[a->warp + w] | c->waiting[a->warp + w];
		if (mask_of(g, w) != FULL_MASK || !is_quick(c, a->warp + w))
			return false;
	}
	return !waits &&
	       quick_follow_gang(&c->quick, a, n, row, (u32)a->in->mem.offset, l->clock.now);
}

/* Behind a barrier another interval begins. */
static void begin_interval(struct race_launch *l, struct race_cta *c, const struct gang *g)
{
	u32 warp = g->first_warp + g->warp;

	race_resume(l, c, warp, mask_of(g, 0));
	if (c->quick.since != c->clock->whole)
		quick_begin(&c->quick, c->clock->whole);
}

static void note_gang(struct race_launch *l, struct race_cta *c, const struct exec_span *s,
		      struct exec_access *a, const u32 *row)
{
	const struct gang *g = s->g;
	u32 n = exec_step_warps(g), before = c->quick.noted;
	bool together = true;

	for (u32 w = 0; w < n; w++) {
		u32 lane0 = w * WARP_LANES;

		a->warp = g->first_warp + g->warp + w;
		a->mask = mask_of(g, w);
		together &= a->mask == FULL_MASK;
		if (!a->mask)
			continue;
		race_resume(l, c, a->warp, a->mask);
		if (a->mask == FULL_MASK && is_quick(c, a->warp) &&
		    quick_note_words(&c->quick, a, row + lane0, (u32)a->in->mem.offset,
				     l->clock.now, a->cta->env->shared_bytes))
			continue;
		span_warp_alone(l, c, s, a, g->lane0 + lane0);
		together = false;
	}
	if (together && !c->quick.follows && c->quick.noted == before + n)
		quick_keep_gang(&c->quick, n, row);
}

bool race_span(struct race_launch *l, struct race_cta *c, const struct exec_span *s)
{
	const struct gang *g = s->g;
	const struct uop *in = s->in;
	const u32 *row = (const u32 *)(const void *)(g->regs + in->a) + g->lane0;
	struct exec_access a = {.cta = g->cta,
				.in = in,
				.pc = (u32)(in - g->uops),
				.kind = s->kind,
				.space = MEM_SHARED,
				.size = in->mem.size,
				.count = in->mem.count,
				.mask = FULL_MASK,
				.bytes = (u64)in->mem.size * in->mem.count};

	if (s->end || s->kind != ACCESS_LOAD || !l->has_quick || c->quick.is_never ||
	    c->clock->cluster_size > 1 || in->a == NO_ROW || in->flags & UOPF_WIDE ||
	    race_manner(l, in, a.pc).strong)
		return false;
	begin_interval(l, c, g);
	if (!follows_gang(l, c, g, &a, row))
		note_gang(l, c, s, &a, row);
	return true;
}
