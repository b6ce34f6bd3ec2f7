/*
 * Private to src/sched: slots (storage of one CTA), shares (one worker's part of a grid), grids,
 * the pool.
 *
 * Locks: pool->lock guards the list of grids, who is busy with which share, and the caches of slots
 * and grids; grid->lock guards the ranges of CTAs and what is reported at the end. A share is
 * private to the thread that is busy with it. pool->lock is never taken while grid->lock is held.
 */
#ifndef PL_SCHED_INT_H
#define PL_SCHED_INT_H

#include "src/sched/rest.h"
#include "src/sched/sched.h"
#include "src/base/text.h"
#include "src/base/vec.h"

#include <pthread.h>

/* Budget of a time slice: 8192 rounds of a loop that computes, some 0.1 to 1 ms, or 128 of one that
 * polls. */
#define SLICE_BUDGET 8192
/*
 * Of a CTA that did nothing but poll in its last time slice: a few looks, then others may change
 * what it waits for.
 */
#define POLL_BUDGET 256
/* Of the first time slice of a CTA of a small grid, which the calling thread may run. */
#define INLINE_BUDGET 1024
/* Polite yields that count as one time slice. */
#define LIGHT_YIELDS 8u
/* Rounds in which no CTA ended, though some computed, before more of them become resident. */
#define STALE_ROUNDS 16u
/*
 * A worker whose CTAs only wait gives its core away so often: about when a busy host would take it.
 */
#define YIELD_NS 4000000u
/*
 * A share whose CTAs have only waited for SPIN_NS is left to the other workers of the grid; a
 * worker without a share looks every DOZE_NS whether one has been waiting for so long. A round
 * longer than twice the shortest of its share, and by WORK_NS, did something beside waiting.
 */
#define SPIN_NS 100000u
#define DOZE_NS 250000u
#define WORK_NS 20000u
/* CTAs that may end before those that wait get another time slice. */
#define RETRY_EVERY 8u
/* Largest piece of a range that a share takes at once; the rest can be stolen. */
#define CHUNK_MAX 1024u
/* CTAs that end, or 64th parts of a time slice, before another grid gets its share of a worker. */
#define STINT 64u
/* Warp instructions, by the program's estimate, up to which a grid is run by the calling thread:
 * some 50 us. */
#define INLINE_WORK 50000u
/* After this time others help: loops make the estimate too small. */
#define INLINE_NS 100000u
/*
 * Deterministic: time slices that a grid gets that may wait for others, and rounds in which all its
 * resident CTAs do nothing but wait, before others run.
 */
#define ORDERED_SLICES 4096u
#define ORDERED_ROUNDS 64u
/* A grid that waits goes on by itself when the program has issued nothing for so long: it may be
 * watching the grid through memory. */
#define ORDERED_IDLE_NS 1000000000u
/* Slots kept for launches to come: always so many; and more, up to a number and an amount of bytes,
 * as all CTAs of a cooperative grid sit at once and would be made anew for every launch. */
#define SLOTS_CACHED 32u
#define SLOTS_CACHED_MAX 1024u
#define SLOTS_CACHED_BYTES (256ull << 20)
#define GRIDS_CACHED 16u

/* Storage of one CTA, kept for further CTAs of the same program and shape. */
struct cta_slot {
	struct cta_slot *next; /* in a list */
	struct exec_env env;
	struct cta cta;
	const struct program *program;
	u32 block[3];
	u32 shared_cap;
	u64 local_size; /* of the whole CTA */
	u64 bytes;      /* of the whole slot, local memory that is never touched included */
	u32 epoch;      /* of the device memory that the allocation caches are about */
	/*
	 * Reset for each CTA: 8 bytes side by side, so that the compiler does it by one store. The
	 * last two are flags.
	 */
	u32 light;        /* polite yields in this time slice */
	u16 had_slice;    /* since the CTA began */
	u16 is_long;      /* it needed more than one */
	bool tells;       /* the launch wants to know what CTAs print, or their clocks */
	u64 place;        /* when its unit was dealt: the order of what it prints */
	struct text text; /* printed and not yet put out */
	/*
	 * Of a probe: state of the CTA, or cluster, at an earlier time slice; it was there again;
	 * random numbers.
	 */
	u64 probe_state, probe_random;
	bool probe_still;
	/* The first CTA of a cluster stands for all of it; the others hang on it, in the order of
	 * their ranks. */
	struct cluster cluster;
	struct cta_slot *mate;
	u8 *regs;
	u32 *tid;
	void *scratch;
	struct steer_warp *steer;  /* of each warp, in launches that are steered; else NULL */
	struct exec_folds **folds; /* by allocation cache, so many; NULL: none yet */
	u32 folds_len;
};

