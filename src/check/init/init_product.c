/*
 * Products of matrices: which rows and columns of results come from operands that are not defined.
 */
#include "src/check/init/init_flow.h"
#include "src/mma/place.h"
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

/* How rows and columns of the operands tell those of the result. */
enum layout { BY_NONE, BY_ROWS, BY_QUADS, BY_GROUP };

static enum layout layout_of(const struct uop *in)
{
	const struct uop_product *p = &in->product;

	if (in->inner == OP_wgmma)
		return p->a == 4 || p->form.flags & MMA_SPARSE ? BY_GROUP : BY_NONE;
	if (in->inner == OP_mma_quads)
		return p->a == 2 && p->b == 2 ? BY_QUADS : BY_NONE;
	return 8u * p->form.rows <= FACTOR_ROWS && 8u * p->form.columns <= FACTOR_COLUMNS ? BY_ROWS
											  : BY_NONE;
}

/*
 * As find_left and find_right of src/mma/op_mma.c list them. Sparse forms have 16 rows, of which A
 * keeps half of the words, and 8 columns.
 */
static void find_factors(const struct step *s, const u32 *a, const u32 *b, u32 w, struct factors *x)
{
	const struct uop_product *p = &s->in->product;
	u32 quads = p->form.words / 4u, pair = p->form.rows < 2 ? 1 : 2;
	bool swapped = p->form.flags & MMA_TRANSPOSED, sparse = p->form.flags & MMA_SPARSE;
	u32 left = swapped ? p->b : p->a, right = swapped ? p->a : p->b;

	memset(x, 0, sizeof(*x));
	for (u32 r = 0; r < left; r++)
		note_factor(s, (swapped ? b : a)[r], w,
			    (sparse ? 0 : r / (quads * pair) * pair) + r % pair, FACTOR_ROWS,
			    x->row);
	for (u32 r = 0; r < right; r++)
		note_factor(s, (swapped ? a : b)[r], w, sparse ? 0 : r / quads, FACTOR_COLUMNS,
			    x->column);
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

/*
 * Volta's m8n8k4: lanes 4 q .. 4 q + 3 and those 16 further have eight rows and columns of product
 * q. by_lane: each lane one of them, else each register two.
 */
static void note_quads(const struct step *s, u32 row, u32 w, u32 r, bool by_lane,
		       struct taint_value *of)
{
	for (u32 m = taint_lanes(s->t, row, s->first + w); m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m), first = 8 * (l % 16 / 4) + 4 * (l / 16);

		for (u32 i = 0; i < 4; i++)
			if ((by_lane ? l % 4 == i : r % 2 == i / 2) && !of[first + i].mask)
				of[first + i] =
					taint_get(s->t, row, (s->first + w) * WARP_LANES + l);
	}
}

static void find_quads(const struct step *s, const u32 *a, const u32 *b, u32 w, struct factors *x)
{
	u8 flags = s->in->product.form.flags;

	memset(x, 0, sizeof(*x));
	for (u32 r = 0; r < 2; r++) {
		note_quads(s, a[r], w, r, !(flags & MMA_COL_A), x->row);
		note_quads(s, b[r], w, r, flags & MMA_COL_B, x->column);
	}
}

static struct taint_value value_of_quad(const struct mma_form *f, const struct factors *x, u32 i,
					u32 l)
{
	u32 first = 8 * (l % 16 / 4), high = 4 * (l / 16);
	struct taint_value v;

	if (f->d != MMA_F16) {
		v = x->row[first + high + (l & 1) + (i & 2)];
		return v.mask ? v : x->column[first + (i & 4) + (l & 2) + (i & 1)];
	}
	v = x->row[first + high + l % 4];
	for (u32 k = 0; k < 2 && !v.mask; k++)
		v = x->column[first + 2 * i + k];
	return v;
}

/* wgmma with A in registers: each warp has 16 rows of it, and of the result. */
static void find_group(const struct step *s, const u32 *a, u32 w, struct factors *x)
{
	memset(x, 0, sizeof(*x));
	for (u32 r = 0; r < s->in->product.a; r++)
		note_factor(s, a[r], w, r % 2, FACTOR_ROWS, x->row);
}

/* Rows of a sparse A of which it is not defined where the numbers belong that are stored. */
static void find_metadata(const struct step *s, u32 meta, u32 w, struct factors *x)
{
	const struct mma_form *f = &s->in->product.form;
	u32 bits = mma_bits(f->a), stored = f->words * 32u / bits, bit;

	if (!taint_lanes(s->t, meta, s->first + w))
		return;
	for (u32 i = 0; i < 16; i++)
		for (u32 k = 0; k < stored && !x->row[i].mask; k++) {
			u32 lane = mma_meta_at(bits, s->in->product.rule.extra, i, k, stored, &bit);
			struct taint_value v =
				taint_get(s->t, meta, (s->first + w) * WARP_LANES + lane);

			if (v.mask >> bit / 8 & 1)
				x->row[i] = v;
		}
}

