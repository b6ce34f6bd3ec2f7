/*
 * Which rule lowers which row of the instruction table, and the rules of moves, addresses and
 * control flow.
 */
#include "src/lower/lower_int.h"

/* By row of the instruction table, whose state names its rule. */
static lower_rule *const rule_of[ISA_ROWS] = {
#define LINT NULL
#define MULTICAST NULL
#define FABRIC NULL
#define RUN(rule) lower_##rule
#define INSN(id, syntax, ptx, target, state) [I_##id] = state,
#include "src/isa/insn/all.def"
#undef INSN
#undef RUN
#undef FABRIC
#undef MULTICAST
#undef LINT
};

lower_rule *lower_find_rule(u32 row)
{
	return rule_of[row];
}

/* ---- mov ---- */

static bool vreg_is_wide(const struct lower *l, u32 vreg)
{
	return l->vregs.at[vreg].class == ROW_X;
}

static void move_vreg(struct lower *l, u32 d, u32 a)
{
	static const enum exec_op op[] = {
		[ROW_W] = OP_mov_b32, [ROW_X] = OP_mov_b64, [ROW_P] = OP_mov_pred};

	lower_op(l, op[l->vregs.at[d].class], d, a, IR_NONE, IR_NONE, true);
}

void lower_move_vector(struct lower *l, const struct ir_operand *dst, const struct ir_operand *src)
{
	u32 n = isa_form_has(l->in->form, M_v4) ? 4 : 2, type = l->in->form->type[0], part[4];
	enum row_class class = lower_class(isa_type_bits(type));

	for (u32 i = 0; i < n; i++) {
		struct ir_operand s = lower_element(l, src, i);

		part[i] = lower_vreg(l, class);
		lower_op(l, class == ROW_X ? OP_mov_b64 : OP_mov_b32, part[i],
			 lower_source(l, &s, type, class), IR_NONE, IR_NONE, false);
	}
	for (u32 i = 0; i < n; i++) {
		struct ir_operand d = lower_element(l, dst, i);

		if (d.kind == IR_OP_REG)
			move_vreg(l, lower_register(l, &d, 0), part[i]);
	}
}

/* A special register; those that differ by lane have 32 bits. */
static void mov_sreg(struct lower *l, u32 d, const struct ir_operand *src, u32 component,
		     bool guarded)
{
	bool tid = src->index == SR_tid && component < 3;
	bool lane = src->index != SR_tid && isa_sreg_varies(src->index) == ISA_LANE;
	u32 v = (tid || lane) && vreg_is_wide(l, d) ? lower_vreg(l, ROW_W) : d;
	bool direct = v == d;
	enum exec_op op = tid                             ? OP_sreg_tid
			  : lane                          ? OP_sreg_lane
			  : l->vregs.at[d].class == ROW_P ? OP_sreg_pred
							  : OP_sreg_uniform;
	struct uop *in = guarded && direct ? lower_emit(l, op) : lower_emit_free(l, op);

	if (src->index >= SR_reserved_smem_offset_begin && src->index <= SR_reserved_smem_offset_1)
		l->p->uses_reserved = true;
	l->p->reads_clock |= isa_sreg_varies(src->index) == ISA_TIME;
	in->sreg.number = src->index;
	in->sreg.component = (u8)component;
	in->flags |= vreg_is_wide(l, v) ? UOPF_WIDE_DATA : 0;
	lower_write(l, FIELD_D, v);
	if (!direct)
		lower_op(l, OP_zero_extend, d, v, IR_NONE, IR_NONE, guarded);
}

u32 lower_sreg(struct lower *l, const struct ir_operand *src, enum row_class class)
{
	u32 v = lower_vreg(l, class);

	mov_sreg(l, v, src, src->part ? src->part - IR_PART_X : 0, false);
	return v;
}

/* Address of a variable in its state space, or generic when it has no space of its own. */
static bool is_frame_var(const struct ir_var *v)
{
	return v->space == M_local || (v->space == M_param && v->func != IR_NONE);
}

