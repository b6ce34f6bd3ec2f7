/*
 * Modules as readers of the table see them: which row each instruction is, and what each operand is
 * to it.
 *
 *     12: add_int  add.s32  d=write.s32 %r1, a=read.s32 %r2, b=read.s32 5
 *
 * A vector shows how many elements are expected, an address its state space; arguments of calls
 * have no row and are shown by what the callee declares.
 */
#include "src/ir/ir_int.h"

static const char *role_text(u32 role)
{
	return role == (ISA_READ | ISA_WRITE) ? "both" : role == ISA_WRITE ? "write" : "read";
}

/* What a row expects that is no plain value. */
static const char *kind_text(const struct isa_operand *o)
{
	switch ((enum isa_operand_kind)o->kind) {
	case ISA_OP_VALUE:
		return role_text(o->role);
	case ISA_OP_ADDRESS:
		return "address";
	case ISA_OP_TENSOR:
		return "tensor";
	case ISA_OP_TEX:
		return "texture";
	case ISA_OP_SURF:
		return "surface";
	case ISA_OP_HANDLE:
		return "handle";
	case ISA_OP_IMM:
		return "constant";
	case ISA_OP_LABEL:
		return "label";
	case ISA_OP_FUNC:
		return "function";
	case ISA_OP_TARGETS:
		return "targets";
	case ISA_OP_PROTO:
		return "prototype";
	case ISA_OP_CALL:
		return "call";
	case ISA_OP_SREG:
		return "special";
	case ISA_OP_SYMBOL:
		return "symbol";
	case ISA_OP_ENTRY:
		return "kernel";
	case ISA_OP_SINK:
		return "nothing";
	case ISA_OP_TMEM:
		return "tmem";
	}
	return "?";
}

static void dump_spec(const struct isa_form *form, const struct isa_operand *o, struct text *out)
{
	u32 type = isa_operand_type(form, o), count = isa_operand_count(form, o),
	    space = isa_operand_space(form, o);
	bool memory = o->kind == ISA_OP_ADDRESS;

	text_printf(out, "%s=%s", o->name, kind_text(o));
	if (memory)
		text_printf(out, ".%s", space ? isa_word_text(space) : "generic");
	else if (type && o->kind == ISA_OP_VALUE)
		text_printf(out, ".%s", isa_word_text(type));
	if (count != 1)
		text_printf(out, "#%u", count);
	text_puts(out, " ");
}

/* Operands of a call: which list they are in. */
static const char *call_role(const struct ir_operand *ops, u32 i)
{
	bool list = ops[i].kind == IR_OP_LIST ||
		    (ops[i].kind == IR_OP_INT && (ops[i].flags & IR_PAREN));

	if (list)
		return i ? "arguments=" : "results=";
	return ops[i].kind == IR_OP_TABLE || (ops[i].kind == IR_OP_VAR && i) ? "targets="
									     : "callee=";
}

static void dump_operands(const struct ir_module *m, const struct ir_func *f,
			  const struct ir_insn *in, struct text *out)
{
	const struct ir_operand *ops = f->operands.at + in->first_op;
	bool call = in->form->row->operands == 1 && in->form->row->operand[0].kind == ISA_OP_CALL;

	for (u32 i = 0; i < in->ops; i++) {
		const struct isa_operand *o =
			call ? NULL : ir_operand_spec(in->form, ops, in->ops, i);

		text_puts(out, !i ? "  " : ops[i].flags & IR_BAR ? " | " : ", ");
		if (o)
			dump_spec(in->form, o, out);
		else
			text_puts(out, call ? call_role(ops, i) : "");
		ir_print_operand(m, f, &ops[i], out);
	}
}

static void dump_insn(const struct ir_module *m, const struct ir_func *f, const struct ir_insn *in,
		      struct text *out)
{
	const struct ir_poison *poison = ir_find_poison(f, in);
	char reg[1100];

	if (poison) {
		text_printf(out, "poison  %s  (%s)\n", poison->text, poison->reason);
		return;
	}
	text_printf(out, "%s  ", in->form->row->id);
	if (in->guard != IR_NONE)
		text_printf(out, "@%s%s ", in->guard_not ? "!" : "",
			    ir_reg_name(f, in->guard, reg, sizeof(reg)));
	ir_print_opcode(in->form, out);
	dump_operands(m, f, in, out);
	text_puts(out, "\n");
}

/* Lines are counted on from the place before: instructions come in the order of the source. */
struct place {
	const char *text;
	u32 at, line;
};

static u32 dumped_line(struct place *p, u32 offset)
{
	if (offset < p->at)
		*p = (struct place){p->text, 0, 1};
	for (; p->text && p->at < offset; p->at++)
		p->line += p->text[p->at] == '\n';
	return p->line;
}

void ir_dump_module(const struct ir_module *m, struct text *out)
{
	struct place place = {m->source.text, 0, 1};

	for (size_t i = 0; i < m->funcs.len; i++) {
		const struct ir_func *f = m->funcs.at[i];

		if (f->has_body)
			text_printf(out, "%u: %s %s\n", dumped_line(&place, f->begin),
				    f->is_entry ? ".entry" : ".func", f->name->text);
		for (size_t k = 0; k < f->insns.len; k++) {
			text_printf(out, "%u: ", dumped_line(&place, f->insns.at[k].begin));
			dump_insn(m, f, &f->insns.at[k], out);
		}
	}
}
