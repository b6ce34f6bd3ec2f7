/*
 * Storage of CTAs: registers, warps, shared and local memory. Made once for a program and a CTA
 * shape, used for one CTA after the other, cached between launches. Real shared memory and
 * registers are not cleared between CTAs either; ours begin as zeros, so that a run does not depend
 * on what the host's memory held.
 */
#include "src/exec/fold.h"
#include "src/sched/sched_int.h"

#include <stdlib.h>
#include <sys/mman.h>

/* The widest alignment of shared variables that tensor copies ask for. */
#define SHARED_ALIGN 1024u

void slot_list_init(struct slot_list *l)
{
	l->first = NULL;
	l->last = &l->first;
	l->len = 0;
	l->bytes = 0;
}

void slot_push(struct slot_list *l, struct cta_slot *s)
{
	s->next = NULL;
	*l->last = s;
	l->last = &s->next;
	l->len++;
	l->bytes += s->bytes;
}

static void unlink_slot(struct slot_list *l, struct cta_slot **at)
{
	struct cta_slot *s = *at;

	*at = s->next;
	if (l->last == &s->next)
		l->last = at;
	l->len--;
	l->bytes -= s->bytes;
}

struct cta_slot *slot_pop(struct slot_list *l)
{
	struct cta_slot *s = l->first;

	if (s)
		unlink_slot(l, &l->first);
	return s;
}

void slot_part(struct slot_list *l, struct cta_slot *s)
{
	while (s) {
		struct cta_slot *mate = s->mate;

		s->mate = NULL;
		s->cta.cluster = NULL;
		s->cta.rank = 0;
		slot_push(l, s);
		s = mate;
	}
}

static void *zeroed(size_t align, u64 size)
{
	void *p = aligned_alloc(align, align_up(size ? size : 1, align));

	if (p)
		memset(p, 0, size);
	return p;
}

void slot_free(struct cta_slot *s)
{
	if (!s)
		return;
	exec_cta_free(&s->cta);
	text_fini(&s->text);
	if (s->cta.local)
		munmap(s->cta.local, s->local_size);
	free(s->cta.shared);
	free(s->cta.warp);
	if (s->cta.gang) {
		free(s->cta.gang[0].caches);
		free(s->cta.gang[0].counts);
	}
	free(s->cta.gang);
	free(s->regs);
	free(s->tid);
	free(s->scratch);
	free(s->steer);
	exec_folds_free(s->folds, s->folds_len);
	free(s);
}

