/*
 * The pool: persistent threads, which grid and share a thread works on, the way in and out of
 * grids.
 */
#include "src/base/clock.h"
#include "src/base/cgroup.h"
#include "src/base/stats.h"
#include "src/mem/guard.h"
#include "src/sched/sched_int.h"
#include "src/sched/steer/steer.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORKERS_MAX 1024u

/* That the process may use: by its affinity, and by the quota of a container. */
static u32 host_cores(void)
{
	u32 allowed = cgroup_cpus(&cgroup_of_process), n = 1;
	cpu_set_t set;

	if (!sched_getaffinity(0, sizeof(set), &set))
		n = (u32)CPU_COUNT(&set);
	return allowed && allowed < n ? allowed : n;
}

static void init_conds(struct sched_pool *p)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&p->work, &monotonic);
	pthread_cond_init(&p->quiet, NULL);
	pthread_condattr_destroy(&monotonic);
}

struct sched_pool *sched_pool_new(const struct sched_options *options)
{
	struct sched_pool *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->options = *options;
	p->cores = host_cores();
	p->workers = options->deterministic ? 1 : options->workers ? options->workers : p->cores;
	if (p->workers > WORKERS_MAX)
		p->workers = WORKERS_MAX;
	pthread_mutex_init(&p->lock, NULL);
	pthread_mutex_init(&p->only, NULL);
	pthread_mutex_init(&p->rest_lock, NULL);
	init_conds(p);
	slot_list_init(&p->slots);
	if (options->schedule && !sched_steer(p)) {
		sched_pool_free(p);
		return NULL;
	}
	return p;
}

/* ---- ends of grids ---- */

/* Slots go back to the cache, and the grid, unless its end is still to be read. pool->lock held. */
static bool recycle_locked(struct sched_pool *p, struct sched_grid *g)
{
	for (u32 i = 0; i < g->shares; i++) {
		slot_return_locked(p, &g->share[i].idle);
		slot_return_locked(p, &g->share[i].waiting);
	}
	if (g->faulted || p->spare_len >= GRIDS_CACHED)
		return false;
	g->next = p->spare;
	p->spare = g;
	p->spare_len++;
	return true;
}

/*
 * Notify the caller. No worker is in the grid any more, and it is in no list. The caller may free
 * the program in `done`.
 */
static void conclude(struct sched_pool *p, struct sched_grid *g)
{
	void (*done)(void *user, const struct sched_end *end) = g->launch.done;
	void *user = g->launch.user;
	struct sched_end end = {0};
	bool kept;

	grid_clock_end(g);
	if (g->faulted) {
		end.fault = &g->fault;
		end.unstarted = grid_unstarted(g);
		if (g->fault.kind == FAULT_DEADLOCK || g->fault.kind == FAULT_TIMEOUT)
			grid_collect_waiters(g, &end);
		grid_end_assertions(g);
	}
	if (g->launch.env.program->prints)
		prints_end(g);
	for (u32 i = 0; g->launch.counts && i < g->shares; i++) {
		slot_gather(&g->share[i].idle, g->launch.counts);
		slot_gather(&g->share[i].waiting, g->launch.counts);
	}
	for (u32 i = 0; g->launch.env.observer && i < g->shares; i++) {
		slot_tell_folds(&g->share[i].idle);
		slot_tell_folds(&g->share[i].waiting);
	}
	pthread_mutex_lock(&p->lock);
	kept = recycle_locked(p, g);
	pthread_mutex_unlock(&p->lock);
	if (PL_UNLIKELY(p->on_end))
		p->on_end(p->on_end_user);
	if (done)
		done(user, &end);
	if (!kept)
		grid_free(g);
	__atomic_fetch_sub(&p->alive, 1, __ATOMIC_RELEASE);
}

static void unlink_locked(struct sched_pool *p, struct sched_grid *g)
{
	struct sched_grid **at = &p->grids;

	while (*at != g)
		at = &(*at)->next;
	*at = g->next;
	__atomic_fetch_sub(&p->grid_len, 1, __ATOMIC_RELAXED);
}

/* ---- workers ---- */

/*
 * The share that has waited longest. One whose CTAs only waited (share.c) is for those who work on
 * the grid anyway, unless none does, or not soon enough.
 */
static struct share *open_share(struct sched_grid *g, u64 now)
{
	struct share *best = NULL;

	for (u32 i = 0; i < g->shares; i++) {
		struct share *h = &g->share[i];

		if (share_is_open(h) && (!h->waits || !g->busy || now - h->left_ns > DOZE_NS) &&
		    (!best || h->served < best->served))
			best = h;
	}
	return best;
}

