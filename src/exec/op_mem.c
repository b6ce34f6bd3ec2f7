/*
 * Loads and stores. Per warp: addresses of the lanes are turned into host addresses and checked as a block, then moved
 * along the quickest way they allow: one copy when they are consecutive, one load and a broadcast when they are equal,
 * else lane by lane. Only what fails the block check is looked at lane by lane.
 * PTX ISA "Data Movement and Conversion Instructions: ld", "st"; "Operand Size Exceeding Instruction-Type Size".
 */
#include "src/exec/access.h"
#include "src/exec/address_kind.h"

/* Are the lanes' addresses consecutive, `width` apart? */
static inline bool is_contiguous(const struct access *a)
{
	u64 first = a->host[0], diff = 0;

	FOR_LANES (l, WARP_LANES)
		diff |= a->host[l] ^ (first + (u64)l * a->width);
	return !diff;
}

static inline u64 extend(u64 v, u32 bytes, bool sign)
{
	u32 shift = 64 - 8 * bytes;

	return sign ? (u64)((s64)(v << shift) >> shift) : v;
}

static inline u32 element_row(const struct gang *g, const struct insn *in, u32 e, u32 first)
{
	return in->count == 1 ? first : g->env->program->ext[in->ext + e];
}

/* One element of every lane into its row, the general way. */
static inline void load_element(struct gang *g, const struct insn *in, const struct access *a,
				u32 row, u32 offset)
{
	u32 at = a->warp * WARP_LANES, size = in->size;
	bool sign = in->flags & INSN_SIGN;

	for (u32 m = a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);
		u64 v = extend(get(a->host[l] + offset, size), size, sign);

		if (in->flags & INSN_WIDE_DATA)
			ROW64(row)[at + l] = v;
		else
			ROW32(row)[at + l] = (u32)v;
	}
}

static inline bool load_fast(struct gang *g, const struct insn *in, const struct access *a)
{
	u32 at = a->warp * WARP_LANES;

	if (a->mask != FULL_MASK || in->count != 1)
		return false;
	if (in->size == 4 && !(in->flags & INSN_WIDE_DATA)) {
		u32 *d = ROW32(in->d) + at;

		if (is_contiguous(a)) {
			memcpy(d, (const void *)(uintptr_t)a->host[0], 128);
		} else if (a->uniform) {
			u32 v = (u32)get(a->host[0], 4);

			FOR_LANES (l, WARP_LANES)
				d[l] = v;
		} else {
			FOR_LANES (l, WARP_LANES)
				d[l] = *(const u32 *)(uintptr_t)a->host[l];
		}
		return true;
	}
	if (in->size == 8) {
		u64 *d = ROW64(in->d) + at;

		if (is_contiguous(a)) {
			memcpy(d, (const void *)(uintptr_t)a->host[0], 256);
		} else {
			FOR_LANES (l, WARP_LANES)
				d[l] = *(const u64 *)(uintptr_t)a->host[l];
		}
		return true;
	}
	return false;
}

static inline void load_warp(struct gang *g, const struct insn *in, const struct access *a)
{
	if (load_fast(g, in, a))
		return;
	for (u32 e = 0; e < in->count; e++) {
		u32 row = element_row(g, in, e, in->d);

		if (row != NO_ROW)
			load_element(g, in, a, row, e * in->size);
	}
}

static inline void store_element(struct gang *g, const struct insn *in, const struct access *a,
				 u32 row, u32 offset)
{
	u32 at = a->warp * WARP_LANES;

	for (u32 m = a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		put(a->host[l] + offset, in->size,
		    in->flags & INSN_WIDE_DATA ? ROW64(row)[at + l] : ROW32(row)[at + l]);
	}
}

static inline void store_warp(struct gang *g, const struct insn *in, const struct access *a)
{
	u32 at = a->warp * WARP_LANES;

	if (a->mask == FULL_MASK && in->count == 1 && in->size == 4 &&
	    !(in->flags & INSN_WIDE_DATA) && is_contiguous(a)) {
		memcpy((void *)(uintptr_t)a->host[0], ROW32(in->b) + at, 128);
		return;
	}
	if (a->mask == FULL_MASK && in->count == 1 && in->size == 8 && is_contiguous(a)) {
		memcpy((void *)(uintptr_t)a->host[0], ROW64(in->b) + at, 256);
		return;
	}
	for (u32 e = 0; e < in->count; e++) {
		u32 row = element_row(g, in, e, in->b);

		if (row != NO_ROW)
			store_element(g, in, a, row, e * in->size);
	}
}

