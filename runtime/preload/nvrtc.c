/*
 * NVRTC: programs that compile for a real device (sm_XX) and fetch machine code get PTX instead,
 * which every loading function takes. The compiler itself is NVIDIA's; here is only what stands in
 * front of three of its functions, for programs that link it and for those that find it with dlsym.
 * Part of the preloaded library.
 */
#include "runtime/preload/nvrtc.h"
#include "runtime/loader.h"

#include <pthread.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))
#define NVRTC_OUT_OF_MEMORY 1
#define NVRTC_INTERNAL_ERROR 11

typedef int compile_fn(void *program, int n, const char *const *options);
typedef int size_fn(void *program, size_t *size);
typedef int get_fn(void *program, char *out);

/* The functions of one compiler. */
struct compiler {
	compile_fn *compile;
	size_fn *cubin_size, *ptx_size;
	get_fn *cubin, *ptx;
};

/* Is this the name of an option whose value is an architecture? *value: after its '=', or NULL. */
static bool is_target_option(const char *s, const char **value)
{
	static const char *const names[] = {"--gpu-architecture", "-arch", "--gpu-arch"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t n = strlen(names[i]);

		if (strncmp(s, names[i], n) || (s[n] && s[n] != '='))
			continue;
		*value = s[n] ? s + n + 1 : NULL;
		return true;
	}
	return false;
}

/* `s` with the sm_ at `at` made compute_; NULL without memory. */
static char *virtual_target(const char *s, const char *at)
{
	static const char with[] = "compute_";
	size_t before = (size_t)(at - s), n = strlen(s) + sizeof(with);
	char *t = malloc(n);

	if (!t)
		return NULL;
	memcpy(t, s, before);
	memcpy(t + before, with, sizeof(with) - 1);
	memcpy(t + before + sizeof(with) - 1, at + 3, strlen(at + 3) + 1);
	return t;
}

static int nvrtc_compile(const struct compiler *real, void *program, int n,
			 const char *const *options)
{
	const char **list;
	char **made;
	bool value_next = false, ok = true;
	int result;

	if (!real->compile)
		return NVRTC_INTERNAL_ERROR;
	if (n <= 0 || !options)
		return real->compile(program, n, options);
	list = malloc((size_t)n * sizeof(*list));
	made = calloc((size_t)n, sizeof(*made));
	for (int i = 0; list && made && i < n; i++) {
		const char *value = NULL;
		bool is_target = options[i] && is_target_option(options[i], &value);

		if (value_next)
			value = options[i];
		value_next = is_target && !value;
		list[i] = options[i];
		if (value && !strncmp(value, "sm_", 3)) {
			list[i] = made[i] = virtual_target(options[i], value);
			ok = ok && made[i];
		}
	}
	result = list && made && ok ? real->compile(program, n, list) : NVRTC_OUT_OF_MEMORY;
	for (int i = 0; made && i < n; i++)
		free(made[i]);
	free(made);
	free(list);
	return result;
}

/* Compiled for a virtual target there is no machine code; the PTX stands in for it. */
static int cubin_size(const struct compiler *real, void *program, size_t *size)
{
	int result;

	if (!real->cubin_size || !real->ptx_size)
		return NVRTC_INTERNAL_ERROR;
	result = real->cubin_size(program, size);
	return result || (size && *size) ? result : real->ptx_size(program, size);
}

static int cubin(const struct compiler *real, void *program, char *out)
{
	size_t size = 0;
	int result;

	if (!real->cubin_size || !real->cubin || !real->ptx)
		return NVRTC_INTERNAL_ERROR;
	result = real->cubin_size(program, &size);
	if (result)
		return result;
	return size ? real->cubin(program, out) : real->ptx(program, out);
}

/* ---- for programs that link a compiler ---- */

/* The one that `caller` means. */
static struct compiler compiler_of(const void *caller)
{
	return (struct compiler){
		(compile_fn *)(uintptr_t)loader_next(caller, "nvrtcCompileProgram"),
		(size_fn *)(uintptr_t)loader_next(caller, "nvrtcGetCUBINSize"),
		(size_fn *)(uintptr_t)loader_next(caller, "nvrtcGetPTXSize"),
		(get_fn *)(uintptr_t)loader_next(caller, "nvrtcGetCUBIN"),
		(get_fn *)(uintptr_t)loader_next(caller, "nvrtcGetPTX"),
	};
}

