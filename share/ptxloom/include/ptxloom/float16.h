/*
 * What cuda_fp16.h and cuda_bf16.h have in common: a type of 16 bits and pairs of it. Included once
 * by each, which define
 *   PTXLOOM_H, PTXLOOM_H2, PTXLOOM_H_RAW   the types' names;
 *   PTXLOOM_NAME(before, after)            a function's name, with the type's word in the middle;
 *   PTXLOOM_H_INFINITY                     the bits of infinity;
 * and the conversions ptxloom_to_WORD, ptxloom_to_WORD_wide and ptxloom_from_WORD; __hfma comes
 * after.
 */
struct __align__(2) PTXLOOM_H {
	unsigned short bits;

	PTXLOOM_H() = default;
	__host__ __device__ constexpr PTXLOOM_H(const PTXLOOM_H_RAW &r) : bits(r.x) {}
	__host__ __device__ PTXLOOM_H(float f) : bits(PTXLOOM_NAME(ptxloom_to_, )(f)) {}
	__host__ __device__ PTXLOOM_H(double f) : bits(PTXLOOM_NAME(ptxloom_to_, _wide)(f)) {}
	__host__ __device__ PTXLOOM_H(short n) : bits(PTXLOOM_NAME(ptxloom_to_, )((float)n)) {}
	__host__ __device__ PTXLOOM_H(unsigned short n) : bits(PTXLOOM_NAME(ptxloom_to_, )((float)n)) {}
	__host__ __device__ PTXLOOM_H(int n) : bits(PTXLOOM_NAME(ptxloom_to_, _wide)(n)) {}
	__host__ __device__ PTXLOOM_H(unsigned n) : bits(PTXLOOM_NAME(ptxloom_to_, _wide)(n)) {}
	__host__ __device__ PTXLOOM_H(long n) : bits(PTXLOOM_NAME(ptxloom_to_, _wide)((double)n)) {}
	__host__ __device__ PTXLOOM_H(unsigned long n) : bits(PTXLOOM_NAME(ptxloom_to_, _wide)((double)n)) {}
	__host__ __device__ PTXLOOM_H(long long n) : bits(PTXLOOM_NAME(ptxloom_to_, _wide)((double)n)) {}
	__host__ __device__ PTXLOOM_H(unsigned long long n) : bits(PTXLOOM_NAME(ptxloom_to_, _wide)((double)n)) {}
	__host__ __device__ operator float() const { return PTXLOOM_NAME(ptxloom_from_, )(bits); }
	__host__ __device__ operator PTXLOOM_H_RAW() const { return PTXLOOM_H_RAW{bits}; }
	__host__ __device__ explicit operator double() const { return PTXLOOM_NAME(ptxloom_from_, )(bits); }
	__host__ __device__ explicit operator int() const { return (int)PTXLOOM_NAME(ptxloom_from_, )(bits); }
	__host__ __device__ explicit operator unsigned() const { return (unsigned)PTXLOOM_NAME(ptxloom_from_, )(bits); }
	__host__ __device__ explicit operator short() const { return (short)PTXLOOM_NAME(ptxloom_from_, )(bits); }
	__host__ __device__ explicit operator unsigned short() const
	{
		return (unsigned short)PTXLOOM_NAME(ptxloom_from_, )(bits);
	}
	__host__ __device__ explicit operator long long() const { return (long long)PTXLOOM_NAME(ptxloom_from_, )(bits); }
	__host__ __device__ explicit operator bool() const { return (bits & 0x7fff) != 0; }
};
struct __align__(4) PTXLOOM_H2 {
	PTXLOOM_H x, y;

	PTXLOOM_H2() = default;
	__host__ __device__ PTXLOOM_H2(const PTXLOOM_H &a, const PTXLOOM_H &b) : x(a), y(b) {}
	__host__ __device__ explicit PTXLOOM_H2(const PTXLOOM_H &a) : x(a), y(a) {}
};

