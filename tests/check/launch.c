/*
 * launch FILE.ptx OPTION...: a program of the driver interface, which it opens itself. It runs a
 * kernel with one buffer as `ptxloom exec` does, whose options it takes: --kernel NAME --grid N
 * --block N --cluster N --shared BYTES --buffer NAME:u32[N]. What CUDA answers is printed.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int function();

/* As in cuda.h. */
enum { ATTRIBUTE_CLUSTER_DIMENSION = 4 };

struct attribute {
	int id;
	char pad[4];
	union {
		unsigned dim[3];
		char bytes[64];
	} value;
};

struct config {
	unsigned grid[3], block[3], shared;
	void *stream;
	struct attribute *attributes;
	unsigned count;
};

static void *library;

static function *find(const char *name)
{
	function *f = (function *)dlsym(library, name);

	if (!f) {
		fprintf(stderr, "%s is missing\n", name);
		exit(2);
	}
	return f;
}

/* What it returns must be 0, else the program says so and ends, as programs do. */
#define CALL(name, ...)                                                                            \
	do {                                                                                       \
		int e_ = find(name)(__VA_ARGS__);                                                  \
		if (e_) {                                                                          \
			printf("%s: %d\n", name, e_);                                              \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* Launch, and wait; the buffer is as exec has it, zeros. */
static void run(const char *file, const char *name, struct config *c, size_t words)
{
	void *context, *module, *kernel;
	unsigned long long buffer;
	void *params[] = {&buffer};
	int device;

	CALL("cuInit", 0);
	CALL("cuDeviceGet", &device, 0);
	CALL("cuCtxCreate_v2", &context, 0, device);
	CALL("cuModuleLoad", &module, file);
	CALL("cuModuleGetFunction", &kernel, module, name);
	CALL("cuMemAlloc_v2", &buffer, words * 4);
	CALL("cuMemsetD32_v2", buffer, 0, words);
	CALL("cuLaunchKernelEx", c, kernel, params, NULL);
	CALL("cuCtxSynchronize");
	CALL("cuMemFree_v2", buffer);
}

int main(int argc, char **argv)
{
	struct attribute cluster = {.id = ATTRIBUTE_CLUSTER_DIMENSION, .value.dim = {1, 1, 1}};
	struct config c = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .attributes = &cluster};
	const char *name = "";
	size_t words = 1;

	library = dlopen("libcuda.so.1", RTLD_NOW);
	if (argc < 2 || !library)
		return 2;
	for (int i = 2; i + 1 < argc; i += 2) {
		unsigned n = (unsigned)strtoul(argv[i + 1], NULL, 10);

		if (!strcmp(argv[i], "--kernel"))
			name = argv[i + 1];
		else if (!strcmp(argv[i], "--grid"))
			c.grid[0] = n;
		else if (!strcmp(argv[i], "--block"))
			c.block[0] = n;
		else if (!strcmp(argv[i], "--shared"))
			c.shared = n;
		else if (!strcmp(argv[i], "--cluster"))
			cluster.value.dim[0] = n;
		else if (!strcmp(argv[i], "--buffer"))
			words = strtoul(strchr(argv[i + 1], '[') + 1, NULL, 10);
		else
			return 2;
	}
	c.count = cluster.value.dim[0] > 1;
	run(argv[1], name, &c, words);
	return 0;
}
