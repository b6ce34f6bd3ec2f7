/*
 * Issuing work to streams: kernels, calls, and the order they are in.
 */
#include "src/dev/graph/graph_stream.h"

/* ---- order ---- */

/* Is there anything that further work of the stream has to wait for? */
bool stream_is_busy_locked(const struct stream *s)
{
	const struct stream_device *d = s->device;

	if (s->head)
		return true;
	if (s->legacy)
		return d->busy != 0;
	return !(s->flags & STREAM_NON_BLOCKING) && d->legacy->head;
}

/* The legacy stream waits for all blocking ones. */
static void join_blocking_locked(struct stream_device *d, struct work *w)
{
	for (struct stream *s = d->streams; s; s = s->next)
		if (!s->legacy && !(s->flags & STREAM_NON_BLOCKING) && s->tail)
			work_join_locked(s->tail, w);
}

u64 stream_place_locked(struct stream *s)
{
	return sched_mix(s->id, ++s->launches);
}

struct work *stream_append_locked(struct stream *s, enum work_kind kind)
{
	struct stream_device *d = s->device;
	bool blocking = !s->legacy && !(s->flags & STREAM_NON_BLOCKING);
	struct work *w;

	/* One edge more for the event of a caller that waits for one. */
	if (!work_reserve_locked(d->all, (s->legacy ? d->busy : 1) + 1))
		return NULL;
	w = work_take_locked(s, kind);
	w->in_stream = true;
	if (PL_UNLIKELY(d->all->order != NULL))
		order_now_locked(s, &w->before);
	if (s->legacy && d->busy)
		join_blocking_locked(d, w);
	if (blocking && d->legacy->tail)
		work_join_locked(d->legacy->tail, w);
	if (s->tail) {
		s->tail->follow = w;
		w->missing++;
	} else {
		s->head = w;
		d->busy += blocking;
	}
	s->tail = w;
	return w;
}

/* What may not be issued: anything to a dead device, or from a host function. */
enum status stream_check_issue(const struct stream *s)
{
	enum status error = stream_error(s);

	if (PL_UNLIKELY(error != STATUS_SUCCESS))
		return error;
	return PL_UNLIKELY(stream_in_host_call(s->device->all)) ? STATUS_NOT_PERMITTED
								: STATUS_SUCCESS;
}

static enum status capture_launch(struct stream *s, const struct device_launch *l,
				  const struct access_window *window)
{
	struct graph_action a = {
		.type = GRAPH_KERNEL, .dev = stream_device_of(s), .launch = *l, .name = l->name};

	return capture_add_kernel(s, &a, window);
}

/* The type of the graph node that a captured call becomes. */
static enum graph_node_type type_of_call(u32 flags)
{
	if (flags & STREAM_POLL)
		return GRAPH_MEM_OPS;
	switch (flags & STREAM_WHAT) {
	case STREAM_COPY:
		return GRAPH_COPY;
	case STREAM_FILL:
		return GRAPH_FILL;
	default:
		return GRAPH_HOST;
	}
}

static enum status capture_call(struct stream *s, const struct graph_action *a)
{
	u32 what = a->flags & STREAM_WHAT;

	/* Callbacks cannot be captured, and memory nodes have functions of their own. */
	if (a->flags & STREAM_CALLBACK || what == STREAM_ALLOC || what == STREAM_FREE)
		return capture_forbid(s, STATUS_STREAM_CAPTURE_UNSUPPORTED);
	return capture_add(s, a);
}

/* May the host have this launch? */
static enum status ask_for_launch(const struct device_launch *l)
{
	const struct device *d = l->kernel->owner->dev;

	return PL_UNLIKELY(d->on_launch != NULL) ? d->on_launch(d->on_launch_user, l->kernel, false)
						 : STATUS_SUCCESS;
}

enum status stream_launch(struct stream *s, const struct device_launch *l)
{
	struct streams *all = s->device->all;
	const struct access_window *window = window_take();
	enum status status = stream_check_issue(s);
	struct device_flight *f;
	struct work *w;
	struct batch batch;
	u64 serial = 0;

