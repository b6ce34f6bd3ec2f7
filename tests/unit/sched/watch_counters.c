/*
 * Observers: what counters say of patterns that were measured on an H200 with Nsight Compute, the
 * same at every level and in every mode; the trace; several observers; and that observed launches
 * do what others do.
 */
#include "src/watch/counters.h"
#include "src/watch/tee.h"
#include "src/watch/trace.h"
#include "tests/check.h"
#include "tests/skip.h"
#include "tests/unit/exec_harness.h"

#define HEAD                                                                                       \
	".version 8.0\n.target sm_90\n.address_size 64\n"                                          \
	".visible .entry k(.param .u64 p)\n{\n"                                                    \
	".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<16>;\n"                                  \
	".shared .align 16 .b8 s[16384]; .local .align 16 .b8 v[64];\n"                            \
	"ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x;\n"

/* address of thread t: base + t * step, in %d1 (global) and %r1 (shared) */
#define STEP(n)                                                                                    \
	"mul.wide.u32 %d1, %r0, " #n "; add.u64 %d1, %d1, %d0; mov.u32 %r1, s; mad.lo.u32 %r1, "   \
	"%r0, " #n ", %r1;\n"

struct want {
	enum watch_metric metric;
	u64 value;
};

/* One warp each. */
static const struct {
	const char *body;
	struct want want[4];
} patterns[] = {
	{STEP(4) "ld.global.u32 %r2, [%d1];",
	 {{WATCH_global_ld_requests, 1}, {WATCH_global_ld_sectors, 4}}},
	{STEP(8) "ld.global.u32 %r2, [%d1];", {{WATCH_global_ld_sectors, 8}}},
	{STEP(32) "ld.global.u32 %r2, [%d1];", {{WATCH_global_ld_sectors, 32}}},
	{STEP(0) "ld.global.u32 %r2, [%d1];", {{WATCH_global_ld_sectors, 1}}},
	{STEP(1) "ld.global.u8 %r2, [%d1];", {{WATCH_global_ld_sectors, 1}}},
	{STEP(4) "ld.global.u32 %r2, [%d1+4];", {{WATCH_global_ld_sectors, 5}}},
	/* wide accesses are one request, too */
	{STEP(8) "ld.global.u64 %d2, [%d1];",
	 {{WATCH_global_ld_requests, 1}, {WATCH_global_ld_sectors, 8}}},
	{STEP(16) "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d1];",
	 {{WATCH_global_ld_requests, 1}, {WATCH_global_ld_sectors, 16}}},
	{STEP(16) "st.global.v2.u64 [%d1], {%d0, %d1};",
	 {{WATCH_global_st_requests, 1},
	  {WATCH_global_st_sectors, 16},
	  {WATCH_global_ld_requests, 0}}},
	/* a guard leaves lanes out */
	{STEP(32) "setp.lt.u32 %p0, %r0, 5; @%p0 ld.global.u32 %r2, [%d1];",
	 {{WATCH_global_ld_requests, 1}, {WATCH_global_ld_sectors, 5}}},
	{STEP(32) "setp.gt.u32 %p0, %r0, 99; @%p0 ld.global.u32 %r2, [%d1];",
	 {{WATCH_global_ld_requests, 0}, {WATCH_global_ld_sectors, 0}}},
	/* generic addresses are what they point to */
	{STEP(4) "ld.u32 %r2, [%d1]; cvt.u64.u32 %d3, %r1; cvta.shared.u64 %d3, %d3; ld.u32 %r3, [%d3];",
	 {{WATCH_global_ld_sectors, 4}, {WATCH_shared_ld_wavefronts, 1}}},
	/* atomics on one word are not merged */
	{STEP(0) "atom.global.add.u32 %r2, [%d1], 1; or.b32 %r2, %r2, 1;",
	 {{WATCH_global_atom_requests, 1}, {WATCH_global_atom_sectors, 32}}},
	{STEP(4) "atom.global.add.u32 %r2, [%d1], 1; or.b32 %r2, %r2, 1;",
	 {{WATCH_global_atom_sectors, 4}}},
	{STEP(0) "red.global.add.u32 [%d1], 1;",
	 {{WATCH_global_red_requests, 1}, {WATCH_global_red_sectors, 32}}},
	/* shared memory: loads */
	{STEP(4) "ld.shared.u32 %r2, [%r1];",
	 {{WATCH_shared_ld_wavefronts, 1}, {WATCH_shared_ld_conflicts, 0}}},
	{STEP(0) "ld.shared.u32 %r2, [%r1];",
	 {{WATCH_shared_ld_wavefronts, 1}, {WATCH_shared_ld_conflicts, 0}}},
	{STEP(8) "ld.shared.u32 %r2, [%r1];",
	 {{WATCH_shared_ld_wavefronts, 2}, {WATCH_shared_ld_conflicts, 1}}},
	{STEP(128) "ld.shared.u32 %r2, [%r1];",
	 {{WATCH_shared_ld_wavefronts, 32}, {WATCH_shared_ld_conflicts, 31}}},
	{STEP(132) "ld.shared.u32 %r2, [%r1];",
	 {{WATCH_shared_ld_wavefronts, 1}, {WATCH_shared_ld_conflicts, 0}}},
	{STEP(8) "ld.shared.u64 %d2, [%r1];",
	 {{WATCH_shared_ld_wavefronts, 2}, {WATCH_shared_ld_conflicts, 0}}},
	{STEP(16) "ld.shared.v2.u64 {%d2, %d3}, [%r1];",
	 {{WATCH_shared_ld_wavefronts, 4}, {WATCH_shared_ld_conflicts, 0}}},
	{STEP(0) "ld.shared.v2.u64 {%d2, %d3}, [%r1];",
	 {{WATCH_shared_ld_wavefronts, 2}, {WATCH_shared_ld_conflicts, 0}}},
	/* and stores */
	{STEP(4) "st.shared.u32 [%r1], %r0;",
	 {{WATCH_shared_st_wavefronts, 1}, {WATCH_shared_st_conflicts, 0}}},
	{STEP(8) "st.shared.u64 [%r1], %d0;",
	 {{WATCH_shared_st_wavefronts, 2}, {WATCH_shared_st_conflicts, 0}}},
	{STEP(0) "st.shared.v2.u64 [%r1], {%d0, %d0};",
	 {{WATCH_shared_st_wavefronts, 4}, {WATCH_shared_st_conflicts, 0}}},
	{STEP(16) "st.shared.v2.u64 [%r1], {%d0, %d0};",
	 {{WATCH_shared_st_wavefronts, 4}, {WATCH_shared_st_conflicts, 0}}},
	/* local memory is interleaved: 4 sectors a word */
	{"st.local.u32 [v+4], %r0; ld.local.u32 %r2, [v+4];",
	 {{WATCH_local_st_sectors, 4}, {WATCH_local_ld_sectors, 4}, {WATCH_local_ld_requests, 1}}},
	{"st.local.v2.u64 [v], {%d0, %d0};", {{WATCH_local_st_sectors, 16}}},
	{"mov.u64 %d3, v; cvta.local.u64 %d3, %d3; st.u32 [%d3+4], %r0; ld.u32 %r2, [%d3+4];",
	 {{WATCH_local_st_sectors, 4},
	  {WATCH_local_ld_requests, 1},
	  {WATCH_global_st_requests, 0}}},
	{"bar.sync 0; bar.sync 1;", {{WATCH_barriers, 2}}},
};

