/*
 * Approximations of constants. ptxas computes rcp, sqrt, rsqrt, lg2, ex2, sin and cos .approx of a
 * number that it knows itself, and exactly: rounded to nearest, which the device's approximation is
 * not always. Seen in its machine code for 1,200 constants; it does so for normal numbers with
 * normal results (or zero), what becomes of others the device gives as well. A register is known
 * that is set once, by mov of a number.
 */
#include "src/lower/lower_int.h"

#include <math.h>
#include <stdlib.h>

typedef double function(double x);

static double reciprocal(double x)
{
	return 1 / x;
}

static double reciprocal_root(double x)
{
	return 1 / sqrt(x);
}

static const struct {
	enum exec_op op;
	function *exact;
} folded[] = {
	{OP_rcp_approx, reciprocal},
	{OP_rcp_approx_ftz, reciprocal},
	{OP_sqrt_approx, sqrt},
	{OP_sqrt_approx_ftz, sqrt},
	{OP_rsqrt_approx, reciprocal_root},
	{OP_rsqrt_approx_ftz, reciprocal_root},
	{OP_lg2_approx, log2},
	{OP_lg2_approx_ftz, log2},
	{OP_ex2_approx, exp2},
	{OP_ex2_approx_ftz, exp2},
	{OP_sin_approx, sin},
	{OP_cos_approx, cos},
};

static function *exact_function(u32 op)
{
	for (size_t i = 0; i < ARRAY_LEN(folded); i++)
		if (folded[i].op == op)
			return folded[i].exact;
	return NULL;
}

/* What is known of a register: how often it is set, and the micro-op that does so. */
struct known {
	u32 writes, writer;
};

struct fold {
	struct lower *l;
	struct known *vreg; /* by number; `vregs` of them */
	u32 *source;        /* by micro-op: the reference to its operand a, IR_NONE: none */
	u32 vregs;
};

/*
 * The constant that a reference reads, IR_NONE: not known. Copies of copies are followed a little.
 */
static u32 constant_at(const struct fold *f, u32 ref)
{
	for (u32 steps = 0; ref != IR_NONE && steps < 8; steps++) {
		u32 v = f->l->refs.at[ref].vreg, writer;

		if (f->l->vregs.at[v].is_const)
			return v;
		writer = v < f->vregs && f->vreg[v].writes == 1 ? f->vreg[v].writer : IR_NONE;
		if (writer == IR_NONE || f->l->uops.at[writer].op != OP_mov_b32)
			return IR_NONE;
		ref = f->source[writer];
	}
	return IR_NONE;
}

static bool fold_one(struct fold *f, u32 i, function *exact)
{
	struct lower *l = f->l;
	u32 v = constant_at(f, f->source[i]), bits;
	f32 x, y;

	if (v == IR_NONE)
		return true;
	bits = (u32)l->vregs.at[v].bits;
	memcpy(&x, &bits, sizeof(x));
	if (!isnormal(x))
		return true;
	y = (f32)exact((double)x);
	if (!isnormal(y) && y != 0)
		return true;
	memcpy(&bits, &y, sizeof(bits));
	l->refs.at[f->source[i]].vreg = lower_const(l, ROW_W, bits);
	if (l->uops.at[i].op != OP_guard)
		l->uops.at[i].op = OP_mov_b32;
	l->uops.at[i].inner = OP_mov_b32;
	return !l->failed;
}

static void look(struct fold *f)
{
	for (u32 i = 0; i < f->l->uops.len; i++)
		f->source[i] = IR_NONE;
	for (u32 r = 0; r < f->l->refs.len; r++) {
		const struct row_ref *x = &f->l->refs.at[r];

		if (x->vreg == IR_NONE)
			continue;
		if (x->write) {
			f->vreg[x->vreg].writes++;
			f->vreg[x->vreg].writer = x->insn;
		} else if (x->field == FIELD_A) {
			f->source[x->insn] = r;
		}
	}
}

bool lower_fold(struct lower *l)
{
	struct fold f = {.l = l, .vregs = (u32)l->vregs.len};
	bool ok, any = false;

	for (u32 i = 0; i < l->uops.len; i++)
		any |= exact_function(l->uops.at[i].inner) != NULL;
	if (!any || !l->options.contract)
		return true;
	f.vreg = calloc(f.vregs + 1, sizeof(*f.vreg));
	f.source = calloc(l->uops.len + 1, sizeof(*f.source));
	ok = f.vreg && f.source;
	if (ok)
		look(&f);
	for (u32 i = 0; ok && i < l->uops.len; i++) {
		function *exact = exact_function(l->uops.at[i].inner);

		ok = !exact || fold_one(&f, i, exact);
	}
	free(f.vreg);
	free(f.source);
	return ok;
}
