/*
 * Loads and stores of local memory: see local.h for its layout. Addresses that all lanes have in
 * common, in a gang or a warp, are rows of words; where they differ it goes lane by lane.
 * PTX ISA "State Spaces: Local State Space".
 */
#include "src/ops/move_rows.h"

/* Lanes that move together: from lane `at` of those to work on. */
struct part {
	u32 at, n, mask; /* mask: of a warp; FULL_MASK: all n */
};

/* Rows of words for these lanes, that of the first byte first. */
static ALWAYS_INLINE u32 *words_of(const struct gang *g, const struct part *p, u64 address)
{
	return (u32 *)(void *)local_byte(g, g->lane0 + p->at, address & ~(u64)3);
}

/* D[l] = value for the lanes that take part. */
#define BLEND(D, ...)                                                                              \
	do {                                                                                       \
		if (PL_LIKELY(mask == FULL_MASK))                                                  \
			FOR_LANES(l, n)                                                            \
				(D)[l] = (__VA_ARGS__);                                            \
		else                                                                               \
			FOR_LANES(l, WARP_LANES)                                                   \
				(D)[l] = mask >> l & 1 ? (__VA_ARGS__) : (D)[l];                   \
	} while (0)

/* One element that begins at the same address for all. */
static void take_words(struct gang *g, const struct uop *in, const struct part *p, u32 row,
		       u64 address)
{
	const u32 *x = words_of(g, p, address), *y = x + local_stride(g) / 4;
	u32 *d = ROW32(row) + p->at, n = p->n & ~31u, mask = p->mask;
	u64 *wide = ROW64(row) + p->at;
	u32 right = 32 - 8 * (u32)in->mem.size, left = right - 8 * ((u32)address & 3);
	bool sign = in->flags & UOPF_SIGN;

	if (in->mem.size == 8)
		BLEND(wide, x[l] | (u64)y[l] << 32);
	else if (in->flags & UOPF_WIDE_DATA && sign)
		BLEND(wide, (u64)(s64)((s32)(x[l] << left) >> right));
	else if (in->flags & UOPF_WIDE_DATA)
		BLEND(wide, x[l] << left >> right);
	else if (in->mem.size == 4)
		BLEND(d, x[l]);
	else if (sign)
		BLEND(d, (u32)((s32)(x[l] << left) >> right));
	else
		BLEND(d, x[l] << left >> right);
}

static void give_words(struct gang *g, const struct uop *in, const struct part *p, u32 row,
		       u64 address)
{
	u32 *x = words_of(g, p, address), *y = x + local_stride(g) / 4;
	const u32 *s = ROW32(row) + p->at;
	const u64 *wide = ROW64(row) + p->at;
	u32 n = p->n & ~31u, mask = p->mask, shift = 8 * ((u32)address & 3);
	u32 field = in->mem.size < 4 ? ((1u << 8 * in->mem.size) - 1) << shift : FULL_MASK;

	if (in->mem.size == 8) {
		BLEND(x, (u32)wide[l]);
		BLEND(y, (u32)(wide[l] >> 32));
	} else if (in->flags & UOPF_WIDE_DATA) {
		BLEND(x, (x[l] & ~field) | ((u32)wide[l] << shift & field));
	} else if (in->mem.size == 4) {
		BLEND(x, s[l]);
	} else {
		BLEND(x, (x[l] & ~field) | (s[l] << shift & field));
	}
}

static ALWAYS_INLINE void take_all(struct gang *g, const struct uop *in, const struct part *p,
				   u64 address)
{
	for (u32 e = 0; e < in->mem.count; e++) {
		u32 row = element_row(g, in, e, in->d);

		if (row != NO_ROW)
			take_words(g, in, p, row, address + e * in->mem.size);
	}
}

static ALWAYS_INLINE void give_all(struct gang *g, const struct uop *in, const struct part *p,
				   u64 address)
{
	for (u32 e = 0; e < in->mem.count; e++) {
		u32 row = element_row(g, in, e, in->b);

		if (row != NO_ROW)
			give_words(g, in, p, row, address + e * in->mem.size);
	}
}

/* ---- addresses ---- */

/* Do the lanes hold the same, those of `mask` if it is not full? */
static ALWAYS_INLINE bool same_32(const u32 *r, const struct part *p)
{
	u32 diff = 0, mask = p->mask, first;

	r += p->at;
	if (mask == FULL_MASK)
		return r[p->n - 1] == r[0] && is_row_32(r, p->n, 0);
	first = r[__builtin_ctz(mask)];
	FOR_LANES(l, WARP_LANES)
		diff |= mask >> l & 1 ? r[l] ^ first : 0;
	return !diff;
}

static ALWAYS_INLINE bool same_64(const u64 *r, const struct part *p)
{
	u64 diff = 0, first;
	u32 mask = p->mask;

	r += p->at;
	if (mask == FULL_MASK)
		return r[p->n - 1] == r[0] && is_row_64(r, p->n, 0);
	first = r[__builtin_ctz(mask)];
	FOR_LANES(l, WARP_LANES)
		diff |= mask >> l & 1 ? r[l] ^ first : 0;
	return !diff;
}

static inline bool is_allowed(const struct gang *g, const struct uop *in, u64 address)
{
	u64 width = (u64)in->mem.size * in->mem.count, limit = g->env->local_bytes;

	return width <= limit && address <= limit - width && !(address & (width - 1));
}

/*
 * The address that the lanes have in common; false: they differ, or it has to be looked at closely.
 */
