/*
 * Moving rows of registers from and to memory: the bodies of loads and stores, for the handler
 * files that say how addresses are found (op_mem.c, op_affine.c). Per warp: addresses of the lanes
 * are turned into host addresses and checked as a block, then moved along the quickest way they
 * allow: one copy when they are consecutive, one load and a broadcast when they are equal, else
 * lane by lane. Only what fails the block check is looked at lane by lane.
 */
#ifndef PL_EXEC_MOVE_ROWS_H
#define PL_EXEC_MOVE_ROWS_H

#include "src/ops/lane_moves.h"
#include "src/ops/part_rows.h"

/* ---- neighbours with simple addresses ---- */

static inline u64 check_global(const struct gang *g, const struct uop *in, u64 address, u32 bytes)
{
	const struct mem_cache *c = &g->caches[in->mem.cache];

	return mem_cache_hit(c, address, bytes) ? address + c->bias : 0;
}

/* No range that a cache holds reaches into a window, so a hit is global. */
static inline u64 check_generic(const struct gang *g, const struct uop *in, u64 address, u32 bytes)
{
	return check_global(g, in, address, bytes);
}

static inline u64 check_shared(const struct gang *g, const struct uop *in PL_UNUSED, u64 address,
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
static ALWAYS_INLINE enum address_kind look_plain(const struct gang *g, const struct uop *in,
						  u32 at, u32 n, u32 width, u64 *first)
{
	const u32 *r;

	if (in->flags & UOPF_WIDE) {
		*first = ROW64(in->a)[at] + (u64)in->mem.offset;
		return kind_of_many_64(ROW64(in->a) + at, n, width);
	}
	if (in->a == NO_ROW) {
		*first = (u64)in->mem.offset;
		return ADDRESS_SAME;
	}
	r = ROW32(in->a) + at;
	*first = r[0] + (u32)in->mem.offset;
	return PL_UNLIKELY(*first > UINT32_MAX - n * width) ? ADDRESS_APART
							    : kind_of_many_32(r, n, width);
}

static inline u64 index_at(const struct uop *in, u32 index)
{
	return (in->flags & UOPF_UNSIGNED ? index : (u64)(s64)(s32)index) * in->index.scale;
}

static inline u64 address_of_indexed(const struct gang *g, const struct uop *in, u32 lane)
{
	return ROW64(in->c)[lane] + index_at(in, ROW32(in->a)[lane]) + (u64)in->mem.offset;
}

static inline void get_indexed(const struct gang *g, const struct uop *in, struct access *a)
{
	const u32 *r = ROW32(in->a) + a->warp * WARP_LANES;
	u64 base = ROW64(in->c)[a->warp * WARP_LANES] + (u64)in->mem.offset;

	a->uniform = false;
	FOR_LANES(l, WARP_LANES)
		a->address[l] = base + index_at(in, r[l]);
}

static ALWAYS_INLINE enum address_kind look_indexed(const struct gang *g, const struct uop *in,
						    u32 at, u32 n, u32 width PL_UNUSED, u64 *first)
{
	const u32 *r = ROW32(in->a) + at, top = in->flags & UOPF_UNSIGNED ? 0 : 1u << 31;

	*first = ROW64(in->c)[at] + index_at(in, r[0]) + (u64)in->mem.offset;
	if (PL_UNLIKELY((r[n - 1] ^ top) < (r[0] ^ top) || !in->index.step))
		return ADDRESS_APART;
	return kind_of_many_32(r, n, in->index.step);
}

/* ---- neighbours ---- */

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

/* Values of several elements, half a warp at a time. */
static void load_vectors(struct gang *g, const struct uop *in, u32 at, u32 n, const u8 *m)
{
	u32 bytes = value_bytes(in);
	struct value_copy v;

	for (u32 i = 0; i < n; i += HALF_LANES) {
		take_row(&v, m + (u64)i * bytes, bytes);
		split_half(g, in, at + i, &v);
	}
}

static void store_vectors(struct gang *g, const struct uop *in, u32 at, u32 n, u8 *m)
{
	u32 bytes = value_bytes(in);
	struct value_copy v;

	for (u32 i = 0; i < n; i += HALF_LANES) {
		join_half(g, in, at + i, &v);
		give_row(m + (u64)i * bytes, &v, bytes);
	}
}

/* size: bytes of the only element, 0: anything else. */
static ALWAYS_INLINE void load_row(struct gang *g, const struct uop *in, u32 at, u32 n, u64 host,
				   u32 size)
{
	const void *m = (const void *)(uintptr_t)host;

	if (size == 4)
		copy_lanes(ROW32(in->d) + at, m, n);
	else if (size == 8)
		copy_lanes(ROW64(in->d) + at, m, 2 * n);
	else if (in->mem.count > 1)
		load_vectors(g, in, at, n, m);
	else
		split_rows(g, in, at, n, m);
}

static ALWAYS_INLINE void store_row(struct gang *g, const struct uop *in, u32 at, u32 n, u64 host,
				    u32 size)
{
	void *m = (void *)(uintptr_t)host;

	if (size == 4)
		copy_lanes(m, ROW32(in->b) + at, n);
	else if (size == 8)
		copy_lanes(m, ROW64(in->b) + at, 2 * n);
	else if (in->mem.count > 1)
		store_vectors(g, in, at, n, m);
	else
		join_rows(g, in, at, n, m);
}

/* One address for all of them. */
static ALWAYS_INLINE void load_same(struct gang *g, const struct uop *in, u32 at, u32 n, u64 host,
				    u32 size)
{
	u8 value[VALUE_BYTES_MAX] __attribute__((aligned(16)));

	if (size == 4) {
		/* Not volatile: the host's broadcasting loads are one access, too. */
		u32 v = *(const u32 *)(uintptr_t)host, *d = ROW32(in->d) + at;

		FOR_LANES(l, n)
			d[l] = v;
		return;
	}
	take_value(value, host, value_bytes(in));
	for (u32 e = 0; e < in->mem.count; e++) {
		u32 row = element_row(g, in, e, in->d);
		u64 v = extend(get((u64)(uintptr_t)value + e * in->mem.size, in->mem.size),
			       in->mem.size, in->flags & UOPF_SIGN);

		if (row == NO_ROW)
			continue;
		if (in->flags & UOPF_WIDE_DATA) {
			u64 *d = ROW64(row) + at;

			FOR_LANES(l, n)
				d[l] = v;
		} else {
			u32 *d = ROW32(row) + at;

			FOR_LANES(l, n)
				d[l] = (u32)v;
		}
	}
}

/* Move n neighbours from lane `at` on. False: not simple, or not known to be allowed. */
#define SIMPLE(space, look, check)                                                                 \
	static ALWAYS_INLINE bool load_simple_##space(struct gang *g, const struct uop *in,        \
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
			fetch_next((const u8 *)(uintptr_t)host, n *size);                          \
		if (kind == ADDRESS_ROW)                                                           \
			load_row(g, in, at, n, host, size);                                        \
		else                                                                               \
			load_same(g, in, at, n, host, size);                                       \
		return true;                                                                       \
	}                                                                                          \
	static ALWAYS_INLINE bool store_simple_##space(struct gang *g, const struct uop *in,       \
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
static inline u32 plain_size(const struct uop *in)
{
	bool wide = in->flags & UOPF_WIDE_DATA;

	return in->mem.count != 1 ? 0 : in->mem.size == 4 && !wide ? 4 : in->mem.size == 8 ? 8 : 0;
}

