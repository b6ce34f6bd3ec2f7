/*
 * Updates in place, by the text of the function: backwards from a store over the registers that its
 * value is made of, up to a load from the address of the store. Addresses are the same if they are
 * computed alike.
 */
#include "src/check/race/update.h"

#include "src/base/map.h"

#define SAME_DEPTH 12u

/* Is reg among an operand, its elements included? */
static bool has_reg(const struct ir_func *f, const struct ir_operand *o, u32 reg)
{
	if (o->kind == IR_OP_REG)
		return o->index == reg;
	for (u32 i = 0; o->kind == IR_OP_VEC && i < (u32)o->imm; i++)
		if (has_reg(f, &f->operands.at[o->index + i], reg))
			return true;
	return false;
}

/* The instruction nearest above `at` that writes reg; IR_NONE: none. */
static u32 definition(const struct ir_func *f, u32 reg, u32 at)
{
	while (at-- > 0) {
		const struct ir_insn *in = &f->insns.at[at];

		for (u32 i = 0; i < in->ops; i++)
			if (ir_insn_writes(in, i) && has_reg(f, ir_insn_operand(f, in, i), reg))
				return at;
	}
	return IR_NONE;
}

static bool update_same_operand(const struct ir_func *f, const struct ir_operand *a, u32 a_at,
				const struct ir_operand *b, u32 b_at, u32 depth);

/* Do two instructions compute the same of the same? */
static bool same_result(const struct ir_func *f, u32 a, u32 b, u32 depth)
{
	const struct ir_insn *x = &f->insns.at[a], *y = &f->insns.at[b];

	if (x->form != y->form || !x->form || x->ops != y->ops || x->guard != y->guard)
		return false;
	for (u32 i = 0; i < x->ops; i++)
		if (!ir_insn_writes(x, i) &&
		    !update_same_operand(f, ir_insn_operand(f, x, i), a, ir_insn_operand(f, y, i),
					 b, depth))
			return false;
	return true;
}

static bool update_same_operand(const struct ir_func *f, const struct ir_operand *a, u32 a_at,
				const struct ir_operand *b, u32 b_at, u32 depth)
{
	u32 x, y;

	if (a->kind != b->kind || a->imm != b->imm || a->part != b->part || a->flags != b->flags)
		return false;
	if (a->kind != IR_OP_REG && a->kind != IR_OP_ADDR_REG)
		return a->kind != IR_OP_VEC && a->index == b->index;
	x = definition(f, a->index, a_at);
	y = definition(f, b->index, b_at);
	if (x == y)
		return a->index == b->index;
	return x != IR_NONE && y != IR_NONE && depth && same_result(f, x, y, depth - 1);
}

static bool update_want(struct map *wanted, const struct ir_func *f, const struct ir_operand *o)
{
	bool ok = true;

	if (o->kind == IR_OP_REG)
		return map_set(wanted, (u64)o->index + 1, 1);
	for (u32 i = 0; o->kind == IR_OP_VEC && i < (u32)o->imm; i++)
		ok &= update_want(wanted, f, &f->operands.at[o->index + i]);
	return ok;
}

/* Does an instruction write a register that is wanted? It is wanted no more, then. */
static bool gives(struct map *wanted, const struct ir_func *f, const struct ir_operand *o)
{
	bool does = false;

	if (o->kind == IR_OP_REG) {
		does = map_get(wanted, (u64)o->index + 1) != NULL;
		map_remove(wanted, (u64)o->index + 1);
	}
	for (u32 i = 0; o->kind == IR_OP_VEC && i < (u32)o->imm; i++)
		does |= gives(wanted, f, &f->operands.at[o->index + i]);
	return does;
}

/* One step backwards. True: it is the load. */
static bool is_source(struct map *wanted, const struct ir_func *f, u32 at, u32 store)
{
	const struct ir_insn *in = &f->insns.at[at], *st = &f->insns.at[store];
	bool does = false;

	for (u32 i = 0; i < in->ops; i++)
		does |= ir_insn_writes(in, i) && gives(wanted, f, ir_insn_operand(f, in, i));
	if (!does)
		return false;
	if (ir_opcode(in) == OPCODE_ld)
		return update_same_operand(f, ir_insn_operand(f, in, 1), at,
					   ir_insn_operand(f, st, 0), store, SAME_DEPTH);
	for (u32 i = 0; i < in->ops; i++)
		if (!ir_insn_writes(in, i))
			update_want(wanted, f, ir_insn_operand(f, in, i));
	/* What it gives is of one branch: another way may give it, too. */
	for (u32 i = 0; in->guard != IR_NONE && i < in->ops; i++)
		if (ir_insn_writes(in, i))
			update_want(wanted, f, ir_insn_operand(f, in, i));
	return false;
}

