/*
 * The special-function unit against sweeps measured on a device. Not part of make check: the dumps
 * are large.
 *
 *     mufu_sweep DIRECTORY
 *
 * DIRECTORY holds sweeps.txt and sweeps2.txt, lines `name op OP base BASE step STEP n N`, and
 * name.sd for each: the results for BASE, BASE + STEP, ... as one zigzag byte of the second
 * difference per sample, or 255 and the four bytes of the result. OP 0..7: rcp, rsqrt, sqrt, lg2,
 * ex2, sin, cos, tanh, all with .ftz.
 */
#include "src/num/mufu.h"

#include <stdio.h>
#include <stdlib.h>

#define BLOCK 4096

#define SWEEP_ROW(name)                                                                            \
	static void row_##name(const u32 *x, u32 *y)                                               \
	{                                                                                          \
		_Pragma("omp simd") for (int i = 0; i < BLOCK; i++) y[i] = mufu_##name(x[i]);      \
	}

SWEEP_ROW(rcp)
SWEEP_ROW(rsqrt)
SWEEP_ROW(sqrt)
SWEEP_ROW(lg2)
SWEEP_ROW(ex2)
SWEEP_ROW(sin)
SWEEP_ROW(cos)
SWEEP_ROW(tanh)

static void (*const rows[])(const u32 *x, u32 *y) = {
	row_rcp, row_rsqrt, row_sqrt, row_lg2, row_ex2, row_sin, row_cos, row_tanh,
};

struct sweep {
	FILE *f;
	u32 last, before;
};

/* The next sample; false at the end. */
static bool next_sample(struct sweep *s, u32 *value)
{
	int c = getc(s->f);
	u32 z = (u32)c, v;

	if (c == EOF)
		return false;
	if (z == 255) {
		if (fread(&v, sizeof(v), 1, s->f) != 1)
			return false;
	} else {
		v = 2 * s->last - s->before + ((z >> 1) ^ -(z & 1));
	}
	s->before = s->last;
	s->last = v;
	*value = v;
	return true;
}

/* Compare one sweep; returns how many samples differ, and counts all of them. */
static size_t run_sweep(FILE *f, unsigned op, u32 base, u32 step, size_t *samples)
{
	static u32 x[BLOCK], y[BLOCK], want[BLOCK];
	struct sweep s = {.f = f};
	size_t bad = 0, n;

	do {
		for (n = 0; n < BLOCK && next_sample(&s, &want[n]); n++)
			;
		for (size_t i = 0; i < BLOCK; i++)
			x[i] = base + (u32)(*samples + i) * step;
		rows[op](x, y);
		for (size_t i = 0; i < n; i++)
			bad += y[i] != want[i];
		*samples += n;
	} while (n == BLOCK);
	return bad;
}

/* All sweeps of one list; a list that is missing counts as a failure. */
static bool run_list(const char *dir, const char *list, size_t *total)
{
	char path[512], name[64];
	unsigned op, base, step;
	unsigned long n;
	bool ok = true;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, list);
	f = fopen(path, "r");
	if (!f)
		return false;
	while (fscanf(f, "%63s op %u base %x step %u n %lu", name, &op, &base, &step, &n) == 5) {
		size_t samples = 0, bad;
		FILE *dump;

		snprintf(path, sizeof(path), "%s/%s.sd", dir, name);
		dump = op < ARRAY_LEN(rows) ? fopen(path, "rb") : NULL;
		if (!dump)
			continue;
		bad = run_sweep(dump, op, base, step, &samples);
		fclose(dump);
		printf("%-14s %zu of %zu\n", name, samples - bad, samples);
		ok = ok && !bad && samples == n;
		*total += samples;
	}
	fclose(f);
	return ok;
}

int main(int argc, char **argv)
{
	size_t total = 0;
	bool ok;

	if (argc != 2) {
		fprintf(stderr, "usage: mufu_sweep DIRECTORY\n");
		return 2;
	}
	ok = run_list(argv[1], "sweeps.txt", &total);
	ok = run_list(argv[1], "sweeps2.txt", &total) && ok;
	printf("%s: %zu samples\n", ok ? "exact" : "different", total);
	return !ok;
}
