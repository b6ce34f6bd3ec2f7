/*
 * The checks of calls: which failed, and why; what they have made and nothing has ended.
 */
#ifndef PL_CHECK_CALLS_H
#define PL_CHECK_CALLS_H

#include "runtime/entry_log.h"

/* The checks that need to know of each call. */
#define CHECKS_OF_CALLS ((u32)(CHECK_MEM | CHECK_LEAK | CHECK_API))

/* After a call with this answer; from: where it returns to in the program. */
void check_call(const char *name, int status, const void *from, const struct entry_argument *a);
/*
 * The launch that the thread's current call asks for is refused. from: the code that holds it,
 * NULL: that which makes the call. Part of what is reported when the call ends.
 */
void check_call_refused(const struct device_launch *l, int status, const void *from);
/*
 * Add where the allocation that is, or was, at `base` was made and freed: whole lines. Nothing when
 * no call has made it.
 */
void check_calls_say_origin(u64 base, struct text *t);
/* The same of the allocation at or near an address. */
void check_calls_say_near(struct mem *m, u64 address, struct text *t);
/* Device i is reset, -1: the process ends. What was made there and is not freed is reported. */
void check_calls_leaks(int device);

#endif
