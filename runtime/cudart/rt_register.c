/*
 * Registration: what nvcc's and clang's start-up code calls, and the look-up of kernels and
 * variables by host address. Nothing is parsed until something of an image is first used.
 */
#include "runtime/process.h"
#include "src/tex/texture.h"

#include <stdio.h>
#include <stdlib.h>

static struct process_registered *const registered = &the_process.registered;

static void no_memory(void)
{
	fputs("ptxloom: out of memory while kernels are registered\n", stderr);
}

void **plrt___cudaRegisterFatBinary(void *wrapper)
{
	struct rt_image *i = rt_image_new(wrapper, 0, false, "<fat binary>");

	if (i)
		i->is_registered = true;
	else
		no_memory();
	return (void **)i;
}

void plrt___cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

/* What the map has for a host address. */
static void *lookup(const struct map *m, const void *key)
{
	const u64 *slot;
	u64 value;

	pthread_mutex_lock(&registered->lock);
	slot = key ? map_get(m, map_key(key)) : NULL;
	/* Another thread's registration may move the slots. */
	value = slot ? *slot : 0;
	pthread_mutex_unlock(&registered->lock);
	return (void *)(uintptr_t)value;
}

static void remember_symbol(struct map *m, const void *key, const void *value)
{
	pthread_mutex_lock(&registered->lock);
	if (!value || (key && !map_set(m, map_key(key), map_key(value))))
		no_memory();
	pthread_mutex_unlock(&registered->lock);
}

/* The slots that lead to something of the image lead nowhere from now on. */
static void drop_entries(struct map *m, const struct rt_image *image, bool variables)
{
	for (size_t i = 0; i < m->cap; i++) {
		struct rt_variable *v = (struct rt_variable *)(uintptr_t)m->slots[i].value;
		struct rt_function *f = (struct rt_function *)(uintptr_t)m->slots[i].value;

		if (!m->slots[i].key || !m->slots[i].value)
			continue;
		if ((variables ? v->image : f->image) != image)
			continue;
		m->slots[i].value = 0;
		if (variables)
			free(v);
	}
}

/*
 * Called from atexit, where other handlers may still launch: then images stay. A library that is
 * unloaded with dlclose takes its image along.
 */
void plrt___cudaUnregisterFatBinary(void **handle)
{
	struct rt_image *image = (struct rt_image *)handle;

	if (!rt_handle_is(image, RT_HANDLE_LIBRARY))
		return;
	rt_finish();
	if (rt_is_exiting())
		return;
	rt_image_cover(image);
	pthread_mutex_lock(&registered->lock);
	drop_entries(&registered->functions, image, false);
	drop_entries(&registered->variables, image, true);
	pthread_mutex_unlock(&registered->lock);
	rt_image_free(image);
}

void plrt___cudaRegisterFunction(void **handle, const void *stub, char *device_stub,
				 const char *name, int limit, void *tid, void *bid, void *bdim,
				 void *gdim, int *wsize)
{
	struct rt_image *image = (struct rt_image *)handle;

	(void)device_stub, (void)limit, (void)tid, (void)bid, (void)bdim, (void)gdim, (void)wsize;
	if (rt_handle_is(image, RT_HANDLE_LIBRARY) && name)
		remember_symbol(&registered->functions, stub, rt_image_function(image, name));
}

/* what: all but the image. */
static void register_variable(void **handle, const void *host, const struct rt_variable *what)
{
	struct rt_image *image = (struct rt_image *)handle;
	struct rt_variable *v;

	if (!rt_handle_is(image, RT_HANDLE_LIBRARY) || !what->name)
		return;
	v = calloc(1, sizeof(*v));
	if (v) {
		*v = *what;
		v->image = image;
		if (v->managed_slot) {
			v->next_managed = image->managed;
			image->managed = v;
		}
	}
	remember_symbol(&registered->variables, host, v);
}

void plrt___cudaRegisterVar(void **handle, char *host, char *device_name, const char *name, int ext,
			    size_t size, int constant, int global)
{
	(void)device_name, (void)ext, (void)constant, (void)global;
	register_variable(handle, host, &(struct rt_variable){.name = name, .size = size});
}

void plrt___cudaRegisterManagedVar(void **handle, void **slot, char *device_name, const char *name,
				   int ext, size_t size, int constant, int global)
{
	(void)device_name, (void)ext, (void)constant, (void)global;
	register_variable(handle, slot,
			  &(struct rt_variable){.name = name, .size = size, .managed_slot = slot});
}

/* Texture references of programs built with 11 and before; as_float: the read mode. */
void plrt___cudaRegisterTexture(void **handle, const void *host, const void **address,
				const char *name, int dims, int as_float, int ext)
{
	(void)address, (void)dims, (void)ext;
	register_variable(handle, host,
			  &(struct rt_variable){
				  .name = name, .kind = TEX_TEXTURE, .as_float = as_float != 0});
}

void plrt___cudaRegisterSurface(void **handle, const void *host, const void **address,
				const char *name, int dims, int ext)
{
	(void)address, (void)dims, (void)ext;
	register_variable(handle, host, &(struct rt_variable){.name = name, .kind = TEX_SURFACE});
}

/*
 * Before the first access of a managed variable by the host: its address goes where the program
 * looks.
 */
char plrt___cudaInitModule(void **handle)
{
	struct rt_image *image = (struct rt_image *)handle;
	u64 address, size;

	if (!rt_handle_is(image, RT_HANDLE_LIBRARY))
		return 0;
	for (struct rt_variable *v = image->managed; v; v = v->next_managed)
		if (!rt_find_symbol(v->managed_slot, &address, &size))
			*v->managed_slot = (void *)(uintptr_t)address;
	return 1;
}

/* A program may pass the address of a host stub, or a kernel's handle. */
struct rt_function *rt_find_function(const void *stub)
{
	if (rt_handle_is(stub, RT_HANDLE_FUNCTION))
		return (struct rt_function *)(uintptr_t)stub;
	return lookup(&registered->functions, stub);
}

const struct rt_function *rt_named_kernel(const void *stub)
{
	const struct rt_function *f = rt_find_function(stub);

	return f ? f : stub;
}

const struct rt_variable *rt_find_reference(const void *symbol, u32 kind)
{
	const struct rt_variable *v = lookup(&registered->variables, symbol);

	return v && v->kind == kind ? v : NULL;
}

/*
 * Of a managed variable a program has the address, not that of its slot. It has got it by reading
 * the slot, which leads there since __cudaInitModule.
 */
static struct rt_variable *find_managed(const void *address)
{
	struct rt_variable *found = NULL;

	pthread_mutex_lock(&registered->lock);
	for (size_t i = 0; i < registered->variables.cap && address && !found; i++) {
		struct rt_variable *v =
			(struct rt_variable *)(uintptr_t)registered->variables.slots[i].value;

		if (v && v->managed_slot && *v->managed_slot == address)
			found = v;
	}
	pthread_mutex_unlock(&registered->lock);
	return found;
}

int rt_find_symbol(const void *symbol, u64 *address, u64 *size)
{
	struct rt_variable *v = lookup(&registered->variables, symbol);
	struct device_program *p;
	int status;

	v = v ? v : find_managed(symbol);
	if (!v || v->kind != TEX_FREE)
		return cudaErrorInvalidSymbol;
	p = rt_image_program(v->image, &status);
	if (!p)
		return status;
	return device_program_variable(p, v->name, address, size) ? cudaSuccess
								  : cudaErrorInvalidSymbol;
}
