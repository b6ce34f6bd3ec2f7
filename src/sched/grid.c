/*
 * One grid: making it, dealing its CTAs to shares, and what ends it. How a share runs its CTAs is
 * in share.c.
 */
#include "src/tier/tier.h"
#include "src/base/clock.h"
#include "src/mem/shared.h"
#include "src/sched/sched_int.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- making ---- */

static struct sched_grid *storage(struct sched_pool *p, const struct exec_env *e,
				  struct cta_slot **slot)
{
	struct sched_grid *g;

	pthread_mutex_lock(&p->lock);
	g = p->spare;
	if (g) {
		p->spare = g->next;
		p->spare_len--;
	}
	*slot = slot_cached_locked(p, e);
	pthread_mutex_unlock(&p->lock);
	if (g)
		return g;
	g = calloc(1, sizeof(*g) + sizeof(struct share) * p->workers);
	if (g) {
		pthread_mutex_init(&g->lock, NULL);
		pthread_mutex_init(&g->print_lock, NULL);
	}
	return g;
}

void grid_free(struct sched_grid *g)
{
	if (!g)
		return;
	pthread_mutex_destroy(&g->lock);
	pthread_mutex_destroy(&g->print_lock);
	free(g->waiters);
	free(g);
}

static u64 gcd(u64 a, u64 b)
{
	while (b) {
		u64 t = a % b;

		a = b;
		b = t;
	}
	return a;
}

/* An order of CTAs that depends on the seed and on the launch's place. */
static void permute(struct sched_grid *g, u64 seed)
{
	u64 state = seed * 0x9e3779b97f4a7c15u + 1;

	for (u32 i = 0; i < 4; i++)
		sched_random(&state);
	g->offset = sched_random(&state) % g->units;
	do
		g->multiplier = sched_random(&state) % g->units;
	while (gcd(g->multiplier, g->units) != 1);
	if (!g->multiplier)
		g->multiplier = 1;
}

u64 grid_resident_units(const struct sched_grid *g)
{
	const struct sched_launch *l = &g->launch;
	s32 sms = l->env.program->arch ? l->env.program->arch->sms : 1;
	u64 resident =
		(u64)(l->resident_per_sm ? l->resident_per_sm : 1) * (u32)(sms > 0 ? sms : 1);

	if (g->unit_ctas == 1)
		return resident;
	return resident < g->unit_ctas ? 1 : resident / g->unit_ctas;
}

static void share_init(struct sched_grid *g, u32 index, u32 shares)
{
	const struct sched_launch *l = &g->launch;
	u64 units = grid_resident_units(g);
	struct share *h = &g->share[index];

	memset(h, 0, sizeof(*h));
	h->grid = g;
	h->index = index;
	slot_list_init(&h->idle);
	slot_list_init(&h->waiting);
	h->target = l->cooperative ? UINT32_MAX : 1;
	h->limit = l->cooperative ? UINT32_MAX
				  : (u32)min_u64((units + shares - 1) / shares, UINT32_MAX / 2);
	h->random = (g->seed + index) * 0x9e3779b97f4a7c15u + 1;
}

static void deal(struct sched_grid *g, u64 first, u64 end)
{
	u64 n = end - first, at = first;

	for (u32 i = 0; i < g->shares; i++) {
		g->share[i].next = at;
		g->share[i].print_floor = at;
		at += n / g->shares + (i < n % g->shares);
		g->share[i].end = at;
	}
}

/* Workers beyond the number of units have none to begin with. */
static u32 most_shares(const struct sched_grid *g)
{
	return g->single ? 1 : (u32)min_u64(g->pool->workers, g->units);
}

void grid_spread(struct sched_grid *g)
{
	struct share *h = &g->share[0];
	u64 first = h->chunk < h->chunk_end ? h->chunk : h->next, floor = h->print_floor;
	u32 shares = most_shares(g);

	if (shares == 1)
		return;
	for (u32 i = 1; i < shares; i++)
		share_init(g, i, shares);
	g->shares = shares;
	h->limit = (h->limit + shares - 1) / shares;
	h->chunk = h->chunk_end = 0;
	deal(g, first, h->end);
	h->print_floor = floor; /* some wait already */
}

