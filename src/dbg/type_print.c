/*
 * Types as C writes them: names inside out, and gdb's ptype.
 */
#include "src/dbg/type.h"

#define DEPTH_MAX 40
#define MEMBERS_MAX 1000
#define DESCRIPTION_MAX ((size_t)64 << 10)

static void print_before(struct dbg_type *t, u32 depth, struct text *out);
static void print_after(struct dbg_type *t, u32 depth, struct text *out);

static void print_name(const struct dbg_type *t, struct text *out)
{
	const char *what = t->kind == DBG_ENUM ? "enum" : t->is_union ? "union" : "struct";

	if (t->name)
		text_puts(out, t->name);
	else if (t->kind == DBG_STRUCT || t->kind == DBG_ENUM)
		text_printf(out, "%s {...}", t->is_class ? "class" : what);
	else
		text_puts(out, "?");
}

/* Does what points to it need parentheses? */
static bool binds_behind(struct dbg_type *t)
{
	return t && (t->kind == DBG_ARRAY || t->kind == DBG_FUNCTION);
}

static bool ends_in_star(const struct text *out)
{
	return out->len && (out->at[out->len - 1] == '*' || out->at[out->len - 1] == '&');
}

static void print_star(struct dbg_type *t, struct text *out)
{
	const char *sign = t->kind == DBG_POINTER ? "*" : t->rvalue ? "&&" : "&";

	if (!ends_in_star(out))
		text_puts(out, " ");
	if (binds_behind(t->target))
		text_puts(out, "(");
	text_puts(out, sign);
}

static void print_target_before(struct dbg_type *t, u32 depth, struct text *out)
{
	if (t->target)
		print_before(t->target, depth + 1, out);
	else
		text_puts(out, "void");
}

static void print_qualified(struct dbg_type *t, u32 depth, struct text *out)
{
	const char *word = t->kind == DBG_CONST_OF ? "const" : "volatile";
	struct dbg_type *inner = t->target;
	bool behind = inner && (inner->kind == DBG_POINTER || inner->kind == DBG_REFERENCE);

	/* `const const int` is one const. */
	if (inner && inner->kind == t->kind) {
		print_target_before(t, depth, out);
		return;
	}
	if (!behind)
		text_printf(out, "%s ", word);
	print_target_before(t, depth, out);
	if (behind)
		text_printf(out, "%s%s", ends_in_star(out) ? " " : "", word);
}

/* All that stands before the name. */
static void print_before(struct dbg_type *t, u32 depth, struct text *out)
{
	if (depth > DEPTH_MAX) {
		text_puts(out, "...");
		return;
	}
	switch (t->kind) {
	case DBG_POINTER:
		if (t->space != DBG_GENERIC)
			text_printf(out, "@%s ", dbg_space_name(t->space));
		/* fall through */
	case DBG_REFERENCE:
		print_target_before(t, depth, out);
		print_star(t, out);
		break;
	case DBG_ARRAY:
	case DBG_FUNCTION:
		print_target_before(t, depth, out);
		break;
	case DBG_CONST_OF:
	case DBG_VOLATILE_OF:
		print_qualified(t, depth, out);
		break;
	default:
		print_name(t, out);
	}
}

static void print_parameters(struct dbg_type *t, u32 depth, struct text *out)
{
	dbg_type_fill(t);
	text_puts(out, "(");
	for (u32 i = 0; i < t->members_len; i++) {
		text_puts(out, i ? ", " : "");
		if (depth > DEPTH_MAX / 4 || out->len > 4096) {
			text_puts(out, "...");
			break;
		}
		print_before(t->members[i].type, depth + 1, out);
		print_after(t->members[i].type, depth + 1, out);
	}
	text_puts(out, t->variadic      ? t->members_len ? ", ...)" : "...)"
		       : t->members_len ? ")"
					: "void)");
}

/* All that comes after it. */
static void print_after(struct dbg_type *t, u32 depth, struct text *out)
{
	if (depth > DEPTH_MAX)
		return;
	switch (t->kind) {
	case DBG_POINTER:
	case DBG_REFERENCE:
		if (binds_behind(t->target))
			text_puts(out, ")");
		break;
	case DBG_ARRAY:
		if (t->counted)
			text_printf(out, "[%llu]", (unsigned long long)t->count);
		else
			text_puts(out, "[]");
		break;
	case DBG_FUNCTION:
		print_parameters(t, depth, out);
		break;
	case DBG_CONST_OF:
	case DBG_VOLATILE_OF:
		break;
	default:
		return;
	}
	if (t->target)
		print_after(t->target, depth + 1, out);
}

