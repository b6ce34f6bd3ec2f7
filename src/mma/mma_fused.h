/*
 * Sums of products as tensor cores make them (see mma_tile.h for the rule), for 16 rows and 8
 * columns of decoded factors, a column at a time in vectors of rows. Exponents first: the largest
 * of each output; then every product, exact in f32, is scaled by a power of two and cut to an
 * integer, the integers added, and the sum rounded once. What does not fit that is left to
 * mma_tile.h: infinities and NaN, exponents at the ends of f32, sums beyond 31 bits.
 */
#ifndef PL_EXEC_MMA_FUSED_H
#define PL_EXEC_MMA_FUSED_H

#include "src/mma/mma_plane.h"

/*
 * Exponents of outputs, as f32 has them in its field: with a bias of 127. Powers of two here stay
 * inside f32.
 */
#define MMA_LEAST_NARROW (127 - 60)
#define MMA_MOST_NARROW (127 + 60)
#define MMA_LEAST_WIDE (127 - 101)
#define MMA_MOST_WIDE 254

/* Something of each output: by column, vectors of rows. */
struct mma_outputs {
	mma_vi at[MMA_TILE_COLUMNS][MMA_PER_ROWS];
};

/* The accumulators of a tile. */
struct mma_sums {
	mma_vf value[MMA_TILE_COLUMNS][MMA_PER_ROWS];
};

/* How the sum of a block is rounded, and what it is made of. */
struct mma_round {
	u8 fraction; /* bits below the largest exponent */
	u8 below;    /* see struct mma_rule */
	u8 cut;      /* f32 keeps so many; 0: all */
	bool half;   /* accumulators are f16 */
};

/* As bytes or halves. */
MMA_INLINE mma_vi mma_add_exponents(bool narrow, mma_vi a, mma_vi b)
{
	return narrow ? (mma_vi)((mma_vub)a + (mma_vub)b) : (mma_vi)((mma_vh)a + (mma_vh)b);
}

/* The larger one of `top` and a + b. */
MMA_INLINE mma_vi mma_top(bool narrow, mma_vi top, mma_vi a, mma_vi b)
{
	mma_vi sum = mma_add_exponents(narrow, a, b);

	if (narrow)
		return (mma_vi)mma_max_byte((mma_vub)sum, (mma_vub)top);
	return (mma_vi)mma_max_half((mma_vh)sum, (mma_vh)top);
}

/* The largest byte or half of each word becomes its upper one. */
MMA_INLINE mma_vi mma_top_of_word(bool narrow, mma_vi m)
{
	if (!narrow)
		return (mma_vi)mma_max_half((mma_vh)m, (mma_vh)(m << 16));
	m = (mma_vi)mma_max_byte((mma_vub)m, (mma_vub)(m << 8));
	return (mma_vi)mma_max_byte((mma_vub)m, (mma_vub)(m << 16));
}

/*
 * The largest exponents of products, in the upper byte or half of words. The least of them all:
 * is there an output without any product that is not zero (of wide factors that is not looked for)?
 */
MMA_INLINE bool mma_tops(const struct mma_lay *lay, bool narrow, const struct mma_left *l,
			 const struct mma_right *r, u32 first, struct mma_outputs *top)
{
	mma_vub least = (mma_vub){0} - 1;

	MMA_UNROLL_WIDE
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
		MMA_UNROLL
	for (u32 v = 0; v < MMA_PER_ROWS; v++) {
		mma_vi m = mma_add_exponents(narrow, l->exponent[4 * first][v],
					     mma_splat(r->exponent[first][4 * j]));

		MMA_UNROLL
		for (u32 t = 1; t < 4; t++)
			m = mma_top(narrow, m, l->exponent[4 * first + t][v],
				    mma_splat(r->exponent[first][4 * j + t]));
		for (u32 g = first + 1; g < first + lay->groups; g++)
			MMA_UNROLL
		for (u32 t = 0; t < 4; t++)
			m = mma_top(narrow, m, l->exponent[4 * g + t][v],
				    mma_splat(r->exponent[g][4 * j + t]));
		m = mma_top_of_word(narrow, m);
		least = mma_min_byte(least, (mma_vub)m);
		top->at[j][v] = m;
	}
	return narrow && !mma_any((mma_vi)((mma_vu)least >> 24 < MMA_BYTE_LEAST));
}

