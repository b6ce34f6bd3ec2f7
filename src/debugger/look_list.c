/*
 * Text around a place: list, directory, info source, info line.
 */
#include "src/base/file.h"
#include "src/debugger/look_value.h"

#include <ctype.h>

#define LIST_LINES 10u
#define LIST_LINES_MAX 100000u

/* What a line of `list` means. */
struct list_place {
	const struct loaded *module;
	const char *path; /* NULL: PTX */
	u32 line;
};

/* ---- places ---- */

static struct loaded *module_of_focus(struct debugger *x, struct where *w)
{
	if (x->grid && x->focus.valid && focus_where(x, w))
		return w->module;
	return x->modules.len && loaded_open(x, x->modules.at[0]) ? x->modules.at[0] : NULL;
}

/* Where lists go on that say no file: the last one's, the focus', the program's only one. */
static bool default_place(struct debugger *x, struct list_place *out)
{
	struct where w = {0};
	struct loaded *l = module_of_focus(x, &w);

	*out = (struct list_place){.module = l, .line = 1};
	if (w.source.path || w.ptx_line) {
		out->path = w.source.path;
		out->line = w.source.path ? w.source.line : w.ptx_line;
	} else if (l) {
		out->path = dbg_lines_main_file(l->lines);
		for (size_t i = 1; i < x->modules.len && !out->path; i++)
			if (loaded_open(x, x->modules.at[i])) {
				out->module = x->modules.at[i];
				out->path = dbg_lines_main_file(x->modules.at[i]->lines);
			}
	}
	return out->module != NULL;
}

/* The same name, blanks and namespaces in front aside? */
static bool list_is_name(const char *full, const char *name)
{
	for (const char *at = full; at; at = strstr(at, "::"), at += at ? 2 : 0) {
		const char *a = at, *b = name;

		while (*a && *b) {
			a += strspn(a, " ");
			b += strspn(b, " ");
			if (*a != *b)
				break;
			a += *a != 0;
			b += *b != 0;
		}
		if (!*a && !*b)
			return true;
	}
	return false;
}

/* A function that is inlined everywhere. */
static bool inlined_place(struct loaded *l, const char *name, struct list_place *out)
{
	struct dbg_frame in[DBG_INLINE_MAX + 1];

	for (size_t k = 0; k < l->m->funcs.len; k++)
		for (u32 i = 0; i < l->m->funcs.at[k]->insns.len; i++) {
			u32 n = dbg_names_frames(l->names, l->lines,
						 (struct dbg_place){l->m->funcs.at[k], i}, in);

			for (u32 f = 0; f + 1 < n; f++)
				if (in[f].function && in[f].source.path &&
				    list_is_name(in[f].function, name)) {
					*out = (struct list_place){l, in[f].source.path,
								   in[f].source.line};
					return true;
				}
		}
	return false;
}

/* Where a function begins; false: none is called so. */
static bool function_place(struct debugger *x, const char *name, struct list_place *out)
{
	for (size_t i = 0; i < x->modules.len; i++) {
		struct loaded *l = x->modules.at[i];

		for (size_t k = 0; loaded_open(x, l) && k < l->m->funcs.len; k++) {
			const struct ir_func *f = l->m->funcs.at[k];
			struct where w;

			if (!f->has_body || !dbg_names_is_function(l->names, f, name))
				continue;
			w = where_of(x, (struct dbg_place){f, dbg_lines_body(l->lines, f)});
			*out = (struct list_place){l, w.source.path,
						   w.source.path ? w.source.line : w.ptx_line};
			return true;
		}
	}
	for (size_t i = 0; i < x->modules.len; i++)
		if (loaded_open(x, x->modules.at[i]) && inlined_place(x->modules.at[i], name, out))
			return true;
	return false;
}

/* The path of a file of some module that ends so. */
static bool file_place(struct debugger *x, const char *name, struct list_place *out)
{
	for (size_t i = 0; i < x->modules.len; i++) {
		struct loaded *l = x->modules.at[i];

		for (size_t k = 0; loaded_open(x, l) && k < l->m->files.len; k++)
			if (dbg_path_ends_in(l->m->files.at[k].path, name)) {
				*out = (struct list_place){l, l->m->files.at[k].path, 1};
				return true;
			}
		if (dbg_path_ends_in(l->ptx->name, name)) {
			*out = (struct list_place){l, NULL, 1};
			return true;
		}
	}
	return false;
}

static bool is_number(const char *s)
{
	return *s && !s[strspn(s, "0123456789")];
}

