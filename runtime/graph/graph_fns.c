/*
 * Graphs as wholes: making, copying, edges, lists, drawing, user objects, launches, updates.
 */
#include "runtime/graph/graph_api.h"

#include <stdio.h>

/* ---- making ---- */

static int create_graph(struct graph **out, unsigned flags)
{
	return out && !flags ? (int)graph_create(GRAPHS, out) : STATUS_INVALID_VALUE;
}

static int clone_graph(struct graph **out, struct graph *g)
{
	return out ? (int)graph_clone(GRAPHS, g, out) : STATUS_INVALID_VALUE;
}

static int find_in_clone(struct graph_node **out, struct graph_node *original, struct graph *g)
{
	return out ? (int)graph_find_in_clone(GRAPHS, original, g, out) : STATUS_INVALID_VALUE;
}

GRAPH_FN(GraphCreate, (struct graph * *out, unsigned flags), create_graph(out, flags))
GRAPH_FN(GraphDestroy, (struct graph * g), graph_destroy(GRAPHS, g))
GRAPH_FN(GraphClone, (struct graph * *out, struct graph *g), clone_graph(out, g))
GRAPH_FN(GraphNodeFindInClone,
	 (struct graph_node * *out, struct graph_node *original, struct graph *g),
	 find_in_clone(out, original, g))

/* ---- edges ---- */

GRAPH_RT_FN(GraphAddDependencies,
	    (struct graph * g, struct graph_node *const *from, struct graph_node *const *to,
	     const struct graph_edge_data *data, size_t n),
	    graph_link(GRAPHS, g, from, to, data, n))
GRAPH_DRV_FN(GraphAddDependencies,
	     (struct graph * g, struct graph_node *const *from, struct graph_node *const *to,
	      size_t n),
	     graph_link(GRAPHS, g, from, to, NULL, n))
GRAPH_DRV_FN(GraphAddDependencies_v2,
	     (struct graph * g, struct graph_node *const *from, struct graph_node *const *to,
	      const struct graph_edge_data *data, size_t n),
	     graph_link(GRAPHS, g, from, to, data, n))
GRAPH_RT_FN(GraphRemoveDependencies,
	    (struct graph * g, struct graph_node *const *from, struct graph_node *const *to,
	     const struct graph_edge_data *data, size_t n),
	    ((void)data, graph_unlink(GRAPHS, g, from, to, n)))
GRAPH_DRV_FN(GraphRemoveDependencies,
	     (struct graph * g, struct graph_node *const *from, struct graph_node *const *to,
	      size_t n),
	     graph_unlink(GRAPHS, g, from, to, n))
GRAPH_DRV_FN(GraphRemoveDependencies_v2,
	     (struct graph * g, struct graph_node *const *from, struct graph_node *const *to,
	      const struct graph_edge_data *data, size_t n),
	     ((void)data, graph_unlink(GRAPHS, g, from, to, n)))

/* ---- lists ---- */

#define LIST(...) (&(struct graph_list){__VA_ARGS__})

GRAPH_FN(GraphGetNodes, (struct graph * g, struct graph_node **nodes, size_t *n),
	 graph_list(GRAPHS, g, GRAPH_NODES, LIST(nodes, NULL, NULL, n)))
GRAPH_FN(GraphGetRootNodes, (struct graph * g, struct graph_node **nodes, size_t *n),
	 graph_list(GRAPHS, g, GRAPH_ROOTS, LIST(nodes, NULL, NULL, n)))
GRAPH_RT_FN(GraphGetEdges,
	    (struct graph * g, struct graph_node **from, struct graph_node **to,
	     struct graph_edge_data *data, size_t *n),
	    graph_list(GRAPHS, g, GRAPH_EDGES, LIST(from, to, data, n)))
GRAPH_DRV_FN(GraphGetEdges,
	     (struct graph * g, struct graph_node **from, struct graph_node **to, size_t *n),
	     graph_list(GRAPHS, g, GRAPH_EDGES, LIST(from, to, NULL, n)))
