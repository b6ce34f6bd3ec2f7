/*
 * Cobertura's XML, DTD coverage-04.
 */
#include "src/cover/write.h"
#include "src/base/file.h"
#include "src/base/utf8.h"
#include "src/lower/sites.h"

#include <sys/stat.h>
#include <time.h>

static double rate(u32 hit, u32 all)
{
	return all ? (double)hit / all : 1.0;
}

static void put_rates(const struct cover_sum *s, struct text *out)
{
	text_printf(out, " line-rate=\"%.4f\" branch-rate=\"%.4f\"", rate(s->lines_hit, s->lines),
		    rate(s->ways_hit, s->ways));
}

static const char *condition_type(const struct cover_site *x)
{
	return x->kind == SITE_INDEX ? "switch" : "jump";
}

static void put_xml_line(const struct cover_model *m, const struct cover_file *f,
			 const struct cover_style *s, const struct cover_line *l, struct text *out)
{
	u32 n, first = cover_sites_of(m, f, l->line, &n), all = 0, hit = 0;

	for (u32 i = first; i < first + n; i++)
		for (u32 k = 0; k < cover_ways(&m->sites.at[i], s); k++) {
			all++;
			hit += cover_way_taken(&m->sites.at[i], s, k) != 0;
		}
	text_printf(out, "            <line number=\"%u\" hits=\"%llu\" branch=\"%s\"", l->line,
		    (unsigned long long)l->tally.count, n ? "true" : "false");
	if (!n) {
		text_puts(out, "/>\n");
		return;
	}
	text_printf(out, " condition-coverage=\"%u%% (%u/%u)\">\n              <conditions>\n",
		    hit * 100 / all, hit, all);
	for (u32 i = first; i < first + n; i++) {
		const struct cover_site *x = &m->sites.at[i];
		u32 ways = cover_ways(x, s), taken = 0;

		for (u32 k = 0; k < ways; k++)
			taken += cover_way_taken(x, s, k) != 0;
		text_printf(
			out,
			"                <condition number=\"%u\" type=\"%s\" coverage=\"%u%%\"/>\n",
			i - first, condition_type(x), ways ? taken * 100 / ways : 100);
	}
	text_puts(out, "              </conditions>\n            </line>\n");
}

static void put_xml_methods(const struct cover_model *m, const struct cover_file *f,
			    struct text *out)
{
	text_puts(out, "          <methods>\n");
	for (u32 i = 0; i < f->functions; i++) {
		const struct cover_function *x = &m->functions.at[f->first_function + i];

		text_puts(out, "            <method name=\"");
		text_xml(out, x->shown);
		text_printf(
			out,
			"\" signature=\"\" line-rate=\"%s\" branch-rate=\"1.0\" complexity=\"0.0\">\n"
			"              <lines><line number=\"%u\" hits=\"%llu\" branch=\"false\"/></lines>\n"
			"            </method>\n",
			x->count ? "1.0" : "0.0", x->line, (unsigned long long)x->count);
	}
	text_puts(out, "          </methods>\n");
}

/* The folder of a path, as a package is called. */
static void put_package(const char *path, struct text *out)
{
	const char *base = file_base_name(path);
	struct text name = {0};

	for (const char *at = path; at + 1 < base; at++)
		text_add(&name, *at == '/' ? "." : at, 1);
	text_xml(out, name.at ? name.at : "");
	out->failed |= name.failed;
	text_fini(&name);
}

static bool same_folder(const char *a, const char *b)
{
	size_t n = (size_t)(file_base_name(a) - a);

	return n == (size_t)(file_base_name(b) - b) && !strncmp(a, b, n);
}

static void put_class(const struct cover_model *m, const struct cover_file *f,
		      const struct cover_style *s, struct text *out)
{
	struct cover_sum sum = cover_sum_file(m, f);

	text_puts(out, "        <class name=\"");
	text_xml(out, file_base_name(f->path));
	text_puts(out, "\" filename=\"");
	text_xml(out, f->path);
	text_puts(out, "\"");
	put_rates(&sum, out);
	text_puts(out, " complexity=\"0.0\">\n");
	put_xml_methods(m, f, out);
	text_puts(out, "          <lines>\n");
	for (u32 i = 0; i < f->lines; i++)
		put_xml_line(m, f, s, &m->lines.at[f->first_line + i], out);
	text_puts(out, "          </lines>\n        </class>\n");
}

static void add_sum(struct cover_sum *to, const struct cover_sum *s)
{
	to->lines += s->lines;
	to->lines_hit += s->lines_hit;
	to->ways += s->ways;
	to->ways_hit += s->ways_hit;
}

/* Files of one folder follow each other in no order of theirs: each package looks for its own. */
static void put_packages(const struct cover_model *m, const struct cover_style *s, struct text *out)
{
	for (size_t i = 0; i < m->files.len; i++) {
		const struct cover_file *f = &m->files.at[i];
		struct cover_sum sum = {0};
		bool is_first = f->lines != 0;

		for (size_t k = 0; k < m->files.len; k++) {
			const struct cover_file *x = &m->files.at[k];
			struct cover_sum one = cover_sum_file(m, x);

			if (!x->lines || !same_folder(x->path, f->path))
				continue;
			is_first &= k >= i;
			add_sum(&sum, &one);
		}
		if (!is_first)
			continue;
		text_puts(out, "    <package name=\"");
		put_package(f->path, out);
		text_puts(out, "\"");
		put_rates(&sum, out);
		text_puts(out, " complexity=\"0.0\">\n      <classes>\n");
		for (size_t k = i; k < m->files.len; k++)
			if (m->files.at[k].lines && same_folder(m->files.at[k].path, f->path))
				put_class(m, &m->files.at[k], s, out);
		text_puts(out, "      </classes>\n    </package>\n");
	}
}

/* The time is that of the sources: equal counts give equal reports. */
static u64 newest_source(const struct cover_model *m)
{
	u64 newest = 0;
	struct stat s;

	for (size_t i = 0; i < m->files.len; i++)
		if (!stat(m->files.at[i].source, &s))
			newest = max_u64(newest, (u64)s.st_mtime);
	return newest;
}

void cover_write_cobertura(const struct cover_model *m, const struct cover_style *s,
			   struct text *out)
{
	struct cover_sum sum = cover_sum_all(m);

	text_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		       "<!DOCTYPE coverage SYSTEM "
		       "\"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n<coverage");
	put_rates(&sum, out);
	text_printf(
		out,
		" lines-covered=\"%u\" lines-valid=\"%u\" branches-covered=\"%u\" "
		"branches-valid=\"%u\" complexity=\"0.0\" timestamp=\"%llu\" version=\"ptxloom\">\n",
		sum.lines_hit, sum.lines, sum.ways_hit, sum.ways,
		(unsigned long long)newest_source(m));
	text_puts(out, "  <sources>\n    <source>");
	text_xml(out, m->root);
	text_puts(out, "</source>\n  </sources>\n  <packages>\n");
	put_packages(m, s, out);
	text_puts(out, "  </packages>\n</coverage>\n");
}
