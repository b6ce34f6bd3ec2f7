/*
 * Calls on the gang engine: parameters and results of all kinds, recursion with saved rows,
 * divergence, function pointers, the stack, linked units, and what faults.
 */
#include "tests/check.h"
#include "src/lower/lower.h"
#include "tests/skip.h"
#include "tests/unit/exec_harness.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
/* clang-format off */
/* Kernel k: %r0 = thread, %rd0 = where its word of the result goes. */
#define KERNEL                                                                                     \
	".visible .entry k(.param .u64 out)\n{\n"                                                  \
	".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .b16 %h<4>;\n" \
	"ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mad.wide.u32 %rd0, %r0, 4, %rd0;\n"
/* clang-format on */
#define DONE "st.global.u32 [%rd0], %r1; ret;\n}\n"

static const char *const levels[] = {"base", "v2", "v3", "v4"};

/* Runs k with several block sizes; word t must be want(t). */
static void expect(const char *name, const char *ptx, u32 (*want)(u32 t))
{
	static const u32 blocks[] = {1, 32, 250, 1024};
	struct harness h;
	u64 out;

	if (!CHECK(harness_open(&h, ptx)))
		return;
	harness_place_vars(&h);
	out = mem_alloc(&h.mem, 1024 * 4, 0, MEM_KIND_DEVICE);
	for (u32 i = 0; i < 16; i++) {
		u32 n = blocks[i % 4], bad = 0;

		if (!check_level(exec_ops_select(levels[i / 4]), levels[i / 4]))
			continue;
		memset((void *)(uintptr_t)out, 0xcd, 4096);
		if (!CHECK_EQ(harness_run(&h, "k", 1, n, &out, levels[i / 4]), STOP_DONE))
			printf("# %s: fault %d: %s\n", name, (int)h.fault.kind, h.fault.text);
		for (u32 t = 0; t < n; t++)
			bad += ((u32 *)(uintptr_t)out)[t] != want(t);
		if (!CHECK_EQ(bad, 0))
			printf("# %s, block of %u, level %s: [0] = %u, want %u\n", name, n,
			       levels[i / 4], *(u32 *)(uintptr_t)out, want(0));
	}
	harness_close(&h);
}

/* One run that faults. */
static void expect_fault(const char *name, const char *ptx, u32 stack_limit, enum fault_kind kind,
			 const char *text)
{
	struct harness h;
	u64 out;

	if (!CHECK(harness_open(&h, ptx)))
		return;
	harness_place_vars(&h);
	h.stack_limit = stack_limit;
	out = mem_alloc(&h.mem, 4096, 0, MEM_KIND_DEVICE);
	if (!CHECK_EQ(harness_run(&h, "k", 1, 96, &out, NULL), STOP_FAULT) ||
	    !CHECK_EQ(h.fault.kind, kind) || !CHECK(strstr(h.fault.text, text)))
		printf("# %s: fault %d: %s\n", name, (int)h.fault.kind, h.fault.text);
	harness_close(&h);
}

/* ---- recursion ---- */

static const char fib[] = HEAD
	".func (.param .b32 r) fib(.param .b32 n)\n{\n"
	".reg .pred %p; .reg .b32 %a<6>;\n"
	"ld.param.u32 %a0, [n]; setp.lt.u32 %p, %a0, 2; @%p bra LEAF;\n"
	"sub.u32 %a1, %a0, 1;\n"
	"{ .param .b32 x; .param .b32 y; st.param.b32 [x], %a1; call.uni (y), fib, (x); ld.param.b32 %a2, [y]; }\n"
	"sub.u32 %a1, %a0, 2;\n"
	"{ .param .b32 x; .param .b32 y; st.param.b32 [x], %a1; call (y), fib, (x); ld.param.b32 %a3, [y]; }\n"
	"add.u32 %a2, %a2, %a3; st.param.b32 [r], %a2; ret;\n"
	"LEAF: st.param.b32 [r], %a0; ret;\n}\n" KERNEL
	"and.b32 %r1, %r0, 15; { .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; "
	"call (y), fib, (x); ld.param.b32 %r1, [y]; }\n" DONE;

static u32 want_fib(u32 t)
{
	u32 a = 0, b = 1;

	for (u32 i = 0; i < (t & 15); i++) {
		u32 c = a + b;

		a = b;
		b = c;
	}
	return a;
}

