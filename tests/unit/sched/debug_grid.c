/*
 * Launches under a debugger: the same results as without, stops, faults and deadlocks with all
 * state alive, groups, frames, registers, memory, freezing, preference.
 */
#include "tests/check.h"
#include "tests/unit/debug_run.h"

#include "tests/unit/sched/debug_kernels.h"

static struct mem mem;
static u32 *out;

/* ---- the same results ---- */

struct watcher {
	u64 steps, accesses, begins, ends, idles, faults;
	u64 last_time;
	bool in_order;
};

static void count_begin(void *user, struct debug_grid *d)
{
	(void)d;
	((struct watcher *)user)->begins++;
}

static void count_end(void *user, struct debug_grid *d, const struct fault *f)
{
	(void)d, (void)f;
	((struct watcher *)user)->ends++;
}

static enum debug_verdict count_step(void *user, struct debug_grid *d, struct gang *g,
				     const struct uop *in)
{
	struct watcher *w = user;

	(void)in, (void)g;
	w->in_order &= debug_time(d) == w->steps;
	w->steps++;
	return DEBUG_GO_ON;
}

static void count_access(void *user, struct debug_grid *d, const struct exec_access *a)
{
	(void)d, (void)a;
	((struct watcher *)user)->accesses++;
}

static struct debug_run run_of(const struct kernel *k, const struct params *p,
			       const struct debug_hooks *hooks)
{
	return (struct debug_run){.ptx = k->ptx,
				  .grid = {k->grid, 1, 1},
				  .block = {k->block, 1, 1},
				  .cluster = {k->cluster, 0, 0},
				  .cooperative = k->cooperative,
				  .params = p,
				  .hooks = hooks,
				  .mem = &mem};
}

static bool run(struct debug_run *r)
{
	memset(out, 0, OUT_WORDS * 4);
	return debug_run_open(r) && debug_run_go(r);
}

static void test_same(const struct kernel *k, bool accesses)
{
	struct watcher w = {.in_order = true};
	struct debug_hooks hooks = {.user = &w,
				    .launch_begin = count_begin,
				    .launch_end = count_end,
				    .step = count_step,
				    .access = accesses ? count_access : NULL};
	struct params p = {(u64)(uintptr_t)out, k->n};
	struct debug_run plain = run_of(k, &p, NULL), debugged = run_of(k, &p, &hooks);
	u32 *want = malloc(OUT_WORDS * 4);

	plain.plain = true;
	CHECK_MSG(run(&plain) && plain.fault.kind == FAULT_NONE, k->name);
	memcpy(want, out, OUT_WORDS * 4);
	CHECK_MSG(run(&debugged) && debugged.fault.kind == FAULT_NONE, "under a debugger");
	CHECK_MSG(!memcmp(want, out, OUT_WORDS * 4), "the same memory");
	CHECK(w.begins == 1 && w.ends == 1 && w.steps > 10 && w.in_order);
	CHECK(!accesses || w.accesses);
	debug_run_close(&plain);
	debug_run_close(&debugged);
	free(want);
}

/* Accesses are told while they are wanted. */
struct wishes {
	bool wants;
	u64 wanted, unwanted, steps;
};

static enum debug_verdict wish_step(void *user, struct debug_grid *d, struct gang *g,
				    const struct uop *in)
{
	struct wishes *w = user;

	(void)d, (void)g, (void)in;
	w->wants = w->steps++ / 16 % 2;
	return DEBUG_GO_ON;
}

static void wish_access(void *user, struct debug_grid *d, const struct exec_access *a)
{
	struct wishes *w = user;

	(void)d, (void)a;
	w->wanted += w->wants;
	w->unwanted += !w->wants;
}

static void test_wishes(const struct kernel *k)
{
	struct wishes w = {0};
	struct debug_hooks hooks = {
		.user = &w, .step = wish_step, .access = wish_access, .wants_access = &w.wants};
	struct params p = {(u64)(uintptr_t)out, k->n};
	struct debug_run r = run_of(k, &p, &hooks);

	CHECK(run(&r) && w.wanted && !w.unwanted);
	debug_run_close(&r);
}

/* ---- which instructions the hook is asked about ---- */

