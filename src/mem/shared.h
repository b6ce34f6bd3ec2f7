/*
 * Who beside kernels may change memory.
 */
#ifndef PL_MEM_SHARED_H
#define PL_MEM_SHARED_H

#include "src/mem/mem.h"

/*
 * May others than kernels and the program's own threads change memory that kernels on `m` see: is
 * some of it, on any device, registered, mapped, or open to other processes? *host_sees: the
 * program's code reaches some of it without a call.
 */
bool mem_is_shared(struct mem *m, bool *host_sees);

/*
 * May anybody have come to see memory of kernels on `m` while they run: as above, or the program,
 * through managed or pinned memory? Quick: what has once been let in counts for ever.
 */
bool mem_had_others(const struct mem *m);

/* From now on these, MEM_OTHER_.., see memory of the arena. */
void mem_let_in(struct mem *m, u32 others);

#endif
