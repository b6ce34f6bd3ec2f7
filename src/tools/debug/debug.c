/*
 * ptxloom debug: arguments, scripts, the prompt.
 */
#include "src/tools/check_options.h"
#include "src/tools/debug/front.h"

#include "src/arch/arch.h"
#include "src/base/setting.h"
#include "src/dev/record/record.h"
#include "src/tools/debug/code.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

const char tool_help_debug[] =
	"Runs PROG, an unmodified CUDA program, under a debugger for its kernels: breakpoints, single steps of\n"
	"lanes, values of every lane, and back in time. FILE.ptx is run by `ptxloom exec` with EXEC-OPTIONS.\n"
	"Commands are those of gdb, as far as they apply to kernels: `help` lists them.\n"
	"\n"
	"  -d, --device DEVICE   device or list of devices: a100 (default), v100, 8xv100, t4,h100\n"
	"  -x, --command FILE    run the commands of a file first; may be repeated\n"
	"  -ex, --eval-command COMMAND\n"
	"                        run a command first; may be repeated, in one order with -x\n"
	"  --batch               end after these commands instead of asking for more\n"
	"  -p, --pid PROCESS     attach to a program that waits for a debugger, see ptxloom-run(1), instead of PROG\n"
	"  --replay FILE         debug a launch that `ptxloom run --record FILE` wrote, instead of PROG\n"
	"  --schedule TOKEN      the interleaving that `ptxloom explore` has found, a word or @FILE\n"
	"  --check=CHECKS        look for errors, as `ptxloom check` does, whose options are taken here, too, and\n"
	"                        stop at each that a kernel makes\n"
	"  --color WHEN          use colours: auto (default: on a terminal), always, never\n"
	"  --help                this text\n"
	"\n"
	"Exit status: 0; that of `quit`; with --batch 1 if the last of -x and -ex had an error; "
	"126 when PROG cannot\n"
	"be started, 127 when it is not found, 2 for wrong arguments.\n";

/* A script that was given: a file, or a command. */
struct given {
	const char *text;
	bool is_file;
};

struct options {
	const char *device, *colour, *replay, *process, *schedule;
	VEC(struct given) scripts;
	bool batch;
};

/* ---- arguments ---- */

/* The value of an option by any of its names; NULL: it is another, or *missing. */
static const char *option_value(int argc, char **argv, int *i, const char *const *names,
				const char **missing)
{
	for (; *names; names++) {
		size_t n = strlen(*names);

		if (strncmp(argv[*i], *names, n) != 0)
			continue;
		if (argv[*i][n] == '=' && n > 2)
			return argv[*i] + n + 1;
		if (argv[*i][n])
			continue;
		if (*i + 1 < argc)
			return argv[++*i];
		*missing = argv[*i];
		return NULL;
	}
	return NULL;
}

static int read_option(const struct tool_command *self, struct options *o, int argc, char **argv,
		       int *i)
{
	static const char *const device[] = {"-d", "--device", NULL};
	static const char *const file[] = {"-x", "--command", NULL};
	static const char *const command[] = {"-ex", "--ex", "--eval-command", NULL};
	static const char *const colour[] = {"--color", NULL};
	static const char *const process[] = {"-p", "--pid", NULL};
	static const char *const replay[] = {"--replay", NULL};
	static const char *const schedule[] = {"--schedule", NULL};
	const char *value, *missing = NULL;
	struct given g;

	if (!strcmp(argv[*i], "--batch") || !strcmp(argv[*i], "-batch")) {
		o->batch = true;
		return TOOL_OK;
	}
	if ((value = option_value(argc, argv, i, device, &missing))) {
		o->device = value;
		return TOOL_OK;
	}
	if ((value = option_value(argc, argv, i, process, &missing))) {
		o->process = value;
		return TOOL_OK;
	}
	if ((value = option_value(argc, argv, i, replay, &missing))) {
		o->replay = value;
		return TOOL_OK;
	}
	if ((value = option_value(argc, argv, i, schedule, &missing))) {
		o->schedule = value;
		return TOOL_OK;
	}
	if ((value = option_value(argc, argv, i, colour, &missing))) {
		o->colour = value;
		return TOOL_OK;
	}
	g.is_file = (value = option_value(argc, argv, i, file, &missing)) != NULL;
	if (!value)
		value = option_value(argc, argv, i, command, &missing);
	g.text = value;
	if (missing)
		return tool_usage(self, "there is no value for '%s'", missing);
	if (!value)
		return tool_usage(self, "unknown option '%s'", argv[*i]);
	return VEC_PUSH(&o->scripts, g) ? TOOL_OK : tool_usage(self, "no memory left");
}

/* The sm of the first device that the program will see. */
static u32 first_sm(const char *option)
{
	const char *spec = option ? option : setting_text(SETTING_DEVICE);
	struct arch_devices devices;
	struct diag d;
	u32 sm = 0;

	diag_init(&d, NULL, NULL);
	if (arch_devices_parse(&devices, spec ? spec : "", &d)) {
		sm = devices.len ? devices.at[0]->sm : 0;
		arch_devices_fini(&devices);
	}
	diag_fini(&d);
	return sm;
}

