/*
 * Operands against the row of the instruction table: number, kind, type, vector length, space.
 * Source: PTX ISA "Instruction Operands"; details as ptxas 13.0 has them. Values are in
 * ir_check_value.c, addresses in ir_check_address.c.
 */
#include "src/ir/ir_check_int.h"

/* ---- names and constants ---- */

static bool check_imm(struct check *c, const struct isa_operand *o, const struct ir_operand *op)
{
	if (op->kind != IR_OP_INT)
		return ir_unfit(c, "operand %s must be an integer constant", o->name);
	/* Their low 32 bits count. */
	return ir_in_ranges(o->first_range, o->ranges, op->imm) ||
	       ir_in_ranges(o->first_range, o->ranges, (u32)op->imm) ||
	       ir_unfit(c, "operand %s is out of range: %lld", o->name, (long long)op->imm);
}

/* The oldest special registers were 16 bits wide, and may be read so. */
static bool sreg_fits(u32 id, u32 type)
{
	u32 own = isa_sreg(id)->type;
	bool old = id == SR_tid || id == SR_ntid || id == SR_ctaid || id == SR_nctaid ||
		   id == SR_gridid;

	if (isa_type_class(own) == ISA_PRED || isa_type_class(type) == ISA_PRED)
		return own == type;
	if (isa_type_class(type) == ISA_FLOAT)
		return false;
	return isa_type_bits(type) == isa_type_bits(own) || (old && isa_type_bits(type) == 16) ||
	       (id == SR_gridid && isa_type_bits(type) == 32);
}

bool ir_check_sreg(struct check *c, const struct isa_operand *o, const struct ir_operand *op)
{
	bool whole = c->form->row->row ==
		     I_mov_sreg_v4; /* the only row that reads %tid and the like at once */
	const struct isa_sreg *sr;

	if (op->kind != IR_OP_SREG)
		return ir_unfit(c, "operand %s must be a special register", o->name);
	sr = isa_sreg(op->index);
	/* cvt may read the low part of a special register. */
	if (c->form->row->row == I_cvt_int_sreg || o->special
		    ? isa_type_bits(c->form->type[1]) > isa_type_bits(sr->type) ||
			      isa_type_class(sr->type) == ISA_PRED
		    : !sreg_fits(op->index, c->form->type[c->form->types > 1]))
		return ir_unfit(c, "%s is .%s", sr->name, isa_word_text(sr->type));
	if (!op->part && sr->components > 1 && !whole)
		return ir_unfit(c, "a component of %s is expected: .x .y .z .w", sr->name);
	return true;
}

/* The address of a variable where the instruction names a space. */
static bool check_space(struct check *c, u32 space, const struct ir_var *var)
{
	return !space || ir_space_has(space, var->space) ||
	       ir_unfit(c, "'%s' is in .%s, the instruction says .%s", var->name->text,
			isa_word_text(var->space), isa_word_text(space));
}

static bool check_name(struct check *c, const struct isa_operand *o, const struct ir_operand *op)
{
	switch ((enum isa_operand_kind)o->kind) {
	case ISA_OP_LABEL:
		return op->kind == IR_OP_LABEL || op->kind == IR_OP_NAME ||
		       ir_unfit(c, "a label is expected");
	case ISA_OP_TARGETS:
		if (op->kind == IR_OP_TABLE && c->f->tables.at[op->index].kind == IR_BRANCH_TARGETS)
			return true;
		return ir_unfit(c, "a .branchtargets list that stands before is expected");
	case ISA_OP_FUNC:
	case ISA_OP_ENTRY:
		if (op->kind != IR_OP_FUNC)
			return ir_unfit(c, "a function is expected");
		return c->m->funcs.at[op->index]->is_entry == (o->kind == ISA_OP_ENTRY) ||
		       ir_unfit(c, "a %s is expected",
				o->kind == ISA_OP_ENTRY ? "kernel" : "function, not a kernel,");
	case ISA_OP_SYMBOL:
		if (op->kind != IR_OP_VAR)
			return ir_unfit(c, "the name of a variable is expected");
		return check_space(c, isa_form_word(c->form, ISA_K_SPACE, 0),
				   c->m->vars.at[op->index]);
	default:
		return op->kind == IR_OP_TABLE || ir_unfit(c, "a prototype is expected");
	}
}

