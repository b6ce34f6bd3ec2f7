/*
 * The commonest forms of mma: one tile of 16 rows and 8 columns, dense floating-point factors whose
 * products make one block. The layout is a constant here, so that loops and cases go when this is
 * compiled, and operands are read where they are. Warps whose numbers do not allow it, infinities
 * say, are left to mma.
 *
 * Kernels multiply one fragment by several others: records that follow one another and have an A or
 * a B in common, which lowering marks, are done together, warp by warp, and decode it once.
 */
#include "src/mma/mma_fused.h"
#include "src/mma/mma_product.h"

/* The fragments of one warp: of A by half of the rows and quad, of B by quad. */
struct tile {
	const u32 *a[2][2], *b[2];
	struct mma_ends sums;
	u8 fraction, below; /* see struct mma_rule */
	const struct uop *in;
};

/* Records that are done together, at most. */
#define CHAIN 8u

/*
 * The steps are functions, between which decoded factors lie in memory: words of B are then read
 * from there one by one.
 */
typedef bool left_step(const struct tile *x, struct mma_left *l, s32 *range);
typedef bool right_step(const struct tile *x, struct mma_right *r, s32 *range);
typedef enum mma_verdict sum_step(const struct tile *x, const struct mma_left *l,
				  const struct mma_right *r);

struct steps {
	left_step *left;
	right_step *right;
	sum_step *sum;
	sum_step *lacking; /* outputs may have no product but zeros */
};

MMA_INLINE enum mma_verdict sum_tile(const struct mma_lay *lay, bool half, bool none,
				     const struct tile *x, const struct mma_left *l,
				     const struct mma_right *r)
{
	const struct mma_round round = {.fraction = x->fraction, .below = x->below, .half = half};
	enum mma_verdict v;
	struct mma_sums s;

	mma_take_tile(&x->sums, half, &s);
	if (half && !mma_sums_are_plain(&s, true))
		return MMA_WRONG;
	v = mma_block_of(lay, lay->narrow, none, &round, l, r, 0, &s);
	if (v == MMA_RIGHT)
		mma_give_tile(&x->sums, half, &s);
	return v;
}

/* Of the gang's first warp. nowhere: a row for registers of D that nobody reads. */
MMA_INLINE void find_tile(const struct gang *g, const struct uop *in, u32 quads, bool half,
			  struct tile *x, u32 *nowhere)
{
	const u32 *d = g->env->program->ext + in->ext, *a = d + in->product.d,
		  *b = a + in->product.a, *c = b + in->product.b;
	const u32 parities = half ? 1 : 2;
	struct mma_rule rule;

	rule = in->product.rule;
	x->fraction = rule.fraction;
	x->below = rule.below;
	x->in = in;
	for (u32 q = 0; q < quads; q++) {
		x->a[0][q] = ROW32(a[2 * q]);
		x->a[1][q] = ROW32(a[2 * q + 1]);
		x->b[q] = ROW32(b[q]);
	}
	for (u32 h = 0; h < 2; h++)
		for (u32 p = 0; p < parities; p++) {
			u32 r = parities * h + p;

			x->sums.c[p][h] = ROW32(c[r]);
			x->sums.d[p][h] = d[r] == NO_ROW ? nowhere : ROW32(d[r]);
		}
}

/* On to the next warp. */
MMA_INLINE void next_tile(u32 quads, bool half, struct tile *x)
{
	for (u32 h = 0; h < 2; h++) {
		for (u32 q = 0; q < quads; q++)
			x->a[h][q] += WARP_LANES;
		for (u32 p = 0; p < (half ? 1u : 2u); p++) {
			x->sums.c[p][h] += WARP_LANES;
			x->sums.d[p][h] += WARP_LANES;
		}
	}
	for (u32 q = 0; q < quads; q++)
		x->b[q] += WARP_LANES;
}

/* The factors of one warp; those that are not plain are not here. */
struct factors {
	struct mma_left l;
	struct mma_right r;
	bool left, right;
	s32 range[4];
};

MMA_INLINE bool add_up(const struct steps *s, const struct tile *x, bool narrow,
		       const struct factors *f)
{
	enum mma_verdict v;

	if (!f->left || !f->right ||
	    (!narrow && !mma_in_range(f->range[0], f->range[1], f->range[2], f->range[3])))
		return false;
	v = s->sum(x, &f->l, &f->r);
	if (v == MMA_LACKS)
		v = s->lacking(x, &f->l, &f->r);
	return v == MMA_RIGHT;
}

