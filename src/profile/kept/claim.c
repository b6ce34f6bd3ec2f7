/*
 * Metrics in tests.
 */
#include "src/profile/kept/claim.h"

#include "src/base/nearest.h"
#include "src/profile/kept/line.h"
#include "src/profile/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const struct {
	const char *name;
	enum metric_class class;
	double scale;
	const char *metric;
} shorts[] = {
#define SHORT(name, class, scale, metric) {name, CLASS_##class, scale, metric},
#include "src/profile/kept/short.def"
#undef SHORT
};

void metric_total_add(struct metric_total *t, const struct profile_launch *l)
{
	u64 before[PROFILE_VALUES];

	memcpy(before, t->sum.value, sizeof(before));
	t->sum = *l;
	profile_launch_bare(&t->sum);
	t->sum.device_name = NULL;
	/* Those from `inst` on are counts. */
	for (u32 i = VALUE_inst; i < PROFILE_VALUES; i++)
		t->sum.value[i] += before[i];
	t->launches++;
}

/* ---- names ---- */

bool metric_short(u32 number, struct metric_named *out)
{
	if (number >= ARRAY_LEN(shorts))
		return false;
	*out = (struct metric_named){shorts[number].name, metric_find(shorts[number].metric),
				     shorts[number].scale, shorts[number].class};
	return true;
}

static bool find_short(const char *name, size_t n, struct metric_named *out)
{
	for (u32 i = 0; i < ARRAY_LEN(shorts); i++)
		if (strlen(shorts[i].name) == n && !memcmp(shorts[i].name, name, n))
			return metric_short(i, out);
	return false;
}

static enum metric_class metric_class_of(u32 metric)
{
	switch (metric_kind_of(metric)) {
	case EXACT:
		return strstr(metric_name(metric), "requests") ? CLASS_CODE : CLASS_ADDRESS;
	case PTX:
		return CLASS_CODE;
	case MODEL:
		break;
	}
	return CLASS_CACHES;
}

static void say_no_metric(const char *name, struct text *why)
{
	struct nearest near;

	nearest_init(&near, name, strlen(name));
	for (size_t i = 0; i < ARRAY_LEN(shorts); i++)
		nearest_offer(&near, shorts[i].name, strlen(shorts[i].name));
	if (near.best)
		text_printf(why, "there is no metric '%s'; did you mean %s?", name, near.best);
	else
		metric_say_missing(name, why);
}

bool metric_named_find(const char *name, size_t n, struct metric_named *out, struct text *why)
{
	struct text t = {0};
	u32 m;

	if (find_short(name, n, out))
		return true;
	text_add(&t, name, n);
	m = t.at ? metric_find(t.at) : METRIC_NONE;
	text_puts(&t, ".sum");
	if (m == METRIC_NONE && t.at)
		m = metric_find(t.at);
	if (m != METRIC_NONE) {
		*out = (struct metric_named){metric_name(m), m, 1, metric_class_of(m)};
	} else if (n == 9 && !memcmp(name, "registers", n)) {
		text_puts(why, "registers are ptxas's: PTX does not tell how many there are");
	} else if (t.at) {
		t.at[n] = 0;
		say_no_metric(t.at, why);
	}
	text_fini(&t);
	return m != METRIC_NONE;
}

bool metric_named_value(const struct metric_named *m, const struct metric_total *t, double *out)
{
	struct metric_number n = {0};

	if (t->launches)
		n = metric_value(m->metric, &t->sum);
	*out = metric_real(&n) * m->scale;
	return n.is_known;
}

/* ---- claims ---- */

static const char *const claim_ops[] = {"<=", ">=", "==", "!=", "<", ">"};

/* "at FILE:LINE", or nothing. */
static bool parse_place(const char *s, struct metric_claim *out)
{
	const char *colon = strrchr(s, ':');
	size_t n;
	char *end;
	unsigned long line;

	if (!*s)
		return true;
	if (strncmp(s, "at ", 3) != 0 || !colon)
		return false;
	s += 3 + strspn(s + 3, " \t");
	n = colon > s ? (size_t)(colon - s) : 0;
	if (!n || n >= sizeof(out->file) || colon[1] < '1' || colon[1] > '9')
		return false;
	memcpy(out->file, s, n);
	errno = 0;
	line = strtoul(colon + 1, &end, 10);
	out->line = (u32)line;
	return !errno && line <= UINT32_MAX && !end[strspn(end, " \t")];
}

