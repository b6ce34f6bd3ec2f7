/*
 * `ptxloom run`: starts a program with the emulated CUDA libraries in front.
 */
#include "src/arch/arch.h"
#include "src/base/setting.h"
#include "src/cover/collect.h"
#include "src/inject/rules.h"
#include "src/sched/steer/schedule.h"
#include "src/tools/check_options.h"
#include "src/tools/supervise.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const char tool_help_run[] =
	"Runs PROG with its arguments on an emulated GPU: unmodified CUDA programs, "
	"linked with the static or the shared\n"
	"runtime, and programs of the driver API. Child processes inherit it; programs without CUDA are not affected.\n"
	"\n"
	"  -d, --device DEVICE   device or list of devices: a100 (default, unless the program is made for another),\n"
	"                        8xv100, t4,h100; see `ptxloom devices`\n"
	"  --check=CHECKS        mem: a kernel that accesses memory outside allocations stops with a fault, even\n"
	"                        where hardware would not detect it, and wrong copies and frees are reported;\n"
	"                        race: data races in shared and global memory; init: values used that were\n"
	"                        never written; sync: barriers and warp instructions that are misused, and\n"
	"                        deadlocks; leak: memory that is not freed; api: calls that fail; several:\n"
	"                        mem,race, or all. The exit status is 86 if anything was found. The options\n"
	"                        of `ptxloom check` about findings are taken here, too\n"
	"  --deterministic       everything in one order, whatever the number of workers: reproducible runs\n"
	"  --schedule TOKEN      the interleaving of warps that `ptxloom explore` has found, a word or @FILE\n"
	"  --weak SEED           device memory is as weak as the PTX model allows, in an order of this seed: what\n"
	"                        fences are missing for shows\n"
	"  --stable              the same results for any number of workers, at less cost: CTAs that add up floats,\n"
	"                        or take numbers from a counter, do so in their order\n"
	"  --memory SIZE         what devices have at most: 64M, 2G; auto: as much as this machine can give\n"
	"  --after-fault WHAT    stick: the device answers the error for ever, as on a GPU; reset: test frameworks\n"
	"                        get a new one for the next test; exit: the program ends with 86;\n"
	"                        continue: only the kernel ends\n"
	"  --timeout TIME        stop PROG after this time (500ms, 5s, 2m, 1h; a number alone: ms), and report\n"
	"                        where its kernels are; the exit status is 124. The default is no limit;\n"
	"                        --limit means the same\n"
	"  --fork WHAT           error: CUDA calls of a child by fork fail if the parent had used CUDA, as on a\n"
	"                        GPU; fresh: such a child has devices of its own\n"
	"  --progress=WHEN       show the progress of long launches: auto (default: on a terminal), always, never;\n"
	"                        a number: a line every so many seconds, 0: none\n"
	"  --record FILE         write the inputs of a launch that faults or is stopped to FILE (%p: the process),\n"
	"                        for `ptxloom debug --replay FILE` and `ptxloom exec --replay FILE`\n"
	"  --record-launch N|KERNEL\n"
	"                        those of the Nth launch, or the first of KERNEL, instead\n"
	"  --coverage=DIR        count the lines and branches that kernels run, in a file of DIR for each process,\n"
	"                        for `ptxloom coverage`; DIR may be a file with %p, %h or %Nm in its name\n"
	"  --report FILE         add what is found and run to FILE, for `ptxloom report`; many processes may share it\n"
	"  --stats               say at the end where the time went: parsing, lowering, kernels, copies, waiting\n"
	"  --inject RULES|@FILE  let calls, launches and memory go wrong as these rules say:\n"
	"                        'call=cudaMalloc nth=3 -> error 2'; see ptxloom-inject(1)\n"
	"  --inject-dry-run      say what these rules would do, and do nothing\n"
	"  --inject-strict       the exit status is 87 if one of these rules never acted\n"
	"  --debug-wait          where PROG begins to use CUDA it waits until `ptxloom debug -p PROCESS` comes\n"
	"  --help                this text\n"
	"\n"
	"Exit status: that of PROG; 87 with --inject-strict, or if --schedule is of other launches; 124 if "
	"--timeout expired; "
	"126 when it cannot be started, 127 when it is not found, 2 for wrong arguments.\n";

