/*
 * Streams: making, finding and describing them. What a node of work is and what runs it is in
 * work.c, how work is issued in stream_issue.c, waiting in stream_wait.c.
 */
#include "src/dev/graph/graph_stream.h"

#include <stdlib.h>

struct stream *stream_make(struct stream_device *d, u32 flags, int priority)
{
	struct streams *all = d->all;
	struct stream *s = handle_new(&all->stream_pool);

	if (!s)
		return NULL;
	s->device = d;
	s->flags = flags;
	s->priority = priority;
	pthread_mutex_lock(&all->lock);
	s->id = ++all->stream_ids;
	s->next = d->streams;
	if (s->next)
		s->next->prev = s;
	d->streams = s;
	pthread_mutex_unlock(&all->lock);
	return s;
}

static int clamp_priority(int p)
{
	return p > 0 ? 0 : p < STREAM_PRIORITY_MAX ? STREAM_PRIORITY_MAX : p;
}

enum status stream_create(struct device *d, u32 flags, int priority, struct stream **out)
{
	if (flags & ~(u32)STREAM_NON_BLOCKING)
		return STATUS_INVALID_VALUE;
	*out = stream_make(d->streams, flags, clamp_priority(priority));
	return *out ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}

void stream_free_locked(struct stream *s)
{
	struct stream_device *d = s->device;

	if (PL_UNLIKELY(d->all->order != NULL))
		order_gone_locked(s);
	if (s->prev)
		s->prev->next = s->next;
	else
		d->streams = s->next;
	if (s->next)
		s->next->prev = s->prev;
	free(s->kept);
	handle_free(&d->all->stream_pool, s);
}

enum status stream_destroy(struct streams *all, struct stream *s)
{
	if (handle_is_live(&all->stream_pool, s) && !s->legacy)
		capture_leave(s);
	pthread_mutex_lock(&all->lock);
	if (!handle_is_live(&all->stream_pool, s) || s->legacy) {
		pthread_mutex_unlock(&all->lock);
		return STATUS_INVALID_HANDLE;
	}
	handle_retire(&all->stream_pool, s);
	s->dying = true;
	if (!s->head)
		stream_free_locked(s);
	pthread_mutex_unlock(&all->lock);
	return STATUS_SUCCESS;
}

struct stream *stream_resolve(struct device *d, const void *handle, bool per_thread)
{
	uintptr_t n = (uintptr_t)handle;

	if (n == 1 || (!n && !per_thread))
		return d->streams->legacy;
	if (n == 2 || !n)
		return stream_of_thread(d);
	return handle_is_live(&d->streams->all->stream_pool, handle) ? (struct stream *)n : NULL;
}

bool stream_is(const struct streams *all, const void *handle)
{
	return handle_is_live(&all->stream_pool, handle);
}

void *stream_owner(const struct stream *s)
{
	return s->owner;
}

void stream_owner_set(struct stream *s, void *owner)
{
	s->owner = owner;
}

bool stream_was(const struct streams *all, const void *handle)
{
	return handle_was(&all->stream_pool, handle) || handle_was(&all->event_pool, handle);
}

struct device *stream_device_of(const struct stream *s)
{
	return s->device->dev;
}

u32 stream_flags_of(const struct stream *s)
{
	return s->flags;
}

int stream_priority_of(const struct stream *s)
{
	return s->priority;
}

u64 stream_id_of(const struct stream *s)
{
	return s->id;
}

bool stream_is_legacy(const struct stream *s)
{
	return s->legacy;
}

void stream_priority_set(struct stream *s, int priority)
{
	s->priority = clamp_priority(priority);
}

void stream_kept_read(const struct stream *s, u32 number, void *value)
{
	struct streams *all = s->device->all;

	pthread_mutex_lock(&all->lock);
	if (s->kept)
		memcpy(value, s->kept + (size_t)number * STREAM_KEPT_BYTES, STREAM_KEPT_BYTES);
	else
		memset(value, 0, STREAM_KEPT_BYTES);
	pthread_mutex_unlock(&all->lock);
}

void stream_kept_write(struct stream *s, u32 number, const void *value)
{
	struct streams *all = s->device->all;

	pthread_mutex_lock(&all->lock);
	if (!s->kept)
		s->kept = calloc(STREAM_KEPT, STREAM_KEPT_BYTES);
	if (s->kept)
		memcpy(s->kept + (size_t)number * STREAM_KEPT_BYTES, value, STREAM_KEPT_BYTES);
	pthread_mutex_unlock(&all->lock);
}
