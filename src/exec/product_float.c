/*
 * Products of floating-point matrices: tile by tile of 16 rows and 8 columns, in vectors
 * (mma_fused.h), or where numbers do not allow that in doubles (mma_tile.h).
 */
#include "src/exec/mma_fused.h"
#include "src/exec/mma_product.h"
#include "src/exec/mma_sparse.h"
#include "src/exec/mma_tile.h"

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

/* Where the accumulators of half a tile are: those of rows that are not there are zero. */
static const u32 *sums_at(const struct product *x, u32 row, u32 column, u32 parity)
{
	return row < x->rows ? x->c[product_register(x, x->f.c, row, column, parity)] : nothing;
}

/* f16: both columns of a pair are in one register. */
MMA_INLINE void take_half_tile(const u32 *even, const u32 *odd, bool half, mma_vf (*to)[2])
{
	for (u32 v = 0; v < MMA_VECTORS / 2; v++) {
		mma_vi u = mma_load(even + v * MMA_W);

		to[v][0] = half ? mma_widen(u) : (mma_vf)u;
		to[v][1] = half ? mma_widen((mma_vi)((mma_vu)u >> 16))
				: (mma_vf)mma_load(odd + v * MMA_W);
	}
}

static void take_sums(const struct product *x, u32 row, u32 column, struct mma_sums *s)
{
	for (u32 half = 0; half < 2; half++) {
		const u32 *even = sums_at(x, row + half, column, 0),
			  *odd = sums_at(x, row + half, column, 1);
		mma_vf(*to)[2] = &s->value[half * (MMA_VECTORS / 2)];

		take_half_tile(even, odd, x->f.c == MMA_F16, to);
	}
}

MMA_INLINE void take_tile(const u32 *const *c, bool half, struct mma_sums *s)
{
	take_half_tile(c[0], half ? NULL : c[1], half, s->value);
	take_half_tile(c[half ? 1 : 2], half ? NULL : c[3], half, &s->value[MMA_VECTORS / 2]);
}

/* f16 infinities look like large numbers after widening. */
static bool sums_are_plain(const struct mma_sums *s, bool half)
{
	mma_vi bad = {0};

	for (u32 v = 0; v < MMA_VECTORS; v++)
		for (u32 p = 0; p < 2; p++)
			bad |= ((mma_vi)s->value[v][p] & 0x7fffffff) >=
			       (half ? 0x47800000 : 0x7f800000);
	return !mma_any(bad);
}

MMA_INLINE void give_half_tile(u32 *even, u32 *odd, bool half, const mma_vf (*from)[2])
{
	for (u32 v = 0; v < MMA_VECTORS / 2; v++) {
		if (half) {
			mma_store(even + v * MMA_W, mma_narrow_half(from[v][0]) |
							    mma_narrow_half(from[v][1]) << 16);
		} else {
			mma_store(even + v * MMA_W, (mma_vi)from[v][0]);
			mma_store(odd + v * MMA_W, (mma_vi)from[v][1]);
		}
	}
}

static void give_sums(struct product *x, u32 row, u32 column, const struct mma_sums *s)
{
	for (u32 half = 0; half < 2 && row + half < x->rows; half++) {
		u32 *even = x->d[product_register(x, x->f.d, row + half, column, 0)],
		    *odd = even + WARP_LANES;

		give_half_tile(even, odd, x->f.d == MMA_F16,
			       &s->value[half * (MMA_VECTORS / 2)]);
	}
}

MMA_INLINE void give_tile(u32 (*d)[WARP_LANES], bool half, const struct mma_sums *s)
{
	give_half_tile(d[0], half ? NULL : d[1], half, s->value);
	give_half_tile(d[half ? 1 : 2], half ? NULL : d[3], half, &s->value[MMA_VECTORS / 2]);
}

/* The accumulator is added after the blocks, to nearest. False: not exact in f32. */
static void add_late(struct mma_sums *s, const struct mma_sums *c)
{
	for (u32 v = 0; v < MMA_VECTORS; v++)
		for (u32 p = 0; p < 2; p++)
			s->value[v][p] += c->value[v][p];
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

	take_sums(x, row, column, &s);
	if ((late || x->f.c == MMA_F16) && !sums_are_plain(&s, x->f.c == MMA_F16))
		return false; /* else the sum will tell */
	if (late) {
		c = s;
		memset(&s, 0, sizeof(s));
	}
	if (!mma_sum_blocks(lay, &round, l, r, &s))
		return false;
	if (late)
		add_late(&s, &c);
	give_sums(x, row, column, &s);
	return true;
}

/*
 * The commonest forms, one tile of dense factors in one block: the layout is a constant here, so that
 * loops and cases go when this is compiled. False: some number does not allow it.
 */
