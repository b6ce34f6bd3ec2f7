/*
 * Cells for the bytes of memory, in pages that are found by a hash.
 */
#include "src/check/race/shadow.h"

#include <stdlib.h>

static u32 cells_of(const struct shadow_page *p)
{
	return SHADOW_PAGE >> p->shift;
}

static void cell_fini(struct cell *c)
{
	free(c->readers);
	free(c->plain);
	*c = (struct cell){0};
}

static bool cell_keep_plain(struct cell *c, const struct touch *t)
{
	if (!c->plain)
		c->plain = malloc(sizeof(*c->plain));
	if (c->plain)
		*c->plain = *t;
	return c->plain != NULL;
}

bool cell_set_write(struct cell *c, const struct touch *t)
{
	bool ok = true;

	if (!t->strong) {
		free(c->plain);
		c->plain = NULL;
	} else if (c->write.who && !c->write.strong) {
		ok = cell_keep_plain(c, &c->write);
	}
	c->write = *t;
	return ok;
}

/* A thread's own read, not its copies', in the CTA of another. */
static bool is_own(const struct touch *t, const struct touch *of)
{
	return who_cta_of(t->who) == who_cta_of(of->who) && who_agent_of(t->who) == AGENT_THREAD;
}

/* A read that says what this one says: of the same lanes, or of others at the same moment. */
static bool merge_reads(struct touch *old, const struct touch *t)
{
	if (old->who >> 5 != t->who >> 5)
		return false;
	if (!(old->lanes & ~t->lanes)) {
		*old = *t;
		return true;
	}
	if (old->time != t->time || old->pc != t->pc)
		return false;
	old->lanes |= t->lanes;
	old->who = t->who < old->who ? t->who : old->who;
	return true;
}

/* Room for one more. False: no memory left. */
static bool readers_grow(struct cell *c)
{
	struct readers *r = c->readers;
	u16 cap = r ? r->cap * 2 : 4;

	if (r && r->len < r->cap)
		return true;
	r = realloc(r, sizeof(*r) + cap * sizeof(r->at[0]));
	if (!r)
		return false;
	if (!c->readers)
		r->len = r->next = 0;
	r->cap = cap;
	c->readers = r;
	return true;
}

static void readers_push(struct readers *r, const struct touch *t)
{
	u64 cta = who_cta_of(t->who);

	/* What copies have read no barrier says. */
	if (who_agent_of(t->who) != AGENT_THREAD)
		cta = MANY_CTAS;
	r->cta = !r->len ? cta : r->cta == cta ? cta : MANY_CTAS;
	r->next = r->len ? r->next : 0;
	r->newest = !r->len || t->time > r->newest ? t->time : r->newest;
	/* The first half stays; in the other the latest replace the oldest. */
	if (r->len == READERS_MAX)
		r->at[READERS_MAX / 2 + r->next++ % (READERS_MAX / 2)] = *t;
	else
		r->at[r->len++] = *t;
}

static bool readers_merge(struct readers *r, const struct touch *t)
{
	u32 end = r->len > READERS_MERGED ? r->len - READERS_MERGED : 0;

	for (u32 i = r->len; i-- > end;)
		if (merge_reads(&r->at[i], t)) {
			r->newest = t->time > r->newest ? t->time : r->newest;
			return true;
		}
	return false;
}

bool cell_push_reader(struct cell *c, const struct touch *t)
{
	if (!c->readers && !c->read.who) {
		c->read = *t;
		return true;
	}
	if (!c->readers) {
		if (!readers_grow(c))
			return false;
		readers_push(c->readers, &c->read);
	}
	if (c->readers->len < READERS_MAX && !readers_grow(c))
		return false;
	readers_push(c->readers, t);
	return true;
}

bool cell_add_reader(struct cell *c, const struct touch *t, u32 known)
{
	struct readers *r = c->readers;

	if (!r) {
		if (!c->read.who || (c->read.time <= known && is_own(&c->read, t))) {
			c->read = *t;
			return true;
		}
		return merge_reads(&c->read, t) || cell_push_reader(c, t);
	}
	if (r->len && r->newest <= known && r->cta == who_cta_of(t->who))
		r->len = 0;
	return readers_merge(r, t) || cell_push_reader(c, t);
}

void cell_clear_readers(struct cell *c)
{
	if (c->readers)
		c->readers->len = 0;
	c->read.who = 0;
}

static u32 stretches_of(const struct shadow_page *p)
{
	return cells_of(p) / ROWS_GRANULES;
}

static void page_clear(struct shadow *s, struct shadow_page *p)
{
	for (u32 i = 0; p->cell && i < cells_of(p); i++)
		cell_fini(&p->cell[i]);
	for (u32 i = 0; p->rows && i < stretches_of(p); i++)
		rows_fini(&s->pool, &p->rows[i]);
	free(p->cell);
	free(p->rows);
	if (p->reads)
		p->reads->len = p->reads->cells = 0;
	runs_free(&s->runs, p->runs);
	reads_drop_set(p);
	p->cell = NULL;
	p->rows = NULL;
	p->runs = NULL;
	p->is_written = false;
}

