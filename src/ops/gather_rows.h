/*
 * Elements and vectors of lanes that lie anywhere: all of a warp's lanes that take part at once,
 * with addresses, checks and values in the host's vector registers. For hosts with AVX-512, and, as
 * far as it is about words and double words, with AVX2; the rest goes lane by lane (lane_moves.h).
 * Included by handler files only.
 */
#ifndef PL_OPS_GATHER_ROWS_H
#define PL_OPS_GATHER_ROWS_H

#include "src/ops/address_form.h"
#include "src/ops/value_rows.h"

#if defined(__AVX512F__)

#define GATHERS true

/* From a row in memory whose first lane would be at `host`; only lanes of `mask` are touched. */
static inline bool load_masked(void *d, u64 host, u32 mask, u32 size)
{
	const u8 *m = (const u8 *)(uintptr_t)host;

	for (u32 i = 0; i < size / 2; i++, mask = size == 8 ? mask >> 8 : mask >> 16) {
		__m512i *to = (__m512i *)d + i;
		__m512i old = _mm512_loadu_si512(to);

		_mm512_storeu_si512(
			to, size == 8 ? _mm512_mask_loadu_epi64(old, (__mmask8)mask, m + 64 * i)
				      : _mm512_mask_loadu_epi32(old, (__mmask16)mask, m + 64 * i));
	}
	return true;
}

/* Host addresses of the lanes of a warp, by eights. */
struct gather {
	__m512i host[4];
};

/*
 * The addresses in `a` as the host's. False: some lane of the mask is misaligned or outside of the
 * window, so that others have to look.
 */
static ALWAYS_INLINE bool gather_begin(struct gather *v, const struct access *a,
				       struct mem_cache window)
{
	__m512i lo = _mm512_set1_epi64((s64)window.lo), bias = _mm512_set1_epi64((s64)window.bias);
	__m512i last = _mm512_set1_epi64((s64)(window.span - a->width)),
		off = _mm512_setzero_si512(), bits = off;

	for (u32 i = 0; i < 4; i++) {
		__mmask8 k = (__mmask8)(a->mask >> 8 * i);
		__m512i x = _mm512_loadu_si512(a->address + 8 * i), d = _mm512_sub_epi64(x, lo);

		off = _mm512_mask_or_epi64(off, k, off,
					   _mm512_or_si512(d, _mm512_sub_epi64(last, d)));
		bits = _mm512_mask_or_epi64(bits, k, bits, x);
		v->host[i] = _mm512_add_epi64(x, bias);
	}
	return window.span >= a->width && !_mm512_movepi64_mask(off) &&
	       !_mm512_test_epi64_mask(bits, _mm512_set1_epi64((s64)a->width - 1));
}

/* Is every lane of the mask where a row whose first lane is at `first` would have it? */
static ALWAYS_INLINE bool gather_is_row(const struct gather *v, u32 mask, u64 first, u32 width)
{
	const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
	__m512i row = _mm512_add_epi64(_mm512_mul_epu32(lane, _mm512_set1_epi64(width)),
				       _mm512_set1_epi64((s64)first));
	__m512i step = _mm512_set1_epi64(8 * width);
	__mmask8 off = 0;

	for (u32 i = 0; i < 4; i++, row = _mm512_add_epi64(row, step))
		off |= _mm512_mask_cmpneq_epi64_mask((__mmask8)(mask >> 8 * i), v->host[i], row);
	return !off;
}

/* The same of addresses in memory. */
static ALWAYS_INLINE bool is_masked_row(const u64 *lanes, u32 mask, u64 first, u32 width)
{
	struct gather v;

	for (u32 i = 0; i < 4; i++)
		v.host[i] = _mm512_loadu_si512(lanes + 8 * i);
	return gather_is_row(&v, mask, first, width);
}

