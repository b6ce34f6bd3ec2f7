/*
 * The parser: recursive descent, binary operators by precedence.
 */
#include "src/dbg/expr/expr_int.h"

#include <ctype.h>
#include <stdlib.h>

struct parser {
	struct expr_lexer l;
	struct dbg_expr *e;
	struct text *why;
	u32 depth;
	bool failed;
	struct expr_node nothing; /* what a failure returns */
};

static struct expr_node *parse_comma(struct parser *p);
static struct expr_node *parse_assign(struct parser *p);
static struct expr_node *parse_unary(struct parser *p);
static bool at_function_cast(const struct parser *p);

/* Every failure comes through here once; the tree is then not used. */
static struct expr_node *parse_fail(struct parser *p, const char *what)
{
	if (!p->failed) {
		if (p->l.kind == TOKEN_BAD)
			text_puts(p->why, p->l.text);
		else if (!p->why->len && what)
			text_printf(p->why, "%s", what);
		else if (!p->why->len && p->l.kind == TOKEN_END)
			text_puts(p->why, "A syntax error in expression, near `'.");
		else if (!p->why->len)
			text_printf(p->why, "A syntax error in expression, near `%.*s'.",
				    (int)strcspn(p->l.token, "\n"), p->l.token);
	}
	p->failed = true;
	p->l.kind = TOKEN_END;
	return &p->nothing;
}

static struct expr_node *node(struct parser *p, enum expr_op op, struct expr_node *a,
			      struct expr_node *b)
{
	struct expr_node *n = ARENA_NEW(&p->e->arena, struct expr_node);

	if (!n)
		return parse_fail(p, "no memory");
	n->op = (u8)op;
	n->a = a;
	n->b = b;
	return n;
}

static struct expr_node *step_node(struct parser *p, enum expr_op op, struct expr_node *a, s64 by)
{
	struct expr_node *n = node(p, op, a, NULL);

	if (!p->failed)
		n->number = by;
	return n;
}

static bool take_sign(struct parser *p, const char *sign)
{
	if (!expr_is(&p->l, sign))
		return false;
	expr_next(&p->l);
	return true;
}

static void want(struct parser *p, const char *sign)
{
	if (!take_sign(p, sign))
		parse_fail(p, NULL);
}

/* ---- what stands alone ---- */

static struct expr_node *constant(struct parser *p, const struct dbg_value *v)
{
	struct expr_node *n = node(p, EXPR_VALUE, NULL, NULL);

	if (!p->failed)
		n->value = *v;
	expr_next(&p->l);
	return n;
}

static struct expr_node *parse_string(struct parser *p)
{
	struct dbg_value v = {.store = DBG_RVALUE, .data = (const u8 *)p->l.text};

	v.type = dbg_session_array(p->l.c->session, &dbg_type_char, p->l.length + 1);
	return constant(p, &v);
}

static struct expr_node *parse_dollar(struct parser *p)
{
	const char *s = p->l.text;
	size_t dollars = *s == '$';
	struct expr_node *n;

	n = node(p, EXPR_DOLLAR, NULL, NULL);
	if (p->failed)
		return n;
	n->text = s;
	/* $, $$, $N, $$N */
	if (!s[dollars] || isdigit((unsigned char)s[dollars])) {
		n->op = EXPR_KEPT;
		n->from_last = dollars || !*s;
		n->number = s[dollars] ? strtoll(s + dollars, NULL, 10) : (s64)dollars;
	}
	expr_next(&p->l);
	return n;
}

static struct expr_node *parse_word(struct parser *p)
{
	static const struct {
		const char *word;
		struct dbg_type *type;
		u64 bits;
	} words[] = {{"true", &dbg_type_bool, 1},
		     {"false", &dbg_type_bool, 0},
		     {"nullptr", &dbg_type_long, 0},
		     {"NULL", &dbg_type_long, 0}};
	struct expr_node *n;

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (expr_is(&p->l, words[i].word)) {
			struct dbg_value v = dbg_value_int(words[i].type, words[i].bits);

			return constant(p, &v);
		}
	n = node(p, EXPR_NAME, NULL, NULL);
	if (!p->failed) {
		n->text = p->l.text;
		n->file = p->l.file;
	}
	expr_next(&p->l);
	return n;
}

static struct expr_node *parse_type(struct parser *p)
{
	struct expr_node *n = node(p, EXPR_TYPE, NULL, NULL);
	struct dbg_type *type = p->failed ? NULL : expr_read_type(&p->l, p->why);

	if (!type)
		return parse_fail(p, NULL);
	n->type = type;
	return n;
}

