/*
 * The driver interface over src/dev: initialisation, devices, contexts, errors, entry points by name.
 * Contexts share the device's memory and errors with the runtime interface of the process.
 */
#include "runtime/drv.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static bool initialised;
static _Thread_local struct drv_context *current;

struct rt_device *drv_device(int *status)
{
	*status = initialised ? rt_get()->status : STATUS_NOT_INITIALIZED;
	if (*status)
		return NULL;
	if (!current) {
		*status = STATUS_INVALID_CONTEXT;
		return NULL;
	}
	rt_device_choose(current->device);
	return rt_device_now(status);
}

RT_API int pldrv_cuInit(unsigned flags);
RT_API int pldrv_cuInit(unsigned flags)
{
	if (flags)
		return STATUS_INVALID_VALUE;
	initialised = true;
	return rt_get()->status;
}

RT_API int pldrv_cuDriverGetVersion(int *version);
RT_API int pldrv_cuDriverGetVersion(int *version)
{
	if (!version)
		return STATUS_INVALID_VALUE;
	*version = 13000;
	return STATUS_SUCCESS;
}

RT_API int pldrv_cuGetErrorName(int error, const char **name);
RT_API int pldrv_cuGetErrorName(int error, const char **name)
{
	const struct status_info *s = status_info(error);

	if (!name)
		return STATUS_INVALID_VALUE;
	*name = s ? s->driver : NULL;
	return *name ? STATUS_SUCCESS : STATUS_INVALID_VALUE;
}

RT_API int pldrv_cuGetErrorString(int error, const char **text);
RT_API int pldrv_cuGetErrorString(int error, const char **text)
{
	const struct status_info *s = status_info(error);

	if (!text)
		return STATUS_INVALID_VALUE;
	*text = s && s->driver ? s->text : NULL;
	return *text ? STATUS_SUCCESS : STATUS_INVALID_VALUE;
}

/* ---- devices ---- */

static int check_device(int device)
{
	struct rt *rt = rt_get();

	if (!initialised)
		return STATUS_NOT_INITIALIZED;
	if (rt->status)
		return rt->status;
	return device < 0 || (u32)device >= rt->list.len ? STATUS_INVALID_DEVICE : STATUS_SUCCESS;
}

RT_API int pldrv_cuDeviceGetCount(int *count);
RT_API int pldrv_cuDeviceGetCount(int *count)
{
	if (!initialised)
		return STATUS_NOT_INITIALIZED;
	if (!count)
		return STATUS_INVALID_VALUE;
	*count = (int)rt_get()->list.len;
	return rt_get()->status;
}

RT_API int pldrv_cuDeviceGet(int *device, int ordinal);
RT_API int pldrv_cuDeviceGet(int *device, int ordinal)
{
	int status = check_device(ordinal);

	if (!device)
		return STATUS_INVALID_VALUE;
	if (!status)
		*device = ordinal;
	return status;
}

RT_API int pldrv_cuDeviceGetName(char *name, int len, int device);
RT_API int pldrv_cuDeviceGetName(char *name, int len, int device)
{
	int status = check_device(device);

	if (!name || len <= 0)
		return STATUS_INVALID_VALUE;
	if (!status)
		snprintf(name, (size_t)len, "%s", rt_get()->list.at[device]->name);
	return status;
}

RT_API int pldrv_cuDeviceGetAttribute(int *value, int attribute, int device);
RT_API int pldrv_cuDeviceGetAttribute(int *value, int attribute, int device)
{
	int status = check_device(device);

	if (!value)
		return STATUS_INVALID_VALUE;
	return status ? status : rt_device_attribute(device, attribute, value);
}

RT_API int pldrv_cuDeviceTotalMem_v2(size_t *bytes, int device);
RT_API int pldrv_cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	int status = check_device(device);

	if (!bytes)
		return STATUS_INVALID_VALUE;
	if (!status)
		*bytes = (size_t)rt_get()->list.at[device]->memory_bytes;
	return status;
}

RT_API int pldrv_cuDeviceComputeCapability(int *major, int *minor, int device);
RT_API int pldrv_cuDeviceComputeCapability(int *major, int *minor, int device)
{
	int status = check_device(device);

	if (!major || !minor)
		return STATUS_INVALID_VALUE;
	status = status ? status : rt_device_attribute(device, 75, major);
	return status ? status : rt_device_attribute(device, 76, minor);
}

/* ---- contexts: a device and a place on the thread's stack of contexts ---- */

