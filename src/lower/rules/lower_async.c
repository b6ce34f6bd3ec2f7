/*
 * Lowering of asynchronous copies, mbarriers and addresses in a cluster to micro-ops of op_async.c:
 * every address becomes a 64-bit row with its offset added. PTX ISA "Asynchronous Copy
 * Instructions", "mbarrier", "mapa", "getctarank", "isspacep".
 */
#include "src/uop/async.h"
#include "src/lower/lower_int.h"

/* Addresses of 32 bits wrap around. */
static u32 add_narrow(struct lower *l, u32 base, s64 imm)
{
	u32 t;

	if (!imm)
		return base;
	t = lower_vreg(l, ROW_W);
	lower_op(l, OP_add_imm_w, t, base, IR_NONE, IR_NONE, false);
	lower_last(l)->lane.imm = imm;
	return t;
}

u32 lower_address_row(struct lower *l, const struct ir_operand *op)
{
	u32 base, t;
	s64 imm;

	if (!op || !lower_address(l, op, &base, &imm))
		return IR_NONE;
	if (base == IR_NONE)
		return lower_const(l, ROW_X, (u64)imm);
	if (l->vregs.at[base].class == ROW_W) {
		base = add_narrow(l, base, imm);
		t = lower_vreg(l, ROW_X);
		lower_op(l, OP_zero_extend, t, base, IR_NONE, IR_NONE, false);
		return t;
	}
	if (!imm)
		return base;
	t = lower_vreg(l, ROW_X);
	lower_op(l, OP_add_imm_x, t, base, IR_NONE, IR_NONE, false);
	lower_last(l)->lane.imm = imm;
	return t;
}

static u32 source_or_none(struct lower *l, const struct ir_operand *op, u32 type,
			  enum row_class class)
{
	return op ? lower_source(l, op, type, class) : IR_NONE;
}

/* ---- cp.async ---- */

void lower_copy(struct lower *l)
{
	u32 d = lower_address_row(l, lower_named(l, 'd')),
	    s = lower_address_row(l, lower_named(l, 's'));
	u32 z = source_or_none(l, lower_named(l, 'z'), T_u32, ROW_W),
	    ignore = source_or_none(l, lower_named(l, 'i'), T_pred, ROW_P);
	struct uop *in;

	if (d == IR_NONE || s == IR_NONE) {
		lower_poison(l, lower_mnemonic(l));
		return;
	}
	in = lower_emit(l, OP_cp_async);
	in->mem.size = (u8)lower_named(l, 'n')->imm;
	in->mem.space = MEM_SHARED;
	in->copy.bypass = isa_form_has(l->in->form, M_cg); /* for observers */
	lower_read(l, FIELD_A, d);
	lower_read(l, FIELD_B, s);
	lower_read(l, FIELD_C, z);
	lower_ext(l, ignore, false);
}

static void lower_group(struct lower *l, enum async_group_op op)
{
	const struct ir_operand *n = lower_named(l, 'n');
	struct uop *in;

	if (op == ASYNC_WAIT || op == ASYNC_WAIT_ALL)
		lower_emit_free(l, OP_turn);
	in = lower_emit(l, OP_async_group);
	in->group.action = (u8)op;
	in->group.pending = n ? (u32)n->imm : 0;
}

void lower_copy_arrive(struct lower *l)
{
	u32 m = lower_address_row(l, lower_named(l, 'm'));

	if (m == IR_NONE) {
		lower_poison(l, lower_mnemonic(l));
		return;
	}
	lower_emit(l, OP_async_arrive)->group.noinc = isa_form_has(l->in->form, M_noinc);
	lower_read(l, FIELD_A, m);
}

/* ---- bulk copies ---- */

