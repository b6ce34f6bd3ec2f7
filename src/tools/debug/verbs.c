/*
 * The front end's own commands: the program as a process, scripts, the shell.
 */
#include "src/tools/debug/front.h"

#include "src/base/leave.h"
#include "src/config.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum front_result verb_handler(struct front *f, const char *args);

/* Does the user want it? Scripts do, and an input that has ended. */
static bool is_confirmed(struct front *f, const char *question)
{
	char prompt[160], *answer;
	bool yes;

	if (!f->confirm || !f->interactive || f->depth > 1)
		return true;
	snprintf(prompt, sizeof(prompt), "%s (y or n) ", question);
	answer = line_read(f, prompt);
	yes = !answer || *answer == 'y' || *answer == 'Y';
	free(answer);
	return yes;
}

/* A process that waits was started elsewhere, and is debugged once. */
static enum front_result not_ours(struct front *f, const char *what)
{
	return front_error(f, "Process %ld was not started from here: %s",
			   (long)f->program.attached, what);
}

static bool is_begun(const struct front *f)
{
	return f->program.attached && f->started;
}

static enum front_result set_args(struct front *f, const char *args)
{
	if (f->program.attached)
		return not_ours(f, "its arguments are what they are");
	return program_set_args(&f->program, args) ? FRONT_OK : front_error(f, "no memory left");
}

static enum front_result verb_start_again(struct front *f, const char *args)
{
	enum front_result r = FRONT_OK;

	if (is_begun(f))
		return not_ours(f, "it cannot be started again");
	if (session_is_running(f)) {
		if (!is_confirmed(f, "The program runs already. Start it from the beginning?"))
			return front_error(f, "The program was not started again");
		session_kill(f);
	}
	if (*args)
		r = set_args(f, args);
	if (f->started && r == FRONT_OK)
		front_printf(f, "The program is started again\n");
	return r == FRONT_OK ? session_run(f) : r;
}

static enum front_result start(struct front *f, const char *args)
{
	struct text out = {0};
	struct debugger_result r;

	if (is_begun(f))
		return not_ours(f, "it cannot be started again");
	if (session_is_running(f))
		session_kill(f);
	r = debugger_command(f->local, "tcatch launch", &out);
	if (r.failed && out.at)
		front_puts(f, out.at, out.len);
	text_fini(&out);
	return r.failed ? FRONT_ERROR : verb_start_again(f, args);
}

static enum front_result kill_program(struct front *f, const char *args)
{
	if (*args)
		return front_error(f, "'kill' takes no argument");
	if (!session_is_running(f))
		return front_error(f, "No program is being run");
	if (!is_confirmed(f, "Kill the program?"))
		return front_error(f, "The program was not killed");
	session_kill(f);
	front_printf(f, "[The program was killed]\n");
	return FRONT_OK;
}

static enum front_result detach(struct front *f, const char *args)
{
	pid_t pid;

	if (*args)
		return front_error(f, "'detach' takes no argument");
	pid = f->program.attached ? f->program.attached : f->program.pid;
	if (!pid || f->program.socket < 0)
		return front_error(f, "No program is being run");
	session_detach(f);
	f->started = true;
	front_printf(f, "[Process %ld goes on without the debugger]\n", (long)pid);
	return FRONT_OK;
}

static enum front_result quit(struct front *f, const char *args)
{
	char *end;
	long status = strtol(args, &end, 0);

	if (*end)
		return front_error(f, "'quit' takes an exit status, not '%s'", args);
	if (session_is_running(f) &&
	    !is_confirmed(f, f->program.attached ? "The program still runs. Let it go on and quit?"
						 : "The program still runs. Kill it and quit?"))
		return front_error(f, "The session goes on");
	f->status = (int)status;
	return FRONT_QUIT;
}

static enum front_result show_args(struct front *f, const char *args)
{
	struct text t = {0};

	(void)args;
	program_put_args(&f->program, &t);
	front_printf(f, "Arguments of the program: %s\n", t.len ? t.at : "none");
	text_fini(&t);
	return FRONT_OK;
}

/* ---- the environment ---- */

