/*
 * Device memory: one reserved range of addresses in which every allocation of a device lives.
 * Behind it lie the generic windows of shared and local memory, never mapped.
 *
 *   [arena, arena + size)             global, constant and parameter allocations
 *   [shared_base, + 64 << 24)         shared memory: base | field << 24 | offset; field 0: the
 *                                     CTA's own, else that of the CTA with rank field - 1 in the
 *                                     cluster
 *   [local_base, + 1 << 32)           local memory of the thread that asks
 *
 * A device address is an address of the host plus nothing, or, in a hidden arena, plus a distance:
 * there the addresses that programs see are reserved and never mapped, so that a host access
 * faults, and the bytes lie elsewhere. Each range says how far (`bias`).
 *
 * Arenas may be joined to a system: the memory of a process. Host memory that every device reaches
 * (pinned, registered, managed), mappings and the arenas of peers are looked up there after the
 * device's own.
 *
 * Source: PTX ISA "State Spaces", "Generic Addressing"; CUDA C++ Programming Guide "Unified Virtual
 * Address Space".
 */
#ifndef PL_MEM_H
#define PL_MEM_H

#include "src/base/map.h"

#include <pthread.h>

enum mem_space { MEM_GENERIC, MEM_GLOBAL, MEM_CONST, MEM_SHARED, MEM_LOCAL, MEM_PARAM };

enum mem_kind {
	MEM_KIND_DEVICE,   /* cudaMalloc, module variables */
	MEM_KIND_CONST,    /* .const variables */
	MEM_KIND_PARAM,    /* kernel parameters */
	MEM_KIND_HOST,     /* the program's own memory, registered; outside the arena */
	MEM_KIND_MANAGED,  /* both sides may touch it */
	MEM_KIND_HEAP,     /* device-side malloc */
	MEM_KIND_ARRAY,    /* texels: src/mem/array.h */
	MEM_KIND_PINNED,   /* host memory that we allocated */
	MEM_KIND_MAPPED,   /* a mapping of the virtual memory calls */
	MEM_KIND_INTERNAL, /* ours: no program has asked for it */
	MEM_KIND_BLOCK,    /* of device-side malloc, where blocks are apart */
};

#define MEM_SHARED_RANK_SHIFT 24u
#define MEM_SHARED_OFFSET (((u64)1 << MEM_SHARED_RANK_SHIFT) - 1)
#define MEM_SHARED_WINDOW ((u64)64 << MEM_SHARED_RANK_SHIFT)
#define MEM_LOCAL_WINDOW ((u64)1 << 32)
#define MEM_ALIGN 256u
#define MEM_HOST_PAGE 4096u
/* Size of a page of the devices' address translation; allocations are mapped in whole ones. */
#define MEM_PAGE ((u64)2 << 20)
#define MEM_DEVICES_MAX 32u

struct mem_range {
	u64 base, size;
	u64 bias;      /* address of the host - address of the device */
	u64 id;        /* counts allocations */
	u64 born_ns;   /* monotonic clock */
	void *user;    /* of the layer above: malloc'ed, freed with the arena */
	u32 devices;   /* bit i: device i of the system may use it, owner and peers aside */
	u32 read_only; /* bit i: device i may not write */
	u8 kind;
	bool freed; /* kept for messages about use after free until the address is reused */
};

/* What an instruction remembers of the allocation it touched last: addr - lo <= span - bytes is a
 * hit, and the host has it at addr + bias. */
struct mem_cache {
	u64 lo, span, bias;
};

struct mem_system;

struct mem {
	u8 *arena;
	u64 arena_size;
	u64 bias; /* of what the host must not see; 0: it sees everything */
	u64 shared_base, local_base;
	u64 limit_bytes, used_bytes; /* of the device's memory */
	/* Where others see used_bytes (src/usage/usage.h); NULL: nowhere. mem_show. */
	u64 *shown;
	pthread_mutex_t lock;
	struct mem_range *ranges; /* sorted by base */
	u32 len, cap, freed_len;
	u64 next;   /* search for room begins here */
	u64 window; /* end of what has been handed out so far */
	u64 open;   /* end of what is readable and writable */
	u64 next_id;
	/* changes when ranges go away: caches are void; read atomically without the lock */
	u32 epoch;
	struct map handles;        /* of arrays: src/mem/array.c; guarded by the lock */
	struct mem_system *system; /* NULL: alone */
	u32 index;                 /* in the system */
	u32 peers;                 /* bit i: accesses to device i are allowed; atomic */
	/*
	 * Only what lies inside an allocation may be touched. Else as on hardware: whatever shares
	 * a page with a live allocation may. Set before the first launch.
	 */
	bool strict;
	u32 padding;  /* of strict ones: bytes that stay free behind an allocation, at least */
	int share_fd; /* file of pages that other processes may map, -1: none */
	/*
	 * Who beside kernels has been let in so far: MEM_OTHER_..; bits are only added, atomically.
	 */
	u32 others;
};

/* Other processes share pages of the arena. */
#define MEM_OTHER_PROCESSES 1u
/* There is memory that the program reaches without a call, or at several addresses. */
#define MEM_OTHER_VIEWS 2u

/* ---- one arena: mem.c ---- */

/*
 * Arenas that are made from now on get addresses that do not depend on the process, if they are
 * free: for a debugger's scripts. Before the first one.
 */
void mem_fix_addresses(void);

/* Reserve address space for a device with `limit_bytes` of memory, which the host sees. Returns
 * false when the host refuses. */
bool mem_init(struct mem *m, u64 limit_bytes);
void mem_fini(struct mem *m);

