/*
 * The counting observer against an H200: every line of tests/counters/h200.tsv, an instruction with
 * a pattern of addresses, is run here and its counters are compared.
 */
#include "src/watch/counters.h"
#include "tests/check.h"
#include "tests/counters/access.h"
#include "tests/unit/exec_harness.h"

#define FIELDS_MAX 16u
#define LINE_MAX_BYTES 2048u

/*
 * Known to differ, tests/counters/README.md says why: copies past the first cache whose 16 bytes
 * are not in line with sectors.
 */
static const struct {
	const char *op, *pattern;
} unlike[] = {
	{"ldgsts_cg_16", "behind_3"},
	{"ldgsts_cg_16", "mixed_128"},
};

struct params {
	u64 p;
	u32 mul, shift, and, add, lanes, magic;
};

static u32 find_metric(const char *name)
{
	u32 i = 0;

	while (i < WATCH_METRICS && strcmp(watch_metric_name(i), name) != 0)
		i++;
	return i;
}

static const struct access_pattern *find_pattern(const char *name)
{
	for (u32 i = 0; i < ARRAY_LEN(access_patterns); i++)
		if (!strcmp(access_patterns[i].name, name))
			return &access_patterns[i];
	return NULL;
}

static bool is_unlike(const char *op, const char *pattern)
{
	for (u32 i = 0; i < ARRAY_LEN(unlike); i++)
		if (!strcmp(unlike[i].op, op) && !strcmp(unlike[i].pattern, pattern))
			return true;
	return false;
}

/* Fields of a line, which is cut up; returns how many. */
static u32 split_line(char *line, char **field)
{
	u32 n = 0;

	line[strcspn(line, "\n")] = 0;
	for (char *at = line; at && n < FIELDS_MAX; n++) {
		field[n] = at;
		at = strchr(at, '\t');
		if (at)
			*at++ = 0;
	}
	return n;
}

static bool run(struct harness *h, u64 buffer, const char *op, const struct access_pattern *p,
		struct watch_counters *c)
{
	struct params a = {buffer, p->mul, p->shift, p->and, p->add, p->lanes, ACCESS_MAGIC};

	watch_counters_init(c);
	h->observer = &c->observer;
	memset((void *)(uintptr_t)buffer, 0, ACCESS_BUFFER_BYTES);
	return harness_run(h, op, 1, 32, &a, "base") == STOP_DONE;
}

/* One line: all its counters agree, or it is one that is known not to. */
static void compare(struct harness *h, u64 buffer, char **field, u32 n, const u32 *metric)
{
	const struct access_pattern *p = find_pattern(field[1]);
	struct watch_counters c;
	bool same = true;

	if (!CHECK(p && run(h, buffer, field[0], p, &c)))
		return;
	for (u32 i = 2; i < n; i++) {
		u64 want = strtoull(field[i], NULL, 10), got = c.value[metric[i - 1]];

		if (got != want && !is_unlike(field[0], field[1]))
			printf("# %s %s: %s is %llu, measured %llu\n", field[0], field[1],
			       watch_metric_name(metric[i - 1]), (unsigned long long)got,
			       (unsigned long long)want);
		same &= got == want;
	}
	CHECK_MSG(same != is_unlike(field[0], field[1]), field[0]);
}

static u32 read_table(FILE *f, struct harness *h, u64 buffer)
{
	char line[LINE_MAX_BYTES], *field[FIELDS_MAX];
	u32 metric[FIELDS_MAX] = {0}, columns = 0, lines = 0;

	while (fgets(line, sizeof(line), f)) {
		u32 n = split_line(line, field);

		if (field[0][0] == '#')
			continue;
		if (!strcmp(field[0], "@")) {
			columns = n;
			for (u32 i = 1; i < n; i++) {
				metric[i] = find_metric(field[i]);
				CHECK_MSG(metric[i] < WATCH_METRICS, field[i]);
			}
			continue;
		}
		if (CHECK(n == columns + 1))
			compare(h, buffer, field, n, metric);
		lines++;
	}
	return lines;
}

int main(void)
{
	const char *root = getenv("srcdir");
	struct text module = {0};
	struct harness h;
	char path[4096];
	u64 buffer;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/counters/h200.tsv", root ? root : ".");
	f = fopen(path, "r");
	access_write_module(&module);
	if (CHECK(f != NULL) && CHECK(harness_open(&h, module.at))) {
		buffer = mem_alloc(&h.mem, ACCESS_BUFFER_BYTES, 4096, MEM_KIND_DEVICE);
		CHECK(read_table(f, &h, buffer) > 700);
		harness_close(&h);
	}
	if (f)
		fclose(f);
	text_fini(&module);
	return check_done();
}
