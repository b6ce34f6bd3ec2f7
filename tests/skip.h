/*
 * What cannot be had on a host: a line of its own for each, with the reason, so that what was not
 * tested is seen.
 */
#ifndef PL_TESTS_SKIP_H
#define PL_TESTS_SKIP_H

#include "tests/check.h"

static inline void check_skip(const char *what, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++check_count, what, why);
}

/* Does the host run code for the level (base, v2, v3, v4)? */
static inline bool check_level(bool runs, const char *level)
{
	if (!runs)
		check_skip(level, "the processor has not the instructions of this level");
	return runs;
}

#endif
