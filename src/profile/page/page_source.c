/*
 * The source page: counts by line of the PTX, by line of the user's source, or by both.
 */
#include "src/profile/page/lines.h"
#include "src/profile/page/page.h"

#include <stdlib.h>

/* What stands in a column: a count, or what comes of two. */
enum cell_kind { CELL_COUNT, CELL_EXCESS, CELL_PER };

static const struct cell {
	const char *title, *short_title;
	u8 kind, a, b;
	bool is_model;
} cells[] = {
	{"Instructions Executed", "inst", CELL_COUNT, COLUMN_inst, 0, false},
	{"Thread Instructions Executed", NULL, CELL_COUNT, COLUMN_threads, 0, false},
	{"Predicated-On Thread Instructions Executed", NULL, CELL_COUNT, COLUMN_threads_on, 0,
	 false},
	{"Avg. Threads Executed", NULL, CELL_PER, COLUMN_threads, COLUMN_inst, false},
	{"Avg. Predicated-On Threads Executed", "lanes", CELL_PER, COLUMN_threads_on, COLUMN_inst,
	 false},
	{"Divergent Branches", "diverged", CELL_COUNT, COLUMN_divergent, 0, false},
	{"L1 Conflicts Shared N-Way", NULL, CELL_PER, COLUMN_shared_passes, COLUMN_shared_ideal,
	 false},
	{"L1 Wavefronts Shared Excessive", "excess", CELL_EXCESS, COLUMN_shared_passes,
	 COLUMN_shared_ideal, false},
	{"L1 Wavefronts Shared", "wavefronts", CELL_COUNT, COLUMN_shared_passes, 0, false},
	{"L1 Wavefronts Shared Ideal", NULL, CELL_COUNT, COLUMN_shared_ideal, 0, false},
	{"L2 Theoretical Sectors Global Excessive", "excess", CELL_EXCESS, COLUMN_global_sectors,
	 COLUMN_global_ideal, false},
	{"L2 Theoretical Sectors Global", "sectors", CELL_COUNT, COLUMN_global_sectors, 0, false},
	{"L2 Theoretical Sectors Global Ideal", NULL, CELL_COUNT, COLUMN_global_ideal, 0, false},
	{"L2 Theoretical Sectors Local", "local", CELL_COUNT, COLUMN_local_sectors, 0, false},
	{"L1 Requests Texture", NULL, CELL_COUNT, COLUMN_texture_requests, 0, false},
	{"L1 Sectors Texture", "texture", CELL_COUNT, COLUMN_texture_sectors, 0, false},
	{"L1 Hit Sectors", "L1 hit", CELL_COUNT, COLUMN_l1_hit, 0, true},
	{"L1 Miss Sectors", "L1 miss", CELL_COUNT, COLUMN_l1_miss, 0, true},
	{"L2 Sectors", NULL, CELL_COUNT, COLUMN_l2_sectors, 0, true},
	{"L2 Miss Sectors", "L2 miss", CELL_COUNT, COLUMN_l2_miss, 0, true},
	{"Device Memory Read Sectors", "DRAM", CELL_COUNT, COLUMN_dram_sectors, 0, true},
};

static u64 cell_value(const struct cell *c, const struct source_counts *n)
{
	u64 a = n->at[c->a], b = n->at[c->b];

	switch ((enum cell_kind)c->kind) {
	case CELL_EXCESS:
		return a > b ? a - b : 0;
	case CELL_PER:
		return b ? (a + b / 2) / b : 0;
	default:
		return a;
	}
}

/* ---- CSV ---- */

static void csv_heads(const char *const *first, size_t len, struct text *out)
{
	for (size_t i = 0; i < len; i++)
		page_csv_field(first[i], !i, out);
	for (size_t i = 0; i < ARRAY_LEN(cells); i++)
		page_csv_field(cells[i].title, false, out);
	text_puts(out, "\n");
}

static void csv_cells(const struct source_counts *n, struct text *out)
{
	for (size_t i = 0; i < ARRAY_LEN(cells); i++)
		text_printf(out, ",\"%llu\"", (unsigned long long)cell_value(&cells[i], n));
	text_puts(out, "\n");
}

static void csv_address(const struct profile_launch *l, const struct profile_insn *in, bool first,
			struct text *out)
{
	struct text at = {0};

	text_printf(&at, "%s:%u", file_base_name(l->program->ptx), in->ptx_line);
	page_csv_field(at.at ? at.at : "", first, out);
	page_csv_field(in->text, false, out);
	text_fini(&at);
}

static void csv_ptx(const struct profile_launch *l, struct text *out)
{
	static const char *const first[] = {"Address", "Source"};
	struct source_counts *n = lines_of_insns(l);

	csv_heads(first, ARRAY_LEN(first), out);
	for (size_t i = 0; n && i < l->program->insns.len; i++) {
		csv_address(l, &l->program->insns.at[i], true, out);
		csv_cells(&n[i], out);
	}
	free(n);
}

static void csv_line_text(const struct source_text *s, const struct counted_line *x,
			  struct text *out)
{
	struct text t = {0};
	u32 len;
	const char *at = source_text_line(s, x->line, &len);

