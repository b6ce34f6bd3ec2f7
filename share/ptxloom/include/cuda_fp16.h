/*
 * Numbers of 16 bits, IEEE binary16: conversions, arithmetic, comparisons, and math in kernels. Arithmetic
 * is one instruction in kernels where that makes a difference to the result (fma).
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

struct __align__(2) __half {
	unsigned short bits;

	__half() = default;
	__host__ __device__ constexpr __half(const __half_raw &r) : bits(r.x) {}
	__host__ __device__ __half(float f) : bits(ptxloom_to_half(f)) {}
	__host__ __device__ __half(double f) : bits(ptxloom_to_half_wide(f)) {}
	__host__ __device__ __half(short n) : bits(ptxloom_to_half((float)n)) {}
	__host__ __device__ __half(unsigned short n) : bits(ptxloom_to_half((float)n)) {}
	__host__ __device__ __half(int n) : bits(ptxloom_to_half_wide(n)) {}
	__host__ __device__ __half(unsigned n) : bits(ptxloom_to_half_wide(n)) {}
	__host__ __device__ __half(long n) : bits(ptxloom_to_half_wide((double)n)) {}
	__host__ __device__ __half(unsigned long n) : bits(ptxloom_to_half_wide((double)n)) {}
	__host__ __device__ __half(long long n) : bits(ptxloom_to_half_wide((double)n)) {}
	__host__ __device__ __half(unsigned long long n) : bits(ptxloom_to_half_wide((double)n)) {}
	__host__ __device__ operator float() const { return ptxloom_from_half(bits); }
	__host__ __device__ operator __half_raw() const { return __half_raw{bits}; }
	__host__ __device__ explicit operator double() const { return ptxloom_from_half(bits); }
	__host__ __device__ explicit operator int() const { return (int)ptxloom_from_half(bits); }
	__host__ __device__ explicit operator unsigned() const { return (unsigned)ptxloom_from_half(bits); }
	__host__ __device__ explicit operator short() const { return (short)ptxloom_from_half(bits); }
	__host__ __device__ explicit operator unsigned short() const
	{
		return (unsigned short)ptxloom_from_half(bits);
	}
	__host__ __device__ explicit operator long long() const { return (long long)ptxloom_from_half(bits); }
	__host__ __device__ explicit operator bool() const { return (bits & 0x7fff) != 0; }
};
struct __align__(4) __half2 {
	__half x, y;

	__half2() = default;
	__host__ __device__ __half2(const __half &a, const __half &b) : x(a), y(b) {}
	__host__ __device__ explicit __half2(const __half &a) : x(a), y(a) {}
};
typedef __half half;
typedef __half2 half2;

PTXLOOM_16 __half __ushort_as_half(unsigned short u) { return __half(__half_raw{u}); }
PTXLOOM_16 __half __short_as_half(short u) { return __half(__half_raw{(unsigned short)u}); }
PTXLOOM_16 unsigned short __half_as_ushort(__half h) { return h.bits; }
PTXLOOM_16 short __half_as_short(__half h) { return (short)h.bits; }

/* ---- conversions ---- */

PTXLOOM_16 __half __float2half(float f) { return __half(f); }
PTXLOOM_16 __half __float2half_rn(float f) { return __half(f); }
PTXLOOM_16 __half __double2half(double f) { return __half(f); }
PTXLOOM_16 float __half2float(__half h) { return (float)h; }
PTXLOOM_16 __half2 __float2half2_rn(float f) { return __half2(__half(f), __half(f)); }
PTXLOOM_16 __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
PTXLOOM_16 __half2 __float22half2_rn(float2 f) { return __half2(__half(f.x), __half(f.y)); }
PTXLOOM_16 float2 __half22float2(__half2 h) { return make_float2((float)h.x, (float)h.y); }
PTXLOOM_16 float __low2float(__half2 h) { return (float)h.x; }
PTXLOOM_16 float __high2float(__half2 h) { return (float)h.y; }
PTXLOOM_16 __half __low2half(__half2 h) { return h.x; }
PTXLOOM_16 __half __high2half(__half2 h) { return h.y; }
PTXLOOM_16 __half2 __low2half2(__half2 h) { return __half2(h.x, h.x); }
PTXLOOM_16 __half2 __high2half2(__half2 h) { return __half2(h.y, h.y); }
PTXLOOM_16 __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
PTXLOOM_16 __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
PTXLOOM_16 __half2 __lowhigh2highlow(__half2 h) { return __half2(h.y, h.x); }
PTXLOOM_16 __half2 __half2half2(__half h) { return __half2(h, h); }
PTXLOOM_16 __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
PTXLOOM_16 __half2 make_half2(__half a, __half b) { return __half2(a, b); }

