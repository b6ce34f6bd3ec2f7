/*
 * When runs are compiled, and by whom: at once where that is asked for, else by a thread while
 * launches go on.
 */
#include "src/base/stats.h"
#include "src/tier/tier_int.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

/* Thread instructions of a program's launches before its runs are looked for. */
#define WORK_LEAST 20000000u
/* Calls of a run before it is compiled. */
#define CALLS_LEAST 64u
/* Calls in which code gives up before it is asked whether that pays. */
#define LEFT_MANY 64u
/* Programs whose code is kept at a time. */
#define PROGRAMS_MOST 512u

struct tier {
	const struct program *program;
	const struct exec_ops *ops;
	u64 work;
	struct uop *uop; /* NULL: runs have not been looked for */
	struct tier_run *runs;
	u32 run_len;
	u32 *run_of; /* by micro-op */
	struct tier_live *live;
	struct tier_code **code; /* all that was made: gangs may be in any */
	u32 code_len;
	bool counted; /* among `programs` */
	bool waits;   /* in the queue */
	struct tier *next;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t more, done;
	struct tier *first, **last;
	const struct tier *busy; /* what the thread works on */
	u32 programs;
	bool started, ends;
	struct tier_counts counts; /* atomic */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER,
	 .more = PTHREAD_COND_INITIALIZER,
	 .done = PTHREAD_COND_INITIALIZER};

static u32 chosen = TIER_ONE; /* atomic */

void tier_choose(enum tier_choice x)
{
	__atomic_store_n(&chosen, (u32)x, __ATOMIC_RELAXED);
}

static enum tier_choice choice(void)
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
	return choice() != TIER_ONE;
}

struct tier_counts tier_counts(void)
{
	return (struct tier_counts){__atomic_load_n(&all.counts.made, __ATOMIC_RELAXED),
				    __atomic_load_n(&all.counts.failed, __ATOMIC_RELAXED)};
}

/* ---- compiling ---- */

static void set_run_state(struct tier_run *r, enum tier_state s)
{
	__atomic_store_n(&r->state, (u8)s, __ATOMIC_RELEASE);
}

static enum tier_state state_of(const struct tier_run *r)
{
	return (enum tier_state)__atomic_load_n(&r->state, __ATOMIC_ACQUIRE);
}

/* From now on gangs interpret it without a look. */
static void leave_run(struct tier *t, struct tier_run *r)
{
	struct uop *in = &t->uop[r->first];

	set_run_state(r, TIER_OFF);
	__atomic_store_n(&in->op, in->inner, __ATOMIC_RELEASE);
}

static void put_frame(const struct tier *t, struct text *out)
{
	bool v4 = !strcmp(t->ops->level, "v4");

	text_printf(out,
		    "attributes #0 = { nounwind \"target-cpu\"=\"x86-64-%s\" "
		    "\"tune-cpu\"=\"%s\" \"prefer-vector-width\"=\"%u\" "
		    "\"min-legal-vector-width\"=\"%u\" }\n",
		    t->ops->level, v4 ? "icelake-server" : "haswell", v4 ? 512 : 256,
		    v4 ? 512 : 256);
}

