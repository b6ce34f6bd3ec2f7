/*
 * Saved metrics.
 */
#include "src/profile/kept/base.h"

#include "src/base/utf8.h"
#include "src/profile/kept/blame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const char titles[] = "test\tkernel\tcompiler\tlaunches\tmetric\tvalue";

#define FIELDS_MIN 6u
#define FIELDS_MAX 7u

/* ---- making ---- */

static void row_fini(struct metric_base_row *r)
{
	free(r->test);
	free(r->kernel);
	free(r->compiler);
	free(r->place);
}

/* Takes the strings; without memory, they are freed. */
static bool push_base_row(struct metric_base *b, struct metric_base_row *r)
{
	r->number = b->rows.len;
	if (r->test && r->kernel && r->compiler && VEC_PUSH(&b->rows, *r))
		return true;
	row_fini(r);
	return false;
}

bool metric_base_move(struct metric_base *to, struct metric_base_row *row)
{
	struct metric_base_row r = *row;

	row->test = row->kernel = row->compiler = row->place = NULL;
	return push_base_row(to, &r);
}

static bool add_base_metric(struct metric_base *b, const char *test, const struct kernel_sum *k,
			    const struct metric_named *m)
{
	struct metric_number n = metric_value(m->metric, &k->sum);
	struct text place = {0};
	struct metric_base_row r = {.launches = k->launches.len, .metric = *m};

	if (!n.is_known)
		return true;
	r.value = metric_real(&n) * m->scale;
	r.test = strdup(test);
	r.kernel = strdup(k->sum.program->name);
	r.compiler = strdup(k->sum.program->compiler ? k->sum.program->compiler : "");
	if (profile_blame(metric_name(m->metric), &k->sum, &place))
		r.place = place.at;
	else
		text_fini(&place);
	return push_base_row(b, &r);
}

bool metric_base_add(struct metric_base *b, const char *test, const struct kernel_sums *k,
		     const struct metric_list *chosen)
{
	struct metric_named m;
	struct text why = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < k->at.len; i++) {
		for (u32 s = 0; ok && !chosen && metric_short(s, &m); s++)
			ok = add_base_metric(b, test, &k->at.at[i], &m);
		for (size_t c = 0; ok && chosen && c < chosen->at.len; c++) {
			const char *name = metric_name(chosen->at.at[c]);

			ok = metric_named_find(name, strlen(name), &m, &why) &&
			     add_base_metric(b, test, &k->at.at[i], &m);
		}
	}
	text_fini(&why);
	return ok;
}

/* ---- the file ---- */

/* Fields of a line are split at tabs; returns how many, FIELDS_MAX + 1: more than there may be. */
static u32 split_base_fields(char *line, char *field[FIELDS_MAX])
{
	for (u32 n = 0; n < FIELDS_MAX; n++) {
		field[n] = line;
		line += strcspn(line, "\t");
		if (!*line)
			return n + 1;
		*line++ = 0;
	}
	return FIELDS_MAX + 1;
}

static bool read_base_number(const char *s, double *out)
{
	char *end;

	errno = 0;
	*out = strtod(s, &end);
	return end != s && !*end && !errno && isfinite(*out);
}

/* A line of numbers; false, with the reason. */
static bool read_base_row(struct metric_base *b, char *line, const char *test, u32 number,
			  struct text *why)
{
	struct metric_base_row r = {.line = number};
	char *field[FIELDS_MAX] = {NULL};
	double launches;
	u32 n = split_base_fields(line, field);

	if (n < FIELDS_MIN || n > FIELDS_MAX) {
		text_printf(why, "%u fields are wanted, between tabs", FIELDS_MIN);
		return false;
	}
	if (!metric_named_find(field[4], strlen(field[4]), &r.metric, why))
		return false;
	if (!read_base_number(field[3], &launches) || launches < 1 || launches > 0x1p53) {
		text_printf(why, "'%s' is no number of launches", field[3]);
		return false;
	}
	if (!read_base_number(field[5], &r.value)) {
		text_printf(why, "'%s' is no number", field[5]);
		return false;
	}
	r.launches = (u64)launches;
	r.test = strdup(test ? test : field[0]);
	r.kernel = strdup(field[1]);
	r.compiler = strdup(field[2]);
	r.place = n > FIELDS_MIN && *field[6] ? strdup(field[6]) : NULL;
	if (push_base_row(b, &r))
		return true;
	text_puts(why, "no memory left");
	return false;
}

