/*
 * Sums of products as tensor cores make them (tile_sum.c has the rule), of planes: a column at a
 * time in vectors of rows. Exponents first: the largest of each output; then every product, exact
 * in f32, is scaled by a power of two and cut to an integer, the integers added, and the sum
 * rounded once. What does not fit that is left to tile_sum.c: infinities and NaN, exponents at the
 * ends of f32, sums beyond 31 bits.
 */
#include "src/mma/mma_plane.h"

/*
 * Exponents of outputs, as f32 has them in its field: with a bias of 127. Powers of two here stay
 * inside f32.
 */
#define LEAST_NARROW (127 - 60)
#define MOST_NARROW (127 + 60)
#define LEAST_WIDE (127 - 101)
#define MOST_WIDE 254

/* Something of each output: by column, vectors of rows. */
struct outputs {
	mma_vi at[MMA_TILE_COLUMNS][MMA_PER_ROWS];
};

/* The accumulators of a tile. */
struct tile_sums {
	mma_vf value[MMA_TILE_COLUMNS][MMA_PER_ROWS];
};

/* As bytes or halves. */
MMA_INLINE mma_vi add_exponents(bool narrow, mma_vi a, mma_vi b)
{
	return narrow ? (mma_vi)((mma_vub)a + (mma_vub)b) : (mma_vi)((mma_vh)a + (mma_vh)b);
}

/* The larger one of `top` and a + b. */
MMA_INLINE mma_vi larger_exponent(bool narrow, mma_vi top, mma_vi a, mma_vi b)
{
	mma_vi sum = add_exponents(narrow, a, b);

	if (narrow)
		return (mma_vi)mma_max_byte((mma_vub)sum, (mma_vub)top);
	return (mma_vi)mma_max_half((mma_vh)sum, (mma_vh)top);
}

/* The largest byte or half of each word becomes its upper one. */
MMA_INLINE mma_vi top_of_word(bool narrow, mma_vi m)
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
MMA_INLINE bool block_tops(const struct mma_lay *lay, bool narrow, const struct mma_left *l,
			   const struct mma_right *r, u32 first, struct outputs *top)
{
	mma_vub least = (mma_vub){0} - 1;

	MMA_UNROLL_WIDE
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
		MMA_UNROLL
	for (u32 v = 0; v < MMA_PER_ROWS; v++) {
		mma_vi m = add_exponents(narrow, l->exponent[4 * first][v],
					 mma_splat(r->exponent[first][4 * j]));

		MMA_UNROLL
		for (u32 t = 1; t < 4; t++)
			m = larger_exponent(narrow, m, l->exponent[4 * first + t][v],
					    mma_splat(r->exponent[first][4 * j + t]));
		for (u32 g = first + 1; g < first + lay->groups; g++)
			MMA_UNROLL
		for (u32 t = 0; t < 4; t++)
			m = larger_exponent(narrow, m, l->exponent[4 * g + t][v],
					    mma_splat(r->exponent[g][4 * j + t]));
		m = top_of_word(narrow, m);
		least = mma_min_byte(least, (mma_vub)m);
		top->at[j][v] = m;
	}
	return narrow && !mma_any((mma_vi)((mma_vu)least >> 24 < MMA_BYTE_LEAST));
}

/*
 * Exponents are in the place that they have in f32 here, 0 standing for none; below may be
 * anything. Of products:
 */
MMA_INLINE mma_vi top_field(bool narrow, bool none, mma_vi m)
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
 * reach it, that of the least sum; with f32 sums tile_sum.c makes those.
 */
MMA_INLINE mma_vi accumulator_field(mma_vi c, const struct mma_round *round, bool none)
{
	mma_vi field = c & 0x7fffffff, zero = (mma_vi)(field == 0);

	if (round->half)
		return mma_pick(zero, mma_splat((u32)(113 - round->below) << 23),
				mma_max(field, mma_splat(113 << 23)));
	if (none)
		return mma_max(field, mma_splat(1 << 23)) & ~zero;
	return field;
}

