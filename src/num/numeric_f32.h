/*
 * f32 arithmetic with all four roundings, .ftz and .sat. PTX ISA "Floating Point Instructions":
 * add, sub, mul, fma, mad, div, rcp, sqrt, min, max, abs, neg, copysign, testp.
 *
 * To nearest uses the host's own operation. Directed roundings go through f64: the exact or
 * odd-rounded f64 value is rounded to nearest f32 and then moved by one unit where it lies on the
 * wrong side. "Odd" rounding (truncate, then set the last bit if anything was lost) keeps a later
 * rounding to fewer bits exact, and keeps comparisons with short constants exact.
 */
#ifndef PL_NUM_NUMERIC_F32_H
#define PL_NUM_NUMERIC_F32_H

#include "src/num/numeric.h"

NUM_FN bool num_is_nan_f32(u32 u)
{
	return (u & 0x7fffffffu) > NUM_INF_F32;
}

NUM_FN u32 num_canon_f32(u32 u)
{
	return num_is_nan_f32(u) ? NUM_NAN_F32 : u;
}

/* Subnormal operands become zero of the same sign under .ftz. */
NUM_FN u32 num_flush_f32(u32 u, u32 mode)
{
	if (!(mode & NUM_FTZ))
		return u;
	return num_select((u & 0x7fffffffu) < 0x00800000u, u & 0x80000000u, u);
}

/* .sat: clamp to [0, 1]; NaN and -0 become +0. */
NUM_FN u32 num_sat_f32(u32 u, u32 mode)
{
	f32 x = f32_bits(u);

	if (!(mode & NUM_SAT))
		return u;
	return x > 0.0f ? (x < 1.0f ? u : 0x3f800000u) : 0;
}

/* p + c rounded to odd. NaN and infinities pass as the host's sum gives them. */
NUM_FN f64 num_sum_odd_f64(f64 p, f64 c)
{
	f64 s = p + c;
	f64 t = s - p;
	f64 e = (p - (s - t)) + (c - t);
	u64 u = bits_f64(s);
	/* 1 where something was lost and the last bit is even. */
	u64 step = __builtin_fabs(e) > 0.0 ? ~u & 1 : 0;

	return f64_bits((e > 0.0) == (s > 0.0) ? u + step : u - step);
}

/* An exact or odd f64 value to f32 in the given rounding; no NaN, flush or saturation handling. */
NUM_FN u32 num_narrow_f32(f64 s, u32 mode)
{
	f32 r = (f32)s;
	u32 u = bits_f32(r);
	f64 want = __builtin_fabs(s), have = (f64)__builtin_fabsf(r);
	u32 up = have<want, down = have> want;

	if ((mode & NUM_RND) == NUM_RN)
		return u;
	return num_rounds_away(mode, bits_f64(s) >> 63) ? u + up : u - down;
}

/*
 * Whether the exact magnitude m, rounded to 24 bits as if the exponent had no lower limit, stays
 * below the smallest normal number: the test by which .ftz results become zero.
 */
NUM_FN bool num_is_tiny_f32(f64 m, bool negative, u32 mode)
{
	if ((mode & NUM_RND) == NUM_RN)
		return m < 0x1p-126 - 0x1p-151;
	return num_rounds_away(mode, negative) ? m <= 0x1p-126 - 0x1p-150 : m < 0x1p-126;
}

/* Round, flush, canonicalise and saturate an exact or odd f64 value. */
NUM_FN u32 num_finish_f32(f64 s, u32 mode)
{
	u32 u = num_narrow_f32(s, mode);
	bool neg = bits_f64(s) >> 63;

	if (mode & NUM_FTZ)
		u = num_is_tiny_f32(__builtin_fabs(s), neg, mode) ? u & 0x80000000u : u;
	return num_sat_f32(num_canon_f32(u), mode);
}

/* A sum that cancels exactly is +0, toward minus infinity -0, unless both terms are +0. */
NUM_FN u32 num_finish_sum_f32(f64 s, bool either_negative, u32 mode)
{
	u32 u = num_finish_f32(s, mode);

	if ((mode & NUM_RND) == NUM_RM && !(mode & NUM_SAT))
		u = s == 0.0 ? (u32)either_negative << 31 : u;
	return u;
}

/* Results of host operations to nearest: flush what is below the normal range by `probe`. */
NUM_FN u32 num_finish_near_f32(f32 r, bool tiny, u32 mode)
{
	/* What compares unequal to itself is NaN: cheaper in lanes than the test of the bits. */
	u32 u = r == r ? bits_f32(r) : NUM_NAN_F32;

	if (mode & NUM_FTZ)
		u = tiny ? u & 0x80000000u : u;
	return num_sat_f32(u, mode);
}

