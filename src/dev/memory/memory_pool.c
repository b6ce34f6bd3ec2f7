/*
 * Pools: memory that is allocated at once and freed in the order of a stream.
 *
 * A pool hands out memory of its device's arena, or the host's for pinned and managed memory. What
 * it would keep for reuse is kept as a number only, as giving memory back to the host costs little:
 * the counters answer as CUDA's would.
 */
#include "src/base/size.h"
#include "src/dev/graph/graph.h"
#include "src/dev/memory/memory.h"
#include "src/dev/memory/watch.h"
#include "src/dev/stream/stream_int.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Pools take memory from the device in pieces of this. */
#define PIECE ((u64)32 << 20)
#define POSIX_FD 1

/* CUmemAllocationType */
enum { ALLOC_PINNED = 1, ALLOC_MANAGED };

/* What stands for an allocation of an exported pool: cudaMemPoolPtrExportData, 64 bytes. */
struct pointer_data {
	u64 magic, offset, size, pad[5];
};

#define POINTER_MAGIC 0x706f6f6c2d707472u

/* ---- the list; the lock is held ---- */

static bool is_listed(const struct memory_pools *all, const void *handle)
{
	for (const struct memory_pool *p = all->first; p; p = p->next)
		if (p == handle)
			return !p->destroyed;
	return false;
}

static bool is_of_device(const struct memory_pool_props *props)
{
	return props->alloc_type == ALLOC_PINNED && props->location.type == LOCATION_DEVICE;
}

static struct memory_pool *add_pool(struct memory_pools *all, struct device *d,
				    const struct memory_pool_props *props, bool is_default)
{
	struct memory_pool *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	*p = (struct memory_pool){
		.all = all, .dev = d, .props = *props, .is_default = is_default, .fd = -1};
	p->arena = is_of_device(props) ? &d->mem : &d->mem.system->host;
	for (u32 i = POOL_REUSE_FOLLOW_EVENTS; i <= POOL_REUSE_DEPENDENCIES; i++)
		p->attribute[i] = 1;
	p->next = all->first;
	all->first = p;
	return p;
}

static void unlink_pool(struct memory_pools *all, struct memory_pool *p)
{
	struct memory_pool **at = &all->first;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	if (p->fd >= 0)
		close(p->fd);
	free(p);
}

/* ---- making ---- */

bool memory_pool_is_at(const struct memory_pool *p, int alloc_type,
		       const struct memory_location *where)
{
	return p->props.alloc_type == alloc_type && p->props.location.type == where->type &&
	       (where->type != LOCATION_DEVICE || p->props.location.id == where->id);
}

struct memory_pool *memory_pool_default_at(struct memory_pools *all, struct device *d,
					   int alloc_type, const struct memory_location *where)
{
	struct memory_pool_props props = {.alloc_type = alloc_type, .location = *where};
	struct memory_pool *p;

	pthread_mutex_lock(&all->lock);
	for (p = all->first; p; p = p->next)
		if (p->is_default && memory_pool_is_at(p, alloc_type, where))
			break;
	p = p ? p : add_pool(all, d, &props, true);
	pthread_mutex_unlock(&all->lock);
	return p;
}

struct memory_pool *memory_pool_default(struct memory_pools *all, struct device *d)
{
	struct memory_location here = {LOCATION_DEVICE, (int)d->mem.index};

	return memory_pool_default_at(all, d, ALLOC_PINNED, &here);
}

bool memory_pool_is(struct memory_pools *all, const void *handle)
{
	bool yes;

	pthread_mutex_lock(&all->lock);
	yes = is_listed(all, handle);
	pthread_mutex_unlock(&all->lock);
	return yes;
}

enum status memory_pool_create(struct memory_pools *all, struct device *d,
			       const struct memory_pool_props *props, struct memory_pool **out)
{
	struct memory_pool *p;

	/* Only memory of devices can be shared with other processes. */
	if ((props->alloc_type != ALLOC_PINNED && props->alloc_type != ALLOC_MANAGED) ||
	    (props->handle_types & ~(is_of_device(props) ? POSIX_FD : 0)))
		return STATUS_INVALID_VALUE;
	/* As much address space is set aside as a pool may have. */
	if (props->max_bytes > d->mem.arena_size)
		return STATUS_OUT_OF_MEMORY;
	pthread_mutex_lock(&all->lock);
	p = add_pool(all, d, props, false);
	pthread_mutex_unlock(&all->lock);
	*out = p;
	return p ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}

