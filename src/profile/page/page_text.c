/*
 * The details page and the raw page as text.
 */
#include "src/profile/table/links.h"
#include "src/profile/table/migrations.h"
#include "src/profile/page/page.h"
#include "src/profile/table/shared.h"
#include "src/profile/table/variables.h"

#include <stdlib.h>

/* ---- tables of three columns ---- */

struct line {
	char *name, *value;
	const char *unit;
};

struct table {
	VEC(struct line) lines;
	size_t name_width, unit_width, value_width;
};

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static void table_init(struct table *t)
{
	*t = (struct table){.name_width = strlen("Metric Name"),
			    .unit_width = strlen("Metric Unit"),
			    .value_width = strlen("Metric Value")};
}

/* Takes over both texts. */
static void table_put(struct table *t, struct text *name, const char *unit, struct text *value)
{
	struct line x = {name->at, value->at, unit};

	if (!x.name || !x.value || !VEC_PUSH(&t->lines, x)) {
		text_fini(name);
		text_fini(value);
		return;
	}
	t->name_width = larger(t->name_width, name->len);
	t->unit_width = larger(t->unit_width, strlen(unit));
	t->value_width = larger(t->value_width, value->len);
}

static void add_dashes(size_t n, struct text *out)
{
	while (n--)
		text_puts(out, "-");
}

static void add_rule(const struct table *t, u32 indent, struct text *out)
{
	text_printf(out, "%*s", (int)indent, "");
	add_dashes(t->name_width, out);
	text_puts(out, " ");
	add_dashes(t->unit_width, out);
	text_puts(out, " ");
	add_dashes(t->value_width, out);
	text_puts(out, "\n");
}

static void text_add_line(const struct table *t, u32 indent, const char *name, const char *unit,
			  const char *value, struct text *out)
{
	text_printf(out, "%*s%-*s %*s %*s\n", (int)indent, "", (int)t->name_width, name,
		    (int)t->unit_width, unit, (int)t->value_width, value);
}

static void table_write(struct table *t, u32 indent, bool has_rule_above, struct text *out)
{
	if (has_rule_above)
		add_rule(t, indent, out);
	text_add_line(t, indent, "Metric Name", "Metric Unit", "Metric Value", out);
	add_rule(t, indent, out);
	for (size_t i = 0; i < t->lines.len; i++) {
		text_add_line(t, indent, t->lines.at[i].name, t->lines.at[i].unit,
			      t->lines.at[i].value, out);
		free(t->lines.at[i].name);
		free(t->lines.at[i].value);
	}
	add_rule(t, indent, out);
	text_puts(out, "\n");
	VEC_FREE(&t->lines);
}

static void put_metric(const struct page *p, struct table *t, const char *label, u32 metric,
		       const struct profile_launch *l)
{
	struct text name = {0}, value = {0};
	struct metric_number n = metric_value(metric, l);
	const char *unit;

	page_metric_name(p, label, metric, &name);
	metric_write_styled(&n, metric_unit(metric), !p->is_base, p->numbers, &unit, &value);
	table_put(t, &name, unit, &value);
}

static void put_missing(const struct page *p, struct table *t)
{
	for (size_t i = 0; i < p->metrics.missing.len; i++) {
		struct text name = {0}, value = {0};

		text_puts(&name, p->metrics.missing.at[i]);
		text_puts(&value, "(!) n/a");
		table_put(t, &name, "", &value);
	}
}

/* ---- wide tables ---- */

#define CELLS_MAX 8u

/* A table with names on the left and numbers by column; the values of `cell` are metrics' names. */
struct wide_row {
	const char *name;
	const char *metric[CELLS_MAX];
};

static void write_wide(const char *title, const char *const *heads, u32 cells,
		       const struct wide_row *rows, u32 len, const struct profile_launch *l,
		       struct text *out)
{
	enum { NAME_WIDTH = 38, WIDTH = 15 };

