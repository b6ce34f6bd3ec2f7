/*
 * Who beside kernels may change memory.
 */
#ifndef PL_MEM_SHARED_H
#define PL_MEM_SHARED_H

#include "src/mem/mem.h"

/* share_fd of an arena without a file, that has pages of other processes. */
#define MEM_ATTACHED (-2)

/*
 * May others than kernels and the program's own threads change memory that kernels on `m` see: is some of it, on any
 * device, registered, mapped, or open to other processes? *host_sees: the program's code reaches some of it without a
 * call.
 */
bool mem_is_shared(struct mem *m, bool *host_sees);

#endif
