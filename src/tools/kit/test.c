/*
 * `ptxloom test`: the cases of tables of tests, each in a process of its own.
 */
#include "src/base/file.h"
#include "src/base/leave.h"
#include "src/base/setting.h"
#include "src/tools/interrupt.h"
#include "src/tools/kit/junit.h"
#include "src/tools/kit/test.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* clang-format off */
const char tool_help_test[] =
	"Runs the tests of kernels that tables describe (see ptxloom-test(1)): each case in a process of its own,\n"
	"results as TAP on standard output.\n"
	"\n"
	"  -j N                  cases at a time (default 1)\n"
	"  --filter PATTERN      only cases whose names fit: shell patterns between colons; after a dash those that\n"
	"                        are left out\n"
	"  --shard I/N           only the I-th, (I + N)-th .. case; I from 1 to N, and 0 as N\n"
	"  --junit FILE          results as JUnit XML, too\n"
	"  --metrics             metrics of each case as properties in JUnit XML\n"
	SAVED_HELP
	"  --coverage=DIR        count the lines and branches that kernels run, as `ptxloom run --coverage`\n"
	"  --list                print the names of the cases\n"
	"  --help                this text\n"
	"\n"
	"GTEST_TOTAL_SHARDS, GTEST_SHARD_INDEX, TEST_TOTAL_SHARDS, TEST_SHARD_INDEX, TEST_SHARD_STATUS_FILE,\n"
	"TESTBRIDGE_TEST_ONLY and XML_OUTPUT_FILE are honoured.\n"
	"\n"
	"Exit status: 0; 1 when a case fails; 2 when a file or an argument is wrong; 130 when it was interrupted.\n";
/* clang-format on */

/* Of the output of a case that fails, what is shown. */
#define SHOWN_MAX ((size_t)64 << 10)

static volatile sig_atomic_t is_interrupted;

bool test_is_interrupted(void)
{
	return is_interrupted;
}

/* The cases that run now; 0: none. */
static volatile pid_t running_case[TRIALS_MAX];

/* Cases are in process groups of their own, where keys of a terminal do not reach them. */
static void stop_cases(int number)
{
	(void)number;
	is_interrupted = 1;
	for (u32 i = 0; i < TRIALS_MAX; i++)
		if (running_case[i] > 0)
			kill(running_case[i], SIGKILL);
}

/* ---- which cases ---- */

/* One of the patterns between colons. */
static bool fits_any(const char *patterns, size_t len, const char *name)
{
	for (size_t n, at = 0; at <= len; at += n + 1) {
		char *pattern;
		bool yes;

		n = strcspn(patterns + at, ":");
		n = n < len - at ? n : len - at;
		pattern = strndup(patterns + at, n);
		yes = pattern && *pattern && !fnmatch(pattern, name, 0);
		free(pattern);
		if (yes)
			return true;
	}
	return false;
}

/* As GoogleTest's: POSITIVE[-NEGATIVE]; the dash begins the text, or comes after a colon or *. */
static bool fits_filter(const char *filter, const char *name)
{
	const char *dash = filter;

	if (!filter)
		return true;
	while ((dash = strchr(dash, '-')) && dash != filter && dash[-1] != ':' && dash[-1] != '*')
		dash++;
	if (dash && fits_any(dash + 1, strlen(dash + 1), name))
		return false;
	return dash == filter ||
	       fits_any(filter, dash ? (size_t)(dash - filter) : strlen(filter), name);
}

static bool read_u64(const char *s, u64 *out)
{
	char *end;

	if (!s || *s < '0' || *s > '9')
		return false;
	errno = 0;
	*out = strtoull(s, &end, 10);
	return !*end && !errno;
}

/* One pair of variables, if it is set. False after a message. */
static bool read_shard_variables(struct test_job *j, const char *total, const char *index)
{
	const char *t = getenv(total), *i = getenv(index);

	if (j->shards || ((!t || !*t) && (!i || !*i)))
		return true;
	if (read_u64(t, &j->shards) && read_u64(i, &j->shard) && j->shard < j->shards)
		return true;
	tool_usage(j->self, "%s has to be a number below that of %s", index, total);
	return false;
}

