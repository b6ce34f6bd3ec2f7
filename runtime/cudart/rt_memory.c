/*
 * Memory of the runtime interface: allocation, what a pointer is, hints about managed memory,
 * peers, other processes.
 */
#include "runtime/cudart/rt_copy.h"
#include "src/base/size.h"
#include "src/dev/memory/memory.h"

/* ---- allocation ---- */

/* Nothing is NULL, and no error. */
static int rt_allocate(void **out, size_t size, u32 flags,
		       enum status (*make)(struct device *, u64, u32, u64 *))
{
	int status;
	struct rt_device *d = rt_device_now(&status);
	u64 at = 0;

	if (!d)
		return status;
	if (!out)
		return cudaErrorInvalidValue;
	*out = NULL;
	status = size ? (int)make(&d->dev, size, flags, &at) : cudaSuccess;
	*out = (void *)(uintptr_t)at;
	return status;
}

static enum status rt_make_device(struct device *d, u64 bytes, u32 flags, u64 *out)
{
	(void)flags;
	return memory_alloc(d, bytes, out);
}

RT_FN(cudaMalloc, (void **out, size_t size))
{
	return rt_error(rt_allocate(out, size, 0, rt_make_device));
}

RT_FN(cudaMallocManaged, (void **out, size_t size, unsigned flags))
{
	return rt_error(rt_allocate(out, size, flags, memory_alloc_managed));
}

RT_FN(cudaHostAlloc, (void **out, size_t size, unsigned flags))
{
	return rt_error(flags & ~7u ? cudaErrorInvalidValue
				    : rt_allocate(out, size, flags, memory_alloc_host));
}

RT_FN(cudaMallocHost, (void **out, size_t size))
{
	return rt_error(rt_allocate(out, size, 0, memory_alloc_host));
}

static int allocate_rows(void **out, size_t *pitch, size_t width, size_t rows)
{
	int status;
	struct rt_device *d = rt_device_now(&status);
	u64 at = 0, distance;

	if (!d)
		return status;
	if (!out || !pitch)
		return cudaErrorInvalidValue;
	*out = NULL;
	*pitch = 0;
	if (!width || !rows)
		return cudaSuccess;
	status = (int)memory_alloc_pitch(&d->dev, width, rows, &at, &distance);
	if (status)
		return status;
	*out = (void *)(uintptr_t)at;
	*pitch = distance;
	return cudaSuccess;
}

RT_FN(cudaMallocPitch, (void **out, size_t *pitch, size_t width, size_t height))
{
	return rt_error(allocate_rows(out, pitch, width, height));
}

RT_FN(cudaMalloc3D, (struct rt_pitched * out, struct rt_extent e))
{
	u64 rows;
	int status;

	if (!out)
		return rt_error(cudaErrorInvalidValue);
	/* No device has so many rows. */
	if (!size_mul(e.height, e.depth, &rows))
		rows = UINT64_MAX;
	status = allocate_rows(&out->ptr, &out->pitch, e.width, rows);
	out->xsize = e.width;
	out->ysize = e.height;
	return rt_error(status);
}

static int rt_end_memory(const void *p, enum status (*how)(struct device *, u64))
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	return d ? (int)how(&d->dev, rt_address(p)) : status;
}

RT_FN(cudaFree, (void *p))
{
	return rt_error(rt_end_memory(p, memory_free));
}

RT_FN(cudaFreeHost, (void *p))
{
	return rt_error(rt_end_memory(p, memory_free_host));
}

RT_FN(cudaHostRegister, (void *p, size_t size, unsigned flags))
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	return rt_error(d ? (int)memory_register(&d->dev, rt_address(p), size, flags) : status);
}

RT_FN(cudaHostUnregister, (void *p))
{
	return rt_error(rt_end_memory(p, memory_unregister));
}

RT_FN(cudaHostGetFlags, (unsigned *flags, void *p))
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (d)
		status = flags ? (int)memory_host_flags(&d->dev, rt_address(p), flags)
			       : cudaErrorInvalidValue;
	return rt_error(status);
}

RT_FN(cudaHostGetDevicePointer, (void **out, void *p, unsigned flags))
{
	int status;
	struct rt_device *d = rt_device_now(&status);
	u32 unused;

	if (!d)
		return rt_error(status);
	if (!out || flags)
		return rt_error(cudaErrorInvalidValue);
	status = (int)memory_host_flags(&d->dev, rt_address(p), &unused);
	*out = status ? NULL : p;
	return rt_error(status);
}

RT_FN(cudaMemGetInfo, (size_t * free_bytes, size_t *total))
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (!d)
		return rt_error(status);
	if (total)
		*total = d->dev.mem.limit_bytes;
	if (free_bytes)
		*free_bytes = mem_left(&d->dev.mem);
	return cudaSuccess;
}

/* ---- what a pointer is ---- */

/* cudaPointerAttributes; 13 has reserved words after these, which stay as they are. */
struct pointer_attributes {
	int type, device;
	void *device_pointer, *host_pointer;
};

RT_FN(cudaPointerGetAttributes, (struct pointer_attributes * out, const void *p))
{
	struct memory_info i;
	int status;
	bool host;

	/* A faulted device does not prevent asking. */
	if (!rt_device_now(&status) && !rt_context_now())
		return rt_error(status);
	if (!out)
		return rt_error(cudaErrorInvalidValue);
	/* What no device knows is the host's, whatever it is. */
	*out = (struct pointer_attributes){.device = -2, .host_pointer = (void *)(uintptr_t)p};
	if (!memory_find(&rt_get()->memory, rt_address(p), &i))
		return cudaSuccess;
	host = memory_type_of(&i) == 1;
	out->type = host ? 1 : i.range.kind == MEM_KIND_MANAGED ? 3 : 2;
	out->device = (int)i.device;
	/* Devices need leave to touch what a pool has on the host. */
	if (!host || !i.block || !i.block->pool || i.range.devices)
		out->device_pointer = (void *)(uintptr_t)p;
	out->host_pointer = out->type == 2 ? NULL : (void *)(uintptr_t)p;
	return cudaSuccess;
}

