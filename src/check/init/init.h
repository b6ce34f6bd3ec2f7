/*
 * The check for reads of memory, and of registers, that were never written: an observer of
 * launches. A read is reported when its value is used: a branch or an address depends on it, or it
 * is stored to global memory, combined with other values or as it was read whole. What is only
 * moved, as padding is, takes its state along. docs/checks.md has the rules.
 */
#ifndef PL_CHECK_INIT_H
#define PL_CHECK_INIT_H

#include "src/check/finding.h"
#include "src/exec/observer.h"

struct init_memory;
struct init_launch;
struct init_cta;

struct init_check {
	struct exec_observer observer;
	struct exec_observer observer_rest; /* follows values, and reports nothing */
	struct mem *mem;
	struct findings *found;
	struct init_memory *memory;
	struct map launches;   /* by grid + 1: struct init_launch * */
	u32 serial;            /* of the last one that began */
	pthread_mutex_t lock;  /* of launches */
	struct init_cta *last; /* the CTA that ran last; of the worker */
};

void init_check_init(struct init_check *c, struct mem *m, struct findings *found);
/* No launch is under way. */
void init_check_fini(struct init_check *c);

#endif
