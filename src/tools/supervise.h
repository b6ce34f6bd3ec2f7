/*
 * A limit on the time of a program that `ptxloom run` starts.
 */
#ifndef PL_TOOLS_SUPERVISE_H
#define PL_TOOLS_SUPERVISE_H

#include "src/tools/tools.h"

/* Exit status of a program that was stopped at its limit, as of timeout(1). */
#define TOOL_TIMED_OUT 124

/*
 * Run start(argv) in a child process for at most timeout_ms milliseconds, 0: as long as it takes.
 * Calls after(user) when it has ended, NULL: nothing. Returns what the child exits with,
 * TOOL_TIMED_OUT after a message, or dies of the signal that the child died of.
 */
int tool_supervise(int (*start)(char **argv), char **argv, u64 timeout_ms,
		   void (*after)(void *user), void *user);

#endif
