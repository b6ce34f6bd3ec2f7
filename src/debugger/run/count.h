/*
 * What is counted between two stops: instructions and accesses of the step just made.
 */
#ifndef PL_DEBUGGER_COUNT_H
#define PL_DEBUGGER_COUNT_H

#include "src/watch/counters.h"

struct debugger;

struct counting {
	bool on;
	bool always;   /* `set counters on` */
	bool was_back; /* the last move went back in time */
	bool any;      /* there was a move that was counted */
	u64 since;     /* the time when it began */
	u64 cta;       /* the warp in focus then */
	u32 warp;
	struct watch_counters all, own; /* of all warps; of that one */
};

/* The program goes on from where it stands; goes_back: to an earlier time. */
void counting_begin(struct debugger *x, bool goes_back);
/* A group is about to run this, and nothing stops it. */
void counting_step(struct debugger *x, const struct gang *g, const struct uop *in);
void counting_access(struct debugger *x, const struct exec_access *a);

#endif
