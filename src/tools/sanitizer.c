/*
 * `ptxloom-sanitizer`: the command line of compute-sanitizer, in the words of `ptxloom check`.
 */
#include "src/base/setting.h"
#include "src/base/text.h"
#include "src/base/vec.h"
#include "src/config.h"
#include "src/tools/tools.h"

#include <stdio.h>
#include <stdlib.h>

enum effect {
	TOOL,    /* which checks */
	LEAKS,   /* full | no */
	API,     /* all | explicit | no */
	SAVE,    /* a file, in XML */
	KERNELS, /* key=value, .. of those that are checked */
	EXCLUDED,
	CALLERS, /* frames of the host */
	PASS,    /* an option of `ptxloom check` with the same values */
	XML,     /* the format */
	UNUSED,  /* memory that is never written */
	IGNORED, /* about what an emulator does not have, or does always */
	REFUSED, /* not supported */
	SHOW_HELP,
	SHOW_VERSION,
};

static const struct sanitizer_row {
	const char *name, *other; /* other: the short form, NULL: none */
	bool has_value;
	enum effect effect;
} sanitizer_rows[] = {
	{"--tool", NULL, true, TOOL},
	{"--leak-check", NULL, true, LEAKS},
	{"--report-api-errors", NULL, true, API},
	{"--save", NULL, true, SAVE},
	{"--xml", NULL, false, XML},
	{"--log-file", NULL, true, PASS},
	{"--print-limit", NULL, true, PASS},
	{"--suppressions", NULL, true, PASS},
	{"--error-exitcode", NULL, true, PASS},
	{"--help", "-h", false, SHOW_HELP},
	{"--version", "-V", false, SHOW_VERSION},
	{"--check-api-memory-access", NULL, true, IGNORED},
	{"--check-cache-control", NULL, false, IGNORED},
	{"--check-device-heap", NULL, true, IGNORED},
	{"--check-exit-code", NULL, true, IGNORED},
	{"--check-warpgroup-mma", NULL, true, IGNORED},
	{"--demangle", NULL, true, IGNORED},
	{"--destroy-on-device-error", NULL, true, IGNORED},
	{"--force-blocking-launches", NULL, false, IGNORED},
	{"--force-synchronization-limit", NULL, true, IGNORED},
	{"--injection-path", NULL, true, IGNORED},
	{"--injection-path32", NULL, true, IGNORED},
	{"--language", NULL, true, IGNORED},
	{"--max-connections", NULL, true, IGNORED},
	{"--num-callers-device", NULL, true, IGNORED},
	{"--num-callers-host", NULL, true, CALLERS},
	{"--num-cuda-barriers", NULL, true, IGNORED},
	{"--port", "-p", true, IGNORED},
	{"--print-level", NULL, true, PASS},
	{"--racecheck-detect-level", NULL, true, IGNORED},
	{"--racecheck-indirect-barrier-dependency", NULL, true, IGNORED},
	{"--racecheck-memcpy-async", NULL, true, IGNORED},
	{"--racecheck-report", NULL, true, IGNORED},
	{"--require-cuda-init", NULL, true, IGNORED},
	{"--show-backtrace", NULL, true, PASS},
	{"--target-processes", NULL, true, IGNORED},
	{"--track-stream-ordered-races", NULL, true, IGNORED},
	{"--coredump-behavior", NULL, true, REFUSED},
	{"--coredump-name", NULL, true, REFUSED},
	{"--exclude", NULL, true, EXCLUDED},
	{"--filter", NULL, true, KERNELS},
	{"--generate-coredump", NULL, true, REFUSED},
	{"--kernel-name", "-k", true, KERNELS},
	{"--kernel-name-exclude", NULL, true, EXCLUDED},
	{"--kernel-regex", NULL, true, KERNELS},
	{"--kernel-regex-exclude", NULL, true, EXCLUDED},
	{"--launch-count", "-c", true, PASS},
	{"--launch-skip", "-s", true, PASS},
	{"--mode", NULL, true, REFUSED},
	{"--nvtx", NULL, true, IGNORED},
	{"--padding", NULL, true, PASS},
	{"--prefix", NULL, true, REFUSED},
	{"--read", NULL, true, REFUSED},
	{"--strip-paths", NULL, true, REFUSED},
	{"--target-processes-filter", NULL, true, REFUSED},
	{"--track-unused-memory", NULL, false, UNUSED},
	{"--unused-memory-threshold", NULL, true, PASS},
};

