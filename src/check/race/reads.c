/*
 * Reads are put in the order of their cells, and told to each.
 */
#include "src/check/race/reads.h"
#include "src/check/race/shadow.h"

#include <stdlib.h>

#define READS_FIRST 32u

void reads_log_fini(struct reads_log *log)
{
	VEC_FREE(&log->events);
	VEC_FREE(&log->pages);
}

bool reads_event(struct reads_log *log, const struct reads_event *e, u32 *number)
{
	*number = (u32)log->events.len;
	return VEC_PUSH(&log->events, *e);
}

/* Of the reads of a page: where those of each cell begin, and which they are, in their order. */
struct reads_order {
	u16 begin[SHADOW_PAGE + 1];
	u16 at[READS_MOST];
};

static u32 reads_cell(const struct reads *r, u32 i)
{
	return r->at[i].what & ((1u << READS_CELL_BITS) - 1);
}

static void order_reads(const struct reads *r, struct reads_order *o)
{
	u32 sum = 0;

	memset(o->begin, 0, sizeof(o->begin));
	for (u32 i = 0; i < r->len; i++)
		o->begin[reads_cell(r, i)]++;
	for (u32 c = 0; c <= SHADOW_PAGE; c++) {
		u32 n = o->begin[c];

		o->begin[c] = (u16)sum;
		sum += n;
	}
	for (u32 i = 0; i < r->len; i++)
		o->at[o->begin[reads_cell(r, i)]++] = (u16)i;
}

void reads_tell(struct reads_log *log, struct shadow_page *p)
{
	struct reads *r = p->reads;
	struct reads_order o;

	_Static_assert(SHADOW_PAGE == 1u << READS_CELL_BITS, "a cell is of one byte at least");
	_Static_assert(READS_MOST <= UINT16_MAX, "reads are numbered");
	if (!r || !r->len)
		return;
	order_reads(r, &o);
	for (u32 i = 0; i < r->len; i++) {
		u32 k = o.at[i], lanes = r->at[k].lanes;
		const struct reads_event *e = &log->events.at[r->at[k].what >> READS_CELL_BITS];
		struct touch t = {.who = e->warp << 5 | (u32)__builtin_ctz(lanes),
				  .lanes = lanes,
				  .time = e->time,
				  .pc = e->pc};

		if (!cell_add_reader(&p->cell[reads_cell(r, k)], &t, e->known))
			known_fail();
	}
	r->len = 0;
}

void reads_tell_all(struct reads_log *log)
{
	for (size_t i = 0; i < log->pages.len; i++) {
		struct shadow_page *p = log->pages.at[i];

		reads_tell(log, p);
		free(p->reads);
		p->reads = NULL;
	}
	log->pages.len = 0;
	log->events.len = 0;
}

/* Room for one more. False: no memory left. */
static bool reads_grow(struct reads_log *log, struct shadow_page *p)
{
	struct reads *r = p->reads;
	u32 cap = r ? r->cap * 2 : READS_FIRST;

	if (r && r->cap == READS_MOST) {
		reads_tell(log, p);
		return true;
	}
	r = realloc(r, sizeof(*r) + cap * sizeof(r->at[0]));
	if (!r)
		return false;
	if (!p->reads)
		*r = (struct reads){0};
	r->cap = cap;
	p->reads = r;
	if (!r->is_listed && !VEC_PUSH(&log->pages, p))
		return false;
	r->is_listed = true;
	return true;
}

bool reads_note(struct reads_log *log, struct shadow_page *p, u32 event, u32 lanes, u32 cell)
{
	struct reads *r = p->reads;

	if (!r || r->len == r->cap) {
		if (!reads_grow(log, p))
			return false;
		r = p->reads;
	}
	r->at[r->len].lanes = lanes;
	r->at[r->len++].what = event << READS_CELL_BITS | cell;
	return true;
}