/* What tells that the sums of a block are not right: see sums_are_sound. */
struct sum_signs {
	mma_vi exponent; /* the largest one */
	mma_vf sum;      /* the largest one, or its opposite */
	mma_vi bad;      /* not zero: something is */
};

/* The larger exponent. */
MMA_INLINE mma_vi output_exponent(bool narrow, bool none, mma_vi top, mma_vi field,
				  struct sum_signs *signs)
{
	s32 least = (narrow ? LEAST_NARROW : LEAST_WIDE) << 23;
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
MMA_INLINE mma_vi product_term(bool narrow, mma_vf a, mma_vf b, mma_vi scale)
{
	mma_vf p = a * b;

	if (narrow)
		return mma_to_int((mma_vf)((mma_vi)p + scale));
	return mma_to_int(p * (mma_vf)scale);
}

/* The products of column j in a block, scaled, cut and added. */
MMA_INLINE void column_products(const struct mma_lay *lay, bool narrow, const struct mma_left *l,
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
				sum[v] += product_term(narrow, a[t][v], y, scale[v]);
		}
	}
}

/* The accumulator joins, and the sum is rounded. */
MMA_INLINE mma_vf round_output(mma_vi sum, mma_vf c, mma_vi exponent, const struct mma_round *round,
			       struct sum_signs *signs)
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
MMA_INLINE bool sums_are_sound(bool narrow, const struct sum_signs *signs)
{
	mma_vi bad = signs->bad;

	bad |= signs->exponent > (narrow ? MOST_NARROW : MOST_WIDE) << 23;
	bad |= ((mma_vi)signs->sum & 0x7fffffff) >= (mma_vi)mma_splat_float(0x1.fp30f);
	return !mma_any(bad);
}

/*
 * The columns of a block. none: outputs may have no product but zeros. One step for all columns
 * after the other: then nothing has to wait for what was begun just before.
 */
MMA_INLINE bool block_columns(const struct mma_lay *lay, bool narrow, bool none,
			      const struct mma_round *round, const struct mma_left *l,
			      const struct mma_right *r, u32 first, const struct outputs *top,
			      struct tile_sums *c)
{
	const s32 above = ((narrow ? 127 + MMA_DOWN : 254) + round->fraction) << 23;
	struct sum_signs signs = {{0}, {0}, {0}};
	struct outputs e, sum;

	MMA_UNROLL_WIDE
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
		MMA_UNROLL
	for (u32 v = 0; v < MMA_PER_ROWS; v++)
		e.at[j][v] = output_exponent(narrow, none, top_field(narrow, none, top->at[j][v]),
					     accumulator_field((mma_vi)c->value[j][v], round, none),
					     &signs);
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++) {
		mma_vi scale[MMA_PER_ROWS];

		MMA_UNROLL
		for (u32 v = 0; v < MMA_PER_ROWS; v++)
			scale[v] = above - e.at[j][v];
		column_products(lay, narrow, l, r, first, j, scale, sum.at[j]);
	}
	MMA_UNROLL_WIDE
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
		MMA_UNROLL
	for (u32 v = 0; v < MMA_PER_ROWS; v++)
		c->value[j][v] =
			round_output(sum.at[j][v], c->value[j][v], e.at[j][v], round, &signs);
	return sums_are_sound(narrow, &signs);
}

/*
 * One block of groups from `first` on, with the accumulators. none: such outputs are reckoned with.
 */
MMA_INLINE enum mma_verdict add_block(const struct mma_lay *lay, bool narrow, bool none,
				      const struct mma_round *round, const struct mma_left *l,
				      const struct mma_right *r, u32 first, struct tile_sums *c)
{
	struct outputs top;

	if (!block_tops(lay, narrow, l, r, first, &top) && !none)
		return MMA_LACKS;
	return block_columns(lay, narrow, none, round, l, r, first, &top, c) ? MMA_RIGHT
									     : MMA_WRONG;
}

