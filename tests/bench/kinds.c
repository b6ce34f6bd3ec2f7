/*
 * Kinds of kernels that programs spend their time in, beside the same in C (one thread, -O3, the
 * host's base instruction set) and in OpenCL (PoCL), in one process and by turns. Processor time of
 * the whole process; a ratio is the median of the ratios of the rounds, so that a busy machine is
 * as busy for both. Results are compared: integers exactly, floats by their relative difference.
 *
 * usage: kinds KINDS.PTX [ROUNDS [KERNEL [WAY]]]     WAY: ptxloom, c, pocl; workers: 1, 2, 4 ..
 * of them, by the least time elapsed
 */
#include "include/ptxloom.h"
#include "tests/bench/native.h"
#include "tests/bench/pocl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MAX 99u
#define ROWS 65536u

enum arg {
	NO_ARG,
	FLOATS,
	DOUBLES,
	WORDS,  /* any */
	BEGINS, /* where the rows of a sparse matrix begin: 16 elements a row, more or less */
	COLUMNS,
	INT, /* n is the value */
	LONG,
	OUT_FLOATS,
	OUT_DOUBLES,
	OUT_WORDS,
};

struct arg_of {
	enum arg type;
	size_t n; /* elements */
};

struct kind {
	const char *name;
	native_fn *native;
	u32 grid[3], block[3];
	struct arg_of arg[POCL_ARGS_MAX];
	bool adds; /* to its results */
};

/* clang-format off */
#define M (1u << 20)

static const struct kind kinds[] = {
	{"axpy", native_axpy, {8192, 1, 1}, {256, 1, 1},
	 {{FLOATS, 2 * M}, {FLOATS, 2 * M}, {OUT_FLOATS, 2 * M}, {INT, 2 * M}}, false},
	{"chain", native_chain, {8192, 1, 1}, {256, 1, 1},
	 {{FLOATS, 2 * M}, {FLOATS, 2 * M}, {OUT_FLOATS, 2 * M}, {INT, 2 * M}}, false},
	{"jacobi", native_jacobi, {32, 128, 1}, {32, 8, 1},
	 {{FLOATS, M}, {OUT_FLOATS, M}, {INT, 1024}}, false},
	{"heat", native_heat, {4, 16, 1}, {32, 8, 1},
	 {{DOUBLES, 2 * M}, {OUT_DOUBLES, 2 * M}, {INT, 128}}, false},
	{"csr", native_csr, {ROWS / 256, 1, 1}, {256, 1, 1},
	 {{BEGINS, ROWS + 1}, {COLUMNS, 16 * ROWS + 16}, {FLOATS, 16 * ROWS + 16}, {FLOATS, ROWS},
	  {OUT_FLOATS, ROWS}, {INT, ROWS}}, false},
	{"histogram", native_histogram, {64, 1, 1}, {256, 1, 1},
	 {{WORDS, M}, {OUT_WORDS, 256}, {INT, 4 * M}}, true},
	{"crowd", native_crowd, {4096, 1, 1}, {256, 1, 1},
	 {{WORDS, M}, {OUT_WORDS, 64}, {INT, M}}, true},
	{"gather", native_gather, {4096, 1, 1}, {256, 1, 1},
	 {{FLOATS, 4 * 65536}, {FLOATS, 2 * 65536}, {WORDS, M}, {OUT_FLOATS, M}, {INT, M},
	  {INT, 65535}}, false},
	{"walk", native_walk, {64, 1, 1}, {256, 1, 1},
	 {{FLOATS, 4 * M}, {OUT_FLOATS, 16384}, {LONG, 256}, {LONG, 16384}}, false},
	{"nbody", native_nbody, {16, 1, 1}, {128, 1, 1},
	 {{FLOATS, 8192}, {OUT_FLOATS, 8192}, {INT, 2048}}, false},
	{"bitonic", native_bitonic, {512, 1, 1}, {512, 1, 1},
	 {{WORDS, M / 4}, {OUT_WORDS, M / 4}, {INT, M / 4}}, false},
	{"convolve", native_convolve, {32, 128, 1}, {32, 8, 1},
	 {{FLOATS, M}, {OUT_FLOATS, M}, {INT, 1024}, {INT, 1024}}, false},
	{"collatz", native_collatz, {512, 1, 1}, {256, 1, 1},
	 {{OUT_WORDS, 131072}, {INT, 131072}}, false},
	{"transpose", native_transpose, {32, 32, 1}, {32, 8, 1},
	 {{FLOATS, M}, {OUT_FLOATS, M}, {INT, 1024}}, false},
};
/* clang-format on */

