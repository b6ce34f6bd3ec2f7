/*
 * Which way a product is multiplied; and the way of ordinary floating-point numbers: tile by tile
 * of 16 rows and 8 columns, decoded to planes and added up in vectors (mma_plane.h).
 */
#include "src/mma/mma_plane.h"

const u32 EXEC_NAME(mma_zeros)[2 * WARP_LANES] __attribute__((aligned(64)));

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

/* ---- the plan ---- */

static u32 sign_bits(u32 type)
{
	u32 bits = mma_bits(type);

	return bits == 32 ? 0x80000000 : bits == 16 ? 0x80008000 : 0x80808080;
}

static bool is_fp8(u32 type)
{
	return type == MMA_E4M3 || type == MMA_E5M2;
}

/* The number of k, and how many of them make a block. */
static u32 product_k(const struct mma_product *x)
{
	return x->form.words * (32 / mma_bits(x->form.a)) << (x->form.flags & MMA_SPARSE ? 1 : 0);
}

static u32 product_block(const struct mma_product *x)
{
	u32 k = product_k(x);

	if (x->rule.sum == MMA_HALVES)
		return k / 2;
	return x->rule.block && x->rule.block < k ? x->rule.block : k;
}

/* Types that planes know, and sums that fit 31 bits. Equal accumulators: fp8 by halves are f32. */
static bool vectors_know(const struct mma_product *x)
{
	u64 stored = product_block(x) >> (x->form.flags & MMA_SPARSE ? 1 : 0);

	return x->form.c == x->form.d && x->form.a <= MMA_E5M2 && x->form.b <= MMA_E5M2 &&
	       !(x->rule.sum == MMA_HALVES && x->form.d == MMA_F16) &&
	       stored << (x->rule.fraction + 2) <= (u64)1 << 31;
}

/* Groups of the tile into blocks. False: blocks are not so many whole groups. */
static bool divide_groups(struct mma_lay *lay, u32 groups, u32 blocks)
{
	lay->blocks = (u8)blocks;
	lay->groups = (u8)(groups / blocks);
	return lay->groups && lay->groups * blocks == groups;
}

static bool plan_layout_sparse(const struct mma_product *x, struct mma_plan *p)
{
	u32 k = product_k(x);

	p->decoder[0] = &EXEC_NAME(mma_sparse)[x->form.a];
	p->decoder[1] = &EXEC_NAME(mma_sparse)[x->form.b];
	return divide_groups(&p->lay, k / (p->lay.narrow ? 16 : 8), k / product_block(x));
}

static bool plan_layout_dense(const struct mma_product *x, struct mma_plan *p)
{
	u32 k = product_k(x), block = product_block(x), type = x->form.a, groups;
	struct mma_lay *lay = &p->lay;
	enum mma_quads quads = MMA_QUADS_PAIR;

	if (lay->quads > 2 || (is_fp8(type) && !lay->normal && block < k))
		return false; /* pairs of fp8 are taken in another order */
	if (lay->quads == 1)
		quads = MMA_QUADS_ONE;
	else if (!is_fp8(type) && type != MMA_BF16 && block * mma_bits(type) == 128)
		quads = MMA_QUADS_ALONE;
	if (quads != MMA_QUADS_PAIR)
		lay->slots = type == MMA_F16 ? 5 : type == MMA_TF32 ? 1 : 3;
	groups = type == MMA_BF16
			 ? lay->quads
			 : mma_pair_groups(type) * (quads == MMA_QUADS_ALONE ? lay->quads : 1);
	p->decoder[0] = &EXEC_NAME(mma_dense)[x->form.a][quads];
	p->decoder[1] = &EXEC_NAME(mma_dense)[x->form.b][quads];
	return divide_groups(lay, groups, k / block);
}

