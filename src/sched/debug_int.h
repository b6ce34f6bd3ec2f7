/*
 * Private to src/sched: a grid under a debugger. debug_grid.c runs it, debug_pick.c chooses who
 * goes on, debug_look.c reads and changes its state, debug_time.c keeps copies of it and goes back.
 */
#ifndef PL_DEBUG_INT_H
#define PL_DEBUG_INT_H

#include "src/exec/probe.h"
#include "src/exec/turn.h"
#include "src/host/syscall.h"
#include "src/sched/debug.h"
#include "src/sched/sched_int.h"
#include "src/sched/steer/steer.h"
#include "src/sched/steer/weak.h"

#define NO_CTA UINT64_MAX

struct debug_frozen {
	u64 cta;
	u32 warp, lanes;
};

/* Who goes on next. Part of what copies keep. */
struct debug_cursor {
	u64 next;          /* unit that begins next */
	u64 done;          /* units that have ended */
	u32 unit;          /* among the resident ones */
	u32 warp;          /* of the unit, counted over its CTAs */
	u32 passes;        /* over the warps of the unit, since its turn began */
	u32 target;        /* units that may be resident */
	u32 stale;         /* rounds since a unit ended */
	u32 still;         /* rounds without progress */
	u32 waited;        /* the same, from when the grid seems to wait; up to progress */
	u32 near;          /* warp that helped the preferred ones last */
	bool ran, yielded; /* a warp of the unit did, in this pass */
	bool moved;        /* some unit ran in this round */
	bool progress;     /* one ended in this round, or computes */
	bool others;       /* the preferred ones let the others run */
	/* for repetition, since the last progress: looks, when the last was, and a state */
	u32 looks, looked_at;
	u64 look_state;
	struct debug_preference prefer;
	u64 cta_events; /* CTAs that began or ended */
	u32 events;     /* that the running instruction has told */
	/* of the turn that is under way */
	u32 only, frozen_here; /* lanes that may run in it, and those that may not */
	bool watchful;         /* either matters */
	struct steer_cursor steer;
};

/* What the debugger asked for, and when: going over it again, it is done again. */
enum debug_deed_kind {
	DEED_TURN,
	DEED_FREEZE,
	DEED_PREFER,
	DEED_JUMP,
	DEED_REGISTER,
	DEED_MEMORY,
	DEED_CALL,
};

struct debug_deed {
	u8 kind;
	bool freeze;
	bool between; /* while no turn was under way */
	u8 space;
	u64 time, cta, address;
	u32 warp, lanes, pc, reg;
	struct debug_preference prefer;
	struct debug_frame frame;
	const struct program *program; /* DEED_CALL: pc is the function, lanes the lane */
	u64 bytes;
	u8 *data; /* owned */
};

/* Storage of a CTA as it was. Pointers in it are right where it came from, and go there again. */
struct debug_cta_copy {
	struct cta_slot *slot;
	bool first; /* of its unit */
	struct cta cta;
	struct cluster cluster;
	u64 place;
	u64 local_bytes;         /* of each lane */
	u8 *bytes;               /* owned: warps, gangs, registers, shared, local */
	struct async_cta *async; /* owned */
	size_t assertions;
};

struct debug_page {
	u64 host; /* address of the host */
	u8 *bytes;
};

struct debug_pages {
	struct debug_page *at; /* by address */
	size_t len, cap;
};

struct debug_copy {
	u64 time, chain;
	struct debug_cursor cursor;
	struct debug_frozen *frozen;
	u32 frozen_len;
	size_t deeds; /* that had been done */
	u64 timer_ns, last_clock;
	struct gang *gang; /* that was about to run micro-op pc; NULL: between turns */
	u32 pc;
	struct debug_cta_copy *cta;
	u32 cta_len;
	struct exec_heap_state *heap; /* owned */
	struct weak *weak;            /* owned; NULL: memory is not weak */
	struct debug_pages
		pages; /* as they were then, of those written between this copy and the next */
	size_t bytes;
};

/* Memory as it was when the last copy was made: of one allocation. */
struct debug_shadow {
	u64 id, host, size;
	u8 *bytes;
	bool seen;
};

/* Launches of a pool that have ended and can be gone back to: debug_launches.c. */
struct debug_earlier {
	VEC(struct debug_grid *) at; /* oldest first; owned */
	struct debug_grid *now;      /* the launch that the pool runs; NULL: none */
	struct debug_grid *here;     /* the one of all these that goes on */
	u64 clock;                   /* when the last one ended */
	const char *why;             /* there are no earlier ones; NULL: there have been none */
};

/* Of a pool. */
struct debug_memory {
	pthread_mutex_t lock;        /* held while a launch goes on */
	VEC(struct debug_shadow) at; /* by address */
	u64 used;                    /* bytes that are there */
	struct debug_earlier earlier;
};

