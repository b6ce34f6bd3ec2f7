/*
 * What `ptxloom run --stats` is to add up: a module, a kernel of eight instructions, three launches
 * of 1024 threads, a copy of 4096 bytes each way. stats reset: then all of it once more, after the
 * device was reset.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
	".reg .b64 %o, %d; .reg .b32 %t, %v;\nld.param.u64 %o, [out]; mov.u32 %t, %tid.x; "
	"mul.wide.u32 %d, %t, 4; add.u64 %o, %o, %d; xor.b32 %v, %t, 7; "
	"mad.lo.u32 %v, %v, %v, %v; st.global.u32 [%o], %v; ret;\n}\n";

static int failures;

/* Calls a function of the driver by its name. */
#define CALL(name, types, ...)                                                                     \
	do {                                                                                       \
		int(*fn) types;                                                                    \
		*(void **)&fn = dlsym(RTLD_DEFAULT, name);                                         \
		if (!fn || fn(__VA_ARGS__)) {                                                      \
			printf("%s fails\n", name);                                                \
			failures++;                                                                \
			return;                                                                    \
		}                                                                                  \
	} while (0)

static void work(void)
{
	static unsigned words[1024];
	void *context, *module, *kernel;
	unsigned long long buffer;
	void *args[] = {&buffer};

	CALL("cuDevicePrimaryCtxRetain", (void **, int), &context, 0);
	CALL("cuCtxSetCurrent", (void *), context);
	CALL("cuModuleLoadData", (void **, const void *), &module, ptx);
	CALL("cuModuleGetFunction", (void **, void *, const char *), &kernel, module, "k");
	CALL("cuMemAlloc_v2", (unsigned long long *, size_t), &buffer, sizeof(words));
	CALL("cuMemcpyHtoD_v2", (unsigned long long, const void *, size_t), buffer, words,
	     sizeof(words));
	for (int i = 0; i < 3; i++)
		CALL("cuLaunchKernel",
		     (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		      void *, void **, void **),
		     kernel, 4, 1, 1, 256, 1, 1, 0, NULL, args, NULL);
	CALL("cuMemcpyDtoH_v2", (void *, unsigned long long, size_t), words, buffer, sizeof(words));
	CALL("cuDevicePrimaryCtxReset_v2", (int), 0);
	failures += words[255] != 248 * 249;
}

int main(int argc, char **argv)
{
	int (*init)(unsigned);
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);

	*(void **)&init = driver ? dlsym(driver, "cuInit") : NULL;
	if (!init || init(0))
		return 1;
	work();
	if (argc > 1 && !strcmp(argv[1], "reset"))
		work();
	return failures != 0;
}
