/*
 * Libraries (CUlibrary): code without a context, whose kernels and variables are found on whatever
 * device is current; and what kernels and functions are. The runtime interface has the same.
 */
#include "runtime/cuda/drv.h"

#include "src/base/file.h"

#include <stdlib.h>

/* ---- loading ---- */

enum { UNIVERSAL_FALLBACK_TARGET, BINARY_IS_PRESERVED };

static bool is_preserved(unsigned n, const int *options, void *const *values)
{
	for (unsigned i = 0; i < n; i++)
		if (options[i] == BINARY_IS_PRESERVED)
			return !values || values[i];
	return false;
}

/* Bytes of an image whose size is not given: a text's, or 0, and then it is not copied. */
static size_t text_bytes(const void *code)
{
	return drv_is_text(code) ? strlen(code) : 0;
}

/* Load now where a context is current, so that errors show here and not later. */
static int load_now(struct rt_image *i, struct drv_jit *jit)
{
	struct drv_module *m;
	int status, device = rt_device_index();

	if (!rt_context_now() || !drv_is_text(i->code))
		return STATUS_SUCCESS;
	status = drv_load_image(i->code, i->size, i->name, jit, &m);
	if (status)
		return status;
	m->library = i;
	i->state->module[device] = m;
	i->state->program[device] = m->program;
	return STATUS_SUCCESS;
}

static int load_library(struct rt_image **out, const void *code, size_t size, bool copy,
			struct drv_jit *jit)
{
	struct rt_image *i;
	int status;

	if (!out || !code)
		return STATUS_INVALID_VALUE;
	i = rt_image_new(code, size, copy, "<library>");
	if (!i)
		return STATUS_OUT_OF_MEMORY;
	status = load_now(i, jit);
	if (status)
		rt_image_free(i);
	else
		*out = i;
	return status;
}

/* Options of a call: those of the compiler, then those of the library. */
struct options {
	int *jit;
	void **jit_values;
	unsigned jit_len;
	int *library;
	void **library_values;
	unsigned library_len;
};

static int load_data(struct rt_image **out, const void *code, const struct options *o)
{
	struct drv_jit jit;
	int status = drv_check(0);

	if (!status && (!out || !code || (o->library_len && !o->library)))
		status = STATUS_INVALID_VALUE;
	if (status)
		return status;
	status = drv_jit_begin(&jit, o->jit_len, o->jit, o->jit_values);
	if (!status)
		status = load_library(out, code, text_bytes(code),
				      !is_preserved(o->library_len, o->library, o->library_values),
				      &jit);
	drv_jit_end(&jit);
	return status;
}

static int load_file(struct rt_image **out, const char *path, const struct options *o)
{
	struct drv_jit jit;
	struct file f;
	int status = drv_check(0);

	if (status)
		return status;
	if (!out || !path)
		return STATUS_INVALID_VALUE;
	status = drv_jit_begin(&jit, o->jit_len, o->jit, o->jit_values);
	if (!status && !file_open(&f, path)) {
		status = STATUS_FILE_NOT_FOUND;
	} else if (!status) {
		status = load_library(out, f.data, f.size, true, &jit);
		file_close(&f);
	}
	drv_jit_end(&jit);
	return status;
}

DRV_FN(cuLibraryLoadData, (struct rt_image * *out, const void *code, int *jit, void **jv,
			   unsigned nj, int *lib, void **lv, unsigned nl))
{
	return load_data(out, code, &(struct options){jit, jv, nj, lib, lv, nl});
}

DRV_FN(cuLibraryLoadFromFile, (struct rt_image * *out, const char *path, int *jit, void **jv,
			       unsigned nj, int *lib, void **lv, unsigned nl))
{
	return load_file(out, path, &(struct options){jit, jv, nj, lib, lv, nl});
}

DRV_FN(cuLibraryUnload, (struct rt_image * i))
{
	if (!rt_handle_is(i, RT_HANDLE_LIBRARY))
		return STATUS_INVALID_HANDLE;
	rt_image_free(i);
	return STATUS_SUCCESS;
}

/* ---- what is in a library ---- */

/* The library's program on the current device; NULL and *status. */
static struct device_program *program_of(struct rt_image *i, int *status)
{
	struct device_program *p;
	int borrowed;

	if (!rt_handle_is(i, RT_HANDLE_LIBRARY)) {
		*status = STATUS_INVALID_HANDLE;
		return NULL;
	}
	borrowed = rt_context_borrow(rt_context_device());
	p = rt_image_program(i, status);
	rt_context_return(borrowed);
	return p;
}

/* The same for what differs from device to device: a context has to say which is meant. */
static struct device_program *program_now(struct rt_image *i, int *status)
{
	if (rt_handle_is(i, RT_HANDLE_LIBRARY))
		return drv_device(status) ? rt_image_program(i, status) : NULL;
	*status = STATUS_INVALID_HANDLE;
	return NULL;
}

DRV_FN(cuLibraryGetModule, (struct drv_module * *out, struct rt_image *i))
{
	int status;
	struct device_program *p = out ? program_now(i, &status) : NULL;

	if (!out)
		return STATUS_INVALID_VALUE;
	*out = p ? drv_library_module(i, p) : NULL;
	return p && !*out ? (int)STATUS_OUT_OF_MEMORY : status;
}