static ALWAYS_INLINE bool common_plain(const struct gang *g, const struct uop *in,
				       const struct part *p, u64 *address)
{
	u32 lane = p->at + (u32)__builtin_ctz(p->mask);
	bool same = in->flags & UOPF_FIXED;

	if (in->a == NO_ROW) {
		*address = (u64)in->mem.offset;
		same = true;
	} else if (in->flags & UOPF_WIDE) {
		*address = ROW64(in->a)[lane] + (u64)in->mem.offset;
		same = same || same_64(ROW64(in->a), p);
	} else {
		*address = ROW32(in->a)[lane] + (u32)in->mem.offset;
		same = same || same_32(ROW32(in->a), p);
	}
	return same && is_allowed(g, in, *address);
}

static ALWAYS_INLINE bool common_indexed(const struct gang *g, const struct uop *in,
					 const struct part *p, u64 *address)
{
	u32 lane = p->at + (u32)__builtin_ctz(p->mask);

	*address = ROW64(in->c)[lane] + index_at(in, ROW32(in->a)[lane]) + (u64)in->mem.offset;
	return same_32(ROW32(in->a), p) && is_allowed(g, in, *address);
}

/* ---- lanes that differ ---- */

/* Where elements of all lanes begin, `offset` behind their addresses. */
static void find_hosts(const struct gang *g, struct access *a, u32 offset)
{
	u64 base = (u64)(uintptr_t)local_byte(g, (g->warp + a->warp) * WARP_LANES, 0),
	    stride = local_stride(g);

	FOR_LANES(l, WARP_LANES) {
		u64 x = a->address[l] + offset;

		a->host[l] = base + (x >> 2) * stride + 4 * l + (x & 3);
	}
}

static void load_apart(struct gang *g, const struct uop *in, struct access *a)
{
	u64 stride = local_stride(g);

	for (u32 e = 0; e < in->mem.count; e++) {
		u32 row = element_row(g, in, e, in->d);
		u64 *d = ROW64(row) + a->warp * WARP_LANES;

		if (row == NO_ROW)
			continue;
		find_hosts(g, a, e * in->mem.size);
		if (in->mem.size == 8)
			EACH_LANE_OF(a->mask,
				     d[l] = get(a->host[l], 4) | get(a->host[l] + stride, 4) << 32);
		else
			load_element(g, in, a, row, 0);
	}
}

static void store_apart(struct gang *g, const struct uop *in, struct access *a)
{
	u64 stride = local_stride(g);

	for (u32 e = 0; e < in->mem.count; e++) {
		u32 row = element_row(g, in, e, in->b);
		const u64 *s = ROW64(row) + a->warp * WARP_LANES;

		if (row == NO_ROW)
			continue;
		find_hosts(g, a, e * in->mem.size);
		if (in->mem.size == 8)
			EACH_LANE_OF(a->mask, put(a->host[l], 4, s[l]),
				     put(a->host[l] + stride, 4, s[l] >> 32));
		else
			store_element(g, in, a, row, 0);
	}
}

/* ---- handlers ---- */

#define LOCAL(what, how, all, addresses, find_common)                                              \
	static __attribute__((noinline)) bool what##_warp_##how(                                   \
		struct gang *g, const struct uop *in, u32 w, u32 mask)                             \
	{                                                                                          \
		struct access a;                                                                   \
		access_begin(&a, (u32)in->mem.size * in->mem.count, w, mask);                      \
		addresses(g, in, &a);                                                              \
		if (!check_local(g, in, &a))                                                       \
			return false;                                                              \
		what##_apart(g, in, &a);                                                           \
		return true;                                                                       \
	}                                                                                          \
	HANDLER(what##_##how)                                                                      \
	{                                                                                          \
		struct part p = {0, LANES, FULL_MASK};                                             \
		u64 address;                                                                       \
		if (g->full && find_common(g, in, &p, &address)) {                                 \
			all(g, in, &p, address);                                                   \
			return in + 1;                                                             \
		}                                                                                  \
		p.n = WARP_LANES;                                                                  \
		for (u32 w = 0, n = WARPS; w < n; w++) {                                           \
			p.at = w * WARP_LANES;                                                     \
			p.mask = mask_of(g, w);                                                    \
			if (!p.mask)                                                               \
				continue;                                                          \
			if (find_common(g, in, &p, &address))                                      \
				all(g, in, &p, address);                                           \
			else if (!what##_warp_##how(g, in, w, p.mask))                             \
				return NULL;                                                       \
		}                                                                                  \
		return in + 1;                                                                     \
	}

LOCAL(load, local, take_all, get_addresses, common_plain)
LOCAL(store, local, give_all, get_addresses, common_plain)
LOCAL(load, local_indexed, take_all, get_indexed, common_indexed)
LOCAL(store, local_indexed, give_all, get_indexed, common_indexed)

/* Address of a variable in the lane's frame: base + imm. */
HANDLER(frame_address)
{
	const u32 *frame = ROW32(in->a);

	for (u32 w = 0; w < WARPS; w++)
		for (u32 m = g->mode == MODE_GANG ? FULL_MASK : g->active; m; m &= m - 1) {
			u32 l = w * WARP_LANES + (u32)__builtin_ctz(m);
			u64 v = frame[l] + (u64)in->address.offset;

			if (in->flags & UOPF_WIDE_DATA)
				ROW64(in->d)[l] = v;
			else
				ROW32(in->d)[l] = (u32)v;
		}
	return in + 1;
}
