/* The command line of `ptxloom profile`: Nsight Compute's options, and some of our own. */
#ifndef PL_TOOLS_PROFILE_OPTIONS_H
#define PL_TOOLS_PROFILE_OPTIONS_H

#include "src/profile/budget.h"
#include "src/profile/page/page.h"
#include "src/profile/pick.h"
#include "src/tools/kit/saved.h"
#include "src/tools/tools.h"

struct profile_options {
	const struct tool_command *self;
	const char *device, *export_to, *import_from, *log_file;
	const char *diff[2]; /* NULL: nothing is compared */
	u32 diff_limit;      /* kernels to show; 0: all */
	bool tells_diff;     /* by the exit status */
	bool is_traced, has_variables;
	bool is_forced, is_quiet, has_page;
	bool chose_metrics; /* --metrics */
	u64 timeout_ms;
	u64 caches; /* index in PTXLOOM_PROFILE_CACHES */
#define CACHES_ARE_OFF 2u
	/* Choices of launches, as they are written; NULL: not given. */
	const char *kernels, *base, *skip, *skip_all, *count;
	struct text include, exclude; /* of ranges, a filter a line */
	bool waits;                   /* for cudaProfilerStart */
	bool ignores_switches;        /* and cudaProfilerStop */
	struct profile_pick pick;     /* the same, for reports */
	struct page page;
	struct profile_budgets budgets;
	struct saved saved;
	int program; /* index in argv */
};

/*
 * Fill in from the command line. Returns TOOL_OK, TOOL_USAGE after a message, or -1 when all that
 * was asked for has been printed. profile_options_fini frees it in any case.
 */
int profile_options_parse(const struct tool_command *self, struct profile_options *o, int argc,
			  char **argv);
void profile_options_fini(struct profile_options *o);

#endif
