/*
 * The special-function unit: .approx forms of rcp, rsqrt, sqrt, lg2, ex2, sin, cos, tanh and of
 * div, bit for bit as measured on a GH100. PTX ISA "Floating Point Instructions" (approximate
 * forms) and "Half Precision Floating Point Instructions" (ex2, tanh).
 *
 * Each function is one quadratic per segment of the argument,
 *
 *     acc = C0 + C1*x + 4*C2*S(x)        in units of 2^-41,
 *
 * cut to 24 significant bits. S(x) is the square of x from a folded triangle of partial products
 * without its low columns. All terms are integers below 2^53, so the sum is exact in f64, and the
 * f64 exponent does the normalising. The rows are in mufu_tables.def.
 */
#ifndef PL_NUM_MUFU_H
#define PL_NUM_MUFU_H

#include "src/num/numeric_f64.h"
#include "src/num/numeric_half.h"

/* In 32-bit words, which gathers take best: C0 without its low 13 bits, those beside C2, and C1. */
#define MUFU_ROW(c0, c1, c2) (c0) / 8192, (c2)*8192 + (s32)((c0) % 8192), c1,
#define MUFU_TABLE(name, rows) static const s32 mufu_tab_##name[3 * rows] = {
#define MUFU_END                                                                                   \
	}                                                                                          \
	; /* end of one table */
#include "src/num/mufu_tables.def"
#undef MUFU_ROW
#undef MUFU_TABLE
#undef MUFU_END

/*
 * S(x) of an argument with `low` bits below its upper eight. In terms of those parts h and l, the
 * columns that are kept sum to h*h / 2 plus, for each bit r of h, l without its lowest
 * low - r bits.
 */
NUM_FN u32 mufu_square(u32 x, u32 low)
{
	u32 h = x >> low, l = x & ((1u << low) - 1);
	u32 s = h * h >> 1;

	/* Written out: an inner loop would keep the lane loop from vectorising below -O3. */
	s += (-(h >> 1 & 1) & l >> (low - 1)) + (-(h >> 2 & 1) & l >> (low - 2));
	s += (-(h >> 3 & 1) & l >> (low - 3)) + (-(h >> 4 & 1) & l >> (low - 4));
	s += (-(h >> 5 & 1) & l >> (low - 5)) + (-(h >> 6 & 1) & l >> (low - 6));
	s += -(h >> 7 & 1) & l >> (low - 7);
	return s;
}

/* The quadratic of one row, in units of 2^-41. */
NUM_FN f64 mufu_quadratic(const s32 *tab, u32 row, u32 x, u32 low)
{
	s32 at = (s32)(3 * row);
	s32 high = tab[at], mixed = tab[at + 1];
	f64 c0 = (f64)high * 8192.0 + (f64)(mixed & 8191);
	f64 c1 = (f64)tab[at + 2], c2 = (f64)(mixed >> 13);

	return c0 + c1 * (f64)(s32)x + 4.0 * c2 * (f64)(s32)mufu_square(x, low);
}

/*
 * acc * 2^(e - 41), acc >= 0, cut to 24 bits as the magnitude of an f32. Results below the normal
 * range are 0, beyond it infinity.
 */
NUM_FN u32 mufu_cut(f64 acc, s32 e)
{
	u64 u = bits_f64(acc);
	s32 exp = (s32)(u >> 52) - 1023 - 41 + 127 + e;
	u32 m = (u32)(u >> 29) & 0x007fffffu;
	u32 r = (u32)exp << 23 | m;

	r = num_select(exp >= 255, NUM_INF_F32, r);
	return num_select(exp > 0, r, 0);
}

NUM_FN u32 mufu_rcp(u32 u)
{
	u32 sign = u & 0x80000000u, e = u >> 23 & 255, m = u & 0x007fffffu;
	u32 r = mufu_cut(mufu_quadratic(mufu_tab_rcp, m >> 16, m & 0xffffu, 8), 127 - (s32)e);

	r = num_select(m != 0, r, num_select(e >= 254, 0, (254 - e) << 23));
	r = num_select(e == 255, 0, num_select(e != 0, r, NUM_INF_F32));
	return num_select(num_is_nan_f32(u), NUM_NAN_F32, sign | r);
}

