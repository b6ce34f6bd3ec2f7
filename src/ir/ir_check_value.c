/*
 * Values against the row of the instruction table: registers, constants, video selectors, vectors.
 * Source: PTX ISA "Type Information for Instructions and Operands", "Operand Size Exceeding
 * Instruction-Type Size", "Vectors as Operands"; where that is silent, as ptxas 13.0 behaves.
 */
#include "src/ir/ir_check_int.h"

#include <stdarg.h>
#include <stdio.h>

bool ir_unfit(struct check *c, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(c->why->text, sizeof(c->why->text), fmt, args);
	va_end(args);
	return false;
}

static bool is_int_class(enum isa_class k)
{
	return k == ISA_UINT || k == ISA_SINT;
}

static bool is_int(u32 type)
{
	return is_int_class(isa_type_class(type));
}

bool ir_in_ranges(u32 first, u32 count, s64 v)
{
	const struct isa_range *r = isa_ranges(first);

	for (u32 i = 0; i < count; i++)
		if (v >= r[i].lo && v <= r[i].hi && ((u64)v - (u64)r[i].lo) % (u64)r[i].step == 0)
			return true;
	return !count;
}

/* ---- registers ---- */

bool ir_type_fits(u32 reg, u32 want, const struct isa_operand *o)
{
	enum isa_class rk = isa_type_class(reg), wk = isa_type_class(want);
	u32 rb = isa_type_bits(reg), wb = (u32)max_u64(isa_type_bits(want), 8);

	if (o && o->any)
		return (rk == ISA_PRED ? 32 : rb) == wb;
	if (rk == ISA_PRED || wk == ISA_PRED)
		return rk == wk;
	if (o && o->wider ? rb < wb : rb != wb)
		return false;
	if (o && o->bits_only)
		return rk == ISA_BITS;
	if (wk == ISA_BITS || rk == ISA_BITS)
		return true;
	/*
	 * Where the instruction says the type, .f16x2 passes for any integer; where the manual
	 * fixes it, not.
	 */
	if (reg == T_f16x2 && o && !o->type && (is_int(want) || want == T_u16x2 || want == T_s16x2))
		return true;
	return is_int(want) ? is_int(reg) : wk == ISA_FLOAT && reg == want;
}

static bool check_register(struct check *c, const struct isa_operand *o, u32 type, u32 reg_type)
{
	return ir_type_fits(reg_type, type, o) ||
	       ir_unfit(c, "operand %s is .%s, .%s is expected", o->name, isa_word_text(reg_type),
			isa_word_text(type));
}

static bool check_select(struct check *c, const struct isa_operand *o, const struct ir_operand *op)
{
	u32 n = (u32)(op->imm >> 16), d[4];
	bool bytes = op->part == IR_PART_BYTES, ok = false;

	for (u32 i = 0; i < 4; i++)
		d[i] = (u32)(op->imm >> 4 * i) & 15; /* d[0]: the last digit */
	switch ((enum isa_select)o->select) {
	case ISA_SEL_NONE:
		break;
	case ISA_SEL_SUBWORD:
		ok = n == 1 && d[0] < (bytes ? 4 : 2);
		break;
	case ISA_SEL_MASK2:
		ok = !bytes && ((n == 1 && d[0] < 2) || (n == 2 && d[1] == 1 && d[0] == 0));
		break;
	case ISA_SEL_MASK4:
		ok = bytes && n >= 1;
		for (u32 i = 0; i < n; i++)
			ok = ok && d[i] < 4 && (i == 0 || d[i] > d[i - 1]);
		break;
	case ISA_SEL_LANE2:
		ok = !bytes && n == 2 && d[0] < 4 && d[1] < 4;
		break;
	case ISA_SEL_LANE4:
		ok = bytes && n == 4;
		break;
	}
	return ok || ir_unfit(c, "this selector is not allowed on operand %s", o->name);
}

/* ---- constants ---- */

/* Floating-point constants fit .f32 and .f64; as bits, 0f... fits .b32, 0d... and decimals .b64. */
static bool float_fits(u32 type, const struct ir_operand *op)
{
	if (isa_type_class(type) == ISA_BITS)
		return isa_type_bits(type) == isa_type_bits(op->type) && type != T_b128;
	return type == T_f32 || type == T_f64;
}

