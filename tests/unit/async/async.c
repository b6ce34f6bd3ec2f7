/*
 * Asynchronous copies complete no sooner than they must, mbarriers count arrivals and bytes, and
 * both modes end with the same memory where programs wait as they should.
 */
#include "src/async/async.h"
#include "tests/check.h"
#include "tests/skip.h"
#include "tests/unit/exec_harness.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
/* Thread t: x = its place in `in`, y = in `out`, a = in shared memory s, both 16 bytes apart; m =
 * an mbarrier. */
#define KERNEL(attr, body)                                                                         \
	HEAD ".visible .entry k(.param .u64 pin, .param .u64 pout)" attr "\n{\n"                   \
	     ".reg .pred p, q; .reg .b32 t, a, b, c, d, m, n, v<4>; .reg .b64 i, o, x, y, e; "     \
	     ".reg .b16 h;\n"                                                                      \
	     ".shared .align 128 .b8 s[4096]; .shared .align 8 .b64 mb[4];\n"                      \
	     "ld.param.u64 i, [pin]; ld.param.u64 o, [pout]; mov.u32 t, %tid.x; "                  \
	     "mov.u32 b, %ctaid.x; mov.u32 c, %ntid.x;\n"                                          \
	     "mad.lo.u32 b, b, c, t; mad.wide.u32 x, b, 16, i; mad.wide.u32 y, b, 16, o; "         \
	     "mov.u32 a, s; mad.lo.u32 a, t, 16, a;\n"                                             \
	     "mov.u32 m, mb; mov.u32 v0, 7; st.shared.v4.b32 [a], {v0, v0, v0, v0}; "              \
	     "setp.eq.u32 p, t, 0;\n" body "\n"                                                    \
	     "END: ret;\n}\n"

static const char *level;
static u64 in_bytes = 16384;
static char fault_text[400];

/* `in` holds 4 * i at word i. */
static enum exec_stop run(const char *ptx, bool eager, u32 grid, u32 block, u32 *out)
{
	struct {
		u64 in, out;
	} params;
	struct harness h;
	enum exec_stop stop;

	if (!CHECK_MSG(harness_open(&h, ptx), "the kernel is read"))
		return STOP_NONE;
	h.async_eager = eager;
	h.turns = 2000;
	params.in = mem_alloc(&h.mem, in_bytes, 0, MEM_KIND_DEVICE);
	params.out = mem_alloc(&h.mem, 16384, 0, MEM_KIND_DEVICE);
	for (u32 i = 0; i < in_bytes / 4; i++)
		((u32 *)(uintptr_t)params.in)[i] = 4 * i;
	stop = harness_run(&h, "k", grid, block, &params, level);
	memcpy(out, (void *)(uintptr_t)params.out, 16384);
	snprintf(fault_text, sizeof(fault_text), "%s", h.fault.text);
	harness_close(&h);
	return stop;
}

/* Before the wait there is nothing, after it everything. */
static void test_late(void)
{
	static const char ptx[] = KERNEL(
		"", "cp.async.ca.shared.global [a], [x], 4; cp.async.commit_group; "
		    "cp.async.ca.shared.global [a+4], [x+4], 4;\n"
		    "ld.shared.u32 v0, [a]; cp.async.wait_group 0; ld.shared.v2.u32 {v1, v2}, [a]; "
		    "cp.async.wait_all; ld.shared.u32 v3, [a+4];\n"
		    "st.global.v4.b32 [y], {v0, v1, v2, v3};");
	u32 out[4096];
	bool good = true;

	CHECK_EQ(run(ptx, false, 1, 128, out), STOP_DONE);
	for (u32 t = 0; t < 128; t++)
		good &= out[4 * t] == 7 && out[4 * t + 1] == 16 * t && out[4 * t + 2] == 7 &&
			out[4 * t + 3] == 16 * t + 4;
	CHECK(good);
	CHECK_EQ(run(ptx, true, 1, 128, out), STOP_DONE);
	for (u32 t = 0; t < 128; t++)
		good &= out[4 * t] == 16 * t && out[4 * t + 1] == 16 * t &&
			out[4 * t + 2] == 16 * t + 4 && out[4 * t + 3] == 16 * t + 4;
	CHECK(good);
}

