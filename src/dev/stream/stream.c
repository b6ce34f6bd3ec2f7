/*
 * Streams: making, ordering, waiting. What a node is and who runs it is in work.c.
 */
#include "src/dev/graph/graph_stream.h"
#include "src/sched/rest.h"

#include <stdlib.h>
#include <time.h>

/* Between two looks at what nobody tells the end of; and how many for host functions: a second. */
#define PAUSE_NS 50000
#define HOST_PAUSES 20000u
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

static struct stream *thread_stream(struct device *d)
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
	pthread_cond_destroy(&all->ended);
	pthread_mutex_destroy(&all->lock);
	free(all);
}

static struct stream *make_stream(struct stream_device *d, u32 flags, int priority)
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
	sd->legacy = make_stream(sd, 0, 0);
	if (!sd->legacy) {
		free(sd);
		return STATUS_OUT_OF_MEMORY;
	}
	sd->legacy->legacy = true;
	d->streams = sd;
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

void stream_device_revive(struct device *d)
{
	__atomic_store_n(&d->streams->error, (int)STATUS_SUCCESS, __ATOMIC_RELAXED);
}

static enum status error_of(const struct stream *s)
{
	return (enum status)__atomic_load_n(&s->device->error, __ATOMIC_RELAXED);
}

/* ---- streams ---- */

static int clamp_priority(int p)
{
	return p > 0 ? 0 : p < STREAM_PRIORITY_MAX ? STREAM_PRIORITY_MAX : p;
}

enum status stream_create(struct device *d, u32 flags, int priority, struct stream **out)
{
	if (flags & ~(u32)STREAM_NON_BLOCKING)
		return STATUS_INVALID_VALUE;
	*out = make_stream(d->streams, flags, clamp_priority(priority));
	return *out ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}

void stream_free_locked(struct stream *s)
{
	struct stream_device *d = s->device;

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
		return thread_stream(d);
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

	/* One edge more for the event of whoever waits for one. */
	if (!work_reserve_locked(d->all, (s->legacy ? d->busy : 1) + 1))
		return NULL;
	w = work_take_locked(s, kind);
	w->in_stream = true;
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
	enum status error = error_of(s);

	if (PL_UNLIKELY(error != STATUS_SUCCESS))
		return error;
	return PL_UNLIKELY(stream_in_host_call(s->device->all)) ? STATUS_NOT_PERMITTED
								: STATUS_SUCCESS;
}

static enum status capture_launch(struct stream *s, const struct device_launch *l)
{
	struct graph_action a = {
		.type = GRAPH_KERNEL, .dev = stream_device_of(s), .launch = *l, .name = l->name};

	return capture_add(s, &a);
}

/* What a call is as a node. */
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

enum status stream_launch(struct stream *s, const struct device_launch *l)
{
	struct streams *all = s->device->all;
	enum status status = stream_check_issue(s);
	struct device_flight *f;
	struct work *w;
	struct batch batch;
	u64 serial = 0;

	if (status == STATUS_SUCCESS && PL_UNLIKELY(stream_is_capturing(s)))
		return capture_launch(s, l);
	if (status == STATUS_SUCCESS && s->legacy)
		status = capture_check_legacy(s);
	if (status == STATUS_SUCCESS)
		status = device_flight_prepare(l, &f);
	if (status != STATUS_SUCCESS)
		return status;
	if (PL_UNLIKELY(device_flight_launches_graphs(f))) {
		device_flight_drop(f);
		return STATUS_NOT_SUPPORTED;
	}
	batch_init(&batch);
	pthread_mutex_lock(&all->lock);
	w = stream_append_locked(s, WORK_LAUNCH);
	if (w) {
		w->flight = f;
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

/* May the calling thread wait for the stream? */
static enum status check_wait(struct stream *s)
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
		stream_wait_work_locked(all, w, serial);
		pthread_mutex_unlock(&all->lock);
	}
	/* What was issued before it has ended, too. */
	if (status == STATUS_SUCCESS)
		status = check_wait(s);
	return status == STATUS_SUCCESS ? error_of(s) : status;
}

bool stream_in_host_call(const struct streams *all)
{
	return __atomic_load_n(&all->host.started, __ATOMIC_ACQUIRE) &&
	       pthread_equal(all->host.thread, pthread_self());
}

/* ---- waiting ---- */

/* A pause where nothing tells the end of what is waited for. lock held, given up meanwhile. */
static void pause_locked(struct streams *all)
{
	pthread_mutex_unlock(&all->lock);
	nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
	pthread_mutex_lock(&all->lock);
}

/* One order: the worker runs only while somebody waits. lock held, given up meanwhile. */
static void wait_ordered_locked(struct streams *all, struct work *w, u64 serial)
{
	struct sched_pool *pool = w->stream->device->dev->pool;
	bool any;

	while (work_is_pending(w, serial)) {
		pthread_mutex_unlock(&all->lock);
		any = sched_go(pool);
		pthread_mutex_lock(&all->lock);
		/* It waits for a host function, or a value in memory. */
		if (!any && work_is_pending(w, serial))
			pause_locked(all);
	}
}

void stream_wait_work_locked(struct streams *all, struct work *w, u64 serial)
{
	if (all->waiting && work_is_pending(w, serial))
		all->waiting();
	if (PL_UNLIKELY(all->deterministic) && work_is_pending(w, serial))
		wait_ordered_locked(all, w, serial);
	while (work_is_pending(w, serial)) {
		w->waited = true;
		sched_rest(all->pool, &all->ended, &all->lock);
	}
}

/* Host functions run on their own thread; one that waits for the program is not waited for. */
static bool host_ends_locked(struct streams *all)
{
	for (u32 i = 0; i < HOST_PAUSES && (all->host.first || all->host.busy); i++)
		pause_locked(all);
	return !all->host.first && !all->host.busy;
}

/* Everything that can has run. */
static void settle(struct streams *all, struct device *d)
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

	if (PL_LIKELY(!all->blocking && !all->deterministic))
		return STATUS_SUCCESS;
	if (stream_in_host_call(all))
		return STATUS_SUCCESS;
	if (all->deterministic)
		settle(all, s->device->dev);
	if (!all->blocking)
		return STATUS_SUCCESS;
	pthread_mutex_lock(&all->lock);
	stream_wait_work_locked(all, w, serial);
	pthread_mutex_unlock(&all->lock);
	return error_of(s);
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
	pthread_mutex_unlock(&sd->all->lock);
	return stream_device_error(d);
}

enum status stream_wait(struct stream *s)
{
	struct streams *all = s->device->all;
	enum status status = check_wait(s);

	if (PL_UNLIKELY(status != STATUS_SUCCESS))
		return status;
	pthread_mutex_lock(&all->lock);
	if (s->legacy)
		wait_all_locked(s->device, true);
	else if (s->tail)
		stream_wait_work_locked(all, s->tail, s->tail->serial);
	pthread_mutex_unlock(&all->lock);
	return error_of(s);
}

enum status stream_query(struct stream *s)
{
	struct streams *all = s->device->all;
	enum status error = error_of(s);
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
