/*
 * NVRTC: programs that compile for a real device (sm_XX) and fetch machine code get PTX instead, which
 * every loading function takes. The compiler itself is NVIDIA's; here is only what stands in front of
 * three of its functions, for programs that link it and for those that find it with dlsym.
 * Part of the preloaded library.
 */
#include "src/base/base.h"

#include <dlfcn.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))
#define NVRTC_OUT_OF_MEMORY 1
#define NVRTC_INTERNAL_ERROR 11

typedef void *dlsym_fn(void *handle, const char *name);
typedef int compile_fn(void *program, int n, const char *const *options);
typedef int size_fn(void *program, size_t *size);
typedef int get_fn(void *program, char *out);

/* The compiler that is in front: found at the first call, or by whoever asked dlsym for it. */
static struct {
	compile_fn *compile;
	size_fn *cubin_size, *ptx_size;
	get_fn *cubin, *ptx;
} real;

void *nvrtc_real_dlsym; /* for the code below; set once */

static dlsym_fn *real_dlsym(void)
{
	void *f = __atomic_load_n(&nvrtc_real_dlsym, __ATOMIC_RELAXED);

	if (!f) {
		f = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
		f = f ? f : dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
		__atomic_store_n(&nvrtc_real_dlsym, f, __ATOMIC_RELAXED);
	}
	return (dlsym_fn *)(uintptr_t)f;
}

static void find_all(void *handle)
{
	dlsym_fn *find = real_dlsym();

	if (!find || real.compile)
		return;
	real.cubin_size = (size_fn *)(uintptr_t)find(handle, "nvrtcGetCUBINSize");
	real.ptx_size = (size_fn *)(uintptr_t)find(handle, "nvrtcGetPTXSize");
	real.cubin = (get_fn *)(uintptr_t)find(handle, "nvrtcGetCUBIN");
	real.ptx = (get_fn *)(uintptr_t)find(handle, "nvrtcGetPTX");
	real.compile = (compile_fn *)(uintptr_t)find(handle, "nvrtcCompileProgram");
}

/* Is this the name of an option whose value is an architecture? *value: behind its '=', or NULL. */
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

EXPORT int nvrtcCompileProgram(void *program, int n, const char *const *options);
EXPORT int nvrtcCompileProgram(void *program, int n, const char *const *options)
{
	const char **list;
	char **made;
	bool value_next = false, ok = true;
	int result;

	find_all(RTLD_NEXT);
	if (!real.compile)
		return NVRTC_INTERNAL_ERROR;
	if (n <= 0 || !options)
		return real.compile(program, n, options);
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
	result = list && made && ok ? real.compile(program, n, list) : NVRTC_OUT_OF_MEMORY;
	for (int i = 0; made && i < n; i++)
		free(made[i]);
	free(made);
	free(list);
	return result;
}

/* Compiled for a virtual target there is no machine code; the PTX stands in for it. */
EXPORT int nvrtcGetCUBINSize(void *program, size_t *size);
EXPORT int nvrtcGetCUBINSize(void *program, size_t *size)
{
	int result;

	find_all(RTLD_NEXT);
	if (!real.cubin_size || !real.ptx_size)
		return NVRTC_INTERNAL_ERROR;
	result = real.cubin_size(program, size);
	return result || (size && *size) ? result : real.ptx_size(program, size);
}

EXPORT int nvrtcGetCUBIN(void *program, char *out);
EXPORT int nvrtcGetCUBIN(void *program, char *out)
{
	size_t size = 0;
	int result;

	find_all(RTLD_NEXT);
	if (!real.cubin_size || !real.cubin || !real.ptx)
		return NVRTC_INTERNAL_ERROR;
	result = real.cubin_size(program, &size);
	if (result)
		return result;
	return size ? real.cubin(program, out) : real.ptx(program, out);
}

/*
 * What dlsym answers for a name: NULL, as it does itself. Called by the code below.
 */
__attribute__((used)) void *nvrtc_stand_in(void *handle, const char *name);
void *nvrtc_stand_in(void *handle, const char *name)
{
	static const struct {
		const char *name;
		void *to;
	} own[] = {
		{"nvrtcCompileProgram", nvrtcCompileProgram},
		{"nvrtcGetCUBINSize", nvrtcGetCUBINSize},
		{"nvrtcGetCUBIN", nvrtcGetCUBIN},
	};
	dlsym_fn *find = real_dlsym();

	if (!find || !name || name[0] != 'n' || name[1] != 'v' || handle == RTLD_NEXT)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		if (strcmp(own[i].name, name))
			continue;
		if (handle == RTLD_DEFAULT || !find(handle, name))
			return NULL;
		find_all(handle);
		return own[i].to;
	}
	return NULL;
}

/* dlsym looks at who calls it, so the way on is a jump. */
__asm__(".text\n.globl dlsym\n.type dlsym, @function\n.p2align 4\n"
	"dlsym:\n"
	"\tpushq %rdi\n\tpushq %rsi\n\tsubq $8, %rsp\n"
	"\tcall nvrtc_stand_in@PLT\n"
	"\taddq $8, %rsp\n\tpopq %rsi\n\tpopq %rdi\n"
	"\ttestq %rax, %rax\n\tjne 1f\n"
	"\tjmp *nvrtc_real_dlsym(%rip)\n"
	"1:\tret\n"
	".size dlsym, . - dlsym\n");
