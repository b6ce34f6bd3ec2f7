/*
 * What processes use of emulated devices, shown to others of the same user while they run: memory
 * and launches, for tools that ask which processes a GPU has. A process keeps its numbers in a file
 * without a name, which others find in /proc; it goes away with the process, however that ends.
 */
#ifndef PL_USAGE_H
#define PL_USAGE_H

#include "src/base/base.h"

#include <sys/types.h>

#define USAGE_DEVICES 64u

/* Written by its process, read by others without a lock; all atomic. */
struct usage_device {
	u8 uuid[16];
	u64 is_open;
	u64 memory_bytes; /* allocated on the device */
	u64 running;      /* launches under way */
};

struct usage {
	u64 magic, bytes; /* of this structure: of other versions is nothing known */
	s64 pid;
	struct usage_device device[USAGE_DEVICES];
};

/*
 * Begin to show what this process uses: zeros at first. NULL: it cannot be. Never freed, as other
 * threads may count until the end; a child has to call it anew.
 */
struct usage *usage_show(void);

/* Called for each device that a process has open, with what it uses. False: no more. */
typedef bool usage_fn(void *user, pid_t pid, const struct usage_device *d);

/* All processes that show it, this one among them, in the order of /proc. */
void usage_walk(usage_fn *each, void *user);

#endif
