/* Cooperative launches: the barrier of the grid as compilers inline it, on one and on several
 * workers; how many CTAs may be resident; several such grids at once. */
#include "tests/check.h"
#include "src/api/api_int.h"

#include <stdlib.h>

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

/*
 * n times: write the round to out[cta], meet all CTAs, look at what the next CTA wrote. The barrier
 * lies in the workspace that %envreg1 and %envreg2 point to: its second word counts arrivals, the
 * first CTA adds what is missing to half the range, so that the top bit flips when all have come.
 */
static const char kernels[] = HEAD
	".visible .entry meet(.param .u64 out, .param .u32 n)\n{\n"
	".reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<12>;\n"
	"ld.param.u64 %rd0, [out]; ld.param.u32 %r0, [n];\n"
	"mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %rd1, {%r2, %r1};\n"
	"setp.eq.u64 %p0, %rd1, 0; @%p0 trap; ld.global.u32 %r3, [%rd1]; setp.lt.u32 %p0, %r3, 8; @%p0 trap;\n"
	"mov.u32 %r3, %ctaid.x; mov.u32 %r4, %nctaid.x; mov.u32 %r5, %tid.x;\n"
	"mul.wide.u32 %rd2, %r3, 4; add.s64 %rd3, %rd0, %rd2;\n"
	"add.u32 %r6, %r3, 1; rem.u32 %r6, %r6, %r4; mul.wide.u32 %rd4, %r6, 4; add.s64 %rd5, %rd0, %rd4;\n"
	"mov.u32 %r7, 0;\n"
	"LOOP: add.u32 %r7, %r7, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra A; st.global.u32 [%rd3], %r7;\n"
	"A: bar.sync 0; @%p1 bra W;\n"
	"setp.eq.u32 %p2, %r3, 0; sub.u32 %r8, %r4, 1; sub.u32 %r8, 0x80000000, %r8; selp.u32 %r9, %r8, 1, %p2;\n"
	"atom.add.release.gpu.u32 %r10, [%rd1+4], %r9;\n"
	"S: ld.acquire.gpu.u32 %r11, [%rd1+4]; xor.b32 %r12, %r11, %r10; setp.ge.s32 %p3, %r12, 0; @%p3 bra S;\n"
	"W: bar.sync 0; ld.global.u32 %r13, [%rd5]; setp.lt.u32 %p3, %r13, %r7; @%p3 trap;\n"
	"setp.lt.u32 %p3, %r7, %r0; @%p3 bra LOOP; ret;\n}\n"
	".visible .entry empty() { ret; }\n"
	/*
	 * The same with functions of the device's runtime, as compilers without headers call them.
	 */
	".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 a);\n"
	".extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 a, .param .b32 b);\n"
	".extern .func (.param .b32 r) cudaCGSynchronizeGrid(.param .b64 a, .param .b32 b);\n"
	".extern .func (.param .b32 r) cudaCGGetSize(.param .b64 a, .param .b64 b, .param .b64 c);\n"
	".extern .func (.param .b32 r) cudaCGGetRank(.param .b64 a, .param .b64 b, .param .b64 c);\n"
	".visible .entry meet_called(.param .u64 out, .param .u32 n)\n{\n"
	".reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<12>; .param .b64 h; .param .b32 f, s;\n"
	"ld.param.u64 %rd0, [out]; ld.param.u32 %r0, [n]; st.param.b32 [f], 1;\n"
	"call.uni (h), cudaCGGetIntrinsicHandle, (f); ld.param.b64 %rd1, [h]; st.param.b32 [f], 0;\n"
	"mov.u32 %r3, %ctaid.x; mov.u32 %r4, %nctaid.x; mov.u32 %r5, %tid.x; setp.ne.u32 %p1, %r5, 0;\n"
	"mul.wide.u32 %rd2, %r3, 4; add.s64 %rd3, %rd0, %rd2;\n"
	"add.u32 %r6, %r3, 1; rem.u32 %r6, %r6, %r4; mul.wide.u32 %rd4, %r6, 4;\n"
	"add.s64 %rd5, %rd0, %rd4; mov.u32 %r7, 0;\n"
	"LOOP: add.u32 %r7, %r7, 1; @%p1 bra A; st.global.u32 [%rd3], %r7;\n"
	"A: and.b32 %r8, %r7, 1; setp.eq.u32 %p2, %r8, 0; @%p2 bra EVEN;\n"
	"call.uni (s), cudaCGSynchronize, (h, f); bra B;\n"
	"EVEN: call.uni (s), cudaCGSynchronizeGrid, (h, f);\n"
	"B: ld.param.b32 %r9, [s]; setp.ne.u32 %p2, %r9, 0; @%p2 trap;\n"
	"ld.volatile.global.u32 %r13, [%rd5]; setp.lt.u32 %p3, %r13, %r7; @%p3 trap;\n"
	"setp.lt.u32 %p3, %r7, %r0; @%p3 bra LOOP; ret;\n}\n"
	/* out[rank] = both statuses + 2 rank + 1000 size + 100000 (number of grids + which one) */
	".visible .entry measure(.param .u64 out, .param .u32 scope)\n{\n"
	".reg .pred %p; .reg .b32 %r<20>; .reg .b64 %rd<12>; .param .b64 h, a, b; .param .b32 f, s;\n"
	".local .align 8 .b8 l[16];\n"
	"ld.param.u64 %rd0, [out]; ld.param.u32 %r0, [scope]; st.param.b32 [f], %r0;\n"
	"call.uni (h), cudaCGGetIntrinsicHandle, (f);\n"
	"mov.u64 %rd1, l; cvta.local.u64 %rd1, %rd1; add.u64 %rd2, %rd1, 4;\n"
	"st.v4.u32 [%rd1], {0, 0, 0, 0};\n"
	"st.param.b64 [a], %rd1; st.param.b64 [b], %rd2; call.uni (s), cudaCGGetRank, (a, b, h);\n"
	"ld.param.b32 %r1, [s]; add.u64 %rd1, %rd1, 8; add.u64 %rd2, %rd2, 8;\n"
	"st.param.b64 [a], %rd1; st.param.b64 [b], %rd2; call.uni (s), cudaCGGetSize, (a, b, h);\n"
	"ld.param.b32 %r2, [s]; ld.local.v4.u32 {%r3, %r4, %r5, %r6}, [l]; add.u32 %r1, %r1, %r2;\n"
	"mad.lo.u32 %r1, %r3, 2, %r1; mad.lo.u32 %r1, %r5, 1000, %r1; mad.lo.u32 %r1, %r4, 100000, %r1;\n"
	"mad.lo.u32 %r1, %r6, 100000, %r1;\n"
	"mul.wide.u32 %rd3, %r3, 4; add.u64 %rd0, %rd0, %rd3; st.global.u32 [%rd0], %r1; ret;\n}\n";

