/*
 * Sums of products as tensor cores make them (see mma_tile.h for the rule), for 16 rows and 8
 * columns of decoded factors, vectors of outputs at a time. Exponents first: the largest of each
 * output; then every product, exact in f32, is scaled by a power of two and cut to an integer, the
 * integers added, and the sum rounded once. What does not fit that is left to mma_tile.h: infinities
 * and NaN, exponents at the ends of f32, sums beyond 31 bits.
 */
#ifndef PL_EXEC_MMA_FUSED_H
#define PL_EXEC_MMA_FUSED_H

#include "src/exec/mma_plane.h"

/* Exponents of outputs, as f32 has them in its field: with a bias of 127. Powers of two here stay inside f32. */
#define MMA_LEAST_NARROW (127 - 60)
#define MMA_MOST_NARROW (127 + 60)
#define MMA_LEAST_WIDE (127 - 101)
#define MMA_TOP_NONE (-5000)
/* Vectors of rows that are summed at once. */
#define MMA_CHUNK 4
/* For each vector of a chunk and each parity of the column; arrays with constant indices stay in registers. */
#define MMA_EACH(M) M(0, 0) M(0, 1) M(1, 0) M(1, 1) M(2, 0) M(2, 1) M(3, 0) M(3, 1)

/* The accumulators of a tile, in fragments: vectors of rows by parity of the column. */
struct mma_sums {
	mma_vf value[MMA_VECTORS][2];
};

/* How the sum of a block is rounded, and what it is made of. */
struct mma_round {
	u8 fraction; /* bits below the largest exponent */
	u8 below;    /* see struct mma_rule */
	u8 cut;      /* f32 keeps so many; 0: all */
	bool half;   /* accumulators are f16 */
};

/* The larger one of `top` and a + b. */
MMA_INLINE mma_vi mma_top(bool narrow, mma_vi top, mma_vi a, mma_vi b)
{
	if (narrow)
		return (mma_vi)mma_max_byte((mma_vub)a + (mma_vub)b, (mma_vub)top);
	return (mma_vi)mma_max_half((mma_vh)a + (mma_vh)b, (mma_vh)top);
}

/* Largest exponents of products, as bytes or halves, eight columns to a row. */
MMA_INLINE void mma_tops(const struct mma_lay *lay, bool narrow, const struct mma_left *l,
			 const struct mma_right *r, u32 first, u32 chunk, mma_vi *m)
{
	static const u8 pair[8][16] = {
#define PAIR(a) {a, a, a, a, a, a, a, a, a + 1, a + 1, a + 1, a + 1, a + 1, a + 1, a + 1, a + 1}
		PAIR(0), PAIR(2), PAIR(4), PAIR(6), PAIR(8), PAIR(10), PAIR(12), PAIR(14),
#undef PAIR
	};
	static const u8 same[8][16] = {
#define SAME(a) {a, a + 1, a, a + 1, a, a + 1, a, a + 1, a, a + 1, a, a + 1, a, a + 1, a, a + 1}
		SAME(0), SAME(2), SAME(4), SAME(6), SAME(8), SAME(10), SAME(12), SAME(14),
#undef SAME
	};
	static const u8 other[16] = {8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7};

	m[0] = m[1] = m[2] = m[3] = (mma_vi)((mma_vh){0} + (s16)(narrow ? 0 : MMA_TOP_NONE));
	for (u32 g = first; g < first + lay->groups; g++) {
		const mma_vi *e = &l->exponent[g][chunk * MMA_CHUNK];
		mma_vi e0 = e[0], e1 = e[1], e2 = e[2], e3 = e[3];

		for (u32 i = 0; i < 8; i++) {
			mma_vi b = mma_each_row(r->exponent[g] + 16 * i);
			const u8 *which = narrow ? pair[i] : same[i];

			m[0] = mma_top(narrow, m[0], mma_choose(e0, which), b);
			m[1] = mma_top(narrow, m[1], mma_choose(e1, which), b);
			m[2] = mma_top(narrow, m[2], mma_choose(e2, which), b);
			m[3] = mma_top(narrow, m[3], mma_choose(e3, which), b);
		}
	}
	if (narrow) {
		m[0] = (mma_vi)mma_max_byte((mma_vub)m[0], (mma_vub)mma_choose(m[0], other));
		m[1] = (mma_vi)mma_max_byte((mma_vub)m[1], (mma_vub)mma_choose(m[1], other));
		m[2] = (mma_vi)mma_max_byte((mma_vub)m[2], (mma_vub)mma_choose(m[2], other));
		m[3] = (mma_vi)mma_max_byte((mma_vub)m[3], (mma_vub)mma_choose(m[3], other));
	}
}