/* What Bazel and GoogleTest's callers say. False after a message. */
static bool read_environment(struct test_job *j)
{
	const char *status = getenv("TEST_SHARD_STATUS_FILE");
	FILE *f;

	if (!read_shard_variables(j, "GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX") ||
	    !read_shard_variables(j, "TEST_TOTAL_SHARDS", "TEST_SHARD_INDEX"))
		return false;
	if (status && *status) {
		f = fopen(status, "w");
		if (!f || fclose(f)) {
			fprintf(stderr, "%s: error: %s\n", status, strerror(errno));
			return false;
		}
	}
	if (!j->junit)
		j->junit = getenv("XML_OUTPUT_FILE");
	if (!j->filter)
		j->filter = getenv("TESTBRIDGE_TEST_ONLY");
	j->junit = j->junit && *j->junit ? j->junit : NULL;
	j->filter = j->filter && *j->filter ? j->filter : NULL;
	return true;
}

/* Those of the filter, then those of the shard. False after a message. */
static bool choose_cases(struct test_job *j)
{
	u64 number = 0;

	for (size_t f = 0; f < j->files.len; f++)
		for (size_t i = 0; i < j->files.at[f].table.cases.len; i++) {
			struct test_run r = {.c = &j->files.at[f].table.cases.at[i],
					     .file = (u32)f};

			if (!fits_filter(j->filter, r.c->name))
				continue;
			if (j->shards && number++ % j->shards != j->shard)
				continue;
			number += !j->shards;
			if (!VEC_PUSH(&j->runs, r)) {
				fputs("ptxloom test: error: no memory left\n", stderr);
				return false;
			}
		}
	if (!number)
		tool_usage(j->self, "no case has a name that fits '%s'", j->filter);
	return number > 0;
}

/* ---- files ---- */

static int read_table(struct test_job *j, const char *path)
{
	struct test_file f = {.path = path};
	struct diag_source source;
	struct file file;
	struct diag d;
	bool ok;

	if (!file_open(&file, path)) {
		fprintf(stderr, "%s: error: %s\n", path, strerror(errno));
		return TOOL_USAGE;
	}
	/* Messages show its lines. */
	f.text = malloc(file.size + 1);
	f.size = file.size;
	if (f.text) {
		memcpy(f.text, file.data, file.size);
		f.text[file.size] = 0;
	}
	source = (struct diag_source){path, f.text, file.size};
	file_close(&file);
	diag_init(&d, diag_print, stderr);
	ok = f.text && source.size < UINT32_MAX && ktest_read(&f.table, &source, &d);
	diag_fini(&d);
	if (VEC_PUSH(&j->files, f))
		return ok ? TOOL_OK : TOOL_USAGE;
	ktest_fini(&f.table);
	free(f.text);
	return TOOL_USAGE;
}

/* ---- running ---- */

/* What becomes of a case: the words of its command, and the variables of its environment. */
struct test_start {
	VEC(char *) words;
	struct text metrics;
	struct text variable[3];
	const char *variables[4];
};

static bool make_start(const struct test_job *j, const struct test_run *r, struct test_start *s)
{
	const struct ktest_case *c = r->c;
	char *head[] = {(char *)(uintptr_t)j->self_path,
			(char *)(uintptr_t) "exec",
			j->files.at[r->file].built[c->image],
			(char *)(uintptr_t) "--kernel",
			c->kernel,
			(char *)(uintptr_t) "-d",
			c->device};
	bool ok = true;
	u32 n = 0;

	*s = (struct test_start){0};
	for (size_t i = 0; i < ARRAY_LEN(head) - (c->device ? 0 : 2); i++)
		ok = ok && VEC_PUSH(&s->words, head[i]);
	for (size_t i = 0; i < c->options.len; i++)
		ok = ok && VEC_PUSH(&s->words, c->options.at[i]);
	if (test_has_metrics(j, c)) {
		test_metrics_path(j, r, &s->metrics);
		ok = ok && s->metrics.at &&
		     VEC_PUSH(&s->words, (char *)(uintptr_t) "--save-metrics") &&
		     VEC_PUSH(&s->words, s->metrics.at) &&
		     VEC_PUSH(&s->words, (char *)(uintptr_t) "--save-places");
	}
	ok = ok && VEC_PUSH(&s->words, NULL);
	if (c->has_seed)
		text_printf(&s->variable[n++], "%s=%" PRIu64, setting_variable(SETTING_SEED),
			    c->seed);
	if (c->timeout)
		text_printf(&s->variable[n++], "%s=%s", setting_variable(SETTING_TIMEOUT),
			    c->timeout);
	if (j->jobs > 1 && !setting_text(SETTING_WORKERS))
		text_printf(&s->variable[n++], "%s=1", setting_variable(SETTING_WORKERS));
	for (u32 i = 0; i < n; i++) {
		ok = ok && !s->variable[i].failed;
		s->variables[i] = s->variable[i].at;
	}
	return ok;
}

