/*
 * Streams and events: the one mechanism that orders work on devices.
 *
 * Work is a node with a number of predecessors that have not ended, and successors. A stream is a
 * chain of nodes; an event remembers the end of a chain; waiting for an event is an edge between
 * chains. A node runs when its last predecessor has ended: launches go to the workers, calls to a
 * thread of their own, so that no worker ever runs the program's code or a long copy. Work for a
 * stream that has nothing to do runs on the calling thread where that cannot block it: copies, and
 * the beginning of launches.
 *
 * The default stream ("legacy") waits for all blocking streams of its device and they wait for it.
 * Every thread has a default stream of its own besides, which is a blocking one.
 *
 * A fault belongs to the device: what has not begun is dropped, every wait returns the error.
 *
 * All devices of a process share one `struct streams`. Everything here may be called from several
 * threads at once. Functions return STATUS_INVALID_HANDLE for what is no stream or event.
 * Source: CUDA C++ Programming Guide, "Streams", "Events"; CUDA Driver API, "Stream Management".
 */
#ifndef PL_DEV_STREAM_H
#define PL_DEV_STREAM_H

#include "src/dev/device.h"

struct streams;
struct stream;
struct stream_event;

/* ---- the process and its devices ---- */

struct streams *streams_new(void);
/*
 * `fn` is called by threads that are about to wait for work, with streams' lock held; it must be
 * quick.
 */
void streams_set_waiting(struct streams *all, void (*fn)(void));
/*
 * blocking: launches, copies and fills have ended when the call that issues them returns, which
 * answers their error. deterministic: they run in the order in which they are issued, by the one
 * worker of such a pool.
 */
void streams_set_order(struct streams *all, bool blocking, bool deterministic);
/* All its devices must have been closed. */
void streams_free(struct streams *all);

/*
 * Let launches of a device have an order; sets d->streams. `fault` is called for every fault of a
 * launch, on any thread; it may be NULL.
 */
enum status stream_device_open(struct streams *all, struct device *d, device_done *fault,
			       void *user);
/* Wait for all work, then destroy the device's streams and events. Clears d->streams. */
void stream_device_close(struct device *d);
/* The first fault since the device was opened, STATUS_SUCCESS: none. Any thread, any time. */
enum status stream_device_error(const struct device *d);
/* A fault that came from outside: the device is dead from now on. The first one counts. */
void stream_device_fail(struct device *d, enum status error);
/* From now on faults of kernels and copies end these alone: later calls do not answer them. */
void stream_device_go_on(struct device *d);
/* Forget the error; nothing may be under way. */
void stream_device_revive(struct device *d);
/* Wait for all work that has been issued to a device; returns its error. Invalidates captures. */
enum status stream_device_wait(struct device *d);
/* The same for those who hand out or take away memory: captures stay as they are. */
enum status stream_device_finish(struct device *d);
/*
 * Give something back that work which has been issued to the device may still use: release(data) is
 * called once all of that has ended, now if there is none. `bytes` of data, at most
 * STREAM_RELEASE_BYTES, are copied. Does not wait, and may be called anywhere; without memory for
 * that it waits. `release` runs with locks held: it may only take ones that are never held for
 * long.
 */
#define STREAM_RELEASE_BYTES 64u
typedef void stream_release(void *data);
void stream_device_after(struct device *d, stream_release *release, const void *data, size_t bytes);

/* ---- streams ---- */

enum stream_flags { STREAM_NON_BLOCKING = 1 };

/*
 * Priorities are kept, from 0 to STREAM_PRIORITY_MAX; others are clamped. No order comes of them.
 */
#define STREAM_PRIORITY_MAX (-5)

enum status stream_create(struct device *d, u32 flags, int priority, struct stream **out);
/* Work that has been issued still runs. */
enum status stream_destroy(struct streams *all, struct stream *s);

/*
 * What a program passes as a stream: NULL, 1 (legacy), 2 (this thread's) or a handle.
 * per_thread: NULL means this thread's, as in the entry points ending in _ptsz.
 * Returns NULL when it is no stream, or there is no memory for the thread's.
 */
struct stream *stream_resolve(struct device *d, const void *handle, bool per_thread);
/* Whether a handle, none of the special ones, is a stream of any device. */
bool stream_is(const struct streams *all, const void *handle);
/* Is it, or was it ever, a stream or an event? */
bool stream_was(const struct streams *all, const void *handle);
struct device *stream_device_of(const struct stream *s);
/* What the interfaces made the stream in; NULL at first. */
void *stream_owner(const struct stream *s);
void stream_owner_set(struct stream *s, void *owner);
u32 stream_flags_of(const struct stream *s);
int stream_priority_of(const struct stream *s);
/* Unique in the process. */
u64 stream_id_of(const struct stream *s);
bool stream_is_legacy(const struct stream *s);
void stream_priority_set(struct stream *s, int priority);

/*
 * Values that the interfaces keep with a stream, by number: no effect on its work. Zero at first.
 */
