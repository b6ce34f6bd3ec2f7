/*
 * Joining units: which definition each declared name stands for. One name space holds variables and
 * functions. A .visible definition is strong and may exist once; without one, the largest .common
 * variable counts, else the first .weak definition. All units then use the one that counts, also
 * those whose own weak or common one lost. Names without linkage stay in their unit. What may
 * differ between a declaration and its definition is what nvlink 13 lets differ: of a variable the
 * type, as long as space and size in bytes are the same, and the alignment; of a function that the
 * unit does not use, anything. Source: PTX ISA "Linking Directives", ".alias".
 */
#include "src/base/demangle.h"
#include "src/ir/ir_int.h"

#include <stdio.h>
#include <stdlib.h>

enum strength { MISSING, WEAK, COMMON, STRONG };

/* The definition of a name that counts so far. */
struct choice {
	enum strength strength;
	const struct ir_module *unit;
	struct ir_var *var; /* or */
	struct ir_func *func;
};

struct link {
	struct diag *d;
	enum ir_link_mode mode;
	struct ir_module *const *units; /* in the order of the link */
	struct arena arena;
	struct intern
		names; /* user[0]: struct choice; user[1]: not NULL when the runtime provides it */
	bool failed;
};

static void link_message(struct link *l, enum diag_level level, const struct ir_module *unit,
			 const struct str *name, u32 begin, const char *fmt)
{
	struct text shown = {0}, hint = {0};

	l->failed |= level == DIAG_ERROR;
	if (level == DIAG_ERROR && demangle_wants(name->text))
		demangle(name->text, &shown);
	if (shown.at && strcmp(shown.at, name->text) != 0)
		text_printf(&hint, "this is %s", shown.at);
	diag_at(l->d, level, &unit->source, (struct diag_span){begin, begin + name->len}, hint.at,
		fmt, name->text);
	text_fini(&shown);
	text_fini(&hint);
}

static u32 begin_of(const struct choice *c)
{
	return c->var ? c->var->begin : c->func->begin;
}

static const struct str *choice_name(const struct choice *c)
{
	return c->var ? c->var->name : c->func->name;
}

static struct str *entry_of(struct link *l, const struct str *name)
{
	struct str *s = intern_get(&l->names, name->text, name->len);

	if (s && !s->user[0])
		s->user[0] = ARENA_NEW(&l->arena, struct choice);
	if (s && s->user[0])
		return s;
	if (!l->failed)
		diag_at(l->d, DIAG_ERROR, NULL, DIAG_NOWHERE, NULL, "out of memory while linking");
	l->failed = true;
	return NULL;
}

static enum strength strength_of(u32 linkage)
{
	return linkage == IR_VISIBLE  ? STRONG
	       : linkage == IR_COMMON ? COMMON
	       : linkage == IR_WEAK   ? WEAK
				      : MISSING;
}

/* Of common variables the largest counts, with the strictest alignment of all. */
static void offer_common(struct choice *c, const struct choice *candidate)
{
	u32 align = c->var->align > candidate->var->align ? c->var->align : candidate->var->align;

	if (candidate->var->size_bytes > c->var->size_bytes)
		*c = *candidate;
	c->var->align = align;
}

/* Enter a definition; complain about a second strong one. */
static void offer_choice(struct link *l, const struct choice *candidate)
{
	struct str *s = entry_of(l, choice_name(candidate));
	struct choice *c = s ? s->user[0] : NULL;

	if (!c)
		return;
	if (c->strength == STRONG && candidate->strength == STRONG) {
		link_message(l, DIAG_ERROR, candidate->unit, choice_name(candidate),
			     begin_of(candidate), "'%s' is defined in two units");
		link_message(l, DIAG_NOTE, c->unit, choice_name(c), begin_of(c),
			     "'%s' is first defined here");
		return;
	}
	if (c->strength == COMMON && candidate->strength == COMMON)
		offer_common(c, candidate);
	else if (candidate->strength > c->strength)
		*c = *candidate;
}

/* ---- do a declaration and its definition agree? ---- */

static bool vars_agree(const struct ir_var *a, const struct ir_var *b)
{
	bool sized = !a->unsized && !b->unsized;
	bool opaque =
		isa_type_class(a->type) == ISA_OPAQUE || isa_type_class(b->type) == ISA_OPAQUE;
	bool both_common = a->linkage == IR_COMMON && b->linkage == IR_COMMON;

	if (a->space != b->space || a->managed != b->managed || (opaque && a->type != b->type))
		return false;
	return !sized || both_common || a->size_bytes == b->size_bytes;
}

