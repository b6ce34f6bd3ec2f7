/*
 * `ptxloom explore`: runs of a program under many schedules, until one fails.
 */
#include "src/check/finding.h"
#include "src/tools/explore/explore.h"
#include "src/base/demangle.h"
#include "src/base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char tool_help_explore[] =
	"Runs PROG again and again, each time with another interleaving of its warps, until a run fails; then says\n"
	"which warp has to stop where for that, and prints a line that repeats it exactly.\n"
	"\n"
	"  -n N                  so many schedules: 200; with --strategy exhaustive all\n"
	"  --time TIME           begin none after this time (30s, 2m)\n"
	"  -j N                  so many runs at a time: one for each core. The answer is the same\n"
	"  --strategy NAME       mixed (default), pct: random priorities that change; random; starve: a warp waits;\n"
	"                        exhaustive: every one with at most --depth - 1 preemptions, of launches or CTAs of\n"
	"                        at most 200 visible operations\n"
	"  --depth N             most priorities that change in a schedule, and one more: 3; exhaustive: 2\n"
	"  --same-output         a run fails, too, if the host gets other contents of device memory\n"
	"  --all                 go on after the first failure: each distinct one is reported, with its line\n"
	"  --check CHECKS        a run fails, too, if a check finds something: mem, race, or all\n"
	"  --inject RULES|@FILE  PROG meets these errors, as of `ptxloom run`; its exit status is to be always the\n"
	"                        same then\n"
	"  --weak                device memory is as weak as the PTX model allows: missing fences show\n"
	"  --minimise N          most runs that make a failing schedule smaller: 100\n"
	"  --shard I/N           of all schedules only the I-th, (I + N)-th ..; I from 1 to N, and 0 as N\n"
	"  --timeout TIME        a run that takes longer fails; ten times the natural run and 5s\n"
	"  --replay TOKEN        no search: run PROG once with this schedule, a word or @FILE\n"
	"  -d, --device DEVICE   as of `ptxloom run`; several times: schedules take them in turn\n"
	"  --help                this text\n"
	"\n"
	"Exit status: 0 if no schedule fails, 1 if one does, 2 for wrong arguments, 3 if PROG fails by itself or\n"
	"launches nothing; with --replay that of PROG, 87 if it launches something else.\n";

/* The natural run, without --timeout. */
#define NATURAL_MS 300000u

/* ---- the natural run ---- */

/* A program that meets an injected error may say so. */
static bool is_unfit(const struct explore *x, const struct explore_run *r)
{
	return r->trial.timed_out || r->trial.signal || r->notes.stuck ||
	       (!x->o.inject && (r->trial.status || r->notes.faults)) ||
	       (x->o.check && r->trial.status == CHECK_EXIT_FOUND);
}

/* Returns TOOL_OK, or the status to end with after a message. */
int explore_naturally(struct explore *x, u32 device)
{
	struct explore_run *r = &x->natural[device];
	struct schedule s = {0};
	struct text how = {0};
	int status = TOOL_OK;

	x->limit_ms = NATURAL_MS;
	if (!explore_run(x, r, device, &s))
		return TOOL_CANNOT_RUN;
	explore_say_how(x, r, &how);
	if (is_unfit(x, r)) {
		fputs(r->trial.out.at ? r->trial.out.at : "", stdout);
		fputs(r->trial.err.at ? r->trial.err.at : "", stderr);
		printf("explore: %s fails by itself: %s; nothing was explored\n", x->argv[0],
		       how.at);
		status = EXPLORE_UNFIT;
	} else if (!r->notes.steps) {
		printf("explore: %s launches no kernel that touches memory; nothing was explored\n",
		       x->argv[0]);
		status = EXPLORE_UNFIT;
	}
	text_fini(&how);
	return status;
}

/* ---- one run ---- */

static int replay_schedule(struct explore *x)
{
	struct tool_environment e;

	if (!tool_environment(&e))
		return TOOL_CANNOT_RUN;
	setenv("LD_PRELOAD", e.preload, 1);
	setenv("LD_LIBRARY_PATH", e.library_path, 1);
	tool_environment_fini(&e);
	setenv("PTXLOOM_SCHEDULE", x->o.replay, 1);
	unsetenv("PTXLOOM_SEED");
	unsetenv("PTXLOOM_WEAK");
	if (x->o.check)
		setenv("PTXLOOM_CHECK", x->o.check, 1);
	if (x->o.inject)
		setenv("PTXLOOM_INJECT", x->o.inject, 1);
	if (x->o.devices.at[0])
		setenv("PTXLOOM_DEVICE", x->o.devices.at[0], 1);
	return tool_start_program(x->argv);
}

static int make_notes_folder(struct explore *x)
{
	if (file_make_temp("ptxloom-explore", x->dir, sizeof(x->dir)))
		return TOOL_OK;
	fprintf(stderr, "ptxloom explore: no folder for notes in %s: %s\n", file_temp(),
		strerror(errno));
	*x->dir = '\0';
	return TOOL_CANNOT_RUN;
}

static int explore_program(struct explore *x)
{
	int status = make_notes_folder(x);

	status = status ? status : search_program(x);
	for (u32 i = 0; i < EXPLORE_DEVICES; i++)
		explore_run_fini(&x->natural[i]);
	if (*x->dir)
		rmdir(x->dir);
	return status;
}

int tool_main_explore(const struct tool_command *self, int argc, char **argv)
{
	struct explore x = {.o = {.jobs = tool_cores(), .minimise = 100}};
	int i = 1, status = TOOL_OK;

	for (; i < argc && argv[i][0] == '-' && !status; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return tool_help(self);
		status = explore_read_option(self, &x.o, argc, argv, &i);
	}
	if (!status && i == argc)
		status = tool_usage(self, "no program given");
	if (!status && !x.o.devices.len && !VEC_PUSH(&x.o.devices, NULL))
		status = tool_usage(self, "no memory left");
	if (!status)
		status = explore_check_options(self, &x.o);
	x.argv = argv + i;
	status = status ? status : tool_check_file(argv[i]);
	demangle_prepare();
	if (!status && x.o.replay) {
		status = tool_check_schedule(x.o.replay) ? replay_schedule(&x) : TOOL_USAGE;
	} else if (!status) {
		status = explore_program(&x);
	}
	VEC_FREE(&x.o.devices);
	return status;
}
