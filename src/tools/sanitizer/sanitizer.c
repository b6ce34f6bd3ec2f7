/*
 * `ptxloom-sanitizer`: the command line of compute-sanitizer, in the words of `ptxloom check`.
 */
#include "src/base/setting.h"
#include "src/base/text.h"
#include "src/base/vec.h"
#include "src/config.h"
#include "src/tools/tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum effect {
	TOOL,    /* which checks */
	LEAKS,   /* full | no */
	API,     /* all | explicit | no */
	SAVE,    /* a file, in XML */
	KERNELS, /* key=value, .. of those that are checked */
	EXCLUDED,
	CALLERS,   /* frames of the host */
	LIMIT,     /* of what is printed, 0: none */
	LEVEL,     /* of what is printed, auto: warnings, too */
	PREFIX,    /* of lines */
	STRIP,     /* folders of names of files */
	AFTER,     /* a fault: the device is lost, or the kernel alone */
	PROCESSES, /* that are checked */
	FILTER,    /* of those, by names */
	PASS,      /* an option of `ptxloom check` with the same values */
	XML,       /* the format */
	UNUSED,    /* memory that is never written */
	DEFAULTS,  /* the first value is what happens always */
	NOTED,     /* about what an emulator does not have, or does always */
	NVTX,      /* DEFAULTS, the first two */
	MODE,      /* DEFAULTS, but for attach */
	REFUSED,
	SHOW_HELP,
	SHOW_VERSION,
};

static const struct sanitizer_row {
	const char *name, *other; /* other: the short form, NULL: none */
	const char *values;
	enum effect effect;
	const char *why;
} sanitizer_rows[] = {
#define OPTION(name, other, values, effect, why) {name, other, values, effect, why},
#include "src/tools/sanitizer/sanitizer.def"
#undef OPTION
};

static const char sanitizer_help[] =
	"usage: ptxloom-sanitizer [OPTION...] PROG [ARG...]\n"
	"\n"
	"Checks a CUDA program without a GPU, with compute-sanitizer's options, so that scripts run unchanged.\n"
	"`ptxloom check` has more: all checks in one run, other formats.\n"
	"\n"
	"  --tool TOOL               memcheck (default), racecheck, initcheck, synccheck\n"
	"  --leak-check full|no      memcheck: look for leaks, too (default no)\n"
	"  --report-api-errors extended|all|explicit|no\n"
	"                            memcheck: report failed calls (default extended, as all)\n"
	"  --error-exitcode N        the exit status if anything is found (default 0: that of PROG)\n"
	"  --log-file FILE           where findings are written (%p: the process)\n"
	"  --xml, --save FILE        write them in XML, to FILE; these go together\n"
	"  --print-limit N           how many are printed (default 100; 0: all)\n"
	"  --print-level LEVEL       error: warnings are not printed\n"
	"  --prefix TEXT             what lines begin with (default =========)\n"
	"  --strip-paths yes|no      names of files without folders (default yes)\n"
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
	"Options about what an emulator does not have, or always does, are accepted: a note says why.\n"
	"docs/sanitizer.md has a table of all of them. Others are refused.\n";

