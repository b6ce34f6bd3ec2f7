/*
 * Virtual memory: address ranges, physical memory, and mappings of the one in the other.
 *
 * Physical memory is a file without a name, so it can be mapped several times and handed to other
 * processes. Ranges of mappings lie in the system's arena for them; which devices may use one is
 * written in it (mem_range.devices).
 */
#include "src/base/size.h"
#include "src/dev/memory/memory.h"
#include "src/dev/memory/watch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* CUmemAllocationHandleType */
enum { POSIX_FD = 1, WINDOWS_HANDLES = 2 | 4, FABRIC = 8 };

struct memory_physical {
	struct memory_physical *next;
	struct memory_physical_props props;
	struct mem
		*arena; /* whose memory it counts as; NULL: of a device that is gone, or imported */
	u64 size;
	int fd;
	u32 handles, mappings;
	struct memory_reservation told; /* where watchers know it, size 0: nowhere */
};

/* CUmemAccess_flags: read; read and write is 3. */
#define READ_ONLY 1

/* Where ranges begin: aligned for larger wishes, as after the driver's. */
#define FIRST_ALIGN ((u64)32 << 20)
#define ADDRESS_SPACE ((u64)1 << 47)

static u64 page_of(u64 at)
{
	return at & ~(MEMORY_GRANULARITY - 1);
}

static bool is_granular(u64 n)
{
	return n && page_of(n) == n;
}

/* ---- address ranges; the lock is held ---- */

static enum status open_maps(struct memory_maps *maps)
{
	return mem_system_open_maps(maps->system) ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}

/* Is [at, at + size) free of reservations? Else *next is the end of one that is in the way. */
static bool is_free(const struct memory_maps *maps, u64 at, u64 size, u64 *next)
{
	for (size_t i = 0; i < maps->reserved.len; i++) {
		const struct memory_reservation *r = &maps->reserved.at[i];

		if (at < r->base + r->size && r->base < at + size) {
			*next = r->base + r->size;
			return false;
		}
	}
	return true;
}

static u64 find_room(const struct memory_maps *maps, u64 size, u64 align, u64 hint)
{
	const struct mem *m = &maps->system->maps;
	u64 start = (u64)(uintptr_t)m->arena, at, next;

	if (hint && hint % align == 0 && size_inside(hint, size, start, m->arena_size) &&
	    is_free(maps, hint, size, &next))
		return hint;
	if (!size_align_up(start + MEMORY_GRANULARITY, max_u64(align, FIRST_ALIGN), &at))
		return 0;
	while (size_inside(at, size, start, m->arena_size)) {
		if (is_free(maps, at, size, &next))
			return at;
		if (!size_align_up(next, align, &at))
			return 0;
	}
	return 0;
}

enum status memory_reserve(struct memory_maps *maps, u64 size, u64 align, u64 at, u64 *out)
{
	enum status status;

	if (!is_granular(size) || (align & (align - 1)) || align > ADDRESS_SPACE ||
	    page_of(at) != at)
		return STATUS_INVALID_VALUE;
	if (at > ADDRESS_SPACE)
		return STATUS_OUT_OF_MEMORY;
	align = max_u64(align, MEMORY_GRANULARITY);
	pthread_mutex_lock(&maps->lock);
	status = open_maps(maps);
	*out = status == STATUS_SUCCESS ? find_room(maps, size, align, at) : 0;
	if (!*out || !VEC_PUSH(&maps->reserved, ((struct memory_reservation){*out, size})))
		status = STATUS_OUT_OF_MEMORY;
	pthread_mutex_unlock(&maps->lock);
	return status;
}

/* The reservation that holds all of the range; NULL: none. */
static struct memory_reservation *reservation(struct memory_maps *maps, u64 at, u64 size)
{
	for (size_t i = 0; i < maps->reserved.len; i++) {
		struct memory_reservation *r = &maps->reserved.at[i];

		if (size_inside(at, size, r->base, r->size))
			return r;
	}
	return NULL;
}

static bool any_mapping(struct memory_maps *maps, u64 at, u64 size)
{
	struct mem_range r;

	for (u64 x = at; x < at + size; x += MEMORY_GRANULARITY)
		if (mem_find_own(&maps->system->maps, x, 1, &r))
			return true;
	return false;
}

enum status memory_unreserve(struct memory_maps *maps, u64 at, u64 size)
{
	struct memory_reservation *r;
	enum status status = STATUS_INVALID_VALUE;