static const char sanitizer_help[] =
	"usage: ptxloom-sanitizer [OPTION...] PROG [ARG...]\n"
	"\n"
	"Checks a CUDA program without a GPU, with compute-sanitizer's options, so that scripts run unchanged.\n"
	"`ptxloom check` has more: all checks in one run, other formats.\n"
	"\n"
	"  --tool TOOL               memcheck (default), racecheck, initcheck, synccheck\n"
	"  --leak-check full|no      memcheck: look for leaks, too (default no)\n"
	"  --report-api-errors all|explicit|no\n"
	"                            memcheck: report failed calls (default explicit, as all)\n"
	"  --error-exitcode N        the exit status if anything is found (default 0: that of PROG)\n"
	"  --log-file FILE           where findings are written (%p: the process)\n"
	"  --xml, --save FILE        write them in XML, to FILE; these go together\n"
	"  --print-limit N           how many are printed (default 100)\n"
	"  --print-level LEVEL       error: warnings are not printed\n"
	"  --suppressions FILE       findings that are known, in XML as --save writes it, or in lines KIND:PATTERN\n"
	"  --kernel-name KEY=NAME    check these kernels only: kne=NAME, or kns=PART of a name, with commas\n"
	"  --kernel-name-exclude KEY=NAME\n"
	"                            check all but these; --kernel-regex, --filter and --exclude are the same\n"
	"  --launch-skip N, --launch-count N\n"
	"                            check launches of these kernels from the (N+1)th on, and so many\n"
	"  --track-unused-memory     initcheck: report allocations that are never written, or in part\n"
	"  --unused-memory-threshold N\n"
	"                            less than so many percent are not reported (default 0)\n"
	"  --padding BYTES           memcheck: keep at least this distance between allocations\n"
	"  --show-backtrace yes|no|host|device, --num-callers-host N\n"
	"                            which stacks findings have\n"
	"  --version, --help\n"
	"\n"
	"Options about what an emulator does not have, or always does, are accepted: a note says so.\n"
	"Others are refused.\n";

/* What the options have said. */
struct sanitizer {
	const char *tool, *leaks, *api, *save;
	bool xml, unused;
	struct text kernels, excluded; /* patterns, as --kernel-name takes them */
	VEC(char *) pass;              /* words for `ptxloom check`; owned */
};

static const struct sanitizer_row *sanitizer_row_of(const char *word, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(sanitizer_rows); i++) {
		const struct sanitizer_row *r = &sanitizer_rows[i];

		if ((strlen(r->name) == n && !strncmp(r->name, word, n)) ||
		    (r->other && strlen(r->other) == n && !strncmp(r->other, word, n)))
			return r;
	}
	return NULL;
}

static int refuse_word(const char *fmt, const char *word)
{
	fputs("ptxloom-sanitizer: error: ", stderr);
	fprintf(stderr, fmt, word);
	fputs("\ntry `ptxloom-sanitizer --help`\n", stderr);
	return TOOL_USAGE;
}

static bool add_word(struct sanitizer *s, const char *option, const char *value)
{
	struct text t = {0};

	text_printf(&t, "%s=%s", option, value);
	return t.at && VEC_PUSH(&s->pass, t.at);
}

/* One of a few words. */
static bool is_one_of(const char *value, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(value, words[i]))
			return true;
	return false;
}

static int take_word(const char **to, const char *value, const char *const *words, size_t n)
{
	if (!is_one_of(value, words, n))
		return refuse_word("'%s' is not a value of this option", value);
	*to = value;
	return TOOL_OK;
}