static void mov_address(struct lower *l, u32 d, const struct ir_operand *src)
{
	const struct ir_var *v = l->m->vars.at[src->index];
	struct uop *in;
	u64 at;

	if (lower_is_in_kernel_frame(l, src->index)) {
		at = (u64)(lower_var_offset(l, src->index) + src->imm);
		move_vreg(l, d,
			  lower_const(l, l->vregs.at[d].class, vreg_is_wide(l, d) ? at : (u32)at));
		return;
	}
	if (is_frame_var(v) && !(l->f->is_entry && lower_is_formal(l->f, src->index))) {
		in = lower_emit(l, OP_frame_address);
		in->address.offset = lower_var_offset(l, src->index) + src->imm;
		lower_read(l, FIELD_A, lower_var_base(l, src->index));
		in->flags |= vreg_is_wide(l, d) ? UOPF_WIDE_DATA : 0;
		lower_write(l, FIELD_D, d);
		return;
	}
	/* a kernel parameter: its place in the parameter block, which is device memory */
	if (v->space == M_param) {
		in = lower_emit(l, OP_param_address);
		in->address.offset = l->var_offset[src->index] + src->imm;
		in->flags |= vreg_is_wide(l, d) ? UOPF_WIDE_DATA : 0;
		lower_write(l, FIELD_D, d);
		return;
	}
	at = v->space == M_shared ? l->var_offset[src->index] : l->var_address[src->index];
	if (v->space == M_const)
		at -= l->const_base;
	move_vreg(l, d, lower_const(l, l->vregs.at[d].class, at + (u64)src->imm));
}

static void mov_pack(struct lower *l, const struct ir_operand *dst, const struct ir_operand *vec)
{
	u32 n = lower_elements(l, vec), bits = isa_type_bits(l->in->form->type[0]),
	    d = lower_register(l, dst, 0), t;
	u32 part[4] = {0};

	for (u32 i = 0; i < n; i++) {
		struct ir_operand e = lower_element(l, vec, i);

		part[i] = lower_source(l, &e, bits / n == 64 ? T_b64 : T_b32,
				       bits / n > 32 ? ROW_X : ROW_W);
	}
	if (n == 1) {
		move_vreg(l, d, part[0]);
	} else if (bits == 128 && n == 2) {
		u32 hi = lower_vreg(l, ROW_X);

		lower_op(l, OP_mov_b64, hi, part[1], IR_NONE, IR_NONE, false);
		move_vreg(l, d, part[0]);
		move_vreg(l, d + 1, hi);
	} else if (bits == 128) {
		u32 hi = lower_vreg(l, ROW_X);

		lower_op(l, OP_join_x, hi, part[2], part[3], IR_NONE, false);
		lower_op(l, OP_join_x, d, part[0], part[1], IR_NONE, true);
		move_vreg(l, d + 1, hi);
	} else if (bits == 64 && n == 2) {
		lower_op(l, OP_join_x, d, part[0], part[1], IR_NONE, true);
	} else if (bits == 32 && n == 2) {
		lower_op(l, OP_join_halves, d, part[0], part[1], IR_NONE, true);
	} else if (bits == 16 && n == 2) {
		t = lower_vreg(l, ROW_W);
		lower_op(l, OP_low_byte, t, part[0], IR_NONE, IR_NONE, false);
		lower_op(l, OP_put_byte, d, t, part[1], IR_NONE, true);
		lower_last(l)->lane.imm = 8;
	} else if (bits == 64) {
		u32 lo = lower_vreg(l, ROW_W), hi = lower_vreg(l, ROW_W);

		lower_op(l, OP_join_halves, lo, part[0], part[1], IR_NONE, false);
		lower_op(l, OP_join_halves, hi, part[2], part[3], IR_NONE, false);
		lower_op(l, OP_join_x, d, lo, hi, IR_NONE, true);
	} else {
		t = lower_vreg(l, ROW_W);
		lower_op(l, OP_low_byte, t, part[0], IR_NONE, IR_NONE, false);
		for (u32 i = 1; i < n; i++) {
			u32 next = i + 1 == n ? d : lower_vreg(l, ROW_W);

			lower_op(l, OP_put_byte, next, t, part[i], IR_NONE, i + 1 == n);
			lower_last(l)->lane.imm = 8 * i;
			t = next;
		}
	}
}