/* "* const": gdb writes no blank before what is behind it. */
static bool ends_in_qualifier(const struct text *out)
{
	static const char *const ends[] = {"* const", "* volatile"};

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		size_t n = strlen(ends[i]);

		if (out->len >= n && !strcmp(out->at + out->len - n, ends[i]))
			return true;
	}
	return false;
}

void dbg_type_print(struct dbg_type *t, const char *name, struct text *out)
{
	struct text own = {0};

	/* Apart, so that the last character is the type's own. */
	print_before(t, 0, &own);
	if (name && *name)
		text_printf(&own, "%s%s", ends_in_star(&own) ? "" : " ", name);
	else if (binds_behind(t) && !ends_in_qualifier(&own))
		text_puts(&own, " ");
	print_after(t, 0, &own);
	text_puts(out, own.at ? own.at : "?");
	text_fini(&own);
}

/* ---- ptype ---- */

/* With offsets: what stands in front of lines without one. */
#define OFFSET_COLUMNS 27u

/* gdb's mark of bytes that belong to no member. */
static const char not_used[] = {'X', 'X', 'X', 0};

struct description {
	struct text *out;
	bool offsets;
};

static void begin_line(const struct description *p, u32 indent)
{
	text_printf(p->out, "%*s", (int)(indent + (p->offsets ? OFFSET_COLUMNS : 0)), "");
}

static void put_offset(const struct description *p, const struct dbg_member *m, u64 base, u64 *next,
		       bool in_union)
{
	u64 at = base + m->offset, size = dbg_type_size(m->type);

	if (m->bit_size) {
		at += m->bit_offset / 8;
		text_printf(p->out, "/* %6llu:%2u   |  %6llu */", (unsigned long long)at,
			    m->bit_offset % 8, (unsigned long long)size);
		*next = at + (m->bit_offset % 8 + m->bit_size + 7) / 8;
		return;
	}
	if (at > *next)
		text_printf(p->out, "/* %s %2llu-byte hole      */\n", not_used,
			    (unsigned long long)(at - *next));
	if (in_union)
		text_printf(p->out, "/*              %8llu */", (unsigned long long)size);
	else
		text_printf(p->out, "/* %6llu      |  %6llu */", (unsigned long long)at,
			    (unsigned long long)size);
	*next = at + size;
}

static void describe_fields(const struct description *p, struct dbg_type *t, u32 indent, u64 base);

static void describe_member(const struct description *p, const struct dbg_member *m, u32 indent,
			    u64 base, u64 *next, bool in_union)
{
	struct dbg_type *t = dbg_type_strip(m->type);
	u64 before = base + m->offset;

	if (p->offsets && !m->is_static) {
		put_offset(p, m, base, next, in_union);
		text_printf(p->out, "%*s", (int)indent, "");
	} else {
		begin_line(p, indent);
	}
	text_puts(p->out, m->is_static ? "static " : "");
	/* What has no name of its own is described where it stands. */
	if (t->kind == DBG_STRUCT && !t->name && indent < 4 * DEPTH_MAX) {
		text_printf(p->out, "%s {\n",
			    t->is_union   ? "union"
			    : t->is_class ? "class"
					  : "struct");
		describe_fields(p, t, indent + 4, before);
		begin_line(p, indent);
		text_printf(p->out, "}%s%s;\n", *m->name ? " " : "", m->name);
		return;
	}
	dbg_type_print(m->type, m->name, p->out);
	if (m->bit_size)
		text_printf(p->out, " : %u", m->bit_size);
	text_puts(p->out, ";\n");
}

/* Is it said who may use members? Where all are public by the word in front, it is not. */
static bool says_access(const struct dbg_type *t)
{
	bool labels = t->is_class;

	for (u32 i = 0; i < t->members_len; i++)
		labels |= !t->members[i].base && t->members[i].access != DBG_PUBLIC;
	return labels;
}