struct slot_list {
	struct cta_slot *first, **last;
	u32 len;
	u64 bytes; /* of all its slots */
};

struct sched_grid;

/*
 * A worker's part of a grid: a range of CTAs not yet begun, and the CTAs that are resident. Where
 * CTAs form clusters, everything here counts clusters.
 */
struct share {
	struct sched_grid *grid;
	u32 index;
	bool busy;            /* some thread works on it */
	bool dry;             /* no CTA is left to begin */
	u64 next, end;        /* to begin; others may steal from it */
	u64 chunk, chunk_end; /* taken out of it */
	u64 started;          /* number of the CTA begun last + 1 */
	u64 print_floor;      /* no CTA of a lower place will run here; grid->lock */
	u32 id[3];            /* of it */
	/* CTAs to begin without asking whether they are idle; and as many last time */
	u32 pause, busy_run;
	struct slot_list idle, waiting;
	u32 target;      /* CTAs that may be resident now; grows while nothing ends */
	u32 limit;       /* and what it may grow to */
	u32 round;       /* time slices since all waiting CTAs had one */
	u32 since_retry; /* CTAs that have ended since */
	bool progress;   /* in this round a CTA ended, or one computes */
	u32 stale;       /* rounds since a CTA ended */
	bool ended;      /* a CTA has, since probe_consider looked */
	/* none has ended since; when it has been quiet for so long, there is a probe */
	u64 quiet_since, quiet_ns;
	u32 quiet_slices, quiet_left; /* deterministic: the same in slices, and those left of it */
	/* Several workers; see "shares that only wait" in share.c. */
	/* when this round began, 0: not known; and how long the shortest took */
	u64 round_ns, shortest_ns;
	u64 worked_ns; /* when one of its CTAs last did something beside waiting */
	u64 left_ns;   /* when a worker left it; pool->lock */
	bool waits;    /* a worker has left it since its CTAs only waited */
	u64 finished;  /* not yet subtracted from grid->left */
	u64 served;    /* when a worker took it last, for fairness; pool->lock */
	u32 slices;    /* deterministic: that did not end a CTA, since the grid may run again */
	u32 still;     /* and rounds without progress */
	u64 random;
};

/* Text of a CTA, or of all those of a cluster. */
struct print {
	u64 place, serial;
	struct text text;
};

struct prints {
	struct print *at;
	size_t len, cap;
};

/* Why the shares of a grid leave it for a moment: it is probed, or tells where its threads are. */
#define PAUSE_PROBE 1u
#define PAUSE_CENSUS 2u

struct steer;
struct debug_grid;
struct debug_hooks;
struct debug_memory;

struct sched_grid {
	struct sched_pool *pool;
	struct debug_grid *debug; /* it runs under a debugger: debug_int.h */
	struct sched_grid *next;  /* list of running or of cached grids */
	struct sched_launch launch;
	pthread_mutex_t lock;
	pthread_mutex_t print_lock; /* before grid->lock; guards prints and print_serial */
	struct prints prints;
	u64 print_serial;
	u64 last_clock;   /* when the CTA ended that ended last, by its clock; atomic */
	u64 timer_ns;     /* the latest %globaltimer that was read; atomic */
	u64 begun_ns;     /* sched_time_ns, where the program reads clocks */
	u64 units;        /* clusters; CTAs where they form none */
	u32 unit_grid[3]; /* how they lie in the grid */
	u32 unit_ctas;    /* CTAs of one */
	u64 left;         /* units that have not ended; atomic */
	u32 stop;         /* non-zero: end as soon as possible; atomic */
	u32 busy;         /* shares being worked on; pool->lock */
	/* shares that were left since their CTAs only waited; changed under pool->lock, atomic */
	u32 waits;
	u64 yielded_ns;           /* when a worker last let other threads of the host run; atomic */
	u64 serial, submitted_ns; /* when it was given to the workers; pool->lock */
	u32 pause; /* PAUSE_..: all shares leave the grid, and the last one sees to that; atomic */
	bool ordered;    /* begin CTAs by number; grid->lock */
	bool single;     /* one worker runs all CTAs: turns.c */
	u64 first;       /* exec_env.first; atomic */
	bool probe_late; /* the last probe has not had enough time; parts of it that this one had */
	u32 probe_parts;
	bool stalled; /* deterministic: has had its time slices for now; atomic */
	bool faulted;
	bool is_small; /* grid_is_small */
	u64 deadline;  /* CLOCK_MONOTONIC nanoseconds, 0: none */
	/* seeded order: unit i is (i * multiplier + offset) mod units; 0: natural */
	u64 multiplier;
	u64 offset, seed;
	struct fault fault;
	struct sched_waiter *waiters;
	u32 waiter_len;
	u64 waiter_total;
	u32 shares;
	struct share share[];
};