GRAPH_DRV_FN(GraphGetEdges_v2,
	     (struct graph * g, struct graph_node **from, struct graph_node **to,
	      struct graph_edge_data *data, size_t *n),
	     graph_list(GRAPHS, g, GRAPH_EDGES, LIST(from, to, data, n)))
GRAPH_RT_FN(GraphNodeGetDependencies,
	    (struct graph_node * node, struct graph_node **out, struct graph_edge_data *data,
	     size_t *n),
	    graph_node_neighbours(GRAPHS, node, true, LIST(out, NULL, data, n)))
GRAPH_DRV_FN(GraphNodeGetDependencies,
	     (struct graph_node * node, struct graph_node **out, size_t *n),
	     graph_node_neighbours(GRAPHS, node, true, LIST(out, NULL, NULL, n)))
GRAPH_DRV_FN(GraphNodeGetDependencies_v2,
	     (struct graph_node * node, struct graph_node **out, struct graph_edge_data *data,
	      size_t *n),
	     graph_node_neighbours(GRAPHS, node, true, LIST(out, NULL, data, n)))
GRAPH_RT_FN(GraphNodeGetDependentNodes,
	    (struct graph_node * node, struct graph_node **out, struct graph_edge_data *data,
	     size_t *n),
	    graph_node_neighbours(GRAPHS, node, false, LIST(out, NULL, data, n)))
GRAPH_DRV_FN(GraphNodeGetDependentNodes,
	     (struct graph_node * node, struct graph_node **out, size_t *n),
	     graph_node_neighbours(GRAPHS, node, false, LIST(out, NULL, NULL, n)))
GRAPH_DRV_FN(GraphNodeGetDependentNodes_v2,
	     (struct graph_node * node, struct graph_node **out, struct graph_edge_data *data,
	      size_t *n),
	     graph_node_neighbours(GRAPHS, node, false, LIST(out, NULL, data, n)))

/* ---- drawing ---- */

static int print_graph_dot(struct graph *g, const char *path, unsigned flags)
{
	struct text t = {0};
	int status;
	FILE *f;

	if (!path)
		return STATUS_INVALID_VALUE;
	status = (int)graph_print(GRAPHS, g, flags != 0, &t);
	f = status ? NULL : fopen(path, "w");
	if (!status && (!f || fputs(t.at, f) < 0))
		status = STATUS_OPERATING_SYSTEM;
	if (f && fclose(f) && !status)
		status = STATUS_OPERATING_SYSTEM;
	text_fini(&t);
	return status;
}

GRAPH_FN(GraphDebugDotPrint, (struct graph * g, const char *path, unsigned flags),
	 print_graph_dot(g, path, flags))

/* ---- user objects ---- */

/* Flag 1 says that no call waits for the destructor, which is all there is. */
static int object_create(struct graph_object **out, void *user, rt_host_fn *destroy,
			 unsigned references, unsigned flags)
{
	if (!out || !destroy || !references || references > INT32_MAX || flags != 1)
		return STATUS_INVALID_VALUE;
	return (int)graph_object_create(GRAPHS, destroy, user, references, out);
}

GRAPH_FN(UserObjectCreate,
	 (struct graph_object * *out, void *user, rt_host_fn *destroy, unsigned references,
	  unsigned flags),
	 object_create(out, user, destroy, references, flags))
GRAPH_FN(UserObjectRetain, (struct graph_object * o, unsigned n), graph_object_retain(GRAPHS, o, n))
GRAPH_FN(UserObjectRelease, (struct graph_object * o, unsigned n),
	 graph_object_release(GRAPHS, o, n))
GRAPH_FN(GraphRetainUserObject,
	 (struct graph * g, struct graph_object *o, unsigned n, unsigned flags),
	 flags > 1 ? STATUS_INVALID_VALUE : graph_object_keep(GRAPHS, g, o, n, flags == 1))