	text_printf(out, "\"%u\"", x->line);
	at += strspn(at, " \t") < len ? strspn(at, " \t") : 0;
	text_add(&t, at, strcspn(at, "\r\n"));
	page_csv_field(t.at && s->text ? t.at : "", false, out);
	text_fini(&t);
}

/* A table for each file. */
static void csv_cuda(const struct page *p, const struct profile_launch *l, struct text *out)
{
	static const char *const first[] = {"Line No", "Source"};
	static const char *const both[] = {"Line No", "Source", "Address", "Source"};
	bool with_ptx = p->source == SOURCE_CUDA_PTX;
	struct source_counts *n = lines_of_insns(l);
	struct counted_lines lines = {0};
	struct source_text s = {0};

	lines_add(&lines, l);
	for (size_t i = 0; n && i < lines.at.len; i++) {
		const struct counted_line *x = &lines.at.at[i];

		if (!i || lines.at.at[i - 1].file != x->file) {
			source_text_fini(&s);
			if (x->file)
				source_text_read(&s, x->file, p->source_folder);
			text_puts(out, "\"File Path\"");
			page_csv_field(x->file ? x->file : "", false, out);
			text_puts(out, "\n");
			csv_heads(with_ptx ? both : first,
				  with_ptx ? ARRAY_LEN(both) : ARRAY_LEN(first), out);
		}
		csv_line_text(&s, x, out);
		text_puts(out, with_ptx ? ",\"-\",\"-\"" : "");
		csv_cells(&x->counts, out);
		for (size_t k = 0; with_ptx && k < x->insns.len; k++) {
			text_puts(out, "\"\",\"\"");
			csv_address(l, &l->program->insns.at[x->insns.at[k]], false, out);
			csv_cells(&n[x->insns.at[k]], out);
		}
	}
	source_text_fini(&s);
	lines_fini(&lines);
	free(n);
}

/* ---- text ---- */

static bool source_is_shown(const struct cell *c, const struct profile_launch *l)
{
	return c->short_title && (!c->is_model || l->value[VALUE_has_caches]);
}

static void text_heads(const struct profile_launch *l, const char *what, struct text *out)
{
	for (size_t i = 0; i < ARRAY_LEN(cells); i++)
		if (source_is_shown(&cells[i], l))
			text_printf(out, " %10s", cells[i].short_title);
	text_printf(out, "  %s\n", what);
}

/* A point for none, so that what is there stands out. */
static void text_cells(const struct profile_launch *l, const struct source_counts *n,
		       struct text *out)
{
	for (size_t i = 0; i < ARRAY_LEN(cells); i++) {
		u64 x = cell_value(&cells[i], n);

		if (source_is_shown(&cells[i], l) && x)
			text_printf(out, " %10llu", (unsigned long long)x);
		else if (source_is_shown(&cells[i], l))
			text_printf(out, " %10s", ".");
	}
}

static void text_insn(const struct profile_launch *l, u32 i, const struct source_counts *n,
		      struct text *out)
{
	const struct profile_insn *in = &l->program->insns.at[i];

	text_cells(l, &n[i], out);
	text_printf(out, "  %5u  %s\n", in->ptx_line, in->text);
}

static void text_ptx(const struct profile_launch *l, struct text *out)
{
	struct source_counts *n = lines_of_insns(l);

	text_heads(l, "PTX", out);
	for (u32 i = 0; n && i < l->program->insns.len; i++)
		text_insn(l, i, n, out);
	free(n);
}

static void text_cuda(const struct page *p, const struct profile_launch *l, struct text *out)
{
	struct source_counts *n = lines_of_insns(l);
	struct counted_lines lines = {0};
	struct source_text s = {0};

	lines_add(&lines, l);
	for (size_t i = 0; n && i < lines.at.len; i++) {
		const struct counted_line *x = &lines.at.at[i];
		const char *at;
		u32 len;

		if (!i || lines.at.at[i - 1].file != x->file) {
			source_text_fini(&s);
			if (x->file)
				source_text_read(&s, x->file, p->source_folder);
			text_heads(l, x->file ? x->file : "(no line is known)", out);
		}
		at = source_text_line(&s, x->line, &len);
		text_cells(l, &x->counts, out);
		text_printf(out, "  %5u  %.*s\n", x->line, (int)len, at);
		for (size_t k = 0; p->source == SOURCE_CUDA_PTX && k < x->insns.len; k++)
			text_insn(l, x->insns.at[k], n, out);
	}
	source_text_fini(&s);
	lines_fini(&lines);
	free(n);
}

void page_source(const struct page *p, struct text *out)
{
	for (size_t i = 0; i < p->launches.len; i++) {
		const struct profile_launch *l = p->launches.at[i];
		struct text name = {0};

		page_launch_name(p, l, &name);
		if (p->is_csv) {
			text_puts(out, "\"Kernel Name\"");
			page_csv_field(name.at ? name.at : "", false, out);
			text_puts(out, ",\n");
		} else {
			text_printf(out, "%s\n", name.at ? name.at : "");
		}
		text_fini(&name);
		if (p->is_csv && p->source == SOURCE_PTX)
			csv_ptx(l, out);
		else if (p->is_csv)
			csv_cuda(p, l, out);
		else if (p->source == SOURCE_PTX)
			text_ptx(l, out);
		else
			text_cuda(p, l, out);
		text_puts(out, p->is_csv ? "" : "\n");
	}
}
