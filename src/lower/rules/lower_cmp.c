/*
 * Lowering of comparisons. Operations exist for setp of one value and nothing else: Boolean
 * combinations, p|q, pairs and set are made of them, of predicate logic and of choices between
 * constants. PTX ISA "Comparison and Selection Instructions", "Half Precision Comparison
 * Instructions".
 */
#include "src/lower/lower_int.h"

/* What setp and set have in common. */
struct comparison {
	enum exec_op op, combine; /* combine EXEC_OPS: no Boolean operator */
	u32 type;                 /* of the sources, of one half for pairs */
	bool pair;
	u32 a, b, c;
};

/* The comparison of an instruction whose sources begin at operand `first`. False: poisoned. */
static bool read_comparison(struct lower *l, u32 first, u32 type, struct comparison *k)
{
	const struct isa_form *form = l->in->form;
	u32 word = isa_form_word(form, ISA_K_OP, 0);
	struct lower_key key;
	enum row_class class;
	char text[80];

	/* The comparison stands first; .lo and .hi are words of another kind. */
	k->pair = type == T_f16x2 || type == T_bf16x2;
	k->type = type == T_f16x2 ? T_f16 : type == T_bf16x2 ? T_bf16 : type;
	lower_key_begin(&key, OPCODE_setp);
	lower_key_add(&key, form->word[0]);
	if (isa_form_has(form, M_ftz))
		lower_key_add(&key, M_ftz);
	lower_key_add(&key, k->type);
	k->op = lower_find_op(&key);
	k->combine = word == M_and   ? OP_and_pred
		     : word == M_or  ? OP_or_pred
		     : word == M_xor ? OP_xor_pred
				     : EXEC_OPS;
	if (k->op == EXEC_OPS || (word && k->combine == EXEC_OPS)) {
		lower_text(form, text, sizeof(text));
		lower_poison(l, text);
		return false;
	}
	class = lower_class(isa_type_bits(k->type));
	k->a = lower_source(l, lower_operand(l, first), type, class);
	k->b = lower_source(l, lower_operand(l, first + 1), type, class);
	k->c = word ? lower_source(l, lower_operand(l, first + 2), T_pred, ROW_P) : IR_NONE;
	return true;
}

/* p combined with the instruction's c, in a temporary; p itself when there is no operator. */
static u32 combine_with_c(struct lower *l, const struct comparison *k, u32 p)
{
	u32 t;

	if (k->combine == EXEC_OPS)
		return p;
	t = lower_vreg(l, ROW_P);
	lower_op(l, k->combine, t, p, k->c, IR_NONE, false);
	return t;
}

static u32 emit_comparison(struct lower *l, const struct comparison *k, u32 a, u32 b)
{
	u32 p = lower_vreg(l, ROW_P);

	lower_op(l, k->op, p, a, b, IR_NONE, false);
	return p;
}

/* The comparison of the upper halves; operations look at the lower half alone. */
static u32 compare_upper(struct lower *l, const struct comparison *k)
{
	u32 a = lower_vreg(l, ROW_W), b = lower_vreg(l, ROW_W);

	lower_op(l, OP_high_half, a, k->a, IR_NONE, IR_NONE, false);
	lower_op(l, OP_high_half, b, k->b, IR_NONE, IR_NONE, false);
	return emit_comparison(l, k, a, b);
}

static void write_pred(struct lower *l, const struct ir_operand *op, u32 p)
{
	if (op->kind == IR_OP_REG)
		lower_op(l, OP_mov_pred, lower_register(l, op, 0), p, IR_NONE, IR_NONE, true);
}

/*
 * setp p|q: q is the operator applied to the negated comparison; of pairs, the answer for the upper
 * halves.
 */
void lower_setp(struct lower *l)
{
	const struct ir_operand *p = lower_operand(l, 0), *q = lower_operand(l, 1);
	bool two = q->flags & IR_BAR;
	struct comparison k;
	u32 t, u = IR_NONE;

	if (!read_comparison(l, two ? 2 : 1, l->in->form->type[0], &k))
		return;
	two &= q->kind == IR_OP_REG;
	if (!two && p->kind == IR_OP_REG && k.combine == EXEC_OPS) {
		lower_op(l, k.op, lower_register(l, p, 0), k.a, k.b, IR_NONE, true);
		return;
	}
	t = emit_comparison(l, &k, k.a, k.b);
	if (!two && p->kind == IR_OP_REG) {
		lower_op(l, k.combine, lower_register(l, p, 0), t, k.c, IR_NONE, true);
		return;
	}
	if (two && k.pair) {
		u = compare_upper(l, &k);
	} else if (two) {
		u = lower_vreg(l, ROW_P);
		lower_op(l, OP_not_pred, u, t, IR_NONE, IR_NONE, false);
	}
	/* Both are complete before either is written: c may be p or q. */
	t = combine_with_c(l, &k, t);
	if (two)
		u = combine_with_c(l, &k, u);
	/* A guard that is p has to last until q is written. */
	if (two && l->guard != IR_NONE && p->kind == IR_OP_REG &&
	    lower_register(l, p, 0) == l->guard) {
		write_pred(l, q, u);
		if (p->index != q->index)
			write_pred(l, p, t);
		return;
	}
	write_pred(l, p, t);
	if (two)
		write_pred(l, q, u);
}

/* True in a result of this type: all ones, or 1.0. */
static u32 true_bits(u32 type, bool pair)
{
	switch (type) {
	case T_f32:
		return 0x3f800000;
	case T_f16:
	case T_f16x2:
		return 0x3c00;
	case T_bf16:
	case T_bf16x2:
		return 0x3f80;
	case T_u16:
	case T_s16:
		return 0xffff;
	default:
		return pair ? 0xffff : 0xffffffff;
	}
}

void lower_set(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const struct ir_operand *dst = lower_operand(l, 0);
	u32 type = form->type[0], zero = lower_const(l, ROW_W, 0), one, p, q, d, low, high;
	struct comparison k;

	if (!read_comparison(l, 1, form->type[1], &k))
		return;
	one = true_bits(type, k.pair);
	p = combine_with_c(l, &k, emit_comparison(l, &k, k.a, k.b));
	d = lower_target(l, dst, ROW_W);
	if (!k.pair) {
		lower_op(l, OP_selp_b32, d, lower_const(l, ROW_W, one), zero, p, true);
	} else {
		q = combine_with_c(l, &k, compare_upper(l, &k));
		low = lower_vreg(l, ROW_W);
		high = lower_vreg(l, ROW_W);
		lower_op(l, OP_selp_b32, low, lower_const(l, ROW_W, one), zero, p, false);
		lower_op(l, OP_selp_b32, high, lower_const(l, ROW_W, (u64)one << 16), zero, q,
			 false);
		lower_op(l, OP_or_b16, d, low, high, IR_NONE, true);
	}
	lower_finish(l, dst, d, type, ROW_W);
}