static int take_tool(struct sanitizer *s, const char *value)
{
	static const char *const tools[] = {"memcheck", "racecheck", "initcheck", "synccheck"};

	if (!is_one_of(value, tools, ARRAY_LEN(tools)))
		return refuse_word("there is no tool '%s'", value);
	s->tool = value;
	return TOOL_OK;
}

/* Characters that mean something in patterns are meant as they are. */
static void add_literal(const char *value, size_t n, struct text *t)
{
	for (size_t i = 0; i < n; i++)
		text_printf(t, strchr("*?[]\\", value[i]) ? "\\%c" : "%c", value[i]);
}

/*
 * kne=NAME or kernel_name=NAME, a whole name; kns=PART or kernel_substring=PART: as the linker
 * knows it, or demangled. Several, separated by commas: any of them.
 */
static int take_kernels(struct text *to, const char *value)
{
	static const struct {
		const char *key;
		bool is_part;
	} keys[] = {{"kne=", false},
		    {"kernel_name=", false},
		    {"kns=", true},
		    {"kernel_substring=", true}};

	while (*value) {
		size_t k = 0, n;

		while (k < ARRAY_LEN(keys) && strncmp(value, keys[k].key, strlen(keys[k].key)) != 0)
			k++;
		if (k == ARRAY_LEN(keys))
			return refuse_word("'%s' is not of the form kne=NAME or kns=PART", value);
		value += strlen(keys[k].key);
		n = strcspn(value, ",");
		text_puts(to, to->len ? "|" : "");
		text_puts(to, keys[k].is_part ? "*" : "");
		add_literal(value, n, to);
		text_puts(to, keys[k].is_part ? "*" : "");
		value += n + (value[n] == ',');
	}
	return TOOL_OK;
}

static int take_known(struct sanitizer *s, const struct sanitizer_row *r, const char *value)
{
	static const char *const leaks[] = {"full", "no"};
	static const char *const api[] = {"all", "explicit", "no"};

	switch (r->effect) {
	case TOOL:
		return take_tool(s, value);
	case LEAKS:
		return take_word(&s->leaks, value, leaks, ARRAY_LEN(leaks));
	case API:
		return take_word(&s->api, value, api, ARRAY_LEN(api));
	case SAVE:
		s->save = value;
		return TOOL_OK;
	case XML:
		s->xml = true;
		return TOOL_OK;
	case UNUSED:
		s->unused = true;
		return TOOL_OK;
	case KERNELS:
		return take_kernels(&s->kernels, value);
	case EXCLUDED:
		return take_kernels(&s->excluded, value);
	case CALLERS:
		return add_word(s, "--num-callers", value) ? TOOL_OK : TOOL_CANNOT_RUN;
	case PASS:
		return add_word(s, r->name, value) ? TOOL_OK : TOOL_CANNOT_RUN;
	case IGNORED:
		fprintf(stderr, "ptxloom-sanitizer: note: %s has no meaning here\n", r->name);
		return TOOL_OK;
	case REFUSED:
		return refuse_word("%s is not supported", r->name);
	case SHOW_HELP:
	case SHOW_VERSION:
		break;
	}
	return TOOL_OK;
}

/* The word after an option, or behind its equals sign. *i moves to its last word. */
static int take_option(struct sanitizer *s, int argc, char **argv, int *i,
		       const struct sanitizer_row **row)
{
	const char *word = argv[*i], *equals = strchr(word, '='), *value = NULL;
	const struct sanitizer_row *r =
		sanitizer_row_of(word, equals ? (size_t)(equals - word) : strlen(word));

	*row = r;
	if (!r)
		return refuse_word("unknown option '%s'", word);
	if (r->has_value)
		value = equals ? equals + 1 : *i + 1 < argc ? argv[++*i] : NULL;
	else if (equals && strcmp(equals, "=no") && strcmp(equals, "=yes"))
		return refuse_word("'%s': the value is yes or no", word);
	else if (equals && !strcmp(equals, "=no"))
		return TOOL_OK; /* as without it */
	if (r->has_value && !value)
		return refuse_word("there is no value for '%s'", word);
	return take_known(s, r, value);
}

