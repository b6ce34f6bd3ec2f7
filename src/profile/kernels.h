/*
 * The launches of each kernel put together.
 */
#ifndef PL_PROFILE_KERNELS_H
#define PL_PROFILE_KERNELS_H

#include "src/profile/report.h"

struct kernel_sum {
	/* Counts added up; what says how the kernel was launched is the last launch's. Its rows are
	 * those of all, one for each instruction. */
	struct profile_launch sum;
	VEC(const struct profile_launch *) launches;
};

/* In the order of their first launches. Programs that have the same code are the same kernel. */
struct kernel_sums {
	VEC(struct kernel_sum) at;
};

/* Which of them it is; SIZE_MAX without memory. */
size_t kernel_sums_add(struct kernel_sums *k, const struct profile_launch *l);
void kernel_sums_fini(struct kernel_sums *k);

#endif
