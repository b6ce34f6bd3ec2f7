/*
 * Products of floating-point matrices: tile by tile of 16 rows and 8 columns, in vectors
 * (mma_fused.h), or where numbers do not allow that in doubles (mma_tile.h).
 */
#include "src/mma/mma_fused.h"
#include "src/mma/mma_product.h"
#include "src/mma/mma_sparse.h"
#include "src/mma/mma_tile.h"

const struct mma_numbers EXEC_NAME(mma_numbers) = {
	.size = 0x7fff7fff,
	.sign = 0x80008000,
	.even_bytes = 0x00ff00ff,
	.low_up = 1 << 13,
	.high_up = 1 << 29,
	.wide = 0x8fffe000,
	.subnormal = 0x21212121,
	.exponent = 0x7f800000,
};

/* ---- in vectors ---- */

static const u32 nothing[2 * WARP_LANES] __attribute__((aligned(64)));

static u32 sign_bits(u32 type)
{
	u32 bits = mma_bits(type);

	return bits == 32 ? 0x80000000 : bits == 16 ? 0x80008000 : 0x80808080;
}

static bool is_fp8(u32 type)
{
	return type == MMA_E4M3 || type == MMA_E5M2;
}

/* False: blocks of this length are not known to the vectors. */
static bool lay_out(const struct product *x, struct mma_lay *lay)
{
	bool sparse = x->f.flags & MMA_SPARSE;
	u32 per = 32 / mma_bits(x->f.a), k = x->f.words * per << sparse;
	u32 block = x->rule.block && x->rule.block < k ? x->rule.block : k;
	u32 groups;

	/* types of which mma_plane.h has nothing, and sums beyond 31 bits */
	if (x->f.a > MMA_E5M2 || x->f.b > MMA_E5M2 ||
	    (u64)(x->rule.sum == MMA_HALVES ? k / 2 : block) >> sparse << (x->rule.fraction + 2) >
		    (u64)1 << 31)
		return false;
	*lay = (struct mma_lay){
		.type = {x->f.a, x->f.b},
		.narrow = x->f.a == MMA_F16 || is_fp8(x->f.a),
		.normal = x->rule.sum == MMA_HALVES,
		.sparse = sparse,
		.quads = x->f.words / 4,
		.slots = 15,
		.negate = x->f.flags & MMA_NEGATE ? sign_bits(x->f.a) : 0,
	};
	if (sparse) {
		groups = k / (lay->narrow ? 16 : 8);
		lay->blocks = (u8)(lay->normal ? 2 : k / block);
		lay->groups = (u8)(groups / lay->blocks);
		return lay->groups * lay->blocks == groups;
	}
	lay->alone = !is_fp8(x->f.a) && x->f.a != MMA_BF16 && block == 4 * per && lay->quads > 1;
	groups = mma_pair_groups(x->f.a) * (lay->alone ? lay->quads : 1);
	if (x->f.a == MMA_BF16)
		groups = lay->quads;
	if (lay->alone || lay->quads == 1)
		lay->slots = x->f.a == MMA_F16 ? 5 : x->f.a == MMA_TF32 ? 1 : 3;
	if (is_fp8(x->f.a) && x->rule.sum != MMA_HALVES && block < k)
		return false; /* pairs are taken in another order */
	lay->blocks = (u8)(x->rule.sum == MMA_HALVES ? 2 : k / block);
	lay->groups = (u8)(groups / lay->blocks);
	return lay->groups && lay->groups * lay->blocks == groups && lay->quads <= 2;
}

/* A of 16 rows: fragments of the upper and the lower eight, by quad. */
static void decode_left(const struct product *x, u32 row, struct mma_left *l)
{
	static const u32 *const empty[PRODUCT_QUADS] = {nothing, nothing, nothing, nothing};
	const struct mma_lay *lay = &x->lay;
	const u32 *const *top = (const u32 *const *)x->a[row],
			 *const *bottom =
				 row + 1 < x->rows ? (const u32 *const *)x->a[row + 1] : empty;

#define TYPE(type)                                                                                 \
	case type:                                                                                 \
		if (lay->sparse)                                                                   \
			mma_expand_type(lay, type, top, bottom, x->meta, x->rule.extra, l);        \
		else                                                                               \
			mma_left_type(lay, type, top, bottom, l);                                  \
		break;
	switch (lay->type[0]) {
		TYPE(MMA_F16)
		TYPE(MMA_BF16)
		TYPE(MMA_TF32)
		TYPE(MMA_E4M3)
		TYPE(MMA_E5M2)
	}
#undef TYPE
}

