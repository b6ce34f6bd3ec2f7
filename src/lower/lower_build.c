/*
 * What the rules of lowering are made of: operations by opcode text, rows and constants, micro-ops
 * and their references, operands; and the rule of lane operations, which is the same for all of
 * them.
 */
#include "src/lower/lower_int.h"

#include <stdio.h>

void lower_text(const struct isa_form *form, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, "%s", form->row->name[form->name]);

	for (u32 i = 0; i < form->row->slots && n < size; i++)
		if (form->word[i])
			n += (size_t)snprintf(out + n, size - n, ".%s",
					      isa_word_text(form->word[i]));
}

const char *lower_mnemonic(const struct lower *l)
{
	return l->in->form->row->name[l->in->form->name];
}

struct uop *lower_last(struct lower *l)
{
	return &l->uops.at[l->uops.len - 1];
}

/* ---- rows ---- */

enum row_class lower_class(u32 bits)
{
	return bits == 1 ? ROW_P : bits > 32 ? ROW_X : ROW_W;
}

u32 lower_vreg(struct lower *l, enum row_class class)
{
	struct vreg v = {.class = (u8) class, .first = UINT32_MAX};

	if (!VEC_PUSH(&l->vregs, v))
		l->failed = true;
	return (u32)l->vregs.len - 1;
}

u32 lower_const(struct lower *l, enum row_class class, u64 bits)
{
	u64 key, *found;
	u32 v;

	if (class == ROW_W)
		bits = (u32)bits;
	key = hash_bytes(&bits, sizeof(bits)) * 4 + class + 1;
	found = map_get(&l->consts, key);
	if (found && l->vregs.at[*found].bits == bits && l->vregs.at[*found].class == class)
		return (u32)*found;
	v = lower_vreg(l, class);
	if (l->failed)
		return 0;
	l->vregs.at[v].is_const = true;
	l->vregs.at[v].bits = bits;
	if (!map_set(&l->consts, key, v))
		l->failed = true;
	return v;
}

static struct uop *append_uop(struct lower *l, enum exec_op op, bool guarded)
{
	struct uop in;

	uop_begin(&in, op);
	in.ir = l->ir;
	in.func = l->func;
	in.ext = (u32)l->ext.len;
	if (!VEC_PUSH(&l->uops, in)) {
		l->failed = true;
		return &l->uops.at[0];
	}
	if (guarded && l->guard != IR_NONE) {
		struct uop *last = &l->uops.at[l->uops.len - 1];

		last->op = OP_guard;
		last->flags |= l->guard_not ? UOPF_GUARD_NOT : 0;
		lower_read(l, FIELD_GUARD, l->guard);
	}
	return &l->uops.at[l->uops.len - 1];
}

struct uop *lower_emit(struct lower *l, enum exec_op op)
{
	return append_uop(l, op, true);
}

struct uop *lower_emit_free(struct lower *l, enum exec_op op)
{
	return append_uop(l, op, false);
}

static void add_ref(struct lower *l, u32 field, u32 vreg, bool write)
{
	struct row_ref r = {
		.insn = (u32)l->uops.len - 1, .field = field, .vreg = vreg, .write = write};

	if (vreg != IR_NONE && !VEC_PUSH(&l->refs, r))
		l->failed = true;
}

void lower_read(struct lower *l, u32 field, u32 vreg)
{
	add_ref(l, field, vreg, false);
}

void lower_write(struct lower *l, u32 field, u32 vreg)
{
	add_ref(l, field, vreg, true);
}

void lower_ext(struct lower *l, u32 vreg, bool write)
{
	if (!VEC_PUSH(&l->ext, NO_ROW))
		l->failed = true;
	else
		add_ref(l, FIELD_EXT + (u32)l->ext.len - 1, vreg, write);
}

void lower_op(struct lower *l, enum exec_op op, u32 d, u32 a, u32 b, u32 c, bool guarded)
{
	append_uop(l, op, guarded);
	lower_read(l, FIELD_A, a);
	lower_read(l, FIELD_B, b);
	lower_read(l, FIELD_C, c);
	lower_write(l, FIELD_D, d);
}

const struct ir_operand *lower_operand(const struct lower *l, u32 i)
{
	return i < l->in->ops ? &l->f->operands.at[l->in->first_op + i] : NULL;
}

