/*
 * Expressions over numbers in tests of kernels: "ceil(n / 256)", "2 * x + 1". Values have 64 bits of
 * mantissa, so that whole numbers of 64 bits are exact.
 */
#ifndef PL_TOOLS_KIT_CALC_H
#define PL_TOOLS_KIT_CALC_H

#include "src/base/text.h"
#include "src/base/vec.h"

enum { CALC_VARIABLES = 64 };

/* In postfix order. */
struct calc_step {
	u8 op;             /* of calc.c */
	u32 variable;      /* its number */
	long double value; /* of a constant */
};

struct calc {
	VEC(struct calc_step) steps;
};

/*
 * Compile. find: the number of a variable of this name, below CALC_VARIABLES, or -1. False with a
 * reason in `why`, that names the place. calc_fini in any case.
 */
bool calc_parse(struct calc *c, const char *text,
		int (*find)(void *user, const char *name, size_t n), void *user, struct text *why);
void calc_fini(struct calc *c);
/* The value, with those of the variables. */
long double calc_value(const struct calc *c, const long double *variable);

#endif
