/*
 * Private to src/dev: nodes of work, streams, events, and the threads that run calls.
 *
 * streams->lock guards everything here. It is held for a few instructions at a time, never while a
 * kernel, a call or a check runs. Under it only a device's own lock may be taken.
 */
#ifndef PL_DEV_STREAM_INT_H
#define PL_DEV_STREAM_INT_H

#include "src/dev/device_int.h"
#include "src/base/vec.h"
#include "src/dev/graph/graph.h"
#include "src/dev/handle.h"
#include "src/dev/memory/watch.h"
#include "src/dev/stream/order.h"
#include "src/dev/stream/stream.h"

#define WORK_SMALL 128u /* bytes of data kept in the node itself */

struct work;

/* `to` waits for the node whose list this is in. */
struct edge {
	struct edge *next;
	struct work *to;
	bool programmatic; /* `to` may begin before it ends, but for the device's threads waiting */
};

/* Those up to WORK_RELEASE take no time: they are over when nothing is missing any more. */
enum work_kind { WORK_EMPTY, WORK_RECORD, WORK_RELEASE, WORK_LAUNCH, WORK_CALL, WORK_EXPAND };

/*
 * What a WORK_EXPAND does when it runs: parts of launches of graphs with conditional nodes,
 * with nodes that kernels change, or that kernels launch.
 */
enum expand_role {
	EXPAND_BEGIN,
	EXPAND_NODE,
	EXPAND_BODY_END,
	EXPAND_END,
	EXPAND_KERNEL,
	EXPAND_RUN_END
};

/*
 * A piece of work. Nodes are never freed while the process lives: a reference to one comes
 * with its serial, which changes when it ends.
 */
struct work {
	struct work *next;   /* in a list of spare, ready or queued nodes */
	struct work *follow; /* the next one of the stream */
	struct edge *out;    /* others that wait for it */
	struct stream *stream;
	u64 serial;  /* 0: spare */
	u32 missing; /* predecessors that have not ended */
	u8 kind;
	bool in_stream; /* in the stream's chain */
	bool waited;    /* some thread waits for its end */
	u32 flags;      /* enum stream_call_flags */
	stream_fn *fn;
	stream_release *release; /* WORK_RELEASE: called with the lock held */
	struct device_flight *flight;
	struct stream_event *event;
	enum expand_role role;
	struct graph_exec *exec;
	struct graph_node *node; /* EXPAND_NODE, EXPAND_KERNEL: which */
	struct graph_run *run;   /* that it is a part of, NULL: none */
	struct work *parent;     /* EXPAND_BODY_END: its work */
	void *data;              /* of a call: small or heap */
	void *heap;              /* kept for the next call */
	size_t data_cap;         /* of heap */
	/* While the order of work is watched; order.h. */
	struct order_set before; /* grows until nothing is missing */
	struct order_set soft;   /* of these what it comes behind only where its threads wait */
	bool programmatic;       /* so the kernel before it in the stream */
	u32 slot;
	bool is_taught; /* the host waits for it */
	struct host_call call;
	_Alignas(16) u8 small[WORK_SMALL];
};

struct stream_capture;

/* Nodes that the next captured one comes after. */
typedef struct {
	VEC(struct graph_node *) node;
	VEC(struct graph_edge_data) data; /* as many */
} capture_ends;

struct stream {
	struct stream_device *device;
	struct stream *prev, *next; /* streams of the device */
	struct work *head, *tail;   /* NULL: idle */
	u64 id;
	u64 launches; /* put into it so far */
	u32 flags;
	int priority;
	bool legacy, dying;
	/* Guarded by graphs->lock; capture is also read without it. */
	struct stream_capture *capture;
	struct stream *capture_next;
	capture_ends ends;
	u8 *kept; /* STREAM_KEPT values, NULL: all zero */
	void *owner;
	struct order_set after; /* up to its last work that has ended */
	u32 last_kernel;        /* the slot + 1 of that, if it is a kernel's; 0: it is not */
};

struct stream_event {
	struct stream_device *device;
	struct stream_event *prev, *next; /* events of the device */
	u32 flags;
	bool recorded;
	struct work *work; /* that records it */
	u64 serial;
	u64 at_ns;               /* CLOCK_MONOTONIC, when its work is done */
	struct event_page *page; /* shared with other processes, NULL: not */
	int page_fd;
	struct order_set known; /* that its last record came behind */
	/* Recorded in a capture: which, 0: in none, and its ends then. Guarded by graphs->lock. */
	u64 capture_id;
	capture_ends ends;
};

