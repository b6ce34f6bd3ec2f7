/*
 * Memory as programs ask for it: allocation of every kind, what a pointer is, access of peers. Both
 * CUDA interfaces are thin skins over this.
 *
 * Every allocation has a block that says how it was made; a block hangs on its range
 * (mem_range.user) and ends with it. Functions return the error of both interfaces. Sources: CUDA
 * Runtime API "Memory Management", "Unified Addressing", "Stream Ordered Memory Allocator"; CUDA
 * Driver API "Virtual Memory Management".
 */
#ifndef PL_DEV_MEMORY_H
#define PL_DEV_MEMORY_H

#include "src/dev/stream/stream.h"

enum memory_type {
	MEMORY_DEVICE = 1,
	MEMORY_PINNED,
	MEMORY_REGISTERED,
	MEMORY_MANAGED,
	MEMORY_POOLED,   /* of a pool, freed in the order of a stream */
	MEMORY_MAPPED,   /* a mapping */
	MEMORY_IMPORTED, /* another process's */
};

struct memory_pool;
struct memory_physical;

/* Places as CUDA numbers them: CUmemLocationType. */
enum memory_location_type {
	LOCATION_INVALID,
	LOCATION_DEVICE,
	LOCATION_HOST,
	LOCATION_NUMA,
	LOCATION_NUMA_HERE
};

struct memory_location {
	int type, id;
};

struct memory_block {
	enum memory_type type;
	u32 device; /* index of the owner */
	u32 flags;  /* of host and managed memory, as CUDA numbers them */
	struct memory_pool *pool;
	struct memory_physical *physical;
	bool shared;   /* pages are in the arena's file */
	bool sync;     /* POINTER_SYNC_MEMOPS */
	bool leaving;  /* a stream will free it */
	bool external; /* mapped: of an imported object, which frees it */
	u32 opened;    /* imported: times */
	u64 key[2];    /* imported: which file, which place; mapped: place in its file */
	/* managed memory */
	bool read_mostly;
	u32 accessed_by; /* bit i: device i; bit 31: the host */
	struct memory_location preferred, prefetched;
};

#define MEMORY_HOST_BIT ((u32)1 << 31)
/* cudaMalloc promises 256; the driver gives 512. */
#define MEMORY_ALIGN 512u
#define MEMORY_PITCH 512u

/* ---- allocation: memory.c ---- */

/* Device memory of at least one byte. */
enum status memory_alloc(struct device *d, u64 bytes, u64 *out);
/* Rows a multiple of MEMORY_PITCH apart. */
enum status memory_alloc_pitch(struct device *d, u64 width, u64 height, u64 *out, u64 *pitch);
enum status memory_alloc_managed(struct device *d, u64 bytes, u32 flags, u64 *out);
/* flags: portable 1, mapped 2, write-combined 4. */
enum status memory_alloc_host(struct device *d, u64 bytes, u32 flags, u64 *out);
/*
 * Free device or managed memory, or memory of a pool at once; waits for the owner's work. 0 is
 * nothing. STATUS_INVALID_VALUE: it is not the start of such memory.
 */
enum status memory_free(struct device *d, u64 p);
enum status memory_free_host(struct device *d, u64 p);
/*
 * Make memory of the program known. flags: portable 1, mapped 2, i/o 4, read-only 8.
 * STATUS_HOST_MEMORY_ALREADY_REGISTERED, STATUS_HOST_MEMORY_NOT_REGISTERED.
 */
enum status memory_register(struct device *d, u64 p, u64 bytes, u32 flags);
enum status memory_unregister(struct device *d, u64 p);
/* Flags with which host memory was made or registered. */
enum status memory_host_flags(struct device *d, u64 p, u32 *flags);
/* A block for a new range; takes the range back when there is no memory. NULL then. */
struct memory_block *memory_block_new(struct mem *m, u64 p, enum memory_type type, u32 device);
/* The block of the live range that starts at p, NULL: none. */
struct memory_block *memory_block_at(struct mem *m, u64 p);
/* End the range at p and its block. */
void memory_end(struct mem *m, u64 p);

/* ---- what a pointer is: memory_info.c ---- */

struct memory_info {
	struct mem_range range;
	struct mem *arena;
	struct memory_block *block; /* NULL: a variable, or parameters */
	u32 device;                 /* index; of host memory the device that made it */
};

