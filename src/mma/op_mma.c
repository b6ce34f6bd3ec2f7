/*
 * mma, mma.sp and wmma.mma: registers become a product, its result goes into registers. PTX ISA
 * "Warp-level matrix instructions: mma", "mma.sp", "wmma.mma".
 */
#include "src/mma/mma_product.h"

/*
 * A (or B as its columns): registers go over pairs of groups of 8, then words, then the other
 * pairs.
 */
static void find_a(const struct gang *g, const struct uop *in, u32 first, u32 w, u32 groups,
		   const u32 *(*to)[PRODUCT_QUADS], const struct mma_form *f)
{
	u32 quads = f->words / 4u, pair = groups < 2 ? 1 : 2, r = first;

	for (u32 i = 0; i < groups; i += pair)
		for (u32 q = 0; q < quads; q++)
			for (u32 p = 0; p < pair; p++)
				to[i + p][q] = product_row(g, in, f->a, r++, w);
}

/* B: registers go over words first. Sparse A: B has twice the words. */
static void find_b(const struct gang *g, const struct uop *in, u32 first, u32 w, u32 groups,
		   const u32 *(*to)[PRODUCT_QUADS], const struct mma_form *f)
{
	u32 quads = f->words / 4u << (f->flags & MMA_SPARSE ? 1 : 0);

	for (u32 j = 0; j < groups; j++)
		for (u32 q = 0; q < quads; q++)
			to[j][q] = product_row(g, in, f->a, first++, w);
}

static void find_operands(const struct gang *g, const struct uop *in, u32 w, struct product *x)
{
	u32 first_a = in->product.d, first_b = first_a + in->product.a,
	    first_c = first_b + in->product.b;
	u32 sums = (u32)x->rows * x->columns * product_registers(x->f.c);
	bool transposed = x->f.flags & MMA_TRANSPOSED;

	find_a(g, in, transposed ? first_b : first_a, w, x->rows, x->a, &x->f);
	find_b(g, in, transposed ? first_a : first_b, w, x->columns, x->b, &x->f);
	for (u32 r = 0; r < sums; r++)
		x->c[r] = product_row(g, in, x->f.c, first_c + r, w);
	x->meta = x->f.flags & MMA_SPARSE ? product_words(g, in, first_c + sums, w) : NULL;
}

static void begin(const struct uop *in, struct product *x)
{
	x->f = in->product.form;
	x->rule = in->product.rule;
	x->laid = false;
	x->rows = x->f.rows;
	x->columns = x->f.columns;
}

static void multiply_warp(struct gang *g, const struct uop *in, u32 w, struct product *x)
{
	find_operands(g, in, w, x);
	product_multiply(x);
	product_scatter(g, in, w, x);
}

void EXEC_NAME(mma_warp)(struct gang *g, const struct uop *in, u32 w)
{
	struct product x;

	begin(in, &x);
	multiply_warp(g, in, w, &x);
}

HANDLER(mma)
{
	struct product x;

	begin(in, &x);
	for (u32 w = 0; w < WARPS; w++) {
		if (!matrix_is_whole(g, w))
			return matrix_part(g, in);
		multiply_warp(g, in, w, &x);
	}
	return in + 1;
}
