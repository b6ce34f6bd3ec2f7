/*
 * A campaign: in each run the result of one instruction changes, which is drawn among all that the
 * kernels run. What becomes of the program is counted.
 */
#include "src/base/vec.h"
#include "src/sched/sched.h"
#include "src/tools/inject/inject.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A launch that the campaign is about. */
struct site_launch {
	u64 number, insns;
};

/* What becomes of a run. */
enum outcome {
	OUTCOME_MASKED,
	OUTCOME_SILENT,
	OUTCOME_FOUND, /* by a check; else it would be silent, masked or an error */
	OUTCOME_CRASH,
	OUTCOME_ERROR,
	OUTCOME_HANG,
	OUTCOMES
};

struct site_run {
	struct trial trial;
	char *rule;
	u64 number;
};

struct sites {
	struct campaign *c;
	VEC(struct site_launch) launches;
	u64 total, next;
	u64 seen[OUTCOMES];
	u64 first[OUTCOMES]; /* the least number of a run that ended so; 0: none */
	struct site_run run[TRIALS_MAX];
	u32 running;
	bool broken;
};

/* ---- where ---- */

static void begin_rule(const struct inject_options *o, struct text *rule)
{
	const char *kernel = o->kernel ? o->kernel : "*";

	text_printf(rule, strchr(kernel, ' ') ? "kernel=\"%s\"" : "kernel=%s", kernel);
	text_printf(rule, " group=%s", o->group ? o->group : "gp");
}

/* "..: launch 2 of these, sum(float*): 512 instructions of threads (gp)" */
static bool take_counts(struct sites *s, const struct trial *t)
{
	static const char launch[] = ": launch ", insns[] = " instructions of threads (";

	for (const char *at = inject_act_line(t->err.at); at; at = inject_act_line(at)) {
		size_t n = strcspn(at, "\n");
		const char *from = memmem(at, n, launch, sizeof(launch) - 1),
			   *to = memmem(at, n, insns, sizeof(insns) - 1), *digits = to;
		struct site_launch l;

		while (digits && digits > at && digits[-1] >= '0' && digits[-1] <= '9')
			digits--;
		if (!from || !to)
			continue;
		l.number = strtoull(from + sizeof(launch) - 1, NULL, 10);
		l.insns = strtoull(digits, NULL, 10);
		s->total += l.insns;
		if (!VEC_PUSH(&s->launches, l))
			return false;
	}
	return true;
}

/* The rule of run i. */
static bool draw_rule(const struct sites *s, u64 i, struct text *rule)
{
	const struct inject_options *o = s->c->o;
	u64 at = sched_mix(sched_mix(o->seed, i), s->total) % s->total;
	size_t k = 0;

	while (at >= s->launches.at[k].insns)
		at -= s->launches.at[k++].insns;
	begin_rule(o, rule);
	text_printf(rule, " launch=%llu inst=%llu seed=%llu -> flip %s",
		    (unsigned long long)s->launches.at[k].number, (unsigned long long)at + 1,
		    (unsigned long long)(o->seed + i), o->model ? o->model : "1");
	return !rule->failed;
}

/* ---- runs ---- */

static bool begin_site(struct sites *s)
{
	struct site_run *r = &s->run[s->running];
	struct inject_environment e;
	struct text rule = {0};
	bool ok;

	*r = (struct site_run){.number = ++s->next};
	ok = draw_rule(s, r->number, &rule);
	r->rule = rule.at;
	ok = ok && inject_environment(s->c, r->rule, 0, false, &e);
	if (ok) {
		ok = trial_begin(&r->trial, s->c->argv, e.variables, s->c->limit_ms);
		inject_environment_fini(&e);
	}
	if (!ok)
		free(r->rule);
	s->running += ok;
	return ok;
}

static enum outcome outcome_of(const struct campaign *c, const struct trial *t)
{
	return t->timed_out                ? OUTCOME_HANG
	       : t->signal                 ? OUTCOME_CRASH
	       : inject_has_findings(c, t) ? OUTCOME_FOUND
	       : t->status                 ? OUTCOME_ERROR
	       : inject_is_golden(c, t)    ? OUTCOME_MASKED
					   : OUTCOME_SILENT;
}

static void end_site(struct sites *s, u32 at)
{
	struct site_run r = s->run[at];
	enum outcome o;

	s->run[at] = s->run[--s->running];
	if (!trial_end(&r.trial)) {
		s->broken = true;
	} else {
		o = outcome_of(s->c, &r.trial);
		s->seen[o]++;
		if (!s->first[o] || r.number < s->first[o])
			s->first[o] = r.number;
	}
	trial_fini(&r.trial);
	free(r.rule);
}

static void run_sites(struct sites *s)
{
	const struct inject_options *o = s->c->o;

	for (;;) {
		struct trial *trials[TRIALS_MAX];

		while (s->running < o->jobs && s->next < o->runs && !s->broken)
			s->broken = !begin_site(s);
		if (!s->running)
			return;
		for (u32 i = 0; i < s->running; i++)
			trials[i] = &s->run[i].trial;
		end_site(s, trial_wait_any(trials, s->running));
	}
}