/* ---- managed memory ---- */

/* Up to 12 a place is a device, -1 the host. */
static struct memory_location rt_old_location(int device)
{
	return device == -1 ? (struct memory_location){LOCATION_HOST, 0}
			    : (struct memory_location){LOCATION_DEVICE, device};
}

static int rt_advise(const void *p, size_t size, int advice, struct memory_location where)
{
	struct rt *rt = rt_get();
	int status;

	if (!rt_device_now(&status))
		return status;
	return (int)memory_advise(&rt->memory, rt_address(p), size, advice, where, rt->list.len);
}

RT_FN(cudaMemAdvise, (const void *p, size_t size, int advice, struct memory_location where))
{
	return rt_error(rt_advise(p, size, advice, where));
}

RT_FN(cudaMemAdvise_v2, (const void *p, size_t size, int advice, struct memory_location where))
{
	return rt_error(rt_advise(p, size, advice, where));
}

RT_FN(cudaMemAdvise_12, (const void *p, size_t size, int advice, int device))
{
	return rt_error(rt_advise(p, size, advice, rt_old_location(device)));
}

static int rt_prefetch(const void *p, size_t size, struct memory_location where, unsigned flags,
		       cudaStream_t stream, bool own)
{
	struct rt *rt = rt_get();
	int status;

	struct stream *s = rt_stream(stream, own, &status);

	if (s)
		status = (int)stream_capture_forbid(s);
	if (status)
		return status;
	return flags ? cudaErrorInvalidValue
		     : (int)memory_prefetch(&rt->memory, rt_address(p), size, where, rt->list.len,
					    s);
}

RT_STREAM_FN(cudaMemPrefetchAsync,
	     (const void *p, size_t size, struct memory_location where, unsigned flags,
	      cudaStream_t stream),
	     rt_prefetch(p, size, where, flags, stream, OWN))
RT_STREAM_FN(cudaMemPrefetchAsync_v2,
	     (const void *p, size_t size, struct memory_location where, unsigned flags,
	      cudaStream_t stream),
	     rt_prefetch(p, size, where, flags, stream, OWN))
RT_STREAM_FN(cudaMemPrefetchAsync_12, (const void *p, size_t size, int device, cudaStream_t stream),
	     rt_prefetch(p, size, rt_old_location(device), 0, stream, OWN))

RT_FN(cudaMemRangeGetAttribute,
      (void *out, size_t size, int attribute, const void *p, size_t bytes))
{
	int status;

	if (rt_device_now(&status))
		status = (int)memory_range_attribute(&rt_get()->memory, rt_address(p), bytes,
						     attribute, out, size);
	return rt_error(status);
}

RT_FN(cudaMemRangeGetAttributes,
      (void **out, size_t *sizes, int *attributes, size_t n, const void *p, size_t bytes))
{
	int status;

	if (!rt_device_now(&status))
		return rt_error(status);
	if (!out || !sizes || !attributes || !n)
		return rt_error(cudaErrorInvalidValue);
	for (size_t i = 0; i < n && !status; i++)
		status = (int)memory_range_attribute(&rt_get()->memory, rt_address(p), bytes,
						     attributes[i], out[i], sizes[i]);
	return rt_error(status);
}

/* ---- peers ---- */

RT_FN(cudaDeviceCanAccessPeer, (int *out, int device, int peer))
{
	int status = rt_device_check(device);

	status = status ? status : rt_device_check(peer);
	if (!status && !out)
		status = cudaErrorInvalidValue;
	if (!status)
		*out = device != peer;
	return rt_error(status);
}

static int rt_change_peer(int peer, unsigned flags,
			  enum status (*how)(struct device *, const struct device *))
{
	int status;
	struct rt_device *d = rt_device_now(&status), *other;

	if (!d)
		return status;
	status = rt_device_check(peer);
	if (status)
		return status;
	if (flags)
		return cudaErrorInvalidValue;
	other = rt_device_open(peer, &status);
	return other ? (int)how(&d->dev, &other->dev) : status;
}

RT_FN(cudaDeviceEnablePeerAccess, (int peer, unsigned flags))
{
	return rt_error(rt_change_peer(peer, flags, memory_peer_enable));
}

RT_FN(cudaDeviceDisablePeerAccess, (int peer))
{
	return rt_error(rt_change_peer(peer, 0, memory_peer_disable));
}

/* ---- other processes ---- */

RT_FN(cudaIpcGetMemHandle, (struct rt_ipc_handle * out, void *p))
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (d)
		status = out ? (int)memory_ipc_export(&d->dev, rt_address(p), out)
			     : cudaErrorInvalidValue;
	return rt_error(status);
}

RT_FN(cudaIpcOpenMemHandle, (void **out, struct rt_ipc_handle handle, unsigned flags))
{
	int status;
	struct rt_device *d = rt_device_now(&status);
	u64 at = 0;

	if (!d)
		return rt_error(status);
	if (!out || flags != 1)
		return rt_error(cudaErrorInvalidValue);
	status = (int)memory_ipc_open(&d->dev, &handle, &at);
	*out = (void *)(uintptr_t)at;
	return rt_error(status);
}

RT_FN(cudaIpcCloseMemHandle, (void *p))
{
	return rt_error(rt_end_memory(p, memory_ipc_close));
}
