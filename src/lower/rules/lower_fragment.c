/*
 * Operands of matrix instructions, as lists of rows, and what the device has tensor cores for.
 * Lanes that have diverged meet before such an instruction, as .sync says.
 */
#include "src/lower/rules/lower_fragment.h"

#include "src/isa/shape.h"
#include "src/uop/octets.h"
#include "src/uop/warp.h"

bool matrix_shape(const struct isa_form *form, struct shape *s)
{
	return isa_form_shape(form, &s->m, &s->n, &s->k);
}

u32 matrix_type(u32 type)
{
	static const struct {
		u8 type, mma;
	} types[] = {
		{T_f16, MMA_F16},   {T_bf16, MMA_BF16}, {T_tf32, MMA_TF32}, {T_e4m3, MMA_E4M3},
		{T_e5m2, MMA_E5M2}, {T_e3m2, MMA_E3M2}, {T_e2m3, MMA_E2M3}, {T_e2m1, MMA_E2M1},
		{T_f64, MMA_F64},   {T_f32, MMA_F32},   {T_s32, MMA_S32},   {T_s8, MMA_S8},
		{T_u8, MMA_U8},     {T_s4, MMA_S4},     {T_u4, MMA_U4},     {T_b1, MMA_B1},
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (types[i].type == type)
			return types[i].mma;
	return MMA_TYPES;
}

/* ---- what the device can ---- */

static const struct arch_shapes *device_shapes(const struct arch *a, u32 type)
{
	switch (type) {
	case MMA_F16:
		return &a->mma_f16_shapes;
	case MMA_BF16:
		return &a->mma_bf16_shapes;
	case MMA_TF32:
		return &a->mma_tf32_shapes;
	case MMA_F64:
		return &a->mma_f64_shapes;
	case MMA_E4M3:
	case MMA_E5M2:
	case MMA_E3M2:
	case MMA_E2M3:
	case MMA_E2M1:
		return &a->mma_fp8_shapes;
	case MMA_S8:
	case MMA_U8:
		return &a->mma_s8_shapes;
	case MMA_S4:
	case MMA_U4:
		return &a->mma_s4_shapes;
	default:
		return &a->mma_b1_shapes;
	}
}

bool matrix_has_shape(const struct arch *a, u32 type, const struct shape *s)
{
	const struct arch_shapes *list = device_shapes(a, type);

	for (u32 i = 0; i < list->len; i++)
		if (!s->m ||
		    (list->at[i].m == s->m && list->at[i].n == s->n && list->at[i].k == s->k))
			return true;
	return false;
}

void matrix_refuse(struct lower *l, const char *why)
{
	char text[160];

	snprintf(text, sizeof(text), "%s on %s: %s", lower_mnemonic(l), l->arch->id, why);
	lower_poison(l, text);
}

bool matrix_runs(struct lower *l)
{
	if (l->in->form->row->state == ISA_RUN)
		return true;
	matrix_refuse(l, "this form is checked only, not run");
	return false;
}

bool matrix_small_floats(const struct arch *a)
{
	return a->tensor_generation >= 5;
}

bool matrix_octets(const struct arch *a)
{
	return mma_has_octets(a->tensor_generation);
}

bool matrix_layout(const struct isa_form *form, u32 n, u32 word)
{
	return isa_form_word(form, ISA_K_LAYOUT, n) == word;
}

/* ---- operands ---- */

bool fragment_find(struct lower *l, const struct ir_operand *op, enum row_class class, bool write,
		   struct fragment *f)
{
	f->n = lower_elements(l, op);
	f->write = write;
	if (!op || f->n > FRAGMENT_MAX)
		return false;
	for (u32 i = 0; i < f->n; i++) {
		struct ir_operand e = lower_element(l, op, i);

		if (write)
			f->row[i] = e.kind == IR_OP_REG ? lower_register(l, &e, 0) : IR_NONE;
		else
			f->row[i] = lower_source(l, &e, class == ROW_X ? T_f64 : T_b32, class);
		if (f->row[i] != IR_NONE && l->vregs.at[f->row[i]].class != class)
			return false;
	}
	return true;
}

void fragment_add(struct lower *l, const struct fragment *f)
{
	for (u32 i = 0; i < f->n; i++)
		lower_ext(l, f->row[i], f->write);
}

u32 matrix_meet(struct lower *l)
{
	u32 skip = l->guard != IR_NONE ? lower_skip(l) : IR_NONE;
	struct uop *in = lower_emit_free(l, OP_warp_sync);

	in->warp.members = FULL_MASK;
	in->warp.action = WARP_BARRIER;
	in->ext = (u32)l->ext.len;
	lower_ext(l, IR_NONE, false);
	lower_ext(l, IR_NONE, false);
	return skip;
}

void matrix_end(struct lower *l, u32 skip)
{
	if (skip != IR_NONE)
		lower_skip_end(l, skip);
}
