/*
 * Some lanes of a warp whose elements lie where those of a row would, or that all have one address:
 * what loops with lanes that have left them do, and blocks that are no multiple of a warp. Included
 * by handler files only.
 */
#ifndef PL_OPS_PART_ROWS_H
#define PL_OPS_PART_ROWS_H

#include "src/ops/gather_rows.h"
#include "src/ops/lane_moves.h"

/* Do all lanes of `mask` have one address? */
static inline bool is_same_of_part(const struct access *a)
{
	u64 off = 0, first = a->address[__builtin_ctz(a->mask)];

	FOR_LANES(l, WARP_LANES)
		off |= a->mask >> l & 1 ? a->address[l] ^ first : 0;
	return !off && !(first & (a->width - 1));
}

/* Is every lane of `mask` where a row that begins with its lowest lane would have it? */
static inline bool is_row_of_part(const struct access *a)
{
	u32 first = (u32)__builtin_ctz(a->mask);
	u64 base = a->address[first] - (u64)first * a->width;

	return !(base & (a->width - 1)) && is_masked_row(a->address, a->mask, base, a->width);
}

#if defined(__AVX512F__)

/*
 * To a row in memory whose first lane would be at `host`, though only lanes of `mask` are touched.
 */
static inline void store_masked(const void *s, u64 host, u32 mask, u32 size)
{
	u8 *m = (u8 *)(uintptr_t)host;

	for (u32 i = 0; i < size / 2; i++, mask = size == 8 ? mask >> 8 : mask >> 16) {
		__m512i v = _mm512_loadu_si512((const __m512i *)s + i);

		if (size == 8)
			_mm512_mask_storeu_epi64(m + 64 * i, (__mmask8)mask, v);
		else
			_mm512_mask_storeu_epi32(m + 64 * i, (__mmask16)mask, v);
	}
}

#else

/* n words: those of a value of 8 bytes at once, and each once, unlike the C library's copies. */
static inline void store_words(void *to, const void *from, u32 n)
{
	typedef u32 four_words __attribute__((vector_size(16), aligned(4), may_alias));
	u8 *d = to;
	const u8 *s = from;
	u32 i = 0;

	for (; n - i >= 4; i += 4)
		*(volatile four_words *)(void *)(d + 4 * i) =
			*(const four_words *)(const void *)(s + 4 * i);
	if (n - i >= 2) {
		put((u64)(uintptr_t)(d + 4 * i), 8, get((u64)(uintptr_t)(s + 4 * i), 8));
		i += 2;
	}
	if (n - i)
		put((u64)(uintptr_t)(d + 4 * i), 4, get((u64)(uintptr_t)(s + 4 * i), 4));
}

/* Lanes with others between them. */
#if defined(__AVX2__)
static inline void store_scattered(const void *s, u64 host, u32 mask, u32 size)
{
	for (u32 i = 0; i < size; i++) {
		__m256i v = _mm256_loadu_si256((const __m256i *)s + i);
		void *m = (u8 *)(uintptr_t)host + sizeof(v) * i;

		if (size == 8)
			_mm256_maskstore_epi64(m, pairs_on(mask, i), v);
		else
			_mm256_maskstore_epi32(m, words_on(mask, i), v);
	}
}
#else
static inline void store_scattered(const void *s, u64 host, u32 mask, u32 size)
{
	const u8 *from = s;

	for (u32 m = mask; m; m &= m - 1) {
		u32 at = (u32)__builtin_ctz(m) * size;

		put(host + at, size, get((u64)(uintptr_t)(from + at), size));
	}
}
#endif

static inline void store_masked(const void *s, u64 host, u32 mask, u32 size)
{
	u32 first = (u32)__builtin_ctz(mask), n = WARP_LANES - (u32)__builtin_clz(mask) - first;

	if (mask >> first == FULL_MASK >> (WARP_LANES - n))
		store_words((void *)(uintptr_t)(host + first * size), (const u8 *)s + first * size,
			    n * size / 4);
	else
		store_scattered(s, host, mask, size);
}

#endif

/* Lane `at` of a row of elements of `size` bytes, 4 or 8. */
static inline void *row_at(const struct gang *g, u32 row, u32 at, u32 size)
{
	return size == 8 ? (void *)(ROW64(row) + at) : (void *)(ROW32(row) + at);
}

/* One value into these lanes. */
static inline void blend_same(struct gang *g, const struct uop *in, u32 at, u32 mask, u64 value)
{
	if (in->mem.size == 8) {
		u64 *d = ROW64(in->d) + at;

		FOR_LANES(l, WARP_LANES)
			d[l] = mask >> l & 1 ? value : d[l];
	} else {
		u32 *d = ROW32(in->d) + at;

		FOR_LANES(l, WARP_LANES)
			d[l] = mask >> l & 1 ? (u32)value : d[l];
	}
}

