/*
 * What is destroyed while a kernel that uses it is queued: the kernel still runs as if it were
 * there. A host function holds the kernel back; a caller that waits inside a destroying call is
 * released by a timer.
 */
#include "tests/check.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>

int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxSetCurrent(void *);
int cuModuleLoadData(void **, const void *);
int cuModuleUnload(void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
int cuLibraryUnload(void *);
int cuLibraryGetKernel(void **, void *, const char *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		   void *, void **, void **);
int cuLaunchHostFunc(void *, void (*)(void *), void *);
int cuStreamCreate(void **, unsigned);
int cuStreamDestroy_v2(void *);
int cuStreamSynchronize(void *);
int cuStreamWaitEvent(void *, void *, unsigned);
int cuStreamBeginCapture_v2(void *, int);
int cuStreamEndCapture(void *, void **);
int cuEventCreate(void **, unsigned);
int cuEventRecord(void *, void *);
int cuEventDestroy_v2(void *);
int cuGraphInstantiateWithFlags(void **, void *, unsigned long long);
int cuGraphLaunch(void *, void *);
int cuGraphDestroy(void *);
int cuGraphExecDestroy(void *);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuMemFree_v2(uint64_t);
int cuMemAllocHost_v2(void **, size_t);
int cuMemFreeHost(void *);
int cuMemcpyHtoD_v2(uint64_t, const void *, size_t);
int cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, void *);
int cuMemcpyHtoA_v2(void *, size_t, const void *, size_t);
int cuMemPoolCreate(void **, const void *);
int cuMemPoolDestroy(void *);
int cuMemAllocFromPoolAsync(uint64_t *, size_t, void *, void *);
int cuMemFreeAsync(uint64_t, void *);
int cuArray3DCreate_v2(void **, const void *);
int cuArrayDestroy(void *);
int cuMipmappedArrayCreate(void **, const void *, unsigned);
int cuMipmappedArrayGetLevel(void **, void *, unsigned);
int cuMipmappedArrayDestroy(void *);
int cuTexObjectCreate(uint64_t *, const void *, const void *, const void *);
int cuTexObjectDestroy(uint64_t);
int cuTexObjectGetResourceDesc(void *, uint64_t);
int cuSurfObjectCreate(uint64_t *, const void *);
int cuSurfObjectDestroy(uint64_t);

enum { U32 = 3, SURFACE = 2, ARRAY = 0, MIPMAP = 1, POINT = 0, AS_INTEGER = 1, NON_BLOCKING = 1 };

struct array_desc {
	size_t width, height, depth;
	int format;
	unsigned channels, flags;
};

struct resource {
	int kind;
	union {
		void *handle;
		int reserved[32];
	} at;
	unsigned flags;
};

struct sampling {
	int address[3], filter;
	unsigned flags, anisotropy;
	int mip_filter;
	float rest[7];
	int reserved[12];
};

#define ENTRY(name, body)                                                                          \
	".visible .entry " name "(.param .u64 from, .param .u64 to) {\n"                           \
	" .reg .u64 %f, %t; .reg .u32 %a, %b, %c, %d, %z;\n"                                       \
	" ld.param.u64 %f, [from]; ld.param.u64 %t, [to]; mov.u32 %z, 0;\n" body                   \
	" st.global.u32 [%t], %a; ret;\n}\n"

static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n" ENTRY(
	"fetch", " tex.2d.v4.u32.s32 {%a, %b, %c, %d}, [%f, {%z, %z}];\n")
	ENTRY("surface", " suld.b.2d.b32.zero %a, [%f, {%z, %z}];\n")
		ENTRY("load", " ld.global.u32 %a, [%f];\n");

static void *stream, *fetch, *surface, *load;
static uint64_t out;
static uint32_t *seen;

/* ---- holding the kernel back ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static bool is_open;

static void gate(void *user)
{
	(void)user;
	pthread_mutex_lock(&lock);
	while (!is_open)
		pthread_cond_wait(&opened, &lock);
	pthread_mutex_unlock(&lock);
}

static void open_gate(void)
{
	pthread_mutex_lock(&lock);
	is_open = true;
	pthread_cond_broadcast(&opened);
	pthread_mutex_unlock(&lock);
}

static void *open_later(void *user)
{
	nanosleep(&(struct timespec){0, 30000000}, NULL);
	open_gate();
	return user;
}

/* Queue `kernel`, which reads a word by `from`, behind the gate, and the copy of what it found. */
static bool queue(void *kernel, uint64_t from)
{
	void *params[] = {&from, &out};

	is_open = false;
	*seen = 0;
	return !cuLaunchHostFunc(stream, gate, NULL) &&
	       !cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL) &&
	       !cuMemcpyDtoHAsync_v2(seen, out, 4, stream);
}