/* Conditions that threads rest at, at once. */
#define RESTS_MAX 64u

struct rest {
	const pthread_cond_t *cond;
	u32 threads;
	u64 turn; /* counts calls of sched_wake */
};

struct sched_pool {
	struct sched_options options;
	u32 workers, cores; /* threads; cores of the host that the process may use */
	pthread_mutex_t lock;
	pthread_cond_t work;  /* a grid or a share has become available */
	pthread_mutex_t only; /* one worker: held by the thread that runs grids */
	pthread_t *threads;
	u32 thread_len;
	bool threads_tried;
	bool go;              /* deterministic: the worker may run grids */
	pthread_cond_t quiet; /* it may not any more */
	bool quit;
	struct sched_grid *grids; /* running, oldest first */
	u32 grid_len;             /* atomic */
	u32 turn;                 /* which grid to try first */
	u64 served;
	void (*on_end)(void *user); /* NULL: none is wanted */
	void *on_end_user;
	u64 serials;  /* grids that were given to the workers */
	u32 sleeping; /* threads that wait for work */
	u32 dozing;   /* those of them that check at times whether a share waits for long */
	u64 time_ns;  /* of the emulated machine, when the last launch ended; atomic */
	u64 ahead_ns; /* what sched_time_ns is ahead of the host's clock; atomic */
	u64 alive;    /* grids whose `done` has not returned; atomic */
	struct sched_grid *spare;
	u32 spare_len;
	struct slot_list slots; /* cached, oldest first */
	/* Who rests: rest.c. resting: threads in all; rests: counts those that ceased to. */
	pthread_mutex_t rest_lock;
	const struct debug_hooks *debug;   /* NULL: there is no debugger */
	struct steer *steer;               /* NULL: there is no schedule; owned */
	struct debug_memory *debug_memory; /* owned */
	struct rest rest[RESTS_MAX];
	u32 resting, apart;
	bool (*handler_is_apart)(int number,
				 const struct sigaction *a); /* sched_handlers_apart; atomic */
	u64 rests;
};

/* ---- debug_grid.c ---- */

/* Launches are steered by options.schedule (steer.h). False: no memory. */
bool sched_steer(struct sched_pool *p);

/* ---- slot.c ---- */

/* A slot for CTAs of this launch; from the cache, or new. NULL: no memory. */
struct cta_slot *slot_take(struct sched_grid *g);
/* One from the cache, NULL: none fits. pool->lock held. */
struct cta_slot *slot_cached_locked(struct sched_pool *p, const struct exec_env *e);
/* Make a slot ready for CTAs of this grid. */
void slot_adopt(struct cta_slot *s, const struct sched_grid *g);
/* Put slots back into the pool's cache; `list` is empty afterwards. pool->lock held. */
void slot_return_locked(struct sched_pool *p, struct slot_list *list);
/* Add what programs have counted in the slots of a list, which count from 0 again. */
void slot_gather(const struct slot_list *l, struct exec_count *to);
void slot_free(struct cta_slot *s);
/* A grid has ended: tell its observer of the accesses that slots have kept. Without locks. */
void slot_tell_folds(const struct slot_list *l);
void slot_list_init(struct slot_list *l);
void slot_push(struct slot_list *l, struct cta_slot *s);
struct cta_slot *slot_pop(struct slot_list *l);
/* Append a slot and those that form a cluster with it, each on its own. */
void slot_part(struct slot_list *l, struct cta_slot *s);

/* ---- turns.c: PTXLOOM_STABLE ---- */

/* How a new grid's CTAs take turns, if they do. */
void turns_begin(struct sched_grid *g);
/* A unit's time slice is over: it is in the list of those that wait, or has ended. */
void turns_after_slice(struct share *h);

/* ---- clock.c ---- */

/* Set a new grid's clock. */
void grid_clock_begin(struct sched_grid *g);
/* A CTA has ended. */
void grid_clock_note(struct sched_grid *g, const struct cta *c);
/* All of them have. */
void grid_clock_end(struct sched_grid *g);

/* ---- prints.c: of programs that print ---- */

/* The first place of a CTA that may still run, after a time slice of the share. grid->lock held. */
u64 prints_floor_locked(struct share *h);
/* A unit's time slice is over, or the unit; it is in the list of those that wait, or has ended. */
void prints_after_slice(struct share *h, struct cta_slot *s);
/* No worker is in the grid any more: put out the rest. */
void prints_end(struct sched_grid *g);

