/*
 * Races: two threads touch a byte of global or shared memory, one of them writes it, at least one
 * by a weak access, and nothing orders them (PTX ISA "Memory Consistency Model"). Whichever ran
 * first in this run does not matter.
 *
 * An observer of launches; the pool has one worker and one order. Each pair of lines is reported
 * once for a launch, on standard error, in the words of compute-sanitizer's racecheck.
 */
#ifndef PL_CHECK_RACE_H
#define PL_CHECK_RACE_H

#include "src/exec/observer.h"

struct race_launch;

struct race_check {
	struct exec_observer observer;
	struct mem *mem;        /* of the device, to name addresses; borrowed */
	struct findings *found; /* borrowed */
	pthread_mutex_t lock;
	struct map launches; /* those under way, by grid_id + 1 */
	struct race_launch *last;
	u64 last_id;
	/* The CTA of the last event: the worker's own, so it finds that without the lock. */
	struct {
		u64 grid_id, number;
		struct race_launch *launch;
		struct race_cta *cta; /* NULL: none */
	} now;
};

/* m: of the device, to name addresses; found: where races go; both borrowed. */
void race_check_init(struct race_check *r, struct mem *m, struct findings *found);
/* No launch is under way. */
void race_check_fini(struct race_check *r);

/*
 * What lanes of a warp have done at a moment that is not an access, for other observers of the
 * launch that come behind this one. moment 0: the launch is not followed.
 */
struct race_deed {
	u64 cta; /* number */
	u32 warp, lanes, moment;
};

struct race_deed race_deed_now(struct race_check *r, const struct cta *c, u32 warp, u32 lanes);
/* Lanes of the mask that come behind it: one of its lanes is among them, or they know of one. */
u32 race_lanes_behind(struct race_check *r, const struct race_deed *d, const struct cta *c,
		      u32 warp, u32 mask);

#endif
