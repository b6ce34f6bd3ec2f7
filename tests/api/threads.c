/*
 * Sixteen threads at once: libraries with kernels are loaded and unloaded, images registered,
 * modules loaded, kernels launched in streams, errors made and asked for, textures made and
 * destroyed. Under a thread sanitizer this looks for state of the process that no lock guards.
 */
#include "tests/check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int cuModuleLoadData(void **, const void *);
int cuModuleUnload(void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		   void *, void **, void **);
int cuCtxGetCurrent(void **);
int cudaFree(void *);
int cudaMalloc(void **, size_t);
int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
int cudaMemsetAsync(void *, int, size_t, void *);
int cudaStreamCreate(void **);
int cudaStreamDestroy(void *);
int cudaStreamSynchronize(void *);
int cudaStreamWaitEvent(void *, void *, unsigned);
int cudaEventCreate(void **);
int cudaEventRecord(void *, void *);
int cudaEventDestroy(void *);
int cudaEventSynchronize(void *);
int cudaSetDevice(int);
int cudaGetDevice(int *);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);
int cudaLaunchHostFunc(void *, void (*)(void *), void *);
int cudaCreateTextureObject(uint64_t *, const void *, const void *, const void *);
int cudaDestroyTextureObject(uint64_t);
int cudaGetSymbolAddress(void **, const void *);
int cudaLaunchKernel(const void *, uint64_t, uint32_t, uint64_t, uint32_t, void **, size_t, void *);
void **__cudaRegisterFatBinary(const void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const void *, char *, const char *, int, void *, void *,
			    void *, void *, int *);
void __cudaRegisterVar(void **, void *, char *, const char *, int, size_t, int, int);

enum {
	THREADS = 16,
	TURNS = 12,
	WORDS = 256,
	INVALID_DEVICE = 101,
	INVALID_SYMBOL = 13,
	TO_HOST = 2
};

#define KERNEL(name)                                                                               \
	".visible .entry " name "(.param .u64 to, .param .u32 x) {\n"                              \
	" .reg .u64 %t, %o; .reg .u32 %x, %i; ld.param.u64 %t, [to]; ld.param.u32 %x, [x];\n"      \
	" mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4; add.u64 %t, %t, %o; add.u32 %x, %x, %i;\n"   \
	" st.global.u32 [%t], %x; ret;\n}\n"
#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

static const char text[] = HEAD ".visible .global .u32 shared_word;\n" KERNEL("fill");
static const char other_text[] = HEAD ".visible .global .u32 word;\n" KERNEL("other");

static uint32_t shadow;
static char library_path[4096];
static unsigned failures, host_calls;

static void fill(void)
{
}

static bool fails(int number, const char *what)
{
	printf("# thread %d: %s\n", number, what);
	__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
	return false;
}

static bool is_filled(const uint32_t *got, uint32_t x)
{
	for (uint32_t i = 0; i < WORDS; i++)
		if (got[i] != x + i)
			return false;
	return true;
}

/* ---- what threads do, a turn each ---- */

/* A library of this thread's own, loaded and unloaded. */
static bool load_library(int number, int turn, void *stream)
{
	uint32_t (*run)(uint32_t, void *);
	char path[4200], command[9000];
	void *h;
	bool ok;

	snprintf(path, sizeof(path), "/tmp/ptxloom-threads-%d-%d.so", getpid(), number);
	if (!turn) {
		snprintf(command, sizeof(command), "cp '%s' '%s'", library_path, path);
		if (system(command))
			return fails(number, "no library");
	}
	h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!h)
		return fails(number, dlerror());
	*(void **)&run = dlsym(h, "library_run");
	ok = run && run((uint32_t)turn + 1, stream) == 64 * ((uint32_t)turn + 1) &&
	     run(1, stream) == 64 * ((uint32_t)turn + 2);
	dlclose(h);
	if (turn == TURNS - 1)
		unlink(path);
	return ok || fails(number, "a library's kernel");
}

