/*
 * Functions, their bodies, labels and tables of labels, prototypes. Source: PTX ISA "Kernel and
 * Function Directives", "Control Flow Directives", "Performance-Tuning Directives".
 */
#include "grammar/build.h"

#include <stdio.h>

static struct ir_func *new_func(struct parse *p)
{
	struct ir_func *f = ARENA_NEW(&p->m->arena, struct ir_func);

	if (!f || !VEC_PUSH(&p->m->owned, f)) {
		build_no_memory(p);
		return NULL;
	}
	f->linkage = p->linkage;
	f->index = IR_NONE;
	f->definition = f;
	return f;
}

void build_function_begin(struct parse *p, bool entry, struct diag_span where)
{
	struct ir_func *f = new_func(p);

	build_item(p, where);
	if (!f)
		return;
	f->is_entry = entry;
	p->functions++;
	p->decl.space = ISA_NONE;
	if (p->linkage == IR_COMMON)
		build_error(p, p->linkage_span, ".common is for .global variables");
	p->f = f;
	p->loc = IR_NONE;
	build_enter(p, where.begin);
}

void build_function_name(struct parse *p, struct str *name, struct diag_span where)
{
	if (memchr(name->text, '.', name->len))
		build_error(p, where, "'%s' is not a name", name->text);
	if (!p->f)
		return;
	p->f->name = name;
	p->f->begin = p->f->declared = where.begin;
}

void build_list_begin(struct parse *p, enum build_list list)
{
	p->list = list;
	p->list_vars.len = 0;
}

void build_list_end(struct parse *p)
{
	u32 *copy = arena_copy(&p->m->arena, p->list_vars.at, sizeof(u32) * p->list_vars.len);

	if (!copy || !p->f)
		return build_no_memory(p);
	if (p->list == BUILD_RESULTS) {
		p->f->rets = copy;
		p->f->rets_len = (u32)p->list_vars.len;
	} else {
		p->f->params = copy;
		p->f->params_len = (u32)p->list_vars.len;
	}
	for (u32 i = 0; i + 1 < p->list_vars.len; i++)
		if (p->m->vars.at[p->list_vars.at[i]]->unsized)
			build_error(p, (struct diag_span){p->offset - 1, p->offset},
				    "only the last parameter may be unsized");
	if (p->list == BUILD_PARAMS && p->f->is_entry)
		build_check_params(p);
}

struct perf_info {
	const char *name;
	u8 values; /* at most */
	bool entry_only, func_only;
	u8 ptx, sm; /* minima, PTX version x 10 */
};

static const struct perf_info perf_infos[IR_PERFS] = {
	[IR_MAXNTID] = {".maxntid", 3, true, false, 13, 0},
	[IR_REQNTID] = {".reqntid", 3, true, false, 21, 0},
	[IR_MINNCTAPERSM] = {".minnctapersm", 1, true, false, 20, 0},
	[IR_MAXNCTAPERSM] = {".maxnctapersm", 1, true, false, 13, 0},
	[IR_MAXNREG] = {".maxnreg", 1, true, false, 13, 0},
	[IR_REQNCTAPERCLUSTER] = {".reqnctapercluster", 3, true, false, 78, 90},
	[IR_MAXCLUSTERRANK] = {".maxclusterrank", 1, true, false, 78, 90},
	[IR_EXPLICITCLUSTER] = {".explicitcluster", 0, true, false, 78, 90},
	[IR_BLOCKSARECLUSTERS] = {".blocksareclusters", 0, true, false, 90, 90},
	[IR_NORETURN] = {".noreturn", 0, false, true, 64, 30},
	[IR_ABI_PRESERVE] = {".abi_preserve", 1, false, true, 90, 80},
	[IR_ABI_PRESERVE_CONTROL] = {".abi_preserve_control", 1, false, true, 90, 80},
};

void build_perf(struct parse *p, u32 row, struct diag_span where)
{
	const struct perf_info *info = &perf_infos[row];
	bool proto = p->outer != NULL;

	p->perf_row = row;
	if (!p->f)
		return;
	if (info->entry_only && !p->f->is_entry)
		build_error(p, where, "%s is for kernels", info->name);
	if (info->func_only && p->f->is_entry && !proto)
		build_error(p, where, "%s is for functions", info->name);
	if (p->f->has_perf[row])
		build_error(p, where, "%s is given twice", info->name);
	if (row == IR_NORETURN && p->f->rets_len)
		build_error(p, where, "a function with a result is not .noreturn");
	if (row == IR_MAXNCTAPERSM && p->m->version >= 21 && p->options.lint)
		build_error(
			p, where,
			".maxnctapersm is gone from PTX 2.1 on; .minnctapersm stands in its place");
	build_need(p, where, info->name, info->ptx, info->sm);
	p->f->has_perf[row] = true;
	for (u32 i = 0; i < 3; i++)
		p->f->perf[row][i] = 1;
}

