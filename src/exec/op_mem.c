/*
 * Loads and stores. Per warp: addresses of the lanes are turned into host addresses and checked as a block, then moved
 * along the quickest way they allow: one copy when they are consecutive, one load and a broadcast when they are equal,
 * else lane by lane. Only what fails the block check is looked at lane by lane.
 * PTX ISA "Data Movement and Conversion Instructions: ld", "st"; "Operand Size Exceeding Instruction-Type Size".
 */
#include "src/exec/access.h"

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

#define MEMORY(space) \
	HANDLER(load_##space) \
	{ \
		struct access a = {.width = (u32)in->size * in->count}; \
		for (a.warp = 0; a.warp < WARPS; a.warp++) { \
			a.mask = mask_of(g, a.warp); \
			if (!a.mask) \
				continue; \
			get_addresses(g, in, &a); \
			if (!resolve_##space(g, in, &a)) \
				return NULL; \
			load_warp(g, in, &a); \
		} \
		return in + 1; \
	} \
	HANDLER(store_##space) \
	{ \
		struct access a = {.width = (u32)in->size * in->count}; \
		for (a.warp = 0; a.warp < WARPS; a.warp++) { \
			a.mask = mask_of(g, a.warp); \
			if (!a.mask) \
				continue; \
			get_addresses(g, in, &a); \
			if (!resolve_##space(g, in, &a)) \
				return NULL; \
			store_warp(g, in, &a); \
		} \
		return in + 1; \
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

		FOR_LANES(l, WARP_LANES)
		d[w * WARP_LANES + l] = mask >> l & 1 ? a[w * WARP_LANES + l] + base : d[w * WARP_LANES + l];
	}
	return in + 1;
}
