/*
 * Affine values: what a launch finds out about them, comparisons with them, and global memory at a
 * base that is the same for all lanes plus an affine index, or at addresses that are affine. See
 * exec/affine.h. Row `a` of a micro-op is the lanes' part; values of 32 bits and those of 64 bits
 * (_wide) are numbered apart.
 */
#include "src/exec/affine.h"
#include "src/ops/move_rows.h"
#include "src/tier/tier.h"

/* ---- once for each launch ---- */

/* Are n lanes of the row `step` apart? A row of words or of double words. */
static ALWAYS_INLINE bool is_row(const void *row, u32 at, u32 n, u64 step, bool wide)
{
	return wide ? is_row_64((const u64 *)row + at, n, step)
		    : is_row_32((const u32 *)row + at, n, (u32)step);
}

/* Into how large groups of lanes, `step` apart, the n lanes of the row fall; 0: into none. */
static ALWAYS_INLINE u32 find_unit(const void *row, u32 n, u64 step, bool wide)
{
	bool warps = true, halves = true;

	if (is_row(row, 0, n, step, wide))
		return n;
	for (u32 at = 0; at < n; at += WARP_LANES)
		warps &= is_row(row, at, WARP_LANES, step, wide);
	for (u32 at = 0; at < n; at += HALF_LANES)
		halves &= is_row(row, at, HALF_LANES, step, wide);
	return warps ? WARP_LANES : halves ? HALF_LANES : 0;
}

/* ext: rows of the parts, NO_ROW: a constant; then these constants. */
HANDLER(affine_form)
{
	const u32 *ext = g->env->program->ext + in->ext, *r = ROW32(in->a);
	struct affine *a = affine_at(g, in->affine.number);
	u32 n = LANES;

	for (u32 i = 0; i < AFFINE_PARTS; i++)
		a->part[i] = ext[i] == NO_ROW ? ext[AFFINE_PARTS + i] : *ROW32(ext[i]);
	for (u32 sign = 0; sign < 2; sign++) {
		u32 top = affine_top(sign), low = UINT32_MAX, high = 0;

		for (u32 l = 0; l < n; l++) {
			u32 x = r[l] ^ top;

			low = x < low ? x : low;
			high = x > high ? x : high;
		}
		a->low[sign] = low ^ top;
		a->span[sign] = high - low;
	}
	a->step = r[1] - r[0];
	a->unit = find_unit(r, n, a->step, false);
	return in + 1;
}

/* ext: the constants are of two words each, the low one first. */
HANDLER(affine_form_wide)
{
	const u32 *ext = g->env->program->ext + in->ext, *words = ext + AFFINE_PARTS;
	struct affine_wide *a = affine_wide_at(g, in->affine.number);
	const u64 *r = ROW64(in->a);
	s64 low = INT64_MAX, high = INT64_MIN;
	u32 n = LANES;

	for (u32 i = 0; i < AFFINE_PARTS; i++)
		a->part[i] = ext[i] == NO_ROW ? words[2 * i] | (u64)words[2 * i + 1] << 32
					      : *ROW64(ext[i]);
	for (u32 l = 0; l < n; l++) {
		low = (s64)r[l] < low ? (s64)r[l] : low;
		high = (s64)r[l] > high ? (s64)r[l] : high;
	}
	a->low = (u64)low;
	a->span = (u64)high - (u64)low;
	a->bits = 0;
	for (u32 l = 0; l < n; l++)
		a->bits |= r[l] - a->low;
	a->step = r[1] - r[0];
	a->unit = find_unit(r, n, a->step, true);
	return in + 1;
}

/* ---- comparisons ---- */

/* t[l] = does `a[l] + offset OP b` hold, after `top` has made signed numbers unsigned ones? */
#define COMPARE_LANES(OP)                                                                          \
	FOR_LANES(l, WARP_LANES)                                                                   \
		t[l] = ((a[l] + offset) ^ top) OP b ? FULL_MASK : 0;

static u32 compare_lanes(u32 compare, const u32 *a, u32 offset, u32 b)
{
	u32 t[WARP_LANES], top = affine_top(compare & AFFINE_SIGNED ? 1 : 0), mask;

	b ^= top;
	if ((compare & AFFINE_BASE) == AFFINE_LT)
		COMPARE_LANES(<)
	else if ((compare & AFFINE_BASE) == AFFINE_LE)
		COMPARE_LANES(<=)
	else
		COMPARE_LANES(==)
	mask = lanes_mask(t);
	return compare & AFFINE_NOT ? ~mask : mask;
}

