/*
 * A program that links two PTX texts with nvJitLink for a real device, fetches machine code and
 * runs it. With an argument, as link-time optimisation: "ptx" of the same texts, "code" of
 * link-time code that NVRTC makes of the caller's source and the callee's text, "binary FILE
 * LIBRARY" of such code, a fat binary with the callee and the device's runtime, which is built in.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvJitLink.h>
#include <nvrtc.h>

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(uint64_t *p, size_t n);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		   unsigned bz, unsigned shared, void *stream, void **args, void **extra);

#define CHECK(call)                                                                                \
	do {                                                                                       \
		int e = (int)(call);                                                               \
		if (e) {                                                                           \
			fprintf(stderr, "%s: %d\n", #call, e);                                     \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

#define HEAD ".version 7.5\n.target sm_80\n.address_size 64\n"

static const char caller[] = HEAD
	".extern .func (.param .b32 r) twice(.param .b32 x);\n"
	".visible .entry main_kernel(.param .u64 out) {\n"
	"	.reg .u64 %p; .reg .b32 %n; ld.param.u64 %p, [out]; mov.u32 %n, 21;\n"
	"	{ .param .b32 x; .param .b32 r; st.param.b32 [x], %n; call.uni (r), twice, (x); "
	"ld.param.b32 %n, [r]; }\n"
	"	st.global.u32 [%p], %n; ret;\n"
	"}\n";
static const char callee[] = HEAD
	".visible .func (.param .b32 r) twice(.param .b32 x) {\n"
	"	.reg .b32 %n; ld.param.b32 %n, [x]; add.u32 %n, %n, %n; st.param.b32 [r], %n; ret;\n"
	"}\n";

static const char source[] =
	"extern \"C\" __device__ int twice(int);\n"
	"extern \"C\" __global__ void main_kernel(int *p) { *p = twice(21); }\n";

static int add_code(nvJitLinkHandle link)
{
	const char *options[] = {"--gpu-architecture=compute_80", "-dlto", "-rdc=true"};
	nvrtcProgram program;
	size_t n = 0;
	char *code;

	CHECK(nvrtcCreateProgram(&program, source, "caller.cu", 0, NULL, NULL));
	CHECK(nvrtcCompileProgram(program, 3, options));
	CHECK(nvrtcGetLTOIRSize(program, &n));
	code = malloc(n);
	CHECK(nvrtcGetLTOIR(program, code));
	CHECK(nvrtcDestroyProgram(&program));
	CHECK(nvJitLinkAddData(link, NVJITLINK_INPUT_LTOIR, code, n, "caller"));
	free(code);
	return 0;
}

static int add_file(nvJitLinkHandle link, nvJitLinkInputType type, const char *path)
{
	CHECK(nvJitLinkAddFile(link, type, path));
	return 0;
}

static int add_callee(nvJitLinkHandle link, int argc, char **argv)
{
	if (argc < 4) {
		CHECK(nvJitLinkAddData(link, NVJITLINK_INPUT_PTX, callee, sizeof(callee),
				       "callee"));
		return 0;
	}
	CHECK(add_file(link, NVJITLINK_INPUT_FATBIN, argv[2]));
	return add_file(link, NVJITLINK_INPUT_LIBRARY, argv[3]);
}

int main(int argc, char **argv)
{
	const char *options[] = {"-arch=sm_80", "-lto"};
	void *context, *module, *function, *args[1], *image;
	nvJitLinkHandle link;
	uint64_t memory;
	size_t n = 0;
	int value = 0;

	CHECK(nvJitLinkCreate(&link, argc > 1 ? 2 : 1, options));
	if (argc > 1 && strcmp(argv[1], "ptx") != 0)
		CHECK(add_code(link));
	else
		CHECK(nvJitLinkAddData(link, NVJITLINK_INPUT_PTX, caller, sizeof(caller),
				       "caller"));
	CHECK(add_callee(link, argc, argv));
	CHECK(nvJitLinkComplete(link));
	CHECK(nvJitLinkGetLinkedCubinSize(link, &n));
	image = malloc(n);
	CHECK(nvJitLinkGetLinkedCubin(link, image));
	CHECK(nvJitLinkDestroy(&link));
	CHECK(cuInit(0));
	CHECK(cuDevicePrimaryCtxRetain(&context, 0));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuModuleLoadData(&module, image));
	CHECK(cuModuleGetFunction(&function, module, "main_kernel"));
	CHECK(cuMemAlloc_v2(&memory, sizeof(value)));
	args[0] = &memory;
	CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	CHECK(cuMemcpyDtoH_v2(&value, memory, sizeof(value)));
	CHECK(value != 42);
	puts("all right");
	free(image);
	return 0;
}