GRAPH_FN(GraphReleaseUserObject, (struct graph * g, struct graph_object *o, unsigned n),
	 graph_object_drop(GRAPHS, g, o, n))

/* ---- executable graphs ---- */

static int instantiate(struct graph_exec **out, struct graph *g, u64 flags)
{
	struct graph_refusal refusal;

	if (!out || flags > UINT32_MAX)
		return STATUS_INVALID_VALUE;
	return (int)graph_instantiate(GRAPHS, g, (u32)flags, &refusal, out);
}

/* The form of before CUDA 11.4: a message, and the node that is to blame. */
static int instantiate_log(struct graph_exec **out, struct graph *g, struct graph_node **bad,
			   char *log, size_t size)
{
	struct graph_refusal refusal;
	int status;

	if (!out)
		return STATUS_INVALID_VALUE;
	status = (int)graph_instantiate(GRAPHS, g, 0, &refusal, out);
	if (bad)
		*bad = refusal.node;
	if (log && size)
		snprintf(log, size, "%s", status ? status_info(status)->text : "");
	return status;
}

/* cudaGraphInstantiateParams, CUDA_GRAPH_INSTANTIATE_PARAMS: 32 bytes. */
struct instantiate_params {
	u64 flags;
	void *upload_stream;
	struct graph_node *bad;
	int result;
};

static int instantiate_params(struct graph_exec **out, struct graph *g,
			      struct instantiate_params *p)
{
	struct graph_refusal refusal = {GRAPH_FAILED, NULL};
	int status = STATUS_INVALID_VALUE;

	if (!out || !p)
		return status;
	if (p->flags <= UINT32_MAX)
		status = (int)graph_instantiate(GRAPHS, g, (u32)p->flags, &refusal, out);
	p->bad = refusal.node;
	p->result = (int)refusal.why;
	return status;
}

GRAPH_FN(GraphInstantiateWithFlags, (struct graph_exec * *out, struct graph *g, u64 flags),
	 instantiate(out, g, flags))
GRAPH_RT_FN(GraphInstantiate, (struct graph_exec * *out, struct graph *g, u64 flags),
	    instantiate(out, g, flags))
GRAPH_DRV_FN(GraphInstantiate,
	     (struct graph_exec * *out, struct graph *g, struct graph_node **bad, char *log,
	      size_t size),
	     instantiate_log(out, g, bad, log, size))
GRAPH_DRV_FN(GraphInstantiate_v2,
	     (struct graph_exec * *out, struct graph *g, struct graph_node **bad, char *log,
	      size_t size),
	     instantiate_log(out, g, bad, log, size))
GRAPH_FN(GraphInstantiateWithParams,
	 (struct graph_exec * *out, struct graph *g, struct instantiate_params *p),
	 instantiate_params(out, g, p))
GRAPH_FN(GraphInstantiateWithParams_ptsz,
	 (struct graph_exec * *out, struct graph *g, struct instantiate_params *p),
	 instantiate_params(out, g, p))
GRAPH_FN(GraphExecDestroy, (struct graph_exec * x), graph_exec_destroy(GRAPHS, x))

static int get_flags(struct graph_exec *x, u64 *out)
{
	enum { USE_PRIORITY = 8 }; /* is not told */
	u32 flags = 0;
	int status;

	if (!out)
		return STATUS_INVALID_VALUE;
	status = (int)graph_exec_flags(GRAPHS, x, &flags);
	*out = flags & ~(u64)USE_PRIORITY;
	return status;
}

GRAPH_FN(GraphExecGetFlags, (struct graph_exec * x, u64 *flags), get_flags(x, flags))

static int launch_graph(struct graph_exec *x, void *stream, bool own, bool driver)
{
	int status;
	struct stream *s =
		driver ? drv_stream(stream, own, &status) : rt_stream(stream, own, &status);

	return s ? (int)graph_launch(x, s) : status;
}