enum status memory_pool_destroy(struct memory_pools *all, struct memory_pool *p)
{
	enum status status = STATUS_SUCCESS;

	pthread_mutex_lock(&all->lock);
	for (struct memory_pool *q = all->first; q && !p->is_default; q = q->next)
		if (q->chosen == p)
			q->chosen = NULL;
	if (p->is_default || p->destroyed)
		status = STATUS_INVALID_VALUE;
	else if (p->live)
		p->destroyed = true;
	else
		unlink_pool(all, p);
	pthread_mutex_unlock(&all->lock);
	return status;
}

/* The host's memory stays when the device of its pool goes: it is freed like any other. */
static void orphan(struct memory_pool *p)
{
	struct mem *m = p->arena;

	pthread_mutex_lock(&m->lock);
	for (u32 i = 0; i < m->len; i++) {
		struct memory_block *b = m->ranges[i].freed ? NULL : m->ranges[i].user;

		if (b && b->pool == p) {
			b->pool = NULL;
			b->type = p->props.alloc_type == ALLOC_MANAGED ? MEMORY_MANAGED
								       : MEMORY_PINNED;
		}
	}
	pthread_mutex_unlock(&m->lock);
}

void memory_pools_forget(struct memory_pools *all, const struct device *d)
{
	struct memory_pool *next;

	pthread_mutex_lock(&all->lock);
	for (struct memory_pool *p = all->first; p; p = next) {
		next = p->next;
		if (p->dev != d)
			continue;
		if (p->arena != &d->mem)
			orphan(p);
		unlink_pool(all, p);
	}
	pthread_mutex_unlock(&all->lock);
}

/* ---- counters ---- */

static void note_used(struct memory_pool *p)
{
	u64 *a = p->attribute, need = align_up(a[POOL_USED_CURRENT], PIECE);

	if (a[POOL_RESERVED_CURRENT] < need)
		a[POOL_RESERVED_CURRENT] = need;
	a[POOL_USED_HIGH] = max_u64(a[POOL_USED_HIGH], a[POOL_USED_CURRENT]);
	a[POOL_RESERVED_HIGH] = max_u64(a[POOL_RESERVED_HIGH], a[POOL_RESERVED_CURRENT]);
}

/* Keep no more unused memory than `keep`, in whole pieces. */
static void shrink(struct memory_pool *p, u64 keep)
{
	u64 *a = p->attribute, need = align_up(a[POOL_USED_CURRENT], PIECE);
	u64 most = max_u64(need, keep / PIECE * PIECE);

	if (a[POOL_RESERVED_CURRENT] > most)
		a[POOL_RESERVED_CURRENT] = most;
}

enum status memory_pool_get(struct memory_pools *all, struct memory_pool *p, int attribute,
			    void *value)
{
	if (attribute < POOL_REUSE_FOLLOW_EVENTS || attribute >= POOL_ATTRIBUTES || !value)
		return STATUS_INVALID_VALUE;
	pthread_mutex_lock(&all->lock);
	memcpy(value, &p->attribute[attribute], attribute <= POOL_REUSE_DEPENDENCIES ? 4 : 8);
	pthread_mutex_unlock(&all->lock);
	return STATUS_SUCCESS;
}

enum status memory_pool_set(struct memory_pools *all, struct memory_pool *p, int attribute,
			    const void *value)
{
	enum status status = STATUS_SUCCESS;
	u64 v = 0;

	if (attribute < POOL_REUSE_FOLLOW_EVENTS || attribute >= POOL_ATTRIBUTES || !value)
		return STATUS_INVALID_VALUE;
	memcpy(&v, value, attribute <= POOL_REUSE_DEPENDENCIES ? 4 : 8);
	pthread_mutex_lock(&all->lock);
	if (attribute <= POOL_RELEASE_THRESHOLD)
		p->attribute[attribute] = attribute == POOL_RELEASE_THRESHOLD ? v : v != 0;
	else if (v || (attribute != POOL_RESERVED_HIGH && attribute != POOL_USED_HIGH))
		status = STATUS_INVALID_VALUE;
	else /* high-water marks begin anew */
		p->attribute[attribute] = p->attribute[attribute - 1];
	pthread_mutex_unlock(&all->lock);
	return status;
}

