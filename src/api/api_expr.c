/*
 * Expressions in signatures: recursive descent into postfix steps, and a stack to run them.
 */
#include "src/api/api_expr.h"

#include <ctype.h>
#include <stdlib.h>

#define DEPTH_MAX 16u

static void expr_skip_blanks(struct expr_parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

bool expr_take(struct expr_parser *p, const char *word)
{
	size_t n = strlen(word);

	expr_skip_blanks(p);
	if (strncmp(p->at, word, n) || (is_name(word[0]) && is_name(p->at[n])))
		return false;
	p->at += n;
	return true;
}

size_t expr_name(struct expr_parser *p, const char **name)
{
	size_t n = 0;

	expr_skip_blanks(p);
	*name = p->at;
	if (isdigit((unsigned char)*p->at))
		return 0;
	while (is_name(p->at[n]))
		n++;
	p->at += n;
	return n;
}

static void emit_op(struct expr_parser *p, struct expr *e, char op, s64 value)
{
	if (e->len == EXPR_MAX) {
		p->error = "the expression is too long";
		return;
	}
	e->step[e->len++] = (struct expr_step){op, value};
}

static void sum(struct expr_parser *p, struct expr *e, u32 depth);

static void primary(struct expr_parser *p, struct expr *e, u32 depth)
{
	const char *name;
	char *end;
	size_t n;
	int found;

	if (depth > DEPTH_MAX) {
		p->error = "too many parentheses";
		return;
	}
	if (expr_take(p, "(")) {
		sum(p, e, depth + 1);
		if (!p->error && !expr_take(p, ")"))
			p->error = "a ) is missing";
		return;
	}
	n = expr_name(p, &name);
	if (n) {
		found = p->find(p->user, name, n);
		if (found < 0)
			p->error = "only whole-number parameters have a value here";
		emit_op(p, e, '$', found);
		return;
	}
	if (!isdigit((unsigned char)*p->at)) {
		p->error = "a number or a parameter is missing";
		return;
	}
	emit_op(p, e, '#', (s64)strtoull(p->at, &end, 0));
	p->at = end;
}

static void term(struct expr_parser *p, struct expr *e, u32 depth)
{
	static const char *const ops[] = {"*", "/", "%"};

	primary(p, e, depth);
	for (u32 i = 0; i < ARRAY_LEN(ops) && !p->error; i++)
		if (expr_take(p, ops[i])) {
			primary(p, e, depth);
			emit_op(p, e, ops[i][0], 0);
			i = UINT32_MAX; /* from the first operator again */
		}
}

static void sum(struct expr_parser *p, struct expr *e, u32 depth)
{
	char op;

	term(p, e, depth);
	while (!p->error) {
		if (expr_take(p, "+"))
			op = '+';
		else if (expr_take(p, "-"))
			op = '-';
		else
			break;
		term(p, e, depth);
		emit_op(p, e, op, 0);
	}
}

void expr_parse(struct expr_parser *p, struct expr *out)
{
	out->len = 0;
	sum(p, out, 0);
}

static bool apply_op(char op, s64 a, s64 b, s64 *out)
{
	switch (op) {
	case '+':
		*out = (s64)((u64)a + (u64)b);
		return true;
	case '-':
		*out = (s64)((u64)a - (u64)b);
		return true;
	case '*':
		*out = (s64)((u64)a * (u64)b);
		return true;
	default:
		break;
	}
	if (!b || (b == -1 && a == INT64_MIN))
		return false;
	*out = op == '/' ? a / b : a % b;
	return true;
}

bool expr_value(const struct expr *e, const s64 *params, s64 *out)
{
	s64 stack[EXPR_MAX];
	u32 n = 0;

	for (u32 i = 0; i < e->len; i++) {
		const struct expr_step *s = &e->step[i];

		if (s->op == '#' || s->op == '$') {
			stack[n++] = s->op == '#' ? s->value : params[s->value];
			continue;
		}
		if (!apply_op(s->op, stack[n - 2], stack[n - 1], &stack[n - 2]))
			return false;
		n--;
	}
	*out = n ? stack[0] : 0;
	return true;
}
