/*
 * The program as it runs: commands are sent to its interpreter, and what it answers is printed
 * until it stands again or has ended. Three things can happen before: a frame, Ctrl-C, the end.
 */
#include "src/tools/debug/front.h"

#include "src/debugger/link.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A program that has closed its connection is usually ending: wait so long before saying so. */
#define LOST_MS 1000

bool session_is_running(const struct front *f)
{
	return f->program.pid != 0;
}

/* ---- frames ---- */

static void set_text(struct text *t, const char *s, size_t n)
{
	t->len = 0;
	text_add(t, s, n);
}

/* The connection is of no more use; what was not understood is in `why`. */
static void give_up(struct front *f, const char *why)
{
	if (why)
		front_error(f, "the connection with the program is given up: %s", why);
	program_close(&f->program);
	f->connected = false;
	f->lost = true;
	f->received.len = 0;
}

static void greet(struct front *f)
{
	struct text state = {0};

	f->connected = true;
	/* A second process of the program begins with what the first one knew. */
	if (f->state.len)
		text_add(&state, f->state.at, f->state.len);
	else
		debugger_state(f->local, &state);
	if (!link_send(f->program.socket, LINK_STATE, state.at ? state.at : "", state.len))
		give_up(f, NULL);
	text_fini(&state);
}

static void take_answer(struct front *f, const char *payload, size_t n)
{
	set_text(&f->where, payload, n);
	f->done = true;
	f->more = n == 4 && !memcmp(payload, "more", 4);
	f->failed = n >= 6 && !memcmp(payload + n - 6, "failed", 6);
}

static void take_frame(struct front *f, u8 kind, const char *payload, size_t n)
{
	char why[64];

	switch (kind) {
	case LINK_HELLO:
		greet(f);
		break;
	case LINK_OUTPUT:
		front_puts(f, payload, n);
		link_send(f->program.socket, LINK_PRINTED, "", 0);
		break;
	case LINK_STATE:
		set_text(&f->state, payload, n);
		break;
	case LINK_RUNS:
		break;
	case LINK_DONE:
		take_answer(f, payload, n);
		break;
	case LINK_COMPLETIONS:
	case LINK_JSON:
		set_text(&f->reply, payload, n);
		f->done = true;
		break;
	default:
		snprintf(why, sizeof(why), "a frame of unknown kind 0x%02x", kind);
		give_up(f, why);
	}
}

/* The frames that are there as a whole. */
static void take_frames(struct front *f)
{
	size_t at = 0;
	char why[64];

	while (f->program.socket >= 0 && f->received.len - at >= 4) {
		const u8 *head = (const u8 *)f->received.at + at;
		u32 n = head[0] | (u32)head[1] << 8 | (u32)head[2] << 16 | (u32)head[3] << 24;

		if (!n || n > LINK_PAYLOAD_MAX) {
			snprintf(why, sizeof(why), "a frame of %u bytes", n);
			give_up(f, why);
			return;
		}
		if (f->received.len - at - 4 < n)
			break;
		at += 4 + n;
		take_frame(f, head[4], f->received.at + at - n + 1, n - 1);
	}
	if (!at || f->program.socket < 0)
		return;
	f->received.len -= at;
	memmove(f->received.at, f->received.at + at, f->received.len);
}

/* Read and handle what is there. */
static void receive(struct front *f)
{
	while (f->program.socket >= 0) {
		ssize_t n;

		if (!VEC_RESERVE(&f->received, 65536)) {
			give_up(f, "no memory left");
			return;
		}
		n = recv(f->program.socket, f->received.at + f->received.len, 65536, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n <= 0) {
			give_up(f, f->received.len ? "it ended within a frame" : NULL);
			return;
		}
		f->received.len += (size_t)n;
		take_frames(f);
	}
}

/* ---- the end ---- */

static void set_exit_code(struct front *f, int status)
{
	struct text out = {0};
	char line[64];

	if (WIFEXITED(status))
		snprintf(line, sizeof(line), "set var $_exitcode = %d", WEXITSTATUS(status));
	else
		snprintf(line, sizeof(line), "set var $_exitsignal = %d", WTERMSIG(status));
	debugger_command(f->local, line, &out);
	text_fini(&out);
}

static void say_program_end(struct front *f, int status)
{
	if (status == -1)
		front_printf(f, "[Process %ld has ended]\n", (long)f->program.attached);
	else if (WIFEXITED(status) && !WEXITSTATUS(status))
		front_printf(f, "[The program exited normally]\n");
	else if (WIFEXITED(status))
		front_printf(f, "[The program exited with status %d]\n", WEXITSTATUS(status));
	else
		front_printf(f, "[The program was ended by SIG%s, %s]\n",
			     sigabbrev_np(WTERMSIG(status)), strsignal(WTERMSIG(status)));
}

/* What was known in the program is known here from now on. */
static void forget_program(struct front *f)
{
	struct debugger *fresh = f->state.len ? debugger_new() : NULL;

	program_close(&f->program);
	if (fresh) {
		debugger_free(f->local);
		f->local = fresh;
		front_forget_code(f);
		debugger_restore(f->local, f->state.at);
	}
	f->state.len = 0;
	f->received.len = 0;
	f->connected = f->lost = false;
}