/* [endpoint, offset{, offset of a counter}]: registers as they are, no sums and no constants. */
static bool check_handle(struct check *c, const struct isa_operand *o, const struct ir_operand *op)
{
	u32 parts = o->mul == 3 ? 3 : 2;
	struct isa_operand value = {
		.kind = ISA_OP_VALUE, .role = ISA_READ, .register_only = true, .mul = 1, .div = 1};

	memcpy(value.name, o->name, sizeof(value.name));
	if (op->kind != IR_OP_COMPOUND || (u32)op->imm != parts)
		return ir_unfit(c,
				parts == 3
					? "address %s is [endpoint, offset, offset of the counter]"
					: "address %s is [endpoint, offset]",
				o->name);
	for (u32 i = 0; i < parts; i++) {
		struct ir_operand reg = c->f->operands.at[op->index + i];

		if (reg.kind != IR_OP_ADDR_REG || reg.imm)
			return ir_unfit(c, "the parts of address %s are registers", o->name);
		reg.kind = IR_OP_REG;
		value.type = i ? T_b64 : T_b32;
		if (!ir_check_value(c, &value, &reg))
			return false;
	}
	return true;
}

static bool check_operand(struct check *c, const struct isa_operand *o, const struct ir_operand *op)
{
	if (!(op->flags & IR_BAR) != !o->bar)
		return ir_unfit(c,
				o->bar ? "operand %s follows after '|'"
				       : "'|' is not allowed before operand %s",
				o->name);
	switch ((enum isa_operand_kind)o->kind) {
	case ISA_OP_VALUE:
		return ir_check_value(c, o, op);
	case ISA_OP_ADDRESS:
		return ir_check_base(c, o, isa_operand_space(c->form, o), op);
	case ISA_OP_TMEM:
		return ir_check_tmem(c, o, op);
	case ISA_OP_TENSOR:
	case ISA_OP_TEX:
	case ISA_OP_SURF:
		return ir_check_compound(c, o, op);
	case ISA_OP_HANDLE:
		return check_handle(c, o, op);
	case ISA_OP_IMM:
		return check_imm(c, o, op);
	case ISA_OP_SINK:
		return op->kind == IR_OP_SINK ||
		       ir_unfit(c, "there is no result here: '_' is expected");
	case ISA_OP_SREG:
		return ir_check_sreg(c, o, op);
	default:
		return check_name(c, o, op);
	}
}

/* ---- call ---- */

/* One argument or result against what the callee declares. */
static bool check_argument(struct check *c, const struct ir_var *formal,
			   const struct ir_operand *op, bool result)
{
	const struct ir_var *actual;

	if (op->kind == IR_OP_SINK)
		return result || ir_unfit(c, "'_' is not an argument");
	if (op->kind == IR_OP_VAR && op->imm == 0) {
		actual = c->m->vars.at[op->index];
		if (actual->space != M_param)
			return ir_unfit(c, "argument '%s' is not a .param variable",
					actual->name->text);
		if (formal->space != M_param)
			return ir_unfit(
				c, "argument '%s' is a .param variable, a register is expected",
				actual->name->text);
		if (!formal->unsized && actual->size_bytes != formal->size_bytes)
			return ir_unfit(c, "argument '%s' has %llu bytes, %llu are expected",
					actual->name->text, (unsigned long long)actual->size_bytes,
					(unsigned long long)formal->size_bytes);
		return actual->align >= formal->align ||
		       ir_unfit(c, "argument '%s' is aligned to %u bytes, %u are expected",
				actual->name->text, actual->align, formal->align);
	}
	if (formal->is_array)
		return ir_unfit(c,
				"an argument is an array of bytes: a .param variable is expected");
	if (op->kind == IR_OP_REG)
		return ir_type_fits(op->type, formal->type, NULL) ||
		       ir_unfit(c, "an argument is .%s, .%s is expected", isa_word_text(op->type),
				isa_word_text(formal->type));
	if (!result && (op->kind == IR_OP_INT || op->kind == IR_OP_FLOAT))
		return (op->kind == IR_OP_FLOAT) == (isa_type_class(formal->type) == ISA_FLOAT) ||
		       isa_type_class(formal->type) == ISA_BITS ||
		       ir_unfit(c, "a constant does not fit .%s", isa_word_text(formal->type));
	return ir_unfit(c, "this cannot be passed in a call");
}