/* Registers as parameters; predicates and 64-bit registers live across the calls. */
static const char ackermann[] =
	HEAD ".func (.reg .u32 r) ack(.reg .u32 m, .reg .u32 n)\n{\n"
	     ".reg .pred %p<3>; .reg .b32 %a<6>; .reg .b64 %w;\n"
	     "setp.eq.u32 %p0, m, 0; setp.eq.u32 %p1, n, 0; cvt.u64.u32 %w, m;\n"
	     "@%p0 add.u32 r, n, 1; @%p0 ret;\n"
	     "sub.u32 %a0, m, 1; mov.u32 %a1, 1;\n"
	     "@%p1 bra ONE;\n"
	     "sub.u32 %a2, n, 1; call (%a1), ack, (m, %a2);\n"
	     "cvt.u32.u64 %a0, %w; sub.u32 %a0, %a0, 1;\n"
	     "@%p1 mov.u32 %a1, 77;\n"
	     "ONE: call (r), ack, (%a0, %a1);\nret;\n}\n" KERNEL
	     "and.b32 %r1, %r0, 3; shr.u32 %r2, %r0, 2; and.b32 %r2, %r2, 1; add.u32 %r2, %r2, 1; "
	     "call (%r1), ack, (%r2, %r1);\n" DONE;

static u32 want_ackermann(u32 t)
{
	u32 n = t & 3;

	return (t >> 2 & 1) + 1 == 1 ? n + 2 : 2 * n + 3;
}

static const char mutual[] = HEAD
	".func (.param .b32 r) odd(.param .b32 n);\n"
	".func (.param .b32 r) even(.param .b32 n)\n"
	"{ .reg .pred %p; .reg .b32 %a<3>; ld.param.b32 %a0, [n]; setp.eq.u32 %p, %a0, 0; @%p bra Z;\n"
	".param .b32 x; .param .b32 y; sub.u32 %a1, %a0, 1; st.param.b32 [x], %a1; "
	"call (y), odd, (x); ld.param.b32 %a1, [y];\n"
	"add.u32 %a1, %a1, %a0; st.param.b32 [r], %a1; ret; Z: st.param.b32 [r], 1000; ret; }\n"
	".func (.param .b32 r) odd(.param .b32 n)\n"
	"{ .reg .pred %p; .reg .b32 %a<3>; ld.param.b32 %a0, [n]; setp.eq.u32 %p, %a0, 0; @%p bra Z;\n"
	".param .b32 x; .param .b32 y; sub.u32 %a1, %a0, 1; st.param.b32 [x], %a1; "
	"call (y), even, (x); ld.param.b32 %a1, [y];\n"
	"add.u32 %a1, %a1, %a0; st.param.b32 [r], %a1; ret; Z: st.param.b32 [r], 0; ret; }\n" KERNEL
	".param .b32 x; .param .b32 y; and.b32 %r1, %r0, 63; st.param.b32 [x], %r1; "
	"call (y), even, (x); ld.param.b32 %r1, [y];\n" DONE;

static u32 want_mutual(u32 t)
{
	u32 n = t & 63;

	return n * (n + 1) / 2 + (n & 1 ? 0 : 1000);
}

/* 1000 and more activations. */
static const char deep[] = HEAD
	".func (.param .b32 r) sum(.param .b32 n)\n"
	"{ .reg .pred %p; .reg .b32 %a<3>; ld.param.b32 %a0, [n]; setp.eq.u32 %p, %a0, 0; @%p bra Z;\n"
	"{ .param .b32 x; .param .b32 y; sub.u32 %a1, %a0, 1; st.param.b32 [x], %a1; "
	"call (y), sum, (x); ld.param.b32 %a1, [y]; }\n"
	"add.u32 %a1, %a1, %a0; st.param.b32 [r], %a1; ret; Z: st.param.b32 [r], 0; ret; }\n" KERNEL
	"{ .param .b32 x; .param .b32 y; add.u32 %r1, %r0, 1000; st.param.b32 [x], %r1; "
	"call (y), sum, (x); ld.param.b32 %r1, [y]; }\n" DONE;

