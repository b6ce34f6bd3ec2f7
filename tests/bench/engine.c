/*
 * Speed of the engine: six kernels, on the gang engine at every SIMD level of the host and on the
 * scalar reference engine, in one process and by turns, so that a noisy machine is noisy for all of
 * them. Every result is compared with the reference's. Times are processor time of the whole
 * process, the least and the median of the rounds, and the least time elapsed, which says something
 * about two workers on a machine with two idle cores only.
 *
 * usage: engine BENCH.PTX [ROUNDS [KERNEL [WAY]]]
 */
#include "tests/bench/engine.h"
#include "tests/bench/pocl.h"
#include "src/lower/lower.h"
#include "grammar/parse.h"
#include "src/base/file.h"
#include "tests/ref/ref.h"
#include "src/sched/sched.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS_MAX 99u
#define EMPTY_LAUNCHES 100000u
#define EMPTY_CTAS 4000000u
#define ALL_CTAS 2147483647u

/* ---- instructions that threads execute, counted in bench.ptx ---- */

static u64 threads_of(const struct bench_job *j)
{
	return (u64)j->grid[0] * j->grid[1] * j->grid[2] * j->block[0] * j->block[1] * j->block[2];
}

static u64 count_vadd(const struct bench_job *j, const u32 *out PL_UNUSED)
{
	return threads_of(j) * 22;
}

static u64 count_sgemm(const struct bench_job *j, const u32 *out PL_UNUSED)
{
	return threads_of(j) * (44 + 59 * (j->ints[0] / 16));
}

static u64 count_mandel(const struct bench_job *j, const u32 *out)
{
	u64 n = threads_of(j) * 40;

	for (size_t i = 0; i < j->out_bytes / 4; i++)
		n += (u64)out[i] * 13;
	return n;
}

static u64 count_hash(const struct bench_job *j, const u32 *out PL_UNUSED)
{
	return threads_of(j) * (9 + 4 * 115 + 25) + threads_of(j) / 32 * 3;
}

static u64 count_stencil(const struct bench_job *j, const u32 *out PL_UNUSED)
{
	u64 n = j->ints[0], inside = (n - 2) * (n - 2);

	return inside * 47 + (n * n - inside) * 21;
}

static u64 count_reduce(const struct bench_job *j, const u32 *out PL_UNUSED)
{
	return threads_of(j) * 52 + (u64)j->ints[0] * 7 + j->grid[0] * (4u * 255 + 3);
}

static struct bench_job jobs[BENCH_KERNELS] = {
	{"vadd",
	 {16384, 1, 1},
	 {256, 1, 1},
	 {1 << 24, 1 << 24},
	 1 << 24,
	 {1 << 22},
	 'f',
	 count_vadd,
	 false,
	 {NULL},
	 NULL},
	{"sgemm",
	 {16, 16, 1},
	 {16, 16, 1},
	 {1 << 18, 1 << 18},
	 1 << 18,
	 {256},
	 'f',
	 count_sgemm,
	 false,
	 {NULL},
	 NULL},
	{"mandel",
	 {16, 64, 1},
	 {32, 8, 1},
	 {0, 0},
	 1 << 20,
	 {512, 512, 256},
	 'u',
	 count_mandel,
	 false,
	 {NULL},
	 NULL},
	{"hash",
	 {4096, 1, 1},
	 {256, 1, 1},
	 {0, 0},
	 4,
	 {1 << 20},
	 'u',
	 count_hash,
	 true,
	 {NULL},
	 NULL},
	{"stencil",
	 {32, 128, 1},
	 {32, 8, 1},
	 {1 << 23, 0},
	 1 << 23,
	 {1024},
	 'd',
	 count_stencil,
	 false,
	 {NULL},
	 NULL},
	{"reduce",
	 {256, 1, 1},
	 {256, 1, 1},
	 {1 << 24, 0},
	 4,
	 {1 << 22},
	 'u',
	 count_reduce,
	 true,
	 {NULL},
	 NULL},
};

/* ---- ways to run them ---- */

