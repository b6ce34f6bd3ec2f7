/*
 * Values of one or several elements between memory and rows of registers. What a lane moves is one
 * value of 1 to 32 bytes, `size` * `count`, aligned to its size: no thread sees a part of 16 of its
 * bytes (piece.h). So elements of vectors go by a private copy: memory to copy in whole values,
 * copy to rows element by element, and back. Included by handler files only.
 */
#ifndef PL_OPS_VALUE_ROWS_H
#define PL_OPS_VALUE_ROWS_H

#include "src/base/piece.h"
#include "src/ops/access.h"
#include "src/ops/address_kind.h"

/* Four double words are the longest value. */
#define VALUE_BYTES_MAX 32u

/* The values of half a warp, side by side. */
struct value_copy {
	u8 at[HALF_LANES * VALUE_BYTES_MAX] __attribute__((aligned(64)));
};

static inline u64 extend(u64 v, u32 bytes, bool sign)
{
	u32 shift = 64 - 8 * bytes;

	return sign ? (u64)((s64)(v << shift) >> shift) : v;
}

static inline u32 element_row(const struct gang *g, const struct uop *in, u32 e, u32 first)
{
	return in->mem.count == 1 ? first : g->env->program->ext[in->ext + e];
}

/* May what a row has of lanes that take no part be overwritten? */
static inline bool load_may_overwrite(const struct gang *g, const struct uop *in)
{
	return (in->flags | UOPF_ANY) & g->overwrite;
}

static inline u32 value_bytes(const struct uop *in)
{
	return (u32)in->mem.size * in->mem.count;
}

/* ---- memory and copy ---- */

static ALWAYS_INLINE void take_value(void *to, u64 host, u32 bytes)
{
	const u8 *m = (const u8 *)(uintptr_t)host;
	u8 *d = to;

	if (bytes < PIECE_BYTES) {
		u64 v = get(host, bytes);

		memcpy(d, &v, 8);
		return;
	}
	for (u32 i = 0; i < bytes; i += PIECE_BYTES)
		*(piece *)(void *)(d + i) = piece_load(m + i);
}

static inline void give_value(u64 host, const void *from, u32 bytes)
{
	u8 *m = (u8 *)(uintptr_t)host;
	const u8 *s = from;
	u64 v;

	if (bytes < PIECE_BYTES) {
		memcpy(&v, s, 8);
		put(host, bytes, v);
		return;
	}
	for (u32 i = 0; i < bytes; i += PIECE_BYTES)
		piece_store(m + i, *(const piece *)(const void *)(s + i));
}

/*
 * n words, a multiple of 16. Strictly forwards: the C library's copies begin with the end, which
 * the host's prefetching does not follow. The empty statement keeps compilers from calling them.
 */
static ALWAYS_INLINE void copy_lanes(void *to, const void *from, u32 n)
{
	lane_words *d = to;
	const lane_words *s = from;

	for (u32 i = 0; i < n / VECTOR_WORDS; i++) {
		d[i] = s[i];
		__asm__ volatile("" ::: "memory");
	}
}

/*
 * The values of half a warp that lie side by side in memory; to: has room for what follows them.
 */
static ALWAYS_INLINE void take_row(struct value_copy *to, const void *m, u32 bytes)
{
	const u8 *s = m;

	if (bytes >= PIECE_BYTES)
		for (u32 i = 0; i < HALF_LANES * bytes; i += PIECE_BYTES)
			*(piece *)(void *)(to->at + i) = piece_load(s + i);
	else if (bytes >= 4)
		copy_lanes(to->at, m, HALF_LANES * bytes / 4);
	else
		for (u32 l = 0; l < HALF_LANES; l++)
			((u16 *)(void *)to->at)[l] = (u16)get((u64)(uintptr_t)m + 2 * l, 2);
}

