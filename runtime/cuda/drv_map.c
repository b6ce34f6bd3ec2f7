/*
 * Virtual memory and pools of the driver interface.
 */
#include "runtime/cuda/drv.h"
#include "src/dev/memory/memory.h"

static struct memory_maps *drv_maps(void)
{
	return &rt_get()->maps;
}

/* Virtual memory and pools name their devices: once cuInit was called, they need no context. */
#define INITIALISED(call)                                                                          \
	do {                                                                                       \
		int status_ = drv_check(0);                                                        \
		return status_ ? status_ : (int)(call);                                            \
	} while (0)

/* ---- virtual memory ---- */

DRV_FN(cuMemAddressReserve, (u64 * out, size_t size, size_t align, u64 at, u64 flags))
{
	INITIALISED(!out || flags ? STATUS_INVALID_VALUE
				  : memory_reserve(drv_maps(), size, align, at, out));
}

DRV_FN(cuMemAddressFree, (u64 at, size_t size))
{
	INITIALISED(memory_unreserve(drv_maps(), at, size));
}

static int location_owner(struct memory_location where, struct device **out)
{
	struct rt_device *d;
	int status;

	*out = NULL;
	if (where.type != LOCATION_DEVICE)
		return where.type >= LOCATION_HOST && where.type <= LOCATION_NUMA_HERE
			       ? STATUS_SUCCESS
			       : STATUS_INVALID_VALUE;
	status = drv_check(where.id);
	d = status ? NULL : rt_device_open(where.id, &status);
	*out = d ? &d->dev : NULL;
	return status;
}

DRV_FN(cuMemCreate, (struct memory_physical * *out, size_t size,
		     const struct memory_physical_props *props, u64 flags))
{
	struct device *d;
	int status = drv_check(0);

	if (status)
		return status;
	if (!out || !props || flags)
		return STATUS_INVALID_VALUE;
	status = location_owner(props->location, &d);
	return status ? status : (int)memory_create(drv_maps(), d, size, props, out);
}

DRV_FN(cuMemRelease, (struct memory_physical * p))
{
	INITIALISED(memory_release(drv_maps(), p));
}

DRV_FN(cuMemMap, (u64 at, size_t size, size_t offset, struct memory_physical *p, u64 flags))
{
	INITIALISED(flags ? STATUS_INVALID_VALUE : memory_map(drv_maps(), at, size, offset, p));
}

DRV_FN(cuMemUnmap, (u64 at, size_t size))
{
	int status = drv_check(0), none;
	struct rt_device *d = drv_device(&none);

	if (status)
		return status;
	if (d)
		rt_wait(d);
	return (int)memory_unmap(drv_maps(), at, size);
}

DRV_FN(cuMemSetAccess, (u64 at, size_t size, const struct memory_access *desc, size_t count))
{
	INITIALISED(memory_set_access(drv_maps(), at, size, desc, count));
}

DRV_FN(cuMemGetAccess, (u64 * flags, const struct memory_location *where, u64 at))
{
	INITIALISED(flags && where ? memory_get_access(drv_maps(), at, *where, flags)
				   : STATUS_INVALID_VALUE);
}

/* option: 0 the least, 1 what is best; both are the page of the devices. */
DRV_FN(cuMemGetAllocationGranularity,
       (size_t * out, const struct memory_physical_props *props, int option))
{
	INITIALISED(!out || !props || props->type != 1 || (option != 0 && option != 1)
			    ? STATUS_INVALID_VALUE
			    : (*out = MEMORY_GRANULARITY, STATUS_SUCCESS));
}

DRV_FN(cuMemGetAllocationPropertiesFromHandle,
       (struct memory_physical_props * out, const struct memory_physical *p))
{
	INITIALISED(out ? memory_physical_get(drv_maps(), p, out) : STATUS_INVALID_VALUE);
}

DRV_FN(cuMemRetainAllocationHandle, (struct memory_physical * *out, const void *at))
{
	INITIALISED(out ? memory_retain(drv_maps(), (u64)(uintptr_t)at, out)
			: STATUS_INVALID_VALUE);
}

#define POSIX_FD 1

DRV_FN(cuMemExportToShareableHandle,
       (void *out, const struct memory_physical *p, int type, u64 flags))
{
	INITIALISED(!out || flags || type != POSIX_FD ? STATUS_INVALID_VALUE
						      : memory_physical_export(drv_maps(), p, out));
}

DRV_FN(cuMemImportFromShareableHandle, (struct memory_physical * *out, void *handle, int type))
{
	INITIALISED(!out ? STATUS_INVALID_VALUE
		    : type != POSIX_FD
			    ? STATUS_NOT_SUPPORTED
			    : memory_physical_import(drv_maps(), (int)(intptr_t)handle, out));
}

/* ---- pools ---- */

static struct memory_pools *drv_pools(void)
{
	return &rt_get()->pools;
}