const char *tool_option_value(int argc, char **argv, int *i, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(argv[*i], name, n) != 0)
		return NULL;
	if (argv[*i][n] == '=')
		return argv[*i] + n + 1;
	/* Of a letter it may follow at once: -j4. */
	if (n == 2 && argv[*i][n])
		return argv[*i] + n;
	return !argv[*i][n] && *i + 1 < argc ? argv[++*i] : NULL;
}

const char *tool_device_option(int argc, char **argv, int *i)
{
	const char *value = tool_option_value(argc, argv, i, "--device");

	return value ? value : tool_option_value(argc, argv, i, "-d");
}

bool tool_check_devices(const char *spec)
{
	struct arch_devices devices;
	struct diag d;
	bool ok;

	diag_init(&d, diag_print, stderr);
	ok = arch_devices_parse(&devices, spec, &d);
	if (ok)
		arch_devices_fini(&devices);
	diag_fini(&d);
	return ok;
}

bool tool_read_number(const char *text, u64 least, u64 most, u64 *out)
{
	char *end;
	unsigned long long x;

	errno = 0;
	x = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || x < least || x > most)
		return false;
	*out = x;
	return true;
}

int tool_read_shard(const struct tool_command *self, const char *text, u64 *part, u64 *parts)
{
	const char *slash = strchr(text, '/');
	char *first = slash ? strndup(text, (size_t)(slash - text)) : NULL;
	bool ok = first && tool_read_number(slash + 1, 1, UINT32_MAX, parts) &&
		  tool_read_number(first, 0, *parts, part);

	if (ok)
		*part = (*part ? *part : *parts) - 1;
	free(first);
	return ok ? TOOL_OK : tool_usage(self, "--shard takes I/N, I from 1 to N, not '%s'", text);
}

int tool_check_checks(const struct tool_command *self, const char *checks)
{
	struct text why = {0};
	u64 parsed;
	int status = TOOL_OK;

	if (!setting_parse(SETTING_CHECK, "--check", checks, &parsed, &why))
		status = tool_usage(self, "%s", why.at ? why.at : "no memory left");
	text_fini(&why);
	return status;
}

bool tool_check_rules(const char *rules, const char *place)
{
	struct inject_rules read;
	struct diag d;
	bool ok;

	diag_init(&d, diag_print, stderr);
	ok = inject_rules_read(&read, rules, place, &d);
	if (ok)
		inject_rules_fini(&read);
	diag_fini(&d);
	return ok;
}

/* Options that say what a variable says. */
static const struct run_option {
	const char *name;
	enum setting setting;
	bool is_flag;
} run_options[] = {
	{"--deterministic", SETTING_DETERMINISTIC, true},
	{"--stable", SETTING_STABLE, true},
	{"--debug-wait", SETTING_DEBUG_WAIT, true},
	{"--inject-strict", SETTING_INJECT_STRICT, true},
	{"--inject-dry-run", SETTING_INJECT_DRY_RUN, true},
	{"--stats", SETTING_STATS, true},
	{"--memory", SETTING_MEMORY, false},
	{"--after-fault", SETTING_AFTER_FAULT, false},
	{"--fork", SETTING_FORK, false},
	{"--progress", SETTING_PROGRESS, false},
	{"--schedule", SETTING_SCHEDULE, false},
	{"--weak", SETTING_WEAK, false},
	{"--record", SETTING_RECORD, false},
	{"--record-launch", SETTING_RECORD_LAUNCH, false},
	{"--inject", SETTING_INJECT, false},
	{"--coverage", SETTING_COVERAGE, false},
	{"--report", SETTING_REPORT, false},
	{"--target-processes", SETTING_CHECK_PROCESSES, false},
};

struct run_choice {
	const char *device, *timeout;
	const char *value[SETTING_COUNT]; /* by setting; NULL: not given */
};

static const struct run_option *find_run_option(const char *word)
{
	size_t n = strcspn(word, "=");

	for (size_t i = 0; i < ARRAY_LEN(run_options); i++)
		if (strlen(run_options[i].name) == n && !memcmp(run_options[i].name, word, n))
			return &run_options[i];
	return NULL;
}

/* One of the table. Returns TOOL_OK, or the status to end with after a message. */
static int take_run_option(const struct tool_command *self, const struct run_option *option,
			   struct run_choice *o, int argc, char **argv, int *i)
{
	const char *value;