/* Unless it is no, and there is such a check. */
static void add_check(const char *name, const char *value, struct text *t)
{
	if (strcmp(value, "no") != 0 && strstr(setting_words(SETTING_CHECK), name))
		text_printf(t, ",%s", name);
}

/* The checks of a tool, as `--check=` takes them. */
static void add_checks(const struct sanitizer *s, struct text *t)
{
	if (!strcmp(s->tool, "racecheck")) {
		text_puts(t, "race");
	} else if (!strcmp(s->tool, "initcheck")) {
		text_puts(t, "init");
	} else if (!strcmp(s->tool, "synccheck")) {
		text_puts(t, "sync");
	} else {
		text_puts(t, "mem");
		add_check("leak", s->leaks, t);
		add_check("api", s->api, t);
	}
}

static bool add_words(struct sanitizer *s)
{
	struct text checks = {0};
	bool ok;

	add_checks(s, &checks);
	ok = checks.at && add_word(s, "--check", checks.at);
	text_fini(&checks);
	if (s->kernels.at)
		ok = ok && add_word(s, "--kernel-name", s->kernels.at);
	if (s->excluded.at)
		ok = ok && add_word(s, "--kernel-name-exclude", s->excluded.at);
	if (s->unused)
		ok = ok && add_word(s, "--track-unused-memory", "1");
	if (s->save)
		ok = ok && add_word(s, "--log-file", s->save) && add_word(s, "--format", "xml");
	return ok;
}

static int start_check(struct sanitizer *s, int argc, char **argv)
{
	static const struct tool_command self = {"check", "", "", tool_help_check, tool_main_check};
	VEC(char *) words = {0};
	int status = TOOL_CANNOT_RUN;
	bool ok = VEC_PUSH(&words, argv[-1]);

	for (size_t i = 0; ok && i < s->pass.len; i++)
		ok = VEC_PUSH(&words, s->pass.at[i]);
	ok = ok && VEC_PUSH(&words, (char *)"--");
	for (int i = 0; ok && i <= argc; i++)
		ok = VEC_PUSH(&words, argv[i]); /* the NULL behind them, too */
	if (ok)
		status = tool_main_check(&self, (int)words.len - 1, words.at);
	VEC_FREE(&words);
	return status;
}

int tool_main_sanitizer(int argc, char **argv)
{
	struct sanitizer s = {.tool = "memcheck", .leaks = "no", .api = "explicit"};
	const struct sanitizer_row *r;
	int status = TOOL_OK, i;

	/* Until the program is asked for another status, it is the program's own. */
	setenv("PTXLOOM_CHECK_STATUS", "0", 1);
	for (i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
		status = take_option(&s, argc, argv, &i, &r);
		if (status)
			break;
		if (r->effect == SHOW_HELP)
			return fputs(sanitizer_help, stdout), TOOL_OK;
		if (r->effect == SHOW_VERSION)
			return puts("ptxloom-sanitizer " PACKAGE_VERSION), TOOL_OK;
	}
	i += i < argc && !strcmp(argv[i], "--");
	if (!status && i >= argc)
		status = refuse_word("%s", "no program given");
	else if (!status && s.unused && strcmp(s.tool, "initcheck") != 0)
		status = refuse_word("%s", "--track-unused-memory needs --tool initcheck");
	else if (!status && s.xml != (s.save != NULL))
		status = refuse_word("%s", "--xml and --save go together");
	if (!status)
		status = add_words(&s) ? start_check(&s, argc - i, argv + i) : TOOL_CANNOT_RUN;
	for (size_t k = 0; k < s.pass.len; k++)
		free(s.pass.at[k]);
	VEC_FREE(&s.pass);
	text_fini(&s.kernels);
	text_fini(&s.excluded);
	return status;
}
