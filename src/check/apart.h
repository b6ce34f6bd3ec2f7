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
	u64 serial;             /* no other one has it or will have it */
	pthread_rwlock_t lock;
	struct map layouts; /* program -> struct apart_layout * */
};

/* found: where findings go; borrowed. */
void apart_check_init(struct apart_check *c, struct findings *found);
/* No launch is under way. */
void apart_check_fini(struct apart_check *c);

#endif
