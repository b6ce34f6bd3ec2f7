/*
 * Expectations of `ptxloom exec`.
 */
#include "src/tools/kit/expect.h"

#include "src/base/file.h"
#include "src/base/nearest.h"
#include "src/check/record.h"
#include "src/tools/exec_job.h"
#include "src/tools/kit/calc.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- options ---- */

static int wrong_option(const struct exec_job *j, const char *arg, struct text *why)
{
	int status = tool_usage(j->self, "%s: %s", arg, why->at ? why->at : "no memory left");

	text_fini(why);
	return status;
}

/* NAME[:TYPE]=INIT */
static int add_expected(struct exec_job *j, const char *arg)
{
	size_t n = strcspn(arg, ":= ");
	const char *s = arg + n + strspn(arg + n, " ");
	struct expect_value v = {.option = arg};
	struct data type;
	struct text why = {0};

	if (!n || !*s) {
		text_puts(&why, "--expect takes NAME=VALUES or NAME:TYPE=VALUES");
		return wrong_option(j, arg, &why);
	}
	if (*s++ == ':') {
		if (!data_parse_type(&s, &type, &why))
			return wrong_option(j, arg, &why);
		v.type = type.type;
		s += strspn(s, " ");
		if (type.array || *s != '=') {
			text_printf(&why, "= is wanted after the type, not '%s'", s);
			return wrong_option(j, arg, &why);
		}
		s++;
	}
	v.init = s + strspn(s, " ");
	v.name = strndup(arg, n);
	if (v.name && VEC_PUSH(&j->expect.values, v))
		return TOOL_OK;
	free(v.name);
	return wrong_option(j, arg, &why);
}

/* [NAME:]TOLERANCE */
static int add_tolerance(struct exec_job *j, const char *arg)
{
	const char *colon = strchr(arg, ':');
	struct expect_tolerance t = {0};
	struct text why = {0};

	if (!tolerance_parse(colon ? colon + 1 : arg, &t.tolerance, &why))
		return wrong_option(j, arg, &why);
	t.name = colon ? strndup(arg, (size_t)(colon - arg)) : NULL;
	if ((t.name || !colon) && VEC_PUSH(&j->expect.tolerances, t))
		return TOOL_OK;
	free(t.name);
	return wrong_option(j, arg, &why);
}

/* RULE, RULE at FILE:LINE, none */
static int set_fault(struct exec_job *j, const char *arg)
{
	size_t n = strcspn(arg, " ");
	const char *rule, *at = arg + n + strspn(arg + n, " ");
	struct nearest near;

	if (j->expect.fault)
		return tool_usage(j->self, "--expect-fault is there twice");
	j->expect.fault = n == 4 && !memcmp(arg, "none", n) ? "none" : NULL;
	nearest_init(&near, arg, n);
	for (u32 k = 1; (rule = device_fault_rule((enum fault_kind)k)); k++) {
		nearest_offer(&near, rule, strlen(rule));
		if (strlen(rule) == n && !memcmp(rule, arg, n))
			j->expect.fault = rule;
	}
	if (!j->expect.fault)
		return tool_usage(j->self, "--expect-fault: there is no rule '%.*s'%s%s%s", (int)n,
				  arg, near.best ? "; did you mean " : "",
				  near.best ? near.best : "", near.best ? "?" : "");
	if (*at && (strncmp(at, "at ", 3) != 0 || !strchr(at, ':')))
		return tool_usage(j->self, "--expect-fault takes RULE or 'RULE at FILE:LINE'");
	j->expect.fault_at = *at ? at + 3 + strspn(at + 3, " ") : NULL;
	return TOOL_OK;
}

static int add_claim(struct exec_job *j, const char *arg)
{
	struct metric_claim c;
	struct text why = {0};

	if (!metric_claim_parse(arg, &c, &why) || !VEC_PUSH(&j->expect.claims, c))
		return wrong_option(j, "--expect-metric", &why);
	return TOOL_OK;
}

int expect_option(struct exec_job *j, int letter, const char *arg)
{
	switch (letter) {
	case 'E':
		return add_expected(j, arg);
	case 'T':
		return add_tolerance(j, arg);
	case 'F':
		return set_fault(j, arg);
	case 'V':
		j->expect.saved.save = arg;
		return TOOL_OK;
	case 'P':
		j->expect.saved.has_places = true;
		return TOOL_OK;
	case 'A':
		j->expect.saved.against = arg;
		return TOOL_OK;
	case 'L':
		j->expect.saved.allow = arg;
		return TOOL_OK;
	default:
		return add_claim(j, arg);
	}
}

