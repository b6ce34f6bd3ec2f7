/*
 * Barriers of a CTA and a cluster, and the forward progress of threads that wait for each other
 * without one: inside a warp, between warps, between gangs; with a program counter for every thread
 * and with one for every warp.
 */
#include "tests/check.h"
#include "tests/skip.h"
#include "tests/unit/exec_harness.h"

#define HEAD ".version 8.0\n.target sm_60\n.address_size 64\n"
#define HEAD_90 ".version 8.0\n.target sm_90\n.address_size 64\n"
#define KERNEL(regs, body)                                                                         \
	".visible .entry k(.param .u64 out)\n{\n.reg .pred p, q; .reg .b32 t, n, a, b, c, v; "     \
	".reg .b64 o, x; " regs "\n"                                                               \
	"ld.param.u64 o, [out]; mov.u32 t, %tid.x; mad.wide.u32 x, t, 4, o; mov.u32 v, 0;\n" body  \
	"\n"                                                                                       \
	"END: st.global.u32 [x], v; ret;\n}\n"

static const char *level;

/* Run a kernel of one parameter; out[t] in `out`. */
static enum exec_stop run(const char *ptx, const char *device, u32 grid, u32 block, u32 *out,
			  struct fault *fault)
{
	struct harness h;
	enum exec_stop stop;
	u64 memory;

	if (!CHECK_MSG(harness_open(&h, ptx), "the kernel is read"))
		return STOP_NONE;
	h.device = device;
	h.turns = 100000;
	memory = mem_alloc(&h.mem, 8192 * 4, 0, MEM_KIND_DEVICE);
	stop = harness_run(&h, "k", grid, block, &memory, level);
	memcpy(out, (void *)(uintptr_t)memory, (size_t)4 * grid * block);
	if (fault)
		*fault = h.fault;
	harness_close(&h);
	return stop;
}

static bool all_equal(const u32 *out, u32 from, u32 to, u32 v)
{
	for (u32 t = from; t < to; t++)
		if (out[t] != v)
			return false;
	return true;
}

/* Threads 0, 3, 6 .. say yes; each third of the threads comes from its own micro-op. */
static void test_red(void)
{
	static const char popc[] = HEAD KERNEL(
		"", "rem.u32 a, t, 3; setp.eq.u32 p, a, 0;\nbar.red.popc.u32 v, 1, p;\n");
	static const char and[] = HEAD KERNEL(
		"",
		"setp.lt.u32 p, t, 2000; barrier.cta.red.and.pred q, 2, p; selp.u32 v, 1, 0, q;");
	static const char none[] = HEAD KERNEL(
		"", "setp.ne.u32 p, t, 5; bar.red.and.pred q, 2, p; selp.u32 v, 1, 7, q;");
	static const char or [] =
		HEAD KERNEL("", "setp.eq.u32 p, t, 77; mov.u32 a, 4; bar.red.or.pred q, a, !p; "
				"selp.u32 v, 1, 0, q;");
	static const char apart[] = HEAD KERNEL(
		"",
		"rem.u32 a, t, 3; setp.eq.u32 p, a, 0; setp.eq.u32 q, a, 1; @p bra A; @q bra B;\n"
		"barrier.red.popc.u32 v, 1, p; bra END; A: barrier.red.popc.u32 v, 1, p; bra END;\n"
		"B: barrier.red.popc.u32 v, 1, p; bra END;");
	u32 out[1024];

	for (u32 block = 32; block <= 1024; block += 248) {
		CHECK_EQ(run(popc, NULL, 1, block, out, NULL), STOP_DONE);
		CHECK(all_equal(out, 0, block, (block + 2) / 3));
		CHECK_EQ(run(apart, NULL, 1, block, out, NULL), STOP_DONE);
		CHECK(all_equal(out, 0, block, (block + 2) / 3));
		CHECK_EQ(run(and, NULL, 1, block, out, NULL), STOP_DONE);
		CHECK(all_equal(out, 0, block, 1));
		CHECK_EQ(run(none, NULL, 1, block, out, NULL), STOP_DONE);
		CHECK(all_equal(out, 0, block, 7));
		CHECK_EQ(run(or, NULL, 1, block, out, NULL), STOP_DONE);
		CHECK(all_equal(out, 0, block, 1));
	}
}

