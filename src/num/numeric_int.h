/*
 * Integer arithmetic and bit operations. PTX ISA "Integer Arithmetic Instructions",
 * "Extended-Precision Integer Arithmetic Instructions", "Logic and Shift Instructions".
 *
 * Only operations that are more than one C operator appear here. 16-bit operands arrive extended
 * to 32 bits by their type. Division by zero gives all ones for quotient and remainder, as the
 * hardware does.
 */
#ifndef PL_NUM_NUMERIC_INT_H
#define PL_NUM_NUMERIC_INT_H

#include "src/num/numeric.h"

#define NUM_S32_MAX 0x7fffffffu
#define NUM_S32_MIN 0x80000000u

/* add.sat.s32, sub.sat.s32 */
NUM_FN u32 num_add_sat_s32(u32 a, u32 b)
{
	u32 r = a + b;
	u32 limit = NUM_S32_MAX + (a >> 31);

	return (~(a ^ b) & (a ^ r)) >> 31 ? limit : r;
}

NUM_FN u32 num_add_sat_u32(u32 a, u32 b)
{
	u32 r = a + b;

	return r < a ? ~(u32)0 : r;
}

NUM_FN u32 num_sub_sat_s32(u32 a, u32 b)
{
	u32 r = a - b;
	u32 limit = NUM_S32_MAX + (a >> 31);

	return ((a ^ b) & (a ^ r)) >> 31 ? limit : r;
}

NUM_FN u32 num_mul_hi_u32(u32 a, u32 b)
{
	return (u32)((u64)a * b >> 32);
}

NUM_FN u32 num_mul_hi_s32(u32 a, u32 b)
{
	return (u32)((u64)((s64)(s32)a * (s32)b) >> 32);
}

/* Four 32-bit products, which vectorise where a 128-bit one does not. */
NUM_FN u64 num_mul_hi_u64(u64 a, u64 b)
{
	u64 al = (u32)a, ah = a >> 32, bl = (u32)b, bh = b >> 32;
	u64 mid = ah * bl + (al * bl >> 32);
	u64 low = al * bh + (u32)mid;

	return ah * bh + (mid >> 32) + (low >> 32);
}

NUM_FN u64 num_mul_hi_s64(u64 a, u64 b)
{
	return num_mul_hi_u64(a, b) - ((u64)((s64)a >> 63) & b) - ((u64)((s64)b >> 63) & a);
}

/* 16-bit products: the result is again 16 bits, extended by its type. */
NUM_FN u32 num_mul_hi_u16(u32 a, u32 b)
{
	return (a & 0xffffu) * (b & 0xffffu) >> 16;
}

NUM_FN u32 num_mul_hi_s16(u32 a, u32 b)
{
	return (u32)((s32)(s16)a * (s32)(s16)b >> 16);
}

/* mul24: products of the low 24 bits; .hi is bits 47..16. */
NUM_FN u64 num_mul24_u32(u32 a, u32 b)
{
	return (u64)(a & 0xffffffu) * (b & 0xffffffu);
}

NUM_FN u64 num_mul24_s32(u32 a, u32 b)
{
	return (u64)((s64)((s32)(a << 8) >> 8) * ((s32)(b << 8) >> 8));
}

NUM_FN u32 num_mul24_lo_u32(u32 a, u32 b)
{
	return (u32)num_mul24_u32(a, b);
}

NUM_FN u32 num_mul24_hi_u32(u32 a, u32 b)
{
	return (u32)(num_mul24_u32(a, b) >> 16);
}

NUM_FN u32 num_mul24_lo_s32(u32 a, u32 b)
{
	return (u32)num_mul24_s32(a, b);
}

NUM_FN u32 num_mul24_hi_s32(u32 a, u32 b)
{
	return (u32)(num_mul24_s32(a, b) >> 16);
}

/* mad24.hi.sat.s32, mad.hi.sat.s32: only the final sum saturates. */
NUM_FN u32 num_mad24_hi_sat_s32(u32 a, u32 b, u32 c)
{
	return num_add_sat_s32(num_mul24_hi_s32(a, b), c);
}

