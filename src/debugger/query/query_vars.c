/*
 * Queries about values: scopes of a frame, variables and their parts, the value in each lane,
 * expressions, memory.
 */
#include "src/debugger/query/query_int.h"

#include <stdlib.h>
#include <string.h>

/* Parts of one reply. */
#define PARTS_MAX 1000u
/* Characters of a value in a row. */
#define VALUE_MAX 400u
#define MEMORY_MAX (1u << 20)

static const struct dbg_format short_format = {.elements = 16};

/* ---- one value ---- */

static void value_text(const struct dbg_context *c, const struct dbg_value *v, struct text *out)
{
	struct text why = {0};
	size_t from = out->len;

	if (!dbg_value_print(c, v, &short_format, out, &why)) {
		out->len = from;
		text_printf(out, "<%s>", why.at ? why.at : "no value");
	}
	if (out->len - from > VALUE_MAX) {
		out->len = from + VALUE_MAX;
		out->at[out->len] = '\0';
		text_puts(out, "...");
	}
	text_fini(&why);
}

/* How many parts a value has to look into: members, elements, what a pointer points to. */
static u64 child_count(struct dbg_type *type, bool *indexed)
{
	struct dbg_type *t = dbg_type_refers(type);

	*indexed = t->kind == DBG_ARRAY && t->counted;
	if (*indexed)
		return t->count;
	if (t->number != DBG_PLAIN)
		return 0;
	if (t->kind == DBG_STRUCT) {
		dbg_type_fill(t);
		return t->members_len;
	}
	if (t->kind == DBG_POINTER && t->target) {
		struct dbg_type *to = dbg_type_strip(t->target);

		return to->kind != DBG_VOID && to->kind != DBG_FUNCTION && to->kind != DBG_OPAQUE;
	}
	return 0;
}

/*
 * The members of a row about a value; expression: how to come to it again. lanes: what has no parts
 * can be opened all the same, and shows its value in each lane.
 */
static void value_members(struct debugger *x, struct json *j, const struct focus *f,
			  const struct dbg_context *c, const struct dbg_value *v,
			  const char *value_name, const char *expression, bool lanes)
{
	struct text t = {0};
	bool indexed;
	u64 parts = child_count(v->type, &indexed);

	value_text(c, v, &t);
	json_string(j, value_name, t.at ? t.at : "");
	t.len = 0;
	dbg_type_print(v->type, NULL, &t);
	json_string(j, "type", t.at ? t.at : "");
	json_string(j, "evaluateName", expression);
	if (!parts && lanes) {
		parts = WARP_LANES;
		indexed = true;
		json_number(j, "variablesReference", query_refer(x, QUERY_LANES, f, expression));
	} else {
		json_number(j, "variablesReference",
			    parts ? query_refer(x, QUERY_VALUE, f, expression) : 0);
	}
	if (parts)
		json_number(j, indexed ? "indexedVariables" : "namedVariables", (s64)parts);
	if (v->store == DBG_MEMORY) {
		t.len = 0;
		text_printf(&t, "0x%llx", (unsigned long long)dbg_generic(c, v->space, v->address));
		json_string(j, "memoryReference", t.at);
	}
	text_fini(&t);
}

static void comma_open(struct json *j)
{
	if (j->more)
		text_puts(j->out, ",");
	json_open(j, '{');
}

/*
 * Evaluate in the frame of a focus; false with one line in `why`. The caller frees *e in any case.
 */
static bool evaluate_text(struct debugger *x, const struct focus *f, const char *expression,
			  struct dbg_context *c, struct dbg_expr **e, struct dbg_value *v,
			  struct text *why)
{
	*e = NULL;
	if (!context_of(x, f, c)) {
		text_puts(why, "the lane is not there");
		return false;
	}
	*e = dbg_expr_parse(c, expression, why);
	return *e && dbg_expr_eval(*e, c, v, why);
}

