/* Private to quick.h: intervals that follow logs of others. */
#ifndef PL_CHECK_QUICK_INT_H
#define PL_CHECK_QUICK_INT_H

#include "src/check/race/quick.h"

/* Of `write`: the granule was written in an interval before that one, too. */
#define QUICK_EARLIER 0x8000u

#define HALF_WARP (WARP_LANES / 2)

/* Do the addresses of each half of the warp lie at one small distance from each other? */
bool quick_is_regular(const struct exec_access *a);
/* The same of a row of words. */
bool quick_is_row_regular(const u32 *row);
/* An access of this interval that races with none of it before. */
void quick_touch(struct quick *q, const struct quick_access *x);

/* ---- quick_follow.c ---- */

void quick_free_logs(struct quick *q);
/* For another CTA. */
void quick_reset_logs(struct quick *q);
/* The interval is over: what its log says is true of all that follow it. */
void quick_next_log(struct quick *q);
/*
 * Does the interval go on as the log that it follows? Else it has a log of its own from now on.
 * regular: as quick_is_regular, and by a full mask.
 */
bool quick_follow(struct quick *q, const struct exec_access *a, bool regular, u32 time);
bool quick_follow_words(struct quick *q, const struct exec_access *a, const u32 *row, u32 offset,
			u32 time);

#endif
