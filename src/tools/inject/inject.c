/*
 * `ptxloom inject`: does a program survive what can go wrong? Each call of a kind fails once.
 */
#include "src/base/file.h"
#include "src/base/setting.h"
#include "src/inject/rules.h"
#include "src/tools/trial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

const char tool_help_inject[] =
	"Runs PROG again and again, each time with one thing going wrong, and says what it does not survive.\n"
	"\n"
	"  --sweep GLOB          let the first call of these functions of CUDA fail, then the second .. until there\n"
	"                        are no more: 'cudaMalloc*'. The program may then fail, but not die of a\n"
	"                        signal, hang, or print something wrong and exit with 0\n"
	"  --error N|NAME        what the call answers: 2 (out of memory) for those that make something, else 999\n"
	"  --golden FILE         what PROG has to print; without it all output is right\n"
	"  --timeout TIME        a run that takes longer hangs; ten times the first run and 5s\n"
	"  -d, --device DEVICE   as of `ptxloom run`\n"
	"  --help                this text\n"
	"\n"
	"Exit status: 0 if PROG survives everything, 1 if it does not, 2 for wrong arguments, 3 if it fails\n"
	"by itself.\n";

/* PROG is not right without injection. */
#define TOOL_UNFIT 3
#define SLOWER 10u
#define SLACK_MS 5000u

struct inject_options {
	const char *sweep, *error, *golden, *timeout, *device;
	u64 limit_ms;
};

/* ---- arguments ---- */

static const struct {
	const char *name;
	size_t at;
} inject_texts[] = {
	{"--sweep", offsetof(struct inject_options, sweep)},
	{"--error", offsetof(struct inject_options, error)},
	{"--golden", offsetof(struct inject_options, golden)},
	{"--timeout", offsetof(struct inject_options, timeout)},
};

/* The value of an option, NAME=VALUE or NAME VALUE; NULL: it is another. */
static const char *inject_value(int argc, char **argv, int *i, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(argv[*i], name, n) != 0)
		return NULL;
	if (argv[*i][n] == '=')
		return argv[*i] + n + 1;
	return !argv[*i][n] && *i + 1 < argc ? argv[++*i] : NULL;
}

static int read_inject_option(const struct tool_command *self, struct inject_options *o, int argc,
			      char **argv, int *i)
{
	const char *value;

	for (size_t k = 0; k < ARRAY_LEN(inject_texts); k++)
		if ((value = inject_value(argc, argv, i, inject_texts[k].name))) {
			*(const char **)(void *)((char *)o + inject_texts[k].at) = value;
			return TOOL_OK;
		}
	if ((value = tool_device_option(argc, argv, i))) {
		o->device = value;
		return TOOL_OK;
	}
	return tool_usage(self, "unknown option '%s', or its value is missing", argv[*i]);
}

/* Are these options of the kind of runs that is asked for? */
static int check_inject_options(const struct tool_command *self, struct inject_options *o)
{
	struct text why = {0};
	int status = TOOL_OK;

	if (!o->sweep)
		return tool_usage(self, "which calls are to fail? --sweep GLOB");
	if (o->device && !tool_check_devices(o->device))
		return TOOL_USAGE;
	if (o->timeout &&
	    !setting_parse(SETTING_TIMEOUT, "--timeout", o->timeout, &o->limit_ms, &why))
		status = tool_usage(self, "%s", why.at ? why.at : "no memory left");
	text_fini(&why);
	return status;
}

/* Is the rule one? The message is about the option that a part of it is from. */
static bool is_rule(const char *rule)
{
	struct inject_rules rules;
	struct diag d;
	bool ok;

	diag_init(&d, diag_print, stderr);
	ok = inject_rules_read(&rules, rule, "ptxloom inject", &d);
	if (ok)
		inject_rules_fini(&rules);
	diag_fini(&d);
	return ok;
}

/* ---- runs ---- */

struct campaign {
	const struct inject_options *o;
	char **argv;
	struct text golden; /* what is to be printed */
	bool has_golden;
	u64 limit_ms;
};

/* One run with a rule, NULL: without. */
static bool inject_run(const struct campaign *c, const char *rule, struct trial *t)
{
	struct text rules = {0}, device = {0};
	const char *variables[3] = {NULL};
	bool ok;

	text_printf(&rules, "PTXLOOM_INJECT=%s", rule ? rule : "");
	variables[0] = rules.at;
	if (c->o->device) {
		text_printf(&device, "PTXLOOM_DEVICE=%s", c->o->device);
		variables[1] = device.at;
	}
	*t = (struct trial){0};
	ok = !rules.failed && !device.failed && trial_run(t, c->argv, variables, c->limit_ms);
	text_fini(&rules);
	text_fini(&device);
	return ok;
}

static bool is_golden(const struct campaign *c, const struct trial *t)
{
	return c->golden.len == t->out.len &&
	       (!t->out.len || !memcmp(c->golden.at, t->out.at, t->out.len));
}

static bool read_golden(struct campaign *c)
{
	struct file f;

	c->has_golden = c->o->golden != NULL;
	if (!c->has_golden)
		return true;
	if (!file_open(&f, c->o->golden)) {
		fprintf(stderr, "ptxloom inject: %s: %s\n", c->o->golden, strerror(errno));
		return false;
	}
	text_add(&c->golden, (const char *)f.data, f.size);
	file_close(&f);
	return true;
}

