/*
 * While a launch runs: what is looked for before each instruction. Private to src/debugger.
 */
#ifndef PL_DEBUGGER_RUN_H
#define PL_DEBUGGER_RUN_H

#include "src/base/vec.h"
#include "src/sched/debug.h"

struct debugger;

/* Lanes that a stop has named, and that have been left standing since. */
struct passed {
	u64 cta;
	u32 warp, lanes, pc;
	u64 time;
	bool held; /* others went on first */
};

struct run {
	const struct program *marked; /* whose marks these are */
	u8 *marks;                    /* for each micro-op: look closely; owned */
	u32 marks_cap;
	bool attentive; /* look closely everywhere; atomic */
	bool detached;  /* no front end is connected any more */
	u64 announced;  /* launch that the user has been told about last */
	VEC(struct passed) passed;
	struct debug_hooks hooks;
	/* The group that was asked about last, and when: what it does is seen at the next one. */
	u64 last_time, last_cta;
	u32 last_warp, last_lanes, last_pc;
	bool stop_at_first; /* catch launch: where a breakpoint on the kernel stops */
	bool stop_at_next;  /* wherever it is: an interrupt, a lane that has ended */
	char next_title[64];
	const char *next_event; /* that it is about */
};

/* ---- run.c ---- */

/* Marks are those of this program. */
void run_mark(struct debugger *x, const struct program *p);
/* What to look for has changed. */
void run_attend(struct debugger *x);
/* It stands where x->at says: serve the front end, and answer the engine. */
enum debug_verdict run_stop(struct debugger *x);
/*
 * These lanes of the group that was asked about have been reported; the next question says whether
 * they went on.
 */
void run_pass(struct debugger *x, u32 lanes);
/* The lane in focus is the lowest of those that stopped, in the user's own frame. */
void run_focus_stop(struct debugger *x);

#endif
