/*
 * Budgets: what a metric of a launch may be, for tests.
 */
#ifndef PL_PROFILE_BUDGET_H
#define PL_PROFILE_BUDGET_H

#include "src/profile/choice.h"
#include "src/profile/metrics.h"

struct profile_budget {
	u32 metric;
	char op[3]; /* "<=", "<", "==", "!=", ">=", ">" */
	double value;
	char *text;                      /* as it was given; owned */
	char *kernel;                    /* the same of the pattern; NULL: all launches */
	struct profile_pattern *pattern; /* owned */
};

struct profile_budgets {
	VEC(struct profile_budget) at;
};

/* "METRIC OP VALUE". False with a line in `why`. */
bool profile_budget_add(struct profile_budgets *b, const char *text, struct text *why);
/* The last one is for this kernel: a name or regex:EXPRESSION. */
bool profile_budget_kernel(struct profile_budgets *b, const char *kernel, struct text *why);
/*
 * Add a line for each launch that breaks one, and for each that no launch is for. True: none does.
 */
bool profile_budgets_check(const struct profile_budgets *b, const struct profile_report *r,
			   struct text *out);
void profile_budgets_fini(struct profile_budgets *b);

#endif
