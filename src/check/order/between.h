/*
 * Races between launches, copies and fills: two pieces of work of streams touch a byte, one of them
 * writes it, not both by atomic accesses, and neither happens before the other. Which one ran first
 * in this run does not matter: order.h says what orders them.
 *
 * One for a process; each device has an observer of its launches.
 */
#ifndef PL_CHECK_BETWEEN_H
#define PL_CHECK_BETWEEN_H

#include "src/check/finding.h"
#include "src/check/order/host.h"
#include "src/check/order/trace.h"
#include "src/check/order/waits.h"
#include "src/dev/memory/watch.h"
#include "src/dev/stream/order.h"
#include "src/exec/observer.h"

/* A kernel of a launch: its micro-ops are numbered from `first` in the launch's traces. */
struct between_program {
	const struct program *program;
	u32 first;
};

/* A piece of work that has begun. */
struct between_piece {
	bool is_live, has_ended;
	bool fences;    /* of device scope or wider: it may wait for others by memory */
	bool publishes; /* to the host, which may go on while it still runs */
	bool is_known;  /* the host has waited for it */
	bool is_shared; /* it touches memory that the host reaches */
	struct order_piece info;
	VEC(struct between_program) programs; /* of its launch, and what its threads launch */
	struct trace trace;
	/*
	 * Of programmatic launches: by threads that do not come behind a wait for those before, of
	 * the launch itself.
	 */
	bool is_soft;
	bool lets_go; /* it lets dependent kernels begin before its end */
	struct trace early;
	struct waits waits;
};

/* Accesses of two pieces of work that nothing orders; the later one comes first. */
struct between_race {
	struct trace_clash clash;
	struct order_piece piece[2];
	const struct program *program[2]; /* that the clash's pc is of; NULL: of none */
	bool is_early;                    /* the later kernel did not wait for the earlier one */
};

/* The host's access is the first; the race's first piece is none. */
struct host_race {
	struct host_access access;
	struct between_race race;
};

typedef VEC(struct host_race) host_races;

struct between {
	struct findings *found; /* borrowed */
	struct order_watch order;
	struct memory_watch memory;
	pthread_mutex_t lock;
	struct between_piece piece[ORDER_SLOTS];
	host_races host_races; /* to be told */
	struct map grids;      /* key of device and launch: slot + 1 */
};

/* The launches of a device. */
struct between_device {
	struct between *all;
	u32 index;
	struct exec_observer observer;
	struct race_check *race; /* knows the order of threads; borrowed */
	u64 last_grid;           /* with its slot, and what its micro-ops are numbered from there */
	u32 last, first;
	bool is_nested; /* a kernel has launched it */
};

/* found: borrowed; the caller passes b->order on to streams_set_watch. NULL: no memory. */
struct between *between_new(struct findings *found);
void between_free(struct between *b);
/* The process ends: tell what is left. NULL is allowed. */
void between_finish(struct between *b);
/* race: an observer of the same launches that each event comes to before this one. */
void between_device_init(struct between_device *d, struct between *b, struct race_check *race,
			 u32 index);

#endif
