/*
 * The engine: gangs of warps, and the handlers that run programs (program.h) on them.
 *
 * A *gang* is up to 8 warps of one CTA whose registers lie side by side: a 32-bit register is a row
 * of 32 * G words, a 64-bit one a row of 32 * G double words, a predicate a row of G lane masks.
 * While all warps of a gang stand at the same instruction, one handler call serves them all (gang
 * mode). A warp that leaves the others runs alone (warp mode, all its live lanes together) and,
 * when its lanes have diverged, one group of lanes at a time (masked mode). Handlers that only
 * compute have one body for all modes; those that touch memory or control ask the gang for its
 * lanes and mask.
 *
 * Lanes that have exited keep computing garbage in rows: only memory, control and synchronisation
 * look at masks. exec knows no scheduler, no listeners, no host API: it calls what struct exec_env
 * gives it.
 */
#ifndef PL_EXEC_EXEC_H
#define PL_EXEC_EXEC_H

#include "src/exec/program.h"
#include "src/mem/mem.h"

#define WARP_LANES 32u
#define FULL_MASK 0xffffffffu
#define GANG_WARPS 8u
#define CTA_NAMED_BARRIERS 16u /* of the program; after them one for each warpgroup, see wgmma */
#define WARPGROUP_WARPS 4u
#define CTA_BARRIERS (CTA_NAMED_BARRIERS + CTA_WARPS / WARPGROUP_WARPS)
#define CTA_WARPS 64u       /* that a CTA may have: its gangs are no more */
#define DIVERGED_GROUPS 16u /* of a gang's lanes that may wait; more of them run warp by warp */
#define CLUSTER_CTAS_MAX 16u
/* Shared memory of a CTA that belongs to the system: %reserved_smem_offset_begin to _end. */
#define EXEC_RESERVED_SHARED 1024u

/* Why a run ended. */
enum exec_stop {
	STOP_NONE,
	STOP_DONE,     /* all lanes have exited */
	STOP_DIVERGED, /* gang mode: the warps go different ways at `pc` */
	STOP_REJOIN,   /* warp mode: reached the gang's reconvergence point with all live lanes */
	STOP_SPLIT, /* gang mode: the warps go on one by one, from where their groups are parked */
	STOP_BARRIER, /* parked; the micro-op of the wait is in the warp's groups */
	STOP_YIELD,   /* budget used up or a polite wait: run others first */
	STOP_TURN,    /* the other warps of the CTA run first */
	STOP_LEFT,    /* warp_leave: by a loop that may be left anywhere */
	STOP_FAULT,   /* see gang->fault */
};

enum fault_kind {
#define FAULT(name, cuda_error, text) FAULT_##name,
#include "src/exec/faults.def"
#undef FAULT
};

/* Calls under way that a fault remembers. */
#define FAULT_CALLERS 8u

/* A fault is data: it ends the launch and is returned to the caller that waits for it. */
struct fault {
	enum fault_kind kind;
	u32 pc;          /* micro-op */
	u32 warp, lanes; /* lanes that faulted; the lowest is reported */
	u32 ctaid[3];
	u32 thread[3]; /* of the lowest lane */
	u64 address;
	u32 size; /* bytes accessed */
	u8 space;
	bool write;
	bool livelock; /* FAULT_DEADLOCK: threads run, but each repeats itself */
	/* calls that the lowest lane is in, innermost first; those of recursion once */
	u32 callers;
	u32 caller[FAULT_CALLERS];     /* their micro-ops */
	u32 shared_bytes, local_bytes; /* that a CTA and a thread may touch */
	char text[256];                /* more, e.g. the assertion */
};

enum group_state {
	GROUP_READY,
	GROUP_BARRIER, /* at a CTA barrier */
	GROUP_SYNC,    /* at a warp instruction, waiting for lanes of `want` */
	GROUP_CLUSTER, /* at the barrier of the cluster */
	GROUP_FROZEN,  /* ready, but a debugger holds it back */
};

/* Lanes of a warp that stand at one pc. */
struct group {
	u32 mask, pc;
	u8 state;
	u8 barrier; /* GROUP_BARRIER: which */
	u32 want;   /* GROUP_SYNC: lanes that have to come */
	u64 since;  /* for fairness: when it was parked */
};

