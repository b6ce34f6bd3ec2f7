/*
 * Loads and stores. Per warp: addresses of the lanes are turned into host addresses and checked as a block, then moved
 * along the quickest way they allow: one copy when they are consecutive, one load and a broadcast when they are equal,
 * else lane by lane. Only what fails the block check is looked at lane by lane.
 * PTX ISA "Data Movement and Conversion Instructions: ld", "st"; "Operand Size Exceeding Instruction-Type Size".
 */
#include "src/exec/lanes.h"

/* The lanes of one warp on their way to memory. */
struct access {
	u64 host[WARP_LANES]; /* host address per lane */
	u64 address[WARP_LANES]; /* as the program has it */
	u32 mask;
	u32 width;            /* bytes per lane */
	u32 warp;             /* in the gang, counted from g->warp */
	bool uniform;         /* one address for all */
};

static inline u32 mask_of(const struct gang *g, u32 w)
{
	return g->mode == MODE_GANG ? g->warp_at[w].live : g->active;
}

/* Addresses of the lanes: row + constant, or the constant alone. */
static inline void get_addresses(const struct gang *g, const struct insn *in, struct access *a)
{
	u32 at = a->warp * WARP_LANES;

	a->uniform = in->a == NO_ROW;
	if (a->uniform) {
		FOR_LANES(l, WARP_LANES)
		a->address[l] = (u64)in->imm;
	} else if (in->flags & INSN_WIDE) {
		const u64 *r = ROW64(in->a) + at;

		FOR_LANES(l, WARP_LANES)
		a->address[l] = r[l] + (u64)in->imm;
	} else {
		const u32 *r = ROW32(in->a) + at;

		FOR_LANES(l, WARP_LANES)
		a->address[l] = r[l] + (u64)in->imm;
	}
}

/* Lowest and highest address of the active lanes. */
static inline void span(const struct access *a, u64 *lo, u64 *hi)
{
	u64 low = UINT64_MAX, high = 0;

	if (a->mask == FULL_MASK) {
		FOR_LANES(l, WARP_LANES)
		{
			low = a->address[l] < low ? a->address[l] : low;
			high = a->address[l] > high ? a->address[l] : high;
		}
	} else {
		for (u32 m = a->mask; m; m &= m - 1) {
			u64 x = a->address[__builtin_ctz(m)];

			low = x < low ? x : low;
			high = x > high ? x : high;
		}
	}
	*lo = low;
	*hi = high;
}

static inline u32 misaligned(const struct access *a)
{
	u32 bad = 0;

	for (u32 l = 0; l < WARP_LANES; l++)
		bad |= (a->address[l] & (a->width - 1) ? 1u : 0u) << l;
	return bad & a->mask;
}

static inline bool any_misaligned(const struct access *a)
{
	u64 bits = 0;

	FOR_LANES(l, WARP_LANES)
	bits |= a->mask >> l & 1 ? a->address[l] : 0;
	return bits & (a->width - 1);
}

static const struct insn *refuse(struct gang *g, const struct insn *in, const struct access *a, enum fault_kind kind, u32 lanes)
{
	u32 warp = g->warp;

	g->fault->address = a->address[__builtin_ctz(lanes)];
	g->fault->size = a->width;
	g->fault->space = in->space;
	g->fault->write = in->op == OP_store_global || in->op == OP_store_shared || in->op == OP_store_local ||
			  in->op == OP_store_generic || in->inner == OP_store_global || in->inner == OP_store_shared ||
			  in->inner == OP_store_local || in->inner == OP_store_generic;
	g->warp = warp + a->warp;
	exec_fault(g, in, kind, lanes);
	g->warp = warp;
	return NULL;
}

/* Lanes whose global address no allocation holds. */
static u32 bad_global(struct gang *g, const struct insn *in, const struct access *a)
{
	struct mem_cache *c = &g->caches[in->cache];
	u32 bad = 0;

	for (u32 m = a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		if (!mem_cache_hit(c, a->address[l], a->width) && !mem_cache_fill(g->env->mem, c, a->address[l], a->width))
			bad |= 1u << l;
	}
	return bad;
}

/* Each resolver fills host[] or raises a fault and returns false. */
static inline bool resolve_global(struct gang *g, const struct insn *in, struct access *a)
{
	struct mem_cache *c = &g->caches[in->cache];
	u64 lo, hi;
	u32 bad;

	if (PL_UNLIKELY(any_misaligned(a)))
		return refuse(g, in, a, FAULT_MISALIGNED_ADDRESS, misaligned(a)) != NULL;
	span(a, &lo, &hi);
	if (PL_UNLIKELY(!mem_cache_hit(c, lo, hi - lo + a->width))) {
		bad = bad_global(g, in, a);
		if (bad)
			return refuse(g, in, a, FAULT_ILLEGAL_ADDRESS, bad) != NULL;
	}
	memcpy(a->host, a->address, sizeof(a->host));
	return true;
}

