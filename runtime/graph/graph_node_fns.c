/*
 * The other nodes of graphs, and the functions that take any kind of node.
 */
#include "runtime/graph/graph_api.h"

/* ---- host functions, memory operations, events, children, empty nodes ---- */

static int host_add(struct graph_node **out, struct graph *g, const struct graph_after *after,
		    const struct host_node_params *p)
{
	struct graph_action a;

	return node_add(out, g, after, action_host(p, &a), &a);
}

static int host_set(struct graph_exec *x, struct graph_node *node, const struct host_node_params *p)
{
	struct graph_action a;
	int status = action_host(p, &a);

	return x ? exec_change(x, node, status, &a) : node_change(node, status, &a);
}

/* What was captured has the same two words. */
static int host_get(struct graph_node *node, struct host_node_params *out)
{
	const struct graph_action *a = node_look(node, GRAPH_HOST);

	if (!a || !out)
		return STATUS_INVALID_VALUE;
	memcpy(out, a->data, sizeof(*out));
	return STATUS_SUCCESS;
}

#define HELD(x) graph_exec_is(GRAPHS, x)

GRAPH_FN(GraphAddHostNode,
	 (struct graph_node * *out, struct graph *g, DEPS, const struct host_node_params *p),
	 host_add(out, g, AFTER(deps, n), p))
GRAPH_FN(GraphHostNodeGetParams, (struct graph_node * node, struct host_node_params *p),
	 host_get(node, p))
GRAPH_FN(GraphHostNodeSetParams, (struct graph_node * node, const struct host_node_params *p),
	 host_set(NULL, node, p))
GRAPH_FN(GraphExecHostNodeSetParams,
	 (struct graph_exec * x, struct graph_node *node, const struct host_node_params *p),
	 HELD(x) ? host_set(x, node, p) : STATUS_INVALID_VALUE)

static int batch_add(struct graph_node **out, struct graph *g, const struct graph_after *after,
		     const struct batch_node_params *p)
{
	struct graph_maker m;

	return node_add(out, g, after, action_batch(p, &m.action, &m.room.ops), &m.action);
}

static int batch_set(struct graph_exec *x, struct graph_node *node,
		     const struct batch_node_params *p)
{
	struct graph_maker m;
	int status = action_batch(p, &m.action, &m.room.ops);

	return x ? exec_change(x, node, status, &m.action) : node_change(node, status, &m.action);
}

/* The operations themselves are copied to where p->ops points, as many as p->len has room for. */
static int batch_get(struct graph_node *node, struct batch_node_params *p)
{
	const struct graph_action *a = node_look(node, GRAPH_MEM_OPS);
	const struct mem_ops *ops = a ? a->data : NULL;

	if (!a || !p)
		return STATUS_INVALID_VALUE;
	for (u32 i = 0; p->ops && i < p->len && i < ops->len; i++)
		p->ops[i] = drv_mem_op_write(&ops->op[i]);
	p->context = NULL;
	p->len = ops->len;
	p->flags = 0;
	return STATUS_SUCCESS;
}

GRAPH_DRV_FN(GraphAddBatchMemOpNode,
	     (struct graph_node * *out, struct graph *g, DEPS, const struct batch_node_params *p),
	     batch_add(out, g, AFTER(deps, n), p))
GRAPH_DRV_FN(GraphBatchMemOpNodeGetParams, (struct graph_node * node, struct batch_node_params *p),
	     batch_get(node, p))
GRAPH_DRV_FN(GraphBatchMemOpNodeSetParams,
	     (struct graph_node * node, const struct batch_node_params *p),
	     batch_set(NULL, node, p))
GRAPH_DRV_FN(GraphExecBatchMemOpNodeSetParams,
	     (struct graph_exec * x, struct graph_node *node, const struct batch_node_params *p),
	     HELD(x) ? batch_set(x, node, p) : STATUS_INVALID_VALUE)

static int event_add(struct graph_node **out, struct graph *g, const struct graph_after *after,
		     enum graph_node_type type, struct stream_event *e)
{
	return node_add(out, g, after, e ? STATUS_SUCCESS : STATUS_INVALID_VALUE,
			&(struct graph_action){.type = type, .event = e});
}

