/*
 * Locks: words that threads take by an atomicCAS or atomicExch, again and again until they have it,
 * and release by writing. Threads that take several in different orders may wait for each other
 * for ever, also where they did not in this run.
 */
#ifndef PL_CHECK_SYNC_LOCKS_H
#define PL_CHECK_SYNC_LOCKS_H

#include "src/check/sync/sync_int.h"

/* ---- sync_spin.c ---- */

/* What the atomic operation at a micro-op may do to a lock. */
enum spin { SPIN_NONE, SPIN_TRIES, SPIN_WAITS };

/*
 * By micro-op: atomics that a thread runs until they succeed, doing nothing else, SPIN_WAITS, and
 * others of their kind. NULL: none waits, or there is no memory. Owned by the caller.
 */
u8 *sync_find_spins(const struct program *p);

/* ---- sync_locks.c ---- */

/* Words that a CTA has read and that others may have written, and when. */
#define LOCK_SIGNALS 8u
struct lock_signals {
	struct {
		u64 key, time;
	} at[LOCK_SIGNALS];
};

struct lock_word {
	u64 key;
	bool is_held;
	bool is_taken;    /* by a thread that waited for it, ever */
	bool is_released; /* its holder has released it, ever */
	bool is_other;    /* it is used as something else */
	u64 who;          /* thread that holds it */
	u32 pc;           /* where it was taken */
	u64 since;
};

/* A thread waits for a lock while it holds another one. */
struct lock_wait {
	u32 held, wanted; /* numbers of words */
	u64 who;
	u32 held_pc, pc;
	u64 start, end; /* when it took its first lock, when it got this one; 0: not yet */
	u64 met;        /* when its warp had come to a barrier before `start`, last; 0: never */
	VEC(u32) gates; /* further locks that it holds */
	struct lock_signals signals; /* of its CTA, at `start` */
};

/* A thread that has taken a lock. */
struct lock_thread {
	u64 start, met;
	struct lock_signals signals;
	VEC(u32) held;
	u32 first_wait; /* of the lock that it wants: those from there on have not ended */
	bool waits;
};

struct sync_locks {
	u8 *spin; /* by micro-op: enum spin */
	u64 time;
	struct mem *mem;
	u32 block[3], grid[3];
	VEC(struct lock_word) words;
	struct map by_key; /* number + 1 */
	VEC(struct lock_wait) waits;
	struct map by_pair; /* of words, held and wanted: how many waits */
	struct map by_who;  /* threads: struct lock_thread * */
	struct map signals; /* CTAs: struct lock_signals * */
	struct map met;     /* warps: when they came to a barrier last */
	bool gave_up;
};

/* Is it a lock, by what was done with it so far? A flag that is polled by atomicCAS is none. */
static inline bool lock_is_real(const struct lock_word *w)
{
	return w->is_taken && w->is_released && !w->is_other;
}

/* By the key of a word. */
static inline bool lock_is_key(const struct sync_locks *k, u64 key)
{
	u64 *slot = map_get(&k->by_key, key);

	return slot && lock_is_real(&k->words.at[*slot - 1]);
}

/* who: of threads, by CTA and thread in it. */
static inline u64 lock_who(u64 cta, u32 thread)
{
	return cta << 10 | thread;
}

/* ---- sync_order.c ---- */

/* When the launch ends. */
void sync_report_locks(struct sync_launch *l);

#endif