#define PTXLOOM_FROM_INT(type, name)                                                       \
	PTXLOOM_16 __half __##name##2half_rn(type n) { return __half(n); }                 \
	PTXLOOM_16 type __half2##name##_rz(__half h) { return (type)(float)h; }            \
	PTXLOOM_16 type __half2##name##_rn(__half h) { return (type)rintf((float)h); }     \
	PTXLOOM_16 type __half2##name##_rd(__half h) { return (type)floorf((float)h); }    \
	PTXLOOM_16 type __half2##name##_ru(__half h) { return (type)ceilf((float)h); }
PTXLOOM_FROM_INT(int, int)
PTXLOOM_FROM_INT(unsigned, uint)
PTXLOOM_FROM_INT(short, short)
PTXLOOM_FROM_INT(unsigned short, ushort)
PTXLOOM_FROM_INT(long long, ll)
PTXLOOM_FROM_INT(unsigned long long, ull)
#undef PTXLOOM_FROM_INT

/* ---- arithmetic: that of f32 rounded again is exact for one operation of 16 bits ---- */

#define PTXLOOM_PAIR(name, ...)                                                            \
	PTXLOOM_16 __half2 name##2(__half2 a, __half2 b) { return __half2(name(a.x, b.x), name(a.y, b.y)); }
