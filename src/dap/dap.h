/*
 * The Debug Adapter Protocol: what an editor asks, out of the text debugger's commands and queries.
 *
 * The adapter stands between an editor (standard streams or a TCP connection) and the core of the
 * debugger in the program's process (src/debugger/link.h). It runs as one thread that waits for the
 * editor, the core and the program's output alike. Nothing here knows what a kernel is: the core
 * answers queries in JSON, and movements are commands.
 *
 * Source: Debug Adapter Protocol, version 1.68.
 */
#ifndef PL_DAP_H
#define PL_DAP_H

#include "src/base/base.h"
#include "src/base/text.h"

#include <sys/types.h>

/* A program under the debugger, as it was started. */
struct dap_process {
	pid_t pid;
	int link;      /* socket of the core */
	int out, err;  /* pipes from its standard output and error; -1: it has its own */
	bool attached; /* it was started elsewhere: its end and its status are not ours */
};

/* What is to be started. Strings are borrowed. */
struct dap_launch {
	pid_t attach;       /* a process that waits; 0: argv is started */
	char **argv;        /* program and arguments, ends with NULL */
	const char *device; /* NULL: as the environment says */
	const char *cwd;    /* NULL: ours */
	char **env;         /* NAME=VALUE, or NAME to take it away; ends with NULL; NULL: none */
};

/*
 * Starts a program; false, with one line in `why`, when it cannot be started. The adapter closes
 * what is in `out` and waits for the process.
 */
typedef bool dap_start(const struct dap_launch *launch, struct dap_process *out, struct text *why);

/*
 * Serve one editor until it goes. in, out: its streams, owned by the caller. Returns an exit status
 * of tools: 0, or 2 when what came was not the protocol.
 */
int dap_serve(int in, int out, dap_start *start);

#endif
