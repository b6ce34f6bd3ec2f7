/*
 * Moving rows of registers from and to memory: the bodies of loads and stores, for the handler
 * files that say how addresses are found (op_mem.c, op_affine.c). Per warp: addresses of the lanes are
 * turned into host addresses and checked as a block, then moved along the quickest way they allow:
 * one copy when they are consecutive, one load and a broadcast when they are equal, else lane by
 * lane. Only what fails the block check is looked at lane by lane.
 */
#ifndef PL_EXEC_MOVE_ROWS_H
#define PL_EXEC_MOVE_ROWS_H

#include "src/exec/access.h"
#include "src/exec/address_kind.h"

/* Are the lanes' addresses consecutive, `width` apart? */
static inline bool is_contiguous(const struct access *a)
{
	u64 first = a->host[0], diff = 0;

	FOR_LANES (l, WARP_LANES)
		diff |= a->host[l] ^ (first + (u64)l * a->width);
	return !diff;
}

static inline u64 extend(u64 v, u32 bytes, bool sign)
{
	u32 shift = 64 - 8 * bytes;

	return sign ? (u64)((s64)(v << shift) >> shift) : v;
}

static inline u32 element_row(const struct gang *g, const struct insn *in, u32 e, u32 first)
{
	return in->count == 1 ? first : g->env->program->ext[in->ext + e];
}

/* One element of every lane into its row, the general way. */
static inline void load_element(struct gang *g, const struct insn *in, const struct access *a,
				u32 row, u32 offset)
{
	u32 at = a->warp * WARP_LANES, size = in->size;
	bool sign = in->flags & INSN_SIGN;

	for (u32 m = a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);
		u64 v = extend(get(a->host[l] + offset, size), size, sign);

		if (in->flags & INSN_WIDE_DATA)
			ROW64(row)[at + l] = v;
		else
			ROW32(row)[at + l] = (u32)v;
	}
}

static inline bool load_fast(struct gang *g, const struct insn *in, const struct access *a)
{
	u32 at = a->warp * WARP_LANES;

	if (a->mask != FULL_MASK || in->count != 1)
		return false;
	if (in->size == 4 && !(in->flags & INSN_WIDE_DATA)) {
		u32 *d = ROW32(in->d) + at;

		if (is_contiguous(a)) {
			memcpy(d, (const void *)(uintptr_t)a->host[0], 128);
		} else if (a->uniform) {
			u32 v = (u32)get(a->host[0], 4);

			FOR_LANES (l, WARP_LANES)
				d[l] = v;
		} else {
			FOR_LANES (l, WARP_LANES)
				d[l] = *(const u32 *)(uintptr_t)a->host[l];
		}
		return true;
	}
	if (in->size == 8) {
		u64 *d = ROW64(in->d) + at;

		if (is_contiguous(a)) {
			memcpy(d, (const void *)(uintptr_t)a->host[0], 256);
		} else {
			FOR_LANES (l, WARP_LANES)
				d[l] = *(const u64 *)(uintptr_t)a->host[l];
		}
		return true;
	}
	return false;
}

static inline void load_warp(struct gang *g, const struct insn *in, const struct access *a)
{
	if (load_fast(g, in, a))
		return;
	for (u32 e = 0; e < in->count; e++) {
		u32 row = element_row(g, in, e, in->d);

		if (row != NO_ROW)
			load_element(g, in, a, row, e * in->size);
	}
}

static inline void store_element(struct gang *g, const struct insn *in, const struct access *a,
				 u32 row, u32 offset)
{
	u32 at = a->warp * WARP_LANES;

	for (u32 m = a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		put(a->host[l] + offset, in->size,
		    in->flags & INSN_WIDE_DATA ? ROW64(row)[at + l] : ROW32(row)[at + l]);
	}
}

