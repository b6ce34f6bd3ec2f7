/*
 * `ptxloom profile`: a program whose processes write what their launches do into a folder; when it
 * has ended the files are read and shown.
 */
#include "src/check/record.h"
#include "src/profile/page/diff.h"
#include "src/tools/profile/options.h"
#include "src/tools/supervise.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* clang-format off */
const char tool_help_profile[] =
	"Runs PROG with its arguments on an emulated GPU, as `ptxloom run` does, and prints what each launch of a\n"
	"kernel did, in the layouts of Nsight Compute (ncu): instructions, sectors, bank conflicts, divergence, and\n"
	"what a model of the caches makes of them. No cycles and no times: nothing of that is emulated.\n"
	"docs/profile.md has examples.\n"
	"\n"
	"  -k, --kernel-name NAME  profile launches of these kernels only: a name, or regex:EXPRESSION\n"
	"  --kernel-name-base BASE which name that is: function (default), demangled, mangled\n"
	"  -s, --launch-skip N     launches of these that are left out before the first\n"
	"  -c, --launch-count N    profile N of them at most (default 0: all)\n"
	"  --launch-skip-before-match N\n"
	"                          launches of any kernel that are left out first\n"
	"  --kernel-id CONTEXT:STREAM:NAME:INVOCATION\n"
	"                          this one; parts may be empty\n"
	"  --devices LIST          launches on these devices only: 0,1\n"
	"  --nvtx                  show the ranges of NVTX that launches are in\n"
	"  --nvtx-include RANGES, --nvtx-exclude RANGES\n"
	"                          launches in these ranges: DOMAIN@NAME, or with slashes of pushed ones: A/B\n"
	"  --profile-from-start off\n"
	"                          from cudaProfilerStart on; --disable-profiler-start-stop: whatever it says\n"
	"  --set SET               sections to print: basic, detailed, full (default), roofline\n"
	"  --section ID            these sections: an identifier or regex:EXPRESSION; may be repeated\n"
	"  --metrics LIST          these metrics, separated by commas: names, with or without a suffix, or\n"
	"                          regex:EXPRESSION\n"
	"  --page PAGE             details (default), raw, source, json; html: one file for a browser; annotate:\n"
	"                          sources with counts; callgrind: for KCachegrind; session; trace: for Perfetto\n"
	"  --show EVENTS, --sort EVENTS, --threshold PERCENT, --context LINES\n"
	"                          annotated sources: what is counted (inst,l1_miss), what files are sorted by, below\n"
	"                          which share they are left out (0.1), lines around those with counts (8)\n"
	"  --variables             count what is asked of each variable and allocation, too\n"
	"  --trace, --trace-clock time|order\n"
	"                          trace calls and work for --page trace; its time is that of this machine, or order\n"
	"  --print-source WHAT     lines of the source page: ptx (default), cuda, cuda,ptx\n"
	"  --csv                   comma-separated values\n"
	"  --print-summary WHAT    minimum, maximum and average of each metric: none, per-gpu, per-kernel, per-nvtx\n"
	"  --print-details WHAT    all (default), header: tables, body: what stands out\n"
	"  --print-fp, --print-raw-numbers\n"
	"                          numbers with two digits behind the point; without separators\n"
	"  --print-kernel-base BASE\n"
	"                          names of kernels: function, demangled (default), mangled\n"
	"  --source-folder FOLDER  where sources are that are not where they were; --source-folders is the same\n"
	"  --print-units UNITS     auto (default): bytes as Kbyte and so on; base\n"
	"  --print-metric-name N   label (default), name, label-name\n"
	"  --cache-control WHEN    all (default): caches are empty when a launch begins; none: they stay; off: they\n"
	"                          are not played, which is faster\n"
	"  -o, --export FILE       write a report instead of printing it; -f, --force-overwrite: also where FILE is\n"
	"                          there already\n"
	"  -i, --import FILE       print this report; no program is started\n"
	"  --diff A B              print what differs between two reports, by kernel and by line\n"
	"  --diff-limit N          kernels to print, those first that differ most (20); 0: all\n"
	"  --exit-code             with --diff: the exit status is 1 if the reports differ\n"
	"  --log-file FILE         print to FILE instead of standard output\n"
	"  --assert 'METRIC OP NUMBER [+- PERCENT%]'\n"
	"                          a budget: the exit status is 1 if a launch breaks it; OP: <= < == != >= >\n"
	"  --kernel NAME           the --assert in front of it is for this kernel: a name or regex:EXPRESSION\n"
	SAVED_HELP
	"                          with --metrics these, otherwise those that have short names\n"
	"  --query-metrics, --list-metrics, --list-sections, --list-sets\n"
	"                          which there are; --query-metrics-mode base: without suffixes\n"
	"  --version               the version\n"
	"  --quiet                 print budgets and errors alone\n"
	"  -d, --device DEVICE     as `ptxloom run`\n"
	"  --timeout TIME          as `ptxloom run`\n"
	"  --help                  this text\n"
	"\n"
	"--replay-mode kernel or application and --target-processes all are taken, and are what is done anyway;\n"
	"other options of ncu are taken with a warning, or refused with a reason. Exit status: that\n"
	"of PROG; 1 if a budget is broken; 2 for wrong arguments; 126, 127 and 124 as `ptxloom run`.\n";
