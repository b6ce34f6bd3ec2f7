/*
 * Graphs: work described once and launched many times.
 *
 * A graph is a set of nodes and edges between them. Each node holds what it does as a value (struct
 * graph_action), so a node that was captured from a stream and one that was added by hand are
 * alike. Instantiating checks a graph and copies it; launching the copy turns every node into a
 * node of work (stream.h) with the same edges, so branches run at the same time.
 *
 * All functions check the handles they are given: STATUS_INVALID_VALUE for a graph, node or
 * handle that is not an executable graph (CUDA does not say INVALID_HANDLE here).
 * Source: CUDA C++ Programming Guide, "CUDA Graphs"; CUDA Driver API, "Graph Management".
 */
#ifndef PL_DEV_GRAPH_H
#define PL_DEV_GRAPH_H

#include "src/dev/stream/stream.h"

struct graph;
struct graph_node;
struct graph_exec;
struct graph_object;

/* Numbered as in both interfaces. */
enum graph_node_type {
	GRAPH_KERNEL,
	GRAPH_COPY,
	GRAPH_FILL,
	GRAPH_HOST,
	GRAPH_CHILD,
	GRAPH_EMPTY,
	GRAPH_EVENT_WAIT,
	GRAPH_EVENT_RECORD,
	GRAPH_MEM_ALLOC = 10,
	GRAPH_MEM_FREE,
	GRAPH_MEM_OPS,
	GRAPH_CONDITIONAL
};

enum graph_condition { GRAPH_IF, GRAPH_WHILE, GRAPH_SWITCH };

/* Attributes of a kernel node that the interfaces keep, by number. */
#define GRAPH_ATTRS 17u
#define GRAPH_ATTR_BYTES 64u

/*
 * What a node does. As a parameter everything in it is borrowed and copied; what a node shows
 * belongs to it and lives until it is changed or destroyed.
 */
struct graph_action {
	enum graph_node_type type;
	struct device *dev; /* where; NULL for nodes without a device */
	/* GRAPH_KERNEL: as in a launch; `name` is what the program called the kernel. */
	struct device_launch launch;
	const void *name;
	/* GRAPH_COPY, FILL, HOST, MEM_ALLOC, MEM_FREE, MEM_OPS: a call. */
	stream_fn *fn;
	u32 flags; /* enum stream_call_flags */
	const void *data;
	size_t bytes;
	/* GRAPH_MEM_ALLOC, MEM_FREE: which, and how many bytes */
	u64 address, amount;
	/* GRAPH_EVENT_WAIT, EVENT_RECORD */
	struct stream_event *event;
	/* GRAPH_CHILD: as a parameter it is cloned */
	struct graph *child;
	/* GRAPH_CONDITIONAL: the bodies are made with the node and belong to it */
	u64 handle;
	enum graph_condition condition;
	u32 body_len;
	struct graph **body;
};

/*
 * An edge's ports and type, as programs give them. Work treats every edge as a full one; the check
 * for races looks at the type.
 */
struct graph_edge_data {
	u8 from_port, to_port, type, reserved[5];
};

enum { GRAPH_EDGE_FULL, GRAPH_EDGE_PROGRAMMATIC };
enum { GRAPH_PORT_END, GRAPH_PORT_PROGRAMMATIC, GRAPH_PORT_LAUNCH_ORDER };

/* ---- graphs: graph.c ---- */

enum status graph_create(struct streams *all, struct graph **out);
/* Not one that belongs to a node. */
enum status graph_destroy(struct streams *all, struct graph *g);
enum status graph_clone(struct streams *all, const struct graph *g, struct graph **out);
bool graph_is(const struct streams *all, const void *handle);
/* The clone's node that came of `original`. */
enum status graph_find_in_clone(struct streams *all, const struct graph_node *original,
				const struct graph *clone, struct graph_node **out);

/* Nodes that a new node comes after; `data` may be NULL. */
struct graph_after {
	struct graph_node *const *node;
	const struct graph_edge_data *data;
	size_t len;
};

enum status graph_add(struct streams *all, struct graph *g, const struct graph_after *after,
		      const struct graph_action *action, struct graph_node **out);
enum status graph_node_destroy(struct streams *all, struct graph_node *n);
bool graph_node_is(const struct streams *all, const void *handle);
/* What the node does; valid until it is changed. The node must be one. */
const struct graph_action *graph_node_action(const struct graph_node *n);
/* The type stays. */
enum status graph_node_change(struct streams *all, struct graph_node *n,
			      const struct graph_action *action);
