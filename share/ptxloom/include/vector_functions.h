/* make_int4(x, y, z, w) and its like. */
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define PTXLOOM_MAKE(type, name)                                                           \
	static __inline__ __host__ __device__ name##1 make_##name##1(type x)               \
	{                                                                                  \
		name##1 v = {x};                                                           \
		return v;                                                                  \
	}                                                                                  \
	static __inline__ __host__ __device__ name##2 make_##name##2(type x, type y)       \
	{                                                                                  \
		name##2 v = {x, y};                                                        \
		return v;                                                                  \
	}                                                                                  \
	static __inline__ __host__ __device__ name##3 make_##name##3(type x, type y, type z) \
	{                                                                                  \
		name##3 v = {x, y, z};                                                     \
		return v;                                                                  \
	}                                                                                  \
	static __inline__ __host__ __device__ name##4 make_##name##4(type x, type y, type z, type w) \
	{                                                                                  \
		name##4 v = {x, y, z, w};                                                  \
		return v;                                                                  \
	}

PTXLOOM_MAKE(signed char, char)
PTXLOOM_MAKE(unsigned char, uchar)
PTXLOOM_MAKE(short, short)
PTXLOOM_MAKE(unsigned short, ushort)
PTXLOOM_MAKE(int, int)
PTXLOOM_MAKE(unsigned, uint)
PTXLOOM_MAKE(long, long)
PTXLOOM_MAKE(unsigned long, ulong)
PTXLOOM_MAKE(long long, longlong)
PTXLOOM_MAKE(unsigned long long, ulonglong)
PTXLOOM_MAKE(float, float)
PTXLOOM_MAKE(double, double)
#undef PTXLOOM_MAKE

#endif