/* NAME=VALUE, NAME VALUE, NAME. */
static enum front_result set_env(struct front *f, const char *args)
{
	size_t n = strcspn(args, "= \t");
	const char *value = args + n;
	char *name;
	bool ok;

	if (f->program.attached)
		return not_ours(f, "its environment is what it is");
	if (!n)
		return front_error(f, "'set env' takes NAME=VALUE");
	value += strspn(value, " \t");
	if (*value == '=')
		value++;
	value += strspn(value, " \t");
	name = strndup(args, n);
	ok = name && program_set_variable(&f->program, name, value);
	free(name);
	return ok ? FRONT_OK : front_error(f, "no memory left");
}

/* "env NAME", as of gdb. */
static enum front_result unset_env(struct front *f, const char *args)
{
	size_t n = strcspn(args, " \t");
	const char *name = args + n + strspn(args + n, " \t");

	if (n < 3 || n > strlen("environment") || strncmp(args, "environment", n) != 0 || !*name)
		return front_error(f, "'unset' takes 'env' and the name of a variable");
	return program_set_variable(&f->program, name, NULL) ? FRONT_OK
							     : front_error(f, "no memory left");
}

static const struct program_variable *find_set_variable(const struct front *f, const char *name,
							size_t n)
{
	for (size_t i = 0; i < f->program.variables.len; i++) {
		const struct program_variable *v = &f->program.variables.at[i];

		if (!strncmp(v->name, name, n) && !v->name[n])
			return v;
	}
	return NULL;
}

static enum front_result show_env(struct front *f, const char *args)
{
	const struct program_variable *v = find_set_variable(f, args, strlen(args));
	const char *value = v ? v->value : *args ? getenv(args) : NULL;

	if (*args && value)
		front_printf(f, "%s=%s\n", args, value);
	if (*args)
		return value ? FRONT_OK : front_error(f, "There is no variable '%s'", args);
	for (char **e = environ; *e; e++)
		if (!find_set_variable(f, *e, strcspn(*e, "=")))
			front_printf(f, "%s\n", *e);
	for (size_t i = 0; i < f->program.variables.len; i++) {
		v = &f->program.variables.at[i];
		if (v->value)
			front_printf(f, "%s=%s\n", v->name, v->value);
	}
	return FRONT_OK;
}

/* ---- settings ---- */

static enum front_result set_confirm(struct front *f, const char *args)
{
	if (strcmp(args, "on") != 0 && strcmp(args, "off") != 0 && *args)
		return front_error(f, "'set confirm' takes on or off");
	f->confirm = strcmp(args, "off") != 0;
	return FRONT_OK;
}

static enum front_result show_confirm(struct front *f, const char *args)
{
	(void)args;
	front_printf(f, "Questions before the program is killed are %s.\n",
		     f->confirm ? "on" : "off");
	return FRONT_OK;
}

static enum front_result set_nothing(struct front *f, const char *args)
{
	(void)f;
	(void)args;
	return FRONT_OK;
}

static enum front_result set_breakpoint(struct front *f, const char *args)
{
	if (!strcmp(args, "pending on") || !strcmp(args, "pending auto"))
		return FRONT_OK;
	return front_error(f, "Breakpoints wait for their code: only 'pending on' is accepted");
}

/* Output is never held back, so scripts that say so get what they want. */
static enum front_result set_pagination(struct front *f, const char *args)
{
	if (!strcmp(args, "off"))
		return FRONT_OK;
	return front_error(f, "Output is never paged: only 'set pagination off' is accepted");
}

/* ---- others ---- */

static enum front_result source(struct front *f, const char *args)
{
	return *args ? script_source(f, args) : front_error(f, "'source' takes a file");
}

static enum front_result say_folder(struct front *f, const char *args)
{
	char *folder = getcwd(NULL, 0);
	enum front_result r = FRONT_OK;

	if (*args)
		r = front_error(f, "'pwd' takes no argument");
	else if (folder)
		front_printf(f, "%s\n", folder);
	else
		r = front_error(f, "there is no folder: %s", strerror(errno));
	free(folder);
	return r;
}

static enum front_result change_folder(struct front *f, const char *args)
{
	const char *home = getenv("HOME");

	if (!*args && home)
		args = home;
	return chdir(args) ? front_error(f, "%s: %s", args, strerror(errno)) : FRONT_OK;
}

