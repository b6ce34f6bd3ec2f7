/*
 * src/arch: active CTAs per SM against an H200's answers, and by hand where the guides give all
 * limits.
 */
#include "src/arch/arch.h"
#include "tests/check.h"

#include <stdlib.h>

#define COLUMNS_MAX 32

struct table {
	const struct arch *a;
	u64 dynamic[COLUMNS_MAX]; /* shared bytes of each column */
	u32 columns, points, wrong, best;
};

/* Numbers after the first tab of the line; returns how many. */
static u32 numbers(char *line, s64 *out)
{
	u32 n = 0;

	for (char *p = strchr(line, '\t'); p && n < COLUMNS_MAX; p = strchr(p + 1, '\t'))
		out[n++] = strtoll(p + 1, NULL, 10);
	return n;
}

static void point(struct table *t, const struct arch_use *use, s64 want)
{
	struct arch_occupancy o;

	t->points++;
	if (arch_occupancy(t->a, use, &o) && o.ctas == want &&
	    o.warps == want * ((use->threads_per_cta + 31) / 32))
		return;
	if (!t->wrong++)
		printf("# carveout %d registers %u threads %u smem %llu: got %u, expected %lld\n",
		       use->carveout_percent, use->registers_per_thread, use->threads_per_cta,
		       (unsigned long long)use->smem_bytes, o.ctas, (long long)want);
}

/*
 * One line of a vector file: column heads, points, or the best CTA size. carveout: the first number
 * is one.
 */
static void row(struct table *t, char *line, bool carveout)
{
	s64 v[COLUMNS_MAX];
	u32 n = numbers(line, v), threads, grid;
	struct arch_use use = {.registers_per_thread = carveout ? 8 : (u32)v[0],
			       .carveout_percent = carveout ? (s32)v[0] : -1};

	if (!strncmp(line, "dyn\t", 4)) {
		t->columns = n;
		for (u32 i = 0; i < n; i++)
			t->dynamic[i] = (u64)v[i];
	} else if (!strncmp(line, "best\t", 5)) {
		t->best++;
		t->wrong += !arch_best_cta(t->a, &use, 0, &threads, &grid) || grid != v[1] ||
			    threads != v[2];
	} else if (!strncmp(line, "occ\t", 4)) {
		use.threads_per_cta = (u32)v[1];
		for (u32 i = 0; i < t->columns; i++) {
			use.smem_bytes = t->dynamic[i];
			point(t, &use, v[2 + i]);
		}
	}
}

static struct table measured(const char *name, bool carveout)
{
	struct table t = {.a = arch_find("h200")};
	char path[512], line[1024];
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/vectors/%s",
		 getenv("srcdir") ? getenv("srcdir") : ".", name);
	f = fopen(path, "r");
	CHECK_MSG(f != NULL, path);
	while (f && fgets(line, sizeof(line), f))
		row(&t, line, carveout);
	if (f)
		fclose(f);
	return t;
}

static void test_available(void)
{
	char path[512], line[256];
	u32 points = 0, wrong = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/vectors/available_smem_gh100.tsv",
		 getenv("srcdir") ? getenv("srcdir") : ".");
	f = fopen(path, "r");
	CHECK_MSG(f != NULL, path);
	while (f && fgets(line, sizeof(line), f)) {
		struct arch_use use = {.registers_per_thread = 8, .carveout_percent = -1};
		unsigned ctas;
		long long want;
		u64 bytes;
		bool ok;

		if (sscanf(line, "%u\t%u\t%lld", &ctas, &use.threads_per_cta, &want) != 3)
			continue;
		points++;
		ok = arch_available_smem(arch_find("h200"), &use, ctas, &bytes);
		if (ok != (want >= 0) || (ok && bytes != (u64)want))
			printf("# %u CTAs of %u threads: got %lld, expected %lld\n", ctas,
			       use.threads_per_cta, ok ? (long long)bytes : -1, want);
		wrong += ok != (want >= 0) || (ok && bytes != (u64)want);
	}
	if (f)
		fclose(f);
	CHECK_EQ(points, 198);
	CHECK_EQ(wrong, 0);
}

static s64 ctas(const char *name, u32 threads, u32 registers, u64 smem, s32 percent)
{
	struct arch_use use = {threads, registers, smem, percent};
	struct arch_occupancy o;

	return arch_occupancy(arch_find(name), &use, &o) ? (s64)o.ctas : -1;
}

static enum arch_limiter limiter(const char *name, u32 threads, u32 registers, u64 smem)
{
	struct arch_use use = {threads, registers, smem, -1};
	struct arch_occupancy o;

	return arch_occupancy(arch_find(name), &use, &o) ? o.limiter : ARCH_LIMIT_NONE;
}

