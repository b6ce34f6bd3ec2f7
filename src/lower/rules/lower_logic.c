/*
 * Lowering of logic and bit operations that depend on constants of the instruction or have a second
 * result: lop3, bfe, prmt.
 */
#include "src/lower/lower_int.h"

static void emit_lop3(struct lower *l, u32 d, const u32 src[3], u32 table, bool guarded)
{
	struct lower_key k;
	enum exec_op op;

	lower_key_begin(&k, OPCODE_lop3);
	lower_key_add(&k, LOWER_KEY_TABLE | table);
	op = lower_find_op(&k);
	lower_op(l, op == EXEC_OPS ? OP_lop3 : op, d, src[0], src[1], src[2], guarded);
	lower_last(l)->lane.imm = table;
}

/* PTX ISA "lop3": with .or and .and, p = (d != 0) combined with q. */
void lower_lop3(struct lower *l)
{
	const struct ir_operand *dst = lower_operand(l, 0), *p = lower_operand(l, 1);
	u32 word = isa_form_word(l->in->form, ISA_K_OP, 0), first = word ? 2 : 1, src[3], table, t,
	    test, c;

	for (u32 i = 0; i < 3; i++)
		src[i] = lower_source(l, lower_operand(l, first + i), T_b32, ROW_W);
	table = (u32)lower_operand(l, first + 3)->imm & 0xff;
	if (!word) {
		emit_lop3(l, lower_target(l, dst, ROW_W), src, table, true);
		return;
	}
	c = lower_source(l, lower_operand(l, first + 4), T_pred, ROW_P);
	t = lower_vreg(l, ROW_W);
	test = lower_vreg(l, ROW_P);
	emit_lop3(l, t, src, table, false);
	lower_op(l, OP_setp_ne_b32, test, t, lower_const(l, ROW_W, 0), IR_NONE, false);
	if (dst->kind == IR_OP_REG)
		lower_op(l, OP_mov_b32, lower_register(l, dst, 0), t, IR_NONE, IR_NONE, true);
	lower_op(l, word == M_and ? OP_and_pred : OP_or_pred, lower_target(l, p, ROW_P), test, c,
		 IR_NONE, true);
}

/*
 * Position and length both constants: what the assembler folds differs from what the device
 * computes.
 */
void lower_bfe(struct lower *l)
{
	const struct ir_operand *pos = lower_operand(l, 2), *len = lower_operand(l, 3);

	if (l->in->form->type[0] != T_s32 || pos->kind != IR_OP_INT || len->kind != IR_OP_INT) {
		lower_lanes(l);
		return;
	}
	lower_op(l, OP_bfe_folded_s32, lower_target(l, lower_operand(l, 0), ROW_W),
		 lower_source(l, lower_operand(l, 1), T_s32, ROW_W),
		 lower_source(l, pos, T_u32, ROW_W), lower_source(l, len, T_u32, ROW_W), true);
}

/* A constant selector needs no row. */
void lower_prmt(struct lower *l)
{
	const struct ir_operand *sel = lower_operand(l, 3);

	if (isa_form_word(l->in->form, ISA_K_PRMT, 0) || sel->kind != IR_OP_INT) {
		lower_lanes(l);
		return;
	}
	lower_op(l, OP_prmt_fixed, lower_target(l, lower_operand(l, 0), ROW_W),
		 lower_source(l, lower_operand(l, 1), T_b32, ROW_W),
		 lower_source(l, lower_operand(l, 2), T_b32, ROW_W), IR_NONE, true);
	lower_last(l)->lane.imm = sel->imm;
}