/* ---- whole warps with simple addresses ---- */

/* Half a warp on its way: the address of the first lane, as the program has it and for the host. */
struct half {
	enum address_kind kind;
	u64 host;
};

static inline u64 check_global(const struct gang *g, const struct insn *in, u64 address, u32 bytes)
{
	const struct mem_cache *c = &g->caches[in->cache];

	return mem_cache_hit(c, address, bytes) ? address + c->bias : 0;
}

/* No range that a cache holds reaches into a window, so a hit is global. */
static inline u64 check_generic(const struct gang *g, const struct insn *in, u64 address, u32 bytes)
{
	return check_global(g, in, address, bytes);
}

static inline u64 check_shared(const struct gang *g, const struct insn *in PL_UNUSED, u64 address,
			       u32 bytes)
{
	return address + bytes <= g->env->shared_bytes && address + bytes >= bytes
		       ? (u64)(uintptr_t)g->shared + address
		       : 0;
}

/*
 * Look at half a warp, lanes from `at` on. False: not simple, or not known to be allowed; the general way finds out.
 * A row of 32-bit addresses that wraps around is not simple.
 */
#define LOOK(space)                                                                                \
	static inline bool look_##space(const struct gang *g, const struct insn *in, u32 at,       \
					u32 size, struct half *x)                                  \
	{                                                                                          \
		u64 first;                                                                         \
		if (in->flags & INSN_WIDE) {                                                       \
			const u64 *r = ROW64(in->a) + at;                                          \
			x->kind = kind_of_64(r, size);                                             \
			first = r[0];                                                              \
		} else {                                                                           \
			const u32 *r = ROW32(in->a) + at;                                          \
			x->kind = kind_of_32(r, size);                                             \
			first = r[0];                                                              \
			if (PL_UNLIKELY(first > UINT32_MAX - HALF_LANES * size))                   \
				return false;                                                      \
		}                                                                                  \
		first += (u64)in->imm;                                                             \
		x->host = check_##space(g, in, first,                                              \
					x->kind == ADDRESS_ROW ? HALF_LANES * size : size);        \
		return x->kind != ADDRESS_APART && !(first & (size - 1)) && x->host;               \
	}
LOOK(global)
LOOK(shared)
LOOK(generic)

static inline void load_half(const struct half *x, void *d, u32 size)
{
	const void *from = (const void *)(uintptr_t)x->host;

	if (x->kind == ADDRESS_ROW) {
		memcpy(d, from, HALF_LANES * size);
	} else if (size == 4) {
		u32 v = *(const u32 *)from, *to = d;

		FOR_LANES (l, HALF_LANES)
			to[l] = v;
	} else {
		u64 v = *(const u64 *)from, *to = d;

		FOR_LANES (l, HALF_LANES)
			to[l] = v;
	}
}

#define FAST(space)                                                                                \
	static inline bool load_simple_##space(struct gang *g, const struct insn *in, u32 w,       \
					       u32 size)                                           \
	{                                                                                          \
		u32 at = w * WARP_LANES;                                                           \
		u8 *d = size == 8 ? (u8 *)(ROW64(in->d) + at) : (u8 *)(ROW32(in->d) + at);         \
		struct half lo, hi;                                                                \
		if (!look_##space(g, in, at, size, &lo) ||                                         \
		    !look_##space(g, in, at + HALF_LANES, size, &hi))                              \
			return false;                                                              \
		load_half(&lo, d, size);                                                           \
		load_half(&hi, d + HALF_LANES * size, size);                                       \
		return true;                                                                       \
	}                                                                                          \
	static inline bool store_simple_##space(struct gang *g, const struct insn *in, u32 w,      \
						u32 size)                                          \
	{                                                                                          \
		u32 at = w * WARP_LANES;                                                           \
		const u8 *b = size == 8 ? (const u8 *)(ROW64(in->b) + at)                          \
					: (const u8 *)(ROW32(in->b) + at);                         \
		struct half lo, hi;                                                                \
		if (!look_##space(g, in, at, size, &lo) ||                                         \
		    !look_##space(g, in, at + HALF_LANES, size, &hi) || lo.kind != ADDRESS_ROW ||  \
		    hi.kind != ADDRESS_ROW)                                                        \
			return false;                                                              \
		memcpy((void *)(uintptr_t)lo.host, b, HALF_LANES *size);                           \
		memcpy((void *)(uintptr_t)hi.host, b + HALF_LANES * size, HALF_LANES * size);      \
		return true;                                                                       \
	}
FAST(global)
FAST(shared)
FAST(generic)

