/*
 * Starting and ending the program that is debugged.
 *
 * It leads a process group of its own, so that Ctrl-C at the prompt does not reach it, and has the
 * terminal while it runs. Ctrl-C then goes to that group, where the program ignores it unless it
 * asks for it; a second process of the group, the guard, passes it on to us through a pipe. A
 * debugger for machine code sees such signals by ptrace, which we can do without.
 */
#include "src/tools/debug/program.h"

#include "src/base/leave.h"
#include "src/debugger/run/meet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void program_init(struct debuggee *p)
{
	*p = (struct debuggee){.socket = -1, .end = -1, .stream = {-1, -1, -1}, .guard = -1};
}

static void free_variable(struct program_variable *v)
{
	free(v->name);
	free(v->value);
}

void program_fini(struct debuggee *p)
{
	int status;

	if (p->attached) {
		program_detach(p);
	} else if (p->pid) {
		program_kill(p);
		program_reap(p, true, &status);
	}
	program_close(p);
	for (size_t i = 0; i < p->variables.len; i++)
		free_variable(&p->variables.at[i]);
	VEC_FREE(&p->released);
	free(p->args);
	VEC_FREE(&p->variables);
}

bool program_set_args(struct debuggee *p, const char *args)
{
	char *copy = strdup(args);

	if (!copy)
		return false;
	free(p->args);
	p->args = copy;
	return true;
}

void program_put_args(const struct debuggee *p, struct text *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "@%_-+=:,./";

	if (p->args) {
		text_puts(out, p->args);
		return;
	}
	for (char **a = p->argv + p->fixed; *a; a++) {
		text_puts(out, a > p->argv + p->fixed ? " " : "");
		if (**a && !(*a)[strspn(*a, plain)]) {
			text_puts(out, *a);
			continue;
		}
		text_puts(out, "'");
		for (const char *c = *a; *c; c++)
			if (*c == '\'')
				text_puts(out, "'\\''");
			else
				text_add(out, c, 1);
		text_puts(out, "'");
	}
}

bool program_set_variable(struct debuggee *p, const char *name, const char *value)
{
	struct program_variable v = {strdup(name), value ? strdup(value) : NULL};

	if (!v.name || (value && !v.value))
		goto fail;
	for (size_t i = 0; i < p->variables.len; i++)
		if (!strcmp(p->variables.at[i].name, name)) {
			free_variable(&p->variables.at[i]);
			p->variables.at[i] = v;
			return true;
		}
	if (VEC_PUSH(&p->variables, v))
		return true;
fail:
	free_variable(&v);
	return false;
}

bool program_is_code(const char *name)
{
	static const char *const ends[] = {".ptx", ".cubin", ".fatbin"};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < ARRAY_LEN(ends); i++)
		if (!strcmp(dot, ends[i]))
			return true;
	return false;
}

char **program_exec_words(size_t count, char *const *args)
{
	static char own[4096];
	char **words = calloc(count + 3, sizeof(*words));
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (!words)
		return NULL;
	own[n > 0 ? n : 0] = 0;
	words[0] = own;
	words[1] = (char *)"exec";
	memcpy(words + 2, args, count * sizeof(*words));
	return words;
}

/* ---- in the child ---- */

static void set_program_environment(const struct debuggee *p, int socket)
{
	char number[16];

	if (p->libraries)
		tool_environment_set(p->libraries);
	if (p->device)
		setenv("PTXLOOM_DEVICE", p->device, 1);
	for (size_t i = 0; i < p->variables.len; i++)
		if (p->variables.at[i].value)
			setenv(p->variables.at[i].name, p->variables.at[i].value, 1);
		else
			unsetenv(p->variables.at[i].name);
	/* A line about progress would be written over commands. */
	setenv("PTXLOOM_PROGRESS", "never", 1);
	snprintf(number, sizeof(number), "%d", socket);
	setenv("PTXLOOM_DEBUG", number, 1);
}

/*
 * What to start: argv itself, or a shell that splits `args` and becomes the program. NULL: no
 * memory.
 */
static char **program_words(const struct debuggee *p)
{
	struct text script = {0};
	char **words;

	if (!p->args)
		return p->argv;
	words = calloc(p->fixed + 4, sizeof(*words));
	text_printf(&script, "exec \"$0\" \"$@\" %s", p->args);
	if (!words || script.failed)
		return NULL;
	words[0] = "/bin/sh";
	words[1] = "-c";
	words[2] = script.at;
	memcpy(words + 3, p->argv, p->fixed * sizeof(*words));
	return words;
}

/* False, with errno: there is no such folder, or no room for another file. */
static bool set_streams(const struct debuggee *p)
{
	for (int i = 0; i < 3; i++)
		if (p->stream[i] >= 0 && dup2(p->stream[i], i) < 0)
			return false;
	return !p->cwd || !chdir(p->cwd);
}

/* Never returns. What goes wrong is written to `report` as an errno. */
static void become_program(const struct debuggee *p, int socket, int report, bool has_terminal)
{
	sigset_t none;
	char **words;
	int e;

	setpgid(0, 0);
	/* An orphan would wait at its stop for commands that never come. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (has_terminal)
		tcsetpgrp(STDIN_FILENO, getpid());
	signal(SIGINT, has_terminal ? SIG_IGN : SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGTTOU, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	fcntl(socket, F_SETFD, 0);
	/* The same addresses in each run; where that is not allowed they differ. */
	personality(ADDR_NO_RANDOMIZE);
	set_program_environment(p, socket);
	words = program_words(p);
	if (words && set_streams(p))
		execvp(words[0], words);
	e = words ? errno : ENOMEM;
	(void)!write(report, &e, sizeof(e));
	leave(127);
}