/* Warp 0 fills a slot and another empties it, 100 times: full and empty are barriers 1 and 2. */
static void test_producer(void)
{
	static const char ptx[] = HEAD ".shared .align 4 .b8 s[128];\n" KERNEL(
		"",
		"and.b32 a, t, 31; shl.b32 a, a, 2; mov.u32 b, s; add.u32 a, a, b; mov.u32 n, 0;\n"
		"setp.ge.u32 p, t, 32; @p bra CONSUME;\n"
		"MAKE: st.shared.u32 [a], n; bar.arrive 1, 64; add.u32 n, n, 1; bar.sync 2, 64; "
		"setp.lt.u32 p, n, 100; @p bra MAKE; bra END;\n"
		"CONSUME: bar.sync 1, 64; ld.shared.u32 b, [a]; add.u32 v, v, b; "
		"bar.arrive 2, 64; add.u32 n, n, 1;\n"
		"setp.lt.u32 p, n, 100; @p bra CONSUME;");
	u32 out[64];

	CHECK_EQ(run(ptx, NULL, 1, 64, out, NULL), STOP_DONE);
	CHECK(all_equal(out, 0, 32, 0) && all_equal(out, 32, 64, 4950));
}

/* 16 pairs of warps, each on a barrier whose number and count are in registers, 50 times in step.
 */
static void test_numbers(void)
{
	static const char ptx[] = HEAD ".shared .align 4 .b8 s[4096];\n" KERNEL(
		"",
		"shr.u32 a, t, 6; mov.u32 b, 64; mov.u32 n, s; shl.b32 c, t, 2; add.u32 n, n, c; "
		"xor.b32 c, n, 128; st.shared.u32 [n], v;\n"
		"L: barrier.sync a, b; ld.shared.u32 v, [c]; barrier.sync a, b; add.u32 v, v, 1; "
		"st.shared.u32 [n], v;\n"
		"setp.lt.u32 p, v, 50; @p bra L;");
	u32 out[1024];

	CHECK_EQ(run(ptx, NULL, 1, 1024, out, NULL), STOP_DONE);
	CHECK(all_equal(out, 0, 1024, 50));
}

static void test_exited(void)
{
	static const char whole[] =
		HEAD KERNEL("", "setp.ge.u32 p, t, 200; @p bra END; bar.sync 0; mov.u32 v, 3;");
	static const char lane[] =
		HEAD KERNEL("", "setp.eq.u32 p, t, 3; @p exit; barrier.sync 1, 64; mov.u32 v, 3;");
	static const char warp[] =
		HEAD KERNEL("", "setp.ge.u32 p, t, 64; @p exit; bar.sync 1, 96; mov.u32 v, 3;");
	static const char late[] = HEAD KERNEL(
		"", "setp.lt.u32 p, t, 64; @p bra A; bar.arrive 1, 96; exit; A: bar.sync 1, 96; "
		    "mov.u32 v, 3;");
	struct fault fault;
	u32 out[512];

	CHECK_EQ(run(whole, NULL, 1, 500, out, NULL), STOP_DONE);
	CHECK(all_equal(out, 0, 200, 3) && all_equal(out, 200, 500, 0));
	CHECK_EQ(run(lane, NULL, 1, 64, out, NULL), STOP_DONE);
	CHECK(out[0] == 3 && out[63] == 3);
	CHECK_EQ(run(late, NULL, 1, 96, out, NULL), STOP_DONE);
	CHECK(all_equal(out, 0, 64, 3));
	/* Warps that have exited do not count where a thread count is given. */
	CHECK_EQ(run(warp, NULL, 1, 96, out, &fault), STOP_FAULT);
	CHECK_EQ(fault.kind, FAULT_DEADLOCK);
	CHECK_EQ(fault.lanes, FULL_MASK);
}

