/*
 * When runs are compiled, and by whom: at once where that is asked for, else by a thread while
 * launches go on.
 */
#include "src/base/stats.h"
#include "src/tier/tier_int.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

/* Thread instructions of a program's launches before its runs are looked for, without loops. */
#define WORK_LEAST 20000000u
/*
 * Micro-ops of a run that gangs have interpreted before it is compiled: some tenths of a second,
 * several times what compiling takes.
 */
#define RUN_LEAST 2000000u
/* Others of the program that have done this part of it are compiled with it. */
#define RUN_BESIDE 8u
/* Calls in which code gives up before it is asked whether that pays. */
#define LEFT_MANY 64u
/* Programs whose code is kept at a time. */
#define PROGRAMS_MOST 512u

static struct {
	pthread_mutex_t lock;
	pthread_cond_t more, done;
	struct tier *first, **last;
	const struct tier *busy; /* what the thread works on */
	u32 programs;
	bool started, ends;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER,
	 .more = PTHREAD_COND_INITIALIZER,
	 .done = PTHREAD_COND_INITIALIZER};

static u32 chosen = TIER_ONE; /* atomic */
static bool missing;          /* atomic: LLVM, as far as is known */

void tier_choose(enum tier_choice x)
{
	__atomic_store_n(&chosen, (u32)x, __ATOMIC_RELAXED);
}

enum tier_choice tier_chosen(void)
{
	return (enum tier_choice)__atomic_load_n(&chosen, __ATOMIC_RELAXED);
}

bool tier_available(void)
{
	return tier_llvm_ready();
}

bool tier_has_level(const struct exec_ops *o)
{
	return !strcmp(o->level, "v4") || !strcmp(o->level, "v3");
}

bool tier_is_wanted(void)
{
	return tier_chosen() != TIER_ONE;
}

/* ---- LLVM ---- */

/* LLVM's data must not go while the thread uses it, or loads it. */
static void end_thread(void)
{
	pthread_mutex_lock(&all.lock);
	__atomic_store_n(&all.ends, true, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&all.more);
	while (all.busy)
		pthread_cond_wait(&all.done, &all.lock);
	pthread_mutex_unlock(&all.lock);
}

/* LLVM's own data outlive what is registered after it was loaded. */
static void load_llvm(void)
{
	if (atexit(end_thread) || !tier_llvm_ready() || atexit(end_thread))
		__atomic_store_n(&missing, true, __ATOMIC_RELEASE);
}

/* May code be made? */
static bool compiles(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_llvm);
	return !__atomic_load_n(&missing, __ATOMIC_ACQUIRE) &&
	       !__atomic_load_n(&all.ends, __ATOMIC_RELAXED);
}

static void compile_or_leave(struct tier *t)
{
	while (compiles())
		if (!tier_compile_some(t))
			return;
	tier_leave_waiting(t);
}

/* ---- the thread ---- */

static void *work(void *user)
{
	(void)user;
	pthread_mutex_lock(&all.lock);
	for (;;) {
		struct tier *t = all.first;

		if (all.ends) {
			break;
		} else if (!t) {
			pthread_cond_wait(&all.more, &all.lock);
			continue;
		}
		all.first = t->next;
		t->waits = false;
		all.busy = t;
		pthread_mutex_unlock(&all.lock);
		compile_or_leave(t);
		pthread_mutex_lock(&all.lock);
		all.busy = NULL;
		pthread_cond_broadcast(&all.done);
	}
	pthread_mutex_unlock(&all.lock);
	return NULL;
}

/* Nothing is compiled while a process forks: the child can use LLVM. */
static void hold_compiling(void)
{
	pthread_mutex_lock(&all.lock);
	while (all.busy)
		pthread_cond_wait(&all.done, &all.lock);
}

static void go_on_compiling(void)
{
	pthread_mutex_unlock(&all.lock);
}

