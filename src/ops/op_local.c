/*
 * Loads and stores of local memory: see local.h for its layout. Addresses that all lanes have in
 * common, in a gang or a warp, are rows of words; where they differ it goes lane by lane.
 * PTX ISA "State Spaces: Local State Space".
 */
#include "src/ops/local.h"
#include "src/ops/move_rows.h"

/* Lanes that move together: from lane `at` of those to work on. */
struct lane_set {
	u32 at, n, mask; /* mask: of a warp; FULL_MASK: all n */
};

/* Rows of words for these lanes, that of the first byte first. */
static ALWAYS_INLINE u32 *words_of(const struct gang *g, const struct lane_set *p, u64 address)
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
static void load_local_words(struct gang *g, const struct uop *in, const struct lane_set *p,
			     u32 row, u64 address)
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

static void store_local_words(struct gang *g, const struct uop *in, const struct lane_set *p,
			      u32 row, u64 address)
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

static ALWAYS_INLINE void load_common(struct gang *g, const struct uop *in,
				      const struct lane_set *p, u64 address)
{
	for (u32 e = 0; e < in->mem.count; e++) {
		u32 row = element_row(g, in, e, in->d);

		if (row != NO_ROW)
			load_local_words(g, in, p, row, address + e * in->mem.size);
	}
}

static ALWAYS_INLINE void store_common(struct gang *g, const struct uop *in,
				       const struct lane_set *p, u64 address)
{
	for (u32 e = 0; e < in->mem.count; e++) {
		u32 row = element_row(g, in, e, in->b);

		if (row != NO_ROW)
			store_local_words(g, in, p, row, address + e * in->mem.size);
	}
}

/* ---- addresses ---- */

/* Do the lanes hold the same, those of `mask` if it is not full? */
static ALWAYS_INLINE bool same_32(const u32 *r, const struct lane_set *p)
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

static ALWAYS_INLINE bool same_64(const u64 *r, const struct lane_set *p)
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
 * The address that the lanes have in common; false: they differ, or they have to be inspected one
 * by one.
 */
static ALWAYS_INLINE bool common_plain(const struct gang *g, const struct uop *in,
				       const struct lane_set *p, u64 *address)
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
					 const struct lane_set *p, u64 *address)
{
	u32 lane = p->at + (u32)__builtin_ctz(p->mask);

	*address = ROW64(in->c)[lane] + scaled_index(in, ROW32(in->a)[lane]) + (u64)in->mem.offset;
	return same_32(ROW32(in->a), p) && is_allowed(g, in, *address);
}

/* ---- lanes that differ ---- */

/* Where elements of all lanes begin, `offset` bytes after their addresses. */
static void find_hosts(const struct gang *g, struct access *a, u32 offset)
{
	u64 base = (u64)(uintptr_t)local_byte(g, (g->warp + a->warp) * WARP_LANES, 0),
	    stride = local_stride(g);

	FOR_LANES(l, WARP_LANES) {
		u64 x = a->address[l] + offset;

		a->host[l] = base + (x >> 2) * stride + 4 * l + (x & 3);
	}
}

/* Double words lie in two words of the lane; with: how far apart these are. */
static ALWAYS_INLINE void move_two_words(void *row, u32 l, u64 host, u64 with)
{
	((u64 *)row)[l] = get(host, 4) | get(host + with, 4) << 32;
}

static ALWAYS_INLINE void move_to_two_words(void *row, u32 l, u64 host, u64 with)
{
	u64 v = ((const u64 *)row)[l];

	put(host, 4, v);
	put(host + with, 4, v >> 32);
}

/* False: a fault was raised. */
static bool load_apart(struct gang *g, const struct uop *in, struct access *a)
{
	if (!check_local(g, in, a))
		return false;
	for (u32 e = 0; e < in->mem.count; e++) {
		u32 row = element_row(g, in, e, in->d);

		if (row == NO_ROW)
			continue;
		find_hosts(g, a, e * in->mem.size);
		if (in->mem.size == 8)
			move_lanes(a, ROW64(row) + a->warp * WARP_LANES, local_stride(g),
				   move_two_words);
		else
			load_element(g, in, a, row);
	}
	return true;
}

static bool store_apart(struct gang *g, const struct uop *in, struct access *a)
{
	if (!check_local(g, in, a))
		return false;
	for (u32 e = 0; e < in->mem.count; e++) {
		u32 row = element_row(g, in, e, in->b);

		if (row == NO_ROW)
			continue;
		find_hosts(g, a, e * in->mem.size);
		if (in->mem.size == 8)
			move_lanes(a, ROW64(row) + a->warp * WARP_LANES, local_stride(g),
				   move_to_two_words);
		else
			store_element(g, in, a, row);
	}
	return true;
}

/* ---- handlers ---- */

/* How a form comes by its lanes' addresses; constants, as those of struct address_form. */
typedef bool find_common(const struct gang *g, const struct uop *in, const struct lane_set *p,
			 u64 *address);