static bool check_range(struct check *c, const struct isa_operand *o, s64 v)
{
	return ir_in_ranges(o->first_range, o->ranges, v) ||
	       (o->wraps && ir_in_ranges(o->first_range, o->ranges, (u32)v)) ||
	       ir_unfit(c, "operand %s is out of range: %lld", o->name, (long long)v);
}

static bool check_constant(struct check *c, const struct isa_operand *o, u32 type,
			   const struct ir_operand *op)
{
	enum isa_class k = isa_type_class(type);
	bool integer = op->kind == IR_OP_INT;

	if (o->register_only)
		return ir_unfit(c, "operand %s must be a register", o->name);
	return o->any || (integer ? k != ISA_FLOAT && k != ISA_ALT : float_fits(type, op)) ||
	       ir_unfit(c, "operand %s is %s constant, .%s is expected", o->name,
			integer ? "an integer" : "a floating-point", isa_word_text(type));
}

/* ---- one value ---- */

static bool check_signs(struct check *c, const struct isa_operand *o, u32 type,
			const struct ir_operand *op)
{
	if ((op->flags & IR_NOT) && (!o->negate || type != T_pred))
		return ir_unfit(c, "operand %s cannot be negated", o->name);
	return !(op->flags & IR_NEG) || o->minus ||
	       ir_unfit(c, "'-' is not allowed on operand %s", o->name);
}

static bool no_value(struct check *c, const struct isa_operand *o, const struct ir_operand *op)
{
	static const char *const what[] = {
		[IR_OP_SREG] = "a special register",
		[IR_OP_VAR] = "a name",
		[IR_OP_FUNC] = "a name",
		[IR_OP_ADDR_REG] = "an address",
		[IR_OP_ADDR_VAR] = "an address",
		[IR_OP_ADDR_INT] = "an address",
		[IR_OP_COMPOUND] = "an address",
		[IR_OP_VEC] = "a vector",
	};
	const char *is = op->kind < ARRAY_LEN(what) ? what[op->kind] : NULL;

	if (op->kind == IR_OP_SINK)
		return ir_unfit(c, "'_' is not allowed for operand %s", o->name);
	return is ? ir_unfit(c, "operand %s is %s, a register is expected", o->name, is)
		  : ir_unfit(c, "operand %s is not a register or constant", o->name);
}

static bool check_scalar(struct check *c, const struct isa_operand *o, const struct ir_operand *op)
{
	u32 type = isa_operand_type(c->form, o);

	if (!check_signs(c, o, type, op))
		return false;
	switch (op->kind) {
	case IR_OP_SINK:
		return (o->sink && !o->count_from) || no_value(c, o, op);
	case IR_OP_REG:
		if (op->part > IR_PART_W && !check_select(c, o, op))
			return false;
		if (!op->part && c->f->regs.at[op->index].vec > 1)
			return ir_unfit(c, "operand %s is a vector, one value is expected",
					o->name);
		return check_register(c, o, type, op->type);
	case IR_OP_SREG:
		return o->special ? ir_check_sreg(c, o, op) : no_value(c, o, op);
	case IR_OP_INT:
	case IR_OP_FLOAT:
		return check_constant(c, o, type, op) &&
		       (op->kind == IR_OP_FLOAT || check_range(c, o, op->imm));
	default:
		return no_value(c, o, op);
	}
}

/* ---- vectors ---- */

/*
 * What the elements of a vector are together. ptxas looks at a vector as at one value: elements of
 * the same type keep it; with a register of bits, and of several integer types, they are just bits.
 * Special registers count as bits.
 */
struct blend {
	enum isa_class class;
	u8 type;  /* while all are the same, else ISA_NONE */
	u32 bits; /* 0: only constants yet, which have the size that is wanted */
};