bool expect_is_any(const struct expect *e)
{
	return e->values.len || e->claims.len || e->fault || saved_is_any(&e->saved);
}

bool expect_needs_metrics(const struct expect *e)
{
	return e->claims.len || saved_is_any(&e->saved);
}

bool expect_needs_caches(const struct expect *e)
{
	for (size_t i = 0; i < e->claims.len; i++)
		if (e->claims.at[i].named.class == CLASS_CACHES)
			return true;
	return false;
}

/* ---- what is wanted ---- */

/* Variables of an expression: `i`, and the elements of the inputs as they were. */
static int find_element(void *user, const char *name, size_t n)
{
	const struct exec_job *j = user;

	for (size_t k = 0; k < j->inputs.len && k + 1 < CALC_VARIABLES; k++)
		if (j->inputs.at[k].name && strlen(j->inputs.at[k].name) == n &&
		    !memcmp(j->inputs.at[k].name, name, n))
			return (int)k + 1;
	return n == 1 && *name == 'i' ? 0 : -1;
}

/* An element beyond the end of an input is that of its last one. */
static void set_elements(const struct exec_job *j, u64 i, long double *v)
{
	v[0] = (long double)i;
	for (size_t k = 0; k < j->inputs.len && k + 1 < CALC_VARIABLES; k++) {
		const struct data *d = &j->inputs.at[k].data;

		if (j->inputs.at[k].name && d->count)
			v[k + 1] = data_real(d->type, data_get(d, i < d->count ? i : d->count - 1));
	}
}

static bool fill_expression(const struct exec_job *j, struct data *d, const char *init,
			    struct text *why)
{
	long double v[CALC_VARIABLES] = {0};
	struct calc c;
	bool ok = calc_parse(&c, init, find_element, (void *)(uintptr_t)j, why) &&
		  data_fill(d, "zeros", why);

	for (u64 i = 0; ok && i < d->count; i++) {
		set_elements(j, i, v);
		ok = data_set_real(d, i, calc_value(&c, v));
		if (!ok)
			text_printf(why, "element %" PRIu64 " is no value of type %s", i,
				    d->type->name);
	}
	calc_fini(&c);
	return ok;
}

/* Is it a list of values, or one of the words of initialisers? */
static bool is_initialiser(const char *init, u64 count)
{
	int depth = 0;
	char *end;

	if (*init == '@' || !strncmp(init, "random", 6) || !strcmp(init, "zeros") ||
	    !strcmp(init, "ones") || !strcmp(init, "iota"))
		return true;
	for (const char *s = init; *s; s++) {
		depth += (*s == '(') - (*s == ')');
		if (*s == ',' && !depth)
			return true;
	}
	if (count != 1)
		return false;
	strtod(init, &end);
	return !*end || (init[0] == '0' && (init[1] == 'f' || init[1] == 'd' || init[1] == 'x'));
}

static int prepare_value(struct exec_job *j, struct expect_value *v)
{
	struct text why = {0};
	struct data view;
	bool ok;

	if (!exec_job_view(j, v->name, v->type, &view))
		return tool_usage(j->self, "--expect: no buffer or variable '%s'", v->name);
	v->want = (struct data){.type = view.type, .count = view.count};
	ok = is_initialiser(v->init, view.count) ? data_fill(&v->want, v->init, &why)
						 : fill_expression(j, &v->want, v->init, &why);
	return ok ? TOOL_OK : wrong_option(j, v->option, &why);
}

int expect_prepare(struct exec_job *j)
{
	struct expect *e = &j->expect;
	int status = saved_open(&e->saved, j->self);

	for (size_t i = 0; !status && i < e->values.len; i++)
		status = prepare_value(j, &e->values.at[i]);
	for (size_t i = 0; !status && i < e->tolerances.len; i++) {
		const char *name = e->tolerances.at[i].name;
		size_t k = 0;

		while (name && k < e->values.len && strcmp(e->values.at[k].name, name) != 0)
			k++;
		if (k == e->values.len)
			status = tool_usage(j->self, "--tolerance: there is no --expect%s%s",
					    name ? " of " : "", name ? name : "");
	}
	return status;
}

/* ---- what came ---- */

bool expect_fault(struct exec_job *j, const struct device_fault *fault)
{
	struct expect *e = &j->expect;
	const char *rule = device_fault_rule(fault->kind);

	if (!e->fault || !strcmp(e->fault, "none"))
		return false;
	snprintf(e->met_rule, sizeof(e->met_rule), "%s", rule);
	if (fault->ptx_name && fault->ptx_line)
		text_printf(&e->met_at, "%s:%u\n", fault->ptx_name, fault->ptx_line);
	if (fault->source[0])
		text_printf(&e->met_at, "%s:%u\n", fault->source, fault->source_line);
	if (fault->message.at)
		text_puts(&e->report, fault->message.at);
	return true;
}