static void test_deep(void)
{
	struct harness h;
	u64 out;
	bool good = true;

	if (!CHECK(harness_open(&h, deep)))
		return;
	out = mem_alloc(&h.mem, 4096, 0, MEM_KIND_DEVICE);
	h.stack_limit = 64 << 10;
	CHECK_EQ(harness_run(&h, "k", 1, 100, &out, NULL), STOP_DONE);
	for (u32 t = 0; t < 100; t++)
		good &= ((u32 *)(uintptr_t)out)[t] == (1000 + t) * (1001 + t) / 2;
	CHECK(good);
	h.stack_limit = 1024;
	CHECK_EQ(harness_run(&h, "k", 1, 100, &out, NULL), STOP_FAULT);
	CHECK_EQ(h.fault.kind, FAULT_STACK_OVERFLOW);
	harness_close(&h);
}

/* ---- pointers ---- */

/* clang-format off */
#define FUNCTIONS \
	".func (.param .b32 r) f0(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; " \
	"add.u32 %a, %a, 7; st.param.b32 [r], %a; ret; }\n"    \
	".func (.param .b32 r) f1(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; " \
	"mul.lo.u32 %a, %a, 3; st.param.b32 [r], %a; ret; }\n" \
	".func (.param .b32 r) f2(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; " \
	"not.b32 %a, %a; st.param.b32 [r], %a; ret; }\n"
/* clang-format on */
#define TABLE ".global .align 8 .u64 tab[3] = {f0, f1, f2};\n"
#define PICK                                                                                       \
	"rem.u32 %r2, %r0, 3; mov.u64 %rd1, tab; mad.wide.u32 %rd1, %r2, 8, %rd1; ld.global.u64 %rd2, [%rd1];\n"
/* clang-format off */
#define INDIRECT(list)                                                                             \
	"{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; call (y), %rd2, (x), " list        \
	"; ld.param.b32 %r1, [y]; }\n"
/* clang-format on */
#define PROTO "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"

static const char table[] = HEAD FUNCTIONS TABLE KERNEL PICK PROTO INDIRECT("P") DONE;
static const char table_list[] =
	HEAD FUNCTIONS TABLE KERNEL PICK "L: .calltargets f0, f1, f2;\n" INDIRECT("L") DONE;
static const char table_array[] = HEAD FUNCTIONS TABLE KERNEL PICK INDIRECT("tab") DONE;
/* All lanes of a warp the same, warps not; the addresses by mov. */
static const char table_warps[] = HEAD FUNCTIONS KERNEL
	"shr.u32 %r2, %r0, 5; and.b32 %r2, %r2, 1; setp.eq.u32 %p1, %r2, 0;\n"
	"mov.u64 %rd2, f0; @!%p1 mov.u64 %rd2, f1;\n" PROTO INDIRECT("P") DONE;

static u32 want_table(u32 t)
{
	return t % 3 == 0 ? t + 7 : t % 3 == 1 ? 3 * t : ~t;
}

static u32 want_warps(u32 t)
{
	return t >> 5 & 1 ? 3 * t : t + 7;
}

static const char null_pointer[] = HEAD FUNCTIONS KERNEL
	"mov.u64 %rd2, 0; setp.ne.u32 %p1, %r0, 70; @%p1 mov.u64 %rd2, f0;\n" PROTO INDIRECT("P")
		DONE;
/* clang-format off */
static const char wrong_prototype[] = HEAD FUNCTIONS
	".func g(.param .b64 x) { ret; }\n" KERNEL "mov.u64 %rd2, g; mov.u64 %rd3, f0;\n" PROTO INDIRECT("P") DONE;

static const char other_prototype[] = HEAD FUNCTIONS
	".func g(.param .b64 x) { ret; }\n" KERNEL "mov.u64 %rd2, g; mov.u64 %rd3, f0;\n" PROTO
	"Q: .callprototype _ (.param .b64 _); setp.gt.u32 %p1, %r0, 5000; @%p1 call %rd2, (%rd3), Q;\n" INDIRECT(
		"P") DONE;
/* clang-format on */

/*
 * A function reached through a pointer that calls through a pointer: a cycle that only the
 * prototype shows.
 */
