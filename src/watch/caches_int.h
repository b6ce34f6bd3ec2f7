/*
 * Playing launches through the caches of a device: what recording and playing share.
 */
#ifndef PL_WATCH_CACHES_INT_H
#define PL_WATCH_CACHES_INT_H

#include "src/watch/caches.h"
#include "src/watch/code_size.h"
#include "src/watch/policy.h"

struct caches_launch {
	const struct program *program;
	struct watch_caches *owner;
	pthread_mutex_t lock;
	struct cache_rules rules;
	struct code_size code; /* of machine code, or an estimate */
	u64 smem_bytes;        /* what an SM's shared memory is set to */
	u64 ctas, resident;    /* of the grid; on an SM */
	u64 round, ended;      /* the one that is recorded, and how many of its CTAs have ended */
	u32 warps;             /* of a CTA */
	struct cache_sm *sm;
	bool is_cut;
	struct map traces; /* by CTA + 1 */
	struct map shapes; /* by what runs a CTA (struct cta), which runs one at a time */
	VEC(struct cache_trace *) spare; /* to be used again */
	struct watch_policy *insn;       /* by micro-op */
	struct cache_insn *told;         /* by micro-op, with watch_caches.ended; else NULL */
	struct l2 *l2;                   /* the observer's, or `own` */
	struct second *second;           /* of that; from the first round on */
	struct l2 own;  /* for a launch that runs beside others, when all begin cold */
	bool is_shared; /* without memory: the second cache of another launch */
	struct l2_counts l2_counts;
	struct l2_window window;
	struct l2_hints hints;
	struct cache_places *places; /* NULL: none are counted */
};

/* NULL: it is not known. */
struct caches_launch *watch_caches_launch(struct watch_caches *c, u64 grid_id);
/* The CTA's trace, NULL if there is none; its launch in *launch. */
struct cache_trace *watch_caches_trace(struct watch_caches *c, const struct cta *cta,
				       struct caches_launch **launch);
/* The worker runs this CTA from now on; or has run it. */
void watch_caches_see(struct caches_launch *l, const struct cta *cta, struct cache_trace *t);
void watch_caches_forget(void);
/* Events of the observer, whose user is a struct watch_caches. */
void watch_caches_access(void *user, const struct exec_access *a);
void watch_caches_texture(void *user, const struct exec_texture *x);
void watch_caches_sync(void *user, const struct exec_sync *s);
void watch_caches_hint(void *user, const struct exec_hint *h);

#endif
