/*
 * Sums of products as tensor cores make them, for a tile of 16 rows and 8 columns.
 *
 * Products are exact. Each term of a block, the accumulator among them, is aligned to the largest
 * exponent (a product's is the plain sum of its factors' exponents, terms of zero have none), cut
 * toward zero `fraction` bits below it, and all are added exactly; the sum is cut to f32 or rounded
 * to nearest f16. All values here are doubles, in which each of these steps is exact. How many
 * bits, and how many products make a block, is the generation's: arch fields mma_*, established by
 * "MMA-Sim" (arXiv 2511.10909) and, for the H200, measured.
 */
#ifndef PL_EXEC_MMA_TILE_H
#define PL_EXEC_MMA_TILE_H

#include "src/uop/matrix.h"
#include "src/num/numeric_f64.h"

#define MMA_ROWS 16u
#define MMA_COLUMNS 8u
#define MMA_K 64u
#define MMA_NO_EXPONENT (-5000) /* of zero: below that of any term, twice too */
#define MMA_FOR(i, n) _Pragma("omp simd") for (u32 i = 0; i < (n); i++)

struct mma_tile {
	f64 a[MMA_K][MMA_ROWS] __attribute__((aligned(64)));
	f64 b[MMA_COLUMNS][MMA_K];
	f64 c[MMA_COLUMNS][MMA_ROWS] __attribute__((aligned(64)));
	s32 ae[MMA_K][MMA_ROWS] __attribute__((aligned(64)));
	s32 be[MMA_COLUMNS][MMA_K];
	s32 ce[MMA_COLUMNS][MMA_ROWS] __attribute__((aligned(64)));
	u32 d[MMA_COLUMNS][MMA_ROWS] __attribute__((aligned(64)));
	f64 odd_a[MMA_K][MMA_ROWS],
		odd_b[MMA_COLUMNS][MMA_K]; /* special: all factors, a and b having zeros for such */
	u64 absent[MMA_ROWS];              /* elements of A that a sparse matrix does not store */
	u32 k;
	s32 least;    /* exponent of sums */
	bool special; /* some factor is infinite or no number */
};

/* The exponent of a sum, also when all terms are smaller. */
static inline s32 mma_least(const struct mma_rule *rule, bool half)
{
	return (half ? -14 : -126) - rule->below;
}

static inline f64 mma_f64_of(u64 u)
{
	f64 d;

	memcpy(&d, &u, 8);
	return d;
}

static inline u64 mma_bits_of(f64 d)
{
	u64 u;

	memcpy(&u, &d, 8);
	return u;
}

static inline u32 mma_bits_of_f32(f32 f)
{
	u32 u;

	memcpy(&u, &f, 4);
	return u;
}

static inline f32 mma_f32_of(u32 u)
{
	f32 f;

	memcpy(&f, &u, 4);
	return f;
}

/*
 * One number of a format with `mantissa` bits, exponent field of all ones being infinite or no
 * number. Exact.
 */
static inline f64 mma_decode(u32 bits, u32 mantissa, u32 exponents, s32 *e, u32 *special)
{
	u32 top = (1u << exponents) - 1, field = bits >> mantissa & top,
	    low = bits & ((1u << mantissa) - 1);
	s32 bias = (s32)(top >> 1), exp = (s32)(field ? field : 1) - bias;
	f64 m = (f64)(s32)(low | (field ? 1u << mantissa : 0)),
	    v = m * mma_f64_of((u64)(1023 + exp - (s32)mantissa) << 52);
	u64 u = mma_bits_of(v);

	u = field == top ? NUM_INF_F64 | low : u;
	u |= (u64)(bits >> (mantissa + exponents) & 1) << 63;
	*special |= field == top;
	*e = field | low ? exp : MMA_NO_EXPONENT;
	return mma_f64_of(u);
}

/*
 * e4m3: no infinities, 0x7f is no number. `wide`: subnormals count with their own exponent, as f16
 * has them.
 */
static inline f64 mma_decode_e4m3(u32 bits, bool wide, s32 *e, u32 *special)
{
	u32 field = bits >> 3 & 15, low = bits & 7, nan = (bits & 127) == 127;
	s32 exp = field ? (s32)field - 7 : !wide ? -6 : low >= 4 ? -7 : low >= 2 ? -8 : -9;
	f64 v = (f64)(s32)(low | (field ? 8u : 0)) *
		mma_f64_of((u64)(1023 + (field ? (s32)field - 7 : -6) - 3) << 52);
	u64 u = nan ? NUM_NAN_F64 : mma_bits_of(v);

	*special |= nan;
	*e = bits & 127 ? exp : MMA_NO_EXPONENT;
	return mma_f64_of((u & ~NUM_SIGN_F64) | (u64)(bits >> 7 & 1) << 63);
}

