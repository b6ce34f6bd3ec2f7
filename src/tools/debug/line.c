/*
 * Lines from standard input. The program reads it, too: no byte beyond the line is taken.
 */
#include "src/tools/debug/front.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* A signal that came while nothing ran; true: it was Ctrl-C. */
static bool take_signal(struct front *f)
{
	struct signalfd_siginfo info;
	bool interrupt = false;

	while (read(f->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		interrupt |= info.ssi_signo == SIGINT;
	return interrupt;
}

bool line_wait(struct front *f)
{
	for (;;) {
		struct pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {f->signals, POLLIN, 0}};

		if (poll(fds, ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
			return true;
		if (fds[1].revents && take_signal(f))
			return false;
		if (fds[0].revents)
			return true;
	}
}

static char *read_unedited(struct front *f, const char *prompt)
{
	struct text line = {0};
	char c = 0;
	ssize_t n;

	if (f->interactive)
		front_puts(f, prompt, strlen(prompt));
	for (;;) {
		if (!line_wait(f)) {
			line.len = 0;
			front_puts(f, "\n", 1);
			front_puts(f, prompt, strlen(prompt));
			continue;
		}
		n = read(STDIN_FILENO, &c, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 && !line.len)
			return NULL;
		if (n <= 0 || c == '\n')
			break;
		text_add(&line, &c, 1);
	}
	if (!line.at)
		text_puts(&line, "");
	return line.at;
}

char *line_read(struct front *f, const char *prompt)
{
	return f->edits ? line_edit(f, prompt) : read_unedited(f, prompt);
}
