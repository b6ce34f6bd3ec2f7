/*
 * Comparisons of set, setp and their half-precision forms, and slct. PTX ISA "Comparison and
 * Selection Instructions", "Half Precision Comparison Instructions".
 *
 * Each gives one bool; the boolean combination and the shape of the result are the handler's.
 * Ordered comparisons are false and unordered ones true when an operand is NaN.
 */
#ifndef PL_NUM_NUMERIC_CMP_H
#define PL_NUM_NUMERIC_CMP_H

#include "src/num/numeric_half.h"

enum num_cmp {
	NUM_EQ,
	NUM_NE,
	NUM_LT,
	NUM_LE,
	NUM_GT,
	NUM_GE,
	NUM_EQU,
	NUM_NEU,
	NUM_LTU,
	NUM_LEU,
	NUM_GTU,
	NUM_GEU,
	NUM_NUM,
	NUM_ISNAN,
};

/* From the three facts about two numbers. */
NUM_FN bool num_cmp_facts(bool lt, bool eq, bool nan, enum num_cmp op)
{
	switch (op) {
	case NUM_EQ:
		return eq;
	case NUM_NE:
		return !eq && !nan;
	case NUM_LT:
		return lt;
	case NUM_LE:
		return lt || eq;
	case NUM_GT:
		return !lt && !eq && !nan;
	case NUM_GE:
		return !lt && !nan;
	case NUM_EQU:
		return eq || nan;
	case NUM_NEU:
		return !eq;
	case NUM_LTU:
		return lt || nan;
	case NUM_LEU:
		return lt || eq || nan;
	case NUM_GTU:
		return !lt && !eq;
	case NUM_GEU:
		return !lt;
	case NUM_NUM:
		return !nan;
	case NUM_ISNAN:
		return nan;
	}
	return false;
}

NUM_FN bool num_cmp_f32(u32 a, u32 b, enum num_cmp op, u32 mode)
{
	f32 x = f32_bits(num_flush_f32(a, mode)), y = f32_bits(num_flush_f32(b, mode));

	return num_cmp_facts(x < y, x == y, __builtin_isunordered(x, y), op);
}

NUM_FN bool num_cmp_f64(u64 a, u64 b, enum num_cmp op)
{
	f64 x = f64_bits(a), y = f64_bits(b);

	return num_cmp_facts(x < y, x == y, __builtin_isunordered(x, y), op);
}

NUM_FN bool num_cmp_f16(u32 a, u32 b, enum num_cmp op, u32 mode)
{
	a = num_widen_f16(num_flush_f16(a, mode));
	b = num_widen_f16(num_flush_f16(b, mode));
	return num_cmp_f32(a, b, op, 0);
}

NUM_FN bool num_cmp_bf16(u32 a, u32 b, enum num_cmp op)
{
	return num_cmp_f32(num_widen_bf16(a), num_widen_bf16(b), op, 0);
}

/* .lo, .ls, .hi, .hs are LT, LE, GT, GE of an unsigned type. */
NUM_FN bool num_cmp_u32(u32 a, u32 b, enum num_cmp op)
{
	return num_cmp_facts(a < b, a == b, false, op);
}

NUM_FN bool num_cmp_s32(u32 a, u32 b, enum num_cmp op)
{
	return num_cmp_facts((s32)a < (s32)b, a == b, false, op);
}

NUM_FN bool num_cmp_u64(u64 a, u64 b, enum num_cmp op)
{
	return num_cmp_facts(a < b, a == b, false, op);
}

NUM_FN bool num_cmp_s64(u64 a, u64 b, enum num_cmp op)
{
	return num_cmp_facts((s64)a < (s64)b, a == b, false, op);
}

/* slct: whether the first operand is taken. -0 counts as zero; NaN takes the second. */
NUM_FN bool num_slct_f32(u32 c, u32 mode)
{
	return f32_bits(num_flush_f32(c, mode)) >= 0.0f;
}

NUM_FN bool num_slct_s32(u32 c)
{
	return !(c >> 31);
}

#endif
