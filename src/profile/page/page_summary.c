/*
 * Summaries: minimum, maximum and average of each metric over the launches of a device, of a kernel
 * with one shape, or of a range of NVTX, in ncu's layouts.
 */
#include "src/profile/page/page.h"

#include <stdlib.h>

struct summary_group {
	const struct profile_launch *first;
	const struct profile_range *range; /* SUMMARY_RANGE; NULL: in none */
	VEC(const struct profile_launch *) launches;
};

struct summary {
	const struct page *page;
	VEC(struct summary_group) groups;
};

/* ---- groups ---- */

static bool in_group(const struct summary *s, const struct summary_group *g,
		     const struct profile_launch *l, const struct profile_range *range)
{
	const struct profile_launch *f = g->first;

	switch (s->page->summary) {
	case SUMMARY_DEVICE:
		return f->process == l->process && f->device == l->device;
	case SUMMARY_RANGE:
		if (!range || !g->range)
			return range == g->range;
		return !strcmp(range->domain, g->range->domain) &&
		       !strcmp(range->name, g->range->name);
	default:
		return f->process == l->process && f->device == l->device &&
		       !strcmp(f->program->kernel, l->program->kernel) &&
		       !memcmp(f->grid, l->grid, sizeof(f->grid)) &&
		       !memcmp(f->block, l->block, sizeof(f->block));
	}
}

static bool group_put(struct summary *s, const struct profile_launch *l,
		      const struct profile_range *range)
{
	struct summary_group fresh = {.first = l, .range = range};
	size_t i = 0;

	while (i < s->groups.len && !in_group(s, &s->groups.at[i], l, range))
		i++;
	if (i == s->groups.len && !VEC_PUSH(&s->groups, fresh))
		return false;
	return VEC_PUSH(&s->groups.at[i].launches, l);
}

/* A launch counts for each range that it is in. */
static bool summary_put(struct summary *s, const struct profile_launch *l)
{
	bool ok = true;

	if (s->page->summary != SUMMARY_RANGE || !l->ranges || !l->ranges->len)
		return group_put(s, l, NULL);
	for (u32 i = 0; i < l->ranges->len; i++)
		ok = group_put(s, l, &l->ranges->at[i]) && ok;
	return ok;
}

/* ---- numbers ---- */

struct summary_row {
	char *name;
	const char *unit;
	char *value[3]; /* minimum, maximum, average */
};

struct summary_table {
	VEC(struct summary_row) rows;
};

/* Summaries have two digits behind the point. */
static char *summary_text(const struct page *p, double x, bool is_known)
{
	struct metric_number n = {.is_known = is_known, .is_real = true, .real = x};
	struct metric_style style = {.is_real = true, .is_plain = p->numbers.is_plain};
	struct text t = {0};
	const char *unit;

	metric_write_styled(&n, "", false, style, &unit, &t);
	return t.at;
}

static bool summary_add(const struct page *p, const struct summary_group *g, const char *label,
			u32 metric, struct summary_table *t)
{
	double least = 0, most = 0, sum = 0;
	struct summary_row row = {0};
	bool is_known = true;
	struct text name = {0};

	for (size_t i = 0; i < g->launches.len; i++) {
		struct metric_number n = metric_value(metric, g->launches.at[i]);
		double x = metric_real(&n);

		is_known = is_known && n.is_known;
		least = i && least < x ? least : x;
		most = i && most > x ? most : x;
		sum += x;
	}
	page_metric_name(p, label, metric, &name);
	row.name = name.at;
	row.unit = is_known ? metric_unit(metric) : "";
	row.value[0] = summary_text(p, least, is_known);
	row.value[1] = summary_text(p, most, is_known);
	row.value[2] = summary_text(p, sum / (double)g->launches.len, is_known);
	return VEC_PUSH(&t->rows, row);
}

