/*
 * mma, mma.sp and wmma.mma: registers become a product, its result goes into registers. PTX ISA
 * "Warp-level matrix instructions: mma", "mma.sp", "wmma.mma".
 */
#include "src/mma/mma.h"

static const u32 *fragment_at(const struct gang *g, const struct uop *in, u32 type, u32 i, u32 w)
{
	if (type != MMA_F64)
		return mma_words_at(g, in, i, w);
	return (const u32 *)(ROW64(g->env->program->ext[in->ext + i]) + w * WARP_LANES);
}

/*
 * A (or B as its columns): registers go over pairs of groups of 8, then words, then the other
 * pairs.
 */
static void find_left(const struct gang *g, const struct uop *in, u32 first, u32 w,
		      struct mma_product *x)
{
	u32 quads = x->form.words / 4u, pair = x->rows < 2 ? 1 : 2, r = first;

	for (u32 i = 0; i < x->rows; i += pair)
		for (u32 q = 0; q < quads; q++)
			for (u32 p = 0; p < pair; p++)
				x->a[i + p][q] = fragment_at(g, in, x->form.a, r++, w);
}

/* B: registers go over words first. */
static void find_right(const struct gang *g, const struct uop *in, u32 first, u32 w,
		       struct mma_product *x)
{
	for (u32 j = 0; j < x->columns; j++)
		for (u32 q = 0; q < mma_right_quads(&x->form); q++)
			x->b[j][q] = fragment_at(g, in, x->form.a, first++, w);
}

static void find_operands(const struct gang *g, const struct uop *in, u32 w, bool scaled,
			  struct mma_product *x)
{
	const struct uop_product *p = &in->product;
	u32 first_a = p->d, first_b = first_a + p->a, first_c = first_b + p->b;
	u32 sums = (u32)x->rows * x->columns * mma_registers(x->form.c), next = first_c + sums;
	bool transposed = x->form.flags & MMA_TRANSPOSED;

	find_left(g, in, transposed ? first_b : first_a, w, x);
	find_right(g, in, transposed ? first_a : first_b, w, x);
	for (u32 r = 0; r < sums; r++)
		x->c[r] = fragment_at(g, in, x->form.c, first_c + r, w);
	x->meta = x->form.flags & MMA_SPARSE ? mma_words_at(g, in, next++, w) : NULL;
	for (u32 i = 0; i < ARRAY_LEN(x->scale); i++)
		x->scale[i] = scaled ? mma_words_at(g, in, next + i, w) : NULL;
}

static void begin_product(const struct uop *in, struct mma_product *x)
{
	x->form = in->product.form;
	x->rule = in->product.rule;
	x->plan.made = false;
	x->rows = x->form.rows;
	x->columns = x->form.columns;
}

static void multiply_warp(struct gang *g, const struct uop *in, u32 w, bool scaled,
			  struct mma_product *x)
{
	find_operands(g, in, w, scaled, x);
	EXEC_NAME(mma_multiply)(x);
	mma_store_result(g, in, w, x);
}

void EXEC_NAME(mma_warp)(struct gang *g, const struct uop *in, u32 w)
{
	struct mma_product x;

	begin_product(in, &x);
	multiply_warp(g, in, w, false, &x);
}

static const struct uop *multiply_gang(struct gang *g, const struct uop *in, bool scaled)
{
	struct mma_product x;

	begin_product(in, &x);
	for (u32 w = 0; w < WARPS; w++) {
		if (!mma_warp_is_whole(g, w))
			return mma_warp_incomplete(g, in);
		multiply_warp(g, in, w, scaled, &x);
	}
	return in + 1;
}

HANDLER(mma)
{
	return multiply_gang(g, in, false);
}

/* Block-scaled: the scales, the first byte and the lanes of A and of B come last in ext. */
HANDLER(mma_scaled)
{
	return multiply_gang(g, in, true);
}
