/*
 * Lowering of calls and of what a function does to be called.
 *
 * An activation's variables lie in its lane's local memory from `frame` on: result, parameters,
 * then the others. The next activation's frame begins at `stack`; the caller puts the arguments
 * there, jumps, and fetches the result from there afterwards, so callers know all offsets from the
 * declaration alone. Registers as parameters and results travel in the same way. Where to return
 * to, and the caller's frame, are two rows of the callee. An unsized last parameter is a word with
 * the local address of the caller's variable.
 *
 * The usual way of compilers is one block { } with the variables of one call: these variables are
 * given the place in the callee's frame at once and need no copies. PTX ISA "Control Flow
 * Instructions: call", "ret", "Function Declarations and Definitions", "Stack Manipulation
 * Instructions".
 */
#include "src/base/size.h"
#include "src/lower/lower_int.h"
#include "src/host/syscall.h"

#include <stdio.h>

#define FRAME_ALIGN 16u
/* Frames that are larger are laid out no further: such programs are not run. */
#define FRAME_MAX ((u64)1 << 30)

/* ---- layout ---- */

u32 exec_next_slot(const struct ir_var *v, u64 *at)
{
	u64 place = align_up(*at, v->unsized ? 4 : v->align ? v->align : 1);

	*at = place + (v->unsized ? 4 : v->size_bytes);
	return (u32)place;
}

static const struct ir_var *formal(const struct ir_module *m, const struct ir_func *f, u32 i)
{
	return m->vars.at[i < f->rets_len ? f->rets[i] : f->params[i - f->rets_len]];
}

/* Results first, then parameters: place i of the frame. i = rets_len + params_len: the end. */
static u32 slot_of(const struct ir_module *m, const struct ir_func *f, u32 wanted)
{
	u64 at = 0;

	for (u32 i = 0; i < f->rets_len + f->params_len; i++) {
		u32 place = exec_next_slot(formal(m, f, i), &at);

		if (i == wanted)
			return place;
	}
	return (u32)at;
}

u32 lower_signature(const struct ir_module *m, const struct ir_func *f)
{
	u64 at = 0, hash = f->rets_len;

	for (u32 i = 0; i < f->rets_len + f->params_len; i++) {
		u64 part[3] = {hash, exec_next_slot(formal(m, f, i), &at),
			       formal(m, f, i)->size_bytes};

		hash = hash_bytes(part, sizeof(part));
	}
	return (u32)(hash ^ hash >> 32) & 0x7fffffffu;
}

/* Variables of a block whose only call takes them: they live where the callee expects them. */
struct direct {
	u32 insn; /* the call, IR_NONE: none */
	bool others;
};

static bool moves_stack(const struct ir_insn *in)
{
	enum isa_mnemonic opcode = ir_opcode(in);

	return opcode == OPCODE_alloca || opcode == OPCODE_stacksave ||
	       opcode == OPCODE_stackrestore;
}

/*
 * Is there exactly one call in the block, and nothing else that uses the stack or may leave and
 * come back?
 */
static u32 only_call(const struct ir_func *f, const struct ir_scope *s)
{
	u32 found = IR_NONE;
	struct lower_call c;

	for (u32 i = s->first_insn; i < s->end_insn && i < f->insns.len; i++) {
		if (moves_stack(&f->insns.at[i]))
			return IR_NONE;
		if (!lower_parse_call(f, &f->insns.at[i], &c))
			continue;
		if (found != IR_NONE)
			return IR_NONE;
		found = i;
	}
	return found;
}

/*
 * A jump inside the block might run the call twice, or a store after it; blocks with labels are
 * done the careful way.
 */
static bool has_labels(const struct ir_func *f, const struct ir_scope *s)
{
	for (size_t i = 0; i < f->labels.len; i++)
		if (f->labels.at[i].insn > s->first_insn && f->labels.at[i].insn < s->end_insn)
			return true;
	return false;
}