/* Row and exponent of the two roots: 64 segments for even, 64 for odd exponents. */
NUM_FN u32 mufu_root_row(u32 u)
{
	return (~u >> 17 & 64) | (u >> 17 & 63);
}

/* floor((exponent of u) / 2) */
NUM_FN s32 mufu_root_exp(u32 u)
{
	return (s32)((u >> 23 & 255) + 1) / 2 - 64;
}

/* Special operands of both roots; `zero` and `inf` are the results for +0 and +infinity. */
NUM_FN u32 mufu_root_special(u32 u, u32 r, u32 zero, u32 inf)
{
	u32 m = u & 0x7fffffffu;

	r = num_select(u >> 31, NUM_NAN_F32, r);
	r = num_select(u == NUM_INF_F32, inf, r);
	r = num_select(m < 0x00800000u, (u & 0x80000000u) | zero, r);
	return num_select(m > NUM_INF_F32, NUM_NAN_F32, r);
}

NUM_FN u32 mufu_rsqrt(u32 u)
{
	f64 acc = mufu_quadratic(mufu_tab_rsqrt, mufu_root_row(u), u & 0x1ffffu, 9);
	s32 e = mufu_root_exp(u);
	u32 r = mufu_cut(acc, -e);

	/* Powers of four are exact. */
	r = num_select((u & 0x00ffffffu) == 0x00800000u, (u32)(127 - e) << 23, r);
	return mufu_root_special(u, r, NUM_INF_F32, 0);
}

NUM_FN u32 mufu_sqrt(u32 u)
{
	f64 acc = mufu_quadratic(mufu_tab_sqrt, mufu_root_row(u), u & 0x1ffffu, 9);

	return mufu_root_special(u, mufu_cut(acc, mufu_root_exp(u)), 0, NUM_INF_F32);
}

/* Exponent plus table, 36 fraction bits; a negative sum is complemented bit by bit. */
NUM_FN u32 mufu_lg2(u32 u)
{
	f64 acc = mufu_quadratic(mufu_tab_lg2, u >> 17 & 63, u & 0x1ffffu, 9);
	f64 v = __builtin_floor(acc * 0x1p-5) + (f64)((s32)(u >> 23 & 255) - 127) * 0x1p36;
	u32 sign = v < 0.0 ? 0x80000000u : 0;
	u32 r = mufu_cut(v < 0.0 ? -1.0 - v : v, 5) | sign;

	r = num_select(u == 0x3f800000u, 0, r);
	r = num_select(u >> 31, NUM_NAN_F32, num_select(u == NUM_INF_F32, u, r));
	r = num_select(u & NUM_INF_F32, r, 0x80000000u | NUM_INF_F32);
	return num_select(num_is_nan_f32(u), NUM_NAN_F32, r);
}

/* Argument with 23 fraction bits, cut; a negative one is complemented unless it is whole. */
NUM_FN u32 mufu_ex2(u32 u)
{
	u32 m = u & 0x7fffffffu;
	bool small = m < 0x43800000u;
	f32 x = f32_bits(num_select(small, m, 0));
	s32 v = (s32)(x * 0x1p23f);
	s32 n = -v - ((v & 0x007fffff) != 0);
	u32 f, r;

	v = (s32)num_select(u >> 31, (u32)n, (u32)v);
	f = (u32)v & 0x007fffffu;
	r = mufu_cut(mufu_quadratic(mufu_tab_ex2, f >> 17, f & 0x1ffffu, 9), (v >> 23) - 1);
	r = num_select(small, r, num_select(u >> 31, 0, NUM_INF_F32));
	r = num_select(u & NUM_INF_F32, r, 0x3f800000u);
	return num_select(m > NUM_INF_F32, NUM_NAN_F32, r);
}

/*
 * Sine of the argument plus `quarter` quarter turns: turns from a product cut to 24 bits, phase in
 * 2^-25 turns, odd quarters mirrored by complement.
 */
