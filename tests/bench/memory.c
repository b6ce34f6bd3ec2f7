/*
 * Speed of accesses to memory that are not rows of neighbours, on one core: nanoseconds for each
 * warp and turn of a loop with one access, or a load and a store, and five more instructions. A CTA
 * of eight warps; processor time, the least of several rounds.
 *
 * usage: memory [TEXT [LEVEL]]     TEXT: kinds that contain it
 */
#include "tests/unit/exec_harness.h"

#include <time.h>

#define WARPS 8u
#define REPEATS 4000u
#define ROUNDS 5u

/* %s: random, another for each lane; %n: counts down, the same for all; %g: a table, %l: `loc`. */
static const struct kind {
	const char *name, *body;
} kinds[] = {
	{"nothing", "mov.b32 %a,%n;"},
	{"global, any word",
	 "and.b32 %j,%s,4095; mul.wide.u32 %d,%j,4; add.u64 %f,%d,%g; ld.global.u32 %a,[%f];"},
	{"global, any byte",
	 "and.b32 %j,%s,4095; cvt.u64.u32 %d,%j; add.u64 %f,%d,%g; ld.global.u8 %a,[%f];"},
	{"global, any double word",
	 "and.b32 %j,%s,4095; mul.wide.u32 %d,%j,8; add.u64 %f,%d,%g; ld.global.u64 %e,[%f]; cvt.u32.u64 %a,%e;"},
	{"global, any four words",
	 "and.b32 %j,%s,1023; mul.wide.u32 %d,%j,16; add.u64 %f,%d,%g; ld.global.v4.u32 {%a,%b,%c,%k},[%f];"},
	{"global, store of any word",
	 "mov.b32 %a,%n; and.b32 %j,%s,4095; mul.wide.u32 %d,%j,4; add.u64 %f,%d,%g; st.global.u32 [%f],%n;"},
	{"global, half of the lanes",
	 "and.b32 %j,%s,4095; mul.wide.u32 %d,%j,4; add.u64 %f,%d,%g; setp.lt.s32 %q,%s,0; @%q ld.global.u32 %a,[%f];"},
	{"global, index of all, extended",
	 "and.b32 %j,%n,4095; mul.wide.u32 %d,%j,4; add.u64 %f,%d,%g; ld.global.u32 %e,[%f]; cvt.u32.u64 %a,%e;"},
	{"shared, any word", "and.b32 %j,%s,4092; ld.shared.u32 %a,[%j];"},
	{"shared, any byte", "and.b32 %j,%s,4095; ld.shared.u8 %a,[%j];"},
	{"shared, store of any word", "mov.b32 %a,%n; and.b32 %j,%s,4092; st.shared.u32 [%j],%n;"},
	{"local, word, index of all",
	 "and.b32 %j,%n,31; mul.wide.u32 %d,%j,4; add.u64 %f,%d,%l; ld.local.u32 %a,[%f]; st.local.u32 [%f],%s;"},
	{"local, byte, index of all",
	 "and.b32 %j,%n,127; cvt.u64.u32 %d,%j; add.u64 %f,%d,%l; ld.local.u8 %a,[%f]; st.local.u8 [%f],%s;"},
	{"local, double word, index of all",
	 "and.b32 %j,%n,15; mul.wide.u32 %d,%j,8; add.u64 %f,%d,%l; ld.local.u64 %e,[%f]; st.local.u64 [%f],%g;"
	 "cvt.u32.u64 %a,%e;"},
	{"local, any word",
	 "and.b32 %j,%s,31; mul.wide.u32 %d,%j,4; add.u64 %f,%d,%l; ld.local.u32 %a,[%f]; st.local.u32 [%f],%s;"},
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void write_kernel(const struct kind *k, char *ptx, size_t size)
{
	snprintf(
		ptx, size,
		".version 8.0\n.target sm_80\n.address_size 64\n"
		".visible .entry k(.param .u64 out, .param .u64 table, .param .u32 n)\n"
		"{ .reg .u64 %%o,%%g,%%l,%%d,%%e,%%f; .reg .u32 %%t,%%n,%%j,%%s,%%x; .reg .pred %%p,%%q;\n"
		".reg .b32 %%a,%%b,%%c,%%k; .local .align 16 .b8 loc[128]; .shared .align 16 .b8 sh[4096];\n"
		"ld.param.u64 %%o,[out]; ld.param.u64 %%g,[table]; ld.param.u32 %%n,[n]; mov.u64 %%l,loc;\n"
		"mov.u32 %%t,%%tid.x; mad.wide.u32 %%o,%%t,4,%%o; mul.lo.u32 %%s,%%t,40503; mov.b32 %%x,0;\n"
		"L: mad.lo.u32 %%s,%%s,1664525,1013904223; shr.u32 %%s,%%s,3;\n"
		"%s xor.b32 %%x,%%x,%%a;\n"
		"sub.u32 %%n,%%n,1; setp.ne.u32 %%p,%%n,0; @%%p bra L;\n"
		"st.global.u32 [%%o],%%x; ret; }\n",
		k->body);
}

static double measure(const struct kind *k, const char *level)
{
	struct {
		u64 out, table;
		u32 n;
	} params = {0, 0, REPEATS};
	double best = 1e18;
	struct harness h;
	char ptx[2048];

	write_kernel(k, ptx, sizeof(ptx));
	if (!harness_open(&h, ptx))
		return 0;
	params.out = mem_alloc(&h.mem, 4 * 32 * WARPS, 0, MEM_KIND_DEVICE);
	params.table = mem_alloc(&h.mem, 8 * 4096, 0, MEM_KIND_DEVICE);
	for (u32 r = 0; r < ROUNDS; r++) {
		double begin = now_ns(), t;

		if (harness_run(&h, "k", 1, 32 * WARPS, &params, level) != STOP_DONE)
			return 0;
		t = now_ns() - begin;
		best = t < best ? t : best;
	}
	harness_close(&h);
	return best / ((double)WARPS * REPEATS);
}

int main(int argc, char **argv)
{
	printf("%-34s %10s\n", "access", "ns/warp");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (argc < 2 || strstr(kinds[i].name, argv[1]))
			printf("%-34s %10.1f\n", kinds[i].name,
			       measure(&kinds[i], argc > 2 ? argv[2] : NULL));
	return 0;
}
