/*
 * Kernel nodes of graphs: parameters and attributes.
 */
#include "runtime/graph/graph_api.h"
#include "runtime/graph/stream_attr.h"

static int kernel_get(bool with_handles, bool driver, struct graph_node *node,
		      struct kernel_node_params *out)
{
	const struct graph_action *a = node_look(node, GRAPH_KERNEL);

	if (!a || !out)
		return STATUS_INVALID_VALUE;
	out->func = a->name;
	memcpy(out->grid, a->launch.grid, sizeof(out->grid));
	memcpy(out->block, a->launch.block, sizeof(out->block));
	out->shared = a->launch.dynamic_bytes;
	out->params = (void **)(uintptr_t)a->launch.args;
	out->extra = NULL;
	if (with_handles && driver) {
		out->kern = NULL;
		out->context = NULL;
	}
	return STATUS_SUCCESS;
}

/* The older structure of the driver ends before kern. */
int action_kernel_any(bool driver, bool is_short, const struct kernel_node_params *p,
		      struct graph_action *a)
{
	struct kernel_node_params full = {0};

	if (!p)
		return STATUS_INVALID_VALUE;
	memcpy(&full, p,
	       is_short || !driver ? offsetof(struct kernel_node_params, kern) : sizeof(full));
	return action_kernel(driver, &full, a);
}

/* Attributes that are not parameters stay as they are when parameters change. */
static void keep_attributes(const struct graph_node *node, struct graph_action *a)
{
	const struct graph_action *old = node_look(node, GRAPH_KERNEL);

	if (!old)
		return;
	memcpy(a->launch.cluster, old->launch.cluster, sizeof(a->launch.cluster));
	a->launch.cooperative = old->launch.cooperative;
}

static int kernel_add(bool driver, bool is_short, struct graph_node **out, struct graph *g,
		      const struct graph_after *after, const struct kernel_node_params *p)
{
	struct graph_action a;

	return node_add(out, g, after, action_kernel_any(driver, is_short, p, &a), &a);
}

static int kernel_set(bool driver, bool is_short, struct graph_node *node,
		      const struct kernel_node_params *p)
{
	struct graph_action a;
	int status = action_kernel_any(driver, is_short, p, &a);

	if (!status)
		keep_attributes(node, &a);
	return node_change(node, status, &a);
}

static int kernel_set_exec(bool driver, bool is_short, struct graph_exec *x,
			   struct graph_node *node, const struct kernel_node_params *p)
{
	struct graph_action a;
	int status = action_kernel_any(driver, is_short, p, &a);

	if (!status)
		keep_attributes(node, &a);
	return exec_change(x, node, status, &a);
}

#define KERNEL_FNS(define, version, is_short)                                                      \
	define(GraphAddKernelNode##version,                                                        \
	       (struct graph_node * *out, struct graph * g, DEPS,                                  \
		const struct kernel_node_params *p),                                               \
	       kernel_add(DRIVER, is_short, out, g, AFTER(deps, n), p))                            \
		define(GraphKernelNodeGetParams##version,                                          \
		       (struct graph_node * node, struct kernel_node_params * p),                  \
		       kernel_get(!is_short, DRIVER, node, p))                                     \
			define(GraphKernelNodeSetParams##version,                                  \
			       (struct graph_node * node, const struct kernel_node_params *p),     \
			       kernel_set(DRIVER, is_short, node, p))                              \
				define(GraphExecKernelNodeSetParams##version,                      \
				       (struct graph_exec * x, struct graph_node * node,           \
					const struct kernel_node_params *p),                       \
				       kernel_set_exec(DRIVER, is_short, x, node, p))

KERNEL_FNS(GRAPH_FN, , true)
KERNEL_FNS(GRAPH_DRV_FN, _v2, false)

/* ---- attributes of kernel nodes ---- */

enum { ATTR_COOPERATIVE = 2, ATTR_CLUSTER = 4, ATTR_DOMAIN_MAP = 9, ATTR_DEVICE_NODE = 13 };

/* Attributes of launches that kernel nodes have too; one can be set and not be asked for. */
enum {
	OF_NODES =
		1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 13 | 1 << 14,
	SET_OF_NODES = OF_NODES | 1 << 16
};

