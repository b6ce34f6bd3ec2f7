/*
 * Modules, libraries, kernels, functions, the linker, contexts and entry points, through the names
 * that programs call.
 */
#include "src/base/leave.h"
#include "tests/check.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is used of both interfaces, in our own declarations. */
int cuInit(unsigned);
int cuDriverGetVersion(int *);
int cuCtxCreate_v2(void **, unsigned, int);
int cuCtxCreate_v4(void **, void *, unsigned, int);
int cuCtxDestroy_v2(void *);
int cuCtxPushCurrent_v2(void *);
int cuCtxPopCurrent_v2(void **);
int cuCtxSetCurrent(void *);
int cuCtxGetCurrent(void **);
int cuCtxGetDevice(int *);
int cuCtxGetFlags(unsigned *);
int cuCtxGetApiVersion(void *, unsigned *);
int cuCtxGetId(void *, unsigned long long *);
int cuCtxGetLimit(size_t *, int);
int cuCtxSetLimit(int, size_t);
int cuCtxSynchronize(void);
int cuDevicePrimaryCtxRetain(void **, int);
int cuDevicePrimaryCtxRelease_v2(int);
int cuDevicePrimaryCtxReset_v2(int);
int cuDevicePrimaryCtxGetState(int, unsigned *, int *);
int cuDevicePrimaryCtxSetFlags_v2(int, unsigned);
int cuModuleLoadData(void **, const void *);
int cuModuleLoadDataEx(void **, const void *, unsigned, int *, void **);
int cuModuleUnload(void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuModuleGetFunctionCount(unsigned *, void *);
int cuModuleEnumerateFunctions(void **, unsigned, void *);
int cuModuleGetGlobal_v2(uint64_t *, size_t *, void *, const char *);
int cuModuleGetLoadingMode(int *);
int cuLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
int cuLibraryUnload(void *);
int cuLibraryGetKernel(void **, void *, const char *);
int cuLibraryGetModule(void **, void *);
int cuLibraryGetGlobal(uint64_t *, size_t *, void *, const char *);
int cuLibraryGetManaged(uint64_t *, size_t *, void *, const char *);
int cuLibraryGetKernelCount(unsigned *, void *);
int cuLibraryEnumerateKernels(void **, unsigned, void *);
int cuKernelGetFunction(void **, void *);
int cuKernelGetLibrary(void **, void *);
int cuKernelGetName(const char **, void *);
int cuKernelGetParamInfo(void *, size_t, size_t *, size_t *);
int cuKernelGetAttribute(int *, int, void *, int);
int cuKernelSetAttribute(int, int, void *, int);
int cuFuncGetAttribute(int *, int, void *);
int cuFuncSetAttribute(void *, int, int);
int cuFuncGetModule(void **, void *);
int cuFuncGetName(const char **, void *);
int cuFuncIsLoaded(int *, void *);
int cuFuncLoad(void *);
int cuLinkCreate_v2(unsigned, int *, void **, void **);
int cuLinkAddData_v2(void *, int, const void *, size_t, const char *, unsigned, int *, void **);
int cuLinkComplete(void *, void **, size_t *);
int cuLinkDestroy(void *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		   void *, void **, void **);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuMemFree_v2(uint64_t);
int cuMemcpyDtoH_v2(void *, uint64_t, size_t);
int cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
int cuGetExportTable(const void **, const void *);
int cudaGetExportTable(const void **, const void *);
int cuStreamGetId(void *, unsigned long long *);
int cudaGetDevice(int *);
int cudaSetDevice(int);
int cudaFree(void *);
int cudaMalloc(void **, size_t);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaDeviceReset(void);
int cudaDeviceGetLimit(size_t *, int);
int cudaDeviceSetLimit(int, size_t);
int cudaGetDriverEntryPoint(const char *, void **, unsigned long long, int *);

#define HEAD ".version 7.0\n.target sm_60\n.address_size 64\n"

static const char two[] =
	HEAD ".visible .global .align 4 .u32 counter = 5;\n"
	     ".global .attribute(.managed) .align 4 .u32 shared_value = 7;\n"
	     ".visible .entry first(.param .u64 out, .param .u32 n) .maxntid 128, 1, 1 {\n"
	     "	.reg .u64 %p; .reg .u32 %n; ld.param.u64 %p, [out]; ld.param.u32 %n, [n];\n"
	     "	st.global.u32 [%p], %n; ret;\n"
	     "}\n"
	     ".visible .entry second() { .shared .align 4 .b8 s[400]; .reg .u32 %r;\n"
	     "	mov.u32 %r, s; st.shared.u32 [%r], %r; ret; }\n";

static const char caller[] = HEAD
	".extern .func (.param .u32 r) twice(.param .u32 x);\n"
	".visible .entry main_kernel(.param .u64 out) {\n"
	"	.reg .u64 %p; .reg .u32 %n; ld.param.u64 %p, [out]; mov.u32 %n, 21;\n"
	"	{ .param .u32 x; .param .u32 r; st.param.u32 [x], %n; call.uni (r), twice, (x); "
	"ld.param.u32 %n, [r]; }\n"
	"	st.global.u32 [%p], %n; ret;\n"
	"}\n";
static const char callee[] = HEAD
	".visible .func (.param .u32 r) twice(.param .u32 x) {\n"
	"	.reg .u32 %n; ld.param.u32 %n, [x]; add.u32 %n, %n, %n; st.param.u32 [r], %n; ret;\n"
	"}\n";

static uint64_t memory;

static int value(void)
{
	int v = -1;

	cuMemcpyDtoH_v2(&v, memory, 4);
	return v;
}

static int launch_first(void *f, int n)
{
	void *args[] = {&memory, &n};

	return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
}

static void modules(void)
{
	void *m = NULL, *f = NULL, *list[3] = {0}, *owner = NULL;
	const char *name = NULL;
	unsigned n = 0;
	int v = 0;
	uint64_t at = 0;
	size_t bytes = 0;

	CHECK_EQ(cuModuleLoadData(&m, two), 0);
	CHECK_EQ(cuModuleGetFunction(&f, m, "first"), 0);
	CHECK_EQ(cuFuncIsLoaded(&v, f), 0);
	CHECK_EQ(v, 0);
	CHECK_EQ(launch_first(f, 11), 0);
	CHECK_EQ(value(), 11);
	CHECK_EQ(cuFuncIsLoaded(&v, f), 0);
	CHECK_EQ(v, 1);
	CHECK_EQ(cuModuleGetFunctionCount(&n, m), 0);
	CHECK_EQ(n, 2);
	CHECK_EQ(cuModuleEnumerateFunctions(list, 3, m), 0);
	CHECK(list[0] == f && list[1] && !list[2]);
	CHECK_EQ(cuFuncGetName(&name, list[1]), 0);
	CHECK_STR(name, "second");
	CHECK_EQ(cuFuncLoad(list[1]), 0);
	CHECK_EQ(cuFuncGetModule(&owner, f), 0);
	CHECK(owner == m);
	CHECK_EQ(cuFuncGetAttribute(&v, 0, f), 0);
	CHECK_EQ(v, 128);
	CHECK_EQ(cuFuncGetAttribute(&v, 1, list[1]), 0);
	CHECK_EQ(v, 400);
	CHECK_EQ(cuFuncSetAttribute(f, 8, 100000), 0);
	CHECK_EQ(cuFuncGetAttribute(&v, 8, f), 0);
	CHECK_EQ(v, 100000);
	CHECK_EQ(cuFuncGetAttribute(&v, 99, f), 1);
	CHECK_EQ(cuModuleGetGlobal_v2(&at, &bytes, m, "counter"), 0);
	CHECK_EQ(bytes, 4);
	cuMemcpyDtoH_v2(&v, at, 4);
	CHECK_EQ(v, 5);
	CHECK_EQ(cuModuleGetLoadingMode(&v), 0);
	CHECK_EQ(v, 2);
	CHECK_EQ(cuModuleUnload(m), 0);
	CHECK_EQ(cuModuleUnload(m), 400);
	CHECK_EQ(launch_first(f, 1), 400);
}

static void jit_options(void)
{
	static const char wrong[] = HEAD ".visible .entry a() { add.u32 %r1, %r2; }\n";
	char errors[300] = "", infos[300] = "x";
	int names[] = {3, 4, 5, 6, 2, 0, 12};
	void *values[] = {
		infos,    (void *)sizeof(infos), errors, (void *)sizeof(errors), NULL, (void *)32,
		(void *)1};
	void *m;
	float ms = -1;

	CHECK_EQ(cuModuleLoadDataEx(&m, wrong, 7, names, values), 218);
	CHECK(strstr(errors, "error") != NULL);
	CHECK_EQ((size_t)values[3], strlen(errors));
	memcpy(&ms, &values[4], 4);
	CHECK(ms >= 0 && ms < 10000);
	values[1] = (void *)sizeof(infos);
	values[3] = (void *)sizeof(errors);
	CHECK_EQ(cuModuleLoadDataEx(&m, two, 7, names, values), 0);
	CHECK_EQ((size_t)values[3], 0);
	CHECK(strstr(infos, "first") != NULL);
	CHECK_EQ((size_t)values[1], strlen(infos));
	values[1] = (void *)10;
	cuModuleUnload(m);
	CHECK_EQ(cuModuleLoadDataEx(&m, two, 7, names, values), 0);
	CHECK_EQ(strlen(infos), 9);
	cuModuleUnload(m);
	names[0] = 77;
	CHECK_EQ(cuModuleLoadDataEx(&m, two, 7, names, values), 1);
}

/* The log of a module with errors, as the program gets it. */
static int error_log(const char *text, char *log, size_t size, size_t *used)
{
	int names[] = {5, 6};
	void *values[] = {log, (void *)size}, *m;
	int status = cuModuleLoadDataEx(&m, text, 2, names, values);

	*used = (size_t)values[1];
	return status;
}

/*
 * Programs look for ptxas's words: they come first, our message is behind, ptxas's last line ends
 * the log.
 */
static void jit_words(void)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{".version 8.0\n.target sm_50\n.address_size 64\n.entry k()\n{\n\t.reg .u32 r;\n\tadd.u32 r, r;\n}\n",
		 "ptxas application ptx input, line 7; error   : Arguments mismatch for instruction 'add'\n"},
		{".version 8.0\n.target sm_50\n.entry k()\n{\n\t.reg .u32 r;\n\tmov.u32 r, q;\n}\n",
		 "ptxas application ptx input, line 6; error   : Unknown symbol 'q'\n"},
		{".version 8.0\n.target sm_50\n.entry k()\n{\n\taddd.u32 r, r;\n}\n",
		 "ptxas application ptx input, line 5; error   : Not a name of any known instruction: 'addd'\n"},
		{".version 8.0\n.target sm_50\n.entry k()\n{\n\t.reg .u32 r;\n\tadd.foo.u32 r, r, r;\n}\n",
		 "ptxas application ptx input, line 6; error   : Unknown modifier '.foo'\n"},
		{".version 8.0\n.target sm_50\n.entry k()\n{\n\t.reg .u32 r;\n\tmov.u32 r, 1\n\tret;\n}\n",
		 "ptxas application ptx input, line 7; fatal   : Parsing error near 'ret': syntax error\n"},
	};
	static const char last[] = "ptxas fatal   : Ptx assembly aborted due to errors\n";
	char log[2000], small[40];
	size_t used;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CHECK_EQ(error_log(cases[i].text, log, sizeof(log), &used), 218);
		CHECK_EQ(used, strlen(log));
		if (!CHECK(!strncmp(log, cases[i].words, strlen(cases[i].words))))
			printf("# %s", log);
		CHECK(strstr(log, ": error: ") != NULL);
		CHECK(used > sizeof(last) && !strcmp(log + used - (sizeof(last) - 1), last));
	}
	/* A buffer that is too small: filled, and ended. */
	memset(small, 'x', sizeof(small));
	CHECK_EQ(error_log(cases[0].text, small, 20, &used), 218);
	CHECK(!strcmp(small, "ptxas application p") && used == 19 && small[20] == 'x');
}

