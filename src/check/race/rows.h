/*
 * Who touched a stretch of 16 granules of memory, in rows: what lanes of one warp have touched of
 * it at one moment, side by side. It says for each granule what a cell (shadow.h) would say, as
 * long as all accesses are weak: the last write, and the reads since.
 */
#ifndef PL_CHECK_ROWS_H
#define PL_CHECK_ROWS_H

#include "src/check/race/known.h"

#define ROWS_GRANULES 16u
#define ROWS_ALL 0xffffu
/* Reads of a granule that are kept, as of a cell. */
#define ROWS_READS 64u

struct row {
	u64 warp; /* who (known.h) of its lanes, without the lowest five bits */
	u32 time, pc;
	u32 set;    /* lanes: of granule i, these rotated left by i >> shift: row_lanes */
	u16 mask;   /* granules */
	u16 silent; /* those that held what was stored */
	u8 shift;
};

/* A zeroed one is empty. */
struct rows {
	union {
		struct row one; /* cap 0 */
		struct row *list;
	};
	u8 len, cap;
	u8 writes; /* rows that are writes: the first ones, of different granules */
	u8 next;   /* not 0: of ROWS_READS reads of all granules the latest replace the oldest */
	u16 read;  /* granules of the others */
};

static inline u32 row_lanes(const struct row *r, u32 granule)
{
	u32 by = granule >> r->shift & 31;

	return r->set << by | r->set >> (-by & 31);
}

static inline struct row *rows_list(struct rows *s)
{
	return s->cap ? s->list : &s->one;
}

/* Where lists of rows lie; a zeroed one is empty. It outlives the rows of its lists. */
struct rows_pool {
	struct rows_chunk *chunks;
	struct row *free[6]; /* by size */
};

void rows_pool_fini(struct rows_pool *p);

void rows_fini(struct rows_pool *p, struct rows *s);
/*
 * Note a read, or a write, which ends what was known of its granules. known: what the CTA of a read
 * did up to then happened before it, and need not be kept. False: there are too many rows or no
 * memory is left; what cells then are told is the whole access again.
 */
bool rows_read(struct rows_pool *p, struct rows *s, const struct row *t, u32 known);
bool rows_write(struct rows_pool *p, struct rows *s, const struct row *t);
/* False: these granules cannot be forgotten without the others. */
bool rows_forget(struct rows *s, u16 mask);
/* Four stretches of granules of a quarter of the size. False: no memory left; `to` is empty. */
bool rows_split(struct rows_pool *p, struct rows *from, struct rows to[4]);

#endif
