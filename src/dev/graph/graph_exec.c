/*
 * Executable graphs: checking, instantiating, changing parameters. Their launches are in
 * graph_launch.c.
 */
#include "src/dev/graph/graph_int.h"

bool graph_exec_is(const struct streams *all, const void *handle)
{
	return handle_is_live(&all->graphs->exec_pool, handle);
}

/* ---- instantiating ---- */

static enum status refuse_graph(struct graph_refusal *r, enum graph_verdict why,
				const struct graph_node *node, enum status status)
{
	r->why = why;
	r->node = (struct graph_node *)(uintptr_t)node;
	return status;
}

static bool uses_condition(const struct graph *g, const struct graph_condition_item *c)
{
	for (const struct graph_node *n = g->first; n; n = n->next) {
		if (n->action.type == GRAPH_CONDITIONAL && n->action.handle == map_key(c))
			return true;
		for (u32 i = 0; i < n->action.body_len; i++)
			if (uses_condition(n->action.body[i], c))
				return true;
	}
	return false;
}

/* Source: Driver API, "cuGraphConditionalHandleCreate" and "Conditional node body graphs". */
static bool may_be_in_body(const struct graph_node *n)
{
	enum graph_node_type t = n->action.type;

	return t == GRAPH_KERNEL || t == GRAPH_EMPTY || t == GRAPH_CHILD || t == GRAPH_FILL ||
	       t == GRAPH_COPY || t == GRAPH_CONDITIONAL;
}

static enum status check_graph(struct graph *g, bool in_body, struct graph_refusal *r)
{
	enum status status = STATUS_SUCCESS;

	if (!graph_is_acyclic_locked(g))
		return refuse_graph(r, GRAPH_BAD_STRUCTURE, NULL, STATUS_INVALID_VALUE);
	for (struct graph_node *n = g->first; n && status == STATUS_SUCCESS; n = n->next) {
		if (!graph_node_lives(n))
			return refuse_graph(r, GRAPH_FAILED, n, STATUS_INVALID_HANDLE);
		if (in_body && !may_be_in_body(n))
			return refuse_graph(r, GRAPH_BAD_OPERATION, n, STATUS_NOT_SUPPORTED);
		if (n->action.child)
			status = check_graph(n->action.child, in_body, r);
		for (u32 i = 0; i < n->action.body_len && status == STATUS_SUCCESS; i++)
			status = check_graph(n->action.body[i], true, r);
	}
	for (size_t i = 0; i < g->conditions.len && status == STATUS_SUCCESS; i++)
		if (!uses_condition(g, g->conditions.at[i]))
			status =
				refuse_graph(r, GRAPH_UNUSED_CONDITION, NULL, STATUS_INVALID_VALUE);
	return status;
}

static bool must_expand(const struct graph *g)
{
	for (const struct graph_node *n = g->first; n; n = n->next)
		if (n->action.type == GRAPH_CONDITIONAL || n->device ||
		    (n->action.child && must_expand(n->action.child)))
			return true;
	return false;
}

static bool has_memory(const struct graph *g)
{
	const struct graph_node *n = g->first;

	while (n && n->action.type != GRAPH_MEM_ALLOC)
		n = n->next;
	return n != NULL;
}

static void mark_exec(struct graph *g, struct graph_exec *x)
{
	g->exec = x;
	for (struct graph_node *n = g->first; n; n = n->next) {
		if (n->device)
			n->device->at = n;
		if (n->action.child)
			mark_exec(n->action.child, x);
		for (u32 i = 0; i < n->action.body_len; i++)
			mark_exec(n->action.body[i], x);
	}
}

/* Kernels launch graphs of kernels, copies and fills. */
static enum status check_for_device(const struct graph *g, u32 flags, struct graph_refusal *r)
{
	if (!g->first || flags & GRAPH_AUTO_FREE)
		return refuse_graph(r, GRAPH_FAILED, NULL, STATUS_INVALID_VALUE);
	for (const struct graph_node *n = g->first; n; n = n->next) {
		enum graph_node_type t = n->action.type;
		enum status status;

		if (t != GRAPH_KERNEL && t != GRAPH_COPY && t != GRAPH_FILL && t != GRAPH_CHILD)
			return refuse_graph(r, GRAPH_BAD_OPERATION, n, STATUS_INVALID_VALUE);
		status = n->action.child ? check_for_device(n->action.child, flags, r)
					 : STATUS_SUCCESS;
		if (status != STATUS_SUCCESS)
			return status;
	}
	return STATUS_SUCCESS;
}

/* A node that kernels change is in one executable graph. */
static bool is_device_taken(const struct graph *g)
{
	for (const struct graph_node *n = g->first; n; n = n->next)
		if (n->device && n->device->at)
			return true;
	return false;
}

enum status graph_instantiate(struct streams *all, const struct graph *g, u32 flags,
			      struct graph_refusal *refusal, struct graph_exec **out)
{
	struct graph_exec *x;
	enum status status;