static int event_get(struct graph_node *node, enum graph_node_type type, struct stream_event **out)
{
	const struct graph_action *a = node_look(node, type);

	if (!a || !out)
		return STATUS_INVALID_VALUE;
	*out = a->event;
	return STATUS_SUCCESS;
}

static int event_set(struct graph_node *node, enum graph_node_type type, struct stream_event *e)
{
	return node_change(node, e ? STATUS_SUCCESS : STATUS_INVALID_VALUE,
			   &(struct graph_action){.type = type, .event = e});
}

static int event_set_exec(struct graph_exec *x, struct graph_node *node, enum graph_node_type type,
			  struct stream_event *e)
{
	return exec_change(x, node, 0, &(struct graph_action){.type = type, .event = e});
}

#define EVENT_FNS(kind, type)                                                                      \
	GRAPH_FN(GraphAdd##kind##Node,                                                             \
		 (struct graph_node * *out, struct graph * g, DEPS, struct stream_event * e),      \
		 event_add(out, g, AFTER(deps, n), type, e))                                       \
	GRAPH_FN(Graph##kind##NodeGetEvent,                                                        \
		 (struct graph_node * node, struct stream_event * *out),                           \
		 event_get(node, type, out))                                                       \
	GRAPH_FN(Graph##kind##NodeSetEvent, (struct graph_node * node, struct stream_event * e),   \
		 event_set(node, type, e))                                                         \
	GRAPH_FN(GraphExec##kind##NodeSetEvent,                                                    \
		 (struct graph_exec * x, struct graph_node * node, struct stream_event * e),       \
		 event_set_exec(x, node, type, e))

EVENT_FNS(EventRecord, GRAPH_EVENT_RECORD)
EVENT_FNS(EventWait, GRAPH_EVENT_WAIT)

static int child_add(struct graph_node **out, struct graph *g, const struct graph_after *after,
		     struct graph *child)
{
	return node_add(out, g, after, 0,
			&(struct graph_action){.type = GRAPH_CHILD, .child = child});
}

static int child_get(struct graph_node *node, struct graph **out)
{
	const struct graph_action *a = node_look(node, GRAPH_CHILD);

	if (!a || !out)
		return STATUS_INVALID_VALUE;
	*out = a->child;
	return STATUS_SUCCESS;
}

static int child_set_exec(struct graph_exec *x, struct graph_node *node, struct graph *child)
{
	if (!graph_is(GRAPHS, child))
		return STATUS_INVALID_VALUE;
	return exec_change(x, node, 0, &(struct graph_action){.type = GRAPH_CHILD, .child = child});
}

GRAPH_FN(GraphAddChildGraphNode,
	 (struct graph_node * *out, struct graph *g, DEPS, struct graph *child),
	 child_add(out, g, AFTER(deps, n), child))
GRAPH_FN(GraphChildGraphNodeGetGraph, (struct graph_node * node, struct graph **out),
	 child_get(node, out))
GRAPH_FN(GraphExecChildGraphNodeSetParams,
	 (struct graph_exec * x, struct graph_node *node, struct graph *child),
	 child_set_exec(x, node, child))
GRAPH_FN(GraphAddEmptyNode, (struct graph_node * *out, struct graph *g, DEPS),
	 node_add(out, g, AFTER(deps, n), 0, &(struct graph_action){.type = GRAPH_EMPTY}))

/* ---- memory ---- */

/* Pinned memory (1) on a device (1); accesses of peers need no mapping. */
static int alloc_add(bool driver, struct graph_node **out, struct graph *g,
		     const struct graph_after *after, struct alloc_node_params *p)
{
	struct graph_action a = {.type = GRAPH_MEM_ALLOC, .flags = STREAM_ALLOC};
	struct rt_device *d;
	int status;

	if (!out || !p || p->alloc_type != 1 || p->handle_types || p->location_type != 1 ||
	    (p->access_len && !p->access))
		return STATUS_INVALID_VALUE;
	if (!graph_device(driver, &status))
		return status;
	status = rt_device_check(p->location_id);
	d = status ? NULL : rt_device_open(p->location_id, &status);
	if (!d)
		return status;
	a.dev = &d->dev;
	a.amount = p->bytes;
	a.data = p;
	a.bytes = sizeof(*p);
	return (int)graph_add_alloc(GRAPHS, g, after, &a, out, &p->address);
}