EXPORT int nvrtcCompileProgram(void *program, int n, const char *const *options);
EXPORT int nvrtcCompileProgram(void *program, int n, const char *const *options)
{
	struct compiler real = compiler_of(__builtin_return_address(0));

	return nvrtc_compile(&real, program, n, options);
}

EXPORT int nvrtcGetCUBINSize(void *program, size_t *size);
EXPORT int nvrtcGetCUBINSize(void *program, size_t *size)
{
	struct compiler real = compiler_of(__builtin_return_address(0));

	return cubin_size(&real, program, size);
}

EXPORT int nvrtcGetCUBIN(void *program, char *out);
EXPORT int nvrtcGetCUBIN(void *program, char *out)
{
	struct compiler real = compiler_of(__builtin_return_address(0));

	return cubin(&real, program, out);
}

/* ---- for programs that ask a compiler for its functions ---- */

/* Compilers that were asked before. What is handed out knows which one it stands in front of. */
static struct compiler asked[4];
static size_t asked_len;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define STANDING(i)                                                                                \
	static int compile_##i(void *program, int n, const char *const *options)                   \
	{                                                                                          \
		return nvrtc_compile(&asked[i], program, n, options);                              \
	}                                                                                          \
	static int cubin_size_##i(void *program, size_t *size)                                     \
	{                                                                                          \
		return cubin_size(&asked[i], program, size);                                       \
	}                                                                                          \
	static int cubin_##i(void *program, char *out)                                             \
	{                                                                                          \
		return cubin(&asked[i], program, out);                                             \
	}
STANDING(0)
STANDING(1)
STANDING(2)
STANDING(3)

static const struct {
	compile_fn *compile;
	size_fn *cubin_size;
	get_fn *cubin;
} standing[] = {
	{compile_0, cubin_size_0, cubin_0},
	{compile_1, cubin_size_1, cubin_1},
	{compile_2, cubin_size_2, cubin_2},
	{compile_3, cubin_size_3, cubin_3},
};

/* The place of the compiler that a handle leads to, asked_len: there is none left. lock held. */
static size_t place_locked(void *handle)
{
	dlsym_fn *find = loader_dlsym();
	struct compiler c = {
		(compile_fn *)(uintptr_t)find(handle, "nvrtcCompileProgram"),
		(size_fn *)(uintptr_t)find(handle, "nvrtcGetCUBINSize"),
		(size_fn *)(uintptr_t)find(handle, "nvrtcGetPTXSize"),
		(get_fn *)(uintptr_t)find(handle, "nvrtcGetCUBIN"),
		(get_fn *)(uintptr_t)find(handle, "nvrtcGetPTX"),
	};
	size_t i = 0;

	while (i < asked_len && memcmp(&asked[i], &c, sizeof(c)) != 0)
		i++;
	if (i == asked_len && i < ARRAY_LEN(asked))
		asked[asked_len++] = c;
	return i;
}

void *nvrtc_stand_in(void *real, const char *name, void *handle)
{
	bool is_compile = !strcmp(name, "nvrtcCompileProgram"),
	     is_size = !strcmp(name, "nvrtcGetCUBINSize"),
	     is_cubin = !strcmp(name, "nvrtcGetCUBIN");
	size_t i;

	/* A handle of the program itself leads to ours, which inspect their caller. */
	if (!real || !(is_compile || is_size || is_cubin) ||
	    real == (void *)(uintptr_t)nvrtcCompileProgram ||
	    real == (void *)(uintptr_t)nvrtcGetCUBINSize ||
	    real == (void *)(uintptr_t)nvrtcGetCUBIN)
		return NULL;
	pthread_mutex_lock(&lock);
	i = place_locked(handle);
	pthread_mutex_unlock(&lock);
	if (i == ARRAY_LEN(standing))
		return NULL;
	return is_compile ? (void *)(uintptr_t)standing[i].compile
	       : is_size  ? (void *)(uintptr_t)standing[i].cubin_size
			  : (void *)(uintptr_t)standing[i].cubin;
}
