/*
 * From options to the variables that the libraries read.
 */
#include "src/tools/check_options.h"
#include "src/base/setting.h"
#include "src/check/finding.h"

#include <stdio.h>
#include <stdlib.h>

static const struct check_row {
	const char *option, *variable;
	enum setting setting;
	const char *alone; /* the value where there is none; NULL: one is needed */
} check_rows[] = {
	{"--check", "PTXLOOM_CHECK", SETTING_CHECK, NULL},
	{"--format", "PTXLOOM_CHECK_FORMAT", SETTING_CHECK_FORMAT, NULL},
	{"--log-file", "PTXLOOM_CHECK_FILE", SETTING_CHECK_FILE, NULL},
	{"--leak-check", "PTXLOOM_CHECK_LEAK", SETTING_CHECK_LEAK, NULL},
	{"--volatile", "PTXLOOM_CHECK_VOLATILE", SETTING_CHECK_VOLATILE, NULL},
	{"--print-limit", "PTXLOOM_CHECK_LIMIT", SETTING_CHECK_LIMIT, NULL},
	{"--suppressions", "PTXLOOM_CHECK_SUPPRESSIONS", SETTING_CHECK_SUPPRESSIONS, NULL},
	{"--warnings-as-errors", "PTXLOOM_CHECK_WARNINGS", SETTING_CHECK_WARNINGS, "1"},
	{"--show-backtrace", "PTXLOOM_CHECK_BACKTRACE", SETTING_CHECK_BACKTRACE, NULL},
	{"--num-callers", "PTXLOOM_CHECK_CALLERS", SETTING_CHECK_CALLERS, NULL},
	{"--kernel-name", "PTXLOOM_CHECK_KERNELS", SETTING_CHECK_KERNELS, NULL},
	{"--kernel-name-exclude", "PTXLOOM_CHECK_EXCLUDE", SETTING_CHECK_EXCLUDE, NULL},
	{"--launch-skip", "PTXLOOM_CHECK_SKIP", SETTING_CHECK_SKIP, NULL},
	{"--launch-count", "PTXLOOM_CHECK_COUNT", SETTING_CHECK_COUNT, NULL},
	{"--print-level", "PTXLOOM_CHECK_LEVEL", SETTING_CHECK_LEVEL, NULL},
	{"--padding", "PTXLOOM_CHECK_PADDING", SETTING_CHECK_PADDING, NULL},
	{"--track-unused-memory", "PTXLOOM_CHECK_UNUSED", SETTING_CHECK_UNUSED, "1"},
	{"--unused-memory-threshold", "PTXLOOM_CHECK_UNUSED_MIN", SETTING_CHECK_UNUSED_MIN, NULL},
	{"--error-exitcode", "PTXLOOM_CHECK_STATUS", SETTING_CHECK_STATUS, NULL},
};

static const struct check_row *check_row_of(const char *word)
{
	for (size_t k = 0; k < ARRAY_LEN(check_rows); k++) {
		size_t n = strlen(check_rows[k].option);

		if (!strncmp(word, check_rows[k].option, n) && (!word[n] || word[n] == '='))
			return &check_rows[k];
	}
	return NULL;
}

static int set_option(const struct tool_command *self, const struct check_row *r, const char *value)
{
	struct text why = {0};
	u64 ignored;
	int status = TOOL_OK;

	if (setting_parse(r->setting, r->option, value, &ignored, &why))
		setenv(r->variable, value, 1);
	else
		status = tool_usage(self, "%s", why.at ? why.at : "no memory left");
	text_fini(&why);
	return status;
}

bool check_option(const struct tool_command *self, int argc, char **argv, int *i, int *status)
{
	const struct check_row *r = check_row_of(argv[*i]);
	const char *value = r ? argv[*i] + strlen(r->option) : NULL;

	if (!r)
		return false;
	if (*value)
		value++;
	else if (r->alone)
		value = r->alone;
	else
		value = *i + 1 < argc ? argv[++*i] : NULL;
	*status = value && *value ? set_option(self, r, value)
				  : tool_usage(self, "there is no value for '%s'", r->option);
	return true;
}

int check_options_take(const struct tool_command *self, int *argc, char **argv)
{
	int kept = 1, status = TOOL_OK;

	for (int i = 1; i < *argc && !status; i++)
		if (!check_option(self, *argc, argv, &i, &status))
			argv[kept++] = argv[i];
	*argc = kept;
	argv[kept] = NULL;
	return status;
}

int check_options_begin(void)
{
	struct text why = {0};
	bool ok = findings_prepare(&why);

	if (!ok)
		fprintf(stderr, "ptxloom: error: %s\n", why.at ? why.at : "no memory left");
	text_fini(&why);
	return ok ? TOOL_OK : TOOL_USAGE;
}
