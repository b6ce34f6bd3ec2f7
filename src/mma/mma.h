/*
 * Products of matrices, D = A B + C, for one warp at a time. Whatever the instruction (mma, mma.sp,
 * wmma.mma, wgmma), its handler describes one struct mma_product, whose operands are fragments, and
 * mma_multiply fills D. Work goes by tiles of 16 rows and 8 columns:
 *
 *     mma, mma.sp, wmma.mma      wgmma          m8n8k4, Volta's wmma
 *     op_mma.c  op_mma_tile.c    op_wgmma.c     op_mma_quads.c
 *            |                      |                 |
 *            +----------+-----------+                 |
 *                       |                             |
 *               product.c: which way                  |
 *            +----------+---------+---------------+   |
 *            |          |         |               |   |
 *       integers,   vectors   any numbers       block-scaled        operands
 *       bits, f64       |     product_double.c  product_scaled.c
 *            |          |         |               |   |
 *            |   plane_dense.c    |               |   |
 *            |   plane_sparse.c   tile_decode.c <-+---+             decode
 *            |          |         |
 *     product_int.c  block.c   tile_sum.c                           add blocks, round
 *            |          |         |
 *            +----------+---------+--> D                            store
 *
 * The rule of the sums (struct mma_rule: fraction bits, block, floor, what is done to the result)
 * is the generation's, and data: docs/tensor-cores.md has it, and pictures of fragments, planes and
 * blocks. The two ways of floating point agree to the bit (tests/unit/mma/product.c).
 */
#ifndef PL_MMA_MMA_H
#define PL_MMA_MMA_H

#include "src/ops/access.h"
#include "src/uop/matrix.h"

/* ---- what all handlers of matrix instructions do ---- */

/* The instructions are the whole warp's: lanes that are missing make them illegal. */
static inline bool mma_warp_is_whole(const struct gang *g, u32 w)
{
	return g->mode == MODE_GANG || g->active == g->warp_at[g->warp + w].live;
}

static inline const struct uop *mma_warp_incomplete(struct gang *g, const struct uop *in)
{
	return exec_fault(g, in, FAULT_ILLEGAL_INSTRUCTION, g->active);
}

/* What a warp does; false: a fault was raised. */
typedef bool mma_warp_step(struct gang *g, const struct uop *in, u32 w);

/* Every warp that has lanes; `each` is a constant, so that it is inlined. */
static inline __attribute__((always_inline)) const struct uop *
mma_each_warp(struct gang *g, const struct uop *in, mma_warp_step *each)
{
	for (u32 w = 0; w < WARPS; w++) {
		if (!mma_warp_is_whole(g, w))
			return mma_warp_incomplete(g, in);
		if (mask_of(g, w) && !each(g, in, w))
			return NULL;
	}
	return in + 1;
}

/* ---- the product of a warp ---- */

#define MMA_TILE_ROWS 16u
#define MMA_TILE_COLUMNS 8u
#define MMA_MAX_ROWS 4u     /* groups of 8 rows */
#define MMA_MAX_COLUMNS 32u /* groups of 8 columns */
#define MMA_MAX_QUADS 4u    /* groups of 4 words of a row */
#define MMA_MAX_REGISTERS 128u

/* How the numbers of a tile lie in planes and blocks, when it is multiplied in vectors. */
struct mma_lay {
	bool narrow;   /* exponents are bytes */
	bool normal;   /* e4m3: subnormals count with the exponent they have in f16 */
	u8 quads;      /* stored ones of a row of A */
	u8 blocks;     /* sums one after the other */
	u8 groups;     /* of a block */
	u8 slots;      /* bit s: planes of slot s are there */
	u8 selector;   /* sparse A: which lanes have the metadata */
	u32 sign_flip; /* what negates the numbers in a word of A */
};

/* How the sum of a block is rounded, and what it is made of. */
struct mma_round {
	u8 fraction; /* bits below the largest exponent */
	u8 below;    /* see struct mma_rule */
	u8 cut;      /* f32 keeps so many; 0: all */
	bool half;   /* accumulators are f16 */
	bool late;   /* the accumulator is added after all blocks, to nearest */
};

/* How tiles are multiplied in vectors; made for the first warp. Steps: mma_plane.h. */
struct mma_plan {
	bool made, vectors;
	struct mma_lay lay;
	struct mma_round round;
	const struct mma_decoder *decoder[2]; /* of the types of A and B */
	const struct mma_adder *adder;
};