	text_printf(out, "    Table Name : %s\n    ", title);
	add_dashes(NAME_WIDTH + cells * (WIDTH + 1), out);
	text_printf(out, "\n    %-*s", NAME_WIDTH, "");
	for (u32 c = 0; c < cells; c++)
		text_printf(out, " %*s", WIDTH, heads[c]);
	text_puts(out, "\n    ");
	add_dashes(NAME_WIDTH + cells * (WIDTH + 1), out);
	text_puts(out, "\n");
	for (u32 r = 0; r < len; r++) {
		text_printf(out, "    %-*s", NAME_WIDTH, rows[r].name);
		for (u32 c = 0; c < cells; c++) {
			struct text value = {0};
			struct metric_number n;
			const char *unit;

			if (rows[r].metric[c]) {
				u32 m = metric_find(rows[r].metric[c]);

				n = metric_value(m, l);
				metric_write(&n, metric_unit(m), false, &unit, &value);
			}
			text_printf(out, " %*s", WIDTH, value.at ? value.at : "-");
			text_fini(&value);
		}
		text_puts(out, "\n");
	}
	text_puts(out, "    ");
	add_dashes(NAME_WIDTH + cells * (WIDTH + 1), out);
	text_puts(out, "\n\n");
}

#define PASSES(op) "l1tex__data_pipe_lsu_wavefronts_mem_shared" op ".sum"
#define CONFLICTS(op) "l1tex__data_bank_conflicts_pipe_lsu_mem_shared" op ".sum"
#define L1_ROW(name, inst, op)                                                                     \
	{                                                                                          \
		name,                                                                              \
		{                                                                                  \
			inst, "l1tex__t_requests_pipe_lsu_mem_" op ".sum",                         \
				"l1tex__t_sectors_pipe_lsu_mem_" op ".sum",                        \
				"l1tex__average_t_sectors_per_request_pipe_lsu_mem_" op ".ratio",  \
				"l1tex__t_sector_pipe_lsu_mem_" op "_hit_rate.pct",                \
				"l1tex__t_bytes_pipe_lsu_mem_" op ".sum"                           \
		}                                                                                  \
	}
#define L2_ROW(name, op)                                                                           \
	{                                                                                          \
		name,                                                                              \
		{                                                                                  \
			"lts__t_requests_srcunit_tex" op ".sum",                                   \
				"lts__t_sectors_srcunit_tex" op ".sum",                            \
				"lts__t_sectors_srcunit_tex" op "_lookup_hit.sum",                 \
				"lts__t_sectors_srcunit_tex" op "_lookup_miss.sum"                 \
		}                                                                                  \
	}

static void write_memory_tables(const struct profile_launch *l, struct text *out)
{
	static const char *const shared_heads[] = {"Instructions", "Wavefronts", "Bank Conflicts"};
	static const struct wide_row shared[] = {
		{"Shared Load",
		 {"smsp__inst_executed_op_shared_ld.sum", PASSES("_op_ld"), CONFLICTS("_op_ld")}},
		{"Shared Load Matrix",
		 {"smsp__inst_executed_op_ldsm.sum",
		  "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum", NULL}},
		{"Shared Store",
		 {"smsp__inst_executed_op_shared_st.sum", PASSES("_op_st"), CONFLICTS("_op_st")}},
		{"Shared Store From Global Load",
		 {"smsp__inst_executed_op_ldgsts.sum",
		  "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum", NULL}},
		{"Shared Atomic",
		 {"smsp__inst_executed_op_shared_atom.sum", PASSES("_op_atom"),
		  CONFLICTS("_op_atom")}},
		{"Total", {NULL, PASSES(""), CONFLICTS("")}},
	};
	static const char *const l1_heads[] = {"Instructions", "Requests", "Sectors",
					       "Sectors/Req",  "Hit Rate", "Bytes"};
	static const struct wide_row l1[] = {
		L1_ROW("Local Load", "smsp__inst_executed_op_local_ld.sum", "local_op_ld"),
		L1_ROW("Global Load", "smsp__inst_executed_op_global_ld.sum", "global_op_ld"),
		L1_ROW("Global Store", "smsp__inst_executed_op_global_st.sum", "global_op_st"),
		L1_ROW("Local Store", "smsp__inst_executed_op_local_st.sum", "local_op_st"),
		L1_ROW("Global Reduction", "smsp__inst_executed_op_global_red.sum",
		       "global_op_red"),
		L1_ROW("Global Atomic", "smsp__sass_inst_executed_op_global_atom.sum",
		       "global_op_atom"),
	};
	static const char *const l2_heads[] = {"Requests", "Sectors", "Hits", "Misses"};
	static const struct wide_row l2[] = {
		L2_ROW("L1/TEX Load", "_op_read"),
		L2_ROW("L1/TEX Store", "_op_write"),
		L2_ROW("L1/TEX Reduction", "_op_red"),
		{"L1/TEX Atomic",
		 {"lts__t_requests_srcunit_tex_op_atom.sum",
		  "lts__t_sectors_srcunit_tex_op_atom.sum", NULL, NULL}},
		L2_ROW("L1/TEX Total", ""),
		{"L2 Fabric Total", {NULL, "lts__t_sectors_srcunit_ltcfabric.sum", NULL, NULL}},
	};
	static const char *const memory_heads[] = {"Sectors", "Bytes"};
	static const struct wide_row memory[] = {
		{"Load", {"dram__sectors_read.sum", "dram__bytes_read.sum"}},
		{"Store", {"dram__sectors_write.sum", "dram__bytes_write.sum"}},
		{"Total", {"dram__sectors.sum", "dram__bytes.sum"}},
	};

	write_wide("Shared Memory", shared_heads, 3, shared, ARRAY_LEN(shared), l, out);
	write_wide("L1/TEX Cache", l1_heads, 6, l1, ARRAY_LEN(l1), l, out);
	if (!l->value[VALUE_has_caches])
		return;
	write_wide("L2 Cache (model)", l2_heads, 4, l2, ARRAY_LEN(l2), l, out);
	write_wide("Device Memory (model)", memory_heads, 2, memory, ARRAY_LEN(memory), l, out);
}

