/*
 * From IR to records of the reference engine: which functions, where variables and registers live,
 * and the instructions
 * that are plain rows of scalar operations. The other instructions are in ref_decode_*.c.
 */
#include "tests/ref/ref_int.h"

#include "src/num/numeric.h"

#include <stdio.h>

#define CONST_BIT 0x80000000u
#define TEMPS 40u

/* ---- records and slots ---- */

u32 ref_emit(struct ref_builder *b, struct ref_insn x)
{
	x.ir = (u32)(b->in - b->ir->insns.at);
	x.cache = b->p->caches;
	if (!VEC_PUSH(&b->insns, x))
		b->p->failed = true;
	b->straight++;
	return (u32)b->insns.len - 1;
}

u32 ref_const(struct ref_builder *b, u64 bits)
{
	u64 key = bits + 1 ? bits + 1 : 0x9e3779b97f4a7c15u;
	const u64 *found = map_get(&b->consts, key);

	if (found && b->f->consts.at[*found] == bits)
		return CONST_BIT | (u32)*found;
	if (!VEC_PUSH(&b->f->consts, bits) || !map_set(&b->consts, key, b->f->consts.len - 1))
		b->p->failed = true;
	return CONST_BIT | (u32)(b->f->consts.len - 1);
}

u32 ref_temp(struct ref_builder *b)
{
	if (b->temps == TEMPS) {
		b->why = "too many operands";
		return REF_SLOT_TRASH;
	}
	return b->f->consts_at - TEMPS + b->temps++;
}

u32 ref_ext(struct ref_builder *b, u32 slot)
{
	if (!VEC_PUSH(&b->p->ext, slot))
		b->p->failed = true;
	return (u32)b->p->ext.len - 1;
}

static u32 reg_slots(const struct ir_reg *r)
{
	return isa_type_bits(r->type) > 64 ? 2 : 1;
}

static u32 reg_slot(const struct ref_builder *b, const struct ir_operand *op)
{
	u32 part = op->part >= IR_PART_X && op->part <= IR_PART_W ? op->part - IR_PART_X : 0;

	return b->f->reg_slot[op->index] + part * reg_slots(&b->ir->regs.at[op->index]);
}

/* A constant as an operand of this type: floats are written as f64 unless in hexadecimal. */
static u64 constant_bits(const struct ir_operand *op, u32 type)
{
	bool to32 = isa_type_bits(type) == 32;

	if (op->kind == IR_OP_INT)
		return (u64)op->imm;
	if (op->type == T_f64 && to32)
		return bits_f32((f32)f64_bits((u64)op->imm));
	if (op->type == T_f32 && type == T_f64)
		return bits_f64((f64)f32_bits((u32)op->imm));
	return (u64)op->imm;
}

static u32 emit_sreg(struct ref_builder *b, const struct ir_operand *op, u32 component)
{
	u32 d = ref_temp(b);

	ref_emit(b, (struct ref_insn){
			    .run = ref_op_sreg, .d = d, .imm = (s64)(op->index | component << 16)});
	return d;
}

u32 ref_source(struct ref_builder *b, const struct ir_operand *op, u32 type)
{
	u32 slot, t;

	switch (op->kind) {
	case IR_OP_REG:
		slot = reg_slot(b, op);
		if (!(op->flags & IR_NOT))
			return slot;
		t = ref_temp(b);
		ref_emit(b, (struct ref_insn){.run = ref_op_invert, .d = t, .a = slot});
		return t;
	case IR_OP_INT:
	case IR_OP_FLOAT:
		return ref_const(b, constant_bits(op, type) ^ (op->flags & IR_NOT ? 1 : 0));
	case IR_OP_SREG:
		return emit_sreg(b, op, op->part ? op->part - IR_PART_X : 0);
	case IR_OP_SINK:
		return ref_const(b, 0);
	case IR_OP_VEC: /* one value in braces */
		if (op->imm == 1)
			return ref_source(b, &b->ir->operands.at[op->index], type);
		b->why = "a vector";
		return REF_SLOT_TRASH;
	default:
		b->why = "an operand of this kind";
		return REF_SLOT_TRASH;
	}
}

u32 ref_dest(struct ref_builder *b, const struct ir_operand *op)
{
	if (op->kind == IR_OP_VEC && op->imm == 1)
		op = &b->ir->operands.at[op->index];
	return op->kind == IR_OP_REG ? reg_slot(b, op) : REF_SLOT_TRASH;
}

