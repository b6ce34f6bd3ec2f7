/*
 * Private to src/dev: graphs and their nodes, executable graphs, captures.
 *
 * graphs->lock guards the structure of all graphs and the captures; it may be held while kernels
 * are lowered. streams->lock may be taken under it, never the other way round.
 */
#ifndef PL_DEV_GRAPH_INT_H
#define PL_DEV_GRAPH_INT_H

#include "src/base/map.h"
#include "src/base/vec.h"
#include "src/dev/graph/graph.h"
#include "src/dev/graph/graph_stream.h"
#include "src/dev/stream/stream_int.h"

struct graph_edge {
	struct graph_node *node;
	struct graph_edge_data data;
};

typedef VEC(struct graph_edge) graph_edges;

/* Memory that a graph allocates: its address holds as long as any copy of the node. */
struct graph_memory {
	struct graph_memory *next; /* of the device */
	struct stream_device *device;
	u64 address, bytes;
	u32 references;
	bool used; /* allocated by a launch and not freed since */
};

/* A kernel node that kernels may change: of the original and of the executable graph's copy. */
struct graph_device_node {
	struct graph_node *at; /* the executable graph's, NULL: there is none */
	u32 references;
};

struct graph_node {
	struct graph *graph;
	struct graph_node *prev, *next;
	u64 id, origin; /* origin: id of the node that this one is a copy of, 0: none */
	u64 dev_epoch;  /* of the device when the action was set */
	struct graph_action action;
	u8 *values;   /* of a kernel's parameters */
	void **args;  /* pointers into values */
	void *data;   /* of a call */
	u8 *attrs;    /* GRAPH_ATTRS values, NULL: none is set */
	u32 attr_set; /* a bit for each */
	struct graph_memory *memory;
	struct graph_device_node *device; /* NULL: kernels cannot change it */
	graph_edges in, out;
	bool disabled;
	bool taken_again; /* a node that frees: another one has the memory after it */
	u32 mark;         /* of walks */
	/* While a launch is made. */
	struct device_flight *flight;
	struct work *begin, *end;
};

struct graph_condition_item {
	u32 value, initial; /* value: atomic */
	bool assign;
	u32 references;
};

struct graph_kept {
	struct graph_object *object;
	u32 count;
};

struct graph {
	struct graph_node *first, *last;
	u32 len;
	u64 id;
	struct graph_node *owner;             /* the node whose child or body it is, NULL: none */
	struct graph_exec *exec;              /* whose copy it is, NULL: none */
	const struct graph_exec *memory_user; /* the last one that uses the memory of its nodes */
	struct map by_origin;                 /* id of the original node -> node */
	VEC(struct graph_condition_item *) conditions;
	VEC(struct graph_kept) kept;
};

struct graph_object {
	struct graph_object *next; /* among those that are gone */
	void (*destroy)(void *);
	void *user;
	u32 references;
};

struct graph_exec {
	struct graph *copy;
	u32 flags;
	bool expands; /* it holds conditional nodes, or such as kernels change */
	bool dying;
	u32 running;       /* launches that expand, and runs, that have not ended */
	u32 device_runs;   /* those that kernels launched */
	struct work *last; /* of the launch before */
	u64 last_serial;
	u64 first_serial, most_serial; /* of all its work */
	/* Memory that it holds: from its first launch on, and the stream of its last one. */
	u64 footprint, home;
	bool keeps;                          /* it does not free all of it */
	struct stream_device *memory_device; /* NULL: none */
	struct graph_exec *memory_next;      /* of the device */
};

/* A launch whose kernels may launch graphs: graph_device.c. */
struct graph_run {
	struct graph_exec *exec;
	struct stream *home;
	struct graph_run *waits; /* whose part it is, NULL: the stream's */
	struct work *end;        /* the stream's, when it waits */
	struct graph_run *tails, *next;
	u32 pending; /* its own nodes, and what it fired */
	bool of_device, is_queued;
};

/* Nodes of work and edges that a launch needs. */
struct graph_need {
	u32 works, edges;
	bool launches; /* its kernels may launch graphs */
};

/*
 * Where the nodes of a launch go: home: whose device it is when a node has none. run: NULL: none.
 */
