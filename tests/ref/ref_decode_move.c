/*
 * Moves, address conversions, comparisons and video instructions for the reference engine. PTX ISA
 * "mov", "cvta",
 * "isspacep", "Comparison and Selection Instructions", "Video Instructions".
 */
#include "tests/ref/ref_int.h"

#include "src/num/numeric_video.h"

#include <stdio.h>

static void copy(struct ref_builder *b, u32 d, u32 a)
{
	ref_emit(b, (struct ref_insn){.run = ref_op_copy, .d = d, .a = a});
}

/* d = the address of the operand's variable in its space. */
static void address(struct ref_builder *b, u32 d, const struct ir_operand *op)
{
	const struct ir_var *v = b->p->module->vars.at[op->index];
	u64 at = b->p->var_at[op->index] + (u64)op->imm;
	bool formal = false;

	if (v->space != M_local && v->space != M_param) {
		copy(b, d, ref_const(b, at));
		return;
	}
	for (u32 i = 0; i < b->ir->params_len; i++)
		formal |= b->ir->params[i] == op->index;
	ref_emit(b,
		 (struct ref_insn){.run = ref_op_add_imm,
				   .d = d,
				   .a = formal && b->ir->is_entry ? REF_SLOT_PARAM : REF_SLOT_FRAME,
				   .imm = (s64)at});
}

/* Any pieces to any pieces, all of the same width on either side. */
static void repack(struct ref_builder *b, const u32 *from, u32 n, const u32 *to, u32 m, u32 bits)
{
	struct ref_insn x = {.run = ref_op_repack,
			     .count = (u16)n,
			     .b = m,
			     .c = bits / n,
			     .d = REF_SLOT_TRASH,
			     .imm = bits / m};

	x.ext = (u32)b->p->ext.len;
	for (u32 i = 0; i < n; i++)
		ref_ext(b, from[i]);
	for (u32 i = 0; i < m; i++)
		ref_ext(b, to[i]);
	ref_emit(b, x);
}

static bool decode_mov(struct ref_builder *b)
{
	const struct isa_operand *od = &b->form->row->operand[0], *oa = &b->form->row->operand[1];
	u32 type = b->form->type[0], from[16], to[16], n, m, dt = type, at = type;
	const struct ir_operand *d = &b->op[0], *a = &b->op[1];

	if (a->kind == IR_OP_SREG && isa_form_has(b->form, M_v4)) {
		m = ref_elements(b, d, type, true, to);
		for (u32 i = 0; i < m; i++)
			ref_emit(b, (struct ref_insn){.run = ref_op_sreg,
						      .d = to[i],
						      .imm = (s64)(a->index | i << 16)});
		return true;
	}
	if (a->kind == IR_OP_SREG && !od->narrow) {
		ref_emit(b, (struct ref_insn){
				    .run = ref_op_sreg,
				    .d = ref_dest(b, d),
				    .imm = (s64)(a->index | (u32)(a->part ? a->part - IR_PART_X : 0)
								    << 16)});
		return true;
	}
	if (a->kind == IR_OP_VAR || a->kind == IR_OP_FUNC) {
		m = ref_elements(b, d, type, true, to);
		if (a->kind == IR_OP_VAR)
			address(b, to[0], a);
		else
			copy(b, to[0], ref_const(b, (u64)a->index + 1));
		if (m > 1)
			copy(b, to[1], ref_const(b, 0));
		return true;
	}
	if (od->narrow)
		dt = isa_type_bits(type) / od->narrow > 64 ? T_b128 : T_b64;
	if (oa->narrow)
		at = isa_type_bits(type) / oa->narrow > 64    ? T_b128
		     : isa_type_bits(type) / oa->narrow == 32 ? T_b32
							      : T_b64;
	n = ref_elements(b, a, at, false, from);
	m = ref_elements(b, d, dt, true, to);
	if (n == 1 && m == 1)
		copy(b, to[0], from[0]);
	else if (od->narrow || oa->narrow || isa_type_bits(type) > 64)
		repack(b, from, n, to, m, isa_type_bits(type));
	else
		repack(b, from, n, to, m, n * isa_type_bits(type));
	return n && m;
}

