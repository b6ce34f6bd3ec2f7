/*
 * Comparing reports.
 */
#include "src/profile/page/diff.h"

#include "src/profile/page/lines.h"

#include <stdlib.h>

/* All launches of a kernel in the two reports. */
struct compared {
	const char *name; /* of the kernel, demangled */
	struct profile_launch *sum[2];
	u64 launches[2];
	struct counted_lines lines[2];
	size_t number; /* in the order of the reports */
	/* The largest share of what all kernels have of a metric. */
	double share;
	bool differs;
	struct text words;
};

struct comparison {
	VEC(struct compared) at;
};

/* NULL without memory. */
static struct compared *compared_of(struct comparison *c, const char *name)
{
	struct compared x = {.name = name, .number = c->at.len};
	size_t i = 0;

	while (i < c->at.len && strcmp(c->at.at[i].name, name) != 0)
		i++;
	if (i < c->at.len)
		return &c->at.at[i];
	x.sum[0] = calloc(1, sizeof(*x.sum[0]));
	x.sum[1] = calloc(1, sizeof(*x.sum[1]));
	if (x.sum[0] && x.sum[1] && VEC_PUSH(&c->at, x))
		return &c->at.at[i];
	free(x.sum[0]);
	free(x.sum[1]);
	return NULL;
}

static bool compare_add(struct comparison *c, const struct profile_report *r, u32 side)
{
	for (size_t i = 0; i < r->launches.len; i++) {
		const struct profile_launch *l = r->launches.at[i];
		struct compared *x = compared_of(c, l->program->name);

		if (!x)
			return false;
		for (u32 v = 0; v < PROFILE_VALUES; v++)
			x->sum[side]->value[v] += l->value[v];
		x->launches[side]++;
		lines_add(&x->lines[side], l);
	}
	return true;
}

/* ---- words ---- */

static void say_change(double a, double b, struct text *out)
{
	text_printf(out, " %16.15g %16.15g %+16.15g", a, b, b - a);
	if (a < 0 || a > 0)
		text_printf(out, " %+8.1f%%", (b - a) / a * 100);
	text_puts(out, "\n");
}

/* Sums over launches; what the launch is cannot be summed up. */
static bool is_sum(u32 metric)
{
	const char *name = metric_name(metric);
	size_t n = strlen(name);

	return strncmp(name, "launch__", 8) != 0 && strncmp(name, "device__", 8) != 0 &&
	       strncmp(name, "sm__maximum", 11) != 0 &&
	       (n < 4 ||
		(strcmp(name + n - 4, ".avg") != 0 && strcmp(name + n - 4, ".pct") != 0)) &&
	       !strstr(name, ".ratio") && !strstr(name, "_pct");
}

static bool say_metric(const struct compared *x, u32 metric, struct text *out)
{
	struct metric_number a = metric_value(metric, x->sum[0]);
	struct metric_number b = metric_value(metric, x->sum[1]);

	if (!a.is_known || !b.is_known || metric_real(&a) == metric_real(&b))
		return false;
	text_printf(out, "    %-70s", metric_name(metric));
	say_change(metric_real(&a), metric_real(&b), out);
	return true;
}

/* Of an empty list all that are sums. */
static bool say_metrics(const struct compared *x, const struct metric_list *list, struct text *out)
{
	bool any = false;

	for (size_t i = 0; i < list->at.len; i++)
		any |= say_metric(x, list->at.at[i], out);
	for (u32 i = 0; !list->at.len && i < metric_count(); i++)
		any |= is_sum(i) && say_metric(x, i, out);
	return any;
}

static const struct counted_line *diff_line(const struct counted_lines *l,
					    const struct counted_line *of)
{
	for (size_t i = 0; i < l->at.len; i++)
		if (l->at.at[i].line == of->line && l->at.at[i].file && of->file &&
		    !strcmp(l->at.at[i].file, of->file))
			return &l->at.at[i];
	return NULL;
}

static bool say_line(const struct counted_line *a, const struct counted_line *b, struct text *out)
{
	const struct counted_line *at = a ? a : b;
	bool any = false;

	for (u32 k = 0; at->file && k < PROFILE_COLUMNS; k++) {
		u64 x = a ? a->counts.at[k] : 0, y = b ? b->counts.at[k] : 0;
		struct text place = {0};

		if (x == y)
			continue;
		text_printf(&place, "%s:%u %s", file_base_name(at->file), at->line,
			    profile_column_title(k));
		text_printf(out, "    %-70s", place.at ? place.at : "");
		say_change((double)x, (double)y, out);
		text_fini(&place);
		any = true;
	}
	return any;
}

