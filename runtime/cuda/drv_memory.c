/*
 * Memory of the driver interface: allocation, what a pointer is, hints about managed memory, peers,
 * other processes.
 */
#include "runtime/cuda/drv.h"
#include "src/dev/memory/memory.h"

/* ---- allocation ---- */

typedef enum status make_fn(struct device *d, u64 bytes, u32 flags, u64 *out);

static int drv_allocate(u64 *out, size_t size, u32 flags, make_fn *make)
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	return out && size ? (int)make(&d->dev, size, flags, out) : (int)STATUS_INVALID_VALUE;
}

static enum status drv_make_device(struct device *d, u64 bytes, u32 flags, u64 *out)
{
	(void)flags;
	return memory_alloc(d, bytes, out);
}

DRV_FN(cuMemAlloc_v2, (u64 * out, size_t size))
{
	return drv_allocate(out, size, 0, drv_make_device);
}

DRV_FN(cuMemAllocManaged, (u64 * out, size_t size, unsigned flags))
{
	return drv_allocate(out, size, flags, memory_alloc_managed);
}

/* Of pinned memory nothing may be asked for. */
static int allocate_host(void **out, size_t size, u32 flags)
{
	int status;

	if (!out || size)
		return drv_allocate((u64 *)(void *)out, size, flags, memory_alloc_host);
	if (drv_device(&status))
		*out = NULL;
	return status;
}

DRV_FN(cuMemHostAlloc, (void **out, size_t size, unsigned flags))
{
	return allocate_host(out, size, flags);
}

DRV_FN(cuMemAllocHost_v2, (void **out, size_t size))
{
	return allocate_host(out, size, 0);
}

/* element: 4, 8 or 16 bytes that threads access at a time. */
DRV_FN(cuMemAllocPitch_v2,
       (u64 * out, size_t *pitch, size_t width, size_t height, unsigned element))
{
	int status;
	struct rt_device *d = drv_device(&status);
	u64 distance;

	if (!d)
		return status;
	if (pitch)
		*pitch = 0;
	if (!out || !pitch || !width || !height || (element != 4 && element != 8 && element != 16))
		return STATUS_INVALID_VALUE;
	status = (int)memory_alloc_pitch(&d->dev, width, height, out, &distance);
	*pitch = distance;
	return status;
}

static int drv_end_memory(u64 p, enum status (*how)(struct device *, u64))
{
	int status;
	struct rt_device *d = drv_any_device(&status);

	return d ? (int)how(&d->dev, p) : status;
}

/* Freeing nothing needs no context, and no driver unless something is captured. */
static int free_some(u64 p, enum status (*how)(struct device *, u64))
{
	if (p || rt_context_now())
		return drv_end_memory(p, how);
	return rt_get()->streams ? (int)stream_capture_guard(rt_get()->streams) : STATUS_SUCCESS;
}

DRV_FN(cuMemFree_v2, (u64 p))
{
	return free_some(p, memory_free);
}

DRV_FN(cuMemFreeHost, (void *p))
{
	return free_some(rt_address(p), memory_free_host);
}

DRV_FN(cuMemHostRegister_v2, (void *p, size_t size, unsigned flags))
{
	int status;
	struct rt_device *d = drv_device(&status);

	return d ? (int)memory_register(&d->dev, rt_address(p), size, flags) : status;
}

DRV_FN(cuMemHostRegister, (void *p, size_t size, unsigned flags))
{
	return pldrv_cuMemHostRegister_v2(p, size, flags);
}

DRV_FN(cuMemHostUnregister, (void *p))
{
	return drv_end_memory(rt_address(p), memory_unregister);
}

DRV_FN(cuMemHostGetFlags, (unsigned *flags, void *p))
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	return flags ? (int)memory_host_flags(&d->dev, rt_address(p), flags)
		     : (int)STATUS_INVALID_VALUE;
}

