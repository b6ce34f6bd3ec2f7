/*
 * Graphs behind both interfaces. Their functions take the same arguments in the same layouts, but
 * for what names a kernel and describes a copy; so each is written once and gets both names.
 */
#ifndef PL_GRAPH_API_H
#define PL_GRAPH_API_H

#include "runtime/cuda/drv.h"
#include "runtime/cudart/rt_copy.h"
#include "src/dev/graph/graph.h"

/*
 * Define cudaNAME and cuNAME. `body`: an expression for the status, evaluated when the interface is
 * initialised: graphs belong to no context, and a fault does not touch them. DRIVER in it says
 * which of the two was called.
 */
#define GRAPH_FN(name, params, body)                                                               \
	GRAPH_RT_FN(name, params, body) GRAPH_DRV_FN(name, params, body)
#define GRAPH_RT_FN(name, params, body)                                                            \
	RT_FN(cuda##name, params)                                                                  \
	{                                                                                          \
		enum { DRIVER = 0 };                                                               \
		int status = graph_enter(DRIVER);                                                  \
		return rt_error(status ? status : (int)(body));                                    \
	}
#define GRAPH_DRV_FN(name, params, body)                                                           \
	DRV_FN(cu##name, params)                                                                   \
	{                                                                                          \
		enum { DRIVER = 1 };                                                               \
		int status = graph_enter(DRIVER);                                                  \
		return status ? status : (int)(body);                                              \
	}

/* 0, or why no call succeeds now: not initialised, no device .. */
int graph_enter(bool driver);
/* Device of the calling thread, as each interface sees it. */
struct device *graph_device(bool driver, int *status);

#define GRAPHS (rt_get()->streams)

/* ---- layouts ---- */

/*
 * cudaKernelNodeParams, CUDA_KERNEL_NODE_PARAMS: 56 bytes; what follows only in the driver's _v2.
 */
struct kernel_node_params {
	const void *func;
	u32 grid[3], block[3], shared;
	void **params, **extra;
	const void *kern;
	void *context;
};

struct host_node_params {
	void (*fn)(void *);
	void *user;
};

/* cudaMemsetParams, CUDA_MEMSET_NODE_PARAMS: 40 bytes. */
struct memset_node_params {
	u64 dst, pitch;
	u32 value, element;
	u64 width, height;
};

struct alloc_node_params {
	int alloc_type, handle_types, location_type, location_id;
	u8 pool_rest[72];
	const void *access;
	u64 access_len, bytes, address;
};

struct conditional_node_params {
	u64 handle;
	int type;
	u32 size;
	struct graph **bodies;
};

struct batch_node_params {
	void *context;
	u32 len;
	union drv_mem_op *ops;
	u32 flags;
};

/* One side of CUDA_MEMCPY3D, 200 bytes in all. */
struct drv_copy_side {
	size_t x, y, z, lod;
	int type; /* 1 host, 2 device, 3 array, 4 unified */
	void *host;
	u64 device;
	void *array;
	void *reserved;
	size_t pitch, height;
};

struct drv_copy3d {
	struct drv_copy_side src, dst;
	size_t width, height, depth;
};

/* cudaGraphNodeParams, CUgraphNodeParams: 256 bytes. */
struct graph_node_params {
	int type, reserved[3];
	union {
		s64 room[29];
		struct kernel_node_params kernel;
		struct {
			int flags, reserved[3];
			struct rt_copy_3d copy;
		} copy;
		struct {
			int flags, reserved;
			void *context;
			struct drv_copy3d copy;
		} drv_copy;
		struct memset_node_params fill;
		struct host_node_params host;
		struct graph *child;
		struct stream_event *event;
		struct alloc_node_params alloc;
		u64 address;
		struct batch_node_params batch;
		struct conditional_node_params conditional;
	} u;
	s64 reserved2;
};

/* ---- graph_action.c: parameters of nodes into actions, and back ---- */

int action_kernel(bool driver, const struct kernel_node_params *p, struct graph_action *a);
int action_host(const struct host_node_params *p, struct graph_action *a);
int action_batch(const struct batch_node_params *p, struct graph_action *a, struct mem_ops *room);

/* ---- graph_copy.c ---- */

/* A copy as a program described it. */
struct node_copy {
	bool driver;
	struct copy_plan plan;
	union {
		struct rt_copy_3d rt;
		struct drv_copy3d drv;
	} u;
};

struct node_fill {
	struct copy_plan plan;
	struct memset_node_params params;
};

/* room: holds the action's data. */
int action_copy(bool driver, const void *params, struct graph_action *a, struct node_copy *room);
int action_fill(bool driver, const struct memset_node_params *p, struct graph_action *a,
		struct node_fill *room);
/* The parameters of a copy or fill node in the layout of the interface. */
int copy_params(bool driver, const struct graph_node *n, void *out);
int fill_params(const struct graph_node *n, struct memset_node_params *out);

/* Nodes that a new one comes after, as functions take them. */
#define DEPS struct graph_node *const *deps, size_t n
#define AFTER(nodes, n) (&(struct graph_after){nodes, NULL, n})

/* An action, and room for what it refers to while it is made. */
struct graph_maker {
	struct graph_action action;
	union {
		struct node_copy copy;
		struct node_fill fill;
		struct mem_ops ops;
	} room;
};

/*
 * Each does its part with an action whose making gave `status`. node_add: a new node; node_change:
 * a node of a graph; exec_change: of an executable graph.
 */
int node_add(struct graph_node **out, struct graph *g, const struct graph_after *after, int status,
	     const struct graph_action *a);
int node_change(struct graph_node *node, int status, const struct graph_action *a);
int exec_change(struct graph_exec *x, struct graph_node *node, int status,
		const struct graph_action *a);
/* What a node of this type does. NULL: it is not one. */
const struct graph_action *node_look(const struct graph_node *node, enum graph_node_type type);

/* ---- graph_kernel.c ---- */

/* Parameters of a kernel node into an action; the driver's older structure is a short one. */
int action_kernel_any(bool driver, bool is_short, const struct kernel_node_params *p,
		      struct graph_action *a);

#endif
