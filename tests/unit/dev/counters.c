/* The C API: metrics and counters of launches, and devices that are reset. */
#include "tests/check.h"

#include <ptxloom.h>

#include <stddef.h>

static const char kernels[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry _Z4copyPjj(.param .u64 x, .param .u32 step)\n{\n"
	".reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .align 4 .b8 s[4096];\n"
	"ld.param.u64 %rd0, [x]; ld.param.u32 %r0, [step]; mov.u32 %r1, %tid.x; mul.lo.u32 %r1, %r1, %r0;\n"
	"mul.wide.u32 %rd1, %r1, 4; add.u64 %rd0, %rd0, %rd1; shl.b32 %r1, %r1, 2;\n"
	"mov.u32 %r2, s; add.u32 %r2, %r2, %r1;\n"
	"ld.global.u32 %r3, [%rd0];\n"
	"st.shared.u32 [%r2], %r3; ret;\n}\n"
	".visible .entry empty() { ret; }\n"
	".visible .entry few(.param .u64 x)\n{\n"
	".reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
	"ld.param.u64 %rd0, [x]; ld.global.u32 %r0, [%rd0]; ret;\n}\n";

static struct ptxloom_device *open_counting(int counters, const char *checks)
{
	struct ptxloom_options o = {
		.size = sizeof(o), .device = "h100", .checks = checks, .counters = counters};
	struct ptxloom_device *dev = NULL;

	CHECK(ptxloom_device_open(&o, &dev) == 0);
	return dev;
}

static void run_copy(struct ptxloom_device *dev, unsigned steps)
{
	struct ptxloom_config c = {.grid = {1}, .block = {32}};
	struct ptxloom_module *mod;
	void *x = ptxloom_alloc(dev, 1 << 16);

	CHECK(x && ptxloom_module_load(dev, kernels, sizeof(kernels) - 1, &mod) == 0);
	for (unsigned i = 1; i <= steps; i *= 2)
		CHECK(ptxloom_launch(ptxloom_module_kernel(mod, "_Z4copyPjj"), &c,
				     (void *[]){&x, &i}) == 0);
	CHECK(ptxloom_launch(ptxloom_module_kernel(mod, "empty"), &c, NULL) == 0);
	ptxloom_free(dev, x);
	ptxloom_module_unload(mod);
}

/* -1: not known. */
static long long metric(struct ptxloom_device *dev, const struct ptxloom_launches *which,
			const char *name)
{
	double x;

	return ptxloom_metric(dev, which, name, &x) ? -1 : (long long)x;
}

#define SECTORS "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"

static void test_metrics(void)
{
	struct ptxloom_device *dev = open_counting(PTXLOOM_COUNT_EXACT, NULL);
	const struct ptxloom_launches copy = {.kernel = "copy"}, second = {.first = 1, .count = 1},
				      none = {.first = 9};
	char why[200];
	double x;

	CHECK(ptxloom_metric(dev, NULL, SECTORS, &x) == PTXLOOM_NOT_FOUND);
	/* 4, 8, 16, 32 sectors; 1, 2, 4, 8 passes over the banks. */
	run_copy(dev, 8);
	CHECK_EQ(ptxloom_counters_next(dev), 5);
	CHECK_EQ(metric(dev, NULL, SECTORS), 60);
	CHECK_EQ(metric(dev, &copy, "global_ld_sectors"), 60);
	CHECK_EQ(metric(dev, &second, SECTORS), 8);
	CHECK_EQ(metric(dev, &copy, "bank_conflicts"), 0 + 1 + 3 + 7);
	CHECK_EQ(metric(dev, &(struct ptxloom_launches){.kernel = "empty"}, SECTORS), 0);
	CHECK_EQ(metric(dev, &(struct ptxloom_launches){.kernel = "regex:^(copy|empty)$"}, SECTORS),
		 60);
	CHECK_EQ(metric(dev,
			&(struct ptxloom_launches){.kernel = "copy(unsigned int*, unsigned int)"},
			SECTORS),
		 60);
	CHECK(ptxloom_metric(dev, &none, SECTORS, &x) == PTXLOOM_NOT_FOUND);
	CHECK(ptxloom_metric(dev, &(struct ptxloom_launches){.kernel = "regex:("}, SECTORS, &x) ==
	      PTXLOOM_INVALID_VALUE);
	CHECK(ptxloom_metric(dev, NULL, "dram__sectors_read.sum", &x) == PTXLOOM_NOT_SUPPORTED);
	CHECK(ptxloom_metric(dev, NULL, "gpu__time_duration.sum", &x) == PTXLOOM_NOT_SUPPORTED);
	CHECK(ptxloom_metric(dev, NULL, "no_such_thing", &x) == PTXLOOM_NOT_FOUND);
	CHECK(ptxloom_metric_expect(dev, &second, "bank_conflicts == 1", why, sizeof(why)) == 0 &&
	      !*why);
	CHECK(ptxloom_metric_expect(dev, &copy, "bank_conflicts == 0", why, sizeof(why)) ==
	      PTXLOOM_ASSERT);
	CHECK(!strncmp(
		why, "bank_conflicts is 11, expected == 0\n    most at <memory>:11: st.shared.u32",
		70));
	/* Of one line. */
	CHECK(ptxloom_metric_expect(dev, &copy, "bank_conflicts == 11 at <memory>:11", why,
				    sizeof(why)) == 0);
	CHECK(ptxloom_metric_expect(dev, NULL, SECTORS " == 60 +- 1% at <memory>:10", why,
				    sizeof(why)) == 0);
	CHECK(ptxloom_metric_expect(dev, &copy, "bank_conflicts == 0 at <memory>:11", why,
				    sizeof(why)) == PTXLOOM_ASSERT);
	CHECK(!strcmp(why, "bank_conflicts at <memory>:11 is 11, expected == 0"));
	CHECK(ptxloom_metric_expect(dev, &second, "bank_conflicts == 1 at <memory>:11", why,
				    sizeof(why)) == PTXLOOM_NOT_SUPPORTED);
	CHECK(!strcmp(why, "<memory>:11: counts of lines are those of all launches of a kernel "
			   "since ptxloom_metrics_clear"));
	CHECK(ptxloom_metric_expect(dev, &copy, "bank_conflicts == 0 at <memory>:99", why,
				    sizeof(why)) == PTXLOOM_NOT_FOUND);
	CHECK(!strcmp(why, "no instruction that was launched is of <memory>:99"));
	CHECK(ptxloom_metric_expect(dev, NULL, "bank_conflicts", why, 5) == PTXLOOM_INVALID_VALUE);
	CHECK_EQ(strlen(why), 4);
	CHECK(ptxloom_metric_place(dev, &copy, SECTORS, why, sizeof(why)) == 0);
	CHECK(!strcmp(why, "<memory>:10: ld.global.u32 %r3, [%rd0]; (60)"));
	CHECK(ptxloom_metric_place(dev, NULL, "barriers", why, sizeof(why)) == PTXLOOM_NOT_FOUND);
	ptxloom_counters_clear(dev);
	CHECK(ptxloom_metric(dev, NULL, SECTORS, &x) == PTXLOOM_NOT_FOUND);
	run_copy(dev, 1);
	CHECK_EQ(metric(dev, NULL, SECTORS), 4);
	CHECK_EQ(ptxloom_counters_next(dev), 7);
	ptxloom_device_close(dev);
}

static size_t find_metric(const struct ptxloom_counters *c, const char *name)
{
	size_t i = 0;

	while (i < c->metric_count && strcmp(c->metric[i]->name, name) != 0)
		i++;
	return i;
}

static void test_counters(void)
{
	struct ptxloom_device *dev = open_counting(PTXLOOM_COUNT_CACHES, "mem,race,init,sync");
	const struct ptxloom_counters *c;
	const struct ptxloom_counted_kernel *k;
	size_t sectors, dram, column = 0;

	run_copy(dev, 2);
	c = ptxloom_counters(dev);
	ptxloom_device_close(dev);
	CHECK(c && c->kernel_count == 2);
	k = c->kernel[0];
	sectors = find_metric(c, SECTORS);
	dram = find_metric(c, "dram__sectors_read.sum");
	CHECK(!strcmp(c->metric[sectors]->unit, "sector"));
	CHECK_EQ(c->metric[sectors]->kind, PTXLOOM_METRIC_EXACT);
	CHECK_EQ(c->metric[dram]->kind, PTXLOOM_METRIC_MODEL);
	CHECK(!strcmp(k->name, "copy(unsigned int*, unsigned int)") &&
	      !strcmp(k->mangled, "_Z4copyPjj"));
	CHECK_EQ(k->launch_count, 2);
	CHECK(k->value[sectors] == 12);
	CHECK(k->launch[1]->value[sectors] == 8);
	CHECK_EQ(k->launch[1]->number, 1);
	CHECK_EQ(k->launch[1]->block[0], 32);
	CHECK(k->value[dram] >= 12);
	while (column < c->column_count && strcmp(c->column[column], "global_sectors") != 0)
		column++;
	for (size_t i = 0; i < k->insn_count; i++)
		CHECK_EQ(k->insn[i]->count[column],
			 strstr(k->insn[i]->text, "ld.global") ? 12u : 0u);
	ptxloom_counters_free(c);
}

static void test_nothing(void)
{
	struct ptxloom_device *dev = open_counting(PTXLOOM_COUNT_NOTHING, NULL);
	const struct ptxloom_counters *c;
	struct ptxloom_options o = {.size = sizeof(o), .counters = 7};
	double x;

	run_copy(dev, 1);
	CHECK(ptxloom_metric(dev, NULL, SECTORS, &x) == PTXLOOM_INVALID_VALUE);
	CHECK_EQ(ptxloom_counters_next(dev), 0);
	ptxloom_counters_clear(dev);
	c = ptxloom_counters(dev);
	CHECK(c && !c->kernel_count && c->metric_count);
	ptxloom_counters_free(c);
	ptxloom_counters_free(NULL);
	ptxloom_device_close(dev);
	CHECK(ptxloom_metric(NULL, NULL, SECTORS, &x) == PTXLOOM_INVALID_VALUE);
	CHECK(ptxloom_device_open(&o, &dev) == PTXLOOM_INVALID_VALUE);
	/* A program that was built before there were counters. */
	o = (struct ptxloom_options){.size = offsetof(struct ptxloom_options, counters),
				     .counters = 7};
	CHECK(ptxloom_device_open(&o, &dev) == 0);
	ptxloom_device_close(dev);
}

static void test_reset(void)
{
	struct ptxloom_device *dev = open_counting(PTXLOOM_COUNT_EXACT, "mem");
	struct ptxloom_config c = {.grid = {1}, .block = {32}};
	struct ptxloom_module *mod;
	const struct ptxloom_findings *found;
	struct ptxloom_fault fault;
	unsigned step = 1;
	void *null = NULL;

	CHECK(ptxloom_module_load(dev, kernels, sizeof(kernels) - 1, &mod) == 0);
	CHECK(ptxloom_launch(ptxloom_module_kernel(mod, "_Z4copyPjj"), &c,
			     (void *[]){&null, &step}) == PTXLOOM_ILLEGAL_ADDRESS);
	CHECK(ptxloom_alloc(dev, 100) && ptxloom_last_fault(dev, &fault) == 0);
	CHECK(ptxloom_device_reset(dev) == 0);
	CHECK(ptxloom_last_fault(dev, &fault) == PTXLOOM_NOT_FOUND);
	CHECK_EQ(ptxloom_message(dev, NULL, 0), 0);
	CHECK_EQ(ptxloom_counters_next(dev), 0);
	found = ptxloom_findings(dev);
	CHECK(found && !found->count && !strcmp(found->checks, "mem"));
	ptxloom_findings_free(found);
	run_copy(dev, 2);
	CHECK_EQ(metric(dev, NULL, SECTORS), 12);
	CHECK(ptxloom_device_reset(dev) == 0);
	ptxloom_device_close(dev);
}

/* Of several kernels the instruction that has most, not that of the first one. */
static void test_worst_kernel(void)
{
	struct ptxloom_device *dev = open_counting(PTXLOOM_COUNT_EXACT, NULL);
	struct ptxloom_config c = {.grid = {1}, .block = {32}};
	struct ptxloom_module *mod = NULL;
	void *x = ptxloom_alloc(dev, 1 << 16);
	unsigned step = 8;
	char why[300];

	CHECK(x && ptxloom_module_load(dev, kernels, sizeof(kernels) - 1, &mod) == 0);
	CHECK(ptxloom_launch(ptxloom_module_kernel(mod, "few"), &c, (void *[]){&x}) == 0);
	CHECK(ptxloom_launch(ptxloom_module_kernel(mod, "_Z4copyPjj"), &c, (void *[]){&x, &step}) ==
	      0);
	CHECK(ptxloom_metric_place(dev, NULL, SECTORS, why, sizeof(why)) == 0);
	CHECK(strstr(why, "(32)") != NULL);
	CHECK(ptxloom_metric_expect(dev, NULL, "global_ld_sectors == 1", why, sizeof(why)) ==
	      PTXLOOM_ASSERT);
	CHECK(strstr(why, "most at ") && strstr(why, "(32)"));
	ptxloom_free(dev, x);
	ptxloom_module_unload(mod);
	ptxloom_device_close(dev);
}

int main(void)
{
	test_metrics();
	test_worst_kernel();
	test_counters();
	test_nothing();
	test_reset();
	return check_done();
}