/*
 * The upper half of the threads clears what the lower half copies, without waiting for anybody:
 * what is copied comes later, as the other warps run before the wait.
 */
static void test_turn(void)
{
	static const char ptx[] = KERNEL(
		"", "shr.u32 n, c, 1; setp.ge.u32 q, t, n; @q bra CLEAR;\n"
		    "cp.async.cg.shared.global [a], [x], 16; cp.async.commit_group; "
		    "cp.async.wait_group 0; bra MEET;\n"
		    "CLEAR: mov.u32 d, 0; shl.b32 n, n, 4; sub.u32 b, a, n; st.shared.u32 [b], d;\n"
		    "MEET: bar.sync 0; ld.shared.u32 d, [a]; st.global.u32 [y], d;");
	u32 out[4096];

	for (u32 block = 64; block <= 256; block *= 2) {
		bool good = true;

		CHECK_EQ(run(ptx, false, 1, block, out), STOP_DONE);
		for (u32 t = 0; t < block; t++)
			good &= out[4 * t] == (t < block / 2 ? 16 * t : 7);
		CHECK(good);
	}
}

/* The same with two gangs, of which the second parts on its way to the stores. */
static void test_turn_of_gangs(void)
{
	static const char ptx[] =
		HEAD ".visible .entry k(.param .u64 pin, .param .u64 pout)\n{\n"
		     ".reg .pred p, q; .reg .b32 t, a, d; .reg .b64 i, o, x, y;\n"
		     ".shared .align 16 .b8 s[4096];\n"
		     "ld.param.u64 i, [pin]; ld.param.u64 o, [pout]; mov.u32 t, %tid.x;\n"
		     "mad.wide.u32 x, t, 16, i; mad.wide.u32 y, t, 4, o; and.b32 d, t, 255;\n"
		     "mov.u32 a, s; mad.lo.u32 a, d, 16, a; mov.u32 d, 0;\n"
		     "setp.ge.u32 q, t, 256; setp.ge.u32 p, t, 384; @q bra UPPER;\n"
		     "cp.async.cg.shared.global [a], [x], 16; bra MEET;\n"
		     "UPPER: @!p bra MEET; st.shared.u32 [a], d;\n"
		     "MEET: cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n"
		     "ld.shared.u32 d, [a]; st.global.u32 [y], d; ret;\n}\n";
	u32 out[4096];
	bool good = true;

	CHECK_EQ(run(ptx, false, 1, 512, out), STOP_DONE);
	for (u32 t = 0; t < 512; t++)
		good &= out[t] == 16 * (t & 255);
	CHECK(good);
}

/* Four groups, the oldest first; a wait of other lanes does not help. */
static void test_groups(void)
{
	static const char ptx[] = KERNEL(
		"",
		"cp.async.ca.shared.global [a], [x], 4; cp.async.commit_group; "
		"cp.async.ca.shared.global [a+4], [x+4], 4;\n"
		"cp.async.commit_group; cp.async.ca.shared.global [a+8], [x+8], 4; "
		"cp.async.commit_group; cp.async.ca.shared.global [a+12], [x+12], 4;\n"
		"cp.async.commit_group; and.b32 b, t, 1; setp.eq.u32 p, b, 0; "
		"@p cp.async.wait_group 2; @!p cp.async.wait_group 1;\n"
		"ld.shared.v4.b32 {v0, v1, v2, v3}, [a]; st.global.v4.b32 [y], {v0, v1, v2, v3}; "
		"cp.async.wait_group 0;");
	u32 out[4096];
	bool good = true;

	CHECK_EQ(run(ptx, false, 1, 64, out), STOP_DONE);
	for (u32 t = 0; t < 64; t++)
		for (u32 i = 0; i < 4; i++)
			good &= out[4 * t + i] == (i < (t & 1 ? 3 : 2) ? 16 * t + 4 * i : 7);
	CHECK(good);
}

