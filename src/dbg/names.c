/*
 * Names at a place: DWARF first, PTX always.
 */
#include "src/dbg/names_int.h"

#include "src/base/demangle.h"
#include "src/base/file.h"
#include "src/ir/source.h"

#include <ctype.h>
#include <stdlib.h>

struct dbg_names *dbg_names_open(const struct ir_module *m, struct text *why)
{
	struct dbg_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->m = m;
	demangle_prepare();
	n->dwarf = debug_info_open(m, &n->arena, why);
	return n;
}

void dbg_names_close(struct dbg_names *n)
{
	if (!n)
		return;
	debug_info_close(n->dwarf);
	arena_fini(&n->arena);
	free(n);
}

bool dbg_names_has_dwarf(const struct dbg_names *n)
{
	return n->dwarf != NULL;
}

const struct ir_module *dbg_names_module(const struct dbg_names *n)
{
	return n->m;
}

struct arena *dbg_names_arena(struct dbg_names *n)
{
	return &n->arena;
}

/* ---- C++ names ---- */

const char *dbg_names_function(struct dbg_names *n, const struct ir_func *f)
{
	struct text t = {0};
	const char *name;

	demangle(f->name->text, &t);
	name = t.at ? arena_strdup(&n->arena, t.at, t.len) : NULL;
	text_fini(&t);
	return name ? name : f->name->text;
}

/* Where the parameters begin, else the end: "ns::f<int (*)()>(int)" has them at the last group. */
static size_t name_length(const char *name)
{
	size_t n = strlen(name);
	u32 depth = 0;

	if (n > 6 && !strcmp(name + n - 6, " const"))
		n -= 6;
	if (!n || name[n - 1] != ')')
		return n;
	for (size_t i = n; i--;) {
		depth += name[i] == ')';
		depth -= name[i] == '(';
		if (!depth)
			return i && strncmp(name + i, "(anonymous", 10) != 0 ? i : n;
	}
	return n;
}

/* Without a result type in front and template arguments: "ns::f". */
static void plain_function(const char *name, bool keep_arguments, struct text *out)
{
	size_t n = name_length(name), begin = 0;
	u32 depth = 0;

	for (size_t i = 0; i < n; i++) {
		depth += name[i] == '<' || name[i] == '(' || name[i] == '{';
		depth -= depth && (name[i] == '>' || name[i] == ')' || name[i] == '}');
		if (!depth && name[i] == ' ' && i + 1 < n)
			begin = i + 1;
	}
	depth = 0;
	for (size_t i = begin; i < n; i++) {
		depth += name[i] == '<';
		if (!depth || keep_arguments)
			text_add(out, name + i, 1);
		depth -= depth && name[i] == '>';
	}
}

struct dbg_type *dbg_names_result(struct dbg_names *n, const struct ir_func *f)
{
	return n->dwarf ? debug_info_result(n->dwarf, f) : NULL;
}

static bool is_of_word(char c)
{
	return isalnum((u8)c) || c == '_' || c == '$';
}

/* As it compares with what a user writes: no blank that could be left out, no unnamed namespace. */
static void squeeze(const char *name, struct text *out)
{
	static const char unnamed[] = "(anonymous namespace)::";

	for (const char *s = name; *s; s++) {
		const char *next = s + strspn(s, " \t");

		while (!strncmp(next, unnamed, sizeof(unnamed) - 1))
			next += sizeof(unnamed) - 1;

		if (next > s && out->len && is_of_word(out->at[out->len - 1]) && is_of_word(*next))
			text_puts(out, " ");
		if (!*next)
			break;
		text_add(out, next, 1);
		s = next;
	}
}

/* The name, or its end behind a namespace. */
static bool ends_in_name(const char *whole, const char *name)
{
	struct text a = {0}, b = {0};
	bool is;

	squeeze(whole, &a);
	squeeze(name, &b);
	is = a.len >= b.len && b.len && !strcmp(a.at + a.len - b.len, b.at) &&
	     (a.len == b.len || a.at[a.len - b.len - 1] == ':');
	text_fini(&a);
	text_fini(&b);
	return is;
}

/* "f<7>" for "f<(int)7>", as the source has it. */
static void without_casts(const char *name, struct text *out)
{
	for (; *name; name++) {
		const char *end =
			(name[0] == '(' && out->len && strchr("<,( ", out->at[out->len - 1]))
				? strchr(name, ')')
				: NULL;

		if (end && (isalnum((unsigned char)end[1]) || end[1] == '-'))
			name = end;
		else
			text_add(out, name, 1);
	}
}

bool dbg_names_same(const char *whole, const char *name)
{
	bool is = ends_in_name(whole, name);

	for (u32 keep = 0; keep < 2 && !is; keep++) {
		struct text t = {0}, plain = {0};

		plain_function(whole, keep, &t);
		if (t.at)
			without_casts(t.at, &plain);
		is = plain.at && (ends_in_name(t.at, name) || ends_in_name(plain.at, name));
		text_fini(&t);
		text_fini(&plain);
	}
	return is;
}

