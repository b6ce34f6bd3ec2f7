/*
 * Grids that stop for a moment and go on: all shares leave, the last one out sees to what was
 * wanted.
 */
#include "src/sched/sched_int.h"

/* Where the threads of a grid stand now. */
static void take_census(struct sched_grid *g)
{
	struct sched_progress progress;
	struct sched_end end = {0};

	if (!g->launch.tell)
		return;
	grid_fill_progress(g, &progress);
	grid_collect_waiters(g, &end);
	end.unstarted = grid_unstarted(g);
	g->launch.tell(g->launch.user, &progress, &end);
}

static void see_to_pause(struct sched_grid *g, u32 why)
{
	struct sched_pool *p = g->pool;

	g->busy++;
	pthread_mutex_unlock(&p->lock);
	if (why & PAUSE_CENSUS)
		take_census(g);
	if (why & PAUSE_PROBE)
		grid_probe(g);
	pthread_mutex_lock(&p->lock);
	g->busy--;
	__atomic_fetch_and(&g->pause, ~why, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&p->work);
}

void grid_pause_locked(struct sched_grid *g)
{
	u32 why;

	/* Also what was asked for since then: no worker enters a grid that is to pause. */
	while (PL_UNLIKELY((why = __atomic_load_n(&g->pause, __ATOMIC_ACQUIRE)) != 0) &&
	       !grid_is_over(g))
		see_to_pause(g, why);
}

/* A grid that no worker is in, so that no share will see that a census is wanted. */
static struct sched_grid *find_idle(const struct sched_pool *p)
{
	struct sched_grid *g = p->grids;

	while (g && (g->busy || grid_is_over(g) ||
		     !(__atomic_load_n(&g->pause, __ATOMIC_ACQUIRE) & PAUSE_CENSUS)))
		g = g->next;
	return g;
}

bool sched_census(struct sched_pool *p)
{
	struct sched_grid *g;
	bool any;

	pthread_mutex_lock(&p->lock);
	any = p->grids != NULL;
	for (g = p->grids; g; g = g->next)
		__atomic_fetch_or(&g->pause, PAUSE_CENSUS, __ATOMIC_RELEASE);
	while ((g = find_idle(p)))
		grid_pause_locked(g);
	pthread_mutex_unlock(&p->lock);
	return any;
}