/* Intrinsics by the types of pointers. */
static void put_declarations(bool opaque, struct text *out)
{
	static const char *const plain[] = {
		"<32 x float> @llvm.fma.v32f32(<32 x float>, <32 x float>, <32 x float>)",
		"<32 x double> @llvm.fma.v32f64(<32 x double>, <32 x double>, <32 x double>)",
		"<32 x float> @llvm.sqrt.v32f32(<32 x float>)",
		"<32 x double> @llvm.sqrt.v32f64(<32 x double>)",
		"<32 x float> @llvm.fabs.v32f32(<32 x float>)",
		"<32 x double> @llvm.fabs.v32f64(<32 x double>)",
		"<32 x i64> @llvm.fshr.v32i64(<32 x i64>, <32 x i64>, <32 x i64>)",
		"i32 @llvm.cttz.i32(i32, i1)",
		"i32 @llvm.ctlz.i32(i32, i1)",
	};

	for (u32 i = 0; i < ARRAY_LEN(plain); i++)
		text_printf(out, "declare %s\n", plain[i]);
	for (u32 i = 0; i < 4; i++) {
		u32 n = i & 1 ? 16 : 32, bits = i & 2 ? 64 : 32;
		char vector[32], pointer[48], suffix[64];

		snprintf(vector, sizeof(vector), "<%u x i%u>", n, bits);
		snprintf(pointer, sizeof(pointer), opaque ? "ptr" : "%s*", vector);
		snprintf(suffix, sizeof(suffix), opaque ? "v%ui%u.p0" : "v%ui%u.p0v%ui%u", n, bits,
			 n, bits);
		text_printf(out,
			    "declare %s @llvm.masked.load.%s(%s, i32, <%u x i1>, %s)\n"
			    "declare void @llvm.masked.store.%s(%s, %s, i32, <%u x i1>)\n",
			    vector, suffix, pointer, n, vector, suffix, vector, pointer, n);
		if (n == 16)
			continue;
		snprintf(pointer, sizeof(pointer), opaque ? "<32 x ptr>" : "<32 x i%u*>", bits);
		snprintf(suffix, sizeof(suffix), opaque ? "v32i%u.v32p0" : "v32i%u.v32p0i%u", bits,
			 bits);
		text_printf(out,
			    "declare %s @llvm.masked.gather.%s(%s, i32, <32 x i1>, %s)\n"
			    "declare void @llvm.masked.scatter.%s(%s, %s, i32, <32 x i1>)\n",
			    vector, suffix, pointer, vector, suffix, vector, pointer);
	}
}

/* It stays as long as the program: gangs may be in it. */
static bool keep_code(struct tier *t, struct tier_code *c)
{
	struct tier_code **more = realloc(t->code, (t->code_len + 1) * sizeof(struct tier_code *));

	if (!more)
		return false;
	t->code = more;
	t->code[t->code_len++] = c;
	return true;
}

static void name_run(const struct tier *t, const struct tier_run *r, char *name, size_t size)
{
	snprintf(name, size, "run_%u", (u32)(r - t->runs));
}

/* Once for a process, where code is asked for. */
static void tell_why(const struct text *why)
{
	static bool told; /* atomic */

	if (choice() == TIER_TWO && !__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		fprintf(stderr,
			"ptxloom: note: PTXLOOM_TIER=2: micro-ops are interpreted that LLVM does not "
			"compile: %s\n",
			why->len ? why->at : "no reason was given");
}

/* Code of all runs `in` the text, used from now on. Returns of how many there is some. */
static u32 compile_text(struct tier *t, struct text *out, const bool *in)
{
	struct text why = {0};
	struct tier_code *c = NULL;
	u32 made = 0;

	if (!out->failed)
		c = tier_llvm_compile(out->at, out->len, &why);
	if (c && !keep_code(t, c)) {
		tier_llvm_free(c);
		c = NULL;
	}
	if (!c)
		tell_why(&why);
	for (u32 i = 0; i < t->run_len; i++) {
		struct tier_run *r = &t->runs[i];
		char name[32];

		if (!in[i])
			continue;
		name_run(t, r, name, sizeof(name));
		r->code = c ? tier_llvm_function(c, name) : NULL;
		__atomic_fetch_add(r->code ? &all.counts.made : &all.counts.failed, 1,
				   __ATOMIC_RELAXED);
		made += r->code != NULL;
		if (r->code)
			set_run_state(r, TIER_READY);
		else
			leave_run(t, r);
	}
	text_fini(&why);
	return made;
}

static void compile_runs(struct tier *t)
{
	struct text out = {0};
	bool *in = calloc(t->run_len, sizeof(bool)), any = false, opaque;
	u64 began = stats_begin(), runs = 0;

	if (!in || !tier_llvm_ready()) {
		for (u32 i = 0; i < t->run_len; i++)
			if (state_of(&t->runs[i]) == TIER_WAIT)
				leave_run(t, &t->runs[i]);
		free(in);
		return;
	}
	opaque = tier_llvm_opaque();
	put_declarations(opaque, &out);
	put_frame(t, &out);
	for (u32 i = 0; i < t->run_len; i++) {
		struct tier_run *r = &t->runs[i];
		char name[32];

		if (state_of(r) != TIER_WAIT)
			continue;
		name_run(t, r, name, sizeof(name));
		in[i] = tier_emit(t->program, t->live, r, name, opaque, &out);
		any |= in[i];
		if (!in[i])
			leave_run(t, r);
	}
	if (any)
		runs = compile_text(t, &out, in);
	stats_end(STATS_COMPILE, began, runs);
	text_fini(&out);
	free(in);
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
		compile_runs(t);
		pthread_mutex_lock(&all.lock);
		all.busy = NULL;
		pthread_cond_broadcast(&all.done);
	}
	pthread_mutex_unlock(&all.lock);
	return NULL;
}

