/*
 * Private to the check of synchronisation: what is known of the threads of a launch.
 */
#ifndef PL_CHECK_SYNC_INT_H
#define PL_CHECK_SYNC_INT_H

#include "src/check/sync/sync.h"
#include "src/async/async.h"

/*
 * Registers of a program that wgmma has, with those that moves join them to, numbered; and for each
 * instruction which of them it names.
 */
struct sync_regs {
	u32 regs;
	u32 *first_reg, *first_insn; /* by function, of all functions' one after the other */
	u32 *named_at;               /* by instruction, and one more: where in `named` */
	VEC(u32) named;              /* number << 1 | is it written; what is read comes first */
};

struct sync_wgmma;
struct sync_locks;
struct wgmma_word;

/* The newest setmaxnreg of a warpgroup: its number from 1 on, and who was first. */
struct sync_register_change {
	u32 number, pc, warp;
};

/* Lanes that wait at a warp instruction for the others that they name. */
struct sync_meeting {
	u32 members, arrived;
	u32 gone; /* members that had exited before the first one came */
	u32 pc;
	u8 action; /* enum warp_action */
};

struct sync_warp {
	u32 threads;       /* lanes that exist */
	u32 waits;         /* those at a barrier of the CTA that have not run since */
	bool waits_at_one; /* all of those came to it together */
	u32 meets;         /* those at a warp instruction, likewise */
	u8 barrier[WARP_LANES];
	u32 phase[WARP_LANES];     /* of that barrier */
	u32 passed[WARP_LANES];    /* micro-op of the last barrier come to, NO_PC: none */
	u32 last[WARP_LANES];      /* the last micro-op that is more than a jump, NO_PC: none */
	u32 committed[WARP_LANES]; /* groups of cp.async */
	u32 bulk_committed[WARP_LANES];
	u32 cluster_arrived; /* lanes that have arrived at the cluster's barrier, and not waited */
	u32 arrivals, waits_made; /* at that barrier: of the lowest lane that has not exited */
	u32 spins; /* lanes whose last wait for an mbarrier failed, and that did nothing since */
	u32 meetings;
	struct sync_meeting meeting[WARP_LANES];
	struct sync_wgmma *wgmma; /* NULL: none yet */
	/* setmaxnreg: the last number, 0: none yet; how many; meetings by then and now. */
	u32 registers, registers_set;
	u32 meetings_then, meetings_made;
};

/* An mbarrier that was ever initialised. */
struct sync_mbar {
	u32 offset; /* in shared memory */
	bool valid;
	u32 pc, thread; /* of the initialisation, or of the invalidation */
	u64 step;       /* that `now` is of */
	struct mbar now;
};

/* One cp.async of a warp, or one bulk copy of a lane, that has not been waited for. */
struct sync_copy {
	u32 warp, left; /* lanes */
	u32 pc;
	u32 mbar;     /* bulk copies: the offset of its mbarrier + 1; cp.async: 0 */
	u32 phase;    /* of that mbarrier, when it was issued: its parity */
	bool arrives; /* cp.async: an mbarrier tells when it is done */
	u32 group[WARP_LANES];
};

/* A bulk or tensor copy from shared to global memory that its thread has not waited for. */
struct sync_store {
	u32 thread, pc, group;
};

/* A phase of a barrier, and its first uses. */
struct sync_barrier {
	bool open; /* a thread has arrived */
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
	VEC(struct sync_mbar) mbars;
	/* Copies under way, and by word of shared memory the one that fills it: number + 1. */
	VEC(struct sync_copy) copies;
	VEC(struct sync_store) stores;
	u64 first_copy; /* number of copies.at[0] */
	u64 *filling;   /* number << 5 | lane, + 1; NULL: none yet */
	u32 left;       /* copies that are not done */
	/* By warpgroup and word of shared memory: the product that reads it. NULL: none. */
	struct wgmma_word *factors[CTA_WARPS / WARPGROUP_WARPS];
	struct sync_register_change change[CTA_WARPS / WARPGROUP_WARPS];
	/* The last access of another CTA to this one's shared memory. */
	struct {
		bool any;
		u64 cta;
		u32 thread, pc, arrivals;
	} remote;
	struct {
		u32 thread, pc;
	} cluster_wait, cluster_arrival; /* the last ones at the cluster's barrier */
	struct sync_warp warp[];         /* warps */
};

struct sync_launch {
	const struct program *program;
	struct findings *found;
	struct host_from from; /* of a CTA, once one has begun */
	struct map ctas;       /* those that run, by number + 1: struct sync_cta * */
	struct sync_cta *last;
	u32 failed;             /* waits for mbarriers since any thread did anything else */
	u64 steps;              /* so far */
	struct map past;        /* what sync_is_past has found out, + 1 */
	struct map unready;     /* micro-ops + 1 that have used an mbarrier that was not valid */
	struct map left;        /* CTAs of clusters that have exited, by number + 1: arrivals + 1 */
	bool registers_known;   /* whether setmaxnreg has an effect was checked */
	struct sync_regs *regs; /* NULL: it has no wgmma */
	struct sync_locks *locks; /* NULL: no loop takes one */
	u8 *step_at;              /* micro-ops before which a step is wanted; NULL: all */
	bool gave_up;
};