/* Formats without infinities and NaN. */
static inline f64 mma_decode_finite(u32 bits, u32 mantissa, u32 exponents, s32 *e)
{
	u32 ignored = 0, top = (1u << exponents) - 1;
	u32 sign = bits >> (mantissa + exponents) & 1, field = bits >> mantissa & top;
	/* one exponent bit more, so that no field is all ones */
	s32 bias = (s32)(top >> 1), wide = (s32)top;
	u32 low = bits & ((1u << mantissa) - 1);
	f64 x = mma_decode(sign << (mantissa + exponents + 1) | field << mantissa | low, mantissa,
			   exponents + 1, e, &ignored);

	if (*e != MMA_NO_EXPONENT)
		*e += wide - bias;
	return x * mma_f64_of((u64)(1023 + wide - bias) << 52);
}

#define MMA_DECODE_LOOP(step, expr)                                                                \
	MMA_FOR(i, n)                                                                              \
	{                                                                                          \
		u32 bad = 0, bits = step;                                                          \
		s32 x;                                                                             \
		v[i] = expr;                                                                       \
		e[i] = x;                                                                          \
		special |= bad;                                                                    \
	}

/* n elements of a row of words; true when one is infinite or no number. */
static bool mma_decode_row(u32 type, const void *words, u32 n, bool wide, f64 *v, s32 *e)
{
	const u8 *w8 = words;
	const u16 *w16 = words;
	const u32 *w32 = words;
	u32 special = 0;

	switch (type) {
	case MMA_F16:
		MMA_DECODE_LOOP(w16[i], mma_decode(bits, 10, 5, &x, &bad))
		break;
	case MMA_BF16:
		MMA_DECODE_LOOP(w16[i], mma_decode(bits, 7, 8, &x, &bad))
		break;
	case MMA_TF32:
		MMA_DECODE_LOOP(w32[i] >> 13, mma_decode(bits, 10, 8, &x, &bad))
		break;
	case MMA_E5M2: /* the upper half of f16 */
		MMA_DECODE_LOOP(w8[i], mma_decode(bits, 2, 5, &x, &bad))
		break;
	case MMA_E4M3:
		MMA_DECODE_LOOP(w8[i], mma_decode_e4m3(bits, wide, &x, &bad))
		break;
	case MMA_E3M2:
		MMA_DECODE_LOOP(w8[i], mma_decode_finite(bits, 2, 3, &x))
		break;
	case MMA_E2M3:
		MMA_DECODE_LOOP(w8[i], mma_decode_finite(bits, 3, 2, &x))
		break;
	case MMA_E2M1:
		MMA_DECODE_LOOP(w8[i] >> 2, mma_decode_finite(bits, 1, 2, &x))
		break;
	default:
		MMA_DECODE_LOOP(w32[i], mma_decode(bits, 23, 8, &x, &bad))
		break;
	}
	return special;
}

