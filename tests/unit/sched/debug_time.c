/*
 * Going back in launches: what comes again is the same, bit by bit.
 */
#include "tests/check.h"
#include "tests/unit/debug_run.h"
#include "src/exec/turn.h"
#include "src/sched/debug_int.h"
#include "tests/unit/sched/debug_kernels.h"

#define PLACES 8u

static struct mem mem;
static u32 *out;

/* Everything that a debugger can see at a time. */
struct place {
	u64 time, digest;
};

struct journey {
	u64 total; /* instructions of the launch */
	u64 steps;
	struct place place[PLACES];
	u32 going; /* place gone back to + 1 */
	bool done, same, refused;
	u64 came_at;
	size_t copies; /* that there were in the end */
	u32 stops;
	bool touch; /* changes things on the way */
	struct text why;
};

static u64 mix(u64 h, const void *p, u64 bytes)
{
	return (h ^ hash_bytes(p, bytes)) * 0x9e3779b97f4a7c15u;
}

static u64 digest_cta(struct debug_grid *d, struct cta *c, u64 h)
{
	const struct program *p = c->env->program;
	struct debug_group at[WARP_LANES];

	h = mix(h, &c->number, sizeof(c->number));
	for (u32 i = 0; i < c->gangs; i++)
		h = mix(h, c->gang[i].regs, p->block_bytes);
	h = mix(h, c->shared, c->env->shared_bytes);
	for (u32 w = 0; w < c->warps; w++) {
		u32 n = debug_groups(d, c, w, at);

		for (u32 i = 0; i < n; i++) {
			u32 x[5] = {at[i].mask, at[i].pc, at[i].state, at[i].barrier, at[i].want};

			h = mix(h, x, sizeof(x));
		}
	}
	return h;
}

static u64 digest(struct debug_grid *d, const struct gang *g)
{
	u64 h = debug_time(d);
	struct cta *c;
	u32 at[3] = {g->first_warp + g->warp, exec_step_mask(g, 0), (u32)debug_ctas_done(d)};

	h = mix(h, at, sizeof(at));
	for (u32 i = 0; (c = debug_resident(d, i)); i++)
		h = digest_cta(d, c, h);
	return mix(h, out, OUT_WORDS * 4);
}

static void go_often(void *user, struct debug_grid *d)
{
	d->history.interval_ns = 0;
	d->alarm = 0;
	d->history.check_step = ((struct journey *)user)->total < 10000 ? 16 : 16384;
}

static enum debug_verdict count(void *user, struct debug_grid *d, struct gang *g,
				const struct uop *in)
{
	(void)d, (void)g, (void)in;
	((struct journey *)user)->total++;
	return DEBUG_GO_ON;
}

/* Places that differ, in an order of their own. */
static void choose(struct journey *j)
{
	u64 x = 88172645463325252u;

	for (u32 i = 0; i < PLACES; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		j->place[i] = (struct place){.time = i == 5 ? 0 : x % (j->total - 1)};
	}
}

static enum debug_verdict next_place(struct journey *j, struct debug_grid *d)
{
	const struct place *p = &j->place[j->going];

	if (j->going == PLACES) {
		j->done = true;
		return DEBUG_GO_ON;
	}
	j->going++;
	if (debug_back(d, p->time, p->time, &j->why))
		return DEBUG_BACK;
	j->refused = true;
	j->done = true;
	return DEBUG_GO_ON;
}

/* Freezes a warp for a while, and writes registers and memory. */
static enum debug_verdict touch(struct debug_grid *d, struct gang *g)
{
	u64 t = debug_time(d);
	struct debug_frame f;
	u32 lane = (u32)__builtin_ctz(exec_step_mask(g, 0)), x = 77;
	u32 warp = g->first_warp + g->warp;

