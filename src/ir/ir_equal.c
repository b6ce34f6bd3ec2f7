/*
 * Are two modules the same but for source offsets? Variables and registers are compared by what
 * they are, not by their numbers: declarations that say nothing new may be missing in one of the
 * two.
 */
#include "src/ir/ir_int.h"

#include <stdarg.h>
#include <stdlib.h>

struct equal {
	const struct ir_module *a, *b;
	struct text *why;
	u32 *var_of; /* variable of `b` for each one of `a`, IR_NONE: not met */
	VEC(u32)
	decl_of, reg_of; /* the same of the function's register declarations and registers */
};

static bool differ(struct equal *e, const char *fmt, ...) PL_PRINTF(2, 3);

static bool differ(struct equal *e, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	text_vprintf(e->why, fmt, args);
	va_end(args);
	return false;
}

static bool same_name(const struct str *a, const struct str *b)
{
	return !a || !b ? a == b : !strcmp(a->text, b->text);
}

static const char *text_or_none(const struct str *s)
{
	return s ? s->text : "(nothing)";
}

/* ---- variables ---- */

static bool same_type(const struct ir_var *a, const struct ir_var *b)
{
	return a->space == b->space && a->type == b->type && a->vec == b->vec &&
	       a->linkage == b->linkage && a->is_array == b->is_array && a->unsized == b->unsized &&
	       a->managed == b->managed && a->unified == b->unified && a->ptr == b->ptr &&
	       a->has_init == b->has_init && a->ptr_space == b->ptr_space &&
	       a->ptr_align == b->ptr_align && a->align == b->align && a->dims == b->dims &&
	       !memcmp(a->dim, b->dim, sizeof(a->dim)) && a->size_bytes == b->size_bytes &&
	       !memcmp(a->unified_id, b->unified_id, sizeof(a->unified_id)) &&
	       a->scope == b->scope && (a->reg == IR_NONE) == (b->reg == IR_NONE);
}

/* Bytes past the end of one of the two count as zero. */
static bool same_data(const struct ir_var *a, const struct ir_var *b)
{
	const struct ir_var *longer = a->data_len > b->data_len ? a : b;
	u64 n = min_u64(a->data_len, b->data_len);

	if (n && memcmp(a->data, b->data, (size_t)n))
		return false;
	for (u64 i = n; i < longer->data_len; i++)
		if (longer->data[i])
			return false;
	return true;
}

static bool same_fields(const struct ir_var *a, const struct ir_var *b)
{
	if (a->sampler_len != b->sampler_len)
		return false;
	for (u32 i = 0; i < a->sampler_len; i++)
		if (!same_name(a->sampler_fields[2 * i], b->sampler_fields[2 * i]) ||
		    !same_name(a->sampler_fields[2 * i + 1], b->sampler_fields[2 * i + 1]) ||
		    a->sampler_values[i] != b->sampler_values[i])
			return false;
	return true;
}

static bool same_relocs(struct equal *e, const struct ir_var *a, const struct ir_var *b)
{
	if (a->relocs_len != b->relocs_len)
		return false;
	for (u32 i = 0; i < a->relocs_len; i++) {
		const struct ir_reloc *x = &a->relocs[i], *y = &b->relocs[i];

		if (x->at != y->at || x->size != y->size || x->shift != y->shift ||
		    x->masked != y->masked || x->generic != y->generic ||
		    x->is_func != y->is_func || x->addend != y->addend)
			return false;
		if (x->is_func ? x->index != y->index : e->var_of[x->index] != y->index)
			return false;
	}
	return true;
}

/* Note that two variables stand for each other, and compare them. */
static bool same_var(struct equal *e, u32 ia, u32 ib)
{
	const struct ir_var *a = e->a->vars.at[ia], *b = e->b->vars.at[ib];

	e->var_of[ia] = ib;
	if (!same_name(a->name, b->name))
		return differ(e, "variable '%s' and '%s'", a->name->text, b->name->text);
	if (!same_type(a, b))
		return differ(e, "variable '%s': declarations differ", a->name->text);
	if (!same_data(a, b) || !same_fields(a, b))
		return differ(e, "variable '%s': initial values differ", a->name->text);
	return true;
}

static bool same_vars(struct equal *e, const u32 *a, const u32 *b, size_t na, size_t nb)
{
	if (na != nb)
		return differ(e, "%zu variables or parameters and %zu", na, nb);
	for (size_t i = 0; i < na; i++)
		if (!same_var(e, a[i], b[i]))
			return false;
	return true;
}

static bool next_global(const struct ir_module *m, size_t *i)
{
	while (*i < m->vars.len && m->vars.at[*i]->func != IR_NONE)
		++*i;
	return *i < m->vars.len;
}

