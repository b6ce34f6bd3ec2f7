/*
 * A trace of a program: its calls of the CUDA libraries, and the work of streams that they ask for,
 * each with its beginning and end in the time of the host.
 */
#ifndef PL_PROFILE_TRACE_H
#define PL_PROFILE_TRACE_H

#include "src/dev/stream/order.h"

struct profile_collect;
struct profile_trace;

/* NULL where PTXLOOM_PROFILE_TRACE does not ask for it, and without memory. */
struct profile_trace *profile_trace_open(struct profile_collect *c);
void profile_trace_close(struct profile_trace *t);
/* Nothing is written any more; work that still ends is not traced. */
void profile_trace_stop(struct profile_trace *t);
/* For streams_set_watch. */
const struct order_watch *profile_trace_watch(const struct profile_trace *t);
/* A call has returned; its number and when it began are those of host_call_now. */
void profile_trace_call(struct profile_trace *t, const char *name, int status);

#endif