static void jit_info(void)
{
	static const char text[] =
		".version 8.0\n.target sm_50\n.address_size 64\n.global .u32 g[4];\n"
		".visible .entry k() .maxnreg 40\n{\n\t.shared .u32 s[28]; .reg .u32 r;\n\tld.shared.u32 r, [s];\n"
		"\tbar.sync 2;\n\tret;\n}\n";
	char infos[1000] = "";
	int names[] = {3, 4, 12};
	void *values[] = {infos, (void *)sizeof(infos), (void *)1}, *m;

	CHECK_EQ(cuModuleLoadDataEx(&m, text, 3, names, values), 0);
	CHECK(!strncmp(
		infos,
		"ptxas info    : 16 bytes gmem\nptxas info    : Compiling entry function 'k' for 'sm_",
		82));
	CHECK(strstr(infos,
		     "ptxas info    : Function properties for k\n    0 bytes stack frame, 0 bytes ") !=
	      NULL);
	if (!CHECK(strstr(infos,
			  "ptxas info    : Used 40 registers, used 3 barriers, 112 bytes smem\n") !=
		   NULL))
		printf("# %s", infos);
	cuModuleUnload(m);
	values[1] = (void *)sizeof(infos);
	values[2] = NULL;
	CHECK_EQ(cuModuleLoadDataEx(&m, text, 3, names, values), 0);
	CHECK_STR(infos, "");
	cuModuleUnload(m);
}