static bool check_list(struct check *c, const struct ir_func *callee, bool results,
		       const struct ir_operand *list)
{
	u32 want = results ? callee->rets_len : callee->params_len, have = list ? 1 : 0;
	const u32 *formals = results ? callee->rets : callee->params;
	const struct ir_operand *e = list;

	if (list && list->kind == IR_OP_LIST) {
		have = (u32)list->imm;
		e = c->f->operands.at + list->index;
	}
	if (have != want && !(callee->variadic && !results && have + 1 >= want))
		return ir_unfit(c, "'%s' %s %u value%s, not %u", callee->name->text,
				results ? "returns" : "takes", want, want == 1 ? "" : "s", have);
	for (u32 i = 0; i < have; i++)
		if (!check_argument(c, c->m->vars.at[formals[min_u64(i, want - 1)]], &e[i],
				    results))
			return false;
	return true;
}

static bool is_list(const struct ir_operand *op)
{
	return op->kind == IR_OP_LIST || (op->kind == IR_OP_INT && (op->flags & IR_PAREN));
}

/*
 * What an indirect call's last operand says of the function: *callee is NULL where the operand says
 * nothing, as a list whose members were all refused. false: the operand is of another kind.
 */
static bool find_signature(const struct check *c, const struct ir_operand *o,
			   const struct ir_func **callee)
{
	const struct ir_table *t = o->kind == IR_OP_TABLE ? &c->f->tables.at[o->index] : NULL;

	*callee = NULL;
	if (t && t->kind == IR_PROTOTYPE)
		*callee = t->proto;
	else if (t && t->kind == IR_CALL_TARGETS)
		*callee = t->len ? c->m->funcs.at[t->at[0]] : NULL;
	else
		return o->kind == IR_OP_VAR;
	return true;
}

/* call {(result),} callee {, (arguments)} {, prototype or targets}; */
static bool check_call(struct check *c, const struct ir_operand *ops, u32 n)
{
	const struct ir_operand *rets = NULL, *args = NULL, *target;
	const struct ir_func *callee = NULL;
	u32 i = 0;

	if (i < n && is_list(&ops[i]))
		rets = &ops[i++];
	if (i == n)
		return ir_unfit(c, "the function to call is missing");
	c->why->operand = i;
	target = &ops[i++];
	if (i < n && is_list(&ops[i]))
		args = &ops[i++];
	if (target->kind == IR_OP_FUNC) {
		callee = c->m->funcs.at[target->index];
		if (callee->is_entry)
			return ir_unfit(c, "'%s' is a kernel, call takes functions",
					callee->name->text);
		if (i < n)
			return ir_unfit(c, "a direct call takes no prototype");
	} else if (target->kind == IR_OP_REG && !target->part &&
		   (isa_type_bits(target->type) == 32 || isa_type_bits(target->type) == 64) &&
		   isa_type_class(target->type) != ISA_FLOAT) {
		if (i == n)
			return ir_unfit(c,
					"an indirect call needs a prototype or a list of targets");
		c->why->operand = i;
		if (!find_signature(c, &ops[i], &callee))
			return ir_unfit(c, "a prototype or a list of targets is expected");
		if (++i < n)
			return ir_unfit(c, "too many operands");
	} else {
		return ir_unfit(c, "a function or a register with its address is expected");
	}
	c->why->operand = 0;
	return !callee || (check_list(c, callee, true, rets) && check_list(c, callee, false, args));
}

/* ---- the whole instruction ---- */

static bool operand_is_there(const struct isa_form *form, const struct isa_operand *o)
{
	return !o->only_with || isa_form_has(form, o->only_with);
}

const struct isa_operand *ir_operand_spec(const struct isa_form *form, const struct ir_operand *ops,
					  u32 n, u32 i)
{
	u32 at = 0;

	(void)n;
	for (u32 k = 0; k < form->row->operands; k++) {
		const struct isa_operand *o = &form->row->operand[k];

		if (o->kind == ISA_OP_CALL)
			return NULL;
		if (!operand_is_there(form, o) ||
		    (o->bar && o->optional && !(ops[at].flags & IR_BAR)))
			continue;
		if (at == i)
			return o;
		at++;
		if (at >= n)
			return NULL;
	}
	return NULL;
}

static void raise_minima(u32 minima[2], u32 ptx, u32 sm)
{
	if (minima[0] < ptx)
		minima[0] = ptx;
	if (minima[1] < sm)
		minima[1] = sm;
}

