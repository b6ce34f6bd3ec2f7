/*
 * Moving rows of registers from and to memory: the bodies of loads and stores, for the handler
 * files that say how addresses are found (op_mem.c, op_affine.c). Per warp: addresses of the lanes
 * are translated to host addresses and checked as a block, then moved along the quickest way they
 * allow: one copy when they are consecutive, one load and a broadcast when they are equal, else
 * lane by lane. Only what fails the block check is inspected lane by lane.
 */
#ifndef PL_OPS_MOVE_ROWS_H
#define PL_OPS_MOVE_ROWS_H

#include "src/ops/lane_moves.h"
#include "src/ops/part_rows.h"

/* ---- neighbours ---- */

/*
 * What follows a row is usually where the next CTA goes on: fetch it into the second cache, since
 * the first one holds registers. For loops that stride over the whole grid, which the host does not
 * foresee; affine rows it does, and is hindered by this.
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

/* Bytes of a lane's value; size: as of load_row. */
static ALWAYS_INLINE u32 width_of(const struct uop *in, u32 size)
{
	return size ? size : value_bytes(in);
}

/* Move n neighbours from lane `at` on. False: not simple, or not known to be allowed. */
static ALWAYS_INLINE bool load_neighbours(struct gang *g, const struct uop *in, u32 at, u32 n,
					  u32 size, const struct address_form *form)
{
	u32 width = width_of(in, size);
	u64 first, host;
	enum address_kind kind = form->classify(g, in, at, n, width, &first);

	if (kind == ADDRESS_APART || first & (width - 1))
		return false;
	host = form->check(g, in, first, kind == ADDRESS_ROW ? n * width : width);
	if (PL_UNLIKELY(!host))
		return false;
	if (kind == ADDRESS_ROW && n != HALF_LANES)
		fetch_next((const u8 *)(uintptr_t)host, n * size);
	if (kind == ADDRESS_ROW)
		load_row(g, in, at, n, host, size);
	else
		load_same(g, in, at, n, host, size);
	return true;
}

static ALWAYS_INLINE bool store_neighbours(struct gang *g, const struct uop *in, u32 at, u32 n,
					   u32 size, const struct address_form *form)
{
	u32 width = width_of(in, size);
	u64 first, host;

	if (form->classify(g, in, at, n, width, &first) != ADDRESS_ROW || first & (width - 1))
		return false;
	host = form->check(g, in, first, n * width);
	if (PL_UNLIKELY(!host))
		return false;
	store_row(g, in, at, n, host, size);
	return true;
}

/* ---- affine values: groups of lanes of a gang, of which each is a row ---- */

static ALWAYS_INLINE void load_groups(struct gang *g, const struct uop *in, u32 group, u32 size,
				      const struct reach *x, const struct address_form *form)
{
	for (u32 at = 0, n = LANES; at < n; at += group)
		load_row(g, in, at, group, form->reach_host(x, in, at), size);
}

static ALWAYS_INLINE bool load_reach(struct gang *g, const struct uop *in, u32 size,
				     const struct address_form *form)
{
	struct reach x;

	if (PL_UNLIKELY(!form->find_reach(g, in, width_of(in, size), &x)))
		return false;
	if (x.same)
		for (u32 at = 0, n = LANES; at < n; at += HALF_LANES)
			load_same(g, in, at, HALF_LANES, form->reach_host(&x, in, at), size);
	else if (x.unit == WARP_LANES)
		load_groups(g, in, WARP_LANES, size, &x, form);
	else if (x.unit == HALF_LANES)
		load_groups(g, in, HALF_LANES, size, &x, form);
	else
		load_row(g, in, 0, LANES, form->reach_host(&x, in, 0), size);
	return true;
}

static ALWAYS_INLINE void store_groups(struct gang *g, const struct uop *in, u32 group, u32 size,
				       const struct reach *x, const struct address_form *form)
{
	for (u32 at = 0, n = LANES; at < n; at += group)
		store_row(g, in, at, group, form->reach_host(x, in, at), size);
}

static ALWAYS_INLINE bool store_reach(struct gang *g, const struct uop *in, u32 size,
				      const struct address_form *form)
{
	struct reach x;

	if (PL_UNLIKELY(!form->find_reach(g, in, width_of(in, size), &x)) || x.same)
		return false;
	if (x.unit == WARP_LANES)
		store_groups(g, in, WARP_LANES, size, &x, form);
	else if (x.unit == HALF_LANES)
		store_groups(g, in, HALF_LANES, size, &x, form);
	else
		store_row(g, in, 0, LANES, x.host, size);
	return true;
}

