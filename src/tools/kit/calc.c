/*
 * Expressions: a parser by recursive descent to postfix steps, and a stack that runs them.
 */
#include "src/tools/kit/calc.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#define DEPTH_MAX 64u
#define STEPS_MAX 4096u
/* What is on the stack at a time: each level of the parser leaves at most three values. */
#define STACK_MAX (4 * DEPTH_MAX)

enum calc_op {
	CALC_CONSTANT,
	CALC_VARIABLE,
	CALC_NEGATE,
	CALC_ADD,
	CALC_SUBTRACT,
	CALC_MULTIPLY,
	CALC_DIVIDE,
	CALC_REST,
	CALC_FUNCTIONS, /* the first of the table */
};

static long double lesser(long double a, long double b)
{
	return a < b ? a : b;
}

static long double greater(long double a, long double b)
{
	return a > b ? a : b;
}

static const struct {
	const char *name;
	u32 arguments;
	long double (*one)(long double);
	long double (*two)(long double, long double);
} functions[] = {
	{"abs", 1, fabsl, NULL},  {"ceil", 1, ceill, NULL},   {"cos", 1, cosl, NULL},
	{"exp", 1, expl, NULL},   {"exp2", 1, exp2l, NULL},   {"floor", 1, floorl, NULL},
	{"log", 1, logl, NULL},   {"log2", 1, log2l, NULL},   {"round", 1, roundl, NULL},
	{"sin", 1, sinl, NULL},   {"sqrt", 1, sqrtl, NULL},   {"tan", 1, tanl, NULL},
	{"tanh", 1, tanhl, NULL}, {"trunc", 1, truncl, NULL}, {"max", 2, NULL, greater},
	{"min", 2, NULL, lesser}, {"pow", 2, NULL, powl},
};

struct calc_parser {
	const char *text, *at;
	struct calc *out;
	int (*find)(void *user, const char *name, size_t n);
	void *user;
	struct text *why;
	u32 depth;
	bool failed;
};

static void fail_at(struct calc_parser *p, const char *at, const char *reason)
{
	if (!p->failed)
		text_printf(p->why, "'%s': %s at character %zu", p->text, reason,
			    (size_t)(at - p->text) + 1);
	p->failed = true;
}

static void add_step(struct calc_parser *p, u8 op, u32 variable, long double value)
{
	struct calc_step s = {.op = op, .variable = variable, .value = value};

	if (p->failed)
		return;
	if (p->out->steps.len >= STEPS_MAX || !VEC_PUSH(&p->out->steps, s))
		fail_at(p, p->at, "it is too long");
}

static char calc_blanks(struct calc_parser *p)
{
	p->at += strspn(p->at, " \t");
	return *p->at;
}

static bool take_char(struct calc_parser *p, char c)
{
	if (calc_blanks(p) != c)
		return false;
	p->at++;
	return true;
}

static void calc_sum(struct calc_parser *p);

static void calc_call(struct calc_parser *p, const char *name, size_t n)
{
	size_t f = 0;

	while (f < ARRAY_LEN(functions) &&
	       (strlen(functions[f].name) != n || memcmp(functions[f].name, name, n)))
		f++;
	if (f == ARRAY_LEN(functions)) {
		fail_at(p, name, "there is no such function");
		return;
	}
	for (u32 i = 0; i < functions[f].arguments; i++) {
		if (i && !take_char(p, ','))
			fail_at(p, p->at, "a comma is missing");
		calc_sum(p);
	}
	if (!take_char(p, ')'))
		fail_at(p, p->at, "a ) is missing");
	add_step(p, (u8)(CALC_FUNCTIONS + f), 0, 0);
}

static void calc_name(struct calc_parser *p)
{
	const char *name = p->at;
	size_t n = 0;
	int variable;

	while (isalnum((unsigned char)name[n]) || name[n] == '_')
		n++;
	p->at += n;
	if (take_char(p, '(')) {
		calc_call(p, name, n);
		return;
	}
	variable = p->find ? p->find(p->user, name, n) : -1;
	if (variable < 0 || variable >= CALC_VARIABLES)
		fail_at(p, name, "there is no such name");
	else
		add_step(p, CALC_VARIABLE, (u32)variable, 0);
}

