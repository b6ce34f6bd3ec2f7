/*
 * The memory extension of NVTX, version 3: programs' own allocators say which parts of their pools
 * are handed out, what has been initialized by other means, what memory is called, and what kernels
 * may do there. NVTX is a header; it opens the
 * library that NVTX_INJECTION64_PATH names, which `ptxloom run` sets where checks are asked for,
 * and calls the functions below.
 *
 * Source: the interface of nvToolsExtMem.h and nvToolsExtMemCudaRt.h, compatibility 0x0102.
 */
#include "runtime/nvtx.h"
#include "runtime/process.h"
#include "src/dev/memory/watch.h"
#include "src/mem/marks.h"
#include "src/mem/pools.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { NVTX_MODULE_MEM = 1 };

/* What NVTX asks for: functions of a module, by number, in segments of which there is one. */
struct nvtx_segment {
	size_t id, slots;
	intptr_t *slot;
};

struct nvtx_module {
	u16 version, bytes, id, compatibility;
	size_t segments;
	struct nvtx_segment *segment;
};

/* NVTX's numbers of the functions that are of use here, and of those that would be. */
enum nvtx_mem_function {
	NVTX_HEAP_REGISTER,
	NVTX_HEAP_UNREGISTER,
	NVTX_HEAP_RESET,
	NVTX_REGIONS_REGISTER,
	NVTX_REGIONS_RESIZE,
	NVTX_REGIONS_UNREGISTER,
	NVTX_REGIONS_NAME,
	NVTX_PERMISSIONS_ASSIGN,
	NVTX_PERMISSIONS_CREATE,
	NVTX_PERMISSIONS_RESET = 10,
	NVTX_PERMISSIONS_BIND,
	NVTX_PERMISSIONS_PROCESS = 13,
	NVTX_PERMISSIONS_DEVICE,
	NVTX_PEER_ACCESS,
	NVTX_MARK_INITIALIZED
};

enum { NVTX_SUBALLOCATOR = 1, NVTX_VIRTUAL_ADDRESS = 1 };

struct nvtx_range {
	size_t size;
	const void *at;
};

struct nvtx_heap {
	u16 compatibility, bytes;
	u32 reserved, usage, type;
	size_t range_bytes;
	const struct nvtx_range *range;
};

/* Handles of heaps are our numbers, of regions their addresses. */
struct nvtx_register {
	u16 compatibility, bytes;
	u32 type;
	u64 heap;
	size_t count, element;
	const u8 *range;
	u64 *handle; /* may be NULL */
};

struct nvtx_batch { /* resized, or initialized */
	u16 compatibility, bytes;
	u32 type;
	size_t count, element;
	const u8 *range;
};

struct nvtx_unregister {
	u16 compatibility, bytes;
	u32 type; /* of references: addresses or handles, which are the same here */
	size_t count, element;
	const u8 *reference;
};

struct nvtx_names {
	u16 compatibility, bytes;
	u32 reserved;
	size_t count, element;
	const u8 *name;
	size_t rest;
};

struct nvtx_region_name {
	u32 reference, type; /* of the region; of the text */
	u64 region;
	const void *name;
	u32 category, reserved;
};

struct nvtx_assign {
	u16 compatibility, bytes;
	u32 reserved;
	u64 permissions; /* our numbers: 0: all devices; 1 + i: device i */
	size_t count, element;
	const u8 *region;
	size_t rest;
};

struct nvtx_permission {
	u32 flags, reference;
	u64 region;
};

/* Flags of permissions beside those of MEM_MAY_*. */
enum { NVTX_MAY_ALL = MEM_MAY_READ | MEM_MAY_WRITE | MEM_MAY_ATOMIC, NVTX_MAY_RESET = 8 };
#define NVTX_PERMISSIONS_OTHER UINT64_MAX

/* What instructions remember of their allocations may be wrong now. */
static void pools_changed(void)
{
	mem_system_changed(&rt_get()->memory);
}

/* Element i, copied; false: the program's structure is another. */
static bool nvtx_element(const u8 *list, size_t element, size_t i, void *out, size_t bytes)
{
	if (!list || element < bytes)
		return false;
	memcpy(out, list + i * element, bytes);
	return true;
}

static void say_nvtx(const char *what)
{
	fprintf(stderr, "ptxloom: note: NVTX: %s\n", what);
}

