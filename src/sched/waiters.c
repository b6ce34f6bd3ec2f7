/*
 * Where threads stand when a launch ends because none can go on, or took too long, and when
 * a census is asked for.
 */
#include "src/sched/sched_int.h"

#include <stdlib.h>

static void add_waiter(struct sched_grid *g, const struct sched_waiter *w)
{
	g->waiter_total++;
	if (!g->waiters)
		g->waiters = malloc(sizeof(*g->waiters) * SCHED_WAITERS_MAX);
	if (g->waiters && g->waiter_len < SCHED_WAITERS_MAX)
		g->waiters[g->waiter_len++] = *w;
}

/* The groups of a warp of a diverged gang, all of which are ready. */
static void add_diverged(struct sched_grid *g, const struct diverged *p, u32 warp,
			 struct sched_waiter *x)
{
	for (u32 i = 0; i < p->groups; i++) {
		x->mask = p->group[i].mask[warp];
		x->pc = p->group[i].pc;
		if (x->mask)
			add_waiter(g, x);
	}
}

static void collect_cta(struct sched_grid *g, const struct cta *c)
{
	for (u32 i = 0; i < c->gangs; i++)
		for (u32 k = 0; k < c->gang[i].warps; k++) {
			const struct warp *w = &c->gang[i].warp_at[k];
			struct sched_waiter x = {.ctaid = {c->id[0], c->id[1], c->id[2]},
						 .warp = c->gang[i].first_warp + k};

			if (c->gang[i].diverged.on) {
				add_diverged(g, &c->gang[i].diverged, k, &x);
				continue;
			}
			if (w->live && c->gang[i].together) {
				x.mask = w->live;
				x.pc = c->gang[i].pc;
				add_waiter(g, &x);
				continue;
			}
			for (u32 n = 0; n < w->groups; n++) {
				x.mask = w->group[n].mask;
				x.pc = w->group[n].pc;
				x.state = w->group[n].state;
				x.barrier = w->group[n].barrier;
				x.want = w->group[n].want;
				add_waiter(g, &x);
			}
		}
}

void grid_collect_waiters(struct sched_grid *g, struct sched_end *end)
{
	g->waiter_len = 0;
	g->waiter_total = 0;
	for (u32 i = 0; i < g->shares; i++)
		for (const struct cta_slot *s = g->share[i].waiting.first; s; s = s->next)
			for (const struct cta_slot *m = s; m; m = m->mate)
				collect_cta(g, &m->cta);
	end->block = g->launch.env.block;
	end->waiters = g->waiters;
	end->waiter_len = g->waiter_len;
	end->waiter_total = g->waiter_total;
}

u64 grid_unstarted(const struct sched_grid *g)
{
	u64 units = 0;

	for (u32 i = 0; i < g->shares; i++)
		units += g->share[i].end - g->share[i].next +
			 (g->share[i].chunk_end - g->share[i].chunk);
	return g->unit_ctas * units;
}