static inline void store_warp(struct gang *g, const struct insn *in, const struct access *a)
{
	u32 at = a->warp * WARP_LANES;

	if (a->mask == FULL_MASK && in->count == 1 && in->size == 4 &&
	    !(in->flags & INSN_WIDE_DATA) && is_contiguous(a)) {
		memcpy((void *)(uintptr_t)a->host[0], ROW32(in->b) + at, 128);
		return;
	}
	if (a->mask == FULL_MASK && in->count == 1 && in->size == 8 && is_contiguous(a)) {
		memcpy((void *)(uintptr_t)a->host[0], ROW64(in->b) + at, 256);
		return;
	}
	for (u32 e = 0; e < in->count; e++) {
		u32 row = element_row(g, in, e, in->b);

		if (row != NO_ROW)
			store_element(g, in, a, row, e * in->size);
	}
}

/* ---- neighbours with simple addresses ---- */

/* For functions whose last arguments are constants where speed matters. */
#define ALWAYS_INLINE __attribute__((always_inline)) inline

static inline u64 check_global(const struct gang *g, const struct insn *in, u64 address, u32 bytes)
{
	const struct mem_cache *c = &g->caches[in->cache];

	return mem_cache_hit(c, address, bytes) ? address + c->bias : 0;
}

/* No range that a cache holds reaches into a window, so a hit is global. */
static inline u64 check_generic(const struct gang *g, const struct insn *in, u64 address, u32 bytes)
{
	return check_global(g, in, address, bytes);
}

static inline u64 check_shared(const struct gang *g, const struct insn *in PL_UNUSED, u64 address,
			       u32 bytes)
{
	return address + bytes <= g->env->shared_bytes && address + bytes >= bytes
		       ? (u64)(uintptr_t)g->shared + address
		       : 0;
}

/* How the addresses of n lanes lie, n a multiple of 16; `step` apart when they are a row. */
static ALWAYS_INLINE enum address_kind kind_of_many_32(const u32 *r, u32 n, u32 step)
{
	u32 diff = r[n - 1] - r[0];

	if (diff && diff != (n - 1) * step)
		return ADDRESS_APART;
	if (n == HALF_LANES)
		return kind_of_32(r, step);
	if (!is_row_32(r, n, diff ? step : 0))
		return ADDRESS_APART;
	return diff ? ADDRESS_ROW : ADDRESS_SAME;
}

static ALWAYS_INLINE enum address_kind kind_of_many_64(const u64 *r, u32 n, u64 step)
{
	u64 diff = r[n - 1] - r[0];

	if (diff && diff != (n - 1) * step)
		return ADDRESS_APART;
	if (n == HALF_LANES)
		return kind_of_64(r, (u32)step);
	if (!is_row_64(r, n, diff ? step : 0))
		return ADDRESS_APART;
	return diff ? ADDRESS_ROW : ADDRESS_SAME;
}

/* The first lane's address and how the others lie; a row that wraps around is APART. */
static ALWAYS_INLINE enum address_kind look_plain(const struct gang *g, const struct insn *in, u32 at,
					   u32 n, u32 width, u64 *first)
{
	const u32 *r;

	if (in->flags & INSN_WIDE) {
		*first = ROW64(in->a)[at] + (u64)in->imm;
		return kind_of_many_64(ROW64(in->a) + at, n, width);
	}
	if (in->a == NO_ROW) {
		*first = (u64)in->imm;
		return ADDRESS_SAME;
	}
	r = ROW32(in->a) + at;
	*first = r[0] + (u32)in->imm;
	return PL_UNLIKELY(*first > UINT32_MAX - n * width) ? ADDRESS_APART
							    : kind_of_many_32(r, n, width);
}

static inline u64 index_at(const struct insn *in, u32 index)
{
	return (in->flags & INSN_UNSIGNED ? index : (u64)(s64)(s32)index) * in->scale;
}

static inline void get_indexed(const struct gang *g, const struct insn *in, struct access *a)
{
	const u32 *r = ROW32(in->a) + a->warp * WARP_LANES;
	u64 base = ROW64(in->c)[a->warp * WARP_LANES] + (u64)in->imm;

	a->uniform = false;
	FOR_LANES (l, WARP_LANES)
		a->address[l] = base + index_at(in, r[l]);
}

