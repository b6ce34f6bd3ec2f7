/*
 * Element by element, as reductions between devices do it: sums, products and extremes of two
 * buffers, in the type of their elements.
 */
#ifndef PL_HOSTLIBS_REDUCE_H
#define PL_HOSTLIBS_REDUCE_H

#include "src/base/base.h"

/* Types of elements; the values are those of ncclDataType_t. */
enum hl_element {
	HL_REDUCE_S8,
	HL_REDUCE_U8,
	HL_REDUCE_S32,
	HL_REDUCE_U32,
	HL_REDUCE_S64,
	HL_REDUCE_U64,
	HL_REDUCE_F16,
	HL_REDUCE_F32,
	HL_REDUCE_F64,
	HL_REDUCE_BF16,
	HL_REDUCE_E4M3,
	HL_REDUCE_E5M2,
	HL_REDUCE_TYPES
};

/* The values are those of ncclRedOp_t. */
enum hl_reduction { HL_SUM, HL_PROD, HL_MAX, HL_MIN, HL_REDUCTIONS };

u32 hl_element_bytes(enum hl_element type);
static inline bool hl_element_is_integer(enum hl_element type)
{
	return type < HL_REDUCE_F16;
}
/* to[i] = to[i] op from[i], each rounded to the type. Integers wrap; max and min skip NaN. */
void hl_reduce(enum hl_element type, enum hl_reduction op, void *to, const void *from, u64 n);
/* to[i] = to[i] * scalar, of the same type. */
void hl_scale(enum hl_element type, void *to, const void *scalar, u64 n);
/* to[i] = to[i] / by, towards zero, of integers. */
void hl_divide(enum hl_element type, void *to, u32 by, u64 n);
/* 1 / n in a type of floats. */
void hl_reciprocal(enum hl_element type, void *out, u32 n);

#endif
