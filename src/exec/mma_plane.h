/*
 * Factors of a tile, decoded: their values as f32, in *planes*, and their exponents, in *groups*.
 *
 * A plane has one number of each word of a quad, so four of every row, lane 4 g + t that of word t.
 * Planes make groups: four where exponents fit bytes (f16 and fp8), two where they need halves (bf16
 * and tf32); `slot` is the plane's number in its group. The exponents of a group fill 16 bytes of a
 * row: that of word t and slot s is number slots * t + s. B is the same, transposed: for each of
 * those numbers eight columns, the even ones first. The order of the products of a block does not
 * matter, so planes stand in the order that is cheapest.
 *
 * Exponents are those of the PTX type's number format: subnormals have the least one, zero has none.
 */
#ifndef PL_EXEC_MMA_PLANE_H
#define PL_EXEC_MMA_PLANE_H

#include "src/exec/mma_op.h"
#include "src/exec/mma_vec.h"

#define MMA_INLINE static inline __attribute__((always_inline))

#define MMA_TILE_ROWS 16u
#define MMA_TILE_COLUMNS 8u
#define MMA_VECTORS (64 / MMA_W) /* of a fragment of 16 rows */
#define MMA_PLANES 16u
#define MMA_GROUPS 8u
#define MMA_FRAGMENT_WORDS 32u

/*
 * Bytes: zero is 0, any other number of A its exponent + 47, of B 33 more. So a sum of two that are
 * not zero has the bias of f32, 127, and is larger than any other sum.
 */
#define MMA_BYTE_BIAS 47
#define MMA_BYTE_RIGHT 33
#define MMA_BYTE_ODD 63 /* infinite, or no number */
#define MMA_BYTE_LEAST (127 - 28)
/* Halves: the exponent, of B 127 more; of zero: */
#define MMA_HALF_NONE (-5000)
#define MMA_HALF_ODD 128

/* The values of narrow types of A are smaller by 2 to the power of this: see mma_term. */
#define MMA_DOWN 40

struct mma_left {
	mma_vf value[MMA_PLANES][MMA_VECTORS];
	mma_vi exponent[MMA_GROUPS][MMA_VECTORS];
};

struct mma_right {
	f32 value[MMA_PLANES * 4][MMA_TILE_COLUMNS] __attribute__((aligned(64)));
	/* group g: numbers 16 g .. 16 g + 15 of 8 bytes, or 8 g .. 8 g + 7 of 8 halves */
	u8 exponent[MMA_GROUPS][128] __attribute__((aligned(64)));
};

static inline mma_vi mma_where(mma_vi mask, mma_vi x)
{
	return x & mask;
}

/* ---- exponents of the words of a vector ---- */

/* Two halves of f16: bytes 0 and 2; infinite and no number: MMA_BYTE_ODD. */
static inline mma_vi mma_exponent_f16(mma_vi w)
{
	mma_vh x = (mma_vh)(w & 0x7fff7fff);
	mma_vh e = mma_max_half(x >> 10, (mma_vh){0} + 1) + 32;

	return mma_where((mma_vi)(x != 0), (mma_vi)e);
}

static inline mma_vi mma_exponent_e5m2(mma_vi w)
{
	mma_vub x = (mma_vub)(w & 0x7f7f7f7f);
	mma_vub e = (mma_vub)(((mma_vi)x >> 2) & 0x1f1f1f1f);

	return mma_where((mma_vi)(x != 0), (mma_vi)(mma_max_byte(e, (mma_vub){0} + 1) + 32));
}

static inline mma_vi mma_exponent_e4m3(mma_vi w, bool normal)
{
	mma_vb x = (mma_vb)(w & 0x7f7f7f7f), e = (mma_vb)(((mma_vi)x >> 3) & 0x0f0f0f0f);
	mma_vb least = (mma_vb){0} + (MMA_BYTE_BIAS - 6);
	mma_vb zero = (mma_vb)(x == 0), low = (mma_vb)(e == 0), odd = (mma_vb)(x == 0x7f);

	if (normal) /* of 1, 2..3, 4..7: compares are -1 where true */
		least = least - 3 - (mma_vb)(x > 1) - (mma_vb)(x > 3);
	e = e + (MMA_BYTE_BIAS - 7);
	e = (e & ~low) | (least & low);
	return (mma_vi)((((e & ~odd) | (odd & MMA_BYTE_ODD))) & ~zero);
}