/* Halves of warps come from different micro-ops. */
static void test_halves(void)
{
	static const char ptx[] = HEAD KERNEL(
		"",
		"and.b32 a, t, 16; setp.ne.u32 p, a, 0; @p bra B;\n"
		"barrier.sync 1, 64; mov.u32 v, 1; bra END; B: barrier.sync 1, 64; mov.u32 v, 1;");
	u32 out[64];

	CHECK_EQ(run(ptx, NULL, 1, 64, out, NULL), STOP_DONE);
	CHECK(all_equal(out, 0, 64, 1));
}

/* Every lane takes the lock, adds one, and gives it back: ends only if the lane that holds it may
 * run. */
static const char lock[] = HEAD ".shared .align 4 .b32 l, sum;\n" KERNEL(
	"", "mov.u32 a, l; mov.u32 b, sum; setp.eq.u32 p, t, 0; @p st.shared.u32 [a], 0; "
	    "@p st.shared.u32 [b], 0; bar.sync 0;\n"
	    "SPIN: atom.shared.cas.b32 n, [a], 0, 1; setp.ne.u32 p, n, 0; @p bra SPIN;\n"
	    "ld.volatile.shared.u32 n, [b]; add.u32 n, n, 1; st.volatile.shared.u32 [b], n;\n"
	    "membar.cta; atom.shared.exch.b32 n, [a], 0; bar.sync 0; ld.shared.u32 v, [b];");

static void test_lock(void)
{
	u32 out[512];

	for (u32 block = 32; block <= 512; block *= 4) {
		CHECK_EQ(run(lock, "v100", 1, block, out, NULL), STOP_DONE);
		CHECK(all_equal(out, 0, block, block));
	}
	/* A lane alone; of 32 the holder would never go on, which the grid's probe finds. */
	CHECK_EQ(run(lock, "p100", 1, 1, out, NULL), STOP_DONE);
	CHECK_EQ(out[0], 1);
}

/* The last thread of the CTA sets a flag that all others wait for. */
static void test_flag(void)
{
	static const char ptx[] = HEAD ".shared .align 4 .b32 f;\n" KERNEL(
		"", "mov.u32 a, f; setp.eq.u32 p, t, 0; @p st.shared.u32 [a], 0; bar.sync 0; "
		    "mov.u32 b, %ntid.x; add.u32 b, b, -1;\n"
		    "setp.eq.u32 p, t, b; @p bra SET; WAIT: ld.volatile.shared.u32 v, [a]; "
		    "setp.eq.u32 p, v, 0; @p bra WAIT; bra END;\n"
		    "SET: mov.u32 v, 9; st.volatile.shared.u32 [a], v;");
	u32 out[1024];

	for (u32 block = 32; block <= 1024; block *= 2) {
		CHECK_EQ(run(ptx, NULL, 1, block, out, NULL), STOP_DONE);
		CHECK(all_equal(out, 0, block, 9));
	}
}

/* A thread count that no barrier takes, in one lane only. */
static void test_odd_counts(void)
{
	static const char sync[] =
		HEAD KERNEL("", "setp.eq.u32 p, t, 5; selp.u32 a, 33, 32, p; barrier.sync 0, a;");
	static const char arrive[] =
		HEAD KERNEL("", "setp.eq.u32 p, t, 31; selp.u32 a, 0, 64, p; barrier.arrive 0, a;");
	u32 out[1024];

	CHECK_EQ(run(sync, NULL, 1, 32, out, NULL), STOP_FAULT);
	CHECK_EQ(run(arrive, NULL, 1, 32, out, NULL), STOP_FAULT);
}

