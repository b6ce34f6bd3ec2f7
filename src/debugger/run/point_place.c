/*
 * From what users call a place to instructions of loaded code.
 */
#include "src/debugger/debugger_int.h"

#include "src/ir/leaving.h"
#include "src/ir/source.h"

#include <ctype.h>

/* ---- reading ---- */

static bool read_whole(const char *s, u32 *out)
{
	char *end;
	u64 n;

	if (!isdigit((u8)*s))
		return false;
	n = strtoull(s, &end, 0);
	*out = (u32)n;
	return !*end && n && n < UINT32_MAX;
}

static bool location_instruction(const char *text, struct location *out)
{
	const char *plus = strrchr(text, '+');
	size_t n;

	text += strspn(text, " \t");
	if (isdigit((u8)*text)) {
		out->insn = (u32)strtoul(text, NULL, 0);
		return true;
	}
	n = plus ? (size_t)(plus - text) : strlen(text);
	while (n && (text[n - 1] == ' ' || text[n - 1] == '>'))
		n--;
	if (plus) {
		plus++;
		plus += strspn(plus, " ");
		if (!isdigit((u8)*plus))
			return false;
		out->insn = (u32)strtoul(plus, NULL, 0);
	}
	n -= n && *text == '<';
	out->function = strndup(text + (*text == '<'), n);
	return n && out->function;
}

/* "b.cu" of "b.cu:function", not "ns" of "ns::function"; 0: there is no file. */
static size_t location_file_length(const char *text)
{
	const char *colon = strchr(text, ':');

	return colon && colon > text && colon[1] != ':' &&
			       !memchr(text, '<', (size_t)(colon - text)) &&
			       !memchr(text, '(', (size_t)(colon - text))
		       ? (size_t)(colon - text)
		       : 0;
}

bool location_parse(struct debugger *x, const char *text, struct location *out)
{
	const char *colon = strrchr(text, ':');
	bool good = true;

	*out = (struct location){0};
	if (*text == '*') {
		out->kind = AT_INSTRUCTION;
		good = location_instruction(text + 1, out);
	} else if (read_whole(text, &out->line)) {
		out->kind = AT_LINE;
	} else if (colon && colon > text && colon[-1] != ':' && read_whole(colon + 1, &out->line)) {
		out->kind = AT_LINE;
		out->file = strndup(text, (size_t)(colon - text));
		good = out->file != NULL;
	} else if (colon && (colon == text || colon[-1] != ':') && !strchr(text, '(') &&
		   !isalpha((u8)colon[1]) && colon[1] != '_') {
		good = false; /* "FILE:" and no line */
	} else {
		size_t file = location_file_length(text);

		out->file = file ? strndup(text, file) : NULL;
		text += file ? file + 1 : 0;
		out->kind = AT_FUNCTION;
		good = isalpha((u8)*text) || strchr("_$%:(~", *text);
		out->function = good ? strdup(text) : NULL;
		good = good && out->function && *text;
	}
	if (!good)
		say_error(x, "\"%s\" is not a line, function or *FUNCTION+INSTRUCTION.", text);
	return good;
}

void location_fini(struct location *l)
{
	free(l->file);
	free(l->function);
	*l = (struct location){0};
}

/* ---- finding ---- */

static bool add_place(struct debugger *x, point_places *out, struct dbg_place at, bool guarded)
{
	struct point_place p = {at, 0, guarded};
	struct where w;

	if (at.insn >= at.func->insns.len)
		return true;
	for (size_t i = 0; i < out->len; i++)
		if (out->at[i].place.func == at.func && out->at[i].place.insn == at.insn)
			return true;
	w = where_of(x, at);
	p.inlined = where_frame(&w);
	return VEC_PUSH(out, p);
}

bool point_add_place(struct debugger *x, point_places *out, struct dbg_place at)
{
	return add_place(x, out, at, false);
}

static bool is_flow(const struct ir_insn *in)
{
	return ir_leaving(in) != IR_GOES_ON || ir_opcode(in) == OPCODE_call;
}

/* The first instruction at or after a line of the PTX, in the function that the line is in. */
static bool find_ptx_line(struct debugger *x, struct loaded *l, u32 line, point_places *out)
{
	struct dbg_place best = {NULL, 0};
	u32 best_line = UINT32_MAX;

	for (size_t f = 0; f < l->m->funcs.len; f++) {
		const struct ir_func *func = l->m->funcs.at[f];

		for (u32 i = 0; i < func->insns.len; i++) {
			u32 at = loaded_ptx_line(l, (struct dbg_place){func, i});

			if (at >= line && at < best_line) {
				best_line = at;
				best = (struct dbg_place){func, i};
			}
		}
	}
	if (!best.func)
		return true;
	return add_place(x, out, best, !is_flow(&best.func->insns.at[best.insn]));
}

