/*
 * The details page and the raw page as CSV, for programs that read those of Nsight Compute 2025.3:
 * every field in quotes, the same columns in the same order, numbers with separators.
 */
#include "src/profile/table/links.h"
#include "src/profile/page/page.h"

#include <stdlib.h>

static const char *const identity[] = {
	"ID",     "Process ID", "Process Name", "Host Name", "Kernel Name", "Context",
	"Stream", "Block Size", "Grid Size",    "Device",    "CC"};

enum { IDENTITY_KERNEL = 4 };

/* The columns of NVTX, which are there when its ranges are asked for. */
static const char *const range_columns[] = {
	"thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
	"Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"};

/* Payloads and colors are not kept. */
static void csv_add_ranges(const struct profile_launch *l, bool is_pushed, struct text *out)
{
	struct text t = {0};
	bool any = false;

	text_puts(&t, "");
	for (u32 i = 0; l->ranges && i < l->ranges->len; i++) {
		const struct profile_range *x = &l->ranges->at[i];

		if (x->is_pushed != is_pushed)
			continue;
		if (is_pushed && !any)
			text_printf(&t, "%llu ", (unsigned long long)l->ranges->thread);
		if (!is_pushed)
			text_printf(&t, "%s%llu ", any ? " " : "", (unsigned long long)x->id);
		text_printf(&t, " \"%s:%s:none:none:none:none:none:none\" ", x->domain, x->name);
		any = true;
	}
	page_csv_field(t.at ? t.at : "", false, out);
	text_fini(&t);
}

static void add_identity(const struct page *p, const struct profile_launch *l, struct text *out)
{
	struct text name = {0};

	text_printf(out, "\"%llu\",\"%llu\"", (unsigned long long)l->number,
		    (unsigned long long)l->process->pid);
	page_csv_field(file_base_name(l->process->name), false, out);
	page_launch_name(p, l, &name);
	text_puts(out, ",\"127.0.0.1\"");
	if (p->has_ranges) {
		csv_add_ranges(l, true, out);
		csv_add_ranges(l, false, out);
	}
	page_csv_field(name.at ? name.at : "", false, out);
	text_fini(&name);
	text_printf(out,
		    ",\"%llu\",\"%llu\",\"(%u, %u, %u)\",\"(%u, %u, %u)\",\"%u\",\"%llu.%llu\"",
		    (unsigned long long)l->context, (unsigned long long)l->stream, l->block[0],
		    l->block[1], l->block[2], l->grid[0], l->grid[1], l->grid[2], l->device,
		    (unsigned long long)l->value[VALUE_cc_major],
		    (unsigned long long)l->value[VALUE_cc_minor]);
}

static void add_heads(const struct page *p, struct text *out)
{
	for (size_t i = 0; i < ARRAY_LEN(identity); i++) {
		for (size_t k = 0;
		     p->has_ranges && i == IDENTITY_KERNEL && k < ARRAY_LEN(range_columns); k++)
			page_csv_field(range_columns[k], false, out);
		page_csv_field(identity[i], !i, out);
	}
}

static void csv_add_number(const struct page *p, u32 metric, const struct profile_launch *l,
			   const char **unit, struct text *out)
{
	struct metric_number n = metric_value(metric, l);
	struct text t = {0};

	metric_write_styled(&n, metric_unit(metric), false, p->numbers, unit, &t);
	page_csv_field(t.at ? t.at : "", false, out);
	text_fini(&t);
}

/* ---- raw ---- */

struct raw_column {
	const char *name;
	u32 metric; /* METRIC_NONE: it is not counted */
};

struct raw_columns {
	VEC(struct raw_column) at;
};

static int raw_by_name(const void *a, const void *b)
{
	return strcmp(((const struct raw_column *)a)->name, ((const struct raw_column *)b)->name);
}

/* What the launch is, and what was asked for, in byte order. */
static bool raw_find_columns(const struct page *p, struct raw_columns *c)
{
	bool ok = true;

	for (u32 i = 0; i < metric_count(); i++) {
		const char *name = metric_name(i);

		if (!strncmp(name, "launch__", 8) || !strncmp(name, "device__", 8))
			ok &= VEC_PUSH(&c->at, ((struct raw_column){name, i}));
	}
	for (size_t i = 0; i < p->metrics.at.len; i++) {
		struct raw_column x = {metric_name(p->metrics.at.at[i]), p->metrics.at.at[i]};

		if (strncmp(x.name, "launch__", 8) && strncmp(x.name, "device__", 8))
			ok &= VEC_PUSH(&c->at, x);
	}
	for (size_t i = 0; i < p->metrics.missing.len; i++)
		ok &= VEC_PUSH(&c->at,
			       ((struct raw_column){p->metrics.missing.at[i], METRIC_NONE}));
	if (c->at.len)
		qsort(c->at.at, c->at.len, sizeof(c->at.at[0]), raw_by_name);
	return ok;
}

static void raw_write_launch(const struct page *p, const struct profile_launch *l,
			     const struct raw_columns *c, struct text *out)
{
	const char *unit;

	add_identity(p, l, out);
	for (size_t i = 0; i < c->at.len; i++)
		if (c->at.at[i].metric == METRIC_NONE)
			page_csv_field("(!) n/a", false, out);
		else
			csv_add_number(p, c->at.at[i].metric, l, &unit, out);
	text_puts(out, "\n");
}

