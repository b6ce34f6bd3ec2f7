/*
 * Pairs of records put together, copies left out, and accesses of parts of warps: every host level
 * against plain C. Also where a temporary is read twice and where a copy must stay.
 */
#include "tests/check.h"
#include "tests/unit/exec_harness.h"

#define THREADS 100u
#define WORDS 8u

static const char text[] =
	".version 7.0\n.target sm_80\n.address_size 64\n"
	".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
	".reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %rd<12>;\n"
	"ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out];\n"
	"cvta.to.global.u64 %rd2, %rd0; cvta.to.global.u64 %rd3, %rd1;\n"
	"mov.u32 %r0, %tid.x; mul.wide.s32 %rd4, %r0, 4; add.s64 %rd5, %rd2, %rd4; ld.global.u32 %r1, [%rd5];\n"
	/* words 0 to 2: each pair, its temporary read once */
	"shl.b32 %r2, %r1, 13; xor.b32 %r3, %r2, %r1; shr.u32 %r4, %r3, 17; xor.b32 %r5, %r3, %r4;\n"
	"mad.lo.s32 %r6, %r5, 1664525, 1013904223;\n"
	"shl.b32 %r7, %r0, 3; add.s32 %r8, %r7, %r1;\n"
	/* word 3: a temporary read twice; a count past the width */
	"shl.b32 %r9, %r1, 5; xor.b32 %r10, %r9, %r0; add.s32 %r11, %r10, %r9;\n"
	"shl.b32 %r12, %r1, 40; xor.b32 %r13, %r12, %r11;\n"
	/* word 4: the copy of a register that changes in a loop */
	"mov.u32 %r14, 0; mov.u32 %r15, 7; mov.u32 %r16, %r1;\n"
	"L: mov.u32 %r17, %r16; add.s32 %r16, %r16, %r15; add.s32 %r14, %r14, 1;\n"
	"setp.lt.u32 %p1, %r14, 5; @%p1 bra L;\n"
	"xor.b32 %r18, %r17, %r16;\n"
	/* word 5: a load and, below, a store of some lanes only */
	"add.s32 %r19, %r0, -3; setp.lt.u32 %p2, %r19, 17; mov.u32 %r20, 99;\n"
	"@%p2 ld.global.u32 %r20, [%rd5+4];\n"
	"mul.wide.s32 %rd6, %r0, 32; add.s64 %rd7, %rd3, %rd6;\n"
	"st.global.u32 [%rd7], %r5; st.global.u32 [%rd7+4], %r6;\n"
	"st.global.u32 [%rd7+8], %r8; st.global.u32 [%rd7+12], %r13;\n"
	"st.global.u32 [%rd7+16], %r18; st.global.u32 [%rd7+20], %r20;\n"
	"add.s64 %rd8, %rd3, 3200; add.s64 %rd9, %rd8, %rd4; @%p2 st.global.u32 [%rd9], %r1;\n"
	"ret;\n}\n";

static void want(const u32 *in, u32 t, u32 *w)
{
	u32 x = in[t];

	w[0] = x ^ x << 13;
	w[0] ^= w[0] >> 17;
	w[1] = w[0] * 1664525u + 1013904223u;
	w[2] = (t << 3) + x;
	w[3] = (x << 5 ^ t) + (x << 5);
	w[4] = (x + 28) ^ (x + 35);
	w[5] = t - 3 < 17 ? in[t + 1] : 99;
}

static void test_level(const char *level)
{
	struct harness h;
	u64 params[2];
	u32 *in, *out, bad = 0;

	if (!CHECK(harness_open(&h, text)))
		return;
	params[0] = mem_alloc(&h.mem, (THREADS + 1) * 4, 0, MEM_KIND_DEVICE);
	params[1] = mem_alloc(&h.mem, THREADS * (WORDS + 1) * 4, 0, MEM_KIND_DEVICE);
	in = (u32 *)(uintptr_t)params[0];
	out = (u32 *)(uintptr_t)params[1];
	for (u32 i = 0; i <= THREADS; i++)
		in[i] = i * 2654435761u;
	CHECK_EQ(harness_run(&h, "k", 1, THREADS, params, level), STOP_DONE);
	for (u32 t = 0; t < THREADS; t++) {
		u32 w[6];

		want(in, t, w);
		for (u32 i = 0; i < 6; i++)
			bad += out[t * WORDS + i] != w[i];
		bad += out[THREADS * WORDS + t] != (t - 3 < 17 ? in[t] : 0);
	}
	CHECK_EQ(bad, 0);
	harness_close(&h);
}

int main(void)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};

	for (u32 i = 0; i < 4; i++)
		if (exec_ops_select(levels[i]))
			test_level(levels[i]);
	return check_done();
}
