/*
 * Functions that a line calls, for steps into one of them. Private to src/debugger.
 */
#ifndef PL_DEBUGGER_INTO_H
#define PL_DEBUGGER_INTO_H

#include "src/base/vec.h"
#include "src/base/base.h"

struct debugger;
struct frame;

struct step_target {
	char *label;    /* "twist(int, int)", or the plain name; owned */
	char *location; /* for `step into`; owned */
};

typedef VEC(struct step_target) step_targets;

/*
 * What the line of the frame calls from there on, in the order of the code: functions with lines of
 * the user's, inlined ones too; no calls through pointers. False: no memory.
 */
bool step_targets_find(struct debugger *x, const struct frame *f, step_targets *out);
void step_targets_free(step_targets *t);

#endif
