/*
 * Gangs whose lanes part (src/exec/diverged.h): loops of different lengths, switches, early exits,
 * locks, warp instructions and barriers in branches, at every level of the host, with turns long
 * and short. Every thread leaves one word.
 */
#include "tests/check.h"
#include "tests/skip.h"
#include "tests/unit/exec_harness.h"

#define THREADS_MAX 256u

/* clang-format off */
/* %r0: thread, %r1: lane, %r2: warp; %r9 is stored at the label DONE. */
#define HEAD                                                                                       \
	".version 8.0\n.target sm_80\n.address_size 64\n"                                          \
	".func (.reg .b32 %x) twice(.reg .b32 %y)\n"                                               \
	"{ .reg .pred %p; setp.gt.u32 %p, %y, 100; @%p bra B; add.u32 %x, %y, %y; ret;\n"          \
	"B: mul.lo.u32 %x, %y, 3; ret; }\n"                                                        \
	".visible .entry k(.param .u64 out, .param .u32 seven)\n{\n"                               \
	".reg .b64 %d<8>; .reg .b32 %r<16>; .reg .pred %p<8>;\n"                                   \
	".shared .align 4 .u32 lock; .shared .align 4 .u32 sum; .shared .align 16 .b32 s[256];\n"  \
	"mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; shr.u32 %r2, %r0, 5; mov.u32 %r9, 0;\n"        \
	"shl.b32 %r3, %r0, 2; mov.u32 %r4, s; add.u32 %r4, %r4, %r3; st.shared.u32 [%r4], %r0;\n"  \
	"setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [lock], 0; @%p0 st.shared.u32 [sum], 0;\n"    \
	"bar.sync 0;\n"
#define TAIL                                                                                       \
	"DONE: ld.param.u64 %d0, [out]; mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1;\n"        \
	"st.global.u32 [%d0], %r9; ret;\n}\n"
/* clang-format on */

static u32 want_loop(u32 t, u32 n)
{
	(void)n;
	return t * 7 % 29 * (t * 7 % 29 + 1) / 2 + t;
}

static u32 want_nested(u32 t, u32 n)
{
	u32 x = 0;

	(void)n;
	for (u32 i = 0; i < t % 5; i++)
		for (u32 k = 0; k <= (t ^ i) % 7; k++)
			x = k & 1 ? x * 3 + i : x + t;
	return x;
}

static u32 want_wide(u32 t, u32 n)
{
	u64 x = 0xfffffff0u;

	(void)n;
	for (u32 i = 0; i < t % 9; i++)
		x = x * 5 + t;
	return (u32)(x >> 32) ^ (u32)x;
}

static u32 want_found(u32 t, u32 n)
{
	(void)n;
	return t % 11 == 3 ? 1000 + t : t % 11;
}

static u32 want_warp(u32 t, u32 n)
{
	u32 x = 0, lanes = n - t / 32 * 32 < 32 ? n - t / 32 * 32 : 32;

	if (t / 32 % 3 != 1 || lanes < 32)
		return t;
	for (u32 l = 0; l < 32; l++)
		x += t / 32 * 32 + l;
	return x;
}

static u32 want_half(u32 t, u32 n)
{
	(void)n;
	return t % 32 < 16 ? t ^ 5 : t + 1;
}

static u32 want_switch(u32 t, u32 n)
{
	(void)n;
	return t % 24 * 10 + 5;
}

static u32 want_ladder(u32 t, u32 n)
{
	(void)n;
	return t % 24 < 20 ? t % 24 + 100 : 77;
}

static u32 want_count(u32 t, u32 n)
{
	(void)t;
	return n;
}

static u32 want_named(u32 t, u32 n)
{
	u32 part = n / 64 * 32;

	return t < part ? (t + 32) % part : t;
}

static u32 want_guards(u32 t, u32 n)
{
	u32 x = t % 3 ? t : 7;

	(void)n;
	if (t & 1)
		return x;
	return t % 3 == 1 ? x * 2 + 1 : x + 100;
}

static u32 want_carry(u32 t, u32 n)
{
	(void)n;
	return (t % 4 == 0) + (t & 1 ? 10 : 0);
}

static u32 want_call(u32 t, u32 n)
{
	(void)n;
	return t % 3 == 0 ? (t > 100 ? t * 3 : t * 2) + 3 : t % 7;
}