	if (t == 100) {
		debug_freeze(d, debug_resident(d, 0)->number, 0, 0xff, true);
		return DEBUG_TURN;
	}
	if (t == 150) {
		debug_frames(d, g->cta, warp, lane, &f, 1);
		debug_write_register(d, g->cta, warp, lane, &f,
				     debug_run_register(f.func->func, "%r4"), &x, 4);
		debug_write_memory(d, g->cta, warp, lane, MEM_GLOBAL,
				   (u64)(uintptr_t)(out + OUT_WORDS - 1), &x, 4);
		debug_prefer(d, &(struct debug_preference){g->cta->number, UINT32_MAX, 0});
		return DEBUG_TURN;
	}
	if (t == 400) {
		debug_freeze(d, debug_resident(d, 0)->number, 0, FULL_MASK, false);
		return DEBUG_TURN;
	}
	return DEBUG_GO_ON;
}

static enum debug_verdict travel(void *user, struct debug_grid *d, struct gang *g,
				 const struct uop *in)
{
	struct journey *j = user;
	u64 t = debug_time(d);

	(void)in;
	j->steps++;
	if (j->going && !j->done) {
		struct place *p = &j->place[j->going - 1];

		j->same &= t == p->time && digest(d, g) == p->digest;
		if (!j->same && !j->came_at)
			j->came_at = t + 1;
		return next_place(j, d);
	}
	if (j->touch && !j->done && t <= 400) {
		enum debug_verdict v = touch(d, g);

		/* Once: at the same time others may be asked then. */
		if (v != DEBUG_GO_ON && j->stops < 3) {
			j->stops++;
			return v;
		}
	}
	for (u32 i = 0; !j->going && i < PLACES; i++)
		if (j->place[i].time == t)
			j->place[i].digest = digest(d, g);
	if (t + 1 == j->total && !j->going) {
		j->copies = d->history.copies.len;
		return next_place(j, d);
	}
	return DEBUG_GO_ON;
}

static struct debug_run run_of(const struct kernel *k, const struct params *p,
			       const struct debug_hooks *hooks)
{
	return (struct debug_run){.ptx = k->ptx,
				  .resident = 8,
				  .grid = {k->grid, 1, 1},
				  .block = {k->block, 1, 1},
				  .cluster = {k->cluster, 0, 0},
				  .params = p,
				  .hooks = hooks,
				  .mem = &mem};
}

static bool run(struct debug_run *r)
{
	memset(out, 0, OUT_WORDS * 4);
	return debug_run_open(r) && debug_run_go(r) && r->fault.kind == FAULT_NONE;
}

static void test_places(const struct kernel *k, u64 bytes, bool touches)
{
	struct journey j = {.same = true};
	struct debug_hooks counting = {.user = &j, .step = count},
			   hooks = {.user = &j,
				    .step = travel,
				    .launch_begin = go_often,
				    .history_bytes = bytes};
	struct params p = {(u64)(uintptr_t)out, k->n};
	struct debug_run first = run_of(k, &p, &counting), second = run_of(k, &p, &hooks);
	u32 *want = malloc(OUT_WORDS * 4);

	CHECK_MSG(run(&first), k->name);
	memcpy(want, out, OUT_WORDS * 4);
	choose(&j);
	j.touch = touches;
	CHECK(run(&second));
	CHECK_MSG(touches || !memcmp(want, out, OUT_WORDS * 4), "the same memory in the end");
	CHECK(!j.refused && j.done && j.same);
	CHECK(j.copies > 4);
	printf("# %llu instructions, %zu copies\n", (unsigned long long)j.total, j.copies);
	if (j.came_at)
		printf("# differs at %llu\n", (unsigned long long)j.came_at - 1);
	debug_run_close(&first);
	debug_run_close(&second);
	text_fini(&j.why);
	free(want);
}

/* ---- from faults and deadlocks; what is printed ---- */

struct ending {
	u64 seen[4]; /* times of what came, in order: a fault, where it went, the fault again */
	u32 len, faults;
	u64 back;
	struct fault fault[3];
	u64 first;
	bool waiting;
};