static void place_directly(struct lower *l, const struct ir_operand *list, u32 first, u32 formals,
			   const struct ir_module *m, const struct ir_func *proto, u32 scope)
{
	const struct ir_operand *e =
		list && list->kind == IR_OP_LIST ? l->f->operands.at + list->index : NULL;

	for (u32 i = 0; e && i < (u32)list->imm && i < formals; i++) {
		const struct ir_var *v, *to = formal(m, proto, first + i);
		bool twice = false;

		if (e[i].kind != IR_OP_VAR)
			continue;
		v = l->m->vars.at[e[i].index];
		for (u32 k = 0; k < i; k++)
			twice |= e[k].kind == IR_OP_VAR && e[k].index == e[i].index;
		if (twice || v->space != M_param || v->scope != scope || to->unsized ||
		    to->space != M_param || to->size_bytes != v->size_bytes)
			continue;
		l->offset_in[e[i].index] = LOWER_IN_STACK;
		l->var_offset[e[i].index] = slot_of(m, proto, first + i);
	}
}

static void find_direct(struct lower *l)
{
	for (u32 s = 1; s < l->f->scopes.len; s++) {
		const struct ir_scope *scope = &l->f->scopes.at[s];
		u32 at = only_call(l->f, scope);
		const struct ir_module *m;
		const struct ir_func *proto;
		struct lower_call c;

		if (at == IR_NONE || l->f->insns.at[at].guard != IR_NONE || has_labels(l->f, scope))
			continue;
		lower_parse_call(l->f, &l->f->insns.at[at], &c);
		proto = lower_prototype(l, &c, &m);
		if (!proto)
			continue;
		place_directly(l, c.args, proto->rets_len, proto->params_len, m, proto, s);
		place_directly(l, c.rets, 0, proto->rets_len, m, proto, s);
	}
}

static u64 place_var(struct lower *l, u32 var, u64 at)
{
	const struct ir_var *v = l->m->vars.at[var];

	if (!size_align_up(at, v->align, &at) || at > FRAME_MAX)
		at = FRAME_MAX;
	l->var_offset[var] = (u32)at;
	if (v->align > l->p->frame_align)
		l->p->frame_align = v->align;
	return size_add(at, v->size_bytes, &at) && at <= FRAME_MAX ? at : FRAME_MAX;
}

/*
 * Parameters of calls are known in their block only: blocks side by side share space. First each
 * variable's place among those of its block, then the blocks', each after all of the block around
 * it.
 */
static u64 place_scopes(struct lower *l, u64 at)
{
	const struct ir_func *f = l->f;
	u64 *size = calloc(2 * f->scopes.len + 1, sizeof(u64)),
	    *base = size ? size + f->scopes.len : NULL, end = at;

	if (!size) {
		l->failed = true;
		return at;
	}
	for (size_t i = 0; i < f->vars.len; i++) {
		u32 var = f->vars.at[i], scope = l->m->vars.at[var]->scope;

		if (l->m->vars.at[var]->space == M_param && !l->offset_in[var])
			size[scope] = place_var(l, var, size[scope]);
	}
	for (u32 s = 0; s < f->scopes.len; s++) {
		u32 parent = f->scopes.at[s].parent;

		base[s] = align_up(s ? base[parent] + size[parent] : at, l->p->frame_align);
		end = base[s] + size[s] > end ? base[s] + size[s] : end;
	}
	for (size_t i = 0; i < f->vars.len; i++)
		if (l->m->vars.at[f->vars.at[i]]->space == M_param && !l->offset_in[f->vars.at[i]])
			l->var_offset[f->vars.at[i]] +=
				(u32)base[l->m->vars.at[f->vars.at[i]]->scope];
	free(size);
	return end;
}

static u64 place_rest(struct lower *l, u64 at)
{
	const struct ir_func *f = l->f;

	for (size_t i = 0; i < f->vars.len; i++)
		if (l->m->vars.at[f->vars.at[i]]->space == M_local)
			at = place_var(l, f->vars.at[i], at);
	return place_scopes(l, at);
}

