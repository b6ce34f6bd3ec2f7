/*
 * Memory of the driver interface.
 */
#include "runtime/drv.h"

/* ---- memory ---- */

RT_API int pldrv_cuMemAlloc_v2(u64 *out, size_t size);
RT_API int pldrv_cuMemAlloc_v2(u64 *out, size_t size)
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	if (!out || !size)
		return STATUS_INVALID_VALUE;
	*out = mem_alloc(&d->dev.mem, size, 512, MEM_KIND_DEVICE);
	return *out ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}

RT_API int pldrv_cuMemFree_v2(u64 p);
RT_API int pldrv_cuMemFree_v2(u64 p)
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	status = rt_wait(d);
	if (!p)
		return status;
	return mem_free(&d->dev.mem, p) ? status : STATUS_INVALID_VALUE;
}

RT_API int pldrv_cuMemGetInfo_v2(size_t *free_bytes, size_t *total);
RT_API int pldrv_cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	if (!free_bytes || !total)
		return STATUS_INVALID_VALUE;
	*total = d->dev.mem.limit_bytes;
	*free_bytes = d->dev.mem.limit_bytes - d->dev.mem.used_bytes;
	return STATUS_SUCCESS;
}

/* Wait for what was issued before, then check that [p, p + size) is device memory. */
static int ready(u64 p, size_t size)
{
	int status;
	struct rt_device *d = drv_device(&status);
	struct mem_range r;

	if (!d)
		return status;
	status = rt_wait(d);
	if (status || !size)
		return status;
	return mem_find(&d->dev.mem, p, size, &r) ? STATUS_SUCCESS : STATUS_INVALID_VALUE;
}

RT_API int pldrv_cuMemcpyHtoD_v2(u64 dst, const void *src, size_t size);
RT_API int pldrv_cuMemcpyHtoD_v2(u64 dst, const void *src, size_t size)
{
	int status = ready(dst, size);

	if (!status && size && !src)
		return STATUS_INVALID_VALUE;
	if (!status && size)
		memmove((void *)(uintptr_t)dst, src, size);
	return status;
}

RT_API int pldrv_cuMemcpyDtoH_v2(void *dst, u64 src, size_t size);
RT_API int pldrv_cuMemcpyDtoH_v2(void *dst, u64 src, size_t size)
{
	int status = ready(src, size);

	if (!status && size && !dst)
		return STATUS_INVALID_VALUE;
	if (!status && size)
		memmove(dst, (const void *)(uintptr_t)src, size);
	return status;
}

RT_API int pldrv_cuMemcpyDtoD_v2(u64 dst, u64 src, size_t size);
RT_API int pldrv_cuMemcpyDtoD_v2(u64 dst, u64 src, size_t size)
{
	int status = ready(src, size);

	status = status ? status : ready(dst, size);
	if (!status && size)
		memmove((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, size);
	return status;
}

RT_API int pldrv_cuMemcpyHtoDAsync_v2(u64 dst, const void *src, size_t size, void *stream);
RT_API int pldrv_cuMemcpyHtoDAsync_v2(u64 dst, const void *src, size_t size, void *stream)
{
	(void)stream;
	return pldrv_cuMemcpyHtoD_v2(dst, src, size);
}

RT_API int pldrv_cuMemcpyDtoHAsync_v2(void *dst, u64 src, size_t size, void *stream);
RT_API int pldrv_cuMemcpyDtoHAsync_v2(void *dst, u64 src, size_t size, void *stream)
{
	(void)stream;
	return pldrv_cuMemcpyDtoH_v2(dst, src, size);
}

RT_API int pldrv_cuMemsetD8_v2(u64 dst, unsigned char value, size_t n);
RT_API int pldrv_cuMemsetD8_v2(u64 dst, unsigned char value, size_t n)
{
	int status = ready(dst, n);

	if (!status && n)
		memset((void *)(uintptr_t)dst, value, n);
	return status;
}

RT_API int pldrv_cuMemsetD32_v2(u64 dst, unsigned value, size_t n);
RT_API int pldrv_cuMemsetD32_v2(u64 dst, unsigned value, size_t n)
{
	int status = n > SIZE_MAX / 4 || dst % 4 ? (int)STATUS_INVALID_VALUE : ready(dst, 4 * n);

	for (size_t i = 0; !status && i < n; i++)
		((u32 *)(uintptr_t)dst)[i] = value;
	return status;
}