static void libraries(void)
{
	void *lib = NULL, *k = NULL, *again = NULL, *f = NULL, *m = NULL, *list[3] = {0};
	size_t bytes = 0, offset = 99;
	const char *name = NULL;
	uint64_t at = 0;
	unsigned n = 0;
	int v = 0;

	CHECK_EQ(cuLibraryLoadData(&lib, two, NULL, NULL, 0, NULL, NULL, 0), 0);
	CHECK_EQ(cuLibraryGetKernel(&k, lib, "first"), 0);
	CHECK_EQ(cuLibraryGetKernel(&again, lib, "first"), 0);
	CHECK(k == again);
	CHECK_EQ(cuLibraryGetKernel(&again, lib, "none"), 500);
	CHECK_EQ(launch_first(k, 12), 0);
	CHECK_EQ(value(), 12);
	CHECK_EQ(cuKernelGetFunction(&f, k), 0);
	CHECK_EQ(launch_first(f, 13), 0);
	CHECK_EQ(value(), 13);
	CHECK_EQ(cuLibraryGetModule(&m, lib), 0);
	CHECK_EQ(cuFuncGetModule(&again, f), 0);
	CHECK(m == again);
	CHECK_EQ(cuKernelGetLibrary(&again, k), 0);
	CHECK(again == lib);
	CHECK_EQ(cuKernelGetName(&name, k), 0);
	CHECK_STR(name, "first");
	CHECK_EQ(cuKernelGetParamInfo(k, 1, &offset, &bytes), 0);
	CHECK_EQ(offset, 8);
	CHECK_EQ(bytes, 4);
	CHECK_EQ(cuKernelGetParamInfo(k, 2, &offset, &bytes), 1);
	CHECK_EQ(cuKernelSetAttribute(8, 60000, k, 0), 0);
	CHECK_EQ(cuKernelGetAttribute(&v, 8, k, 0), 0);
	CHECK_EQ(v, 60000);
	CHECK_EQ(cuKernelGetAttribute(&v, 8, k, 1), 0); /* devices have attributes of their own */
	CHECK_EQ(v, 49152);
	CHECK_EQ(cuKernelGetAttribute(&v, 8, k, 2), 101);
	CHECK_EQ(cuLibraryGetGlobal(&at, &bytes, lib, "counter"), 0);
	CHECK_EQ(cuLibraryGetManaged(&at, &bytes, lib, "counter"), 500);
	CHECK_EQ(cuLibraryGetManaged(&at, &bytes, lib, "shared_value"), 0);
	CHECK_EQ(*(int *)(uintptr_t)at, 7);
	CHECK_EQ(cuLibraryGetKernelCount(&n, lib), 0);
	CHECK_EQ(n, 2);
	CHECK_EQ(cuLibraryEnumerateKernels(list, 3, lib), 0);
	CHECK(list[0] == k && list[1] && !list[2]);
	CHECK_EQ(cuLibraryUnload(lib), 0);
	CHECK_EQ(cuLibraryUnload(lib), 400);
	CHECK_EQ(launch_first(k, 1), 400);
	CHECK_EQ(launch_first(f, 1), 400);
}

