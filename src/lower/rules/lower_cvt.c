/*
 * Lowering of conversions between integers: extend what is read, saturate, extend to the register
 * by the result's type. Registers may be wider than the types. PTX ISA "Data Movement and
 * Conversion Instructions: cvt".
 */
#include "src/lower/lower_int.h"

static bool is_integer(u32 type)
{
	return isa_type_class(type) == ISA_UINT || isa_type_class(type) == ISA_SINT;
}

static bool type_is_signed(u32 type)
{
	return isa_type_class(type) == ISA_SINT;
}

/* The operation that keeps the low `bits` of a word, extended. */
static enum exec_op extension(u32 bits, bool sign)
{
	if (bits == 8)
		return sign ? OP_ext_s8 : OP_ext_u8;
	if (bits == 16)
		return sign ? OP_ext_s16 : OP_ext_u16;
	return OP_mov_b32;
}

static u32 unary(struct lower *l, enum exec_op op, enum row_class class, u32 a)
{
	u32 t = lower_vreg(l, class);

	lower_op(l, op, t, a, IR_NONE, IR_NONE, false);
	return t;
}

/* The source in a row of `class`, cut to its type and extended by it. */
static u32 extended_source(struct lower *l, u32 v, u32 type, enum row_class class)
{
	u32 bits = isa_type_bits(type);

	if (bits == 64)
		return v;
	if (bits < 32)
		v = unary(l, extension(bits, type_is_signed(type)), ROW_W, v);
	return class == ROW_W
		       ? v
		       : unary(l, type_is_signed(type) ? OP_sign_extend : OP_zero_extend, ROW_X, v);
}

/*
 * .sat: clamp in the width of the source; the result is then read in the width of the destination.
 */
static void emit_saturation(struct lower *l, const struct ir_operand *dst, u32 v, u32 to, u32 from)
{
	bool wide = isa_type_bits(from) == 64, sign = type_is_signed(from);
	enum exec_op op = wide   ? (sign ? OP_clamp_s64 : OP_clamp_u64)
			  : sign ? OP_clamp_s32
				 : OP_clamp_u32;
	u32 t = unary(l, op, wide ? ROW_X : ROW_W, extended_source(l, v, from, ROW_W)), d;

	lower_last(l)->lane.imm = isa_type_bits(to) | (s64)type_is_signed(to) << 8;
	if (isa_type_bits(to) == 64) {
		d = lower_target(l, dst, ROW_X);
		lower_op(l, wide ? OP_mov_b64 : OP_zero_extend, d, t, IR_NONE, IR_NONE, true);
		lower_finish(l, dst, d, to, ROW_X);
		return;
	}
	d = lower_target(l, dst, ROW_W);
	lower_op(l, wide ? OP_low_of_x : OP_mov_b32, d, t, IR_NONE, IR_NONE, true);
	lower_finish(l, dst, d, to, ROW_W);
}

static void to_64(struct lower *l, const struct ir_operand *dst, u32 v, u32 to, u32 from)
{
	u32 d = lower_target(l, dst, ROW_X);

	if (isa_type_bits(from) == 64)
		lower_op(l, OP_mov_b64, d, v, IR_NONE, IR_NONE, true);
	else
		lower_op(l, type_is_signed(from) ? OP_sign_extend : OP_zero_extend, d,
			 extended_source(l, v, from, ROW_W), IR_NONE, IR_NONE, true);
	lower_finish(l, dst, d, to, ROW_X);
}

static void to_32(struct lower *l, const struct ir_operand *dst, u32 v, u32 to, u32 from)
{
	u32 to_bits = isa_type_bits(to), from_bits = isa_type_bits(from),
	    d = lower_target(l, dst, ROW_W);
	bool narrows = to_bits <= from_bits;
	enum exec_op op =
		extension(narrows ? to_bits : from_bits, type_is_signed(narrows ? to : from));

	if (to == T_u16 && from == T_s8)
		op = OP_cvt_u16_s8;
	if (l->vregs.at[v].class == ROW_X) {
		if (op == OP_mov_b32)
			op = OP_low_of_x;
		else
			v = unary(l, OP_low_of_x, ROW_W, v);
	}
	lower_op(l, op, d, v, IR_NONE, IR_NONE, true);
	lower_finish(l, dst, d, to, ROW_W);
}

void lower_cvt(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const struct ir_operand *dst = lower_operand(l, 0), *src = lower_operand(l, 1);
	u32 to = form->type[0], from = form->type[1], v;

	if (form->types != 2 || !is_integer(to) || !is_integer(from) ||
	    form->row->row == I_cvt_pack_16) {
		lower_lanes(l);
		return;
	}
	if (src->kind == IR_OP_SREG)
		v = lower_sreg(l, src, isa_type_bits(from) == 64 ? ROW_X : ROW_W);
	else
		v = lower_source(l, src, from, lower_class(isa_type_bits(from)));
	if (isa_form_has(form, M_sat))
		emit_saturation(l, dst, v, to, from);
	else if (isa_type_bits(to) == 64)
		to_64(l, dst, v, to, from);
	else
		to_32(l, dst, v, to, from);
}
