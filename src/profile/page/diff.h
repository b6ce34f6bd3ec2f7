/*
 * Two reports compared: the sums of each kernel's launches, and the lines that have changed.
 */
#ifndef PL_PROFILE_DIFF_H
#define PL_PROFILE_DIFF_H

#include "src/profile/page/page.h"

struct profile_diff {
	const struct metric_list *metrics; /* to compare; empty: all that are sums */
	u64 limit;                         /* kernels to show; 0: all */
	bool differs;                      /* out: anything does */
};

/*
 * Add what differs, first of the kernel whose difference is the largest share of what all kernels
 * have of a metric. False without memory.
 */
bool profile_diff(const struct profile_report *a, const struct profile_report *b,
		  struct profile_diff *d, struct text *out);

#endif