/*
 * Fragments: lane 4 g + t has word t of a quad of words of row g (of A; of column g of B). Those of
 * f64 have twice as many u32. `plan.made` is false before the first warp.
 */
struct mma_product {
	struct mma_form form;
	struct mma_rule rule;
	struct mma_plan plan;
	u8 rows, columns; /* groups of 8; the form has those of one instruction of a warp */
	const u32 *a[MMA_MAX_ROWS][MMA_MAX_QUADS];
	const u32 *b[MMA_MAX_COLUMNS][MMA_MAX_QUADS];
	const u32 *c[MMA_MAX_REGISTERS];
	const u32 *meta;     /* of sparse A */
	const u32 *scale[6]; /* block-scaled: of A and of B the scales, the first byte, the lanes */
	u32 d[MMA_MAX_REGISTERS][WARP_LANES]
		__attribute__((aligned(64))); /* f64: two of these a register */
};

/* Fill d. */
void EXEC_NAME(mma_multiply)(struct mma_product *x);

/* Ways of mma_multiply. In vectors: false, and d undefined, when some number does not allow it. */
bool EXEC_NAME(mma_multiply_vectors)(struct mma_product *x);
void EXEC_NAME(mma_multiply_doubles)(struct mma_product *x);
void EXEC_NAME(mma_multiply_scaled)(struct mma_product *x);
void EXEC_NAME(mma_multiply_integers)(struct mma_product *x);
void EXEC_NAME(mma_multiply_f64)(struct mma_product *x);

/* What a micro-op of mma, mma.sp or wmma.mma says, for warp w; D is written. */
void EXEC_NAME(mma_warp)(struct gang *g, const struct uop *in, u32 w);

/* Zeros, in place of fragments of rows that are not there. */
extern const u32 EXEC_NAME(mma_zeros)[2 * WARP_LANES];

/* Of a group of 8 rows and 8 columns. */
static inline u32 mma_registers(u32 type)
{
	return type == MMA_F16 ? 1 : 2;
}

/* Which register of C or D has element (row group, column group, parity of the column). */
static inline u32 mma_register(const struct mma_product *x, u32 type, u32 row, u32 column,
			       u32 parity)
{
	u32 group = column * x->rows + row;

	return type == MMA_F16 ? group : 2 * group + parity;
}

static inline u32 mma_right_quads(const struct mma_form *f)
{
	return f->words / 4u << (f->flags & MMA_SPARSE ? 1 : 0);
}

/* Operand i of those that ext lists, for warp w. */
static inline const u32 *mma_words_at(const struct gang *g, const struct uop *in, u32 i, u32 w)
{
	return ROW32(g->env->program->ext[in->ext + i]) + w * WARP_LANES;
}

/* D into its registers, which are the first of `ext`. */
static inline void mma_store_result(struct gang *g, const struct uop *in, u32 w,
				    const struct mma_product *x)
{
	u32 n = (u32)x->rows * x->columns * mma_registers(x->form.d);

	for (u32 r = 0; r < n; r++) {
		u32 row = g->env->program->ext[in->ext + r];

		if (row == NO_ROW)
			continue;
		if (x->form.d == MMA_F64)
			memcpy(ROW64(row) + w * WARP_LANES, x->d[2 * r], 8 * WARP_LANES);
		else
			memcpy(ROW32(row) + w * WARP_LANES, x->d[r], 4 * WARP_LANES);
	}
}

/* ---- a tile in doubles ---- */

#define MMA_K 64u
#define MMA_NO_EXPONENT (-5000) /* of zero: below that of any term, twice too */
#define MMA_FOR(i, n) _Pragma("omp simd") for (u32 i = 0; i < (n); i++)

/* Accumulators or results of a tile, f16 or f32. */
struct mma_sum_bits {
	u32 at[MMA_TILE_COLUMNS][MMA_TILE_ROWS] __attribute__((aligned(64)));
};

/* Decoded operands, and the result. */
struct mma_tile {
	f64 a[MMA_K][MMA_TILE_ROWS] __attribute__((aligned(64)));
	f64 b[MMA_TILE_COLUMNS][MMA_K];
	f64 c[MMA_TILE_COLUMNS][MMA_TILE_ROWS] __attribute__((aligned(64)));
	s32 ae[MMA_K][MMA_TILE_ROWS] __attribute__((aligned(64)));
	s32 be[MMA_TILE_COLUMNS][MMA_K];
	s32 ce[MMA_TILE_COLUMNS][MMA_TILE_ROWS] __attribute__((aligned(64)));
	struct mma_sum_bits d;
	/* nonfinite: all factors, a and b having zeros for infinities and NaN */
	f64 all_a[MMA_K][MMA_TILE_ROWS], all_b[MMA_TILE_COLUMNS][MMA_K];
	u64 absent[MMA_TILE_ROWS]; /* elements of A that a sparse matrix does not store */
	u32 k;
	s32 least;      /* exponent of sums */
	bool nonfinite; /* some factor is infinite or NaN */
};