static void summary_table_fini(struct summary_table *t)
{
	for (size_t i = 0; i < t->rows.len; i++) {
		free(t->rows.at[i].name);
		for (u32 k = 0; k < 3; k++)
			free(t->rows.at[i].value[k]);
	}
	VEC_FREE(&t->rows);
}

/* ---- writing ---- */

static const char *const summary_heads[] = {"Metric Name", "Metric Unit", "Minimum", "Maximum",
					    "Average"};

static const char *summary_cell(const struct summary_row *r, u32 column)
{
	const char *s = column == 0 ? r->name : column == 1 ? r->unit : r->value[column - 2];

	return s ? s : "";
}

static void summary_rule(const int *width, struct text *out)
{
	text_puts(out, "   ");
	for (u32 c = 0; c < ARRAY_LEN(summary_heads); c++) {
		text_puts(out, " ");
		for (int i = 0; i < width[c]; i++)
			text_puts(out, "-");
	}
	text_puts(out, "\n");
}

static void summary_text_table(const char *section, const struct summary_table *t, struct text *out)
{
	int width[ARRAY_LEN(summary_heads)];

	for (u32 c = 0; c < ARRAY_LEN(summary_heads); c++) {
		width[c] = (int)strlen(summary_heads[c]);
		for (size_t i = 0; i < t->rows.len; i++) {
			int n = (int)strlen(summary_cell(&t->rows.at[i], c));

			width[c] = n > width[c] ? n : width[c];
		}
	}
	text_printf(out, "    Section: %s\n", section);
	summary_rule(width, out);
	text_printf(out, "    %-*s", width[0], summary_heads[0]);
	for (u32 c = 1; c < ARRAY_LEN(summary_heads); c++)
		text_printf(out, " %*s", width[c], summary_heads[c]);
	text_puts(out, "\n");
	summary_rule(width, out);
	for (size_t i = 0; i < t->rows.len; i++) {
		text_printf(out, "    %-*s", width[0], summary_cell(&t->rows.at[i], 0));
		for (u32 c = 1; c < ARRAY_LEN(summary_heads); c++)
			text_printf(out, " %*s", width[c], summary_cell(&t->rows.at[i], c));
		text_puts(out, "\n");
	}
	summary_rule(width, out);
	text_puts(out, "\n");
}

static void summary_csv_table(const struct summary *s, const struct summary_group *g,
			      const char *section, const struct summary_table *t, struct text *out)
{
	const struct profile_launch *l = g->first;

	for (size_t i = 0; i < t->rows.len; i++) {
		struct text name = {0};

		text_printf(out, "\"%llu\"", (unsigned long long)l->process->pid);
		page_csv_field(file_base_name(l->process->name), false, out);
		text_puts(out, ",\"127.0.0.1\"");
		if (s->page->summary == SUMMARY_KERNEL) {
			page_launch_name(s->page, l, &name);
			page_csv_field(name.at ? name.at : "", false, out);
			text_printf(out, ",\"(%u, %u, %u)\",\"(%u, %u, %u)\"", l->block[0],
				    l->block[1], l->block[2], l->grid[0], l->grid[1], l->grid[2]);
		} else if (s->page->summary == SUMMARY_RANGE) {
			page_csv_field(g->range ? g->range->domain : "", false, out);
			page_csv_field(g->range ? g->range->name : "", false, out);
		}
		text_printf(out, ",\"%u\",\"%llu.%llu\",\"%zu\"", l->device,
			    (unsigned long long)l->value[VALUE_cc_major],
			    (unsigned long long)l->value[VALUE_cc_minor], g->launches.len);
		page_csv_field(section, false, out);
		for (u32 c = 0; c < ARRAY_LEN(summary_heads); c++)
			page_csv_field(summary_cell(&t->rows.at[i], c), false, out);
		text_puts(out, "\n");
		text_fini(&name);
	}
}

static void summary_heading(const struct summary *s, const struct summary_group *g,
			    struct text *out)
{
	const struct profile_launch *l = g->first;

