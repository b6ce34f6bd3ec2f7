/*
 * `ptxloom dap`: the debugger for editors, on standard streams or a TCP port of this host.
 */
#include "src/dap/dap.h"
#include "src/debugger/run/meet.h"
#include "src/tools/debug/program.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

const char tool_help_dap[] =
	"Speaks the Debug Adapter Protocol, by which editors debug kernels: breakpoints, data breakpoints, values\n"
	"of all lanes, steps forwards and back. Editors start it; docs/editors.md says how they are set up.\n"
	"\n"
	"  --port N   wait for one editor at this TCP port of the local host, instead of standard input\n"
	"  --help     this text\n"
	"\n"
	"Exit status: 0, or 2 when the editor does not speak the protocol.\n";

/* ---- the program ---- */

/* What has to live as long as a program, one at a time. */
static struct tool_environment libraries;

static bool open_streams(int pipes[2][2], int *null, struct text *why)
{
	*null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (*null >= 0 && !pipe2(pipes[0], O_CLOEXEC)) {
		if (!pipe2(pipes[1], O_CLOEXEC))
			return true;
		close(pipes[0][0]);
		close(pipes[0][1]);
	}
	text_printf(why, "there are no pipes for the program: %s", strerror(errno));
	if (*null >= 0)
		close(*null);
	return false;
}

static bool set_variables(struct debuggee *p, char **env)
{
	bool ok = true;

	for (; env && *env && ok; env++) {
		char *name = strdup(*env), *value = name ? strchr(name, '=') : NULL;

		if (value)
			*value++ = '\0';
		ok = name && program_set_variable(p, name, value);
		free(name);
	}
	return ok;
}

static size_t count_words(char **words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return n;
}

/* Start it with pipes for what it prints; its process and socket are in p then. */
static bool start_with(struct debuggee *p, const struct dap_launch *l, int pipes[2][2], int null,
		       struct text *why)
{
	bool code = program_is_code(l->argv[0]);
	char **words = code ? program_exec_words(count_words(l->argv), l->argv) : NULL;
	bool ok = !code || words;

	p->argv = code ? words : l->argv;
	p->fixed = code ? 3 : 1;
	p->libraries = code ? NULL : &libraries;
	p->device = l->device;
	p->cwd = l->cwd;
	p->stream[0] = null;
	p->stream[1] = pipes[0][1];
	p->stream[2] = pipes[1][1];
	if (!ok || !set_variables(p, l->env))
		text_puts(why, "no memory left");
	else
		ok = program_start(p, why);
	free(words);
	return ok && p->pid > 0;
}

static bool dap_attach(pid_t pid, struct dap_process *out, struct text *why)
{
	int fd = meet_program(pid, why);

	*out = (struct dap_process){pid, fd, -1, -1, true};
	return fd >= 0;
}

static bool dap_start_program(const struct dap_launch *l, struct dap_process *out, struct text *why)
{
	struct debuggee p;
	int pipes[2][2], null;
	bool ok;

	if (l->attach)
		return dap_attach(l->attach, out, why);
	if (!program_is_code(l->argv[0]) && !libraries.preload && !tool_environment(&libraries)) {
		text_puts(why, "the emulated CUDA libraries are not found");
		return false;
	}
	if (l->device && !tool_check_devices(l->device)) {
		text_printf(why, "there is no device '%s'", l->device);
		return false;
	}
	if (!open_streams(pipes, &null, why))
		return false;
	program_init(&p);
	ok = start_with(&p, l, pipes, null, why);
	close(null);
	close(pipes[0][1]);
	close(pipes[1][1]);
	if (ok) {
		*out = (struct dap_process){p.pid, p.socket, pipes[0][0], pipes[1][0], false};
		/* They are the adapter's now. */
		p.pid = 0;
		p.socket = -1;
	} else {
		close(pipes[0][0]);
		close(pipes[1][0]);
	}
	program_fini(&p);
	return ok;
}

/* ---- the editor ---- */

static int say_port_error(const char *what, long port)
{
	fprintf(stderr, "ptxloom dap: error: port %ld: %s: %s\n", port, what, strerror(errno));
	return TOOL_USAGE;
}

static int serve_port(long port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons((u16)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd, one = 1, status;

	if (listener < 0)
		return say_port_error("no socket", port);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&at, n) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&at, &n)) {
		status = say_port_error("it cannot be listened at", port);
		close(listener);
		return status;
	}
	/* With port 0 the system has chosen one. */
	fprintf(stderr, "ptxloom dap: listening at 127.0.0.1:%u\n", ntohs(at.sin_port));
	do
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	close(listener);
	if (fd < 0)
		return say_port_error("no editor connected", port);
	status = dap_serve(fd, fd, dap_start_program);
	close(fd);
	return status;
}

/* -1: it is not one. */
static long port_of(const char *text)
{
	char *end;
	long port = strtol(text, &end, 10);

	return end == text || *end || port < 0 || port > 65535 ? -1 : port;
}

int tool_main_dap(const struct tool_command *self, int argc, char **argv)
{
	long port = -1;
	int status;

	for (int i = 1; i < argc; i++) {
		const char *value = NULL;

		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return tool_help(self);
		if (!strncmp(argv[i], "--port=", 7))
			value = argv[i] + 7;
		else if (!strcmp(argv[i], "--port"))
			value = argv[++i];
		else
			return tool_usage(self, "unknown option '%s'", argv[i]);
		if (!value)
			return tool_usage(self, "there is no value for '--port'");
		port = port_of(value);
		if (port < 0)
			return tool_usage(self, "'%s' is not a port: 0 to 65535", value);
	}
	/* An editor that goes away is noticed where it is written to. */
	signal(SIGPIPE, SIG_IGN);
	status = port < 0 ? dap_serve(STDIN_FILENO, STDOUT_FILENO, dap_start_program)
			  : serve_port(port);
	tool_environment_fini(&libraries);
	return status;
}
