/*
 * Which error do common mistakes get? The answers are those of an H200 with driver 580 and CUDA
 * 13.0, except where a line says otherwise. Each case is a process of its own.
 */
#include "src/base/leave.h"
#include "tests/check.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
	unsigned x, y, z;
} dim3_t;

struct pointer_attributes {
	int type, device;
	void *device_pointer, *host_pointer;
	long reserved[8];
};

/* ---- the functions that are used, by name ---- */

static void *libraries[2];

static void *function(const char *name)
{
	void *f = dlsym(libraries[0], name);

	f = f ? f : dlsym(libraries[1], name);
	if (!f) {
		printf("# no function %s\n", name);
		leave(3);
	}
	return f;
}

#define CALL(ret, name, params, ...) (((ret(*) params)function(#name))(__VA_ARGS__))
#define cudaMalloc(p, n) CALL(int, cudaMalloc, (void *, size_t), p, n)
#define cudaFree(p) CALL(int, cudaFree, (void *), p)
#define cudaGetLastError() CALL(int, cudaGetLastError, (void), )
#define cudaDeviceSynchronize() CALL(int, cudaDeviceSynchronize, (void), )
#define cudaMemcpy(d, s, n, k)                                                                     \
	CALL(int, cudaMemcpy, (void *, const void *, size_t, int), d, s, n, k)
#define cudaEventCreate(e) CALL(int, cudaEventCreate, (void *), e)
#define cudaPointerGetAttributes(a, p)                                                             \
	CALL(int, cudaPointerGetAttributes, (void *, const void *), a, p)
#define cuModuleLoadData(m, p) CALL(int, cuModuleLoadData, (void *, const char *), m, p)
#define cuLaunch(f, gx, bx, sh)                                                                    \
	CALL(int, cuLaunchKernel,                                                                  \
	     (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,        \
	      void *, void *, void *),                                                             \
	     f, gx, 1, 1, bx, 1, 1, sh, NULL, NULL, NULL)

/* ---- what a case says ---- */

static char *said;
static int *memory; /* 4096 bytes of the device */

static void say(const char *name, long value)
{
	sprintf(said + strlen(said), "%s%s=%ld", *said ? " " : "", name, value);
}

static const char kernels[] =
	".version 7.0\n.target sm_60\n.address_size 64\n"
	".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "
	".param .b64 e);\n"
	".global .align 1 .b8 text[6] = {118, 61, 61, 49, 0, 0};\n"
	".extern .shared .align 4 .b8 dynamic[];\n"
	/* mode, address, number */
	".visible .entry bad(.param .u32 mode, .param .u64 p, .param .u32 n) {\n"
	"	.reg .u32 %m, %n, %v; .reg .u64 %p, %t; .reg .pred %q; .shared .align 16 .b8 s[64];\n"
	"	ld.param.u32 %m, [mode]; ld.param.u64 %p, [p]; ld.param.u32 %n, [n];\n"
	"	setp.eq.u32 %q, %m, 0; @!%q bra L1; st.volatile.global.u32 [%p], %n; ret;\n"
	"L1:	setp.eq.u32 %q, %m, 1; @!%q bra L2; mov.u32 %v, s; add.u32 %v, %v, %n; "
	"st.volatile.shared.u32 [%v], %n; ret;\n"
	"L2:	setp.eq.u32 %q, %m, 2; @!%q bra L3; trap;\n"
	"L3:	setp.eq.u32 %q, %m, 3; @!%q bra L4; brkpt; ret;\n"
	"L4:	setp.eq.u32 %q, %m, 4; @!%q bra L5; mov.u64 %t, text; cvta.global.u64 %t, %t;\n"
	"	{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
	"	st.param.b64 [a], %t; st.param.b64 [b], %t; st.param.b32 [c], 1; "
	"st.param.b64 [d], %t; st.param.b64 [e], 1;\n"
	"	call.uni __assertfail, (a, b, c, d, e); }\n"
	"L5:	setp.eq.u32 %q, %m, 5; @!%q bra L6; div.u32 %v, 7, %n; "
	"st.volatile.global.u32 [%p], %v; ret;\n"
	"L6:	atom.global.cas.b32 %v, [%p], 0, 1; ret;\n"
	"}\n"
	".func (.param .u32 r) deep(.param .u32 n) {\n"
	"	.reg .u32 %n, %r; .reg .pred %q; .reg .u64 %a; .local .b8 frame[4096];\n"
	"	ld.param.u32 %n, [n]; mov.u64 %a, frame; st.local.u32 [%a], %n;\n"
	"	setp.eq.u32 %q, %n, 0; @%q bra OUT; sub.u32 %n, %n, 1;\n"
	"	{ .param .u32 x; .param .u32 y; st.param.u32 [x], %n; call.uni (y), deep, (x); "
	"ld.param.u32 %n, [y]; }\n"
	"	ld.local.u32 %r, [%a]; add.u32 %n, %n, %r;\n"
	"OUT:	st.param.u32 [r], %n; ret;\n"
	"}\n"
	".visible .entry recurse(.param .u64 p, .param .u32 n) {\n"
	"	.reg .u32 %n; .reg .u64 %p; ld.param.u32 %n, [n]; ld.param.u64 %p, [p];\n"
	"	{ .param .u32 x; .param .u32 y; st.param.u32 [x], %n; call.uni (y), deep, (x); "
	"ld.param.u32 %n, [y]; }\n"
	"	st.global.u32 [%p], %n; ret;\n"
	"}\n"
	".visible .entry bounded() .maxntid 64, 1, 1 { ret; }\n"
	".visible .entry dyn() { .reg .u32 %r; mov.u32 %r, dynamic; st.shared.u32 [%r], %r; ret; }\n";

