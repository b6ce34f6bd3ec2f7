/*
 * Allocation and release of device, managed and host memory.
 */
#include "src/base/size.h"
#include "src/dev/graph/graph.h"
#include "src/dev/memory/memory.h"
#include "src/dev/memory/watch.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PORTABLE 1u
#define REGISTER_FLAGS 0xfu
#define HOST_FLAGS 0x7u
/* What a process can address. */
#define HOST_SPACE ((u64)1 << 47)

/* ---- blocks ---- */

struct memory_block *memory_block_new(struct mem *m, u64 p, enum memory_type type, u32 device)
{
	struct memory_block *b = calloc(1, sizeof(*b));

	if (!b) {
		mem_remove(m, p);
		return NULL;
	}
	b->type = type;
	b->device = device;
	mem_set_user(m, p, b);
	return b;
}

struct memory_block *memory_block_at(struct mem *m, u64 p)
{
	struct mem_range r;

	return mem_find_own(m, p, 1, &r) && r.base == p ? r.user : NULL;
}

void memory_end(struct mem *m, u64 p)
{
	struct mem_range r;
	struct memory_block *b;

	if (!mem_find_own(m, p, 1, &r) || r.base != p)
		return;
	b = r.user;
	memory_tell_free(m, p, r.size);
	if (b && b->shared) {
		/*
		 * Neighbours keep their pages, but what came from elsewhere has pages of its own.
		 */
		bool whole = b->type == MEMORY_IMPORTED || (b->pool && b->pool->imported);
		u64 mask = ~(u64)(MEM_HOST_PAGE - 1);
		u64 first = whole ? p & mask : align_up(p, MEM_HOST_PAGE);
		u64 end = whole ? align_up(p + r.size, MEM_HOST_PAGE) : (p + r.size) & mask;

		if (end > first)
			mem_detach(m, first, end - first);
	}
	if (mem_in_arena(m, p) ? mem_free(m, p) : mem_remove(m, p))
		free(b);
}

/* ---- allocation ---- */

static enum status make_block(struct device *d, struct mem *m, u64 bytes, struct memory_block like,
			      u64 *out)
{
	static const u8 kinds[] = {
		[MEMORY_DEVICE] = MEM_KIND_DEVICE,
		[MEMORY_PINNED] = MEM_KIND_PINNED,
		[MEMORY_MANAGED] = MEM_KIND_MANAGED,
	};
	u64 align = m == &d->mem ? MEMORY_ALIGN : MEM_HOST_PAGE;
	u64 p = mem_alloc(m, bytes, align, (enum mem_kind)kinds[like.type]);
	struct memory_block *b;

	*out = 0;
	if (!p)
		return STATUS_OUT_OF_MEMORY;
	b = memory_block_new(m, p, like.type, d->mem.index);
	if (!b)
		return STATUS_OUT_OF_MEMORY;
	b->flags = like.flags;
	b->sync = like.type == MEMORY_DEVICE;
	memory_tell_alloc(m, p, bytes, (enum mem_kind)kinds[like.type]);
	*out = p;
	return STATUS_SUCCESS;
}

enum status memory_alloc(struct device *d, u64 bytes, u64 *out)
{
	enum status status = device_capture_guard(d);

	if (status != STATUS_SUCCESS)
		return status;
	return make_block(d, &d->mem, bytes, (struct memory_block){.type = MEMORY_DEVICE}, out);
}

enum status memory_alloc_pitch(struct device *d, u64 width, u64 height, u64 *out, u64 *pitch)
{
	u64 bytes;

	*out = *pitch = 0;
	if (!size_align_up(width, MEMORY_PITCH, pitch))
		return STATUS_INVALID_VALUE;
	return size_mul(*pitch, height, &bytes) ? memory_alloc(d, bytes, out)
						: STATUS_OUT_OF_MEMORY;
}

enum status memory_alloc_managed(struct device *d, u64 bytes, u32 flags, u64 *out)
{
	struct mem *m = d->mem.system ? &d->mem.system->host : &d->mem;
	enum status status = device_capture_guard(d);

	if (status != STATUS_SUCCESS)
		return status;
	if (!bytes || (flags != 1 && flags != 2))
		return STATUS_INVALID_VALUE;
	return make_block(d, m, bytes,
			  (struct memory_block){.type = MEMORY_MANAGED, .flags = flags}, out);
}

enum status memory_alloc_host(struct device *d, u64 bytes, u32 flags, u64 *out)
{
	struct mem *m = d->mem.system ? &d->mem.system->host : &d->mem;
	enum status status = device_capture_guard(d);

	if (status != STATUS_SUCCESS)
		return status;
	if (flags & ~HOST_FLAGS)
		return STATUS_INVALID_VALUE;
	return make_block(d, m, bytes, (struct memory_block){.type = MEMORY_PINNED, .flags = flags},
			  out);
}

/* ---- release ---- */

/* The device that an arena of the system belongs to. */
static struct device *device_of(struct mem *m)
{
	return (struct device *)(void *)((u8 *)m - offsetof(struct device, mem));
}

