/*
 * cvt to and from the formats that exist only in storage: tf32, e4m3, e5m2, e2m3, e3m2, e2m1,
 * ue8m0, the packed pairs, stochastic rounding and cvt.pack. PTX ISA "Data Movement and Conversion
 * Instructions: cvt", "cvt.pack", and "Alternate Floating-Point Data Formats".
 *
 * In pairs the first source goes to the upper half.
 */
#ifndef PL_NUM_NUMERIC_MINI_H
#define PL_NUM_NUMERIC_MINI_H

#include "src/num/numeric_cvt.h"

/*
 * cvt.{rn,rz}{.satfinite}{.relu}.tf32.f32: the low 13 bits are zero. NaN is 0x7fffe000.
 */
NUM_FN u32 num_tf32_from_f32(u32 a, u32 mode)
{
	u32 m = a & 0x7fffffffu;
	u32 r = (m + ((mode & NUM_RND) == NUM_RN ? 0xfffu + (m >> 13 & 1) : 0)) & ~(u32)0x1fff;

	if (mode & NUM_SATFINITE)
		r = r >= NUM_INF_F32 ? NUM_INF_F32 - 0x2000u : r;
	if (mode & NUM_RELU)
		r = a >> 31 ? 0 : r;
	else
		r |= a & 0x80000000u;
	return m > NUM_INF_F32 ? 0x7fffe000u : r;
}

/*
 * cvt.rna{.satfinite}.tf32.f32 is emulated by the assembler: halves round away in finite numbers,
 * and .satfinite steps down by one unit whatever is not finite then, NaN included.
 */
NUM_FN u32 num_tf32_rna_from_f32(u32 a, u32 mode)
{
	u32 m = a & 0x7fffffffu;
	u32 r = m < NUM_INF_F32 ? m + 0x1000u : m;

	if (mode & NUM_SATFINITE)
		r = r >= NUM_INF_F32 ? r - 0x2000u : r;
	return (r & ~(u32)0x1fff) | (a & 0x80000000u);
}

/*
 * A format below 16 bits: exponent of the smallest normal number, mantissa bits, largest code, NaN
 * code.
 */
struct num_mini {
	s32 emin;
	u32 mantissa;
	u32 max;
	u32 nan;
};

static const struct num_mini num_e4m3 = {-6, 3, 0x7e, 0x7f};
static const struct num_mini num_e5m2 = {-14, 2, 0x7b, 0x7f};
static const struct num_mini num_e2m3 = {0, 3, 0x1f, 0x1f};
static const struct num_mini num_e3m2 = {-2, 2, 0x1f, 0x1f};
static const struct num_mini num_e2m1 = {0, 1, 0x07, 0x07};

/* Place of the sign: the bit above the largest code. */
NUM_FN u32 num_mini_sign(struct num_mini f)
{
	return (f.max | f.nan) + 1;
}

/* Sign, NaN, .satfinite (always) and .relu around a rounded magnitude code n of the f32 value u. */
NUM_FN u32 num_mini_dress(u32 n, u32 u, struct num_mini f, u32 mode)
{
	n = n < f.max ? n : f.max;
	if (mode & NUM_RELU)
		n = u >> 31 ? 0 : n;
	else
		n |= u >> 31 ? num_mini_sign(f) : 0;
	return num_is_nan_f32(u) ? f.nan : n;
}

/*
 * cvt.rn.satfinite{.relu} of one f32. Below the normal range a magic sum leaves the code in its
 * low bits.
 */
NUM_FN u32 num_mini_from_f32(u32 u, struct num_mini f, u32 mode)
{
	u32 m = u & 0x7fffffffu, drop = 23 - f.mantissa, half = ((u32)1 << (drop - 1)) - 1;
	u32 emin = (u32)(f.emin + 127);
	u32 magic = (emin + drop) << 23;
	u32 n = m - ((emin - 1) << 23);
	u32 s = bits_f32(f32_bits(m) + f32_bits(magic)) - magic;

	n = (n + half + (n >> drop & 1)) >> drop;
	n = m < emin << 23 ? s : m > NUM_INF_F32 ? f.nan : n;
	return num_mini_dress(n, u, f, mode);
}

/* One code to f32, exactly. Infinity exists in e5m2 alone. */
NUM_FN u32 num_f32_from_mini(u32 c, struct num_mini f)
{
	u32 sign = num_mini_sign(f), n = c & (sign - 1), drop = 23 - f.mantissa;
	u32 normal = (n << drop) + ((u32)(f.emin + 126) << 23);
	u32 ulp = (u32)(f.emin + 127 - (s32)f.mantissa) << 23;
	u32 small = bits_f32((f32)(s32)n * f32_bits(ulp));
	u32 r = n >> f.mantissa ? normal : small;

	r = n > f.max ? (n == 0x7c && f.max == 0x7b ? NUM_INF_F32 : NUM_NAN_F32) : r;
	return r | (c & sign ? 0x80000000u : 0);
}

