/*
 * Back in time: the launch runs again from a copy, and what is looked for is noted. Private to
 * src/debugger.
 */
#ifndef PL_DEBUGGER_PAST_H
#define PL_DEBUGGER_PAST_H

#include "src/base/vec.h"
#include "src/debugger/run/watch.h"
#include "src/sched/debug.h"

struct debugger;

enum past_kind {
	PAST_NOT,
	PAST_SCAN, /* runs up to `until`, noting */
	PAST_GO,   /* runs to `goal` and stops */
};

enum past_want { PAST_STEP, PAST_NEXT, PAST_STEPI, PAST_NEXTI, PAST_FINISH, PAST_STOP, PAST_WRITE };

/* A time that was noted, and who was about to run then. */
struct past_found {
	u64 time, cta;
	u32 warp, lanes;
	u32 watch; /* number of the watchpoint whose value changed; 0: none */
	struct dbg_place at;
};

struct past_line {
	struct dbg_place at;
	u32 level; /* of calls and inlined functions */
};

struct past {
	enum past_kind kind;
	enum past_want want;
	u64 from, until; /* the piece of time that is run over */
	u64 floor;       /* the search ends there */
	u64 goal, count;
	bool at_beginning; /* the goal is the earliest time there is */
	bool refresh;      /* values of watchpoints are those of another time */
	u64 begun_at;      /* when the user asked */
	/* Where the lane has faulted or waits, which is no step back; func NULL: it has not. */
	struct dbg_place stuck;
	struct past_found target;
	VEC(struct past_found) found;
	/* The lane, where it stood, and the line it was in when it was seen last. */
	u64 launch, cta;
	u32 warp, lane, calls, depth;
	VEC(struct past_line) lines; /* that it was in last, of each function it is in */
	struct watch_range range;    /* PAST_WRITE */
	char title[256];
};

struct bookmark {
	char *name;
	u64 launch, time; /* in the launch */
};

/* Returns whether the step was of the past; *v is the answer then. */
bool past_step(struct debugger *x, struct gang *g, const struct uop *in, enum debug_verdict *v);
/* The launch faults again, or stands still. */
bool past_fault(struct debugger *x, enum debug_verdict *v);
void past_access(struct debugger *x, const struct exec_access *a);
void past_fini(struct debugger *x);

#endif
