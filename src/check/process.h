/*
 * Which processes of a program are checked: PTXLOOM_CHECK_PROCESSES.
 */
#ifndef PL_CHECK_PROCESS_H
#define PL_CHECK_PROCESS_H

#include "src/base/text.h"

/* Is it a filter? False, with a line in `why`: it is not. */
bool check_processes_read(const char *filter, struct text *why);

/*
 * Before anything else looks at PTXLOOM_CHECK: hides it in a process that is not to be checked, as
 * if it were not set. Children have it all the same. Once; any thread.
 */
void check_process_settle(void);
/* In a child by fork that begins again: it settles anew, before anything looks. */
void check_process_forget(void);

/*
 * "application-only" becomes the process that calls this, which is about to become the program.
 */
void check_process_begin(void);

#endif