/* ---- parts of warps whose lanes lie in a row ---- */

/* Address of the lowest lane of `mask`; false: the others are not where a row would have them. */
static inline bool row_of_part(const struct gang *g, const struct insn *in, u32 at, u32 mask,
			       u32 size, u64 *address)
{
	u32 first = (u32)__builtin_ctz(mask);
	u64 off = 0, base;

	if (in->flags & INSN_WIDE) {
		const u64 *r = ROW64(in->a) + at;

		base = r[first] - (u64)first * size;
		for (u32 l = 0; l < WARP_LANES; l++)
			off |= mask >> l & 1 ? (r[l] - (u64)l * size) ^ base : 0;
	} else {
		const u32 *r = ROW32(in->a) + at;

		base = r[first] - (u64)first * size;
		for (u32 l = 0; l < WARP_LANES; l++)
			off |= mask >> l & 1 ? (r[l] - (u64)l * size) ^ base : 0;
	}
	*address = base + (u64)first * size + (u64)in->imm;
	return !off && !(*address & (size - 1));
}

#define PART(space)                                                                                \
	static __attribute__((noinline)) bool load_part_##space(struct gang *g,                    \
								const struct insn *in, u32 w,      \
								u32 mask, u32 size)                \
	{                                                                                          \
		u32 first = (u32)__builtin_ctz(mask), at = w * WARP_LANES;                         \
		u32 n = WARP_LANES - (u32)__builtin_clz(mask) - first;                             \
		u64 address, host, value[WARP_LANES];                                              \
		if (!row_of_part(g, in, at, mask, size, &address))                                 \
			return false;                                                              \
		host = check_##space(g, in, address, n * size);                                    \
		if (!host)                                                                         \
			return false;                                                              \
		memcpy((u8 *)value + first * size, (const void *)(uintptr_t)host, n * size);       \
		blend_part(g, in, at, mask, value);                                                \
		return true;                                                                       \
	}                                                                                          \
	static __attribute__((noinline)) bool store_part_##space(struct gang *g,                   \
								 const struct insn *in, u32 w,     \
								 u32 mask, u32 size)               \
	{                                                                                          \
		u32 first = (u32)__builtin_ctz(mask), at = w * WARP_LANES + first;                 \
		u32 n = WARP_LANES - (u32)__builtin_clz(mask) - first;                             \
		u64 address, host;                                                                 \
		if (mask >> first != FULL_MASK >> (WARP_LANES - n) ||                              \
		    !row_of_part(g, in, w * WARP_LANES, mask, size, &address))                     \
			return false;                                                              \
		host = check_##space(g, in, address, n * size);                                    \
		if (!host)                                                                         \
			return false;                                                              \
		memcpy((void *)(uintptr_t)host,                                                    \
		       size == 8 ? (const void *)(ROW64(in->b) + at)                               \
				 : (const void *)(ROW32(in->b) + at),                              \
		       n * size);                                                                  \
		return true;                                                                       \
	}

/* Loaded values into the lanes that take part; `value` has elements of the record's size. */
static inline void blend_part(struct gang *g, const struct insn *in, u32 at, u32 mask,
			      const void *value)
{
	if (in->size == 8) {
		const u64 *v = value;
		u64 *d = ROW64(in->d) + at;

		for (u32 l = 0; l < WARP_LANES; l++)
			d[l] = mask >> l & 1 ? v[l] : d[l];
	} else {
		const u32 *v = value;
		u32 *d = ROW32(in->d) + at;

		for (u32 l = 0; l < WARP_LANES; l++)
			d[l] = mask >> l & 1 ? v[l] : d[l];
	}
}

PART(global)
PART(shared)
PART(generic)

/* Bytes of an element when one-element accesses of this record may be simple, else 0. */
static inline u32 simple_size(const struct insn *in)
{
	bool wide = in->flags & INSN_WIDE_DATA;

	return in->count != 1 || in->a == NO_ROW ? 0
	       : in->size == 4 && !wide          ? 4
	       : in->size == 8                   ? 8
						 : 0;
}