/* What is freed may not be in use: wait for its device, or for all when any may use it. */
static enum status wait_for(struct device *d, const struct mem *arena)
{
	struct mem_system *s = d->mem.system;
	enum status status = STATUS_SUCCESS, one;

	for (u32 i = 0; s && i < MEM_DEVICES_MAX; i++) {
		struct device *other = s->device[i] ? device_of(s->device[i]) : NULL;

		if (!other || !other->streams || (arena != &s->host && arena != &other->mem))
			continue;
		one = stream_device_finish(other);
		status = other == d ? one : status;
	}
	return status;
}

static bool is_plain_type(enum memory_type t)
{
	return t == MEMORY_DEVICE || t == MEMORY_MANAGED || t == MEMORY_POOLED;
}

enum status memory_free(struct device *d, u64 p)
{
	struct memory_info i;
	enum status status = device_capture_guard(d);

	if (status != STATUS_SUCCESS || !p)
		return status;
	if (d->streams && graph_memory_is(d, p)) {
		status = stream_device_finish(d);
		return status == STATUS_SUCCESS ? graph_memory_free(d, p) : status;
	}
	if (memory_find(d->mem.system, p, &i) && i.block && i.block->external)
		return STATUS_SUCCESS;
	if (i.range.base != p || !i.block || i.block->leaving || !is_plain_type(i.block->type))
		return STATUS_INVALID_VALUE;
	status = wait_for(d, i.arena);
	if (i.block->pool)
		memory_pool_give_back(i.block->pool, p, i.range.size);
	else
		memory_end(i.arena, p);
	return status;
}

enum status memory_free_host(struct device *d, u64 p)
{
	struct memory_info i;
	enum status status = device_capture_guard(d);

	if (status != STATUS_SUCCESS || !p)
		return status;
	if (!memory_find(d->mem.system, p, &i) || i.range.base != p || !i.block ||
	    i.block->type != MEMORY_PINNED)
		return STATUS_INVALID_VALUE;
	status = wait_for(d, i.arena);
	memory_end(i.arena, p);
	return status;
}

/* ---- the program's own memory ---- */

/* Are there pages everywhere in [p, p + bytes)? Where there is none, mincore fails. */
static bool is_readable(u64 p, u64 bytes)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE), at = p & ~(page - 1);
	unsigned char resident[4096];

	while (at < p + bytes) {
		u64 n = min_u64(p + bytes - at, page * sizeof(resident));

		if (mincore((void *)(uintptr_t)at, n, resident))
			return false;
		at += n;
	}
	return true;
}

enum status memory_register(struct device *d, u64 p, u64 bytes, u32 flags)
{
	struct mem *host = &d->mem.system->host;
	enum status status = device_capture_guard(d);
	struct memory_block *b;

	if (status != STATUS_SUCCESS)
		return status;
	if (!p || !bytes || !size_is_range(p, bytes) || (flags & ~REGISTER_FLAGS) ||
	    mem_system_arena(d->mem.system, p))
		return STATUS_INVALID_VALUE;
	if (bytes > HOST_SPACE)
		return STATUS_NOT_SUPPORTED;
	if (!mem_register(&d->mem, p, bytes, MEM_KIND_HOST))
		return STATUS_HOST_MEMORY_ALREADY_REGISTERED;
	if (!is_readable(p, bytes)) {
		mem_remove(host, p);
		return STATUS_INVALID_VALUE;
	}
	b = memory_block_new(host, p, MEMORY_REGISTERED, d->mem.index);
	if (!b)
		return STATUS_OUT_OF_MEMORY;
	b->flags = flags;
	memory_tell_alloc(&d->mem, p, bytes, MEM_KIND_HOST);
	return STATUS_SUCCESS;
}

enum status memory_unregister(struct device *d, u64 p)
{
	struct memory_info i;
	enum status status = device_capture_guard(d);

	if (status != STATUS_SUCCESS)
		return status;
	if (!p || mem_system_arena(d->mem.system, p))
		return STATUS_INVALID_VALUE;
	if (!memory_find(d->mem.system, p, &i) || i.range.base != p || !i.block ||
	    i.block->type != MEMORY_REGISTERED)
		return STATUS_HOST_MEMORY_NOT_REGISTERED;
	status = wait_for(d, i.arena);
	memory_end(i.arena, p);
	return status;
}

enum status memory_host_flags(struct device *d, u64 p, u32 *flags)
{
	struct memory_info i;

	if (!memory_find(d->mem.system, p, &i) || !i.block ||
	    (i.block->type != MEMORY_PINNED && i.block->type != MEMORY_REGISTERED))
		return STATUS_INVALID_VALUE;
	/*
	 * Unified addresses: all of it is mapped, and what we allocate for all devices without
	 * saying so.
	 */
	*flags = (i.block->flags & ~(8u | (i.block->type == MEMORY_PINNED ? PORTABLE : 0))) | 2;
	return STATUS_SUCCESS;
}
