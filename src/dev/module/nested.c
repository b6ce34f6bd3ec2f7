/*
 * Work that kernels launch: enqueueing it, and running it when their grid has ended.
 */
#include "src/dev/module/nested_int.h"
#include "src/lower/lower.h"
#include "src/sched/debug.h"

#include "src/dev/device_int.h"

#include <stdlib.h>

#define DEPTH_MAX 24u
#define BUFFER_BYTES 4096u
#define TAIL_STREAM 3u /* cudaStreamTailLaunch */

struct list {
	struct item *first, *last;
};

/* Where a thread puts the parameters of a launch, until it launches. */
struct buffer {
	struct buffer *next;
	u64 address;
	u64 function;
	u32 grid[3], block[3], shared;
};

struct nested {
	struct device_flight *root;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	struct list recorded, tails; /* by the grid that runs */
	struct list pending;
	struct buffer *buffers;
	u64 handles;  /* of streams and events: numbers */
	u64 launches; /* so far; atomic */
	u32 last_error;
};

/* ---- lists ---- */

static void list_append(struct list *l, struct item *i)
{
	i->next = NULL;
	if (l->last)
		l->last->next = i;
	else
		l->first = i;
	l->last = i;
}

static struct item *pop(struct list *l)
{
	struct item *i = l->first;

	if (i) {
		l->first = i->next;
		if (!l->first)
			l->last = NULL;
	}
	return i;
}

/* Put all of `front` before what `l` has. */
static void put_before(struct list *l, struct list *front)
{
	if (!front->first)
		return;
	front->last->next = l->first;
	l->first = front->first;
	if (!l->last)
		l->last = front->last;
	*front = (struct list){0};
}

static void drop_list(struct list *l)
{
	struct item *i;

	while ((i = pop(l))) {
		if (i->flight)
			device_flight_drop(i->flight);
		free(i);
	}
}

/* ---- families ---- */

static struct nested *family_of(struct device_flight *f)
{
	struct nested *n;

	pthread_mutex_lock(&f->dev->lock);
	n = f->family;
	if (!n) {
		n = calloc(1, sizeof(*n));
		if (n) {
			n->root = f;
			pthread_mutex_init(&n->lock, NULL);
			pthread_cond_init(&n->ended, NULL);
		}
		f->family = n;
	}
	pthread_mutex_unlock(&f->dev->lock);
	return n;
}

