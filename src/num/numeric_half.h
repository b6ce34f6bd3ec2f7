/*
 * f16 and bf16 arithmetic. PTX ISA "Half Precision Floating Point Instructions": add, sub, mul,
 * fma, neg, abs, min, max, and the packed forms of each.
 *
 * Results round once: f16 works on f32 values rounded to odd, bf16 on f64 values rounded to odd.
 * The same narrowing functions serve cvt. Packed forms are the scalar function on each half,
 * through NUM_X2_*.
 */
#ifndef PL_NUM_NUMERIC_HALF_H
#define PL_NUM_NUMERIC_HALF_H

#include "src/num/numeric_f32.h"

/*
 * The NaN that stands for data out of bounds; as a factor of fma.oob, of either sign, it makes the
 * result +0.
 */
#define NUM_OOB_NAN_16 0x7ff7u

/* Exact widening; a NaN keeps its payload. */
NUM_FN u32 num_widen_f16(u32 h)
{
	u32 sign = (h & 0x8000u) << 16, m = h & 0x7fffu;
	u32 normal = (m << 13) + (112u << 23);
	u32 special = (m << 13) | NUM_INF_F32;
	u32 small = bits_f32((f32)(s32)m * 0x1p-24f);

	return sign | (m < 0x0400u ? small : m < NUM_INF_F16 ? normal : special);
}

NUM_FN u32 num_widen_bf16(u32 h)
{
	return h << 16;
}

NUM_FN bool num_is_nan_f16(u32 h)
{
	return (h & 0x7fffu) > NUM_INF_F16;
}

NUM_FN bool num_is_nan_bf16(u32 h)
{
	return (h & 0x7fffu) > NUM_INF_BF16;
}

NUM_FN u32 num_flush_f16(u32 h, u32 mode)
{
	if (!(mode & NUM_FTZ))
		return h & 0xffffu;
	return (h & 0x7fffu) < 0x0400u ? h & 0x8000u : h & 0xffffu;
}

/*
 * Magnitude bits m of an f32 (not NaN) to the bits of an f16 magnitude. Below the normal range the
 * sum with one half leaves the multiple of 2^-24 in the low bits.
 */
NUM_FN u32 num_narrow_f16(u32 m, bool negative, u32 mode)
{
	bool near = (mode & NUM_RND) == NUM_RN, away = num_rounds_away(mode, negative);
	u32 n = m - (112u << 23);
	u32 top = (near || away) && !(mode & NUM_SATFINITE) ? NUM_INF_F16 : NUM_INF_F16 - 1;
	f32 x = f32_bits(m), y = x + 0.5f, back = y - 0.5f;
	u32 s = bits_f32(y) - 0x3f000000u, up = back<x, down = back> x;

	n = (n + (near ? 0xfffu + (n >> 13 & 1) : away ? 0x1fffu : 0)) >> 13;
	n = n < top ? n : top;
	if (!near)
		s = away ? s + up : s - down;
	n = m < (113u << 23) ? s : n;
	return m == NUM_INF_F32 && !(mode & NUM_SATFINITE) ? NUM_INF_F16 : n;
}

/* The same for bf16: f32 with 16 bits less. */
NUM_FN u32 num_narrow_bf16(u32 m, bool negative, u32 mode)
{
	bool near = (mode & NUM_RND) == NUM_RN, away = num_rounds_away(mode, negative);
	u32 n = (m + (near ? 0x7fffu + (m >> 16 & 1) : away ? 0xffffu : 0)) >> 16;

	return (mode & NUM_SATFINITE) && n >= NUM_INF_BF16 ? NUM_INF_BF16 - 1 : n;
}

/* Apply sign, NaN, .sat and .relu to a rounded magnitude h of the f32 value u; `one` is 1.0. */
NUM_FN u32 num_dress_16(u32 h, u32 u, u32 one, u32 mode)
{
	bool nan = num_is_nan_f32(u);

	if (mode & NUM_SAT)
		return nan || u >> 31 ? 0 : h < one ? h : one;
	h |= u >> 16 & 0x8000u;
	if (mode & NUM_RELU)
		h = u >> 31 ? 0 : h;
	return nan ? NUM_NAN_16 : h;
}

/* f32 bits to f16 with one rounding: the end of arithmetic and of cvt. */
NUM_FN u32 num_f16_from_f32(u32 u, u32 mode)
{
	return num_dress_16(num_narrow_f16(u & 0x7fffffffu, u >> 31, mode), u, 0x3c00u, mode);
}

NUM_FN u32 num_bf16_from_f32(u32 u, u32 mode)
{
	return num_dress_16(num_narrow_bf16(u & 0x7fffffffu, u >> 31, mode), u, 0x3f80u, mode);
}

