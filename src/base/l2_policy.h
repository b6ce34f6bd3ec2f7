/*
 * Policies of the second cache as values of 64 bits: what createpolicy makes, and what
 * L2::cache_hint is given. The layout is that of hardware, as libcu++ has it for access properties
 * that the host makes (cuda::access_property), so that values from there, and those that libraries
 * have as constants, say the same here.
 */
#ifndef PL_BASE_L2_POLICY_H
#define PL_BASE_L2_POLICY_H

#include "src/base/base.h"

/* Priorities of eviction, by their numbers in a policy. */
enum l2_priority {
	L2_PRIORITY_UNCHANGED,
	L2_PRIORITY_FIRST,
	L2_PRIORITY_LAST,
	L2_PRIORITY_NORMAL, /* of lines that are there, too */
};

/* Bits that createpolicy does not set, but a program may. */
#define L2_POLICY_NOT_IN_FIRST ((u64)1 << 61) /* the first cache keeps nothing */
#define L2_POLICY_FETCH_256 ((u64)1 << 62)

/* Fractions are sixteenths, 1 to 16. secondary: L2_PRIORITY_UNCHANGED or _FIRST. */
u64 l2_policy_fractional(enum l2_priority primary, enum l2_priority secondary, float fraction);
/* The first `bytes` from the address on are primary, the rest of `all` bytes secondary. */
u64 l2_policy_range(enum l2_priority primary, enum l2_priority secondary, u64 address, u32 bytes,
		    u32 all);

/* What a policy says of a line. */
struct l2_policy_line {
	u64 address;
	u32 part; /* 0 .. 15: those below a fraction's sixteenths are primary */
};

enum l2_priority l2_policy_priority(u64 policy, const struct l2_policy_line *line);

#endif