/* ---- one lane alone, as after `if (threadIdx.x == 0)` ---- */

static ALWAYS_INLINE void load_one(struct gang *g, const struct uop *in, u32 lane, u64 host)
{
	u8 value[VALUE_BYTES_MAX] __attribute__((aligned(16)));

	/* An element is a value, and a value of its own needs no copy. */
	if (in->mem.count > 1) {
		take_value(value, host, value_bytes(in));
		host = (u64)(uintptr_t)value;
	}
	split_lane(g, in, lane, (const u8 *)(uintptr_t)host);
}

/* False: some element has no register, and stays as it is. */
static ALWAYS_INLINE bool store_one(struct gang *g, const struct uop *in, u32 lane, u64 host)
{
	u8 value[VALUE_BYTES_MAX] __attribute__((aligned(16))) = {0};

	if (in->mem.count == 1) {
		join_lane(g, in, lane, (u8 *)(uintptr_t)host);
		return true;
	}
	if (!all_rows(g, in))
		return false;
	join_lane(g, in, lane, value);
	give_value(host, value, value_bytes(in));
	return true;
}

/* Host address of one lane's value, 0: not aligned, or not known to be allowed. */
static ALWAYS_INLINE u64 find_one(const struct gang *g, const struct uop *in, u32 lane,
				  const struct address_form *form)
{
	u32 width = value_bytes(in);
	u64 at = form->of_lane(g, in, lane);

	return at & (width - 1) ? 0 : form->check(g, in, at, width);
}

/*
 * Accesses of one lane, of lanes that lie in a row, or of lanes with one address. size: as of
 * load_row. False: none of these.
 */
static ALWAYS_INLINE bool load_part(struct gang *g, const struct uop *in, u32 w, u32 mask, u32 size,
				    const struct address_form *form)
{
	u32 first = (u32)__builtin_ctz(mask), at = w * WARP_LANES;
	u32 n = WARP_LANES - (u32)__builtin_clz(mask) - first;
	struct access a;
	u64 host;

	if (n == 1) {
		host = find_one(g, in, at + first, form);
		if (host)
			load_one(g, in, at + first, host);
		return host != 0;
	}
	if (!size)
		return false;
	if (GATHERS_SINGLY && form->window)
		return gather_singly(g, in, w, mask, size, form);
	access_begin(&a, size, w, mask);
	form->of_warp(g, in, &a);
	if (GATHERS && form->window)
		return gather_elements(g, in, size, &a, form->window(g, in));
	if (is_same_of_part(&a)) {
		host = form->check(g, in, a.address[first], size);
		if (host)
			blend_same(g, in, at, mask, get(host, size));
		return host != 0;
	}
	if (!is_row_of_part(&a))
		return false;
	host = form->check(g, in, a.address[first], n * size);
	return host && load_masked(row_at(g, in->d, at, size), host - first * size, mask, size);
}

/* What the others have there stays, though it is written again. */
static inline void store_blended(const void *s, u64 host, u32 mask, u32 size)
{
	void *m = (void *)(uintptr_t)host;

	if (size == 8)
		blend_pairs(m, s, mask);
	else
		blend_words(m, s, mask);
}

/*
 * Where the first lane of a warp has its element, or would have it, if those of the mask lie as in
 * a row. False: they do not. That lanes that take no part have the addresses of a row, too, is
 * usual, and quickly seen.
 */
static ALWAYS_INLINE bool find_row_of_part(const struct gang *g, const struct uop *in, u32 w,
					   u32 mask, u32 size, const struct address_form *form,
					   u64 *row)
{
	struct access a;

	if (form->classify(g, in, w * WARP_LANES, WARP_LANES, size, row) == ADDRESS_ROW)
		return !(*row & (size - 1));
	access_begin(&a, size, w, mask);
	form->of_warp(g, in, &a);
	*row = a.address[__builtin_ctz(mask)] - (u64)(u32)__builtin_ctz(mask) * size;
	return is_row_of_part(&a);
}

static ALWAYS_INLINE bool store_part(struct gang *g, const struct uop *in, u32 w, u32 mask,
				     u32 size, const struct address_form *form)
{
	u32 first = (u32)__builtin_ctz(mask), at = w * WARP_LANES;
	u32 n = WARP_LANES - (u32)__builtin_clz(mask) - first;
	u64 host, row;

	if (n == 1) {
		host = find_one(g, in, at + first, form);
		return host && store_one(g, in, at + first, host);
	}
	if (!size || !find_row_of_part(g, in, w, mask, size, form, &row))
		return false;
	if (form->alone && (host = form->check(g, in, row, WARP_LANES * size)) != 0) {
		store_blended(row_at(g, in->b, at, size), host, mask, size);
		return true;
	}
	host = form->check(g, in, row + first * size, n * size);
	if (host)
		store_masked(row_at(g, in->b, at, size), host - first * size, mask, size);
	return host != 0;
}

#endif
