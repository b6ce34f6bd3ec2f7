/*
 * Functions called by a debugger: one lane runs a function of its modules, while all else of the
 * launch stands. It runs on registers and a stack of its own, with the shared memory of its CTA and
 * its own local memory; what it writes to memory stays, everything else is as before afterwards.
 *
 * No time passes: going back and forth over the call does it again, without hooks and prints.
 * While it runs, hooks are asked before each of its instructions as ever, and see that lane's CTA
 * alone, with the lane in the function; debug_env names the program that was lowered for the call.
 */
#ifndef PL_SCHED_DEBUG_CALL_H
#define PL_SCHED_DEBUG_CALL_H

#include "src/sched/debug.h"

enum debug_called {
	DEBUG_CALL_RETURNED,
	DEBUG_CALL_FAULTED, /* `fault` */
	DEBUG_CALL_WAITS,   /* for other lanes; fault.pc: in which micro-op */
	DEBUG_CALL_EXITED,  /* it has ended its thread */
	DEBUG_CALL_ENDED,   /* the launch is to end */
	DEBUG_CALL_FAILED,  /* the host has no memory, or another call is under way */
};

struct debug_call {
	/* Of exec_lower_callee, for the launch's kernel; there as long as the launch. */
	const struct program *program;
	u32 func; /* in program->funcs */
	/* The beginning of its frame: parameters where exec_formal_place has them; borrowed. */
	const void *frame;
	u32 frame_bytes;
	/* Bytes of the frame that are wanted when it has returned. */
	u32 result_at, result_bytes;
	void *result;
	struct fault fault;
};

/* The lane is alive. The grid's hooks are in the middle of being asked, or between two turns. */
enum debug_called debug_call(struct debug_grid *d, struct cta *c, u32 warp, u32 lane,
			     struct debug_call *call);
/* Is one under way? */
bool debug_calls(const struct debug_grid *d);

#endif
