/*
 * Registration: what nvcc's and clang's start-up code calls, and the look-up of kernels and variables by host address.
 * Nothing is parsed until something of an image is first used.
 */
#include "runtime/rt.h"

#include <stdio.h>
#include <stdlib.h>

RT_API void **plrt___cudaRegisterFatBinary(void *wrapper);
RT_API void **plrt___cudaRegisterFatBinary(void *wrapper)
{
	struct rt_image *i = calloc(1, sizeof(*i));
	struct rt *rt = rt_get();

	if (!i)
		return NULL;
	i->wrapper = wrapper;
	pthread_mutex_lock(&rt->lock);
	i->next = rt->images;
	rt->images = i;
	pthread_mutex_unlock(&rt->lock);
	return (void **)i;
}

RT_API void plrt___cudaRegisterFatBinaryEnd(void **handle);
RT_API void plrt___cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

/* Called from atexit: other handlers may still launch, so images stay until the process ends. */
RT_API void plrt___cudaUnregisterFatBinary(void **handle);
RT_API void plrt___cudaUnregisterFatBinary(void **handle)
{
	struct rt *rt = rt_get();

	(void)handle;
	for (u32 i = 0; i < rt->list.len; i++)
		if (rt->device[i].is_open)
			device_wait(&rt->device[i].dev);
}

static void remember(struct map *m, const void *key, const void *value)
{
	struct rt *rt = rt_get();

	pthread_mutex_lock(&rt->lock);
	if (!value || !map_set(m, map_key(key), map_key(value)))
		fputs("ptxloom: out of memory while kernels are registered\n", stderr);
	pthread_mutex_unlock(&rt->lock);
}

RT_API void plrt___cudaRegisterFunction(void **handle, const void *stub, char *device_stub,
					const char *name, int limit, void *tid, void *bid,
					void *bdim, void *gdim, int *wsize);
RT_API void plrt___cudaRegisterFunction(void **handle, const void *stub, char *device_stub,
					const char *name, int limit, void *tid, void *bid,
					void *bdim, void *gdim, int *wsize)
{
	struct rt_function *f = calloc(1, sizeof(*f));

	(void)device_stub, (void)limit, (void)tid, (void)bid, (void)bdim, (void)gdim, (void)wsize;
	if (f)
		*f = (struct rt_function){(struct rt_image *)handle, name};
	remember(&rt_get()->functions, stub, f);
}

RT_API void plrt___cudaRegisterVar(void **handle, char *host, char *device_name, const char *name,
				   int ext, size_t size, int constant, int global);
RT_API void plrt___cudaRegisterVar(void **handle, char *host, char *device_name, const char *name,
				   int ext, size_t size, int constant, int global)
{
	struct rt_variable *v = calloc(1, sizeof(*v));

	(void)device_name, (void)ext, (void)constant, (void)global;
	if (v)
		*v = (struct rt_variable){(struct rt_image *)handle, name, size, NULL};
	remember(&rt_get()->variables, host, v);
}

RT_API void plrt___cudaRegisterManagedVar(void **handle, void **slot, char *device_name,
					  const char *name, int ext, size_t size, int constant,
					  int global);
RT_API void plrt___cudaRegisterManagedVar(void **handle, void **slot, char *device_name,
					  const char *name, int ext, size_t size, int constant,
					  int global)
{
	struct rt_variable *v = calloc(1, sizeof(*v));

	(void)device_name, (void)ext, (void)constant, (void)global;
	if (v)
		*v = (struct rt_variable){(struct rt_image *)handle, name, size, slot};
	remember(&rt_get()->variables, slot, v);
}

/* Before the first access of a managed variable by the host: its address goes where the program looks. */
RT_API char plrt___cudaInitModule(void **handle);
RT_API char plrt___cudaInitModule(void **handle)
{
	struct rt *rt = rt_get();

	for (size_t i = 0; i < rt->variables.cap; i++) {
		struct rt_variable *v =
			(struct rt_variable *)(uintptr_t)rt->variables.slots[i].value;
		u64 address, size;

		if (!rt->variables.slots[i].key || !v->managed_slot ||
		    v->image != (struct rt_image *)handle)
			continue;
		if (!rt_find_symbol(v->managed_slot, &address, &size))
			*v->managed_slot = (void *)(uintptr_t)address;
	}
	return 1;
}

struct device_program *rt_image_program(struct rt_image *image, int *status)
{
	struct rt_device *d = rt_device_now(status);
	int index = rt_device_index();
	struct rt *rt = rt_get();
	struct diag diag;

	if (!d)
		return NULL;
	pthread_mutex_lock(&rt->lock);
	if (!image->program[index] && !image->load_status[index]) {
		diag_init(&diag, diag_print, stderr);
		diag.error_limit = 5;
		image->load_status[index] = device_program_load_image(
			&d->dev, image->wrapper, 0, "<fat binary>", &diag, &image->program[index]);
		diag_fini(&diag);
	}
	*status = (int)image->load_status[index];
	pthread_mutex_unlock(&rt->lock);
	return image->program[index];
}

struct rt_function *rt_find_function(const void *stub)
{
	struct rt *rt = rt_get();
	u64 *v;

	pthread_mutex_lock(&rt->lock);
	v = stub ? map_get(&rt->functions, map_key(stub)) : NULL;
	pthread_mutex_unlock(&rt->lock);
	return v ? (struct rt_function *)(uintptr_t)*v : NULL;
}

int rt_find_symbol(const void *symbol, u64 *address, u64 *size)
{
	struct rt *rt = rt_get();
	struct device_program *p;
	struct rt_variable *v;
	u64 *found;
	int status;

	pthread_mutex_lock(&rt->lock);
	found = symbol ? map_get(&rt->variables, map_key(symbol)) : NULL;
	pthread_mutex_unlock(&rt->lock);
	if (!found)
		return cudaErrorInvalidSymbol;
	v = (struct rt_variable *)(uintptr_t)*found;
	p = rt_image_program(v->image, &status);
	if (!p)
		return status;
	return device_program_variable(p, v->name, address, size) ? cudaSuccess
								  : cudaErrorInvalidSymbol;
}
