/*
 * A report, or two that are compared, as one document of HTML that refers to nothing else: the
 * numbers as one element of JSON, which the script of the page shows. The script and the style are
 * files of html/.
 */
#include "src/profile/json_out.h"
#include "src/profile/kernels.h"
#include "src/profile/table/links.h"
#include "src/profile/table/migrations.h"
#include "src/profile/page/lines.h"
#include "src/profile/page/page.h"
#include "src/profile/table/shared.h"
#include "src/profile/table/variables.h"

#include <stdlib.h>

/* From here on launches have no numbers of their own: those of their kernels have them, summed. */
#define DETAILS_MAX 1200000u
#define SOURCE_MAX ((size_t)1 << 20)

static const char style[] = {
#include "src/profile/page/html/page.css.inc"
	0};
static const char script[] = {
#include "src/profile/page/html/page.js.inc"
	0};

static const char *const html_kinds[] = {[EXACT] = "exact", [PTX] = "ptx", [MODEL] = "model"};

/* ---- names ---- */

static void html_add_metrics(struct text *out)
{
	text_puts(out, "\"metrics\": [");
	for (u32 i = 0; i < metric_count(); i++) {
		text_puts(out, i ? ", [" : "[");
		text_json_string(out, metric_name(i));
		text_puts(out, ", ");
		text_json_string(out, metric_unit(i));
		text_printf(out, ", \"%s\"]", html_kinds[metric_kind_of(i)]);
	}
	text_puts(out, "],\n\"columns\": [");
	for (u32 i = 0; i < PROFILE_COLUMNS; i++) {
		text_printf(out, "%s[\"%s\"", i ? ", " : "", profile_column_name(i));
		text_puts(out, ", ");
		text_json_string(out, profile_column_title(i));
		text_puts(out, ", ");
		text_json_string(out, profile_column_what(i));
		text_puts(out, "]");
	}
	text_puts(out, "]");
}

/* ---- launches ---- */

/* Members of an object: its metrics in the order of their names, and what stands out. */
static void html_add_numbers(const struct profile_launch *l, struct text *out)
{
	struct section_findings found = {0};

	text_puts(out, ", \"metrics\": [");
	for (u32 i = 0; i < metric_count(); i++) {
		struct metric_number n = metric_value(i, l);

		text_puts(out, i ? "," : "");
		if (!n.is_known)
			text_puts(out, "null");
		else if (n.is_real)
			text_printf(out, "%.6g", n.real);
		else
			json_out_number(n.whole, out);
	}
	text_puts(out, "], \"findings\": [");
	section_find(l, UINT32_MAX, &found);
	for (size_t i = 0; i < found.at.len; i++) {
		text_printf(out, "%s[\"%s\", ", i ? ", " : "", found.at.at[i].type);
		text_json_string(out, found.at.at[i].rule);
		text_puts(out, ", ");
		text_json_string(out, found.at.at[i].text.at ? found.at.at[i].text.at : "");
		text_puts(out, "]");
	}
	text_puts(out, "]");
	section_findings_fini(&found);
}

static void html_add_name(const char *member, const char *name, struct text *out)
{
	struct text t = {0};

	page_kernel_name(name, &t);
	json_out_text(member, t.at ? t.at : "", out);
	text_fini(&t);
}

static void html_add_launch(const struct profile_launch *l, size_t kernel, bool has_details,
			    struct text *out)
{
	text_printf(out, "{\"id\": %llu, \"kernel\": %zu, \"process\": %llu",
		    (unsigned long long)l->number, kernel, (unsigned long long)l->process->pid);
	text_printf(out, ", \"device\": %u, \"context\": %llu, \"stream\": %llu", l->device,
		    (unsigned long long)l->context, (unsigned long long)l->stream);
	json_out_text("device_name", l->device_name, out);
	json_out_box("grid", l->grid, out);
	json_out_box("block", l->block, out);
	if (has_details) {
		html_add_numbers(l, out);
		profile_variables_write(l, out);
		profile_shared_write(l, out);
		profile_links_write(l, out);
	}
	text_puts(out, "}");
}

/* The object as reports have it, without the bracket at its end. */
static void html_add_members(const struct text *line, struct text *out)
{
	if (line->len > 2)
		text_add(out, line->at, line->len - 2);
}

static void html_add_kernel(const struct kernel_sum *k, struct text *out)
{
	struct text program = {0}, sum = {0};

	profile_program_write(k->sum.program, &program);
	profile_launch_write(&k->sum, &sum);
	html_add_members(&program, out);
	html_add_name("shown", k->sum.program->name, out);
	text_printf(out, ", \"launches\": %zu, \"sum\": ", k->launches.len);
	html_add_members(&sum, out);
	html_add_numbers(&k->sum, out);
	text_puts(out, "}}");
	text_fini(&program);
	text_fini(&sum);
}

/* ---- sources ---- */

struct file_names {
	VEC(const char *) at;
};

