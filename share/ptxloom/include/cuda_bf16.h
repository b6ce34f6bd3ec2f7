/*
 * Numbers of 16 bits with the exponent of f32 (bfloat16): conversions, arithmetic, comparisons, and math
 * in kernels.
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

struct __align__(2) __nv_bfloat16 {
	unsigned short bits;

	__nv_bfloat16() = default;
	__host__ __device__ constexpr __nv_bfloat16(const __nv_bfloat16_raw &r) : bits(r.x) {}
	__host__ __device__ __nv_bfloat16(float f) : bits(ptxloom_to_bfloat16(f)) {}
	__host__ __device__ __nv_bfloat16(double f) : bits(ptxloom_to_bfloat16_wide(f)) {}
	__host__ __device__ __nv_bfloat16(short n) : bits(ptxloom_to_bfloat16((float)n)) {}
	__host__ __device__ __nv_bfloat16(unsigned short n) : bits(ptxloom_to_bfloat16((float)n)) {}
	__host__ __device__ __nv_bfloat16(int n) : bits(ptxloom_to_bfloat16_wide(n)) {}
	__host__ __device__ __nv_bfloat16(unsigned n) : bits(ptxloom_to_bfloat16_wide(n)) {}
	__host__ __device__ __nv_bfloat16(long n) : bits(ptxloom_to_bfloat16_wide((double)n)) {}
	__host__ __device__ __nv_bfloat16(unsigned long n) : bits(ptxloom_to_bfloat16_wide((double)n)) {}
	__host__ __device__ __nv_bfloat16(long long n) : bits(ptxloom_to_bfloat16_wide((double)n)) {}
	__host__ __device__ __nv_bfloat16(unsigned long long n) : bits(ptxloom_to_bfloat16_wide((double)n)) {}
	__host__ __device__ operator float() const { return ptxloom_from_bfloat16(bits); }
	__host__ __device__ operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{bits}; }
	__host__ __device__ explicit operator double() const { return ptxloom_from_bfloat16(bits); }
	__host__ __device__ explicit operator int() const { return (int)ptxloom_from_bfloat16(bits); }
	__host__ __device__ explicit operator unsigned() const { return (unsigned)ptxloom_from_bfloat16(bits); }
	__host__ __device__ explicit operator short() const { return (short)ptxloom_from_bfloat16(bits); }
	__host__ __device__ explicit operator unsigned short() const
	{
		return (unsigned short)ptxloom_from_bfloat16(bits);
	}
	__host__ __device__ explicit operator long long() const { return (long long)ptxloom_from_bfloat16(bits); }
	__host__ __device__ explicit operator bool() const { return (bits & 0x7fff) != 0; }
};
struct __align__(4) __nv_bfloat162 {
	__nv_bfloat16 x, y;

	__nv_bfloat162() = default;
	__host__ __device__ __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b) : x(a), y(b) {}
	__host__ __device__ explicit __nv_bfloat162(const __nv_bfloat16 &a) : x(a), y(a) {}
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

PTXLOOM_16 __nv_bfloat16 __ushort_as_bfloat16(unsigned short u) { return __nv_bfloat16(__nv_bfloat16_raw{u}); }
PTXLOOM_16 __nv_bfloat16 __short_as_bfloat16(short u) { return __nv_bfloat16(__nv_bfloat16_raw{(unsigned short)u}); }
PTXLOOM_16 unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return h.bits; }
PTXLOOM_16 short __bfloat16_as_short(__nv_bfloat16 h) { return (short)h.bits; }

/* ---- conversions ---- */

