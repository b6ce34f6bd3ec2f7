/*
 * One worker's share of a grid: which CTA is begun next, time slices of resident CTAs, and when the
 * share is left to other workers.
 */
#include "src/base/clock.h"
#include "src/exec/fpenv.h"
#include "src/exec/observer.h"
#include "src/sched/sched_int.h"

#include <sched.h>

/*
 * Units that have ended are counted in the grid now and then: here, and when a share is left.
 */
void share_report(struct share *h)
{
	__atomic_fetch_sub(&h->grid->left, h->finished, __ATOMIC_ACQ_REL);
	h->finished = 0;
}

/* ---- beginning CTAs ---- */

static bool take_piece(struct share *h, struct share *from, u64 max)
{
	u64 n = (from->end - from->next) / 16;

	n = n < 1 ? 1 : n > max ? max : n;
	if (from->next == from->end)
		return false;
	h->chunk = from->next;
	h->chunk_end = from->next += n;
	return true;
}

static struct share *largest(struct sched_grid *g)
{
	struct share *best = &g->share[0];

	for (u32 i = 1; i < g->shares; i++)
		if (g->share[i].end - g->share[i].next > best->end - best->next)
			best = &g->share[i];
	return best;
}

static struct share *foremost(struct sched_grid *g)
{
	struct share *best = &g->share[0];

	for (u32 i = 1; i < g->shares; i++) {
		struct share *h = &g->share[i];

		if (h->next < h->end && (best->next == best->end || h->next < best->next))
			best = h;
	}
	return best;
}

/* Next CTAs for a share: from its range, or half of the largest; one by one from the front when the
 * order matters. */
static bool take_chunk(struct share *h)
{
	struct sched_grid *g = h->grid;
	struct share *victim;
	bool ok;
	u64 half;

	/* From the only share no other takes: what is left of it is known without the lock. */
	if (g->shares == 1 && h->next == h->end) {
		h->dry = true;
		return false;
	}
	pthread_mutex_lock(&g->lock);
	if (g->ordered) {
		ok = take_piece(h, foremost(g), 1);
	} else {
		if (h->next == h->end) {
			victim = largest(g);
			half = (victim->end - victim->next + 1) / 2;
			h->end = victim->end;
			h->next = victim->end -= half;
		}
		ok = take_piece(h, h, CHUNK_MAX);
	}
	if (ok && h->chunk < h->print_floor)
		h->print_floor = h->chunk;
	if (!ok && !h->waiting.len)
		h->print_floor = UINT64_MAX;
	pthread_mutex_unlock(&g->lock);
	h->dry = !ok;
	if (ok) {
		share_report(h);
		grid_check_deadline(g);
	}
	return ok;
}

static bool share_has_unstarted(struct share *h)
{
	return h->chunk < h->chunk_end || (!h->dry && take_chunk(h));
}

/* Coordinates of a unit; of the one after the last, as is the rule, without a division. */
static void set_id(struct share *h, u64 number)
{
	const u32 *n = h->grid->unit_grid;
	u32 x = h->id[0] + 1;

	if (PL_UNLIKELY(number != h->started || !number || x >= n[0])) {
		u64 rows = number / n[0];

		x = (u32)(number % n[0]);
		h->id[1] = (u32)(rows % n[1]);
		h->id[2] = (u32)(rows / n[1]);
	}
	h->started = number + 1;
	h->id[0] = x;
}

/* The first coordinate was stored just now: apart from the others, that it can be forwarded. */
static void copy_id(struct cta *c, const struct share *h)
{
	c->id[0] = h->id[0];
	memcpy(&c->id[1], &h->id[1], 2 * sizeof(u32));
}

/* Slots for the CTAs of a unit, the first one with the others on it. NULL: no memory. */
static struct cta_slot *share_take_slots(struct share *h)
{
	struct sched_grid *g = h->grid;
	struct cta_slot *first = NULL, **at = &first;

	for (u32 r = 0; r < g->unit_ctas; r++) {
		struct cta_slot *s = slot_pop(&h->idle);

		if (!s)
			s = slot_take(g);
		if (!s) {
			slot_part(&h->idle, first);
			return NULL;
		}
		s->mate = NULL;
		*at = s;
		at = &s->mate;
	}
	return first;
}

/* A CTA of the unit that begins, by its rank: x runs fastest. */
static void start_cta(struct share *h, struct cta *c, u32 rank)
{
	const struct exec_env *e = &h->grid->launch.env;
	u32 rest = rank;

	for (u32 i = 0; i < 3; i++) {
		u32 d = e->cluster[i] ? e->cluster[i] : 1;

		c->id[i] = h->id[i] * d + rest % d;
		rest /= d;
	}
	c->number = c->id[0] + (u64)e->grid[0] * (c->id[1] + (u64)e->grid[1] * c->id[2]);
	exec_cta_start(c);
}

