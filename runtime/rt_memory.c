/*
 * Memory of the runtime interface: allocation, copies, fills, symbols. A device address is a host
 * address, so copies are memory moves between checked ranges.
 */
#include "runtime/rt.h"

#include <stdlib.h>

static int allocate(void **out, size_t size, size_t align, enum mem_kind kind)
{
	int status;
	struct rt_device *d = rt_device_now(&status);
	u64 at;

	if (!d)
		return status;
	if (!out)
		return cudaErrorInvalidValue;
	*out = NULL;
	if (!size)
		return cudaSuccess;
	at = mem_alloc(&d->dev.mem, size, align, kind);
	*out = (void *)(uintptr_t)at;
	return at ? cudaSuccess : cudaErrorMemoryAllocation;
}

RT_API cudaError_t plrt_cudaMalloc(void **out, size_t size);
RT_API cudaError_t plrt_cudaMalloc(void **out, size_t size)
{
	return rt_error(allocate(out, size, 512, MEM_KIND_DEVICE));
}

RT_API cudaError_t plrt_cudaMallocManaged(void **out, size_t size, unsigned flags);
RT_API cudaError_t plrt_cudaMallocManaged(void **out, size_t size, unsigned flags)
{
	if (!size || (flags != 1 && flags != 2))
		return rt_error(cudaErrorInvalidValue);
	return rt_error(allocate(out, size, 512, MEM_KIND_MANAGED));
}

RT_API cudaError_t plrt_cudaMallocAsync(void **out, size_t size, cudaStream_t stream);
RT_API cudaError_t plrt_cudaMallocAsync(void **out, size_t size, cudaStream_t stream)
{
	(void)stream;
	return plrt_cudaMalloc(out, size);
}

/* Rows are padded to the texture alignment, as the hardware's allocator does. */
RT_API cudaError_t plrt_cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height);
RT_API cudaError_t plrt_cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
	if (!pitch || width > SIZE_MAX / 4 || (height && align_up(width, 512) > SIZE_MAX / height))
		return rt_error(cudaErrorInvalidValue);
	*pitch = (size_t)align_up(width, 512);
	return rt_error(allocate(out, *pitch * height, 512, MEM_KIND_DEVICE));
}

RT_API cudaError_t plrt_cudaFree(void *p);
RT_API cudaError_t plrt_cudaFree(void *p)
{
	struct rt *rt = rt_get();
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (!d)
		return rt_error(status);
	if (!p)
		return cudaSuccess;
	status = rt_wait(d);
	for (u32 i = 0; i < rt->list.len; i++)
		if (rt->device[i].is_open && mem_free(&rt->device[i].dev.mem, (u64)(uintptr_t)p))
			return rt_error(status);
	return rt_error(cudaErrorInvalidValue);
}

RT_API cudaError_t plrt_cudaFreeAsync(void *p, cudaStream_t stream);
RT_API cudaError_t plrt_cudaFreeAsync(void *p, cudaStream_t stream)
{
	(void)stream;
	return plrt_cudaFree(p);
}

/* Pinned host memory is device memory that the host may touch: mapped at the same address. */
RT_API cudaError_t plrt_cudaHostAlloc(void **out, size_t size, unsigned flags);
RT_API cudaError_t plrt_cudaHostAlloc(void **out, size_t size, unsigned flags)
{
	if (flags & ~7u)
		return rt_error(cudaErrorInvalidValue);
	return rt_error(allocate(out, size, 4096, MEM_KIND_MANAGED));
}

RT_API cudaError_t plrt_cudaMallocHost(void **out, size_t size);
RT_API cudaError_t plrt_cudaMallocHost(void **out, size_t size)
{
	return plrt_cudaHostAlloc(out, size, 0);
}

RT_API cudaError_t plrt_cudaFreeHost(void *p);
RT_API cudaError_t plrt_cudaFreeHost(void *p)
{
	return plrt_cudaFree(p);
}

RT_API cudaError_t plrt_cudaHostGetDevicePointer(void **out, void *host, unsigned flags);
RT_API cudaError_t plrt_cudaHostGetDevicePointer(void **out, void *host, unsigned flags)
{
	if (!out || flags)
		return rt_error(cudaErrorInvalidValue);
	*out = host;
	return cudaSuccess;
}

RT_API cudaError_t plrt_cudaMemGetInfo(size_t *free_bytes, size_t *total);
RT_API cudaError_t plrt_cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (!d)
		return rt_error(status);
	if (!free_bytes || !total)
		return rt_error(cudaErrorInvalidValue);
	*total = d->dev.mem.limit_bytes;
	*free_bytes = d->dev.mem.limit_bytes - d->dev.mem.used_bytes;
	return cudaSuccess;
}

/* ---- copies ---- */

/* Is [p, p + size) device memory of any device? 1 yes, 0 no such address, -1 it leaves the allocation. */
static int device_range(const void *p, size_t size)
{
	struct rt *rt = rt_get();
	struct mem_range r;

	for (u32 i = 0; i < rt->list.len; i++) {
		struct mem *m = &rt->device[i].dev.mem;
		u64 at = (u64)(uintptr_t)p;

		if (!rt->device[i].is_open)
			continue;
		if (mem_find(m, at, size, &r))
			return 1;
		if (at - (u64)(uintptr_t)m->arena < m->arena_size)
			return -1;
	}
	return 0;
}

