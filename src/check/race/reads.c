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
	VEC_FREE(&log->warps);
	VEC_FREE(&log->said);
	VEC_FREE(&log->sets);
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

static u32 reads_width(const struct reads *r, u32 i)
{
	return r->at[i].what >> READS_CELL_BITS & ((1u << (READS_WHAT_BITS - READS_CELL_BITS)) - 1);
}

/* Those from `from` on; cells of 1 << shift bytes. */
static void order_reads(const struct reads *r, u32 from, u32 shift, struct reads_order *o)
{
	u32 sum = 0;

	memset(o->begin, 0, sizeof(o->begin));
	for (u32 i = from; i < r->len; i++)
		for (u32 k = 0; k < 1u << (reads_width(r, i) - shift); k++)
			o->begin[reads_cell(r, i) + k]++;
	for (u32 c = 0; c <= SHADOW_PAGE; c++) {
		u32 n = o->begin[c];

		o->begin[c] = (u16)sum;
		sum += n;
	}
	for (u32 i = from; i < r->len; i++)
		for (u32 k = 0; k < 1u << (reads_width(r, i) - shift); k++)
			o->at[o->begin[reads_cell(r, i) + k]++] = (u16)i;
}

static const struct reads_event *event_at(const struct reads_log *log, const struct reads *r, u32 i)
{
	return &log->events.at[r->at[i].what >> READS_WHAT_BITS];
}

/* Events lie apart from each other: so many are on their way from memory. */
#define READS_AHEAD 8u

/* What the next cells know is on its way, too. */
static void prefetch_next(const struct shadow_page *p, u32 cell)
{
	u32 end = SHADOW_PAGE >> p->shift;

	if (cell + 2 < end && p->cell[cell + 2].readers)
		__builtin_prefetch(p->cell[cell + 2].readers);
	if (cell + 1 < end && p->cell[cell + 1].readers)
		prefetch_readers(p->cell[cell + 1].readers);
}

/* Reads of a page behind the first ones that rows have taken are told to cells. */
static void tell_cells(const struct reads_log *log, struct shadow_page *p, u32 from)
{
	const struct reads *r = p->reads;
	struct reads_order o;
	u32 all;

	order_reads(r, from, p->shift, &o);
	all = o.begin[SHADOW_PAGE - 1];
	for (u32 c = 0, i = 0; i < all; c++) {
		prefetch_next(p, c);
		for (; i < o.begin[c]; i++) {
			u32 k = o.at[i], lanes = r->at[k].lanes;
			const struct reads_event *e = event_at(log, r, k);
			struct touch t = {.who = e->warp << 5 | (u32)__builtin_ctz(lanes),
					  .lanes = lanes,
					  .time = e->time,
					  .pc = e->pc};

			if (i + READS_AHEAD < all)
				__builtin_prefetch(event_at(log, r, o.at[i + READS_AHEAD]));
			if (!cell_add_reader(&p->cell[c], &t, e->known))
				known_fail();
		}
	}
}

/* A page that has rows. The number of reads that they have taken. */
static u32 tell_rows(struct shadow *s, struct shadow_page *p)
{
	const struct reads *r = p->reads;
	u32 i = 0;

	for (; p->rows && i < r->len; i++) {
		const struct reads_event *e = event_at(&s->log, r, i);
		struct run x = {.warp = e->warp,
				.time = e->time,
				.known = e->known,
				.pc = e->pc,
				.set = r->at[i].lanes,
				.first = (u16)(reads_cell(r, i) << p->shift),
				.bytes = (u16)(1u << e->width),
				.count = 1,
				.width = (u8)e->width};

		if (!shadow_note_run(s, p, &x))
			known_fail();
	}
	return i;
}

/* Lanes have read what begins at a cell of a page that has a set. */
static bool add_to_set(struct shadow *s, struct shadow_page *p, u32 event, u32 lanes, u32 cell)
{
	struct reads_event *e = &s->log.events.at[event];
	u32 number;

	if (!reads_say_once(s, e, &number))
		return false;
	return reads_add(s, p,
			 &(struct set_waiting){lanes, number, (u16)cell,
					       (u16)(1u << (e->width - p->shift))});
}

/* The reads of a page go to a set. */
static bool move_to_set(struct shadow *s, struct shadow_page *p)
{
	struct reads *r = p->reads;

	reads_make_room(s);
	if (!p->set && !reads_begin_set(s, p))
		return false;
	for (u32 i = 0; i < r->len; i++)
		if (!add_to_set(s, p, r->at[i].what >> READS_WHAT_BITS, r->at[i].lanes,
				reads_cell(r, i)))
			return false;
	r->len = r->cells = 0;
	return true;
}

