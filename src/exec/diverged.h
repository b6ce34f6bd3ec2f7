/*
 * Gangs whose lanes have diverged at branches and that go on as gangs.
 *
 * The lanes of all warps form groups by micro-op, the lowest runs, and equal ones merge, as in
 * warp.c. Those that wait look like lanes that have exited: struct warp.live holds the running
 * ones, so that the handlers of gang mode serve, and diverged.live all of them. The gang is
 * narrowed to the warps between the first and the last that take part. Results of lane operations
 * are blended unless no lane that waits reads the row (UOPF_DEAD), which holds since groups wait
 * further on, at the beginnings of blocks. What needs more than that sends the warps on one by one.
 */
#ifndef PL_EXEC_DIVERGED_H
#define PL_EXEC_DIVERGED_H

#include "src/exec/exec.h"

/* May the gang, together so far, stay one where its lanes part at branch `in`? */
bool diverged_may_begin(const struct gang *g, const struct uop *in);
/* It does; no lane waits yet. */
void diverged_begin(struct gang *g, const struct uop *in);
/*
 * Lanes `taken` of those that run take branch `in`, the others do not. Returns the micro-op to run
 * next.
 */
const struct uop *diverged_split(struct gang *g, const struct uop *in, const u32 *taken);
/*
 * Every running lane goes to a micro-op of its own, `targets` by lane of the gang, from branch
 * `in`.
 */
const struct uop *diverged_scatter(struct gang *g, const struct uop *in, const u32 *targets);
/* All lanes that run go on at `pc` after the jump `in`. */
const struct uop *diverged_go(struct gang *g, const struct uop *in, u32 pc);
/* The running lanes are at the beginning of block `pc`, where others wait, or lower ones do. */
const struct uop *diverged_arrive(struct gang *g, u32 pc);
/* Lanes have exited: warp.live and diverged.live say which are left. The others go on at `pc`. */
const struct uop *diverged_exit(struct gang *g, u32 pc);
/* The warps go on one by one, the running lanes at micro-op `pc`. */
const struct uop *diverged_to_warps(struct gang *g, u32 pc);
/* A new time slice after a yield. */
const struct uop *diverged_resume(struct gang *g);

#endif
