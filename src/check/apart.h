/*
 * Accesses to shared memory that lie outside of its variables, and so between two of them: programs
 * are lowered with distances between variables for it (lower_options.apart). An observer of
 * launches, for any number of workers.
 */
#ifndef PL_CHECK_APART_H
#define PL_CHECK_APART_H

#include "src/check/finding.h"
#include "src/exec/observer.h"

struct apart_check {
	struct exec_observer observer;
	struct findings *found; /* borrowed */
};

/* found: where findings go; borrowed. Nothing has to be freed. */
void apart_check_init(struct apart_check *c, struct findings *found);

#endif