void build_perf_value(struct parse *p, u32 i, struct build_value v, struct diag_span where)
{
	const struct perf_info *info = &perf_infos[p->perf_row];

	if (!p->f)
		return;
	if (i >= info->values)
		build_error(p, where, "too many numbers");
	else if (v.bits > UINT32_MAX || (!v.bits && info->entry_only))
		build_error(p, where, "the number is out of range");
	else
		p->f->perf[p->perf_row][i] = (u32)v.bits;
}

static void check_perfs(struct parse *p, struct diag_span where)
{
	const struct ir_func *f = p->f;

	if (f->has_perf[IR_MAXNTID] && f->has_perf[IR_REQNTID])
		build_error(p, where, ".maxntid and .reqntid exclude each other");
	if (f->has_perf[IR_BLOCKSARECLUSTERS] &&
	    !(f->has_perf[IR_REQNTID] && f->has_perf[IR_REQNCTAPERCLUSTER]))
		build_error(p, where, ".blocksareclusters needs .reqntid and .reqnctapercluster");
	if (f->has_perf[IR_MAXCLUSTERRANK] && f->has_perf[IR_REQNCTAPERCLUSTER])
		build_error(p, where, ".maxclusterrank and .reqnctapercluster exclude each other");
}

/* Parameters of two declarations agree in number, type and size. */
static bool same_signature(const struct ir_module *m, const struct ir_func *a,
			   const struct ir_func *b)
{
	if (a->params_len != b->params_len || a->rets_len != b->rets_len ||
	    a->is_entry != b->is_entry)
		return false;
	for (u32 i = 0; i < a->params_len + a->rets_len; i++) {
		bool ret = i >= a->params_len;
		const struct ir_var *x =
			m->vars.at[ret ? a->rets[i - a->params_len] : a->params[i]];
		const struct ir_var *y =
			m->vars.at[ret ? b->rets[i - a->params_len] : b->params[i]];

		if (x->space != y->space || x->size_bytes != y->size_bytes ||
		    x->unsized != y->unsized || isa_type_bits(x->type) != isa_type_bits(y->type))
			return false;
	}
	return true;
}

static void own_params(struct parse *p, const struct ir_func *f)
{
	for (u32 i = 0; i < f->params_len; i++)
		p->m->vars.at[f->params[i]]->func = f->index;
	for (u32 i = 0; i < f->rets_len; i++)
		p->m->vars.at[f->rets[i]]->func = f->index;
}

/* A second declaration or definition: the later one counts, a definition most. */
static void join_function(struct parse *p, u32 index, struct diag_span where)
{
	struct ir_func *f = p->f, *old = p->m->funcs.at[index];
	bool defined = old->has_body && !old->later;

	if (!same_signature(p->m, old, f))
		build_error(p, where, "'%s' was declared with other parameters", f->name->text);
	else if (old->has_body && f->has_body && (defined || f->later))
		build_error(p, where, "'%s' is already defined", f->name->text);
	f->index = index;
	own_params(p, f);
	if (defined || (old->later && !f->has_body))
		return;
	if (f->linkage == IR_LOCAL || (f->linkage == IR_EXTERN && !f->has_body))
		f->linkage = f->has_body && old->linkage == IR_EXTERN ? f->linkage : old->linkage;
	f->declared = old->declared;
	p->m->funcs.at[index] = f;
}

/* Enter the function among the module's, joining an earlier declaration. */
static void register_function(struct parse *p, bool body)
{
	struct ir_func *f = p->f;
	struct diag_span where = {f->begin, f->begin + f->name->len};
	const struct binding *b = f->name->user[0];

	while (b && b->depth)
		b = b->shadowed;
	f->has_body = body;
	if (b && b->kind == BIND_FUNC) {
		join_function(p, b->index, where);
		return;
	}
	if (!VEC_PUSH(&p->m->funcs, f))
		return build_no_memory(p);
	f->index = (u32)p->m->funcs.len - 1;
	own_params(p, f);
	build_bind_module(p, f->name, BIND_FUNC, f->index, where);
}

