/*
 * Capture: what is issued to a stream becomes nodes of a graph.
 *
 * A capture begins in one stream and spreads to others that wait for its events. Each stream of it
 * knows the nodes that its next one comes after; an event recorded in it remembers them as they
 * were. Source: CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture"; Driver API,
 * "cuStreamBeginCapture", "cuThreadExchangeStreamCaptureMode".
 */
#include "src/dev/graph/graph_int.h"

#include <stdlib.h>

bool stream_is_capturing(const struct stream *s)
{
	return __atomic_load_n(&s->capture, __ATOMIC_ACQUIRE) != NULL;
}

/* ---- what the next node comes after ---- */

static bool ends_add(capture_ends *e, struct graph_node *n, const struct graph_edge_data *data)
{
	struct graph_edge_data none = {0};

	for (size_t i = 0; i < e->node.len; i++)
		if (e->node.at[i] == n)
			return true;
	return VEC_RESERVE(&e->data, 1) && VEC_PUSH(&e->node, n) &&
	       VEC_PUSH(&e->data, data ? *data : none);
}

static bool ends_set(capture_ends *to, const capture_ends *from)
{
	bool ok = true;

	to->node.len = to->data.len = 0;
	for (size_t i = 0; i < from->node.len && ok; i++)
		ok = ends_add(to, from->node.at[i], &from->data.at[i]);
	return ok;
}

static void ends_free(capture_ends *e)
{
	VEC_FREE(&e->node);
	VEC_FREE(&e->data);
}

static struct graph_after after_of(const capture_ends *e)
{
	return (struct graph_after){e->node.at, e->data.at, e->node.len};
}

/* ---- beginning ---- */

static void join_capture(struct stream_capture *c, struct stream *s)
{
	s->ends.node.len = s->ends.data.len = 0;
	s->capture_next = c->streams;
	c->streams = s;
	__atomic_store_n(&s->capture, c, __ATOMIC_RELEASE);
}

static struct stream_capture *capture_new(struct streams *all, struct stream *s,
					  enum capture_mode mode, struct graph *into)
{
	struct stream_capture *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->graph = into ? into : graph_new_locked(all);
	if (!c->graph) {
		free(c);
		return NULL;
	}
	c->owns_graph = !into;
	c->mode = mode;
	c->id = ++all->graphs->ids;
	c->first_node = c->id;
	c->thread = pthread_self();
	c->origin = s;
	c->next = all->graphs->captures;
	all->graphs->captures = c;
	__atomic_fetch_add(&all->captures, 1, __ATOMIC_RELEASE);
	return c;
}

enum status stream_capture_begin(struct stream *s, enum capture_mode mode, struct graph *into,
				 const struct graph_after *after)
{
	struct streams *all = s->device->all;
	struct stream_capture *c;
	enum status status = stream_check_issue(s);

	if (status != STATUS_SUCCESS)
		return status;
	if (mode > CAPTURE_RELAXED)
		return STATUS_INVALID_VALUE;
	if (s->legacy)
		return STATUS_STREAM_CAPTURE_UNSUPPORTED;
	graph_lock(all);
	if (s->capture)
		return graph_unlock(all, STATUS_ILLEGAL_STATE);
	if (into && (!graph_is(all, into) || into->exec || !graph_after_is_valid(all, into, after)))
		return graph_unlock(all, STATUS_INVALID_VALUE);
	c = capture_new(all, s, mode, into);
	if (!c)
		return graph_unlock(all, STATUS_OUT_OF_MEMORY);
	join_capture(c, s);
	for (size_t i = 0; after && i < after->len; i++)
		if (!ends_add(&s->ends, after->node[i], after->data ? &after->data[i] : NULL))
			c->invalid = true;
	return graph_unlock(all, STATUS_SUCCESS);
}

/* ---- ending ---- */

/* Every node that nothing comes after has to be an end of the stream where the capture began. */
static bool is_joined(const struct stream_capture *c)
{
	const capture_ends *e = &c->origin->ends;

	for (const struct graph_node *n = c->graph->first; n; n = n->next) {
		size_t i = 0;

		if (n->id < c->first_node || n->out.len)
			continue;
		while (i < e->node.len && e->node.at[i] != n)
			i++;
		if (i == e->node.len)
			return false;
	}
	return true;
}

