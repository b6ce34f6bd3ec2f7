/*
 * What micro-ops of warp instructions do: the actions of table/warp.def and their families.
 */
#ifndef PL_UOP_WARP_H
#define PL_UOP_WARP_H

#include "src/base/base.h"

enum warp_action {
#define ACTION(id, family) WARP_##id,
#define SHUFFLE(id, source, in_range) WARP_##id,
#define VOTE(id, expr) WARP_##id,
#define REDUCE(id, start, expr) WARP_##id,
#define REDUCE_MODE(id, expr) WARP_##id,
#include "src/uop/table/warp.def"
	WARP_ACTIONS
};

/* How an action is computed, and what its operand is. */
enum warp_family {
	WARP_FAMILY_SHUFFLE,
	WARP_FAMILY_VOTE, /* as those of BALLOT, operands are predicates */
	WARP_FAMILY_BALLOT,
	WARP_FAMILY_MATCH,
	WARP_FAMILY_REDUCE,
	WARP_FAMILY_REDUCE_MODE,
	WARP_FAMILY_ACTIVE,
	WARP_FAMILY_ELECT,
	WARP_FAMILY_MEET, /* no operand, no result */
};

extern const u8 warp_families[WARP_ACTIONS];

static inline enum warp_family warp_family(u32 action)
{
	return (enum warp_family)warp_families[action];
}

static inline bool warp_takes_predicate(u32 action)
{
	return warp_family(action) == WARP_FAMILY_VOTE || warp_family(action) == WARP_FAMILY_BALLOT;
}

#endif
