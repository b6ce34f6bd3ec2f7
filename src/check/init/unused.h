/*
 * Allocations that were not written, or in part: PTXLOOM_CHECK_UNUSED. They are noted when they
 * end, with locks held, and reported afterwards.
 */
#ifndef PL_CHECK_UNUSED_H
#define PL_CHECK_UNUSED_H

#include "src/check/init/init_memory.h"

struct unused;

/* NULL: it is not looked for, or there is no memory. */
struct unused *unused_open(void);
void unused_close(struct unused *u);
/* Note what was not written of an allocation that ends, once. The caller locks. */
void unused_note(struct unused *u, struct init_range *r);
/* Report what has been noted. lock: of those who note; not held. */
void unused_tell(struct unused *u, pthread_mutex_t *lock, struct findings *found);

#endif
