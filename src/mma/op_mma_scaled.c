/*
 * mma and mma.sp with .block_scale: every row of A and column of B has one, two or four factors
 * more, each for an equal part of k. PTX ISA "Block Scaling for mma.sync"; how such sums are
 * rounded is that of "MMA-Sim" (arXiv 2511.10909): of numbers in bytes as other fp8 sums, the
 * scales' exponents added to the products'; of fp4 pairs, sums of sixteen products are exact, and
 * these and the accumulator are the terms, each with the exponents of its scales.
 */
#include "src/mma/mma_product.h"
#include "src/mma/mma_tile.h"

#define SCALES 4u
#define GROUPS 4u
#define GROUP_WORDS 2u /* of a dense row of A: sixteen numbers of four bits */

/* What the record has: size, count, space as op_mma.c; ext behind the metadata: see take_scales. */
struct scaled {
	struct mma_form f;
	struct mma_rule rule; /* block: scales of a row */
	u32 stored;           /* numbers in a row of A */
	u32 a[MMA_ROWS][8], b[MMA_COLUMNS][16], c[MMA_COLUMNS][MMA_ROWS];
	u32 place[MMA_ROWS][64];                          /* of A's stored numbers in k; sparse */
	u8 sa[MMA_ROWS][SCALES], sb[MMA_COLUMNS][SCALES]; /* bits of the scales */
};

/* A scale's value and exponent. NaN for no number. */
static f64 scale_value(const struct scaled *x, u8 bits, s32 *e)
{
	u32 bad = 0;
	f64 v;

	if (x->f.flags & MMA_SCALE_E4M3) {
		v = mma_decode_e4m3(bits & 0x7f, false, e, &bad);
		return bad ? mma_f64_of(NUM_NAN_F64) : v;
	}
	*e = bits - 127;
	return bits == 0xff ? mma_f64_of(NUM_NAN_F64) : mma_f64_of((u64)(1023 + *e) << 52);
}

/* ---- operands ---- */

static void take_words(const struct gang *g, const struct uop *in, u32 w, struct scaled *x)
{
	u32 first_b = in->product.d + in->product.a, first_c = first_b + in->product.b;

	for (u32 r = 0; r < in->product.a; r++)
		for (u32 l = 0; l < WARP_LANES; l++)
			x->a[l / 4 + 8 * (r % 2)][4 * (r / 2) + l % 4] =
				product_words(g, in, in->product.d + r, w)[l];
	for (u32 r = 0; r < in->product.b; r++)
		for (u32 l = 0; l < WARP_LANES; l++)
			x->b[l / 4][4 * r + l % 4] = product_words(g, in, first_b + r, w)[l];
	for (u32 r = 0; r < in->product.d; r++)
		for (u32 l = 0; l < WARP_LANES; l++)
			x->c[2 * (l % 4) + r % 2][l / 4 + 8 * (r / 2)] =
				product_words(g, in, first_c + r, w)[l];
}

/*
 * ext: metadata if sparse, then of A and of B the scales, the first byte, and the lanes that have
 * them.
 */
static void take_scales(const struct gang *g, const struct uop *in, u32 w, struct scaled *x)
{
	u32 at = 2u * in->product.d + in->product.a + in->product.b +
		 (x->f.flags & MMA_SPARSE ? 1 : 0);
	const u32 *row[6];
	u32 n = x->rule.block;

	for (u32 i = 0; i < ARRAY_LEN(row); i++)
		row[i] = product_words(g, in, at + i, w);
	for (u32 i = 0; i < n; i++) {
		u32 shift_a = 8 * ((*row[1] + i) & 3), shift_b = 8 * ((*row[4] + i) & 3);

		for (u32 j = 0; j < MMA_ROWS; j++)
			x->sa[j][i] =
				(u8)(row[0][j % 8 * 4 + (*row[2] & 1) * 2 + j / 8] >> shift_a);
		for (u32 j = 0; j < MMA_COLUMNS; j++)
			x->sb[j][i] = (u8)(row[3][j * 4 + (*row[5] & 3)] >> shift_b);
	}
}

static void take_places(const struct gang *g, const struct uop *in, u32 w, struct scaled *x)
{
	struct product p = {.f = x->f};

	if (!(x->f.flags & MMA_SPARSE))
		return;
	p.meta = product_words(g, in, 2u * in->product.d + in->product.a + in->product.b, w);
	for (u32 i = 0; i < MMA_ROWS; i++)
		for (u32 s = 0; s < x->stored; s++)
			x->place[i][s] = product_sparse_place(&p, i, s, x->stored);
}

/* ---- numbers in bytes ---- */

static void fill_left(const struct scaled *x, struct mma_tile *t)
{
	bool sparse = x->f.flags & MMA_SPARSE;

	for (u32 i = 0; i < MMA_ROWS; i++) {
		f64 v[MMA_K], scale;
		s32 e[MMA_K], es;

		scale = scale_value(x, x->sa[i][0], &es);
		t->special |= scale != scale;
		t->special |= mma_decode_row(x->f.a, x->a[i], x->stored, false, v, e);
		t->absent[i] = sparse ? ~(u64)0 : 0;
		for (u32 k = 0; k < t->k; k++) {
			t->a[k][i] = 0;
			t->ae[k][i] = MMA_NO_EXPONENT;
		}
		for (u32 s = 0; s < x->stored; s++) {
			u32 k = sparse ? x->place[i][s] : s;

			t->a[k][i] = v[s] * scale;
			t->ae[k][i] = e[s] + es;
			t->absent[i] &= ~((u64)1 << k);
		}
	}
}