/* ---- all lanes of a gang, of a warp ---- */

static ALWAYS_INLINE bool load_gang(struct gang *g, const struct uop *in, u32 size,
				    const struct address_form *form)
{
	return form->find_reach ? load_reach(g, in, size, form)
				: load_neighbours(g, in, 0, LANES, size, form);
}

static ALWAYS_INLINE bool store_gang(struct gang *g, const struct uop *in, u32 size,
				     const struct address_form *form)
{
	return form->find_reach ? store_reach(g, in, size, form)
				: store_neighbours(g, in, 0, LANES, size, form);
}

static ALWAYS_INLINE bool load_full_warp(struct gang *g, const struct uop *in, u32 at, u32 size,
					 const struct address_form *form)
{
	return load_neighbours(g, in, at, WARP_LANES, size, form) ||
	       (load_neighbours(g, in, at, HALF_LANES, size, form) &&
		load_neighbours(g, in, at + HALF_LANES, HALF_LANES, size, form));
}

static ALWAYS_INLINE bool store_full_warp(struct gang *g, const struct uop *in, u32 at, u32 size,
					  const struct address_form *form)
{
	return store_neighbours(g, in, at, WARP_LANES, size, form) ||
	       (store_neighbours(g, in, at, HALF_LANES, size, form) &&
		store_neighbours(g, in, at + HALF_LANES, HALF_LANES, size, form));
}

/* ---- the general way, from the addresses of every lane ---- */

/* Bytes of the only element when rows can be copied from and to memory as they are, else 0. */
static inline u32 plain_size(const struct uop *in)
{
	bool wide = in->flags & UOPF_WIDE_DATA;

	return in->mem.count != 1 ? 0 : in->mem.size == 4 && !wide ? 4 : in->mem.size == 8 ? 8 : 0;
}

/* False: nothing was loaded. */
static ALWAYS_INLINE bool gather_warp(struct gang *g, const struct uop *in, u32 size,
				      const struct access *a, struct mem_cache window)
{
	return size ? in->d != NO_ROW && gather_elements(g, in, size, a, window)
		    : gather_vectors(g, in, a, window);
}

/* Lanes that take no part move what another does, unless only a few do. */
static ALWAYS_INLINE void move_as_all(struct access *a)
{
	u32 mask = a->mask;
	u64 some = a->host[__builtin_ctz(mask)];

	if ((u32)__builtin_popcount(mask) < WARP_LANES / 4)
		return;
	FOR_LANES(l, WARP_LANES)
		a->host[l] = mask >> l & 1 ? a->host[l] : some;
	a->mask = FULL_MASK;
}

static ALWAYS_INLINE bool load_general(struct gang *g, const struct uop *in, u32 w, u32 mask,
				       const struct address_form *form)
{
	u32 size = plain_size(in);
	struct access a;

	if (GATHERS_SINGLY && form->window && size && in->d != NO_ROW &&
	    (size == 8 ? gather_singly(g, in, w, mask, 8, form)
		       : gather_singly(g, in, w, mask, 4, form)))
		return true;
	access_begin(&a, value_bytes(in), w, mask);
	form->of_warp(g, in, &a);
	if (GATHERS && form->window && gather_warp(g, in, size, &a, form->window(g, in)))
		return true;
	if (!form->resolve(g, in, &a))
		return false;
	if (mask != FULL_MASK && !a.local && load_may_overwrite(g, in))
		move_as_all(&a);
	load_warp(g, in, &a);
	return true;
}

static ALWAYS_INLINE bool store_general(struct gang *g, const struct uop *in, u32 w, u32 mask,
					const struct address_form *form)
{
	struct access a;

	access_begin(&a, value_bytes(in), w, mask);
	form->of_warp(g, in, &a);
	if (!form->resolve(g, in, &a))
		return false;
	store_warp(g, in, &a);
	return true;
}

/* ---- a whole load or store ---- */

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

static inline bool store_may_overwrite(const struct gang *g, const struct uop *in PL_UNUSED)
{
	return g->full;
}

