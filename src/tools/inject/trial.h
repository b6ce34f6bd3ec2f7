/*
 * Runs of a program that are compared with each other: each in a process of its own, with a limit
 * on its time, and with what it prints kept.
 */
#ifndef PL_TOOLS_TRIAL_H
#define PL_TOOLS_TRIAL_H

#include "src/tools/tools.h"

struct trial {
	int status; /* it ended by itself: 0 .. 255; else -1 */
	int signal; /* it died of this, or a shell says that it did; 0: it did not */
	bool timed_out;
	u64 ms;          /* how long it took */
	struct text out; /* standard output */
	struct text err; /* standard error */
};

/*
 * Run PROG with its arguments as `ptxloom run` does, with these variables ("NAME=VALUE", ended by
 * NULL) in its environment. limit_ms 0: none. False after a message: it cannot be started. The
 * caller frees t, also then.
 */
bool trial_run(struct trial *t, char **argv, const char *const *variables, u64 limit_ms);
void trial_fini(struct trial *t);

/* "exit status 1", "signal 6 (Aborted)", "no end within 5000 ms" */
void trial_say(const struct trial *t, struct text *out);

#endif
