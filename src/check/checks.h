/*
 * The checks of a device: observers of its launches, one for each of PTXLOOM_CHECK that needs one.
 */
#ifndef PL_CHECK_CHECKS_H
#define PL_CHECK_CHECKS_H

#include "src/check/apart.h"
#include "src/check/finding.h"
#include "src/check/init/init.h"
#include "src/check/order/between.h"
#include "src/check/race/race.h"
#include "src/check/sync/sync.h"
#include "src/dev/device.h"
#include "src/watch/tee.h"

/* Those that watch launches. */
#define CHECKS_WATCHING ((u32)(CHECK_RACE | CHECK_SYNC | CHECK_INIT))

struct checks {
	u32 which; /* enum check, as a mask */
	struct apart_check apart;
	struct watch_tee tee_apart;
	struct race_check race;
	struct between_device between;
	struct sync_check sync;
	struct init_check init;
	struct watch_tee tee;
};

/*
 * which: of CHECKS_WATCHING. m: the memory of the device; found: where findings go; both borrowed.
 * NULL when none of these watches launches.
 */
/* between: of the process, for races between launches; NULL: there is one launch. Borrowed. */
const struct exec_observer *checks_open(struct checks *c, u32 which, struct mem *m,
					struct between *between, struct findings *found);
/*
 * For launches of programs whose shared variables lie apart: with which CHECK_MEM; `also` (may be
 * NULL), what watches all launches, is told, too. After checks_open; NULL without CHECK_MEM.
 */
const struct exec_observer *checks_open_apart(struct checks *c, u32 which,
					      const struct exec_observer *also,
					      struct findings *found);
/*
 * Where not all launches are chosen (choice.h): the device asks for each, before the first. After
 * the two above; the list of findings has to stay until the last launch has ended.
 */
void checks_choose(struct checks *c, const struct findings *found, struct device *d);
/* No launch is under way. */
void checks_close(struct checks *c);

#endif