/* True: the program has ended, and that is said. */
static bool has_ended(struct front *f, bool wait)
{
	int status;

	if (!program_reap(&f->program, wait, &status))
		return false;
	/* What it said last. */
	receive(f);
	forget_program(f);
	if (status != -1)
		set_exit_code(f, status);
	say_program_end(f, status);
	return true;
}

/* ---- waiting ---- */

static void on_interrupt(struct front *f)
{
	f->interrupted = true;
	if (++f->interrupts == 1 && f->connected) {
		link_send(f->program.socket, LINK_INTERRUPT, "", 0);
	} else if (f->interrupts == 1) {
		front_printf(f,
			     "\nThe program has not used CUDA yet, so there is nothing to stop in; "
			     "Ctrl-C again kills it\n");
	} else if (f->interrupts == 2 && f->connected) {
		front_printf(f, "\nThe program does not answer; Ctrl-C again kills it\n");
	} else {
		program_kill(&f->program);
	}
}

/* Ctrl-C from our own terminal or by kill, the end of a child, Ctrl-C from the guard. */
static bool take_signals(struct front *f)
{
	struct signalfd_siginfo info;
	bool child = false;
	char byte;

	while (read(f->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		child |= info.ssi_signo == SIGCHLD;
		if (info.ssi_signo == SIGINT)
			on_interrupt(f);
	}
	while (f->program.guard >= 0 && read(f->program.guard, &byte, 1) == 1)
		if (byte == 'z')
			program_suspend(&f->program);
		else
			on_interrupt(f);
	return child;
}

/* Wait until the command is answered; false: the program has ended. */
static bool wait_for_answer(struct front *f)
{
	bool said = false;

	for (;;) {
		struct pollfd fds[] = {{f->signals, POLLIN, 0},
				       {f->program.guard, POLLIN, 0},
				       {f->program.end, POLLIN, 0},
				       {f->program.socket, POLLIN, 0}};
		bool lost = f->lost && !said;
		int n;

		if (f->done)
			return true;
		n = poll(fds, ARRAY_LEN(fds), lost ? LOST_MS : -1);
		if (!n && lost) {
			front_printf(f, "The program has closed its connection to the debugger and "
					"goes on without it\n");
			said = true;
		}
		receive(f);
		if ((take_signals(f) || f->program.attached) && has_ended(f, false))
			return false;
	}
}

/* The program goes on, and stands again or has ended afterwards. */
static enum front_result let_run(struct front *f)
{
	bool stands;

	program_take_terminal(&f->program, true);
	stands = wait_for_answer(f);
	if (stands)
		program_take_terminal(&f->program, false);
	if (!stands)
		return FRONT_OK;
	/* Without a user that is a stop as others are: what comes next looks at it. Loops end. */
	if (f->batch && f->interrupts == 1 && !f->loops)
		f->interrupted = false;
	return f->more ? FRONT_MORE : f->failed ? FRONT_ERROR : FRONT_OK;
}

static void expect_answer(struct front *f)
{
	f->done = f->more = f->failed = false;
	f->interrupts = 0;
}

/* ---- what is asked of it ---- */

enum front_result session_run(struct front *f)
{
	struct text why = {0};
	enum front_result r = FRONT_OK;

	if (session_is_running(f))
		session_kill(f);
	fflush(stdout);
	f->started = true;
	expect_answer(f);
	if (program_start(&f->program, &why))
		r = let_run(f);
	else
		r = front_error(f, "%s", why.at ? why.at : "no memory left");
	text_fini(&why);
	return r;
}

enum front_result session_command(struct front *f, const char *line)
{
	fflush(stdout);
	expect_answer(f);
	if (f->program.socket < 0 ||
	    !link_send(f->program.socket, LINK_COMMAND, line, strlen(line))) {
		/* It has died, or has closed its connection. */
		f->lost = true;
		program_close(&f->program);
	}
	return let_run(f);
}

void session_complete(struct front *f, const char *line)
{
	expect_answer(f);
	f->reply.len = 0;
	if (f->connected && link_send(f->program.socket, LINK_COMPLETE, line, strlen(line)))
		wait_for_answer(f);
}

bool session_poll(struct front *f)
{
	if (!session_is_running(f))
		return false;
	receive(f);
	return has_ended(f, false);
}

enum front_result session_kill(struct front *f)
{
	int status;

	program_kill(&f->program);
	program_reap(&f->program, true, &status);
	receive(f);
	forget_program(f);
	return FRONT_OK;
}

void session_wait_released(struct front *f)
{
	struct pollfd fd = {f->signals, POLLIN, 0};
	pid_t pid = program_released(&f->program), said = 0;
	struct signalfd_siginfo info;

	for (; pid; pid = program_released(&f->program)) {
		if (said != pid && !f->batch)
			front_printf(f, "[Waiting for process %ld; Ctrl-C kills it]\n", (long)pid);
		said = pid;
		fflush(stdout);
		poll(&fd, 1, -1);
		while (read(f->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
			if (info.ssi_signo == SIGINT)
				kill(-pid, SIGKILL);
	}
}

void session_detach(struct front *f)
{
	receive(f);
	program_detach(&f->program);
	forget_program(f);
}