static bool same_globals(struct equal *e)
{
	size_t i = 0, k = 0;

	while (next_global(e->a, &i) && next_global(e->b, &k))
		if (!same_var(e, (u32)i++, (u32)k++))
			return false;
	if (next_global(e->a, &i) || next_global(e->b, &k))
		return differ(e, "different numbers of module variables");
	return true;
}

/* ---- operands and instructions ---- */

static bool same_operands(struct equal *e, const struct ir_func *fa, const struct ir_func *fb,
			  const u32 first[2], u32 n);

static bool same_operand(struct equal *e, const struct ir_func *fa, const struct ir_func *fb,
			 const struct ir_operand *a, const struct ir_operand *b)
{
	u32 first[2] = {a->index, b->index};

	if (a->kind != b->kind || a->flags != b->flags || a->type != b->type ||
	    a->part != b->part || a->imm != b->imm)
		return false;
	switch ((enum ir_operand_kind)a->kind) {
	case IR_OP_VAR:
	case IR_OP_ADDR_VAR:
		return e->var_of[a->index] == b->index;
	case IR_OP_NAME:
		return same_name(e->a->names.at[a->index], e->b->names.at[b->index]);
	case IR_OP_VEC:
	case IR_OP_COMPOUND:
	case IR_OP_LIST:
		return same_operands(e, fa, fb, first, (u32)a->imm);
	case IR_OP_NONE:
	case IR_OP_SINK:
	case IR_OP_INT:
	case IR_OP_FLOAT:
	case IR_OP_ADDR_INT:
		return true;
	case IR_OP_REG:
	case IR_OP_ADDR_REG:
		return e->reg_of.at[a->index] == b->index;
	case IR_OP_SREG:
	case IR_OP_FUNC:
	case IR_OP_LABEL:
	case IR_OP_TABLE:
		break;
	}
	return a->index == b->index;
}

static bool same_operands(struct equal *e, const struct ir_func *fa, const struct ir_func *fb,
			  const u32 first[2], u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (!same_operand(e, fa, fb, &fa->operands.at[first[0] + i],
				  &fb->operands.at[first[1] + i]))
			return false;
	return true;
}

static bool same_form(const struct isa_form *a, const struct isa_form *b)
{
	if (!a || !b)
		return a == b;
	return a->row == b->row && a->name == b->name && a->number == b->number &&
	       !memcmp(a->word, b->word, sizeof(a->word)) && a->types == b->types &&
	       !memcmp(a->type, b->type, a->types);
}

static bool same_insn(struct equal *e, const struct ir_func *fa, const struct ir_func *fb, size_t i)
{
	const struct ir_insn *a = &fa->insns.at[i], *b = &fb->insns.at[i];
	const struct ir_poison *x = ir_find_poison(fa, a), *y = ir_find_poison(fb, b);
	u32 first[2] = {a->first_op, b->first_op};

	if (same_form(a->form, b->form) && a->ops == b->ops &&
	    (a->guard == IR_NONE || b->guard == IR_NONE ? a->guard : e->reg_of.at[a->guard]) ==
		    b->guard &&
	    a->guard_not == b->guard_not && a->loc == b->loc &&
	    same_operands(e, fa, fb, first, a->ops) && !x == !y &&
	    (!x || (!strcmp(x->text, y->text) && !strcmp(x->reason, y->reason))))
		return true;
	differ(e, "'%s': instruction %zu differs: ", fa->name->text, i);
	ir_print_insn(e->a, fa, a, e->why);
	text_puts(e->why, " and ");
	ir_print_insn(e->b, fb, b, e->why);
	return false;
}

/* ---- functions ---- */

static bool same_decl(const struct ir_regdecl *x, const struct ir_regdecl *y)
{
	return same_name(x->name, y->name) && x->count == y->count && x->family == y->family &&
	       x->type == y->type && x->vec == y->vec && x->scope == y->scope;
}

/* Nearly always the one with the same number, which is `near`. IR_NONE: there is none. */
static u32 find_decl(const struct ir_regdecl *x, const struct ir_func *b, u32 near)
{
	u32 i = 0;

	if (same_decl(x, &b->regdecls.at[near]))
		return near;
	while (i < b->regdecls.len && !same_decl(x, &b->regdecls.at[i]))
		i++;
	return i < b->regdecls.len ? i : IR_NONE;
}

static bool same_register(const struct equal *e, const struct ir_reg *x, const struct ir_reg *y)
{
	return e->decl_of.at[x->decl] == y->decl && x->number == y->number && x->type == y->type &&
	       x->vec == y->vec;
}

static u32 find_register(const struct equal *e, const struct ir_reg *x, const struct ir_func *b,
			 u32 near)
{
	u32 i = 0;

	if (same_register(e, x, &b->regs.at[near]))
		return near;
	while (i < b->regs.len && !same_register(e, x, &b->regs.at[i]))
		i++;
	return i < b->regs.len ? i : IR_NONE;
}

