/*
 * The cache of indexed constants of one SM: 2 KiB in lines of 64 bytes, 8 sets of 4, the line
 * unused for longest goes. By latencies of an H100, and of P100, V100 and T4 in the literature.
 * Not for several threads at once.
 */
#ifndef PL_CACHE_CONSTANT_H
#define PL_CACHE_CONSTANT_H

#include "src/base/base.h"

#define CONSTANT_LINE_BYTES 64u
#define CONSTANT_SETS 8u
#define CONSTANT_WAYS 4u

struct constant_cache {
	u64 line[CONSTANT_SETS][CONSTANT_WAYS]; /* + 1; 0: none; last used first */
	u64 hit, miss;                          /* requests */
};

/*
 * A request for a line, address / CONSTANT_LINE_BYTES: loads make one for each distinct address.
 * Returns whether it hits. is_counted: it is in the counts already.
 */
bool constant_look(struct constant_cache *c, u64 line, bool is_counted);
/* As at the beginning of a launch: two lines are taken by parameters. */
void constant_reset(struct constant_cache *c);

#endif
