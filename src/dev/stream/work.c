/*
 * Nodes of work: their pool, what happens when one is ready or has ended, and the threads that run
 * calls.
 */
#include "src/dev/stream/stream_int.h"
#include "src/mem/guard.h"
#include "src/sched/rest.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define CHUNK_NODES 64u
#define CHUNK_EDGES 64u
/* Larger copies of data are freed when their work has ended. */
#define DATA_KEPT 4096u
/* How often polled calls are asked. */
#define POLL_NS 50000

/* Storage of nodes and edges; freed with the process's streams. */
struct work_chunk {
	struct work_chunk *next;
	struct work nodes[CHUNK_NODES];
	struct edge edges[CHUNK_EDGES];
};

/* ---- storage ---- */

static bool grow_locked(struct streams *all)
{
	struct work_chunk *c = calloc(1, sizeof(*c));

	if (!c)
		return false;
	c->next = all->chunks;
	all->chunks = c;
	for (u32 i = 0; i < CHUNK_NODES; i++) {
		c->nodes[i].next = all->spare;
		all->spare = &c->nodes[i];
	}
	for (u32 i = 0; i < CHUNK_EDGES; i++) {
		c->edges[i].next = all->spare_edges;
		all->spare_edges = &c->edges[i];
	}
	all->spare_len += CHUNK_NODES;
	all->spare_edge_len += CHUNK_EDGES;
	return true;
}

bool work_reserve_many_locked(struct streams *all, u32 works, u32 edges)
{
	while (all->spare_len < works || all->spare_edge_len < edges)
		if (!grow_locked(all))
			return false;
	return true;
}

bool work_reserve_locked(struct streams *all, u32 edges)
{
	return work_reserve_many_locked(all, 1, edges);
}

struct work *work_take_locked(struct stream *s, enum work_kind kind)
{
	struct streams *all = s->device->all;
	struct work *w = all->spare;

	all->spare = w->next;
	all->spare_len--;
	w->next = NULL;
	w->follow = NULL;
	w->out = NULL;
	w->stream = s;
	w->serial = ++all->serial;
	w->missing = 0;
	w->kind = (u8)kind;
	w->in_stream = false;
	w->waited = false;
	w->flags = 0;
	w->run = NULL;
	if (order_is_kept(all))
		order_take_locked(w);
	return w;
}

bool work_set_data(struct work *w, const void *data, size_t bytes)
{
	void *p;

	if (bytes <= WORK_SMALL) {
		w->data = w->small;
	} else if (bytes <= w->data_cap) {
		w->data = w->heap;
	} else {
		p = realloc(w->heap, bytes);
		if (!p)
			return false;
		w->data = w->heap = p;
		w->data_cap = bytes;
	}
	if (bytes)
		memcpy(w->data, data, bytes);
	return true;
}

static void free_locked(struct streams *all, struct work *w)
{
	if (w->data_cap > DATA_KEPT) {
		free(w->heap);
		w->heap = NULL;
		w->data_cap = 0;
	}
	w->serial = 0;
	w->next = all->spare;
	all->spare = w;
	all->spare_len++;
}

void work_join_locked(struct work *from, struct work *to)
{
	struct streams *all = to->stream->device->all;
	struct edge *e = all->spare_edges;

	all->spare_edges = e->next;
	all->spare_edge_len--;
	e->to = to;
	e->programmatic = false;
	e->next = from->out;
	from->out = e;
	to->missing++;
}

void work_free_all(struct streams *all)
{
	struct work_chunk *c;

	while ((c = all->chunks)) {
		all->chunks = c->next;
		for (u32 i = 0; i < CHUNK_NODES; i++)
			free(c->nodes[i].heap);
		free(c);
	}
}

void work_forget_locked(struct streams *all, const struct order_set *gone)
{
	for (struct work_chunk *c = all->chunks; c; c = c->next)
		for (u32 i = 0; i < CHUNK_NODES; i++)
			for (u32 k = 0; k < ARRAY_LEN(gone->word); k++) {
				c->nodes[i].before.word[k] &= ~gone->word[k];
				c->nodes[i].soft.word[k] &= ~gone->word[k];
			}
}

