/*
 * Stream-ordered memory of the runtime interface: cudaMallocAsync and pools.
 */
#include "runtime/rt.h"
#include "src/dev/memory/memory.h"

static struct memory_pools *rt_pools(void)
{
	return &rt_get()->pools;
}

struct memory_pool *rt_pool_of(struct rt_device *d)
{
	return d->pool ? d->pool : memory_pool_default(rt_pools(), &d->dev);
}

/* ---- allocating and freeing ---- */

static int rt_allocate_ordered(void **out, size_t size, struct memory_pool *pool,
			       cudaStream_t stream, bool own)
{
	struct rt *rt = rt_get();
	int status;
	struct stream *s = rt_stream(stream, own, &status);
	u64 at = 0;

	if (!s)
		return status;
	if (!out)
		return cudaErrorInvalidValue;
	*out = NULL;
	if (!size)
		return cudaSuccess;
	pool = pool ? pool : rt_pool_of(&rt->device[stream_device_of(s)->mem.index]);
	if (!pool)
		return cudaErrorMemoryAllocation;
	status = (int)memory_alloc_async(s, pool, size, &at);
	*out = (void *)(uintptr_t)at;
	return status;
}

static int allocate_from(void **out, size_t size, struct memory_pool *pool, cudaStream_t stream,
			 bool own)
{
	if (out)
		*out = NULL;
	return memory_pool_is(rt_pools(), pool) ? rt_allocate_ordered(out, size, pool, stream, own)
						: cudaErrorInvalidValue;
}

static int rt_free_ordered(const void *p, cudaStream_t stream, bool own)
{
	int status;
	struct stream *s = rt_stream(stream, own, &status);

	if (!s)
		return status;
	return p ? (int)memory_free_async(s, rt_address(p)) : cudaSuccess;
}

RT_STREAM_FN(cudaMallocAsync, (void **out, size_t size, cudaStream_t stream),
	     rt_allocate_ordered(out, size, NULL, stream, OWN))
RT_STREAM_FN(cudaMallocFromPoolAsync,
	     (void **out, size_t size, struct memory_pool *pool, cudaStream_t stream),
	     allocate_from(out, size, pool, stream, OWN))
RT_STREAM_FN(cudaFreeAsync, (void *p, cudaStream_t stream), rt_free_ordered(p, stream, OWN))

/* ---- pools ---- */

