/*
 * The checks of calls: which failed, and why; what they have made and nothing has ended.
 */
#ifndef PL_CHECK_CALLS_H
#define PL_CHECK_CALLS_H

#include "runtime/entry_log.h"
#include "src/dev/memory/copy.h"

/* The checks that need to know of each call. */
#define CHECKS_OF_CALLS ((u32)(CHECK_MEM | CHECK_LEAK | CHECK_API | CHECK_RACE | CHECK_INIT))

/* After a call with this answer; caller: where it returns to in the program. */
void check_call(const char *name, int status, const void *caller, const struct entry_argument *a);
/* Does a call of this name allocate memory, whose address its first argument points to? */
bool check_call_allocates(const char *name);
/*
 * The launch that the thread's current call asks for is refused. from: the code that holds it;
 * empty: that which makes the call. Part of what is reported when the call ends.
 */
void check_call_refused(const struct device_launch *l, int status, struct host_from from);
/*
 * Add where the allocation at or near an address was made, and where it was freed. Nothing when no
 * call has made it.
 */
void check_calls_add_near(struct mem *m, u64 address, struct finding *f);
/* Add ", main in scale.cu:30" for the call that made the allocation at `base`, if that is known. */
void check_calls_say_origin(u64 base, struct text *out);
/* Memory of a device that a copy or fill was to use is gone: a message, or a finding. */
void check_copy(const struct device *d, const struct copy_fault *fault);
/* exec_syscalls.taken: remember who takes blocks of the heap. */
void check_heap_taken(const struct exec_call *c, u64 address, u64 bytes);
/* Report what is left of them. made_leak: count a leak. */
void check_heap_leaks(struct exec_heap *h);
void made_leak(u64 bytes);
/* Device i is reset, -1: the process ends. What was made there and is not freed is reported. */
void check_calls_leaks(int device);

#endif
