/*
 * Parameters of graph nodes into what a node does.
 */
#include "runtime/graph/graph_api.h"

int graph_enter(bool driver)
{
	return driver ? drv_check(0) : rt_device_check(0);
}

struct device *graph_device(bool driver, int *status)
{
	struct rt_device *d = driver ? drv_device(status) : rt_device_now(status);

	return d ? &d->dev : NULL;
}

static struct device_kernel *node_kernel(bool driver, const struct kernel_node_params *p,
					 const void **name, int *status)
{
	*name = p->func;
	if (!driver)
		return rt_kernel(rt_named_kernel(p->func), status);
	if (!p->func)
		*name = p->kern;
	return drv_kernel(*name, status);
}

int action_kernel(bool driver, const struct kernel_node_params *p, struct graph_action *a)
{
	struct device_launch *l = &a->launch;
	int status;

	if (!p)
		return STATUS_INVALID_VALUE;
	*a = (struct graph_action){.type = GRAPH_KERNEL};
	l->kernel = node_kernel(driver, p, &a->name, &status);
	if (!l->kernel)
		return status;
	if (p->params && p->extra)
		return STATUS_INVALID_VALUE;
	a->dev = l->kernel->owner->dev;
	memcpy(l->grid, p->grid, sizeof(l->grid));
	memcpy(l->block, p->block, sizeof(l->block));
	l->dynamic_bytes = p->shared;
	l->args = p->params;
	l->from = rt_report_from();
	l->context = rt_context_number();
	return p->params ? STATUS_SUCCESS : drv_read_extra(p->extra, &l->packed, &l->packed_bytes);
}

static enum status run_host(void *data, enum status so_far)
{
	const struct host_node_params *p = data;

	(void)so_far;
	p->fn(p->user);
	return STATUS_SUCCESS;
}

int action_host(const struct host_node_params *p, struct graph_action *a)
{
	if (!p || !p->fn)
		return STATUS_INVALID_VALUE;
	*a = (struct graph_action){.type = GRAPH_HOST,
				   .fn = run_host,
				   .flags = STREAM_HOST,
				   .data = p,
				   .bytes = sizeof(*p)};
	return STATUS_SUCCESS;
}

int action_batch(const struct batch_node_params *p, struct graph_action *a, struct mem_ops *room)
{
	int status;
	struct device *d = graph_device(true, &status);

	if (!d)
		return status;
	if (!p || !p->ops || !p->len || p->len > MEM_OPS_MAX || p->flags)
		return STATUS_INVALID_VALUE;
	for (u32 i = 0; i < p->len; i++)
		room->op[i] = drv_mem_op_read(&p->ops[i]);
	room->len = p->len;
	room->at = 0;
	status = (int)stream_mem_ops_check(d, room);
	*a = (struct graph_action){.type = GRAPH_MEM_OPS,
				   .dev = d,
				   .fn = stream_mem_ops_run,
				   .flags = STREAM_POLL,
				   .data = room,
				   .bytes = sizeof(*room)};
	return status;
}

int node_add(struct graph_node **out, struct graph *g, const struct graph_after *after, int status,
	     const struct graph_action *a)
{
	if (status)
		return status;
	return out ? (int)graph_add(GRAPHS, g, after, a, out) : STATUS_INVALID_VALUE;
}

int node_change(struct graph_node *node, int status, const struct graph_action *a)
{
	return status ? status : (int)graph_node_change(GRAPHS, node, a);
}

int exec_change(struct graph_exec *x, struct graph_node *node, int status,
		const struct graph_action *a)
{
	return status ? status : (int)graph_exec_change(GRAPHS, x, node, a);
}

const struct graph_action *node_look(const struct graph_node *node, enum graph_node_type type)
{
	const struct graph_action *a;

	if (!graph_node_is(GRAPHS, node))
		return NULL;
	a = graph_node_action(node);
	return a->type == type ? a : NULL;
}