/* One warp whose lanes' addresses differ. False: a fault was raised. */
typedef bool move_differing(struct gang *g, const struct uop *in, u32 w, u32 mask);
typedef void move_common(struct gang *g, const struct uop *in, const struct lane_set *p,
			 u64 address);

static ALWAYS_INLINE const struct uop *move_local(struct gang *g, const struct uop *in,
						  find_common *find, move_common *move,
						  move_differing *differing)
{
	struct lane_set p = {0, LANES, FULL_MASK};
	u64 address;

	if (g->full && find(g, in, &p, &address)) {
		move(g, in, &p, address);
		return in + 1;
	}
	p.n = WARP_LANES;
	for (u32 w = 0, n = WARPS; w < n; w++) {
		p.at = w * WARP_LANES;
		p.mask = mask_of(g, w);
		if (!p.mask)
			continue;
		if (find(g, in, &p, &address))
			move(g, in, &p, address);
		else if (!differing(g, in, w, p.mask))
			return NULL;
	}
	return in + 1;
}

static OUT_OF_LINE bool load_differing(struct gang *g, const struct uop *in, u32 w, u32 mask)
{
	struct access a;

	access_begin(&a, value_bytes(in), w, mask);
	get_addresses(g, in, &a);
	return load_apart(g, in, &a);
}

static OUT_OF_LINE bool store_differing(struct gang *g, const struct uop *in, u32 w, u32 mask)
{
	struct access a;

	access_begin(&a, value_bytes(in), w, mask);
	get_addresses(g, in, &a);
	return store_apart(g, in, &a);
}

static OUT_OF_LINE bool load_differing_indexed(struct gang *g, const struct uop *in, u32 w,
					       u32 mask)
{
	struct access a;

	access_begin(&a, value_bytes(in), w, mask);
	get_indexed(g, in, &a);
	return load_apart(g, in, &a);
}

static OUT_OF_LINE bool store_differing_indexed(struct gang *g, const struct uop *in, u32 w,
						u32 mask)
{
	struct access a;

	access_begin(&a, value_bytes(in), w, mask);
	get_indexed(g, in, &a);
	return store_apart(g, in, &a);
}

HANDLER(load_local)
{
	return move_local(g, in, common_plain, load_common, load_differing);
}

HANDLER(store_local)
{
	return move_local(g, in, common_plain, store_common, store_differing);
}

HANDLER(load_local_indexed)
{
	return move_local(g, in, common_indexed, load_common, load_differing_indexed);
}

HANDLER(store_local_indexed)
{
	return move_local(g, in, common_indexed, store_common, store_differing_indexed);
}

/* ---- frames ---- */

/* Address of a variable in the lane's frame: base + offset. */
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

/* ---- objects of local memory, for those who look for accesses beyond them ---- */

static void report_object(struct gang *g, const struct uop *in, u32 lane, u64 at, u64 from,
			  u32 size)
{
	const struct uop_bounds *b = &in->bounds;
	struct fault f = {.address = at, .size = b->bytes, .space = MEM_LOCAL, .write = b->write};

	snprintf(f.text, sizeof(f.text), "%llu bytes %s an object of %u bytes in local memory",
		 (unsigned long long)(at < from          ? from - at
				      : at < from + size ? at - from
							 : at - from - size),
		 at < from          ? "before"
		 : at < from + size ? "inside"
				    : "after",
		 size);
	exec_overrun(g, in, lane, &f);
}

/* Bytes of the object from there on. What alloca gives has the number in front of it. */
static u64 object_size(const struct gang *g, const struct uop *in, u32 w, u32 l, u64 from)
{
	u64 size = in->bounds.to - in->bounds.from;

	if (!size)
		local_read(g, (g->warp + w) * WARP_LANES + l, from - sizeof(u64), &size,
			   sizeof(u64));
	return size;
}

HANDLER(local_bounds)
{
	const struct uop_bounds *b = &in->bounds;
	u64 window = b->generic ? g->env->mem->local_base : 0;

	if (!g->env->on_overrun)
		return in + 1;
	EACH_LANE(w, l) {
		u32 lane = w * WARP_LANES + l;
		u64 at = in->flags & UOPF_WIDE ? ROW64(in->a)[lane] + (u64)b->offset
					       : (u32)(ROW32(in->a)[lane] + (u32)b->offset);
		u64 from = b->from + (in->b == NO_ROW ? 0 : ROW32(in->b)[lane]);

		u64 size = object_size(g, in, w, l, from);

		at -= window;
		if (PL_LIKELY(at >= from && at + b->bytes <= from + size))
			continue;
		/* Others are faults. */
		if (at < g->env->local_bytes && at + b->bytes <= g->env->local_bytes) {
			report_object(g, in, lane, at, from, (u32)size);
			break;
		}
	}
	return in + 1;
}