static u64 nvtx_heap_register(void *domain, const struct nvtx_heap *h)
{
	u64 id;

	(void)domain;
	if (!h || h->bytes < sizeof(*h) || h->type != NVTX_VIRTUAL_ADDRESS || !h->range ||
	    h->range_bytes < sizeof(*h->range))
		return 0;
	/* Layouts describe memory that may be touched without them. */
	if (h->usage != NVTX_SUBALLOCATOR)
		return UINT64_MAX;
	id = mem_pool_add((u64)(uintptr_t)h->range->at, h->range->size);
	if (id)
		pools_changed();
	return id;
}

static void nvtx_heap_unregister(void *domain, u64 heap)
{
	(void)domain;
	if (mem_pool_remove(heap))
		pools_changed();
}

static void nvtx_heap_reset(void *domain, u64 heap)
{
	u64 base, size;

	(void)domain;
	if (!mem_pool_reset(heap, &base, &size))
		return;
	memory_tell_region(base, size);
	mem_marks_forget(base, size);
	pools_changed();
}

static void nvtx_regions_register(void *domain, const struct nvtx_register *b)
{
	struct nvtx_range r;
	bool all = true;

	(void)domain;
	if (!b || b->bytes < sizeof(*b) || b->type != NVTX_VIRTUAL_ADDRESS)
		return;
	for (size_t i = 0; i < b->count && nvtx_element(b->range, b->element, i, &r, sizeof(r));
	     i++) {
		u64 base = (u64)(uintptr_t)r.at;

		if (b->handle)
			b->handle[i] = base;
		/* Of the whole process, or a layout: only for names and permissions. */
		if (!b->heap || b->heap == UINT64_MAX)
			all &= r.size && size_is_range(base, r.size) &&
			       mem_mark_region(base, r.size);
		else if (mem_region_add(b->heap, base, r.size))
			memory_tell_region(base, r.size);
		else
			all = false;
	}
	if (!all)
		say_nvtx("a region that is not inside its pool was not registered");
	pools_changed();
}

static void nvtx_regions_resize(void *domain, const struct nvtx_batch *b)
{
	struct nvtx_range r;
	u64 old;

	(void)domain;
	if (!b || b->bytes < sizeof(*b) || b->type != NVTX_VIRTUAL_ADDRESS)
		return;
	for (size_t i = 0; i < b->count && nvtx_element(b->range, b->element, i, &r, sizeof(r));
	     i++) {
		u64 base = (u64)(uintptr_t)r.at;

		if (mem_region_resize(base, r.size, &old) && r.size > old)
			memory_tell_region(base + old, r.size - old);
	}
	pools_changed();
}

static void nvtx_region_end(u64 base)
{
	u64 size = mem_mark_region_size(base);

	if (mem_region_remove(base, &size))
		memory_tell_region(base, size);
	if (size)
		mem_marks_forget(base, size);
}

static void nvtx_regions_unregister(void *domain, const struct nvtx_unregister *b)
{
	u64 base;

	(void)domain;
	if (!b || b->bytes < sizeof(*b))
		return;
	for (size_t i = 0;
	     i < b->count && nvtx_element(b->reference, b->element, i, &base, sizeof(base)); i++)
		nvtx_region_end(base);
	pools_changed();
}

static void nvtx_mark_initialized(void *domain, void *stream, u8 per_thread,
				  const struct nvtx_batch *b)
{
	struct nvtx_range r;

	(void)domain, (void)stream, (void)per_thread;
	if (!b || b->bytes < sizeof(*b) || b->type != NVTX_VIRTUAL_ADDRESS)
		return;
	for (size_t i = 0; i < b->count && nvtx_element(b->range, b->element, i, &r, sizeof(r));
	     i++)
		if (r.size && size_is_range((u64)(uintptr_t)r.at, r.size))
			memory_tell_write((u64)(uintptr_t)r.at, r.size);
}

/* ---- names and permissions ---- */

/* How long what begins there is: a region, or an allocation. 0: nothing does. */
static u64 nvtx_region_size(u64 base)
{
	struct mem_region region;
	struct mem_range r;
	u64 size = mem_mark_region_size(base);

	if (!size && mem_has_pools() && mem_region_near(base, &region) && region.base == base &&
	    !region.freed)
		size = region.size;
	if (!size && mem_system_find(&rt_get()->memory, base, 1, &r, NULL) && r.base == base)
		size = r.size;
	return size;
}

static void nvtx_regions_name(void *domain, const struct nvtx_names *b)
{
	struct nvtx_region_name x;

	(void)domain;
	if (!b || b->bytes < offsetof(struct nvtx_names, rest))
		return;
	for (size_t i = 0; i < b->count && nvtx_element(b->name, b->element, i, &x, sizeof(x));
	     i++) {
		u64 size = nvtx_region_size(x.region);
		char *made;
		const char *name = nvtx_text(x.type, x.name, &made);

		if (!size)
			say_nvtx("a name is given to what is no region or allocation");
		else
			(void)mem_mark_name(x.region, size, name);
		free(made);
	}
}

