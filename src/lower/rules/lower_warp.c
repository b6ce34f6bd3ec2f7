/*
 * Lowering of warp instructions to records of op_warp.c. A guarded one becomes a branch around it:
 * the lanes that take part must be a group of their own, since they may have to wait.
 */
#include "src/lower/lower_int.h"
#include "src/num/numeric.h"
#include "src/uop/warp.h"

struct warp_row {
	enum isa_mnemonic opcode;
	enum isa_word word[2]; /* modifiers and types that it has to have */
	u8 kind;
	bool alone, wide; /* as of struct uop_warp */
};

static const struct warp_row rows[] = {
	{OPCODE_shfl, {M_up}, WARP_SHFL_UP},
	{OPCODE_shfl, {M_down}, WARP_SHFL_DOWN},
	{OPCODE_shfl, {M_bfly}, WARP_SHFL_BFLY},
	{OPCODE_shfl, {M_idx}, WARP_SHFL_IDX},
	{OPCODE_vote, {M_all}, WARP_VOTE_ALL},
	{OPCODE_vote, {M_any}, WARP_VOTE_ANY},
	{OPCODE_vote, {M_uni}, WARP_VOTE_UNI},
	{OPCODE_vote, {M_ballot}, WARP_BALLOT},
	{OPCODE_match, {M_any, T_b32}, WARP_MATCH_ANY},
	{OPCODE_match, {M_any, T_b64}, WARP_MATCH_ANY, .wide = true},
	{OPCODE_match, {M_all, T_b32}, WARP_MATCH_ALL},
	{OPCODE_match, {M_all, T_b64}, WARP_MATCH_ALL, .wide = true},
	{OPCODE_redux, {M_add, T_u32}, WARP_ADD},
	{OPCODE_redux, {M_add, T_s32}, WARP_ADD},
	{OPCODE_redux, {M_min, T_u32}, WARP_MIN_U32},
	{OPCODE_redux, {M_max, T_u32}, WARP_MAX_U32},
	{OPCODE_redux, {M_min, T_s32}, WARP_MIN_S32},
	{OPCODE_redux, {M_max, T_s32}, WARP_MAX_S32},
	{OPCODE_redux, {M_and, T_b32}, WARP_AND},
	{OPCODE_redux, {M_or, T_b32}, WARP_OR},
	{OPCODE_redux, {M_xor, T_b32}, WARP_XOR},
	{OPCODE_redux, {M_min, T_f32}, WARP_MIN_F32},
	{OPCODE_redux, {M_max, T_f32}, WARP_MAX_F32},
	{OPCODE_activemask, {T_b32}, WARP_ACTIVE, .alone = true},
	{OPCODE_elect, {ISA_NONE}, WARP_ELECT},
	{OPCODE_bar_warp_sync, {ISA_NONE}, WARP_BARRIER},
};

static const struct warp_row *find(const struct isa_form *form)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool fits = rows[i].opcode == isa_form_opcode(form);

		for (u32 k = 0; k < ARRAY_LEN(rows[i].word); k++)
			fits &= !rows[i].word[k] || isa_form_has(form, rows[i].word[k]);
		if (fits)
			return &rows[i];
	}
	return NULL;
}

static u32 row_or_none(struct lower *l, const struct ir_operand *op, u32 type, enum row_class class)
{
	return op ? lower_source(l, op, type, class) : IR_NONE;
}

void lower_warp(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const struct warp_row *row = find(form);
	const struct ir_operand *d = lower_named(l, 'd'), *p = lower_named(l, 'p'),
				*m = lower_named(l, 'm');
	u32 a = IR_NONE, b, c, mask = IR_NONE, skip = IR_NONE, pred = IR_NONE, dst = IR_NONE;
	bool vote = row && row->kind >= WARP_VOTE_ALL && row->kind <= WARP_BALLOT;
	struct uop *in;
	u32 members = 0;

	if (!row) {
		lower_poison(l, form->row->name[form->name]);
		return;
	}
	if (l->guard != IR_NONE)
		skip = lower_skip(l);
	if (lower_named(l, 'a'))
		a = lower_source(l, lower_named(l, 'a'), T_b32,
				 vote        ? ROW_P
				 : row->wide ? ROW_X
					     : ROW_W);
	b = row_or_none(l, lower_named(l, 'b'), T_b32, ROW_W);
	c = row_or_none(l, lower_named(l, 'c'), T_b32, ROW_W);
	if (m && m->kind == IR_OP_INT)
		members = (u32)m->imm;
	else if (m)
		mask = lower_source(l, m, T_b32, ROW_W);
	if (d && d->kind == IR_OP_REG && d->type == T_pred)
		pred = lower_register(l, d, 0);
	else if (d && d->kind == IR_OP_REG)
		dst = lower_register(l, d, 0);
	if (p && p->kind == IR_OP_REG)
		pred = lower_register(l, p, 0);
	in = lower_emit_free(l, OP_warp_sync);
	in->warp.members = members;
	in->warp.mode = (isa_form_has(form, M_NaN) ? NUM_NAN : 0) |
			(isa_form_has(form, M_abs) ? NUM_ABS : 0);
	in->warp.action = row->kind;
	in->warp.alone = row->alone || (!m && row->kind != WARP_ACTIVE);
	in->warp.wide = row->wide;
	in->ext = (u32)l->ext.len;
	lower_read(l, FIELD_A, a);
	lower_read(l, FIELD_B, b);
	lower_read(l, FIELD_C, c);
	lower_write(l, FIELD_D, dst);
	lower_ext(l, pred, true);
	lower_ext(l, mask, false);
	if (skip != IR_NONE)
		lower_skip_end(l, skip);
}
