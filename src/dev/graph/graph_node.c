/*
 * What nodes do: owning the parts of an action, attributes of kernel nodes.
 */
#include "src/dev/graph/graph_int.h"

#include <stdlib.h>

bool graph_node_is_call(const struct graph_node *n)
{
	enum graph_node_type t = n->action.type;

	return t == GRAPH_COPY || t == GRAPH_FILL || t == GRAPH_HOST || t == GRAPH_MEM_OPS;
}

bool graph_node_lives(const struct graph_node *n)
{
	const struct device *d = n->action.dev;

	return !d || (d->streams && d->streams->epoch == n->dev_epoch);
}

/* ---- parts ---- */

/* A copy of the parameters' values, and pointers to them, as programs ask for. */
static enum status own_values(struct graph_node *n, const struct graph_action *a)
{
	const struct device_kernel *k = a->launch.kernel;
	u8 *values = calloc(1, k->param_bytes + 1u);
	void **args = calloc(k->param_len + 1u, sizeof(*args));

	if (!values || !args) {
		free(values);
		free(args);
		return STATUS_OUT_OF_MEMORY;
	}
	for (u32 i = 0; i < k->param_len; i++) {
		const struct device_param *p = &k->params[i];

		args[i] = values + p->offset;
		if (a->launch.args)
			memcpy(args[i], a->launch.args[i], p->bytes);
	}
	if (!a->launch.args && a->launch.packed)
		device_launch_unpack(&a->launch, values);
	n->values = values;
	n->args = args;
	return STATUS_SUCCESS;
}

/* As a launch would: the same mistakes are found, now. */
static enum status check_kernel(const struct graph_action *a)
{
	struct device_flight *f;
	enum status status;

	if (!a->launch.kernel)
		return STATUS_INVALID_VALUE;
	status = device_flight_prepare(&a->launch, &f);
	if (status == STATUS_SUCCESS)
		device_flight_drop(f);
	return status;
}

static enum status own_data(struct graph_node *n, const struct graph_action *a)
{
	n->data = malloc(a->bytes + 1);
	if (!n->data)
		return STATUS_OUT_OF_MEMORY;
	if (a->bytes)
		memcpy(n->data, a->data, a->bytes);
	return STATUS_SUCCESS;
}

static bool has_node_type(const struct graph *g, enum graph_node_type a, enum graph_node_type b)
{
	for (const struct graph_node *n = g->first; n; n = n->next)
		if (n->action.type == a || n->action.type == b ||
		    (n->action.child && has_node_type(n->action.child, a, b)))
			return true;
	return false;
}

static enum status own_child(struct streams *all, struct graph_node *n,
			     const struct graph_action *a)
{
	if (!graph_is(all, a->child))
		return STATUS_INVALID_VALUE;
	/* Source: Driver API, "cuGraphAddChildGraphNode": no memory nodes, no conditional ones. */
	if (!n->graph->exec && !n->origin &&
	    (has_node_type(a->child, GRAPH_MEM_ALLOC, GRAPH_MEM_FREE) ||
	     has_node_type(a->child, GRAPH_CONDITIONAL, GRAPH_CONDITIONAL)))
		return STATUS_NOT_SUPPORTED;
	n->action.child = graph_copy_locked(all, a->child);
	if (!n->action.child)
		return STATUS_OUT_OF_MEMORY;
	n->action.child->owner = n;
	return STATUS_SUCCESS;
}

static bool condition_is_known(struct streams *all, const struct graph *g, u64 handle)
{
	const void *p = (const void *)(uintptr_t)handle;

	if (!handle_is_live(&all->graphs->condition_pool, p))
		return false;
	for (size_t i = 0; i < g->conditions.len; i++)
		if (g->conditions.at[i] == p)
			return true;
	/* Of the graph that the body or child belongs to. */
	return g->owner && condition_is_known(all, g->owner->graph, handle);
}

static bool bodies_are_valid(const struct graph_action *a)
{
	if (a->condition == GRAPH_SWITCH)
		return a->body_len > 0;
	return a->body_len == 1 || (a->condition == GRAPH_IF && a->body_len == 2);
}

/* Bodies are empty at first; those of a copy are copies. */
static enum status own_bodies(struct streams *all, struct graph_node *n,
			      const struct graph_action *a)
{
	if (a->condition > GRAPH_SWITCH || !bodies_are_valid(a) ||
	    (!n->origin && !condition_is_known(all, n->graph, a->handle)))
		return STATUS_INVALID_VALUE;
	n->action.body = calloc(a->body_len, sizeof(*n->action.body));
	n->action.body_len = 0;
	for (u32 i = 0; n->action.body && i < a->body_len; i++) {
		struct graph *g =
			a->body ? graph_copy_locked(all, a->body[i]) : graph_new_locked(all);

		if (!g)
			return STATUS_OUT_OF_MEMORY;
		g->owner = n;
		n->action.body[n->action.body_len++] = g;
	}
	return n->action.body ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}

