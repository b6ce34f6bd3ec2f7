/*
 * Scalar and SIMD video instructions. PTX ISA "Video Instructions": vadd, vsub, vabsdiff, vmin,
 * vmax, vshl, vshr, vset, vmad and the two- and four-lane forms with vavrg.
 *
 * A rare family: the modifiers are data in one record per instruction, and one function serves
 * each shape.
 */
#ifndef PL_NUM_NUMERIC_VIDEO_H
#define PL_NUM_NUMERIC_VIDEO_H

#include "src/num/numeric_cmp.h"
#include "src/num/numeric_int.h"

enum num_video_op {
	NUM_VADD,
	NUM_VSUB,
	NUM_VABSDIFF,
	NUM_VMIN,
	NUM_VMAX,
	NUM_VAVRG,
	NUM_VSET,
	NUM_VSHL,
	NUM_VSHR,
};

/* What follows the operation: nothing, a merge into c, or a second operation with c. */
enum num_video_second {
	NUM_V2_NONE,
	NUM_V2_MERGE,
	NUM_V2_ADD,
	NUM_V2_MIN,
	NUM_V2_MAX,
};

/* Part of a word: all of it, byte 0..3, half 0..1. */
enum num_video_part {
	NUM_VPART_WORD,
	NUM_VPART_B0,
	NUM_VPART_B1,
	NUM_VPART_B2,
	NUM_VPART_B3,
	NUM_VPART_H0,
	NUM_VPART_H1,
};

struct num_video {
	u8 op;     /* enum num_video_op */
	u8 second; /* enum num_video_second */
	u8 cmp;    /* enum num_cmp, vset only */
	u8 a_part; /* enum num_video_part, scalar forms */
	u8 b_part;
	u8 d_part; /* of the result, for saturation and merge */
	bool a_signed;
	bool b_signed;
	bool d_signed;
	bool sat;
	bool wrap;   /* vshl, vshr: count modulo 32, else clamped to 32 */
	u8 mask;     /* SIMD: bit i = lane i is computed, else taken from c */
	u8 a_sel[4]; /* SIMD: for lane i, which element of b:a (0 = lowest of a) */
	u8 b_sel[4];
};

struct num_vmad {
	u8 a_part;
	u8 b_part;
	bool a_signed;
	bool b_signed;
	bool negate_product;
	bool negate_c;
	bool plus_one; /* .po */
	bool sat;
	u8 shift; /* 0, 7 or 15 */
};

NUM_FN u32 num_video_width(u32 part)
{
	return part == NUM_VPART_WORD ? 32 : part < NUM_VPART_H0 ? 8 : 16;
}

NUM_FN u32 num_video_shift(u32 part)
{
	if (part == NUM_VPART_WORD)
		return 0;
	return part < NUM_VPART_H0 ? 8 * (part - NUM_VPART_B0) : 16 * (part - NUM_VPART_H0);
}

NUM_FN s64 num_video_extend(u32 x, u32 width, bool is_signed)
{
	u64 w = (u64)x << (64 - width);

	return is_signed ? (s64)w >> (64 - width) : (s64)(w >> (64 - width));
}

/* One part of a word, extended. */
NUM_FN s64 num_video_take(u32 x, u32 part, bool is_signed)
{
	return num_video_extend(x >> num_video_shift(part), num_video_width(part), is_signed);
}

NUM_FN s64 num_video_clamp(s64 v, u32 width, bool is_signed)
{
	s64 max = is_signed ? ((s64)1 << (width - 1)) - 1 : ((s64)1 << width) - 1;
	s64 min = is_signed ? -((s64)1 << (width - 1)) : 0;

	return v > max ? max : v < min ? min : v;
}

/* The first operation on exact operands. Averages round half away from zero. */
NUM_FN s64 num_video_first(const struct num_video *v, s64 a, s64 b)
{
	s64 sum = a + b;

	switch ((enum num_video_op)v->op) {
	case NUM_VADD:
		return sum;
	case NUM_VSUB:
		return a - b;
	case NUM_VABSDIFF:
		return a > b ? a - b : b - a;
	case NUM_VMIN:
		return a < b ? a : b;
	case NUM_VMAX:
		return a > b ? a : b;
	case NUM_VAVRG:
		return (sum + (sum >= 0)) >> 1;
	case NUM_VSET:
		return num_cmp_facts(a < b, a == b, false, (enum num_cmp)v->cmp);
	case NUM_VSHL:
		return (s64)((u64)a << b);
	case NUM_VSHR:
		return a >> b;
	}
	return 0;
}

/*
 * .sat of the scalar forms, as the assembler's emulation does it. Shifts see 34 bits and clamp to
 * the word, whatever the part; the others clamp to the part from above only, where a negative
 * counts as large, and to an unsigned word from below only. What a shift leaves reads as a signed
 * word afterwards.
 */
