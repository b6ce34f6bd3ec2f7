/*
 * What `ptxloom exec` is asked to do: the command line, parsed.
 */
#ifndef PL_TOOLS_EXEC_JOB_H
#define PL_TOOLS_EXEC_JOB_H

#include "src/dev/device.h"
#include "src/tools/exec_data.h"
#include "src/tools/exec_watch.h"
#include "src/tools/kit/expect.h"
#include "src/tools/tools.h"

/* A parameter of the kernel. */
struct exec_input {
	const char *option; /* as written, for messages */
	char *name;         /* of a buffer, NULL: passed by value */
	struct data data;
	u64 address; /* of a buffer */
};

struct exec_output {
	char *name;
	const char *path; /* NULL: print */
	struct data data; /* type of a variable, NULL: not given */
};

struct debugger;
struct profile_collect;
struct profile_device;
struct recorder;
struct replay;

struct exec_job {
	const struct tool_command *self;
	const char *file, *kernel, *device, *host_functions;
	const char *replay_path;   /* instead of a file; NULL: none */
	const char *launch_option; /* what a recorded launch does not take, if given; NULL */
	struct replay *replay;
	struct recorder *recorder; /* PTXLOOM_RECORD; NULL: none */
	u32 grid[3], block[3], cluster[3], shared;
	bool cooperative, dump_program;
	VEC(struct exec_input) inputs;
	VEC(struct exec_output) outputs;
	struct exec_watch watch;
	struct expect expect;
	const char *seeds; /* --seeds, NULL: one run */
	struct arch_devices profiles;
	struct sched_pool *pool;
	struct debugger *debugger;       /* NULL: none */
	struct cover_collect *coverage;  /* NULL: lines are not counted */
	struct profile_collect *profile; /* PTXLOOM_PROFILE; NULL: none */
	struct profile_device *profile_device;
	struct device dev;
	struct device_program *program;
	struct device_kernel *k;
	enum status status;
};

/* The buffer of this name among the inputs, NULL: there is none. */
const struct exec_input *exec_job_buffer(const struct exec_job *j, const char *name);
/* A buffer or variable after the launch, as elements of a type, NULL: its own. False: none. */
bool exec_job_view(struct exec_job *j, const char *name, const struct data_type *type,
		   struct data *view);
/*
 * Fill in the job from the command line; a message about what is invalid goes to standard
 * error. Returns TOOL_OK, TOOL_USAGE, or -1 when help was all that was asked for. The job keeps
 * pointers into argv, and copies of what it parses: free them with exec_job_fini in any case.
 */
int exec_job_parse(struct exec_job *j, int argc, char **argv);
/* Free what the parser made: inputs and outputs. */
void exec_job_fini(struct exec_job *j);

#endif