/* An image that is registered and forgotten by hand. */
static bool register_image(int number, int turn, void *stream)
{
	static uint32_t shadows[THREADS];
	void **image = __cudaRegisterFatBinary(other_text), *p, *memory, *params[2];
	uint32_t x = (uint32_t)turn, got[WORDS];
	const void *stub = (const char *)(uintptr_t)fill + 1 + number;
	bool ok;

	params[0] = &memory;
	params[1] = &x;
	__cudaRegisterFunction(image, stub, NULL, "other", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterVar(image, &shadows[number], NULL, "word", 0, 4, 0, 0);
	__cudaRegisterFatBinaryEnd(image);
	ok = !cudaMalloc(&memory, sizeof(got)) && !cudaGetSymbolAddress(&p, &shadows[number]) &&
	     !cudaLaunchKernel(stub, 1ull << 32 | 1, 1, 1ull << 32 | WORDS, 1, params, 0, stream) &&
	     !cudaMemcpyAsync(got, memory, sizeof(got), TO_HOST, stream) &&
	     !cudaStreamSynchronize(stream) && is_filled(got, x) && !cudaFree(memory);
	__cudaUnregisterFatBinary(image);
	return (ok && cudaGetSymbolAddress(&p, &shadows[number]) == INVALID_SYMBOL) ||
	       fails(number, "an image that is registered");
}

static bool load_module(int number, int turn, void *stream)
{
	void *module, *kernel, *memory, *params[2];
	uint32_t x = (uint32_t)turn, got[WORDS];

	params[0] = &memory;
	params[1] = &x;
	return (!cudaMalloc(&memory, sizeof(got)) && !cuModuleLoadData(&module, other_text) &&
		!cuModuleGetFunction(&kernel, module, "other") &&
		!cuLaunchKernel(kernel, 1, 1, 1, WORDS, 1, 1, 0, stream, params, NULL) &&
		!cudaMemcpyAsync(got, memory, sizeof(got), TO_HOST, stream) &&
		!cudaStreamSynchronize(stream) && is_filled(got, x) && !cuModuleUnload(module) &&
		!cudaFree(memory)) ||
	       fails(number, "a module");
}

static void count_call(void *user)
{
	__atomic_fetch_add((unsigned *)user, 1, __ATOMIC_RELAXED);
}

/*
 * The program's own kernel, twice, with a fill between that an event orders, and a host function
 * behind.
 */
static bool use_streams(int number, int turn, void *stream)
{
	void *other, *event, *memory, *params[2], *stub = (void *)(uintptr_t)fill;
	uint32_t x = (uint32_t)(number + turn), got[WORDS];

	params[0] = &memory;
	params[1] = &x;
	return (!cudaMalloc(&memory, sizeof(got)) && !cudaStreamCreate(&other) &&
		!cudaEventCreate(&event) &&
		!cudaLaunchKernel(stub, 1ull << 32 | 1, 1, 1ull << 32 | WORDS, 1, params, 0,
				  other) &&
		!cudaMemsetAsync(memory, 0xff, sizeof(got), other) &&
		!cudaEventRecord(event, other) && !cudaStreamWaitEvent(stream, event, 0) &&
		!cudaEventDestroy(event) &&
		!cudaLaunchKernel(stub, 1ull << 32 | 1, 1, 1ull << 32 | WORDS, 1, params, 0,
				  stream) &&
		!cudaMemcpyAsync(got, memory, sizeof(got), TO_HOST, stream) &&
		!cudaLaunchHostFunc(stream, count_call, &host_calls) && !cudaStreamDestroy(other) &&
		!cudaStreamSynchronize(stream) && is_filled(got, x) && !cudaFree(memory)) ||
	       fails(number, "streams");
}

static bool make_errors(int number, int turn, void *stream)
{
	int device = -1;
	void *p, *unknown = (char *)&shadow + 1;

	(void)turn, (void)stream;
	return (!cudaGetLastError() && cudaSetDevice(1000) == INVALID_DEVICE &&
		cudaPeekAtLastError() == INVALID_DEVICE && !cudaGetDevice(&device) && device == 0 &&
		cudaGetSymbolAddress(&p, unknown) == INVALID_SYMBOL &&
		!cudaGetSymbolAddress(&p, &shadow) && cudaGetLastError() == INVALID_SYMBOL &&
		!cudaGetLastError()) ||
	       fails(number, "errors");
}

static bool make_textures(int number, int turn, void *stream)
{
	struct {
		int kind;
		union {
			struct {
				void *at;
				int bits[4], kind;
				size_t bytes;
			} linear;
			int all[34];
		} is;
	} r = {.kind = 2};
	int settings[18] = {0};
	uint64_t t = 0;
	void *memory;

	(void)turn;
	if (cudaMalloc(&memory, 4096))
		return fails(number, "memory");
	r.is.linear.at = memory;
	r.is.linear.bits[0] = 32;
	r.is.linear.bytes = 4096;
	return (!cudaMemsetAsync(memory, 0, 4096, stream) &&
		!cudaCreateTextureObject(&t, &r, settings, NULL) && !cudaDestroyTextureObject(t) &&
		!cudaFree(memory)) ||
	       fails(number, "textures");
}

typedef bool turn_fn(int number, int turn, void *stream);
static turn_fn *const turns[] = {load_library, use_streams, register_image, load_module,
				 make_errors,  use_streams, make_textures,  load_library};

static void *work(void *user)
{
	int number = (int)(intptr_t)user;
	turn_fn *mine = turns[(size_t)number % (sizeof(turns) / sizeof(*turns))];
	void *stream;

	if (cudaSetDevice(0) || cudaStreamCreate(&stream)) {
		fails(number, "no stream");
		return NULL;
	}
	for (int i = 0; i < TURNS && mine(number, i, stream); i++)
		;
	if (cudaStreamDestroy(stream))
		fails(number, "a stream");
	return NULL;
}

/* Beside the test: build/tests/api/.libs/library.so. */
static void find_library(void)
{
	ssize_t n = readlink("/proc/self/exe", library_path, sizeof(library_path) - 64);
	char *slash;

	library_path[n > 0 ? n : 0] = 0;
	slash = strrchr(library_path, '/');
	/* libtool may have put the program into .libs itself. */
	if (slash)
		strcpy(slash, slash - library_path >= 6 && !memcmp(slash - 6, "/.libs", 6)
				      ? "/library.so"
				      : "/.libs/library.so");
}

int main(void)
{
	void **image = __cudaRegisterFatBinary(text);
	pthread_t threads[THREADS];
	int started = 0;

	__cudaRegisterFunction(image, (void *)(uintptr_t)fill, NULL, "fill", -1, NULL, NULL, NULL,
			       NULL, NULL);
	__cudaRegisterVar(image, &shadow, NULL, "shared_word", 0, 4, 0, 0);
	__cudaRegisterFatBinaryEnd(image);
	find_library();
	while (started < THREADS &&
	       !pthread_create(&threads[started], NULL, work, (void *)(intptr_t)started))
		started++;
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(started, THREADS);
	CHECK_EQ(failures, 0);
	CHECK_EQ(host_calls, 4 * TURNS);
	__cudaUnregisterFatBinary(image);
	return check_done();
}
