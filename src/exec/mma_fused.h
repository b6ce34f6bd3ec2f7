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

#define MMA_EXPONENT_LEAST (-101) /* so that no power of two here leaves the range of f32 */
#define MMA_EXPONENT_NONE (-5000)
#define MMA_CHUNK 4               /* vectors of rows that are summed at once */
#define MMA_EACH_CHUNK(i) for (u32 i = 0; i < MMA_CHUNK; i++)
#define MMA_EACH_PARITY(p) for (u32 p = 0; p < 2; p++)

/* The accumulators of a tile, in fragments: vectors of rows by parity of the column. */
struct mma_sums {
	mma_vf value[MMA_VECTORS][2];
};

/* How the sum of a block is rounded, and what it is made of. */
struct mma_round {
	u8 fraction; /* bits below the largest exponent */
	u8 cut;      /* f32 keeps so many; 0: all */
	bool half;   /* accumulators are f16 */
};

/* Largest exponents of products, eight columns to a row, as bytes or halves: the first four vectors of a chunk. */
MMA_INLINE void mma_tops(const struct mma_lay *lay, bool narrow, const struct mma_left *l,
			 const struct mma_right *r, u32 first, u32 chunk, mma_vi (*top)[2])
{
	static const u8 even[16] = {0, 128, 128, 128, 1, 128, 128, 128, 2, 128, 128, 128, 3, 128, 128, 128};
	static const u8 odd[16] = {4, 128, 128, 128, 5, 128, 128, 128, 6, 128, 128, 128, 7, 128, 128, 128};
	static const u8 wide[2][16] = {{0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7},
				       {8, 9, 8, 9, 10, 11, 10, 11, 12, 13, 12, 13, 14, 15, 14, 15}};
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
	mma_vi m[MMA_CHUNK];

	MMA_EACH_CHUNK(v)
	m[v] = (mma_vi)((mma_vh){0} + (s16)(narrow ? 0 : 2 * MMA_HALF_NONE));
	for (u32 g = first; g < first + lay->groups; g++)
		for (u32 i = 0; i < 8; i++) {
			mma_vi b = mma_each_row(r->exponent[g] + 16 * i);

			MMA_EACH_CHUNK(v)
			{
				mma_vi a = l->exponent[g][chunk * MMA_CHUNK + v];

				if (narrow)
					m[v] = (mma_vi)mma_max_byte((mma_vub)mma_choose(a, pair[i]) + (mma_vub)b,
								    (mma_vub)m[v]);
				else
					m[v] = (mma_vi)mma_max_half((mma_vh)mma_choose(a, same[i]) + (mma_vh)b,
								    (mma_vh)m[v]);
			}
		}
	MMA_EACH_CHUNK(v)
	if (narrow) {
		m[v] = (mma_vi)mma_max_byte((mma_vub)m[v], (mma_vub)mma_choose(m[v], other));
		MMA_EACH_PARITY(p)
		{
			mma_vi t = mma_choose(m[v], p ? odd : even);

			top[v][p] = mma_pick(t < MMA_BYTE_LEAST, (mma_vi){0} + MMA_EXPONENT_NONE,
					     t - 2 * MMA_BYTE_BIAS);
		}
	} else {
		MMA_EACH_PARITY(p)
		top[v][p] = mma_choose(m[v], wide[p]) >> 16;
	}
}

/* The scale of each output, 2 to the power of fraction - exponent; `bad` where that does not do. */
MMA_INLINE mma_vi mma_scales(mma_vi c, mma_vi top, const struct mma_round *round, mma_vi *bad)
{
	mma_vi x = c & 0x7fffffff, field = (mma_vi)((mma_vu)x >> 23), e = mma_max(field - 127, (mma_vi){0} + (round->half ? -14 : -126));

	e = mma_max(mma_pick(x == 0, (mma_vi){0} + MMA_EXPONENT_NONE, e), top);
	*bad |= (field == 255) | ((e < MMA_EXPONENT_LEAST) & (e > -1000));
	e = mma_max(e, (mma_vi){0} + MMA_EXPONENT_LEAST);
	return (127 + (s32)round->fraction - e) << 23;
}

/* One chunk of a block: sums += products, scaled and cut. */
MMA_INLINE void mma_products(const struct mma_lay *lay, u32 slots, const struct mma_left *l, const struct mma_right *r,
			     u32 first, u32 chunk, const mma_vi (*scale)[2], mma_vi (*sum)[2])
{
	mma_vi s[MMA_CHUNK][2] = {{{0}}};

	for (u32 plane = first * slots; plane < (first + lay->groups) * slots; plane++) {
		const mma_vf *a = &l->value[plane][chunk * MMA_CHUNK];

		if (!(lay->slots >> plane % slots & 1))
			continue;
#define MMA_STEP(t)                                                                                          \
	do {                                                                                                 \
		mma_vf b0 = (mma_vf)mma_each_row(r->value[4 * plane + t]);                                   \
		mma_vf b1 = (mma_vf)mma_each_row(r->value[4 * plane + t] + 4);                               \
													     \
		MMA_EACH_CHUNK(v)                                                                            \
		{                                                                                            \
			mma_vf x = MMA_SPREAD(a[v], t);                                                      \
													     \
			s[v][0] += mma_to_int(x * b0 * (mma_vf)scale[v][0]);                                 \
			s[v][1] += mma_to_int(x * b1 * (mma_vf)scale[v][1]);                                 \
		}                                                                                            \
	} while (0)
		MMA_STEP(0);
		MMA_STEP(1);
		MMA_STEP(2);
		MMA_STEP(3);
#undef MMA_STEP
	}
	MMA_EACH_CHUNK(v)
	MMA_EACH_PARITY(p)
	sum[v][p] = s[v][p];
}

