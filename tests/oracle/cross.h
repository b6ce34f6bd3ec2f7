/*
 * The driver API of whatever libcuda is given by its path, for programs that run the same on a GPU
 * and on the emulated device.
 */
#ifndef PL_TESTS_CROSS_H
#define PL_TESTS_CROSS_H

#include "src/base/base.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int cross_call();

struct cross_driver {
	cross_call *init, *retain, *current, *load, *unload, *function, *alloc, *free, *launch,
		*to_host, *to_device, *fill, *sync, *limit;
};

/* Load the library and make a context on its first device. */
static inline bool cross_open(struct cross_driver *cu, const char *path)
{
	static const struct {
		const char *name;
		size_t at;
	} calls[] = {
		{"cuInit", offsetof(struct cross_driver, init)},
		{"cuDevicePrimaryCtxRetain", offsetof(struct cross_driver, retain)},
		{"cuCtxSetCurrent", offsetof(struct cross_driver, current)},
		{"cuModuleLoadData", offsetof(struct cross_driver, load)},
		{"cuModuleUnload", offsetof(struct cross_driver, unload)},
		{"cuModuleGetFunction", offsetof(struct cross_driver, function)},
		{"cuMemAlloc_v2", offsetof(struct cross_driver, alloc)},
		{"cuMemFree_v2", offsetof(struct cross_driver, free)},
		{"cuLaunchKernel", offsetof(struct cross_driver, launch)},
		{"cuMemcpyDtoH_v2", offsetof(struct cross_driver, to_host)},
		{"cuMemcpyHtoD_v2", offsetof(struct cross_driver, to_device)},
		{"cuMemsetD8_v2", offsetof(struct cross_driver, fill)},
		{"cuCtxSynchronize", offsetof(struct cross_driver, sync)},
		{"cuCtxSetLimit", offsetof(struct cross_driver, limit)},
	};
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL), *context = NULL;

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return false;
	}
	for (u32 i = 0; i < ARRAY_LEN(calls); i++) {
		void *p = dlsym(lib, calls[i].name);

		if (!p)
			return false;
		memcpy((u8 *)cu + calls[i].at, &p, sizeof(p));
	}
	return !cu->init(0u) && !cu->retain(&context, 0) && !cu->current(context);
}

#endif