NUM_FN u32 num_mad_hi_sat_s32(u32 a, u32 b, u32 c)
{
	return num_add_sat_s32(num_mul_hi_s32(a, b), c);
}

/* sad: c plus the exact distance. */
NUM_FN u32 num_sad_u32(u32 a, u32 b, u32 c)
{
	return c + (a > b ? a - b : b - a);
}

NUM_FN u32 num_sad_s32(u32 a, u32 b, u32 c)
{
	return c + ((s32)a > (s32)b ? a - b : b - a);
}

NUM_FN u64 num_sad_u64(u64 a, u64 b, u64 c)
{
	return c + (a > b ? a - b : b - a);
}

NUM_FN u64 num_sad_s64(u64 a, u64 b, u64 c)
{
	return c + ((s64)a > (s64)b ? a - b : b - a);
}

/*
 * Unsigned 32-bit quotient through f64, which vectorises: a / b rounded to 53 bits never reaches
 * the next whole number, as a * b' < 2^64 keeps a true quotient that far below it.
 */
NUM_FN u32 num_div_u32(u32 a, u32 b)
{
	f64 q = __builtin_trunc((f64)a / (f64)(b ? b : 1));
	u32 r = (u32)(s32)(q - 0x1p31) + NUM_S32_MIN;

	return b ? r : ~(u32)0;
}

NUM_FN u32 num_rem_u32(u32 a, u32 b)
{
	return b ? a - num_div_u32(a, b) * b : ~(u32)0;
}

NUM_FN u32 num_abs_s32(u32 a)
{
	return a >> 31 ? -a : a;
}

/* MIN / -1 is MIN. */
NUM_FN u32 num_div_s32(u32 a, u32 b)
{
	f64 q = (f64)(s32)a / (f64)(s32)(b ? b : 1);
	/* 2^31 itself is the one quotient that does not fit; as -2^31 it is the result. */
	u32 r = (u32)(s32)(q >= 0x1p31 ? -0x1p31 : q);

	return b ? r : ~(u32)0;
}

NUM_FN u32 num_rem_s32(u32 a, u32 b)
{
	return b ? a - num_div_s32(a, b) * b : ~(u32)0;
}

NUM_FN u32 num_div_u16(u32 a, u32 b)
{
	return num_div_u32(a, b) & 0xffffu;
}

NUM_FN u32 num_rem_u16(u32 a, u32 b)
{
	return num_rem_u32(a, b) & 0xffffu;
}

/* Results of the signed 16-bit forms come out extended. */
NUM_FN u32 num_div_s16(u32 a, u32 b)
{
	return (u32)(s32)(s16)num_div_s32(a, b);
}

NUM_FN u32 num_rem_s16(u32 a, u32 b)
{
	return (u32)(s32)(s16)num_rem_s32(a, b);
}

NUM_FN u64 num_div_u64(u64 a, u64 b)
{
	return b ? a / b : ~(u64)0;
}

NUM_FN u64 num_rem_u64(u64 a, u64 b)
{
	return b ? a % b : ~(u64)0;
}

NUM_FN u64 num_div_s64(u64 a, u64 b)
{
	if (!b)
		return ~(u64)0;
	return b == ~(u64)0 ? -a : (u64)((s64)a / (s64)b);
}

NUM_FN u64 num_rem_s64(u64 a, u64 b)
{
	if (!b)
		return ~(u64)0;
	return b == ~(u64)0 ? 0 : (u64)((s64)a % (s64)b);
}

/* Packed 16-bit integers: lanes never carry into each other. */
NUM_FN u32 num_add_16x2(u32 a, u32 b)
{
	return ((a & 0xffff0000u) + (b & 0xffff0000u)) | ((a + b) & 0xffffu);
}

NUM_FN u32 num_minmax_u16x2(u32 a, u32 b, bool max)
{
	u32 al = a & 0xffffu, bl = b & 0xffffu, ah = a >> 16, bh = b >> 16;
	u32 lo = (al < bl) != max ? al : bl, hi = (ah < bh) != max ? ah : bh;

	return hi << 16 | lo;
}

