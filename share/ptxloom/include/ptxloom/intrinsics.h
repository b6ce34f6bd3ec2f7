/*
 * Functions of kernels that clang's headers leave to the toolkit: minima of mixed types, loads and
 * stores with cache hints, dot products, sums over a warp, address spaces; and the host's side of
 * functions that C has not.
 */
#ifndef PTXLOOM_INTRINSICS_H
#define PTXLOOM_INTRINSICS_H

#include <math.h>

/*
 * ---- minima and maxima, for host and device; clang's headers have (int, int) for the device ----
 */

#define PTXLOOM_MINMAX(common, a_type, b_type)                                             \
	static __host__ __device__ __forceinline__ common min(a_type a, b_type b)          \
	{                                                                                  \
		return (common)b < (common)a ? (common)b : (common)a;                      \
	}                                                                                  \
	static __host__ __device__ __forceinline__ common max(a_type a, b_type b)          \
	{                                                                                  \
		return (common)a < (common)b ? (common)b : (common)a;                      \
	}
#define PTXLOOM_MINMAX_FLOAT(common, a_type, b_type, low, high)                            \
	static __host__ __device__ __forceinline__ common min(a_type a, b_type b)          \
	{                                                                                  \
		return low((common)a, (common)b);                                          \
	}                                                                                  \
	static __host__ __device__ __forceinline__ common max(a_type a, b_type b)          \
	{                                                                                  \
		return high((common)a, (common)b);                                         \
	}
static __host__ __forceinline__ int min(int a, int b) { return b < a ? b : a; }
static __host__ __forceinline__ int max(int a, int b) { return a < b ? b : a; }
PTXLOOM_MINMAX(unsigned, unsigned, unsigned)
PTXLOOM_MINMAX(unsigned, int, unsigned)
PTXLOOM_MINMAX(unsigned, unsigned, int)
PTXLOOM_MINMAX(long, long, long)
PTXLOOM_MINMAX(unsigned long, unsigned long, unsigned long)
PTXLOOM_MINMAX(unsigned long, long, unsigned long)
PTXLOOM_MINMAX(unsigned long, unsigned long, long)
PTXLOOM_MINMAX(long long, long long, long long)
PTXLOOM_MINMAX(unsigned long long, unsigned long long, unsigned long long)
PTXLOOM_MINMAX(unsigned long long, long long, unsigned long long)
PTXLOOM_MINMAX(unsigned long long, unsigned long long, long long)
PTXLOOM_MINMAX_FLOAT(float, float, float, __builtin_fminf, __builtin_fmaxf)
PTXLOOM_MINMAX_FLOAT(double, double, double, __builtin_fmin, __builtin_fmax)
PTXLOOM_MINMAX_FLOAT(double, float, double, __builtin_fmin, __builtin_fmax)
PTXLOOM_MINMAX_FLOAT(double, double, float, __builtin_fmin, __builtin_fmax)
#undef PTXLOOM_MINMAX
#undef PTXLOOM_MINMAX_FLOAT

/* ---- what CUDA adds to C's math: overloads for float, and the host's side ---- */

#define PTXLOOM_HOST static __host__ __inline__
PTXLOOM_HOST float rsqrtf(float x) { return 1.0f / sqrtf(x); }
PTXLOOM_HOST double rsqrt(double x) { return 1.0 / sqrt(x); }
PTXLOOM_HOST float rcbrtf(float x) { return 1.0f / cbrtf(x); }
PTXLOOM_HOST double rcbrt(double x) { return 1.0 / cbrt(x); }
PTXLOOM_HOST double sinpi(double x) { return sin(3.141592653589793 * remainder(x, 2)); }
PTXLOOM_HOST double cospi(double x) { return cos(3.141592653589793 * remainder(x, 2)); }
PTXLOOM_HOST float sinpif(float x) { return (float)sinpi((double)x); }
PTXLOOM_HOST float cospif(float x) { return (float)cospi((double)x); }
PTXLOOM_HOST void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
PTXLOOM_HOST void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
PTXLOOM_HOST float fdividef(float a, float b) { return a / b; }
PTXLOOM_HOST double fdivide(double a, double b) { return a / b; }
PTXLOOM_HOST double normcdf(double x) { return 0.5 * erfc(-0.7071067811865476 * x); }
PTXLOOM_HOST float normcdff(float x) { return (float)normcdf((double)x); }
PTXLOOM_HOST double rhypot(double a, double b) { return 1.0 / hypot(a, b); }
PTXLOOM_HOST float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
PTXLOOM_HOST double norm3d(double a, double b, double c) { return hypot(hypot(a, b), c); }
PTXLOOM_HOST float norm3df(float a, float b, float c) { return hypotf(hypotf(a, b), c); }
PTXLOOM_HOST double norm4d(double a, double b, double c, double d) { return hypot(hypot(a, b), hypot(c, d)); }
PTXLOOM_HOST float norm4df(float a, float b, float c, float d) { return hypotf(hypotf(a, b), hypotf(c, d)); }
#undef PTXLOOM_HOST