/* Functions of one line: the statement, when parameters have been fetched. */
static struct dbg_place behind_parameters(struct loaded *l, struct dbg_place at)
{
	struct dbg_place body = {at.func, dbg_lines_body(l->lines, at.func)};

	if (at.insn < body.insn &&
	    dbg_lines_step(l->lines, at, NULL).line == dbg_lines_step(l->lines, body, NULL).line)
		return body;
	return at;
}

static bool find_source_line(struct debugger *x, struct loaded *l, const char *file, u32 line,
			     point_places *out)
{
	struct dbg_finds found;
	bool good = dbg_lines_find(l->lines, file, line, &found);

	for (size_t i = 0; i < found.len && good; i++)
		good = add_place(x, out, behind_parameters(l, found.at[i].place), false);
	dbg_finds_free(&found);
	return good;
}

/* Has it a kernel, and no source to speak of? */
static bool is_bare(const struct loaded *l)
{
	bool kernel = false;

	for (size_t f = 0; f < l->m->funcs.len && !l->has_source; f++)
		kernel |= l->m->funcs.at[f]->is_entry;
	return kernel;
}

/* The file that a line number alone means: that of the focus, else the only one with kernels. */
static const char *location_default_file(struct debugger *x)
{
	const char *only = NULL;
	struct where w;

	if (focus_where(x, &w) && w.source.path)
		return w.source.path;
	for (size_t i = 0; i < x->modules.len; i++) {
		struct loaded *l = x->modules.at[i];
		const char *path =
			l->has_source && loaded_open(x, l) ? dbg_lines_main_file(l->lines) : NULL;

		if (path && only && strcmp(path, only) != 0)
			return NULL;
		only = path ? path : only;
	}
	return only;
}

static bool find_line(struct debugger *x, struct location *l, point_places *out)
{
	const char *file = l->file ? l->file : location_default_file(x);
	bool good = true;

	/* From now on it means this file. */
	if (file && !l->file)
		l->file = strdup(file);
	for (size_t i = 0; i < x->modules.len && good; i++) {
		struct loaded *m = x->modules.at[i];

		if (!loaded_open(x, m))
			continue;
		if (file && dbg_path_ends_in(m->ptx->name, file))
			good = find_ptx_line(x, m, l->line, out);
		else if (file)
			good = find_source_line(x, m, file, l->line, out);
		else if (is_bare(m))
			good = find_ptx_line(x, m, l->line, out);
	}
	return good;
}

struct inlined_calls {
	u64 *at;
	size_t len, cap;
};

static bool seen_before(const struct inlined_calls *seen, u64 id)
{
	for (size_t i = 0; i < seen->len; i++)
		if (seen->at[i] == id)
			return true;
	return false;
}

/* The call around an instruction of a function of this name, 0: none; `at` is where it begins. */
static u64 inlined_call(struct loaded *m, struct dbg_place at, const struct dbg_inline *around,
			u32 n, const char *name)
{
	struct dbg_frame in[DBG_INLINE_MAX + 1];
	u32 k = 0;

	n = (u32)min_u64(n, dbg_names_frames(m->names, m->lines, at, in) - 1);
	while (k < n && !dbg_names_same(in[k].function, name))
		k++;
	return k < n ? around[k].id : 0;
}

/* Is the function, whose code begins there, in the file that is meant? */
static bool is_in_file(const struct loaded *m, const struct location *l, struct dbg_place at)
{
	struct dbg_source source;

	if (!l->file)
		return true;
	source = dbg_lines_step(m->lines, at, NULL);
	return dbg_path_ends_in(source.path ? source.path : m->ptx->name, l->file);
}

