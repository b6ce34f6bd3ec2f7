/*
 * Bit counting, fields and permutations. PTX ISA "Integer Arithmetic Instructions": popc, clz,
 * bfind, fns, brev, bfe, bfi, szext, bmsk; "Data Movement and Conversion Instructions: prmt".
 */
#ifndef PL_NUM_NUMERIC_BITS_H
#define PL_NUM_NUMERIC_BITS_H

#include "src/num/numeric_int.h"

NUM_FN u32 num_popc_b32(u32 x)
{
	x -= x >> 1 & 0x55555555u;
	x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
	x = (x + (x >> 4)) & 0x0f0f0f0fu;
	x += x >> 8;
	return (x + (x >> 16)) & 63;
}

NUM_FN u32 num_popc_b64(u64 x)
{
	return num_popc_b32((u32)x) + num_popc_b32((u32)(x >> 32));
}

/*
 * clz of 0 is the width. The exponent of an f32 tells the highest one; without the bit below it
 * the number cannot round up to the next power of two.
 */
NUM_FN u32 num_clz_b32(u32 x)
{
	u32 e = bits_f32((f32)(s32)(x & ~(x >> 1))) >> 23;

	return (s32)x < 0 ? 0 : x ? 158 - e : 32;
}

NUM_FN u32 num_clz_b64(u64 x)
{
	u32 hi = (u32)(x >> 32);

	return hi ? num_clz_b32(hi) : 32 + num_clz_b32((u32)x);
}

/*
 * bfind: place of the highest one; signed types look at the inverse of a negative. 0xffffffff if
 * none.
 */
NUM_FN u32 num_bfind_u32(u32 x, bool shiftamt)
{
	u32 pos = 31 - num_clz_b32(x);

	return x && shiftamt ? 31 - pos : pos;
}

NUM_FN u32 num_bfind_s32(u32 x, bool shiftamt)
{
	return num_bfind_u32(x ^ (u32)((s32)x >> 31), shiftamt);
}

NUM_FN u32 num_bfind_u64(u64 x, bool shiftamt)
{
	u32 pos = 63 - num_clz_b64(x);

	return x && shiftamt ? 63 - pos : pos;
}

NUM_FN u32 num_bfind_s64(u64 x, bool shiftamt)
{
	return num_bfind_u64(x ^ (u64)((s64)x >> 63), shiftamt);
}

NUM_FN u32 num_brev_b32(u32 x)
{
	x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
	x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
	x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
	x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
	return x >> 16 | x << 16;
}

NUM_FN u64 num_brev_b64(u64 x)
{
	return (u64)num_brev_b32((u32)x) << 32 | num_brev_b32((u32)(x >> 32));
}

/*
 * Low half of the product of two polynomials over GF(2). Factors with three zero bits between those
 * that count leave room for the carries of an integer product: up to 16 ones meet in a column, and
 * 16 only in the last.
 */
NUM_FN u64 num_clmul_lo_u64(u64 a, u64 b)
{
	const u64 m = 0x1111111111111111u;
	u64 a0 = a & m, a1 = a & m << 1, a2 = a & m << 2, a3 = a & m << 3;
	u64 b0 = b & m, b1 = b & m << 1, b2 = b & m << 2, b3 = b & m << 3;

	return (((a0 * b0) ^ (a1 * b3) ^ (a2 * b2) ^ (a3 * b1)) & m) |
	       (((a0 * b1) ^ (a1 * b0) ^ (a2 * b3) ^ (a3 * b2)) & m << 1) |
	       (((a0 * b2) ^ (a1 * b1) ^ (a2 * b0) ^ (a3 * b3)) & m << 2) |
	       (((a0 * b3) ^ (a1 * b2) ^ (a2 * b1) ^ (a3 * b0)) & m << 3);
}

/* High half: the low half of the product of the reversed factors, reversed, has bits 126..63. */
NUM_FN u64 num_clmul_hi_u64(u64 a, u64 b)
{
	return num_brev_b64(num_clmul_lo_u64(num_brev_b64(a), num_brev_b64(b))) >> 1;
}

/*
 * bfe: `len` bits of a from `pos`. Bits beyond the top read as the sign: that of the field's last
 * bit or of the operand's, 0 for unsigned types. The 32-bit forms look at the low 8 bits of pos
 * and len; the 64-bit forms, which the assembler emulates, at all of them.
 */
NUM_FN u32 num_bfe_u32(u32 a, u32 pos, u32 len)
{
	pos &= 0xff;
	len &= 0xff;
	return num_shr_u32(a, pos) & (len < 32 ? ((u32)1 << (len & 31)) - 1 : ~(u32)0);
}

NUM_FN u64 num_bfe_u64(u64 a, u32 pos, u32 len)
{
	return num_shr_u64(a, pos) & (len < 64 ? ((u64)1 << (len & 63)) - 1 : ~(u64)0);
}

NUM_FN u32 num_bfe_s32(u32 a, u32 pos, u32 len)
{
	u32 x = num_shr_s32(a, pos & 0xff);
	u32 drop = 32 - ((len & 0xff) < 32 ? len & 0xff : 32);

	return drop < 32 ? (u32)((s32)(x << (drop & 31)) >> (drop & 31)) : 0;
}