	if (option->is_flag && strchr(argv[*i], '='))
		return tool_usage(self, "%s takes no value", option->name);
	value = option->is_flag ? "1" : tool_option_value(argc, argv, i, option->name);
	if (!value || !*value)
		return tool_usage(self, "there is no value for '%s'", option->name);
	if (option->setting == SETTING_INJECT && o->value[SETTING_INJECT])
		return tool_usage(self, "--inject is there twice; rules are separated by ;");
	o->value[option->setting] = value;
	return TOOL_OK;
}

/* Returns TOOL_OK, or the status to end with after a message. */
static int read_run_options(const struct tool_command *self, struct run_choice *o, int argc,
			    char **argv, int *i)
{
	static const char *const with_value[] = {"-d", "--device", "--timeout", "--limit"};
	const struct run_option *option = find_run_option(argv[*i]);
	const char *value;
	int status = TOOL_OK;

	if (option)
		return take_run_option(self, option, o, argc, argv, i);
	if (check_option(self, argc, argv, i, &status))
		return status;
	if ((value = tool_device_option(argc, argv, i))) {
		o->device = value;
	} else if ((value = tool_option_value(argc, argv, i, "--timeout")) ||
		   (value = tool_option_value(argc, argv, i, "--limit"))) {
		o->timeout = value;
	} else {
		for (size_t k = 0; k < ARRAY_LEN(with_value); k++)
			if (!strcmp(argv[*i], with_value[k]))
				return tool_usage(self, "there is no value for '%s'", argv[*i]);
		return tool_usage(self, "unknown option '%s'", argv[*i]);
	}
	return TOOL_OK;
}

/* The devices that the option names, or else the environment. False after a message. */
static bool check_devices(const char *option)
{
	const char *spec = option ? option : setting_text(SETTING_DEVICE);

	if (!spec || tool_check_devices(spec))
		return true;
	if (!option)
		fputs("ptxloom: note: this is the value of PTXLOOM_DEVICE\n", stderr);
	return false;
}

/* Is the value one that the variable of the same meaning takes? NULL is. */
static bool is_setting_allowed(const struct tool_command *self, enum setting s, const char *shown,
			       const char *value, u64 *out)
{
	struct text why = {0};
	bool ok = !value || setting_parse(s, shown, value, out, &why);

	if (!ok)
		tool_usage(self, "%s", why.at ? why.at : "no memory left");
	text_fini(&why);
	return ok;
}

/* The rules that the option gives, or else the environment. False after a message. */
static bool check_rules(const char *option)
{
	const char *value = option ? option : setting_text(SETTING_INJECT);
	struct inject_rules rules;
	struct diag d;
	bool ok;

	if (!value)
		return true;
	diag_init(&d, diag_print, stderr);
	ok = inject_rules_read(&rules, value, option ? "--inject" : "PTXLOOM_INJECT", &d);
	if (ok)
		inject_rules_fini(&rules);
	diag_fini(&d);
	return ok;
}

bool tool_check_schedule(const char *option)
{
	const char *value = option ? option : setting_text(SETTING_SCHEDULE);
	struct text why = {0};
	struct schedule s;
	bool ok;

	if (!value)
		return true;
	ok = schedule_read(&s, value, option ? "--schedule" : "PTXLOOM_SCHEDULE", &why);
	if (!ok)
		fprintf(stderr, "ptxloom: error: %s\n", why.at ? why.at : "no memory left");
	schedule_fini(&s);
	text_fini(&why);
	return ok;
}

/* Programs may change their folder, or have children that do. */
bool tool_set_coverage(const char *where)
{
	char at[4096];
	struct text path = {0}, why = {0};
	char *sample;
	bool ok;

	if (*where != '/' && getcwd(at, sizeof(at)))
		text_printf(&path, "%s/", at);
	text_puts(&path, where);
	sample = path.failed ? NULL : cover_path(path.at, &why);
	ok = sample && !setenv("PTXLOOM_COVERAGE", path.at, 1);
	if (!ok)
		fprintf(stderr, "ptxloom: error: --coverage: %s\n",
			why.at ? why.at : "no memory left");
	free(sample);
	text_fini(&path);
	text_fini(&why);
	return ok;
}