static void linking(void)
{
	void *link = NULL, *image = NULL, *m = NULL, *f = NULL, *args[] = {&memory};
	char errors[400] = "";
	int names[] = {5, 6};
	void *values[] = {errors, (void *)sizeof(errors)};
	size_t bytes = 0;

	CHECK_EQ(cuLinkCreate_v2(2, names, values, &link), 0);
	CHECK_EQ(cuLinkAddData_v2(link, 1, caller, sizeof(caller), "caller", 0, NULL, NULL), 0);
	CHECK_EQ(cuLinkAddData_v2(link, 1, callee, sizeof(callee), "callee", 0, NULL, NULL), 0);
	CHECK_EQ(cuLinkComplete(link, &image, &bytes), 0);
	CHECK(bytes > sizeof(caller) && !memcmp(image, "\177ELF", 4));
	CHECK_EQ(cuModuleLoadData(&m, image), 0);
	CHECK_EQ(cuLinkDestroy(link), 0);
	CHECK_EQ(cuLinkDestroy(link), 400);
	CHECK_EQ(cuModuleGetFunction(&f, m, "main_kernel"), 0);
	CHECK_EQ(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), 0);
	CHECK_EQ(value(), 42);
	cuModuleUnload(m);
	values[1] = (void *)sizeof(errors);
	CHECK_EQ(cuLinkCreate_v2(2, names, values, &link), 0);
	CHECK_EQ(cuLinkAddData_v2(link, 1, caller, sizeof(caller), "caller", 0, NULL, NULL), 0);
	CHECK_EQ(cuLinkComplete(link, &image, &bytes), 999);
	CHECK(!strncmp(errors, "error   : Undefined reference to 'twice' in 'caller'\n", 53));
	CHECK_EQ(cuLinkDestroy(link), 0);
}

