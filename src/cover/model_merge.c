/*
 * What modules say of lines, sites and functions, put together; and sums of it.
 */
#include "src/cover/model_int.h"

#include "src/lower/sites.h"

#include <stdlib.h>

static u64 plus(u64 a, u64 b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

void cover_tally_add(struct cover_tally *to, const struct cover_tally *from)
{
	to->count = plus(to->count, from->count);
	to->warps = plus(to->warps, from->warps);
	to->full = plus(to->full, from->full);
	to->diverged = plus(to->diverged, from->diverged);
	to->mask |= from->mask;
	to->missing = from->missing > to->missing ? from->missing : to->missing;
}

/* ---- merging ---- */

static int compare_lines(const void *x, const void *y)
{
	const struct cover_line *a = x, *b = y;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int compare_sites(const void *x, const void *y)
{
	const struct cover_site *a = x, *b = y;
	const u32 l[] = {a->file, a->line, a->column, a->kind, a->ways, a->ordinal},
		  r[] = {b->file, b->line, b->column, b->kind, b->ways, b->ordinal};

	for (u32 i = 0; i < ARRAY_LEN(l); i++)
		if (l[i] != r[i])
			return l[i] < r[i] ? -1 : 1;
	return 0;
}

static int compare_functions(const void *x, const void *y)
{
	const struct cover_function *a = x, *b = y;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void merge_lines(struct cover_model *m)
{
	size_t n = 0;

	if (m->lines.len)
		qsort(m->lines.at, m->lines.len, sizeof(*m->lines.at), compare_lines);
	for (size_t i = 0; i < m->lines.len; i++)
		if (n && !compare_lines(&m->lines.at[n - 1], &m->lines.at[i]))
			cover_tally_add(&m->lines.at[n - 1].tally, &m->lines.at[i].tally);
		else
			m->lines.at[n++] = m->lines.at[i];
	m->lines.len = n;
}

static void merge_sites(struct cover_model *m)
{
	size_t n = 0;

	if (m->sites.len)
		qsort(m->sites.at, m->sites.len, sizeof(*m->sites.at), compare_sites);
	for (size_t i = 0; i < m->sites.len; i++) {
		struct cover_site *x = &m->sites.at[i], *to = n ? &m->sites.at[n - 1] : NULL;

		if (!to || compare_sites(to, x)) {
			m->sites.at[n++] = *x;
			continue;
		}
		for (u32 k = 0; k < x->ways; k++)
			to->taken[k] = plus(to->taken[k], x->taken[k]);
		to->reached |= x->reached;
		to->all = plus(to->all, x->all);
		to->none = plus(to->none, x->none);
		to->diverged = plus(to->diverged, x->diverged);
		free(x->taken);
	}
	m->sites.len = n;
}

void cover_function_free(struct cover_function *f)
{
	free(f->name);
	free(f->shown);
	VEC_FREE(&f->lines);
}

/* The same function of several texts is one. */
static void merge_functions(struct cover_model *m, bool apart)
{
	size_t n = 0;

	if (m->functions.len)
		qsort(m->functions.at, m->functions.len, sizeof(*m->functions.at),
		      compare_functions);
	for (size_t i = 0; i < m->functions.len; i++) {
		struct cover_function *x = &m->functions.at[i],
				      *to = n ? &m->functions.at[n - 1] : NULL;

		if (!to || apart || compare_functions(to, x)) {
			m->functions.at[n++] = *x;
			continue;
		}
		to->count = plus(to->count, x->count);
		to->copies++;
		to->end = to->end > x->end ? to->end : x->end;
		cover_function_free(x);
	}
	m->functions.len = n;
}

/* Files in the order of their paths: what names them gets their new numbers. */
static bool sort_files(struct cover_model *m)
{
	u32 n = (u32)m->files.len, *to = calloc(n + 1, sizeof(*to));
	struct cover_file *sorted = calloc(n + 1, sizeof(*sorted));

	for (u32 i = 0; to && sorted && i < n; i++) {
		for (u32 k = 0; k < n; k++) {
			int order = strcmp(m->files.at[k].path, m->files.at[i].path);

			to[i] += order < 0 || (!order && k < i);
		}
		sorted[to[i]] = m->files.at[i];
	}
	if (to && sorted) {
		for (u32 i = 0; i < n; i++)
			m->files.at[i] = sorted[i];
		for (size_t i = 0; i < m->lines.len; i++)
			m->lines.at[i].file = to[m->lines.at[i].file];
		for (size_t i = 0; i < m->sites.len; i++)
			m->sites.at[i].file = to[m->sites.at[i].file];
		for (size_t i = 0; i < m->functions.len; i++) {
			struct cover_function *f = &m->functions.at[i];

			f->file = to[f->file];
			for (size_t k = 0; k < f->lines.len; k++)
				f->lines.at[k].file = to[f->lines.at[k].file];
		}
	}
	free(sorted);
	n = to != NULL;
	free(to);
	return n;
}

void cover_note_files(struct cover_model *m)
{
	for (u32 i = 0; i < m->files.len; i++) {
		struct cover_file *f = &m->files.at[i];
		const struct cover_file *before = i ? f - 1 : NULL;

		f->first_line = before ? before->first_line + before->lines : 0;
		f->first_site = before ? before->first_site + before->sites : 0;
		f->first_function = before ? before->first_function + before->functions : 0;
		f->lines = f->sites = f->functions = 0;
		while (f->first_line + f->lines < m->lines.len &&
		       m->lines.at[f->first_line + f->lines].file == i)
			f->lines++;
		while (f->first_site + f->sites < m->sites.len &&
		       m->sites.at[f->first_site + f->sites].file == i)
			f->sites++;
		while (f->first_function + f->functions < m->functions.len &&
		       m->functions.at[f->first_function + f->functions].file == i)
			f->functions++;
	}
}

bool cover_merge(struct cover_model *m, bool apart)
{
	if (!sort_files(m))
		return false;
	merge_lines(m);
	merge_sites(m);
	merge_functions(m, apart);
	return true;
}

/* ---- sums ---- */

struct cover_sum cover_sum_file(const struct cover_model *m, const struct cover_file *f)
{
	struct cover_sum s = {.lines = f->lines, .functions = f->functions};

	for (u32 i = 0; i < f->lines; i++)
		s.lines_hit += m->lines.at[f->first_line + i].tally.count != 0;
	for (u32 i = 0; i < f->sites; i++) {
		const struct cover_site *x = &m->sites.at[f->first_site + i];

		s.ways += x->ways;
		for (u32 k = 0; k < x->ways; k++)
			s.ways_hit += x->taken[k] != 0;
	}
	for (u32 i = 0; i < f->functions; i++)
		s.functions_hit += m->functions.at[f->first_function + i].count != 0;
	return s;
}

struct cover_sum cover_sum_all(const struct cover_model *m)
{
	struct cover_sum all = {0};

	for (size_t i = 0; i < m->files.len; i++) {
		struct cover_sum s = cover_sum_file(m, &m->files.at[i]);

		all.lines += s.lines;
		all.lines_hit += s.lines_hit;
		all.ways += s.ways;
		all.ways_hit += s.ways_hit;
		all.functions += s.functions;
		all.functions_hit += s.functions_hit;
	}
	return all;
}

double cover_percent(u32 hit, u32 all)
{
	return all ? 100.0 * hit / all : 100.0;
}

void cover_way_name(const struct cover_site *s, u32 way, struct text *out)
{
	if (s->kind == SITE_INDEX)
		text_printf(out, "case %u", way);
	else if (s->kind == SITE_BRANCH)
		text_puts(out, way ? "fall" : "jump");
	else
		text_puts(out, way ? "false" : "true");
}
