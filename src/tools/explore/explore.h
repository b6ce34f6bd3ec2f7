/*
 * Private to `ptxloom explore`: a search among the schedules of a program.
 */
#ifndef PL_TOOLS_EXPLORE_H
#define PL_TOOLS_EXPLORE_H

#include "src/sched/steer/schedule.h"
#include "src/tools/trial.h"

/* ---- notes.c: what a run has written down (src/sched/steer/steer_notes.c) ---- */

struct noted_launch {
	u64 number, steps, order;
	u32 hash, grid[3], block[3];
	char *name; /* owned */
};

/* Two places that touched the same word, by different warps. */
struct noted_pair {
	u64 launch;
	u32 place[2];
	u64 cta[2];
	u32 warp[2], visits[2];
};

struct noted_choice {
	struct schedule_choice choice;
	char *at, *to; /* places: owned */
};

/* A warp, and how many visible operations it had; of the natural run alone, sorted. */
struct noted_agent {
	u64 launch, cta;
	u32 warp;
	u64 steps;
};

/* A warp that was held met what another did in its stead. */
struct noted_meeting {
	u64 launch, cta[2];
	u32 warp[2];
	char *place[2]; /* owned */
};

/* A warp did not see what another CTA had stored; without place[1]: it read an old line. */
struct noted_unseen {
	u64 launch, cta[2];
	u32 warp[2];
	char *place[2]; /* owned */
};

enum stuck { STUCK_NOT, STUCK_DEADLOCK, STUCK_LIVELOCK };

struct notes {
	VEC(struct noted_launch) launches;
	VEC(struct noted_pair) pairs;
	VEC(struct noted_agent) agents;
	VEC(struct noted_choice) choices;
	VEC(struct noted_meeting) meetings;
	VEC(u64) copies;
	u32 faults;
	u8 stuck;         /* enum stuck: of the first launch in which no thread goes on */
	u64 stuck_launch; /* its number */
	VEC(struct noted_unseen) unseen;
	u64 steps; /* of all launches */
};

/* False: there is no memory. A file that is not there has nothing. */
bool notes_read(struct notes *n, const char *path);
void notes_fini(struct notes *n);
/* "deadlock" */
const char *notes_stuck_word(u8 stuck);

/* ---- plan.c ---- */

enum strategy {
	STRATEGY_MIXED,
	STRATEGY_PCT,
	STRATEGY_RANDOM,
	STRATEGY_STARVE,
	STRATEGY_EXHAUSTIVE, /* exhaust.c */
};

/* Schedule number i, from 1 on, for a program whose natural run has left these notes. */
void plan_schedule(struct schedule *s, u64 i, enum strategy strategy, u32 depth,
		   const struct notes *natural);

/* ---- options and runs ---- */

struct explore_options {
	u64 schedules, time_ms, jobs, minimise, depth, shard, shards, limit_ms; /* 0: not given */
	enum strategy strategy;
	bool same_output, weak, all;
	const char *replay, *check, *inject;
	VEC(const char *) devices; /* one at least; NULL: that of the environment */
};

struct explore_run {
	struct trial trial;
	struct notes notes;
	char *path; /* of the notes; owned */
	u64 number;
	bool begun;
};

#define EXPLORE_DEVICES 16u
/* The most that an option may ask for. */
#define EXPLORE_COUNT_MOST ((u64)1 << 32)
/* Exit status where PROG cannot be explored. */
#define EXPLORE_UNFIT 3

struct explore {
	struct explore_options o;
	char **argv;
	char dir[256];
	struct explore_run natural[EXPLORE_DEVICES]; /* by device */
	u64 natural_ms, limit_ms;
	u64 runs; /* that were begun, for the names of files */
	/* exhaustive: schedules that there are, by device; will all of them be run? */
	u64 count[EXPLORE_DEVICES];
	bool every;
};

/* What became of a schedule: the order of its conflicts, as a hash. */
struct explored {
	u64 number, order;
	bool passes, strays;
};

/* Schedules that fail in one way. */
struct failure {
	u64 key, number, count; /* number: the least of them */
};

struct search {
	struct explore *x;
	u64 next, failing; /* numbers; failing 0: none so far */
	u64 begin_ms;
	struct explore_run run[TRIALS_MAX], worst;
	struct schedule schedule;
	u32 running;
	VEC(struct explored) explored;
	VEC(struct failure) failures; /* --all: distinct ones */
	u64 alike;                    /* schedules that fail like the one that is reported */
	bool broken;
};

/* ---- explore.c ---- */

/* Returns TOOL_OK, or the status to end with after a message. */
int explore_naturally(struct explore *x, u32 device);

/* ---- arguments.c: return TOOL_OK, or the status to end with after a message ---- */

int explore_read_option(const struct tool_command *self, struct explore_options *o, int argc,
			char **argv, int *i);
int explore_check_options(const struct tool_command *self, struct explore_options *o);

/* ---- runs.c ---- */

/* Begin a run, which the caller waits for and ends. Both: false after a message. */
bool explore_begin(struct explore *x, struct explore_run *r, u32 device, const struct schedule *s);
bool explore_end(struct explore_run *r);
/* Run it to its end. False after a message: it cannot be run. The caller frees r, also then. */
bool explore_run(struct explore *x, struct explore_run *r, u32 device, const struct schedule *s);
void explore_run_fini(struct explore_run *r);
/* Has it failed, where the natural run has not? */
bool explore_fails(const struct explore *x, const struct explore_run *r, u32 device);
/* In the same way? With --all they have to look alike, too. */
bool explore_alike(const struct explore *x, const struct explore_run *a,
		   const struct explore_run *b);

/* The same for failures that look alike. */
u64 explore_failure_key(const struct explore_run *r);
/* "exit status 1" */
void explore_say_how(const struct explore *x, const struct explore_run *r, struct text *t);

/* ---- exhaust.c ---- */

/* After the natural runs. Returns TOOL_OK, or the status to end with after a message. */
int exhaust_prepare(struct explore *x);
/* Of schedule number *i, which becomes its number among those of the device. */
u32 exhaust_device(const struct explore *x, u64 *i);
bool exhaust_plan(const struct explore *x, u64 i, struct schedule *s);

/* ---- search.c ---- */

int search_program(struct explore *x);
u32 explore_device(const struct explore *x, u64 i);
/* Schedule number i. False: no memory. */
bool explore_plan(const struct explore *x, u64 i, struct schedule *s);
/*
 * Of the schedules up to the one that fails, so that the answer does not depend on how many runs
 * were under way: how many passed, and how many orders they had.
 */
u64 search_passed(const struct search *q);
u64 search_orders(const struct search *q);
/* Does the schedule come before the one that is reported, or is there none? */
bool search_counts(const struct search *q, const struct explored *e);

/* ---- answer.c ---- */

int search_conclude(struct search *q);
void search_say_strays(const struct search *q);
void search_say_orders(const struct search *q);

/* ---- minimise.c ---- */

/*
 * s: the choices of a run that has failed, which are made fewer as long as it fails so. Returns
 * false after a message.
 */
bool minimise(struct explore *x, struct schedule *s, u32 device, const struct explore_run *failed);

/* ---- report.c ---- */

/* How the run of schedule s, number i, has failed: what it does, and the line that repeats it. */
void report_failure(const struct explore *x, u64 i, const struct schedule *s, u32 device,
		    const struct explore_run *r, u64 choices);

#endif