static int alloc_get(struct graph_node *node, struct alloc_node_params *out)
{
	const struct graph_action *a = node_look(node, GRAPH_MEM_ALLOC);

	if (!a || !out)
		return STATUS_INVALID_VALUE;
	memcpy(out, a->data, sizeof(*out));
	out->address = a->address;
	return STATUS_SUCCESS;
}

static int free_add(bool driver, struct graph_node **out, struct graph *g,
		    const struct graph_after *after, u64 address)
{
	struct graph_action a = {.type = GRAPH_MEM_FREE, .flags = STREAM_FREE, .address = address};
	int status;

	if (!out)
		return STATUS_INVALID_VALUE;
	a.dev = graph_device(driver, &status);
	return a.dev ? (int)graph_add_free(GRAPHS, g, after, &a, out) : status;
}

static int free_get(struct graph_node *node, u64 *out)
{
	const struct graph_action *a = node_look(node, GRAPH_MEM_FREE);

	if (!a || !out)
		return STATUS_INVALID_VALUE;
	*out = a->address;
	return STATUS_SUCCESS;
}

GRAPH_FN(GraphAddMemAllocNode,
	 (struct graph_node * *out, struct graph *g, DEPS, struct alloc_node_params *p),
	 alloc_add(DRIVER, out, g, AFTER(deps, n), p))
GRAPH_FN(GraphMemAllocNodeGetParams, (struct graph_node * node, struct alloc_node_params *p),
	 alloc_get(node, p))
GRAPH_FN(GraphAddMemFreeNode, (struct graph_node * *out, struct graph *g, DEPS, u64 address),
	 free_add(DRIVER, out, g, AFTER(deps, n), address))
GRAPH_FN(GraphMemFreeNodeGetParams, (struct graph_node * node, u64 *address),
	 free_get(node, address))

/* ---- conditions ---- */

static int condition_create(u64 *out, struct graph *g, unsigned initial, unsigned flags)
{
	if (!out || flags > 1)
		return STATUS_INVALID_VALUE;
	return (int)graph_condition_create(GRAPHS, g, initial, flags == 1, out);
}

GRAPH_RT_FN(GraphConditionalHandleCreate,
	    (u64 * out, struct graph *g, unsigned initial, unsigned flags),
	    condition_create(out, g, initial, flags))
GRAPH_DRV_FN(GraphConditionalHandleCreate,
	     (u64 * out, struct graph *g, void *context, unsigned initial, unsigned flags),
	     ((void)context, condition_create(out, g, initial, flags)))

static int conditional_add(struct graph_node **out, struct graph *g,
			   const struct graph_after *after, struct conditional_node_params *p)
{
	struct graph_action a = {.type = GRAPH_CONDITIONAL,
				 .handle = p->handle,
				 .condition = (enum graph_condition)p->type,
				 .body_len = p->size};
	int status = p->size > UINT16_MAX || p->type < 0 ? (int)STATUS_INVALID_VALUE
							 : node_add(out, g, after, 0, &a);

	if (!status) /* the array is the node's own, as CUDA has it */
		p->bodies = graph_node_action(*out)->body;
	return status;
}

/* ---- any kind of node ---- */