/* False: no device knows the address. */
bool memory_find(struct mem_system *s, u64 p, struct memory_info *out);
/* CUmemorytype: 1 host, 2 device. */
int memory_type_of(const struct memory_info *i);
/* One attribute of cuPointerGetAttribute. STATUS_INVALID_VALUE: there is no such thing here. */
enum status memory_attribute(const struct memory_info *i, u64 p, int attribute, void *out);
/* Bytes of an attribute's answer, 0: there is none. */
u32 memory_attribute_bytes(int attribute);

/* cudaMemAdvise and the like on managed memory of `bytes`. location: where it applies. */
enum status memory_advise(struct mem_system *s, u64 p, u64 bytes, int advice,
			  struct memory_location where, u32 devices);
/* stream: in whose order those who watch memory are told. */
enum status memory_prefetch(struct mem_system *s, u64 p, u64 bytes, struct memory_location where,
			    u32 devices, struct stream *stream);
/* Are these bytes managed memory, all of one allocation? */
bool memory_is_managed(struct mem_system *s, u64 p, u64 bytes);
/* One attribute of cudaMemRangeGetAttribute into `size` bytes. */
enum status memory_range_attribute(struct mem_system *s, u64 p, u64 bytes, int attribute, void *out,
				   u64 size);

/* ---- peers: memory_info.c ---- */

/* Let device d reach the memory of device `peer` of the same system, or end it. */
enum status memory_peer_enable(struct device *d, const struct device *peer);
enum status memory_peer_disable(struct device *d, const struct device *peer);

/* ---- other processes: memory_ipc.c ---- */

#define MEMORY_IPC_BYTES 64u

/* cudaIpcGetMemHandle. */
enum status memory_ipc_export(struct device *d, u64 p, void *handle);
/* cudaIpcOpenMemHandle: in this process STATUS_INVALID_CONTEXT. */
enum status memory_ipc_open(struct device *d, const void *handle, u64 *out);
enum status memory_ipc_close(struct device *d, u64 p);

/* ---- pools: memory_pool.c ---- */

/* cudaMemPoolProps, 88 bytes in all versions. */
struct memory_pool_props {
	int alloc_type, handle_types;
	struct memory_location location;
	void *security;
	u64 max_bytes;
	u16 usage;
	u8 reserved[54];
};

enum memory_pool_attribute {
	POOL_REUSE_FOLLOW_EVENTS = 1,
	POOL_REUSE_OPPORTUNISTIC,
	POOL_REUSE_DEPENDENCIES,
	POOL_RELEASE_THRESHOLD,
	POOL_RESERVED_CURRENT,
	POOL_RESERVED_HIGH,
	POOL_USED_CURRENT,
	POOL_USED_HIGH,
	POOL_ATTRIBUTES,
};

struct memory_pool {
	struct memory_pools *all;
	struct device *dev; /* whose memory it is; of the host's and managed memory any device */
	struct mem *arena;
	struct memory_pool
		*chosen; /* of a default one: what allocates in its place, NULL: itself */
	struct memory_pool_props props;
	bool is_default, destroyed, imported;
	int fd;                 /* imported: the exporter's pages */
	u32 readable, writable; /* devices, besides the owner */
	u64 attribute[POOL_ATTRIBUTES];
	u64 live; /* allocations */
	struct memory_pool *next;
};

/* The pools of a process. Zeroed; the lock guards all of them. */
struct memory_pools {
	pthread_mutex_t lock;
	struct memory_pool *first;
};

struct memory_pool *memory_pool_default(struct memory_pools *all, struct device *d);
/*
 * The same for pinned memory of the host and for managed memory, by type of allocation and place;
 * d: any device. NULL without memory.
 */
struct memory_pool *memory_pool_default_at(struct memory_pools *all, struct device *d,
					   int alloc_type, const struct memory_location *where);
/* Does it allocate this type of memory in this place? */
bool memory_pool_is_at(const struct memory_pool *p, int alloc_type,
		       const struct memory_location *where);
/* Is it one? Any value may be asked about. */
bool memory_pool_is(struct memory_pools *all, const void *handle);
/* d: the place's device, else any. */
enum status memory_pool_create(struct memory_pools *all, struct device *d,
			       const struct memory_pool_props *props, struct memory_pool **out);
