/*
 * Vectors for the sums of matrix instructions, as wide as the level of the host has them. A vector
 * is a number of rows of four words: the layout of every fragment, in which lane 4 g + t holds
 * something of row g. So nothing has to be transposed but B.
 */
#ifndef PL_EXEC_MMA_VEC_H
#define PL_EXEC_MMA_VEC_H

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

#pragma GCC diagnostic ignored "-Wpsabi" /* such vectors are only passed inside one file */
typedef f32 mma_vf __attribute__((vector_size(4 * MMA_W), may_alias));
typedef s32 mma_vi __attribute__((vector_size(4 * MMA_W), may_alias));
typedef u32 mma_vu __attribute__((vector_size(4 * MMA_W), may_alias));
typedef s16 mma_vh __attribute__((vector_size(4 * MMA_W), may_alias));
typedef u16 mma_vuh __attribute__((vector_size(4 * MMA_W), may_alias));
typedef s8 mma_vb __attribute__((vector_size(4 * MMA_W), may_alias));
typedef u8 mma_vub __attribute__((vector_size(4 * MMA_W), may_alias));

/* Word t of each row, four times. */
#if MMA_W == 16
#define MMA_SPREAD(v, t) \
	__builtin_shufflevector(v, v, t, t, t, t, 4 + t, 4 + t, 4 + t, 4 + t, 8 + t, 8 + t, 8 + t, 8 + t, \
				12 + t, 12 + t, 12 + t, 12 + t)
#elif MMA_W == 8
#define MMA_SPREAD(v, t) __builtin_shufflevector(v, v, t, t, t, t, 4 + t, 4 + t, 4 + t, 4 + t)
#else
#define MMA_SPREAD(v, t) __builtin_shufflevector(v, v, t, t, t, t)
#endif

/* Sixteen bytes for each row. */
static inline mma_vi mma_each_row(const void *p)
{
#if MMA_W == 16
	return (mma_vi)_mm512_broadcast_i32x4(_mm_loadu_si128(p));
#elif MMA_W == 8
	return (mma_vi)_mm256_broadcastsi128_si256(_mm_loadu_si128(p));
#else
	mma_vi v;

	memcpy(&v, p, 16);
	return v;
#endif
}

/* For each row the bytes that `which` names; 0x80: zero. */
static inline mma_vi mma_choose(mma_vi v, const u8 *which)
{
#if MMA_W == 16
	return (mma_vi)_mm512_shuffle_epi8((__m512i)v, (__m512i)mma_each_row(which));
#elif MMA_W == 8
	return (mma_vi)_mm256_shuffle_epi8((__m256i)v, (__m256i)mma_each_row(which));
#elif defined(__SSSE3__)
	return (mma_vi)_mm_shuffle_epi8((__m128i)v, (__m128i)mma_each_row(which));
#else
	mma_vub from = (mma_vub)v, to;

	for (u32 i = 0; i < 16; i++)
		to[i] = which[i] & 0x80 ? 0 : from[which[i]];
	return (mma_vi)to;
#endif
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

static inline mma_vi mma_pick(mma_vi mask, mma_vi yes, mma_vi no)
{
	return (yes & mask) | (no & ~mask);
}

static inline mma_vi mma_max(mma_vi a, mma_vi b)
{
#if MMA_W == 16
	return (mma_vi)_mm512_max_epi32((__m512i)a, (__m512i)b);
#elif MMA_W == 8
	return (mma_vi)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
	return mma_pick(a > b, a, b);
#endif
}

static inline mma_vh mma_max_half(mma_vh a, mma_vh b)
{
#if MMA_W == 16
	return (mma_vh)_mm512_max_epi16((__m512i)a, (__m512i)b);
#elif MMA_W == 8
	return (mma_vh)_mm256_max_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
	return (mma_vh)_mm_max_epi16((__m128i)a, (__m128i)b);
#else
	return (mma_vh)mma_pick((mma_vi)(a > b), (mma_vi)a, (mma_vi)b);
#endif
}

static inline mma_vub mma_max_byte(mma_vub a, mma_vub b)
{
#if MMA_W == 16
	return (mma_vub)_mm512_max_epu8((__m512i)a, (__m512i)b);
#elif MMA_W == 8
	return (mma_vub)_mm256_max_epu8((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
	return (mma_vub)_mm_max_epu8((__m128i)a, (__m128i)b);
#else
	return (mma_vub)mma_pick((mma_vi)(a > b), (mma_vi)a, (mma_vi)b);
#endif
}

/* Toward zero; no value is out of range. */
static inline mma_vi mma_to_int(mma_vf x)
{
	return __builtin_convertvector(x, mma_vi);
}

/* Toward zero. */
static inline mma_vf mma_cut_float(mma_vi x)
{
#if MMA_W == 16
	return (mma_vf)_mm512_cvt_roundepi32_ps((__m512i)x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
	mma_vi sign = x >> 31, m = (x ^ sign) - sign, low = (mma_vi)((mma_vu)m >> 24);

	low |= low >> 1;
	low |= low >> 2;
	low |= low >> 4; /* the bits that a float does not have */
	m &= ~low;
	return __builtin_convertvector((m ^ sign) - sign, mma_vf);
#endif
}

/* As mma_cut_float, the last bit set when the result is not exact, so that it can be rounded once more. */
static inline mma_vf mma_odd_float(mma_vi x)
{
	mma_vf f = mma_cut_float(x);

	return (mma_vf)((mma_vi)f | ((__builtin_convertvector(f, mma_vi) != x) & 1));
}

static inline bool mma_any(mma_vi x)
{
#if MMA_W == 16
	return _mm512_test_epi32_mask((__m512i)x, (__m512i)x) != 0;
#elif MMA_W == 8
	return !_mm256_testz_si256((__m256i)x, (__m256i)x);
#else
	return (x[0] | x[1] | x[2] | x[3]) != 0;
#endif
}

/* Halves in the low 16 bits of words, and back to nearest even. */
static inline mma_vf mma_widen(mma_vi h)
{
	mma_vf f = (mma_vf)(((h << 16) >> 3) & (s32)0x8fffe000) * 0x1p112f;

	return f;
}

static inline mma_vi mma_narrow_half(mma_vf f)
{
#if MMA_W == 16
	return (mma_vi)_mm512_cvtepu16_epi32(_mm512_cvtps_ph((__m512)f, _MM_FROUND_TO_NEAREST_INT));
#elif MMA_W == 8 && defined(__F16C__)
	return (mma_vi)_mm256_cvtepu16_epi32(_mm256_cvtps_ph((__m256)f, _MM_FROUND_TO_NEAREST_INT));
#else
	mma_vi u = (mma_vi)f, sign = (mma_vi)((mma_vu)u >> 16) & 0x8000, m = u & 0x7fffffff;
	mma_vi low = (mma_vi)((mma_vf)m + 0.5f) & 0x7ff; /* subnormal: the sum's unit is 2^-24 */
	mma_vi high = (m - (112 << 23) + 0xfff + ((m >> 13) & 1)) >> 13;

	high = mma_pick(high > 0x7c00, (mma_vi){0} + 0x7c00, high);
	return sign | mma_pick(m < (113 << 23), low, high);
#endif
}

#endif
