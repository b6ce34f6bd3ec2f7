/*
 * Two reports compared: the sums of each kernel's launches, and the lines that have changed.
 */
#ifndef PL_PROFILE_DIFF_H
#define PL_PROFILE_DIFF_H

#include "src/profile/page/page.h"

/* Add what differs. metrics: of which; empty: all that are sums. False without memory. */
bool profile_diff(const struct profile_report *a, const struct profile_report *b,
		  const struct metric_list *metrics, struct text *out);

#endif