/* The words of a tile by row of A, by column of B, and the accumulators. */
struct mma_rows {
	u32 a[MMA_TILE_ROWS][16], b[MMA_TILE_COLUMNS][16];
	struct mma_sum_bits c;
};

/* The tile of row group `row` and column group `column`; rows that are not there are zero. */
void EXEC_NAME(mma_gather)(const struct mma_product *x, u32 row, u32 column, struct mma_rows *m);
/* t->d into x->d. */
void EXEC_NAME(mma_scatter)(struct mma_product *x, u32 row, u32 column, const struct mma_tile *t);

/* Place in the full row of stored number s of row i (0..15) of a sparse A, which stores so many. */
u32 EXEC_NAME(mma_sparse_place)(const struct mma_product *x, u32 i, u32 s, u32 stored);

/* A and B decoded, in the order of the rule; t->k and t->nonfinite say what they are. */
void EXEC_NAME(mma_fill_tile)(const struct mma_product *x, const struct mma_rule *rule,
			      const struct mma_rows *m, struct mma_tile *t);

/*
 * n numbers of a row of words, their values and exponents; true: one is infinite or NaN. `wide`:
 * subnormals of e4m3 count with their own exponent, as f16 has them.
 */
bool EXEC_NAME(mma_decode_row)(u32 type, const void *words, u32 n, bool wide, f64 *v, s32 *e);

/*
 * c: the accumulator's bits, of type `ctype`; the result, of type `dtype`, is left in t->d. Factors
 * are in place, in the order in which the rule takes them.
 */
void EXEC_NAME(mma_sum_tile)(struct mma_tile *t, const struct mma_sum_bits *c, u32 ctype, u32 dtype,
			     const struct mma_rule *rule);

/* The exponent of a sum, also when all terms are smaller. */
static inline s32 mma_least(const struct mma_rule *rule, bool half)
{
	return (half ? -14 : -126) - rule->below;
}

/* 2^e, of a normal f64. */
static inline f64 mma_power(s32 e)
{
	return f64_bits((u64)(1023 + e) << 52);
}

/* That of finite f32. */
static inline s32 mma_exponent_f32(u32 bits)
{
	s32 field = (s32)(bits >> 23 & 255);

	return bits << 1 ? (field > 1 ? field : 1) - 127 : MMA_NO_EXPONENT;
}

/* Toward zero to f32; too large is infinite. */
static inline u32 mma_to_f32(f64 d)
{
	u64 u = bits_f64(d), m = (u & 0xfffffffffffff) | (u64)1 << 52;
	s64 e = (s64)(u >> 52 & 2047) - 896, shift = 30 - e;
	u64 r, sign = u >> 32 & 0x80000000;

	shift = shift < 29 ? 29 : shift;
	shift = shift > 63 ? 63 : shift;
	r = m >> shift;
	r += (u64)(e > 1 ? e - 1 : 0) << 23;
	r = e >= 255 ? 0x7f800000 : r;
	return (u32)(r | sign);
}

/* To nearest even f16. */
static inline u32 mma_to_f16(f64 d)
{
	u64 u = bits_f64(d), m = (u & 0xfffffffffffff) | (u64)1 << 52, half, q;
	s32 e = (s32)(u >> 52 & 2047) - 1008;
	u32 shift = e > 0 ? 42 : e < -19 ? 63 : (u32)(43 - e), r;

	half = (u64)1 << (shift - 1);
	q = m >> shift;
	q = (m + half - 1 + (q & 1)) >> shift;
	r = (u32)q + (e > 0 ? (u32)(e - 1) << 10 : 0);
	r = e > 30 || r >= 0x7c00 ? 0x7c00 : r;
	return r | (u32)(u >> 48 & 0x8000);
}

/* A sum that is rounded to zero is +0, whatever its sign; measured. */
static inline u32 mma_plus_zero(u32 d, bool half)
{
	return d & (half ? 0x7fff : 0x7fffffff) ? d : 0;
}

#endif
