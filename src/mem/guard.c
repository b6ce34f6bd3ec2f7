/*
 * Guarded accesses to the host's memory: a recovery point for each thread.
 */
#include "src/mem/guard.h"

#include <setjmp.h>
#include <stdio.h>

struct recovery {
	jmp_buf at;
	u64 fault;
};

/* A handler must not allocate, so storage is there from the thread's beginning. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct recovery *recovery;

_Thread_local u32 mem_guard_inside __attribute__((tls_model("initial-exec")));

bool mem_guard(void (*fn)(void *arg), void *arg, u64 *fault)
{
	struct recovery here, *before = recovery;

	if (_setjmp(here.at)) {
		recovery = before;
		if (fault)
			*fault = here.fault;
		return false;
	}
	recovery = &here;
	/* The handler runs in between as far as this thread can tell. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	fn(arg);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	recovery = before;
	return true;
}

void mem_guard_recover(const siginfo_t *info)
{
	sigset_t one;

	/* What was sent, by kill or raise, is no access. */
	if (!recovery || info->si_code <= 0)
		return;
	recovery->fault = (u64)(uintptr_t)info->si_addr;
	sigemptyset(&one);
	sigaddset(&one, info->si_signo);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	_longjmp(recovery->at, 1);
}

/* A line of /proc/self/maps: [*first, *last) with its rights. */
static bool read_mapping(FILE *f, u64 *first, u64 *last, char rights[5])
{
	unsigned long from, to;
	int c;

	if (fscanf(f, "%lx-%lx %4s", &from, &to, rights) != 3)
		return false;
	while ((c = fgetc(f)) != EOF && c != '\n')
		;
	*first = from;
	*last = to;
	return true;
}

bool mem_guard_find_bad(u64 at, u64 bytes, bool write, u64 *bad, bool *exists)
{
	FILE *f = fopen("/proc/self/maps", "re");
	u64 first, last, end;
	char rights[5];

	if (!f)
		return false;
	if (__builtin_add_overflow(at, bytes, &end))
		end = UINT64_MAX;
	*exists = false;
	/* Sorted, without overlaps: `at` moves to the end of what is good. */
	while (at < end && read_mapping(f, &first, &last, rights)) {
		if (last <= at)
			continue;
		*exists = first <= at;
		if (!*exists || rights[write ? 1 : 0] == '-')
			break;
		at = last;
		*exists = false;
	}
	fclose(f);
	*bad = at;
	return at < end;
}
