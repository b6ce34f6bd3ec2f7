/*
 * The commonest forms of mma: one tile of 16 rows and 8 columns, dense floating-point factors whose
 * products make one block. It is what mma does (product.c), planned when this is compiled: the
 * steps of decoding and adding are known, and operands are read and results written where they are.
 * Warps whose numbers do not allow it, infinities say, are left to mma.
 *
 * Kernels multiply one fragment by several others: micro-ops that follow one another and have an A
 * or a B in common, which lowering marks, are done together, warp by warp, and decode it once.
 */
#include "src/exec/observer.h"
#include "src/mma/mma_plane.h"

/* The fragments of one warp: of A by half of the rows and quad, of B by quad. */
struct warp_tile {
	const u32 *a[2][2], *b[2];
	struct mma_ends ends;
	const struct uop *in;
};

/* Micro-ops that are done together, at most. */
#define CHAIN 8u

/* Of the gang's first warp. nowhere: a row for registers of D that are never read. */
MMA_INLINE void find_tile(const struct gang *g, const struct uop *in, u32 quads, bool half,
			  struct warp_tile *x, u32 *nowhere)
{
	const u32 *d = g->env->program->ext + in->ext, *a = d + in->product.d,
		  *b = a + in->product.a, *c = b + in->product.b;
	const u32 parities = half ? 1 : 2;

	x->in = in;
	for (u32 q = 0; q < quads; q++) {
		x->a[0][q] = ROW32(a[2 * q]);
		x->a[1][q] = ROW32(a[2 * q + 1]);
		x->b[q] = ROW32(b[q]);
	}
	for (u32 h = 0; h < 2; h++)
		for (u32 p = 0; p < parities; p++) {
			u32 r = parities * h + p;

			x->ends.c[p][h] = ROW32(c[r]);
			x->ends.d[p][h] = d[r] == NO_ROW ? nowhere : ROW32(d[r]);
		}
}

/* On to the next warp. */
MMA_INLINE void next_tile(u32 quads, bool half, struct warp_tile *x)
{
	for (u32 h = 0; h < 2; h++) {
		for (u32 q = 0; q < quads; q++)
			x->a[h][q] += WARP_LANES;
		for (u32 p = 0; p < (half ? 1u : 2u); p++) {
			x->ends.c[p][h] += WARP_LANES;
			x->ends.d[p][h] += WARP_LANES;
		}
	}
	for (u32 q = 0; q < quads; q++)
		x->b[q] += WARP_LANES;
}

/* The decoded factors of one warp; those that are not plain are not here. */
struct tile_factors {
	struct mma_left l;
	struct mma_right r;
	bool left, right;
	struct mma_range range[2];
};

static inline bool has_common_factor(const struct uop *in)
{
	return in->product.same_a || in->product.same_b;
}

/* Does an observer see every micro-op? */
static inline bool sees_each(const struct exec_env *e)
{
	return exec_is_observed(e) && e->observer->step;
}

/* The micro-ops that begin at `in`. */
MMA_INLINE u32 find_chain(const struct gang *g, const struct uop *in, u32 quads, bool half,
			  struct warp_tile *x, u32 *nowhere)
{
	u32 n = 0;

	do
		find_tile(g, in + 2 * n, quads, half, &x[n], nowhere);
	while (has_common_factor(x[n++].in) && n < CHAIN && !sees_each(g->env));
	return n;
}

/* A form: how it is planned. Accumulators of half are f16. */
struct tile_plan {
	u8 type;
	enum mma_quads quads;
	enum mma_adder_kind adder;
	bool wide, half;
};

MMA_INLINE bool multiply_tile(const struct tile_plan *p, const struct mma_round *round,
			      const struct warp_tile *x, const struct uop_product *last,
			      struct tile_factors *f)
{
	static const struct mma_lay lay = {0}; /* nothing is negated */
	const struct mma_decoder *decoder = &EXEC_NAME(mma_dense)[p->type][p->quads];
	const struct mma_left_at from = {x->a[0], x->a[1], NULL};

	if (!last || !last->same_a)
		f->left = decoder->left(&lay, &from, &f->l, &f->range[0]);
	if (!last || !last->same_b)
		f->right = decoder->right(&lay, x->b, &f->r, &f->range[1]);
	return f->left && f->right && (!p->wide || mma_in_range(&f->range[0], &f->range[1])) &&
	       mma_add_tile(&EXEC_NAME(mma_adders)[p->adder], &lay, round, &x->ends, &f->l, &f->r);
}

MMA_INLINE const struct uop *multiply_chain(struct gang *g, const struct uop *in,
					    const struct tile_plan *p)
{
	const struct mma_round round = {.fraction = in->product.rule.fraction,
					.below = in->product.rule.below};
	const u32 quads = p->quads == MMA_QUADS_PAIR ? 2 : 1;
	u32 nowhere[GANG_WARPS * WARP_LANES] __attribute__((aligned(64))), n;
	struct warp_tile x[CHAIN];
	struct tile_factors f;

	for (u32 w = 0; w < WARPS; w++)
		if (!mma_warp_is_whole(g, w))
			return mma_warp_incomplete(g, in);
	n = find_chain(g, in, quads, p->half, x, nowhere);
	for (u32 w = 0; w < WARPS; w++) {
		const struct uop_product *last = NULL;

		for (u32 i = 0; i < n; i++) {
			if (!multiply_tile(p, &round, &x[i], last, &f))
				EXEC_NAME(mma_warp)(g, x[i].in, w);
			last = &x[i].in->product;
			next_tile(quads, p->half, &x[i]);
		}
	}
	return in + 2 * n - 1;
}

#define TILE(id, ...)                                                                              \
	HANDLER(id)                                                                                \
	{                                                                                          \
		static const struct tile_plan plan = {__VA_ARGS__};                                \
                                                                                                   \
		return multiply_chain(g, in, &plan);                                               \
	}

TILE(mma_f16, .type = MMA_F16, .quads = MMA_QUADS_PAIR, .adder = MMA_ADD_F32)
TILE(mma_f16_k8, .type = MMA_F16, .quads = MMA_QUADS_ONE, .adder = MMA_ADD_F32_ONE)
TILE(mma_half, .type = MMA_F16, .quads = MMA_QUADS_PAIR, .adder = MMA_ADD_F16, .half = true)
TILE(mma_bf16, .type = MMA_BF16, .quads = MMA_QUADS_PAIR, .adder = MMA_ADD_WIDE_TWO, .wide = true)
TILE(mma_tf32, .type = MMA_TF32, .quads = MMA_QUADS_PAIR, .adder = MMA_ADD_WIDE, .wide = true)