/* ( expression ), or ( type ) operand */
static struct expr_node *parse_parentheses(struct parser *p)
{
	struct expr_node *n, *type;

	expr_next(&p->l);
	if (!expr_at_type(&p->l) || at_function_cast(p)) {
		n = parse_comma(p);
		want(p, ")");
		/* (nothing)5 was meant as a cast. */
		if (!p->failed && n->op == EXPR_NAME && p->l.kind != TOKEN_SIGN &&
		    p->l.kind != TOKEN_END) {
			text_printf(p->why, "No symbol \"%s\" in current context.", n->text);
			return parse_fail(p, NULL);
		}
		return n;
	}
	type = parse_type(p);
	want(p, ")");
	if (p->failed)
		return type;
	n = node(p, EXPR_CAST, parse_unary(p), NULL);
	if (!p->failed)
		n->type = type->type;
	return n;
}

/* {type} address */
static struct expr_node *parse_braces(struct parser *p)
{
	struct expr_node *type, *n;

	expr_next(&p->l);
	type = parse_type(p);
	want(p, "}");
	n = node(p, EXPR_CAST, parse_unary(p), NULL);
	if (p->failed)
		return n;
	n->type = dbg_session_pointer(p->l.c->session, type->type, DBG_GENERIC);
	return node(p, EXPR_FOLLOW, n, NULL);
}

static struct expr_node *parse_register(struct parser *p)
{
	struct expr_node *n = node(p, EXPR_PTX, NULL, NULL);

	if (!expr_register(&p->l))
		return parse_fail(p, NULL);
	if (!p->failed)
		n->text = p->l.text;
	expr_next(&p->l);
	return n;
}

/* The operand of a cast to a type, in parentheses. */
static struct expr_node *cast_operand(struct parser *p, struct expr_node *type, s64 reinterpret)
{
	struct expr_node *n;

	want(p, "(");
	n = step_node(p, EXPR_CAST, p->failed ? NULL : parse_comma(p), reinterpret);
	want(p, ")");
	if (!p->failed)
		n->type = type->type;
	return n;
}

/* static_cast<type>(operand) and its siblings; NULL: something else. */
static struct expr_node *parse_named_cast(struct parser *p)
{
	static const char *const names[] = {"static_cast", "reinterpret_cast", "const_cast",
					    "dynamic_cast"};
	struct expr_lexer before = p->l;
	struct expr_node *type;
	size_t i = 0;

	while (i < ARRAY_LEN(names) && !expr_is(&p->l, names[i]))
		i++;
	if (i == ARRAY_LEN(names))
		return NULL;
	expr_next(&p->l);
	if (!take_sign(p, "<")) {
		p->l = before;
		return NULL;
	}
	if (!strcmp(names[i], "dynamic_cast"))
		return parse_fail(p, "dynamic_cast is not supported: use static_cast.");
	type = parse_type(p);
	want(p, ">");
	return p->failed ? &p->nothing : cast_operand(p, type, i == 1);
}

/* At a type: is it T(operand), rather than T, or T (*)[3]? */
static bool at_function_cast(const struct parser *p)
{
	struct expr_lexer l = p->l;

	expr_next(&l);
	if (!expr_is(&l, "("))
		return false;
	expr_next(&l);
	if (!expr_is(&l, "*"))
		return !expr_is(&l, ")");
	while (expr_is(&l, "*"))
		expr_next(&l);
	return !expr_is(&l, ")");
}

static struct expr_node *parse_name(struct parser *p)
{
	struct expr_node *n = parse_named_cast(p);

	if (n || p->failed)
		return n ? n : &p->nothing;
	if (!expr_at_type(&p->l))
		return parse_word(p);
	if (!at_function_cast(p))
		return parse_type(p);
	n = node(p, EXPR_TYPE, NULL, NULL);
	if (p->failed)
		return n;
	n->type = expr_type_word(&p->l);
	expr_next(&p->l);
	return cast_operand(p, n, 0);
}

static struct expr_node *parse_primary(struct parser *p)
{
	switch (p->l.kind) {
	case TOKEN_INT:
	case TOKEN_FLOAT:
	case TOKEN_CHAR:
		return constant(p, &p->l.value);
	case TOKEN_STRING:
		return parse_string(p);
	case TOKEN_DOLLAR:
		return parse_dollar(p);
	case TOKEN_NAME:
		return parse_name(p);
	case TOKEN_SIGN:
		if (expr_is(&p->l, "("))
			return parse_parentheses(p);
		if (expr_is(&p->l, "{"))
			return parse_braces(p);
		if (expr_is(&p->l, "%"))
			return parse_register(p);
		if (expr_is(&p->l, "@"))
			return parse_type(p);
		/* fall through */
	default:
		return parse_fail(p, NULL);
	}
}