const struct ir_operand *lower_named(const struct lower *l, char name)
{
	const struct isa_form *form = l->in->form;

	for (u32 i = 0; i < l->in->ops; i++) {
		const struct isa_operand *o =
			ir_operand_spec(form, &l->f->operands.at[l->in->first_op], l->in->ops, i);

		if (o && o->name[0] == name && !o->name[1])
			return lower_operand(l, i);
	}
	return NULL;
}

u32 lower_elements(const struct lower *l, const struct ir_operand *op)
{
	if (!op)
		return 0;
	if (op->kind == IR_OP_VEC || op->kind == IR_OP_COMPOUND)
		return (u32)op->imm;
	return op->kind == IR_OP_REG && !op->part ? l->f->regs.at[op->index].vec : 1;
}

struct ir_operand lower_element(const struct lower *l, const struct ir_operand *op, u32 i)
{
	struct ir_operand e = *op;

	if (op->kind == IR_OP_VEC || op->kind == IR_OP_COMPOUND)
		return l->f->operands.at[op->index + i];
	if (lower_elements(l, op) > 1)
		e.part = (u8)(IR_PART_X + i);
	return e;
}

u32 lower_register(struct lower *l, const struct ir_operand *op, u32 part)
{
	const struct ir_reg *r = &l->f->regs.at[op->index];
	u32 bits = isa_type_bits(r->type), parts = bits > 64 ? 2 : 1, *v = &l->vreg_of[op->index];
	enum row_class class = lower_class(bits);

	if (*v == IR_NONE) {
		*v = lower_vreg(l, class);
		for (u32 i = 1; i < parts * r->vec; i++)
			lower_vreg(l, class);
	}
	return l->vreg_of[op->index] + (op->part ? (op->part - IR_PART_X) * parts : 0) + part;
}

static u64 float_bits(const struct ir_operand *op, u32 type)
{
	if (isa_type_bits(type) == 64 && op->type == T_f32 && isa_type_class(type) == ISA_FLOAT)
		return bits_f64((f64)f32_bits((u32)op->imm));
	if (isa_type_bits(type) == 32 && op->type == T_f64)
		return bits_f32((f32)f64_bits((u64)op->imm));
	return (u64)op->imm;
}

/* One value in braces stands for itself. */
static const struct ir_operand *without_braces(const struct lower *l, const struct ir_operand *op)
{
	return op->kind == IR_OP_VEC && op->imm == 1 ? &l->f->operands.at[op->index] : op;
}

u32 lower_source(struct lower *l, const struct ir_operand *op, u32 type, enum row_class class)
{
	enum row_class have;
	u32 v, t;

	op = without_braces(l, op);
	switch (op->kind) {
	case IR_OP_INT:
		return lower_const(l, class, class == ROW_P ? (op->imm != 0) : (u64)op->imm);
	case IR_OP_FLOAT:
		return lower_const(l, class, float_bits(op, type));
	case IR_OP_REG:
		break;
	default:
		l->failed = true;
		return 0;
	}
	v = lower_register(l, op, 0);
	have = l->vregs.at[v].class;
	if (have == ROW_P && (op->flags & IR_NOT)) {
		t = lower_vreg(l, ROW_P);
		lower_op(l, OP_not_pred, t, v, IR_NONE, IR_NONE, false);
		return t;
	}
	if (have == class || class == ROW_NONE)
		return v;
	t = lower_vreg(l, class);
	lower_op(l, class == ROW_W ? OP_low_of_x : OP_zero_extend, t, v, IR_NONE, IR_NONE, false);
	return t;
}

u32 lower_target(struct lower *l, const struct ir_operand *op, enum row_class class)
{
	u32 v;

	op = without_braces(l, op);
	if (op->kind != IR_OP_REG)
		return lower_vreg(l, class);
	v = lower_register(l, op, 0);
	return l->vregs.at[v].class == class ? v : lower_vreg(l, class);
}

void lower_finish(struct lower *l, const struct ir_operand *op, u32 from, u32 type,
		  enum row_class class)
{
	u32 v;

	op = without_braces(l, op);
	if (op->kind != IR_OP_REG)
		return;
	v = lower_register(l, op, 0);
	if (v == from)
		return;
	if (class == ROW_W && l->vregs.at[v].class == ROW_X)
		lower_op(l, isa_type_class(type) == ISA_SINT ? OP_sign_extend : OP_zero_extend, v,
			 from, IR_NONE, IR_NONE, true);
	else if (class == ROW_X && l->vregs.at[v].class == ROW_W)
		lower_op(l, OP_low_of_x, v, from, IR_NONE, IR_NONE, true);
	else
		lower_poison(l, "a result does not fit its register");
}

