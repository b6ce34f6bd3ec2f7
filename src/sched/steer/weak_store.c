/*
 * Store buffers of CTAs and the lines that they keep.
 */
#include "src/sched/steer/weak_int.h"

#include <stdlib.h>

/* ---- parts ---- */

struct weak_sector *weak_sector_of(struct weak *w, u64 host)
{
	u64 base = host & ~(u64)(SECTOR_BYTES - 1), *slot = map_get(&w->sectors, base);
	struct weak_sector *s;

	if (slot)
		return (void *)(uintptr_t)*slot;
	s = malloc(sizeof(*s));
	if (!s || !VEC_RESERVE(&w->all_sectors, 1) || !map_set(&w->sectors, base, map_key(s))) {
		free(s);
		w->lost = true;
		return NULL;
	}
	s->host = base;
	TAILQ_INIT(&s->stores);
	TAILQ_INIT(&s->lines[0]);
	TAILQ_INIT(&s->lines[1]);
	w->all_sectors.at[w->all_sectors.len++] = s;
	return s;
}

struct weak_sector *weak_sector_at(const struct weak *w, u64 host)
{
	u64 *slot = map_get(&w->sectors, host & ~(u64)(SECTOR_BYTES - 1));

	return slot ? (void *)(uintptr_t)*slot : NULL;
}

struct weak_cta *weak_cta_of(struct weak *w, u64 number)
{
	u64 *slot = map_get(&w->ctas, number + 1);
	struct weak_cta *c;

	if (slot)
		return (void *)(uintptr_t)*slot;
	c = calloc(1, sizeof(*c));
	if (!c || !VEC_RESERVE(&w->all_ctas, 1) || !map_set(&w->ctas, number + 1, map_key(c))) {
		free(c);
		w->lost = true;
		return NULL;
	}
	c->number = number;
	TAILQ_INIT(&c->stores);
	w->all_ctas.at[w->all_ctas.len++] = c;
	return c;
}

/* ---- lines ---- */

void weak_line_drop(struct weak *w, struct weak_line *l)
{
	TAILQ_REMOVE(&l->sector->lines[l->read_only], l, in_sector);
	TAILQ_REMOVE(&w->lines, l, by_age);
	w->line_len--;
	free(l);
}

struct weak_line *weak_line_find(struct weak *w, struct weak_sector *s, struct weak_cta *c,
				 bool read_only)
{
	struct weak_line *l;

	TAILQ_FOREACH(l, &s->lines[read_only], in_sector)
	{
		if (l->cta != c)
			continue;
		if (read_only || (l->epoch == c->epoch && l->until > w->now))
			return l;
		weak_line_drop(w, l);
		return NULL;
	}
	return NULL;
}

static struct weak_line *line_insert(struct weak *w, struct weak_sector *s, struct weak_cta *c,
				     bool read_only)
{
	struct weak_line *l = malloc(sizeof(*l));

	if (!l)
		return NULL;
	if (w->line_len == LINES_MAX)
		weak_line_drop(w, TAILQ_FIRST(&w->lines));
	*l = (struct weak_line){.cta = c, .sector = s, .epoch = c->epoch, .read_only = read_only};
	TAILQ_INSERT_TAIL(&s->lines[read_only], l, in_sector);
	TAILQ_INSERT_TAIL(&w->lines, l, by_age);
	w->line_len++;
	return l;
}

u64 weak_delay(struct weak *w, struct weak_cta *c)
{
	u64 x = sched_mix(w->seed, c->number << 20 ^ c->draws++), log = x % w->delay_log;

	return ((u64)1 << log) + (x >> 16) % ((u64)1 << log);
}

void weak_line_keep(struct weak *w, struct weak_sector *s, struct weak_cta *c, bool read_only)
{
	u64 delay = weak_delay(w, c);
	struct weak_line *l;

	if (!read_only && sched_mix(w->seed, ~(c->number << 20 ^ c->draws)) >> 32 & 1)
		return;
	l = line_insert(w, s, c, read_only);
	if (!l)
		return;
	l->until = w->now + delay;
	memcpy(l->bytes, (const void *)(uintptr_t)s->host, SECTOR_BYTES);
}

/* ---- the store buffer ---- */

void weak_write(u64 host, const u8 *from, u32 len)
{
	void *to = (void *)(uintptr_t)host;

	switch (len) {
	case 2:
		memcpy(to, from, 2);
		break;
	case 4:
		memcpy(to, from, 4);
		break;
	case 8:
		memcpy(to, from, 8);
		break;
	case 16:
		memcpy(to, from, 16);
		break;
	default:
		memcpy(to, from, len);
		break;
	}
}

bool weak_overlaps(const struct weak_store *a, u64 host, u64 len)
{
	return a->host < host + len && host < a->host + a->len;
}

static void store_remove(struct weak *w, struct weak_store *s)
{
	TAILQ_REMOVE(&w->stores, s, by_age);
	TAILQ_REMOVE(&w->ring[s->due % RING], s, by_due);
	TAILQ_REMOVE(&s->sector->stores, s, in_sector);
	TAILQ_REMOVE(&s->cta->stores, s, in_cta);
	free(s);
}