static void start_unit(struct share *h, struct cta_slot *first)
{
	struct cluster *cl = h->grid->unit_ctas > 1 ? &first->cluster : NULL;
	u32 r = 0;

	if (cl)
		*cl = (struct cluster){.size = h->grid->unit_ctas};
	for (struct cta_slot *s = first; s; s = s->mate, r++) {
		if (cl)
			cl->cta[r] = &s->cta;
		s->cta.cluster = cl;
		s->cta.rank = r;
		s->cta.used_up = s->cta.polled = false;
		s->light = 0;
		s->had_slice = s->is_long = false;
		start_cta(h, &s->cta, r);
	}
}

/* A CTA that is a unit of its own. */
static void start_alone(struct share *h, struct cta_slot *s, u64 number)
{
	struct cta *c = &s->cta;

	copy_id(c, h);
	c->number = number;
	c->cluster = NULL;
	c->rank = 0;
	s->light = 0;
	s->had_slice = s->is_long = false;
	exec_cta_start(c);
}

/* Number of the unit that begins next. */
static u64 next_number(struct share *h)
{
	const struct sched_grid *g = h->grid;
	u64 number = h->chunk++;

	if (g->multiplier)
		number = (u64)(((unsigned __int128)number * g->multiplier + g->offset) % g->units);
	return number;
}

/* CTAs that are begun without asking, at most, where those before had something to do. */
#define PAUSE_MAX 63u

/*
 * Pass over the CTA that is to begin, and those after it in the piece, if they have nothing to do.
 * False: it has to be run. Observers get all of them.
 */
static bool pass_idle(struct share *h, struct cta_slot *s, u64 number)
{
	const struct sched_grid *g = h->grid;
	u64 most = min_u64(h->chunk_end - h->chunk + 1, g->unit_grid[0] - h->id[0]), n;

	if (g->unit_ctas > 1 || exec_is_observed(&s->env))
		return false;
	if (h->pause) {
		h->pause--;
		return false;
	}
	copy_id(&s->cta, h);
	n = exec_cta_idle(&s->cta, g->multiplier ? 1 : most);
	if (!n) {
		h->busy_run = h->busy_run < PAUSE_MAX ? 2 * h->busy_run + 1 : PAUSE_MAX;
		h->pause = h->busy_run;
		return false;
	}
	h->busy_run = 0;
	h->chunk += n - 1;
	h->id[0] += (u32)n - 1;
	h->started = number + n;
	h->finished += n;
	h->since_retry += (u32)n;
	h->progress = true;
	return true;
}

/* Begin a unit whose CTAs have something to do. NULL: none was left in the piece, or no memory. */
static struct cta_slot *begin_unit(struct share *h)
{
	struct sched_grid *g = h->grid;
	struct cta_slot *s = share_take_slots(h);
	u64 number;

	if (!s) {
		struct fault f = {.kind = FAULT_UNSUPPORTED,
				  .text = "the host has no memory for a further CTA"};

		if (h->waiting.len)
			h->target = h->limit = h->waiting.len;
		else
			grid_fail(g, &f);
		return NULL;
	}
	number = next_number(h);
	set_id(h, number);
	while (g->launch.env.program->may_be_idle && pass_idle(h, s, number)) {
		if (h->chunk == h->chunk_end) {
			slot_part(&h->idle, s);
			return NULL;
		}
		number = next_number(h);
		set_id(h, number);
	}
	s->place = h->chunk - 1;
	for (struct cta_slot *m = s; m; m = m->mate)
		m->cta.place = s->place;
	if (g->unit_ctas == 1)
		start_alone(h, s, number);
	else
		start_unit(h, s);
	return s;
}

/* ---- time slices ---- */

/* After a piece of CTAs that had nothing to do: the next one, unless others wait for the worker. */
static bool may_go_on(const struct share *h)
{
	const struct sched_grid *g = h->grid;

	return !__atomic_load_n(&g->stop, __ATOMIC_RELAXED) &&
	       (!h->waiting.len || h->since_retry < RETRY_EVERY) && h->waiting.len < h->target &&
	       __atomic_load_n(&g->pool->grid_len, __ATOMIC_RELAXED) <= 1;
}

/*
 * Which CTA has its time slice now: a new one while that is allowed and none has waited long, else
 * the longest waiting.
 */
static struct cta_slot *share_pick(struct share *h)
{
	struct cta_slot *s;

