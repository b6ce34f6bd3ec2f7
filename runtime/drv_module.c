/*
 * Modules, memory and launches of the driver interface.
 */
#include "runtime/drv.h"

#include "src/base/file.h"

#include <stdio.h>
#include <stdlib.h>

static int load(struct device_program **out, const void *image, size_t size, const char *name)
{
	struct rt_device *d;
	struct diag diag;
	int status;

	if (!out || !image)
		return STATUS_INVALID_VALUE;
	d = drv_device(&status);
	if (!d)
		return status;
	diag_init(&diag, diag_print, stderr);
	diag.error_limit = 5;
	status = (int)device_program_load_image(&d->dev, image, size, name, &diag, out);
	diag_fini(&diag);
	return status;
}

RT_API int pldrv_cuModuleLoadData(struct device_program **out, const void *image);
RT_API int pldrv_cuModuleLoadData(struct device_program **out, const void *image)
{
	return load(out, image, 0, "<image>");
}

RT_API int pldrv_cuModuleLoadDataEx(struct device_program **out, const void *image, unsigned n,
				    int *options, void **values);
RT_API int pldrv_cuModuleLoadDataEx(struct device_program **out, const void *image, unsigned n,
				    int *options, void **values)
{
	(void)n;
	(void)options;
	(void)values;
	return load(out, image, 0, "<image>");
}

RT_API int pldrv_cuModuleLoadFatBinary(struct device_program **out, const void *image);
RT_API int pldrv_cuModuleLoadFatBinary(struct device_program **out, const void *image)
{
	return load(out, image, 0, "<fat binary>");
}

RT_API int pldrv_cuModuleLoad(struct device_program **out, const char *path);
RT_API int pldrv_cuModuleLoad(struct device_program **out, const char *path)
{
	struct file f;
	int status;

	if (!path)
		return STATUS_INVALID_VALUE;
	if (!file_open(&f, path))
		return STATUS_FILE_NOT_FOUND;
	status = load(out, f.data, f.size, path);
	file_close(&f);
	return status;
}

RT_API int pldrv_cuModuleUnload(struct device_program *p);
RT_API int pldrv_cuModuleUnload(struct device_program *p)
{
	int status;
	struct rt_device *d = drv_device(&status);

	if (!p)
		return STATUS_INVALID_HANDLE;
	if (d)
		rt_wait(d);
	device_program_unload(p);
	return status;
}

RT_API int pldrv_cuModuleGetFunction(struct device_kernel **out, struct device_program *p,
				     const char *name);
RT_API int pldrv_cuModuleGetFunction(struct device_kernel **out, struct device_program *p,
				     const char *name)
{
	if (!out || !name)
		return STATUS_INVALID_VALUE;
	if (!p)
		return STATUS_INVALID_HANDLE;
	*out = device_program_kernel(p, name);
	return *out ? STATUS_SUCCESS : STATUS_NOT_FOUND;
}

RT_API int pldrv_cuModuleGetGlobal_v2(u64 *address, size_t *bytes, struct device_program *p,
				      const char *name);
RT_API int pldrv_cuModuleGetGlobal_v2(u64 *address, size_t *bytes, struct device_program *p,
				      const char *name)
{
	u64 at, n;

	if (!name)
		return STATUS_INVALID_VALUE;
	if (!p)
		return STATUS_INVALID_HANDLE;
	if (!device_program_variable(p, name, &at, &n))
		return STATUS_NOT_FOUND;
	if (address)
		*address = at;
	if (bytes)
		*bytes = n;
	return STATUS_SUCCESS;
}

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

/* ---- launches ---- */

/* `extra`: pairs of a key and a value, ended by 0: 1 = parameter buffer, 2 = pointer to its size. */
static void read_extra(void **extra, const void **packed, u32 *bytes)
{
	for (; extra && extra[0]; extra += 2) {
		if ((uintptr_t)extra[0] == 1)
			*packed = extra[1];
		else if ((uintptr_t)extra[0] == 2)
			*bytes = (u32) * (const size_t *)extra[1];
	}
}

RT_API int pldrv_cuLaunchKernel(struct device_kernel *k, unsigned gx, unsigned gy, unsigned gz,
				unsigned bx, unsigned by, unsigned bz, unsigned shared,
				void *stream, void **params, void **extra);
RT_API int pldrv_cuLaunchKernel(struct device_kernel *k, unsigned gx, unsigned gy, unsigned gz,
				unsigned bx, unsigned by, unsigned bz, unsigned shared,
				void *stream, void **params, void **extra)
{
	struct device_launch l = {.kernel = k,
				  .grid = {gx, gy, gz},
				  .block = {bx, by, bz},
				  .dynamic_bytes = shared,
				  .may_inline = true,
				  .args = params};
	int status;
	struct rt_device *d = drv_device(&status);

	(void)stream;
	if (!d)
		return status;
	if (!k)
		return STATUS_INVALID_HANDLE;
	if (!params)
		read_extra(extra, &l.packed, &l.packed_bytes);
	status = rt_wait(d);
	return status ? status : (int)device_launch(&l, rt_launch_done, d);
}
