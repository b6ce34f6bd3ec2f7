/*
 * Images: registered fat binaries and libraries, loaded on each device when something of them is
 * first asked for there, and the handles of their kernels.
 */
#include "runtime/cuda/drv.h"
#include "runtime/device_choice.h"
#include "runtime/process.h"
#include "runtime/work.h"
#include "src/base/file.h"
#include "src/base/setting.h"
#include "src/cover/collect.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Size of code that is to be copied: the caller's, or a text's. Of other code its headers say it.
 */
static bool keep_image(struct rt_image *i, bool copy)
{
	char *p;

	if (!copy || !i->size)
		return true;
	p = malloc(i->size + 1);
	if (!p)
		return false;
	memcpy(p, i->code, i->size);
	p[i->size] = 0;
	i->code = i->owned = p;
	return true;
}

/* With the lock held. */
static struct rt_image *image_locked(const void *code, size_t size, bool copy, const char *name)
{
	struct rt_image *i = rt_handle_new(RT_HANDLE_LIBRARY);

	if (!i)
		return NULL;
	i->code = code;
	i->size = size;
	i->name = name;
	i->state = calloc(1, sizeof(*i->state));
	if (i->state && keep_image(i, copy))
		return i;
	free(i->state);
	rt_handle_free(i);
	return NULL;
}

/*
 * The loader is asked here and never with the lock held: it runs constructors, which register
 * images, with a lock of its own held.
 */
struct rt_image *rt_image_new(const void *code, size_t size, bool copy, const char *name)
{
	Dl_info who = {0};
	bool known = !copy && dladdr(code, &who) && who.dli_fname;
	struct rt_image *i;

	pthread_mutex_lock(&the_process.images);
	i = image_locked(code, size, copy, name);
	if (i && known) {
		i->object = who.dli_fbase;
		i->object_path = who.dli_fname;
	}
	pthread_mutex_unlock(&the_process.images);
	return i;
}

static void unload(struct rt_image *image, int device)
{
	struct rt_image_state *s = image->state;

	for (struct rt_function *f = image->functions; f; f = f->next)
		__atomic_store_n(&f->kernel, NULL, __ATOMIC_RELEASE);
	if (s->module[device])
		drv_module_free(s->module[device]);
	s->module[device] = NULL;
	device_program_unload(s->program[device]);
	s->program[device] = NULL;
	s->load_status[device] = STATUS_SUCCESS;
}

void rt_image_free(struct rt_image *image)
{
	struct rt_function *f;

	/* Work that has been issued may use its code still. */
	for (int i = 0; i < (int)ARCH_DEVICES_MAX; i++)
		if (image->state->program[i])
			stream_device_finish(&rt_get()->device[i].dev);
	pthread_mutex_lock(&the_process.images);
	for (int i = 0; i < (int)ARCH_DEVICES_MAX; i++)
		unload(image, i);
	while ((f = image->functions)) {
		image->functions = f->next;
		free((char *)f->name);
		rt_handle_free(f);
	}
	map_fini(&image->by_name);
	free(image->state);
	free(image->owned);
	rt_handle_free(image);
	pthread_mutex_unlock(&the_process.images);
}

static void forget_image_use(void *handle, void *user)
{
	unload(handle, *(const int *)user);
}

void rt_images_forget_device(int i)
{
	pthread_mutex_lock(&the_process.images);
	rt_handle_each(RT_HANDLE_LIBRARY, forget_image_use, &i);
	pthread_mutex_unlock(&the_process.images);
}

/* Never 0. */
static u64 hash_name(const char *s)
{
	u64 h = hash_bytes(s, strlen(s));

	return h ? h : 1;
}

static struct rt_function *function_locked(struct rt_image *image, const char *name)
{
	u64 key = hash_name(name), *found = map_get(&image->by_name, key);
	struct rt_function *f = found ? (struct rt_function *)(uintptr_t)*found : NULL;

	if (f && !strcmp(f->name, name))
		return f;
	/* Two names of one hash: the second is in the list alone. */
	for (struct rt_function *g = f ? image->functions : NULL; g; g = g->next)
		if (!strcmp(g->name, name))
			return g;
	f = rt_handle_new(RT_HANDLE_FUNCTION);
	if (!f)
		return NULL;
	f->image = image;
	f->name = strdup(name);
	f->next = image->functions;
	if (!f->name || (!found && !map_set(&image->by_name, key, map_key(f)))) {
		free((char *)f->name);
		rt_handle_free(f);
		return NULL;
	}
	image->functions = f;
	return f;
}

struct rt_function *rt_image_function(struct rt_image *image, const char *name)
{
	struct rt_function *f;

	pthread_mutex_lock(&the_process.images);
	f = function_locked(image, name);
	pthread_mutex_unlock(&the_process.images);
	return f;
}

static _Thread_local bool is_quiet;

void plrt_images_quiet(bool on)
{
	is_quiet = on;
}