/* Those that are made of an action alone; others are STATUS_NOT_SUPPORTED here. */
static int action_any(bool driver, const struct graph_node_params *p, struct graph_maker *m)
{
	struct graph_action *a = &m->action;

	*a = (struct graph_action){.type = (enum graph_node_type)p->type};
	switch (p->type) {
	case GRAPH_KERNEL:
		return action_kernel_any(driver, false, &p->u.kernel, a);
	case GRAPH_COPY:
		return action_copy(driver,
				   driver ? (const void *)&p->u.drv_copy.copy : &p->u.copy.copy, a,
				   &m->room.copy);
	case GRAPH_FILL:
		return action_fill(driver, &p->u.fill, a, &m->room.fill);
	case GRAPH_HOST:
		return action_host(&p->u.host, a);
	case GRAPH_CHILD:
		a->child = p->u.child;
		return graph_is(GRAPHS, a->child) ? STATUS_SUCCESS : STATUS_INVALID_VALUE;
	case GRAPH_EMPTY:
		return STATUS_SUCCESS;
	case GRAPH_EVENT_WAIT:
	case GRAPH_EVENT_RECORD:
		a->event = p->u.event;
		return STATUS_SUCCESS;
	case GRAPH_MEM_OPS:
		return driver ? action_batch(&p->u.batch, a, &m->room.ops) : STATUS_INVALID_VALUE;
	default:
		return p->type < 0 || p->type > GRAPH_CONDITIONAL ? STATUS_INVALID_VALUE
								  : STATUS_NOT_SUPPORTED;
	}
}

static int any_add(bool driver, struct graph_node **out, struct graph *g,
		   const struct graph_after *after, struct graph_node_params *p)
{
	struct graph_maker m;

	if (!p || p->reserved[0] || p->reserved[1] || p->reserved[2])
		return STATUS_INVALID_VALUE;
	if (p->type == GRAPH_MEM_ALLOC)
		return alloc_add(driver, out, g, after, &p->u.alloc);
	if (p->type == GRAPH_MEM_FREE)
		return free_add(driver, out, g, after, p->u.address);
	if (p->type == GRAPH_CONDITIONAL)
		return conditional_add(out, g, after, &p->u.conditional);
	return node_add(out, g, after, action_any(driver, p, &m), &m.action);
}

static int any_set(bool driver, struct graph_exec *x, struct graph_node *node,
		   const struct graph_node_params *p)
{
	struct graph_maker m;
	int status = p ? action_any(driver, p, &m) : (int)STATUS_INVALID_VALUE;

	return x ? exec_change(x, node, status, &m.action) : node_change(node, status, &m.action);
}

#define AFTER_DATA (&(struct graph_after){deps, data, n})

GRAPH_RT_FN(GraphAddNode,
	    (struct graph_node * *out, struct graph *g, struct graph_node *const *deps,
	     const struct graph_edge_data *data, size_t n, struct graph_node_params *p),
	    any_add(DRIVER, out, g, AFTER_DATA, p))
GRAPH_DRV_FN(GraphAddNode_v2,
	     (struct graph_node * *out, struct graph *g, struct graph_node *const *deps,
	      const struct graph_edge_data *data, size_t n, struct graph_node_params *p),
	     any_add(DRIVER, out, g, AFTER_DATA, p))
GRAPH_DRV_FN(GraphAddNode,
	     (struct graph_node * *out, struct graph *g, DEPS, struct graph_node_params *p),
	     any_add(DRIVER, out, g, AFTER(deps, n), p))
GRAPH_RT_FN(GraphAddNode_v2,
	    (struct graph_node * *out, struct graph *g, struct graph_node *const *deps,
	     const struct graph_edge_data *data, size_t n, struct graph_node_params *p),
	    any_add(DRIVER, out, g, AFTER_DATA, p))
GRAPH_RT_FN(GraphAddNode_12,
	    (struct graph_node * *out, struct graph *g, DEPS, struct graph_node_params *p),
	    any_add(DRIVER, out, g, AFTER(deps, n), p))
GRAPH_FN(GraphNodeSetParams, (struct graph_node * node, const struct graph_node_params *p),
	 any_set(DRIVER, NULL, node, p))
GRAPH_FN(GraphExecNodeSetParams,
	 (struct graph_exec * x, struct graph_node *node, const struct graph_node_params *p),
	 HELD(x) ? any_set(DRIVER, x, node, p) : STATUS_INVALID_VALUE)

static int get_type(struct graph_node *node, int *out)
{
	if (!out || !graph_node_is(GRAPHS, node))
		return STATUS_INVALID_VALUE;
	*out = (int)graph_node_action(node)->type;
	return STATUS_SUCCESS;
}

GRAPH_FN(GraphNodeGetType, (struct graph_node * node, int *type), get_type(node, type))
GRAPH_FN(GraphDestroyNode, (struct graph_node * node), graph_node_destroy(GRAPHS, node))