static u32 beyond(const struct access *a, u64 limit)
{
	u32 bad = 0;

	for (u32 l = 0; l < WARP_LANES; l++)
		bad |= (a->address[l] > limit - a->width || limit < a->width ? 1u : 0u) << l;
	return bad & a->mask;
}

static inline bool resolve_shared(struct gang *g, const struct insn *in, struct access *a)
{
	u64 lo, hi, limit = g->env->shared_bytes;

	if (PL_UNLIKELY(any_misaligned(a)))
		return refuse(g, in, a, FAULT_MISALIGNED_ADDRESS, misaligned(a)) != NULL;
	span(a, &lo, &hi);
	if (PL_UNLIKELY(hi + a->width > limit || hi + a->width < hi))
		return refuse(g, in, a, FAULT_ILLEGAL_ADDRESS, beyond(a, limit)) != NULL;
	FOR_LANES(l, WARP_LANES)
	a->host[l] = (u64)(uintptr_t)g->shared + a->address[l];
	return true;
}

static inline bool resolve_local(struct gang *g, const struct insn *in, struct access *a)
{
	u64 lo, hi, limit = g->env->local_bytes;
	u64 base = (u64)(uintptr_t)g->local + (u64)(g->warp + a->warp) * WARP_LANES * limit;

	if (PL_UNLIKELY(any_misaligned(a)))
		return refuse(g, in, a, FAULT_MISALIGNED_ADDRESS, misaligned(a)) != NULL;
	span(a, &lo, &hi);
	if (PL_UNLIKELY(hi + a->width > limit || hi + a->width < hi))
		return refuse(g, in, a, FAULT_ILLEGAL_ADDRESS, beyond(a, limit)) != NULL;
	FOR_LANES(l, WARP_LANES)
	a->host[l] = base + l * limit + a->address[l];
	return true;
}

/* One lane of a generic access: which window, and is it inside. */
static bool resolve_lane(struct gang *g, const struct insn *in, struct access *a, u32 l)
{
	const struct mem *m = g->env->mem;
	u64 addr = a->address[l], off;

	if (addr - m->shared_base < MEM_SHARED_WINDOW) {
		off = addr - m->shared_base;
		a->host[l] = (u64)(uintptr_t)g->shared + off;
		return off + a->width <= g->env->shared_bytes;
	}
	if (addr - m->local_base < MEM_LOCAL_WINDOW) {
		off = addr - m->local_base;
		a->host[l] = (u64)(uintptr_t)g->local + ((u64)(g->warp + a->warp) * WARP_LANES + l) * g->env->local_bytes + off;
		return off + a->width <= g->env->local_bytes;
	}
	a->host[l] = addr;
	return mem_cache_hit(&g->caches[in->cache], addr, a->width) ||
	       mem_cache_fill(g->env->mem, &g->caches[in->cache], addr, a->width);
}

static inline bool resolve_generic(struct gang *g, const struct insn *in, struct access *a)
{
	const struct mem *m = g->env->mem;
	u64 lo, hi;
	u32 bad = 0;

	if (PL_UNLIKELY(any_misaligned(a)))
		return refuse(g, in, a, FAULT_MISALIGNED_ADDRESS, misaligned(a)) != NULL;
	span(a, &lo, &hi);
	if (hi < m->shared_base && mem_cache_hit(&g->caches[in->cache], lo, hi - lo + a->width)) {
		memcpy(a->host, a->address, sizeof(a->host));
		return true;
	}
	for (u32 x = a->mask; x; x &= x - 1)
		if (!resolve_lane(g, in, a, (u32)__builtin_ctz(x)))
			bad |= x & -x;
	return !bad || refuse(g, in, a, FAULT_ILLEGAL_ADDRESS, bad) != NULL;
}

/* Are the lanes' addresses consecutive, `width` apart? */
static inline bool is_contiguous(const struct access *a)
{
	u64 first = a->host[0], diff = 0;

	FOR_LANES(l, WARP_LANES)
	diff |= a->host[l] ^ (first + (u64)l * a->width);
	return !diff;
}

static inline u64 extend(u64 v, u32 bytes, bool sign)
{
	u32 shift = 64 - 8 * bytes;

	return sign ? (u64)((s64)(v << shift) >> shift) : v;
}

static inline u64 get(u64 host, u32 bytes)
{
	u64 v = 0;

	switch (bytes) {
	case 1: return *(const u8 *)(uintptr_t)host;
	case 2: return *(const u16 *)(uintptr_t)host;
	case 4: return *(const u32 *)(uintptr_t)host;
	default: memcpy(&v, (const void *)(uintptr_t)host, 8); return v;
	}
}

