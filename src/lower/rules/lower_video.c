/*
 * Lowering of the video instructions: selectors, types and the secondary operation become one
 * struct in the program's ext. PTX ISA "Scalar Video Instructions", "SIMD Video Instructions".
 */
#include "src/lower/lower_int.h"
#include "src/num/numeric_video.h"

struct video_name {
	u16 opcode;
	u8 op, lanes; /* 0 lanes: scalar */
};

static const struct video_name video_names[] = {
	{OPCODE_vadd, NUM_VADD, 0},          {OPCODE_vsub, NUM_VSUB, 0},
	{OPCODE_vabsdiff, NUM_VABSDIFF, 0},  {OPCODE_vmin, NUM_VMIN, 0},
	{OPCODE_vmax, NUM_VMAX, 0},          {OPCODE_vshl, NUM_VSHL, 0},
	{OPCODE_vshr, NUM_VSHR, 0},          {OPCODE_vset, NUM_VSET, 0},
	{OPCODE_vadd2, NUM_VADD, 2},         {OPCODE_vsub2, NUM_VSUB, 2},
	{OPCODE_vavrg2, NUM_VAVRG, 2},       {OPCODE_vabsdiff2, NUM_VABSDIFF, 2},
	{OPCODE_vmin2, NUM_VMIN, 2},         {OPCODE_vmax2, NUM_VMAX, 2},
	{OPCODE_vset2, NUM_VSET, 2},         {OPCODE_vadd4, NUM_VADD, 4},
	{OPCODE_vsub4, NUM_VSUB, 4},         {OPCODE_vavrg4, NUM_VAVRG, 4},
	{OPCODE_vabsdiff4, NUM_VABSDIFF, 4}, {OPCODE_vmin4, NUM_VMIN, 4},
	{OPCODE_vmax4, NUM_VMAX, 4},         {OPCODE_vset4, NUM_VSET, 4},
};

/* Digit i of a selector, counted from the right, which is the lowest lane. */
static u8 digit(const struct ir_operand *op, u32 i)
{
	return (u8)(op->imm >> (4 * i) & 7);
}

static u32 selector_digits(const struct ir_operand *op)
{
	return (u32)(op->imm >> 16 & 7);
}

static u8 selected_part(const struct ir_operand *op)
{
	if (op->part == IR_PART_BYTES)
		return (u8)(NUM_VPART_B0 + digit(op, 0));
	return op->part == IR_PART_HALVES ? (u8)(NUM_VPART_H0 + digit(op, 0)) : NUM_VPART_WORD;
}

static bool has_part(const struct ir_operand *op)
{
	return op->part == IR_PART_BYTES || op->part == IR_PART_HALVES;
}

/* Which element of b:a each lane takes; its own one without a selector. */
static void select_lanes(const struct ir_operand *op, u32 lanes, u32 first, u8 sel[4])
{
	for (u32 i = 0; i < lanes; i++)
		sel[i] = has_part(op) ? digit(op, i) : (u8)(first + i);
}

static u8 lane_mask_of(const struct ir_operand *op, u32 lanes)
{
	u8 mask = 0;

	if (!has_part(op))
		return (u8)((1u << lanes) - 1);
	for (u32 i = 0; i < selector_digits(op); i++)
		mask |= (u8)(1u << digit(op, i));
	return mask;
}

static u8 compare_of(u32 word)
{
	static const u16 words[] = {[NUM_EQ] = M_eq, [NUM_NE] = M_ne, [NUM_LT] = M_lt,
				    [NUM_LE] = M_le, [NUM_GT] = M_gt, [NUM_GE] = M_ge};

	for (u8 i = 0; i < ARRAY_LEN(words); i++)
		if (words[i] == word)
			return i;
	return NUM_EQ;
}

/* The register itself, without its selector. */
static struct ir_operand plain(const struct ir_operand *op)
{
	struct ir_operand whole = *op;

	whole.part = IR_PART_NONE;
	return whole;
}