PTXLOOM_16 PTXLOOM_H PTXLOOM_NAME(__ushort_as_, )(unsigned short u) { return PTXLOOM_H(PTXLOOM_H_RAW{u}); }
PTXLOOM_16 PTXLOOM_H PTXLOOM_NAME(__short_as_, )(short u) { return PTXLOOM_H(PTXLOOM_H_RAW{(unsigned short)u}); }
PTXLOOM_16 unsigned short PTXLOOM_NAME(__, _as_ushort)(PTXLOOM_H h) { return h.bits; }
PTXLOOM_16 short PTXLOOM_NAME(__, _as_short)(PTXLOOM_H h) { return (short)h.bits; }

/* ---- conversions ---- */

PTXLOOM_16 PTXLOOM_H PTXLOOM_NAME(__float2, )(float f) { return PTXLOOM_H(f); }
PTXLOOM_16 PTXLOOM_H PTXLOOM_NAME(__float2, _rn)(float f) { return PTXLOOM_H(f); }
PTXLOOM_16 PTXLOOM_H PTXLOOM_NAME(__double2, )(double f) { return PTXLOOM_H(f); }
PTXLOOM_16 float PTXLOOM_NAME(__, 2float)(PTXLOOM_H h) { return (float)h; }
PTXLOOM_16 PTXLOOM_H2 PTXLOOM_NAME(__float2, 2_rn)(float f) { return PTXLOOM_H2(PTXLOOM_H(f), PTXLOOM_H(f)); }
PTXLOOM_16 PTXLOOM_H2 PTXLOOM_NAME(__floats2, 2_rn)(float a, float b) { return PTXLOOM_H2(PTXLOOM_H(a), PTXLOOM_H(b)); }
PTXLOOM_16 PTXLOOM_H2 PTXLOOM_NAME(__float22, 2_rn)(float2 f) { return PTXLOOM_H2(PTXLOOM_H(f.x), PTXLOOM_H(f.y)); }
PTXLOOM_16 float2 PTXLOOM_NAME(__, 22float2)(PTXLOOM_H2 h) { return make_float2((float)h.x, (float)h.y); }
PTXLOOM_16 float __low2float(PTXLOOM_H2 h) { return (float)h.x; }
PTXLOOM_16 float __high2float(PTXLOOM_H2 h) { return (float)h.y; }
PTXLOOM_16 PTXLOOM_H PTXLOOM_NAME(__low2, )(PTXLOOM_H2 h) { return h.x; }
PTXLOOM_16 PTXLOOM_H PTXLOOM_NAME(__high2, )(PTXLOOM_H2 h) { return h.y; }
PTXLOOM_16 PTXLOOM_H2 PTXLOOM_NAME(__low2, 2)(PTXLOOM_H2 h) { return PTXLOOM_H2(h.x, h.x); }
PTXLOOM_16 PTXLOOM_H2 PTXLOOM_NAME(__high2, 2)(PTXLOOM_H2 h) { return PTXLOOM_H2(h.y, h.y); }
PTXLOOM_16 PTXLOOM_H2 PTXLOOM_NAME(__lows2, 2)(PTXLOOM_H2 a, PTXLOOM_H2 b) { return PTXLOOM_H2(a.x, b.x); }
PTXLOOM_16 PTXLOOM_H2 PTXLOOM_NAME(__highs2, 2)(PTXLOOM_H2 a, PTXLOOM_H2 b) { return PTXLOOM_H2(a.y, b.y); }
PTXLOOM_16 PTXLOOM_H2 __lowhigh2highlow(PTXLOOM_H2 h) { return PTXLOOM_H2(h.y, h.x); }
PTXLOOM_16 PTXLOOM_H2 PTXLOOM_NAME(__halves2, 2)(PTXLOOM_H a, PTXLOOM_H b) { return PTXLOOM_H2(a, b); }
PTXLOOM_16 PTXLOOM_H2 PTXLOOM_NAME(make_, 2)(PTXLOOM_H a, PTXLOOM_H b) { return PTXLOOM_H2(a, b); }

