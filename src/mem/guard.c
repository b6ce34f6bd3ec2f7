/*
 * Guarded accesses to the host's memory: a recovery point for each thread.
 */
#include "src/mem/guard.h"
#include "src/mem/mappings.h"

#include <setjmp.h>

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

bool mem_guard_find_bad(u64 at, u64 bytes, bool write, u64 *bad, bool *exists)
{
	struct mem_mappings all;
	struct mem_mapping m;
	u64 end;

	mem_mappings_open(&all);
	if (!all.f)
		return false;
	if (__builtin_add_overflow(at, bytes, &end))
		end = UINT64_MAX;
	*exists = false;
	/* `at` moves to the end of what is good. */
	while (at < end && mem_mappings_next(&all, &m)) {
		if (m.end <= at)
			continue;
		*exists = m.first <= at;
		if (!*exists || m.rights[write ? 1 : 0] == '-')
			break;
		at = m.end;
		*exists = false;
	}
	mem_mappings_close(&all);
	*bad = at;
	return at < end;
}