/* The work ends well, and the kernel has found `want`. */
static bool ends_with(uint32_t want)
{
	open_gate();
	return !cuStreamSynchronize(stream) && *seen == want;
}

/* Destroys something with the gate closed for another 30 ms, as calls may wait. */
static int while_held(int (*destroy)(void *), void *what)
{
	pthread_t timer;
	int status;

	if (pthread_create(&timer, NULL, open_later, NULL))
		return -1;
	status = destroy(what);
	pthread_join(timer, NULL);
	return status;
}

/* ---- textures, surfaces, arrays ---- */

static void *make_array(uint32_t value)
{
	void *a = NULL;

	if (cuArray3DCreate_v2(&a, &(struct array_desc){1, 1, 0, U32, 1, SURFACE}) ||
	    cuMemcpyHtoA_v2(a, 0, &value, 4))
		return NULL;
	return a;
}

static uint64_t make_texture(int kind, void *handle)
{
	struct resource r = {.kind = kind, .at.handle = handle};
	struct sampling s = {.filter = POINT, .flags = AS_INTEGER};
	uint64_t t = 0;

	return cuTexObjectCreate(&t, &r, &s, NULL) ? 0 : t;
}

static uint64_t make_surface(void *array)
{
	struct resource r = {.kind = ARRAY, .at.handle = array};
	uint64_t s = 0;

	return cuSurfObjectCreate(&s, &r) ? 0 : s;
}

static void test_texture(void)
{
	void *first = make_array(11), *second = make_array(12);
	uint64_t t = make_texture(ARRAY, first), next;
	struct resource r;

	CHECK_MSG(first && second && t && queue(fetch, t), "a fetch is queued");
	CHECK_MSG(!cuTexObjectDestroy(t), "its texture object is destroyed");
	CHECK_MSG(cuTexObjectGetResourceDesc(&r, t), "and no longer one");
	next = make_texture(ARRAY, second);
	CHECK_MSG(next && next != t, "another one is another one");
	CHECK_MSG(ends_with(11), "the fetch has read it");
	CHECK_MSG(queue(fetch, next) && ends_with(12), "the other one is read, too");
	CHECK_MSG(!cuTexObjectDestroy(next), "destroyed with nothing to do");
	t = make_texture(ARRAY, first);
	CHECK_MSG(t && queue(fetch, t) && !cuTexObjectDestroy(t) &&
			  !while_held(cuArrayDestroy, first) && ends_with(11),
		  "a texture object and then its array");
	cuArrayDestroy(second);
}

/* Slots come back: more objects than there are at a time. */
static void test_many_textures(void)
{
	void *array = make_array(13);
	bool ok = array != NULL;

	for (int i = 0; i < 70000 && ok; i++) {
		uint64_t t = make_texture(ARRAY, array);

		ok = t && (i % 1000 || (queue(fetch, t) && ends_with(13))) &&
		     !cuTexObjectDestroy(t);
	}
	CHECK_MSG(ok, "70,000 texture objects one after the other");
	cuArrayDestroy(array);
}

static void test_surface(void)
{
	void *array = make_array(21);
	uint64_t s = make_surface(array);

	CHECK_MSG(s && queue(surface, s) && !cuSurfObjectDestroy(s) && ends_with(21),
		  "a surface object");
	s = make_surface(array);
	CHECK_MSG(s && queue(surface, s) && !while_held(cuArrayDestroy, array) && ends_with(21),
		  "the array under a surface object");
	cuSurfObjectDestroy(s);
}

static void test_mipmap(void)
{
	void *m, *level;
	uint32_t value = 31;
	uint64_t t;

	if (!CHECK_MSG(!cuMipmappedArrayCreate(&m, &(struct array_desc){1, 1, 0, U32, 1, 0}, 1) &&
			       !cuMipmappedArrayGetLevel(&level, m, 0) &&
			       !cuMemcpyHtoA_v2(level, 0, &value, 4),
		       "a mipmapped array"))
		return;
	t = make_texture(MIPMAP, m);
	CHECK_MSG(t && queue(fetch, t) && !cuTexObjectDestroy(t) &&
			  !while_held(cuMipmappedArrayDestroy, m) && ends_with(31),
		  "a mipmapped array and its texture object");
}

/* ---- memory ---- */

static uint64_t make_word(uint32_t value)
{
	uint64_t p = 0;

	return cuMemAlloc_v2(&p, 4) || cuMemcpyHtoD_v2(p, &value, 4) ? 0 : p;
}