struct marker {
	const struct debug_run *run;
	u32 pc;    /* the instruction that is marked */
	u64 until; /* every instruction is wanted from its second visit on, for so many of them */
	bool attentive;
	u64 steps, others, visits; /* others: that are not marked */
	u64 digest;                /* of what was seen at the marked one */
};

static void mark_begin(void *user, struct debug_grid *d)
{
	struct marker *m = user;
	u8 *marks = calloc(m->run->p->uops, 1);

	marks[m->pc] = 1;
	debug_mark(d, m->run->p, marks);
	free(marks);
}

static enum debug_verdict mark_step(void *user, struct debug_grid *d, struct gang *g,
				    const struct uop *in)
{
	struct marker *m = user;
	u64 seen[3] = {debug_time(d), g->first_warp + g->warp, exec_step_mask(g, 0)};

	m->steps++;
	m->others += (u32)(in - g->uops) != m->pc;
	if ((u32)(in - g->uops) == m->pc) {
		m->visits++;
		m->digest = (m->digest ^ hash_bytes(seen, sizeof(seen))) * 0x9e3779b97f4a7c15u;
	}
	m->attentive = m->until && m->visits >= 2 && m->others <= m->until;
	return DEBUG_GO_ON;
}

static void mark_run(struct marker *m, bool marks)
{
	struct debug_hooks hooks = {.user = m,
				    .step = mark_step,
				    .launch_begin = marks ? mark_begin : NULL,
				    .attentive = marks ? &m->attentive : NULL};
	struct params p = {(u64)(uintptr_t)out, 0};
	struct kernel k = {"barriers", barriers, 6, 128, 0, 0, false};
	struct debug_run r = run_of(&k, &p, &hooks);

	memset(out, 0, OUT_WORDS * 4);
	CHECK(debug_run_open(&r));
	m->run = &r;
	m->pc = debug_run_at(&r, "ld.shared.u32 %r9");
	CHECK(m->pc != NO_PC && debug_run_go(&r) && r.fault.kind == FAULT_NONE);
	debug_run_close(&r);
}

/* Marked instructions are seen as if all were, few others are asked about. */
static void test_marks(void)
{
	struct marker all = {0}, few = {0}, some = {.until = 100};

	mark_run(&all, false);
	mark_run(&few, true);
	mark_run(&some, true);
	CHECK(all.visits > 20 && all.others > 20 * all.visits);
	CHECK_EQ(few.visits, all.visits);
	CHECK_EQ(few.digest, all.digest);
	CHECK_MSG(few.others == 1, "the first instruction alone is asked about beside these");
	CHECK_EQ(some.digest, all.digest);
	CHECK_MSG(some.others == some.until + 1, "every instruction is asked about while wanted");
}

/* ---- stops: what a script does at an instruction ---- */

struct stop {
	const struct debug_run *run;
	u32 pc;   /* instruction to stop at; NO_PC: none */
	u32 hits; /* stops so far */
	bool freeze, thaw, prefer, jump, cancel;
	u32 jump_to;
	u32 order[64], orders; /* warps, as they came there */
	struct fault fault;
	u32 faults, deadlocks, groups;
	u64 fault_time;
	struct debug_group group[WARP_LANES], other[WARP_LANES];
	struct debug_frame frame[64];
	u32 frames, values[64], value_len;
	u32 shared;
	u8 read;
};

static u32 register_of(const struct debug_grid *d, const struct cta *c, u32 warp, u32 lane,
		       const struct debug_frame *f, const char *name)
{
	u32 reg = debug_run_register(f->func->func, name), x = 0xdead;

	if (reg == UINT32_MAX || !debug_read_register(d, c, warp, lane, f, reg, &x, 4))
		return 0xbad;
	return x;
}

static void look_at_recursion(struct stop *s, struct debug_grid *d, struct gang *g)
{
	u32 lane = 7;

	if (!(exec_step_mask(g, 0) >> lane & 1) || s->frames)
		return;
	s->frames = debug_frames(d, g->cta, g->first_warp + g->warp, lane, s->frame, 64);
	for (u32 i = 0; i < s->frames; i++)
		s->values[i] = register_of(d, g->cta, g->first_warp + g->warp, lane, &s->frame[i],
					   i + 1 < s->frames ? "%x" : "%r5");
}