/* clang-format on */

/* ---- files ---- */

static bool profile_write_file(const char *path, const struct text *t)
{
	FILE *f = fopen(path, "we");
	bool ok = f && (!t->len || fwrite(t->at, 1, t->len, f) == t->len);

	ok = f && !fclose(f) && ok;
	if (!ok)
		fprintf(stderr, "ptxloom profile: error: %s: %s\n", path, strerror(errno));
	return ok;
}

static bool read_report(struct profile_report *r, const char *path, const char *shown, bool is_ours)
{
	struct text why = {0};
	struct file f;
	bool ok;

	if (!file_open(&f, path)) {
		fprintf(stderr, "ptxloom profile: error: %s: %s\n", shown, strerror(errno));
		return false;
	}
	ok = profile_report_read(r, shown, (const char *)f.data, f.size, is_ours, &why);
	file_close(&f);
	if (!ok)
		fprintf(stderr, "ptxloom profile: error: %s\n", why.at ? why.at : "");
	text_fini(&why);
	return ok;
}

static int by_pid(const void *a, const void *b)
{
	unsigned long x = strtoul(*(char *const *)a, NULL, 10);
	unsigned long y = strtoul(*(char *const *)b, NULL, 10);

	return x < y ? -1 : x > y;
}

/* Read and remove what the processes have written into the folder, and the folder. */
static bool read_folder(struct profile_report *r, const char *folder)
{
	DIR *d = opendir(folder);
	VEC(char *) names = {0};
	const struct dirent *e;
	bool ok = d != NULL;

	while (d && (e = readdir(d))) {
		char *name = *e->d_name == '.' ? NULL : strdup(e->d_name);

		if (name && !VEC_PUSH(&names, name))
			free(name);
	}
	if (d)
		closedir(d);
	if (names.len)
		qsort(names.at, names.len, sizeof(names.at[0]), by_pid);
	for (size_t i = 0; i < names.len; i++) {
		struct text path = {0};

		text_printf(&path, "%s/%s", folder, names.at[i]);
		ok = path.at && read_report(r, path.at, "the profile of a process", true) && ok;
		if (path.at)
			unlink(path.at);
		text_fini(&path);
		free(names.at[i]);
	}
	VEC_FREE(&names);
	rmdir(folder);
	return ok;
}

/* ---- showing ---- */

/* Before the program runs, which may take long. */
static bool can_open(const char *path)
{
	FILE *f = path ? fopen(path, "ae") : NULL;

	if (path && !f)
		fprintf(stderr, "ptxloom profile: error: %s: %s\n", path, strerror(errno));
	if (f)
		fclose(f);
	return !path || f;
}

static bool may_write(const struct profile_options *o)
{
	if (!o->export_to || o->is_forced || access(o->export_to, F_OK))
		return can_open(o->export_to) && can_open(o->log_file);
	fprintf(stderr,
		"ptxloom profile: error: %s exists; --force-overwrite (-f) writes it anew\n",
		o->export_to);
	return false;
}

static void warn_of(const struct profile_report *r)
{
	for (size_t i = 0; i < r->processes.len; i++)
		if (!r->processes.at[i]->is_whole)
			fprintf(stderr,
				"==WARNING== process %llu (%s) did not end by itself: "
				"launches that had not ended are missing\n",
				(unsigned long long)r->processes.at[i]->pid,
				file_base_name(r->processes.at[i]->name));
	for (size_t i = 0; i < r->launches.len; i++)
		if (r->launches.at[i]->value[VALUE_sectors_cut]) {
			fputs("==WARNING== memory was short: not all accesses were counted\n",
			      stderr);
			break;
		}
}