/* Nothing has to be sent anywhere before a launch. */
static int upload(struct graph_exec *x, void *stream, bool own, bool driver)
{
	int status;
	struct stream *s =
		driver ? drv_stream(stream, own, &status) : rt_stream(stream, own, &status);

	if (s)
		status = (int)stream_capture_forbid(s);
	if (status)
		return status;
	return graph_exec_is(GRAPHS, x) ? STATUS_SUCCESS : STATUS_INVALID_VALUE;
}

GRAPH_FN(GraphLaunch, (struct graph_exec * x, void *stream), launch_graph(x, stream, false, DRIVER))
GRAPH_FN(GraphLaunch_ptsz, (struct graph_exec * x, void *stream),
	 launch_graph(x, stream, true, DRIVER))
GRAPH_FN(GraphUpload, (struct graph_exec * x, void *stream), upload(x, stream, false, DRIVER))
GRAPH_FN(GraphUpload_ptsz, (struct graph_exec * x, void *stream), upload(x, stream, true, DRIVER))

/* cudaGraphExecUpdateResultInfo, 24 bytes. */
struct update_info {
	int result;
	struct graph_node *node, *from;
};

/* The driver's may be asked without a place for why. Nothing is reported of what is not a graph. */
static int update_graph(bool driver, struct graph_exec *x, struct graph *g,
			struct update_info *info)
{
	struct graph_update_result r;
	bool is_held = graph_exec_is(GRAPHS, x) && graph_is(GRAPHS, g);
	int status;

	if (!info && !driver)
		return STATUS_INVALID_VALUE;
	status = (int)graph_exec_update(GRAPHS, x, g, &r);
	if (info && is_held)
		*info = (struct update_info){(int)r.result, r.node, r.from};
	return status;
}

static int update_old(struct graph_exec *x, struct graph *g, struct graph_node **bad, int *result)
{
	struct update_info info = {0};
	int status = update_graph(true, x, g, &info);

	if (bad)
		*bad = info.node;
	if (result)
		*result = info.result;
	return status;
}

GRAPH_RT_FN(GraphExecUpdate, (struct graph_exec * x, struct graph *g, struct update_info *info),
	    update_graph(DRIVER, x, g, info))
GRAPH_DRV_FN(GraphExecUpdate_v2, (struct graph_exec * x, struct graph *g, struct update_info *info),
	     update_graph(DRIVER, x, g, info))
GRAPH_DRV_FN(GraphExecUpdate,
	     (struct graph_exec * x, struct graph *g, struct graph_node **bad, int *result),
	     update_old(x, g, bad, result))

static int set_enabled(struct graph_exec *x, struct graph_node *n, unsigned on)
{
	return on > 1 ? STATUS_INVALID_VALUE : (int)graph_exec_enable(GRAPHS, x, n, on);
}

static int get_enabled(struct graph_exec *x, struct graph_node *n, unsigned *on)
{
	bool is_on = false;
	int status;

	if (!on)
		return STATUS_INVALID_VALUE;
	status = (int)graph_exec_is_enabled(GRAPHS, x, n, &is_on);
	*on = is_on;
	return status;
}

GRAPH_FN(GraphNodeSetEnabled, (struct graph_exec * x, struct graph_node *n, unsigned on),
	 set_enabled(x, n, on))
GRAPH_FN(GraphNodeGetEnabled, (struct graph_exec * x, struct graph_node *n, unsigned *on),
	 get_enabled(x, n, on))

/*
 * ---- what names without a number meant in CUDA 11 and 12, and the names of 12 that became plain
 * ----
 */

GRAPH_RT_FN(GraphAddDependencies_12,
	    (struct graph * g, struct graph_node *const *from, struct graph_node *const *to,
	     size_t n),
	    graph_link(GRAPHS, g, from, to, NULL, n))
GRAPH_RT_FN(GraphAddDependencies_v2,
	    (struct graph * g, struct graph_node *const *from, struct graph_node *const *to,
	     const struct graph_edge_data *data, size_t n),
	    graph_link(GRAPHS, g, from, to, data, n))
