/*
 * mma of m8n8k4: four products at once, one for lanes 4 q .. 4 q + 3 and those 16 further. PTX ISA
 * "Warp-level matrix instructions: mma", "Matrix Fragments for mma.m8n8k4 with .f16".
 */
#include "src/mma/mma_product.h"
#include "src/mma/mma_tile.h"
#include "src/num/numeric_all.h"

struct quads {
	struct mma_form f;
	struct mma_rule rule;
};

/* Element i of lane t (0..7 of the product) of a factor: its row (of A, or column of B) and k. */
static inline void quad_place(bool by_k, u32 t, u32 i, u32 *row, u32 *k)
{
	u32 high = t & 4;

	*row = by_k ? i + high : (t & 3) + high;
	*k = by_k ? t & 3 : i;
}

static inline u32 quad_lane(u32 q, u32 t)
{
	return 4 * q + (t & 3) + (t & 4) * 4;
}

/* Of the accumulator: element i (0..7) of lane t. */
static inline void quad_sum_place(u32 type, u32 t, u32 i, u32 *row, u32 *column)
{
	*row = type == MMA_F16 ? t : (t & 1) + (i & 2) + (t & 4);
	*column = type == MMA_F16 ? i : (i & 4) + (t & 2) + (i & 1);
}

static f32 f16_value(u32 bits)
{
	u32 bad = 0;
	s32 e;

	return (f32)mma_decode(bits, 10, 5, &e, &bad);
}

/*
 * As the assembler makes it of ordinary instructions on parts without such tensor cores; measured
 * on the H200.
 */
static u32 quad_chain(const struct mma_form *f, const f32 *a, const f32 *b, u32 c)
{
	f32 acc = f->c == MMA_F16 ? f16_value(c) : mma_f32_of(c), s = 0;

	if (f->d == MMA_F16) {
		s = num_host_fma_f32(a[1], b[1], a[0] * b[0]);
		s = acc + s;
		s = s + num_host_fma_f32(a[3], b[3], a[2] * b[2]);
		return s != s ? 0x7fff : mma_to_f16((f64)s);
	}
	for (u32 k = 0; k < 4; k++)
		s = num_host_fma_f32(a[k], b[k], s);
	s += acc;
	return s != s ? 0x7fffffff : mma_bits_of_f32(s);
}

static void quad_multiply(const struct quads *x, struct mma_tile *t, const u32 (*c)[MMA_ROWS])
{
	if (x->rule.block) {
		mma_sum_tile(t, c, x->f.c, x->f.d, &x->rule);
		return;
	}
	for (u32 i = 0; i < 8; i++)
		for (u32 j = 0; j < 8; j++) {
			f32 a[4], b[4];

			for (u32 k = 0; k < 4; k++) {
				a[k] = (f32)t->a[k][i];
				b[k] = (f32)t->b[j][k];
			}
			t->d[j][i] = quad_chain(&x->f, a, b, c[j][i]);
		}
}

/* Factors of step `step`, four numbers of k each. */
static void quad_factors(const struct gang *g, const struct uop *in, u32 w, u32 q, u32 step,
			 const struct quads *x, struct mma_tile *t)
{
	u32 na = in->product.d + 2 * step, nb = in->product.d + in->product.a + 2 * step, bad = 0;

	for (u32 lane = 0; lane < 8; lane++) {
		u32 l = quad_lane(q, lane), row, k;

		for (u32 i = 0; i < 4; i++) {
			u32 shift = i % 2 * 16;
			u32 a = product_words(g, in, na + i / 2, w)[l] >> shift & 0xffff;
			u32 b = product_words(g, in, nb + i / 2, w)[l] >> shift & 0xffff;

			quad_place(x->f.flags & MMA_COL_A, lane, i, &row, &k);
			k += 4 * step;
			t->a[k][row] = mma_decode(a, 10, 5, &t->ae[k][row], &bad);
			quad_place(!(x->f.flags & MMA_COL_B), lane, i, &row, &k);
			k += 4 * step;
			t->b[row][k] = mma_decode(b, 10, 5, &t->be[row][k], &bad);
		}
	}
	t->special |= bad;
}

static void quad_sums(const struct gang *g, const struct uop *in, u32 w, u32 q,
		      const struct quads *x, u32 (*c)[MMA_ROWS])
{
	u32 nc = (u32)in->product.d + in->product.a + in->product.b;

	for (u32 lane = 0; lane < 8; lane++)
		for (u32 i = 0; i < 8; i++) {
			u32 v = product_words(g, in, nc + (x->f.c == MMA_F16 ? i / 2 : i),
					      w)[quad_lane(q, lane)];
			u32 row, column;

			quad_sum_place(x->f.c, lane, i, &row, &column);
			c[column][row] = x->f.c == MMA_F16 ? v >> i % 2 * 16 & 0xffff : v;
		}
}

static void quad_scatter(struct gang *g, const struct uop *in, u32 w, u32 q, const struct quads *x,
			 const u32 (*d)[MMA_ROWS])
{
	u32 per = x->f.d == MMA_F16 ? 2 : 1;

	for (u32 lane = 0; lane < 8; lane++)
		for (u32 r = 0; r < 8 / per; r++) {
			u32 row, column, to = g->env->program->ext[in->ext + r], v = 0;

			for (u32 e = 0; e < per; e++) {
				quad_sum_place(x->f.d, lane, r * per + e, &row, &column);
				v |= d[column][row] << 16 * e;
			}
			if (to != NO_ROW)
				ROW32(to)[w * WARP_LANES + quad_lane(q, lane)] = v;
		}
}

/* The tile has 16 rows, of which 8 are used. */
static void quad_clear(struct mma_tile *t)
{
	for (u32 k = 0; k < t->k; k++)
		for (u32 i = 8; i < MMA_ROWS; i++) {
			t->a[k][i] = 0;
			t->ae[k][i] = MMA_NO_EXPONENT;
		}
	memset(t->absent, 0, sizeof(t->absent));
	t->special = false;
}

/* wmma of Volta has the same products, one for each quarter of the result, of several steps. */
HANDLER(mma_quads)
{
	struct quads x;
	struct mma_tile t;
	u32 c[MMA_COLUMNS][MMA_ROWS], d[4][MMA_COLUMNS][MMA_ROWS];

	x.f = in->product.form;
	x.rule = in->product.rule;
	memset(c, 0, sizeof(c));
	t.k = 2u * x.f.words;
	for (u32 w = 0; w < WARPS; w++) {
		if (!matrix_is_whole(g, w))
			return matrix_part(g, in);
		for (u32 q = 0; q < 4; q++) {
			quad_clear(&t);
			for (u32 step = 0; step < t.k / 4; step++)
				quad_factors(g, in, w, q, step, &x, &t);
			quad_sums(g, in, w, q, &x, c);
			quad_multiply(&x, &t, (const u32(*)[MMA_ROWS])c);
			memcpy(d[q], t.d, sizeof(d[q]));
		}
		for (u32 q = 0; q < 4; q++)
			quad_scatter(g, in, w, q, &x, (const u32(*)[MMA_ROWS])d[q]);
	}
	return in + 1;
}