void lower_bulk(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	bool reduce = isa_form_opcode(form) == OPCODE_cp_reduce_async_bulk;
	bool to_global = isa_form_word(form, ISA_K_SPACE, 0) == M_global,
	     from_global = isa_form_word(form, ISA_K_SPACE, 1) == M_global;
	u32 d = lower_address_row(l, lower_named(l, 'd')),
	    s = lower_address_row(l, lower_named(l, 's'));
	u32 n = lower_source(l, lower_named(l, 'n'), T_u32, ROW_W), m = IR_NONE, mask = IR_NONE,
	    bytes = IR_NONE, first = IR_NONE, past = IR_NONE, op = 0;
	struct uop *in;

	if (!to_global)
		m = lower_address_row(l, lower_named(l, 'm'));
	if (isa_form_has(form, M_multicast_cluster))
		mask = lower_source(l, lower_named(l, 'c'), T_u16, ROW_W);
	if (reduce)
		op = lower_atom_op(form);
	if (reduce && to_global)
		lower_await_turn(l);
	if (isa_form_has(form, M_cp_mask))
		bytes = lower_source(l, lower_named(l, 'b'), T_u16, ROW_W);
	if (isa_form_has(form, M_ignore_oob)) {
		first = lower_source(l, lower_named(l, 'l'), T_u32, ROW_W);
		past = lower_source(l, lower_named(l, 'r'), T_u32, ROW_W);
	}
	if (d == IR_NONE || s == IR_NONE || (m == IR_NONE && !to_global)) {
		lower_poison(l, lower_mnemonic(l));
		return;
	}
	in = lower_emit(l, OP_bulk);
	in->mem.space = to_global ? MEM_GLOBAL : MEM_SHARED;
	in->copy.to_global = to_global;
	in->copy.from_global = from_global;
	in->copy.reduces = reduce;
	in->copy.action = (u8)op;
	in->copy.type = reduce ? (u8)form->type[0] : 0;
	in->mem.size = reduce ? (u8)(isa_type_bits(form->type[0]) / 8) : 0;
	lower_read(l, FIELD_A, d);
	lower_read(l, FIELD_B, s);
	lower_read(l, FIELD_C, n);
	lower_ext(l, m, false);
	lower_ext(l, mask, false);
	lower_ext(l, bytes, false);
	lower_ext(l, first, false);
	lower_ext(l, past, false);
}

void lower_copy_group(struct lower *l)
{
	switch (isa_form_opcode(l->in->form)) {
	case OPCODE_cp_async_commit_group:
		lower_group(l, ASYNC_COMMIT);
		break;
	case OPCODE_cp_async_wait_group:
		lower_group(l, ASYNC_WAIT);
		break;
	case OPCODE_cp_async_wait_all:
		lower_group(l, ASYNC_WAIT_ALL);
		break;
	case OPCODE_cp_async_bulk_commit_group:
		lower_group(l, ASYNC_COMMIT_BULK);
		break;
	default:
		lower_group(l, ASYNC_WAIT_BULK);
		break;
	}
}

/* ---- st.async, red.async ---- */

/* Of 128 bits; constants have 64. */
static u32 half_of(struct lower *l, const struct ir_operand *op, u32 half)
{
	if (op->kind == IR_OP_REG)
		return lower_register(l, op, half);
	return half ? lower_const(l, ROW_X, 0) : lower_source(l, op, T_b64, ROW_X);
}

void lower_remote_async(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	bool red = isa_form_opcode(form) == OPCODE_red_async;
	const struct ir_operand *b = lower_named(l, 'b');
	u32 type = form->type[0], bytes = isa_type_bits(type) / 8,
	    n = isa_form_has(form, M_v4)   ? 4
		: isa_form_has(form, M_v2) ? 2
					   : 1;
	bool whole = type == T_b128; /* its two halves */
	u32 a = lower_address_row(l, lower_named(l, 'a')), m = IR_NONE, value[4];
	struct uop *in;

	/* Stores and reductions without an mbarrier to tell may take place at once. */
	if (!lower_named(l, 'm') && isa_form_has(form, M_release)) {
		(red ? lower_atom : lower_store)(l);
		return;
	}
	if (lower_named(l, 'm'))
		m = lower_address_row(l, lower_named(l, 'm'));
	if (a == IR_NONE || m == IR_NONE) {
		lower_poison(l, lower_mnemonic(l));
		return;
	}
	if (whole) {
		bytes = 8;
		n = 2;
	}
	for (u32 i = 0; i < n; i++) {
		struct ir_operand e = lower_element(l, b, whole ? 0 : i);

		value[i] = !whole ? lower_source(l, &e, type, lower_class(bytes * 8))
				  : half_of(l, &e, i);
	}
	in = lower_emit(l, OP_remote_async);
	in->mem.size = (u8)bytes;
	in->mem.count = (u8)n;
	in->mem.space = MEM_SHARED;
	in->copy.reduces = red;
	in->copy.action = red ? (u8)lower_atom_op(form) : 0;
	in->copy.type = red ? (u8)type : 0;
	lower_read(l, FIELD_A, a);
	lower_ext(l, m, false);
	for (u32 i = 0; i < n; i++)
		lower_ext(l, value[i], false);
}

