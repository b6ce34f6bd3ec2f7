/*
 * Loads and stores by the addresses of a row, or an index and a base that is the same for all
 * lanes. PTX ISA "Data Movement and Conversion Instructions: ld", "st"; "Operand Size Exceeding
 * Instruction-Type Size".
 */
#include "src/base/l2_policy.h"
#include "src/ops/move_rows.h"

static const struct address_form form_global = {
	.of_lane = plain_address,
	.of_warp = get_addresses,
	.of_lanes = plain_lanes,
	.classify = classify_plain,
	.check = check_global,
	.resolve = resolve_global,
	.window = window_global,
};
#define FORM(name) name##_global
#include "src/ops/memory_form.inc"

static const struct address_form form_shared = {
	.of_lane = plain_address,
	.of_warp = get_addresses,
	.of_lanes = plain_lanes,
	.classify = classify_plain,
	.check = check_shared,
	.resolve = resolve_shared,
	.alone = true,
	.window = window_shared,
};
#define FORM(name) name##_shared
#include "src/ops/memory_form.inc"

static const struct address_form form_generic = {
	.of_lane = plain_address,
	.of_warp = get_addresses,
	.of_lanes = plain_lanes,
	.classify = classify_plain,
	.check = check_global,
	.resolve = resolve_generic,
	.window = window_global,
};
#define FORM(name) name##_generic
#include "src/ops/memory_form.inc"

static const struct address_form form_indexed = {
	.of_lane = indexed_address,
	.of_warp = get_indexed,
	.of_lanes = indexed_lanes,
	.classify = classify_indexed,
	.check = check_global,
	.resolve = resolve_global,
	.window = window_global,
};
#define FORM(name) name##_indexed
#include "src/ops/memory_form.inc"

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

HANDLER(load_global_gang)
{
	return load_global(g, in);
}

HANDLER(store_global_gang)
{
	return store_global(g, in);
}

HANDLER(load_shared_gang)
{
	return load_may_be_fixed(g, in) && load_fixed(g, in, check_shared) ? in + 1
									   : load_shared(g, in);
}

HANDLER(store_shared_gang)
{
	return store_shared(g, in);
}

/*
 * ---- warps that run one by one ----
 *
 * Words of all lanes of a warp, each half of which is a row or has one address: handlers that need
 * no stack. The rest is left to the bodies of gangs.
 */

static inline bool moves_words(const struct gang *g, const struct uop *in, u32 wide)
{
	return g->active == FULL_MASK && plain_size(in) == 4 && in->a != NO_ROW &&
	       (in->flags & UOPF_WIDE) == wide;
}

/* Is it a word at a constant address, for all lanes? */
static inline bool loads_one_word(const struct gang *g, const struct uop *in)
{
	return g->active == FULL_MASK && plain_size(in) == 4 && in->a == NO_ROW &&
	       !(in->mem.offset & 3);
}

/* The halves of a warp: the addresses of their first lanes, and how the others lie. */
struct half_words {
	u64 low, high;
	enum address_kind of_low, of_high;
};

static ALWAYS_INLINE struct half_words find_words_32(const struct gang *g, const struct uop *in)
{
	const u32 *r = ROW32(in->a);
	u32 off = (u32)in->mem.offset;

	return (struct half_words){.low = (u32)(r[0] + off),
				   .high = (u32)(r[HALF_LANES] + off),
				   .of_low = classify_half_32(r, 4),
				   .of_high = classify_half_32(r + HALF_LANES, 4)};
}

static ALWAYS_INLINE struct half_words find_words_64(const struct gang *g, const struct uop *in)
{
	const u64 *r = ROW64(in->a), off = (u64)in->mem.offset;

	return (struct half_words){.low = r[0] + off,
				   .high = r[HALF_LANES] + off,
				   .of_low = classify_half_64(r, 4),
				   .of_high = classify_half_64(r + HALF_LANES, 4)};
}

/*
 * Are both halves aligned, and rows or (for loads) of one address? The kinds are bits: two
 * comparisons become one of both members at once, of memory that has just been written in halves.
 */