/* Toward zero to f32; too large is infinite. */
static inline u32 mma_to_f32(f64 d)
{
	u64 u = mma_bits_of(d), m = (u & 0xfffffffffffff) | (u64)1 << 52;
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
	u64 u = mma_bits_of(d), m = (u & 0xfffffffffffff) | (u64)1 << 52, half, q;
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

/* What infinities and NaN make of an element; true when they decide it. */
static bool mma_special(const struct mma_tile *t, u32 i, u32 j, u32 from, u32 n, bool half, u32 *d)
{
	bool plus = false, minus = false, nan = false;
	f64 c = t->c[j][i];

	for (u32 k = from; k <= from + n; k++) {
		f64 p = k < from + n ? (t->special ? t->odd_a[k][i] * t->odd_b[j][k] : 0) : c;

		if (k < from + n && t->absent[i] >> k & 1)
			continue;
		nan |= p != p;
		plus |= mma_bits_of(p) == NUM_INF_F64;
		minus |= mma_bits_of(p) == (NUM_INF_F64 | NUM_SIGN_F64);
	}
	if (nan || (plus && minus))
		*d = half ? 0x7fff : 0x7fffffff;
	else if (plus || minus)
		*d = (half ? 0x7c00u : 0x7f800000u) | (minus ? (half ? 0x8000u : 0x80000000u) : 0);
	return nan || plus || minus;
}

/* Largest exponents, and the terms of one column. */
static inline void mma_column(struct mma_tile *t, u32 j, u32 from, u32 n, u32 fraction, f64 *sum,
			      f64 *unit)
{
	s32 top[MMA_ROWS], least = t->least;
	f64 scale[MMA_ROWS], total[MMA_ROWS];

	MMA_FOR(i, MMA_ROWS)
	top[i] = t->ce[j][i];
	for (u32 k = from; k < from + n; k++) {
		s32 b = t->be[j][k];

		MMA_FOR(i, MMA_ROWS)
		{
			s32 e = t->ae[k][i] + b;

			top[i] = e > top[i] ? e : top[i];
		}
	}
	MMA_FOR(i, MMA_ROWS)
	{
		s32 e = top[i] < least ? least : top[i];

		scale[i] = mma_f64_of((u64)(1023 + (s32)fraction - e) << 52);
		unit[i] = mma_f64_of((u64)(1023 - (s32)fraction + e) << 52);
		total[i] = 0;
	}
	for (u32 k = from; k < from + n; k++) {
		f64 b = t->b[j][k];

		MMA_FOR(i, MMA_ROWS)
		total[i] += (f64)(s32)(t->a[k][i] * b * scale[i]);
	}
	MMA_FOR(i, MMA_ROWS)
	sum[i] = total[i] + (f64)(s32)(t->c[j][i] * scale[i]);
}

static bool mma_is_odd(f64 v)
{
	return (mma_bits_of(v) & NUM_INF_F64) == NUM_INF_F64;
}

/*
 * Factors that are infinite or no number become zero, so that they do not touch other elements'
 * sums.
 */
static void mma_part_special(struct mma_tile *t)
{
	memcpy(t->odd_a, t->a, sizeof(t->a));
	memcpy(t->odd_b, t->b, sizeof(t->b));
	for (u32 k = 0; k < t->k; k++) {
		for (u32 i = 0; i < MMA_ROWS; i++)
			if (mma_is_odd(t->a[k][i]))
				t->a[k][i] = 0;
		for (u32 j = 0; j < MMA_COLUMNS; j++)
			if (mma_is_odd(t->b[j][k]))
				t->b[j][k] = 0;
	}
}

/*
 * One block of products and the accumulator in c; the result in d, f16 or f32. cut: f32 with that
 * many bits.
 */
static void mma_block(struct mma_tile *t, u32 from, u32 n, u32 fraction, bool half, u32 cut)
{
	bool special = t->special;

	for (u32 j = 0; j < MMA_COLUMNS; j++) {
		f64 sum[MMA_ROWS], unit[MMA_ROWS];
		u64 odd = 0;

		mma_column(t, j, from, n, fraction, sum, unit);
		if (half)
			MMA_FOR(i, MMA_ROWS) t->d[j][i] = mma_to_f16(sum[i] * unit[i]);
		else
			MMA_FOR(i, MMA_ROWS) t->d[j][i] = mma_to_f32(sum[i] * unit[i]);
		if (cut && !half)
			MMA_FOR(i, MMA_ROWS)
		t->d[j][i] &=
			(t->d[j][i] & 0x7fffffff) == 0x7f800000 ? ~0u : ~((1u << (23 - cut)) - 1);
		MMA_FOR(i, MMA_ROWS) t->d[j][i] = mma_plus_zero(t->d[j][i], half);
		MMA_FOR(i, MMA_ROWS)
		odd |= (mma_bits_of(t->c[j][i]) & NUM_INF_F64) == NUM_INF_F64;
		if (PL_UNLIKELY(special || odd))
			for (u32 i = 0; i < MMA_ROWS; i++)
				mma_special(t, i, j, from, n, half, &t->d[j][i]);
	}
}

/* The result as the next block's accumulator. */
static void mma_take(struct mma_tile *t, const u32 (*d)[MMA_ROWS], u32 type)
{
	for (u32 j = 0; j < MMA_COLUMNS; j++) {
		if (type == MMA_F16) {
			u16 h[MMA_ROWS];

			MMA_FOR(i, MMA_ROWS)
			h[i] = (u16)d[j][i];
			mma_decode_row(MMA_F16, h, MMA_ROWS, false, t->c[j], t->ce[j]);
		} else {
			MMA_FOR(i, MMA_ROWS)
			{
				s32 field = (s32)(d[j][i] >> 23 & 255),
				    e = (field > 1 ? field : 1) - 127;

				t->c[j][i] = (f64)mma_f32_of(d[j][i]);
				t->ce[j][i] = d[j][i] << 1 ? e : MMA_NO_EXPONENT;
			}
		}
	}
}

static void mma_clear(struct mma_tile *t)
{
	for (u32 j = 0; j < MMA_COLUMNS; j++)
		MMA_FOR(i, MMA_ROWS)
		{
			t->c[j][i] = 0;
			t->ce[j][i] = MMA_NO_EXPONENT;
		}
}

/* f32 to f16: to nearest, or `cut`: toward zero, so that what is finite stays so. */
static u32 mma_narrow(u32 u, bool cut)
{
	u32 field = u >> 23 & 255, m = (u & 0x7fffff) | 0x800000, h;

	if ((u & 0x7fffffff) > 0x7f800000)
		return 0x7fff;
	if (!cut || field == 255)
		return mma_to_f16((f64)mma_f32_of(u));
	if (field > 142)
		h = 0x7bff;
	else if (field > 112)
		h = ((field - 112) << 10) | (m >> 13 & 0x3ff);
	else
		h = field < 102 ? 0 : m >> (126 - field);
	return h | (u >> 16 & 0x8000);
}

/* An f16 accumulator of f32 sums is made f32 first: a subnormal one loses its exponent. */
static void mma_take_wide(struct mma_tile *t, const u32 (*c)[MMA_ROWS])
{
	for (u32 j = 0; j < MMA_COLUMNS; j++)
		for (u32 i = 0; i < MMA_ROWS; i++) {
			s32 e;
			u32 bad = 0;
			f64 x = mma_decode(c[j][i], 10, 5, &e, &bad);

			t->d[j][i] = mma_bits_of_f32((f32)x);
		}
	mma_take(t, t->d, MMA_F32);
}

/*
 * c: the accumulator's bits, of type `ctype`; the result, of type `dtype`, is left in t->d. Factors
 * are in place, in the order in which the rule takes them.
 */
static void mma_sum_tile(struct mma_tile *t, const u32 (*c)[MMA_ROWS], u32 ctype, u32 dtype,
			 const struct mma_rule *rule)
{
	u32 block = rule->sum == MMA_HALVES             ? t->k / 2
		    : rule->block && rule->block < t->k ? rule->block
							: t->k;
	u32 mid = dtype == MMA_F16 && ctype == MMA_F32 ? MMA_F32 : dtype;
	bool half = mid == MMA_F16;

	t->least = mma_least(rule, half);
	if (t->special)
		mma_part_special(t);
	if (rule->sum != MMA_HALVES) {
		if (ctype == MMA_F16 && mid == MMA_F32)
			mma_take_wide(t, c);
		else
			mma_take(t, c, ctype);
		for (u32 k = 0; k < t->k; k += block) {
			if (k)
				mma_take(t, t->d, mid);
			mma_block(t, k, block, rule->fraction, half,
				  rule->sum == MMA_CUT ? rule->fraction : 0);
		}
		if (mid != dtype)
			for (u32 j = 0; j < MMA_COLUMNS; j++)
				for (u32 i = 0; i < MMA_ROWS; i++)
					t->d[j][i] = mma_narrow(t->d[j][i], rule->narrow);
		return;
	}
	mma_clear(t);
	for (u32 k = 0; k < t->k; k += block) {
		if (k)
			mma_take(t, t->d, mid);
		mma_block(t, k, block, rule->fraction, half, 0);
	}
	for (u32 j = 0; j < MMA_COLUMNS; j++)
		for (u32 i = 0; i < MMA_ROWS; i++) {
			s32 e;
			u32 bad = 0;
			f64 x = ctype == MMA_F16 ? mma_decode(c[j][i], 10, 5, &e, &bad)
						 : (f64)mma_f32_of(c[j][i]),
			    y;

			if (half) {
				y = x + mma_decode(t->d[j][i], 10, 5, &e, &bad);
				t->d[j][i] = y != y ? 0x7fff
					     : mma_bits_of(y) << 1 == 0
						     ? (u32)(mma_bits_of(y) >> 48)
						     : mma_to_f16(y);
			} else {
				f32 s = (f32)x + mma_f32_of(t->d[j][i]);

				t->d[j][i] = s != s ? 0x7fffffff : mma_bits_of_f32(s);
			}
		}
}

#endif
