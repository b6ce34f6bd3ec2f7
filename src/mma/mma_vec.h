/*
 * Vectors for the sums of matrix instructions, as wide as the level of the host has them. Loaded, a
 * vector is a number of rows of four words: the layout of every fragment, in which lane 4 g + t
 * holds something of row g.
 */
#ifndef PL_MMA_VEC_H
#define PL_MMA_VEC_H

#include "src/base/base.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Words of a vector. */
#if defined(__AVX512BW__)
#define MMA_W 16
#elif defined(__AVX2__)
#define MMA_W 8
#else
#define MMA_W 4
#endif

#define MMA_INLINE static inline __attribute__((always_inline))

/* Before a short loop: all of it in a row, so that what it makes stays in registers. */
#if defined(__clang__)
#define MMA_UNROLL _Pragma("unroll")
#else
#define MMA_UNROLL _Pragma("GCC unroll 8")
#endif
/* The same before one over columns, where registers are many. */
#if MMA_W < 16
#define MMA_UNROLL_WIDE
#else
#define MMA_UNROLL_WIDE MMA_UNROLL
#endif

#define MMA_FRAGMENT_WORDS 32u
#define MMA_VECTORS (64 / MMA_W) /* of a fragment of 16 rows */

#pragma GCC diagnostic ignored "-Wpsabi" /* such vectors are only passed inside one file */
typedef f32 mma_vf __attribute__((vector_size(4 * MMA_W), may_alias));
typedef s32 mma_vi __attribute__((vector_size(4 * MMA_W), may_alias));
typedef u32 mma_vu __attribute__((vector_size(4 * MMA_W), may_alias));
typedef s64 mma_vl __attribute__((vector_size(4 * MMA_W), may_alias));
typedef s16 mma_vh __attribute__((vector_size(4 * MMA_W), may_alias));
typedef u16 mma_vuh __attribute__((vector_size(4 * MMA_W), may_alias));
typedef s8 mma_vb __attribute__((vector_size(4 * MMA_W), may_alias));
typedef u8 mma_vub __attribute__((vector_size(4 * MMA_W), may_alias));

#if MMA_W == 16

static inline mma_vi mma_pick(mma_vi mask, mma_vi yes, mma_vi no)
{
	return (mma_vi)_mm512_ternarylogic_epi32((__m512i)mask, (__m512i)yes, (__m512i)no, 0xca);
}

#else

static inline mma_vi mma_pick(mma_vi mask, mma_vi yes, mma_vi no)
{
	return (yes & mask) | (no & ~mask);
}

#endif

static inline mma_vi mma_splat(u32 x)
{
	return (mma_vi){0} + (s32)x;
}

/* Its bits: no sum of floats would keep -0. */
static inline mma_vf mma_splat_float(f32 x)
{
	u32 bits;

	memcpy(&bits, &x, sizeof(bits));
	return (mma_vf)mma_splat(bits);
}