	*refusal = (struct graph_refusal){0};
	status = stream_capture_guard(all);
	if (status != STATUS_SUCCESS)
		return refuse_graph(refusal, GRAPH_FAILED, NULL, status);
	graph_lock(all);
	if (!graph_is(all, g) || g->exec ||
	    flags & ~(u32)(GRAPH_AUTO_FREE | GRAPH_UPLOAD | GRAPH_DEVICE_LAUNCH |
			   GRAPH_NODE_PRIORITY))
		return graph_unlock(
			all, refuse_graph(refusal, GRAPH_FAILED, NULL, STATUS_INVALID_VALUE));
	if (flags & GRAPH_DEVICE_LAUNCH) {
		status = check_for_device(g, flags, refusal);
		if (status != STATUS_SUCCESS)
			return graph_unlock(all, status);
	}
	if (is_device_taken(g))
		return graph_unlock(
			all, refuse_graph(refusal, GRAPH_FAILED, NULL, STATUS_NOT_SUPPORTED));
	/* Nodes have their memory once. */
	if (g->memory_user && graph_exec_is(all, g->memory_user))
		return graph_unlock(
			all, refuse_graph(refusal, GRAPH_FAILED, NULL, STATUS_NOT_SUPPORTED));
	status = check_graph((struct graph *)(uintptr_t)g, false, refusal);
	if (status != STATUS_SUCCESS)
		return graph_unlock(all, status);
	x = handle_new(&all->graphs->exec_pool);
	if (x)
		x->copy = graph_copy_locked(all, g);
	if (!x || !x->copy) {
		handle_free(&all->graphs->exec_pool, x);
		return graph_unlock(
			all, refuse_graph(refusal, GRAPH_FAILED, NULL, STATUS_OUT_OF_MEMORY));
	}
	x->flags = flags;
	x->expands = must_expand(g);
	mark_exec(x->copy, x);
	if (has_memory(g))
		((struct graph *)(uintptr_t)g)->memory_user = x;
	*out = x;
	return graph_unlock(all, STATUS_SUCCESS);
}

void graph_exec_free_locked(struct streams *all, struct graph_exec *x)
{
	graph_free_locked(all, x->copy);
	handle_free(&all->graphs->exec_pool, x);
}

enum status graph_exec_destroy(struct streams *all, struct graph_exec *x)
{
	graph_lock(all);
	if (!graph_exec_is(all, x))
		return graph_unlock(all, STATUS_INVALID_VALUE);
	handle_retire(&all->graphs->exec_pool, x);
	graph_bytes_forget_locked(x);
	x->dying = true;
	if (!x->running)
		graph_exec_free_locked(all, x);
	return graph_unlock(all, STATUS_SUCCESS);
}

enum status graph_exec_flags(const struct streams *all, const struct graph_exec *x, u32 *flags)
{
	if (!graph_exec_is(all, x))
		return STATUS_INVALID_VALUE;
	*flags = x->flags;
	return STATUS_SUCCESS;
}

/* ---- changing ---- */

/* The executable graph's node for one of the original, NULL: none. lock held. */
static struct graph_node *exec_node(struct streams *all, const struct graph_exec *x,
				    const struct graph_node *n)
{
	if (!graph_exec_is(all, x) || !graph_node_is(all, n))
		return NULL;
	return graph_find_origin_locked(x->copy, n->id);
}

static u32 edges_of(const struct graph *g)
{
	u32 n = 0;

	for (const struct graph_node *k = g->first; k; k = k->next)
		n += (u32)k->out.len;
	return n;
}

/* What may not change: the function's device, the kind of a copy, the shape of a child. */
static bool may_become(const struct graph_node *n, const struct graph_action *a)
{
	if (n->action.type != a->type)
		return false;
	if (a->type == GRAPH_CHILD)
		return a->child && n->action.child->len == a->child->len &&
		       edges_of(n->action.child) == edges_of(a->child);
	return n->action.dev == a->dev;
}

enum status graph_exec_change(struct streams *all, struct graph_exec *x, const struct graph_node *n,
			      const struct graph_action *action)
{
	struct graph_node *at;
	enum status status;
	u64 origin;

	graph_lock(all);
	at = exec_node(all, x, n);
	if (!at || !may_become(at, action))
		return graph_unlock(all, STATUS_INVALID_VALUE);
	/* Checked as a new node is. */
	origin = at->origin;
	at->origin = 0;
	status = graph_node_set_locked(all, at, action);
	at->origin = origin;
	if (status == STATUS_SUCCESS && at->action.child)
		mark_exec(at->action.child, x);
	return graph_unlock(all, status);
}

enum status graph_exec_enable(struct streams *all, struct graph_exec *x, const struct graph_node *n,
			      bool on)
{
	struct graph_node *at;

	graph_lock(all);
	at = exec_node(all, x, n);
	if (!at || at->action.type > GRAPH_FILL)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	at->disabled = !on;
	return graph_unlock(all, STATUS_SUCCESS);
}

enum status graph_exec_is_enabled(struct streams *all, const struct graph_exec *x,
				  const struct graph_node *n, bool *on)
{
	const struct graph_node *at;

	graph_lock(all);
	at = exec_node(all, x, n);
	if (!at || at->action.type > GRAPH_FILL)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	*on = !at->disabled;
	return graph_unlock(all, STATUS_SUCCESS);
}
