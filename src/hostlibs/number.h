/*
 * What the host computes with in place of a GPU's library: elements of every type that CUDA's
 * libraries have for matrices, as numbers. The values of the types are those of cudaDataType.
 */
#ifndef PL_HOSTLIBS_NUMBER_H
#define PL_HOSTLIBS_NUMBER_H

#include "src/base/base.h"

enum hl_type {
	HL_F32 = 0,
	HL_F64 = 1,
	HL_F16 = 2,
	HL_S8 = 3,
	HL_C32 = 4, /* complex: two of F32 */
	HL_C64 = 5, /* two of F64 */
	HL_U8 = 8,
	HL_S32 = 10,
	HL_BF16 = 14,
	HL_E4M3 = 28,
	HL_E5M2 = 29,
};

struct hl_number {
	f64 re, im;
};

/* Bytes of an element, 0: it is no type that is known. */
u32 hl_bytes(u32 type);

static inline bool hl_is_complex(u32 type)
{
	return type == HL_C32 || type == HL_C64;
}

/* Does a sum of products need f64? Sums of small integers are exact in it. */
static inline bool hl_is_wide(u32 type)
{
	return type == HL_F64 || type == HL_C64 || type == HL_S8 || type == HL_U8 || type == HL_S32;
}

struct hl_number hl_load(u32 type, const void *at);
/* Rounds to nearest even; integers and 8-bit floats saturate. A real type drops x.im. */
void hl_store(u32 type, void *at, struct hl_number x);

/*
 * n elements that lie `step` elements apart, as reals and imaginary parts. im: written for complex
 * types alone, `sign` times the element's.
 */
void hl_load_f32(u32 type, const u8 *at, s64 step, s64 n, f32 *re, f32 *im, f32 sign);
void hl_load_f64(u32 type, const u8 *at, s64 step, s64 n, f64 *re, f64 *im, f64 sign);

static inline struct hl_number hl_add(struct hl_number a, struct hl_number b)
{
	return (struct hl_number){a.re + b.re, a.im + b.im};
}

static inline struct hl_number hl_sub(struct hl_number a, struct hl_number b)
{
	return (struct hl_number){a.re - b.re, a.im - b.im};
}

/* Of reals no imaginary part may come into it: it may be infinite times zero. */
static inline struct hl_number hl_mul(struct hl_number a, struct hl_number b)
{
	if (a.im == 0 && b.im == 0)
		return (struct hl_number){a.re * b.re, 0};
	return (struct hl_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline struct hl_number hl_conj(struct hl_number a)
{
	return (struct hl_number){a.re, -a.im};
}

static inline bool hl_is_zero(struct hl_number a)
{
	return a.re == 0 && a.im == 0;
}

struct hl_number hl_div(struct hl_number a, struct hl_number b);
f64 hl_abs(struct hl_number a);

#endif
