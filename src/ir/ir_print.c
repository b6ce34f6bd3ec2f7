/*
 * A module as PTX: everything in the order of its source, so that names mean the same when it is
 * read again. Directives and declarations are here, instructions in ir_print_insn.c, data in
 * ir_print_data.c. Source: PTX ISA "Syntax", "Directives".
 */
#include "src/ir/ir_int.h"

#include <stdlib.h>

struct print {
	const struct ir_module *m;
	struct text *out;
	u32 depth; /* tabs */
};

enum event_kind {
	EV_SCOPE_BEGIN,
	EV_SCOPE_END,
	EV_REGS,
	EV_VAR,
	EV_EXTERN_VAR,
	EV_FUNC,
	EV_DECLARED_FUNC,
	EV_TABLE,
	EV_LABEL,
	EV_LOC,
	EV_PRAGMA,
	EV_INSN,
};

/* Something to print, by its place in the source. */
struct event {
	u32 begin;
	u8 kind;
	u32 index;
};

struct events {
	VEC(struct event) list;
	bool failed;
};

static void add_event(struct events *e, u32 begin, enum event_kind kind, size_t index)
{
	struct event x = {begin, (u8)kind, (u32)index};

	e->failed |= !VEC_PUSH(&e->list, x);
}

static int compare_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void sort_events(struct events *e, struct text *out)
{
	out->failed |= e->failed;
	if (e->list.len)
		qsort(e->list.at, e->list.len, sizeof(*e->list.at), compare_events);
}

static void indent(struct print *p)
{
	for (u32 i = 0; i < p->depth; i++)
		text_puts(p->out, "\t");
}

static const char *linkage_text(u32 linkage)
{
	static const char *const names[] = {
		[IR_LOCAL] = "",      [IR_EXTERN] = ".extern ", [IR_VISIBLE] = ".visible ",
		[IR_WEAK] = ".weak ", [IR_COMMON] = ".common ",
	};

	return names[linkage];
}

/* ---- variables ---- */

static void print_unified(struct text *out, const u64 *id)
{
	text_printf(out, " .attribute(.unified(%lluU, %lluU))", (unsigned long long)id[0],
		    (unsigned long long)id[1]);
}

/* ".param .align 8 .b8 name[16]": what variables and parameters have in common. */
static void print_declarator(struct print *p, const struct ir_var *v)
{
	struct text *out = p->out;

	text_printf(out, ".%s", isa_word_text(v->space));
	if (v->align != ir_natural_align(v))
		text_printf(out, " .align %u", v->align);
	if (v->managed)
		text_puts(out, " .attribute(.managed)");
	if (v->unified)
		print_unified(out, v->unified_id);
	if (v->vec > 1)
		text_printf(out, " .v%u", v->vec);
	text_printf(out, " .%s", isa_word_text(v->type));
	if (v->ptr) {
		text_puts(out, " .ptr");
		if (v->ptr_space)
			text_printf(out, " .%s", isa_word_text(v->ptr_space));
		text_printf(out, " .align %u", v->ptr_align);
	}
	text_printf(out, " %s", v->name->text);
	for (u32 i = 0; i < v->dims; i++) {
		if (!i && v->unsized)
			text_puts(out, "[]");
		else
			text_printf(out, "[%llu]", (unsigned long long)v->dim[i]);
	}
}

static void print_var(struct print *p, const struct ir_var *v, bool declaration)
{
	indent(p);
	text_puts(p->out, linkage_text(declaration ? IR_EXTERN : v->linkage));
	print_declarator(p, v);
	if (v->has_init && !declaration) {
		text_puts(p->out, " = ");
		ir_print_init(p->m, v, p->out);
	}
	text_puts(p->out, ";\n");
}

