/*
 * The format of callgrind, for KCachegrind and callgrind_annotate: counts by function and line.
 */
#include "src/config.h"
#include "src/profile/page/events.h"
#include "src/profile/page/page.h"

static void callgrind_counts(const struct source_counts *n, struct text *out)
{
	for (u32 e = 0; e < event_count(); e++)
		text_printf(out, " %llu", (unsigned long long)event_of(e, n));
	text_puts(out, "\n");
}

/* A name alone in a line: without what would end it. */
static void callgrind_name(const char *key, const char *name, struct text *out)
{
	text_puts(out, key);
	for (; *name; name++)
		text_add(out, *name == '\n' || *name == '\r' ? " " : name, 1);
	text_puts(out, "\n");
}

static void callgrind_head(const struct page *p, struct text *out)
{
	text_puts(out, "# callgrind format\nversion: 1\ncreator: ptxloom " PACKAGE_VERSION "\n");
	if (p->launches.len) {
		text_printf(out, "pid: %llu\n",
			    (unsigned long long)p->launches.at[0]->process->pid);
		callgrind_name("cmd: ", p->launches.at[0]->process->name, out);
	}
	text_puts(out, "positions: line\n");
	for (u32 e = 0; e < event_count(); e++)
		text_printf(out, "event: %s : %s\n", event_name(e), event_what(e));
	text_puts(out, "events:");
	for (u32 e = 0; e < event_count(); e++)
		text_printf(out, " %s", event_name(e));
	text_puts(out, "\n");
}

static void callgrind_place(const struct place_counts *x, const struct place_counts *before,
			    struct text *out)
{
	struct text name = {0};

	if (!before || strcmp(before->file, x->file) != 0)
		callgrind_name("\nfl=", x->file, out);
	if (!before || strcmp(before->file, x->file) != 0 ||
	    strcmp(before->function, x->function) != 0) {
		page_kernel_name(x->function, &name);
		callgrind_name("fn=", name.at && *name.at ? name.at : "?", out);
		text_fini(&name);
	}
	text_printf(out, "%u", x->line);
	callgrind_counts(&x->counts, out);
}

void page_callgrind(const struct page *p, struct text *out)
{
	struct kernel_sums sums = {0};
	struct place_list places = {0};
	struct source_counts all = {0};

	for (size_t i = 0; i < p->launches.len; i++)
		out->failed |= kernel_sums_add(&sums, p->launches.at[i]) == SIZE_MAX;
	out->failed |= !places_add(&places, &sums);
	callgrind_head(p, out);
	for (size_t i = 0; i < places.at.len; i++) {
		callgrind_place(&places.at.at[i], i ? &places.at.at[i - 1] : NULL, out);
		for (u32 k = 0; k < PROFILE_COLUMNS; k++)
			all.at[k] += places.at.at[i].counts.at[k];
	}
	text_puts(out, "\ntotals:");
	callgrind_counts(&all, out);
	VEC_FREE(&places.at);
	kernel_sums_fini(&sums);
}