static void finish_capture(struct streams *all, struct stream_capture *c)
{
	struct stream_capture **at = &all->graphs->captures;
	struct stream *s;

	while ((s = c->streams)) {
		c->streams = s->capture_next;
		__atomic_store_n(&s->capture, NULL, __ATOMIC_RELEASE);
	}
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	__atomic_fetch_sub(&all->captures, 1, __ATOMIC_RELEASE);
	free(c);
}

enum status stream_capture_end(struct stream *s, struct graph **out)
{
	struct streams *all = s->device->all;
	struct stream_capture *c;
	enum status status = STATUS_SUCCESS;

	*out = NULL;
	graph_lock(all);
	c = s->capture;
	if (!c)
		return graph_unlock(all, STATUS_ILLEGAL_STATE);
	if (c->origin != s) {
		c->invalid = true;
		return graph_unlock(all, STATUS_STREAM_CAPTURE_UNMATCHED);
	}
	/* The wrong thread ends it too, in vain. */
	if (c->mode != CAPTURE_RELAXED && !pthread_equal(c->thread, pthread_self()))
		status = STATUS_STREAM_CAPTURE_WRONG_THREAD;
	else if (c->invalid)
		status = STATUS_STREAM_CAPTURE_INVALIDATED;
	else if (!is_joined(c))
		status = STATUS_STREAM_CAPTURE_UNJOINED;
	if (status == STATUS_SUCCESS)
		*out = c->graph;
	else if (c->owns_graph)
		graph_free_locked(all, c->graph);
	finish_capture(all, c);
	return graph_unlock(all, status);
}

/* ---- in between ---- */

static enum status invalidate(struct stream_capture *c, enum status error)
{
	if (c->invalid)
		return STATUS_STREAM_CAPTURE_INVALIDATED;
	c->invalid = true;
	return error;
}

enum status capture_forbid(struct stream *s, enum status error)
{
	struct streams *all = s->device->all;

	graph_lock(all);
	return graph_unlock(all, s->capture ? invalidate(s->capture, error) : STATUS_SUCCESS);
}

enum status stream_capture_forbid(struct stream *s)
{
	return PL_UNLIKELY(stream_is_capturing(s))
		       ? capture_forbid(s, STATUS_STREAM_CAPTURE_UNSUPPORTED)
		       : STATUS_SUCCESS;
}

/* A programmatic launch behind a kernel becomes a programmatic edge. */
static void soften_ends(capture_ends *e)
{
	if (e->node.len == 1 && e->node.at[0]->action.type == GRAPH_KERNEL)
		e->data.at[0] = (struct graph_edge_data){.from_port = GRAPH_PORT_PROGRAMMATIC,
							 .type = GRAPH_EDGE_PROGRAMMATIC};
}

enum status capture_add(struct stream *s, const struct graph_action *action)
{
	return capture_add_kernel(s, action, NULL);
}

enum status capture_add_kernel(struct stream *s, const struct graph_action *action,
			       const struct access_window *window)
{
	u8 value[GRAPH_ATTR_BYTES] = {0};
	struct streams *all = s->device->all;
	struct stream_capture *c;
	struct graph_after after;
	struct graph_node *n;
	enum status status;

	graph_lock(all);
	c = s->capture;
	if (!c || c->invalid)
		return graph_unlock(all,
				    c ? STATUS_STREAM_CAPTURE_INVALIDATED : STATUS_ILLEGAL_STATE);
	if (action->type == GRAPH_KERNEL && action->launch.programmatic)
		soften_ends(&s->ends);
	after = after_of(&s->ends);
	status = graph_add_locked(all, c->graph, &after, action, &n);
	if (status != STATUS_SUCCESS)
		return graph_unlock(all, invalidate(c, status));
	s->ends.node.len = s->ends.data.len = 0;
	if (window)
		window_write(window, value);
	if (!ends_add(&s->ends, n, NULL) ||
	    (window && graph_node_attr_set_locked(n, WINDOW_ATTR, value) != STATUS_SUCCESS))
		status = invalidate(c, STATUS_OUT_OF_MEMORY);
	return graph_unlock(all, status);
}

