/*
 * The order of two factors, or two summands, of f64. ptxas puts the value in front that the program
 * makes first, and after what it knows when it compiles. That can be seen in NaN results: of two
 * NaNs that of the second operand stays. Copies, neg and abs make no value of their own. Read from
 * ptxas's machine code, confirmed on an H200.
 */
#include "src/lower/lower_int.h"

#include <stdlib.h>

#define MADE_CONSTANT UINT32_MAX

static bool has_order(const struct isa_form *form)
{
	return form && (form->row->row == I_fma_f64 || form->row->row == I_mad_f64 ||
			(form->row->row == I_add_sub_mul_f64));
}

/* Functions without such an operation need nothing. */
static bool is_needed(const struct ir_func *f)
{
	for (size_t i = 0; i < f->insns.len; i++)
		if (has_order(f->insns.at[i].form))
			return true;
	return false;
}

void lower_made_open(struct lower *l)
{
	l->made_last = 0;
	l->made = NULL;
	if (!l->contract || !is_needed(l->f))
		return;
	l->made = calloc(l->f->regs.len + 1, sizeof(*l->made));
	l->failed |= !l->made;
}

void lower_made_close(struct lower *l)
{
	free(l->made);
	l->made = NULL;
}

/* The register that the instruction copies, with another sign at most; NULL: it makes a value. */
static const struct ir_operand *copied(const struct lower *l)
{
	const struct ir_insn *in = l->in;
	enum isa_mnemonic opcode = ir_opcode(in);
	const struct ir_operand *ops = &l->f->operands.at[in->first_op];
	bool sign = (opcode == OPCODE_neg || opcode == OPCODE_abs) && in->form->types &&
		    in->form->type[0] == T_f64;

	if (in->ops != 2 || in->guard != IR_NONE || ops[0].kind != IR_OP_REG ||
	    ops[1].kind != IR_OP_REG)
		return NULL;
	return sign || opcode == OPCODE_mov ? &ops[1] : NULL;
}

static void note(struct lower *l, u32 reg, u32 roles)
{
	if (roles == ISA_WRITE)
		l->made[reg] = lower_is_constant(l, reg) ? MADE_CONSTANT : ++l->made_last;
}

void lower_made_note(struct lower *l)
{
	const struct ir_operand *from;

	if (!l->made || !l->in->form)
		return;
	from = copied(l);
	if (from)
		l->made[lower_operand(l, 0)->index] = l->made[from->index];
	else
		lower_visit(l, l->in, note);
}

static u32 made(const struct lower *l, const struct ir_operand *op)
{
	if (op->kind == IR_OP_FLOAT)
		return MADE_CONSTANT;
	return op->kind == IR_OP_REG && l->made ? l->made[op->index] : 0;
}

bool lower_is_exchanged(const struct lower *l, const struct ir_operand *a,
			const struct ir_operand *b)
{
	return made(l, a) > made(l, b);
}