/* One device's part. */
struct stream_device {
	struct streams *all;
	struct device *dev;
	struct stream *streams; /* all, the legacy one first */
	struct stream *legacy;
	struct stream_event *events;
	u32 busy;                    /* blocking streams with something to do */
	int error;                   /* enum status; atomic */
	bool goes_on;                /* stream_device_go_on */
	u64 epoch;                   /* of the process's openings of devices: unique */
	struct graph_memory *memory; /* of graphs; with the next, guarded by graphs->lock */
	struct {
		u64 used, used_high, reserved, reserved_high;
	} graph_bytes;
	struct graph_exec *memory_execs; /* those that hold memory */
	device_done *fault;
	void *fault_user;
	struct order_set gone, gone_blocking; /* of streams that were destroyed */
};

/* A thread that runs calls one after the other, started at the first. */
struct service {
	struct streams *all;
	pthread_t thread;
	bool started, quit;
	bool busy; /* with a call; guarded by streams->lock */
	pthread_cond_t wake;
	struct work *first, **last;
	struct work *polls; /* to be asked again */
};

struct work_chunk;

struct streams {
	pthread_mutex_t lock;
	pthread_cond_t ended;    /* a node that is waited for */
	struct sched_pool *pool; /* of the devices, NULL: none is open */
	struct work *spare;
	struct edge *spare_edges;
	u32 spare_len, spare_edge_len;
	struct work_chunk *chunks;
	u64 serial, stream_ids, epochs;
	struct graphs *graphs;
	u32 captures;                   /* that go on; atomic */
	void (*expand)(struct work *w); /* runs a WORK_EXPAND; no lock held */
	struct service copies, host;
	void (*waiting)(void); /* called by threads that are about to wait; NULL: nothing is */
	bool blocking;         /* CUDA_LAUNCH_BLOCKING: issuing is waiting */
	bool deterministic;    /* as the pool of the devices */
	struct order *order;   /* NULL: it is not watched */
	struct handle_pool stream_pool, event_pool;
	pthread_key_t thread_key; /* struct thread_streams */
};

/* Launches that have become ready, to be started without the lock. */
struct batch {
	struct work *first, **last;
};

/* ---- work.c ---- */

static inline bool work_is_pending(const struct work *w, u64 serial)
{
	return w && w->serial == serial;
}

static inline void batch_init(struct batch *t)
{
	t->first = NULL;
	t->last = &t->first;
}

/* Make sure that a node and n edges can be had. lock held. */
bool work_reserve_locked(struct streams *all, u32 edges);
bool work_reserve_many_locked(struct streams *all, u32 works, u32 edges);
/* A new node of a kind, with nothing missing; reserved before. lock held. */
struct work *work_take_locked(struct stream *s, enum work_kind kind);
/* A copy of data for the node. Returns false when there is no memory. */
bool work_set_data(struct work *w, const void *data, size_t bytes);
/* `to` waits for `from`, which has not ended; reserved before. lock held. */
void work_join_locked(struct work *from, struct work *to);
/* Nothing is missing any more: run what is short, queue the rest. lock held. */
void work_ready_locked(struct work *w, struct batch *batch);
/* It has run, or is not to be; and what follows from it. lock not held. */
void work_end(struct work *w);
/* Start what is ready. lock not held. */
void work_start(struct streams *all, struct batch *batch, bool may_inline);
/* Run a call now, on this thread. lock not held. */
void work_call_here(struct work *w);
void service_init(struct service *v, struct streams *all);
/* Ends the thread. */
void service_fini(struct service *v);
void work_free_all(struct streams *all);

/* These slots are no longer before anything. lock held. */
void work_forget_locked(struct streams *all, const struct order_set *gone);

/* ---- order.c: only while the order of work is watched ---- */

