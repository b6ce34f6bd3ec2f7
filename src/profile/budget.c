/*
 * Budgets.
 */
#include "src/profile/budget.h"

#include "src/profile/page/page.h"

#include <errno.h>
#include <stdlib.h>

static const char *const ops[] = {"<=", ">=", "==", "!=", "<", ">"};

/* Where the operator is; NULL: there is none. */
static const char *find_op(const char *text, const char **op)
{
	const char *at = text + strcspn(text, "<>=!");

	for (size_t i = 0; i < ARRAY_LEN(ops); i++)
		if (!strncmp(at, ops[i], strlen(ops[i]))) {
			*op = ops[i];
			return at;
		}
	return NULL;
}

static bool budget_parse_value(const char *s, double *value)
{
	char *end;

	s += strspn(s, " \t");
	errno = 0;
	*value = strtod(s, &end);
	return end != s && !errno && !end[strspn(end, " \t")];
}

/* The metric whose name is the first n characters, with .sum where that is all that is missing. */
static u32 budget_find_named(const char *text, size_t n)
{
	struct text name = {0};
	u32 m;

	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	text_add(&name, text, n);
	m = name.at ? metric_find(name.at) : metric_count();
	text_puts(&name, ".sum");
	if (m == metric_count() && name.at)
		m = metric_find(name.at);
	text_fini(&name);
	return m;
}

bool profile_budget_add(struct profile_budgets *b, const char *text, struct text *why)
{
	struct profile_budget x = {0};
	const char *op, *at = find_op(text, &op);
	struct text name = {0};

	if (!at || !budget_parse_value(at + strlen(op), &x.value)) {
		text_printf(why, "'%s' is not METRIC OP VALUE, with one of <= < == != >= >", text);
		return false;
	}
	memcpy(x.op, op, strlen(op));
	text += strspn(text, " \t");
	x.metric = budget_find_named(text, (size_t)(at - text));
	if (x.metric == metric_count()) {
		text_add(&name, text, strcspn(text, " \t<>=!"));
		metric_say_missing(name.at ? name.at : "", why);
		text_fini(&name);
		return false;
	}
	x.text = strdup(text);
	if (x.text && VEC_PUSH(&b->at, x))
		return true;
	free(x.text);
	text_puts(why, "no memory left");
	return false;
}

bool profile_budget_kernel(struct profile_budgets *b, const char *kernel, struct text *why)
{
	struct profile_budget *x = b->at.len ? &b->at.at[b->at.len - 1] : NULL;

	if (!x || x->kernel) {
		text_puts(why, "--kernel is for the --assert in front of it");
		return false;
	}
	x->pattern = profile_pattern_new(kernel, why);
	x->kernel = strdup(kernel);
	return x->pattern && x->kernel;
}

static bool budget_holds(const struct profile_budget *b, double x)
{
	if (!strcmp(b->op, "<="))
		return x <= b->value;
	if (!strcmp(b->op, ">="))
		return x >= b->value;
	if (!strcmp(b->op, "=="))
		return x == b->value;
	if (!strcmp(b->op, "!="))
		return x != b->value;
	return *b->op == '<' ? x < b->value : x > b->value;
}

static bool is_for(const struct profile_budget *b, const struct profile_launch *l)
{
	struct text t = {0};
	bool yes;

	if (!b->pattern)
		return true;
	profile_shown_name(l->program->name, BASE_FUNCTION, &t);
	yes = t.at && profile_pattern_fits(b->pattern, t.at);
	text_fini(&t);
	return yes;
}

static bool budget_check_launch(const struct profile_budget *b, const struct profile_launch *l,
				struct text *out)
{
	struct metric_number n = metric_value(b->metric, l);
	struct text value = {0};
	const char *unit;

	if (n.is_known && budget_holds(b, metric_real(&n)))
		return true;
	metric_write(&n, metric_unit(b->metric), false, &unit, &value);
	page_kernel_name(l->program->name, out);
	text_printf(out, ", launch %llu: %s is %s, which is not %s %g\n",
		    (unsigned long long)l->number, metric_name(b->metric), value.at ? value.at : "",
		    b->op, b->value);
	text_fini(&value);
	return false;
}

bool profile_budgets_check(const struct profile_budgets *b, const struct profile_report *r,
			   struct text *out)
{
	bool ok = true;

	for (size_t i = 0; i < b->at.len; i++) {
		const struct profile_budget *x = &b->at.at[i];
		bool any = false;

		for (size_t k = 0; k < r->launches.len; k++) {
			if (!is_for(x, r->launches.at[k]))
				continue;
			any = true;
			ok &= budget_check_launch(x, r->launches.at[k], out);
		}
		if (!any)
			text_printf(out, "%s: no launch%s%s was profiled\n", x->text,
				    x->kernel ? " of " : "", x->kernel ? x->kernel : "");
		ok &= any;
	}
	return ok;
}

void profile_budgets_fini(struct profile_budgets *b)
{
	for (size_t i = 0; i < b->at.len; i++) {
		profile_pattern_free(b->at.at[i].pattern);
		free(b->at.at[i].kernel);
		free(b->at.at[i].text);
	}
	VEC_FREE(&b->at);
}
