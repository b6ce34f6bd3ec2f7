/* Private to src/check/order. */
#ifndef PL_CHECK_BETWEEN_INT_H
#define PL_CHECK_BETWEEN_INT_H

#include "src/check/order/between.h"

typedef VEC(struct between_race) between_races;

/* Report one; no lock held. */
void between_tell(struct findings *found, const struct between_race *race);

/* An access of the host against a piece of work that it has not waited for; no lock held. */
void between_tell_host(struct findings *found, const struct host_race *r);

#endif
