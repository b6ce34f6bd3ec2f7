/*
 * The linker of the driver interface: PTX from any kind of input is collected, linked once to find
 * errors, and returned as an image that every loading function takes.
 */
#include "runtime/cuda/drv.h"

#include "src/base/file.h"
#include "src/dev/image/image.h"

#include <stdlib.h>
#include <string.h>

enum input { INPUT_CUBIN, INPUT_PTX, INPUT_FATBINARY, INPUT_OBJECT, INPUT_LIBRARY, INPUT_NVVM };

struct drv_link_state {
	VEC(struct device_text) texts; /* owned, their names too */
	struct text result;
	struct drv_jit jit; /* of the whole link */
};

struct drv_link {
	struct rt_handle head;
	struct drv_link_state *state;
};

/* ---- making and ending ---- */

static int create_link(struct drv_link **out, unsigned n, int *options, void **values)
{
	struct drv_link *l;
	int status;

	if (!drv_device(&status))
		return status;
	if (!out)
		return STATUS_INVALID_VALUE;
	l = rt_handle_new(RT_HANDLE_LINK);
	if (l)
		l->state = calloc(1, sizeof(*l->state));
	if (!l || !l->state) {
		if (l)
			rt_handle_free(l);
		return STATUS_OUT_OF_MEMORY;
	}
	status = drv_jit_begin(&l->state->jit, n, options, values);
	if (status) {
		drv_jit_end(&l->state->jit);
		free(l->state);
		rt_handle_free(l);
		return status;
	}
	*out = l;
	return STATUS_SUCCESS;
}

DRV_FN(cuLinkCreate_v2, (unsigned n, int *options, void **values, struct drv_link **out))
{
	return create_link(out, n, options, values);
}

DRV_FN(cuLinkCreate, (unsigned n, int *options, void **values, struct drv_link **out))
{
	return create_link(out, n, options, values);
}

DRV_FN(cuLinkDestroy, (struct drv_link * l))
{
	struct drv_link_state *s;

	if (!rt_handle_is(l, RT_HANDLE_LINK))
		return STATUS_INVALID_HANDLE;
	s = l->state;
	for (size_t i = 0; i < s->texts.len; i++) {
		free((char *)(uintptr_t)s->texts.at[i].name);
		free(s->texts.at[i].owned);
	}
	VEC_FREE(&s->texts);
	text_fini(&s->result);
	/*
	 * The program's buffers may be gone by now: what they were to hold has been given before.
	 */
	drv_jit_drop(&s->jit);
	free(s);
	rt_handle_free(l);
	return STATUS_SUCCESS;
}

/* ---- inputs ---- */

static bool keep_text(struct drv_link_state *s, const struct device_text *t, const char *name)
{
	struct device_text mine = {.size = t->size};
	char *copy = malloc(t->size + 1);

	mine.name = strdup(name);
	mine.owned = copy;
	mine.text = copy;
	if (copy) {
		memcpy(copy, t->text, t->size);
		copy[t->size] = 0;
	}
	if (copy && mine.name && VEC_PUSH(&s->texts, mine))
		return true;
	free(copy);
	free((char *)(uintptr_t)mine.name);
	return false;
}

static int add_link_input(struct drv_link *l, int type, const void *data, size_t size,
			  const char *name)
{
	struct drv_link_state *s = l->state;
	struct device_text *texts = NULL;
	u32 len = 0;
	int status;
	struct rt_device *d = drv_device(&status);

	if (!d)
		return status;
	if (type == INPUT_NVVM)
		return STATUS_NOT_SUPPORTED;
	/* Text may come with the NUL at its end, which is no part of it. */
	if (type == INPUT_PTX)
		size = strnlen(data, size);
	status = (int)device_image_texts(&d->dev, data, size, name, &s->jit.diag, &texts, &len);
	for (u32 i = 0; i < len; i++) {
		if (!status && !keep_text(s, &texts[i], name))
			status = STATUS_OUT_OF_MEMORY;
		free(texts[i].owned);
	}
	free(texts);
	if (status)
		drv_jit_give(&s->jit);
	return status == STATUS_INVALID_IMAGE && type == INPUT_PTX ? (int)STATUS_INVALID_PTX
								   : status;
}

static int check_input(const struct drv_link *l, int type)
{
	if (!rt_handle_is(l, RT_HANDLE_LINK))
		return STATUS_INVALID_HANDLE;
	return type < INPUT_CUBIN || type > INPUT_NVVM || l->state->result.len
		       ? STATUS_INVALID_VALUE
		       : STATUS_SUCCESS;
}

DRV_FN(cuLinkAddData_v2, (struct drv_link * l, int type, void *data, size_t size, const char *name,
			  unsigned n, int *options, void **values))
{
	int status = check_input(l, type);

	if (!status && (!data || !size || (n && (!options || !values))))
		status = STATUS_INVALID_VALUE;
	return status ? status
		      : add_link_input(l, type, data, size, name && *name ? name : "<input>");
}

DRV_FN(cuLinkAddData, (struct drv_link * l, int type, void *data, size_t size, const char *name,
		       unsigned n, int *options, void **values))
{
	return pldrv_cuLinkAddData_v2(l, type, data, size, name, n, options, values);
}

/* The device runtime's calls are built in. */
static bool is_device_runtime_path(const char *path)
{
	return !strcmp(file_base_name(path), "libcudadevrt.a");
}

