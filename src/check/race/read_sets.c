/*
 * Sets of reads: of each cell the same reads that its list (shadow.h) would have, in less room and
 * without its order among others being asked for. What a warp has read by one instruction is said
 * once, for all cells.
 */
#include "src/check/race/reads.h"
#include "src/check/race/shadow.h"

#include <stdlib.h>

#define SET_HASH_MASK ((1u << SET_HASH_BITS) - 1)
#define SET_FIRST 4u
#define HALF_READERS (READERS_MAX / 2)
/* What has been read is counted again when there is this much. */
#define SETS_FIRST ((size_t)1 << 20)
/* Events that come between two calls of reads_make_room at most. */
#define SET_ROOM (1u << 18)

/* Of the CTA, and of the warp in it. */
#define WARP_HASH_BITS 2u
#define WARP_HASH_MASK ((1u << WARP_HASH_BITS) - 1)

static u32 warp_hash(u64 warp)
{
	u64 cta = who_cta_of(warp << 5), place = warp & ((1u << (WHO_SHIFT - 5)) - 1);

	return ((u32)(cta * 0x9e3779b97f4a7c15u >> (64 - SET_HASH_BITS)) & ~WARP_HASH_MASK) |
	       ((u32)place & WARP_HASH_MASK);
}

/* ---- events ---- */

static void mark_set(const struct shadow_page *p, u32 *used)
{
	struct reads_set *x = p->set;

	for (u32 c = 0; x && c < SHADOW_PAGE >> p->shift; c++)
		for (u32 i = 0; i < reads_count(x, c); i++)
			used[reads_of(x, c)[i].event >> SET_HASH_BITS] = 1;
	for (u32 i = 0; x && i < x->waits; i++)
		used[x->waiting[i].event >> SET_HASH_BITS] = 1;
}

static void renumber_event(u32 *event, const u32 *to)
{
	*event = to[*event >> SET_HASH_BITS] << SET_HASH_BITS | (*event & SET_HASH_MASK);
}

static void renumber_set(const struct shadow_page *p, const u32 *to)
{
	struct reads_set *x = p->set;

	for (u32 c = 0; x && c < SHADOW_PAGE >> p->shift; c++)
		for (u32 i = 0; i < reads_count(x, c); i++)
			renumber_event(&reads_of(x, c)[i].event, to);
	for (u32 i = 0; x && i < x->waits; i++)
		renumber_event(&x->waiting[i].event, to);
}

/* Events that no set has any more are forgotten. False: no memory left. */
static bool collect_events(struct shadow *s)
{
	struct reads_log *log = &s->log;
	u32 *to = calloc(log->said.len, sizeof(*to)), n = 0;

	if (!to)
		return false;
	for (size_t i = 0; i < log->sets.len; i++)
		mark_set(log->sets.at[i], to);
	for (size_t i = 0; i < log->said.len; i++) {
		if (!to[i])
			continue;
		log->said.at[n] = log->said.at[i];
		to[i] = n++;
	}
	for (size_t i = 0; i < log->sets.len; i++)
		renumber_set(log->sets.at[i], to);
	free(to);
	for (size_t i = 0; i < log->events.len; i++)
		log->events.at[i].said = 0;
	log->said.len = n;
	log->collect = 2 * (size_t)n;
	return true;
}

void reads_make_room(struct shadow *s)
{
	struct reads_log *log = &s->log;

	if (PL_LIKELY(log->said.len < SET_EVENTS - SET_ROOM))
		return;
	if (!collect_events(s))
		known_fail();
	if (log->said.len < SET_EVENTS / 2)
		return;
	for (size_t i = 0; i < log->sets.len; i++)
		if (shadow_has_set(log->sets.at[i]) && !reads_end_set(s, log->sets.at[i]))
			known_fail();
	for (size_t i = 0; i < log->events.len; i++)
		log->events.at[i].said = 0;
	log->said.len = 0;
}

bool reads_say(struct shadow *s, const struct reads_event *e, u32 *number)
{
	struct reads_log *log = &s->log;

	if (log->said.len >= SETS_FIRST && log->said.len >= log->collect && !collect_events(s))
		return false;
	*number = (u32)log->said.len << SET_HASH_BITS | warp_hash(e->warp);
	return VEC_PUSH(&log->said, *e);
}

bool reads_say_once(struct shadow *s, struct reads_event *e, u32 *number)
{
	if (!e->said) {
		if (!reads_say(s, e, number))
			return false;
		e->said = (*number >> SET_HASH_BITS) + 1;
	}
	*number = (e->said - 1) << SET_HASH_BITS | warp_hash(e->warp);
	return true;
}

/* ---- a cell ---- */

/* Does the CTA of a read know all that were before it? */
static bool are_past(const struct reads_log *log, struct reads_set *x, u32 cell, u32 event)
{
	const struct set_read *r = reads_of(x, cell);
	const struct reads_event *mine;
	u64 cta;

	for (u32 i = reads_count(x, cell); i-- > 0;) {
		const struct reads_event *e;

		if ((r[i].event ^ event) & SET_HASH_MASK & ~WARP_HASH_MASK)
			return false;
		e = reads_said(log, &r[i]);
		mine = &log->said.at[event >> SET_HASH_BITS];
		cta = who_cta_of(mine->warp << 5);
		if (e->time > mine->known || who_cta_of(e->warp << 5) != cta ||
		    who_agent_of(e->warp << 5) != AGENT_THREAD)
			return false;
	}
	return true;
}