static bool decode_cvta(struct ref_builder *b)
{
	u32 space = isa_form_word(b->form, ISA_K_SPACE, 0), d = ref_dest(b, &b->op[0]), a = d;
	u32 base = space == M_local   ? MEM_LOCAL
		   : space == M_const ? MEM_CONST
		   : space == M_shared || space == M_shared_cta || space == M_shared_cluster
			   ? MEM_SHARED
			   : MEM_GLOBAL;

	if (b->op[1].kind == IR_OP_VAR) {
		a = ref_temp(b);
		address(b, a, &b->op[1]);
	} else {
		a = ref_source(b, &b->op[1], b->form->type[0]);
	}
	ref_emit(b, (struct ref_insn){.run = ref_op_window,
				      .d = d,
				      .a = a,
				      .imm = base,
				      .mode = ref_is(b, OPCODE_cvta_to)});
	return true;
}

bool ref_decode_move(struct ref_builder *b)
{
	if (ref_is(b, OPCODE_mov))
		return decode_mov(b);
	if (ref_is(b, OPCODE_cvta) || ref_is(b, OPCODE_cvta_to))
		return decode_cvta(b);
	if (ref_is(b, OPCODE_isspacep)) {
		ref_emit(b,
			 (struct ref_insn){.run = ref_op_isspacep,
					   .d = ref_dest(b, &b->op[0]),
					   .a = ref_source(b, &b->op[1], T_u64),
					   .mask = b->form->row->row == I_isspacep_32 ? UINT32_MAX
										      : ~(u64)0,
					   .mode = isa_form_word(b->form, ISA_K_SPACE, 0)});
		return true;
	}
	if (ref_is(b, OPCODE_lop3)) {
		bool with = b->in->ops == 7;
		u32 d = ref_dest(b, &b->op[0]), t = with ? ref_temp(b) : d, first = with ? 2 : 1;
		struct ref_insn x = {.run = ref_op_lop3, .d = t};

		x.a = ref_source(b, &b->op[first], T_b32);
		x.b = ref_source(b, &b->op[first + 1], T_b32);
		x.c = ref_source(b, &b->op[first + 2], T_b32);
		x.imm = b->op[first + 3].imm;
		ref_emit(b, x);
		if (with) {
			u32 q = ref_source(b, &b->op[6], T_pred), nz = ref_temp(b);

			copy(b, d, t);
			ref_emit(b, (struct ref_insn){.run = ref_op_nonzero, .d = nz, .a = t});
			ref_emit(b, (struct ref_insn){.run = isa_form_has(b->form, M_or)
								     ? ref_op_combine_or
								     : ref_op_combine_and,
						      .d = ref_dest(b, &b->op[1]),
						      .a = nz,
						      .b = q});
		}
		return true;
	}
	return false;
}

/* ---- comparisons ---- */

static const char *compare_name(u32 word)
{
	switch (word) {
	case M_lo:
		return "lt";
	case M_ls:
		return "le";
	case M_hi:
		return "gt";
	case M_hs:
		return "ge";
	default:
		return isa_word_text(word);
	}
}

/* The comparison word: the names lo and hi are those of halves elsewhere. */
static u32 compare_word(const struct isa_form *form)
{
	u32 w = isa_form_word(form, ISA_K_CMP, 0);

	return w ? w : isa_form_word(form, ISA_K_HALF, 0);
}

static bool compare(struct ref_builder *b, u32 type, const struct ir_operand *ops, u32 d)
{
	u32 mode = ref_mode_of(b->form) & NUM_FTZ;
	const struct ref_row *row;
	char text[48];

	snprintf(text, sizeof(text), "cmp.%s.%s", compare_name(compare_word(b->form)),
		 isa_word_text(type));
	row = ref_row_find(b->p, text, mode != 0);
	if (!row)
		return false;
	ref_emit(b, (struct ref_insn){.run = mode          ? row->run[2]
					     : row->run[1] ? row->run[1]
							   : row->run[0],
				      .d = d,
				      .mode = mode,
				      .a = ref_source(b, &ops[0], type),
				      .b = ref_source(b, &ops[1], type)});
	return true;
}

static void combine(struct ref_builder *b, u32 d, u32 a, u32 c)
{
	ref_handler *run = isa_form_has(b->form, M_and)  ? ref_op_combine_and
			   : isa_form_has(b->form, M_or) ? ref_op_combine_or
							 : ref_op_combine_xor;

	ref_emit(b, (struct ref_insn){.run = run, .d = d, .a = a, .b = c});
}

static bool is_pair(u32 type)
{
	return type == T_f16x2 || type == T_bf16x2;
}