static const char pointer_recursion[] = HEAD
	".func (.param .b32 r) down(.param .b32 n, .param .b64 f)\n"
	"{ .reg .pred %p; .reg .b32 %a<3>; .reg .b64 %q; ld.param.b32 %a0, [n];\n"
	"ld.param.b64 %q, [f]; setp.eq.u32 %p, %a0, 0; @%p bra Z; sub.u32 %a1, %a0, 1;\n"
	"{ .param .b32 x; .param .b64 z; .param .b32 y; st.param.b32 [x], %a1; st.param.b64 [z], %q;\n"
	"P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _); "
	"call (y), %q, (x, z), P; ld.param.b32 %a1, [y]; }\n"
	"mad.lo.u32 %a1, %a0, %a0, %a1; st.param.b32 [r], %a1; ret; Z: st.param.b32 [r], 5; ret; }\n" KERNEL
	"{ .param .b32 x; .param .b64 z; .param .b32 y; and.b32 %r1, %r0, 7; "
	"st.param.b32 [x], %r1; mov.u64 %rd1, down;\n"
	"st.param.b64 [z], %rd1; call (y), down, (x, z); ld.param.b32 %r1, [y]; }\n" DONE;

static u32 want_squares(u32 t)
{
	u32 n = t & 7;

	return 5 + n * (n + 1) * (2 * n + 1) / 6;
}

/* ---- parameters ---- */

static const char structs[] = HEAD
	".func (.param .align 16 .b8 r[32]) swap(.param .align 8 .b8 s[24], .param .b8 c, "
	".param .f64 d, .param .b16 h)\n"
	"{ .reg .b32 %a<4>; .reg .b64 %w<4>; .reg .f64 %d; .reg .b16 %h;\n"
	"ld.param.b64 %w0, [s]; ld.param.b64 %w1, [s+8]; ld.param.b64 %w2, [s+16]; "
	"ld.param.u8 %a0, [c]; ld.param.f64 %d, [d]; ld.param.b16 %h, [h];\n"
	"cvt.rzi.u32.f64 %a1, %d; cvt.u32.u16 %a2, %h; add.u32 %a0, %a0, %a1; "
	"add.u32 %a0, %a0, %a2; cvt.u64.u32 %w3, %a0;\n"
	"st.param.v2.b64 [r], {%w2, %w1}; st.param.b64 [r+16], %w0; st.param.b64 [r+24], %w3; ret; }\n" KERNEL
	".param .align 16 .b8 q[32]; .reg .f64 %d;\n"
	"{ .param .align 8 .b8 s[24]; .param .b8 c; .param .f64 d; .param .b16 h; "
	"cvt.u64.u32 %rd1, %r0; st.param.b64 [s], %rd1; st.param.b64 [s+8], 100;\n"
	"st.param.b64 [s+16], 7; st.param.b8 [c], 3; mov.f64 %d, 0d4059000000000000; "
	"st.param.f64 [d], %d; mov.b16 %h0, 1000; st.param.b16 [h], %h0;\n"
	"call (q), swap, (s, c, d, h); }\n"
	"ld.param.b64 %rd1, [q]; ld.param.b64 %rd2, [q+8]; ld.param.b64 %rd3, [q+16]; ld.param.b64 %rd4, [q+24];\n"
	"mul.lo.u64 %rd1, %rd1, 1000000; add.u64 %rd1, %rd1, %rd2; add.u64 %rd1, %rd1, %rd4; "
	"add.u64 %rd1, %rd1, %rd3; cvt.u32.u64 %r1, %rd1;\n" DONE;

static u32 want_structs(u32 t)
{
	return 7000000 + 100 + 3 + 100 + 1000 + t;
}

/*
 * One module for what else a call can be: constants, no lists, results thrown away, an alias, a
 * kernel's own parameter.
 */
/* clang-format off */
static const char forms[] = HEAD
	".global .u32 hits;\n"
	".func touch { .reg .b32 %a; atom.global.add.u32 %a, [hits], 1; ret; }\n"
	".func (.reg .b64 r) wide(.reg .b64 a, .reg .f32 f, .reg .b16 h) { .reg .b64 %x; "
	".reg .b32 %y; cvt.rzi.u32.f32 %y, f; cvt.u64.u32 %x, %y;\n"
	"add.u64 r, a, %x; cvt.u64.u16 %x, h; add.u64 r, r, %x; ret; }\n"
	".func (.param .b64 r) same(.param .b64 a);\n"
	".func (.param .b64 r) same_body(.param .b64 a) { .reg .b64 %a; ld.param.b64 %a, [a]; "
	"st.param.b64 [r], %a; ret; }\n"
	".alias same, same_body;\n" KERNEL "call touch; call.uni touch, (); call (), touch, ();\n"
	"call (_), wide, (1, 0f40000000, 3); mov.b16 %h1, 40;\n"
	"call (%rd1), wide, (300, 0f41200000, %h1);\n"
	".param .b64 y; call (y), same, (out); ld.param.b64 %rd2, [y]; ld.param.b64 %rd3, [out]; "
	"sub.u64 %rd2, %rd2, %rd3; add.u64 %rd1, %rd1, %rd2;\n"
	"setp.gt.u32 %p1, %r0, 10; @%p1 call (%rd1), wide, (%rd1, 0f3f800000, 0);\n"
	"setp.gt.u32 %p2, %r0, 5000; @%p2 call touch;\n"
	"cvt.u32.u64 %r1, %rd1;\n" DONE;
