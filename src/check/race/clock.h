/*
 * Which accesses of a launch happened before which, by the PTX memory model: program order,
 * barriers, and release and acquire patterns with their scopes. Launches are followed by one
 * thread of the host, in one order.
 */
#ifndef PL_CHECK_CLOCK_H
#define PL_CHECK_CLOCK_H

#include "src/base/map.h"
#include "src/check/race/known.h"
#include "src/exec/exec.h"

/* Scopes, from narrow to wide. */
enum scope { SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS, SCOPES };

#define NEAR_SETS 4u
#define PENDING_MAX 4u
#define MEETINGS_MAX 4u

/* A strong write after which others that read it know more. */
struct release;

/* Lanes of the own warp that are known up to a moment. */
struct near {
	u32 mask, until;
	bool fenced; /* and the writes are visible beyond the CTA */
};

/* What a thread knows. */
struct thread_clock {
	u32 cta, cta_fenced; /* all threads of its CTA, up to then; those covered by a fence, too */
	struct near near[NEAR_SETS];
	struct known *others;
	u32 fence[SCOPES]; /* its own accesses up to then stand before a fence of that scope */
	/* What it has read of others' strong writes, without a fence since. */
	struct {
		struct release *of;
		u8 scope; /* of the read */
	} pending[PENDING_MAX];
	u8 pendings;
	/* Its own copies that it has waited for, by agent - 1; said: `others` has them, too. */
	bool copies_said;
	u32 copied[AGENTS - 1];
};

/* Threads that meet at a barrier of the CTA. */
struct meeting {
	u32 arrived[32]; /* lanes of each warp */
	u32 leaving[32]; /* those of them that wait for the others */
	u32 count, want; /* threads; want 0: all of the CTA */
	bool open;
};

/* Groups of a thread's asynchronous copies: when each was committed, for the last ones. */
#define COPY_GROUPS 64u
struct copy_groups {
	u32 committed;
	u32 end[COPY_GROUPS];
};

struct clock_cta {
	const struct cta *cta;
	u64 number;
	/*
	 * plain: threads know of each other what barriers of the whole CTA say, `whole`, and
	 * nothing else; those fields of `thread` are set when that ends.
	 */
	bool plain, fenced; /* fenced: a thread has, ever */
	bool is_used;       /* something was set in `thread` */
	u32 whole;          /* the last barrier of all threads that had not exited */
	u32 warps, threads;
	u64 cluster; /* number of the cluster's first CTA */
	u32 cluster_size;
	u32 warp_known[32];    /* all threads of the CTA, up to then, by each lane of the warp */
	u32 waits[32];         /* lanes that have come to a barrier and were not seen since */
	u32 cluster_waits[32]; /* those of them at the barrier of the cluster */
	u32 cluster_odd[32];   /* lanes whose next arrival there is in an odd phase */
	struct meeting bar[CTA_BARRIERS];
	/* bar.warp.sync that not all members have come to */
	struct {
		u32 members, arrived;
	} half[32][MEETINGS_MAX];
	/* What these lanes of a warp have read up to then, they all know: the last two sets. */
	struct {
		u32 mask, until;
	} gathered[32][2];
	u32 group_read[8]; /* up to when what warpgroups read together is known by their threads */
	struct copy_groups *copies[2]; /* of each thread: cp.async, bulk; NULL: none yet */
	/* What a thread has learned last: a set, another one, and both of them. */
	struct {
		struct known *a, *b, *both;
	} joined;
	struct thread_clock thread[];
};

struct clock {
	u32 now;             /* the moment; from 1 */
	u64 lines;           /* of releases, see clock.c */
	struct map clusters; /* barriers of clusters, as variables */
};

/*
 * Variables that strong writes have released to, by a key that is not 0: struct release *. A zeroed
 * map is empty. Shared memory has maps of its own, which end with its CTA.
 */
void clock_variables_fini(struct map *variables);
void clock_fini(struct clock *k);
struct clock_cta *clock_cta_new(const struct cta *c);
/* For another CTA of the launch. False: it cannot be used for that. */
bool clock_cta_reset(struct clock_cta *x, const struct cta *c);
void clock_cta_free(struct clock_cta *c);

/* Up to when thread `of` (who_thread) is known by a thread of the CTA. */
u32 clock_known(const struct clock_cta *c, u32 thread, u64 of);
/* The same without what it knows of others by statements about them. */
u32 clock_known_itself(const struct clock_cta *c, u32 thread, u64 of);
/* The same for its reads, which strong stores behind a barrier order without a fence. */
u32 clock_known_read(const struct clock_cta *c, u32 thread, u64 of);