enum way { LOOM, NATIVE, POCL, WAYS };

static const char *const way_names[WAYS] = {"ptxloom", "c", "pocl"};

struct bench {
	struct ptxloom_device *dev;
	struct ptxloom_module *module;
	struct pocl *pocl;
	int only; /* WAYS: all */
	double log_ratio[WAYS], worst[WAYS];
	u32 n;
};

/* A kernel with its arguments. */
struct job {
	const struct kind *kind;
	struct ptxloom_kernel *kernel;
	void *buffer[POCL_ARGS_MAX], *args[POCL_ARGS_MAX];
	s64 value[POCL_ARGS_MAX];
	void *out, *want;
	size_t out_bytes;
	enum arg out_type;
	int cl;
};

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* ---- buffers ---- */

static size_t element_bytes(enum arg type)
{
	return type == DOUBLES || type == OUT_DOUBLES ? 8 : 4;
}

static void fill(void *at, enum arg type, size_t n)
{
	u32 x = 1, *words = at;
	f64 *doubles = at;

	for (size_t i = 0; i < n; i++) {
		f32 f;

		x = x * 1664525 + 1013904223;
		f = (f32)(x >> 8) / (1 << 23) - 1;
		if (type == FLOATS)
			memcpy(&words[i], &f, 4);
		else if (type == DOUBLES)
			doubles[i] = f;
		else
			words[i] = type == BEGINS    ? (u32)i * 16 + (x >> 28) * (i && i + 1 < n)
				   : type == COLUMNS ? (x >> 8) % ROWS
						     : x;
	}
}

static bool job_open(struct bench *b, const struct kind *k, struct job *j)
{
	memset(j, 0, sizeof(*j));
	j->kind = k;
	j->cl = -1;
	j->kernel = ptxloom_module_kernel(b->module, k->name);
	for (u32 i = 0; i < POCL_ARGS_MAX && k->arg[i].type; i++) {
		enum arg type = k->arg[i].type;
		size_t bytes = element_bytes(type) * k->arg[i].n;

		j->value[i] = (s64)k->arg[i].n;
		j->args[i] = &j->value[i];
		if (type == INT || type == LONG)
			continue;
		j->buffer[i] = ptxloom_alloc(b->dev, bytes);
		if (!j->buffer[i])
			return false;
		j->args[i] = &j->buffer[i];
		if (type < OUT_FLOATS) {
			fill(j->buffer[i], type, k->arg[i].n);
			continue;
		}
		j->out = j->buffer[i];
		j->out_bytes = bytes;
		j->out_type = type;
		j->want = malloc(bytes);
	}
	return j->kernel && j->want;
}

static void job_close(struct bench *b, struct job *j)
{
	for (u32 i = 0; i < POCL_ARGS_MAX; i++)
		ptxloom_free(b->dev, j->buffer[i]);
	free(j->want);
}

static void job_open_pocl(struct bench *b, struct job *j)
{
	struct pocl_arg args[POCL_ARGS_MAX] = {{0}};

	for (u32 i = 0; i < POCL_ARGS_MAX && j->args[i]; i++) {
		const struct arg_of *a = &j->kind->arg[i];

		if (j->buffer[i])
			args[i] = (struct pocl_arg){j->buffer[i], element_bytes(a->type) * a->n,
						    true};
		else
			args[i] = (struct pocl_arg){j->args[i], a->type == INT ? 4 : 8, false};
	}
	j->cl = pocl_kernel(b->pocl, j->kind->name, args);
}

