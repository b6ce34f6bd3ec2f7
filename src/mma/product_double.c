/*
 * Products of floating-point matrices of any numbers and rules: tile by tile in doubles
 * (tile_sum.c).
 */
#include "src/mma/mma.h"
#include "src/mma/place.h"

void EXEC_NAME(mma_gather)(const struct mma_product *x, u32 row, u32 column, struct mma_rows *m)
{
	u32 quads = x->form.words / 4u;

	for (u32 q = 0; q < quads; q++)
		for (u32 i = 0; i < MMA_TILE_ROWS; i++)
			memcpy(&m->a[i][4 * q],
			       (row + i / 8 < x->rows ? x->a[row + i / 8][q]
						      : EXEC_NAME(mma_zeros)) +
				       i % 8 * 4,
			       16);
	for (u32 q = 0; q < mma_right_quads(&x->form); q++)
		for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
			memcpy(&m->b[j][4 * q], x->b[column][q] + j * 4, 16);
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++)
		for (u32 i = 0; i < MMA_TILE_ROWS; i++) {
			u32 u = 0;

			if (row + i / 8 < x->rows)
				u = x->c[mma_register(x, x->form.c, row + i / 8, column, j % 2)]
					[i % 8 * 4 + j / 2];
			m->c.at[j][i] = x->form.c == MMA_F16 ? u >> j % 2 * 16 & 0xffff : u;
		}
}

void EXEC_NAME(mma_scatter)(struct mma_product *x, u32 row, u32 column, const struct mma_tile *t)
{
	for (u32 i = 0; i < MMA_TILE_ROWS && row + i / 8 < x->rows; i++)
		for (u32 j = 0; j < MMA_TILE_COLUMNS; j++) {
			u32 *d = &x->d[mma_register(x, x->form.d, row + i / 8, column, j % 2)]
				      [i % 8 * 4 + j / 2];

			if (x->form.d == MMA_F16 && j % 2)
				*d |= t->d.at[j][i] << 16;
			else
				*d = t->d.at[j][i];
		}
}

/*
 * Metadata: two bits an element, or four for tf32, from lanes that the selector names; measured.
 */
u32 EXEC_NAME(mma_sparse_place)(const struct mma_product *x, u32 i, u32 s, u32 stored)
{
	return mma_sparse_at(mma_bits(x->form.a), x->rule.extra, x->meta, i, s, stored);
}

/*
 * mma adds fp8 as pairs of f16 in two blocks: of a dense matrix first the numbers with k & 2 clear,
 * of a sparse one those with k & 4 clear.
 */
static u32 block_order(const struct mma_product *x, const struct mma_rule *rule, u32 k, u32 n)
{
	if (rule->sum != MMA_HALVES)
		return k;
	if (x->form.flags & MMA_SPARSE)
		return (k & 4 ? n / 2 : 0) + k / 8 * 4 + (k & 3);
	return (k & 2 ? n / 2 : 0) + k / 4 * 2 + (k & 1);
}

static void fill_left(const struct mma_product *x, const struct mma_rule *rule,
		      const struct mma_rows *m, struct mma_tile *t, u32 stored)
{
	const bool sparse = x->form.flags & MMA_SPARSE, negate = x->form.flags & MMA_NEGATE;

	for (u32 i = 0; i < MMA_TILE_ROWS; i++) {
		f64 v[MMA_K];
		s32 e[MMA_K];

		t->nonfinite |= EXEC_NAME(mma_decode_row)(x->form.a, m->a[i], stored,
							  rule->sum == MMA_HALVES, v, e);
		t->absent[i] = sparse ? ~(u64)0 >> (64 - t->k) : 0;
		for (u32 k = 0; sparse && k < t->k; k++) {
			t->a[k][i] = 0;
			t->ae[k][i] = MMA_NO_EXPONENT;
		}
		for (u32 s = 0; s < stored; s++) {
			u32 k = sparse ? EXEC_NAME(mma_sparse_place)(x, i, s, stored) : s;

			k = block_order(x, rule, k, t->k);
			t->a[k][i] = negate ? -v[s] : v[s];
			t->ae[k][i] = e[s];
			t->absent[i] &= ~((u64)1 << k);
		}
	}
}

static void fill_right(const struct mma_product *x, const struct mma_rule *rule,
		       const struct mma_rows *m, struct mma_tile *t)
{
	for (u32 j = 0; j < MMA_TILE_COLUMNS; j++) {
		f64 v[MMA_K];
		s32 e[MMA_K];

		t->nonfinite |= EXEC_NAME(mma_decode_row)(x->form.b, m->b[j], t->k,
							  rule->sum == MMA_HALVES, v, e);
		for (u32 k = 0; k < t->k; k++) {
			u32 at = block_order(x, rule, k, t->k);

			t->b[j][at] = v[k];
			t->be[j][at] = e[k];
		}
	}
}

void EXEC_NAME(mma_fill_tile)(const struct mma_product *x, const struct mma_rule *rule,
			      const struct mma_rows *m, struct mma_tile *t)
{
	u32 stored = 32u * x->form.words / mma_bits(x->form.a);

	t->k = stored << (x->form.flags & MMA_SPARSE ? 1 : 0);
	t->nonfinite = false;
	fill_left(x, rule, m, t, stored);
	fill_right(x, rule, m, t);
}

void EXEC_NAME(mma_multiply_doubles)(struct mma_product *x)
{
	struct mma_tile t;
	struct mma_rows m;

	for (u32 i = 0; i < x->rows; i += 2)
		for (u32 j = 0; j < x->columns; j++) {
			EXEC_NAME(mma_gather)(x, i, j, &m);
			EXEC_NAME(mma_fill_tile)(x, &x->rule, &m, &t);
			EXEC_NAME(mma_sum_tile)(&t, &m.c, x->form.c, x->form.d, &x->rule);
			EXEC_NAME(mma_scatter)(x, i, j, &t);
		}
}
