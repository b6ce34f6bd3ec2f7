/*
 * How many addresses a process may still take.
 */
#ifndef PL_ROOM_H
#define PL_ROOM_H

#include "src/base/base.h"

/* Bytes under the limit (ulimit -v); UINT64_MAX: there is none. */
u64 room_left(void);
/*
 * What one part may reserve of `whole` bytes: all, or of few addresses an eighth, in multiples of 2
 * MiB.
 */
u64 room_part(u64 whole);

#endif
