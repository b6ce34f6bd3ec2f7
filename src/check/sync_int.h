/*
 * Private to the check of synchronisation: what is known of the threads of a launch.
 */
#ifndef PL_CHECK_SYNC_INT_H
#define PL_CHECK_SYNC_INT_H

#include "src/check/sync.h"

/* Lanes that wait at a warp instruction for the others that they name. */
struct sync_meeting {
	u32 members, arrived;
	u32 gone; /* members that had exited before the first one came */
	u32 pc;
	u8 action; /* enum warp_action */
};

struct sync_warp {
	u32 threads; /* lanes that exist */
	u32 waits;   /* those at a barrier of the CTA that have not run since */
	u32 meets;   /* those at a warp instruction, likewise */
	u8 barrier[WARP_LANES];
	u32 phase[WARP_LANES];  /* of that barrier */
	u32 passed[WARP_LANES]; /* micro-op of the last barrier come to, NO_PC: none */
	u32 last[WARP_LANES];   /* the last micro-op that is more than a jump, NO_PC: none */
	u32 meetings;
	struct sync_meeting meeting[WARP_LANES];
};

/* A phase of a barrier, and who has ever used it. */
struct sync_barrier {
	bool open; /* somebody has arrived */
	bool counted, waited;
	u32 phase, want; /* threads */
	u32 pc, thread;  /* of the first arrival */
	u32 more;        /* threads that have arrived once more */
	u32 arrived[CTA_WARPS];
	u32 at[CTA_WARPS];            /* where the warp's lanes have arrived */
	u32 arrive_pc, arrive_thread; /* bar.arrive; NO_PC: none */
};

struct sync_cta {
	const struct cta *cta;
	u64 number;
	u32 warps, threads;
	struct sync_barrier barrier[CTA_NAMED_BARRIERS];
	struct sync_warp warp[]; /* warps */
};

struct sync_launch {
	const struct program *program;
	struct findings *found;
	struct map ctas; /* those that run, by number + 1: struct sync_cta * */
	struct sync_cta *last;
	struct map past; /* what sync_is_past has found out, + 1 */
	bool gave_up;
};

/* Lanes of a warp that are about to run a micro-op. */
struct sync_step {
	struct sync_launch *launch;
	struct sync_cta *cta;
	const struct gang *gang;
	const struct uop *in;
	u32 pc, warp; /* in the CTA */
	u32 mask;
};

static inline struct sync_warp *sync_warp_of(const struct sync_step *s)
{
	return &s->cta->warp[s->warp];
}

/* Where lane l's element of a row is. */
static inline u32 sync_index(const struct sync_step *s, u32 l)
{
	return (s->warp - s->gang->first_warp) * WARP_LANES + l;
}

static inline u32 sync_live(const struct sync_cta *c, u32 warp)
{
	return c->cta->warp[warp].live;
}

const struct isa_form *sync_form(const struct program *p, const struct uop *in);

/* ---- what is reported: sync_report.c ---- */

/* A finding whose first side is thread `thread` of the CTA at pc; what: of that side. */
void sync_begin(struct finding *f, enum finding_kind kind, const struct sync_launch *l,
		const struct sync_cta *c, u32 thread, u32 pc, bool is_warning, const char *what);
/* A further side, which is not said. */
void sync_add_side(struct finding *f, const struct sync_launch *l, const struct sync_cta *c,
		   u32 thread, u32 pc, const char *what);
/* Begin its words: the headline, then the place and the thread of its first side. */
void sync_say_head(struct finding *f, const char *headline);
void sync_add(struct sync_launch *l, struct finding *f);

/* ---- the program's flow: sync_flow.c ---- */

/*
 * Does a thread whose last deed was micro-op x, and that has not come to micro-op `at`, show that
 * it has gone past that: does every way to x, or on from it, leave `at` behind? False: it has left
 * the kernel before, by an early return. came: it has been at `at` before.
 */
bool sync_is_past(struct sync_launch *l, u32 at, u32 x, bool came);

/* ---- barriers of the CTA: sync_barrier.c ---- */

void sync_barrier_arrive(const struct sync_step *s, bool waits);
/* Lanes of a warp run again, so the barriers that they waited at are complete. */
void sync_barrier_resume(const struct sync_step *s);
void sync_barrier_end(struct sync_launch *l, struct sync_cta *c);

/* ---- warp instructions: sync_lanes.c ---- */

void sync_lanes_arrive(const struct sync_step *s);
void sync_lanes_resume(const struct sync_step *s);

#endif