struct debug_history {
	bool on;
	VEC(struct debug_copy) copies;
	struct debug_memory *memory; /* of the pool: launches have most of it in common */
	u32 check_step;              /* instructions between two looks at the clock */
	VEC(u64) chains;             /* at each check_step instructions */
	size_t bytes;
	u64 interval_ns, made_ns, cost_ns;
	struct debug_grid *back_to; /* debug_back: the launch */
	u64 back_time, quiet_until; /* and, of that launch, when */
	const char *why;            /* the earliest copy is not the launch's start */
	const char *reset;          /* why there is no going back before the next instruction */
	bool differs;
};

/*
 * The observer that the launch had without a debugger: checks. It is told each event once, however
 * often the debugger goes over it.
 */
struct debug_watch {
	const struct exec_observer *to; /* NULL: none */
	/* the last event that it was told: of the instruction that began at `time` */
	u64 time, cta_events;
	u32 events;
	bool lost; /* the debugger has changed what it knows of the past: it is told nothing more */
};

enum debug_mark {
	MARK_FIRST = 1, /* begins an instruction */
	MARK_ASK = 2,   /* the hook is asked before it */
	MARK_STEER = 4, /* a visible operation, of a launch that is steered */
};

/* What a schedule has for a launch. */
struct steer_plan {
	u8 kind;     /* enum schedule_kind; SCHEDULE_LIST: .. */
	bool listed; /* choices, if there are any about the launch */
	u64 cta[2];  /* the focus */
	u32 points;
	struct schedule_point point[SCHEDULE_POINTS];
};

struct debug_grid {
	struct sched_grid *grid;
	struct share *share;
	const struct debug_hooks *hooks;
	struct exec_ops ops;
	const struct exec_ops *quiet_ops, *telling_ops; /* whose tables `ops` has */
	const bool *wants;                              /* struct debug_hooks, wants_access */
	bool tells;                                     /* what it was */
	struct exec_observer observer;
	struct debug_watch watch;
	struct exec_syscalls syscalls;
	const struct exec_syscalls *plain_syscalls;
	const struct exec_ops *plain_ops;
	u8 *marks;                    /* of each micro-op: enum debug_mark; owned */
	bool careful;                 /* some call what cannot be done twice */
	VEC(struct cta_slot *) units; /* resident, by their start */
	u32 unit_warps;
	u32 limit;   /* that target may grow to */
	u32 reserve; /* bytes above the stack that calls use */
	struct debug_cursor cursor;
	VEC(struct debug_frozen) frozen;
	VEC(struct debug_deed) deeds;
	size_t deeds_done;
	/* the turn that is under way */
	struct gang *gang; /* NULL: none */
	u32 pc;            /* instruction that is about to run, or runs */
	u32 last_pc;       /* instruction that ran last, where `careful` */
	bool at_step;      /* the debugger is asked about it */
	bool changed;      /* the state: what runs has to be chosen again */
	u8 verdict;
	enum debug_verdict (*step)(void *user, struct debug_grid *d, struct gang *g,
				   const struct uop *in); /* NULL: no hook is asked now */
	u64 start, end;                                   /* times; end: of an earlier launch */
	u64 time, latest;
	struct debug_pages
		redo;     /* as they were when the next launch began; it was gone back over */
	u64 chain;        /* a hash of what ran, and for which lanes */
	u64 alarm;        /* when debug_alarm has something to do */
	u64 ask_at;       /* from then on ask_debugger is called before every instruction */
	bool new_to_step; /* the hook has not seen the launch since it began or was gone back to */
	struct gang *resume; /* goes on at resume_pc */
	u32 resume_pc;
	bool ended, begun, waits;
	u64 look_rests;
	struct debug_calling *call;      /* a function that the debugger calls; NULL: none */
	struct debug_textures *textures; /* of an earlier launch that uses some; NULL: none */
	struct debug_history history;
	struct steer *steer; /* NULL: there is no schedule */
	struct steer_plan plan;
	bool steer_parts;  /* lanes that run together may be split */
	struct weak *weak; /* NULL: memory is not weak; owned */
	/* of a launch that cannot be gone back in, while it seems to wait: what its micro-ops do */
	struct exec_probe probe;
	bool probes;
	void (*plain_loop)(struct gang *g, const struct uop *in); /* while it does not probe */
	u64 number;                                               /* of the launch, from 1 on */
	u32 launch_hash;
};

/* ---- debug_grid.c ---- */

/* From now on, or no longer, it is noted what micro-ops do. */
void debug_probe(struct debug_grid *d, bool probes);

/* ---- debug_repeat.c ---- */

/* All CTAs have only polled in this round. Will they for ever? */
bool debug_is_livelock(struct debug_grid *d);

/* ---- debug_pick.c ---- */

