/*
 * Several observers of one launch: each event goes to all of them, in their order.
 */
#ifndef PL_WATCH_TEE_H
#define PL_WATCH_TEE_H

#include "src/exec/observer.h"

#define WATCH_TEE_MAX 12u

struct watch_tee {
	const struct exec_observer *to[WATCH_TEE_MAX]; /* borrowed */
	u32 len;
	struct exec_observer observer; /* valid after watch_tee_init */
};

void watch_tee_init(struct watch_tee *t);
/*
 * Before the first launch. Of a tee those that it has now are added. false: there are WATCH_TEE_MAX
 * already.
 */
bool watch_tee_add(struct watch_tee *t, const struct exec_observer *o);

#endif
