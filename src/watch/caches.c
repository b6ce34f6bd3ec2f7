/*
 * Playing launches through the caches of a device: launches, and playing the CTAs that are resident
 * at once when all of them have ended.
 */
#include "src/watch/caches_int.h"

#include "src/cache/second.h"

#include <stdlib.h>

/* Bytes of traces from which on they go to a file. */
#define SPILL_FROM ((u64)256 << 20)
/* Of a thread, where there is no machine code. */
#define REGISTERS_UNKNOWN 32u

/* ---- playing ---- */

static u64 round_first(const struct caches_launch *l, u64 round)
{
	return round * l->resident * l->rules.sms;
}

static u64 round_len(const struct caches_launch *l)
{
	u64 first = round_first(l, l->round), len = l->resident * l->rules.sms;

	return first >= l->ctas ? 0 : min_u64(len, l->ctas - first);
}

/* An SM has no caches before its first CTA. */
static bool sm_begin(struct caches_launch *l, struct cache_sm *sm)
{
	if (sm->l1.index)
		return true;
	if (!cache_sm_init(sm, &l->rules.l1))
		return false;
	cache_sm_begin(sm);
	return true;
}

/* Shared memory of an SM while Nsight Compute flushes the caches. */
#define FLUSH_SMEM_BYTES ((u64)32 << 10)

/*
 * Launches that begin cold are those of a profiler, which repeats them: local memory is still there
 * from the time before, but on the SM where it flushed the caches, if that took another part of the
 * storage for shared memory.
 */
static bool finds_local(const struct caches_launch *l, u32 sm)
{
	return l->owner->counts_code && (sm || l->smem_bytes == FLUSH_SMEM_BYTES);
}

/* The traces of a round, by SM: those of SM i are t[first[i]] up to t[first[i + 1]]. */
struct round_traces {
	struct caches_launch *l;
	struct cache_trace **t;
	u32 *first;
};

/* Take an SM's traces of the launch's round. Returns how many there are. */
static u32 take_traces(struct caches_launch *l, u32 sm, struct cache_trace **t)
{
	u32 len = 0;

	for (u64 q = 0; q < l->resident; q++) {
		u64 cta = round_first(l, l->round) + q * l->rules.sms + sm;
		u64 *slot = cta < l->ctas ? map_get(&l->traces, cta + 1) : NULL;

		if (!slot)
			continue;
		t[len++] = (struct cache_trace *)(uintptr_t)*slot;
		map_remove(&l->traces, cta + 1);
	}
	return len;
}

static void start_sm(void *user, u32 sm, u32 member)
{
	const struct round_traces *r = user;
	struct caches_launch *l = r->l;
	struct cache_trace **t = r->t + r->first[sm];
	u32 len = r->first[sm + 1] - r->first[sm];

	(void)member;
	if (!len)
		return;
	if (!sm_begin(l, &l->sm[sm])) {
		l->sm[sm].is_cut = true;
		return;
	}
	if (!l->round && finds_local(l, sm))
		cache_leave_local(&l->sm[sm], t, len);
	cache_sm_start(&l->sm[sm], t, len);
}

static void stop_sm(void *user, u32 sm, u32 member)
{
	const struct round_traces *r = user;

	(void)member;
	cache_sm_stop(&r->l->sm[sm]);
	for (u32 i = r->first[sm]; i < r->first[sm + 1]; i++)
		cache_trace_clear(r->t[i]);
}

static bool ensure_second(struct caches_launch *l)
{
	struct cache_tally tally = {l->told, l->program->uops, l->places, l->owner->team};

	if (!l->second)
		l->second = second_new(l->l2, &tally);
	return l->second != NULL;
}

/* CTAs of a round from which on a team is worth while. */
#define TEAM_CTAS 64u

