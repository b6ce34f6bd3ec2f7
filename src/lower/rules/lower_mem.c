/*
 * Lowering of loads and stores: which space, what is the base, where do the elements go.
 */
#include "src/uop/atom.h"
#include "src/lower/lower_int.h"

struct target {
	enum exec_op load, store;
	enum mem_space space;
	u32 base; /* vreg of the address, IR_NONE: constant */
	s64 imm;
	bool wide;
};

static enum mem_space space_of_word(u32 word)
{
	switch (word) {
	case M_global:
	case M_const:
		return MEM_GLOBAL;
	case M_shared:
	case M_shared_cta:
	case M_shared_cluster:
		return MEM_SHARED;
	case M_local:
		return MEM_LOCAL;
	case M_param:
	case M_param_entry:
	case M_param_func:
		return MEM_PARAM;
	default:
		return MEM_GENERIC;
	}
}

static void set_ops(struct target *t)
{
	static const enum exec_op loads[] = {
		[MEM_GENERIC] = OP_load_generic, [MEM_GLOBAL] = OP_load_global,
		[MEM_CONST] = OP_load_global,    [MEM_SHARED] = OP_load_shared,
		[MEM_LOCAL] = OP_load_local,     [MEM_PARAM] = OP_load_param,
	};
	static const enum exec_op stores[] = {
		[MEM_GENERIC] = OP_store_generic, [MEM_GLOBAL] = OP_store_global,
		[MEM_CONST] = OP_store_global,    [MEM_SHARED] = OP_store_shared,
		[MEM_LOCAL] = OP_store_local,     [MEM_PARAM] = OP_store_local,
	};

	t->load = loads[t->space];
	t->store = stores[t->space];
}

/*
 * [var + imm]: the frame for local variables and parameters of functions, a constant address for
 * the others.
 */
static void base_of_variable(struct lower *l, const struct ir_operand *op, struct target *t)
{
	const struct ir_var *v = l->m->vars.at[op->index];
	bool kernel_param = v->space == M_param && l->f->is_entry && v->func == l->f->index &&
			    lower_is_formal(l->f, op->index);

	switch (v->space) {
	case M_local:
	case M_param:
		t->imm = lower_var_offset(l, op->index) + op->imm;
		if (kernel_param) {
			t->space = MEM_PARAM;
			return;
		}
		t->space = MEM_LOCAL;
		if (!lower_is_in_kernel_frame(l, op->index))
			t->base = lower_var_base(l, op->index);
		return;
	case M_shared:
		if (t->space == MEM_GENERIC)
			t->space = MEM_SHARED;
		t->imm = l->var_offset[op->index] + op->imm;
		return;
	default:
		t->space = MEM_GLOBAL;
		t->imm = (s64)(l->var_address[op->index] + (u64)op->imm);
		return;
	}
}

bool lower_is_formal(const struct ir_func *f, u32 var)
{
	for (u32 i = 0; i < f->params_len; i++)
		if (f->params[i] == var)
			return true;
	return false;
}

/*
 * 32-bit offsets in the constant window, whose base has 64: the sum of register and offset wraps
 * around before the base is added.
 */
static void base_of_constants(struct lower *l, struct target *t)
{
	u32 row = t->base;

	if (!t->wide) {
		if (t->imm) {
			row = lower_vreg(l, ROW_W);
			lower_op(l, OP_add_imm_w, row, t->base, IR_NONE, IR_NONE, false);
			lower_last(l)->lane.imm = t->imm;
		}
		t->base = lower_vreg(l, ROW_X);
		lower_op(l, OP_zero_extend, t->base, row, IR_NONE, IR_NONE, false);
		t->wide = true;
		t->imm = 0;
	}
	t->imm += (s64)l->const_base;
}

static bool resolve(struct lower *l, const struct ir_operand *op, u32 word, struct target *t)
{
	*t = (struct target){.space = space_of_word(word), .base = IR_NONE, .imm = op->imm};
	if (op->kind == IR_OP_ADDR_VAR) {
		base_of_variable(l, op, t);
	} else if (op->kind == IR_OP_ADDR_REG) {
		struct ir_operand reg = *op;

		reg.kind = IR_OP_REG;
		t->base = lower_register(l, &reg, 0);
		t->wide = l->vregs.at[t->base].class == ROW_X;
		if (word == M_const)
			base_of_constants(l, t);
		/*
		 * A register with a .param address holds a device address of the parameter block;
		 * in functions a local one.
		 */
		if (t->space == MEM_PARAM)
			t->space = l->f->is_entry && word != M_param_func ? MEM_GENERIC : MEM_LOCAL;
	} else if (op->kind != IR_OP_ADDR_INT) {
		return false;
	}
	set_ops(t);
	return true;
}

bool lower_address(struct lower *l, const struct ir_operand *op, u32 *base, s64 *imm)
{
	struct target t;

	if (!resolve(l, op, ISA_NONE, &t) || t.space == MEM_LOCAL || t.space == MEM_PARAM)
		return false;
	*base = t.base;
	*imm = t.imm;
	return true;
}