/* Returns false after a message. */
static bool start_case(struct test_job *j, struct test_run *r, u32 slot)
{
	struct test_start s;
	bool ok = make_start(j, r, &s);

	r->trial = ok ? calloc(1, sizeof(*r->trial)) : NULL;
	if (!r->trial)
		fputs("ptxloom test: error: no memory left\n", stderr);
	ok = r->trial && trial_begin(r->trial, s.words.at, s.variables, 0);
	if (ok)
		running_case[slot] = r->trial->pid;
	VEC_FREE(&s.words);
	text_fini(&s.metrics);
	for (size_t i = 0; i < ARRAY_LEN(s.variable); i++)
		text_fini(&s.variable[i]);
	if (ok)
		return true;
	free(r->trial);
	r->trial = NULL;
	return false;
}

static void describe_failure(const struct trial *t, struct text *out)
{
	if (!t->signal && !t->status)
		text_puts(out, "other metrics than those that were saved");
	else if (!t->signal && t->status == 3)
		text_puts(out, "another result than expected");
	else
		trial_say(t, out);
}

/* Those that pytest writes have the same names. */
static void add_metric_properties(const struct test_job *j, size_t first, struct text *out)
{
	for (size_t i = first; i < j->metrics.now.rows.len; i++) {
		const struct metric_base_row *m = &j->metrics.now.rows.at[i];
		struct text name = {0}, value = {0};

		text_printf(&name, "ptxloom.metric.%s", m->metric.name);
		if (strcmp(m->kernel, j->metrics.now.rows.at[first].kernel) != 0)
			text_printf(&name, "[%s]", m->kernel);
		text_printf(&value, "%.15g", m->value);
		if (name.at && value.at)
			junit_property(out, name.at, value.at);
		text_fini(&name);
		text_fini(&value);
	}
}

static void free_run(struct test_run *r)
{
	if (!r->trial)
		return;
	if (r->is_over)
		trial_fini(r->trial);
	else
		trial_drop(r->trial);
	free(r->trial);
	r->trial = NULL;
}

/* Each line a comment of the results. */
static void show_output(const char *s)
{
	while (*s) {
		size_t n = strcspn(s, "\n");

		printf("# %.*s\n", (int)n, s);
		s += n + (s[n] != 0);
	}
}

/* A # would begin a directive. */
static void show_name(const char *name)
{
	for (; *name; name++) {
		if (*name == '#' || *name == '\\')
			putchar('\\');
		putchar(*name);
	}
	putchar('\n');
}