static void play_traces(struct caches_launch *l, struct round_traces *r, u32 sms)
{
	struct watch_caches *c = l->owner;
	struct team *team = r->first[sms] >= TEAM_CTAS ? c->team : NULL;

	pthread_mutex_lock(&c->second);
	team_run(team, sms, start_sm, r);
	l->l2->count = l->l2_counts;
	l->l2->rules.fetch_bytes = l->rules.l2.fetch_bytes;
	l->l2->window = l->window;
	l->l2->hints = &l->hints;
	l2_set_aside(l->l2, __atomic_load_n(&c->set_aside, __ATOMIC_RELAXED));
	cache_place_sms(l->sm, l->rules.sms, l->ctas, l->rules.l2.partitions);
	cache_play_round(l->second, l->sm, sms);
	l->l2_counts = l->l2->count;
	l->l2->hints = NULL;
	team_run(team, sms, stop_sm, r);
	pthread_mutex_unlock(&c->second);
}

static void play_launch_round(struct caches_launch *l)
{
	u32 sms = (u32)min_u64(l->rules.sms, round_len(l));
	struct round_traces r = {.l = l,
				 .t = malloc(round_len(l) * sizeof(struct cache_trace *)),
				 .first = malloc((sms + 1) * sizeof(u32))};

	if (r.t && r.first && ensure_second(l)) {
		r.first[0] = 0;
		for (u32 i = 0; i < sms; i++)
			r.first[i + 1] = r.first[i] + take_traces(l, i, r.t + r.first[i]);
		play_traces(l, &r, sms);
		for (u32 i = 0; i < r.first[sms]; i++)
			if (!VEC_PUSH(&l->spare, r.t[i]))
				cache_trace_free(r.t[i]);
	} else {
		l->is_cut = true;
	}
	free(r.t);
	free(r.first);
	l->round++;
}

/* ---- launches and CTAs ---- */

/* The launch is known from its first CTA on; with the lock held. */
static bool launch_ready(struct caches_launch *l, const struct cta *cta)
{
	const struct exec_env *e = cta->env;
	const struct arch *a = l->owner->arch;
	struct arch_use use = {.threads_per_cta = cta->threads,
			       .registers_per_thread = REGISTERS_UNKNOWN,
			       .smem_bytes = e->shared_bytes,
			       .carveout_percent = e->carveout_percent};
	struct watch_code code = {0};
	u64 smem_bytes;

	if (l->sm)
		return true;
	if (l->owner->code_of)
		l->owner->code_of(e, &code);
	if (code.registers)
		use.registers_per_thread = code.registers;
	arch_smem_config(a, &use, &smem_bytes);
	l->smem_bytes = smem_bytes;
	cache_rules_of(a, smem_bytes, &l->rules);
	if (e->fetch_bytes)
		l->rules.l2.fetch_bytes = e->fetch_bytes;
	l->window = l2_window_of(code.window, (u64)(uintptr_t)e->mem->arena);
	l->hints.origin = (u64)(uintptr_t)e->mem->arena;
	l->ctas = (u64)e->grid[0] * e->grid[1] * e->grid[2];
	l->resident = max_u64(code.resident ? code.resident : e->resident, 1);
	l->warps = cta->warps;
	l->code = code.bytes ? (struct code_size){code.bytes, code.constant_loads}
			     : watch_code_size(l->program);
	l->insn = calloc(l->program->uops, sizeof(*l->insn));
	if (l->owner->ended)
		l->told = calloc(l->program->uops, sizeof(*l->told));
	l->sm = calloc(l->rules.sms, sizeof(*l->sm));
	if (l->insn && l->sm) {
		if (l->owner->places_of)
			l->places = l->owner->places_of(l->owner->ended_user, e);
		return true;
	}
	free(l->sm);
	free(l->insn);
	free(l->told);
	l->sm = NULL;
	l->insn = NULL;
	l->told = NULL;
	return false;
}

/* Of the CTAs that run in this one's place; with the lock held. */
static struct cache_shapes *shapes_of(struct caches_launch *l, const struct cta *cta)
{
	u64 *slot = map_get(&l->shapes, map_key(cta));
	struct cache_shapes *s;

	if (slot)
		return (struct cache_shapes *)(uintptr_t)*slot;
	s = malloc(sizeof(*s));
	if (s && cache_shapes_init(s) && map_set(&l->shapes, map_key(cta), map_key(s)))
		return s;
	if (s)
		cache_shapes_fini(s);
	free(s);
	return NULL;
}