enum status capture_record(struct stream_event *e, struct stream *s, u32 flags)
{
	struct graph_action record = {.type = GRAPH_EVENT_RECORD, .event = e};
	struct streams *all = s->device->all;
	struct stream_capture *c;

	if (flags & STREAM_EVENT_EXTERNAL)
		return capture_add(s, &record);
	graph_lock(all);
	c = s->capture;
	if (!c || c->invalid)
		return graph_unlock(all,
				    c ? STATUS_STREAM_CAPTURE_INVALIDATED : STATUS_ILLEGAL_STATE);
	if (!ends_set(&e->ends, &s->ends))
		return graph_unlock(all, invalidate(c, STATUS_OUT_OF_MEMORY));
	__atomic_store_n(&e->capture_id, c->id, __ATOMIC_RELEASE);
	return graph_unlock(all, STATUS_SUCCESS);
}

static struct stream_capture *find_capture(const struct streams *all, u64 id)
{
	struct stream_capture *c = all->graphs->captures;

	while (c && c->id != id)
		c = c->next;
	return c;
}

/* The event of a capture, c, that is still going on: the stream takes part from now on. */
static enum status wait_captured(struct stream_capture *c, struct stream *s,
				 const struct stream_event *e)
{
	if (c->invalid)
		return STATUS_STREAM_CAPTURE_INVALIDATED;
	if (s->legacy)
		return invalidate(c, STATUS_STREAM_CAPTURE_IMPLICIT);
	if (s->capture && s->capture != c) {
		s->capture->invalid = true;
		return invalidate(c, STATUS_STREAM_CAPTURE_MERGE);
	}
	if (!s->capture)
		join_capture(c, s);
	for (size_t i = 0; i < e->ends.node.len; i++)
		if (!ends_add(&s->ends, e->ends.node.at[i], &e->ends.data.at[i]))
			return invalidate(c, STATUS_OUT_OF_MEMORY);
	return STATUS_SUCCESS;
}

enum status capture_wait_event(struct stream *s, struct stream_event *e, u32 flags)
{
	struct graph_action wait = {.type = GRAPH_EVENT_WAIT, .event = e};
	struct streams *all = s->device->all;
	struct stream_capture *c;

	if (flags & STREAM_EVENT_EXTERNAL && s->capture)
		return capture_add(s, &wait);
	graph_lock(all);
	c = e->capture_id ? find_capture(all, e->capture_id) : NULL;
	if (c)
		return graph_unlock(all, wait_captured(c, s, e));
	/* It was captured, but that is over. */
	if (!s->capture)
		return graph_unlock(all, STATUS_CAPTURED_EVENT);
	return graph_unlock(all, invalidate(s->capture, STATUS_STREAM_CAPTURE_ISOLATION));
}

/* ---- the default stream, and calls that may invalidate a capture ---- */

/*
 * Is a stream captured that the default stream would wait for? A query does not invalidate it.
 */
static enum status check_legacy(struct stream *s, bool invalidates)
{
	struct streams *all = s->device->all;
	enum status status = STATUS_SUCCESS;

	if (!__atomic_load_n(&all->captures, __ATOMIC_ACQUIRE))
		return status;
	graph_lock(all);
	for (struct stream_capture *c = all->graphs->captures; c; c = c->next)
		for (const struct stream *m = c->streams; m; m = m->capture_next)
			if (m->device == s->device && !(m->flags & STREAM_NON_BLOCKING)) {
				c->invalid |= invalidates;
				status = STATUS_STREAM_CAPTURE_IMPLICIT;
			}
	return graph_unlock(all, status);
}

enum status capture_check_legacy(struct stream *s)
{
	return check_legacy(s, true);
}

enum capture_mode stream_capture_mode_exchange(struct streams *all, enum capture_mode mode)
{
	enum capture_mode *at = stream_thread_mode(all), old = CAPTURE_GLOBAL;

	if (at) {
		old = *at;
		*at = mode;
	}
	return old;
}

enum status stream_capture_guard(struct streams *all)
{
	const enum capture_mode *at;
	enum status status = STATUS_SUCCESS;