struct env {
	struct ptxloom_device *dev;
	struct ptxloom_module *mod;
	unsigned *out;
};

#define OUT_WORDS 4096u

static bool env_open(struct env *e, const char *device, unsigned workers, uint64_t seed)
{
	struct ptxloom_options o = {.size = sizeof(o),
				    .device = device,
				    .workers = workers,
				    .seed = seed,
				    .timeout_ms = 60000};

	*e = (struct env){0};
	if (ptxloom_device_open(&o, &e->dev) ||
	    ptxloom_module_load(e->dev, kernels, sizeof(kernels) - 1, &e->mod))
		return CHECK(false);
	e->out = ptxloom_alloc(e->dev, OUT_WORDS * 4);
	return CHECK(e->out != NULL);
}

static bool all_are(const unsigned *at, unsigned n, unsigned value)
{
	bool good = true;

	for (unsigned i = 0; i < n; i++)
		good &= at[i] == value;
	return good;
}

static void test_barrier(struct env *e, const char *kernel, unsigned ctas, unsigned threads,
			 unsigned rounds)
{
	struct ptxloom_config c = {.grid = {ctas}, .block = {threads}, .cooperative = 1};
	struct ptxloom_kernel *k = ptxloom_module_kernel(e->mod, kernel);
	void *out = e->out;

	memset(e->out, 0, OUT_WORDS * 4);
	CHECK_EQ(ptxloom_launch(k, &c, (void *[]){&out, &rounds}), 0);
	CHECK(all_are(e->out, ctas, rounds));
	CHECK_EQ(e->out[ctas], 0);
	/* The barrier begins afresh, and grids beside each other have their own. */
	for (unsigned i = 0; i < 3; i++) {
		out = e->out + i * 1000;
		CHECK_EQ(ptxloom_launch_async(k, &c, (void *[]){&out, &rounds}), 0);
	}
	CHECK_EQ(ptxloom_device_sync(e->dev), 0);
	for (unsigned i = 0; i < 3; i++)
		CHECK(all_are(e->out + i * 1000, ctas, rounds));
}