/* Words and double words of the lanes of the mask. */
static ALWAYS_INLINE void gather_words(u32 *d, const struct gather *v, u32 mask)
{
	for (u32 i = 0; i < 4; i++) {
		__m256i *to = (__m256i *)(void *)(d + 8 * i);

		_mm256_storeu_si256(to, _mm512_mask_i64gather_epi32(_mm256_loadu_si256(to),
								    (__mmask8)(mask >> 8 * i),
								    v->host[i], NULL, 1));
	}
}

static ALWAYS_INLINE void gather_pairs(u64 *d, const struct gather *v, u32 mask)
{
	for (u32 i = 0; i < 4; i++) {
		void *to = d + 8 * i;

		_mm512_storeu_si512(to, _mm512_mask_i64gather_epi64(_mm512_loadu_si512(to),
								    (__mmask8)(mask >> 8 * i),
								    v->host[i], NULL, 1));
	}
}

/* One element of 4 or 8 bytes, as rows have it. False: as of gather_begin. */
static ALWAYS_INLINE bool gather_elements(struct gang *g, const struct uop *in, u32 size,
					  const struct access *a, struct mem_cache window)
{
	u32 at = a->warp * WARP_LANES, first = (u32)__builtin_ctz(a->mask);
	u64 row = a->address[first] + window.bias - (u64)first * size;
	struct gather v;

	if (PL_UNLIKELY(!gather_begin(&v, a, window)))
		return false;
	if (a->mask != FULL_MASK && gather_is_row(&v, a->mask, row, size))
		return load_masked(size == 8 ? (void *)(ROW64(in->d) + at)
					     : (void *)(ROW32(in->d) + at),
				   row, a->mask, size);
	if (size == 8)
		gather_pairs(ROW64(in->d) + at, &v, a->mask);
	else
		gather_words(ROW32(in->d) + at, &v, a->mask);
	return true;
}

/* ---- vectors: what a lane has is a piece of memory, read at once ---- */

/* Two words of 16 lanes: those of eight in `lo`, of the next eight in `hi`. */
static ALWAYS_INLINE void gather_split_pairs(u32 *first, u32 *second, __mmask16 k, __m512i lo,
					     __m512i hi)
{
	const __m512i even =
		_mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
	__m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));

	_mm512_mask_storeu_epi32(first, k, _mm512_permutex2var_epi32(lo, even, hi));
	_mm512_mask_storeu_epi32(second, k, _mm512_permutex2var_epi32(lo, odd, hi));
}

static ALWAYS_INLINE void gather_two_words(struct gang *g, const u32 *rows, u32 at, u32 mask,
					   const struct gather *v)
{
	for (u32 i = 0; i < 2; i++, mask >>= 16) {
		__m512i lo = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), (__mmask8)mask,
							 v->host[2 * i], NULL, 1);
		__m512i hi = _mm512_mask_i64gather_epi64(
			_mm512_setzero_si512(), (__mmask8)(mask >> 8), v->host[2 * i + 1], NULL, 1);

		gather_split_pairs(ROW32(rows[0]) + at + 16 * i, ROW32(rows[1]) + at + 16 * i,
				   (__mmask16)mask, lo, hi);
	}
}

/* The 16 bytes of four lanes, `step` apart. */
static ALWAYS_INLINE __m512i gather_pieces(const u64 *host, u32 step)
{
	__m128i p[4];

	for (u32 i = 0; i < 4; i++)
		p[i] = (__m128i)piece_load((const void *)(uintptr_t)host[i * step]);
	return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_inserti128_si256(
					  _mm256_castsi128_si256(p[0]), p[1], 1)),
				  _mm256_inserti128_si256(_mm256_castsi128_si256(p[2]), p[3], 1),
				  1);
}