/* Is the file a new one? It is kept. */
static bool html_is_new(struct file_names *names, const char *file)
{
	for (size_t i = names->at.len; i-- > 0;)
		if (names->at.at[i] == file || !strcmp(names->at.at[i], file))
			return false;
	return VEC_PUSH(&names->at, file);
}

static void html_add_source(const struct page *p, const char *file, bool first, struct text *out)
{
	struct source_text s;

	text_puts(out, first ? "" : ", ");
	text_json_string(out, file);
	text_puts(out, ": ");
	if (source_text_read(&s, file, p->source_folder) && strlen(s.text) < SOURCE_MAX)
		text_json_string(out, s.text);
	else
		text_puts(out, "null");
	source_text_fini(&s);
}

static void html_add_sources(const struct page *p, const struct kernel_sums *sums, struct text *out)
{
	struct file_names names = {0};

	text_puts(out, ",\n\"sources\": {");
	for (size_t k = 0; k < sums->at.len; k++) {
		const struct profile_program *q = sums->at.at[k].sum.program;

		for (u32 i = 0; i < q->insns.len; i++)
			if (q->insns.at[i].file && html_is_new(&names, q->insns.at[i].file))
				html_add_source(p, q->insns.at[i].file, names.at.len == 1, out);
	}
	text_puts(out, "}");
	VEC_FREE(&names.at);
}

/* ---- a report ---- */

/* Of all processes. */
static void html_add_process(const struct profile_report *r, struct text *out)
{
	struct profile_process all = {0};

	for (size_t i = 0; i < r->processes.len; i++) {
		const struct profile_process *p = r->processes.at[i];

		for (size_t k = 0; k < p->copies.len; k++)
			out->failed |= !VEC_PUSH(&all.copies, p->copies.at[k]);
		for (size_t k = 0; k < p->migrations.len; k++)
			out->failed |= !VEC_PUSH(&all.migrations, p->migrations.at[k]);
		for (size_t k = 0; k < p->residences.len; k++)
			out->failed |= !VEC_PUSH(&all.residences, p->residences.at[k]);
	}
	profile_copies_write(&all, out);
	profile_migrations_write(&all, out);
	VEC_FREE(&all.copies);
	profile_migrations_forget(&all);
}

static void html_add_report(const struct page *p, struct text *out)
{
	struct kernel_sums sums = {0};
	VEC(size_t) kernels = {0};
	size_t first = out->len;

	for (size_t i = 0; i < p->launches.len; i++) {
		size_t k = kernel_sums_add(&sums, p->launches.at[i]);

		out->failed |= k == SIZE_MAX || !VEC_PUSH(&kernels, k);
	}
	text_puts(out, "{\"name\": ");
	text_json_string(out,
			 p->launches.len ? file_base_name(p->launches.at[0]->process->name) : "");
	text_puts(out, ",\n\"kernels\": [");
	for (size_t k = 0; k < sums.at.len; k++) {
		text_puts(out, k ? ",\n" : "\n");
		html_add_kernel(&sums.at.at[k], out);
	}
	text_puts(out, "],\n\"launches\": [");
	for (size_t i = 0; i < kernels.len; i++) {
		text_puts(out, i ? ",\n" : "\n");
		html_add_launch(p->launches.at[i], kernels.at[i], out->len - first < DETAILS_MAX,
				out);
	}
	text_puts(out, "]");
	html_add_sources(p, &sums, out);
	if (p->report)
		html_add_process(p->report, out);
	text_puts(out, "}");
	VEC_FREE(&kernels);
	kernel_sums_fini(&sums);
}

/* ---- the document ---- */

/* So that no text of the program can end the element. */
static void html_add_escaped(const struct text *json, struct text *out)
{
	const char *s = json->at, *end = json->at + json->len;

	while (s < end) {
		const char *next = memchr(s, '<', (size_t)(end - s));

		text_add(out, s, (size_t)((next ? next : end) - s));
		if (next)
			text_puts(out, "\\u003c");
		s = next ? next + 1 : end;
	}
}

void page_html(const struct page *const *reports, u32 len, struct text *out)
{
	struct text json = {0};

	text_puts(&json, "{\"version\": 1,\n");
	html_add_metrics(&json);
	text_puts(&json, ",\n\"reports\": [");
	for (u32 i = 0; i < len; i++) {
		text_puts(&json, i ? ",\n" : "\n");
		html_add_report(reports[i], &json);
	}
	text_puts(&json, "]}\n");
	out->failed |= json.failed;
	text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		       "<meta name=\"viewport\" content=\"width=device-width\">\n"
		       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		       "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
		       "<title>ptxloom profile</title>\n<style>\n");
	text_puts(out, style);
	text_puts(out, "</style>\n</head>\n<body>\n<main id=\"page\"><noscript>This page is shown "
		       "by a script.</noscript></main>\n<script type=\"application/json\" "
		       "id=\"report\">\n");
	if (json.at)
		html_add_escaped(&json, out);
	text_puts(out, "</script>\n<script>\n");
	text_puts(out, script);
	text_puts(out, "</script>\n</body>\n</html>\n");
	text_fini(&json);
}
