/*
 * Which threads of the process can do nothing until some work of ours ends. A probe (probe.c) has
 * to know: a thread that is not among them may write what a kernel waits for.
 */
#include "src/sched/sched_int.h"

#include <dirent.h>

/*
 * The entry of a condition, NULL: there are too many, and its threads do not count. p->rest_lock
 * held.
 */
static struct rest *entry_locked(struct sched_pool *p, const pthread_cond_t *cond)
{
	struct rest *unused = NULL;

	for (u32 i = 0; i < RESTS_MAX; i++) {
		if (p->rest[i].cond == cond && p->rest[i].threads)
			return &p->rest[i];
		unused = p->rest[i].threads ? unused : &p->rest[i];
	}
	if (unused)
		unused->cond = cond;
	return unused;
}

void sched_rest(struct sched_pool *p, pthread_cond_t *cond, pthread_mutex_t *lock)
{
	struct rest *r = NULL;
	u64 turn = 0;
	int cancel;

	if (p) {
		pthread_mutex_lock(&p->rest_lock);
		r = entry_locked(p, cond);
		if (r) {
			r->threads++;
			turn = r->turn;
			__atomic_fetch_add(&p->resting, 1, __ATOMIC_RELAXED);
		}
		pthread_mutex_unlock(&p->rest_lock);
	}
	/* Who is cancelled here would keep the lock and be counted for ever. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_cond_wait(cond, lock);
	pthread_setcancelstate(cancel, NULL);
	if (!r)
		return;
	pthread_mutex_lock(&p->rest_lock);
	if (turn == r->turn) { /* it was not woken */
		r->threads--;
		__atomic_fetch_sub(&p->resting, 1, __ATOMIC_RELAXED);
		p->rests++;
	}
	pthread_mutex_unlock(&p->rest_lock);
}

void sched_wake(struct sched_pool *p, pthread_cond_t *cond)
{
	/* Who rests at the condition has said so under its lock. */
	if (p && __atomic_load_n(&p->resting, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&p->rest_lock);
		for (u32 i = 0; i < RESTS_MAX; i++) {
			struct rest *r = &p->rest[i];

			if (r->cond != cond || !r->threads)
				continue;
			__atomic_fetch_sub(&p->resting, r->threads, __ATOMIC_RELAXED);
			r->threads = 0;
			r->turn++;
		}
		p->rests++;
		pthread_mutex_unlock(&p->rest_lock);
	}
	pthread_cond_broadcast(cond);
}

void sched_thread_apart(struct sched_pool *p, s32 n)
{
	pthread_mutex_lock(&p->rest_lock);
	p->apart += (u32)n;
	pthread_mutex_unlock(&p->rest_lock);
}

void sched_handlers_apart(struct sched_pool *p,
			  bool (*is_apart)(int number, const struct sigaction *a))
{
	__atomic_store_n(&p->handler_is_apart, is_apart, __ATOMIC_RELEASE);
}

/* Threads of the process, 0: the host does not say. */
static u32 threads_of_process(void)
{
	DIR *d = opendir("/proc/self/task");
	u32 n = 0;

	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

bool sched_all_rest(struct sched_pool *p, u64 *rests)
{
	u32 ours;

	pthread_mutex_lock(&p->rest_lock);
	ours = p->thread_len + p->apart + p->resting;
	*rests = p->rests;
	pthread_mutex_unlock(&p->rest_lock);
	return threads_of_process() == ours;
}

void sched_mask_signals(sigset_t *old)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
	sigset_t all;

	sigfillset(&all);
	for (size_t i = 0; i < ARRAY_LEN(faults); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, old);
}