static void *kernel(const char *name)
{
	static void *library;
	void *k = NULL;

	if (!library)
		CALL(int, cudaLibraryLoadData,
		     (void *, const void *, void *, void *, unsigned, void *, void *, unsigned),
		     &library, kernels, NULL, NULL, 0, NULL, NULL, 0);
	CALL(int, cudaLibraryGetKernel, (void *, void *, const char *), &k, library, name);
	return k;
}

static int launch(const char *name, dim3_t grid, dim3_t block, size_t shared, void *stream,
		  void **args)
{
	return CALL(int, cudaLaunchKernel, (const void *, dim3_t, dim3_t, void **, size_t, void *),
		    kernel(name), grid, block, args, shared, stream);
}

static void aftermath(void)
{
	void *q;

	say("last", cudaGetLastError());
	say("sync", cudaDeviceSynchronize());
	say("last2", cudaGetLastError());
	say("last3", cudaGetLastError());
	say("malloc", cudaMalloc(&q, 4));
}

static void bad(int mode, uint64_t p, int n)
{
	void *args[] = {&mode, &p, &n};

	launch("bad", (dim3_t){1, 1, 1}, (dim3_t){1, 1, 1}, 0, NULL, args);
	aftermath();
}

static void shape(const char *name, dim3_t grid, dim3_t block, size_t shared, void *stream)
{
	int mode = 5, n = 1;
	void *args[] = {&mode, &memory, &n};

	launch(name, grid, block, shared, stream, args);
	aftermath();
}

#define ONE ((dim3_t){1, 1, 1})
#define AT(offset) ((uint64_t)(uintptr_t)memory + (offset))

/* ---- kernels and launches ---- */

static void kernel_oob(void)
{
	bad(0, AT(4ull << 40), 1);
}

static void kernel_null(void)
{
	bad(0, 0, 1);
}

static void kernel_misaligned(void)
{
	bad(0, AT(1), 1);
}

static void shared_oob_near(void)
{
	bad(1, 0, 400);
}

static void shared_oob_far(void)
{
	bad(1, 0, 4 << 20);
}

static void shared_misaligned(void)
{
	bad(1, 0, 2);
}

static void kernel_trap(void)
{
	bad(2, 0, 0);
}

static void kernel_brkpt(void)
{
	bad(3, 0, 0);
}

static void kernel_assert(void)
{
	bad(4, 0, 0);
}

static void kernel_divide(void)
{
	bad(5, AT(0), 0);
}

static void kernel_atomic(void)
{
	bad(6, AT(2), 0);
}

static void stack_overflow(void)
{
	int n = 100000;
	void *args[] = {&memory, &n};

	launch("recurse", ONE, ONE, 0, NULL, args);
	aftermath();
}