/* One kernel that writes what `body` leaves in %r, behind the declaration `decl`. */
#define KERNEL_WITH(decl, body)                                                                    \
	HEAD decl "\n.visible .entry k(.param .u64 p) { .reg .u64 %d, %a; .reg .u32 %r; "          \
		  "ld.param.u64 %d, [p];\n" body " st.global.u32 [%d], %r; ret; }\n"

/*
 * Variables that a whole program declares with a size and no definition are defined by it, as
 * zeros.
 */
static void missing_variables(void)
{
	static const char warning[] =
		"ptxas warning : Unresolved extern variable 't' in whole program "
		"compilation, ignoring extern qualifier\n";
	static const struct {
		const char *text;
		int global;
	} cases[] = {
		{KERNEL_WITH(".extern .global .align 4 .b8 t[16];", "ld.global.u32 %r, [t+12];"),
		 0},
		{KERNEL_WITH(".extern .global .align 4 .b8 t[16];", "mov.u32 %r, 0;"), 0},
		{KERNEL_WITH(".extern .const .align 4 .b8 t[16];", "ld.const.u32 %r, [t+12];"), 0},
		{KERNEL_WITH(".extern .shared .align 4 .b8 t[16];",
			     "mov.u32 %r, 0; st.shared.u32 [t+12], %r; ld.shared.u32 %r, [t+12];"),
		 500},
	};
	static const char unsized[] =
		KERNEL_WITH(".extern .global .align 4 .b8 t[];", "ld.global.u32 %r, [t];");
	char infos[2000], errors[2000];
	int names[] = {3, 4, 5, 6};
	void *m = NULL, *f = NULL, *args[] = {&memory};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		void *values[] = {infos, (void *)sizeof(infos), errors, (void *)sizeof(errors)};
		uint64_t at = 0;
		size_t bytes = 16;

		if (!CHECK_EQ(cuModuleLoadDataEx(&m, cases[i].text, 4, names, values), 0))
			continue;
		CHECK(!strncmp(infos, warning, sizeof(warning) - 1));
		CHECK_STR(errors, "");
		CHECK_EQ(cuModuleGetGlobal_v2(&at, &bytes, m, "t"), cases[i].global);
		CHECK_EQ(bytes, 16);
		CHECK_EQ(cuModuleGetFunction(&f, m, "k"), 0);
		CHECK_EQ(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), 0);
		CHECK_EQ(value(), 0);
		cuModuleUnload(m);
	}
	void *values[] = {infos, (void *)sizeof(infos), errors, (void *)sizeof(errors)};

	CHECK_EQ(cuModuleLoadDataEx(&m, unsized, 4, names, values), 218);
	CHECK(!strncmp(errors, "ptxas fatal   : Unresolved extern variable 't'\n", 47));
	CHECK(!strstr(errors, "aborted"));
}

/* A linker has other inputs to look for them in: there they are missing. */
static void missing_in_link(void)
{
	static const char first[] =
		KERNEL_WITH(".extern .global .align 4 .b8 t[16];", "ld.global.u32 %r, [t];");
	static const char second[] = HEAD ".visible .global .align 8 .u64 t[4];\n";
	char errors[1000];
	int names[] = {5, 6};
	void *link = NULL, *image = NULL;
	size_t bytes = 0;

	for (int both = 0; both < 2; both++) {
		void *values[] = {errors, (void *)sizeof(errors)};
		const char *words = both ? "error   : Size doesn't match for 't' in 'second', "
					   "first specified in 'first'\n"
					 : "error   : Undefined reference to 't' in 'first'\n";

		CHECK_EQ(cuLinkCreate_v2(2, names, values, &link), 0);
		CHECK_EQ(cuLinkAddData_v2(link, 1, first, sizeof(first), "first", 0, NULL, NULL),
			 0);
		if (both)
			CHECK_EQ(cuLinkAddData_v2(link, 1, second, sizeof(second), "second", 0,
						  NULL, NULL),
				 0);
		CHECK_EQ(cuLinkComplete(link, &image, &bytes), 999);
		if (!CHECK(!strncmp(errors, words, strlen(words))))
			printf("# %s", errors);
		CHECK_EQ(cuLinkDestroy(link), 0);
	}
}

