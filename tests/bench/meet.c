/*
 * Speed of what threads meet by: shuffles, atomics in shared and in global memory, the barrier of a
 * grid, copies with cp.async. One and two workers, and the scalar reference engine where it can run
 * the kernel; results are compared. Times are processor time of the whole process and time elapsed,
 * the least of the rounds.
 *
 * usage: meet [ROUNDS]
 */
#include "grammar/parse.h"
#include "tests/ref/ref.h"

#include <ptxloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define IN_WORDS (1u << 20)
#define OUT_WORDS 4096u
#define BINS 256u

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"
/* clang-format off */
#define ENTRY                                                                                      \
	".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"                                      \
	".reg .pred %p<6>; .reg .b32 %r<32>; .reg .b64 %rd<16>;\n"                                     \
	"ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n" \
	"mov.u32 %r2, %ntid.x; mov.u32 %r3, %nctaid.x; mad.lo.u32 %r4, %r1, %r2, %r0; mul.lo.u32 %r5, %r2, %r3;\n"
/* Thread i takes words i, i + threads, ..: %r6 each. */
#define EACH(body)                                                                                 \
	"mov.u32 %r7, %r4;\n"                                                                          \
	"LOOP: mul.wide.u32 %rd2, %r7, 4; add.u64 %rd2, %rd0, %rd2; ld.global.u32 %r6, [%rd2];\n" body \
	"add.u32 %r7, %r7, %r5; setp.lt.u32 %p0, %r7, 1048576; @%p0 bra LOOP;\n"
/* clang-format on */
#define STEP(n) "shfl.sync.down.b32 %r9, %r6, " #n ", 31, -1; add.u32 %r6, %r6, %r9;\n"

/* clang-format off */
static const char shuffle[] =
	HEAD ENTRY "mov.u32 %r8, 0;\n" EACH(STEP(16) STEP(8) STEP(4) STEP(2) STEP(1) "add.u32 %r8, %r8, %r6;\n")
		"and.b32 %r9, %r0, 31; setp.ne.u32 %p1, %r9, 0; @%p1 bra END; red.global.add.u32 [%rd1], %r8;\n"
		"END: ret;\n}\n";

static const char global_bins[] =
	HEAD ENTRY EACH("and.b32 %r9, %r6, 255; mul.wide.u32 %rd3, %r9, 4; add.u64 %rd3, %rd1, %rd3;\n"
			"red.global.add.u32 [%rd3], 1;\n") "ret;\n}\n";
/* clang-format on */

static const char one_bin[] = HEAD ENTRY EACH("red.global.add.u32 [%rd1], %r6;\n") "ret;\n}\n";

/* clang-format off */
static const char sums[] =
	HEAD ENTRY EACH("and.b32 %r9, %r6, 255; mul.wide.u32 %rd3, %r9, 4; add.u64 %rd3, %rd1, %rd3;\n"
			"mov.b32 %r9, 0f3F800000; red.global.add.f32 [%rd3], %r9;\n") "ret;\n}\n";

static const char shared_bins[] = HEAD ENTRY
	".shared .align 4 .b8 bins[1024];\n"
	"mov.u32 %r10, bins; mad.lo.u32 %r11, %r0, 4, %r10; mov.u32 %r12, 0;\n"
	"st.shared.u32 [%r11], %r12; bar.sync 0;\n"
	EACH("and.b32 %r9, %r6, 255; mad.lo.u32 %r9, %r9, 4, %r10; red.shared.add.u32 [%r9], 1;\n")
	"bar.sync 0; ld.shared.u32 %r12, [%r11]; mul.wide.u32 %rd3, %r0, 4; add.u64 %rd3, %rd1, %rd3;\n"
	"red.global.add.u32 [%rd3], %r12; ret;\n}\n";
/* clang-format on */

