/*
 * Misuse of synchronisation: barriers that threads come to apart or never, masks of warp
 * instructions that name the wrong lanes, mbarriers, clusters, and asynchronous copies whose data
 * is read before it is there (PTX ISA "Parallel Synchronization and Communication Instructions",
 * "Data Movement: cp.async").
 *
 * An observer of launches; the pool has one worker and one order. What the engine itself refuses, a
 * deadlock among them, is a fault and no matter of this observer (fault.h).
 */
#ifndef PL_CHECK_SYNC_H
#define PL_CHECK_SYNC_H

#include "src/check/finding.h"
#include "src/exec/observer.h"

struct sync_launch;

struct sync_check {
	struct exec_observer observer;
	struct findings *found; /* borrowed */
	pthread_mutex_t lock;
	struct map launches; /* those under way, by grid_id + 1 */
	struct sync_launch *last;
	u64 last_id;
	/* The CTA of the last event: the worker's own, so it finds that without the lock. */
	struct {
		u64 grid_id, number;
		struct sync_launch *launch;
		struct sync_cta *cta; /* NULL: none */
	} now;
};

/* found: where findings go; borrowed. */
void sync_check_init(struct sync_check *y, struct findings *found);
/* No launch is under way. */
void sync_check_fini(struct sync_check *y);

#endif