enum status memory_pool_trim(struct memory_pools *all, struct memory_pool *p, u64 keep)
{
	enum status status = device_capture_guard(p->dev);

	if (status != STATUS_SUCCESS)
		return status;
	pthread_mutex_lock(&all->lock);
	shrink(p, keep);
	pthread_mutex_unlock(&all->lock);
	return STATUS_SUCCESS;
}

/* ---- allocating and freeing ---- */

/* Make the range at `at` an allocation of the pool. */
static enum status adopt_allocation(struct memory_pool *p, u64 at, u64 bytes)
{
	struct memory_block *b = memory_block_new(p->arena, at, MEMORY_POOLED, p->dev->mem.index);

	if (!b)
		return STATUS_OUT_OF_MEMORY;
	b->pool = p;
	mem_set_devices(p->arena, at, p->writable | p->readable, p->readable & ~p->writable);
	pthread_mutex_lock(&p->all->lock);
	p->live++;
	p->attribute[POOL_USED_CURRENT] += bytes;
	note_used(p);
	pthread_mutex_unlock(&p->all->lock);
	return STATUS_SUCCESS;
}

enum status memory_pool_alloc(struct memory_pool *p, u64 bytes, u64 *out)
{
	struct device *d = p->dev;
	u64 most, align = MEMORY_ALIGN;
	enum mem_kind kind = MEM_KIND_DEVICE;
	enum status status;

	*out = 0;
	if (!bytes)
		return STATUS_INVALID_VALUE;
	if (p->imported)
		return STATUS_NOT_PERMITTED;
	if (!size_align_up(p->props.max_bytes, PIECE, &most))
		most = UINT64_MAX;
	if (most && bytes > most - min_u64(most, p->attribute[POOL_USED_CURRENT]))
		return STATUS_OUT_OF_MEMORY;
	if (p->arena != &d->mem) {
		kind = p->props.alloc_type == ALLOC_MANAGED ? MEM_KIND_MANAGED : MEM_KIND_PINNED;
		align = MEM_HOST_PAGE;
	}
	*out = mem_alloc(p->arena, bytes, align, kind);
	/* What is to be freed in streams may be what is missing. */
	if (!*out && d->streams && stream_device_finish(d) == STATUS_SUCCESS)
		*out = mem_alloc(p->arena, bytes, align, kind);
	if (!*out)
		return STATUS_OUT_OF_MEMORY;
	status = adopt_allocation(p, *out, bytes);
	if (status == STATUS_SUCCESS)
		memory_tell_alloc(p->arena, *out, bytes, kind);
	return status;
}

void memory_pool_give_back(struct memory_pool *p, u64 at, u64 bytes)
{
	struct memory_pools *all = p->all;

	memory_end(p->arena, at);
	pthread_mutex_lock(&all->lock);
	p->attribute[POOL_USED_CURRENT] -= bytes;
	shrink(p, p->attribute[POOL_RELEASE_THRESHOLD]);
	if (!--p->live && p->destroyed)
		unlink_pool(all, p);
	pthread_mutex_unlock(&all->lock);
}

/* ---- in captured streams: nodes of the graph ---- */

/* Add a node after what the stream has been given so far. */
static enum status capture(struct stream *s, struct graph_action *a, u64 *address)
{
	struct streams *all = stream_device_of(s)->streams->all;
	struct capture_info info;
	struct graph_after after;
	struct graph_node *node;
	enum status status = stream_capture_info(s, &info);

	if (status != STATUS_SUCCESS)
		return status;
	after = (struct graph_after){info.after, info.data, info.after_len};
	status = address ? graph_add_alloc(all, info.graph, &after, a, &node, address)
			 : graph_add_free(all, info.graph, &after, a, &node);
	after = (struct graph_after){&node, NULL, 1};
	return status == STATUS_SUCCESS ? stream_capture_update(s, &after, true) : status;
}

struct handing {
	u64 at, bytes;
};

static enum status run_hand_out(void *data, enum status so_far)
{
	const struct handing *h = data;

	(void)so_far;
	memory_tell_hand_out(h->at, h->bytes);
	return STATUS_SUCCESS;
}