static u32 want_pred(u32 t, u32 n)
{
	(void)n;
	return (t & 2 ? 1 : 0) + (t % 5 > 2 ? 2 : 0) + (t & 1 ? 4 : 0);
}

static u32 want_special(u32 t, u32 n)
{
	return t & 1 ? n * 100 + t % 32 + 7 : 3;
}

static u32 want_vector(u32 t, u32 n)
{
	u32 first = t / 4 * 4;

	if (t % 3 || first + 4 > n)
		return 1;
	return first + (first + 1) * 2 + (first + 2) * 3 + (first + 3) * 4;
}

static u32 want_atom(u32 t, u32 n)
{
	u32 all = 0;

	for (u32 i = 0; i < n; i++)
		all += i % 6;
	return all + t;
}

#define RUNG(n) "setp.eq.u32 %p1, %r5, " #n "; @%p1 bra L" #n ";\n"
#define LAND(n) "L" #n ": mov.u32 %r9, " #n "; add.u32 %r9, %r9, 100; bra DONE;\n"
#define CASE(n) "S" #n ": mov.u32 %r9, " #n "0; add.u32 %r9, %r9, 5; bra DONE;\n"
/* clang-format off */
#define TWENTY(X)                                                                                  \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)      \
	X(16) X(17) X(18) X(19)
/* clang-format on */