/* p + c in f32, rounded to odd. */
NUM_FN u32 num_sum_odd_f32(f32 p, f32 c)
{
	f32 s = p + c;
	f32 t = s - p;
	f32 e = (p - (s - t)) + (c - t);
	u32 u = bits_f32(s);
	u32 step = __builtin_fabsf(e) > 0.0f ? ~u & 1 : 0;

	return (e > 0.0f) == (s > 0.0f) ? u + step : u - step;
}

/* An exact or odd f64 to an odd f32, subnormals included; infinities and NaN pass. */
NUM_FN u32 num_narrow_odd_f32(f64 s)
{
	u32 u = num_narrow_f32(s, NUM_RZ);

	return u | (__builtin_fabs((f64)f32_bits(u) - s) > 0.0);
}

/* Round an f32 (exact or odd) to an f16 result. */
NUM_FN u32 num_finish_f16(u32 u, u32 mode)
{
	u32 h = num_f16_from_f32(u, mode);

	if (mode & NUM_FTZ)
		h = __builtin_fabsf(f32_bits(u)) < 0x1p-14f - 0x1p-26f ? h & 0x8000u : h;
	return h;
}

NUM_FN u32 num_add_f16(u32 a, u32 b, u32 mode)
{
	f32 x = f32_bits(num_widen_f16(num_flush_f16(a, mode)));
	f32 y = f32_bits(num_widen_f16(num_flush_f16(b, mode)));

	/* 24 bits are enough for the sum of two 11-bit numbers to round twice without harm. */
	return num_finish_f16(bits_f32(x + y), mode);
}

NUM_FN u32 num_sub_f16(u32 a, u32 b, u32 mode)
{
	return num_add_f16(a, b ^ 0x8000u, mode);
}

NUM_FN u32 num_mul_f16(u32 a, u32 b, u32 mode)
{
	f32 x = f32_bits(num_widen_f16(num_flush_f16(a, mode)));
	f32 y = f32_bits(num_widen_f16(num_flush_f16(b, mode)));

	return num_finish_f16(bits_f32(x * y), mode);
}

NUM_FN bool num_is_oob_16(u32 a, u32 b)
{
	return (a & 0x7fffu) == NUM_OOB_NAN_16 || (b & 0x7fffu) == NUM_OOB_NAN_16;
}

/* fma.rn{.ftz}{.sat}{.relu} and fma.rn.oob{.relu}. */
NUM_FN u32 num_fma_f16(u32 a, u32 b, u32 c, u32 mode)
{
	f32 x = f32_bits(num_widen_f16(num_flush_f16(a, mode)));
	f32 y = f32_bits(num_widen_f16(num_flush_f16(b, mode)));
	f32 z = f32_bits(num_widen_f16(num_flush_f16(c, mode)));
	u32 r = num_finish_f16(num_sum_odd_f32(x * y, z), mode);

	return (mode & NUM_OOB) && num_is_oob_16(a, b) ? 0 : r;
}

NUM_FN u32 num_add_bf16(u32 a, u32 b, u32 mode)
{
	f64 s = num_sum_odd_f64((f64)f32_bits(num_widen_bf16(a)), (f64)f32_bits(num_widen_bf16(b)));

	return num_bf16_from_f32(num_narrow_odd_f32(s), mode);
}

NUM_FN u32 num_sub_bf16(u32 a, u32 b, u32 mode)
{
	return num_add_bf16(a, b ^ 0x8000u, mode);
}

NUM_FN u32 num_mul_bf16(u32 a, u32 b, u32 mode)
{
	f64 p = (f64)f32_bits(num_widen_bf16(a)) * (f64)f32_bits(num_widen_bf16(b));

	return num_bf16_from_f32(num_narrow_odd_f32(p), mode);
}

NUM_FN u32 num_fma_bf16(u32 a, u32 b, u32 c, u32 mode)
{
	f64 p = (f64)f32_bits(num_widen_bf16(a)) * (f64)f32_bits(num_widen_bf16(b));
	f64 s = num_sum_odd_f64(p, (f64)f32_bits(num_widen_bf16(c)));
	u32 r = num_bf16_from_f32(num_narrow_odd_f32(s), mode);

	return (mode & NUM_OOB) && num_is_oob_16(a, b) ? 0 : r;
}

NUM_FN u32 num_abs_f16(u32 a, u32 mode)
{
	return num_is_nan_f16(a) ? NUM_NAN_16 : num_flush_f16(a, mode) & 0x7fffu;
}

NUM_FN u32 num_neg_f16(u32 a, u32 mode)
{
	return num_is_nan_f16(a) ? NUM_NAN_16 : num_flush_f16(a, mode) ^ 0x8000u;
}