DRV_FN(cuLibraryGetKernel, (struct rt_function * *out, struct rt_image *i, const char *name))
{
	struct device_program *p;
	int status;

	if (!out || !name)
		return STATUS_INVALID_VALUE;
	p = program_of(i, &status);
	if (!p)
		return status;
	if (!device_program_kernel(p, name))
		return STATUS_NOT_FOUND;
	*out = rt_image_function(i, name);
	return *out ? STATUS_SUCCESS : STATUS_OUT_OF_MEMORY;
}

DRV_FN(cuLibraryGetKernelCount, (unsigned *count, struct rt_image *i))
{
	struct device_program *p;
	int status;

	if (!count)
		return STATUS_INVALID_VALUE;
	p = program_of(i, &status);
	if (p)
		*count = device_program_kernels(p);
	return status;
}

DRV_FN(cuLibraryEnumerateKernels, (struct rt_function * *out, unsigned n, struct rt_image *i))
{
	struct device_program *p;
	struct device_kernel *k;
	int status;

	if (!out)
		return STATUS_INVALID_VALUE;
	p = program_of(i, &status);
	for (unsigned at = 0; p && at < n && (k = device_program_nth(p, at)); at++) {
		out[at] = rt_image_function(i, k->func->name->text);
		if (!out[at])
			return STATUS_OUT_OF_MEMORY;
	}
	return status;
}

static int library_variable(u64 *address, size_t *bytes, struct rt_image *i, const char *name,
			    bool managed)
{
	struct device_program *p;
	u64 at, n;
	int status;

	if (!name || (!address && !bytes))
		return STATUS_INVALID_VALUE;
	p = program_now(i, &status);
	if (!p)
		return status;
	if (!device_program_variable(p, name, &at, &n) ||
	    (managed && !device_program_is_managed(p, name)))
		return STATUS_NOT_FOUND;
	if (address)
		*address = at;
	if (bytes)
		*bytes = n;
	return STATUS_SUCCESS;
}

DRV_FN(cuLibraryGetGlobal, (u64 * address, size_t *bytes, struct rt_image *i, const char *name))
{
	return library_variable(address, bytes, i, name, false);
}

DRV_FN(cuLibraryGetManaged, (u64 * address, size_t *bytes, struct rt_image *i, const char *name))
{
	return library_variable(address, bytes, i, name, true);
}

/* Functions at one address on all devices need a linker that places them: none has any here. */
DRV_FN(cuLibraryGetUnifiedFunction, (void **out, struct rt_image *i, const char *name))
{
	int status;

	if (!out || !name)
		return STATUS_INVALID_VALUE;
	*out = NULL;
	return program_of(i, &status) ? (int)STATUS_INVALID_VALUE : status;
}

/* ---- the same in the runtime interface ---- */

RT_FN(cudaLibraryLoadData, (struct rt_image * *out, const void *code, int *jit, void **jv,
			    unsigned nj, int *lib, void **lv, unsigned nl))
{
	int status;

	rt_device_now(&status);
	return rt_error(status ? status
			       : load_data(out, code, &(struct options){jit, jv, nj, lib, lv, nl}));
}

RT_FN(cudaLibraryLoadFromFile, (struct rt_image * *out, const char *path, int *jit, void **jv,
				unsigned nj, int *lib, void **lv, unsigned nl))
{
	int status;

	rt_device_now(&status);
	return rt_error(status ? status
			       : load_file(out, path, &(struct options){jit, jv, nj, lib, lv, nl}));
}

RT_FN(cudaLibraryUnload, (struct rt_image * i))
{
	return rt_error(pldrv_cuLibraryUnload(i));
}

RT_FN(cudaLibraryGetKernel, (struct rt_function * *out, struct rt_image *i, const char *name))
{
	return rt_error(pldrv_cuLibraryGetKernel(out, i, name));
}

RT_FN(cudaLibraryGetKernelCount, (unsigned *count, struct rt_image *i))
{
	return rt_error(pldrv_cuLibraryGetKernelCount(count, i));
}

RT_FN(cudaLibraryEnumerateKernels, (struct rt_function * *out, unsigned n, struct rt_image *i))
{
	return rt_error(pldrv_cuLibraryEnumerateKernels(out, n, i));
}

/* The runtime interface makes a context where there is none. */
static int variable_here(u64 *address, size_t *bytes, struct rt_image *i, const char *name,
			 bool managed)
{
	int status;

	rt_device_now(&status);
	return library_variable(address, bytes, i, name, managed);
}

RT_FN(cudaLibraryGetGlobal, (u64 * address, size_t *bytes, struct rt_image *i, const char *name))
{
	return rt_error(variable_here(address, bytes, i, name, false));
}

RT_FN(cudaLibraryGetManaged, (u64 * address, size_t *bytes, struct rt_image *i, const char *name))
{
	return rt_error(variable_here(address, bytes, i, name, true));
}

RT_FN(cudaLibraryGetUnifiedFunction, (void **out, struct rt_image *i, const char *name))
{
	return rt_error(pldrv_cuLibraryGetUnifiedFunction(out, i, name));
}
