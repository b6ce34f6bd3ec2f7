/*
 * Budgets.
 */
#include "src/profile/budget.h"

#include "src/profile/kept/blame.h"
#include "src/profile/kept/line.h"
#include "src/profile/page/page.h"

#include <math.h>
#include <stdlib.h>

bool profile_budget_add(struct profile_budgets *b, const char *text, struct text *why)
{
	struct profile_budget x = {0};

	if (!metric_claim_read(text, &x.claim, why))
		return false;
	x.text = strdup(text + strspn(text, " \t"));
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

/* Says what of the launch breaks it. */
static void budget_say(const struct profile_budget *b, const struct profile_launch *l,
		       const struct metric_number *n, const struct text *why, struct text *out)
{
	const struct metric_claim *c = &b->claim;
	struct metric_number shown = *n;
	struct text value = {0}, place = {0};
	const char *unit;

	page_kernel_name(l->program->name, out);
	text_printf(out, ", launch %llu: ", (unsigned long long)l->number);
	if (why->len) {
		text_printf(out, "%s\n", why->at);
		return;
	}
	metric_claim_subject(c, out);
	text_puts(out, " is ");
	if (n->is_known && c->named.scale != 1)
		shown = (struct metric_number){
			.is_known = true, .is_real = true, .real = metric_real(n) * c->named.scale};
	metric_write(&shown, metric_unit(c->named.metric), false, &unit, &value);
	text_printf(out, "%s, which is not ", value.at ? value.at : "");
	metric_claim_bound(c, out);
	if (n->is_known && !c->line && profile_blame(metric_name(c->named.metric), l, &place))
		text_printf(out, "; most at %s", place.at ? place.at : "");
	text_puts(out, "\n");
	text_fini(&value);
	text_fini(&place);
}

/* The value of a line of the launch, in the place of n; not known: with a line in `why`. */
static void budget_line_value(const struct metric_claim *c, const struct line_sum *sum,
			      struct metric_number *n, struct text *why)
{
	double whole = metric_real(n) * c->named.scale, x;

	n->is_known = line_metric_value(c, sum, whole, &x, why);
	if (!n->is_known)
		return;
	n->real = x / c->named.scale;
	n->is_real = n->real != floor(n->real);
	n->whole = n->is_real ? 0 : (u64)n->real;
}

static bool budget_holds(const struct metric_claim *c, const struct metric_number *n)
{
	return n->is_known && metric_claim_holds(c, metric_real(n) * c->named.scale);
}

bool profile_budget_check(const struct profile_budget *b, const struct profile_report *r,
			  struct text *out)
{
	u64 any = 0, broken = 0;

	for (size_t k = 0; k < r->launches.len; k++) {
		const struct profile_launch *l = r->launches.at[k];
		struct line_sum sum = {0};
		struct metric_number n;
		struct text why = {0};

		if (!is_for(b, l))
			continue;
		n = metric_value(b->claim.named.metric, l);
		if (b->claim.line)
			line_sum_add(&sum, &b->claim, l);
		if (b->claim.line && !sum.insns)
			continue;
		any++;
		if (b->claim.line && n.is_known)
			budget_line_value(&b->claim, &sum, &n, &why);
		if (!budget_holds(&b->claim, &n) && broken++ < BUDGET_LINES)
			budget_say(b, l, &n, &why, out);
		text_fini(&why);
	}
	if (broken > BUDGET_LINES)
		text_printf(out, "%s: %llu launches more are not named\n", b->text,
			    (unsigned long long)(broken - BUDGET_LINES));
	if (!any)
		text_printf(out, "%s: no launch%s%s%s was profiled\n", b->text,
			    b->claim.line ? " with that line" : "", b->kernel ? " of " : "",
			    b->kernel ? b->kernel : "");
	return any && !broken;
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
