/*
 * Warps of devices that have one program counter for each of them (before Volta): what lanes run
 * together is done in lockstep, so each instruction of several lanes orders what they did before
 * it. Lanes on two sides of a branch know nothing of each other until they run together again.
 */
#ifndef PL_CHECK_LOCKSTEP_H
#define PL_CHECK_LOCKSTEP_H

#include "src/check/race/clock.h"

/* A warp. A zeroed one has not begun. */
struct lockstep {
	u32 mask;          /* lanes that run together */
	u32 store, stored; /* the last store: micro-op + 1, moment */
};

/* These lanes are about to run: those that ran together before know of each other. */
void lockstep_run(struct lockstep *x, struct clock *k, struct clock_cta *c, u32 warp, u32 mask);
/* They are about to store. In a loop what they stored before has another moment. */
void lockstep_store(struct lockstep *x, struct clock *k, u32 pc);

#endif