static void test_fill(void)
{
	static const char ptx[] = KERNEL(
		"",
		"and.b32 b, t, 15; setp.eq.u32 p, b, 9; "
		"cp.async.cg.shared.global [a], [x], 16, b; cp.async.wait_all;\n"
		"ld.shared.v4.b32 {v0, v1, v2, v3}, [a]; st.global.v4.b32 [y], {v0, v1, v2, v3};\n"
		"cp.async.ca.shared.global [a], [x], 8, p; cp.async.wait_all; "
		"ld.shared.u32 v0, [a+4]; st.global.u32 [y+12], v0;");
	u32 out[4096];
	bool good = true;

	CHECK_EQ(run(ptx, false, 1, 64, out), STOP_DONE);
	for (u32 t = 0; t < 64; t++) {
		u32 want[4] = {0}, from[3] = {16 * t, 16 * t + 4, 16 * t + 8};

		memcpy(want, from, (t & 15) < 12 ? t & 15 : 12);
		want[3] = (t & 15) == 9 ? 0 : 16 * t + 4;
		good &= !memcmp(out + 4 * t, want, 16);
	}
	CHECK(good);
}

/* 32-bit addresses wrap around where they become rows, too. */
static void test_wrapping(void)
{
	static const char ptx[] =
		KERNEL("", "add.s32 a, a, -1040;\n"
			   "cp.async.ca.shared.global [a+1040], [x], 4; cp.async.wait_all;\n"
			   "ld.shared.u32 v0, [a+1040]; st.global.u32 [y], v0;");
	u32 out[4096];
	bool good = true;

	CHECK_EQ(run(ptx, false, 1, 64, out), STOP_DONE);
	for (u32 t = 0; t < 64; t++)
		good &= out[4 * t] == 16 * t;
	CHECK(good);
}

/* Copies in turns on two barriers; both forms of the arrival: with the plain one threads arrive
 * themselves as well. */
#define PIPELINE(noinc, arrival)                                                                   \
	KERNEL("", "@p mbarrier.init.shared.b64 [m], 64; @p mbarrier.init.shared.b64 [m+8], 64; "  \
		   "bar.sync 0;\n"                                                                 \
		   "mov.u32 n, 0; mov.u32 d, 0;\n"                                                 \
		   "LOOP: and.b32 b, n, 1; shl.b32 b, b, 3; add.u32 b, b, m; "                     \
		   "cp.async.ca.shared.global [a], [x], 16;\n"                                     \
		   "cp.async.mbarrier.arrive" noinc ".shared.b64 [b]; " arrival "\n"               \
		   "WAIT: shr.u32 c, n, 1; mbarrier.test_wait.parity.shared.b64 q, [b], c; "       \
		   "@!q bra WAIT;\n"                                                               \
		   "ld.shared.u32 c, [a]; add.u32 d, d, c; add.u64 x, x, 1024; add.u32 n, n, 1; "  \
		   "setp.lt.u32 q, n, 8;\n"                                                        \
		   "@q bra LOOP; st.global.u32 [y], d;")

static void test_pipeline(void)
{
	static const char *const forms[] = {PIPELINE("", "mbarrier.arrive.shared.b64 e, [b];"),
					    PIPELINE(".noinc", "")};
	u32 out[4096];

	for (u32 f = 0; f < 2; f++)
		for (u32 eager = 0; eager < 2; eager++) {
			bool good = true;

			CHECK_EQ(run(forms[f], eager, 1, 64, out), STOP_DONE);
			for (u32 t = 0; t < 64; t++)
				good &= out[4 * t] == 8 * 16 * t + 1024 * 28;
			CHECK(good);
		}
}