/* Of some reads, a bit for each that may be of the warp. */
static u32 alike(const struct set_read *r, u32 n, u32 event)
{
	u32 found = 0;

	for (u32 i = 0; i < n; i++)
		found |= (u32) !((r[i].event ^ event) & SET_HASH_MASK) << i;
	return found;
}

/* As merge_reads of the latest ones. */
static bool merge_into_set(const struct reads_log *log, struct set_read *r, u32 n,
			   struct set_read now)
{
	u32 first = n > READERS_MERGED ? n - READERS_MERGED : 0;
	u32 found = first ? alike(r + first, READERS_MERGED, now.event) : alike(r, n, now.event);

	while (PL_UNLIKELY(found)) {
		u32 i = 31 - (u32)__builtin_clz(found);
		struct set_read *old = &r[first + i];
		const struct reads_event *e = reads_said(log, old), *mine = reads_said(log, &now);

		found &= ~(1u << i);
		if (old->event != now.event && e->warp != mine->warp)
			continue;
		if (!(old->lanes & ~now.lanes)) {
			*old = now;
			return true;
		}
		if (e->time != mine->time || e->pc != mine->pc)
			continue;
		old->lanes |= now.lanes;
		return true;
	}
	return false;
}

static struct reads_set *set_new(u32 cells, u32 cap)
{
	size_t bytes = sizeof(struct reads_set) + (size_t)cells * cap * sizeof(struct set_read);
	struct reads_set *x = aligned_alloc(_Alignof(struct reads_set), bytes);

	if (!x)
		return NULL;
	memset(x, 0, sizeof(*x));
	x->cap = cap;
	return x;
}

/* Twice as much room for each cell. False: no memory left. */
static bool set_grow(struct shadow_page *p)
{
	struct reads_set *old = p->set;
	u32 cells = SHADOW_PAGE >> p->shift;
	struct reads_set *x = set_new(cells, 2 * old->cap);

	if (!x)
		return false;
	x->waits = old->waits;
	x->room = old->room;
	x->waiting = old->waiting;
	memcpy(x->len, old->len, sizeof(x->len));
	for (u32 c = 0; c < cells; c++)
		memcpy(reads_of(x, c), reads_of(old, c), old->len[c] * sizeof(struct set_read));
	free(old);
	p->set = x;
	return true;
}

/* One more, that says what none of them says. False: no memory left. */
static bool set_push(struct shadow_page *p, u32 cell, struct set_read r)
{
	u32 n = p->set->len[cell];

	/* The first half stays; in the other the latest replace the oldest. */
	if (n >= READERS_MAX) {
		reads_of(p->set, cell)[n - HALF_READERS] = r;
		p->set->len[cell] = (u8)(READERS_MAX + (n + 1) % HALF_READERS);
		return true;
	}
	if (n == p->set->cap && !set_grow(p))
		return false;
	reads_of(p->set, cell)[n] = r;
	p->set->len[cell]++;
	return true;
}

static bool add_to_readers(const struct reads_log *log, struct shadow_page *p, u32 cell,
			   struct set_read r)
{
	struct reads_set *x = p->set;

	if (x->len[cell] && are_past(log, x, cell, r.event))
		x->len[cell] = 0;
	return merge_into_set(log, reads_of(x, cell), reads_count(x, cell), r) ||
	       set_push(p, cell, r);
}

/* ---- what waits ---- */

#define WAITING_FIRST 16u
/* Of a page, and of all. */
#define WAITING_MOST 2048u
#define WAITING_ALL (1u << 20)

/* What is compared, and the place of one more, on their way from memory. */
#define READS_AHEAD 8u

static void prefetch_cell(struct reads_set *x, u32 cell)
{
	const struct set_read *r = reads_of(x, cell);
	u32 n = x->len[cell];

	__builtin_prefetch(&r[n < READERS_MAX ? n : READERS_MAX - 1], 1);
	if (n >= READERS_MAX)
		__builtin_prefetch(&r[n - HALF_READERS], 1);
}

void reads_settle(struct shadow *s, struct shadow_page *p)
{
	struct set_waiting *x = p->set->waiting;
	u32 n = p->set->waits;

	p->set->waits = 0;
	for (u32 i = 0; i < n; i++) {
		if (i + READS_AHEAD < n)
			prefetch_cell(p->set, x[i + READS_AHEAD].first);
		for (u32 c = 0; c < x[i].cells; c++)
			if (!add_to_readers(&s->log, p, x[i].first + c,
					    (struct set_read){x[i].lanes, x[i].event}))
				known_fail();
	}
}

