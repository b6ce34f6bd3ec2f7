/*
 * Launches that are kept in memory, for the program itself: ptxloom_counters(3).
 */
#ifndef PL_PROFILE_KEPT_H
#define PL_PROFILE_KEPT_H

#include "src/profile/profile.h"

#include <ptxloom.h>

struct metric_base;
struct metric_claim;
struct profile_collect;
struct profile_kept;

/*
 * Keep the launches of *c; NULL: of one that is opened, caches: with their model. false: no memory
 * left; what was opened is to be closed nevertheless.
 */
bool profile_keep(struct profile_collect **c, bool caches, struct profile_kept **kept);
/* NULL is allowed. */
void profile_kept_free(struct profile_kept *k);
void profile_kept_clear(struct profile_kept *k);
u64 profile_kept_next(struct profile_kept *k);
/* As ptxloom_metric and ptxloom_metric_expect; k NULL: nothing is counted. */
int profile_kept_metric(struct profile_kept *k, const struct ptxloom_launches *which,
			const char *name, double *out, struct text *why);
int profile_kept_expect(struct profile_kept *k, const struct ptxloom_launches *which,
			const char *claim, struct text *why);
/* The same of a claim that was parsed. */
int profile_kept_check(struct profile_kept *k, const struct ptxloom_launches *which,
		       const struct metric_claim *c, struct text *why);
/* As ptxloom_metric_place. */
int profile_kept_place(struct profile_kept *k, const struct ptxloom_launches *which,
		       const char *name, struct text *out);

/* Add what all kernels did, as rows of no test. False: no memory left, or launches are missing. */
bool profile_kept_save(struct profile_kept *k, struct metric_base *b);

/* A copy of what there is; k NULL: nothing. NULL without memory. */
const struct ptxloom_counters *profile_kept_counters(struct profile_kept *k);
void profile_counters_free(const struct ptxloom_counters *c);

#endif
