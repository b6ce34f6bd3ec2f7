/*
 * All names of the program: info functions, info variables, info types, info sources.
 */
#include "src/debugger/look_value.h"

#include <regex.h>
#include <stdlib.h>

/* A line of the listing. */
struct name_row {
	char *path; /* of the file; "": none, it comes last */
	u32 line;
	char *name; /* what it is sorted by */
	char *text;
	bool plain; /* without debug information */
};

struct name_list {
	struct debugger *x;
	struct dbg_context c;
	struct loaded *module;
	enum dbg_symbols kind;
	regex_t regex;
	bool has_regex, failed;
	VEC(struct name_row) rows;
};

static void rows_free(struct name_list *l)
{
	for (size_t i = 0; i < l->rows.len; i++) {
		free(l->rows.at[i].path);
		free(l->rows.at[i].name);
		free(l->rows.at[i].text);
	}
	VEC_FREE(&l->rows);
	if (l->has_regex)
		regfree(&l->regex);
}

/* False after a message. */
static bool read_regex(struct debugger *x, const char *text, struct name_list *l)
{
	char why[128];
	int bad;

	if (!*text)
		return true;
	bad = regcomp(&l->regex, text, REG_EXTENDED | REG_NOSUB);
	if (bad) {
		regerror(bad, &l->regex, why, sizeof(why));
		say_error(x, "Invalid regexp: %s: %s", why, text);
		return false;
	}
	l->has_regex = true;
	return true;
}

static bool name_is_wanted(const struct name_list *l, const char *name)
{
	return !l->has_regex || regexec(&l->regex, name, 0, NULL, 0) == 0;
}

/* ---- rows ---- */

/* Takes the text. */
static void add_row(struct name_list *l, const char *path, u32 line, const char *name,
		    struct text *text, bool plain)
{
	struct name_row r = {strdup(path ? path : ""), line, strdup(name), text->at, plain};

	if (!r.path || !r.name || !r.text || text->failed || !VEC_PUSH(&l->rows, r)) {
		free(r.path);
		free(r.name);
		free(r.text);
		l->failed = true;
	}
	*text = (struct text){0};
}

/* Where the name of a demangled function begins: behind the result that those of templates have. */
static const char *function_begin(const char *name)
{
	const char *begin = name;
	u32 depth = 0;

	for (const char *s = name; *s && (depth || *s != '('); s++) {
		depth += *s == '<' || *s == '(';
		depth -= depth && (*s == '>' || *s == ')');
		if (!depth && *s == ' ')
			begin = s + 1;
	}
	return strncmp(name, "(anonymous", 10) != 0 ? begin : name;
}

static void put_function(const struct dbg_symbol *s, struct text *out)
{
	struct dbg_type *result = dbg_type_strip(s->type)->target;

	text_puts(out, s->is_static ? "static " : "");
	if (strchr(s->name, '(')) {
		dbg_type_print(result ? result : &dbg_type_void, function_begin(s->name), out);
	} else {
		dbg_type_print(s->type, s->name, out);
	}
	text_puts(out, ";");
}

static void put_type(const struct dbg_symbol *s, struct text *out)
{
	if (s->type->kind == DBG_TYPEDEF) {
		text_puts(out, "typedef ");
		dbg_type_print(s->type->target ? s->type->target : &dbg_type_void, s->name, out);
	} else {
		text_puts(out, s->name);
	}
	text_puts(out, s->line ? ";" : "");
}

/* "0x0000000000000020  first(int*)" */
static void put_plain(struct name_list *l, const struct dbg_symbol *s, struct text *out)
{
	const struct dbg_target *t = l->c.target; /* NULL: nothing is loaded, only read */
	u64 address;
	bool known = !t        ? false
		     : s->func ? t->function(t->user, s->func, &address) == DBG_OK
			       : t->variable(t->user, &l->c.lane, s->var, &address) == DBG_OK;

	if (known)
		text_printf(out, "0x%016llx  %s", (unsigned long long)address, s->name);
	else
		text_printf(out, "%18s  %s", s->var ? dbg_space_name(dbg_space_of(s->var)) : "?",
			    s->name);
}

