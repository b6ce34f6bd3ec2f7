/*
 * How fast PTX becomes a module, and a module's kernels records: parses a file several times and
 * prints the rate of the fastest run and of the median, then what lowering takes.
 *
 * usage: parse [FILE [RUNS]]     without FILE a module of 8 MB is made here, in the manner of nvcc
 */
#include "grammar/parse.h"
#include "src/lower/lower.h"
#include "src/base/file.h"
#include "src/exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RUNS_MAX 1000
#define MADE_BYTES (8u << 20)

/* Of processor time: other programs disturb it little. */
static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare_times(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * One kernel: registers by family, parameters, a loop with loads, arithmetic and a store, a
 * predicate, a branch.
 */
static void make_kernel(struct text *t, u32 n)
{
	text_printf(t,
		    ".visible .entry kernel_%u(\n\t.param .u64 kernel_%u_param_0,\n\t"
		    ".param .u32 kernel_%u_param_1\n)\n{\n",
		    n, n, n);
	text_puts(t, "\t.reg .pred \t%p<3>;\n\t.reg .f32 \t%f<200>;\n\t.reg .b32 \t%r<200>;\n\t"
		     ".reg .b64 \t%rd<100>;\n\n\n");
	text_printf(
		t,
		"\tld.param.u64 \t%%rd1, [kernel_%u_param_0];\n\tld.param.u32 \t%%r1, [kernel_%u_param_1];\n",
		n, n);
	text_puts(
		t,
		"\tmov.u32 \t%r2, %ctaid.x;\n\tmov.u32 \t%r3, %ntid.x;\n\tmov.u32 \t%r4, %tid.x;\n"
		"\tmad.lo.s32 \t%r5, %r2, %r3, %r4;\n\tsetp.ge.s32 \t%p1, %r5, %r1;\n");
	text_printf(t, "\t@%%p1 bra \t$L__BB%u_2;\n\n\tcvta.to.global.u64 \t%%rd2, %%rd1;\n", n);
	for (u32 i = 0; i < 24 + n % 7 * 4; i++) {
		text_printf(
			t,
			"\tmul.wide.s32 \t%%rd%u, %%r5, 4;\n\tadd.s64 \t%%rd%u, %%rd2, %%rd%u;\n",
			2 * i + 3, 2 * i + 4, 2 * i + 3);
		text_printf(
			t,
			"\tld.global.f32 \t%%f%u, [%%rd%u+%u];\n\tfma.rn.f32 \t%%f%u, %%f%u, %%f1, 0f3F800000;\n",
			3 * i + 2, 2 * i + 4, 4 * i, 3 * i + 3, 3 * i + 2);
		text_printf(t,
			    "\tshl.b32 \t%%r%u, %%r5, %u;\n\txor.b32  \t%%r%u, %%r%u, -%u;\n\t"
			    "st.global.f32 \t[%%rd%u], %%f%u;\n",
			    2 * i + 6, i, 2 * i + 7, 2 * i + 6, i + 1, 2 * i + 4, 3 * i + 3);
	}
	text_printf(t, "\n$L__BB%u_2:\n\tret;\n\n}\n", n);
}

static void make_module(struct text *t)
{
	text_puts(t, ".version 8.0\n.target sm_80\n.address_size 64\n\n");
	for (u32 n = 0; t->len < MADE_BYTES; n++)
		make_kernel(t, n);
}

/* Lower every kernel; seconds, and the instructions of the functions they reach. */
static double lower_all(const struct ir_module *m, const u64 *address, size_t *insns)
{
	struct lower_options options = {.warps = 8};
	double begin = seconds_now();

	*insns = 0;
	for (size_t i = 0; i < m->funcs.len; i++) {
		struct program *p;

		if (!m->funcs.at[i]->is_entry)
			continue;
		p = exec_lower(m, m->funcs.at[i], arch_find("a100"), address, &options, NULL);
		for (u32 f = 0; p && f < p->func_len; f++)
			*insns += p->funcs[f].func->insns.len;
		exec_program_free(p);
	}
	return seconds_now() - begin;
}

static void bench_lowering(const struct diag_source *source)
{
	static const struct ptx_options options = {.lint = false};
	double best = 1e9;
	struct ir_module *m;
	size_t insns = 0;
	struct diag d;
	u64 *address;

	diag_init(&d, diag_print, stderr);
	m = ptx_parse(source, &options, &d);
	address = m ? calloc(m->vars.len + 1, sizeof(*address)) : NULL;
	for (u32 i = 0; address && i < 5; i++) {
		double t = lower_all(m, address, &insns);

		best = t < best ? t : best;
	}
	if (insns)
		printf("lowering %7.2f ms, %zu instructions, %.2f us each\n", best * 1e3, insns,
		       best * 1e6 / (double)insns);
	free(address);
	ir_module_free(m);
	diag_fini(&d);
}

static int parse_once(const struct diag_source *source, double *seconds, size_t *insns)
{
	static const struct ptx_options options = {.lint = false};
	double begin = seconds_now();
	struct ir_module *m;
	struct diag d;

	diag_init(&d, diag_print, stderr);
	d.error_limit = 5;
	m = ptx_parse(source, &options, &d);
	*seconds = seconds_now() - begin;
	*insns = 0;
	for (size_t i = 0; m && i < m->funcs.len; i++)
		*insns += m->funcs.at[i]->insns.len;
	ir_module_free(m);
	diag_fini(&d);
	return m != NULL;
}

int main(int argc, char **argv)
{
	static double times[RUNS_MAX];
	struct diag_source source = {.name = argc > 1 ? argv[1] : "<made>"};
	u32 runs = argc > 2 ? (u32)strtoul(argv[2], NULL, 10) : 15;
	struct text made = {0};
	struct file file = {0};
	size_t insns = 0;

	if (!runs || runs > RUNS_MAX)
		return fprintf(stderr, "usage: parse [FILE [RUNS]], RUNS from 1 to %d\n", RUNS_MAX),
		       2;
	if (argc > 1 && !file_open(&file, argv[1]))
		return perror(argv[1]), 2;
	if (argc < 2)
		make_module(&made);
	source.text = argc > 1 ? (const char *)file.data : made.at;
	source.size = argc > 1 ? file.size : made.len;
	for (u32 i = 0; i < runs; i++)
		if (!parse_once(&source, &times[i], &insns))
			return 1;
	qsort(times, runs, sizeof(*times), compare_times);
	printf("%s: %.1f MB, %zu instructions, %u runs\n", source.name, (double)source.size * 1e-6,
	       insns, runs);
	printf("fastest %8.2f ms %8.1f MB/s %6.2f M instructions/s\n", times[0] * 1e3,
	       (double)source.size * 1e-6 / times[0], (double)insns * 1e-6 / times[0]);
	printf("median  %8.2f ms %8.1f MB/s %6.2f M instructions/s\n", times[runs / 2] * 1e3,
	       (double)source.size * 1e-6 / times[runs / 2],
	       (double)insns * 1e-6 / times[runs / 2]);
	bench_lowering(&source);
	file_close(&file);
	text_fini(&made);
	return 0;
}
