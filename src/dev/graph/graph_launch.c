/*
 * Launches of executable graphs: nodes of work for their nodes, and conditional nodes, whose bodies
 * are expanded when they begin.
 */
#include "src/dev/graph/graph_int.h"

/* ---- launching ---- */

void graph_drop_flights(struct graph *g)
{
	for (struct graph_node *n = g->first; n; n = n->next) {
		if (n->flight)
			device_flight_drop(n->flight);
		n->flight = NULL;
		if (n->action.child)
			graph_drop_flights(n->action.child);
	}
}

static enum status prepare_node(struct graph_node *n, struct graph_need *need);

/*
 * A conditional node that waits for nothing evaluates its value after the nodes made before it that
 * do not wait either: so they go on a GPU, whose nodes start one after the other, and programs rely
 * on it.
 */
static bool is_lone_condition(const struct graph_node *n)
{
	return n->action.type == GRAPH_CONDITIONAL && !n->in.len;
}

/* Might kernels of a conditional node's bodies launch graphs? */
static bool body_launches(const struct graph_node *n)
{
	bool found = false;

	for (u32 i = 0; i < n->action.body_len; i++)
		for (struct graph_node *k = n->action.body[i]->first; k && !found; k = k->next) {
			struct device_flight *f;

			if (k->action.type == GRAPH_CONDITIONAL)
				found = body_launches(k);
			else if (k->action.type == GRAPH_KERNEL &&
				 device_flight_prepare(&k->action.launch, &f) == STATUS_SUCCESS) {
				found = device_flight_launches_graphs(f);
				device_flight_drop(f);
			}
		}
	return found;
}

static enum status prepare_all(struct graph *g, struct graph_need *need)
{
	enum status status = STATUS_SUCCESS;
	u32 before = 0;

	need->edges++;
	for (struct graph_node *n = g->first; n && status == STATUS_SUCCESS; n = n->next) {
		need->works += 2;
		need->edges += (u32)n->out.len + 3 + (is_lone_condition(n) ? before : 0);
		before++;
		status = prepare_node(n, need);
	}
	return status;
}

/* Kernels: checked again, as parameters may have been changed; their values are copied now. */
static enum status prepare_node(struct graph_node *n, struct graph_need *need)
{
	enum status status;

	if (n->disabled && !n->device)
		return STATUS_SUCCESS;
	if (!graph_node_lives(n))
		return STATUS_INVALID_HANDLE;
	if (n->action.child)
		return prepare_all(n->action.child, need);
	/* Bodies are prepared when they run: they may launch anything. */
	need->launches |= n->action.type == GRAPH_CONDITIONAL && body_launches(n);
	if (n->action.type != GRAPH_KERNEL)
		return STATUS_SUCCESS;
	status = device_flight_prepare(&n->action.launch, &n->flight);
	if (status != STATUS_SUCCESS)
		return status;
	graph_node_window(n, n->flight);
	need->launches |= device_flight_launches_graphs(n->flight);
	/* What kernels may change is prepared when its work runs. */
	if (n->device) {
		device_flight_drop(n->flight);
		n->flight = NULL;
	}
	return STATUS_SUCCESS;
}

enum status graph_prepare_locked(struct graph *g, struct graph_need *need)
{
	enum status status = prepare_all(g, need);

	if (status != STATUS_SUCCESS)
		graph_drop_flights(g);
	return status;
}

static void emit_event(struct graph_node *n, struct work *w)
{
	struct stream_event *e = n->action.event;

	if (!handle_is_live(&w->stream->device->all->event_pool, e))
		return;
	if (n->action.type == GRAPH_EVENT_RECORD) {
		w->kind = WORK_RECORD;
		w->event = e;
		e->recorded = true;
		event_shared_issued(e);
		e->work = w;
		e->serial = w->serial;
	} else if (work_is_pending(e->work, e->serial)) {
		work_join_locked(e->work, w);
	} else {
		order_add(&w->before, &e->known);
	}
}

/* The node of work for a node; n->begin .. n->end. */
static void emit_node_locked(struct graph_node *n, const struct graph_emit *where)
{
	const struct graph_action *a = &n->action;
	struct stream *s = a->dev ? a->dev->streams->legacy : where->home;
	struct work *w = work_take_locked(s, WORK_EMPTY);

	n->begin = n->end = w;
	w->run = where->run;
	if (n->device) {
		w->kind = WORK_EXPAND;
		w->role = EXPAND_KERNEL;
		w->node = n;
	} else if (n->disabled) {
		return;
	} else if (a->type == GRAPH_KERNEL) {
		w->kind = WORK_LAUNCH;
		w->flight = n->flight;
		w->flight->run = where->run;
		w->flight->stream = where->home->id;
		w->flight->place = stream_place_locked(s);
		n->flight = NULL;
	} else if (graph_node_is_call(n)) {
		/* Without memory for a copy of the data it works on the node's own. */
		w->kind = WORK_CALL;
		w->fn = a->fn;
		w->flags = a->flags;
		if (!work_set_data(w, n->data, a->bytes))
			w->data = n->data;
	} else if (a->type == GRAPH_EVENT_RECORD || a->type == GRAPH_EVENT_WAIT) {
		emit_event(n, w);
	} else if (a->type == GRAPH_CHILD) {
		n->end = work_take_locked(s, WORK_EMPTY);
		graph_emit_locked(a->child, n->begin, n->end, where);
	} else if (a->type == GRAPH_CONDITIONAL) {
		w->kind = WORK_EXPAND;
		w->role = EXPAND_NODE;
		w->node = n;
	} else if (n->memory) {
		graph_memory_use_locked(n->memory, a->type == GRAPH_MEM_ALLOC);
	}
}