static bool element_of(struct check *c, const struct isa_operand *o, const struct ir_operand *op,
		       struct blend *e)
{
	*e = (struct blend){.class = isa_type_class(op->type), .type = op->type};
	if (op->flags & (IR_NOT | IR_NEG))
		return check_signs(c, o, ISA_NONE, op);
	switch (op->kind) {
	case IR_OP_INT:
	case IR_OP_FLOAT:
		return !o->register_only || ir_unfit(c, "operand %s must be a register", o->name);
	case IR_OP_REG:
		if (op->part > IR_PART_W || (!op->part && c->f->regs.at[op->index].vec > 1))
			return ir_unfit(c, "an element of operand %s is not one register", o->name);
		break;
	case IR_OP_SREG:
		if (!op->part && isa_sreg(op->index)->components > 1)
			return ir_unfit(c, "a component of %s is expected: .x .y .z .w",
					isa_sreg(op->index)->name);
		*e = (struct blend){.class = ISA_BITS};
		break;
	default:
		return no_value(c, o, op);
	}
	e->bits = op->type == T_pred ? 32 : isa_type_bits(op->type);
	return true;
}

static bool blend(struct blend *all, const struct blend *e)
{
	bool ints = is_int_class(all->class) && is_int_class(e->class);
	bool floats = all->class == ISA_FLOAT && e->class == ISA_FLOAT && all->type != T_f16x2 &&
		      e->type != T_f16x2;

	if (all->bits && e->bits && all->bits != e->bits)
		return false;
	if (!all->bits)
		all->bits = e->bits;
	if (all->type == e->type && all->class == e->class)
		return true;
	if (all->class != ISA_BITS && e->class != ISA_BITS && !ints && !floats)
		return false;
	all->class = ISA_BITS;
	all->type = ISA_NONE;
	return true;
}

static u32 blend_type(const struct blend *b)
{
	static const u8 bits[] = {T_b8, T_b16, T_b32, T_b64, T_b128};
	u32 i = 0;

	if (b->type)
		return b->type;
	while (isa_type_bits(bits[i]) != b->bits)
		i++;
	return bits[i];
}

static bool check_element_range(struct check *c, const struct isa_operand *o,
				const struct ir_operand *op, bool first)
{
	struct isa_operand one = *o;

	if (op->kind != IR_OP_INT)
		return true;
	one.first_range = first ? o->first_range : o->rest_range;
	one.ranges = first ? o->ranges : o->rest_ranges;
	return check_range(c, &one, op->imm);
}

bool ir_check_elements(struct check *c, const struct isa_operand *o, const struct ir_operand *vec,
		       u32 first)
{
	u32 type = isa_operand_type(c->form, o), n = (u32)vec->imm;
	const struct ir_operand *at = c->f->operands.at + vec->index, *last = NULL;
	struct blend all = {0}, e;

	for (u32 i = first; i < n; i++) {
		if (at[i].kind == IR_OP_SINK && o->sink)
			continue;
		if (!element_of(c, o, &at[i], &e) || !check_element_range(c, o, &at[i], i == 0))
			return false;
		if (last && !blend(&all, &e))
			return ir_unfit(
				c,
				"the elements of operand %s are of different types, .%s is expected",
				o->name, isa_word_text(type));
		if (!last)
			all = e;
		last = &at[i];
	}
	if (!last)
		return ir_unfit(c, "operand %s has no element but '_'", o->name);
	if (all.bits)
		return check_register(c, o, type, blend_type(&all));
	return check_constant(c, o, type, last); /* all are constants of one kind */
}

/*
 * Without a modifier such as .v2, for bf16, and beside matrices, ptxas lets one value stand in
 * braces.
 */
static bool may_have_braces(const struct check *c, const struct isa_operand *o)
{
	u32 type = isa_operand_type(c->form, o), chapter = c->form->row->chapter;
	bool beside_matrix = (chapter == ISA_CH_mma || chapter == ISA_CH_wgmma) &&
			     c->form->row->operand[0].braces;

	return o->braces || o->count_from == ISA_COUNT_VEC ||
	       (!o->type && (type == T_bf16 || type == T_bf16x2)) ||
	       (beside_matrix && type == T_b32);
}

/*
 * Does ptxas leave the number of elements open? It does for the operands after a texture, and for a
 * surface's value.
 */
static bool is_loose(const struct check *c, const struct isa_operand *o)
{
	const struct isa_row *row = c->form->row;
	bool coordinates =
		o < row->operand || o >= row->operand + row->operands; /* no operand of the row */

	if (o->count_from == ISA_COUNT_LOOSE)
		return true;
	for (u32 i = 0; i < row->operands && !coordinates; i++) {
		if (row->operand[i].kind == ISA_OP_TEX)
			return o->role == ISA_READ;
		if (row->operand[i].kind == ISA_OP_SURF)
			return o->count_from == ISA_COUNT_VEC && isa_operand_count(c->form, o) == 1;
	}
	return false;
}

