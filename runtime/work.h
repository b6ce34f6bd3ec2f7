/*
 * Work that the host does in place of a device, for drop-ins of libraries: in the order of a
 * stream, and captured as part of it, on the device's own memory.
 */
#ifndef PL_WORK_H
#define PL_WORK_H

#include "runtime/entry.h"
#include "src/dev/host_trace.h"

struct device;

/* The piece of work that runs. */
struct work_run {
	const char *name; /* the library's function, for messages */
	struct device *dev;
	struct host_from issued;
};

/* A piece of memory: `columns` times `bytes`, `pitch` bytes apart. */
struct work_memory {
	u64 address, bytes, columns, pitch;
	bool write;
};

/* Returns a CUDA error, which becomes the device's; a fault has been reported. */
typedef int work_fn(void *data, const struct work_run *w);

#define WORK_BYTES 1024u

/*
 * Run `fn` on a copy of `data`, at most WORK_BYTES, after what has been issued to the stream, which
 * is one of the current device. wait: return when it has ended. Returns a CUDA error.
 */
RT_API int plrt_work_issue(const char *name, void *stream, work_fn *fn, const void *data,
			   size_t bytes, bool wait);
/*
 * Where the host has it. NULL: not all of it is memory that the device may use so; that has been
 * reported as its fault. What is written is told to checks.
 */
RT_API void *plrt_work_memory(const struct work_run *w, const struct work_memory *m);
/* Ordinal of the current device; negative: none. */
RT_API int plrt_work_device(void);

#endif
