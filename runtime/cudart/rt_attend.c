/*
 * Looks after the process's launches on behalf of the user at the terminal: Ctrl-C and SIGTERM
 * while kernels run, and a line about those that run for long.
 *
 * SIGINT: launches are stopped and tell where their warps are; then the process dies of the signal
 * as ever. A program with a handler of its own has that called at once, as without us; its launches
 * are stopped only if they still run a second later, so that one that wants to end in order can. A
 * second SIGINT before that is over ends the process. SIGTERM is handled only where the program
 * leaves it to the system. SIGUSR1: launches tell where their warps are and go on, unless the
 * program does something about the signal itself. A handler may take no lock, so it posts a
 * semaphore, and a thread does the rest. No file: the program may close any, and its next one would
 * get the number.
 */
#include "runtime/process.h"
#include "src/base/file.h"
#include "src/base/setting.h"
#include "src/sched/rest.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What launches get to end by themselves when the program has a handler of its own. */
#define GRACE_MS 1000
/* And to be stopped and reported. */
#define STOP_MS 3000
#define STEP_MS 5

static struct process_attendant *const the = &the_process.attendant;

static const int signals[2] = {SIGINT, SIGTERM};

static bool is_running(void)
{
	return the->rt->pool && sched_is_running(the->rt->pool);
}

