/*
 * Time slices of single warps, for a debugger, which chooses the warp that runs. Warps of a CTA
 * that was set up so run apart for good. A turn keeps nothing on the stack but the loop of struct
 * exec_ops, which may leave it before any micro-op, by warp_leave.
 */
#ifndef PL_EXEC_TURN_H
#define PL_EXEC_TURN_H

#include "src/exec/exec.h"

/* After exec_cta_start: every warp goes on by itself. */
void exec_cta_apart(struct cta *c);
/* Can any lanes of the warp (counted in the CTA) go on? */
bool exec_warp_is_ready(const struct cta *c, u32 warp);
/*
 * One turn of a warp of the gang (counted in the CTA) that is ready: until it waits, yields, has
 * exited, faults or is left. The group that has one of `lanes` runs first; 0: the one whose turn it
 * is. Returns STOP_BARRIER, STOP_YIELD, STOP_TURN, STOP_DONE, STOP_FAULT or STOP_LEFT.
 */
enum exec_stop exec_warp_turn(struct gang *g, u32 warp, u32 lanes, s32 budget);
/* The gang of a warp. */
struct gang *exec_gang_of(const struct cta *c, u32 warp);
/* Let groups go whose barriers are complete; clocks of the CTA meet there. Did any? */
bool exec_cta_release(struct cta *c);
/* All lanes of the CTA have exited. */
bool exec_cta_is_over(const struct cta *c);
/* It has ended: complete copies that are under way, tell the observer. */
void exec_cta_finish(struct cta *c);
/* No thread can continue: the fault names the first thread that waits. */
void exec_cta_deadlock(struct cta *c);

/* ---- warp.c ---- */

/* Run the group that has one of the lanes; those that are next if none has. */
const struct uop *warp_take(struct gang *g, u32 lanes);
/* Is micro-op pc a reconvergence point that other lanes of the warp have not reached yet? */
bool warp_meets_at(const struct gang *g, const struct warp *w, u32 pc);
/* Is micro-op pc a reconvergence point of a branch? */
bool warp_is_meeting(const struct gang *g, u32 pc);
/* The label right before a micro-op, where waiting lanes reconverge; else the micro-op. */
u32 warp_label_of(const struct gang *g, u32 pc);
/* For loops: the running group stops before micro-op pc. */
void warp_leave(struct gang *g, u32 pc);

#endif
