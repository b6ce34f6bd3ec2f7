/*
 * Factors of a tile, decoded: their values as f32, in *planes*, and their exponents, in *groups*;
 * and the steps from there to a result. Included by what makes planes and adds them up.
 *
 * A plane has one number of each word of a quad: of a word t of 16 rows of A, vectors whose lanes
 * are rows; of eight columns of B, in the order of the fragment, lane 4 j + t that of word t of
 * column j. Planes make groups: four where exponents fit bytes (f16 and fp8), two where they need
 * halves (bf16 and tf32); `slot` is the plane's number in its group. The exponents of the words t
 * of a group fill a word of each row or column. The order of the products of a block does not
 * matter, so planes stand in the order that is cheapest. docs/tensor-cores.md has a picture.
 *
 * Exponents are those of the PTX type's number format: subnormals have the least one, zero has
 * none.
 */
#ifndef PL_MMA_PLANE_H
#define PL_MMA_PLANE_H

#include "src/mma/mma.h"
#include "src/mma/mma_vec.h"

#define MMA_PER_ROWS (MMA_TILE_ROWS / MMA_W) /* vectors whose lanes are the rows */
#define MMA_PLANES 16u
#define MMA_GROUPS 8u

/*
 * Bytes: zero is 0, any other number of A its exponent + 47; of B 33 more, zero too. So a sum of
 * two that are not zero has the bias of f32, 127, and is larger than any other sum.
 */
#define MMA_BYTE_BIAS 47
#define MMA_BYTE_RIGHT 33
#define MMA_BYTE_NONFINITE 63 /* infinite or NaN */
#define MMA_BYTE_LEAST (127 - 28)
/* Halves: the exponent, of B 127 more; of zero: */
#define MMA_HALF_NONE (-5000)
#define MMA_HALF_NONFINITE 128

/* Values of narrow types of A are smaller by 2 to this power: see product_term of block.c. */
#define MMA_DOWN 40

/* Words of 16 rows: [t], lanes are rows, in an order that is the same everywhere. */
struct mma_words {
	mma_vi at[4][MMA_PER_ROWS];
};

/* Of plane p and word t: value[4 p + t]; of group g: exponent[4 g + t]. */
struct mma_left {
	mma_vf value[MMA_PLANES * 4][MMA_PER_ROWS];
	mma_vi exponent[MMA_GROUPS * 4][MMA_PER_ROWS];
};

struct mma_right {
	f32 value[MMA_PLANES][MMA_FRAGMENT_WORDS] __attribute__((aligned(64)));
	u32 exponent[MMA_GROUPS][MMA_FRAGMENT_WORDS] __attribute__((aligned(64)));
};

/* ---- steps of a tile: decode A, decode B, add ---- */

/* Where the rows of A are: fragments of the upper and the lower eight, by quad. */
struct mma_left_at {
	const u32 *const *top, *const *bottom;
	const u32 *meta; /* sparse */
};

/* The least and the largest exponent of wide factors, zeros left out. */
struct mma_range {
	s32 least, most;
};

/* False: some number is infinite or NaN. */
typedef bool mma_left_step(const struct mma_lay *lay, const struct mma_left_at *from,
			   struct mma_left *l, struct mma_range *range);
/* frag: eight columns of B, by quad. */
typedef bool mma_right_step(const struct mma_lay *lay, const u32 *const *frag, struct mma_right *r,
			    struct mma_range *range);

struct mma_decoder {
	mma_left_step *left;
	mma_right_step *right;
};

/* How the quads of a row make planes. A sparse A always has pairs. */
enum mma_quads {
	MMA_QUADS_ONE,   /* there is only one */
	MMA_QUADS_PAIR,  /* two fill groups together */
	MMA_QUADS_ALONE, /* two are a block each */
	MMA_QUADS_KINDS,
};

#define MMA_PLANE_TYPES (MMA_E5M2 + 1u) /* those that vectors know */

extern const struct mma_decoder EXEC_NAME(mma_dense)[MMA_PLANE_TYPES][MMA_QUADS_KINDS],
	EXEC_NAME(mma_sparse)[MMA_PLANE_TYPES];