struct warp {
	u32 live;    /* lanes that have not exited */
	u32 mask;    /* lanes of the group that runs */
	u32 pc;      /* its micro-op when it does not run */
	u32 stop;    /* lowest pc of the other ready groups, NO_PC: none */
	u32 groups;  /* parked groups */
	u32 spins;   /* backward branches since the last change of group */
	bool rotate; /* take the oldest group next, not the lowest */
	bool failed; /* an assertion; it does not go on, nor has it exited */
	u64 ticks;
	u32 cluster_arrived; /* lanes that have arrived at the cluster's barrier in this phase */
	u32 told;            /* observers: pc + 1 of the micro-op they know is coming, 0: none */
	u32 arrivals;        /* bit b: arrived[b] is not empty */
	struct group group[WARP_LANES];
	u32 arrived
		[CTA_BARRIERS]; /* lanes that have arrived at a CTA barrier and do not wait there */
};

struct gang;
struct cta;
struct exec_folds;
struct tex_table; /* src/tex/texture.h */

typedef const struct uop *exec_handler(struct gang *g, const struct uop *in);

/* Handlers by mode. */
struct exec_table {
	exec_handler *run[EXEC_OPS];
};

/*
 * MODE_ORDERED: masked, where lanes that do not take part wait at the beginnings of later blocks.
 */
enum exec_mode { MODE_GANG, MODE_WARP, MODE_MASKED, MODE_ORDERED, EXEC_MODES };

/* One host ISA level's build of all handlers. */
struct exec_ops {
	const char *level; /* "v4" */
	const struct exec_table *mode[EXEC_MODES];
	const struct exec_table
		*diverged; /* gang mode, lanes diverged; NULL: gangs do not run diverged */
	/* Run micro-ops from `in` until a handler stops. */
	void (*loop)(struct gang *g, const struct uop *in);
	/* Lanes of g's warp have exited: let warp instructions go on that waited for them only. */
	void (*settle)(struct gang *g);
	/* The same, telling the observer of the launch: observer.h. */
	const struct exec_ops *watched;
	/*
	 * For programs whose shared variables lie apart: the observer of the launch is notified of
	 * accesses that may lie between two of them, and of nothing else. As quick as the plain
	 * ones.
	 */
	const struct exec_ops *apart;
	/* The same, counting cycles in gang.clock; watched ones do anyway. */
	const struct exec_ops *counted;
};

struct exec_observer;

/* Cycles that a micro-op takes, however many warps it serves: those of an instruction that waits
 * for the one before it. */
#define EXEC_UOP_CYCLES 4u
/* What %globaltimer shows when a process begins: 2023-11-14 22:13:20 UTC. */
#define EXEC_TIMER_EPOCH 1700000000000000000u

/* The time of a launch: clock.c. All zero: clocks begin at 0. */
struct exec_clock {
	u32 khz;             /* cycles a millisecond */
	u64 start, start_ns; /* when it began, in cycles and in nanoseconds */
	u64 wave, step;      /* CTA n begins n / wave * step cycles later; wave 0: all at once */
	u64 *now; /* the latest time that a thread of the launch has seen; NULL: each has its own */
};

/* What the engine asks of its surroundings, per launch. */
struct exec_env {
	const struct program *program;
	const struct exec_ops *ops;
	struct mem *mem;
	const u8 *params; /* kernel parameters, host memory */
	u32 grid[3], block[3];
	u32 shared_bytes; /* static + dynamic, and what is reserved after them */
	u32 reserved_at;  /* offset of the EXEC_RESERVED_SHARED bytes, if the program uses them */
	u32 dynamic_shared;
	u32 local_bytes; /* local memory per thread */
	u64 grid_id;
	u32 resident;         /* CTAs that an SM of the device holds at once; 0: not known */
	u32 fetch_bytes;      /* that the second cache fetches, if the program says so; else 0 */
	s32 carveout_percent; /* preferred part of an SM's storage for shared memory; -1: none */
	/*
	 * 0: warps run in the order of their numbers, together where they can, and groups of lanes
	 * by their program counters. Else all warps run apart, in an order, for times and with a
	 * choice among groups of lanes that depend on this and the CTA's number only.
	 */
	u64 seed;
	u64 workspace;         /* of a cooperative grid, for its barrier: %envreg1 and 2; else 0 */
	u32 cluster[3];        /* CTAs of a cluster; 0 counts as 1 */
	bool explicit_cluster; /* given by the launch or the kernel */
	bool async_eager;      /* asynchronous copies complete at once (PTXLOOM_ASYNC=eager) */
	const u32 *tid;        /* %tid.x, .y, .z of the CTA's threads: three rows of warps * 32 */
	u64 param_address;     /* device address of the parameters */
	volatile u32 *cancel;  /* non-zero: stop as soon as possible */
	/* Notified of what happens; `ops` are instrumented ones then. NULL: no observer. */
	const struct exec_observer *observer;
	/* others may access global memory at the same time: workers, processes, the program */
	bool concurrent;
	/*
	 * OP_in_order waits until this, the place of the first CTA that has not ended, is the CTA's
	 * own; atomic. NULL: no CTA waits for another there.
	 */
	const u64 *first;
	struct exec_clock clock;
	bool keeps_assertions; /* the caller prints them: cta.assertions */
	void *user;
	/*
	 * An access outside allocations was let pass (struct mem: strict); with `user`. NULL:
	 * not reported.
	 */
	void (*on_overrun)(void *user, const struct fault *f);
	/* Device-side calls of the runtime (vprintf, malloc ..): see src/host/syscall.h. */
	const struct exec_syscalls *syscalls;
	const struct tex_table *textures; /* textures and surfaces by handle, NULL: none */
	const struct uop *uops;           /* what gangs run: the program's micro-ops, or tier 2's */
};