	if ((!h->waiting.len || h->since_retry < RETRY_EVERY) && h->waiting.len < h->target &&
	    share_has_unstarted(h)) {
		do
			s = begin_unit(h);
		while (!s && may_go_on(h) && share_has_unstarted(h));
		if (s || !h->waiting.len)
			return s;
	}
	h->since_retry = 0;
	/* Another order in each round of a seeded run; in a round all have their time slices. */
	if (h->random && h->grid->multiplier && h->waiting.len > 1 && !h->round)
		for (u64 n = sched_random(&h->random) % 8 % h->waiting.len; n; n--)
			slot_push(&h->waiting, slot_pop(&h->waiting));
	return slot_pop(&h->waiting);
}

/*
 * Let the host run others, who may be what the CTAs wait for: of all workers of the grid one, now
 * and then.
 */
static void yield_host(struct sched_grid *g, u64 now)
{
	if (now - __atomic_load_n(&g->yielded_ns, __ATOMIC_RELAXED) < YIELD_NS)
		return;
	__atomic_store_n(&g->yielded_ns, now, __ATOMIC_RELAXED);
	sched_yield();
}

/* ---- shares that only wait ---- */

/*
 * Where CTAs of several workers wait for each other, what one waits for is often with a worker that
 * has no core, and a worker that spins keeps it from getting one; and where they hand each other
 * something small, a worker alone is as quick as many. So a share whose CTAs only wait is left, and
 * served from time to time by those who are awake (find_share in pool.c); the last worker of a grid
 * goes on and serves all of its shares in turn.
 */
static void watch_round(struct share *h, u64 now)
{
	const struct sched_pool *p = h->grid->pool;
	u64 took = now - h->round_ns;

	if (h->grid->shares == 1 || __atomic_load_n(&p->thread_len, __ATOMIC_RELAXED) < 2)
		return;
	if (h->round_ns && (!h->shortest_ns || took < h->shortest_ns))
		h->shortest_ns = took;
	if (h->progress || !h->worked_ns || (h->round_ns && took > 2 * h->shortest_ns + WORK_NS))
		h->worked_ns = now;
	h->round_ns = now;
	h->waits = now - h->worked_ns > (p->workers > p->cores ? 0 : SPIN_NS);
}

/* Others may have to be served, or this share by others: is it time to leave it? */
static bool is_left(const struct share *h)
{
	const struct sched_grid *g = h->grid;

	return !h->round && (h->waits || __atomic_load_n(&g->waits, __ATOMIC_RELAXED));
}

/*
 * All waiting CTAs had a time slice. When all of them only waited, or none has ended for long, as
 * loops may wait that do not look so: let more of them in, in their order.
 */
static void next_round(struct share *h)
{
	u64 now = clock_ns();

	h->round = 0;
	h->still = h->progress ? 0 : h->still + 1;
	probe_consider(h, now);
	watch_round(h, now);
	if (!h->progress || ++h->stale >= STALE_ROUNDS) {
		h->stale = 0;
		if (h->target < h->limit)
			h->target = h->target * 2 < h->limit ? h->target * 2 : h->limit;
		pthread_mutex_lock(&h->grid->lock);
		h->grid->ordered = true;
		pthread_mutex_unlock(&h->grid->lock);
		yield_host(h->grid, now);
	}
	h->progress = false;
}

static bool used_up(const struct cta_slot *s)
{
	return s->cta.cluster ? s->cluster.used_up : s->cta.used_up;
}

static bool polled(const struct cta_slot *s)
{
	return s->cta.cluster ? s->cluster.polled : s->cta.polled;
}

static void wait_slice(struct share *h, struct cta_slot *s)
{
	s->light = 0;
	s->is_long = true;
	h->progress |= used_up(s) && !polled(s);
	slot_push(&h->waiting, s);
	grid_check_deadline(h->grid);
	if (++h->round >= h->waiting.len)
		next_round(h);
}

enum exec_stop slot_run_slice(struct cta_slot *s, s32 budget)
{
	enum exec_stop stop;

	if (used_up(s) && polled(s) && budget > POLL_BUDGET)
		budget = POLL_BUDGET;
	do
		stop = s->cta.cluster ? exec_cluster_run(&s->cluster, budget)
				      : exec_cta_run(&s->cta, budget);
	while (stop == STOP_YIELD && !used_up(s) && ++s->light < LIGHT_YIELDS &&
	       !__atomic_load_n(s->env.cancel, __ATOMIC_RELAXED));
	return stop;
}

/*
 * What a time slice is depends on the launch and the CTA alone, not on the worker, and so does the
 * result.
 */