/* ---- opcodes ---- */

struct opcode {
	const char *name; /* begins in the text of an instruction */
	size_t len;
	u64 inst, threads;
};

#define OPCODES_SHOWN 12u

/* The first word of "@%p1 ld.global.f32 ..", without what follows a dot. */
static void opcode_of(const char *s, struct opcode *o)
{
	if (*s == '@')
		s += strcspn(s, " ") + 1;
	o->name = s;
	o->len = strcspn(s, ". ;");
}

static int by_inst(const void *a, const void *b)
{
	const struct opcode *x = a, *y = b;

	if (x->inst != y->inst)
		return x->inst < y->inst ? 1 : -1;
	return strncmp(x->name, y->name, x->len < y->len ? x->len : y->len);
}

static void write_opcodes(const struct profile_launch *l, struct text *out)
{
	VEC(struct opcode) list = {0};

	for (size_t i = 0; i < l->rows.len; i++) {
		const struct profile_row *r = &l->rows.at[i];
		struct opcode o = {0};
		size_t k = 0;

		opcode_of(profile_insn_of(l, r)->text, &o);
		while (k < list.len &&
		       (list.at[k].len != o.len || strncmp(list.at[k].name, o.name, o.len) != 0))
			k++;
		if (k == list.len && !VEC_PUSH(&list, o))
			break;
		list.at[k].inst += r->at[COLUMN_inst];
		list.at[k].threads += r->at[COLUMN_threads_on];
	}
	if (list.len)
		qsort(list.at, list.len, sizeof(list.at[0]), by_inst);
	text_puts(out, "    Table Name : Executed Instruction Mix\n");
	for (size_t i = 0; i < list.len && i < OPCODES_SHOWN; i++)
		text_printf(out, "    %-20.*s %15llu warps %18llu threads\n", (int)list.at[i].len,
			    list.at[i].name, (unsigned long long)list.at[i].inst,
			    (unsigned long long)list.at[i].threads);
	text_puts(out, "\n");
	VEC_FREE(&list);
}

/* ---- paragraphs ---- */

#define TEXT_WIDTH 110u

static void write_finding(const struct section_finding *f, struct text *out)
{
	const char *s = f->text.at ? f->text.at : "";
	size_t at = 0;

	text_printf(out, "    %s   ", f->type);
	while (*s) {
		size_t n = strcspn(s, " ");

		if (at && at + 1 + n > TEXT_WIDTH) {
			text_puts(out, "\n          ");
			at = 0;
		}
		text_puts(out, at ? " " : "");
		text_add(out, s, n);
		at += n + (at != 0);
		s += n + (s[n] == ' ');
	}
	text_puts(out, "\n\n");
}

/* ---- launches ---- */

static void write_heading(const struct page *p, const struct profile_launch *l,
			  const struct profile_launch *before, struct text *out)
{
	if (!before || before->process != l->process)
		text_printf(out, "[%llu] %s@127.0.0.1\n", (unsigned long long)l->process->pid,
			    file_base_name(l->process->name));
	text_puts(out, "  ");
	page_launch_name(p, l, out);
	text_printf(
		out,
		" (%u, %u, %u)x(%u, %u, %u), Context %llu, Stream %llu, Device %u, CC %llu.%llu\n",
		l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
		(unsigned long long)l->context, (unsigned long long)l->stream, l->device,
		(unsigned long long)l->value[VALUE_cc_major],
		(unsigned long long)l->value[VALUE_cc_minor]);
}