NUM_FN u32 mufu_turn(u32 u, u32 quarter)
{
	u32 m = u & 0x7fffffffu;
	/* 0xa2f983 * 2^-26 is 1/2pi; 48 bits are exact in f64. */
	f64 p = (f64)f32_bits(num_select(m < NUM_INF_F32, m, 0)) * (0xa2f983 * 0x1p-26);
	f64 turns = f64_bits(bits_f64(p) & ~(((u64)1 << 29) - 1));
	u32 phase = (u32)(s32)((turns - __builtin_floor(turns)) * 0x1p25) + (quarter << 23);
	u32 x = (phase ^ -(phase >> 23 & 1)) & 0x007fffffu;
	u32 sign = (phase << 7 & 0x80000000u) ^ (quarter ? 0 : u & 0x80000000u);
	f64 acc;
	u32 r;

	acc = mufu_quadratic(mufu_tab_sin, x >> 17, x & 0x1ffffu, 9);
	r = sign | num_select(acc >= 0x1p41, 0x3f800000u, mufu_cut(acc, 0));
	r = num_select(m < 0x00800000u, quarter ? 0x3f800000u : u & 0x80000000u, r);
	return num_select(m >= NUM_INF_F32, NUM_NAN_F32, r);
}

NUM_FN u32 mufu_sin(u32 u)
{
	return mufu_turn(u, 0);
}

NUM_FN u32 mufu_cos(u32 u)
{
	return mufu_turn(u, 1);
}

/*
 * 51 segments from 2^-8 to 8. Of each octave: 32 times the first row, plus the number of segments.
 * Below, the argument itself; beyond, one.
 */
static const s32 mufu_tanh_octave[11] = {
	0x001, 0x021, 0x041, 0x062, 0x0a2, 0x0e4, 0x164, 0x1e4, 0x268, 0x370, 0x568,
};

NUM_FN u32 mufu_tanh(u32 u)
{
	u32 sign = u & 0x80000000u, m = u & 0x7fffffffu;
	s32 e = (s32)(m >> 23) - 119, o = e < 0 ? 0 : e > 10 ? 10 : e;
	u32 octave = (u32)mufu_tanh_octave[o];
	u32 scaled = (m & 0x007fffffu) * (octave & 31);
	u32 row = (octave >> 5) + (scaled >> 23);
	u32 r = mufu_cut(mufu_quadratic(mufu_tab_tanh, row, scaled >> 6 & 0x1ffffu, 9), 0);

	r = num_select(e > 10, 0x3f800000u, num_select(e < 0, m, r));
	return num_select(m > NUM_INF_F32, NUM_NAN_F32, sign | r);
}

/*
 * The instructions. Without .ftz the assembler scales subnormal operands and results around the
 * same unit, so these read as that code does. tanh, sin and cos are single unit operations; sin
 * and cos flush under .ftz.
 */
#define MUFU_QUARTER 0x3e800000u
#define MUFU_ONE 0x3f800000u
#define MUFU_2_24 0x4b800000u

NUM_FN u32 mufu_scale(u32 u, f32 factor)
{
	return bits_f32(f32_bits(u) * factor);
}

NUM_FN u32 num_rcp_approx_f32(u32 a, u32 mode)
{
	u32 m = a & 0x7fffffffu;
	u32 scale = num_select(m < 0x00800000u, MUFU_2_24, MUFU_ONE);
	f32 k = f32_bits(num_select((m > 0x7e800000u) & (m < NUM_INF_F32), MUFU_QUARTER, scale));

	if (mode & NUM_FTZ)
		return mufu_rcp(a);
	return num_canon_f32(mufu_scale(mufu_rcp(mufu_scale(a, k)), k));
}

/* Subnormal operands of the roots count 2^24 times as much. */
NUM_FN f32 mufu_root_scale(u32 a)
{
	return f32_bits(num_select((a & 0x7fffffffu) < 0x00800000u, MUFU_2_24, MUFU_ONE));
}

NUM_FN u32 num_rsqrt_approx_f32(u32 a, u32 mode)
{
	f32 k = mufu_root_scale(a);

	if (mode & NUM_FTZ)
		return mufu_rsqrt(a);
	return num_canon_f32(mufu_scale(mufu_rsqrt(mufu_scale(a, k)), k == 1.0f ? 1.0f : 0x1p12f));
}

