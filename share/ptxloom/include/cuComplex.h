/*
 * Complex numbers in C's manner: float2 and double2 with functions.
 */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include <math.h>

#include "vector_types.h"

#define PTXLOOM_MAKE(type, real, end)                                                      \
	static __inline__ __host__ __device__ type make_cu##end(real x, real y)            \
	{                                                                                  \
		type z = {x, y};                                                           \
                                                                                           \
		return z;                                                                  \
	}
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

PTXLOOM_MAKE(cuFloatComplex, float, FloatComplex)
PTXLOOM_MAKE(cuDoubleComplex, double, DoubleComplex)
#undef PTXLOOM_MAKE

/* Division and modulus scale by the larger part, so that squares neither overflow nor vanish. */
#define PTXLOOM_COMPLEX(type, real, end, make, root, absolute)                             \
	static __inline__ __host__ __device__ real cuCreal##end(type z) { return z.x; }    \
	static __inline__ __host__ __device__ real cuCimag##end(type z) { return z.y; }    \
	static __inline__ __host__ __device__ type cuConj##end(type z) { return make(z.x, -z.y); } \
	static __inline__ __host__ __device__ type cuCadd##end(type a, type b)             \
	{                                                                                  \
		return make(a.x + b.x, a.y + b.y);                                         \
	}                                                                                  \
	static __inline__ __host__ __device__ type cuCsub##end(type a, type b)             \
	{                                                                                  \
		return make(a.x - b.x, a.y - b.y);                                         \
	}                                                                                  \
	static __inline__ __host__ __device__ type cuCmul##end(type a, type b)             \
	{                                                                                  \
		return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                 \
	}                                                                                  \
	static __inline__ __host__ __device__ type cuCdiv##end(type a, type b)             \
	{                                                                                  \
		real s = 1 / (absolute(b.x) + absolute(b.y)), ax = a.x * s, ay = a.y * s;  \
		real bx = b.x * s, by = b.y * s, n = 1 / (bx * bx + by * by);              \
                                                                                           \
		return make((ax * bx + ay * by) * n, (ay * bx - ax * by) * n);             \
	}                                                                                  \
	static __inline__ __host__ __device__ type cuCfma##end(type a, type b, type c)     \
	{                                                                                  \
		return cuCadd##end(cuCmul##end(a, b), c);                                  \
	}                                                                                  \
	static __inline__ __host__ __device__ real cuCabs##end(type z)                     \
	{                                                                                  \
		real a = absolute(z.x), b = absolute(z.y), hi = a > b ? a : b, lo = a > b ? b : a, r; \
                                                                                           \
		if (hi == 0 || hi - hi != 0)                                               \
			return hi + lo;                                                    \
		r = lo / hi;                                                               \
		return hi * root(1 + r * r);                                               \
	}
PTXLOOM_COMPLEX(cuFloatComplex, float, f, make_cuFloatComplex, sqrtf, fabsf)
PTXLOOM_COMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex, sqrt, fabs)
#undef PTXLOOM_COMPLEX

static __inline__ __host__ __device__ cuComplex make_cuComplex(float x, float y)
{
	return make_cuFloatComplex(x, y);
}
static __inline__ __host__ __device__ cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z)
{
	return make_cuDoubleComplex(z.x, z.y);
}
static __inline__ __host__ __device__ cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z)
{
	return make_cuFloatComplex((float)z.x, (float)z.y);
}

#endif
