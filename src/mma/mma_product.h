/*
 * The product of a warp's fragments, A times B plus C: what handlers give and what they get. All
 * matrix instructions have the same fragments, 8 rows of A (or columns of B) by four words, in
 * different orders; mma, mma.sp, wmma.mma and wgmma become one product each.
 */
#ifndef PL_EXEC_MMA_PRODUCT_H
#define PL_EXEC_MMA_PRODUCT_H

#include "src/uop/matrix.h"
#include "src/mma/mma_warp.h"

#define PRODUCT_ROWS 4u     /* groups of 8 rows */
#define PRODUCT_COLUMNS 32u /* groups of 8 columns */
#define PRODUCT_QUADS 4u
#define PRODUCT_REGISTERS 128u

/* A fragment of 64-bit words has twice as many u32. */
struct product {
	struct mma_form f;
	struct mma_rule rule;
	struct mma_lay
		lay; /* floating point: made for the first warp, so `laid` has to be false before */
	bool laid, vectors;
	u8 rows, columns; /* groups of 8; the form has those of one instruction of a warp */
	const u32 *a[PRODUCT_ROWS][PRODUCT_QUADS];
	const u32 *b[PRODUCT_COLUMNS][PRODUCT_QUADS];
	const u32 *c[PRODUCT_REGISTERS];
	const u32 *meta; /* of sparse A */
	u32 d[PRODUCT_REGISTERS][WARP_LANES]
		__attribute__((aligned(64))); /* f64: two of these a register */
};

/* What the record of mma says, for warp w; D is written. */
void EXEC_NAME(mma_warp)(struct gang *g, const struct uop *in, u32 w);

/* Fill d. */
void EXEC_NAME(product_float)(struct product *x);
void EXEC_NAME(product_int)(struct product *x);
void EXEC_NAME(product_bits)(struct product *x);
void EXEC_NAME(product_f64)(struct product *x);

static inline void product_multiply(struct product *x)
{
	if (x->f.a == MMA_F64)
		EXEC_NAME(product_f64)(x);
	else if (x->f.a == MMA_B1)
		EXEC_NAME(product_bits)(x);
	else if (x->f.a >= MMA_S8)
		EXEC_NAME(product_int)(x);
	else
		EXEC_NAME(product_float)(x);
}

/* Of a group of 8 rows and 8 columns. */
static inline u32 product_registers(u32 type)
{
	return type == MMA_F16 ? 1 : 2;
}

/* Which register of C or D has element (row group, column group, parity of the column). */
static inline u32 product_register(const struct product *x, u32 type, u32 row, u32 column,
				   u32 parity)
{
	u32 group = column * x->rows + row;

	return type == MMA_F16 ? group : 2 * group + parity;
}

static inline const u32 *product_words(const struct gang *g, const struct uop *in, u32 i, u32 w)
{
	return ROW32(g->env->program->ext[in->ext + i]) + w * WARP_LANES;
}

static inline const u32 *product_doubles(const struct gang *g, const struct uop *in, u32 i, u32 w)
{
	return (const u32 *)(ROW64(g->env->program->ext[in->ext + i]) + w * WARP_LANES);
}

static inline const u32 *product_row(const struct gang *g, const struct uop *in, u32 type, u32 i,
				     u32 w)
{
	return type == MMA_F64 ? product_doubles(g, in, i, w) : product_words(g, in, i, w);
}

/*
 * Position in the full row of stored element s of row i (0..15) of a sparse A. Metadata: two bits
 * an element, or four for tf32, from lanes that the selector names; measured.
 */
static inline u32 product_sparse_place(const struct product *x, u32 i, u32 s, u32 stored)
{
	u32 row = i & 7, high = i >> 3, bits = mma_bits(x->f.a), sel = x->rule.extra, lane, at;

	if (bits == 32) { /* 1:2 */
		lane = row * 4 + (stored == 4 ? sel : 2 * sel + s / 4);
		at = 16 * high + s % 4 * 4;
		return 2 * s + ((x->meta[lane] >> at & 15) == 0xe);
	}
	if (bits == 16) {
		lane = row * 4 + (stored == 8 ? sel : 2 * sel + s / 8);
		at = 16 * high + s % 8 * 2;
	} else if (bits == 8) {
		lane = row * 4 + (stored == 16 ? 2 * sel + high : s / 16 * 2 + high);
		at = s % 16 * 2;
	} else { /* pairs, 4:8 */
		lane = row * 4 + (stored == 32 ? 2 * sel + high : s / 32 * 2 + high);
		at = s % 32 / 2 * 2;
		return (s / 4 * 4 + (x->meta[lane] >> at & 3)) * 2 + (s & 1);
	}
	return s / 2 * 4 + (x->meta[lane] >> at & 3);
}

/* D into its registers, which are the first of `ext`. */
static inline void product_scatter(struct gang *g, const struct uop *in, u32 w,
				   const struct product *x)
{
	u32 n = (u32)x->rows * x->columns * product_registers(x->f.d);

	for (u32 r = 0; r < n; r++) {
		u32 row = g->env->program->ext[in->ext + r];

		if (row == NO_ROW)
			continue;
		if (x->f.d == MMA_F64)
			memcpy(ROW64(row) + w * WARP_LANES, x->d[2 * r], 8 * WARP_LANES);
		else
			memcpy(ROW32(row) + w * WARP_LANES, x->d[r], 4 * WARP_LANES);
	}
}

#endif
