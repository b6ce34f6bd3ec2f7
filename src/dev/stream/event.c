/*
 * Events: the end of a stream's chain at the time of the record, and when it was reached.
 */
#include "src/dev/graph/graph_stream.h"

#include <unistd.h>

enum status stream_event_create(struct device *d, u32 flags, struct stream_event **out)
{
	struct stream_device *sd = d->streams;
	struct streams *all = sd->all;
	struct stream_event *e;

	/* Only what needs no time of its own can be sent to another process. */
	if (flags & ~7u || (flags & STREAM_EVENT_INTERPROCESS && !(flags & STREAM_EVENT_NO_TIMING)))
		return STATUS_INVALID_VALUE;
	e = handle_new(&all->event_pool);
	if (!e)
		return STATUS_OUT_OF_MEMORY;
	e->device = sd;
	e->flags = flags;
	pthread_mutex_lock(&all->lock);
	e->next = sd->events;
	if (e->next)
		e->next->prev = e;
	sd->events = e;
	pthread_mutex_unlock(&all->lock);
	*out = e;
	return STATUS_SUCCESS;
}

void event_free_locked(struct stream_event *e)
{
	if (e->prev)
		e->prev->next = e->next;
	else
		e->device->events = e->next;
	if (e->next)
		e->next->prev = e->prev;
	e->work = NULL;
	if (e->page && e->page_fd >= 0)
		close(e->page_fd);
	handle_free(&e->device->all->event_pool, e);
}

enum status stream_event_destroy(struct streams *all, struct stream_event *e)
{
	enum status status = STATUS_INVALID_HANDLE;

	if (handle_is_live(&all->event_pool, e))
		capture_forget_event(e);
	pthread_mutex_lock(&all->lock);
	if (handle_is_live(&all->event_pool, e)) {
		event_free_locked(e);
		status = STATUS_SUCCESS;
	}
	pthread_mutex_unlock(&all->lock);
	return status;
}

bool stream_event_is(const struct streams *all, const void *handle)
{
	return handle_is_live(&all->event_pool, handle);
}

struct device *stream_event_device(const struct stream_event *e)
{
	return e->device->dev;
}

u32 stream_event_flags_of(const struct stream_event *e)
{
	return e->flags;
}

static enum status error_of(const struct stream_event *e)
{
	return (enum status)__atomic_load_n(&e->device->error, __ATOMIC_RELAXED);
}

static bool is_captured(const struct stream_event *e)
{
	return __atomic_load_n(&e->capture_id, __ATOMIC_ACQUIRE) != 0;
}

/* Asking about an event that stands for a place in a capture invalidates that. */
static enum status check_wait(struct stream_event *e)
{
	if (PL_UNLIKELY(is_captured(e)))
		return capture_invalidate(e);
	return stream_capture_guard(e->device->all);
}

static bool is_pending_locked(const struct stream_event *e)
{
	return work_is_pending(e->work, e->serial);
}

static void event_reached(struct stream_event *e)
{
	e->at_ns = sched_time_ns(e->device->dev->pool);
	event_shared_reached(e);
}

enum status stream_event_record(struct stream_event *e, struct stream *s, u32 flags)
{
	struct streams *all = s->device->all;
	enum status status = stream_check_issue(s);
	struct work *w = NULL;

	if (status != STATUS_SUCCESS)
		return status;
	if (e->device != s->device)
		return STATUS_INVALID_HANDLE;
	if (PL_UNLIKELY(stream_is_capturing(s)))
		return capture_record(e, s, flags);
	if (flags & STREAM_EVENT_EXTERNAL)
		return STATUS_ILLEGAL_STATE;
	if (PL_UNLIKELY(is_captured(e)))
		capture_forget_event(e);
	if (s->legacy)
		status = capture_check_legacy(s);
	if (status != STATUS_SUCCESS)
		return status;
	pthread_mutex_lock(&all->lock);
	if (stream_is_busy_locked(s)) {
		w = stream_append_locked(s, WORK_RECORD);
		status = w ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
	}
	if (status == STATUS_SUCCESS) {
		e->recorded = true;
		event_shared_issued(e);
		e->work = w;
		e->serial = w ? w->serial : 0;
		if (w)
			w->event = e;
		else
			event_reached(e);
		if (PL_UNLIKELY(all->order != NULL)) {
			e->known = (struct order_set){0};
			order_now_locked(s, &e->known);
		}
	}
	pthread_mutex_unlock(&all->lock);
	return status;
}

/* The event has been reached already: no edge is left, but an order. */
static enum status wait_reached_locked(struct stream *s, const struct stream_event *e)
{
	struct batch batch;
	struct work *w = stream_append_locked(s, WORK_EMPTY);

	if (!w)
		return STATUS_OUT_OF_MEMORY;
	order_add(&w->before, &e->known);
	batch_init(&batch);
	if (!w->missing)
		work_ready_locked(w, &batch);
	return STATUS_SUCCESS;
}

enum status stream_wait_event(struct stream *s, struct stream_event *e, u32 flags)
{
	struct streams *all = s->device->all;
	enum status status = stream_check_issue(s);
	struct work *w;