/* ---- operators ---- */

static struct expr_node *parse_member(struct parser *p, struct expr_node *a, enum expr_op op)
{
	struct expr_node *n = node(p, op, a, NULL);

	expr_next(&p->l);
	if (p->l.kind != TOKEN_NAME)
		return parse_fail(p, NULL);
	if (!p->failed)
		n->text = p->l.text;
	expr_next(&p->l);
	return n;
}

/* NAME(a, b); the opening parenthesis has been read. */
static struct expr_node *parse_call(struct parser *p, struct expr_node *n)
{
	struct expr_node **last = &n->b;

	if (n->op != EXPR_NAME)
		return parse_fail(p, "Functions are called by their names.");
	n->op = EXPR_CALL;
	p->e->calls = true;
	if (take_sign(p, ")"))
		return n;
	do {
		struct expr_node *one = node(p, EXPR_LIST, parse_assign(p), NULL);

		if (p->failed)
			return one;
		*last = one;
		last = &one->b;
	} while (take_sign(p, ","));
	want(p, ")");
	return n;
}

static struct expr_node *parse_postfix(struct parser *p)
{
	struct expr_node *n = parse_primary(p);

	while (!p->failed) {
		if (expr_is(&p->l, ".")) {
			n = parse_member(p, n, EXPR_MEMBER);
		} else if (expr_is(&p->l, "->")) {
			n = parse_member(p, n, EXPR_ARROW);
		} else if (take_sign(p, "[")) {
			n = node(p, EXPR_INDEX, n, parse_comma(p));
			want(p, "]");
		} else if (n->op != EXPR_TYPE && take_sign(p, "(")) {
			n = parse_call(p, n);
		} else if (take_sign(p, "++")) {
			n = step_node(p, EXPR_AFTER, n, 1);
		} else if (take_sign(p, "--")) {
			n = step_node(p, EXPR_AFTER, n, -1);
		} else {
			break;
		}
	}
	return n;
}

/* sizeof (type), sizeof operand, and the same of alignof */
static struct expr_node *parse_sizeof(struct parser *p)
{
	s64 align = !expr_is(&p->l, "sizeof");
	struct expr_lexer before;
	struct expr_node *n;

	expr_next(&p->l);
	before = p->l;
	if (take_sign(p, "(") && expr_at_type(&p->l)) {
		n = step_node(p, EXPR_SIZEOF, parse_type(p), align);
		want(p, ")");
		return n;
	}
	p->l = before;
	return step_node(p, EXPR_SIZEOF, parse_unary(p), align);
}

static struct expr_node *parse_unary(struct parser *p)
{
	static const struct {
		const char *sign;
		enum expr_op op;
		s64 by;
	} signs[] = {{"-", EXPR_MINUS, 0},   {"+", EXPR_PLUS, 0},    {"!", EXPR_NOT, 0},
		     {"~", EXPR_FLIP, 0},    {"*", EXPR_FOLLOW, 0},  {"&", EXPR_ADDRESS, 0},
		     {"++", EXPR_BEFORE, 1}, {"--", EXPR_BEFORE, -1}};
	struct expr_node *n = NULL;

	if (++p->depth > EXPR_DEPTH_MAX)
		return parse_fail(p, "The expression is nested too deeply.");
	if (expr_is(&p->l, "sizeof") || expr_is(&p->l, "alignof") || expr_is(&p->l, "_Alignof"))
		n = parse_sizeof(p);
	for (size_t i = 0; i < ARRAY_LEN(signs) && !n; i++)
		if (take_sign(p, signs[i].sign))
			n = step_node(p, signs[i].op, parse_unary(p), signs[i].by);
	n = n ? n : parse_postfix(p);
	p->depth--;
	return n;
}

