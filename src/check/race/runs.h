/*
 * Who touched a page of memory, in the order in which that was: what lanes of a warp touch side by
 * side, and runs of such accesses by warp after warp, CTA after CTA, or turn after turn of a loop,
 * whose places and moments lie at equal distances. As long as none of them races with another, and
 * all are weak, there is nothing more to know; rows or cells (shadow.h) are made of it else.
 */
#ifndef PL_CHECK_RUNS_H
#define PL_CHECK_RUNS_H

#include "src/check/race/rows.h"

/* Bytes of a page. */
#define RUNS_PAGE 1024u
/* Then the page gets rows. */
#define RUNS_MOST 64u
/* There is room for 4 runs, for 16, or for RUNS_MOST. */
#define RUNS_SIZES 3u

enum run_flags {
	RUN_WRITES = 1,
	RUN_SILENT = 2, /* it stored what was there */
};

/* Accesses of which the first is given, and how the others differ from the one before. */
struct run {
	u64 warp;        /* as of a row */
	u32 time, known; /* known: what the CTA did up to then happened before it */
	u32 pc;
	u32 set; /* lanes that touch the first granule; the next one's are rotated left by one */
	s32 warp_step;
	u32 time_step, known_step;
	u16 first, bytes; /* in the page */
	s16 first_step;
	u16 count;
	u8 width; /* bytes that a lane touches: 1 << width */
	u8 flags; /* enum run_flags */
};

struct runs {
	u16 len, cap;
	u16 writes;    /* runs that write */
	u16 compact;   /* number of runs at which what is over is taken out */
	u16 low, high; /* all of them lie there */
	struct run at[];
};

/* Where runs lie; a zeroed one is empty. It outlives them. */
struct runs_pool {
	struct runs_chunk *chunks;
	struct runs *free[RUNS_SIZES]; /* by size */
};

void runs_pool_fini(struct runs_pool *p);
void runs_free(struct runs_pool *p, struct runs *s);
/*
 * Note an access, a run of one. False: it may race with others, there are too many of them, or no
 * memory is left: rows are to see it.
 */
bool runs_note(struct runs_pool *p, struct runs **s, const struct run *x);
/* Access i of a run, as a run of one. */
struct run run_access(const struct run *r, u32 i);
/*
 * The part of an access, a run of one, that lies in one stretch of granules of 1 << shift bytes,
 * from a byte of the page on. The result: where the next part begins.
 */
u32 run_row(const struct run *x, u32 shift, u32 from, struct row *row);

#endif
