/*
 * Annotated sources in the manner of cg_annotate: totals, files and functions above a threshold,
 * then each file's lines with their counts.
 */
#include "src/profile/page/events.h"
#include "src/profile/page/page.h"

#include <stdlib.h>

#define RULE "--------------------------------------------------------------------------------\n"
/* " (100.0%)" */
#define SHARE_WIDTH 9

static const u32 events_shown[] = {COLUMN_inst,         COLUMN_global_sectors, PROFILE_COLUMNS,
				   PROFILE_COLUMNS + 1, COLUMN_l1_miss,        COLUMN_l2_miss,
				   COLUMN_dram_sectors};

/* A file, or a function of it. */
struct annotated {
	const char *file, *function; /* function NULL: all of the file */
	struct source_counts counts;
};

struct annotation {
	const struct page *page;
	struct event_list shown, order;
	VEC(int) width; /* of the cells of each event that is shown */
	struct place_list places;
	struct source_counts all;
	VEC(struct annotated) files, functions;
};

static void heading(const char *title, const char *rest, struct text *out)
{
	text_printf(out, RULE "-- %s%s\n" RULE, title, rest);
}

static void sum_up(struct source_counts *to, const struct source_counts *n)
{
	for (u32 k = 0; k < PROFILE_COLUMNS; k++)
		to->at[k] += n->at[k];
}

/* ---- cells ---- */

static double percent_of(u64 x, u64 of)
{
	return of ? (double)x * 100 / (double)of : 0;
}

static void add_cell(u64 x, u64 all, int width, struct text *out)
{
	struct metric_number n = {.is_known = true, .whole = x};
	struct text t = {0};
	const char *unit;

	if (!x) {
		text_printf(out, "%*s", width, ".         ");
		return;
	}
	metric_write(&n, "", false, &unit, &t);
	text_printf(out, "%*s (%5.1f%%)", width - SHARE_WIDTH, t.at ? t.at : "",
		    percent_of(x, all));
	text_fini(&t);
}

static void add_cells(const struct annotation *a, const struct source_counts *n, struct text *out)
{
	for (size_t i = 0; i < a->shown.at.len; i++)
		add_cell(event_of(a->shown.at.at[i], n), event_of(a->shown.at.at[i], &a->all),
			 a->width.at[i], out);
}

static void add_event_names(const struct annotation *a, const char *last, struct text *out)
{
	for (size_t i = 0; i < a->shown.at.len; i++)
		text_printf(out, "%*s", a->width.at[i], event_name(a->shown.at.at[i]));
	text_printf(out, "  %s\n\n", last);
}

/* ---- which ---- */

/* By the events that are sorted by, then by name; `order` is the page's. */
static int by_counts(const void *a, const void *b, void *order)
{
	const struct annotated *x = a, *y = b;
	const struct event_list *l = order;
	int names;

	for (size_t i = 0; i < l->at.len; i++) {
		u64 p = event_of(l->at.at[i], &x->counts), q = event_of(l->at.at[i], &y->counts);

		if (p != q)
			return p < q ? 1 : -1;
	}
	names = strcmp(x->file, y->file);
	return names || !x->function ? names : strcmp(x->function, y->function);
}

static bool annotate_collect(struct annotation *a)
{
	bool ok = true;

	for (size_t i = 0; ok && i < a->places.at.len; i++) {
		const struct place_counts *x = &a->places.at.at[i], *before = i ? x - 1 : NULL;
		struct annotated file = {.file = x->file};
		struct annotated function = {.file = x->file, .function = x->function};
		bool same = before && !strcmp(before->file, x->file);

		if (!same)
			ok = VEC_PUSH(&a->files, file);
		if (ok && (!same || strcmp(before->function, x->function) != 0))
			ok = VEC_PUSH(&a->functions, function);
		if (!ok)
			break;
		sum_up(&a->files.at[a->files.len - 1].counts, &x->counts);
		sum_up(&a->functions.at[a->functions.len - 1].counts, &x->counts);
		sum_up(&a->all, &x->counts);
	}
	if (ok && a->files.len)
		qsort_r(a->files.at, a->files.len, sizeof(a->files.at[0]), by_counts, &a->order);
	if (ok && a->functions.len)
		qsort_r(a->functions.at, a->functions.len, sizeof(a->functions.at[0]), by_counts,
			&a->order);
	return ok;
}