/* Declared otherwise than defined: as nvlink words it, in either order of the units. */
static void other_prototypes(void)
{
	static const char *const definitions[] = {
		HEAD
		".visible .func (.param .u32 r) twice(.param .u32 x, .param .u32 y) { ret; }\n",
		HEAD ".visible .func (.param .u32 r) twice(.param .u64 x) { ret; }\n",
		HEAD ".visible .func twice(.param .u32 x) { ret; }\n",
		HEAD ".visible .func (.param .u64 r) twice(.param .u32 x) { ret; }\n",
	};
	char errors[1000], words[200];
	int names[] = {5, 6};
	void *link = NULL, *image = NULL;
	size_t bytes = 0;

	for (size_t i = 0; i < 2 * sizeof(definitions) / sizeof(*definitions); i++) {
		void *values[] = {errors, (void *)sizeof(errors)};
		const char *second = definitions[i / 2], *text[] = {caller, second},
			   *name[] = {"caller", "callee"};

		CHECK_EQ(cuLinkCreate_v2(2, names, values, &link), 0);
		for (size_t k = 0; k < 2; k++) {
			size_t n = k ^ (i & 1);

			CHECK_EQ(cuLinkAddData_v2(link, 1, text[n], strlen(text[n]) + 1, name[n], 0,
						  NULL, NULL),
				 0);
		}
		CHECK_EQ(cuLinkComplete(link, &image, &bytes), 999);
		snprintf(
			words, sizeof(words),
			"error   : Prototype doesn't match for 'twice' in '%s', first defined in 'callee'\n",
			i & 1 ? "caller" : "callee");
		if (!CHECK(!strncmp(errors, words, strlen(words))))
			printf("# %zu: %s", i, errors);
		CHECK_EQ(cuLinkDestroy(link), 0);
	}
}

/*
 * A function that no unit has is an error when the module is loaded, also where the process has one
 * of that name.
 */
static void missing_functions(void)
{
	static const char *const names[] = {"system", "no_such_function"};
	char text[400], errors[400];
	int options[] = {5, 6};
	void *m = NULL, *values[] = {errors, NULL};

	for (int i = 0; i < 2; i++) {
		snprintf(
			text, sizeof(text),
			".version 7.0\n.target sm_80\n.address_size 64\n"
			".extern .func (.param .b32 r) %s(.param .b64 command);\n"
			".visible .entry k(.param .u64 p) { .reg .b64 %%d; ld.param.u64 %%d, [p];\n"
			"{ .param .b64 a; .param .b32 r; st.param.b64 [a], %%d; call (r), %s, (a); } ret; }\n",
			names[i], names[i]);
		values[1] = (void *)sizeof(errors);
		errors[0] = '\0';
		CHECK_EQ(cuModuleLoadDataEx(&m, text, 2, options, values), 218);
		CHECK(strcasestr(errors, "unresolved extern function") && strstr(errors, names[i]));
	}
}

static void *in_thread(void *out)
{
	cuCtxGetCurrent(out);
	return NULL;
}