NUM_FN u32 num_add_f32(u32 a, u32 b, u32 mode)
{
	f32 x, y;

	a = num_flush_f32(a, mode);
	b = num_flush_f32(b, mode);
	x = f32_bits(a);
	y = f32_bits(b);
	if ((mode & NUM_RND) == NUM_RN) {
		f32 r = x + y;

		return num_finish_near_f32(r, __builtin_fabsf(r) < 0x1p-126f, mode);
	}
	return num_finish_sum_f32(num_sum_odd_f64((f64)x, (f64)y), (a | b) >> 31, mode);
}

NUM_FN u32 num_sub_f32(u32 a, u32 b, u32 mode)
{
	return num_add_f32(a, b ^ 0x80000000u, mode);
}

NUM_FN u32 num_mul_f32(u32 a, u32 b, u32 mode)
{
	f32 x, y;

	x = f32_bits(num_flush_f32(a, mode));
	y = f32_bits(num_flush_f32(b, mode));
	if ((mode & NUM_RND) == NUM_RN) {
		/*
		 * The scaled product cannot be subnormal, so it rounds as if the exponent were
		 * unlimited.
		 */
		f32 probe = (x * 0x1p64f) * y;

		return num_finish_near_f32(x * y, __builtin_fabsf(probe) < 0x1p-62f, mode);
	}
	return num_finish_f32((f64)x * (f64)y, mode);
}

/* x * y + z rounded once to nearest. */
#if defined(__FMA__) || defined(__FP_FAST_FMAF)
NUM_FN f32 num_host_fma_f32(f32 x, f32 y, f32 z)
{
	return __builtin_fmaf(x, y, z);
}
#else
NUM_FN f32 num_host_fma_f32(f32 x, f32 y, f32 z)
{
	return (f32)num_sum_odd_f64((f64)x * (f64)y, (f64)z);
}
#endif

NUM_FN u32 num_fma_f32(u32 a, u32 b, u32 c, u32 mode)
{
	f32 x, y, z;

	a = num_flush_f32(a, mode);
	b = num_flush_f32(b, mode);
	c = num_flush_f32(c, mode);
	x = f32_bits(a);
	y = f32_bits(b);
	z = f32_bits(c);
	if ((mode & NUM_RND) == NUM_RN) {
		f32 probe = 1.0f;

		/* As in num_mul_f32; what overflows here is far from tiny. */
		if (mode & NUM_FTZ)
			probe = num_host_fma_f32(x * 0x1p64f, y, z * 0x1p64f);
		x = num_host_fma_f32(x, y, z);
		return num_finish_near_f32(x, __builtin_fabsf(probe) < 0x1p-62f, mode);
	}
	return num_finish_sum_f32(num_sum_odd_f64((f64)x * (f64)y, (f64)z), ((a ^ b) | c) >> 31,
				  mode);
}

/*
 * Correct a quotient or root r that the host rounded to nearest: `have` and `want` are exact
 * magnitudes whose order is that of r and the true result.
 */
NUM_FN u32 num_correct_f32(f32 r, f64 have, f64 want, u32 mode)
{
	u32 u = bits_f32(r);
	u32 up = have<want, down = have> want;

	if ((mode & NUM_RND) == NUM_RN)
		return u;
	return num_rounds_away(mode, u >> 31) ? u + up : u - down;
}

/*
 * Whether a quotient counts as below the normal range under .ftz. To nearest a scaled quotient
 * tells, as for products; else the f64 quotient, which cannot round onto the short constants it is
 * compared with.
 */
NUM_FN bool num_div_is_tiny_f32(f32 x, f32 y, bool negative, u32 mode)
{
	if ((mode & NUM_RND) == NUM_RN)
		return __builtin_fabsf((x * 0x1p64f) / y) < 0x1p-62f;
	return num_is_tiny_f32(__builtin_fabs((f64)x / (f64)y), negative, mode);
}

/* div.rnd{.ftz}. */
NUM_FN u32 num_div_f32(u32 a, u32 b, u32 mode)
{
	f32 x = f32_bits(num_flush_f32(a, mode));
	f32 y = f32_bits(num_flush_f32(b, mode));
	f32 r = x / y;
	f64 have = (f64)__builtin_fabsf(r) * (f64)__builtin_fabsf(y);
	u32 u = num_canon_f32(num_correct_f32(r, have, (f64)__builtin_fabsf(x), mode));

	if (mode & NUM_FTZ)
		u = num_div_is_tiny_f32(x, y, (a ^ b) >> 31, mode) ? u & 0x80000000u : u;
	return u;
}

