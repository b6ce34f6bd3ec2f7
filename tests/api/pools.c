/*
 * Memory pools of the driver's interface: which a device takes from, what they count, who may use
 * them, and how they reach another process, here this one. An H200 answers the same, device 1
 * aside.
 */
#include "tests/api/memory.h"

#include <stdlib.h>

int cuDeviceGetDefaultMemPool(void *, int);
int cuDeviceGetMemPool(void *, int);
int cuDeviceSetMemPool(int, void *);
int cuMemGetDefaultMemPool(void *, const struct location *, int);
int cuMemGetMemPool(void *, const struct location *, int);
int cuMemSetMemPool(const struct location *, int, void *);
int cuMemPoolCreate(void *, const struct pool_props *);
int cuMemPoolDestroy(void *);
int cuMemPoolTrimTo(void *, size_t);
int cuMemPoolGetAttribute(void *, int, void *);
int cuMemPoolSetAttribute(void *, int, const void *);
int cuMemPoolSetAccess(void *, const struct access *, size_t);
int cuMemPoolGetAccess(int *, void *, const struct location *);
int cuMemPoolExportToShareableHandle(void *, void *, int, unsigned long long);
int cuMemPoolImportFromShareableHandle(void *, void *, int, unsigned long long);
int cuMemPoolExportPointer(void *, uint64_t);
int cuMemPoolImportPointer(uint64_t *, void *, const void *);
int cuMemAllocAsync(uint64_t *, size_t, void *);
int cuMemAllocFromPoolAsync(uint64_t *, size_t, void *, void *);
int cuMemFreeAsync(uint64_t, void *);
int cuMemsetD32Async(uint64_t, unsigned, size_t, void *);
int cuStreamCreate(void *, unsigned);
int cuStreamSynchronize(void *);
int cuStreamDestroy_v2(void *);
int cuDevicePrimaryCtxRetain(void *, int);
int cuCtxSetCurrent(void *);

enum { INVALID_VALUE = 1, INVALID_DEVICE = 101 };
enum { THRESHOLD = 4, RESERVED, RESERVED_HIGH, USED, USED_HIGH }; /* CU_MEMPOOL_ATTR_.. */
enum { ON_DEVICE_TYPE = 1, READ_WRITE = 3, PINNED = 1, FILE_HANDLE = 1 };

static const struct location first = {ON_DEVICE_TYPE, 0}, second = {ON_DEVICE_TYPE, 1};
static void *stream;

static uint64_t attribute(void *pool, int which)
{
	uint64_t v = ~(uint64_t)0;

	CHECK_EQ(cuMemPoolGetAttribute(pool, which, &v), 0);
	return v;
}

static void *new_pool(int handle_types)
{
	struct pool_props props = {
		.alloc_type = PINNED, .handle_types = handle_types, .location = first};
	void *pool = NULL;

	CHECK_EQ(cuMemPoolCreate(&pool, &props), 0);
	return pool;
}

/* Which pool memory is taken from when none is named. */
static void test_choice(void)
{
	void *standard = NULL, *other = NULL, *now = NULL, *pool = new_pool(0);
	uint64_t p = 0;

	CHECK_EQ(cuDeviceGetDefaultMemPool(&standard, 0), 0);
	CHECK_EQ(cuDeviceGetDefaultMemPool(&other, 1), 0);
	CHECK(standard && other && standard != other && pool != standard);
	CHECK_EQ(cuDeviceGetDefaultMemPool(&now, 2), INVALID_DEVICE);
	CHECK_EQ(cuDeviceGetMemPool(&now, 0), 0);
	CHECK(now == standard);
	CHECK_EQ(cuDeviceSetMemPool(1, pool), INVALID_VALUE);
	CHECK_EQ(cuDeviceSetMemPool(0, &p), INVALID_VALUE);
	CHECK_EQ(cuDeviceSetMemPool(0, pool), 0);
	CHECK_EQ(cuDeviceGetMemPool(&now, 0), 0);
	CHECK(now == pool);
	CHECK_EQ(cuMemAllocAsync(&p, 5000, stream), 0);
	CHECK(attribute(pool, USED) >= 5000);
	CHECK_EQ(attribute(standard, USED), 0);
	CHECK_EQ(cuMemFreeAsync(p, stream), 0);
	CHECK_EQ(cuMemFreeAsync(p, stream), INVALID_VALUE);

	/* The same by place. */
	CHECK_EQ(cuMemGetMemPool(&now, &first, PINNED), 0);
	CHECK(now == pool);
	CHECK_EQ(cuMemGetDefaultMemPool(&now, &first, PINNED), 0);
	CHECK(now == standard);
	CHECK_EQ(cuMemSetMemPool(&first, PINNED, standard), 0);
	CHECK_EQ(cuDeviceGetMemPool(&now, 0), 0);
	CHECK(now == standard);
	CHECK_EQ(cuMemSetMemPool(&second, PINNED, standard), INVALID_VALUE);
	CHECK_EQ(cuMemGetMemPool(&now, NULL, PINNED), INVALID_VALUE);

	/* A pool that goes while it is chosen leaves the standard one. */
	CHECK_EQ(cuDeviceSetMemPool(0, pool), 0);
	CHECK_EQ(cuMemPoolDestroy(pool), 0);
	CHECK_EQ(cuDeviceGetMemPool(&now, 0), 0);
	CHECK(now == standard);
	CHECK_EQ(cuMemPoolDestroy(standard), INVALID_VALUE);
}

