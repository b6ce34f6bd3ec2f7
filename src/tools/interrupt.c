/*
 * A thread of its own waits for the signal, so that it may take locks, which a handler may not.
 */
#include "src/tools/interrupt.h"

#include "src/sched/rest.h"

#include <signal.h>
#include <time.h>

static void fill_signal_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGUSR1);
}

static void change_mask(int how)
{
	sigset_t set;

	fill_signal_set(&set);
	pthread_sigmask(how, &set, NULL);
}

static void *wait_for_signal(void *user)
{
	struct interrupt *i = user;
	const struct timespec tick = {0, ATTEND_TICK_MS * 1000000};
	sigset_t set;
	int number;

	fill_signal_set(&set);
	while ((number = i->shows ? sigtimedwait(&set, NULL, &tick) : sigwaitinfo(&set, NULL)) !=
	       SIGINT)
		if (number == SIGUSR1)
			attend_tell(&i->line, i->pool);
		else if (i->shows)
			attend_tick(&i->line, i->pool);
	attend_wipe(&i->line);
	__atomic_store_n(&i->hit, true, __ATOMIC_RELEASE);
	signal(SIGINT, SIG_DFL);
	change_mask(SIG_UNBLOCK);
	sched_interrupt(i->pool, "interrupted (SIGINT)");
	return NULL;
}

void interrupt_prepare(void)
{
	change_mask(SIG_BLOCK);
}

void interrupt_begin(struct interrupt *i, struct sched_pool *pool, u64 when)
{
	*i = (struct interrupt){.pool = pool, .shows = attend_wants(when)};
	attend_init(&i->line, when);
	if (i->shows)
		attend_follow(&i->line, pool);
	i->started = !pthread_create(&i->thread, NULL, wait_for_signal, i);
	if (i->started)
		sched_thread_apart(pool, 1);
	else
		change_mask(SIG_UNBLOCK);
}

bool interrupt_end(struct interrupt *i)
{
	if (i->started) {
		pthread_cancel(i->thread);
		pthread_join(i->thread, NULL);
		sched_thread_apart(i->pool, -1);
		attend_wipe(&i->line);
		/* Nothing runs that could be asked about. */
		signal(SIGUSR1, SIG_IGN);
	}
	change_mask(SIG_UNBLOCK);
	return __atomic_load_n(&i->hit, __ATOMIC_ACQUIRE);
}
