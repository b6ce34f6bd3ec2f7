/*
 * Updating an executable graph from another graph of the same shape.
 */
#include "src/dev/graph/graph_int.h"

/* Nodes are matched by their order of creation, as are their edges. */
static const struct graph_node *nth(const struct graph *g, u32 i)
{
	const struct graph_node *n = g->first;

	while (n && i--)
		n = n->next;
	return n;
}

static u32 node_index(const struct graph_node *n)
{
	u32 i = 0;

	for (const struct graph_node *p = n->prev; p; p = p->prev)
		i++;
	return i;
}

static enum graph_update fail_update(struct graph_update_result *r, enum graph_update why,
				     const struct graph_node *node, const struct graph_node *from)
{
	r->result = why;
	r->node = (struct graph_node *)(uintptr_t)node;
	r->from = (struct graph_node *)(uintptr_t)from;
	return why;
}

static bool same_edges(const struct graph_node *a, const struct graph_node *b)
{
	if (a->in.len != b->in.len)
		return false;
	for (size_t i = 0; i < a->in.len; i++) {
		bool found = false;

		for (size_t k = 0; k < b->in.len && !found; k++)
			found = node_index(a->in.at[i].node) == node_index(b->in.at[k].node);
		if (!found)
			return false;
	}
	return true;
}

static bool same_bodies(const struct graph_action *a, const struct graph_action *b)
{
	return a->condition == b->condition && a->body_len == b->body_len && a->handle == b->handle;
}

static enum graph_update compare_graphs(const struct graph *x, const struct graph *g,
					struct graph_update_result *r);

static enum graph_update compare_node(const struct graph_node *a, const struct graph_node *b,
				      struct graph_update_result *r)
{
	enum graph_update bad = GRAPH_UPDATE_OK;

	if (a->action.type != b->action.type)
		return fail_update(r, GRAPH_UPDATE_TYPE, b, NULL);
	if (!same_edges(a, b))
		return fail_update(r, GRAPH_UPDATE_TOPOLOGY, b,
				   b->in.len ? b->in.at[b->in.len - 1].node : NULL);
	if (a->action.type == GRAPH_KERNEL && a->action.dev != b->action.dev)
		return fail_update(r, GRAPH_UPDATE_FUNCTION_CHANGE, b, NULL);
	if (a->action.type == GRAPH_MEM_ALLOC || a->action.type == GRAPH_MEM_FREE)
		return a->memory == b->memory ? GRAPH_UPDATE_OK
					      : fail_update(r, GRAPH_UPDATE_NOT_SUPPORTED, b, NULL);
	if (a->action.dev != b->action.dev)
		return fail_update(r, GRAPH_UPDATE_PARAMETERS, b, NULL);
	if (a->action.child)
		return compare_graphs(a->action.child, b->action.child, r);
	if (a->action.type == GRAPH_CONDITIONAL && !same_bodies(&a->action, &b->action))
		return fail_update(r, GRAPH_UPDATE_PARAMETERS, b, NULL);
	for (u32 i = 0; i < a->action.body_len && bad == GRAPH_UPDATE_OK; i++)
		bad = compare_graphs(a->action.body[i], b->action.body[i], r);
	return bad;
}

static enum graph_update compare_graphs(const struct graph *x, const struct graph *g,
					struct graph_update_result *r)
{
	const struct graph_node *a = x->first, *b = g->first;
	enum graph_update bad = GRAPH_UPDATE_OK;

	if (x->len != g->len)
		return fail_update(r, GRAPH_UPDATE_TOPOLOGY,
				   x->len < g->len ? nth(g, x->len) : NULL, NULL);
	for (; a && b && bad == GRAPH_UPDATE_OK; a = a->next, b = b->next)
		bad = compare_node(a, b, r);
	return bad;
}

/* Afterwards the nodes of g are those that address x's. */
static enum status take_over(struct streams *all, struct graph *x, const struct graph *g)
{
	struct graph_node *a = x->first;
	enum status status = STATUS_SUCCESS;

	for (const struct graph_node *b = g->first; a && b; a = a->next, b = b->next) {
		if (a->action.child || a->action.type == GRAPH_CONDITIONAL) {
			if (a->action.child)
				status = take_over(all, a->action.child, b->action.child);
			for (u32 i = 0; i < a->action.body_len && status == STATUS_SUCCESS; i++)
				status = take_over(all, a->action.body[i], b->action.body[i]);
		} else if (!a->memory) {
			status = graph_node_set_locked(all, a, &b->action);
		}
		if (status != STATUS_SUCCESS || !map_set(&x->by_origin, b->id, map_key(a)))
			return status != STATUS_SUCCESS ? status : STATUS_OUT_OF_MEMORY;
		a->origin = b->id;
	}
	return status;
}

enum status graph_exec_update(struct streams *all, struct graph_exec *x, const struct graph *g,
			      struct graph_update_result *result)
{
	enum status status = STATUS_INVALID_VALUE;

	*result = (struct graph_update_result){.result = GRAPH_UPDATE_ERROR};
	graph_lock(all);
	if (graph_exec_is(all, x) && graph_is(all, g) && !g->exec) {
		result->result = GRAPH_UPDATE_OK;
		status = compare_graphs(x->copy, g, result) == GRAPH_UPDATE_OK
				 ? take_over(all, x->copy, g)
				 : STATUS_GRAPH_EXEC_UPDATE_FAILURE;
	}
	return graph_unlock(all, status);
}
