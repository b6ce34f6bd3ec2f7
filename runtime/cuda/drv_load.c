/*
 * Modules of the driver interface: loading with the options of the just-in-time compiler, and what
 * is in them.
 */
#include "runtime/cuda/drv.h"

#include "src/base/file.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- handles ---- */

struct rt_function *drv_module_function(struct drv_module *m, struct device_kernel *k)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct rt_function *f = NULL;
	u64 *found;

	pthread_mutex_lock(&lock);
	found = map_get(&m->by_kernel, map_key(k));
	if (found)
		f = (struct rt_function *)(uintptr_t)*found;
	else
		f = rt_handle_new(RT_HANDLE_FUNCTION);
	if (f && !found) {
		f->name = k->func->name->text;
		f->module = m;
		f->kernel = k;
		f->next = m->functions;
		if (map_set(&m->by_kernel, map_key(k), map_key(f))) {
			m->functions = f;
		} else {
			rt_handle_free(f);
			f = NULL;
		}
	}
	pthread_mutex_unlock(&lock);
	return f;
}

struct drv_module *drv_library_module(struct rt_image *library, struct device_program *p)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct drv_module *m;
	int i = 0;

	while (i < (int)ARCH_DEVICES_MAX && library->state->program[i] != p)
		i++;
	if (i == (int)ARCH_DEVICES_MAX)
		return NULL;
	pthread_mutex_lock(&lock);
	m = library->state->module[i];
	if (!m) {
		m = rt_handle_new(RT_HANDLE_MODULE);
		if (m) {
			m->program = p;
			m->library = library;
			m->context = rt_context_now();
			library->state->module[i] = m;
		}
	}
	pthread_mutex_unlock(&lock);
	return m;
}

void drv_module_free(struct drv_module *m)
{
	struct rt_function *f;

	while ((f = m->functions)) {
		m->functions = f->next;
		rt_handle_free(f);
	}
	map_fini(&m->by_kernel);
	if (!m->library)
		device_program_unload(m->program);
	rt_handle_free(m);
}

static void free_of_context(void *handle, void *user)
{
	struct drv_module *m = handle;

	if (m->context == user && !m->library)
		drv_module_free(m);
}

void drv_modules_free(const struct rt_context *c)
{
	rt_handle_each(RT_HANDLE_MODULE, free_of_context, (void *)(uintptr_t)c);
}

/* ---- loading ---- */

bool drv_is_text(const char *image)
{
	return *image == '.' || *image == '/' || (*image && strchr(" \t\r\n", *image));
}

int drv_load_image(const void *image, size_t size, const char *name, struct drv_jit *jit,
		   struct drv_module **out)
{
	int status;
	struct rt_device *d = drv_device(&status);
	struct drv_module *m;

	if (!d)
		return status;
	m = rt_handle_new(RT_HANDLE_MODULE);
	if (!m)
		return STATUS_OUT_OF_MEMORY;
	status = (int)device_image_check(&d->dev, image, size, name, &jit->diag);
	if (!status)
		status = (int)device_program_load_image(&d->dev, image, size, name, &jit->diag,
							&m->program);
	/* Text that the program made is judged at once; fat binaries may hold more than is used. */
	if (!status && drv_is_text(image) && !device_program_is_whole(m->program, &jit->diag)) {
		device_program_unload(m->program);
		status = STATUS_INVALID_PTX;
	}
	if (status) {
		rt_handle_free(m);
		return status;
	}
	m->context = rt_context_now();
	*out = m;
	return STATUS_SUCCESS;
}

static int load_module(struct drv_module **out, const void *image, size_t size, const char *name)
{
	struct drv_jit jit;
	int status;

	if (!out || !image)
		return STATUS_INVALID_VALUE;
	drv_jit_begin(&jit, 0, NULL, NULL);
	status = drv_load_image(image, size, name, &jit, out);
	drv_jit_end(&jit);
	return status;
}

DRV_FN(cuModuleLoadData, (struct drv_module * *out, const void *image))
{
	return load_module(out, image, 0, "<image>");
}

