/*
 * The process's streams and those of each device: opening and closing, and the default stream that
 * each thread has.
 */
#include "src/dev/graph/graph_stream.h"

#include <stdlib.h>

#define STREAMS_MAX (1u << 16)
#define EVENTS_MAX (1u << 20)

/* ---- default streams of threads ---- */

struct thread_stream {
	struct device *dev;
	struct stream *stream;
	u64 id; /* of the stream, which goes with its device */
};

struct thread_streams {
	struct streams *all;
	u32 len, cap;
	struct thread_stream *at;
	enum capture_mode mode;
};

static void thread_streams_free(void *p)
{
	struct thread_streams *t = p;

	for (u32 i = 0; i < t->len; i++)
		if (handle_is_live(&t->all->stream_pool, t->at[i].stream) &&
		    t->at[i].stream->id == t->at[i].id)
			stream_destroy(t->all, t->at[i].stream);
	free(t->at);
	free(t);
}

static struct thread_streams *thread_streams(struct streams *all)
{
	struct thread_streams *t = pthread_getspecific(all->thread_key);

	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->all = all;
	pthread_setspecific(all->thread_key, t);
	return t;
}

enum capture_mode *stream_thread_mode(struct streams *all)
{
	struct thread_streams *t = thread_streams(all);

	return t ? &t->mode : NULL;
}

static struct thread_stream *thread_slot(struct streams *all, struct device *d)
{
	struct thread_streams *t = thread_streams(all);
	struct thread_stream *at;

	if (!t)
		return NULL;
	for (u32 i = 0; i < t->len; i++)
		if (t->at[i].dev == d)
			return &t->at[i];
	if (t->len == t->cap) {
		at = realloc(t->at, sizeof(*at) * (t->cap + 8));
		if (!at)
			return NULL;
		t->at = at;
		t->cap += 8;
	}
	t->at[t->len] = (struct thread_stream){.dev = d};
	return &t->at[t->len++];
}

struct stream *stream_of_thread(struct device *d)
{
	struct streams *all = d->streams->all;
	struct thread_stream *slot = thread_slot(all, d);

	if (!slot)
		return NULL;
	if (slot->stream && handle_is_live(&all->stream_pool, slot->stream) &&
	    slot->stream->id == slot->id)
		return slot->stream;
	if (stream_create(d, 0, 0, &slot->stream) != STATUS_SUCCESS)
		return NULL;
	slot->id = slot->stream->id;
	return slot->stream;
}

/* ---- the process and its devices ---- */

struct streams *streams_new(void)
{
	struct streams *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	if (pthread_key_create(&all->thread_key, thread_streams_free)) {
		free(all);
		return NULL;
	}
	if (!graphs_init(all)) {
		pthread_key_delete(all->thread_key);
		free(all);
		return NULL;
	}
	pthread_mutex_init(&all->lock, NULL);
	pthread_cond_init(&all->ended, NULL);
	service_init(&all->copies, all);
	service_init(&all->host, all);
	handle_pool_init(&all->stream_pool, sizeof(struct stream), STREAMS_MAX);
	handle_pool_init(&all->event_pool, sizeof(struct stream_event), EVENTS_MAX);
	return all;
}

void streams_set_waiting(struct streams *all, void (*fn)(void))
{
	all->waiting = fn;
}

void streams_set_order(struct streams *all, bool blocking, bool deterministic)
{
	all->blocking = blocking;
	all->deterministic = deterministic;
}

void streams_free(struct streams *all)
{
	struct thread_streams *t;

	if (!all)
		return;
	service_fini(&all->copies);
	service_fini(&all->host);
	t = pthread_getspecific(all->thread_key);
	if (t)
		thread_streams_free(t);
	pthread_key_delete(all->thread_key);
	handle_pool_fini(&all->stream_pool);
	handle_pool_fini(&all->event_pool);
	graphs_fini(all);
	work_free_all(all);
	free(all->order);
	pthread_cond_destroy(&all->ended);
	pthread_mutex_destroy(&all->lock);
	free(all);
}

enum status stream_device_open(struct streams *all, struct device *d, device_done *fault,
			       void *user)
{
	struct stream_device *sd = calloc(1, sizeof(*sd));

	if (!sd)
		return STATUS_OUT_OF_MEMORY;
	*sd = (struct stream_device){.all = all, .dev = d, .fault = fault, .fault_user = user};
	pthread_mutex_lock(&all->lock);
	sd->epoch = ++all->epochs;
	all->pool = d->pool;
	pthread_mutex_unlock(&all->lock);
	sd->legacy = stream_make(sd, 0, 0);
	if (!sd->legacy) {
		free(sd);
		return STATUS_OUT_OF_MEMORY;
	}
	sd->legacy->legacy = true;
	d->streams = sd;
	if (all->order)
		order_device(all->order, sd, true);
	return STATUS_SUCCESS;
}

void stream_device_close(struct device *d)
{
	struct stream_device *sd = d->streams;
	struct streams *all;

	if (!sd)
		return;
	all = sd->all;
	stream_device_finish(d);
	for (struct stream *s = sd->streams; s; s = s->next)
		capture_leave(s);
	for (struct stream_event *e = sd->events; e; e = e->next)
		capture_forget_event(e);
	pthread_mutex_lock(&all->lock);
	if (all->order)
		order_device(all->order, sd, false);
	while (sd->events)
		event_free_locked(sd->events);
	while (sd->streams)
		stream_free_locked(sd->streams);
	pthread_mutex_unlock(&all->lock);
	graph_memory_forget(sd);
	d->streams = NULL;
	free(sd);
}

enum status stream_device_error(const struct device *d)
{
	return (enum status)__atomic_load_n(&d->streams->error, __ATOMIC_RELAXED);
}

void stream_device_go_on(struct device *d)
{
	d->streams->goes_on = true;
}

void stream_device_revive(struct device *d)
{
	__atomic_store_n(&d->streams->error, (int)STATUS_SUCCESS, __ATOMIC_RELAXED);
}
