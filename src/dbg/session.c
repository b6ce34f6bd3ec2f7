/*
 * What lives as long as a session: kept values, convenience variables, types that were made.
 */
#include "src/base/arena.h"
#include "src/base/map.h"
#include "src/base/vec.h"
#include "src/dbg/value.h"

#define KEPT_MAX ((u64)1 << 20)

struct kept {
	char *name; /* NULL: $N; owned */
	struct dbg_value value;
	u8 *bytes; /* owned; NULL: the value's own */
};

struct dbg_session {
	struct arena arena; /* types */
	struct map pointers;
	VEC(struct dbg_type *) arrays;
	VEC(struct dbg_type *) members; /* pointers to them */
	VEC(struct kept) history;
	VEC(struct kept) variables;
	dbg_module_fn *module; /* NULL: the context's is all there is */
	void *user;
};

struct dbg_session *dbg_session_new(void)
{
	return calloc(1, sizeof(struct dbg_session));
}

static void free_kept(struct kept *k)
{
	free(k->name);
	free(k->bytes);
}

void dbg_session_free(struct dbg_session *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->history.len; i++)
		free_kept(&s->history.at[i]);
	for (size_t i = 0; i < s->variables.len; i++)
		free_kept(&s->variables.at[i]);
	VEC_FREE(&s->history);
	VEC_FREE(&s->variables);
	VEC_FREE(&s->arrays);
	VEC_FREE(&s->members);
	map_fini(&s->pointers);
	arena_fini(&s->arena);
	free(s);
}

/* ---- modules of the program ---- */

void dbg_session_set_modules(struct dbg_session *s, dbg_module_fn *module, void *user)
{
	s->module = module;
	s->user = user;
}

struct dbg_names *dbg_context_names(const struct dbg_context *c, u32 *at)
{
	const struct dbg_session *s = c->session;
	struct dbg_names *names = NULL;

	if (!*at) {
		++*at;
		return c->names;
	}
	while (s->module && s->module(s->user, *at - 1, &names)) {
		++*at;
		if (names && names != c->names)
			return names;
	}
	return NULL;
}

bool dbg_context_find(const struct dbg_context *c, const char *name, struct dbg_variable *out)
{
	struct dbg_names *names;

	for (u32 at = 0; (names = dbg_context_names(c, &at));)
		if (names == c->names ? dbg_names_find(names, c->place, c->inlined, name, out)
				      : dbg_names_find(names, (struct dbg_place){0}, 0, name, out))
			return true;
	return false;
}

/* ---- modules go ---- */

static struct dbg_type *standard(struct dbg_type *t)
{
	struct dbg_type *all[] = {
		&dbg_type_bool,   &dbg_type_char, &dbg_type_uchar, &dbg_type_short,
		&dbg_type_ushort, &dbg_type_int,  &dbg_type_uint,  &dbg_type_long,
		&dbg_type_ulong,  &dbg_type_half, &dbg_type_float, &dbg_type_double,
	};
	bool is_enum;

	t = dbg_type_strip(t);
	is_enum = t->kind == DBG_ENUM;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i]->kind == (is_enum ? DBG_INT : t->kind) && all[i]->size == t->size &&
		    all[i]->is_signed == t->is_signed && all[i]->number == t->number)
			return all[i];
	return &dbg_type_void;
}

void dbg_session_forget(struct dbg_session *s)
{
	for (size_t i = 0; i < s->history.len; i++)
		s->history.at[i].value.type = standard(s->history.at[i].value.type);
	for (size_t i = 0; i < s->variables.len; i++)
		s->variables.at[i].value.type = standard(s->variables.at[i].value.type);
	s->arrays.len = 0;
	s->members.len = 0;
	map_fini(&s->pointers);
	s->pointers = (struct map){0};
	arena_fini(&s->arena);
	s->arena = (struct arena){0};
}

/* ---- types ---- */

struct dbg_type *dbg_session_pointer(struct dbg_session *s, struct dbg_type *to,
				     enum dbg_space space)
{
	/* Types are aligned to 8 bytes, and there are fewer spaces than that. */
	u64 key = map_key(to) | (u64)space;
	const u64 *known = map_get(&s->pointers, key);
	struct dbg_type *t;

	if (known)
		return (struct dbg_type *)(uintptr_t)*known;
	t = dbg_type_pointer(&s->arena, to, space);
	return t && map_set(&s->pointers, key, map_key(t)) ? t : &dbg_type_void;
}

