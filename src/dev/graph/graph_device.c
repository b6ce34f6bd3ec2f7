/*
 * Graphs that kernels launch and change.
 *
 * A run is one launch of an executable graph whose kernels may launch others. It is over when its
 * nodes have ended, what it fired has, and then its tails have run one after the other; the run it
 * belongs to waits for that, and of the outermost one the stream. What is fired begins at once:
 * nothing says when.
 *
 * Nodes that kernels change are prepared when their work runs, as they are then. Source: CUDA C++
 * Programming Guide, "Device Graph Launch" and "Device Graph Update"; what is refused and with
 * which numbers, as measured on an H200.
 */
#include "src/dev/graph/graph_int.h"
#include "src/dev/module/nested.h"

#include <stdlib.h>

/* The highest byte of cudaStreamGraphTailLaunch and the others; the rest is zero. */
enum { TAIL = 1, FORGET, SIBLING };
#define HOW_SHIFT 56

/* ---- runs; graphs->lock is held ---- */

struct graph_run *graph_run_new(struct graph_exec *x, struct stream *home, struct graph_run *waits)
{
	struct graph_run *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	*r = (struct graph_run){.exec = x, .home = home, .waits = waits, .pending = 1};
	x->running++;
	return r;
}

u64 graph_device_current(const void *flight)
{
	const struct device_flight *f = flight;

	/* Graphs that kernels cannot launch tell them nothing. */
	return f->run && f->run->exec->flags & GRAPH_DEVICE_LAUNCH ? map_key(f->run->exec) : 0;
}

void graph_run_free_locked(struct graph_run *r)
{
	struct streams *all = r->home->device->all;

	if (r->of_device)
		r->exec->device_runs--;
	if (!--r->exec->running && r->exec->dying)
		graph_exec_free_locked(all, r->exec);
	free(r);
}

static void drop_tails(struct graph_run *r)
{
	struct graph_run *t;

	while ((t = r->tails)) {
		r->tails = t->next;
		graph_run_free_locked(t);
	}
}

/* The nodes of a run that a kernel launched, put in motion. */
static enum status run_start(struct graph_run *r, struct batch *batch)
{
	struct streams *all = r->home->device->all;
	struct graph_need need = {0};
	struct work *begin, *end;
	enum status status = graph_prepare_locked(r->exec->copy, &need);

	if (status != STATUS_SUCCESS)
		return status;
	pthread_mutex_lock(&all->lock);
	if (!work_reserve_many_locked(all, need.works + 4, need.edges + 8)) {
		pthread_mutex_unlock(&all->lock);
		graph_drop_flights(r->exec->copy);
		return STATUS_OUT_OF_MEMORY;
	}
	begin = work_take_locked(r->home, WORK_EXPAND);
	begin->role = EXPAND_BEGIN;
	begin->exec = r->exec;
	if (PL_UNLIKELY(all->order != NULL))
		order_add_begun_locked(all, &begin->before);
	end = work_take_locked(r->home, WORK_EXPAND);
	end->role = EXPAND_RUN_END;
	end->run = r;
	graph_emit_locked(r->exec->copy, begin, end, &(struct graph_emit){r->home, r});
	work_ready_locked(begin, batch);
	pthread_mutex_unlock(&all->lock);
	return STATUS_SUCCESS;
}

/* A part of a run is over. Returns the stream's work that is over with it, NULL: not yet. */
static struct work *part_over(struct graph_run *r, struct batch *batch)
{
	struct stream_device *d = r->home->device;
	struct work *end = NULL;

	while (r && !--r->pending) {
		struct graph_run *up = r->waits, *t;

		if (__atomic_load_n(&d->error, __ATOMIC_RELAXED))
			drop_tails(r);
		t = r->tails;
		if (t) {
			enum status status;

			r->tails = t->next;
			r->pending = 1;
			/* Its own part is over: its graph may be launched again. */
			r->exec->device_runs -= r->of_device;
			r->of_device = false;
			t->is_queued = false;
			status = run_start(t, batch);
			if (status == STATUS_SUCCESS)
				return NULL;
			stream_device_fail(d->dev, status);
			graph_run_free_locked(t);
			continue;
		}
		end = r->end;
		graph_run_free_locked(r);
		r = up;
	}
	return r ? NULL : end;
}

void graph_run_part_over(struct graph_run *r)
{
	struct streams *all = r->home->device->all;
	struct batch batch;
	struct work *end;

	batch_init(&batch);
	graph_lock(all);
	end = part_over(r, &batch);
	graph_unlock(all, STATUS_SUCCESS);
	work_start(all, &batch, false);
	if (end)
		work_end(end);
}

/* ---- launches by kernels ---- */

static struct device_flight *flight_of(const struct exec_call *c)
{
	return c->gang->env->user;
}

static void append_tail(struct graph_run *r, struct graph_run *t)
{
	struct graph_run **at = &r->tails;

	while (*at)
		at = &(*at)->next;
	*at = t;
	t->is_queued = true;
}