/* Two halves of bf16. */
static inline mma_vi mma_exponent_bf16(mma_vi w)
{
	mma_vh x = (mma_vh)(w & 0x7fff7fff), zero = (mma_vh)(x == 0);
	mma_vh e = mma_max_half(x >> 7, (mma_vh){0} + 1) - 127;

	return (mma_vi)((e & ~zero) | (zero & MMA_HALF_NONE));
}

/* One number of tf32, in a word. */
static inline mma_vi mma_exponent_tf32(mma_vi w)
{
	mma_vi x = w & 0x7fffe000, e = mma_max(x >> 23, (mma_vi){0} + 1) - 127;

	return mma_pick(x == 0, (mma_vi){0} + MMA_HALF_NONE, e);
}

/* ---- values: number n of each word; narrow ones of A smaller ---- */

MMA_INLINE mma_vf mma_value(u32 type, bool left, mma_vi w, u32 n)
{
	switch (type) {
	case MMA_F16:
		w = n ? w >> 3 : (w << 16) >> 3;
		return (mma_vf)((w) & (s32)0x8fffe000) * (left ? 0x1p72f : 0x1p112f);
	case MMA_BF16:
		if (!n)
			w <<= 16;
		return (mma_vf)(w & (s32)0xffff0000);
	case MMA_TF32:
		return (mma_vf)(w & (s32)0xffffe000);
	case MMA_E5M2:
		return (mma_vf)(((w << (24 - 8 * n)) >> 3) & (s32)0x8fe00000) *
		       (left ? 0x1p72f : 0x1p112f);
	default:
		return (mma_vf)(((w << (24 - 8 * n)) >> 4) & (s32)0x87f00000) *
		       (left ? 0x1p80f : 0x1p120f);
	}
}

/* What two quads of words make: one group or two, and their planes. */
struct mma_pair {
	mma_vf value[8];
	mma_vi exponent[2];
};

MMA_INLINE u32 mma_pair_groups(u32 type)
{
	return type == MMA_F16 || type == MMA_TF32 ? 1 : 2;
}

MMA_INLINE u32 mma_slots(u32 type)
{
	return type == MMA_BF16 || type == MMA_TF32 ? 2 : 4;
}

/* Number n of the words of quad q is in group g (of the pair's), slot s. */
MMA_INLINE void mma_pair_place(u32 type, u32 q, u32 n, u32 *g, u32 *s)
{
	switch (type) {
	case MMA_F16:
		*g = 0;
		*s = 2 * n + q;
		break;
	case MMA_BF16:
		*g = q;
		*s = n;
		break;
	case MMA_TF32:
		*g = 0;
		*s = q;
		break;
	default: /* mma adds numbers 0 and 1 of all words first, then the others */
		*g = n / 2;
		*s = 2 * q + n % 2;
		break;
	}
}

/* Is slot s filled when there is no second quad? */
MMA_INLINE bool mma_slot_is_first(u32 type, u32 s)
{
	return type == MMA_F16    ? s % 2 == 0
	       : type == MMA_TF32 ? s == 0
				  : type == MMA_BF16 || s % 4 < 2;
}

MMA_INLINE void mma_decode_pair(u32 type, bool left, bool normal, mma_vi first, mma_vi second,
				struct mma_pair *d)
{
	u32 per = 32 / mma_bits(type), g, s;
	mma_vi a, b;

	for (u32 n = 0; n < per; n++) {
		mma_pair_place(type, 0, n, &g, &s);
		d->value[g * mma_slots(type) + s] = mma_value(type, left, first, n);
		mma_pair_place(type, 1, n, &g, &s);
		d->value[g * mma_slots(type) + s] = mma_value(type, left, second, n);
	}
	switch (type) {
	case MMA_F16:
		d->exponent[0] = mma_exponent_f16(first) | mma_exponent_f16(second) << 8;
		return;
	case MMA_BF16:
		d->exponent[0] = mma_exponent_bf16(first);
		d->exponent[1] = mma_exponent_bf16(second);
		return;
	case MMA_TF32:
		d->exponent[0] = (mma_exponent_tf32(first) & 0xffff) | mma_exponent_tf32(second)
									       << 16;
		return;
	case MMA_E5M2:
		a = mma_exponent_e5m2(first);
		b = mma_exponent_e5m2(second);
		break;
	default:
		a = mma_exponent_e4m3(first, normal);
		b = mma_exponent_e4m3(second, normal);
		break;
	}
	d->exponent[0] = (a & 0xffff) | b << 16;
	d->exponent[1] = (mma_vi)((mma_vu)a >> 16) | (b & (s32)0xffff0000);
}