/* Is it one of the places, by the end of its path? */
static bool is_fault_place(const char *places, const char *wanted)
{
	for (const char *line = places; line && *line; line += strcspn(line, "\n") + 1)
		if (file_ends_with(line, strcspn(line, "\n"), wanted))
			return true;
	return false;
}

/* The status when a fault was to come. */
static int judge_fault(const struct expect *e, int status)
{
	bool right = !strcmp(e->met_rule, e->fault);

	if (right && (!e->fault_at || is_fault_place(e->met_at.at, e->fault_at)))
		return TOOL_OK;
	if (e->report.at)
		fputs(e->report.at, stderr);
	if (!e->met_rule[0])
		fprintf(stderr, "ptxloom exec: no fault, expected %s\n", e->fault);
	else if (!right)
		fprintf(stderr, "ptxloom exec: the fault is %s, expected %s\n", e->met_rule,
			e->fault);
	else
		fprintf(stderr, "ptxloom exec: the fault is not at %s\n", e->fault_at);
	/* What could not even start, or was interrupted, is no launch without a fault. */
	return status && status != TOOL_FINDINGS ? status : EXPECT_STATUS;
}

static const struct tolerance *tolerance_of(const struct expect *e, const char *name)
{
	static const struct tolerance exact;
	const struct tolerance *t = &exact;

	for (size_t i = 0; i < e->tolerances.len; i++)
		if (!e->tolerances.at[i].name && t == &exact)
			t = &e->tolerances.at[i].tolerance;
	for (size_t i = 0; i < e->tolerances.len; i++)
		if (e->tolerances.at[i].name && !strcmp(e->tolerances.at[i].name, name))
			t = &e->tolerances.at[i].tolerance;
	return t;
}

static bool judge_values(struct exec_job *j, struct text *out)
{
	bool ok = true;

	for (size_t i = 0; i < j->expect.values.len; i++) {
		const struct expect_value *v = &j->expect.values.at[i];
		struct data view;

		ok &= exec_job_view(j, v->name, v->type, &view) &&
		      data_compare(v->name, &view, &v->want, tolerance_of(&j->expect, v->name),
				   out);
	}
	return ok;
}

static bool judge_claim(const struct expect *e, const struct metric_claim *c, struct text *out)
{
	struct text why = {0}, claim = {0};
	bool ok = !profile_kept_check(e->kept, NULL, c, &why);

	text_puts(&why, ok ? "" : "\n");
	text_puts(out, why.at ? why.at : "");
	metric_claim_print(c, &claim);
	record_metrics(claim.at ? claim.at : "", 1, why.at ? why.at : "");
	text_fini(&why);
	text_fini(&claim);
	return ok;
}

/* Metrics to be kept, or that were: the status to end with. */
static int judge_metrics(struct exec_job *j)
{
	struct metric_base now = {0};
	int status = TOOL_USAGE;

	if (!saved_is_any(&j->expect.saved))
		return TOOL_OK;
	if (profile_kept_save(j->expect.kept, &now))
		status = saved_judge(&j->expect.saved, j->self, &now);
	else
		fputs("ptxloom exec: error: no memory left\n", stderr);
	metric_base_fini(&now);
	return status == TOOL_FINDINGS ? EXPECT_STATUS : status;
}

int expect_judge(struct exec_job *j, int status)
{
	struct expect *e = &j->expect;
	struct text out = {0};
	bool ok = true;

	if (e->fault && strcmp(e->fault, "none") != 0)
		return judge_fault(e, status);
	if (status == TOOL_OK) {
		ok = judge_values(j, &out);
		for (size_t i = 0; i < e->claims.len; i++)
			ok &= judge_claim(e, &e->claims.at[i], &out);
		if (out.at)
			fputs(out.at, stderr);
		status = judge_metrics(j);
	}
	text_fini(&out);
	return status == TOOL_OK && !ok ? EXPECT_STATUS : status;
}

void expect_fini(struct expect *e)
{
	for (size_t i = 0; i < e->values.len; i++) {
		free(e->values.at[i].name);
		data_fini(&e->values.at[i].want);
	}
	for (size_t i = 0; i < e->tolerances.len; i++)
		free(e->tolerances.at[i].name);
	VEC_FREE(&e->values);
	VEC_FREE(&e->tolerances);
	VEC_FREE(&e->claims);
	profile_kept_free(e->kept);
	saved_fini(&e->saved);
	text_fini(&e->met_at);
	text_fini(&e->report);
}
