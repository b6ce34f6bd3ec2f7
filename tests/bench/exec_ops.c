/*
 * Time of the lane operations in full gangs: nanoseconds for 32 lanes, that is per warp
 * instruction, by host level; rows in L1, least of several runs, the call of the handler
 * included. Operations that take modifiers as data run in the mode given.
 *
 * usage: exec_ops [TEXT [MODE]]     TEXT: operations whose name contains it; MODE: mode word
 */
#include "src/exec/exec.h"
#include "src/ops/mode.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LANES (GANG_WARPS * WARP_LANES)
#define ROW (LANES * 8)
#define REPEATS 100
#define RUNS 15

static const struct {
	const char *id, *texts, *shape;
} ops[] = {
#define OP(id, texts, shape, expr) {#id, texts, #shape},
#include "src/uop/table/all.def"
#undef OP
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Numbers of moderate size in the class of the row, with a zero and a NaN among every 64. */
static void fill(u8 *row, char class, u32 seed)
{
	for (u32 i = 0; i < LANES; i++) {
		u64 r = (i * 0x9e3779b97f4a7c15u + seed) * 0xbf58476d1ce4e5b9u;
		u64 x = (r & 0x800fffffffffffffu) | (u64)(1015 + (r >> 52) % 16) << 52;
		u32 w = ((u32)(r >> 20) & 0x83ff83ffu) | 0x3c003c00u;

		if (i % 64 < 2) {
			w = (i & 1) * 0x7fc07fc0u;
			x = (i & 1) * 0x7ff8000000000000u;
		}
		if (class == 'X')
			((u64 *)(void *)row)[i] = x;
		else
			((u32 *)(void *)row)[i] = w;
	}
}

static double op_ns(const struct exec_ops *level, u32 op, struct gang *g, s64 mode)
{
	static const u32 ext[4] = {ROW, 2 * ROW, 3 * ROW, ROW};
	struct program program = {.ext = (u32 *)(uintptr_t)ext};
	struct exec_env env = {.program = &program, .ops = level};
	struct uop in = {
		.op = (u16)op,
		.inner = (u16)op,
		.a = ROW,
		.b = 2 * ROW,
		.c = 3 * ROW,
		.lane = {.e = ROW},
	};
	exec_handler *run = level->mode[MODE_GANG]->run[op];
	const char *shape = ops[op].shape;
	double best = 1e18;

	for (u32 i = 0; i < 3 && shape[2 + i]; i++)
		fill(g->regs + (i + 1) * ROW, shape[2 + i], i * 77);
	in.lane.imm = strchr(ops[op].texts, '*') ? mode : 0;
	g->env = &env;
	for (u32 r = 0; r < RUNS; r++) {
		double t = now_ns();

		for (u32 i = 0; i < REPEATS; i++)
			run(g, &in);
		t = now_ns() - t;
		best = t < best ? t : best;
	}
	return best / (REPEATS * GANG_WARPS);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"base", "v2", "v3", "v4"};
	static _Alignas(64) u8 regs[4 * ROW];
	struct cta cta = {.id = {5, 3, 1}};
	struct gang g = {
		.cta = &cta,
		.regs = regs,
		.lanes = LANES,
		.warps = GANG_WARPS,
		.active = FULL_MASK,
		.full = true,
	};
	s64 mode = argc > 2 ? strtoll(argv[2], NULL, 0) : NUM_RZ | NUM_FTZ;

	mode |= 16 << MODE_TO | 16 << MODE_FROM;
	printf("%-22s", "ns for 32 lanes");
	for (u32 l = 0; l < 4; l++)
		printf(" %8s", names[l]);
	printf("\n");
	for (u32 i = 0; i < ARRAY_LEN(ops); i++) {
		if (argc > 1 && !strstr(ops[i].id, argv[1]))
			continue;
		printf("%-22s", ops[i].id);
		for (u32 l = 0; l < 4; l++)
			if (exec_ops_select(names[l]))
				printf(" %8.2f", op_ns(exec_ops_select(names[l]), i, &g, mode));
		printf("  %s\n", ops[i].texts);
	}
	return 0;
}