int rt_pool_default(struct memory_pool **out, int device, bool current)
{
	int status = rt_device_check(device);
	struct rt_device *d = status ? NULL : rt_device_open(device, &status);

	/* For the current pool of a device that does not exist the error is another. */
	if (!out || (current && status == cudaErrorInvalidDevice))
		return cudaErrorInvalidValue;
	if (!d)
		return status;
	*out = current ? rt_pool_of(d) : memory_pool_default(rt_pools(), &d->dev);
	return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* Pinned memory of the host, or managed memory: places with pools besides the devices'. */
static int check_place(const struct memory_location *where, int type)
{
	enum { PINNED = 1, MANAGED };

	if ((type != PINNED && type != MANAGED) || where->type < 0 ||
	    where->type > LOCATION_NUMA_HERE)
		return cudaErrorInvalidValue;
	if (where->type == LOCATION_NUMA_HERE)
		return cudaErrorNotSupported;
	return type == PINNED && where->type == LOCATION_INVALID ? cudaErrorInvalidValue
								 : cudaSuccess;
}

/* The default pool of such a place. */
static struct memory_pool *place_default(const struct memory_location *where, int type, int *status)
{
	struct rt_device *d;
	struct memory_pool *p;

	*status = check_place(where, type);
	d = *status ? NULL : rt_device_open(rt_device_index(), status);
	p = d ? memory_pool_default_at(rt_pools(), &d->dev, type, where) : NULL;
	if (d && !p)
		*status = cudaErrorMemoryAllocation;
	return p;
}

static bool is_device(const struct memory_location *where, int type)
{
	return type == 1 && where->type == LOCATION_DEVICE;
}

int rt_pool_at(struct memory_pool **out, const struct memory_location *where, int type,
	       bool current)
{
	struct memory_pool *p;
	int status;

	if (!out || !where)
		return cudaErrorInvalidValue;
	if (is_device(where, type))
		return rt_pool_default(out, where->id, current);
	p = place_default(where, type, &status);
	if (p)
		*out = current && p->chosen ? p->chosen : p;
	return status;
}

int rt_pool_choose(int device, struct memory_pool *pool)
{
	int status = rt_device_check(device);
	struct rt_device *d = status ? NULL : rt_device_open(device, &status);

	if (!d)
		return status == cudaErrorInvalidDevice ? (int)cudaErrorInvalidValue : status;
	if (!memory_pool_is(rt_pools(), pool) || pool->arena != &d->dev.mem)
		return cudaErrorInvalidValue;
	d->pool = pool;
	return cudaSuccess;
}

RT_FN(cudaDeviceGetDefaultMemPool, (struct memory_pool * *out, int device))
{
	return rt_error(rt_pool_default(out, device, false));
}

RT_FN(cudaDeviceGetMemPool, (struct memory_pool * *out, int device))
{
	return rt_error(rt_pool_default(out, device, true));
}

RT_FN(cudaDeviceSetMemPool, (int device, struct memory_pool *pool))
{
	return rt_error(rt_pool_choose(device, pool));
}

RT_FN(cudaMemGetDefaultMemPool,
      (struct memory_pool * *out, const struct memory_location *where, int type))
{
	return rt_error(rt_pool_at(out, where, type, false));
}

RT_FN(cudaMemGetMemPool, (struct memory_pool * *out, const struct memory_location *where, int type))
{
	return rt_error(rt_pool_at(out, where, type, true));
}

int rt_pool_choose_at(const struct memory_location *where, int type, struct memory_pool *pool)
{
	struct memory_pool *p;
	int status;

	if (!where)
		return cudaErrorInvalidValue;
	if (is_device(where, type))
		return rt_pool_choose(where->id, pool);
	if (!memory_pool_is(rt_pools(), pool))
		return cudaErrorInvalidValue;
	p = place_default(where, type, &status);
	if (!p)
		return status;
	if (!memory_pool_is_at(pool, type, where))
		return cudaErrorInvalidValue;
	p->chosen = pool;
	return cudaSuccess;
}

RT_FN(cudaMemSetMemPool, (const struct memory_location *where, int type, struct memory_pool *pool))
{
	return rt_error(rt_pool_choose_at(where, type, pool));
}

int rt_pool_create(struct memory_pool **out, const struct memory_pool_props *props)
{
	struct rt_device *d;
	int status;

	if (!out || !props)
		return cudaErrorInvalidValue;
	/* Managed memory may be of any place. */
	if (!is_device(&props->location, props->alloc_type)) {
		status = check_place(&props->location, props->alloc_type);
		if (status && props->alloc_type != 2)
			return cudaErrorInvalidValue;
		d = rt_device_open(rt_device_index(), &status);
	} else {
		if (rt_device_check(props->location.id))
			return cudaErrorInvalidValue;
		d = rt_device_open(props->location.id, &status);
	}
	return d ? (int)memory_pool_create(rt_pools(), &d->dev, props, out) : status;
}

RT_FN(cudaMemPoolCreate, (struct memory_pool * *out, const struct memory_pool_props *props))
{
	int status;

	/* After a fault pools can still be made. */
	return rt_error(rt_device_now(&status) || rt_context_now() ? rt_pool_create(out, props)
								   : status);
}

int rt_pool_destroy(struct memory_pool *pool)
{
	struct rt *rt = rt_get();

	if (!memory_pool_is(&rt->pools, pool))
		return cudaErrorInvalidValue;
	for (u32 i = 0; i < rt->list.len; i++)
		if (rt->device[i].pool == pool)
			rt->device[i].pool = NULL;
	return (int)memory_pool_destroy(&rt->pools, pool);
}

RT_FN(cudaMemPoolDestroy, (struct memory_pool * pool))
{
	return rt_error(rt_pool_destroy(pool));
}

#define POOL_CALL(pool, call)                                                                      \
	rt_error(memory_pool_is(rt_pools(), pool) ? (int)(call) : cudaErrorInvalidValue)

RT_FN(cudaMemPoolTrimTo, (struct memory_pool * pool, size_t keep))
{
	return POOL_CALL(pool, memory_pool_trim(rt_pools(), pool, keep));
}

RT_FN(cudaMemPoolGetAttribute, (struct memory_pool * pool, int attribute, void *value))
{
	return POOL_CALL(pool, memory_pool_get(rt_pools(), pool, attribute, value));
}

RT_FN(cudaMemPoolSetAttribute, (struct memory_pool * pool, int attribute, const void *value))
{
	return POOL_CALL(pool, memory_pool_set(rt_pools(), pool, attribute, value));
}

int rt_pool_access(struct memory_pool *pool, const struct memory_access *desc, size_t n)
{
	int status = cudaSuccess;

	if (!memory_pool_is(rt_pools(), pool) || (!desc && n))
		return cudaErrorInvalidValue;
	for (size_t i = 0; i < n && !status; i++)
		status = (int)memory_pool_access(pool, desc[i].location, (u32)desc[i].flags,
						 rt_get()->list.len);
	return status;
}

RT_FN(cudaMemPoolSetAccess, (struct memory_pool * pool, const struct memory_access *desc, size_t n))
{
	return rt_error(rt_pool_access(pool, desc, n));
}

RT_FN(cudaMemPoolGetAccess,
      (u32 * flags, struct memory_pool *pool, const struct memory_location *where))
{
	if (!flags || !where)
		return rt_error(cudaErrorInvalidValue);
	return POOL_CALL(pool, memory_pool_access_get(pool, *where, flags));
}

/* Handle types: 1 is a file descriptor. */
RT_FN(cudaMemPoolExportToShareableHandle,
      (void *out, struct memory_pool *pool, int type, unsigned flags))
{
	if (!out || flags || type != 1)
		return rt_error(cudaErrorInvalidValue);
	return POOL_CALL(pool, memory_pool_export(pool, out));
}

RT_FN(cudaMemPoolImportFromShareableHandle,
      (struct memory_pool * *out, void *handle, int type, unsigned flags))
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (!d)
		return rt_error(status);
	if (!out || flags || type != 1)
		return rt_error(cudaErrorInvalidValue);
	return rt_error((int)memory_pool_import(rt_pools(), &d->dev, (int)(intptr_t)handle, out));
}

RT_FN(cudaMemPoolExportPointer, (void *data, const void *p))
{
	int status;

	if (rt_device_now(&status))
		status = data ? (int)memory_pool_export_pointer(&rt_get()->memory, rt_address(p),
								data)
			      : cudaErrorInvalidValue;
	return rt_error(status);
}

RT_FN(cudaMemPoolImportPointer, (void **out, struct memory_pool *pool, const void *data))
{
	u64 at = 0;
	int status;

	if (!out || !data)
		return rt_error(cudaErrorInvalidValue);
	status = POOL_CALL(pool, memory_pool_import_pointer(pool, data, &at));
	*out = (void *)(uintptr_t)at;
	return status;
}
