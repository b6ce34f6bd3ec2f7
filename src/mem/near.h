/*
 * What lies around an address, for messages.
 */
#ifndef PL_MEM_NEAR_H
#define PL_MEM_NEAR_H

#include "src/mem/mem.h"

struct mem_near {
	struct mem_range range;
	enum { MEM_NEAR_NONE, MEM_NEAR_INSIDE, MEM_NEAR_AFTER, MEM_NEAR_BEFORE } where;
	/* bytes: from its first byte (inside), from its end (after), to it (before) */
	u64 distance;
	u32 device;        /* number of the arena in the system */
	bool is_read_only; /* the device may not write there */
	bool is_foreign;   /* of another device, to which peer access is not enabled */
};

/*
 * The allocation that contains addr, live or freed; else the nearest live one that the program has
 * asked for, else the nearest freed one. MEM_NEAR_NONE: there is none. Takes time: every range is
 * inspected.
 */
void mem_nearest(struct mem *m, u64 addr, struct mem_near *out);

#endif
