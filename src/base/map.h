/*
 * Hash map from a 64-bit key to a 64-bit value, open addressing.
 * Keys are pointers of interned strings, addresses or hashes; any value but 0.
 * The caller owns the storage; a zeroed map is empty.
 */
#ifndef PL_MAP_H
#define PL_MAP_H

#include "src/base/base.h"

struct map_slot {
	u64 key; /* 0: free */
	u64 value;
};

struct map {
	struct map_slot *slots;
	size_t len, cap; /* cap: 0 or a power of two */
};

void map_fini(struct map *m);

/* The value slot of `key`, or NULL when absent. Valid until the next map_set. */
u64 *map_get(const struct map *m, u64 key);

/* Set key to value, replacing. Returns false when the host has no memory left. */
bool map_set(struct map *m, u64 key, u64 value);

/* Forget key, if it is there. Value slots of others may move. */
void map_remove(struct map *m, u64 key);

static inline u64 map_key(const void *p)
{
	return (u64)(uintptr_t)p;
}

#endif