NUM_FN u32 num_sqrt_approx_f32(u32 a, u32 mode)
{
	f32 k = mufu_root_scale(a);

	if (mode & NUM_FTZ)
		return mufu_sqrt(a);
	return num_canon_f32(mufu_scale(mufu_sqrt(mufu_scale(a, k)), k == 1.0f ? 1.0f : 0x1p-12f));
}

NUM_FN u32 num_lg2_approx_f32(u32 a, u32 mode)
{
	f32 k = mufu_root_scale(a);

	if (mode & NUM_FTZ)
		return mufu_lg2(a);
	a = mufu_lg2(mufu_scale(a, k));
	return num_canon_f32(bits_f32(f32_bits(a) - (k == 1.0f ? 0.0f : 24.0f)));
}

NUM_FN u32 num_ex2_approx_f32(u32 a, u32 mode)
{
	bool low = f32_bits(a) < -126.0f;
	u32 half = num_select(low, 0x3f000000u, MUFU_ONE), r;

	if (mode & NUM_FTZ)
		return mufu_ex2(a);
	r = mufu_ex2(mufu_scale(a, f32_bits(half)));
	return num_select(low, mufu_scale(r, f32_bits(r)), r);
}

NUM_FN u32 num_sin_approx_f32(u32 a)
{
	return mufu_sin(a);
}

NUM_FN u32 num_cos_approx_f32(u32 a)
{
	return mufu_cos(a);
}

NUM_FN u32 num_tanh_approx_f32(u32 a)
{
	return mufu_tanh(a);
}

/* The reciprocal times a, both times `scale` before. */
/* The quotient is the product of these two, which may also go into a sum: lower_contract.c. */
NUM_FN u32 mufu_div_a(u32 a, u32 scale, u32 mode)
{
	return num_mul_f32(a, scale, mode & NUM_FTZ);
}

NUM_FN u32 mufu_div_r(u32 b, u32 scale)
{
	return mufu_rcp(mufu_scale(b, f32_bits(scale)));
}

/* div.approx: by 2^24 where the divisor is subnormal, without .ftz. */
NUM_FN u32 mufu_div_approx_scale(u32 b, u32 mode)
{
	bool small = (b & 0x7fffffffu) < 0x00800000u;

	return num_select(small & !(mode & NUM_FTZ), MUFU_2_24, MUFU_ONE);
}

/* div.full: also by 1/4 where it is above 2^126. */
NUM_FN u32 mufu_div_full_scale(u32 b, u32 mode)
{
	return num_select((b & 0x7fffffffu) > 0x7e800000u, MUFU_QUARTER,
			  mufu_div_approx_scale(b, mode));
}

NUM_FN u32 num_div_approx_f32(u32 a, u32 b, u32 mode)
{
	u32 scale = mufu_div_approx_scale(b, mode);

	return num_mul_f32(mufu_div_r(b, scale), mufu_div_a(a, scale, mode), mode & NUM_FTZ);
}

NUM_FN u32 num_div_full_f32(u32 a, u32 b, u32 mode)
{
	u32 scale = mufu_div_full_scale(b, mode);

	return num_mul_f32(mufu_div_r(b, scale), mufu_div_a(a, scale, mode), mode & NUM_FTZ);
}

/*
 * rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: the same tables on the upper word, whose 20
 * mantissa bits stand for the upper bits of the argument; the result is cut to 20 bits and its
 * lower word is zero. The lower word of the operand counts for nothing, not even between NaN and
 * infinity.
 */
NUM_FN u64 mufu_cut_f64(f64 acc, s32 e)
{
	u64 u = bits_f64(acc) & ~(((u64)1 << 32) - 1);
	s32 exp = (s32)(u >> 52) - 41 + e;
	u64 r = (u & 0x000fffffffffffffu) | (u64)(u32)exp << 52;

	r = exp >= 2047 ? NUM_INF_F64 : r;
	return exp <= 0 ? 0 : r;
}

NUM_FN u64 num_rcp_approx_f64(u64 a)
{
	u32 h = (u32)(a >> 32), e = h >> 20 & 2047, m = (h & 0x000fffffu) << 3;
	u64 sign = a & 0x8000000000000000u;
	u64 r = mufu_cut_f64(mufu_quadratic(mufu_tab_rcp, m >> 16, m & 0xffffu, 8), 1023 - (s32)e);

	r = m ? r : e >= 2046 ? 0 : (u64)(2046 - e) << 52;
	r = e == 2047 ? 0 : e ? r : NUM_INF_F64;
	return e == 2047 && m ? 0x7fffffff00000000u : sign | r;
}

