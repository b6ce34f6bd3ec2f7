/*
 * The debugged process: the connection with the front end. A thread reads it from beginning to end,
 * so that an interrupt is seen while a kernel runs; commands wait in a queue for the thread that
 * runs the launch.
 */
#include "src/debugger/run/attach.h"

#include "src/base/setting.h"
#include "src/config.h"
#include "src/debugger/run/meet.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* A front end that has not printed a text by then is not waited for again. */
#define PRINTED_MS 1000

/* Frames that may wait: the front end sends one command at a time. */
#define QUEUE_MAX 64u

static const char from_front[] = {
	LINK_COMMAND, LINK_INTERRUPT, LINK_COMPLETE, LINK_QUERY, LINK_STATE, LINK_PRINTED, 0};

/*
 * The front end has one connection, which processes that the program starts inherit: the first that
 * uses CUDA has it until it ends. The lock is the process's own; a child has to ask for itself.
 */
bool debugger_is_wanted(void)
{
	struct flock claim = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	u64 fd = setting_number(SETTING_DEBUG, 0);
	const char *why = "another process is being debugged";

	if (!setting_text(SETTING_DEBUG))
		return setting_number(SETTING_DEBUG_WAIT, 0);
	if (!fcntl((int)fd, F_SETLK, &claim))
		return true;
	if (errno == EBADF)
		why = "its connection was closed when it was started";
	else if (errno != EAGAIN && errno != EACCES)
		return true;
	fprintf(stderr, "ptxloom: note: process %ld runs without the debugger: %s\n",
		(long)getpid(), why);
	unsetenv("PTXLOOM_DEBUG");
	return false;
}

/* ---- the listener ---- */

static void queue_push(struct attachment *a, struct link_frame *f)
{
	pthread_mutex_lock(&a->lock);
	if (a->queue.len < QUEUE_MAX && VEC_PUSH(&a->queue, *f))
		f->payload = NULL;
	pthread_cond_signal(&a->come);
	pthread_mutex_unlock(&a->lock);
	link_frame_fini(f);
}

static void count_printed(struct attachment *a)
{
	pthread_mutex_lock(&a->lock);
	a->printed++;
	pthread_cond_signal(&a->come);
	pthread_mutex_unlock(&a->lock);
}

static void *listen_to_front(void *arg)
{
	struct attachment *a = arg;
	struct text why = {0};
	struct link_frame f;

	while (link_receive(a->fd, from_front, &f, &why)) {
		if (f.kind == LINK_INTERRUPT) {
			__atomic_store_n(&a->interrupted, true, __ATOMIC_RELEASE);
			a->on_interrupt(a->user);
			link_frame_fini(&f);
		} else if (f.kind == LINK_PRINTED) {
			count_printed(a);
			link_frame_fini(&f);
		} else {
			/* An interrupt while it stood has come too late. */
			if (f.kind == LINK_COMMAND || f.kind == LINK_QUERY)
				__atomic_store_n(&a->interrupted, false, __ATOMIC_RELEASE);
			queue_push(a, &f);
		}
	}
	link_frame_fini(&f);
	if (!__atomic_load_n(&a->closing, __ATOMIC_ACQUIRE))
		fprintf(stderr, "ptxloom: %s%sthe program goes on without a debugger\n",
			why.len ? why.at : "", why.len ? ": " : "");
	text_fini(&why);
	pthread_mutex_lock(&a->lock);
	__atomic_store_n(&a->cut, true, __ATOMIC_RELEASE);
	pthread_cond_signal(&a->come);
	pthread_mutex_unlock(&a->lock);
	a->on_interrupt(a->user);
	return NULL;
}

bool attachment_receive(struct attachment *a, struct link_frame *out)
{
	bool good;

	pthread_mutex_lock(&a->lock);
	while (!a->queue.len && !a->cut)
		pthread_cond_wait(&a->come, &a->lock);
	good = a->queue.len != 0;
	if (good) {
		*out = a->queue.at[0];
		a->queue.len--;
		memmove(a->queue.at, a->queue.at + 1, a->queue.len * sizeof(a->queue.at[0]));
	}
	pthread_mutex_unlock(&a->lock);
	return good;
}

bool attachment_send(struct attachment *a, u8 kind, const void *payload, size_t len)
{
	if (kind == LINK_OUTPUT) {
		pthread_mutex_lock(&a->lock);
		a->sent++;
		pthread_mutex_unlock(&a->lock);
	}
	return !__atomic_load_n(&a->cut, __ATOMIC_ACQUIRE) && link_send(a->fd, kind, payload, len);
}

void attachment_wait_printed(struct attachment *a)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PRINTED_MS / 1000;
	pthread_mutex_lock(&a->lock);
	while (a->printed < a->sent && !a->cut && !a->is_slow)
		a->is_slow = pthread_cond_timedwait(&a->come, &a->lock, &until) == ETIMEDOUT;
	pthread_mutex_unlock(&a->lock);
}

/* ---- connecting ---- */

static bool attachment_start(struct attachment *a)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	a->listens = !pthread_create(&a->thread, NULL, listen_to_front, a);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return a->listens;
}

void attachment_close(struct attachment *a)
{
	if (!a->listens)
		return;
	__atomic_store_n(&a->closing, true, __ATOMIC_RELEASE);
	shutdown(a->fd, SHUT_RDWR);
	pthread_join(a->thread, NULL);
	close(a->fd);
	for (size_t i = 0; i < a->queue.len; i++)
		link_frame_fini(&a->queue.at[i]);
	VEC_FREE(&a->queue);
	pthread_cond_destroy(&a->come);
	pthread_mutex_destroy(&a->lock);
	a->listens = false;
}

/* The socket that the front end has started us with. */
static int inherited_link(struct text *why)
{
	u64 fd = 0;

	if (!setting_read(SETTING_DEBUG, &fd, why))
		return -1;
	unsetenv("PTXLOOM_DEBUG");
	if (!fcntl((int)fd, F_SETFD, FD_CLOEXEC))
		return (int)fd;
	text_printf(why, "PTXLOOM_DEBUG: file %d is not open", (int)fd);
	return -1;
}

bool attachment_open(struct attachment *a, struct text *why)
{
	char hello[64];
	int n;

	a->fd = setting_text(SETTING_DEBUG) ? inherited_link(why) : meet_debugger(why);
	if (a->fd < 0)
		return false;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->come, NULL);
	n = snprintf(hello, sizeof(hello), "%ld %s", (long)getpid(), PACKAGE_VERSION);
	if (link_send(a->fd, LINK_HELLO, hello, (size_t)n) && attachment_start(a))
		return true;
	text_puts(why, "there is no debugger at the other end of the connection");
	return false;
}
