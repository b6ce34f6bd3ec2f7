/*
 * Modules: creation, release, look-up by name.
 */
#include "src/ir/ir.h"

#include <stdio.h>

struct ir_module *ir_module_new(const struct diag_source *source, size_t memory_limit)
{
	struct ir_module *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	arena_init(&m->arena, memory_limit);
	intern_init(&m->names_table, &m->arena);
	m->source = *source;
	m->version = PTX_NEWEST;
	m->target = (struct isa_target){75, 0};
	m->target_text = "";
	m->address_size = 32;
	return m;
}

static void func_fini(struct ir_func *f)
{
	VEC_FREE(&f->insns);
	VEC_FREE(&f->operands);
	VEC_FREE(&f->regdecls);
	VEC_FREE(&f->regs);
	VEC_FREE(&f->labels);
	VEC_FREE(&f->tables);
	VEC_FREE(&f->scopes);
	VEC_FREE(&f->poisons);
	VEC_FREE(&f->vars);
	VEC_FREE(&f->pragmas);
}

void ir_module_free(struct ir_module *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->owned.len; i++)
		func_fini(m->owned.at[i]);
	for (size_t i = 0; i < m->sections.len; i++) {
		VEC_FREE(&m->sections.at[i]->bytes);
		VEC_FREE(&m->sections.at[i]->relocs);
		VEC_FREE(&m->sections.at[i]->labels);
	}
	VEC_FREE(&m->vars);
	VEC_FREE(&m->funcs);
	VEC_FREE(&m->owned);
	VEC_FREE(&m->locs);
	VEC_FREE(&m->files);
	VEC_FREE(&m->sections);
	VEC_FREE(&m->pragmas);
	VEC_FREE(&m->names);
	VEC_FREE(&m->dwarf_lines);
	free(m->line_breaks);
	intern_fini(&m->names_table);
	arena_fini(&m->arena);
	free(m);
}

struct ir_var *ir_find_var(const struct ir_module *m, const char *name)
{
	const struct str *s = intern_find(&m->names_table, name, strlen(name));

	for (size_t i = 0; s && i < m->vars.len; i++)
		if (m->vars.at[i]->name == s && m->vars.at[i]->func == IR_NONE)
			return m->vars.at[i];
	return NULL;
}

struct ir_func *ir_find_func(const struct ir_module *m, const char *name)
{
	const struct str *s = intern_find(&m->names_table, name, strlen(name));

	for (size_t i = 0; s && i < m->funcs.len; i++)
		if (m->funcs.at[i]->name == s)
			return m->funcs.at[i];
	return NULL;
}

const char *ir_reg_name(const struct ir_func *f, u32 reg, char *buffer, size_t size)
{
	const struct ir_reg *r = &f->regs.at[reg];
	const struct ir_regdecl *d = &f->regdecls.at[r->decl];

	if (d->family)
		snprintf(buffer, size, "%s%u", d->name->text, r->number);
	else
		snprintf(buffer, size, "%s", d->name->text);
	return buffer;
}