/* Four words of 16 lanes: a transposition of four by four in each quarter. */
static ALWAYS_INLINE void gather_four_words(struct gang *g, const u32 *rows, u32 at, __mmask16 k,
					    const u64 *host)
{
	__m512i a = gather_pieces(host, 4), b = gather_pieces(host + 1, 4),
		c = gather_pieces(host + 2, 4), d = gather_pieces(host + 3, 4);
	__m512i ab = _mm512_unpacklo_epi32(a, b), cd = _mm512_unpacklo_epi32(c, d);

	_mm512_mask_storeu_epi32(ROW32(rows[0]) + at, k, _mm512_unpacklo_epi64(ab, cd));
	_mm512_mask_storeu_epi32(ROW32(rows[1]) + at, k, _mm512_unpackhi_epi64(ab, cd));
	ab = _mm512_unpackhi_epi32(a, b);
	cd = _mm512_unpackhi_epi32(c, d);
	_mm512_mask_storeu_epi32(ROW32(rows[2]) + at, k, _mm512_unpacklo_epi64(ab, cd));
	_mm512_mask_storeu_epi32(ROW32(rows[3]) + at, k, _mm512_unpackhi_epi64(ab, cd));
}

/* Two double words of eight lanes. */
static ALWAYS_INLINE void gather_two_pairs(struct gang *g, const u32 *rows, u32 at, __mmask8 k,
					   const u64 *host)
{
	__m512i a = gather_pieces(host, 2), b = gather_pieces(host + 1, 2);

	_mm512_mask_storeu_epi64(ROW64(rows[0]) + at, k, _mm512_unpacklo_epi64(a, b));
	_mm512_mask_storeu_epi64(ROW64(rows[1]) + at, k, _mm512_unpackhi_epi64(a, b));
}

/* The usual shapes: two or four words, two double words, all in registers. */
static ALWAYS_INLINE bool gather_knows(const struct gang *g, const struct uop *in)
{
	u32 size = in->mem.size, count = in->mem.count;
	bool words = size == 4 && !(in->flags & UOPF_WIDE_DATA) && (count == 2 || count == 4);

	return (words || (size == 8 && count == 2)) && all_rows(g, in);
}

static ALWAYS_INLINE bool gather_vectors(struct gang *g, const struct uop *in,
					 const struct access *a, struct mem_cache window)
{
	const u32 *rows = g->env->program->ext + in->ext;
	u32 at = a->warp * WARP_LANES, mask = a->mask;
	__m512i some = _mm512_set1_epi64((s64)(a->address[__builtin_ctz(mask)] + window.bias));
	u64 host[WARP_LANES] __attribute__((aligned(64)));
	struct gather v;

	if (!gather_knows(g, in) || PL_UNLIKELY(!gather_begin(&v, a, window)))
		return false;
	if (a->width == 8) {
		gather_two_words(g, rows, at, mask, &v);
		return true;
	}
	/* Lanes that take no part read what another does. */
	for (u32 i = 0; i < 4; i++)
		_mm512_store_si512(
			host + 8 * i,
			_mm512_mask_mov_epi64(some, (__mmask8)(mask >> 8 * i), v.host[i]));
	if (in->mem.size == 4)
		for (u32 i = 0; i < 2; i++)
			gather_four_words(g, rows, at + 16 * i, (__mmask16)(mask >> 16 * i),
					  host + 16 * i);
	else
		for (u32 i = 0; i < 4; i++)
			gather_two_pairs(g, rows, at + 8 * i, (__mmask8)(mask >> 8 * i),
					 host + 8 * i);
	return true;
}

#elif defined(__AVX2__)

/*
 * Hosts with AVX2: values are loaded one by one into vector registers, which is quicker than their
 * gather instructions.
 */

#define GATHERS false
#define GATHERS_SINGLY true

/* All ones where lane 8 * i and those after it, or 4 * i, are in the mask. */
static ALWAYS_INLINE __m256i words_on(u32 mask, u32 i)
{
	const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);

	return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)(mask >> 8 * i)), bit),
				  bit);
}

static ALWAYS_INLINE __m256i pairs_on(u32 mask, u32 i)
{
	const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);

	return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(mask >> 4 * i), bit), bit);
}