/*
 * Where the halves of a tile of C and D are: [parity of the column][half]; f16 has both parities in
 * one register. d NULL: there are no such rows.
 */
struct mma_ends {
	const u32 *c[2][2];
	u32 *d[2][2];
};

/*
 * How the sum of a tile went. MMA_WRONG: vectors cannot do it. MMA_LACKS: some output has no
 * product but zeros, which was not reckoned with. Nothing is stored then.
 */
enum mma_verdict { MMA_RIGHT, MMA_WRONG, MMA_LACKS };

/* All blocks of a tile: accumulators are read, the products added, and the result is stored. */
typedef enum mma_verdict mma_sum_step(const struct mma_lay *lay, const struct mma_round *round,
				      const struct mma_ends *e, const struct mma_left *l,
				      const struct mma_right *r);

struct mma_adder {
	mma_sum_step *sum;
	mma_sum_step *lacking; /* outputs may have no product but zeros */
};

/* Of one block, with these groups; any other lay has the last one. */
enum mma_adder_kind {
	MMA_ADD_F32,      /* a narrow one of four planes: two quads of f16 */
	MMA_ADD_F32_ONE,  /* of two planes: one quad of f16 */
	MMA_ADD_F16,      /* of four planes, with f16 sums */
	MMA_ADD_WIDE,     /* a wide one: two quads of tf32 */
	MMA_ADD_WIDE_TWO, /* two wide ones: two quads of bf16 */
	MMA_ADD_ANY,
	MMA_ADDERS,
};

extern const struct mma_adder EXEC_NAME(mma_adders)[MMA_ADDERS];

/* The sum of a decoded tile. False: vectors cannot do it, and nothing is stored. */
MMA_INLINE bool mma_add_tile(const struct mma_adder *adder, const struct mma_lay *lay,
			     const struct mma_round *round, const struct mma_ends *e,
			     const struct mma_left *l, const struct mma_right *r)
{
	enum mma_verdict v = adder->sum(lay, round, e, l, r);

	if (v == MMA_LACKS)
		v = adder->lacking(lay, round, e, l, r);
	return v == MMA_RIGHT;
}

/* Of wide exponents: products stay inside f32, exact. */
MMA_INLINE bool mma_in_range(const struct mma_range *a, const struct mma_range *b)
{
	return a->most + b->most <= 125 && a->least + b->least >= -100;
}

/* ---- words of fragments ---- */

/* The words of 16 rows from the fragments of the upper and the lower eight. */
MMA_INLINE void mma_load_words(const u32 *top, const u32 *bottom, struct mma_words *w)
{
	MMA_UNROLL
	for (u32 v = 0; v < MMA_PER_ROWS; v++) {
		mma_vi from[4], to[4];

		MMA_UNROLL
		for (u32 i = 0; i < 4; i++) {
			u32 at = (4 * v + i) * MMA_W;

			from[i] = mma_load(at < MMA_FRAGMENT_WORDS
						   ? top + at
						   : bottom + (at - MMA_FRAGMENT_WORDS));
		}
		mma_transpose(from, to);
		MMA_UNROLL
		for (u32 t = 0; t < 4; t++)
			w->at[t][v] = to[t];
	}
}

/* The opposite. bottom: NULL when there are no such rows. */
MMA_INLINE void mma_store_words(const struct mma_words *w, u32 *top, u32 *bottom)
{
	MMA_UNROLL
	for (u32 v = 0; v < MMA_PER_ROWS; v++) {
		mma_vi from[4], to[4];

		MMA_UNROLL
		for (u32 t = 0; t < 4; t++)
			from[t] = w->at[t][v];
		mma_transpose(from, to);
		MMA_UNROLL
		for (u32 i = 0; i < 4; i++) {
			u32 at = (4 * v + i) * MMA_W;

			if (at < MMA_FRAGMENT_WORDS)
				mma_store(top + at, to[i]);
			else if (bottom)
				mma_store(bottom + (at - MMA_FRAGMENT_WORDS), to[i]);
		}
	}
}

