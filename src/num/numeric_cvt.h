/*
 * cvt between integers, f16, bf16, f32 and f64. PTX ISA "Data Movement and Conversion
 * Instructions: cvt". Narrow and packed formats (tf32, fp8, fp6, fp4, ue8m0, cvt.pack) are in
 * numeric_mini.h.
 *
 * Integer sources of 8 and 16 bits arrive extended to 32 bits by their type. Integer results
 * narrower than 32 bits come out extended to 32 bits by theirs. The rounding in `mode` stands for
 * .rni, .rzi, .rmi, .rpi where the result is a whole number.
 */
#ifndef PL_NUM_NUMERIC_CVT_H
#define PL_NUM_NUMERIC_CVT_H

#include "src/num/numeric_f64.h"
#include "src/num/numeric_half.h"

NUM_FN f32 num_whole_f32(f32 x, u32 mode)
{
	u32 rnd = mode & NUM_RND;

	return rnd == NUM_RN   ? __builtin_rintf(x)
	       : rnd == NUM_RZ ? __builtin_truncf(x)
	       : rnd == NUM_RM ? __builtin_floorf(x)
			       : __builtin_ceilf(x);
}

NUM_FN f64 num_whole_f64(f64 x, u32 mode)
{
	u32 rnd = mode & NUM_RND;

	return rnd == NUM_RN   ? __builtin_rint(x)
	       : rnd == NUM_RZ ? __builtin_trunc(x)
	       : rnd == NUM_RM ? __builtin_floor(x)
			       : __builtin_ceil(x);
}

/*
 * Float to integer. Always clamps. NaN gives 0, or the top bit alone if either side is a 64-bit
 * type.
 */

/* To a signed integer of `bits` <= 32. */
NUM_FN u32 num_signed_from_f32(u32 a, u32 bits, u32 mode)
{
	f32 x = num_whole_f32(f32_bits(num_flush_f32(a, mode)), mode);
	f32 lim = (f32)((u32)1 << (bits - 1));
	u32 top = (u32)1 << (bits - 1);
	bool over = x >= lim, under = x < -lim;
	s32 v = (s32)((over | under | (x != x)) ? 0.0f : x);

	return over ? top - 1 : under ? -top : (u32)v;
}

/* To an unsigned integer of `bits` <= 32. */
NUM_FN u32 num_unsigned_from_f32(u32 a, u32 bits, u32 mode)
{
	f32 x = num_whole_f32(f32_bits(num_flush_f32(a, mode)), mode);
	f32 lim = 2.0f * (f32)((u32)1 << (bits - 1));
	bool over = x >= lim, in = (x > 0.0f) & !over;
	bool high = in & (x >= 0x1p31f);
	s32 v = (s32)((in ? x : 0.0f) - (high ? 0x1p31f : 0.0f));

	return over ? ~(u32)0 >> (32 - bits) : (u32)v + ((u32)high << 31);
}

NUM_FN u64 num_s64_from_f64_value(f64 x)
{
	bool over = x >= 0x1p63, under = x < -0x1p63;
	s64 v = (s64)((over | under | (x != x)) ? 0.0 : x);

	return over ? NUM_SIGN_F64 - 1 : (under | (x != x)) ? NUM_SIGN_F64 : (u64)v;
}

NUM_FN u64 num_u64_from_f64_value(f64 x)
{
	bool over = x >= 0x1p64, in = (x > 0.0) & !over, high = in & (x >= 0x1p63);
	s64 v = (s64)((in ? x : 0.0) - (high ? 0x1p63 : 0.0));

	return over ? ~(u64)0 : x != x ? NUM_SIGN_F64 : (u64)v + ((u64)high << 63);
}

NUM_FN u64 num_s64_from_f32(u32 a, u32 mode)
{
	return num_s64_from_f64_value((f64)num_whole_f32(f32_bits(num_flush_f32(a, mode)), mode));
}

NUM_FN u64 num_u64_from_f32(u32 a, u32 mode)
{
	return num_u64_from_f64_value((f64)num_whole_f32(f32_bits(num_flush_f32(a, mode)), mode));
}

NUM_FN u64 num_s64_from_f64(u64 a, u32 mode)
{
	return num_s64_from_f64_value(num_whole_f64(f64_bits(a), mode));
}

NUM_FN u64 num_u64_from_f64(u64 a, u32 mode)
{
	return num_u64_from_f64_value(num_whole_f64(f64_bits(a), mode));
}