/* The barrier as compilers inline it, 1000 times. */
static const char grid[] = HEAD ENTRY
	"mov.u32 %r8, %envreg1; mov.u32 %r9, %envreg2; mov.b64 %rd4, {%r9, %r8}; mov.u32 %r10, 0;\n"
	"setp.eq.u32 %p2, %r1, 0; sub.u32 %r11, %r3, 1; sub.u32 %r11, 0x80000000, %r11; selp.u32 %r11, %r11, 1, %p2;\n"
	"setp.ne.u32 %p1, %r0, 0;\n"
	"LOOP: bar.sync 0; @%p1 bra W; atom.add.release.gpu.u32 %r12, [%rd4+4], %r11;\n"
	"S: ld.acquire.gpu.u32 %r13, [%rd4+4]; xor.b32 %r13, %r13, %r12; setp.ge.s32 %p3, %r13, 0; @%p3 bra S;\n"
	"W: bar.sync 0; add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 1000; @%p3 bra LOOP;\n"
	"red.global.add.u32 [%rd1], %r10; ret;\n}\n";

/* Two stages: while one tile is summed the next is under way. */
static const char pipeline[] = HEAD ENTRY
	".shared .align 16 .b8 tile[8192];\n"
	"mov.u32 %r10, tile; mad.lo.u32 %r10, %r0, 16, %r10; mov.u32 %r8, 0; mov.u32 %r7, %r4; mov.u32 %r11, 0;\n"
	"mul.wide.u32 %rd2, %r7, 16; add.u64 %rd2, %rd0, %rd2; mul.wide.u32 %rd3, %r5, 16;\n"
	"cp.async.cg.shared.global [%r10], [%rd2], 16; cp.async.commit_group;\n"
	"LOOP: add.u32 %r7, %r7, %r5; setp.ge.u32 %p0, %r7, 262144; xor.b32 %r11, %r11, 4096;\n"
	"add.u32 %r12, %r10, %r11;\n"
	"add.u64 %rd2, %rd2, %rd3; @!%p0 cp.async.cg.shared.global [%r12], [%rd2], 16;\n"
	"cp.async.commit_group; cp.async.wait_group 1; bar.sync 0;\n"
	"xor.b32 %r13, %r11, 4096; add.u32 %r13, %r10, %r13;\n"
	"ld.shared.v4.u32 {%r14,%r15,%r16,%r17}, [%r13]; add.u32 %r14, %r14, %r15; add.u32 %r16, %r16, %r17;\n"
	"add.u32 %r8, %r8, %r14; add.u32 %r8, %r8, %r16; bar.sync 0; @!%p0 bra LOOP;\n"
	"red.global.add.u32 [%rd1], %r8; ret;\n}\n";

struct job {
	const char *name, *ptx;
	u32 ctas, threads;
	bool cooperative, reference;
	double operations; /* of the kind that is measured */
};

static const struct job jobs[] = {
	{"shuffle reduction", shuffle, 128, 256, false, true, 5.0 * IN_WORDS},
	{"histogram, shared", shared_bins, 128, 256, false, true, IN_WORDS},
	{"histogram, global", global_bins, 128, 256, false, true, IN_WORDS},
	{"f32 sums, global", sums, 128, 256, false, true, IN_WORDS},
	{"one sum, global", one_bin, 128, 256, false, true, IN_WORDS},
	{"barrier of 64 CTAs", grid, 64, 64, true, false, 64000},
	{"cp.async pipeline", pipeline, 64, 256, false, false, IN_WORDS / 4},
};

/* ---- time ---- */

struct spent {
	double cpu, elapsed; /* seconds */
};

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct spent mark(void)
{
	return (struct spent){now(CLOCK_PROCESS_CPUTIME_ID), now(CLOCK_MONOTONIC)};
}

static void keep_least(struct spent *least, const struct spent *begin)
{
	struct spent end = mark();

	end.cpu -= begin->cpu;
	end.elapsed -= begin->elapsed;
	if (least->cpu <= 0 || end.cpu < least->cpu)
		least->cpu = end.cpu;
	if (least->elapsed <= 0 || end.elapsed < least->elapsed)
		least->elapsed = end.elapsed;
}

/* ---- ways to run a job ---- */

static void fill(u32 *in)
{
	u32 x = 1;

	for (u32 i = 0; i < IN_WORDS; i++) {
		x = x * 1664525 + 1013904223;
		in[i] = x >> 10;
	}
}