struct graph_emit {
	struct stream *home;
	struct graph_run *run;
};

struct stream_capture {
	struct stream_capture *next; /* among those of the process */
	struct graph *graph;
	bool owns_graph;
	u64 id, first_node; /* nodes from this id on are captured ones */
	enum capture_mode mode;
	bool invalid;
	pthread_t thread;
	struct stream *origin;
	struct stream *streams; /* all that take part; linked by capture_next */
};

struct graphs {
	pthread_mutex_t lock;
	struct handle_pool graph_pool, node_pool, exec_pool, object_pool, condition_pool,
		device_node_pool;
	struct stream_capture *captures;
	struct graph_object *gone; /* without references, still to be destroyed */
	u64 ids;
};

/* ---- graph.c ---- */

void graph_lock(struct streams *all);
/* Destroys user objects that have lost their last reference. Returns `status`. */
enum status graph_unlock(struct streams *all, enum status status);
struct graph *graph_new_locked(struct streams *all);
void graph_free_locked(struct streams *all, struct graph *g);
/* NULL: no memory. */
struct graph *graph_copy_locked(struct streams *all, const struct graph *g);
enum status graph_add_locked(struct streams *all, struct graph *g, const struct graph_after *after,
			     const struct graph_action *action, struct graph_node **out);
bool graph_after_is_valid(struct streams *all, const struct graph *g,
			  const struct graph_after *after);
/* Is every node reachable in order, without a cycle? */
bool graph_is_acyclic_locked(struct graph *g);
/* The node of g that is a copy of the node with this id, in g or in what it contains. */
struct graph_node *graph_find_origin_locked(const struct graph *g, u64 id);

/* ---- graph_node.c ---- */

/* Give the node copies of what the action holds. */
enum status graph_node_set_locked(struct streams *all, struct graph_node *n,
				  const struct graph_action *action);
/* Free what the action holds. */
void graph_node_clear_locked(struct streams *all, struct graph_node *n);
bool graph_node_is_call(const struct graph_node *n);
/* The device of the node's action is as it was. */
bool graph_node_lives(const struct graph_node *n);

/* ---- graph_object.c ---- */

bool graph_objects_copy_locked(const struct graph *from, struct graph *to);
void graph_objects_free_locked(struct streams *all, struct graph *g);

/* In use or not, for the counters. */
void graph_memory_use_locked(struct graph_memory *m, bool used);
void graph_memory_release_locked(struct graph_memory *m);

/* ---- graph_bytes.c ---- */

/* lock held. */
void graph_bytes_launched_locked(struct graph_exec *x, struct stream *s);
void graph_bytes_forget_locked(struct graph_exec *x);

/* ---- graph_launch.c ---- */

/* streams->expand. */
void graph_expand(struct work *w);
/* Copy the values of a launch's parameters; graph_drop_flights when it is not made. lock held. */
enum status graph_prepare_locked(struct graph *g, struct graph_need *need);
void graph_drop_flights(struct graph *g);
/* Work for the nodes of a graph that was prepared, between two others. Both locks held. */
void graph_emit_locked(struct graph *g, struct work *before, struct work *after,
		       const struct graph_emit *where);

/* ---- graph_node.c ---- */

/* An attribute of a kernel node: value has GRAPH_ATTR_BYTES. Lock held. */
enum status graph_node_attr_set_locked(struct graph_node *n, u32 id, const void *value);
/* The node's window of the second cache is that of its flight. Lock held. */
void graph_node_window(const struct graph_node *n, struct device_flight *f);

/* ---- graph_exec.c ---- */

void graph_exec_free_locked(struct streams *all, struct graph_exec *x);

/* ---- graph_device.c ---- */

/* A run with its own nodes pending. NULL: no memory. lock held. */
struct graph_run *graph_run_new(struct graph_exec *x, struct stream *home, struct graph_run *waits);
/* It is over, or was not made. lock held. */
void graph_run_free_locked(struct graph_run *r);
/* Its nodes have ended. No lock held. */
void graph_run_part_over(struct graph_run *r);
void graph_device_node_release_locked(struct streams *all, struct graph_node *n);
/* Run a node that kernels may change. No lock held. */
void graph_device_node_run(struct work *w);

#endif