/* Every part goes through a row of its own first: a result may be the source's register. */
static void mov_unpack(struct lower *l, const struct ir_operand *vec, const struct ir_operand *src)
{
	u32 n = lower_elements(l, vec), bits = isa_type_bits(l->in->form->type[0]), each = bits / n,
	    part[4];
	enum row_class class = bits > 32 ? ROW_X : ROW_W;
	u32 a = src->kind == IR_OP_SREG ? lower_sreg(l, src, class)
					: lower_source(l, src, l->in->form->type[0], class);
	u32 high = a;

	if (bits == 128)
		high = src->kind == IR_OP_REG ? lower_register(l, src, 1)
					      : lower_const(l, ROW_X, 0);
	for (u32 i = 0; i < n; i++) {
		u32 at = i * each, from = at >= 64 ? high : a;

		part[i] = lower_vreg(l, each > 32 ? ROW_X : ROW_W);
		if (each == 64)
			lower_op(l, OP_mov_b64, part[i], from, IR_NONE, IR_NONE, false);
		else if (each == 32 && bits == 32)
			lower_op(l, OP_mov_b32, part[i], from, IR_NONE, IR_NONE, false);
		else if (each == 32)
			lower_op(l, at % 64 ? OP_high_of_x : OP_low_of_x, part[i], from, IR_NONE,
				 IR_NONE, false);
		else if (each == 16 && bits <= 32)
			lower_op(l, at ? OP_high_half : OP_low_half, part[i], from, IR_NONE,
				 IR_NONE, false);
		else
			lower_op(l, each == 16 ? OP_half_of_x : OP_byte_of, part[i], from, IR_NONE,
				 IR_NONE, false);
		lower_last(l)->lane.imm = at;
	}
	for (u32 i = 0; i < n; i++) {
		struct ir_operand e = lower_element(l, vec, i);

		if (e.kind == IR_OP_REG)
			move_vreg(l, lower_register(l, &e, 0), part[i]);
	}
}

/* Values in braces, one included, or a whole vector register. */
static bool is_vector_operand(const struct lower *l, const struct ir_operand *op)
{
	return op->kind == IR_OP_VEC || lower_elements(l, op) > 1;
}

void lower_mov(struct lower *l)
{
	const struct ir_operand *dst = lower_operand(l, 0), *src = lower_operand(l, 1);
	u32 type = l->in->form->type[0], d;

	if (isa_form_has(l->in->form, M_v4) && src->kind == IR_OP_SREG) {
		for (u32 i = 0; i < lower_elements(l, dst); i++) {
			struct ir_operand e = lower_element(l, dst, i);

			if (e.kind == IR_OP_REG)
				mov_sreg(l, lower_register(l, &e, 0), src, i, true);
		}
		return;
	}
	if (isa_form_has(l->in->form, M_v2) || isa_form_has(l->in->form, M_v4)) {
		lower_move_vector(l, dst, src);
		return;
	}
	if (is_vector_operand(l, dst)) {
		mov_unpack(l, dst, src);
		return;
	}
	if (is_vector_operand(l, src)) {
		mov_pack(l, dst, src);
		return;
	}
	if (src->kind == IR_OP_SREG) {
		mov_sreg(l, lower_register(l, dst, 0), src, src->part ? src->part - IR_PART_X : 0,
			 true);
		return;
	}
	d = lower_register(l, dst, 0);
	if (src->kind == IR_OP_VAR) {
		mov_address(l, d, src);
	} else if (src->kind == IR_OP_FUNC) {
		move_vreg(l, d,
			  lower_const(l, l->vregs.at[d].class,
				      lower_function_address(l, src->index)));
	} else {
		move_vreg(l, d, lower_source(l, src, type, l->vregs.at[d].class));
		if (isa_type_bits(type) == 128)
			move_vreg(l, d + 1,
				  src->kind == IR_OP_REG ? lower_register(l, src, 1)
							 : lower_const(l, ROW_X, 0));
	}
}

/* ---- addresses ---- */