	if (status == STATUS_SUCCESS && PL_UNLIKELY(stream_is_capturing(s)))
		return capture_launch(s, l, window);
	if (status == STATUS_SUCCESS && s->legacy)
		status = capture_check_legacy(s);
	if (status == STATUS_SUCCESS)
		status = ask_for_launch(l);
	if (status == STATUS_SUCCESS)
		status = device_flight_prepare(l, &f);
	if (status != STATUS_SUCCESS)
		return status;
	if (PL_UNLIKELY(device_flight_launches_graphs(f))) {
		device_flight_drop(f);
		return STATUS_NOT_SUPPORTED;
	}
	if (PL_UNLIKELY(window != NULL))
		f->window = *window;
	batch_init(&batch);
	pthread_mutex_lock(&all->lock);
	w = stream_append_locked(s, WORK_LAUNCH);
	if (w) {
		w->flight = f;
		if (l->programmatic && PL_UNLIKELY(all->order != NULL))
			order_soften_locked(w);
		f->stream = s->id;
		f->place = stream_place_locked(s);
		serial = w->serial;
		if (!w->missing)
			work_ready_locked(w, &batch);
	}
	pthread_mutex_unlock(&all->lock);
	if (!w) {
		device_flight_drop(f);
		return STATUS_OUT_OF_MEMORY;
	}
	work_start(all, &batch, l->may_inline);
	return stream_issued(s, w, serial);
}

/* Host functions and waits for values in memory may need the calling thread. */
static enum status after_call(struct stream *s, struct work *w, u64 serial, u32 flags)
{
	if (flags & (STREAM_HOST | STREAM_POLL) && s->device->all->blocking)
		return STATUS_SUCCESS;
	return stream_issued(s, w, serial);
}

enum status stream_call(struct stream *s, stream_fn *fn, const void *data, size_t bytes, u32 flags)
{
	struct streams *all = s->device->all;
	enum status status = stream_check_issue(s);
	struct work *w;
	struct batch batch;
	bool here = false;
	u64 serial = 0;

	if (status == STATUS_SUCCESS && PL_UNLIKELY(stream_is_capturing(s)))
		return capture_call(s, &(struct graph_action){.type = type_of_call(flags),
							      .dev = stream_device_of(s),
							      .fn = fn,
							      .flags = flags,
							      .data = data,
							      .bytes = bytes});
	if (status == STATUS_SUCCESS && s->legacy)
		status = capture_check_legacy(s);
	if (status != STATUS_SUCCESS)
		return status;
	if (order_is_kept(all))
		order_call();
	batch_init(&batch);
	pthread_mutex_lock(&all->lock);
	w = stream_append_locked(s, WORK_CALL);
	if (w) {
		w->fn = fn;
		serial = w->serial;
		w->flags = flags;
		if (!work_set_data(w, data, bytes)) {
			w->kind = WORK_EMPTY;
			status = STATUS_OUT_OF_MEMORY;
		}
		here = !w->missing && w->kind == WORK_CALL && !(flags & STREAM_HOST);
		if (!w->missing && !here)
			work_ready_locked(w, &batch);
	}
	pthread_mutex_unlock(&all->lock);
	if (!w)
		return STATUS_OUT_OF_MEMORY;
	if (here)
		work_call_here(w);
	else
		work_start(all, &batch, false);
	if (!(flags & STREAM_WAIT))
		return status == STATUS_SUCCESS ? after_call(s, w, serial, flags) : status;
	if (!here) {
		pthread_mutex_lock(&all->lock);
		stream_sleep_locked(all, w, serial);
		pthread_mutex_unlock(&all->lock);
	}
	if (PL_UNLIKELY(all->order != NULL) && !(flags & STREAM_UNSEEN))
		order_teach_stream(s);
	/* What was issued before it has ended, too. */
	if (status == STATUS_SUCCESS)
		status = stream_check_wait(s);
	return status == STATUS_SUCCESS ? stream_error(s) : status;
}
