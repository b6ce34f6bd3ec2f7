/*
 * Atomics on shared memory that hardware has no instruction for: a loop of a load, of what is to be
 * done, and of an exchange that succeeds for one lane of each bank. As an H200 counts them
 * (tests/counters/caches.tsv).
 */
#ifndef PL_WATCH_RETRY_H
#define PL_WATCH_RETRY_H

#include "src/exec/observer.h"

enum shared_atomic {
	SHARED_ATOMIC_PLAIN, /* hardware has it */
	SHARED_ATOMIC_CAS,   /* has it, in twice the passes */
	SHARED_ATOMIC_RETRY, /* the loop */
	SHARED_ATOMIC_LOAD,  /* the loop, which ends at once for a value that changes nothing */
};

enum shared_atomic watch_shared_atomic(const struct exec_access *a);

/*
 * The lanes that are left after a turn of the loop: of each bank, of each half of the warp for 8
 * bytes, one has succeeded.
 */
u32 watch_retry_rest(const u64 *address, u32 mask, u32 width);

#endif