static bool wants_colour(const struct options *o)
{
	const char *off = getenv("NO_COLOR"), *term = getenv("TERM");

	if (o->colour && strcmp(o->colour, "auto") != 0)
		return !strcmp(o->colour, "always");
	return !o->batch && !(off && *off) && term && strcmp(term, "dumb") != 0 &&
	       isatty(STDOUT_FILENO);
}

/* ---- the session ---- */

static enum front_result run_given(struct front *f, const struct given *g)
{
	struct script s;

	if (g->is_file)
		return script_source(f, g->text);
	script_of_text(&s, g->text, strlen(g->text));
	return script_run(f, &s);
}

/*
 * An empty line repeats the one before. The interpreter would know it, but has answered what the
 * window shows since.
 */
static char *repeat_line(struct front *f, char *line)
{
	if (!*line && f->typed) {
		free(line);
		return strdup(f->typed);
	}
	free(f->typed);
	f->typed = strdup(line);
	return line;
}

static char *next_typed(struct script *s, const char *prompt)
{
	struct front *f = s->user;
	char *line;

	if (!prompt)
		layout_draw(f);
	line = line_read(f, prompt ? prompt : FRONT_PROMPT);
	if (!prompt && line && f->layout)
		line = repeat_line(f, line);

	/* Ctrl-D. */
	return line || !f->interactive ? line : strdup("quit");
}

/* Commands as they are typed, until the input or the session ends. */
static void run_typed(struct front *f)
{
	struct script s = {.next = next_typed, .user = f, .repeats = true};

	f->interactive = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	f->edits = f->interactive && line_edit_open(f);
	if (f->interactive)
		front_printf(f, "Debugging %s; `help` lists the commands, `run` starts it.\n",
			     f->program.argv[f->program.fixed - 1]);
	do
		f->interrupted = false;
	while (script_run(f, &s) != FRONT_QUIT && f->interrupted);
	layout_off(f);
	if (f->edits)
		line_edit_close(f);
}

static bool open_signals(struct front *f)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	/* The terminal is given to the program and taken back from the background. */
	signal(SIGTTOU, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	f->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return f->signals >= 0;
}

static int run_session(struct front *f, const struct options *o)
{
	enum front_result r = FRONT_OK;

	for (size_t i = 0; i < o->scripts.len && r != FRONT_QUIT && !f->interrupted; i++)
		r = run_given(f, &o->scripts.at[i]);
	if (f->batch && r == FRONT_ERROR)
		f->status = TOOL_FINDINGS;
	if (!f->batch && r != FRONT_QUIT)
		run_typed(f);
	return f->status;
}

static void close_session(struct front *f)
{
	if (session_is_running(f) && !f->program.attached)
		session_kill(f);
	session_wait_released(f);
	program_fini(&f->program);
	debugger_free(f->local);
	code_close(f->code);
	script_macros_fini(&f->macros);
	VEC_FREE(&f->received);
	free(f->typed);
	text_fini(&f->out);
	text_fini(&f->captured);
	text_fini(&f->state);
	text_fini(&f->where);
	text_fini(&f->reply);
	close(f->signals);
}

/* What the checks find stops, unless the user deletes this. */
static void stop_at_findings(struct front *f)
{
	struct text said = {0};

	if (f->local)
		debugger_command(f->local, "catch finding", &said);
	text_fini(&said);
}

static int debug_program(struct front *f, const struct options *o)
{
	int status;

	f->batch = o->batch;
	f->colour = wants_colour(o);
	f->confirm = !o->batch;
	f->local = debugger_new();
	f->sm = first_sm(o->device);
	if (setting_text(SETTING_CHECK)) {
		check_options_begin();
		stop_at_findings(f);
	}
	if (!f->local || !open_signals(f)) {
		fputs("ptxloom debug: error: the debugger cannot be started\n", stderr);
		status = TOOL_CANNOT_RUN;
	} else {
		status = run_session(f, o);
	}
	close_session(f);
	return status;
}

static int debug_code(struct front *f, const struct options *o, int argc, char **argv)
{
	char **words = program_exec_words((size_t)argc, argv);
	int status = TOOL_CANNOT_RUN;

	if (words) {
		f->program.argv = words;
		f->program.fixed = 3;
		f->code_file = argv[0];
		status = debug_program(f, o);
	}
	free(words);
	return status;
}

/* Before anything is started: a message if the file is not a record. */
static bool check_record(const struct tool_command *self, const char *path)
{
	struct text why = {0};
	struct replay *r = replay_open(path, &why);

	if (!r)
		fprintf(stderr, "ptxloom %s: error: %s\n", self->name,
			why.at ? why.at : "out of memory");
	text_fini(&why);
	replay_close(r);
	return r != NULL;
}