PTXLOOM_16 __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
PTXLOOM_16 __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
PTXLOOM_16 __nv_bfloat16 __double2bfloat16(double f) { return __nv_bfloat16(f); }
PTXLOOM_16 float __bfloat162float(__nv_bfloat16 h) { return (float)h; }
PTXLOOM_16 __nv_bfloat162 __float2bfloat162_rn(float f) { return __nv_bfloat162(__nv_bfloat16(f), __nv_bfloat16(f)); }
PTXLOOM_16 __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b)); }
PTXLOOM_16 __nv_bfloat162 __float22bfloat162_rn(float2 f) { return __nv_bfloat162(__nv_bfloat16(f.x), __nv_bfloat16(f.y)); }
PTXLOOM_16 float2 __bfloat1622float2(__nv_bfloat162 h) { return make_float2((float)h.x, (float)h.y); }
PTXLOOM_16 float __low2float(__nv_bfloat162 h) { return (float)h.x; }
PTXLOOM_16 float __high2float(__nv_bfloat162 h) { return (float)h.y; }
PTXLOOM_16 __nv_bfloat16 __low2bfloat16(__nv_bfloat162 h) { return h.x; }
PTXLOOM_16 __nv_bfloat16 __high2bfloat16(__nv_bfloat162 h) { return h.y; }
PTXLOOM_16 __nv_bfloat162 __low2bfloat162(__nv_bfloat162 h) { return __nv_bfloat162(h.x, h.x); }
PTXLOOM_16 __nv_bfloat162 __high2bfloat162(__nv_bfloat162 h) { return __nv_bfloat162(h.y, h.y); }
PTXLOOM_16 __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
PTXLOOM_16 __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }
PTXLOOM_16 __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 h) { return __nv_bfloat162(h.y, h.x); }
PTXLOOM_16 __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 h) { return __nv_bfloat162(h, h); }
PTXLOOM_16 __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
PTXLOOM_16 __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }

#define PTXLOOM_FROM_INT(type, name)                                                       \
	PTXLOOM_16 __nv_bfloat16 __##name##2bfloat16_rn(type n) { return __nv_bfloat16(n); } \
	PTXLOOM_16 type __bfloat162##name##_rz(__nv_bfloat16 h) { return (type)(float)h; } \
	PTXLOOM_16 type __bfloat162##name##_rn(__nv_bfloat16 h) { return (type)rintf((float)h); } \
	PTXLOOM_16 type __bfloat162##name##_rd(__nv_bfloat16 h) { return (type)floorf((float)h); } \
	PTXLOOM_16 type __bfloat162##name##_ru(__nv_bfloat16 h) { return (type)ceilf((float)h); }
PTXLOOM_FROM_INT(int, int)
PTXLOOM_FROM_INT(unsigned, uint)
PTXLOOM_FROM_INT(short, short)
PTXLOOM_FROM_INT(unsigned short, ushort)
PTXLOOM_FROM_INT(long long, ll)
PTXLOOM_FROM_INT(unsigned long long, ull)
#undef PTXLOOM_FROM_INT

/* ---- arithmetic: that of f32 rounded again is exact for one operation of 16 bits ---- */

#define PTXLOOM_PAIR(name, ...)                                                            \
	PTXLOOM_16 __nv_bfloat162 name##2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(name(a.x, b.x), name(a.y, b.y)); }