static void nvtx_permit(u64 handle, const struct nvtx_permission *x)
{
	u32 device = handle ? (u32)(handle - 1) : MEM_ALL_DEVICES;
	u64 size = nvtx_region_size(x->region);

	if (x->flags & NVTX_MAY_RESET)
		mem_mark_reset(x->region, device);
	else if (!size)
		say_nvtx("permissions are given to what is no region or allocation");
	else
		(void)mem_mark_permit(x->region, size, device, x->flags & NVTX_MAY_ALL);
}

static void nvtx_assign(void *domain, const struct nvtx_assign *b)
{
	struct nvtx_permission x;

	(void)domain;
	if (!b || b->bytes < offsetof(struct nvtx_assign, rest) || b->permissions > MEM_DEVICES_MAX)
		return;
	for (size_t i = 0; i < b->count && nvtx_element(b->region, b->element, i, &x, sizeof(x));
	     i++)
		nvtx_permit(b->permissions, &x);
	pools_changed();
}

static void nvtx_permissions_reset(void *domain, u64 handle)
{
	(void)domain;
	if (handle > MEM_DEVICES_MAX)
		return;
	mem_marks_reset(handle ? (u32)(handle - 1) : MEM_ALL_DEVICES);
	pools_changed();
}

static u64 nvtx_permissions_process(void *domain)
{
	(void)domain;
	return 0;
}

static u64 nvtx_permissions_device(void *domain, int device)
{
	(void)domain;
	return device >= 0 && device < (int)MEM_DEVICES_MAX ? 1 + (u64)device
							    : NVTX_PERMISSIONS_OTHER;
}

static void say_unbound(void)
{
	static bool said;

	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		say_nvtx("permissions of threads, streams and peers are not checked");
}

static u64 nvtx_permissions_create(void *domain, int flags)
{
	(void)domain, (void)flags;
	say_unbound();
	return NVTX_PERMISSIONS_OTHER;
}

int InitializeInjectionNvtxExtension(const struct nvtx_module *m);
int InitializeInjectionNvtx2(const void *(*table)(u32));

/* Called for each module when the program calls it first. 0: its calls do nothing. */
__attribute__((visibility("default"))) int
InitializeInjectionNvtxExtension(const struct nvtx_module *m)
{
	static const struct {
		enum nvtx_mem_function number;
		intptr_t function;
	} rows[] = {{NVTX_HEAP_REGISTER, (intptr_t)nvtx_heap_register},
		    {NVTX_HEAP_UNREGISTER, (intptr_t)nvtx_heap_unregister},
		    {NVTX_HEAP_RESET, (intptr_t)nvtx_heap_reset},
		    {NVTX_REGIONS_REGISTER, (intptr_t)nvtx_regions_register},
		    {NVTX_REGIONS_RESIZE, (intptr_t)nvtx_regions_resize},
		    {NVTX_REGIONS_UNREGISTER, (intptr_t)nvtx_regions_unregister},
		    {NVTX_REGIONS_NAME, (intptr_t)nvtx_regions_name},
		    {NVTX_PERMISSIONS_ASSIGN, (intptr_t)nvtx_assign},
		    {NVTX_PERMISSIONS_CREATE, (intptr_t)nvtx_permissions_create},
		    {NVTX_PERMISSIONS_RESET, (intptr_t)nvtx_permissions_reset},
		    {NVTX_PERMISSIONS_BIND, (intptr_t)say_unbound},
		    {NVTX_PERMISSIONS_PROCESS, (intptr_t)nvtx_permissions_process},
		    {NVTX_PERMISSIONS_DEVICE, (intptr_t)nvtx_permissions_device},
		    {NVTX_PEER_ACCESS, (intptr_t)say_unbound},
		    {NVTX_MARK_INITIALIZED, (intptr_t)nvtx_mark_initialized}};

	if (!m || m->bytes < sizeof(*m) || m->id != NVTX_MODULE_MEM || !m->segments || !m->segment)
		return 0;
	rt_get();
	if (!(the_process.checks & (CHECK_MEM | CHECK_INIT)) || the_process.is_forked)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if ((size_t)rows[i].number < m->segment->slots)
			m->segment->slot[rows[i].number] = rows[i].function;
	return 1;
}