static void show_result(struct test_job *j, struct test_run *r, struct text *junit)
{
	struct trial *t = r->trial;
	struct text output = {0}, failure = {0}, differ = {0}, properties = {0};
	char seed[24];
	size_t first;
	bool same = test_take_metrics(j, r, &first, &differ);
	bool ok = !t->signal && !t->status && same;
	struct junit_case x = {.suite = j->files.at[r->file].path, .name = r->c->name, .ms = t->ms};

	printf("%sok %zu - ", ok ? "" : "not ", j->shown + 1);
	show_name(r->c->name);
	if (!ok) {
		describe_failure(t, &failure);
		text_puts(&output, differ.at ? differ.at : "");
		text_add(&output, t->err.at, t->err.len < SHOWN_MAX ? t->err.len : SHOWN_MAX);
		text_add(&output, t->out.at, t->out.len < SHOWN_MAX ? t->out.len : SHOWN_MAX);
		printf("# %s:%u: %s\n", x.suite, r->c->line, failure.at ? failure.at : "");
		show_output(output.at ? output.at : "");
		x.failure = failure.at ? failure.at : "";
		x.output = output.at;
		j->failed++;
	}
	fflush(stdout);
	if (j->junit) {
		if (r->c->device)
			junit_property(&properties, "ptxloom.device", r->c->device);
		if (r->c->has_seed) {
			snprintf(seed, sizeof(seed), "%llu", (unsigned long long)r->c->seed);
			junit_property(&properties, "ptxloom.seed", seed);
		}
		add_metric_properties(j, first, &properties);
		x.properties = properties.at;
		junit_add(junit, &x);
	}
	text_fini(&properties);
	text_fini(&differ);
	text_fini(&output);
	text_fini(&failure);
	free_run(r);
}

/* The cases that run, by slot. */
struct test_slots {
	struct test_run *run[TRIALS_MAX];
	u32 len;
};

static bool fill_slots(struct test_job *j, struct test_slots *s)
{
	while (!is_interrupted && j->begun < j->runs.len && s->len < j->jobs) {
		struct test_run *r = &j->runs.at[j->begun];

		if (!start_case(j, r, s->len))
			return false;
		s->run[s->len++] = r;
		j->begun++;
	}
	/* One that began while the handler ran. */
	if (is_interrupted)
		stop_cases(0);
	return true;
}

static bool wait_for_case(struct test_slots *s)
{
	struct trial *trials[TRIALS_MAX];
	struct test_run *r;
	u32 n;

	for (u32 i = 0; i < s->len; i++)
		trials[i] = s->run[i]->trial;
	n = trial_wait_any(trials, s->len);
	r = s->run[n];
	s->len--;
	/* Never a process twice, nor one that is gone. */
	running_case[n] = 0;
	s->run[n] = s->run[s->len];
	running_case[n] = n < s->len ? s->run[n]->trial->pid : 0;
	running_case[s->len] = 0;
	r->is_over = true;
	return trial_end(r->trial);
}

/* Results are shown in the order of the cases. */
static int run_cases(struct test_job *j, struct text *junit)
{
	struct test_slots s = {0};

	printf("TAP version 13\n1..%zu%s\n", j->runs.len,
	       j->runs.len ? "" : " # SKIP no case belongs to this shard");
	fflush(stdout);
	while (j->shown < j->runs.len) {
		if (!fill_slots(j, &s) || (s.len && !wait_for_case(&s)))
			return TOOL_CANNOT_RUN;
		if (is_interrupted) {
			puts("Bail out! interrupted");
			return INTERRUPT_STATUS;
		}
		for (; j->shown < j->begun && j->runs.at[j->shown].is_over; j->shown++)
			show_result(j, &j->runs.at[j->shown], junit);
	}
	return j->failed ? TOOL_FINDINGS : TOOL_OK;
}

static bool write_junit(const struct test_job *j, const struct text *cases)
{
	struct text all = {0};
	bool ok;

	junit_begin(&all, "ptxloom test", j->shown, j->failed);
	if (cases->at)
		text_puts(&all, cases->at);
	junit_end(&all);
	ok = !all.failed && !cases->failed && file_put(j->junit, all.at, all.len);
	if (!ok)
		fprintf(stderr, "%s: error: %s\n", j->junit, strerror(errno));
	text_fini(&all);
	return ok;
}

static int run_all(struct test_job *j)
{
	struct sigaction mine = {.sa_handler = stop_cases};
	struct text junit = {0};
	ssize_t n = readlink("/proc/self/exe", j->self_path, sizeof(j->self_path) - 1);
	int status;

	if (n <= 0) {
		fprintf(stderr, "ptxloom test: error: /proc/self/exe: %s\n", strerror(errno));
		return TOOL_CANNOT_RUN;
	}
	if (j->coverage && !tool_set_coverage(j->coverage))
		return TOOL_USAGE;
	sigaction(SIGINT, &mine, NULL);
	sigaction(SIGTERM, &mine, NULL);
	if (!test_keep_saved(j) || !test_build_images(j) || !test_prepare_metrics(j))
		return is_interrupted ? INTERRUPT_STATUS : TOOL_USAGE;
	status = run_cases(j, &junit);
	if (status == TOOL_OK || status == TOOL_FINDINGS)
		status = test_end_metrics(j, status);
	if (j->junit && !write_junit(j, &junit) && status == TOOL_OK)
		status = TOOL_USAGE;
	text_fini(&junit);
	return status;
}

