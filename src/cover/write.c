/*
 * What the formats have in common, lcov's and the text.
 */
#include "src/cover/write.h"
#include "src/lower/sites.h"

/* ---- branches ---- */

static bool by_groups(const struct cover_site *x, const struct cover_style *s)
{
	return s->lanes && x->kind != SITE_INDEX;
}

u32 cover_ways(const struct cover_site *x, const struct cover_style *s)
{
	return by_groups(x, s) ? 3 : x->ways;
}

u64 cover_way_taken(const struct cover_site *x, const struct cover_style *s, u32 way)
{
	if (by_groups(x, s))
		return way == 0 ? x->all : way == 1 ? x->none : x->diverged;
	return x->taken[way];
}

void cover_way_text(const struct cover_site *x, const struct cover_style *s, u32 way,
		    struct text *out)
{
	if (by_groups(x, s) && way == 2)
		text_puts(out, x->kind == SITE_BRANCH ? "diverged" : "mixed");
	else
		cover_way_name(x, way, out);
}

u32 cover_sites_of(const struct cover_model *m, const struct cover_file *f, u32 line, u32 *n)
{
	u32 lo = f->first_site, end = f->first_site + f->sites, hi = end;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (m->sites.at[mid].line < line)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (*n = 0; lo + *n < end && m->sites.at[lo + *n].line == line; ++*n)
		;
	return lo;
}

static u32 ways_hit(const struct cover_site *x, const struct cover_style *s)
{
	u32 hit = 0;

	for (u32 i = 0; i < cover_ways(x, s); i++)
		hit += cover_way_taken(x, s, i) != 0;
	return hit;
}

/* ---- lcov ---- */

/* genhtml looks from where it runs; services map paths from the root. */
static void put_source_path(const struct cover_model *m, const struct cover_file *f,
			    struct text *out)
{
	text_puts(out, m->at_root ? f->path : f->source);
}

static void put_functions(const struct cover_model *m, const struct cover_file *f,
			  const struct cover_style *s, struct text *out)
{
	u32 hit = 0;

	for (u32 i = 0; i < f->functions; i++) {
		const struct cover_function *x = &m->functions.at[f->first_function + i];

		if (s->lcov == 2)
			text_printf(out, "FNL:%u,%u,%u\nFNA:%u,%llu,%s\n", i, x->line, x->end, i,
				    (unsigned long long)x->count, x->shown);
		else
			text_printf(out, "FN:%u,%s\n", x->line, x->shown);
		hit += x->count != 0;
	}
	for (u32 i = 0; s->lcov != 2 && i < f->functions; i++) {
		const struct cover_function *x = &m->functions.at[f->first_function + i];

		text_printf(out, "FNDA:%llu,%s\n", (unsigned long long)x->count, x->shown);
	}
	text_printf(out, "FNF:%u\nFNH:%u\n", f->functions, hit);
}

static void put_branches(const struct cover_model *m, const struct cover_file *f,
			 const struct cover_style *s, struct text *out)
{
	u32 line = 0, block = 0, found = 0, hit = 0;

	for (u32 i = 0; i < f->sites; i++) {
		const struct cover_site *x = &m->sites.at[f->first_site + i];
		u32 ways = cover_ways(x, s);

		block = x->line == line ? block + 1 : 0;
		line = x->line;
		for (u32 k = 0; k < ways; k++) {
			text_printf(out, "BRDA:%u,%u,", line, block);
			if (s->lcov == 2)
				cover_way_text(x, s, k, out);
			else
				text_printf(out, "%u", k);
			if (x->reached)
				text_printf(out, ",%llu\n",
					    (unsigned long long)cover_way_taken(x, s, k));
			else
				text_puts(out, ",-\n");
		}
		found += ways;
		hit += ways_hit(x, s);
	}
	text_printf(out, "BRF:%u\nBRH:%u\n", found, hit);
}

void cover_write_lcov(const struct cover_model *m, const struct cover_style *s, struct text *out)
{
	for (size_t i = 0; i < m->files.len; i++) {
		const struct cover_file *f = &m->files.at[i];
		u32 hit = 0;

		if (!f->lines)
			continue;
		text_puts(out, "TN:\nSF:");
		put_source_path(m, f, out);
		text_puts(out, "\n");
		put_functions(m, f, s, out);
		put_branches(m, f, s, out);
		for (u32 k = 0; k < f->lines; k++) {
			const struct cover_line *l = &m->lines.at[f->first_line + k];

			text_printf(out, "DA:%u,%llu\n", l->line,
				    (unsigned long long)l->tally.count);
			hit += l->tally.count != 0;
		}
		text_printf(out, "LF:%u\nLH:%u\nend_of_record\n", f->lines, hit);
	}
}

/* ---- text ---- */

static void put_text_line(const struct cover_file *f, u32 line, const struct cover_tally *t,
			  struct text *out)
{
	char count[24] = "-", lanes[8] = "", split[24] = "";
	const char *s = cover_source_line(f, line);

	if (t)
		snprintf(count, sizeof(count), t->count ? "%llu" : "#####",
			 (unsigned long long)t->count);
	if (t && t->count)
		snprintf(lanes, sizeof(lanes), "%d/32", __builtin_popcount(t->mask));
	if (t && t->diverged)
		snprintf(split, sizeof(split), "~%llu", (unsigned long long)t->diverged);
	text_printf(out, "%9s:%5u: %5s %4s: %s\n", count, line, lanes, split, s ? s : "");
}