static ALWAYS_INLINE enum address_kind look_indexed(const struct gang *g, const struct insn *in, u32 at,
					     u32 n, u32 width PL_UNUSED, u64 *first)
{
	const u32 *r = ROW32(in->a) + at, top = in->flags & INSN_UNSIGNED ? 0 : 1u << 31;

	*first = ROW64(in->c)[at] + index_at(in, r[0]) + (u64)in->imm;
	if (PL_UNLIKELY((r[n - 1] ^ top) < (r[0] ^ top) || !in->step))
		return ADDRESS_APART;
	return kind_of_many_32(r, n, in->step);
}

/* ---- elements of neighbours, side by side in memory ---- */

#define NARROW(T, S, WHERE, MOVE)                                                                  \
	case sizeof(T):                                                                            \
		for (u32 e = 0; e < in->count; e++) {                                              \
			u32 row = element_row(g, in, e, WHERE), k = in->count;                     \
			u32 *lane = row == NO_ROW ? NULL : ROW32(row) + at;                        \
			if (lane && k == 1)                                                        \
				FOR_LANES (l, n)                                                   \
					MOVE(T, S, lane[l], l);                                    \
			else if (lane)                                                             \
				for (u32 l = 0; l < n; l++)                                        \
					MOVE(T, S, lane[l], l * k + e);                            \
		}                                                                                  \
		break;
#define TAKE(T, S, to, i) to = in->flags & INSN_SIGN ? (u32)((const S *)m)[i] : ((const T *)m)[i]
#define GIVE(T, S, from, i) ((T *)m)[i] = (T)(from)

/* Vectors of two and four words. */
static inline bool all_rows(const struct insn *in, const u32 *ext)
{
	u32 none = 0;

	for (u32 e = 0; e < in->count; e++)
		none |= ext[e] == NO_ROW;
	return !none;
}

static void load_row_other(struct gang *g, const struct insn *in, u32 at, u32 n, const void *m)
{
	const u32 *ext = g->env->program->ext + in->ext;

	if (in->size == 4 && in->count == 4 && all_rows(in, ext)) {
		u32 *d0 = ROW32(ext[0]) + at, *d1 = ROW32(ext[1]) + at, *d2 = ROW32(ext[2]) + at,
		    *d3 = ROW32(ext[3]) + at;

		FOR_LANES (l, n) {
			d0[l] = ((const u32 *)m)[4 * l];
			d1[l] = ((const u32 *)m)[4 * l + 1];
			d2[l] = ((const u32 *)m)[4 * l + 2];
			d3[l] = ((const u32 *)m)[4 * l + 3];
		}
		return;
	}
	if (in->size == 8 && in->count == 2 && all_rows(in, ext)) {
		u64 *d0 = ROW64(ext[0]) + at, *d1 = ROW64(ext[1]) + at;

		FOR_LANES (l, n) {
			d0[l] = ((const u64 *)m)[2 * l];
			d1[l] = ((const u64 *)m)[2 * l + 1];
		}
		return;
	}
	switch (in->size) {
		NARROW(u8, s8, in->d, TAKE)
		NARROW(u16, s16, in->d, TAKE)
		NARROW(u32, s32, in->d, TAKE)
	default:
		for (u32 e = 0; e < in->count; e++)
			for (u32 l = 0, row = element_row(g, in, e, in->d); row != NO_ROW && l < n; l++)
				ROW64(row)[at + l] = ((const u64 *)m)[l * in->count + e];
	}
}