static u32 compare_lanes_wide(u32 compare, const u64 *a, u64 offset, u64 b)
{
	u64 top = compare & AFFINE_SIGNED ? (u64)1 << 63 : 0;
	u32 t[WARP_LANES], mask;

	b ^= top;
	if ((compare & AFFINE_BASE) == AFFINE_LT)
		COMPARE_LANES(<)
	else if ((compare & AFFINE_BASE) == AFFINE_LE)
		COMPARE_LANES(<=)
	else
		COMPARE_LANES(==)
	mask = lanes_mask(t);
	return compare & AFFINE_NOT ? ~mask : mask;
}

/* The same result for all lanes of the predicate that take part. */
static inline void fill_predicate(struct gang *g, const struct uop *in, bool t)
{
	u32 *d = ROWP(in->d), active = g->active;

	for (u32 w = 0, n = WARPS; w < n; w++)
		d[w] = t ? d[w] | active : d[w] & ~active;
}

/* b: the row of what is compared with, the same for all lanes. */
HANDLER(setp_affine)
{
	const struct affine *x = affine_at(g, in->affine.number);
	const u32 *a = ROW32(in->a), active = g->active;
	u32 *d = ROWP(in->d), offset = affine_offset(x, g->cta->id), compare = in->affine.compare;
	u32 y = affine_operand(g->regs + in->b, &compare);
	int all = affine_decide(x, compare, offset, y).all;

	if (all >= 0) {
		fill_predicate(g, in, all);
		return in + 1;
	}
	for (u32 w = 0, n = WARPS; w < n; w++) {
		u32 t = compare_lanes(compare, a + w * WARP_LANES, offset, y);

		d[w] = (d[w] & ~active) | (t & active);
	}
	return in + 1;
}

/* 1: it holds for all lanes, 0: for none, -1: they have to be compared. */
static int decide_wide(const struct affine_wide *a, u32 compare, u64 offset, u64 y)
{
	u64 top = compare & AFFINE_SIGNED ? (u64)1 << 63 : 0, low = (a->low + offset) ^ top,
	    high = low + a->span;
	u32 base = compare & AFFINE_BASE;
	int all = -1;

	y ^= top;
	if (high < low)
		return -1;
	if (base == AFFINE_EQ)
		all = y < low || y > high ? 0 : a->span ? -1 : 1;
	else if (base == AFFINE_LT)
		all = high < y ? 1 : low >= y ? 0 : -1;
	else
		all = high <= y ? 1 : low > y ? 0 : -1;
	return all >= 0 && compare & AFFINE_NOT ? !all : all;
}

HANDLER(setp_affine_wide)
{
	const struct affine_wide *x = affine_wide_at(g, in->affine.number);
	const u64 *a = ROW64(in->a);
	u32 *d = ROWP(in->d), active = g->active, compare = in->affine.compare;
	u64 offset = affine_wide_offset(x, g->cta->id), y;
	int all;

	memcpy(&y, g->regs + in->b, sizeof(y));
	all = decide_wide(x, compare, offset, y);
	if (all >= 0) {
		fill_predicate(g, in, all);
		return in + 1;
	}
	for (u32 w = 0, n = WARPS; w < n; w++) {
		u32 t = compare_lanes_wide(compare, a + w * WARP_LANES, offset, y);

		d[w] = (d[w] & ~active) | (t & active);
	}
	return in + 1;
}

/* ---- memory at base + affine index * scale ---- */

static ALWAYS_INLINE u64 affine_address(const struct gang *g, const struct uop *in, u32 lane)
{
	return index_address(g, in, lane, index_offset(g, in));
}

static ALWAYS_INLINE void affine_lanes(const struct gang *g, const struct uop *in, u32 lane,
				       lane_pairs *to)
{
	index_lanes(g, in, lane, to, index_offset(g, in));
}

static ALWAYS_INLINE enum address_kind classify_affine(const struct gang *g, const struct uop *in,
						       u32 at, u32 n, u32 width PL_UNUSED,
						       u64 *first)
{
	return classify_index(g, in, at, n, first, index_offset(g, in));
}

/* Where a reach begins and how long it is; whether that may be touched is not asked. */
static ALWAYS_INLINE bool place_reach_affine(const struct gang *g, const struct uop *in, u32 width,
					     struct reach *x)
{
	const struct affine *a = affine_at(g, in->index.affine);
	u32 sign = in->flags & UOPF_UNSIGNED ? 0 : 1, top = affine_top(sign), span = a->span[sign],
	    low = a->low[sign] + affine_offset(a, g->cta->id);
	u64 first = *ROW64(in->c) + scaled_index(in, low) + (u64)in->mem.offset,
	    bytes = (u64)span * in->index.scale + width;

	x->same = !a->step;
	if (!a->unit || (a->step && a->step != in->index.step) ||
	    (low ^ top) + span < (low ^ top) ||
	    (a->unit < g->lanes && in->index.scale & (width - 1)) || first & (width - 1) ||
	    bytes > UINT32_MAX)
		return false;
	x->lanes = ROW32(in->a);
	x->low = a->low[sign];
	x->unit = a->unit;
	x->first = first;
	x->bytes = (u32)bytes;
	return true;
}