/* One code to f16: every such value is an f16. */
NUM_FN u32 num_f16_from_mini(u32 c, struct num_mini f, u32 mode)
{
	return num_f16_from_f32(num_f32_from_mini(c, f), mode);
}

/*
 * .scaled::n2::ue8m0: two powers of two, one for each element; 0xff is not a number. Without the
 * operand they are 1.
 */
#define NUM_SCALE_ONE 0x7f7fu

NUM_FN u32 num_f32_from_ue8m0(u32 c)
{
	return c == 0xff ? NUM_NAN_F32 : c ? c << 23 : 0x00400000u;
}

/*
 * An element of a narrow format, which f32 holds exactly, times its scale. So is the product: its 8
 * bits end at 2^-143 at least, and what overflows f32 overflows bf16. Only the rounding to bf16
 * rounds.
 */
NUM_FN u32 num_bf16_scaled(u32 u, u32 scale, u32 mode)
{
	return num_bf16_from_f32(
		bits_f32(f32_bits(u) * f32_bits(num_f32_from_ue8m0(scale & 0xffu))), mode);
}

#define NUM_DEFINE_MINI(type, bits)                                                                \
	/* cvt.rn.satfinite{.relu}.TYPEx2.f32 d, a, b */                                           \
	NUM_FN u32 num_##type##x2_from_f32(u32 a, u32 b, u32 mode)                                 \
	{                                                                                          \
		return num_mini_from_f32(a, num_##type, mode) << bits |                            \
		       num_mini_from_f32(b, num_##type, mode);                                     \
	}                                                                                          \
	/* cvt.rn.satfinite{.relu}.TYPEx2.f16x2 d, a */                                            \
	NUM_FN u32 num_##type##x2_from_f16x2(u32 a, u32 mode)                                      \
	{                                                                                          \
		return num_##type##x2_from_f32(num_widen_f16(a >> 16), num_widen_f16(a & 0xffffu), \
					       mode);                                              \
	}                                                                                          \
	/* cvt.rn.satfinite{.relu}.TYPEx2.bf16x2 d, a */                                           \
	NUM_FN u32 num_##type##x2_from_bf16x2(u32 a, u32 mode)                                     \
	{                                                                                          \
		return num_##type##x2_from_f32(a & 0xffff0000u, a << 16, mode);                    \
	}                                                                                          \
	/* cvt.rn{.relu}{.satfinite}{.scaled::n2::ue8m0}.bf16x2.TYPEx2 d, a{, scale} */            \
	NUM_FN u32 num_bf16x2_from_##type##x2(u32 a, u32 scale, u32 mode)                          \
	{                                                                                          \
		u32 low = ((u32)1 << bits) - 1;                                                    \
                                                                                                   \
		return num_bf16_scaled(num_f32_from_mini(a >> bits & low, num_##type), scale >> 8, \
				       mode)                                                       \
			       << 16 |                                                             \
		       num_bf16_scaled(num_f32_from_mini(a & low, num_##type), scale, mode);       \
	}                                                                                          \
	/* cvt.rn{.relu}.f16x2.TYPEx2 d, a */                                                      \
	NUM_FN u32 num_f16x2_from_##type##x2(u32 a, u32 mode)                                      \
	{                                                                                          \
		u32 low = ((u32)1 << bits) - 1;                                                    \
                                                                                                   \
		return num_f16_from_mini(a >> bits & low, num_##type, mode) << 16 |                \
		       num_f16_from_mini(a & low, num_##type, mode);                               \
	}

NUM_DEFINE_MINI(e4m3, 8)
NUM_DEFINE_MINI(e5m2, 8)
NUM_DEFINE_MINI(e2m3, 8)
NUM_DEFINE_MINI(e3m2, 8)
NUM_DEFINE_MINI(e2m1, 4)

/*
 * s2f6: 64ths in eight bits of two's complement, -2 to 127/64. Down it is divided by the scale,
 * rounded and clamped; what is not a number becomes the largest. All of that is exact in f64.
 * Deviation: not measured on a device (sm_100a and later). The manual's "sign-preserved MAX_NORM"
 * of a negative value is taken to be -2, its "negative max representation".
 */
NUM_FN u32 num_s2f6_from_f32(u32 u, u32 scale, u32 mode)
{
	u32 s = scale & 0xffu;
	f64 x = (f64)f32_bits(u) * f64_bits((u64)(1023 + 127 + 6 - (s32)s) << 52);
	f64 low = mode & NUM_RELU ? 0.0 : -128.0;

	x = x > low ? x : low;
	x = x < 127.0 ? x : 127.0;
	x = num_is_nan_f32(u) || s == 0xff ? 127.0 : x;
	return (u32)(s32)__builtin_rint(x) & 0xffu;
}

/* cvt.rn.satfinite{.relu}{.scaled::n2::ue8m0}.s2f6x2.f32 d, a, b{, scale} */
NUM_FN u32 num_s2f6x2_from_f32(u32 a, u32 b, u32 scale, u32 mode)
{
	return num_s2f6_from_f32(a, scale >> 8, mode) << 8 | num_s2f6_from_f32(b, scale, mode);
}

/* cvt.rn.satfinite{.relu}{.scaled::n2::ue8m0}.s2f6x2.bf16x2 d, a{, scale} */
NUM_FN u32 num_s2f6x2_scaled_from_bf16x2(u32 a, u32 scale, u32 mode)
{
	return num_s2f6x2_from_f32(a & 0xffff0000u, a << 16, scale, mode);
}

NUM_FN u32 num_s2f6x2_from_bf16x2(u32 a, u32 mode)
{
	return num_s2f6x2_scaled_from_bf16x2(a, NUM_SCALE_ONE, mode);
}

/* cvt.rn{.satfinite}{.relu}{.scaled::n2::ue8m0}.bf16x2.s2f6x2 d, a{, scale} */
NUM_FN u32 num_bf16x2_from_s2f6x2(u32 a, u32 scale, u32 mode)
{
	f32 high = (f32)(s32)(s8)(a >> 8) * 0x1p-6f, low = (f32)(s32)(s8)a * 0x1p-6f;

	return num_bf16_scaled(bits_f32(high), scale >> 8, mode) << 16 |
	       num_bf16_scaled(bits_f32(low), scale, mode);
}

/* cvt.{rn,rz}{.relu}{.satfinite}.{f16x2,bf16x2}.f32 d, a, b */
NUM_FN u32 num_f16x2_from_f32(u32 a, u32 b, u32 mode)
{
	return num_f16_from_f32(a, mode) << 16 | num_f16_from_f32(b, mode);
}

NUM_FN u32 num_bf16x2_from_f32(u32 a, u32 b, u32 mode)
{
	return num_bf16_from_f32(a, mode) << 16 | num_bf16_from_f32(b, mode);
}

/*
 * ue8m0 is an exponent alone: the power of two at or below |a| (.rz) or at or above it (.rp),
 * 2^-127 at least; the sign is dropped. Overflow is 0xff, or 0xfe under .satfinite; NaN is 0xff.
 * Deviation: not measured on a device (sm_100 and later).
 */
NUM_FN u32 num_ue8m0_from_f32(u32 a, u32 mode)
{
	u32 m = a & 0x7fffffffu, n = m >> 23;

	if ((mode & NUM_RND) == NUM_RP)
		n += (m & 0x007fffffu) && m > 0x00400000u && m < NUM_INF_F32;
	if (mode & NUM_SATFINITE)
		n = m <= NUM_INF_F32 && n > 0xfe ? 0xfe : n;
	return n;
}

NUM_FN u32 num_ue8m0x2_from_f32(u32 a, u32 b, u32 mode)
{
	return num_ue8m0_from_f32(a, mode) << 8 | num_ue8m0_from_f32(b, mode);
}

NUM_FN u32 num_ue8m0x2_from_bf16x2(u32 a, u32 mode)
{
	return num_ue8m0x2_from_f32(a & 0xffff0000u, a << 16, mode);
}

NUM_FN u32 num_bf16_from_ue8m0(u32 c)
{
	return c == 0xff ? NUM_NAN_16 : c ? c << 7 : 0x0040u;
}

NUM_FN u32 num_bf16x2_from_ue8m0x2(u32 a)
{
	return num_bf16_from_ue8m0(a >> 8 & 0xffu) << 16 | num_bf16_from_ue8m0(a & 0xffu);
}

/*
 * Stochastic rounding (.rs): `count` random bits are added to the first `count` discarded bits and
 * the rest is cut, so the chance to go up is the discarded fraction. Works on magnitudes;
 * infinities come out above every code and NaN is the caller's.
 * Deviation: not measured on a device (sm_100a and sm_103a). Which random bits serve which element
 * follows published measurements of e4m3x4; below the normal range the bits are aligned to the
 * result's unit.
 */
NUM_FN u32 num_stochastic(u32 m, s32 emin, u32 mantissa, u32 random, u32 count)
{
	s32 e = (s32)(m >> 23) - 127;
	s32 unit = e < emin ? emin : e;
	f64 scale = f64_bits((u64)(1023 + (s32)mantissa - unit) << 52);
	f64 scaled = (f64)f32_bits(m < NUM_INF_F32 ? m : 0) * scale;
	f64 whole = __builtin_floor(scaled);
	u32 frac = (u32)(s32)((scaled - whole) * (f64)((u32)1 << count));
	u32 n = (u32)(s32)whole + ((frac + random) >> count);

	n += (u32)(unit - emin) << mantissa;
	return m < NUM_INF_F32 ? n : 0x7fffffffu;
}

NUM_FN u32 num_f16_stochastic(u32 u, u32 random, u32 mode)
{
	u32 n = num_stochastic(u & 0x7fffffffu, -14, 10, random & 0x1fffu, 13);
	u32 top = NUM_INF_F16 - (mode & NUM_SATFINITE ? 1 : 0);

	return num_dress_16(n < top ? n : top, u, 0x3c00u, mode);
}

NUM_FN u32 num_bf16_stochastic(u32 u, u32 random, u32 mode)
{
	u32 m = u & 0x7fffffffu, n = (m + (m < NUM_INF_F32 ? random & 0xffffu : 0)) >> 16;
	u32 top = NUM_INF_BF16 - (mode & NUM_SATFINITE ? 1 : 0);

	return num_dress_16(n < top ? n : top, u, 0x3f80u, mode);
}

/* cvt.rs{.relu}{.satfinite}.{f16x2,bf16x2}.f32 d, a, b, rbits: upper bits for a, lower for b. */
NUM_FN u32 num_f16x2_stochastic(u32 a, u32 b, u32 rbits, u32 mode)
{
	return num_f16_stochastic(a, rbits >> 16, mode) << 16 | num_f16_stochastic(b, rbits, mode);
}

NUM_FN u32 num_bf16x2_stochastic(u32 a, u32 b, u32 rbits, u32 mode)
{
	u32 high = num_bf16_stochastic(a, rbits >> 16, mode);

	return high << 16 | num_bf16_stochastic(b, rbits, mode);
}

NUM_FN u32 num_reverse_16(u32 x)
{
	x = (x >> 1 & 0x5555u) | (x & 0x5555u) << 1;
	x = (x >> 2 & 0x3333u) | (x & 0x3333u) << 2;
	x = (x >> 4 & 0x0f0fu) | (x & 0x0f0fu) << 4;
	return (x >> 8 & 0x00ffu) | (x & 0x00ffu) << 8;
}

/*
 * cvt.rs{.relu}.satfinite.TYPEx4.f32 d, {a, b, e, f}, rbits: v[0] is a, which takes the top place.
 * Each half of rbits serves two elements, the upper of them with the bits reversed.
 */
NUM_FN u32 num_minix4_stochastic(const u32 v[4], u32 rbits, struct num_mini f, u32 mode)
{
	u32 width = f.mantissa == 1 ? 4 : 8, r = 0;

	for (u32 i = 0; i < 4; i++) {
		u32 half = (i < 2 ? rbits >> 16 : rbits) & 0xffffu;
		u32 random = i & 1 ? half : num_reverse_16(half);
		u32 n = num_stochastic(v[i] & 0x7fffffffu, f.emin, f.mantissa, random, 16);

		r = r << width | num_mini_dress(n, v[i], f, mode);
	}
	return r;
}

/* cvt.pack.sat.TYPE.s32{.b32} d, a, b{, c}: c moves up, then a and b clamped to `bits`. */
NUM_FN u32 num_pack_signed(u32 a, u32 b, u32 c, u32 bits)
{
	u32 low = ((u32)1 << bits) - 1;
	u32 x = (u32)num_clamp_signed_s64((u64)(s64)(s32)a, bits) & low;
	u32 y = (u32)num_clamp_signed_s64((u64)(s64)(s32)b, bits) & low;

	return (u32)((u64)c << (2 * bits)) | x << bits | y;
}

NUM_FN u32 num_pack_unsigned(u32 a, u32 b, u32 c, u32 bits)
{
	u32 x = (u32)num_clamp_unsigned_s64((u64)(s64)(s32)a, bits);
	u32 y = (u32)num_clamp_unsigned_s64((u64)(s64)(s32)b, bits);

	return (u32)((u64)c << (2 * bits)) | x << bits | y;
}

#endif