	if (!__atomic_load_n(&all->captures, __ATOMIC_ACQUIRE))
		return status;
	at = stream_thread_mode(all);
	if (at && *at == CAPTURE_RELAXED)
		return status;
	graph_lock(all);
	for (struct stream_capture *c = all->graphs->captures; c; c = c->next) {
		bool mine = pthread_equal(c->thread, pthread_self()) && c->mode != CAPTURE_RELAXED,
		     global = c->mode == CAPTURE_GLOBAL && (!at || *at == CAPTURE_GLOBAL);

		if (mine || global) {
			c->invalid = true;
			status = STATUS_STREAM_CAPTURE_UNSUPPORTED;
		}
	}
	return graph_unlock(all, status);
}

enum status stream_capture_forbid_all(struct streams *all)
{
	enum status status = STATUS_SUCCESS;

	if (!__atomic_load_n(&all->captures, __ATOMIC_ACQUIRE))
		return status;
	graph_lock(all);
	for (struct stream_capture *c = all->graphs->captures; c; c = c->next) {
		c->invalid = true;
		status = STATUS_STREAM_CAPTURE_UNSUPPORTED;
	}
	return graph_unlock(all, status);
}

enum status device_capture_guard(const struct device *d)
{
	return d->streams ? stream_capture_guard(d->streams->all) : STATUS_SUCCESS;
}

/* ---- asking ---- */

enum status stream_capture_info(struct stream *s, struct capture_info *out)
{
	struct streams *all = s->device->all;
	const struct stream_capture *c;
	enum status status = STATUS_SUCCESS;

	*out = (struct capture_info){0};
	if (s->legacy)
		return check_legacy(s, false);
	graph_lock(all);
	c = s->capture;
	if (c) {
		out->state = c->invalid ? CAPTURE_INVALIDATED : CAPTURE_ACTIVE;
		out->id = c->id;
	}
	if (c && !c->invalid) {
		out->graph = c->graph;
		out->after = s->ends.node.at;
		out->data = s->ends.data.at;
		out->after_len = s->ends.node.len;
	}
	return graph_unlock(all, status);
}

enum status stream_capture_update(struct stream *s, const struct graph_after *after, bool set)
{
	struct streams *all = s->device->all;
	struct stream_capture *c;

	graph_lock(all);
	c = s->capture;
	if (!c || c->invalid)
		return graph_unlock(all,
				    c ? STATUS_STREAM_CAPTURE_INVALIDATED : STATUS_ILLEGAL_STATE);
	if (!graph_after_is_valid(all, c->graph, after))
		return graph_unlock(all, STATUS_INVALID_VALUE);
	if (set)
		s->ends.node.len = s->ends.data.len = 0;
	for (size_t i = 0; i < after->len; i++)
		if (!ends_add(&s->ends, after->node[i], after->data ? &after->data[i] : NULL))
			return graph_unlock(all, invalidate(c, STATUS_OUT_OF_MEMORY));
	return graph_unlock(all, STATUS_SUCCESS);
}

/* ---- what goes while a capture is going on ---- */

void capture_leave(struct stream *s)
{
	struct streams *all = s->device->all;
	struct stream_capture *c;
	struct stream **at;

	graph_lock(all);
	c = s->capture;
	/* What it was given stays in the graph; where the capture began it has to stay. */
	if (c) {
		for (at = &c->streams; *at != s; at = &(*at)->capture_next)
			;
		*at = s->capture_next;
		__atomic_store_n(&s->capture, NULL, __ATOMIC_RELEASE);
		/* It can no longer be ended. */
		if (c->origin == s) {
			if (c->owns_graph)
				graph_free_locked(all, c->graph);
			finish_capture(all, c);
		}
	}
	ends_free(&s->ends);
	graph_unlock(all, STATUS_SUCCESS);
}

void capture_forget_event(struct stream_event *e)
{
	struct streams *all = e->device->all;

	graph_lock(all);
	e->capture_id = 0;
	ends_free(&e->ends);
	graph_unlock(all, STATUS_SUCCESS);
}

enum status capture_invalidate(struct stream_event *e)
{
	struct streams *all = e->device->all;
	struct stream_capture *c;

	graph_lock(all);
	c = find_capture(all, e->capture_id);
	/* Of a capture that came to nothing there is nothing to tell. */
	if (!c || c->invalid)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	c->invalid = true;
	return graph_unlock(all, STATUS_CAPTURED_EVENT);
}