/* ---- A ---- */

/* One pair of quads of 16 rows, into the groups from g on. second: -1 when there is but one. */
MMA_INLINE void mma_left_pair(const struct mma_lay *lay, u32 type, const u32 *const *top,
			      const u32 *const *bottom, u32 first, s32 second, u32 g,
			      struct mma_left *l)
{
	const u32 slots = mma_slots(type),
		  groups = second >= 0 || type > MMA_BF16 ? mma_pair_groups(type) : 1;
	s32 negate = (s32)lay->negate;
	struct mma_pair d;

	for (u32 v = 0; v < MMA_VECTORS; v++) {
		u32 half = v / (MMA_VECTORS / 2), at = v % (MMA_VECTORS / 2) * MMA_W;
		const u32 *const *frag = half ? bottom : top;
		mma_vi x = mma_load(frag[first] + at) ^ negate, y = {0};

		if (second >= 0)
			y = mma_load(frag[second] + at) ^ negate;
		mma_decode_pair(type, true, lay->normal, x, y, &d);
		for (u32 s = 0; s < groups * slots; s++)
			if (second >= 0 || mma_slot_is_first(type, s))
				l->value[g * slots + s][v] = d.value[s];
		for (u32 i = 0; i < groups; i++)
			l->exponent[g + i][v] = d.exponent[i];
	}
}

MMA_INLINE void mma_left_type(const struct mma_lay *lay, u32 type, const u32 *const *top,
			      const u32 *const *bottom, struct mma_left *l)
{
	if (lay->quads == 1) {
		mma_left_pair(lay, type, top, bottom, 0, -1, 0, l);
	} else if (lay->alone) {
		mma_left_pair(lay, type, top, bottom, 0, -1, 0, l);
		mma_left_pair(lay, type, top, bottom, 1, -1, mma_pair_groups(type), l);
	} else {
		mma_left_pair(lay, type, top, bottom, 0, 1, 0, l);
	}
}

/* A of 16 rows: fragments of the upper and the lower eight, by quad. */
PL_UNUSED static void mma_decode_left(const struct mma_lay *lay, const u32 *const *top,
				      const u32 *const *bottom, struct mma_left *l)
{
	switch (lay->type[0]) {
	case MMA_F16:
		mma_left_type(lay, MMA_F16, top, bottom, l);
		break;
	case MMA_BF16:
		mma_left_type(lay, MMA_BF16, top, bottom, l);
		break;
	case MMA_TF32:
		mma_left_type(lay, MMA_TF32, top, bottom, l);
		break;
	case MMA_E5M2:
		mma_left_type(lay, MMA_E5M2, top, bottom, l);
		break;
	default:
		mma_left_type(lay, MMA_E4M3, top, bottom, l);
		break;
	}
}

/* ---- B ---- */

/*
 * By vector length: mma_turn makes words of eight columns, [column][t], to [t][even columns, odd
 * columns]; mma_spread_exponents makes the exponents of such words (vector v of them) to those of
 * all columns of slot 0, then of slot 1, and so on, in bytes or halves.
 */
static const u8 mma_by_slot[2][16] = {
	{0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15},
	{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15},
};

#if MMA_W == 16

PL_UNUSED static void mma_turn(const u32 *from, u32 *to)
{
	mma_vi a = mma_load(from), b = mma_load(from + 16);

	mma_store(to, __builtin_shufflevector(a, b, 0, 8, 16, 24, 4, 12, 20, 28, 1, 9, 17, 25, 5,
					      13, 21, 29));
	mma_store(to + 16, __builtin_shufflevector(a, b, 2, 10, 18, 26, 6, 14, 22, 30, 3, 11, 19,
						   27, 7, 15, 23, 31));
}

MMA_INLINE void mma_spread_exponents(mma_vi e, bool narrow, u32 v, u8 *to)
{
	e = mma_choose(e, mma_by_slot[narrow]);
	if (narrow)
		e = __builtin_shufflevector(e, e, 0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11,
					    15);
	else
		e = __builtin_shufflevector(e, e, 0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14,
					    15);
	mma_store(to + 64 * v, e);
}

#else