/* It has no thread that compiles. What was queued waits for the next that is. */
static void begin_child(void)
{
	pthread_cond_init(&all.more, NULL);
	pthread_cond_init(&all.done, NULL);
	all.started = false;
	pthread_mutex_unlock(&all.lock);
}

static void expect_forks(void)
{
	pthread_atfork(hold_compiling, go_on_compiling, begin_child);
}

void tier_watch_forks(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, expect_forks);
}

static bool start_thread_locked(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t none, old;

	if (all.started || all.ends)
		return all.started;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&none);
	pthread_sigmask(SIG_SETMASK, &none, &old);
	all.started = !pthread_create(&thread, &attr, work, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return all.started;
}

static void queue(struct tier *t)
{
	pthread_mutex_lock(&all.lock);
	if (!start_thread_locked()) {
		tier_leave_waiting(t);
	} else if (!t->waits) {
		t->waits = true;
		t->next = NULL;
		*(all.first ? all.last : &all.first) = t;
		all.last = &t->next;
		pthread_cond_signal(&all.more);
	}
	pthread_mutex_unlock(&all.lock);
}

/* ---- programs ---- */

static bool may_run(const struct exec_env *e)
{
	const struct program *p = e->program;
	const struct exec_ops *o = e->ops;

	return !e->observer && !e->seed && !e->first && !p->has_calls && p->func_len == 1 &&
	       !p->counts && !p->extents && !p->reads_clock && o != o->counted && o != o->watched &&
	       o != o->apart && tier_has_level(o);
}

/* Micro-ops of the run with the rows that handlers get when code calls them. */
static bool set_beside(const struct program *p, struct tier_run *r)
{
	r->beside = r->calls ? calloc(r->n, sizeof(struct uop)) : NULL;
	for (u32 i = 0; i < r->n && r->beside; i++) {
		struct uop *in = &r->beside[i];

		*in = p->uop[r->first + i];
		in->d = 0;
		in->a = TIER_CALL_ROW;
		in->b = 2 * TIER_CALL_ROW;
		in->c = 3 * TIER_CALL_ROW;
		if (uop_is_lane(in->inner))
			in->lane.e = 4 * TIER_CALL_ROW;
	}
	return r->beside || !r->calls;
}

/* Without the lock, by the one thread that set `counted`. */
static struct uop *find_runs(struct tier *t)
{
	const struct program *p = t->program;
	struct uop *uop = aligned_alloc(64, (size_t)p->uops * sizeof(*uop));

	t->live = tier_live_new(p);
	t->run_of = calloc(p->uops, sizeof(u32));
	if (!t->run_of || !t->live || !uop) {
		free(uop);
		return NULL;
	}
	t->run_len = tier_plan(p, t->live, &t->runs);
	if (stats_on()) {
		u64 in_runs = 0;

		for (u32 i = 0; i < t->run_len; i++)
			in_runs += t->runs[i].n;
		stats_add(STATS_RUNS, p->launch_first, 0, in_runs);
	}
	memcpy(uop, p->uop, (size_t)p->uops * sizeof(*uop));
	for (u32 i = 0; i < t->run_len; i++) {
		t->run_of[t->runs[i].first] = i;
		t->runs[i].looks_always = tier_chosen() == TIER_TWO;
		if (set_beside(p, &t->runs[i]))
			uop[t->runs[i].first].op = stats_on() ? OP_tier_counted : OP_tier;
	}
	return uop;
}

static struct tier *tier_of(const struct program *p)
{
	return (struct tier *)p->tier;
}

/* The program's, made at its first launch. */
static struct tier *tier_take_locked(const struct exec_env *e)
{
	struct program *p = (struct program *)(uintptr_t)e->program;

	if (!p->tier) {
		struct tier *t = calloc(1, sizeof(*t));

		if (!t)
			return NULL;
		t->program = p;
		t->ops = e->ops;
		p->tier = t;
	}
	return tier_of(p);
}

/* How often it goes through one is not known before. */
static bool has_loops(const struct program *p)
{
	for (u32 i = 0; i < p->uops; i++)
		if (p->uop[i].flags & UOPF_BACK)
			return true;
	return false;
}