/* Lanes of a warp that are about to run a micro-op. */
struct sync_step {
	struct sync_launch *launch;
	struct sync_cta *cta;
	const struct gang *gang;
	char *stuck; /* of the event; NULL: before the micro-op runs */
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

/* The offset that a shared address names in the memory of its CTA. */
static inline u32 sync_offset(const struct cta *c, u64 address)
{
	u64 base = c->env->mem->shared_base;

	return (u32)((address >= base ? address - base : address) & MEM_SHARED_OFFSET);
}

/* NULL: no CTA of this number runs. */
struct sync_cta *sync_cta_of(struct sync_launch *l, u64 number);
/* The CTA whose shared memory an address of `from` names; *owner NULL: there is none. */
struct sync_cta *sync_owner(struct sync_launch *l, const struct cta *from, u64 address,
			    const struct cta **owner);

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
/* Jumps and labels are no deeds: an early return consists of them. */
bool sync_is_deed(const struct uop *in);
/*
 * Micro-ops before which a step is wanted, by micro-op: warp instructions, what follows them and
 * barriers, and what may be the last deed of a thread. Owned by the caller; NULL: all are.
 */
u8 *sync_mark_steps(const struct program *p);

/* ---- barriers of the CTA: sync_barrier.c ---- */

void sync_barrier_arrive(const struct sync_step *s, bool waits);
/* Lanes of a warp run again, so the barriers that they waited at are complete. */
void sync_barrier_resume(const struct sync_step *s);
void sync_barrier_end(struct sync_launch *l, struct sync_cta *c);

/* ---- warp instructions: sync_lanes.c ---- */

void sync_lanes_arrive(const struct sync_step *s);
void sync_lanes_resume(const struct sync_step *s);

/* ---- mbarriers: sync_mbar.c ---- */

/* Before it runs. */
void sync_mbar_step(const struct sync_step *s);
/* A copy is to complete in an mbarrier of owner's. */
void sync_mbar_completes(const struct sync_step *s, struct sync_cta *owner, u32 offset);
/* After it: waits that are over complete copies. */
void sync_mbar_waited(const struct sync_step *s);

/* ---- asynchronous copies: sync_copy.c ---- */

void sync_copy_free(struct sync_cta *c);
/* cp.async writes shared memory. */
void sync_copy_issue(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a);
/* A piece of what a bulk or tensor copy or st.async writes to shared memory, of one lane. */
void sync_copy_piece(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a);
/* Behind its pieces: the mbarrier that it completes. */
void sync_copy_piece_end(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a);
/* What a bulk or tensor copy reads of shared memory; the CTA has ended. */
void sync_store_issue(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a);
void sync_store_end(struct sync_launch *l, struct sync_cta *c);
/* Groups of cp.async and of bulk copies, and arrivals of an mbarrier for the former. */
void sync_copy_group(const struct sync_step *s);
/* A wait for a phase of an mbarrier, of this parity, has ended. */
void sync_copy_arrived(struct sync_cta *c, u32 mbar, u32 phase);
/* A copy under way that was issued in that phase; NULL: none. */
const struct sync_copy *sync_copy_of_phase(const struct sync_cta *c, u32 mbar, u32 phase);
void sync_copy_read(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a);

/* ---- wgmma: sync_regs.c, sync_wgmma.c ---- */

/* NULL: the program has no wgmma, or *failed: no memory. */
struct sync_regs *sync_regs_find(const struct program *p, bool *failed);
void sync_regs_free(struct sync_regs *r);
/* Does it give a register the value of another, and no more? */
bool sync_is_move(const struct ir_func *f, const struct ir_insn *in);

void sync_wgmma_free(struct sync_cta *c);
void sync_wgmma_end(struct sync_launch *l, struct sync_cta *c);
/* Before a micro-op runs, in a program with regs. */
void sync_wgmma_step(const struct sync_step *s);
/* Fences, commits and waits. */
void sync_wgmma_mark(const struct sync_step *s);
/* A row of a factor in shared memory. */
void sync_wgmma_read(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a);
void sync_wgmma_write(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a);

/* ---- setmaxnreg: sync_registers.c ---- */

void sync_registers_step(const struct sync_step *s);
void sync_registers_end(struct sync_launch *l, struct sync_cta *c);

/* ---- locks: sync_locks.c ---- */

/* NULL: the program has no loops that take a lock, or there is no memory. */
struct sync_locks *sync_locks_new(const struct program *p, const struct exec_env *e);
void sync_locks_free(struct sync_locks *k);
/* Any access to global or shared memory, before it takes place. */
void sync_locks_access(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a);
/* A warp comes to a barrier of its CTA; a CTA is told something by others. */
void sync_locks_meet(struct sync_locks *k, u64 cta, u32 warp);
void sync_locks_signal(struct sync_locks *k, struct sync_cta *c);

/* ---- clusters: sync_cluster.c ---- */

void sync_cluster_arrive(const struct sync_step *s);
void sync_cluster_wait(const struct sync_step *s);
/* An access to shared memory, perhaps another CTA's. */
void sync_cluster_access(struct sync_launch *l, struct sync_cta *c, const struct exec_access *a);
/* The same of what an instruction does to it that is no access of its thread. */
void sync_cluster_reach(const struct sync_step *s, u32 lane, struct sync_cta *x,
			const struct cta *owner);
void sync_cluster_end(struct sync_launch *l, struct sync_cta *c);

#endif
