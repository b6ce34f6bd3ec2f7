/*
 * Managed memory of a process under a profile: who touches which page, told to the model of
 * residency. Launches tell the pages that they have touched; what the host touches between them is
 * seen in the page tables, in ascending order; copies and fills count as a device's.
 *
 * Any thread, any time.
 */
#ifndef PL_MANAGED_MANAGED_H
#define PL_MANAGED_MANAGED_H

#include "src/managed/residency.h"

struct managed;

/* Pages of an allocation that a launch has touched: MANAGED_READ and the like for each. */
enum { MANAGED_READ = 1, MANAGED_WRITTEN = 2 };
struct managed_touch {
	u64 base;
	const u8 *page;
	u64 pages;
};

/* Begin with what is allocated from now on. NULL: the host does not tell, or has no memory. */
struct managed *managed_new(void);
/* NULL is allowed, here and below: nothing happens. */
void managed_free(struct managed *m);
/* Is there any now? */
bool managed_is_used(struct managed *m);
/* A launch of which managed_launch_end will be called. */
void managed_launch_begin(struct managed *m, u32 device);
/* It has ended; *out: what it has caused. */
void managed_launch_end(struct managed *m, u32 device, const struct managed_touch *touch, u32 len,
			struct managed_counts *out);
/* A launch of which nothing is told: what it does with pages is not known. */
void managed_launch_unseen(struct managed *m);
/* All up to now. */
void managed_sum(struct managed *m, struct managed_counts *out);

#endif
