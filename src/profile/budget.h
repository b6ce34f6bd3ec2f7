/*
 * Budgets: what a metric of a launch may be, for tests.
 */
#ifndef PL_PROFILE_BUDGET_H
#define PL_PROFILE_BUDGET_H

#include "src/profile/choice.h"
#include "src/profile/kept/claim.h"

struct profile_budget {
	struct metric_claim claim;
	char *text;                      /* as it was given; owned */
	char *kernel;                    /* the same of the pattern; NULL: all launches */
	struct profile_pattern *pattern; /* owned */
};

/* Launches of one budget that are named. */
#define BUDGET_LINES 20u

struct profile_budgets {
	VEC(struct profile_budget) at;
};

/* "METRIC OP VALUE", with a tolerance if there is "+- PERCENT%". False with a line in `why`. */
bool profile_budget_add(struct profile_budgets *b, const char *text, struct text *why);
/* The last one is for this kernel: a name or regex:EXPRESSION. */
bool profile_budget_kernel(struct profile_budgets *b, const char *kernel, struct text *why);
/*
 * Add a line for each launch that breaks it, but for those beyond BUDGET_LINES, and one if no
 * launch is for it. True: none does.
 */
bool profile_budget_check(const struct profile_budget *b, const struct profile_report *r,
			  struct text *out);
void profile_budgets_fini(struct profile_budgets *b);

#endif