/* Generic addresses are those of the space, plus the base of its window. */
void lower_cvta(struct lower *l)
{
	const struct isa_form *form = l->in->form;
	const struct ir_operand *dst = lower_operand(l, 0), *src = lower_operand(l, 1);
	bool to = isa_form_opcode(form) == OPCODE_cvta_to;
	u32 space = isa_form_word(form, ISA_K_SPACE, 0), d = lower_target(l, dst, ROW_X), a;
	struct uop *in;

	if (src->kind == IR_OP_VAR) {
		a = lower_vreg(l, ROW_X);
		mov_address(l, a, src);
	} else {
		a = lower_source(l, src, T_u64, ROW_X);
	}
	if (space == M_const) {
		lower_op(l, OP_add_imm_x, d, a, IR_NONE, IR_NONE, true);
		lower_last(l)->lane.imm = (s64)(to ? 0 - l->const_base : l->const_base);
	} else if (space == M_global || space == M_param || space == M_param_entry) {
		lower_op(l, OP_mov_b64, d, a, IR_NONE, IR_NONE, true);
	} else {
		in = lower_emit(l, OP_window);
		in->address.local = space == M_local;
		in->address.to_generic = !to;
		lower_read(l, FIELD_A, a);
		lower_write(l, FIELD_D, d);
	}
	lower_finish(l, dst, d, T_u64, ROW_X);
}

/* ---- control flow: these test their guard themselves ---- */

static struct uop *emit_control(struct lower *l, enum exec_op op)
{
	struct uop *in = lower_emit_free(l, op);

	in->flags |= l->guard_not && l->guard != IR_NONE ? UOPF_GUARD_NOT : 0;
	lower_read(l, FIELD_GUARD, l->guard);
	return lower_last(l);
}

static void fix(struct lower *l, u32 at, u32 label, bool in_ext)
{
	struct fixup x = {.insn = at, .label = label, .in_ext = in_ext};

	if (!VEC_PUSH(&l->fixups, x))
		l->failed = true;
}

void lower_bra(struct lower *l)
{
	emit_control(l, l->guard == IR_NONE ? OP_bra : OP_bra_pred);
	fix(l, (u32)l->uops.len - 1, lower_operand(l, 0)->index, false);
}

u32 lower_skip(struct lower *l)
{
	struct uop *in = lower_emit_free(l, OP_bra_pred);

	in->flags |= l->guard_not ? 0 : UOPF_GUARD_NOT;
	lower_read(l, FIELD_GUARD, l->guard);
	l->guard = IR_NONE;
	return (u32)l->uops.len - 1;
}

void lower_skip_end(struct lower *l, u32 branch)
{
	l->uops.at[branch].branch.target = (u32)l->uops.len;
	lower_emit_free(l, OP_join);
}

void lower_brx(struct lower *l)
{
	const struct ir_table *t = &l->f->tables.at[lower_operand(l, 1)->index];
	u32 a = lower_source(l, lower_operand(l, 0), T_u32, ROW_W), skip = IR_NONE;
	struct uop *in;

	if (l->guard != IR_NONE)
		skip = lower_skip(l);
	in = lower_emit_free(l, OP_brx_idx);
	in->branch.cases = t->len;
	lower_read(l, FIELD_A, a);
	for (u32 i = 0; i < t->len; i++) {
		lower_ext(l, IR_NONE, false);
		fix(l, (u32)l->ext.len - 1, t->at[i], true);
	}
	lower_last(l)->flags |= UOPF_BACK;
	if (skip != IR_NONE)
		lower_skip_end(l, skip);
}

void lower_exit(struct lower *l)
{
	emit_control(l, OP_exit);
}

void lower_ret(struct lower *l)
{
	if (l->f->is_entry)
		emit_control(l, OP_exit);
	else
		lower_epilogue(l);
}

void lower_trap(struct lower *l)
{
	lower_emit(l, OP_trap);
}

void lower_brkpt(struct lower *l)
{
	lower_emit(l, OP_brkpt);
}

void lower_nothing(struct lower *l)
{
	(void)l;
}

void lower_nanosleep(struct lower *l)
{
	u32 ns = lower_source(l, lower_operand(l, 0), T_u32, ROW_W);

	lower_emit(l, OP_sleep);
	lower_read(l, FIELD_B, ns);
	emit_control(l, OP_yield);
}