static ALWAYS_INLINE void give_row(void *m, const struct value_copy *from, u32 bytes)
{
	u8 *d = m;

	if (bytes >= PIECE_BYTES)
		for (u32 i = 0; i < HALF_LANES * bytes; i += PIECE_BYTES)
			piece_store(d + i, *(const piece *)(const void *)(from->at + i));
	else if (bytes >= 4)
		copy_lanes(m, from->at, HALF_LANES * bytes / 4);
	else
		for (u32 l = 0; l < HALF_LANES; l++)
			put((u64)(uintptr_t)m + 2 * l, 2, ((const u16 *)(const void *)from->at)[l]);
}

/* ---- elements of neighbours and rows: `m` is a copy, or memory with values of one element ---- */

/* Does every element have a register? */
static inline bool all_rows(const struct gang *g, const struct uop *in)
{
	const u32 *ext = g->env->program->ext + in->ext;
	u32 none = 0;

	for (u32 e = 0; e < in->mem.count; e++)
		none |= ext[e] == NO_ROW;
	return !none;
}

/* Element i of many, extended to 64 bits. */
static ALWAYS_INLINE u64 array_element(const void *m, u32 i, u32 size, bool sign)
{
	switch (size) {
	case 1:
		return sign ? (u64)(s64)((const s8 *)m)[i] : ((const u8 *)m)[i];
	case 2:
		return sign ? (u64)(s64)((const s16 *)m)[i] : ((const u16 *)m)[i];
	case 4:
		return sign ? (u64)(s64)((const s32 *)m)[i] : ((const u32 *)m)[i];
	default:
		return ((const u64 *)m)[i];
	}
}

static ALWAYS_INLINE void array_set_element(void *m, u32 i, u32 size, u64 v)
{
	switch (size) {
	case 1:
		((u8 *)m)[i] = (u8)v;
		break;
	case 2:
		((u16 *)m)[i] = (u16)v;
		break;
	case 4:
		((u32 *)m)[i] = (u32)v;
		break;
	default:
		((u64 *)m)[i] = v;
	}
}

/* Every k-th element into n lanes of a row of words, of double words. */
static ALWAYS_INLINE void split_words(u32 *d, u32 n, const void *m, u32 k, u32 size, bool sign)
{
	FOR_LANES(l, n)
		d[l] = (u32)array_element(m, l * k, size, sign);
}

static ALWAYS_INLINE void split_pairs(u64 *d, u32 n, const void *m, u32 k, u32 size, bool sign)
{
	FOR_LANES(l, n)
		d[l] = array_element(m, l * k, size, sign);
}

/* Of elements of one size, which is a constant, as are those below; of n lanes from `at` on. */
static ALWAYS_INLINE void split_sized(struct gang *g, const struct uop *in, u32 at, u32 n,
				      const void *m, u32 size)
{
	u32 k = in->mem.count;
	bool sign = in->flags & UOPF_SIGN && size < 4;

	for (u32 e = 0; e < k; e++) {
		u32 row = element_row(g, in, e, in->d), *d = ROW32(row) + at;
		const u8 *first = (const u8 *)m + e * size;

		if (row == NO_ROW)
			continue;
		if (k == 1 && sign)
			split_words(d, n, m, 1, size, true);
		else if (k == 1)
			split_words(d, n, m, 1, size, false);
		else if (sign)
			split_words(d, n, first, k, size, true);
		else
			split_words(d, n, first, k, size, false);
	}
}

static ALWAYS_INLINE void join_sized(const struct gang *g, const struct uop *in, u32 at, u32 n,
				     void *m, u32 size)
{
	u32 k = in->mem.count;

	for (u32 e = 0; e < k; e++) {
		u32 row = element_row(g, in, e, in->b);
		const u32 *s = ROW32(row) + at;

		if (row == NO_ROW)
			continue;
		if (k == 1)
			FOR_LANES(l, n)
				array_set_element(m, l, size, s[l]);
		else
			FOR_LANES(l, n)
				array_set_element(m, l * k + e, size, s[l]);
	}
}