DRV_FN(cuMemHostGetDevicePointer_v2, (u64 * out, void *p, unsigned flags))
{
	int status;
	struct rt_device *d = drv_device(&status);
	u32 unused;

	if (!d)
		return status;
	if (!out || flags)
		return STATUS_INVALID_VALUE;
	status = (int)memory_host_flags(&d->dev, rt_address(p), &unused);
	*out = status ? 0 : rt_address(p);
	return status;
}

DRV_FN(cuMemGetInfo_v2, (size_t * free_bytes, size_t *total))
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	if (total)
		*total = d->dev.mem.limit_bytes;
	if (free_bytes)
		*free_bytes = mem_left(&d->dev.mem);
	return STATUS_SUCCESS;
}

/* ---- what a pointer is ---- */

DRV_FN(cuMemGetAddressRange_v2, (u64 * base, size_t *size, u64 p))
{
	struct memory_info i;
	int status;

	if (!drv_device(&status))
		return status;
	if (!base && !size)
		return STATUS_SUCCESS;
	if (!memory_find(&rt_get()->memory, p, &i))
		return STATUS_NOT_FOUND;
	if (base)
		*base = i.range.base;
	if (size)
		*size = i.range.size;
	return STATUS_SUCCESS;
}

#define POINTER_CONTEXT 1

static int pointer_attribute(void *out, int attribute, u64 p)
{
	struct memory_info i;

	if (!out || !memory_find(&rt_get()->memory, p, &i))
		return STATUS_INVALID_VALUE;
	if (attribute == POINTER_CONTEXT) {
		*(struct rt_context **)out = rt_context_primary((int)i.device);
		return STATUS_SUCCESS;
	}
	return (int)memory_attribute(&i, p, attribute, out);
}

DRV_FN(cuPointerGetAttribute, (void *out, int attribute, u64 p))
{
	int status = drv_check(0);

	return status ? status : pointer_attribute(out, attribute, p);
}

#define POINTER_ORDINAL 9
#define POINTER_LAST 21

/* What a pointer has not is NULL, 0 or device -2, without an error. */
DRV_FN(cuPointerGetAttributes, (unsigned n, const int *attributes, void **out, u64 p))
{
	int status;

	if (!drv_device(&status))
		return status;
	if (!n || !attributes || !out)
		return STATUS_INVALID_VALUE;
	for (unsigned i = 0; i < n; i++)
		if (attributes[i] < 1 || attributes[i] > POINTER_LAST)
			return STATUS_INVALID_VALUE;
	for (unsigned i = 0; i < n; i++) {
		if (!out[i] || !pointer_attribute(out[i], attributes[i], p))
			continue;
		memset(out[i], 0, memory_attribute_bytes(attributes[i]));
		if (attributes[i] == POINTER_ORDINAL)
			*(int *)out[i] = -2;
	}
	return STATUS_SUCCESS;
}

#define POINTER_SYNC 6

DRV_FN(cuPointerSetAttribute, (const void *value, int attribute, u64 p))
{
	struct memory_info i;
	int status;

	if (!drv_device(&status))
		return status;
	if (!value || attribute != POINTER_SYNC || !memory_find(&rt_get()->memory, p, &i) ||
	    !i.block)
		return STATUS_INVALID_VALUE;
	/* Operations on it are synchronous anyway where it matters. */
	i.block->sync = *(const unsigned *)value != 0;
	return STATUS_SUCCESS;
}

/* ---- managed memory ---- */

static struct memory_location drv_old_location(int device)
{
	return device == -1 ? (struct memory_location){LOCATION_HOST, 0}
			    : (struct memory_location){LOCATION_DEVICE, device};
}

static int drv_advise(u64 p, size_t size, int advice, struct memory_location where)
{
	struct rt *rt = rt_get();
	int status;

	if (!drv_device(&status))
		return status;
	return (int)memory_advise(&rt->memory, p, size, advice, where, rt->list.len);
}

