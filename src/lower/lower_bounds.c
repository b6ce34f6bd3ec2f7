/*
 * Which object in local memory an address is of. Compilers lay out all local variables of a
 * function in one .local variable, and take the address of each by adding a constant to that
 * one's: what an address is computed from by additions alone tells the object, whose end is the
 * beginning of the next one. Registers that may have addresses of several, or any, are let pass.
 * What alloca gives is an object as well, whose size is known when it runs.
 */
#include "src/lower/lower_int.h"

#include <stdlib.h>

enum local_kind {
	LOCAL_UNKNOWN, /* no definition has been seen */
	LOCAL_NUMBER,  /* no address of a local variable, as far as is known */
	LOCAL_ROOT,    /* of the variable that has all others */
	LOCAL_OBJECT,  /* of what begins at `at` in the variable */
	LOCAL_ALLOCA,  /* of what instruction `at` has given; `var` is IR_NONE */
	LOCAL_ANY,
};

struct local_value {
	u8 kind;
	u32 var;
	u32 at;
};

/* A call of alloca, and the vreg that has the address it gave last. */
struct local_alloca {
	u32 insn, vreg;
};

struct lower_bounds {
	struct local_value *of; /* by register of the function */
	VEC(struct local_value) objects;
	VEC(struct local_alloca) allocas;
	bool has_calls;
};

static bool is_depot(const struct ir_var *v)
{
	static const char prefix[] = "__local_depot";

	return v->name && !strncmp(v->name->text, prefix, sizeof(prefix) - 1);
}

static struct local_value bounds_value(const struct lower *l, const struct ir_operand *o)
{
	struct local_value x = {.kind = LOCAL_NUMBER};

	if (o->kind == IR_OP_REG)
		return l->bounds->of[o->index];
	if (o->kind != IR_OP_VAR || l->m->vars.at[o->index]->space != M_local)
		return x;
	x.var = o->index;
	x.kind = is_depot(l->m->vars.at[o->index]) ? LOCAL_ROOT : LOCAL_OBJECT;
	if (o->imm)
		x.kind = LOCAL_ANY;
	return x;
}

static bool is_pointer(struct local_value x)
{
	return x.kind == LOCAL_ROOT || x.kind == LOCAL_OBJECT || x.kind == LOCAL_ALLOCA ||
	       x.kind == LOCAL_ANY;
}

static struct local_value join_values(struct local_value x, struct local_value y)
{
	if (x.kind == LOCAL_UNKNOWN)
		return y;
	if (y.kind != LOCAL_UNKNOWN &&
	    (x.kind != y.kind || (is_pointer(x) && (x.var != y.var || x.at != y.at))))
		x.kind = LOCAL_ANY;
	return x;
}

static struct local_value bounds_sum(const struct lower *l, const struct ir_operand *a,
				     const struct ir_operand *b)
{
	struct local_value x = bounds_value(l, a), y = bounds_value(l, b);

	if (is_pointer(y)) {
		struct local_value z = x;

		x = y;
		y = z;
		b = a;
	}
	if (is_pointer(y))
		x.kind = LOCAL_ANY;
	if (x.kind != LOCAL_ROOT)
		return x;
	x.kind = LOCAL_ANY;
	if (b->kind == IR_OP_INT && b->imm >= 0 && (u64)b->imm < l->m->vars.at[x.var]->size_bytes) {
		x.kind = LOCAL_OBJECT;
		x.at = (u32)b->imm;
	}
	return x;
}

/* What an instruction makes of its operands. */
static struct local_value result_of(const struct lower *l, const struct ir_insn *in)
{
	const struct ir_func *f = l->f;
	struct local_value x = {.kind = LOCAL_NUMBER};
	enum isa_mnemonic opcode = ir_opcode(in);