static void fill_right(const struct scaled *x, struct mma_tile *t)
{
	for (u32 j = 0; j < MMA_COLUMNS; j++) {
		f64 scale;
		s32 es;

		scale = scale_value(x, x->sb[j][0], &es);
		t->special |= scale != scale;
		t->special |= mma_decode_row(x->f.b, x->b[j], t->k, false, t->b[j], t->be[j]);
		for (u32 k = 0; k < t->k; k++) {
			t->b[j][k] *= scale;
			t->be[j][k] += es;
		}
	}
}

static void multiply_bytes(const struct scaled *x, struct mma_tile *t)
{
	const struct mma_rule rule = {
		.sum = MMA_FUSED, .fraction = x->rule.fraction, .below = x->rule.below};

	t->special = false;
	fill_left(x, t);
	fill_right(x, t);
	mma_sum_tile(t, x->c, MMA_F32, MMA_F32, &rule);
}

/* ---- numbers of four bits ---- */

/* Twice the value of a number. */
static s32 nibble_value(const u32 *words, u32 i)
{
	static const s8 values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

	return values[words[i / 8] >> i % 8 * 4 & 15];
}

/* Exact sums of the products of sixteen stored numbers, times four. */
static void sum_groups(const struct scaled *x, s32 (*sum)[MMA_COLUMNS][MMA_ROWS])
{
	memset(sum, 0, GROUPS * sizeof(*sum));
	for (u32 s = 0; s < x->stored; s++)
		for (u32 i = 0; i < MMA_ROWS; i++) {
			s32 a = nibble_value(x->a[i], s);
			u32 k = x->f.flags & MMA_SPARSE ? x->place[i][s] : s;

			for (u32 j = 0; j < MMA_COLUMNS; j++)
				sum[s / 16][j][i] += a * nibble_value(x->b[j], k);
		}
}

/* An element of a number of terms, which keep `fraction` bits below the largest exponent. */
static u32 add_terms(const struct scaled *x, const s32 (*sum)[MMA_COLUMNS][MMA_ROWS], u32 i, u32 j,
		     u32 c)
{
	f64 term[GROUPS + 1], total = 0;
	s32 e[GROUPS + 1], top, field = (s32)(c >> 23 & 255), least = mma_least(&x->rule, false);

	if (field == 255 && c << 9)
		return 0x7fffffff;
	term[GROUPS] = (f64)mma_f32_of(c);
	e[GROUPS] = c << 1 ? (field > 1 ? field : 1) - 127 : MMA_NO_EXPONENT;
	for (u32 g = 0; g < GROUPS; g++) {
		u32 part = g * x->rule.block / GROUPS;
		s32 ea, eb;
		f64 scale =
			scale_value(x, x->sa[i][part], &ea) * scale_value(x, x->sb[j][part], &eb);

		if (scale != scale)
			return 0x7fffffff;
		term[g] = (f64)sum[g][j][i] * 0.25 * scale;
		e[g] = ea + eb;
	}
	if (field == 255)
		return c;
	top = e[0];
	for (u32 n = 1; n <= GROUPS; n++)
		top = e[n] > top ? e[n] : top;
	top = top < least ? least : top;
	for (u32 n = 0; n <= GROUPS; n++)
		total += (f64)(s64)(term[n] *
				    mma_f64_of((u64)(1023 + x->rule.fraction - top) << 52));
	return mma_plus_zero(
		mma_to_f32(total * mma_f64_of((u64)(1023 - x->rule.fraction + top) << 52)), false);
}

static void multiply_nibbles(const struct scaled *x, struct mma_tile *t)
{
	s32 sum[GROUPS][MMA_COLUMNS][MMA_ROWS];

	sum_groups(x, sum);
	for (u32 j = 0; j < MMA_COLUMNS; j++)
		for (u32 i = 0; i < MMA_ROWS; i++)
			t->d[j][i] = add_terms(x, (const s32(*)[MMA_COLUMNS][MMA_ROWS])sum, i, j,
					       x->c[j][i]);
}

static void give_words(struct gang *g, const struct uop *in, u32 w, const struct mma_tile *t)
{
	for (u32 r = 0; r < in->product.d; r++) {
		u32 row = g->env->program->ext[in->ext + r];

		for (u32 l = 0; row != NO_ROW && l < WARP_LANES; l++)
			ROW32(row)
		[w * WARP_LANES + l] = t->d[2 * (l % 4) + r % 2][l / 4 + 8 * (r / 2)];
	}
}

static bool mma_scaled_warp(struct gang *g, const struct uop *in, u32 w)
{
	struct scaled x;
	struct mma_tile t;

	x.f = in->product.form;
	x.rule = in->product.rule;
	x.stored = x.f.words * (x.f.a == MMA_E2M1_PAIR ? 8u : 4u);
	t.k = x.stored << (x.f.flags & MMA_SPARSE ? 1 : 0);
	take_words(g, in, w, &x);
	take_scales(g, in, w, &x);
	take_places(g, in, w, &x);
	if (x.f.a == MMA_E2M1_PAIR)
		multiply_nibbles(&x, &t);
	else
		multiply_bytes(&x, &t);
	give_words(g, in, w, &t);
	return true;
}

HANDLER(mma_scaled)
{
	return matrix_each_warp(g, in, mma_scaled_warp);
}