void ir_insn_minima(const struct ir_func *f, const struct isa_form *form,
		    const struct ir_operand *ops, u32 n, u32 minima[2])
{
	minima[0] = form->ptx;
	minima[1] = form->sm;
	for (u32 i = 0; i < n; i++) {
		const struct isa_operand *o = ir_operand_spec(form, ops, n, i);
		const struct ir_operand *base =
			ops[i].kind == IR_OP_COMPOUND ? &f->operands.at[ops[i].index] : &ops[i];

		if (ops[i].kind == IR_OP_SREG)
			raise_minima(minima, isa_sreg(ops[i].index)->ptx,
				     isa_sreg(ops[i].index)->sm);
		if (!o)
			continue;
		raise_minima(minima, o->ptx, o->sm);
		if ((o->kind == ISA_OP_TEX || o->kind == ISA_OP_SURF) &&
		    base->kind == IR_OP_ADDR_REG)
			raise_minima(minima, ISA_BINDLESS_PTX, 0);
	}
}

/*
 * Is the operand at least of the kind that the row has here? Of several rows the message of such a
 * one helps more.
 */
static bool is_kind(const struct check *c, const struct isa_operand *o, const struct ir_operand *op)
{
	switch (op->kind) {
	case IR_OP_VEC:
		return o->kind == ISA_OP_VALUE && isa_operand_count(c->form, o) == (u32)op->imm;
	case IR_OP_SREG:
		return o->kind == ISA_OP_SREG;
	case IR_OP_VAR:
		return o->kind == ISA_OP_SYMBOL;
	case IR_OP_FUNC:
		return o->kind == ISA_OP_FUNC || o->kind == ISA_OP_ENTRY;
	case IR_OP_ADDR_REG:
	case IR_OP_ADDR_VAR:
	case IR_OP_ADDR_INT:
		return o->kind == ISA_OP_ADDRESS || o->kind == ISA_OP_TMEM;
	case IR_OP_COMPOUND:
		return o->kind == ISA_OP_TENSOR || o->kind == ISA_OP_TEX ||
		       o->kind == ISA_OP_SURF || o->kind == ISA_OP_HANDLE;
	case IR_OP_REG:
	case IR_OP_INT:
	case IR_OP_FLOAT:
		return (o->kind == ISA_OP_VALUE && isa_operand_count(c->form, o) == 1) ||
		       o->kind == ISA_OP_IMM;
	default:
		return false;
	}
}

/*
 * vmad: the product may be negated, by one `-` or by both signs and that of c; c alone or nothing
 * too.
 */
static bool check_minus(struct check *c, const struct ir_operand *ops, u32 n)
{
	u32 signs = 0, places = 0;

	for (u32 k = 0; k < c->form->row->operands && k < n; k++) {
		if (!c->form->row->operand[k].minus)
			continue;
		signs |= (u32) !!(ops[k].flags & IR_NEG) << places++;
	}
	return (signs != 5 && signs != 6) ||
	       ir_unfit(c, "'-' stands before one factor, before the addend, or before all three");
}

bool ir_check_insn(const struct ir_module *m, const struct ir_func *f, const struct isa_form *form,
		   const struct ir_operand *ops, u32 n, struct ir_mismatch *why)
{
	const struct isa_row *row = form->row;
	struct check c = {m, f, form, why};
	u32 at = 0;

	/* Not all of it: most instructions fit, and the text is long. */
	why->operand = why->score = 0;
	why->text[0] = 0;
	if (row->operands == 1 && row->operand[0].kind == ISA_OP_CALL)
		return check_call(&c, ops, n);
	for (u32 k = 0; k < row->operands; k++) {
		const struct isa_operand *o = &row->operand[k];

		why->operand = at;
		why->score = 2 * at;
		if (!operand_is_there(form, o))
			continue;
		if (at < n && o->bar && o->optional && !(ops[at].flags & IR_BAR))
			continue;
		if (at == n) {
			if (o->optional && !o->only_with)
				continue;
			return ir_unfit(&c, "operand %s is missing", o->name);
		}
		if (!check_operand(&c, o, &ops[at])) {
			why->score = 2 * at + is_kind(&c, o, &ops[at]);
			return false;
		}
		at++;
	}
	why->operand = at;
	why->score = 2 * at;
	return at == n ? check_minus(&c, ops, n) : ir_unfit(&c, "too many operands");
}