static void print_regs(struct print *p, const struct ir_regdecl *d)
{
	indent(p);
	text_puts(p->out, ".reg ");
	if (d->vec > 1)
		text_printf(p->out, ".v%u ", d->vec);
	text_printf(p->out, ".%s %s", isa_word_text(d->type), d->name->text);
	if (d->family)
		text_printf(p->out, "<%u>", d->count);
	text_puts(p->out, ";\n");
}

/* ---- functions ---- */

static void print_params(struct print *p, const u32 *vars, u32 n)
{
	text_puts(p->out, "(");
	for (u32 i = 0; i < n; i++) {
		text_puts(p->out, i ? ", " : "");
		print_declarator(p, p->m->vars.at[vars[i]]);
	}
	text_puts(p->out, ")");
}

static void print_perfs(struct print *p, const struct ir_func *f)
{
	static const struct {
		const char *name;
		u8 values;
	} perfs[IR_PERFS] = {
		[IR_MAXNTID] = {"maxntid", 3},
		[IR_REQNTID] = {"reqntid", 3},
		[IR_MINNCTAPERSM] = {"minnctapersm", 1},
		[IR_MAXNCTAPERSM] = {"maxnctapersm", 1},
		[IR_MAXNREG] = {"maxnreg", 1},
		[IR_REQNCTAPERCLUSTER] = {"reqnctapercluster", 3},
		[IR_MAXCLUSTERRANK] = {"maxclusterrank", 1},
		[IR_EXPLICITCLUSTER] = {"explicitcluster", 0},
		[IR_BLOCKSARECLUSTERS] = {"blocksareclusters", 0},
		[IR_NORETURN] = {"noreturn", 0},
		[IR_ABI_PRESERVE] = {"abi_preserve", 1},
		[IR_ABI_PRESERVE_CONTROL] = {"abi_preserve_control", 1},
	};

	for (u32 i = 0; i < IR_PERFS; i++) {
		if (!f->has_perf[i])
			continue;
		text_printf(p->out, " .%s", perfs[i].name);
		for (u32 k = 0; k < perfs[i].values; k++)
			text_printf(p->out, "%s%u", k ? ", " : " ", f->perf[i][k]);
	}
}

/* ".visible .func (result) name (parameters) .noreturn", without what ends it. */
static void print_head(struct print *p, const struct ir_func *f)
{
	struct text *out = p->out;

	text_printf(out, "%s%s", linkage_text(f->linkage), f->is_entry ? ".entry" : ".func");
	if (f->unified)
		print_unified(out, f->unified_id);
	if (f->rets_len) {
		text_puts(out, " ");
		print_params(p, f->rets, f->rets_len);
	}
	text_printf(out, " %s", f->name->text);
	print_params(p, f->params, f->params_len);
	print_perfs(p, f);
}

static void print_pragma(struct print *p, const char *pragma)
{
	indent(p);
	text_printf(p->out, ".pragma \"%s\";\n", pragma);
}

static void print_table(struct print *p, const struct ir_func *f, const struct ir_table *t)
{
	static const char *const words[] = {
		[IR_BRANCH_TARGETS] = ".branchtargets",
		[IR_CALL_TARGETS] = ".calltargets",
		[IR_PROTOTYPE] = ".callprototype",
	};
	struct text *out = p->out;

	indent(p);
	text_printf(out, "%s: %s", t->name->text, words[t->kind]);
	for (u32 i = 0; i < t->len; i++)
		text_printf(out, "%s%s", i ? ", " : " ",
			    t->kind == IR_CALL_TARGETS ? p->m->funcs.at[t->at[i]]->name->text
						       : f->labels.at[t->at[i]].name->text);
	if (t->kind == IR_PROTOTYPE) {
		if (t->proto->rets_len) {
			text_puts(out, " ");
			print_params(p, t->proto->rets, t->proto->rets_len);
		}
		text_puts(out, " _ ");
		print_params(p, t->proto->params, t->proto->params_len);
		print_perfs(p, t->proto);
		for (size_t i = 0; i < t->proto->pragmas.len; i++)
			text_printf(out, " .pragma \"%s\";", t->proto->pragmas.at[i].text->text);
	}
	text_puts(out, ";\n");
}