u32 ref_elements(struct ref_builder *b, const struct ir_operand *op, u32 type, bool dest, u32 *out)
{
	u32 n = 0, wide = isa_type_bits(type) > 64 ? 2 : 1;

	if (op->kind == IR_OP_VEC) {
		for (u32 i = 0; i < (u32)op->imm; i++)
			n += ref_elements(b, &b->ir->operands.at[op->index + i], type, dest,
					  out + n);
		return n;
	}
	if (op->kind == IR_OP_REG) {
		const struct ir_reg *r = &b->ir->regs.at[op->index];
		u32 all = op->part ? 1 : r->vec;

		if (op->flags & IR_NOT) {
			*out = ref_source(b, op, type);
			return 1;
		}
		/*
		 * Of a register wider than a pair of slots is asked for, the low one of each
		 * element.
		 */
		for (u32 i = 0; i < all * reg_slots(r); i += reg_slots(r) / wide)
			out[n++] = reg_slot(b, op) + i;
		return n;
	}
	for (u32 i = 0; i < wide; i++)
		out[n++] = dest || op->kind == IR_OP_SINK ? REF_SLOT_TRASH
			   : i                            ? ref_const(b, 0)
							  : ref_source(b, op, type);
	return n;
}

/* ---- rows of scalar operations ---- */

static const struct {
	u16 word;
	u16 bits;
} mode_bits[] = {
	{M_rz, NUM_RZ},
	{M_rm, NUM_RM},
	{M_rp, NUM_RP},
	{M_rna, NUM_RNA},
	{M_rzi, NUM_RZ},
	{M_rmi, NUM_RM},
	{M_rpi, NUM_RP},
	{M_ftz, NUM_FTZ},
	{M_sat, NUM_SAT},
	{M_relu, NUM_RELU},
	{M_satfinite, NUM_SATFINITE},
	{M_NaN, NUM_NAN},
	{M_abs, NUM_ABS},
	{M_xorsign, NUM_XORSIGN},
	{M_oob, NUM_OOB},
	{M_rn, 0},
	{M_rni, 0},
	{M_rs, 0},
};

static bool is_mode(u32 word, u32 *mode)
{
	for (u32 i = 0; i < ARRAY_LEN(mode_bits); i++)
		if (mode_bits[i].word == word) {
			*mode |= mode_bits[i].bits;
			return true;
		}
	return false;
}

u32 ref_mode_of(const struct isa_form *form)
{
	u32 mode = 0;

	for (u32 i = 0; i < form->row->slots; i++)
		is_mode(form->word[i], &mode);
	return mode;
}

/* Opcode, then `extra`, then the modifiers; those of the mode word only when `all`. */
static void make_text(const struct isa_form *form, const char *extra, bool all, char *out,
		      size_t size)
{
	size_t n = (size_t)snprintf(out, size, "%s%s", form->row->name[form->name], extra);
	u32 mode;

	for (u32 i = 0; i < form->row->slots && n < size; i++)
		if (form->word[i] && (all || !is_mode(form->word[i], &mode)))
			n += (size_t)snprintf(out + n, size - n, ".%s",
					      isa_word_text(form->word[i]));
}

/*
 * What the text must say besides: conversions to whole numbers of the same float, stochastic
 * rounding, and the forms of
 * PTX 1.0 to 1.3, in which divisions, roots and functions of f32 were approximations that flush.
 */
static const char *extra_text(const struct isa_form *form, u32 *mode)
{
	switch (form->row->row) {
	case I_div_legacy:
	case I_rcp_f32_legacy:
	case I_sqrt_rsqrt_legacy:
	case I_transcendental_f32_legacy:
		if (form->type[0] == T_f32)
			*mode |= NUM_FTZ;
		return form->type[0] == T_f32 || isa_form_opcode(form) == OPCODE_rsqrt ? ".approx"
										       : "";
	case I_cvt_tf32_rna:
		return ".rna";
	case I_cvt_f16x2_f32_rs:
	case I_cvt_bf16x2_f32_rs:
		return ".rs";
	case I_cvt_f16_f16:
	case I_cvt_f32_f32:
	case I_cvt_f64_f64:
	case I_cvt_bf16_bf16:
		return isa_form_word(form, ISA_K_IROUND, 0) ? ".whole" : "";
	default:
		return "";
	}
}

#ifdef HOST_X86_64
const struct ref_row *ref_rows(u32 *n)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	    __builtin_cpu_supports("bmi2"))
		return ref_rows_v3(n);
	return ref_rows_base(n);
}
#else
const struct ref_row *ref_rows(u32 *n)
{
	return ref_rows_base(n);
}
#endif

