/*
 * What streams are about to do, for people who look at a program.
 */
#include "src/dev/stream/stream_int.h"

#include <stdlib.h>

static const char *call_words(u32 flags)
{
	switch (flags & STREAM_WHAT) {
	case STREAM_COPY:
		return "copy";
	case STREAM_FILL:
		return "fill";
	case STREAM_ALLOC:
		return "allocation";
	case STREAM_FREE:
		return "free";
	default:
		return flags & STREAM_HOST   ? "host function"
		       : flags & STREAM_POLL ? "wait for memory"
					     : "call";
	}
}

static const char *work_words(const struct work *w)
{
	switch ((enum work_kind)w->kind) {
	case WORK_LAUNCH:
		return "kernel";
	case WORK_CALL:
		return call_words(w->flags);
	case WORK_EXPAND:
		return "graph";
	case WORK_RECORD:
		return "event";
	case WORK_RELEASE:
		return "release";
	case WORK_EMPTY:
		break;
	}
	return "wait for other work";
}

static void look_at(const struct stream *s, struct stream_look *out)
{
	const struct work *w = s->head;

	*out = (struct stream_look){.stream = s, .capturing = s->capture != NULL};
	if (!w)
		return;
	out->first = work_words(w);
	out->begun = !w->missing;
	if (w->kind == WORK_LAUNCH && w->flight)
		out->kernel = w->flight->kernel;
	for (; w; w = w->follow)
		out->left++;
}

static int by_age(const void *a, const void *b)
{
	const struct stream *s = ((const struct stream_look *)a)->stream,
			    *t = ((const struct stream_look *)b)->stream;

	if (s->legacy != t->legacy)
		return t->legacy - s->legacy;
	return s->id < t->id ? -1 : s->id > t->id;
}

u32 stream_device_look(struct device *d, struct stream_look *out, u32 max)
{
	struct stream_device *sd = d->streams;
	u32 n = 0;

	if (!sd)
		return 0;
	pthread_mutex_lock(&sd->all->lock);
	for (const struct stream *s = sd->streams; s && n < max; s = s->next)
		look_at(s, &out[n++]);
	qsort(out, n, sizeof(*out), by_age);
	pthread_mutex_unlock(&sd->all->lock);
	return n;
}