NUM_FN s64 num_video_saturate(const struct num_video *v, s64 r)
{
	u32 width = num_video_width(v->d_part);
	s64 max = v->d_signed ? ((s64)1 << (width - 1)) - 1 : ((s64)1 << width) - 1;

	if (v->op == NUM_VSHL || v->op == NUM_VSHR)
		return (s32)(u32)num_video_clamp((s64)((u64)r << 30) >> 30, 32, v->d_signed);
	if (width < 32)
		return r < 0 || r > max ? max : r;
	if (v->d_signed)
		return num_video_clamp(r, 32, true);
	return r < 0 ? 0 : r;
}

/* The second operation: min and max compare all of r, which may have more than 32 bits. */
NUM_FN u32 num_video_second(const struct num_video *v, s64 r, u32 c)
{
	u32 t = (u32)r;
	u32 width = num_video_width(v->d_part), shift = num_video_shift(v->d_part);
	u32 field = (width == 32 ? ~(u32)0 : ((u32)1 << width) - 1) << shift;
	bool less = v->d_signed ? r < (s64)(s32)c : (u64)r < (u64)c;

	switch ((enum num_video_second)v->second) {
	case NUM_V2_NONE:
		return t;
	case NUM_V2_MERGE:
		/*
		 * The upper half is merged in place: its own upper half, not the lower one moved
		 * up.
		 */
		return ((v->d_part == NUM_VPART_H1 ? t : t << shift) & field) | (c & ~field);
	case NUM_V2_ADD:
		return t + c;
	case NUM_V2_MIN:
		return less ? t : c;
	case NUM_V2_MAX:
		return less ? c : t;
	}
	return 0;
}

/* Scalar forms: vadd, vsub, vabsdiff, vmin, vmax, vset, vshl, vshr. */
NUM_COLD u32 num_video_scalar(const struct num_video *v, u32 a, u32 b, u32 c)
{
	s64 ta = num_video_take(a, v->a_part, v->a_signed);
	s64 tb = num_video_take(b, v->b_part, v->b_signed);
	s64 r;

	if (v->op == NUM_VSHL || v->op == NUM_VSHR)
		tb = v->wrap ? tb & 31 : tb > 32 ? 32 : tb;
	r = num_video_first(v, ta, tb);
	if (v->sat)
		r = num_video_saturate(v, r);
	/* Sums and differences pass as signed words to what follows. */
	if (v->op == NUM_VADD || v->op == NUM_VSUB)
		r = (s32)(u32)r;
	return num_video_second(v, r, c);
}

/* SIMD forms of 2 or 4 lanes. */
NUM_COLD u32 num_video_simd(const struct num_video *v, u32 a, u32 b, u32 c, u32 lanes)
{
	u32 width = 32 / lanes, low = ((u32)1 << width) - 1;
	u64 ba = (u64)b << 32 | a;
	u32 sum = 0, d = 0;

	for (u32 i = 0; i < lanes; i++) {
		s64 ta = num_video_extend((u32)(ba >> (width * v->a_sel[i])), width, v->a_signed);
		s64 tb = num_video_extend((u32)(ba >> (width * v->b_sel[i])), width, v->b_signed);
		s64 r = num_video_first(v, ta, tb);
		u32 field = low << (width * i);

		if (v->sat)
			r = num_video_clamp(r, width, v->d_signed);
		if (v->mask >> i & 1) {
			sum += (u32)r;
			d |= (u32)r << (width * i) & field;
		} else {
			d |= c & field;
		}
	}
	return v->second == NUM_V2_ADD ? c + sum : d;
}

/*
 * vmad: a * b + c in 64 bits, one subtraction allowed, shifted right and saturated. The result is
 * signed if an operand is or anything is negated. Whole words and c read as signed in any case, as
 * the assembler's emulation has it.
 */
NUM_COLD u32 num_video_vmad(const struct num_vmad *v, u32 a, u32 b, u32 c)
{
	bool is_signed = v->a_signed || v->b_signed || v->negate_product || v->negate_c;
	s64 ta = num_video_take(a, v->a_part, v->a_signed || v->a_part == NUM_VPART_WORD);
	s64 tb = num_video_take(b, v->b_part, v->b_signed || v->b_part == NUM_VPART_WORD);
	u64 p = (u64)(ta * tb), tc = (u64)(s64)(s32)c;

	p = v->negate_product ? -p : p;
	p += (v->negate_c ? -tc : tc) + v->plus_one;
	p = is_signed ? (u64)((s64)p >> v->shift) : p >> v->shift;
	return v->sat ? (u32)num_video_clamp((s64)p, 32, is_signed) : (u32)p;
}

#endif