/* Has it as much of an event that is sorted by as the threshold asks for? */
static bool is_above(const struct annotation *a, const struct source_counts *n)
{
	for (size_t i = 0; i < a->order.at.len; i++) {
		u64 x = event_of(a->order.at.at[i], n);

		if (x && percent_of(x, event_of(a->order.at.at[i], &a->all)) >= a->page->threshold)
			return true;
	}
	return false;
}

/* ---- parts ---- */

static void write_metadata(const struct annotation *a, struct text *out)
{
	const struct profile_launch *l = a->page->launches.at[0];

	heading("Metadata", "", out);
	text_printf(out, "Command:          %s\n", l->process->name);
	text_printf(out, "Device:           %s\n", l->device_name);
	text_printf(out, "Launches:         %zu\n", a->page->launches.len);
	text_puts(out, "Events recorded: ");
	for (u32 e = 0; e < event_count(); e++)
		text_printf(out, " %s", event_name(e));
	text_puts(out, "\nEvents shown:    ");
	for (size_t i = 0; i < a->shown.at.len; i++)
		text_printf(out, " %s", event_name(a->shown.at.at[i]));
	text_puts(out, "\nEvent sort order:");
	for (size_t i = 0; i < a->order.at.len; i++)
		text_printf(out, " %s", event_name(a->order.at.at[i]));
	text_printf(out, "\nThreshold:        %g%%\n\n", a->page->threshold);
	heading("Summary", "", out);
	add_event_names(a, "", out);
	add_cells(a, &a->all, out);
	text_puts(out, "  PROGRAM TOTALS\n\n");
}

/* Files with their functions below, and the running sum of the first event. */
static void write_files(const struct annotation *a, struct text *out)
{
	u32 first = a->order.at.at[0];
	u64 sum = 0;

	heading("File:function summary", "", out);
	add_event_names(a, "file:function", out);
	for (size_t i = 0; i < a->files.len; i++) {
		const struct annotated *f = &a->files.at[i];

		sum += event_of(first, &f->counts);
		if (!is_above(a, &f->counts))
			continue;
		add_cells(a, &f->counts, out);
		text_printf(out, "  %s: (so far %.1f%%)\n", f->file,
			    percent_of(sum, event_of(first, &a->all)));
		for (size_t k = 0; k < a->functions.len; k++) {
			const struct annotated *x = &a->functions.at[k];

			if (strcmp(x->file, f->file) != 0 || !is_above(a, &x->counts))
				continue;
			add_cells(a, &x->counts, out);
			text_puts(out, "    ");
			page_kernel_name(x->function, out);
			text_puts(out, "\n");
		}
		text_puts(out, "\n");
	}
}

/* ---- lines of a file ---- */

struct annotated_lines {
	VEC(const struct place_counts *) at; /* by line; several functions may share one */
	struct source_text source;
};

static int by_line(const void *a, const void *b)
{
	const struct place_counts *x = *(const struct place_counts *const *)a;
	const struct place_counts *y = *(const struct place_counts *const *)b;

	return x->line < y->line ? -1 : x->line > y->line;
}

static void annotate_line(const struct annotation *a, const struct annotated_lines *l, u32 line,
			  const struct source_counts *n, const char *insn, struct text *out)
{
	u32 len;
	const char *s = source_text_line(&l->source, line, &len);

	if (n)
		add_cells(a, n, out);
	for (size_t i = 0; !n && i < a->shown.at.len; i++)
		text_printf(out, "%*s", a->width.at[i], "");
	if (l->source.text)
		text_printf(out, "  %.*s\n", (int)len, s);
	else
		text_printf(out, "  line %u: %s\n", line, insn ? insn : "");
}

/* Lines from `from` to before `to`, which have no counts: those near one that has. */
static void write_gap(const struct annotation *a, const struct annotated_lines *l, u32 from, u32 to,
		      bool is_last, struct text *out)
{
	u32 context = a->page->context;
	u64 after = (u64)from + (from > 1 ? context : 0);
	u64 before = is_last ? to : to > context ? to - context : 1;

	if (!l->source.text)
		return;
	for (u32 n = from; n < to; n++) {
		if (n < after || n >= before)
			annotate_line(a, l, n, NULL, NULL, out);
		else if (n == after || n == from)
			text_printf(out, "-- line %u %s\n", n,
				    "----------------------------------");
	}
}

