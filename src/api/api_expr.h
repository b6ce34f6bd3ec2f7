/*
 * Whole-number expressions over the parameters of a bound kernel: "(n + 255) / 256".
 */
#ifndef PL_API_EXPR_H
#define PL_API_EXPR_H

#include "src/base/base.h"

#define EXPR_MAX 24u

/* In postfix order. */
struct expr {
	u32 len;
	struct expr_step {
		char op; /* + - * / %, '#': the constant, '$': parameter number `value` */
		s64 value;
	} step[EXPR_MAX];
};

/* Where the parser stands; `error` is set at the first fault and stays. */
struct expr_parser {
	const char *at;
	const char *error;
	/* Number of the parameter of this name, or -1. */
	int (*find)(void *user, const char *name, size_t n);
	void *user;
};

/* Skip blanks; then whether `word` stands here, which is taken. */
bool expr_take(struct expr_parser *p, const char *word);
/* Take a name; returns its length, 0: none stands here. */
size_t expr_name(struct expr_parser *p, const char **name);
/* Parse one expression. On errors p->error says why. */
void expr_parse(struct expr_parser *p, struct expr *out);
/* The value, with the parameters' values. Wraps around; a division by zero gives false. */
bool expr_value(const struct expr *e, const s64 *params, s64 *out);

#endif