/* The memory is there at once; other streams may use it behind this one only. */
static enum status hand_out(struct stream *s, u64 at, u64 bytes)
{
	struct handing h = {at, bytes};

	if (!stream_device_of(s)->streams->all->order)
		return STATUS_SUCCESS;
	return stream_call(s, run_hand_out, &h, sizeof(h), STREAM_ALLOC | STREAM_ALWAYS);
}

enum status memory_alloc_async(struct stream *s, struct memory_pool *p, u64 bytes, u64 *out)
{
	struct graph_action a = {
		.type = GRAPH_MEM_ALLOC, .flags = STREAM_ALLOC, .dev = p->dev, .amount = bytes};

	enum status status;

	if (stream_is_capturing(s))
		return capture(s, &a, out);
	status = device_capture_guard(p->dev);
	if (status == STATUS_SUCCESS)
		status = memory_pool_alloc(p, bytes, out);
	return status == STATUS_SUCCESS ? hand_out(s, *out, bytes) : status;
}

/* ---- in other streams ---- */

struct freeing {
	struct mem *arena;
	struct memory_pool *pool;
	u64 at, bytes;
};

static enum status run_free(void *data, enum status so_far)
{
	const struct freeing *f = data;

	(void)so_far;
	if (f->pool)
		memory_pool_give_back(f->pool, f->at, f->bytes);
	else
		memory_end(f->arena, f->at);
	return STATUS_SUCCESS;
}

enum status memory_free_async(struct stream *s, u64 p)
{
	struct graph_action a = {.type = GRAPH_MEM_FREE,
				 .flags = STREAM_FREE,
				 .dev = stream_device_of(s),
				 .address = p};
	struct memory_info i;
	struct freeing f;

	if (graph_memory_is(a.dev, p)) {
		if (stream_is_capturing(s))
			return capture(s, &a, NULL);
		return stream_wait(s) == STATUS_SUCCESS ? graph_memory_free(a.dev, p)
							: stream_device_error(a.dev);
	}
	if (!memory_find(stream_device_of(s)->mem.system, p, &i) || i.range.base != p || !i.block ||
	    i.block->leaving || (i.block->type != MEMORY_POOLED && i.block->type != MEMORY_DEVICE))
		return STATUS_INVALID_VALUE;
	if (stream_is_capturing(s))
		return STATUS_INVALID_VALUE;
	i.block->leaving = true;
	f = (struct freeing){i.arena, i.block->pool, p, i.range.size};
	return stream_call(s, run_free, &f, sizeof(f), STREAM_FREE | STREAM_ALWAYS);
}

/* ---- access ---- */

/* The device whose memory it is; MEM_DEVICES_MAX: the host's. */
static u32 pool_owner(const struct memory_pool *p)
{
	return p->arena == &p->dev->mem ? p->dev->mem.index : MEM_DEVICES_MAX;
}

enum status memory_pool_access(struct memory_pool *p, struct memory_location where, u32 flags,
			       u32 devices)
{
	u32 own = pool_owner(p), bit;

	if (where.type != LOCATION_DEVICE || where.id < 0 || (u32)where.id >= devices)
		return STATUS_INVALID_DEVICE;
	if (flags != 0 && flags != 1 && flags != 3)
		return STATUS_INVALID_VALUE;
	/* A device cannot be kept from its own memory. */
	if ((u32)where.id == own)
		return flags == 3   ? STATUS_SUCCESS
		       : flags == 1 ? STATUS_NOT_SUPPORTED
				    : STATUS_INVALID_DEVICE;
	bit = (u32)1 << where.id;
	pthread_mutex_lock(&p->all->lock);
	p->readable = flags == 1 ? p->readable | bit : p->readable & ~bit;
	p->writable = flags == 3 ? p->writable | bit : p->writable & ~bit;
	pthread_mutex_unlock(&p->all->lock);
	memory_pool_spread(p);
	return STATUS_SUCCESS;
}

/* Allocations made before a change of access have it as well. */
void memory_pool_spread(struct memory_pool *p)
{
	struct mem *m = p->arena;

	pthread_mutex_lock(&m->lock);
	for (u32 i = 0; i < m->len; i++) {
		const struct memory_block *b = m->ranges[i].freed ? NULL : m->ranges[i].user;

		if (b && b->pool == p)
			m->ranges[i].devices = p->readable | p->writable;
	}
	pthread_mutex_unlock(&m->lock);
	mem_system_changed(m->system);
}

