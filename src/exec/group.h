/*
 * Parking a group of lanes, private to src/exec: field by field, since a group that is made
 * elsewhere and copied makes the host wait for the narrow stores that it is read back from.
 */
#ifndef PL_EXEC_GROUP_H
#define PL_EXEC_GROUP_H

#include "src/exec/exec.h"

static inline void group_add(struct warp *w, u32 mask, u32 pc, enum group_state state)
{
	struct group *x = &w->group[w->groups++];

	x->mask = mask;
	x->pc = pc;
	x->state = (u8)state;
	x->barrier = 0;
	x->want = 0;
	x->since = ++w->ticks;
}

/* It waits at a barrier of the CTA, for so many threads; 0: all. */
static inline void group_add_waiting(struct warp *w, u32 mask, u32 pc, u32 barrier, u32 threads)
{
	struct group *x = &w->group[w->groups];

	group_add(w, mask, pc, GROUP_BARRIER);
	x->barrier = (u8)barrier;
	x->want = threads;
}

#endif
