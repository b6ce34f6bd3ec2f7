/*
 * CTAs that have nothing to do. Many kernels begin by asking whether their threads are beyond the
 * end of the data. When that depends on launch values and %ctaid alone (affine.h), it can be told
 * for all threads of a CTA without running them, and grids far larger than their data cost little.
 *
 * The first micro-ops of the kernel are walked along with what is known of each predicate; where
 * threads might part, or do something that can be seen, the walk ends and the CTA is run.
 */
#include "src/exec/affine.h"
#include "src/lower/lower_int.h"

/* How many micro-ops a walk inspects. */
#define WALK_MAX 64u

/* Bit n: the nth predicate row is true, false, for all threads. */
struct known {
	u64 all, none;
};

/* Bit of a predicate row, 0: it is beyond those that are counted. */
static u64 bit_of(const struct program *p, u32 row)
{
	u32 n = (row - p->preds_at) / 64;

	return n < 64 ? (u64)1 << n : 0;
}

static bool is_pred(const struct program *p, u32 row)
{
	return row != NO_ROW && row >= p->preds_at && row < p->affine_at;
}

static void forget_pred(const struct program *p, struct known *k, u32 row)
{
	if (!is_pred(p, row))
		return;
	k->all &= ~bit_of(p, row);
	k->none &= ~bit_of(p, row);
}

static void set(const struct program *p, struct known *k, u32 row, bool all, bool none)
{
	forget_pred(p, k, row);
	k->all |= all ? bit_of(p, row) : 0;
	k->none |= none ? bit_of(p, row) : 0;
}

/* Does every thread (1), does none (0) go the way of the guard; -1: it is not known. */
static int guard(const struct program *p, const struct known *k, const struct uop *in)
{
	bool not = in->flags & UOPF_GUARD_NOT;

	if (in->guard == NO_ROW)
		return 1;
	if (k->all & bit_of(p, in->guard))
		return !not ;
	return k->none & bit_of(p, in->guard) ? not : -1;
}

static void combine_preds(const struct program *p, struct known *k, const struct uop *in)
{
	u64 a = bit_of(p, in->a), b = in->b == NO_ROW ? 0 : bit_of(p, in->b);
	bool x = k->all & a, not_x = k->none & a, y = k->all & b, not_y = k->none & b;

	switch (in->op) {
	case OP_and_pred:
		set(p, k, in->d, x && y, not_x || not_y);
		break;
	case OP_or_pred:
		set(p, k, in->d, x || y, not_x && not_y);
		break;
	case OP_xor_pred:
		set(p, k, in->d, (x && not_y) || (not_x && y), (x && y) || (not_x && not_y));
		break;
	case OP_not_pred:
		set(p, k, in->d, not_x, x);
		break;
	default:
		set(p, k, in->d, x, not_x);
		break;
	}
}

static bool is_pred_op(u32 op)
{
	return op == OP_and_pred || op == OP_or_pred || op == OP_xor_pred || op == OP_not_pred ||
	       op == OP_mov_pred;
}

/* Micro-ops that write rows and do nothing else, and what stands between them. */
static bool only_computes(const struct uop *in)
{
	return uop_is_value(in->op) || in->op == OP_join || in->op == OP_nop;
}

/* Steps of `step` that a value may take from where it is without leaving its range. */
static u64 steps(const struct affine_answer *r, u32 step)
{
	if (!step)
		return UINT64_MAX - 1;
	return step >> 31 ? (r->low - r->from) / (0 - step) : (r->to - r->low) / step;
}

/* *run: CTAs of which the same is known. */
static void decide(const struct cta *c, struct known *k, const struct uop *in, u64 *run)
{
	const struct affine *a = affine_whole(c, in->affine.number);
	u32 compare = in->affine.compare, y = affine_operand(c->gang->regs + in->b, &compare);
	struct affine_answer r = affine_decide(a, compare, affine_offset(a, c->id), y);

	set(c->env->program, k, in->d, r.all > 0, r.all == 0);
	*run = min_u64(*run, r.all < 0 ? 1 : 1 + steps(&r, a->part[AFFINE_X]));
}

u64 exec_cta_idle(struct cta *c, u64 most)
{
	const struct program *p = c->env->program;
	struct known k;
	u64 run = most;
	u32 pc = p->funcs[0].first;

	if (PL_UNLIKELY(!c->launched))
		exec_cta_launch(c);
	k = (struct known){c->fixed_true, c->fixed_false};
	for (u32 n = 0; n < WALK_MAX; n++) {
		const struct uop *in = &p->uop[pc++];
		int way;

		if (in->op == OP_setp_affine) {
			decide(c, &k, in, &run);
		} else if (is_pred_op(in->op)) {
			combine_preds(p, &k, in);
		} else if (in->op == OP_exit || in->op == OP_bra || in->op == OP_bra_pred) {
			way = guard(p, &k, in);
			if (way < 0 || (way && in->op == OP_exit))
				return way > 0 ? run : 0;
			if (way)
				pc = in->branch.target;
		} else if (only_computes(in)) {
			forget_pred(p, &k, in->d);
			forget_pred(p, &k, uop_is_lane(in->op) ? in->lane.e : NO_ROW);
		} else {
			return 0;
		}
	}
	return 0;
}

/* Predicates that the launch has made, or that are constant. */
void exec_idle_prepare(struct cta *c)
{
	const struct program *p = c->env->program;

	c->fixed_true = c->fixed_false = 0;
	for (u64 m = p->fixed_preds; m; m &= m - 1) {
		u32 n = (u32)__builtin_ctzll(m), any = 0, all = FULL_MASK;

		for (u32 i = 0; i < c->gangs; i++)
			for (u32 w = 0; w < c->gang[i].warps; w++) {
				u32 mask = ((const u32 *)(const void *)(c->gang[i].regs +
									p->preds_at + 64 * n))[w];

				any |= mask;
				all &= mask;
			}
		c->fixed_true |= all == FULL_MASK ? m & -m : 0;
		c->fixed_false |= any ? 0 : m & -m;
	}
}

/* Does the kernel's first branch lead to its end? */
bool lower_may_be_idle(const struct program *p)
{
	for (u32 pc = p->funcs[0].first, n = 0; n < WALK_MAX && pc < p->funcs[0].end; n++, pc++) {
		const struct uop *in = &p->uop[pc];

		if (in->op == OP_exit)
			return true;
		if (in->op == OP_bra || in->op == OP_bra_pred) {
			if (in->branch.target == NO_PC)
				return false;
			for (pc = in->branch.target; p->uop[pc].op == OP_join;)
				pc++;
			return p->uop[pc].op == OP_exit && p->uop[pc].guard == NO_ROW;
		}
		if (in->op != OP_setp_affine && !only_computes(in))
			return false;
	}
	return false;
}