/*
 * Does a graph that a kernel launched still wait or run? Only its own tail may be added to it then.
 */
static bool is_taken(const struct graph_run *now, const struct graph_exec *x, bool as_tail)
{
	for (const struct graph_run *t = now->tails; t; t = t->next)
		if (t->exec == x)
			return true;
	if (as_tail && now->exec == x)
		return x->device_runs > (now->of_device ? 1u : 0u);
	return x->device_runs != 0 || now->exec == x;
}

static enum status device_launch_locked(struct graph_run *now, struct graph_exec *x, u32 how,
					struct batch *batch)
{
	struct graph_run *r, *waits = how == SIBLING && now->waits ? now->waits : now;
	enum status status;

	if (is_taken(now, x, how == TAIL))
		return STATUS_INVALID_VALUE;
	r = graph_run_new(x, now->home, waits);
	if (!r)
		return STATUS_OUT_OF_MEMORY;
	r->of_device = true;
	x->device_runs++;
	if (how == TAIL) {
		append_tail(now, r);
		return STATUS_SUCCESS;
	}
	status = run_start(r, batch);
	if (status == STATUS_SUCCESS)
		waits->pending++;
	else
		graph_run_free_locked(r);
	return status;
}

/* cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t how) */
enum fault_kind graph_device_launch(struct exec_call *c)
{
	struct device_flight *f = flight_of(c);
	struct streams *all = f->dev->streams->all;
	struct graph_exec *x = (struct graph_exec *)(uintptr_t)exec_call_argument(c, 0);
	u64 stream = exec_call_argument(c, 1);
	u32 how = stream & (((u64)1 << HOW_SHIFT) - 1) ? 0 : (u32)(stream >> HOW_SHIFT);
	enum status status;
	struct batch batch;

	batch_init(&batch);
	graph_lock(all);
	if (x && (!graph_exec_is(all, x) || !(x->flags & GRAPH_DEVICE_LAUNCH))) {
		graph_unlock(all, STATUS_SUCCESS);
		return exec_call_fail(
			c, FAULT_ILLEGAL_ADDRESS,
			"cudaGraphLaunch: 0x%llx is not a graph for launches by kernels",
			(unsigned long long)(uintptr_t)x);
	}
	if (!x || !f->run || how < TAIL || how > SIBLING)
		status = STATUS_INVALID_VALUE;
	else
		status = device_launch_locked(f->run, x, how, &batch);
	graph_unlock(all, status);
	work_start(all, &batch, false);
	exec_call_return(c, status);
	return FAULT_NONE;
}

/* ---- nodes that kernels change ---- */

/* The node of the executable graph, NULL: it is not one. lock held. */
static struct graph_node *node_of(struct streams *all, u64 handle)
{
	struct graph_device_node *d = (struct graph_device_node *)(uintptr_t)handle;

	return handle_is_live(&all->graphs->device_node_pool, d) ? d->at : NULL;
}

enum status graph_device_node_make(struct streams *all, struct graph_node *n, bool on)
{
	struct graph_device_node *d;

	graph_lock(all);
	if (!graph_node_is(all, n) || n->action.type != GRAPH_KERNEL)
		return graph_unlock(all, STATUS_INVALID_VALUE);
	/* What was once can never be undone. */
	if (n->device || !on)
		return graph_unlock(all, n->device && !on ? STATUS_NOT_SUPPORTED : STATUS_SUCCESS);
	d = handle_new(&all->graphs->device_node_pool);
	if (d)
		d->references = 1;
	n->device = d;
	return graph_unlock(all, d ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY);
}

u64 graph_device_node_handle(const struct graph_node *n)
{
	return map_key(n->device);
}

void graph_device_node_release_locked(struct streams *all, struct graph_node *n)
{
	struct graph_device_node *d = n->device;

	if (!d)
		return;
	if (d->at == n)
		d->at = NULL;
	if (!--d->references)
		handle_free(&all->graphs->device_node_pool, d);
	n->device = NULL;
}

/* cudaGraphKernelNodeField */
enum field { FIELD_NONE, FIELD_GRID, FIELD_PARAM, FIELD_ENABLED };

/* What one call, or one piece of a list, changes. */
struct change {
	u64 node;
	enum field field;
	u32 grid[3];
	bool on;
	const u8 *value;
	u64 offset, bytes;
};

static enum status change_locked(struct streams *all, const struct change *x)
{
	struct graph_node *n = node_of(all, x->node);
	u64 most;

	if (!n)
		return STATUS_INVALID_VALUE;
	most = n->action.launch.kernel->param_bytes;
	switch (x->field) {
	case FIELD_PARAM:
		if (!x->value || x->offset > most || x->bytes > most - x->offset)
			return STATUS_INVALID_VALUE;
		memcpy(n->values + x->offset, x->value, x->bytes);
		return STATUS_SUCCESS;
	case FIELD_GRID:
		if (!x->grid[0] || !x->grid[1] || !x->grid[2])
			return STATUS_INVALID_VALUE;
		memcpy(n->action.launch.grid, x->grid, sizeof(x->grid));
		return STATUS_SUCCESS;
	case FIELD_ENABLED:
		n->disabled = !x->on;
		return STATUS_SUCCESS;
	default:
		return STATUS_INVALID_VALUE;
	}
}