enum status memory_pool_access_get(const struct memory_pool *p, struct memory_location where,
				   u32 *flags)
{
	u32 bit;

	if (where.type != LOCATION_DEVICE || where.id < 0 || where.id >= (int)MEM_DEVICES_MAX ||
	    !p->dev->mem.system->device[where.id])
		return STATUS_INVALID_VALUE;
	bit = (u32)1 << where.id;
	*flags = (u32)where.id == pool_owner(p) || p->writable & bit ? 3 : !!(p->readable & bit);
	return STATUS_SUCCESS;
}

/* ---- other processes ---- */

enum status memory_pool_export(struct memory_pool *p, int *fd)
{
	u64 offset;
	int file;

	if (!(p->props.handle_types & POSIX_FD) || p->imported)
		return STATUS_INVALID_VALUE;
	/* The arena's file comes into being; no page is put in it. */
	file = mem_share(&p->dev->mem, (u64)(uintptr_t)p->dev->mem.arena, 0, &offset);
	*fd = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 0);
	return *fd < 0 ? STATUS_OPERATING_SYSTEM : STATUS_SUCCESS;
}

enum status memory_pool_import(struct memory_pools *all, struct device *d, int fd,
			       struct memory_pool **out)
{
	struct memory_pool_props props = {
		.alloc_type = ALLOC_PINNED,
		.location = {LOCATION_DEVICE, (int)d->mem.index},
	};
	struct memory_pool *p;
	struct stat st;
	int own;

	if (fstat(fd, &st))
		return STATUS_UNKNOWN;
	own = S_ISREG(st.st_mode) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (own < 0)
		return STATUS_INVALID_VALUE;
	pthread_mutex_lock(&all->lock);
	p = add_pool(all, d, &props, false);
	if (p) {
		p->imported = true;
		p->fd = own;
	}
	pthread_mutex_unlock(&all->lock);
	*out = p;
	if (!p)
		close(own);
	return p ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}

enum status memory_pool_export_pointer(struct mem_system *s, u64 p, void *data)
{
	struct pointer_data d = {.magic = POINTER_MAGIC};
	struct memory_info i;

	if (!memory_find(s, p, &i) || !i.block || i.block->type != MEMORY_POOLED ||
	    i.block->pool->imported || !(i.block->pool->props.handle_types & POSIX_FD))
		return STATUS_INVALID_VALUE;
	stream_device_finish(i.block->pool->dev);
	if (mem_share(i.arena, i.range.base, i.range.size, &d.offset) < 0)
		return STATUS_OPERATING_SYSTEM;
	i.block->shared = true;
	d.size = i.range.size;
	memcpy(data, &d, sizeof(d));
	return STATUS_SUCCESS;
}

enum status memory_pool_import_pointer(struct memory_pool *p, const void *data, u64 *out)
{
	struct pointer_data d;
	u64 first, bytes, at;
	enum status status;

	memcpy(&d, data, sizeof(d));
	if (!p->imported || d.magic != POINTER_MAGIC || !d.size)
		return STATUS_INVALID_VALUE;
	first = d.offset & ~(u64)(MEM_HOST_PAGE - 1);
	if (!size_add(d.offset, d.size, &bytes) || !size_align_up(bytes, MEM_HOST_PAGE, &bytes))
		return STATUS_INVALID_VALUE;
	bytes -= first;
	at = mem_alloc(&p->dev->mem, bytes, MEM_HOST_PAGE, MEM_KIND_DEVICE);
	if (!at)
		return STATUS_OUT_OF_MEMORY;
	if (!mem_attach(&p->dev->mem, at, bytes, p->fd, first) ||
	    !mem_narrow(&p->dev->mem, at, d.offset - first, d.size)) {
		mem_free(&p->dev->mem, at);
		return STATUS_MAP_FAILED;
	}
	*out = at + (d.offset - first);
	status = adopt_allocation(p, *out, d.size);
	if (status == STATUS_SUCCESS)
		memory_block_at(&p->dev->mem, *out)->shared = true;
	return status;
}
