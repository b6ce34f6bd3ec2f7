/*
 * Launches under a debugger: one grid at a time, one thread, warps always apart, every PTX
 * instruction a micro-op of its own (struct lower_options, one_to_one), so that a launch does the
 * same every time and the debugger can go back in it.
 *
 * A pool that has hooks runs its grids by debug_grid.c instead of by shares. The warp that runs
 * next is chosen by rules (lowest CTA, lowest warp that can go on, lowest group; none that is
 * frozen) unless a hook asks for another. Before each instruction of a warp's group the hooks are
 * asked; they may block for as long as they like, which is how a debugger stops: all state of the
 * launch is where it was. What they answer decides how it goes on.
 *
 * Time is the number of PTX instructions that groups of lanes have begun, in this launch and those
 * before. Copies of the resident CTAs are kept now and then, and what writes to device memory
 * replace, up to a number of bytes; going back restores the last copy before and goes on there.
 * Launches that have ended are kept in the same bytes: when one that was gone back to ends again,
 * the next begins again, with what the host had done between them.
 */
#ifndef PL_SCHED_DEBUG_H
#define PL_SCHED_DEBUG_H

#include "src/exec/observer.h"
#include "src/lower/lower.h"
#include "src/sched/sched.h"

enum debug_verdict {
	DEBUG_GO_ON,
	/* not yet: choose again what runs, after what was frozen, thawed or asked for */
	DEBUG_TURN,
	/* leave all as it is, restore what debug_back has named, and run on from there */
	DEBUG_BACK,
	DEBUG_END, /* end the launch, as if it had been cancelled */
};

struct debug_grid;

struct debug_hooks {
	void *user;
	/* Copies and replaced memory that may be kept, in bytes; 0: there is no going back. */
	u64 history_bytes;
	void (*launch_begin)(void *user, struct debug_grid *d);
	/*
	 * It has ended, well or not; state is still there, but there is no going back in it. Later
	 * launches may go back to it, until launch_gone.
	 */
	void (*launch_end)(void *user, struct debug_grid *d, const struct fault *fault);
	/* It has ended, and cannot be gone back to any more: what is known of it is void. */
	void (*launch_gone)(void *user, struct debug_grid *d);
	/*
	 * Lanes exec_step_mask(g, 0) of warp g->first_warp + g->warp of g->cta are about to run
	 * `in`, the first micro-op of a PTX instruction; debug_time(d) instructions have begun
	 * before it.
	 */
	enum debug_verdict (*step)(void *user, struct debug_grid *d, struct gang *g,
				   const struct uop *in);
	/*
	 * Is `step` wanted before every instruction? If not, it is called at those that debug_mark
	 * has named, before the first one after the launch has begun or was gone back to, and now
	 * and then. May change in any hook; what another thread changes is noticed within some ten
	 * thousand instructions. NULL: always.
	 */
	const bool *attentive;
	/* As of struct exec_observer, and for every kind of access and copy. NULL: not wanted. */
	void (*access)(void *user, struct debug_grid *d, const struct exec_access *a);
	void (*sync)(void *user, struct debug_grid *d, const struct exec_sync *s);
	/*
	 * Are they wanted now? May change in any other hook; launches are quicker without. NULL:
	 * always.
	 */
	const bool *wants_access;
	/*
	 * Lanes have faulted, or no thread can continue (FAULT_DEADLOCK), or loops only wait for
	 * each other for good. All state is as it was before the instruction. DEBUG_GO_ON: the
	 * launch ends with it.
	 */
	enum debug_verdict (*fault)(void *user, struct debug_grid *d, const struct fault *f);
	/*
	 * All CTAs have ended, and the launch is about to: it can be gone back in for the last
	 * time. NULL: not wanted.
	 */
	enum debug_verdict (*over)(void *user, struct debug_grid *d);
	/*
	 * Resident CTAs only wait for something outside the launch: the host, another stream, a
	 * clock. Called now and then; must not block except to stop.
	 */
	enum debug_verdict (*idle)(void *user, struct debug_grid *d);
	/* A kernel prints this. True: it is not to be seen. NULL: it always is. */
	bool (*print)(void *user, struct debug_grid *d, const char *text, size_t len);
	/* Launches may take as long as without these hooks, and no longer. */
	bool keeps_limits;
};

/* Before the first grid; borrowed. The pool is to have been made with `deterministic`. */
void sched_set_debug(struct sched_pool *p, const struct debug_hooks *hooks);
const struct debug_hooks *sched_debug(const struct sched_pool *p);

/* ---- the launch ---- */

const struct exec_env *debug_env(const struct debug_grid *d);
/* What the launch's caller passed: struct sched_launch, user; NULL of one that has ended. */
void *debug_launch_user(const struct debug_grid *d);
u64 debug_time(const struct debug_grid *d);
/* The time when the launch began. */
u64 debug_start(const struct debug_grid *d);
/* CTAs of the grid; those that have ended; those that have not begun. */
u64 debug_ctas(const struct debug_grid *d);
u64 debug_ctas_done(const struct debug_grid *d);
u64 debug_ctas_unstarted(const struct debug_grid *d);
/* The n-th resident CTA, by number; NULL past the last. */
struct cta *debug_resident(const struct debug_grid *d, u32 n);
/* The resident CTA of this linear number, NULL: it is not resident. */
struct cta *debug_cta(const struct debug_grid *d, u64 number);
/* Is it one of those that have ended? */
bool debug_cta_is_done(const struct debug_grid *d, u64 number);

/*
 * Where `step` is called while it is not wanted everywhere: a byte for each micro-op of the program
 * that is not 0; NULL: everywhere. Copied. Other programs than the launch's own are left out.
 */
