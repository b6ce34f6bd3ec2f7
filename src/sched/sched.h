/*
 * Grids: deals the CTAs of a launch to workers and runs them until all are done or one faults.
 *
 * A pool is a set of persistent threads, one per core. A grid is cut into as many contiguous ranges
 * of CTAs as the pool has workers; a worker that runs out takes half of the largest remaining
 * range. A CTA runs to its end unless it yields, because it spins or waits politely; then further
 * CTAs become resident beside it, up to what the profile's occupancy allows, and alternate. From
 * the first yield on CTAs start in the order of their numbers, as on hardware, so that a chain of
 * CTAs each of which waits for its predecessor makes progress on every worker. Small grids run on
 * the calling thread until they yield, and are handed to the pool then, so a launch never blocks
 * its caller for long. With one worker a grid always runs in the same way; a seed permutes the
 * order of CTAs and of time slices.
 */
#ifndef PL_SCHED_H
#define PL_SCHED_H

#include "src/exec/exec.h"

struct sched_pool;
struct schedule;
struct steer_notes;

/* A number that depends on both, never 0. */
static inline u64 sched_mix(u64 a, u64 b)
{
	u64 x = a * 0x9e3779b97f4a7c15u ^ (b + 0xd1b54a32d192ed03u);

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	return x ? x : 1;
}

struct sched_options {
	u32 workers;    /* 0: one per core the process may use (PTXLOOM_WORKERS) */
	u64 seed;       /* 0: natural order (PTXLOOM_SEED) */
	u64 timeout_ms; /* 0: none (PTXLOOM_TIMEOUT); then a grid ends with FAULT_TIMEOUT */
	/* Everything runs in one order, whatever the number of workers (PTXLOOM_DETERMINISTIC). */
	bool deterministic;
	/*
	 * With `deterministic`: the whole interleaving (PTXLOOM_SCHEDULE), and what is written down
	 * of it. Both become the pool's. NULL: none.
	 */
	struct schedule *schedule;
	struct steer_notes *notes;
	/* Results are the same for any number of workers (PTXLOOM_STABLE): turns.c. */
	bool stable;
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
	u32 pc;     /* micro-op to run next */
	u8 state;   /* enum group_state */
	u8 barrier; /* GROUP_BARRIER: which */
	u32 want;   /* as in struct group */
};

/*
 * The instruction that the lanes are at. Those at barriers stand after the one that made them wait.
 */
static inline u32 sched_waiter_pc(const struct sched_waiter *w)
{
	bool after = w->state == GROUP_BARRIER || w->state == GROUP_CLUSTER;

	return after && w->pc ? w->pc - 1 : w->pc;
}

/* How a grid ended. Valid during the call of `done` only. */
struct sched_end {
	const struct fault *fault; /* NULL: all went well */
	/* After a deadlock or a timeout: where threads stood, resident CTAs by their start. */
	const struct sched_waiter *waiters;
	u32 waiter_len;   /* at most SCHED_WAITERS_MAX */
	u64 waiter_total; /* how many there were */
	u64 unstarted;    /* CTAs that had not begun */
	const u32 *block; /* threads of a CTA; NULL: there are no waiters */
};

/* How far a grid is. */
struct sched_progress {
	u64 serial;       /* of the grid among those of the pool */
	char kernel[512]; /* its name in the PTX, cut if it is longer */
	u64 done, total;  /* CTAs; those that have ended are counted with some delay */
	u64 elapsed_ns;   /* since it was given to the workers */
};

/* One launch, as the caller describes it. */
struct sched_launch {
	/* grid, block, shared sizes, program, parameters ..; tid, cancel and concurrent are
	 * filled here. */
	struct exec_env env;
	bool cooperative; /* all CTAs are resident at once; the caller has checked that they fit */
	u32 resident_per_sm; /* CTAs an SM holds (occupancy), at least 1 */
	/*
	 * Which launch of the program this is, for what a seed makes of it: the same every time the
	 * program does the same, whatever else runs (sched_mix of a stream's number and a count).
	 */
	u64 place;
	/* Of a program that counts: where its counts are added, before `done`; else NULL. */
	struct exec_count *counts;
	/*
	 * Called once, from any thread, without locks held. What env points to must stay valid
	 * until then; the grid no longer needs anything when it is called.
	 */
	void (*done)(void *user, const struct sched_end *end);
	/*
	 * After sched_census, from any thread, without locks held; the grid is paused. NULL:
	 * not wanted.
	 */
	void (*tell)(void *user, const struct sched_progress *progress,
		     const struct sched_end *end);
	/* Add where a micro-op is, in words. NULL: not known. */
	void (*say_place)(const struct program *p, u32 pc, struct text *out);
	void *user;
};

/*
 * Start a grid; grids that are under way share the workers.
 * may_inline: the grid, or its beginning, may run on the calling thread, `done` included.
 * Returns false when the host has no memory left; `done` is not called then.
 */
bool sched_start(struct sched_pool *p, const struct sched_launch *launch, bool may_inline);
/*
 * The time that events show, in nanoseconds: it never goes back, and a launch lasts at least as
 * long as its kernel's clocks say.
 */
u64 sched_time_ns(struct sched_pool *p);
/* Does any grid run? May be called from handlers of signals. */
bool sched_is_running(const struct sched_pool *p);

/*
 * Have fn called when a grid has ended, before its `done`, from any thread; before the first grid.
 */
void sched_on_end(struct sched_pool *p, void (*fn)(void *user), void *user);

/* The grid that runs longest. False: none runs. */
bool sched_progress(struct sched_pool *p, struct sched_progress *out);

/*
 * Have every running grid tell where its threads stand (sched_launch.tell), as soon as all its CTAs
 * have had their time slices, and go on. False: none runs.
 */
bool sched_census(struct sched_pool *p);
/* Ask all running grids to stop, with this text for the report: they end with FAULT_TIMEOUT. */
void sched_interrupt(struct sched_pool *p, const char *why);
/* Ask all running grids to stop: they end with FAULT_TIMEOUT, unless they end anyway. */
void sched_cancel(struct sched_pool *p);
/* The same for those grids that work on this memory. */
void sched_cancel_of(struct sched_pool *p, const struct mem *mem);
/*
 * With sched_options.deterministic nothing runs but while the program waits for it, so that what
 * runs does not depend on how quick the host is; both return at once otherwise.
 * Grids run one after the other, in the order of their starts, each until it ends or has got
 * nowhere for a counted number of time slices, because it waits for another, or for the host.
 * sched_settle: until all have ended or wait. Calls that issue work end with it.
 */
void sched_settle(struct sched_pool *p);
/*
 * Let even those that wait go on, until one grid has ended or all wait again. False: there is none.
 */
bool sched_go(struct sched_pool *p);
/* The same, by a thread that does nothing but call it until what it waits for has ended. */
bool sched_go_wait(struct sched_pool *p);
bool sched_is_deterministic(const struct sched_pool *p);
/* Are programs to be lowered so that CTAs take turns? */
bool sched_is_stable(const struct sched_pool *p);
/* Threads that run CTAs. */
u32 sched_workers(const struct sched_pool *p);
/* Drop what is cached for a program. To be called before it is freed; none of its grids may be
 * running. */
void sched_forget(struct sched_pool *p, const struct program *program);

#endif