#define PTXLOOM_FROM_INT(type, name) \
	PTXLOOM_16 PTXLOOM_H PTXLOOM_NAME(__##name##2, _rn)(type n) { return PTXLOOM_H(n); } \
	PTXLOOM_16 type PTXLOOM_NAME(__, 2##name##_rz)(PTXLOOM_H h) { return (type)(float)h; } \
	PTXLOOM_16 type PTXLOOM_NAME(__, 2##name##_rn)(PTXLOOM_H h) { return (type)rintf((float)h); } \
	PTXLOOM_16 type PTXLOOM_NAME(__, 2##name##_rd)(PTXLOOM_H h) { return (type)floorf((float)h); } \
	PTXLOOM_16 type PTXLOOM_NAME(__, 2##name##_ru)(PTXLOOM_H h) { return (type)ceilf((float)h); }
PTXLOOM_FROM_INT(int, int)
PTXLOOM_FROM_INT(unsigned, uint)
PTXLOOM_FROM_INT(short, short)
PTXLOOM_FROM_INT(unsigned short, ushort)
PTXLOOM_FROM_INT(long long, ll)
PTXLOOM_FROM_INT(unsigned long long, ull)
#undef PTXLOOM_FROM_INT

/* ---- arithmetic: that of f32 rounded again is exact for one operation of 16 bits ---- */

#define PTXLOOM_PAIR(name, ...) \
	PTXLOOM_16 PTXLOOM_H2 name##2(PTXLOOM_H2 a, PTXLOOM_H2 b) { return PTXLOOM_H2(name(a.x, b.x), name(a.y, b.y)); }
#define PTXLOOM_OPERATION(name, op, ptx) \
	PTXLOOM_16 PTXLOOM_H name(PTXLOOM_H a, PTXLOOM_H b) { return PTXLOOM_H((float)a op (float)b); } \
	PTXLOOM_16 PTXLOOM_H name##_rn(PTXLOOM_H a, PTXLOOM_H b) { return name(a, b); } \
	PTXLOOM_16 PTXLOOM_H name##_sat(PTXLOOM_H a, PTXLOOM_H b) \
	{ \
		float f = (float)name(a, b); \
 \
		return PTXLOOM_H(f > 0.0f ? f < 1.0f ? f : 1.0f : 0.0f); \
	} \
	PTXLOOM_PAIR(name) \
	PTXLOOM_16 PTXLOOM_H2 name##2_rn(PTXLOOM_H2 a, PTXLOOM_H2 b) { return name##2(a, b); } \
	PTXLOOM_16 PTXLOOM_H2 name##2_sat(PTXLOOM_H2 a, PTXLOOM_H2 b) \
	{ \
		return PTXLOOM_H2(name##_sat(a.x, b.x), name##_sat(a.y, b.y)); \
	} \
	PTXLOOM_16 PTXLOOM_H operator op(PTXLOOM_H a, PTXLOOM_H b) { return name(a, b); } \
	PTXLOOM_16 PTXLOOM_H2 operator op(PTXLOOM_H2 a, PTXLOOM_H2 b) { return name##2(a, b); } \
	PTXLOOM_16 PTXLOOM_H &operator op##=(PTXLOOM_H &a, PTXLOOM_H b) { return a = name(a, b); } \
	PTXLOOM_16 PTXLOOM_H2 &operator op##=(PTXLOOM_H2 &a, PTXLOOM_H2 b) { return a = name##2(a, b); }
PTXLOOM_OPERATION(__hadd, +, "add")
PTXLOOM_OPERATION(__hsub, -, "sub")
PTXLOOM_OPERATION(__hmul, *, "mul")
PTXLOOM_16 PTXLOOM_H __hdiv(PTXLOOM_H a, PTXLOOM_H b) { return PTXLOOM_H((float)a / (float)b); }
PTXLOOM_16 PTXLOOM_H2 __h2div(PTXLOOM_H2 a, PTXLOOM_H2 b) { return PTXLOOM_H2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
PTXLOOM_16 PTXLOOM_H operator/(PTXLOOM_H a, PTXLOOM_H b) { return __hdiv(a, b); }
PTXLOOM_16 PTXLOOM_H2 operator/(PTXLOOM_H2 a, PTXLOOM_H2 b) { return __h2div(a, b); }
PTXLOOM_16 PTXLOOM_H &operator/=(PTXLOOM_H &a, PTXLOOM_H b) { return a = __hdiv(a, b); }
PTXLOOM_16 PTXLOOM_H2 &operator/=(PTXLOOM_H2 &a, PTXLOOM_H2 b) { return a = __h2div(a, b); }
PTXLOOM_16 PTXLOOM_H __hneg(PTXLOOM_H a) { return PTXLOOM_NAME(__ushort_as_, )((unsigned short)(a.bits ^ 0x8000)); }
PTXLOOM_16 PTXLOOM_H __habs(PTXLOOM_H a) { return PTXLOOM_NAME(__ushort_as_, )((unsigned short)(a.bits & 0x7fff)); }
PTXLOOM_16 PTXLOOM_H2 __hneg2(PTXLOOM_H2 a) { return PTXLOOM_H2(__hneg(a.x), __hneg(a.y)); }
PTXLOOM_16 PTXLOOM_H2 __habs2(PTXLOOM_H2 a) { return PTXLOOM_H2(__habs(a.x), __habs(a.y)); }
PTXLOOM_16 PTXLOOM_H operator-(PTXLOOM_H a) { return __hneg(a); }
PTXLOOM_16 PTXLOOM_H operator+(PTXLOOM_H a) { return a; }
PTXLOOM_16 PTXLOOM_H2 operator-(PTXLOOM_H2 a) { return __hneg2(a); }
PTXLOOM_16 PTXLOOM_H &operator++(PTXLOOM_H &a) { return a = __hadd(a, PTXLOOM_H(1.0f)); }
PTXLOOM_16 PTXLOOM_H &operator--(PTXLOOM_H &a) { return a = __hsub(a, PTXLOOM_H(1.0f)); }
PTXLOOM_16 PTXLOOM_H __hfma(PTXLOOM_H a, PTXLOOM_H b, PTXLOOM_H c);
PTXLOOM_16 PTXLOOM_H2 __hfma2(PTXLOOM_H2 a, PTXLOOM_H2 b, PTXLOOM_H2 c)
{
	return PTXLOOM_H2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
PTXLOOM_16 PTXLOOM_H __hfma_relu(PTXLOOM_H a, PTXLOOM_H b, PTXLOOM_H c)
{
	PTXLOOM_H r = __hfma(a, b, c);

	return (float)r < 0.0f ? PTXLOOM_H(0.0f) : r;
}

/* ---- comparisons; the forms with u are true of NaN ---- */

#define PTXLOOM_COMPARE(name, op) \
	PTXLOOM_16 bool __h##name(PTXLOOM_H a, PTXLOOM_H b) { return (float)a op (float)b; } \
	PTXLOOM_16 bool __h##name##u(PTXLOOM_H a, PTXLOOM_H b) \
	{ \
		float x = (float)a, y = (float)b; \
 \
		return x != x || y != y || x op y; \
	} \
	PTXLOOM_16 PTXLOOM_H2 __h##name##2(PTXLOOM_H2 a, PTXLOOM_H2 b) \
	{ \
		return PTXLOOM_H2(PTXLOOM_H(__h##name(a.x, b.x) ? 1.0f : 0.0f), PTXLOOM_H(__h##name(a.y, b.y) ? 1.0f : 0.0f)); \
	} \
	PTXLOOM_16 bool __hb##name##2(PTXLOOM_H2 a, PTXLOOM_H2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); } \
	PTXLOOM_16 bool operator op(PTXLOOM_H a, PTXLOOM_H b) { return __h##name(a, b); }
PTXLOOM_COMPARE(eq, ==)
PTXLOOM_COMPARE(lt, <)
PTXLOOM_COMPARE(le, <=)
PTXLOOM_COMPARE(gt, >)
PTXLOOM_COMPARE(ge, >=)
PTXLOOM_COMPARE(ne, !=)
PTXLOOM_16 bool operator==(PTXLOOM_H2 a, PTXLOOM_H2 b) { return __hbeq2(a, b); }
PTXLOOM_16 bool operator!=(PTXLOOM_H2 a, PTXLOOM_H2 b) { return !__hbeq2(a, b); }
PTXLOOM_16 bool __hisnan(PTXLOOM_H a) { return (a.bits & 0x7fff) > PTXLOOM_H_INFINITY; }
PTXLOOM_16 int __hisinf(PTXLOOM_H a) { return (a.bits & 0x7fff) != PTXLOOM_H_INFINITY ? 0 : a.bits & 0x8000 ? -1 : 1; }
PTXLOOM_16 PTXLOOM_H __hmin(PTXLOOM_H a, PTXLOOM_H b)
{
	return __hisnan(a) ? b : __hisnan(b) ? a : (float)b < (float)a || (a == b && b.bits) ? b : a;
}
PTXLOOM_16 PTXLOOM_H __hmax(PTXLOOM_H a, PTXLOOM_H b)
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

#define PTXLOOM_MATH16(name, f) \
	static __device__ __inline__ PTXLOOM_H h##name(PTXLOOM_H a) { return PTXLOOM_H(f((float)a)); } \
	static __device__ __inline__ PTXLOOM_H2 h2##name(PTXLOOM_H2 a) { return PTXLOOM_H2(h##name(a.x), h##name(a.y)); }
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

#define PTXLOOM_SHUFFLE16(name, type) \
	static __device__ __inline__ PTXLOOM_H name(unsigned mask, PTXLOOM_H v, type lane, int width = 32) \
	{ \
		return PTXLOOM_NAME(__ushort_as_, )((unsigned short)name(mask, (unsigned)v.bits, lane, width)); \
	} \
	static __device__ __inline__ PTXLOOM_H2 name(unsigned mask, PTXLOOM_H2 v, type lane, int width = 32) \
	{ \
		return __builtin_bit_cast(PTXLOOM_H2, name(mask, __builtin_bit_cast(unsigned, v), lane, width)); \
	}
PTXLOOM_SHUFFLE16(__shfl_sync, int)
PTXLOOM_SHUFFLE16(__shfl_up_sync, unsigned)
PTXLOOM_SHUFFLE16(__shfl_down_sync, unsigned)
PTXLOOM_SHUFFLE16(__shfl_xor_sync, int)
#undef PTXLOOM_SHUFFLE16

/*
 * One word at a time by compare-and-swap: the instruction for it is newer than the lowest target.
 */
static __device__ __inline__ PTXLOOM_H2 atomicAdd(PTXLOOM_H2 *p, PTXLOOM_H2 v)
{
	unsigned old = *(volatile unsigned *)p, seen;

	do {
		seen = old;
		old = atomicCAS((unsigned *)p, seen,
				__builtin_bit_cast(unsigned, __hadd2(__builtin_bit_cast(PTXLOOM_H2, seen), v)));
	} while (old != seen);
	return __builtin_bit_cast(PTXLOOM_H2, old);
}
static __device__ __inline__ PTXLOOM_H atomicAdd(PTXLOOM_H *p, PTXLOOM_H v)
{
	unsigned long long at = (unsigned long long)p;
	unsigned *word = (unsigned *)(at & ~3ULL), shift = at & 2 ? 16 : 0, old = *(volatile unsigned *)word, seen;

	do {
		unsigned short sum = __hadd(PTXLOOM_NAME(__ushort_as_, )((unsigned short)(old >> shift)), v).bits;

		seen = old;
		old = atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | (unsigned)sum << shift);
	} while (old != seen);
	return PTXLOOM_NAME(__ushort_as_, )((unsigned short)(old >> shift));
}
static __device__ __inline__ PTXLOOM_H __ldg(const PTXLOOM_H *p)
{
	return PTXLOOM_NAME(__ushort_as_, )(__ldg((const unsigned short *)p));
}
static __device__ __inline__ PTXLOOM_H2 __ldg(const PTXLOOM_H2 *p)
{
	return __builtin_bit_cast(PTXLOOM_H2, __ldg((const unsigned *)p));
}
#endif