void order_device(struct order *o, struct stream_device *d, bool is_open);
/* Add what the stream's next work comes behind, as far as that has ended. lock held. */
void order_now_locked(const struct stream *s, struct order_set *out);
/* The stream is about to go. lock held. */
void order_gone_locked(const struct stream *s);
/* The host has waited for this; for what the device's streams stand for; for a stream. */
void order_teach_locked(struct streams *all, const struct order_set *known);
void order_teach_device_locked(const struct stream_device *d, bool only_blocking);
void order_teach_stream(struct stream *s);
/* Is it kept which call has issued work? */
static inline bool order_is_kept(const struct streams *all)
{
	return PL_UNLIKELY(all->order != NULL) || memory_is_watched();
}

/* Before the calling thread issues work: keep its stack. lock not held. */
void order_call(void);
/* A node is new; begins, lock not held; has run, likewise; ends. */
void order_take_locked(struct work *w);
void order_soften_locked(struct work *w);
void order_begin(struct work *w);
void order_ran(struct work *w);
void order_end_locked(struct work *w);
/* Before a call that has issued work returns. lock not held. */
void order_settle(struct streams *all, const struct work *w, u64 serial);
/* The calling thread carries it out; NULL: no more. */
void order_enter(struct work *w);
void order_add_begun_locked(struct streams *all, struct order_set *out);
void order_add_range_locked(struct streams *all, u64 first, u64 last, struct order_set *out);

/* ---- streams.c ---- */

/* The calling thread's default stream of a device, made at the first call. NULL: no memory. */
struct stream *stream_of_thread(struct device *d);
/* The calling thread's capture mode, NULL: no memory. */
enum capture_mode *stream_thread_mode(struct streams *all);

/* ---- stream.c ---- */

/* The error that has ended the stream's device, STATUS_SUCCESS: none. */
static inline enum status stream_error(const struct stream *s)
{
	return (enum status)__atomic_load_n(&s->device->error, __ATOMIC_RELAXED);
}

/* A new idle stream of the device. NULL: no memory, or too many streams. lock not held. */
struct stream *stream_make(struct stream_device *d, u32 flags, int priority);

/* Take an idle stream out of its device. lock held. */
void stream_free_locked(struct stream *s);

/* ---- stream_issue.c ---- */

/* May work be issued? The device's error, or STATUS_NOT_PERMITTED in a host function. */
enum status stream_check_issue(const struct stream *s);
/* The place of the stream's next launch: sched_launch.place. lock held. */
u64 stream_place_locked(struct stream *s);
/* Has further work of the stream anything to wait for? lock held. */
bool stream_is_busy_locked(const struct stream *s);
/*
 * A node at the end of the stream, waiting for what the stream's kind demands; one more edge to it
 * can be had. The caller makes it ready when nothing is missing. NULL: no memory. lock held.
 */
struct work *stream_append_locked(struct stream *s, enum work_kind kind);

/* ---- stream_wait.c ---- */

/*
 * May the calling thread wait for the stream? STATUS_NOT_PERMITTED in a host function; a status of
 * captures while one would be disturbed, which this may invalidate. lock not held.
 */
enum status stream_check_wait(struct stream *s);
/*
 * The last part of every call that issues work: waits for it with CUDA_LAUNCH_BLOCKING, and when
 * everything is to have one order until nothing can go on. Returns STATUS_SUCCESS, or with
 * CUDA_LAUNCH_BLOCKING the device's error. lock not held.
 */
enum status stream_issued(struct stream *s, struct work *w, u64 serial);
/*
 * To be called by queries whether work has ended: in deterministic runs, where nothing runs
 * unasked, lets pending work go on. lock not held.
 */
void stream_asked(struct stream_device *d);
/*
 * Wait until the node with this serial has ended; NULL is allowed. lock held, released temporarily.
 */
void stream_wait_work_locked(struct streams *all, struct work *w, u64 serial);
/* The same where the program does not know that it waits. */
void stream_sleep_locked(struct streams *all, struct work *w, u64 serial);

/* ---- event.c ---- */

void event_free_locked(struct stream_event *e);

/* ---- event_ipc.c: nothing happens to events without a page ---- */

bool event_is_shared_pending(const struct stream_event *e);
void event_shared_issued(struct stream_event *e);
void event_shared_reached(struct stream_event *e);
/* Blocks until what has been issued anywhere is reached. */
void event_shared_wait(const struct stream_event *e);
/* The stream waits for it; the event has a page. */
enum status event_shared_join(struct stream *s, const struct stream_event *e);

#endif
