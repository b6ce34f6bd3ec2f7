/*
 * The state of the process, as it is before the first call.
 */
#include "runtime/process.h"

#include "runtime/entry_log.h"
#include "src/base/leave.h"

#define HANDLES_MAX ((u32)1 << 21)

struct process the_process = {
	.rt_once = PTHREAD_ONCE_INIT,
	.call_log = ENTRY_LOG_UNREAD,
	.handles = HANDLE_POOL(RT_HANDLE_BYTES, HANDLES_MAX),
	.registered.lock = PTHREAD_MUTEX_INITIALIZER,
	.images = PTHREAD_MUTEX_INITIALIZER,
	.contexts.lock = PTHREAD_MUTEX_INITIALIZER,
	.logs.lock = PTHREAD_MUTEX_INITIALIZER,
	.refusals.lock = PTHREAD_MUTEX_INITIALIZER,
	.overruns.lock = PTHREAD_MUTEX_INITIALIZER,
	.made.lock = PTHREAD_MUTEX_INITIALIZER,
	.heap.lock = PTHREAD_MUTEX_INITIALIZER,
	.guard.once = PTHREAD_ONCE_INIT,
	.errors.once = PTHREAD_ONCE_INIT,
	.configurations.once = PTHREAD_ONCE_INIT,
};

#ifdef PL_COVERAGE
/* For programs that end by leave(), which cannot reach what this library has counted. */
__attribute__((visibility("default"))) void plrt_coverage_write(void);
void plrt_coverage_write(void)
{
	__gcov_dump();
}
#endif