static void annotate_file(const struct annotation *a, const struct annotated *f, struct text *out)
{
	struct annotated_lines l = {0};
	u32 next = 1;

	for (size_t i = 0; i < a->places.at.len; i++)
		if (!strcmp(a->places.at.at[i].file, f->file))
			(void)VEC_PUSH(&l.at, &a->places.at.at[i]);
	if (l.at.len)
		qsort(l.at.at, l.at.len, sizeof(l.at.at[0]), by_line);
	heading("Annotated source file: ", f->file, out);
	if (!source_text_read(&l.source, f->file, a->page->source_folder))
		text_puts(out, "The file cannot be read: lines without their texts\n\n");
	add_event_names(a, "", out);
	for (size_t i = 0, k; i < l.at.len; i = k) {
		struct source_counts n = {0};
		u32 line = l.at.at[i]->line;

		for (k = i; k < l.at.len && l.at.at[k]->line == line; k++)
			sum_up(&n, &l.at.at[k]->counts);
		write_gap(a, &l, next, line, false, out);
		annotate_line(a, &l, line, &n, l.at.at[i]->text, out);
		next = line + 1;
	}
	if (l.source.text)
		write_gap(a, &l, next,
			  (u32)min_u64(l.source.begins.len, (u64)next + a->page->context), true,
			  out);
	text_puts(out, "\n");
	source_text_fini(&l.source);
	VEC_FREE(&l.at);
}

/* ---- the page ---- */

static bool choose_events(struct annotation *a)
{
	const struct page *p = a->page;
	bool ok = true, has_caches = p->launches.at[0]->value[VALUE_has_caches];

	for (size_t i = 0; i < p->show.at.len; i++)
		ok &= VEC_PUSH(&a->shown.at, p->show.at.at[i]);
	for (size_t i = 0; !p->show.at.len && i < ARRAY_LEN(events_shown); i++)
		if (has_caches || !event_is_model(events_shown[i]))
			ok &= VEC_PUSH(&a->shown.at, events_shown[i]);
	for (size_t i = 0; i < p->sort.at.len; i++)
		ok &= VEC_PUSH(&a->order.at, p->sort.at.at[i]);
	if (!p->sort.at.len && a->shown.at.len)
		ok &= VEC_PUSH(&a->order.at, a->shown.at.at[0]);
	return ok && a->order.at.len;
}

/* As wide as the name and the total need. */
static bool measure(struct annotation *a)
{
	bool ok = true;

	for (size_t i = 0; i < a->shown.at.len; i++) {
		int digits = 1, name = (int)strlen(event_name(a->shown.at.at[i]));

		for (u64 x = event_of(a->shown.at.at[i], &a->all); x >= 10; x /= 10)
			digits++;
		digits += (digits - 1) / 3 + SHARE_WIDTH;
		ok &= VEC_PUSH(&a->width, 2 + (digits > name ? digits : name));
	}
	return ok;
}

void page_annotate(const struct page *p, struct text *out)
{
	struct annotation a = {.page = p};
	struct kernel_sums sums = {0};
	bool ok = true;

	if (!p->launches.len)
		return;
	for (size_t i = 0; i < p->launches.len; i++)
		ok &= kernel_sums_add(&sums, p->launches.at[i]) != SIZE_MAX;
	ok = ok && places_add(&a.places, &sums) && choose_events(&a) && annotate_collect(&a) &&
	     measure(&a);
	if (ok) {
		write_metadata(&a, out);
		write_files(&a, out);
	}
	for (size_t i = 0; ok && i < a.files.len; i++)
		if (is_above(&a, &a.files.at[i].counts))
			annotate_file(&a, &a.files.at[i], out);
	out->failed |= !ok;
	VEC_FREE(&a.width);
	VEC_FREE(&a.shown.at);
	VEC_FREE(&a.order.at);
	VEC_FREE(&a.places.at);
	VEC_FREE(&a.files);
	VEC_FREE(&a.functions);
	kernel_sums_fini(&sums);
}