/* clang-format on */

static u32 want_forms(u32 t)
{
	return 350 + (t > 10);
}

static const char variadic[] = HEAD
	".func (.param .b32 r) total(.param .b32 n, .param .align 8 .b8 rest[])\n"
	"{ .reg .pred %p; .reg .b32 %a<5>; .reg .b64 %q;\n"
	"ld.param.b32 %a0, [n]; mov.u32 %a1, 0; mov.u64 %q, rest;\n"
	"L: setp.eq.u32 %p, %a0, 0; @%p bra E; ld.local.u32 %a2, [%q]; add.u32 %a1, %a1, %a2; "
	"add.u64 %q, %q, 4; sub.u32 %a0, %a0, 1; bra L;\n"
	"E: ld.param.b32 %a3, [rest+4]; mad.lo.u32 %a1, %a3, 100, %a1; st.param.b32 [r], %a1; ret; }\n" KERNEL
	"{ .param .b32 n; .param .align 8 .b8 v[12]; .param .b32 y; st.param.b32 [n], 3; "
	"st.param.b32 [v], %r0; st.param.b32 [v+4], 2; st.param.b32 [v+8], 5;\n"
	"call (y), total, (n, v); ld.param.b32 %r1, [y]; }\n" DONE;

static u32 want_variadic(u32 t)
{
	return t + 207;
}

/* ---- rows of callers stay ---- */

static const char chain[] = HEAD
	".func (.reg .u32 r) h(.reg .u32 x) { .reg .b32 %a<4>; add.u32 %a0, x, 1; "
	"add.u32 %a1, %a0, 1; add.u32 %a2, %a1, 1; mul.lo.u32 r, %a2, %a1; ret; }\n"
	".func (.reg .u32 r) g(.reg .u32 x) { .reg .b32 %a<4>; add.u32 %a0, x, 10; "
	"call (%a1), h, (%a0); add.u32 %a2, %a1, x; call (%a3), h, (%a2); \n"
	"add.u32 r, %a3, %a0; add.u32 r, r, %a1; ret; }\n"
	".func (.reg .u32 r) f(.reg .u32 x) { .reg .b32 %a<4>; mul.lo.u32 %a0, x, 5; "
	"call (%a1), g, (x); call (%a2), h, (%a1); add.u32 r, %a0, %a2; add.u32 r, r, %a1; ret; }\n" KERNEL
	"mov.u32 %r2, 0; mov.u32 %r1, 0; and.b32 %r5, %r0, 7;\n"
	"LOOP: setp.ge.u32 %p1, %r2, %r5; @%p1 bra END; add.u32 %r3, %r0, %r2; "
	"call (%r4), f, (%r3); add.u32 %r1, %r1, %r4; add.u32 %r2, %r2, 1;\n"
	"bra LOOP;\nEND: add.u32 %r1, %r1, %r0;\n" DONE;

static u32 chain_h(u32 x)
{
	return (x + 3) * (x + 2);
}

static u32 chain_g(u32 x)
{
	u32 a1 = chain_h(x + 10);

	return chain_h(a1 + x) + x + 10 + a1;
}

static u32 want_chain(u32 t)
{
	u32 sum = t;

	for (u32 i = 0; i < (t & 7); i++)
		sum += 5 * (t + i) + chain_h(chain_g(t + i)) + chain_g(t + i);
	return sum;
}

/*
 * A warp barrier and a CTA barrier in a function, called from both sides of a branch; some threads
 * have left before.
 */
