/*
 * Handles of cuBLAS. With the library they are its own, so that its functions and ours may use
 * them; without it they are these.
 */
#include "runtime/libs/cublas.h"

#include <stdlib.h>

#define MAGIC 0x7074786c6f6f6d62u
#define VERSION 130000

struct cublas_handle {
	u64 magic;
	void *stream;
	int pointer_mode, math_mode, atomics_mode, multiprocessors;
};

static struct cublas_handle *own_handle(void *handle)
{
	struct cublas_handle *h = handle;

	return h && h->magic == MAGIC ? h : NULL;
}

int cublas_state(void *handle, struct cublas_state *out)
{
	static struct libs_function of_stream = {"cublasGetStream_v2", LIBS_CUBLAS, LIBS_NONE,
						 NULL},
				    of_mode = {"cublasGetPointerMode_v2", LIBS_CUBLAS, LIBS_NONE,
					       NULL};
	struct cublas_handle *own = own_handle(handle);
	int (*get_stream)(void *, void **), (*get_mode)(void *, int *);
	int status, mode = 0;

	*out = (struct cublas_state){0};
	if (!handle)
		return CUBLAS_NOT_INITIALIZED;
	if (own) {
		*out = (struct cublas_state){own->stream, own->pointer_mode == 1};
		return CUBLAS_SUCCESS;
	}
	get_stream = (int (*)(void *, void **))(uintptr_t)libs_next(&of_stream, NULL);
	get_mode = (int (*)(void *, int *))(uintptr_t)libs_next(&of_mode, NULL);
	if (!get_stream || !get_mode)
		return CUBLAS_NOT_INITIALIZED;
	status = get_stream(handle, &out->stream);
	if (!status)
		status = get_mode(handle, &mode);
	out->on_device = mode == 1;
	return status;
}

static int handle_create(void **out)
{
	struct cublas_handle *h;

	if (!out)
		return CUBLAS_INVALID_VALUE;
	if (plrt_work_device() < 0)
		return CUBLAS_NOT_INITIALIZED;
	h = calloc(1, sizeof(*h));
	if (!h)
		return CUBLAS_ALLOC_FAILED;
	h->magic = MAGIC;
	*out = h;
	return CUBLAS_SUCCESS;
}

static int destroy(void *handle)
{
	struct cublas_handle *h = own_handle(handle);

	if (!h)
		return CUBLAS_NOT_INITIALIZED;
	h->magic = 0;
	free(h);
	return CUBLAS_SUCCESS;
}

static int set_word(struct cublas_handle *h, int *word, int value, int low, int high)
{
	if (!h)
		return CUBLAS_NOT_INITIALIZED;
	if (value < low || value > high)
		return CUBLAS_INVALID_VALUE;
	*word = value;
	return CUBLAS_SUCCESS;
}

static int get_word(struct cublas_handle *h, const int *word, int *out)
{
	if (!h)
		return CUBLAS_NOT_INITIALIZED;
	if (!out)
		return CUBLAS_INVALID_VALUE;
	*out = *word;
	return CUBLAS_SUCCESS;
}

static int set_stream(struct cublas_handle *h, void *stream)
{
	if (h)
		h->stream = stream;
	return h ? CUBLAS_SUCCESS : CUBLAS_NOT_INITIALIZED;
}

static int get_stream_of(const struct cublas_handle *h, void **out)
{
	if (!h || !out)
		return h ? CUBLAS_INVALID_VALUE : CUBLAS_NOT_INITIALIZED;
	*out = h->stream;
	return CUBLAS_SUCCESS;
}

static int set_int(int *out, int value)
{
	if (out)
		*out = value;
	return out ? CUBLAS_SUCCESS : CUBLAS_INVALID_VALUE;
}

#define HANDLE(name, params, args, ...)                                                            \
	LIBS_FN(LIBS_CUBLAS, LIBS_NONE, name, params, args, __VA_ARGS__)
#define WORD(what, field, low, high)                                                               \
	HANDLE(cublasSet##what, (void *h, int x), (h, x),                                          \
	       set_word(own_handle(h), &((struct cublas_handle *)h)->field, x, low, high))         \
	HANDLE(cublasGet##what, (void *h, int *x), (h, x),                                         \
	       get_word(own_handle(h), &((struct cublas_handle *)h)->field, x))

HANDLE(cublasCreate_v2, (void **h), (h), handle_create(h))
HANDLE(cublasDestroy_v2, (void *h), (h), destroy(h))
HANDLE(cublasSetStream_v2, (void *h, void *s), (h, s), set_stream(own_handle(h), s))
HANDLE(cublasGetStream_v2, (void *h, void **s), (h, s), get_stream_of(own_handle(h), s))
WORD(PointerMode_v2, pointer_mode, 0, 1)
WORD(MathMode, math_mode, 0, INT32_MAX)
WORD(AtomicsMode, atomics_mode, 0, 1)
WORD(SmCountTarget, multiprocessors, 0, INT32_MAX)
/* Nothing needs a workspace. */
HANDLE(cublasSetWorkspace_v2, (void *h, void *at, size_t bytes), (h, at, bytes),
       own_handle(h) ? CUBLAS_SUCCESS : CUBLAS_NOT_INITIALIZED)
HANDLE(cublasGetVersion_v2, (void *h, int *version), (h, version),
       own_handle(h) ? set_int(version, VERSION) : CUBLAS_NOT_INITIALIZED)
HANDLE(cublasGetProperty, (int property, int *value), (property, value),
       property<0 || property> 2 ? CUBLAS_INVALID_VALUE
				 : set_int(value, property ? 0 : VERSION / 10000))