/* A row for an expression, whose value may not be had. */
static void expression_row(struct debugger *x, struct json *j, const struct focus *f,
			   const char *name, const char *expression, bool lanes)
{
	struct dbg_context c;
	struct dbg_expr *e;
	struct dbg_value v;
	struct text why = {0};

	comma_open(j);
	json_string(j, "name", name);
	if (evaluate_text(x, f, expression, &c, &e, &v, &why)) {
		value_members(x, j, f, &c, &v, "value", expression, lanes);
	} else {
		struct text t = {0};

		text_printf(&t, "<%s>", why.at ? why.at : "no value");
		json_string(j, "value", t.at ? t.at : "");
		json_number(j, "variablesReference", 0);
		text_fini(&t);
	}
	json_close(j, '}');
	dbg_expr_free(e);
	text_fini(&why);
}

/* ---- parts ---- */

/* Is the row asked for? Rows before and after are counted only. */
struct page {
	u64 at, start, end;
};

static bool page_has(struct page *p)
{
	u64 n = p->at++;

	return n >= p->start && n < p->end;
}

static void member_rows(struct debugger *x, struct json *j, const struct focus *f, const char *of,
			struct dbg_type *t, struct page *p, u32 depth)
{
	dbg_type_fill(t);
	for (u32 i = 0; i < t->members_len && depth < 16; i++) {
		const struct dbg_member *m = &t->members[i];
		struct dbg_type *type = dbg_type_strip(m->type);
		struct text expression = {0};

		/* Members of bases and of what has no name are reached as the object's own. */
		if ((m->base || !*m->name) && type->kind == DBG_STRUCT) {
			member_rows(x, j, f, of, type, p, depth + 1);
			continue;
		}
		text_printf(&expression, "(%s).%s", of, m->name);
		if (page_has(p) && expression.at)
			expression_row(x, j, f, m->name, expression.at, false);
		text_fini(&expression);
	}
}

static void element_rows(struct debugger *x, struct json *j, const struct focus *f, const char *of,
			 u64 count, const struct page *p)
{
	for (u64 i = p->start; i < count && i < p->end; i++) {
		char name[32];
		struct text expression = {0};

		snprintf(name, sizeof(name), "[%llu]", (unsigned long long)i);
		text_printf(&expression, "(%s)%s", of, name);
		if (expression.at)
			expression_row(x, j, f, name, expression.at, false);
		text_fini(&expression);
	}
}

static void part_rows(struct debugger *x, struct json *j, const struct focus *f, const char *of,
		      struct page *p)
{
	struct dbg_context c;
	struct dbg_expr *e;
	struct dbg_value v;
	struct text why = {0}, inner = {0};
	struct dbg_type *t = NULL;

	if (evaluate_text(x, f, of, &c, &e, &v, &why))
		t = dbg_type_refers(v.type);
	if (t && t->kind == DBG_ARRAY) {
		element_rows(x, j, f, of, t->counted ? t->count : 0, p);
	} else if (t && t->kind == DBG_STRUCT) {
		member_rows(x, j, f, of, t, p, 0);
	} else if (t && t->kind == DBG_POINTER) {
		text_printf(&inner, "*(%s)", of);
		if (page_has(p) && inner.at)
			expression_row(x, j, f, inner.at, inner.at, false);
	}
	dbg_expr_free(e);
	text_fini(&why);
	text_fini(&inner);
}

/* ---- variables of scopes ---- */

struct visit {
	struct debugger *x;
	struct json *j;
	const struct focus *f;
	struct page page;
	enum query_kind kind;
	VEC(const char *) seen; /* inner ones hide others of their names */
};

static bool is_hidden(struct visit *s, const char *name)
{
	for (size_t i = 0; i < s->seen.len; i++)
		if (!strcmp(s->seen.at[i], name))
			return true;
	return !VEC_PUSH(&s->seen, name);
}

static enum query_kind variable_kind(const struct dbg_variable *v)
{
	return v->is_parameter                                       ? QUERY_ARGUMENTS
	       : v->where == DBG_IN_MEMORY && v->space == DBG_SHARED ? QUERY_SHARED
								     : QUERY_LOCALS;
}

/* A variable, with its value in each lane as a part. */
static void variable_row(void *user, const struct dbg_variable *v, u32 depth)
{
	struct visit *s = user;

	(void)depth;
	if (variable_kind(v) != s->kind || !v->name || !*v->name || is_hidden(s, v->name) ||
	    !page_has(&s->page))
		return;
	expression_row(s->x, s->j, s->f, v->name, v->name, true);
}