/* ---- the command ---- */

static int read_test_options(struct test_job *j, int argc, char **argv)
{
	static const struct option options[] = {
		{"filter", required_argument, NULL, 'f'},
		{"junit", required_argument, NULL, 'x'},
		{"shard", required_argument, NULL, 's'},
		{"list", no_argument, NULL, 'l'},
		{"coverage", required_argument, NULL, 'c'},
		{"metrics", no_argument, NULL, 'm'},
		{"save-metrics", required_argument, NULL, 'V'},
		{"against", required_argument, NULL, 'A'},
		{"allow", required_argument, NULL, 'L'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	u64 n;
	int c;

	optind = 1;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":j:h", options, NULL)) != -1)
		switch (c) {
		case 'f':
			j->filter = optarg;
			break;
		case 'x':
			j->junit = optarg;
			break;
		case 'c':
			j->coverage = optarg;
			break;
		case 'l':
			j->only_list = true;
			break;
		case 'm':
			j->metrics.all = true;
			break;
		case 'V':
			j->metrics.saved.save = optarg;
			break;
		case 'A':
			j->metrics.saved.against = optarg;
			break;
		case 'L':
			j->metrics.saved.allow = optarg;
			break;
		case 'h':
			tool_help(j->self);
			return -1;
		case 's':
			if (tool_read_shard(j->self, optarg, &j->shard, &j->shards) != TOOL_OK)
				return TOOL_USAGE;
			break;
		case 'j':
			if (!read_u64(optarg, &n) || !n || n > TRIALS_MAX)
				return tool_usage(j->self,
						  "-j takes a number from 1 to %u, not '%s'",
						  TRIALS_MAX, optarg);
			j->jobs = (u32)n;
			break;
		default:
			return tool_usage(j->self, "%s '%s'",
					  c == ':' ? "there is no value for" : "unknown option",
					  argv[optind - 1]);
		}
	return optind == argc ? tool_usage(j->self, "no file given") : TOOL_OK;
}

static void test_fini(struct test_job *j)
{
	for (size_t f = 0; f < j->files.len; f++) {
		struct test_file *x = &j->files.at[f];

		test_free_images(j, x);
		ktest_fini(&x->table);
		free(x->text);
	}
	for (size_t i = 0; i < j->runs.len; i++) {
		free_run(&j->runs.at[i]);
		if (i >= j->shown)
			test_drop_metrics(j, &j->runs.at[i]);
	}
	if (j->folder)
		rmdir(j->folder);
	free(j->folder);
	saved_fini(&j->metrics.saved);
	metric_base_fini(&j->metrics.now);
	VEC_FREE(&j->files);
	VEC_FREE(&j->runs);
}

int tool_main_test(const struct tool_command *self, int argc, char **argv)
{
	struct test_job j = {.self = self, .jobs = 1};
	int status = read_test_options(&j, argc, argv);

	if (status == TOOL_OK)
		status = saved_open(&j.metrics.saved, self);
	if (status == TOOL_OK && j.metrics.all && !j.junit && !getenv("XML_OUTPUT_FILE"))
		status = tool_usage(self, "--metrics goes with --junit");
	for (int i = optind; status == TOOL_OK && i < argc; i++)
		status = read_table(&j, argv[i]);
	if (status == TOOL_OK)
		status = read_environment(&j) && choose_cases(&j) ? TOOL_OK : TOOL_USAGE;
	if (status == TOOL_OK && j.only_list)
		for (size_t i = 0; i < j.runs.len; i++)
			puts(j.runs.at[i].c->name);
	else if (status == TOOL_OK)
		status = run_all(&j);
	test_fini(&j);
	return status < 0 ? TOOL_OK : status;
}
