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

static void page_free(struct shadow_page *p)
{
	for (u32 i = 0; p && i < cells_of(p); i++)
		cell_fini(&p->cell[i]);
	free(p ? p->cell : NULL);
	free(p);
}

void shadow_fini(struct shadow *s)
{
	for (size_t i = 0; i < s->pages.cap; i++)
		if (s->pages.slots[i].key)
			page_free((struct shadow_page *)(uintptr_t)s->pages.slots[i].value);
	map_fini(&s->pages);
	*s = (struct shadow){0};
}

static struct shadow_page *page_new(u8 shift)
{
	struct shadow_page *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->shift = shift;
	p->cell = calloc(cells_of(p), sizeof(*p->cell));
	if (!p->cell) {
		free(p);
		return NULL;
	}
	return p;
}

static struct shadow_page *page_at(struct shadow *s, u64 address)
{
	u64 key = address / SHADOW_PAGE + 1, *slot;
	struct shadow_page *p;

	if (PL_LIKELY(key == s->last_key))
		return s->last;
	slot = map_get(&s->pages, key);
	p = slot ? (struct shadow_page *)(uintptr_t)*slot : NULL;
	if (!p) {
		p = page_new(2);
		if (!p || !map_set(&s->pages, key, map_key(p))) {
			page_free(p);
			return NULL;
		}
	}
	s->last_key = key;
	s->last = p;
	return p;
}

/* A cell for each byte, which say what that of the word said. */
static bool page_split(struct shadow_page *p)
{
	struct cell *fine = calloc(SHADOW_PAGE, sizeof(*fine));

	if (!fine)
		return false;
	for (u32 i = 0; i < SHADOW_PAGE; i++) {
		const struct cell *from = &p->cell[i / 4];

		fine[i] = *from;
		fine[i].readers = NULL;
		fine[i].plain = NULL;
		if (from->plain && !cell_keep_plain(&fine[i], from->plain))
			known_fail();
		for (u32 k = 0; from->readers && k < from->readers->len; k++)
			if (!cell_add_reader(&fine[i], &from->readers->at[k], 0))
				known_fail();
	}
	for (u32 i = 0; i < SHADOW_PAGE / 4; i++)
		cell_fini(&p->cell[i]);
	free(p->cell);
	p->cell = fine;
	p->shift = 0;
	return true;
}

struct cell *shadow_cells(struct shadow *s, u64 address, u32 bytes, u32 *n, u32 *cell_bytes)
{
	struct shadow_page *p = page_at(s, address);

	if (!p || (p->shift && ((address | bytes) & 3) && !page_split(p)))
		return NULL;
	*cell_bytes = 1u << p->shift;
	*n = bytes >> p->shift;
	return &p->cell[address % SHADOW_PAGE >> p->shift];
}

void shadow_forget(struct shadow *s, u64 address, u64 bytes)
{
	u64 end = address + bytes;

	while (address < end) {
		u64 page = address / SHADOW_PAGE, *slot = map_get(&s->pages, page + 1);
		struct shadow_page *p = slot ? (struct shadow_page *)(uintptr_t)*slot : NULL;
		u64 next = (page + 1) * SHADOW_PAGE < end ? (page + 1) * SHADOW_PAGE : end;

		for (u64 a = address; p && a < next; a += 1u << p->shift) {
			struct cell *c = &p->cell[a % SHADOW_PAGE >> p->shift];

			cell_fini(c);
		}
		address = next;
	}
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

/* The latest reads, in which a thread's last one is likely to be found. */
#define READERS_MERGED 8u

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

	r->cta = !r->len ? cta : r->cta == cta ? cta : MANY_CTAS;
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

bool cell_add_reader(struct cell *c, const struct touch *t, u32 known)
{
	struct readers *r = c->readers;

	if (!r) {
		if (!c->read.who || (c->read.time <= known && is_own(&c->read, t))) {
			c->read = *t;
			return true;
		}
		if (merge_reads(&c->read, t))
			return true;
		if (!readers_grow(c))
			return false;
		readers_push(c->readers, &c->read);
		readers_push(c->readers, t);
		return true;
	}
	if (r->len && r->newest <= known && r->cta == who_cta_of(t->who))
		r->len = 0;
	if (readers_merge(r, t))
		return true;
	if (r->len < READERS_MAX && !readers_grow(c))
		return false;
	readers_push(c->readers, t);
	return true;
}

void cell_clear_readers(struct cell *c)
{
	if (c->readers)
		c->readers->len = 0;
	c->read.who = 0;
}
