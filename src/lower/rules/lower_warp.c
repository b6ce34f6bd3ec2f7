/*
 * Lowering of warp instructions to micro-ops of op_warp.c. A guarded one becomes a branch around
 * it: the lanes that take part must be a group of their own, since they may have to wait.
 */
#include "src/lower/lower_int.h"
#include "src/num/numeric.h"
#include "src/uop/warp.h"

struct warp_row {
	enum isa_mnemonic opcode;
	enum isa_word word[2]; /* modifiers and types that it has to have */
	u8 action;             /* enum warp_action */
	u8 flags;
};

enum { ALONE = 1, WIDE = 2 };

static const struct warp_row rows[] = {
#define FORM(opcode, word, word2, id, flags) {OPCODE_##opcode, {word, word2}, WARP_##id, flags},
#include "src/uop/table/warp.def"
};

static const struct warp_row *find_warp_row(const struct isa_form *form)
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
	const struct warp_row *row = find_warp_row(form);
	const struct ir_operand *d = lower_named(l, 'd'), *p = lower_named(l, 'p'),
				*m = lower_named(l, 'm');
	u32 a = IR_NONE, b, c, mask = IR_NONE, skip = IR_NONE, pred = IR_NONE, dst = IR_NONE;
	bool vote = row && warp_takes_predicate(row->action);
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
				 vote                ? ROW_P
				 : row->flags & WIDE ? ROW_X
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
	in->warp.action = row->action;
	in->warp.alone = row->flags & ALONE || (!m && row->action != WARP_ACTIVE);
	in->warp.wide = row->flags & WIDE;
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