static void use_after_free(void)
{
	void *q = NULL;

	cudaMalloc(&q, 64 << 20);
	cudaFree(q);
	bad(0, (uint64_t)(uintptr_t)q, 1);
}

static void block_2048(void)
{
	shape("bad", ONE, (dim3_t){2048, 1, 1}, 0, NULL);
}

static void block_z_65(void)
{
	shape("bad", ONE, (dim3_t){1, 1, 65}, 0, NULL);
}

static void grid_0(void)
{
	shape("bad", (dim3_t){0, 1, 1}, ONE, 0, NULL);
}

static void block_0(void)
{
	shape("bad", ONE, (dim3_t){0, 1, 1}, 0, NULL);
}

static void grid_y_65536(void)
{
	shape("bad", (dim3_t){1, 65536, 1}, ONE, 0, NULL);
}

static void dynamic_49153(void)
{
	shape("dyn", ONE, ONE, 49153, NULL);
}

static void dynamic_300000(void)
{
	shape("dyn", ONE, ONE, 300000, NULL);
}

static void bounds_64(void)
{
	shape("bounded", ONE, (dim3_t){128, 1, 1}, 0, NULL);
}

static void bad_stream(void)
{
	shape("bad", ONE, ONE, 0, (void *)0x1234);
}

static void attribute_too_big(void)
{
	say("set",
	    CALL(int, cudaFuncSetAttribute, (const void *, int, int), kernel("dyn"), 8, 232449));
	say("last", cudaGetLastError());
}

/* ---- memory ---- */

static void malloc_0(void)
{
	void *q = (void *)1;

	say("e", cudaMalloc(&q, 0));
	say("null", q == NULL);
}

static void malloc_huge(void)
{
	void *q;

	say("e", cudaMalloc(&q, (size_t)1 << 45));
	say("last", cudaGetLastError());
	say("last2", cudaGetLastError());
}

static void malloc_null(void)
{
	say("e", cudaMalloc(NULL, 4));
}

static void free_null(void)
{
	say("e", cudaFree(NULL));
}

static void free_twice(void)
{
	void *q = NULL;

	cudaMalloc(&q, 64);
	say("a", cudaFree(q));
	say("b", cudaFree(q));
	say("last", cudaGetLastError());
}

static void free_interior(void)
{
	say("e", cudaFree(memory + 1));
}

static void free_host(void)
{
	int x;

	say("e", cudaFree(&x));
}

static void memcpy_null(void)
{
	say("e", cudaMemcpy(NULL, memory, 4, 3));
}

static void memcpy_past_end(void)
{
	static char h[1 << 22];
	void *q = NULL;

	cudaMalloc(&q, 512);
	say("e", cudaMemcpy(q, h, sizeof(h), 1));
}

static void memcpy_bad_kind(void)
{
	say("e", cudaMemcpy(memory, memory, 4, 9));
}

static void memcpy_wrong(void)
{
	int h = 0;

	say("e", cudaMemcpy(&h, memory, 4, 1));
}

static void memcpy_default(void)
{
	int h = 0;

	say("e", cudaMemcpy(&h, memory, 4, 4));
}

static void memcpy_zero(void)
{
	say("e", cudaMemcpy(NULL, NULL, 0, 1));
}

static void memset_null(void)
{
	say("e", CALL(int, cudaMemset, (void *, int, size_t), NULL, 0, 4));
}

static void pointer(const void *p)
{
	struct pointer_attributes a;

	memset(&a, 0x55, sizeof(a));
	say("e", cudaPointerGetAttributes(&a, p));
	say("type", a.type);
	if (a.type)
		say("same", a.device_pointer == p);
}

static void pointer_host(void)
{
	int x = 0;

	pointer(&x);
}

static void pointer_device(void)
{
	pointer(memory);
}

static void pointer_pinned(void)
{
	void *h = NULL;

	CALL(int, cudaMallocHost, (void *, size_t), &h, 64);
	pointer(h);
}

static void pointer_managed(void)
{
	void *h = NULL;

	CALL(int, cudaMallocManaged, (void *, size_t, unsigned), &h, 64, 1);
	pointer(h);
}

