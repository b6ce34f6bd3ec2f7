/*
 * Metrics of the cases of tables: each case writes a file of them, which is taken when it is over.
 */
#include "src/tools/kit/test.h"

#include <inttypes.h>
#include <unistd.h>

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

int test_end_metrics(struct test_job *j, int status)
{
	struct test_metrics *m = &j->metrics;
	const struct metric_base *base = &m->saved.base;
	const char *against = m->saved.against;
	bool is_part = j->filter || j->shards;
	int saved;

	for (size_t i = 0; i < base->rows.len && !is_part; i++) {
		const struct metric_base_row *row = &base->rows.at[i];

		if (row->is_seen || (i && !strcmp(row->test, base->rows.at[i - 1].test)))
			continue;
		fprintf(stderr, "ptxloom test: metrics: there is no case '%s', %s:%u has it\n",
			row->test, against, row->line);
		status = TOOL_FINDINGS;
	}
	/* What differs was told by case. */
	m->saved.against = NULL;
	saved = saved_judge(&m->saved, j->self, &m->now);
	m->saved.against = against;
	return saved ? saved : status;
}