static bool params_agree(const struct ir_module *ma, const struct ir_module *mb, const u32 *a,
			 const u32 *b, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		const struct ir_var *x = ma->vars.at[a[i]], *y = mb->vars.at[b[i]];

		if (x->space != y->space || x->size_bytes != y->size_bytes ||
		    x->unsized != y->unsized)
			return false;
	}
	return true;
}

static bool funcs_agree(const struct ir_module *ma, const struct ir_func *a,
			const struct ir_module *mb, const struct ir_func *b)
{
	return a->params_len == b->params_len && a->rets_len == b->rets_len &&
	       params_agree(ma, mb, a->params, b->params, a->params_len) &&
	       params_agree(ma, mb, a->rets, b->rets, a->rets_len);
}

/* ---- first pass: definitions ---- */

static struct ir_func *alias_target(const struct ir_module *m, const struct ir_func *f)
{
	return f->alias_of ? ir_find_func(m, f->alias_of->text) : NULL;
}

static void offer_unit(struct link *l, const struct ir_module *m)
{
	for (size_t i = 0; i < m->vars.len; i++) {
		struct ir_var *v = m->vars.at[i];
		struct choice c = {.strength = strength_of(v->linkage), .unit = m, .var = v};

		v->definition = v;
		if (c.strength && v->func == IR_NONE)
			offer_choice(l, &c);
	}
	for (size_t i = 0; i < m->funcs.len; i++) {
		struct ir_func *f = m->funcs.at[i], *target = alias_target(m, f);
		struct choice c = {.strength = strength_of(f->linkage), .unit = m, .func = f};

		/*
		 * An alias keeps standing for the body of its own unit, even when that one's weak
		 * name loses.
		 */
		f->definition = target ? target : f;
		if (c.strength && f->definition->has_body)
			offer_choice(l, &c);
	}
}

/* ---- second pass: uses ---- */

/* What a unit mentions: an .extern that nothing uses needs no definition. */
struct uses {
	bool *vars, *funcs;
};

static void note_uses(const struct ir_module *m, const struct uses *u)
{
	for (size_t i = 0; i < m->vars.len; i++)
		for (u32 k = 0; k < m->vars.at[i]->relocs_len; k++)
			(m->vars.at[i]->relocs[k].is_func
				 ? u->funcs
				 : u->vars)[m->vars.at[i]->relocs[k].index] = true;
	for (size_t i = 0; i < m->funcs.len; i++) {
		const struct ir_func *f = m->funcs.at[i];

		if (f->later) {
			/* It may use any of them. */
			memset(u->vars, true, m->vars.len);
			memset(u->funcs, true, m->funcs.len);
			return;
		}
		for (size_t k = 0; k < f->operands.len; k++) {
			const struct ir_operand *op = &f->operands.at[k];

			if (op->kind == IR_OP_FUNC)
				u->funcs[op->index] = true;
			else if (op->kind == IR_OP_VAR || op->kind == IR_OP_ADDR_VAR)
				u->vars[op->index] = true;
		}
		for (size_t k = 0; k < f->tables.len; k++)
			for (u32 n = 0;
			     f->tables.at[k].kind == IR_CALL_TARGETS && n < f->tables.at[k].len;
			     n++)
				u->funcs[f->tables.at[k].at[n]] = true;
	}
}

/* what: "variable" or "function". */
static void report_missing(struct link *l, const struct ir_module *m, const struct str *entry,
			   const struct str *name, u32 begin, const char *what)
{
	char fmt[64];

	if (entry->user[1])
		return;
	if (l->mode == IR_LINK_WHOLE)
		diag_words_line(l->d, "ptxas fatal   : Unresolved extern %s '%s'", what,
				name->text);
	else
		diag_words_line(l->d, "error   : Undefined reference to '%s' in '%s'", name->text,
				m->source.name);
	snprintf(fmt, sizeof(fmt), "unresolved extern %s '%%s'", what);
	link_message(l, DIAG_ERROR, m, name, begin, fmt);
}

static bool comes_before(const struct link *l, const struct ir_module *a, const struct ir_module *b)
{
	struct ir_module *const *u = l->units;

	while (*u != a && *u != b)
		u++;
	return *u == a;
}

/*
 * nvlink finds it at the later unit: which says otherwise than the earlier one, or than where a
 * function is defined.
 */