/* Device sides must be device memory, host sides may be (pinned, managed). */
static int check_copy(const void *dst, const void *src, size_t size, int kind)
{
	bool dst_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
	bool src_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
	int d = device_range(dst, size), s = device_range(src, size);

	if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (!dst || !src || d < 0 || s < 0 || (dst_device && d != 1) || (src_device && s != 1))
		return cudaErrorInvalidValue;
	return cudaSuccess;
}

static int copy(void *dst, const void *src, size_t size, int kind)
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (!d)
		return status;
	status = rt_wait(d);
	if (status || !size)
		return status;
	status = check_copy(dst, src, size, kind);
	if (!status)
		memmove(dst, src, size);
	return status;
}

RT_API cudaError_t plrt_cudaMemcpy(void *dst, const void *src, size_t size, int kind);
RT_API cudaError_t plrt_cudaMemcpy(void *dst, const void *src, size_t size, int kind)
{
	return rt_error(copy(dst, src, size, kind));
}

RT_API cudaError_t plrt_cudaMemcpyAsync(void *dst, const void *src, size_t size, int kind,
					cudaStream_t stream);
RT_API cudaError_t plrt_cudaMemcpyAsync(void *dst, const void *src, size_t size, int kind,
					cudaStream_t stream)
{
	(void)stream;
	return rt_error(copy(dst, src, size, kind));
}

struct plane {
	size_t dpitch, spitch, width, height;
};

static int copy_2d(void *dst, const void *src, const struct plane *p, int kind)
{
	if (p->width > p->dpitch || p->width > p->spitch)
		return 12; /* cudaErrorInvalidPitchValue */
	for (size_t y = 0; y < p->height; y++) {
		int status = copy((u8 *)dst + y * p->dpitch, (const u8 *)src + y * p->spitch,
				  p->width, kind);

		if (status)
			return status;
	}
	return cudaSuccess;
}

RT_API cudaError_t plrt_cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch,
				     size_t width, size_t height, int kind);
RT_API cudaError_t plrt_cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch,
				     size_t width, size_t height, int kind)
{
	return rt_error(copy_2d(dst, src, &(struct plane){dpitch, spitch, width, height}, kind));
}

static int fill(void *dst, int value, size_t size)
{
	int status;
	struct rt_device *d = rt_device_now(&status);

	if (!d)
		return status;
	status = rt_wait(d);
	if (status || !size)
		return status;
	if (device_range(dst, size) != 1)
		return cudaErrorInvalidValue;
	memset(dst, value, size);
	return cudaSuccess;
}

RT_API cudaError_t plrt_cudaMemset(void *dst, int value, size_t size);
RT_API cudaError_t plrt_cudaMemset(void *dst, int value, size_t size)
{
	return rt_error(fill(dst, value, size));
}

RT_API cudaError_t plrt_cudaMemsetAsync(void *dst, int value, size_t size, cudaStream_t stream);
RT_API cudaError_t plrt_cudaMemsetAsync(void *dst, int value, size_t size, cudaStream_t stream)
{
	(void)stream;
	return rt_error(fill(dst, value, size));
}

/* ---- symbols ---- */

static int symbol_range(const void *symbol, size_t offset, size_t size, u8 **at)
{
	u64 address, bytes;
	int status = rt_find_symbol(symbol, &address, &bytes);

	if (status)
		return status;
	if (offset > bytes || size > bytes - offset)
		return cudaErrorInvalidValue;
	*at = (u8 *)(uintptr_t)address + offset;
	return cudaSuccess;
}

RT_API cudaError_t plrt_cudaMemcpyToSymbol(const void *symbol, const void *src, size_t size,
					   size_t offset, int kind);
RT_API cudaError_t plrt_cudaMemcpyToSymbol(const void *symbol, const void *src, size_t size,
					   size_t offset, int kind)
{
	u8 *at;
	int status = symbol_range(symbol, offset, size, &at);

	return rt_error(status ? status : copy(at, src, size, kind));
}

RT_API cudaError_t plrt_cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t size,
					     size_t offset, int kind);
RT_API cudaError_t plrt_cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t size,
					     size_t offset, int kind)
{
	u8 *at;
	int status = symbol_range(symbol, offset, size, &at);

	return rt_error(status ? status : copy(dst, at, size, kind));
}

RT_API cudaError_t plrt_cudaGetSymbolAddress(void **out, const void *symbol);
RT_API cudaError_t plrt_cudaGetSymbolAddress(void **out, const void *symbol)
{
	u8 *at;
	int status = out ? symbol_range(symbol, 0, 0, &at) : cudaErrorInvalidValue;

	if (!status)
		*out = at;
	return rt_error(status);
}

RT_API cudaError_t plrt_cudaGetSymbolSize(size_t *out, const void *symbol);
RT_API cudaError_t plrt_cudaGetSymbolSize(size_t *out, const void *symbol)
{
	u64 address, bytes;
	int status = out ? rt_find_symbol(symbol, &address, &bytes) : cudaErrorInvalidValue;

	if (!status)
		*out = bytes;
	return rt_error(status);
}