static void calc_atom(struct calc_parser *p)
{
	char c = calc_blanks(p), *end;
	long double v;

	if (c == '(') {
		p->at++;
		calc_sum(p);
		if (!take_char(p, ')'))
			fail_at(p, p->at, "a ) is missing");
	} else if (isalpha((unsigned char)c) || c == '_') {
		calc_name(p);
	} else if (isdigit((unsigned char)c) || c == '.') {
		v = strtold(p->at, &end);
		if (end == p->at)
			fail_at(p, p->at, "a number is wanted");
		p->at = end;
		add_step(p, CALC_CONSTANT, 0, v);
	} else {
		fail_at(p, p->at, "a number or a name is wanted");
	}
}

static void calc_unary(struct calc_parser *p)
{
	u32 negations = 0;

	for (;; negations++)
		if (!take_char(p, '-')) {
			if (!take_char(p, '+'))
				break;
			negations--;
		}
	calc_atom(p);
	if (negations & 1)
		add_step(p, CALC_NEGATE, 0, 0);
}

static void calc_product(struct calc_parser *p)
{
	calc_unary(p);
	while (!p->failed) {
		u8 op = take_char(p, '*')   ? CALC_MULTIPLY
			: take_char(p, '/') ? CALC_DIVIDE
			: take_char(p, '%') ? CALC_REST
					    : CALC_CONSTANT;

		if (op == CALC_CONSTANT)
			return;
		calc_unary(p);
		add_step(p, op, 0, 0);
	}
}

static void calc_sum(struct calc_parser *p)
{
	if (p->failed)
		return;
	if (++p->depth > DEPTH_MAX) {
		fail_at(p, p->at, "it is nested too deeply");
		return;
	}
	calc_product(p);
	while (!p->failed) {
		u8 op = take_char(p, '+')   ? CALC_ADD
			: take_char(p, '-') ? CALC_SUBTRACT
					    : CALC_CONSTANT;

		if (op == CALC_CONSTANT)
			break;
		calc_product(p);
		add_step(p, op, 0, 0);
	}
	p->depth--;
}

bool calc_parse(struct calc *c, const char *text,
		int (*find)(void *user, const char *name, size_t n), void *user, struct text *why)
{
	struct calc_parser p = {
		.text = text, .at = text, .out = c, .find = find, .user = user, .why = why};

	*c = (struct calc){0};
	calc_sum(&p);
	if (!p.failed && calc_blanks(&p))
		fail_at(&p, p.at, "this is too much");
	return !p.failed;
}

void calc_fini(struct calc *c)
{
	VEC_FREE(&c->steps);
}

static long double calc_binary(u8 op, long double a, long double b)
{
	switch ((enum calc_op)op) {
	case CALC_ADD:
		return a + b;
	case CALC_SUBTRACT:
		return a - b;
	case CALC_MULTIPLY:
		return a * b;
	case CALC_DIVIDE:
		return a / b;
	case CALC_REST:
		return fmodl(a, b);
	case CALC_CONSTANT:
	case CALC_VARIABLE:
	case CALC_NEGATE:
	case CALC_FUNCTIONS:
		break;
	}
	return functions[op - CALC_FUNCTIONS].two(a, b);
}

long double calc_value(const struct calc *c, const long double *variable)
{
	long double stack[STACK_MAX] = {0};
	u32 n = 0;

	for (size_t i = 0; i < c->steps.len; i++) {
		const struct calc_step *s = &c->steps.at[i];

		if (s->op == CALC_CONSTANT) {
			stack[n++] = s->value;
		} else if (s->op == CALC_VARIABLE) {
			stack[n++] = variable[s->variable];
		} else if (s->op == CALC_NEGATE) {
			stack[n - 1] = -stack[n - 1];
		} else if (s->op >= CALC_FUNCTIONS && functions[s->op - CALC_FUNCTIONS].one) {
			stack[n - 1] = functions[s->op - CALC_FUNCTIONS].one(stack[n - 1]);
		} else {
			n--;
			stack[n - 1] = calc_binary(s->op, stack[n - 1], stack[n]);
		}
	}
	return stack[0];
}