#define PTXLOOM_OVERLOAD(name)                                                             \
	static __device__ __forceinline__ float name(float x) { return name##f(x); }       \
	static __host__ __forceinline__ float name(float x) { return name##f(x); }
PTXLOOM_OVERLOAD(rsqrt)
PTXLOOM_OVERLOAD(rcbrt)
PTXLOOM_OVERLOAD(sinpi)
PTXLOOM_OVERLOAD(cospi)
PTXLOOM_OVERLOAD(normcdf)
#undef PTXLOOM_OVERLOAD
static __device__ __forceinline__ void sincospi(float x, float *s, float *c) { sincospif(x, s, c); }
static __device__ __forceinline__ float exp10(float x) { return exp10f(x); }
static __device__ __forceinline__ float erfcx(float x) { return erfcxf(x); }
static __device__ __forceinline__ float erfinv(float x) { return erfinvf(x); }
static __device__ __forceinline__ float erfcinv(float x) { return erfcinvf(x); }
static __device__ __forceinline__ float normcdfinv(float x) { return normcdfinvf(x); }
static __device__ __forceinline__ void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
static __device__ __forceinline__ int mul24(int a, int b) { return __mul24(a, b); }
static __device__ __forceinline__ unsigned umul24(unsigned a, unsigned b) { return __umul24(a, b); }
static __device__ __forceinline__ float saturate(float x) { return __saturatef(x); }
static __device__ __forceinline__ int float2int(float x) { return __float2int_rz(x); }
static __device__ __forceinline__ float int2float(int x) { return __int2float_rn(x); }
static __device__ __forceinline__ int float_as_int(float x) { return __float_as_int(x); }

/* The overloads for float that clang's headers declare and leave to the toolkit. */
#define PTXLOOM_FLOAT1(result, name)                                                       \
	static __device__ __forceinline__ result name(float x) { return name##f(x); }
#define PTXLOOM_FLOAT2(name)                                                               \
	static __device__ __forceinline__ float name(float x, float y) { return name##f(x, y); }
PTXLOOM_FLOAT1(float, acosh)
PTXLOOM_FLOAT1(float, asinh)
PTXLOOM_FLOAT1(float, atanh)
PTXLOOM_FLOAT1(float, cbrt)
PTXLOOM_FLOAT1(float, erfc)
PTXLOOM_FLOAT1(float, erf)
PTXLOOM_FLOAT1(float, exp2)
PTXLOOM_FLOAT1(float, expm1)
PTXLOOM_FLOAT1(float, lgamma)
PTXLOOM_FLOAT1(float, log1p)
PTXLOOM_FLOAT1(float, log2)
PTXLOOM_FLOAT1(float, logb)
PTXLOOM_FLOAT1(float, nearbyint)
PTXLOOM_FLOAT1(float, rint)
PTXLOOM_FLOAT1(float, round)
PTXLOOM_FLOAT1(float, tgamma)
PTXLOOM_FLOAT1(float, trunc)
PTXLOOM_FLOAT1(int, ilogb)
PTXLOOM_FLOAT1(long, lrint)
PTXLOOM_FLOAT1(long, lround)
PTXLOOM_FLOAT1(long long, llrint)
PTXLOOM_FLOAT1(long long, llround)
PTXLOOM_FLOAT2(copysign)
PTXLOOM_FLOAT2(fdim)
PTXLOOM_FLOAT2(fmax)
PTXLOOM_FLOAT2(fmin)
PTXLOOM_FLOAT2(hypot)
PTXLOOM_FLOAT2(nextafter)
PTXLOOM_FLOAT2(remainder)
#undef PTXLOOM_FLOAT1
#undef PTXLOOM_FLOAT2
static __device__ __forceinline__ float fma(float a, float b, float c) { return fmaf(a, b, c); }
static __device__ __forceinline__ float scalbn(float x, int n) { return scalbnf(x, n); }
static __device__ __forceinline__ float scalbln(float x, long n) { return scalblnf(x, n); }
static __device__ __forceinline__ double nan(const char *) { return __builtin_nan(""); }
static __device__ __forceinline__ float nanf(const char *) { return __builtin_nanf(""); }

/* ---- loads and stores with a hint for the caches ---- */

#define PTXLOOM_LOAD1(name, op, type, ptx, letter)                                         \
	PTXLOOM_ONE type name(const type *p)                                               \
	{                                                                                  \
		type v;                                                                    \
                                                                                           \
		asm volatile("ld." op "." ptx " %0, [%1];"                                 \
			     : "=" letter(v)                                               \
			     : "l"(p)                                                      \
			     : "memory");                                                  \
		return v;                                                                  \
	}
#define PTXLOOM_LOAD2(name, op, type, ptx, letter)                                         \
	PTXLOOM_ONE type name(const type *p)                                               \
	{                                                                                  \
		type v;                                                                    \
                                                                                           \
		asm volatile("ld." op ".v2." ptx " {%0, %1}, [%2];"                        \
			     : "=" letter(v.x), "=" letter(v.y)                            \
			     : "l"(p)                                                      \
			     : "memory");                                                  \
		return v;                                                                  \
	}
#define PTXLOOM_LOAD4(name, op, type, ptx, letter)                                         \
	PTXLOOM_ONE type name(const type *p)                                               \
	{                                                                                  \
		type v;                                                                    \
                                                                                           \
		asm volatile("ld." op ".v4." ptx " {%0, %1, %2, %3}, [%4];"                \
			     : "=" letter(v.x), "=" letter(v.y), "=" letter(v.z), "=" letter(v.w) \
			     : "l"(p)                                                      \
			     : "memory");                                                  \
		return v;                                                                  \
	}
#define PTXLOOM_LOADS(name, op)                                                            \
	PTXLOOM_LOAD1(name, op, short, "s16", "h")                                         \
	PTXLOOM_LOAD1(name, op, unsigned short, "u16", "h")                                \
	PTXLOOM_LOAD1(name, op, int, "s32", "r")                                           \
	PTXLOOM_LOAD1(name, op, unsigned, "u32", "r")                                      \
	PTXLOOM_LOAD1(name, op, long long, "s64", "l")                                     \
	PTXLOOM_LOAD1(name, op, unsigned long long, "u64", "l")                            \
	PTXLOOM_LOAD1(name, op, float, "f32", "f")                                         \
	PTXLOOM_LOAD1(name, op, double, "f64", "d")                                        \
	PTXLOOM_LOAD2(name, op, int2, "s32", "r")                                          \
	PTXLOOM_LOAD2(name, op, uint2, "u32", "r")                                         \
	PTXLOOM_LOAD2(name, op, float2, "f32", "f")                                        \
	PTXLOOM_LOAD2(name, op, double2, "f64", "d")                                       \
	PTXLOOM_LOAD2(name, op, longlong2, "s64", "l")                                     \
	PTXLOOM_LOAD2(name, op, ulonglong2, "u64", "l")                                    \
	PTXLOOM_LOAD4(name, op, int4, "s32", "r")                                          \
	PTXLOOM_LOAD4(name, op, uint4, "u32", "r")                                         \
	PTXLOOM_LOAD4(name, op, float4, "f32", "f")
#define PTXLOOM_STORE1(name, op, type, ptx, letter)                                        \
	PTXLOOM_ONE void name(type *p, type v)                                             \
	{                                                                                  \
		asm volatile("st." op "." ptx " [%0], %1;" ::"l"(p), letter(v) : "memory"); \
	}
#define PTXLOOM_STORE2(name, op, type, ptx, letter)                                        \
	PTXLOOM_ONE void name(type *p, type v)                                             \
	{                                                                                  \
		asm volatile("st." op ".v2." ptx " [%0], {%1, %2};" ::"l"(p), letter(v.x), letter(v.y) \
			     : "memory");                                                  \
	}
#define PTXLOOM_STORE4(name, op, type, ptx, letter)                                        \
	PTXLOOM_ONE void name(type *p, type v)                                             \
	{                                                                                  \
		asm volatile("st." op ".v4." ptx " [%0], {%1, %2, %3, %4};" ::"l"(p), letter(v.x), \
			     letter(v.y), letter(v.z), letter(v.w)                         \
			     : "memory");                                                  \
	}
#define PTXLOOM_STORES(name, op)                                                           \
	PTXLOOM_STORE1(name, op, int, "s32", "r")                                          \
	PTXLOOM_STORE1(name, op, unsigned, "u32", "r")                                     \
	PTXLOOM_STORE1(name, op, long long, "s64", "l")                                    \
	PTXLOOM_STORE1(name, op, unsigned long long, "u64", "l")                           \
	PTXLOOM_STORE1(name, op, float, "f32", "f")                                        \
	PTXLOOM_STORE1(name, op, double, "f64", "d")                                       \
	PTXLOOM_STORE2(name, op, int2, "s32", "r")                                         \
	PTXLOOM_STORE2(name, op, uint2, "u32", "r")                                        \
	PTXLOOM_STORE2(name, op, float2, "f32", "f")                                       \
	PTXLOOM_STORE2(name, op, double2, "f64", "d")                                      \
	PTXLOOM_STORE4(name, op, int4, "s32", "r")                                         \
	PTXLOOM_STORE4(name, op, uint4, "u32", "r")                                        \
	PTXLOOM_STORE4(name, op, float4, "f32", "f")

PTXLOOM_LOADS(__ldca, "ca")
PTXLOOM_LOADS(__ldcg, "cg")
PTXLOOM_LOADS(__ldcs, "cs")
PTXLOOM_LOADS(__ldlu, "lu")
PTXLOOM_LOADS(__ldcv, "cv")
PTXLOOM_STORES(__stwb, "wb")
PTXLOOM_STORES(__stcg, "cg")
PTXLOOM_STORES(__stcs, "cs")
PTXLOOM_STORES(__stwt, "wt")
#undef PTXLOOM_LOADS
#undef PTXLOOM_LOAD1
#undef PTXLOOM_LOAD2
#undef PTXLOOM_LOAD4
#undef PTXLOOM_STORES
#undef PTXLOOM_STORE1
#undef PTXLOOM_STORE2
#undef PTXLOOM_STORE4

/* ---- warps, dot products, time ---- */

#define PTXLOOM_REDUCE(name, type, text)                                                   \
	PTXLOOM_ONE type name(unsigned mask, type v)                                       \
	{                                                                                  \
		type r;                                                                    \
                                                                                           \
		asm volatile(text " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask));           \
		return r;                                                                  \
	}
PTXLOOM_REDUCE(__reduce_add_sync, unsigned, "redux.sync.add.u32")
PTXLOOM_REDUCE(__reduce_add_sync, int, "redux.sync.add.s32")
PTXLOOM_REDUCE(__reduce_min_sync, unsigned, "redux.sync.min.u32")
PTXLOOM_REDUCE(__reduce_min_sync, int, "redux.sync.min.s32")
PTXLOOM_REDUCE(__reduce_max_sync, unsigned, "redux.sync.max.u32")
PTXLOOM_REDUCE(__reduce_max_sync, int, "redux.sync.max.s32")
PTXLOOM_REDUCE(__reduce_and_sync, unsigned, "redux.sync.and.b32")
PTXLOOM_REDUCE(__reduce_or_sync, unsigned, "redux.sync.or.b32")
PTXLOOM_REDUCE(__reduce_xor_sync, unsigned, "redux.sync.xor.b32")
#undef PTXLOOM_REDUCE

#define PTXLOOM_DOT(name, a_type, b_type, result, text)                                    \
	PTXLOOM_ONE result name(a_type a, b_type b, result c)                              \
	{                                                                                  \
		result r;                                                                  \
                                                                                           \
		asm(text " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));           \
		return r;                                                                  \
	}
PTXLOOM_DOT(__dp4a, int, int, int, "dp4a.s32.s32")
PTXLOOM_DOT(__dp4a, unsigned, unsigned, unsigned, "dp4a.u32.u32")
PTXLOOM_DOT(__dp2a_lo, int, int, int, "dp2a.lo.s32.s32")
PTXLOOM_DOT(__dp2a_lo, unsigned, unsigned, unsigned, "dp2a.lo.u32.u32")
PTXLOOM_DOT(__dp2a_hi, int, int, int, "dp2a.hi.s32.s32")
PTXLOOM_DOT(__dp2a_hi, unsigned, unsigned, unsigned, "dp2a.hi.u32.u32")
#undef PTXLOOM_DOT
PTXLOOM_ONE int __dp4a(char4 a, char4 b, int c)
{
	return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c);
}
PTXLOOM_ONE unsigned __dp4a(uchar4 a, uchar4 b, unsigned c)
{
	return __dp4a(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), c);
}

PTXLOOM_ONE void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }
PTXLOOM_ONE unsigned long long __globaltimer()
{
	unsigned long long t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

/* ---- address spaces ---- */

PTXLOOM_ONE unsigned __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }
PTXLOOM_ONE unsigned __isShared(const void *p) { return __nvvm_isspacep_shared(p); }

/* Generic addresses from and to those of one space. */
#define PTXLOOM_CVTA(name, space)                                                                  \
	PTXLOOM_ONE unsigned long __cvta_generic_to_##name(const void *p)                          \
	{                                                                                          \
		return (unsigned long)(const void __attribute__((address_space(space))) *)p;       \
	}                                                                                          \
	PTXLOOM_ONE void *__cvta_##name##_to_generic(unsigned long a)                              \
	{                                                                                          \
		return (void *)(void __attribute__((address_space(space))) *)a;                    \
	}
PTXLOOM_CVTA(global, 1)
PTXLOOM_CVTA(shared, 3)
PTXLOOM_CVTA(constant, 4)
PTXLOOM_CVTA(local, 5)
PTXLOOM_ONE unsigned __isConstant(const void *p) { return __nvvm_isspacep_const(p); }
PTXLOOM_ONE unsigned __isLocal(const void *p) { return __nvvm_isspacep_local(p); }

#endif