bool ir_check_value(struct check *c, const struct isa_operand *o, const struct ir_operand *op)
{
	u32 count = isa_operand_count(c->form, o), vec = 1;
	bool plain =
		!o->braces || o->count_from == ISA_COUNT_GEOM || o->count_from == ISA_COUNT_TEXEL;

	if (op->kind == IR_OP_VEC) {
		if (is_loose(c, o))
			return ir_check_elements(c, o, op, 0);
		if (count == 1 && !may_have_braces(c, o))
			return ir_unfit(c, "operand %s is a vector, one value is expected",
					o->name);
		if ((u32)op->imm != count)
			return ir_unfit(c, "operand %s has %u elements, %u are expected", o->name,
					(u32)op->imm, count);
		return ir_check_elements(c, o, op, 0);
	}
	if (op->kind == IR_OP_REG && !op->part)
		vec = c->f->regs.at[op->index].vec;
	if (vec > 1) {
		if (count != vec)
			return ir_unfit(c, "operand %s has %u elements, %u are expected", o->name,
					vec, count);
		return check_register(c, o, isa_operand_type(c->form, o), op->type);
	}
	if ((count != 1 || !plain) && !is_loose(c, o))
		return ir_unfit(c, "operand %s is a vector of %u elements in braces", o->name,
				count);
	return check_scalar(c, o, op);
}

/* ---- what has a meaning ---- */

/* Would one element pass by itself? */
static bool is_plain(struct check *c, const struct isa_operand *o, const struct ir_operand *element)
{
	struct isa_operand one = *o;

	one.count_from = ISA_COUNT_FIXED;
	one.ranges = 0;
	one.any = false;
	return check_scalar(c, &one, element);
}

/* A vector register of the length wanted is judged by its first element: all are of one type. */
static bool is_plain_register(struct check *c, const struct isa_operand *o,
			      const struct ir_operand *op, u32 count)
{
	struct ir_operand one = *op;

	if (!one.part && count > 1 && c->f->regs.at[op->index].vec == count)
		one.part = IR_PART_X;
	return is_plain(c, o, &one);
}

static bool are_plain(struct check *c, const struct isa_operand *o, const struct ir_operand *vec)
{
	for (u32 i = 0; i < (u32)vec->imm; i++)
		if (!is_plain(c, o, &c->f->operands.at[vec->index + i]))
			return false;
	return true;
}

bool ir_check_plain(const struct ir_module *m, const struct ir_func *f, const struct isa_form *form,
		    const struct ir_operand *ops, u32 n)
{
	struct ir_mismatch why;
	struct check c = {m, f, form, &why};

	for (u32 i = 0; i < n; i++) {
		const struct isa_operand *o = ir_operand_spec(form, ops, n, i);
		u32 count = o ? isa_operand_count(form, o) : 0;

		if (o && o->kind == ISA_OP_SREG && form->row->row == I_mov_sreg_v4 &&
		    (ops[i].part || isa_sreg(ops[i].index)->components == 1))
			return false;
		if (o && o->kind == ISA_OP_ADDRESS && ops[i].kind == IR_OP_INT)
			return false;
		if (!o || o->kind != ISA_OP_VALUE)
			continue;
		if (o->any && ops[i].kind == IR_OP_REG && !is_plain_register(&c, o, &ops[i], count))
			return false;
		if (ops[i].kind == IR_OP_VEC &&
		    ((u32)ops[i].imm != count || !are_plain(&c, o, &ops[i])))
			return false;
		if (ops[i].kind != IR_OP_VEC && ops[i].kind != IR_OP_SINK && count > 1 &&
		    (ops[i].kind != IR_OP_REG || ops[i].part ||
		     f->regs.at[ops[i].index].vec != count))
			return false;
	}
	return true;
}

bool ir_check_needless_braces(const struct isa_form *form, const struct isa_operand *o,
			      const struct ir_operand *op)
{
	return op->kind == IR_OP_VEC && op->imm == 1 && o && o->kind == ISA_OP_VALUE &&
	       !o->braces && isa_operand_count(form, o) == 1;
}