/* What the limit of local memory is compared with. ~0: more than 64 bits hold. */
static u64 sum_locals(const struct lower *l)
{
	u64 sum = 0;

	for (size_t i = 0; i < l->f->vars.len; i++) {
		const struct ir_var *v = l->m->vars.at[l->f->vars.at[i]];

		if (v->space == M_local && !size_add(sum, v->size_bytes, &sum))
			return ~(u64)0;
	}
	return sum;
}

void lower_lay_out_frame(struct lower *l)
{
	const struct ir_func *f = l->f;
	u64 at = 0;

	for (u32 i = 0; i < f->rets_len + f->params_len; i++) {
		u32 var = i < f->rets_len ? f->rets[i] : f->params[i - f->rets_len];

		l->var_offset[var] = exec_next_slot(l->m->vars.at[var], &at);
	}
	if (f->is_entry) {
		l->p->param_bytes = (u32)at;
		at = 0;
	}
	find_direct(l);
	l->p->local_bytes = max_u64(l->p->local_bytes, sum_locals(l));
	at = place_rest(l, at < FRAME_MAX ? at : FRAME_MAX);
	l->funcs.at[l->func].frame_bytes =
		(u32)align_up(at < FRAME_MAX ? at : FRAME_MAX, FRAME_ALIGN);
}

/* ---- access to frames ---- */

/* One row to or from local memory at base + at. */
static void move_row(struct lower *l, enum exec_op op, u32 base, u32 at, u32 bytes, u32 row)
{
	struct uop *in = lower_emit_free(l, op);

	in->mem.offset = at;
	in->mem.space = MEM_LOCAL;
	in->mem.size = (u8)bytes;
	in->mem.count = 1;
	in->flags |= l->vregs.at[row].class == ROW_X ? UOPF_WIDE_DATA : 0;
	lower_read(l, FIELD_A, base);
	if (op == OP_load_local)
		lower_write(l, FIELD_D, row);
	else
		lower_read(l, FIELD_B, row);
}

/* A register operand to or from a place; vectors and 128-bit registers in their parts. */
static void store_value(struct lower *l, const struct ir_operand *op, const struct ir_var *as,
			u32 base, u32 at)
{
	u32 bytes = isa_type_bits(as->type) / 8, vec = as->vec ? as->vec : 1;

	for (u32 i = 0; i < vec; i++) {
		struct ir_operand e = *op;

		if (vec > 1)
			e.part = (u8)(IR_PART_X + i);
		if (bytes == 16 && op->kind == IR_OP_REG) {
			move_row(l, OP_store_local, base, at + 16 * i, 8, lower_register(l, &e, 0));
			move_row(l, OP_store_local, base, at + 16 * i + 8, 8,
				 lower_register(l, &e, 1));
		} else {
			move_row(l, OP_store_local, base, at + bytes * i, bytes,
				 lower_source(l, &e, as->type, lower_class(8 * bytes)));
		}
	}
}

static void load_value(struct lower *l, const struct ir_operand *op, const struct ir_var *as,
		       u32 base, u32 at)
{
	u32 bytes = isa_type_bits(as->type) / 8, vec = as->vec ? as->vec : 1;

	for (u32 i = 0; i < vec; i++) {
		struct ir_operand e = *op;

		if (vec > 1)
			e.part = (u8)(IR_PART_X + i);
		if (bytes == 16) {
			move_row(l, OP_load_local, base, at + 16 * i, 8, lower_register(l, &e, 0));
			move_row(l, OP_load_local, base, at + 16 * i + 8, 8,
				 lower_register(l, &e, 1));
		} else {
			u32 d = lower_target(l, &e, lower_class(8 * bytes));

			move_row(l, OP_load_local, base, at + bytes * i, bytes, d);
			lower_finish(l, &e, d, as->type, lower_class(8 * bytes));
		}
	}
}