NUM_FN u64 num_bfe_s64(u64 a, u32 pos, u32 len)
{
	u64 x = num_shr_s64(a, pos);
	u32 drop = 64 - (len < 64 ? len : 64);

	return drop < 64 ? (u64)((s64)(x << (drop & 63)) >> (drop & 63)) : 0;
}

/*
 * bfe.s32 with constants for both pos and len: the assembler folds pos beyond the word to all
 * ones. Decoders choose this one for such an instruction.
 */
NUM_FN u32 num_bfe_folded_s32(u32 a, u32 pos, u32 len)
{
	return (pos & 0xff) > 31 && (len & 0xff) ? ~(u32)0 : num_bfe_s32(a, pos, len);
}

/* bfi: the low `len` bits of a into b at `pos`; what passes the top is dropped. */
NUM_FN u32 num_bfi_b32(u32 a, u32 b, u32 pos, u32 len)
{
	u32 ones, mask;

	pos &= 0xff;
	len &= 0xff;
	ones = len < 32 ? ((u32)1 << (len & 31)) - 1 : ~(u32)0;
	mask = num_shl_b32(ones, pos);
	return (num_shl_b32(a, pos) & mask) | (b & ~mask);
}

NUM_FN u64 num_bfi_b64(u64 a, u64 b, u32 pos, u32 len)
{
	u64 ones, mask;

	ones = len < 64 ? ((u64)1 << (len & 63)) - 1 : ~(u64)0;
	mask = num_shl_b64(ones, pos);
	return (num_shl_b64(a, pos) & mask) | (b & ~mask);
}

/*
 * fns: place of the nth one of `mask` counted from `base`: offset 0 asks for base itself, n > 0
 * upward and n < 0 downward, base included. 0xffffffff if there is none, but 0 for the most
 * negative offset.
 */
NUM_FN u32 num_fns_b32(u32 mask, u32 base, u32 offset)
{
	s32 n = (s32)offset;
	u32 found = ~(u32)0;
	s32 seen = 0;

	if (offset == NUM_S32_MIN)
		return 0;
	if (base > 31)
		return found;
	if (n == 0)
		return mask >> base & 1 ? base : found;
	for (u32 i = 0; i < 32; i++) {
		u32 place = n > 0 ? base + i : base - i;

		seen += place < 32 && (mask >> (place & 31) & 1);
		found = found == ~(u32)0 && seen == (n > 0 ? n : -n) ? place : found;
	}
	return found;
}

/* szext: keep N = b & 31 bits of a, extended by sign or zero; .clamp: 32 and more keeps all. */
NUM_FN u32 num_szext_u32(u32 a, u32 b, bool clamp)
{
	u32 keep = ((u32)1 << (b & 31)) - 1;

	return clamp && b > 31 ? a : a & keep;
}

NUM_FN u32 num_szext_s32(u32 a, u32 b, bool clamp)
{
	u32 n = b & 31, drop = (32 - n) & 31;
	u32 r = n ? (u32)((s32)(a << drop) >> drop) : 0;

	return clamp && b > 31 ? a : r;
}

/* bmsk: b ones from bit a up; .wrap takes both modulo 32. */
NUM_FN u32 num_bmsk_b32(u32 a, u32 b, bool clamp)
{
	u32 ones;

	if (!clamp) {
		a &= 31;
		b &= 31;
	}
	ones = b < 32 ? ((u32)1 << (b & 31)) - 1 : ~(u32)0;
	return num_shl_b32(ones, a);
}

/* One byte of the pair b:a by a selector nibble; bit 3 replicates its sign. */
NUM_FN u32 num_pick_byte(u64 ba, u32 nibble)
{
	u32 byte = (u32)(ba >> (nibble << 3 & 56)) & 0xffu;

	return nibble & 8 ? (byte & 0x80u ? 0xffu : 0) : byte;
}

NUM_FN u32 num_prmt_b32(u32 a, u32 b, u32 selectors)
{
	u64 ba = (u64)b << 32 | a;

	u32 r = num_pick_byte(ba, selectors & 15);

	r |= num_pick_byte(ba, selectors >> 4 & 15) << 8;
	r |= num_pick_byte(ba, selectors >> 8 & 15) << 16;
	return r | num_pick_byte(ba, selectors >> 12 & 15) << 24;
}

enum num_prmt {
	NUM_PRMT_F4E,
	NUM_PRMT_B4E,
	NUM_PRMT_RC8,
	NUM_PRMT_ECL,
	NUM_PRMT_ECR,
	NUM_PRMT_RC16,
};

/* The named modes are selector words made from the low two bits of c. */
NUM_FN u32 num_prmt_mode_b32(u32 a, u32 b, u32 c, enum num_prmt mode)
{
	static const u16 words[6][4] = {
		[NUM_PRMT_F4E] = {0x3210, 0x4321, 0x5432, 0x6543},
		[NUM_PRMT_B4E] = {0x5670, 0x6701, 0x7012, 0x0123},
		[NUM_PRMT_RC8] = {0x0000, 0x1111, 0x2222, 0x3333},
		[NUM_PRMT_ECL] = {0x3210, 0x3211, 0x3222, 0x3333},
		[NUM_PRMT_ECR] = {0x0000, 0x1110, 0x2210, 0x3210},
		[NUM_PRMT_RC16] = {0x1010, 0x3232, 0x1010, 0x3232},
	};

	return num_prmt_b32(a, b, words[mode][c & 3]);
}

#endif