	pthread_mutex_lock(&maps->lock);
	r = reservation(maps, at, size);
	if (r && r->base == at && r->size == size && !any_mapping(maps, at, size)) {
		*r = maps->reserved.at[--maps->reserved.len];
		status = STATUS_SUCCESS;
	}
	pthread_mutex_unlock(&maps->lock);
	return status;
}

/* ---- physical memory; the lock is held ---- */

static bool is_physical(const struct memory_maps *maps, const void *handle)
{
	for (const struct memory_physical *p = maps->first; p; p = p->next)
		if (p == handle)
			return p->handles != 0;
	return false;
}

static struct memory_physical *add_physical(struct memory_maps *maps, int fd, u64 size)
{
	struct memory_physical *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->fd = fd;
	p->size = size;
	p->handles = 1;
	p->next = maps->first;
	maps->first = p;
	return p;
}

static void drop_physical(struct memory_maps *maps, struct memory_physical *p)
{
	struct memory_physical **at = &maps->first;

	if (p->handles || p->mappings)
		return;
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	if (p->arena)
		mem_discharge(p->arena, p->size);
	close(p->fd);
	free(p);
}

static enum status create_physical(struct memory_maps *maps, struct mem *arena, u64 size,
				   const struct memory_physical_props *props,
				   struct memory_physical **out)
{
	int fd;

	if (!mem_charge(arena, size))
		return STATUS_OUT_OF_MEMORY;
	fd = memfd_create("ptxloom", MFD_CLOEXEC);
	*out = fd >= 0 && !ftruncate(fd, (off_t)size) ? add_physical(maps, fd, size) : NULL;
	if (*out) {
		(*out)->props = *props;
		(*out)->arena = arena;
		return STATUS_SUCCESS;
	}
	if (fd >= 0)
		close(fd);
	mem_discharge(arena, size);
	return STATUS_OUT_OF_MEMORY;
}

enum status memory_create(struct memory_maps *maps, struct device *d, u64 size,
			  const struct memory_physical_props *props, struct memory_physical **out)
{
	enum status status;

	if (!is_granular(size) || props->type != 1 || props->handle_types & WINDOWS_HANDLES)
		return STATUS_INVALID_VALUE;
	/*
	 * This process has no permission to use the fabric; types that no driver knows mean
	 * nothing.
	 */
	if (props->handle_types & FABRIC)
		return STATUS_NOT_PERMITTED;
	pthread_mutex_lock(&maps->lock);
	status = create_physical(maps, d ? &d->mem : &maps->system->host, size, props, out);
	pthread_mutex_unlock(&maps->lock);
	return status;
}

enum status memory_release(struct memory_maps *maps, struct memory_physical *p)
{
	bool ok;

	pthread_mutex_lock(&maps->lock);
	ok = is_physical(maps, p);
	if (ok) {
		p->handles--;
		drop_physical(maps, p);
	}
	pthread_mutex_unlock(&maps->lock);
	return ok ? STATUS_SUCCESS : STATUS_INVALID_VALUE;
}

enum status memory_physical_get(struct memory_maps *maps, const struct memory_physical *p,
				struct memory_physical_props *out)
{
	bool ok;

	pthread_mutex_lock(&maps->lock);
	ok = is_physical(maps, p);
	if (ok)
		*out = p->props;
	pthread_mutex_unlock(&maps->lock);
	return ok ? STATUS_SUCCESS : STATUS_INVALID_VALUE;
}

enum status memory_physical_export(struct memory_maps *maps, const struct memory_physical *p,
				   int *fd)
{
	enum status status = STATUS_INVALID_VALUE;

	pthread_mutex_lock(&maps->lock);
	if (is_physical(maps, p) && (p->props.handle_types & POSIX_FD)) {
		*fd = fcntl(p->fd, F_DUPFD_CLOEXEC, 0);
		status = *fd >= 0 ? STATUS_SUCCESS : STATUS_OPERATING_SYSTEM;
	}
	pthread_mutex_unlock(&maps->lock);
	return status;
}

enum status memory_physical_import(struct memory_maps *maps, int fd, struct memory_physical **out)
{
	struct memory_physical *p;
	struct stat st;
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (own < 0)
		return STATUS_UNKNOWN;
	if (fstat(own, &st) || !is_granular((u64)st.st_size)) {
		close(own);
		return STATUS_INVALID_VALUE;
	}
	pthread_mutex_lock(&maps->lock);
	p = add_physical(maps, own, (u64)st.st_size);
	pthread_mutex_unlock(&maps->lock);
	if (!p) {
		close(own);
		return STATUS_OUT_OF_MEMORY;
	}
	p->props.type = 1;
	p->props.handle_types = POSIX_FD;
	p->props.location = (struct memory_location){LOCATION_DEVICE, 0};
	*out = p;
	return STATUS_SUCCESS;
}