void lower_poison(struct lower *l, const char *reason)
{
	struct program_note n = {.pc = (u32)l->uops.len,
				 .text = arena_strdup(&l->p->arena, reason, strlen(reason))};

	lower_emit(l, OP_poison);
	if (!n.text || !VEC_PUSH(&l->notes, n))
		l->failed = true;
}

/* ---- lane operations ---- */

static enum row_class class_of_letter(char c)
{
	return c == 'P' ? ROW_P : c == 'X' ? ROW_X : ROW_W;
}

/* W_XXP has three; small letters are no operands. */
static u32 shape_operands(const char *shape)
{
	return (u32)strspn(shape + 2, "WXPV");
}

/* The carry flag of W_WWi, W_WWo, W_WWio. */
static void add_carry(struct lower *l, const char *shape)
{
	if (l->carry == IR_NONE)
		l->carry = lower_vreg(l, ROW_P);
	if (strchr(shape, 'i'))
		lower_read(l, FIELD_E, l->carry);
	if (strchr(shape, 'o'))
		lower_write(l, FIELD_E, l->carry);
}

/*
 * The operation of the instruction and its constant; forms are shared, so most have been looked up
 * before.
 */
static enum exec_op find_lanes(struct lower *l, s64 *imm)
{
	const struct isa_form *form = l->in->form;
	u64 key = (u64)(uintptr_t)form * 32 + l->in->ops, *found = map_get(&l->form_ops, key);
	struct lower_key k;
	enum exec_op op;

	*imm = 0;
	if (found) {
		*imm = (s64)(*found >> 16);
		return (enum exec_op)(*found & 0xffff);
	}
	lower_key_of(form, &k);
	op = lower_find_op(&k);
	if (op == EXEC_OPS || shape_operands(uop_info[op].shape) + 1 != l->in->ops)
		op = lower_mode_op(form, imm);
	if (!map_set(&l->form_ops, key, (u64)*imm << 16 | op))
		l->failed = true;
	return op;
}

/*
 * The two factors, or two terms, of an f64 operation in the order that ptxas gives them; returns
 * the operation. Where the order is not tracked, differences stay as they are written.
 */
static enum exec_op order_f64(const struct lower *l, enum exec_op op, u32 *src)
{
	u32 row = l->in->form->row->row, second = src[0];

	if ((row != I_fma_f64 && row != I_mad_f64 && row != I_add_sub_mul_f64) ||
	    (!l->made && (op == OP_sub_f64 || op == OP_sub_any_f64)) ||
	    !lower_is_exchanged(l, lower_operand(l, 1), lower_operand(l, 2)))
		return op;
	src[0] = src[1];
	src[1] = second;
	return op == OP_sub_f64 ? OP_rsub_f64 : op == OP_sub_any_f64 ? OP_rsub_any_f64 : op;
}

void lower_lanes(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const char *shape;
	char text[160];
	enum exec_op op;
	u32 src[4] = {IR_NONE, IR_NONE, IR_NONE, IR_NONE}, n, d;
	const struct isa_operand *result =
		ir_operand_spec(form, &l->f->operands.at[l->in->first_op], l->in->ops, 0);
	s64 imm;

	op = find_lanes(l, &imm);
	if (op == EXEC_OPS) {
		lower_text(form, text, sizeof(text));
		lower_poison(l, text);
		return;
	}
	shape = uop_info[op].shape;
	if (shape[2] == 'V') {
		lower_four_words(l, op, imm);
		return;
	}
	n = shape_operands(shape);
	for (u32 i = 0; i < n && i < 4; i++) {
		const struct ir_operand *o = lower_operand(l, i + 1);
		const struct isa_operand *spec = ir_operand_spec(
			form, &l->f->operands.at[l->in->first_op], l->in->ops, i + 1);

		if (!o || !spec) {
			lower_text(form, text, sizeof(text));
			lower_poison(l, text);
			return;
		}
		src[i] = lower_source(l, o, isa_operand_type(form, spec),
				      class_of_letter(shape[2 + i]));
	}
	op = order_f64(l, op, src);
	d = lower_target(l, lower_operand(l, 0), class_of_letter(shape[0]));
	lower_op(l, op, d, src[0], src[1], src[2], true);
	lower_last(l)->lane.imm = imm;
	lower_read(l, FIELD_E, src[3]);
	if (shape[2 + n])
		add_carry(l, shape);
	lower_finish(l, lower_operand(l, 0), d, result ? isa_operand_type(form, result) : T_b32,
		     class_of_letter(shape[0]));
}