/* ---- accumulators of a tile ---- */

MMA_INLINE void load_sums(const struct mma_ends *e, bool half, struct tile_sums *s)
{
	struct mma_words even, odd;

	mma_load_words(e->c[0][0], e->c[0][1], &even);
	if (!half)
		mma_load_words(e->c[1][0], e->c[1][1], &odd);
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

MMA_INLINE void store_sums(const struct mma_ends *e, bool half, const struct tile_sums *s)
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
	mma_store_words(&even, e->d[0][0], e->d[0][1]);
	if (!half)
		mma_store_words(&odd, e->d[1][0], e->d[1][1]);
}

/* f16 infinities look like large numbers after widening. */
MMA_INLINE bool sums_are_plain(const struct tile_sums *s, bool half)
{
	mma_vi bad = {0};

	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
		MMA_UNROLL
	for (u32 v = 0; v < MMA_PER_ROWS; v++)
		bad |= ((mma_vi)s->value[j][v] & 0x7fffffff) >= (half ? 0x47800000 : 0x7f800000);
	return !mma_any(bad);
}

/* ---- tiles of one block ---- */

MMA_INLINE enum mma_verdict add_one_block(const struct mma_lay *lay, bool half, bool none,
					  const struct mma_round *round, const struct mma_ends *e,
					  const struct mma_left *l, const struct mma_right *r)
{
	const struct mma_round x = {
		.fraction = round->fraction, .below = round->below, .half = half};
	enum mma_verdict v;
	struct tile_sums s;

	load_sums(e, half, &s);
	if (half && !sums_are_plain(&s, true))
		return MMA_WRONG;
	v = add_block(lay, lay->narrow, none, &x, l, r, 0, &s);
	if (v == MMA_RIGHT)
		store_sums(e, half, &s);
	return v;
}

/* A lay that is a constant: loops and cases go when this is compiled. */
#define ONE_BLOCK(name, half, none, ...)                                                           \
	static enum mma_verdict name(PL_UNUSED const struct mma_lay *any,                          \
				     const struct mma_round *round, const struct mma_ends *e,      \
				     const struct mma_left *l, const struct mma_right *r)          \
	{                                                                                          \
		static const struct mma_lay lay = {.blocks = 1, __VA_ARGS__};                      \
                                                                                                   \
		return add_one_block(&lay, half, none, round, e, l, r);                            \
	}

ONE_BLOCK(add_f32, false, false, .narrow = true, .groups = 1, .slots = 15)
ONE_BLOCK(add_f32_lacking, false, true, .narrow = true, .groups = 1, .slots = 15)
ONE_BLOCK(add_f32_one, false, false, .narrow = true, .groups = 1, .slots = 5)
ONE_BLOCK(add_f32_one_lacking, false, true, .narrow = true, .groups = 1, .slots = 5)
ONE_BLOCK(add_f16, true, false, .narrow = true, .groups = 1, .slots = 15)
ONE_BLOCK(add_f16_lacking, true, true, .narrow = true, .groups = 1, .slots = 15)
ONE_BLOCK(add_wide, false, true, .groups = 1, .slots = 15)
ONE_BLOCK(add_wide_two, false, true, .groups = 2, .slots = 15)

/* ---- tiles of any blocks ---- */

/*
 * Blocks of one group, of two and of any, outputs having products or maybe none: functions of their
 * own, so that nothing of one is done ahead for another.
 */
static const struct mma_lay one_group = {.groups = 1, .slots = 15},
			    two_groups = {.groups = 2, .slots = 15};

typedef enum mma_verdict block_step(const struct mma_lay *lay, const struct mma_round *round,
				    const struct mma_left *l, const struct mma_right *r, u32 first,
				    struct tile_sums *c);

struct block_steps {
	block_step *one, *two, *any, *lacking;
};