/* Binary operators from the loosest to the tightest. */
static const struct binary {
	const char *text;
	u8 level, op, sign;
} binaries[] = {
	{"||", 1, EXPR_OR, 0},
	{"&&", 2, EXPR_AND, 0},
	{"|", 3, EXPR_BINARY, SIGN_OR},
	{"^", 4, EXPR_BINARY, SIGN_XOR},
	{"&", 5, EXPR_BINARY, SIGN_AND},
	{"==", 6, EXPR_BINARY, SIGN_EQ},
	{"!=", 6, EXPR_BINARY, SIGN_NE},
	{"<", 7, EXPR_BINARY, SIGN_LT},
	{">", 7, EXPR_BINARY, SIGN_GT},
	{"<=", 7, EXPR_BINARY, SIGN_LE},
	{">=", 7, EXPR_BINARY, SIGN_GE},
	{"<<", 8, EXPR_BINARY, SIGN_SHL},
	{">>", 8, EXPR_BINARY, SIGN_SHR},
	{"@", 9, EXPR_REPEAT, 0},
	{"+", 10, EXPR_BINARY, SIGN_ADD},
	{"-", 10, EXPR_BINARY, SIGN_SUB},
	{"*", 11, EXPR_BINARY, SIGN_MUL},
	{"/", 11, EXPR_BINARY, SIGN_DIV},
	{"%", 11, EXPR_BINARY, SIGN_REM},
	{".*", 12, EXPR_BINARY, SIGN_MEMBER},
	{"->*", 12, EXPR_BINARY, SIGN_MEMBER},
};

static const struct binary *binary_at(const struct parser *p)
{
	for (size_t i = 0; i < ARRAY_LEN(binaries) && p->l.kind == TOKEN_SIGN; i++)
		if (!strcmp(p->l.text, binaries[i].text))
			return &binaries[i];
	return NULL;
}

static struct expr_node *parse_binary(struct parser *p, u32 level)
{
	struct expr_node *n = parse_unary(p);
	const struct binary *b;

	while (!p->failed && (b = binary_at(p)) && b->level >= level) {
		expr_next(&p->l);
		n = node(p, b->op, n, parse_binary(p, b->level + 1u));
		if (!p->failed)
			n->sign = b->sign;
	}
	return n;
}

static struct expr_node *parse_conditional(struct parser *p)
{
	struct expr_node *n = parse_binary(p, 1), *choice;

	if (p->failed || !take_sign(p, "?"))
		return n;
	choice = node(p, EXPR_CHOOSE, n, parse_comma(p));
	want(p, ":");
	if (p->failed)
		return choice;
	choice->c = parse_assign(p);
	return choice;
}

/* The operator of a compound assignment; SIGN_NONE: it is not one. */
static enum expr_sign compound_sign(const struct parser *p)
{
	size_t n = strlen(p->l.text);

	for (size_t i = 0; i < ARRAY_LEN(binaries); i++)
		if (binaries[i].op == EXPR_BINARY && binaries[i].level != 6 &&
		    binaries[i].level != 7 && n == strlen(binaries[i].text) + 1 &&
		    p->l.text[n - 1] == '=' && !strncmp(p->l.text, binaries[i].text, n - 1))
			return binaries[i].sign;
	return SIGN_NONE;
}

static struct expr_node *parse_assign(struct parser *p)
{
	struct expr_node *n;
	enum expr_sign sign = SIGN_NONE;

	if (++p->depth > EXPR_DEPTH_MAX)
		return parse_fail(p, "The expression is nested too deeply.");
	n = parse_conditional(p);
	if (!p->failed && p->l.kind == TOKEN_SIGN &&
	    (expr_is(&p->l, "=") || (sign = compound_sign(p)))) {
		expr_next(&p->l);
		n = node(p, EXPR_ASSIGN, n, parse_assign(p));
		if (!p->failed)
			n->sign = (u8)sign;
	}
	p->depth--;
	return n;
}

static struct expr_node *parse_comma(struct parser *p)
{
	struct expr_node *n = parse_assign(p);

	while (!p->failed && take_sign(p, ","))
		n = node(p, EXPR_COMMA, n, parse_assign(p));
	return n;
}

/* ---- the whole ---- */

struct dbg_expr *dbg_expr_parse(const struct dbg_context *c, const char *text, struct text *why)
{
	struct dbg_expr *e = calloc(1, sizeof(*e));
	struct parser p = {.e = e, .why = why};

	if (!e)
		return NULL;
	p.l = (struct expr_lexer){.c = c, .expr = e, .start = text, .at = text};
	expr_next(&p.l);
	e->root = parse_comma(&p);
	if (!p.failed && p.l.kind != TOKEN_END)
		parse_fail(&p, NULL);
	if (!p.failed)
		return e;
	dbg_expr_free(e);
	return NULL;
}

void dbg_expr_free(struct dbg_expr *e)
{
	if (!e)
		return;
	arena_fini(&e->arena);
	free(e);
}

bool dbg_expr_calls(const struct dbg_expr *e)
{
	return e->calls;
}

bool dbg_expr_is_foreign(const struct dbg_expr *e)
{
	return e->foreign;
}

struct dbg_type *dbg_expr_type(const struct dbg_expr *e)
{
	return e->root->op == EXPR_TYPE ? e->root->type : NULL;
}
