/*
 * Store buffers and stale lines: weak.h says what they model.
 */
#include "src/sched/steer/weak.h"
#include "src/base/vec.h"
#include "src/isa/isa.h"
#include "src/sched/debug_int.h"
#include "src/sched/steer/steer_notes.h"

#include <stdlib.h>
#include <sys/queue.h>

#define SECTOR_BYTES 32u
/* Delays are shorter: a ring of lists, by the time at which stores reach memory. */
#define RING 4096u
#define DELAY_LOG_MAX 11u
#define LINES_MAX 65536u

struct weak_store {
	TAILQ_ENTRY(weak_store) by_age, by_due, in_sector, in_cta;
	u64 host, due;
	struct weak_sector *sector;
	struct weak_cta *cta;
	u32 warp, pc, len;
	bool goes; /* it is about to reach memory */
	u8 bytes[SECTOR_BYTES];
};
TAILQ_HEAD(store_list, weak_store);

struct weak_line {
	TAILQ_ENTRY(weak_line) by_age, in_sector;
	struct weak_cta *cta;
	struct weak_sector *sector;
	u64 epoch, until;
	bool read_only; /* ld.global.nc: up to the end */
	u8 bytes[SECTOR_BYTES];
};
TAILQ_HEAD(line_list, weak_line);

struct weak_sector {
	u64 host;
	struct store_list stores;
	struct line_list lines[2]; /* of read-only loads, too */
};

struct weak_cta {
	u64 number;
	u64 epoch; /* lines of earlier ones are void */
	u64 draws;
	struct store_list stores;
};

/* Bytes of memory that the access under way replaces, or is about to write. */
struct weak_undo {
	u64 host;
	u32 len;
	bool is_store;
	struct weak_cta *cta;
	u32 warp, pc;
	u8 old[SECTOR_BYTES], now[SECTOR_BYTES];
};

/* What an access is to memory. */
struct weak_manner {
	bool weak;   /* neither ordered nor atomic: may read lines */
	bool misses; /* reads memory nevertheless; lines stay */
	bool nc;     /* read-only */
	bool acts;   /* in memory, not in the buffer */
	bool acquires, releases;
};

struct weak {
	u64 seed, now;
	u32 delay_log;
	struct map sectors, ctas;
	struct store_list stores, ring[RING]; /* by age; by when they reach memory */
	struct line_list lines;
	u32 line_len;
	VEC(struct weak_undo) undo;
	VEC(struct weak_sector *) all_sectors; /* owned */
	VEC(struct weak_cta *) all_ctas;       /* owned */
	struct mem_range range;                /* looked up last, while `epoch` is the arena's */
	u32 range_epoch;
	bool lost; /* no memory: all accesses are plain from now on */
};

/* ---- parts ---- */

static struct weak_sector *sector_of(struct weak *w, u64 host)
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

static struct weak_sector *sector_at(const struct weak *w, u64 host)
{
	u64 *slot = map_get(&w->sectors, host & ~(u64)(SECTOR_BYTES - 1));

	return slot ? (void *)(uintptr_t)*slot : NULL;
}

static struct weak_cta *weak_cta_of(struct weak *w, u64 number)
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

static void line_drop(struct weak *w, struct weak_line *l)
{
	TAILQ_REMOVE(&l->sector->lines[l->read_only], l, in_sector);
	TAILQ_REMOVE(&w->lines, l, by_age);
	w->line_len--;
	free(l);
}