static void contexts(void)
{
	void *a = NULL, *b = NULL, *now = NULL, *primary = NULL, *here;
	unsigned long long ids[2] = {0, 0};
	unsigned flags = 9, version = 0;
	int active = -1, device = -1;
	pthread_t t;

	cuCtxGetCurrent(&here);
	CHECK_EQ(cuCtxCreate_v4(&a, NULL, 1, 0), 0);
	CHECK_EQ(cuCtxCreate_v2(&b, 0, 1), 0);
	CHECK_EQ(cuCtxGetCurrent(&now), 0);
	CHECK(now == b);
	CHECK_EQ(cuCtxGetDevice(&device), 0);
	CHECK_EQ(device, 1);
	CHECK_EQ(cudaGetDevice(&device), 0);
	CHECK_EQ(device, 1);
	CHECK_EQ(cuCtxPopCurrent_v2(&now), 0);
	CHECK(now == b);
	CHECK_EQ(cuCtxGetFlags(&flags), 0);
	CHECK_EQ(flags, 1);
	CHECK_EQ(cuCtxGetApiVersion(b, &version), 0);
	CHECK_EQ(version, 3020);
	cuCtxGetId(a, &ids[0]);
	cuCtxGetId(b, &ids[1]);
	CHECK(ids[0] && ids[1] && ids[0] != ids[1]);
	pthread_create(&t, NULL, in_thread, &now);
	pthread_join(t, NULL);
	CHECK(now == NULL); /* a thread begins without one */
	CHECK_EQ(cuCtxDestroy_v2(b), 0);
	CHECK_EQ(cuCtxDestroy_v2(b), 201);
	CHECK_EQ(cuCtxDestroy_v2(a), 0); /* and leaves the stack */
	cuCtxGetCurrent(&now);
	CHECK(now == here);
	CHECK_EQ(cuDevicePrimaryCtxReset_v2(1), 0);
	CHECK_EQ(cuDevicePrimaryCtxGetState(1, &flags, &active), 0);
	CHECK_EQ(active, 0);
	CHECK_EQ(cuDevicePrimaryCtxSetFlags_v2(1, 4), 0);
	CHECK_EQ(cuDevicePrimaryCtxRetain(&primary, 1), 0);
	CHECK_EQ(cuDevicePrimaryCtxGetState(1, &flags, &active), 0);
	CHECK_EQ(active, 1);
	CHECK_EQ(flags, 4);
	CHECK_EQ(cudaSetDevice(1), 0);
	cuCtxGetCurrent(&now);
	CHECK(now == primary);
	CHECK_EQ(cuDevicePrimaryCtxRelease_v2(1), 0);
	CHECK_EQ(cuCtxSynchronize(), 709);
	CHECK_EQ(cuDevicePrimaryCtxRelease_v2(1), 201);
	CHECK_EQ(cuCtxSetCurrent(here), 0);
	CHECK_EQ(cuCtxPushCurrent_v2(NULL), 1);
}

static void limits(void)
{
	size_t v = 0;

	CHECK_EQ(cuCtxGetLimit(&v, 0), 0);
	CHECK_EQ(v, 1024);
	CHECK_EQ(cudaDeviceSetLimit(0, 65536), 0);
	CHECK_EQ(cuCtxGetLimit(&v, 0), 0);
	CHECK_EQ(v, 65536);
	CHECK_EQ(cuCtxSetLimit(2, 32 << 20), 0);
	CHECK_EQ(cudaDeviceGetLimit(&v, 2), 0);
	CHECK_EQ(v, 32 << 20);
	CHECK_EQ(cudaDeviceGetLimit(&v, 3), 215);
	CHECK_EQ(cudaDeviceGetLimit(&v, 55), 1);
}

static void entry_points(void)
{
	void *a = NULL, *b = NULL;
	int found = -1, version = 0;

	CHECK_EQ(cuGetProcAddress_v2("cuCtxCreate", &a, 13000, 0, &found), 0);
	CHECK_EQ(found, 0);
	CHECK_EQ(cuGetProcAddress_v2("cuCtxCreate", &b, 3020, 0, &found), 0);
	CHECK(a && b && a != b);
	CHECK_EQ(cuGetProcAddress_v2("cuStreamSynchronize", &a, 13000, 0, &found), 0);
	CHECK_EQ(cuGetProcAddress_v2("cuStreamSynchronize", &b, 13000, 2, &found), 0);
	CHECK(a && b && a != b);
	CHECK_EQ(cuGetProcAddress_v2("cuLibraryLoadData", &a, 11000, 0, &found), 0);
	CHECK_EQ(found, 2);
	CHECK_EQ(cuGetProcAddress_v2("cuNothing", &a, 13000, 0, &found), 0);
	CHECK_EQ(found, 1);
	CHECK(a == NULL);
	CHECK_EQ(cudaGetDriverEntryPoint("cuDriverGetVersion", &a, 0, &found), 0);
	CHECK_EQ(((int (*)(int *))a)(&version), 0);
	CHECK_EQ(version, 13000);
	CHECK_EQ(cuGetExportTable((const void **)&a, "0123456789abcdef"), 500);
}