/* Where code of a function begins that was inlined into others. */
static bool find_inlined(struct debugger *x, struct loaded *m, const struct ir_func *f,
			 const struct location *l, point_places *out)
{
	struct dbg_inline around[DBG_INLINE_MAX];
	struct inlined_calls seen = {0};
	u64 last = 0;
	u32 last_n = 0;
	bool good = true;

	for (u32 i = 0; i < f->insns.len && good; i++) {
		struct dbg_place at = {f, i};
		u32 n = dbg_names_inlined(m->names, at, around);
		u64 id;

		if (!n)
			n = dbg_lines_inlined(m->m, at, around);
		/* Most are in the same calls as the one before. */
		if (n == last_n && (!n || around[0].id == last))
			continue;
		last_n = n;
		last = n ? around[0].id : 0;
		id = n ? inlined_call(m, at, around, n, l->function) : 0;
		if (id && !seen_before(&seen, id) && is_in_file(m, l, at))
			good = VEC_PUSH(&seen, id) && add_place(x, out, at, false);
	}
	VEC_FREE(&seen);
	return good;
}

static bool find_function_places(struct debugger *x, struct loaded *m, const struct location *l,
				 point_places *out)
{
	bool good = true;

	for (size_t i = 0; i < m->m->funcs.len && good; i++) {
		const struct ir_func *f = m->m->funcs.at[i];
		struct dbg_place at = {f, l->insn};

		if (!f->insns.len)
			continue;
		if (dbg_names_is_function(m->names, f, l->function)) {
			if (l->kind == AT_FUNCTION)
				at.insn = dbg_lines_body(m->lines, f);
			good = !is_in_file(m, l, at) || add_place(x, out, at, false);
		} else if (l->kind == AT_FUNCTION) {
			good = find_inlined(x, m, f, l, out);
		}
	}
	return good && (l->kind != AT_FUNCTION || point_find_inlined(x, m, l, out));
}

bool location_find(struct debugger *x, struct location *l, point_places *out)
{
	bool good = true;
	struct where w;

	if (l->kind == AT_LINE)
		return find_line(x, l, out);
	if (!l->function)
		return !focus_where(x, &w) ||
		       add_place(x, out, (struct dbg_place){w.place.func, l->insn}, false);
	for (size_t i = 0; i < x->modules.len && good; i++)
		if (loaded_open(x, x->modules.at[i]))
			good = find_function_places(x, x->modules.at[i], l, out);
	return good;
}

void points_resolve(struct debugger *x)
{
	for (size_t i = 0; i < x->points.at.len; i++) {
		struct point *p = x->points.at.at[i];

		if (p->kind != POINT_BREAK)
			continue;
		p->places.len = 0;
		dbg_expr_free(p->expr);
		p->expr = NULL;
		location_find(x, &p->at, &p->places);
	}
	x->points.stale = true;
}

/* ---- break ---- */

const char *condition_begin(const char *s)
{
	u32 depth = 0;

	for (const char *at = s; *at; at++) {
		depth += *at == '(';
		depth -= depth && *at == ')';
		if (!depth && !strncmp(at, "if", 2) && (at == s || isspace((u8)at[-1])) &&
		    (isspace((u8)at[2]) || at[2] == '(' || (!at[2] && at > s)))
			return at;
	}
	return NULL;
}

static bool is_file_known(const struct debugger *x, const char *file)
{
	for (size_t i = 0; i < x->modules.len; i++) {
		const struct ir_module *m = x->modules.at[i]->m;

		for (size_t k = 0; k < m->files.len; k++)
			if (dbg_path_ends_in(m->files.at[k].path, file))
				return true;
	}
	return false;
}

/* Code is loaded, and the place is not in it: a slip of the pen, maybe. */
static void say_not_there(struct debugger *x, const struct location *l)
{
	if (l->kind != AT_LINE && l->function && l->file && is_file_known(x, l->file))
		say(x, "Function \"%s\" not defined in \"%s\".\n", l->function, l->file);
	else if (l->kind != AT_LINE && l->function && !l->file)
		say(x, "Function \"%s\" not defined.\n", l->function);
	else if (l->file && is_file_known(x, l->file))
		say(x, "No line %u in file \"%s\".\n", l->line, l->file);
	else if (l->file)
		say(x, "No source file named %s.\n", l->file);
}

static void say_made(struct debugger *x, struct point *p)
{
	struct text t = {0};
	struct where w;

	if (!p->places.len) {
		say(x, "%s %u at %s, when its code is loaded.\n", point_title(p), p->number,
		    p->text);
		if (x->modules.len)
			say_not_there(x, &p->at);
		return;
	}
	w = where_of(x, p->places.at[0].place);
	where_say(&w, &t);
	say(x, "%s %u at %s", point_title(p), p->number, t.at);
	if (p->places.len > 1)
		say(x, ", %zu places", p->places.len);
	say(x, ".\n");
	text_fini(&t);
}

