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
 * Whom a statement is about: a CTA, one of its warps, one of its threads, or the asynchronous
 * copies of a thread, which only waits for them order. Those of a CTA lie side by side.
 */
enum agent {
	AGENT_THREAD,
	AGENT_COPY,       /* cp.async */
	AGENT_BULK_READ,  /* bulk and tensor copies, st.async: what they read */
	AGENT_BULK_WRITE, /* and what they write */
	AGENTS,
};

#define WHO_SHIFT 14
#define WHO_THREADS 1024u
#define WHO_FIRST 64u  /* number of thread 0 */
#define WHO_READS 63u  /* of the reads of a CTA */
#define WHO_GROUPS 48u /* of those of its warpgroups, from here on */
#define WHO_GROUP_THREADS 128u

/* Proxies that a fence lets see what was written before it. */
enum proxy {
	PROXY_ASYNC_GLOBAL, /* the asynchronous one, of global memory */
	PROXY_ASYNC_SHARED,
	PROXY_TENSORMAP_CTA, /* that of tensor maps: released to the CTA */
	PROXY_TENSORMAP,     /* and to others */
	PROXY_TENSORMAP_ACQUIRED,
	PROXIES,
};
#define WHO_FENCED (WHO_FIRST + AGENTS * WHO_THREADS)
#define WHO_FENCED_PLACES (WHO_FIRST + WHO_THREADS)

static inline u64 who_cta(u64 cta)
{
	return cta << WHO_SHIFT;
}

static inline u64 who_warp(u64 cta, u32 warp)
{
	return cta << WHO_SHIFT | (1 + warp);
}

/* thread: in the CTA, warp * 32 + lane. */
static inline u64 who_agent(u64 cta, u32 thread, enum agent a)
{
	return cta << WHO_SHIFT | (WHO_FIRST + (u32)a * WHO_THREADS + thread);
}

static inline u64 who_thread(u64 cta, u32 thread)
{
	return who_agent(cta, thread, AGENT_THREAD);
}

static inline u64 who_cta_of(u64 who)
{
	return who >> WHO_SHIFT;
}

/* What all threads of a CTA have read, without what they have written. */
static inline u64 who_reads(u64 cta)
{
	return cta << WHO_SHIFT | WHO_READS;
}

/* The same of what a warpgroup has read together. */
static inline u64 who_group_reads(u64 cta, u32 group)
{
	return cta << WHO_SHIFT | (WHO_GROUPS + group);
}

/* The thread; who is of a thread or its copies. */
static inline u32 who_index(u64 who)
{
	return ((u32)(who & ((1u << WHO_SHIFT) - 1)) - WHO_FIRST) % WHO_THREADS;
}

static inline enum agent who_agent_of(u64 who)
{
	return (enum agent)(((u32)(who & ((1u << WHO_SHIFT) - 1)) - WHO_FIRST) / WHO_THREADS);
}

/* What a CTA, a warp or a thread did before a fence. */
static inline u64 who_fenced(u64 who, enum proxy p)
{
	return who + WHO_FENCED + (u32)p * WHO_FENCED_PLACES;
}

struct known_entry {
	u64 who;
	u32 until;
};

struct known {
	u32 refs, len;
	struct known *reads; /* what known_reads has answered, if has_reads */
	bool has_reads;
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
/* Up to when a thread, or its copies, is known by what k says of it, its warp or its CTA. */
u32 known_until(const struct known *k, u64 thread);
/* Up to when what a thread did stands before a fence for a proxy. */
u32 known_until_fenced(const struct known *k, u64 thread, enum proxy p);
/* The same for what a thread's CTA or warpgroup has read, by statements of that alone. */
u32 known_until_read(const struct known *k, u64 thread);
/* Only these statements of k; NULL: there are none. The caller owns the result. */
struct known *known_reads(struct known *k);
/* What k and these statements say, as before a fence, alone. The caller owns the result. */
struct known *known_fence(struct known *k, const struct known_entry *at, u32 len, enum proxy p);
/*
 * Of what k says was released to the proxy of tensor maps: the same as acquired by a thread of a
 * CTA, alone; wide: from other CTAs, too. NULL: there is nothing. The caller owns the result.
 */
struct known *known_acquire(const struct known *k, u64 cta, bool wide);
/* Without what is said of threads of a CTA up to then. The caller owns the result. */
struct known *known_without(struct known *k, u64 cta, u32 until);
/* Answers of a set that was asked last: cells and lanes ask for the same. A zeroed one is empty. */
#define ASKED_ANSWERS 256u
struct asked {
	struct known *of;
	u32 turn; /* of answers that are of this set */
	struct {
		u64 who;
		u32 until, turn;
	} at[ASKED_ANSWERS];
};

void asked_fini(struct asked *x);
/* Ask this set from now on; the answers to others are forgotten. */
void asked_begin(struct asked *x, struct known *k);

/* known_until of a set that is not empty. */
static inline u32 asked_until(struct asked *x, struct known *k, u64 thread)
{
	u32 i = (u32)(thread % ASKED_ANSWERS);

	if (x->of != k)
		asked_begin(x, k);
	if (x->at[i].turn != x->turn || x->at[i].who != thread) {
		x->at[i].who = thread;
		x->at[i].turn = x->turn;
		x->at[i].until = known_until(k, thread);
	}
	return x->at[i].until;
}
/* Has any of these run out of memory? What is found afterwards means nothing. */
bool known_failed(void);
void known_fail(void);

#endif
