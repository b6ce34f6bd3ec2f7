/*
 * Lowering of tensor copies and tensormap.replace to micro-ops of op_tensor.c.
 */
#include "src/uop/async.h"
#include "src/uop/atom.h"
#include "src/lower/lower_int.h"
#include "src/async/tensor.h"

/* Up to `n` 32-bit rows of a vector operand, or of one register. */
static void list_vector_rows(struct lower *l, const struct ir_operand *op, u32 type, u32 n,
			     u32 *rows)
{
	u32 len = lower_elements(l, op);

	for (u32 i = 0; i < n; i++) {
		struct ir_operand e;

		rows[i] = IR_NONE;
		if (i >= len)
			continue;
		e = lower_element(l, op, i);
		rows[i] = lower_source(l, &e, type, ROW_W);
	}
}

/* What is not done here, NULL: nothing. A group of one CTA is the plain copy. */
static const char *missing(const struct isa_form *form)
{
	if (isa_form_has(form, M_im2col_w) || isa_form_has(form, M_im2col_w_128))
		return "tensor copies in the modes im2col::w are not run";
	if (isa_form_has(form, M_cta_group_2))
		return "tensor copies of pairs of CTAs are not run";
	return NULL;
}

void lower_tensor_copy(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const struct ir_operand *t = lower_named(l, 't'), *part = &l->f->operands.at[t->index];
	bool reduce = isa_form_opcode(form) == OPCODE_cp_reduce_async_bulk_tensor,
	     to_global = isa_form_word(form, ISA_K_SPACE, 0) == M_global;
	bool im2col = isa_form_has(form, M_im2col) || isa_form_has(form, M_im2col_no_offs),
	     four = isa_form_has(form, M_tile_gather4) || isa_form_has(form, M_tile_scatter4);
	u32 at = lower_address_row(l, lower_named(l, to_global ? 's' : 'd')),
	    map = lower_address_row(l, &part[0]);
	u32 m = to_global ? IR_NONE : lower_address_row(l, lower_named(l, 'm')), mask = IR_NONE,
	    coord[5], offset[3];
	struct uop *in;

	if (at == IR_NONE || map == IR_NONE || (m == IR_NONE && !to_global) || missing(form)) {
		lower_poison(l, missing(form) ? missing(form) : lower_mnemonic(l));
		return;
	}
	if (isa_form_has(form, M_multicast_cluster))
		mask = lower_source(l, lower_named(l, 'c'), T_u16, ROW_W);
	list_vector_rows(l, &part[1], T_s32, 5, coord);
	list_vector_rows(l, lower_named(l, 'o'), T_u16, 3, offset);
	if (reduce)
		lower_await_turn(l);
	in = lower_emit(l, OP_tensor);
	in->tensor.rank = (u8)(part[1].kind == IR_OP_VEC ? part[1].imm : 1);
	in->tensor.kind = im2col ? TENSOR_COPY_IM2COL : four ? TENSOR_COPY_FOUR : TENSOR_COPY_TILE;
	in->mem.space = MEM_SHARED;
	in->tensor.to_global = to_global;
	in->tensor.action = reduce ? (u8)lower_atom_op(form) : ATOM_ACTIONS;
	lower_read(l, FIELD_A, at);
	lower_read(l, FIELD_B, map);
	lower_ext(l, m, false);
	lower_ext(l, mask, false);
	for (u32 i = 0; i < 5; i++)
		lower_ext(l, coord[i], false);
	for (u32 i = 0; i < 3; i++)
		lower_ext(l, offset[i], false);
}

static const struct {
	enum isa_word word;
	enum tensor_field field;
	bool wide;
} fields[] = {
	{M_global_address, TENSOR_ADDRESS, true},
	{M_rank, TENSOR_RANK, false},
	{M_box_dim, TENSOR_BOX, false},
	{M_global_dim, TENSOR_DIM, false},
	{M_global_stride, TENSOR_STRIDE, true},
	{M_element_stride, TENSOR_STEP, false},
	{M_elemtype, TENSOR_ELEMENT, false},
	{M_interleave_layout, TENSOR_INTERLEAVE, false},
	{M_swizzle_mode, TENSOR_SWIZZLE, false},
	{M_fill_mode, TENSOR_FILL, false},
	{M_swizzle_atomicity, TENSOR_ATOMICITY, false},
};

void lower_tensormap_replace(struct lower *l)
{
	const struct ir_operand *index = lower_named(l, 'o');
	u32 a = lower_address_row(l, lower_named(l, 'a')), v, i = 0;

	while (i < ARRAY_LEN(fields) && !isa_form_has(l->in->form, fields[i].word))
		i++;
	if (i == ARRAY_LEN(fields) || a == IR_NONE) {
		lower_poison(l, lower_mnemonic(l));
		return;
	}
	v = lower_source(l, lower_named(l, 'v'), fields[i].wide ? T_b64 : T_b32,
			 fields[i].wide ? ROW_X : ROW_W);
	lower_emit(l, OP_tensor_replace)->field.field = (u8)fields[i].field;
	lower_last(l)->field.index = index ? (u32)index->imm : 0;
	lower_last(l)->flags |= fields[i].wide ? UOPF_WIDE_DATA : 0;
	lower_read(l, FIELD_A, a);
	lower_read(l, FIELD_B, v);
}

void lower_tensormap_copy(struct lower *l)
{
	u32 d = lower_address_row(l, lower_named(l, 'd')),
	    s = lower_address_row(l, lower_named(l, 's'));

	if (d == IR_NONE || s == IR_NONE) {
		lower_poison(l, lower_mnemonic(l));
		return;
	}
	lower_emit(l, OP_tensor_copy_map);
	lower_read(l, FIELD_A, d);
	lower_read(l, FIELD_B, s);
}