/* "12", "+3", "-3", "file.cu:12", "file.cu:function", "function". */
static bool read_line(struct debugger *x, const char *text, struct list_place *out)
{
	const char *colon = strrchr(text, ':');
	char *file;
	bool good;

	if (is_number(text) || ((*text == '+' || *text == '-') && is_number(text + 1))) {
		u32 n = (u32)strtoul(text + !isdigit((u8)*text), NULL, 10);

		if (!default_place(x, out)) {
			say_error(x, "No symbol table is loaded");
			return false;
		}
		if (x->look->list.first && x->look->list.module == out->module)
			out->path = x->look->list.path;
		out->line = *text == '+'   ? out->line + n
			    : *text == '-' ? (out->line > n ? out->line - n : 1)
					   : n;
		return true;
	}
	if (colon && (colon == text || colon[-1] != ':') && colon[1]) {
		file = strndup(text, (size_t)(colon - text));
		good = file && file_place(x, file, out);
		if (!good)
			say_error(x, "No source file named %s", file ? file : text);
		free(file);
		if (good && is_number(colon + 1))
			out->line = (u32)strtoul(colon + 1, NULL, 10);
		else if (good && !function_place(x, colon + 1, out)) {
			say_error(x, "Function \"%s\" not defined", colon + 1);
			good = false;
		}
		return good;
	}
	if (function_place(x, text, out))
		return true;
	if (!x->modules.len)
		say_error(x, "No symbol table is loaded");
	else
		say_error(x, "Function \"%s\" not defined", text);
	return false;
}

/* ---- list ---- */

static bool view_of(struct debugger *x, const struct list_place *p, struct source_view *v)
{
	struct text why = {0};
	bool good = p->path ? source_view_path(x, p->module, p->path, v, &why)
			    : source_view_ptx(p->module, v);

	if (!good && p->path)
		say_error(x, "%s", why.at);
	else if (!good)
		say_error(x, "The text of the PTX is not known");
	text_fini(&why);
	return good;
}

static void list_range(struct debugger *x, const struct list_place *p, u32 first, u32 last)
{
	struct source_view v;

	if (!view_of(x, p, &v))
		return;
	first = first ? first : 1;
	if (first > v.len) {
		say_error(x, "Line number %u out of range; \"%s\" has %u lines.", first, v.name,
			  v.len);
		return;
	}
	last = last > v.len ? v.len : last;
	source_say_lines(x, &v, first, last, 0);
	x->look->list.module = p->module;
	x->look->list.path = p->path;
	x->look->list.first = first;
	x->look->list.last = last;
	x->look->list.time = x->at.time;
	x->look->list.focus = x->focus;
}

/* As many as `set listsize` says. */
static u32 list_lines(const struct debugger *x)
{
	return x->look->list.size ? x->look->list.size : LIST_LINES;
}

static void list_around(struct debugger *x, const struct list_place *p)
{
	u32 first = p->line > list_lines(x) / 2 ? p->line - list_lines(x) / 2 : 1;

	list_range(x, p, first, first + list_lines(x) - 1);
}

/* Nothing has moved since the last list. */
static bool goes_on(const struct debugger *x)
{
	const struct focus *a = &x->look->list.focus, *b = &x->focus;

	return x->look->list.first && x->look->list.time == x->at.time && a->valid == b->valid &&
	       a->launch == b->launch && a->cta == b->cta && a->warp == b->warp &&
	       a->lane == b->lane && a->frame == b->frame;
}

static void list_on(struct debugger *x, bool back)
{
	struct list_place p = {x->look->list.module, x->look->list.path, 0};
	u32 first = x->look->list.first;

	if (!goes_on(x)) {
		if (!default_place(x, &p))
			say_error(x, "No symbol table is loaded");
		else
			list_around(x, &p);
	} else if (!back) {
		list_range(x, &p, x->look->list.last + 1, x->look->list.last + list_lines(x));
	} else if (first == 1) {
		say_error(x, "Already at the start of the text");
	} else {
		list_range(x, &p, first > list_lines(x) ? first - list_lines(x) : 1, first - 1);
	}
}

/* "A,B", "A,", ",B" */
static void list_comma(struct debugger *x, const char *text, const char *comma)
{
	char *a = strndup(text, (size_t)(comma - text));
	const char *b = comma + 1 + strspn(comma + 1, " ");
	struct list_place first, last;
	size_t n = a ? strlen(a) : 0;
	bool good = a != NULL;

	while (n && a[n - 1] == ' ')
		a[--n] = 0;
	good = good && (!n || read_line(x, a, &first));
	if (good && *b)
		good = read_line(x, b, &last);
	if (good && n && *b && last.line < first.line) {
		say_error(x, "Second line %u is before the first, %u", last.line, first.line);
		good = false;
	}
	if (good && n)
		list_range(x, &first, first.line, *b ? last.line : first.line + list_lines(x) - 1);
	else if (good && *b)
		list_range(x, &last, last.line >= list_lines(x) ? last.line - list_lines(x) + 1 : 1,
			   last.line);
	free(a);
}