/* Attributes of kernel nodes: value has GRAPH_ATTR_BYTES. */
enum status graph_node_attr_get(struct streams *all, const struct graph_node *n, u32 id,
				void *value);
enum status graph_node_attr_set(struct streams *all, struct graph_node *n, u32 id,
				const void *value);

/* Either all edges or none. */
enum status graph_link(struct streams *all, struct graph *g, struct graph_node *const *from,
		       struct graph_node *const *to, const struct graph_edge_data *data,
		       size_t len);
enum status graph_unlink(struct streams *all, struct graph *g, struct graph_node *const *from,
			 struct graph_node *const *to, size_t len);

/*
 * Lists. *len: in: room in the arrays; out: without array how many there are, else how many were
 * written, the rest of the array is set to NULL. Arrays and data may be NULL.
 */
struct graph_list {
	struct graph_node **node, **to; /* to: of edges only */
	struct graph_edge_data *data;
	size_t *len;
};

enum graph_which { GRAPH_NODES, GRAPH_ROOTS, GRAPH_EDGES };
enum status graph_list(struct streams *all, const struct graph *g, enum graph_which which,
		       const struct graph_list *out);
/* The nodes before (or after) a node. */
enum status graph_node_neighbours(struct streams *all, const struct graph_node *n, bool before,
				  const struct graph_list *out);

/* ---- user objects: graph_object.c ---- */

/* Counted references; the last one to go calls destroy(user). */
enum status graph_object_create(struct streams *all, void (*destroy)(void *), void *user,
				u32 references, struct graph_object **out);
enum status graph_object_retain(struct streams *all, struct graph_object *o, u32 n);
enum status graph_object_release(struct streams *all, struct graph_object *o, u32 n);
/* A graph's references; clones and executable graphs take as many. move: from the caller. */
enum status graph_object_keep(struct streams *all, struct graph *g, struct graph_object *o, u32 n,
			      bool move);
enum status graph_object_drop(struct streams *all, struct graph *g, struct graph_object *o, u32 n);

/* ---- conditions: graph_object.c ---- */

/* A handle for one conditional node. assign: set it to `initial` at every launch. */
enum status graph_condition_create(struct streams *all, struct graph *g, u32 initial, bool assign,
				   u64 *handle);
/* What cudaGraphSetConditional in kernels does. False: no handle. Any thread. */
bool graph_condition_set(struct streams *all, u64 handle, u32 value);

/* ---- memory of graphs: graph_object.c ---- */

/*
 * A node that allocates action->amount bytes on action->dev. The address holds as long as the graph
 * or a copy of it; the memory is in use from a launch until a node or graph_memory_free frees it.
 */
enum status graph_add_alloc(struct streams *all, struct graph *g, const struct graph_after *after,
			    struct graph_action *action, struct graph_node **out, u64 *address);
/* A node that frees action->address, which such a node has allocated. */
enum status graph_add_free(struct streams *all, struct graph *g, const struct graph_after *after,
			   const struct graph_action *action, struct graph_node **out);
/* Does the address belong to a graph? Then freeing it is graph_memory_free. */
bool graph_memory_is(const struct device *d, u64 address);
/* STATUS_INVALID_VALUE: it is not in use. */
enum status graph_memory_free(struct device *d, u64 address);

/* Numbered as in both interfaces; bytes. */
enum graph_amount { GRAPH_USED, GRAPH_USED_HIGH, GRAPH_RESERVED, GRAPH_RESERVED_HIGH };
/* reset: a high mark becomes what it marks. */
enum status graph_memory_amount(struct device *d, enum graph_amount which, bool reset, u64 *out);
/* Reserve no more than what is used. */
void graph_memory_trim(struct device *d);

/* ---- executable graphs: graph_exec.c ---- */

enum graph_exec_flags {
	GRAPH_AUTO_FREE = 1,
	GRAPH_UPLOAD = 2,
	GRAPH_DEVICE_LAUNCH = 4,
	GRAPH_NODE_PRIORITY = 8
};

/* Why a graph could not be instantiated, numbered as in both interfaces. */
enum graph_verdict {
	GRAPH_OK,
	GRAPH_FAILED,
	GRAPH_BAD_STRUCTURE,
	GRAPH_BAD_OPERATION,
	GRAPH_SEVERAL_DEVICES,
	GRAPH_UNUSED_CONDITION
};

struct graph_refusal {
	enum graph_verdict why;
	struct graph_node *node; /* to blame, NULL: none */
};

enum status graph_instantiate(struct streams *all, const struct graph *g, u32 flags,
			      struct graph_refusal *refusal, struct graph_exec **out);