/*
 * setp: p gets the comparison combined with c, q the negated one; of pairs, p the low answer and q
 * the high one.
 */
static bool decode_setp(struct ref_builder *b)
{
	u32 type = b->form->type[0], outs = b->in->ops > 1 && (b->op[1].flags & IR_BAR) ? 2 : 1, v,
	    w, c = REF_NO_SLOT;
	bool with = isa_form_has(b->form, M_and) || isa_form_has(b->form, M_or) ||
		    isa_form_has(b->form, M_xor);
	const struct ir_operand *a = &b->op[outs];

	if (outs == 1 && !with && !is_pair(type))
		return compare(b, type, a, ref_dest(b, &b->op[0]));
	v = ref_temp(b);
	w = ref_temp(b);
	if (with)
		c = ref_source(b, &a[2], T_pred);
	if (!compare(b, type, a, v))
		return false;
	if (is_pair(type)) {
		ref_emit(b, (struct ref_insn){.run = ref_op_high_bit, .d = w, .a = v});
		ref_emit(b, (struct ref_insn){.run = ref_op_low_bit, .d = v, .a = v});
	} else {
		ref_emit(b, (struct ref_insn){.run = ref_op_invert, .d = w, .a = v});
	}
	if (with) {
		combine(b, v, v, c);
		combine(b, w, w, c);
	}
	copy(b, ref_dest(b, &b->op[0]), v);
	if (outs == 2)
		copy(b, ref_dest(b, &b->op[1]), w);
	return true;
}

static u64 true_value(u32 type)
{
	switch (type) {
	case T_f32:
		return 0x3f800000u;
	case T_f16:
		return 0x3c00u;
	case T_bf16:
		return 0x3f80u;
	case T_f16x2:
		return 0x3c003c00u;
	case T_bf16x2:
		return 0x3f803f80u;
	case T_u16:
	case T_s16:
		return 0xffffu;
	default:
		return 0xffffffffu;
	}
}

static bool decode_set(struct ref_builder *b)
{
	u32 type = b->form->type[1], v = ref_temp(b), c;

	if (!compare(b, type, &b->op[1], v))
		return false;
	if (b->in->ops == 4) {
		c = ref_source(b, &b->op[3], T_pred);
		if (is_pair(type)) { /* c for both halves */
			u32 both = ref_temp(b);

			ref_emit(b, (struct ref_insn){
					    .run = ref_op_pick, .d = both, .a = c, .imm = 3});
			c = both;
		}
		combine(b, v, v, c);
	}
	ref_emit(b, (struct ref_insn){.run = is_pair(type) ? ref_op_pick_pair : ref_op_pick,
				      .d = ref_dest(b, &b->op[0]),
				      .a = v,
				      .imm = (s64)true_value(b->form->type[0])});
	return true;
}

bool ref_decode_compare(struct ref_builder *b)
{
	if (ref_is(b, OPCODE_setp))
		return decode_setp(b);
	if (ref_is(b, OPCODE_set))
		return decode_set(b);
	return false;
}

/* ---- video ---- */

static u8 part_of(const struct ir_operand *op)
{
	u32 digit = (u32)op->imm & 15;

	return (u8)(op->part == IR_PART_BYTES    ? NUM_VPART_B0 + digit
		    : op->part == IR_PART_HALVES ? NUM_VPART_H0 + digit
						 : NUM_VPART_WORD);
}

static bool is_signed(u32 type)
{
	return isa_type_class(type) == ISA_SINT;
}

static const struct {
	const char *name;
	u8 op;
} video_ops[] = {
	{"vadd", NUM_VADD}, {"vsub", NUM_VSUB}, {"vabsdiff", NUM_VABSDIFF},
	{"vmin", NUM_VMIN}, {"vmax", NUM_VMAX}, {"vavrg", NUM_VAVRG},
	{"vset", NUM_VSET}, {"vshl", NUM_VSHL}, {"vshr", NUM_VSHR},
};

static u8 compare_code(u32 word)
{
	static const u16 words[] = {M_eq, M_ne, M_lt, M_le, M_gt, M_ge};

	for (u8 i = 0; i < ARRAY_LEN(words); i++)
		if (words[i] == word)
			return i;
	return 0;
}

/* Lanes of a SIMD operand: digits from the top, `none` without a selector. */
static void lanes_of(const struct ir_operand *op, u32 lanes, u32 none, u8 *out)
{
	for (u32 i = 0; i < lanes; i++)
		out[i] = (u8)(op->part > IR_PART_W ? (u32)(op->imm >> 4 * i) & 15 : none + i);
}

