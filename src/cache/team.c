/*
 * Threads start with the first tasks, and sleep between them.
 */
#include "src/cache/team.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct team {
	pthread_mutex_t lock;
	pthread_cond_t begin, end;
	pid_t process;
	u32 members, threads; /* wanted; started */
	bool tried;
	pthread_t thread[TEAM_MOST];
	u64 round; /* grows with each team_run */
	bool closes;
	u32 busy;   /* threads that have not done with the round */
	u32 number; /* of the next thread that starts */
	team_task *fn;
	void *user;
	u32 tasks, next; /* next: atomic */
};

static void do_tasks(struct team *t, u32 member)
{
	for (u32 i; (i = __atomic_fetch_add(&t->next, 1, __ATOMIC_RELAXED)) < t->tasks;)
		t->fn(t->user, i, member);
}

static void *team_thread(void *arg)
{
	struct team *t = arg;
	u64 seen = 0;
	u32 member;

	pthread_mutex_lock(&t->lock);
	member = ++t->number;
	for (;;) {
		while (t->round == seen && !t->closes)
			pthread_cond_wait(&t->begin, &t->lock);
		if (t->closes)
			break;
		seen = t->round;
		pthread_mutex_unlock(&t->lock);
		do_tasks(t, member);
		pthread_mutex_lock(&t->lock);
		if (!--t->busy)
			pthread_cond_signal(&t->end);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* Signals are the program's. */
static void start_members(struct team *t)
{
	sigset_t all, old;
	char name[16];

	t->tried = true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (t->threads + 1 < t->members &&
	       !pthread_create(&t->thread[t->threads], NULL, team_thread, t)) {
		snprintf(name, sizeof(name), "ptxloom-c%u", t->threads);
		pthread_setname_np(t->thread[t->threads++], name);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

struct team *team_new(u32 members)
{
	struct team *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->members = members < TEAM_MOST ? members : TEAM_MOST;
	t->process = getpid();
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->begin, NULL);
	pthread_cond_init(&t->end, NULL);
	return t;
}

void team_free(struct team *t)
{
	if (!t)
		return;
	if (t->process == getpid()) {
		pthread_mutex_lock(&t->lock);
		t->closes = true;
		pthread_cond_broadcast(&t->begin);
		pthread_mutex_unlock(&t->lock);
		for (u32 i = 0; i < t->threads; i++)
			pthread_join(t->thread[i], NULL);
		pthread_mutex_destroy(&t->lock);
		pthread_cond_destroy(&t->begin);
		pthread_cond_destroy(&t->end);
	}
	free(t);
}

u32 team_members(const struct team *t)
{
	return t && t->members && t->process == getpid() ? t->members : 1;
}

void team_run(struct team *t, u32 tasks, team_task *fn, void *user)
{
	if (team_members(t) == 1 || tasks < 2) {
		for (u32 i = 0; i < tasks; i++)
			fn(user, i, 0);
		return;
	}
	if (!t->tried)
		start_members(t);
	pthread_mutex_lock(&t->lock);
	t->fn = fn;
	t->user = user;
	t->tasks = tasks;
	__atomic_store_n(&t->next, 0, __ATOMIC_RELAXED);
	t->busy = t->threads;
	t->round++;
	pthread_cond_broadcast(&t->begin);
	pthread_mutex_unlock(&t->lock);
	do_tasks(t, 0);
	pthread_mutex_lock(&t->lock);
	while (t->busy)
		pthread_cond_wait(&t->end, &t->lock);
	pthread_mutex_unlock(&t->lock);
}
