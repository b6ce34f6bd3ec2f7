/*
 * Threads of a programmatic launch that come behind a wait for the kernels before
 * (griddepcontrol.wait): those that have waited, and those that know of one, of their block or
 * cluster, by a barrier or what else orders threads (race/clock.h).
 */
#ifndef PL_CHECK_WAITS_H
#define PL_CHECK_WAITS_H

#include "src/base/map.h"
#include "src/check/race/race.h"

/* A zeroed one is empty. */
struct waits {
	struct map blocks; /* by number + 1: struct block_waits * */
};

void waits_fini(struct waits *w);
/* These lanes have waited. Where the race check does not follow the launch, so has the block. */
void waits_note(struct waits *w, struct race_check *race, const struct cta *c, u32 warp, u32 lanes);
/* Lanes of the mask that come behind a wait. */
u32 waits_behind(struct waits *w, struct race_check *race, const struct cta *c, u32 warp, u32 mask);

#endif