static u8 mask_of(const struct ir_operand *op, u32 lanes)
{
	u32 mask = 0;

	if (op->part <= IR_PART_W)
		return (u8)((1u << lanes) - 1);
	for (u32 i = 0; i < (u32)(op->imm >> 16); i++)
		mask |= 1u << (op->imm >> 4 * i & 15);
	return (u8)mask;
}

static u8 second_of(struct ref_builder *b)
{
	if (isa_form_has(b->form, M_add))
		return NUM_V2_ADD;
	if (isa_form_has(b->form, M_min))
		return NUM_V2_MIN;
	if (isa_form_has(b->form, M_max))
		return NUM_V2_MAX;
	return b->op[0].part > IR_PART_W ? NUM_V2_MERGE : NUM_V2_NONE;
}

static bool decode_vmad(struct ref_builder *b)
{
	struct num_vmad v = {.a_part = part_of(&b->op[1]), .b_part = part_of(&b->op[2])};
	struct ref_insn x = {.run = ref_op_vmad, .d = ref_dest(b, &b->op[0])};

	v.a_signed = is_signed(b->form->type[1]);
	v.b_signed = is_signed(b->form->type[2]);
	v.negate_product = !(b->op[1].flags & IR_NEG) != !(b->op[2].flags & IR_NEG);
	v.negate_c = b->op[3].flags & IR_NEG;
	v.plus_one = isa_form_has(b->form, M_po);
	v.sat = isa_form_has(b->form, M_sat);
	v.shift = isa_form_has(b->form, M_shr7) ? 7 : isa_form_has(b->form, M_shr15) ? 15 : 0;
	x.data = arena_copy(&b->p->arena, &v, sizeof(v));
	x.a = ref_source(b, &b->op[1], T_u32);
	x.b = ref_source(b, &b->op[2], T_u32);
	x.c = ref_source(b, &b->op[3], T_u32);
	ref_emit(b, x);
	return x.data;
}

static void video_types(struct ref_builder *b, struct num_video *v)
{
	bool set = v->op == NUM_VSET;

	/* The result of vset is unsigned, but min and max compare it in the type of a. */
	v->d_signed = is_signed(b->form->type[0]);
	v->a_signed = is_signed(b->form->type[set ? 0 : 1]);
	v->b_signed = is_signed(b->form->type[set ? 1 : 2]);
	v->cmp = set ? compare_code(isa_form_word(b->form, ISA_K_CMP, 0)) : 0;
	v->sat = isa_form_has(b->form, M_sat);
	v->wrap = isa_form_has(b->form, M_wrap);
}

bool ref_decode_video(struct ref_builder *b)
{
	const char *name = b->form->row->name[b->form->name];
	struct num_video v = {.op = 0xff};
	struct ref_insn x = {.run = ref_op_video};
	size_t n = strlen(name);
	u32 lanes = 0;

	if (ref_is(b, OPCODE_vmad))
		return decode_vmad(b);
	if (n && (name[n - 1] == '2' || name[n - 1] == '4'))
		lanes = (u32)(name[--n] - '0');
	for (u32 i = 0; i < ARRAY_LEN(video_ops); i++)
		if (strlen(video_ops[i].name) == n && !strncmp(video_ops[i].name, name, n))
			v.op = video_ops[i].op;
	if (v.op == 0xff)
		return false;
	video_types(b, &v);
	v.second = second_of(b);
	if (lanes) {
		x.run = lanes == 2 ? ref_op_video2 : ref_op_video4;
		v.mask = mask_of(&b->op[0], lanes);
		lanes_of(&b->op[1], lanes, 0, v.a_sel);
		lanes_of(&b->op[2], lanes, lanes, v.b_sel);
	} else {
		v.d_part = part_of(&b->op[0]);
		v.a_part = part_of(&b->op[1]);
		v.b_part = part_of(&b->op[2]);
	}
	x.data = arena_copy(&b->p->arena, &v, sizeof(v));
	x.d = ref_dest(b, &b->op[0]);
	x.a = ref_source(b, &b->op[1], T_u32);
	x.b = ref_source(b, &b->op[2], T_u32);
	x.c = b->in->ops > 3 ? ref_source(b, &b->op[3], T_u32) : ref_const(b, 0);
	ref_emit(b, x);
	return x.data;
}
