/*
 * Loads and stores by the addresses of a row, or an index and a base that is the same for all
 * lanes. PTX ISA "Data Movement and Conversion Instructions: ld", "st"; "Operand Size Exceeding
 * Instruction-Type Size".
 */
#include "src/ops/fixed_rows.h"
#include "src/ops/move_rows.h"

static const struct address_form form_global = {
	.of_lane = plain_address,
	.of_warp = get_addresses,
	.classify = classify_plain,
	.check = check_global,
	.resolve = resolve_global,
};
#define FORM(name) name##_global
#include "src/ops/memory_form.inc"

static const struct address_form form_shared = {
	.of_lane = plain_address,
	.of_warp = get_addresses,
	.classify = classify_plain,
	.check = check_shared,
	.resolve = resolve_shared,
};
#define FORM(name) name##_shared
#include "src/ops/memory_form.inc"

static const struct address_form form_generic = {
	.of_lane = plain_address,
	.of_warp = get_addresses,
	.classify = classify_plain,
	.check = check_global,
	.resolve = resolve_generic,
};
#define FORM(name) name##_generic
#include "src/ops/memory_form.inc"

static const struct address_form form_indexed = {
	.of_lane = indexed_address,
	.of_warp = get_indexed,
	.classify = classify_indexed,
	.check = check_global,
	.resolve = resolve_global,
};
#define FORM(name) name##_indexed
#include "src/ops/memory_form.inc"

HANDLER(load_global)
{
	return load_global(g, in);
}

HANDLER(store_global)
{
	return store_global(g, in);
}

HANDLER(store_shared)
{
	return store_shared(g, in);
}

HANDLER(load_generic)
{
	return load_generic(g, in);
}

HANDLER(store_generic)
{
	return store_generic(g, in);
}

HANDLER(load_indexed)
{
	return load_indexed(g, in);
}

HANDLER(store_indexed)
{
	return store_indexed(g, in);
}

HANDLER(load_shared)
{
	return load_may_be_fixed(g, in) && load_fixed(g, in, check_shared) ? in + 1
									   : load_shared(g, in);
}

/* ---- parameters, windows ---- */

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
