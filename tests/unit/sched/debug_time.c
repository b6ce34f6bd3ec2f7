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
	mem_fini(&mem);
	return check_done();
}