/* The methods of moving lanes in the order in which they are tried; memory_form.inc makes them. */
struct move_ways {
	/* May lanes that take no part be moved with the others? */
	bool (*may_overwrite)(const struct gang *g, const struct uop *in);
	bool (*may_be_simple)(const struct gang *g, const struct uop *in);
	/* False: by another method. */
	bool (*gang)(struct gang *g, const struct uop *in, u32 size);
	bool (*full_warp)(struct gang *g, const struct uop *in, u32 at, u32 size);
	bool (*part)(struct gang *g, const struct uop *in, u32 w, u32 mask, u32 size);
	/* False: a fault was raised. */
	bool (*general)(struct gang *g, const struct uop *in, u32 w, u32 mask);
};

/*
 * The simple way for the whole gang, a warp, its halves; else by parts of warps or by lanes. False:
 * a fault was raised.
 */
static ALWAYS_INLINE bool move_warps(struct gang *g, const struct uop *in, u32 size,
				     const struct move_ways *ways)
{
	bool simple = size || ways->may_be_simple(g, in), all = ways->may_overwrite(g, in);

	if (simple && all && ways->gang(g, in, size))
		return true;
	for (u32 w = 0, n = WARPS; w < n; w++) {
		u32 mask = mask_of(g, w);

		if (!mask || (simple && PL_LIKELY(all || mask == FULL_MASK) &&
			      ways->full_warp(g, in, w * WARP_LANES, size)))
			continue;
		if (mask != FULL_MASK && ways->part(g, in, w, mask, size))
			continue;
		if (!ways->general(g, in, w, mask))
			return false;
	}
	return true;
}

static ALWAYS_INLINE const struct uop *move_by_size(struct gang *g, const struct uop *in,
						    const struct move_ways *ways)
{
	u32 size = plain_size(in);
	bool ok = size == 4   ? move_warps(g, in, 4, ways)
		  : size == 8 ? move_warps(g, in, 8, ways)
			      : move_warps(g, in, 0, ways);

	return ok ? in + 1 : NULL;
}

/*
 * ---- words of shared memory at the same place for every CTA of a launch ----
 *
 * What their addresses are like is found out once.
 */

enum fixed { FIXED_NOT, FIXED_ROWS, FIXED_SAME };

/* Host address of these bytes, 0: they may not be touched. As of struct address_form. */
typedef u64 fixed_check(const struct gang *g, const struct uop *in, u64 address, u32 bytes);

/*
 * How all halves of the gang's warps lie: rows, or each at one address. What is allowed once always
 * is.
 */
static PL_UNUSED OUT_OF_LINE enum fixed find_fixed(struct gang *g, const struct uop *in,
						   fixed_check *check)
{
	bool rows = true, same = true;

	if (in->flags & UOPF_WIDE)
		return FIXED_NOT;
	for (u32 at = 0; at < g->lanes; at += HALF_LANES) {
		u64 first;
		enum address_kind kind = classify_plain(g, in, at, HALF_LANES, 4, &first);

		rows &= kind == ADDRESS_ROW && check(g, in, first, 4 * HALF_LANES);
		same &= kind == ADDRESS_SAME && check(g, in, first, 4);
		if (first & 3)
			return FIXED_NOT;
	}
	return rows ? FIXED_ROWS : same ? FIXED_SAME : FIXED_NOT;
}

static inline bool load_may_be_fixed(const struct gang *g, const struct uop *in)
{
	return plain_size(in) == 4 && in->flags & UOPF_FIXED && g->full && g->cta->gangs == 1;
}

/*
 * What was found is kept in the `bias` of the micro-op's allocation cache, which is of no use in
 * shared memory, with the launch.
 */
static ALWAYS_INLINE bool load_fixed(struct gang *g, const struct uop *in, fixed_check *check)
{
	struct mem_cache *c = &g->caches[in->mem.cache];
	const u8 *base = g->shared;
	const u32 *r = ROW32(in->a);
	u32 *d = ROW32(in->d), off = (u32)in->mem.offset;

	if (PL_UNLIKELY(c->bias >> 2 != g->cta->launches))
		c->bias = g->cta->launches << 2 | find_fixed(g, in, check);
	if ((c->bias & 3) == FIXED_ROWS) {
		for (u32 at = 0; at < g->lanes; at += HALF_LANES)
			copy_lanes(d + at, base + (u32)(r[at] + off), HALF_LANES);
		return true;
	}
	if ((c->bias & 3) == FIXED_SAME) {
		for (u32 at = 0; at < g->lanes; at += HALF_LANES) {
			u32 *to = d + at;
			u32 v = *(const u32 *)(const void *)(base + (u32)(r[at] + off));

			FOR_LANES(l, HALF_LANES)
				to[l] = v;
		}
		return true;
	}
	return false;
}

#endif
