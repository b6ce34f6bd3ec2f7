/*
 * Affine values: what a launch finds out about them, comparisons with them, and global memory at a
 * base that is the same for all lanes plus an affine index. See affine.h.
 * A record names the row of the lanes' part in `a` and the value's number in `target`.
 */
#include "src/ops/affine_rows.h"

/* ---- once for each launch ---- */

/* Into how large groups of lanes, `step` apart, the row falls. */
static u32 find_unit(const u32 *r, u32 n, u32 step)
{
	bool warps = true, halves = true;

	if (is_row_32(r, n, step))
		return n;
	for (u32 at = 0; at < n; at += WARP_LANES)
		warps &= is_row_32(r + at, WARP_LANES, step);
	for (u32 at = 0; at < n; at += HALF_LANES)
		halves &= is_row_32(r + at, HALF_LANES, step);
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
	a->unit = find_unit(r, n, a->step);
	return in + 1;
}

/* ---- comparisons ---- */

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

/* b: the row of what is compared with, the same for all lanes. */
HANDLER(setp_affine)
{
	const struct affine *x = affine_at(g, in->affine.number);
	const u32 *a = ROW32(in->a), active = g->active;
	u32 *d = ROWP(in->d), offset = affine_offset(x, g->cta->id), compare = in->affine.compare;
	u32 y = affine_operand(g->regs + in->b, &compare);
	int all = affine_decide(x, compare, offset, y).all;

	for (u32 w = 0, n = WARPS; w < n; w++) {
		u32 at = w * WARP_LANES, t = all > 0 ? FULL_MASK : 0;

		if (all < 0)
			t = compare_lanes(compare, a + at, offset, y);
		d[w] = (d[w] & ~active) | (t & active);
	}
	return in + 1;
}

/* ---- memory ---- */

static inline void get_affine(const struct gang *g, const struct uop *in, struct access *a)
{
	const u32 *r = ROW32(in->a) + a->warp * WARP_LANES;
	u32 offset = affine_offset(affine_at(g, in->index.affine), g->cta->id);
	u64 base = ROW64(in->c)[a->warp * WARP_LANES] + (u64)in->mem.offset;

	a->uniform = false;
	FOR_LANES(l, WARP_LANES)
		a->address[l] = base + index_at(in, r[l] + offset);
}

static inline u64 address_of_affine(const struct gang *g, const struct uop *in, u32 lane)
{
	u32 offset = affine_offset(affine_at(g, in->index.affine), g->cta->id);

	return ROW64(in->c)[lane] + index_at(in, ROW32(in->a)[lane] + offset) + (u64)in->mem.offset;
}

static ALWAYS_INLINE enum address_kind look_affine(const struct gang *g, const struct uop *in,
						   u32 at, u32 n, u32 width PL_UNUSED, u64 *first)
{
	const u32 *r = ROW32(in->a) + at, top = affine_top(!(in->flags & UOPF_UNSIGNED));
	u32 offset = affine_offset(affine_at(g, in->index.affine), g->cta->id);

	*first = ROW64(in->c)[at] + index_at(in, r[0] + offset) + (u64)in->mem.offset;
	if (PL_UNLIKELY(((r[n - 1] + offset) ^ top) < ((r[0] + offset) ^ top) || !in->index.step))
		return ADDRESS_APART;
	return kind_of_many_32(r, n, in->index.step);
}

/* Where the gang's accesses lie. */
struct reach {
	const u32 *lanes; /* relative to `low` */
	u32 low, unit;
	u64 host; /* of the lowest */
};

/*
 * False: not in groups of lanes of which each is a row (or, `same`, has one address), or not known
 * to be allowed. One comparison tells for all lanes, since they lie in one allocation.
 */
static ALWAYS_INLINE bool find_reach(const struct gang *g, const struct uop *in, u32 width,
				     bool *same, struct reach *x)
{
	const struct affine *a = affine_at(g, in->index.affine);
	u32 sign = in->flags & UOPF_UNSIGNED ? 0 : 1, top = affine_top(sign), span = a->span[sign],
	    low = a->low[sign] + affine_offset(a, g->cta->id);
	u64 first = *ROW64(in->c) + index_at(in, low) + (u64)in->mem.offset,
	    bytes = (u64)span * in->index.scale + width;

	*same = !a->step;
	if (!a->unit || (a->step && a->step != in->index.step) ||
	    (low ^ top) + span < (low ^ top) ||
	    (a->unit < g->lanes && in->index.scale & (width - 1)) || first & (width - 1) ||
	    bytes > UINT32_MAX)
		return false;
	x->lanes = ROW32(in->a);
	x->low = a->low[sign];
	x->unit = a->unit;
	x->host = check_global(g, in, first, (u32)bytes);
	return x->host != 0;
}

static ALWAYS_INLINE u64 host_of(const struct reach *x, const struct uop *in, u32 lane)
{
	return x->host + (u64)(x->lanes[lane] - x->low) * in->index.scale;
}

WHOLE_REACH(affine)
SIMPLE(affine, look_affine, check_global)
PART(affine, get_affine, address_of_affine, check_global)
GENERAL(affine, get_affine, resolve_global)
MEMORY(load, affine)
MEMORY(store, affine)