/* ---- st.bulk ---- */

void lower_zero_fill(struct lower *l)
{
	u32 a = lower_address_row(l, lower_named(l, 'a')),
	    n = lower_source(l, lower_named(l, 'n'), T_u64, ROW_X);

	if (a == IR_NONE) {
		lower_poison(l, lower_mnemonic(l));
		return;
	}
	lower_emit(l, OP_zero_fill)->mem.space = MEM_SHARED;
	lower_read(l, FIELD_A, a);
	lower_read(l, FIELD_B, n);
}

/* ---- mbarrier ---- */

static const struct {
	enum isa_mnemonic opcode;
	enum mbar_op op;
} mbar_ops[] = {
	{OPCODE_mbarrier_init, MBAR_INIT},
	{OPCODE_mbarrier_inval, MBAR_INVAL},
	{OPCODE_mbarrier_expect_tx, MBAR_EXPECT},
	{OPCODE_mbarrier_complete_tx, MBAR_COMPLETE},
	{OPCODE_mbarrier_arrive, MBAR_ARRIVE},
	{OPCODE_mbarrier_arrive_drop, MBAR_DROP},
	{OPCODE_mbarrier_arrive_expect_tx, MBAR_ARRIVE_EXPECT},
	{OPCODE_mbarrier_arrive_drop_expect_tx, MBAR_DROP_EXPECT},
	{OPCODE_mbarrier_check_layout, MBAR_CHECK_LAYOUT},
	{OPCODE_mbarrier_test_wait, MBAR_WAIT},
	{OPCODE_mbarrier_test_wait_parity, MBAR_WAIT_PARITY},
	{OPCODE_mbarrier_try_wait, MBAR_TRY},
	{OPCODE_mbarrier_try_wait_parity, MBAR_TRY_PARITY},
};

void lower_pending_count(struct lower *l)
{
	const struct ir_operand *d = lower_named(l, 'd');
	u32 s = lower_source(l, lower_named(l, 's'), T_u64, ROW_X), t = lower_target(l, d, ROW_W);

	lower_emit(l, OP_mbar_pending);
	lower_read(l, FIELD_A, s);
	lower_write(l, FIELD_D, t);
	lower_finish(l, d, t, T_u32, ROW_W);
}

/*
 * What asynchronous operations have reported by the end of the phase: those that are run report
 * nothing.
 */
static void lower_report(struct lower *l)
{
	const struct ir_operand *q = lower_named(l, 'q'), *v = lower_named(l, 'v');

	if (q)
		lower_op(l, OP_mov_pred, lower_register(l, q, 0), lower_const(l, ROW_P, 0), IR_NONE,
			 IR_NONE, true);
	if (v)
		lower_op(l, OP_mov_b32, lower_register(l, v, 0), lower_const(l, ROW_W, 0), IR_NONE,
			 IR_NONE, true);
}

static enum mbar_op listed(enum mbar_op op)
{
	if (op >= MBAR_WAIT)
		return op + 1;
	return op == MBAR_INIT ? MBAR_INIT_LISTED : op == MBAR_INVAL ? MBAR_INVAL_LISTED : op;
}

