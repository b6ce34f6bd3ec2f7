/*
 * Sets of what happened before, and the slots of work that they are made of.
 */
#include "src/base/clock.h"
#include "src/dev/stream/stream_int.h"

#include <stdlib.h>
#include <time.h>

struct order_slot {
	u64 serial; /* of its work; 0: free */
	bool ended;
};

struct order {
	const struct order_watch *watch;
	struct order_set host; /* happened before what the host does next */
	struct order_slot slot[ORDER_SLOTS];
	u32 used, next;
	struct stream_device *device[MEM_DEVICES_MAX];
};

/* Room is made before all are taken: what is under way keeps its own. */
#define ORDER_FULL (ORDER_SLOTS - ORDER_SLOTS / 8)

_Thread_local struct host_call host_call_now;

u64 host_call_time(void)
{
	return clock_ns();
}
static _Thread_local struct work *current;

bool streams_set_watch(struct streams *all, const struct order_watch *w)
{
	all->order = calloc(1, sizeof(*all->order));
	if (all->order)
		all->order->watch = w;
	return all->order != NULL;
}

void order_device(struct order *o, struct stream_device *d, bool is_open)
{
	o->device[d->dev->mem.index] = is_open ? d : NULL;
}

/* ---- what streams stand for ---- */

static bool is_blocking(const struct stream *s)
{
	return !s->legacy && !(s->flags & STREAM_NON_BLOCKING);
}

/* What has ended and the stream's next work comes behind. What is pending tells it at its end. */
void order_now_locked(const struct stream *s, struct order_set *out)
{
	const struct stream_device *d = s->device;

	order_add(out, &d->all->order->host);
	order_add(out, &s->after);
	if (is_blocking(s))
		order_add(out, &d->legacy->after);
	if (!s->legacy)
		return;
	order_add(out, &d->gone_blocking);
	for (const struct stream *x = d->streams; x; x = x->next)
		if (is_blocking(x))
			order_add(out, &x->after);
}

void order_gone_locked(const struct stream *s)
{
	struct stream_device *d = s->device;

	order_add(&d->gone, &s->after);
	if (is_blocking(s))
		order_add(&d->gone_blocking, &s->after);
}

/* ---- slots that are needed no more ---- */

static void keep_common(struct order_set *all, const struct order_set *a, const struct order_set *b)
{
	for (u32 i = 0; i < ARRAY_LEN(all->word); i++)
		all->word[i] &= a->word[i] | (b ? b->word[i] : 0);
}

/* What all streams' next work, and what is pending in them, comes behind. */
static void find_common_locked(const struct order *o, struct order_set *out)
{
	memset(out, 0xff, sizeof(*out));
	for (u32 i = 0; i < MEM_DEVICES_MAX; i++)
		for (struct stream *s = o->device[i] ? o->device[i]->streams : NULL; s;
		     s = s->next) {
			struct order_set now = {0};

			if (!s->head)
				order_now_locked(s, &now);
			keep_common(out, s->head ? &s->head->before : &now, NULL);
		}
}

static void remove_from(struct order_set *s, const struct order_set *gone)
{
	for (u32 i = 0; i < ARRAY_LEN(s->word); i++)
		s->word[i] &= ~gone->word[i];
}

static void drop_locked(struct streams *all, const struct order_set *gone)
{
	struct order *o = all->order;

	o->watch->drop(o->watch->user, gone);
	for (u32 i = 0; i < ORDER_SLOTS; i++)
		if (order_has(gone, i)) {
			o->slot[i] = (struct order_slot){0};
			o->used--;
		}
	remove_from(&o->host, gone);
	work_forget_locked(all, gone);
	for (u32 i = 0; i < MEM_DEVICES_MAX; i++) {
		struct stream_device *d = o->device[i];

		if (!d)
			continue;
		remove_from(&d->gone, gone);
		remove_from(&d->gone_blocking, gone);
		for (struct stream *s = d->streams; s; s = s->next) {
			remove_from(&s->after, gone);
			if (s->last_kernel && order_has(gone, s->last_kernel - 1))
				s->last_kernel = 0;
		}
		for (struct stream_event *e = d->events; e; e = e->next)
			remove_from(&e->known, gone);
	}
}

/* Those of the set that are of work which has ended. False: there are none. */
static bool only_ended(const struct order *o, struct order_set *set)
{
	bool any = false;

	for (u32 i = 0; i < ORDER_SLOTS; i++)
		if (order_has(set, i)) {
			if (o->slot[i].serial && o->slot[i].ended)
				any = true;
			else
				set->word[i / 64] &= ~((u64)1 << i % 64);
		}
	return any;
}

