/*
 * What programs say of parts of memory (NVTX): names, and what kernels may do there. For the whole
 * process, as addresses are. Without marks it costs one test where an access finds its allocation
 * anew.
 */
#ifndef PL_MEM_MARKS_H
#define PL_MEM_MARKS_H

#include "src/base/text.h"
#include "src/mem/mem.h"

#define MEM_MAY_READ (1u << MEM_READ)
#define MEM_MAY_WRITE (1u << MEM_WRITE)
#define MEM_MAY_ATOMIC (1u << MEM_ATOMIC)
#define MEM_ALL_DEVICES MEM_DEVICES_MAX

/* How many marks there are. */
extern u32 mem_marks;

static inline bool mem_has_marks(void)
{
	return PL_UNLIKELY(__atomic_load_n(&mem_marks, __ATOMIC_ACQUIRE) != 0);
}

/* A region of what is no pool, for the next ones. */
bool mem_mark_region(u64 base, u64 size);
/* 0: none begins there. */
u64 mem_mark_region_size(u64 base);
/* Name, or rename, what begins there; NULL: no more. False: no memory. */
bool mem_mark_name(u64 base, u64 size, const char *name);
/*
 * What a device, or MEM_ALL_DEVICES, may do there: MEM_MAY_*, or'ed. The callers of this and the
 * next one void the caches of devices (mem_system_changed). False: no memory.
 */
bool mem_mark_permit(u64 base, u64 size, u32 device, u32 allowed);
/* Nothing was said of what begins there, of nothing: ALL. */
void mem_mark_reset(u64 base, u32 device);
void mem_marks_reset(u32 device);
/* In a child by fork: there are none. */
void mem_marks_drop(void);
/* An allocation or a region ends, with the marks inside. */
void mem_marks_forget(u64 base, u64 size);

/* May the stretch be touched so by the device? The cache shrinks to what has the same answer. */
bool mem_marks_narrow(struct mem_cache *c, u64 addr, u64 size, u32 device, enum mem_access access);
/* The same, without a cache. */
bool mem_marks_allow(u64 addr, u64 size, u32 device, enum mem_access access);
/* " called NAME", if what begins at the address has a name. */
void mem_mark_say(u64 base, struct text *out);

#endif