/* ---- grid.c ---- */

/* So short, as far as one can tell beforehand, that the calling thread may run it. */
bool grid_is_small(const struct sched_launch *l);
/*
 * A grid from the pool's cache or new, its CTAs dealt to one share, for the thread that runs it
 * `alone`, or to one for each worker that they are enough for. NULL: no memory.
 */
struct sched_grid *grid_new(struct sched_pool *p, const struct sched_launch *launch, bool alone);
/* Deal what share 0, so far the only one, has not begun to those of all workers. */
void grid_spread(struct sched_grid *g);
void grid_free(struct sched_grid *g);
/* End the grid with a fault; the first one counts. */
void grid_fail(struct sched_grid *g, const struct fault *fault);
/* Has every CTA ended, or is the grid to stop? */
bool grid_is_over(const struct sched_grid *g);
/* Units that the device has room for at a time. */
u64 grid_resident_units(const struct sched_grid *g);
/* End the grid with FAULT_TIMEOUT when its time is up. grid->lock not held. */
void grid_check_deadline(struct sched_grid *g);

/* ---- share.c ---- */

/*
 * Work on a share that the caller has marked busy: until nothing is left for it, the grid stops,
 * or, `once`, the first time slice ends without the end of its CTA; and for a stint only while
 * other grids wait.
 */
void share_work(struct share *h, bool once);
/* Does it have anything to do? */
bool share_is_open(const struct share *h);
/*
 * Take note of how a time slice of a unit, in no list now, ended. Returns the share of a stint that
 * it took.
 */
u32 share_settle(struct share *h, struct cta_slot *s, enum exec_stop stop);
/* Count the units that have ended in the share off those of its grid. */
void share_report(struct share *h);
/* One time slice of a CTA, or of all of its cluster. */
enum exec_stop slot_run_slice(struct cta_slot *s, s32 budget);
/*
 * Begin the unit at a place in the grid's order, with share 0, whose piece is lost. NULL: it has
 * nothing to do, or the host has no memory.
 */
struct cta_slot *grid_begin_unit(struct sched_grid *g, u64 place);
/*
 * The two steps of that, for who deals units himself: storage for one (NULL: the host has no
 * memory), and its beginning as unit `number`.
 */
struct cta_slot *grid_take_unit(struct sched_grid *g);
void grid_start_unit(struct sched_grid *g, struct cta_slot *s, u64 number);

/* ---- assertions.c ---- */

/*
 * Of a grid that has faulted: print the assertions that have failed, by CTA. When they are why it
 * ended, CTAs that would have been resident go on first. No share may be busy; what is left of
 * their ranges is lost.
 */
void grid_end_assertions(struct sched_grid *g);

/* ---- waiters.c ---- */

/* Fill in where the threads of a grid stand. No share may be busy. */
void grid_collect_waiters(struct sched_grid *g, struct sched_end *end);
/* How many CTAs have not begun. No share may be busy. */
u64 grid_unstarted(const struct sched_grid *g);

/* ---- census.c ---- */

/*
 * See to why the shares were to leave the grid. None may be busy. pool->lock held, released
 * temporarily.
 */
void grid_pause_locked(struct sched_grid *g);

/* ---- running.c ---- */

/* How far the grid is. */
void grid_fill_progress(struct sched_grid *g, struct sched_progress *out);

/* ---- probe.c ---- */

/*
 * All waiting units of a share had a time slice: is it time to ask whether they will ever end? now:
 * clock_ns()
 */
void probe_consider(struct share *h, u64 now);
/* Only the grid can change memory, and no other thread could since a call with the same *rests. */
bool grid_is_alone(const struct sched_grid *g, u64 *rests);
/* End the grid with FAULT_DEADLOCK if it can never end. No share may be busy. */
void grid_probe(struct sched_grid *g);

/* ---- debug_grid.c ---- */

/*
 * As share_work on the only share of a grid of a pool that has a debugger: until it is over, or
 * waits for something outside itself.
 */
void debug_work(struct sched_grid *g);
/* It is over, or was cancelled: tell the debugger. */
void debug_conclude(struct sched_grid *g);
/* The pool goes away. */
void debug_fini(struct sched_pool *p);
/* A program goes: launches of it cannot be gone back to. */
void debug_forget_program(struct sched_pool *p, const struct program *program);

/* ---- rest.c ---- */

/*
 * Can no thread of the process but workers do anything? *rests changes when one could in between.
 */
bool sched_all_rest(struct sched_pool *p, u64 *rests);

static inline u64 sched_random(u64 *state)
{
	u64 x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return x;
}

#endif