/* What --report or the variable says, for children in other folders, too. Can it be added to? */
static bool set_report(const char *option)
{
	const char *where = option ? option : setting_text(SETTING_REPORT);
	struct text path = {0};
	char at[4096];
	FILE *f;
	bool ok;

	if (!where)
		return true;
	if (*where != '/' && getcwd(at, sizeof(at)))
		text_printf(&path, "%s/", at);
	text_puts(&path, where);
	f = path.failed ? NULL : fopen(path.at, "ae");
	if (!f)
		fprintf(stderr, "ptxloom: error: %s: %s: %s\n",
			option ? "--report" : "PTXLOOM_REPORT", where, strerror(errno));
	else
		fclose(f);
	ok = f && !setenv("PTXLOOM_REPORT", path.at, 1);
	text_fini(&path);
	return ok;
}

/* May the variables hold what the options say? False after a message. */
static bool check_run_values(const struct tool_command *self, const struct run_choice *o)
{
	u64 ignored;

	for (size_t i = 0; i < ARRAY_LEN(run_options); i++)
		if (!is_setting_allowed(self, run_options[i].setting, run_options[i].name,
					o->value[run_options[i].setting], &ignored))
			return false;
	return true;
}

static bool set_environment(const struct run_choice *o)
{
	struct tool_environment e;

	if (!tool_environment(&e))
		return false;
	tool_environment_set(&e);
	tool_environment_fini(&e);
	if (o->device)
		setenv("PTXLOOM_DEVICE", o->device, 1);
	for (u32 s = 0; s < SETTING_COUNT; s++)
		if (o->value[s] && s != SETTING_COVERAGE)
			setenv(setting_variable((enum setting)s), o->value[s], 1);
	return true;
}

/* Bazel names the file in which it wants a test's coverage. NULL: none is wanted, or counted. */
static const char *bazel_file(void)
{
	const char *file = getenv("COVERAGE_OUTPUT_FILE");

	return file && *file && setting_text(SETTING_COVERAGE) ? file : NULL;
}

static void write_for_bazel(void *user)
{
	struct text why = {0};
	char *path = cover_path(setting_text(SETTING_COVERAGE), &why), *slash;
	char *words[] = {
		"coverage", "report", NULL, "--lcov", "-o", (char *)(uintptr_t)bazel_file(), NULL};

	slash = path ? strrchr(path, '/') : NULL;
	if (slash)
		*slash = 0;
	words[2] = slash ? path : ".";
	if (path)
		tool_main_coverage(user, ARRAY_LEN(words) - 1, words);
	free(path);
	text_fini(&why);
}

int tool_run_program(const struct tool_command *self, int argc, char **argv)
{
	struct run_choice o = {0};
	u64 timeout_ms = 0;
	int i = 1, status;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return tool_help(self);
		status = read_run_options(self, &o, argc, argv, &i);
		if (status)
			return status;
	}
	if (i == argc)
		return tool_usage(self, "no program given");
	if (o.value[SETTING_RECORD_LAUNCH] && !o.value[SETTING_RECORD] &&
	    !setting_text(SETTING_RECORD))
		return tool_usage(self, "--record-launch needs --record FILE");
	if (o.value[SETTING_INJECT_STRICT] && !o.value[SETTING_INJECT] &&
	    !setting_text(SETTING_INJECT))
		return tool_usage(self, "--inject-strict needs --inject RULES");
	if (o.value[SETTING_INJECT_DRY_RUN] && !o.value[SETTING_INJECT] &&
	    !setting_text(SETTING_INJECT))
		return tool_usage(self, "--inject-dry-run needs --inject RULES");
	if (!check_devices(o.device) || !check_rules(o.value[SETTING_INJECT]) ||
	    !tool_check_schedule(o.value[SETTING_SCHEDULE]))
		return TOOL_USAGE;
	if (!is_setting_allowed(self, SETTING_TIMEOUT, "--timeout", o.timeout, &timeout_ms) ||
	    !check_run_values(self, &o))
		return TOOL_USAGE;
	if (o.value[SETTING_COVERAGE] && !tool_set_coverage(o.value[SETTING_COVERAGE]))
		return TOOL_USAGE;
	if (!set_environment(&o))
		return TOOL_CANNOT_RUN;
	if (!set_report(o.value[SETTING_REPORT]))
		return TOOL_USAGE;
	status = check_options_begin();
	if (status)
		return status;
	if (timeout_ms || bazel_file())
		return tool_supervise(tool_start_program, argv + i, timeout_ms,
				      bazel_file() ? write_for_bazel : NULL,
				      (void *)(uintptr_t)self);
	return tool_start_program(argv + i);
}

int tool_main_run(const struct tool_command *self, int argc, char **argv)
{
	return tool_run_program(self, argc, argv);
}