/* Of four rows and columns, in words. */
MMA_INLINE mma_vi mma_top_of(bool narrow, mma_vi m, u32 parity)
{
	static const u8 bytes[2][16] = {
		{0, 128, 128, 128, 1, 128, 128, 128, 2, 128, 128, 128, 3, 128, 128, 128},
		{4, 128, 128, 128, 5, 128, 128, 128, 6, 128, 128, 128, 7, 128, 128, 128}};
	static const u8 halves[2][16] = {
		{0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7},
		{8, 9, 8, 9, 10, 11, 10, 11, 12, 13, 12, 13, 14, 15, 14, 15}};

	if (narrow)
		return mma_choose(m, bytes[parity]);
	return mma_choose(m, halves[parity]) >> 16;
}

/*
 * Of narrow factors and one chunk: is there an output without any product that is not zero? Then its
 * exponent is the accumulator's, which may be small; else it is none of f32's small ones.
 */
MMA_INLINE bool mma_lacks_products(const mma_vi *m)
{
	mma_vub least = (mma_vub){0} + MMA_BYTE_LEAST, low;

	low = (mma_vub)((mma_vub)m[0] < least) | (mma_vub)((mma_vub)m[1] < least) |
	      (mma_vub)((mma_vub)m[2] < least) | (mma_vub)((mma_vub)m[3] < least);
	return mma_any((mma_vi)low);
}

/*
 * The exponent field of an accumulator: of f16, least 2^-14. Zero has none, but in f16, where small
 * products reach it, that of the least sum; with f32 sums mma_tile.h makes those.
 */
MMA_INLINE mma_vi mma_field(mma_vi c, const struct mma_round *round, bool none)
{
	bool half = round->half;
	s32 zero = half ? 127 - 14 - round->below : MMA_TOP_NONE;
	mma_vi field = (mma_vi)((mma_vu)(c << 1) >> 24);

	if (half)
		field = mma_max(field, (mma_vi){0} + 113);
	else if (none)
		field = mma_max(field, (mma_vi){0} + 1);
	if (half || none)
		field = mma_pick(c << 1 == 0, (mma_vi){0} + zero, field);
	return field;
}

/* The larger exponent; `bad` where it is out of range. */
MMA_INLINE mma_vi mma_exponent(bool narrow, bool none, mma_vi top, mma_vi field, mma_vi *bad)
{
	s32 least = narrow ? MMA_LEAST_NARROW : MMA_LEAST_WIDE;
	mma_vi e;

	if (narrow && none)
		top = mma_pick(top < MMA_BYTE_LEAST, (mma_vi){0} + MMA_TOP_NONE, top);
	e = mma_max(top, field);
	*bad |= e > (narrow ? MMA_MOST_NARROW : 254);
	if (none) {
		*bad |= (e < least) & (e > -1000);
		e = mma_max(e, (mma_vi){0} + least);
	}
	return e;
}

/*
 * A product as an integer. Narrow: `scale` is added to the exponent, and the values of A are smaller
 * by 2^MMA_DOWN, so that this leaves a zero below 1. Wide: it is a number.
 */
MMA_INLINE mma_vi mma_term(bool narrow, mma_vf a, mma_vf b, mma_vi scale)
{
	mma_vf p = a * b;

	if (narrow)
		return mma_to_int((mma_vf)((mma_vi)p + scale));
	return mma_to_int(p * (mma_vf)scale);
}

/* The products of one chunk of a block, scaled, cut and added. */
MMA_INLINE void mma_products(const struct mma_lay *lay, bool narrow, const struct mma_left *l,
			     const struct mma_right *r, u32 first, u32 chunk,
			     const mma_vi (*scale)[2], mma_vi (*sum)[2])
{
	u32 slots = narrow ? 4 : 2;
	mma_vi s[MMA_CHUNK][2];

#define ZERO(v, p) s[v][p] = (mma_vi){0};
	MMA_EACH(ZERO)
#undef ZERO
	for (u32 plane = first * slots; plane < (first + lay->groups) * slots; plane++) {
		const mma_vf *a = &l->value[plane][chunk * MMA_CHUNK];
		const f32(*b)[MMA_TILE_COLUMNS] = &r->value[4 * plane];

		if (!(lay->slots >> plane % slots & 1))
			continue;
#define ROW(v, t)                                                                                  \
	do {                                                                                       \
		mma_vf x = MMA_SPREAD(a[v], t);                                                    \
                                                                                                   \
		s[v][0] += mma_term(narrow, x, b0, scale[v][0]);                                   \
		s[v][1] += mma_term(narrow, x, b1, scale[v][1]);                                   \
	} while (0)
#define STEP(t)                                                                                    \
	do {                                                                                       \
		mma_vf b0 = (mma_vf)mma_each_row(b[t]), b1 = (mma_vf)mma_each_row(b[t] + 4);       \
                                                                                                   \
		ROW(0, t);                                                                         \
		ROW(1, t);                                                                         \
		ROW(2, t);                                                                         \
		ROW(3, t);                                                                         \
	} while (0)
		STEP(0);
		STEP(1);
		STEP(2);
		STEP(3);
#undef STEP
#undef ROW
	}
#define GIVE(v, p) sum[v][p] = s[v][p];
	MMA_EACH(GIVE)
#undef GIVE
}