static void family_free(struct nested *n)
{
	struct buffer *b;

	drop_list(&n->recorded);
	drop_list(&n->tails);
	drop_list(&n->pending);
	while ((b = n->buffers)) {
		n->buffers = b->next;
		mem_free(&n->root->dev->mem, b->address);
		free(b);
	}
	n->root->family = NULL;
	pthread_cond_destroy(&n->ended);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

void nested_drop(struct device_flight *root)
{
	if (root->family && root->family->root == root)
		family_free(root->family);
}

/* ---- running ---- */

static void finish_family(struct nested *n, enum status status, const struct device_fault *fault)
{
	struct device_flight *root = n->root;

	family_free(n);
	device_flight_finish(root, status, fault);
}

static void child_done(void *user, enum status status, const struct device_fault *fault);

/* Run what comes next; when there is nothing the family is over. */
static void step_family(struct nested *n)
{
	enum status status = STATUS_SUCCESS;
	struct item *i;

	while (status == STATUS_SUCCESS) {
		pthread_mutex_lock(&n->lock);
		put_before(&n->pending, &n->tails);
		put_before(&n->pending, &n->recorded);
		i = pop(&n->pending);
		pthread_mutex_unlock(&n->lock);
		if (!i)
			break;
		if (i->kind == ITEM_LAUNCH) {
			status = device_flight_start(i->flight, false, child_done, n);
			free(i);
			if (status == STATUS_SUCCESS)
				return;
			break;
		}
		status = nested_move(n->root->dev, i);
		free(i);
	}
	finish_family(n, status, NULL);
}

static void child_done(void *user, enum status status, const struct device_fault *fault)
{
	if (status == STATUS_SUCCESS)
		step_family(user);
	else
		finish_family(user, status, fault);
}

bool nested_continue(struct device_flight *root)
{
	struct nested *n = root->family;

	if (!n || n->root != root)
		return false;
	if (!n->recorded.first && !n->tails.first) {
		family_free(n);
		return false;
	}
	step_family(n);
	return true;
}

/* ---- waiting inside a kernel ---- */

/* A child that a kernel waits for. */
struct wait {
	struct nested *family;
	bool over;
	enum status status;
};

static void wait_done(void *user, enum status status, const struct device_fault *fault)
{
	struct wait *w = user;

	(void)fault;
	pthread_mutex_lock(&w->family->lock);
	w->status = status;
	w->over = true;
	pthread_cond_broadcast(&w->family->ended);
	pthread_mutex_unlock(&w->family->lock);
}

/*
 * Run everything that has been enqueued so far, and what that launches. The caller is a worker of
 * the pool, so children run on a pool of their own.
 */
static enum status drain(struct nested *n, struct sched_pool *pool)
{
	enum status status = STATUS_SUCCESS;
	struct list mine = {0};
	struct item *i;

	while (status == STATUS_SUCCESS) {
		struct wait w = {.family = n};

		pthread_mutex_lock(&n->lock);
		put_before(&mine, &n->recorded);
		pthread_mutex_unlock(&n->lock);
		i = pop(&mine);
		if (!i)
			break;
		if (i->kind != ITEM_LAUNCH) {
			status = nested_move(n->root->dev, i);
			free(i);
			continue;
		}
		i->flight->pool = pool;
		status = device_flight_start(i->flight, false, wait_done, &w);
		free(i);
		if (status != STATUS_SUCCESS)
			break;
		sched_settle(pool);
		pthread_mutex_lock(&n->lock);
		while (!w.over)
			pthread_cond_wait(&n->ended, &n->lock);
		pthread_mutex_unlock(&n->lock);
		status = w.status;
	}
	drop_list(&mine);
	return status;
}

u64 nested_parent(const void *flight)
{
	return ((const struct device_flight *)flight)->parent;
}

u64 nested_root(const void *flight)
{
	const struct device_flight *f = flight;

	return f->depth ? f->family->root->grid_id : f->grid_id;
}

struct host_from nested_from(const void *flight)
{
	const struct device_flight *f = flight;

	return f->depth ? f->family->root->from : f->from;
}

struct device_flight *nested_flight(const struct exec_call *c)
{
	return c->gang->env->user;
}

/* ---- results ---- */

enum fault_kind nested_answer(struct exec_call *c, u32 status)
{
	struct nested *n = status ? family_of(nested_flight(c)) : NULL;

	if (n)
		__atomic_store_n(&n->last_error, status, __ATOMIC_RELAXED);
	exec_call_return(c, status);
	return FAULT_NONE;
}

/* Store a result where a parameter points to. */
enum fault_kind nested_give(struct exec_call *c, u32 parameter, const void *from, u32 bytes)
{
	u8 *to = exec_call_memory(c, exec_call_argument(c, parameter), bytes, NULL);

	if (!to)
		return nested_answer(c, STATUS_INVALID_VALUE);
	exec_call_tell(c, ACCESS_STORE, exec_call_argument(c, parameter), bytes);
	memcpy(to, from, bytes);
	return nested_answer(c, STATUS_SUCCESS);
}

enum fault_kind nested_give_int(struct exec_call *c, u32 parameter, u32 value)
{
	return nested_give(c, parameter, &value, sizeof(value));
}

enum fault_kind nested_last_error(struct exec_call *c)
{
	struct nested *n = nested_flight(c)->family;

	exec_call_return(c, n ? __atomic_exchange_n(&n->last_error, 0, __ATOMIC_RELAXED) : 0);
	return FAULT_NONE;
}

enum fault_kind nested_peek_error(struct exec_call *c)
{
	struct nested *n = nested_flight(c)->family;

	exec_call_return(c, n ? __atomic_load_n(&n->last_error, __ATOMIC_RELAXED) : 0);
	return FAULT_NONE;
}

/* ---- launches ---- */

static struct device_kernel *kernel_at(const struct device_flight *f, u64 address)
{
	struct device_program *p = f->kernel->owner;
	const struct ir_func *func = exec_function_at(p->exec_units, p->len, address);

	return func && func->is_entry ? device_program_kernel(p, func->name->text) : NULL;
}

struct device_kernel *nested_kernel(const struct exec_call *c, u64 address)
{
	return kernel_at(nested_flight(c), address);
}

void nested_read(const struct exec_call *c, u32 parameter, void *out, u32 bytes)
{
	const struct extern_value *v = &c->ext->value[c->ext->rets + parameter];

	memset(out, 0, bytes);
	memcpy(out, c->stack->args + v->at, v->bytes < bytes ? v->bytes : bytes);
}

/* Twelve bytes of a parameter that is a dim3. */
static void read_dim(const struct exec_call *c, u32 parameter, u32 *out)
{
	nested_read(c, parameter, out, 3 * sizeof(u32));
}

static enum fault_kind new_buffer(struct exec_call *c, const struct buffer *like, u64 bytes)
{
	struct nested *n = family_of(nested_flight(c));
	struct buffer *b = n ? malloc(sizeof(*b)) : NULL;

	exec_call_return(c, 0);
	if (!b)
		return FAULT_NONE;
	*b = *like;
	b->address = mem_alloc(&n->root->dev->mem, bytes ? bytes : 1, 64, MEM_KIND_INTERNAL);
	if (!b->address) {
		free(b);
		return FAULT_NONE;
	}
	pthread_mutex_lock(&n->lock);
	b->next = n->buffers;
	n->buffers = b;
	pthread_mutex_unlock(&n->lock);
	exec_call_return(c, b->address);
	return FAULT_NONE;
}

/* void *(alignment, size) */
enum fault_kind nested_buffer(struct exec_call *c)
{
	return new_buffer(c, &(struct buffer){0}, exec_call_argument(c, 1));
}

/* void *(function, grid, block, shared) */
enum fault_kind nested_buffer_v2(struct exec_call *c)
{
	struct buffer b = {.function = exec_call_argument(c, 0),
			   .shared = (u32)exec_call_argument(c, 3)};

	read_dim(c, 1, b.grid);
	read_dim(c, 2, b.block);
	return new_buffer(c, &b, BUFFER_BYTES);
}

static struct buffer *take_buffer(struct nested *n, u64 address)
{
	struct buffer *b, **at;

	pthread_mutex_lock(&n->lock);
	for (at = &n->buffers; *at && (*at)->address != address; at = &(*at)->next)
		;
	b = *at;
	if (b)
		*at = b->next;
	pthread_mutex_unlock(&n->lock);
	return b;
}

static enum status enqueue_item(struct nested *n, struct item *like, u64 stream)
{
	struct item *i = malloc(sizeof(*i));

	if (!i)
		return STATUS_OUT_OF_MEMORY;
	*i = *like;
	pthread_mutex_lock(&n->lock);
	list_append(stream == TAIL_STREAM ? &n->tails : &n->recorded, i);
	pthread_mutex_unlock(&n->lock);
	return STATUS_SUCCESS;
}

static enum status launch_child(struct device_flight *parent, struct nested *n,
				const struct buffer *b, u64 stream)
{
	struct device_kernel *k = kernel_at(parent, b->function);
	struct device_launch l = {
		.kernel = k,
		.grid = {b->grid[0], b->grid[1], b->grid[2]},
		.block = {b->block[0], b->block[1], b->block[2]},
		.dynamic_bytes = b->shared,
		.packed = mem_pointer(&parent->dev->mem, b->address),
		.packed_bytes = BUFFER_BYTES,
	};
	struct item item = {.kind = ITEM_LAUNCH};
	enum status status;

	if (!k)
		return STATUS_INVALID_DEVICE_FUNCTION;
	if (parent->depth + 1 >= DEPTH_MAX)
		return STATUS_LAUNCH_MAX_DEPTH_EXCEEDED;
	status = device_flight_prepare(&l, &item.flight);
	if (status != STATUS_SUCCESS)
		return status;
	item.flight->family = n;
	item.flight->depth = parent->depth + 1;
	item.flight->parent = parent->grid_id;
	item.flight->tag = parent->tag;
	item.flight->place =
		sched_mix(parent->place, __atomic_add_fetch(&n->launches, 1, __ATOMIC_RELAXED));
	item.flight->pool = parent->pool;
	status = enqueue_item(n, &item, stream);
	if (status != STATUS_SUCCESS)
		device_flight_drop(item.flight);
	return status;
}

static enum fault_kind launch_buffer(struct exec_call *c, u64 address, const struct buffer *with,
				     u64 stream)
{
	struct device_flight *f = nested_flight(c);
	struct nested *n = family_of(f);
	struct buffer *b = n ? take_buffer(n, address) : NULL;
	enum status status;

	if (!b)
		return nested_answer(c, n ? STATUS_INVALID_VALUE : STATUS_OUT_OF_MEMORY);
	if (with) {
		struct buffer full = *with;

		full.address = b->address;
		status = launch_child(f, n, &full, stream);
	} else {
		status = launch_child(f, n, b, stream);
	}
	mem_free(&f->dev->mem, b->address);
	free(b);
	return nested_answer(c, status);
}

/* error (buffer, stream) */
enum fault_kind nested_launch_v2(struct exec_call *c)
{
	return launch_buffer(c, exec_call_argument(c, 0), NULL, exec_call_argument(c, 1));
}

/* error (function, buffer, grid, block, shared, stream) */
enum fault_kind nested_launch(struct exec_call *c)
{
	struct buffer b = {.function = exec_call_argument(c, 0),
			   .shared = (u32)exec_call_argument(c, 4)};

	read_dim(c, 2, b.grid);
	read_dim(c, 3, b.block);
	return launch_buffer(c, exec_call_argument(c, 1), &b, exec_call_argument(c, 5));
}

enum fault_kind nested_occupancy(struct exec_call *c)
{
	struct device_kernel *k = kernel_at(nested_flight(c), exec_call_argument(c, 1));

	if (!k)
		return nested_answer(c, STATUS_INVALID_DEVICE_FUNCTION);
	if (exec_call_argument(c, 3) > UINT32_MAX)
		return nested_answer(c, STATUS_INVALID_VALUE);
	return nested_give_int(c, 0,
			       device_kernel_occupancy(k, (u32)exec_call_argument(c, 2),
						       (u32)exec_call_argument(c, 3)));
}

enum fault_kind nested_enqueue(struct exec_call *c, struct item *i, u64 stream)
{
	struct nested *n = family_of(nested_flight(c));

	return nested_answer(c, n ? enqueue_item(n, i, stream) : STATUS_OUT_OF_MEMORY);
}

/* What the thread's grid has launched ends before this returns, as before CUDA 12. */
enum fault_kind nested_synchronize(struct exec_call *c)
{
	struct device_flight *f = nested_flight(c);
	struct sched_pool *own = f->pool ? f->pool : f->dev->pool;
	struct sched_options options = {.workers = 1, .deterministic = sched_debug(own) != NULL};
	struct nested *n = f->family;
	struct sched_pool *pool;
	enum status status;

	if (!n || !__atomic_load_n(&n->recorded.first, __ATOMIC_RELAXED))
		return nested_answer(c, STATUS_SUCCESS);
	pool = sched_pool_new(&options);
	if (!pool)
		return nested_answer(c, STATUS_OUT_OF_MEMORY);
	if (sched_debug(own))
		sched_set_debug(pool, sched_debug(own));
	status = drain(n, pool);
	sched_pool_free(pool);
	if (status == STATUS_SUCCESS)
		return nested_answer(c, STATUS_SUCCESS);
	return exec_call_fail(c, FAULT_TRAP,
			      "a grid that this one launched and waits for has failed");
}

/* Streams and events of device code have no state: what is enqueued keeps its order anyway. */
enum fault_kind nested_create(struct exec_call *c)
{
	struct nested *n = family_of(nested_flight(c));
	u64 handle;

	if (!n)
		return nested_answer(c, STATUS_OUT_OF_MEMORY);
	handle = (__atomic_add_fetch(&n->handles, 1, __ATOMIC_RELAXED) << 8) + 0x100;
	return nested_give(c, 0, &handle, sizeof(handle));
}