static struct cache_trace *begin_trace(struct caches_launch *l, const struct cta *cta)
{
	struct cache_shapes *shapes = shapes_of(l, cta);
	struct cache_trace *t = NULL;

	if (!shapes)
		return NULL;
	if (!l->spare.len) {
		t = cache_trace_new(cta->number, cta->warps, shapes);
	} else {
		t = l->spare.at[--l->spare.len];
		cache_trace_renew(t, cta->number, shapes);
	}
	if (t)
		t->spill = &l->owner->spill;
	if (!t || map_set(&l->traces, cta->number + 1, map_key(t)))
		return t;
	cache_trace_free(t);
	return NULL;
}

static void caches_cta_begin(void *user, const struct cta *cta)
{
	struct caches_launch *l = watch_caches_launch(user, cta->env->grid_id);
	struct cache_trace *t;

	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	t = launch_ready(l, cta) ? begin_trace(l, cta) : NULL;
	l->is_cut |= !t;
	pthread_mutex_unlock(&l->lock);
	watch_caches_see(l, cta, t);
}

/* CTAs of the round that have ended. */
static u64 count_over(const struct caches_launch *l)
{
	u64 n = 0;

	for (u64 i = 0; i < round_len(l); i++) {
		u64 *slot = map_get(&l->traces, round_first(l, l->round) + i + 1);

		n += slot && ((struct cache_trace *)(uintptr_t)*slot)->is_over;
	}
	return n;
}

static void caches_cta_end(void *user, const struct cta *cta)
{
	struct caches_launch *l;
	struct cache_trace *t = watch_caches_trace(user, cta, &l);

	watch_caches_forget();
	if (!t)
		return;
	pthread_mutex_lock(&l->lock);
	t->is_over = true;
	l->ended += cta->number / (l->resident * l->rules.sms) == l->round;
	while (round_len(l) && l->ended == round_len(l)) {
		play_launch_round(l);
		l->ended = count_over(l);
	}
	pthread_mutex_unlock(&l->lock);
}

/* Where all launches begin cold, those that run at a time have a second cache each. */
static void take_second(struct watch_caches *c, struct caches_launch *l)
{
	l->l2 = &c->l2;
	if (c->keeps_second)
		return;
	if (!c->l2_taken) {
		c->l2_taken = true;
		l2_reset(&c->l2);
	} else if (l2_init(&l->own, &c->l2.rules)) {
		l->l2 = &l->own;
	} else {
		l->is_cut = true;
		l->is_shared = true;
	}
}

static void give_second(struct watch_caches *c, struct caches_launch *l)
{
	if (l->l2 == &l->own)
		l2_fini(&l->own);
	else if (!l->is_shared)
		c->l2_taken = false;
}

static void caches_launch_begin(void *user, const struct program *p, u64 grid_id)
{
	struct watch_caches *c = user;
	struct caches_launch *l = calloc(1, sizeof(*l));

	pthread_mutex_lock(&c->lock);
	if (l && map_set(&c->launches, grid_id + 1, map_key(l))) {
		l->program = p;
		l->owner = c;
		pthread_mutex_init(&l->lock, NULL);
		take_second(c, l);
	} else {
		free(l);
		c->is_cut = true;
	}
	pthread_mutex_unlock(&c->lock);
}

/* What CTAs asked that a fault has kept from ending, too. */
static void play_rest(struct caches_launch *l)
{
	for (u64 i = 0; l->sm && l->traces.len && round_len(l); i++)
		play_launch_round(l);
}

static void free_records(struct caches_launch *l)
{
	for (size_t i = 0; i < l->traces.cap; i++)
		if (l->traces.slots[i].key)
			cache_trace_free((struct cache_trace *)(uintptr_t)l->traces.slots[i].value);
	for (size_t i = 0; i < l->spare.len; i++)
		cache_trace_free(l->spare.at[i]);
	for (size_t i = 0; i < l->shapes.cap; i++)
		if (l->shapes.slots[i].key) {
			struct cache_shapes *s =
				(struct cache_shapes *)(uintptr_t)l->shapes.slots[i].value;

			cache_shapes_fini(s);
			free(s);
		}
	map_fini(&l->traces);
	map_fini(&l->shapes);
	VEC_FREE(&l->spare);
}