static ALWAYS_INLINE bool are_halves(struct half_words x, bool load)
{
	bool ok = load ? x.of_low != ADDRESS_APART && x.of_high != ADDRESS_APART
		       : (x.of_low & x.of_high) == ADDRESS_ROW;

	return ok && !((x.low | x.high) & 3);
}

static ALWAYS_INLINE u32 half_bytes(enum address_kind kind)
{
	return kind == ADDRESS_ROW ? HALF_LANES * 4 : 4;
}

static ALWAYS_INLINE bool are_shared(const struct gang *g, struct half_words x)
{
	u64 end = g->env->shared_bytes;

	return x.low + half_bytes(x.of_low) <= end && x.high + half_bytes(x.of_high) <= end;
}

static ALWAYS_INLINE bool are_global(const struct gang *g, const struct uop *in,
				     struct half_words x)
{
	return check_global(g, in, x.low, half_bytes(x.of_low)) &&
	       check_global(g, in, x.high, half_bytes(x.of_high));
}

static ALWAYS_INLINE void load_half(u32 *to, u64 host, enum address_kind kind)
{
	const u32 *m = (const u32 *)(uintptr_t)host;
	u32 v;

	if (kind == ADDRESS_ROW) {
		copy_lanes(to, m, HALF_LANES);
		return;
	}
	v = *m;
	FOR_LANES(l, HALF_LANES)
		to[l] = v;
}

/* base: what is added to the addresses. */
static ALWAYS_INLINE void load_halves(struct gang *g, const struct uop *in, struct half_words x,
				      u64 base)
{
	u32 *d = ROW32(in->d);

	load_half(d, base + x.low, x.of_low);
	load_half(d + HALF_LANES, base + x.high, x.of_high);
}

static ALWAYS_INLINE void store_halves(struct gang *g, const struct uop *in, struct half_words x,
				       u64 base)
{
	const u32 *s = ROW32(in->b);

	copy_lanes((void *)(uintptr_t)(base + x.low), s, HALF_LANES);
	copy_lanes((void *)(uintptr_t)(base + x.high), s + HALF_LANES, HALF_LANES);
}

/* Warps for which one of them fetches ahead: about what hosts have under way at a time. */
#define FETCH_WARPS 8u

/* The address that the first lane of a warp, counted in the CTA, had last. */
static inline u64 address_of_warp(const struct gang *g, const struct uop *in, u32 warp)
{
	const struct gang *x = &g->cta->gang[warp / g->env->program->gang];

	return ((const u64 *)(const void *)(x->regs + in->a))[(warp - x->first_warp) * WARP_LANES];
}

/*
 * A gang has the accesses of all its warps under way together; a warp that runs alone waits for its
 * own, so the first of some asks for those of the others. They are mostly the same distance apart,
 * which is that of two that have not been here since the last time. (The empty statement: to
 * compilers the function has no effect.)
 */
static OUT_OF_LINE void fetch_for_others(const struct gang *g, const struct uop *in, u64 first,
					 u64 second)
{
	u32 warp = cta_warp(g, 0), left = g->cta->warps - warp;
	u64 half = second - first, step;

	if (left < 3)
		return;
	step = address_of_warp(g, in, warp + 2) - address_of_warp(g, in, warp + 1);
	for (u32 i = 1; step && i < left && i < FETCH_WARPS; i++) {
		u64 host = check_global(g, in, first + i * step, 1);

		if (!host)
			return;
		__builtin_prefetch((const void *)(uintptr_t)host);
		__builtin_prefetch((const void *)(uintptr_t)(host + half));
	}
	__asm__ volatile("" ::: "memory");
}

HANDLER(load_global_warp)
{
	struct half_words x;
	u64 bias;

	if (!moves_words(g, in, UOPF_WIDE))
		return EXEC_NAME(op_load_global_gang)(g, in);
	x = find_words_64(g, in);
	if (!are_halves(x, true) || !are_global(g, in, x))
		return EXEC_NAME(op_load_global_gang)(g, in);
	bias = g->caches[in->mem.cache].bias;
	if (x.high - x.low == HALF_LANES * 4)
		fetch_next((const u8 *)(uintptr_t)(x.low + bias), WARP_LANES * 4);
	load_halves(g, in, x, bias);
	if (cta_warp(g, 0) % FETCH_WARPS == 0)
		fetch_for_others(g, in, x.low, x.high);
	return in + 1;
}