bool dbg_names_is_function(struct dbg_names *n, const struct ir_func *f, const char *name)
{
	return !strcmp(name, f->name->text) || dbg_names_same(dbg_names_function(n, f), name);
}

const struct ir_func *dbg_names_find_function(struct dbg_names *n, const char *name)
{
	const struct ir_func *found = NULL;

	if (!strncmp(name, "::", 2))
		name += 2;
	for (size_t i = 0; i < n->m->funcs.len && !(found && found->has_body); i++)
		if (n->m->funcs.at[i] && dbg_names_is_function(n, n->m->funcs.at[i], name) &&
		    (!found || n->m->funcs.at[i]->has_body))
			found = n->m->funcs.at[i];
	return found;
}

struct dbg_type *dbg_names_function_type(struct dbg_names *n, const struct ir_func *f)
{
	static struct dbg_type unknown = {.kind = DBG_FUNCTION, .target = &dbg_type_void};
	struct dbg_type *t = n->dwarf ? debug_info_function_type(n->dwarf, f) : NULL;

	return t ? t : &unknown;
}

bool dbg_names_find_static(struct dbg_names *n, const struct ir_func *f, const char *name,
			   struct dbg_variable *out)
{
	return (n->dwarf && debug_info_find_static(n->dwarf, f, name, out)) ||
	       names_ptx_static(n, f, name, out);
}

struct dbg_type *dbg_names_type_argument(struct dbg_names *n, struct dbg_place at, u32 inlined,
					 const char *name)
{
	return n->dwarf && at.func ? debug_info_type_argument(n->dwarf, at, inlined, name) : NULL;
}

bool dbg_names_frame_is(struct dbg_names *n, struct dbg_place at, u32 inlined, const char *name,
			u32 *count)
{
	struct debug_inline in[DBG_INLINE_MAX];
	struct text whole = {0};
	bool is;

	*count = 1 + (n->dwarf ? debug_info_inlined(n->dwarf, at, in) : 0);
	if (inlined + 1 >= *count)
		return inlined + 1 == *count && dbg_names_is_function(n, at.func, name);
	if (!in[inlined].function)
		return false;
	demangle(in[inlined].function, &whole);
	is = whole.at && dbg_names_same(whole.at, name);
	text_fini(&whole);
	return is;
}

bool dbg_names_has_file(const struct dbg_names *n, const char *file)
{
	for (size_t i = 0; i < n->m->files.len; i++) {
		const char *path = n->m->files.at[i].path;

		if (path && file_ends_with(path, strlen(path), file))
			return true;
	}
	return false;
}

const char *dbg_last_scope(const char *name)
{
	const char *last = NULL;
	u32 depth = 0;

	for (const char *s = name; *s; s++) {
		depth += *s == '<' || *s == '(' || *s == '{';
		depth -= depth && (*s == '>' || *s == ')' || *s == '}');
		if (!depth && s[0] == ':' && s[1] == ':')
			last = s++;
	}
	return last;
}

bool dbg_same_name(const char *a, size_t n, const char *b)
{
	const char *end = a + n;

	for (;; a++, b++) {
		while (a < end && *a == ' ')
			a++;
		while (*b == ' ')
			b++;
		if (a == end || !*b)
			return a == end && !*b;
		if (*a != *b)
			return false;
	}
}

/* ---- look-up ---- */

/* With the namespaces of the function the place is in, innermost first, then alone. */
static bool find_module_variable(struct dbg_names *n, struct dbg_place at, const char *name,
				 struct dbg_variable *out)
{
	struct text prefix = {0}, t = {0};
	bool found = false;

	if (at.func)
		plain_function(dbg_names_function(n, at.func), true, &prefix);
	while (prefix.len && !found) {
		while (prefix.len &&
		       (prefix.len < 2 || memcmp(prefix.at + prefix.len - 2, "::", 2)))
			prefix.at[--prefix.len] = 0;
		if (!prefix.len)
			break;
		t.len = 0;
		text_printf(&t, "%s%s", prefix.at, name);
		found = t.at && debug_info_find_global(n->dwarf, t.at, out);
		prefix.len -= 2;
		prefix.at[prefix.len] = 0;
	}
	text_fini(&prefix);
	text_fini(&t);
	return found || debug_info_find_global(n->dwarf, name, out);
}

bool dbg_names_find(struct dbg_names *n, struct dbg_place at, u32 inlined, const char *name,
		    struct dbg_variable *out)
{
	if (n->dwarf && !strncmp(name, "::", 2))
		name += 2;
	if (n->dwarf && at.func && debug_info_find_local(n->dwarf, at, inlined, name, out))
		return true;
	if (n->dwarf && find_module_variable(n, at, name, out))
		return true;
	return names_ptx_find(n, at, name, out);
}

