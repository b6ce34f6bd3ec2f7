/*
 * Lanes that have diverged reconverge, wherever the text has the reconvergence point: before the
 * branch, at the beginning of the loop, inside it. And what lanes that share a program counter do
 * to each other before Volta.
 */
#include "tests/check.h"
#include "tests/unit/exec_harness.h"

#include "src/exec/probe.h"

#define WARP 32u

#define HEADER                                                                                     \
	".version 7.0\n.target sm_60\n.address_size 64\n"                                          \
	".visible .entry k(.param .u64 out)\n{\n"                                                  \
	".reg .u64 a, o; .reg .u32 t, i, n, m, x, z; .reg .pred odd, p, q;\n"                      \
	"ld.param.u64 a, [out]; mov.u32 t, %tid.x; mad.wide.u32 a, t, 4, a; and.b32 x, t, 1;\n"    \
	"setp.eq.u32 odd, x, 1; mov.u32 i, 0; mov.u32 n, 0; mov.u32 z, 0;\n"
/* Count turns in which all lanes of the warp are together. */
#define COUNT "activemask.b32 m; setp.eq.u32 q, m, -1; @q add.u32 n, n, 1;\n"
#define FOOTER "DONE: st.global.u32 [a], n; ret;\n}\n"

static const struct layout {
	const char *name, *text;
	u32 want;
} layouts[] = {
	{"the meeting place comes before the branch",
	 HEADER "bra BODY;\n"
		"LATCH: " COUNT "add.u32 i, i, 1; setp.eq.u32 p, i, 4; @p bra DONE;\n"
		"BODY: @odd bra ODD; add.u32 z, z, 3; bra LATCH;\n"
		"ODD: add.u32 z, z, 5; bra LATCH;\n" FOOTER,
	 4},
	{"both ways go back to the beginning of the loop",
	 HEADER "HEAD: " COUNT "add.u32 i, i, 1; setp.eq.u32 p, i, 4; @p bra DONE;\n"
		"@odd bra ODD; add.u32 z, z, 3; bra HEAD;\n"
		"ODD: add.u32 z, z, 5; bra HEAD;\n" FOOTER,
	 4},
	{"one way falls through to the beginning of the loop",
	 HEADER "bra HEAD;\n"
		"ODD: add.u32 z, z, 5;\n"
		"HEAD: " COUNT "add.u32 i, i, 1; setp.eq.u32 p, i, 4; @p bra DONE;\n"
		"@odd bra ODD; add.u32 z, z, 3; bra HEAD;\n" FOOTER,
	 4},
	{"the exit stands inside the loop",
	 HEADER "HEAD: add.u32 i, i, 1; setp.gt.u32 p, i, t; @!p bra NEXT;\n"
		"OUT: " COUNT "bra DONE;\n"
		"NEXT: add.u32 z, z, 3; bra HEAD;\n" FOOTER,
	 1},
	{"a table leads back",
	 HEADER
	 "bra BODY;\n"
	 "LATCH: " COUNT "add.u32 i, i, 1; setp.eq.u32 p, i, 4; @p bra DONE;\n"
	 "BODY: ts: .branchtargets A, B, LATCH; and.b32 x, t, 3; min.u32 x, x, 2; brx.idx x, ts;\n"
	 "A: add.u32 z, z, 3; bra LATCH;\n"
	 "B: add.u32 z, z, 5; bra LATCH;\n" FOOTER,
	 4},
};

static void test_layout(const struct layout *x, const char *device, u32 threads)
{
	struct harness h;
	u64 out;
	u32 wrong = 0;

	if (!CHECK(harness_open(&h, x->text)))
		return;
	h.device = device;
	h.turns = 100;
	out = mem_alloc(&h.mem, threads * sizeof(u32), 4, MEM_KIND_DEVICE);
	CHECK_EQ(harness_run(&h, "k", 1, threads, &out, NULL), STOP_DONE);
	for (u32 i = 0; i < threads; i++)
		wrong += ((const u32 *)(uintptr_t)out)[i] != x->want;
	if (!CHECK_EQ(wrong, 0))
		printf("# %s, %s, %u threads\n", x->name, device, threads);
	harness_close(&h);
}

/* A lock that each lane takes; one loop, reconvergence after it, as the source has it. */
static const char lock[] =
	".version 7.0\n.target sm_60\n.address_size 64\n"
	".visible .entry k(.param .u64 out)\n{\n.reg .u64 a; .reg .u32 x; .reg .pred p;\n"
	"ld.param.u64 a, [out];\n"
	"L: atom.global.cas.b32 x, [a], 0, 1; setp.ne.u32 p, x, 0; @p bra L;\n"
	"ld.volatile.global.u32 x, [a+4]; add.u32 x, x, 1; st.volatile.global.u32 [a+4], x;\n"
	"membar.gl; atom.global.exch.b32 x, [a], 0; ret;\n}\n";

/* Does the CTA, that has not ended in some turns, come to do the same again and again? */
static bool repeats(struct harness *h, struct cta *c)
{
	const struct exec_ops *ops = h->env.ops;
	struct exec_probe probe;
	u64 first;
	bool again = false;

	exec_probe_init(&probe, ops);
	h->env.ops = &probe.ops;
	exec_cta_run(c, 256);
	first = exec_probe_state(c);
	for (u32 i = 0; i < 16 && !probe.moved; i++) {
		exec_cta_run(c, 256);
		again |= exec_probe_state(c) == first;
	}
	h->env.ops = ops;
	return again && !probe.moved;
}

static void test_lock(const char *device, u32 threads, bool ends)
{
	enum exec_stop stop = STOP_YIELD;
	struct harness h;
	struct cta c;
	u64 out;

	if (!CHECK(harness_open(&h, lock)))
		return;
	h.device = device;
	out = mem_alloc(&h.mem, 8, 4, MEM_KIND_DEVICE);
	memset((void *)(uintptr_t)out, 0, 8);
	CHECK(harness_begin(&h, "k", 1, threads, &out, NULL));
	harness_cta(&h, &c, threads);
	exec_cta_start(&c);
	for (u32 i = 0; i < 1000 && stop == STOP_YIELD; i++)
		stop = exec_cta_run(&c, 256);
	CHECK_EQ(stop, ends ? STOP_DONE : STOP_YIELD);
	CHECK_EQ(((u32 *)(uintptr_t)out)[1], ends ? threads : 0);
	if (!ends)
		CHECK(repeats(&h, &c));
	harness_cta_free(&c);
	harness_end(&h);
	harness_close(&h);
}

int main(void)
{
	static const char *const devices[] = {"gp100", "v100", "h100"};

	for (u32 d = 0; d < ARRAY_LEN(devices); d++)
		for (u32 i = 0; i < ARRAY_LEN(layouts); i++)
			for (u32 warps = 1; warps <= 4; warps *= 4)
				test_layout(&layouts[i], devices[d], warps * WARP);
	test_lock("v100", WARP, true);
	test_lock("v100", 4 * WARP, true);
	test_lock("gp100", 1, true);
	test_lock("gp100", WARP, false);
	return check_done();
}