/* Room for one more. False: no memory left. */
static bool make_wait(struct shadow *s, struct shadow_page *p)
{
	struct reads_set *x = p->set;
	u32 room = x->room ? 2 * x->room : WAITING_FIRST;
	struct set_waiting *more;

	if (x->room && room > s->log.waiting_most) {
		reads_settle(s, p);
		return true;
	}
	more = realloc(x->waiting, room * sizeof(*more));
	if (!more)
		return false;
	x->waiting = more;
	x->room = room;
	return true;
}

bool reads_add(struct shadow *s, struct shadow_page *p, const struct set_waiting *x)
{
	if (PL_UNLIKELY(p->set->waits == p->set->room) && !make_wait(s, p))
		return false;
	p->set->waiting[p->set->waits++] = *x;
	return true;
}

/* ---- a page ---- */

static bool take_reader(struct shadow *s, struct shadow_page *p, u32 cell, const struct touch *t)
{
	const struct reads_event e = {.warp = t->who >> 5,
				      .time = t->time,
				      .pc = t->pc,
				      .scope = t->scope,
				      .strong = t->strong};
	u32 event;

	return reads_say(s, &e, &event) && set_push(p, cell, (struct set_read){t->lanes, event});
}

/* What the cell has read goes to the set. */
static bool take_readers(struct shadow *s, struct shadow_page *p, u32 cell)
{
	struct readers *r = p->cell[cell].readers;
	bool ok = true;

	if (!r)
		return !p->cell[cell].read.who || take_reader(s, p, cell, &p->cell[cell].read);
	for (u32 i = 0; ok && i < r->len; i++)
		ok = take_reader(s, p, cell, &r->at[i]);
	if (r->len == READERS_MAX)
		p->set->len[cell] = (u8)(READERS_MAX + r->next % HALF_READERS);
	return ok;
}

static void free_cells(struct shadow_page *p)
{
	for (u32 c = 0; p->cell && c < SHADOW_PAGE >> p->shift; c++) {
		free(p->cell[c].readers);
		free(p->cell[c].plain);
	}
	free(p->cell);
	p->cell = NULL;
}

/* False: no memory left. */
static bool open_set(struct shadow *s, struct shadow_page *p)
{
	if (!p->is_listed && !VEC_PUSH(&s->log.sets, p))
		return false;
	p->is_listed = true;
	s->log.waiting_most =
		(u32)min_u64(WAITING_MOST, WAITING_ALL / (u32)s->log.sets.len + WAITING_FIRST);
	p->set = set_new(SHADOW_PAGE >> p->shift, SET_FIRST);
	return p->set;
}

bool reads_begin_set(struct shadow *s, struct shadow_page *p)
{
	bool ok = (!p->rows || shadow_end_rows(s, p)) && open_set(s, p);

	for (u32 c = 0; ok && p->cell && c < SHADOW_PAGE >> p->shift; c++)
		ok = take_readers(s, p, c);
	free_cells(p);
	p->keeps_reads = false;
	return ok;
}

bool reads_add_strong(struct shadow *s, struct shadow_page *p, const struct set_waiting *x)
{
	return (p->set || open_set(s, p)) && reads_add(s, p, x);
}

static struct touch touch_of_read(const struct reads_log *log, const struct set_read *r)
{
	const struct reads_event *e = reads_said(log, r);

	return (struct touch){.who = e->warp << 5 | (u32)__builtin_ctz(r->lanes),
			      .lanes = r->lanes,
			      .time = e->time,
			      .pc = e->pc,
			      .scope = e->scope,
			      .strong = e->strong};
}

/* False: no memory left. */
static bool give_readers(const struct reads_log *log, struct reads_set *x, u32 cell, struct cell *c)
{
	u32 n = reads_count(x, cell);

	for (u32 i = 0; i < n; i++) {
		struct touch t = touch_of_read(log, &reads_of(x, cell)[i]);

		if (!cell_push_reader(c, &t))
			return false;
	}
	if (n == READERS_MAX)
		c->readers->next = (u16)(x->len[cell] - READERS_MAX);
	return true;
}

static void give_write(const struct strong_write *w, struct cell *c)
{
	if (w->who)
		c->write = (struct touch){.who = w->who,
					  .lanes = 1u << (w->who & 31),
					  .time = w->time,
					  .pc = w->pc,
					  .scope = w->scope,
					  .strong = true};
}

bool reads_end_set(struct shadow *s, struct shadow_page *p)
{
	struct cell *cell = cells_new(SHADOW_PAGE >> p->shift);
	bool ok = cell != NULL;

	if (p->set)
		reads_settle(s, p);
	for (u32 c = 0; ok && c < SHADOW_PAGE >> p->shift; c++) {
		if (p->set)
			ok = give_readers(&s->log, p->set, c, &cell[c]);
		if (p->strong)
			give_write(&p->strong[c], &cell[c]);
	}
	p->is_written |= p->strong != NULL;
	reads_drop_set(p);
	p->cell = cell;
	return ok;
}

void reads_drop_set(struct shadow_page *p)
{
	if (p->set)
		free(p->set->waiting);
	free(p->set);
	free(p->strong);
	p->set = NULL;
	p->strong = NULL;
	p->is_strong = false;
}