void dbg_names_locals(struct dbg_names *n, struct dbg_place at, u32 inlined,
		      dbg_variable_visitor *see, void *user)
{
	if (n->dwarf && debug_info_function(n->dwarf, at.func))
		debug_info_locals(n->dwarf, at, inlined, see, user);
	else
		names_ptx_locals(n, at.func, see, user);
}

struct dbg_type *dbg_names_type(struct dbg_names *n, const char *name)
{
	return n->dwarf ? debug_info_type(n->dwarf, name) : NULL;
}

bool dbg_names_enumerator(struct dbg_names *n, const char *name, struct dbg_type **type, s64 *value)
{
	return n->dwarf && debug_info_enumerator(n->dwarf, name, type, value);
}

/* ---- all of them ---- */

static void see_functions(struct dbg_names *n, dbg_symbol_visitor *see, void *user)
{
	for (size_t i = 0; i < n->m->funcs.len; i++) {
		const struct ir_func *f = n->m->funcs.at[i];
		struct dbg_symbol s = {.name = dbg_names_function(n, f)};

		if (!f->has_body)
			continue;
		if (!n->dwarf || !debug_info_declared(n->dwarf, f, &s))
			s.func = f;
		see(user, &s);
	}
}

static void see_plain_variables(struct dbg_names *n, dbg_symbol_visitor *see, void *user)
{
	struct dbg_variable known;

	for (size_t i = 0; i < n->m->vars.len; i++) {
		const struct ir_var *v = n->m->vars.at[i];
		struct text t = {0};

		if (v->func != IR_NONE || (v->definition && v->definition != v) ||
		    (n->dwarf && debug_info_find_global(n->dwarf, v->name->text, &known)))
			continue;
		demangle(v->name->text, &t);
		see(user, &(struct dbg_symbol){.name = t.at ? t.at : v->name->text, .var = v});
		text_fini(&t);
	}
}

void dbg_names_symbols(struct dbg_names *n, enum dbg_symbols kind, dbg_symbol_visitor *see,
		       void *user)
{
	if (kind == DBG_ALL_FUNCTIONS)
		see_functions(n, see, user);
	if (n->dwarf)
		debug_info_symbols(n->dwarf, kind, see, user);
	if (kind == DBG_ALL_VARIABLES)
		see_plain_variables(n, see, user);
}

/* ---- frames ---- */

u32 dbg_names_inlined(void *names, struct dbg_place at, struct dbg_inline *out)
{
	struct debug_inline in[DBG_INLINE_MAX];
	struct dbg_names *n = names;
	u32 count = n->dwarf ? debug_info_inlined(n->dwarf, at, in) : 0;

	for (u32 i = 0; i < count; i++)
		out[i] = in[i].call;
	return count;
}

static const char *short_name(struct dbg_names *n, const char *name)
{
	struct text whole = {0}, t = {0};
	const char *copy;

	demangle(name, &whole);
	if (whole.at)
		plain_function(whole.at, true, &t);
	copy = t.at ? arena_strdup(&n->arena, t.at, t.len) : NULL;
	text_fini(&whole);
	text_fini(&t);
	return copy ? copy : name;
}

/* By .loc alone: names of inlined functions stand beside its lines. */
static u32 inlined_by_loc(struct dbg_names *n, struct dbg_place at, struct debug_inline *out)
{
	const struct ir_insn *in =
		at.insn < at.func->insns.len ? &at.func->insns.at[at.insn] : NULL;
	const struct ir_loc *l = in ? ir_loc_at(n->m, in->loc) : NULL;
	struct dbg_inline calls[DBG_INLINE_MAX];
	u32 count = dbg_lines_inlined(n->m, at, calls);

	for (u32 i = 0; i < count; i++) {
		out[i] = (struct debug_inline){calls[i], l ? ir_loc_function(n->m, l) : NULL};
		l = l ? ir_loc_at(n->m, l->inlined_at) : NULL;
	}
	return count;
}

u32 dbg_names_frames(struct dbg_names *n, const struct dbg_lines *l, struct dbg_place at,
		     struct dbg_frame out[DBG_INLINE_MAX + 1])
{
	struct debug_inline in[DBG_INLINE_MAX];
	struct dbg_source source = dbg_lines_at(l, at);
	u32 count = n->dwarf ? debug_info_inlined(n->dwarf, at, in) : 0;

	if (!count)
		count = inlined_by_loc(n, at, in);
	for (u32 i = 0; i <= count; i++) {
		const char *name = i < count ? in[i].function : at.func->name->text;

		out[i] = (struct dbg_frame){.function = name ? short_name(n, name) : "?",
					    .source = source,
					    .inlined = i,
					    .is_inlined = i < count};
		if (i < count)
			source = (struct dbg_source){ir_file_path(n->m, in[i].call.call_file),
						     in[i].call.call_line, in[i].call.call_column};
	}
	return count + 1;
}