static enum debug_verdict at_recursion(void *user, struct debug_grid *d, struct gang *g,
				       const struct uop *in)
{
	struct stop *s = user;

	if ((u32)(in - g->uops) == s->pc)
		look_at_recursion(s, d, g);
	return DEBUG_GO_ON;
}

/* Lane 7 computes fib(7): its first innermost call is fib(1), with those of 2 to 7 around it. */
static void test_frames(void)
{
	struct kernel k = {"recursion", recursion, 1, 32, 0, 0, false};
	struct params p = {(u64)(uintptr_t)out, 0};
	struct stop s = {0};
	struct debug_hooks hooks = {.user = &s, .step = at_recursion};
	struct debug_run r = run_of(&k, &p, &hooks);

	memset(out, 0, OUT_WORDS * 4);
	CHECK(debug_run_open(&r));
	s.pc = debug_run_at(&r, "mov.u32 %res, %x");
	CHECK(s.pc != NO_PC && debug_run_go(&r));
	CHECK_EQ(s.frames, 8);
	for (u32 i = 0; i < 7 && i < s.frames; i++)
		CHECK_EQ(s.values[i], i + 1);
	CHECK_EQ(s.values[7], 7);
	CHECK_EQ(out[7], 13);
	debug_run_close(&r);
}

static const char fault[] = HEAD ENTRY
	"mov.u32 %r5, 5; and.b32 %r6, %r2, 7; setp.eq.u32 %p1, %r6, 5;\n"
	"selp.u64 %rd4, 0, %rd3, %p1; mul.lo.u32 %r7, %r4, 3;\n"
	"st.global.u32 [%rd4], %r7; mov.u32 %r5, 6; st.global.u32 [%rd3+4096], %r5; ret;\n}\n";

static enum debug_verdict on_fault(void *user, struct debug_grid *d, const struct fault *f)
{
	struct stop *s = user;
	struct cta *c = debug_resident(d, 0);

	s->fault = *f;
	s->faults++;
	s->fault_time = debug_time(d);
	s->groups = debug_groups(d, c, f->warp, s->group);
	debug_groups(d, c, 1, s->other);
	s->frames = debug_frames(d, c, f->warp, 5, s->frame, 64);
	s->values[0] = register_of(d, c, f->warp, 5, &s->frame[0], "%r5");
	s->values[1] = register_of(d, c, f->warp, 5, &s->frame[0], "%r7");
	s->values[2] = register_of(d, c, f->warp, 3, &s->frame[0], "%p1");
	s->values[3] = out[1];
	s->values[4] = register_of(d, c, f->warp, 6, &s->frame[0], "%r7");
	return DEBUG_GO_ON;
}

static void test_fault(void)
{
	struct kernel k = {"fault", fault, 1, 64, 0, 0, false};
	struct params p = {(u64)(uintptr_t)out, 0};
	struct stop s = {0};
	struct debug_hooks hooks = {.user = &s, .fault = on_fault, .step = at_recursion};
	struct debug_run r = run_of(&k, &p, &hooks);

	s.pc = NO_PC;
	CHECK(run(&r));
	CHECK_EQ(s.faults, 1);
	CHECK_EQ(s.fault.kind, FAULT_ILLEGAL_ADDRESS);
	CHECK_EQ(s.fault.lanes, 0x20202020);
	CHECK_EQ(s.groups, 1);
	CHECK_EQ(s.group[0].mask, FULL_MASK);
	CHECK_EQ(s.group[0].pc, debug_run_at(&r, "st.global.u32 [%rd4], %r7"));
	CHECK(s.frames == 1 && s.values[0] == 5 && s.values[1] == 15 && s.values[2] == 0);
	CHECK_EQ(s.values[3], 0); /* no lane has stored */
	CHECK_EQ(s.values[4], 18);
	CHECK_EQ(r.fault.kind, FAULT_ILLEGAL_ADDRESS);
	debug_run_close(&r);
}

/* A fault that the debugger mends: the instruction runs again. */
static enum debug_verdict mend(void *user, struct debug_grid *d, const struct fault *f)
{
	struct stop *s = user;
	struct cta *c = debug_resident(d, 0);
	struct debug_frame frame;
	u64 at = (u64)(uintptr_t)out + 8192;