static void leave_function(struct parse *p, u32 end)
{
	while (p->scopes.len)
		build_leave(p, end);
	p->jumps.len = 0;
	p->f = NULL;
	p->linkage = IR_LOCAL;
}

void build_function_end(struct parse *p, struct diag_span where)
{
	if (!p->f)
		return;
	check_perfs(p, where);
	register_function(p, false);
	leave_function(p, where.end);
}

void build_body_begin(struct parse *p, struct diag_span where)
{
	if (!p->f)
		return;
	if (p->f->linkage == IR_EXTERN)
		build_error(p, p->linkage_span, "an .extern function has no body");
	check_perfs(p, where);
	p->f->scopes.at[0].begin = where.begin;
	/* Readers add indices to these, even if there are none. */
	if (!VEC_RESERVE(&p->f->operands, 1))
		build_no_memory(p);
	register_function(p, true);
}

void build_body_skipped(struct parse *p, struct diag_span where)
{
	if (!p->f)
		return;
	p->f->later = p->skipped;
	build_body_begin(p, where);
	leave_function(p, where.end);
}

void build_body_end(struct parse *p, struct diag_span where)
{
	if (!p->f)
		return;
	if (p->f->is_entry)
		build_check_shared(p);
	leave_function(p, where.begin);
}

void build_scope_begin(struct parse *p, struct diag_span where)
{
	build_enter(p, where.begin);
}

void build_scope_end(struct parse *p, struct diag_span where)
{
	if (p->scopes.len > 1)
		build_leave(p, where.begin);
}

void build_alias(struct parse *p, struct str *name, struct str *target, struct diag_span where)
{
	struct binding *a = name->user[0], *b = target->user[0];

	build_item(p, where);
	build_need(p, where, ".alias", 63, 30);
	if (!a || a->kind != BIND_FUNC || !b || b->kind != BIND_FUNC)
		build_error(p, where, "'%s' is not a function",
			    a && a->kind == BIND_FUNC ? target->text : name->text);
	else if (p->m->funcs.at[a->index]->has_body || !p->m->funcs.at[b->index]->has_body)
		build_error(p, where, ".alias joins a declared function to a defined one");
	else if (p->m->funcs.at[a->index]->is_entry || p->m->funcs.at[b->index]->is_entry)
		build_error(p, where, ".alias is for functions, not kernels");
	else if (!same_signature(p->m, p->m->funcs.at[a->index], p->m->funcs.at[b->index]))
		build_error(p, where, "'%s' and '%s' have different parameters", name->text,
			    target->text);
	else
		p->m->funcs.at[a->index]->alias_of = target;
}

/* ---- labels and tables ---- */

void build_label_name(struct parse *p, struct str *name, struct diag_span where)
{
	if (memchr(name->text, '.', name->len))
		build_error(p, where, "'%s' is not a label", name->text);
	p->label = name;
	p->label_span = where;
}

void build_label(struct parse *p)
{
	struct ir_label l = {.name = p->label, .begin = p->label_span.begin};

	if (!p->f || !p->scopes.len)
		return;
	l.scope = p->scopes.at[p->scopes.len - 1].id;
	l.insn = (u32)p->f->insns.len;
	if (!VEC_PUSH(&p->f->labels, l))
		return build_no_memory(p);
	build_bind(p, p->label, BIND_LABEL, (u32)p->f->labels.len - 1, p->label_span);
}

void build_jump(struct parse *p, struct build_jump jump)
{
	if (!VEC_PUSH(&p->jumps, jump))
		build_no_memory(p);
}

static void patch(struct parse *p, const struct build_jump *j, u32 label)
{
	if (j->operand == IR_NONE) {
		p->f->tables.at[j->table].at[j->entry] = label;
		return;
	}
	p->f->operands.at[j->operand].kind = IR_OP_LABEL;
	p->f->operands.at[j->operand].index = label;
}

/*
 * At the end of a scope: jumps to its labels are settled, the others wait for the scope around it.
 */
