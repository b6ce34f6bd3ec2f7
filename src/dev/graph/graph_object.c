/*
 * What graphs keep alive or share: user objects, conditions, memory.
 */
#include "src/dev/graph/graph_int.h"
#include "src/dev/memory/watch.h"

#include <stdlib.h>

/* ---- user objects ---- */

enum status graph_object_create(struct streams *all, void (*destroy)(void *), void *user,
				u32 references, struct graph_object **out)
{
	struct graph_object *o = handle_new(&all->graphs->object_pool);

	if (!o)
		return STATUS_OUT_OF_MEMORY;
	*o = (struct graph_object){NULL, destroy, user, references};
	*out = o;
	return STATUS_SUCCESS;
}

static bool is_object(struct streams *all, const struct graph_object *o)
{
	return handle_is_live(&all->graphs->object_pool, o);
}

enum status graph_object_retain(struct streams *all, struct graph_object *o, u32 n)
{
	graph_lock(all);
	if (!is_object(all, o) || !n || n > INT32_MAX - o->references)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	o->references += n;
	return graph_unlock(all, STATUS_SUCCESS);
}

/* Destructors are the program's code: graph_unlock calls them. */
static void release_object_locked(struct streams *all, struct graph_object *o, u32 n)
{
	o->references -= n;
	if (o->references)
		return;
	handle_retire(&all->graphs->object_pool, o);
	o->next = all->graphs->gone;
	all->graphs->gone = o;
}

enum status graph_unlock(struct streams *all, enum status status)
{
	struct graph_object *o = all->graphs->gone, *next;

	all->graphs->gone = NULL;
	pthread_mutex_unlock(&all->graphs->lock);
	for (; o; o = next) {
		next = o->next;
		o->destroy(o->user);
		handle_free(&all->graphs->object_pool, o);
	}
	return status;
}

enum status graph_object_release(struct streams *all, struct graph_object *o, u32 n)
{
	graph_lock(all);
	if (!is_object(all, o) || !n || n > o->references)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	release_object_locked(all, o, n);
	return graph_unlock(all, STATUS_SUCCESS);
}

static struct graph_kept *kept_of(const struct graph *g, const struct graph_object *o)
{
	for (size_t i = 0; i < g->kept.len; i++)
		if (g->kept.at[i].object == o)
			return &g->kept.at[i];
	return NULL;
}

enum status graph_object_keep(struct streams *all, struct graph *g, struct graph_object *o, u32 n,
			      bool move)
{
	struct graph_kept *k;

	graph_lock(all);
	if (!graph_is(all, g) || !is_object(all, o) || !n || (move && n > o->references))
		return graph_unlock(all, STATUS_INVALID_VALUE);
	k = kept_of(g, o);
	if (k)
		k->count += n;
	else if (!VEC_PUSH(&g->kept, ((struct graph_kept){o, n})))
		return graph_unlock(all, STATUS_OUT_OF_MEMORY);
	if (!move)
		o->references += n;
	return graph_unlock(all, STATUS_SUCCESS);
}

enum status graph_object_drop(struct streams *all, struct graph *g, struct graph_object *o, u32 n)
{
	struct graph_kept *k;

	graph_lock(all);
	k = graph_is(all, g) ? kept_of(g, o) : NULL;
	if (!k || !n || n > k->count)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	k->count -= n;
	if (!k->count)
		*k = g->kept.at[--g->kept.len];
	release_object_locked(all, o, n);
	return graph_unlock(all, STATUS_SUCCESS);
}

bool graph_objects_copy_locked(const struct graph *from, struct graph *to)
{
	for (size_t i = 0; i < from->kept.len; i++) {
		if (!VEC_PUSH(&to->kept, from->kept.at[i]))
			return false;
		from->kept.at[i].object->references += from->kept.at[i].count;
	}
	return true;
}

void graph_objects_free_locked(struct streams *all, struct graph *g)
{
	for (size_t i = 0; i < g->kept.len; i++)
		release_object_locked(all, g->kept.at[i].object, g->kept.at[i].count);
	VEC_FREE(&g->kept);
}

/* ---- conditions ---- */

enum status graph_condition_create(struct streams *all, struct graph *g, u32 initial, bool assign,
				   u64 *handle)
{
	struct graph_condition_item *c;

	graph_lock(all);
	if (!graph_is(all, g) || g->exec)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	c = handle_new(&all->graphs->condition_pool);
	if (!c || !VEC_PUSH(&g->conditions, c)) {
		handle_free(&all->graphs->condition_pool, c);
		return graph_unlock(all, STATUS_OUT_OF_MEMORY);
	}
	*c = (struct graph_condition_item){initial, initial, assign, 1};
	*handle = map_key(c);
	return graph_unlock(all, STATUS_SUCCESS);
}

bool graph_condition_set(struct streams *all, u64 handle, u32 value)
{
	struct graph_condition_item *c = (struct graph_condition_item *)(uintptr_t)handle;

	if (!handle_is_live(&all->graphs->condition_pool, c))
		return false;
	__atomic_store_n(&c->value, value, __ATOMIC_RELEASE);
	return true;
}

/* ---- memory ---- */

static struct graph_memory *memory_find(const struct stream_device *d, u64 address)
{
	struct graph_memory *m = d->memory;

	while (m && m->address != address)
		m = m->next;
	return m;
}

void graph_memory_release_locked(struct graph_memory *m)
{
	struct graph_memory **at;

	if (--m->references)
		return;
	if (!m->device) {
		free(m);
		return;
	}
	at = &m->device->memory;
	while (*at && *at != m)
		at = &(*at)->next;
	if (*at)
		*at = m->next;
	memory_tell_free(&m->device->dev->mem, m->address, m->bytes);
	mem_free(&m->device->dev->mem, m->address);
	free(m);
}