void debug_mark(struct debug_grid *d, const struct program *p, const u8 *marks);

/* The hook has become attentive in the middle of an instruction: it is asked before the next. */
void debug_ask_soon(struct debug_grid *d);

/* ---- which warp runs next ---- */

/* Freeze (or thaw) lanes of a warp: they do not go on, and others that need them wait. */
void debug_freeze(struct debug_grid *d, u64 cta, u32 warp, u32 lanes, bool freeze);
u32 debug_frozen(const struct debug_grid *d, u64 cta, u32 warp);
/*
 * From the next turn on only these go on, until they have to wait: then others come, one turn at a
 * time, as long as they are needed. cta UINT64_MAX: no preference.
 */
struct debug_preference {
	u64 cta;
	u32 warp;  /* UINT32_MAX: all of the CTA */
	u32 lanes; /* 0: all of the warp */
};
void debug_prefer(struct debug_grid *d, const struct debug_preference *p);

/* ---- groups of lanes ---- */

enum debug_group_state {
	DEBUG_RUNNING, /* it is about to run the instruction that hooks are asked about */
	DEBUG_READY,
	DEBUG_BARRIER, /* at barrier `barrier` of the CTA, for `want` threads */
	DEBUG_SYNC,    /* at a warp instruction, for lanes `want` */
	DEBUG_CLUSTER, /* at the barrier of the cluster */
	DEBUG_FROZEN,
};

struct debug_group {
	u32 mask;
	u32 pc; /* micro-op: of the instruction it is about to run, or waits in */
	u8 state, barrier;
	u32 want;
};

/* The groups of a warp's live lanes, by pc; returns how many. */
u32 debug_groups(const struct debug_grid *d, const struct cta *c, u32 warp,
		 struct debug_group out[WARP_LANES]);

/* ---- frames and registers of a lane ---- */

struct debug_frame {
	const struct program_func *func;
	u32 pc;    /* innermost: the instruction to run; others: the call that is under way */
	u32 local; /* where its variables are in the thread's local memory */
	u32 depth; /* 0: innermost */
};

#define DEBUG_FRAMES_MAX 4096u

/* The calls a live lane is in, innermost first; returns how many, at most `max`. */
u32 debug_frames(const struct debug_grid *d, const struct cta *c, u32 warp, u32 lane,
		 struct debug_frame *out, u32 max);
/*
 * A register of the frame's function by its index in ir_func; up to 16 bytes, a predicate is one
 * byte. False: the program does not keep it (nothing uses it, or it is dead in an outer frame of a
 * recursion).
 */
bool debug_read_register(const struct debug_grid *d, const struct cta *c, u32 warp, u32 lane,
			 const struct debug_frame *f, u32 reg, void *to, u32 bytes);
/*
 * The same for several lanes, of a register of up to 8 bytes in the innermost frame f, in which
 * all of them are; to[lane] is set.
 */
bool debug_read_registers(const struct debug_grid *d, const struct cta *c, u32 warp, u32 lanes,
			  const struct debug_frame *f, u32 reg, u64 *to);
bool debug_write_register(struct debug_grid *d, struct cta *c, u32 warp, u32 lane,
			  const struct debug_frame *f, u32 reg, const void *from, u32 bytes);
/* The lane (alone) goes on at this micro-op of its innermost function: `jump`. */
bool debug_set_pc(struct debug_grid *d, struct cta *c, u32 warp, u32 lanes, u32 pc);

/* ---- memory ---- */

/*
 * Bytes of a state space as a lane sees them, all or none. address: device address; offset in the
 * space for shared, local and param. Writing marks what it replaces, as a kernel's writes do.
 */
bool debug_read_memory(const struct debug_grid *d, const struct cta *c, u32 warp, u32 lane,
		       enum mem_space space, u64 address, void *to, u64 bytes);
bool debug_write_memory(struct debug_grid *d, struct cta *c, u32 warp, u32 lane,
			enum mem_space space, u64 address, const void *from, u64 bytes);

/* ---- back in time ---- */

/*
 * Asks for the state at the last copy whose time is at most `time`, which may be in an earlier
 * launch, or a later one if d was gone back to; to be followed by the verdict DEBUG_BACK. Then that
 * launch runs on from there, silently (no prints to the program's output that
 * were printed before, no hooks) until `quiet_until`, and with hooks from there on. False, with a
 * line in `why`: not possible, e.g. the launch has allocated memory or waited for the host.
 */
bool debug_back(struct debug_grid *d, u64 time, u64 quiet_until, struct text *why);
/* Have they one time? Kernels that a kernel waits for have one of their own. */
bool debug_same_history(const struct debug_grid *a, const struct debug_grid *b);
/* Why there is no going back before debug_first; NULL: there was nothing. */
const char *debug_why_first(const struct debug_grid *d);
/* The earliest time to which going back is possible. */
u64 debug_first(const struct debug_grid *d);
/* The time of the last copy that is before `time`; false: there is none. */
bool debug_copy_before(const struct debug_grid *d, u64 time, u64 *at);
/*
 * The user has changed the state at this time (registers, memory, freezing): what was after it is
 * no more. The latest time that was reached becomes now.
 */
void debug_changed(struct debug_grid *d);
/* The latest time that was reached: before it, printing is quiet. */
u64 debug_latest(const struct debug_grid *d);
/*
 * A launch that has an observer without a debugger (struct exec_env) has it under one, too: it is
 * told each event once, however often the debugger goes over it. Has it been left, since
 * the debugger changed the launch at a time before events that it was told?
 */
bool debug_watch_is_lost(const struct debug_grid *d);
/* Going over instructions again did something else than before: the host, or a race with it. */
bool debug_differs(const struct debug_grid *d);

#endif
