/*
 * Grids: deals the CTAs of a launch to workers and runs them until all are done or one faults.
 *
 * A pool is a set of persistent threads, one per core. A grid is cut into as many contiguous ranges
 * of CTAs as the pool has workers; whoever runs out takes half of the largest remaining range. A
 * CTA runs to its end unless it yields, because it spins or waits politely; then further CTAs
 * become resident beside it, up to what the profile's occupancy allows, and take turns. From the
 * first yield on CTAs start in the order of their numbers, as on hardware, so that a chain of CTAs
 * each of which waits for its predecessor makes progress on every worker. Small grids run on the
 * calling thread until they yield, and are handed to the pool then, so a launch never blocks its
 * caller for long.
 * With one worker a grid always runs in the same way; a seed permutes the order of CTAs and of
 * turns.
 */
#ifndef PL_SCHED_H
#define PL_SCHED_H

#include "src/exec/exec.h"

struct sched_pool;

struct sched_options {
	u32 workers;    /* 0: one per core the process may use (PTXLOOM_WORKERS) */
	u64 seed;       /* 0: natural order (PTXLOOM_SEED) */
	u64 timeout_ms; /* 0: none (PTXLOOM_TIMEOUT); then a grid ends with FAULT_TIMEOUT */
};

/* Threads start at the first grid that needs them. NULL when the host has no memory. */
struct sched_pool *sched_pool_new(const struct sched_options *options);
/* Waits for running grids. */
void sched_pool_free(struct sched_pool *p);

#define SCHED_WAITERS_MAX 256u

/* Lanes of a warp that had not come to their end when their grid was stopped. */
struct sched_waiter {
	u32 ctaid[3];
	u32 warp, mask;
	u32 pc;     /* record to run next */
	u8 state;   /* enum group_state */
	u8 barrier; /* GROUP_BARRIER: which */
	u32 want;   /* as in struct group */
};

/* How a grid ended. Valid during the call of `done` only. */
struct sched_end {
	const struct fault *fault; /* NULL: all went well */
	/* After a deadlock or a timeout: where threads stood, resident CTAs by their start. */
	const struct sched_waiter *waiters;
	u32 waiter_len;   /* at most SCHED_WAITERS_MAX */
	u64 waiter_total; /* how many there were */
	u64 unstarted;    /* CTAs that had not begun */
};

/* One launch, as the caller describes it. */
struct sched_launch {
	/* grid, block, shared sizes, program, parameters ..; tid, cancel and several_workers are
	 * filled here. */
	struct exec_env env;
	bool cooperative; /* all CTAs are resident at once; the caller has checked that they fit */
	u32 resident_per_sm; /* CTAs an SM holds (occupancy), at least 1 */
	/*
	 * Called once, from any thread, without locks held. What env points to must stay valid
	 * until then; the grid no longer needs anything when it is called.
	 */
	void (*done)(void *user, const struct sched_end *end);
	void *user;
};

/*
 * Start a grid; grids that are under way share the workers.
 * may_inline: the grid, or its beginning, may run on the calling thread, `done` included.
 * Returns false when the host has no memory left; `done` is not called then.
 */
bool sched_start(struct sched_pool *p, const struct sched_launch *launch, bool may_inline);
/* Ask all running grids to stop: they end with FAULT_TIMEOUT, unless they end anyway. */
void sched_cancel(struct sched_pool *p);
/* The same for those grids that work on this memory. */
void sched_cancel_of(struct sched_pool *p, const struct mem *mem);
/* Drop what is cached for a program. To be called before it is freed; none of its grids may be
 * running. */
void sched_forget(struct sched_pool *p, const struct program *program);

#endif
