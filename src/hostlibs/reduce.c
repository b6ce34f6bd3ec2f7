/*
 * Reductions of buffers.
 */
#include "src/hostlibs/reduce.h"
#include "src/hostlibs/number.h"
#include "src/num/numeric_half.h"

#include <math.h>

u32 hl_element_bytes(enum hl_element type)
{
	static const u8 bytes[HL_REDUCE_TYPES] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

	return type < HL_REDUCE_TYPES ? bytes[type] : 0;
}

/* x op y for what C computes in `wide`; unsigned where integers may wrap. */
#define REDUCE(name, type, wide, max, min)                                                         \
	static void reduce_##name(enum hl_reduction op, type *to, const type *from, u64 n)         \
	{                                                                                          \
		switch (op) {                                                                      \
		case HL_SUM:                                                                       \
			for (u64 i = 0; i < n; i++)                                                \
				to[i] = (type)((wide)to[i] + (wide)from[i]);                       \
			break;                                                                     \
		case HL_PROD:                                                                      \
			for (u64 i = 0; i < n; i++)                                                \
				to[i] = (type)((wide)to[i] * (wide)from[i]);                       \
			break;                                                                     \
		case HL_MAX:                                                                       \
			for (u64 i = 0; i < n; i++)                                                \
				to[i] = max(to[i], from[i]);                                       \
			break;                                                                     \
		case HL_MIN:                                                                       \
			for (u64 i = 0; i < n; i++)                                                \
				to[i] = min(to[i], from[i]);                                       \
			break;                                                                     \
		case HL_REDUCTIONS:                                                                \
			break;                                                                     \
		}                                                                                  \
	}
#define INT_MAX_OF(x, y) ((x) > (y) ? (x) : (y))
#define INT_MIN_OF(x, y) ((x) < (y) ? (x) : (y))
REDUCE(s8, s8, u32, INT_MAX_OF, INT_MIN_OF)
REDUCE(u8, u8, u32, INT_MAX_OF, INT_MIN_OF)
REDUCE(s32, s32, u32, INT_MAX_OF, INT_MIN_OF)
REDUCE(u32, u32, u32, INT_MAX_OF, INT_MIN_OF)
REDUCE(s64, s64, u64, INT_MAX_OF, INT_MIN_OF)
REDUCE(u64, u64, u64, INT_MAX_OF, INT_MIN_OF)
REDUCE(f32, f32, f32, fmaxf, fminf)
REDUCE(f64, f64, f64, fmax, fmin)

static f32 reduce_one(enum hl_reduction op, f32 x, f32 y)
{
	return op == HL_SUM    ? x + y
	       : op == HL_PROD ? x * y
	       : op == HL_MAX  ? fmaxf(x, y)
			       : fminf(x, y);
}

/* Sums and products of these are rounded once. */
#define REDUCE_16(name)                                                                            \
	static void reduce_##name(enum hl_reduction op, u16 *to, const u16 *from, u64 n)           \
	{                                                                                          \
		for (u64 i = 0; i < n; i++) {                                                      \
			f32 x = f32_bits(num_widen_##name(to[i]));                                 \
			f32 y = f32_bits(num_widen_##name(from[i]));                               \
                                                                                                   \
			to[i] = op == HL_SUM    ? (u16)num_add_##name(to[i], from[i], NUM_RN)      \
				: op == HL_PROD ? (u16)num_mul_##name(to[i], from[i], NUM_RN)      \
						: (u16)num_##name##_from_f32(                      \
							  bits_f32(reduce_one(op, x, y)), NUM_RN); \
		}                                                                                  \
	}
REDUCE_16(f16)
REDUCE_16(bf16)

static void reduce_8(u32 type, enum hl_reduction op, u8 *to, const u8 *from, u64 n)
{
	for (u64 i = 0; i < n; i++) {
		f32 x = (f32)hl_load(type, to + i).re, y = (f32)hl_load(type, from + i).re;

		hl_store(type, to + i, (struct hl_number){(f64)reduce_one(op, x, y), 0});
	}
}

void hl_reduce(enum hl_element type, enum hl_reduction op, void *to, const void *from, u64 n)
{
	switch (type) {
	case HL_REDUCE_S8:
		reduce_s8(op, to, from, n);
		break;
	case HL_REDUCE_U8:
		reduce_u8(op, to, from, n);
		break;
	case HL_REDUCE_S32:
		reduce_s32(op, to, from, n);
		break;
	case HL_REDUCE_U32:
		reduce_u32(op, to, from, n);
		break;
	case HL_REDUCE_S64:
		reduce_s64(op, to, from, n);
		break;
	case HL_REDUCE_U64:
		reduce_u64(op, to, from, n);
		break;
	case HL_REDUCE_F16:
		reduce_f16(op, to, from, n);
		break;
	case HL_REDUCE_F32:
		reduce_f32(op, to, from, n);
		break;
	case HL_REDUCE_F64:
		reduce_f64(op, to, from, n);
		break;
	case HL_REDUCE_BF16:
		reduce_bf16(op, to, from, n);
		break;
	case HL_REDUCE_E4M3:
		reduce_8(HL_E4M3, op, to, from, n);
		break;
	case HL_REDUCE_E5M2:
		reduce_8(HL_E5M2, op, to, from, n);
		break;
	case HL_REDUCE_TYPES:
		break;
	}
}

void hl_scale(enum hl_element type, void *to, const void *scalar, u64 n)
{
	u32 bytes = hl_element_bytes(type);

	for (u64 i = 0; i < n; i++)
		hl_reduce(type, HL_PROD, (u8 *)to + i * bytes, scalar, 1);
}

#define DIVIDE(type)                                                                               \
	do {                                                                                       \
		type *x = to;                                                                      \
                                                                                                   \
		for (u64 i = 0; i < n; i++)                                                        \
			x[i] = (type)(x[i] / (type)by);                                            \
	} while (0)

void hl_divide(enum hl_element type, void *to, u32 by, u64 n)
{
	if (type == HL_REDUCE_S8)
		for (u64 i = 0; i < n; i++)
			((s8 *)to)[i] = (s8)(((s8 *)to)[i] / (s32)by);
	else if (type == HL_REDUCE_U8)
		for (u64 i = 0; i < n; i++)
			((u8 *)to)[i] = (u8)(((u8 *)to)[i] / by);
	else if (type == HL_REDUCE_S32)
		DIVIDE(s32);
	else if (type == HL_REDUCE_U32)
		DIVIDE(u32);
	else if (type == HL_REDUCE_S64)
		DIVIDE(s64);
	else if (type == HL_REDUCE_U64)
		DIVIDE(u64);
}

void hl_reciprocal(enum hl_element type, void *out, u32 n)
{
	static const u32 types[HL_REDUCE_TYPES] = {
		[HL_REDUCE_F16] = HL_F16,   [HL_REDUCE_F32] = HL_F32,   [HL_REDUCE_F64] = HL_F64,
		[HL_REDUCE_BF16] = HL_BF16, [HL_REDUCE_E4M3] = HL_E4M3, [HL_REDUCE_E5M2] = HL_E5M2,
	};

	hl_store(types[type], out, (struct hl_number){1.0 / (f64)n, 0});
}
