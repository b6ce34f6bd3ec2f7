/*
 * ptxloom report: merges what processes wrote to PTXLOOM_REPORT.
 */
#include "src/base/file.h"
#include "src/base/setting.h"
#include "src/tools/report/report.h"
#include "src/tools/tools.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

const char tool_help_report[] =
	"FILEs are what `ptxloom run --report FILE`, or programs with PTXLOOM_REPORT=FILE, have written, on one host\n"
	"or several. Findings of the same line are one. The last line says what was run and looked for.\n"
	"\n"
	"  --sarif            SARIF 2.1.0, for GitHub's code scanning and editors\n"
	"  --github           annotations of lines, as commands of GitHub's workflows\n"
	"  --markdown         a table, for $GITHUB_STEP_SUMMARY\n"
	"  --codequality      the report that GitLab shows in merge requests\n"
	"  --json             everything\n"
	"  --coverage PROFILE the coverage of device code, too, of a folder or file as of `ptxloom coverage`; several\n"
	"                     may be given (text, --markdown, --json); --root DIR as there\n"
	"  -o, --output FILE  write there instead of standard output\n"
	"  --fail             exit with 1 if there are errors, metrics that are not met, or if no kernel has run\n"
	"  --require CHECKS   exit with 1 if one of these checks (mem,race ..) was not on in any process\n"
	"  --help             this text\n"
	"\n"
	"Exit status: 0; 1 as --fail and --require say, or if lines are damaged, which are left out; 2 for wrong\n"
	"arguments or files that cannot be read or written.\n";

typedef void report_writer(const struct report *r, struct text *out);

static const struct report_format {
	const char *name;
	report_writer *write;
} formats[] = {
	{"text", report_text},
	{"sarif", report_sarif},
	{"github", report_github},
	{"markdown", report_markdown},
	{"codequality", report_codequality},
	{"json", report_json},
};

struct report_choice {
	const struct report_format *format;
	const char *to, *require;
	VEC(const char *) coverage;
	struct cover_choice cover;
	bool fail;
};

static const struct option report_options[] = {
	{"text", no_argument, NULL, 1},
	{"sarif", no_argument, NULL, 2},
	{"github", no_argument, NULL, 3},
	{"markdown", no_argument, NULL, 4},
	{"codequality", no_argument, NULL, 5},
	{"json", no_argument, NULL, 6},
	{"output", required_argument, NULL, 'o'},
	{"fail", no_argument, NULL, 'f'},
	{"require", required_argument, NULL, 'r'},
	{"coverage", required_argument, NULL, 'c'},
	{"root", required_argument, NULL, 'R'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

/* False: stop with *status. */
static bool read_report_options(const struct tool_command *self, struct report_choice *o, int argc,
				char **argv, int *status)
{
	int c;

	opterr = 0;
	*status = TOOL_USAGE;
	while ((c = getopt_long(argc, argv, ":o:h", report_options, NULL)) != -1) {
		if (c >= 1 && c <= (int)ARRAY_LEN(formats)) {
			if (o->format && o->format != &formats[c - 1])
				return tool_usage(self, "--%s and --%s: one format at a time",
						  o->format->name, formats[c - 1].name) < 0;
			o->format = &formats[c - 1];
		} else if (c == 'o') {
			o->to = optarg;
		} else if (c == 'f') {
			o->fail = true;
		} else if (c == 'r') {
			o->require = optarg;
		} else if (c == 'c') {
			if (!VEC_PUSH(&o->coverage, optarg))
				return tool_usage(self, "no memory left") < 0;
		} else if (c == 'R') {
			o->cover.root = optarg;
		} else if (c == 'h') {
			*status = tool_help(self);
			return false;
		} else {
			return tool_usage(self,
					  c == ':' ? "there is no value for '%s'"
						   : "unknown option '%s'",
					  argv[optind - 1]) < 0;
		}
	}
	if (o->coverage.len && o->format && o->format->write != report_markdown &&
	    o->format->write != report_json && o->format->write != report_text)
		return tool_usage(self, "--coverage goes with the text, --markdown and --json") < 0;
	if (o->cover.root && !o->coverage.len)
		return tool_usage(self, "--root goes with --coverage") < 0;
	if (optind == argc && !o->coverage.len)
		return tool_usage(self, "no FILE is given") < 0;
	return true;
}

static int put_merged(const struct report *r, const struct report_choice *o)
{
	struct text t = {0};
	bool ok;

	(o->format ? o->format : &formats[0])->write(r, &t);
	ok = !t.failed && (!o->to || file_put(o->to, t.at, t.len));
	if (!ok)
		fprintf(stderr, "ptxloom report: error: %s: %s\n",
			o->to ? o->to : "standard output",
			t.failed ? "no memory left" : strerror(errno));
	else if (!o->to && t.len) /* The caller of every command checks it. */
		fwrite(t.at, 1, t.len, stdout);
	text_fini(&t);
	return ok ? TOOL_OK : TOOL_USAGE;
}

static bool was_on(const struct report *r, const char *check, size_t len)
{
	for (size_t i = 0; i < r->checks.len; i++)
		if (strlen(r->checks.at[i]) == len && !memcmp(r->checks.at[i], check, len))
			return true;
	return false;
}

/* What is missed, on standard error. */
static bool is_met(const struct report *r, const struct report_choice *o)
{
	bool ok = true;

	for (const char *w = o->require ? o->require : ""; *w;) {
		size_t n = strcspn(w, ",");

		if (n && !was_on(r, w, n)) {
			fprintf(stderr, "ptxloom report: the check %.*s was not on\n", (int)n, w);
			ok = false;
		}
		w += n + (w[n] == ',');
	}
	if (o->fail && !r->launches)
		fputs("ptxloom report: no kernel has run\n", stderr);
	return ok && !(o->fail && (r->errors || r->broken || !r->launches)) && !r->damaged;
}

/* Is each a check that there is? */
static bool are_checks(const struct tool_command *self, const char *checks)
{
	struct text why = {0};
	u64 ignored;
	bool ok = !checks || setting_parse(SETTING_CHECK, "--require", checks, &ignored, &why);

	if (!ok)
		tool_usage(self, "%s", why.at ? why.at : "no memory left");
	text_fini(&why);
	return ok;
}

int tool_main_report(const struct tool_command *self, int argc, char **argv)
{
	struct report_choice o = {0};
	struct report r = {0};
	struct text why = {0};
	int status = TOOL_OK;

	if (!read_report_options(self, &o, argc, argv, &status)) {
		VEC_FREE(&o.coverage);
		return status;
	}
	if (!are_checks(self, o.require)) {
		VEC_FREE(&o.coverage);
		return TOOL_USAGE;
	}
	status = TOOL_OK;
	for (size_t i = 0; i < o.coverage.len && status == TOOL_OK; i++)
		status = cover_input_read(&r.covered, o.coverage.at[i]) ? TOOL_OK : TOOL_USAGE;
	if (status == TOOL_OK && !report_cover(&r, &o.cover))
		status = TOOL_USAGE;
	for (int i = optind; i < argc && !why.len; i++)
		report_read(&r, argv[i], &why);
	if (why.len) {
		fprintf(stderr, "ptxloom report: error: %s\n", why.at);
		status = TOOL_USAGE;
	} else if (status == TOOL_OK) {
		report_merge(&r);
		status = put_merged(&r, &o);
		if (status == TOOL_OK && !is_met(&r, &o))
			status = TOOL_FINDINGS;
	}
	text_fini(&why);
	VEC_FREE(&o.coverage);
	report_fini(&r);
	return status;
}
