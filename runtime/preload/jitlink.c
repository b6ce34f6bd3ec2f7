/*
 * nvJitLink: programs that link PTX or link-time code for a device and fetch machine code get PTX
 * instead. The linker itself is NVIDIA's and still finds the errors; of PTX inputs the texts are
 * kept, and link-time code comes back as the PTX that the linker can write of it, if it gets
 * nothing but such code: PTX that is linked with it is kept from the linker, what its functions
 * refer to stays open, and both are joined. Inputs of other kinds give what the linker makes of
 * them. Part of the preloaded library.
 */
#include "runtime/loader.h"
#include "src/base/file.h"
#include "src/base/vec.h"

#include <pthread.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))
#define JITLINK_INTERNAL 6
#define INPUT_PTX 2
#define INPUT_LTOIR 3

typedef int create_fn(void **handle, u32 n, const char **options);
typedef int add_fn(void *handle, int type, const void *data, size_t size, const char *name);
typedef int file_fn(void *handle, int type, const char *path);
typedef int size_fn(void *handle, size_t *size);
typedef int get_fn(void *handle, void *out);
typedef int complete_fn(void *handle);
typedef int destroy_fn(void **handle);

/*
 * The PTX in an input of any kind; false: none. *texts and each of them is to be freed. Of the
 * runtime.
 */
bool plrt_image_texts(const void *data, size_t size, char ***texts, size_t *n);
/* One text, or several as one image; *out is to be freed. Of the runtime. */
bool plrt_join_texts(char *const *texts, size_t n, void **out, size_t *size);

struct link {
	struct link *next;
	void *handle;
	bool is_lto, has_code; /* code for link time may come, came */
	VEC(char *)
	texts;         /* of PTX inputs; after them, once it is asked for, that of link-time code */
	size_t inputs; /* of texts */
};

static struct link *links;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct link **find_link(void *handle)
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
	l = *find_link(handle);
	pthread_mutex_unlock(&lock);
	return l;
}