static void count_units(struct sched_grid *g)
{
	const struct exec_env *e = &g->launch.env;

	g->units = g->unit_ctas = 1;
	for (u32 i = 0; i < 3; i++) {
		u32 d = e->cluster[i] ? e->cluster[i] : 1;

		g->unit_grid[i] = e->grid[i] / d;
		g->units *= g->unit_grid[i];
		g->unit_ctas *= d;
	}
}

bool grid_is_small(const struct sched_launch *l)
{
	const struct exec_env *e = &l->env;
	u64 ctas = (u64)e->grid[0] * e->grid[1] * e->grid[2],
	    warps = ((u64)e->block[0] * e->block[1] * e->block[2] + WARP_LANES - 1) / WARP_LANES,
	    insns = e->program->thread_insns ? e->program->thread_insns : e->program->uops;

	return ctas == 1 || (ctas <= INLINE_WORK && ctas * (warps * insns + 64) <= INLINE_WORK);
}

struct sched_grid *grid_new(struct sched_pool *p, const struct sched_launch *launch, bool alone)
{
	struct cta_slot *slot;
	struct sched_grid *g = storage(p, &launch->env, &slot);

	if (!g) {
		slot_free(slot);
		return NULL;
	}
	g->pool = p;
	g->next = NULL;
	g->launch = *launch;
	g->launch.env.cancel = &g->stop;
	g->launch.env.concurrent = p->workers > 1 || mem_had_others(launch->env.mem);
	g->launch.env.keeps_assertions = true;
	count_units(g);
	turns_begin(g);
	g->left = g->units;
	g->stop = 0;
	g->busy = g->waits = 0;
	g->pause = 0;
	g->probe_late = false;
	g->ordered = g->faulted = g->stalled = false;
	g->deadline = p->options.timeout_ms ? clock_ns() + p->options.timeout_ms * 1000000u : 0;
	g->multiplier = g->offset = g->seed = 0;
	g->fault.kind = FAULT_NONE;
	g->waiter_len = 0;
	g->waiter_total = 0;
	g->print_serial = 0;
	grid_clock_begin(g);
	if (p->options.seed) {
		g->seed = sched_mix(p->options.seed, launch->place);
		permute(g, g->seed);
		g->launch.env.seed = g->seed;
	}
	g->launch.env.uops = p->debug ? launch->env.program->uop : tier_begin(&g->launch.env);
	g->shares = alone ? 1 : most_shares(g);
	for (u32 i = 0; i < g->shares; i++)
		share_init(g, i, g->shares);
	deal(g, 0, g->units);
	if (slot) {
		slot_adopt(slot, g);
		slot_push(&g->share[0].idle, slot);
	}
	return g;
}

/* ---- ending ---- */

void grid_fail(struct sched_grid *g, const struct fault *fault)
{
	pthread_mutex_lock(&g->lock);
	if (!g->faulted) {
		g->faulted = true;
		g->fault = *fault;
	}
	pthread_mutex_unlock(&g->lock);
	__atomic_store_n(&g->stop, 1, __ATOMIC_RELEASE);
}

bool grid_is_over(const struct sched_grid *g)
{
	return !__atomic_load_n(&g->left, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&g->stop, __ATOMIC_ACQUIRE);
}

static void fail_late(struct sched_grid *g)
{
	struct fault f = {.kind = FAULT_TIMEOUT};

	snprintf(f.text, sizeof(f.text), "the launch ran for more than %llu ms",
		 (unsigned long long)g->pool->options.timeout_ms);
	grid_fail(g, &f);
}

void grid_check_deadline(struct sched_grid *g)
{
	if (PL_UNLIKELY(g->deadline) && clock_ns() >= g->deadline)
		fail_late(g);
}