/*
 * Exponents are in the place that they have in f32 here, 0 standing for none; below may be
 * anything. Of products:
 */
MMA_INLINE mma_vi mma_top_field(bool narrow, bool none, mma_vi m)
{
	mma_vi top = (mma_vi)((mma_vu)m >> 1);

	if (!narrow)
		return mma_max(m >> 16, (mma_vi){0}) << 23;
	if (none)
		top &= top >= MMA_BYTE_LEAST << 23;
	return top;
}

/*
 * Of an accumulator: of f16 the least is 2^-14. Zero has none, but in f16, where small products
 * reach it, that of the least sum; with f32 sums mma_tile.h makes those.
 */
MMA_INLINE mma_vi mma_field(mma_vi c, const struct mma_round *round, bool none)
{
	mma_vi field = c & 0x7fffffff, zero = (mma_vi)(field == 0);

	if (round->half)
		return mma_pick(zero, mma_splat((u32)(113 - round->below) << 23),
				mma_max(field, mma_splat(113 << 23)));
	if (none)
		return mma_max(field, mma_splat(1 << 23)) & ~zero;
	return field;
}

/* What tells that the sums of a block are not right: see mma_is_sound. */
struct mma_signs {
	mma_vi exponent; /* the largest one */
	mma_vf sum;      /* the largest one, or its opposite */
	mma_vi bad;      /* not zero: something is */
};

/* The larger exponent. */
MMA_INLINE mma_vi mma_exponent(bool narrow, bool none, mma_vi top, mma_vi field,
			       struct mma_signs *signs)
{
	s32 least = (narrow ? MMA_LEAST_NARROW : MMA_LEAST_WIDE) << 23;
	mma_vi e = mma_max(top, field) & MMA_NUMBER(exponent);

	signs->exponent = mma_max(signs->exponent, e);
	if (none) {
		signs->bad |= (e < least) & (e != 0);
		e = mma_max(e, mma_splat((u32)least));
	}
	return e;
}

/*
 * A product as an integer. Narrow: `scale` is added to the exponent, and the values of A are
 * smaller by 2^MMA_DOWN, so that this leaves a zero below 1. Wide: it is a number.
 */
MMA_INLINE mma_vi mma_term(bool narrow, mma_vf a, mma_vf b, mma_vi scale)
{
	mma_vf p = a * b;

	if (narrow)
		return mma_to_int((mma_vf)((mma_vi)p + scale));
	return mma_to_int(p * (mma_vf)scale);
}

/* The products of column j in a block, scaled, cut and added. */
MMA_INLINE void mma_products(const struct mma_lay *lay, bool narrow, const struct mma_left *l,
			     const struct mma_right *r, u32 first, u32 j, const mma_vi *scale,
			     mma_vi *sum)
{
	const u32 slots = narrow ? 4 : 2;

	MMA_UNROLL
	for (u32 v = 0; v < MMA_PER_ROWS; v++)
		sum[v] = (mma_vi){0};
	MMA_UNROLL
	for (u32 plane = first * slots; plane < (first + lay->groups) * slots; plane++) {
		const mma_vf(*a)[MMA_PER_ROWS] = &l->value[4 * plane];
		const f32 *b = &r->value[plane][4 * j];

		if (!(lay->slots >> plane % slots & 1))
			continue;
		MMA_UNROLL
		for (u32 t = 0; t < 4; t++) {
			mma_vf y = mma_splat_float(b[t]);

			MMA_UNROLL
			for (u32 v = 0; v < MMA_PER_ROWS; v++)
				sum[v] += mma_term(narrow, a[t][v], y, scale[v]);
		}
	}
}

/* The accumulator joins, and the sum is rounded. */
MMA_INLINE mma_vf mma_finish(mma_vi sum, mma_vf c, mma_vi exponent, const struct mma_round *round,
			     struct mma_signs *signs)
{
	mma_vi unit = exponent - (round->fraction << 23);
	mma_vi scale = ((254 + round->fraction) << 23) - exponent;
	mma_vi all = (mma_vi)((mma_vu)sum + (mma_vu)mma_to_int(c * (mma_vf)scale));
	mma_vf d = mma_cut_float(all);

