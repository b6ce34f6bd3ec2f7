/*
 * Sums of phases of work.
 */
#include "src/base/stats.h"

bool stats_is_on;
static u64 stats_began;
static struct stats_total totals[STATS_PHASES];

void stats_open(void)
{
	memset(totals, 0, sizeof(totals));
	stats_began = clock_ns();
	__atomic_store_n(&stats_is_on, true, __ATOMIC_RELAXED);
}

void stats_close(void)
{
	__atomic_store_n(&stats_is_on, false, __ATOMIC_RELAXED);
}

u64 stats_elapsed_ns(void)
{
	return clock_ns() - stats_began;
}

void stats_add(enum stats_phase phase, u64 times, u64 ns, u64 amount)
{
	struct stats_total *t = &totals[phase];

	__atomic_fetch_add(&t->times, times, __ATOMIC_RELAXED);
	__atomic_fetch_add(&t->ns, ns, __ATOMIC_RELAXED);
	__atomic_fetch_add(&t->amount, amount, __ATOMIC_RELAXED);
}

struct stats_total stats_get(enum stats_phase phase)
{
	const struct stats_total *t = &totals[phase];

	return (struct stats_total){__atomic_load_n(&t->times, __ATOMIC_RELAXED),
				    __atomic_load_n(&t->ns, __ATOMIC_RELAXED),
				    __atomic_load_n(&t->amount, __ATOMIC_RELAXED)};
}