/* Narrow elements in 64-bit rows: usually indices. */
static ALWAYS_INLINE void split_wide_sized(struct gang *g, const struct uop *in, u32 at, u32 n,
					   const void *m, u32 size)
{
	u32 k = in->mem.count;
	bool sign = in->flags & UOPF_SIGN && size < 8;

	for (u32 e = 0; e < k; e++) {
		u32 row = element_row(g, in, e, in->d);
		const u8 *first = (const u8 *)m + e * size;

		if (row == NO_ROW)
			continue;
		if (sign)
			split_pairs(ROW64(row) + at, n, first, k, size, true);
		else
			split_pairs(ROW64(row) + at, n, first, k, size, false);
	}
}

static ALWAYS_INLINE void join_wide_sized(const struct gang *g, const struct uop *in, u32 at, u32 n,
					  void *m, u32 size)
{
	u32 k = in->mem.count;

	for (u32 e = 0; e < k; e++) {
		u32 row = element_row(g, in, e, in->b);
		const u64 *s = ROW64(row) + at;

		if (row != NO_ROW)
			FOR_LANES(l, n)
				array_set_element(m, l * k + e, size, s[l]);
	}
}

static inline void split_wide(struct gang *g, const struct uop *in, u32 at, u32 n, const void *m)
{
	switch (in->mem.size) {
	case 1:
		split_wide_sized(g, in, at, n, m, 1);
		break;
	case 2:
		split_wide_sized(g, in, at, n, m, 2);
		break;
	case 4:
		split_wide_sized(g, in, at, n, m, 4);
		break;
	default:
		split_wide_sized(g, in, at, n, m, 8);
	}
}

static inline void join_wide(struct gang *g, const struct uop *in, u32 at, u32 n, void *m)
{
	switch (in->mem.size) {
	case 1:
		join_wide_sized(g, in, at, n, m, 1);
		break;
	case 2:
		join_wide_sized(g, in, at, n, m, 2);
		break;
	case 4:
		join_wide_sized(g, in, at, n, m, 4);
		break;
	default:
		join_wide_sized(g, in, at, n, m, 8);
	}
}

static inline void split_rows(struct gang *g, const struct uop *in, u32 at, u32 n, const void *m)
{
	if (in->flags & UOPF_WIDE_DATA)
		split_wide(g, in, at, n, m);
	else if (in->mem.size == 1)
		split_sized(g, in, at, n, m, 1);
	else if (in->mem.size == 2)
		split_sized(g, in, at, n, m, 2);
	else
		split_sized(g, in, at, n, m, 4);
}

static inline void join_rows(struct gang *g, const struct uop *in, u32 at, u32 n, void *m)
{
	if (in->flags & UOPF_WIDE_DATA)
		join_wide(g, in, at, n, m);
	else if (in->mem.size == 1)
		join_sized(g, in, at, n, m, 1);
	else if (in->mem.size == 2)
		join_sized(g, in, at, n, m, 2);
	else
		join_sized(g, in, at, n, m, 4);
}