/* Counters, their reset, and what is kept for reuse. */
static void test_counters(void)
{
	void *pool = new_pool(0);
	uint64_t p[3], keep = UINT64_MAX, zero = 0, one = 1;

	CHECK_EQ(attribute(pool, THRESHOLD), 0);
	CHECK_EQ(cuMemPoolSetAttribute(pool, THRESHOLD, &keep), 0);
	CHECK(attribute(pool, THRESHOLD) == keep);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(cuMemAllocFromPoolAsync(&p[i], 1 << 20, pool, stream), 0);
		CHECK_EQ(cuMemsetD32Async(p[i], 7u + (unsigned)i, 1 << 18, stream), 0);
	}
	CHECK_EQ(attribute(pool, USED), 3 << 20);
	CHECK_EQ(cuMemFreeAsync(p[0], stream), 0);
	CHECK_EQ(cuStreamSynchronize(stream), 0);
	CHECK_EQ(attribute(pool, USED), 2 << 20);
	CHECK_EQ(attribute(pool, USED_HIGH), 3 << 20);
	CHECK(attribute(pool, RESERVED) >= 3 << 20);
	CHECK_EQ(cuMemPoolSetAttribute(pool, USED_HIGH, &one), INVALID_VALUE);
	CHECK_EQ(cuMemPoolSetAttribute(pool, USED_HIGH, &zero), 0);
	CHECK_EQ(attribute(pool, USED_HIGH), 2 << 20);
	CHECK_EQ(cuMemPoolSetAttribute(pool, USED, &zero), INVALID_VALUE);
	for (int i = 1; i < 3; i++) {
		unsigned word = 0;

		CHECK_EQ(cuMemcpyDtoH_v2(&word, p[i] + (1 << 20) - 4, 4), 0);
		CHECK_EQ(word, 7 + i);
		CHECK_EQ(cuMemFreeAsync(p[i], stream), 0);
	}
	CHECK_EQ(cuStreamSynchronize(stream), 0);
	CHECK(attribute(pool, RESERVED) > 0);
	CHECK_EQ(cuMemPoolTrimTo(pool, 0), 0);
	CHECK_EQ(attribute(pool, RESERVED), 0);
	CHECK(attribute(pool, RESERVED_HIGH) >= 3 << 20);
	CHECK_EQ(cuMemAllocFromPoolAsync(&p[0], 0, pool, stream), 0);
	CHECK_EQ(cuMemPoolDestroy(pool), 0);
	CHECK_EQ(cuMemAllocFromPoolAsync(&p[0], 64, pool, stream), INVALID_VALUE);
	CHECK_EQ(cuMemPoolTrimTo(pool, 0), INVALID_VALUE);
}