/* B of 8 columns. */
static void decode_right(const struct product *x, u32 column, struct mma_right *r)
{
	const struct mma_lay *lay = &x->lay;
	const u32 *const *frag = (const u32 *const *)x->b[column];

#define TYPE(type)                                                                                 \
	case type:                                                                                 \
		if (lay->sparse)                                                                   \
			mma_right_sparse_type(lay, type, frag, r);                                 \
		else                                                                               \
			mma_right_type(lay, type, frag, r);                                        \
		break;
	switch (lay->type[1]) {
		TYPE(MMA_F16)
		TYPE(MMA_BF16)
		TYPE(MMA_TF32)
		TYPE(MMA_E4M3)
		TYPE(MMA_E5M2)
	}
#undef TYPE
}

/* Where the accumulators of half a tile are: those of rows that are not there are zero. */
static const u32 *sums_at(const struct product *x, u32 row, u32 column, u32 parity)
{
	return row < x->rows ? x->c[product_register(x, x->f.c, row, column, parity)] : nothing;
}

static void find_ends(struct product *x, u32 row, u32 column, struct mma_ends *e)
{
	for (u32 p = 0; p < 2; p++)
		for (u32 h = 0; h < 2; h++) {
			e->c[p][h] = sums_at(x, row + h, column, p);
			e->d[p][h] = row + h < x->rows
					     ? x->d[product_register(x, x->f.d, row + h, column, p)]
					     : NULL;
		}
}

/* The accumulator is added after the blocks, to nearest. False: not exact in f32. */
static void add_late(struct mma_sums *s, const struct mma_sums *c)
{
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
		for (u32 v = 0; v < MMA_PER_ROWS; v++)
			s->value[j][v] += c->value[j][v];
}

/*
 * Blocks of one group, of two and of any, outputs having products or maybe none: functions of their
 * own, so that nothing of one is done ahead for another.
 */
static const struct mma_lay one_group = {.groups = 1, .slots = 15},
			    two_groups = {.groups = 2, .slots = 15};

typedef enum mma_verdict sum_block(const struct mma_lay *lay, const struct mma_round *round,
				   const struct mma_left *l, const struct mma_right *r, u32 first,
				   struct mma_sums *c);

#define BLOCK(name, as, narrow, none, cut, half)                                                   \
	static __attribute__((noinline)) enum mma_verdict name(                                    \
		PL_UNUSED const struct mma_lay *lay, const struct mma_round *round,                \
		const struct mma_left *l, const struct mma_right *r, u32 first,                    \
		struct mma_sums *c)                                                                \
	{                                                                                          \
		struct mma_round x = {round->fraction, round->below, cut, half};                   \
                                                                                                   \
		return mma_block_of(as, narrow, none, &x, l, r, first, c);                         \
	}