static const struct {
	const char *what, *body;
	u32 (*want)(u32 thread, u32 threads);
} cases[] = {
	{"a loop of as many turns as the lane says",
	 "mul.lo.u32 %r5, %r0, 7; rem.u32 %r5, %r5, 29; mov.u32 %r9, %r0; setp.eq.u32 %p1, %r5, 0;\n"
	 "@%p1 bra DONE;\nL: add.u32 %r9, %r9, %r5; sub.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0;\n"
	 "@%p1 bra L;\n",
	 want_loop},
	{"loops in loops, with a choice inside",
	 "rem.u32 %r5, %r0, 5; mov.u32 %r6, 0;\n"
	 "O: setp.ge.u32 %p1, %r6, %r5; @%p1 bra DONE;\n"
	 "xor.b32 %r7, %r0, %r6; rem.u32 %r7, %r7, 7; mov.u32 %r8, 0;\n"
	 "I: and.b32 %r10, %r8, 1; setp.eq.u32 %p2, %r10, 0; @%p2 bra E;\n"
	 "mad.lo.u32 %r9, %r9, 3, %r6; bra N;\nE: add.u32 %r9, %r9, %r0;\n"
	 "N: add.u32 %r8, %r8, 1; setp.le.u32 %p2, %r8, %r7; @%p2 bra I;\n"
	 "add.u32 %r6, %r6, 1; bra O;\n",
	 want_nested},
	{"64-bit values of lanes that wait are kept",
	 "rem.u32 %r5, %r0, 9; mov.u64 %d2, 0xfffffff0; cvt.u64.u32 %d3, %r0;\n"
	 "O: setp.eq.u32 %p1, %r5, 0; @%p1 bra X; mad.lo.u64 %d2, %d2, 5, %d3;\n"
	 "sub.u32 %r5, %r5, 1; bra O;\nX: mov.b64 {%r5, %r6}, %d2; xor.b32 %r9, %r5, %r6;\n",
	 want_wide},
	{"lanes that find something leave early",
	 "rem.u32 %r5, %r0, 11; mov.u32 %r6, 0;\n"
	 "L: setp.eq.u32 %p1, %r6, %r5; @%p1 bra F; add.u32 %r6, %r6, 1; bra L;\n"
	 "F: mov.u32 %r9, %r6; setp.ne.u32 %p1, %r6, 3; @%p1 bra DONE;\n"
	 "add.u32 %r9, %r0, 1000; ld.param.u64 %d0, [out]; mul.wide.u32 %d1, %r0, 4;\n"
	 "add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %r9; exit;\n",
	 want_found},
	{"whole warps shuffle in a branch of theirs",
	 "mov.u32 %r9, %r0; rem.u32 %r5, %r2, 3; setp.ne.u32 %p1, %r5, 1; @%p1 bra DONE;\n"
	 "mov.u32 %r5, %ntid.x; shl.b32 %r6, %r2, 5; sub.u32 %r5, %r5, %r6;\n"
	 "setp.lt.u32 %p1, %r5, 32; @%p1 bra DONE;\n"
	 "mov.u32 %r5, 16;\nL: shfl.sync.bfly.b32 %r6, %r9, %r5, 31, -1; add.u32 %r9, %r9, %r6;\n"
	 "shr.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra L;\n",
	 want_warp},
	{"half a warp shuffles",
	 "add.u32 %r9, %r0, 1; setp.ge.u32 %p1, %r1, 16; @%p1 bra DONE;\n"
	 "shfl.sync.bfly.b32 %r9, %r0, 5, 31, 0xffff;\n",
	 want_half},
	{"a switch of more ways than groups may wait",
	 "rem.u32 %r5, %r0, 24;\nT: .branchtargets S0, S1, S2, S3, S4, S5, S6, S7, S8, S9, S10, S11,\n"
	 "S12, S13, S14, S15, S16, S17, S18, S19, S20, S21, S22, S23; brx.idx %r5, T;\n" TWENTY(
		 CASE) CASE(20) CASE(21) CASE(22) CASE(23),
	 want_switch},
	{"a ladder of more branches than groups may wait",
	 "rem.u32 %r5, %r0, 24;\n" TWENTY(RUNG) "mov.u32 %r9, 77; bra DONE;\n" TWENTY(LAND),
	 want_ladder},
	{"a lock that lanes of one gang take by turns",
	 "W: atom.shared.cas.b32 %r5, [lock], 0, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra W;\n"
	 "ld.volatile.shared.u32 %r6, [sum]; add.u32 %r6, %r6, 1; st.volatile.shared.u32 [sum], %r6;\n"
	 "membar.cta; atom.shared.exch.b32 %r5, [lock], 0;\n"
	 "bar.sync 0; ld.shared.u32 %r9, [sum];\n",
	 want_count},
	{"some warps meet at a barrier of theirs",
	 "mov.u32 %r9, %r0; mov.u32 %r5, %ntid.x; shr.u32 %r5, %r5, 6; shl.b32 %r5, %r5, 5;\n"
	 "setp.ge.u32 %p1, %r0, %r5; @%p1 bra DONE;\n"
	 "add.u32 %r6, %r0, 1; st.shared.u32 [%r4], %r6; barrier.sync 1, %r5;\n"
	 "add.u32 %r6, %r0, 32; rem.u32 %r6, %r6, %r5; shl.b32 %r7, %r6, 2; mov.u32 %r8, s;\n"
	 "add.u32 %r7, %r7, %r8; ld.shared.u32 %r9, [%r7]; sub.u32 %r9, %r9, 1;\n",
	 want_named},
	{"guards in branches and outside of them",
	 "rem.u32 %r5, %r0, 3; setp.eq.u32 %p1, %r5, 1; setp.eq.u32 %p2, %r5, 0; mov.u32 %r9, %r0;\n"
	 "@%p2 st.shared.u32 [%r4], 7; @%p2 mov.u32 %r9, 7; and.b32 %r6, %r0, 1;\n"
	 "setp.ne.u32 %p3, %r6, 0; @%p3 bra DONE;\n"
	 "@%p1 shl.b32 %r9, %r9, 1; @%p1 add.u32 %r9, %r9, 1; @%p2 ld.shared.u32 %r9, [%r4];\n"
	 "@!%p1 add.u32 %r9, %r9, 100;\n",
	 want_guards},
	{"the carry of lanes that wait is kept",
	 "and.b32 %r5, %r0, 3; sub.u32 %r5, %r5, 1; add.cc.u32 %r6, %r5, 1; and.b32 %r7, %r0, 1;\n"
	 "setp.eq.u32 %p1, %r7, 0; @%p1 bra X; mov.u32 %r9, 10; add.cc.u32 %r6, %r9, 1;\n"
	 "X: addc.u32 %r9, %r9, 0;\n",
	 want_carry},
	{"a function is called in a branch",
	 "rem.u32 %r5, %r0, 3; mov.u32 %r9, 0; setp.ne.u32 %p1, %r5, 0; @%p1 bra L;\n"
	 "call.uni (%r9), twice, (%r0); mov.u32 %r6, 3; bra M;\nL: rem.u32 %r6, %r0, 7;\n"
	 "M: setp.eq.u32 %p1, %r6, 0; @%p1 bra DONE; add.u32 %r9, %r9, 1; sub.u32 %r6, %r6, 1; bra M;\n",
	 want_call},
	{"predicates of lanes that wait are kept",
	 "and.b32 %r5, %r0, 2; setp.ne.u32 %p2, %r5, 0; and.b32 %r5, %r0, 1; setp.ne.u32 %p1, %r5, 0;\n"
	 "rem.u32 %r6, %r0, 5; setp.gt.u32 %p3, %r6, 2; @!%p1 bra X; setp.gt.u32 %p4, %r6, 2;\n"
	 "mov.u32 %r9, 4; and.pred %p3, %p4, %p3; mov.pred %p4, %p2;\n"
	 "X: @%p2 add.u32 %r9, %r9, 1; @%p3 add.u32 %r9, %r9, 2;\n",
	 want_pred},
	{"special registers and parameters are read in a branch",
	 "mov.u32 %r9, 3; and.b32 %r5, %r0, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra DONE;\n"
	 "mov.u32 %r5, %ntid.x; mov.u32 %r6, %laneid; ld.param.u32 %r7, [seven];\n"
	 "mad.lo.u32 %r9, %r5, 100, %r6; add.u32 %r9, %r9, %r7;\n",
	 want_special},
	{"vectors are loaded in a branch",
	 "mov.u32 %r9, 1; rem.u32 %r5, %r0, 3; setp.ne.u32 %p1, %r5, 0; @%p1 bra DONE;\n"
	 "and.b32 %r5, %r0, -4; mov.u32 %r6, %ntid.x; add.u32 %r7, %r5, 4;\n"
	 "setp.gt.u32 %p1, %r7, %r6; @%p1 bra DONE; shl.b32 %r5, %r5, 2; mov.u32 %r6, s;\n"
	 "add.u32 %r5, %r5, %r6; ld.shared.v4.u32 {%r9, %r6, %r7, %r8}, [%r5];\n"
	 "mad.lo.u32 %r9, %r6, 2, %r9; mad.lo.u32 %r9, %r7, 3, %r9; mad.lo.u32 %r9, %r8, 4, %r9;\n",
	 want_vector},
	{"atomics in loops of different lengths",
	 "rem.u32 %r5, %r0, 6;\nL: setp.eq.u32 %p1, %r5, 0; @%p1 bra X;\n"
	 "atom.shared.add.u32 %r6, [sum], 1; sub.u32 %r5, %r5, 1; bra L;\n"
	 "X: bar.sync 0; ld.shared.u32 %r9, [sum]; add.u32 %r9, %r9, %r0;\n",
	 want_atom},
};

