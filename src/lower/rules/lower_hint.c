/*
 * What instructions say about caches. It changes no result, so there are micro-ops for it only
 * where the program is lowered for an observer that wants to know; but policies are values of the
 * program.
 */
#include "src/base/l2_policy.h"
#include "src/exec/observer.h"
#include "src/lower/lower_int.h"

/* ---- createpolicy ---- */

static enum l2_priority priority_word(const struct isa_form *form, u32 nth)
{
	switch (isa_form_word(form, ISA_K_EVICT, nth)) {
	case M_L2_evict_first:
		return L2_PRIORITY_FIRST;
	case M_L2_evict_last:
		return L2_PRIORITY_LAST;
	case M_L2_evict_normal:
		return L2_PRIORITY_NORMAL;
	default:
		return L2_PRIORITY_UNCHANGED;
	}
}

static void lower_range(struct lower *l, const struct uop_policy *policy, u32 d)
{
	u32 a = lower_address_row(l, lower_named(l, 'a')),
	    n = lower_source(l, lower_named(l, 'n'), T_u32, ROW_W),
	    m = lower_source(l, lower_named(l, 'm'), T_u32, ROW_W);

	if (a == IR_NONE) {
		lower_poison(l, lower_mnemonic(l));
		return;
	}
	lower_emit(l, OP_policy)->policy = *policy;
	lower_read(l, FIELD_A, a);
	lower_read(l, FIELD_B, n);
	lower_read(l, FIELD_C, m);
	lower_write(l, FIELD_D, d);
}

void lower_policy(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const struct ir_operand *f = lower_named(l, 'f');
	struct uop_policy policy = {.primary = (u8)priority_word(form, 0),
				    .secondary = (u8)priority_word(form, 1),
				    .is_range = isa_form_opcode(form) == OPCODE_createpolicy_range};
	u32 d = lower_register(l, lower_named(l, 'd'), 0), v;

	if (policy.is_range) {
		lower_range(l, &policy, d);
		return;
	}
	if (isa_form_opcode(form) == OPCODE_createpolicy_cvt) {
		v = lower_source(l, lower_named(l, 'a'), T_b64, ROW_X);
	} else if (f) {
		v = lower_source(l, f, T_f32, ROW_W);
		lower_emit(l, OP_policy)->policy = policy;
		lower_read(l, FIELD_A, v);
		lower_write(l, FIELD_D, d);
		return;
	} else {
		v = lower_const(l, ROW_X,
				l2_policy_fractional((enum l2_priority)policy.primary,
						     (enum l2_priority)policy.secondary, 1));
	}
	lower_op(l, OP_mov_b64, d, v, IR_NONE, IR_NONE, true);
}

/* ---- hints ---- */

/* bytes: of those that say so; else once more the value. */
static void emit_hint_of(struct lower *l, enum exec_hint_kind kind, u32 value, u32 bytes)
{
	if (value == IR_NONE)
		return;
	lower_emit(l, OP_hint)->hint.kind = (u8)kind;
	lower_read(l, FIELD_A, value);
	lower_read(l, FIELD_B, bytes);
}

static void emit_hint(struct lower *l, enum exec_hint_kind kind, u32 value)
{
	emit_hint_of(l, kind, value, value);
}

static void emit_bulk_prefetch(struct lower *l)
{
	u32 at = lower_address_row(l, lower_named(l, 's')),
	    bytes = lower_source(l, lower_named(l, 'n'), T_u32, ROW_W);

	emit_hint_of(l, HINT_BULK_PREFETCH, at, bytes);
}

void lower_hint(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const struct ir_operand *p = lower_named(l, 'p');

	if (isa_form_has(form, M_L2_cache_hint) && p)
		emit_hint(l, HINT_POLICY, lower_source(l, p, T_u64, ROW_X));
	switch (form->row->row) {
	case I_applypriority:
		emit_hint(l, HINT_NORMAL, lower_address_row(l, lower_named(l, 'a')));
		return;
	case I_discard:
		emit_hint(l, HINT_DISCARD, lower_address_row(l, lower_named(l, 'a')));
		return;
	case I_prefetch:
	case I_prefetch_evict:
	case I_prefetchu:
		if (!isa_form_has(form, M_local))
			emit_hint(l, HINT_PREFETCH, lower_address_row(l, lower_named(l, 'a')));
		return;
	case I_cp_async_bulk_prefetch:
		emit_bulk_prefetch(l);
		return;
	default:
		return;
	}
}