/* ---- runs ---- */

static bool is_possible(const struct bench *b, const struct job *j, enum way way)
{
	return (b->only == WAYS || b->only == (int)way) && (way != POCL || j->cl >= 0);
}

static bool run(struct bench *b, struct job *j, enum way way)
{
	const struct kind *k = j->kind;
	const struct ptxloom_config config = {
		.grid = {k->grid[0], k->grid[1], k->grid[2]},
		.block = {k->block[0], k->block[1], k->block[2]},
	};

	if (way == NATIVE)
		k->native(j->args);
	else if (way == POCL)
		return pocl_run(b->pocl, j->cl, k->grid, k->block);
	else
		return !ptxloom_launch(j->kernel, &config, j->args);
	return true;
}

static double difference(const struct job *j, size_t i)
{
	double x, y;

	if (j->out_type == OUT_WORDS)
		return ((const u32 *)j->out)[i] != ((const u32 *)j->want)[i];
	x = j->out_type == OUT_FLOATS ? (double)((const f32 *)j->out)[i] : ((const f64 *)j->out)[i];
	y = j->out_type == OUT_FLOATS ? (double)((const f32 *)j->want)[i]
				      : ((const f64 *)j->want)[i];
	return fabs(x - y) / (1 + fabs(y));
}

static void check(const struct job *j, enum way way)
{
	for (size_t i = 0; i < j->out_bytes / element_bytes(j->out_type); i++) {
		if (difference(j, i) < 1e-3)
			continue;
		printf("%s: element %zu differs between ptxloom and %s\n", j->kind->name, i,
		       way_names[way]);
		exit(1);
	}
}

static double measure(struct bench *b, struct job *j, enum way way)
{
	double t;

	if (j->kind->adds)
		memset(j->out, 0, j->out_bytes);
	t = cpu_ms();
	if (!run(b, j, way)) {
		printf("%s does not run on %s\n", j->kind->name, way_names[way]);
		exit(1);
	}
	t = cpu_ms() - t;
	if (way == LOOM)
		memcpy(j->want, j->out, j->out_bytes);
	else if (b->only == WAYS)
		check(j, way);
	return t;
}

