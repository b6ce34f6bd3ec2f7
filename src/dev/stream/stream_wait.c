/*
 * Waiting for work of streams and devices, and asking whether it has ended.
 */
#include "src/dev/graph/graph_stream.h"
#include "src/base/stats.h"
#include "src/sched/rest.h"

#include <time.h>

/*
 * Between two checks of what sends no signal at its end; and how many for host functions: a second.
 */
#define PAUSE_NS 50000
#define HOST_PAUSES 20000u

bool stream_in_host_call(const struct streams *all)
{
	return __atomic_load_n(&all->host.started, __ATOMIC_ACQUIRE) &&
	       pthread_equal(all->host.thread, pthread_self());
}

enum status stream_check_wait(struct stream *s)
{
	struct streams *all = s->device->all;

	if (stream_in_host_call(all))
		return STATUS_NOT_PERMITTED;
	if (PL_UNLIKELY(stream_is_capturing(s)))
		return capture_forbid(s, STATUS_STREAM_CAPTURE_UNSUPPORTED);
	if (!s->legacy)
		return stream_capture_guard(all);
	return __atomic_load_n(&all->captures, __ATOMIC_ACQUIRE) ? capture_check_legacy(s)
								 : STATUS_SUCCESS;
}

/* A pause where the end of what is waited for is not signalled. lock held, released temporarily. */
static void pause_locked(struct streams *all)
{
	pthread_mutex_unlock(&all->lock);
	nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
	pthread_mutex_lock(&all->lock);
}

/* One order: the worker runs only while a thread waits. lock held, released temporarily. */
static void wait_ordered_locked(struct streams *all, struct work *w, u64 serial)
{
	struct sched_pool *pool = w->stream->device->dev->pool;
	bool any;

	while (work_is_pending(w, serial)) {
		pthread_mutex_unlock(&all->lock);
		any = sched_go_wait(pool);
		pthread_mutex_lock(&all->lock);
		/* It waits for a host function, or a value in memory. */
		if (!any && work_is_pending(w, serial))
			pause_locked(all);
	}
}

void stream_wait_work_locked(struct streams *all, struct work *w, u64 serial)
{
	if (PL_UNLIKELY(all->order != NULL) && work_is_pending(w, serial))
		w->is_taught = true;
	stream_sleep_locked(all, w, serial);
}

void stream_sleep_locked(struct streams *all, struct work *w, u64 serial)
{
	u64 began = work_is_pending(w, serial) ? stats_begin() : 0;

	if (all->waiting && work_is_pending(w, serial))
		all->waiting();
	if (PL_UNLIKELY(all->deterministic) && work_is_pending(w, serial))
		wait_ordered_locked(all, w, serial);
	while (work_is_pending(w, serial)) {
		w->waited = true;
		sched_rest(all->pool, &all->ended, &all->lock);
	}
	stats_end(STATS_WAIT, began, 0);
}

/* Host functions run on their own thread; one that waits for the program is not waited for. */
static bool host_ends_locked(struct streams *all)
{
	for (u32 i = 0; i < HOST_PAUSES && (all->host.first || all->host.busy); i++)
		pause_locked(all);
	return !all->host.first && !all->host.busy;
}

/* Everything that can has run. */
static void settle_device(struct streams *all, struct device *d)
{
	bool again = true;

	while (again) {
		sched_settle(d->pool);
		pthread_mutex_lock(&all->lock);
		again = (all->host.first || all->host.busy) && host_ends_locked(all);
		pthread_mutex_unlock(&all->lock);
	}
}

void stream_asked(struct stream_device *d)
{
	if (PL_UNLIKELY(d->all->deterministic) && !stream_in_host_call(d->all))
		sched_go(d->dev->pool);
}

enum status stream_issued(struct stream *s, struct work *w, u64 serial)
{
	struct streams *all = s->device->all;

	if (PL_UNLIKELY(all->order != NULL) && !all->deterministic && !stream_in_host_call(all))
		order_settle(all, w, serial);
	if (PL_LIKELY(!all->blocking && !all->deterministic))
		return STATUS_SUCCESS;
	if (stream_in_host_call(all))
		return STATUS_SUCCESS;
	if (all->deterministic)
		settle_device(all, s->device->dev);
	if (!all->blocking)
		return STATUS_SUCCESS;
	pthread_mutex_lock(&all->lock);
	stream_wait_work_locked(all, w, serial);
	if (PL_UNLIKELY(all->order != NULL))
		order_teach_locked(all, &s->after);
	pthread_mutex_unlock(&all->lock);
	return stream_error(s);
}

/*
 * Work of the device's streams that was issued before now; only of those that `legacy` waits for.
 */
static void wait_all_locked(struct stream_device *d, bool only_blocking)
{
	u64 now = d->all->serial;
	struct stream *s = d->streams;

	while (s) {
		if (s->head && s->head->serial <= now &&
		    !(only_blocking && s->flags & STREAM_NON_BLOCKING)) {
			stream_wait_work_locked(d->all, s->head, s->head->serial);
			/* The list may have changed. */
			s = d->streams;
		} else {
			s = s->next;
		}
	}
}

enum status stream_device_wait(struct device *d)
{
	enum status status = stream_capture_forbid_all(d->streams->all);

	return status == STATUS_SUCCESS ? stream_device_finish(d) : status;
}

enum status stream_device_finish(struct device *d)
{
	struct stream_device *sd = d->streams;

	if (stream_in_host_call(sd->all))
		return STATUS_NOT_PERMITTED;
	pthread_mutex_lock(&sd->all->lock);
	wait_all_locked(sd, false);
	if (PL_UNLIKELY(sd->all->order != NULL))
		order_teach_device_locked(sd, false);
	pthread_mutex_unlock(&sd->all->lock);
	return stream_device_error(d);
}

enum status stream_wait(struct stream *s)
{
	struct streams *all = s->device->all;
	enum status status = stream_check_wait(s);

	if (PL_UNLIKELY(status != STATUS_SUCCESS))
		return status;
	pthread_mutex_lock(&all->lock);
	if (s->legacy)
		wait_all_locked(s->device, true);
	else if (s->tail)
		stream_wait_work_locked(all, s->tail, s->tail->serial);
	if (PL_UNLIKELY(all->order != NULL) && s->legacy)
		order_teach_device_locked(s->device, true);
	else if (PL_UNLIKELY(all->order != NULL))
		order_teach_locked(all, &s->after);
	pthread_mutex_unlock(&all->lock);
	return stream_error(s);
}

enum status stream_query(struct stream *s)
{
	enum status status = stream_ask(s);

	if (PL_UNLIKELY(s->device->all->order != NULL) && status == STATUS_SUCCESS)
		order_teach_stream(s);
	return status;
}

enum status stream_ask(struct stream *s)
{
	struct streams *all = s->device->all;
	enum status error = stream_error(s);
	bool busy;

	if (error != STATUS_SUCCESS)
		return error;
	if (PL_UNLIKELY(stream_is_capturing(s)))
		return capture_forbid(s, STATUS_STREAM_CAPTURE_UNSUPPORTED);
	error = s->legacy ? capture_check_legacy(s) : stream_capture_guard(all);
	if (error != STATUS_SUCCESS)
		return error;
	stream_asked(s->device);
	pthread_mutex_lock(&all->lock);
	busy = s->head || (s->legacy && s->device->busy);
	pthread_mutex_unlock(&all->lock);
	return busy ? STATUS_NOT_READY : STATUS_SUCCESS;
}
