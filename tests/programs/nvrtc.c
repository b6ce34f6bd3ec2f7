/*
 * A program of the run-time compiler that asks for a real device and fetches machine code, as most
 * do. Built twice: linked with the compiler, and with -DFIND, which opens it and finds its
 * functions.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(uint64_t *p, size_t n);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		   unsigned bz, unsigned shared, void *stream, void **args, void **extra);

#ifdef FIND
static void *compiler;
#define FUNCTION(name) dlsym(compiler, #name)
#else
int nvrtcCreateProgram(void **p, const char *text, const char *name, int n,
		       const char *const *headers, const char *const *names);
int nvrtcCompileProgram(void *p, int n, const char *const *options);
int nvrtcGetCUBINSize(void *p, size_t *n);
int nvrtcGetCUBIN(void *p, char *out);
#define FUNCTION(name) (void *)name
#endif

#define CHECK(call)                                                                                \
	do {                                                                                       \
		int e = (call);                                                                    \
		if (e) {                                                                           \
			fprintf(stderr, "%s: %d\n", #call, e);                                     \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

static const char text[] = "extern \"C\" __global__ void squares(int *out)\n"
			   "{ int i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = i * i; }\n";

int main(void)
{
	const char *options[] = {"--gpu-architecture=sm_80", "-lineinfo"};
	void *program, *context, *module, *function, *args[1];
	int (*create)(void **, const char *, const char *, int, const char *const *,
		      const char *const *);
	int (*compile)(void *, int, const char *const *), (*size)(void *, size_t *);
	int (*get)(void *, char *), out[256];
	uint64_t memory;
	char *image;
	size_t n = 0;

#ifdef FIND
	compiler = dlopen("libnvrtc.so.13", RTLD_NOW);
	compiler = compiler ? compiler : dlopen("libnvrtc.so.12", RTLD_NOW);
	if (!compiler) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
#endif
	create = FUNCTION(nvrtcCreateProgram);
	compile = FUNCTION(nvrtcCompileProgram);
	size = FUNCTION(nvrtcGetCUBINSize);
	get = FUNCTION(nvrtcGetCUBIN);
	CHECK(create(&program, text, "squares.cu", 0, NULL, NULL));
	CHECK(compile(program, 2, options));
	CHECK(size(program, &n));
	image = malloc(n + 1);
	CHECK(!n || !image);
	CHECK(get(program, image));
	CHECK(cuInit(0));
	CHECK(cuDevicePrimaryCtxRetain(&context, 0));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuModuleLoadData(&module, image));
	CHECK(cuModuleGetFunction(&function, module, "squares"));
	CHECK(cuMemAlloc_v2(&memory, sizeof(out)));
	args[0] = &memory;
	CHECK(cuLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
	CHECK(cuMemcpyDtoH_v2(out, memory, sizeof(out)));
	for (int i = 0; i < 256; i++)
		CHECK(out[i] != i * i);
	puts("all right");
	free(image);
	return 0;
}