static inline mma_vi mma_where(mma_vi mask, mma_vi x)
{
	return x & mask;
}

/*
 * Numbers that decoding f16 needs: in memory, since compilers would bring constants through general
 * registers, which takes longer.
 */
struct mma_numbers {
	u32 size, sign; /* of both halves */
	u32 even_bytes;
	u32 low_up, high_up; /* a half times 2^13, by mma_pairs */
	u32 wide;            /* sign and number in a word */
	u32 subnormal;       /* exponent of subnormals, four bytes */
	u32 exponent;        /* of f32 */
};

extern const struct mma_numbers EXEC_NAME(mma_numbers);
#define MMA_NUMBER(name) mma_splat(EXEC_NAME(mma_numbers).name)

/* ---- exponents of the words of a vector ---- */

/* The upper six bits of a half: 32 more than the exponent field where it is not zero. */
static inline mma_vuh mma_field_f16(mma_vi w)
{
	mma_vuh size = (mma_vuh)MMA_NUMBER(size), some = ((mma_vuh)w & size) + size;

	return (mma_vuh)mma_pick(MMA_NUMBER(sign), (mma_vi)some, w);
}

/*
 * Of two quads of halves: bytes 0 and 2 of the first, 1 and 3 of the second. Infinite and no
 * number: MMA_BYTE_NONFINITE.
 */
