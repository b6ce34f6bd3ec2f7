/*
 * What the manual no longer has, but ptxas reads: registers and local variables at module scope,
 * before PTX 3.0, and registers with a constant added where a value is read.
 *
 * A register or local variable of the module is one of every thread. Each function that names it
 * gets one of its own, which is the same thing in kernels; where other functions name it, their
 * instructions can be checked, not run.
 */
#include "grammar/build.h"

#include <stdio.h>

#define MEMBERS_MAX 65536u

/* ---- registers and local variables of the module ---- */

bool build_private_allowed(struct parse *p, u32 space, struct diag_span where)
{
	if (p->m->version < 30)
		return true;
	build_error(p, where, ".%s at module scope ended with PTX 3.0", isa_word_text(space));
	return false;
}

void build_private(struct parse *p, u32 var)
{
	struct ir_var *v = p->m->vars.at[var];

	v->linkage = IR_LOCAL; /* each thread has its own: nothing is shared */
	if (!VEC_PUSH(&p->privates, (struct build_private){.var = var}))
		return build_no_memory(p);
	build_bind(p, v->name, BIND_PRIVATE, (u32)p->privates.len - 1, p->decl.where);
}

void build_private_family(struct parse *p, u32 count, struct diag_span where)
{
	struct str *prefix = p->decl.name;
	char name[1100];

	if (count > MEMBERS_MAX || prefix->len > 1024) {
		build_error(p, p->decl.where,
			    "a register family at module scope has at most %u members",
			    MEMBERS_MAX);
		return;
	}
	for (u32 i = 0; i < count && !p->out_of_memory; i++) {
		int n = snprintf(name, sizeof(name), "%s%u", prefix->text, i);

		p->decl.name =
			build_fits(p, 0) ? intern_get(&p->m->names_table, name, (size_t)n) : NULL;
		if (!p->decl.name)
			return build_no_memory(p);
		build_variable(p, where);
	}
}

static u32 own_register(struct parse *p, const struct ir_var *of)
{
	struct ir_regdecl rd = {.name = of->name,
				.type = of->type,
				.vec = of->vec,
				.of_module = true,
				.scope = p->scopes.at[0].id,
				.begin = p->opcode_span.begin};

	return build_register(p, build_declare_register(p, rd), 0);
}

static u32 own_variable(struct parse *p, const struct ir_var *of)
{
	struct ir_var *v = arena_copy(&p->m->arena, of, sizeof(*of));

	if (!v || !VEC_PUSH(&p->m->vars, v) || !VEC_PUSH(&p->f->vars, (u32)p->m->vars.len - 1)) {
		build_no_memory(p);
		return 0;
	}
	v->definition = v;
	v->of_module = true;
	v->func = p->f->index;
	v->scope = p->scopes.at[0].id;
	return (u32)p->m->vars.len - 1;
}

/*
 * The function's own register or variable for one of the module; made where the function names it
 * first.
 */
const struct binding *build_private_here(struct parse *p, const struct binding *b)
{
	struct build_private *v = &p->privates.at[b->index];
	const struct ir_var *var;

	if (!p->f || !p->scopes.len)
		return b;
	if (!p->f->is_entry)
		p->unrunnable = "a register or local variable of the module is run in kernels only";
	if (v->function == p->functions)
		return &v->here;
	var = p->m->vars.at[v->var];
	v->function = p->functions;
	v->here = (struct binding){.name = b->name, .depth = 1, .kind = BIND_REG};
	if (var->space == M_reg) {
		v->here.index = own_register(p, var);
	} else {
		v->here.kind = BIND_VAR;
		v->here.index = own_variable(p, var);
	}
	return &v->here;
}

bool build_private_used(const struct parse *p, const struct binding *b)
{
	return b && b->kind == BIND_PRIVATE && p->privates.at[b->index].function == p->functions;
}

/* ---- register + constant ---- */

static const char *adding(u32 bits)
{
	return bits == 16 ? "add.u16" : bits == 32 ? "add.u32" : "add.u64";
}

/* A name that nothing else has. */
static struct str *fresh_name(struct parse *p)
{
	char name[32];

	for (u32 i = (u32)p->f->insns.len;; i++) {
		int n = snprintf(name, sizeof(name), "%%sum_%u", i);
		struct str *s = intern_get(&p->m->names_table, name, (size_t)n);

		if (!s || (!s->user[0] && !build_lookup(p, s)))
			return s;
	}
}

/* For operands other than integers ptxas itself ignores the constant. */
bool build_can_add(const struct parse *p, const struct ir_operand *op)
{
	u32 bits = isa_type_bits(op->type);

	return op->kind == IR_OP_REG && !op->part && p->f->regs.at[op->index].vec == 1 &&
	       isa_type_class(op->type) != ISA_FLOAT && isa_type_class(op->type) != ISA_PRED &&
	       (bits == 16 || bits == 32 || bits == 64);
}

/* The sum becomes an instruction of its own, before the one that reads it. */
struct ir_operand build_sum(struct parse *p, struct ir_operand op, s64 addend)
{
	struct ir_regdecl d = {.vec = 1, .type = op.type, .begin = p->opcode_span.begin};
	struct ir_operand sum = {.kind = IR_OP_REG, .flags = op.flags, .type = op.type};

	d.name = fresh_name(p);
	if (!d.name) {
		build_no_memory(p);
		return op;
	}
	d.scope = p->scopes.at[p->scopes.len - 1].id;
	sum.index = build_register(p, build_declare_register(p, d), 0);
	build_bind(p, d.name, BIND_REG, sum.index, p->opcode_span);
	op.flags = 0;
	build_add(p, adding(isa_type_bits(op.type)), sum, op,
		  (struct ir_operand){.kind = IR_OP_INT, .type = T_s64, .imm = addend});
	return sum;
}
