/*
 * Forms of address: how a load or store comes by the addresses of its lanes and by the memory
 * after them. The bodies of loads and stores (move_rows.h, part_rows.h) take a struct address_form
 * that is a constant wherever they are inlined, so that its functions are called directly. Included
 * by handler files only.
 */
#ifndef PL_OPS_ADDRESS_FORM_H
#define PL_OPS_ADDRESS_FORM_H

#include "src/exec/affine.h"
#include "src/ops/access.h"
#include "src/ops/address_kind.h"

/* Where the accesses of a whole gang lie that launches know from affine values. */
struct reach {
	const void *lanes; /* row of the lanes' parts, */
	u64 low, host;     /* the least of them, and where the host has that one's element */
	u64 first;         /* the address of that, */
	u32 bytes;         /* and how far all of them reach */
	u32 unit;          /* groups of so many lanes are neighbours each, */
	bool same;         /* or have one address each */
};

struct address_form {
	/* The address of a lane, counted from g->lane0. */
	u64 (*of_lane)(const struct gang *g, const struct uop *in, u32 lane);
	/* Those of the lanes of warp a->warp, into `a`. */
	void (*of_warp)(const struct gang *g, const struct uop *in, struct access *a);
	/* Those of as many lanes of the rows, from `lane` on, as a vector of the host has. */
	void (*of_lanes)(const struct gang *g, const struct uop *in, u32 lane, lane_pairs *to);
	/*
	 * How the addresses of n lanes from `at` on lie, and the first lane's; neighbours are
	 * `width` bytes apart. ADDRESS_APART also where they wrap around.
	 */
	enum address_kind (*classify)(const struct gang *g, const struct uop *in, u32 at, u32 n,
				      u32 width, u64 *first);
	/* Host address of these bytes, 0: more has to be known before they may be touched. */
	u64 (*check)(const struct gang *g, const struct uop *in, u64 address, u32 bytes);
	/* Fills a->host from the addresses, or raises a fault and returns false. */
	bool (*resolve)(struct gang *g, const struct uop *in, struct access *a);
	/* No other thread of the host accesses the memory while this one does. */
	bool alone;
	/* What lies in it needs no more than `resolve` would do. NULL: there is no such range. */
	struct mem_cache (*window)(const struct gang *g, const struct uop *in);
	/*
	 * Affine forms; NULL: the form has none. False: not in such groups, or not known to be
	 * allowed. And the host address of a lane's element.
	 */
	bool (*find_reach)(const struct gang *g, const struct uop *in, u32 width, struct reach *x);
	u64 (*reach_host)(const struct reach *x, const struct uop *in, u32 lane);
};

/* ---- memory ---- */

/* Generic addresses, too: no range that a cache holds reaches into a window, so a hit is global. */
static ALWAYS_INLINE u64 check_global(const struct gang *g, const struct uop *in, u64 address,
				      u32 bytes)
{
	const struct mem_cache *c = &g->caches[in->mem.cache];

	return mem_cache_hit(c, address, bytes) ? address + c->bias : 0;
}

static ALWAYS_INLINE u64 check_shared(const struct gang *g, const struct uop *in PL_UNUSED,
				      u64 address, u32 bytes)
{
	return address + bytes <= g->env->shared_bytes && address + bytes >= bytes
		       ? (u64)(uintptr_t)g->shared + address
		       : 0;
}

static ALWAYS_INLINE struct mem_cache window_global(const struct gang *g, const struct uop *in)
{
	return g->caches[in->mem.cache];
}

static ALWAYS_INLINE struct mem_cache window_shared(const struct gang *g,
						    const struct uop *in PL_UNUSED)
{
	return (struct mem_cache){0, g->env->shared_bytes, (u64)(uintptr_t)g->shared};
}

/* ---- how addresses lie ---- */

/* Of n lanes, n a multiple of 16; `step` apart when they are a row. */
static ALWAYS_INLINE enum address_kind classify_32(const u32 *r, u32 n, u32 step)
{
	u32 diff = r[n - 1] - r[0];

	if (diff && diff != (n - 1) * step)
		return ADDRESS_APART;
	if (n == HALF_LANES)
		return classify_half_32(r, step);
	if (!is_row_32(r, n, diff ? step : 0))
		return ADDRESS_APART;
	return diff ? ADDRESS_ROW : ADDRESS_SAME;
}

static ALWAYS_INLINE enum address_kind classify_64(const u64 *r, u32 n, u64 step)
{
	u64 diff = r[n - 1] - r[0];

	if (diff && diff != (n - 1) * step)
		return ADDRESS_APART;
	if (n == HALF_LANES)
		return classify_half_64(r, (u32)step);
	if (!is_row_64(r, n, diff ? step : 0))
		return ADDRESS_APART;
	return diff ? ADDRESS_ROW : ADDRESS_SAME;
}

/* ---- plain: row a + offset, or the offset alone ---- */

static ALWAYS_INLINE u64 plain_address(const struct gang *g, const struct uop *in, u32 lane)
{
	return lane_address(g, in, g->lane0 + lane);
}

