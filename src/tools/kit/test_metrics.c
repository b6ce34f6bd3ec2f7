/*
 * Metrics of the cases of tables: each case writes a file of them, which is taken when it is over.
 */
#include "src/tools/kit/test.h"

#include "src/base/map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Are there cases that do not run? */
static bool test_is_part(const struct test_job *j)
{
	return j->filter || j->shards;
}

static bool claims_metrics(const struct ktest_case *c)
{
	for (size_t i = 0; i < c->options.len; i++)
		if (!strcmp(c->options.at[i], "--expect-metric"))
			return true;
	return false;
}

bool test_has_metrics(const struct test_job *j, const struct ktest_case *c)
{
	const struct test_metrics *m = &j->metrics;

	return m->all || saved_is_any(&m->saved) || (j->junit && claims_metrics(c));
}

bool test_prepare_metrics(struct test_job *j)
{
	for (size_t i = 0; i < j->runs.len; i++)
		if (test_has_metrics(j, j->runs.at[i].c))
			return test_make_folder(j);
	return true;
}

static u64 case_key(const char *name)
{
	return hash_bytes(name, strlen(name)) | 1;
}

/* Make the rows those of `to` that belong to no case of the run. False without memory. */
static bool move_others(const struct test_job *j, struct metric_base *rows, struct metric_base *to)
{
	struct map runs = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < j->runs.len; i++)
		ok = map_set(&runs, case_key(j->runs.at[i].c->name), 1);
	for (size_t i = 0; ok && i < rows->rows.len; i++)
		ok = map_get(&runs, case_key(rows->rows.at[i].test)) ||
		     metric_base_move(to, &rows->rows.at[i]);
	map_fini(&runs);
	return ok;
}

bool test_keep_saved(struct test_job *j)
{
	struct test_metrics *m = &j->metrics;
	struct metric_base was = {0};
	struct stat s;
	bool ok;

	if (!m->saved.save || !test_is_part(j) || stat(m->saved.save, &s) || !s.st_size)
		return true;
	ok = saved_take(&was, m->saved.save, NULL);
	if (ok && !move_others(j, &was, &m->now)) {
		fputs("ptxloom test: error: no memory left\n", stderr);
		ok = false;
	}
	metric_base_fini(&was);
	return ok;
}

void test_metrics_path(const struct test_job *j, const struct test_run *r, struct text *out)
{
	text_printf(out, "%s/%zu.tsv", j->folder, (size_t)(r - j->runs.at));
}

/* The rows of this test, which follow one another; where the last one ended they mostly begin. */
static struct metric_base saved_of(struct test_metrics *m, const char *test)
{
	struct metric_base all = m->saved.base, part = {0};
	size_t at = 0, n = 0;

	for (; n < all.rows.len; n++) {
		at = (m->group + n) % all.rows.len;
		if (!strcmp(all.rows.at[at].test, test))
			break;
	}
	if (n == all.rows.len)
		return part;
	while (at && !strcmp(all.rows.at[at - 1].test, test))
		at--;
	part.rows.at = all.rows.at + at;
	while (at + part.rows.len < all.rows.len && !strcmp(part.rows.at[part.rows.len].test, test))
		part.rows.len++;
	m->group = at + part.rows.len;
	return part;
}

/* Test, kernel and file are known to the reader: only what differs is left. */
static bool compare_case(struct test_metrics *m, const char *test, size_t first, struct text *out)
{
	struct metric_base was = saved_of(m, test), now = {0};
	struct text notes = {0};
	bool ok;

	now.rows.at = m->now.rows.len > first ? m->now.rows.at + first : NULL;
	now.rows.len = m->now.rows.len - first;
	ok = metric_base_compare(&was, &now, m->saved.against, m->saved.slack, out, &notes);
	text_puts(out, notes.at ? notes.at : "");
	text_fini(&notes);
	for (size_t i = 0; i < was.rows.len; i++)
		was.rows.at[i].is_seen = true;
	return ok;
}

bool test_take_metrics(struct test_job *j, const struct test_run *r, size_t *first,
		       struct text *out)
{
	struct test_metrics *m = &j->metrics;
	struct text path = {0};
	bool ok = true;

	*first = m->now.rows.len;
	if (!test_has_metrics(j, r->c))
		return true;
	test_metrics_path(j, r, &path);
	if (path.at && !access(path.at, F_OK)) {
		ok = saved_take(&m->now, path.at, r->c->name);
		unlink(path.at);
	}
	text_fini(&path);
	if (ok && m->saved.against)
		ok = compare_case(m, r->c->name, *first, out);
	return ok;
}

void test_drop_metrics(const struct test_job *j, const struct test_run *r)
{
	struct text path = {0};

	if (!j->folder || !test_has_metrics(j, r->c))
		return;
	test_metrics_path(j, r, &path);
	if (path.at)
		unlink(path.at);
	text_fini(&path);
}

static int by_case(const void *a, const void *b)
{
	const struct metric_base_row *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* Rows that were kept and those of the run, in the order of the tables; others come last. */
static void order_rows(const struct test_job *j, struct metric_base *b)
{
	struct map at = {0};
	u64 n = 0;

	for (size_t f = 0; f < j->files.len; f++)
		for (size_t i = 0; i < j->files.at[f].table.cases.len; i++)
			/* Without memory, the order is another. */
			map_set(&at, case_key(j->files.at[f].table.cases.at[i].name), ++n);
	for (size_t i = 0; i < b->rows.len; i++) {
		const u64 *place = map_get(&at, case_key(b->rows.at[i].test));

		b->rows.at[i].number = (place ? *place : n + 1) * b->rows.len + i;
	}
	if (b->rows.len)
		qsort(b->rows.at, b->rows.len, sizeof(*b->rows.at), by_case);
	map_fini(&at);
}

int test_end_metrics(struct test_job *j, int status)
{
	struct test_metrics *m = &j->metrics;
	const struct metric_base *base = &m->saved.base;
	const char *against = m->saved.against;
	int saved;

	for (size_t i = 0; i < base->rows.len && !test_is_part(j); i++) {
		const struct metric_base_row *row = &base->rows.at[i];

		if (row->is_seen || (i && !strcmp(row->test, base->rows.at[i - 1].test)))
			continue;
		fprintf(stderr, "ptxloom test: metrics: there is no case '%s', %s:%u has it\n",
			row->test, against, row->line);
		status = TOOL_FINDINGS;
	}
	if (test_is_part(j))
		order_rows(j, &m->now);
	/* What differs was told by case. */
	m->saved.against = NULL;
	saved = saved_judge(&m->saved, j->self, &m->now);
	m->saved.against = against;
	return saved ? saved : status;
}
