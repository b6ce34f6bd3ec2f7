/*
 * `ptxloom run --timeout`: the program as a child, so that a limit on its time holds wherever it
 * hangs. At the limit it and what it has started get SIGINT, on which kernels that run are reported
 * with the places of their warps and interpreters tell where they are; then SIGTERM, then SIGKILL.
 * Else the child might as well have been started without us: it has the terminal's signals, gets
 * those that are sent to us, and we end as it does.
 */
#include "src/base/clock.h"
#include "src/tools/supervise.h"
#include "src/base/leave.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a program may take to end by itself after each signal. */
#define GRACE_MS 2000
/* How deep children of children are looked for. */
#define DEPTH_MAX 16

/* A process and all it has started. /proc/PID/task/PID/children names those of the main thread,
 * which is the one that starts others but for rare programs; orphans become children of ours. */
static void signal_tree(pid_t pid, int signal, u32 depth)
{
	char path[64];
	FILE *f;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	f = depth < DEPTH_MAX ? fopen(path, "r") : NULL;
	while (f && fscanf(f, "%d", &child) == 1)
		signal_tree(child, signal, depth + 1);
	if (f)
		fclose(f);
	if (pid != getpid())
		kill(pid, signal);
}

/* Ended children; true when ours is among them. */
static bool reap(pid_t child, int *status)
{
	bool ended = false;
	int s;
	pid_t pid;

	while ((pid = waitpid(-1, &s, WNOHANG)) > 0)
		if (pid == child) {
			*status = s;
			ended = true;
		}
	return ended;
}

/* Wait until the child has ended or the time has come. What others send us is for the child. */
static bool wait_until(pid_t child, const sigset_t *set, u64 deadline_ms, int *status)
{
	for (;;) {
		u64 now = clock_ms(), left = deadline_ms > now ? deadline_ms - now : 0;
		struct timespec t = {(time_t)(left / 1000), (long)(left % 1000) * 1000000};
		siginfo_t info;
		int signal;

		if (reap(child, status))
			return true;
		if (!left)
			return false;
		signal = sigtimedwait(set, &info, &t);
		/* From the terminal it has come to all of the group already. */
		if (signal > 0 && signal != SIGCHLD && info.si_code <= 0)
			kill(child, signal);
	}
}

/* As it ended: with its status, or of its signal. */
static int end_like(int status)
{
	const struct rlimit none = {0, 0};
	sigset_t set;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &none); /* the child has left one, if any */
	signal(WTERMSIG(status), SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

static int stop_child(pid_t child, const sigset_t *set, const char *name, u64 timeout_ms)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
	int status;

	fprintf(stderr, "ptxloom: error: %s ran for more than %llu ms (--timeout)\n", name,
		(unsigned long long)timeout_ms);
	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		signal_tree(getpid(), signals[i], 0);
		if (wait_until(child, set, clock_ms() + GRACE_MS, &status))
			break;
	}
	signal_tree(getpid(), SIGKILL, 0);
	return TOOL_TIMED_OUT;
}

/* Some thousand years. */
#define FOR_EVER_MS ((u64)1 << 50)

int tool_supervise(int (*start)(char **argv), char **argv, u64 timeout_ms,
		   void (*after)(void *user), void *user)
{
	static const int mine[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1};
	u64 deadline = clock_ms() + (timeout_ms ? timeout_ms : FOR_EVER_MS);
	sigset_t set, old;
	pid_t child;
	int status;
	bool in_time;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_LEN(mine); i++)
		sigaddset(&set, mine[i]);
	sigprocmask(SIG_BLOCK, &set, &old);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child = fork();
	if (child < 0) {
		fprintf(stderr, "ptxloom: error: %s cannot be started: %s\n", argv[0],
			strerror(errno));
		return TOOL_CANNOT_RUN;
	}
	if (!child) {
		sigprocmask(SIG_SETMASK, &old, NULL);
		leave(start(argv));
	}
	in_time = wait_until(child, &set, deadline, &status);
	if (!in_time)
		status = stop_child(child, &set, argv[0], timeout_ms);
	if (after)
		after(user);
	return in_time ? end_like(status) : status;
}