/* Grids alternate; the list is short. *waits: some share is left to others for now. */
static struct share *find_share(struct sched_pool *p, bool *waits)
{
	u32 n = p->grid_len, skip = n ? p->turn % n : 0;
	struct sched_grid *g = p->grids;
	struct share *h;

	*waits = false;
	for (u32 i = 0; i < skip; i++)
		g = g->next;
	for (u32 i = 0; i < n; i++) {
		u64 now = g->waits ? clock_ns() : 0;

		h = grid_is_over(g) || __atomic_load_n(&g->pause, __ATOMIC_ACQUIRE)
			    ? NULL
			    : open_share(g, now);
		*waits |= g->waits != 0;
		if (h) {
			p->turn = skip + i + 1;
			return h;
		}
		g = g->next ? g->next : p->grids;
	}
	return NULL;
}

static void serve_share(struct sched_pool *p, struct share *h)
{
	u64 began;

	if (p->workers == 1)
		pthread_mutex_lock(&p->only);
	began = stats_begin();
	share_work(h, false);
	stats_end(STATS_EXECUTE, began, 0);
	if (p->workers == 1)
		pthread_mutex_unlock(&p->only);
}

/* pool->lock held, and again on return. */
static void finish_locked(struct sched_pool *p, struct sched_grid *g)
{
	unlink_locked(p, g);
	pthread_mutex_unlock(&p->lock);
	conclude(p, g);
	pthread_mutex_lock(&p->lock);
}

/* Hand back; the last one out of a grid that is over concludes it. pool->lock held, and again on
 * return. */
static void leave_share(struct sched_pool *p, struct share *h)
{
	struct sched_grid *g = h->grid;

	h->busy = false;
	h->served = ++p->served;
	g->busy--;
	if (h->waits) {
		h->left_ns = clock_ns();
		__atomic_fetch_add(&g->waits, 1, __ATOMIC_RELAXED);
	}
	if (!g->busy)
		grid_pause_locked(g);
	if (g->busy || !grid_is_over(g)) {
		if (p->sleeping && !h->waits && share_is_open(h))
			pthread_cond_signal(&p->work);
		return;
	}
	finish_locked(p, g);
}

/* A grid that was cancelled while no thread worked on it. */
static struct sched_grid *find_over(const struct sched_pool *p)
{
	for (struct sched_grid *g = p->grids; g; g = g->next)
		if (!g->busy && grid_is_over(g))
			return g;
	return NULL;
}

static struct timespec in_ns(u64 ns)
{
	u64 at = clock_ns() + ns;

	return (struct timespec){(time_t)(at / 1000000000u), (long)(at % 1000000000u)};
}

/*
 * Until there is work; or `doze`, some time, the longer the more threads do so. pool->lock held,
 * released temporarily.
 */
static void sleep_locked(struct sched_pool *p, bool doze)
{
	struct timespec until;

	p->sleeping++;
	if (doze) {
		until = in_ns((u64)DOZE_NS * ++p->dozing);
		pthread_cond_timedwait(&p->work, &p->lock, &until);
		p->dozing--;
	} else {
		pthread_cond_wait(&p->work, &p->lock);
	}
	p->sleeping--;
}

/* pool->lock held. */
static void take_locked(struct share *h)
{
	h->busy = true;
	h->grid->busy++;
	if (h->waits)
		__atomic_fetch_sub(&h->grid->waits, 1, __ATOMIC_RELAXED);
}