static void store_row_other(struct gang *g, const struct insn *in, u32 at, u32 n, void *m)
{
	const u32 *ext = g->env->program->ext + in->ext;

	if (in->size == 4 && in->count == 4 && all_rows(in, ext)) {
		const u32 *b0 = ROW32(ext[0]) + at, *b1 = ROW32(ext[1]) + at,
			  *b2 = ROW32(ext[2]) + at, *b3 = ROW32(ext[3]) + at;

		FOR_LANES (l, n) {
			((u32 *)m)[4 * l] = b0[l];
			((u32 *)m)[4 * l + 1] = b1[l];
			((u32 *)m)[4 * l + 2] = b2[l];
			((u32 *)m)[4 * l + 3] = b3[l];
		}
		return;
	}
	switch (in->size) {
		NARROW(u8, s8, in->b, GIVE)
		NARROW(u16, s16, in->b, GIVE)
		NARROW(u32, s32, in->b, GIVE)
	default:
		for (u32 e = 0; e < in->count; e++)
			for (u32 l = 0, row = element_row(g, in, e, in->b); row != NO_ROW && l < n; l++)
				((u64 *)m)[l * in->count + e] = ROW64(row)[at + l];
	}
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
 * What lies behind a row is where the next CTA goes on, more often than not: fetch it into the
 * second cache, since the first one holds registers. For loops that stride over the whole grid,
 * which the host does not foresee; affine rows it does, and is hindered by this.
 */
static ALWAYS_INLINE void fetch_next(const u8 *row, u32 bytes)
{
	for (u32 i = 0; i < bytes; i += 64)
		__builtin_prefetch(row + bytes + i, 0, 2);
}

/* SIZE: bytes of the only element, 0: anything else. */
static ALWAYS_INLINE void load_row(struct gang *g, const struct insn *in, u32 at, u32 n, u64 host, u32 size)
{
	const void *m = (const void *)(uintptr_t)host;

	if (size == 4)
		copy_lanes(ROW32(in->d) + at, m, n);
	else if (size == 8)
		copy_lanes(ROW64(in->d) + at, m, 2 * n);
	else
		load_row_other(g, in, at, n, m);
}

static ALWAYS_INLINE void store_row(struct gang *g, const struct insn *in, u32 at, u32 n, u64 host, u32 size)
{
	void *m = (void *)(uintptr_t)host;

	if (size == 4)
		copy_lanes(m, ROW32(in->b) + at, n);
	else if (size == 8)
		copy_lanes(m, ROW64(in->b) + at, 2 * n);
	else
		store_row_other(g, in, at, n, m);
}

/* One address for all of them. */
static ALWAYS_INLINE void load_same(struct gang *g, const struct insn *in, u32 at, u32 n, u64 host, u32 size)
{
	if (size == 4) {
		u32 v = *(const u32 *)(uintptr_t)host, *d = ROW32(in->d) + at;

		FOR_LANES (l, n)
			d[l] = v;
		return;
	}
	for (u32 e = 0; e < in->count; e++) {
		u32 row = element_row(g, in, e, in->d);
		u64 v = extend(get(host + e * in->size, in->size), in->size, in->flags & INSN_SIGN);

		if (row == NO_ROW)
			continue;
		if (in->flags & INSN_WIDE_DATA) {
			u64 *d = ROW64(row) + at;

			FOR_LANES (l, n)
				d[l] = v;
		} else {
			u32 *d = ROW32(row) + at;

			FOR_LANES (l, n)
				d[l] = (u32)v;
		}
	}
}

/* Move n neighbours from lane `at` on. False: not simple, or not known to be allowed. */
#define SIMPLE(space, look, check)                                                                 \
	static ALWAYS_INLINE bool load_simple_##space(struct gang *g, const struct insn *in,       \
						      u32 at, u32 n, u32 width, u32 size)          \
	{                                                                                          \
		u64 first, host;                                                                   \
		enum address_kind kind = look(g, in, at, n, width, &first);                        \
		if (kind == ADDRESS_APART || first & (width - 1))                                  \
			return false;                                                              \
		host = check(g, in, first, kind == ADDRESS_ROW ? n * width : width);               \
		if (PL_UNLIKELY(!host))                                                            \
			return false;                                                              \
		if (kind == ADDRESS_ROW && n != HALF_LANES)                                        \
			fetch_next((const u8 *)(uintptr_t)host, n * size);                         \
		if (kind == ADDRESS_ROW)                                                           \
			load_row(g, in, at, n, host, size);                                        \
		else                                                                               \
			load_same(g, in, at, n, host, size);                                       \
		return true;                                                                       \
	}                                                                                          \
	static ALWAYS_INLINE bool store_simple_##space(struct gang *g, const struct insn *in,      \
						       u32 at, u32 n, u32 width, u32 size)         \
	{                                                                                          \
		u64 first, host;                                                                   \
		if (look(g, in, at, n, width, &first) != ADDRESS_ROW || first & (width - 1))       \
			return false;                                                              \
		host = check(g, in, first, n * width);                                             \
		if (PL_UNLIKELY(!host))                                                            \
			return false;                                                              \
		store_row(g, in, at, n, host, size);                                               \
		return true;                                                                       \
	}