/* Lanes of a gang that stand at one micro-op. */
struct diverged_group {
	u32 pc;
	u32 mask[GANG_WARPS];
};

/* A gang whose lanes have diverged and that stays a gang: diverged.h. */
struct diverged {
	bool on;
	u32 groups;           /* that wait */
	u32 stop;             /* the lowest of their micro-ops, NO_PC: none */
	u32 spins;            /* backward branches since lanes diverged */
	u32 outer;            /* reconvergence point of all lanes, NO_PC: none */
	u32 live[GANG_WARPS]; /* lanes that have not exited; warp.live has those that run */
	struct diverged_group group[DIVERGED_GROUPS + 1];
};

/*
 * The state of a gang: warps first_warp .. first_warp + warps - 1 of its CTA. In warp and masked
 * mode lane0, lanes, warp and active narrow it to one warp.
 */
/* How far an access goes on from one call of compiled code to the next. */
struct exec_stride {
	u64 at;    /* the host's address, in the last call */
	s64 step;  /* since the one before */
	s64 ahead; /* step, if it was the same twice; else 0 */
};
#define EXEC_STRIDES 64u

struct gang {
	u8 *regs;
	u32 lane0, lanes; /* lanes to work on: first in the rows, how many (multiple of 32) */
	u32 active;       /* warp and masked mode: lanes that take part; gang mode: FULL_MASK */
	u32 warp;         /* first warp to work on, counted in this gang */
	u32 warps;        /* in this gang */
	u32 first_warp;   /* in the CTA */
	bool full;        /* gang mode: every lane of every warp is live */
	/* enum uop_flag: loads with one of them may write for lanes that take no part, too */
	u16 overwrite;
	u8 mode; /* enum exec_mode */
	u8 stop; /* enum exec_stop */
	/* backward branches left before a yield; those of polling loops count EXEC_POLL_COST */
	s32 budget;
	bool polled; /* the budget was used up by a polling loop */
	const struct exec_table *table;
	const struct uop *uops;
	const struct exec_env *env;
	struct cta *cta;
	struct warp *warp_at;      /* the gang's warps */
	struct mem_cache *caches;  /* allocation caches of the worker */
	struct exec_count *counts; /* of the CTA's storage: program->counts, NULL: none */
	/* Accesses reported to the observer later, by allocation cache: fold.h; NULL: none */
	struct exec_folds **folds;
	u8 *shared;        /* of the CTA */
	u8 *local;         /* local memory of the gang's first thread */
	u32 pc;            /* where a gang stopped, or goes on */
	bool quiet;        /* an observer needs no steps of it at present (exec_observer.rests) */
	bool together;     /* all warps stand at pc: run in gang mode */
	u32 rejoin;        /* warp mode: gang's reconvergence point, NO_PC: none */
	u32 rejoin_passes; /* in which warps waited there and others used up their slices */
	/* Cycles, in programs that read clocks; and of a loop that only waits for one. */
	u64 clock, wait_from, wait_last;
	u32 wait_pc; /* the micro-op that reads it, NO_PC: none */
	struct fault *fault;
	void *scratch; /* 32 double words, for masked mode */
	/* Compiled runs, src/tier/op_tier.c: calls, and strides by allocation cache */
	u32 calls;
	struct exec_stride stride[EXEC_STRIDES];
	struct diverged diverged;
};