/* Options with -ptx appended; what was there is kept. */
static int jitlink_create(create_fn *real, void **handle, u32 n, const char **options)
{
	const char **more = malloc(((size_t)n + 1) * sizeof(*more));
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

/* Takes `text`. */
static int keep_linked(struct link *l, char *text)
{
	if (text && VEC_PUSH(&l->texts, text)) {
		l->inputs++;
		return 0;
	}
	free(text);
	return JITLINK_INTERNAL;
}

/* The device's runtime is built in. */
static bool is_device_runtime_name(const char *name)
{
	return name && !strncmp(file_base_name(name), "libcudadevrt", 12);
}

/* An input beside link-time code; false: the linker has to take it. */
static bool keep_from_linker(struct link *l, int type, const void *data, size_t size,
			     const char *name, int *result)
{
	char **texts;
	size_t n;

	*result = 0;
	if (type == INPUT_LTOIR || !data || !size)
		return false;
	if (type == INPUT_PTX) {
		*result = keep_linked(l, strndup(data, size));
		return true;
	}
	if (is_device_runtime_name(name))
		return true;
	if (!plrt_image_texts(data, size, &texts, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		*result |= keep_linked(l, texts[i]);
	free(texts);
	return true;
}

static int jitlink_add(add_fn *real, void *handle, int type, const void *data, size_t size,
		       const char *name)
{
	struct link *l = link_of(handle);
	int result;

	if (!real)
		return JITLINK_INTERNAL;
	if (l && l->is_lto && keep_from_linker(l, type, data, size, name, &result))
		return result;
	result = real(handle, type, data, size, name);
	if (result || !l)
		return result;
	l->has_code = true;
	return type == INPUT_PTX ? keep_linked(l, strndup(data, size)) : 0;
}

/* A file is what is in it; what cannot be read is the linker's to refuse. */
static int jitlink_add_file(file_fn *real, add_fn *real_add, void *handle, int type,
			    const char *path)
{
	struct file f;
	int result;

	if (!path || !file_open(&f, path))
		return real ? real(handle, type, path) : JITLINK_INTERNAL;
	result = jitlink_add(real_add, handle, type, f.data, f.size, path);
	file_close(&f);
	return result;
}

static int jitlink_complete(complete_fn *real, void *handle)
{
	const struct link *l = link_of(handle);

	if (!real)
		return JITLINK_INTERNAL;
	return l && l->is_lto && !l->has_code && l->texts.len ? 0 : real(handle);
}

/* What became of link-time code joins the texts of the inputs. */
static int fetch_code(struct link *l, size_fn *real_size, get_fn *real_text)
{
	size_t n = 0;
	char *text;
	int result;

	if (!l->has_code || l->texts.len > l->inputs)
		return 0;
	result = real_size && real_text ? real_size(l->handle, &n) : JITLINK_INTERNAL;
	if (result)
		return result;
	text = calloc(1, n + 1);
	result = text ? real_text(l->handle, text) : JITLINK_INTERNAL;
	if (!result && VEC_PUSH(&l->texts, text))
		return 0;
	free(text);
	return result ? result : JITLINK_INTERNAL;
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

/*
 * The code of a link that we have, or its size, as in linked(). True: *result is the answer; false:
 * it is for the library to answer. fetch: how texts of a link-time optimisation are asked for,
 * which loads from the library that `caller` is in.
 */
static bool answer_linked(void *handle, int (*fetch)(struct link *l, const void *caller),
			  const void *caller, void *out, size_t *size, int *result)
{
	struct link *l = link_of(handle);

	*result = l && l->is_lto ? fetch(l, caller) : 0;
	if (!*result && l && l->texts.len)
		*result = linked(l, out, size);
	else if (!*result)
		return false;
	return true;
}

static void jitlink_destroy(void *handle)
{
	struct link **at, *l;

	pthread_mutex_lock(&lock);
	at = find_link(handle);
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
#define REAL_FOR(caller, type, name, version)                                                      \
	((type *)(uintptr_t)loader_next(caller, TEXT(JOIN(name, version))))
#define REAL(type, name, version) REAL_FOR(__builtin_return_address(0), type, name, version)

/* The functions of one version; since 12 its number is in their names. */
#define FUNCTIONS(prefix, version)                                                                 \
	EXPORT create_fn prefix##nvJitLinkCreate##version;                                         \
	int prefix##nvJitLinkCreate##version(void **handle, u32 n, const char **options)           \
	{                                                                                          \
		return jitlink_create(REAL(create_fn, prefix##nvJitLinkCreate, version), handle,   \
				      n, options);                                                 \
	}                                                                                          \
	EXPORT add_fn prefix##nvJitLinkAddData##version;                                           \
	int prefix##nvJitLinkAddData##version(void *handle, int type, const void *data,            \
					      size_t size, const char *name)                       \
	{                                                                                          \
		return jitlink_add(REAL(add_fn, prefix##nvJitLinkAddData, version), handle, type,  \
				   data, size, name);                                              \
	}                                                                                          \
	EXPORT file_fn prefix##nvJitLinkAddFile##version;                                          \
	int prefix##nvJitLinkAddFile##version(void *handle, int type, const char *path)            \
	{                                                                                          \
		return jitlink_add_file(REAL(file_fn, prefix##nvJitLinkAddFile, version),          \
					REAL(add_fn, prefix##nvJitLinkAddData, version), handle,   \
					type, path);                                               \
	}                                                                                          \
	EXPORT complete_fn prefix##nvJitLinkComplete##version;                                     \
	int prefix##nvJitLinkComplete##version(void *handle)                                       \
	{                                                                                          \
		return jitlink_complete(REAL(complete_fn, prefix##nvJitLinkComplete, version),     \
					handle);                                                   \
	}                                                                                          \
	static int prefix##fetch##version(struct link *l, const void *caller)                      \
	{                                                                                          \
		return fetch_code(                                                                 \
			l, REAL_FOR(caller, size_fn, prefix##nvJitLinkGetLinkedPtxSize, version),  \
			REAL_FOR(caller, get_fn, prefix##nvJitLinkGetLinkedPtx, version));         \
	}                                                                                          \
	EXPORT size_fn prefix##nvJitLinkGetLinkedCubinSize##version;                               \
	int prefix##nvJitLinkGetLinkedCubinSize##version(void *handle, size_t *size)               \
	{                                                                                          \
		size_fn *f = REAL(size_fn, prefix##nvJitLinkGetLinkedCubinSize, version);          \
		int result;                                                                        \
		if (answer_linked(handle, prefix##fetch##version, __builtin_return_address(0),     \
				  NULL, size, &result))                                            \
			return result;                                                             \
		return f ? f(handle, size) : JITLINK_INTERNAL;                                     \
	}                                                                                          \
	EXPORT get_fn prefix##nvJitLinkGetLinkedCubin##version;                                    \
	int prefix##nvJitLinkGetLinkedCubin##version(void *handle, void *out)                      \
	{                                                                                          \
		get_fn *f = REAL(get_fn, prefix##nvJitLinkGetLinkedCubin, version);                \
		int result;                                                                        \
		if (answer_linked(handle, prefix##fetch##version, __builtin_return_address(0),     \
				  out, NULL, &result))                                             \
			return result;                                                             \
		return f ? f(handle, out) : JITLINK_INTERNAL;                                      \
	}                                                                                          \
	EXPORT destroy_fn prefix##nvJitLinkDestroy##version;                                       \
	int prefix##nvJitLinkDestroy##version(void **handle)                                       \
	{                                                                                          \
		destroy_fn *f = REAL(destroy_fn, prefix##nvJitLinkDestroy, version);               \
		if (handle)                                                                        \
			jitlink_destroy(*handle);                                                  \
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
FUNCTIONS(__, _13_2)
FUNCTIONS(__, _13_3)
FUNCTIONS(__, _13_4)
FUNCTIONS(__, _13_5)
FUNCTIONS(__, _13_6)
