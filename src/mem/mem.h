/*
 * Device memory: one reserved range of host addresses in which every allocation of a device lives, so that a device
 * address is a host address. Behind it lie the generic windows of shared and local memory, never mapped.
 *
 *   [arena, arena + size)             global, constant and parameter allocations
 *   [shared_base, + 64 << 24)         shared memory: base | field << 24 | offset; field 0: the CTA's own, else that of
 *                                     the CTA with rank field - 1 in the cluster
 *   [local_base, + 1 << 32)           local memory of the thread that asks
 *
 * Source: PTX ISA "State Spaces", "Generic Addressing".
 */
#ifndef PL_MEM_H
#define PL_MEM_H

#include "src/base/map.h"

#include <pthread.h>

enum mem_space { MEM_GENERIC, MEM_GLOBAL, MEM_CONST, MEM_SHARED, MEM_LOCAL, MEM_PARAM };

enum mem_kind {
	MEM_KIND_DEVICE,  /* cudaMalloc, module variables */
	MEM_KIND_CONST,   /* .const variables */
	MEM_KIND_PARAM,   /* kernel parameters */
	MEM_KIND_HOST,    /* pinned or registered host memory, outside the arena */
	MEM_KIND_MANAGED,
	MEM_KIND_HEAP,    /* device-side malloc */
	MEM_KIND_ARRAY,   /* texels: src/mem/array.h */
};

#define MEM_SHARED_RANK_SHIFT 24u
#define MEM_SHARED_OFFSET (((u64)1 << MEM_SHARED_RANK_SHIFT) - 1)
#define MEM_SHARED_WINDOW ((u64)64 << MEM_SHARED_RANK_SHIFT)
#define MEM_LOCAL_WINDOW ((u64)1 << 32)
#define MEM_ALIGN 256u

struct mem_range {
	u64 base, size;
	u8 kind;
	bool freed;   /* kept for messages about use after free until the address is reused */
	u64 id;       /* counts allocations */
	void *user;   /* of the API layer */
};

/* What an instruction remembers of the allocation it touched last: addr - lo <= span - bytes is a hit. */
struct mem_cache {
	u64 lo, span;
};

struct mem {
	u8 *arena;
	u64 arena_size;
	u64 shared_base, local_base;
	u64 limit_bytes, used_bytes; /* of the device's memory */
	pthread_mutex_t lock;
	struct mem_range *ranges;    /* sorted by base */
	u32 len, cap;
	u64 next;                    /* fresh address space begins here */
	u64 next_id;
	/* changes when ranges go away: caches are void; read atomically without the lock */
	u32 epoch;
	struct map handles; /* of arrays: src/mem/array.c; guarded by the lock */
	/*
	 * Only what lies inside an allocation may be touched. Else as on hardware: whatever shares a page with a live
	 * allocation may. Set before the first launch.
	 */
	bool strict;
	/* The first access outside allocations that was let pass; 0: none. Guarded by the lock. */
	struct {
		u64 address, size, total;
	} slack;
};

/* Size of a page of the devices' address translation; allocations are mapped in whole ones. */
#define MEM_PAGE ((u64)2 << 20)

/* Reserve address space for a device with `limit_bytes` of memory. Returns false when the host refuses. */
bool mem_init(struct mem *m, u64 limit_bytes);
void mem_fini(struct mem *m);

/*
 * Zeroed memory of at least one byte, aligned to `align` (a power of two, at least MEM_ALIGN is
 * used). Returns its address, 0 when the device or the host has no memory left.
 */
u64 mem_alloc(struct mem *m, u64 size, u64 align, enum mem_kind kind);
/* Returns false when `base` is not the start of a live allocation. */
bool mem_free(struct mem *m, u64 base);
/* Make host memory known (pinned, registered), at its own address. False when it overlaps what is known. */
bool mem_register(struct mem *m, u64 base, u64 size, enum mem_kind kind);
bool mem_unregister(struct mem *m, u64 base);

/* The live allocation that contains [addr, addr + size), copied to *out. */
bool mem_find(struct mem *m, u64 addr, u64 size, struct mem_range *out);
/*
 * For messages: "12 bytes after a 4096-byte allocation at 0x...", "inside a freed ..", or "no allocation is near".
 */
void mem_describe(struct mem *m, u64 addr, char *out, size_t size);

/*
 * Make `c` cover the allocation that contains [addr, addr + size). When there is none and `strict` is off, but a live
 * allocation shares every page of that range, `c` covers the range alone. Else returns false.
 */
bool mem_cache_fill(struct mem *m, struct mem_cache *c, u64 addr, u64 size);

static inline bool mem_cache_hit(const struct mem_cache *c, u64 addr, u64 size)
{
	return addr - c->lo <= c->span - size && size <= c->span;
}

#endif
