/* Private to src/check/order. */
#ifndef PL_CHECK_BETWEEN_INT_H
#define PL_CHECK_BETWEEN_INT_H

#include "src/check/order/between.h"

/* Accesses of two pieces of work that nothing orders; the later one to end comes first. */
struct between_race {
	struct trace_clash clash;
	struct order_piece piece[2];
	const struct program *program[2];
};

typedef VEC(struct between_race) between_races;

/* Report one; no lock held. */
void between_tell(struct findings *found, const struct between_race *race);

#endif