enum debug_pick {
	PICK_TURN,
	PICK_OVER,     /* all units have ended */
	PICK_WAITS,    /* for something outside the launch, as it seems */
	PICK_DEADLOCK, /* cta */
	PICK_FROZEN,   /* only frozen lanes could go on */
};

struct debug_turn {
	struct cta *cta;
	struct gang *gang;
	u32 warp, lanes; /* lanes: 0: whose turn it is */
	bool in_order;   /* the cursor stands at it */
};

enum debug_pick debug_pick(struct debug_grid *d, struct debug_turn *t);
/*
 * The turn has ended at a barrier. Where nothing but the order of warps has a say, `t` becomes what
 * debug_pick would choose next, and true is returned, as long as it is a warp of the same CTA.
 */
bool debug_pick_next(struct debug_grid *d, struct debug_turn *t);
/* A turn has ended so. */
void debug_turn_ended(struct debug_grid *d, const struct debug_turn *t, enum exec_stop stop);
/* In a turn: has the running group, about to run pc, to be left? */
bool debug_must_leave(struct debug_grid *d, struct gang *g, u32 pc);
/*
 * Lanes that are preferred, or are to run alone, have run the instruction at micro-op `before` and
 * others of their warp are about to go on: if they poll, it is the turn of all others.
 */
void debug_note_polling(struct debug_grid *d, const struct gang *g, u32 before);
/* Lanes of a warp that have been frozen. */
u32 debug_frozen_lanes(const struct debug_grid *d, u64 cta, u32 warp);
void debug_set_frozen(struct debug_grid *d, u64 cta, u32 warp, u32 lanes, bool freeze);
/* Can the warp go on? Those lanes that are frozen have been set aside then. */
bool debug_can_run(struct debug_grid *d, struct cta *c, u32 warp);
/* One more unit becomes resident. False: no memory. */
bool debug_begin_one(struct debug_grid *d);
/* The CTA of a resident unit's warp, which becomes one of the CTA. */
struct cta *debug_cta_at(const struct debug_grid *d, u32 unit, u32 *warp);
/* Let groups go whose barriers are complete. Did any? */
bool debug_release(struct debug_grid *d, struct cta *c);
/* The unit that a CTA is in, UINT32_MAX: it is not resident. */
u32 debug_unit_of(const struct debug_grid *d, const struct cta *c);
/* The storage of a CTA is used again: as if it were new. */
void debug_wash(struct cta_slot *s);

/* ---- debug_grid.c ---- */

/* Tables that report accesses, or that do not, from the instruction on that is about to run. */
void debug_choose_tables(struct debug_grid *d);

/* ---- debug_watch.c ---- */

/* The observer of a launch that has one already: d->observer tells it, too. */
void debug_watch_open(struct debug_grid *d, const struct exec_observer *o);
/* Tell it, if it has not been told. */
void debug_watch_access(struct debug_grid *d, const struct exec_access *a);
void debug_watch_sync(struct debug_grid *d, const struct exec_sync *s);
void debug_watch_step(struct debug_grid *d, const struct gang *g, const struct uop *in);
/* The state at this time is no more what the observer was told. */
void debug_watch_changed(struct debug_grid *d);

/* ---- debug_call.c: while d->call ---- */

struct cta *debug_calling_cta(const struct debug_grid *d);
/* The micro-op that the function returns to; it is never executed. */
u32 debug_calling_back(const struct debug_grid *d);
/* Has it been done before? */
bool debug_calling_again(const struct debug_grid *d);
/* The debugger changes something. */
void debug_calling_touched(struct debug_grid *d);
void debug_call_again(struct debug_grid *d, struct cta *c, const struct debug_deed *x);

/* ---- debug_look.c ---- */

bool debug_put_register(struct debug_grid *d, struct cta *c, u32 warp, u32 lane,
			const struct debug_frame *f, u32 reg, const void *from, u32 bytes);
bool debug_put_memory(struct debug_grid *d, struct cta *c, u32 warp, u32 lane, enum mem_space space,
		      u64 address, const void *from, u64 bytes);
bool debug_jump(struct debug_grid *d, struct cta *c, u32 warp, u32 lanes, u32 pc);

/* ---- debug_memory.c ---- */

/*
 * Device memory that kernels may write is as it is now. Pages that have changed since the last time
 * are added to *old (may be NULL) as they were. False: there is more than `limit` bytes of it, no
 * memory of the host, or some of it is gone.
 */
bool debug_memory_note(struct debug_memory *m, const struct exec_env *e, struct debug_pages *old,
		       u64 limit);