/* Libraries whose code cannot run here are named, once for each that comes in a row. */
static void name_library(const struct rt_image *image)
{
	static const void *last;
	const struct arch *better;

	if (!image->object || !strstr(file_base_name(image->object_path), ".so") ||
	    __atomic_exchange_n(&last, image->object, __ATOMIC_RELAXED) == image->object)
		return;
	better = device_choice_for(image);
	fprintf(stderr,
		"ptxloom: %s has kernels of which this device can run no PTX; calls that need them "
		"fail. ",
		image->object_path);
	if (better)
		fprintf(stderr, "It has more for another: `ptxloom run -d %s`.\n", better->id);
	else
		fputs("`ptxloom ls` lists what it has.\n", stderr);
}

static enum status load_image(struct rt_image *image, struct rt_device *d,
			      struct device_program **out)
{
	struct diag diag;
	enum status status;

	diag_init(&diag, is_quiet ? NULL : diag_print, stderr);
	diag.error_limit = 5;
	status =
		(image->is_registered ? device_program_load_registered : device_program_load_image)(
			&d->dev, image->code, image->size, image->name, &diag, out);
	diag_fini(&diag);
	if (status == STATUS_NO_BINARY_FOR_GPU && !is_quiet)
		name_library(image);
	else if (status == STATUS_SUCCESS)
		device_choice_look(image);
	return status;
}

struct device_program *rt_image_program(struct rt_image *image, int *status)
{
	struct rt_device *d = rt_device_now(status);
	struct rt_image_state *s = image->state;
	int i = rt_device_index();
	struct device_program *p;

	if (!d)
		return NULL;
	p = __atomic_load_n(&s->program[i], __ATOMIC_ACQUIRE);
	if (p)
		return p;
	pthread_mutex_lock(&the_process.images);
	if (!s->program[i] && !s->load_status[i]) {
		s->load_status[i] = load_image(image, d, &p);
		__atomic_store_n(&s->program[i], p, __ATOMIC_RELEASE);
	}
	*status = (int)s->load_status[i];
	p = s->program[i];
	pthread_mutex_unlock(&the_process.images);
	return p;
}

static struct device_kernel *kernel_now(const struct rt_function *f, int *status)
{
	struct rt_device *d = rt_device_now(status);
	struct device_program *p;
	struct device_kernel *k;

	if (!d)
		return NULL;
	k = __atomic_load_n(&f->kernel, __ATOMIC_ACQUIRE);
	if (k && (f->module || k->owner->dev == &d->dev))
		return k;
	p = f->image ? rt_image_program(f->image, status) : NULL;
	k = p ? device_program_kernel(p, f->name) : NULL;
	if (k)
		__atomic_store_n(&((struct rt_function *)(uintptr_t)f)->kernel, k,
				 __ATOMIC_RELEASE);
	else if (p || !f->image)
		*status = p && device_program_has_bad(p, f->name) ? (int)STATUS_INVALID_PTX
								  : cudaErrorInvalidDeviceFunction;
	return k;
}

struct device_kernel *rt_kernel(const struct rt_function *f, int *status)
{
	if (rt_handle_is(f, RT_HANDLE_FUNCTION))
		return kernel_now(f, status);
	/* A sticky error goes first. */
	if (rt_device_now(status))
		*status = f ? STATUS_INVALID_HANDLE : cudaErrorInvalidDeviceFunction;
	return NULL;
}

struct device_kernel *rt_kernel_on(const struct rt_function *f, int i, int *status)
{
	int borrowed = rt_context_borrow(i);
	struct rt_context *c = i == rt_device_index() ? NULL : rt_context_primary(i);
	struct device_kernel *k = NULL;

	if (c && !rt_context_push(c)) {
		*status = cudaErrorMemoryAllocation;
		return NULL;
	}
	k = rt_kernel(f, status);
	if (c)
		rt_context_pop();
	rt_context_return(borrowed);
	return k;
}

/* ---- coverage ---- */

/* What has no text for the device, or is damaged, says so when it is loaded. */
static void cover_image(void *handle, void *user)
{
	struct rt_image *image = handle;
	struct device *like = user;
	struct device_text *texts;
	struct diag d;
	u32 len;

	diag_init(&d, NULL, NULL);
	device_image_texts(like, image->code, image->size, image->name, &d, &texts, &len);
	for (u32 i = 0; i < len; i++) {
		cover_note_text(the_process.coverage, texts[i].text, texts[i].size);
		free(texts[i].owned);
	}
	free(texts);
	diag_fini(&d);
}

void rt_images_cover(const struct device *like)
{
	rt_handle_each(RT_HANDLE_LIBRARY, cover_image, (void *)(uintptr_t)like);
}

/* A device of which no more is asked than which code it takes. NULL: there is no coverage. */
static const struct device *device_to_cover(struct device *storage)
{
	struct rt *rt = setting_text(SETTING_COVERAGE) ? rt_get() : NULL;

	if (!rt || !the_process.coverage || !rt->list.len)
		return NULL;
	*storage = (struct device){.arch = rt->list.at[0]};
	return storage;
}

void rt_image_cover(struct rt_image *image)
{
	struct device storage;
	const struct device *like = the_process.is_forked ? NULL : device_to_cover(&storage);

	if (like)
		cover_image(image, (void *)(uintptr_t)like);
}

void rt_images_cover_rest(void)
{
	struct device storage;
	const struct device *like = device_to_cover(&storage);

	if (like)
		rt_images_cover(like);
	cover_close(the_process.coverage);
	the_process.coverage = NULL;
}