static void tell_page(struct shadow *s, struct shadow_page *p)
{
	struct reads *r = p->reads;
	u32 from;

	_Static_assert(SHADOW_PAGE == 1u << READS_CELL_BITS, "a cell is of one byte at least");
	_Static_assert(READS_MOST <= UINT16_MAX, "reads are numbered");
	if (!r || !r->len)
		return;
	from = tell_rows(s, p);
	if (from < r->len)
		tell_cells(&s->log, p, from);
	r->len = r->cells = 0;
}

/* Fewer reads than these are told to rows, if the page has them. */
#define READS_FEW 16u

/* There is no room for more of a page. */
static void tell_or_move(struct shadow *s, struct shadow_page *p)
{
	if (!p->reads || !p->reads->len)
		return;
	if (p->rows && p->reads->len < READS_FEW)
		tell_page(s, p);
	else if (!move_to_set(s, p))
		known_fail();
}

/* What the lists have. */
static void tell_lists(struct shadow *s)
{
	struct reads_log *log = &s->log;

	for (size_t i = 0; i < log->pages.len; i++) {
		struct shadow_page *p = log->pages.at[i];

		tell_or_move(s, p);
		free(p->reads);
		p->reads = NULL;
	}
	log->pages.len = 0;
	log->events.len = 0;
}

void reads_tell(struct shadow *s, struct shadow_page *p)
{
	if (p->is_logged)
		reads_sort(s);
	p->is_logged = false;
	tell_page(s, p);
}

void reads_tell_all(struct shadow *s)
{
	reads_sort(s);
	tell_lists(s);
}

/* Room for one more, of so many cells. False: no memory left. */
static bool reads_grow(struct shadow *s, struct shadow_page *p, u32 cells)
{
	struct reads *r = p->reads;
	u32 cap = r ? r->cap * 2 : READS_FIRST;

	if (r && r->cells + cells > READS_MOST)
		tell_or_move(s, p);
	if (r && r->len < r->cap)
		return true;
	r = realloc(r, sizeof(*r) + cap * sizeof(r->at[0]));
	if (!r)
		return false;
	if (!p->reads)
		*r = (struct reads){0};
	r->cap = cap;
	p->reads = r;
	if (!r->is_listed && !VEC_PUSH(&s->log.pages, p))
		return false;
	r->is_listed = true;
	return true;
}

bool reads_note(struct shadow *s, struct shadow_page *p, u32 event, u32 lanes, u32 cell)
{
	struct reads *r = p->reads;
	u32 width = s->log.events.at[event].width, cells = 1u << (width - p->shift);

	if (!p->set && (!r || r->len == r->cap || r->cells + cells > READS_MOST)) {
		if (!reads_grow(s, p, cells))
			return false;
		r = p->reads;
	}
	if (p->set)
		return add_to_set(s, p, event, lanes, cell);
	r->cells += cells;
	r->at[r->len].lanes = lanes;
	r->at[r->len++].what = event << READS_WHAT_BITS | width << READS_CELL_BITS | cell;
	return true;
}

/* ---- warps ---- */

/* As race_lanes_beside. */
static u32 reads_beside(const u32 *at, u32 lane, u32 mask)
{
	u32 lanes = 1u << lane;

	for (u32 i = lane + 1; i < 32 && at[i] == at[lane]; i++)
		lanes |= 1u << i;
	if (lane < 16 && at[lane + 16] == at[lane])
		lanes |= 1u << (lane + 16);
	return lanes & mask;
}

static bool sort_warp(struct shadow *s, const struct reads_warp *x)
{
	u32 event;

	if (reads_log_is_full(&s->log))
		tell_lists(s);
	reads_make_room(s);
	if (!reads_event(&s->log, &x->event, &event))
		return false;
	for (u32 left = x->mask, lanes; left; left &= ~lanes) {
		u32 lane = (u32)__builtin_ctz(left);
		u64 at = x->base + (u64)(s64)(s32)x->at[lane];
		struct shadow_page *p = shadow_page_at(s, at);

		lanes = x->is_apart ? 1u << lane : reads_beside(x->at, lane, left);
		if (!p || !reads_note(s, p, event, lanes, (u32)(at % SHADOW_PAGE) >> p->shift))
			return false;
		p->is_logged = false;
	}
	return true;
}

void reads_sort(struct shadow *s)
{
	for (size_t i = 0; i < s->log.warps.len; i++)
		if (!sort_warp(s, &s->log.warps.at[i]))
			known_fail();
	s->log.warps.len = 0;
}

bool reads_note_warp(struct shadow *s, const struct reads_warp *x)
{
	if (s->log.warps.len >= READS_WARPS)
		reads_sort(s);
	return VEC_PUSH(&s->log.warps, *x);
}