#define PTXLOOM_OPERATION(name, op, ptx)                                                   \
	PTXLOOM_16 __nv_bfloat16 name(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a op (float)b); } \
	PTXLOOM_16 __nv_bfloat16 name##_rn(__nv_bfloat16 a, __nv_bfloat16 b) { return name(a, b); } \
	PTXLOOM_16 __nv_bfloat16 name##_sat(__nv_bfloat16 a, __nv_bfloat16 b)              \
	{                                                                                  \
		float f = (float)name(a, b);                                               \
                                                                                           \
		return __nv_bfloat16(f > 0.0f ? f < 1.0f ? f : 1.0f : 0.0f);               \
	}                                                                                  \
	PTXLOOM_PAIR(name)                                                                 \
	PTXLOOM_16 __nv_bfloat162 name##2_rn(__nv_bfloat162 a, __nv_bfloat162 b) { return name##2(a, b); } \
	PTXLOOM_16 __nv_bfloat162 name##2_sat(__nv_bfloat162 a, __nv_bfloat162 b)          \
	{                                                                                  \
		return __nv_bfloat162(name##_sat(a.x, b.x), name##_sat(a.y, b.y));         \
	}                                                                                  \
	PTXLOOM_16 __nv_bfloat16 operator op(__nv_bfloat16 a, __nv_bfloat16 b) { return name(a, b); } \
	PTXLOOM_16 __nv_bfloat162 operator op(__nv_bfloat162 a, __nv_bfloat162 b) { return name##2(a, b); } \
	PTXLOOM_16 __nv_bfloat16 &operator op##=(__nv_bfloat16 &a, __nv_bfloat16 b) { return a = name(a, b); } \
	PTXLOOM_16 __nv_bfloat162 &operator op##=(__nv_bfloat162 &a, __nv_bfloat162 b) { return a = name##2(a, b); }
PTXLOOM_OPERATION(__hadd, +, "add")
PTXLOOM_OPERATION(__hsub, -, "sub")
PTXLOOM_OPERATION(__hmul, *, "mul")
PTXLOOM_16 __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a / (float)b); }
PTXLOOM_16 __nv_bfloat162 __h2div(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
PTXLOOM_16 __nv_bfloat16 operator/(__nv_bfloat16 a, __nv_bfloat16 b) { return __hdiv(a, b); }
PTXLOOM_16 __nv_bfloat162 operator/(__nv_bfloat162 a, __nv_bfloat162 b) { return __h2div(a, b); }
PTXLOOM_16 __nv_bfloat16 &operator/=(__nv_bfloat16 &a, __nv_bfloat16 b) { return a = __hdiv(a, b); }
PTXLOOM_16 __nv_bfloat162 &operator/=(__nv_bfloat162 &a, __nv_bfloat162 b) { return a = __h2div(a, b); }
PTXLOOM_16 __nv_bfloat16 __hneg(__nv_bfloat16 a) { return __ushort_as_bfloat16((unsigned short)(a.bits ^ 0x8000)); }
PTXLOOM_16 __nv_bfloat16 __habs(__nv_bfloat16 a) { return __ushort_as_bfloat16((unsigned short)(a.bits & 0x7fff)); }
PTXLOOM_16 __nv_bfloat162 __hneg2(__nv_bfloat162 a) { return __nv_bfloat162(__hneg(a.x), __hneg(a.y)); }
PTXLOOM_16 __nv_bfloat162 __habs2(__nv_bfloat162 a) { return __nv_bfloat162(__habs(a.x), __habs(a.y)); }
PTXLOOM_16 __nv_bfloat16 operator-(__nv_bfloat16 a) { return __hneg(a); }
PTXLOOM_16 __nv_bfloat16 operator+(__nv_bfloat16 a) { return a; }
PTXLOOM_16 __nv_bfloat162 operator-(__nv_bfloat162 a) { return __hneg2(a); }
PTXLOOM_16 __nv_bfloat16 &operator++(__nv_bfloat16 &a) { return a = __hadd(a, __nv_bfloat16(1.0f)); }
PTXLOOM_16 __nv_bfloat16 &operator--(__nv_bfloat16 &a) { return a = __hsub(a, __nv_bfloat16(1.0f)); }
/* The product of two is exact in f32 and the sum in f64 is nearly so. */
PTXLOOM_16 __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
	return __nv_bfloat16((double)((float)a * (float)b) + (double)(float)c);
}
PTXLOOM_16 __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c)
{
	return __nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
PTXLOOM_16 __nv_bfloat16 __hfma_relu(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
	__nv_bfloat16 r = __hfma(a, b, c);

	return (float)r < 0.0f ? __nv_bfloat16(0.0f) : r;
}

/* ---- comparisons; the forms with u are true of NaN ---- */

#define PTXLOOM_COMPARE(name, op)                                                          \
	PTXLOOM_16 bool __h##name(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a op (float)b; } \
	PTXLOOM_16 bool __h##name##u(__nv_bfloat16 a, __nv_bfloat16 b)                     \
	{                                                                                  \
		float x = (float)a, y = (float)b;                                          \
                                                                                           \
		return x != x || y != y || x op y;                                         \
	}                                                                                  \
	PTXLOOM_16 __nv_bfloat162 __h##name##2(__nv_bfloat162 a, __nv_bfloat162 b)         \
	{                                                                                  \
		return __nv_bfloat162(__nv_bfloat16(__h##name(a.x, b.x) ? 1.0f : 0.0f), __nv_bfloat16(__h##name(a.y, b.y) ? 1.0f : 0.0f)); \
	}                                                                                  \
	PTXLOOM_16 bool __hb##name##2(__nv_bfloat162 a, __nv_bfloat162 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); } \
	PTXLOOM_16 bool operator op(__nv_bfloat16 a, __nv_bfloat16 b) { return __h##name(a, b); }
PTXLOOM_COMPARE(eq, ==)
PTXLOOM_COMPARE(lt, <)
PTXLOOM_COMPARE(le, <=)
PTXLOOM_COMPARE(gt, >)
PTXLOOM_COMPARE(ge, >=)
PTXLOOM_COMPARE(ne, !=)
PTXLOOM_16 bool operator==(__nv_bfloat162 a, __nv_bfloat162 b) { return __hbeq2(a, b); }
PTXLOOM_16 bool operator!=(__nv_bfloat162 a, __nv_bfloat162 b) { return !__hbeq2(a, b); }
PTXLOOM_16 bool __hisnan(__nv_bfloat16 a) { return (a.bits & 0x7fff) > 0x7f80; }
PTXLOOM_16 int __hisinf(__nv_bfloat16 a) { return (a.bits & 0x7fff) != 0x7f80 ? 0 : a.bits & 0x8000 ? -1 : 1; }
PTXLOOM_16 __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b)
{
	return __hisnan(a) ? b : __hisnan(b) ? a : (float)b < (float)a || (a == b && b.bits) ? b : a;
}
PTXLOOM_16 __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b)
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
	static __device__ __inline__ __nv_bfloat16 h##name(__nv_bfloat16 a) { return __nv_bfloat16(f((float)a)); } \
	static __device__ __inline__ __nv_bfloat162 h2##name(__nv_bfloat162 a) { return __nv_bfloat162(h##name(a.x), h##name(a.y)); }
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
	static __device__ __inline__ __nv_bfloat16 name(unsigned mask, __nv_bfloat16 v, type lane, int width = 32) \
	{                                                                                  \
		return __ushort_as_bfloat16((unsigned short)name(mask, (unsigned)v.bits, lane, width)); \
	}                                                                                  \
	static __device__ __inline__ __nv_bfloat162 name(unsigned mask, __nv_bfloat162 v, type lane, int width = 32) \
	{                                                                                  \
		return __builtin_bit_cast(__nv_bfloat162, name(mask, __builtin_bit_cast(unsigned, v), lane, width)); \
	}
PTXLOOM_SHUFFLE16(__shfl_sync, int)
PTXLOOM_SHUFFLE16(__shfl_up_sync, unsigned)
PTXLOOM_SHUFFLE16(__shfl_down_sync, unsigned)
PTXLOOM_SHUFFLE16(__shfl_xor_sync, int)
#undef PTXLOOM_SHUFFLE16

/* One word at a time by compare-and-swap: the instruction for it is newer than the lowest target. */
static __device__ __inline__ __nv_bfloat162 atomicAdd(__nv_bfloat162 *p, __nv_bfloat162 v)
{
	unsigned old = *(volatile unsigned *)p, seen;

	do {
		seen = old;
		old = atomicCAS((unsigned *)p, seen,
				__builtin_bit_cast(unsigned, __hadd2(__builtin_bit_cast(__nv_bfloat162, seen), v)));
	} while (old != seen);
	return __builtin_bit_cast(__nv_bfloat162, old);
}
static __device__ __inline__ __nv_bfloat16 atomicAdd(__nv_bfloat16 *p, __nv_bfloat16 v)
{
	unsigned long long at = (unsigned long long)p;
	unsigned *word = (unsigned *)(at & ~3ULL), shift = at & 2 ? 16 : 0, old = *(volatile unsigned *)word, seen;

	do {
		unsigned short sum = __hadd(__ushort_as_bfloat16((unsigned short)(old >> shift)), v).bits;

		seen = old;
		old = atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | (unsigned)sum << shift);
	} while (old != seen);
	return __ushort_as_bfloat16((unsigned short)(old >> shift));
}
static __device__ __inline__ __nv_bfloat16 __ldg(const __nv_bfloat16 *p)
{
	return __ushort_as_bfloat16(__ldg((const unsigned short *)p));
}
static __device__ __inline__ __nv_bfloat162 __ldg(const __nv_bfloat162 *p)
{
	return __builtin_bit_cast(__nv_bfloat162, __ldg((const unsigned *)p));
}
#endif

#undef PTXLOOM_16
#endif
#endif