static enum fault_kind change(struct exec_call *c, const struct change *x)
{
	struct streams *all = flight_of(c)->dev->streams->all;

	graph_lock(all);
	exec_call_return(c, (u64)graph_unlock(all, change_locked(all, x)));
	return FAULT_NONE;
}

static const u8 *device_value_at(const struct exec_call *c, u64 address, u64 bytes)
{
	const u8 *at = bytes ? exec_call_memory(c, address, bytes, NULL) : NULL;

	if (at)
		exec_call_tell(c, ACCESS_LOAD, address, bytes);
	return at;
}

/* cudaError_t cudaGraphKernelNodeSetParam(node, size_t offset, const void *value, size_t size) */
enum fault_kind graph_device_set_param(struct exec_call *c)
{
	u64 bytes = exec_call_argument(c, 3);

	return change(c,
		      &(struct change){.node = exec_call_argument(c, 0),
				       .field = FIELD_PARAM,
				       .offset = exec_call_argument(c, 1),
				       .value = device_value_at(c, exec_call_argument(c, 2), bytes),
				       .bytes = bytes});
}

/* cudaError_t cudaGraphKernelNodeSetEnabled(node, bool on) */
enum fault_kind graph_device_set_enabled(struct exec_call *c)
{
	return change(c, &(struct change){.node = exec_call_argument(c, 0),
					  .field = FIELD_ENABLED,
					  .on = (exec_call_argument(c, 1) & 0xff) != 0});
}

/* cudaError_t cudaGraphKernelNodeSetGridDim(node, dim3 grid) */
enum fault_kind graph_device_set_grid(struct exec_call *c)
{
	struct change x = {.node = exec_call_argument(c, 0), .field = FIELD_GRID};

	memcpy(x.grid, c->stack->args + c->ext->value[c->ext->rets + 1].at, sizeof(x.grid));
	return change(c, &x);
}

/* cudaGraphKernelNodeUpdate, 40 bytes. */
struct node_update {
	u64 node;
	u32 field, pad;
	union {
		u32 grid[3];
		struct {
			u64 value, offset, bytes;
		} param;
		u32 on;
	} u;
};

/* cudaError_t cudaGraphKernelNodeUpdatesApply(const cudaGraphKernelNodeUpdate *list, size_t n) */
enum fault_kind graph_device_apply(struct exec_call *c)
{
	struct streams *all = flight_of(c)->dev->streams->all;
	u64 at = exec_call_argument(c, 0), n = exec_call_argument(c, 1);
	enum status status = STATUS_SUCCESS;

	graph_lock(all);
	for (u64 i = 0; i < n && status == STATUS_SUCCESS; i++) {
		const u8 *from = exec_call_memory(c, at + i * sizeof(struct node_update),
						  sizeof(struct node_update), NULL);
		struct node_update u;
		struct change x;

		if (!from) {
			status = STATUS_INVALID_VALUE;
			break;
		}
		exec_call_tell(c, ACCESS_LOAD, at + i * sizeof(u), sizeof(u));
		memcpy(&u, from, sizeof(u));
		x = (struct change){.node = u.node, .field = (enum field)u.field};
		if (x.field == FIELD_GRID)
			memcpy(x.grid, u.u.grid, sizeof(x.grid));
		x.on = u.u.on != 0;
		if (x.field == FIELD_PARAM) {
			x.value = device_value_at(c, u.u.param.value, u.u.param.bytes);
			x.offset = u.u.param.offset;
			x.bytes = u.u.param.bytes;
		}
		status = change_locked(all, &x);
	}
	graph_unlock(all, status);
	exec_call_return(c, (u64)status);
	return FAULT_NONE;
}

/* ---- running such a node ---- */

void graph_device_node_run(struct work *w)
{
	struct streams *all = w->stream->device->all;
	struct graph_node *n = w->node;
	struct batch batch = {w, &w->next};
	enum status status =
		(enum status)__atomic_load_n(&w->stream->device->error, __ATOMIC_RELAXED);
	bool is_on;

	graph_lock(all);
	is_on = status == STATUS_SUCCESS && !n->disabled;
	if (is_on)
		status = device_flight_prepare(&n->action.launch, &w->flight);
	if (is_on && status == STATUS_SUCCESS)
		graph_node_window(n, w->flight);
	graph_unlock(all, status);
	if (!is_on || status != STATUS_SUCCESS) {
		if (is_on)
			stream_device_fail(w->stream->device->dev, status);
		work_end(w);
		return;
	}
	w->flight->run = w->run;
	w->kind = WORK_LAUNCH;
	w->next = NULL;
	work_start(all, &batch, false);
}
