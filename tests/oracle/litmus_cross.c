/*
 * What a GPU shows of the short programs of tests/unit/dev/weak_programs.h, by the driver API of
 * the libcuda that it is given: a line for each outcome,
 *
 *     PROGRAM  VALUES  TIMES
 *
 * PROGRAM: kN, a known one, or rN, a random one; VALUES: of its threads, by index, with / between
 * threads. tests/unit/dev/litmus_*.tsv has what was measured, tests/unit/dev/weak.c compares.
 *
 * usage: litmus_cross LIBCUDA RANDOM LAUNCHES
 */
#include "tests/unit/dev/weak_programs.h"

#include "src/base/base.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define INSTANCES 4096u
#define OUTCOMES_MAX 4096u

typedef int call();

enum driver_call {
	INIT,
	RETAIN,
	CURRENT,
	LOAD,
	UNLOAD,
	FUNCTION,
	ALLOC,
	FILL,
	LAUNCH,
	COPY,
	CALLS
};

static call *cu[CALLS];

struct seen {
	struct axiom_outcome outcome;
	u64 times;
};

static struct seen seen[OUTCOMES_MAX];
static u32 seen_len;

static bool open_cuda(const char *path)
{
	static const char *const names[] = {
		"cuInit",         "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuModuleLoadData",
		"cuModuleUnload", "cuModuleGetFunction",      "cuMemAlloc_v2",   "cuMemsetD8_v2",
		"cuLaunchKernel", "cuMemcpyDtoH_v2",
	};
	void *library = dlopen(path, RTLD_NOW), *context;

	for (u32 i = 0; library && i < CALLS; i++)
		if (!(cu[i] = (call *)dlsym(library, names[i])))
			return false;
	return library && !cu[INIT](0) && !cu[RETAIN](&context, 0) && !cu[CURRENT](context);
}

static void count_outcomes(const struct axiom_program *p, const u32 *out)
{
	for (u32 i = 0; i < INSTANCES; i++) {
		struct axiom_outcome o = {0};
		u32 k = 0;

		for (u32 t = 0; t < p->threads; t++)
			for (u32 n = 0; n < AXIOM_OPS; n++)
				o.value[t][n] = (u8)out[(i * AXIOM_THREADS + t) * AXIOM_OPS + n];
		while (k < seen_len && memcmp(&seen[k].outcome, &o, sizeof(o)) != 0)
			k++;
		if (k == seen_len && seen_len == OUTCOMES_MAX)
			continue;
		if (k == seen_len)
			seen[seen_len++].outcome = o;
		seen[k].times++;
	}
}

static bool run_pairs(const struct axiom_program *p, u32 pairs, u32 launches, u64 mem, u64 out)
{
	static struct weak_source s;
	static u32 results[INSTANCES * RESULTS];
	static const u64 aparts[] = {4, 32, 128};
	void *module, *kernel;
	bool ok;

	weak_kernel(p, pairs, &s);
	if (cu[LOAD](&module, s.at) || cu[FUNCTION](&kernel, module, "k"))
		return false;
	ok = true;
	for (u32 i = 0; ok && i < launches; i++) {
		u64 apart = aparts[i % ARRAY_LEN(aparts)];
		void *args[] = {&mem, &out, &apart};
		u32 grid = INSTANCES * ((p->threads + pairs - 1) / pairs);

		ok = !cu[FILL](mem, 0, (size_t)INSTANCES * INSTANCE_BYTES) &&
		     !cu[FILL](out, 0, sizeof(results)) &&
		     !cu[LAUNCH](kernel, grid, 1, 1, 32 * pairs, 1, 1, 0, NULL, args, NULL) &&
		     !cu[COPY](results, out, sizeof(results));
		if (ok)
			count_outcomes(p, results);
	}
	cu[UNLOAD](module);
	return ok;
}

static bool run_program(const char *name, u32 number, const struct axiom_program *p, u32 launches,
			u64 mem, u64 out)
{
	seen_len = 0;
	memset(seen, 0, sizeof(seen));
	if (!run_pairs(p, 1, launches, mem, out) || !run_pairs(p, 2, launches, mem, out))
		return false;
	for (u32 i = 0; i < seen_len; i++) {
		printf("%s%u\t", name, number);
		for (u32 t = 0; t < p->threads; t++)
			for (u32 k = 0; k < AXIOM_OPS; k++)
				printf("%s%u", k ? "." : t ? "/" : "", seen[i].outcome.value[t][k]);
		printf("\t%llu\n", (unsigned long long)seen[i].times);
	}
	return true;
}

int main(int argc, char **argv)
{
	u32 random = argc > 2 ? (u32)strtoul(argv[2], NULL, 0) : 60;
	u32 launches = argc > 3 ? (u32)strtoul(argv[3], NULL, 0) : 300;
	u64 mem, out;
	bool ok = argc > 1 && open_cuda(argv[1]) &&
		  !cu[ALLOC](&mem, (size_t)INSTANCES * INSTANCE_BYTES) &&
		  !cu[ALLOC](&out, (size_t)INSTANCES * RESULTS * 4);

	for (u32 i = 0; ok && i < weak_knowns; i++)
		ok = run_program("k", i, &weak_known[i].program, launches, mem, out);
	for (u32 i = 0; ok && i < random; i++) {
		struct axiom_program p = weak_random();

		ok = run_program("r", i, &p, launches, mem, out);
	}
	if (!ok)
		fputs("litmus_cross: the driver refuses a call\n", stderr);
	return !ok;
}