static bool is_of_nodes(int id, int which)
{
	return id >= 0 && id < (int)GRAPH_ATTRS && which >> id & 1;
}

/* Values without an effect here. */
static int kept_get(struct graph_node *node, int id, union launch_attr_value *out)
{
	/* The usual synchronisation domains, one of them for remote memory. */
	static const union launch_attr_value usual = {.domain_map = {0, 1}}, none;
	int status = (int)graph_node_attr_get(GRAPHS, node, (u32)id, out);

	if (!status && id == ATTR_DOMAIN_MAP && !memcmp(out, &none, sizeof(none)))
		*out = usual;
	return status;
}

/* Whether kernels may change the node, and what they name it with. */
static void device_node_get(const struct graph_node *node, union launch_attr_value *out)
{
	u64 handle = graph_device_node_handle(node);

	out->device_node.updatable = handle != 0;
	out->device_node.node = (void *)(uintptr_t)handle;
}

static int attr_get(struct graph_node *node, int id, union launch_attr_value *out)
{
	const struct graph_action *a = node_look(node, GRAPH_KERNEL);
	int cooperative;

	if (!a || !out || !is_of_nodes(id, OF_NODES))
		return STATUS_INVALID_VALUE;
	memset(out, 0, sizeof(*out));
	cooperative = a->launch.cooperative;
	if (id == ATTR_COOPERATIVE)
		memcpy(out, &cooperative, sizeof(cooperative));
	else if (id == ATTR_CLUSTER)
		memcpy(out, a->launch.cluster, sizeof(a->launch.cluster));
	else if (id == ATTR_DEVICE_NODE)
		device_node_get(node, out);
	else
		return kept_get(node, id, out);
	return STATUS_SUCCESS;
}

static int attr_set(struct graph_node *node, int id, const union launch_attr_value *value)
{
	const struct graph_action *old = node_look(node, GRAPH_KERNEL);
	struct graph_action a;
	struct launch_attr attr = {.id = id};
	struct launch_attrs read;
	int status;

	if (!old || !value || !is_of_nodes(id, SET_OF_NODES))
		return STATUS_INVALID_VALUE;
	memcpy(attr.value.bytes, value, sizeof(attr.value.bytes));
	if (id == ATTR_DEVICE_NODE)
		return value->device_node.node
			       ? (int)STATUS_INVALID_VALUE
			       : (int)graph_device_node_make(GRAPHS, node,
							     value->device_node.updatable);
	/* Nodes may be freed of their clusters, launches cannot ask for none. */
	if (id == ATTR_CLUSTER && !(value->dim[0] | value->dim[1] | value->dim[2]))
		read = (struct launch_attrs){0}, status = STATUS_SUCCESS;
	else
		status = (int)launch_attrs_read(GRAPHS, old->dev, &attr, 1, &read);
	if (status)
		return status;
	a = *old;
	if (id == ATTR_COOPERATIVE)
		a.launch.cooperative = read.cooperative;
	else if (id == ATTR_CLUSTER)
		memcpy(a.launch.cluster, read.cluster, sizeof(a.launch.cluster));
	else
		return (int)graph_node_attr_set(GRAPHS, node, (u32)id, value);
	return (int)graph_node_change(GRAPHS, node, &a);
}

static int attr_copy(struct graph_node *to, struct graph_node *from)
{
	union launch_attr_value value;
	int status = node_look(to, GRAPH_KERNEL) ? STATUS_SUCCESS : STATUS_INVALID_VALUE;

	for (int id = 1; id < (int)GRAPH_ATTRS && !status; id++) {
		static const union launch_attr_value none;

		if (!is_of_nodes(id, OF_NODES))
			continue;
		status = attr_get(from, id, &value);
		if (!status && memcmp(&value, &none, sizeof(none)) != 0)
			status = attr_set(to, id, &value);
	}
	return status;
}

GRAPH_FN(GraphKernelNodeGetAttribute,
	 (struct graph_node * node, int id, union launch_attr_value *out), attr_get(node, id, out))
GRAPH_FN(GraphKernelNodeSetAttribute,
	 (struct graph_node * node, int id, const union launch_attr_value *value),
	 attr_set(node, id, value))
GRAPH_FN(GraphKernelNodeCopyAttributes, (struct graph_node * to, struct graph_node *from),
	 attr_copy(to, from))
