/*
 * Which observers the checks need.
 */
#include "src/check/checks.h"
#include "src/check/choice.h"

const struct exec_observer *checks_open(struct checks *c, u32 which, struct mem *m,
					struct between *between, struct findings *found)
{
	c->which = which & CHECKS_WATCHING;
	watch_tee_init(&c->tee);
	if (c->which & CHECK_RACE) {
		race_check_init(&c->race, m, found);
		watch_tee_add(&c->tee, &c->race.observer);
		if (between) {
			between_device_init(&c->between, between, &c->race, m->index);
			watch_tee_add(&c->tee, &c->between.observer);
		}
	}
	if (c->which & CHECK_SYNC) {
		sync_check_init(&c->sync, found);
		watch_tee_add(&c->tee, &c->sync.observer);
	}
	if (c->which & CHECK_INIT) {
		init_check_init(&c->init, m, found);
		watch_tee_add(&c->tee, &c->init.observer);
	}
	if (c->tee.len == 1)
		return c->tee.to[0];
	return c->tee.len ? &c->tee.observer : NULL;
}

const struct exec_observer *checks_open_apart(struct checks *c, u32 which,
					      const struct exec_observer *also,
					      struct findings *found)
{
	if (!(which & CHECK_MEM))
		return NULL;
	c->which |= CHECK_MEM;
	apart_check_init(&c->apart, found);
	if (!also)
		return &c->apart.observer;
	watch_tee_init(&c->tee_apart);
	watch_tee_add(&c->tee_apart, also);
	watch_tee_add(&c->tee_apart, &c->apart.observer);
	return &c->tee_apart.observer;
}

void checks_choose(struct checks *c, const struct findings *found, struct device *d)
{
	d->tells_callers = c->which != 0;
	if (!found->choice)
		return;
	d->is_observed = check_choice_has;
	d->is_observed_user = found->choice;
	/* What they write is written. */
	d->observer_rest = c->which & CHECK_INIT ? &c->init.observer_rest : NULL;
}

void checks_close(struct checks *c)
{
	if (c->which & CHECK_RACE)
		race_check_fini(&c->race);
	if (c->which & CHECK_SYNC)
		sync_check_fini(&c->sync);
	if (c->which & CHECK_INIT)
		init_check_fini(&c->init);
	c->which = 0;
}