/* ---- ends ---- */

static bool is_dropped(const struct work *w)
{
	return !(w->flags & STREAM_ALWAYS) &&
	       __atomic_load_n(&w->stream->device->error, __ATOMIC_RELAXED);
}

static void note_time(struct work *w)
{
	struct stream_event *e = w->event;

	/* Another record or the event's end came between. */
	if (e->work != w || e->serial != w->serial)
		return;
	e->at_ns = sched_time_ns(w->stream->device->dev->pool);
	event_shared_reached(e);
	e->work = NULL;
	e->known = w->before;
}

/* A stream that was destroyed goes when its work has ended. */
static void leave_stream_locked(struct work *w)
{
	struct stream *s = w->stream;

	s->head = w->follow;
	if (s->head)
		return;
	s->tail = NULL;
	if (!s->legacy && !(s->flags & STREAM_NON_BLOCKING))
		s->device->busy--;
	if (s->dying)
		stream_free_locked(s);
}

static void work_release_locked(struct work *w, struct work **ready)
{
	if (--w->missing)
		return;
	w->next = *ready;
	*ready = w;
}

static bool queue_locked(struct service *v, struct work *w);

/* What to do with a node that misses nothing. Returns whether it has ended already. */
static bool begin_locked(struct work *w, struct batch *batch)
{
	struct streams *all = w->stream->device->all;

	if (w->kind == WORK_RECORD)
		note_time(w);
	if (w->kind == WORK_RELEASE)
		w->release(w->data);
	if (w->kind <= WORK_RELEASE)
		return true;
	/* In one order, calls are made where what they wait for ends. */
	if (w->kind == WORK_EXPAND && !all->deterministic && queue_locked(&all->copies, w))
		return false;
	if (w->kind != WORK_EXPAND && is_dropped(w)) {
		if (w->kind == WORK_LAUNCH)
			device_flight_drop(w->flight);
		return true;
	}
	if (w->kind == WORK_CALL && !(all->deterministic && !(w->flags & STREAM_HOST)) &&
	    queue_locked(w->flags & STREAM_HOST ? &all->host : &all->copies, w))
		return false;
	w->next = NULL;
	*batch->last = w;
	batch->last = &w->next;
	return false;
}

static void end_one_locked(struct work *w, struct work **ready)
{
	struct streams *all = w->stream->device->all;
	struct edge *e;

	if (PL_UNLIKELY(all->order != NULL))
		order_end_locked(w);
	if (w->follow)
		work_release_locked(w->follow, ready);
	while ((e = w->out)) {
		w->out = e->next;
		work_release_locked(e->to, ready);
		e->next = all->spare_edges;
		all->spare_edges = e;
		all->spare_edge_len++;
	}
	if (w->waited)
		sched_wake(all->pool, &all->ended);
	if (w->in_stream)
		leave_stream_locked(w);
	free_locked(all, w);
}

/* Ends of short nodes make others ready; a list instead of recursion. */
static void settle_locked(struct work *ready, struct batch *batch)
{
	while (ready) {
		struct work *w = ready;

		ready = w->next;
		if (begin_locked(w, batch))
			end_one_locked(w, &ready);
	}
}

void work_ready_locked(struct work *w, struct batch *batch)
{
	w->next = NULL;
	settle_locked(w, batch);
}

static void work_end_locked(struct work *w, struct batch *batch)
{
	struct work *ready = NULL;

	end_one_locked(w, &ready);
	settle_locked(ready, batch);
}

/* A node that waits for the last one of each stream, in no stream itself. NULL: no memory. */
static struct work *after_all_locked(struct stream_device *d)
{
	struct work *w;
	u32 busy = 0;