/* The micro-op, its data after it in ext. */
static void emit_video(struct lower *l, enum exec_op op, const void *data, size_t size)
{
	u32 words[(sizeof(struct num_video) + 3) / 4] = {0}, row[3], ext = (u32)l->ext.len, d;
	struct ir_operand dst = plain(lower_operand(l, 0));

	for (u32 i = 0; i < 3; i++) {
		struct ir_operand src = plain(lower_operand(l, i + 1 < l->in->ops ? i + 1 : 0));

		row[i] = i + 1 < l->in->ops ? lower_source(l, &src, T_b32, ROW_W)
					    : lower_const(l, ROW_W, 0);
	}
	memcpy(words, data, size);
	for (u32 i = 0; i < ARRAY_LEN(words); i++)
		if (!VEC_PUSH(&l->ext, words[i]))
			l->failed = true;
	d = lower_target(l, &dst, ROW_W);
	lower_op(l, op, d, row[0], row[1], row[2], true);
	lower_last(l)->ext = ext;
}

static bool slot_is_signed(const struct isa_form *form, u32 slot)
{
	return isa_type_class(form->type[slot]) == ISA_SINT;
}

static void lower_vmad(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const struct ir_operand *a = lower_operand(l, 1), *b = lower_operand(l, 2),
				*c = lower_operand(l, 3);
	struct num_vmad v = {
		.a_part = selected_part(a),
		.b_part = selected_part(b),
		.a_signed = slot_is_signed(form, 1),
		.b_signed = slot_is_signed(form, 2),
		.negate_product = ((a->flags ^ b->flags) & IR_NEG) != 0,
		.negate_c = (c->flags & IR_NEG) != 0,
		.plus_one = isa_form_has(form, M_po),
		.sat = isa_form_has(form, M_sat),
		.shift = isa_form_has(form, M_shr7)    ? 7
			 : isa_form_has(form, M_shr15) ? 15
						       : 0,
	};

	emit_video(l, OP_video_vmad, &v, sizeof(v));
}

static u8 second_of(const struct isa_form *form, const struct ir_operand *dst)
{
	switch (isa_form_word(form, ISA_K_OP, 0)) {
	case M_add:
		return NUM_V2_ADD;
	case M_min:
		return NUM_V2_MIN;
	case M_max:
		return NUM_V2_MAX;
	default:
		return has_part(dst) ? NUM_V2_MERGE : NUM_V2_NONE;
	}
}

void lower_video(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const struct ir_operand *dst = lower_operand(l, 0), *a = lower_operand(l, 1),
				*b = lower_operand(l, 2);
	enum isa_mnemonic opcode = isa_form_opcode(form);
	const struct video_name *name = video_names;
	struct num_video v = {.second = second_of(form, dst),
			      .sat = isa_form_has(form, M_sat),
			      .wrap = isa_form_has(form, M_wrap)};
	u32 slot;

	if (opcode == OPCODE_vmad) {
		lower_vmad(l);
		return;
	}
	while (name < video_names + ARRAY_LEN(video_names) && name->opcode != opcode)
		name++;
	if (name == video_names + ARRAY_LEN(video_names)) {
		lower_poison(l, form->row->name[form->name]);
		return;
	}
	/* vset names the types of its sources alone; its secondary operation is signed as a is. */
	slot = name->op == NUM_VSET ? 0 : 1;
	v.op = name->op;
	v.cmp = compare_of(isa_form_word(form, ISA_K_CMP, 0));
	v.d_signed = slot_is_signed(form, 0);
	v.a_signed = slot_is_signed(form, slot);
	v.b_signed = slot_is_signed(form, slot + 1);
	if (name->lanes) {
		v.mask = lane_mask_of(dst, name->lanes);
		select_lanes(a, name->lanes, 0, v.a_sel);
		select_lanes(b, name->lanes, name->lanes, v.b_sel);
		emit_video(l, name->lanes == 2 ? OP_video_simd2 : OP_video_simd4, &v, sizeof(v));
		return;
	}
	v.a_part = selected_part(a);
	v.b_part = selected_part(b);
	v.d_part = selected_part(dst);
	emit_video(l, OP_video_scalar, &v, sizeof(v));
}