/* The last three of BLOCK follow the name. */
#define BLOCKS(name, narrow, ...)                                                                  \
	BLOCK(name##_one, &one_group, narrow, !narrow, __VA_ARGS__)                                \
	BLOCK(name##_two, &two_groups, narrow, !narrow, __VA_ARGS__)                               \
	BLOCK(name##_any, lay, narrow, !narrow, __VA_ARGS__)                                       \
	BLOCK(name##_lacking, lay, narrow, true, __VA_ARGS__)                                      \
	static const struct ways name##_ways = {name##_one, name##_two, name##_any, name##_lacking};

struct ways {
	sum_block *one, *two, *any, *lacking;
};

BLOCKS(f32, true, 0, false)
BLOCKS(f16, true, 0, true)
BLOCKS(cut, true, round->cut, false)
BLOCKS(wide, false, 0, false)
#undef BLOCKS
#undef BLOCK

/* All blocks of a tile. False: something has to be done in another way. */
static bool sum_blocks(const struct mma_lay *lay, const struct mma_round *round,
		       const struct mma_left *l, const struct mma_right *r, struct mma_sums *c)
{
	const struct ways *ways = !lay->narrow  ? &wide_ways
				  : round->half ? &f16_ways
				  : round->cut  ? &cut_ways
						: &f32_ways;
	sum_block *block = lay->slots != 15   ? ways->any
			   : lay->groups == 1 ? ways->one
			   : lay->groups == 2 ? ways->two
					      : ways->any;
	enum mma_verdict v = MMA_RIGHT;

	for (u32 b = 0; v == MMA_RIGHT && b < lay->blocks; b++) {
		v = block(lay, round, l, r, b * lay->groups, c);
		if (v == MMA_LACKS)
			v = ways->lacking(lay, round, l, r, b * lay->groups, c);
	}
	return v == MMA_RIGHT;
}

static bool sum_tile(struct product *x, const struct mma_lay *lay, const struct mma_left *l,
		     const struct mma_right *r, u32 row, u32 column)
{
	bool late = x->rule.sum == MMA_HALVES;
	struct mma_round round = {
		.fraction = x->rule.fraction,
		.below = x->rule.below,
		.cut = x->rule.sum == MMA_CUT && x->f.d == MMA_F32 ? x->rule.fraction : 0,
		.half = x->f.d == MMA_F16 && (late || x->f.c == MMA_F16),
	};
	struct mma_sums s, c;
	struct mma_ends e;

	find_ends(x, row, column, &e);
	mma_take_tile(&e, x->f.c == MMA_F16, &s);
	if ((late || x->f.c == MMA_F16) && !mma_sums_are_plain(&s, x->f.c == MMA_F16))
		return false; /* else the sum will tell */
	if (late) {
		c = s;
		memset(&s, 0, sizeof(s));
	}
	if (!sum_blocks(lay, &round, l, r, &s))
		return false;
	if (late)
		add_late(&s, &c);
	mma_give_tile(&e, x->f.d == MMA_F16, &s);
	return true;
}

/* False: some number does not allow it. */
static bool multiply_vectors(struct product *x)
{
	const struct mma_lay *lay = &x->lay;
	struct mma_left l;
	struct mma_right r;

	if (!x->laid) {
		x->vectors = x->f.c == x->f.d &&
			     !(x->rule.sum == MMA_HALVES && x->f.d == MMA_F16) &&
			     lay_out(x, &x->lay);
		x->laid = true;
	}
	if (!x->vectors)
		return false;
	for (u32 i = 0; i < x->rows; i += 2) {
		s32 range[4];

		decode_left(x, i, &l);
		if (!mma_is_plain_left(lay, &l, &range[0], &range[1]))
			return false;
		for (u32 j = 0; j < x->columns; j++) {
			decode_right(x, j, &r);
			if (!mma_is_plain_right(lay, &r, &range[2], &range[3]) ||
			    (!lay->narrow &&
			     !mma_in_range(range[0], range[1], range[2], range[3])) ||
			    !sum_tile(x, lay, &l, &r, i, j))
				return false;
		}
	}
	return true;
}

/* ---- in doubles ---- */

/* The fragments of a tile, as rows of words. */
struct rows {
	u32 a[MMA_ROWS][16], b[MMA_COLUMNS][16], c[MMA_COLUMNS][MMA_ROWS];
};

static void gather(const struct product *x, u32 row, u32 column, struct rows *m)
{
	u32 quads = x->f.words / 4u;

	for (u32 q = 0; q < quads; q++)
		for (u32 i = 0; i < MMA_ROWS; i++)
			memcpy(&m->a[i][4 * q],
			       (row + i / 8 < x->rows ? x->a[row + i / 8][q] : nothing) + i % 8 * 4,
			       16);
	for (u32 q = 0; q < quads << (x->f.flags & MMA_SPARSE ? 1 : 0); q++)
		for (u32 j = 0; j < MMA_COLUMNS; j++)
			memcpy(&m->b[j][4 * q], x->b[column][q] + j * 4, 16);
	for (u32 j = 0; j < MMA_COLUMNS; j++)
		for (u32 i = 0; i < MMA_ROWS; i++) {
			u32 u = 0;

			if (row + i / 8 < x->rows)
				u = x->c[product_register(x, x->f.c, row + i / 8, column, j % 2)]
					[i % 8 * 4 + j / 2];
			m->c[j][i] = x->f.c == MMA_F16 ? u >> j % 2 * 16 & 0xffff : u;
		}
}

static void scatter(struct product *x, u32 row, u32 column, const struct mma_tile *t)
{
	for (u32 i = 0; i < MMA_ROWS && row + i / 8 < x->rows; i++)
		for (u32 j = 0; j < MMA_COLUMNS; j++) {
			u32 *d = &x->d[product_register(x, x->f.d, row + i / 8, column, j % 2)]
				      [i % 8 * 4 + j / 2];

			if (x->f.d != MMA_F16)
				*d = t->d[j][i];
			else if (j % 2)
				*d |= t->d[j][i] << 16;
			else
				*d = t->d[j][i];
		}
}

/*
 * mma adds fp8 as pairs of f16 in two blocks: of a dense matrix first the numbers with k & 2 clear,
 * of a sparse one those with k & 4 clear.
 */
static u32 order_of(const struct product *x, u32 k, u32 n)
{
	if (x->rule.sum != MMA_HALVES)
		return k;
	if (x->f.flags & MMA_SPARSE)
		return (k & 4 ? n / 2 : 0) + k / 8 * 4 + (k & 3);
	return (k & 2 ? n / 2 : 0) + k / 4 * 2 + (k & 1);
}

static void fill_a(const struct product *x, const struct rows *m, struct mma_tile *t, u32 stored)
{
	bool wide = x->rule.sum == MMA_HALVES;

	for (u32 i = 0; i < MMA_ROWS; i++) {
		f64 v[MMA_K];
		s32 e[MMA_K];

		t->special |= mma_decode_row(x->f.a, m->a[i], stored, wide, v, e);
		t->absent[i] = 0;
		if (x->f.flags & MMA_SPARSE) {
			t->absent[i] = t->k < 64 ? ((u64)1 << t->k) - 1 : ~(u64)0;
			for (u32 k = 0; k < t->k; k++) {
				t->a[k][i] = 0;
				t->ae[k][i] = MMA_NO_EXPONENT;
			}
		}
		for (u32 s = 0; s < stored; s++) {
			u32 k = order_of(
				x,
				x->f.flags & MMA_SPARSE ? product_sparse_place(x, i, s, stored) : s,
				t->k);

			t->a[k][i] = x->f.flags & MMA_NEGATE ? -v[s] : v[s];
			t->ae[k][i] = e[s];
			t->absent[i] &= ~((u64)1 << k);
		}
	}
}

static void fill_b(const struct product *x, const struct rows *m, struct mma_tile *t)
{
	for (u32 j = 0; j < MMA_COLUMNS; j++) {
		f64 v[MMA_K];
		s32 e[MMA_K];

		t->special |=
			mma_decode_row(x->f.b, m->b[j], t->k, x->rule.sum == MMA_HALVES, v, e);
		for (u32 k = 0; k < t->k; k++) {
			u32 at = order_of(x, k, t->k);

			t->b[j][at] = v[k];
			t->be[j][at] = e[k];
		}
	}
}

static void multiply_doubles(struct product *x)
{
	u32 stored = 32u * x->f.words / mma_bits(x->f.a);
	struct mma_tile t;
	struct rows m;

	t.k = stored << (x->f.flags & MMA_SPARSE ? 1 : 0);
	for (u32 i = 0; i < x->rows; i += 2)
		for (u32 j = 0; j < x->columns; j++) {
			gather(x, i, j, &m);
			t.special = false;
			fill_a(x, &m, &t, stored);
			fill_b(x, &m, &t);
			mma_sum_tile(&t, (const u32(*)[MMA_ROWS])m.c, x->f.c, x->f.d, &x->rule);
			scatter(x, i, j, &t);
		}
}

void EXEC_NAME(product_float)(struct product *x)
{
	if (!multiply_vectors(x))
		multiply_doubles(x);
}
