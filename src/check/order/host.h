/*
 * Accesses of the host to managed, pinned and registered memory, seen by the protection of pages:
 * those that work has touched which the host has not waited for. The first access to such a page
 * faults, is noted, and takes place; the page is then open until more work touches it.
 */
#ifndef PL_CHECK_HOST_H
#define PL_CHECK_HOST_H

#include "src/dev/host_trace.h"
#include "src/mem/mem.h"

#include <signal.h>

struct host_access {
	u64 address;
	bool writes;
	struct host_from from;
};

/* The process's handler of faults, which asks host_guard_fault. */
typedef void host_guard_handler(int signal, siginfo_t *info, void *context);
void host_guard_set_handler(host_guard_handler *handler);
/* Is it in place? A program may set its own. */
bool host_guard_works(void);
/*
 * Pages may be guarded between two addresses; one table for the process, whose handler of faults
 * asks it. lock of the caller held, here and below.
 */
void host_guard_open(u64 first, u64 end);
/* The program's own memory: whole pages that it may read and write, but none of stacks. */
void host_guard_open_program(u64 address, u64 bytes);
/* Where guarded pages may lie, one after the other. False: there are no more. */
bool host_guard_range(u32 i, u64 *first, u64 *end);
/* A page that was written, or only read, from now on. */
void host_guard_arm(u64 address, bool is_written);
/* All pages are open. */
void host_guard_disarm(void);
/* These pages are no longer ours: their memory is freed. */
void host_guard_forget(u64 address, u64 bytes);
/* Take the next access that was noted. False: there is none. */
bool host_guard_next(struct host_access *out);
/* For a handler of SIGSEGV: was it such a fault? The access is then to be tried again. */
bool host_guard_fault(const siginfo_t *info, const void *context);

#endif