static void print_loc(struct print *p, const struct ir_loc *l)
{
	struct text *out = p->out;

	indent(p);
	text_printf(out, ".loc %u %u %u", l->file, l->line, l->column);
	if (l->function) {
		text_printf(out, ", function_name %s", l->function->text);
		if (l->function_offset)
			text_printf(out, "+%llu", (unsigned long long)l->function_offset);
	}
	if (l->inlined_at != IR_NONE) {
		const struct ir_loc *at = &p->m->locs.at[l->inlined_at];

		text_printf(out, ", inlined_at %u %u %u", at->file, at->line, at->column);
	}
	text_puts(out, "\n");
}

/* First position at or after a source offset: positions are in source order. */
static size_t first_loc(const struct ir_module *m, u32 begin)
{
	size_t lo = 0, hi = m->locs.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->locs.at[mid].begin < begin)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void collect_body(const struct ir_module *m, const struct ir_func *f, struct events *e)
{
	const struct ir_scope *body = &f->scopes.at[0];

	for (size_t i = 1; i < f->scopes.len; i++) {
		add_event(e, f->scopes.at[i].begin, EV_SCOPE_BEGIN, i);
		add_event(e, f->scopes.at[i].end, EV_SCOPE_END, i);
	}
	for (size_t i = 0; i < f->regdecls.len; i++)
		if (f->regdecls.at[i].begin > body->begin && !f->regdecls.at[i].of_module)
			add_event(e, f->regdecls.at[i].begin, EV_REGS, i);
	for (size_t i = 0; i < f->vars.len; i++)
		if (!m->vars.at[f->vars.at[i]]->of_module)
			add_event(e, m->vars.at[f->vars.at[i]]->begin, EV_VAR, f->vars.at[i]);
	for (size_t i = 0; i < f->tables.len; i++)
		add_event(e, f->tables.at[i].begin, EV_TABLE, i);
	for (size_t i = 0; i < f->labels.len; i++)
		add_event(e, f->labels.at[i].begin, EV_LABEL, i);
	for (size_t i = first_loc(m, body->begin);
	     i < m->locs.len && m->locs.at[i].begin < body->end; i++)
		add_event(e, m->locs.at[i].begin, EV_LOC, i);
	for (size_t i = 0; i < f->pragmas.len; i++)
		if (f->pragmas.at[i].begin > body->begin)
			add_event(e, f->pragmas.at[i].begin, EV_PRAGMA, i);
	for (size_t i = 0; i < f->insns.len; i++)
		add_event(e, f->insns.at[i].begin, EV_INSN, i);
}

static void print_statement(struct print *p, const struct ir_func *f, const struct event *e)
{
	switch ((enum event_kind)e->kind) {
	case EV_SCOPE_BEGIN:
		indent(p);
		text_puts(p->out, "{\n");
		p->depth++;
		break;
	case EV_SCOPE_END:
		p->depth--;
		indent(p);
		text_puts(p->out, "}\n");
		break;
	case EV_REGS:
		print_regs(p, &f->regdecls.at[e->index]);
		break;
	case EV_VAR:
		print_var(p, p->m->vars.at[e->index], false);
		break;
	case EV_TABLE:
		print_table(p, f, &f->tables.at[e->index]);
		break;
	case EV_LABEL:
		text_printf(p->out, "%s:\n", f->labels.at[e->index].name->text);
		break;
	case EV_LOC:
		print_loc(p, &p->m->locs.at[e->index]);
		break;
	case EV_PRAGMA:
		print_pragma(p, f->pragmas.at[e->index].text->text);
		break;
	case EV_INSN:
		indent(p);
		ir_print_insn(p->m, f, &f->insns.at[e->index], p->out);
		text_puts(p->out, "\n");
		break;
	case EV_EXTERN_VAR:
	case EV_FUNC:
	case EV_DECLARED_FUNC:
		break; /* of modules */
	}
}