static bool index_rows(struct ref_program *p)
{
	u32 n;

	p->rows = ref_rows(&n);
	for (u32 i = 0; i < n; i++)
		if (!map_set(&p->row_index, hash_bytes(p->rows[i].text, strlen(p->rows[i].text)),
			     i))
			return false;
	return true;
}

const struct ref_row *ref_row_find(const struct ref_program *p, const char *text, bool has_mode)
{
	const u64 *at = map_get(&p->row_index, hash_bytes(text, strlen(text)));
	const struct ref_row *row = at ? &p->rows[*at] : NULL;

	return row && !strcmp(row->text, text) && (!has_mode || row->run[1]) ? row : NULL;
}

static const struct ref_row *find_row(struct ref_builder *b, u32 *mode)
{
	bool three = b->form->row->row == I_min_max_f32_three;
	const struct ref_row *row;
	const char *extra;
	char text[96];

	*mode = 0;
	make_text(b->form, "", true, text, sizeof(text));
	extra = extra_text(b->form, mode);
	row = *extra || *mode || three ? NULL : ref_row_find(b->p, text, false);
	if (row)
		return row;
	make_text(b->form, extra, false, text, sizeof(text));
	if (three)
		strncat(text, ".three", sizeof(text) - strlen(text) - 1);
	*mode |= ref_mode_of(b->form);
	return ref_row_find(b->p, text, true);
}

bool ref_decode_row(struct ref_builder *b)
{
	struct ref_insn x = {0};
	const struct ref_row *row;
	u32 mode, s[4] = {0};
	bool swap;

	row = find_row(b, &mode);
	if (!row || b->in->ops != row->operands + 1u)
		return false;
	for (u32 i = 0; i < row->operands; i++)
		s[i] = ref_source(b, &b->op[i + 1],
				  isa_operand_type(b->form, &b->form->row->operand[i + 1]));
	x.run = row->run[1] && mode == 0         ? row->run[1]
		: row->run[2] && mode == NUM_FTZ ? row->run[2]
						 : row->run[0];
	if (b->form->row->row == I_bfe && b->form->type[0] == T_s32 && b->op[2].kind == IR_OP_INT &&
	    b->op[3].kind == IR_OP_INT)
		x.run = ref_op_bfe_folded;
	x.d = ref_dest(b, &b->op[0]);
	/* A constant factor or summand of f64 is the second operand: NaNs tell. */
	swap = (b->form->row->row == I_fma_f64 || b->form->row->row == I_mad_f64 ||
		(b->form->row->row == I_add_sub_mul_f64 && !ref_is(b, OPCODE_sub))) &&
	       b->op[1].kind == IR_OP_FLOAT && b->op[2].kind == IR_OP_REG;
	x.a = s[swap];
	x.b = s[!swap];
	x.c = s[2];
	x.mode = row->operands == 4 ? s[3] : mode;
	x.mode_is_slot = row->operands == 4;
	ref_emit(b, x);
	return true;
}

/* ---- one function ---- */

static bool (*const decoders[])(struct ref_builder *) = {
	ref_decode_control, ref_decode_move,  ref_decode_compare, ref_decode_memory,
	ref_decode_warp,    ref_decode_video, ref_decode_misc,    ref_decode_row,
};

static void poison(struct ref_builder *b, u32 from, const char *why)
{
	b->insns.len = from;
	ref_emit(b, (struct ref_insn){.run = ref_op_poison,
				      .data = arena_strdup(&b->p->arena, why, strlen(why))});
}

static void decode_insn(struct ref_builder *b)
{
	u32 from = (u32)b->insns.len, skip = REF_NO_SLOT;
	bool done = false, branch = b->form && b->form->row->row == I_bra;
	char why[128];

	b->temps = 0;
	b->why = NULL;
	if (!b->form) {
		poison(b, from, "an unknown instruction");
		return;
	}
	if (b->in->guard != IR_NONE && !branch)
		skip = ref_emit(b, (struct ref_insn){.run = b->in->guard_not ? ref_op_bra_if
									     : ref_op_bra_not,
						     .a = b->f->reg_slot[b->in->guard],
						     .jump = 0});
	for (u32 i = 0; i < ARRAY_LEN(decoders) && !done && !b->why; i++)
		done = decoders[i](b);
	if (!done || b->why) {
		char text[96];

		make_text(b->form, "", true, text, sizeof(text));
		snprintf(why, sizeof(why), "%s%s%s", text, b->why ? ": " : "",
			 b->why ? b->why : "");
		poison(b, skip == REF_NO_SLOT ? from : skip + 1, why);
	}
	if (skip != REF_NO_SLOT && !b->p->failed)
		b->insns.at[skip].jump = (s32)(b->insns.len - skip);
}

