/*
 * Launches under a debugger: the same results as without, stops, faults and deadlocks with all state
 * alive, groups, frames, registers, memory, freezing, preference.
 */
#include "tests/check.h"
#include "tests/unit/debug_run.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define ENTRY                                                                                      \
	".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"                                   \
	".reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<19>;\n"                                 \
	"ld.param.u64 %rd1, [out]; ld.param.u32 %r0, [n]; mov.u32 %r1, %ctaid.x;\n"                \
	"mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r1, %r3, %r2;\n"              \
	"mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;\n"
#define OUT_WORDS 16384u

static struct mem mem;
static u32 *out;

struct params {
	u64 out;
	u32 n;
};

struct kernel {
	const char *name, *ptx;
	u32 grid, block, cluster, n;
	bool cooperative;
};

static const char loops[] = HEAD ENTRY
	"and.b32 %r5, %r2, 7; mov.u32 %r6, 0;\n"
	"LOOP: setp.eq.u32 %p1, %r5, 0; @%p1 bra DONE; add.u32 %r6, %r6, %r5; sub.u32 %r5, %r5, 1; bra LOOP;\n"
	"DONE: and.b32 %r7, %r2, 1; setp.eq.u32 %p2, %r7, 1; @%p2 bra ODD; mul.lo.u32 %r6, %r6, 3; bra END;\n"
	"ODD: add.u32 %r6, %r6, 1000;\n"
	"END: shfl.sync.bfly.b32 %r8, %r6, 1, 31, -1; add.u32 %r6, %r6, %r8;\n"
	"st.global.u32 [%rd3], %r6; ret;\n}\n";
static const char barriers[] = HEAD
	".shared .align 4 .b32 box[1024];\n" ENTRY
	"mov.u32 %r5, box; shl.b32 %r6, %r2, 2; add.u32 %r5, %r5, %r6; st.shared.u32 [%r5], %r4;\n"
	"bar.sync 0; mov.u32 %r7, %r3;\n"
	"HALVE: shr.u32 %r7, %r7, 1; setp.eq.u32 %p1, %r7, 0; @%p1 bra DONE;\n"
	"setp.ge.u32 %p2, %r2, %r7; @%p2 bra NEXT;\n"
	"shl.b32 %r8, %r7, 2; add.u32 %r8, %r5, %r8; ld.shared.u32 %r9, [%r8]; ld.shared.u32 %r10, [%r5];\n"
	"add.u32 %r10, %r10, %r9; st.shared.u32 [%r5], %r10;\n"
	"NEXT: bar.sync 0; bra HALVE;\n"
	"DONE: setp.lt.u32 %p3, %r2, 40; bar.red.popc.u32 %r11, 0, %p3; ld.shared.u32 %r12, [box];\n"
	"add.u32 %r12, %r12, %r11; st.global.u32 [%rd3], %r12; ret;\n}\n";
static const char forward[] = HEAD ENTRY
	"mul.wide.u32 %rd4, %r1, 4; add.s64 %rd3, %rd1, %rd4; setp.eq.u32 %p1, %r1, 0; @%p1 bra GO;\n"
	"WAIT: ld.volatile.global.u32 %r5, [%rd3+-4]; setp.eq.u32 %p2, %r5, 0; @%p2 bra WAIT;\n"
	"GO: mov.u32 %r6, 1; st.volatile.global.u32 [%rd3], %r6; ret;\n}\n";
static const char backward[] = HEAD ENTRY
	"mul.wide.u32 %rd4, %r1, 4; add.s64 %rd3, %rd1, %rd4; add.u32 %r5, %r1, 1;\n"
	"setp.eq.u32 %p1, %r5, %r0; @%p1 bra GO;\n"
	"WAIT: ld.volatile.global.u32 %r6, [%rd3+4]; setp.eq.u32 %p2, %r6, 0; @%p2 bra WAIT;\n"
	"GO: mov.u32 %r6, 1; st.volatile.global.u32 [%rd3], %r6; ret;\n}\n";
static const char atomics[] =
	HEAD ENTRY "atom.global.add.u32 %r5, [%rd1], %r4; and.b32 %r6, %r4, 63;\n"
		   "mul.wide.u32 %rd4, %r6, 4; add.s64 %rd5, %rd1, %rd4;\n"
		   "red.global.max.u32 [%rd5+8], %r4; ret;\n}\n";
/* lanes take a lock in turn */
static const char lock[] = HEAD ENTRY
	"TAKE: atom.global.cas.b32 %r5, [%rd1], 0, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra TAKE;\n"
	"ld.volatile.global.u32 %r6, [%rd1+4]; add.u32 %r6, %r6, 1; st.volatile.global.u32 [%rd1+4], %r6;\n"
	"membar.gl; atom.global.exch.b32 %r7, [%rd1], 0; ret;\n}\n";
static const char recursion[] = HEAD
	".func (.reg .b32 %res) fib(.reg .b32 %x)\n{\n.reg .pred %p<2>; .reg .b32 %a<5>;\n"
	"setp.lt.u32 %p1, %x, 2; @%p1 bra BASE;\n"
	"sub.u32 %a1, %x, 1; call (%a2), fib, (%a1); sub.u32 %a3, %x, 2; call (%a4), fib, (%a3);\n"
	"add.u32 %res, %a2, %a4; ret;\nBASE: mov.u32 %res, %x; ret;\n}\n" ENTRY
	"and.b32 %r5, %r2, 7; call (%r6), fib, (%r5); st.global.u32 [%rd3], %r6; ret;\n}\n";