DRV_FN(cuMemAdvise, (u64 p, size_t size, int advice, int device))
{
	return drv_advise(p, size, advice, drv_old_location(device));
}

DRV_FN(cuMemAdvise_v2, (u64 p, size_t size, int advice, struct memory_location where))
{
	return drv_advise(p, size, advice, where);
}

static int drv_prefetch(u64 p, size_t size, struct memory_location where, const void *stream,
			bool own)
{
	struct rt *rt = rt_get();
	int status;

	struct stream *s = drv_stream(stream, own, &status);

	if (s)
		status = (int)stream_capture_forbid(s);
	if (status)
		return status;
	return (int)memory_prefetch(&rt->memory, p, size, where, rt->list.len, s);
}

DRV_STREAM_FN(cuMemPrefetchAsync, (u64 p, size_t size, int device, void *stream),
	      drv_prefetch(p, size, drv_old_location(device), stream, OWN))
DRV_STREAM_FN(cuMemPrefetchAsync_v2,
	      (u64 p, size_t size, struct memory_location where, unsigned flags, void *stream),
	      flags ? (int)STATUS_INVALID_VALUE : drv_prefetch(p, size, where, stream, OWN))

DRV_FN(cuMemRangeGetAttribute, (void *out, size_t size, int attribute, u64 p, size_t bytes))
{
	int status;

	if (!drv_device(&status))
		return status;
	return (int)memory_range_attribute(&rt_get()->memory, p, bytes, attribute, out, size);
}

DRV_FN(cuMemRangeGetAttributes,
       (void **out, size_t *sizes, int *attributes, size_t n, u64 p, size_t bytes))
{
	int status;

	if (!drv_device(&status))
		return status;
	if (!out || !sizes || !attributes || !n)
		return STATUS_INVALID_VALUE;
	for (size_t i = 0; i < n && !status; i++)
		status = (int)memory_range_attribute(&rt_get()->memory, p, bytes, attributes[i],
						     out[i], sizes[i]);
	return status;
}

/* ---- peers ---- */

DRV_FN(cuDeviceCanAccessPeer, (int *out, int device, int peer))
{
	int status = drv_check(device);

	status = status ? status : drv_check(peer);
	if (!status && !out)
		return STATUS_INVALID_VALUE;
	if (!status)
		*out = device != peer;
	return status;
}

static int drv_change_peer(const struct rt_context *c, unsigned flags,
			   enum status (*how)(struct device *, const struct device *))
{
	int status;
	struct rt_device *d = drv_device(&status), *other;

	if (!d)
		return status;
	if (!rt_handle_is(c, RT_HANDLE_CONTEXT))
		return STATUS_INVALID_CONTEXT;
	if (flags)
		return STATUS_INVALID_VALUE;
	other = rt_device_open(c->device, &status);
	return other ? (int)how(&d->dev, &other->dev) : status;
}

DRV_FN(cuCtxEnablePeerAccess, (const struct rt_context *c, unsigned flags))
{
	return drv_change_peer(c, flags, memory_peer_enable);
}

DRV_FN(cuCtxDisablePeerAccess, (const struct rt_context *c))
{
	return drv_change_peer(c, 0, memory_peer_disable);
}

/* ---- other processes ---- */

DRV_FN(cuIpcGetMemHandle, (struct rt_ipc_handle * out, u64 p))
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	return out ? (int)memory_ipc_export(&d->dev, p, out) : (int)STATUS_INVALID_VALUE;
}

DRV_FN(cuIpcOpenMemHandle_v2, (u64 * out, struct rt_ipc_handle handle, unsigned flags))
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	return out && flags == 1 ? (int)memory_ipc_open(&d->dev, &handle, out)
				 : (int)STATUS_INVALID_VALUE;
}

DRV_FN(cuIpcCloseMemHandle, (u64 p))
{
	return drv_end_memory(p, memory_ipc_close);
}