/* .relu: negative becomes 0 afterwards. */
NUM_FN u32 num_minmax_s16x2(u32 a, u32 b, bool max, u32 mode)
{
	s32 al = (s16)a, bl = (s16)b, ah = (s32)a >> 16, bh = (s32)b >> 16;
	s32 lo = (al < bl) != max ? al : bl, hi = (ah < bh) != max ? ah : bh;

	if (mode & NUM_RELU) {
		lo = lo < 0 ? 0 : lo;
		hi = hi < 0 ? 0 : hi;
	}
	return (u32)hi << 16 | ((u32)lo & 0xffffu);
}

/*
 * Packed 8-bit integers: the top bit of each byte is added apart, so that nothing is carried past
 * it.
 */
NUM_FN u32 num_add_8x4(u32 a, u32 b)
{
	return ((a & 0x7f7f7f7fu) + (b & 0x7f7f7f7fu)) ^ ((a ^ b) & 0x80808080u);
}

NUM_FN u32 num_sub_8x4(u32 a, u32 b)
{
	return ((a | 0x80808080u) - (b & 0x7f7f7f7fu)) ^ (~(a ^ b) & 0x80808080u);
}

/*
 * Element `i` of `bits` bits of a packed operand, and a value at the place of that element, clamped
 * to its range.
 */
NUM_FN s32 num_element(u32 x, u32 i, u32 bits, bool is_signed)
{
	u32 up = x << (32 - bits * (i + 1));

	return is_signed ? (s32)up >> (32 - bits) : (s32)(up >> (32 - bits));
}

NUM_FN u32 num_place_clamped(s32 r, u32 i, u32 bits, bool is_signed)
{
	s32 high = (s32)(((u32)1 << (bits - is_signed)) - 1), low = is_signed ? -high - 1 : 0;

	r = r < low ? low : r > high ? high : r;
	return ((u32)r & (((u32)1 << bits) - 1)) << (bits * i);
}

NUM_FN u32 num_add_sat_16x2(u32 a, u32 b, bool sign)
{
	u32 r = 0;

	for (u32 i = 0; i < 2; i++)
		r |= num_place_clamped(num_element(a, i, 16, sign) + num_element(b, i, 16, sign), i,
				       16, sign);
	return r;
}

NUM_FN u32 num_add_sat_8x4(u32 a, u32 b, bool sign)
{
	u32 r = 0;

	for (u32 i = 0; i < 4; i++)
		r |= num_place_clamped(num_element(a, i, 8, sign) + num_element(b, i, 8, sign), i,
				       8, sign);
	return r;
}

NUM_FN u32 num_sub_sat_8x4(u32 a, u32 b, bool sign)
{
	u32 r = 0;

	for (u32 i = 0; i < 4; i++)
		r |= num_place_clamped(num_element(a, i, 8, sign) - num_element(b, i, 8, sign), i,
				       8, sign);
	return r;
}

NUM_FN u32 num_minmax_8x4(u32 a, u32 b, bool max, bool sign, u32 mode)
{
	u32 r = 0;

	for (u32 i = 0; i < 4; i++) {
		s32 x = num_element(a, i, 8, sign), y = num_element(b, i, 8, sign),
		    v = (x < y) != max ? x : y;

		r |= num_place_clamped((mode & NUM_RELU) && v < 0 ? 0 : v, i, 8, sign);
	}
	return r;
}

NUM_FN u32 num_minmax_s32(u32 a, u32 b, bool max, u32 mode)
{
	u32 r = ((s32)a < (s32)b) != max ? a : b;

	return (mode & NUM_RELU) && r >> 31 ? 0 : r;
}

/* dp4a: four 8-bit products onto c; dp2a: 16-bit halves of a times two bytes of b. Wraps. */
NUM_FN u32 num_byte(u32 x, u32 i, bool is_signed)
{
	return is_signed ? (u32)((s32)(x << (24 - 8 * i)) >> 24) : x >> (8 * i) & 0xffu;
}

NUM_FN u32 num_half(u32 x, u32 i, bool is_signed)
{
	return is_signed ? (u32)((s32)(x << (16 - 16 * i)) >> 16) : x >> (16 * i) & 0xffffu;
}

