/*
 * Threads that can do nothing until some work of ours ends. While all of the process's threads are,
 * only grids change memory, and one that repeats itself is a livelock (probe.c).
 */
#ifndef PL_SCHED_REST_H
#define PL_SCHED_REST_H

#include "src/base/base.h"

#include <pthread.h>
#include <signal.h>

struct sched_pool;

/*
 * pthread_cond_wait of a thread that rests so; returns as that does, and is no cancellation point.
 * The lock is held, as for sched_wake on the same condition. pool: NULL when no pool is affected.
 */
void sched_rest(struct sched_pool *p, pthread_cond_t *cond, pthread_mutex_t *lock);
/* pthread_cond_broadcast for them: they rest no more, though they may come to run only later. */
void sched_wake(struct sched_pool *p, pthread_cond_t *cond);
/*
 * There are `n` more threads in the process, beside the pool's, that never change what kernels see.
 */
void sched_thread_apart(struct sched_pool *p, s32 n);
/*
 * is_apart says of a signal's handler whether it never changes what kernels see. It is asked by
 * any thread, of each handler that is in place; until it is set none is apart.
 */
void sched_handlers_apart(struct sched_pool *p,
			  bool (*is_apart)(int number, const struct sigaction *a));

/*
 * Block signals for a thread that the caller is about to start: the program's are for its own
 * threads, but for faults: those cannot wait. *old: the mask to set again.
 */
void sched_mask_signals(sigset_t *old);

#endif
