/*
 * The driver interface over src/dev: initialisation, errors, devices.
 */
#include "runtime/cuda/drv.h"

#include <stdio.h>

int drv_check(int device)
{
	if (!__atomic_load_n(&rt_get()->is_used, __ATOMIC_RELAXED))
		return STATUS_NOT_INITIALIZED;
	return rt_device_check(device);
}

struct rt_context *drv_context(int *status)
{
	struct rt_context *c = rt_context_now();

	*status = c ? STATUS_SUCCESS : drv_check(0);
	if (*status)
		return NULL;
	if (!c)
		*status = STATUS_INVALID_CONTEXT;
	else if (!c->is_active)
		*status = STATUS_CONTEXT_IS_DESTROYED;
	return *status ? NULL : c;
}

struct rt_device *drv_device(int *status)
{
	return drv_context(status) ? rt_device_now(status) : NULL;
}

struct rt_device *drv_any_device(int *status)
{
	struct rt *rt = rt_get();

	if (rt_context_now())
		return drv_device(status);
	*status = drv_check(0);
	for (u32 i = 0; i < rt->list.len && !*status; i++)
		if (rt->device[i].is_open)
			return &rt->device[i];
	*status = *status ? *status : STATUS_INVALID_CONTEXT;
	return NULL;
}

struct device_kernel *drv_kernel(const void *function, int *status)
{
	if (!function) {
		*status = STATUS_INVALID_HANDLE;
		return NULL;
	}
	return drv_kernel_on(function, rt_context_device(), status);
}

struct device_kernel *drv_kernel_on(const void *function, int device, int *status)
{
	const struct rt_function *f = function;
	bool is_placed = rt_handle_is(f, RT_HANDLE_FUNCTION) && f->module && f->kernel;
	int borrowed = rt_context_borrow(is_placed ? (int)f->kernel->owner->dev->number : device);
	struct device_kernel *k = rt_kernel(f, status);

	rt_context_return(borrowed);
	return k;
}

DRV_FN(cuInit, (unsigned flags))
{
	if (flags)
		return STATUS_INVALID_VALUE;
	return rt_device_check(0);
}

DRV_FN(cuDriverGetVersion, (int *version))
{
	if (!version)
		return STATUS_INVALID_VALUE;
	*version = RT_DRIVER_VERSION;
	return STATUS_SUCCESS;
}

DRV_FN(cuGetErrorName, (int error, const char **name))
{
	const struct status_info *s = status_info(error);

	if (!name)
		return STATUS_INVALID_VALUE;
	*name = s ? s->driver : NULL;
	return *name ? STATUS_SUCCESS : STATUS_INVALID_VALUE;
}

DRV_FN(cuGetErrorString, (int error, const char **text))
{
	const struct status_info *s = status_info(error);

	if (!text)
		return STATUS_INVALID_VALUE;
	*text = s && s->driver ? s->text : NULL;
	return *text ? STATUS_SUCCESS : STATUS_INVALID_VALUE;
}

/* ---- devices ---- */

DRV_FN(cuDeviceGetCount, (int *count))
{
	int status = drv_check(0);

	if (!count)
		return STATUS_INVALID_VALUE;
	if (!status)
		*count = (int)rt_get()->list.len;
	return status;
}

DRV_FN(cuDeviceGet, (int *device, int ordinal))
{
	int status = drv_check(ordinal);

	if (!device)
		return STATUS_INVALID_VALUE;
	if (!status)
		*device = ordinal;
	return status;
}

DRV_FN(cuDeviceGetName, (char *name, int len, int device))
{
	int status = drv_check(device);

	if (!name || len <= 0)
		return STATUS_INVALID_VALUE;
	if (!status)
		snprintf(name, (size_t)len, "%s", rt_get()->list.at[device]->name);
	return status;
}

DRV_FN(cuDeviceGetAttribute, (int *value, int attribute, int device))
{
	int status = drv_check(device);

	if (!value)
		return STATUS_INVALID_VALUE;
	return status ? status : rt_device_attribute(device, attribute, value);
}

DRV_FN(cuDeviceTotalMem_v2, (size_t * bytes, int device))
{
	int status = drv_check(device);

	if (!bytes)
		return STATUS_INVALID_VALUE;
	if (!status)
		*bytes = (size_t)rt_get()->list.at[device]->memory_bytes;
	return status;
}

DRV_FN(cuDeviceComputeCapability, (int *major, int *minor, int device))
{
	int status = drv_check(device);

	if (!major || !minor)
		return STATUS_INVALID_VALUE;
	status = status ? status : rt_device_attribute(device, 75, major);
	return status ? status : rt_device_attribute(device, 76, minor);
}
