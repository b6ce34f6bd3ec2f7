/*
 * Graphs: nodes, edges, copies, and the questions programs ask about them.
 */
#include "src/dev/graph/graph_int.h"

#include <stdlib.h>

#define GRAPHS_MAX (1u << 18)
#define NODES_MAX (1u << 23)
#define OBJECTS_MAX (1u << 18)

bool graphs_init(struct streams *all)
{
	struct graphs *s = calloc(1, sizeof(*s));

	all->graphs = s;
	if (!s)
		return false;
	all->expand = graph_expand;
	pthread_mutex_init(&s->lock, NULL);
	handle_pool_init(&s->graph_pool, sizeof(struct graph), GRAPHS_MAX);
	handle_pool_init(&s->node_pool, sizeof(struct graph_node), NODES_MAX);
	handle_pool_init(&s->exec_pool, sizeof(struct graph_exec), GRAPHS_MAX);
	handle_pool_init(&s->object_pool, sizeof(struct graph_object), OBJECTS_MAX);
	handle_pool_init(&s->condition_pool, sizeof(struct graph_condition_item), OBJECTS_MAX);
	handle_pool_init(&s->device_node_pool, sizeof(struct graph_device_node), NODES_MAX);
	return true;
}

void graphs_fini(struct streams *all)
{
	struct graphs *s = all->graphs;

	handle_pool_fini(&s->graph_pool);
	handle_pool_fini(&s->node_pool);
	handle_pool_fini(&s->exec_pool);
	handle_pool_fini(&s->object_pool);
	handle_pool_fini(&s->condition_pool);
	handle_pool_fini(&s->device_node_pool);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

void graph_lock(struct streams *all)
{
	pthread_mutex_lock(&all->graphs->lock);
}

bool graph_is(const struct streams *all, const void *handle)
{
	return handle_is_live(&all->graphs->graph_pool, handle);
}

bool graph_node_is(const struct streams *all, const void *handle)
{
	return handle_is_live(&all->graphs->node_pool, handle);
}

/* ---- graphs ---- */

struct graph *graph_new_locked(struct streams *all)
{
	struct graph *g = handle_new(&all->graphs->graph_pool);

	if (g)
		g->id = ++all->graphs->ids;
	return g;
}

enum status graph_create(struct streams *all, struct graph **out)
{
	graph_lock(all);
	*out = graph_new_locked(all);
	return graph_unlock(all, *out ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY);
}

static void node_free_locked(struct streams *all, struct graph_node *n)
{
	graph_node_clear_locked(all, n);
	graph_device_node_release_locked(all, n);
	VEC_FREE(&n->in);
	VEC_FREE(&n->out);
	free(n->attrs);
	handle_free(&all->graphs->node_pool, n);
}

static void condition_release(struct streams *all, struct graph_condition_item *c)
{
	if (!--c->references)
		handle_free(&all->graphs->condition_pool, c);
}

void graph_free_locked(struct streams *all, struct graph *g)
{
	struct graph_node *n;

	while ((n = g->first)) {
		g->first = n->next;
		node_free_locked(all, n);
	}
	for (size_t i = 0; i < g->conditions.len; i++)
		condition_release(all, g->conditions.at[i]);
	VEC_FREE(&g->conditions);
	graph_objects_free_locked(all, g);
	map_fini(&g->by_origin);
	handle_free(&all->graphs->graph_pool, g);
}

enum status graph_destroy(struct streams *all, struct graph *g)
{
	graph_lock(all);
	if (!graph_is(all, g) || g->owner || g->exec)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	for (struct stream_capture *c = all->graphs->captures; c; c = c->next)
		if (c->graph == g) {
			/* It goes when the capture ends, which comes to nothing. */
			c->invalid = true;
			c->owns_graph = true;
			return graph_unlock(all, STATUS_ILLEGAL_STATE);
		}
	graph_free_locked(all, g);
	return graph_unlock(all, STATUS_SUCCESS);
}

/* ---- nodes and edges ---- */

static bool edge_add(struct graph_node *from, struct graph_node *to,
		     const struct graph_edge_data *data)
{
	struct graph_edge a = {.node = to}, b = {.node = from};

	if (data)
		a.data = b.data = *data;
	if (!VEC_RESERVE(&from->out, 1) || !VEC_RESERVE(&to->in, 1))
		return false;
	from->out.at[from->out.len++] = a;
	to->in.at[to->in.len++] = b;
	return true;
}

static size_t edge_find(const graph_edges *e, const struct graph_node *n)
{
	size_t i = 0;

	while (i < e->len && e->at[i].node != n)
		i++;
	return i;
}

static void edge_drop(graph_edges *e, const struct graph_node *n)
{
	size_t i = edge_find(e, n);

	if (i == e->len)
		return;
	memmove(&e->at[i], &e->at[i + 1], sizeof(*e->at) * (e->len - i - 1));
	e->len--;
}

static struct graph_node *node_new(struct streams *all, struct graph *g)
{
	struct graph_node *n = handle_new(&all->graphs->node_pool);

	if (!n)
		return NULL;
	n->graph = g;
	n->id = ++all->graphs->ids;
	n->prev = g->last;
	if (g->last)
		g->last->next = n;
	else
		g->first = n;
	g->last = n;
	g->len++;
	return n;
}

static void node_remove_locked(struct streams *all, struct graph_node *n)
{
	struct graph *g = n->graph;

	for (size_t i = 0; i < n->in.len; i++)
		edge_drop(&n->in.at[i].node->out, n);
	for (size_t i = 0; i < n->out.len; i++)
		edge_drop(&n->out.at[i].node->in, n);
	if (n->prev)
		n->prev->next = n->next;
	else
		g->first = n->next;
	if (n->next)
		n->next->prev = n->prev;
	else
		g->last = n->prev;
	g->len--;
	node_free_locked(all, n);
}

static bool is_known_edge(const struct graph_edge_data *d)
{
	static const u8 none[sizeof(d->reserved)];

	/*
	 * Kernel ports: default, programmatic, launch order; types: default, programmatic, which
	 * others need.
	 */
	return d->from_port <= 2 && !d->to_port && d->type <= 1 && (!d->from_port || d->type) &&
	       !memcmp(d->reserved, none, sizeof(none));
}

bool graph_after_is_valid(struct streams *all, const struct graph *g,
			  const struct graph_after *after)
{
	if (!after)
		return true;
	if (after->len && !after->node)
		return false;
	for (size_t i = 0; i < after->len; i++) {
		if (!graph_node_is(all, after->node[i]) || after->node[i]->graph != g)
			return false;
		for (size_t k = 0; k < i && i < 64; k++)
			if (after->node[k] == after->node[i])
				return false;
		if (after->data && !is_known_edge(&after->data[i]))
			return false;
	}
	return true;
}

enum status graph_add_locked(struct streams *all, struct graph *g, const struct graph_after *after,
			     const struct graph_action *action, struct graph_node **out)
{
	struct graph_node *n;
	enum status status;

	if (!graph_after_is_valid(all, g, after))
		return STATUS_INVALID_VALUE;
	n = node_new(all, g);
	if (!n)
		return STATUS_OUT_OF_MEMORY;
	status = graph_node_set_locked(all, n, action);
	for (size_t i = 0; status == STATUS_SUCCESS && after && i < after->len; i++)
		if (!edge_add(after->node[i], n, after->data ? &after->data[i] : NULL))
			status = STATUS_OUT_OF_MEMORY;
	if (status == STATUS_SUCCESS)
		*out = n;
	else
		node_remove_locked(all, n);
	return status;
}

enum status graph_add(struct streams *all, struct graph *g, const struct graph_after *after,
		      const struct graph_action *action, struct graph_node **out)
{
	graph_lock(all);
	if (!graph_is(all, g) || g->exec)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	return graph_unlock(all, graph_add_locked(all, g, after, action, out));
}

enum status graph_node_destroy(struct streams *all, struct graph_node *n)
{
	graph_lock(all);
	if (!graph_node_is(all, n) || n->graph->exec)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	/* What memory nodes and conditions hold cannot be copied separately. */
	if (n->action.type == GRAPH_MEM_ALLOC || n->action.type == GRAPH_MEM_FREE)
		return graph_unlock(all, STATUS_NOT_SUPPORTED);
	node_remove_locked(all, n);
	return graph_unlock(all, STATUS_SUCCESS);
}

const struct graph_action *graph_node_action(const struct graph_node *n)
{
	return &n->action;
}

enum status graph_node_change(struct streams *all, struct graph_node *n,
			      const struct graph_action *action)
{
	graph_lock(all);
	if (!graph_node_is(all, n) || n->action.type != action->type)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	return graph_unlock(all, graph_node_set_locked(all, n, action));
}

static bool ends_are_valid(struct streams *all, const struct graph *g,
			   const struct graph_node *from, const struct graph_node *to)
{
	return graph_node_is(all, from) && graph_node_is(all, to) && from != to &&
	       from->graph == g && to->graph == g;
}

enum status graph_link(struct streams *all, struct graph *g, struct graph_node *const *from,
		       struct graph_node *const *to, const struct graph_edge_data *data, size_t len)
{
	size_t i, done = 0;

	graph_lock(all);
	if (!graph_is(all, g) || g->exec || (len && (!from || !to)))
		return graph_unlock(all, STATUS_INVALID_VALUE);
	for (; done < len; done++) {
		if (!ends_are_valid(all, g, from[done], to[done]) ||
		    edge_find(&from[done]->out, to[done]) < from[done]->out.len ||
		    (data && !is_known_edge(&data[done])) ||
		    !edge_add(from[done], to[done], data ? &data[done] : NULL))
			break;
	}
	for (i = 0; done < len && i < done; i++) {
		edge_drop(&from[i]->out, to[i]);
		edge_drop(&to[i]->in, from[i]);
	}
	return graph_unlock(all, done < len ? STATUS_INVALID_VALUE : STATUS_SUCCESS);
}

enum status graph_unlink(struct streams *all, struct graph *g, struct graph_node *const *from,
			 struct graph_node *const *to, size_t len)
{
	graph_lock(all);
	if (!graph_is(all, g) || g->exec || (len && (!from || !to)))
		return graph_unlock(all, STATUS_INVALID_VALUE);
	for (size_t i = 0; i < len; i++)
		if (!ends_are_valid(all, g, from[i], to[i]) ||
		    edge_find(&from[i]->out, to[i]) == from[i]->out.len)
			return graph_unlock(all, STATUS_INVALID_VALUE);
	for (size_t i = 0; i < len; i++) {
		edge_drop(&from[i]->out, to[i]);
		edge_drop(&to[i]->in, from[i]);
	}
	return graph_unlock(all, STATUS_SUCCESS);
}

/* ---- copies ---- */

static bool copy_edges(const struct graph *from, struct graph *to)
{
	for (const struct graph_node *n = from->first; n; n = n->next)
		for (size_t i = 0; i < n->out.len; i++) {
			u64 *a = map_get(&to->by_origin, n->id),
			    *b = map_get(&to->by_origin, n->out.at[i].node->id);

			if (!edge_add((struct graph_node *)(uintptr_t)*a,
				      (struct graph_node *)(uintptr_t)*b, &n->out.at[i].data))
				return false;
		}
	return true;
}

static bool copy_node(struct streams *all, const struct graph_node *n, struct graph *to)
{
	struct graph_node *c = node_new(all, to);

	if (!c)
		return false;
	c->origin = n->id;
	c->disabled = n->disabled;
	c->memory = n->memory;
	if (c->memory)
		c->memory->references++;
	c->device = n->device;
	if (c->device)
		c->device->references++;
	if (n->attrs) {
		c->attrs = malloc(GRAPH_ATTRS * GRAPH_ATTR_BYTES);
		if (!c->attrs)
			return false;
		memcpy(c->attrs, n->attrs, GRAPH_ATTRS * GRAPH_ATTR_BYTES);
		c->attr_set = n->attr_set;
	}
	if (!map_set(&to->by_origin, n->id, map_key(c)) ||
	    graph_node_set_locked(all, c, &n->action) != STATUS_SUCCESS)
		return false;
	c->dev_epoch = n->dev_epoch;
	return true;
}

struct graph *graph_copy_locked(struct streams *all, const struct graph *g)
{
	struct graph *c = graph_new_locked(all);
	bool ok = c != NULL;

	for (const struct graph_node *n = g->first; ok && n; n = n->next)
		ok = copy_node(all, n, c);
	ok = ok && copy_edges(g, c) && graph_objects_copy_locked(g, c);
	for (size_t i = 0; ok && i < g->conditions.len; i++) {
		ok = VEC_PUSH(&c->conditions, g->conditions.at[i]);
		g->conditions.at[i]->references += ok;
	}
	if (ok || !c)
		return c;
	graph_free_locked(all, c);
	return NULL;
}

enum status graph_clone(struct streams *all, const struct graph *g, struct graph **out)
{
	graph_lock(all);
	if (!graph_is(all, g) || g->exec)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	for (const struct graph_node *n = g->first; n; n = n->next)
		if (n->action.type == GRAPH_CONDITIONAL || n->memory || n->device)
			return graph_unlock(all, STATUS_NOT_SUPPORTED);
	*out = graph_copy_locked(all, g);
	return graph_unlock(all, *out ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY);
}

struct graph_node *graph_find_origin_locked(const struct graph *g, u64 id)
{
	u64 *v = map_get(&g->by_origin, id);
	struct graph_node *found = v ? (struct graph_node *)(uintptr_t)*v : NULL;

	for (const struct graph_node *n = g->first; n && !found; n = n->next) {
		if (n->action.child)
			found = graph_find_origin_locked(n->action.child, id);
		for (u32 i = 0; i < n->action.body_len && !found; i++)
			found = graph_find_origin_locked(n->action.body[i], id);
	}
	return found;
}

enum status graph_find_in_clone(struct streams *all, const struct graph_node *original,
				const struct graph *clone, struct graph_node **out)
{
	u64 *v = NULL;

	graph_lock(all);
	if (graph_is(all, clone) && graph_node_is(all, original))
		v = map_get(&clone->by_origin, original->id);
	if (!v || !graph_node_is(all, (void *)(uintptr_t)*v))
		return graph_unlock(all, STATUS_INVALID_VALUE);
	*out = (struct graph_node *)(uintptr_t)*v;
	return graph_unlock(all, STATUS_SUCCESS);
}

/* ---- questions ---- */

/* Fills the lists as far as there is room; counts all. */
struct lister {
	const struct graph_list *out;
	size_t room, len;
};

static void list_one(struct lister *l, struct graph_node *from, struct graph_node *to,
		     const struct graph_edge_data *data)
{
	size_t i = l->len++;

	if (i >= l->room)
		return;
	if (l->out->node)
		l->out->node[i] = from;
	if (l->out->to)
		l->out->to[i] = to;
	if (l->out->data && data)
		l->out->data[i] = *data;
}

static enum status list_end(struct lister *l, bool has_array)
{
	for (size_t i = l->len; has_array && i < l->room; i++) {
		if (l->out->node)
			l->out->node[i] = NULL;
		if (l->out->to)
			l->out->to[i] = NULL;
	}
	*l->out->len = !has_array || l->len < l->room ? l->len : l->room;
	return STATUS_SUCCESS;
}

enum status graph_list(struct streams *all, const struct graph *g, enum graph_which which,
		       const struct graph_list *out)
{
	bool has_array = out->node || out->to;
	struct lister l = {.out = out, .room = has_array && out->len ? *out->len : 0};

	graph_lock(all);
	if (!graph_is(all, g) || !out->len || (which == GRAPH_EDGES && !out->node != !out->to))
		return graph_unlock(all, STATUS_INVALID_VALUE);
	/* Room for none where there are some is a mistake. */
	if (which != GRAPH_EDGES && has_array && !l.room && g->len)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	for (struct graph_node *n = g->first; n; n = n->next) {
		if (which == GRAPH_NODES || (which == GRAPH_ROOTS && !n->in.len))
			list_one(&l, n, NULL, NULL);
		for (size_t i = 0; which == GRAPH_EDGES && i < n->out.len; i++)
			list_one(&l, n, n->out.at[i].node, &n->out.at[i].data);
	}
	return graph_unlock(all, list_end(&l, has_array));
}

enum status graph_node_neighbours(struct streams *all, const struct graph_node *n, bool before,
				  const struct graph_list *out)
{
	struct lister l = {.out = out, .room = out->node && out->len ? *out->len : 0};
	const graph_edges *e;

	graph_lock(all);
	if (!graph_node_is(all, n) || !out->len)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	e = before ? &n->in : &n->out;
	for (size_t i = 0; i < e->len; i++)
		list_one(&l, e->at[i].node, NULL, &e->at[i].data);
	return graph_unlock(all, list_end(&l, out->node != NULL));
}

/* Takes nodes away whose predecessors are gone until nothing is left; mark counts those. */
bool graph_is_acyclic_locked(struct graph *g)
{
	VEC(struct graph_node *) ready = {0};
	bool ok = VEC_RESERVE(&ready, g->len + 1);
	size_t done = 0;

	for (struct graph_node *n = g->first; ok && n; n = n->next) {
		n->mark = (u32)n->in.len;
		if (!n->mark)
			ready.at[ready.len++] = n;
	}
	for (; ok && done < ready.len; done++) {
		const struct graph_node *n = ready.at[done];

		for (size_t i = 0; i < n->out.len; i++)
			if (!--n->out.at[i].node->mark)
				ready.at[ready.len++] = n->out.at[i].node;
	}
	VEC_FREE(&ready);
	return ok && done == g->len;
}
