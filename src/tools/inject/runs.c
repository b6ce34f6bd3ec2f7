/*
 * Runs of `ptxloom inject`, and what they have left.
 */
#include "src/check/finding.h"
#include "src/tools/inject/inject.h"

#include <stdio.h>

#define SLOWER 10u
#define SLACK_MS 5000u

static void add_variable(struct inject_environment *e, const char *name, const char *value)
{
	text_printf(&e->line[e->len++], "%s=%s", name, value);
}

bool inject_environment(const struct campaign *c, const char *rule, u64 schedule, bool dry,
			struct inject_environment *e)
{
	char number[32];
	bool ok = true;

	*e = (struct inject_environment){0};
	add_variable(e, "PTXLOOM_INJECT", rule ? rule : "");
	add_variable(e, "PTXLOOM_INJECT_DRY_RUN", dry ? "1" : "");
	if (c->o->device)
		add_variable(e, "PTXLOOM_DEVICE", c->o->device);
	if (c->o->check) {
		snprintf(number, sizeof(number), "%d", CHECK_EXIT_FOUND);
		add_variable(e, "PTXLOOM_CHECK", c->o->check);
		add_variable(e, "PTXLOOM_CHECK_STATUS", number);
	}
	if (schedule) {
		snprintf(number, sizeof(number), "random:%llu", (unsigned long long)schedule);
		add_variable(e, "PTXLOOM_SCHEDULE", number);
		add_variable(e, "PTXLOOM_SEED", "");
	}
	for (u32 i = 0; i < e->len; i++) {
		ok &= !e->line[i].failed;
		e->variables[i] = e->line[i].at;
	}
	if (!ok)
		inject_environment_fini(e);
	return ok;
}

void inject_environment_fini(struct inject_environment *e)
{
	for (u32 i = 0; i < e->len; i++)
		text_fini(&e->line[i]);
}

bool inject_run(const struct campaign *c, const char *rule, u64 schedule, bool dry, struct trial *t)
{
	struct inject_environment e;
	bool ok = inject_environment(c, rule, schedule, dry, &e);

	*t = (struct trial){0};
	if (ok) {
		ok = trial_run(t, c->argv, e.variables, c->limit_ms);
		inject_environment_fini(&e);
	}
	return ok;
}

bool inject_is_golden(const struct campaign *c, const struct trial *t)
{
	return c->golden.len == t->out.len &&
	       (!t->out.len || !memcmp(c->golden.at, t->out.at, t->out.len));
}

bool inject_has_findings(const struct campaign *c, const struct trial *t)
{
	return c->o->check && !t->timed_out && !t->signal && t->status == CHECK_EXIT_FOUND;
}

static void say_unfit(const struct campaign *c, u64 schedule, const char *how)
{
	printf("inject: %s fails by itself", c->argv[0]);
	if (schedule)
		printf(" under the schedule random:%llu", (unsigned long long)schedule);
	printf(": %s; nothing was injected\n", how);
}

int inject_run_first(struct campaign *c, const char *rule, u64 schedule, struct trial *t)
{
	u64 limit_ms = c->limit_ms;
	struct text how = {0};
	int status = TOOL_OK;

	c->limit_ms = c->o->limit_ms;
	if (!inject_run(c, rule, schedule, false, t))
		return TOOL_CANNOT_RUN;
	trial_say(t, &how);
	if (t->timed_out || t->signal || t->status) {
		fputs(t->err.at ? t->err.at : "", stderr);
		say_unfit(c, schedule,
			  inject_has_findings(c, t) ? "checks find something" : how.at);
		status = TOOL_UNFIT;
	} else if (c->has_golden && !inject_is_golden(c, t)) {
		printf("inject: %s prints by itself something else than %s; nothing was injected\n",
		       c->argv[0], c->o->golden);
		status = TOOL_UNFIT;
	}
	if (!c->limit_ms)
		c->limit_ms = max_u64(limit_ms, SLOWER * t->ms + SLACK_MS);
	text_fini(&how);
	return status;
}

const char *inject_act_line(const char *at)
{
	static const char mark[] = "ptxloom: inject: ";

	while (at && *at && strncmp(at, mark, sizeof(mark) - 1) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return at && *at ? at + sizeof(mark) - 1 : NULL;
}

void inject_say_command(const struct campaign *c, const char *rule, u64 schedule)
{
	struct text t = {0};

	text_puts(&t, "  again: ptxloom run ");
	if (c->o->device) {
		text_puts(&t, "-d ");
		tool_say_word(c->o->device, &t);
		text_puts(&t, " ");
	}
	if (c->o->check)
		text_printf(&t, "--check=%s ", c->o->check);
	if (schedule)
		text_printf(&t, "--schedule random:%llu ", (unsigned long long)schedule);
	text_puts(&t, "--inject ");
	tool_say_word(rule, &t);
	text_puts(&t, " --");
	for (char **a = c->argv; *a; a++) {
		text_puts(&t, " ");
		tool_say_word(*a, &t);
	}
	puts(t.at ? t.at : "");
	text_fini(&t);
}