static void register_twice(void)
{
	static char b[8192];

	say("a", CALL(int, cudaHostRegister, (void *, size_t, unsigned), b, 8192, 0));
	say("b", CALL(int, cudaHostRegister, (void *, size_t, unsigned), b, 8192, 0));
	say("c", CALL(int, cudaHostUnregister, (void *), b));
	say("d", CALL(int, cudaHostUnregister, (void *), b));
}

/* ---- devices, events, streams ---- */

static void set_device_9(void)
{
	say("e", CALL(int, cudaSetDevice, (int), 9));
	say("last", cudaGetLastError());
}

static void properties_9(void)
{
	static char p[4096];

	say("e", CALL(int, cudaGetDeviceProperties, (void *, int), p, 9));
}

static void event_elapsed(void)
{
	void *a = NULL, *b = NULL;
	float t;

	cudaEventCreate(&a);
	cudaEventCreate(&b);
	say("e", CALL(int, cudaEventElapsedTime, (float *, void *, void *), &t, a, b));
}

static void event_query(void)
{
	void *a = NULL;

	cudaEventCreate(&a);
	say("e", CALL(int, cudaEventQuery, (void *), a));
}

static void event_destroy(void)
{
	void *a = NULL;

	cudaEventCreate(&a);
	say("a", CALL(int, cudaEventDestroy, (void *), a));
}

static void stream_destroy(void)
{
	say("e", CALL(int, cudaStreamDestroy, (void *), NULL));
}

static void peer_self(void)
{
	int can = 9;

	say("e", CALL(int, cudaDeviceCanAccessPeer, (int *, int, int), &can, 0, 0));
	say("can", can);
	say("enable", CALL(int, cudaDeviceEnablePeerAccess, (int, unsigned), 0, 0));
}

/* ---- the driver interface ---- */

#define EMPTY(version, target)                                                                     \
	".version " version "\n.target " target "\n.address_size 64\n.visible .entry a() { ret; }\n"

static void drv_device_7(void)
{
	int x;

	say("e", CALL(int, cuDeviceGet, (int *, int), &x, 7));
}

static void drv_missing(void)
{
	void *m = NULL, *f;
	uint64_t q;
	size_t z;

	say("load", cuModuleLoadData(&m, EMPTY("8.0", "sm_50")));
	say("e", CALL(int, cuModuleGetFunction, (void *, void *, const char *), &f, m, "nosuch"));
	say("g", CALL(int, cuModuleGetGlobal_v2, (void *, void *, void *, const char *), &q, &z, m,
		      "nosuch"));
}

static void drv_garbage(void)
{
	void *m;

	say("e", cuModuleLoadData(&m, "hello, this is no module at all"));
}

static void drv_bad_ptx(void)
{
	void *m;

	say("e", cuModuleLoadData(&m, ".version 8.0\n.target sm_50\n.address_size 64\n"
				      ".visible .entry a() { frob.u32 %r1; }\n"));
}

static void drv_newer_target(void)
{
	void *m;

	say("e", cuModuleLoadData(&m, EMPTY("8.7", "sm_100")));
}

static void drv_newer_version(void)
{
	void *m;

	say("e", cuModuleLoadData(&m, EMPTY("12.0", "sm_90")));
}

static void drv_launch(void)
{
	void *m = NULL, *f = NULL;

	cuModuleLoadData(&m, EMPTY("8.0", "sm_50"));
	CALL(int, cuModuleGetFunction, (void *, void *, const char *), &f, m, "a");
	say("block", cuLaunch(f, 1, 2048, 0));
	say("grid", cuLaunch(f, 0, 1, 0));
	say("shared", cuLaunch(f, 1, 1, 60000));
	say("ok", cuLaunch(f, 1, 1, 0));
	say("null", cuLaunch(NULL, 1, 1, 0));
}

static void drv_free(void)
{
	say("e", CALL(int, cuMemFree_v2, (uint64_t), 12345));
	say("z", CALL(int, cuMemFree_v2, (uint64_t), 0));
}

static void drv_alloc_0(void)
{
	uint64_t q;

	say("e", CALL(int, cuMemAlloc_v2, (uint64_t *, size_t), &q, 0));
}