static bool profile_show(struct profile_options *o, const struct profile_report *r)
{
	bool traces = o->page.kind == PAGE_TRACE;
	struct text t = {0};
	bool ok = true;

	o->page.report = r;
	if (traces && !r->events.len)
		fputs("==WARNING== There is no trace: programs that `ptxloom profile --trace` has run "
		      "have one.\n",
		      stderr);
	for (size_t i = 0; i < r->launches.len; i++)
		(void)VEC_PUSH(&o->page.launches, r->launches.at[i]);
	if (!r->launches.len)
		fputs("==WARNING== No kernels were profiled.\n", stderr);
	if (o->export_to) {
		profile_report_write(r, &t);
		ok = profile_write_file(o->export_to, &t);
		if (ok && !o->is_quiet)
			fprintf(stderr, "==PROF== Report: %s\n", o->export_to);
		t.len = 0;
	}
	if ((!o->export_to || o->has_page) && !o->is_quiet &&
	    (traces ? r->events.len : r->launches.len)) {
		page_write(&o->page, &t);
		if (o->log_file)
			ok = profile_write_file(o->log_file, &t) && ok;
		else if (t.at)
			fwrite(t.at, 1, t.len, stdout);
	}
	if (t.failed)
		fputs("ptxloom profile: error: no memory left\n", stderr);
	ok = ok && !t.failed;
	text_fini(&t);
	return ok;
}

/* Budgets, on standard error. */
static bool judge_budgets(const struct profile_options *o, const struct profile_report *r)
{
	bool ok = true;

	for (size_t i = 0; i < o->budgets.at.len; i++) {
		const struct profile_budget *b = &o->budgets.at.at[i];
		struct text broken = {0};

		ok &= profile_budget_check(b, r, &broken);
		saved_print("profile", "budget: ", &broken);
		record_metrics(b->text, 1, broken.at ? broken.at : "");
		text_fini(&broken);
	}
	return ok;
}

/* The metrics of --metrics, else those with short names, by kernel. */
static int judge_saved(struct profile_options *o, const struct profile_report *r)
{
	const struct metric_list *chosen = o->chose_metrics ? &o->page.metrics : NULL;
	struct kernel_sums kernels = {0};
	struct metric_base now = {0};
	bool ok = true;
	int status = TOOL_USAGE;

	if (!saved_is_any(&o->saved))
		return TOOL_OK;
	for (size_t i = 0; ok && i < r->launches.len; i++)
		ok = kernel_sums_add(&kernels, r->launches.at[i]) != SIZE_MAX;
	if (ok && metric_base_add(&now, "", &kernels, chosen))
		status = saved_judge(&o->saved, o->self, &now);
	else
		fputs("ptxloom profile: error: no memory left\n", stderr);
	kernel_sums_fini(&kernels);
	metric_base_fini(&now);
	return status;
}

/* Pick, show, judge. Returns TOOL_OK, TOOL_FINDINGS for a budget, TOOL_USAGE after a message. */
static int present(struct profile_options *o, struct profile_report *r)
{
	bool ok;
	int status, saved;

	warn_of(r);
	if (!profile_pick_apply(&o->pick, r))
		return TOOL_USAGE;
	status = profile_show(o, r) ? TOOL_OK : TOOL_USAGE;
	ok = judge_budgets(o, r);
	saved = judge_saved(o, r);
	return status ? status : saved ? saved : ok ? TOOL_OK : TOOL_FINDINGS;
}

/* ---- running ---- */

struct profile_run {
	struct profile_options *options;
	char folder[4096];
	int status;
};

static void after_program(void *user)
{
	struct profile_run *run = user;
	struct profile_report r = {0};

	run->status = read_folder(&r, run->folder) ? present(run->options, &r) : TOOL_USAGE;
	fflush(stdout);
	profile_report_fini(&r);
}

static bool make_folder(struct profile_run *run)
{
	if (file_make_temp("ptxloom-profile", run->folder, sizeof(run->folder)))
		return true;
	fprintf(stderr, "ptxloom profile: error: %s: %s\n", run->folder, strerror(errno));
	return false;
}

/* What the processes are to leave out: what comes after another choice is for us. */
static void profile_set_environment(const struct profile_run *run)
{
	static const char *const caches[] = {"all", "none", "off"};
	struct profile_options *o = run->options;
	const struct {
		const char *name, *value;
	} choices[] = {
		{"PTXLOOM_PROFILE_KERNELS", o->kernels},
		{"PTXLOOM_PROFILE_BASE", o->base},
		{"PTXLOOM_PROFILE_SKIP", o->skip},
		{"PTXLOOM_PROFILE_SKIP_ALL", o->skip_all},
		{"PTXLOOM_PROFILE_COUNT", o->count},
		{"PTXLOOM_PROFILE_INCLUDE", o->include.at},
		{"PTXLOOM_PROFILE_EXCLUDE", o->exclude.at},
	};
	struct text to = {0};
	bool is_ours = o->pick.id || o->pick.has_devices;

	text_printf(&to, "%s/%%p", run->folder);
	setenv("PTXLOOM_PROFILE", to.at ? to.at : "", 1);
	text_fini(&to);
	setenv("PTXLOOM_PROFILE_CACHES", caches[o->caches], 1);
	for (size_t i = 0; i < ARRAY_LEN(choices); i++)
		if (choices[i].value && !is_ours)
			setenv(choices[i].name, choices[i].value, 1);
		else
			unsetenv(choices[i].name);
	if (o->device)
		setenv("PTXLOOM_DEVICE", o->device, 1);
	if (o->is_traced || o->page.kind == PAGE_TRACE)
		setenv("PTXLOOM_PROFILE_TRACE", "1", 1);
	if (o->has_variables)
		setenv("PTXLOOM_PROFILE_VARIABLES", "1", 1);
	setenv("PTXLOOM_PROFILE_FROM_START",
	       o->waits              ? "0"
	       : o->ignores_switches ? "always"
				     : "1",
	       1);
	/* The processes have made the choice. */
	if (!is_ours) {
		profile_choice_fini(&o->pick.choice);
		o->pick.choice = (struct profile_choice){0};
	}
}