bool metric_base_read(struct metric_base *b, const char *name, const char *text, size_t size,
		      const char *test, struct text *why)
{
	bool ok = true, has_titles = false;
	u32 number = 0;

	for (size_t at = 0, n; ok && at < size; at += n + 1) {
		const char *end = memchr(text + at, '\n', size - at);
		struct text because = {0};
		char *line;

		n = end ? (size_t)(end - text) - at : size - at;
		number++;
		if (!n || text[at] == '#')
			continue;
		line = utf8_is_valid(text + at, n) && !memchr(text + at, 0, n)
			       ? strndup(text + at, n)
			       : NULL;
		if (line && !strncmp(line, titles, sizeof(titles) - 1)) {
			/* Again where files were put together. */
			has_titles = true;
		} else if (!has_titles) {
			ok = false;
			text_puts(&because, "these are no saved metrics");
		} else {
			ok = line && read_base_row(b, line, test, number, &because);
		}
		if (!ok)
			text_printf(why, "%s:%u: %s", name, number,
				    because.len ? because.at : "this is no text");
		free(line);
		text_fini(&because);
	}
	if (ok && !has_titles) {
		text_printf(why, "%s:%u: these are no saved metrics", name, number + 1);
		ok = false;
	}
	return ok;
}

static int by_kernel_and_metric(const void *a, const void *b)
{
	const struct metric_base_row *x = a, *y = b;
	int order = strcmp(x->kernel, y->kernel);

	order = order ? order : strcmp(x->metric.name, y->metric.name);
	return order ? order : x->number < y->number ? -1 : x->number > y->number;
}

/* By kernel and metric, in the groups of tests, which stay as they are. */
static void sort_rows(struct metric_base *b)
{
	size_t first = 0;

	for (size_t i = 1; i <= b->rows.len; i++)
		if (i == b->rows.len || strcmp(b->rows.at[i].test, b->rows.at[first].test) != 0) {
			qsort(b->rows.at + first, i - first, sizeof(*b->rows.at),
			      by_kernel_and_metric);
			first = i;
		}
}

/* No tabs and no ends of lines. */
static void put_base_field(const char *s, struct text *out)
{
	for (; *s; s++)
		text_add(out, *s == '\t' || *s == '\n' || *s == '\r' ? " " : s, 1);
}

static void write_base_row(const struct metric_base_row *r, bool has_places, struct text *out)
{
	put_base_field(r->test, out);
	text_puts(out, "\t");
	put_base_field(r->kernel, out);
	text_puts(out, "\t");
	put_base_field(r->compiler, out);
	text_printf(out, "\t%llu\t%s\t%.15g", (unsigned long long)r->launches, r->metric.name,
		    r->value);
	if (has_places) {
		text_puts(out, "\t");
		put_base_field(r->place ? r->place : "", out);
	}
	text_puts(out, "\n");
}

void metric_base_write(struct metric_base *b, bool has_places, struct text *out)
{
	text_printf(out, "# Metrics of kernels, saved by ptxloom; compare with --against.\n%s%s\n",
		    titles, has_places ? "\tplace" : "");
	sort_rows(b);
	for (size_t i = 0; i < b->rows.len; i++)
		write_base_row(&b->rows.at[i], has_places, out);
}

/* ---- comparing ---- */

static bool same_kernel(const struct metric_base_row *a, const struct metric_base_row *b)
{
	return !strcmp(a->kernel, b->kernel) && !strcmp(a->test, b->test);
}

/*
 * What is there now for a row, each once; NULL: nothing. *kernel: any metric of its kernel. The
 * search goes round from *from: both sides have the same order.
 */
static struct metric_base_row *find_now(struct metric_base *now, const struct metric_base_row *of,
					size_t *from, const struct metric_base_row **kernel)
{
	*kernel = NULL;
	for (size_t n = 0; n < now->rows.len; n++) {
		size_t at = (*from + n) % now->rows.len;
		struct metric_base_row *r = &now->rows.at[at];

		if (!same_kernel(r, of))
			continue;
		*kernel = r;
		if (r->is_seen || r->metric.metric != of->metric.metric ||
		    strcmp(r->metric.name, of->metric.name) != 0)
			continue;
		*from = at + 1;
		return r;
	}
	return NULL;
}

static void say_kernel(const struct metric_base_row *r, struct text *out)
{
	if (*r->test)
		text_printf(out, "%s: ", r->test);
	text_printf(out, "%s: ", r->kernel);
}

