/*
 * Sums of products as tensor cores make them, for a tile of 16 rows and 8 columns, in doubles: for
 * all numbers, and the measure of the vectors of block.c.
 *
 * Products are exact. Each term of a block, the accumulator among them, is aligned to the largest
 * exponent (a product's is the plain sum of its factors' exponents, terms of zero have none), cut
 * toward zero `fraction` bits below it, and all are added exactly; the sum is cut to f32 or rounded
 * to nearest f16. Each of these steps is exact in doubles. How many bits, and how many products
 * make a block, is the generation's: arch fields mma_*, established by "MMA-Sim" (arXiv 2511.10909)
 * and, for the H200, measured.
 */
#include "src/mma/mma.h"
#include "src/num/numeric_f64.h"

/* The element, where infinities and NaN decide it. */
static void nonfinite_sum(const struct mma_tile *t, u32 i, u32 j, u32 from, u32 n, bool half,
			  u32 *d)
{
	bool plus = false, minus = false, nan = false;
	f64 c = t->c[j][i];

	for (u32 k = from; k <= from + n; k++) {
		f64 p = k < from + n ? (t->nonfinite ? t->all_a[k][i] * t->all_b[j][k] : 0) : c;

		if (k < from + n && t->absent[i] >> k & 1)
			continue;
		nan |= p != p;
		plus |= bits_f64(p) == NUM_INF_F64;
		minus |= bits_f64(p) == (NUM_INF_F64 | NUM_SIGN_F64);
	}
	if (nan || (plus && minus))
		*d = half ? 0x7fff : 0x7fffffff;
	else if (plus || minus)
		*d = (half ? 0x7c00u : 0x7f800000u) | (minus ? (half ? 0x8000u : 0x80000000u) : 0);
}

/* Largest exponents, and the terms of one column. */
static inline void tile_column(struct mma_tile *t, u32 j, u32 from, u32 n, u32 fraction, f64 *sum,
			       f64 *unit)
{
	s32 top[MMA_TILE_ROWS], least = t->least;
	f64 scale[MMA_TILE_ROWS], total[MMA_TILE_ROWS];

	MMA_FOR(i, MMA_TILE_ROWS)
	top[i] = t->ce[j][i];
	for (u32 k = from; k < from + n; k++) {
		s32 b = t->be[j][k];

		MMA_FOR(i, MMA_TILE_ROWS)
		{
			s32 e = t->ae[k][i] + b;

			top[i] = e > top[i] ? e : top[i];
		}
	}
	MMA_FOR(i, MMA_TILE_ROWS)
	{
		s32 e = top[i] < least ? least : top[i];

		scale[i] = mma_power((s32)fraction - e);
		unit[i] = mma_power(e - (s32)fraction);
		total[i] = 0;
	}
	for (u32 k = from; k < from + n; k++) {
		f64 b = t->b[j][k];

		MMA_FOR(i, MMA_TILE_ROWS)
		total[i] += (f64)(s32)(t->a[k][i] * b * scale[i]);
	}
	MMA_FOR(i, MMA_TILE_ROWS)
	sum[i] = total[i] + (f64)(s32)(t->c[j][i] * scale[i]);
}

static bool is_nonfinite(f64 v)
{
	return (bits_f64(v) & NUM_INF_F64) == NUM_INF_F64;
}

/*
 * Factors that are infinite or NaN become zero, so that they do not touch other elements'
 * sums.
 */
static void split_nonfinite(struct mma_tile *t)
{
	memcpy(t->all_a, t->a, sizeof(t->a));
	memcpy(t->all_b, t->b, sizeof(t->b));
	for (u32 k = 0; k < t->k; k++) {
		for (u32 i = 0; i < MMA_TILE_ROWS; i++)
			if (is_nonfinite(t->a[k][i]))
				t->a[k][i] = 0;
		for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
			if (is_nonfinite(t->b[j][k]))
				t->b[j][k] = 0;
	}
}

/* All sums of column j that are rounded, to f16 or f32; cut: f32 with that many bits. */
static void round_column(struct mma_tile *t, u32 j, const f64 *sum, const f64 *unit, bool half,
			 u32 cut)
{
	u32 *d = t->d.at[j];

	if (half)
		MMA_FOR(i, MMA_TILE_ROWS) d[i] = mma_to_f16(sum[i] * unit[i]);
	else
		MMA_FOR(i, MMA_TILE_ROWS) d[i] = mma_to_f32(sum[i] * unit[i]);
	if (cut && !half)
		MMA_FOR(i, MMA_TILE_ROWS)
	d[i] &= (d[i] & 0x7fffffff) == 0x7f800000 ? ~0u : ~((1u << (23 - cut)) - 1);
	MMA_FOR(i, MMA_TILE_ROWS) d[i] = mma_plus_zero(d[i], half);
}