static bool on_engine(const struct job *j, u32 workers, u32 rounds, struct spent *least,
		      u32 *result)
{
	struct ptxloom_options o = {.size = sizeof(o), .device = "a100", .workers = workers};
	struct ptxloom_config c = {
		.grid = {j->ctas}, .block = {j->threads}, .cooperative = j->cooperative};
	struct ptxloom_device *dev;
	struct ptxloom_module *mod;
	u32 *in, *out;
	bool ok = !ptxloom_device_open(&o, &dev) &&
		  !ptxloom_module_load(dev, j->ptx, strlen(j->ptx), &mod);

	in = ptxloom_alloc(dev, IN_WORDS * 4);
	out = ptxloom_alloc(dev, OUT_WORDS * 4);
	fill(in);
	for (u32 i = 0; ok && i < rounds; i++) {
		struct spent begin;

		memset(out, 0, OUT_WORDS * 4);
		begin = mark();
		ok = !ptxloom_launch(ptxloom_module_kernel(mod, "k"), &c, (void *[]){&in, &out});
		keep_least(least, &begin);
	}
	memcpy(result, out, OUT_WORDS * 4);
	ptxloom_device_close(dev);
	return ok;
}

static bool on_reference(const struct job *j, u32 rounds, struct spent *least, u32 *result)
{
	struct diag_source source = {"bench.ptx", j->ptx, strlen(j->ptx)};
	struct text messages = {0};
	struct diag d;
	struct mem mem;
	struct {
		u64 in, out;
	} params;
	struct ref_launch l = {.params = &params, .arch = arch_find("a100"), .mem = &mem};
	u64 none[8] = {0};
	struct fault fault;
	bool ok;

	diag_init(&d, diag_collect, &messages);
	l.module = ptx_parse(&source, NULL, &d);
	ok = l.module && mem_init(&mem, (u64)1 << 30);
	if (!ok)
		return false;
	l.kernel = ir_find_func(l.module, "k");
	l.var_address = none;
	l.grid[0] = j->ctas;
	l.block[0] = j->threads;
	l.grid[1] = l.grid[2] = l.block[1] = l.block[2] = 1;
	params.in = mem_alloc(&mem, IN_WORDS * 4, 0, MEM_KIND_DEVICE);
	params.out = mem_alloc(&mem, OUT_WORDS * 4, 0, MEM_KIND_DEVICE);
	fill((u32 *)(uintptr_t)params.in);
	for (u32 i = 0; ok && i < rounds; i++) {
		struct spent begin;

		memset((void *)(uintptr_t)params.out, 0, OUT_WORDS * 4);
		begin = mark();
		ok = ref_launch(&l, &fault);
		keep_least(least, &begin);
	}
	memcpy(result, (void *)(uintptr_t)params.out, OUT_WORDS * 4);
	mem_fini(&mem);
	ir_module_free((struct ir_module *)l.module);
	diag_fini(&d);
	text_fini(&messages);
	return ok;
}

static bool measure(const struct job *j, u32 rounds)
{
	static u32 one[OUT_WORDS], two[OUT_WORDS], scalar[OUT_WORDS];
	struct spent t1 = {0}, t2 = {0}, tr = {0};
	bool ok = on_engine(j, 1, rounds, &t1, one) && on_engine(j, 2, rounds, &t2, two) &&
		  !memcmp(one, two, sizeof(one));

	if (ok && j->reference)
		ok = on_reference(j, rounds < 3 ? rounds : 3, &tr, scalar) &&
		     !memcmp(one, scalar, sizeof(one));
	printf("%-20s %9.2f %9.2f %9.2f %9.2f", j->name, t1.cpu * 1e3, t1.cpu * 1e9 / j->operations,
	       t2.cpu * 1e3, t2.elapsed * 1e3);
	if (j->reference)
		printf(" %9.2f %8.1f", tr.cpu * 1e3, tr.cpu / t1.cpu);
	printf("%s\n", ok ? "" : "  WRONG");
	return ok;
}

int main(int argc, char **argv)
{
	u32 rounds = argc > 1 ? (u32)strtoul(argv[1], NULL, 0) : 7;
	bool ok = true;

	printf("%-20s %9s %9s %9s %9s %9s %8s\n", "", "1 ms", "ns each", "2 ms", "2 elapsed",
	       "scalar", "ratio");
	for (size_t i = 0; i < ARRAY_LEN(jobs); i++)
		ok &= measure(&jobs[i], rounds ? rounds : 1);
	return ok ? 0 : 1;
}
