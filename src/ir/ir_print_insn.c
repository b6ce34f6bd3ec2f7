/*
 * Instructions as PTX. Every constant is written so that it is read back with the same bits and
 * type. Source: PTX ISA "Instruction Statements", "Operands", "Constants".
 */
#include "src/ir/ir_int.h"

#include <stdio.h>
#include <stdlib.h>

static void print_list(const struct ir_module *m, const struct ir_func *f,
		       const struct ir_operand *op, struct text *out)
{
	for (s64 i = 0; i < op->imm; i++) {
		text_puts(out, i ? ", " : "");
		ir_print_operand(m, f, &f->operands.at[op->index + (u64)i], out);
	}
}

static void print_offset(s64 offset, struct text *out)
{
	if (offset)
		text_printf(out, "+%lld", (long long)offset);
}

static void print_part(const struct ir_operand *op, struct text *out)
{
	u32 digits = (u32)(op->imm >> 16);

	if (!op->part)
		return;
	if (op->part <= IR_PART_W) {
		text_printf(out, ".%c", "xyzw"[op->part - IR_PART_X]);
		return;
	}
	text_printf(out, ".%c", op->part == IR_PART_BYTES ? 'b' : 'h');
	while (digits-- > 0)
		text_printf(out, "%u", (u32)(op->imm >> 4 * digits) & 15);
}

static void print_reg(const struct ir_func *f, const struct ir_operand *op, struct text *out)
{
	const struct ir_reg *r = &f->regs.at[op->index];
	const struct ir_regdecl *d = &f->regdecls.at[r->decl];

	text_add(out, d->name->text, d->name->len);
	if (d->family)
		text_printf(out, "%u", r->number);
	print_part(op, out);
}

/* The shortest decimal digits that give the same number. */
static void print_decimal(u64 bits, struct text *out)
{
	f64 v = f64_bits(bits);
	char s[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(s, sizeof(s), "%.*g", digits, v);
		if (bits_f64(strtod(s, NULL)) == bits)
			break;
	}
	text_puts(out, s);
	if (!strpbrk(s, ".e"))
		text_puts(out, ".0");
}

static void print_constant(const struct ir_operand *op, struct text *out)
{
	text_puts(out, op->flags & IR_PAREN ? "(" : "");
	if (op->kind == IR_OP_INT)
		text_printf(out, op->type == T_u64 ? "%lluU" : "%lld", (long long)op->imm);
	else if (op->type == T_f32)
		text_printf(out, "0f%08llX", (unsigned long long)op->imm);
	else if (op->flags & IR_HEX)
		text_printf(out, "0d%016llX", (unsigned long long)op->imm);
	else
		print_decimal((u64)op->imm, out);
	text_puts(out, op->flags & IR_PAREN ? ")" : "");
}

/* The contents of the brackets of an address. */
static void print_base(const struct ir_module *m, const struct ir_func *f,
		       const struct ir_operand *op, struct text *out)
{
	if (op->kind == IR_OP_ADDR_REG) {
		print_reg(f, op, out);
		print_offset(op->imm, out);
	} else if (op->kind == IR_OP_ADDR_VAR) {
		text_puts(out, m->vars.at[op->index]->name->text);
		print_offset(op->imm, out);
	} else if (op->kind == IR_OP_ADDR_INT) {
		text_printf(out, "%lld", (long long)op->imm);
	} else {
		ir_print_operand(m, f, op, out);
	}
}

static void print_brackets(const struct ir_module *m, const struct ir_func *f,
			   const struct ir_operand *op, struct text *out)
{
	text_puts(out, "[");
	if (op->kind == IR_OP_COMPOUND) {
		for (s64 i = 0; i < op->imm; i++) {
			text_puts(out, i ? ", " : "");
			print_base(m, f, &f->operands.at[op->index + (u64)i], out);
		}
	} else {
		print_base(m, f, op, out);
	}
	text_puts(out, op->flags & IR_UNIFIED ? "].unified" : "]");
}

void ir_print_operand(const struct ir_module *m, const struct ir_func *f,
		      const struct ir_operand *op, struct text *out)
{
	text_puts(out, op->flags & IR_NOT ? "!" : op->flags & IR_NEG ? "-" : "");
	switch ((enum ir_operand_kind)op->kind) {
	case IR_OP_NONE:
		break;
	case IR_OP_REG:
		print_reg(f, op, out);
		break;
	case IR_OP_SREG:
		text_puts(out, isa_sreg(op->index)->name);
		print_part(op, out);
		break;
	case IR_OP_INT:
	case IR_OP_FLOAT:
		print_constant(op, out);
		break;
	case IR_OP_VAR:
		text_puts(out, m->vars.at[op->index]->name->text);
		print_offset(op->imm, out);
		break;
	case IR_OP_FUNC:
		text_puts(out, m->funcs.at[op->index]->name->text);
		break;
	case IR_OP_LABEL:
		text_puts(out, f->labels.at[op->index].name->text);
		break;
	case IR_OP_TABLE:
		text_puts(out, f->tables.at[op->index].name->text);
		break;
	case IR_OP_NAME:
		text_puts(out, m->names.at[op->index]->text);
		break;
	case IR_OP_SINK:
		text_puts(out, "_");
		break;
	case IR_OP_VEC:
		text_puts(out, "{");
		print_list(m, f, op, out);
		text_puts(out, "}");
		break;
	case IR_OP_LIST:
		text_puts(out, "(");
		print_list(m, f, op, out);
		text_puts(out, ")");
		break;
	case IR_OP_ADDR_REG:
	case IR_OP_ADDR_VAR:
	case IR_OP_ADDR_INT:
	case IR_OP_COMPOUND:
		print_brackets(m, f, op, out);
		break;
	}
}

/* A word such as "m64n#k16" with the number of the form. */
static void print_word(const struct isa_form *form, u32 word, struct text *out)
{
	const char *s = isa_word_text(word), *hash = strchr(s, '#');

	if (hash)
		text_printf(out, ".%.*s%u%s", (int)(hash - s), s, form->number, hash + 1);
	else
		text_printf(out, ".%s", s);
}

void ir_print_opcode(const struct isa_form *form, struct text *out)
{
	text_puts(out, form->row->name[form->name]);
	for (u32 i = 0; i < form->row->slots; i++)
		if (form->word[i])
			print_word(form, form->word[i], out);
}

const struct ir_poison *ir_find_poison(const struct ir_func *f, const struct ir_insn *in)
{
	u32 insn = (u32)(in - f->insns.at);
	size_t lo = 0, hi = f->poisons.len;

	if (in->form)
		return NULL;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->poisons.at[mid].insn < insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->poisons.len && f->poisons.at[lo].insn == insn ? &f->poisons.at[lo] : NULL;
}

void ir_print_insn(const struct ir_module *m, const struct ir_func *f, const struct ir_insn *in,
		   struct text *out)
{
	const struct ir_operand *ops = f->operands.at + in->first_op;
	const struct ir_poison *poison = ir_find_poison(f, in);
	char reg[1100];

	if (poison) {
		text_printf(out, "%s;", poison->text);
		return;
	}
	if (in->guard != IR_NONE)
		text_printf(out, "@%s%s ", in->guard_not ? "!" : "",
			    ir_reg_name(f, in->guard, reg, sizeof(reg)));
	ir_print_opcode(in->form, out);
	for (u32 i = 0; i < in->ops; i++) {
		text_puts(out, !i ? " " : ops[i].flags & IR_BAR ? "|" : ", ");
		ir_print_operand(m, f, &ops[i], out);
	}
	text_puts(out, ";");
}