/* How many of the threads' words are wrong; all of them when the kernel does not end. */
static u32 count_wrong(u32 i, u32 threads, s32 budget, const char *level)
{
	struct {
		u64 out;
		u32 seven;
	} params = {.seven = 7};
	struct text t = {0};
	struct harness h;
	u32 wrong = threads;

	text_printf(&t, "%s%s%s", HEAD, cases[i].body, TAIL);
	if (!harness_open(&h, t.at))
		return wrong;
	params.out = mem_alloc(&h.mem, 4 * THREADS_MAX, 0, MEM_KIND_DEVICE);
	h.budget = budget;
	h.turns = 1000000;
	if (harness_run(&h, "k", 2, threads, &params, level) == STOP_DONE) {
		const u32 *out = (const u32 *)(uintptr_t)params.out;

		wrong = 0;
		for (u32 k = 0; k < threads; k++)
			wrong += out[k] != cases[i].want(k, threads);
	}
	harness_close(&h);
	text_fini(&t);
	return wrong;
}

int main(void)
{
	static const char *const levels[] = {"v4", "v3", "v2", "base"};
	static const u32 threads[] = {256, 200, 64, 31};
	static const s32 budgets[] = {10000, 3};

	for (u32 l = 0; l < ARRAY_LEN(levels); l++)
		for (u32 i = 0, runs = check_level(exec_ops_select(levels[l]), levels[l]);
		     runs && i < ARRAY_LEN(cases); i++) {
			u32 wrong = 0;

			for (u32 n = 0; n < ARRAY_LEN(threads); n++)
				for (u32 b = 0; b < ARRAY_LEN(budgets); b++)
					wrong += count_wrong(i, threads[n], budgets[b], levels[l]);
			CHECK_MSG(!wrong, cases[i].what);
		}
	return check_done();
}