HANDLER(store_global_warp)
{
	struct half_words x;

	if (!moves_words(g, in, UOPF_WIDE))
		return EXEC_NAME(op_store_global_gang)(g, in);
	x = find_words_64(g, in);
	if (!are_halves(x, false) || !are_global(g, in, x))
		return EXEC_NAME(op_store_global_gang)(g, in);
	store_halves(g, in, x, g->caches[in->mem.cache].bias);
	return in + 1;
}

/*
 * Host address of the shared words of a whole warp that are one row, 0: they are not, or not all
 * inside. What is compared first tells most others apart.
 */
static ALWAYS_INLINE u64 find_shared_row(const struct gang *g, const struct uop *in)
{
	const u32 *r = ROW32(in->a);
	u32 first = r[0] + (u32)in->mem.offset;

	if (r[WARP_LANES - 1] - r[0] != (WARP_LANES - 1) * 4 || first & 3 ||
	    !is_row_32(r, WARP_LANES, 4))
		return 0;
	return check_shared(g, in, first, WARP_LANES * 4);
}

static OUT_OF_LINE const struct uop *load_shared_halves(struct gang *g, const struct uop *in)
{
	struct half_words x = find_words_32(g, in);

	if (!are_halves(x, true) || !are_shared(g, x))
		return EXEC_NAME(op_load_shared_gang)(g, in);
	load_halves(g, in, x, (u64)(uintptr_t)g->shared);
	return in + 1;
}

static OUT_OF_LINE const struct uop *store_shared_halves(struct gang *g, const struct uop *in)
{
	struct half_words x = find_words_32(g, in);

	if (!are_halves(x, false) || !are_shared(g, x))
		return EXEC_NAME(op_store_shared_gang)(g, in);
	store_halves(g, in, x, (u64)(uintptr_t)g->shared);
	return in + 1;
}

static OUT_OF_LINE const struct uop *load_shared_other(struct gang *g, const struct uop *in)
{
	u64 host = loads_one_word(g, in) ? check_shared(g, in, (u64)in->mem.offset, 4) : 0;

	if (!host)
		return EXEC_NAME(op_load_shared_gang)(g, in);
	load_half(ROW32(in->d), host, ADDRESS_SAME);
	load_half(ROW32(in->d) + HALF_LANES, host, ADDRESS_SAME);
	return in + 1;
}

HANDLER(load_shared_warp)
{
	u64 host;

	if (!moves_words(g, in, 0))
		return load_shared_other(g, in);
	host = find_shared_row(g, in);
	if (!host)
		return load_shared_halves(g, in);
	copy_lanes(ROW32(in->d), (const void *)(uintptr_t)host, WARP_LANES);
	return in + 1;
}

HANDLER(store_shared_warp)
{
	u64 host;

	if (!moves_words(g, in, 0))
		return EXEC_NAME(op_store_shared_gang)(g, in);
	host = find_shared_row(g, in);
	if (!host)
		return store_shared_halves(g, in);
	copy_lanes((void *)(uintptr_t)host, ROW32(in->b), WARP_LANES);
	return in + 1;
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

/* createpolicy */
HANDLER(policy)
{
	enum l2_priority primary = (enum l2_priority)in->policy.primary,
			 secondary = (enum l2_priority)in->policy.secondary;

	EACH_LANE(w, l) {
		u32 at = w * WARP_LANES + l;
		float fraction;

		if (in->policy.is_range) {
			ROW64(in->d)
			[at] = l2_policy_range(primary, secondary, ROW64(in->a)[at],
					       ROW32(in->b)[at], ROW32(in->c)[at]);
			continue;
		}
		memcpy(&fraction, &ROW32(in->a)[at], sizeof(fraction));
		ROW64(in->d)[at] = l2_policy_fractional(primary, secondary, fraction);
	}
	return in + 1;
}
