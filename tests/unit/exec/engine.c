/*
 * The gang engine: straight code, divergence, loops, barriers, partial warps, faults, spin locks.
 */
#include "tests/check.h"
#include "tests/skip.h"
#include "tests/unit/exec_harness.h"

static const char vecadd[] =
	".version 7.0\n.target sm_80\n.address_size 64\n"
	".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n{\n"
	".reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<12>;\n"
	"ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r1, [n];\n"
	"mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;\n"
	"setp.ge.s32 %p1, %r5, %r1; @%p1 bra DONE;\n"
	"cvta.to.global.u64 %rd4, %rd1; mul.wide.s32 %rd5, %r5, 4; add.s64 %rd6, %rd4, %rd5;\n"
	"cvta.to.global.u64 %rd7, %rd2; add.s64 %rd8, %rd7, %rd5;\n"
	"ld.global.u32 %r6, [%rd8]; ld.global.u32 %r7, [%rd6]; add.s32 %r6, %r6, %r7;\n"
	"cvta.to.global.u64 %rd9, %rd3; add.s64 %rd10, %rd9, %rd5; st.global.u32 [%rd10], %r6;\n"
	"DONE: ret;\n}\n";

static void test_vecadd(const char *level)
{
	struct {
		u64 a, b, c;
		u32 n;
	} params;
	struct harness h;
	bool good = true;
	u32 *a, *b, *c, n = 1000;

	if (!CHECK(harness_open(&h, vecadd)))
		return;
	params.a = mem_alloc(&h.mem, n * 4, 0, MEM_KIND_DEVICE);
	params.b = mem_alloc(&h.mem, n * 4, 0, MEM_KIND_DEVICE);
	params.c = mem_alloc(&h.mem, n * 4, 0, MEM_KIND_DEVICE);
	params.n = n;
	a = (u32 *)(uintptr_t)params.a, b = (u32 *)(uintptr_t)params.b,
	c = (u32 *)(uintptr_t)params.c;
	for (u32 i = 0; i < n; i++)
		a[i] = i, b[i] = 1000 * i;
	CHECK_EQ(harness_run(&h, "k", 5, 250, &params, level), STOP_DONE);
	for (u32 i = 0; i < n; i++)
		good &= c[i] == 1001 * i;
	CHECK(good);
	params.n = n + 1;
	CHECK_EQ(harness_run(&h, "k", 5, 250, &params, level), STOP_FAULT);
	CHECK_EQ(h.fault.kind, FAULT_ILLEGAL_ADDRESS);
	CHECK_EQ(h.fault.address, params.b + 4000);
	CHECK(h.fault.ctaid[0] == 4 && h.fault.thread[0] == 0);
	harness_close(&h);
}

/* Every lane loops lane times, in nested divergent code. */
static const char loops[] =
	".version 7.0\n.target sm_80\n.address_size 64\n"
	".visible .entry k(.param .u64 out)\n{\n"
	".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>;\n"
	"ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u32 %r3, 0;\n"
	"LOOP: setp.ge.s32 %p1, %r2, %r1; @%p1 bra OUT;\n"
	"add.s32 %r2, %r2, 1; mov.u32 %r4, 0;\n"
	"INNER: setp.ge.s32 %p2, %r4, %r2; @%p2 bra NEXT; add.s32 %r4, %r4, 1; add.s32 %r3, %r3, %r4; bra INNER;\n"
	"NEXT: bra LOOP;\n"
	"OUT: mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r3; ret;\n}\n";

static void test_loops(const char *level)
{
	struct harness h;
	bool good = true;
	u64 out;

	if (!CHECK(harness_open(&h, loops)))
		return;
	out = mem_alloc(&h.mem, 100 * 4, 0, MEM_KIND_DEVICE);
	CHECK_EQ(harness_run(&h, "k", 1, 100, &out, level), STOP_DONE);
	for (u32 t = 0; t < 100; t++) {
		u32 sum = 0;

		for (u32 i = 1; i <= t; i++)
			sum += i * (i + 1) / 2;
		good &= ((u32 *)(uintptr_t)out)[t] == sum;
	}
	CHECK(good);
	harness_close(&h);
}