PL_UNUSED static void mma_turn(const u32 *from, u32 *to)
{
	for (u32 t = 0; t < 4; t++)
		for (u32 j = 0; j < 8; j++)
			to[8 * t + j] = from[4 * (j % 4 * 2 + j / 4) + t];
}

#endif

#if MMA_W == 8

MMA_INLINE void mma_spread_exponents(mma_vi e, bool narrow, u32 v, u8 *to)
{
	e = mma_choose(e, mma_by_slot[narrow]);
	if (narrow)
		e = __builtin_shufflevector(e, e, 0, 4, 1, 5, 2, 6, 3, 7);
	else
		e = __builtin_shufflevector(e, e, 0, 1, 4, 5, 2, 3, 6, 7);
	mma_store(to + 32 * v, e);
}

#elif MMA_W == 4

/* A vector has four columns. */
MMA_INLINE void mma_spread_exponents(mma_vi e, bool narrow, u32 v, u8 *to)
{
	const u32 slots = narrow ? 4 : 2, bytes = 16 / slots;

	e = mma_choose(e, mma_by_slot[narrow]);
	for (u32 s = 0; s < slots; s++)
		memcpy(to + v / 2 * 32 + s * 2 * bytes + v % 2 * bytes, (const u8 *)&e + bytes * s,
		       bytes);
}

#endif

MMA_INLINE mma_vi mma_bias_right(bool narrow, mma_vi e)
{
	if (narrow)
		return (mma_vi)((mma_vub)e + (MMA_BYTE_RIGHT & (mma_vub)((mma_vub)e != 0)));
	return (mma_vi)((mma_vh)e + 127);
}

/* One pair of quads of 8 columns. second: NULL when there is but one. */
MMA_INLINE void mma_right_pair(const struct mma_lay *lay, u32 type, const u32 *first,
			       const u32 *second, u32 g, struct mma_right *r)
{
	const u32 slots = mma_slots(type),
		  groups = second || type > MMA_BF16 ? mma_pair_groups(type) : 1;
	u32 words[2][MMA_FRAGMENT_WORDS] __attribute__((aligned(64)));
	f32 *value = r->value[0]; /* four rows of the plane for each fragment */
	struct mma_pair d;

	mma_turn(first, words[0]);
	if (second)
		mma_turn(second, words[1]);
	for (u32 v = 0; v < MMA_FRAGMENT_WORDS / MMA_W; v++) {
		mma_vi x = mma_load(words[0] + v * MMA_W), y = {0};

		if (second)
			y = mma_load(words[1] + v * MMA_W);
		mma_decode_pair(type, false, lay->normal, x, y, &d);
		for (u32 s = 0; s < groups * slots; s++)
			if (second || mma_slot_is_first(type, s))
				mma_store(value + (g * slots + s) * 4 * MMA_TILE_COLUMNS +
						  v * MMA_W,
					  (mma_vi)d.value[s]);
		for (u32 i = 0; i < groups; i++)
			mma_spread_exponents(mma_bias_right(slots == 4, d.exponent[i]), slots == 4,
					     v, r->exponent[g + i]);
	}
}

MMA_INLINE void mma_right_type(const struct mma_lay *lay, u32 type, const u32 *const *frag,
			       u32 quads, struct mma_right *r)
{
	u32 step = lay->alone || quads == 1 ? 1 : 2, g = 0;

	for (u32 q = 0; q < quads; q += step, g += mma_pair_groups(type))
		if (step == 1)
			mma_right_pair(lay, type, frag[q], NULL, g, r);
		else
			mma_right_pair(lay, type, frag[q], frag[q + 1], g, r);
}

/* B of 8 columns; frag: by quad. */
PL_UNUSED static void mma_decode_right(const struct mma_lay *lay, const u32 *const *frag, u32 quads,
				       struct mma_right *r)
{
	switch (lay->type[1]) {
	case MMA_F16:
		mma_right_type(lay, MMA_F16, frag, quads, r);
		break;
	case MMA_BF16:
		mma_right_type(lay, MMA_BF16, frag, quads, r);
		break;
	case MMA_TF32:
		mma_right_type(lay, MMA_TF32, frag, quads, r);
		break;
	case MMA_E5M2:
		mma_right_type(lay, MMA_E5M2, frag, quads, r);
		break;
	default:
		mma_right_type(lay, MMA_E4M3, frag, quads, r);
		break;
	}
}

#endif
