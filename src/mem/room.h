/*
 * How much address space a process may still reserve.
 */
#ifndef PL_ROOM_H
#define PL_ROOM_H

#include "src/base/base.h"

/* Bytes under the limit (ulimit -v); UINT64_MAX: there is none. */
u64 room_left(void);
/*
 * How many of `whole` bytes one part may reserve: all, or with little address space an eighth, in
 * multiples of 2 MiB.
 */
u64 room_part(u64 whole);

#endif
