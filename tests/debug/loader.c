/*
 * loader FILE.ptx KERNEL: a program of the driver interface, which it opens itself. Loads the file,
 * runs the kernel with 32 threads and a buffer of 32 integers, and prints the buffer.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef int function();

static void *library;

/* The function of the library; what it returns must be 0. */
#define CALL(name, ...)                                                                            \
	do {                                                                                       \
		function *f_ = (function *)dlsym(library, name);                                   \
		int e_ = f_ ? f_(__VA_ARGS__) : -1;                                                \
		if (e_) {                                                                          \
			printf("%s: %d\n", name, e_);                                              \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

int main(int argc, char **argv)
{
	void *context, *module, *kernel;
	int device, out[32] = {0};
	unsigned long long buffer;
	void *params[] = {&buffer};

	library = dlopen("libcuda.so.1", RTLD_NOW);
	if (argc != 3 || !library)
		return 2;
	CALL("cuInit", 0);
	CALL("cuDeviceGet", &device, 0);
	CALL("cuCtxCreate_v2", &context, 0, device);
	CALL("cuModuleLoad", &module, argv[1]);
	CALL("cuModuleGetFunction", &kernel, module, argv[2]);
	CALL("cuMemAlloc_v2", &buffer, sizeof(out));
	CALL("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
	CALL("cuMemcpyDtoH_v2", out, buffer, sizeof(out));
	for (int i = 0; i < 32; i++)
		printf("%d%c", out[i], i % 8 == 7 ? '\n' : ' ');
	return 0;
}
