/*
 * Private to kept*.c.
 */
#ifndef PL_PROFILE_KEPT_INT_H
#define PL_PROFILE_KEPT_INT_H

#include "src/profile/kept/kept.h"
#include "src/profile/kernels.h"

#include <pthread.h>

struct profile_kept {
	pthread_mutex_t lock;
	/* Launches are its own, without rows, and hold their programs. */
	struct kernel_sums kernels;
	u64 next;
	bool is_short; /* of memory: launches are missing */
};

#endif
