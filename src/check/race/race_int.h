/* Private to the race check: a launch that it follows. */
#ifndef PL_CHECK_RACE_INT_H
#define PL_CHECK_RACE_INT_H

#include "src/check/race/quick.h"
#include "src/check/race/race.h"
#include "src/check/race/report.h"
#include "src/check/race/shadow.h"

/* What the model says of an instruction's accesses. */
struct manner {
	bool known, strong, acquires, releases;
	bool tries;        /* compare and swap */
	bool of_group;     /* one for all threads of a warpgroup */
	bool feeds_atomic; /* a load of what the same thread then changes by an atomic */
	u8 scope;
	u8 fixed; /* a store of what is the same for all threads: 1 no, 2 yes, 0: not asked yet */
};

/*
 * A warp of a device that has one program counter for each (before Volta): what lanes run together
 * is done in lockstep, so each instruction of several lanes orders what they did before it. Lanes
 * on two sides of a branch know nothing of each other until they run together again. A zeroed one
 * has not begun.
 */
struct lockstep {
	u32 mask;          /* lanes that run together */
	u32 store, stored; /* the last store: micro-op + 1, moment */
};

/* A wait at an mbarrier that a thread has come to and was not seen behind. */
struct race_wait {
	u64 key, owner; /* the number of the CTA that has it */
	bool acquires;
};

/* A CTA that runs. */
struct race_cta {
	struct clock_cta *clock;
	struct race_wait *wait;    /* of each thread; NULL: none yet */
	u32 waiting[32];           /* those that have one */
	struct lockstep *lockstep; /* of each warp; NULL: its lanes are scheduled independently */
	struct shadow shared;
	struct quick quick;   /* what `shared` need not see */
	struct map variables; /* of shared memory */
	struct map acquired;  /* when a fence has acquired a tensor map, by its address + 1 */
};

/* A launch that is under way. */
struct race_launch {
	const struct program *program;
	struct clock clock;
	struct shadow global;
	struct map variables; /* of global memory */
	struct map ctas;      /* those that run, by number + 1: struct race_cta * */
	struct race_cta *last;
	struct manner *manner; /* by micro-op */
	struct race_reports reports;
	struct quick spare; /* of a CTA that has ended, for the next one */
	struct clock_cta *spare_clock;
	struct asked asked;
	bool has_quick; /* nothing that a barrier does not order stays behind it */
	bool gave_up;
	struct mem *mem; /* of the device, borrowed */
	struct findings *found;
	struct host_from from; /* of a CTA, once one has begun */
};

/* Keys of variables: words by address / 4 + 1, mbarriers by offset + this. */
#define MBARRIER_KEY ((u64)1 << 62)

/* ---- race.c ---- */

struct race_launch *race_launch_of(struct race_check *r, u64 grid_id);
/* A CTA that runs; NULL: it has ended. */
struct race_cta *race_cta(struct race_launch *l, u64 number);
/* The CTA whose shared memory an address of c's names; it may have ended: NULL. */
struct race_cta *race_owner(struct race_launch *l, const struct cta *c, u64 address,
			    const struct cta **owner);
/* The scope that an instruction says. */
enum scope race_scope(const struct isa_form *form);

/* ---- race_access.c, race_rows.c, race_span.c, race_sync.c ---- */

/* The first time. */
void race_learn_manner(struct race_launch *l, const struct uop *in, u32 pc);

static inline struct manner race_manner(struct race_launch *l, const struct uop *in, u32 pc)
{
	if (PL_UNLIKELY(!l->manner[pc].known))
		race_learn_manner(l, in, pc);
	return l->manner[pc];
}

/*
 * Lanes whose element `e` of a store, to global memory or to the CTA's own shared memory, is there
 * already. dense: all lanes of the warp touch memory side by side.
 */
u32 race_silent_lanes(const struct exec_access *a, u32 e, bool dense);
/* The same of all elements of one that was noted. */
void race_silent_access(const struct exec_access *a, struct quick_access *x);
/* c: the CTA that the event is of. */
void race_access(struct race_launch *l, struct race_cta *c, const struct exec_access *a);
/* True: it was followed, warp by warp. */
bool race_span(struct race_launch *l, struct race_cta *c, const struct exec_span *s);
void race_sync(struct race_launch *l, struct race_cta *c, const struct exec_sync *s);
/*
 * A weak access to global memory: lanes that race with none are noted. The others, which cells are
 * to see, are returned.
 */
u32 race_rows(struct race_launch *l, struct clock_cta *c, const struct exec_access *a,
	      enum agent agent);
/*
 * A strong access to global memory by threads themselves. Lanes that race with none, as all
 * accesses there were such, are noted. The others, which cells are to see, are returned.
 */
u32 race_strong(struct race_launch *l, struct race_cta *c, const struct exec_access *a,
		const struct manner *m);
/*
 * Lanes of the mask that access what its first one does: those that follow it, and the one half a
 * warp away, as rows of sixteen threads have it.
 */
u32 race_lanes_beside(const struct exec_access *a, u32 lane, u32 mask);

/* ---- lockstep.c ---- */

/* These lanes are about to run: those that ran together before know of each other. */
void lockstep_run(struct lockstep *x, struct clock *k, struct clock_cta *c, u32 warp, u32 mask);
/* They are about to store. In a loop what they stored before has another moment. */
void lockstep_store(struct lockstep *x, struct clock *k, u32 pc);

/* ---- race_proxy.c ---- */

/* A fence between proxies. */
void race_proxy_fence(struct race_launch *l, struct race_cta *c, const struct exec_sync *s,
		      const struct isa_form *form);
/* When a thread of the CTA has acquired the map last; 0: none has. */
u32 race_map_acquired(const struct race_cta *c, u64 map);
/* tensormap.cp_fenceproxy: releases what a lane has written by it. */
void race_fence_copied_map(struct race_launch *l, struct race_cta *c, const struct exec_access *a);

/* An access, beside its order. */
struct race_proxied {
	const struct clock_cta *cta;
	u32 thread;
	bool of_group; /* wgmma: of a warpgroup */
	bool of_map;   /* what a copy reads of its tensor map; `acquired`: when, in its CTA */
	bool is_global;
	u32 acquired;
};

/* The fence that is missing behind what a thread did at a time. */
enum race_fence race_fence_missing(const struct race_proxied *x, u64 who, u32 time);

/* Lanes of a warp that waited are seen again: what they waited for has come. */
void race_end_waits(struct race_launch *l, struct race_cta *c, u32 warp, u32 mask);

static inline void race_resume(struct race_launch *l, struct race_cta *c, u32 warp, u32 mask)
{
	if (PL_UNLIKELY((c->clock->waits[warp] | c->waiting[warp]) & mask))
		race_end_waits(l, c, warp, mask);
}

#endif
