/* What `ptxloom exec` tells about a launch: --count, --caches, --trace, and what checks find. */
#ifndef PL_TOOLS_EXEC_WATCH_H
#define PL_TOOLS_EXEC_WATCH_H

#include "src/check/checks.h"
#include "src/dev/device.h"
#include "src/watch/caches.h"
#include "src/watch/counters.h"
#include "src/watch/tee.h"
#include "src/watch/trace.h"

struct exec_watch {
	bool count, count_caches;
	bool steps;             /* count by each instruction, as under a debugger */
	u32 which;              /* enum check, as a mask */
	const char *trace_path; /* NULL: no trace; "-": standard output */
	struct mem *mem;        /* of the device, borrowed */
	FILE *file;
	struct watch_counters counters;
	struct watch_caches caches;
	const struct arch *arch; /* of the device, borrowed */
	struct watch_trace trace;
	struct checks checks;
	struct findings findings; /* if there are checks */
	bool failed;              /* for them; after exec_watch_close */
	struct watch_tee tee;
};

/*
 * NULL when nothing is asked for. *ok is false, with a line in `why`, when a file cannot be read or
 * written.
 */
const struct exec_observer *exec_watch_open(struct exec_watch *w, bool *ok, struct text *why);
/*
 * Print the counters on standard output, close the trace. False, with errno set: it is not whole.
 */
bool exec_watch_close(struct exec_watch *w);
/* A fault, in words; with checks it is a finding. */
void exec_watch_fault(struct exec_watch *w, const struct device_fault *fault);

#endif