/* From a row in memory whose first lane would be at `host`; only lanes of `mask` are touched. */
static inline bool load_masked(void *d, u64 host, u32 mask, u32 size)
{
	for (u32 i = 0; i < size; i++) {
		__m256i *to = (__m256i *)d + i, x, on;
		const void *m = (const u8 *)(uintptr_t)host + sizeof(__m256i) * i;

		if (size == 8) {
			on = pairs_on(mask, i);
			x = _mm256_maskload_epi64(m, on);
		} else {
			on = words_on(mask, i);
			x = _mm256_maskload_epi32(m, on);
		}
		_mm256_storeu_si256(to, _mm256_blendv_epi8(_mm256_loadu_si256(to), x, on));
	}
	return true;
}

/* Host addresses of the lanes of a warp; those that take no part have that of one that does. */
struct gather {
	u64 host[WARP_LANES] __attribute__((aligned(32)));
};

/*
 * The addresses of a warp as the host's. False: some lane of the mask is misaligned or outside of
 * the window, so that others have to look. all: a constant, whether all lanes take part.
 */
static ALWAYS_INLINE bool gather_begin(struct gather *v, const struct gang *g, const struct uop *in,
				       u32 at, u32 mask, u32 width, const struct address_form *form,
				       bool all)
{
	struct mem_cache window = form->window(g, in);
	__m256i lo = _mm256_set1_epi64x((s64)window.lo),
		bias = _mm256_set1_epi64x((s64)window.bias);
	__m256i last = _mm256_set1_epi64x((s64)(window.span - width)), off = _mm256_setzero_si256(),
		bits = off, some = off;

	if (!all)
		some = _mm256_set1_epi64x((s64)form->of_lane(g, in, at + (u32)__builtin_ctz(mask)));
	for (u32 i = 0; i < 8; i++) {
		__m256i x, d;

		form->of_lanes(g, in, at + 4 * i, (lane_pairs *)&x);
		if (!all)
			x = _mm256_blendv_epi8(some, x, pairs_on(mask, i));
		d = _mm256_sub_epi64(x, lo);
		off = _mm256_or_si256(off, _mm256_or_si256(d, _mm256_sub_epi64(last, d)));
		bits = _mm256_or_si256(bits, x);
		_mm256_store_si256((__m256i *)(void *)(v->host + 4 * i), _mm256_add_epi64(x, bias));
	}
	return window.span >= width && !_mm256_movemask_pd(_mm256_castsi256_pd(off)) &&
	       _mm256_testz_si256(bits, _mm256_set1_epi64x((s64)width - 1));
}

/* Is every lane of the mask where a row whose first lane is at `first` would have it? */
static ALWAYS_INLINE bool is_masked_row(const u64 *lanes, u32 mask, u64 first, u32 width)
{
	u32 last = WARP_LANES - 1 - (u32)__builtin_clz(mask);
	__m256i row = _mm256_add_epi64(
		_mm256_mul_epu32(_mm256_setr_epi64x(0, 1, 2, 3), _mm256_set1_epi64x(width)),
		_mm256_set1_epi64x((s64)first));
	__m256i step = _mm256_set1_epi64x(4 * width), off = _mm256_setzero_si256();

	if (lanes[last] != first + (u64)last * width)
		return false;
	for (u32 i = 0; i < 8; i++, row = _mm256_add_epi64(row, step)) {
		__m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(lanes + 4 * i));

		off = _mm256_or_si256(
			off, _mm256_and_si256(_mm256_xor_si256(x, row), pairs_on(mask, i)));
	}
	return _mm256_testz_si256(off, off);
}

/* Words and double words of all lanes, blended unless `all` may be written. */
static ALWAYS_INLINE void gather_words(u32 *d, const struct gather *v, u32 mask, bool all)
{
#define WORD(l) ((int)get(v->host[8 * i + (l)], 4))
	for (u32 i = 0; i < 4; i++) {
		__m256i *to = (__m256i *)(void *)(d + 8 * i);
		__m256i x = _mm256_setr_epi32(WORD(0), WORD(1), WORD(2), WORD(3), WORD(4), WORD(5),
					      WORD(6), WORD(7));

		_mm256_storeu_si256(
			to,
			all ? x : _mm256_blendv_epi8(_mm256_loadu_si256(to), x, words_on(mask, i)));
	}
#undef WORD
}