/* Is this launch the first for which runs are to be looked for? */
static bool begins_looking(struct tier *t, const struct exec_env *e)
{
	const struct program *p = e->program;
	u64 ctas = (u64)e->grid[0] * e->grid[1] * e->grid[2];
	bool first = !t->work;

	t->work += ctas * e->block[0] * e->block[1] * e->block[2] * (p->thread_insns + 1);
	return !t->counted && all.programs < PROGRAMS_MOST &&
	       (tier_chosen() == TIER_TWO || t->work >= WORK_LEAST || (first && has_loops(p)));
}

const struct uop *tier_begin(const struct exec_env *e)
{
	const struct program *p = e->program;
	struct tier *t;
	struct uop *uop = NULL;

	if (!tier_is_wanted() || __atomic_load_n(&missing, __ATOMIC_RELAXED) || !may_run(e))
		return p->uop;
	tier_watch_forks();
	pthread_mutex_lock(&all.lock);
	t = tier_take_locked(e);
	if (t && t->ops == e->ops) {
		if (begins_looking(t, e)) {
			t->counted = true;
			all.programs++;
			pthread_mutex_unlock(&all.lock);
			uop = find_runs(t);
			pthread_mutex_lock(&all.lock);
			t->uop = uop;
		}
		uop = t->uop;
	}
	pthread_mutex_unlock(&all.lock);
	return uop ? uop : p->uop;
}

struct tier_run *tier_run_at(const struct program *p, u32 pc)
{
	const struct tier *t = tier_of(p);

	return &t->runs[t->run_of[pc]];
}

void tier_free(struct program *p)
{
	struct tier *t = tier_of(p);

	if (!t)
		return;
	pthread_mutex_lock(&all.lock);
	if (t->waits)
		for (struct tier **at = &all.first; *at; at = &(*at)->next)
			if (*at == t) {
				*at = t->next;
				all.last = *at ? all.last : at;
				break;
			}
	while (all.busy == t)
		pthread_cond_wait(&all.done, &all.lock);
	all.programs -= t->counted;
	pthread_mutex_unlock(&all.lock);
	for (u32 i = 0; i < t->code_len; i++)
		tier_llvm_free(t->code[i]);
	free(t->code);
	free(t->uop);
	for (u32 i = 0; i < t->run_len; i++)
		free(t->runs[i].beside);
	free(t->runs);
	free(t->run_of);
	tier_live_free(t->live);
	free(t);
	p->tier = NULL;
}

/* ---- looking ---- */

static u64 lane_of_root(const struct gang *g, const struct tier_root *x, u32 lane)
{
	const u8 *row = g->regs + x->row;

	return x->wide ? ((const u64 *)(const void *)row)[lane]
		       : (u64)(s64)((const s32 *)(const void *)row)[lane];
}

/* How far apart the lanes of a warp that take part are. False: it differs, or is of no use. */
static bool find_step(const struct gang *g, const struct tier_root *x, u32 warp, u32 mask,
		      s64 *step)
{
	u32 low = (u32)__builtin_ctz(mask), at = warp * WARP_LANES;
	u64 first = lane_of_root(g, x, at + low);
	bool any = false;

	for (u32 m = mask & (mask - 1); m; m &= m - 1) {
		u32 l = (u32)__builtin_ctz(m);
		u64 apart = lane_of_root(g, x, at + l) - first;

		if (!any)
			*step = (s64)apart / (s64)(l - low);
		any = true;
		if (apart != (u64)*step * (l - low))
			return false;
	}
	return any && *step >= 0 && *step <= 16;
}

/* The same as twice the step; or 1 more: of each half. */
static bool find_guess(const struct gang *g, const struct tier_root *x, u32 warp, u32 mask,
		       s64 *guess)
{
	u32 half = UINT32_MAX >> WARP_LANES / 2;
	s64 step, high;

	if (find_step(g, x, warp, mask, &step)) {
		*guess = 2 * step;
		return true;
	}
	if (mask != UINT32_MAX || !find_step(g, x, warp, half, &step) ||
	    !find_step(g, x, warp, ~half, &high) || step != high)
		return false;
	*guess = 2 * step + 1;
	return true;
}