static void *worker(void *arg)
{
	struct sched_pool *p = arg;

	mem_guard_inside = 1;
	pthread_mutex_lock(&p->lock);
	while (!p->quit) {
		bool waits;
		struct share *h = find_share(p, &waits);
		struct sched_grid *over = h ? NULL : find_over(p);

		if (over) {
			finish_locked(p, over);
			continue;
		}
		if (!h) {
			sleep_locked(p, waits);
			continue;
		}
		take_locked(h);
		pthread_mutex_unlock(&p->lock);
		serve_share(p, h);
		pthread_mutex_lock(&p->lock);
		leave_share(p, h);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* ---- the only worker of a deterministic pool ---- */

/* The oldest grid that may go on. */
static struct sched_grid *next_ordered(const struct sched_pool *p)
{
	struct sched_grid *g = p->grids;

	while (g && __atomic_load_n(&g->stalled, __ATOMIC_RELAXED))
		g = g->next;
	return g;
}

static void renew(struct sched_pool *p)
{
	for (struct sched_grid *g = p->grids; g; g = g->next)
		__atomic_store_n(&g->stalled, false, __ATOMIC_RELAXED);
}

static void stop_going(struct sched_pool *p)
{
	p->go = false;
	sched_wake(p, &p->quiet);
}

/* Until the program waits for something, or has been silent while grids wait for others. */
static void rest_ordered(struct sched_pool *p)
{
	struct timespec t = in_ns(ORDERED_IDLE_NS);

	if (p->go)
		stop_going(p);
	if (!p->grids) {
		pthread_cond_wait(&p->work, &p->lock);
		return;
	}
	if (pthread_cond_timedwait(&p->work, &p->lock, &t) == ETIMEDOUT && !p->go) {
		renew(p);
		p->go = true;
	}
}

/* pool->lock held, released temporarily. */
static void finish_ordered(struct sched_pool *p, struct sched_grid *g)
{
	if (g->debug) {
		pthread_mutex_unlock(&p->lock);
		debug_conclude(g);
		pthread_mutex_lock(&p->lock);
	}
	finish_locked(p, g);
	stop_going(p);
}

static void serve_ordered(struct sched_pool *p, struct share *h)
{
	if (p->debug)
		debug_work(h->grid);
	else
		serve_share(p, h);
}

static void *ordered_worker(void *arg)
{
	struct sched_pool *p = arg;

	pthread_mutex_lock(&p->lock);
	while (!p->quit) {
		struct sched_grid *over = find_over(p), *g = p->go ? next_ordered(p) : NULL;
		struct share *h = g ? &g->share[0] : NULL;

		if (over) {
			finish_ordered(p, over);
			continue;
		}
		if (!g) {
			rest_ordered(p);
			continue;
		}
		h->busy = true;
		g->busy++;
		pthread_mutex_unlock(&p->lock);
		serve_ordered(p, h);
		pthread_mutex_lock(&p->lock);
		h->busy = false;
		g->busy--;
		grid_pause_locked(g);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

bool sched_is_deterministic(const struct sched_pool *p)
{
	return p->options.deterministic;
}

/*
 * Let the worker run until it stops by itself. rests: the calling thread does nothing else until
 * something has ended. pool->lock held, released temporarily.
 */
static void let_go(struct sched_pool *p, bool rests)
{
	p->go = true;
	pthread_cond_broadcast(&p->work);
	while (p->go && !p->quit) {
		if (rests)
			sched_rest(p, &p->quiet, &p->lock);
		else
			pthread_cond_wait(&p->quiet, &p->lock);
	}
}

void sched_settle(struct sched_pool *p)
{
	if (!p->options.deterministic)
		return;
	pthread_mutex_lock(&p->lock);
	while (next_ordered(p) && !p->quit)
		let_go(p, false);
	pthread_mutex_unlock(&p->lock);
}

static bool go_once(struct sched_pool *p, bool rests)
{
	bool any;

	if (!p->options.deterministic)
		return false;
	pthread_mutex_lock(&p->lock);
	any = p->grids != NULL;
	if (any && !next_ordered(p))
		renew(p);
	if (any)
		let_go(p, rests);
	pthread_mutex_unlock(&p->lock);
	return any;
}

bool sched_go(struct sched_pool *p)
{
	return go_once(p, false);
}

bool sched_go_wait(struct sched_pool *p)
{
	return go_once(p, true);
}

static void start_threads_locked(struct sched_pool *p)
{
	sigset_t old;
	char name[16];

	if (p->threads_tried)
		return;
	p->threads_tried = true;
	p->threads = calloc(p->workers, sizeof(*p->threads));
	sched_mask_signals(&old);
	while (p->threads && p->thread_len < p->workers) {
		if (pthread_create(&p->threads[p->thread_len], NULL,
				   p->options.deterministic ? ordered_worker : worker, p))
			break;
		snprintf(name, sizeof(name), "ptxloom-%u", p->thread_len % 10000);
		pthread_setname_np(p->threads[p->thread_len], name);
		__atomic_fetch_add(&p->thread_len, 1, __ATOMIC_RELAXED);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* ---- the way in ---- */

/* May the calling thread run a grid now? With one worker, only while nothing else runs. */
static bool enter_inline(struct sched_pool *p)
{
	if (p->workers > 1)
		return true;
	if (pthread_mutex_trylock(&p->only))
		return false;
	if (!__atomic_load_n(&p->grid_len, __ATOMIC_RELAXED))
		return true;
	pthread_mutex_unlock(&p->only);
	return false;
}

/* Returns whether the grid is over. */
static bool run_inline(struct sched_pool *p, struct sched_grid *g, bool to_the_end)
{
	u64 began = stats_begin();

	share_work(&g->share[0], !to_the_end);
	stats_end(STATS_EXECUTE, began, 0);
	if (p->workers == 1)
		pthread_mutex_unlock(&p->only);
	return grid_is_over(g);
}

/* Queue a grid for the workers. Returns false when there are none. */
static bool submit(struct sched_pool *p, struct sched_grid *g)
{
	struct sched_grid **at;
	bool ok;

	pthread_mutex_lock(&p->lock);
	start_threads_locked(p);
	ok = p->thread_len != 0;
	if (ok) {
		for (at = &p->grids; *at; at = &(*at)->next)
			;
		g->next = NULL;
		g->serial = ++p->serials;
		g->submitted_ns = clock_ns();
		*at = g;
		__atomic_fetch_add(&p->grid_len, 1, __ATOMIC_RELAXED);
		for (u32 i = 0; i < g->shares && i < p->sleeping; i++)
			pthread_cond_signal(&p->work);
	}
	pthread_mutex_unlock(&p->lock);
	return ok;
}

bool sched_start(struct sched_pool *p, const struct sched_launch *launch, bool may_inline)
{
	bool is_small = grid_is_small(launch),
	     here = may_inline && !p->options.deterministic && is_small && enter_inline(p);
	struct sched_grid *g = grid_new(p, launch, here);

	if (!g) {
		if (here && p->workers == 1)
			pthread_mutex_unlock(&p->only);
		return false;
	}
	g->is_small = is_small;
	__atomic_fetch_add(&p->alive, 1, __ATOMIC_RELAXED);
	if (here && run_inline(p, g, false)) {
		conclude(p, g);
		return true;
	}
	if (here)
		grid_spread(g);
	if (submit(p, g))
		return true;
	/* The host gave us no thread: better slowly than not at all. */
	if (p->workers == 1)
		pthread_mutex_lock(&p->only);
	run_inline(p, g, true);
	conclude(p, g);
	return true;
}

/* ---- control ---- */

static void cancel(struct sched_pool *p, const struct mem *mem, const char *why)
{
	struct fault cancelled = {.kind = FAULT_TIMEOUT};

	snprintf(cancelled.text, sizeof(cancelled.text), "%s", why);
	pthread_mutex_lock(&p->lock);
	for (struct sched_grid *g = p->grids; g; g = g->next)
		if (!mem || g->launch.env.mem == mem)
			grid_fail(g, &cancelled);
	pthread_cond_broadcast(&p->work);
	pthread_mutex_unlock(&p->lock);
}

void sched_interrupt(struct sched_pool *p, const char *why)
{
	cancel(p, NULL, why);
}

void sched_cancel(struct sched_pool *p)
{
	cancel(p, NULL, "the launch was cancelled");
}

void sched_cancel_of(struct sched_pool *p, const struct mem *mem)
{
	cancel(p, mem, "the launch was cancelled");
}

void sched_forget(struct sched_pool *p, const struct program *program)
{
	struct slot_list keep;
	struct cta_slot *s;

	if (p->debug_memory)
		debug_forget_program(p, program);
	slot_list_init(&keep);
	pthread_mutex_lock(&p->lock);
	while ((s = slot_pop(&p->slots))) {
		if (s->program == program)
			slot_free(s);
		else
			slot_push(&keep, s);
	}
	while ((s = slot_pop(&keep)))
		slot_push(&p->slots, s);
	pthread_mutex_unlock(&p->lock);
}

void sched_pool_free(struct sched_pool *p)
{
	struct sched_grid *g;
	struct cta_slot *s;

	if (!p)
		return;
	/* Rarely anything is left: callers wait for their grids first. */
	while (__atomic_load_n(&p->alive, __ATOMIC_ACQUIRE))
		nanosleep(&(struct timespec){0, 100000}, NULL);
	pthread_mutex_lock(&p->lock);
	p->quit = true;
	pthread_cond_broadcast(&p->work);
	pthread_cond_broadcast(&p->quiet);
	pthread_mutex_unlock(&p->lock);
	for (u32 i = 0; i < p->thread_len; i++)
		pthread_join(p->threads[i], NULL);
	while ((g = p->spare)) {
		p->spare = g->next;
		grid_free(g);
	}
	while ((s = slot_pop(&p->slots)))
		slot_free(s);
	debug_fini(p);
	steer_free(p->steer);
	free(p->threads);
	pthread_cond_destroy(&p->work);
	pthread_cond_destroy(&p->quiet);
	pthread_mutex_destroy(&p->only);
	pthread_mutex_destroy(&p->rest_lock);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