/*
 * V4_TWO and V3_TWO: two workers. HOOKED: level v4, asking before each record whether anybody
 * listens. COVERED: level v4, counting lanes at every block and branch.
 */
enum way { REFERENCE, V4, UNCHECKED, HOOKED, COVERED, V3, V4_TWO, V3_TWO, POCL, WAYS };

static const char *const way_names[WAYS] = {"reference", "v4",    "unchecked", "hooked", "covered",
					    "v3",        "v4 x2", "v3 x2",     "pocl"};

struct bench {
	struct diag_source source;
	struct diag d;
	struct text messages;
	struct ir_module *m;
	struct mem mem;
	u64 *var_address;
	struct program *program[BENCH_KERNELS], *covered[BENCH_KERNELS];
	struct exec_count *counts[BENCH_KERNELS];
	struct ref_program *reference[BENCH_KERNELS];
	struct sched_pool *pool[2]; /* of one worker and of two */
	struct pocl *pocl;
	int cl[BENCH_KERNELS];
	u8 params[BENCH_KERNELS][48];
	u8 *want;                /* result of the reference */
	struct ir_module *empty; /* kernels of bench_empty */
	u32 only;                /* way to run beside the reference, WAYS: all */
};

struct ending {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done, failed;
};

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void on_end(void *user, const struct sched_end *end)
{
	struct ending *e = user;

	pthread_mutex_lock(&e->lock);
	e->done = true;
	e->failed = end->fault != NULL;
	pthread_cond_signal(&e->cond);
	pthread_mutex_unlock(&e->lock);
}

static bool launch(struct bench *b, const struct program *p, const struct exec_ops *ops,
		   struct sched_pool *pool, const u32 *grid, const u32 *block, const u8 *params,
		   struct exec_count *counts)
{
	struct ending e = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
	struct sched_launch l = {
		.env =
			{
				.program = p,
				.ops = ops,
				.mem = &b->mem,
				.params = params,
				.grid = {grid[0], grid[1], grid[2]},
				.block = {block[0], block[1], block[2]},
				.shared_bytes = p->shared_static,
				.local_bytes = exec_local_bytes(p, 1024),
				.cluster = {1, 1, 1},
			},
		.resident_per_sm = 8,
		.counts = counts,
		.done = on_end,
		.user = &e,
	};

	if (!sched_start(pool, &l, true))
		return false;
	pthread_mutex_lock(&e.lock);
	while (!e.done)
		pthread_cond_wait(&e.cond, &e.lock);
	pthread_mutex_unlock(&e.lock);
	return !e.failed;
}

static bool run_reference(struct bench *b, u32 k)
{
	const struct bench_job *j = &jobs[k];
	struct fault fault;
	struct ref_launch l = {
		.module = b->m,
		.kernel = ir_find_func(b->m, j->name),
		.arch = arch_find("a100"),
		.mem = &b->mem,
		.var_address = b->var_address,
		.params = b->params[k],
		.grid = {j->grid[0], j->grid[1], j->grid[2]},
		.block = {j->block[0], j->block[1], j->block[2]},
	};

	return ref_run(b->reference[k], &l, &fault);
}

/* The plain loop does not ask: launches with an observer have tables and a loop of their own. */
static void loop_with_hook(struct gang *g, const struct uop *in)
{
	do {
		if (PL_UNLIKELY(g->env->observer != NULL))
			abort();
		in = g->table->run[in->op](g, in);
	} while (in);
}

static const struct exec_ops *with_hook(const struct exec_ops *v4)
{
	static struct exec_ops ops;

	ops = *v4;
	ops.loop = loop_with_hook;
	return &ops;
}

/* NULL: this host has no such level. */
static const struct exec_ops *level_of(enum way way)
{
	const struct exec_ops *v4 = exec_ops_select("v4");

	if (way == HOOKED)
		return v4 ? with_hook(v4) : NULL;

	if (way == V3 || way == V3_TWO)
		return exec_ops_select("v3");
#ifdef HOST_X86_64
	if (way == UNCHECKED)
		return v4 ? bench_unchecked(v4) : NULL;
#endif
	return way == UNCHECKED ? NULL : v4;
}

