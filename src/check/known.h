/*
 * What a thread knows of others: up to which moment their accesses to memory happened before its
 * own next one. Moments are numbers that only grow during a launch, the same for all its threads,
 * so one number can speak of a whole warp or CTA: no vector of clocks is needed for threads that
 * meet at a barrier.
 *
 * A set of such statements is immutable and shared by reference; NULL is the empty one.
 */
#ifndef PL_CHECK_KNOWN_H
#define PL_CHECK_KNOWN_H

#include "src/base/base.h"

/*
 * Whom a statement is about: a CTA, one of its warps, or one of its threads; those of a CTA lie
 * side by side.
 */
static inline u64 who_cta(u64 cta)
{
	return cta << 11;
}

static inline u64 who_warp(u64 cta, u32 warp)
{
	return cta << 11 | (1 + warp);
}

/* thread: in the CTA, warp * 32 + lane. */
static inline u64 who_thread(u64 cta, u32 thread)
{
	return cta << 11 | (64 + thread);
}

static inline u64 who_cta_of(u64 who)
{
	return who >> 11;
}

/* Of a thread. */
static inline u32 who_index(u64 who)
{
	return (u32)(who & 2047) - 64;
}

struct known_entry {
	u64 who;
	u32 until;
};

struct known {
	u32 refs, len;
	struct known_entry at[]; /* by who */
};

struct known *known_keep(struct known *k);
void known_drop(struct known *k);
/*
 * Both, one statement for each: the later one. The caller owns the result; arguments stay the
 * caller's. NULL without memory, which reads as knowing less: see known_failed.
 */
struct known *known_join(struct known *a, struct known *b);
/* The same of statements in any order; at is sorted in place. */
struct known *known_add(struct known *k, struct known_entry *at, u32 len);
/* Up to when `thread` (who_thread) is known by what k says of it, its warp or its CTA. */
u32 known_until(const struct known *k, u64 thread);
/* Has any of these run out of memory? What is found afterwards means nothing. */
bool known_failed(void);
void known_fail(void);

#endif