/* Vectors of half a warp: the usual shapes with constants, the others as they come. */
static ALWAYS_INLINE void split_half(struct gang *g, const struct uop *in, u32 at,
				     const struct value_copy *v)
{
	const u32 *ext = g->env->program->ext + in->ext;
	const u32 *words = (const u32 *)(const void *)v->at;
	const u64 *pairs = (const u64 *)(const void *)v->at;
	bool usual = all_rows(g, in) && !(in->mem.size == 4 && in->flags & UOPF_WIDE_DATA);

	if (usual && in->mem.size == 4 && in->mem.count == 4) {
		u32 *d0 = ROW32(ext[0]) + at, *d1 = ROW32(ext[1]) + at, *d2 = ROW32(ext[2]) + at,
		    *d3 = ROW32(ext[3]) + at;

		FOR_LANES(l, HALF_LANES) {
			d0[l] = words[4 * l];
			d1[l] = words[4 * l + 1];
			d2[l] = words[4 * l + 2];
			d3[l] = words[4 * l + 3];
		}
	} else if (usual && in->mem.size == 4 && in->mem.count == 2) {
		u32 *d0 = ROW32(ext[0]) + at, *d1 = ROW32(ext[1]) + at;

		FOR_LANES(l, HALF_LANES) {
			d0[l] = words[2 * l];
			d1[l] = words[2 * l + 1];
		}
	} else if (usual && in->mem.size == 8 && in->mem.count == 2) {
		u64 *d0 = ROW64(ext[0]) + at, *d1 = ROW64(ext[1]) + at;

		FOR_LANES(l, HALF_LANES) {
			d0[l] = pairs[2 * l];
			d1[l] = pairs[2 * l + 1];
		}
	} else {
		split_rows(g, in, at, HALF_LANES, v->at);
	}
}

static ALWAYS_INLINE void join_half(struct gang *g, const struct uop *in, u32 at,
				    struct value_copy *v)
{
	const u32 *ext = g->env->program->ext + in->ext;
	u32 *words = (u32 *)(void *)v->at;
	u64 *pairs = (u64 *)(void *)v->at;
	bool usual = !(in->mem.size == 4 && in->flags & UOPF_WIDE_DATA);

	if (usual && in->mem.size == 4 && in->mem.count == 4) {
		const u32 *b0 = ROW32(ext[0]) + at, *b1 = ROW32(ext[1]) + at,
			  *b2 = ROW32(ext[2]) + at, *b3 = ROW32(ext[3]) + at;

		FOR_LANES(l, HALF_LANES) {
			words[4 * l] = b0[l];
			words[4 * l + 1] = b1[l];
			words[4 * l + 2] = b2[l];
			words[4 * l + 3] = b3[l];
		}
	} else if (usual && in->mem.size == 4 && in->mem.count == 2) {
		const u32 *b0 = ROW32(ext[0]) + at, *b1 = ROW32(ext[1]) + at;

		FOR_LANES(l, HALF_LANES) {
			words[2 * l] = b0[l];
			words[2 * l + 1] = b1[l];
		}
	} else if (usual && in->mem.size == 8 && in->mem.count == 2) {
		const u64 *b0 = ROW64(ext[0]) + at, *b1 = ROW64(ext[1]) + at;

		FOR_LANES(l, HALF_LANES) {
			pairs[2 * l] = b0[l];
			pairs[2 * l + 1] = b1[l];
		}
	} else {
		join_rows(g, in, at, HALF_LANES, v->at);
	}
}

/* ---- vectors of one lane, and of the lanes of a mask ---- */

static inline void split_lane(struct gang *g, const struct uop *in, u32 lane, const u8 *value)
{
	for (u32 e = 0; e < in->mem.count; e++) {
		u32 row = element_row(g, in, e, in->d);
		u64 v = extend(get((u64)(uintptr_t)value + e * in->mem.size, in->mem.size),
			       in->mem.size, in->flags & UOPF_SIGN);

		if (row == NO_ROW)
			continue;
		if (in->flags & UOPF_WIDE_DATA)
			ROW64(row)[lane] = v;
		else
			ROW32(row)[lane] = (u32)v;
	}
}

static inline void join_lane(const struct gang *g, const struct uop *in, u32 lane, u8 *value)
{
	for (u32 e = 0; e < in->mem.count; e++) {
		u32 row = element_row(g, in, e, in->b);

		if (row != NO_ROW)
			put((u64)(uintptr_t)value + e * in->mem.size, in->mem.size,
			    in->flags & UOPF_WIDE_DATA ? ROW64(row)[lane] : ROW32(row)[lane]);
	}
}

#endif