void memory_maps_forget(struct memory_maps *maps, const struct device *d)
{
	pthread_mutex_lock(&maps->lock);
	for (struct memory_physical *p = maps->first; p; p = p->next)
		if (p->arena == &d->mem)
			p->arena = NULL;
	pthread_mutex_unlock(&maps->lock);
}

/* ---- mappings; the lock is held ---- */

static bool map_pages(const struct memory_maps *maps, u64 at, u64 size, u64 offset, int fd)
{
	u64 host = at + maps->system->maps.bias;

	return mmap((void *)(uintptr_t)host, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		    fd, (off_t)offset) != MAP_FAILED;
}

/* Nothing is at these addresses any more, for any device. */
static void unmap_pages(u64 at, u64 size)
{
	mmap((void *)(uintptr_t)at, size, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/*
 * Fresh pages hold nothing of meaning; what is at several addresses, or was mapped before, may.
 */
static void tell_mapping(struct mem *m, struct memory_physical *p,
			 const struct memory_reservation *at)
{
	if (!p->told.size && p->arena)
		memory_tell_alloc(m, at->base, at->size, MEM_KIND_MAPPED);
	else if (p->told.size)
		memory_tell_write(p->told.base, p->told.size);
	p->told = *at;
}

static enum status map_range(struct memory_maps *maps, struct memory_reservation at, u64 offset,
			     struct memory_physical *p)
{
	struct mem *m = &maps->system->maps;
	struct mem_range r = {
		.base = at.base, .size = at.size, .bias = m->bias, .kind = MEM_KIND_MAPPED};
	struct memory_block *b;

	if (!mem_insert(m, r))
		return STATUS_ALREADY_MAPPED;
	b = memory_block_new(m, at.base, MEMORY_MAPPED,
			     p->props.location.type == LOCATION_DEVICE ? (u32)p->props.location.id
								       : 0);
	if (!b)
		return STATUS_OUT_OF_MEMORY;
	b->physical = p;
	b->key[0] = offset;
	p->mappings++;
	tell_mapping(m, p, &at);
	return STATUS_SUCCESS;
}

enum status memory_map(struct memory_maps *maps, u64 at, u64 size, u64 offset,
		       struct memory_physical *p)
{
	enum status status = STATUS_INVALID_VALUE;

	pthread_mutex_lock(&maps->lock);
	/* What does not fit the memory is not supported, in the driver's words. */
	if (size && is_physical(maps, p) &&
	    (!is_granular(size) || page_of(offset) != offset ||
	     !size_inside(offset, size, 0, p->size)))
		status = STATUS_NOT_SUPPORTED;
	else if (size && page_of(at) == at && is_physical(maps, p) && reservation(maps, at, size) &&
		 !any_mapping(maps, at, size))
		status = map_range(maps, (struct memory_reservation){at, size}, offset, p);
	if (status == STATUS_SUCCESS && !map_pages(maps, at, size, offset, p->fd))
		status = STATUS_MAP_FAILED;
	pthread_mutex_unlock(&maps->lock);
	return status;
}

/* Mappings that the range has a part of lie in it whole, and all of it is reserved. */
static bool is_divided(struct memory_maps *maps, u64 at, u64 size)
{
	struct mem_range r;

	if (!is_granular(size) || page_of(at) != at || !size_is_range(at, size))
		return false;
	for (u64 x = at; x < at + size; x += MEMORY_GRANULARITY)
		if (!reservation(maps, x, MEMORY_GRANULARITY) ||
		    (mem_find_own(&maps->system->maps, x, 1, &r) &&
		     (r.base < at || r.base + r.size > at + size)))
			return false;
	return true;
}

/* Whole mappings, one after the other, fill the range. */
static bool is_filled(struct memory_maps *maps, u64 at, u64 size)
{
	struct mem_range r;
	u64 x = at;

	if (!size_is_range(at, size))
		return false;
	while (x < at + size) {
		if (!mem_find_own(&maps->system->maps, x, 1, &r) || r.base != x ||
		    r.size > at + size - x)
			return false;
		x += r.size;
	}
	return size != 0;
}

enum status memory_unmap(struct memory_maps *maps, u64 at, u64 size)
{
	struct mem *m = &maps->system->maps;
	enum status status = STATUS_INVALID_VALUE;
	struct mem_range r;

	pthread_mutex_lock(&maps->lock);
	/* Where nothing is mapped there is nothing to do. */
	if (is_divided(maps, at, size)) {
		for (u64 x = at; x < at + size; x += r.size) {
			struct memory_block *b;

			if (!mem_find_own(m, x, 1, &r)) {
				r.size = MEMORY_GRANULARITY;
				continue;
			}
			b = r.user;
			memory_tell_free(m, x, r.size);
			mem_remove(m, x);
			unmap_pages(x, r.size);
			if (m->bias)
				unmap_pages(x + m->bias, r.size);
			b->physical->mappings--;
			drop_physical(maps, b->physical);
			free(b);
		}
		status = STATUS_SUCCESS;
	}
	pthread_mutex_unlock(&maps->lock);
	return status;
}

/* The host has its own view of what it may touch. */
static void show_to_host(struct memory_maps *maps, const struct mem_range *r, bool shown)
{
	const struct memory_block *b = r->user;

	if (!maps->system->maps.bias)
		return;
	if (!shown)
		unmap_pages(r->base, r->size);
	else
		mmap((void *)(uintptr_t)r->base, r->size, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_FIXED, b->physical->fd, (off_t)b->key[0]);
}

static void set_one(struct memory_maps *maps, const struct mem_range *r,
		    const struct memory_access *a)
{
	u32 bit;

	if (a->location.type != LOCATION_DEVICE) {
		show_to_host(maps, r, a->flags != 0);
		return;
	}
	bit = (u32)1 << a->location.id;
	mem_set_devices(&maps->system->maps, r->base,
			a->flags ? r->devices | bit : r->devices & ~bit,
			a->flags == READ_ONLY ? r->read_only | bit : r->read_only & ~bit);
}

static bool is_valid_access(const struct memory_maps *maps, const struct memory_access *a)
{
	if (a->flags != 0 && a->flags != 1 && a->flags != 3)
		return false;
	if (a->location.type != LOCATION_DEVICE)
		return a->location.type == LOCATION_HOST || a->location.type == LOCATION_NUMA;
	return a->location.id >= 0 && a->location.id < (int)MEM_DEVICES_MAX &&
	       maps->system->device[a->location.id];
}

enum status memory_set_access(struct memory_maps *maps, u64 at, u64 size,
			      const struct memory_access *desc, u64 count)
{
	struct mem *m = &maps->system->maps;
	enum status status = STATUS_SUCCESS;
	struct mem_range r;

	if (!desc || !count)
		return STATUS_INVALID_VALUE;
	pthread_mutex_lock(&maps->lock);
	for (u64 i = 0; i < count; i++)
		if (!is_valid_access(maps, &desc[i]))
			status = STATUS_INVALID_VALUE;
	if (!is_filled(maps, at, size))
		status = STATUS_INVALID_VALUE;
	for (u64 x = at; status == STATUS_SUCCESS && x < at + size; x += r.size)
		for (u64 i = 0; i < count; i++) {
			mem_find_own(m, x, 1, &r);
			set_one(maps, &r, &desc[i]);
		}
	pthread_mutex_unlock(&maps->lock);
	return status;
}

enum status memory_get_access(struct memory_maps *maps, u64 at, struct memory_location where,
			      u64 *flags)
{
	struct mem_range r;

	if (!mem_find_own(&maps->system->maps, at, 1, &r) || where.type != LOCATION_DEVICE ||
	    where.id < 0 || where.id >= (int)MEM_DEVICES_MAX)
		return STATUS_INVALID_VALUE;
	*flags = !(r.devices >> where.id & 1) ? 0 : r.read_only >> where.id & 1 ? READ_ONLY : 3;
	return STATUS_SUCCESS;
}

enum status memory_retain(struct memory_maps *maps, u64 at, struct memory_physical **out)
{
	enum status status = STATUS_INVALID_VALUE;
	struct mem_range r;

	pthread_mutex_lock(&maps->lock);
	if (maps->system->maps.arena && mem_find_own(&maps->system->maps, at, 1, &r)) {
		*out = ((struct memory_block *)r.user)->physical;
		(*out)->handles++;
		status = STATUS_SUCCESS;
	}
	pthread_mutex_unlock(&maps->lock);
	return status;
}