/* Everything the host has waited for, unless pending work is not behind it. */
static void collect_locked(struct streams *all)
{
	struct order *o = all->order;
	struct order_set common;

	if (!o->used)
		return;
	find_common_locked(o, &common);
	keep_common(&common, &o->host, NULL);
	if (only_ended(o, &common))
		drop_locked(all, &common);
}

/* The older half of what has ended, whatever may come: races with it are missed. */
static void find_oldest(const struct order *o, struct order_set *out)
{
	u64 low = UINT64_MAX, high = 0;

	for (u32 i = 0; i < ORDER_SLOTS; i++)
		if (o->slot[i].serial && o->slot[i].ended) {
			low = min_u64(low, o->slot[i].serial);
			high = max_u64(high, o->slot[i].serial);
		}
	*out = (struct order_set){0};
	for (u32 i = 0; i < ORDER_SLOTS; i++)
		if (o->slot[i].serial && o->slot[i].ended &&
		    o->slot[i].serial <= low + (high - low) / 2)
			order_put(out, i);
}

static void make_room_locked(struct streams *all)
{
	struct order *o = all->order;
	struct order_set gone;

	find_common_locked(o, &gone);
	if (only_ended(o, &gone))
		drop_locked(all, &gone);
	if (o->used < ORDER_FULL / 2)
		return;
	find_oldest(o, &gone);
	if (only_ended(o, &gone))
		drop_locked(all, &gone);
}

void order_forget(struct device *d)
{
	struct streams *all = d->streams ? d->streams->all : NULL;
	struct order_set gone;

	if (PL_LIKELY(!all || !all->order))
		return;
	all->order->watch->forget(all->order->watch->user);
	pthread_mutex_lock(&all->lock);
	memset(&gone, 0xff, sizeof(gone));
	if (only_ended(all->order, &gone))
		drop_locked(all, &gone);
	pthread_mutex_unlock(&all->lock);
}

/* ---- the host ---- */

void order_teach_locked(struct streams *all, const struct order_set *known)
{
	struct order *o = all->order;

	order_add(&o->host, known);
	o->watch->teach(o->watch->user, &o->host);
	collect_locked(all);
}

void order_teach_device_locked(const struct stream_device *d, bool only_blocking)
{
	struct order_set known = only_blocking ? d->gone_blocking : d->gone;

	for (const struct stream *s = d->streams; s; s = s->next)
		if (!only_blocking || s->legacy || is_blocking(s))
			order_add(&known, &s->after);
	order_teach_locked(d->all, &known);
}

void order_teach_stream(struct stream *s)
{
	struct streams *all = s->device->all;
	struct order_set known = {0};

	pthread_mutex_lock(&all->lock);
	order_now_locked(s, &known);
	order_teach_locked(all, &known);
	pthread_mutex_unlock(&all->lock);
}

/* ---- work ---- */

void order_call(void)
{
	struct host_from *from = &host_call_now.from;

	if (host_call_now.name && !from->trace)
		from->trace = host_trace_here(from->caller);
}

void order_take_locked(struct work *w)
{
	w->before = w->soft = (struct order_set){0};
	w->programmatic = false;
	w->slot = ORDER_NONE;
	w->is_taught = false;
	w->call = host_call_now;
}

/* The work before it in the stream, if it is a kernel, need not have ended when it begins. */
void order_soften_locked(struct work *w)
{
	const struct stream *s = w->stream;

	w->programmatic = true;
	if (s->head == w && s->last_kernel &&
	    !order_has(&s->device->all->order->host, s->last_kernel - 1))
		order_put(&w->soft, s->last_kernel - 1);
}

/* All that has begun: more than what really happened before, where that is not known. */
void order_add_begun_locked(struct streams *all, struct order_set *out)
{
	for (u32 i = 0; i < ORDER_SLOTS; i++)
		if (all->order->slot[i].serial)
			order_put(out, i);
}

/* Work of these numbers, and all before it. */
void order_add_range_locked(struct streams *all, u64 first, u64 last, struct order_set *out)
{
	const struct order *o = all->order;

	for (u32 i = 0; i < ORDER_SLOTS; i++)
		if (o->slot[i].serial >= first && o->slot[i].serial <= last)
			order_put(out, i);
}

static u32 find_free_slot(struct order *o)
{
	for (u32 n = 0; n < ORDER_SLOTS; n++) {
		u32 i = (o->next + n) % ORDER_SLOTS;

		if (!o->slot[i].serial) {
			o->next = i + 1;
			return i;
		}
	}
	return ORDER_NONE;
}

