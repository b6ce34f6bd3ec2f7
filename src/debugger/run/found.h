/*
 * Findings of checks (src/check) as stops. Private to src/debugger.
 */
#ifndef PL_DEBUGGER_FOUND_H
#define PL_DEBUGGER_FOUND_H

#include "src/check/finding.h"
#include "src/sched/debug.h"

struct debugger;

/* What the checks have found so far. */
struct found {
	char *text; /* lines, each with its end; owned */
	enum finding_kind kind;
	const char *check; /* word of PTXLOOM_CHECK */
	bool is_warning, in_launch;
	u64 launch, start; /* in_launch: and the time when that began */
	u64 time;          /* when the instruction was about to run; in_launch */
	u32 thread[3], block[3];
	char where[256]; /* "race.cu:13"; empty: unknown */
};

struct founds {
	pthread_mutex_t lock; /* of `all`: calls of the host add to it, too */
	VEC(struct found) all;
	struct findings_listener listener;
	/* a launch has made findings that are to stop it: numbers in `all`, points by number */
	VEC(size_t) waiting;
	u32 point;
	bool stays;        /* it cannot go back to the instruction */
	pthread_t thread;  /* of the launch */
	bool attached;     /* the front end has come to a program that was started without it */
	const char *shown; /* text of the stop, while it stands at a finding */
	u64 lost;          /* launch of which it has been said that nothing more is looked for */
};

void founds_fini(struct debugger *x);
/* Before an instruction: has one come that stops? *v is the answer then. */
bool found_step(struct debugger *x, enum debug_verdict *v);
/* The launch has faulted, or is about to end: likewise. */
bool found_between(struct debugger *x, enum debug_verdict *v);
/* Those between these times at which a catchpoint stops, for going back: in any order. */
void founds_between(struct debugger *x, u64 from, u64 until,
		    void (*note)(struct debugger *x, u64 time));
/* The launch stands at `time`: the first one's lane gets the focus, their words go to `out`. */
bool found_arrive(struct debugger *x, u64 time, struct text *out);
/* The user lets it go on: what checks know may not be what is. */
void found_go(struct debugger *x);
/* Does the catchpoint's text name kinds of findings? "finding", "finding race" */
bool found_kind_is_known(const char *word);

#endif
