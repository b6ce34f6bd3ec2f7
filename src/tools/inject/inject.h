/*
 * Private to `ptxloom inject`: runs of a program in each of which one thing goes wrong.
 */
#ifndef PL_TOOLS_INJECT_H
#define PL_TOOLS_INJECT_H

#include "src/tools/trial.h"

/* PROG is not right without injection. */
#define TOOL_UNFIT 3
/* Where messages about rules say that these are: they are about parts that options give. */
#define INJECT_PLACE "ptxloom inject"

struct inject_options {
	const char *sweep, *rules, *error, *golden, *timeout, *device, *check;
	const char *kernel, *group, *model;
	u64 limit_ms, runs, schedules, seed, jobs;
	u32 given; /* a bit for each number that an option gives */
	bool dry;
};

struct campaign {
	const struct inject_options *o;
	char **argv;
	struct text golden; /* what is to be printed */
	bool has_golden;
	u64 limit_ms;
};

/* ---- runs.c ---- */

/*
 * The environment of a run: `rule` (NULL: none) acts, under the n-th random schedule (0: none).
 * Lines of it are in e; variables end with NULL. False: no memory; there is nothing to free.
 */
#define INJECT_VARIABLES 7u
struct inject_environment {
	struct text line[INJECT_VARIABLES];
	const char *variables[INJECT_VARIABLES + 1];
	u32 len;
};
bool inject_environment(const struct campaign *c, const char *rule, u64 schedule, bool dry,
			struct inject_environment *e);
void inject_environment_fini(struct inject_environment *e);
/* One run to its end. False after a message. */
bool inject_run(const struct campaign *c, const char *rule, u64 schedule, bool dry,
		struct trial *t);
/*
 * The run that has to be right, with a rule that changes nothing (NULL: none). The caller frees t,
 * whatever this returns: TOOL_OK, or the status to end with after a message.
 */
int inject_run_first(struct campaign *c, const char *rule, u64 schedule, struct trial *t);
bool inject_is_golden(const struct campaign *c, const struct trial *t);
/* Has a check found something? */
bool inject_has_findings(const struct campaign *c, const struct trial *t);
/* The next line about an act from `at` on, behind "ptxloom: inject: "; NULL: there is none. */
const char *inject_act_line(const char *at);
/* The command that does it again. */
void inject_say_command(const struct campaign *c, const char *rule, u64 schedule);

/* ---- sweep.c, sites.c: each returns the status to end with ---- */

/* Each call fails once. */
int inject_sweep(const struct tool_command *self, struct campaign *c);
/* What rules would do. */
int inject_list(const struct tool_command *self, struct campaign *c);
/* Results of instructions that are drawn change. */
int inject_sites(const struct tool_command *self, struct campaign *c);

#endif