NUM_FN u32 num_abs_bf16(u32 a)
{
	return num_is_nan_bf16(a) ? NUM_NAN_16 : a & 0x7fffu;
}

NUM_FN u32 num_neg_bf16(u32 a)
{
	return num_is_nan_bf16(a) ? NUM_NAN_16 : (a & 0xffffu) ^ 0x8000u;
}

NUM_FN u32 num_minmax_f16(u32 a, u32 b, bool max, u32 mode)
{
	a = num_flush_f16(a, mode) << 16;
	b = num_flush_f16(b, mode) << 16;
	return num_minmax_bits(a, b, max, mode, NUM_INF_F16 << 16) >> 16;
}

NUM_FN u32 num_min_f16(u32 a, u32 b, u32 mode)
{
	return num_minmax_f16(a, b, false, mode);
}

NUM_FN u32 num_max_f16(u32 a, u32 b, u32 mode)
{
	return num_minmax_f16(a, b, true, mode);
}

NUM_FN u32 num_min_bf16(u32 a, u32 b, u32 mode)
{
	return num_minmax_bits(a << 16, b << 16, false, mode, NUM_INF_BF16 << 16) >> 16;
}

NUM_FN u32 num_max_bf16(u32 a, u32 b, u32 mode)
{
	return num_minmax_bits(a << 16, b << 16, true, mode, NUM_INF_BF16 << 16) >> 16;
}

/* The packed forms: element 0 in the low half. */
#define NUM_DEFINE_X2_BINARY(name)                                                                 \
	NUM_FN u32 num_##name##x2(u32 a, u32 b, u32 mode)                                          \
	{                                                                                          \
		return NUM_X2_2(num_##name, a, b, mode);                                           \
	}

NUM_DEFINE_X2_BINARY(add_f16)
NUM_DEFINE_X2_BINARY(sub_f16)
NUM_DEFINE_X2_BINARY(mul_f16)
NUM_DEFINE_X2_BINARY(min_f16)
NUM_DEFINE_X2_BINARY(max_f16)
NUM_DEFINE_X2_BINARY(add_bf16)
NUM_DEFINE_X2_BINARY(sub_bf16)
NUM_DEFINE_X2_BINARY(mul_bf16)
NUM_DEFINE_X2_BINARY(min_bf16)
NUM_DEFINE_X2_BINARY(max_bf16)

NUM_FN u32 num_fma_f16x2(u32 a, u32 b, u32 c, u32 mode)
{
	return NUM_X2_3(num_fma_f16, a, b, c, mode);
}

/*
 * ptxas accepts other roundings than rn for bf16, too. Measured: the rounding is that of an fma of
 * f32, whose result is rounded to nearest. Alone, not in a pair, the operands are read as f16, and
 * relu and oob say nothing.
 */
NUM_FN u32 num_fma_any_bf16(u32 a, u32 b, u32 c, u32 mode)
{
	u32 wide =
		num_fma_f32(num_widen_f16(a), num_widen_f16(b), num_widen_f16(c), mode & NUM_RND);

	return mode & NUM_RND ? num_f16_from_f32(wide, 0) : num_fma_bf16(a, b, c, mode);
}

NUM_FN u32 num_fma_half_of_pair(u32 a, u32 b, u32 c, u32 mode)
{
	u32 wide = num_fma_f32(num_widen_bf16(a), num_widen_bf16(b), num_widen_bf16(c),
			       mode & NUM_RND);

	return mode & NUM_RND ? num_bf16_from_f32(wide, mode & NUM_RELU)
			      : num_fma_bf16(a, b, c, mode);
}

NUM_FN u32 num_fma_any_bf16x2(u32 a, u32 b, u32 c, u32 mode)
{
	return NUM_X2_3(num_fma_half_of_pair, a, b, c, mode);
}

NUM_FN u32 num_fma_bf16x2(u32 a, u32 b, u32 c, u32 mode)
{
	return NUM_X2_3(num_fma_bf16, a, b, c, mode);
}

NUM_FN u32 num_abs_f16x2(u32 a, u32 mode)
{
	return NUM_X2_1(num_abs_f16, a, mode);
}

NUM_FN u32 num_neg_f16x2(u32 a, u32 mode)
{
	return NUM_X2_1(num_neg_f16, a, mode);
}

NUM_FN u32 num_abs_bf16x2(u32 a)
{
	return num_abs_bf16(a & 0xffffu) | num_abs_bf16(a >> 16) << 16;
}

NUM_FN u32 num_neg_bf16x2(u32 a)
{
	return num_neg_bf16(a & 0xffffu) | num_neg_bf16(a >> 16) << 16;
}

#endif