void shadow_fini(struct shadow *s)
{
	for (size_t i = 0; i < s->pieces.cap; i++) {
		struct shadow_piece *x = (void *)(uintptr_t)s->pieces.slots[i].value;

		for (u32 k = 0; s->pieces.slots[i].key && k < SHADOW_PIECE; k++) {
			/* Lists of rows, and runs, go with their pools. */
			free(x->at[k].rows);
			x->at[k].rows = NULL;
			x->at[k].runs = NULL;
			page_clear(s, &x->at[k]);
			free(x->at[k].reads);
		}
		if (s->pieces.slots[i].key)
			free(x);
	}
	map_fini(&s->pieces);
	reads_log_fini(&s->log);
	rows_pool_fini(&s->pool);
	runs_pool_fini(&s->runs);
	*s = (struct shadow){0};
}

static u64 piece_key(u64 address)
{
	return address / (SHADOW_PAGE * SHADOW_PIECE) + 1;
}

static struct shadow_piece *make_piece(struct shadow *s, u64 key)
{
	u64 *slot = map_get(&s->pieces, key);
	struct shadow_piece *p;

	if (slot)
		return (struct shadow_piece *)(uintptr_t)*slot;
	p = calloc(1, sizeof(*p));
	if (!p || !map_set(&s->pieces, key, map_key(p))) {
		free(p);
		return NULL;
	}
	for (u32 i = 0; i < SHADOW_PIECE; i++)
		p->at[i].shift = 2;
	return p;
}

struct shadow_page *shadow_page_at(struct shadow *s, u64 address)
{
	u64 key = piece_key(address);
	/* Rows of a matrix lie at a distance that is a power of two. */
	u32 at = (u32)(key * 0x9e3779b97f4a7c15u >> 32) % SHADOW_RECENT;
	struct shadow_piece *p = s->recent[at].piece;

	if (PL_UNLIKELY(s->recent[at].key != key)) {
		p = make_piece(s, key);
		if (!p)
			return NULL;
		s->recent[at].key = key;
		s->recent[at].piece = p;
	}
	return &p->at[address / SHADOW_PAGE % SHADOW_PIECE];
}

const struct cell *shadow_cell_at(struct shadow *s, u64 address)
{
	const struct shadow_page *p = shadow_page_at(s, address);

	return p && p->cell ? &p->cell[address % SHADOW_PAGE >> p->shift] : NULL;
}

/* A cell lies in one line of the host's cache. */
struct cell *cells_new(u32 n)
{
	struct cell *c = aligned_alloc(sizeof(*c), n * sizeof(*c));

	_Static_assert(sizeof(*c) == 64, "a cell is of one line");
	if (c)
		memset(c, 0, n * sizeof(*c));
	return c;
}

/* A cell for each byte, which say what that of the word said. */
static bool split_cells(struct shadow_page *p)
{
	struct cell *fine = cells_new(SHADOW_PAGE);

	if (!fine)
		return false;
	for (u32 i = 0; i < SHADOW_PAGE; i++) {
		const struct cell *from = &p->cell[i / 4];

		fine[i] = (struct cell){.write = from->write};
		if (!from->readers)
			fine[i].read = from->read;
		if (from->plain && !cell_keep_plain(&fine[i], from->plain))
			known_fail();
		for (u32 k = 0; from->readers && k < from->readers->len; k++)
			if (!cell_push_reader(&fine[i], &from->readers->at[k]))
				known_fail();
		if (fine[i].readers)
			fine[i].readers->next = from->readers->next;
	}
	for (u32 i = 0; i < SHADOW_PAGE / 4; i++)
		cell_fini(&p->cell[i]);
	free(p->cell);
	p->cell = fine;
	p->shift = 0;
	return true;
}

/* The same of rows. */
static bool split_stretches(struct shadow *s, struct shadow_page *p)
{
	struct rows *fine = calloc((size_t)4 * stretches_of(p), sizeof(*fine));
	u32 i = 0;

	while (fine && i < stretches_of(p) && rows_split(&s->pool, &p->rows[i], &fine[4 * i]))
		i++;
	if (!fine || i < stretches_of(p)) {
		for (u32 k = 0; k < 4 * i; k++)
			rows_fini(&s->pool, &fine[k]);
		free(fine);
		return false;
	}
	page_clear(s, p);
	p->rows = fine;
	p->shift = 0;
	return true;
}

static struct touch touch_of_row(const struct row *r, u32 granule)
{
	u32 lanes = row_lanes(r, granule);

	return (struct touch){.who = r->warp << 5 | (u32)__builtin_ctz(lanes),
			      .lanes = lanes,
			      .time = r->time,
			      .pc = r->pc,
			      .silent = r->silent >> granule & 1};
}