void graph_emit_locked(struct graph *g, struct work *before, struct work *after,
		       const struct graph_emit *where)
{
	for (struct graph_node *n = g->first; n; n = n->next)
		emit_node_locked(n, where);
	for (struct graph_node *n = g->first; n; n = n->next) {
		if (!n->in.len)
			work_join_locked(before, n->begin);
		for (struct graph_node *m = g->first; m != n && is_lone_condition(n); m = m->next)
			if (!m->in.len)
				work_join_locked(m->end, n->begin);
		if (!n->out.len)
			work_join_locked(n->end, after);
		for (size_t i = 0; i < n->out.len; i++) {
			work_join_locked(n->end, n->out.at[i].node->begin);
			n->end->out->programmatic =
				n->out.at[i].data.type == GRAPH_EDGE_PROGRAMMATIC;
		}
	}
	if (!g->first)
		work_join_locked(before, after);
}

/* Memory that is still in use cannot be allocated again, unless the graph frees it by itself. */
static enum status check_memory(const struct graph_exec *x)
{
	for (const struct graph_node *n = x->copy->first; n; n = n->next) {
		if (n->action.type != GRAPH_MEM_ALLOC || !n->memory->used)
			continue;
		if (!(x->flags & GRAPH_AUTO_FREE))
			return STATUS_INVALID_VALUE;
		graph_memory_use_locked(n->memory, false);
	}
	return STATUS_SUCCESS;
}

/* The chain of the stream gets a beginning and an end, the graph lies between them. */
static enum status enqueue_locked(struct graph_exec *x, struct stream *s,
				  const struct graph_need *need, struct batch *batch)
{
	struct streams *all = s->device->all;
	struct graph_run *run = NULL;
	struct work *begin, *end;
	enum work_kind kind;

	if (!work_reserve_many_locked(all, need->works + 4, need->edges + 8 + 2 * s->device->busy))
		return STATUS_OUT_OF_MEMORY;
	if (need->launches) {
		run = graph_run_new(x, s, NULL);
		if (!run)
			return STATUS_OUT_OF_MEMORY;
	}
	kind = x->expands || run ? WORK_EXPAND : WORK_EMPTY;
	begin = stream_append_locked(s, kind);
	if (begin && work_is_pending(x->last, x->last_serial) && x->last->stream != s)
		work_join_locked(x->last, begin);
	else if (begin && x->last && PL_UNLIKELY(all->order != NULL))
		order_add_range_locked(all, x->first_serial, x->most_serial, &begin->before);
	/* A hold, so that nothing begins before all is in place. */
	if (begin)
		begin->missing++;
	end = begin ? stream_append_locked(s, kind) : NULL;
	if (!end) {
		if (run)
			graph_run_free_locked(run);
		return STATUS_OUT_OF_MEMORY;
	}
	begin->role = EXPAND_BEGIN;
	end->role = EXPAND_END;
	begin->exec = end->exec = x;
	end->run = run;
	if (run)
		run->end = end;
	else
		x->running += x->expands;
	graph_emit_locked(x->copy, begin, end, &(struct graph_emit){s->device->legacy, run});
	x->last = end;
	x->last_serial = end->serial;
	x->first_serial = begin->serial;
	x->most_serial = all->serial;
	if (!--begin->missing)
		work_ready_locked(begin, batch);
	return STATUS_SUCCESS;
}

static enum status host_launch_locked(struct graph_exec *x, struct stream *s, struct batch *batch)
{
	struct streams *all = s->device->all;
	struct graph_need need = {0};
	enum status status = check_memory(x);

	if (status == STATUS_SUCCESS)
		status = graph_prepare_locked(x->copy, &need);
	if (status != STATUS_SUCCESS)
		return status;
	pthread_mutex_lock(&all->lock);
	status = enqueue_locked(x, s, &need, batch);
	pthread_mutex_unlock(&all->lock);
	if (status != STATUS_SUCCESS)
		graph_drop_flights(x->copy);
	else
		graph_bytes_launched_locked(x, s);
	return status;
}

enum status graph_launch(struct graph_exec *x, struct stream *s)
{
	struct streams *all = s->device->all;
	struct batch batch;
	struct work *last = NULL;
	u64 serial = 0;
	enum status status = stream_check_issue(s);

