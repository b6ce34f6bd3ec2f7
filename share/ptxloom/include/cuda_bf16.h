/*
 * Numbers of 16 bits with the exponent of f32 (bfloat16): conversions, arithmetic, comparisons, and
 * math in kernels.
 */
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__

#include "cuda_runtime.h"

#ifdef __cplusplus

#define PTXLOOM_16 static __host__ __device__ __inline__

typedef struct __align__(2) {
	unsigned short x;
} __nv_bfloat16_raw;
typedef struct __align__(4) {
	unsigned short x, y;
} __nv_bfloat162_raw;

struct __nv_bfloat16;
struct __nv_bfloat162;

/* ---- bits ---- */

/* The nearest, ties to even. */
PTXLOOM_16 unsigned short ptxloom_to_bfloat16(float f)
{
	unsigned u;

	__builtin_memcpy(&u, &f, 4);
	if ((u & 0x7fffffff) > 0x7f800000)
		return 0x7fff;
	return (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
PTXLOOM_16 unsigned short ptxloom_to_bfloat16_wide(double d)
{
	/* To f32 with the lost bits gathered in the last one, so that nothing is rounded twice. */
	float f = (float)d;
	unsigned u;

	__builtin_memcpy(&u, &f, 4);
	if ((double)f != d && d == d && !(u & 1) && (u & 0x7fffffff) < 0x7f800000)
		u = ((double)f < d) == (d > 0) ? u | 1 : u - 1;
	__builtin_memcpy(&f, &u, 4);
	return ptxloom_to_bfloat16(f);
}
PTXLOOM_16 float ptxloom_from_bfloat16(unsigned short h)
{
	unsigned u = (unsigned)h << 16;
	float f;

	__builtin_memcpy(&f, &u, 4);
	return f;
}

#define PTXLOOM_H __nv_bfloat16
#define PTXLOOM_H2 __nv_bfloat162
#define PTXLOOM_H_RAW __nv_bfloat16_raw
#define PTXLOOM_NAME(before, after) before##bfloat16##after
#define PTXLOOM_H_INFINITY 0x7f80
#include "ptxloom/float16.h"
#undef PTXLOOM_H
#undef PTXLOOM_H2
#undef PTXLOOM_H_RAW
#undef PTXLOOM_NAME
#undef PTXLOOM_H_INFINITY

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

PTXLOOM_16 __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 h) { return __nv_bfloat162(h, h); }
/* The product of two is exact in f32 and the sum in f64 is nearly so. */
PTXLOOM_16 __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
	return __nv_bfloat16((double)((float)a * (float)b) + (double)(float)c);
}

#undef PTXLOOM_16
#endif
#endif
