/*
 * Which work happens before which, for those who look for races between launches, copies and fills:
 * streams_set_watch. Without a watcher none of it is kept.
 *
 * Work that touches memory gets a slot when it begins. A set says of each slot whether its work
 * happens before: before a node, before what a stream or an event stands for, before what the host
 * does next. Order comes from the edges between nodes, also from those to nodes that have ended
 * already, and from the host's waits and successful queries. Calls that several threads of the host
 * make one after the other, without such a wait, order nothing; a wait by one of them counts for
 * all.
 */
#ifndef PL_DEV_ORDER_H
#define PL_DEV_ORDER_H

#include "src/dev/device.h"
#include "src/dev/host_trace.h"

#define ORDER_SLOTS 512u
#define ORDER_NONE ORDER_SLOTS

struct order_set {
	u64 word[ORDER_SLOTS / 64];
};

static inline bool order_has(const struct order_set *s, u32 slot)
{
	return s->word[slot / 64] >> slot % 64 & 1;
}

static inline void order_put(struct order_set *s, u32 slot)
{
	s->word[slot / 64] |= (u64)1 << slot % 64;
}

static inline void order_add(struct order_set *s, const struct order_set *more)
{
	for (u32 i = 0; i < ARRAY_LEN(s->word); i++)
		s->word[i] |= more->word[i];
}

/* A call of the program, for messages. */
struct host_call {
	const char *name; /* static; NULL: unknown */
	struct host_from from;
	u64 id, begin; /* number, and when it began, while calls are traced; else 0 */
};

/* The clock of traces: nanoseconds. */
u64 host_call_time(void);

/* What the calling thread is in; set by the interfaces while the order of work is watched. */
extern _Thread_local struct host_call host_call_now;

/* A piece of work that begins. */
struct order_piece {
	u32 slot;
	u64 stream_id;
	bool is_legacy, is_non_blocking; /* the stream */
	bool is_graph;                   /* a node of a graph that was launched there */
	/* Kernels that it comes behind only where its threads wait (programmatic launches). */
	struct order_set soft;
	u64 issued, begun; /* numbers of the newest work then: issued < begun' orders them */
	struct device *dev;
	/* A launch; NULL: a call. */
	const struct device_kernel *kernel;
	u64 grid_id;
	struct host_call call; /* that issued it */
};

struct order_watch {
	void *user;
	/* Called with streams' lock held. */
	void (*begin)(void *user, const struct order_piece *p);
	/* These slots are no longer of interest: all that will be issued is ordered behind them. */
	void (*drop)(void *user, const struct order_set *slots);
	/* The host has waited for more: all that it comes behind now. */
	void (*teach)(void *user, const struct order_set *host);
	/* Called without locks, when a piece has run, before others can see that it has. */
	void (*end)(void *user, u32 slot, const struct order_set *before);
	/* Called without streams' lock: a program of these is to be unloaded. */
	void (*forget)(void *user);
	/*
	 * Work is to have ended when the call that issues it returns, if that takes no long time:
	 * then it is known what the host may not touch.
	 */
	bool wants_ends;
};

struct streams;

/* Before the first device is opened; borrowed. */
bool streams_set_watch(struct streams *all, const struct order_watch *w);
/* The slot of the call that this thread carries out; ORDER_NONE: none. */
u32 order_current(void);
/* The call that has issued it; without a name where nothing watches memory or order. */
struct host_call order_current_call(void);
/* The calling thread's call has seen a value that other work wrote: that is behind it. */
void order_acquire(void);
/* What has ended is compared with nothing any more: a program of the device is to be unloaded. */
void order_forget(struct device *d);

#endif