static void see_symbol(void *user, const struct dbg_symbol *s)
{
	struct name_list *l = user;
	bool plain = s->func || s->var;
	struct text t = {0};

	if (!name_is_wanted(l, s->name))
		return;
	if (plain)
		put_plain(l, s, &t);
	else if (l->kind == DBG_ALL_FUNCTIONS)
		put_function(s, &t);
	else if (l->kind == DBG_ALL_TYPES)
		put_type(s, &t);
	else {
		text_puts(&t, s->is_static ? "static " : "");
		dbg_type_print(s->type ? s->type : &dbg_type_void, s->name, &t);
		text_puts(&t, ";");
	}
	add_row(l, s->path, s->line, s->name, &t, plain);
}

/* Files by name, what is in none behind them, what has no debug information last. */
static int compare_rows(const void *left, const void *right)
{
	const struct name_row *a = left, *b = right;
	int order = a->plain != b->plain ? a->plain - b->plain : !*a->path - !*b->path;

	order = order ? order : strcmp(a->path, b->path);
	order = order ? order : strcmp(a->name, b->name);
	order = order ? order : strcmp(a->text, b->text);
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

static bool same_row(const struct name_row *a, const struct name_row *b)
{
	return compare_rows(a, b) == 0;
}

static void say_rows(struct name_list *l)
{
	const struct name_row *last = NULL;

	for (size_t i = 0; i < l->rows.len; i++) {
		const struct name_row *r = &l->rows.at[i];

		if (last && same_row(last, r))
			continue;
		if (r->plain && (!last || !last->plain))
			say(l->x, "\nNon-debugging symbols:\n");
		else if (!r->plain && *r->path && (!last || strcmp(last->path, r->path) != 0))
			say(l->x, "\nFile %s:\n", r->path);
		else if (!r->plain && !*r->path && !last)
			say(l->x, "\n");
		if (r->line)
			say(l->x, "%u:", r->line);
		say(l->x, "%s%s\n", r->plain ? "" : "\t", r->text);
		last = r;
	}
}

static void say_names(struct debugger *x, const struct call *c, enum dbg_symbols kind,
		      const char *what)
{
	struct name_list l = {.x = x, .kind = kind};

	context_now(x, &l.c);
	if (!read_regex(x, c->args, &l))
		return;
	for (size_t i = 0; i < x->modules.len; i++) {
		l.module = x->modules.at[i];
		if (loaded_open(x, l.module))
			dbg_names_symbols(l.module->names, kind, see_symbol, &l);
	}
	if (l.rows.len)
		qsort(l.rows.at, l.rows.len, sizeof(l.rows.at[0]), compare_rows);
	if (l.has_regex)
		say(x, "All %s matching regular expression \"%s\":\n", what, c->args);
	else
		say(x, "All defined %s:\n", what);
	say_rows(&l);
	if (l.failed)
		say_error(x, "no memory for all of them");
	rows_free(&l);
}

void command_info_functions(struct debugger *x, const struct call *c)
{
	say_names(x, c, DBG_ALL_FUNCTIONS, "functions");
}

void command_info_variables(struct debugger *x, const struct call *c)
{
	say_names(x, c, DBG_ALL_VARIABLES, "variables");
}

void command_info_types(struct debugger *x, const struct call *c)
{
	say_names(x, c, DBG_ALL_TYPES, "types");
}

/* ---- info sources ---- */

void command_info_sources(struct debugger *x, const struct call *c)
{
	struct name_list l = {.x = x};

	if (!read_regex(x, c->args, &l))
		return;
	for (size_t i = 0; i < x->modules.len; i++) {
		const struct loaded *m = x->modules.at[i];
		const char *join = "";

		say(x, "%s%s:\n\n", i ? "\n" : "", m->ptx->name);
		for (size_t k = 0; k < m->m->files.len; k++) {
			const char *path = m->m->files.at[k].path;

			if (!path || !name_is_wanted(&l, path))
				continue;
			say(x, "%s%s", join, path);
			join = ", ";
		}
		say(x, *join ? "\n" : "(no source is known)\n");
	}
	if (!x->modules.len)
		say(x, "No device code is loaded.\n");
	rows_free(&l);
}
