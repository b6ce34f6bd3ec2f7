/*
 * Functions and kernels of the driver interface: attributes, names, parameters, where they come
 * from.
 */
#include "runtime/cuda/drv.h"

/* What a program passed as a kernel, or as a function, which may be one; else NULL and *status. */
static struct rt_function *function(const void *f, int *status)
{
	*status = rt_handle_is(f, RT_HANDLE_FUNCTION) ? STATUS_SUCCESS : STATUS_INVALID_HANDLE;
	return *status ? NULL : (struct rt_function *)(uintptr_t)f;
}

/* ---- kernels of libraries ---- */

DRV_FN(cuKernelGetFunction, (struct rt_function * *out, void *kernel))
{
	struct device_kernel *k;
	struct rt_function *f;
	struct drv_module *m;
	int status;

	if (!out)
		return STATUS_INVALID_VALUE;
	f = function(kernel, &status);
	if (!f || !drv_device(&status))
		return status;
	k = drv_kernel(f, &status);
	if (!k)
		return status;
	m = f->image ? drv_library_module(f->image, k->owner) : f->module;
	*out = m ? drv_module_function(m, k) : NULL;
	return *out ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}

DRV_FN(cuKernelGetLibrary, (struct rt_image * *out, void *kernel))
{
	int status;
	const struct rt_function *f = function(kernel, &status);

	if (!out)
		return STATUS_INVALID_VALUE;
	*out = f ? f->image : NULL;
	return f && !f->image ? (int)STATUS_INVALID_HANDLE : status;
}

DRV_FN(cuKernelGetName, (const char **name, void *kernel))
{
	int status;
	const struct rt_function *f = function(kernel, &status);

	if (!name)
		return STATUS_INVALID_VALUE;
	*name = f ? f->name : NULL;
	return status;
}

DRV_FN(cuKernelGetParamInfo, (void *kernel, size_t i, size_t *offset, size_t *bytes))
{
	int status;
	const struct rt_function *f = function(kernel, &status);
	const struct device_kernel *k;

	/* Of a library's kernel there is one on each device: the current one is asked. */
	if (!f || (f->image && !drv_device(&status)))
		return status;
	k = drv_kernel(kernel, &status);
	return k ? rt_function_param(k, i, offset, bytes) : status;
}

/* A kernel's attributes are per device. */
static struct device_kernel *kernel_on(void *kernel, int device, int *status)
{
	const struct rt_function *f = function(kernel, status);

	*status = f ? drv_check(device) : *status;
	return *status ? NULL : rt_kernel_on(f, device, status);
}

DRV_FN(cuKernelGetAttribute, (int *value, int attribute, void *kernel, int device))
{
	int status;
	struct device_kernel *k = value ? kernel_on(kernel, device, &status) : NULL;

	if (!value)
		return STATUS_INVALID_VALUE;
	return k ? rt_function_attribute(k, attribute, value) : status;
}

DRV_FN(cuKernelSetAttribute, (int attribute, int value, void *kernel, int device))
{
	int status;
	struct device_kernel *k = kernel_on(kernel, device, &status);

	return k ? rt_function_set(k, attribute, value) : status;
}

DRV_FN(cuKernelSetCacheConfig, (void *kernel, int config, int device))
{
	int status;

	if (!kernel_on(kernel, device, &status))
		return status;
	return config < 0 || config > 3 ? STATUS_INVALID_VALUE : STATUS_SUCCESS;
}

/* ---- functions ---- */

DRV_FN(cuFuncGetAttribute, (int *value, int attribute, void *f))
{
	int status;
	struct device_kernel *k = value ? drv_kernel(f, &status) : NULL;

	if (!value)
		return STATUS_INVALID_VALUE;
	return k ? rt_function_attribute(k, attribute, value) : status;
}

DRV_FN(cuFuncSetAttribute, (void *f, int attribute, int value))
{
	int status;
	struct device_kernel *k = drv_kernel(f, &status);

	return k ? rt_function_set(k, attribute, value) : status;
}

static int set_preference(void *f, int value, int last)
{
	int status;

	if (!drv_kernel(f, &status))
		return status;
	return value < 0 || value > last ? STATUS_INVALID_VALUE : STATUS_SUCCESS;
}

DRV_FN(cuFuncSetCacheConfig, (void *f, int config))
{
	return set_preference(f, config, 3);
}

DRV_FN(cuFuncSetSharedMemConfig, (void *f, int config))
{
	return set_preference(f, config, 2);
}

DRV_FN(cuFuncGetModule, (struct drv_module * *out, void *f))
{
	struct device_kernel *k;
	struct rt_function *fn;
	int status;

	if (!out)
		return STATUS_INVALID_VALUE;
	k = drv_kernel(f, &status);
	if (!k)
		return status;
	fn = f;
	/* A library's kernel is in no module unless a context says which. */
	if (!fn->module && !rt_context_now())
		return STATUS_INVALID_HANDLE;
	*out = fn->module ? fn->module : drv_library_module(fn->image, k->owner);
	return *out ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}

DRV_FN(cuFuncGetName, (const char **name, void *f))
{
	return pldrv_cuKernelGetName(name, f);
}

DRV_FN(cuFuncGetParamInfo, (void *f, size_t i, size_t *offset, size_t *bytes))
{
	return pldrv_cuKernelGetParamInfo(f, i, offset, bytes);
}

/* 1: made ready for launches; which is done at the first one, or when asked for. */
DRV_FN(cuFuncIsLoaded, (int *state, void *f))
{
	int status;
	const struct device_kernel *k = state ? drv_kernel(f, &status) : NULL;

	if (!state)
		return STATUS_INVALID_VALUE;
	/* Questions about it load it, too. */
	*state = k && __atomic_load_n(&k->has_needs, __ATOMIC_ACQUIRE);
	for (u32 i = 0; k && i < ARRAY_LEN(k->lowered); i++)
		*state |= __atomic_load_n(&k->lowered[i], __ATOMIC_ACQUIRE) != NULL;
	return status;
}

DRV_FN(cuFuncLoad, (void *f))
{
	int status;
	struct device_kernel *k = drv_kernel(f, &status);

	if (!k)
		return status;
	return device_kernel_lower(k, 256, NULL) ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}