/* Before Volta: lanes part and meet again at the post-dominator; whole warps arrive. */
static void test_pascal(void)
{
	static const char nested[] = HEAD KERNEL(
		"",
		"and.b32 a, t, 3; setp.lt.u32 p, a, 2; @p bra A; setp.eq.u32 q, a, 2; @q bra B; "
		"add.u32 v, v, 100; bra J;\n"
		"B: add.u32 v, v, 200; J: add.u32 v, v, 10; bra K; A: mov.u32 n, 0; "
		"L: add.u32 v, v, 1; add.u32 n, n, 1; setp.le.u32 p, n, a; @p bra L; "
		"K: add.u32 v, v, 1000;");
	static const char partly[] =
		HEAD KERNEL("", "setp.lt.u32 p, t, 48; @!p bra END; bar.sync 1, 64; mov.u32 v, 5;");
	static const u32 want[4] = {1001, 1002, 1210, 1110};
	bool good = true;
	u32 out[128];

	CHECK_EQ(run(nested, "p100", 1, 128, out, NULL), STOP_DONE);
	for (u32 t = 0; t < 128; t++)
		good &= out[t] == want[t & 3];
	CHECK(good);
	CHECK_EQ(run(partly, "p100", 1, 64, out, NULL), STOP_DONE);
	CHECK(all_equal(out, 0, 48, 5) && all_equal(out, 48, 64, 0));
}

/* Every CTA of the cluster reads what its neighbour wrote in the round before. */
static void test_cluster(void)
{
	static const char ptx[] = HEAD_90
		".visible .entry k(.param .u64 out) .reqnctapercluster 4\n{\n"
		".reg .pred p; .reg .b32 t, n, a, b, c, v, r; .reg .b64 o, x; "
		".shared .align 4 .b8 s[2048];\n"
		"ld.param.u64 o, [out]; mov.u32 t, %tid.x; mov.u32 r, %cluster_ctarank; "
		"mov.u32 n, %ctaid.x; mov.u32 a, %ntid.x;\n"
		"mad.lo.u32 n, n, a, t; mad.wide.u32 x, n, 4, o; mov.u32 b, s; shl.b32 a, t, 2; "
		"add.u32 a, a, b; mov.u32 v, r;\n"
		"st.shared.u32 [a], v; mov.u32 n, 0; add.u32 b, r, 1; and.b32 b, b, 3; "
		"mapa.shared::cluster.u32 b, a, b;\n"
		"L: barrier.cluster.arrive; add.u32 n, n, 1; barrier.cluster.wait; "
		"ld.shared::cluster.u32 v, [b]; barrier.cluster.arrive.release; \n"
		"barrier.cluster.wait.acquire; st.shared.u32 [a], v; setp.lt.u32 p, n, 5; "
		"@p bra L; st.global.u32 [x], v;\n"
		"barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";
	static const char stuck[] = HEAD_90
		".visible .entry k(.param .u64 out) .reqnctapercluster 2\n{\n"
		".reg .pred p; .reg .b32 r; mov.u32 r, %cluster_ctarank; setp.eq.u32 p, r, 1; "
		"@p bra B;\n"
		"barrier.cluster.arrive; barrier.cluster.wait; B: bar.sync 1, 64; ret;\n}\n";
	struct fault fault;
	bool good = true;
	u32 out[4096];

	CHECK_EQ(run(ptx, NULL, 8, 512, out, NULL), STOP_DONE);
	for (u32 i = 0; i < 4096; i++)
		good &= out[i] == (i / 512 + 5) % 4;
	CHECK(good);
	CHECK_EQ(run(stuck, NULL, 2, 32, out, &fault), STOP_FAULT);
	CHECK_EQ(fault.kind, FAULT_DEADLOCK);
}

int main(void)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};

	for (u32 i = 0; i < ARRAY_LEN(levels); i++) {
		level = levels[i];
		if (!check_level(exec_ops_select(level), level))
			continue;
		test_red();
		test_producer();
		test_numbers();
		test_exited();
		test_halves();
		test_lock();
		test_flag();
		test_odd_counts();
		test_pascal();
		test_cluster();
	}
	return check_done();
}
