/*
 * How the addresses of neighbouring lanes lie: all the same, or one element after the other. Half a
 * warp is inspected at a time, since the rows of two-dimensional tiles are often 16 wide. Included
 * by handler files only.
 */
#ifndef PL_OPS_ADDRESS_KIND_H
#define PL_OPS_ADDRESS_KIND_H

#include "src/ops/lanes.h"

#define HALF_LANES 16u

enum address_kind { ADDRESS_APART, ADDRESS_SAME, ADDRESS_ROW };

static PL_UNUSED inline enum address_kind kind_from(bool same, bool row)
{
	return same ? ADDRESS_SAME : row ? ADDRESS_ROW : ADDRESS_APART;
}

#if defined(__AVX512F__)

/* 16 addresses; `size` bytes apart when they are a row. */
static inline enum address_kind classify_half_32(const u32 *r, u32 size)
{
	const __m512i lane =
		_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	__m512i d = _mm512_sub_epi32(_mm512_loadu_si512(r), _mm512_set1_epi32((int)r[0]));
	__m512i want = _mm512_mullo_epi32(lane, _mm512_set1_epi32((int)size));

	return kind_from(!_mm512_test_epi32_mask(d, d), !_mm512_cmpneq_epi32_mask(d, want));
}

static inline enum address_kind classify_half_64(const u64 *r, u32 size)
{
	const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
	__m512i first = _mm512_set1_epi64((long long)r[0]), step = _mm512_set1_epi64(size);
	__m512i lo = _mm512_sub_epi64(_mm512_loadu_si512(r), first),
		hi = _mm512_sub_epi64(_mm512_loadu_si512(r + 8), first);
	__m512i row = _mm512_mul_epu32(lane, step), any = _mm512_or_si512(lo, hi);
	__mmask8 off =
		_mm512_cmpneq_epi64_mask(lo, row) |
		_mm512_cmpneq_epi64_mask(hi, _mm512_add_epi64(row, _mm512_slli_epi64(step, 3)));

	return kind_from(!_mm512_test_epi64_mask(any, any), !off);
}

#elif defined(__AVX2__)

static inline enum address_kind classify_half_32(const u32 *r, u32 size)
{
	__m256i first = _mm256_set1_epi32((int)r[0]), step = _mm256_set1_epi32((int)size);
	__m256i row = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), step);
	__m256i lo = _mm256_sub_epi32(_mm256_loadu_si256((const __m256i *)(const void *)r), first);
	__m256i hi =
		_mm256_sub_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(r + 8)), first);
	__m256i any = _mm256_or_si256(lo, hi);
	__m256i off = _mm256_or_si256(
		_mm256_xor_si256(lo, row),
		_mm256_xor_si256(hi, _mm256_add_epi32(row, _mm256_slli_epi32(step, 3))));

	return kind_from(_mm256_testz_si256(any, any), _mm256_testz_si256(off, off));
}

static inline enum address_kind classify_half_64(const u64 *r, u32 size)
{
	__m256i first = _mm256_set1_epi64x((long long)r[0]),
		step = _mm256_set1_epi64x((long long)size * 4);
	__m256i row = _mm256_mul_epu32(_mm256_setr_epi64x(0, 1, 2, 3), _mm256_set1_epi64x(size));
	__m256i any = _mm256_setzero_si256(), off = any;

	for (u32 i = 0; i < HALF_LANES; i += 4, row = _mm256_add_epi64(row, step)) {
		__m256i d = _mm256_sub_epi64(
			_mm256_loadu_si256((const __m256i *)(const void *)(r + i)), first);

		any = _mm256_or_si256(any, d);
		off = _mm256_or_si256(off, _mm256_xor_si256(d, row));
	}
	return kind_from(_mm256_testz_si256(any, any), _mm256_testz_si256(off, off));
}

#else

static inline enum address_kind classify_half_32(const u32 *r, u32 size)
{
	u32 any = 0, off = 0;

	for (u32 l = 0; l < HALF_LANES; l++) {
		any |= r[l] ^ r[0];
		off |= (r[l] - r[0]) ^ l * size;
	}
	return kind_from(!any, !off);
}

static inline enum address_kind classify_half_64(const u64 *r, u32 size)
{
	u64 any = 0, off = 0;

	for (u32 l = 0; l < HALF_LANES; l++) {
		any |= r[l] ^ r[0];
		off |= (r[l] - r[0]) ^ (u64)l * size;
	}
	return kind_from(!any, !off);
}

#endif

/* ---- more lanes than half a warp ---- */

/* As wide as the host's registers: compilers take wider vectors apart through memory. */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64u
#elif defined(__AVX2__)
#define VECTOR_BYTES 32u
#else
#define VECTOR_BYTES 16u
#endif
#define VECTOR_WORDS (VECTOR_BYTES / 4)
#define VECTOR_PAIRS (VECTOR_BYTES / 8)

typedef u32 lane_words __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef u64 lane_pairs __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

static const u32 lane_numbers[16]
	__attribute__((aligned(64))) = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const u64 lane_numbers_64[8] __attribute__((aligned(64))) = {0, 1, 2, 3, 4, 5, 6, 7};

/* As many words as a vector has double words. */
typedef u32 lane_half __attribute__((vector_size(VECTOR_BYTES / 2), aligned(4), may_alias));
typedef s32 lane_half_signed __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef s64 lane_pairs_signed __attribute__((vector_size(VECTOR_BYTES)));

/* Words, extended to double words, times 16 bits. */
#if defined(__AVX2__) && !defined(__AVX512F__)
static inline void scale_lanes(lane_pairs *to, const lane_half *x, u32 by, bool sign)
{
	__m256i f = _mm256_set1_epi64x(by), *r = (__m256i *)to;
	__m256i wide = _mm256_cvtepu32_epi64(*(const __m128i *)x);

	*r = sign ? _mm256_mul_epi32(wide, f) : _mm256_mul_epu32(wide, f);
}
#else
static inline void scale_lanes(lane_pairs *to, const lane_half *x, u32 by, bool sign)
{
	*to = sign ? (lane_pairs) __builtin_convertvector((lane_half_signed)*x, lane_pairs_signed)
		   : __builtin_convertvector(*x, lane_pairs);
	*to *= by;
}
#endif

static inline bool has_bits(const lane_pairs *v)
{
	u64 any = 0;

	for (u32 i = 0; i < VECTOR_PAIRS; i++)
		any |= (*v)[i];
	return any;
}

/* Are the n words, a multiple of 16, `step` apart? */
static PL_UNUSED inline bool is_row_32(const u32 *r, u32 n, u32 step)
{
	lane_words x = *(const lane_words *)lane_numbers * step + r[0], off = x ^ x;

	for (u32 i = 0; i < n; i += VECTOR_WORDS, x += VECTOR_WORDS * step)
		off |= *(const lane_words *)(r + i) ^ x;
	return !has_bits((const lane_pairs *)(const void *)&off);
}

static PL_UNUSED inline bool is_row_64(const u64 *r, u32 n, u64 step)
{
	lane_pairs x = *(const lane_pairs *)lane_numbers_64 * step + r[0], off = x ^ x;

	for (u32 i = 0; i < n; i += VECTOR_PAIRS, x += VECTOR_PAIRS * step)
		off |= *(const lane_pairs *)(r + i) ^ x;
	return !has_bits(&off);
}

#endif
