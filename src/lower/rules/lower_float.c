/*
 * Operations that take modifiers as data. Where no operation serves a form as it stands,
 * roundings, .ftz, .sat and their like are moved from the opcode into the micro-op's constant,
 * and a `*` stands in their place: add.rz.ftz.f32 becomes `add.*.f32` with a mode. Words that
 * are no such modifiers stay in the text, so none is ever ignored.
 */
#include "src/lower/lower_int.h"
#include "src/ops/mode.h"

struct mode_word {
	u16 word;
	u32 mode;
};

static const struct mode_word mode_words[] = {
	{M_rn, NUM_RN},
	{M_rz, NUM_RZ},
	{M_rm, NUM_RM},
	{M_rp, NUM_RP},
	{M_rni, NUM_RN | MODE_WHOLE},
	{M_rzi, NUM_RZ | MODE_WHOLE},
	{M_rmi, NUM_RM | MODE_WHOLE},
	{M_rpi, NUM_RP | MODE_WHOLE},
	{M_ftz, NUM_FTZ},
	{M_sat, NUM_SAT},
	{M_relu, NUM_RELU},
	{M_satfinite, NUM_SATFINITE},
	{M_NaN, NUM_NAN},
	{M_abs, NUM_ABS},
	{M_xorsign, NUM_XORSIGN},
	{M_oob, NUM_OOB},
};

static bool mode_of(u32 word, u32 *mode)
{
	for (size_t i = 0; i < ARRAY_LEN(mode_words); i++)
		if (mode_words[i].word == word) {
			*mode |= mode_words[i].mode;
			return true;
		}
	return false;
}

enum exec_op lower_mode_op(const struct isa_form *form, s64 *imm)
{
	struct lower_key k;
	u32 mode = 0;

	lower_key_begin(&k, isa_form_opcode(form));
	if (form->row->row == I_min_max_f32_three)
		lower_key_add(&k, LOWER_KEY_THREE);
	lower_key_add(&k, LOWER_KEY_MODE);
	for (u32 i = 0; i < form->row->slots; i++)
		if (form->word[i] && !mode_of(form->word[i], &mode))
			lower_key_add(&k, form->word[i]);
	if (form->types)
		mode |= isa_type_bits(form->type[0]) << MODE_TO;
	if (form->types > 1)
		mode |= isa_type_bits(form->type[1]) << MODE_FROM;
	*imm = mode;
	return lower_find_op(&k);
}

void lower_four_words(struct lower *l, enum exec_op op, s64 imm)
{
	const struct ir_operand *v = lower_operand(l, 1), *dst = lower_operand(l, 0);
	u32 rest = lower_source(l, lower_operand(l, 2), T_b32, ROW_W), part[4], d;

	for (u32 i = 0; i < 4; i++) {
		struct ir_operand e = lower_element(l, v, i);

		part[i] = lower_source(l, &e, T_f32, ROW_W);
	}
	d = lower_target(l, dst, ROW_W);
	lower_op(l, op, d, IR_NONE, rest, IR_NONE, true);
	lower_last(l)->lane.imm = imm;
	for (u32 i = 0; i < 4; i++)
		lower_ext(l, part[i], false);
	lower_finish(l, dst, d, T_b32, ROW_W);
}
