/*
 * Which pages of managed memory the process has touched, as its page tables tell: no signals, no
 * cost of an access, and system calls that are passed such memory work. The pages belong to a
 * mapping that keeps contents when its entries are dropped.
 */
#ifndef PL_MANAGED_TOUCHED_H
#define PL_MANAGED_TOUCHED_H

#include "src/base/base.h"

struct touched {
	int map; /* /proc/self/pagemap; -1: closed */
};

/* False: this host does not tell. */
bool touched_open(struct touched *t);
void touched_close(struct touched *t);
/* Give pages such a mapping, with their contents if wanted. False: the host refuses. */
bool touched_begin(u64 address, u64 bytes, bool keeps);
/* They are ordinary ones again, with undefined contents. */
void touched_end(u64 address, u64 bytes);
/* Of pages from `address`: was each touched since touched_drop? False: nothing is known. */
bool touched_read(const struct touched *t, u64 address, u32 pages, bool *out);
void touched_drop(u64 address, u64 bytes);

#endif