static bool say_lines_of(const struct compared *x, struct text *out)
{
	bool any = false;

	for (size_t i = 0; i < x->lines[0].at.len; i++)
		any |= say_line(&x->lines[0].at.at[i],
				diff_line(&x->lines[1], &x->lines[0].at.at[i]), out);
	for (size_t i = 0; i < x->lines[1].at.len; i++)
		if (!diff_line(&x->lines[0], &x->lines[1].at.at[i]))
			any |= say_line(NULL, &x->lines[1].at.at[i], out);
	return any;
}

static void say_compared(struct compared *x, const struct metric_list *list, struct text *out)
{
	page_kernel_name(x->name, out);
	text_printf(out, ": launches %llu and %llu\n", (unsigned long long)x->launches[0],
		    (unsigned long long)x->launches[1]);
	x->differs = x->launches[0] != x->launches[1];
	if (!x->launches[0] || !x->launches[1]) {
		text_puts(out, "    only in one of the reports\n\n");
		return;
	}
	x->differs |= say_metrics(x, list, out);
	x->differs |= say_lines_of(x, out);
	text_puts(out, x->differs ? "\n" : "    no difference\n\n");
}

/* ---- which comes first ---- */

/* What a kernel has of the metric in the two reports; false: that is not known. */
static bool numbers_of(const struct compared *x, u32 metric, double n[2])
{
	for (u32 k = 0; k < 2; k++) {
		struct metric_number v = metric_value(metric, x->sum[k]);

		if (x->launches[k] && !v.is_known)
			return false;
		n[k] = x->launches[k] ? metric_real(&v) : 0;
	}
	return true;
}

static void weigh_metric(struct comparison *c, u32 metric)
{
	double all[2] = {0, 0}, n[2], most;

	for (size_t i = 0; i < c->at.len; i++)
		if (numbers_of(&c->at.at[i], metric, n)) {
			all[0] += n[0];
			all[1] += n[1];
		}
	most = all[0] > all[1] ? all[0] : all[1];
	for (size_t i = 0; most > 0 && i < c->at.len; i++) {
		struct compared *x = &c->at.at[i];
		double share;

		if (!numbers_of(x, metric, n))
			continue;
		share = (n[0] > n[1] ? n[0] - n[1] : n[1] - n[0]) / most;
		x->share = share > x->share ? share : x->share;
	}
}

static void weigh(struct comparison *c, const struct metric_list *list)
{
	for (size_t i = 0; i < list->at.len; i++)
		weigh_metric(c, list->at.at[i]);
	for (u32 i = 0; !list->at.len && i < metric_count(); i++)
		if (is_sum(i))
			weigh_metric(c, i);
}

static int by_share(const void *a, const void *b)
{
	const struct compared *x = a, *y = b;

	if (x->differs != y->differs)
		return x->differs ? -1 : 1;
	if (x->share > y->share || x->share < y->share)
		return x->share > y->share ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* In their order, up to the limit. */
static void put_compared(const struct comparison *c, u64 limit, struct text *out)
{
	u64 shown = limit && limit < c->at.len ? limit : c->at.len, differ = 0;

	for (u64 i = 0; i < c->at.len; i++)
		if (i < shown && c->at.at[i].words.at)
			text_puts(out, c->at.at[i].words.at);
		else
			differ += c->at.at[i].differs;
	if (shown < c->at.len)
		text_printf(out,
			    "%llu of %zu kernels are left out, of which %llu differ: "
			    "--diff-limit 0 shows all\n",
			    (unsigned long long)(c->at.len - shown), c->at.len,
			    (unsigned long long)differ);
}

bool profile_diff(const struct profile_report *a, const struct profile_report *b,
		  struct profile_diff *d, struct text *out)
{
	struct comparison c = {0};
	bool ok = compare_add(&c, a, 0) && compare_add(&c, b, 1);

	d->differs = false;
	weigh(&c, d->metrics);
	for (size_t i = 0; ok && i < c.at.len; i++) {
		struct compared *x = &c.at.at[i];

		say_compared(x, d->metrics, &x->words);
		ok = !x->words.failed;
		d->differs |= x->differs;
	}
	if (c.at.len)
		qsort(c.at.at, c.at.len, sizeof(*c.at.at), by_share);
	put_compared(&c, d->limit, out);
	for (size_t i = 0; i < c.at.len; i++) {
		text_fini(&c.at.at[i].words);
		for (u32 k = 0; k < 2; k++) {
			profile_launch_free(c.at.at[i].sum[k]);
			lines_fini(&c.at.at[i].lines[k]);
		}
	}
	VEC_FREE(&c.at);
	return ok && !out->failed;
}
