/*
 * Events of lines.
 */
#include "src/profile/page/events.h"

#include <stdlib.h>

/* What is derived: the excess of one column over another one. */
static const struct {
	const char *name, *what;
	u8 of, ideal;
} excesses[] = {
	{"global_excess", "sectors beyond those that the bytes would fill", COLUMN_global_sectors,
	 COLUMN_global_ideal},
	{"shared_excess", "wavefronts of shared memory beyond those without bank conflicts",
	 COLUMN_shared_passes, COLUMN_shared_ideal},
};

u32 event_count(void)
{
	return PROFILE_COLUMNS + ARRAY_LEN(excesses);
}

const char *event_name(u32 event)
{
	return event < PROFILE_COLUMNS ? profile_column_name(event)
				       : excesses[event - PROFILE_COLUMNS].name;
}

const char *event_what(u32 event)
{
	return event < PROFILE_COLUMNS ? profile_column_what(event)
				       : excesses[event - PROFILE_COLUMNS].what;
}

u32 event_find(const char *name, size_t len)
{
	u32 i = 0;

	while (i < event_count() &&
	       (strlen(event_name(i)) != len || memcmp(event_name(i), name, len) != 0))
		i++;
	return i;
}

bool event_is_model(u32 event)
{
	return event >= COLUMN_l1_hit && event < PROFILE_COLUMNS;
}

u64 event_of(u32 event, const struct source_counts *n)
{
	u64 of, ideal;

	if (event < PROFILE_COLUMNS)
		return n->at[event];
	of = n->at[excesses[event - PROFILE_COLUMNS].of];
	ideal = n->at[excesses[event - PROFILE_COLUMNS].ideal];
	return of > ideal ? of - ideal : 0;
}

bool event_list_add(struct event_list *l, const char *names, struct text *why)
{
	while (*names) {
		size_t n = strcspn(names, ",");
		u32 e = event_find(names, n);

		if (e == event_count()) {
			text_printf(why, "there is no event '%.*s'; there are", (int)n, names);
			for (u32 i = 0; i < event_count(); i++)
				text_printf(why, "%s %s", i ? "," : "", event_name(i));
			return false;
		}
		if (!VEC_PUSH(&l->at, e)) {
			text_puts(why, "no memory left");
			return false;
		}
		names += n + (names[n] == ',');
	}
	return true;
}

/* ---- places ---- */

static int events_by_place(const void *a, const void *b)
{
	const struct place_counts *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	if (!order)
		order = strcmp(x->function, y->function);
	if (!order)
		order = x->line < y->line ? -1 : x->line > y->line;
	return order;
}

/* Those of one line become one. */
static void merge_places(struct place_list *p)
{
	size_t len = 0;

	for (size_t i = 0; i < p->at.len; i++) {
		if (!len || events_by_place(&p->at.at[len - 1], &p->at.at[i])) {
			p->at.at[len++] = p->at.at[i];
			continue;
		}
		for (u32 k = 0; k < PROFILE_COLUMNS; k++)
			p->at.at[len - 1].counts.at[k] += p->at.at[i].counts.at[k];
	}
	p->at.len = len;
}

static bool add_kernel_places(struct place_list *p, const struct profile_launch *sum)
{
	struct source_counts *n = lines_of_insns(sum);
	bool ok = n != NULL;

	for (size_t i = 0; ok && i < sum->program->insns.len; i++) {
		const struct profile_insn *in = &sum->program->insns.at[i];
		struct place_counts x = {.file = in->file ? in->file : sum->program->ptx,
					 .function = in->function ? in->function : "",
					 .line = in->file ? in->line : in->ptx_line,
					 .text = in->file ? NULL : in->text,
					 .counts = n[i]};

		ok = VEC_PUSH(&p->at, x);
	}
	free(n);
	return ok;
}

bool places_add(struct place_list *p, const struct kernel_sums *sums)
{
	bool ok = true;

	for (size_t i = 0; i < sums->at.len; i++)
		ok = add_kernel_places(p, &sums->at.at[i].sum) && ok;
	if (p->at.len)
		qsort(p->at.at, p->at.len, sizeof(p->at.at[0]), events_by_place);
	merge_places(p);
	return ok;
}