/* They are looked for before commands are, unless something stands where they cannot be. */
static enum front_result misplaced(struct front *f, const char *args)
{
	(void)args;
	return front_error(f, "blocks of lines do not stand in the commands of a breakpoint");
}

static enum front_result shell(struct front *f, const char *args)
{
	const char *program = getenv("SHELL");
	char *words[] = {"sh", "-c", (char *)args, NULL};
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return front_error(f, "the shell cannot be started: %s", strerror(errno));
	if (!pid) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		signal(SIGPIPE, SIG_DFL);
		signal(SIGTTOU, SIG_DFL);
		if (!*args)
			words[1] = NULL;
		execvp(program && *program ? program : "/bin/sh", words);
		leave(127);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? FRONT_OK : FRONT_ERROR;
}

/* ---- save breakpoints ---- */

/* Does a line of the state begin a breakpoint's? They come first, displays and settings behind. */
static bool is_of_points(const char *line)
{
	static const char *const words[] = {"-number ", "break ",   "tbreak ",    "catch ",
					    "tcatch ",  "dprintf ", "condition ", "disable ",
					    "ignore ",  "commands "};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strncmp(line, words[i], strlen(words[i])))
			return true;
	return false;
}

/* "ignore 3 2" becomes "ignore $bpnum 2": numbers are others where the file is read. */
static void save_line(FILE *to, const char *line)
{
	static const char *const numbered[] = {"condition ", "disable ", "ignore ", "commands "};

	for (size_t i = 0; i < ARRAY_LEN(numbered); i++) {
		size_t n = strlen(numbered[i]);

		if (!strncmp(line, numbered[i], n)) {
			fprintf(to, "%s$bpnum%s\n", numbered[i], line + n + strcspn(line + n, " "));
			return;
		}
	}
	if (strncmp(line, "-number ", 8) != 0)
		fprintf(to, "%s\n", line);
}

static void save_state(FILE *to, char *state)
{
	s32 inside = 0; /* blocks that are open */
	char *line;

	while ((line = strsep(&state, "\n")) && *line) {
		if (!inside && !is_of_points(line))
			return;
		if (inside)
			fprintf(to, "%s\n", line);
		else
			save_line(to, line);
		if (inside || !strncmp(line, "commands ", 9))
			inside += debugger_block_depth(line);
	}
}

static enum front_result save(struct front *f, const char *args)
{
	static const char what[] = "breakpoints";
	size_t n = strcspn(args, " \t");
	const char *name = args + n + strspn(args + n, " \t");
	struct text state = {0};
	FILE *to;
	bool good;

	if (!n || strncmp(args, what, n) != 0 || !*name)
		return front_error(f, "save breakpoints FILE: a file is needed");
	to = fopen(name, "w");
	if (!to)
		return front_error(f, "%s: %s", name, strerror(errno));
	if (f->connected && f->state.len)
		text_add(&state, f->state.at, f->state.len);
	else
		debugger_state(f->local, &state);
	if (state.at)
		save_state(to, state.at);
	text_fini(&state);
	good = !ferror(to);
	if (fclose(to) || !good)
		return front_error(f, "%s: %s", name, strerror(errno));
	front_printf(f, "Saved to file '%s'.\n", name);
	return FRONT_OK;
}

static enum front_result say_program(struct front *f, const char *args)
{
	struct text t = {0};

	(void)args;
	program_put_args(&f->program, &t);
	front_printf(f, "%s%s%s\n", f->program.argv[f->program.fixed - 1], t.len ? " " : "",
		     t.len ? t.at : "");
	text_fini(&t);
	if (!session_is_running(f) && f->program.attached && !f->started)
		front_printf(f, "It waits as process %ld\n", (long)f->program.attached);
	else if (!session_is_running(f))
		front_printf(f, "It is not being run\n");
	else
		front_printf(f, "It runs as process %d and %s\n", (int)f->program.pid,
			     f->connected ? "stands" : "has not used CUDA yet");
	return FRONT_OK;
}

static enum front_result say_version(struct front *f, const char *args)
{
	(void)args;
	front_printf(f, "%s\n", PACKAGE_STRING);
	return FRONT_OK;
}

