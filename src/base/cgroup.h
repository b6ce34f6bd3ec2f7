/*
 * What control groups allow this process, of version 2 and 1: containers set these limits.
 */
#ifndef PL_CGROUP_H
#define PL_CGROUP_H

#include "src/base/base.h"

/* Where to look: /sys/fs/cgroup and /proc/self/cgroup, if a test does not say otherwise. */
struct cgroup_files {
	const char *root, *self;
};

extern const struct cgroup_files cgroup_of_process;

/* Processors that the group, and those it is in, may use, rounded up; 0: as many as there are. */
u32 cgroup_cpus(const struct cgroup_files *files);
/* Bytes of memory that may still be used; UINT64_MAX: no limit is set. */
u64 cgroup_memory(const struct cgroup_files *files);

#endif
