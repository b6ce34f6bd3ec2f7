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

bool race_span(struct race_launch *l, struct race_cta *c, const struct exec_span *s)
{
	const struct gang *g = s->g;
	const struct uop *in = s->in;
	const struct cta *cta = g->cta;
	const u32 *row = (const u32 *)(const void *)(g->regs + in->a);
	struct exec_access a = {.cta = cta,
				.in = in,
				.pc = (u32)(in - g->uops),
				.kind = s->kind,
				.space = MEM_SHARED,
				.size = in->mem.size,
				.count = in->mem.count,
				.bytes = (u64)in->mem.size * in->mem.count};

	if (s->end || s->kind != ACCESS_LOAD || !l->has_quick || c->quick.is_never ||
	    c->clock->cluster_size > 1 || in->a == NO_ROW || in->flags & UOPF_WIDE ||
	    race_manner(l, in, a.pc).strong)
		return false;
	for (u32 w = 0; w < exec_step_warps(g); w++) {
		u32 lane0 = g->lane0 + w * WARP_LANES;

		a.warp = g->first_warp + g->warp + w;
		a.mask = mask_of(g, w);
		if (!a.mask)
			continue;
		race_resume(l, c, a.warp, a.mask);
		if (a.mask != FULL_MASK || !is_quick(c, a.warp) ||
		    !quick_note_words(&c->quick, &a, row + lane0, (u32)in->mem.offset, l->clock.now,
				      cta->env->shared_bytes))
			span_warp_alone(l, c, s, &a, lane0);
	}
	return true;
}
