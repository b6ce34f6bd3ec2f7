/*
 * wgmma: four warps, 16 rows each, B and perhaps A in shared memory. PTX ISA "Asynchronous
 * warpgroup-level matrix instructions: wgmma.mma_async". The product runs when it is issued.
 */
#include "src/mma/mma_product.h"

/*
 * A matrix descriptor. PTX ISA "Asynchronous warpgroup-level matrix instructions: Matrix Descriptor
 * Format".
 */
struct window {
	u32 start, lbo, sbo;
	u32 span;   /* bytes of a swizzled row: 128, 64, 32; 16: no swizzle */
	bool along; /* the other dimension than k is contiguous */
};

static struct window window_of(u64 descriptor, bool along)
{
	static const u8 spans[4] = {16, 128, 64, 32};

	return (struct window){
		.start = (u32)(descriptor & 0x3fff) << 4,
		.lbo = (u32)(descriptor >> 16 & 0x3fff) << 4,
		.sbo = (u32)(descriptor >> 32 & 0x3fff) << 4,
		.span = spans[descriptor >> 62],
		.along = along,
	};
}

/* Offset in shared memory of byte `at` of row r; along: `at` counts the bytes of r, k is r. */
static inline u32 window_offset(const struct window *m, u32 r, u32 at)
{
	u32 off;

	if (m->span == 16)
		off = r / 8 * (m->along ? m->lbo : m->sbo) + r % 8 * 16 +
		      at / 16 * (m->along ? m->sbo : m->lbo) + at % 16;
	else
		off = r / 8 * m->sbo + r % 8 * m->span + at / m->span * m->lbo + at % m->span;
	off += m->start;
	return off ^ ((off >> 7 & (m->span / 16 - 1)) << 4);
}

/*
 * `count` groups of 8 rows, from row `first` on, as fragments of four words: of 16 bytes, or along
 * the other dimension in pieces of a number. False: outside of shared memory.
 */
static bool read_window(const struct gang *g, const struct window *m, u32 quads, u32 first,
			u32 count, u32 (*to)[PRODUCT_QUADS][WARP_LANES])
{
	u32 limit = g->env->shared_bytes, size = m->along ? 2 : 16;

	for (u32 r = 0; r < 8 * count; r++)
		for (u32 k = 0; k < 16 * quads; k += size) {
			u32 off = m->along ? window_offset(m, k / 2, (first + r) * 2)
					   : window_offset(m, first + r, k);

			if (off + size > limit)
				return false;
			memcpy((u8 *)&to[r / 8][k / 16][r % 8 * 4] + k % 16, g->shared + off, size);
		}
	return true;
}

/* Factors in shared memory, where they become fragments. */
struct staged {
	u32 a[2][PRODUCT_QUADS][WARP_LANES] __attribute__((aligned(64)));
	u32 b[PRODUCT_COLUMNS][PRODUCT_QUADS][WARP_LANES] __attribute__((aligned(64)));
};

static const u32 zeros[WARP_LANES] __attribute__((aligned(64)));

/* False: outside of shared memory. */
static bool find_factors(const struct gang *g, const struct uop *in, u32 w, struct product *x,
			 struct staged *s)
{
	u32 turn = (g->first_warp + g->warp + w) % 4 * 16, quads = x->f.flags & MMA_SPARSE ? 4 : 2;
	struct window b = window_of(ROW64(in->b)[w * WARP_LANES], x->f.flags & MMA_COL_B);

	if (!read_window(g, &b, quads, 0, x->columns, s->b))
		return false;
	for (u32 j = 0; j < x->columns; j++)
		for (u32 q = 0; q < quads; q++)
			x->b[j][q] = s->b[j][q];
	if (in->a != NO_ROW) {
		struct window a = window_of(ROW64(in->a)[w * WARP_LANES], x->f.flags & MMA_COL_A);

		if (!read_window(g, &a, 2, turn, 2, s->a))
			return false;
	}
	for (u32 r = 0; r < 4; r++)
		x->a[r % 2][r / 2] = in->a == NO_ROW
					     ? product_words(g, in, 2u * in->product.d + r, w)
					     : s->a[r % 2][r / 2];
	return true;
}

/*
 * size: registers of D, which ext lists twice; those of A behind unless it has a descriptor (row
 * a). count: columns / 8.
 */
HANDLER(wgmma)
{
	struct product x;
	struct staged s;

	x.f = in->product.form;
	x.rule = in->product.rule;
	x.laid = false;
	x.rows = x.f.rows;
	x.columns = in->product.columns;
	for (u32 w = 0; w < WARPS; w++) {
		if (!matrix_is_whole(g, w))
			return matrix_part(g, in);
		if (!find_factors(g, in, w, &x, &s))
			return exec_fault(g, in, FAULT_ILLEGAL_ADDRESS, FULL_MASK);
		for (u32 r = 0; r < in->product.d; r++)
			x.c[r] = ROWP(in->c)[w] & 1 ? product_words(g, in, in->product.d + r, w)
						    : zeros;
		x.meta = x.f.flags & MMA_SPARSE
				 ? product_words(g, in,
						 2u * in->product.d + (in->a == NO_ROW ? 4 : 0), w)
				 : NULL;
		product_multiply(&x);
		product_scatter(g, in, w, &x);
	}
	return in + 1;
}
