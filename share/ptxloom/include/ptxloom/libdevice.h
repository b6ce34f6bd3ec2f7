/*
 * The functions that clang's CUDA headers expect of a device library (__nv_*): here those that are
 * one instruction or a few; math_float.h, math_double.h and math_special.h have the others. Written
 * from the documented meaning of the CUDA function of the same name (`__nv_sinf` is `sinf`).
 */
#ifndef PTXLOOM_LIBDEVICE_H
#define PTXLOOM_LIBDEVICE_H

/* nodebug: what is inlined gets the line of the caller, so that faults name the user's. */
#define PTXLOOM_MATH static __device__ __inline__ __attribute__((nodebug))
#define PTXLOOM_ONE static __device__ __inline__ __attribute__((always_inline, nodebug))

/* ---- arithmetic with a rounding mode: fadd_rz(a, b) ---- */

#define PTXLOOM_ROUND2(name, type, letter, text)                                           \
	PTXLOOM_ONE type __nv_##name(type a, type b)                                       \
	{                                                                                  \
		type r;                                                                    \
                                                                                           \
		asm(text " %0, %1, %2;" : "=" letter(r) : letter(a), letter(b));           \
		return r;                                                                  \
	}
#define PTXLOOM_ROUND1(name, to, to_letter, from, from_letter, text)                       \
	PTXLOOM_ONE to __nv_##name(from a)                                                 \
	{                                                                                  \
		to r;                                                                      \
                                                                                           \
		asm(text " %0, %1;" : "=" to_letter(r) : from_letter(a));                  \
		return r;                                                                  \
	}
#define PTXLOOM_ROUND3(name, type, letter, text)                                           \
	PTXLOOM_ONE type __nv_##name(type a, type b, type c)                               \
	{                                                                                  \
		type r;                                                                    \
                                                                                           \
		asm(text " %0, %1, %2, %3;"                                                \
		    : "=" letter(r)                                                        \
		    : letter(a), letter(b), letter(c));                                    \
		return r;                                                                  \
	}