/* ---- the answer ---- */

/* Wilson's interval: "Probable Inference, the Law of Succession, and Statistical Inference", 1927. */
static void say_share(const char *what, u64 n, u64 of)
{
	const f64 z = 1.959964, count = (f64)of, p = (f64)n / count, wide = z * z / count;
	f64 middle = (p + wide / 2) / (1 + wide),
	    half = z * sqrt(p * (1 - p) / count + wide / 4 / count) / (1 + wide);

	printf("  %-7s %6llu  %5.1f %% (%.1f to %.1f)", what, (unsigned long long)n, 100 * p,
	       100 * (middle - half > 0 ? middle - half : 0),
	       100 * (middle + half < 1 ? middle + half : 1));
}

static void say_example(const struct sites *s, enum outcome o)
{
	struct text rule = {0};

	if (!s->first[o] || !draw_rule(s, s->first[o], &rule))
		return;
	inject_say_command(s->c, rule.at, 0);
	text_fini(&rule);
}

static void say_outcomes(const struct sites *s)
{
	const u64 *n = s->seen;
	u64 stopped = n[OUTCOME_CRASH] + n[OUTCOME_ERROR] + n[OUTCOME_HANG];

	say_share("masked", n[OUTCOME_MASKED], s->c->o->runs);
	printf(": it has done what it does without\n");
	say_share("SDC", n[OUTCOME_SILENT], s->c->o->runs);
	printf(": exit status 0, but it has printed something else\n");
	say_example(s, OUTCOME_SILENT);
	if (s->c->o->check) {
		say_share("found", n[OUTCOME_FOUND], s->c->o->runs);
		printf(": checks find something\n");
		say_example(s, OUTCOME_FOUND);
	}
	say_share("DUE", stopped, s->c->o->runs);
	printf(": %llu signals, %llu errors, %llu hangs\n", (unsigned long long)n[OUTCOME_CRASH],
	       (unsigned long long)n[OUTCOME_ERROR], (unsigned long long)n[OUTCOME_HANG]);
	say_example(s, n[OUTCOME_CRASH]   ? OUTCOME_CRASH
		       : n[OUTCOME_ERROR] ? OUTCOME_ERROR
					  : OUTCOME_HANG);
}

static int list_sites(const struct sites *s)
{
	for (u64 i = 1; i <= s->c->o->runs; i++) {
		struct text rule = {0};

		if (!draw_rule(s, i, &rule))
			return TOOL_CANNOT_RUN;
		printf("%llu: %s\n", (unsigned long long)i, rule.at);
		text_fini(&rule);
	}
	return TOOL_OK;
}

/* Which there are, and what the program prints without. */
static int count_sites(struct sites *s)
{
	struct text rule = {0};
	struct trial t = {0};
	int status = TOOL_OK;

	begin_rule(s->c->o, &rule);
	text_puts(&rule, " -> count");
	if (rule.failed || !tool_check_rules(rule.at, INJECT_PLACE))
		status = TOOL_USAGE;
	status = status ? status : inject_run_first(s->c, rule.at, 0, &t);
	if (!status && !take_counts(s, &t))
		status = TOOL_CANNOT_RUN;
	if (!status && !s->c->has_golden) {
		text_add(&s->c->golden, t.out.at ? t.out.at : "", t.out.len);
		s->c->has_golden = true;
	}
	trial_fini(&t);
	text_fini(&rule);
	return status;
}

/* Is the rule that is drawn one? The model may be wrong. */
static int check_model(const struct sites *s)
{
	struct text rule = {0};
	int status = TOOL_USAGE;

	begin_rule(s->c->o, &rule);
	text_printf(&rule, " inst=1 -> flip %s", s->c->o->model ? s->c->o->model : "1");
	if (!rule.failed && tool_check_rules(rule.at, INJECT_PLACE))
		status = TOOL_OK;
	text_fini(&rule);
	return status;
}

int inject_sites(const struct tool_command *self, struct campaign *c)
{
	struct sites *s = calloc(1, sizeof(*s));
	int status;

	if (!s)
		return TOOL_CANNOT_RUN;
	s->c = c;
	status = check_model(s);
	status = status ? status : count_sites(s);
	if (!status && !s->total)
		status = tool_usage(self, "%s runs no instruction of group %s", c->argv[0],
				    c->o->group ? c->o->group : "gp");
	if (!status)
		printf("inject: %llu of %llu instructions of threads (%s) in %zu launch%s, flip %s\n",
		       (unsigned long long)c->o->runs, (unsigned long long)s->total,
		       c->o->group ? c->o->group : "gp", s->launches.len,
		       s->launches.len == 1 ? "" : "es", c->o->model ? c->o->model : "1");
	if (!status && c->o->dry) {
		status = list_sites(s);
	} else if (!status) {
		run_sites(s);
		status = s->broken ? TOOL_CANNOT_RUN : TOOL_OK;
		if (!status)
			say_outcomes(s);
	}
	VEC_FREE(&s->launches);
	free(s);
	return status;
}
