/*
 * Moving elements lane by lane, from and to the host addresses that a resolver of access.h has
 * found. One loop for each size: hosts gather no quicker by one instruction than by loads and
 * stores. Included by handler files only.
 */
#ifndef PL_EXEC_LANE_MOVES_H
#define PL_EXEC_LANE_MOVES_H

#include "src/ops/value_rows.h"

/*
 * The lanes of `mask`, in order. The empty statement keeps compilers from making one instruction of
 * them.
 */
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
	EACH_LANE_OF(a->mask,                                                                      \
		     (D)[l] = (TO) * (const volatile FROM *)(uintptr_t)(a->host[l] + offset))
#define GIVE_LANES(TO, S)                                                                          \
	EACH_LANE_OF(a->mask, *(volatile TO *)(uintptr_t)(a->host[l] + offset) = (TO)(S)[l])

/* One element of every lane into its row. */
static inline void load_element(struct gang *g, const struct uop *in, const struct access *a,
				u32 row, u32 offset)
{
	u32 at = a->warp * WARP_LANES, *d = ROW32(row) + at;
	bool sign = in->flags & UOPF_SIGN;

	if (in->mem.size == 8)
		TAKE_LANES(ROW64(row) + at, u64, u64);
	else if (in->flags & UOPF_WIDE_DATA)
		EACH_LANE_OF(a->mask,
			     ROW64(row)[at + l] = extend(get(a->host[l] + offset, in->mem.size),
							 in->mem.size, sign));
	else if (in->mem.size == 4)
		TAKE_LANES(d, u32, u32);
	else if (in->mem.size == 2 && sign)
		TAKE_LANES(d, u32, s16);
	else if (in->mem.size == 2)
		TAKE_LANES(d, u32, u16);
	else if (sign)
		TAKE_LANES(d, u32, s8);
	else
		TAKE_LANES(d, u32, u8);
}

static inline void store_element(struct gang *g, const struct uop *in, const struct access *a,
				 u32 row, u32 offset)
{
	u32 at = a->warp * WARP_LANES;
	const u32 *s = ROW32(row) + at;

	if (in->mem.size == 8)
		GIVE_LANES(u64, ROW64(row) + at);
	else if (in->flags & UOPF_WIDE_DATA)
		EACH_LANE_OF(a->mask, put(a->host[l] + offset, in->mem.size, ROW64(row)[at + l]));
	else if (in->mem.size == 4)
		GIVE_LANES(u32, s);
	else if (in->mem.size == 2)
		GIVE_LANES(u16, s);
	else
		GIVE_LANES(u8, s);
}

/* ---- several elements, or lanes that reach local memory, whose words are apart ---- */

/* The value of lane l, from wherever it is. */
static inline void take_lane(const struct gang *g, const struct access *a, u32 l, u8 *value)
{
	u64 window = g->env->mem->local_base;

	if (PL_UNLIKELY(a->local >> l & 1))
		local_read(g, (g->warp + a->warp) * WARP_LANES + l, a->address[l] - window, value,
			   a->width);
	else
		take_value(value, a->host[l], a->width);
}

static inline void give_lane(const struct gang *g, const struct access *a, u32 l, const u8 *value)
{
	u64 window = g->env->mem->local_base;

	if (PL_UNLIKELY(a->local >> l & 1))
		local_write(g, (g->warp + a->warp) * WARP_LANES + l, a->address[l] - window, value,
			    a->width);
	else
		give_value(a->host[l], value, a->width);
}

static void load_values(struct gang *g, const struct uop *in, const struct access *a)
{
	u32 at = a->warp * WARP_LANES;
	u8 value[VALUE_BYTES_MAX] __attribute__((aligned(16)));
	struct value_copy v;

	if (a->mask != FULL_MASK || a->local) {
		for (u32 m = a->mask; m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m);

			take_lane(g, a, l, value);
			split_lane(g, in, at + l, value);
		}
		return;
	}
	for (u32 half = 0; half < WARP_LANES; half += HALF_LANES) {
		for (u32 l = 0; l < HALF_LANES; l++)
			take_value(v.at + l * a->width, a->host[half + l], a->width);
		split_half(g, in, at + half, &v);
	}
}

/* Elements without a register stay as they are: so they are stored one by one. */
static void store_elements(const struct gang *g, const struct uop *in, const struct access *a)
{
	u32 at = a->warp * WARP_LANES;

	for (u32 e = 0; e < in->mem.count; e++) {
		u32 row = element_row(g, in, e, in->b);

		for (u32 m = row == NO_ROW ? 0 : a->mask; m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m);
			u64 v = in->flags & UOPF_WIDE_DATA ? ROW64(row)[at + l]
							   : ROW32(row)[at + l];

			if (a->local >> l & 1)
				local_write(g, g->warp * WARP_LANES + at + l,
					    a->address[l] - g->env->mem->local_base +
						    e * in->mem.size,
					    &v, in->mem.size);
			else
				put(a->host[l] + e * in->mem.size, in->mem.size, v);
		}
	}
}

static void store_values(struct gang *g, const struct uop *in, const struct access *a)
{
	u32 at = a->warp * WARP_LANES;
	u8 value[VALUE_BYTES_MAX] __attribute__((aligned(16)));
	struct value_copy v;

	if (in->mem.count > 1 && !all_rows(g, in)) {
		store_elements(g, in, a);
		return;
	}
	if (a->mask != FULL_MASK || a->local) {
		for (u32 m = a->mask; m; m &= m - 1) {
			u32 l = (u32)__builtin_ctz(m);

			join_lane(g, in, at + l, value);
			give_lane(g, a, l, value);
		}
		return;
	}
	for (u32 half = 0; half < WARP_LANES; half += HALF_LANES) {
		join_half(g, in, at + half, &v);
		for (u32 l = 0; l < HALF_LANES; l++)
			give_value(a->host[half + l], v.at + l * a->width, a->width);
	}
}

static inline void load_warp(struct gang *g, const struct uop *in, const struct access *a)
{
	if (in->mem.count > 1 || PL_UNLIKELY(a->local))
		load_values(g, in, a);
	else if (in->d != NO_ROW)
		load_element(g, in, a, in->d, 0);
}

static inline void store_warp(struct gang *g, const struct uop *in, const struct access *a)
{
	if (in->mem.count > 1 || PL_UNLIKELY(a->local))
		store_values(g, in, a);
	else if (in->b != NO_ROW)
		store_element(g, in, a, in->b, 0);
}

#endif