u32 race_update_load(const struct program *p, u32 pc)
{
	const struct uop *in = &p->uop[pc];
	const struct ir_func *f = p->funcs[in->func].func;
	struct map wanted = {0};
	u32 at = in->ir, load = IR_NONE;

	if (at >= f->insns.len || ir_opcode(&f->insns.at[at]) != OPCODE_st ||
	    f->insns.at[at].ops < 2)
		return IR_NONE;
	update_want(&wanted, f, ir_insn_operand(f, &f->insns.at[at], 1));
	while (at-- > 0 && load == IR_NONE)
		if (is_source(&wanted, f, at, in->ir))
			load = at;
	map_fini(&wanted);
	return load;
}

/* ---- values that are the same for every thread ---- */

/* Operations whose result is made of their operands alone. */
static bool is_pure(enum isa_mnemonic opcode)
{
	switch (opcode) {
	case OPCODE_mov:
	case OPCODE_cvt:
	case OPCODE_add:
	case OPCODE_sub:
	case OPCODE_mul:
	case OPCODE_mad:
	case OPCODE_neg:
	case OPCODE_and:
	case OPCODE_or:
	case OPCODE_xor:
	case OPCODE_not:
	case OPCODE_shl:
	case OPCODE_shr:
	case OPCODE_prmt:
		return true;
	default:
		return false;
	}
}

/* Are the registers that an operand has set here alone, whatever path is taken? */
static bool is_set_here(const struct ir_func *f, const struct ir_operand *o, u32 at)
{
	if (o->kind == IR_OP_REG)
		return definition(f, o->index, (u32)f->insns.len) == at &&
		       definition(f, o->index, at) == IR_NONE;
	for (u32 i = 0; o->kind == IR_OP_VEC && i < (u32)o->imm; i++)
		if (!is_set_here(f, &f->operands.at[o->index + i], at))
			return false;
	return true;
}

/* One step backwards. False: what the instruction gives is wanted, and may be any value. */
static bool is_step_fixed(struct map *wanted, const struct ir_func *f, u32 at)
{
	const struct ir_insn *in = &f->insns.at[at];
	bool does = false, here = true;

	for (u32 i = 0; i < in->ops; i++)
		if (ir_insn_writes(in, i) && gives(wanted, f, ir_insn_operand(f, in, i))) {
			does = true;
			here &= is_set_here(f, ir_insn_operand(f, in, i), at);
		}
	if (!does)
		return true;
	if (in->guard != IR_NONE || !here)
		return false;
	if (ir_opcode(in) == OPCODE_ld)
		return isa_form_has(in->form, M_param) || isa_form_has(in->form, M_const);
	if (!is_pure(ir_opcode(in)))
		return false;
	for (u32 i = 0; i < in->ops; i++) {
		const struct ir_operand *o = ir_insn_operand(f, in, i);

		if (ir_insn_writes(in, i))
			continue;
		if (o->kind == IR_OP_SREG)
			return false;
		if (!update_want(wanted, f, o))
			return false;
	}
	return true;
}

bool race_store_is_fixed(const struct program *p, u32 pc)
{
	const struct uop *in = &p->uop[pc];
	const struct ir_func *f = p->funcs[in->func].func;
	struct map wanted = {0};
	u32 at = in->ir;
	bool fixed;

	if (at >= f->insns.len || ir_opcode(&f->insns.at[at]) != OPCODE_st ||
	    f->insns.at[at].ops < 2)
		return false;
	fixed = update_want(&wanted, f, ir_insn_operand(f, &f->insns.at[at], 1));
	while (fixed && at-- > 0)
		fixed = is_step_fixed(&wanted, f, at);
	fixed &= !wanted.len;
	map_fini(&wanted);
	return fixed;
}
