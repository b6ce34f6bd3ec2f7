/*
 * What a person at the terminal sees while kernels run: a line about long launches, and where
 * warps are when a signal comes.
 */
#ifndef PL_DEV_ATTEND_H
#define PL_DEV_ATTEND_H

#include "src/base/text.h"
#include "src/sched/sched.h"

#include <pthread.h>

/*
 * When a line is shown: the words of PTXLOOM_PROGRESS, by index. Other values are SETTING_SECONDS
 * and how often a line is written that stays.
 */
enum attend_progress { ATTEND_AUTO, ATTEND_ALWAYS, ATTEND_NEVER };

/* How often attend_tick is to be called. */
#define ATTEND_TICK_MS 250

/* The line on standard error. */
struct attend_line {
	pthread_mutex_t lock;
	bool is_shown;         /* atomic */
	u64 period_ns, due_ns; /* of lines that stay; 0: there is one that changes */
};

/* Is it to be shown? auto: when standard error is a terminal and the process in its foreground. */
bool attend_wants(u64 when);
/* `when` as above. */
void attend_init(struct attend_line *l, u64 when);
/*
 * Show the line, change it, or wipe it off when no launch runs for long any more; or write one, if
 * it is time for it and a launch runs.
 */
void attend_tick(struct attend_line *l, struct sched_pool *p);
/* Have the line wiped off whenever a launch ends, before the program goes on. */
void attend_follow(struct attend_line *l, struct sched_pool *p);
void attend_wipe(struct attend_line *l);
/* Text to standard error, past stdio, whose lock the program may hold. */
void attend_put(const struct text *t);
/* Have what runs tell there where its warps are, and go on (SIGUSR1). */
void attend_tell(struct attend_line *l, struct sched_pool *p);

#endif
