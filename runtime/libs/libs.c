/*
 * Which functions of NVIDIA's libraries the host computes, and where the libraries' own ones are.
 */
#include "runtime/libs/libs.h"
#include "runtime/loader.h"
#include "src/base/setting.h"
#include "src/hostlibs/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

const char libs_none;

enum mode { BY_CODE, OWN, HOST };

static const struct {
	const char *name, *prefix, *own, *host;
} libraries[LIBS_COUNT] = {
	[LIBS_CUBLAS] = {"cuBLAS", "cublas", "cublas=own", "cublas=host"},
	[LIBS_CUFFT] = {"cuFFT", "cufft", "cufft=own", "cufft=host"},
	[LIBS_CURAND] = {"cuRAND", "curand", "curand=own", "curand=host"},
	[LIBS_CUSOLVER] = {"cuSOLVER", "cusolver", "cusolver=own", "cusolver=host"},
	[LIBS_NCCL] = {"NCCL", "nccl", "nccl=own", "nccl=host"},
};

static enum mode modes[LIBS_COUNT];
static _Atomic bool announced[LIBS_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *find_in_process(const char *name)
{
	return loader_next(&libs_none, name);
}

static void libs_read_settings(void)
{
	bool own = setting_has(SETTING_LIBS, "own"), host = setting_has(SETTING_LIBS, "host");

	for (size_t i = 0; i < LIBS_COUNT; i++) {
		modes[i] = own ? OWN : host ? HOST : BY_CODE;
		if (setting_has(SETTING_LIBS, libraries[i].own))
			modes[i] = OWN;
		else if (setting_has(SETTING_LIBS, libraries[i].host))
			modes[i] = HOST;
	}
	/* Sums of libraries may depend on the number of their threads. */
	hl_blas_choose(setting_number(SETTING_DETERMINISTIC, 0) ||
			       setting_number(SETTING_STABLE, 0),
		       find_in_process);
}

void *libs_next(struct libs_function *f, const void *caller)
{
	void *next = atomic_load_explicit(&f->next, memory_order_acquire);

	if (!next) {
		next = loader_next(caller, f->name);
		if (!next)
			next = (void *)(uintptr_t)&libs_none;
		atomic_store_explicit(&f->next, next, memory_order_release);
	}
	return next == (const void *)&libs_none ? NULL : next;
}

void *libs_pass(struct libs_function *f, const void *caller)
{
	enum mode mode;

	pthread_once(&once, libs_read_settings);
	mode = modes[f->library];
	if (f->code != LIBS_NONE && (mode == HOST || (mode == BY_CODE && f->code == LIBS_MACHINE)))
		return NULL;
	return libs_next(f, caller);
}

void libs_announce(const struct libs_function *f)
{
	if (atomic_exchange(&announced[f->library], true))
		return;
	fprintf(stderr,
		"ptxloom: %s: the host computes %s%s in place of a GPU (%s); this is not emulated. "
		"PTXLOOM_LIBS chooses.\n",
		libraries[f->library].name, f->name,
		modes[f->library] == HOST || !loader_next(&libs_none, f->name)
			? " and all others"
			: " and what else has no PTX",
		f->library == LIBS_CUBLAS   ? hl_blas_name()
		: f->library == LIBS_NCCL   ? "shared memory"
		: f->library == LIBS_CURAND ? "the library's generators for the host"
					    : "own loops");
}

/* Ours, by its name; those of the CUDA interfaces have other prefixes. */
void *libs_stand_in(const char *name)
{
	static _Atomic(void *) self;
	void *h = atomic_load(&self);
	size_t i = 0;
	Dl_info own;

	while (i < LIBS_COUNT &&
	       strncmp(name, libraries[i].prefix, strlen(libraries[i].prefix)) != 0)
		i++;
	if (i == LIBS_COUNT)
		return NULL;
	if (!h && dladdr(&libs_none, &own)) {
		h = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
		atomic_store(&self, h);
	}
	return h && loader_dlsym() ? loader_dlsym()(h, name) : NULL;
}
