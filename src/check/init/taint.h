/*
 * Which registers of a gang hold values that are not defined: bytes of each lane, and where they
 * came from. Rows that are all defined, or all of them never written, take no storage, which is
 * nearly every row at nearly every time.
 */
#ifndef PL_CHECK_TAINT_H
#define PL_CHECK_TAINT_H

#include "src/exec/exec.h"

enum taint_state {
	TAINT_CLEAN,
	TAINT_UNSET, /* no lane has written the row */
	TAINT_SOME,  /* lanes have masks */
};

/* In a mask: the value was computed from such bytes, not just moved. */
#define TAINT_COMPUTED 0x100u
#define TAINT_BYTES 0xffu
/* The origin of a register that was never written; others are the caller's numbers. */
#define TAINT_NEVER 0u

/* Rows by struct program: the offsets of rows tell their classes. */
struct taint_shape {
	u32 wide_at, preds_at; /* where X rows and P rows begin */
	u32 block_bytes;
	u32 gang; /* warps */
};

struct taint {
	const struct taint_shape *shape;
	u8 *state;   /* enum taint_state, by row / 64 */
	u32 dirty;   /* how many rows are not clean */
	u16 *mask;   /* by row / 4 + lane, of X rows + 2 * lane; P rows: lanes, in origin */
	u32 *origin; /* likewise; P rows: lanes of each warp, then origins by warp */
};

struct taint_value {
	u32 mask; /* bytes, and TAINT_COMPUTED; 0: defined */
	u32 origin;
};

/* False: no memory left. */
bool taint_init(struct taint *t, const struct taint_shape *shape);
/* What rows hold at first, by row / 64; dirty: how many of them are not clean. */
void taint_begin(struct taint *t, const u8 *states, u32 dirty);
void taint_fini(struct taint *t);

static inline u8 taint_state(const struct taint *t, u32 row)
{
	return t->state[row / 64];
}

static inline enum row_class taint_class(const struct taint *t, u32 row)
{
	return row >= t->shape->preds_at ? ROW_P : row >= t->shape->wide_at ? ROW_X : ROW_W;
}

/* lane: in the gang. A predicate's mask is 1. */
struct taint_value taint_get(const struct taint *t, u32 row, u32 lane);
void taint_put(struct taint *t, u32 row, u32 lane, struct taint_value v);
/* The lanes of a warp whose value is not defined at all, or in part. */
u32 taint_lanes(const struct taint *t, u32 row, u32 warp);
/* Lanes have written a defined value. */
void taint_clean(struct taint *t, u32 row, u32 warp, u32 lanes);
void taint_clean_row(struct taint *t, u32 row);
/* If no lane of these warps has anything undefined, note so. */
void taint_settle(struct taint *t, u32 row);

#endif