bool lower_memory(struct lower *l, const struct ir_operand *op, u32 word, struct lower_place *p)
{
	struct target t;

	if (!op || !resolve(l, op, word, &t))
		return false;
	*p = (struct lower_place){.space = t.space, .base = t.base, .imm = t.imm, .wide = t.wide};
	return true;
}

/* The elements of a load's result or a store's value. */
struct elements {
	struct ir_operand at[16];
	u32 half[16]; /* 128-bit elements: 0 or 1 */
	u32 n, size;
};

static void list_elements(const struct lower *l, const struct ir_operand *op, u32 count, u32 bytes,
			  struct elements *e)
{
	u32 halves = bytes == 16 ? 2 : 1;

	/* Of eight bytes only the first is moved, measured on an H200 (ptxas 13.0). */
	if (count == 8 && bytes == 1)
		count = 1;
	e->n = 0;
	e->size = bytes == 16 ? 8 : bytes;
	for (u32 i = 0; i < count; i++)
		for (u32 h = 0; h < halves; h++) {
			e->at[e->n] = lower_element(l, op, i);
			e->half[e->n++] = h;
		}
}

static u32 row_of(struct lower *l, const struct elements *e, u32 i)
{
	return e->at[i].kind == IR_OP_REG ? lower_register(l, &e->at[i], e->half[i]) : IR_NONE;
}

static bool is_constant(const struct elements *e, u32 i)
{
	return e->at[i].kind == IR_OP_INT || e->at[i].kind == IR_OP_FLOAT;
}

/* Constants have 64 bits: the upper half of 128 is zeros, measured with ptxas 13.0. */
static u32 constant_row(struct lower *l, const struct elements *e, u32 i, enum row_class class)
{
	return e->half[i] ? lower_const(l, class, 0)
			  : lower_source(l, &e->at[i], l->in->form->type[0], class);
}

static void fill_access(struct uop *in, const struct target *t, const struct elements *e, bool sign,
			bool wide_data)
{
	in->mem.offset = t->imm;
	in->mem.space = (u8)t->space;
	in->mem.size = (u8)e->size;
	in->mem.count = (u8)e->n;
	in->flags |= (u8)((t->wide ? UOPF_WIDE : 0) | (sign ? UOPF_SIGN : 0) |
			  (wide_data ? UOPF_WIDE_DATA : 0));
}

/* Registers of 128 bits that get less: their upper half is zeros, or all signs. */
static void extend_pairs(struct lower *l, const struct elements *e, u32 bits, bool sign)
{
	for (u32 i = 0; i < e->n && bits < 128; i++) {
		u32 lo = row_of(l, e, i), hi;

		if (lo == IR_NONE || isa_type_bits(l->f->regs.at[e->at[i].index].type) < 128)
			continue;
		hi = lower_register(l, &e->at[i], 1);
		if (sign)
			lower_op(l, OP_shr_s64, hi, lo, lower_const(l, ROW_W, 63), IR_NONE, true);
		else
			lower_op(l, OP_mov_b64, hi, lower_const(l, ROW_X, 0), IR_NONE, IR_NONE,
				 true);
	}
}

static void check_bounds(struct lower *l, const struct ir_operand *op, const struct target *t,
			 u32 bytes, bool write)
{
	struct lower_place p = {.space = t->space, .base = t->base, .imm = t->imm, .wide = t->wide};

	lower_bounds_check(l, op, &p, bytes, write);
}

void lower_load(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	u32 type = form->type[0], count = isa_operand_count(form, &form->row->operand[0]), rows[16];
	struct elements e;
	struct target t;
	bool wide, sign = isa_type_class(type) == ISA_SINT;

	list_elements(l, lower_operand(l, 0), count, isa_type_bits(type) / 8, &e);
	if (!resolve(l, lower_operand(l, 1), isa_form_word(form, ISA_K_SPACE, 0), &t)) {
		lower_poison(l, "load");
		return;
	}
	check_bounds(l, lower_operand(l, 1), &t, e.n * e.size, false);
	for (u32 i = 0; i < e.n; i++)
		rows[i] = row_of(l, &e, i);
	wide = e.size == 8;
	for (u32 i = 0; i < e.n; i++)
		wide |= rows[i] != IR_NONE && l->vregs.at[rows[i]].class == ROW_X;
	fill_access(lower_emit(l, t.load), &t, &e, sign, wide);
	lower_read(l, FIELD_A, t.base);
	if (e.n == 1) {
		lower_write(l, FIELD_D, rows[0]);
	} else {
		lower_last(l)->ext = (u32)l->ext.len;
		for (u32 i = 0; i < e.n; i++)
			lower_ext(l, rows[i], true);
	}
	extend_pairs(l, &e, isa_type_bits(type), sign);
}