void build_resolve_jumps(struct parse *p)
{
	const struct build_scope *s = &p->scopes.at[p->scopes.len - 1];
	size_t keep = s->first_jump;

	for (size_t i = s->first_jump; i < p->jumps.len; i++) {
		struct build_jump *j = &p->jumps.at[i];
		struct binding *b = j->name->user[0];

		if (build_same_scope(p, b) && b->kind == BIND_LABEL)
			patch(p, j, b->index);
		else if (p->scopes.len > 1)
			p->jumps.at[keep++] = *j;
		else
			build_no_label(p, j->name, j->where);
	}
	p->jumps.len = keep;
}

void build_table_begin(struct parse *p, enum ir_table_kind kind)
{
	p->table =
		(struct ir_table){.name = p->label, .kind = (u8)kind, .begin = p->label_span.begin};
	p->table_items.len = p->table_jumps.len = 0;
	p->table.scope = p->scopes.len ? p->scopes.at[p->scopes.len - 1].id : 0;
}

static void add_item(struct parse *p, struct str *name, struct diag_span where)
{
	struct binding *b = build_lookup(p, name);
	struct build_jump j = {.name = name, .operand = IR_NONE, .where = where};

	j.table = p->f ? (u32)p->f->tables.len : 0;
	j.entry = (u32)p->table_items.len;
	if (p->table.kind == IR_CALL_TARGETS && (!b || b->kind != BIND_FUNC)) {
		build_error(p, where, "'%s' is not a function declared before", name->text);
		return;
	}
	if (!VEC_PUSH(&p->table_items, p->table.kind == IR_CALL_TARGETS ? b->index : IR_NONE))
		return build_no_memory(p);
	if (p->table.kind == IR_BRANCH_TARGETS && !VEC_PUSH(&p->table_jumps, j))
		build_no_memory(p);
}

void build_table_item(struct parse *p, struct str *name, struct diag_span where)
{
	if (p->f)
		add_item(p, name, where);
}

void build_table_range(struct parse *p, struct str *name, struct build_value count,
		       struct diag_span where)
{
	char text[1100];

	if (count.bits < 1 || count.bits > 65536 || name->len > 1024) {
		build_error(p, where, "a range of labels has 1 to 65536 members");
		return;
	}
	/* A short text may describe much: it counts, though it is not in the arena. */
	p->m->arena.used_bytes += count.bits * 2 * sizeof(struct build_jump);
	if (!build_fits(p, 0))
		return build_no_memory(p);
	for (u32 i = 0; i < count.bits && p->f; i++) {
		int n = snprintf(text, sizeof(text), "%s%u", name->text, i);
		struct str *s = intern_get(&p->m->names_table, text, (size_t)n);

		if (!s)
			return build_no_memory(p);
		add_item(p, s, where);
	}
}

static void add_table(struct parse *p)
{
	if (!p->f)
		return;
	if (!VEC_PUSH(&p->f->tables, p->table))
		return build_no_memory(p);
	build_bind(p, p->table.name, BIND_TABLE, (u32)p->f->tables.len - 1, p->label_span);
}

void build_table_end(struct parse *p, struct diag_span where)
{
	(void)where;
	p->table.len = (u32)p->table_items.len;
	p->table.at = arena_copy(&p->m->arena, p->table_items.at, sizeof(u32) * p->table_items.len);
	if (!p->table.at)
		return build_no_memory(p);
	/* Only now: a list with a syntax error leaves no jumps behind. */
	for (size_t i = 0; p->f && i < p->table_jumps.len; i++)
		build_jump(p, p->table_jumps.at[i]);
	add_table(p);
}

/*
 * A prototype is read like the head of a function of its own, with its own scope for parameter
 * names.
 */
void build_prototype_begin(struct parse *p, struct diag_span where)
{
	struct ir_func *f;

	if (!p->f)
		return;
	f = new_func(p);
	if (!f)
		return;
	f->linkage = IR_EXTERN;
	f->name = p->label;
	f->index = p->f->index;
	f->begin = p->label_span.begin;
	p->outer = p->f;
	p->f = f;
	build_enter(p, where.begin);
}

void build_prototype_end(struct parse *p, struct diag_span where)
{
	if (!p->outer)
		return;
	p->table = (struct ir_table){
		.name = p->f->name, .kind = IR_PROTOTYPE, .proto = p->f, .begin = p->f->begin};
	build_leave(p, where.end);
	p->f = p->outer;
	p->outer = NULL;
	p->table.scope = p->scopes.len ? p->scopes.at[p->scopes.len - 1].id : 0;
	add_table(p);
}