static const char barriers[] = HEAD
	".shared .align 4 .u32 cell[1024];\n"
	".func (.reg .u32 r) meet(.reg .u32 t, .reg .u32 n) { .reg .b32 %a<5>; mov.u32 %a0, cell; "
	"mad.lo.u32 %a0, t, 4, %a0; st.shared.u32 [%a0], t;\n"
	"bar.sync 0; sub.u32 %a1, n, t; sub.u32 %a1, %a1, 1; mov.u32 %a0, cell; "
	"mad.lo.u32 %a0, %a1, 4, %a0; ld.shared.u32 r, [%a0]; bar.sync 0; ret; }\n" KERNEL
	"mov.u32 %r2, %ntid.x; and.b32 %r3, %r0, 32; setp.eq.u32 %p1, %r3, 0; @%p1 bra A;\n"
	"call (%r1), meet, (%r0, %r2); add.u32 %r1, %r1, 1; bra B;\n"
	"A: call (%r1), meet, (%r0, %r2);\nB: sub.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r0;\n" DONE;

static u32 want_barriers(u32 t)
{
	return (t & 32 ? 1 : 0) - 1u;
}

/*
 * Lanes diverged by a branch around a call are together again behind it: activemask sees all of
 * them.
 */
static const char together[] = HEAD FUNCTIONS KERNEL
	"and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 0; mov.u32 %r1, %r0; @%p1 bra B;\n"
	"{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; call (y), f0, (x); ld.param.b32 %r1, [y]; }\n"
	"B: activemask.b32 %r4; popc.b32 %r4, %r4; mov.u32 %r5, %ntid.x; and.b32 %r6, %r0, 992; "
	"sub.u32 %r5, %r5, %r6; min.u32 %r5, %r5, 32;\n"
	"sub.u32 %r4, %r4, %r5; add.u32 %r1, %r1, %r4;\n" DONE;

static u32 want_together(u32 t)
{
	return t & 1 ? t + 7 : t;
}

/* ---- ends inside functions ---- */

static const char leaving[] = HEAD
	".func leave(.reg .u32 t, .reg .u64 p) { .reg .pred %p<2>; .reg .b32 %a; and.b32 %a, t, 3; "
	"setp.eq.u32 %p0, %a, 1; setp.eq.u32 %p1, %a, 2;\n"
	"@%p0 st.global.u32 [p], 11; @%p0 exit; @%p1 ret; st.global.u32 [p], 33; ret; }\n" KERNEL
	"mov.u32 %r1, 22; st.global.u32 [%rd0], %r1; call leave, (%r0, %rd0); "
	"ld.global.u32 %r1, [%rd0]; add.u32 %r1, %r1, 100;\n" DONE;

static u32 want_leaving(u32 t)
{
	return (t & 3) == 1 ? 11 : (t & 3) == 2 ? 122 : 133;
}

/* ---- the stack ---- */

static const char stack[] = HEAD
	".func (.reg .u32 r) fill(.reg .u32 n) { .reg .pred %p; .reg .b64 %q<4>; .reg .b32 %a<5>; "
	"stacksave.u64 %q0; mul.wide.u32 %q1, n, 4;\n"
	"alloca.u64 %q2, %q1, 64; and.b64 %q3, %q2, 63; cvt.u32.u64 r, %q3; mov.u32 %a0, 0;\n"
	"L: setp.ge.u32 %p, %a0, n; @%p bra E; mad.wide.u32 %q3, %a0, 4, %q2; "
	"st.local.u32 [%q3], %a0; add.u32 %a0, %a0, 1; bra L;\n"
	"E: mov.u32 %a0, 0;\nM: setp.ge.u32 %p, %a0, n; @%p bra X; mad.wide.u32 %q3, %a0, 4, %q2; "
	"ld.local.u32 %a1, [%q3]; add.u32 r, r, %a1;\n"
	"add.u32 %a0, %a0, 1; bra M;\n"
	"X: stackrestore.u64 %q0; stacksave.u64 %q1; sub.u64 %q1, %q1, %q0; cvt.u32.u64 %a1, %q1; "
	"add.u32 r, r, %a1; ret; }\n" KERNEL
	".reg .b64 %s<3>; and.b32 %r2, %r0, 31; mov.u64 %s0, 16; alloca.u64 %s1, %s0; "
	"st.local.u32 [%s1], 9; call (%r1), fill, (%r2); ld.local.u32 %r3, [%s1];\n"
	"add.u32 %r1, %r1, %r3;\n" DONE;