/* Up to when what `of` did stands before a fence for a proxy that the thread knows of. */
u32 clock_fenced(const struct clock_cta *c, u32 thread, u64 of, enum proxy p);

/* Lanes of a warp run again, so the barriers they waited at are complete. To be called first. */
void clock_resume(struct clock *k, struct clock_cta *c, u32 warp, u32 mask);
void clock_fence(struct clock *k, struct clock_cta *c, u32 warp, u32 mask, enum scope scope);
/* Threads arrive at barrier `bar`, for `want` threads (0: all); waits: and wait for the others. */
void clock_barrier(struct clock *k, struct clock_cta *c, u32 bar, u32 warp, u32 mask, u32 want,
		   bool waits);
/* bar.warp.sync of these members. */
void clock_warp_sync(struct clock *k, struct clock_cta *c, u32 warp, u32 mask, u32 members);

/*
 * Lanes exchange values: what they have read before is read by then, as the values may be made of
 * it. It orders nothing that they have written.
 */
void clock_gather(struct clock *k, struct clock_cta *c, u32 warp, u32 members);

/* A warpgroup has read by one instruction of all its threads (wgmma). */
void clock_group_read(struct clock *k, struct clock_cta *c, u32 warp);

/* Lanes arrive at the barrier of the cluster; they wait there. releases: without a fence before. */
void clock_cluster_arrive(struct clock *k, struct clock_cta *c, u32 warp, u32 mask, bool releases);
void clock_cluster_wait(struct clock_cta *c, u32 warp, u32 mask);
/* They are seen behind it, if they have waited there. */
void clock_cluster_leave(struct clock *k, struct clock_cta *c, u32 warp, u32 gone);

/*
 * A strong access of one thread to the variable `key`: a read; a write, after which what was
 * written before is no longer read (rmw: it is). acquires, releases: by itself, without a fence.
 */
void clock_strong_read(struct map *variables, struct clock_cta *c, u32 thread, u64 key,
		       enum scope scope, bool acquires);
void clock_strong_write(struct clock *k, struct map *variables, struct clock_cta *c, u32 thread,
			u64 key, enum scope scope, bool releases, bool rmw);
/*
 * A thread's copies up to now complete before the variable, an mbarrier, is passed: by cp.async, or
 * bulk ones.
 */
void clock_copies_complete(struct clock *k, struct map *variables, struct clock_cta *c, u32 thread,
			   u64 key, bool bulk);
/* Commit the copies up to now as a group; wait for all groups but the last `keep`. */
void clock_copies_commit(struct clock *k, struct clock_cta *c, u32 thread, bool bulk);
/* read: only what they read is done with. */
void clock_copies_wait(struct clock_cta *c, u32 thread, bool bulk, u32 keep, bool read);
/* All of them, committed or not. */
void clock_copies_wait_all(struct clock *k, struct clock_cta *c, u32 thread);
/* A fence for proxies; a bit for each enum proxy. */
void clock_proxy_fence(struct clock *k, struct clock_cta *c, u32 warp, u32 mask, u32 proxies);
/* The proxy of tensor maps acquires what was released to it; wide: by other CTAs, too. */
void clock_tensormap_acquire(struct clock *k, struct clock_cta *c, u32 warp, u32 mask, bool wide);
/* Something else has written the variable. */
void clock_overwritten(struct map *variables, u64 key);

/* ---- private to clock*.c ---- */

/* The CTA's threads know more than its barriers say. */
void clock_end_plain(struct clock_cta *c);
void clock_forget_joined(struct clock_cta *c);
/* What the thread has waited for of its own copies, if it was not said yet. How many. */
u32 clock_copied_entries(const struct clock_cta *c, u32 thread, struct known_entry at[AGENTS - 1]);
/* The thread's statements about others have it from now on. */
void clock_say_copies(struct clock_cta *c, u32 thread);
/* The statements of sets of lanes; fenced: of those that are visible beyond the CTA. How many. */
u32 clock_near_entries(const struct near near[NEAR_SETS], u64 cta, u32 warp, bool fenced,
		       struct known_entry *at);
/* What a thread knows, and will know behind a barrier or a fence. The caller owns the result. */
struct known *clock_known_soon(struct clock_cta *c, const struct thread_clock *t);

#endif
