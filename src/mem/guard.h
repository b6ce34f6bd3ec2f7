/*
 * Accesses to memory of the host that may not be there: a program's pointers are taken at their
 * word, and a fault in such an access is an answer instead of the end of the process.
 *
 * Costs a few nanoseconds and no system call where nothing is wrong. A program that handles SIGSEGV
 * and SIGBUS has to ask mem_guard_recover first; without such a handler, faults are what they
 * always were.
 */
#ifndef PL_MEM_GUARD_H
#define PL_MEM_GUARD_H

#include "src/base/base.h"

#include <signal.h>

/*
 * Not 0: the calling thread runs this library's code, in a call of the program or as a thread of
 * ours. Only kept while the program's own accesses are watched.
 */
extern _Thread_local u32 mem_guard_inside __attribute__((tls_model("initial-exec")));

/*
 * Run fn(arg). Returns false when it touched memory that is not there, or not writable; *fault (may
 * be NULL) is then the address, 0 when the host's processor does not tell. What it did before the
 * fault stays done. fn may be left at any access: it holds no lock and owns nothing.
 */
bool mem_guard(void (*fn)(void *arg), void *arg, u64 *fault);

/*
 * For a handler of SIGSEGV or SIGBUS, first of all: a fault in a guarded access of the calling
 * thread does not return from here.
 */
void mem_guard_recover(const siginfo_t *info);

/*
 * Where the first byte of [at, at + bytes) lies on a page that does not exist, or which the program
 * may not read (write: write). False: there is none. Slow, for messages.
 */
bool mem_guard_find_bad(u64 at, u64 bytes, bool write, u64 *bad, bool *exists);

#endif