void lower_mbarrier(struct lower *l)
{
	const struct ir_operand *d = lower_named(l, 'd'), *n = lower_named(l, 'n'),
				*s = lower_named(l, 's');
	u32 i = 0, a, b, skip = IR_NONE;
	bool state;
	struct uop *in;

	while (i < ARRAY_LEN(mbar_ops) && mbar_ops[i].opcode != isa_form_opcode(l->in->form))
		i++;
	if (i == ARRAY_LEN(mbar_ops)) {
		lower_poison(l, lower_mnemonic(l));
		return;
	}
	if (l->guard != IR_NONE && mbar_ops[i].op >= MBAR_WAIT)
		skip = lower_skip(l); /* it may suspend its lanes */
	a = lower_address_row(l, lower_named(l, 'a'));
	if (a == IR_NONE) {
		lower_poison(l, lower_mnemonic(l));
		return;
	}
	state = mbar_ops[i].op == MBAR_WAIT || mbar_ops[i].op == MBAR_TRY;
	b = s ? lower_source(l, s, state ? T_u64 : T_u32, state ? ROW_X : ROW_W)
	      : source_or_none(l, n, T_u32, ROW_W);
	in = lower_emit(l, OP_mbar);
	in->mbar.action = (u8)(l->options.one_to_one ? listed(mbar_ops[i].op) : mbar_ops[i].op);
	in->mbar.layout = isa_form_has(l->in->form, M_layout_v1);
	in->mem.space = MEM_SHARED;
	in->flags |= state ? UOPF_WIDE_DATA : 0;
	lower_read(l, FIELD_A, a);
	lower_read(l, FIELD_B, b);
	lower_write(l, FIELD_D, d && d->kind == IR_OP_REG ? lower_register(l, d, 0) : IR_NONE);
	lower_report(l);
	if (skip != IR_NONE)
		lower_skip_end(l, skip);
}

/* ---- addresses ---- */

static u32 symbol_or_source(struct lower *l, const struct ir_operand *op)
{
	struct ir_operand var = *op;

	if (op->kind != IR_OP_VAR)
		return lower_source(l, op, T_u64, ROW_X);
	var.kind = IR_OP_ADDR_VAR;
	return lower_address_row(l, &var);
}

void lower_mapa(struct lower *l)
{
	const struct ir_operand *d = lower_named(l, 'd');
	bool mapa = isa_form_opcode(l->in->form) == OPCODE_mapa;
	u32 a = symbol_or_source(l, lower_named(l, 'a')),
	    b = source_or_none(l, lower_named(l, 'b'), T_u32, ROW_W), t;

	if (a == IR_NONE) {
		lower_poison(l, lower_mnemonic(l));
		return;
	}
	t = lower_target(l, d, ROW_X);
	lower_emit(l, OP_mapa)->address.what = mapa ? ADDRESS_MAPA : ADDRESS_RANK;
	lower_read(l, FIELD_A, a);
	lower_read(l, FIELD_B, b);
	lower_write(l, FIELD_D, t);
	lower_finish(l, d, t, T_u64, ROW_X);
}

void lower_isspacep(struct lower *l)
{
	u32 a = lower_source(l, lower_named(l, 'a'), T_u64, ROW_X),
	    word = isa_form_word(l->in->form, ISA_K_SPACE, 0), kind;

	switch (word) {
	case M_const:
		kind = ADDRESS_IS_CONST;
		break;
	case M_shared:
	case M_shared_cta:
		kind = ADDRESS_IS_SHARED;
		break;
	case M_shared_cluster:
		kind = ADDRESS_IS_CLUSTER;
		break;
	case M_local:
		kind = ADDRESS_IS_LOCAL;
		break;
	case M_param:
	case M_param_entry:
		kind = ADDRESS_IS_PARAM;
		break;
	default:
		kind = ADDRESS_IS_GLOBAL;
		break;
	}
	lower_emit(l, OP_is_space)->address.what = (u8)kind;
	lower_read(l, FIELD_A, a);
	lower_write(l, FIELD_D, lower_register(l, lower_named(l, 'd'), 0));
}