static void describe_fields(const struct description *p, struct dbg_type *t, u32 indent, u64 base)
{
	static const char *const access_names[] = {
		[DBG_PUBLIC] = "public", [DBG_PROTECTED] = "protected", [DBG_PRIVATE] = "private"};
	u64 next = base, size = dbg_type_size(t);
	u32 fields = 0, access = UINT32_MAX;
	bool labels;

	dbg_type_fill(t);
	labels = says_access(t);
	/* Members of base classes are described with these. */
	for (u32 i = 0; i < t->members_len; i++)
		if (t->members[i].base)
			next = max_u64(next, base + t->members[i].offset +
						     dbg_type_size(t->members[i].type));
	for (u32 i = 0; i < t->members_len && i < MEMBERS_MAX && p->out->len < DESCRIPTION_MAX; i++)
		if (!t->members[i].base) {
			if (t->is_union)
				next = base + t->members[i].offset;
			if (labels && t->members[i].access != access) {
				access = t->members[i].access;
				begin_line(p, indent - 2);
				text_printf(p->out, "%s:\n", access_names[access]);
			}
			describe_member(p, &t->members[i], indent, base, &next, t->is_union);
			fields++;
		}
	if (t->declaration || !fields) {
		begin_line(p, indent);
		text_puts(p->out, t->declaration ? "<incomplete type>\n" : "<no data fields>\n");
	}
	if (!p->offsets)
		return;
	if (!t->is_union && base + size > next && fields)
		text_printf(p->out, "/* %s %2llu-byte padding   */\n", not_used,
			    (unsigned long long)(base + size - next));
	text_puts(p->out, "\n");
	begin_line(p, indent);
	text_printf(p->out, "/* total size (bytes): %4llu */\n", (unsigned long long)size);
}

static void describe_struct(struct dbg_type *t, bool offsets, struct text *out)
{
	const struct description p = {out, offsets};
	const char *join = ": ";

	text_printf(out, "%s ", t->is_union ? "union" : t->is_class ? "class" : "struct");
	if (t->name)
		text_printf(out, "%s ", t->name);
	for (u32 i = 0; i < t->members_len; i++)
		if (t->members[i].base) {
			text_printf(out, "%spublic ", join);
			dbg_type_print(t->members[i].type, NULL, out);
			join = ", ";
		}
	text_puts(out, join[0] == ',' ? " {\n" : "{\n");
	describe_fields(&p, t, 4, 0);
	begin_line(&p, offsets ? 2 : 0);
	text_puts(out, "}");
}

static void describe_enum(struct dbg_type *t, struct text *out)
{
	s64 next = 0;

	bool scoped = t->enumerators_len && strstr(t->enumerators[0].name, "::");

	text_printf(out, "enum %s%s%s{", scoped ? "class " : "", t->name ? t->name : "",
		    t->name ? " " : "");
	for (u32 i = 0; i < t->enumerators_len && i < MEMBERS_MAX; i++) {
		const struct dbg_enumerator *e = &t->enumerators[i];

		text_printf(out, "%s%s", i ? ", " : "", e->name);
		if (e->value != next)
			text_printf(out, " = %lld", (long long)e->value);
		next = (s64)((u64)e->value + 1);
	}
	text_puts(out, "}");
}

void dbg_type_describe(struct dbg_type *t, bool offsets, struct text *out)
{
	struct dbg_type *s = t;
	struct text around = {0};
	const char *name;

	/* Typedefs of structures are resolved, also under a pointer or const. */
	for (u32 i = 0; s && i < DEPTH_MAX && s->kind != DBG_STRUCT && s->kind != DBG_ENUM; i++)
		s = s->target;
	if (!s || (s->kind != DBG_STRUCT && s->kind != DBG_ENUM) ||
	    (t->kind == DBG_FUNCTION && t->target)) {
		dbg_type_print(t->kind == DBG_TYPEDEF ? dbg_type_strip(t) : t, NULL, out);
		return;
	}
	dbg_type_fill(s);
	/* What stands around the structure: "@shared " and " *". */
	if (dbg_type_strip(t) != s && s->name)
		dbg_type_print(dbg_type_strip(t), NULL, &around);
	name = around.at ? strstr(around.at, s->name) : NULL;
	if (name)
		text_add(out, around.at, (size_t)(name - around.at));
	if (s->kind == DBG_STRUCT)
		describe_struct(s, offsets, out);
	else
		describe_enum(s, out);
	if (name)
		text_puts(out, name + strlen(s->name));
	text_fini(&around);
}
