/*
 * Tokens of expressions.
 */
#include "src/dbg/expr/expr_int.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

static bool begins_name(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static void bad(struct expr_lexer *l, const char *why)
{
	l->kind = TOKEN_BAD;
	l->text = why;
}

static const char *copy_text(struct expr_lexer *l, const char *s, size_t n)
{
	const char *p = arena_strdup(&l->expr->arena, s, n);

	return p ? p : "";
}

/* ---- names ---- */

/* The end of <..> that begins at `at`, NULL: it does not end. */
static const char *end_of_arguments(const char *at)
{
	u32 depth = 0;

	for (; *at && *at != '\n'; at++) {
		depth += *at == '<' || *at == '(';
		depth -= depth && (*at == '>' || *at == ')');
		if (!depth)
			return at + 1;
	}
	return NULL;
}

/* Does the program know a type, or something in it, of this name? */
static bool is_template(struct expr_lexer *l, const char *begin, const char *end)
{
	const char *name = copy_text(l, begin, (size_t)(end - begin));
	struct dbg_context c = *l->c;
	struct dbg_variable v;

	if (!strncmp(end, "::", 2))
		return c.names != NULL;
	for (u32 at = 0; (c.names = dbg_context_names(l->c, &at));)
		if (dbg_names_type(c.names, name) || dbg_names_find_function(c.names, name))
			return true;
	return dbg_context_find(l->c, name, &v);
}

/* scale.cu::hidden without the quotes that gdb needs: the end of the file's name; NULL: none. */
static const char *end_of_file_name(const char *begin, const char *at)
{
	static const char *const endings[] = {".cu::", ".cuh::"};

	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		size_t n = strlen(endings[i]);

		if (at > begin && !strncmp(at, endings[i], n) && begins_name(at[n]))
			return at + n - 2;
	}
	return NULL;
}

static void lex_name(struct expr_lexer *l)
{
	const char *at = l->token;

	for (;;) {
		const char *end;

		while (in_name(*at))
			at++;
		end = *at == '<' ? end_of_arguments(at) : NULL;
		if (end && is_template(l, l->token, end))
			at = end;
		if (!l->file && (end = end_of_file_name(l->token, at))) {
			l->file = copy_text(l, l->token, (size_t)(end - l->token));
			l->token = at = end + 2;
			continue;
		}
		if (strncmp(at, "::", 2) != 0 || !begins_name(at[2]))
			break;
		at += 2;
	}
	l->kind = TOKEN_NAME;
	l->text = copy_text(l, l->token, (size_t)(at - l->token));
	l->at = at;
}

bool expr_register(struct expr_lexer *l)
{
	const char *at = l->token + 1;

	while (in_name(*at) || (*at == '.' && at[1] == 'p'))
		at++;
	if (at == l->token + 1)
		return false;
	l->text = copy_text(l, l->token, (size_t)(at - l->token));
	l->at = at;
	return true;
}

static void lex_dollar(struct expr_lexer *l)
{
	const char *at = l->token + 1;

	while (in_name(*at) || *at == '%')
		at++;
	l->kind = TOKEN_DOLLAR;
	l->text = copy_text(l, l->token + 1, (size_t)(at - l->token - 1));
	l->at = at;
}

/* ---- numbers ---- */

static struct dbg_type *integer_type(u64 n, bool decimal, bool is_unsigned, u32 longs)
{
	bool fits_int = n <= INT32_MAX, fits_uint = n <= UINT32_MAX, fits_long = n <= INT64_MAX;

	if (!longs && !is_unsigned && fits_int)
		return &dbg_type_int;
	if (!longs && fits_uint && (is_unsigned || !decimal))
		return &dbg_type_uint;
	if (longs > 1)
		return is_unsigned || !fits_long ? &dbg_type_ullong : &dbg_type_llong;
	return is_unsigned || !fits_long ? &dbg_type_ulong : &dbg_type_long;
}

static void lex_integer(struct expr_lexer *l)
{
	const char *s = l->token;
	int base = 10;
	bool is_unsigned = false;
	u32 longs = 0;
	char *end;
	u64 n;

	if (s[0] == '0')
		base = s[1] == 'x' || s[1] == 'X' ? 16 : s[1] == 'b' || s[1] == 'B' ? 2 : 8;
	errno = 0;
	n = strtoull(base == 2 ? s + 2 : s, &end, base);
	if (errno) {
		bad(l, "Numeric constant too large.");
		return;
	}
	for (; *end == 'u' || *end == 'U' || *end == 'l' || *end == 'L'; end++) {
		is_unsigned |= *end == 'u' || *end == 'U';
		longs += *end == 'l' || *end == 'L';
	}
	if (in_name(*end) || (base == 2 && end == s + 2)) {
		bad(l, "Invalid number.");
		return;
	}
	l->kind = TOKEN_INT;
	l->value = dbg_value_int(integer_type(n, base == 10, is_unsigned, longs), n);
	l->at = end;
}

static void lex_real(struct expr_lexer *l)
{
	struct dbg_number n = {.is_float = true};
	struct dbg_type *type = &dbg_type_double;
	char *end;

	n.real = strtod(l->token, &end);
	if (*end == 'f' || *end == 'F') {
		type = &dbg_type_float;
		end++;
	}
	if (in_name(*end) || end == l->token) {
		bad(l, "Invalid number.");
		return;
	}
	l->kind = TOKEN_FLOAT;
	l->value = dbg_value_make(type, &n);
	l->at = end;
}