DRV_FN(cuModuleLoadDataEx,
       (struct drv_module * *out, const void *image, unsigned n, int *options, void **values))
{
	struct drv_jit jit;
	int status;

	if (!out || !image)
		return STATUS_INVALID_VALUE;
	status = drv_jit_begin(&jit, n, options, values);
	if (!status) {
		status = drv_load_image(image, 0, "<image>", &jit, out);
		if (!status)
			drv_jit_kernels(&jit, (*out)->program);
	}
	drv_jit_end(&jit);
	return status;
}

DRV_FN(cuModuleLoadFatBinary, (struct drv_module * *out, const void *image))
{
	return load_module(out, image, 0, "<fat binary>");
}

DRV_FN(cuModuleLoad, (struct drv_module * *out, const char *path))
{
	struct file f;
	int status;

	if (!out || !path)
		return STATUS_INVALID_VALUE;
	if (!file_open(&f, path))
		return STATUS_FILE_NOT_FOUND;
	status = load_module(out, f.data, f.size, path);
	file_close(&f);
	return status;
}

DRV_FN(cuModuleUnload, (struct drv_module * m))
{
	int status;

	if (!rt_handle_is(m, RT_HANDLE_MODULE))
		return STATUS_INVALID_HANDLE;
	if (m->library) /* goes with its library */
		return STATUS_INVALID_HANDLE;
	drv_any_device(&status);
	rt_finish();
	drv_module_free(m);
	return status;
}

/* ---- what is in a module ---- */

DRV_FN(cuModuleGetFunction, (struct rt_function * *out, struct drv_module *m, const char *name))
{
	struct device_kernel *k;

	if (!out || !name || !*name)
		return STATUS_INVALID_VALUE;
	if (!rt_handle_is(m, RT_HANDLE_MODULE))
		return STATUS_INVALID_HANDLE;
	k = device_program_kernel(m->program, name);
	if (!k)
		return STATUS_NOT_FOUND;
	*out = drv_module_function(m, k);
	return *out ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}

DRV_FN(cuModuleGetFunctionCount, (unsigned *count, struct drv_module *m))
{
	if (!count)
		return STATUS_INVALID_VALUE;
	if (!rt_handle_is(m, RT_HANDLE_MODULE))
		return STATUS_INVALID_HANDLE;
	*count = device_program_kernels(m->program);
	return STATUS_SUCCESS;
}

DRV_FN(cuModuleEnumerateFunctions, (struct rt_function * *out, unsigned n, struct drv_module *m))
{
	struct device_kernel *k;

	if (!out && n)
		return STATUS_INVALID_VALUE;
	if (!rt_handle_is(m, RT_HANDLE_MODULE))
		return STATUS_INVALID_HANDLE;
	for (unsigned i = 0; i < n && (k = device_program_nth(m->program, i)); i++) {
		out[i] = drv_module_function(m, k);
		if (!out[i])
			return STATUS_OUT_OF_MEMORY;
	}
	return STATUS_SUCCESS;
}

DRV_FN(cuModuleGetGlobal_v2, (u64 * address, size_t *bytes, struct drv_module *m, const char *name))
{
	u64 at, n;

	if (!name || (!address && !bytes))
		return STATUS_INVALID_VALUE;
	if (!rt_handle_is(m, RT_HANDLE_MODULE))
		return STATUS_INVALID_HANDLE;
	if (!device_program_variable(m->program, name, &at, &n))
		return STATUS_NOT_FOUND;
	if (address)
		*address = at;
	if (bytes)
		*bytes = n;
	return STATUS_SUCCESS;
}

/* The interface of 32-bit addresses. */
DRV_FN(cuModuleGetGlobal, (u32 * address, u32 *bytes, struct drv_module *m, const char *name))
{
	size_t n = 0;
	u64 at = 0;
	int status = pldrv_cuModuleGetGlobal_v2(&at, &n, m, name);

	if (status)
		return status;
	if (at > UINT32_MAX && address)
		return STATUS_NOT_SUPPORTED;
	if (address)
		*address = (u32)at;
	if (bytes)
		*bytes = (u32)n;
	return STATUS_SUCCESS;
}

/* 1: eager, 2: lazy. Kernels are always made ready at their first launch, unless told otherwise. */
DRV_FN(cuModuleGetLoadingMode, (int *mode))
{
	const char *s = getenv("CUDA_MODULE_LOADING");

	if (!mode)
		return STATUS_INVALID_VALUE;
	*mode = s && !strcmp(s, "EAGER") ? 1 : 2;
	return STATUS_SUCCESS;
}
