/*
 * Types: standard ones, sizes, sameness. What DWARF says may be nonsense: chains of types can be
 * circles, so every walk has a limit.
 */
#include "src/dbg/type.h"

#include "src/base/arena.h"
#include "src/base/size.h"

#define CHAIN_MAX 64

#define NUMBER(id, text, what, bytes, sign)                                                        \
	struct dbg_type dbg_type_##id = {                                                          \
		.kind = what, .name = text, .size = bytes, .is_signed = sign}

NUMBER(void, "void", DBG_VOID, 0, false);
NUMBER(bool, "bool", DBG_BOOL, 1, false);
NUMBER(char, "char", DBG_CHAR, 1, true);
NUMBER(schar, "signed char", DBG_CHAR, 1, true);
NUMBER(uchar, "unsigned char", DBG_CHAR, 1, false);
NUMBER(short, "short", DBG_INT, 2, true);
NUMBER(ushort, "unsigned short", DBG_INT, 2, false);
NUMBER(int, "int", DBG_INT, 4, true);
NUMBER(uint, "unsigned int", DBG_INT, 4, false);
NUMBER(long, "long", DBG_INT, 8, true);
NUMBER(ulong, "unsigned long", DBG_INT, 8, false);
NUMBER(llong, "long long", DBG_INT, 8, true);
NUMBER(ullong, "unsigned long long", DBG_INT, 8, false);
NUMBER(float, "float", DBG_FLOAT, 4, true);
NUMBER(double, "double", DBG_FLOAT, 8, true);
struct dbg_type dbg_type_half = {
	.kind = DBG_FLOAT, .name = "half", .size = 2, .is_signed = true, .number = DBG_HALF};

/* ---- by words ---- */

struct word_counts {
	u32 n_signed, n_unsigned, n_short, n_long, n_int, n_char, n_other;
	struct dbg_type *other;
};

static bool count_word(struct word_counts *c, const char *w)
{
	static const struct {
		const char *name;
		struct dbg_type *type;
	} others[] = {
		{"void", &dbg_type_void}, {"bool", &dbg_type_bool},   {"_Bool", &dbg_type_bool},
		{"half", &dbg_type_half}, {"float", &dbg_type_float}, {"double", &dbg_type_double},
	};
	static const char *const plain[] = {"signed", "unsigned", "short", "long", "int", "char"};
	u32 *counts[] = {&c->n_signed, &c->n_unsigned, &c->n_short,
			 &c->n_long,   &c->n_int,      &c->n_char};

	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		if (!strcmp(w, plain[i]))
			return ++*counts[i];
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (!strcmp(w, others[i].name))
			return c->other = others[i].type, ++c->n_other;
	return false;
}

struct dbg_type *dbg_type_of_words(const char *const *words, u32 n)
{
	struct word_counts c = {0};

	for (u32 i = 0; i < n; i++)
		if (!count_word(&c, words[i]))
			return NULL;
	if (!n || c.n_signed + c.n_unsigned > 1 || c.n_long > 2 || c.n_short > 1 || c.n_int > 1)
		return NULL;
	if (c.n_other)
		return n == 1 ? c.other : NULL;
	if (c.n_char)
		return c.n_char + c.n_signed + c.n_unsigned != n ? NULL
		       : c.n_unsigned                            ? &dbg_type_uchar
		       : c.n_signed                              ? &dbg_type_schar
								 : &dbg_type_char;
	if (c.n_short)
		return c.n_long ? NULL : c.n_unsigned ? &dbg_type_ushort : &dbg_type_short;
	if (c.n_long == 2)
		return c.n_unsigned ? &dbg_type_ullong : &dbg_type_llong;
	if (c.n_long)
		return c.n_unsigned ? &dbg_type_ulong : &dbg_type_long;
	return c.n_unsigned ? &dbg_type_uint : &dbg_type_int;
}

/* ---- walks ---- */

void dbg_type_fill(struct dbg_type *t)
{
	void (*fill)(struct dbg_type *) = t->fill;

	if (!fill)
		return;
	t->fill = NULL;
	fill(t);
}

struct dbg_type *dbg_type_strip(struct dbg_type *t)
{
	for (u32 i = 0; t && i < CHAIN_MAX; i++) {
		if (t->kind != DBG_TYPEDEF && t->kind != DBG_CONST_OF && t->kind != DBG_VOLATILE_OF)
			return t;
		t = t->target;
	}
	return &dbg_type_void;
}

struct dbg_type *dbg_type_refers(struct dbg_type *t)
{
	t = dbg_type_strip(t);
	return t->kind == DBG_REFERENCE ? dbg_type_strip(t->target) : t;
}

static u64 size_at(struct dbg_type *t, u32 depth)
{
	u64 size;

	t = dbg_type_strip(t);
	if (t->kind != DBG_ARRAY)
		return t->size;
	if (depth > CHAIN_MAX || !size_mul(size_at(t->target, depth + 1), t->count, &size))
		return 0;
	return size;
}

u64 dbg_type_size(struct dbg_type *t)
{
	return size_at(t, 0);
}

