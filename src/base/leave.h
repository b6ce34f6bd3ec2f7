/*
 * Ends a process at once, as _exit does: without its exit handlers and without the files of a
 * parent that it was forked from. A build for coverage (--enable-gcov) writes what was counted
 * first, which those handlers would have done; in others this is _exit.
 */
#ifndef PL_LEAVE_H
#define PL_LEAVE_H

#include <unistd.h>

#ifdef PL_COVERAGE
#include <dlfcn.h>

void __gcov_dump(void);

/* Programs and libraries count on their own; the runtime has an entry point for this. */
static inline void leave_coverage(void)
{
	void (*runtime)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "plrt_coverage_write");

	__gcov_dump();
	if (runtime)
		runtime();
}
#else
static inline void leave_coverage(void)
{
}
#endif

_Noreturn static inline void leave(int status)
{
	leave_coverage();
	_exit(status);
}

#endif