static const char copies[] = HEAD
	".shared .align 16 .b8 box[4096];\n.shared .align 8 .b64 bar;\n" ENTRY
	"st.global.u32 [%rd3], %r4; bar.sync 0; mov.u32 %r5, box; mov.u32 %r6, bar; shl.b32 %r7, %r2, 2;\n"
	"setp.ne.u32 %p1, %r2, 0; @%p1 bra READY; mbarrier.init.shared.b64 [%r6], 1;\n"
	"READY: bar.sync 0; add.u32 %r8, %r5, %r7;\n"
	"cp.async.ca.shared.global [%r8], [%rd3], 4; cp.async.wait_all; bar.sync 0;\n"
	"@%p1 bra WAIT; mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 256;\n"
	"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [box+2048], [%rd1], 256, [%r6];\n"
	"WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r6], 0; @!%p2 bra WAIT;\n"
	"and.b32 %r9, %r7, 255; add.u32 %r9, %r5, %r9; ld.shared.u32 %r10, [%r9+2048];\n"
	"xor.b32 %r11, %r7, 4; add.u32 %r11, %r5, %r11;\n"
	"ld.shared.u32 %r12, [%r11]; mad.lo.u32 %r12, %r12, 7, %r10; bar.sync 0;\n"
	"st.global.u32 [%rd3], %r12; ret;\n}\n";
static const char cluster[] = HEAD
	".shared .align 4 .b32 box[64];\n" ENTRY
	"mov.u32 %r5, box; shl.b32 %r6, %r2, 2; add.u32 %r7, %r5, %r6; st.shared.u32 [%r7], %r4;\n"
	"barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r8, %cluster_ctarank; xor.b32 %r8, %r8, 1;\n"
	"mapa.shared::cluster.u32 %r9, %r7, %r8; ld.shared::cluster.u32 %r10, [%r9]; st.global.u32 [%rd3], %r10;\n"
	"barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";
/* named barriers with counts: producers and consumers */
static const char named[] =
	HEAD ".shared .align 4 .b32 box[32];\n" ENTRY
	     "mov.u32 %r8, 0; mov.u32 %r5, box; and.b32 %r6, %r2, 31; shl.b32 %r6, %r6, 2;\n"
	     "add.u32 %r5, %r5, %r6; mov.u32 %r7, 0;\n"
	     "setp.ge.u32 %p1, %r2, 32; @%p1 bra EAT;\n"
	     "MAKE: bar.sync 2, 64; st.shared.u32 [%r5], %r7; bar.arrive 1, 64;\n"
	     "add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 5; @%p2 bra MAKE; bra END;\n"
	     "EAT: bar.arrive 2, 64; bar.sync 1, 64; ld.shared.u32 %r9, [%r5];\n"
	     "mad.lo.u32 %r8, %r8, 10, %r9; add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 5;\n"
	     "@%p2 bra EAT;\n"
	     "END: st.global.u32 [%rd3], %r8; ret;\n}\n";
static const char clocks[] = HEAD ENTRY
	"mov.u64 %rd4, %clock64; WAIT: mov.u64 %rd5, %clock64; sub.s64 %rd5, %rd5, %rd4;\n"
	"setp.lt.s64 %p1, %rd5, 20000; @%p1 bra WAIT;\n"
	"st.global.u32 [%rd3], %r4; ret;\n}\n";
static const char local[] = HEAD ENTRY
	".local .align 4 .b32 a[16]; .reg .b64 %x<4>; mov.u64 %x1, a; mov.u32 %r5, 0;\n"
	"L: mul.wide.u32 %x2, %r5, 4; add.s64 %x2, %x1, %x2; mad.lo.u32 %r6, %r5, %r5, %r4;\n"
	"st.local.u32 [%x2], %r6; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 16; @%p1 bra L;\n"
	"and.b32 %r7, %r2, 15; mul.wide.u32 %x2, %r7, 4; add.s64 %x2, %x1, %x2;\n"
	"ld.local.u32 %r8, [%x2]; st.global.u32 [%rd3], %r8; ret;\n}\n";

static const struct kernel kernels[] = {
	{"divergent loops", loops, 5, 96, 0, 0, false},
	{"barriers", barriers, 4, 128, 0, 0, false},
	{"CTAs that wait for those before", forward, 40, 1, 0, 40, false},
	{"CTAs that wait for those behind", backward, 40, 1, 0, 40, false},
	{"atomics", atomics, 7, 100, 0, 0, false},
	{"a lock", lock, 3, 64, 0, 0, false},
	{"recursion", recursion, 3, 50, 0, 0, false},
	{"asynchronous copies", copies, 3, 128, 0, 0, false},
	{"clusters", cluster, 8, 64, 2, 0, false},
	{"named barriers", named, 3, 64, 0, 0, false},
	{"clocks", clocks, 3, 64, 0, 0, false},
	{"local memory", local, 3, 64, 0, 0, false},
};

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
	CHECK(out[1024 + 64 + 6] < 16 && out[1024 + 64 + 1] >= 16);
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
	CHECK(mem_init(&mem, (u64)1 << 30));
	out = (u32 *)(uintptr_t)mem_alloc(&mem, OUT_WORDS * 4, 0, MEM_KIND_DEVICE);
	for (u32 i = 0; i < ARRAY_LEN(kernels); i++) {
		test_same(&kernels[i], false);
		test_same(&kernels[i], true);
	}
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
