/*
 * Undefined bytes of registers.
 */
#include "src/check/init/taint.h"

#include <stdlib.h>
#include <string.h>

/* Of a P row: where the origins are. */
#define ORIGINS 8u

bool taint_init(struct taint *t, const struct taint_shape *shape)
{
	u32 slots = shape->block_bytes / 4 + 64;

	*t = (struct taint){.shape = shape,
			    .state = calloc(slots / 16 + 1, 1),
			    .mask = malloc(slots * sizeof(u16)),
			    .origin = malloc(slots * sizeof(u32))};
	if (t->state && t->mask && t->origin)
		return true;
	taint_fini(t);
	return false;
}

void taint_begin(struct taint *t, const u8 *states, u32 dirty)
{
	if (t->dirty || dirty)
		memcpy(t->state, states, t->shape->block_bytes / 64);
	t->dirty = dirty;
}

void taint_fini(struct taint *t)
{
	free(t->state);
	free(t->mask);
	free(t->origin);
	*t = (struct taint){0};
}

static u32 taint_slot(const struct taint *t, u32 row, u32 lane)
{
	return row / 4 + (taint_class(t, row) == ROW_X ? 2 * lane : lane);
}

static void set_row_state(struct taint *t, u32 row, enum taint_state state)
{
	u8 *at = &t->state[row / 64];

	t->dirty += (u32)(state != TAINT_CLEAN) - (u32)(*at != TAINT_CLEAN);
	*at = (u8)state;
}

static u32 whole_mask(enum row_class class)
{
	return class == ROW_X ? 0xff : class == ROW_W ? 0xf : 1;
}

/* Give lanes of a row masks of their own. */
static void make_masks(struct taint *t, u32 row)
{
	enum row_class class = taint_class(t, row);
	bool unset = t->state[row / 64] == TAINT_UNSET;

	if (t->state[row / 64] == TAINT_SOME)
		return;
	set_row_state(t, row, TAINT_SOME);
	for (u32 w = 0; class == ROW_P && w < t->shape->gang; w++) {
		t->origin[row / 4 + w] = unset ? FULL_MASK : 0;
		t->origin[row / 4 + ORIGINS + w] = TAINT_NEVER;
	}
	for (u32 l = 0; class != ROW_P && l < t->shape->gang * WARP_LANES; l++) {
		u32 at = taint_slot(t, row, l);

		t->mask[at] = unset ? (u16)whole_mask(class) : 0;
		t->origin[at] = TAINT_NEVER;
	}
}

struct taint_value taint_get(const struct taint *t, u32 row, u32 lane)
{
	enum row_class class = taint_class(t, row);
	u32 at = taint_slot(t, row, lane), w = lane / WARP_LANES;

	if (t->state[row / 64] == TAINT_CLEAN)
		return (struct taint_value){0};
	if (t->state[row / 64] == TAINT_UNSET)
		return (struct taint_value){whole_mask(class), TAINT_NEVER};
	if (class == ROW_P)
		return (struct taint_value){t->origin[row / 4 + w] >> lane % WARP_LANES & 1,
					    t->origin[row / 4 + ORIGINS + w]};
	return (struct taint_value){t->mask[at], t->origin[at]};
}

void taint_put(struct taint *t, u32 row, u32 lane, struct taint_value v)
{
	u32 at = taint_slot(t, row, lane), w = lane / WARP_LANES, bit = 1u << lane % WARP_LANES;

	if (!v.mask && t->state[row / 64] == TAINT_CLEAN)
		return;
	make_masks(t, row);
	if (taint_class(t, row) != ROW_P) {
		t->mask[at] = (u16)v.mask;
		t->origin[at] = v.origin;
	} else if (v.mask) {
		t->origin[row / 4 + w] |= bit;
		t->origin[row / 4 + ORIGINS + w] = v.origin;
	} else {
		t->origin[row / 4 + w] &= ~bit;
	}
}

u32 taint_lanes(const struct taint *t, u32 row, u32 warp)
{
	u32 lanes = 0;

	if (t->state[row / 64] != TAINT_SOME)
		return t->state[row / 64] == TAINT_UNSET ? FULL_MASK : 0;
	if (taint_class(t, row) == ROW_P)
		return t->origin[row / 4 + warp];
	if (taint_class(t, row) == ROW_X) {
		const u16 *x = t->mask + row / 4 + 2 * warp * WARP_LANES;

		for (u32 l = 0; l < WARP_LANES; l++)
			lanes |= (u32)(x[2 * l] != 0) << l;
	} else {
		const u16 *x = t->mask + row / 4 + warp * WARP_LANES;

		for (u32 l = 0; l < WARP_LANES; l++)
			lanes |= (u32)(x[l] != 0) << l;
	}
	return lanes;
}

void taint_clean(struct taint *t, u32 row, u32 warp, u32 lanes)
{
	if (t->state[row / 64] == TAINT_CLEAN)
		return;
	make_masks(t, row);
	if (taint_class(t, row) == ROW_P)
		t->origin[row / 4 + warp] &= ~lanes;
	else
		for (u32 m = lanes; m; m &= m - 1)
			t->mask[taint_slot(t, row, warp * WARP_LANES + (u32)__builtin_ctz(m))] = 0;
}

void taint_clean_row(struct taint *t, u32 row)
{
	set_row_state(t, row, TAINT_CLEAN);
}

void taint_settle(struct taint *t, u32 row)
{
	if (t->state[row / 64] != TAINT_SOME)
		return;
	for (u32 w = 0; w < t->shape->gang; w++)
		if (taint_lanes(t, row, w))
			return;
	set_row_state(t, row, TAINT_CLEAN);
}