NUM_FN u32 num_rcp_f32(u32 a, u32 mode)
{
	return num_div_f32(0x3f800000u, a, mode);
}

/* sqrt.rnd{.ftz}: -0 stays, below zero is NaN. */
NUM_FN u32 num_sqrt_f32(u32 a, u32 mode)
{
	f32 x = f32_bits(num_flush_f32(a, mode));
	f32 r = __builtin_sqrtf(x);

	return num_canon_f32(num_correct_f32(r, (f64)r * (f64)r, (f64)x, mode));
}

/* abs and neg of NaN give the canonical NaN. */
NUM_FN u32 num_abs_f32(u32 a, u32 mode)
{
	return num_canon_f32(num_flush_f32(a, mode) & 0x7fffffffu);
}

NUM_FN u32 num_neg_f32(u32 a, u32 mode)
{
	return num_canon_f32(num_flush_f32(a, mode) ^ 0x80000000u);
}

/* copysign d, a, b: the sign of a on the magnitude of b. */
NUM_FN u32 num_copysign_f32(u32 a, u32 b)
{
	return (a & 0x80000000u) | (b & 0x7fffffffu);
}

/* Total order of sign-magnitude numbers as signed integers: -0 below +0. */
NUM_FN s32 num_order_f32(u32 u)
{
	return (s32)(u ^ ((u32)((s32)u >> 31) & 0x7fffffffu));
}

/*
 * min and max of sign-magnitude numbers whose infinity is `inf`; `nan` is the canonical NaN. f16
 * and bf16 use it with their bits in the upper half. The sign of .xorsign is that of the operands.
 */
NUM_FN u32 num_minmax_bits(u32 a, u32 b, bool max, u32 mode, u32 inf)
{
	u32 sign = (a ^ b) & 0x80000000u;
	bool na = (a & 0x7fffffffu) > inf, nb = (b & 0x7fffffffu) > inf;
	bool nan = mode & NUM_NAN ? na | nb : na & nb;
	u32 r;

	if (mode & NUM_ABS) {
		a &= 0x7fffffffu;
		b &= 0x7fffffffu;
	}
	r = (num_order_f32(a) < num_order_f32(b)) != max ? a : b;
	r = na ? b : nb ? a : r;
	if (mode & NUM_XORSIGN)
		r |= sign;
	return nan ? 0x7fffffffu : r;
}

NUM_FN u32 num_min_f32(u32 a, u32 b, u32 mode)
{
	a = num_flush_f32(a, mode);
	b = num_flush_f32(b, mode);
	return num_minmax_bits(a, b, false, mode, NUM_INF_F32);
}

NUM_FN u32 num_max_f32(u32 a, u32 b, u32 mode)
{
	a = num_flush_f32(a, mode);
	b = num_flush_f32(b, mode);
	return num_minmax_bits(a, b, true, mode, NUM_INF_F32);
}

/* Three inputs fold from the left; only .abs is allowed with them. */
NUM_FN u32 num_min3_f32(u32 a, u32 b, u32 c, u32 mode)
{
	return num_min_f32(num_min_f32(a, b, mode), c, mode);
}

NUM_FN u32 num_max3_f32(u32 a, u32 b, u32 c, u32 mode)
{
	return num_max_f32(num_max_f32(a, b, mode), c, mode);
}

/* testp.op; zero counts as normal. */
enum num_testp {
	NUM_TESTP_FINITE,
	NUM_TESTP_INFINITE,
	NUM_TESTP_NUMBER,
	NUM_TESTP_NOTANUMBER,
	NUM_TESTP_NORMAL,
	NUM_TESTP_SUBNORMAL,
};

NUM_FN bool num_testp_f32(u32 a, enum num_testp op)
{
	u32 m = a & 0x7fffffffu;
	bool subnormal = m - 1 < 0x007fffffu;

	switch (op) {
	case NUM_TESTP_FINITE:
		return m < NUM_INF_F32;
	case NUM_TESTP_INFINITE:
		return m == NUM_INF_F32;
	case NUM_TESTP_NUMBER:
		return m <= NUM_INF_F32;
	case NUM_TESTP_NOTANUMBER:
		return m > NUM_INF_F32;
	case NUM_TESTP_NORMAL:
		return m < NUM_INF_F32 && !subnormal;
	case NUM_TESTP_SUBNORMAL:
		return subnormal;
	}
	return false;
}

#endif
