/*
 * Grids: deals the CTAs of a launch to workers and runs them until all are done or one faults.
 *
 * A pool is a set of persistent threads, one per core. Each worker takes one contiguous range of CTAs and steals half of the
 * largest remaining range when its own is empty. A worker keeps up to `resident` CTAs alive when CTAs wait for one another
 * (they yield); else it runs one to the end. Small grids run on the calling thread under a budget of backward branches and
 * are handed to the pool when it is used up, so that a launch never blocks its caller for long.
 * With one worker everything is deterministic; a seed permutes the order of CTAs and of yields.
 */
#ifndef PL_SCHED_H
#define PL_SCHED_H

#include "src/exec/exec.h"

struct sched_pool;
struct sched_grid;

struct sched_options {
	u32 workers;        /* 0: one per core (PTXLOOM_WORKERS) */
	u64 seed;           /* 0: natural order (PTXLOOM_SEED) */
	u64 timeout_ms;     /* 0: none (PTXLOOM_TIMEOUT); then a grid ends with FAULT_TIMEOUT */
};

/* Threads start at the first grid that needs them. NULL when the host has no memory. */
struct sched_pool *sched_pool_new(const struct sched_options *options);
/* Waits for running grids. */
void sched_pool_free(struct sched_pool *p);
u32 sched_pool_workers(const struct sched_pool *p);

/* One launch, as the caller describes it. Borrowed pointers must stay valid until the grid is done. */
struct sched_launch {
	struct exec_env env;      /* grid, block, shared sizes, program, parameters ..; tid and cancel are filled here */
	bool cooperative;         /* all CTAs are resident at once, or the launch is refused */
	u32 resident_per_sm;      /* CTAs an SM holds (occupancy), at least 1 */
	void (*done)(void *user, const struct fault *fault); /* called once, from any thread; fault NULL when all went well */
	void *user;
};

/*
 * Start a grid. Returns false when memory is out or a cooperative grid does not fit; `done` is not called then.
 * May run the grid, or the beginning of it, on the calling thread when `may_inline`.
 */
bool sched_start(struct sched_pool *p, const struct sched_launch *launch, bool may_inline);
/* Ask all running grids to stop; they end with FAULT_TIMEOUT or as done. */
void sched_cancel(struct sched_pool *p);

#endif
