/*
 * `ptxloom inject`: does a program survive what can go wrong? Its arguments.
 */
#include "src/base/file.h"
#include "src/base/setting.h"
#include "src/tools/inject/inject.h"

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
	"  --check CHECKS        and a check of these may not find anything: mem,race, or all\n"
	"  --schedules N         each call fails under N random orders of warps, too\n"
	"  -n N, --runs N        instead: N runs, in each of which the result of one instruction changes, drawn\n"
	"                        among all that kernels run; how many are masked, silent (SDC), detected (DUE)\n"
	"  --group NAME          of these: all, fp64, fp32, ld, pr, gp (default)\n"
	"  --model NAME          1 (default): a bit flips, 2: two bits, random: all of it, zero\n"
	"  --kernel GLOB         in these kernels\n"
	"  --seed N              other ones are drawn\n"
	"  -j N                  so many of these runs at a time: one for each core\n"
	"  -n, --dry-run         list what would be done, with --sweep, -n N or --rules, and do nothing\n"
	"  --rules RULES|@FILE   of a dry run: rules as of `ptxloom run --inject`\n"
	"  --golden FILE         what PROG has to print; without it all output is right, or with -n N what it\n"
	"                        prints by itself\n"
	"  --timeout TIME        a run that takes longer hangs; ten times the first run and 5s\n"
	"  -d, --device DEVICE   as of `ptxloom run`\n"
	"  --help                this text\n"
	"\n"
	"Exit status: 0 if PROG survives everything, or after -n; 1 if it does not survive; 2 for wrong\n"
	"arguments; 3 if it fails by itself.\n";

/* ---- arguments ---- */

static const struct {
	const char *name;
	size_t at;
} inject_texts[] = {
	{"--sweep", offsetof(struct inject_options, sweep)},
	{"--error", offsetof(struct inject_options, error)},
	{"--golden", offsetof(struct inject_options, golden)},
	{"--timeout", offsetof(struct inject_options, timeout)},
	{"--rules", offsetof(struct inject_options, rules)},
	{"--check", offsetof(struct inject_options, check)},
	{"--kernel", offsetof(struct inject_options, kernel)},
	{"--group", offsetof(struct inject_options, group)},
	{"--model", offsetof(struct inject_options, model)},
};

static const struct {
	const char *name;
	size_t at;
	u64 least, most;
} inject_numbers[] = {
	{"--runs", offsetof(struct inject_options, runs), 1, (u64)1 << 32},
	{"--schedules", offsetof(struct inject_options, schedules), 0, (u64)1 << 32},
	{"--seed", offsetof(struct inject_options, seed), 0, UINT64_MAX},
	{"-j", offsetof(struct inject_options, jobs), 1, TRIALS_MAX},
};

static int read_inject_number(const struct tool_command *self, struct inject_options *o, size_t k,
			      const char *value)
{
	u64 *at = (u64 *)(void *)((char *)o + inject_numbers[k].at);

	if (!tool_read_number(value, inject_numbers[k].least, inject_numbers[k].most, at))
		return tool_usage(self, "%s takes a number from %llu to %llu, not '%s'",
				  inject_numbers[k].name,
				  (unsigned long long)inject_numbers[k].least,
				  (unsigned long long)inject_numbers[k].most, value);
	o->given |= 1u << k;
	return TOOL_OK;
}

/* -n, alone or with a number. */
static int read_inject_n(const struct tool_command *self, struct inject_options *o, int argc,
			 char **argv, int *i)
{
	if (*i + 1 < argc && argv[*i + 1][0] >= '0' && argv[*i + 1][0] <= '9')
		return read_inject_number(self, o, 0, argv[++*i]);
	o->dry = true;
	return TOOL_OK;
}

