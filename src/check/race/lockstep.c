/*
 * Order by lockstep.
 */
#include "src/check/race/race_int.h"

void lockstep_run(struct lockstep *x, struct clock *k, struct clock_cta *c, u32 warp, u32 mask)
{
	u32 before = x->mask;

	x->mask = mask;
	if (before != mask && before & (before - 1))
		clock_warp_sync(k, c, warp, before, before);
}

void lockstep_store(struct lockstep *x, struct clock *k, u32 pc)
{
	if (x->stored == k->now && pc < x->store)
		k->now++;
	x->stored = k->now;
	x->store = pc + 1;
}