	s->faults++;
	for (u32 m = f->lanes; m; m &= m - 1) {
		u32 lane = (u32)__builtin_ctz(m);

		if (!debug_frames(d, c, f->warp, lane, &frame, 1))
			return DEBUG_GO_ON;
		debug_write_register(d, c, f->warp, lane, &frame,
				     debug_run_register(frame.func->func, "%rd4"), &at, 8);
	}
	debug_changed(d);
	return DEBUG_TURN;
}

static void test_mended(void)
{
	struct kernel k = {"fault", fault, 1, 64, 0, 0, false};
	struct params p = {(u64)(uintptr_t)out, 0};
	struct stop s = {.pc = NO_PC};
	struct debug_hooks hooks = {.user = &s, .fault = mend, .step = at_recursion};
	struct debug_run r = run_of(&k, &p, &hooks);

	CHECK(run(&r));
	CHECK_EQ(s.faults, 2); /* once for each warp */
	CHECK_EQ(r.fault.kind, FAULT_NONE);
	CHECK(out[4] == 12 && out[5] == 0 && out[1024 + 5] == 6 && out[2048] == 61 * 3);
	debug_run_close(&r);
}

/* ---- deadlocks ---- */

static const char deadlock[] = HEAD ENTRY
	"setp.lt.u32 %p1, %r2, 32; @%p1 bra A; bar.sync 1; ret; A: bar.sync 2, 64; ret;\n}\n";

static void test_deadlock(void)
{
	struct kernel k = {"deadlock", deadlock, 1, 64, 0, 0, false};
	struct params p = {(u64)(uintptr_t)out, 0};
	struct stop s = {.pc = NO_PC};
	struct debug_hooks hooks = {.user = &s, .fault = on_fault, .step = at_recursion};
	struct debug_run r = run_of(&k, &p, &hooks);

	CHECK(run(&r));
	CHECK_EQ(s.faults, 1);
	CHECK_EQ(s.fault.kind, FAULT_DEADLOCK);
	CHECK(s.groups == 1 && s.group[0].state == DEBUG_BARRIER && s.group[0].barrier == 2 &&
	      s.group[0].want == 64);
	CHECK_EQ(s.group[0].pc, debug_run_at(&r, "bar.sync 2, 64"));
	CHECK(s.other[0].state == DEBUG_BARRIER && s.other[0].barrier == 1);
	CHECK_EQ(r.fault.kind, FAULT_DEADLOCK);
	debug_run_close(&r);
}

/* ---- who goes on ---- */

static const char order[] =
	HEAD ENTRY "mov.u32 %r5, 0; and.b32 %r6, %r2, 1; setp.eq.u32 %p1, %r6, 0; @%p1 bra EVEN;\n"
		   "atom.global.add.u32 %r5, [%rd1], 1; bra DONE;\n"
		   "EVEN: atom.global.add.u32 %r5, [%rd1], 1;\n"
		   "DONE: st.global.u32 [%rd3+4096], %r5; ret;\n}\n";

static enum debug_verdict at_order(void *user, struct debug_grid *d, struct gang *g,
				   const struct uop *in)
{
	struct stop *s = user;
	u32 warp = g->first_warp + g->warp;

	if ((u32)(in - g->uops) != s->pc || s->hits++)
		return DEBUG_GO_ON;
	if (s->freeze)
		debug_freeze(d, 0, warp, 0x00000005, true);
	if (s->prefer)
		debug_prefer(d, &(struct debug_preference){0, 2, s->jump_to});
	return DEBUG_TURN;
}

static enum debug_verdict thaw(void *user, struct debug_grid *d, const struct fault *f)
{
	struct stop *s = user;

	s->faults++;
	s->deadlocks += f->kind == FAULT_DEADLOCK && strstr(f->text, "frozen");
	s->groups = debug_groups(d, debug_resident(d, 0), 0, s->group);
	debug_freeze(d, 0, 0, FULL_MASK, false);
	return DEBUG_TURN;
}