/* A recorded launch, which `ptxloom exec` repeats. */
static int debug_record(struct front *f, const struct tool_command *self, const struct options *o,
			int argc)
{
	char *args[] = {(char *)"--replay", (char *)(uintptr_t)o->replay};
	char **words;
	int status = TOOL_CANNOT_RUN;

	if (argc)
		return tool_usage(self, "--replay takes no program beside the record");
	if (o->device)
		return tool_usage(self, "the record has the device: --replay does not go with -d");
	if (!check_record(self, o->replay))
		return TOOL_USAGE;
	words = program_exec_words(ARRAY_LEN(args), args);
	if (words) {
		f->program.argv = words;
		f->program.fixed = 4;
		f->code_file = o->replay;
		status = debug_program(f, o);
	}
	free(words);
	return status;
}

/* The words that the process was started with; to be freed together with *text. */
static char **words_of_process(long pid, struct text *text)
{
	char path[64], **words, bytes[4096];
	size_t n, count = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
	f = fopen(path, "rb");
	while (f && (n = fread(bytes, 1, sizeof(bytes), f)))
		text_add(text, bytes, n);
	if (f)
		fclose(f);
	if (!text->len)
		text_printf(text, "process %ld", pid);
	for (size_t at = 0; at < text->len; at += strlen(text->at + at) + 1)
		count++;
	words = calloc(count + 1, sizeof(*words));
	for (size_t at = 0, i = 0; words && i < count; at += strlen(text->at + at) + 1)
		words[i++] = text->at + at;
	return words;
}

static int debug_process(struct front *f, const struct tool_command *self, const struct options *o,
			 int argc)
{
	char *end, file[64], **words;
	long pid = strtol(o->process, &end, 10);
	struct text why = {0}, text = {0};
	int status = TOOL_CANNOT_RUN;

	if (argc || o->replay || o->device)
		return tool_usage(self, "-p takes no program, record or device beside the process");
	if (end == o->process || *end || pid <= 0 || pid > INT_MAX)
		return tool_usage(self, "'%s' is not the number of a process", o->process);
	words = words_of_process(pid, &text);
	snprintf(file, sizeof(file), "/proc/%ld/exe", pid);
	if (words && program_attach(&f->program, (pid_t)pid, &why)) {
		f->program.argv = words;
		f->program.fixed = 1;
		f->code_file = file;
		status = debug_program(f, o);
	} else {
		fprintf(stderr, "ptxloom debug: error: %s\n", why.at ? why.at : "no memory left");
	}
	free(words);
	text_fini(&text);
	text_fini(&why);
	return status;
}

static int debug_binary(struct front *f, const struct options *o, char **argv)
{
	struct tool_environment e;
	int status = tool_check_file(argv[0]);

	if (status)
		return status;
	if (!tool_environment(&e))
		return TOOL_CANNOT_RUN;
	f->program.libraries = &e;
	f->program.argv = argv;
	f->program.fixed = 1;
	f->code_file = argv[0];
	status = debug_program(f, o);
	tool_environment_fini(&e);
	return status;
}

/* After the options: what is to be debugged. */
static int debug(const struct tool_command *self, const struct options *o, int argc, char **argv)
{
	struct front f = {.signals = -1};
	int status;

	if (!argc && !o->replay && !o->process)
		return tool_usage(self, "no program given");
	if (o->colour && strcmp(o->colour, "auto") != 0 && strcmp(o->colour, "always") != 0 &&
	    strcmp(o->colour, "never") != 0)
		return tool_usage(self, "--color is auto, always or never, not '%s'", o->colour);
	if (o->device && !tool_check_devices(o->device))
		return TOOL_USAGE;
	if (!tool_check_schedule(o->schedule))
		return TOOL_USAGE;
	if (o->schedule && (o->process || o->replay))
		return tool_usage(
			self,
			"--schedule is for a program that is started, not with -p or --replay");
	if (o->schedule)
		setenv("PTXLOOM_SCHEDULE", o->schedule, 1);
	program_init(&f.program);
	f.program.device = o->device;
	if (o->process)
		return debug_process(&f, self, o, argc);
	if (o->replay)
		return debug_record(&f, self, o, argc);
	/* Those of `ptxloom exec` among its other options: this process has to know. */
	if (program_is_code(argv[0]) && (status = check_options_take(self, &argc, argv)))
		return status;
	return program_is_code(argv[0]) ? debug_code(&f, o, argc, argv) : debug_binary(&f, o, argv);
}

int tool_main_debug(const struct tool_command *self, int argc, char **argv)
{
	struct options o = {0};
	int i = 1, status = TOOL_OK;

	for (; i < argc && argv[i][0] == '-' && !status; i++) {
		if (!strcmp(argv[i], "--") || !strcmp(argv[i], "--args")) {
			i++;
			break;
		}
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			VEC_FREE(&o.scripts);
			return tool_help(self);
		}
		if (!check_option(self, argc, argv, &i, &status))
			status = read_option(self, &o, argc, argv, &i);
	}
	if (!status)
		status = debug(self, &o, argc - i, argv + i);
	VEC_FREE(&o.scripts);
	return status;
}