static enum exec_stop run(const char *body, u32 block, const char *level,
			  const struct exec_observer *o, u64 *first)
{
	struct text t = {0};
	enum exec_stop stop = STOP_FAULT;
	struct harness h;
	u64 p;

	text_printf(&t, "%s%s\nret;\n}\n", HEAD, body);
	if (CHECK(harness_open(&h, t.at))) {
		h.observer = o;
		p = mem_alloc(&h.mem, 16384, 4096, MEM_KIND_DEVICE);
		stop = harness_run(&h, "k", 1, block, &p, level);
		if (first)
			memcpy(first, (void *)(uintptr_t)p, sizeof(*first));
	}
	harness_close(&h);
	text_fini(&t);
	return stop;
}

static void test_patterns(const char *level)
{
	struct watch_counters c;

	for (u32 i = 0; i < ARRAY_LEN(patterns); i++) {
		watch_counters_init(&c);
		CHECK_EQ(run(patterns[i].body, 32, level, &c.observer, NULL), STOP_DONE);
		for (u32 k = 0; k < 4; k++) {
			const struct want *w = &patterns[i].want[k];

			if (w->metric && c.value[w->metric] != w->value)
				printf("# %s: %s is %llu\n", patterns[i].body,
				       watch_metric_name(w->metric),
				       (unsigned long long)c.value[w->metric]);
			CHECK(!w->metric || c.value[w->metric] == w->value);
		}
	}
}

/* 40 threads: a warp and a part of one. 2 + 1 before, then what the text says, ret. */
static void test_instructions(const char *level)
{
	static const char body[] = "setp.lt.u32 %p0, %r0, 8; @%p0 add.u32 %r2, %r0, 1;\n"
				   "@%p0 bra E; add.u32 %r2, %r0, 2; add.u32 %r2, %r2, 3;\n"
				   "E: mov.u32 %r3, 0;\n"
				   "L: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 4; @%p1 bra L;";
	struct watch_counters c;

	watch_counters_init(&c);
	CHECK_EQ(run(body, 40, level, &c.observer, NULL), STOP_DONE);
	/* ld, mov, setp, add, bra; two adds of the lanes that stay; mov; 4 x 3; ret */
	CHECK_EQ(c.value[WATCH_thread_inst], 40 * 5 + 32 * 2 + 40 * (1 + 12 + 1));
	CHECK_EQ(c.value[WATCH_inst], 2 * 5 + 2 * 2 + 2 * (1 + 12 + 1));
	/* guarded: add by 8, bra by 8; the loop's branch is taken three times of four */
	CHECK_EQ(c.value[WATCH_thread_inst_on], c.value[WATCH_thread_inst] - 32 - 32 - 40);
}

