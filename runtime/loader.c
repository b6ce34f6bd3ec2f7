/*
 * The loader's functions that programs find libraries and names with. Part of the preloaded
 * library.
 */
#include "runtime/loader.h"
#include "runtime/libs/libs.h"
#include "runtime/preload/nvrtc.h"

#include <dlfcn.h>
#include <link.h>

/* For the code below; set before it looks. */
void *loader_real_dlsym, *loader_real_dlopen;

static void *real(void **at, const char *name)
{
	void *f = __atomic_load_n(at, __ATOMIC_RELAXED);

	if (!f) {
		f = dlvsym(RTLD_NEXT, name, "GLIBC_2.34");
		f = f ? f : dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");
		__atomic_store_n(at, f, __ATOMIC_RELAXED);
	}
	return f;
}

dlsym_fn *loader_dlsym(void)
{
	return (dlsym_fn *)(uintptr_t)real(&loader_real_dlsym, "dlsym");
}

/* ---- the next one of a name ---- */

static bool is_own_function(const void *f)
{
	Dl_info own, its;

	return dladdr(&loader_real_dlsym, &own) && dladdr(f, &its) &&
	       own.dli_fbase == its.dli_fbase;
}

/* In a library that is loaded, and in what was loaded with it. */
static void *find_in(const char *path, const char *name)
{
	void *h = *path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *f = h ? loader_dlsym()(h, name) : NULL;

	if (h)
		dlclose(h);
	return f && !is_own_function(f) ? f : NULL;
}

/* The path of the n-th library. */
struct nth {
	size_t n;
	char path[4096];
};

static int copy_path(struct dl_phdr_info *info, size_t size, void *user)
{
	struct nth *nth = user;

	(void)size;
	if (nth->n--)
		return 0;
	*nth->path = 0;
	if (strlen(info->dlpi_name) < sizeof(nth->path))
		strcpy(nth->path, info->dlpi_name);
	return 1;
}

/* While the loader lists its libraries none can be opened, so one after the other. */
static void *find_anywhere(const char *name)
{
	struct nth nth;
	void *f = NULL;

	for (size_t i = 0; !f; i++) {
		nth.n = i;
		if (!dl_iterate_phdr(copy_path, &nth))
			return NULL;
		f = find_in(nth.path, name);
	}
	return f;
}

void *loader_next(const void *caller, const char *name)
{
	struct link_map *map;
	Dl_info who;
	void *f;

	if (!loader_dlsym())
		return NULL;
	f = loader_dlsym()(RTLD_NEXT, name);
	if (!f && dladdr1(caller, &who, (void **)&map, RTLD_DL_LINKMAP))
		f = find_in(map->l_name, name);
	return f ? f : find_anywhere(name);
}

/* ---- dlsym and dlopen ---- */

/* What dlsym answers for a name: NULL, as it does itself. Called by the code below. */
__attribute__((used)) void *loader_stand_in(void *handle, const char *name);
void *loader_stand_in(void *handle, const char *name)
{
	dlsym_fn *find = loader_dlsym();

	if (!find || !name || handle == RTLD_NEXT || handle == RTLD_DEFAULT)
		return NULL;
	if ((name[0] == 'c' && name[1] == 'u') || !strncmp(name, "nccl", 4)) {
		void *own = libs_stand_in(name);

		return own && find(handle, name) ? own : NULL;
	}
	if (name[0] != 'n' || name[1] != 'v')
		return NULL;
	return nvrtc_stand_in(find(handle, name), name, handle);
}

/*
 * The library that dlopen opens for a name: the driver has a version, by which the loader knows it.
 */
__attribute__((used)) const char *loader_library(const char *name);
const char *loader_library(const char *name)
{
	(void)real(&loader_real_dlopen, "dlopen");
	return name && !strcmp(name, "libcuda.so") ? "libcuda.so.1" : name;
}

/* The loader inspects the caller of these, so they end in jumps. */
__asm__(".text\n.globl dlsym\n.type dlsym, @function\n.p2align 4\n"
	"dlsym:\n"
	"\tpushq %rdi\n\tpushq %rsi\n\tsubq $8, %rsp\n"
	"\tcall loader_stand_in@PLT\n"
	"\taddq $8, %rsp\n\tpopq %rsi\n\tpopq %rdi\n"
	"\ttestq %rax, %rax\n\tjne 1f\n"
	"\tjmp *loader_real_dlsym(%rip)\n"
	"1:\tret\n"
	".size dlsym, . - dlsym\n"
	".globl dlopen\n.type dlopen, @function\n.p2align 4\n"
	"dlopen:\n"
	"\tpushq %rsi\n"
	"\tcall loader_library@PLT\n"
	"\tpopq %rsi\n\tmovq %rax, %rdi\n"
	"\tjmp *loader_real_dlopen(%rip)\n"
	".size dlopen, . - dlopen\n");