/* A .param variable copied between frames. from IR_NONE: out of the kernel's parameters. */
static void copy_param(struct lower *l, u32 from, u32 from_at, u32 to, u32 to_at, u32 bytes)
{
	struct uop *in;

	if (!bytes)
		return;
	in = lower_emit_free(l, OP_copy_local);
	in->stack = (struct uop_stack){.bytes = bytes, .from = from_at, .to = to_at};
	lower_read(l, FIELD_A, from);
	lower_read(l, FIELD_B, to);
}

u32 lower_var_base(const struct lower *l, u32 var)
{
	const struct ir_var *v = l->m->vars.at[var];

	if (l->offset_in[var] == LOWER_IN_STACK)
		return l->stack_vreg;
	return v->unsized && v->space == M_param ? l->funcs.at[l->func].tail : l->frame_vreg;
}

bool lower_is_in_kernel_frame(const struct lower *l, u32 var)
{
	const struct ir_var *v = l->m->vars.at[var];

	return l->f->is_entry && (v->space == M_local || v->space == M_param) &&
	       v->func != IR_NONE && !lower_is_formal(l->f, var) &&
	       lower_var_base(l, var) == l->frame_vreg;
}

u32 lower_var_offset(const struct lower *l, u32 var)
{
	const struct ir_var *v = l->m->vars.at[var];

	return v->unsized && v->space == M_param ? 0 : l->var_offset[var];
}

/* ---- arguments and results ---- */

static u32 reserve_temporary(struct lower *l, u32 bytes, u32 align)
{
	u32 at = (u32)align_up(l->funcs.at[l->func].frame_bytes, align);

	l->funcs.at[l->func].frame_bytes = (u32)align_up(at + bytes, FRAME_ALIGN);
	return at;
}

static void pass_variable(struct lower *l, const struct ir_operand *op, u32 to, u32 at)
{
	const struct ir_var *v = l->m->vars.at[op->index];

	if (l->offset_in[op->index] == LOWER_IN_STACK)
		return;
	if (l->f->is_entry && lower_is_formal(l->f, op->index))
		copy_param(l, IR_NONE, l->var_offset[op->index], to, at, (u32)v->size_bytes);
	else
		copy_param(l, lower_var_base(l, op->index), lower_var_offset(l, op->index), to, at,
			   (u32)v->size_bytes);
}

/*
 * The arguments for an unsized parameter: one after the other in the caller's frame, their address
 * in the slot.
 */
static void pass_tail(struct lower *l, const struct ir_operand *args, u32 n, u32 at)
{
	u32 row = lower_vreg(l, ROW_W), place = 0;
	u64 bytes = 0;
	struct uop *in;

	if (n == 1 && args->kind == IR_OP_VAR && lower_var_base(l, args->index) == l->frame_vreg &&
	    !(l->f->is_entry && lower_is_formal(l->f, args->index))) {
		place = l->var_offset[args->index];
	} else if (n) {
		for (u32 i = 0; i < n; i++)
			if (args[i].kind == IR_OP_VAR)
				bytes = align_up(bytes, l->m->vars.at[args[i].index]->align) +
					l->m->vars.at[args[i].index]->size_bytes;
		place = reserve_temporary(l, (u32)bytes, FRAME_ALIGN);
		bytes = 0;
		for (u32 i = 0; i < n; i++) {
			if (args[i].kind != IR_OP_VAR)
				continue;
			bytes = align_up(bytes, l->m->vars.at[args[i].index]->align);
			pass_variable(l, &args[i], l->frame_vreg, place + (u32)bytes);
			bytes += l->m->vars.at[args[i].index]->size_bytes;
		}
	}
	in = lower_emit_free(l, OP_frame_address);
	in->address.offset = place;
	lower_read(l, FIELD_A, l->frame_vreg);
	lower_write(l, FIELD_D, row);
	move_row(l, OP_store_local, l->stack_vreg, at, 4, row);
}

static const struct ir_operand *items(const struct lower *l, const struct ir_operand *list, u32 *n)
{
	*n = list ? 1 : 0;
	if (!list || list->kind != IR_OP_LIST)
		return list;
	*n = (u32)list->imm;
	return l->f->operands.at + list->index;
}