/* See enum mma_adder_kind. */
static enum mma_adder_kind choose_adder(const struct mma_lay *lay, const struct mma_round *round)
{
	if (lay->blocks > 1 || round->late || round->cut)
		return MMA_ADD_ANY;
	if (lay->narrow && lay->groups == 1 && lay->slots == 15)
		return round->half ? MMA_ADD_F16 : MMA_ADD_F32;
	if (lay->narrow && lay->groups == 1 && lay->slots == 5 && !round->half)
		return MMA_ADD_F32_ONE;
	if (!lay->narrow && lay->groups <= 2 && lay->slots == 15)
		return lay->groups == 1 ? MMA_ADD_WIDE : MMA_ADD_WIDE_TWO;
	return MMA_ADD_ANY;
}

static bool plan_layout(const struct mma_product *x, struct mma_plan *p)
{
	p->lay = (struct mma_lay){
		.narrow = x->form.a == MMA_F16 || is_fp8(x->form.a),
		.normal = x->rule.sum == MMA_HALVES,
		.quads = x->form.words / 4,
		.slots = 15,
		.selector = x->rule.extra,
		.sign_flip = x->form.flags & MMA_NEGATE ? sign_bits(x->form.a) : 0,
	};
	p->round = (struct mma_round){
		.fraction = x->rule.fraction,
		.below = x->rule.below,
		.cut = x->rule.sum == MMA_CUT && x->form.d == MMA_F32 ? x->rule.fraction : 0,
		.half = x->form.d == MMA_F16,
		.late = x->rule.sum == MMA_HALVES,
	};
	if (!vectors_know(x) ||
	    !(x->form.flags & MMA_SPARSE ? plan_layout_sparse(x, p) : plan_layout_dense(x, p)))
		return false;
	p->adder = &EXEC_NAME(mma_adders)[choose_adder(&p->lay, &p->round)];
	return true;
}

/* ---- tiles ---- */

/* C and D of a tile: accumulators of rows that are not there are zero. */
static void find_ends(struct mma_product *x, u32 row, u32 column, struct mma_ends *e)
{
	for (u32 p = 0; p < 2; p++)
		for (u32 h = 0; h < 2; h++) {
			bool there = row + h < x->rows;
			u32 r = mma_register(x, x->form.d, row + h, column, p);

			e->c[p][h] = there ? x->c[r] : EXEC_NAME(mma_zeros);
			e->d[p][h] = there ? x->d[r] : NULL;
		}
}

bool EXEC_NAME(mma_multiply_vectors)(struct mma_product *x)
{
	static const u32 *const zeros[MMA_MAX_QUADS] = {EXEC_NAME(mma_zeros), EXEC_NAME(mma_zeros),
							EXEC_NAME(mma_zeros), EXEC_NAME(mma_zeros)};
	struct mma_plan *p = &x->plan;
	struct mma_range range[2];
	struct mma_right r;
	struct mma_left l;
	struct mma_ends e;

	if (!p->made) {
		p->vectors = plan_layout(x, p);
		p->made = true;
	}
	if (!p->vectors)
		return false;
	for (u32 i = 0; i < x->rows; i += 2) {
		const struct mma_left_at from = {x->a[i], i + 1 < x->rows ? x->a[i + 1] : zeros,
						 x->meta};

		if (!p->decoder[0]->left(&p->lay, &from, &l, &range[0]))
			return false;
		for (u32 j = 0; j < x->columns; j++) {
			if (!p->decoder[1]->right(&p->lay, x->b[j], &r, &range[1]) ||
			    (!p->lay.narrow && !mma_in_range(&range[0], &range[1])))
				return false;
			find_ends(x, i, j, &e);
			if (!mma_add_tile(p->adder, &p->lay, &p->round, &e, &l, &r))
				return false;
		}
	}
	return true;
}

/* ---- all products ---- */

void EXEC_NAME(mma_multiply)(struct mma_product *x)
{
	if (x->scale[0])
		EXEC_NAME(mma_multiply_scaled)(x);
	else if (x->form.a == MMA_F64)
		EXEC_NAME(mma_multiply_f64)(x);
	else if (x->form.a >= MMA_S8)
		EXEC_NAME(mma_multiply_integers)(x);
	else if (!EXEC_NAME(mma_multiply_vectors)(x))
		EXEC_NAME(mma_multiply_doubles)(x);
}