static void print_func(struct print *p, const struct ir_func *f)
{
	struct events e = {0};

	print_head(p, f);
	text_puts(p->out, "\n");
	p->depth = 1;
	for (size_t i = 0; i < f->pragmas.len; i++)
		if (!f->has_body || f->pragmas.at[i].begin < f->scopes.at[0].begin)
			print_pragma(p, f->pragmas.at[i].text->text);
	if (f->has_body) {
		text_puts(p->out, "{\n");
		collect_body(p->m, f, &e);
		sort_events(&e, p->out);
		for (size_t i = 0; i < e.list.len; i++)
			print_statement(p, f, &e.list.at[i]);
		text_puts(p->out, "}\n");
	} else {
		text_puts(p->out, ";\n");
	}
	p->depth = 0;
	VEC_FREE(&e.list);
}

/* ---- the module ---- */

static void print_header(struct print *p)
{
	const struct ir_module *m = p->m;
	struct text *out = p->out;

	text_printf(out, ".version %u.%u\n.target %s\n", m->version / 10, m->version % 10,
		    m->target_text);
	if (m->address_size != 32)
		text_printf(out, ".address_size %u\n", m->address_size);
	for (size_t i = 0; i < m->dwarf_lines.len; i++)
		text_printf(out, "%s\n", m->dwarf_lines.at[i]);
	for (size_t i = 0; i < m->files.len; i++) {
		const struct ir_file *f = &m->files.at[i];

		text_printf(out, ".file %u \"%s\"", f->number, f->path);
		if (f->has_mtime)
			text_printf(out, ", %lluU, %lluU", (unsigned long long)f->mtime,
				    (unsigned long long)f->size);
		text_puts(out, "\n");
	}
	for (size_t i = 0; i < m->pragmas.len; i++)
		print_pragma(p, m->pragmas.at[i]->text);
}

static void collect_module(const struct ir_module *m, struct events *e)
{
	for (size_t i = 0; i < m->vars.len; i++) {
		const struct ir_var *v = m->vars.at[i];

		if (v->func != IR_NONE)
			continue;
		add_event(e, v->begin, EV_VAR, i);
		if (v->declared != v->begin)
			add_event(e, v->declared, EV_EXTERN_VAR, i);
	}
	for (size_t i = 0; i < m->funcs.len; i++) {
		const struct ir_func *f = m->funcs.at[i];

		add_event(e, f->begin, EV_FUNC, i);
		if (f->declared != f->begin)
			add_event(e, f->declared, EV_DECLARED_FUNC, i);
	}
}

static void print_item(struct print *p, const struct event *e)
{
	const struct ir_module *m = p->m;

	if (e->kind == EV_VAR || e->kind == EV_EXTERN_VAR) {
		print_var(p, m->vars.at[e->index], e->kind == EV_EXTERN_VAR);
	} else if (e->kind == EV_FUNC) {
		print_func(p, m->funcs.at[e->index]);
	} else {
		print_head(p, m->funcs.at[e->index]);
		text_puts(p->out, ";\n");
	}
}

void ir_print_module(const struct ir_module *m, struct text *out)
{
	struct print p = {.m = m, .out = out};
	struct events e = {0};

	print_header(&p);
	collect_module(m, &e);
	sort_events(&e, out);
	for (size_t i = 0; i < e.list.len; i++)
		print_item(&p, &e.list.at[i]);
	for (size_t i = 0; i < m->funcs.len; i++)
		if (m->funcs.at[i]->alias_of)
			text_printf(out, ".alias %s, %s;\n", m->funcs.at[i]->name->text,
				    m->funcs.at[i]->alias_of->text);
	for (size_t i = 0; i < m->sections.len; i++)
		ir_print_section(m->sections.at[i], out);
	VEC_FREE(&e.list);
}
