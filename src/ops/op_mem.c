/*
 * Loads and stores by the addresses of a row, or an index and a base that is the same for all
 * lanes. PTX ISA "Data Movement and Conversion Instructions: ld", "st"; "Operand Size Exceeding
 * Instruction-Type Size".
 */
#include "src/ops/move_rows.h"

SIMPLE(global, look_plain, check_global)
SIMPLE(shared, look_plain, check_shared)
SIMPLE(generic, look_plain, check_generic)
SIMPLE(indexed, look_indexed, check_global)
PART(global, get_addresses, address_of, check_global)
PART(shared, get_addresses, address_of, check_shared)
PART(generic, get_addresses, address_of, check_generic)
PART(indexed, get_indexed, address_of_indexed, check_global)
GENERAL(global, get_addresses, resolve_global)
GENERAL(shared, get_addresses, resolve_shared)
GENERAL(generic, get_addresses, resolve_generic)
GENERAL(indexed, get_indexed, resolve_global)

WHOLE(global)
WHOLE(shared)
WHOLE(generic)
WHOLE(indexed)

/* ---- words of shared memory at the same place for every CTA ---- */

enum fixed { FIXED_NOT, FIXED_ROWS, FIXED_SAME };

/*
 * How all halves of the gang's warps lie: rows, or each at one address. What is allowed once always
 * is.
 */
static __attribute__((noinline)) enum fixed find_fixed(struct gang *g, const struct uop *in)
{
	bool rows = true, same = true;

	if (in->flags & UOPF_WIDE)
		return FIXED_NOT;
	for (u32 at = 0; at < g->lanes; at += HALF_LANES) {
		u64 first;
		enum address_kind kind = look_plain(g, in, at, HALF_LANES, 4, &first);

		rows &= kind == ADDRESS_ROW && check_shared(g, in, first, 4 * HALF_LANES);
		same &= kind == ADDRESS_SAME && check_shared(g, in, first, 4);
		if (first & 3)
			return FIXED_NOT;
	}
	return rows ? FIXED_ROWS : same ? FIXED_SAME : FIXED_NOT;
}

/* The allocation cache of the record, of no use in shared memory, holds what was found. */
static inline bool load_fixed(struct gang *g, const struct uop *in)
{
	struct mem_cache *c = &g->caches[in->mem.cache];
	const u8 *base = g->shared;
	const u32 *r = ROW32(in->a);
	u32 *d = ROW32(in->d), off = (u32)in->mem.offset;

	if (PL_UNLIKELY(c->span != g->cta->launches)) {
		c->lo = find_fixed(g, in);
		c->span = g->cta->launches;
	}
	if (c->lo == FIXED_ROWS) {
		for (u32 at = 0; at < g->lanes; at += HALF_LANES)
			copy_lanes(d + at, base + (u32)(r[at] + off), HALF_LANES);
		return true;
	}
	if (c->lo == FIXED_SAME) {
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

MOVE(load, shared, 4)
MOVE(load, shared, 8)
MOVE(load, shared, 0)

HANDLER(load_shared)
{
	u32 size = plain_size(in);
	bool ok;

	if (size == 4 && in->flags & UOPF_FIXED && g->full && g->cta->gangs == 1 &&
	    load_fixed(g, in))
		return in + 1;
	ok = size == 4   ? load_shared_4(g, in)
	     : size == 8 ? load_shared_8(g, in)
			 : load_shared_0(g, in);
	return ok ? in + 1 : NULL;
}

MEMORY(load, global)
MEMORY(load, generic)
MEMORY(load, indexed)
MEMORY(store, global)
MEMORY(store, shared)
MEMORY(store, generic)
MEMORY(store, indexed)

/*
 * Kernel parameters are the same for all. Lowering has checked it against the
 * parameter block.
 */
HANDLER(load_param)
{
	const u8 *at = g->env->params + in->mem.offset;

	for (u32 e = 0; e < in->mem.count; e++) {
		u32 row = element_row(g, in, e, in->d);
		u64 v = extend(get((u64)(uintptr_t)at + e * in->mem.size, in->mem.size),
			       in->mem.size, in->flags & UOPF_SIGN);

		if (row != NO_ROW)
			fill_row(g, row, in->flags & UOPF_WIDE_DATA, v);
	}
	return in + 1;
}

/* cvta of windowed spaces. */
HANDLER(window)
{
	const struct mem *m = g->env->mem;
	u64 base = in->address.local ? m->local_base : m->shared_base;
	const u64 *a = ROW64(in->a);
	u64 *d = ROW64(in->d);

	if (!in->address.to_generic)
		base = 0 - base;
	for (u32 w = 0; w < WARPS; w++) {
		u32 mask = g->mode == MODE_GANG ? FULL_MASK : g->active;

		FOR_LANES(l, WARP_LANES)
			d[w * WARP_LANES + l] = mask >> l & 1 ? a[w * WARP_LANES + l] + base
							      : d[w * WARP_LANES + l];
	}
	return in + 1;
}