	signs->sum = mma_larger(signs->sum, d);
	if (round->half) {
		mma_vi h = mma_narrow_half(mma_odd_float(all, d) * (mma_vf)unit);

		signs->bad |= (h & 0x7c00) == 0x7c00;
		return mma_widen(h & (h != 0x8000)); /* what is rounded to zero is +0 */
	}
	d *= (mma_vf)unit;
	if (round->cut) {
		signs->bad |= ((mma_vi)d & 0x7fffffff) == 0x7f800000;
		d = (mma_vf)((mma_vi)d & ~((1 << (23 - round->cut)) - 1));
	}
	return d;
}

/*
 * Exponents were in range, and sums in 31 bits: products alone are, the accumulator has 26 bits; so
 * what lies as close to the end as that may be wrong.
 */
MMA_INLINE bool mma_is_sound(bool narrow, const struct mma_signs *signs)
{
	mma_vi odd = signs->bad;

	odd |= signs->exponent > (narrow ? MMA_MOST_NARROW : MMA_MOST_WIDE) << 23;
	odd |= ((mma_vi)signs->sum & 0x7fffffff) >= (mma_vi)mma_splat_float(0x1.fp30f);
	return !mma_any(odd);
}

/*
 * The columns of a block. none: outputs may have no product but zeros. One step for all columns
 * after the other: then nothing has to wait for what was begun just before.
 */
MMA_INLINE bool mma_columns(const struct mma_lay *lay, bool narrow, bool none,
			    const struct mma_round *round, const struct mma_left *l,
			    const struct mma_right *r, u32 first, const struct mma_outputs *top,
			    struct mma_sums *c)
{
	const s32 above = ((narrow ? 127 + MMA_DOWN : 254) + round->fraction) << 23;
	struct mma_signs signs = {{0}, {0}, {0}};
	struct mma_outputs e, sum;

	MMA_UNROLL_WIDE
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
		MMA_UNROLL
	for (u32 v = 0; v < MMA_PER_ROWS; v++)
		e.at[j][v] = mma_exponent(narrow, none, mma_top_field(narrow, none, top->at[j][v]),
					  mma_field((mma_vi)c->value[j][v], round, none), &signs);
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++) {
		mma_vi scale[MMA_PER_ROWS];

		MMA_UNROLL
		for (u32 v = 0; v < MMA_PER_ROWS; v++)
			scale[v] = above - e.at[j][v];
		mma_products(lay, narrow, l, r, first, j, scale, sum.at[j]);
	}
	MMA_UNROLL_WIDE
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
		MMA_UNROLL
	for (u32 v = 0; v < MMA_PER_ROWS; v++)
		c->value[j][v] =
			mma_finish(sum.at[j][v], c->value[j][v], e.at[j][v], round, &signs);
	return mma_is_sound(narrow, &signs);
}

/*
 * How a block went. MMA_LACKS: some output has no product but zeros, which was not reckoned with;
 * nothing is done.
 */
enum mma_verdict { MMA_RIGHT, MMA_WRONG, MMA_LACKS };

/*
 * One block of groups from `first` on, with the accumulators. none: such outputs are reckoned with.
 */
MMA_INLINE enum mma_verdict mma_block_of(const struct mma_lay *lay, bool narrow, bool none,
					 const struct mma_round *round, const struct mma_left *l,
					 const struct mma_right *r, u32 first, struct mma_sums *c)
{
	struct mma_outputs top;

	if (!mma_tops(lay, narrow, l, r, first, &top) && !none)
		return MMA_LACKS;
	return mma_columns(lay, narrow, none, round, l, r, first, &top, c) ? MMA_RIGHT : MMA_WRONG;
}

/*
 * ---- exponents that the sums cannot take: of infinities and NaN, and products at the ends of f32
 * ----
 */

/* The largest and the least exponent of wide factors, zeros left out. */
struct mma_range {
	mma_vh high, low;
};

MMA_INLINE void mma_widen_range(struct mma_range *x, mma_vh e)
{
	x->high = mma_max_half(x->high, e);
	x->low = mma_max_half(x->low, -(e & (mma_vh)(e > MMA_HALF_NONFINITE - 1000)));
}

MMA_INLINE void mma_range_of(const struct mma_range *x, s32 *least, s32 *most)
{
	*least = *most = 0;
	for (u32 i = 0; i < 2 * MMA_W; i++) {
		*most = x->high[i] > *most ? x->high[i] : *most;
		*least = -x->low[i] < *least ? -x->low[i] : *least;
	}
}

