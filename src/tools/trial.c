/*
 * Programs as trials: a process group each, whose output goes to files without names.
 */
#include "src/base/clock.h"
#include "src/tools/trial.h"
#include "src/base/leave.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shells end with this and the number of the signal that a program of theirs died of. */
#define SHELL_SIGNAL 128
#define SIGNAL_MAX 31 /* of those with names; statuses from 188 on are CUDA's errors */
#define POLL_MS 5

static bool read_output(FILE *f, struct text *out)
{
	char piece[4096];
	size_t n;

	rewind(f);
	while ((n = fread(piece, 1, sizeof(piece), f)))
		text_add(out, piece, n);
	return !ferror(f) && !out->failed;
}

/* In the child. Returns the status to end with. */
static int become(char **argv, const char *const *variables, FILE *out, FILE *err)
{
	struct tool_environment e;

	if (!tool_environment(&e))
		return TOOL_CANNOT_RUN;
	setenv("LD_PRELOAD", e.preload, 1);
	setenv("LD_LIBRARY_PATH", e.library_path, 1);
	tool_environment_fini(&e);
	for (; *variables; variables++)
		putenv((char *)(uintptr_t)*variables);
	dup2(fileno(out), STDOUT_FILENO);
	dup2(fileno(err), STDERR_FILENO);
	return tool_start_program(argv);
}

static void note_status(struct trial *t, int status)
{
	t->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	t->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (t->status > SHELL_SIGNAL && t->status <= SHELL_SIGNAL + SIGNAL_MAX)
		t->signal = t->status - SHELL_SIGNAL;
}

static void close_files(struct trial *t)
{
	if (t->out_file)
		fclose(t->out_file);
	if (t->err_file)
		fclose(t->err_file);
	if (t->fd >= 0)
		close(t->fd);
	t->out_file = t->err_file = NULL;
	t->fd = -1;
}

static bool say_not_run(const char *name)
{
	fprintf(stderr, "ptxloom: error: %s cannot be run: %s\n", name, strerror(errno));
	return false;
}

bool trial_begin(struct trial *t, char **argv, const char *const *variables, u64 limit_ms)
{
	*t = (struct trial){.fd = -1, .name = argv[0], .limit_ms = limit_ms};
	t->out_file = tmpfile();
	t->err_file = tmpfile();
	t->begin_ms = clock_ms();
	fflush(NULL);
	t->pid = t->out_file && t->err_file ? fork() : -1;
	if (!t->pid) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		leave(become(argv, variables, t->out_file, t->err_file));
	}
	if (t->pid < 0) {
		say_not_run(argv[0]);
		close_files(t);
		return false;
	}
	t->fd = (int)syscall(SYS_pidfd_open, t->pid, 0);
	return true;
}

/* Has it ended, by itself or since its time is over? */
static bool trial_is_over(struct trial *t, u64 now)
{
	int status = 0;

	if (waitpid(t->pid, &status, WNOHANG) != t->pid) {
		if (!t->limit_ms || now - t->begin_ms < t->limit_ms)
			return false;
		t->timed_out = true;
		kill(t->pid, SIGKILL);
		waitpid(t->pid, &status, 0);
	}
	/* What it has started and left. */
	kill(-t->pid, SIGKILL);
	t->pid = 0;
	t->ms = now - t->begin_ms;
	note_status(t, status);
	return true;
}

static int time_left(const struct trial *t, u64 now)
{
	u64 end = t->begin_ms + t->limit_ms, left = end > now ? end - now : 0;

	/* Without a descriptor of the process it is looked after now and then. */
	if (t->fd < 0)
		return POLL_MS;
	return !t->limit_ms ? -1 : left < INT_MAX ? (int)left : INT_MAX;
}

u32 trial_wait_any(struct trial *const *trials, u32 n)
{
	for (;;) {
		struct pollfd fds[TRIALS_MAX];
		u64 now = clock_ms();
		int wait = -1;

		for (u32 i = 0; i < n; i++) {
			int left = time_left(trials[i], now);

			if (trial_is_over(trials[i], now))
				return i;
			wait = wait < 0 || (left >= 0 && left < wait) ? left : wait;
			fds[i] = (struct pollfd){.fd = trials[i]->fd, .events = POLLIN};
		}
		poll(fds, n, wait);
	}
}

bool trial_end(struct trial *t)
{
	bool ok = read_output(t->out_file, &t->out) && read_output(t->err_file, &t->err);

	close_files(t);
	if (!ok)
		return say_not_run(t->name);
	if (t->status == TOOL_CANNOT_RUN || t->status == 127) {
		fputs(t->err.at ? t->err.at : "", stderr);
		return false;
	}
	return true;
}

bool trial_run(struct trial *t, char **argv, const char *const *variables, u64 limit_ms)
{
	struct trial *one[] = {t};

	if (!trial_begin(t, argv, variables, limit_ms))
		return false;
	trial_wait_any(one, 1);
	return trial_end(t);
}

void trial_drop(struct trial *t)
{
	if (t->pid > 0) {
		kill(-t->pid, SIGKILL);
		kill(t->pid, SIGKILL);
		waitpid(t->pid, NULL, 0);
	}
	t->pid = 0;
	close_files(t);
	trial_fini(t);
}

void trial_fini(struct trial *t)
{
	text_fini(&t->out);
	text_fini(&t->err);
}

void tool_say_word(const char *word, struct text *t)
{
	const char *c = word;

	while (*c && (isalnum((unsigned char)*c) || strchr("_./:=@%+,-", *c)))
		c++;
	if (*word && !*c) {
		text_puts(t, word);
		return;
	}
	text_puts(t, "'");
	for (c = word; *c; c++)
		text_printf(t, *c == '\'' ? "'\\''" : "%c", *c);
	text_puts(t, "'");
}

u64 tool_cores(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);

	return n < 1 ? 1 : n > (int)TRIALS_MAX ? TRIALS_MAX : (u64)n;
}

void trial_say(const struct trial *t, struct text *out)
{
	if (t->timed_out)
		text_printf(out, "no end within %llu ms", (unsigned long long)t->ms);
	else if (t->signal)
		text_printf(out, "signal %d (%s)", t->signal, strsignal(t->signal));
	else
		text_printf(out, "exit status %d", t->status);
}