static void say_conflict(struct link *l, const struct ir_module *m, const struct str *name,
			 const struct choice *c)
{
	bool before = comes_before(l, m, c->unit);
	const struct ir_module *first = before ? m : c->unit, *second = before ? c->unit : m;

	if (c->var)
		diag_words_line(
			l->d,
			"error   : Size doesn't match for '%s' in '%s', first specified in '%s'",
			name->text, second->source.name, first->source.name);
	else
		diag_words_line(
			l->d,
			"error   : Prototype doesn't match for '%s' in '%s', first defined in '%s'",
			name->text, second->source.name, c->unit->source.name);
}

static void report_conflict(struct link *l, const struct ir_module *m, const struct str *name,
			    u32 begin, const struct choice *c)
{
	if (l->mode == IR_LINK_PARTS && c->unit)
		say_conflict(l, m, name, c);
	link_message(l, DIAG_ERROR, m, name, begin,
		     "'%s' is declared here otherwise than where it is defined");
	link_message(l, DIAG_NOTE, c->unit, choice_name(c), begin_of(c), "'%s' is defined here");
}

/* Dynamic shared memory is declared without a size and defined by each launch. */
static bool is_dynamic(const struct ir_var *v)
{
	return v->space == M_shared && v->unsized;
}

/* A whole program defines what it declares. */
static void adopt(struct link *l, const struct ir_module *m, struct ir_var *v)
{
	diag_words_line(
		l->d,
		"ptxas warning : Unresolved extern variable '%s' in whole program compilation, "
		"ignoring extern qualifier",
		v->name->text);
	link_message(
		l, DIAG_WARNING, m, v->name, v->begin,
		"no unit defines the extern variable '%s': it is taken as defined here, with zeros");
	v->linkage = IR_VISIBLE;
}

static void resolve_var(struct link *l, const struct ir_module *m, struct ir_var *v, bool used)
{
	const struct str *s;
	const struct choice *c;

	if (v->linkage == IR_LOCAL || is_dynamic(v) || !(s = entry_of(l, v->name)))
		return;
	c = s->user[0];
	if (c->func || (c->var && !vars_agree(v, c->var)))
		report_conflict(l, m, v->name, v->begin, c);
	else if (c->var)
		v->definition = c->var;
	else if (l->mode == IR_LINK_WHOLE && v->linkage == IR_EXTERN && !v->unsized)
		adopt(l, m, v);
	else if (used)
		report_missing(l, m, s, v->name, v->begin, "variable");
}

static void resolve_func(struct link *l, const struct ir_module *m, struct ir_func *f, bool used)
{
	const struct str *s;
	const struct choice *c;

	if ((f->linkage == IR_LOCAL && (f->definition->has_body || !used)) ||
	    !(s = entry_of(l, f->name)))
		return;
	c = s->user[0];
	if (c->var || (c->func && c->func->is_entry != f->is_entry) ||
	    (c->func && used && !funcs_agree(m, f, c->unit, c->func)))
		report_conflict(l, m, f->name, f->begin, c);
	else if (c->func)
		f->definition = c->func->definition;
	else if (used)
		report_missing(l, m, s, f->name, f->begin, "function");
}

static void resolve_unit(struct link *l, const struct ir_module *m)
{
	struct uses u = {ARENA_ARRAY(&l->arena, bool, m->vars.len),
			 ARENA_ARRAY(&l->arena, bool, m->funcs.len)};

	if (!u.vars || !u.funcs) {
		diag_at(l->d, DIAG_ERROR, NULL, DIAG_NOWHERE, NULL, "out of memory while linking");
		l->failed = true;
		return;
	}
	note_uses(m, &u);
	for (size_t i = 0; i < m->vars.len; i++)
		resolve_var(l, m, m->vars.at[i], u.vars[i]);
	for (size_t i = 0; i < m->funcs.len; i++)
		resolve_func(l, m, m->funcs.at[i], u.funcs[i]);
}

bool ir_link(struct ir_module *const *units, size_t n, enum ir_link_mode mode,
	     const char *const *allowed, struct diag *d)
{
	struct link l = {.d = d, .mode = mode, .units = units};

	intern_init(&l.names, &l.arena);
	for (; allowed && *allowed; allowed++) {
		struct str *s = intern_get(&l.names, *allowed, strlen(*allowed));

		if (s)
			s->user[1] = &l;
	}
	for (size_t i = 0; i < n; i++)
		offer_unit(&l, units[i]);
	for (size_t i = 0; i < n; i++)
		resolve_unit(&l, units[i]);
	intern_fini(&l.names);
	arena_fini(&l.arena);
	return !l.failed;
}