	if (opcode == OPCODE_ld || opcode == OPCODE_call || !in->form)
		return x;
	if (opcode == OPCODE_alloca)
		return (struct local_value){LOCAL_ALLOCA, IR_NONE, (u32)(in - f->insns.at)};
	if (in->ops == 2 && (opcode == OPCODE_mov || opcode == OPCODE_cvta ||
			     opcode == OPCODE_cvta_to || opcode == OPCODE_cvt))
		return bounds_value(l, ir_insn_operand(f, in, 1));
	if (in->ops == 3 && opcode == OPCODE_add)
		return bounds_sum(l, ir_insn_operand(f, in, 1), ir_insn_operand(f, in, 2));
	if (in->ops == 4 && opcode == OPCODE_mad &&
	    !is_pointer(bounds_value(l, ir_insn_operand(f, in, 1))) &&
	    !is_pointer(bounds_value(l, ir_insn_operand(f, in, 2))))
		return bounds_value(l, ir_insn_operand(f, in, 3));
	if (in->ops == 4 && opcode == OPCODE_selp)
		return join_values(bounds_value(l, ir_insn_operand(f, in, 1)),
				   bounds_value(l, ir_insn_operand(f, in, 2)));
	for (u32 i = 1; i < in->ops; i++)
		if (is_pointer(bounds_value(l, ir_insn_operand(f, in, i))))
			x.kind = LOCAL_ANY;
	return x;
}

/* True: the register is of another kind now. */
static bool bounds_add(struct lower *l, const struct ir_operand *o, struct local_value x)
{
	struct local_value *to = &l->bounds->of[o->index], y = join_values(*to, x);
	bool news = y.kind != to->kind;

	*to = y;
	return news;
}

static bool note_results(struct lower *l, const struct ir_insn *in)
{
	const struct ir_func *f = l->f;
	bool news = false;

	for (u32 i = 0; in->form && i < in->ops && i < in->form->row->operands; i++) {
		const struct ir_operand *o = ir_insn_operand(f, in, i);
		struct local_value x = {.kind = LOCAL_NUMBER};

		if (!ir_insn_writes(in, i))
			continue;
		if (o->kind == IR_OP_REG)
			news |= bounds_add(l, o, i ? x : result_of(l, in));
		for (u32 k = 0; o->kind == IR_OP_VEC && k < (u32)o->imm; k++)
			if (f->operands.at[o->index + k].kind == IR_OP_REG)
				news |= bounds_add(l, &f->operands.at[o->index + k], x);
	}
	return news;
}

/* Where objects begin: each sum of the variable's address and a constant. */
static bool note_object(struct lower *l, const struct ir_insn *in)
{
	struct local_value x;

	if (!in->form || ir_opcode(in) != OPCODE_add || in->ops != 3)
		return true;
	x = result_of(l, in);
	if (x.kind != LOCAL_OBJECT || !is_depot(l->m->vars.at[x.var]))
		return true;
	for (size_t i = 0; i < l->bounds->objects.len; i++)
		if (l->bounds->objects.at[i].var == x.var && l->bounds->objects.at[i].at == x.at)
			return true;
	return VEC_PUSH(&l->bounds->objects, x);
}

static bool has_local(const struct lower *l)
{
	for (size_t i = 0; i < l->f->vars.len; i++)
		if (l->m->vars.at[l->f->vars.at[i]]->space == M_local)
			return true;
	for (size_t i = 0; i < l->f->insns.len; i++)
		if (ir_opcode(&l->f->insns.at[i]) == OPCODE_alloca)
			return true;
	return false;
}

void lower_bounds_open(struct lower *l)
{
	const struct ir_func *f = l->f;
	struct lower_bounds *b;
	bool news = true;

	l->bounds = NULL;
	if (!l->options.bounds || !has_local(l))
		return;
	b = l->bounds = calloc(1, sizeof(*b));
	if (b)
		b->of = calloc(f->regs.len + 1, sizeof(*b->of));
	if (!b || !b->of) {
		l->failed = true;
		lower_bounds_close(l);
		return;
	}
	/* A register changes at most three times. */
	while (news) {
		news = false;
		for (size_t i = 0; i < f->insns.len; i++)
			news |= note_results(l, &f->insns.at[i]);
	}
	for (size_t i = 0; i < f->insns.len; i++) {
		b->has_calls |= ir_opcode(&f->insns.at[i]) == OPCODE_call;
		l->failed |= !note_object(l, &f->insns.at[i]);
	}
}

