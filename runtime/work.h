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

/*
 * Returns a CUDA error, which becomes the device's; a fault has been reported. WORK_NOT_READY: it
 * is to be called again soon (WORK_POLL only).
 */
typedef int work_fn(void *data, const struct work_run *w);
#define WORK_NOT_READY 600

#define WORK_BYTES 1024u

enum work_how {
	WORK_WAIT = 1, /* return when it has ended */
	WORK_POLL = 2, /* it waits for something outside of the device, and is quick */
};

/*
 * Run `fn` on a copy of `data`, at most WORK_BYTES, after what has been issued to the stream, which
 * is one of the current device. how: enum work_how. Returns a CUDA error.
 */
RT_API int plrt_work_issue(const char *name, void *stream, work_fn *fn, const void *data,
			   size_t bytes, u32 how);
/* Images that the calling thread loads and that cannot run here: nothing is printed about them. */
RT_API void plrt_images_quiet(bool on);
/*
 * Where the host has it. NULL: not all of it is memory that the device may use so; that has been
 * reported as its fault. What is written is told to checks.
 */
RT_API void *plrt_work_memory(const struct work_run *w, const struct work_memory *m);
/* Ordinal of the current device; negative: none. */
RT_API int plrt_work_device(void);
/* Make a device the current one, until plrt_work_leave. Returns a CUDA error. */
RT_API int plrt_work_enter(int device);
RT_API void plrt_work_leave(void);
/* Wait for what has been issued to the current device. */
RT_API void plrt_work_finish(void);
/* Is a stream of the current device captured into a graph? */
RT_API bool plrt_work_is_captured(void *stream);
/* What stream `to` is given from now on waits for what `from` has. Returns a CUDA error. */
RT_API int plrt_work_join(void *from, void *to);

#endif