/* One block of products and the accumulator in c; the result in d, f16 or f32. */
static void tile_block(struct mma_tile *t, u32 from, u32 n, u32 fraction, bool half, u32 cut)
{
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++) {
		f64 sum[MMA_TILE_ROWS], unit[MMA_TILE_ROWS];
		bool nonfinite = t->nonfinite;

		tile_column(t, j, from, n, fraction, sum, unit);
		round_column(t, j, sum, unit, half, cut);
		for (u32 i = 0; i < MMA_TILE_ROWS; i++)
			nonfinite |= is_nonfinite(t->c[j][i]);
		if (PL_UNLIKELY(nonfinite))
			for (u32 i = 0; i < MMA_TILE_ROWS; i++)
				nonfinite_sum(t, i, j, from, n, half, &t->d.at[j][i]);
	}
}

/* Values and exponents of 16 sums, f16 or f32. */
static void decode_sums(const u32 *d, u32 type, f64 *v, s32 *e)
{
	u16 h[MMA_TILE_ROWS];

	if (type == MMA_F16) {
		MMA_FOR(i, MMA_TILE_ROWS)
		h[i] = (u16)d[i];
		EXEC_NAME(mma_decode_row)(MMA_F16, h, MMA_TILE_ROWS, false, v, e);
		return;
	}
	MMA_FOR(i, MMA_TILE_ROWS)
	{
		v[i] = (f64)f32_bits(d[i]);
		e[i] = mma_exponent_f32(d[i]);
	}
}

/* Accumulators of the next block. */
static void take_sums(struct mma_tile *t, const struct mma_sum_bits *d, u32 type)
{
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
		decode_sums(d->at[j], type, t->c[j], t->ce[j]);
}

/* An f16 accumulator of f32 sums is made f32 first: a subnormal one loses its exponent. */
static void take_widened_sums(struct mma_tile *t, const struct mma_sum_bits *c)
{
	take_sums(t, c, MMA_F16);
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
		for (u32 i = 0; i < MMA_TILE_ROWS; i++)
			t->d.at[j][i] = bits_f32((f32)t->c[j][i]);
	take_sums(t, &t->d, MMA_F32);
}

/* f32 to f16: to nearest, or `cut`: toward zero, so that what is finite stays so. */
static u32 narrow_sum(u32 u, bool cut)
{
	u32 field = u >> 23 & 255, m = (u & 0x7fffff) | 0x800000, h;

	if ((u & 0x7fffffff) > 0x7f800000)
		return 0x7fff;
	if (!cut || field == 255)
		return mma_to_f16((f64)f32_bits(u));
	if (field > 142)
		h = 0x7bff;
	else if (field > 112)
		h = ((field - 112) << 10) | (m >> 13 & 0x3ff);
	else
		h = field < 102 ? 0 : m >> (126 - field);
	return h | (u >> 16 & 0x8000);
}

/* The accumulator joins after the blocks, to nearest. */
static void add_sums_late(struct mma_tile *t, const struct mma_sum_bits *c, u32 ctype, bool half)
{
	f64 x[MMA_TILE_ROWS], y[MMA_TILE_ROWS], sum;
	s32 e[MMA_TILE_ROWS];

	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++) {
		decode_sums(c->at[j], ctype, x, e);
		decode_sums(t->d.at[j], half ? MMA_F16 : MMA_F32, y, e);
		for (u32 i = 0; i < MMA_TILE_ROWS; i++) {
			sum = half ? x[i] + y[i] : (f64)((f32)x[i] + (f32)y[i]);
			if (sum != sum)
				t->d.at[j][i] = half ? 0x7fff : 0x7fffffff;
			else if (half)
				t->d.at[j][i] =
					sum == 0 ? (u32)(bits_f64(sum) >> 48) : mma_to_f16(sum);
			else
				t->d.at[j][i] = bits_f32((f32)sum);
		}
	}
}

void EXEC_NAME(mma_sum_tile)(struct mma_tile *t, const struct mma_sum_bits *c, u32 ctype, u32 dtype,
			     const struct mma_rule *rule)
{
	static const struct mma_sum_bits none = {{{0}}};
	const bool late = rule->sum == MMA_HALVES;
	u32 block = late ? t->k / 2 : rule->block && rule->block < t->k ? rule->block : t->k;
	u32 mid = dtype == MMA_F16 && ctype == MMA_F32 ? MMA_F32 : dtype;
	bool half = mid == MMA_F16;

	t->least = mma_least(rule, half);
	if (t->nonfinite)
		split_nonfinite(t);
	if (late)
		take_sums(t, &none, MMA_F32);
	else if (ctype == MMA_F16 && !half)
		take_widened_sums(t, c);
	else
		take_sums(t, c, ctype);
	for (u32 k = 0; k < t->k; k += block) {
		if (k)
			take_sums(t, &t->d, mid);
		tile_block(t, k, block, rule->fraction, half,
			   rule->sum == MMA_CUT ? rule->fraction : 0);
	}
	if (late)
		add_sums_late(t, c, ctype, half);
	else if (mid != dtype)
		for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
			for (u32 i = 0; i < MMA_TILE_ROWS; i++)
				t->d.at[j][i] = narrow_sum(t->d.at[j][i], rule->narrow);
}