static void pass_arguments(struct lower *l, const struct lower_call *c, const struct ir_module *m,
			   const struct ir_func *proto)
{
	u32 n;
	const struct ir_operand *args = items(l, c->args, &n);

	for (u32 i = 0; i < proto->params_len; i++) {
		const struct ir_var *v = formal(m, proto, proto->rets_len + i);
		u32 at = slot_of(m, proto, proto->rets_len + i);

		if (v->unsized)
			pass_tail(l, args + (i < n ? i : n), i < n ? n - i : 0, at);
		else if (i < n && args[i].kind == IR_OP_VAR)
			pass_variable(l, &args[i], l->stack_vreg, at);
		else if (i < n)
			store_value(l, &args[i], v, l->stack_vreg, at);
	}
}

static void fetch_results(struct lower *l, const struct lower_call *c, const struct ir_module *m,
			  const struct ir_func *proto)
{
	u32 n;
	const struct ir_operand *rets = items(l, c->rets, &n);

	for (u32 i = 0; i < proto->rets_len && i < n; i++) {
		const struct ir_var *v = formal(m, proto, i);
		u32 at = slot_of(m, proto, i);

		if (rets[i].kind == IR_OP_REG)
			load_value(l, &rets[i], v, l->stack_vreg, at);
		else if (rets[i].kind == IR_OP_VAR && l->offset_in[rets[i].index] != LOWER_IN_STACK)
			copy_param(l, l->stack_vreg, at, l->frame_vreg,
				   l->var_offset[rets[i].index], (u32)v->size_bytes);
	}
}

/* ---- call ---- */

/* Fault when the frame's first bytes do not fit any more; before something is put there. */
static void reserve(struct lower *l, u32 bytes)
{
	if (bytes)
		lower_emit_free(l, OP_reserve)->stack.bytes = bytes;
}

/* Does the call lead into a cycle its function is part of? Then its rows are saved. */
static bool is_recursive(const struct lower *l, const struct lower_call *c)
{
	const struct lower_func *f = &l->funcs.at[l->func];

	if (c->target->kind == IR_OP_FUNC) {
		u32 to = lower_find_function(l, c->target->index);

		return to != IR_NONE && lower_same_cycle(l, l->func, to);
	}
	for (u32 i = 0; i < f->edges; i++)
		if (lower_same_cycle(l, l->func, l->edges.at[f->first_edge + i].to))
			return true;
	return false;
}

static void emit_call(struct lower *l, const struct lower_call *c, const struct ir_module *m,
		      const struct ir_func *proto)
{
	bool saves = is_recursive(l, c);
	struct uop *in;
	u32 a = IR_NONE;

	if (c->target->kind != IR_OP_FUNC)
		a = lower_source(l, c->target, T_u64, ROW_X);
	in = lower_emit_free(l, OP_call);
	if (c->target->kind == IR_OP_FUNC)
		in->call.callee = lower_find_function(l, c->target->index);
	else
		in->call.signature = lower_signature(m, proto);
	in->flags |= saves ? UOPF_BACK : 0;
	in->call.saves = saves;
	lower_read(l, FIELD_A, a);
	if (saves)
		lower_emit_free(l, OP_restore);
}

static void emit_extern(struct lower *l, const struct ir_func *f)
{
	u32 number = exec_extern_find(l->p, l->m, f, &l->options);
	char text[160];

	if (number == IR_NONE) {
		snprintf(text, sizeof(text), "function '%.96s' has no definition here",
			 f->name->text);
		lower_poison(l, text);
		return;
	}
	/* What is printed has an order of its own. */
	if (strcmp(f->name->text, "vprintf") != 0 && strcmp(f->name->text, "__assertfail") != 0)
		lower_await_turn(l);
	lower_emit_free(l, OP_extern)->call.callee = number;
}