static inline mma_vi mma_load(const void *p)
{
	mma_vi v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void mma_store(void *p, mma_vi v)
{
	memcpy(p, &v, sizeof(v));
}

/* Toward zero; no value is out of range. */
static inline mma_vi mma_to_int(mma_vf x)
{
	return __builtin_convertvector(x, mma_vi);
}

/*
 * By level of the host:
 * mma_each_row: sixteen bytes for each row.
 * mma_choose: for each row the bytes that `which` names; 0x80 is zero. mma_look_up: of a table of
 * sixteen bytes, which every row has, those that the bytes of `at` name. mma_max, mma_max_half,
 * mma_max_byte, mma_min_byte: the larger, or smaller ones; bytes have no sign. mma_pairs: products
 * of 16-bit halves, two of them added.
 * mma_larger: the one that is farther from zero, or its opposite; no NaN.
 * mma_any: is something not zero?
 */
#if MMA_W == 16

#define MMA_SPREAD(v, t)                                                                           \
	__builtin_shufflevector(v, v, t, t, t, t, 4 + t, 4 + t, 4 + t, 4 + t, 8 + t, 8 + t, 8 + t, \
				8 + t, 12 + t, 12 + t, 12 + t, 12 + t)
#define MMA_NAMED(name) _mm512_##name
typedef __m512i mma_raw;

static inline mma_vi mma_each_row(const void *p)
{
	return (mma_vi)_mm512_broadcast_i32x4(_mm_loadu_si128(p));
}

static inline mma_vf mma_larger(mma_vf a, mma_vf b)
{
	return (mma_vf)_mm512_range_ps((__m512)a, (__m512)b, 11);
}

static inline bool mma_any(mma_vi x)
{
	return _mm512_test_epi32_mask((__m512i)x, (__m512i)x) != 0;
}

#elif MMA_W == 8

#define MMA_SPREAD(v, t) __builtin_shufflevector(v, v, t, t, t, t, 4 + t, 4 + t, 4 + t, 4 + t)
#define MMA_NAMED(name) _mm256_##name
typedef __m256i mma_raw;

static inline mma_vi mma_each_row(const void *p)
{
	return (mma_vi)_mm256_broadcastsi128_si256(_mm_loadu_si128(p));
}

static inline bool mma_any(mma_vi x)
{
	return !_mm256_testz_si256((__m256i)x, (__m256i)x);
}

#else

#define MMA_SPREAD(v, t) __builtin_shufflevector(v, v, t, t, t, t)

static inline mma_vi mma_each_row(const void *p)
{
	return mma_load(p);
}

static inline bool mma_any(mma_vi x)
{
	return (x[0] | x[1] | x[2] | x[3]) != 0;
}

#endif

/* Word t of each row, four times; t is a constant. */
MMA_INLINE mma_vi mma_spread(mma_vi v, u32 t)
{
	switch (t) {
	case 0:
		return MMA_SPREAD(v, 0);
	case 1:
		return MMA_SPREAD(v, 1);
	case 2:
		return MMA_SPREAD(v, 2);
	default:
		return MMA_SPREAD(v, 3);
	}
}

#if MMA_W > 4

static inline mma_vi mma_look_up(mma_vi table, mma_vi at)
{
	return (mma_vi)MMA_NAMED(shuffle_epi8)((mma_raw)table, (mma_raw)at);
}

static inline mma_vi mma_max(mma_vi a, mma_vi b)
{
	return (mma_vi)MMA_NAMED(max_epi32)((mma_raw)a, (mma_raw)b);
}

static inline mma_vh mma_max_half(mma_vh a, mma_vh b)
{
	return (mma_vh)MMA_NAMED(max_epi16)((mma_raw)a, (mma_raw)b);
}

static inline mma_vub mma_max_byte(mma_vub a, mma_vub b)
{
	return (mma_vub)MMA_NAMED(max_epu8)((mma_raw)a, (mma_raw)b);
}

static inline mma_vub mma_min_byte(mma_vub a, mma_vub b)
{
	return (mma_vub)MMA_NAMED(min_epu8)((mma_raw)a, (mma_raw)b);
}

static inline mma_vi mma_pairs(mma_vi a, mma_vi b)
{
	return (mma_vi)MMA_NAMED(madd_epi16)((mma_raw)a, (mma_raw)b);
}

#endif

#if MMA_W == 4 && defined(__SSSE3__)

static inline mma_vi mma_look_up(mma_vi table, mma_vi at)
{
	return (mma_vi)_mm_shuffle_epi8((__m128i)table, (__m128i)at);
}

#elif MMA_W == 4

static inline mma_vi mma_look_up(mma_vi table, mma_vi at)
{
	mma_vub from = (mma_vub)table, which = (mma_vub)at, to;

	for (u32 i = 0; i < 16; i++)
		to[i] = which[i] & 0x80 ? 0 : from[which[i]];
	return (mma_vi)to;
}

#endif

#if MMA_W == 4 && defined(__SSE2__)

static inline mma_vi mma_max(mma_vi a, mma_vi b)
{
	return mma_pick(a > b, a, b);
}

static inline mma_vh mma_max_half(mma_vh a, mma_vh b)
{
	return (mma_vh)_mm_max_epi16((__m128i)a, (__m128i)b);
}

static inline mma_vub mma_max_byte(mma_vub a, mma_vub b)
{
	return (mma_vub)_mm_max_epu8((__m128i)a, (__m128i)b);
}

static inline mma_vub mma_min_byte(mma_vub a, mma_vub b)
{
	return (mma_vub)_mm_min_epu8((__m128i)a, (__m128i)b);
}

static inline mma_vi mma_pairs(mma_vi a, mma_vi b)
{
	return (mma_vi)_mm_madd_epi16((__m128i)a, (__m128i)b);
}

#elif MMA_W == 4

static inline mma_vi mma_max(mma_vi a, mma_vi b)
{
	return mma_pick(a > b, a, b);
}

static inline mma_vh mma_max_half(mma_vh a, mma_vh b)
{
	return (mma_vh)mma_pick((mma_vi)(a > b), (mma_vi)a, (mma_vi)b);
}

static inline mma_vub mma_max_byte(mma_vub a, mma_vub b)
{
	return (mma_vub)mma_pick((mma_vi)(a > b), (mma_vi)a, (mma_vi)b);
}

static inline mma_vub mma_min_byte(mma_vub a, mma_vub b)
{
	return (mma_vub)mma_pick((mma_vi)(a < b), (mma_vi)a, (mma_vi)b);
}

static inline mma_vi mma_pairs(mma_vi a, mma_vi b)
{
	return ((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16);
}

#endif

#if MMA_W < 16

static inline mma_vf mma_larger(mma_vf a, mma_vf b)
{
	return (mma_vf)mma_max((mma_vi)a & 0x7fffffff, (mma_vi)b & 0x7fffffff);
}

#endif

static inline mma_vi mma_choose(mma_vi v, const u8 *which)
{
	return mma_look_up(v, mma_each_row(which));
}

/* ---- rows of words to words of rows ---- */

#if MMA_W == 16
#define MMA_EACH_ROW(M) M(0), M(4), M(8), M(12)
#elif MMA_W == 8
#define MMA_EACH_ROW(M) M(0), M(4)
#else
#define MMA_EACH_ROW(M) M(0)
#endif
#define MMA_LOW(i) i, MMA_W + i, i + 1, MMA_W + i + 1
#define MMA_HIGH(i) i + 2, MMA_W + i + 2, i + 3, MMA_W + i + 3
#define MMA_LOW_TWO(i) i / 2, (MMA_W + i) / 2
#define MMA_HIGH_TWO(i) i / 2 + 1, (MMA_W + i) / 2 + 1

/*
 * Four vectors of rows to one of words 0 of all these rows, one of words 1, and so on: lane 4 i + n
 * is row i of vector n. Done twice, all is as before.
 */
MMA_INLINE void mma_transpose(const mma_vi *from, mma_vi *to)
{
	mma_vl a = (mma_vl)__builtin_shufflevector(from[0], from[1], MMA_EACH_ROW(MMA_LOW)),
	       b = (mma_vl)__builtin_shufflevector(from[0], from[1], MMA_EACH_ROW(MMA_HIGH)),
	       c = (mma_vl)__builtin_shufflevector(from[2], from[3], MMA_EACH_ROW(MMA_LOW)),
	       d = (mma_vl)__builtin_shufflevector(from[2], from[3], MMA_EACH_ROW(MMA_HIGH));

	to[0] = (mma_vi)__builtin_shufflevector(a, c, MMA_EACH_ROW(MMA_LOW_TWO));
	to[1] = (mma_vi)__builtin_shufflevector(a, c, MMA_EACH_ROW(MMA_HIGH_TWO));
	to[2] = (mma_vi)__builtin_shufflevector(b, d, MMA_EACH_ROW(MMA_LOW_TWO));
	to[3] = (mma_vi)__builtin_shufflevector(b, d, MMA_EACH_ROW(MMA_HIGH_TWO));
}

/* Of each row: the first (or last) four halves of a and of b, alternating. */
static inline mma_vi mma_low_halves(mma_vi a, mma_vi b)
{
#define MMA_LOW_HALVES(i)                                                                          \
	2 * (i), 2 * (MMA_W + i), 2 * (i) + 1, 2 * (MMA_W + i) + 1, 2 * (i) + 2,                   \
		2 * (MMA_W + i) + 2, 2 * (i) + 3, 2 * (MMA_W + i) + 3
	return (mma_vi)__builtin_shufflevector((mma_vh)a, (mma_vh)b, MMA_EACH_ROW(MMA_LOW_HALVES));
}

static inline mma_vi mma_high_halves(mma_vi a, mma_vi b)
{
#define MMA_HIGH_HALVES(i)                                                                         \
	2 * (i) + 4, 2 * (MMA_W + i) + 4, 2 * (i) + 5, 2 * (MMA_W + i) + 5, 2 * (i) + 6,           \
		2 * (MMA_W + i) + 6, 2 * (i) + 7, 2 * (MMA_W + i) + 7
	return (mma_vi)__builtin_shufflevector((mma_vh)a, (mma_vh)b, MMA_EACH_ROW(MMA_HIGH_HALVES));
}

/* ---- rounding; halves are in the low 16 bits of words ---- */

static inline mma_vf mma_widen(mma_vi h)
{
	return (mma_vf)(((h << 16) >> 3) & (s32)0x8fffe000) * 0x1p112f;
}

#if MMA_W == 16

/* Integers toward zero to f32. */
static inline mma_vf mma_cut_float(mma_vi x)
{
	return (mma_vf)_mm512_cvt_roundepi32_ps((__m512i)x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

/* f32 to nearest even halves. */
static inline mma_vi mma_narrow_half(mma_vf f)
{
	return (mma_vi)_mm512_cvtepu16_epi32(_mm512_cvtps_ph((__m512)f, _MM_FROUND_TO_NEAREST_INT));
}

#else

static inline mma_vf mma_cut_float(mma_vi x)
{
	mma_vi sign = x >> 31, m = (x ^ sign) - sign, low = (mma_vi)((mma_vu)m >> 24);

	low |= low >> 1;
	low |= low >> 2;
	low |= low >> 4; /* the bits that a float does not have */
	m &= ~low;
	return __builtin_convertvector((m ^ sign) - sign, mma_vf);
}

static inline mma_vi mma_narrow_half(mma_vf f)
{
	mma_vi u = (mma_vi)f, sign = (mma_vi)((mma_vu)u >> 16) & 0x8000, m = u & 0x7fffffff;
	mma_vi low = (mma_vi)((mma_vf)m + 0.5f) & 0x7ff; /* subnormal: the sum's unit is 2^-24 */
	mma_vi high = (m - (112 << 23) + 0xfff + ((m >> 13) & 1)) >> 13;

	high = mma_pick(high > 0x7c00, (mma_vi){0} + 0x7c00, high);
	return sign | mma_pick(m < (113 << 23), low, high);
}

#endif

/*
 * f, what mma_cut_float makes of x; the last bit is set when that is not exact, so that it can be
 * rounded once more.
 */
static inline mma_vf mma_odd_float(mma_vi x, mma_vf f)
{
	return (mma_vf)((mma_vi)f | ((__builtin_convertvector(f, mma_vi) != x) & 1));
}

#endif