/* May rows of neighbours be moved at all? */
static inline bool load_may_be_simple(const struct gang *g PL_UNUSED, const struct uop *in)
{
	return !((u32)in->mem.count & (in->mem.count - 1u));
}

/* Elements without a register stay as they are in memory. */
static inline bool store_may_be_simple(const struct gang *g, const struct uop *in)
{
	return load_may_be_simple(g, in) && (in->mem.count == 1 || all_rows(g, in));
}

/* The general way, from the addresses of every lane. */
#define GENERAL(space, addresses, resolve)                                                         \
	static __attribute__((noinline)) bool load_general_##space(                                \
		struct gang *g, const struct uop *in, u32 w, u32 mask)                             \
	{                                                                                          \
		struct access a;                                                                   \
		access_begin(&a, (u32)in->mem.size * in->mem.count, w, mask);                      \
		addresses(g, in, &a);                                                              \
		if (!resolve(g, in, &a))                                                           \
			return false;                                                              \
		load_warp(g, in, &a);                                                              \
		return true;                                                                       \
	}                                                                                          \
	static __attribute__((noinline)) bool store_general_##space(                               \
		struct gang *g, const struct uop *in, u32 w, u32 mask)                             \
	{                                                                                          \
		struct access a;                                                                   \
		access_begin(&a, (u32)in->mem.size * in->mem.count, w, mask);                      \
		addresses(g, in, &a);                                                              \
		if (!resolve(g, in, &a))                                                           \
			return false;                                                              \
		store_warp(g, in, &a);                                                             \
		return true;                                                                       \
	}

/* All lanes of a gang as neighbours. */
#define WHOLE(space)                                                                               \
	static ALWAYS_INLINE bool load_whole_##space(struct gang *g, const struct uop *in,         \
						     u32 width, u32 size)                          \
	{                                                                                          \
		return load_simple_##space(g, in, 0, LANES, width, size);                          \
	}                                                                                          \
	static ALWAYS_INLINE bool store_whole_##space(struct gang *g, const struct uop *in,        \
						      u32 width, u32 size)                         \
	{                                                                                          \
		return store_simple_##space(g, in, 0, LANES, width, size);                         \
	}

/* The simple way for the whole gang, a warp, its halves; else by parts of warps or by lanes. */
#define MOVE(what, space, SIZE)                                                                    \
	static __attribute__((noinline)) bool what##_gang_##space##_##SIZE(struct gang *g,         \
									   const struct uop *in)   \
	{                                                                                          \
		u32 width = SIZE ? SIZE : (u32)in->mem.size * in->mem.count;                       \
		return what##_whole_##space(g, in, width, SIZE);                                   \
	}                                                                                          \
	static ALWAYS_INLINE bool what##_warp_##space##_##SIZE(struct gang *g,                     \
							       const struct uop *in, u32 at)       \
	{                                                                                          \
		u32 width = SIZE ? SIZE : (u32)in->mem.size * in->mem.count;                       \
		return what##_simple_##space(g, in, at, WARP_LANES, width, SIZE) ||                \
		       (what##_simple_##space(g, in, at, HALF_LANES, width, SIZE) &&               \
			what##_simple_##space(g, in, at + HALF_LANES, HALF_LANES, width, SIZE));   \
	}                                                                                          \
	static inline bool what##_##space##_##SIZE(struct gang *g, const struct uop *in)           \
	{                                                                                          \
		bool simple = SIZE || what##_may_be_simple(g, in);                                 \
		if (simple && g->full && what##_gang_##space##_##SIZE(g, in))                      \
			return true;                                                               \
		for (u32 w = 0, n = WARPS; w < n; w++) {                                           \
			u32 mask = mask_of(g, w);                                                  \
			if (simple && PL_LIKELY(mask == FULL_MASK)) {                              \
				if (what##_warp_##space##_##SIZE(g, in, w * WARP_LANES))           \
					continue;                                                  \
			} else if (mask && what##_part_##space(g, in, w, mask, SIZE)) {            \
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