/* The location of args, "": where the focus is. Owned; NULL after a message. */
static char *take_location(struct debugger *x, const char *args, const char **condition)
{
	const char *at = condition_begin(args);
	size_t n = at ? (size_t)(at - args) : strlen(args);
	struct text t = {0};
	struct where w;

	*condition = at ? at + 2 + strspn(at + 2, " \t") : "";
	if (at && !**condition) {
		say_error(x, "A condition is needed behind `if`.");
		return NULL;
	}
	while (n && isspace((u8)args[n - 1]))
		n--;
	if (n)
		return strndup(args, n);
	if (!focus_where(x, &w)) {
		say_error(x, "A line, function or *FUNCTION+INSTRUCTION is needed.");
		return NULL;
	}
	if (w.source.path)
		text_printf(&t, "%s:%u", w.source.path, w.source.line);
	else
		text_printf(&t, "*%s+%u", w.place.func->name->text, w.place.insn);
	return t.at;
}

/* A new one at a location, which it frees; NULL after a message. */
static struct point *break_at(struct debugger *x, char *text)
{
	struct location at;
	struct point *p;

	if (!text)
		return NULL;
	if (!location_parse(x, text, &at)) {
		free(text);
		location_fini(&at);
		return NULL;
	}
	p = point_new(x, POINT_BREAK, text);
	free(text);
	if (!p) {
		location_fini(&at);
		say_error(x, "Out of memory for a breakpoint.");
		return NULL;
	}
	p->at = at;
	location_find(x, &p->at, &p->places);
	return p;
}

/* What gdb has behind a location beside conditions. */
static bool has_thread(struct debugger *x, const char *args)
{
	const char *at = strstr(args, " thread ");

	if (!at || !isdigit((u8)at[8]) || (condition_begin(args) && condition_begin(args) < at))
		return false;
	say_error(x,
		  "A breakpoint is of all threads; a condition chooses some: break %.*s if "
		  "threadIdx.x == %s",
		  (int)(at - args), args, at + 8);
	return true;
}

static void make_break(struct debugger *x, const struct call *c, bool temporary)
{
	const char *condition;
	struct point *p;

	if (has_thread(x, c->args))
		return;
	p = break_at(x, take_location(x, c->args, &condition));
	if (!p)
		return;
	p->temporary = temporary;
	if (point_set_condition(x, p, condition))
		say_made(x, p);
	else
		point_unmake(x, p);
}

void command_dprintf(struct debugger *x, const struct call *c)
{
	const char *comma = c->args, *text = NULL;
	struct point *p;

	for (; !text && (comma = strchr(comma, ',')); comma++)
		if (comma[1 + strspn(comma + 1, " \t")] == '"')
			text = comma + 1 + strspn(comma + 1, " \t");
	if (!text) {
		say_error(x, "dprintf needs LOCATION,\"TEXT\" and values after commas");
		return;
	}
	comma = text;
	while (*comma != ',')
		comma--;
	p = break_at(x, strndup(c->args, (size_t)(comma - c->args)));
	if (!p)
		return;
	p->print = strdup(text);
	if (p->print)
		say_made(x, p);
	else
		say_error(x, "Out of memory for a breakpoint.");
}

void command_break(struct debugger *x, const struct call *c)
{
	make_break(x, c, false);
}

void command_tbreak(struct debugger *x, const struct call *c)
{
	make_break(x, c, true);
}

/* Delete the breakpoints at a location. */
void command_clear(struct debugger *x, const struct call *c)
{
	const char *condition;
	char *text = take_location(x, c->args, &condition);
	point_places places = {0};
	struct location at = {0};
	bool any = false;

	if (text && location_parse(x, text, &at))
		location_find(x, &at, &places);
	for (size_t i = 0; i < x->points.at.len;) {
		struct point *p = x->points.at.at[i];
		bool same = false;

		for (size_t k = 0; k < places.len * p->places.len && !same; k++) {
			const struct point_place *a = &places.at[k % places.len],
						 *b = &p->places.at[k / places.len];

			same = a->place.func == b->place.func && a->place.insn == b->place.insn;
		}
		if (same) {
			say(x, "Deleted breakpoint %u\n", p->number);
			point_delete(x, p);
		}
		any |= same;
		i += !same;
	}
	if (text && !any && !x->failed)
		say_error(x, "No breakpoint at %s.", text);
	VEC_FREE(&places);
	location_fini(&at);
	free(text);
}