/* What the options have said. */
struct sanitizer {
	const char *tool, *leaks, *api, *save;
	const char *processes, *filter; /* NULL: not given */
	bool xml, unused;
	bool is_noted[ARRAY_LEN(sanitizer_rows)];
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

/* A word of a list that commas separate, or a number. */
static bool is_value(const char *values, const char *value)
{
	size_t n = strlen(value), k;
	char *end;

	if (!strcmp(values, "*"))
		return true;
	if (!strcmp(values, "#")) {
		errno = 0;
		strtoull(value, &end, 10);
		return *value >= '0' && *value <= '9' && !*end && !errno;
	}
	for (; *values; values += k + (values[k] == ',')) {
		k = strcspn(values, ",");
		if (k == n && !strncmp(values, value, n))
			return true;
	}
	return false;
}

static bool is_first(const char *values, const char *value)
{
	size_t n = strcspn(values, ",");

	return strlen(value) == n && !strncmp(values, value, n);
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

static int take_noted(struct sanitizer *s, const struct sanitizer_row *r)
{
	bool *noted = &s->is_noted[r - sanitizer_rows];

	if (!*noted)
		fprintf(stderr, "ptxloom-sanitizer: note: %s has no effect: %s\n", r->name, r->why);
	*noted = true;
	return TOOL_OK;
}

static int take_refused(const struct sanitizer_row *r)
{
	fprintf(stderr, "ptxloom-sanitizer: error: %s is not supported: %s\n", r->name, r->why);
	return TOOL_USAGE;
}

static int take_pass(struct sanitizer *s, const char *option, const char *value)
{
	return add_word(s, option, value) ? TOOL_OK : TOOL_CANNOT_RUN;
}

static int take_known(struct sanitizer *s, const struct sanitizer_row *r, const char *value)
{
	switch (r->effect) {
	case TOOL:
		return take_tool(s, value);
	case LEAKS:
		s->leaks = value;
		return TOOL_OK;
	case API:
		s->api = value;
		return TOOL_OK;
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
		return take_pass(s, "--num-callers", value);
	case LIMIT:
		return take_pass(s, r->name, strtoull(value, NULL, 10) ? value : "4294967295");
	case LEVEL:
		return take_pass(s, r->name, is_first(r->values, value) ? "warn" : value);
	case PREFIX:
		return setenv("PTXLOOM_CHECK_PREFIX", value, 1) ? TOOL_CANNOT_RUN : TOOL_OK;
	case STRIP:
		return setenv("PTXLOOM_CHECK_STRIP", *value == 'y' ? "1" : "0", 1) ? TOOL_CANNOT_RUN
										   : TOOL_OK;
	case AFTER:
		return setenv("PTXLOOM_AFTER_FAULT", *value == 'k' ? "continue" : "stick", 1)
			       ? TOOL_CANNOT_RUN
			       : TOOL_OK;
	case PROCESSES:
		s->processes = value;
		return TOOL_OK;
	case FILTER:
		s->filter = value;
		return TOOL_OK;
	case PASS:
		return take_pass(s, r->name, value);
	case DEFAULTS:
		return is_first(r->values, value) ? TOOL_OK : take_noted(s, r);
	case NVTX:
		return *value == 'y' || *value == 't' ? TOOL_OK : take_noted(s, r);
	case NOTED:
		return take_noted(s, r);
	case MODE:
		return !strcmp(value, "attach") ? take_refused(r) : TOOL_OK;
	case REFUSED:
		return take_refused(r);
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
	if (*r->values)
		value = equals ? equals + 1 : *i + 1 < argc ? argv[++*i] : NULL;
	else if (equals && strcmp(equals, "=no") && strcmp(equals, "=yes"))
		return refuse_word("'%s': the value is yes or no", word);
	else if (equals && !strcmp(equals, "=no"))
		return TOOL_OK; /* as without it */
	if (*r->values && !value)
		return refuse_word("there is no value for '%s'", word);
	if (value && !is_value(r->values, value)) {
		fprintf(stderr, "ptxloom-sanitizer: error: '%s' is not a value of %s (%s)\n", value,
			r->name, strcmp(r->values, "#") != 0 ? r->values : "a number");
		return TOOL_USAGE;
	}
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
	const char *processes = s->filter ? s->filter : s->processes;
	bool ok;

	if (processes && setenv("PTXLOOM_CHECK_PROCESSES", processes, 1))
		return false;
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
	struct sanitizer s = {.tool = "memcheck", .leaks = "no", .api = "extended"};
	const struct sanitizer_row *r;
	int status = TOOL_OK, i;

	/* Until the program is asked for another status, it is the program's own. */
	setenv("PTXLOOM_CHECK_STATUS", "0", 1);
	setenv("PTXLOOM_CHECK_STRIP", "1", 1);
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
	else if (!status && s.filter && s.processes && !strcmp(s.processes, "application-only"))
		status = refuse_word(
			"%s",
			"--target-processes application-only and a filter do not go together");
	if (!status)
		status = add_words(&s) ? start_check(&s, argc - i, argv + i) : TOOL_CANNOT_RUN;
	for (size_t k = 0; k < s.pass.len; k++)
		free(s.pass.at[k]);
	VEC_FREE(&s.pass);
	text_fini(&s.kernels);
	text_fini(&s.excluded);
	return status;
}