/* Local memory is reserved, not touched: most of a thread's is never used. */
static bool make_local(struct cta_slot *s, const struct exec_env *e)
{
	void *p;

	s->local_size = (u64)e->local_bytes * s->cta.warps * WARP_LANES;
	if (!s->local_size)
		return true;
	p = mmap(NULL, s->local_size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return false;
	s->cta.local = p;
	return true;
}

static void fill_tid(struct cta_slot *s)
{
	u32 x = 0, y = 0, z = 0, n = s->cta.warps * WARP_LANES;

	for (u32 t = 0; t < n; t++) {
		s->tid[t] = x;
		s->tid[n + t] = y;
		s->tid[2 * n + t] = z;
		if (++x == s->block[0]) {
			x = 0;
			if (++y == s->block[1]) {
				y = 0;
				z++;
			}
		}
	}
}

static void make_gangs(struct cta_slot *s, u64 block_bytes, struct mem_cache *caches,
		       struct exec_count *counts)
{
	const struct program *p = s->program;
	struct cta *c = &s->cta;

	for (u32 i = 0; i < c->gangs; i++) {
		struct gang *g = &c->gang[i];

		g->first_warp = i * p->gang;
		g->warps = c->warps - g->first_warp < p->gang ? c->warps - g->first_warp : p->gang;
		g->regs = s->regs + i * block_bytes;
		g->env = &s->env;
		g->cta = c;
		g->uops = p->uop;
		g->warp_at = c->warp + g->first_warp;
		g->caches = caches;
		g->counts = counts;
		g->shared = c->shared;
		g->local = c->local
				   ? c->local + (u64)g->first_warp * WARP_LANES * s->env.local_bytes
				   : NULL;
		g->fault = &c->fault;
		g->scratch = s->scratch;
		g->rejoin = NO_PC;
	}
}

static struct cta_slot *slot_make(const struct exec_env *e)
{
	const struct program *p = e->program;
	struct cta_slot *s = calloc(1, sizeof(*s));
	u64 block_bytes = align_up(p->block_bytes, 64);
	struct exec_count *counts = NULL;
	struct mem_cache *caches;
	struct cta *c;

	if (!s)
		return NULL;
	c = &s->cta;
	s->program = p;
	s->env = *e;
	memcpy(s->block, e->block, sizeof(s->block));
	s->shared_cap = e->shared_bytes;
	c->env = &s->env;
	c->threads = e->block[0] * e->block[1] * e->block[2];
	c->warps = (c->threads + WARP_LANES - 1) / WARP_LANES;
	c->gangs = (c->warps + p->gang - 1) / p->gang;
	c->warp = zeroed(64, sizeof(*c->warp) * c->warps);
	c->gang = zeroed(64, sizeof(*c->gang) * c->gangs);
	c->shared = zeroed(SHARED_ALIGN, (u64)e->shared_bytes + 64);
	s->regs = zeroed(4096, block_bytes * c->gangs);
	s->tid = zeroed(64, sizeof(u32) * 3 * c->warps * WARP_LANES);
	s->scratch = zeroed(64, sizeof(u64) * WARP_LANES);
	caches = zeroed(64, sizeof(*caches) * p->cache_slots);
	if (p->counts)
		counts = zeroed(64, sizeof(*counts) * p->counts);
	if (c->gang) {
		c->gang[0].caches = caches;
		c->gang[0].counts = counts;
	} else {
		free(caches);
		free(counts);
	}
	if (!c->warp || !c->gang || !c->shared || !s->regs || !s->tid || !s->scratch || !caches ||
	    (p->counts && !counts) || !make_local(s, e)) {
		slot_free(s);
		return NULL;
	}
	s->bytes = s->local_size + block_bytes * c->gangs + e->shared_bytes;
	fill_tid(s);
	make_gangs(s, block_bytes, caches, counts);
	exec_cta_prepare(c);
	return s;
}

static bool slot_fits(const struct cta_slot *s, const struct exec_env *e)
{
	return s->program == e->program && !memcmp(s->block, e->block, sizeof(s->block)) &&
	       s->shared_cap >= e->shared_bytes && s->env.local_bytes == e->local_bytes &&
	       s->env.mem == e->mem;
}

struct cta_slot *slot_cached_locked(struct sched_pool *p, const struct exec_env *e)
{
	struct cta_slot *s = NULL;

	for (struct cta_slot **at = &p->slots.first; *at; at = &(*at)->next)
		if (slot_fits(*at, e)) {
			s = *at;
			unlink_slot(&p->slots, at);
			break;
		}
	return s;
}

/* Accesses are reported later to observers that count; without memory, at once. */
static void let_fold(struct cta_slot *s)
{
	const struct exec_observer *o = s->env.observer;
	bool folds = o && o->alike;

	if (folds && !s->folds) {
		s->folds_len = s->program->cache_slots + 1;
		s->folds = calloc(s->folds_len, sizeof(struct exec_folds *));
	}
	for (u32 i = 0; i < s->cta.gangs; i++)
		s->cta.gang[i].folds = folds ? s->folds : NULL;
}

void slot_tell_folds(const struct slot_list *l)
{
	for (const struct cta_slot *first = l->first; first; first = first->next)
		for (const struct cta_slot *s = first; s; s = s->mate)
			if (s->cta.gang->folds)
				exec_folds_tell(&s->cta, s->cta.gang->folds);
}

void slot_adopt(struct cta_slot *s, const struct sched_grid *g)
{
	const struct exec_env *e = &g->launch.env;
	u32 epoch = e->mem ? __atomic_load_n(&e->mem->epoch, __ATOMIC_ACQUIRE) : 0;

	if (s->epoch != epoch)
		memset(s->cta.gang[0].caches, 0,
		       sizeof(struct mem_cache) * s->program->cache_slots);
	s->epoch = epoch;
	s->env = *e;
	s->env.tid = s->tid;
	s->cta.launched = false;
	s->cta.diverged = true;
	for (u32 i = 0; i < s->cta.gangs; i++)
		s->cta.gang[i].uops = e->observer ? s->program->uop : e->uops;
	s->cta.print = s->program->prints ? &s->text : NULL;
	s->tells = s->program->prints || s->program->reads_clock;
	s->light = 0;
	let_fold(s);
}

struct cta_slot *slot_take(struct sched_grid *g)
{
	struct cta_slot *s;

	pthread_mutex_lock(&g->pool->lock);
	s = slot_cached_locked(g->pool, &g->launch.env);
	pthread_mutex_unlock(&g->pool->lock);
	if (!s)
		s = slot_make(&g->launch.env);
	if (s)
		slot_adopt(s, g);
	return s;
}

void exec_count_add(struct exec_count *to, const struct exec_count *from)
{
	to->lanes += from->lanes;
	to->warps += from->warps;
	to->all += from->all;
	to->others += from->others;
	to->none += from->none;
	to->mask |= from->mask;
	to->missing = from->missing > to->missing ? from->missing : to->missing;
}

void slot_gather(const struct slot_list *l, struct exec_count *to)
{
	for (struct cta_slot *first = l->first; first; first = first->next)
		for (struct cta_slot *s = first; s; s = s->mate) {
			struct exec_count *from = s->cta.gang[0].counts;

			for (u32 i = 0; i < s->program->counts; i++)
				exec_count_add(&to[i], &from[i]);
			memset(from, 0, sizeof(*from) * s->program->counts);
		}
}

static bool too_many(const struct slot_list *l)
{
	return l->len > SLOTS_CACHED &&
	       (l->len > SLOTS_CACHED_MAX || l->bytes > SLOTS_CACHED_BYTES);
}

void slot_return_locked(struct sched_pool *p, struct slot_list *list)
{
	struct cta_slot *s;

	while ((s = slot_pop(list))) {
		slot_part(&p->slots, s);
		while (too_many(&p->slots))
			slot_free(slot_pop(&p->slots));
	}
}