/* LLVM's data must not go while the thread uses it. */
static void end_thread(void)
{
	pthread_mutex_lock(&all.lock);
	all.ends = true;
	pthread_cond_broadcast(&all.more);
	while (all.busy)
		pthread_cond_wait(&all.done, &all.lock);
	pthread_mutex_unlock(&all.lock);
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

/* May code be made? LLVM's own data outlive what is registered after it was loaded. */
static bool compiles_locked(void)
{
	static bool registered;

	if (!tier_llvm_ready() || all.ends)
		return false;
	if (!registered)
		registered = !atexit(end_thread);
	return registered;
}

static bool start_thread_locked(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t none, old;

	if (all.started)
		return true;
	if (!compiles_locked())
		return false;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&none);
	pthread_sigmask(SIG_SETMASK, &none, &old);
	all.started = !pthread_create(&thread, &attr, work, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return all.started;
}

static void queue(struct tier *t, struct tier_run *r)
{
	pthread_mutex_lock(&all.lock);
	if (!start_thread_locked()) {
		leave_run(t, r);
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
	memcpy(uop, p->uop, (size_t)p->uops * sizeof(*uop));
	for (u32 i = 0; i < t->run_len; i++) {
		t->run_of[t->runs[i].first] = i;
		uop[t->runs[i].first].op = OP_tier;
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

const struct uop *tier_begin(const struct exec_env *e)
{
	const struct program *p = e->program;
	enum tier_choice how = choice();
	struct tier *t;
	struct uop *uop = NULL;

	if (PL_LIKELY(how == TIER_ONE) || !may_run(e))
		return p->uop;
	tier_watch_forks();
	pthread_mutex_lock(&all.lock);
	t = tier_take_locked(e);
	if (t && t->ops == e->ops) {
		u64 ctas = (u64)e->grid[0] * e->grid[1] * e->grid[2];

		t->work += ctas * e->block[0] * e->block[1] * e->block[2] * (p->thread_insns + 1);
		if (!t->counted && (how == TIER_TWO || t->work >= WORK_LEAST) &&
		    all.programs < PROGRAMS_MOST) {
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
		s64 step = 0;
		bool is = find_step(g, x, w, mask, &step);

		__atomic_fetch_add(&x->seen, 1, __ATOMIC_RELAXED);
		if (is && (!__atomic_load_n(&x->alike, __ATOMIC_RELAXED) ||
			   step == __atomic_load_n(&x->guess, __ATOMIC_RELAXED))) {
			__atomic_store_n(&x->guess, step, __ATOMIC_RELAXED);
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

		x->linear = alike && alike * 4 >= seen * 3;
		x->step = __atomic_load_n(&x->guess, __ATOMIC_RELAXED);
	}
}

void tier_look(const struct gang *g, struct tier_run *r)
{
	struct tier *t = tier_of(g->env->program);
	u32 least = choice() == TIER_TWO ? 1 : CALLS_LEAST;
	u8 look = TIER_LOOK;

	if (state_of(r) != TIER_LOOK)
		return;
	look_at_roots(g, r);
	if (__atomic_add_fetch(&r->came, 1, __ATOMIC_RELAXED) < least)
		return;
	if (!__atomic_compare_exchange_n(&r->state, &look, (u8)TIER_CHOSEN, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	expect_roots(r);
	__atomic_store_n(&r->came, 0, __ATOMIC_RELAXED);
	set_run_state(r, TIER_WAIT);
	if (choice() != TIER_TWO) {
		queue(t, r);
		return;
	}
	pthread_mutex_lock(&all.lock);
	if (compiles_locked())
		compile_runs(t);
	else
		leave_run(t, r);
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
	leave_run(t, r);
}