static struct weak_line *line_find(struct weak *w, struct weak_sector *s, struct weak_cta *c,
				   bool read_only)
{
	struct weak_line *l;

	TAILQ_FOREACH(l, &s->lines[read_only], in_sector)
	{
		if (l->cta != c)
			continue;
		if (read_only || (l->epoch == c->epoch && l->until > w->now))
			return l;
		line_drop(w, l);
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
		line_drop(w, TAILQ_FIRST(&w->lines));
	*l = (struct weak_line){.cta = c, .sector = s, .epoch = c->epoch, .read_only = read_only};
	TAILQ_INSERT_TAIL(&s->lines[read_only], l, in_sector);
	TAILQ_INSERT_TAIL(&w->lines, l, by_age);
	w->line_len++;
	return l;
}

/* Steps that something lasts: short ones as often as long ones. */
static u64 draw_delay(struct weak *w, struct weak_cta *c)
{
	u64 x = sched_mix(w->seed, c->number << 20 ^ c->draws++), log = x % w->delay_log;

	return ((u64)1 << log) + (x >> 16) % ((u64)1 << log);
}

/* Half of the sectors that weak loads read become lines. */
static void line_keep(struct weak *w, struct weak_sector *s, struct weak_cta *c, bool read_only)
{
	u64 delay = draw_delay(w, c);
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

/* Values of up to 16 bytes are written as one. */
static void write_value(u64 host, const u8 *from, u32 len)
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

static bool overlaps(const struct weak_store *a, u64 host, u64 len)
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

static void store_lands(struct weak *w, struct weak_store *s)
{
	struct weak_line *l = line_find(w, s->sector, s->cta, false);

	write_value(s->host, s->bytes, s->len);
	if (l)
		memcpy(l->bytes + (s->host - s->sector->host), s->bytes, s->len);
	store_remove(w, s);
}

/* It reaches memory, behind the earlier ones of its CTA that it overlaps, and those these do. */
static void store_drain(struct weak *w, struct weak_store *last)
{
	struct weak_sector *sector = last->sector;
	struct weak_cta *c = last->cta;
	struct weak_store *s, *next, *x;

	last->goes = true;
	for (s = last; (s = TAILQ_PREV(s, store_list, in_sector));)
		for (x = s; s->cta == c && !s->goes && x != last;) {
			x = TAILQ_NEXT(x, in_sector);
			s->goes = x->goes && overlaps(s, x->host, x->len);
		}
	for (s = TAILQ_FIRST(&sector->stores); s; s = next) {
		next = TAILQ_NEXT(s, in_sector);
		if (s == last)
			next = NULL;
		if (s->goes)
			store_lands(w, s);
	}
}

static struct weak_store *store_insert(struct weak *w, const struct weak_store *like)
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

static void cta_publish(struct weak *w, struct weak_cta *c)
{
	struct weak_store *s;

	while ((s = TAILQ_FIRST(&c->stores)))
		store_lands(w, s);
}

/* What the CTA has stored at these bytes reaches memory, and it keeps no line of them. */
static void cta_settle(struct weak *w, struct weak_cta *c, struct weak_sector *sector, u64 host,
		       u64 len)
{
	struct weak_line *l = line_find(w, sector, c, false);
	struct weak_store *s, *last;

	do {
		last = NULL;
		TAILQ_FOREACH(s, &sector->stores, in_sector)
		if (s->cta == c && overlaps(s, host, len))
			last = s;
		if (last)
			store_drain(w, last);
	} while (last);
	if (l)
		line_drop(w, l);
}

/* ---- accesses ---- */

/* Memory that is the device's, or managed: other memory the host may write at any time. */
static bool is_weak_memory(struct weak *w, struct mem *m, u64 address, u64 len, u64 *host)
{
	u32 epoch = __atomic_load_n(&m->epoch, __ATOMIC_ACQUIRE);
	const struct mem_range *r = &w->range;

	if (!r->size || w->range_epoch != epoch || address - r->base > r->size - 1 ||
	    r->size - (address - r->base) < len) {
		w->range_epoch = epoch;
		if (!mem_find(m, address, len, &w->range)) {
			w->range.size = 0;
			return false;
		}
	}
	*host = address + r->bias;
	return r->kind == MEM_KIND_DEVICE || r->kind == MEM_KIND_MANAGED ||
	       r->kind == MEM_KIND_HEAP || r->kind == MEM_KIND_BLOCK || r->kind == MEM_KIND_MAPPED;
}

static struct weak_manner manner_of(const struct exec_access *a)
{
	const struct isa_form *f = exec_form(a->cta->env->program, a->in);
	struct weak_manner m = {.acts = true};
	bool wide, both;

	if (a->extra || !f || a->kind > ACCESS_RED)
		return m;
	wide = !isa_form_has(f, M_cta);
	both = isa_form_has(f, M_acq_rel) || isa_form_has(f, M_sc);
	m.acquires = wide && (both || isa_form_has(f, M_acquire));
	m.releases = wide && (both || isa_form_has(f, M_release));
	m.acts = a->kind == ACCESS_ATOM || a->kind == ACCESS_RED || m.releases ||
		 isa_form_has(f, M_mmio);
	m.nc = isa_form_has(f, M_nc);
	m.weak = a->kind == ACCESS_LOAD &&
		 !(isa_form_has(f, M_acquire) || isa_form_has(f, M_relaxed) ||
		   isa_form_has(f, M_volatile) || isa_form_has(f, M_mmio) ||
		   isa_form_has(f, M_cg) || isa_form_has(f, M_cv));
	return m;
}

/* What the CTA sees at these bytes, all within a sector. */
static void weak_view(struct weak *w, struct weak_sector *sector, struct weak_cta *c,
		      const struct weak_manner *m, u64 host, u32 len, u8 *out)
{
	struct weak_line *l = m->weak && !m->misses ? line_find(w, sector, c, m->nc) : NULL;
	struct weak_store *s;

	memcpy(out, l ? l->bytes + (host - sector->host) : (const u8 *)(uintptr_t)host, len);
	if (l && m->nc)
		return;
	TAILQ_FOREACH(s, &sector->stores, in_sector)
	for (u64 i = 0; s->cta == c && i < s->len; i++)
		if (s->host + i - host < len)
			out[s->host + i - host] = s->bytes[i];
}

/* For those who wonder why a run fails: what the CTA does not see of what others have stored. */
static void note_unseen(struct debug_grid *d, const struct exec_access *a,
			const struct weak_sector *sector, const struct weak_cta *c, u64 host,
			u32 len, bool is_stale)
{
	struct notes_unseen x = {.cta = {a->cta->number}, .warp = {a->warp}, .pc = {a->pc, NO_PC}};
	struct weak_store *s;

	if (!d->steer->notes || d->time < d->latest)
		return;
	if (is_stale)
		notes_unseen(d->steer->notes, d, &x);
	TAILQ_FOREACH(s, &sector->stores, in_sector)
	if (s->cta != c && overlaps(s, host, len)) {
		x.cta[1] = s->cta->number;
		x.warp[1] = s->warp;
		x.pc[1] = s->pc;
		notes_unseen(d->steer->notes, d, &x);
	}
}

static void weak_load_lane(struct debug_grid *d, const struct exec_access *a, struct weak_cta *c,
			   const struct weak_manner *m, u64 host)
{
	struct weak *w = d->weak;
	struct weak_undo x = {.host = host, .len = (u32)a->bytes};
	struct weak_sector *sector = sector_of(w, host);

	if (!sector)
		return;
	memcpy(x.old, (const void *)(uintptr_t)host, x.len);
	weak_view(w, sector, c, m, host, x.len, x.now);
	note_unseen(d, a, sector, c, host, x.len,
		    m->weak && line_find(w, sector, c, m->nc) && memcmp(x.old, x.now, x.len));
	if (memcmp(x.old, x.now, x.len) && VEC_PUSH(&w->undo, x))
		write_value(host, x.now, x.len);
}

static void weak_store_lane(struct weak *w, const struct exec_access *a, struct weak_cta *c,
			    u64 host)
{
	struct weak_undo x = {.host = host,
			      .len = (u32)a->bytes,
			      .is_store = true,
			      .cta = c,
			      .warp = a->warp,
			      .pc = a->pc};

	memcpy(x.old, (const void *)(uintptr_t)host, x.len);
	if (!VEC_PUSH(&w->undo, x))
		w->lost = true;
}

/* It acts in memory: so do the CTA's own stores there, before. */
static void weak_act_lane(struct weak *w, const struct exec_access *a, struct weak_cta *c, u64 host)
{
	for (u64 at = host & ~(u64)(SECTOR_BYTES - 1); at < host + a->bytes; at += SECTOR_BYTES) {
		struct weak_sector *s = sector_at(w, at);

		if (s)
			cta_settle(w, c, s, host, a->bytes);
	}
}

/* Sectors become lines before any of the access's lanes changes memory. */
static void keep_lines(struct weak *w, const struct exec_access *a, struct weak_cta *c, bool nc)
{
	u64 last = 0, host;

	for (u32 m = a->mask; m; m &= m - 1) {
		u64 address = a->address[__builtin_ctz(m)];
		struct weak_sector *s;

		if (!is_weak_memory(w, a->cta->env->mem, address, a->bytes, &host) ||
		    host / SECTOR_BYTES == last)
			continue;
		last = host / SECTOR_BYTES;
		s = sector_of(w, host);
		if (s && !line_find(w, s, c, nc))
			line_keep(w, s, c, nc);
	}
}

/* Values that lie within a sector: others fault, or are larger than any. */
static bool is_in_sector(u64 host, u64 bytes)
{
	return host % SECTOR_BYTES + bytes <= SECTOR_BYTES;
}

void weak_access(struct debug_grid *d, const struct exec_access *a)
{
	struct weak *w = d->weak;
	struct weak_manner m;
	struct weak_cta *c;
	u64 host;

	if (a->space != MEM_GLOBAL || w->lost || d->call)
		return;
	m = manner_of(a);
	c = weak_cta_of(w, a->cta->number);
	/* Bulk copies read memory: nothing of the buffer. */
	if (!c || (a->kind == ACCESS_COPY_READ && a->extra))
		return;
	if (m.releases)
		cta_publish(w, c);
	c->epoch += m.acquires;
	if (m.weak) {
		keep_lines(w, a, c, m.nc);
		m.misses = !m.nc && !(sched_mix(w->seed, ++c->draws ^ c->number << 20) >> 32 & 3);
	}
	for (u32 mask = a->mask; mask; mask &= mask - 1) {
		u64 address = a->address[__builtin_ctz(mask)];

		if (!is_weak_memory(w, a->cta->env->mem, address, a->bytes, &host))
			continue;
		if (m.acts || !is_in_sector(host, a->bytes))
			weak_act_lane(w, a, c, host);
		else if (a->kind == ACCESS_LOAD)
			weak_load_lane(d, a, c, &m, host);
		else
			weak_store_lane(w, a, c, host);
	}
}

/* What was stored goes into the buffer. */
static void buffer_store(struct weak *w, const struct weak_undo *x)
{
	struct weak_store s = {.host = x->host,
			       .due = w->now + draw_delay(w, x->cta),
			       .cta = x->cta,
			       .warp = x->warp,
			       .pc = x->pc,
			       .len = x->len,
			       .sector = sector_of(w, x->host)};

	memcpy(s.bytes, x->now, x->len);
	if (!s.sector || !store_insert(w, &s)) {
		w->lost = true;
		write_value(x->host, x->now, x->len);
	}
}

void weak_settle(struct weak *w)
{
	struct weak_undo *x = w->undo.at;

	if (PL_LIKELY(!w->undo.len))
		return;
	for (size_t i = 0; i < w->undo.len; i++)
		if (x[i].is_store)
			memcpy(x[i].now, (const void *)(uintptr_t)x[i].host, x[i].len);
	for (size_t i = w->undo.len; i-- > 0;)
		write_value(x[i].host, x[i].old, x[i].len);
	for (size_t i = 0; i < w->undo.len; i++)
		if (x[i].is_store)
			buffer_store(w, &x[i]);
	w->undo.len = 0;
	if (w->lost)
		weak_drain(w);
}

/* ---- what orders ---- */

/* An mbarrier's arrivals and waits are of the CTA unless they say the cluster. */
static bool orders_more(const struct isa_form *f, u16 op)
{
	switch (op) {
	case OP_bar_sync:
	case OP_bar_arrive:
	case OP_bar_red:
	case OP_warp_sync:
	case OP_warpgroup_sync:
		return false;
	case OP_fence:
		return !f || !isa_form_has(f, M_cta) || isa_form_has(f, M_proxy);
	case OP_mbar:
		return f && isa_form_has(f, M_cluster);
	default:
		return true;
	}
}

void weak_sync(struct debug_grid *d, const struct exec_sync *s)
{
	const struct isa_form *f = exec_form(s->cta->env->program, s->in);
	struct weak *w = d->weak;
	struct weak_cta *c;

	if (w->lost || d->call || !orders_more(f, s->op))
		return;
	c = weak_cta_of(w, s->cta->number);
	if (!c || (f && isa_form_has(f, M_relaxed)))
		return;
	weak_settle(w);
	cta_publish(w, c);
	c->epoch++;
}

void weak_step(struct weak *w)
{
	struct store_list *due = &w->ring[++w->now % RING];
	struct weak_store *s;

	while ((s = TAILQ_FIRST(due)))
		store_drain(w, s);
}

void weak_publish(struct weak *w, u64 cta)
{
	u64 *slot = map_get(&w->ctas, cta + 1);

	if (slot)
		cta_publish(w, (void *)(uintptr_t)*slot);
}

void weak_drain(struct weak *w)
{
	struct weak_store *s;

	while ((s = TAILQ_FIRST(&w->stores)))
		store_lands(w, s);
	while (w->line_len)
		line_drop(w, TAILQ_FIRST(&w->lines));
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
		line_drop(w, TAILQ_FIRST(&w->lines));
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
		struct weak_sector *s = sector_of(to, l->sector->host);
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

		x.sector = sector_of(to, s->sector->host);
		x.cta = weak_cta_of(to, s->cta->number);
		if (!x.sector || !x.cta || !store_insert(to, &x))
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