static ALWAYS_INLINE void plain_lanes(const struct gang *g, const struct uop *in, u32 lane,
				      lane_pairs *to)
{
	if (in->a == NO_ROW) {
		*to = (lane_pairs){0} + (u64)in->mem.offset;
	} else if (in->flags & UOPF_WIDE) {
		*to = *(const lane_pairs *)(ROW64(in->a) + lane) + (u64)in->mem.offset;
	} else {
		lane_half x = *(const lane_half *)(ROW32(in->a) + lane) + (u32)in->mem.offset;

		scale_lanes(to, &x, 1, false);
	}
}

static ALWAYS_INLINE enum address_kind classify_plain(const struct gang *g, const struct uop *in,
						      u32 at, u32 n, u32 width, u64 *first)
{
	const u32 *r;

	if (in->flags & UOPF_WIDE) {
		*first = ROW64(in->a)[at] + (u64)in->mem.offset;
		return classify_64(ROW64(in->a) + at, n, width);
	}
	if (in->a == NO_ROW) {
		*first = (u64)in->mem.offset;
		return ADDRESS_SAME;
	}
	r = ROW32(in->a) + at;
	*first = r[0] + (u32)in->mem.offset;
	return PL_UNLIKELY(*first > UINT32_MAX - n * width) ? ADDRESS_APART
							    : classify_32(r, n, width);
}

/* ---- indexed: base + index * scale + offset; the base is the same for all lanes of a warp ---- */

static ALWAYS_INLINE u64 scaled_index(const struct uop *in, u32 index)
{
	return (in->flags & UOPF_UNSIGNED ? index : (u64)(s64)(s32)index) * in->index.scale;
}

/* added: to all indices in row a, 0 unless they are affine. */
static ALWAYS_INLINE u64 index_address(const struct gang *g, const struct uop *in, u32 lane,
				       u32 added)
{
	return ROW64(in->c)[lane] + scaled_index(in, ROW32(in->a)[lane] + added) +
	       (u64)in->mem.offset;
}

static ALWAYS_INLINE void index_addresses(const struct gang *g, const struct uop *in,
					  struct access *a, u32 added)
{
	const u32 *r = ROW32(in->a) + a->warp * WARP_LANES;
	u64 base = ROW64(in->c)[a->warp * WARP_LANES] + (u64)in->mem.offset;

	a->uniform = false;
	FOR_LANES(l, WARP_LANES)
		a->address[l] = base + scaled_index(in, r[l] + added);
}

static ALWAYS_INLINE void index_lanes(const struct gang *g, const struct uop *in, u32 lane,
				      lane_pairs *to, u32 added)
{
	lane_half x = *(const lane_half *)(ROW32(in->a) + lane) + added;

	scale_lanes(to, &x, in->index.scale, !(in->flags & UOPF_UNSIGNED));
	*to += ROW64(in->c)[lane] + (u64)in->mem.offset;
}

static ALWAYS_INLINE enum address_kind classify_index(const struct gang *g, const struct uop *in,
						      u32 at, u32 n, u64 *first, u32 added)
{
	const u32 *r = ROW32(in->a) + at, top = in->flags & UOPF_UNSIGNED ? 0 : 1u << 31;

	*first = index_address(g, in, at, added);
	if (PL_UNLIKELY(((r[n - 1] + added) ^ top) < ((r[0] + added) ^ top) || !in->index.step))
		return ADDRESS_APART;
	return classify_32(r, n, in->index.step);
}

static ALWAYS_INLINE u64 indexed_address(const struct gang *g, const struct uop *in, u32 lane)
{
	return index_address(g, in, lane, 0);
}

static ALWAYS_INLINE void get_indexed(const struct gang *g, const struct uop *in, struct access *a)
{
	index_addresses(g, in, a, 0);
}

static ALWAYS_INLINE void indexed_lanes(const struct gang *g, const struct uop *in, u32 lane,
					lane_pairs *to)
{
	index_lanes(g, in, lane, to, 0);
}

static ALWAYS_INLINE enum address_kind classify_indexed(const struct gang *g, const struct uop *in,
							u32 at, u32 n, u32 width PL_UNUSED,
							u64 *first)
{
	return classify_index(g, in, at, n, first, 0);
}

/* ---- affine: row a is the lanes' part of an index or of an address (wide): exec/affine.h ---- */

static ALWAYS_INLINE u32 index_offset(const struct gang *g, const struct uop *in)
{
	return affine_offset(affine_at(g, in->index.affine), g->cta->id);
}

static ALWAYS_INLINE void get_affine(const struct gang *g, const struct uop *in, struct access *a)
{
	index_addresses(g, in, a, index_offset(g, in));
}

static ALWAYS_INLINE u64 wide_offset(const struct gang *g, const struct uop *in)
{
	return affine_wide_offset(affine_wide_at(g, in->index.affine), g->cta->id) +
	       (u64)in->mem.offset;
}

static ALWAYS_INLINE void get_wide(const struct gang *g, const struct uop *in, struct access *a)
{
	const u64 *r = ROW64(in->a) + a->warp * WARP_LANES;
	u64 offset = wide_offset(g, in);

	a->uniform = false;
	FOR_LANES(l, WARP_LANES)
		a->address[l] = r[l] + offset;
}

#endif