struct cta {
	const struct exec_env *env;
	u32 id[3];
	u64 number; /* linear index in the grid */
	u64 place;  /* when it, or its cluster, was dealt: which of them are before it */
	u32 warps, threads;
	u32 gangs;
	u32 live_warps;
	struct warp *warp;
	struct gang *gang;
	u8 *shared;
	u8 *local;
	struct barrier {
		u32 more; /* threads that have arrived once more in a phase, without waiting */
		u32 popc; /* bar.red: true predicates so far */
		bool any, not_all;
	} barrier[CTA_BARRIERS];
	struct cluster *cluster; /* NULL: the CTA is its own cluster */
	u32 rank;                /* in the cluster */
	u64 launches;            /* that the storage has served; marks what was found out for one */
	bool launched;           /* rows that are the same for all CTAs of the launch are there */
	u64 fixed_true,
		fixed_false; /* predicate rows that have the same value for all lanes then */
	bool diverged;       /* exec_cta_start has more to do than to bring lanes to life */
	bool blocked; /* the last run yielded because all wait for other CTAs of the cluster */
	bool idle;    /* and had nothing to do from the start */
	u32 rests;    /* passes in which gangs let others go first */
	u64 random;   /* state of the random numbers of a seeded run, else 0 */
	u64 patterns; /* of folded accesses that the storage has seen: fold.h */
	struct async_cta *async; /* copies under way, NULL: never any; src/async/async.h */
	/*
	 * Why the last run yielded: its budget was spent, not to be polite; and a polling loop
	 * spent it.
	 */
	bool used_up, polled;
	struct fault fault;
	/*
	 * Output of vprintf so far, for a caller that orders it; NULL: it goes out at once.
	 */
	struct text *print;
	bool failed;            /* an assertion of a warp */
	struct text assertions; /* what they say, where the launch keeps it; owned */
};

/*
 * CTAs that run together and see each other's shared memory. One worker runs all of them; none of
 * their storage may be used for other CTAs before all have ended.
 */
struct cluster {
	u32 size;
	struct cta *cta[CLUSTER_CTAS_MAX]; /* by rank: x runs fastest */
	u32 done;                          /* bit r: has ended */
	u32 faulted;                       /* after STOP_FAULT: rank of the CTA with the fault */
	/* As of a CTA, of the last run: a budget was spent; and only by loops that poll. */
	bool used_up, polled;
};

/*
 * The build of the handlers for this host (or the level named, e.g. by PTXLOOM_HOST_ISA); NULL: no
 * such level here.
 */
const struct exec_ops *exec_ops_select(const char *level);

/* ---- running: run.c ---- */

/*
 * Fill the constant rows of fresh storage: once for each program, before the first exec_cta_start.
 */
void exec_cta_prepare(struct cta *c);
/*
 * Set up the warps of a CTA at the program's first micro-op. Storage is the caller's, who clears
 * `launched` when it serves another launch.
 */
void exec_cta_start(struct cta *c);
/*
 * How many of the `most` CTAs from the one whose id is set (exec_cta_start need not have been
 * called), one after the other in x, need not be run: all their threads would return without having
 * done anything. 0 also where the engine cannot tell at once.
 */
u64 exec_cta_idle(struct cta *c, u64 most);
/*
 * Run one CTA until it is done, faults, waits for other CTAs (yields), or is cancelled.
 * budget: backward branches of one gang or warp (those of polling loops count EXEC_POLL_COST), and
 * barriers passed, before it yields with `used_up` set. Returns STOP_DONE, STOP_FAULT or
 * STOP_YIELD.
 */
enum exec_stop exec_cta_run(struct cta *c, s32 budget);

/*
 * Run the CTAs of a cluster, each set up by exec_cta_start with `cluster` and `rank` in place,
 * until all are done, one faults (cluster->faulted), or all that can run have used up their slices.
 * budget: of each CTA; and rounds of the barrier of the cluster.
 */
enum exec_stop exec_cluster_run(struct cluster *cl, s32 budget);
/* Warps with a failed assertion do not go on when the CTA does; they have not exited either. */
void exec_cta_halt_failed(struct cta *c);
/* Free what running has allocated for a CTA beside its storage: call stacks, queues of copies. */
void exec_cta_free(struct cta *c);

/* Random numbers of a seeded run: the same for a CTA on every worker. */
static inline u64 exec_random_start(u64 seed, u64 number)
{
	return hash_bytes(&(u64[2]){seed, number}, 2 * sizeof(u64)) | 1;
}

static inline u32 exec_random_below(struct cta *c, u32 n)
{
	u64 x = c->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	c->random = x;
	return (u32)((x >> 32) * n >> 32);
}

/* Pay for a backward branch. */
static inline void exec_pay(struct gang *g, const struct uop *in)
{
	if (PL_UNLIKELY(in->flags & UOPF_POLL)) {
		g->budget -= EXEC_POLL_COST;
		g->polled |= g->budget <= 0;
	} else {
		g->budget--;
	}
}

/*
 * ---- for handlers in warp and masked mode: warp.c. All return the micro-op to run next, NULL to
 * stop. ----
 */