static void place_registers(struct ref_builder *b)
{
	const struct ir_func *f = b->ir;
	u32 at = REF_SLOT_FIRST;

	b->f->reg_slot = ARENA_ARRAY(&b->p->arena, u32, f->regs.len + 1);
	if (!b->f->reg_slot) {
		b->p->failed = true;
		return;
	}
	for (u32 i = 0; i < f->regs.len; i++) {
		b->f->reg_slot[i] = at;
		at += reg_slots(&f->regs.at[i]) * f->regs.at[i].vec;
	}
	b->f->consts_at = at + TEMPS;
}

/*
 * Constants were numbered from 0: they follow the registers. Branches to labels get their distance.
 */
static void settle(struct ref_builder *b)
{
	struct ref_func *f = b->f;

	for (u32 i = 0; i < b->insns.len; i++) {
		struct ref_insn *x = &b->insns.at[i];
		u32 *slots[] = {&x->d, &x->a, &x->b, &x->c, x->mode_is_slot ? &x->mode : &x->d};

		for (u32 k = 0; k < ARRAY_LEN(slots); k++)
			if (*slots[k] & CONST_BIT && *slots[k] != REF_NO_SLOT)
				*slots[k] = f->consts_at + (*slots[k] & ~CONST_BIT);
		if (x->jump == INT32_MIN)
			x->jump = (s32)(f->first[x->ext] - i);
	}
	f->slots = f->consts_at + (u32)f->consts.len;
}

static struct ref_list places(struct ref_builder *b, const u32 *vars, u32 n)
{
	struct ref_list l = {.at = ARENA_ARRAY(&b->p->arena, struct ref_place, n + 1), .len = n};

	if (!l.at) {
		b->p->failed = true;
		l.len = 0;
	}
	for (u32 i = 0; i < l.len; i++) {
		const struct ir_var *v = b->p->module->vars.at[vars[i]];

		l.at[i].in_frame = v->space != M_reg;
		l.at[i].at =
			v->space == M_reg ? b->f->reg_slot[v->reg] : (u32)b->p->var_at[vars[i]];
		l.at[i].bytes = v->space == M_reg ? 8 : (u32)v->size_bytes;
	}
	return l;
}

static void decode_func(struct ref_program *p, struct ref_func *f)
{
	struct ref_builder b = {.p = p, .f = f, .ir = f->ir};
	const struct ir_func *ir = f->ir;
	u32 ext = (u32)p->ext.len;

	place_registers(&b);
	f->first = ARENA_ARRAY(&p->arena, u32, ir->insns.len + 1);
	if (p->failed || !f->first) {
		p->failed = true;
		return;
	}
	f->params = places(&b, ir->params, ir->params_len);
	f->rets = places(&b, ir->rets, ir->rets_len);
	for (u32 i = 0; i < ir->insns.len && !p->failed; i++) {
		b.in = &ir->insns.at[i];
		b.form = b.in->form;
		b.op = ir->operands.at + b.in->first_op;
		f->first[i] = (u32)b.insns.len;
		if (b.straight > REF_STRAIGHT) {
			ref_emit(&b, (struct ref_insn){.run = ref_op_breath});
			b.straight = 0;
		}
		decode_insn(&b);
	}
	f->first[ir->insns.len] = (u32)b.insns.len;
	b.in = ir->insns.at + ir->insns.len;
	ref_emit(&b, (struct ref_insn){.run = ref_op_ret});
	if (!p->failed) {
		settle(&b);
		for (u32 i = ext; i < p->ext.len; i++)
			if (p->ext.at[i] & CONST_BIT)
				p->ext.at[i] = f->consts_at + (p->ext.at[i] & ~CONST_BIT);
	}
	f->insn = b.insns.at;
	f->insns = (u32)b.insns.len;
	map_fini(&b.consts);
}

/* ---- which functions, and where variables live ---- */

static void want(struct ref_program *p, u32 func, u8 *vars)
{
	struct ref_func *f = &p->funcs[func];
	const struct ir_func *ir = f->ir;

	if (f->wanted || !ir->has_body)
		return;
	f->wanted = true;
	for (u32 i = 0; i < ir->operands.len; i++) {
		const struct ir_operand *op = &ir->operands.at[i];

		if (op->kind == IR_OP_FUNC)
			want(p, op->index, vars);
		else if (op->kind == IR_OP_VAR || op->kind == IR_OP_ADDR_VAR)
			vars[op->index] = 1;
	}
	for (u32 i = 0; i < ir->tables.len; i++)
		if (ir->tables.at[i].kind == IR_CALL_TARGETS)
			for (u32 k = 0; k < ir->tables.at[i].len; k++)
				want(p, ir->tables.at[i].at[k], vars);
}