static ALWAYS_INLINE void gather_pairs(u64 *d, const struct gather *v, u32 mask, bool all)
{
#define PAIR(l) ((s64)get(v->host[4 * i + (l)], 8))
	for (u32 i = 0; i < 8; i++) {
		__m256i *to = (__m256i *)(void *)(d + 4 * i);
		__m256i x = _mm256_setr_epi64x(PAIR(0), PAIR(1), PAIR(2), PAIR(3));

		_mm256_storeu_si256(
			to,
			all ? x : _mm256_blendv_epi8(_mm256_loadu_si256(to), x, pairs_on(mask, i)));
	}
#undef PAIR
}

/* One element of 4 or 8 bytes, as rows have it. False: as of gather_begin. */
static ALWAYS_INLINE bool gather_singly(struct gang *g, const struct uop *in, u32 w, u32 mask,
					u32 size, const struct address_form *form)
{
	u32 at = w * WARP_LANES, first = (u32)__builtin_ctz(mask);
	bool part = mask != FULL_MASK, all = !part || load_may_overwrite(g, in);
	struct gather v;
	u64 row;

	if (PL_UNLIKELY(!(part ? gather_begin(&v, g, in, at, mask, size, form, false)
			       : gather_begin(&v, g, in, at, mask, size, form, true))))
		return false;
	row = v.host[first] - (u64)first * size;
	if (part && is_masked_row(v.host, mask, row, size))
		return load_masked(size == 8 ? (void *)(ROW64(in->d) + at)
					     : (void *)(ROW32(in->d) + at),
				   row, mask, size);
	if (size == 8)
		gather_pairs(ROW64(in->d) + at, &v, mask, all);
	else
		gather_words(ROW32(in->d) + at, &v, mask, all);
	return true;
}

#else

#define GATHERS false

static inline bool load_masked(void *d, u64 host, u32 mask, u32 size)
{
	if (size == 8)
		for (u32 m = mask; m; m &= m - 1)
			((u64 *)d)[__builtin_ctz(m)] =
				get(host + 8 * (u64)(u32)__builtin_ctz(m), 8);
	else
		for (u32 m = mask; m; m &= m - 1)
			((u32 *)d)[__builtin_ctz(m)] =
				(u32)get(host + 4 * (u64)(u32)__builtin_ctz(m), 4);
	return true;
}

#endif

#if defined(__AVX512F__) || !defined(__AVX2__)

#define GATHERS_SINGLY false

static ALWAYS_INLINE bool gather_singly(struct gang *g PL_UNUSED, const struct uop *in PL_UNUSED,
					u32 w PL_UNUSED, u32 mask PL_UNUSED, u32 size PL_UNUSED,
					const struct address_form *form PL_UNUSED)
{
	return false;
}

#endif

#if !defined(__AVX2__)

/* Is every lane of the mask where a row whose first lane is at `first` would have it? */
static inline bool is_masked_row(const u64 *lanes, u32 mask, u64 first, u32 width)
{
	u64 off = 0;

	for (u32 l = 0; l < WARP_LANES; l++)
		off |= mask >> l & 1 ? (lanes[l] - (u64)l * width) ^ first : 0;
	return !off;
}

#endif

#if !defined(__AVX512F__)

static ALWAYS_INLINE bool gather_elements(struct gang *g PL_UNUSED, const struct uop *in PL_UNUSED,
					  u32 size PL_UNUSED, const struct access *a PL_UNUSED,
					  struct mem_cache window PL_UNUSED)
{
	return false;
}

static ALWAYS_INLINE bool gather_vectors(struct gang *g PL_UNUSED, const struct uop *in PL_UNUSED,
					 const struct access *a PL_UNUSED,
					 struct mem_cache window PL_UNUSED)
{
	return false;
}

#endif

#endif
