/*
 * --save-metrics, --against and --allow: metrics that are kept in a file, and compared with it.
 */
#ifndef PL_TOOLS_KIT_SAVED_H
#define PL_TOOLS_KIT_SAVED_H

#include "src/profile/kept/base.h"
#include "src/tools/tools.h"

/* The options as they were given; the base once it was read. */
struct saved {
	const char *save, *against, *allow;
	bool has_places; /* --save-places */
	double slack;    /* the value of --allow */
	struct metric_base base;
};

#define SAVED_HELP                                                                                 \
	"  --save-metrics FILE     write metrics of each kernel, for --against\n"                  \
	"  --against FILE          metrics that differ from the file's are a failure\n"            \
	"  --allow PERCENT%        by how much they may differ (default 0)\n"

/* Is anything asked for? */
bool saved_is_any(const struct saved *s);
/* Before the program runs. TOOL_OK, or TOOL_USAGE after a message. */
int saved_open(struct saved *s, const struct tool_command *self);
/*
 * What the run did: compare, then write. Messages go to standard error, as lines of `self`.
 * TOOL_OK, TOOL_FINDINGS: numbers differ, TOOL_USAGE: the file cannot be written.
 */
int saved_judge(struct saved *s, const struct tool_command *self, struct metric_base *now);
/* The lines of a text on standard error, each behind "ptxloom COMMAND: WHAT". */
void saved_print(const char *command, const char *what, const struct text *t);
/* Add a file that another command has written to `now`, as rows of a test. False: a message. */
bool saved_take(struct metric_base *now, const char *path, const char *test);
void saved_fini(struct saved *s);

#endif