#define BLOCK(name, as, narrow, none, cut, half)                                                   \
	static __attribute__((noinline)) enum mma_verdict name(                                    \
		PL_UNUSED const struct mma_lay *lay, const struct mma_round *round,                \
		const struct mma_left *l, const struct mma_right *r, u32 first,                    \
		struct tile_sums *c)                                                               \
	{                                                                                          \
		const struct mma_round x = {round->fraction, round->below, cut, half, false};      \
                                                                                                   \
		return add_block(as, narrow, none, &x, l, r, first, c);                            \
	}
/* The last two of BLOCK follow. */
#define BLOCKS(name, narrow, ...)                                                                  \
	BLOCK(name##_one, &one_group, narrow, !narrow, __VA_ARGS__)                                \
	BLOCK(name##_two, &two_groups, narrow, !narrow, __VA_ARGS__)                               \
	BLOCK(name##_any, lay, narrow, !narrow, __VA_ARGS__)                                       \
	BLOCK(name##_lacking, lay, narrow, true, __VA_ARGS__)                                      \
	static const struct block_steps name = {name##_one, name##_two, name##_any, name##_lacking};

BLOCKS(blocks_f32, true, 0, false)
BLOCKS(blocks_f16, true, 0, true)
BLOCKS(blocks_cut, true, round->cut, false)
BLOCKS(blocks_wide, false, 0, false)

static enum mma_verdict add_blocks(const struct mma_lay *lay, const struct mma_round *round,
				   const struct mma_left *l, const struct mma_right *r,
				   struct tile_sums *c)
{
	const struct block_steps *steps = !lay->narrow  ? &blocks_wide
					  : round->half ? &blocks_f16
					  : round->cut  ? &blocks_cut
							: &blocks_f32;
	block_step *block = lay->slots != 15   ? steps->any
			    : lay->groups == 1 ? steps->one
			    : lay->groups == 2 ? steps->two
					       : steps->any;
	enum mma_verdict v = MMA_RIGHT;

	for (u32 b = 0; v == MMA_RIGHT && b < lay->blocks; b++) {
		v = block(lay, round, l, r, b * lay->groups, c);
		if (v == MMA_LACKS)
			v = steps->lacking(lay, round, l, r, b * lay->groups, c);
	}
	return v;
}

/* The accumulators join after the blocks, to nearest. */
static void add_accumulators(struct tile_sums *s, const struct tile_sums *c)
{
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
		for (u32 v = 0; v < MMA_PER_ROWS; v++)
			s->value[j][v] += c->value[j][v];
}

static enum mma_verdict add_any(const struct mma_lay *lay, const struct mma_round *round,
				const struct mma_ends *e, const struct mma_left *l,
				const struct mma_right *r)
{
	struct tile_sums s, c;
	enum mma_verdict v;

	load_sums(e, round->half, &s);
	if ((round->late || round->half) && !sums_are_plain(&s, round->half))
		return MMA_WRONG; /* else the sum will tell */
	if (round->late) {
		c = s;
		memset(&s, 0, sizeof(s));
	}
	v = add_blocks(lay, round, l, r, &s);
	if (v != MMA_RIGHT)
		return v;
	if (round->late)
		add_accumulators(&s, &c);
	store_sums(e, round->half, &s);
	return MMA_RIGHT;
}

/* What reckons with outputs without products in any case has no second step. */
const struct mma_adder EXEC_NAME(mma_adders)[MMA_ADDERS] = {
	[MMA_ADD_F32] = {add_f32, add_f32_lacking},
	[MMA_ADD_F32_ONE] = {add_f32_one, add_f32_one_lacking},
	[MMA_ADD_F16] = {add_f16, add_f16_lacking},
	[MMA_ADD_WIDE] = {add_wide, NULL},
	[MMA_ADD_WIDE_TWO] = {add_wide_two, NULL},
	[MMA_ADD_ANY] = {add_any, NULL},
};