NUM_FN u32 num_dp4a(u32 a, u32 b, u32 c, bool a_signed, bool b_signed)
{
	for (u32 i = 0; i < 4; i++)
		c += num_byte(a, i, a_signed) * num_byte(b, i, b_signed);
	return c;
}

/* `b` shifted beforehand selects: bytes 0 and 1 for .lo; pass b >> 16 for .hi. */
NUM_FN u32 num_dp2a(u32 a, u32 b, u32 c, bool a_signed, bool b_signed)
{
	for (u32 i = 0; i < 2; i++)
		c += num_half(a, i, a_signed) * num_byte(b, i, b_signed);
	return c;
}

/*
 * Extended precision. The flag is 0 or 1 in a u32. Subtraction adds the complement, so its flag is
 * a carry, not a borrow: `in` is 1 for sub.cc. The product forms carry out of the addition alone.
 */
NUM_FN u32 num_add_carry_u32(u32 a, u32 b, u32 in, u32 *out)
{
	u64 r = (u64)a + b + in;

	*out = (u32)(r >> 32);
	return (u32)r;
}

NUM_FN u32 num_sub_carry_u32(u32 a, u32 b, u32 in, u32 *out)
{
	return num_add_carry_u32(a, ~b, in, out);
}

NUM_FN u64 num_add_carry_u64(u64 a, u64 b, u32 in, u32 *out)
{
	u64 s = a + b, r = s + in;

	*out = (s < a) | (r < s);
	return r;
}

NUM_FN u64 num_sub_carry_u64(u64 a, u64 b, u32 in, u32 *out)
{
	return num_add_carry_u64(a, ~b, in, out);
}

/* Shifts: counts of the width and more behave as the width. */
NUM_FN u32 num_shl_b32(u32 a, u32 n)
{
	return n < 32 ? a << (n & 31) : 0;
}

NUM_FN u32 num_shr_u32(u32 a, u32 n)
{
	return n < 32 ? a >> (n & 31) : 0;
}

NUM_FN u32 num_shr_s32(u32 a, u32 n)
{
	return (u32)((s32)a >> (n < 31 ? n : 31));
}

NUM_FN u64 num_shl_b64(u64 a, u32 n)
{
	return n < 64 ? a << (n & 63) : 0;
}

NUM_FN u64 num_shr_u64(u64 a, u32 n)
{
	return n < 64 ? a >> (n & 63) : 0;
}

NUM_FN u64 num_shr_s64(u64 a, u32 n)
{
	return (u64)((s64)a >> (n < 63 ? n : 63));
}

NUM_FN u32 num_shl_b16(u32 a, u32 n)
{
	return (n < 16 ? a << (n & 15) : 0) & 0xffffu;
}

NUM_FN u32 num_shr_u16(u32 a, u32 n)
{
	return n < 16 ? (a & 0xffffu) >> (n & 15) : 0;
}

NUM_FN u32 num_shr_s16(u32 a, u32 n)
{
	return (u32)((s32)(s16)a >> (n < 15 ? n : 15));
}

/*
 * shf: b:a shifted by n, clamped to 32 or wrapped at 32; .l keeps the upper word, .r the lower.
 * Words of 32 bits throughout: hosts have twice as many lanes of them.
 */
NUM_FN u32 num_shf_l(u32 a, u32 b, u32 n, bool clamp)
{
	u32 by = n & 31, r = b << by | a >> 1 >> (31 - by);

	return clamp && n > 31 ? a : r;
}

NUM_FN u32 num_shf_r(u32 a, u32 b, u32 n, bool clamp)
{
	u32 by = n & 31, r = a >> by | b << 1 << (31 - by);

	return clamp && n > 31 ? b : r;
}

/*
 * lop3: bit (a << 2 | b << 1 | c) of the table per position. With a constant table this folds to
 * the operation itself.
 */
NUM_FN u32 num_lop3(u32 a, u32 b, u32 c, u32 lut)
{
	u32 r = 0;

	for (u32 i = 0; i < 8; i++)
		r |= -(lut >> i & 1) & (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
	return r;
}

/* cnot: 1 for zero, else 0. */
NUM_FN u64 num_cnot(u64 a)
{
	return !a;
}

#endif