/* What rows say of the cells. */
static bool cells_from_rows(struct cell *c, struct rows *s)
{
	for (u32 i = 0; i < s->len; i++) {
		const struct row *r = &rows_list(s)[i];

		for (u32 m = r->mask; m; m &= m - 1) {
			u32 granule = (u32)__builtin_ctz(m);
			struct touch t = touch_of_row(r, granule);

			if (i < s->writes)
				c[granule].write = t;
			else if (!cell_push_reader(&c[granule], &t))
				return false;
		}
	}
	for (u32 i = 0; s->next && i < ROWS_GRANULES; i++)
		c[i].readers->next = s->next;
	return true;
}

/* Cells of a page of which nothing is known. */
static bool open_cells(struct shadow_page *p)
{
	p->cell = cells_new(cells_of(p));
	return p->cell;
}

bool shadow_end_rows(struct shadow *s, struct shadow_page *p)
{
	struct cell *cell = p->cell ? NULL : cells_new(cells_of(p));
	struct shadow_page old = *p;
	bool ok = cell != NULL;

	if (p->cell)
		return true;
	for (u32 i = 0; ok && i < stretches_of(p); i++) {
		ok = cells_from_rows(cell + (size_t)i * ROWS_GRANULES, &p->rows[i]);
		p->is_written |= p->rows[i].writes != 0;
	}
	p->cell = cell;
	p->rows = NULL;
	if (!ok) {
		if (cell)
			page_clear(s, p);
		*p = old;
		return false;
	}
	old.cell = NULL;
	old.reads = NULL;
	old.set = NULL;
	page_clear(s, &old);
	return true;
}

/* Something else than reads comes. */
static void end_reads(struct shadow *s, struct shadow_page *p)
{
	if (p && (p->reads || p->is_logged))
		reads_tell(s, p);
	if (p && shadow_has_set(p) && !reads_end_set(s, p))
		known_fail();
	if (p)
		p->keeps_reads = false;
}

struct cell *shadow_cells(struct shadow *s, u64 address, u32 bytes, bool writes, u32 *n,
			  u32 *cell_bytes)
{
	struct shadow_page *p = shadow_page_at(s, address);

	end_reads(s, p);
	if (!p || (shadow_has_runs(p) && !(p->runs ? shadow_end_runs(s, p) : open_cells(p))) ||
	    (p->rows && !shadow_end_rows(s, p)) ||
	    (p->shift && ((address | bytes) & 3) && !split_cells(p)))
		return NULL;
	p->is_written |= writes;
	*cell_bytes = 1u << p->shift;
	*n = bytes >> p->shift;
	return &p->cell[address % SHADOW_PAGE >> p->shift];
}

struct shadow_page *shadow_rows(struct shadow *s, u64 address, bool narrow)
{
	struct shadow_page *p = shadow_page_at(s, address);

	end_reads(s, p);
	if (p && shadow_has_runs(p) && !shadow_end_runs(s, p))
		return NULL;
	return p && p->rows && p->shift && narrow && !split_stretches(s, p) ? NULL : p;
}

/* Some bytes of a page, of which there are rows. False: of its cells. */
static bool forget_in_rows(struct shadow *s, struct shadow_page *p, u32 first, u32 end)
{
	u32 each = ROWS_GRANULES << p->shift, granule = 1u << p->shift;

	for (u32 i = first / each; p->rows && i * each < end; i++) {
		u32 from = first > i * each ? (first - i * each) / granule : 0;
		u32 to = end < (i + 1) * each ? (end - i * each + granule - 1) / granule
					      : ROWS_GRANULES;

		if (!rows_forget(&p->rows[i], (u16)((1u << to) - (1u << from))) &&
		    !shadow_end_rows(s, p))
			known_fail();
	}
	return p->rows;
}

void shadow_forget(struct shadow *s, u64 address, u64 bytes)
{
	u64 end = address + bytes;

	while (address < end) {
		u64 page = address / SHADOW_PAGE;
		struct shadow_page *p =
			map_get(&s->pieces, piece_key(address)) ? shadow_page_at(s, address) : NULL;
		u64 next = (page + 1) * SHADOW_PAGE < end ? (page + 1) * SHADOW_PAGE : end;

		end_reads(s, p);
		if (p && shadow_has_runs(p) && next - address < SHADOW_PAGE &&
		    !shadow_end_runs(s, p))
			known_fail();
		if (p && shadow_has_runs(p)) {
			page_clear(s, p);
			p = NULL;
		}
		if (p && p->rows &&
		    forget_in_rows(s, p, (u32)(address % SHADOW_PAGE),
				   (u32)(next - page * SHADOW_PAGE)))
			p = NULL;
		for (u64 a = address; p && a < next; a += 1u << p->shift) {
			struct cell *c = &p->cell[a % SHADOW_PAGE >> p->shift];

			cell_fini(c);
		}
		address = next;
	}
}