/* Leave it to the system, in this thread at once. */
static void die(int signal_number)
{
	sigset_t set;

	signal(signal_number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(signal_number);
}

static bool is_default(const struct sigaction *a)
{
	return !(a->sa_flags & SA_SIGINFO) && a->sa_handler == SIG_DFL;
}

static void call_before(const struct sigaction *a, int number, siginfo_t *info, void *context)
{
	if (a->sa_flags & SA_SIGINFO)
		a->sa_sigaction(number, info, context);
	else if (a->sa_handler == SIG_DFL)
		die(number);
	else if (a->sa_handler != SIG_IGN)
		a->sa_handler(number);
}

/* In a handler: the thread is to see to the signal. */
static void tell_attendant(int number)
{
	__atomic_fetch_or(&the->told, 1u << number, __ATOMIC_RELEASE);
	if (sem_post(&the->wake))
		die(number);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	static _Thread_local bool inside;
	const struct sigaction *a = &the->before[number == SIGTERM];
	int e = errno, none = 0;

	/* The program's handler calls the one it found before its own: us. */
	if (inside)
		return;
	inside = true;
	if (the->pid != getpid() || !is_running()) {
		call_before(a, number, info, context);
	} else if (!__atomic_compare_exchange_n(&the->pending, &none, number, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
		die(number);
	} else {
		tell_attendant(number);
		if (!is_default(a))
			call_before(a, number, info, context);
	}
	inside = false;
	errno = e;
}

static void on_question(int number, siginfo_t *info, void *context)
{
	int e = errno;

	(void)info;
	(void)context;
	/* In a child by fork no thread would answer: as without us. */
	if (the->pid == getpid())
		tell_attendant(number);
	else
		die(number);
	errno = e;
}

static void install_question(void)
{
	struct sigaction mine = {.sa_sigaction = on_question, .sa_flags = SA_SIGINFO | SA_RESTART},
			 now;

	if (!sigaction(SIGUSR1, NULL, &now) && is_default(&now))
		sigaction(SIGUSR1, &mine, NULL);
}

static bool is_mine(const struct sigaction *a)
{
	return a->sa_flags & SA_SIGINFO && a->sa_sigaction == on_signal;
}

/*
 * The handler of Python's interpreter notes the signal; code of the program runs when the calls of
 * ours are over.
 */
static bool is_of_python(const struct sigaction *a)
{
	void *handler = a->sa_flags & SA_SIGINFO ? (void *)a->sa_sigaction : (void *)a->sa_handler;
	const char *name;
	Dl_info i;

	if (!dladdr(handler, &i) || !i.dli_fname)
		return false;
	name = file_base_name(i.dli_fname);
	return !strncmp(name, "python", 6) || !strncmp(name, "libpython", 9);
}

/* For sched_handlers_apart: ours, unless it calls one of the program that may do anything. */
static bool is_apart(int number, const struct sigaction *a)
{
	const struct sigaction *theirs = is_mine(a) ? &the->before[number == SIGTERM] : a;
	bool none = !(theirs->sa_flags & SA_SIGINFO) &&
		    (theirs->sa_handler == SIG_DFL || theirs->sa_handler == SIG_IGN);

	return none || is_of_python(theirs) ||
	       (a->sa_flags & SA_SIGINFO && a->sa_sigaction == on_question);
}

/* Put ourselves before what the program has for a signal, unless it ignores it. */
static void install_signal(u32 i)
{
	struct sigaction mine = {.sa_sigaction = on_signal}, now;

	if (sigaction(signals[i], NULL, &now) || is_mine(&now))
		return;
	if (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_IGN)
		return;
	if (signals[i] == SIGTERM && !is_default(&now))
		return;
	mine.sa_mask = now.sa_mask;
	mine.sa_flags = SA_SIGINFO | (now.sa_flags & (SA_RESTART | SA_ONSTACK));
	if (is_default(&now))
		mine.sa_flags |= SA_RESTART;
	the->before[i] = now;
	sigaction(signals[i], &mine, NULL);
}

void rt_attend_wait(void)
{
	if (the->pid == getpid())
		install_signal(0);
}

static u64 oldest_launch(void)
{
	struct sched_progress x;

	return sched_progress(the->rt->pool, &x) ? x.serial : 0;
}

static void rest(void)
{
	nanosleep(&(struct timespec){0, STEP_MS * 1000000}, NULL);
}

/* Output of kernels that could not be read otherwise. Not when the program holds the lock. */
static void flush_output(void)
{
	if (ftrylockfile(stdout))
		return;
	fflush_unlocked(stdout);
	funlockfile(stdout);
}

/* Stop what runs, wait until it has, and die if the program leaves that to the system. */
static void see_to(int number)
{
	const char *why = number == SIGINT ? "interrupted (SIGINT)" : "ended by SIGTERM";
	bool dies = is_default(&the->before[number == SIGTERM]);
	u64 first = oldest_launch();

	attend_wipe(&the->line);
	for (u32 ms = 0; !dies && ms < GRACE_MS && oldest_launch() == first; ms += STEP_MS)
		rest();
	if (dies)
		__atomic_store_n(&the->dying, number, __ATOMIC_RELEASE);
	if (dies || (first && oldest_launch() == first))
		sched_interrupt(the->rt->pool, why);
	for (u32 ms = 0; dies && ms < STOP_MS && is_running(); ms += STEP_MS)
		rest();
	if (dies)
		die(number);
	__atomic_store_n(&the->pending, 0, __ATOMIC_RELEASE);
}

void rt_attend_reported(void)
{
	int number = __atomic_load_n(&the->dying, __ATOMIC_ACQUIRE);

	if (!number)
		return;
	flush_output();
	die(number);
}

/* Until there are signals to see to, or the line is due. Returns the signals, 0: none. */
static u32 wait_for_signals(void)
{
	struct timespec until;

	if (the->shows) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += ATTEND_TICK_MS * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		sem_timedwait(&the->wake, &until);
	} else {
		sem_wait(&the->wake);
	}
	return __atomic_exchange_n(&the->told, 0, __ATOMIC_ACQUIRE);
}

static void *attend(void *arg)
{
	(void)arg;
	for (;;) {
		u32 told = wait_for_signals();

		if (told & 1u << SIGUSR1)
			attend_tell(&the->line, the->rt->pool);
		for (u32 i = 0; i < ARRAY_LEN(signals); i++)
			if (told & 1u << signals[i])
				see_to(signals[i]);
		if (!told && the->shows)
			attend_tick(&the->line, the->rt->pool);
	}
	return NULL;
}

void rt_attend(struct rt *rt)
{
	u64 when = setting_number(SETTING_PROGRESS, ATTEND_AUTO);
	pthread_t thread;
	sigset_t all, old;
	bool started;

	the->rt = rt;
	/* A debugged program stands for as long as people think. */
	the->shows = !the_process.debugger && attend_wants(when);
	attend_init(&the->line, when);
	if (the->shows)
		attend_follow(&the->line, rt->pool);
	if (sem_init(&the->wake, 0, 0))
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	started = !pthread_create(&thread, NULL, attend, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!started)
		return;
	pthread_detach(thread);
	sched_thread_apart(rt->pool, 1);
	the->pid = getpid();
	install_signal(0);
	install_signal(1);
	install_question();
	sched_handlers_apart(rt->pool, is_apart);
	streams_set_waiting(rt->streams, rt_attend_wait);
}