/* What was launched still runs. */
enum status graph_exec_destroy(struct streams *all, struct graph_exec *x);
bool graph_exec_is(const struct streams *all, const void *handle);
enum status graph_exec_flags(const struct streams *all, const struct graph_exec *x, u32 *flags);
/* In stream order; after an earlier launch of the same x. Captured: a child graph node. */
enum status graph_launch(struct graph_exec *x, struct stream *s);
/* The executable node that came of node n of the graph is to do this from now on. */
enum status graph_exec_change(struct streams *all, struct graph_exec *x, const struct graph_node *n,
			      const struct graph_action *action);
/* Let kernels change the node: cudaLaunchAttributeDeviceUpdatableKernelNode. It stays so. */
enum status graph_device_node_make(struct streams *all, struct graph_node *n, bool on);
/* What kernels name it with, 0: they cannot change it. */
u64 graph_device_node_handle(const struct graph_node *n);
/* Kernels, copies and fills can be switched off. */
enum status graph_exec_enable(struct streams *all, struct graph_exec *x, const struct graph_node *n,
			      bool on);
enum status graph_exec_is_enabled(struct streams *all, const struct graph_exec *x,
				  const struct graph_node *n, bool *on);

/* Results of an update, numbered as in both interfaces. */
enum graph_update {
	GRAPH_UPDATE_OK,
	GRAPH_UPDATE_ERROR,
	GRAPH_UPDATE_TOPOLOGY,
	GRAPH_UPDATE_TYPE,
	GRAPH_UPDATE_FUNCTION,
	GRAPH_UPDATE_PARAMETERS,
	GRAPH_UPDATE_NOT_SUPPORTED,
	GRAPH_UPDATE_FUNCTION_CHANGE,
	GRAPH_UPDATE_ATTRIBUTES
};

struct graph_update_result {
	enum graph_update result;
	struct graph_node *node, *from; /* to blame, NULL: none */
};

/* Take over the parameters of a graph of the same shape. STATUS_GRAPH_EXEC_UPDATE_FAILURE. */
enum status graph_exec_update(struct streams *all, struct graph_exec *x, const struct graph *g,
			      struct graph_update_result *result);

/* ---- drawing: graph_dot.c ---- */

/* As a graph for dot. verbose: with parameters. */
enum status graph_print(struct streams *all, const struct graph *g, bool verbose, struct text *out);

/* ---- capture: capture.c ---- */

/* Numbered as in both interfaces. */
enum capture_mode { CAPTURE_GLOBAL, CAPTURE_THREAD_LOCAL, CAPTURE_RELAXED };
enum capture_state { CAPTURE_NONE, CAPTURE_ACTIVE, CAPTURE_INVALIDATED };

/* into: NULL: a new graph; else its nodes `after` come before what is captured. */
enum status stream_capture_begin(struct stream *s, enum capture_mode mode, struct graph *into,
				 const struct graph_after *after);
/* *out: the graph, NULL when an error is returned. */
enum status stream_capture_end(struct stream *s, struct graph **out);

struct capture_info {
	enum capture_state state;
	u64 id;
	struct graph *graph;
	/* What the stream's next node would come after; valid until the stream is given more. */
	struct graph_node *const *after;
	const struct graph_edge_data *data;
	size_t after_len;
};

/* A legacy stream while others capture: STATUS_STREAM_CAPTURE_IMPLICIT. */
enum status stream_capture_info(struct stream *s, struct capture_info *out);
/* Add to (or set) what the stream's next node comes after. */
enum status stream_capture_update(struct stream *s, const struct graph_after *after, bool set);
bool stream_is_capturing(const struct stream *s);
/*
 * For what cannot be captured at all: STATUS_STREAM_CAPTURE_UNSUPPORTED when the stream is being
 * captured, which is then invalidated.
 */
enum status stream_capture_forbid(struct stream *s);
/* Set the calling thread's mode, return the former one. */
enum capture_mode stream_capture_mode_exchange(struct streams *all, enum capture_mode mode);
/*
 * For calls that could go unnoticed into, or invalidate, a capture (allocation, synchronous copies
 * ..): STATUS_STREAM_CAPTURE_UNSUPPORTED when a capture forbids them to this thread; it is then
 * invalid.
 */
enum status stream_capture_guard(struct streams *all);
/* For waits for whole devices: no capture of any mode or thread allows them. */
enum status stream_capture_forbid_all(struct streams *all);
/* As stream_capture_guard; a device without streams forbids nothing. */
enum status device_capture_guard(const struct device *d);

#endif