/* The accumulator joins, and the sum is rounded. unit: 2 to the power of exponent - fraction. */
MMA_INLINE mma_vf mma_finish(mma_vi sum, mma_vf c, mma_vi unit, const struct mma_round *round,
			     mma_vi *bad)
{
	mma_vi scale = (254 << 23) - unit, cut = mma_to_int(c * (mma_vf)scale);
	mma_vi all = (mma_vi)((mma_vu)sum + (mma_vu)cut);
	mma_vf d;

	*bad |= ((sum ^ all) & (cut ^ all)) >> 31;
	if (round->half) {
		mma_vi h = mma_narrow_half(mma_odd_float(all) * (mma_vf)unit);

		*bad |= (h & 0x7c00) == 0x7c00;
		return mma_widen(h & (h != 0x8000)); /* what is rounded to zero is +0 */
	}
	d = mma_cut_float(all) * (mma_vf)unit;
	if (round->cut) {
		*bad |= ((mma_vi)d & 0x7fffffff) == 0x7f800000;
		d = (mma_vf)((mma_vi)d & ~((1 << (23 - round->cut)) - 1));
	}
	return d;
}

/* One chunk of a block. none: outputs may have no product but zeros. */
MMA_INLINE mma_vi mma_chunk(const struct mma_lay *lay, bool narrow, bool none,
			    const struct mma_round *round, const struct mma_left *l,
			    const struct mma_right *r, u32 first, u32 chunk, const mma_vi *m,
			    struct mma_sums *c)
{
	mma_vi bad = {0}, scale[MMA_CHUNK][2], sum[MMA_CHUNK][2];
	mma_vf(*x)[2] = &c->value[chunk * MMA_CHUNK];
	s32 fraction = round->fraction;

#define SCALE(v, p)                                                                                \
	scale[v][p] = mma_exponent(narrow, none, mma_top_of(narrow, m[v], p),                      \
				   mma_field((mma_vi)x[v][p], round, none), &bad);           \
	scale[v][p] = ((narrow ? 127 + MMA_DOWN : 254) + fraction - scale[v][p]) << 23;
#define FINISH(v, p)                                                                               \
	x[v][p] = mma_finish(sum[v][p], x[v][p],                                                   \
			     ((narrow ? 127 + MMA_DOWN : 254) << 23) - scale[v][p], round, &bad);
	MMA_EACH(SCALE)
	mma_products(lay, narrow, l, r, first, chunk, (const mma_vi(*)[2])scale, sum);
	MMA_EACH(FINISH)
#undef SCALE
#undef FINISH
	return bad;
}

/* One block of groups from `first` on, with the accumulators; anything in the result: it is not right. */
MMA_INLINE mma_vi mma_block_of(const struct mma_lay *lay, bool narrow,
			       const struct mma_round *round, const struct mma_left *l,
			       const struct mma_right *r, u32 first, struct mma_sums *c)
{
	mma_vi bad = {0}, m[MMA_CHUNK];

	for (u32 chunk = 0; chunk < MMA_VECTORS / MMA_CHUNK; chunk++) {
		mma_tops(lay, narrow, l, r, first, chunk, m);
		if (narrow && !mma_lacks_products(m))
			bad |= mma_chunk(lay, narrow, false, round, l, r, first, chunk, m, c);
		else
			bad |= mma_chunk(lay, narrow, true, round, l, r, first, chunk, m, c);
	}
	return bad;
}

static __attribute__((noinline)) bool
mma_block_f32(const struct mma_lay *lay, const struct mma_round *round, const struct mma_left *l,
	      const struct mma_right *r, u32 first, struct mma_sums *c)
{
	struct mma_round x = {round->fraction, round->below, 0, false};

	return !mma_any(mma_block_of(lay, true, &x, l, r, first, c));
}