/* The run without rules: it has to be right. Returns TOOL_OK, or the status to end with. */
static int run_first(struct campaign *c)
{
	struct text how = {0};
	struct trial t;
	int status = TOOL_OK;

	c->limit_ms = c->o->limit_ms;
	if (!inject_run(c, NULL, &t)) {
		trial_fini(&t);
		return TOOL_CANNOT_RUN;
	}
	trial_say(&t, &how);
	if (t.timed_out || t.signal || t.status) {
		fputs(t.err.at ? t.err.at : "", stderr);
		printf("inject: %s fails by itself: %s; nothing was injected\n", c->argv[0],
		       how.at);
		status = TOOL_UNFIT;
	} else if (c->has_golden && !is_golden(c, &t)) {
		printf("inject: %s prints by itself something else than %s; nothing was injected\n",
		       c->argv[0], c->o->golden);
		status = TOOL_UNFIT;
	}
	if (!c->limit_ms)
		c->limit_ms = SLOWER * t.ms + SLACK_MS;
	text_fini(&how);
	trial_fini(&t);
	return status;
}

/* The line that an act has left on standard error; NULL: there was none. Ends at its newline. */
static const char *act_line(const struct trial *t)
{
	static const char mark[] = "ptxloom: inject: ";
	const char *at = t->err.at;

	while (at && strncmp(at, mark, sizeof(mark) - 1) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return at;
}

/* ---- each call fails once ---- */

static void say_command(const struct campaign *c, const char *rule)
{
	printf("  again: ptxloom run%s%s --inject '%s' --", c->o->device ? " -d " : "",
	       c->o->device ? c->o->device : "", rule);
	for (char **a = c->argv; *a; a++)
		printf(" %s", *a);
	printf("\n");
}

/* "cudaMalloc" of the line about an act, which ends in "NAME, call ..". */
static void say_call_of(const char *line, const char *rule)
{
	const char *name = strstr(line, rule);
	size_t n;

	name = name ? name + strlen(rule) : line;
	name += strspn(name, ": ");
	n = strcspn(name, ",\n");
	printf("%.*s", (int)n, name);
}

/* Says what is wrong. True: the program has survived. */
static bool judge_sweep(const struct campaign *c, const struct trial *t, const char *rule, u64 nth)
{
	bool wrong = c->has_golden && !t->timed_out && !t->signal && !t->status && !is_golden(c, t);
	struct text how = {0};

	if (!t->timed_out && !t->signal && !wrong)
		return true;
	trial_say(t, &how);
	printf("inject: ");
	say_call_of(act_line(t), rule);
	printf(" nth=%llu: %s%s\n", (unsigned long long)nth, how.at,
	       wrong ? ", but the output is wrong" : "");
	say_command(c, rule);
	text_fini(&how);
	return false;
}

static const char *default_error(const char *glob)
{
	return strstr(glob, "lloc") || strstr(glob, "Create") ? "2" : "999";
}

/* The n-th call fails. Returns TOOL_OK, or the status to end with. */
static int sweep_once(struct campaign *c, u64 nth, bool *acted, u64 *survived)
{
	const struct inject_options *o = c->o;
	struct text rule = {0};
	struct trial t = {0};
	int status = TOOL_OK;

	text_printf(&rule, "call=%s nth=%llu -> error %s", o->sweep, (unsigned long long)nth,
		    o->error ? o->error : default_error(o->sweep));
	if (nth == 1)
		status = rule.at && is_rule(rule.at) ? run_first(c) : TOOL_USAGE;
	if (!status && !inject_run(c, rule.at, &t))
		status = TOOL_CANNOT_RUN;
	*acted = !status && act_line(&t);
	if (*acted)
		*survived += judge_sweep(c, &t, rule.at, nth);
	trial_fini(&t);
	text_fini(&rule);
	return status;
}

static int sweep_calls(const struct tool_command *self, struct campaign *c)
{
	u64 nth = 0, survived = 0;
	bool acted;
	int status;

	do {
		status = sweep_once(c, ++nth, &acted, &survived);
		if (status)
			return status;
	} while (acted);
	if (nth == 1)
		return tool_usage(self, "%s makes no call of '%s'", c->argv[0], c->o->sweep);
	printf("inject: %s: %llu of %llu survived\n", c->o->sweep, (unsigned long long)survived,
	       (unsigned long long)nth - 1);
	return survived == nth - 1 ? TOOL_OK : TOOL_FINDINGS;
}

int tool_main_inject(const struct tool_command *self, int argc, char **argv)
{
	struct inject_options o = {0};
	struct campaign c = {.o = &o};
	int i = 1, status = TOOL_OK;

	for (; i < argc && argv[i][0] == '-' && !status; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return tool_help(self);
		status = read_inject_option(self, &o, argc, argv, &i);
	}
	if (!status && i == argc)
		status = tool_usage(self, "no program given");
	status = status ? status : check_inject_options(self, &o);
	if (status)
		return status;
	c.argv = argv + i;
	status = read_golden(&c) ? sweep_calls(self, &c) : TOOL_USAGE;
	text_fini(&c.golden);
	return status;
}