/* Does a lane lack one of the scales that it has for a row or column: bytes from `first` on? */
static void note_scales(const struct step *s, u32 row, u32 w, u32 lane, u32 first,
			struct taint_value *of)
{
	struct taint_value v = taint_get(s->t, row, (s->first + w) * WARP_LANES + lane);

	for (u32 i = 0; i < s->in->product.rule.block; i++)
		if (v.mask >> (first + i) % 4 & 1 && !of->mask)
			*of = v;
}

#define SCALED_ROWS 16u
#define SCALED_COLUMNS 8u

/* As take_scales of src/mma/product_scaled.c finds them: of the first lane's bytes and lanes. */
static void find_scale_bytes(const struct step *s, const u32 *at, u32 w, struct factors *x)
{
	u32 word = (s->first + w) * WARP_LANES, where[4];

	for (u32 i = 0; i < 4; i++)
		where[i] =
			((const u32 *)(const void *)(s->g->regs + at[i / 2 * 3 + 1 + i % 2]))[word];
	for (u32 i = 0; taint_lanes(s->t, at[0], s->first + w) && i < SCALED_ROWS; i++)
		note_scales(s, at[0], w, i % 8 * 4 + (where[1] & 1) * 2 + i / 8, where[0],
			    &x->row[i]);
	for (u32 i = 0; taint_lanes(s->t, at[3], s->first + w) && i < SCALED_COLUMNS; i++)
		note_scales(s, at[3], w, i * 4 + (where[3] & 3), where[2], &x->column[i]);
}

static struct taint_value value_of_group(const struct mma_form *f, const struct factors *x, u32 i,
					 u32 l)
{
	u32 registers = f->d == MMA_F16 ? 1 : 2;

	return x->row[8 * (i / registers % 2) + l / 4];
}

/* Of forms whose layout is not told: only an operand of which nothing is defined counts. */
static u32 worst_operand(const struct step *s, const u32 *a, const u32 *b, u32 w)
{
	const struct uop_product *p = &s->in->product;

	if (is_all_undefined(s, a, p->a, w))
		return a[0];
	return is_all_undefined(s, b, p->b, w) ? b[0] : NO_ROW;
}

static void find_by(const struct step *s, enum layout by, const u32 *a, const u32 *b, u32 w,
		    struct factors *x)
{
	switch (by) {
	case BY_ROWS:
		find_factors(s, a, b, w, x);
		break;
	case BY_QUADS:
		find_quads(s, a, b, w, x);
		break;
	case BY_GROUP:
		find_group(s, a, w, x);
		break;
	case BY_NONE:
		break;
	}
}

/* What register i of the result has in lane l. */
static struct taint_value value_by(const struct mma_form *f, enum layout by,
				   const struct factors *x, u32 i, u32 l)
{
	switch (by) {
	case BY_ROWS:
		return factor_of(f, x, i, l);
	case BY_QUADS:
		return value_of_quad(f, x, i, l);
	case BY_GROUP:
		return value_of_group(f, x, i, l);
	case BY_NONE:
		break;
	}
	return (struct taint_value){0};
}

/*
 * Accumulators lie as results do. A row or column of an operand goes into a row or column of the
 * result, which may be one that is not used.
 */
void init_pass_product(struct step *s)
{
	const struct uop_product *p = &s->in->product;
	const u32 *row = s->g->env->program->ext + s->in->ext;
	/* Of wgmma, which has no B in registers, the accumulators come first. */
	const u32 *c = row + p->d + (s->in->inner == OP_wgmma ? 0 : p->a + p->b);
	const u32 *a = row + p->d + (s->in->inner == OP_wgmma ? p->c : 0), *b = a + p->a;
	bool sparse = p->form.flags & MMA_SPARSE;
	u32 meta = sparse ? row[p->d + p->a + p->b + p->c] : NO_ROW;
	enum layout by = layout_of(s->in);
	struct factors x;

	for (u32 w = 0; w < s->warps; w++) {
		u32 at = (s->first + w) * WARP_LANES, worst = NO_ROW;

		find_by(s, by, a, b, w, &x);
		if (sparse)
			find_metadata(s, meta, w, &x);
		if (s->in->inner == OP_mma_scaled)
			find_scale_bytes(s, row + p->d + p->a + p->b + p->c + sparse, w, &x);
		if (by == BY_NONE)
			worst = worst_operand(s, a, b, w);
		for (u32 i = 0; i < p->d; i++)
			for (u32 m = s->pass[w]; m; m &= m - 1) {
				u32 l = (u32)__builtin_ctz(m);
				u32 from = worst != NO_ROW ? worst
					   : p->c          ? c[i * p->c / p->d]
							   : NO_ROW;
				struct taint_value v = value_by(&p->form, by, &x, i, l);

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