static void run_order(struct stop *s, struct debug_run *r, const struct params *p)
{
	struct kernel k = {"order", order, 1, 128, 0, 0, false};
	struct debug_hooks hooks = {.user = s, .fault = thaw, .step = at_order};

	*r = run_of(&k, p, &hooks);
	memset(out, 0, OUT_WORDS * 4);
	CHECK(debug_run_open(r));
	s->run = r;
	s->pc = debug_run_at(r, "and.b32 %r6");
	CHECK(debug_run_go(r));
	CHECK_EQ(r->fault.kind, FAULT_NONE);
	debug_run_close(r);
}

/* Frozen lanes go on last; all others have ended then. */
static void test_freeze(void)
{
	struct params p = {(u64)(uintptr_t)out, 0};
	struct stop s = {.freeze = true};
	struct debug_run r;

	run_order(&s, &r, &p);
	CHECK(s.faults == 1 && s.deadlocks == 1);
	CHECK(s.groups == 1 && s.group[0].mask == 5 && s.group[0].state == DEBUG_FROZEN);
	CHECK_EQ(out[0], 128);
	CHECK(out[1024] + out[1026] == 126 + 127);
}

/* The preferred warp, or lanes of it, go first from the stop on. */
static void test_prefer(void)
{
	struct params p = {(u64)(uintptr_t)out, 0};
	struct stop s = {.prefer = true}, lanes = {.prefer = true, .jump_to = 1u << 6};
	struct debug_run r;

	run_order(&s, &r, &p);
	CHECK(out[1024 + 64 + 1] < 32 && out[1024 + 64 + 0] < 32 && out[1024] >= 32);
	run_order(&lanes, &r, &p);
	/* Then the other lanes of their warp, which they are to meet, and no other warp. */
	CHECK(out[1024 + 64 + 6] < 16 && out[1024 + 64 + 1] >= 16 && out[1024 + 64 + 1] < 32);
}

/* ---- jumps, the end ---- */

static enum debug_verdict at_jump(void *user, struct debug_grid *d, struct gang *g,
				  const struct uop *in)
{
	struct stop *s = user;

	if ((u32)(in - g->uops) != s->pc || s->hits++)
		return DEBUG_GO_ON;
	if (s->cancel)
		return DEBUG_END;
	CHECK(debug_set_pc(d, g->cta, 0, 0xf0, s->jump_to));
	return DEBUG_TURN;
}

static const char skips[] =
	HEAD ENTRY "mov.u32 %r5, 1; mov.u32 %r5, 2; st.global.u32 [%rd3], %r5; ret;\n}\n";

static void test_jump(bool cancel)
{
	struct kernel k = {"jump", skips, 2, 32, 0, 0, false};
	struct params p = {(u64)(uintptr_t)out, 0};
	struct stop s = {.cancel = cancel};
	struct debug_hooks hooks = {.user = &s, .step = at_jump};
	struct debug_run r = run_of(&k, &p, &hooks);

	memset(out, 0, OUT_WORDS * 4);
	CHECK(debug_run_open(&r));
	s.run = &r;
	s.pc = debug_run_at(&r, "mov.u32 %r5, 2");
	s.jump_to = debug_run_at(&r, "st.global.u32 [%rd3], %r5");
	CHECK(s.pc != NO_PC && s.jump_to != NO_PC && debug_run_go(&r));
	if (cancel)
		CHECK(r.fault.kind == FAULT_TIMEOUT && !out[0] && !out[32]);
	else
		CHECK(out[3] == 2 && out[4] == 1 && out[7] == 1 && out[8] == 2 && out[36] == 2);
	debug_run_close(&r);
}

int main(void)
{
	/* Addresses of a debugged process are the same each time. */
	mem_fix_addresses();
	CHECK(mem_init(&mem, (u64)1 << 30));
	CHECK_EQ((u64)(uintptr_t)mem.arena, (u64)1 << 45);
	out = (u32 *)(uintptr_t)mem_alloc(&mem, OUT_WORDS * 4, 0, MEM_KIND_DEVICE);
	for (u32 i = 0; i < ARRAY_LEN(kernels); i++) {
		test_same(&kernels[i], false);
		test_same(&kernels[i], true);
	}
	test_wishes(&kernels[1]);
	test_marks();
	test_frames();
	test_fault();
	test_mended();
	test_deadlock();
	test_freeze();
	test_prefer();
	test_jump(false);
	test_jump(true);
	mem_fini(&mem);
	return check_done();
}
