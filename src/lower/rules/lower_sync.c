/*
 * Lowering of barriers and fences. Guarded barriers become a branch around them: lanes that wait
 * must be a group of their own. PTX ISA "Parallel Synchronization and Communication Instructions:
 * bar, barrier", "barrier.cluster", "membar, fence".
 */
#include "src/lower/lower_int.h"

/* Barrier number and thread count: constants in imm, else rows a and c. */
static void emit_bar(struct lower *l, enum exec_op op, u32 kind)
{
	const struct ir_operand *id = lower_named(l, 'a'), *n = lower_named(l, 'n'),
				*d = lower_named(l, 'd'), *p = lower_named(l, 'c');
	u32 a = IR_NONE, c = IR_NONE, dst = IR_NONE, pred = IR_NONE, skip = IR_NONE;
	struct uop *in;
	u32 number = 0, threads = 0;

	if (l->guard != IR_NONE)
		skip = lower_skip(l);
	if (id->kind == IR_OP_INT)
		number = (u32)id->imm;
	else
		a = lower_source(l, id, T_u32, ROW_W);
	if (n && n->kind == IR_OP_INT)
		threads = (u32)n->imm;
	else if (n)
		c = lower_source(l, n, T_u32, ROW_W);
	if (p)
		pred = lower_source(l, p, T_pred, ROW_P);
	if (d && d->kind == IR_OP_REG)
		dst = lower_register(l, d, 0);
	in = lower_emit_free(l, op);
	in->barrier.number = number;
	in->barrier.threads = threads;
	in->barrier.reduction = (u8)kind;
	lower_read(l, FIELD_A, a);
	lower_read(l, FIELD_B, pred);
	lower_read(l, FIELD_C, c);
	lower_write(l, FIELD_D, dst);
	if (skip != IR_NONE)
		lower_skip_end(l, skip);
}

/* A micro-op without operands that needs its lanes to be a group. */
static void emit_plain(struct lower *l, enum exec_op op)
{
	u32 skip = l->guard != IR_NONE ? lower_skip(l) : IR_NONE;

	lower_emit_free(l, op);
	if (skip != IR_NONE)
		lower_skip_end(l, skip);
}

void lower_bar(struct lower *l)
{
	const struct isa_form *form = l->in->form;

	switch (isa_form_opcode(form)) {
	case OPCODE_bar_warp_sync:
		lower_warp(l);
		break;
	case OPCODE_barrier_cluster_arrive:
		lower_emit(l, OP_cluster_arrive);
		break;
	case OPCODE_barrier_cluster_wait:
		emit_plain(l, OP_cluster_wait);
		break;
	case OPCODE_bar_arrive:
	case OPCODE_bar_cta_arrive:
	case OPCODE_barrier_arrive:
	case OPCODE_barrier_cta_arrive:
		emit_bar(l, OP_bar_arrive, 0);
		break;
	case OPCODE_bar_red:
	case OPCODE_bar_cta_red:
	case OPCODE_barrier_red:
	case OPCODE_barrier_cta_red:
		emit_bar(l, OP_bar_red,
			 isa_form_has(form, M_popc)  ? BAR_POPC
			 : isa_form_has(form, M_and) ? BAR_AND
						     : BAR_OR);
		break;
	default:
		emit_bar(l, OP_bar_sync, 0);
		break;
	}
}

void lower_emit_mark(struct lower *l, enum uop_mark what, u32 number)
{
	struct uop *in;

	if (!l->options.no_fusion && !l->options.one_to_one &&
	    !(l->options.counts & LOWER_COUNT_INSNS))
		return;
	in = lower_emit(l, OP_mark);
	in->group.action = (u8)what;
	in->group.pending = number;
}

void lower_mark(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const struct ir_operand *n = lower_operand(l, 0);

	if (isa_form_opcode(form) == OPCODE_griddepcontrol)
		lower_emit_mark(l, isa_form_has(form, M_wait) ? MARK_GRID_WAIT : MARK_GRID_LAUNCH,
				0);
	else
		lower_emit_mark(l,
				isa_form_opcode(form) == OPCODE_setmaxnreg_inc
					? MARK_REGISTERS_MORE
					: MARK_REGISTERS_LESS,
				n ? (u32)n->imm : 0);
}

void lower_fence(struct lower *l)
{
	const struct ir_operand *map = lower_named(l, 'a');
	u32 a = map ? lower_address_row(l, map) : IR_NONE;

	lower_emit(l, OP_fence)->flags |= isa_form_has(l->in->form, M_sys) ? UOPF_SYSTEM : 0;
	if (a != IR_NONE)
		lower_read(l, FIELD_A, a);
}
