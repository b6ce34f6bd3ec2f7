/*
 * Ranges that programs mark (NVTX), and whether they have switched profiling on: what a launch is
 * in, at the call that asks for it.
 *
 * Ranges that are pushed and popped form a stack for each thread and domain; those that are started
 * and ended are the process's.
 */
#ifndef PL_PROFILE_RANGES_H
#define PL_PROFILE_RANGES_H

#include "src/profile/profile.h"

#define RANGE_DOMAIN_DEFAULT "<default domain>"

struct profile_ranges;

/* When launches are profiled, in the order of PTXLOOM_PROFILE_FROM_START. */
enum profile_switch { SWITCHED_OFF, SWITCHED_ON, SWITCHED_ALWAYS };

/* NULL without memory. */
struct profile_ranges *profile_ranges_new(enum profile_switch at_first);
void profile_ranges_free(struct profile_ranges *r);

/* Each returns how deep it is in its domain's stack, as NVTX does; -1: there is no such range. */
int profile_ranges_push(struct profile_ranges *r, const char *domain, const char *name);
int profile_ranges_pop(struct profile_ranges *r, const char *domain);
/* 0 without memory. */
u64 profile_ranges_start(struct profile_ranges *r, const char *domain, const char *name);
void profile_ranges_end(struct profile_ranges *r, u64 id);
void profile_ranges_switch(struct profile_ranges *r, bool on);

/* What the calling thread is in now; the same one for the same ranges. Valid as long as r. NULL
 * without memory. */
const struct profile_ranges_view *profile_ranges_here(struct profile_ranges *r);

/* ---- filters: ncu's --nvtx-include and --nvtx-exclude ---- */

/*
 * "Domain@Range", of ranges that are started and ended; with a slash of ranges that are pushed:
 * "A/", "A/B"; a star between slashes for any number of ranges, a plus for one; "[A" for the
 * outermost, "A]" for the innermost. Several with commas between have all to be there. Names may
 * be regex:EXPRESSION; a backslash takes what follows it as it is.
 */
struct range_filter;

/* NULL with a line in `why`. */
struct range_filter *range_filter_new(const char *text, struct text *why);
void range_filter_free(struct range_filter *f);
bool range_filter_fits(const struct range_filter *f, const struct profile_ranges_view *v);

#endif
