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

#define MMA_TILE_ROWS 16u
#define MMA_TILE_COLUMNS 8u
#define MMA_VECTORS (64 / MMA_W) /* of a fragment of 16 rows */
#define MMA_PLANES 16u
#define MMA_GROUPS 8u
#define MMA_FRAGMENT_WORDS 32u

/* Bytes: zero is 0, any other number its exponent + 47, so sums of two that are not zero are larger than others. */
#define MMA_BYTE_BIAS 47
#define MMA_BYTE_ODD 63 /* infinite, or no number */
#define MMA_BYTE_LEAST (2 * (MMA_BYTE_BIAS - 14))
/* Halves: the exponent; of zero: */
#define MMA_HALF_NONE (-5000)
#define MMA_HALF_ODD 128

struct mma_left {
	mma_vf value[MMA_PLANES][MMA_VECTORS];
	mma_vi exponent[MMA_GROUPS][MMA_VECTORS];
};

struct mma_right {
	f32 value[MMA_PLANES * 4][MMA_TILE_COLUMNS] __attribute__((aligned(64)));
	/* group g: numbers 16 g .. 16 g + 15 of 8 bytes, or 8 g .. 8 g + 7 of 8 halves */
	u8 exponent[MMA_GROUPS][128] __attribute__((aligned(64)));
};

