/*
 * Private to src/sched: launches whose interleaving is a function of a schedule (schedule.h), on
 * the one worker of a deterministic pool, by the scheduler of launches under a debugger.
 *
 * The natural order: the warps of a CTA take turns, a visible operation each (an access to memory
 * that others see, a barrier, what waits for lanes or copies); CTAs as under a debugger. A schedule
 * changes that at points: when it is a warp's turn, and before each of its visible operations. The
 * warp it names goes on alone then, until it has to wait, gives way or has ended.
 *
 * All that a choice depends on is in struct steer_cursor and in struct warp, which copies of a
 * launch keep: going back in a debugger, the same is done again.
 */
#ifndef PL_STEER_H
#define PL_STEER_H

#include "src/exec/exec.h"
#include "src/sched/steer/schedule.h"

struct debug_grid;
struct debug_turn;
struct sched_options;
struct steer_notes;

struct steer_cursor {
	struct schedule_agent to; /* goes on alone; to.cta NO_CTA: none does */
	bool stepped;             /* the turn that is under way has done a visible operation */
	bool rotated;             /* its group has waited for others of its warp that spin */
	u32 rank;                 /* warps that have lost their priority so far */
	u64 steps;                /* visible operations in the focus */
	u64 random;
	u64 visits[SCHEDULE_POINTS];
};

/* Of a warp. */
struct steer_warp {
	u32 steps; /* visible operations that it has begun */
	/* choices at this one: right before it, at a turn */
	u32 held[2];
	s32 budget;   /* of the turns that it has, as of one without a schedule; 0: all of it */
	u32 switches; /* among its groups, by priority */
	u32 low;      /* its place among those that have lost their priority; 0: it has not */
};

/* Of a pool. */
struct steer {
	struct schedule *schedule; /* owned */
	u64 launches;              /* that have begun */
	struct steer_notes *notes; /* what is written down of the run; NULL: nothing is; owned */
};

/* What the options ask for. NULL: no memory. */
struct steer *steer_new(const struct sched_options *o);
void steer_free(struct steer *s);

struct cta_slot;

/* CTAs of a unit are about to begin in these slots. False: no memory. */
bool steer_prepare(struct cta_slot *s);

/* A launch, whose program is known; s: NULL where it is not steered. False: no memory. */
bool steer_open(struct debug_grid *d, const struct program *p, struct steer *s);

/* ---- of a launch that is steered ---- */

/* It begins. If it is not the launch that the schedule has here, that is said, and it all ends. */
void steer_begin(struct debug_grid *d);
void steer_end(struct debug_grid *d, const struct fault *fault);
/* A turn begins; its budget. */
s32 steer_turn_begins(struct debug_grid *d, const struct debug_turn *t, s32 budget);
/* What goes on instead of the turn that is due becomes the turn. */
void steer_turn(struct debug_grid *d, struct debug_turn *t);
/* Does the warp that was chosen go on? */
bool steer_goes_on(struct debug_grid *d, struct debug_turn *t);
/*
 * Does what follows depend on nothing but the state of the launch, for good? Not where choices are
 * drawn, or the list has some that are still to come.
 */
bool steer_is_determined(const struct debug_grid *d);
/*
 * Is the order the natural one for now, whatever the schedule would draw? While a launch seems to
 * wait that alternates, so that it can be seen whether all of it repeats itself.
 */
bool steer_is_plain(const struct debug_grid *d);
/* With steer_is_determined: what it depends on beside the state of CTAs. */
u64 steer_state(const struct debug_grid *d);
/* The warp is to be passed over, once. */
bool steer_passes(struct debug_grid *d, struct debug_turn *t);
/* The group of g is about to run a visible operation: is the turn to be left before it? */
bool steer_leaves(struct debug_grid *d, struct gang *g, u32 pc);
/* A turn has ended so. */
void steer_turn_ended(struct debug_grid *d, const struct debug_turn *t, enum exec_stop stop);

#endif