/* The general way, from the addresses of every lane. */
#define GENERAL(space)                                                                             \
	static __attribute__((noinline)) bool load_general_##space(                                \
		struct gang *g, const struct insn *in, u32 w, u32 mask)                            \
	{                                                                                          \
		struct access a = {.width = (u32)in->size * in->count, .warp = w, .mask = mask};   \
		get_addresses(g, in, &a);                                                          \
		if (!resolve_##space(g, in, &a))                                                   \
			return false;                                                              \
		load_warp(g, in, &a);                                                              \
		return true;                                                                       \
	}                                                                                          \
	static __attribute__((noinline)) bool store_general_##space(                               \
		struct gang *g, const struct insn *in, u32 w, u32 mask)                            \
	{                                                                                          \
		struct access a = {.width = (u32)in->size * in->count, .warp = w, .mask = mask};   \
		get_addresses(g, in, &a);                                                          \
		if (!resolve_##space(g, in, &a))                                                   \
			return false;                                                              \
		store_warp(g, in, &a);                                                             \
		return true;                                                                       \
	}
GENERAL(global)
GENERAL(shared)
GENERAL(generic)
GENERAL(local)

/* Every warp the simple way if it goes, else the general one. SIZE is a constant to the compiler. */
#define EACH_WARP(what, space, SIZE)                                                               \
	for (u32 w = 0, n = WARPS; w < n; w++) {                                                   \
		u32 mask = mask_of(g, w);                                                          \
		if (PL_LIKELY((SIZE) && mask == FULL_MASK && what##_simple_##space(g, in, w, SIZE))) \
			continue;                                                                  \
		if ((SIZE) && mask && mask != FULL_MASK &&                                         \
		    what##_part_##space(g, in, w, mask, SIZE))                                     \
			continue;                                                                  \
		if (mask && !what##_general_##space(g, in, w, mask))                               \
			return NULL;                                                               \
	}
#define MEMORY(what, space)                                                                        \
	HANDLER(what##_##space)                                                                    \
	{                                                                                          \
		u32 size = simple_size(in);                                                        \
		if (size == 4)                                                                     \
			EACH_WARP(what, space, 4)                                                  \
		else if (size == 8)                                                                \
			EACH_WARP(what, space, 8)                                                  \
		else                                                                               \
			EACH_WARP(what, space, 0)                                                  \
		return in + 1;                                                                     \
	}

/* Lanes have local memory of their own: never side by side. */
#define MEMORY_LOCAL(what)                                                                         \
	HANDLER(what##_local)                                                                      \
	{                                                                                          \
		for (u32 w = 0, n = WARPS; w < n; w++) {                                           \
			u32 mask = mask_of(g, w);                                                  \
			if (mask && !what##_general_local(g, in, w, mask))                         \
				return NULL;                                                       \
		}                                                                                  \
		return in + 1;                                                                     \
	}

MEMORY_LOCAL(load)
MEMORY_LOCAL(store)
MEMORY(load, global)
MEMORY(load, shared)
MEMORY(load, generic)
MEMORY(store, global)
MEMORY(store, shared)
MEMORY(store, generic)

/* Kernel parameters are the same for all: imm = offset. Lowering has checked it against the parameter block. */
HANDLER(load_param)
{
	const u8 *at = g->env->params + in->imm;

	for (u32 e = 0; e < in->count; e++) {
		u32 row = element_row(g, in, e, in->d);
		u64 v = extend(get((u64)(uintptr_t)at + e * in->size, in->size), in->size,
			       in->flags & INSN_SIGN);

		if (row != NO_ROW)
			fill_row(g, row, in->flags & INSN_WIDE_DATA, v);
	}
	return in + 1;
}

/* Address of a variable in the lane's frame: base + imm. */
HANDLER(frame_address)
{
	const u32 *frame = ROW32(in->a);

	for (u32 w = 0; w < WARPS; w++)
		for (u32 m = g->mode == MODE_GANG ? FULL_MASK : g->active; m; m &= m - 1) {
			u32 l = w * WARP_LANES + (u32)__builtin_ctz(m);
			u64 v = frame[l] + (u64)in->imm;

			if (in->flags & INSN_WIDE_DATA)
				ROW64(in->d)[l] = v;
			else
				ROW32(in->d)[l] = (u32)v;
		}
	return in + 1;
}

/* cvta of windowed spaces. imm bit 0: local instead of shared; bit 1: from generic back. */
HANDLER(window)
{
	const struct mem *m = g->env->mem;
	u64 base = in->imm & 1 ? m->local_base : m->shared_base;
	const u64 *a = ROW64(in->a);
	u64 *d = ROW64(in->d);

	if (in->imm & 2)
		base = 0 - base;
	for (u32 w = 0; w < WARPS; w++) {
		u32 mask = g->mode == MODE_GANG ? FULL_MASK : g->active;

		FOR_LANES (l, WARP_LANES)
			d[w * WARP_LANES + l] = mask >> l & 1 ? a[w * WARP_LANES + l] + base
							      : d[w * WARP_LANES + l];
	}
	return in + 1;
}