static bool is_possible(const struct bench *b, enum way way)
{
	if (b->only != WAYS && way != b->only && way != REFERENCE)
		return false;
	if (way == POCL)
		return b->pocl != NULL;
	return way == REFERENCE || level_of(way) != NULL;
}

static bool run_way(struct bench *b, u32 k, enum way way)
{
	if (way == REFERENCE)
		return run_reference(b, k);
	if (way == POCL)
		return pocl_run(b->pocl, b->cl[k], jobs[k].grid, jobs[k].block);
	return launch(b, way == COVERED ? b->covered[k] : b->program[k], level_of(way),
		      b->pool[way == V4_TWO || way == V3_TWO], jobs[k].grid, jobs[k].block,
		      b->params[k], way == COVERED ? b->counts[k] : NULL);
}

struct times {
	double cpu[ROUNDS_MAX], elapsed; /* ms */
};

/*
 * One run; a wrong result ends the program. The engines run once before: what the way before has
 * left in the caches, and a core that has slept, says nothing of either.
 */
static void measure(struct bench *b, u32 k, enum way way, u32 round, struct times *x)
{
	struct bench_job *j = &jobs[k];
	double cpu, elapsed;

	if (way != REFERENCE)
		run_way(b, k, way);
	memset(j->out, 0, j->out_bytes);
	elapsed = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	if (!run_way(b, k, way)) {
		printf("%s does not run on %s\n", j->name, way_names[way]);
		exit(1);
	}
	x->cpu[round] = 1e3 * (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	elapsed = 1e3 * (seconds(CLOCK_MONOTONIC) - elapsed);
	if (!round || elapsed < x->elapsed)
		x->elapsed = elapsed;
	if (way == REFERENCE) {
		memcpy(b->want, j->out, j->out_bytes);
	} else if ((way != POCL || j->whole) && memcmp(b->want, j->out, j->out_bytes)) {
		printf("%s gives another result on %s\n", j->name, way_names[way]);
		exit(1);
	}
}

/* ---- results ---- */

static int compare(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

/* What the table at the end says of a kernel. */
struct summary {
	double rate, ratio[WAYS], pocl, unchecked, hooked, covered, two_workers;
};

struct total {
	double log_ratio[WAYS], log_pocl, log_covered;
	struct summary of[BENCH_KERNELS];
	u32 n;
};

/*
 * G thread instructions a second that level v4 is to reach, 0: no goal. Set on a faster processor
 * with a larger first cache than most.
 */
static const double rate_goals[BENCH_KERNELS] = {18, 9, 13, 35, 0, 0};

static void report(enum way way, const struct times *t, u32 n, double count, double reference,
		   struct total *total)
{
	double ratio = reference / t->cpu[0];

	printf("  %-10s %9.2f %9.2f %9.2f %9.2f %8.1f\n", way_names[way], t->cpu[0], t->cpu[n / 2],
	       t->elapsed, count / t->cpu[0] * 1e-6, ratio);
	total->log_ratio[way] += log(ratio);
}

static void bench_kernel(struct bench *b, u32 k, u32 rounds, struct total *total)
{
	static struct times t[WAYS];
	double count = 0;

	for (u32 r = 0; r < rounds; r++) {
		for (u32 way = 0; way < WAYS; way++) {
			t[way].cpu[r] = t[way].cpu[0];
			if (is_possible(b, way) && (way || !r || b->only == WAYS))
				measure(b, k, way, r, &t[way]);
		}
		count = (double)jobs[k].count(&jobs[k], (const u32 *)(const void *)b->want);
	}
	printf("%s: %.1f million thread instructions; gang of %u warps, %u KiB of rows\n",
	       jobs[k].name, count * 1e-6, b->program[k]->gang, b->program[k]->block_bytes >> 10);
	for (u32 way = 0; way < WAYS; way++) {
		if (!is_possible(b, way))
			continue;
		qsort(t[way].cpu, rounds, sizeof(double), compare);
		report(way, &t[way], rounds, count, t[REFERENCE].cpu[0], total);
	}
	if (is_possible(b, V4)) {
		struct summary *s = &total->of[k];

		s->rate = count / t[V4].cpu[0] * 1e-6;
		for (u32 way = V4; way < WAYS; way++)
			s->ratio[way] = t[REFERENCE].cpu[0] / t[way].cpu[0];
		s->two_workers = is_possible(b, V4_TWO) ? t[V4].elapsed / t[V4_TWO].elapsed : 0;
		s->unchecked = is_possible(b, UNCHECKED) ? t[V4].cpu[0] / t[UNCHECKED].cpu[0] : 0;
		s->hooked = is_possible(b, HOOKED) ? t[HOOKED].cpu[0] / t[V4].cpu[0] : 0;
		s->covered = is_possible(b, COVERED) ? t[COVERED].cpu[0] / t[V4].cpu[0] : 0;
		total->log_covered += s->covered > 0 ? log(s->covered) : 0;
		s->pocl = b->pocl ? t[POCL].cpu[0] / t[V4].cpu[0] : 0;
		total->log_pocl += b->pocl ? log(s->pocl) : 0;
	}
	total->n++;
	fflush(stdout);
}

/* One line for each kernel: level v4, one worker; 0 stands for what was not measured. */
static void report_summary(const struct bench *b, const struct total *total)
{
	if (!is_possible(b, V4))
		return;
	printf("%-8s %10s %6s %10s %10s %8s %8s %8s %8s %8s\n", "v4", "G instr/s", "goal",
	       "x reference", "v3", "x PoCL", "2 workers", "checks", "hook", "coverage");
	for (u32 k = 0; k < BENCH_KERNELS; k++) {
		const struct summary *s = &total->of[k];

		printf("%-8s %10.1f %6.0f %10.1f %10.1f %8.2f %8.2f %7.0f%% %7.1f%% %7.2fx\n",
		       jobs[k].name, s->rate, rate_goals[k], s->ratio[V4], s->ratio[V3], s->pocl,
		       s->two_workers, s->unchecked > 0 ? 100 * (s->unchecked - 1) : 0,
		       s->hooked > 0 ? 100 * (s->hooked - 1) : 0, s->covered);
	}
	printf("goals: x reference 12 (v3: 8) and x PoCL 1.0 in the mean, no kernel below 0.4 of "
	       "PoCL, 2 workers 1.9 (vadd 1.6), checks 10%% for vadd\n"
	       "hook: what asking for a listener before each record would add; launches without one do "
	       "not ask\n");
	printf("coverage: the time over that of a launch that does not count; geometric mean %.2f (goal: at most 2)\n",
	       exp(total->log_covered / total->n));
}

static void report_total(const struct bench *b, const struct total *total)
{
	report_summary(b, total);
	printf("geometric mean against the reference:");
	for (u32 way = V4; way < WAYS; way++)
		if (is_possible(b, way))
			printf("  %s %.1f", way_names[way], exp(total->log_ratio[way] / total->n));
	printf("\n");
	if (b->pocl && is_possible(b, V4))
		printf("geometric mean of v4 against PoCL: %.2f\n",
		       exp(total->log_pocl / total->n));
}

/*
 * A kernel that does nearly nothing: launches of one CTA, each waited for, and a grid of many, for
 * what a CTA costs beside its instructions. Nanoseconds each, 0: it did not run.
 */
static double time_empty(struct bench *b, const char *name, u32 warps, u32 launches, u32 ctas)
{
	const u32 grid[3] = {ctas, 1, 1}, block[3] = {32 * warps, 1, 1};
	struct lower_options options = {.warps = warps};
	struct program *p = exec_lower(b->empty, ir_find_func(b->empty, name), arch_find("a100"),
				       NULL, &options, &b->d);
	double t = seconds(CLOCK_PROCESS_CPUTIME_ID);
	bool ok = p != NULL;

	for (u32 i = 0; ok && i < launches; i++)
		ok = launch(b, p, exec_ops_select(NULL), b->pool[0], grid, block, b->params[0],
			    NULL);
	t = seconds(CLOCK_PROCESS_CPUTIME_ID) - t;
	if (p)
		sched_forget(b->pool[0], p);
	exec_program_free(p);
	return ok ? t * 1e9 / launches / ctas : 0;
}

static void bench_empty(struct bench *b)
{
	/* A CTA that only returns is not even begun; a fence has to be run. */
	static const char ptx[] =
		".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry empty()\n{\nret;\n}\n"
		".visible .entry fence()\n{\nmembar.cta;\nret;\n}\n"
		".visible .entry beyond()\n{\n.reg .pred %p<2>; .reg .b32 %r<5>;\n"
		"mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
		"mad.lo.s32 %r4, %r1, %r2, %r3; setp.ge.u32 %p1, %r4, 1; @%p1 bra END;\n"
		"membar.cta; END: ret;\n}\n";
	struct diag_source source = {"empty.ptx", ptx, strlen(ptx)};

	b->empty = ptx_parse(&source, NULL, &b->d);
	if (!b->empty)
		return;
	printf("empty launch and wait: %.0f ns (goal: at most 1000)\n",
	       time_empty(b, "empty", 1, EMPTY_LAUNCHES, 1));
	printf("a CTA of one warp that does nearly nothing: %.1f ns, of eight: %.1f ns (goal: at most 20)\n",
	       time_empty(b, "fence", 1, 1, EMPTY_CTAS), time_empty(b, "fence", 8, 1, EMPTY_CTAS));
	printf("%u CTAs whose threads are beyond the data, but for 128: %.0f ms\n", ALL_CTAS,
	       time_empty(b, "beyond", 8, 1, ALL_CTAS) * ALL_CTAS * 1e-6);
	ir_module_free(b->empty);
}

/* ---- preparation ---- */

static void fill(u8 *at, size_t bytes, char type)
{
	u32 x = 1;

	for (size_t i = 0; i < bytes; i += type == 'd' ? 8 : 4) {
		f32 f;
		f64 d;

		x = x * 1664525 + 1013904223;
		f = (f32)(x >> 8) / (1 << 23) - 1;
		d = f;
		if (type == 'd')
			memcpy(at + i, &d, 8);
		else
			memcpy(at + i, type == 'f' ? (void *)&f : (void *)&x, 4);
	}
}

static bool prepare(struct bench *b, u32 k)
{
	struct bench_job *j = &jobs[k];
	u32 threads = j->block[0] * j->block[1] * j->block[2];
	struct lower_options options = {.warps = threads / 32};
	const struct ir_func *f = ir_find_func(b->m, j->name);
	u8 *param = b->params[k];

	for (u32 i = 0; i < 3; i++) {
		size_t bytes = i < 2 ? j->in_bytes[i] : j->out_bytes;
		u64 address = bytes ? mem_alloc(&b->mem, bytes, 4096, MEM_KIND_DEVICE) : 0;

		if (!bytes)
			continue;
		if (!address)
			return false;
		memcpy(param, &address, 8);
		param += 8;
		*(i < 2 ? &j->in[i] : &j->out) = (u8 *)(uintptr_t)address;
		if (i < 2)
			fill(j->in[i], bytes, j->type);
	}
	memcpy(param, j->ints, sizeof(j->ints));
	b->program[k] =
		f ? exec_lower(b->m, f, arch_find("a100"), b->var_address, &options, &b->d) : NULL;
	options.counts = LOWER_COUNT_BLOCKS | LOWER_COUNT_CHOICES;
	b->covered[k] =
		f ? exec_lower(b->m, f, arch_find("a100"), b->var_address, &options, &b->d) : NULL;
	b->counts[k] =
		b->covered[k] ? calloc(b->covered[k]->counts + 1, sizeof(**b->counts)) : NULL;
	b->reference[k] = f ? ref_decode(b->m, f, b->var_address) : NULL;
	return b->program[k] && b->reference[k] && b->counts[k];
}

/* The kernels of the OpenCL file beside the PTX; each has run once. */
static void open_pocl(struct bench *b, const char *path)
{
	b->pocl = pocl_open_beside(path);
	for (u32 k = 0; b->pocl && k < BENCH_KERNELS; k++) {
		struct bench_job *j = &jobs[k];
		struct pocl_arg args[POCL_ARGS_MAX] = {{0}};
		u32 n = 0;

		for (u32 i = 0; i < 3; i++) {
			size_t bytes = i < 2 ? j->in_bytes[i] : j->out_bytes;

			if (bytes)
				args[n++] =
					(struct pocl_arg){i < 2 ? j->in[i] : j->out, bytes, true};
		}
		for (u32 i = 0; i < ARRAY_LEN(j->ints) && j->ints[i]; i++)
			args[n++] = (struct pocl_arg){&j->ints[i], 4, false};
		b->cl[k] = pocl_kernel(b->pocl, j->name, args);
		if (b->cl[k] < 0 || !pocl_run(b->pocl, b->cl[k], j->grid, j->block)) {
			printf("SKIP: no comparison with PoCL: %s does not run\n", j->name);
			pocl_close(b->pocl);
			b->pocl = NULL;
		}
	}
}

static bool bench_open(struct bench *b, const char *path)
{
	struct file f;

	if (!file_open(&f, path))
		return false;
	b->source = (struct diag_source){path, (const char *)f.data, f.size};
	diag_init(&b->d, diag_collect, &b->messages);
	b->m = ptx_parse(&b->source, NULL, &b->d);
	b->var_address = calloc(b->m ? b->m->vars.len + 1 : 1, sizeof(u64));
	b->want = malloc(1 << 24);
	if (!b->m || !b->var_address || !b->want || !mem_init(&b->mem, (u64)1 << 30))
		return false;
	for (u32 i = 0; i < 2; i++) {
		b->pool[i] = sched_pool_new(&(struct sched_options){.workers = i + 1});
		if (!b->pool[i])
			return false;
	}
	for (u32 k = 0; k < BENCH_KERNELS; k++)
		if (!prepare(b, k))
			return false;
	if (b->only == WAYS || b->only == POCL)
		open_pocl(b, path);
	return true;
}

static void bench_close(struct bench *b)
{
	pocl_close(b->pocl);
	for (u32 i = 0; i < 2; i++)
		sched_pool_free(b->pool[i]);
	for (u32 k = 0; k < BENCH_KERNELS; k++) {
		exec_program_free(b->program[k]);
		exec_program_free(b->covered[k]);
		free(b->counts[k]);
		ref_program_free(b->reference[k]);
	}
	free(b->want);
	free(b->var_address);
	ir_module_free(b->m);
	mem_fini(&b->mem);
	diag_fini(&b->d);
	text_fini(&b->messages);
}

int main(int argc, char **argv)
{
	u32 rounds = argc > 2 ? (u32)atoi(argv[2]) : 5;
	struct total total = {.n = 0};
	struct bench b = {.only = WAYS};

	if (argc < 2 || !rounds || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: engine BENCH.PTX [ROUNDS [KERNEL [WAY]]]\n");
		return 2;
	}
	for (u32 way = 0; argc > 4 && way < WAYS; way++)
		if (!strcmp(argv[4], way_names[way]))
			b.only = way;
	if (!bench_open(&b, argv[1])) {
		fprintf(stderr, "%s: cannot be prepared\n", argv[1]);
		return 1;
	}
	for (u32 way = V4; way <= V3; way++)
		if (!is_possible(&b, way))
			printf("SKIP: this processor cannot run level %s\n", way_names[way]);
	printf("  %-10s %9s %9s %9s %9s %8s\n", "", "CPU ms", "median", "elapsed", "G instr/s",
	       "ratio");
	for (u32 k = 0; k < BENCH_KERNELS; k++)
		if (argc < 4 || !strcmp(argv[3], jobs[k].name))
			bench_kernel(&b, k, rounds, &total);
	if (total.n == BENCH_KERNELS)
		report_total(&b, &total);
	bench_empty(&b);
	bench_close(&b);
	return 0;
}