MMA_INLINE bool mma_is_plain_left(const struct mma_lay *lay, const struct mma_left *l, s32 *least,
				  s32 *most)
{
	u32 n = 4u * lay->blocks * lay->groups;
	struct mma_range range = {{0}, {0}};
	mma_vub top = {0};

	*least = *most = 0;
	for (u32 i = 0; i < n; i++)
		MMA_UNROLL
	for (u32 v = 0; v < MMA_PER_ROWS; v++) {
		if (lay->narrow)
			top = mma_max_byte(top, (mma_vub)l->exponent[i][v]);
		else
			mma_widen_range(&range, (mma_vh)l->exponent[i][v]);
	}
	if (lay->narrow)
		return !mma_any((mma_vi)(top >= MMA_BYTE_NONFINITE));
	mma_range_of(&range, least, most);
	return *most < MMA_HALF_NONFINITE;
}

MMA_INLINE bool mma_is_plain_right(const struct mma_lay *lay, const struct mma_right *r, s32 *least,
				   s32 *most)
{
	u32 n = (u32)lay->blocks * lay->groups;
	struct mma_range range = {{0}, {0}};
	mma_vub top = {0};

	*least = *most = 0;
	for (u32 g = 0; g < n; g++)
		for (u32 v = 0; v < MMA_FRAGMENT_WORDS / MMA_W; v++) {
			mma_vi e = mma_load(r->exponent[g] + v * MMA_W);

			if (lay->narrow)
				top = mma_max_byte(top, (mma_vub)e);
			else
				mma_widen_range(&range, (mma_vh)e - 127);
		}
	if (lay->narrow)
		return !mma_any((mma_vi)(top >= MMA_BYTE_NONFINITE + MMA_BYTE_RIGHT));
	mma_range_of(&range, least, most);
	return *most < MMA_HALF_NONFINITE;
}

/* Of wide exponents: products stay inside f32, exact. */
static inline bool mma_in_range(s32 least_a, s32 most_a, s32 least_b, s32 most_b)
{
	return most_a + most_b <= 125 && least_a + least_b >= -100;
}

/* ---- accumulators of a tile ---- */

/*
 * Where the halves of a tile are: [parity of the column][half]; f16 has both parities in one
 * register.
 */
struct mma_ends {
	const u32 *c[2][2];
	u32 *d[2][2];
};

MMA_INLINE void mma_take_tile(const struct mma_ends *e, bool half, struct mma_sums *s)
{
	struct mma_words even, odd;

	mma_take_words(e->c[0][0], e->c[0][1], &even);
	if (!half)
		mma_take_words(e->c[1][0], e->c[1][1], &odd);
	MMA_UNROLL
	for (u32 t = 0; t < 4; t++)
		MMA_UNROLL
	for (u32 v = 0; v < MMA_PER_ROWS; v++) {
		mma_vi w = even.at[t][v];

		s->value[2 * t][v] = half ? mma_widen(w) : (mma_vf)w;
		s->value[2 * t + 1][v] =
			half ? mma_widen((mma_vi)((mma_vu)w >> 16)) : (mma_vf)odd.at[t][v];
	}
}

MMA_INLINE void mma_give_tile(const struct mma_ends *e, bool half, const struct mma_sums *s)
{
	struct mma_words even, odd;

	MMA_UNROLL
	for (u32 t = 0; t < 4; t++)
		MMA_UNROLL
	for (u32 v = 0; v < MMA_PER_ROWS; v++) {
		mma_vf x = s->value[2 * t][v], y = s->value[2 * t + 1][v];

		even.at[t][v] = (mma_vi)x;
		odd.at[t][v] = (mma_vi)y;
		if (half)
			even.at[t][v] = mma_narrow_half(x) | mma_narrow_half(y) << 16;
	}
	mma_give_words(&even, e->d[0][0], e->d[0][1]);
	if (!half)
		mma_give_words(&odd, e->d[1][0], e->d[1][1]);
}

/* f16 infinities look like large numbers after widening. */
MMA_INLINE bool mma_sums_are_plain(const struct mma_sums *s, bool half)
{
	mma_vi bad = {0};

	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
		MMA_UNROLL
	for (u32 v = 0; v < MMA_PER_ROWS; v++)
		bad |= ((mma_vi)s->value[j][v] & 0x7fffffff) >= (half ? 0x47800000 : 0x7f800000);
	return !mma_any(bad);
}

#endif
