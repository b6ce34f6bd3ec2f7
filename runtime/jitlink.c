/*
 * nvJitLink: programs that link PTX or link-time code for a device and fetch machine code get PTX
 * instead. The linker itself is NVIDIA's and still finds the errors; of PTX inputs the texts are kept,
 * and link-time code comes back as the PTX that the linker can write of it. Inputs of other kinds give
 * what the linker makes of them. Part of the preloaded library.
 */
#include "src/base/vec.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))
#define JITLINK_INTERNAL 6
#define INPUT_PTX 2

typedef int create_fn(void **handle, u32 n, const char **options);
typedef int add_fn(void *handle, int type, const void *data, size_t size, const char *name);
typedef int size_fn(void *handle, size_t *size);
typedef int get_fn(void *handle, void *out);
typedef int destroy_fn(void **handle);

/* One text, or several as one image; *out is to be freed. Of the runtime. */
bool plrt_join_texts(char *const *texts, size_t n, void **out, size_t *size);

struct link {
	struct link *next;
	void *handle;
	bool is_lto;
	VEC(char *) texts;
};

static struct link *links;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct link **find(void *handle)
{
	struct link **at;

	for (at = &links; *at && (*at)->handle != handle; at = &(*at)->next)
		;
	return at;
}

static struct link *link_of(void *handle)
{
	struct link *l;

	pthread_mutex_lock(&lock);
	l = *find(handle);
	pthread_mutex_unlock(&lock);
	return l;
}

/* Options with -ptx behind; what was there is kept. */
static int create(create_fn *real, void **handle, u32 n, const char **options)
{
	const char **more = malloc((n + 1) * sizeof(*more));
	struct link *l = calloc(1, sizeof(*l));
	int result = JITLINK_INTERNAL;

	for (u32 i = 0; more && l && i < n; i++) {
		more[i] = options[i];
		l->is_lto |= options[i] && !strcmp(options[i], "-lto");
	}
	if (more && l && real) {
		more[n] = "-ptx";
		result = real(handle, n + l->is_lto, more);
	}
	if (!result) {
		l->handle = *handle;
		pthread_mutex_lock(&lock);
		l->next = links;
		links = l;
		pthread_mutex_unlock(&lock);
	} else {
		free(l);
	}
	free(more);
	return result;
}

static int add(add_fn *real, void *handle, int type, const void *data, size_t size,
	       const char *name)
{
	struct link *l = link_of(handle);
	int result = real ? real(handle, type, data, size, name) : JITLINK_INTERNAL;
	char *text;

	if (result || !l || type != INPUT_PTX)
		return result;
	text = strndup(data, size);
	if (text && VEC_PUSH(&l->texts, text))
		return 0;
	free(text);
	return JITLINK_INTERNAL;
}

/* The image, or only its size when out is NULL. */
static int linked(const struct link *l, void *out, size_t *size)
{
	void *image = NULL;
	size_t n = 0;

	if (!plrt_join_texts(l->texts.at, l->texts.len, &image, &n))
		return JITLINK_INTERNAL;
	if (out)
		memcpy(out, image, n);
	if (size)
		*size = n;
	free(image);
	return 0;
}

static void destroy(void *handle)
{
	struct link **at, *l;

	pthread_mutex_lock(&lock);
	at = find(handle);
	l = *at;
	if (l)
		*at = l->next;
	pthread_mutex_unlock(&lock);
	for (size_t i = 0; l && i < l->texts.len; i++)
		free(l->texts.at[i]);
	if (l)
		VEC_FREE(&l->texts);
	free(l);
}

#define TEXT(x) TEXT_OF(x)
#define TEXT_OF(x) #x
#define JOIN(a, b) a##b
#define REAL(type, name, version) ((type *)dlsym(RTLD_NEXT, TEXT(JOIN(name, version))))

/* The functions of one version; since 12 its number is in their names. */
#define FUNCTIONS(prefix, version)                                                                 \
	EXPORT create_fn prefix##nvJitLinkCreate##version;                                         \
	int prefix##nvJitLinkCreate##version(void **handle, u32 n, const char **options)           \
	{                                                                                          \
		return create(REAL(create_fn, prefix##nvJitLinkCreate, version), handle, n,        \
			      options);                                                            \
	}                                                                                          \
	EXPORT add_fn prefix##nvJitLinkAddData##version;                                           \
	int prefix##nvJitLinkAddData##version(void *handle, int type, const void *data,            \
					      size_t size, const char *name)                       \
	{                                                                                          \
		return add(REAL(add_fn, prefix##nvJitLinkAddData, version), handle, type, data,    \
			   size, name);                                                            \
	}                                                                                          \
	EXPORT size_fn prefix##nvJitLinkGetLinkedCubinSize##version;                               \
	int prefix##nvJitLinkGetLinkedCubinSize##version(void *handle, size_t *size)               \
	{                                                                                          \
		struct link *l = link_of(handle);                                                  \
		size_fn *f = l && l->is_lto                                                        \
				     ? REAL(size_fn, prefix##nvJitLinkGetLinkedPtxSize, version)   \
				     : REAL(size_fn, prefix##nvJitLinkGetLinkedCubinSize, version); \
		if (l && !l->is_lto && l->texts.len)                                               \
			return linked(l, NULL, size);                                              \
		return f ? f(handle, size) : JITLINK_INTERNAL;                                     \
	}                                                                                          \
	EXPORT get_fn prefix##nvJitLinkGetLinkedCubin##version;                                    \
	int prefix##nvJitLinkGetLinkedCubin##version(void *handle, void *out)                      \
	{                                                                                          \
		struct link *l = link_of(handle);                                                  \
		get_fn *f = l && l->is_lto                                                         \
				    ? REAL(get_fn, prefix##nvJitLinkGetLinkedPtx, version)         \
				    : REAL(get_fn, prefix##nvJitLinkGetLinkedCubin, version);      \
		if (l && !l->is_lto && l->texts.len)                                               \
			return linked(l, out, NULL);                                               \
		return f ? f(handle, out) : JITLINK_INTERNAL;                                      \
	}                                                                                          \
	EXPORT destroy_fn prefix##nvJitLinkDestroy##version;                                       \
	int prefix##nvJitLinkDestroy##version(void **handle)                                       \
	{                                                                                          \
		destroy_fn *f = REAL(destroy_fn, prefix##nvJitLinkDestroy, version);               \
		if (handle)                                                                        \
			destroy(*handle);                                                          \
		return f ? f(handle) : JITLINK_INTERNAL;                                           \
	}

FUNCTIONS(, )
FUNCTIONS(__, _12_0)
FUNCTIONS(__, _12_1)
FUNCTIONS(__, _12_2)
FUNCTIONS(__, _12_3)
FUNCTIONS(__, _12_4)
FUNCTIONS(__, _12_5)
FUNCTIONS(__, _12_6)
FUNCTIONS(__, _12_8)
FUNCTIONS(__, _12_9)
FUNCTIONS(__, _13_0)
FUNCTIONS(__, _13_1)