MMA_INLINE bool multiply_tile(struct product *x, const struct mma_lay *lay, bool half)
{
	const struct mma_round round = {
		.fraction = x->rule.fraction, .below = x->rule.below, .half = half};
	struct mma_left l;
	struct mma_right r;
	struct mma_sums s;
	s32 range[4];

	mma_left_type(lay, lay->type[0], (const u32 *const *)x->a[0], (const u32 *const *)x->a[1],
		      &l);
	mma_right_type(lay, lay->type[1], (const u32 *const *)x->b[0], lay->quads, &r);
	if (!mma_is_plain_left(lay, &l, &range[0], &range[1]) ||
	    !mma_is_plain_right(lay, &r, &range[2], &range[3]) ||
	    (!lay->narrow && !mma_in_range(range[0], range[1], range[2], range[3])))
		return false;
	take_tile(x->c, half, &s);
	if (half && !sums_are_plain(&s, true))
		return false;
	if (mma_any(mma_block_of(lay, lay->narrow, &round, &l, &r, 0, &s)))
		return false;
	give_tile(x->d, half, &s);
	return true;
}

static const struct mma_lay f16_tile = {
	.type = {MMA_F16, MMA_F16}, .narrow = true, .quads = 2, .blocks = 1, .groups = 1, .slots = 15};
static const struct mma_lay bf16_tile = {
	.type = {MMA_BF16, MMA_BF16}, .quads = 2, .blocks = 1, .groups = 2, .slots = 15};
static const struct mma_lay tf32_tile = {
	.type = {MMA_TF32, MMA_TF32}, .quads = 2, .blocks = 1, .groups = 1, .slots = 15};

static __attribute__((noinline)) bool multiply_f16_tile(struct product *x)
{
	return multiply_tile(x, &f16_tile, false);
}

static __attribute__((noinline)) bool multiply_half_tile(struct product *x)
{
	return multiply_tile(x, &f16_tile, true);
}

static __attribute__((noinline)) bool multiply_bf16_tile(struct product *x)
{
	return multiply_tile(x, &bf16_tile, false);
}

static __attribute__((noinline)) bool multiply_tf32_tile(struct product *x)
{
	return multiply_tile(x, &tf32_tile, false);
}

/* Which of these does such products; NULL: none. */
static bool (*find_tile(const struct product *x))(struct product *)
{
	static const struct {
		const struct mma_lay *lay;
		u8 sums; /* enum mma_type */
		bool (*multiply)(struct product *x);
	} tiles[] = {
		{&f16_tile, MMA_F32, multiply_f16_tile},
		{&f16_tile, MMA_F16, multiply_half_tile},
		{&bf16_tile, MMA_F32, multiply_bf16_tile},
		{&tf32_tile, MMA_F32, multiply_tf32_tile},
	};

	if (x->rows != 2 || x->columns != 1 || x->rule.sum != MMA_FUSED)
		return NULL;
	for (u32 i = 0; i < ARRAY_LEN(tiles); i++)
		if (!memcmp(&x->lay, tiles[i].lay, sizeof(x->lay)) && x->f.c == tiles[i].sums)
			return tiles[i].multiply;
	return NULL;
}

/* False: some number does not allow it. */
static bool multiply_vectors(struct product *x)
{
	static const u32 *const empty[PRODUCT_QUADS] = {nothing, nothing, nothing, nothing};
	const struct mma_lay *lay = &x->lay;
	struct mma_left l;
	struct mma_right r;

	if (!x->laid) {
		x->vectors = x->f.c == x->f.d &&
			     !(x->rule.sum == MMA_HALVES && x->f.d == MMA_F16) &&
			     lay_out(x, &x->lay);
		x->tile = x->vectors ? find_tile(x) : NULL;
		x->laid = true;
	}
	if (x->tile)
		return x->tile(x);
	if (!x->vectors)
		return false;
	for (u32 i = 0; i < x->rows; i += 2) {
		const u32 *const *bottom =
			i + 1 < x->rows ? (const u32 *const *)x->a[i + 1] : empty;
		s32 range[4];

		if (lay->sparse)
			mma_expand_left(lay, (const u32 *const *)x->a[i], bottom, x->meta,
					x->rule.extra, &l);
		else
			mma_decode_left(lay, (const u32 *const *)x->a[i], bottom, &l);
		if (!mma_is_plain_left(lay, &l, &range[0], &range[1]))
			return false;
		for (u32 j = 0; j < x->columns; j++) {
			if (lay->sparse)
				mma_decode_right_sparse(lay, (const u32 *const *)x->b[j], &r);
			else
				mma_decode_right(lay, (const u32 *const *)x->b[j], lay->quads, &r);
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