static void put_site(const struct cover_site *x, const struct cover_style *s, struct text *out)
{
	static const char *const names[] = {"block", "branch", "guard", "select", "switch"};
	u32 ways = cover_ways(x, s);

	text_printf(out, "%9s:%5s: %10s: %s", "", "", "", names[x->kind]);
	if (x->column)
		text_printf(out, " at column %u", x->column);
	if (!x->reached) {
		text_puts(out, ": never reached\n");
		return;
	}
	for (u32 i = 0; i < ways; i++) {
		text_puts(out, i ? ", " : ": ");
		cover_way_text(x, s, i, out);
		text_printf(out, " %llu", (unsigned long long)cover_way_taken(x, s, i));
	}
	text_printf(out, "; %u of %u %s", ways_hit(x, s), ways,
		    s->lanes ? "outcomes" : "directions");
	if (x->kind == SITE_BRANCH || x->kind == SITE_INDEX)
		text_printf(out, ", %llu divergent warp%s", (unsigned long long)x->diverged,
			    x->diverged == 1 ? "" : "s");
	text_puts(out, "\n");
}

static void put_sum(const char *what, u32 hit, u32 all, struct text *out)
{
	if (all)
		text_printf(out, "%s: %.1f%% (%u of %u)\n", what, cover_percent(hit, all), hit,
			    all);
	else
		text_printf(out, "%s: none\n", what);
}

static struct cover_sum sum_of(const struct cover_model *m, const struct cover_file *f,
			       const struct cover_style *s)
{
	struct cover_sum sum = f ? cover_sum_file(m, f) : cover_sum_all(m);
	u32 first = f ? f->first_site : 0, n = f ? f->sites : (u32)m->sites.len;

	if (!s->lanes)
		return sum;
	sum.ways = sum.ways_hit = 0;
	for (u32 i = first; i < first + n; i++) {
		sum.ways += cover_ways(&m->sites.at[i], s);
		sum.ways_hit += ways_hit(&m->sites.at[i], s);
	}
	return sum;
}

static void put_sums(const struct cover_sum *s, struct text *out)
{
	put_sum("lines", s->lines_hit, s->lines, out);
	put_sum("branches", s->ways_hit, s->ways, out);
	put_sum("functions", s->functions_hit, s->functions, out);
}

static void put_instance(const struct cover_model *m, const struct cover_function *x,
			 struct text *out)
{
	text_printf(out, "\nfunction %s: entered by %llu lane%s\n", x->shown,
		    (unsigned long long)x->count, x->count == 1 ? "" : "s");
	for (size_t i = 0; i < x->lines.len; i++) {
		const struct cover_line *l = &x->lines.at[i];
		const struct cover_file *f = &m->files.at[l->file];

		if (!i || l->file != l[-1].file)
			text_printf(out, "%9s:%5u: %10s: Source:%s\n", "-", 0, "", f->path);
		put_text_line(f, l->line, &l->tally, out);
	}
}

static void put_file_text(const struct cover_model *m, const struct cover_file *f,
			  const struct cover_style *s, struct text *out)
{
	struct cover_sum sum = sum_of(m, f, s);
	u32 k = 0, last = f->lines_len;

	if (f->lines && m->lines.at[f->first_line + f->lines - 1].line > last)
		last = m->lines.at[f->first_line + f->lines - 1].line;
	text_printf(out, "%9s:%5u: %10s: Source:%s%s\n", "-", 0, "", f->path,
		    f->at ? "" : " (not found)");
	for (u32 line = 1; line <= last; line++) {
		const struct cover_line *l = k < f->lines ? &m->lines.at[f->first_line + k] : NULL;
		bool is_code = l && l->line == line;
		u32 n, first = cover_sites_of(m, f, line, &n);

		if (!is_code && !n && !f->at)
			continue;
		put_text_line(f, line, is_code ? &l->tally : NULL, out);
		k += is_code;
		for (u32 i = first; i < first + n; i++)
			put_site(&m->sites.at[i], s, out);
	}
	text_puts(out, "\n");
	for (u32 i = 0; i < f->functions; i++) {
		const struct cover_function *x = &m->functions.at[f->first_function + i];

		text_printf(out, "function %s (line %u): ", x->shown, x->line);
		if (x->count)
			text_printf(out, "entered by %llu lane%s\n", (unsigned long long)x->count,
				    x->count == 1 ? "" : "s");
		else
			text_puts(out, "never entered\n");
	}
	text_printf(out, "%s: ", f->path);
	text_printf(out, "lines %.1f%%, branches %.1f%%, functions %.1f%%\n\n",
		    cover_percent(sum.lines_hit, sum.lines), cover_percent(sum.ways_hit, sum.ways),
		    cover_percent(sum.functions_hit, sum.functions));
}

void cover_write_text(const struct cover_model *m, const struct cover_style *s, struct text *out)
{
	struct cover_sum all = sum_of(m, NULL, s);

	if (m->is_optimised)
		text_puts(
			out,
			"device code is optimised: lines and branches are fewer than in the source\n\n");
	for (size_t i = 0; i < m->files.len; i++)
		if (m->files.at[i].lines)
			put_file_text(m, &m->files.at[i], s, out);
	for (size_t i = 0; s->instances && i < m->functions.len; i++)
		put_instance(m, &m->functions.at[i], out);
	if (s->instances)
		text_puts(out, "\n");
	put_sums(&all, out);
}