static enum debug_verdict end_fault(void *user, struct debug_grid *d, const struct fault *f)
{
	struct ending *e = user;
	struct text why = {0};
	bool ok;

	e->first = debug_first(d);
	if (e->faults < 3)
		e->fault[e->faults] = *f;
	if (e->len < 4)
		e->seen[e->len++] = debug_time(d);
	if (e->faults++)
		return DEBUG_GO_ON;
	ok = debug_back(d, debug_time(d) - e->back, debug_time(d) - e->back, &why);
	text_fini(&why);
	e->waiting = ok;
	return ok ? DEBUG_BACK : DEBUG_GO_ON;
}

static enum debug_verdict end_step(void *user, struct debug_grid *d, struct gang *g,
				   const struct uop *in)
{
	struct ending *e = user;

	(void)g, (void)in;
	if (e->waiting && e->len < 4)
		e->seen[e->len++] = debug_time(d);
	e->waiting = false;
	return DEBUG_GO_ON;
}

static void test_ending(const char *name, const char *ptx, enum fault_kind kind, u32 block)
{
	struct ending e = {.back = 7};
	struct debug_hooks hooks = {
		.user = &e, .step = end_step, .fault = end_fault, .history_bytes = 64 << 20};
	struct params p = {(u64)(uintptr_t)out, 0};
	struct kernel k = {name, ptx, 1, block, 0, 0, false};
	struct debug_run r = run_of(&k, &p, &hooks);

	memset(out, 0, OUT_WORDS * 4);
	CHECK_MSG(debug_run_open(&r) && debug_run_go(&r), name);
	CHECK_EQ(r.fault.kind, kind);
	CHECK_EQ(e.faults, 2);
	CHECK_EQ(e.len, 3);
	CHECK_EQ(e.seen[1], e.seen[0] - 7);
	CHECK_EQ(e.seen[2], e.seen[0]);
	CHECK(e.fault[0].pc == e.fault[1].pc && e.fault[0].lanes == e.fault[1].lanes &&
	      e.fault[0].warp == e.fault[1].warp);
	CHECK_EQ(e.first, 0);
	debug_run_close(&r);
}