static void want_in_data(struct ref_program *p, u8 *vars)
{
	for (u32 i = 0; i < p->module->vars.len; i++) {
		const struct ir_var *v = p->module->vars.at[i];

		for (u32 k = 0; k < v->relocs_len; k++)
			if (v->relocs[k].is_func)
				want(p, v->relocs[k].index, vars);
			else if (p->module->vars.at[v->relocs[k].index]->space == M_shared)
				vars[v->relocs[k].index] = 1;
	}
}

u32 ref_param_layout(const struct ir_module *m, const struct ir_func *f, u32 *offsets)
{
	u64 at = 0;

	for (u32 i = 0; i < f->params_len; i++) {
		const struct ir_var *v = m->vars.at[f->params[i]];

		at = align_up(at, v->align);
		if (offsets)
			offsets[i] = (u32)at;
		at += v->size_bytes;
	}
	return (u32)at;
}

static void place_variables(struct ref_program *p, const u8 *used)
{
	const struct ir_module *m = p->module;
	u64 shared = 0, dynamic_align = 16;

	p->const_base = ref_const_base(m, p->var_address);
	for (u32 i = 0; i < m->vars.len; i++) {
		const struct ir_var *v = m->vars.at[i];
		struct ref_func *f = v->func == IR_NONE ? NULL : &p->funcs[v->func];

		if (v->space == M_global || v->space == M_const) {
			p->var_at[i] =
				p->var_address[i] - (v->space == M_const ? p->const_base : 0);
		} else if (v->space == M_shared && used[i] && !v->unsized &&
			   v->linkage != IR_EXTERN) {
			p->var_at[i] = align_up(shared, v->align);
			shared = p->var_at[i] + v->size_bytes;
		} else if (v->space == M_shared) {
			dynamic_align = max_u64(dynamic_align, v->align);
		} else if (f && (v->space == M_local || v->space == M_param)) {
			p->var_at[i] = align_up(f->frame_bytes, v->align);
			f->frame_bytes = (u32)align_up(p->var_at[i] + v->size_bytes, 16);
		}
	}
	p->shared_static = (u32)align_up(shared, dynamic_align);
	for (u32 i = 0; i < m->vars.len; i++)
		if (m->vars.at[i]->space == M_shared &&
		    (m->vars.at[i]->unsized || m->vars.at[i]->linkage == IR_EXTERN))
			p->var_at[i] = p->shared_static;
	for (u32 i = 0, at = 0; i < p->kernel->params_len; i++) {
		const struct ir_var *v = m->vars.at[p->kernel->params[i]];

		at = (u32)align_up(at, v->align);
		p->var_at[p->kernel->params[i]] = at;
		at += (u32)v->size_bytes;
	}
	p->param_bytes = ref_param_layout(m, p->kernel, NULL);
}

struct ref_program *ref_decode(const struct ir_module *m, const struct ir_func *kernel,
			       const u64 *var_address)
{
	struct ref_program *p = calloc(1, sizeof(*p));
	u8 *used;

	if (!p)
		return NULL;
	p->module = m;
	p->kernel = kernel;
	p->var_address = var_address;
	p->func_len = (u32)m->funcs.len;
	p->funcs = calloc(p->func_len + 1, sizeof(*p->funcs));
	p->var_at = ARENA_ARRAY(&p->arena, u64, m->vars.len + 1);
	used = calloc(m->vars.len + 1, 1);
	if (p->funcs && p->var_at && used && index_rows(p)) {
		for (u32 i = 0; i < p->func_len; i++)
			p->funcs[i].ir = m->funcs.at[i];
		want(p, kernel->index, used);
		want_in_data(p, used);
		place_variables(p, used);
		for (u32 i = 0; i < p->func_len && !p->failed; i++)
			if (p->funcs[i].wanted)
				decode_func(p, &p->funcs[i]);
	} else {
		p->failed = true;
	}
	free(used);
	map_fini(&p->row_index);
	if (!p->failed)
		return p;
	ref_program_free(p);
	return NULL;
}

void ref_program_free(struct ref_program *p)
{
	if (!p)
		return;
	for (u32 i = 0; p->funcs && i < p->func_len; i++) {
		free(p->funcs[i].insn);
		VEC_FREE(&p->funcs[i].consts);
	}
	free(p->funcs);
	VEC_FREE(&p->ext);
	arena_fini(&p->arena);
	free(p);
}