/* Counts are whole numbers; others are written with 15 digits. */
static bool differs_more(double a, double b, double allow)
{
	return fabs(b - a) > fabs(a) * allow + fabs(a) * 1e-12;
}

static void say_changed(const struct metric_base_row *was, const struct metric_base_row *is,
			const char *name, struct text *out)
{
	say_kernel(was, out);
	text_printf(out, "%s is %.10g, %s:%u has %.10g", was->metric.name, is->value, name,
		    was->line, was->value);
	if (was->value < 0 || was->value > 0)
		text_printf(out, " (%+.1f%%)", (is->value - was->value) / was->value * 100);
	if (is->place && is->value > was->value)
		text_printf(out, "; most at %s", is->place);
	text_puts(out, "\n");
}

struct comparing {
	const char *name;
	size_t from;
	double allow;
	struct text *out;
	u64 differ, skipped;
	const struct metric_base_row *other; /* of which some were skipped, and what is there now */
	const struct metric_base_row *other_now;
	const struct metric_base_row *said; /* its kernel is told once */
};

/* Once for all metrics of a kernel. */
static void tell_kernel(struct comparing *c, const struct metric_base_row *was,
			const struct metric_base_row *is)
{
	if (c->said && same_kernel(c->said, was))
		return;
	c->said = was;
	c->differ++;
	say_kernel(was, c->out);
	if (is)
		text_printf(c->out, "%llu launch%s, %s:%u has %llu\n",
			    (unsigned long long)is->launches, is->launches == 1 ? "" : "es",
			    c->name, was->line, (unsigned long long)was->launches);
	else
		text_printf(c->out, "was not launched, %s:%u has it\n", c->name, was->line);
}

/* Where threads part is the program's, but compilers make selections of branches. */
static bool depends_on_code(const struct metric_named *m)
{
	const char *name = metric_name(m->metric);

	return m->class == CLASS_CODE || strstr(name, "divergent") ||
	       strstr(name, "per_inst_executed");
}

static void compare_base_row(struct comparing *c, const struct metric_base_row *was,
			     struct metric_base *now)
{
	const struct metric_base_row *kernel;
	struct metric_base_row *is = find_now(now, was, &c->from, &kernel);

	if (is)
		is->is_seen = true;
	if (!kernel || kernel->launches != was->launches) {
		tell_kernel(c, was, kernel);
	} else if (depends_on_code(&was->metric) && strcmp(was->compiler, kernel->compiler) != 0) {
		c->other = was;
		c->other_now = kernel;
		c->skipped++;
	} else if (!is) {
		c->differ++;
		say_kernel(was, c->out);
		text_printf(c->out, "%s is not known, %s:%u has %.10g\n", was->metric.name, c->name,
			    was->line, was->value);
	} else if (differs_more(was->value, is->value, c->allow)) {
		c->differ++;
		say_changed(was, is, c->name, c->out);
	}
}

bool metric_base_compare(struct metric_base *base, struct metric_base *now, const char *name,
			 double allow, struct text *out, struct text *notes)
{
	struct comparing c = {.name = name, .allow = allow, .out = out};
	u64 fresh = 0;

	sort_rows(base);
	sort_rows(now);
	for (size_t i = 0; i < now->rows.len; i++)
		now->rows.at[i].is_seen = false;
	for (size_t i = 0; i < base->rows.len; i++)
		compare_base_row(&c, &base->rows.at[i], now);
	for (size_t i = 0; i < now->rows.len; i++)
		fresh += !now->rows.at[i].is_seen;
	if (c.skipped)
		text_printf(notes,
			    "%s: %llu number%s that depend on the compiler were not compared: "
			    "of %s, now %s\n",
			    name, (unsigned long long)c.skipped, c.skipped == 1 ? "" : "s",
			    *c.other->compiler ? c.other->compiler : "an unknown one",
			    *c.other_now->compiler ? c.other_now->compiler : "an unknown one");
	if (fresh)
		text_printf(notes, "%llu number%s not in %s\n", (unsigned long long)fresh,
			    fresh == 1 ? " is" : "s are", name);
	return !c.differ;
}

bool metric_allow_parse(const char *s, double *out)
{
	char *end;

	errno = 0;
	*out = strtod(s, &end) / 100;
	end += end != s && *end == '%';
	return end != s && !*end && !errno && isfinite(*out) && *out >= 0;
}

void metric_base_fini(struct metric_base *b)
{
	for (size_t i = 0; i < b->rows.len; i++)
		row_fini(&b->rows.at[i]);
	VEC_FREE(&b->rows);
}
