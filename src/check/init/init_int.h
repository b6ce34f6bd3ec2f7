/*
 * Shared by the parts of the check for reads of what was never written: init.c (memory),
 * init_flow.c (registers), init_report.c (what is said).
 */
#ifndef PL_CHECK_INIT_INT_H
#define PL_CHECK_INIT_INT_H

#include "src/check/init/init.h"
#include "src/check/init/init_memory.h"
#include "src/check/init/taint.h"
#include "src/dev/module/nested.h"

/* How a value is used that is not defined. */
enum init_use {
	INIT_BRANCH,
	INIT_ADDRESS,
	INIT_STORE,
	INIT_ATOMIC,
	INIT_BARRIER,
	INIT_CALL,
	INIT_USES,
};

#define INIT_ROW_WRITTEN (1u << 31)

/* A read of bytes that were never written; values in registers name it by its number + 1. */
struct init_read {
	u32 pc;
	u8 space;   /* enum mem_space */
	u8 size;    /* of the element */
	bool whole; /* nothing that the thread read was written */
	u64 address;
};

/* Where a value was used. */
struct init_where {
	const struct cta *cta;
	u32 pc, thread; /* thread: warp * 32 + lane */
};

/* What is reported of a launch: one for each instruction that reads. */
struct init_report {
	struct init_read read;
	bool is_register; /* never written; `read` has the place of the use */
	enum init_use use;
	u32 use_pc;
	u32 thread, block_size[3], block[3];
	u64 count;
};

struct init_launch {
	const struct program *program;
	struct host_from from; /* of a CTA, once one has begun */
	u32 serial;
	struct taint_shape shape;
	u8 *states; /* of rows when a CTA begins, by row / 64 */
	u32 dirty;  /* how many of them are not clean */
	/* the rows of micro-op pc, by row / 64, with INIT_ROW_WRITTEN: row_at[first_row[pc]] .. */
	u32 *first_row, *row_at;
	VEC(struct init_read) reads;
	struct map reads_of; /* by micro-op + 1: how many reads << 32 | the last one's number */
	VEC(struct init_report) reports;
	size_t announced;    /* how many of them a debugger knows */
	struct map by_place; /* number + 1 */
	struct map ctas;     /* by number + 1: struct init_cta * */
	struct init_cta *spare;
	bool gave_up;
};

/* Local memory of the threads of a warp, one after the other. */
struct init_local {
	struct written written;
	bool used;
};

/* A CTA that runs. */
struct init_cta {
	struct init_cta *next; /* spare ones */
	const struct cta *cta;
	struct init_launch *launch;
	struct taint *gangs;
	u32 gang_len, warps;
	struct written shared;
	struct init_local *local; /* by warp */
	/* asynchronous copies: where lanes of a warp are about to read */
	u32 copy_pc, copy_mask, copy_warp;
	u64 copy_from[WARP_LANES];
	u8 copy_space; /* enum mem_space, of copy_from */
	u64 copy_bytes;
	/* a fragment that goes by pieces: whose, and the next piece's place in its registers */
	u32 fragment_pc, fragment_warp, fragment_at;
};

/* Lanes of one access lie in so many bytes, if all of them are to be looked up at once. */
#define INIT_SPAN_MOST ((u64)64 << 10)

/* ---- init.c ---- */

/* NULL: the launch, or the CTA, is not followed, for want of memory. */
struct init_cta *init_cta_of(struct init_check *c, const struct cta *cta);
struct init_cta *init_cta_at(struct init_launch *l, u64 number);

/* ---- init_access.c ---- */

/* exec_observer.access; user: struct init_check. */
void init_observe_access(void *user, const struct exec_access *a);

/* ---- init_span.c ---- */

/* exec_observer.span; user: struct init_check. */
bool init_observe_span(void *user, const struct exec_span *s);

/* ---- init_flow.c ---- */

/* What the rows of a CTA hold when it begins, and the list of rows of each micro-op. */
bool init_flow_prepare(struct init_launch *l);
/* exec_observer.step; user: struct init_check. */
void init_observe_step(void *user, const struct gang *g, const struct uop *in);

/* ---- init_live.c ---- */

/*
 * By row / 64: may a function read the row before it writes it? The rows of micro-ops are listed
 * already. False: not known.
 */
bool init_live_find(const struct init_launch *l, u8 *live);

/* ---- init_report.c ---- */

/* The number + 1 of a read; the first ones of an instruction have numbers of their own. */
u32 init_read_new(struct init_launch *l, const struct init_read *r);
/* Note the use of a value from `origin` (taint.h). */
void init_use(struct init_launch *l, u32 origin, enum init_use use, const struct init_where *at);
void init_tell(struct init_launch *l, struct mem *m, struct findings *found);
/* Tell a debugger of what is new, while the launch runs. No lock of the check is held. */
void init_announce(struct init_launch *l, struct mem *m, struct findings *found);
void init_report_fini(struct init_launch *l);

#endif