void lower_store(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	u32 type = form->type[0], count = isa_operand_count(form, &form->row->operand[1]), rows[16];
	struct elements e;
	struct target t;
	bool wide;

	list_elements(l, lower_operand(l, 1), count, isa_type_bits(type) / 8, &e);
	if (!resolve(l, lower_operand(l, 0), isa_form_word(form, ISA_K_SPACE, 0), &t)) {
		lower_poison(l, "store");
		return;
	}
	check_bounds(l, lower_operand(l, 0), &t, e.n * e.size, true);
	wide = e.size == 8;
	for (u32 i = 0; i < e.n; i++) {
		rows[i] = row_of(l, &e, i);
		wide |= rows[i] != IR_NONE && l->vregs.at[rows[i]].class == ROW_X;
	}
	for (u32 i = 0; i < e.n; i++) {
		if (is_constant(&e, i))
			rows[i] = constant_row(l, &e, i, wide ? ROW_X : ROW_W);
		else if (rows[i] != IR_NONE && wide && l->vregs.at[rows[i]].class == ROW_W)
			rows[i] = lower_source(l, &e.at[i], type, ROW_X);
	}
	fill_access(lower_emit(l, t.store), &t, &e, false, wide);
	lower_read(l, FIELD_A, t.base);
	if (e.n == 1) {
		lower_read(l, FIELD_B, rows[0]);
		return;
	}
	lower_last(l)->ext = (u32)l->ext.len;
	for (u32 i = 0; i < e.n; i++)
		lower_ext(l, rows[i], false);
}

/* ---- atom, red ---- */

u32 lower_atom_op(const struct isa_form *form)
{
	static const u16 words[ATOM_ACTIONS] = {
#define ATOM(id, word) [ATOM_##id] = word,
#include "src/uop/table/atom.def"
	};
	u32 op = 0;

	while (op < ATOM_ACTIONS && !isa_form_has(form, words[op]))
		op++;
	return op;
}

/* Rows of the elements of operand `op`, appended to ext. */
static void list_rows(struct lower *l, const struct ir_operand *op, u32 count, u32 bytes,
		      bool write)
{
	struct elements e;

	list_elements(l, op, count, bytes, &e);
	for (u32 i = 0; i < e.n; i++) {
		if (!write && is_constant(&e, i))
			lower_ext(l, constant_row(l, &e, i, e.size == 8 ? ROW_X : ROW_W), false);
		else
			lower_ext(l, row_of(l, &e, i), write);
	}
}

/* atom d, [a], b{, c}; red [a], b: the result is the first operand that is written. */
void lower_atom(struct lower *l)
{
	static const enum exec_op ops[] = {[MEM_GENERIC] = OP_atom_generic,
					   [MEM_GLOBAL] = OP_atom_global,
					   [MEM_SHARED] = OP_atom_shared};
	static const struct ir_operand nothing = {.kind = IR_OP_SINK};
	const struct isa_form *form = l->in->form;
	bool has_result = form->row->operand[0].role == ISA_WRITE;
	const struct ir_operand *d = has_result ? lower_operand(l, 0) : &nothing,
				*b = lower_operand(l, has_result + 1u);
	u32 type = form->type[0], bytes = isa_type_bits(type) / 8, op = lower_atom_op(form),
	    dst = IR_NONE, src, c = IR_NONE;
	u32 count = isa_operand_count(form, &form->row->operand[has_result + 1u]);
	enum row_class class = lower_class(bytes * 8);
	struct target t;
	struct uop *in;

	if (op == ATOM_ACTIONS ||
	    !resolve(l, lower_operand(l, has_result), isa_form_word(form, ISA_K_SPACE, 0), &t) ||
	    t.space > MEM_SHARED || t.space == MEM_CONST) {
		lower_poison(l, form->row->name[form->name]);
		return;
	}
	if (t.space != MEM_SHARED && !lower_atom_turn(l, d, op, type) && count == 1 && bytes < 16)
		d = &nothing;
	if (bytes == 16 || count > 1) {
		u32 first = (u32)l->ext.len;

		in = lower_emit(l, ops[t.space]);
		in->ext = first;
		in->mem.count = (u8)count;
		lower_read(l, FIELD_A, t.base);
		list_rows(l, d, count, bytes, true);
		list_rows(l, b, count, bytes, false);
		if (op == ATOM_CAS)
			list_rows(l, lower_operand(l, 3), 1, bytes, false);
	} else {
		src = lower_source(l, b, type, class);
		if (op == ATOM_CAS)
			c = lower_source(l, lower_operand(l, has_result + 2u), type, class);
		if (d->kind == IR_OP_REG)
			dst = lower_target(l, d, class);
		in = lower_emit(l, ops[t.space]);
		in->mem.count = 1;
		lower_read(l, FIELD_A, t.base);
		lower_read(l, FIELD_B, src);
		lower_read(l, FIELD_C, c);
		lower_write(l, FIELD_D, dst);
	}
	in = lower_last(l);
	in->mem.size = (u8)bytes;
	in->mem.offset = t.imm;
	in->mem.space = (u8)t.space;
	in->atomic.action = (u8)op;
	in->atomic.type = (u8)type;
	in->flags |= (u8)((t.wide ? UOPF_WIDE : 0) | (isa_form_has(form, M_sys) ? UOPF_SYSTEM : 0));
	if (dst != IR_NONE)
		lower_finish(l, d, dst, type, class);
}