static int allocate_ordered(u64 *out, size_t size, struct memory_pool *pool, const void *stream,
			    bool own)
{
	struct rt *rt = rt_get();
	int status;
	struct stream *s = drv_stream(stream, own, &status);

	if (!s)
		return status;
	if (!out)
		return STATUS_INVALID_VALUE;
	*out = 0;
	if (!size)
		return STATUS_SUCCESS;
	pool = pool ? pool : rt_pool_of(&rt->device[stream_device_of(s)->mem.index]);
	return pool ? (int)memory_alloc_async(s, pool, size, out) : (int)STATUS_OUT_OF_MEMORY;
}

static int drv_free_ordered(u64 p, const void *stream, bool own)
{
	int status;
	struct stream *s = drv_stream(stream, own, &status);

	return s && p ? (int)memory_free_async(s, p) : status;
}

DRV_STREAM_FN(cuMemAllocAsync, (u64 * out, size_t size, void *stream),
	      allocate_ordered(out, size, NULL, stream, OWN))
DRV_STREAM_FN(cuMemAllocFromPoolAsync,
	      (u64 * out, size_t size, struct memory_pool *pool, void *stream),
	      memory_pool_is(drv_pools(), pool) ? allocate_ordered(out, size, pool, stream, OWN)
						: (int)STATUS_INVALID_VALUE)
DRV_STREAM_FN(cuMemFreeAsync, (u64 p, void *stream), drv_free_ordered(p, stream, OWN))

DRV_FN(cuDeviceGetDefaultMemPool, (struct memory_pool * *out, int device))
{
	int status = drv_check(device);

	return status ? status : rt_pool_default(out, device, false);
}

DRV_FN(cuDeviceGetMemPool, (struct memory_pool * *out, int device))
{
	int status = drv_check(0);

	return status ? status : rt_pool_default(out, device, true);
}

DRV_FN(cuDeviceSetMemPool, (int device, struct memory_pool *pool))
{
	int status = drv_check(0);

	return status ? status : rt_pool_choose(device, pool);
}

DRV_FN(cuMemGetDefaultMemPool,
       (struct memory_pool * *out, const struct memory_location *where, int type))
{
	int status = drv_check(0);

	return status ? status : rt_pool_at(out, where, type, false);
}

DRV_FN(cuMemGetMemPool, (struct memory_pool * *out, const struct memory_location *where, int type))
{
	int status = drv_check(0);

	return status ? status : rt_pool_at(out, where, type, true);
}

DRV_FN(cuMemSetMemPool, (const struct memory_location *where, int type, struct memory_pool *pool))
{
	int status = drv_check(0);

	return status ? status : rt_pool_choose_at(where, type, pool);
}

DRV_FN(cuMemPoolCreate, (struct memory_pool * *out, const struct memory_pool_props *props))
{
	INITIALISED(rt_pool_create(out, props));
}

DRV_FN(cuMemPoolDestroy, (struct memory_pool * pool))
{
	INITIALISED(rt_pool_destroy(pool));
}

#define ON_POOL(pool, call)                                                                        \
	INITIALISED(memory_pool_is(drv_pools(), pool) ? (call) : STATUS_INVALID_VALUE)

DRV_FN(cuMemPoolTrimTo, (struct memory_pool * pool, size_t keep))
{
	ON_POOL(pool, memory_pool_trim(drv_pools(), pool, keep));
}

DRV_FN(cuMemPoolGetAttribute, (struct memory_pool * pool, int attribute, void *value))
{
	ON_POOL(pool, memory_pool_get(drv_pools(), pool, attribute, value));
}

DRV_FN(cuMemPoolSetAttribute, (struct memory_pool * pool, int attribute, const void *value))
{
	ON_POOL(pool, memory_pool_set(drv_pools(), pool, attribute, value));
}

DRV_FN(cuMemPoolSetAccess, (struct memory_pool * pool, const struct memory_access *desc, size_t n))
{
	INITIALISED(rt_pool_access(pool, desc, n));
}

DRV_FN(cuMemPoolGetAccess,
       (u32 * flags, struct memory_pool *pool, const struct memory_location *where))
{
	ON_POOL(pool, flags && where ? memory_pool_access_get(pool, *where, flags)
				     : STATUS_INVALID_VALUE);
}

DRV_FN(cuMemPoolExportToShareableHandle, (void *out, struct memory_pool *pool, int type, u64 flags))
{
	ON_POOL(pool, !out || flags || type != POSIX_FD ? STATUS_INVALID_VALUE
							: memory_pool_export(pool, out));
}

DRV_FN(cuMemPoolImportFromShareableHandle,
       (struct memory_pool * *out, void *handle, int type, u64 flags))
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	if (!out || flags || type != POSIX_FD)
		return STATUS_INVALID_VALUE;
	return (int)memory_pool_import(drv_pools(), &d->dev, (int)(intptr_t)handle, out);
}

DRV_FN(cuMemPoolExportPointer, (void *data, u64 p))
{
	INITIALISED(data ? memory_pool_export_pointer(&rt_get()->memory, p, data)
			 : STATUS_INVALID_VALUE);
}

DRV_FN(cuMemPoolImportPointer, (u64 * out, struct memory_pool *pool, const void *data))
{
	ON_POOL(pool,
		out && data ? memory_pool_import_pointer(pool, data, out) : STATUS_INVALID_VALUE);
}