	if (status != STATUS_SUCCESS)
		return status;
	status = stream_capture_forbid(s);
	if (status != STATUS_SUCCESS)
		return status;
	status = s->legacy ? capture_check_legacy(s) : STATUS_SUCCESS;
	if (status != STATUS_SUCCESS)
		return status;
	if (order_is_kept(all))
		order_call();
	batch_init(&batch);
	graph_lock(all);
	status = graph_exec_is(all, x) ? host_launch_locked(x, s, &batch) : STATUS_INVALID_VALUE;
	if (status == STATUS_SUCCESS) {
		last = x->last;
		serial = x->last_serial;
	}
	graph_unlock(all, status);
	work_start(all, &batch, true);
	return last ? stream_issued(s, last, serial) : status;
}

/* ---- conditional nodes ---- */

static void set_initial_locked(const struct graph *g)
{
	for (size_t i = 0; i < g->conditions.len; i++)
		if (g->conditions.at[i]->assign)
			__atomic_store_n(&g->conditions.at[i]->value, g->conditions.at[i]->initial,
					 __ATOMIC_RELEASE);
}

/* The body to run, NULL: none. */
static struct graph *choose_body(const struct graph_node *n)
{
	const struct graph_condition_item *c =
		(const struct graph_condition_item *)(uintptr_t)n->action.handle;
	u32 value = __atomic_load_n(&c->value, __ATOMIC_ACQUIRE);

	if (n->action.condition == GRAPH_SWITCH)
		return value < n->action.body_len ? n->action.body[value] : NULL;
	if (value)
		return n->action.body[0];
	return n->action.body_len > 1 ? n->action.body[1] : NULL;
}

/* Put one run of a body in motion; w, the conditional node's, ends when the body has. */
static enum status run_body_locked(struct graph *body, struct work *w, struct batch *batch)
{
	struct streams *all = w->stream->device->all;
	struct graph_need need = {0};
	struct work *begin, *end;
	enum status status = graph_prepare_locked(body, &need);

	if (status != STATUS_SUCCESS)
		return status;
	pthread_mutex_lock(&all->lock);
	if (!work_reserve_many_locked(all, need.works + 4, need.edges + 8)) {
		pthread_mutex_unlock(&all->lock);
		graph_drop_flights(body);
		return STATUS_OUT_OF_MEMORY;
	}
	begin = work_take_locked(w->stream, WORK_EMPTY);
	end = work_take_locked(w->stream, WORK_EXPAND);
	end->role = EXPAND_BODY_END;
	end->parent = w;
	if (PL_UNLIKELY(all->order != NULL))
		order_add(&begin->before, &w->before);
	graph_emit_locked(body, begin, end, &(struct graph_emit){w->stream, w->run});
	work_ready_locked(begin, batch);
	pthread_mutex_unlock(&all->lock);
	return STATUS_SUCCESS;
}

/* A conditional node begins, or its body has run: run one (again), or end. */
static void step_condition(struct work *w, bool again)
{
	struct stream_device *d = w->stream->device;
	struct streams *all = d->all;
	enum status status = (enum status)__atomic_load_n(&d->error, __ATOMIC_RELAXED);
	struct graph *body = NULL;
	struct batch batch;

	batch_init(&batch);
	graph_lock(all);
	if (status == STATUS_SUCCESS && (!again || w->node->action.condition == GRAPH_WHILE))
		body = choose_body(w->node);
	if (body)
		status = run_body_locked(body, w, &batch);
	graph_unlock(all, status);
	if (body && status == STATUS_SUCCESS) {
		work_start(all, &batch, false);
		return;
	}
	if (body)
		stream_device_fail(d->dev, status);
	work_end(w);
}

void graph_expand(struct work *w)
{
	struct streams *all = w->stream->device->all;
	struct graph_exec *x = w->exec;
	struct graph_run *run;

	switch (w->role) {
	case EXPAND_BEGIN:
		graph_lock(all);
		set_initial_locked(x->copy);
		graph_unlock(all, STATUS_SUCCESS);
		break;
	case EXPAND_NODE:
		step_condition(w, false);
		return;
	case EXPAND_BODY_END:
		if (PL_UNLIKELY(all->order != NULL)) {
			pthread_mutex_lock(&all->lock);
			order_add(&w->parent->before, &w->before);
			pthread_mutex_unlock(&all->lock);
		}
		step_condition(w->parent, true);
		break;
	case EXPAND_KERNEL:
		graph_device_node_run(w);
		return;
	case EXPAND_RUN_END:
		run = w->run;
		work_end(w);
		graph_run_part_over(run);
		return;
	case EXPAND_END:
		/* What kernels launched may go on; then that ends it. */
		if (w->run) {
			graph_run_part_over(w->run);
			return;
		}
		graph_lock(all);
		if (!--x->running && x->dying)
			graph_exec_free_locked(all, x);
		graph_unlock(all, STATUS_SUCCESS);
		break;
	}
	work_end(w);
}