/* ---- parts of warps whose lanes lie in a row ---- */

/* Is every lane of `mask` where a row that begins with its lowest lane would have it? */
static inline bool is_row_of_part(const struct access *a)
{
	u64 off = 0, base = a->address[__builtin_ctz(a->mask)] -
			    (u64)(u32)__builtin_ctz(a->mask) * a->width;

	for (u32 l = 0; l < WARP_LANES; l++)
		off |= a->mask >> l & 1 ? (a->address[l] - (u64)l * a->width) ^ base : 0;
	return !off && !(base & (a->width - 1));
}

#define PART(space, addresses, check)                                                              \
	static __attribute__((noinline)) bool load_part_##space(                                   \
		struct gang *g, const struct insn *in, u32 w, u32 mask, u32 size)                  \
	{                                                                                          \
		u32 first = (u32)__builtin_ctz(mask), at = w * WARP_LANES;                         \
		u32 n = WARP_LANES - (u32)__builtin_clz(mask) - first;                             \
		struct access a = {.width = size, .warp = w, .mask = mask};                        \
		u64 host, value[WARP_LANES];                                                       \
		addresses(g, in, &a);                                                              \
		if (!is_row_of_part(&a))                                                           \
			return false;                                                              \
		host = check(g, in, a.address[first], n * size);                                   \
		if (!host)                                                                         \
			return false;                                                              \
		memcpy((u8 *)value + first * size, (const void *)(uintptr_t)host, n * size);       \
		blend_part(g, in, at, mask, value);                                                \
		return true;                                                                       \
	}                                                                                          \
	static __attribute__((noinline)) bool store_part_##space(                                  \
		struct gang *g, const struct insn *in, u32 w, u32 mask, u32 size)                  \
	{                                                                                          \
		u32 first = (u32)__builtin_ctz(mask), at = w * WARP_LANES + first;                 \
		u32 n = WARP_LANES - (u32)__builtin_clz(mask) - first;                             \
		struct access a = {.width = size, .warp = w, .mask = mask};                        \
		u64 host;                                                                          \
		if (mask >> first != FULL_MASK >> (WARP_LANES - n))                                \
			return false;                                                              \
		addresses(g, in, &a);                                                              \
		if (!is_row_of_part(&a))                                                           \
			return false;                                                              \
		host = check(g, in, a.address[first], n * size);                                   \
		if (!host)                                                                         \
			return false;                                                              \
		memcpy((void *)(uintptr_t)host,                                                    \
		       size == 8 ? (const void *)(ROW64(in->b) + at)                               \
				 : (const void *)(ROW32(in->b) + at),                              \
		       n * size);                                                                  \
		return true;                                                                       \
	}

/* Loaded values into the lanes that take part; `value` has elements of the record's size. */
static inline void blend_part(struct gang *g, const struct insn *in, u32 at, u32 mask,
			      const void *value)
{
	if (in->size == 8) {
		const u64 *v = value;
		u64 *d = ROW64(in->d) + at;

		for (u32 l = 0; l < WARP_LANES; l++)
			d[l] = mask >> l & 1 ? v[l] : d[l];
	} else {
		const u32 *v = value;
		u32 *d = ROW32(in->d) + at;

		for (u32 l = 0; l < WARP_LANES; l++)
			d[l] = mask >> l & 1 ? v[l] : d[l];
	}
}


/* Bytes of the only element when rows can be copied from and to memory as they are, else 0. */
static inline u32 plain_size(const struct insn *in)
{
	bool wide = in->flags & INSN_WIDE_DATA;

	return in->count != 1 ? 0 : in->size == 4 && !wide ? 4 : in->size == 8 ? 8 : 0;
}

/* May rows of neighbours be moved at all? Narrow elements in wide rows are not worth it. */
static inline bool may_be_simple(const struct insn *in)
{
	return (!(in->flags & INSN_WIDE_DATA) || in->size == 8) &&
	       !((u32)in->count & (in->count - 1u));
}