static void lex_number(struct expr_lexer *l)
{
	const char *at = l->token;
	bool hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X'), real = false;

	for (; in_name(*at) || *at == '.' || ((*at == '+' || *at == '-') && real); at++) {
		char c = (char)tolower((unsigned char)*at);

		if (*at == '+' || *at == '-') {
			char before = (char)tolower((unsigned char)at[-1]);

			if (before != (hex ? 'p' : 'e'))
				break;
		}
		real |= c == '.' || (hex ? c == 'p' : c == 'e');
	}
	if (real)
		lex_real(l);
	else
		lex_integer(l);
}

/* ---- characters ---- */

/* The character at *at, which moves after it; -1: bad. */
static int read_char(const char **at)
{
	static const char letters[] = "abfnrtve0", values[] = "\a\b\f\n\r\t\v\033";
	const char *s = *at, *known;
	int n = 0;

	if (*s != '\\') {
		*at = s + 1;
		return (u8)*s;
	}
	s++;
	if (*s >= '0' && *s <= '7') {
		for (u32 i = 0; i < 3 && *s >= '0' && *s <= '7'; i++)
			n = n * 8 + *s++ - '0';
		*at = s;
		return n & 0xff;
	}
	if (*s == 'x') {
		char *end;

		n = (int)strtoul(s + 1, &end, 16);
		*at = end;
		return end == s + 1 ? -1 : n & 0xff;
	}
	if (!*s)
		return -1;
	known = strchr(letters, *s);
	*at = s + 1;
	return known ? (u8)values[known - letters] : (u8)*s;
}

/* 'scale.cu'::hidden, 'ns::f(int)': a name in quotes; those of files stand before ::. */
static bool lex_quoted(struct expr_lexer *l)
{
	const char *end = strchr(l->token + 1, '\''), *at;

	if (!end || end < l->token + 3 || memchr(l->token, '\n', (size_t)(end - l->token)))
		return false;
	at = end + 1;
	l->kind = TOKEN_NAME;
	l->file = NULL;
	if (strncmp(at, "::", 2) != 0 || !begins_name(at[2])) {
		l->text = copy_text(l, l->token + 1, (size_t)(end - l->token - 1));
		l->at = at;
		return true;
	}
	l->file = copy_text(l, l->token + 1, (size_t)(end - l->token - 1));
	l->token = at + 2;
	lex_name(l);
	return true;
}

static void lex_char(struct expr_lexer *l)
{
	const char *at = l->token + 1;
	int n = *at && *at != '\'' ? read_char(&at) : -1;

	if (n < 0 || *at != '\'') {
		if (!lex_quoted(l))
			bad(l, "Unmatched single quote.");
		return;
	}
	l->kind = TOKEN_CHAR;
	l->value = dbg_value_int(&dbg_type_char, (u64)n);
	l->at = at + 1;
}

static void lex_string(struct expr_lexer *l)
{
	const char *at = l->token + 1;
	char *s = arena_alloc(&l->expr->arena, strlen(at) + 1);
	int n = 0;

	l->length = 0;
	while (s && *at && *at != '"' && (n = read_char(&at)) >= 0)
		s[l->length++] = (char)n;
	if (!s || *at != '"' || n < 0) {
		bad(l, "Unterminated string in expression.");
		return;
	}
	l->kind = TOKEN_STRING;
	l->text = s;
	l->at = at + 1;
}

/* ---- signs ---- */

static void lex_sign(struct expr_lexer *l)
{
	static const char *const signs[] = {"<<=", ">>=", "->*", ".*", "->", "++", "--", "<<",
					    ">>",  "<=",  ">=",  "==", "!=", "&&", "||", "+=",
					    "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "::"};
	size_t n = 1;

	for (size_t i = 0; i < ARRAY_LEN(signs) && n == 1; i++)
		if (!strncmp(l->token, signs[i], strlen(signs[i])))
			n = strlen(signs[i]);
	if (n == 1 && !strchr("+-*/%&|^!~<>=?:,.()[]@{}", *l->token)) {
		bad(l, "Invalid character in expression.");
		return;
	}
	l->kind = TOKEN_SIGN;
	l->text = copy_text(l, l->token, n);
	l->at = l->token + n;
}

void expr_next(struct expr_lexer *l)
{
	while (isspace((unsigned char)*l->at))
		l->at++;
	l->token = l->at;
	l->file = NULL;
	if (!*l->at) {
		l->kind = TOKEN_END;
		l->text = "";
	} else if (begins_name(*l->at) || (!strncmp(l->at, "::", 2) && begins_name(l->at[2]))) {
		lex_name(l);
	} else if (isdigit((unsigned char)*l->at) ||
		   (*l->at == '.' && isdigit((unsigned char)l->at[1]))) {
		lex_number(l);
	} else if (*l->at == '\'') {
		lex_char(l);
	} else if (*l->at == '"') {
		lex_string(l);
	} else if (*l->at == '$') {
		lex_dollar(l);
	} else {
		lex_sign(l);
	}
}
