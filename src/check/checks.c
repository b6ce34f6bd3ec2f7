/*
 * Which observers the checks need.
 */
#include "src/check/checks.h"

const struct exec_observer *checks_open(struct checks *c, u32 which, struct mem *m,
					struct findings *found)
{
	c->which = which & CHECKS_WATCHING;
	watch_tee_init(&c->tee);
	if (c->which & CHECK_RACE) {
		race_check_init(&c->race, m, found);
		watch_tee_add(&c->tee, &c->race.observer);
	}
	if (c->which & CHECK_SYNC) {
		sync_check_init(&c->sync, found);
		watch_tee_add(&c->tee, &c->sync.observer);
	}
	return c->tee.len ? &c->tee.observer : NULL;
}

void checks_close(struct checks *c)
{
	if (c->which & CHECK_RACE)
		race_check_fini(&c->race);
	if (c->which & CHECK_SYNC)
		sync_check_fini(&c->sync);
	c->which = 0;
}