/* The general way, from the addresses of every lane. */
#define GENERAL(space, addresses, resolve)                                                         \
	static __attribute__((noinline)) bool load_general_##space(                                \
		struct gang *g, const struct insn *in, u32 w, u32 mask)                            \
	{                                                                                          \
		struct access a = {.width = (u32)in->size * in->count, .warp = w, .mask = mask};   \
		addresses(g, in, &a);                                                              \
		if (!resolve(g, in, &a))                                                           \
			return false;                                                              \
		load_warp(g, in, &a);                                                              \
		return true;                                                                       \
	}                                                                                          \
	static __attribute__((noinline)) bool store_general_##space(                               \
		struct gang *g, const struct insn *in, u32 w, u32 mask)                            \
	{                                                                                          \
		struct access a = {.width = (u32)in->size * in->count, .warp = w, .mask = mask};   \
		addresses(g, in, &a);                                                              \
		if (!resolve(g, in, &a))                                                           \
			return false;                                                              \
		store_warp(g, in, &a);                                                             \
		return true;                                                                       \
	}

/* All lanes of a gang as neighbours. */
#define WHOLE(space)                                                                               \
	static ALWAYS_INLINE bool load_whole_##space(struct gang *g, const struct insn *in,        \
						     u32 width, u32 size)                          \
	{                                                                                          \
		return load_simple_##space(g, in, 0, LANES, width, size);                          \
	}                                                                                          \
	static ALWAYS_INLINE bool store_whole_##space(struct gang *g, const struct insn *in,       \
						      u32 width, u32 size)                         \
	{                                                                                          \
		return store_simple_##space(g, in, 0, LANES, width, size);                         \
	}

/* The simple way for the whole gang, a warp, its halves; else by parts of warps or by lanes. */
#define MOVE(what, space, SIZE)                                                                    \
	static __attribute__((noinline)) bool what##_gang_##space##_##SIZE(struct gang *g,         \
									   const struct insn *in)  \
	{                                                                                          \
		u32 width = SIZE ? SIZE : (u32)in->size * in->count;                               \
		return what##_whole_##space(g, in, width, SIZE);                                   \
	}                                                                                          \
	static ALWAYS_INLINE bool what##_warp_##space##_##SIZE(struct gang *g,                     \
							       const struct insn *in, u32 at)      \
	{                                                                                          \
		u32 width = SIZE ? SIZE : (u32)in->size * in->count;                               \
		return what##_simple_##space(g, in, at, WARP_LANES, width, SIZE) ||                \
		       (SIZE && what##_simple_##space(g, in, at, HALF_LANES, width, SIZE) &&       \
			what##_simple_##space(g, in, at + HALF_LANES, HALF_LANES, width, SIZE));   \
	}                                                                                          \
	static inline bool what##_##space##_##SIZE(struct gang *g, const struct insn *in)          \
	{                                                                                          \
		bool simple = SIZE || may_be_simple(in);                                           \
		if (simple && g->full && what##_gang_##space##_##SIZE(g, in))                      \
			return true;                                                               \
		for (u32 w = 0, n = WARPS; w < n; w++) {                                           \
			u32 mask = mask_of(g, w);                                                  \
			if (simple && PL_LIKELY(mask == FULL_MASK)) {                              \
				if (what##_warp_##space##_##SIZE(g, in, w * WARP_LANES))           \
					continue;                                                  \
			} else if (SIZE && mask && in->a != NO_ROW &&                              \
				   what##_part_##space(g, in, w, mask, SIZE)) {                    \
				continue;                                                          \
			}                                                                          \
			if (mask && !what##_general_##space(g, in, w, mask))                       \
				return false;                                                      \
		}                                                                                  \
		return true;                                                                       \
	}

/* The handler. */
#define MEMORY(what, space)                                                                        \
	MOVE(what, space, 4)                                                                       \
	MOVE(what, space, 8)                                                                       \
	MOVE(what, space, 0)                                                                       \
	HANDLER(what##_##space)                                                                    \
	{                                                                                          \
		u32 size = plain_size(in);                                                         \
		bool ok = size == 4   ? what##_##space##_4(g, in)                                  \
			  : size == 8 ? what##_##space##_8(g, in)                                  \
				      : what##_##space##_0(g, in);                                 \
		return ok ? in + 1 : NULL;                                                         \
	}

#endif