/* Shared memory reversal over several gangs, with a barrier. */
static const char reverse[] =
	".version 7.0\n.target sm_80\n.address_size 64\n"
	".visible .entry k(.param .u64 out)\n{\n"
	".shared .align 4 .b8 s[4096];\n"
	".reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
	"ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, s;\n"
	"mul.lo.s32 %r4, %r1, 4; add.s32 %r5, %r3, %r4; st.shared.u32 [%r5], %r1;\n"
	"bar.sync 0;\n"
	"sub.s32 %r6, %r2, %r1; add.s32 %r6, %r6, -1; mul.lo.s32 %r6, %r6, 4; "
	"add.s32 %r6, %r3, %r6; ld.shared.u32 %r7, [%r6];\n"
	"mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r7; ret;\n}\n";

static void test_barrier(const char *level)
{
	struct harness h;
	bool good = true;
	u64 out;

	if (!CHECK(harness_open(&h, reverse)))
		return;
	out = mem_alloc(&h.mem, 4096, 0, MEM_KIND_DEVICE);
	for (u32 block = 32; block <= 1024; block += 331) {
		CHECK_EQ(harness_run(&h, "k", 2, block, &out, level), STOP_DONE);
		for (u32 t = 0; t < block; t++)
			good &= ((u32 *)(uintptr_t)out)[t] == block - 1 - t;
	}
	CHECK(good);
	harness_close(&h);
}

/*
 * 32-bit addresses wrap around: bases below the start of shared memory with offsets that bring them
 * back, for rows, one address for all, lanes in any order, and with a base that is only known at
 * run time (%r9 is loaded, and zero).
 */
static const char wrapping[] =
	".version 7.0\n.target sm_80\n.address_size 64\n"
	".visible .entry k(.param .u64 out)\n{\n"
	".shared .align 4 .b8 s[4096];\n"
	".reg .b32 %r<20>; .reg .b64 %rd<9>;\n"
	"ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r3, s;\n"
	"mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r9, [%rd3];\n"
	"mul.lo.s32 %r4, %r1, 4; add.s32 %r5, %r3, %r4; add.s32 %r5, %r5, -4140;\n"
	"st.shared.u32 [%r5+4140], %r1;\n"
	"bar.sync 0;\n"
	"ld.shared.u32 %r10, [%r5+4140]; add.s32 %r6, %r3, -8; ld.shared.u32 %r11, [%r6+12];\n"
	"xor.b32 %r7, %r1, 5; mul.lo.s32 %r7, %r7, 4; add.s32 %r7, %r7, -4140; add.s32 %r7, %r7, %r3;\n"
	"ld.shared.u32 %r12, [%r7+4140]; add.s32 %r8, %r5, %r9; ld.shared.u32 %r13, [%r8+4140];\n"
	"add.s32 %r8, %r6, %r9; ld.shared.v2.u32 {%r14, %r15}, [%r8+16];\n"
	"mad.lo.s32 %r10, %r11, 10000, %r10; mad.lo.s32 %r10, %r12, 3, %r10;\n"
	"mad.lo.s32 %r10, %r13, 7, %r10; mad.lo.s32 %r10, %r14, 100000, %r10;\n"
	"mad.lo.s32 %r10, %r15, 1000000, %r10; st.global.u32 [%rd3], %r10; ret;\n}\n";

static void test_wrapping(const char *level)
{
	struct harness h;
	bool good = true;
	u64 out;

	if (!CHECK(harness_open(&h, wrapping)))
		return;
	out = mem_alloc(&h.mem, 4096, 0, MEM_KIND_DEVICE);
	for (u32 block = 8; block <= 1024; block += 8 * 31) {
		memset((void *)(uintptr_t)out, 0, 4096);
		CHECK_EQ(harness_run(&h, "k", 1, block, &out, level), STOP_DONE);
		for (u32 i = 0; i < block; i++)
			good &= ((u32 *)(uintptr_t)out)[i] == 3210000 + 8 * i + 3 * (i ^ 5);
	}
	CHECK(good);
	harness_close(&h);
}

int main(void)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};

	for (u32 i = 0; i < 4; i++) {
		if (!check_level(exec_ops_select(levels[i]), levels[i]))
			continue;
		test_vecadd(levels[i]);
		test_loops(levels[i]);
		test_barrier(levels[i]);
		test_wrapping(levels[i]);
	}
	return check_done();
}
