/*
 * Memory at addresses that are given: for launches that are repeated in another process.
 */
#ifndef PL_MEM_PLACE_H
#define PL_MEM_PLACE_H

#include "src/mem/mem.h"

/* The next arena gets this address, if it is free. */
void mem_place_next(u64 base);
/*
 * An arena as it was: what has been opened of it (`open`: where that ends) can be read and written,
 * and further allocations continue at `next`, within `window`. False: these are no addresses of it,
 * or the host has no memory.
 */
bool mem_place_resume(struct mem *m, u64 open, u64 next, u64 window);
/*
 * An allocation of the arena where it was, zeroed; freed ones (r->freed) are what messages know of
 * them. id and time are new ones. False: there is something else, or no memory left.
 */
bool mem_place_range(struct mem *m, const struct mem_range *r);

#endif