/* Add the same pages to `now` as they are; nothing is noted. */
void debug_memory_keep(const struct debug_pages *pages, struct debug_pages *now);
/* Write pages; nothing is noted. */
void debug_memory_put(const struct debug_pages *pages);
/* Make memory what it was when it was noted last. */
void debug_memory_return(struct debug_memory *m);
/* Write pages, which then count as noted. */
void debug_memory_write(struct debug_memory *m, const struct debug_pages *pages);
void debug_memory_free(struct debug_memory *m);
/*
 * Pages of `from` that `to` has not go to `to`; `from` is empty then. Returns bytes that were
 * freed.
 */
size_t debug_pages_merge(struct debug_pages *to, struct debug_pages *from);
size_t debug_pages_free(struct debug_pages *p);

/* ---- debug_copy.c ---- */

/* The state of the grid, memory excepted; `gang` is about to run micro-op pc. False: no memory. */
bool debug_copy_take(struct debug_grid *d, struct gang *gang, u32 pc, struct debug_copy *out);
void debug_copy_put(struct debug_grid *d, const struct debug_copy *c);
/* Its pages, too. */
void debug_copy_free(struct debug_copy *c);

/* All that decides what the grid does next, memory outside CTAs excepted. */
u64 debug_state_hash(const struct debug_grid *d);

/* ---- debug_time.c ---- */

/* Between turns: has memory not changed since the last such call? Makes a copy. */
bool debug_memory_is_same(struct debug_grid *d);
/* The cursor has changed since that. */
void debug_copy_amend(struct debug_grid *d);

/* The launch begins, or goes on after others ran: from now on there is no going back before it. */
void debug_time_begin(struct debug_grid *d, const char *why);
void debug_time_end(struct debug_grid *d);
/* The time has come that d->alarm names; the group of g is about to run pc. */
void debug_alarm(struct debug_grid *d, struct gang *g, u32 pc);
/* The debugger is asked again. */
void debug_wake(struct debug_grid *d);
/* debug_back was asked for and the turn has been left: go there, maybe to an earlier launch. */
void debug_restore(struct debug_grid *d);
/* It was asked to go to a later launch: nothing is restored, the launch goes on silently. */
bool debug_goes_forward(struct debug_grid *d);
/* The launch is what it was at its first copy, with its memory in place. */
void debug_begin_again(struct debug_grid *d, u64 quiet_until);
/* Copies from number `from` on go. */
void debug_drop_copies(struct debug_history *h, size_t from);
/* Merge copies until they take at most so many bytes, or there are two. */
void debug_thin_out(struct debug_grid *d, u64 bytes);
/* Does a call of it do more each time? */
bool debug_is_unique(const struct program_extern *x);
/* Note a deed, which has been done. */
void debug_note(struct debug_grid *d, struct debug_deed deed);
/* Between turns: do what was done then. Returns whether anything was. */
bool debug_repeat_between(struct debug_grid *d);
/* The launch does what cannot be done twice: what comes before is forgotten at the next step. */
void debug_cannot_repeat(struct debug_grid *d, const char *why);

/* ---- debug_textures.c ---- */

/*
 * The launch has ended: env->textures become copies of what it saw, if it uses any. last: those of
 * a launch before, to be shared if they are the same; NULL: none. False: no memory.
 */
bool debug_textures_keep(struct debug_grid *d, struct debug_textures *last, struct exec_env *env);
void debug_textures_drop(struct debug_grid *d);
/* Bytes that the copies take, shared ones in equal parts. */
u64 debug_textures_bytes(const struct debug_grid *d);

/* ---- debug_launches.c ---- */

/* The launch ends, env is what it ran in: it can be gone back to from now on, if it is true. */
bool debug_earlier_keep(struct debug_grid *d, const struct exec_env *env);
/* None of those before d can be gone back to. */
void debug_earlier_forget(struct debug_grid *d, const char *why);
void debug_earlier_fini(struct debug_memory *m);
/* Bytes that those other than d take. */
u64 debug_earlier_bytes(const struct debug_grid *d);
/* d has copies of so many bytes: forget old launches for it. Returns how many it may have. */
u64 debug_earlier_fit(struct debug_grid *d, u64 bytes);
/* Where pages go that are written between the launch before and this one; NULL: there is none. */
struct debug_pages *debug_earlier_pages(const struct debug_grid *d);
/* The last launch that has a copy at that time or before; NULL: none. */
struct debug_grid *debug_earlier_find(const struct debug_grid *d, u64 time);
bool debug_is_later(const struct debug_grid *d, const struct debug_grid *than);
/* Memory becomes what it was at a copy of `to`, which is `from` or an earlier one. */
void debug_earlier_undo(struct debug_grid *from, struct debug_grid *to, size_t copy);
/* An earlier launch has ended again: returns the one after it, which has begun again. */
struct debug_grid *debug_earlier_next(struct debug_grid *d);

/* ---- debug_grid.c ---- */

void debug_free(struct debug_grid *d);

#endif