/* Bulk copies in and out; the one out is not there before its group is waited for. */
static void test_bulk(void)
{
	static const char ptx[] = KERNEL(
		"",
		"@p mbarrier.init.shared.b64 [m], 1; fence.proxy.async; bar.sync 0; @!p bra WAIT;\n"
		"mbarrier.arrive.expect_tx.shared.b64 _, [m], 1024; "
		"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [a], [i], 1024, [m];\n"
		"ld.shared.u32 d, [a+4]; st.global.u32 [o+8192], d;\n"
		"WAIT: mbarrier.try_wait.parity.shared.b64 q, [m], 0; @!q bra WAIT; "
		"ld.shared.u32 v0, [a]; add.u32 v0, v0, 1; st.shared.u32 [a], v0;\n"
		"fence.proxy.async; bar.sync 0; @!p bra END; "
		"cp.async.bulk.global.shared::cta.bulk_group [o], [a], 1024; "
		"cp.async.bulk.commit_group;\n"
		"ld.global.u32 d, [o]; st.global.u32 [o+8196], d; cp.async.bulk.wait_group 0; "
		"ld.global.u32 d, [o]; st.global.u32 [o+8200], d;");
	u32 out[4096];
	bool good = true;

	CHECK_EQ(run(ptx, false, 1, 64, out), STOP_DONE);
	for (u32 t = 0; t < 64; t++)
		good &= out[4 * t] == 16 * t + 1 && out[4 * t + 1] == 16 * t + 4;
	CHECK(good);
	CHECK(out[2048] == 7 && out[2049] == 0 && out[2050] == 1);
	CHECK_EQ(run(ptx, true, 1, 64, out), STOP_DONE);
	CHECK(out[2048] == 4 && out[2049] == 1 && out[2050] == 1);
}

/* A wait that lets the newest group stay: its source may be written over none the less. */
static void test_bulk_kept(void)
{
	static const char ptx[] =
		KERNEL("", "fence.proxy.async; bar.sync 0; @!p bra END;\n"
			   "cp.async.bulk.global.shared::cta.bulk_group [o], [a], 16; "
			   "cp.async.bulk.commit_group;\n"
			   "cp.async.bulk.global.shared::cta.bulk_group [o+16], [a+16], 16; "
			   "cp.async.bulk.commit_group;\n"
			   "cp.async.bulk.wait_group.read 1; mov.u32 d, 9; st.shared.u32 [a], d; "
			   "st.shared.u32 [a+16], d;");
	u32 out[4096];

	CHECK_EQ(run(ptx, false, 1, 64, out), STOP_DONE);
	for (u32 i = 0; i < 8; i++)
		CHECK_EQ(out[i], 7);
}

/*
 * What .ignore_oob leaves out may lie outside the allocation; without it that is a fault. The
 * others are copied.
 */
static void test_bulk_ignored(void)
{
#define COPY(words, mods, more)                                                                                   \
	KERNEL("",                                                                                                \
	       "@!p bra END; mbarrier.init.shared.b64 [m], 1; mbarrier.arrive.expect_tx.shared.b64 e, [m], 32;\n" \
	       "add.u64 x, i, 16352; mov.u32 c, 12;\n"                                                            \
	       "cp.async.bulk" words ".shared::cta.global.mbarrier::complete_tx::bytes" mods                      \
	       " [a], [x], 32, " more "[m];\n"                                                                    \
	       "WAIT: mbarrier.try_wait.shared.b64 q, [m], e; @!q bra WAIT; ld.shared.v4.u32 {v0, v1, "           \
	       "v2, v3}, [a]; "                                                                                   \
	       "st.global.v4.u32 [o], {v0, v1, v2, v3}; ld.shared.u32 v0, [a+16]; st.global.u32 [o+16], v0;")
	static const char *const texts[] = {COPY("", ".ignore_oob", "0, 12, "),
					    COPY(".weak", ".ignore_oob", "4, c, "),
					    COPY(".relaxed.gpu", ".ignore_oob.b128", "0, c, "),
					    COPY(".relaxed.sys", ".b128", ""), COPY("", "", "")};
#undef COPY
	u32 out[4096];

	in_bytes = 16372;
	for (u32 i = 0; i < ARRAY_LEN(texts); i++)
		for (u32 eager = 0; eager < 2; eager++) {
			if (i > 2) {
				CHECK_EQ(run(texts[i], eager, 1, 32, out), STOP_FAULT);
				continue;
			}
			CHECK_EQ(run(texts[i], eager, 1, 32, out), STOP_DONE);
			CHECK_EQ(out[0], i == 1 ? 7 : 16352);
			CHECK(out[1] == 16356 && out[3] == 16364 && out[4] == 16368);
		}
	in_bytes = 16384;
}

