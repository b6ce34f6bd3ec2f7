/*
 * `ptxloom exec --replay`: a recorded launch instead of a file's kernel.
 */
#ifndef PL_TOOLS_EXEC_REPLAY_H
#define PL_TOOLS_EXEC_REPLAY_H

#include "src/tools/exec_job.h"

/*
 * Open the record that the job names, before its device: settings become those of the launch, and
 * the job's profile the one it ran on. Returns TOOL_OK, or a status after a message.
 */
int exec_replay_open(struct exec_job *j, struct device_settings *s, struct diag *d);
/* Give the job's device what the record holds, and choose its kernel. Returns as above. */
int exec_replay_load(struct exec_job *j, struct diag *d);
/*
 * What a parameter of the recorded launch points to, as far as the allocation goes: "arg0" for the
 * first one, or by its name in the PTX. False: it is no parameter, or no pointer.
 */
bool exec_replay_find(const struct exec_job *j, const char *name, u64 *address, u64 *bytes);

#endif