/* One comparison is enough for all lanes, since they lie in one allocation. */
static ALWAYS_INLINE bool find_reach_affine(const struct gang *g, const struct uop *in, u32 width,
					    struct reach *x)
{
	if (!place_reach_affine(g, in, width, x))
		return false;
	x->host = check_global(g, in, x->first, x->bytes);
	return x->host != 0;
}

static ALWAYS_INLINE u64 reach_host_affine(const struct reach *x, const struct uop *in, u32 lane)
{
	u32 beyond_low = ((const u32 *)x->lanes)[lane] - (u32)x->low;

	return x->host + (u64)beyond_low * in->index.scale;
}

static const struct address_form form_affine = {
	.of_lane = affine_address,
	.of_warp = get_affine,
	.of_lanes = affine_lanes,
	.classify = classify_affine,
	.check = check_global,
	.resolve = resolve_global,
	.window = window_global,
	.find_reach = find_reach_affine,
	.reach_host = reach_host_affine,
};
#define FORM(name) name##_affine
#include "src/ops/memory_form.inc"

HANDLER(load_affine)
{
	return load_affine(g, in);
}

HANDLER(store_affine)
{
	return store_affine(g, in);
}

/* ---- memory at affine addresses of 64 bits ---- */

static ALWAYS_INLINE u64 wide_address(const struct gang *g, const struct uop *in, u32 lane)
{
	return ROW64(in->a)[lane] + wide_offset(g, in);
}

static ALWAYS_INLINE void wide_lanes(const struct gang *g, const struct uop *in, u32 lane,
				     lane_pairs *to)
{
	*to = *(const lane_pairs *)(ROW64(in->a) + lane) + wide_offset(g, in);
}

static ALWAYS_INLINE enum address_kind classify_wide(const struct gang *g, const struct uop *in,
						     u32 at, u32 n, u32 width, u64 *first)
{
	const u64 *r = ROW64(in->a) + at;

	*first = r[0] + wide_offset(g, in);
	return classify_64(r, n, width);
}

static ALWAYS_INLINE bool place_reach_wide(const struct gang *g, const struct uop *in, u32 width,
					   struct reach *x)
{
	const struct affine_wide *a = affine_wide_at(g, in->index.affine);
	u64 first = a->low + affine_wide_offset(a, g->cta->id) + (u64)in->mem.offset;

	x->same = !a->step;
	if (!a->unit || (a->step && a->step != width) || ((first | a->bits) & (width - 1)) ||
	    a->span > UINT32_MAX / 2)
		return false;
	x->lanes = ROW64(in->a);
	x->low = a->low;
	x->unit = a->unit;
	x->first = first;
	x->bytes = (u32)a->span + width;
	return true;
}

static ALWAYS_INLINE bool find_reach_wide(const struct gang *g, const struct uop *in, u32 width,
					  struct reach *x)
{
	if (!place_reach_wide(g, in, width, x))
		return false;
	x->host = check_global(g, in, x->first, x->bytes);
	return x->host != 0;
}

static ALWAYS_INLINE u64 reach_host_wide(const struct reach *x, const struct uop *in PL_UNUSED,
					 u32 lane)
{
	return x->host + (((const u64 *)x->lanes)[lane] - x->low);
}

static const struct address_form form_wide = {
	.of_lane = wide_address,
	.of_warp = get_wide,
	.of_lanes = wide_lanes,
	.classify = classify_wide,
	.check = check_global,
	.resolve = resolve_global,
	.window = window_global,
	.find_reach = find_reach_wide,
	.reach_host = reach_host_wide,
};
#define FORM(name) name##_wide
#include "src/ops/memory_form.inc"

HANDLER(load_wide)
{
	return load_wide(g, in);
}

HANDLER(store_wide)
{
	return store_wide(g, in);
}

/* ---- for compiled runs ---- */

bool EXEC_NAME(affine_reach)(const struct gang *g, const struct uop *in, bool whole,
			     struct tier_reach *out, u64 *bytes, bool *one_row)
{
	bool wide = in->inner == OP_load_wide || in->inner == OP_store_wide;
	struct reach x;

	if (!(wide ? place_reach_wide : place_reach_affine)(g, in, value_bytes(in), &x) || x.same)
		return false;
	*out = (struct tier_reach){x.first, x.low};
	*bytes = x.bytes;
	*one_row = x.unit == g->warps * WARP_LANES;
	return !whole || check_global(g, in, x.first, x.bytes);
}

bool EXEC_NAME(affine_allowed)(const struct gang *g, const struct uop *in,
			       const struct tier_reach *x, u64 bytes)
{
	return check_global(g, in, x->base, (u32)bytes);
}