static u32 want_stack(u32 t)
{
	u32 n = t & 31;

	return (n ? n * (n - 1) / 2 : 0) + 9;
}

static const char stack_overflow[] = HEAD KERNEL
	".reg .b64 %s<3>; mov.u64 %s0, 100000000; alloca.u64 %s1, %s0; mov.u32 %r1, 0;\n" DONE;

/* The address of a parameter: local. And an aligned local variable in every activation. */
static const char addresses[] = HEAD
	".func (.param .b32 r) second(.param .align 8 .b8 p[16]) { .reg .b64 %q<3>; .reg .b32 %a; "
	".local .align 64 .b8 buf[64]; .reg .b32 %b;\n"
	"mov.u64 %q0, p; ld.local.u32 %a, [%q0+4]; mov.u64 %q1, buf; and.b64 %q2, %q1, 63; "
	"cvt.u32.u64 %b, %q2; add.u32 %a, %a, %b;\n"
	"cvta.local.u64 %q1, %q1; st.u32 [%q1+60], %a; ld.local.u32 %a, [buf+60]; st.param.b32 [r], %a; ret; }\n" KERNEL
	"{ .param .align 8 .b8 v[16]; .param .b32 y; st.param.b32 [v+4], %r0; "
	"call (y), second, (v); ld.param.b32 %r1, [y]; }\n" DONE;

static u32 want_thread(u32 t)
{
	return t;
}

/* ---- faults ---- */

/* clang-format off */
static const char trap[] = HEAD ".func die { trap; }\n" KERNEL
				"setp.eq.u32 %p1, %r0, 40; mov.u32 %r1, 0; @%p1 call die;\n" DONE;
/* clang-format on */
static const char brkpt[] =
	HEAD KERNEL "setp.eq.u32 %p1, %r0, 40; mov.u32 %r1, 0; @%p1 brkpt;\n" DONE;
static const char index_fault[] = HEAD KERNEL
	"mov.u32 %r1, 0; T: .branchtargets A, B; brx.idx %r0, T;\nA: mov.u32 %r1, 1;\nB:\n" DONE;

/* ---- two units ---- */

static const char unit_a[] = HEAD
	".extern .func (.param .b32 r) there(.param .b32 x);\n.extern .global .u32 shift;\n"
	".extern .shared .align 4 .u32 pad[8];\n"
	".visible .func (.param .b32 r) here(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; "
	"mul.lo.u32 %a, %a, 2; st.param.b32 [r], %a; ret; }\n" KERNEL
	"{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; call (y), there, (x); ld.param.b32 %r1, [y]; }\n"
	"ld.global.u32 %r2, [shift]; add.u32 %r1, %r1, %r2; bar.sync 0; "
	"ld.shared.u32 %r2, [pad+4]; add.u32 %r1, %r1, %r2;\n" DONE;
static const char unit_b[] = HEAD
	".visible .global .u32 shift = 5;\n.visible .shared .align 4 .u32 pad[8];\n"
	".extern .func (.param .b32 r) here(.param .b32 x);\n"
	".global .u64 pointer = here;\n"
	".visible .func (.param .b32 r) there(.param .b32 x) { .reg .b32 %a; .reg .b64 %q; "
	"ld.param.b32 %a, [x]; ld.global.u64 %q, [pointer]; st.shared.u32 [pad+4], 70;\n"
	"{ .param .b32 u; .param .b32 v; st.param.b32 [u], %a; "
	"P: .callprototype (.param .b32 _) _ (.param .b32 _); call (v), %q, (u), P; ld.param.b32 %a, [v]; }\n"
	"add.u32 %a, %a, 1; st.param.b32 [r], %a; ret; }\n";

static void place(struct harness *h, struct harness *home, const struct exec_unit *units, u32 n)
{
	for (u32 i = 0; i < h->m->vars.len; i++) {
		const struct ir_var *v = h->m->vars.at[i];

		if (v->space != M_global)
			continue;
		if (v->definition == v) {
			h->var_address[i] =
				mem_alloc(&home->mem, v->size_bytes, v->align, MEM_KIND_DEVICE);
			if (v->data)
				memcpy((void *)(uintptr_t)h->var_address[i], v->data, v->data_len);
			if (v->relocs_len)
				*(u64 *)(uintptr_t)h->var_address[i] = exec_function_address(
					units, n, (u32)(h != home), v->relocs[0].index);
		}
	}
}