static int free_device(void *p)
{
	return cuMemFree_v2((uint64_t)(uintptr_t)p);
}

static void test_memory(void)
{
	uint64_t p = make_word(41), pooled = 0;
	struct {
		int alloc_type, handle_types;
		struct {
			int type, id;
		} location;
		void *security;
		unsigned char reserved[64];
	} props = {.alloc_type = 1, .location = {1, 0}};
	uint32_t *host, value = 43;
	void *pool;

	CHECK_MSG(p && queue(load, p) && !while_held(free_device, (void *)p) && ends_with(41),
		  "device memory");
	CHECK_MSG(!cuMemAllocHost_v2((void **)&host, 4), "host memory");
	*host = 42;
	CHECK_MSG(queue(load, (uint64_t)(uintptr_t)host) && !while_held(cuMemFreeHost, host) &&
			  ends_with(42),
		  "memory of the host");
	CHECK_MSG(!cuMemPoolCreate(&pool, &props) &&
			  !cuMemAllocFromPoolAsync(&pooled, 4, pool, stream) &&
			  !cuStreamSynchronize(stream) && !cuMemcpyHtoD_v2(pooled, &value, 4),
		  "memory of a pool");
	CHECK_MSG(queue(load, pooled) && !cuMemFreeAsync(pooled, stream) &&
			  !cuMemPoolDestroy(pool) && ends_with(43),
		  "a pool and its memory");
}

/* ---- code ---- */

static void test_code(void)
{
	uint64_t p = make_word(51);
	void *module, *library, *kernel = NULL;

	CHECK_MSG(!cuModuleLoadData(&module, text) && !cuModuleGetFunction(&kernel, module, "load"),
		  "another module");
	CHECK_MSG(queue(kernel, p) && !while_held(cuModuleUnload, module) && ends_with(51),
		  "a module");
	CHECK_MSG(!cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0) &&
			  !cuLibraryGetKernel(&kernel, library, "load"),
		  "a library is loaded");
	CHECK_MSG(queue(kernel, p) && !while_held(cuLibraryUnload, library) && ends_with(51),
		  "a library");
	cuMemFree_v2(p);
}

/* ---- streams, events, graphs ---- */

static void test_order(void)
{
	uint64_t p = make_word(61);
	void *main_stream = stream, *other, *event, *graph, *exec = NULL, *params[] = {&p, &out};

	CHECK_MSG(!cuStreamCreate(&other, NON_BLOCKING) && !cuEventCreate(&event, 0),
		  "a stream and an event");
	stream = other;
	CHECK_MSG(queue(load, p) && !cuEventRecord(event, other) && !cuStreamDestroy_v2(other) &&
			  !cuStreamWaitEvent(main_stream, event, 0) && !cuEventDestroy_v2(event),
		  "a stream is destroyed, and the event that another one waits for");
	stream = main_stream;
	CHECK_MSG(ends_with(61), "the work of the stream runs, and the other one has waited");
	CHECK_MSG(!cuStreamBeginCapture_v2(stream, 0) && !cuLaunchHostFunc(stream, gate, NULL) &&
			  !cuLaunchKernel(load, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL) &&
			  !cuStreamEndCapture(stream, &graph) &&
			  !cuGraphInstantiateWithFlags(&exec, graph, 0),
		  "a graph");
	is_open = false;
	*seen = 0;
	CHECK_MSG(!cuGraphLaunch(exec, stream) && !cuMemcpyDtoHAsync_v2(seen, out, 4, stream) &&
			  !cuGraphExecDestroy(exec) && !cuGraphDestroy(graph) && ends_with(61),
		  "a graph is destroyed while it runs");
	cuMemFree_v2(p);
}

int main(void)
{
	void *context, *module;

	CHECK_MSG(!cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) &&
			  !cuCtxSetCurrent(context) && !cuModuleLoadData(&module, text) &&
			  !cuModuleGetFunction(&fetch, module, "fetch") &&
			  !cuModuleGetFunction(&surface, module, "surface") &&
			  !cuModuleGetFunction(&load, module, "load") &&
			  !cuStreamCreate(&stream, NON_BLOCKING) && !cuMemAlloc_v2(&out, 4) &&
			  !cuMemAllocHost_v2((void **)&seen, 4),
		  "a device, its kernels, a stream");
	if (check_failed)
		return check_done();
	test_texture();
	test_many_textures();
	test_surface();
	test_mipmap();
	test_memory();
	test_code();
	test_order();
	return check_done();
}