#define PTXLOOM_MODE(mode, ptx)                                                            \
	PTXLOOM_ROUND2(fadd_##mode, float, "f", "add." ptx ".f32")                         \
	PTXLOOM_ROUND2(fsub_##mode, float, "f", "sub." ptx ".f32")                         \
	PTXLOOM_ROUND2(fmul_##mode, float, "f", "mul." ptx ".f32")                         \
	PTXLOOM_ROUND2(fdiv_##mode, float, "f", "div." ptx ".f32")                         \
	PTXLOOM_ROUND3(fmaf_##mode, float, "f", "fma." ptx ".f32")                         \
	PTXLOOM_ROUND3(fmaf_ieee_##mode, float, "f", "fma." ptx ".f32")                    \
	PTXLOOM_ROUND1(frcp_##mode, float, "f", float, "f", "rcp." ptx ".f32")             \
	PTXLOOM_ROUND1(fsqrt_##mode, float, "f", float, "f", "sqrt." ptx ".f32")           \
	PTXLOOM_ROUND2(dadd_##mode, double, "d", "add." ptx ".f64")                        \
	PTXLOOM_ROUND2(dsub_##mode, double, "d", "sub." ptx ".f64")                        \
	PTXLOOM_ROUND2(dmul_##mode, double, "d", "mul." ptx ".f64")                        \
	PTXLOOM_ROUND2(ddiv_##mode, double, "d", "div." ptx ".f64")                        \
	PTXLOOM_ROUND3(fma_##mode, double, "d", "fma." ptx ".f64")                         \
	PTXLOOM_ROUND1(drcp_##mode, double, "d", double, "d", "rcp." ptx ".f64")           \
	PTXLOOM_ROUND1(dsqrt_##mode, double, "d", double, "d", "sqrt." ptx ".f64")         \
	PTXLOOM_ROUND1(double2float_##mode, float, "f", double, "d", "cvt." ptx ".f32.f64") \
	PTXLOOM_ROUND1(int2float_##mode, float, "f", int, "r", "cvt." ptx ".f32.s32")      \
	PTXLOOM_ROUND1(uint2float_##mode, float, "f", unsigned, "r", "cvt." ptx ".f32.u32") \
	PTXLOOM_ROUND1(ll2float_##mode, float, "f", long long, "l", "cvt." ptx ".f32.s64") \
	PTXLOOM_ROUND1(ull2float_##mode, float, "f", unsigned long long, "l", "cvt." ptx ".f32.u64") \
	PTXLOOM_ROUND1(ll2double_##mode, double, "d", long long, "l", "cvt." ptx ".f64.s64") \
	PTXLOOM_ROUND1(ull2double_##mode, double, "d", unsigned long long, "l", "cvt." ptx ".f64.u64")

PTXLOOM_MODE(rn, "rn")
PTXLOOM_MODE(rz, "rz")
PTXLOOM_MODE(ru, "rp")
PTXLOOM_MODE(rd, "rm")

/* To integers: the mode's name in PTX has an i ("cvt.rzi"). */
#define PTXLOOM_TO_INT(mode, ptx)                                                          \
	PTXLOOM_ROUND1(float2int_##mode, int, "r", float, "f", "cvt." ptx ".s32.f32")      \
	PTXLOOM_ROUND1(float2uint_##mode, unsigned, "r", float, "f", "cvt." ptx ".u32.f32") \
	PTXLOOM_ROUND1(float2ll_##mode, long long, "l", float, "f", "cvt." ptx ".s64.f32") \
	PTXLOOM_ROUND1(float2ull_##mode, unsigned long long, "l", float, "f", "cvt." ptx ".u64.f32") \
	PTXLOOM_ROUND1(double2int_##mode, int, "r", double, "d", "cvt." ptx ".s32.f64")    \
	PTXLOOM_ROUND1(double2uint_##mode, unsigned, "r", double, "d", "cvt." ptx ".u32.f64") \
	PTXLOOM_ROUND1(double2ll_##mode, long long, "l", double, "d", "cvt." ptx ".s64.f64") \
	PTXLOOM_ROUND1(double2ull_##mode, unsigned long long, "l", double, "d", "cvt." ptx ".u64.f64")

PTXLOOM_TO_INT(rn, "rni")
PTXLOOM_TO_INT(rz, "rzi")
PTXLOOM_TO_INT(ru, "rpi")
PTXLOOM_TO_INT(rd, "rmi")

#undef PTXLOOM_TO_INT
#undef PTXLOOM_MODE
#undef PTXLOOM_ROUND1
#undef PTXLOOM_ROUND2
#undef PTXLOOM_ROUND3

PTXLOOM_ONE double __nv_int2double_rn(int a) { return a; }
PTXLOOM_ONE double __nv_uint2double_rn(unsigned a) { return a; }

/* ---- bits ---- */

#define PTXLOOM_BITS(name, to, from)                                                       \
	PTXLOOM_ONE to name(from a)                                                        \
	{                                                                                  \
		to r;                                                                      \
                                                                                           \
		__builtin_memcpy(&r, &a, sizeof(r));                                       \
		return r;                                                                  \
	}
PTXLOOM_BITS(__nv_float_as_int, int, float)
PTXLOOM_BITS(__nv_float_as_uint, unsigned, float)
PTXLOOM_BITS(__nv_int_as_float, float, int)
PTXLOOM_BITS(__nv_uint_as_float, float, unsigned)
PTXLOOM_BITS(__nv_double_as_longlong, long long, double)
PTXLOOM_BITS(__nv_longlong_as_double, double, long long)
#undef PTXLOOM_BITS

PTXLOOM_ONE int __nv_double2hiint(double a) { return (int)(__nv_double_as_longlong(a) >> 32); }
PTXLOOM_ONE int __nv_double2loint(double a) { return (int)__nv_double_as_longlong(a); }
PTXLOOM_ONE double __nv_hiloint2double(int h, int l)
{
	return __nv_longlong_as_double((long long)((unsigned long long)(unsigned)h << 32 | (unsigned)l));
}

PTXLOOM_ONE int __nv_brev(int a) { return (int)__builtin_bitreverse32((unsigned)a); }
PTXLOOM_ONE long long __nv_brevll(long long a)
{
	return (long long)__builtin_bitreverse64((unsigned long long)a);
}
PTXLOOM_ONE int __nv_byte_perm(int a, int b, int c)
{
	int r;

	asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	return r;
}
PTXLOOM_ONE int __nv_clz(int a)
{
	int r;

	asm("clz.b32 %0, %1;" : "=r"(r) : "r"(a));
	return r;
}
PTXLOOM_ONE int __nv_clzll(long long a)
{
	int r;

	asm("clz.b64 %0, %1;" : "=r"(r) : "l"(a));
	return r;
}
PTXLOOM_ONE int __nv_popc(int a) { return __builtin_popcount((unsigned)a); }
PTXLOOM_ONE int __nv_popcll(long long a) { return __builtin_popcountll((unsigned long long)a); }
PTXLOOM_ONE int __nv_ffs(int a) { return 32 - __nv_clz(a & -a); }
PTXLOOM_ONE int __nv_ffsll(long long a) { return 64 - __nv_clzll(a & -a); }

/* ---- integers ---- */

PTXLOOM_ONE int __nv_abs(int a) { return a < 0 ? (int)-(unsigned)a : a; }
PTXLOOM_ONE long long __nv_llabs(long long a)
{
	return a < 0 ? (long long)-(unsigned long long)a : a;
}
PTXLOOM_ONE int __nv_min(int a, int b) { return a < b ? a : b; }
PTXLOOM_ONE int __nv_max(int a, int b) { return a > b ? a : b; }
PTXLOOM_ONE unsigned __nv_umin(unsigned a, unsigned b) { return a < b ? a : b; }
PTXLOOM_ONE unsigned __nv_umax(unsigned a, unsigned b) { return a > b ? a : b; }
PTXLOOM_ONE long long __nv_llmin(long long a, long long b) { return a < b ? a : b; }
PTXLOOM_ONE long long __nv_llmax(long long a, long long b) { return a > b ? a : b; }
PTXLOOM_ONE unsigned long long __nv_ullmin(unsigned long long a, unsigned long long b)
{
	return a < b ? a : b;
}
PTXLOOM_ONE unsigned long long __nv_ullmax(unsigned long long a, unsigned long long b)
{
	return a > b ? a : b;
}
PTXLOOM_ONE int __nv_mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
PTXLOOM_ONE unsigned __nv_umulhi(unsigned a, unsigned b)
{
	return (unsigned)((unsigned long long)a * b >> 32);
}
PTXLOOM_ONE long long __nv_mul64hi(long long a, long long b)
{
	long long r;

	asm("mul.hi.s64 %0, %1, %2;" : "=l"(r) : "l"(a), "l"(b));
	return r;
}
PTXLOOM_ONE unsigned long long __nv_umul64hi(unsigned long long a, unsigned long long b)
{
	unsigned long long r;

	asm("mul.hi.u64 %0, %1, %2;" : "=l"(r) : "l"(a), "l"(b));
	return r;
}
PTXLOOM_ONE int __nv_mul24(int a, int b)
{
	int r;

	asm("mul24.lo.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
}
PTXLOOM_ONE unsigned __nv_umul24(unsigned a, unsigned b)
{
	unsigned r;

	asm("mul24.lo.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
}
PTXLOOM_ONE int __nv_sad(int a, int b, int c)
{
	int r;

	asm("sad.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	return r;
}
PTXLOOM_ONE unsigned __nv_usad(unsigned a, unsigned b, unsigned c)
{
	unsigned r;

	asm("sad.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	return r;
}
/* Means of two numbers, down and up, without the carry being lost. */
PTXLOOM_ONE int __nv_hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
PTXLOOM_ONE int __nv_rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
PTXLOOM_ONE int __nv_uhadd(unsigned a, unsigned b)
{
	return (int)(((unsigned long long)a + b) >> 1);
}
PTXLOOM_ONE unsigned __nv_urhadd(unsigned a, unsigned b)
{
	return (unsigned)(((unsigned long long)a + b + 1) >> 1);
}

/* ---- floating point, one instruction ---- */

PTXLOOM_ONE float __nv_fabsf(float a) { return __builtin_fabsf(a); }
PTXLOOM_ONE double __nv_fabs(double a) { return __builtin_fabs(a); }
PTXLOOM_ONE float __nv_fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
PTXLOOM_ONE float __nv_fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
PTXLOOM_ONE double __nv_fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
PTXLOOM_ONE double __nv_fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
PTXLOOM_ONE float __nv_floorf(float a) { return __builtin_floorf(a); }
PTXLOOM_ONE double __nv_floor(double a) { return __builtin_floor(a); }
PTXLOOM_ONE float __nv_ceilf(float a) { return __builtin_ceilf(a); }
PTXLOOM_ONE double __nv_ceil(double a) { return __builtin_ceil(a); }
PTXLOOM_ONE float __nv_truncf(float a) { return __builtin_truncf(a); }
PTXLOOM_ONE double __nv_trunc(double a) { return __builtin_trunc(a); }
PTXLOOM_ONE double __nv_rint(double a) { return __builtin_rint(a); }
PTXLOOM_ONE float __nv_rintf(float a) { return __builtin_rintf(a); }
PTXLOOM_ONE float __nv_fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
PTXLOOM_ONE double __nv_fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
PTXLOOM_ONE float __nv_sqrtf(float a) { return __builtin_sqrtf(a); }
PTXLOOM_ONE double __nv_sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
PTXLOOM_ONE float __nv_rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
PTXLOOM_ONE float __nv_saturatef(float a) { return __nvvm_saturate_f(a); }
PTXLOOM_ONE float __nv_copysignf(float a, float b) { return __builtin_copysignf(a, b); }
PTXLOOM_ONE double __nv_copysign(double a, double b) { return __builtin_copysign(a, b); }
PTXLOOM_ONE int __nv_signbitf(float a) { return __nv_float_as_int(a) < 0; }
PTXLOOM_ONE int __nv_signbitd(double a) { return __nv_double_as_longlong(a) < 0; }
PTXLOOM_ONE int __nv_isnanf(float a) { return a != a; }
PTXLOOM_ONE int __nv_isnand(double a) { return a != a; }
PTXLOOM_ONE int __nv_isinff(float a) { return __nv_fabsf(a) == __builtin_inff(); }
PTXLOOM_ONE int __nv_isinfd(double a) { return __nv_fabs(a) == __builtin_inf(); }
PTXLOOM_ONE int __nv_finitef(float a) { return __nv_fabsf(a) < __builtin_inff(); }
PTXLOOM_ONE int __nv_isfinited(double a) { return __nv_fabs(a) < __builtin_inf(); }
PTXLOOM_ONE long long __nv_llrint(double a) { return __nv_double2ll_rn(a); }
PTXLOOM_ONE long long __nv_llrintf(float a) { return __nv_float2ll_rn(a); }

/* ---- the fast functions of the programming guide: the hardware's approximations ---- */

PTXLOOM_ONE float __nv_fast_sinf(float a) { return __nvvm_sin_approx_f(a); }
PTXLOOM_ONE float __nv_fast_cosf(float a) { return __nvvm_cos_approx_f(a); }
PTXLOOM_ONE float __nv_fast_log2f(float a) { return __nvvm_lg2_approx_f(a); }
PTXLOOM_ONE float __nv_fast_logf(float a) { return __nvvm_lg2_approx_f(a) * 0.693147182f; }
PTXLOOM_ONE float __nv_fast_log10f(float a) { return __nvvm_lg2_approx_f(a) * 0.301029999f; }
PTXLOOM_ONE float __nv_fast_expf(float a) { return __nvvm_ex2_approx_f(a * 1.44269502f); }
PTXLOOM_ONE float __nv_fast_exp10f(float a) { return __nvvm_ex2_approx_f(a * 3.32192802f); }
PTXLOOM_ONE float __nv_fast_fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
PTXLOOM_ONE float __nv_fast_powf(float a, float b)
{
	return __nvvm_ex2_approx_f(b * __nvvm_lg2_approx_f(a));
}
PTXLOOM_ONE float __nv_fast_tanf(float a)
{
	return __nvvm_div_approx_f(__nvvm_sin_approx_f(a), __nvvm_cos_approx_f(a));
}
PTXLOOM_ONE void __nv_fast_sincosf(float a, float *s, float *c)
{
	*s = __nvvm_sin_approx_f(a);
	*c = __nvvm_cos_approx_f(a);
}

PTXLOOM_ONE double ptxloom_fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }

#include "math_poly.h"
#include "math_double.h"
#include "math_float.h"
#include "math_special.h"

#endif