static void test_units(void)
{
	struct harness a, b;
	struct exec_unit units[2];
	struct ir_module *modules[2];
	struct lower_options options = {.warps = 2, .units = units, .unit_len = 2};
	struct program *p;
	u64 out;

	if (!CHECK(harness_open(&a, unit_a)) || !CHECK(harness_open(&b, unit_b)))
		return;
	modules[0] = a.m;
	modules[1] = b.m;
	units[0] = (struct exec_unit){a.m, a.var_address};
	units[1] = (struct exec_unit){b.m, b.var_address};
	CHECK(ir_link(modules, 2, IR_LINK_PARTS, NULL, &a.d));
	place(&b, &a, units, 2);
	place(&a, &a, units, 2);
	for (u32 i = 0; i < a.m->vars.len; i++)
		for (u32 k = 0; k < b.m->vars.len; k++)
			if (a.m->vars.at[i]->definition == b.m->vars.at[k])
				a.var_address[i] = b.var_address[k];
	CHECK(exec_function_address(units, 2, 0, ir_find_func(a.m, "there")->index) ==
	      exec_function_address(units, 2, 1, ir_find_func(b.m, "there")->index));
	CHECK(exec_function_at(
		      units, 2,
		      exec_function_address(units, 2, 1, ir_find_func(b.m, "here")->index)) ==
	      ir_find_func(a.m, "here"));
	CHECK(!exec_function_at(units, 2, 0) && !exec_function_at(units, 2, 17) &&
	      !exec_function_at(units, 2, 1 << 20));
	out = mem_alloc(&a.mem, 4096, 0, MEM_KIND_DEVICE);
	p = exec_lower(a.m, ir_find_func(a.m, "k"), arch_find("h200"), a.var_address, &options,
		       &a.d);
	if (CHECK(p)) {
		u32 tid[3 * 64] = {0}, bad = 0;

		for (u32 i = 0; i < 64; i++)
			tid[i] = i;
		CHECK_EQ(p->shared_static, 32);
		a.env = (struct exec_env){
			.program = p,
			.ops = exec_ops_select(NULL),
			.mem = &a.mem,
			.params = (const u8 *)&out,
			.grid = {1, 1, 1},
			.block = {64, 1, 1},
			.shared_bytes = 64,
			.cluster = {1, 1, 1},
			.local_bytes = exec_local_bytes(p, 0),
			.cancel = &a.cancel,
			.tid = tid,
		};
		CHECK_EQ(harness_grid(&a, 10000, 0), STOP_DONE);
		for (u32 t = 0; t < 64; t++)
			bad += ((u32 *)(uintptr_t)out)[t] != 2 * t + 76;
		CHECK_EQ(bad, 0);
		exec_program_free(p);
	}
	harness_close(&b);
	harness_close(&a);
}

int main(void)
{
	expect("fib", fib, want_fib);
	expect("ackermann", ackermann, want_ackermann);
	expect("mutual recursion", mutual, want_mutual);
	expect("recursion by pointer", pointer_recursion, want_squares);
	expect("table", table, want_table);
	expect("table with a list", table_list, want_table);
	expect("table by name", table_array, want_table);
	expect("table by warps", table_warps, want_warps);
	expect("structs", structs, want_structs);
	expect("forms", forms, want_forms);
	expect("variadic", variadic, want_variadic);
	expect("chain", chain, want_chain);
	expect("barriers", barriers, want_barriers);
	expect("together", together, want_together);
	expect("leaving", leaving, want_leaving);
	expect("stack", stack, want_stack);
	expect("addresses", addresses, want_thread);
	expect_fault("null pointer", null_pointer, 0, FAULT_INVALID_PC, "call of 0x0");
	expect_fault("wrong prototype", wrong_prototype, 0, FAULT_INVALID_PC, "call of 0x");
	expect_fault("other prototype", other_prototype, 0, FAULT_INVALID_PC,
		     "call of 'g' with other parameters");
	expect_fault("alloca", stack_overflow, 0, FAULT_STACK_OVERFLOW, "");
	expect_fault("trap", trap, 0, FAULT_TRAP, "");
	expect_fault("brkpt", brkpt, 0, FAULT_TRAP, "");
	expect_fault("brx.idx", index_fault, 0, FAULT_INVALID_PC, "index 2 into a table of 2");
	test_deep();
	test_units();
	return check_done();
}