NUM_FN u32 num_signed_from_f64(u64 a, u32 bits, u32 mode)
{
	f64 x = num_whole_f64(f64_bits(a), mode);
	u32 top = (u32)1 << (bits - 1);
	f64 lim = (f64)top;
	bool over = x >= lim, under = x < -lim;
	s32 v = (s32)((over | under | (x != x)) ? 0.0 : x);

	return over ? top - 1 : (under | (x != x)) ? -top : (u32)v;
}

NUM_FN u32 num_unsigned_from_f64(u64 a, u32 bits, u32 mode)
{
	f64 x = num_whole_f64(f64_bits(a), mode);
	u32 top = (u32)1 << (bits - 1);
	f64 lim = 2.0 * (f64)top;
	bool over = x >= lim, in = (x > 0.0) & !over, high = in & (x >= 0x1p31);
	s32 v = (s32)((in ? x : 0.0) - (high ? 0x1p31 : 0.0));

	return over ? ~(u32)0 >> (32 - bits) : x != x ? top : (u32)v + ((u32)high << 31);
}

/* f16 and bf16 sources: widen, then as f32. */
#define NUM_DEFINE_INT_FROM_HALF(type)                                                             \
	NUM_FN u32 num_signed_from_##type(u32 a, u32 bits, u32 mode)                               \
	{                                                                                          \
		return num_signed_from_f32(num_widen_##type(a), bits, mode);                       \
	}                                                                                          \
	NUM_FN u32 num_unsigned_from_##type(u32 a, u32 bits, u32 mode)                             \
	{                                                                                          \
		return num_unsigned_from_f32(num_widen_##type(a), bits, mode);                     \
	}                                                                                          \
	NUM_FN u64 num_s64_from_##type(u32 a, u32 mode)                                            \
	{                                                                                          \
		return num_s64_from_f32(num_widen_##type(a), mode);                                \
	}                                                                                          \
	NUM_FN u64 num_u64_from_##type(u32 a, u32 mode)                                            \
	{                                                                                          \
		return num_u64_from_f32(num_widen_##type(a), mode);                                \
	}

NUM_DEFINE_INT_FROM_HALF(f16)
NUM_DEFINE_INT_FROM_HALF(bf16)

/* Integer to float. 32 bits are exact in f64; 64 bits become an odd f64 first. */

NUM_FN f64 num_odd_f64_from_s64(u64 a)
{
	return num_sum_odd_f64((f64)(s32)(a >> 32) * 0x1p32, (f64)(u32)a);
}

NUM_FN f64 num_odd_f64_from_u64(u64 a)
{
	return num_sum_odd_f64((f64)(u32)(a >> 32) * 0x1p32, (f64)(u32)a);
}

NUM_FN u32 num_f32_from_s32(u32 a, u32 mode)
{
	if ((mode & NUM_RND) == NUM_RN)
		return num_sat_f32(bits_f32((f32)(s32)a), mode);
	return num_sat_f32(num_narrow_f32((f64)(s32)a, mode), mode);
}

NUM_FN u32 num_f32_from_u32(u32 a, u32 mode)
{
	return num_sat_f32(num_narrow_f32((f64)a, mode), mode);
}

NUM_FN u32 num_f32_from_s64(u64 a, u32 mode)
{
	return num_sat_f32(num_narrow_f32(num_odd_f64_from_s64(a), mode), mode);
}

NUM_FN u32 num_f32_from_u64(u64 a, u32 mode)
{
	return num_sat_f32(num_narrow_f32(num_odd_f64_from_u64(a), mode), mode);
}

NUM_FN u32 num_f16_from_s32(u32 a, u32 mode)
{
	return num_f16_from_f32(num_narrow_odd_f32((f64)(s32)a), mode);
}

NUM_FN u32 num_f16_from_u32(u32 a, u32 mode)
{
	return num_f16_from_f32(num_narrow_odd_f32((f64)a), mode);
}

NUM_FN u32 num_f16_from_s64(u64 a, u32 mode)
{
	return num_f16_from_f32(num_narrow_odd_f32(num_odd_f64_from_s64(a)), mode);
}

NUM_FN u32 num_f16_from_u64(u64 a, u32 mode)
{
	return num_f16_from_f32(num_narrow_odd_f32(num_odd_f64_from_u64(a)), mode);
}

NUM_FN u32 num_bf16_from_s32(u32 a, u32 mode)
{
	return num_bf16_from_f32(num_narrow_odd_f32((f64)(s32)a), mode);
}

NUM_FN u32 num_bf16_from_u32(u32 a, u32 mode)
{
	return num_bf16_from_f32(num_narrow_odd_f32((f64)a), mode);
}

NUM_FN u32 num_bf16_from_s64(u64 a, u32 mode)
{
	return num_bf16_from_f32(num_narrow_odd_f32(num_odd_f64_from_s64(a)), mode);
}

NUM_FN u32 num_bf16_from_u64(u64 a, u32 mode)
{
	return num_bf16_from_f32(num_narrow_odd_f32(num_odd_f64_from_u64(a)), mode);
}

/* .sat on f64: as on f32. */
NUM_FN u64 num_sat_f64(u64 u, u32 mode)
{
	f64 x = f64_bits(u);

	if (!(mode & NUM_SAT))
		return u;
	return x > 0.0 ? (x < 1.0 ? u : 0x3ff0000000000000u) : 0;
}

NUM_FN u64 num_f64_from_s32(u32 a, u32 mode)
{
	return num_sat_f64(bits_f64((f64)(s32)a), mode);
}

NUM_FN u64 num_f64_from_u32(u32 a, u32 mode)
{
	return num_sat_f64(bits_f64((f64)a), mode);
}

NUM_FN u64 num_f64_from_s64(u64 a, u32 mode)
{
	u64 hi = bits_f64((f64)(s32)(a >> 32) * 0x1p32), lo = bits_f64((f64)(u32)a);

	if ((mode & NUM_RND) == NUM_RN)
		return num_sat_f64(bits_f64(f64_bits(hi) + f64_bits(lo)), mode);
	/* Zero is +0 in every rounding. */
	return a ? num_sat_f64(num_add_directed_f64(hi, lo, mode), mode) : 0;
}

NUM_FN u64 num_f64_from_u64(u64 a, u32 mode)
{
	u64 hi = bits_f64((f64)(u32)(a >> 32) * 0x1p32), lo = bits_f64((f64)(u32)a);

	if ((mode & NUM_RND) == NUM_RN)
		return num_sat_f64(bits_f64(f64_bits(hi) + f64_bits(lo)), mode);
	return a ? num_sat_f64(num_add_directed_f64(hi, lo, mode), mode) : 0;
}

/* Float to float. Widening is exact; .ftz flushes f32 on either side but not before f16. */

/*
 * A NaN narrowed from f64 keeps its sign and upper payload and comes out quiet; `keep` bits
 * survive.
 */
NUM_FN u32 num_narrow_nan_f64(u64 a, u32 width, u32 keep, u32 inf)
{
	u32 sign = (u32)(a >> 63) << (width - 1), quiet = (u32)1 << keep;

	return sign | inf | quiet | ((u32)(a >> (51 - keep)) & (quiet - 1));
}

NUM_FN u32 num_f32_from_f64(u64 a, u32 mode)
{
	u32 r = num_finish_f32(f64_bits(a), mode);

	if (mode & NUM_SAT)
		return r;
	return num_is_nan_f64(a) ? num_narrow_nan_f64(a, 32, 22, NUM_INF_F32) : r;
}

NUM_FN u32 num_f16_from_f64(u64 a, u32 mode)
{
	u32 r = num_f16_from_f32(num_narrow_odd_f32(f64_bits(a)), mode);

	if (mode & NUM_SAT)
		return r;
	return num_is_nan_f64(a) ? num_narrow_nan_f64(a, 16, 9, NUM_INF_F16) : r;
}

NUM_FN u32 num_bf16_from_f64(u64 a, u32 mode)
{
	u32 r = num_bf16_from_f32(num_narrow_odd_f32(f64_bits(a)), mode);

	return num_is_nan_f64(a) ? num_narrow_nan_f64(a, 16, 6, NUM_INF_BF16) : r;
}

/* cvt{.rnd}{.ftz}{.sat}.bf16.f32 flushes its source; the same to f16 does not. */
NUM_FN u32 num_cvt_bf16_f32(u32 a, u32 mode)
{
	return num_bf16_from_f32(num_flush_f32(a, mode), mode);
}

NUM_FN u32 num_f32_from_f16(u32 a, u32 mode)
{
	return num_sat_f32(num_canon_f32(num_widen_f16(a)), mode);
}

/* A move of bits without .ftz, an operation with it. */
NUM_FN u32 num_f32_from_bf16(u32 a, u32 mode)
{
	u32 u = num_widen_bf16(a);

	return mode & NUM_FTZ ? num_canon_f32(num_flush_f32(u, mode)) : u;
}

NUM_FN u64 num_f64_from_f32(u32 a, u32 mode)
{
	if (mode & NUM_FTZ)
		a = num_canon_f32(a);
	return num_sat_f64(bits_f64((f64)f32_bits(num_flush_f32(a, mode))), mode);
}

NUM_FN u64 num_f64_from_f16(u32 a, u32 mode)
{
	return num_f64_from_f32(num_widen_f16(a), mode & ~(u32)NUM_FTZ);
}

NUM_FN u64 num_f64_from_bf16(u32 a, u32 mode)
{
	return num_f64_from_f32(num_widen_bf16(a), mode & ~(u32)NUM_FTZ);
}

NUM_FN u32 num_bf16_from_f16(u32 a, u32 mode)
{
	return num_bf16_from_f32(num_widen_f16(a), mode);
}

NUM_FN u32 num_f16_from_bf16(u32 a, u32 mode)
{
	return num_f16_from_f32(num_widen_bf16(a), mode);
}

/* cvt.T.T with .rni, .rzi, .rmi, .rpi: a whole number of the same type; the sign of zero stays. */
NUM_FN u32 num_round_f32(u32 a, u32 mode)
{
	f32 x = num_whole_f32(f32_bits(num_flush_f32(a, mode)), mode);

	return num_sat_f32(num_canon_f32(bits_f32(x)), mode);
}

NUM_FN u64 num_round_whole_f64(u64 a, u32 mode)
{
	u64 r = bits_f64(num_whole_f64(f64_bits(a), mode));

	return num_sat_f64(num_is_nan_f64(a) ? a | NUM_QUIET_F64 : r, mode);
}

NUM_FN u32 num_round_f16(u32 a, u32 mode)
{
	return num_f16_from_f32(num_round_f32(num_widen_f16(a), mode), NUM_RN);
}

NUM_FN u32 num_round_bf16(u32 a, u32 mode)
{
	return num_bf16_from_f32(num_round_f32(num_widen_bf16(a), mode), NUM_RN);
}

/* cvt.T.T without rounding: a move that may flush and saturate. */
NUM_FN u32 num_move_f32(u32 a, u32 mode)
{
	if (!(mode & (NUM_FTZ | NUM_SAT)))
		return a;
	return num_sat_f32(num_canon_f32(num_flush_f32(a, mode)), mode);
}

NUM_FN u64 num_move_f64(u64 a, u32 mode)
{
	return num_sat_f64(a, mode);
}

NUM_FN u32 num_move_f16(u32 a, u32 mode)
{
	return num_f16_from_f32(num_widen_f16(a), mode);
}

NUM_FN u32 num_move_bf16(u32 a, u32 mode)
{
	return num_bf16_from_f32(num_widen_bf16(a), mode);
}

/* Integer to integer. Plain cvt cuts to the low bits and extends by the destination's type. */

NUM_FN u64 num_extend_s64(u64 a, u32 bits)
{
	return (u64)((s64)(a << (64 - bits)) >> (64 - bits));
}

NUM_FN u64 num_extend_u64(u64 a, u32 bits)
{
	return a << (64 - bits) >> (64 - bits);
}

/* .sat to a signed type of `bits`, from a signed or an unsigned source extended to 64 bits. */
NUM_FN u64 num_clamp_signed_s64(u64 a, u32 bits)
{
	s64 max = (s64)(~(u64)0 >> (65 - bits)), min = -max - 1, v = (s64)a;

	return (u64)(v > max ? max : v < min ? min : v);
}

NUM_FN u64 num_clamp_signed_u64(u64 a, u32 bits)
{
	u64 max = ~(u64)0 >> (65 - bits);

	return a > max ? max : a;
}

/* .sat to an unsigned type of `bits`. */
NUM_FN u64 num_clamp_unsigned_s64(u64 a, u32 bits)
{
	u64 max = ~(u64)0 >> (64 - bits);

	return (s64)a < 0 ? 0 : a > max ? max : a;
}

NUM_FN u64 num_clamp_unsigned_u64(u64 a, u32 bits)
{
	u64 max = ~(u64)0 >> (64 - bits);

	return a > max ? max : a;
}

#endif