/* The tables that libraries ask for: which context and which stream is meant. */
static void private_tables(void)
{
	static const unsigned char thread[16] = {0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47,
						 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdc};
	static const unsigned char context[16] = {0x21, 0x31, 0x8c, 0x60, 0x97, 0x14, 0x32, 0x48,
						  0x8c, 0xa6, 0x41, 0xff, 0x73, 0x24, 0xc8, 0xf2};
	void *const *t = NULL, *const *c = NULL;
	void *current = NULL, *expected = NULL, *stream = NULL;
	unsigned long long id = 0, id2 = 1;

	CHECK_EQ(cudaGetExportTable((const void **)&t, thread), 0);
	CHECK_EQ(cuGetExportTable((const void **)&c, context), 0);
	if (!CHECK_MSG(t && c && (size_t)t[0] == 4 * sizeof(*t) && (size_t)c[0] > 51 * sizeof(*c),
		       "tables begin with their size"))
		return;
	CHECK_EQ(((int (*)(void **))t[2])(&current), 0);
	CHECK_EQ(cuCtxGetCurrent(&expected), 0);
	CHECK_MSG(current && current == expected, "the context of the thread");
	CHECK_EQ(((int (*)(void *, unsigned long long *))c[4])(current, &id), 0);
	CHECK_EQ(cuCtxGetId(current, &id2), 0);
	CHECK_EQ(id, id2);
	CHECK_EQ(((int (*)(void *, void *, void **, int))c[51])(current, NULL, &stream, 0), 0);
	CHECK_EQ(((int (*)(void *, void *, unsigned long long *))c[39])(current, stream, &id), 0);
	CHECK_EQ(cuStreamGetId(NULL, &id2), 0);
	CHECK_MSG(stream && id == id2, "the stream that NULL is");
	CHECK_EQ(((int (*)(void *, void *, unsigned long long *))c[39])(current, NULL, &id), 1);
	CHECK_EQ(((int (*)(void))c[94])(), 801);
}

/* A child of a process that has used CUDA cannot use it; one that has not can. */
static void forks(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		leave(cudaFree(NULL));
	waitpid(pid, &status, 0);
	CHECK_EQ(WEXITSTATUS(status), 3);
}

static void both_interfaces(void)
{
	void *p = NULL;
	int v = 3;

	CHECK_EQ(cudaMalloc(&p, 4), 0);
	CHECK_EQ(cudaMemcpy(p, &v, 4, 1), 0);
	v = 0;
	CHECK_EQ(cuMemcpyDtoH_v2(&v, (uint64_t)(uintptr_t)p, 4), 0);
	CHECK_EQ(v, 3);
	CHECK_EQ(cuMemFree_v2((uint64_t)(uintptr_t)p), 0);
}

/* After a fault every call fails, until the device is reset. */
static void death(void)
{
	void *m = NULL, *f = NULL, *p = NULL;
	int n = 1;
	uint64_t nowhere = 16;
	void *args[] = {&nowhere, &n};

	CHECK_EQ(cuModuleLoadData(&m, two), 0);
	CHECK_EQ(cuModuleGetFunction(&f, m, "first"), 0);
	CHECK_EQ(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), 0);
	CHECK_EQ(cuCtxSynchronize(), 700);
	CHECK_EQ(cuModuleLoadData(&m, two), 700);
	CHECK_EQ(cudaMalloc(&p, 4), 700);
	CHECK_EQ(cudaDeviceReset(), 0);
	CHECK_EQ(cudaMalloc(&p, 4), 0);
	CHECK_EQ(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), 400);
	CHECK_EQ(cuModuleLoadData(&m, two), 0);
}

int main(void)
{
	setenv("PTXLOOM_DEVICE", "2xa100", 1);
	unsetenv("CUDA_VISIBLE_DEVICES");
	/* Messages about mistakes made on purpose. */
	if (!freopen("/dev/null", "w", stderr))
		return 1;
	CHECK_EQ(cuCtxSynchronize(), 3);
	CHECK_EQ(cuInit(0), 0);
	CHECK_EQ(cuCtxSynchronize(), 201);
	CHECK_EQ(cudaSetDevice(0), 0);
	CHECK_EQ(cuMemAlloc_v2(&memory, 4), 0);
	modules();
	jit_options();
	jit_words();
	jit_info();
	libraries();
	linking();
	missing_functions();
	missing_variables();
	missing_in_link();
	other_prototypes();
	contexts();
	limits();
	entry_points();
	private_tables();
	both_interfaces();
	forks();
	death();
	return check_done();
}