/* As many CTAs as the occupancy allows, and no more. */
static void test_limit(struct env *e, unsigned threads)
{
	struct ptxloom_kernel *k = ptxloom_module_kernel(e->mod, "empty");
	unsigned most = ptxloom_kernel_occupancy(k, threads, 0);
	struct ptxloom_config c = {.block = {threads}, .cooperative = 1};
	int64_t sms;

	CHECK_EQ(ptxloom_device_number(e->dev, "sms", &sms), 0);
	c.grid[0] = most * (unsigned)sms;
	CHECK_EQ(ptxloom_launch(k, &c, NULL), 0);
	c.grid[0]++;
	CHECK_EQ(ptxloom_launch(k, &c, NULL), PTXLOOM_COOPERATIVE_LAUNCH_TOO_LARGE);
	c.cooperative = 0;
	CHECK_EQ(ptxloom_launch(k, &c, NULL), 0);
}

/* Without a cooperative launch there is no workspace; the barrier's code finds that out. */
static void test_plain(struct env *e)
{
	struct ptxloom_config c = {.grid = {4}, .block = {32}};
	unsigned rounds = 1;
	void *out = e->out;

	CHECK_EQ(ptxloom_launch(ptxloom_module_kernel(e->mod, "meet"), &c,
				(void *[]){&out, &rounds}),
		 PTXLOOM_LAUNCH_FAILED);
}

/*
 * Ranks and sizes; neither without a cooperative launch nor of another scope than the grid is there
 * a handle.
 */
static void test_measures(struct env *e)
{
	struct ptxloom_config c = {.grid = {2, 1, 3}, .block = {4, 2}, .cooperative = 1};
	struct ptxloom_kernel *k = ptxloom_module_kernel(e->mod, "measure");
	unsigned scope = 1;
	void *out = e->out;
	bool good = true;

	CHECK_EQ(ptxloom_launch(k, &c, (void *[]){&out, &scope}), 0);
	for (unsigned i = 0; i < 48; i++)
		good &= e->out[i] == 2 * i + 48000 + 100000;
	CHECK(good);
	e->out[0] = 0;
	scope = 2;
	CHECK_EQ(ptxloom_launch(k, &c, (void *[]){&out, &scope}), 0);
	CHECK_EQ(e->out[0], 2);
	e->out[0] = 0;
	scope = 1;
	c.cooperative = 0;
	CHECK_EQ(ptxloom_launch(k, &c, (void *[]){&out, &scope}), 0);
	CHECK_EQ(e->out[0], 2);
}

int main(void)
{
	static const unsigned workers[] = {1, 2, 7};
	struct env e;

	for (size_t i = 0; i < ARRAY_LEN(workers); i++)
		for (uint64_t seed = 0; seed < 2; seed++) {
			if (!env_open(&e, "a100", workers[i], seed * 77))
				return check_done();
			test_barrier(&e, "meet", 64, 32, 250);
			test_barrier(&e, "meet", 216, 1024, 3);
			test_barrier(&e, "meet", 1, 1, 100);
			test_barrier(&e, "meet_called", 64, 32, 100);
			test_barrier(&e, "meet_called", 1, 1, 100);
			test_measures(&e);
			test_limit(&e, 1024);
			test_limit(&e, 33);
			test_plain(&e);
			ptxloom_device_close(e.dev);
		}
	if (env_open(&e, "h100", 2, 0)) {
		struct ptxloom_config c = {
			.grid = {64}, .block = {64}, .cooperative = 1, .cluster = {4}};
		unsigned rounds = 50;
		void *out = e.out;

		CHECK_EQ(ptxloom_launch(ptxloom_module_kernel(e.mod, "meet"), &c,
					(void *[]){&out, &rounds}),
			 0);
		CHECK(all_are(e.out, 64, 50));
		ptxloom_device_close(e.dev);
	}
	return check_done();
}
