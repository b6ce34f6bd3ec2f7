/*
 * Micro-ops of the products and sums that lower_contract.c has found.
 */
#include "src/lower/lower_contract_int.h"

static u32 source_of(struct lower *l, u32 i, enum row_class class)
{
	const struct isa_form *form = l->in->form;
	const struct ir_operand *ops = &l->f->operands.at[l->in->first_op];

	return lower_source(l, &ops[i],
			    isa_operand_type(form, ir_operand_spec(form, ops, l->in->ops, i)),
			    class);
}

static u32 made_by(struct lower *l, enum exec_op op, u32 a, u32 b, enum row_class class)
{
	u32 t = lower_vreg(l, class);

	lower_op(l, op, t, a, b, IR_NONE, false);
	return t;
}

/* The factors, in rows that stay as they are. */
static void lower_factors(struct lower *l, struct product *p, enum row_class class)
{
	enum exec_op copy = class == ROW_X ? OP_mov_b64 : OP_mov_b32;
	bool plain = p->source->b == EXEC_OPS;

	p->a = source_of(l, 1, class);
	p->b = p->reciprocal ? lower_const(l, ROW_W, p->reciprocal) : source_of(l, 2, class);
	if (class == ROW_X && lower_is_exchanged(l, lower_operand(l, 1), lower_operand(l, 2))) {
		u32 second = p->a;

		p->a = p->b;
		p->b = second;
	}
	if (p->source->a != EXEC_OPS && !p->reciprocal)
		p->a = made_by(l, p->source->a, p->a, p->b, class);
	else if (p->copied)
		p->a = made_by(l, copy, p->a, IR_NONE, class);
	if (!plain && !p->reciprocal)
		p->b = made_by(l, p->source->b, p->b, IR_NONE, class);
	else if (p->copied && plain)
		p->b = made_by(l, copy, p->b, IR_NONE, class);
}

/* Is the product itself not needed? A debugger shows it all the same. */
static bool is_merged(const struct lower *l, const struct product *p)
{
	return p->fused && p->fused == p->uses && !l->options.one_to_one;
}

/* The factors are kept; true: the product itself is not needed any more. */
static bool lower_product(struct lower *l, struct product *p)
{
	enum row_class class = p->source->in.type == T_f64 ? ROW_X : ROW_W;
	enum exec_op op = p->source->in.ftz ? OP_mul_ftz_f32 : OP_mul_f32;
	const struct ir_operand *result = lower_operand(l, 0);
	u32 d;

	if (!p->fused && !p->reciprocal)
		return false;
	lower_factors(l, p, class);
	if (is_merged(l, p))
		return true;
	if (!p->reciprocal)
		return false;
	d = lower_target(l, result, ROW_W);
	lower_op(l, op, d, p->a, p->b, IR_NONE, true);
	lower_finish(l, result, d, T_f32, ROW_W);
	return true;
}

static void lower_sum(struct lower *l, const struct contract *c, const struct sum *s)
{
	const struct isa_form *form = l->in->form;
	const struct ir_operand *ops = &l->f->operands.at[l->in->first_op];
	const struct product *p = &c->products.at[s->product[s->taken]];
	const struct kind *k = s->kind;
	bool minus_ab = s->negated[s->taken] != (s->minus && s->taken),
	     minus_c = s->minus && !s->taken;
	enum exec_op op = minus_c ? k->minus_c : minus_ab ? k->minus_ab : k->fma;
	u32 a = p->a, v = source_of(l, s->taken ? 1 : 2, k->class), d;

	if (minus_ab && (minus_c || op == EXEC_OPS))
		a = made_by(l, k->neg, a, IR_NONE, k->class);
	if (minus_c && op == EXEC_OPS)
		v = made_by(l, k->neg, v, IR_NONE, k->class);
	if (op == EXEC_OPS)
		op = k->fma;
	d = lower_target(l, &ops[0], k->class);
	lower_op(l, op, d, a, p->b, v, true);
	lower_finish(l, &ops[0], d,
		     isa_operand_type(form, ir_operand_spec(form, ops, l->in->ops, 0)), k->class);
}

bool lower_contracted(struct lower *l)
{
	struct contract *c = l->contract;
	u32 s, p;

	if (!c)
		return false;
	s = c->sum_of[l->ir];
	p = c->product_of[l->ir];
	if (p && c->products.at[p - 1].insn != l->ir) /* a copy: of use if the product is */
		return is_merged(l, &c->products.at[p - 1]);
	if (p && lower_product(l, &c->products.at[p - 1]))
		return true;
	if (!s || c->sums.at[s - 1].taken == 2)
		return false;
	lower_sum(l, c, &c->sums.at[s - 1]);
	return true;
}
