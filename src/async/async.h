/*
 * Private to src/exec: mbarrier words, and copies that are under way.
 *
 * Copies complete as late as the rules allow, so that a missing wait shows: cp.async at the wait of
 * its thread or when an mbarrier it arrives on is tested, bulk copies when their mbarrier is tested
 * or their group is waited for, all of them at the end of their CTA. What is read, is read then.
 * exec_env.async_eager completes everything where it is issued instead.
 *
 * An mbarrier is opaque to programs. Ours is one 64-bit word in shared memory; the state that
 * arrive returns is the word before. Source: PTX ISA "Asynchronous Operations", "mbarrier", "Data
 * Movement: cp.async", "cp.async.bulk".
 */
#ifndef PL_ASYNC_ASYNC_H
#define PL_ASYNC_ASYNC_H

#include "src/exec/exec.h"

/* ---- mbarrier ---- */

#define MBAR_COUNT_MAX 0xfffffu

/* What an mbarrier's word says. */
struct mbar {
	u32 phase;    /* counts completed phases, modulo 2 */
	u32 pending;  /* arrivals that the phase still needs */
	u32 expected; /* arrivals of a phase */
	s32 tx;       /* bytes still to come */
	u32 layout;   /* 1: .layout::v1 */
};

struct mbar mbar_read(u64 word);
u64 mbar_init(u32 count, u32 layout);
/* 0: .layout::v0, 1: .layout::v1 */
u32 mbar_layout(u64 word);
/* Pending arrivals of the phase a state was taken in. */
u32 mbar_pending_of(u64 state);
/* More bytes are awaited, or fewer: may complete the phase. */
void mbar_expect(u64 *at, u32 bytes);
void mbar_complete(u64 *at, u32 bytes);
/* One arrival more is needed in this phase. */
void mbar_raise(u64 *at);
/* `n` arrivals; drop: later phases need `n` fewer. Returns the word before. */
u64 mbar_arrive(u64 *at, u32 n, bool drop);
/* Is the phase over in which `state` was taken? */
bool mbar_passed(u64 word, u64 state);
bool mbar_passed_parity(u64 word, u32 parity);

/* ---- copies under way ---- */

enum async_kind { ASYNC_COPY, ASYNC_REDUCE, ASYNC_TENSOR };

typedef u64 async_apply(u64 old, u64 b, u64 c);

/* One bulk copy, or one lane's st.async or red.async. */
struct async_op {
	u8 kind;        /* enum async_kind */
	u8 size;        /* ASYNC_REDUCE: bytes of an element */
	bool immediate; /* the source is `data` */
	u16 skip;       /* ASYNC_COPY: bytes to leave out of each 16, one bit each */
	u8 first, last; /* ASYNC_COPY: bytes to leave out at the beginning and at the end */
	u8 *dst;
	const u8 *src;
	u32 bytes;
	async_apply *apply; /* ASYNC_REDUCE */
	u64 *mbar;          /* gets the completion of `bytes`, NULL: a bulk group */
	u32 phase;          /* of mbar, when it was issued */
	u32 thread; /* bulk groups: issued by this thread of the CTA, as its group `group` */
	u32 group;
	u8 data[16];
	struct tensor_op *tensor; /* ASYNC_TENSOR: owned, on the heap */
};

/* The group of arrivals: after all others. */
#define ASYNC_NO_GROUP (UINT32_MAX - 1)

/* One cp.async of the lanes of a warp, or their arrivals on mbarriers when those before are done.
 */
struct async_batch {
	u32 mask;             /* lanes not yet done */
	u8 size;              /* bytes written; 0: arrivals */
	u8 bytes[WARP_LANES]; /* read; the rest is filled with zeros */
	u32 group[WARP_LANES];
	u64 dst[WARP_LANES]; /* host address; arrivals: of the mbarrier */
	u64 src[WARP_LANES];
};

struct async_warp {
	struct async_batch *batch;
	u32 len, cap;
	u32 first; /* batches before it are done */
	u32 committed[WARP_LANES];
	u32 bulk_committed[WARP_LANES];
	u32 refused[WARP_LANES]; /* listed waits: where the last one failed, plus 1; 0: nowhere */
};

struct async_cta {
	struct async_warp *warp; /* of the CTA */
	struct async_op *op;     /* bulk copies, in the order of issue */
	u32 len, cap;
	bool some; /* anything is under way */
	u32 *mbar; /* offsets in shared memory of mbarriers, in the order of their init */
	u32 mbars, mbars_cap;
};

/* Combine elements of `size` bytes with those at dst, each as one atomic operation. */
void async_reduce(u8 *dst, const u8 *src, u32 bytes, u32 size, async_apply *apply);

/* The CTA's queues; made when first needed. NULL: no memory. */
struct async_cta *async_of(struct cta *c);
/* A batch to fill in, at the end of the warp's (counted in the CTA). NULL: no memory. */
struct async_batch *async_batch_new(struct cta *c, u32 warp);
/* Queue a copy with the CTA whose mbarrier or thread will ask for it, or do it at once. False: no
 * memory. */
bool async_issue(struct cta *c, const struct async_op *op);
/* What lane l copies in batch b: whole, as its size says. */
void async_copy_lane(const struct async_batch *b, u32 l);
/* Commit and wait for groups of cp.async: lanes of a warp. keep: newest groups that may stay. */
void async_commit(struct cta *c, u32 warp, u32 lanes);
void async_wait(struct cta *c, u32 warp, u32 lanes, u32 keep);
/* Everything the lanes have issued, committed or not. */
void async_wait_all(struct cta *c, u32 warp, u32 lanes);
void async_commit_bulk(struct cta *c, u32 warp, u32 lanes);
/*
 * All committed groups of bulk copies: those that might stay have been read by then on hardware,
 * and programs that count one too few rely on that.
 */
void async_wait_bulk(struct cta *c, u32 warp, u32 lanes);
/* Complete what will arrive on this mbarrier of the CTA. */
void async_settle_mbar(struct cta *c, const u64 *mbar);
/* Remember an mbarrier of the CTA until it is invalidated, once; without memory it is not. */
void async_list_mbar(struct cta *c, const u64 *mbar);
void async_unlist_mbar(struct cta *c, const u64 *mbar);
/* Remember whether a lane's last wait for an mbarrier of its CTA has failed. */
void async_list_wait(struct cta *c, u32 warp, u32 lane, const u64 *mbar, bool over);
/* Lanes of a warp whose last wait was for the mbarrier, and failed. */
u32 async_waiting(const struct cta *c, u32 warp, const u64 *mbar);
/* What is under way that will arrive on an mbarrier of the CTA: copies, and their bytes. */
u32 async_copies_for(const struct cta *c, const u64 *mbar, u64 *bytes);
/* Those bytes of copies that were issued in a phase of this parity. */
u64 async_bytes_of_phase(const struct cta *c, const u64 *mbar, u32 parity);
/* The CTA has ended: complete what is left. */
void async_finish(struct cta *c);
void async_reset(struct cta *c);
void async_free(struct cta *c);
/*
 * A copy of a CTA's queues, NULL: it has none, or no memory (*ok); and queues made a CTA's own, in
 * place of those it has. To be freed by async_free of a CTA that has them.
 */
struct async_cta *async_clone(const struct cta *c, bool *ok);

#endif
