/*
 * The instruction that a metric is mostly of.
 */
#ifndef PL_PROFILE_BLAME_H
#define PL_PROFILE_BLAME_H

#include "src/profile/profile.h"

/*
 * Add "FILE:LINE: INSTRUCTION; (3968)" for the instruction of the launch's rows that has most of what
 * the metric with this name counts. Returns how much; 0: it is of none.
 */
u64 profile_blame(const char *metric, const struct profile_launch *l, struct text *out);

/* The text of an instruction behind its guard. */
const char *profile_unguarded(const char *text);

#endif
