/*
 * Affine values of 64 bits: what a launch finds out about them, comparisons with them, and global
 * memory at addresses that are ones. See affine.h; a record names the row of the lanes' part in `a`
 * and the value's number in `target`.
 */
#include "src/ops/affine_rows.h"

/* ---- once for each launch ---- */

/* Into how large groups of lanes, `step` apart, the row falls. */
static u32 find_unit(const u64 *r, u32 n, u64 step)
{
	bool warps = true, halves = true;

	if (is_row_64(r, n, step))
		return n;
	for (u32 at = 0; at < n; at += WARP_LANES)
		warps &= is_row_64(r + at, WARP_LANES, step);
	for (u32 at = 0; at < n; at += HALF_LANES)
		halves &= is_row_64(r + at, HALF_LANES, step);
	return warps ? WARP_LANES : halves ? HALF_LANES : 0;
}

/*
 * ext: rows of the parts, NO_ROW: a constant; then these constants, low words first. imm: number of
 * the value.
 */
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
	a->unit = find_unit(r, n, a->step);
	return in + 1;
}

/* ---- comparisons ---- */

/* 1: it holds for all lanes, 0: for none, -1: they have to be looked at. */
static int decide(const struct affine_wide *a, u32 compare, u64 offset, u64 y)
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

#define COMPARE_LANES(OP)                                                                          \
	FOR_LANES(l, WARP_LANES)                                                                   \
		t[l] = ((a[l] + offset) ^ top) OP b ? FULL_MASK : 0;

static u32 compare_lanes(u32 compare, const u64 *a, u64 offset, u64 b)
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

/* b: the row of what is compared with, the same for all lanes; imm: enum affine_compare. */
HANDLER(setp_affine_wide)
{
	const struct affine_wide *x = affine_wide_at(g, in->affine.number);
	const u64 *a = ROW64(in->a);
	u32 *d = ROWP(in->d), active = g->active, compare = in->affine.compare;
	u64 offset = affine_wide_offset(x, g->cta->id), y;
	int all;

	memcpy(&y, g->regs + in->b, sizeof(y));
	all = decide(x, compare, offset, y);
	for (u32 w = 0, n = WARPS; w < n; w++) {
		u32 t = all > 0 ? FULL_MASK : 0;

		if (all < 0)
			t = compare_lanes(compare, a + w * WARP_LANES, offset, y);
		d[w] = (d[w] & ~active) | (t & active);
	}
	return in + 1;
}

/* ---- memory ---- */

static inline u64 wide_offset(const struct gang *g, const struct uop *in)
{
	return affine_wide_offset(affine_wide_at(g, in->index.affine), g->cta->id) +
	       (u64)in->mem.offset;
}

static inline void get_wide(const struct gang *g, const struct uop *in, struct access *a)
{
	const u64 *r = ROW64(in->a) + a->warp * WARP_LANES;
	u64 offset = wide_offset(g, in);

	a->uniform = false;
	FOR_LANES(l, WARP_LANES)
		a->address[l] = r[l] + offset;
}

static inline u64 address_of_wide(const struct gang *g, const struct uop *in, u32 lane)
{
	return ROW64(in->a)[lane] + wide_offset(g, in);
}

static ALWAYS_INLINE enum address_kind look_wide(const struct gang *g, const struct uop *in, u32 at,
						 u32 n, u32 width, u64 *first)
{
	const u64 *r = ROW64(in->a) + at;

	*first = r[0] + wide_offset(g, in);
	return kind_of_many_64(r, n, width);
}

/* Where the gang's accesses lie. */
struct reach {
	const u64 *lanes;
	u64 low, host; /* the least of them, and where it is */
	u32 unit;
};

/*
 * False: not in groups of lanes of which each is a row (or, `same`, has one address), or not known
 * to be allowed.
 */
static ALWAYS_INLINE bool find_reach(const struct gang *g, const struct uop *in, u32 width,
				     bool *same, struct reach *x)
{
	const struct affine_wide *a = affine_wide_at(g, in->index.affine);
	u64 first = a->low + affine_wide_offset(a, g->cta->id) + (u64)in->mem.offset;

	*same = !a->step;
	if (!a->unit || (a->step && a->step != width) || ((first | a->bits) & (width - 1)) ||
	    a->span > UINT32_MAX / 2)
		return false;
	x->lanes = ROW64(in->a);
	x->low = a->low;
	x->unit = a->unit;
	x->host = check_global(g, in, first, (u32)a->span + width);
	return x->host != 0;
}

static ALWAYS_INLINE u64 host_of(const struct reach *x, const struct uop *in PL_UNUSED, u32 lane)
{
	return x->host + (x->lanes[lane] - x->low);
}

WHOLE_REACH(wide)
SIMPLE(wide, look_wide, check_global)
PART(wide, get_wide, address_of_wide, check_global)
GENERAL(wide, get_wide, resolve_global)
MEMORY(load, wide)
MEMORY(store, wide)
