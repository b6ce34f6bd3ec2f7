/*
 * Results of kernels against what is expected of them.
 */
#ifndef PL_TOOLS_KIT_COMPARE_H
#define PL_TOOLS_KIT_COMPARE_H

#include "src/tools/exec_data.h"

/* What may differ; an element is right when one of them says so. */
struct tolerance {
	double rel, abs;
	u64 ulp;
	bool is_strict; /* ulp was given as 0: -0 is not 0 */
};

/* "rel=1e-5,abs=0,ulp=2". False with a reason. */
bool tolerance_parse(const char *text, struct tolerance *out, struct text *why);
/*
 * Compare data of one type and number of elements. A NaN equals a NaN. True, or lines in `out`: the
 * first elements that differ, how many do, and the worst.
 */
bool data_compare(const char *name, const struct data *got, const struct data *want,
		  const struct tolerance *t, struct text *out);

#endif
