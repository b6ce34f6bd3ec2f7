/*
 * The host's time since some moment: it never goes back.
 */
#ifndef PL_BASE_CLOCK_H
#define PL_BASE_CLOCK_H

#include "src/base/base.h"

#include <time.h>

static inline u64 clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

static inline u64 clock_ms(void)
{
	return clock_ns() / 1000000u;
}

#endif