static void drv_names(void)
{
	const char *s = NULL, *t = NULL;

	say("e", CALL(int, cuGetErrorName, (int, const char **), 700, &s));
	CALL(int, cuGetErrorString, (int, const char **), 700, &t);
	sprintf(said + strlen(said), " %s: %s", s ? s : "-", t ? t : "-");
	say("bad", CALL(int, cuGetErrorName, (int, const char **), 12345, &s));
	say("null", s == NULL);
}

static void rt_names(void)
{
	sprintf(said, "%s: %s: %s", CALL(const char *, cudaGetErrorName, (int), 700),
		CALL(const char *, cudaGetErrorString, (int), 700),
		CALL(const char *, cudaGetErrorString, (int), 12345));
}

/* ---- the answers ---- */

#define FAULT(n) "last=0 sync=" #n " last2=" #n " last3=0 malloc=" #n
#define REFUSED(n) "last=" #n " sync=0 last2=0 last3=0 malloc=0"

/* ---- the log ---- */

static void note(void *user, int level, char *message, size_t len)
{
	*(int *)user += level == 0 && strlen(message) == len;
}

/* What is noted, from a place on; who listens; a place that is not there yet. */
static void logs(void)
{
	char text[4000];
	size_t bytes = sizeof(text), lines = 0;
	unsigned place = 0, far = 1000000;
	uint64_t handle = 0;
	int noted = 0;

	say("listen", CALL(int, cudaLogsRegisterCallback,
			   (void (*)(void *, int, char *, size_t), void *, uint64_t *), note,
			   &noted, &handle));
	CALL(int, cudaLogsCurrent, (unsigned *, unsigned), &place, 0);
	cudaMemcpy(NULL, NULL, 16, 1);
	CALL(int, cuMemAllocManaged, (void *, size_t, unsigned), NULL, 16, 1);
	cudaMemcpy(NULL, NULL, 0, 1);
	say("dump", CALL(int, cudaLogsDumpToMemory, (unsigned *, char *, size_t *, unsigned),
			 &place, text, &bytes, 0));
	for (size_t i = 0; i < bytes; i++)
		lines += text[i] == '\n';
	say("lines", (long)lines);
	say("runtime",
	    strstr(text, "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cudaMemcpy\n") != NULL);
	say("driver",
	    strstr(text, "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemAllocManaged\n") !=
		    NULL);
	bytes = sizeof(text);
	CALL(int, cuLogsDumpToMemory, (unsigned *, char *, size_t *, unsigned), &place, text,
	     &bytes, 0);
	say("left", (long)bytes);
	say("heard", noted);
	say("stop", CALL(int, cuLogsUnregisterCallback, (uint64_t), handle));
	bytes = sizeof(text);
	say("far", CALL(int, cuLogsDumpToMemory, (unsigned *, char *, size_t *, unsigned), &far,
			text, &bytes, 0));
}

