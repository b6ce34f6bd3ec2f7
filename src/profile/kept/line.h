/*
 * Metrics of one line of the source, or of PTX: sums over the instructions that belong to it.
 */
#ifndef PL_PROFILE_LINE_H
#define PL_PROFILE_LINE_H

#include "src/profile/kept/claim.h"

/* Sums of what a metric is made of. Zeroed: of no instruction. */
struct line_sum {
	u64 of, per;         /* of the line */
	u64 all_of, all_per; /* of everything, against which the whole metric is held */
	u64 insns;           /* that belong to the line */
};

/* False with a line in `why`: the metric is not counted for each instruction. */
bool line_metric_check(const struct metric_named *m, struct text *why);
void line_sum_add(struct line_sum *s, const struct metric_claim *c, const struct profile_launch *l);
/*
 * whole: the metric of the same launches. False with a line in `why`: no instruction belongs to the
 * line, or what instructions count is not all of the metric.
 */
bool line_metric_value(const struct metric_claim *c, const struct line_sum *s, double whole,
		       double *out, struct text *why);

#endif
