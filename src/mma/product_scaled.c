/*
 * mma and mma.sp with .block_scale: every row of A and column of B has one, two or four factors
 * more, each for an equal part of k. PTX ISA "Block Scaling for mma.sync"; how such sums are
 * rounded is that of "MMA-Sim" (arXiv 2511.10909): of numbers in bytes as other fp8 sums, the
 * scales' exponents added to the products'; of fp4 pairs, sums of sixteen products are exact, and
 * these and the accumulator are the terms, each with the exponents of its scales.
 */
#include "src/mma/mma.h"
#include "src/num/numeric_f64.h"

#define SCALES 4u
#define SUMS 4u /* of sixteen stored numbers of four bits */

/* Values and exponents of the scales of a tile; NaN for NaN. rule.block has their number. */
struct scales {
	f64 a[MMA_TILE_ROWS][SCALES], b[MMA_TILE_COLUMNS][SCALES];
	s32 ae[MMA_TILE_ROWS][SCALES], be[MMA_TILE_COLUMNS][SCALES];
};

static f64 scale_value(const struct mma_product *x, u8 bits, s32 *e)
{
	f64 v;

	if (x->form.flags & MMA_SCALE_E4M3) {
		bits &= 0x7f;
		return EXEC_NAME(mma_decode_row)(MMA_E4M3, &bits, 1, false, &v, e)
			       ? f64_bits(NUM_NAN_F64)
			       : v;
	}
	*e = bits - 127;
	return bits == 0xff ? f64_bits(NUM_NAN_F64) : mma_power(*e);
}

static void take_scales(const struct mma_product *x, struct scales *s)
{
	const u32 *const *at = x->scale;

	for (u32 i = 0; i < x->rule.block; i++) {
		u32 shift_a = 8 * ((*at[1] + i) & 3), shift_b = 8 * ((*at[4] + i) & 3);

		for (u32 j = 0; j < MMA_TILE_ROWS; j++) {
			u32 lane = j % 8 * 4 + (*at[2] & 1) * 2 + j / 8;

			s->a[j][i] = scale_value(x, (u8)(at[0][lane] >> shift_a), &s->ae[j][i]);
		}
		for (u32 j = 0; j < MMA_TILE_COLUMNS; j++) {
			u32 lane = j * 4 + (*at[5] & 3);

			s->b[j][i] = scale_value(x, (u8)(at[3][lane] >> shift_b), &s->be[j][i]);
		}
	}
}

/* ---- numbers in bytes: one scale for all of k ---- */

static void scale_tile(const struct scales *s, struct mma_tile *t)
{
	for (u32 i = 0; i < MMA_TILE_ROWS; i++)
		t->nonfinite |= s->a[i][0] != s->a[i][0];
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
		t->nonfinite |= s->b[j][0] != s->b[j][0];
	for (u32 k = 0; k < t->k; k++) {
		for (u32 i = 0; i < MMA_TILE_ROWS; i++) {
			t->a[k][i] *= s->a[i][0];
			t->ae[k][i] += s->ae[i][0];
		}
		for (u32 j = 0; j < MMA_TILE_COLUMNS; j++) {
			t->b[j][k] *= s->b[j][0];
			t->be[j][k] += s->be[j][0];
		}
	}
}

static void multiply_bytes(const struct mma_product *x, const struct scales *s,
			   const struct mma_rows *m, struct mma_tile *t)
{
	const struct mma_rule rule = {
		.sum = MMA_FUSED, .fraction = x->rule.fraction, .below = x->rule.below};

	EXEC_NAME(mma_fill_tile)(x, &rule, m, t);
	scale_tile(s, t);
	EXEC_NAME(mma_sum_tile)(t, &m->c, MMA_F32, MMA_F32, &rule);
}

/* ---- numbers of four bits ---- */

/* Twice the value of a number. */
static s32 nibble_value(const u32 *words, u32 i)
{
	static const s8 values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

	return values[words[i / 8] >> i % 8 * 4 & 15];
}

/* Exact sums of the products of sixteen stored numbers, times four. */
struct nibble_sums {
	s32 at[SUMS][MMA_TILE_COLUMNS][MMA_TILE_ROWS];
};

static void sum_nibbles(const struct mma_product *x, const struct mma_rows *m,
			struct nibble_sums *sum)
{
	u32 stored = x->form.words * 8u;

	memset(sum, 0, sizeof(*sum));
	for (u32 s = 0; s < stored; s++)
		for (u32 i = 0; i < MMA_TILE_ROWS; i++) {
			s32 a = nibble_value(m->a[i], s);
			u32 k = x->form.flags & MMA_SPARSE
					? EXEC_NAME(mma_sparse_place)(x, i, s, stored)
					: s;

			for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
				sum->at[s / 16][j][i] += a * nibble_value(m->b[j], k);
		}
}

/* The terms of an element, which keep `fraction` bits below the largest exponent. */
static f64 add_terms(const struct mma_rule *rule, const f64 *term, const s32 *e)
{
	s32 top = mma_least(rule, false);
	f64 total = 0;

	for (u32 n = 0; n <= SUMS; n++)
		top = e[n] > top ? e[n] : top;
	for (u32 n = 0; n <= SUMS; n++)
		total += (f64)(s64)(term[n] * mma_power(rule->fraction - top));
	return total * mma_power(top - rule->fraction);
}

static u32 add_nibble_sums(const struct mma_product *x, const struct scales *s,
			   const struct nibble_sums *sum, u32 i, u32 j, u32 c)
{
	f64 term[SUMS + 1];
	s32 e[SUMS + 1];

	term[SUMS] = (f64)f32_bits(c);
	e[SUMS] = mma_exponent_f32(c);
	if (term[SUMS] != term[SUMS])
		return 0x7fffffff;
	for (u32 g = 0; g < SUMS; g++) {
		u32 part = g * x->rule.block / SUMS;
		f64 scale = s->a[i][part] * s->b[j][part];

		if (scale != scale)
			return 0x7fffffff;
		term[g] = (f64)sum->at[g][j][i] * 0.25 * scale;
		e[g] = s->ae[i][part] + s->be[j][part];
	}
	if ((c & 0x7fffffff) == 0x7f800000)
		return c;
	return mma_plus_zero(mma_to_f32(add_terms(&x->rule, term, e)), false);
}

static void multiply_nibbles(const struct mma_product *x, const struct scales *s,
			     const struct mma_rows *m, struct mma_tile *t)
{
	struct nibble_sums sum;

	sum_nibbles(x, m, &sum);
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
		for (u32 i = 0; i < MMA_TILE_ROWS; i++)
			t->d.at[j][i] = add_nibble_sums(x, s, &sum, i, j, m->c.at[j][i]);
}

void EXEC_NAME(mma_multiply_scaled)(struct mma_product *x)
{
	struct mma_rows m;
	struct mma_tile t;
	struct scales s;

	EXEC_NAME(mma_gather)(x, 0, 0, &m);
	take_scales(x, &s);
	if (x->form.a == MMA_E2M1_PAIR)
		multiply_nibbles(x, &s, &m, &t);
	else
		multiply_bytes(x, &s, &m, &t);
	EXEC_NAME(mma_scatter)(x, 0, 0, &t);
}
