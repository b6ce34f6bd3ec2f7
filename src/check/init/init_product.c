/*
 * Products of matrices: which rows and columns of results come from operands that are not defined.
 */
#include "src/check/init/init_flow.h"
#include "src/uop/rows.h"

#include <string.h>

/* Is every one of these rows undefined in all lanes of a warp? */
static bool is_all_undefined(const struct step *s, const u32 *row, u32 n, u32 w)
{
	for (u32 i = 0; i < n; i++)
		if (taint_lanes(s->t, row[i], s->first + w) != FULL_MASK)
			return false;
	return n != 0;
}

#define FACTOR_ROWS 64u
#define FACTOR_COLUMNS 256u

/* Rows of A and columns of B that are not defined, in part or at all: where that came from. */
struct factors {
	struct taint_value row[FACTOR_ROWS], column[FACTOR_COLUMNS];
};

/* Lane 4 g + t has words of row g of a group. group: of its registers. */
static void note_factor(const struct step *s, u32 row, u32 w, u32 group, u32 most,
			struct taint_value *of)
{
	for (u32 m = taint_lanes(s->t, row, s->first + w); m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m), at = 8 * group + l / 4;

		if (at < most && !of[at].mask)
			of[at] = taint_get(s->t, row, (s->first + w) * WARP_LANES + l);
	}
}

/* Do rows and columns of the operands tell those of the result? Not of Volta's forms. */
static bool is_by_rows(const struct uop *in)
{
	const struct mma_form *f = &in->product.form;

	return in->inner != OP_wgmma && in->inner != OP_mma_quads && !(f->flags & MMA_SPARSE) &&
	       8u * f->rows <= FACTOR_ROWS && 8u * f->columns <= FACTOR_COLUMNS;
}

/* As find_left and find_right of src/mma/op_mma.c list them. */
static void find_factors(const struct step *s, const u32 *a, const u32 *b, u32 w, struct factors *x)
{
	const struct uop_product *p = &s->in->product;
	u32 quads = p->form.words / 4u, pair = p->form.rows < 2 ? 1 : 2;
	bool swapped = p->form.flags & MMA_TRANSPOSED;
	u32 left = swapped ? p->b : p->a, right = swapped ? p->a : p->b;

	memset(x, 0, sizeof(*x));
	for (u32 r = 0; r < left; r++)
		note_factor(s, (swapped ? b : a)[r], w, r / (quads * pair) * pair + r % pair,
			    FACTOR_ROWS, x->row);
	for (u32 r = 0; r < right; r++)
		note_factor(s, (swapped ? a : b)[r], w, r / quads, FACTOR_COLUMNS, x->column);
}

/* What register `i` of the result has of its row and its columns. */
static struct taint_value factor_of(const struct mma_form *f, const struct factors *x, u32 i, u32 l)
{
	u32 registers = f->d == MMA_F16 ? 1 : 2, group = i / registers;
	u32 y = 8 * (group % f->rows) + l / 4, at = 8 * (group / f->rows) + 2 * (l % 4);
	struct taint_value v = x->row[y];

	for (u32 k = 0; k < 2; k++)
		if (!v.mask && (registers == 1 || i % 2 == k))
			v = x->column[at + k];
	return v;
}

/* Of forms whose layout is not told: only an operand of which nothing is defined counts. */
static u32 worst_operand(const struct step *s, const u32 *a, const u32 *b, u32 w)
{
	const struct uop_product *p = &s->in->product;

	if (is_all_undefined(s, a, p->a, w))
		return a[0];
	return is_all_undefined(s, b, p->b, w) ? b[0] : NO_ROW;
}

/*
 * Accumulators lie as results do. A row or column of an operand goes into a row or column of the
 * result, which may be one that is not used.
 */
void init_pass_product(struct step *s)
{
	const struct uop_product *p = &s->in->product;
	const u32 *row = s->g->env->program->ext + s->in->ext;
	const u32 *a = row + p->d, *b = a + p->a, *c = b + p->b;
	bool by_rows = is_by_rows(s->in);
	struct factors x;

	for (u32 w = 0; w < s->warps; w++) {
		u32 at = (s->first + w) * WARP_LANES, worst = NO_ROW;

		if (by_rows)
			find_factors(s, a, b, w, &x);
		else
			worst = worst_operand(s, a, b, w);
		for (u32 i = 0; i < p->d; i++)
			for (u32 m = s->pass[w]; m; m &= m - 1) {
				u32 l = (u32)__builtin_ctz(m);
				u32 from = worst != NO_ROW ? worst
					   : p->c          ? c[i * p->c / p->d]
							   : NO_ROW;
				struct taint_value v = {0};

				if (by_rows)
					v = factor_of(&p->form, &x, i, l);
				if (!v.mask && from != NO_ROW)
					v = taint_get(s->t, from, at + l);
				if (v.mask)
					v.mask = mask_of_class(taint_class(s->t, row[i])) |
						 TAINT_COMPUTED;
				if (v.mask || taint_state(s->t, row[i]))
					taint_put(s->t, row[i], at + l, v);
			}
	}
	for (u32 i = 0; i < p->d; i++)
		taint_settle(s->t, row[i]);
}