static int read_inject_option(const struct tool_command *self, struct inject_options *o, int argc,
			      char **argv, int *i)
{
	const char *value;

	if (!strcmp(argv[*i], "-n"))
		return read_inject_n(self, o, argc, argv, i);
	if (!strcmp(argv[*i], "--dry-run")) {
		o->dry = true;
		return TOOL_OK;
	}
	for (size_t k = 0; k < ARRAY_LEN(inject_numbers); k++)
		if ((value = tool_option_value(argc, argv, i, inject_numbers[k].name)))
			return read_inject_number(self, o, k, value);
	for (size_t k = 0; k < ARRAY_LEN(inject_texts); k++)
		if ((value = tool_option_value(argc, argv, i, inject_texts[k].name))) {
			*(const char **)(void *)((char *)o + inject_texts[k].at) = value;
			return TOOL_OK;
		}
	if ((value = tool_device_option(argc, argv, i))) {
		o->device = value;
		return TOOL_OK;
	}
	return tool_usage(self, "unknown option '%s', or its value is missing", argv[*i]);
}

/* Of inject_numbers. */
enum { NUMBER_RUNS, NUMBER_SCHEDULES, NUMBER_SEED, NUMBER_JOBS };

static bool number_given(const struct inject_options *o, u32 k)
{
	return o->given >> k & 1;
}

/* What the kind of runs that is asked for does not take. NULL: all is well. */
static const char *misplaced_option(const struct inject_options *o)
{
	bool sites = o->runs != 0, sweep = !sites && !o->dry, rules = !sites && o->rules;
	const struct {
		bool is_there, fits;
		const char *name;
	} options[] = {
		{o->sweep != NULL, !sites && !o->rules, "--sweep"},
		{o->error != NULL, !sites && !rules, "--error"},
		{number_given(o, NUMBER_SCHEDULES), sweep, "--schedules"},
		{o->rules != NULL, !sites, "--rules"},
		{o->group != NULL, sites, "--group"},
		{o->model != NULL, sites, "--model"},
		{o->kernel != NULL, sites, "--kernel"},
		{number_given(o, NUMBER_SEED), sites, "--seed"},
		{number_given(o, NUMBER_JOBS), sites && !o->dry, "-j"},
		{o->golden != NULL, sites || sweep, "--golden"},
	};

	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		if (options[i].is_there && !options[i].fits)
			return options[i].name;
	return NULL;
}

/* Are these options of the kind of runs that is asked for? */
static int check_inject_options(const struct tool_command *self, struct inject_options *o)
{
	const char *misplaced = misplaced_option(o);
	struct text why = {0};
	int status = TOOL_OK;

	if (!o->sweep && !o->runs && !(o->dry && o->rules))
		return tool_usage(self,
				  o->rules ? "--rules is for a dry run, -n; `ptxloom run --inject` "
					     "takes rules"
					   : "which calls are to fail? --sweep GLOB; or -n N");
	if (misplaced)
		return tool_usage(self, "%s does not go with these options", misplaced);
	if (o->device && !tool_check_devices(o->device))
		return TOOL_USAGE;
	if (o->check)
		status = tool_check_checks(self, o->check);
	if (!status && o->timeout &&
	    !setting_parse(SETTING_TIMEOUT, "--timeout", o->timeout, &o->limit_ms, &why))
		status = tool_usage(self, "%s", why.at ? why.at : "no memory left");
	text_fini(&why);
	return status;
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

static int run_campaign(const struct tool_command *self, struct campaign *c)
{
	if (!read_golden(c))
		return TOOL_USAGE;
	if (c->o->runs)
		return inject_sites(self, c);
	return c->o->dry ? inject_list(self, c) : inject_sweep(self, c);
}

int tool_main_inject(const struct tool_command *self, int argc, char **argv)
{
	struct inject_options o = {.jobs = tool_cores()};
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
	status = status ? status : tool_check_file(argv[i]);
	if (status)
		return status;
	c.argv = argv + i;
	status = run_campaign(self, &c);
	text_fini(&c.golden);
	return status;
}
