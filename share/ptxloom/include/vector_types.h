/*
 * Vectors of 1 to 4 numbers, and dim3. Alignment is that of the widest access: that of the whole
 * for 2 and 4, at most 16 bytes.
 */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#include "host_defines.h"

#define PTXLOOM_VECTOR(type, name)                                                         \
	typedef struct name##1 {                                                           \
		type x;                                                                    \
	} name##1;                                                                         \
	typedef struct __attribute__((aligned(2 * sizeof(type)))) name##2 {                \
		type x, y;                                                                 \
	} name##2;                                                                         \
	typedef struct name##3 {                                                           \
		type x, y, z;                                                              \
	} name##3;                                                                         \
	typedef struct __attribute__((aligned(sizeof(type) < 4 ? 4 * sizeof(type) : 16))) name##4 { \
		type x, y, z, w;                                                           \
	} name##4;

PTXLOOM_VECTOR(signed char, char)
PTXLOOM_VECTOR(unsigned char, uchar)
PTXLOOM_VECTOR(short, short)
PTXLOOM_VECTOR(unsigned short, ushort)
PTXLOOM_VECTOR(int, int)
PTXLOOM_VECTOR(unsigned, uint)
PTXLOOM_VECTOR(long, long)
PTXLOOM_VECTOR(unsigned long, ulong)
PTXLOOM_VECTOR(long long, longlong)
PTXLOOM_VECTOR(unsigned long long, ulonglong)
PTXLOOM_VECTOR(float, float)
PTXLOOM_VECTOR(double, double)
#undef PTXLOOM_VECTOR

typedef struct dim3 {
	unsigned x, y, z;
#ifdef __cplusplus
	__host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
	__host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
	__host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
} dim3;

#endif
