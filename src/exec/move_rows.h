/*
 * Moving rows of registers from and to memory: the bodies of loads and stores, for the handler
 * files that say how addresses are found (op_mem.c, op_affine.c). Per warp: addresses of the lanes are
 * turned into host addresses and checked as a block, then moved along the quickest way they allow:
 * one copy when they are consecutive, one load and a broadcast when they are equal, else lane by
 * lane. Only what fails the block check is looked at lane by lane.
 */
#ifndef PL_EXEC_MOVE_ROWS_H
#define PL_EXEC_MOVE_ROWS_H

#include "src/exec/address_kind.h"
#include "src/exec/lane_moves.h"
#include "src/exec/part_rows.h"

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

static inline u64 address_of_indexed(const struct gang *g, const struct insn *in, u32 lane)
{
	return ROW64(in->c)[lane] + index_at(in, ROW32(in->a)[lane]) + (u64)in->imm;
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

/* Narrow elements in 64-bit rows: indices, more often than not. */
#define WIDEN(T, S)                                                                                \
	case sizeof(T):                                                                            \
		if (in->flags & INSN_SIGN)                                                         \
			FOR_LANES (l, n)                                                           \
				d[l] = (u64)(s64)((const S *)m)[l * k + e];                        \
		else                                                                               \
			FOR_LANES (l, n)                                                           \
				d[l] = ((const T *)m)[l * k + e];                                  \
		break;

static void load_row_wide(struct gang *g, const struct insn *in, u32 at, u32 n, const void *m)
{
	u32 k = in->count;

	for (u32 e = 0; e < k; e++) {
		u32 row = element_row(g, in, e, in->d);
		u64 *d = ROW64(row) + at;

		if (row == NO_ROW)
			continue;
		switch (in->size) {
			WIDEN(u8, s8)
			WIDEN(u16, s16)
			WIDEN(u32, s32)
		default:
			FOR_LANES (l, n)
				d[l] = ((const u64 *)m)[l * k + e];
		}
	}
}

#define CUT(T)                                                                                     \
	case sizeof(T):                                                                            \
		FOR_LANES (l, n)                                                                   \
			((T *)m)[l * k + e] = (T)s[l];                                             \
		break;

static void store_row_wide(struct gang *g, const struct insn *in, u32 at, u32 n, void *m)
{
	u32 k = in->count;

	for (u32 e = 0; e < k; e++) {
		u32 row = element_row(g, in, e, in->b);
		const u64 *s = ROW64(row) + at;

		if (row == NO_ROW)
			continue;
		switch (in->size) {
			CUT(u8)
			CUT(u16)
			CUT(u32)
			CUT(u64)
		}
	}
}

static void load_row_other(struct gang *g, const struct insn *in, u32 at, u32 n, const void *m)
{
	const u32 *ext = g->env->program->ext + in->ext;

	if (in->size == 4 && in->count == 4 && !(in->flags & INSN_WIDE_DATA) && all_rows(in, ext)) {
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
	if (in->flags & INSN_WIDE_DATA) {
		load_row_wide(g, in, at, n, m);
		return;
	}
	switch (in->size) {
		NARROW(u8, s8, in->d, TAKE)
		NARROW(u16, s16, in->d, TAKE)
		NARROW(u32, s32, in->d, TAKE)
	}
}

static void store_row_other(struct gang *g, const struct insn *in, u32 at, u32 n, void *m)
{
	const u32 *ext = g->env->program->ext + in->ext;

	if (in->size == 4 && in->count == 4 && !(in->flags & INSN_WIDE_DATA) && all_rows(in, ext)) {
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
	if (in->flags & INSN_WIDE_DATA) {
		store_row_wide(g, in, at, n, m);
		return;
	}
	switch (in->size) {
		NARROW(u8, s8, in->b, GIVE)
		NARROW(u16, s16, in->b, GIVE)
		NARROW(u32, s32, in->b, GIVE)
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

/* Bytes of the only element when rows can be copied from and to memory as they are, else 0. */
static inline u32 plain_size(const struct insn *in)
{
	bool wide = in->flags & INSN_WIDE_DATA;

	return in->count != 1 ? 0 : in->size == 4 && !wide ? 4 : in->size == 8 ? 8 : 0;
}

/* May rows of neighbours be moved at all? */
static inline bool may_be_simple(const struct insn *in)
{
	return !((u32)in->count & (in->count - 1u));
}

/* The general way, from the addresses of every lane. */
#define GENERAL(space, addresses, resolve)                                                         \
	static __attribute__((noinline)) bool load_general_##space(                                \
		struct gang *g, const struct insn *in, u32 w, u32 mask)                            \
	{                                                                                          \
		struct access a;                                                                   \
		access_begin(&a, (u32)in->size * in->count, w, mask);                              \
		addresses(g, in, &a);                                                              \
		if (!resolve(g, in, &a))                                                           \
			return false;                                                              \
		load_warp(g, in, &a);                                                              \
		return true;                                                                       \
	}                                                                                          \
	static __attribute__((noinline)) bool store_general_##space(                               \
		struct gang *g, const struct insn *in, u32 w, u32 mask)                            \
	{                                                                                          \
		struct access a;                                                                   \
		access_begin(&a, (u32)in->size * in->count, w, mask);                              \
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
		       (what##_simple_##space(g, in, at, HALF_LANES, width, SIZE) &&               \
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
			} else if (mask &&                                                         \
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
