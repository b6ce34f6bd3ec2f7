/*
 * All of a report as one document of JSON: metrics by name, what stands out, lines of the source.
 */
#include "src/profile/json_out.h"
#include "src/profile/table/links.h"
#include "src/profile/table/migrations.h"
#include "src/profile/page/lines.h"
#include "src/profile/page/page.h"
#include "src/profile/table/shared.h"
#include "src/profile/table/variables.h"

static const char *const kind_words[] = {[EXACT] = "exact", [PTX] = "ptx", [MODEL] = "model"};

static void json_metric(u32 metric, const struct profile_launch *l, bool first, struct text *out)
{
	struct metric_number n = metric_value(metric, l);

	text_puts(out, first ? "\n    " : ",\n    ");
	text_json_string(out, metric_name(metric));
	if (!n.is_known)
		text_puts(out, ": {\"value\": null");
	else if (n.is_real)
		text_printf(out, ": {\"value\": %.15g", n.real);
	else
		text_printf(out, ": {\"value\": %llu", (unsigned long long)n.whole);
	json_out_text("unit", metric_unit(metric), out);
	json_out_text("kind", kind_words[metric_kind_of(metric)], out);
	text_puts(out, "}");
}

static void json_metrics(const struct page *p, const struct profile_launch *l, struct text *out)
{
	bool all = !p->metrics.at.len && !p->metrics.missing.len;

	text_puts(out, ",\n   \"metrics\": {");
	for (u32 i = 0; all && i < metric_count(); i++)
		json_metric(i, l, !i, out);
	for (size_t i = 0; i < p->metrics.at.len; i++)
		json_metric(p->metrics.at.at[i], l, !i, out);
	for (size_t i = 0; i < p->metrics.missing.len; i++) {
		text_puts(out, i || p->metrics.at.len ? ",\n    " : "\n    ");
		text_json_string(out, p->metrics.missing.at[i]);
		text_puts(out, ": {\"value\": null}");
	}
	text_puts(out, "}");
}

static void json_findings(const struct profile_launch *l, struct text *out)
{
	struct section_findings found = {0};

	section_find(l, UINT32_MAX, &found);
	text_puts(out, ",\n   \"findings\": [");
	for (size_t i = 0; i < found.at.len; i++) {
		const struct section_finding *f = &found.at.at[i];

		text_puts(out, i ? ",\n    {\"rule\": " : "\n    {\"rule\": ");
		text_json_string(out, f->rule);
		json_out_text("section", section_id(f->section), out);
		json_out_text("type", f->type, out);
		json_out_text("text", f->text.at ? f->text.at : "", out);
		text_puts(out, "}");
	}
	text_puts(out, "]");
	section_findings_fini(&found);
}

static void json_lines(const struct profile_launch *l, struct text *out)
{
	struct counted_lines lines = {0};
	bool any = false;

	lines_add(&lines, l);
	text_puts(out, ",\n   \"lines\": [");
	for (size_t i = 0; i < lines.at.len; i++) {
		const struct counted_line *x = &lines.at.at[i];

		if (!x->file)
			continue;
		text_printf(out, "%s\n    {\"line\": %u", any ? "," : "", x->line);
		any = true;
		json_out_text("file", x->file, out);
		for (u32 k = 0; k < PROFILE_COLUMNS; k++)
			if (x->counts.at[k])
				text_printf(out, ", \"%s\": %llu", profile_column_name(k),
					    (unsigned long long)x->counts.at[k]);
		text_puts(out, "}");
	}
	text_puts(out, "]");
	lines_fini(&lines);
}

static void json_ranges(const struct profile_ranges_view *v, struct text *out)
{
	text_puts(out, ", \"ranges\": [");
	for (u32 i = 0; i < v->len; i++) {
		text_puts(out, i ? ", {\"domain\": " : "{\"domain\": ");
		text_json_string(out, v->at[i].domain);
		json_out_text("name", v->at[i].name, out);
		json_out_text("kind", v->at[i].is_pushed ? "push" : "start", out);
		text_puts(out, "}");
	}
	text_puts(out, "]");
}

static void json_launch(const struct page *p, const struct profile_launch *l, struct text *out)
{
	struct text name = {0};

	page_kernel_name(l->program->name, &name);
	text_printf(out, "  {\"id\": %llu, \"process\": %llu", (unsigned long long)l->number,
		    (unsigned long long)l->process->pid);
	json_out_text("program", l->process->name, out);
	json_out_text("kernel", name.at ? name.at : "", out);
	json_out_text("mangled", l->program->kernel, out);
	text_printf(out, ", \"context\": %llu, \"stream\": %llu, \"device\": %u",
		    (unsigned long long)l->context, (unsigned long long)l->stream, l->device);
	json_out_text("device_name", l->device_name, out);
	json_out_box("grid", l->grid, out);
	json_out_box("block", l->block, out);
	if (l->ranges && l->ranges->len)
		json_ranges(l->ranges, out);
	json_metrics(p, l, out);
	json_findings(l, out);
	json_lines(l, out);
	profile_variables_json(l, out);
	profile_shared_json(l, out);
	profile_links_json(l, out);
	text_puts(out, "}");
	text_fini(&name);
}

void page_json(const struct page *p, struct text *out)
{
	text_puts(out, "{\"version\": 1, \"launches\": [");
	for (size_t i = 0; i < p->launches.len; i++) {
		text_puts(out, i ? ",\n" : "\n");
		json_launch(p, p->launches.at[i], out);
	}
	text_puts(out, "\n]");
	if (p->report) {
		profile_copies_json(p->report, out);
		profile_migrations_json(p->report, out);
	}
	text_puts(out, "}\n");
}