static void test_access(void)
{
	void *pool = new_pool(0);
	struct access a = {second, READ_WRITE};
	int flags = -1;

	CHECK_EQ(cuMemPoolGetAccess(&flags, pool, &first), 0);
	CHECK_EQ(flags, READ_WRITE);
	CHECK_EQ(cuMemPoolGetAccess(&flags, pool, &second), 0);
	CHECK_EQ(flags, 0);
	CHECK_EQ(cuMemPoolSetAccess(pool, &a, 1), 0);
	CHECK_EQ(cuMemPoolGetAccess(&flags, pool, &second), 0);
	CHECK_EQ(flags, READ_WRITE);
	a.flags = 0;
	CHECK_EQ(cuMemPoolSetAccess(pool, &a, 1), 0);
	CHECK_EQ(cuMemPoolGetAccess(&flags, pool, &second), 0);
	CHECK_EQ(flags, 0);
	a.location = first;
	CHECK_EQ(cuMemPoolSetAccess(pool, &a, 1), INVALID_DEVICE);
	a.location.id = 7;
	CHECK_EQ(cuMemPoolSetAccess(pool, &a, 1), INVALID_DEVICE);
	CHECK_EQ(cuMemPoolSetAccess(pool, NULL, 1), INVALID_VALUE);
	CHECK_EQ(cuMemPoolDestroy(pool), 0);
}

/* An exported pool and an allocation of it, imported again: the same memory at another address. */
static void test_shared(void)
{
	void *closed = new_pool(0), *pool = new_pool(FILE_HANDLE), *copy = NULL;
	uint64_t p = 0, q = 0;
	char data[64];
	unsigned word = 0;
	int fd = -1;

	CHECK(cuMemPoolExportToShareableHandle(&fd, closed, FILE_HANDLE, 0) != 0);
	CHECK_EQ(cuMemPoolExportToShareableHandle(&fd, pool, FILE_HANDLE, 1), INVALID_VALUE);
	CHECK_EQ(cuMemPoolExportToShareableHandle(&fd, pool, FILE_HANDLE, 0), 0);
	CHECK_EQ(cuMemAllocFromPoolAsync(&p, 4096, pool, stream), 0);
	CHECK_EQ(cuMemsetD32Async(p, 0x1234, 1024, stream), 0);
	CHECK_EQ(cuStreamSynchronize(stream), 0);
	CHECK_EQ(cuMemPoolExportPointer(data, p), 0);
	CHECK_EQ(cuMemPoolExportPointer(NULL, p), INVALID_VALUE);
	CHECK(cuMemPoolExportPointer(data + 0, p + (1u << 30)) != 0);
	CHECK_EQ(cuMemPoolExportPointer(data, p), 0);
	CHECK_EQ(cuMemPoolImportFromShareableHandle(&copy, (void *)(intptr_t)fd, FILE_HANDLE, 0),
		 0);
	CHECK_EQ(cuMemPoolImportPointer(&q, copy, data), 0);
	CHECK(q && q != p);
	CHECK_EQ(cuMemcpyDtoH_v2(&word, q + 4092, 4), 0);
	CHECK_EQ(word, 0x1234);
	CHECK_EQ(cuMemsetD2D32_v2(q, 4, 0x77, 1, 1), 0);
	CHECK_EQ(cuMemcpyDtoH_v2(&word, p, 4), 0);
	CHECK_EQ(word, 0x77);
	CHECK(cuMemAllocFromPoolAsync(&q, 64, copy, stream) != 0);
	data[0] ^= 1;
	CHECK(cuMemPoolImportPointer(&q, copy, data) != 0);
	CHECK_EQ(cuMemFreeAsync(p, stream), 0);
	CHECK_EQ(cuMemPoolDestroy(pool), 0);
	CHECK_EQ(cuMemPoolDestroy(closed), 0);
}

static void test_refusals(void)
{
	struct pool_props props = {.alloc_type = PINNED, .location = {ON_DEVICE_TYPE, 9}};
	void *pool = NULL;

	CHECK(cuMemPoolCreate(&pool, &props) != 0);
	props.location = first;
	props.alloc_type = 5;
	CHECK_EQ(cuMemPoolCreate(&pool, &props), INVALID_VALUE);
	CHECK_EQ(cuMemPoolCreate(NULL, &props), INVALID_VALUE);
	CHECK_EQ(cuMemPoolCreate(&pool, NULL), INVALID_VALUE);
	CHECK(!pool);
}

int main(void)
{
	void *context = NULL;

	setenv("PTXLOOM_DEVICE", "2xa100", 1);
	CHECK_EQ(cuInit(0), 0);
	CHECK_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
	CHECK_EQ(cuCtxSetCurrent(context), 0);
	CHECK_EQ(cuStreamCreate(&stream, 1), 0);
	test_choice();
	test_counters();
	test_access();
	test_shared();
	test_refusals();
	CHECK_EQ(cuStreamDestroy_v2(stream), 0);
	return check_done();
}