/* Relaxed copies and reductions do what weak ones do. */
static void test_bulk_relaxed(void)
{
	static const char ptx[] = KERNEL(
		"",
		"fence.proxy.async; bar.sync 0; @!p bra END;\n"
		"cp.async.bulk.relaxed.gpu.global.shared::cta.bulk_group.b128 [o], [a], 64; "
		"cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
		"cp.reduce.async.bulk.relaxed.sys.global.shared::cta.bulk_group.add.u32 [o], [a], 32; "
		"cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
	u32 out[4096];

	CHECK_EQ(run(ptx, false, 1, 64, out), STOP_DONE);
	CHECK(out[0] == 14 && out[7] == 14 && out[8] == 7 && out[15] == 7 && out[16] == 0);
}

/* Sixteen bytes at once, from a register of 128 bits or a constant, of which 64 are written. */
static void test_store_whole(void)
{
	static const char ptx[] = KERNEL(
		"",
		".reg .b128 w; @!p bra END; mbarrier.init.shared.b64 [m], 1; mov.b64 x, 0x1122334455667788; "
		"mov.b64 y, 0x99aabbccddeeff00; mov.b128 w, {x, y};\n"
		"mbarrier.arrive.expect_tx.shared.b64 e, [m], 32; "
		"st.async.shared::cluster.mbarrier::complete_tx::bytes.b128 [a], w, [m]; "
		"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b128 [a+16], 5, [m];\n"
		"WAIT: mbarrier.try_wait.shared.b64 q, [m], e; @!q bra WAIT; ld.shared.v4.u32 {v0, v1, "
		"v2, v3}, [a]; "
		"st.global.v4.u32 [o], {v0, v1, v2, v3}; ld.shared.v4.u32 {v0, v1, v2, v3}, [a+16]; "
		"st.global.v4.u32 [o+16], {v0, v1, v2, v3};");
	static const u32 want[] = {0x55667788, 0x11223344, 0xddeeff00, 0x99aabbcc, 5, 0, 0, 0};
	u32 out[4096];

	CHECK_EQ(run(ptx, false, 1, 32, out), STOP_DONE);
	CHECK(!memcmp(out, want, sizeof(want)));
}

/* A barrier keeps its layout; both of its phases end together, and nothing is reported. */
static void test_layouts(void)
{
	static const char ptx[] = KERNEL(
		"",
		".reg .pred r; .reg .b8 u; @!p bra END;\n"
		"mbarrier.init.layout::v1.shared::cta.b64 [m], 2; mbarrier.init.shared.b64 [m+8], 1; "
		"mbarrier.init.layout::v0.shared.b64 [m+16], 1;\n"
		"mbarrier.arrive.shared.b64 _, [m]; "
		"mbarrier.test_wait.parity.phase_type::conditional.shared.b64 q, [m], 0; "
		"selp.u32 v3, 4096, 0, q; mbarrier.arrive.shared.b64 e, [m];\n"
		"mbarrier.check_layout.layout::v1.shared::cta.b64 q, [m]; selp.u32 v0, 1, 0, q;\n"
		"mbarrier.check_layout.layout::v0.shared::cta.b64 q, [m]; @q or.b32 v0, v0, 2;\n"
		"mbarrier.check_layout.layout::v1.shared.b64 q, [m+8]; @q or.b32 v0, v0, 4;\n"
		"mbarrier.check_layout.layout::v0.shared.b64 q, [m+8]; @q or.b32 v0, v0, 8;\n"
		"mbarrier.check_layout.layout::v0.shared.b64 q, [m+16]; @q or.b32 v0, v0, 16;\n"
		"setp.eq.u32 r, t, t; cvt.u8.u32 u, c;\n"
		"mbarrier.test_wait.phase_type::primary.shared.b64 q|r, u, [m], e; @q or.b32 v3, v3, 1; "
		"@r or.b32 v3, v3, 2; "
		"cvt.u32.u8 v1, u;\n"
		"setp.eq.u32 r, t, t; mbarrier.try_wait.parity.phase_type::primary.shared.b64 q|r, [m], 0, 100; "
		"@q or.b32 v3, v3, 4; @r or.b32 v3, v3, 8;\n"
		"mbarrier.try_wait.parity.phase_type::conditional.shared.b64 q, [m], 0; @q or.b32 v3, v3, 16;\n"
		"mbarrier.test_wait.parity.phase_type::conditional.shared.b64 q, [m], 1; @q or.b32 v3, v3, 32;\n"
		"mbarrier.arrive.noComplete.shared.b64 e, [m+16], 1; mbarrier.pending_count.layout::v0.b64 v2, e;\n"
		"fence.proxy.fabric::generic.alias.release.sys; st.global.v4.u32 [o], {v0, v1, v2, v3};");
	u32 out[4096];

	CHECK_EQ(run(ptx, false, 1, 32, out), STOP_DONE);
	CHECK_EQ(out[0], 1 | 8 | 16);
	CHECK_EQ(out[1], 0);
	CHECK_EQ(out[2], 1);
	CHECK_EQ(out[3], 1 | 4 | 16);
}

/* Volatile accesses of local memory are accesses of local memory. */
static void test_volatile_local(void)
{
	static const char ptx[] = KERNEL(
		"",
		".local .align 16 .b8 l[64]; .reg .b64 z; st.volatile.local.v2.u32 [l], {t, c}; "
		"st.volatile.local.u8 [l+1], 9; mov.u64 z, l; ld.volatile.local.b64 e, [z]; mov.b64 {v0, v1}, e;\n"
		"st.volatile.local.v4.u32 [l+16], {t, c, v0, v1}; ld.volatile.local.v4.u32 {v0, v1, v2, "
		"v3}, [l+16]; "
		"st.global.v4.u32 [y], {v0, v1, v2, v3};");
	u32 out[4096];
	bool good = true;

	CHECK_EQ(run(ptx, false, 1, 64, out), STOP_DONE);
	for (u32 t = 0; t < 64; t++)
		good &= out[4 * t] == t && out[4 * t + 1] == 64 && out[4 * t + 2] == t + 9 * 256 &&
			out[4 * t + 3] == 64;
	CHECK(good);
}

/* What no emulated device has says so when it is reached. */
static void test_lacks(void)
{
	static const char
		multimem[] = KERNEL(
			"", "multimem.cp.async.bulk.global.shared::cta.bulk_group [o], [a], 64;"),
		fabric[] = KERNEL(
			"", "fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes"
			    ".mbarrier::report::fabric.relaxed.sys.b128 [a], [b, x], 64, [m];");
	u32 out[4096];

	CHECK_EQ(run(multimem, false, 1, 32, out), STOP_FAULT);
	CHECK_STR(fault_text,
		  "'multimem.cp.async.bulk.global.shared::cta.bulk_group' is not supported: it "
		  "can be checked but "
		  "not run; emulated devices have no multicast objects");
	CHECK_EQ(run(fabric, false, 1, 32, out), STOP_FAULT);
	CHECK(strstr(fault_text, "; emulated devices have no fabric"));
}

/* A copy that no thread waits for is there when the CTA has ended. */
static void test_unwaited(void)
{
	static const char ptx[] =
		KERNEL("", "st.shared.u32 [a], t; bar.sync 0; @!p bra END; "
			   "cp.async.bulk.global.shared::cta.bulk_group [o], [a], 512;");
	u32 out[4096];

	CHECK_EQ(run(ptx, false, 1, 64, out), STOP_DONE);
	CHECK(out[0] == 0 && out[4 * 31] == 31 && out[4 * 32] == 0);
}

/* One CTA of four sends the same tile to CTAs 0, 1 and 3; every thread sends a word to the next
 * CTA. */
static void test_cluster(void)
{
	static const char ptx[] = KERNEL(
		" .reqnctapercluster 4",
		"mov.u32 b, %cluster_ctarank; @p mbarrier.init.shared.b64 [m], 1; mov.u32 n, 11; "
		"shr.u32 n, n, b; and.b32 n, n, 1;\n"
		"mul.lo.u32 n, n, 512; add.u32 n, n, 256; "
		"@p mbarrier.arrive.expect_tx.shared.b64 _, [m], n;\n"
		"barrier.cluster.arrive; barrier.cluster.wait; setp.eq.u32 q, b, 2; "
		"and.pred q, q, p; @!q bra SEND;\n"
		"mov.u16 h, 11; "
		"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
		"[a], [i], 512, [m], h;\n"
		"SEND: add.u32 c, b, 1; and.b32 c, c, 3; mapa.shared::cluster.u32 n, m, c; "
		"mapa.shared::cluster.u32 d, a, c;\n"
		"st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [d+1024], b, [n];\n"
		"WAIT: mbarrier.try_wait.parity.shared.b64 q, [m], 0; @!q bra WAIT; "
		"ld.shared.u32 v0, [a]; ld.shared.u32 v1, [a+1024];\n"
		"st.global.v2.b32 [y], {v0, v1}; barrier.cluster.arrive; barrier.cluster.wait;");
	u32 out[4096];

	for (u32 eager = 0; eager < 2; eager++) {
		bool good = true;

		CHECK_EQ(run(ptx, eager, 8, 64, out), STOP_DONE);
		for (u32 c = 0; c < 8; c++)
			for (u32 t = 0; t < 64; t++) {
				const u32 *at = out + 4 * (64 * c + t);

				good &= at[0] == (c % 4 == 2 || t >= 32 ? 7 : 16 * t) &&
					at[1] == (c + 3) % 4;
			}
		CHECK(good);
	}
}

static void test_word(void)
{
	u64 word = mbar_init(5, 0), state;

	CHECK(word == 0x7fffd800001ffff6);
	state = mbar_arrive(&word, 2, false);
	CHECK_EQ(mbar_pending_of(state), 5);
	CHECK_EQ(mbar_pending_of(word), 3);
	mbar_expect(&word, 100);
	CHECK_EQ(mbar_read(word).tx, 100);
	mbar_arrive(&word, 1, true);
	mbar_arrive(&word, 2, false);
	CHECK(!mbar_passed(word, state) && !mbar_passed_parity(word, 0) &&
	      mbar_passed_parity(word, 1));
	mbar_complete(&word, 40);
	mbar_complete(&word, 60);
	CHECK(mbar_passed(word, state) && mbar_passed_parity(word, 0) &&
	      !mbar_passed_parity(word, 1));
	CHECK_EQ(mbar_read(word).pending, 4);
	CHECK_EQ(mbar_read(word).expected, 4);
	CHECK_EQ(mbar_read(word).tx, 0);
	/* Bytes may come before they are announced. */
	mbar_complete(&word, 16);
	CHECK_EQ(mbar_read(word).tx, -16);
	mbar_expect(&word, 16);
	CHECK_EQ(mbar_read(word).tx, 0);
	word = mbar_init(MBAR_COUNT_MAX, 0);
	CHECK_EQ(mbar_read(word).pending, MBAR_COUNT_MAX);
}

int main(void)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};

	test_word();
	for (u32 i = 0; i < ARRAY_LEN(levels); i++) {
		level = levels[i];
		if (!check_level(exec_ops_select(level), level))
			continue;
		test_late();
		test_turn();
		test_turn_of_gangs();
		test_groups();
		test_fill();
		test_wrapping();
		test_pipeline();
		test_bulk();
		test_bulk_kept();
		test_bulk_ignored();
		test_bulk_relaxed();
		test_store_whole();
		test_layouts();
		test_volatile_local();
		test_lacks();
		test_unwaited();
		test_cluster();
	}
	return check_done();
}