#define STREAM_KEPT 17u
#define STREAM_KEPT_BYTES 64u
void stream_kept_read(const struct stream *s, u32 number, void *value);
void stream_kept_write(struct stream *s, u32 number, const void *value);

/* What a stream has to do at the moment, for people who look. */
struct stream_look {
	const struct stream *stream;
	bool capturing;
	u32 left; /* pieces of work that have not ended */
	/* The first of them: "kernel", "copy", "wait for other work" and the like; NULL: none. */
	const char *first;
	bool begun;                         /* nothing that it would have to wait for is left */
	const struct device_kernel *kernel; /* that it launches; NULL: it is no launch */
};

/* Streams of a device, the legacy one first, then by age; returns how many, at most `max`. */
u32 stream_device_look(struct device *d, struct stream_look *out, u32 max);

/* STATUS_SUCCESS: nothing is left to do; STATUS_NOT_READY; or the device's error. */
enum status stream_query(struct stream *s);
/* The same where the program does not know that it is asked. */
enum status stream_ask(struct stream *s);
/* Wait for what has been issued so far. */
enum status stream_wait(struct stream *s);

/* ---- work ---- */

/*
 * Runs in stream order. so_far: STATUS_SUCCESS; with STREAM_ALWAYS the device's error. Returns
 * STATUS_SUCCESS; STATUS_NOT_READY to be asked again soon (STREAM_POLL only); else an error, which
 * becomes the device's.
 */
typedef enum status stream_fn(void *data, enum status so_far);

enum stream_call_flags {
	STREAM_HOST = 1,     /* the program's code, which may block: never on the calling thread */
	STREAM_ALWAYS = 2,   /* even after a fault */
	STREAM_POLL = 4,     /* may return STATUS_NOT_READY; must be quick */
	STREAM_CALLBACK = 8, /* of a kind that cannot be captured */
	STREAM_WAIT = 16,    /* then as stream_wait; data may name what the caller has */
	STREAM_UNSEEN = 32,  /* that wait is ours: the program cannot rely on it */
	/* What it is, as a captured graph reports it. */
	STREAM_COPY = 0x100,
	STREAM_FILL = 0x200,
	STREAM_ALLOC = 0x300,
	STREAM_FREE = 0x400,
	STREAM_WHAT = 0xf00,
};

/*
 * Run `fn` on a copy of `data` (aligned to 16 bytes) after what has been issued to the stream, at
 * once if that is nothing. In a stream that is being captured it becomes a node of the graph
 * instead, and may run any number of times: `data` must then own nothing (stream_is_capturing).
 */
enum status stream_call(struct stream *s, stream_fn *fn, const void *data, size_t bytes, u32 flags);
/* device_launch in the stream's order; l->may_inline is as there. */
enum status stream_launch(struct stream *s, const struct device_launch *l);
/* Does this thread run a STREAM_HOST function? Such code must not call into CUDA. */
bool stream_in_host_call(const struct streams *all);

/* ---- events ---- */

enum stream_event_flags {
	STREAM_EVENT_BLOCKING_SYNC = 1,
	STREAM_EVENT_NO_TIMING = 2,
	STREAM_EVENT_INTERPROCESS = 4
};

enum status stream_event_create(struct device *d, u32 flags, struct stream_event **out);
/* A record that is under way is forgotten; waits that were issued are kept. */
enum status stream_event_destroy(struct streams *all, struct stream_event *e);
bool stream_event_is(const struct streams *all, const void *handle);
struct device *stream_event_device(const struct stream_event *e);
u32 stream_event_flags_of(const struct stream_event *e);
/* Events of another process: handles are STREAM_EVENT_HANDLE bytes. */
#define STREAM_EVENT_HANDLE 64u
/* STATUS_INVALID_HANDLE when the event was not made with STREAM_EVENT_INTERPROCESS. */
enum status stream_event_export(struct stream_event *e, void *handle);
/* Not in the process that exported it, which has to be alive. */
enum status stream_event_import(struct device *d, const void *handle, struct stream_event **out);

/*
 * External: in a stream that is being captured, a node of the graph that records or waits; in
 * others STATUS_ILLEGAL_STATE.
 */
enum { STREAM_EVENT_EXTERNAL = 1 };
/* The event is what the stream has been given so far. */
enum status stream_event_record(struct stream_event *e, struct stream *s, u32 flags);
/*
 * The same for several streams of the event's device: those of an owner, all if that is NULL. Not
 * in a capture.
 */
enum status stream_event_record_all(struct stream_event *e, const void *owner);
enum status stream_wait_event_all(struct stream_event *e, struct device *d, const void *owner);
/* What the stream is given from now on waits for the event as it was recorded last. */
enum status stream_wait_event(struct stream *s, struct stream_event *e, u32 flags);
/* Never recorded counts as done. */
enum status stream_event_query(struct stream_event *e);
enum status stream_event_wait(struct stream_event *e);
/* STATUS_INVALID_HANDLE: without timing or never recorded; STATUS_NOT_READY. */
enum status stream_event_elapsed(const struct stream_event *from, const struct stream_event *to,
				 f32 *ms);

#endif
