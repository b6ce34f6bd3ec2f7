/*
 * Which bytes of the memory that programs allocated have been written: for all devices of a
 * process, since each may reach the others' memory.
 */
#ifndef PL_CHECK_INIT_MEMORY_H
#define PL_CHECK_INIT_MEMORY_H

#include "src/base/vec.h"
#include "src/check/finding.h"
#include "src/check/init/written.h"
#include "src/dev/memory/watch.h"

/* An allocation. */
struct init_range {
	u64 base;
	struct mem *arena;
	u8 kind;                /* enum mem_kind */
	bool patterned;         /* managed, pinned: what the host has not written holds a pattern */
	bool by_page;           /* large ones: pages that do not exist were not written */
	bool is_noted;          /* as unused: unused.h */
	struct written written; /* bytes: of the allocation */
};

struct init_memory {
	pthread_mutex_t lock;
	VEC(struct init_range *) ranges; /* by address */
	/* the last answer: all of [lo, end) is in this range, or in none */
	u64 lo, end;
	struct init_range *last;
	struct memory_watch watch;
	struct findings *found;
	struct unused *unused; /* allocations that are not used; NULL: not looked for */
	int pagemap;           /* which pages exist; -1: not open */
	u32 users;
};

/* That of the process. NULL: no memory. */
struct init_memory *init_memory_open(struct findings *found);
/* A device with this memory is closed. */
void init_memory_close(struct init_memory *im, const struct mem *m);
/* In a child by fork: the process has none. */
void init_memory_forget(void);

/*
 * Report allocations that were freed and never written, where that is looked for; `live`: also
 * those of an arena (NULL: of all) that are not freed. No locks are held.
 */
void init_memory_unused(const struct mem *m, bool live);

/* A stretch of the heap is given out: it holds nothing, whatever another thread left there. */
void init_memory_give(struct init_memory *im, struct mem *m, u64 address, u64 bytes);

/* ---- the caller locks ---- */

/* Where an address is; NULL: in memory that counts as written. */
struct init_range *init_memory_at(struct init_memory *im, u64 address);
/* The stretch holds nothing yet; it need not be an allocation that is known. */
void init_memory_take(struct init_memory *im, struct mem *m, u64 address, u64 bytes, u8 kind);
/*
 * Bit i: byte address + i was never written, by the host neither. bytes: at most WRITTEN_MASK.
 */
u32 init_memory_missing(struct init_range *r, u64 address, u32 bytes);

#endif
