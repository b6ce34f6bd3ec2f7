/*
 * Moving elements lane by lane, from and to the host addresses that a resolver of access.h has
 * found. One loop for each size. Loads of hosts that gather have a way of their own, see
 * gather_rows.h. Included by handler files only.
 */
#ifndef PL_OPS_LANE_MOVES_H
#define PL_OPS_LANE_MOVES_H

#include "src/ops/value_rows.h"

/*
 * The element of lane l between its row of registers, that of a warp, and the host's memory.
 * with: what else the move has to know.
 */
typedef void lane_move(void *row, u32 l, u64 host, u64 with);

static ALWAYS_INLINE void move_u8(void *row, u32 l, u64 host, u64 with PL_UNUSED)
{
	((u32 *)row)[l] = *(const volatile u8 *)(uintptr_t)host;
}

static ALWAYS_INLINE void move_s8(void *row, u32 l, u64 host, u64 with PL_UNUSED)
{
	((u32 *)row)[l] = (u32) * (const volatile s8 *)(uintptr_t)host;
}

static ALWAYS_INLINE void move_u16(void *row, u32 l, u64 host, u64 with PL_UNUSED)
{
	((u32 *)row)[l] = *(const volatile u16 *)(uintptr_t)host;
}

static ALWAYS_INLINE void move_s16(void *row, u32 l, u64 host, u64 with PL_UNUSED)
{
	((u32 *)row)[l] = (u32) * (const volatile s16 *)(uintptr_t)host;
}

static ALWAYS_INLINE void move_u32(void *row, u32 l, u64 host, u64 with PL_UNUSED)
{
	((u32 *)row)[l] = *(const volatile u32 *)(uintptr_t)host;
}

static ALWAYS_INLINE void move_u64(void *row, u32 l, u64 host, u64 with PL_UNUSED)
{
	((u64 *)row)[l] = *(const volatile u64 *)(uintptr_t)host;
}

/* Narrow elements of 64-bit rows; with: their size. */
static ALWAYS_INLINE void move_wide(void *row, u32 l, u64 host, u64 with)
{
	((u64 *)row)[l] = get(host, (u32)with);
}

static ALWAYS_INLINE void move_wide_signed(void *row, u32 l, u64 host, u64 with)
{
	((u64 *)row)[l] = extend(get(host, (u32)with), (u32)with, true);
}

static ALWAYS_INLINE void move_to_u8(void *row, u32 l, u64 host, u64 with PL_UNUSED)
{
	*(volatile u8 *)(uintptr_t)host = (u8)((const u32 *)row)[l];
}

static ALWAYS_INLINE void move_to_u16(void *row, u32 l, u64 host, u64 with PL_UNUSED)
{
	*(volatile u16 *)(uintptr_t)host = (u16)((const u32 *)row)[l];
}

static ALWAYS_INLINE void move_to_u32(void *row, u32 l, u64 host, u64 with PL_UNUSED)
{
	*(volatile u32 *)(uintptr_t)host = ((const u32 *)row)[l];
}

static ALWAYS_INLINE void move_to_u64(void *row, u32 l, u64 host, u64 with PL_UNUSED)
{
	*(volatile u64 *)(uintptr_t)host = ((const u64 *)row)[l];
}

static ALWAYS_INLINE void move_to_wide(void *row, u32 l, u64 host, u64 with)
{
	put(host, (u32)with, ((const u64 *)row)[l]);
}

/*
 * The lanes of a->mask, in order; move: a constant. The empty statement keeps compilers from making
 * one instruction of them.
 */
static ALWAYS_INLINE void move_lanes(const struct access *a, void *row, u64 with, lane_move *move)
{
	if (a->mask == FULL_MASK) {
		for (u32 l = 0; l < WARP_LANES; l++) {
			move(row, l, a->host[l], with);
			__asm__ volatile("" ::: "memory");
		}
		return;
	}
	for (u32 m = a->mask; m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);

		move(row, l, a->host[l], with);
	}
}

/* One element of every lane into its row. */
static inline void load_element(struct gang *g, const struct uop *in, const struct access *a,
				u32 row)
{
	u32 at = a->warp * WARP_LANES, *d = ROW32(row) + at, size = in->mem.size;
	u64 *wide = ROW64(row) + at;
	bool sign = in->flags & UOPF_SIGN;

	if (size == 8)
		move_lanes(a, wide, 0, move_u64);
	else if (in->flags & UOPF_WIDE_DATA && sign)
		move_lanes(a, wide, size, move_wide_signed);
	else if (in->flags & UOPF_WIDE_DATA)
		move_lanes(a, wide, size, move_wide);
	else if (size == 4)
		move_lanes(a, d, 0, move_u32);
	else if (size == 2 && sign)
		move_lanes(a, d, 0, move_s16);
	else if (size == 2)
		move_lanes(a, d, 0, move_u16);
	else if (sign)
		move_lanes(a, d, 0, move_s8);
	else
		move_lanes(a, d, 0, move_u8);
}

static inline void store_element(struct gang *g, const struct uop *in, const struct access *a,
				 u32 row)
{
	u32 at = a->warp * WARP_LANES, *s = ROW32(row) + at, size = in->mem.size;
	u64 *wide = ROW64(row) + at;

	if (size == 8)
		move_lanes(a, wide, 0, move_to_u64);
	else if (in->flags & UOPF_WIDE_DATA)
		move_lanes(a, wide, size, move_to_wide);
	else if (size == 4)
		move_lanes(a, s, 0, move_to_u32);
	else if (size == 2)
		move_lanes(a, s, 0, move_to_u16);
	else
		move_lanes(a, s, 0, move_to_u8);
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
		load_element(g, in, a, in->d);
}

static inline void store_warp(struct gang *g, const struct uop *in, const struct access *a)
{
	if (in->mem.count > 1 || PL_UNLIKELY(a->local))
		store_values(g, in, a);
	else if (in->b != NO_ROW)
		store_element(g, in, a, in->b);
}

#endif