void command_list(struct debugger *x, const struct call *c)
{
	const char *comma = strchr(c->args, ',');
	struct list_place p;

	if (c->repeated || !*c->args)
		list_on(x, c->repeated && !strcmp(c->args, "-"));
	else if (!strcmp(c->args, "-"))
		list_on(x, true);
	else if (comma && !strchr(c->args, '<') && !strchr(c->args, '('))
		list_comma(x, c->args, comma);
	else if (read_line(x, c->args, &p))
		list_around(x, &p);
}

/* ---- directory ---- */

void command_directory(struct debugger *x, const struct call *c)
{
	struct look *k = x->look;
	const char *s = c->args;

	sources_forget(k);
	if (!*s) {
		for (size_t i = 0; i < k->directories.len; i++)
			free(k->directories.at[i]);
		k->directories.len = 0;
	}
	while (*s) {
		size_t n = strcspn(s, ": \t");
		char *one = n ? strndup(s, n) : NULL;

		if (one && !VEC_PUSH(&k->directories, one))
			free(one);
		s += n + (s[n] != 0);
	}
	say(x, "Source directories searched: ");
	for (size_t i = 0; i < k->directories.len; i++)
		say(x, "%s:", k->directories.at[i]);
	say(x, "as written\n");
}

/* A state_writer. */
void directories_write(struct debugger *x, struct text *out)
{
	for (size_t i = 0; i < x->look->directories.len; i++)
		text_printf(out, "directory %s\n", x->look->directories.at[i]);
}

/* ---- info source, info line ---- */

void command_info_source(struct debugger *x, const struct call *c PL_UNUSED)
{
	struct list_place p;
	struct source_view v;
	struct text why = {0};

	if (!default_place(x, &p)) {
		say_error(x, "No current source file");
		return;
	}
	say(x, "PTX %s\n", p.module->ptx->name);
	if (p.path) {
		say(x, "Current source file is %s\n", p.path);
		if (source_view_path(x, p.module, p.path, &v, &why))
			say(x, "It has %u lines.\n", v.len);
		else
			say(x, "%s\n", why.at);
	}
	say(x, "%s\n",
	    dbg_names_has_dwarf(p.module->names) ? "Its names come from DWARF."
						 : "Its names are not known: there is no DWARF.");
	text_fini(&why);
}

void command_info_line(struct debugger *x, const struct call *c)
{
	struct list_place p;
	u32 found = 0;

	if (!(*c->args ? read_line(x, c->args, &p) : default_place(x, &p)))
		return;
	if (!p.path) {
		say(x, "Line %u of the PTX itself.\n", p.line);
		return;
	}
	for (size_t i = 0; i < x->modules.len; i++) {
		struct loaded *l = x->modules.at[i];
		struct dbg_finds f = {0};

		if (loaded_open(x, l) && dbg_lines_find(l->lines, p.path, p.line, &f))
			for (size_t k = 0; k < f.len; k++, found++)
				say(x,
				    "Line %u of \"%s\" begins at line %u of the PTX, "
				    "instruction %u of %s.\n",
				    f.at[k].line, file_base_name(f.at[k].path),
				    loaded_ptx_line(l, f.at[k].place), f.at[k].place.insn,
				    dbg_names_function(l->names, f.at[k].place.func));
		dbg_finds_free(&f);
	}
	if (!found)
		say(x, "Line %u of \"%s\" has no code, nor has any after it.\n", p.line, p.path);
}

void command_set_listsize(struct debugger *x, const struct call *c)
{
	u64 n;

	if (!debugger_number(x, c->args, &n))
		return;
	if (n && n <= LIST_LINES_MAX)
		x->look->list.size = (u32)n;
	else
		say_error(x, "listsize is between 1 and %u", LIST_LINES_MAX);
}

void command_show_listsize(struct debugger *x, const struct call *c PL_UNUSED)
{
	say(x, "`list` shows %u lines.\n", list_lines(x));
}

void listsize_write(struct debugger *x, struct text *out)
{
	if (x->look->list.size)
		text_printf(out, "set listsize %u\n", x->look->list.size);
}