/* An observed launch computes the same; with many warps, apart and together. */
static void test_same(const char *level)
{
	static const char body[] =
		"and.b32 %r4, %r0, 7; mov.u32 %r5, 0;\n"
		"L: setp.ge.u32 %p0, %r5, %r4; @%p0 bra E; atom.global.add.u32 %r6, [%d0], %r5;\n"
		"atom.shared.add.u32 %r6, [s], 1; add.u32 %r5, %r5, 1; or.b32 %r6, %r6, 1; bra L; E: bar.sync 0;\n"
		"ld.shared.u32 %r7, [s]; setp.eq.u32 %p1, %r0, 77; @%p1 st.global.u32 [%d0+4], %r7;";
	struct watch_counters c;
	u64 plain = 0, watched = 1;

	watch_counters_init(&c);
	CHECK_EQ(run("st.shared.u32 [s], 0; bar.sync 0;", 352, level, NULL, NULL), STOP_DONE);
	CHECK_EQ(run(body, 352, level, NULL, &plain), STOP_DONE);
	CHECK_EQ(run(body, 352, level, &c.observer, &watched), STOP_DONE);
	CHECK_EQ((u32)plain, (u32)watched);
	CHECK_EQ(c.value[WATCH_barriers], 11);
	CHECK_EQ(c.value[WATCH_global_atom_requests], 11 * 7);
}

static void test_trace(void)
{
	struct watch_counters c;
	struct watch_trace t;
	struct watch_tee tee;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	watch_trace_init(&t, f);
	watch_counters_init(&c);
	watch_tee_init(&tee);
	CHECK(watch_tee_add(&tee, &t.observer) && watch_tee_add(&tee, &c.observer));
	CHECK_EQ(
		run(STEP(4) "setp.lt.u32 %p0, %r0, 2; @%p0 ld.shared.u32 %r2, [%r1+8];\nbar.sync 3;",
		    32, NULL, &tee.observer, NULL),
		STOP_DONE);
	fclose(f);
	CHECK(text && strstr(text, "load shared 4 | cta 0,0,0 warp 0 lanes 00000003 | k+"));
	CHECK(text && strstr(text, "line 10 | 0x8 0xc\n"));
	CHECK(text && strstr(text, "sync bar.sync | cta 0,0,0 warp 0 lanes ffffffff |"));
	CHECK(text && strstr(text, "load param 8 |"));
	CHECK_EQ(c.value[WATCH_shared_ld_wavefronts], 1);
	watch_trace_fini(&t);
	free(text);
}

/* Pieces that the lanes touch, one by one. */
static u32 count_sectors(const u64 *address, u32 mask, u32 width)
{
	u64 seen[256];
	u32 len = 0;

	for (u32 l = 0; l < WARP_LANES; l++)
		for (u64 k = address[l] / 32; mask >> l & 1 && k <= (address[l] + width - 1) / 32;
		     k++) {
			u32 i = 0;

			while (i < len && seen[i] != k)
				i++;
			seen[i] = k;
			len += i == len;
		}
	return len;
}

/* Scattered addresses, many of which look alike in some of their bits. */
static void test_scattered(void)
{
	static const u32 masks[] = {0xffffffff, 0xfffffffe, 0x55555555, 0x80000001, 1};
	static const u64 apart[] = {4, 32, 128, 4096, (u64)1 << 13, (u64)1 << 37, (u64)1 << 45};
	u64 address[WARP_LANES], x = 1;
	u32 wrong = 0;

	for (u32 i = 0; i < 20000; i++) {
		u32 mask = masks[i % ARRAY_LEN(masks)], width = 1u << i % 5;

		for (u32 l = 0; l < WARP_LANES; l++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			address[l] = (x >> 33) % (1 + i % 70) * apart[i / 5 % ARRAY_LEN(apart)] +
				     (i & 1 ? x >> 60 : 0);
		}
		wrong += watch_sectors(address, mask, width) != count_sectors(address, mask, width);
	}
	CHECK_MSG(!wrong, "sectors of scattered lanes are those that are counted one by one");
}

int main(void)
{
	static const char *const levels[] = {"base", "v2", "v3", "v4"};

	for (u32 i = 0; i < ARRAY_LEN(levels); i++) {
		if (!check_level(exec_ops_select(levels[i]), levels[i]))
			continue;
		test_patterns(levels[i]);
		test_instructions(levels[i]);
		test_same(levels[i]);
	}
	test_trace();
	test_scattered();
	return check_done();
}