/* How the products of a tile are laid out. */
struct mma_lay {
	u8 type[2];  /* of A, of B */
	bool narrow; /* exponents are bytes */
	bool normal; /* e4m3: subnormals count with the exponent they have in f16 */
	bool sparse;
	bool alone;  /* quads are not decoded in pairs: each is a block */
	u8 quads;    /* of A; of B twice as many if A is sparse */
	u8 blocks;   /* sums one after the other */
	u8 groups;   /* of a block */
	u8 slots;    /* bit s: planes of slot s are there */
	u32 negate;  /* what changes the signs in a word of A */
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

/* ---- values: number n of each word ---- */

static inline mma_vf mma_value(u32 type, mma_vi w, u32 n)
{
	switch (type) {
	case MMA_F16:
		if (n)
			w >>= 16;
		return mma_widen(w);
	case MMA_BF16:
		if (!n)
			w <<= 16;
		return (mma_vf)(w & (s32)0xffff0000);
	case MMA_TF32:
		return (mma_vf)(w & (s32)0xffffe000);
	case MMA_E5M2:
		return (mma_vf)(((w << (24 - 8 * n)) >> 3) & (s32)0x8fe00000) * 0x1p112f;
	default:
		return (mma_vf)(((w << (24 - 8 * n)) >> 4) & (s32)0x87f00000) * 0x1p120f;
	}
}

/* What two quads of words make: one group or two, and their planes. */
struct mma_pair {
	mma_vf value[8];
	mma_vi exponent[2];
};

#define MMA_INLINE static inline __attribute__((always_inline))

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

MMA_INLINE void mma_decode_pair(u32 type, bool normal, mma_vi first, mma_vi second, struct mma_pair *d)
{
	u32 per = 32 / mma_bits(type), g, s;
	mma_vi a, b;

	for (u32 n = 0; n < per; n++) {
		mma_pair_place(type, 0, n, &g, &s);
		d->value[g * mma_slots(type) + s] = mma_value(type, first, n);
		mma_pair_place(type, 1, n, &g, &s);
		d->value[g * mma_slots(type) + s] = mma_value(type, second, n);
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
		d->exponent[0] = (mma_exponent_tf32(first) & 0xffff) | mma_exponent_tf32(second) << 16;
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

MMA_INLINE void mma_left_type(const struct mma_lay *lay, u32 type, const u32 *const (*frag)[2],
			      struct mma_left *l)
{
	u32 slots = mma_slots(type), groups = mma_pair_groups(type);
	s32 negate = (s32)lay->negate;
	struct mma_pair d;

	for (u32 v = 0; v < MMA_VECTORS; v++) {
		u32 half = v / (MMA_VECTORS / 2), at = v % (MMA_VECTORS / 2) * MMA_W;
		u32 step = lay->alone ? 1 : 2;

		for (u32 q = 0, g = 0; q < lay->quads; q += step, g += groups) {
			mma_vi x = mma_load(frag[half][q] + at) ^ negate, y = {0};

			if (step == 2 && q + 1 < lay->quads)
				y = mma_load(frag[half][q + 1] + at) ^ negate;
			mma_decode_pair(type, lay->normal, x, y, &d);
			for (u32 s = 0; s < groups * slots; s++)
				l->value[g * slots + s][v] = d.value[s];
			for (u32 i = 0; i < groups; i++)
				l->exponent[g + i][v] = d.exponent[i];
		}
	}
}

/* A of 16 rows; frag: by group of eight rows and quad. */
PL_UNUSED static void mma_decode_left(const struct mma_lay *lay, const u32 *const (*frag)[2], struct mma_left *l)
{
	switch (lay->type[0]) {
	case MMA_F16:
		mma_left_type(lay, MMA_F16, frag, l);
		break;
	case MMA_BF16:
		mma_left_type(lay, MMA_BF16, frag, l);
		break;
	case MMA_TF32:
		mma_left_type(lay, MMA_TF32, frag, l);
		break;
	case MMA_E5M2:
		mma_left_type(lay, MMA_E5M2, frag, l);
		break;
	default:
		mma_left_type(lay, MMA_E4M3, frag, l);
		break;
	}
}

/* ---- B ---- */

/* Words of eight columns, [column][t], as [t][even columns, odd columns]. */
PL_UNUSED static void mma_turn(const u32 *from, u32 *to)
{
#if MMA_W == 16
	mma_vi a = mma_load(from), b = mma_load(from + 16);

	mma_store(to, __builtin_shufflevector(a, b, 0, 8, 16, 24, 4, 12, 20, 28, 1, 9, 17, 25, 5, 13, 21, 29));
	mma_store(to + 16, __builtin_shufflevector(a, b, 2, 10, 18, 26, 6, 14, 22, 30, 3, 11, 19, 27, 7, 15, 23, 31));
#else
	typedef u32 v4 __attribute__((vector_size(16), may_alias));

	for (u32 p = 0; p < 2; p++) {
		v4 a, b, c, d, x, y;

		memcpy(&a, from + 4 * p, 16);
		memcpy(&b, from + 4 * p + 8, 16);
		memcpy(&c, from + 4 * p + 16, 16);
		memcpy(&d, from + 4 * p + 24, 16);
		x = __builtin_shufflevector(a, b, 0, 4, 1, 5);
		y = __builtin_shufflevector(c, d, 0, 4, 1, 5);
		memcpy(to + 4 * p, &(v4){x[0], x[1], y[0], y[1]}, 16);
		memcpy(to + 8 + 4 * p, &(v4){x[2], x[3], y[2], y[3]}, 16);
		x = __builtin_shufflevector(a, b, 2, 6, 3, 7);
		y = __builtin_shufflevector(c, d, 2, 6, 3, 7);
		memcpy(to + 16 + 4 * p, &(v4){x[0], x[1], y[0], y[1]}, 16);
		memcpy(to + 24 + 4 * p, &(v4){x[2], x[3], y[2], y[3]}, 16);
	}
#endif
}

/* Exponents of [t][column] words (from vector v of them): all columns of slot 0, then of slot 1, ... */
MMA_INLINE void mma_spread_exponents(mma_vi e, bool narrow, u32 v, u8 *to)
{
	static const u8 bytes[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
	static const u8 halves[16] = {0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};

	e = mma_choose(e, narrow ? bytes : halves);
#if MMA_W == 16
	if (narrow)
		e = __builtin_shufflevector(e, e, 0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);
	else
		e = __builtin_shufflevector(e, e, 0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15);
	mma_store(to + 64 * v, e);
#elif MMA_W == 8
	if (narrow)
		e = __builtin_shufflevector(e, e, 0, 4, 1, 5, 2, 6, 3, 7);
	else
		e = __builtin_shufflevector(e, e, 0, 1, 4, 5, 2, 3, 6, 7);
	mma_store(to + 32 * v, e);
#else
	for (u32 i = 0; i < 4; i++) /* four columns */
		if (narrow)
			memcpy(to + v / 2 * 32 + i * 8 + v % 2 * 4, (const u8 *)&e + 4 * i, 4);
		else if (i < 2)
			memcpy(to + v / 2 * 32 + i * 16 + v % 2 * 8, (const u8 *)&e + 8 * i, 8);
#endif
}

MMA_INLINE void mma_right_type(const struct mma_lay *lay, u32 type, const u32 *const *frag, u32 quads,
			       struct mma_right *r)
{
	u32 slots = mma_slots(type), groups = mma_pair_groups(type), step = lay->alone ? 1 : 2;
	u32 words[2][MMA_FRAGMENT_WORDS] __attribute__((aligned(64))) = {{0}};
	struct mma_pair d;

	for (u32 q = 0, g = 0; q < quads; q += step, g += groups) {
		mma_turn(frag[q], words[0]);
		if (step == 2 && q + 1 < quads)
			mma_turn(frag[q + 1], words[1]);
		for (u32 v = 0; v < MMA_FRAGMENT_WORDS / MMA_W; v++) {
			mma_decode_pair(type, lay->normal, mma_load(words[0] + v * MMA_W),
					mma_load(words[1] + v * MMA_W), &d);
			for (u32 s = 0; s < groups * slots; s++)
				mma_store(&r->value[(g * slots + s) * 4][v * MMA_W], (mma_vi)d.value[s]);
			for (u32 i = 0; i < groups; i++)
				mma_spread_exponents(d.exponent[i], slots == 4, v, r->exponent[g + i]);
		}
	}
}

/* B of 8 columns; frag: by quad. */
PL_UNUSED static void mma_decode_right(const struct mma_lay *lay, const u32 *const *frag, u32 quads, struct mma_right *r)
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
