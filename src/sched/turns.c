/*
 * CTAs that take turns (PTXLOOM_STABLE): what they do to each other's memory happens in the order
 * in which they are dealt, whichever worker runs them. Programs are lowered for it: at OP_in_order
 * a CTA yields until those before it have ended (exec_env.first). Programs whose CTAs may wait for
 * each other (meets) and cooperative grids are run by one worker instead, in its order.
 */
#include "src/sched/sched_int.h"

/* CTAs that one worker has waiting for their turns, at most: more would gain nothing. */
#define TURNS_RESIDENT 32u

bool sched_is_stable(const struct sched_pool *p)
{
	return p->options.stable && !p->options.deterministic;
}

u32 sched_workers(const struct sched_pool *p)
{
	return p->workers;
}

void turns_begin(struct sched_grid *g)
{
	const struct program *p = g->launch.env.program;
	bool stable = sched_is_stable(g->pool);

	g->single = stable && (g->launch.cooperative || p->meets);
	g->first = 0;
	g->launch.env.first = stable && p->in_order && !g->single ? &g->first : NULL;
}

void turns_after_slice(struct share *h)
{
	struct sched_grid *g = h->grid;

	if (h->limit > TURNS_RESIDENT)
		h->limit = TURNS_RESIDENT;
	pthread_mutex_lock(&g->lock);
	__atomic_store_n(&g->first, prints_floor_locked(h), __ATOMIC_RELEASE);
	pthread_mutex_unlock(&g->lock);
}
