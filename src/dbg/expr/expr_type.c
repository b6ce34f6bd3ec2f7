/*
 * Types in expressions: "unsigned", "const struct node *", "@shared int *", "float (*)[4]".
 */
#include "src/dbg/expr/expr_int.h"

#include <stdlib.h>

#define WORDS_MAX 8

static bool is_builtin_word(const char *w)
{
	static const char *const words[] = {"void", "bool",     "_Bool",  "char",  "short", "int",
					    "long", "unsigned", "signed", "float", "double"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(w, words[i]))
			return true;
	return false;
}

static bool is_prefix(const char *w)
{
	return !strcmp(w, "const") || !strcmp(w, "volatile");
}

static bool is_key(const char *w)
{
	return !strcmp(w, "struct") || !strcmp(w, "class") || !strcmp(w, "union") ||
	       !strcmp(w, "enum");
}

/* A template argument of the function there, or a type of the program, of this module first. */
static struct dbg_type *named(struct expr_lexer *l, const char *name)
{
	const struct dbg_context *c = l->c;
	struct dbg_names *names;
	struct dbg_type *t =
		c->names ? dbg_names_type_argument(c->names, c->place, c->inlined, name) : NULL;

	for (u32 at = 0; !t && (names = dbg_context_names(c, &at));) {
		t = dbg_names_type(names, name);
		l->expr->foreign |= t && names != c->names;
	}
	return t || strcmp(name, "half") != 0 ? t : &dbg_type_half;
}

bool expr_at_type(struct expr_lexer *l)
{
	const struct dbg_context *c = l->c;
	struct dbg_variable v;

	if (expr_is(l, "@"))
		return true;
	if (l->kind != TOKEN_NAME || l->file)
		return false;
	if (is_builtin_word(l->text) || is_prefix(l->text) || is_key(l->text))
		return true;
	/* A variable hides a type of its name. */
	return !(c->names && dbg_names_find(c->names, c->place, c->inlined, l->text, &v)) &&
	       named(l, l->text);
}

struct dbg_type *expr_type_word(struct expr_lexer *l)
{
	const char *word = l->text;
	struct dbg_type *t = is_builtin_word(word) ? dbg_type_of_words(&word, 1) : named(l, word);

	return t ? t : &dbg_type_int;
}

static enum dbg_space read_space(struct expr_lexer *l, struct text *why)
{
	enum dbg_space space = DBG_SPACES;

	expr_next(l);
	if (l->kind == TOKEN_NAME)
		space = dbg_space_find(l->text, strlen(l->text));
	if (space == DBG_SPACES)
		text_puts(why, "after @ a space is expected: global, shared, local, constant, "
			       "parameter or generic");
	else
		expr_next(l);
	return space;
}

/* The words before the signs. */
static struct dbg_type *read_base(struct expr_lexer *l, enum dbg_space *space, struct text *why)
{
	const char *words[WORDS_MAX];
	struct dbg_type *t = NULL;
	u32 n = 0;

	for (;;) {
		if (expr_is(l, "@")) {
			*space = read_space(l, why);
			if (*space == DBG_SPACES)
				return NULL;
			continue;
		}
		if (l->kind != TOKEN_NAME)
			break;
		if (is_builtin_word(l->text) && n < WORDS_MAX && !t) {
			words[n++] = l->text;
		} else if (is_key(l->text) && !t && !n) {
			expr_next(l);
			t = l->kind == TOKEN_NAME ? named(l, l->text) : NULL;
			if (!t) {
				text_printf(why, "No struct type named %s.", l->text);
				return NULL;
			}
		} else if (!is_prefix(l->text)) {
			if (n || t || !(t = named(l, l->text)))
				break;
		}
		expr_next(l);
	}
	t = t ? t : n ? dbg_type_of_words(words, n) : NULL;
	if (!t)
		text_puts(why, "A type is expected here.");
	return t;
}

static struct dbg_type *read_stars(struct expr_lexer *l, struct dbg_type *t, enum dbg_space space,
				   struct text *why)
{
	while (expr_is(l, "*") || expr_is(l, "@") || expr_is(l, "const") ||
	       expr_is(l, "volatile")) {
		if (expr_is(l, "@")) {
			space = read_space(l, why);
			if (space == DBG_SPACES)
				return NULL;
			continue;
		}
		if (expr_is(l, "*")) {
			t = dbg_session_pointer(l->c->session, t,
						space == DBG_GLOBAL ? DBG_GENERIC : space);
			space = DBG_GENERIC;
		}
		expr_next(l);
	}
	return t;
}

#define DIMS_MAX 8

static bool read_dims(struct expr_lexer *l, u64 *dims, u32 *n, struct text *why)
{
	for (*n = 0; expr_is(l, "[") && *n < DIMS_MAX; ++*n) {
		expr_next(l);
		if (l->kind != TOKEN_INT) {
			text_puts(why, "The size of an array is expected here.");
			return false;
		}
		memcpy(&dims[*n], l->value.own, sizeof(*dims));
		expr_next(l);
		if (!expr_is(l, "]")) {
			text_puts(why, "] is expected here.");
			return false;
		}
		expr_next(l);
	}
	return true;
}

struct dbg_type *expr_read_type(struct expr_lexer *l, struct text *why)
{
	enum dbg_space space = DBG_GENERIC;
	struct dbg_type *t = read_base(l, &space, why);
	u32 stars = 0, n;
	u64 dims[DIMS_MAX];

	t = t ? read_stars(l, t, space, why) : NULL;
	if (!t)
		return NULL;
	/* (*)[n]: a pointer to an array */
	if (expr_is(l, "(")) {
		for (expr_next(l); expr_is(l, "*"); expr_next(l))
			stars++;
		if (!stars || !expr_is(l, ")")) {
			text_puts(why, "The type is not understood.");
			return NULL;
		}
		expr_next(l);
	}
	if (!read_dims(l, dims, &n, why))
		return NULL;
	while (n--)
		t = dbg_session_array(l->c->session, t, dims[n]);
	while (stars--)
		t = dbg_session_pointer(l->c->session, t, DBG_GENERIC);
	return t;
}