static void local_rows(struct debugger *x, struct json *j, const struct focus *f,
		       enum query_kind kind, const struct page *p)
{
	struct visit s = {.x = x, .j = j, .f = f, .page = *p, .kind = kind};
	struct dbg_context c;

	if (context_of(x, f, &c) && c.names)
		dbg_names_locals(c.names, c.place, c.inlined, variable_row, &s);
	VEC_FREE(&s.seen);
}

/* Those of the source, or without debug information those of the PTX. */
static void shared_rows(struct debugger *x, struct json *j, const struct focus *f, struct page *p)
{
	struct dbg_context c;
	const struct ir_module *m;

	if (!context_of(x, f, &c) || !c.names)
		return;
	if (dbg_names_has_dwarf(c.names))
		return local_rows(x, j, f, QUERY_SHARED, p);
	m = dbg_names_module(c.names);
	for (size_t i = 0; i < m->vars.len; i++) {
		const struct ir_var *v = m->vars.at[i];

		if (dbg_space_of(v) == DBG_SHARED && page_has(p))
			expression_row(x, j, f, v->name->text, v->name->text, false);
	}
}

static void launch_rows(struct debugger *x, struct json *j, const struct focus *f, struct page *p)
{
	static const char *const names[] = {"threadIdx", "blockIdx", "blockDim",
					    "gridDim",   "%laneid",  "%warpid"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (page_has(p))
			expression_row(x, j, f, names[i], names[i], true);
}

static void register_rows(struct debugger *x, struct json *j, const struct focus *f, struct page *p)
{
	struct dbg_context c;

	if (!context_of(x, f, &c) || !c.place.func)
		return;
	for (size_t i = 0; i < c.place.func->regs.len; i++) {
		const struct ir_reg *r = &c.place.func->regs.at[i];
		const struct ir_regdecl *d = &c.place.func->regdecls.at[r->decl];
		struct text name = {0};

		text_puts(&name, d->name->text);
		if (d->family)
			text_printf(&name, "%u", r->number);
		if (name.at && page_has(p))
			expression_row(x, j, f, name.at, name.at, true);
		text_fini(&name);
	}
}

/* The value in each lane of the warp; lanes that have exited, or are in other functions, say so. */
static void lane_rows(struct debugger *x, struct json *j, const struct query_reference *r,
		      struct page *p)
{
	for (u32 l = 0; l < WARP_LANES; l++) {
		struct focus f = r->focus;
		char name[16];

		f.lane = l;
		snprintf(name, sizeof(name), "[%u]", l);
		if (page_has(p))
			expression_row(x, j, &f, name, r->text, false);
	}
}

static void rows_of(struct debugger *x, struct json *j, const struct query_reference *r,
		    struct page *p)
{
	switch ((enum query_kind)r->kind) {
	case QUERY_LOCALS:
		return local_rows(x, j, &r->focus, QUERY_LOCALS, p);
	case QUERY_ARGUMENTS:
		return local_rows(x, j, &r->focus, QUERY_ARGUMENTS, p);
	case QUERY_SHARED:
		return shared_rows(x, j, &r->focus, p);
	case QUERY_LAUNCH:
		return launch_rows(x, j, &r->focus, p);
	case QUERY_REGISTERS:
		return register_rows(x, j, &r->focus, p);
	case QUERY_VALUE:
		return part_rows(x, j, &r->focus, r->text, p);
	case QUERY_LANES:
		return lane_rows(x, j, r, p);
	}
}

/* ---- the queries ---- */

void query_scopes(struct debugger *x, const char *args, struct text *out)
{
	static const struct {
		const char *name, *hint;
		u8 kind;
		bool expensive;
	} scopes[] = {
		{"Locals", "locals", QUERY_LOCALS, false},
		{"Arguments", "arguments", QUERY_ARGUMENTS, false},
		{"Shared", NULL, QUERY_SHARED, false},
		{"Launch", NULL, QUERY_LAUNCH, false},
		{"Registers (PTX)", "registers", QUERY_REGISTERS, true},
	};
	const struct focus *f = query_frame(x, query_take(&args), out);
	struct json j = {.out = out};

	if (!f)
		return;
	json_open(&j, '{');
	json_name(&j, "scopes");
	json_open(&j, '[');
	for (size_t i = 0; i < ARRAY_LEN(scopes); i++) {
		comma_open(&j);
		json_string(&j, "name", scopes[i].name);
		if (scopes[i].hint)
			json_string(&j, "presentationHint", scopes[i].hint);
		json_number(&j, "variablesReference", query_refer(x, scopes[i].kind, f, NULL));
		json_bool(&j, "expensive", scopes[i].expensive);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
}

static struct query_reference *reference_of(struct debugger *x, s64 id)
{
	struct query_state *q = x->query;

	return id > 0 && (u64)id <= q->references.len ? &q->references.at[id - 1] : NULL;
}

void query_variables(struct debugger *x, const char *args, struct text *out)
{
	const struct query_reference *at = reference_of(x, query_take(&args));
	s64 start = query_take(&args), count = query_take(&args);
	struct json j = {.out = out};
	struct query_reference r;
	struct page p = {.start = start > 0 ? (u64)start : 0};

	if (!at) {
		query_error(out, "this variable is not known any more");
		return;
	}
	/* Rows make further references, which may move the table; texts stay where they are. */
	r = *at;
	p.end = p.start + (count > 0 && count < PARTS_MAX ? (u64)count : PARTS_MAX);
	json_open(&j, '{');
	json_name(&j, "variables");
	json_open(&j, '[');
	rows_of(x, &j, &r, &p);
	json_close(&j, ']');
	json_close(&j, '}');
}

/* "sum,lanes": the value in each lane. */
static bool wants_lanes(const char *expression, char **without)
{
	static const char suffix[] = ",lanes";
	size_t n = strlen(expression), m = sizeof(suffix) - 1;
	bool lanes = n > m && !strcmp(expression + n - m, suffix);

	*without = strndup(expression, lanes ? n - m : n);
	return lanes;
}

void query_evaluate(struct debugger *x, const char *args, struct text *out)
{
	const struct focus *f = query_frame(x, query_take(&args), out);
	struct json j = {.out = out};
	struct text why = {0};
	struct dbg_context c;
	struct dbg_expr *e = NULL;
	struct dbg_value v;
	char *text = NULL;
	bool lanes;

	if (!f)
		return;
	lanes = wants_lanes(args, &text);
	if (!text || !evaluate_text(x, f, text, &c, &e, &v, &why)) {
		query_error(out, "%s", why.at ? why.at : "no value");
	} else {
		json_open(&j, '{');
		if (lanes) {
			json_string(&j, "result", "by lane");
			json_number(&j, "variablesReference", query_refer(x, QUERY_LANES, f, text));
			json_number(&j, "indexedVariables", WARP_LANES);
		} else {
			value_members(x, &j, f, &c, &v, "result", text, false);
		}
		json_close(&j, '}');
	}
	dbg_expr_free(e);
	text_fini(&why);
	free(text);
}

/* Assign, and answer with what is there then. */
static void assign_value(struct debugger *x, const struct focus *f, const char *to,
			 const char *value, struct text *out)
{
	struct text line = {0}, why = {0};
	struct json j = {.out = out};
	struct dbg_context c;
	struct dbg_expr *e = NULL;
	struct dbg_value v;

	text_printf(&line, "(%s) = (%s)", to, value);
	if (!line.at || !evaluate_text(x, f, line.at, &c, &e, &v, &why)) {
		query_error(out, "%s", why.at ? why.at : "no memory left");
	} else {
		json_open(&j, '{');
		value_members(x, &j, f, &c, &v, "value", to, false);
		json_close(&j, '}');
		if (x->grid)
			debug_changed(x->grid);
	}
	dbg_expr_free(e);
	text_fini(&line);
	text_fini(&why);
}

/* The expression of a variable by its name among the rows of a reference; false: there is none. */
static bool row_expression(const struct query_reference *r, const char *name, struct text *out,
			   struct focus *f)
{
	*f = r->focus;
	if (r->kind == QUERY_LANES) {
		f->lane = (u32)strtoul(name + (*name == '['), NULL, 10) % WARP_LANES;
		text_puts(out, r->text);
	} else if (r->kind != QUERY_VALUE || *name == '*') {
		text_puts(out, name);
	} else {
		text_printf(out, *name == '[' ? "(%s)%s" : "(%s).%s", r->text, name);
	}
	return out->at != NULL;
}

void query_set_variable(struct debugger *x, const char *args, struct text *out)
{
	const struct query_reference *r = reference_of(x, query_take(&args));
	const char *tab = strchr(args, '\t');
	struct text expression = {0};
	struct focus f;
	char *name = tab ? strndup(args, (size_t)(tab - args)) : NULL;

	if (!r || !name || !row_expression(r, name, &expression, &f))
		query_error(out, "this variable is not known any more");
	else
		assign_value(x, &f, expression.at, tab + 1, out);
	text_fini(&expression);
	free(name);
}

void query_set_expression(struct debugger *x, const char *args, struct text *out)
{
	const struct focus *f = query_frame(x, query_take(&args), out);
	const char *tab = strchr(args, '\t');
	char *name = tab ? strndup(args, (size_t)(tab - args)) : NULL;

	if (f && name)
		assign_value(x, f, name, tab + 1, out);
	else if (f)
		query_error(out, "there is no value to set");
	free(name);
}

/* What is to be watched: REFERENCE NAME, or 0 EXPRESSION. */
void query_expression(struct debugger *x, const char *args, struct text *out)
{
	const struct query_reference *r = reference_of(x, query_take(&args));
	struct json j = {.out = out};
	struct text expression = {0}, why = {0};
	struct focus f = x->focus;
	struct dbg_context c;
	struct dbg_expr *e = NULL;
	struct dbg_value v;

	if (r)
		row_expression(r, args, &expression, &f);
	else
		text_puts(&expression, args);
	if (!expression.at || !evaluate_text(x, &f, expression.at, &c, &e, &v, &why)) {
		query_error(out, "%s", why.at ? why.at : "no expression");
	} else if (v.store != DBG_MEMORY && v.store != DBG_REGISTER) {
		query_error(out, "this value has no place that could change");
	} else {
		json_open(&j, '{');
		json_string(&j, "expression", expression.at);
		json_close(&j, '}');
	}
	dbg_expr_free(e);
	text_fini(&expression);
	text_fini(&why);
}

void query_memory(struct debugger *x, const char *args, struct text *out)
{
	s64 offset = query_take(&args), count = query_take(&args);
	u64 address = strtoull(args, NULL, 0) + (u64)offset, n = 0;
	struct json j = {.out = out};
	struct text hex = {0};
	struct dbg_context c;
	u8 byte;

	if (count < 0 || count > MEMORY_MAX) {
		query_error(out, "between 0 and %u bytes can be read at once", MEMORY_MAX);
		return;
	}
	context_now(x, &c);
	while (c.target && n < (u64)count &&
	       c.target->read_memory(c.target->user, &c.lane, DBG_GENERIC, address + n, &byte, 1) ==
		       DBG_OK) {
		text_printf(&hex, "%02x", byte);
		n++;
	}
	json_open(&j, '{');
	json_name(&j, "address");
	text_printf(out, "\"0x%llx\"", (unsigned long long)address);
	json_string(&j, "data", hex.at ? hex.at : "");
	if (n < (u64)count)
		json_number(&j, "unreadableBytes", count - (s64)n);
	json_close(&j, '}');
	text_fini(&hex);
}

/* OFFSET ADDRESS DIGITS: bytes to be written, in hexadecimal digits. */
void query_write_memory(struct debugger *x, const char *args, struct text *out)
{
	s64 offset = query_take(&args);
	char *digits;
	u64 address = strtoull(args, &digits, 0) + (u64)offset, n = 0;
	struct json j = {.out = out};
	struct dbg_context c;

	digits += strspn(digits, " ");
	context_now(x, &c);
	for (; c.target && digits[2 * n] && digits[2 * n + 1]; n++) {
		char two[3] = {digits[2 * n], digits[2 * n + 1], 0};
		u8 byte = (u8)strtoul(two, NULL, 16);

		if (c.target->write_memory(c.target->user, &c.lane, DBG_GENERIC, address + n, &byte,
					   1) != DBG_OK)
			break;
	}
	if (n && x->grid)
		debug_changed(x->grid);
	if (!n && *digits) {
		query_error(out, "this memory cannot be written");
		return;
	}
	json_open(&j, '{');
	json_number(&j, "bytesWritten", (s64)n);
	json_close(&j, '}');
}
