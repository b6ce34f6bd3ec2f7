/*
 * Pages: a list of files, and one for each file, with the source in it. No scripts.
 */
#include "src/base/utf8.h"
#include "src/cover/profile_int.h"
#include "src/cover/write.h"
#include "src/lower/sites.h"

#include <errno.h>
#include <unistd.h>

static const char style_sheet[] =
	"body{font-family:sans-serif;margin:1em}table{border-collapse:collapse}"
	"th,td{padding:1px 8px;text-align:right}th:first-child,td:first-child{text-align:left}"
	".s td{font-family:monospace;white-space:pre;padding:0 6px}.s td:last-child{text-align:left}"
	".y{background:#d8f0d8}.n{background:#f8d0d0}.p{background:#f8efc8}"
	".b{color:#666}.o{background:#fff3cd;padding:4px 8px}";

static void begin_page(struct text *out, const char *title)
{
	text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
	text_xml(out, title);
	text_printf(out, "</title><style>%s</style></head><body>\n<h1>", style_sheet);
	text_xml(out, title);
	text_puts(out, "</h1>\n");
}

static void put_percent(u32 hit, u32 all, struct text *out)
{
	double p = cover_percent(hit, all);

	text_printf(out, "<td class=\"%s\">%.1f%%</td><td>%u of %u</td>",
		    p >= 90   ? "y"
		    : p >= 50 ? "p"
			      : "n",
		    p, hit, all);
}

static void put_html_sums(const struct cover_sum *s, struct text *out)
{
	put_percent(s->lines_hit, s->lines, out);
	put_percent(s->ways_hit, s->ways, out);
	put_percent(s->functions_hit, s->functions, out);
}

static const char heads[] =
	"<tr><th>File</th><th colspan=\"2\">Lines</th><th colspan=\"2\">Branches</th>"
	"<th colspan=\"2\">Functions</th></tr>\n";

static void put_html_sites(const struct cover_model *m, const struct cover_file *f,
			   const struct cover_style *s, u32 line, struct text *out)
{
	u32 n, first = cover_sites_of(m, f, line, &n);

	for (u32 i = first; i < first + n; i++) {
		const struct cover_site *x = &m->sites.at[i];

		text_puts(out, i > first ? "; " : "");
		for (u32 k = 0; k < cover_ways(x, s); k++) {
			u64 taken = cover_way_taken(x, s, k);

			text_printf(out, "%s<span class=\"%s\">", k ? " " : "", taken ? "y" : "n");
			cover_way_text(x, s, k, out);
			text_printf(out, " %llu</span>", (unsigned long long)taken);
		}
	}
}

static void put_html_line(const struct cover_model *m, const struct cover_file *f,
			  const struct cover_style *s, u32 line, const struct cover_tally *t,
			  struct text *out)
{
	const char *source = cover_source_line(f, line);

	text_printf(out, "<tr%s id=\"L%u\"><td>%u</td><td>",
		    !t         ? ""
		    : t->count ? " class=\"y\""
			       : " class=\"n\"",
		    line, line);
	if (t)
		text_printf(out, "%llu", (unsigned long long)t->count);
	text_puts(out, "</td><td>");
	if (t && t->count)
		text_printf(out, "%d/32", __builtin_popcount(t->mask));
	text_puts(out, "</td><td>");
	if (t && t->diverged)
		text_printf(out, "%llu", (unsigned long long)t->diverged);
	text_puts(out, "</td><td class=\"b\">");
	put_html_sites(m, f, s, line, out);
	text_puts(out, "</td><td>");
	text_xml(out, source ? source : "");
	text_puts(out, "</td></tr>\n");
}

