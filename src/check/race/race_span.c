/*
 * Accesses of whole gangs. The most frequent ones of all are loads from shared memory: their
 * addresses are read from the rows of the gang.
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

/* Which lanes store what is there already. */
static void note_stored(const struct exec_span *s, u32 w, struct quick_access *x)
{
	struct exec_access a;
	u64 address[WARP_LANES];

	if (s->kind == ACCESS_STORE && exec_span_access(s, w, address, &a))
		race_silent_access(&a, x);
}

/* What a gang has touched in an interval before, it touches again. */
static bool follows_gang(struct race_launch *l, struct race_cta *c, const struct exec_span *s,
			 struct exec_access *a, const u32 *row)
{
	const struct gang *g = s->g;
	u32 n = exec_step_warps(g), waits = 0;
	struct quick_access *x;

	a->warp = g->first_warp + g->warp;
	for (u32 w = 0; w < n; w++) {
		waits |= c->clock->waits[a->warp + w] | c->waiting[a->warp + w];
		if (mask_of(g, w) != FULL_MASK || !is_quick(c, a->warp + w))
			return false;
	}
	if (waits)
		return false;
	x = quick_follow_gang(&c->quick, a, n, row, (u32)a->in->mem.offset, l->clock.now);
	for (u32 w = 0; x && s->kind == ACCESS_STORE && w < n; w++)
		note_stored(s, w, &x[w]);
	return x;
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
		struct exec_access alone;
		u64 address[WARP_LANES];

		a->warp = g->first_warp + g->warp + w;
		a->mask = mask_of(g, w);
		together &= a->mask == FULL_MASK;
		race_resume(l, c, a->warp, a->mask);
		if (s->kind == ACCESS_LOAD && a->mask == FULL_MASK && is_quick(c, a->warp) &&
		    quick_note_words(&c->quick, a, row + w * WARP_LANES, (u32)a->in->mem.offset,
				     l->clock.now, a->cta->env->shared_bytes))
			continue;
		if (exec_span_access(s, w, address, &alone))
			race_access(l, c, &alone);
	}
	if (together && !c->quick.follows && !c->quick.off && c->quick.noted == before + n)
		quick_keep_gang(&c->quick, n, row);
}

/* Do all warps access shared memory at addresses of which the quick state may know? */
static bool is_quick_span(struct race_launch *l, const struct race_cta *c,
			  const struct exec_span *s)
{
	const struct uop *in = s->in;

	return s->space == MEM_SHARED && (s->kind == ACCESS_LOAD || s->kind == ACCESS_STORE) &&
	       l->has_quick && !c->quick.is_never && !c->lockstep && c->clock->cluster_size == 1 &&
	       in->a != NO_ROW && !(in->flags & UOPF_WIDE) &&
	       !race_manner(l, in, (u32)(in - s->g->uops)).strong;
}

static void span_warps(struct race_launch *l, struct race_cta *c, const struct exec_span *s)
{
	struct exec_access a;
	u64 address[WARP_LANES];

	for (u32 w = 0; w < exec_step_warps(s->g); w++)
		if (exec_span_access(s, w, address, &a))
			race_access(l, c, &a);
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

	/* Generic addresses are told warp by warp. */
	if (s->end)
		return false;
	if (!is_quick_span(l, c, s)) {
		span_warps(l, c, s);
		return true;
	}
	begin_interval(l, c, g);
	if (!follows_gang(l, c, s, &a, row))
		note_gang(l, c, s, &a, row);
	return true;
}