void graph_node_clear_locked(struct streams *all, struct graph_node *n)
{
	free(n->values);
	free(n->args);
	free(n->data);
	n->values = NULL;
	n->args = NULL;
	n->data = NULL;
	if (n->action.child)
		graph_free_locked(all, n->action.child);
	n->action.child = NULL;
	for (u32 i = 0; i < n->action.body_len; i++)
		graph_free_locked(all, n->action.body[i]);
	if (n->action.type == GRAPH_CONDITIONAL)
		free(n->action.body);
	n->action.body = NULL;
	n->action.body_len = 0;
	if (n->memory)
		graph_memory_release_locked(n->memory);
	n->memory = NULL;
}

/* ---- the whole ---- */

static enum status own(struct streams *all, struct graph_node *n, const struct graph_action *a)
{
	switch (a->type) {
	case GRAPH_KERNEL:
		return own_values(n, a);
	case GRAPH_COPY:
	case GRAPH_FILL:
	case GRAPH_HOST:
	case GRAPH_MEM_OPS:
	case GRAPH_MEM_ALLOC:
	case GRAPH_MEM_FREE:
		return own_data(n, a);
	case GRAPH_EVENT_WAIT:
	case GRAPH_EVENT_RECORD:
		return stream_event_is(all, a->event) ? STATUS_SUCCESS : STATUS_INVALID_HANDLE;
	case GRAPH_CHILD:
		return own_child(all, n, a);
	case GRAPH_CONDITIONAL:
		return own_bodies(all, n, a);
	case GRAPH_EMPTY:
		return STATUS_SUCCESS;
	}
	return STATUS_INVALID_VALUE;
}

enum status graph_node_set_locked(struct streams *all, struct graph_node *n,
				  const struct graph_action *a)
{
	struct graph_node old = *n;
	enum status status =
		a->type == GRAPH_KERNEL && !n->origin ? check_kernel(a) : STATUS_SUCCESS;

	if (status != STATUS_SUCCESS)
		return status;
	n->values = NULL;
	n->args = NULL;
	n->data = NULL;
	n->action = *a;
	n->action.child = NULL;
	n->action.body = NULL;
	n->action.body_len = 0;
	status = own(all, n, a);
	if (status != STATUS_SUCCESS) {
		struct graph_memory *memory = n->memory;

		n->memory = NULL;
		graph_node_clear_locked(all, n);
		n->action = old.action;
		n->values = old.values;
		n->args = old.args;
		n->data = old.data;
		n->memory = memory;
		return status;
	}
	n->action.data = n->data;
	if (a->type == GRAPH_KERNEL) {
		n->action.launch.args = n->args;
		n->action.launch.packed = NULL;
	}
	n->dev_epoch = a->dev && a->dev->streams ? a->dev->streams->epoch : 0;
	old.memory = NULL;
	graph_node_clear_locked(all, &old);
	return STATUS_SUCCESS;
}

/* ---- attributes ---- */

enum status graph_node_attr_get(struct streams *all, const struct graph_node *n, u32 id,
				void *value)
{
	enum status status = STATUS_INVALID_VALUE;

	graph_lock(all);
	if (graph_node_is(all, n) && n->action.type == GRAPH_KERNEL && id < GRAPH_ATTRS) {
		status = STATUS_SUCCESS;
		if (n->attrs)
			memcpy(value, n->attrs + (size_t)id * GRAPH_ATTR_BYTES, GRAPH_ATTR_BYTES);
		else
			memset(value, 0, GRAPH_ATTR_BYTES);
	}
	return graph_unlock(all, status);
}

enum status graph_node_attr_set_locked(struct graph_node *n, u32 id, const void *value)
{
	if (!n->attrs)
		n->attrs = calloc(GRAPH_ATTRS, GRAPH_ATTR_BYTES);
	if (!n->attrs)
		return STATUS_OUT_OF_MEMORY;
	memcpy(n->attrs + (size_t)id * GRAPH_ATTR_BYTES, value, GRAPH_ATTR_BYTES);
	n->attr_set |= 1u << id;
	return STATUS_SUCCESS;
}

void graph_node_window(const struct graph_node *n, struct device_flight *f)
{
	if (n->attrs)
		f->window = window_read(n->attrs + WINDOW_ATTR * GRAPH_ATTR_BYTES);
}

enum status graph_node_attr_set(struct streams *all, struct graph_node *n, u32 id,
				const void *value)
{
	enum status status = STATUS_INVALID_VALUE;

	graph_lock(all);
	if (graph_node_is(all, n) && n->action.type == GRAPH_KERNEL && id < GRAPH_ATTRS)
		status = graph_node_attr_set_locked(n, id, value);
	return graph_unlock(all, status);
}