static void count_code(const struct caches_launch *l, struct cache_counts *n)
{
	const struct watch_parameters p = {
		.loads = l->code.constant_loads,
		.lines = (l->program->param_bytes + CONSTANT_LINE_BYTES - 1) / CONSTANT_LINE_BYTES,
		.sms = l->rules.sms,
		.warps = l->warps,
		.ctas = l->ctas,
		.resident = l->resident,
	};

	watch_parameter_requests(&p, &n->constant_hit, &n->constant_miss);
	if (!l->owner->counts_code)
		return;
	n->code_sectors =
		(u64)l->owner->arch->launch_code_sectors + watch_code_sectors(l->code.bytes);
	n->l2.dram_read += n->code_sectors;
	if (l->rules.l2.partitions > 1) {
		u64 more = watch_parameter_sectors(l->program->param_bytes);

		n->l2.fabric[L2_READ] += more;
		n->l2.fabric_hit[L2_READ] += more;
		n->l2.fabric_requests[L2_READ] += more / CACHE_SECTORS;
		n->l2.fabric_request_hit[L2_READ] += more / CACHE_SECTORS;
	}
}

static void caches_launch_end(void *user, const struct program *p, u64 grid_id)
{
	struct watch_caches *c = user;
	struct caches_launch *l = watch_caches_launch(c, grid_id);
	struct cache_counts counts = {0};

	(void)p;
	if (!l)
		return;
	play_rest(l);
	second_free(l->second);
	counts.l2 = l->l2_counts;
	if (l->sm)
		count_code(l, &counts);
	for (u32 i = 0; l->sm && i < l->rules.sms; i++) {
		cache_counts_add(&counts, &l->sm[i].count);
		l->is_cut |= l->sm[i].is_cut;
	}
	pthread_mutex_lock(&c->lock);
	map_remove(&c->launches, grid_id + 1);
	c->is_cut |= l->is_cut;
	cache_counts_add(&c->counts, &counts);
	give_second(c, l);
	pthread_mutex_unlock(&c->lock);
	if (c->ended)
		c->ended(c->ended_user, grid_id, &counts, l->told, l->sm, l->places);
	for (u32 i = 0; l->sm && i < l->rules.sms; i++)
		cache_sm_fini(&l->sm[i]);
	free_records(l);
	pthread_mutex_destroy(&l->lock);
	free(l->sm);
	free(l->insn);
	free(l->told);
	cache_places_free(l->places);
	free(l);
}

bool watch_caches_init(struct watch_caches *c, const struct arch *a, bool keeps_second)
{
	static u64 serials;
	struct cache_rules rules;

	cache_rules_of(a, 0, &rules);
	*c = (struct watch_caches){.arch = a,
				   .keeps_second = keeps_second,
				   .serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED)};
	if (!l2_init(&c->l2, &rules.l2))
		return false;
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->second, NULL);
	cache_spill_init(&c->spill, SPILL_FROM);
	c->observer = (struct exec_observer){
		.user = c,
		.launch_begin = caches_launch_begin,
		.launch_end = caches_launch_end,
		.cta_begin = caches_cta_begin,
		.cta_end = caches_cta_end,
		.access = watch_caches_access,
		.each = 1u << MEM_GLOBAL | 1u << MEM_LOCAL | 1u << MEM_GENERIC,
		.every = true,
		.texture = watch_caches_texture,
		.fuses = true,
		.sync = watch_caches_sync,
		.hint = watch_caches_hint,
	};
	return true;
}

void watch_caches_share(struct watch_caches *c, u32 threads)
{
	if (threads > 1 && !c->team)
		c->team = team_new(threads);
}

void watch_caches_make_normal(struct watch_caches *c)
{
	pthread_mutex_lock(&c->second);
	l2_make_normal(&c->l2);
	pthread_mutex_unlock(&c->second);
}

void watch_caches_fini(struct watch_caches *c)
{
	l2_fini(&c->l2);
	team_free(c->team);
	cache_spill_fini(&c->spill);
	map_fini(&c->launches);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->second);
}