/*
 * Zeroed memory of at least one byte, aligned to `align` (a power of two, at least MEM_ALIGN is
 * used). Returns its address, 0 when the device or the host has no memory left. Managed and pinned
 * memory of an arena in a system belongs to the system.
 */
u64 mem_alloc(struct mem *m, u64 size, u64 align, enum mem_kind kind);
/* Returns false when `base` is not the start of a live allocation. */
bool mem_free(struct mem *m, u64 base);
/* Make host memory known (pinned, registered), at its own address. False when it overlaps what is
 * known. */
bool mem_register(struct mem *m, u64 base, u64 size, enum mem_kind kind);
bool mem_unregister(struct mem *m, u64 base);
/* Add a range as it stands, id and time excepted. False: it overlaps a live one, or no memory. */
bool mem_insert(struct mem *m, struct mem_range r);
/* Remove the live range that starts at `base`. */
bool mem_remove(struct mem *m, u64 base);
/* Change the layer's pointer of the live range that starts at `base`. */
bool mem_set_user(struct mem *m, u64 base, void *user);
/* Change which devices may use it, and which of them may not write. */
bool mem_set_devices(struct mem *m, u64 base, u32 devices, u32 read_only);
/* The live range that starts at `base` becomes `size` bytes from `skip` on. */
bool mem_narrow(struct mem *m, u64 base, u64 skip, u64 size);
/* Count bytes that have no range here as used. False: there are not so many. */
bool mem_charge(struct mem *m, u64 bytes);
void mem_discharge(struct mem *m, u64 bytes);
/* Keep *shown as what is used, from now on. */
void mem_show(struct mem *m, u64 *shown);
/* Bytes that can still be used. */
u64 mem_left(struct mem *m);

/* The live allocation that contains [addr, addr + size), copied to *out. */
bool mem_find(struct mem *m, u64 addr, u64 size, struct mem_range *out);
/* The same, in this arena alone. */
bool mem_find_own(struct mem *m, u64 addr, u64 size, struct mem_range *out);
/* Is addr in the arena, allocated or not? */
static inline bool mem_in_arena(const struct mem *m, u64 addr)
{
	return addr - (u64)(uintptr_t)m->arena < m->arena_size;
}

/* Like mem_find_own, freed ranges included, and without waiting: for signal handlers. False also
 * when the table is in use. */
bool mem_peek(struct mem *m, u64 addr, struct mem_range *out);

/* What an instruction does with memory. */
enum mem_access { MEM_READ, MEM_WRITE, MEM_ATOMIC };

/* What an access finds. */
enum mem_found {
	MEM_FOUND_NONE, /* it faults */
	MEM_FOUND,
	MEM_FOUND_OVERRUN, /* no allocation, but what hardware would not notice */
};

/*
 * Make `c` cover the allocation that contains [addr, addr + size). When there is none, `strict` is
 * off, and a live allocation shares every page of that range, `c` covers the range alone.
 */
enum mem_found mem_cache_fill(struct mem *m, struct mem_cache *c, u64 addr, u64 size,
			      enum mem_access access);
/* May this device write in the range? */
static inline bool mem_is_writable(const struct mem *m, const struct mem_range *r)
{
	return !(r->read_only >> m->index & 1);
}

static inline bool mem_cache_hit(const struct mem_cache *c, u64 addr, u64 size)
{
	return addr - c->lo <= c->span - size && size <= c->span;
}

/* Where the host has a byte of the range. */
static inline void *mem_host(const struct mem_range *r, u64 addr)
{
	return (void *)(uintptr_t)(addr + r->bias);
}

/* Where the host has an allocated byte; NULL: it is not allocated. */
void *mem_pointer(struct mem *m, u64 addr);

/* ---- the memory of a process: mem_system.c ---- */

struct mem_system {
	pthread_mutex_t lock;
	struct mem host;                     /* pinned, registered and managed memory */
	struct mem maps;                     /* mappings of the virtual memory calls, opened late */
	struct mem *device[MEM_DEVICES_MAX]; /* NULL: not open; written with the lock, atomic */
	bool hidden;                         /* arenas of devices and mappings are */
};

/* `hidden`: the host cannot touch device memory. Returns false when the host refuses. */
bool mem_system_init(struct mem_system *s, bool hidden);
/* All arenas must have been closed. */
void mem_system_fini(struct mem_system *s);
/* Reserve addresses for mappings, once. Returns false when the host refuses. The caller locks. */
bool mem_system_open_maps(struct mem_system *s);
/* Like mem_init, as device `index` of the system; MEM_DEVICES_MAX: as no device. */
bool mem_init_in(struct mem *m, u64 limit_bytes, struct mem_system *s, u32 index);
/* The live range that contains [addr, addr + size), of any device; *owner (may be NULL) is the
 * arena that has it. */
bool mem_system_find(struct mem_system *s, u64 addr, u64 size, struct mem_range *out,
		     struct mem **owner);
/* Ranges have gone away: void the caches of all devices. */
void mem_system_changed(struct mem_system *s);
/* Arena that the address is in, allocated or not; NULL: none. */
struct mem *mem_system_arena(struct mem_system *s, u64 addr);

/*
 * Put the pages of [base, base + size) into a file that other processes can map, contents kept.
 * No thread may be using those that are not there yet. *offset: of `base` in the file. Returns the
 * arena's file, -1 when the host refuses.
 */
int mem_share(struct mem *m, u64 base, u64 size, u64 *offset);
/* Map a file at a live allocation in place of its pages; base, size and offset are whole pages. */
bool mem_attach(struct mem *m, u64 base, u64 size, int fd, u64 offset);
/* Give the allocation pages of its own again, zeroed; other processes have closed those it had. */
bool mem_detach(struct mem *m, u64 base, u64 size);

#endif
