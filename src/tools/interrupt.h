/*
 * Ctrl-C while a kernel runs: the first stops the launch, which then ends with a report of where
 * its warps were; a second one ends the process at once. SIGUSR1: the report, and the launch goes
 * on.
 */
#ifndef PL_TOOLS_INTERRUPT_H
#define PL_TOOLS_INTERRUPT_H

#include "src/dev/attend.h"

#include <pthread.h>

/* What a shell makes of a process that SIGINT ended. */
#define INTERRUPT_STATUS 130

struct interrupt {
	struct sched_pool *pool; /* borrowed */
	struct attend_line line; /* about a launch that takes long */
	bool shows;
	pthread_t thread;
	bool started;
	bool hit; /* atomic */
};

/* Before the pool is made, so that none of its threads takes the signals. */
void interrupt_prepare(void);
/*
 * From now on the signal stops the pool's launches, and long ones have a line on a terminal.
 * Without a thread the signal ends the process, as ever.
 */
void interrupt_begin(struct interrupt *i, struct sched_pool *pool, u64 when);
/* Returns whether the signal came. */
bool interrupt_end(struct interrupt *i);

#endif
