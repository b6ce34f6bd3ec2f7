/*
 * Pools that programs announce (NVTX): ranges inside allocations of which only announced regions
 * may be touched. For the whole process, as addresses are. Without pools it costs one test where an
 * access finds its allocation anew.
 */
#ifndef PL_MEM_POOLS_H
#define PL_MEM_POOLS_H

#include "src/mem/mem.h"

struct mem_region {
	u64 base, size;
	bool freed; /* kept for messages until another one takes its place */
};

/* How many pools there are. */
extern u32 mem_pools;

static inline bool mem_has_pools(void)
{
	return PL_UNLIKELY(__atomic_load_n(&mem_pools, __ATOMIC_ACQUIRE) != 0);
}

/*
 * The callers of those that change something void the caches of devices (mem_system_changed).
 * A pool without regions: nothing of it may be touched. Returns its number, 0: no memory, or no
 * range of addresses.
 */
u64 mem_pool_add(u64 base, u64 size);
bool mem_pool_remove(u64 id);
/* In a child by fork: there are none. */
void mem_pools_drop(void);
/* All regions end. */
bool mem_pool_reset(u64 id, u64 *base, u64 *size);
/* A region of a pool, 0: of the innermost one. False: it is not inside, or there is no memory. */
bool mem_region_add(u64 id, u64 base, u64 size);
/* The region that begins there gets another size, *old: what it had. False: there is none. */
bool mem_region_resize(u64 base, u64 size, u64 *old);
/* *size: of the region. False: there is none. */
bool mem_region_remove(u64 base, u64 *size);
/* An allocation ends, with the pools inside. */
void mem_pools_forget(u64 base, u64 size);

/*
 * May the stretch be touched? The cache, which covers its allocation, shrinks to what may be.
 */
bool mem_pools_narrow(struct mem_cache *c, u64 addr, u64 size);

/* The region of the pool around an address that is nearest to it. False: there is none. */
bool mem_region_near(u64 addr, struct mem_region *out);

#endif
