/*
 * Programs as trials: a process group each, whose output goes to files without names.
 */
#include "src/tools/inject/trial.h"
#include "src/base/leave.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Shells end with this and the number of the signal that a program of theirs died of. */
#define SHELL_SIGNAL 128
#define SIGNAL_MAX 64

static u64 trial_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

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

/* False: the time is over first. */
static bool trial_wait(pid_t child, u64 limit_ms, const sigset_t *set, int *status)
{
	u64 end = trial_now_ms() + limit_ms;

	for (;;) {
		u64 now = trial_now_ms(), left = end > now ? end - now : 0;
		struct timespec t = {(time_t)(left / 1000), (long)(left % 1000) * 1000000};

		if (waitpid(child, status, WNOHANG) == child)
			return true;
		if (limit_ms && !left)
			return false;
		sigtimedwait(set, NULL, limit_ms ? &t : NULL);
	}
}

static void note_status(struct trial *t, int status)
{
	t->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	t->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (t->status > SHELL_SIGNAL && t->status <= SHELL_SIGNAL + SIGNAL_MAX)
		t->signal = t->status - SHELL_SIGNAL;
}

static bool run_child(struct trial *t, char **argv, const char *const *variables, u64 limit_ms,
		      FILE *out, FILE *err)
{
	u64 begin = trial_now_ms();
	int status = 0;
	sigset_t set, old;
	pid_t child;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &old);
	fflush(NULL);
	child = fork();
	if (!child) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_SETMASK, &old, NULL);
		leave(become(argv, variables, out, err));
	}
	if (child > 0) {
		t->timed_out = !trial_wait(child, limit_ms, &set, &status);
		if (t->timed_out) {
			kill(child, SIGKILL);
			waitpid(child, &status, 0);
		}
		/* What it has started and left. */
		kill(-child, SIGKILL);
		note_status(t, status);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	t->ms = trial_now_ms() - begin;
	return child > 0;
}

bool trial_run(struct trial *t, char **argv, const char *const *variables, u64 limit_ms)
{
	FILE *out = tmpfile(), *err = tmpfile();
	bool ok;

	*t = (struct trial){0};
	ok = out && err && run_child(t, argv, variables, limit_ms, out, err) &&
	     read_output(out, &t->out) && read_output(err, &t->err);
	if (!ok)
		fprintf(stderr, "ptxloom: error: %s cannot be run: %s\n", argv[0], strerror(errno));
	if (out)
		fclose(out);
	if (err)
		fclose(err);
	if (ok && (t->status == TOOL_CANNOT_RUN || t->status == 127)) {
		fputs(t->err.at ? t->err.at : "", stderr);
		return false;
	}
	return ok;
}

void trial_fini(struct trial *t)
{
	text_fini(&t->out);
	text_fini(&t->err);
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