/* The accumulator joins, and the sum is rounded. */
MMA_INLINE mma_vf mma_finish(mma_vi sum, mma_vf c, mma_vi scale, const struct mma_round *round, mma_vi *bad)
{
	mma_vf unit = (mma_vf)((254 << 23) - scale), d;
	mma_vi cut = mma_to_int(c * (mma_vf)scale), all = (mma_vi)((mma_vu)sum + (mma_vu)cut);

	*bad |= ((sum ^ all) & (cut ^ all)) >> 31;
	if (round->half)
		return mma_widen(mma_narrow_half(mma_odd_float(all) * unit));
	d = mma_cut_float(all) * unit;
	if (round->cut) {
		*bad |= ((mma_vi)d & 0x7fffffff) == 0x7f800000;
		d = (mma_vf)((mma_vi)d & ~((1 << (23 - round->cut)) - 1));
	}
	return d;
}

/* One block of groups from `first` on, with the accumulators; anything in the result: it is not right. */
MMA_INLINE mma_vi mma_block_of(const struct mma_lay *lay, bool narrow, const struct mma_round *round,
			       const struct mma_left *l, const struct mma_right *r, u32 first, struct mma_sums *c)
{
	mma_vi bad = {0}, top[MMA_CHUNK][2], scale[MMA_CHUNK][2], sum[MMA_CHUNK][2];

	for (u32 chunk = 0; chunk < MMA_VECTORS / MMA_CHUNK; chunk++) {
		mma_vf(*x)[2] = &c->value[chunk * MMA_CHUNK];

		mma_tops(lay, narrow, l, r, first, chunk, top);
		MMA_EACH_CHUNK(v)
		MMA_EACH_PARITY(p)
		scale[v][p] = mma_scales((mma_vi)x[v][p], top[v][p], round, &bad);
		mma_products(lay, narrow ? 4 : 2, l, r, first, chunk, (const mma_vi(*)[2])scale, sum);
		MMA_EACH_CHUNK(v)
		MMA_EACH_PARITY(p)
		x[v][p] = mma_finish(sum[v][p], x[v][p], scale[v][p], round, &bad);
	}
	return bad;
}

/* All blocks of a tile. False: something has to be done in another way. */
static bool mma_sum_blocks(const struct mma_lay *lay, const struct mma_round *round, const struct mma_left *l,
			   const struct mma_right *r, struct mma_sums *c)
{
	mma_vi bad = {0};

	for (u32 b = 0; b < lay->blocks; b++) {
		u32 first = b * lay->groups;

		if (lay->narrow && round->half)
			bad |= mma_block_of(lay, true, &(struct mma_round){round->fraction, round->cut, true}, l, r, first, c);
		else if (lay->narrow)
			bad |= mma_block_of(lay, true, &(struct mma_round){round->fraction, round->cut, false}, l, r, first, c);
		else
			bad |= mma_block_of(lay, false, &(struct mma_round){round->fraction, round->cut, false}, l, r, first, c);
	}
	return !mma_any(bad);
}

/* Exponents that the sums cannot take: of infinities and NaN, and products at the ends of f32. */
static bool mma_is_plain_left(const struct mma_lay *lay, const struct mma_left *l, s32 *least, s32 *most)
{
	u32 n = (u32)lay->blocks * lay->groups;
	mma_vi odd = {0};
	mma_vh high = {0}, low = {0};

	if (lay->narrow) {
		for (u32 g = 0; g < n; g++)
			for (u32 v = 0; v < MMA_VECTORS; v++)
				odd |= (mma_vi)((mma_vub)l->exponent[g][v] == MMA_BYTE_ODD);
		*least = *most = 0;
		return !mma_any(odd);
	}
	for (u32 g = 0; g < n; g++)
		for (u32 v = 0; v < MMA_VECTORS; v++) {
			mma_vh e = (mma_vh)l->exponent[g][v];

			high = mma_max_half(high, e);
			low = mma_max_half(low, -(e & (mma_vh)(e != MMA_HALF_NONE)));
		}
	*least = *most = 0;
	for (u32 i = 0; i < 2 * MMA_W; i++) {
		*most = high[i] > *most ? high[i] : *most;
		*least = -low[i] < *least ? -low[i] : *least;
	}
	return *most < MMA_HALF_ODD;
}

static bool mma_is_plain_right(const struct mma_lay *lay, const struct mma_right *r, s32 *least, s32 *most)
{
	u32 n = (u32)lay->blocks * lay->groups;
	mma_vi odd = {0};
	mma_vh high = {0}, low = {0};

	for (u32 g = 0; g < n; g++)
		for (u32 i = 0; i < 128 / (4 * MMA_W); i++) {
			mma_vi e = mma_load(r->exponent[g] + 4 * MMA_W * i);

			if (lay->narrow) {
				odd |= (mma_vi)((mma_vub)e == MMA_BYTE_ODD);
				continue;
			}
			high = mma_max_half(high, (mma_vh)e);
			low = mma_max_half(low, -((mma_vh)e & (mma_vh)((mma_vh)e != MMA_HALF_NONE)));
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