static const char prints[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
	".global .align 1 .b8 text[8] = {104, 105, 10, 0};\n"
	".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"
	".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>;\n"
	"mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1; mov.u64 %rd3, 0; mov.u32 %r1, 0;\n"
	"L: { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd2; st.param.b64 [a], %rd3;\n"
	"call (r), vprintf, (f, a); ld.param.b32 %r2, [r]; }\n"
	"add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra L; trap; ret;\n}\n";

/* Going over a print again prints nothing. */
static void test_prints(void)
{
	struct ending e = {.back = 15};
	struct debug_hooks hooks = {
		.user = &e, .step = end_step, .fault = end_fault, .history_bytes = 64 << 20};
	struct params p = {(u64)(uintptr_t)out, 0};
	struct kernel k = {"prints", prints, 1, 1, 0, 0, false};
	struct debug_run r = run_of(&k, &p, &hooks);

	CHECK(debug_run_open(&r) && debug_run_go(&r));
	CHECK_EQ(e.faults, 2);
	CHECK_EQ(e.seen[1], e.seen[0] - 15);
	CHECK_STR(r.printed.at, "hi\nhi\nhi\n");
	debug_run_close(&r);
}

/* Memory that comes and goes, several allocations on a page. */
static void test_memory(void)
{
	struct debug_memory m = {0};
	struct exec_env e = {.mem = &mem};
	struct debug_pages old = {0}, older = {0};
	u32 *a[6];

	for (u32 i = 0; i < 6; i++) {
		a[i] = (u32 *)(uintptr_t)mem_alloc(&mem, i == 3 ? 20000 : 256, 0, MEM_KIND_DEVICE);
		*a[i] = i;
	}
	CHECK(debug_memory_note(&m, &e, NULL, 1 << 20));
	*a[1] = 11;
	a[3][4000] = 13;
	CHECK(debug_memory_note(&m, &e, &older, 1 << 20) && older.len == 2);
	*a[1] = 21;
	*a[5] = 25;
	CHECK(debug_memory_note(&m, &e, &old, 1 << 20) && old.len == 2);
	*a[0] = 30;
	debug_memory_return(&m);
	CHECK(*a[0] == 0 && *a[1] == 21 && a[3][4000] == 13 && *a[5] == 25);
	debug_pages_merge(&older, &old);
	CHECK_EQ(older.len, 3);
	debug_memory_write(&m, &older);
	CHECK(*a[1] == 1 && !a[3][4000] && *a[5] == 5);
	/* One has gone: what comes before is of no use, and its neighbours on the page are kept. */
	mem_free(&mem, (u64)(uintptr_t)a[0]);
	CHECK(!debug_memory_note(&m, &e, &old, 1 << 20));
	CHECK(debug_memory_note(&m, &e, NULL, 1 << 20));
	*a[1] = *a[2] = *a[4] = 99;
	debug_memory_return(&m);
	CHECK(*a[1] == 1 && *a[2] == 2 && *a[4] == 4);
	/* A new one was zero before. */
	a[0] = (u32 *)(uintptr_t)mem_alloc(&mem, 8192, 0, MEM_KIND_DEVICE);
	a[0][1500] = 7;
	CHECK(debug_memory_note(&m, &e, &old, 1 << 20) && old.len == 1);
	debug_memory_write(&m, &old);
	CHECK_EQ(a[0][1500], 0);
	CHECK(!debug_memory_note(&m, &e, &old, 4096));
	debug_pages_free(&old);
	debug_pages_free(&older);
	debug_memory_free(&m);
	for (u32 i = 0; i < 6; i++)
		mem_free(&mem, (u64)(uintptr_t)a[i]);
}

static const char fault[] = HEAD ENTRY
	"mov.u32 %r5, 5; and.b32 %r6, %r2, 7; setp.eq.u32 %p1, %r6, 5; selp.u64 %rd4, 0, %rd3, %p1;\n"
	"mul.lo.u32 %r7, %r4, 3; st.global.u32 [%rd4], %r7; ret;\n}\n";
static const char livelock[] = HEAD ENTRY
	"WAIT: ld.volatile.global.u32 %r5, [%rd1+8192]; setp.eq.u32 %p2, %r5, 0; @%p2 bra WAIT; ret;\n}\n";
static const char deadlock[] = HEAD ENTRY
	"setp.lt.u32 %p1, %r2, 32; @%p1 bra A; bar.sync 1; ret; A: bar.sync 2, 64; ret;\n}\n";

int main(void)
{
	CHECK(mem_init(&mem, (u64)1 << 30));
	out = (u32 *)(uintptr_t)mem_alloc(&mem, OUT_WORDS * 4, 0, MEM_KIND_DEVICE);
	for (u32 i = 0; i < ARRAY_LEN(kernels); i++) {
		struct kernel k = kernels[i];

		test_places(&k, 64 << 20, false);
		k.grid *= 3;
		if (k.n)
			k.n *= 3;
		test_places(&k, 64 << 20, false);
	}
	/* So little room that copies have to go. */
	test_places(&kernels[1], 1 << 20, false);
	test_places(&kernels[6], 600 << 10, false);
	test_places(&kernels[0], 64 << 20, true);
	test_ending("a fault", fault, FAULT_ILLEGAL_ADDRESS, 32);
	test_ending("a deadlock", deadlock, FAULT_DEADLOCK, 64);
	test_ending("a livelock", livelock, FAULT_DEADLOCK, 32);
	test_prints();
	test_memory();
	mem_fini(&mem);
	return check_done();
}