/* Never returns: a member of the program's process group that writes a byte for what was typed. */
static void become_guard(pid_t group, int to)
{
	sigset_t set;
	int number;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTSTP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	setpgid(0, group);
	for (int fd = 0; fd < 1024; fd++)
		if (fd != to)
			close(fd);
	while (!sigwait(&set, &number))
		if (write(to, number == SIGINT ? "i" : "z", 1) != 1)
			break;
	leave(0);
}

/* ---- here ---- */

/* Without a terminal, or the program's group empty already, there is nothing to guard. */
static void start_guard(struct debuggee *p)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return;
	p->guard_pid = fork();
	if (!p->guard_pid)
		become_guard(p->pid, ends[1]);
	close(ends[1]);
	if (p->guard_pid < 0) {
		p->guard_pid = 0;
		close(ends[0]);
		return;
	}
	/* In both processes: either may be first. */
	setpgid(p->guard_pid, p->pid);
	p->guard = ends[0];
}

/* Open the socket pair and the pipe for a failure of execvp. */
static bool open_ends(int sockets[2], int report[2], struct text *why)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)) {
		text_printf(why, "there is no socket for the program: %s", strerror(errno));
		return false;
	}
	if (!pipe2(report, O_CLOEXEC))
		return true;
	text_printf(why, "there is no pipe for the program: %s", strerror(errno));
	close(sockets[0]);
	close(sockets[1]);
	return false;
}

static bool has_terminal(void)
{
	return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static bool begin_attached(struct debuggee *p, struct text *why)
{
	if (p->socket < 0) {
		text_printf(why,
			    "process %ld was not started from here: it cannot be started again",
			    (long)p->attached);
		return false;
	}
	p->pid = p->attached;
	return true;
}

/* The errno that execvp failed with, or 0. */
static int wait_for_exec(int report)
{
	int e = 0;
	ssize_t n;

	do
		n = read(report, &e, sizeof(e));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(e) ? e : 0;
}

bool program_start(struct debuggee *p, struct text *why)
{
	int sockets[2], report[2], e, status;
	bool terminal = p->stream[0] < 0 && has_terminal();

	if (p->attached)
		return begin_attached(p, why);
	if (!open_ends(sockets, report, why))
		return false;
	p->pid = fork();
	if (!p->pid)
		become_program(p, sockets[1], report[1], terminal);
	close(sockets[1]);
	close(report[1]);
	if (p->pid < 0) {
		text_printf(why, "%s cannot be started: %s", p->argv[0], strerror(errno));
		p->pid = 0;
		close(sockets[0]);
		close(report[0]);
		return false;
	}
	setpgid(p->pid, p->pid);
	p->socket = sockets[0];
	if (terminal)
		start_guard(p);
	e = wait_for_exec(report[0]);
	close(report[0]);
	if (!e)
		return true;
	text_printf(why, "%s: %s", p->argv[0], strerror(e));
	program_kill(p);
	program_reap(p, true, &status);
	program_close(p);
	return false;
}

void program_take_terminal(const struct debuggee *p, bool program)
{
	if (p->guard >= 0)
		tcsetpgrp(STDIN_FILENO, program ? p->pid : getpgrp());
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void end_guard(struct debuggee *p)
{
	if (p->guard_pid) {
		kill(p->guard_pid, SIGKILL);
		waitpid(p->guard_pid, NULL, 0);
	}
	p->guard_pid = 0;
	close_fd(&p->guard);
}

/* Without a file that tells the end, the end of the connection is it. */
static bool reap_attached(struct debuggee *p, bool wait, int *status)
{
	struct pollfd fd = {p->end, POLLIN, 0};
	int n = 0;

	do
		n = p->end < 0 ? p->socket < 0 : poll(&fd, 1, wait ? -1 : 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0 && !wait)
		return false;
	*status = -1;
	p->pid = 0;
	return true;
}

bool program_reap(struct debuggee *p, bool wait, int *status)
{
	pid_t pid;

	if (p->attached)
		return reap_attached(p, wait, status);
	do
		pid = waitpid(p->pid, status, wait ? 0 : WNOHANG);
	while (pid < 0 && errno == EINTR);
	if (!pid)
		return false;
	program_take_terminal(p, false);
	end_guard(p);
	p->pid = 0;
	return true;
}

void program_close(struct debuggee *p)
{
	close_fd(&p->socket);
}

bool program_attach(struct debuggee *p, pid_t pid, struct text *why)
{
	p->socket = meet_program(pid, why);
	if (p->socket < 0)
		return false;
	p->attached = pid;
	p->end = (int)syscall(SYS_pidfd_open, pid, 0);
	return true;
}

void program_detach(struct debuggee *p)
{
	program_close(p);
	close_fd(&p->end);
	if (p->pid && !p->attached) {
		program_take_terminal(p, false);
		end_guard(p);
		if (!VEC_PUSH(&p->released, p->pid))
			kill(-p->pid, SIGKILL);
	}
	p->pid = 0;
}

pid_t program_released(struct debuggee *p)
{
	while (p->released.len) {
		pid_t last = p->released.at[p->released.len - 1];

		if (waitpid(last, NULL, WNOHANG) == 0)
			return last;
		p->released.len--;
	}
	return 0;
}

void program_suspend(const struct debuggee *p)
{
	program_take_terminal(p, false);
	kill(-p->pid, SIGSTOP);
	raise(SIGSTOP);
	program_take_terminal(p, true);
	kill(-p->pid, SIGCONT);
}

void program_kill(const struct debuggee *p)
{
	if (p->attached || kill(-p->pid, SIGKILL))
		kill(p->pid, SIGKILL);
}