static int make_context(struct drv_context **out, int device)
{
	int status = check_device(device);
	struct drv_context *c;

	if (status)
		return status;
	if (!out)
		return STATUS_INVALID_VALUE;
	c = calloc(1, sizeof(*c));
	if (!c)
		return STATUS_OUT_OF_MEMORY;
	c->device = device;
	c->below = current;
	*out = current = c;
	drv_device(&status);
	return status;
}

RT_API int pldrv_cuCtxCreate_v2(struct drv_context **out, unsigned flags, int device);
RT_API int pldrv_cuCtxCreate_v2(struct drv_context **out, unsigned flags, int device)
{
	(void)flags;
	return make_context(out, device);
}

RT_API int pldrv_cuCtxCreate_v4(struct drv_context **out, const void *params, unsigned flags,
				int device);
RT_API int pldrv_cuCtxCreate_v4(struct drv_context **out, const void *params, unsigned flags,
				int device)
{
	(void)params;
	(void)flags;
	return make_context(out, device);
}

RT_API int pldrv_cuCtxDestroy_v2(struct drv_context *c);
RT_API int pldrv_cuCtxDestroy_v2(struct drv_context *c)
{
	struct rt_device *d;
	int status;

	if (!c)
		return STATUS_INVALID_CONTEXT;
	d = drv_device(&status);
	if (d)
		rt_wait(d);
	if (current == c)
		current = c->below;
	free(c);
	return STATUS_SUCCESS;
}

RT_API int pldrv_cuDevicePrimaryCtxRetain(struct drv_context **out, int device);
RT_API int pldrv_cuDevicePrimaryCtxRetain(struct drv_context **out, int device)
{
	static struct drv_context primary[ARCH_DEVICES_MAX];
	int status = check_device(device);

	if (!out)
		return STATUS_INVALID_VALUE;
	if (status)
		return status;
	primary[device].device = device;
	*out = &primary[device];
	return STATUS_SUCCESS;
}

RT_API int pldrv_cuDevicePrimaryCtxRelease_v2(int device);
RT_API int pldrv_cuDevicePrimaryCtxRelease_v2(int device)
{
	return check_device(device);
}

RT_API int pldrv_cuCtxSetCurrent(struct drv_context *c);
RT_API int pldrv_cuCtxSetCurrent(struct drv_context *c)
{
	if (!initialised)
		return STATUS_NOT_INITIALIZED;
	current = c;
	return STATUS_SUCCESS;
}

RT_API int pldrv_cuCtxGetCurrent(struct drv_context **out);
RT_API int pldrv_cuCtxGetCurrent(struct drv_context **out)
{
	if (!initialised)
		return STATUS_NOT_INITIALIZED;
	if (!out)
		return STATUS_INVALID_VALUE;
	*out = current;
	return STATUS_SUCCESS;
}

RT_API int pldrv_cuCtxGetDevice(int *device);
RT_API int pldrv_cuCtxGetDevice(int *device)
{
	if (!initialised)
		return STATUS_NOT_INITIALIZED;
	if (!current)
		return STATUS_INVALID_CONTEXT;
	if (!device)
		return STATUS_INVALID_VALUE;
	*device = current->device;
	return STATUS_SUCCESS;
}

RT_API int pldrv_cuCtxSynchronize(void);
RT_API int pldrv_cuCtxSynchronize(void)
{
	int status;
	struct rt_device *d = drv_device(&status);

	return d ? rt_wait(d) : status;
}

/* ---- entry points by name ---- */

/* Newest variant first; the plain name last. */
static void *find_entry(const char *name)
{
	static const char *const ends[] = {"_v4", "_v3", "_v2", ""};
	void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *p = NULL;
	char full[160];

	for (size_t i = 0; i < ARRAY_LEN(ends) && self && !p; i++) {
		snprintf(full, sizeof(full), "%s%s", name, ends[i]);
		p = dlsym(self, full);
	}
	if (self)
		dlclose(self);
	return p;
}

RT_API int pldrv_cuGetProcAddress_v2(const char *symbol, void **fn, int version, u64 flags,
				     int *found);
RT_API int pldrv_cuGetProcAddress_v2(const char *symbol, void **fn, int version, u64 flags,
				     int *found)
{
	(void)version;
	(void)flags;
	if (!symbol || !fn)
		return STATUS_INVALID_VALUE;
	*fn = find_entry(symbol);
	if (found)
		*found = *fn ? 0 : 1;
	return *fn ? STATUS_SUCCESS : STATUS_NOT_FOUND;
}