static void put_page(const struct cover_model *m, const struct cover_file *f,
		     const struct cover_style *s, struct text *out)
{
	struct cover_sum sum = cover_sum_file(m, f);
	u32 last = f->lines_len, k = 0;

	begin_page(out, f->path);
	text_printf(out, "<p><a href=\"index.html\">All files</a></p>\n<table>%s<tr><td>", heads);
	text_xml(out, f->path);
	text_puts(out, "</td>");
	put_html_sums(&sum, out);
	text_puts(out, "</tr></table>\n");
	if (!f->at)
		text_puts(out, "<p class=\"o\">The source was not found.</p>\n");
	text_puts(out,
		  "<table>\n<tr><th>Function</th><th>Line</th><th>Entered by lanes</th></tr>\n");
	for (u32 i = 0; i < f->functions; i++) {
		const struct cover_function *x = &m->functions.at[f->first_function + i];

		text_printf(out, "<tr class=\"%s\"><td>", x->count ? "y" : "n");
		text_xml(out, x->shown);
		text_printf(out, "</td><td><a href=\"#L%u\">%u</a></td><td>%llu</td></tr>\n",
			    x->line, x->line, (unsigned long long)x->count);
	}
	text_puts(out,
		  "</table>\n<table class=\"s\">\n<tr><th>Line</th><th>Count</th><th>Lanes</th>"
		  "<th>Divergent</th><th>Branches</th><th>Source</th></tr>\n");
	if (f->lines && m->lines.at[f->first_line + f->lines - 1].line > last)
		last = m->lines.at[f->first_line + f->lines - 1].line;
	for (u32 line = 1; line <= last; line++) {
		const struct cover_line *l = k < f->lines ? &m->lines.at[f->first_line + k] : NULL;
		bool is_code = l && l->line == line;

		k += is_code;
		if (is_code || f->at)
			put_html_line(m, f, s, line, is_code ? &l->tally : NULL, out);
	}
	text_puts(out, "</table>\n</body></html>\n");
}

/* Pages are called after their files' numbers and names. */
static void page_name(const struct cover_model *m, const struct cover_file *f, struct text *out)
{
	text_printf(out, "%u-", (u32)(f - m->files.at));
	for (const char *at = f->path; *at; at++)
		text_printf(out, "%c",
			    (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
					    (*at >= '0' && *at <= '9') || *at == '.'
				    ? *at
				    : '_');
	text_puts(out, ".html");
}

static bool put_html(const char *folder, const char *name, const struct text *t, struct text *why)
{
	struct text path = {0};
	bool ok;

	text_printf(&path, "%s/%s", folder, name);
	if (path.failed || t->failed)
		text_puts(why, "out of memory");
	ok = !path.failed && !t->failed && cover_put_file(path.at, t->at, t->len, why);
	text_fini(&path);
	return ok;
}

static void put_index(const struct cover_model *m, struct text *out)
{
	struct cover_sum all = cover_sum_all(m);

	begin_page(out, "Coverage of device code");
	if (m->is_optimised)
		text_puts(
			out,
			"<p class=\"o\">device code is optimised: lines and branches are fewer than in "
			"the source</p>\n");
	text_printf(out, "<table>\n%s", heads);
	for (size_t i = 0; i < m->files.len; i++) {
		const struct cover_file *f = &m->files.at[i];
		struct cover_sum s = cover_sum_file(m, f);

		if (!f->lines)
			continue;
		text_puts(out, "<tr><td><a href=\"");
		page_name(m, f, out);
		text_puts(out, "\">");
		text_xml(out, f->path);
		text_puts(out, "</a></td>");
		put_html_sums(&s, out);
		text_puts(out, "</tr>\n");
	}
	text_puts(out, "<tr><th>All</th>");
	put_html_sums(&all, out);
	text_puts(out, "</tr></table>\n</body></html>\n");
}

bool cover_write_html(const struct cover_model *m, const struct cover_style *s, const char *folder,
		      struct text *why)
{
	struct text index = {0};
	bool ok = cover_make_folder(folder);

	if (!ok)
		text_printf(why, "%s: %s", folder, strerror(errno));
	for (size_t i = 0; ok && i < m->files.len; i++) {
		struct text page = {0}, name = {0};

		if (!m->files.at[i].lines)
			continue;
		put_page(m, &m->files.at[i], s, &page);
		page_name(m, &m->files.at[i], &name);
		ok = !name.failed && put_html(folder, name.at, &page, why);
		text_fini(&page);
		text_fini(&name);
	}
	if (ok) {
		put_index(m, &index);
		ok = put_html(folder, "index.html", &index, why);
	}
	text_fini(&index);
	return ok;
}
