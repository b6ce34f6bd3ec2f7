/*
 * Weak memory: what accesses and fences do with store buffers and lines. weak.h says what they
 * model.
 */
#include "src/isa/isa.h"
#include "src/sched/steer/steer_notes.h"
#include "src/sched/steer/weak_int.h"

/* What an access is to memory. */
struct weak_manner {
	bool weak;   /* neither ordered nor atomic: may read lines */
	bool misses; /* reads memory nevertheless; lines stay */
	bool nc;     /* read-only */
	bool acts;   /* in memory, not in the buffer */
	bool acquires, releases;
};

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
	struct weak_line *l = m->weak && !m->misses ? weak_line_find(w, sector, c, m->nc) : NULL;
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
	if (s->cta != c && weak_overlaps(s, host, len)) {
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
	struct weak_sector *sector = weak_sector_of(w, host);

	if (!sector)
		return;
	memcpy(x.old, (const void *)(uintptr_t)host, x.len);
	weak_view(w, sector, c, m, host, x.len, x.now);
	note_unseen(d, a, sector, c, host, x.len,
		    m->weak && weak_line_find(w, sector, c, m->nc) && memcmp(x.old, x.now, x.len));
	if (memcmp(x.old, x.now, x.len) && VEC_PUSH(&w->undo, x))
		weak_write(host, x.now, x.len);
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
		struct weak_sector *s = weak_sector_at(w, at);

		if (s)
			weak_cta_settle(w, c, s, host, a->bytes);
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
		s = weak_sector_of(w, host);
		if (s && !weak_line_find(w, s, c, nc))
			weak_line_keep(w, s, c, nc);
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
		weak_cta_publish(w, c);
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
			       .due = w->now + weak_delay(w, x->cta),
			       .cta = x->cta,
			       .warp = x->warp,
			       .pc = x->pc,
			       .len = x->len,
			       .sector = weak_sector_of(w, x->host)};

	memcpy(s.bytes, x->now, x->len);
	if (!s.sector || !weak_store_insert(w, &s)) {
		w->lost = true;
		weak_write(x->host, x->now, x->len);
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
		weak_write(x[i].host, x[i].old, x[i].len);
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
	weak_cta_publish(w, c);
	c->epoch++;
}

void weak_step(struct weak *w)
{
	struct store_list *due = &w->ring[++w->now % RING];
	struct weak_store *s;

	while ((s = TAILQ_FIRST(due)))
		weak_store_drain(w, s);
}

void weak_publish(struct weak *w, u64 cta)
{
	u64 *slot = map_get(&w->ctas, cta + 1);

	if (slot)
		weak_cta_publish(w, (void *)(uintptr_t)*slot);
}

void weak_drain(struct weak *w)
{
	struct weak_store *s;

	while ((s = TAILQ_FIRST(&w->stores)))
		weak_store_lands(w, s);
	while (w->line_len)
		weak_line_drop(w, TAILQ_FIRST(&w->lines));
}