static const struct {
	const char *name;
	void (*run)(void);
	const char *expected;
} cases[] = {
	{"the log", logs, "listen=0 dump=0 lines=2 runtime=1 driver=1 left=0 heard=2 stop=0 far=1"},
	{"kernel writes far outside", kernel_oob, FAULT(700)},
	{"kernel writes to 0", kernel_null, FAULT(700)},
	{"kernel writes misaligned", kernel_misaligned, FAULT(716)},
	{"kernel writes a little outside shared memory", shared_oob_near, FAULT(700)},
	{"kernel writes far outside shared memory", shared_oob_far, FAULT(700)},
	{"kernel writes misaligned in shared memory", shared_misaligned, FAULT(716)},
	{"trap", kernel_trap, FAULT(719)},
	{"brkpt", kernel_brkpt, FAULT(719)},
	{"assertion", kernel_assert, FAULT(710)},
	{"division by zero", kernel_divide, FAULT(0)},
	{"misaligned atomic", kernel_atomic, FAULT(716)},
	{"stack overflow", stack_overflow, FAULT(700)},
	/* Memory stays accessible for a while after it was freed; --check=mem finds this. */
	{"use after free", use_after_free, FAULT(0)},
	{"block of 2048 threads", block_2048, REFUSED(1)},
	{"block of depth 65", block_z_65, REFUSED(1)},
	{"empty grid", grid_0, REFUSED(1)},
	{"empty block", block_0, REFUSED(1)},
	{"grid of height 65536", grid_y_65536, REFUSED(1)},
	{"dynamic shared memory without opting in", dynamic_49153, REFUSED(1)},
	{"too much dynamic shared memory", dynamic_300000, REFUSED(1)},
	{"more threads than .maxntid", bounds_64, REFUSED(1)},
	/* There the process crashes. */
	{"an invalid stream", bad_stream, REFUSED(400)},
	{"attribute above the limit", attribute_too_big, "set=1 last=1"},
	{"cudaMalloc of 0", malloc_0, "e=0 null=1"},
	{"cudaMalloc of too much", malloc_huge, "e=2 last=2 last2=0"},
	{"cudaMalloc to NULL", malloc_null, "e=1"},
	{"cudaFree of NULL", free_null, "e=0"},
	{"cudaFree twice", free_twice, "a=0 b=1 last=1"},
	{"cudaFree of the inside", free_interior, "e=1"},
	{"cudaFree of host memory", free_host, "e=1"},
	{"cudaMemcpy to NULL", memcpy_null, "e=1"},
	{"cudaMemcpy past the end", memcpy_past_end, "e=1"},
	{"cudaMemcpy of an unknown kind", memcpy_bad_kind, "e=21"},
	{"cudaMemcpy in the wrong direction", memcpy_wrong, "e=1"},
	{"cudaMemcpy by default", memcpy_default, "e=0"},
	{"cudaMemcpy of nothing", memcpy_zero, "e=0"},
	{"cudaMemset of NULL", memset_null, "e=1"},
	{"cudaSetDevice(9)", set_device_9, "e=101 last=101"},
	{"cudaGetDeviceProperties(9)", properties_9, "e=101"},
	{"time between events never recorded", event_elapsed, "e=400"},
	{"query of an event never recorded", event_query, "e=0"},
	{"an event is destroyed", event_destroy, "a=0"},
	{"the default stream is not destroyed", stream_destroy, "e=400"},
	{"attributes of host memory", pointer_host, "e=0 type=0"},
	{"attributes of device memory", pointer_device, "e=0 type=2 same=1"},
	{"attributes of pinned memory", pointer_pinned, "e=0 type=1 same=1"},
	{"attributes of managed memory", pointer_managed, "e=0 type=3 same=1"},
	{"host memory is registered twice", register_twice, "a=0 b=712 c=0 d=713"},
	{"a device is no peer of itself", peer_self, "e=0 can=0 enable=217"},
	{"cuDeviceGet(7)", drv_device_7, "e=101"},
	{"names that a module lacks", drv_missing, "load=0 e=500 g=500"},
	{"an invalid image", drv_garbage, "e=200"},
	{"an unknown instruction", drv_bad_ptx, "e=218"},
	{"PTX for a newer device", drv_newer_target, "e=218"},
	{"PTX of an unknown version", drv_newer_version, "e=222"},
	{"cuLaunchKernel", drv_launch, "block=1 grid=1 shared=1 ok=0 null=400"},
	{"cuMemFree", drv_free, "e=1 z=0"},
	{"cuMemAlloc of 0", drv_alloc_0, "e=1"},
	{"names of the driver", drv_names,
	 "e=0 CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered bad=1 null=1"},
	{"names of the runtime", rt_names,
	 "cudaErrorIllegalAddress: an illegal memory access was encountered: unrecognized error code"},
};

static void run_case(size_t i)
{
	int status;
	pid_t pid;

	*said = 0;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(60);
		if (!freopen("/dev/null", "w", stderr))
			leave(2);
		cudaMalloc(&memory, 4096);
		CALL(int, cuInit, (unsigned), 0);
		cases[i].run();
		leave(0);
	}
	waitpid(pid, &status, 0);
	check_that(!status && !strcmp(said, cases[i].expected), cases[i].name, __FILE__, __LINE__);
	if (status || strcmp(said, cases[i].expected))
		printf("# got \"%s\", status 0x%x\n# expected \"%s\"\n", said, status,
		       cases[i].expected);
}

int main(void)
{
	setenv("PTXLOOM_DEVICE", "h200", 1);
	libraries[0] = dlopen("libcudart.so.13", RTLD_NOW);
	libraries[1] = dlopen("libcuda.so.1", RTLD_NOW);
	if (!CHECK(libraries[0] && libraries[1]))
		return check_done();
	said = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		run_case(i);
	return check_done();
}
