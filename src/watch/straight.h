/*
 * Straight code: instructions that the same lanes run one after the other, so that counting lanes
 * at the first of them is enough.
 */
#ifndef PL_WATCH_STRAIGHT_H
#define PL_WATCH_STRAIGHT_H

#include "src/exec/observer.h"

/*
 * Do the lanes that begin the instruction before micro-op pc, which begins an instruction itself,
 * run this one next, all together and without others? Of a program without fusion. False for
 * instructions of which some lanes may be left out, and for what follows those.
 */
bool watch_is_straight(const struct program *p, u32 pc);

#endif