/* Copies of nodes may still refer to it. */
void graph_memory_forget(struct stream_device *d)
{
	graph_lock(d->all);
	while (d->memory) {
		struct graph_memory *m = d->memory;

		d->memory = m->next;
		m->next = NULL;
		m->device = NULL;
	}
	for (struct graph_exec *x = d->memory_execs; x; x = x->memory_next)
		x->memory_device = NULL;
	d->memory_execs = NULL;
	graph_unlock(d->all, STATUS_SUCCESS);
}

void graph_memory_use_locked(struct graph_memory *m, bool used)
{
	m->used = used;
}

static struct graph_memory *memory_new(struct device *d, u64 bytes)
{
	struct graph_memory *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	*m = (struct graph_memory){.device = d->streams, .bytes = bytes, .references = 1};
	m->address = mem_alloc(&d->mem, bytes, 512, MEM_KIND_DEVICE);
	if (!m->address) {
		free(m);
		return NULL;
	}
	m->next = d->streams->memory;
	d->streams->memory = m;
	memory_tell_alloc(&d->mem, m->address, bytes, MEM_KIND_DEVICE);
	return m;
}

static bool is_allocated_by(const struct graph *g, const struct graph_memory *m)
{
	const struct graph_node *n = g->first;

	while (n && (n->memory != m || n->action.type != GRAPH_MEM_ALLOC))
		n = n->next;
	return n != NULL;
}

/* Mark the nodes that come before those in `after`, and these. False: no memory. */
static bool mark_before(struct graph *g, const struct graph_after *after)
{
	VEC(const struct graph_node *) open = {0};
	bool ok = true;

	for (struct graph_node *n = g->first; n; n = n->next)
		n->mark = 0;
	for (size_t i = 0; i < after->len && ok; i++) {
		after->node[i]->mark = 1;
		ok = VEC_PUSH(&open, after->node[i]);
	}
	while (ok && open.len) {
		const struct graph_node *n = open.at[--open.len];

		for (size_t i = 0; i < n->in.len && ok; i++) {
			if (n->in.at[i].node->mark)
				continue;
			n->in.at[i].node->mark = 1;
			ok = VEC_PUSH(&open, n->in.at[i].node);
		}
	}
	VEC_FREE(&open);
	return ok;
}

/*
 * Memory that the graph has freed before this node: allocations one after the other take the same
 * addresses, as on hardware. NULL: there is none that is large enough.
 */
static struct graph_memory *memory_again(struct streams *all, struct graph *g,
					 const struct graph_after *after,
					 const struct graph_action *a)
{
	if (!after || !after->len || !graph_after_is_valid(all, g, after) || !mark_before(g, after))
		return NULL;
	for (struct graph_node *n = g->first; n; n = n->next)
		if (n->mark && n->action.type == GRAPH_MEM_FREE && !n->taken_again && n->memory &&
		    n->memory->device == a->dev->streams && n->memory->bytes >= a->amount &&
		    is_allocated_by(g, n->memory)) {
			n->taken_again = true;
			n->memory->references++;
			return n->memory;
		}
	return NULL;
}

enum status graph_add_alloc(struct streams *all, struct graph *g, const struct graph_after *after,
			    struct graph_action *action, struct graph_node **out, u64 *address)
{
	struct graph_memory *m;
	enum status status;

	graph_lock(all);
	if (!graph_is(all, g) || g->exec || g->owner || !action->amount)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	m = memory_again(all, g, after, action);
	m = m ? m : memory_new(action->dev, action->amount);
	if (!m)
		return graph_unlock(all, STATUS_OUT_OF_MEMORY);
	action->address = *address = m->address;
	status = graph_add_locked(all, g, after, action, out);
	if (status == STATUS_SUCCESS)
		(*out)->memory = m;
	else
		graph_memory_release_locked(m);
	return graph_unlock(all, status);
}

enum status graph_add_free(struct streams *all, struct graph *g, const struct graph_after *after,
			   const struct graph_action *action, struct graph_node **out)
{
	struct graph_memory *m;
	enum status status;
	u32 taken = 0, given = 0;

	graph_lock(all);
	if (!graph_is(all, g) || g->exec || g->owner)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	m = memory_find(action->dev->streams, action->address);
	if (!m)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	for (const struct graph_node *n = g->first; n; n = n->next) {
		taken += n->memory == m && n->action.type == GRAPH_MEM_ALLOC;
		given += n->memory == m && n->action.type == GRAPH_MEM_FREE;
	}
	/* What another graph allocates can be freed once. */
	if (given >= (taken ? taken : 1))
		return graph_unlock(all, STATUS_INVALID_VALUE);
	status = graph_add_locked(all, g, after, action, out);
	if (status == STATUS_SUCCESS) {
		(*out)->memory = m;
		m->references++;
	}
	return graph_unlock(all, status);
}

bool graph_memory_is(const struct device *d, u64 address)
{
	struct streams *all = d->streams->all;
	bool found;

	graph_lock(all);
	found = memory_find(d->streams, address) != NULL;
	graph_unlock(all, STATUS_SUCCESS);
	return found;
}

enum status graph_memory_free(struct device *d, u64 address)
{
	struct streams *all = d->streams->all;
	struct graph_memory *m;

	graph_lock(all);
	m = memory_find(d->streams, address);
	if (!m || !m->used)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	graph_memory_use_locked(m, false);
	return graph_unlock(all, STATUS_SUCCESS);
}