void weak_store_lands(struct weak *w, struct weak_store *s)
{
	struct weak_line *l = weak_line_find(w, s->sector, s->cta, false);

	weak_write(s->host, s->bytes, s->len);
	if (l)
		memcpy(l->bytes + (s->host - s->sector->host), s->bytes, s->len);
	store_remove(w, s);
}

void weak_store_drain(struct weak *w, struct weak_store *last)
{
	struct weak_sector *sector = last->sector;
	struct weak_cta *c = last->cta;
	struct weak_store *s, *next, *x;

	last->goes = true;
	for (s = last; (s = TAILQ_PREV(s, store_list, in_sector));)
		for (x = s; s->cta == c && !s->goes && x != last;) {
			x = TAILQ_NEXT(x, in_sector);
			s->goes = x->goes && weak_overlaps(s, x->host, x->len);
		}
	for (s = TAILQ_FIRST(&sector->stores); s; s = next) {
		next = TAILQ_NEXT(s, in_sector);
		if (s == last)
			next = NULL;
		if (s->goes)
			weak_store_lands(w, s);
	}
}

struct weak_store *weak_store_insert(struct weak *w, const struct weak_store *like)
{
	struct weak_store *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	*s = *like;
	TAILQ_INSERT_TAIL(&w->stores, s, by_age);
	TAILQ_INSERT_TAIL(&w->ring[s->due % RING], s, by_due);
	TAILQ_INSERT_TAIL(&s->sector->stores, s, in_sector);
	TAILQ_INSERT_TAIL(&s->cta->stores, s, in_cta);
	return s;
}

void weak_cta_publish(struct weak *w, struct weak_cta *c)
{
	struct weak_store *s;

	while ((s = TAILQ_FIRST(&c->stores)))
		weak_store_lands(w, s);
}

void weak_cta_settle(struct weak *w, struct weak_cta *c, struct weak_sector *sector, u64 host,
		     u64 len)
{
	struct weak_line *l = weak_line_find(w, sector, c, false);
	struct weak_store *s, *last;

	do {
		last = NULL;
		TAILQ_FOREACH(s, &sector->stores, in_sector)
		if (s->cta == c && weak_overlaps(s, host, len))
			last = s;
		if (last)
			weak_store_drain(w, last);
	} while (last);
	if (l)
		weak_line_drop(w, l);
}

/* ---- all of it ---- */

struct weak *weak_new(void)
{
	struct weak *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	TAILQ_INIT(&w->stores);
	TAILQ_INIT(&w->lines);
	for (u32 i = 0; i < RING; i++)
		TAILQ_INIT(&w->ring[i]);
	return w;
}

void weak_begin(struct weak *w, u64 seed)
{
	w->seed = seed;
	w->delay_log = 2 + (u32)(sched_mix(seed, 1) >> 8) % DELAY_LOG_MAX;
}

void weak_free(struct weak *w)
{
	struct weak_store *s;

	if (!w)
		return;
	while ((s = TAILQ_FIRST(&w->stores)))
		store_remove(w, s);
	while (w->line_len)
		weak_line_drop(w, TAILQ_FIRST(&w->lines));
	for (size_t i = 0; i < w->all_sectors.len; i++)
		free(w->all_sectors.at[i]);
	for (size_t i = 0; i < w->all_ctas.len; i++)
		free(w->all_ctas.at[i]);
	VEC_FREE(&w->all_sectors);
	VEC_FREE(&w->all_ctas);
	VEC_FREE(&w->undo);
	map_fini(&w->sectors);
	map_fini(&w->ctas);
	free(w);
}

static bool clone_lines(struct weak *to, const struct weak *from)
{
	struct weak_line *l;

	TAILQ_FOREACH(l, &from->lines, by_age)
	{
		struct weak_sector *s = weak_sector_of(to, l->sector->host);
		struct weak_cta *c = weak_cta_of(to, l->cta->number);
		struct weak_line *x = s && c ? line_insert(to, s, c, l->read_only) : NULL;

		if (!x)
			return false;
		x->epoch = l->epoch;
		x->until = l->until;
		memcpy(x->bytes, l->bytes, sizeof(x->bytes));
	}
	return true;
}

static bool clone_stores(struct weak *to, const struct weak *from)
{
	struct weak_store *s;

	TAILQ_FOREACH(s, &from->stores, by_age)
	{
		struct weak_store x = *s;

		x.sector = weak_sector_of(to, s->sector->host);
		x.cta = weak_cta_of(to, s->cta->number);
		if (!x.sector || !x.cta || !weak_store_insert(to, &x))
			return false;
	}
	return true;
}

struct weak *weak_clone(const struct weak *from)
{
	struct weak *w = weak_new();
	bool ok = w != NULL;

	for (size_t i = 0; ok && i < from->all_ctas.len; i++) {
		const struct weak_cta *x = from->all_ctas.at[i];
		struct weak_cta *c = weak_cta_of(w, x->number);

		ok = c != NULL;
		if (ok) {
			c->epoch = x->epoch;
			c->draws = x->draws;
		}
	}
	if (ok && clone_lines(w, from) && clone_stores(w, from)) {
		w->seed = from->seed;
		w->now = from->now;
		w->delay_log = from->delay_log;
		w->lost = from->lost;
		return w;
	}
	weak_free(w);
	return NULL;
}
