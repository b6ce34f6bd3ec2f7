/*
 * How a debugger finds a program that waits for it: a Unix socket, named after the process, in a
 * folder that its user alone can enter. Each end checks that the other one belongs to that user.
 */
#ifndef PL_DEBUGGER_MEET_H
#define PL_DEBUGGER_MEET_H

#include "src/base/text.h"

#include <sys/types.h>

/*
 * This process waits, after a line on standard error, until a debugger comes. Returns the
 * connection, to be closed by the caller; -1 with a line in `why`.
 */
int meet_debugger(struct text *why);
/* Connect with a process that waits. Returns the connection, or -1 with a line in `why`. */
int meet_program(pid_t pid, struct text *why);

#endif