struct dbg_type *dbg_session_array(struct dbg_session *s, struct dbg_type *of, u64 count)
{
	struct dbg_type *t;

	for (size_t i = 0; i < s->arrays.len; i++)
		if (s->arrays.at[i]->target == of && s->arrays.at[i]->count == count)
			return s->arrays.at[i];
	t = dbg_type_array(&s->arena, of, count);
	return t && VEC_PUSH(&s->arrays, t) ? t : &dbg_type_void;
}

struct dbg_type *dbg_session_member(struct dbg_session *s, struct dbg_type *of,
				    struct dbg_type *owner)
{
	struct dbg_type *t;

	for (size_t i = 0; i < s->members.len; i++)
		if (s->members.at[i]->target == of && s->members.at[i]->owner == owner)
			return s->members.at[i];
	t = dbg_type_member(&s->arena, of, owner);
	return t && VEC_PUSH(&s->members, t) ? t : &dbg_type_void;
}

/* ---- values ---- */

static bool copy_value(const struct dbg_context *c, const struct dbg_value *v, struct kept *out,
		       struct text *why)
{
	struct dbg_number n;
	struct dbg_value r;
	u64 size;

	if (!dbg_value_referred(c, v, &r, why))
		return false;
	size = dbg_type_size(r.type);
	out->bytes = NULL;
	if (r.bit_size) {
		if (!dbg_value_number(c, &r, &n, why))
			return false;
		out->value = dbg_value_make(r.type, &n);
		return true;
	}
	if (size > KEPT_MAX) {
		text_puts(why, "the value is too large to be kept");
		return false;
	}
	/* Of a function its address is all there is. */
	out->value = (struct dbg_value){.type = r.type, .store = DBG_RVALUE, .address = r.address};
	if (size > sizeof(out->value.own)) {
		out->bytes = malloc(size);
		out->value.data = out->bytes;
	}
	if (size && (size <= sizeof(out->value.own) || out->bytes) &&
	    dbg_value_read(c, &r, 0, out->bytes ? out->bytes : out->value.own, size, why))
		return true;
	free(out->bytes);
	out->bytes = NULL;
	return !size;
}

bool dbg_session_keep(struct dbg_session *s, const struct dbg_context *c, const struct dbg_value *v,
		      u32 *number, struct text *why)
{
	struct kept k = {0};

	if (!copy_value(c, v, &k, why))
		return false;
	if (!VEC_PUSH(&s->history, k)) {
		free_kept(&k);
		return false;
	}
	*number = (u32)s->history.len;
	return true;
}

void dbg_session_kept(const struct dbg_session *s, u32 number, struct dbg_value *out)
{
	*out = (struct dbg_value){.type = &dbg_type_void};
	if (number && number <= s->history.len)
		*out = s->history.at[number - 1].value;
}

u32 dbg_session_count(const struct dbg_session *s)
{
	return (u32)s->history.len;
}

static struct kept *find_kept(const struct dbg_session *s, const char *name)
{
	for (size_t i = 0; i < s->variables.len; i++)
		if (!strcmp(s->variables.at[i].name, name))
			return &s->variables.at[i];
	return NULL;
}

bool dbg_session_has(const struct dbg_session *s, const char *name)
{
	return find_kept(s, name) != NULL;
}

void dbg_session_get(const struct dbg_session *s, const char *name, struct dbg_value *out)
{
	const struct kept *k = find_kept(s, name);

	*out = (struct dbg_value){.type = &dbg_type_void};
	if (k)
		*out = k->value;
	out->store = DBG_CONVENIENCE;
	out->name = name;
}

const char *dbg_session_variable(const struct dbg_session *s, u32 i)
{
	return i < s->variables.len ? s->variables.at[i].name : NULL;
}

bool dbg_session_set(struct dbg_session *s, const struct dbg_context *c, const char *name,
		     const struct dbg_value *v, struct text *why)
{
	struct kept *k = find_kept(s, name), fresh = {0};

	if (!copy_value(c, v, &fresh, why))
		return false;
	if (k) {
		free(k->bytes);
		k->bytes = fresh.bytes;
		k->value = fresh.value;
		return true;
	}
	fresh.name = strdup(name);
	if (fresh.name && VEC_PUSH(&s->variables, fresh))
		return true;
	free_kept(&fresh);
	return false;
}