/* Commands of gdb that have no meaning here. */
static const struct {
	const char *name, *why;
} refusals[] = {
	{"attach",
	 "`ptxloom debug -p PROCESS` attaches to a program of `ptxloom run --debug-wait`"},
	{"set history", "Typed lines are always kept, in $XDG_STATE_HOME/ptxloom/debug-history"},
	{"set logging", "The shell keeps output: `ptxloom debug .. | tee FILE`"},
	{"set print", "Values are printed in one way; /x and the like choose another"},
	{"set cuda", "Every access is checked, and `catch launch` stops at launches: cuda-gdb's "
		     "settings are not needed"},
	{"show cuda", "There are no settings of cuda-gdb's"},
	{"set scheduler-locking", "`freeze` and `schedule` choose which lanes go on"},
	{"info inferiors", "One program is debugged: `info program`"},
	{"info sharedlibrary",
	 "Libraries of the host have no kernels of their own: `info kernels`"},
	{"info signals", "Signals are the program's own; the debugger stops kernels alone"},
	{"info variables", "`info scope FUNCTION` lists the variables of a function"},
	{"rbreak", "`info kernels` lists the functions to break at, one by one"},
	{"core-file",
	 "There are no core files of kernels: `ptxloom run --record FILE` keeps a launch"},
	{"file", "The program is named when the debugger is started: `ptxloom debug PROG`"},
	{"handle", "Signals are the program's own; the debugger stops only kernels"},
	{"signal", "Signals are the program's own; `shell kill` sends one"},
	{"tty", "The program has the debugger's terminal; `run <FILE >FILE` redirects it"},
	{"autostep",
	 "Faults are always told at their instruction: nothing has to be stepped for that"},
	{"info autosteps",
	 "Faults are always told at their instruction: nothing has to be stepped for that"},
	{"record",
	 "Nothing has to be recorded: reverse-step and the like go back at once; `when` says how far"},
	{"checkpoint", "`bookmark NAME` keeps a time, `goto NAME` goes to it"},
	{"generate-core-file",
	 "`ptxloom run --record FILE` keeps a launch, and `ptxloom debug --replay FILE` debugs it"},
	{"info proc", "`info program` tells its process; `shell` runs commands of the system"},
	{"info files", "`info sources` lists files, `info kernels` what there is of PTX"},
	{"python", "There is no Python in this debugger; scripts have `if`, `while` and `define`"},
	{"maintenance", "That is for those who maintain gdb"},
	{"compile", "Code is not compiled here; `call` runs functions that the program has"},
	{"show print", "Values are printed in one way; /x and the like choose another"},
};

static const struct {
	const char *name;
	verb_handler *run;
} verbs[] = {
	{"run", verb_start_again},
	{"start", start},
	{"kill", kill_program},
	{"detach", detach},
	{"quit", quit},
	{"source", source},
	{"shell", shell},
	{"save", save},
	{"set args", set_args},
	{"show args", show_args},
	{"set environment", set_env},
	{"show environment", show_env},
	{"unset", unset_env},
	{"layout", layout_set},
	{"cd", change_folder},
	{"pwd", say_folder},
	{"if", misplaced},
	{"while", misplaced},
	{"define", misplaced},
	{"document", misplaced},
	{"info program", say_program},
	{"show version", say_version},
	{"set height", set_nothing},
	{"set width", set_nothing},
	{"set verbose", set_nothing},
	{"set breakpoint", set_breakpoint},
	{"set confirm", set_confirm},
	{"show confirm", show_confirm},
	{"set pagination", set_pagination},
};

enum front_result verb_run(struct front *f, const char *name, const char *args)
{
	size_t n = strlen(args);
	enum front_result r;
	char *words;

	while (n && isspace((unsigned char)args[n - 1]))
		n--;
	words = strndup(args, n);
	if (!words)
		return front_error(f, "no memory left");
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (!strcmp(verbs[i].name, name)) {
			r = verbs[i].run(f, words);
			free(words);
			return r;
		}
	free(words);
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
		if (!strcmp(refusals[i].name, name))
			return front_error(f, "%s", refusals[i].why);
	return front_error(f, "'%s' is not available here", name);
}
