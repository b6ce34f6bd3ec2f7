/*
 * How asynchronous copies of a warp go past the first cache (cp.async.cg): in packets, each of the
 * sectors of one line of global memory that keep their distance to where they go in one row of
 * shared memory. As an H200 counts them (tests/counters/caches.tsv).
 */
#ifndef PL_CACHE_COPIES_H
#define PL_CACHE_COPIES_H

#include "src/base/base.h"

#define COPY_LANES 32u

struct copy_packet {
	u64 line;
	u32 sectors; /* of the line, a bit each */
};

struct copy_packets {
	u32 len; /* packets: a wavefront and a request to the second cache each */
	struct copy_packet at[COPY_LANES];
	u32 lines;   /* that they are of */
	u32 pairs;   /* of a line and a row of shared memory: set accesses */
	u32 sectors; /* of rows that each pair fills: what the first cache counts */
	u32 moved;   /* sectors of all packets: what comes from the second cache */
};

/* Lanes of `mask` copy 16 bytes each. */
void cache_copy_packets(const u64 *from, const u64 *to, u32 mask, struct copy_packets *out);

#endif