NUM_FN u64 num_rsqrt_approx_f64(u64 a)
{
	u32 h = (u32)(a >> 32), e = h >> 20 & 2047, m = (h & 0x000fffffu) << 3;
	u32 row = (~e << 6 & 64) | m >> 17;
	s32 half = (s32)(e + 1) / 2 - 512;
	u64 r = mufu_cut_f64(mufu_quadratic(mufu_tab_rsqrt, row, m & 0x1ffffu, 9), -half);

	r = (e & 1) && !m ? (u64)(1023 - half) << 52 : r;
	r = e == 2047 ? 0 : r;
	r = a >> 63 || (e == 2047 && m) ? 0x7fffffff00000000u : r;
	return e ? r : (a & 0x8000000000000000u) | NUM_INF_F64;
}

/*
 * rsqrt.approx.f64 without .ftz: one step of third order from the unit's value, as the assembler
 * emits it; subnormal operands are scaled before and after.
 */
NUM_FN u64 num_rsqrt_approx_full_f64(u64 a)
{
	bool small = (a & ~NUM_SIGN_F64) - 1 < 0x000fffffffffffffu;
	u64 x = small ? bits_f64(f64_bits(a) * 0x1p54) : a;
	u64 y = num_rsqrt_approx_f64(x);
	u64 t = bits_f64(f64_bits(y) * f64_bits(y));
	u64 e = num_host_fma_f64(x, t ^ NUM_SIGN_F64, 0x3ff0000000000000u);
	u64 c = num_host_fma_f64(e, 0x3fd8000000000000u, 0x3fe0000000000000u);
	u64 r = num_host_fma_f64(c, bits_f64(f64_bits(e) * f64_bits(y)), y);

	r = small ? bits_f64(f64_bits(r) * 0x1p27) : r;
	r = x >> 63 ? NUM_NAN_F64 : r;
	r = x == NUM_INF_F64 ? 0 : r;
	r = !(x << 1) ? x | NUM_INF_F64 : r;
	return num_is_nan_f64(a) ? a | NUM_QUIET_F64 : r;
}

/* The unit's f32 result cut, not rounded, to f16; what lies beyond the range is infinity. */
NUM_FN u32 mufu_cut_f16(u32 u)
{
	u32 m = u & 0x7fffffffu;
	u32 h = num_narrow_f16(m, false, NUM_RZ);

	h = m >= 0x47800000u ? NUM_INF_F16 : h;
	return m > NUM_INF_F32 ? NUM_NAN_16 : h | (u >> 16 & 0x8000u);
}

NUM_FN u32 mufu_cut_bf16(u32 u)
{
	return num_is_nan_f32(u) ? NUM_NAN_16 : u >> 16;
}

NUM_FN u32 num_ex2_approx_f16(u32 a)
{
	return mufu_cut_f16(mufu_ex2(num_widen_f16(a)));
}

NUM_FN u32 num_tanh_approx_f16(u32 a)
{
	return mufu_cut_f16(mufu_tanh(num_widen_f16(a)));
}

/* ex2.approx.ftz.bf16 */
NUM_FN u32 num_ex2_approx_bf16(u32 a)
{
	return mufu_cut_bf16(mufu_ex2(num_widen_bf16(a)));
}

NUM_FN u32 num_tanh_approx_bf16(u32 a)
{
	return mufu_cut_bf16(mufu_tanh(num_widen_bf16(a)));
}

#define MUFU_DEFINE_X2(name)                                                                       \
	NUM_FN u32 num_##name##x2(u32 a)                                                           \
	{                                                                                          \
		return num_##name(a & 0xffffu) | num_##name(a >> 16) << 16;                        \
	}

MUFU_DEFINE_X2(ex2_approx_f16)
MUFU_DEFINE_X2(tanh_approx_f16)
MUFU_DEFINE_X2(ex2_approx_bf16)
MUFU_DEFINE_X2(tanh_approx_bf16)

#endif