void lower_call(struct lower *l)
{
	const struct ir_module *m;
	const struct ir_func *proto;
	struct lower_call c;
	u32 skip = IR_NONE;

	lower_parse_call(l->f, l->in, &c);
	proto = c.target ? lower_prototype(l, &c, &m) : NULL;
	if (!proto) {
		lower_poison(l, "call through a table of functions that is empty");
		return;
	}
	if (l->guard != IR_NONE)
		skip = lower_skip(l);
	l->p->has_calls = true;
	reserve(l, slot_of(m, proto, proto->rets_len + proto->params_len));
	pass_arguments(l, &c, m, proto);
	if (c.target->kind == IR_OP_FUNC && lower_find_function(l, c.target->index) == IR_NONE)
		emit_extern(l, proto);
	else
		emit_call(l, &c, m, proto);
	fetch_results(l, &c, m, proto);
	if (skip != IR_NONE)
		lower_skip_end(l, skip);
}

/* ---- begin and end of a function ---- */

static struct ir_operand register_of(const struct lower *l, const struct ir_var *v)
{
	return (struct ir_operand){
		.kind = IR_OP_REG, .type = l->f->regs.at[v->reg].type, .index = v->reg};
}

void lower_prologue(struct lower *l)
{
	struct lower_func *f = &l->funcs.at[l->func];

	if (l->f->is_entry)
		return;
	for (u32 i = 0; i < l->f->params_len; i++) {
		const struct ir_var *v = l->m->vars.at[l->f->params[i]];

		if (v->unsized) {
			f->tail = lower_vreg(l, ROW_W);
			move_row(l, OP_load_local, l->frame_vreg, l->var_offset[l->f->params[i]], 4,
				 f->tail);
		} else if (v->space == M_reg) {
			struct ir_operand op = register_of(l, v);

			load_value(l, &op, v, l->frame_vreg, l->var_offset[l->f->params[i]]);
		}
	}
}

void lower_epilogue(struct lower *l)
{
	const struct lower_func *f = &l->funcs.at[l->func];
	struct uop *in;

	for (u32 i = 0; i < l->f->rets_len; i++) {
		const struct ir_var *v = l->m->vars.at[l->f->rets[i]];

		if (v->space == M_reg) {
			struct ir_operand op = register_of(l, v);

			store_value(l, &op, v, l->frame_vreg, l->var_offset[l->f->rets[i]]);
		}
	}
	in = lower_emit_free(l, OP_ret);
	in->flags |= l->guard_not && l->guard != IR_NONE ? UOPF_GUARD_NOT : 0;
	lower_read(l, FIELD_GUARD, l->guard);
	lower_read(l, FIELD_A, f->return_pc);
	lower_read(l, FIELD_B, f->return_frame);
}

/* ---- the stack ---- */

/* The stack grows upwards here; only that what is released later was taken later can be seen. */
void lower_stack(struct lower *l)
{
	enum isa_mnemonic opcode = isa_form_opcode(l->in->form);
	const struct ir_operand *op = lower_operand(l, 0), *align = lower_operand(l, 2);
	u32 type = l->in->form->type[0], d, a;
	struct uop *in;

	l->p->has_calls = l->p->moves_stack = true;
	if (opcode == OPCODE_stackrestore) {
		a = lower_source(l, op, type, ROW_W);
		lower_op(l, OP_mov_b32, l->stack_vreg, a, IR_NONE, IR_NONE, true);
		return;
	}
	d = lower_target(l, op, ROW_W);
	if (opcode == OPCODE_stacksave) {
		lower_op(l, OP_mov_b32, d, l->stack_vreg, IR_NONE, IR_NONE, true);
	} else {
		a = lower_source(l, lower_operand(l, 1), type, ROW_X);
		in = lower_emit(l, OP_alloca);
		in->stack.align = align ? (u32)align->imm : 8;
		lower_read(l, FIELD_A, a);
		in->stack.bytes = l->bounds ? sizeof(u64) : 0; /* of its size */
		lower_write(l, FIELD_D, d);
		if (l->bounds)
			lower_bounds_alloca(l, d);
	}
	lower_finish(l, op, d, T_u32, ROW_W);
}