static bool parse_bound(const char *s, struct metric_claim *out)
{
	char *end;

	s += strspn(s, " \t");
	errno = 0;
	out->value = strtod(s, &end);
	if (end == s || errno || !isfinite(out->value))
		return false;
	s = end + strspn(end, " \t");
	if (!strncmp(s, "+-", 2)) {
		s += 2 + strspn(s + 2, " \t");
		out->tolerance = strtod(s, &end) / 100;
		if (end == s || *end != '%' || !(out->tolerance >= 0))
			return false;
		s = end + 1;
	}
	return parse_place(s + strspn(s, " \t"), out);
}

bool metric_claim_read(const char *text, struct metric_claim *out, struct text *why)
{
	const char *at = text + strspn(text, " \t"), *op = at + strcspn(at, " \t<>=!+"), *end = op;
	bool ok = false;

	*out = (struct metric_claim){0};
	op += strspn(op, " \t");
	for (size_t i = 0; !ok && i < ARRAY_LEN(claim_ops); i++) {
		ok = !strncmp(op, claim_ops[i], strlen(claim_ops[i]));
		if (ok)
			memcpy(out->op, claim_ops[i], strlen(claim_ops[i]));
	}
	if (!ok || end == at || !parse_bound(op + strlen(out->op), out)) {
		text_printf(
			why,
			"'%s' is not METRIC OP NUMBER, with one of <= < == != >= >, or METRIC OP NUMBER "
			"+- PERCENT%%, with or without at FILE:LINE",
			text);
		return false;
	}
	return metric_named_find(at, (size_t)(end - at), &out->named, why) &&
	       (!out->line || line_metric_check(&out->named, why));
}

bool metric_claim_parse(const char *text, struct metric_claim *out, struct text *why)
{
	if (!metric_claim_read(text, out, why))
		return false;
	/* == and != of what another compiler does otherwise say nothing about the kernel. */
	if (out->named.class == CLASS_ADDRESS || out->tolerance > 0)
		return true;
	text_printf(why,
		    "%s depends on the compiler's choice of instructions: give it a tolerance, "
		    "'%s %s %g +- 5%%'",
		    out->named.name, out->named.name, out->op, out->value);
	return false;
}

bool metric_claim_holds(const struct metric_claim *c, double x)
{
	double slack = fabs(c->value) * c->tolerance;

	switch (c->op[0]) {
	case '<':
		return c->op[1] ? x <= c->value + slack : x < c->value + slack;
	case '>':
		return c->op[1] ? x >= c->value - slack : x > c->value - slack;
	case '!':
		return fabs(x - c->value) > slack;
	default:
		return fabs(x - c->value) <= slack;
	}
}

void metric_claim_bound(const struct metric_claim *c, struct text *out)
{
	text_printf(out, "%s %.10g", c->op, c->value);
	if (c->tolerance > 0)
		text_printf(out, " +- %g%%", c->tolerance * 100);
}

static void say_claim_place(const struct metric_claim *c, struct text *out)
{
	if (c->line)
		text_printf(out, " at %s:%u", c->file, c->line);
}

void metric_claim_subject(const struct metric_claim *c, struct text *out)
{
	text_puts(out, c->named.name);
	say_claim_place(c, out);
}

void metric_claim_print(const struct metric_claim *c, struct text *out)
{
	text_printf(out, "%s ", c->named.name);
	metric_claim_bound(c, out);
	say_claim_place(c, out);
}

bool metric_claim_judge(const struct metric_claim *c, double x, struct text *out)
{
	if (metric_claim_holds(c, x))
		return true;
	metric_claim_subject(c, out);
	text_printf(out, " is %.10g, expected ", x);
	metric_claim_bound(c, out);
	text_puts(out, "\n");
	return false;
}

bool metric_claim_check(const struct metric_claim *c, const struct metric_total *t,
			struct text *out)
{
	double x;

	if (!metric_named_value(&c->named, t, &x)) {
		text_printf(out, "%s is not known: %s\n", c->named.name,
			    t->launches ? "caches are not played" : "nothing was launched");
		return false;
	}
	return metric_claim_judge(c, x, out);
}
