/*
 * Looking for a value among those of a set or a row at once.
 */
#ifndef PL_CACHE_EQUAL_H
#define PL_CACHE_EQUAL_H

#include "src/base/base.h"

#define EQUAL_BYTES 128u
#define EQUAL_WORDS 8u

#if defined(__SSE2__)
#include <emmintrin.h>

/* Bytes that are `x`, a bit each. at: aligned to 16 bytes, as below. */
static inline void bytes_equal(const u8 at[EQUAL_BYTES], u8 x, u64 out[2])
{
	__m128i same = _mm_set1_epi8((char)x);

	for (u32 half = 0; half < 2; half++) {
		out[half] = 0;
		for (u32 i = 0; i < 4; i++) {
			__m128i v = _mm_load_si128((const __m128i *)at + half * 4 + i);
			u32 bits = (u32)_mm_movemask_epi8(_mm_cmpeq_epi8(v, same));

			out[half] |= (u64)bits << 16 * i;
		}
	}
}

/* Words that are `x`, a bit each. */
static inline u32 words_equal(const u32 at[EQUAL_WORDS], u32 x)
{
	__m128i same = _mm_set1_epi32((int)x);
	__m128i a = _mm_cmpeq_epi32(_mm_load_si128((const __m128i *)at), same);
	__m128i b = _mm_cmpeq_epi32(_mm_load_si128((const __m128i *)at + 1), same);
	u32 low = (u32)_mm_movemask_ps(_mm_castsi128_ps(a));
	u32 high = (u32)_mm_movemask_ps(_mm_castsi128_ps(b));

	return low | high << 4;
}
#else
static inline void bytes_equal(const u8 at[EQUAL_BYTES], u8 x, u64 out[2])
{
	out[0] = out[1] = 0;
	for (u32 i = 0; i < EQUAL_BYTES; i++)
		out[i >> 6] |= (u64)(at[i] == x) << (i & 63);
}

static inline u32 words_equal(const u32 at[EQUAL_WORDS], u32 x)
{
	u32 equal = 0;

	for (u32 i = 0; i < EQUAL_WORDS; i++)
		equal |= (u32)(at[i] == x) << i;
	return equal;
}
#endif

#endif