static bool same_registers(struct equal *e, const struct ir_func *a, const struct ir_func *b)
{
	if (a->regdecls.len != b->regdecls.len || a->regs.len != b->regs.len)
		return differ(e, "'%s': different numbers of registers", a->name->text);
	e->decl_of.len = e->reg_of.len = 0;
	for (u32 i = 0; i < a->regdecls.len; i++) {
		u32 at = find_decl(&a->regdecls.at[i], b, i);

		if (at == IR_NONE || !VEC_PUSH(&e->decl_of, at))
			return differ(e, "'%s': register '%s' differs", a->name->text,
				      a->regdecls.at[i].name->text);
	}
	for (u32 i = 0; i < a->regs.len; i++) {
		u32 at = find_register(e, &a->regs.at[i], b, i);

		if (at == IR_NONE || !VEC_PUSH(&e->reg_of, at))
			return differ(e, "'%s': register %u differs", a->name->text, i);
	}
	return true;
}

static bool same_scopes(struct equal *e, const struct ir_func *a, const struct ir_func *b)
{
	if (a->scopes.len != b->scopes.len || a->labels.len != b->labels.len)
		return differ(e, "'%s': different numbers of blocks or labels", a->name->text);
	for (size_t i = 0; i < a->scopes.len; i++) {
		const struct ir_scope *x = &a->scopes.at[i], *y = &b->scopes.at[i];

		if (x->parent != y->parent || x->first_insn != y->first_insn ||
		    x->end_insn != y->end_insn)
			return differ(e, "'%s': block %zu differs", a->name->text, i);
	}
	for (size_t i = 0; i < a->labels.len; i++) {
		const struct ir_label *x = &a->labels.at[i], *y = &b->labels.at[i];

		if (!same_name(x->name, y->name) || x->scope != y->scope || x->insn != y->insn)
			return differ(e, "'%s': label '%s' differs", a->name->text, x->name->text);
	}
	return true;
}

static bool same_head(struct equal *e, const struct ir_func *a, const struct ir_func *b)
{
	if (!same_name(a->name, b->name))
		return differ(e, "function '%s' and '%s'", text_or_none(a->name),
			      text_or_none(b->name));
	if (a->index != b->index || a->linkage != b->linkage || a->is_entry != b->is_entry ||
	    a->has_body != b->has_body || a->variadic != b->variadic || a->unified != b->unified ||
	    memcmp(a->unified_id, b->unified_id, sizeof(a->unified_id)) ||
	    memcmp(a->has_perf, b->has_perf, sizeof(a->has_perf)) ||
	    memcmp(a->perf, b->perf, sizeof(a->perf)) || !same_name(a->alias_of, b->alias_of))
		return differ(e, "'%s': declarations differ", a->name->text);
	if (a->pragmas.len != b->pragmas.len)
		return differ(e, "'%s': different numbers of pragmas", a->name->text);
	for (size_t i = 0; i < a->pragmas.len; i++)
		if (!same_name(a->pragmas.at[i].text, b->pragmas.at[i].text))
			return differ(e, "'%s': pragma '%s' differs", a->name->text,
				      a->pragmas.at[i].text->text);
	return same_vars(e, a->rets, b->rets, a->rets_len, b->rets_len) &&
	       same_vars(e, a->params, b->params, a->params_len, b->params_len);
}

static bool same_tables(struct equal *e, const struct ir_func *a, const struct ir_func *b)
{
	if (a->tables.len != b->tables.len)
		return differ(e, "'%s': different numbers of tables", a->name->text);
	for (size_t i = 0; i < a->tables.len; i++) {
		const struct ir_table *x = &a->tables.at[i], *y = &b->tables.at[i];

		if (!same_name(x->name, y->name) || x->scope != y->scope || x->kind != y->kind ||
		    x->len != y->len || (x->len && memcmp(x->at, y->at, sizeof(*x->at) * x->len)))
			return differ(e, "'%s': table '%s' differs", a->name->text, x->name->text);
		if (x->proto && !same_head(e, x->proto, y->proto))
			return false;
	}
	return true;
}

static bool same_func(struct equal *e, const struct ir_func *a, const struct ir_func *b)
{
	if (!same_head(e, a, b) || !same_registers(e, a, b) || !same_scopes(e, a, b) ||
	    !same_tables(e, a, b) ||
	    !same_vars(e, a->vars.at, b->vars.at, a->vars.len, b->vars.len))
		return false;
	if (a->insns.len != b->insns.len)
		return differ(e, "'%s': %zu and %zu instructions", a->name->text, a->insns.len,
			      b->insns.len);
	for (size_t i = 0; i < a->insns.len; i++)
		if (!same_insn(e, a, b, i))
			return false;
	return true;
}