static __attribute__((noinline)) bool
mma_block_f16(const struct mma_lay *lay, const struct mma_round *round, const struct mma_left *l,
	      const struct mma_right *r, u32 first, struct mma_sums *c)
{
	struct mma_round x = {round->fraction, round->below, 0, true};

	return !mma_any(mma_block_of(lay, true, &x, l, r, first, c));
}

static __attribute__((noinline)) bool
mma_block_cut(const struct mma_lay *lay, const struct mma_round *round, const struct mma_left *l,
	      const struct mma_right *r, u32 first, struct mma_sums *c)
{
	struct mma_round x = {round->fraction, round->below, round->cut, false};

	return !mma_any(mma_block_of(lay, true, &x, l, r, first, c));
}

static __attribute__((noinline)) bool
mma_block_wide(const struct mma_lay *lay, const struct mma_round *round, const struct mma_left *l,
	       const struct mma_right *r, u32 first, struct mma_sums *c)
{
	struct mma_round x = {round->fraction, round->below, 0, false};

	return !mma_any(mma_block_of(lay, false, &x, l, r, first, c));
}

/* All blocks of a tile. False: something has to be done in another way. */
static bool mma_sum_blocks(const struct mma_lay *lay, const struct mma_round *round,
			   const struct mma_left *l, const struct mma_right *r, struct mma_sums *c)
{
	bool ok = true;

	for (u32 b = 0; ok && b < lay->blocks; b++) {
		u32 first = b * lay->groups;

		if (!lay->narrow)
			ok = mma_block_wide(lay, round, l, r, first, c);
		else if (round->half)
			ok = mma_block_f16(lay, round, l, r, first, c);
		else if (round->cut)
			ok = mma_block_cut(lay, round, l, r, first, c);
		else
			ok = mma_block_f32(lay, round, l, r, first, c);
	}
	return ok;
}

/* Exponents that the sums cannot take: of infinities and NaN, and products at the ends of f32. */
MMA_INLINE bool mma_is_plain_left(const struct mma_lay *lay, const struct mma_left *l, s32 *least,
			      s32 *most)
{
	u32 n = (u32)lay->blocks * lay->groups;
	mma_vi odd = {0};
	mma_vh high = {0}, low = {0};

	if (lay->narrow) {
		for (u32 g = 0; g < n; g++)
			for (u32 v = 0; v < MMA_VECTORS; v++)
				odd |= (mma_vi)((mma_vub)l->exponent[g][v] >= MMA_BYTE_ODD);
		*least = *most = 0;
		return !mma_any(odd);
	}
	for (u32 g = 0; g < n; g++)
		for (u32 v = 0; v < MMA_VECTORS; v++) {
			mma_vh e = (mma_vh)l->exponent[g][v];

			high = mma_max_half(high, e);
			low = mma_max_half(low, -(e & (mma_vh)(e > MMA_HALF_ODD - 1000)));
		}
	*least = *most = 0;
	for (u32 i = 0; i < 2 * MMA_W; i++) {
		*most = high[i] > *most ? high[i] : *most;
		*least = -low[i] < *least ? -low[i] : *least;
	}
	return *most < MMA_HALF_ODD;
}

MMA_INLINE bool mma_is_plain_right(const struct mma_lay *lay, const struct mma_right *r, s32 *least,
			       s32 *most)
{
	u32 n = (u32)lay->blocks * lay->groups;
	mma_vi odd = {0};
	mma_vh high = {0}, low = {0}, h;

	for (u32 g = 0; g < n; g++)
		for (u32 i = 0; i < 128 / (4 * MMA_W); i++) {
			mma_vi e = mma_load(r->exponent[g] + 4 * MMA_W * i);

			if (lay->narrow) {
				odd |= (mma_vi)((mma_vub)e >= MMA_BYTE_ODD + MMA_BYTE_RIGHT);
				continue;
			}
			h = (mma_vh)e - 127;
			high = mma_max_half(high, h);
			low = mma_max_half(low, -(h & (mma_vh)(h > MMA_HALF_ODD - 1000)));
		}
	*least = *most = 0;
	if (lay->narrow)
		return !mma_any(odd);
	for (u32 i = 0; i < 2 * MMA_W; i++) {
		*most = high[i] > *most ? high[i] : *most;
		*least = -low[i] < *least ? -low[i] : *least;
	}
	return *most < MMA_HALF_ODD;
}

/* Of wide exponents: products stay inside f32, exact. */
static inline bool mma_in_range(s32 least_a, s32 most_a, s32 least_b, s32 most_b)
{
	return most_a + most_b <= 125 && least_a + least_b >= -100;
}

#endif