void lower_bounds_close(struct lower *l)
{
	if (l->bounds) {
		VEC_FREE(&l->bounds->objects);
		VEC_FREE(&l->bounds->allocas);
		free(l->bounds->of);
	}
	free(l->bounds);
	l->bounds = NULL;
}

/* Where the next object in the variable begins, or the variable ends. */
static u32 end_of(const struct lower *l, struct local_value x, u32 *objects)
{
	u32 end = (u32)l->m->vars.at[x.var]->size_bytes;

	*objects = 0;
	for (size_t i = 0; i < l->bounds->objects.len; i++) {
		const struct local_value *y = &l->bounds->objects.at[i];

		*objects += y->var == x.var;
		if (y->var == x.var && y->at > x.at && y->at < end)
			end = y->at;
	}
	return end;
}

void lower_bounds_alloca(struct lower *l, u32 d)
{
	struct local_alloca x = {l->ir, IR_NONE};

	x.vreg = lower_vreg(l, ROW_W);
	lower_op(l, OP_mov_b32, x.vreg, d, IR_NONE, IR_NONE, true);
	l->failed |= !VEC_PUSH(&l->bounds->allocas, x);
}

/* IR_NONE: what is accessed is allocated behind it, in the order of the text. */
static u32 vreg_of_alloca(const struct lower *l, u32 insn)
{
	for (size_t i = 0; i < l->bounds->allocas.len; i++)
		if (l->bounds->allocas.at[i].insn == insn)
			return l->bounds->allocas.at[i].vreg;
	return IR_NONE;
}

/* The size is known when it has run: it stands in front of the object, and no bounds here. */
static void check_alloca(struct lower *l, const struct lower_place *p, u32 bytes, bool write,
			 u32 vreg)
{
	struct uop *in;

	if (vreg == IR_NONE)
		return;
	in = lower_emit(l, OP_local_bounds);
	in->bounds = (struct uop_bounds){.offset = p->imm,
					 .bytes = bytes,
					 .generic = p->space == MEM_GENERIC,
					 .write = write};
	in->flags |= p->wide ? UOPF_WIDE : 0;
	lower_read(l, FIELD_A, p->base);
	lower_read(l, FIELD_B, vreg);
}

void lower_bounds_check(struct lower *l, const struct ir_operand *op, const struct lower_place *p,
			u32 bytes, bool write)
{
	struct local_value x;
	struct uop *in;
	u32 end, objects, at;

	if (!l->bounds || op->kind != IR_OP_ADDR_REG || p->base == IR_NONE ||
	    (p->space != MEM_LOCAL && p->space != MEM_GENERIC))
		return;
	x = l->bounds->of[op->index];
	if (x.kind == LOCAL_ALLOCA)
		check_alloca(l, p, bytes, write, vreg_of_alloca(l, x.at));
	if (x.kind != LOCAL_OBJECT)
		return;
	end = end_of(l, x, &objects);
	/* All local memory is one object: the engine finds what is outside. */
	if (objects < 2 && l->f->is_entry && !l->bounds->has_calls && l->f->vars.len == 1)
		return;
	at = (u32)lower_var_offset(l, x.var);
	in = lower_emit(l, OP_local_bounds);
	in->bounds = (struct uop_bounds){.offset = p->imm,
					 .from = at + x.at,
					 .to = at + end,
					 .bytes = bytes,
					 .generic = p->space == MEM_GENERIC,
					 .write = write};
	in->flags |= p->wide ? UOPF_WIDE : 0;
	lower_read(l, FIELD_A, p->base);
	if (!lower_is_in_kernel_frame(l, x.var))
		lower_read(l, FIELD_B, lower_var_base(l, x.var));
}