static int compare(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static double median(double *x, u32 n)
{
	qsort(x, n, sizeof(double), compare);
	return x[n / 2];
}

/* Time over that of C; of PoCL over that of ptxloom: both goals are about these. */
static void note_ratio(struct bench *b, enum way way, double ratio)
{
	b->log_ratio[way] += log(ratio);
	if (b->worst[way] <= 0 || (way == NATIVE ? ratio > b->worst[way] : ratio < b->worst[way]))
		b->worst[way] = ratio;
	printf(" %8.2f", ratio);
}

static void bench_kind(struct bench *b, const struct kind *k, u32 rounds)
{
	static double t[WAYS][ROUNDS_MAX], ratio[ROUNDS_MAX];
	struct job j;

	if (!job_open(b, k, &j)) {
		printf("%s: cannot be prepared\n", k->name);
		exit(1);
	}
	if (b->pocl)
		job_open_pocl(b, &j);
	for (u32 r = 0; r <= rounds; r++)
		for (u32 way = 0; way < WAYS; way++)
			if (is_possible(b, &j, way))
				t[way][r ? r - 1 : 0] = measure(b, &j, way);
	printf("%-10s", k->name);
	for (u32 way = NATIVE; way < WAYS; way++) {
		for (u32 r = 0; r < rounds; r++)
			ratio[r] = way == NATIVE ? t[LOOM][r] / t[way][r] : t[way][r] / t[LOOM][r];
		if (b->only == WAYS && is_possible(b, &j, way))
			note_ratio(b, way, median(ratio, rounds));
		else
			printf(" %8s", "-");
	}
	for (u32 way = 0; way < WAYS; way++)
		printf(" %8.2f", is_possible(b, &j, way) ? median(t[way], rounds) : 0);
	printf("\n");
	fflush(stdout);
	b->n++;
	job_close(b, &j);
}

static bool device_open(struct bench *b, const char *path, u32 workers)
{
	struct ptxloom_options options = {.size = sizeof(options), .workers = workers};

	return !ptxloom_device_open(&options, &b->dev) &&
	       !ptxloom_module_load_file(b->dev, path, &b->module);
}

/* ---- more workers ---- */

#define WORKERS_TRIED 8u

static double elapsed_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The least time of a kernel with so many workers, 0: it does not run. */
static double least_time(struct bench *b, const char *path, const struct kind *k, u32 workers,
			 u32 rounds)
{
	double least = 0;
	struct job j;

	if (!device_open(b, path, workers) || !job_open(b, k, &j))
		return 0;
	for (u32 r = 0; r <= rounds; r++) {
		double t = elapsed_ms();

		if (!run(b, &j, LOOM))
			return 0;
		t = elapsed_ms() - t;
		least = !r || t < least ? t : least;
	}
	job_close(b, &j);
	ptxloom_device_close(b->dev);
	return least;
}

static int bench_workers(struct bench *b, const char *path, u32 rounds, const char *only)
{
	u32 cores = (u32)sysconf(_SC_NPROCESSORS_ONLN);

	printf("%-10s %8s   times as fast with 2, 4 .. of %u\n", "1 worker", "ms", cores);
	for (u32 i = 0; i < ARRAY_LEN(kinds); i++) {
		double one;

		if (strcmp(only, "all") && strcmp(only, kinds[i].name))
			continue;
		one = least_time(b, path, &kinds[i], 1, rounds);
		printf("%-10s %8.2f  ", kinds[i].name, one);
		for (u32 n = 2; n <= cores && n < 1u << WORKERS_TRIED; n *= 2)
			printf(" %6.2f", one / least_time(b, path, &kinds[i], n, rounds));
		printf("\n");
		fflush(stdout);
	}
	return 0;
}

static bool bench_open(struct bench *b, const char *path)
{
	if (!device_open(b, path, 1))
		return false;
	b->pocl = b->only == WAYS || b->only == POCL ? pocl_open_beside(path) : NULL;
	return true;
}

int main(int argc, char **argv)
{
	u32 rounds = argc > 2 ? (u32)atoi(argv[2]) : 5;
	struct bench b = {.only = WAYS};

	if (argc < 2 || !rounds || rounds >= ROUNDS_MAX) {
		fprintf(stderr, "usage: kinds KINDS.PTX [ROUNDS [KERNEL [WAY]]]\n");
		return 2;
	}
	for (int way = 0; argc > 4 && way < WAYS; way++)
		if (!strcmp(argv[4], way_names[way]))
			b.only = way;
	if (argc > 4 && !strcmp(argv[4], "workers"))
		return bench_workers(&b, argv[1], rounds, argv[3]);
	if (!bench_open(&b, argv[1]))
		return 1;
	printf("%-10s %8s %8s %8s %8s %8s   processor time, ms\n", "one thread", "x C's",
	       "PoCL's x", way_names[LOOM], way_names[NATIVE], way_names[POCL]);
	for (u32 i = 0; i < ARRAY_LEN(kinds); i++)
		if (argc < 4 || !strcmp(argv[3], "all") || !strcmp(argv[3], kinds[i].name))
			bench_kind(&b, &kinds[i], rounds);
	if (b.n == ARRAY_LEN(kinds) && b.only == WAYS) {
		printf("%-10s %8.2f %8.2f\n%-10s %8.2f %8.2f\n", "mean",
		       exp(b.log_ratio[NATIVE] / b.n), exp(b.log_ratio[POCL] / b.n), "worst",
		       b.worst[NATIVE], b.worst[POCL]);
		printf("goals: x C's 1.5 in the mean, at most 4; PoCL's x 2.0 in the mean, at least 0.7\n");
	}
	pocl_close(b.pocl);
	ptxloom_device_close(b.dev);
	return 0;
}