static inline void put(u64 host, u32 bytes, u64 v)
{
	switch (bytes) {
	case 1: *(u8 *)(uintptr_t)host = (u8)v; break;
	case 2: *(u16 *)(uintptr_t)host = (u16)v; break;
	case 4: *(u32 *)(uintptr_t)host = (u32)v; break;
	default: memcpy((void *)(uintptr_t)host, &v, 8); break;
	}
}

static inline u32 element_row(const struct gang *g, const struct insn *in, u32 e, u32 first)
{
	return in->count == 1 ? first : g->env->program->ext[in->ext + e];
}

/* One element of every lane into its row, the general way. */
static inline void load_element(struct gang *g, const struct insn *in, const struct access *a, u32 row, u32 offset)
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

			FOR_LANES(l, WARP_LANES)
			d[l] = v;
		} else {
			FOR_LANES(l, WARP_LANES)
			d[l] = *(const u32 *)(uintptr_t)a->host[l];
		}
		return true;
	}
	if (in->size == 8) {
		u64 *d = ROW64(in->d) + at;

		if (is_contiguous(a)) {
			memcpy(d, (const void *)(uintptr_t)a->host[0], 256);
		} else {
			FOR_LANES(l, WARP_LANES)
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

static inline void store_element(struct gang *g, const struct insn *in, const struct access *a, u32 row, u32 offset)
{
	u32 at = a->warp * WARP_LANES;

	for (u32 m = a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		put(a->host[l] + offset, in->size, in->flags & INSN_WIDE_DATA ? ROW64(row)[at + l] : ROW32(row)[at + l]);
	}
}

static inline void store_warp(struct gang *g, const struct insn *in, const struct access *a)
{
	u32 at = a->warp * WARP_LANES;

	if (a->mask == FULL_MASK && in->count == 1 && in->size == 4 && !(in->flags & INSN_WIDE_DATA) && is_contiguous(a)) {
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

#define MEMORY(space)                                                                                        \
	HANDLER(load_##space)                                                                                \
	{                                                                                                    \
		struct access a = {.width = (u32)in->size * in->count};                                      \
		for (a.warp = 0; a.warp < WARPS; a.warp++) {                                                 \
			a.mask = mask_of(g, a.warp);                                                         \
			if (!a.mask)                                                                         \
				continue;                                                                    \
			get_addresses(g, in, &a);                                                            \
			if (!resolve_##space(g, in, &a))                                                     \
				return NULL;                                                                 \
			load_warp(g, in, &a);                                                                \
		}                                                                                            \
		return in + 1;                                                                               \
	}                                                                                                    \
	HANDLER(store_##space)                                                                               \
	{                                                                                                    \
		struct access a = {.width = (u32)in->size * in->count};                                      \
		for (a.warp = 0; a.warp < WARPS; a.warp++) {                                                 \
			a.mask = mask_of(g, a.warp);                                                         \
			if (!a.mask)                                                                         \
				continue;                                                                    \
			get_addresses(g, in, &a);                                                            \
			if (!resolve_##space(g, in, &a))                                                     \
				return NULL;                                                                 \
			store_warp(g, in, &a);                                                               \
		}                                                                                            \
		return in + 1;                                                                               \
	}

MEMORY(global)
MEMORY(shared)
MEMORY(local)
MEMORY(generic)

/* Kernel parameters are the same for all: imm = offset. Lowering has checked it against the parameter block. */
HANDLER(load_param)
{
	const u8 *at = g->env->params + in->imm;

	for (u32 e = 0; e < in->count; e++) {
		u32 row = element_row(g, in, e, in->d);
		u64 v = extend(get((u64)(uintptr_t)at + e * in->size, in->size), in->size, in->flags & INSN_SIGN);

		if (row == NO_ROW)
			continue;
		for (u32 w = 0; w < WARPS; w++) {
			u32 mask = g->mode == MODE_GANG ? FULL_MASK : g->active;

			if (in->flags & INSN_WIDE_DATA) {
				u64 *d = ROW64(row) + w * WARP_LANES;

				FOR_LANES(l, WARP_LANES)
				d[l] = mask >> l & 1 ? v : d[l];
			} else {
				u32 *d = ROW32(row) + w * WARP_LANES;

				FOR_LANES(l, WARP_LANES)
				d[l] = mask >> l & 1 ? (u32)v : d[l];
			}
		}
	}
	return in + 1;
}

/* Address of a variable in the lane's frame: frame + imm. */
HANDLER(frame_address)
{
	const u32 *frame = ROW32(g->env->program->frame_row);

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

		FOR_LANES(l, WARP_LANES)
		d[w * WARP_LANES + l] = mask >> l & 1 ? a[w * WARP_LANES + l] + base : d[w * WARP_LANES + l];
	}
	return in + 1;
}