static enum exec_stop share_run_slice(const struct sched_grid *g, struct cta_slot *s)
{
	s32 budget = s->had_slice || !g->is_small ? SLICE_BUDGET : INLINE_BUDGET;

	s->had_slice = true;
	return slot_run_slice(s, budget);
}

struct cta_slot *grid_take_unit(struct sched_grid *g)
{
	return share_take_slots(&g->share[0]);
}

void grid_start_unit(struct sched_grid *g, struct cta_slot *s, u64 number)
{
	struct share *h = &g->share[0];

	set_id(h, number);
	s->place = number;
	if (g->unit_ctas == 1)
		start_alone(h, s, number);
	else
		start_unit(h, s);
}

struct cta_slot *grid_begin_unit(struct sched_grid *g, u64 place)
{
	struct share *h = &g->share[0];

	h->chunk = place;
	h->chunk_end = place + 1;
	h->pause = 0;
	return begin_unit(h);
}

/* What few units have to say at their end. */
static void tell_end(struct share *h, struct cta_slot *s)
{
	/* Progress shows each CTA of a long launch; for short ones that would cost too much. */
	if (s->is_long)
		share_report(h);
	for (const struct cta_slot *m = s; m; m = m->mate)
		grid_clock_note(h->grid, &m->cta);
	if (s->cta.print)
		prints_after_slice(h, s);
}

u32 share_settle(struct share *h, struct cta_slot *s, enum exec_stop stop)
{
	struct cta *c;

	switch (stop) {
	case STOP_DONE:
		h->finished++;
		h->progress = h->ended = true;
		h->stale = 0;
		h->since_retry++;
		if (s->is_long | s->tells)
			tell_end(h, s);
		slot_part(&h->idle, s);
		if (PL_UNLIKELY(h->grid->launch.env.first != NULL))
			turns_after_slice(h);
		return 1;
	case STOP_FAULT:
		c = s->cta.cluster ? s->cluster.cta[s->cluster.faulted] : &s->cta;
		memcpy(c->fault.ctaid, c->id, sizeof(c->id));
		grid_fail(h->grid, &c->fault);
		slot_push(&h->waiting, s);
		return STINT;
	default:
		wait_slice(h, s);
		if (s->cta.print)
			prints_after_slice(h, s);
		if (PL_UNLIKELY(h->grid->launch.env.first != NULL))
			turns_after_slice(h);
		return STINT;
	}
}

bool share_is_open(const struct share *h)
{
	return !h->busy && (!h->dry || h->waiting.len);
}

/* Deterministic: others run before a grid that may be waiting for them, after a counted time. */
static bool has_stalled(struct share *h)
{
	struct sched_grid *g = h->grid;

	if (!g->launch.env.program->polls)
		return false;
	if (++h->slices < ORDERED_SLICES && (h->still < ORDERED_ROUNDS || h->target < h->limit))
		return false;
	h->slices = h->still = 0;
	__atomic_store_n(&g->stalled, true, __ATOMIC_RELAXED);
	return true;
}

/*
 * Has a calling thread been at it for long? Asked after 1, 2, 4, 8 .. CTAs, as many are short; not
 * where the order of CTAs may not depend on time.
 */
static bool is_slow_here(u32 ended, u64 began)
{
	return began && !(ended & (ended - 1)) && clock_ns() - began > INLINE_NS;
}

void share_work(struct share *h, bool once)
{
	struct sched_grid *g = h->grid;
	bool ordered = g->pool->options.deterministic;
	u32 used = 0, ended = 0, host_mode = fpenv_enter();
	bool may_spread = once && g->pool->workers > 1 && !g->pool->options.stable;
	u64 began = may_spread ? clock_ns() : 0;

	h->waits = false;
	h->round_ns = g->shares > 1 && h->waiting.len && !h->round ? clock_ns() : 0;
	while (!__atomic_load_n(&g->stop, __ATOMIC_RELAXED)) {
		struct cta_slot *s = share_pick(h);
		enum exec_stop stop;

		if (!s)
			break;
		stop = share_run_slice(g, s);
		used += share_settle(h, s, stop);
		if (once && (stop == STOP_YIELD || is_slow_here(++ended, began)))
			break;
		if (PL_UNLIKELY(stop == STOP_YIELD) && (ordered ? has_stalled(h) : is_left(h)))
			break;
		if (__atomic_load_n(&g->pause, __ATOMIC_RELAXED))
			break;
		if (used >= STINT && !ordered &&
		    __atomic_load_n(&g->pool->grid_len, __ATOMIC_RELAXED) > 1)
			break;
	}
	fpenv_leave(host_mode);
	share_report(h);
}
