/*
 * Each call of a kind fails once; and what rules would do.
 */
#include "src/tools/inject/inject.h"

#include <stdio.h>

/* "cudaMalloc" of the line about an act, which ends in "NAME, call ..". */
static void say_call_of(const char *line, const char *rule)
{
	const char *name = strstr(line, rule);
	size_t n;

	name = name ? name + strlen(rule) : line;
	name += strspn(name, ": ");
	n = strcspn(name, ",\n");
	printf("%.*s", (int)n, name);
}

/* The first line of the first finding. */
static void say_finding(const struct trial *t)
{
	static const char mark[] = "========= ";
	const char *at = t->err.at ? strstr(t->err.at, mark) : NULL;

	if (at)
		printf("  %.*s\n", (int)strcspn(at + sizeof(mark) - 1, "\n"),
		       at + sizeof(mark) - 1);
}

/* Says what is wrong. True: the program has survived. */
static bool judge_sweep(const struct campaign *c, const struct trial *t, const char *rule, u64 nth,
			u64 schedule)
{
	bool wrong = c->has_golden && !t->timed_out && !t->signal && !t->status &&
		     !inject_is_golden(c, t),
	     found = inject_has_findings(c, t);
	struct text how = {0};

	if (!t->timed_out && !t->signal && !wrong && !found)
		return true;
	trial_say(t, &how);
	printf("inject: ");
	say_call_of(inject_act_line(t->err.at), rule);
	printf(" nth=%llu: ", (unsigned long long)nth);
	if (found)
		printf("checks find something\n");
	else
		printf("%s%s\n", how.at, wrong ? ", but the output is wrong" : "");
	if (found)
		say_finding(t);
	inject_say_command(c, rule, schedule);
	text_fini(&how);
	return false;
}

static const char *default_error(const char *glob)
{
	return strstr(glob, "lloc") || strstr(glob, "Create") ? "2" : "999";
}

static void write_rule(const struct inject_options *o, u64 nth, struct text *rule)
{
	text_printf(rule, "call=%s ", o->sweep);
	if (nth)
		text_printf(rule, "nth=%llu ", (unsigned long long)nth);
	text_printf(rule, "-> error %s", o->error ? o->error : default_error(o->sweep));
}

/* Without rules, under each schedule. Returns TOOL_OK, or the status to end with. */
static int run_plainly(struct campaign *c)
{
	int status = TOOL_OK;

	for (u64 s = c->o->schedules + 1; s-- > 0 && !status;) {
		struct trial t;

		status = inject_run_first(c, NULL, s, &t);
		trial_fini(&t);
	}
	return status;
}

/* Under the natural schedule and others, up to the first that is not survived. */
static int sweep_schedules(struct campaign *c, const char *rule, u64 nth, bool *acted,
			   bool *survived)
{
	bool ok = true;

	*acted = false;
	for (u64 s = 0; s <= c->o->schedules && ok; s++) {
		struct trial t = {0};

		if (!inject_run(c, rule, s, false, &t)) {
			trial_fini(&t);
			return TOOL_CANNOT_RUN;
		}
		if (inject_act_line(t.err.at)) {
			*acted = true;
			ok = judge_sweep(c, &t, rule, nth, s);
		}
		trial_fini(&t);
	}
	*survived = ok;
	return TOOL_OK;
}

/* The n-th call fails. Returns TOOL_OK, or the status to end with. */
static int sweep_once(struct campaign *c, u64 nth, bool *acted, u64 *count)
{
	struct text rule = {0};
	bool survived = false;
	int status = TOOL_OK;

	write_rule(c->o, nth, &rule);
	if (nth == 1)
		status = rule.at && tool_check_rules(rule.at, INJECT_PLACE) ? run_plainly(c)
									    : TOOL_USAGE;
	if (!status)
		status = sweep_schedules(c, rule.at, nth, acted, &survived);
	*count += !status && *acted && survived;
	text_fini(&rule);
	return status;
}

int inject_sweep(const struct tool_command *self, struct campaign *c)
{
	u64 nth = 0, survived = 0;
	bool acted = false;
	int status;

	do {
		status = sweep_once(c, ++nth, &acted, &survived);
		if (status)
			return status;
	} while (acted);
	if (nth == 1)
		return tool_usage(self, "%s makes no call of '%s'", c->argv[0], c->o->sweep);
	printf("inject: %s: %llu of %llu survived\n", c->o->sweep, (unsigned long long)survived,
	       (unsigned long long)nth - 1);
	return survived == nth - 1 ? TOOL_OK : TOOL_FINDINGS;
}

/* ---- a dry run ---- */

/* "FILE:LINE: RULE: WHAT, in a dry run": WHAT. */
static void list_acts(const struct trial *t)
{
	static const char mark[] = ", in a dry run\n";
	u64 n = 0;

	for (const char *at = inject_act_line(t->err.at); at; at = inject_act_line(at)) {
		const char *end = strstr(at, mark);

		if (!end || (size_t)(end - at) > strcspn(at, "\n"))
			continue;
		printf("%llu: %.*s\n", (unsigned long long)++n, (int)(end - at), at);
	}
	printf("inject: %llu act%s in a dry run\n", (unsigned long long)n, n == 1 ? "" : "s");
}

int inject_list(const struct tool_command *self, struct campaign *c)
{
	struct text rule = {0};
	struct trial t = {0};
	int status = TOOL_OK;

	(void)self;
	if (c->o->rules)
		text_puts(&rule, c->o->rules);
	else
		write_rule(c->o, 0, &rule);
	c->limit_ms = c->o->limit_ms;
	if (!rule.at || !tool_check_rules(rule.at, INJECT_PLACE))
		status = TOOL_USAGE;
	else if (!inject_run(c, rule.at, 0, true, &t))
		status = TOOL_CANNOT_RUN;
	else
		list_acts(&t);
	if (!status && (t.timed_out || t.signal || t.status)) {
		struct text how = {0};

		trial_say(&t, &how);
		printf("inject: %s fails by itself: %s\n", c->argv[0], how.at ? how.at : "");
		text_fini(&how);
		status = TOOL_UNFIT;
	}
	trial_fini(&t);
	text_fini(&rule);
	return status;
}