#define PTXLOOM_OPERATION(name, op, ptx)                                                   \
	PTXLOOM_16 __half name(__half a, __half b) { return __half((float)a op (float)b); } \
	PTXLOOM_16 __half name##_rn(__half a, __half b) { return name(a, b); }             \
	PTXLOOM_16 __half name##_sat(__half a, __half b)                                   \
	{                                                                                  \
		float f = (float)name(a, b);                                               \
                                                                                           \
		return __half(f > 0.0f ? f < 1.0f ? f : 1.0f : 0.0f);                      \
	}                                                                                  \
	PTXLOOM_PAIR(name)                                                                 \
	PTXLOOM_16 __half2 name##2_rn(__half2 a, __half2 b) { return name##2(a, b); }      \
	PTXLOOM_16 __half2 name##2_sat(__half2 a, __half2 b)                               \
	{                                                                                  \
		return __half2(name##_sat(a.x, b.x), name##_sat(a.y, b.y));                \
	}                                                                                  \
	PTXLOOM_16 __half operator op(__half a, __half b) { return name(a, b); }           \
	PTXLOOM_16 __half2 operator op(__half2 a, __half2 b) { return name##2(a, b); }     \
	PTXLOOM_16 __half &operator op##=(__half &a, __half b) { return a = name(a, b); }  \
	PTXLOOM_16 __half2 &operator op##=(__half2 &a, __half2 b) { return a = name##2(a, b); }
PTXLOOM_OPERATION(__hadd, +, "add")
PTXLOOM_OPERATION(__hsub, -, "sub")
PTXLOOM_OPERATION(__hmul, *, "mul")
PTXLOOM_16 __half __hdiv(__half a, __half b) { return __half((float)a / (float)b); }
PTXLOOM_16 __half2 __h2div(__half2 a, __half2 b) { return __half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
PTXLOOM_16 __half operator/(__half a, __half b) { return __hdiv(a, b); }
PTXLOOM_16 __half2 operator/(__half2 a, __half2 b) { return __h2div(a, b); }
PTXLOOM_16 __half &operator/=(__half &a, __half b) { return a = __hdiv(a, b); }
PTXLOOM_16 __half2 &operator/=(__half2 &a, __half2 b) { return a = __h2div(a, b); }
PTXLOOM_16 __half __hneg(__half a) { return __ushort_as_half((unsigned short)(a.bits ^ 0x8000)); }
PTXLOOM_16 __half __habs(__half a) { return __ushort_as_half((unsigned short)(a.bits & 0x7fff)); }
PTXLOOM_16 __half2 __hneg2(__half2 a) { return __half2(__hneg(a.x), __hneg(a.y)); }
PTXLOOM_16 __half2 __habs2(__half2 a) { return __half2(__habs(a.x), __habs(a.y)); }
PTXLOOM_16 __half operator-(__half a) { return __hneg(a); }
PTXLOOM_16 __half operator+(__half a) { return a; }
PTXLOOM_16 __half2 operator-(__half2 a) { return __hneg2(a); }
PTXLOOM_16 __half &operator++(__half &a) { return a = __hadd(a, __half(1.0f)); }
PTXLOOM_16 __half &operator--(__half &a) { return a = __hsub(a, __half(1.0f)); }
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
PTXLOOM_16 __half2 __hfma2(__half2 a, __half2 b, __half2 c)
{
	return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
PTXLOOM_16 __half __hfma_relu(__half a, __half b, __half c)
{
	__half r = __hfma(a, b, c);

	return (float)r < 0.0f ? __half(0.0f) : r;
}

/* ---- comparisons; the forms with u are true of NaN ---- */

#define PTXLOOM_COMPARE(name, op)                                                          \
	PTXLOOM_16 bool __h##name(__half a, __half b) { return (float)a op (float)b; }     \
	PTXLOOM_16 bool __h##name##u(__half a, __half b)                                   \
	{                                                                                  \
		float x = (float)a, y = (float)b;                                          \
                                                                                           \
		return x != x || y != y || x op y;                                         \
	}                                                                                  \
	PTXLOOM_16 __half2 __h##name##2(__half2 a, __half2 b)                              \
	{                                                                                  \
		return __half2(__half(__h##name(a.x, b.x) ? 1.0f : 0.0f), __half(__h##name(a.y, b.y) ? 1.0f : 0.0f)); \
	}                                                                                  \
	PTXLOOM_16 bool __hb##name##2(__half2 a, __half2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); } \
	PTXLOOM_16 bool operator op(__half a, __half b) { return __h##name(a, b); }
PTXLOOM_COMPARE(eq, ==)
PTXLOOM_COMPARE(lt, <)
PTXLOOM_COMPARE(le, <=)
PTXLOOM_COMPARE(gt, >)
PTXLOOM_COMPARE(ge, >=)
PTXLOOM_COMPARE(ne, !=)
PTXLOOM_16 bool operator==(__half2 a, __half2 b) { return __hbeq2(a, b); }
PTXLOOM_16 bool operator!=(__half2 a, __half2 b) { return !__hbeq2(a, b); }
PTXLOOM_16 bool __hisnan(__half a) { return (a.bits & 0x7fff) > 0x7c00; }
PTXLOOM_16 int __hisinf(__half a) { return (a.bits & 0x7fff) != 0x7c00 ? 0 : a.bits & 0x8000 ? -1 : 1; }
PTXLOOM_16 __half __hmin(__half a, __half b)
{
	return __hisnan(a) ? b : __hisnan(b) ? a : (float)b < (float)a || (a == b && b.bits) ? b : a;
}
PTXLOOM_16 __half __hmax(__half a, __half b)
{
	return __hisnan(a) ? b : __hisnan(b) ? a : (float)a < (float)b || (a == b && a.bits) ? b : a;
}
PTXLOOM_PAIR(__hmin)
PTXLOOM_PAIR(__hmax)
#undef PTXLOOM_COMPARE
#undef PTXLOOM_OPERATION
#undef PTXLOOM_PAIR

#if defined(__CUDA__) && defined(__clang__)

/* ---- kernels only: math, shuffles, atomics, loads ---- */

#define PTXLOOM_MATH16(name, f)                                                            \
	static __device__ __inline__ __half h##name(__half a) { return __half(f((float)a)); } \
	static __device__ __inline__ __half2 h2##name(__half2 a) { return __half2(h##name(a.x), h##name(a.y)); }
PTXLOOM_MATH16(sqrt, sqrtf)
PTXLOOM_MATH16(rsqrt, rsqrtf)
PTXLOOM_MATH16(rcp, 1.0f /)
PTXLOOM_MATH16(exp, expf)
PTXLOOM_MATH16(exp2, exp2f)
PTXLOOM_MATH16(exp10, exp10f)
PTXLOOM_MATH16(log, logf)
PTXLOOM_MATH16(log2, log2f)
PTXLOOM_MATH16(log10, log10f)
PTXLOOM_MATH16(sin, sinf)
PTXLOOM_MATH16(cos, cosf)
PTXLOOM_MATH16(tanh, tanhf)
PTXLOOM_MATH16(floor, floorf)
PTXLOOM_MATH16(ceil, ceilf)
PTXLOOM_MATH16(trunc, truncf)
PTXLOOM_MATH16(rint, rintf)
#undef PTXLOOM_MATH16

#define PTXLOOM_SHUFFLE16(name, type)                                                      \
	static __device__ __inline__ __half name(unsigned mask, __half v, type lane, int width = 32) \
	{                                                                                  \
		return __ushort_as_half((unsigned short)name(mask, (unsigned)v.bits, lane, width)); \
	}                                                                                  \
	static __device__ __inline__ __half2 name(unsigned mask, __half2 v, type lane, int width = 32) \
	{                                                                                  \
		return __builtin_bit_cast(__half2, name(mask, __builtin_bit_cast(unsigned, v), lane, width)); \
	}
PTXLOOM_SHUFFLE16(__shfl_sync, int)
PTXLOOM_SHUFFLE16(__shfl_up_sync, unsigned)
PTXLOOM_SHUFFLE16(__shfl_down_sync, unsigned)
PTXLOOM_SHUFFLE16(__shfl_xor_sync, int)
#undef PTXLOOM_SHUFFLE16

/* One word at a time by compare-and-swap: the instruction for it is newer than the lowest target. */
static __device__ __inline__ __half2 atomicAdd(__half2 *p, __half2 v)
{
	unsigned old = *(volatile unsigned *)p, seen;

	do {
		seen = old;
		old = atomicCAS((unsigned *)p, seen,
				__builtin_bit_cast(unsigned, __hadd2(__builtin_bit_cast(__half2, seen), v)));
	} while (old != seen);
	return __builtin_bit_cast(__half2, old);
}
static __device__ __inline__ __half atomicAdd(__half *p, __half v)
{
	unsigned long long at = (unsigned long long)p;
	unsigned *word = (unsigned *)(at & ~3ULL), shift = at & 2 ? 16 : 0, old = *(volatile unsigned *)word, seen;

	do {
		unsigned short sum = __hadd(__ushort_as_half((unsigned short)(old >> shift)), v).bits;

		seen = old;
		old = atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | (unsigned)sum << shift);
	} while (old != seen);
	return __ushort_as_half((unsigned short)(old >> shift));
}
static __device__ __inline__ __half __ldg(const __half *p)
{
	return __ushort_as_half(__ldg((const unsigned short *)p));
}
static __device__ __inline__ __half2 __ldg(const __half2 *p)
{
	return __builtin_bit_cast(__half2, __ldg((const unsigned *)p));
}
#endif

#undef PTXLOOM_16
#endif
#endif