static inline bool has_common_factor(const struct uop *in)
{
	return in->product.same_a || in->product.same_b;
}

/* The micro-ops that begin at `in`. Observers see every record. */
MMA_INLINE u32 find_chain(const struct gang *g, const struct uop *in, u32 quads, bool half,
			  struct tile *x, u32 *nowhere)
{
	u32 n = 0;

	do
		find_tile(g, in + 2 * n, quads, half, &x[n], nowhere);
	while (has_common_factor(x[n++].in) && n < CHAIN && !g->env->observer);
	return n;
}

MMA_INLINE const struct uop *multiply_warps(struct gang *g, const struct uop *in, u32 quads,
					    bool narrow, bool half, const struct steps *s)
{
	u32 nowhere[GANG_WARPS * WARP_LANES] __attribute__((aligned(64))), n;
	struct tile x[CHAIN];
	struct factors f;

	for (u32 w = 0; w < WARPS; w++)
		if (!matrix_is_whole(g, w))
			return matrix_part(g, in);
	n = find_chain(g, in, quads, half, x, nowhere);
	for (u32 w = 0; w < WARPS; w++) {
		const struct uop_product *last = NULL;

		for (u32 i = 0; i < n; i++) {
			if (!last || !last->same_a)
				f.left = s->left(&x[i], &f.l, f.range);
			if (!last || !last->same_b)
				f.right = s->right(&x[i], &f.r, f.range + 2);
			if (!add_up(s, &x[i], narrow, &f))
				EXEC_NAME(mma_warp)(g, x[i].in, w);
			last = &x[i].in->product;
			next_tile(quads, half, &x[i]);
		}
	}
	return in + 2 * n - 1;
}

#define STEP static __attribute__((noinline))
/* Factors of a form: name, what its layout has. */
#define FACTORS(name, ...)                                                                         \
	static const struct mma_lay name##_lay = {.blocks = 1, __VA_ARGS__};                       \
	STEP bool name##_left(const struct tile *x, struct mma_left *l, s32 *range)                \
	{                                                                                          \
		mma_left_type(&name##_lay, name##_lay.type[0], x->a[0], x->a[1], l);               \
		return mma_is_plain_left(&name##_lay, l, range, range + 1);                        \
	}                                                                                          \
	STEP bool name##_right(const struct tile *x, struct mma_right *r, s32 *range)              \
	{                                                                                          \
		mma_right_type(&name##_lay, name##_lay.type[1], x->b, r);                          \
		return mma_is_plain_right(&name##_lay, r, range, range + 1);                       \
	}
#define SUM(name, lay, half, none)                                                                 \
	STEP enum mma_verdict name(const struct tile *x, const struct mma_left *l,                 \
				   const struct mma_right *r)                                      \
	{                                                                                          \
		return sum_tile(&lay, half, none, x, l, r);                                        \
	}
/* An operation: its factors, whether its accumulators are f16. */
#define TILE(id, name, half)                                                                       \
	SUM(id##_sum, name##_lay, half, !name##_lay.narrow)                                        \
	SUM(id##_lacking, name##_lay, half, true)                                                  \
	HANDLER(id)                                                                                \
	{                                                                                          \
		static const struct steps steps = {name##_left, name##_right, id##_sum,            \
						   id##_lacking};                                  \
                                                                                                   \
		return multiply_warps(g, in, name##_lay.quads, name##_lay.narrow, half, &steps);   \
	}

FACTORS(f16, .type = {MMA_F16, MMA_F16}, .narrow = true, .quads = 2, .groups = 1, .slots = 15)
FACTORS(f16_k8, .type = {MMA_F16, MMA_F16}, .narrow = true, .quads = 1, .groups = 1, .slots = 5)
FACTORS(bf16, .type = {MMA_BF16, MMA_BF16}, .quads = 2, .groups = 2, .slots = 15)
FACTORS(tf32, .type = {MMA_TF32, MMA_TF32}, .quads = 2, .groups = 1, .slots = 15)
TILE(mma_f16, f16, false)
TILE(mma_f16_k8, f16_k8, false)
TILE(mma_half, f16, true)
TILE(mma_bf16, bf16, false)
TILE(mma_tf32, tf32, false)
