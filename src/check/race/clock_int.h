/* Private to what threads know of each other. */
#ifndef PL_CHECK_CLOCK_INT_H
#define PL_CHECK_CLOCK_INT_H

#include "src/check/race/clock.h"

/* The CTA's threads know more than its barriers say. */
void clock_end_plain(struct clock_cta *c);
/* The statements of sets of lanes; fenced: of those that are visible beyond the CTA. How many. */
u32 clock_near_entries(const struct near near[NEAR_SETS], u64 cta, u32 warp, bool fenced,
		       struct known_entry *at);
/* What a thread knows, and will know behind a barrier or a fence. The caller owns the result. */
struct known *clock_known_soon(const struct clock_cta *c, const struct thread_clock *t);

#endif
