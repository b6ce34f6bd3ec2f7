/*
 * mma of m8n8k4: four products at once, one for lanes 4 q .. 4 q + 3 and those 16 further. PTX ISA
 * "Warp-level matrix instructions: mma", "Matrix Fragments for mma.m8n8k4 with .f16". wmma of Volta
 * has the same products, one for each quarter of the result, of several steps.
 */
#include "src/mma/mma.h"
#include "src/mma/place.h"
#include "src/num/numeric_all.h"

#define STEP_K 4u /* numbers of k that a step has */

/*
 * As the assembler makes it of ordinary instructions on parts without such tensor cores; measured
 * on the H200.
 */
static u32 quad_chain(const struct mma_form *f, const f32 *a, const f32 *b, f32 acc)
{
	f32 s = 0;

	if (f->d == MMA_F16) {
		s = num_host_fma_f32(a[1], b[1], a[0] * b[0]);
		s = acc + s;
		s = s + num_host_fma_f32(a[3], b[3], a[2] * b[2]);
		return s != s ? 0x7fff : mma_to_f16((f64)s);
	}
	for (u32 k = 0; k < STEP_K; k++)
		s = num_host_fma_f32(a[k], b[k], s);
	s += acc;
	return s != s ? 0x7fffffff : bits_f32(s);
}

static void chain_tile(const struct mma_form *f, struct mma_tile *t, const struct mma_sum_bits *c)
{
	for (u32 i = 0; i < 8; i++)
		for (u32 j = 0; j < 8; j++) {
			u32 acc = c->at[j][i];
			f32 a[STEP_K], b[STEP_K];

			for (u32 k = 0; k < STEP_K; k++) {
				a[k] = (f32)t->a[k][i];
				b[k] = (f32)t->b[j][k];
			}
			if (f->c == MMA_F16)
				acc = num_f32_from_f16(acc, NUM_RN);
			t->d.at[j][i] = quad_chain(f, a, b, f32_bits(acc));
		}
}

/* The numbers of f16 of a product by row and k, of A and of the columns of B. */
struct quad_factors {
	u16 a[8][MMA_K], b[8][MMA_K];
};

/* Step `step`: four numbers of k. */
static void gather_step(const struct gang *g, const struct uop *in, u32 w, u32 q, u32 step,
			struct quad_factors *to)
{
	u32 na = in->product.d + 2 * step, nb = in->product.d + in->product.a + 2 * step;
	u8 flags = in->product.form.flags;

	for (u32 i = 0; i < 4; i++) {
		const u32 *a = mma_words_at(g, in, na + i / 2, w),
			  *b = mma_words_at(g, in, nb + i / 2, w);

		for (u32 lane = 0; lane < 8; lane++) {
			u32 l = quad_lane(q, lane), row, k;

			quad_place(flags & MMA_COL_A, lane, i, &row, &k);
			to->a[row][STEP_K * step + k] = (u16)(a[l] >> i % 2 * 16);
			quad_place(!(flags & MMA_COL_B), lane, i, &row, &k);
			to->b[row][STEP_K * step + k] = (u16)(b[l] >> i % 2 * 16);
		}
	}
}

/* The tile has 16 rows, of which 8 are used. */
static void fill_quad(const struct quad_factors *from, struct mma_tile *t)
{
	f64 v[MMA_K];
	s32 e[MMA_K];

	memset(t->absent, 0, sizeof(t->absent));
	t->nonfinite = false;
	for (u32 i = 0; i < 8; i++) {
		t->nonfinite |= EXEC_NAME(mma_decode_row)(MMA_F16, from->b[i], t->k, false, t->b[i],
							  t->be[i]);
		t->nonfinite |= EXEC_NAME(mma_decode_row)(MMA_F16, from->a[i], t->k, false, v, e);
		for (u32 k = 0; k < t->k; k++) {
			t->a[k][i] = v[k];
			t->ae[k][i] = e[k];
			t->a[k][i + 8] = 0;
			t->ae[k][i + 8] = MMA_NO_EXPONENT;
		}
	}
}

static void gather_sums(const struct gang *g, const struct uop *in, u32 w, u32 q,
			struct mma_sum_bits *c)
{
	u32 first = (u32)in->product.d + in->product.a + in->product.b;
	bool half = in->product.form.c == MMA_F16;

	for (u32 lane = 0; lane < 8; lane++)
		for (u32 i = 0; i < 8; i++) {
			u32 v = mma_words_at(g, in, first + (half ? i / 2 : i),
					     w)[quad_lane(q, lane)];
			u32 row, column;

			quad_sum_place(in->product.form.c, lane, i, &row, &column);
			c->at[column][row] = half ? v >> i % 2 * 16 & 0xffff : v;
		}
}

static void scatter_sums(struct gang *g, const struct uop *in, u32 w, u32 q,
			 const struct mma_sum_bits *d)
{
	u32 type = in->product.form.d, per = type == MMA_F16 ? 2 : 1;

	for (u32 lane = 0; lane < 8; lane++)
		for (u32 r = 0; r < 8 / per; r++) {
			u32 row, column, to = g->env->program->ext[in->ext + r], v = 0;

			for (u32 e = 0; e < per; e++) {
				quad_sum_place(type, lane, r * per + e, &row, &column);
				v |= d->at[column][row] << 16 * e;
			}
			if (to != NO_ROW)
				ROW32(to)[w * WARP_LANES + quad_lane(q, lane)] = v;
		}
}

static void multiply_quad(const struct gang *g, const struct uop *in, u32 w, u32 q,
			  struct mma_sum_bits *d)
{
	const struct mma_form *f = &in->product.form;
	struct mma_sum_bits c = {{{0}}};
	struct quad_factors factors;
	struct mma_tile t;

	t.k = 2u * f->words;
	for (u32 step = 0; step < t.k / STEP_K; step++)
		gather_step(g, in, w, q, step, &factors);
	fill_quad(&factors, &t);
	gather_sums(g, in, w, q, &c);
	if (in->product.rule.block)
		EXEC_NAME(mma_sum_tile)(&t, &c, f->c, f->d, &in->product.rule);
	else
		chain_tile(f, &t, &c);
	*d = t.d;
}

HANDLER(mma_quads)
{
	struct mma_sum_bits d[4];

	for (u32 w = 0; w < WARPS; w++) {
		if (!mma_warp_is_whole(g, w))
			return mma_warp_incomplete(g, in);
		for (u32 q = 0; q < 4; q++)
			multiply_quad(g, in, w, q, &d[q]);
		for (u32 q = 0; q < 4; q++)
			scatter_sums(g, in, w, q, &d[q]);
	}
	return in + 1;
}