/* ---- the module ---- */

static bool same_section(struct equal *e, const struct ir_section *a, const struct ir_section *b)
{
	bool same = same_name(a->name, b->name) && a->bytes.len == b->bytes.len &&
		    a->relocs.len == b->relocs.len && a->labels.len == b->labels.len &&
		    (!a->bytes.len || !memcmp(a->bytes.at, b->bytes.at, a->bytes.len));

	for (size_t i = 0; same && i < a->relocs.len; i++) {
		const struct ir_section_reloc *x = &a->relocs.at[i], *y = &b->relocs.at[i];

		same = x->at == y->at && x->size == y->size && x->addend == y->addend &&
		       same_name(x->plus, y->plus) && same_name(x->minus, y->minus);
	}
	for (size_t i = 0; same && i < a->labels.len; i++)
		same = same_name(a->labels.at[i].name, b->labels.at[i].name) &&
		       a->labels.at[i].insn == b->labels.at[i].insn;
	return same || differ(e, "section %s differs", a->name->text);
}

static bool same_loc(const struct ir_loc *a, const struct ir_loc *b)
{
	return a->file == b->file && a->line == b->line && a->column == b->column &&
	       a->inlined_at == b->inlined_at && same_name(a->function, b->function) &&
	       a->function_offset == b->function_offset;
}

static bool same_debug(struct equal *e)
{
	const struct ir_module *a = e->a, *b = e->b;

	if (a->files.len != b->files.len || a->locs.len != b->locs.len ||
	    a->sections.len != b->sections.len || a->dwarf_lines.len != b->dwarf_lines.len)
		return differ(e, "different numbers of .file, .loc, .section or @@DWARF");
	for (size_t i = 0; i < a->files.len; i++) {
		const struct ir_file *x = &a->files.at[i], *y = &b->files.at[i];

		if (x->number != y->number || strcmp(x->path, y->path) ||
		    x->has_mtime != y->has_mtime || x->mtime != y->mtime || x->size != y->size)
			return differ(e, "file '%s' differs", x->path);
	}
	for (size_t i = 0; i < a->locs.len; i++)
		if (!same_loc(&a->locs.at[i], &b->locs.at[i]))
			return differ(e, ".loc %zu differs", i);
	for (size_t i = 0; i < a->sections.len; i++)
		if (!same_section(e, a->sections.at[i], b->sections.at[i]))
			return false;
	for (size_t i = 0; i < a->dwarf_lines.len; i++)
		if (strcmp(a->dwarf_lines.at[i], b->dwarf_lines.at[i]))
			return differ(e, "@@DWARF line %zu differs", i);
	return true;
}

static bool same_header(struct equal *e)
{
	const struct ir_module *a = e->a, *b = e->b;

	if (a->version != b->version || a->target.sm != b->target.sm ||
	    a->target.variant != b->target.variant || strcmp(a->target_text, b->target_text) ||
	    a->texmode_independent != b->texmode_independent || a->debug != b->debug ||
	    a->map_f64_to_f32 != b->map_f64_to_f32 || a->address_size != b->address_size)
		return differ(e, "the headers differ");
	if (a->pragmas.len != b->pragmas.len || a->funcs.len != b->funcs.len)
		return differ(e, "different numbers of pragmas or functions");
	for (size_t i = 0; i < a->pragmas.len; i++)
		if (!same_name(a->pragmas.at[i], b->pragmas.at[i]))
			return differ(e, "pragma '%s' differs", a->pragmas.at[i]->text);
	return true;
}

static bool compare_modules(struct equal *e)
{
	if (!same_header(e) || !same_globals(e) || !same_debug(e))
		return false;
	for (size_t i = 0; i < e->a->funcs.len; i++)
		if (!same_func(e, e->a->funcs.at[i], e->b->funcs.at[i]))
			return false;
	/* Now every variable is known by both of its numbers. */
	for (size_t i = 0; i < e->a->vars.len; i++)
		if (e->var_of[i] != IR_NONE &&
		    !same_relocs(e, e->a->vars.at[i], e->b->vars.at[e->var_of[i]]))
			return differ(e, "variable '%s': addresses in the initial value differ",
				      e->a->vars.at[i]->name->text);
	return true;
}

bool ir_equal(const struct ir_module *a, const struct ir_module *b, struct text *why)
{
	struct equal e = {
		.a = a, .b = b, .why = why, .var_of = malloc(sizeof(u32) * (a->vars.len + 1))};
	bool same;

	if (!e.var_of)
		return differ(&e, "out of memory");
	memset(e.var_of, 0xff, sizeof(u32) * (a->vars.len + 1));
	same = compare_modules(&e);
	free(e.var_of);
	VEC_FREE(&e.decl_of);
	VEC_FREE(&e.reg_of);
	return same;
}