static struct order_piece order_piece_of(const struct work *w)
{
	struct order_piece p = {
		.slot = w->slot,
		.stream_id = w->stream->id,
		.is_legacy = w->stream->legacy,
		.is_non_blocking = w->stream->flags & STREAM_NON_BLOCKING,
		.is_graph = !w->in_stream,
		.soft = w->soft,
		.issued = w->serial,
		.begun = w->stream->device->all->serial,
		.dev = w->stream->device->dev,
		.call = w->call,
	};

	if (w->kind == WORK_LAUNCH) {
		p.kernel = w->flight->kernel;
		p.grid_id = w->flight->grid_id;
		if (w->flight->from.trace)
			p.call.from = w->flight->from;
	}
	return p;
}

static void give_slot_locked(struct work *w)
{
	struct streams *all = w->stream->device->all;
	struct order *o = all->order;
	struct order_piece p;

	if (o->used >= ORDER_FULL)
		make_room_locked(all);
	w->slot = find_free_slot(o);
	if (w->slot == ORDER_NONE)
		return;
	o->slot[w->slot] = (struct order_slot){w->serial, false};
	o->used++;
	p = order_piece_of(w);
	o->watch->begin(o->watch->user, &p);
}

void order_begin(struct work *w)
{
	struct streams *all = w->stream->device->all;

	pthread_mutex_lock(&all->lock);
	/* Code of the program may tell its other threads that it was reached. */
	if (w->kind == WORK_CALL && w->flags & STREAM_HOST)
		order_teach_locked(all, &w->before);
	/* Calls are asked again until what they wait for is there. */
	if (w->slot == ORDER_NONE)
		give_slot_locked(w);
	pthread_mutex_unlock(&all->lock);
}

void order_ran(struct work *w)
{
	struct streams *all = w->stream->device->all;
	struct order *o = all->order;
	struct order_set before;

	if (w->slot == ORDER_NONE)
		return;
	pthread_mutex_lock(&all->lock);
	before = w->before;
	pthread_mutex_unlock(&all->lock);
	o->watch->end(o->watch->user, w->slot, &before);
}

/* Its successors come behind it, and behind all that it came behind. */
void order_end_locked(struct work *w)
{
	struct streams *all = w->stream->device->all;
	struct order *o = all->order;
	bool is_kernel = w->kind == WORK_LAUNCH && w->slot != ORDER_NONE;

	if (w->slot != ORDER_NONE) {
		order_put(&w->before, w->slot);
		o->slot[w->slot].ended = true;
	}
	if (w->follow)
		order_add(&w->follow->before, &w->before);
	if (w->follow && w->follow->programmatic && is_kernel)
		order_put(&w->follow->soft, w->slot);
	for (const struct edge *e = w->out; e; e = e->next) {
		order_add(&e->to->before, &w->before);
		if (e->programmatic && is_kernel)
			order_put(&e->to->soft, w->slot);
	}
	if (w->in_stream) {
		order_add(&w->stream->after, &w->before);
		w->stream->last_kernel = is_kernel ? w->slot + 1 : 0;
	}
	if (w->is_taught) {
		order_add(&o->host, &w->before);
		o->watch->teach(o->watch->user, &o->host);
	}
}

/* How long calls wait for the end of what they have issued, and how often they look. */
#define ORDER_PATIENCE_NS ((u64)200000000)
#define ORDER_PAUSE_NS 50000

void order_settle(struct streams *all, const struct work *w, u64 serial)
{
	u64 end = clock_ns() + ORDER_PATIENCE_NS;
	bool pending = all->order->watch->wants_ends;

	while (pending && clock_ns() < end) {
		pthread_mutex_lock(&all->lock);
		pending = work_is_pending(w, serial);
		pthread_mutex_unlock(&all->lock);
		if (pending)
			nanosleep(&(struct timespec){0, ORDER_PAUSE_NS}, NULL);
	}
}

void order_enter(struct work *w)
{
	current = w;
}

u32 order_current(void)
{
	return current ? current->slot : ORDER_NONE;
}

struct host_call order_current_call(void)
{
	return current ? current->call : (struct host_call){0};
}

void order_acquire(void)
{
	struct streams *all = current ? current->stream->device->all : NULL;

	if (!all || !all->order)
		return;
	pthread_mutex_lock(&all->lock);
	order_add_begun_locked(all, &current->before);
	pthread_mutex_unlock(&all->lock);
}