DRV_FN(cuLinkAddFile_v2,
       (struct drv_link * l, int type, const char *path, unsigned n, int *options, void **values))
{
	int status = check_input(l, type);
	struct file f;

	if (!status && (!path || (n && (!options || !values))))
		status = STATUS_INVALID_VALUE;
	if (status)
		return status;
	if (!file_open(&f, path))
		return STATUS_FILE_NOT_FOUND;
	status = is_device_runtime_path(path) ? (int)STATUS_SUCCESS
					      : add_link_input(l, type, f.data, f.size, path);
	file_close(&f);
	return status;
}

DRV_FN(cuLinkAddFile,
       (struct drv_link * l, int type, const char *path, unsigned n, int *options, void **values))
{
	return pldrv_cuLinkAddFile_v2(l, type, path, n, options, values);
}

/* ---- the result ---- */

/* Link for the sake of the errors. */
static int try_link(struct drv_link_state *s, struct device *d)
{
	struct device_text *borrowed = calloc(s->texts.len, sizeof(*borrowed));
	struct device_program *p = NULL;
	int status;

	if (!borrowed)
		return STATUS_OUT_OF_MEMORY;
	for (size_t i = 0; i < s->texts.len; i++) {
		borrowed[i] = s->texts.at[i];
		borrowed[i].owned = NULL;
	}
	status = (int)device_program_load(d, borrowed, (u32)s->texts.len, IR_LINK_PARTS,
					  &s->jit.diag, &p);
	if (p && !device_program_is_whole(p, &s->jit.diag))
		status = STATUS_INVALID_PTX;
	if (p)
		drv_jit_kernels(&s->jit, p);
	device_program_unload(p);
	free(borrowed);
	return status;
}

static bool write_result(struct drv_link_state *s, u32 sm)
{
	struct image_bytes *list = calloc(s->texts.len, sizeof(*list));
	bool ok = list != NULL;

	for (size_t i = 0; i < s->texts.len && ok; i++)
		list[i] = (struct image_bytes){(const u8 *)s->texts.at[i].text, s->texts.at[i].size,
					       NULL};
	ok = ok && image_write_cubin(&s->result, list, s->texts.len, sm);
	free(list);
	return ok;
}

DRV_FN(cuLinkComplete, (struct drv_link * l, void **out, size_t *size))
{
	struct drv_link_state *s;
	struct rt_device *d;
	int status;

	if (!rt_handle_is(l, RT_HANDLE_LINK))
		return STATUS_INVALID_HANDLE;
	s = l->state;
	if (!out)
		return STATUS_INVALID_VALUE;
	if (s->result.len) /* once only */
		return STATUS_INVALID_HANDLE;
	d = drv_device(&status);
	if (!d)
		return status;
	status = s->texts.len ? try_link(s, &d->dev) : (int)STATUS_SUCCESS;
	if (!status && !write_result(s, (u32)d->dev.arch->sm))
		status = STATUS_OUT_OF_MEMORY;
	drv_jit_give(&s->jit);
	if (status)
		return status;
	*out = s->result.at;
	if (size)
		*size = s->result.len;
	return STATUS_SUCCESS;
}

/* ---- for the linker that stands in front of nvJitLink ---- */

/*
 * The PTX that an input of any kind has for the thread's device; false: none. *texts and each is to
 * be freed.
 */
RT_API bool plrt_image_texts(const void *data, size_t size, char ***texts, size_t *n);
RT_API bool plrt_image_texts(const void *data, size_t size, char ***texts, size_t *n)
{
	struct device_text *found = NULL;
	struct diag quiet;
	u32 len = 0;
	int status;
	/* nvJitLink needs no context, and nothing initialised. */
	struct rt_device *d = rt_device_open(rt_context_device(), &status);

	*n = 0;
	*texts = NULL;
	if (!d)
		return false;
	diag_init(&quiet, NULL, NULL);
	if (device_image_texts(&d->dev, data, size, "<input>", &quiet, &found, &len) ==
	    STATUS_SUCCESS)
		*texts = calloc(len, sizeof(**texts));
	diag_fini(&quiet);
	for (u32 i = 0; i < len; i++) {
		if (*texts && ((*texts)[*n] = strndup(found[i].text, found[i].size)))
			++*n;
		free(found[i].owned);
	}
	free(found);
	return *n != 0;
}

/*
 * The texts as machine code for the thread's device; false: no memory, no device. *out is to be
 * freed.
 */
RT_API bool plrt_join_texts(char *const *texts, size_t n, void **out, size_t *size);
RT_API bool plrt_join_texts(char *const *texts, size_t n, void **out, size_t *size)
{
	struct image_bytes *list = calloc(n, sizeof(*list));
	struct text image = {0};
	int status;
	struct rt_device *d = rt_device_open(rt_context_device(), &status);
	bool ok = list && d;

	for (size_t i = 0; i < n && ok; i++)
		list[i] = (struct image_bytes){(const u8 *)texts[i], strlen(texts[i]), NULL};
	ok = ok && image_write_cubin(&image, list, n, (u32)d->dev.arch->sm);
	free(list);
	if (!ok) {
		text_fini(&image);
		return false;
	}
	*out = image.at;
	*size = image.len;
	return true;
}
