/*
 * A thread of its own waits for the signal, so that it may take locks, which a handler may not.
 */
#include "src/tools/interrupt.h"

#include <signal.h>

static void change_mask(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	pthread_sigmask(how, &set, NULL);
}

static void *wait_for_signal(void *user)
{
	struct interrupt *i = user;
	sigset_t set;
	int which;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	if (sigwait(&set, &which))
		return NULL;
	__atomic_store_n(&i->hit, true, __ATOMIC_RELEASE);
	signal(SIGINT, SIG_DFL);
	change_mask(SIG_UNBLOCK);
	sched_cancel(i->pool);
	return NULL;
}

void interrupt_prepare(void)
{
	change_mask(SIG_BLOCK);
}

void interrupt_begin(struct interrupt *i, struct sched_pool *pool)
{
	*i = (struct interrupt){.pool = pool};
	i->started = !pthread_create(&i->thread, NULL, wait_for_signal, i);
	if (!i->started)
		change_mask(SIG_UNBLOCK);
}

bool interrupt_end(struct interrupt *i)
{
	if (i->started) {
		pthread_cancel(i->thread);
		pthread_join(i->thread, NULL);
	}
	change_mask(SIG_UNBLOCK);
	return __atomic_load_n(&i->hit, __ATOMIC_ACQUIRE);
}
