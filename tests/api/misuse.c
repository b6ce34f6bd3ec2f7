/*
 * Calls every function of both interfaces with nothing but zeros, with invalid handles, and
 * with handles of another kind: whatever the answer, the process lives on.
 *
 * All calls are made by a child, which says in shared memory where it is; after a crash another
 * child goes on behind the call that was to blame.
 */
#include "src/base/leave.h"
#include "tests/check.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef long function(long, long, long, long, long, long, long, long, long, long, long, long);

struct entry {
	const char *name;
	bool is_driver;
};

static const struct entry entries[] = {
#define RT(name, params, args, checks) {#name, false},
#include "runtime/cudart/runtime.def"
#undef RT
#define DRV(name, params, args, checks) {#name, true},
#include "runtime/cuda/driver.def"
#undef DRV
};

/*
 * They return a structure through a pointer that is not among their parameters, or are no
 * functions.
 */
static const char *const left_out[] = {"cudaCreateChannelDesc"};

#define LEN (sizeof(entries) / sizeof(entries[0]))

static volatile size_t *at; /* the call under way; behind it how many functions were called */
static void *library[2];

static bool is_left_out(const char *name)
{
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (!strcmp(left_out[i], name))
			return true;
	return false;
}

static void call(size_t i, long first)
{
	function *f;

	*(void **)&f = dlsym(library[entries[i].is_driver], entries[i].name);
	if (!f || is_left_out(entries[i].name))
		return;
	if (!first)
		++at[1];
	f(first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

/*
 * Functions whose first parameter is a handle, or a pointer that is not written: only those may get
 * one that is wrong. By beginnings of names.
 */
static bool takes_handle(const char *name)
{
	/* These begin like others, and take a structure first. */
	static const char *const not_these[] = {"cuLaunchKernelEx", "cudaLaunchKernelEx"};
	static const char *const begins[] = {
		"cuModuleUnload",
		"cuLibraryUnload",
		"cuLinkDestroy",
		"cuLinkComplete",
		"cuCtxDestroy",
		"cuCtxPushCurrent",
		"cuCtxSetCurrent",
		"cuCtxGetApiVersion",
		"cuCtxGetId",
		"cuCtxSynchronize_v2",
		"cuFuncSetAttribute",
		"cuFuncSetCacheConfig",
		"cuFuncLoad",
		"cuKernelGetParamInfo",
		"cuFuncGetParamInfo",
		"cuLaunchKernel",
		"cuLaunchCooperativeKernel",
		"cuStreamDestroy",
		"cuStreamSynchronize",
		"cuStreamQuery",
		"cuEventDestroy",
		"cuEventSynchronize",
		"cuEventQuery",
		"cuArrayDestroy",
		"cuGraphDestroy",
		"cuGraphExecDestroy",
		"cuGraphLaunch",
		"cuMemFree",
		"cuTexObjectDestroy",
		"cuSurfObjectDestroy",
		"cudaLibraryUnload",
		"cudaStreamDestroy",
		"cudaStreamSynchronize",
		"cudaStreamQuery",
		"cudaEventDestroy",
		"cudaEventSynchronize",
		"cudaEventQuery",
		"cudaFreeArray",
		"cudaGraphDestroy",
		"cudaGraphExecDestroy",
		"cudaGraphLaunch",
		"cudaFree",
		"cudaDestroyTextureObject",
		"cudaDestroySurfaceObject",
		"cudaHostUnregister",
		"cudaLaunchKernel",
		"__cudaUnregisterFatBinary",
		"__cudaInitModule",
		"__cudaLaunchKernel",
		"cudaFuncSetAttribute",
		"cudaFuncSetCacheConfig",
	};

	for (size_t i = 0; i < sizeof(not_these) / sizeof(not_these[0]); i++)
		if (!strncmp(name, not_these[i], strlen(not_these[i])))
			return false;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* Make calls from `from` on; the parent sees in *at how far that went. */
static void child(size_t from, const long *firsts, size_t n)
{
	int (*start)(unsigned), (*make)(void **, unsigned, int);
	void *context = NULL;

	if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout))
		leave(1);
	alarm(60);
	*(void **)&start = dlsym(library[1], "cuInit");
	*(void **)&make = dlsym(library[1], "cuCtxCreate_v2");
	/* Without a context all calls would end before they look at what they are given. */
	if (start(0) || make(&context, 0, 0))
		leave(1);
	for (size_t i = from; i < LEN; i++) {
		*at = i;
		for (size_t k = 0; k < n; k++)
			if (!firsts[k] || takes_handle(entries[i].name))
				call(i, firsts[k] == -1 ? (long)context : firsts[k]);
	}
	*at = LEN;
	leave(0);
}

static void calls_survive(const char *what, const long *firsts, size_t n)
{
	size_t from = 0;
	bool ok = true;

	while (from < LEN) {
		pid_t pid;
		int status;

		*at = from;
		fflush(stdout);
		pid = fork();
		if (!pid)
			child(from, firsts, n);
		waitpid(pid, &status, 0);
		if (*at >= LEN)
			break;
		printf("# %s ends the process (status 0x%x)\n", entries[*at].name, status);
		ok = false;
		from = *at + 1;
	}
	check_that(ok, what, __FILE__, __LINE__);
}

int main(void)
{
	static const long zeros[] = {0}, wild[] = {3, 0x1234, 0x7fffdeadbee0, -8, -1};

	library[0] = dlopen("libcudart.so.13", RTLD_NOW);
	library[1] = dlopen("libcuda.so.1", RTLD_NOW);
	if (!CHECK(library[0] && library[1]))
		return check_done();
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	calls_survive("every function takes nothing but zeros", zeros, 1);
	CHECK_EQ(at[1], LEN - sizeof(left_out) / sizeof(left_out[0]));
	calls_survive("functions of a handle take what is none", wild, 5);
	return check_done();
}
