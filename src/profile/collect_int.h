/*
 * Private to collect*.c: what is counted of launches under way.
 */
#ifndef PL_PROFILE_COLLECT_INT_H
#define PL_PROFILE_COLLECT_INT_H

#include "src/profile/choice.h"
#include "src/profile/collect.h"
#include "src/profile/describe.h"
#include "src/profile/ranges.h"
#include "src/profile/report.h"
#include "src/profile/table/shared.h"
#include "src/watch/caches.h"
#include "src/watch/tee.h"

#include <pthread.h>

/* What the engine's side of an instruction's row is; the caches' comes from their model. */
#define COUNTED_COLUMNS ((u32)COLUMN_l1_hit)

struct profile_collect {
	pthread_mutex_t lock;
	FILE *to;                                                 /* NULL: none */
	void (*tell)(void *user, const struct profile_launch *l); /* NULL: no function is told */
	void *user;
	char *path;
	u32 caches; /* index in PTXLOOM_PROFILE_CACHES */
	bool has_variables;
	void (*origin)(u64 base, struct text *out); /* profile_variables_end; atomic */
	u64 launches, told;                         /* profiled so far; and told */
	u64 programs;                               /* described so far */
	struct map rows;                            /* struct program * -> struct profile_rows * */
	struct map written;                         /* hash of a description -> its id + 1 */
	struct profile_choice choice;
	struct profile_ranges *ranges;
	struct profile_links *links; /* NULL: none are counted */
	struct managed *managed;     /* NULL: pages of managed memory are not followed */
	bool is_short;               /* of memory: a launch is missing */
};

/* Counts of one worker for one launch. */
struct slot {
	u64 (*shared)[SHARED_COUNTS]; /* by variable; NULL: not counted, or no memory */
	u64 access[PROFILE_ACCESSES][PROFILE_FIELDS];
	u64 row[][COUNTED_COLUMNS];
};

struct collect_launch {
	struct profile_device *device;
	const struct profile_rows *rows;
	u64 number, told; /* among those that were profiled, and that were told */
	bool is_written;  /* it was chosen for the file */
	struct device_look look;
	u32 grid[3], block[3], cluster[3];
	u32 sms;                                /* that have CTAs: number n is on the SM n % sms */
	VEC(struct slot *) slots;               /* guarded by the device's lock */
	struct cache_counts caches, *sm_caches; /* the latter by SM; NULL: none */
	struct cache_insn *insns;               /* by instruction; NULL: none */
	struct profile_launch variables;        /* these, shared ones, and links alone */
	bool has_caches, is_cut;
	bool tells_pages; /* managed_launch_end is still to be called */
};

struct profile_device {
	struct profile_collect *of;
	struct device *dev;
	u64 serial; /* among those of the process */
	pthread_mutex_t lock;
	struct map launches; /* grid id + 1 -> struct collect_launch * */
	struct watch_caches caches;
	bool has_caches;
	struct exec_observer counts, shared; /* the latter: by variable in shared memory */
	/* With what watches launches beside: all, those `apart`, those that checks leave out. */
	struct watch_tee tee, tee_apart, tee_rest;
	void (*on_program)(void *user, const struct device_program *p, bool loaded); /* likewise */
	void *on_program_user;
};

/* Numbers that the driver gives to streams of its own; the default one of a device is 7. */
#define STREAMS_BEFORE 6u

/* Write a line of the file. */
void collect_put_line(struct profile_collect *c, const struct text *line);
/* What the model of the caches has counted, to be summed up; insns, sm: NULL: not these. */
void collect_keep_caches(struct collect_launch *l, const struct cache_counts *counts,
			 const struct cache_insn *insns, const struct cache_sm *sm);
/* A launch has ended: add it to the file, and tell it. false: no memory left. */
bool collect_report(struct collect_launch *l);

#endif
