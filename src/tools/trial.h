/*
 * Runs of a program that are compared with each other: each in a process of its own, with a limit
 * on its time, and with what it prints kept.
 */
#ifndef PL_TOOLS_TRIAL_H
#define PL_TOOLS_TRIAL_H

#include "src/tools/tools.h"

#include <sys/types.h>

struct trial {
	int status; /* it ended by itself: 0 .. 255; else -1 */
	int signal; /* it died of this, or a shell says that it did; 0: it did not */
	bool timed_out;
	u64 ms;          /* how long it took */
	struct text out; /* standard output */
	struct text err; /* standard error */
	/* while it runs */
	const char *name;
	pid_t pid;
	int fd; /* of the process; -1: the system has none */
	FILE *out_file, *err_file;
	u64 begin_ms, limit_ms;
};

#define TRIALS_MAX 64u

/* Add a word of a command, as a shell takes it. */
void tool_say_word(const char *word, struct text *t);
/* How many cores there are for them, from 1 to TRIALS_MAX. */
u64 tool_cores(void);

/*
 * Run PROG with its arguments as `ptxloom run` does, with these variables ("NAME=VALUE", ended by
 * NULL) in its environment. limit_ms 0: none. False after a message: it cannot be started. The
 * caller frees t, also then.
 */
bool trial_run(struct trial *t, char **argv, const char *const *variables, u64 limit_ms);
void trial_fini(struct trial *t);

/*
 * The same in parts, for several at once, TRIALS_MAX at most. False after a message: it cannot be
 * started, and there is nothing to free.
 */
bool trial_begin(struct trial *t, char **argv, const char *const *variables, u64 limit_ms);
/* Wait until one of n has ended, or its time is over; returns which. */
u32 trial_wait_any(struct trial *const *trials, u32 n);
/* It has ended: take what it has printed. False after a message, as trial_run. */
bool trial_end(struct trial *t);
/* One that has begun: stop it, and free all. */
void trial_drop(struct trial *t);

/* "exit status 1", "signal 6 (Aborted)", "no end within 5000 ms" */
void trial_say(const struct trial *t, struct text *out);

#endif