static void look_at_roots(const struct gang *g, struct tier_run *r)
{
	u32 w = g->warp, mask;

	while (w < g->warps - 1 && !g->warp_at[w].live)
		w++;
	mask = g->warp_at[w].live;
	if (!(mask & (mask - 1)))
		return;
	for (u32 i = 0; i < r->roots; i++) {
		struct tier_root *x = &r->root[i];
		s64 guess = 0;
		bool is = find_guess(g, x, w, mask, &guess);

		__atomic_fetch_add(&x->seen, 1, __ATOMIC_RELAXED);
		if (is && (!__atomic_load_n(&x->alike, __ATOMIC_RELAXED) ||
			   guess == __atomic_load_n(&x->guess, __ATOMIC_RELAXED))) {
			__atomic_store_n(&x->guess, guess, __ATOMIC_RELAXED);
			__atomic_fetch_add(&x->alike, 1, __ATOMIC_RELAXED);
		}
	}
}

/* What code is to expect of them does not change once it waits. */
static void expect_roots(struct tier_run *r)
{
	for (u32 i = 0; i < r->roots; i++) {
		struct tier_root *x = &r->root[i];
		u64 seen = __atomic_load_n(&x->seen, __ATOMIC_RELAXED),
		    alike = __atomic_load_n(&x->alike, __ATOMIC_RELAXED);
		s64 guess = __atomic_load_n(&x->guess, __ATOMIC_RELAXED);

		x->linear = alike && alike * 4 >= seen * 3;
		x->step = guess / 2;
		x->halves = guess & 1;
	}
}

/* It waits for code from now on. False: another thread has chosen it. */
static bool choose_run(struct tier_run *r)
{
	u8 look = TIER_LOOK;

	if (!__atomic_compare_exchange_n(&r->state, &look, (u8)TIER_CHOSEN, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return false;
	expect_roots(r);
	__atomic_store_n(&r->came, 0, __ATOMIC_RELAXED);
	tier_set_state(r, TIER_WAIT);
	return true;
}

/* One waits for code, and others that have done a part of what it has do so, too. */
static void queue_runs(struct tier *t)
{
	for (u32 i = 0; i < t->run_len; i++) {
		struct tier_run *x = &t->runs[i];
		u64 came = __atomic_load_n(&x->came, __ATOMIC_RELAXED);

		if (tier_state_of(x) == TIER_LOOK && came * x->n >= RUN_LEAST / RUN_BESIDE)
			choose_run(x);
	}
	queue(t);
}

void tier_look(const struct gang *g, struct tier_run *r, u32 calls)
{
	struct tier *t = tier_of(g->env->program);
	u32 least = r->looks_always ? 1 : RUN_LEAST / r->n;

	if (tier_state_of(r) != TIER_LOOK)
		return;
	look_at_roots(g, r);
	if (__atomic_add_fetch(&r->came, calls, __ATOMIC_RELAXED) < least || !choose_run(r))
		return;
	if (!r->looks_always) {
		queue_runs(t);
		return;
	}
	pthread_mutex_lock(&all.lock);
	compile_or_leave(t);
	pthread_mutex_unlock(&all.lock);
}

/* Where that is frequent the run is interpreted from now on. */
void tier_left(const struct gang *g, struct tier_run *r)
{
	struct tier *t = tier_of(g->env->program);
	u32 left = __atomic_add_fetch(&r->left, 1, __ATOMIC_RELAXED);
	u8 ready = TIER_READY;

	if (left < LEFT_MANY || left < __atomic_load_n(&r->came, __ATOMIC_RELAXED) / 8)
		return;
	if (!__atomic_compare_exchange_n(&r->state, &ready, (u8)TIER_CHOSEN, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	tier_leave_run(t, r);
}