/* left: how many types may still be visited; hostile ones hold themselves. */
static u64 align_at(struct dbg_type *t, u32 *left)
{
	u64 most = 1;

	t = dbg_type_strip(t);
	if (!*left)
		return 0;
	--*left;
	if (t->kind == DBG_ARRAY)
		return t->target ? align_at(t->target, left) : 0;
	if (t->kind != DBG_STRUCT)
		return t->size;
	dbg_type_fill(t);
	for (u32 i = 0; i < t->members_len; i++)
		if (!t->members[i].is_static)
			most = max_u64(most, align_at(t->members[i].type, left));
	return t->declaration ? 0 : most;
}

u64 dbg_type_align(struct dbg_type *t)
{
	u32 left = 1000;

	return align_at(t, &left);
}

static bool same_type_name(const struct dbg_type *a, const struct dbg_type *b)
{
	return a->name && b->name && !strcmp(a->name, b->name);
}

bool dbg_type_same(struct dbg_type *a, struct dbg_type *b)
{
	for (u32 i = 0; i < CHAIN_MAX; i++) {
		a = dbg_type_strip(a);
		b = dbg_type_strip(b);
		if (a == b)
			return true;
		if (a->kind != b->kind || a->number != b->number)
			return false;
		switch (a->kind) {
		case DBG_POINTER:
		case DBG_REFERENCE:
			break;
		case DBG_ARRAY:
			if (a->count != b->count)
				return false;
			break;
		case DBG_STRUCT:
		case DBG_ENUM:
		case DBG_MEMBER:
		case DBG_OPAQUE:
			return a->size == b->size && same_type_name(a, b);
		default:
			return a->size == b->size && a->is_signed == b->is_signed;
		}
		a = a->target;
		b = b->target;
	}
	return false;
}

/* ---- objects of CUDA ---- */

static const struct object_name {
	const char *name;
	enum dbg_object kind;
} object_names[] = {
	{"CUtensorMap", DBG_TENSOR_MAP},      {"CUtensorMap_st", DBG_TENSOR_MAP},
	{"cudaTextureObject_t", DBG_TEXTURE}, {"CUtexObject", DBG_TEXTURE},
	{"CUtexObject_v1", DBG_TEXTURE},      {"cudaSurfaceObject_t", DBG_SURFACE},
	{"CUsurfObject", DBG_SURFACE},        {"CUsurfObject_v1", DBG_SURFACE},
};

/* Without namespaces, but for those in template arguments. */
static const char *last_name(const char *name)
{
	const char *last = name;

	for (const char *s = name; *s && *s != '<'; s++)
		if (s[0] == ':' && s[1] == ':')
			last = s + 2;
	return last;
}

static enum dbg_object named_object(const char *name)
{
	name = last_name(name);
	for (size_t i = 0; i < ARRAY_LEN(object_names); i++)
		if (!strcmp(name, object_names[i].name))
			return object_names[i].kind;
	/* cuda::barrier of a CTA is one; those of wider scopes are counters, and larger. */
	return !strncmp(name, "barrier<", 8) && strstr(name, "thread_scope") ? DBG_MBARRIER
									     : DBG_NO_OBJECT;
}

enum dbg_object dbg_type_object(struct dbg_type *t)
{
	u64 size = dbg_type_size(t);

	for (u32 i = 0; t && i < CHAIN_MAX; i++, t = t->target) {
		enum dbg_object kind = t->name ? named_object(t->name) : DBG_NO_OBJECT;

		if (kind && size == dbg_object_bytes(kind))
			return kind;
		if (t->kind != DBG_TYPEDEF && t->kind != DBG_CONST_OF && t->kind != DBG_VOLATILE_OF)
			break;
	}
	return DBG_NO_OBJECT;
}

/* ---- new types ---- */

struct dbg_type *dbg_type_pointer(struct arena *a, struct dbg_type *to, enum dbg_space space)
{
	struct dbg_type *t = ARENA_NEW(a, struct dbg_type);

	if (t)
		*t = (struct dbg_type){
			.kind = DBG_POINTER, .space = (u8)space, .size = 8, .target = to};
	return t;
}

struct dbg_type *dbg_type_array(struct arena *a, struct dbg_type *of, u64 count)
{
	struct dbg_type *t = ARENA_NEW(a, struct dbg_type);

	if (t)
		*t = (struct dbg_type){
			.kind = DBG_ARRAY, .counted = true, .count = count, .target = of};
	return t;
}

struct dbg_type *dbg_type_member(struct arena *a, struct dbg_type *of, struct dbg_type *owner)
{
	struct dbg_type pointer = {.kind = DBG_POINTER, .size = 8, .target = of};
	struct dbg_type *t = ARENA_NEW(a, struct dbg_type);
	struct text name = {0};

	/* "int Point::*", "int (Point::*)[3]" */
	dbg_type_print(&pointer, NULL, &name);
	if (t && name.at) {
		const char *star = strrchr(name.at, '*');
		struct text whole = {0};

		text_printf(&whole, "%.*s%s::%s", (int)(star - name.at), name.at,
			    owner && owner->name ? owner->name : "?", star);
		*t = (struct dbg_type){.kind = DBG_MEMBER, .size = 8, .target = of, .owner = owner};
		t->name = whole.at ? arena_strdup(a, whole.at, whole.len) : NULL;
		text_fini(&whole);
	}
	text_fini(&name);
	return t;
}
