/*
 * Modules of loaded programs: their lines and names, and where instructions stand.
 */
#include "src/base/file.h"
#include "src/dbg/flow.h"
#include "src/debugger/debugger_int.h"

static void loaded_free(struct loaded *l)
{
	dbg_lines_free(l->lines);
	dbg_names_close(l->names);
	free(l->ptx_lines);
	free(l);
}

bool loaded_add(struct debugger *x, const struct device_program *p, u32 unit)
{
	struct loaded *l = calloc(1, sizeof(*l));

	if (!l)
		return false;
	l->owner = p;
	l->unit = unit;
	l->m = p->units[unit];
	l->ptx = &p->sources[unit];
	for (size_t i = 0; i < l->m->funcs.len && !l->has_source; i++) {
		const struct ir_func *f = l->m->funcs.at[i];

		for (size_t k = 0; k < f->insns.len && !l->has_source; k++)
			l->has_source = f->insns.at[k].loc != IR_NONE;
	}
	if (VEC_PUSH(&x->modules, l))
		return true;
	loaded_free(l);
	return false;
}

void loaded_remove(struct debugger *x, size_t i)
{
	/* Types of values that were kept live in the names. */
	if (x->modules.at[i]->names) {
		dbg_session_forget(x->session);
		points_forget(x, x->modules.at[i]->names);
	}
	loaded_free(x->modules.at[i]);
	x->modules.len--;
	memmove(&x->modules.at[i], &x->modules.at[i + 1],
		(x->modules.len - i) * sizeof(x->modules.at[0]));
}

static void find_ptx_lines(struct loaded *l)
{
	const char *text = l->ptx->text;
	VEC(u32) lines = {0};
	bool good = VEC_PUSH(&lines, 0);

	for (size_t i = 0; i < l->ptx->size && text && good; i++)
		if (text[i] == '\n')
			good = VEC_PUSH(&lines, (u32)i + 1);
	if (good && text && lines.at[lines.len - 1] < l->ptx->size)
		good = VEC_PUSH(&lines, (u32)l->ptx->size);
	if (!good)
		VEC_FREE(&lines);
	l->ptx_lines = lines.at;
	l->ptx_len = (u32)lines.len;
}

bool loaded_open(struct debugger *x, struct loaded *l)
{
	struct text why = {0};

	if (l->opened)
		return l->lines && l->names;
	l->opened = true;
	l->names = dbg_names_open(l->m, &why);
	if (why.len)
		say(x, "%s: %s\n", l->ptx->name, why.at);
	text_fini(&why);
	if (l->names)
		l->lines = dbg_lines_new(l->m, dbg_names_inlined, l->names);
	find_ptx_lines(l);
	return l->lines && l->names;
}

struct loaded *loaded_find(struct debugger *x, const struct ir_module *m)
{
	for (size_t i = 0; i < x->modules.len; i++)
		if (x->modules.at[i]->m == m)
			return loaded_open(x, x->modules.at[i]) ? x->modules.at[i] : NULL;
	return NULL;
}

struct loaded *loaded_of(struct debugger *x, const struct ir_func *f)
{
	for (size_t i = 0; i < x->modules.len; i++) {
		const struct ir_module *m = x->modules.at[i]->m;

		if (f->index < m->funcs.len && m->funcs.at[f->index] == f)
			return loaded_open(x, x->modules.at[i]) ? x->modules.at[i] : NULL;
	}
	return NULL;
}

bool loaded_names(void *user, u32 i, struct dbg_names **out)
{
	struct debugger *x = user;

	*out = NULL;
	if (i < x->modules.len && loaded_open(x, x->modules.at[i]))
		*out = x->modules.at[i]->names;
	return i < x->modules.len;
}

u32 loaded_ptx_line(const struct loaded *l, struct dbg_place at)
{
	u32 low = 0, high = l->ptx_len, begin;

	if (!l->ptx_len || at.insn >= at.func->insns.len)
		return 0;
	begin = at.func->insns.at[at.insn].begin;
	while (high - low > 1) {
		u32 mid = low + (high - low) / 2;

		if (l->ptx_lines[mid] <= begin)
			low = mid;
		else
			high = mid;
	}
	return low + 1;
}

struct dbg_place loaded_place(const struct program *p, u32 pc)
{
	const struct uop *in = &p->uop[pc];

	return (struct dbg_place){p->funcs[in->func].func, in->ir};
}

/* ---- where people see an instruction ---- */

struct where where_of(struct debugger *x, struct dbg_place at)
{
	struct where w = {.place = at};

	w.module = at.func ? loaded_of(x, at.func) : NULL;
	if (!w.module)
		return w;
	w.source = dbg_lines_step(w.module->lines, at, &w.depth);
	w.ptx_line = loaded_ptx_line(w.module, at);
	return w;
}

struct where where_near(struct debugger *x, struct dbg_place at)
{
	struct where w = where_of(x, at);
	u32 here = at.insn, start;

	if (!w.module || !w.module->has_source || w.source.path)
		return w;
	/* Not out of the block: lanes that come to its beginning have not run what stands above. */
	start = flow_block_start(at.func, here);
	while (!w.source.path && at.insn > start) {
		at.insn--;
		w.source = dbg_lines_step(w.module->lines, at, &w.depth);
	}
	for (at.insn = here; !w.source.path && ++at.insn < at.func->insns.len;)
		w.source = dbg_lines_step(w.module->lines, at, &w.depth);
	return w;
}

u32 where_frame(const struct where *w)
{
	struct dbg_inline in[DBG_INLINE_MAX];
	u32 n;

	if (!w->module)
		return 0;
	n = dbg_names_inlined(w->module->names, w->place, in);
	if (!n)
		n = dbg_lines_inlined(w->module->m, w->place, in);
	return w->source.path && w->depth <= n ? n - w->depth : 0;
}

void where_say(const struct where *w, struct text *out)
{
	if (w->source.path)
		text_printf(out, "%s:%u", file_base_name(w->source.path), w->source.line);
	else if (w->module)
		text_printf(out, "%s:%u", file_base_name(w->module->ptx->name), w->ptx_line);
	else
		text_puts(out, "?");
}

bool where_same_line(const struct where *a, const struct where *b)
{
	if (!a->source.path != !b->source.path || a->module != b->module)
		return false;
	if (!a->source.path)
		return a->ptx_line == b->ptx_line;
	return a->source.line == b->source.line && !strcmp(a->source.path, b->source.path);
}
