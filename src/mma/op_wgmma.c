/*
 * wgmma: four warps, 16 rows each, B and perhaps A in shared memory. PTX ISA "Asynchronous
 * warpgroup-level matrix instructions: wgmma.mma_async". The product runs when it is issued.
 */
#include "src/mma/mma.h"
#include "src/mma/place.h"
#include "src/ops/observe.h"

/*
 * `count` groups of 8 rows, from row `first` on, as fragments of four words: of 16 bytes, or along
 * the other dimension in pieces of a number. False: outside of shared memory.
 */
static bool read_window(const struct gang *g, const struct shared_window *m, u32 quads, u32 first,
			u32 count, u32 (*to)[MMA_MAX_QUADS][WARP_LANES])
{
	u32 limit = g->env->shared_bytes, size = m->along ? 2 : 16;

	for (u32 r = 0; r < 8 * count; r++)
		for (u32 k = 0; k < 16 * quads; k += size) {
			u32 off = m->along ? window_offset(m, k / 2, (first + r) * 2)
					   : window_offset(m, first + r, k);

			if (off + size > limit)
				return false;
			memcpy((u8 *)&to[r / 8][k / 16][r % 8 * 4] + k % 16, g->shared + off, size);
		}
	return true;
}

/* Factors in shared memory, where they become fragments. */
struct staged_factors {
	u32 a[2][MMA_MAX_QUADS][WARP_LANES] __attribute__((aligned(64)));
	u32 b[MMA_MAX_COLUMNS][MMA_MAX_QUADS][WARP_LANES] __attribute__((aligned(64)));
};

/* False: outside of shared memory. */
static bool find_staged_factors(const struct gang *g, const struct uop *in, u32 w,
				struct mma_product *x, struct staged_factors *s)
{
	u32 first = (g->first_warp + g->warp + w) % 4 * 16, quads = mma_right_quads(&x->form);
	struct shared_window b = window_of(ROW64(in->b)[w * WARP_LANES], x->form.flags & MMA_COL_B);

	if (!read_window(g, &b, quads, 0, x->columns, s->b))
		return false;
	for (u32 j = 0; j < x->columns; j++)
		for (u32 q = 0; q < quads; q++)
			x->b[j][q] = s->b[j][q];
	if (in->a != NO_ROW) {
		struct shared_window a =
			window_of(ROW64(in->a)[w * WARP_LANES], x->form.flags & MMA_COL_A);

		if (!read_window(g, &a, 2, first, 2, s->a))
			return false;
	}
	for (u32 r = 0; r < 4; r++)
		x->a[r % 2][r / 2] = in->a == NO_ROW
					     ? mma_words_at(g, in, 2u * in->product.d + r, w)
					     : s->a[r % 2][r / 2];
	return true;
}

/*
 * ext lists the registers of D twice, then those of A unless it has a descriptor (row a), then the
 * metadata.
 */
HANDLER(wgmma)
{
	struct mma_product x;
	struct staged_factors s;

	x.form = in->product.form;
	x.rule = in->product.rule;
	x.plan.made = false;
	x.scale[0] = NULL;
	x.rows = x.form.rows;
	x.columns = in->product.columns;
	for (u32 w = 0; w < WARPS; w++) {
		if (!mma_warp_is_whole(g, w))
			return mma_warp_incomplete(g, in);
		if (!find_staged_factors(g, in, w, &x, &s))
			return exec_fault(g, in, FAULT_ILLEGAL_ADDRESS, FULL_MASK);
		for (u32 r = 0; r < in->product.d; r++)
			x.c[r] = ROWP(in->c)[w] & 1 ? mma_words_at(g, in, in->product.d + r, w)
						    : EXEC_NAME(mma_zeros);
		x.meta = x.form.flags & MMA_SPARSE
				 ? mma_words_at(g, in,
						2u * in->product.d + (in->a == NO_ROW ? 4 : 0), w)
				 : NULL;
		EXEC_NAME(mma_multiply)(&x);
		mma_store_result(g, in, w, &x);
	}
	return in + 1;
}

/* ---- reports to observers: rows of the factors, which all lanes of the warp read ---- */

static void tell_window(struct gang *g, const struct uop *in, u32 w, const struct shared_window *m,
			u32 quads, u32 first, u32 rows)
{
	u64 at[WARP_LANES];
	u32 size = m->along ? 2 : 16;
	struct exec_access e = {.cta = g->cta,
				.in = in,
				.pc = (u32)(in - g->uops),
				.warp = cta_warp(g, w),
				.kind = ACCESS_LOAD,
				.size = 1,
				.count = 1,
				.extra = true,
				.bytes = size,
				.address = at};

	for (u32 r = 0; r < rows; r++)
		for (u32 k = 0; k < 16 * quads; k += size) {
			u32 off = m->along ? window_offset(m, k / 2, (first + r) * 2)
					   : window_offset(m, first + r, k);

			for (u32 l = 0; l < WARP_LANES; l++)
				at[l] = off;
			report_lanes(g, &e, FULL_MASK, MEM_SHARED);
		}
}

HANDLER(watch_wgmma)
{
	const struct mma_form *form = &in->product.form;

	for (u32 w = 0; tells_all(g) && w < WARPS && mma_warp_is_whole(g, w); w++) {
		struct shared_window m =
			window_of(ROW64(in->b)[w * WARP_LANES], form->flags & MMA_COL_B);

		tell_window(g, in, w, &m, mma_right_quads(form), 0, 8u * in->product.columns);
		if (in->a == NO_ROW)
			continue;
		m = window_of(ROW64(in->a)[w * WARP_LANES], form->flags & MMA_COL_A);
		tell_window(g, in, w, &m, 2, (g->first_warp + g->warp + w) % 4 * 16, 16);
	}
	return PLAIN(g, in);
}