	text_puts(out, "  ");
	if (s->page->summary == SUMMARY_KERNEL) {
		page_launch_name(s->page, l, out);
		text_printf(out, " (%u, %u, %u)x(%u, %u, %u), ", l->grid[0], l->grid[1], l->grid[2],
			    l->block[0], l->block[1], l->block[2]);
	} else if (s->page->summary == SUMMARY_RANGE) {
		text_printf(out, "%s: %s, ", g->range ? g->range->domain : "no range",
			    g->range ? g->range->name : "-");
	}
	text_printf(out, "Device %u, CC %llu.%llu, Invocations %zu\n", l->device,
		    (unsigned long long)l->value[VALUE_cc_major],
		    (unsigned long long)l->value[VALUE_cc_minor], g->launches.len);
}

static void summary_section(const struct summary *s, const struct summary_group *g,
			    const char *title, struct summary_table *t, struct text *out)
{
	if (t->rows.len && s->page->is_csv)
		summary_csv_table(s, g, title, t, out);
	else if (t->rows.len)
		summary_text_table(title, t, out);
	summary_table_fini(t);
}

static bool group_applies(const struct summary_group *g, u32 section)
{
	for (size_t i = 0; i < g->launches.len; i++)
		if (section_applies(section, g->launches.at[i]))
			return true;
	return false;
}

static bool write_group(const struct summary *s, const struct summary_group *g, struct text *out)
{
	const struct page *p = s->page;
	struct summary_table t = {0};
	bool ok = true;

	if (!p->is_csv)
		summary_heading(s, g, out);
	for (u32 k = 0; k < PROFILE_SECTIONS && p->kind != PAGE_RAW; k++) {
		const struct section_row *rows;
		u32 len;

		if (!(p->sections >> k & 1) || !group_applies(g, k))
			continue;
		rows = section_rows(k, &len);
		for (u32 i = 0; i < len; i++)
			ok = summary_add(p, g, rows[i].label, metric_find(rows[i].metric), &t) &&
			     ok;
		summary_section(s, g, section_title(k), &t, out);
	}
	for (size_t i = 0; i < p->metrics.at.len; i++)
		ok = summary_add(p, g, NULL, p->metrics.at.at[i], &t) && ok;
	summary_section(s, g, "Command line profiler metrics", &t, out);
	return ok;
}

static void summary_csv_heads(const struct summary *s, struct text *out)
{
	text_puts(out, "\"Process ID\",\"Process Name\",\"Host Name\"");
	if (s->page->summary == SUMMARY_KERNEL)
		text_puts(out, ",\"Kernel Name\",\"Block Size\",\"Grid Size\"");
	else if (s->page->summary == SUMMARY_RANGE)
		text_puts(out, ",\"NVTX Domain\",\"NVTX Range\"");
	text_puts(out, ",\"Device\",\"CC\",\"Invocations\",\"Section Name\"");
	for (u32 c = 0; c < ARRAY_LEN(summary_heads); c++)
		page_csv_field(summary_heads[c], false, out);
	text_puts(out, "\n");
}

void page_summary(const struct page *p, struct text *out)
{
	struct summary s = {.page = p};

	for (size_t i = 0; i < p->launches.len; i++)
		out->failed |= !summary_put(&s, p->launches.at[i]);
	if (p->is_csv)
		summary_csv_heads(&s, out);
	else if (p->launches.len)
		text_printf(out, "[%llu] %s@127.0.0.1\n",
			    (unsigned long long)p->launches.at[0]->process->pid,
			    file_base_name(p->launches.at[0]->process->name));
	for (size_t i = 0; i < s.groups.len; i++) {
		out->failed |= !write_group(&s, &s.groups.at[i], out);
		VEC_FREE(&s.groups.at[i].launches);
	}
	VEC_FREE(&s.groups);
}