	for (struct stream *s = d->streams; s; s = s->next)
		busy += s->tail != NULL;
	if (!work_reserve_locked(d->all, busy))
		return NULL;
	w = work_take_locked(d->legacy, WORK_RELEASE);
	for (struct stream *s = d->streams; s; s = s->next)
		if (s->tail)
			work_join_locked(s->tail, w);
	return w;
}

void stream_device_after(struct device *d, stream_release *release, const void *data, size_t bytes)
{
	struct stream_device *sd = d->streams;
	struct batch batch;
	struct work *w;
	u8 kept[STREAM_RELEASE_BYTES];

	memcpy(kept, data, bytes);
	batch_init(&batch);
	pthread_mutex_lock(&sd->all->lock);
	w = after_all_locked(sd);
	if (w) {
		w->release = release;
		work_set_data(w, data, bytes);
		if (!w->missing)
			work_ready_locked(w, &batch);
	}
	pthread_mutex_unlock(&sd->all->lock);
	if (w)
		return;
	stream_device_finish(d);
	release(kept);
}

/* ---- running ---- */

static void fail_device(struct stream_device *d, enum status error)
{
	int none = STATUS_SUCCESS;

	/* Kernels that wait for what will not come are ended, as on hardware. */
	if (__atomic_compare_exchange_n(&d->error, &none, (int)error, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		sched_cancel_of(d->dev->pool, &d->dev->mem);
}

/* What runs in a stream has failed. */
static void work_failed(struct stream_device *d, enum status error)
{
	if (!d->goes_on)
		fail_device(d, error);
}

void stream_device_fail(struct device *d, enum status error)
{
	fail_device(d->streams, error);
}

void work_end(struct work *w)
{
	struct streams *all = w->stream->device->all;
	struct batch batch;

	batch_init(&batch);
	if (PL_UNLIKELY(all->order != NULL))
		order_ran(w);
	pthread_mutex_lock(&all->lock);
	work_end_locked(w, &batch);
	pthread_mutex_unlock(&all->lock);
	if (batch.first)
		work_start(all, &batch, false);
}

static void on_launch_done(void *user, enum status status, const struct device_fault *fault)
{
	struct work *w = user;
	struct stream_device *d = w->stream->device;

	if (status != STATUS_SUCCESS) {
		if (d->fault && !__atomic_load_n(&d->error, __ATOMIC_RELAXED))
			d->fault(d->fault_user, status, fault);
		work_failed(d, status);
	}
	work_end(w);
}

static enum status call_watched(struct work *w, enum status so_far)
{
	enum status status;

	if (w->stream->device->all->order)
		order_begin(w);
	order_enter(w);
	status = w->fn(w->data, so_far);
	order_enter(NULL);
	return status;
}

/* Returns whether it is over. */
static bool call(struct work *w)
{
	struct stream_device *d = w->stream->device;
	enum status so_far, status;

	so_far = (enum status)__atomic_load_n(&d->error, __ATOMIC_RELAXED);
	if (so_far != STATUS_SUCCESS && !(w->flags & STREAM_ALWAYS))
		return true;
	if (order_is_kept(d->all))
		status = call_watched(w, so_far);
	else
		status = w->fn(w->data, so_far);
	if (status == STATUS_NOT_READY && w->flags & STREAM_POLL)
		return false;
	if (status != STATUS_SUCCESS)
		work_failed(d, status);
	return true;
}

void work_call_here(struct work *w)
{
	struct streams *all = w->stream->device->all;
	bool over = call(w), queued = false;

	if (!over) {
		pthread_mutex_lock(&all->lock);
		queued = queue_locked(&all->copies, w);
		pthread_mutex_unlock(&all->lock);
	}
	if (queued)
		return;
	while (!over) {
		nanosleep(&(struct timespec){0, POLL_NS}, NULL);
		over = call(w);
	}
	work_end(w);
}

static enum status start_launch(struct work *w, bool may_inline)
{
	if (PL_UNLIKELY(w->stream->device->all->order != NULL))
		order_begin(w);
	return device_flight_start(w->flight, may_inline, on_launch_done, w);
}

void work_start(struct streams *all, struct batch *batch, bool may_inline)
{
	struct work *w = batch->first, *next;
	enum status status;

	for (; w; w = next) {
		next = w->next;
		if (w->kind == WORK_EXPAND)
			all->expand(w);
		else if (w->kind == WORK_CALL)
			work_call_here(w);
		else if ((status = start_launch(w, may_inline)) != STATUS_SUCCESS)
			on_launch_done(w, status, NULL);
	}
}

/* ---- threads for calls ---- */

/* Ask the calls that were not ready. lock held, released temporarily. */
static void poll_locked(struct service *v)
{
	struct work *w = v->polls, *next;

	v->polls = NULL;
	pthread_mutex_unlock(&v->all->lock);
	for (; w; w = next) {
		next = w->next;
		if (call(w)) {
			work_end(w);
			continue;
		}
		pthread_mutex_lock(&v->all->lock);
		w->next = v->polls;
		v->polls = w;
		pthread_mutex_unlock(&v->all->lock);
	}
	pthread_mutex_lock(&v->all->lock);
}

static void rest_locked(struct service *v)
{
	struct timespec t;

	if (!v->polls) {
		sched_rest(v->all->pool, &v->wake, &v->all->lock);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += POLL_NS;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	pthread_cond_timedwait(&v->wake, &v->all->lock, &t);
	if (v->polls)
		poll_locked(v);
}

static struct work *pop_locked(struct service *v)
{
	struct work *w = v->first;

	if (!w)
		return NULL;
	v->first = w->next;
	if (!v->first)
		v->last = &v->first;
	return w;
}

static void *serve_calls(void *arg)
{
	struct service *v = arg;
	struct work *w;

	mem_guard_inside = 1;
	pthread_mutex_lock(&v->all->lock);
	while (!v->quit) {
		w = pop_locked(v);
		if (!w) {
			rest_locked(v);
			continue;
		}
		/* Those that were not ready are not to wait until nothing else is left. */
		if (v->polls)
			poll_locked(v);
		v->busy = true;
		pthread_mutex_unlock(&v->all->lock);
		if (w->kind == WORK_EXPAND) {
			v->all->expand(w);
			pthread_mutex_lock(&v->all->lock);
		} else if (call(w)) {
			work_end(w);
			pthread_mutex_lock(&v->all->lock);
		} else {
			pthread_mutex_lock(&v->all->lock);
			w->next = v->polls;
			v->polls = w;
		}
		v->busy = false;
	}
	pthread_mutex_unlock(&v->all->lock);
	return NULL;
}

static bool start_locked(struct service *v)
{
	sigset_t old;

	if (v->started)
		return true;
	sched_mask_signals(&old);
	/* stream_in_host_call looks without the lock. */
	__atomic_store_n(&v->started, !pthread_create(&v->thread, NULL, serve_calls, v),
			 __ATOMIC_RELEASE);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return v->started;
}

/* Returns false when the host gives no thread. */
static bool queue_locked(struct service *v, struct work *w)
{
	if (!start_locked(v))
		return false;
	w->next = NULL;
	*v->last = w;
	v->last = &w->next;
	sched_wake(v->all->pool, &v->wake);
	return true;
}

void service_init(struct service *v, struct streams *all)
{
	pthread_condattr_t attr;

	*v = (struct service){.all = all, .last = &v->first};
	/* The host's clock may be set while a call waits to be asked again. */
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&v->wake, &attr);
	pthread_condattr_destroy(&attr);
}

void service_fini(struct service *v)
{
	if (v->started) {
		pthread_mutex_lock(&v->all->lock);
		v->quit = true;
		sched_wake(v->all->pool, &v->wake);
		pthread_mutex_unlock(&v->all->lock);
		pthread_join(v->thread, NULL);
	}
	pthread_cond_destroy(&v->wake);
}