static int profile_run_program(struct profile_options *o, char **argv)
{
	struct profile_run run = {.options = o};
	struct tool_environment e;
	int status;

	if (o->device && !tool_check_devices(o->device))
		return TOOL_USAGE;
	if (!tool_environment(&e))
		return TOOL_CANNOT_RUN;
	tool_environment_set(&e);
	setenv("NVTX_INJECTION64_PATH", e.nvtx, 1);
	tool_environment_fini(&e);
	if (!make_folder(&run))
		return TOOL_USAGE;
	profile_set_environment(&run);
	status = tool_supervise(tool_start_program, argv, o->timeout_ms, after_program, &run);
	return status ? status : run.status;
}

static int show_import(struct profile_options *o)
{
	const char *end = strrchr(o->import_from, '.');
	struct profile_report r = {0};
	int status;

	if (end && !strcmp(end, ".ncu-rep")) {
		fprintf(stderr,
			"ptxloom profile: error: %s: reports of Nsight Compute cannot be read\n",
			o->import_from);
		return TOOL_USAGE;
	}
	status = read_report(&r, o->import_from, o->import_from, false) ? present(o, &r)
									: TOOL_USAGE;
	profile_report_fini(&r);
	return status;
}

/* The last choice counts anew for each report. */
static bool read_picked(struct profile_options *o, struct profile_report *r, const char *path)
{
	o->pick.choice.all = o->pick.choice.seen = 0;
	return read_report(r, path, path, false) && profile_pick_apply(&o->pick, r);
}

/* The page, by side, of the report. */
static void page_side(const struct profile_options *o, const struct profile_report *r,
		      struct page *side)
{
	*side = o->page;
	memset(&side->launches, 0, sizeof(side->launches));
	for (size_t i = 0; i < r->launches.len; i++)
		(void)VEC_PUSH(&side->launches, r->launches.at[i]);
}

static bool write_diff(const struct profile_options *o, const struct profile_report *a,
		       const struct profile_report *b, struct profile_diff *d, struct text *out)
{
	struct page sides[2];
	const struct page *const both[] = {&sides[0], &sides[1]};
	struct text words = {0};

	if (o->page.kind != PAGE_HTML)
		return profile_diff(a, b, d, out);
	if (o->tells_diff && !profile_diff(a, b, d, &words))
		out->failed = true;
	text_fini(&words);
	page_side(o, a, &sides[0]);
	page_side(o, b, &sides[1]);
	page_html(both, 2, out);
	VEC_FREE(&sides[0].launches);
	VEC_FREE(&sides[1].launches);
	return !out->failed;
}

static int show_diff(struct profile_options *o)
{
	struct profile_report a = {0}, b = {0};
	struct profile_diff d = {.metrics = &o->page.metrics, .limit = o->diff_limit};
	struct text t = {0};
	bool ok = read_picked(o, &a, o->diff[0]) && read_picked(o, &b, o->diff[1]) &&
		  write_diff(o, &a, &b, &d, &t);

	if (ok && o->log_file)
		ok = profile_write_file(o->log_file, &t);
	else if (ok && t.at)
		fwrite(t.at, 1, t.len, stdout);
	text_fini(&t);
	profile_report_fini(&a);
	profile_report_fini(&b);
	if (ok && o->tells_diff && d.differs)
		return TOOL_FINDINGS;
	return ok ? TOOL_OK : TOOL_USAGE;
}

int tool_main_profile(const struct tool_command *self, int argc, char **argv)
{
	struct profile_options o = {0};
	int status = profile_options_parse(self, &o, argc, argv);

	if (!status)
		status = saved_open(&o.saved, self);
	if (!status && !may_write(&o))
		status = TOOL_USAGE;
	else if (!status && o.diff[0])
		status = show_diff(&o);
	else if (!status && o.import_from)
		status = show_import(&o);
	else if (!status)
		status = profile_run_program(&o, argv + o.program);
	profile_options_fini(&o);
	return status < 0 ? TOOL_OK : status;
}
