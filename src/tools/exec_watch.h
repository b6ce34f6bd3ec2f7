/* What `ptxloom exec` tells about a launch: --count and --trace. */
#ifndef PL_TOOLS_EXEC_WATCH_H
#define PL_TOOLS_EXEC_WATCH_H

#include "src/check/race.h"
#include "src/watch/counters.h"
#include "src/watch/tee.h"
#include "src/watch/trace.h"

struct exec_watch {
	bool count, races;
	const char *trace_path; /* NULL: no trace; "-": standard output */
	struct mem *mem;        /* of the device, borrowed */
	FILE *file;
	struct watch_counters counters;
	struct watch_trace trace;
	struct race_check race;
	struct race_totals found;
	struct watch_tee tee;
};

/* NULL when nothing is asked for. *ok is false, with errno set, when the file cannot be written. */
const struct exec_observer *exec_watch_open(struct exec_watch *w, bool *ok);
/*
 * Print the counters on standard output, close the trace. False, with errno set: it is not whole.
 */
bool exec_watch_close(struct exec_watch *w);
/* Races that it found; after exec_watch_close. */
bool exec_watch_found(const struct exec_watch *w);

#endif