static void csv_write_raw(const struct page *p, struct text *out)
{
	struct raw_columns c = {0};

	out->failed |= !raw_find_columns(p, &c);
	add_heads(p, out);
	for (size_t i = 0; i < c.at.len; i++)
		page_csv_field(c.at.at[i].name, false, out);
	text_puts(out, "\n");
	for (size_t i = 0; i < ARRAY_LEN(identity) + (p->has_ranges ? ARRAY_LEN(range_columns) : 0);
	     i++)
		page_csv_field("", !i, out);
	for (size_t i = 0; i < c.at.len; i++)
		page_csv_field(c.at.at[i].metric == METRIC_NONE ? ""
								: metric_unit(c.at.at[i].metric),
			       false, out);
	text_puts(out, "\n");
	for (size_t i = 0; i < p->launches.len; i++)
		raw_write_launch(p, p->launches.at[i], &c, out);
	VEC_FREE(&c.at);
}

/* ---- details ---- */

static void add_metric(const struct page *p, const struct profile_launch *l, const char *section,
		       const char *label, u32 metric, struct text *out)
{
	struct metric_number n = metric_value(metric, l);
	struct text value = {0}, name = {0};
	const char *unit;

	page_metric_name(p, label, metric, &name);
	metric_write_styled(&n, metric_unit(metric), false, p->numbers, &unit, &value);
	add_identity(p, l, out);
	page_csv_field(section, false, out);
	page_csv_field(name.at ? name.at : "", false, out);
	page_csv_field(unit, false, out);
	page_csv_field(value.at ? value.at : "", false, out);
	/* Where there are columns of rules, one of them is written. */
	text_puts(out, p->sections ? ",\n" : "\n");
	text_fini(&name);
	text_fini(&value);
}

static void add_missing(const struct page *p, const struct profile_launch *l, struct text *out)
{
	for (size_t i = 0; i < p->metrics.missing.len; i++) {
		add_identity(p, l, out);
		page_csv_field("Command line profiler metrics", false, out);
		page_csv_field(p->metrics.missing.at[i], false, out);
		text_puts(out, ",\"\",\"(!) n/a\"");
		text_puts(out, p->sections ? ",\n" : "\n");
	}
}

static void add_findings(const struct page *p, const struct profile_launch *l, u32 section,
			 const struct section_findings *found, struct text *out)
{
	for (size_t i = 0; i < found->at.len; i++) {
		const struct section_finding *f = &found->at.at[i];

		if (f->section != section)
			continue;
		add_identity(p, l, out);
		page_csv_field(section_id(section), false, out);
		text_puts(out, ",\"\",\"\",\"\"");
		page_csv_field(f->rule, false, out);
		page_csv_field(f->type, false, out);
		page_csv_field(f->text.at ? f->text.at : "", false, out);
		text_puts(out, ",\"\",\"\"\n");
	}
}

static void add_link_bytes(const struct page *p, const struct profile_launch *l,
			   const struct profile_link *k, const char *what, u64 bytes,
			   struct text *out)
{
	struct text name = {0}, value = {0};

	profile_link_end_say(k->end, &name);
	text_printf(&name, " %s Bytes %s", profile_link_words[k->kind], what);
	metric_write_styled(&(struct metric_number){.is_known = true, .whole = bytes}, "byte",
			    false, p->numbers, &(const char *){NULL}, &value);
	add_identity(p, l, out);
	text_puts(out, ",\"Links\"");
	page_csv_field(name.at ? name.at : "", false, out);
	text_puts(out, ",\"byte\"");
	page_csv_field(value.at ? value.at : "", false, out);
	text_puts(out, p->sections ? ",\n" : "\n");
	text_fini(&name);
	text_fini(&value);
}

static void add_launch(const struct page *p, const struct profile_launch *l, struct text *out)
{
	struct section_findings found = {0};

	section_find(l, p->sections, &found);
	for (u32 s = 0; s < PROFILE_SECTIONS; s++) {
		const struct section_row *rows;
		u32 len;

		if (!(p->sections >> s & 1) || !section_applies(s, l))
			continue;
		rows = section_rows(s, &len);
		for (u32 i = 0; p->details != DETAILS_BODY && i < len; i++)
			add_metric(p, l, section_title(s), rows[i].label,
				   metric_find(rows[i].metric), out);
		if (p->details != DETAILS_HEADER)
			add_findings(p, l, s, &found, out);
	}
	section_findings_fini(&found);
	for (size_t i = 0; p->sections && i < l->links.len; i++) {
		add_link_bytes(p, l, &l->links.at[i], "Read", l->links.at[i].read, out);
		add_link_bytes(p, l, &l->links.at[i], "Written", l->links.at[i].written, out);
	}
	add_missing(p, l, out);
	for (size_t i = 0; i < p->metrics.at.len; i++)
		add_metric(p, l, "Command line profiler metrics", NULL, p->metrics.at.at[i], out);
}

static void csv_write_details(const struct page *p, struct text *out)
{
	static const char *const columns[] = {"Section Name", "Metric Name", "Metric Unit",
					      "Metric Value"};
	static const char *const rule_columns[] = {"Rule Name", "Rule Type", "Rule Description",
						   "Estimated Speedup Type", "Estimated Speedup"};

	add_heads(p, out);
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		page_csv_field(columns[i], false, out);
	for (size_t i = 0; p->sections && i < ARRAY_LEN(rule_columns); i++)
		page_csv_field(rule_columns[i], false, out);
	text_puts(out, "\n");
	for (size_t i = 0; i < p->launches.len; i++)
		add_launch(p, p->launches.at[i], out);
}

void page_csv(const struct page *p, struct text *out)
{
	if (p->kind == PAGE_RAW)
		csv_write_raw(p, out);
	else
		csv_write_details(p, out);
}
