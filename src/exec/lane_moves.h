/*
 * Moving elements lane by lane, from and to the host addresses that a resolver of access.h has found.
 * One loop for each size: hosts gather no quicker by one instruction than by loads and stores. Included by
 * handler files only.
 */
#ifndef PL_EXEC_LANE_MOVES_H
#define PL_EXEC_LANE_MOVES_H

#include "src/exec/access.h"

static inline u64 extend(u64 v, u32 bytes, bool sign)
{
	u32 shift = 64 - 8 * bytes;

	return sign ? (u64)((s64)(v << shift) >> shift) : v;
}

static inline u32 element_row(const struct gang *g, const struct insn *in, u32 e, u32 first)
{
	return in->count == 1 ? first : g->env->program->ext[in->ext + e];
}

/* The lanes of `mask`, in order. The empty statement keeps compilers from making one instruction of them. */
#define EACH_LANE_OF(mask, ...)                                                                    \
	do {                                                                                       \
		if ((mask) == FULL_MASK) {                                                         \
			for (u32 l = 0; l < WARP_LANES; l++) {                                     \
				__VA_ARGS__;                                                       \
				__asm__ volatile("" ::: "memory");                                 \
			}                                                                          \
		} else {                                                                           \
			for (u32 m_ = (mask); m_; m_ &= m_ - 1) {                                  \
				u32 l = (u32)__builtin_ctz(m_);                                    \
				__VA_ARGS__;                                                       \
			}                                                                          \
		}                                                                                  \
	} while (0)
#define TAKE_LANES(D, TO, FROM)                                                                    \
	EACH_LANE_OF(a->mask, (D)[l] = (TO) *(const FROM *)(uintptr_t)(a->host[l] + offset))
#define GIVE_LANES(TO, S) EACH_LANE_OF(a->mask, *(TO *)(uintptr_t)(a->host[l] + offset) = (TO)(S)[l])

/* One element of every lane into its row. */
static inline void load_element(struct gang *g, const struct insn *in, const struct access *a,
				u32 row, u32 offset)
{
	u32 at = a->warp * WARP_LANES, *d = ROW32(row) + at;
	bool sign = in->flags & INSN_SIGN;

	if (in->size == 8)
		TAKE_LANES(ROW64(row) + at, u64, u64);
	else if (in->flags & INSN_WIDE_DATA)
		EACH_LANE_OF(a->mask, ROW64(row)[at + l] = extend(get(a->host[l] + offset, in->size),
								  in->size, sign));
	else if (in->size == 4)
		TAKE_LANES(d, u32, u32);
	else if (in->size == 2 && sign)
		TAKE_LANES(d, u32, s16);
	else if (in->size == 2)
		TAKE_LANES(d, u32, u16);
	else if (sign)
		TAKE_LANES(d, u32, s8);
	else
		TAKE_LANES(d, u32, u8);
}

static inline void store_element(struct gang *g, const struct insn *in, const struct access *a,
				 u32 row, u32 offset)
{
	u32 at = a->warp * WARP_LANES;
	const u32 *s = ROW32(row) + at;

	if (in->size == 8)
		GIVE_LANES(u64, ROW64(row) + at);
	else if (in->flags & INSN_WIDE_DATA)
		EACH_LANE_OF(a->mask, put(a->host[l] + offset, in->size, ROW64(row)[at + l]));
	else if (in->size == 4)
		GIVE_LANES(u32, s);
	else if (in->size == 2)
		GIVE_LANES(u16, s);
	else
		GIVE_LANES(u8, s);
}

/* Generic, and some lanes reach local memory: its words are apart. */
static PL_UNUSED __attribute__((noinline)) void load_mixed(struct gang *g, const struct insn *in,
							   const struct access *a, u32 row, u32 offset)
{
	u64 *wide = ROW64(row) + a->warp * WARP_LANES, window = g->env->mem->local_base;
	u32 *d = ROW32(row) + a->warp * WARP_LANES, first = (g->warp + a->warp) * WARP_LANES;

	for (u32 m = a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);
		u64 v = 0;

		if (a->local >> l & 1)
			local_read(g, first + l, a->address[l] - window + offset, &v, in->size);
		else
			v = get(a->host[l] + offset, in->size);
		v = extend(v, in->size, in->flags & INSN_SIGN);
		if (in->flags & INSN_WIDE_DATA)
			wide[l] = v;
		else
			d[l] = (u32)v;
	}
}

static PL_UNUSED __attribute__((noinline)) void store_mixed(struct gang *g, const struct insn *in,
							    const struct access *a, u32 row, u32 offset)
{
	const u64 *wide = ROW64(row) + a->warp * WARP_LANES;
	const u32 *s = ROW32(row) + a->warp * WARP_LANES;
	u32 first = (g->warp + a->warp) * WARP_LANES;

	for (u32 m = a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);
		u64 v = in->flags & INSN_WIDE_DATA ? wide[l] : s[l];

		if (a->local >> l & 1)
			local_write(g, first + l, a->address[l] - g->env->mem->local_base + offset,
				    &v, in->size);
		else
			put(a->host[l] + offset, in->size, v);
	}
}

static inline void load_warp(struct gang *g, const struct insn *in, const struct access *a)
{
	for (u32 e = 0; e < in->count; e++) {
		u32 row = element_row(g, in, e, in->d);

		if (row == NO_ROW)
			continue;
		if (PL_UNLIKELY(a->local))
			load_mixed(g, in, a, row, e * in->size);
		else
			load_element(g, in, a, row, e * in->size);
	}
}

static inline void store_warp(struct gang *g, const struct insn *in, const struct access *a)
{
	for (u32 e = 0; e < in->count; e++) {
		u32 row = element_row(g, in, e, in->b);

		if (row == NO_ROW)
			continue;
		if (PL_UNLIKELY(a->local))
			store_mixed(g, in, a, row, e * in->size);
		else
			store_element(g, in, a, row, e * in->size);
	}
}

#endif