/* By hand from the limits of the tuning guides' sections on occupancy. */
static void test_guides(void)
{
	/* 64 warps and 32 CTAs; Turing 32 and 16; GA102 48 and 16. */
	CHECK_EQ(ctas("v100", 256, 32, 0, -1), 8);
	CHECK_EQ(ctas("v100", 32, 16, 0, -1), 32);
	CHECK_EQ(ctas("t4", 256, 32, 0, -1), 4);
	CHECK_EQ(ctas("t4", 32, 16, 0, -1), 16);
	CHECK_EQ(ctas("a40", 256, 32, 0, -1), 6);
	CHECK_EQ(ctas("a40", 1024, 32, 0, -1), 1);
	CHECK_EQ(ctas("a40", 64, 32, 0, -1), 16);
	/* 64K registers: 64 registers leave 1024 threads, 255 leave 8 warps. */
	CHECK_EQ(ctas("v100", 256, 64, 0, -1), 4);
	CHECK_EQ(ctas("v100", 1024, 64, 0, -1), 1);
	CHECK_EQ(ctas("v100", 1024, 65, 0, -1), 0);
	CHECK_EQ(ctas("v100", 256, 255, 0, -1), 1);
	/* Pascal guide, "Shared Memory Capacity": with 32 KB two CTAs fit GP100, three GP104. */
	CHECK_EQ(ctas("p100", 64, 32, 32768, -1), 2);
	CHECK_EQ(ctas("gtx1080", 64, 32, 32768, -1), 3);
	CHECK_EQ(ctas("p100", 64, 32, 49153, -1), 0);
	/* Volta and Turing: one CTA may use all; Ampere: 1 KB is reserved. */
	CHECK_EQ(ctas("v100", 64, 32, 98304, -1), 1);
	CHECK_EQ(ctas("v100", 64, 32, 49152, -1), 2);
	CHECK_EQ(ctas("t4", 64, 32, 65536, -1), 1);
	CHECK_EQ(ctas("t4", 64, 32, 65537, -1), 0);
	CHECK_EQ(ctas("a100", 64, 32, 166912, -1), 1);
	CHECK_EQ(ctas("a100", 64, 32, 166913, -1), 0);
	CHECK_EQ(ctas("a100", 64, 32, 82944, -1), 2);
	CHECK_EQ(ctas("a100", 64, 32, 82945, -1), 1);
	/* Carveouts: V100 at half takes the step 64 of 0 8 16 32 64 96; T4 has 32 and 64 only. */
	CHECK_EQ(ctas("v100", 64, 32, 16384, 50), 4);
	CHECK_EQ(ctas("v100", 64, 32, 16384, 100), 6);
	CHECK_EQ(ctas("v100", 64, 32, 16384, 0), 1);
	CHECK_EQ(ctas("t4", 64, 32, 16384, 0), 2);
	CHECK_EQ(ctas("t4", 64, 32, 16384, 51), 4);
	/*
	 * GP100 has two partitions: 168 registers (21 units) let 12 warps each hold 5376 of 32768
	 * registers.
	 */
	CHECK_EQ(ctas("p100", 32, 168, 0, -1), 12);
	CHECK_EQ(ctas("v100", 32, 168, 0, -1), 12);
	CHECK_EQ(ctas("p100", 32, 200, 0, -1), 10);
	CHECK_EQ(ctas("v100", 32, 200, 0, -1), 8);
	CHECK_EQ(ctas("a100", 0, 32, 0, -1), 0);
	CHECK_EQ(ctas("a100", 1025, 32, 0, -1), 0);
	CHECK_EQ(ctas("a100", 32, 256, 0, -1), 0);
	CHECK_EQ(ctas("a100", UINT32_MAX, UINT32_MAX, UINT64_MAX / 2, 100), 0);
}

static void test_limiters(void)
{
	struct arch_use use = {32, 16, 0, -1};
	static const struct arch nothing;
	struct arch_occupancy o;
	u32 threads, grid;

	CHECK_EQ(limiter("a100", 32, 16, 0), ARCH_LIMIT_CTAS);
	CHECK_EQ(limiter("a100", 128, 16, 0), ARCH_LIMIT_WARPS);
	CHECK_EQ(limiter("a100", 128, 128, 0), ARCH_LIMIT_REGISTERS);
	CHECK_EQ(limiter("a100", 128, 16, 65536), ARCH_LIMIT_SMEM);
	CHECK(!arch_occupancy(&nothing, &use, &o) && o.ctas == 0);
	CHECK(!arch_best_cta(&nothing, &use, 0, &threads, &grid));
	CHECK(arch_best_cta(arch_find("a100"), &use, 100, &threads, &grid) && threads <= 100 &&
	      threads && grid % 108 == 0);
}

/* threads, static, dynamic, preference, KiB of each line. */
static void test_smem_config(void)
{
	char path[512], line[128];
	u32 points = 0, wrong = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/vectors/smem_config_gh100.tsv",
		 getenv("srcdir") ? getenv("srcdir") : ".");
	f = fopen(path, "r");
	if (!CHECK(f))
		return;
	while (fgets(line, sizeof(line), f)) {
		struct arch_use use = {.registers_per_thread = 16};
		unsigned threads, fixed, dynamic, kib;
		int percent;
		u64 bytes;

		if (sscanf(line, "%u %u %u %d %u", &threads, &fixed, &dynamic, &percent, &kib) != 5)
			continue;
		use.threads_per_cta = threads;
		use.smem_bytes = fixed + dynamic;
		use.carveout_percent = percent;
		points++;
		if (arch_smem_config(arch_find("h200"), &use, &bytes) && bytes == kib * 1024)
			continue;
		wrong++;
		printf("# %u threads, %u + %u bytes, %d %%: %llu KiB, measured %u\n", threads,
		       fixed, dynamic, percent, (unsigned long long)bytes / 1024, kib);
	}
	fclose(f);
	CHECK_EQ(points, 351);
	CHECK_EQ(wrong, 1);
}

int main(void)
{
	struct table t = measured("occupancy_gh100.tsv", false);

	CHECK_EQ(t.points, 2700);
	CHECK_EQ(t.best, 12);
	CHECK_EQ(t.wrong, 0);
	t = measured("carveout_gh100.tsv", true);
	CHECK_EQ(t.points, 3360);
	CHECK_EQ(t.wrong, 0);
	test_available();
	test_guides();
	test_limiters();
	test_smem_config();
	return check_done();
}