/* Stacks of domains one after the other, then what was started. */
static void write_text_ranges(const struct profile_ranges_view *v, struct text *out)
{
	const char *domain = NULL;

	text_printf(out, "    NVTX Push/Pop Stack for Thread %llu:\n",
		    (unsigned long long)v->thread);
	for (u32 i = 0; i < v->len; i++) {
		u32 depth = 0;

		if (!v->at[i].is_pushed)
			continue;
		for (u32 k = 0; k < i; k++)
			depth += v->at[k].is_pushed && !strcmp(v->at[k].domain, v->at[i].domain);
		if (!domain || strcmp(domain, v->at[i].domain) != 0)
			text_printf(out, "     %s\n", v->at[i].domain);
		domain = v->at[i].domain;
		text_printf(out, "     %*s<%u,%s>\n", (int)(2 * depth + 2), "", depth,
			    v->at[i].name);
	}
	text_puts(out, "    NVTX Start/End Ranges:\n");
	for (u32 i = 0; i < v->len; i++)
		if (!v->at[i].is_pushed)
			text_printf(out, "     %s: <%llu,%s>\n", v->at[i].domain,
				    (unsigned long long)v->at[i].id, v->at[i].name);
	text_puts(out, "\n");
}

static bool text_is_shown(u32 metric, const struct profile_launch *l)
{
	return metric_kind_of(metric) != MODEL || l->value[VALUE_has_caches];
}

static void write_section(const struct page *p, u32 section, const struct profile_launch *l,
			  const struct section_findings *found, struct text *out)
{
	const struct section_row *rows;
	struct table t;
	u32 len;

	table_init(&t);
	rows = section_rows(section, &len);
	for (u32 i = 0; i < len; i++) {
		u32 m = metric_find(rows[i].metric);

		if (p->details != DETAILS_BODY && text_is_shown(m, l))
			put_metric(p, &t, rows[i].label, m, l);
	}
	text_printf(out, "    Section: %s\n", section_title(section));
	if (t.lines.len)
		table_write(&t, 4, true, out);
	if (p->details == DETAILS_HEADER)
		return;
	if (section == SECTION_MemoryWorkloadAnalysis_Tables)
		write_memory_tables(l, out);
	if (section == SECTION_InstructionStats)
		write_opcodes(l, out);
	for (size_t i = 0; i < found->at.len; i++)
		if (found->at.at[i].section == section)
			write_finding(&found->at.at[i], out);
}

static void text_write_details(const struct page *p, const struct profile_launch *l,
			       struct text *out)
{
	struct section_findings found = {0};
	struct table t;

	section_find(l, p->sections, &found);
	for (u32 i = 0; i < PROFILE_SECTIONS; i++)
		if (p->sections >> i & 1 && section_applies(i, l))
			write_section(p, i, l, &found, out);
	section_findings_fini(&found);
	profile_variables_text(l, out);
	profile_shared_text(l, out);
	profile_links_text(l, out);
	if (!p->metrics.at.len && !p->metrics.missing.len)
		return;
	table_init(&t);
	put_missing(p, &t);
	for (size_t i = 0; i < p->metrics.at.len; i++)
		put_metric(p, &t, NULL, p->metrics.at.at[i], l);
	text_puts(out, "    Section: Command line profiler metrics\n");
	table_write(&t, 4, true, out);
}

static void text_write_raw(const struct page *p, const struct profile_launch *l, struct text *out)
{
	struct table t;

	table_init(&t);
	for (size_t i = 0; i < p->metrics.at.len; i++)
		put_metric(p, &t, NULL, p->metrics.at.at[i], l);
	put_missing(p, &t);
	table_write(&t, 2, false, out);
}

void page_text(const struct page *p, struct text *out)
{
	const struct profile_launch *before = NULL;

	for (size_t i = 0; i < p->launches.len; i++) {
		const struct profile_launch *l = p->launches.at[i];

		write_heading(p, l, before, out);
		if (p->has_ranges && l->ranges)
			write_text_ranges(l->ranges, out);
		if (p->kind == PAGE_RAW)
			text_write_raw(p, l, out);
		else
			text_write_details(p, l, out);
		before = l;
	}
	if (p->kind != PAGE_RAW && p->report) {
		profile_copies_text(p->report, out);
		profile_migrations_text(p->report, out);
	}
}
