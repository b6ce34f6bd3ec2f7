/*
 * Numbers of 16 bits, IEEE binary16: conversions, arithmetic, comparisons, and math in kernels.
 * Arithmetic is one instruction in kernels where that makes a difference to the result (fma).
 */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

#include "cuda_runtime.h"

#ifdef __cplusplus

#define PTXLOOM_16 static __host__ __device__ __inline__

typedef struct __align__(2) {
	unsigned short x;
} __half_raw;
typedef struct __align__(4) {
	unsigned short x, y;
} __half2_raw;

struct __half;
struct __half2;

/* ---- bits ---- */

/* The nearest, ties to even; float to binary16. */
PTXLOOM_16 unsigned short ptxloom_to_half(float f)
{
#ifdef __CUDA_ARCH__
	unsigned short h;

	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
	return h;
#else
	unsigned u, a, sign;

	__builtin_memcpy(&u, &f, 4);
	sign = u >> 16 & 0x8000;
	a = u & 0x7fffffff;
	if (a > 0x7f800000)
		return 0x7fff;
	if (a >= 0x477ff000)
		return (unsigned short)(sign | 0x7c00);
	if (a < 0x38800000) {
		/* Subnormal: the sum with 2^-1 rounds to steps of 2^-24. */
		float t;

		__builtin_memcpy(&t, &a, 4);
		t += 0.5f;
		__builtin_memcpy(&a, &t, 4);
		return (unsigned short)(sign | (a - 0x3f000000));
	}
	a += 0xfff + (a >> 13 & 1);
	return (unsigned short)(sign | ((a - 0x38000000) >> 13));
#endif
}
PTXLOOM_16 unsigned short ptxloom_to_half_wide(double d)
{
#ifdef __CUDA_ARCH__
	unsigned short h;

	asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h) : "d"(d));
	return h;
#else
	/* To f32 with the lost bits gathered in the last one, so that nothing is rounded twice. */
	float f = (float)d;
	unsigned u;

	__builtin_memcpy(&u, &f, 4);
	if ((double)f != d && d == d && !(u & 1) && (u & 0x7fffffff) < 0x7f800000)
		u = ((double)f < d) == (d > 0) ? u | 1 : u - 1;
	__builtin_memcpy(&f, &u, 4);
	return ptxloom_to_half(f);
#endif
}
PTXLOOM_16 float ptxloom_from_half(unsigned short h)
{
	float f;
#ifdef __CUDA_ARCH__
	asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
#else
	unsigned sign = (unsigned)(h & 0x8000) << 16, a = h & 0x7fff, u;

	if (a >= 0x7c00) {
		u = a << 13 | 0x7f800000;
	} else if (a >= 0x400) {
		u = (a << 13) + 0x38000000;
	} else {
		f = (float)a * 5.9604644775390625e-8f;
		__builtin_memcpy(&u, &f, 4);
	}
	u |= sign;
	__builtin_memcpy(&f, &u, 4);
#endif
	return f;
}

#define PTXLOOM_H __half
#define PTXLOOM_H2 __half2
#define PTXLOOM_H_RAW __half_raw
#define PTXLOOM_NAME(before, after) before##half##after
#define PTXLOOM_H_INFINITY 0x7c00
#include "ptxloom/float16.h"
#undef PTXLOOM_H
#undef PTXLOOM_H2
#undef PTXLOOM_H_RAW
#undef PTXLOOM_NAME
#undef PTXLOOM_H_INFINITY

typedef __half half;
typedef __half2 half2;

PTXLOOM_16 __half2 __half2half2(__half h) { return __half2(h, h); }
PTXLOOM_16 __half __hfma(__half a, __half b, __half c)
{
#ifdef __CUDA_ARCH__
	unsigned short r;

	asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
	return __ushort_as_half(r);
#else
	return __half((double)(float)a * (double)(float)b + (double)(float)c);
#endif
}

#undef PTXLOOM_16
#endif
#endif