/* The running group reaches `in`, where other groups or the rest of the gang may wait. */
const struct uop *warp_arrive(struct gang *g, const struct uop *in);
/* The running group goes on at `pc` as a whole. */
const struct uop *warp_jump(struct gang *g, u32 pc);
/* As warp_jump, backwards: pays from the budget and lets starving groups run. */
const struct uop *warp_back(struct gang *g, const struct uop *in, u32 pc);
/* Part the running group: lanes `taken` go to `target`, the rest to `next`. */
const struct uop *warp_split(struct gang *g, u32 taken, u32 target, u32 next);
/*
 * Every lane of the running group goes to its own micro-op. back: the branch that may lead
 * backwards, NULL: none does.
 */
const struct uop *warp_scatter(struct gang *g, const u32 *targets, const struct uop *back);
/* Lanes `gone` of the running group exit, the rest goes on at `next`. */
const struct uop *warp_exit(struct gang *g, u32 gone, u32 next);
/* The running group goes on at `pc`, forwards or backwards, without paying: calls and returns. */
const struct uop *warp_goto(struct gang *g, u32 pc);
/* After a failed wait: others run first, the group goes on at `pc`. */
const struct uop *warp_yield(struct gang *g, u32 pc);
/* Go on at pc after the other warps of the CTA have run; at once if lanes have diverged. */
const struct uop *warp_turn(struct gang *g, u32 pc);
/* Park lanes; for the scheduler and the synchronising handlers. */
void warp_park(struct warp *w, struct group group);
/* Run the next ready group of the gang's warp; NULL and g->stop when there is none. */
const struct uop *warp_next(struct gang *g);
/* Special registers: one value for the CTA (component 0..3), or one per lane. */
u64 exec_sreg_uniform(struct gang *g, u32 sreg, u32 component);
u32 exec_sreg_lane(u32 sreg, u32 lane, u32 warp);
/* ---- clocks: clock.c ---- */

/* The gangs of a CTA that begins get the time of its start. */
void exec_clock_start(struct cta *c);
/* The time of the gang that is furthest, in cycles; and all of them get that. */
u64 exec_clock_of(const struct cta *c);
void exec_clock_meet(struct cta *c);
u64 exec_clock_read(struct gang *g, u32 sreg);
/* Micro-op pc is about to read a clock. waits: its loop does nothing but wait for one. */
void exec_clock_wait(struct gang *g, u32 pc, bool waits, u32 warps);
/* So many warps of the gang sleep. */
void exec_clock_sleep(struct gang *g, u32 ns, u32 warps);
u64 exec_clock_cycles(const struct exec_clock *c, u64 ns);
u64 exec_clock_ns(const struct exec_clock *c, u64 cycles);

/* ---- barriers: barrier.c; the running group of a warp ---- */

const struct uop *barrier_sync(struct gang *g, const struct uop *in);
const struct uop *barrier_arrive(struct gang *g, const struct uop *in);
const struct uop *barrier_red(struct gang *g, const struct uop *in);
/* The live warps of a warpgroup meet. */
const struct uop *barrier_warpgroup(struct gang *g, const struct uop *in);
const struct uop *barrier_cluster_wait(struct gang *g, const struct uop *in);
/*
 * A whole gang arrives; barrier number and thread count (0: all threads) of micro-op `in` for lane
 * `lane` of the gang.
 */
u32 barrier_number(const struct gang *g, const struct uop *in, u32 lane);
u32 barrier_threads(const struct gang *g, const struct uop *in, u32 lane);
/*
 * Let groups go at barriers, of the CTA and of its cluster, that are complete. Returns whether any
 * did.
 */
bool barrier_release(struct cta *c);
/*
 * Groups of the running warp became ready from outside: look again where the running one, now at
 * `pc`, has to stop.
 */
void warp_look_again(struct warp *w, u32 pc);

/* Raise a fault of these lanes; ends the run. */
const struct uop *exec_fault(struct gang *g, const struct uop *in, enum fault_kind kind, u32 lanes);
/* Does the micro-op of an access write? */
bool exec_is_store(const struct uop *in);
enum mem_access exec_access(const struct uop *in);
/*
 * mem_cache_fill for lane `lane` of the gang, counted from its running warp. False: nothing that
 * the access may touch is there.
 */
bool exec_cache_fill(struct gang *g, const struct uop *in, u64 addr, u64 size, u32 lane,
		     enum mem_access access);
/* A lane does what is in `f` and hardware does not notice: fill in the rest, and report it. */
void exec_overrun(struct gang *g, const struct uop *in, u32 lane, struct fault *f);

#endif