GRAPH_RT_FN(GraphRemoveDependencies_12,
	    (struct graph * g, struct graph_node *const *from, struct graph_node *const *to,
	     size_t n),
	    graph_unlink(GRAPHS, g, from, to, n))
GRAPH_RT_FN(GraphRemoveDependencies_v2,
	    (struct graph * g, struct graph_node *const *from, struct graph_node *const *to,
	     const struct graph_edge_data *data, size_t n),
	    ((void)data, graph_unlink(GRAPHS, g, from, to, n)))
GRAPH_RT_FN(GraphGetEdges_12,
	    (struct graph * g, struct graph_node **from, struct graph_node **to, size_t *n),
	    graph_list(GRAPHS, g, GRAPH_EDGES, LIST(from, to, NULL, n)))
GRAPH_RT_FN(GraphGetEdges_v2,
	    (struct graph * g, struct graph_node **from, struct graph_node **to,
	     struct graph_edge_data *data, size_t *n),
	    graph_list(GRAPHS, g, GRAPH_EDGES, LIST(from, to, data, n)))
GRAPH_RT_FN(GraphNodeGetDependencies_12,
	    (struct graph_node * node, struct graph_node **out, size_t *n),
	    graph_node_neighbours(GRAPHS, node, true, LIST(out, NULL, NULL, n)))
GRAPH_RT_FN(GraphNodeGetDependencies_v2,
	    (struct graph_node * node, struct graph_node **out, struct graph_edge_data *data,
	     size_t *n),
	    graph_node_neighbours(GRAPHS, node, true, LIST(out, NULL, data, n)))
GRAPH_RT_FN(GraphNodeGetDependentNodes_12,
	    (struct graph_node * node, struct graph_node **out, size_t *n),
	    graph_node_neighbours(GRAPHS, node, false, LIST(out, NULL, NULL, n)))
GRAPH_RT_FN(GraphNodeGetDependentNodes_v2,
	    (struct graph_node * node, struct graph_node **out, struct graph_edge_data *data,
	     size_t *n),
	    graph_node_neighbours(GRAPHS, node, false, LIST(out, NULL, data, n)))
GRAPH_RT_FN(GraphInstantiate_11,
	    (struct graph_exec * *out, struct graph *g, struct graph_node **bad, char *log,
	     size_t size),
	    instantiate_log(out, g, bad, log, size))
GRAPH_RT_FN(GraphExecUpdate_11,
	    (struct graph_exec * x, struct graph *g, struct graph_node **bad, int *result),
	    update_old(x, g, bad, result))

/* ---- memory of graphs ---- */

static struct device *graph_fns_device(int device, int *status)
{
	struct rt_device *d;

	*status = rt_device_check(device);
	d = *status ? NULL : rt_device_open(device, status);
	return d ? &d->dev : NULL;
}

static int mem_attribute(int device, int which, void *value, bool reset)
{
	int status;
	struct device *d = graph_fns_device(device, &status);
	u64 now;

	if (!d)
		return status;
	if (!value || which < 0 || which > GRAPH_RESERVED_HIGH)
		return STATUS_INVALID_VALUE;
	/* Only high marks can be set, and only to zero. */
	if (reset && (*(u64 *)value || !(which & 1)))
		return STATUS_INVALID_VALUE;
	status = (int)graph_memory_amount(d, (enum graph_amount)which, reset, &now);
	if (!reset)
		*(u64 *)value = now;
	return status;
}

static int mem_trim(int device)
{
	int status;
	struct device *d = graph_fns_device(device, &status);

	if (d)
		graph_memory_trim(d);
	return status;
}

GRAPH_FN(DeviceGetGraphMemAttribute, (int device, int which, void *value),
	 mem_attribute(device, which, value, false))
GRAPH_FN(DeviceSetGraphMemAttribute, (int device, int which, void *value),
	 mem_attribute(device, which, value, true))
GRAPH_FN(DeviceGraphMemTrim, (int device), mem_trim(device))