/* Allocations stay until they are freed. A default pool: STATUS_INVALID_VALUE. */
enum status memory_pool_destroy(struct memory_pools *all, struct memory_pool *p);
/* The device is closed: forget its pools. */
void memory_pools_forget(struct memory_pools *all, const struct device *d);
enum status memory_pool_get(struct memory_pools *all, struct memory_pool *p, int attribute,
			    void *value);
enum status memory_pool_set(struct memory_pools *all, struct memory_pool *p, int attribute,
			    const void *value);
enum status memory_pool_trim(struct memory_pools *all, struct memory_pool *p, u64 keep);
/* The memory is usable at once, and its content undefined. */
enum status memory_pool_alloc(struct memory_pool *p, u64 bytes, u64 *out);
/* The same in a stream, which may be captured: then a node allocates. */
enum status memory_alloc_async(struct stream *s, struct memory_pool *p, u64 bytes, u64 *out);
/* Free at once. */
void memory_pool_give_back(struct memory_pool *p, u64 at, u64 bytes);
/* Free in the order of the stream. Plain device memory may be freed so as well. */
enum status memory_free_async(struct stream *s, u64 p);
/* flags: 0 none, 1 read, 3 read and write. */
enum status memory_pool_access(struct memory_pool *p, struct memory_location where, u32 flags,
			       u32 devices);
enum status memory_pool_access_get(const struct memory_pool *p, struct memory_location where,
				   u32 *flags);
/* Give the pool's allocations the access that the pool has. */
void memory_pool_spread(struct memory_pool *p);
/* A new file descriptor that stands for the pool. */
enum status memory_pool_export(struct memory_pool *p, int *fd);
enum status memory_pool_import(struct memory_pools *all, struct device *d, int fd,
			       struct memory_pool **out);
/* data: 64 bytes. */
enum status memory_pool_export_pointer(struct mem_system *s, u64 p, void *data);
enum status memory_pool_import_pointer(struct memory_pool *p, const void *data, u64 *out);

/* ---- mappings: memory_map.c ---- */

#define MEMORY_GRANULARITY ((u64)2 << 20)

/* CUmemAllocationProp */
struct memory_physical_props {
	int type, handle_types;
	struct memory_location location;
	void *security;
	struct {
		u8 compression, rdma;
		u16 usage;
		u8 reserved[4];
	} flags;
};

/* CUmemAccessDesc */
struct memory_access {
	struct memory_location location;
	int flags;
};

struct memory_reservation {
	u64 base, size;
};

/* Reservations and physical memory of a process. Zeroed. */
struct memory_maps {
	struct mem_system *system;
	pthread_mutex_t lock;
	VEC(struct memory_reservation) reserved;
	struct memory_physical *first;
};

enum status memory_reserve(struct memory_maps *maps, u64 size, u64 align, u64 at, u64 *out);
enum status memory_unreserve(struct memory_maps *maps, u64 at, u64 size);
/* d: owner, NULL for memory of the host. */
enum status memory_create(struct memory_maps *maps, struct device *d, u64 size,
			  const struct memory_physical_props *props, struct memory_physical **out);
enum status memory_release(struct memory_maps *maps, struct memory_physical *p);
enum status memory_map(struct memory_maps *maps, u64 at, u64 size, u64 offset,
		       struct memory_physical *p);
enum status memory_unmap(struct memory_maps *maps, u64 at, u64 size);
enum status memory_set_access(struct memory_maps *maps, u64 at, u64 size,
			      const struct memory_access *desc, u64 count);
enum status memory_get_access(struct memory_maps *maps, u64 at, struct memory_location where,
			      u64 *flags);
/* The physical memory at an address, with one more reference. */
enum status memory_retain(struct memory_maps *maps, u64 at, struct memory_physical **out);
enum status memory_physical_get(struct memory_maps *maps, const struct memory_physical *p,
				struct memory_physical_props *out);
/* The device is closed: physical memory counts as its no more. */
void memory_maps_forget(struct memory_maps *maps, const struct device *d);
/* Files that stand for physical memory; the caller owns what it gets. */
enum status memory_physical_export(struct memory_maps *maps, const struct memory_physical *p,
				   int *fd);
enum status memory_physical_import(struct memory_maps *maps, int fd, struct memory_physical **out);

#endif
