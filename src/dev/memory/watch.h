/*
 * Watchers of the memory that programs ask for: allocations, and what calls of the
 * host move and fill. Checks are such (src/check). Without watchers it costs one test a call.
 *
 * Accesses of kernels are told to observers instead (src/exec/observer.h).
 */
#ifndef PL_DEV_MEMORY_WATCH_H
#define PL_DEV_MEMORY_WATCH_H

#include "src/mem/mem.h"

struct memory_location;

#define MEMORY_WATCHES_MAX 6u

/* A box of rows and slices, by addresses as programs see them. */
struct memory_box {
	u64 address, pitch, slice;
	bool known;  /* of a device, managed or pinned; else the program's own memory, or ours */
	bool array;  /* texels: programs do not see the address */
	bool device; /* memory of a device, of copies */
};

/* A copy, before it is carried out. */
struct memory_copy {
	struct memory_box dst, src;
	u64 width, height, depth; /* bytes of a row, rows, slices; at least 1 */
	const u8 *bytes;          /* where the source can be read, with the pitches of src */
};

/*
 * Functions may be NULL. They are called by any thread, some of them with locks held, and may call
 * nothing of this library that allocates, frees or issues work. Allocations are told by the thread
 * of the call that asks for them, so that it can be looked up where that stands in the program; of
 * graphs and streams whatever thread runs them.
 */
struct memory_watch {
	void *user;
	/*
	 * m: the arena that has the range. Contents are undefined, but of MEM_KIND_HOST, where m is
	 * the arena of the device that registers it.
	 */
	void (*alloc)(void *user, struct mem *m, u64 address, u64 bytes, enum mem_kind kind);
	/* A variable of a module, with its contents, that the host reaches, too. */
	void (*variable)(void *user, struct mem *m, u64 address, u64 bytes);
	/* A range is about to end. Imported ranges and variables end without an alloc before. */
	void (*free)(void *user, struct mem *m, u64 address, u64 bytes);
	void (*copy)(void *user, const struct memory_copy *c);
	void (*fill)(void *user, const struct memory_box *to, u64 width, u64 height, u64 depth);
	/* The copy or fill that was told last by this thread has been carried out. */
	void (*done)(void *user);
	/* Of managed memory: it is moved in the order of its stream; advice, as CUDA numbers it. */
	void (*prefetch)(void *user, u64 address, u64 bytes, const struct memory_location *where);
	void (*advise)(void *user, u64 address, int advice, const struct memory_location *where);
	/* The host writes by other means: values of streams, variables. */
	void (*write)(void *user, u64 address, u64 bytes);
	/* A stream gets memory, in its order: the piece of work that hands it out runs. */
	void (*hand_out)(void *user, u64 address, u64 bytes);
	/* A program's own allocator hands out, or takes back, a part of an allocation. */
	void (*region)(void *user, u64 address, u64 bytes);
};

/* How many there are; written under a lock. */
extern u32 memory_watches;

/*
 * Borrowed until memory_watch_remove; both with no work under way. False: there are too many.
 */
bool memory_watch_add(const struct memory_watch *w);
void memory_watch_remove(const struct memory_watch *w);
/* In a child by fork: there are none. */
void memory_watch_forget(void);

static inline bool memory_is_watched(void)
{
	return PL_UNLIKELY(__atomic_load_n(&memory_watches, __ATOMIC_ACQUIRE) != 0);
}

/* Tell all of them; for those who do these things. */
void memory_tell_alloc(struct mem *m, u64 address, u64 bytes, enum mem_kind kind);
void memory_tell_variable(struct mem *m, u64 address, u64 bytes);
void memory_tell_free(struct mem *m, u64 address, u64 bytes);
void memory_tell_copy(const struct memory_copy *c);
void memory_tell_fill(const struct memory_box *to, u64 width, u64 height, u64 depth);
void memory_tell_done(void);
void memory_tell_prefetch(u64 address, u64 bytes, const struct memory_location *where);
void memory_tell_advise(u64 address, int advice, const struct memory_location *where);
void memory_tell_write(u64 address, u64 bytes);
void memory_tell_hand_out(u64 address, u64 bytes);
void memory_tell_region(u64 address, u64 bytes);

#endif