static inline mma_vi mma_exponent_f16(mma_vi first, mma_vi second)
{
	mma_vub e = (mma_vub)mma_pick(MMA_NUMBER(even_bytes), (mma_vi)(mma_field_f16(first) >> 10),
				      (mma_vi)(mma_field_f16(second) >> 2));

	return (mma_vi)mma_max_byte(
		e, mma_min_byte(e + e, (mma_vub)MMA_NUMBER(subnormal))); /* subnormals */
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
	mma_vb zero = (mma_vb)(x == 0), low = (mma_vb)(e == 0), nan = (mma_vb)(x == 0x7f);

	if (normal) /* of 1, 2..3, 4..7: compares are -1 where true */
		least = least - 3 - (mma_vb)(x > 1) - (mma_vb)(x > 3);
	e = e + (MMA_BYTE_BIAS - 7);
	e = (e & ~low) | (least & low);
	return (mma_vi)((((e & ~nan) | (nan & MMA_BYTE_NONFINITE))) & ~zero);
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
		w = mma_pairs(w, n ? MMA_NUMBER(high_up) : MMA_NUMBER(low_up));
		return (mma_vf)(w & MMA_NUMBER(wide)) * (left ? 0x1p72f : 0x1p112f);
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

	MMA_UNROLL
	for (u32 n = 0; n < per; n++) {
		mma_pair_place(type, 0, n, &g, &s);
		d->value[g * mma_slots(type) + s] = mma_value(type, left, first, n);
		mma_pair_place(type, 1, n, &g, &s);
		d->value[g * mma_slots(type) + s] = mma_value(type, left, second, n);
	}
	switch (type) {
	case MMA_F16:
		d->exponent[0] = mma_exponent_f16(first, second);
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

/*
 * One pair of quads, the second may be missing; its first group is g, its second one `next`
 * further.
 */
MMA_INLINE void mma_left_pair(const struct mma_lay *lay, u32 type, const struct mma_words *first,
			      const struct mma_words *second, u32 g, u32 next, struct mma_left *l)
{
	const u32 slots = mma_slots(type),
		  groups = second || type > MMA_BF16 ? mma_pair_groups(type) : 1;
	s32 flip = (s32)lay->sign_flip;
	struct mma_pair d;

	MMA_UNROLL
	for (u32 t = 0; t < 4; t++)
		MMA_UNROLL
	for (u32 v = 0; v < MMA_PER_ROWS; v++) {
		mma_vi x = first->at[t][v] ^ flip, y = {0};

		if (second)
			y = second->at[t][v] ^ flip;
		mma_decode_pair(type, true, lay->normal, x, y, &d);
		MMA_UNROLL
		for (u32 i = 0; i < groups; i++) {
			u32 to = g + i * next;

			MMA_UNROLL
			for (u32 s = 0; s < slots; s++)
				if (second || mma_slot_is_first(type, s))
					l->value[4 * (to * slots + s) + t][v] =
						d.value[i * slots + s];
			l->exponent[4 * to + t][v] = d.exponent[i];
		}
	}
}

/* ---- B ---- */

MMA_INLINE mma_vi mma_bias_right(bool narrow, mma_vi e)
{
	if (narrow)
		return (mma_vi)((mma_vub)e + MMA_BYTE_RIGHT);
	return (mma_vi)((mma_vh)e + 127);
}

/* As mma_left_pair, for vector v of the fragments of eight columns. */
MMA_INLINE void mma_right_pair(const struct mma_lay *lay, u32 type, mma_vi first, mma_vi second,
			       bool whole, u32 v, u32 g, u32 next, struct mma_right *r)
{
	const u32 slots = mma_slots(type),
		  groups = whole || type > MMA_BF16 ? mma_pair_groups(type) : 1;
	struct mma_pair d;

	mma_decode_pair(type, false, lay->normal, first, second, &d);
	MMA_UNROLL
	for (u32 i = 0; i < groups; i++) {
		u32 to = g + i * next;

		MMA_UNROLL
		for (u32 s = 0; s < slots; s++)
			if (whole || mma_slot_is_first(type, s))
				mma_store(r->value[to * slots + s] + v * MMA_W,
					  (mma_vi)d.value[i * slots + s]);
		mma_store(r->exponent[to] + v * MMA_W, mma_bias_right(slots == 4, d.exponent[i]));
	}
}

/*
 * ---- exponents that the sums cannot take: of infinities and NaN, and products at the ends of f32
 * ----
 */

/* The largest exponents of wide factors, and of their opposites. */
struct mma_extremes {
	mma_vh high, low;
};

MMA_INLINE void mma_widen_range(struct mma_extremes *x, mma_vh e)
{
	x->high = mma_max_half(x->high, e);
	x->low = mma_max_half(x->low, -(e & (mma_vh)(e > MMA_HALF_NONFINITE - 1000)));
}

MMA_INLINE void mma_range_of(const struct mma_extremes *x, struct mma_range *range)
{
	*range = (struct mma_range){0, 0};
	for (u32 i = 0; i < 2 * MMA_W; i++) {
		range->most = x->high[i] > range->most ? x->high[i] : range->most;
		range->least = -x->low[i] < range->least ? -x->low[i] : range->least;
	}
}

MMA_INLINE bool mma_left_is_plain(bool narrow, u32 groups, const struct mma_left *l,
				  struct mma_range *range)
{
	struct mma_extremes x = {{0}, {0}};
	mma_vub top = {0};

	for (u32 i = 0; i < 4 * groups; i++)
		MMA_UNROLL
	for (u32 v = 0; v < MMA_PER_ROWS; v++) {
		if (narrow)
			top = mma_max_byte(top, (mma_vub)l->exponent[i][v]);
		else
			mma_widen_range(&x, (mma_vh)l->exponent[i][v]);
	}
	if (narrow)
		return !mma_any((mma_vi)(top >= MMA_BYTE_NONFINITE));
	mma_range_of(&x, range);
	return range->most < MMA_HALF_NONFINITE;
}

MMA_INLINE bool mma_right_is_plain(bool narrow, u32 groups, const struct mma_right *r,
				   struct mma_range *range)
{
	struct mma_extremes x = {{0}, {0}};
	mma_vub top = {0};

	for (u32 g = 0; g < groups; g++)
		for (u32 v = 0; v < MMA_FRAGMENT_WORDS / MMA_W; v++) {
			mma_vi e = mma_load(r->exponent[g] + v * MMA_W);

			if (narrow)
				top = mma_max_byte(top, (mma_vub)e);
			else
				mma_widen_range(&x, (mma_vh)e - 127);
		}
	if (narrow)
		return !mma_any((mma_vi)(top >= MMA_BYTE_NONFINITE + MMA_BYTE_RIGHT));
	mma_range_of(&x, range);
	return range->most < MMA_HALF_NONFINITE;
}

#endif