	if (status != STATUS_SUCCESS)
		return status;
	if (PL_UNLIKELY(stream_is_capturing(s) || is_captured(e)))
		return capture_wait_event(s, e, flags);
	if (flags & STREAM_EVENT_EXTERNAL)
		return STATUS_ILLEGAL_STATE;
	if (s->legacy)
		status = capture_check_legacy(s);
	if (status != STATUS_SUCCESS)
		return status;
	if (PL_UNLIKELY(e->page && event_is_shared_pending(e)))
		return event_shared_join(s, e);
	pthread_mutex_lock(&all->lock);
	if (is_pending_locked(e) && e->work->stream != s) {
		w = stream_append_locked(s, WORK_EMPTY);
		if (w)
			work_join_locked(e->work, w);
		else
			status = STATUS_OUT_OF_MEMORY;
	} else if (PL_UNLIKELY(all->order != NULL) && !is_pending_locked(e)) {
		status = wait_reached_locked(s, e);
	}
	pthread_mutex_unlock(&all->lock);
	return status;
}

static bool is_owned(const struct stream *s, const void *owner)
{
	return s->tail && (!owner || s->owner == owner);
}

enum status stream_event_record_all(struct stream_event *e, const void *owner)
{
	struct stream_device *d = e->device;
	enum status status = stream_check_issue(d->legacy);
	struct work *w = NULL;
	u32 n = 0;

	if (status != STATUS_SUCCESS)
		return status;
	if (PL_UNLIKELY(is_captured(e)))
		capture_forget_event(e);
	pthread_mutex_lock(&d->all->lock);
	for (struct stream *s = d->streams; s; s = s->next)
		n += is_owned(s, owner);
	if (n && !work_reserve_locked(d->all, n))
		status = STATUS_OUT_OF_MEMORY;
	if (n && status == STATUS_SUCCESS) {
		w = work_take_locked(d->legacy, WORK_RECORD);
		w->event = e;
		if (PL_UNLIKELY(d->all->order != NULL))
			order_add_begun_locked(d->all, &w->before);
		for (struct stream *s = d->streams; s; s = s->next)
			if (is_owned(s, owner))
				work_join_locked(s->tail, w);
	}
	if (status == STATUS_SUCCESS) {
		e->recorded = true;
		e->work = w;
		e->serial = w ? w->serial : 0;
		event_shared_issued(e);
		if (!w)
			event_reached(e);
		if (!w && PL_UNLIKELY(d->all->order != NULL))
			order_add_begun_locked(d->all, &e->known);
	}
	pthread_mutex_unlock(&d->all->lock);
	return status;
}

enum status stream_wait_event_all(struct stream_event *e, struct device *d, const void *owner)
{
	struct stream_device *sd = d->streams;
	enum status status = stream_check_issue(sd->legacy);
	struct work *w;

	if (status != STATUS_SUCCESS)
		return status;
	pthread_mutex_lock(&sd->all->lock);
	for (struct stream *s = sd->streams; s && status == STATUS_SUCCESS; s = s->next) {
		if ((owner && s->owner != owner) || s->dying)
			continue;
		if (!is_pending_locked(e)) {
			if (PL_UNLIKELY(sd->all->order != NULL))
				status = wait_reached_locked(s, e);
			continue;
		}
		w = stream_append_locked(s, WORK_EMPTY);
		if (w)
			work_join_locked(e->work, w);
		else
			status = STATUS_OUT_OF_MEMORY;
	}
	pthread_mutex_unlock(&sd->all->lock);
	return status;
}

enum status stream_event_query(struct stream_event *e)
{
	struct streams *all = e->device->all;
	enum status error = error_of(e);
	bool pending;

	if (error != STATUS_SUCCESS)
		return error;
	error = check_wait(e);
	if (error != STATUS_SUCCESS)
		return error;
	stream_asked(e->device);
	pthread_mutex_lock(&all->lock);
	pending = is_pending_locked(e) || event_is_shared_pending(e);
	if (PL_UNLIKELY(all->order != NULL) && !pending)
		order_teach_locked(all, &e->known);
	pthread_mutex_unlock(&all->lock);
	return pending ? STATUS_NOT_READY : STATUS_SUCCESS;
}

enum status stream_event_wait(struct stream_event *e)
{
	struct streams *all = e->device->all;

	enum status status = check_wait(e);

	if (status != STATUS_SUCCESS)
		return status;
	if (stream_in_host_call(all))
		return STATUS_NOT_PERMITTED;
	pthread_mutex_lock(&all->lock);
	if (PL_UNLIKELY(all->order != NULL) && !is_pending_locked(e))
		order_teach_locked(all, &e->known);
	stream_wait_work_locked(all, e->work, e->serial);
	pthread_mutex_unlock(&all->lock);
	event_shared_wait(e);
	return error_of(e);
}

enum status stream_event_elapsed(const struct stream_event *from, const struct stream_event *to,
				 f32 *ms)
{
	struct streams *all = from->device->all;
	enum status status = STATUS_SUCCESS;

	if ((from->flags | to->flags) & STREAM_EVENT_NO_TIMING || from->device != to->device)
		return STATUS_INVALID_HANDLE;
	pthread_mutex_lock(&all->lock);
	if (!from->recorded || !to->recorded)
		status = STATUS_INVALID_HANDLE;
	else if (is_pending_locked(from) || is_pending_locked(to))
		status = STATUS_NOT_READY;
	else
		*ms = (f32)((f64)(s64)(to->at_ns - from->at_ns) / 1e6);
	pthread_mutex_unlock(&all->lock);
	return status;
}
