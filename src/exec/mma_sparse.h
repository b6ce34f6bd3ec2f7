/*
 * A sparse A, expanded into planes: plane c has the four numbers k = 4 c .. 4 c + 3 of each row, so
 * that B's rows stand in the order of k. Which two of four numbers a row stores, its metadata says:
 * two bits for each stored number, for tf32 four for each pair. PTX ISA "Warp-level matrix
 * instructions: mma.sp", "Sparse matrix storage"; which lanes hold them is measured.
 */
#ifndef PL_EXEC_MMA_SPARSE_H
#define PL_EXEC_MMA_SPARSE_H

#include "src/exec/mma_plane.h"

/* Word `lane` (0 to 3) of each row, four times. */
static inline mma_vi mma_spread_at(mma_vi v, u32 lane)
{
	u8 which[16];

	for (u32 i = 0; i < 16; i++)
		which[i] = (u8)(4 * lane + i % 4);
	return mma_choose(v, which);
}

static inline mma_vi mma_positions(void)
{
	mma_vi v;

	for (u32 i = 0; i < MMA_W; i++)
		v[i] = (s32)(i % 4);
	return v;
}

/* The lane of a row's four that has the metadata of quad q. */
static u32 mma_meta_lane(u32 bits, u32 quads, u32 q, u32 high, u32 selector)
{
	if (bits == 8)
		return quads == 1 ? 2 * selector + high : 2 * q + high;
	return quads == 1 ? selector : 2 * selector + q;
}

/* Two stored numbers, of `bits` bits, in the places that four bits of metadata name; others are zero. */
static inline mma_vi mma_place_two(mma_vi low, mma_vi high, mma_vi meta)
{
	mma_vi at = mma_positions(), second = at == (meta >> 2 & 3);

	return (high & second) | (low & (at == (meta & 3)) & ~second);
}

static void mma_put_plane(const struct mma_lay *lay, struct mma_left *l, u32 plane, u32 v, mma_vi x)
{
	u32 type = lay->type[0], slots = lay->narrow ? 4 : 2, shift = plane % slots * (32 / slots);
	mma_vi *all = &l->exponent[plane / slots][v], e;

	switch (type) {
	case MMA_F16:
		e = mma_exponent_f16(x);
		break;
	case MMA_BF16:
		e = mma_exponent_bf16(x);
		break;
	case MMA_TF32:
		e = mma_exponent_tf32(x);
		break;
	case MMA_E5M2:
		e = mma_exponent_e5m2(x);
		break;
	default:
		e = mma_exponent_e4m3(x, lay->normal);
		break;
	}
	l->value[plane][v] = mma_value(type, true, x, 0);
	e = (e & (lay->narrow ? 0xff : 0xffff)) << (s32)shift;
	if (plane % slots) /* planes of a group come in order */
		e |= *all;
	*all = e;
}

/*
 * Where the plane of numbers 4 c .. 4 c + 3 stands. mma adds fp8 in two blocks, of which the first
 * has the even ones.
 */
static inline u32 mma_plane_of(const struct mma_lay *lay, u32 c)
{
	return lay->normal ? c % 2 * (lay->quads * 4u) + c / 2 : c;
}

/* The planes of one quad of stored words. */
static void mma_expand_quad(const struct mma_lay *lay, mma_vi words, mma_vi meta, u32 q, u32 v,
			    struct mma_left *l)
{
	u32 bits = mma_bits(lay->type[0]);
	mma_vi at = mma_positions(), x, y;

	switch (bits) {
	case 32:
		for (u32 c = 0; c < 2; c++) { /* words 2 c and 2 c + 1 */
			y = meta >> (s32)(8 * c);
			y = mma_pick(at < 2, y, y >> 4) & 15;
			x = mma_pick(at < 2, mma_spread_at(words, 2 * c),
				     mma_spread_at(words, 2 * c + 1));
			mma_put_plane(lay, l, 2 * q + c, v, x & ~((y == 14) ^ ((at & 1) == 1)));
		}
		break;
	case 16:
		for (u32 t = 0; t < 4; t++) {
			x = mma_spread_at(words, t);
			x = mma_place_two(x & 0xffff, (mma_vi)((mma_vu)x >> 16),
					  meta >> (s32)(4 * t));
			mma_put_plane(lay, l, 4 * q + t, v, x);
		}
		break;
	default:
		for (u32 c = 0; c < 8; c++) { /* halves of words */
			x = mma_spread_at(words, c / 2) >> (s32)(c % 2 * 16);
			x = mma_place_two(x & 0xff, x >> 8 & 0xff, meta >> (s32)(4 * c));
			mma_put_plane(lay, l, mma_plane_of(lay, 8 * q + c), v, x);
		}
		break;
	}
}

PL_UNUSED static void mma_expand_left(const struct mma_lay *lay, const u32 *const *top,
				      const u32 *const *bottom, const u32 *meta, u32 selector,
				      struct mma_left *l)
{
	u32 bits = mma_bits(lay->type[0]);

	for (u32 v = 0; v < MMA_VECTORS; v++) {
		u32 high = v / (MMA_VECTORS / 2), at = v % (MMA_VECTORS / 2) * MMA_W;
		mma_vi lanes = mma_load(meta + at);

		for (u32 q = 0; q < lay->quads; q++) {
			mma_vi m = mma_spread_at(
				lanes, mma_meta_lane(bits, lay->quads, q, high, selector));

			if (bits != 8 && high)
				m >>= 16;
			mma_expand_quad(lay,
					mma_load((high ? bottom : top)[q] + at) ^ (s32)lay->negate,
					m, q, v, l);
		}
	}
}

/* B in the order of k. */
PL_UNUSED static void mma_decode_right_sparse(const struct mma_lay *lay, const u32 *const *frag,
					      struct mma_right *r)
{
	u32 type = lay->type[1], quads = 2u * lay->quads, per = 32 / mma_bits(type),
	    slots = mma_slots(type);
	u32 bytes = 32 / slots, g, s;
	struct mma_right x;

	mma_decode_right(lay, frag, quads, &x);
	for (u32 q = 0; q < quads; q++)
		for (u32 n = 0; n < per; n++) {
			mma_pair_place(type, q % 2, n, &g, &s);
			g += q / 2 * mma_pair_groups(type);
			for (u32 t = 0; t < 4; t++) {
				u32 k = (4 * q + t) * per + n, plane = mma_plane_of(lay, k / 4);

				memcpy(r->value[4 * plane + k % 4],
				       x.value[(g * slots + s) * 4 + t], sizeof(r->value[0]));
				memcpy(r->exponent[plane / slots] +
					       bytes * (slots * (k % 4) + plane % slots),
				       x.exponent[g] + bytes * (slots * t + s), bytes);
			}
		}
}

#endif
