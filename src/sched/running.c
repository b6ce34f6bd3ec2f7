/*
 * What runs, and how far it is: for those who tell the user.
 */
#include "src/base/clock.h"
#include "src/sched/sched_int.h"

#include <stdio.h>

bool sched_is_running(const struct sched_pool *p)
{
	return __atomic_load_n(&p->grid_len, __ATOMIC_RELAXED) != 0;
}

void sched_on_end(struct sched_pool *p, void (*fn)(void *user), void *user)
{
	p->on_end = fn;
	p->on_end_user = user;
}

void grid_fill_progress(struct sched_grid *g, struct sched_progress *out)
{
	const struct program *p = g->launch.env.program;
	u64 left = __atomic_load_n(&g->left, __ATOMIC_ACQUIRE);

	out->serial = g->serial;
	snprintf(out->kernel, sizeof(out->kernel), "%s",
		 p->func_len ? p->funcs[0].func->name->text : "?");
	out->total = g->units * g->unit_ctas;
	out->done = (g->units - left) * g->unit_ctas;
	out->elapsed_ns = clock_ns() - g->submitted_ns;
}

bool sched_progress(struct sched_pool *p, struct sched_progress *out)
{
	bool any;

	pthread_mutex_lock(&p->lock);
	any = p->grids != NULL;
	if (any)
		grid_fill_progress(p->grids, out);
	pthread_mutex_unlock(&p->lock);
	return any;
}
