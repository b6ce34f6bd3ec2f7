/*
 * Memory through both interfaces: allocation, copies and fills of all shapes, errors, what a
 * pointer is, managed and registered memory, pools, peers, arrays as ends of copies.
 */
#include "tests/api/memory.h"

#include <stdlib.h>

static void *module;

static void test_allocation(void)
{
	size_t free0, free1, total;
	void *p = (void *)1, *q;

	CHECK_EQ(cudaMalloc(&p, 0), 0);
	CHECK(!p);
	CHECK_EQ(cudaMalloc(NULL, 4), 1);
	CHECK_EQ(cudaMalloc(&p, (size_t)1 << 45), 2);
	CHECK_EQ(cudaGetLastError(), 2);
	CHECK_EQ(cudaMemGetInfo(&free0, &total), 0);
	CHECK_EQ(cudaMalloc(&p, total / 2), 0);
	CHECK_EQ(cudaMalloc(&q, total * 3 / 4), 2);
	CHECK_EQ(cudaMemGetInfo(&free1, &total), 0);
	CHECK_EQ(free0 - free1, total / 2);
	CHECK_EQ(cudaFree((char *)p + 256), 1);
	CHECK_EQ(cudaFree(p), 0);
	CHECK_EQ(cudaFree(p), 1);
	CHECK_EQ(cudaMalloc(&q, total * 3 / 4), 0);
	CHECK_EQ(cudaFree(q), 0);
	CHECK_EQ(cudaFree(NULL), 0);
	CHECK_EQ(cudaFree(&total), 1);
	CHECK_EQ(cuMemAlloc_v2((uint64_t *)&q, 0), 1);
	CHECK_EQ(cuMemFree_v2(12345), 1);
	CHECK_EQ(cuMemFree_v2(0), 0);
}

static void test_linear(void)
{
	static int host[1000], back[1000];
	void *p, *q;

	for (int i = 0; i < 1000; i++)
		host[i] = i;
	cudaMalloc(&p, sizeof(host));
	cudaMalloc(&q, sizeof(host));
	CHECK_EQ(cudaMemcpy(p, host, sizeof(host), TO_DEVICE), 0);
	CHECK_EQ(memory_add(module, p, 1000, 5, NULL), 0);
	CHECK_EQ(cudaMemcpy(q, p, sizeof(host), ON_DEVICE), 0);
	CHECK_EQ(cudaMemcpy(back, q, sizeof(host), ANYWHERE), 0);
	CHECK(back[0] == 5 && back[999] == 1004);
	CHECK_EQ(cuMemsetD16_v2((uint64_t)q + 2, 0x1234, 3), 0);
	CHECK_EQ(cuMemcpyDtoH_v2(back, (uint64_t)q, 12), 0);
	CHECK(back[0] == 0x12340005 && back[1] == 0x12341234 && back[2] == 7);
	CHECK_EQ(cuMemsetD16_v2((uint64_t)q + 1, 0, 3), 1);
	CHECK_EQ(cudaMemcpy(NULL, p, 4, ON_DEVICE), 1);
	CHECK_EQ(cudaMemcpy(p, host, 8000, TO_DEVICE), 1);
	CHECK_EQ(cudaMemcpy(p, p, 4, 9), 21);
	CHECK_EQ(cudaMemcpy(host, p, 4, TO_DEVICE), 1);
	CHECK_EQ(cudaMemcpy(NULL, NULL, 0, TO_DEVICE), 0);
	CHECK_EQ(cudaMemset(NULL, 0, 4), 1);
	CHECK_EQ(cudaMemset(host, 0, 4), 1);
	cudaFree(p);
	cudaFree(q);
}

static void test_plane(void)
{
	unsigned char host[5][10], back[5][16];
	size_t pitch;
	void *p;

	for (int y = 0; y < 5; y++)
		for (int x = 0; x < 10; x++)
			host[y][x] = (unsigned char)(16 * y + x);
	CHECK_EQ(cudaMallocPitch(&p, &pitch, 10, 5), 0);
	CHECK(pitch >= 10 && pitch % 512 == 0);
	CHECK_EQ(cudaMemset2D(p, pitch, 0xee, 12, 5), 0);
	CHECK_EQ(cudaMemcpy2D(p, pitch, host, 10, 10, 5, TO_DEVICE), 0);
	CHECK_EQ(cudaMemcpy2D(back, 16, p, pitch, 12, 5, TO_HOST), 0);
	CHECK(back[4][9] == 16 * 4 + 9 && back[4][10] == 0xee && back[0][11] == 0xee);
	CHECK_EQ(cudaMemcpy2D(p, 8, host, 10, 10, 5, TO_DEVICE), 12);
	CHECK_EQ(cudaMemcpy2D(p, pitch, host, 10, 10, 6, TO_DEVICE), 1);
	CHECK_EQ(cuMemsetD2D32_v2((uint64_t)p, pitch, 7, 2, 3), 0);
	CHECK_EQ(cudaMemcpy2D(back, 16, p, pitch, 12, 5, TO_HOST), 0);
	CHECK(back[2][4] == 7 && back[2][5] == 0 && back[3][4] == 16 * 3 + 4);
	cudaFree(p);
}

static void test_box(void)
{
	static unsigned char host[4][6][8], back[4][6][8];
	struct copy_3d c = {.extent = {8, 6, 4}, .kind = TO_DEVICE};
	struct pitched p;

	for (int i = 0; i < 4 * 6 * 8; i++)
		(&host[0][0][0])[i] = (unsigned char)i;
	CHECK_EQ(cudaMalloc3D(&p, (struct extent){8, 6, 4}), 0);
	CHECK(p.pitch >= 8 && p.xsize == 8 && p.ysize == 6);
	c.src = (struct pitched){host, 8, 8, 6};
	c.dst = p;
	CHECK_EQ(cudaMemcpy3D(&c), 0);
	CHECK_EQ(cudaMemset3D((struct pitched){(char *)p.ptr + p.pitch + 1, p.pitch, 8, 6}, 0xcc,
			      (struct extent){2, 1, 2}),
		 0);
	c = (struct copy_3d){.src = p,
			     .src_pos = {0, 1, 0},
			     .dst = {back, 8, 8, 6},
			     .dst_pos = {2, 0, 1},
			     .extent = {6, 5, 2},
			     .kind = TO_HOST};
	CHECK_EQ(cudaMemcpy3D(&c), 0);
	CHECK(back[1][0][2] == 8 && back[1][0][3] == 0xcc && back[1][0][4] == 0xcc);
	CHECK(back[1][0][5] == 11 && back[2][4][7] == host[1][5][5] && back[1][5][2] == 0);
	c.extent.depth = 4;
	c.dst_pos.z = 0;
	c.src_pos.z = 1;
	CHECK_EQ(cudaMemcpy3D(&c), 1);
	cudaFree(p.ptr);
}

static void test_array(void)
{
	struct {
		int x, y, z, w, kind;
	} words = {32, 0, 0, 0, 0};
	int host[6][7], back[6][7] = {{0}};
	void *array;
	struct copy_3d c;
	int status;

	for (int i = 0; i < 42; i++)
		(&host[0][0])[i] = 100 + i;
	status = cudaMallocArray(&array, &words, 7, 6, 0);
	if (status == 801) {
		printf("# skipped: there are no arrays\n");
		return;
	}
	CHECK_EQ(status, 0);
	CHECK_EQ(cudaMemcpy2DToArray(array, 0, 0, host, 28, 28, 6, TO_DEVICE), 0);
	CHECK_EQ(cudaMemcpy2DFromArray(back, 28, array, 8, 1, 12, 2, TO_HOST), 0);
	CHECK(back[0][0] == host[1][2] && back[1][2] == host[2][4] && back[2][0] == 0);
	CHECK_EQ(cudaMemcpy2DToArray(array, 8, 0, host, 28, 28, 6, TO_DEVICE), 1);
	/* Positions and extents count elements once an array takes part. */
	c = (struct copy_3d){.src_array = array,
			     .src_pos = {3, 2, 0},
			     .dst = {back, 28, 28, 6},
			     .extent = {4, 2, 1},
			     .kind = TO_HOST};
	CHECK_EQ(cudaMemcpy3D(&c), 0);
	CHECK(back[0][0] == host[2][3] && back[1][3] == host[3][6]);
	CHECK_EQ(cudaFreeArray(array), 0);
}

static void test_pointers(void)
{
	struct pointer a;
	uint64_t base;
	size_t size;
	void *p, *h, *m, *out[2];
	int local, type, what[2] = {2, 8}, managed;

	cudaMalloc(&p, 1000);
	cudaMallocHost(&h, 1000);
	cudaMallocManaged(&m, 1000, 1);
	CHECK_EQ(cudaPointerGetAttributes(&a, &local), 0);
	CHECK(a.type == 0 && !a.device_pointer);
	CHECK_EQ(cudaPointerGetAttributes(&a, (char *)p + 8), 0);
	CHECK(a.type == 2 && a.device == 0 && a.device_pointer == (char *)p + 8 && !a.host_pointer);
	CHECK_EQ(cudaPointerGetAttributes(&a, h), 0);
	CHECK(a.type == 1 && a.device_pointer == h && a.host_pointer == h);
	CHECK_EQ(cudaPointerGetAttributes(&a, m), 0);
	CHECK(a.type == 3 && a.device_pointer == m && a.host_pointer == m);
	CHECK_EQ(cuMemGetAddressRange_v2(&base, &size, (uint64_t)p + 10), 0);
	CHECK(base == (uint64_t)p && size == 1000);
	out[0] = &type;
	out[1] = &managed;
	CHECK_EQ(cuPointerGetAttributes(2, what, out, (uint64_t)m), 0);
	CHECK(type == 2 && managed == 1);
	CHECK_EQ(cuPointerGetAttributes(2, what, out, (uint64_t)&local), 0);
	CHECK(type == 0 && managed == 0);
	CHECK_EQ(cuPointerGetAttribute(&type, 2, (uint64_t)&local), 1);
	CHECK_EQ(cuPointerGetAttribute(out, 4, (uint64_t)p), 1);
	CHECK_EQ(cudaFree(h), 1);
	CHECK_EQ(cudaFreeHost(p), 1);
	CHECK_EQ(cudaFreeHost(h), 0);
	CHECK_EQ(cudaFree(m), 0);
	CHECK_EQ(cudaFree(p), 0);
}

static void test_host(void)
{
	static const char text[64] = "read-only";
	static unsigned words[4096];
	char back[64];
	unsigned flags, *pinned;
	void *p;

	CHECK_EQ(cudaHostRegister(words, sizeof(words), 0), 0);
	CHECK_EQ(cudaHostRegister(words, sizeof(words), 0), 712);
	CHECK_EQ(cudaHostRegister(words + 16, 64, 0), 712);
	CHECK_EQ(cudaHostGetDevicePointer(&p, words, 0), 0);
	CHECK(p == words);
	CHECK_EQ(memory_add(module, words, 4096, 3, NULL), 0);
	CHECK_EQ(cudaDeviceSynchronize(), 0);
	CHECK(words[0] == 3 && words[4095] == 3);
	CHECK_EQ(cudaHostUnregister(words + 1), 713);
	CHECK_EQ(cudaHostUnregister(words), 0);
	CHECK_EQ(cudaHostUnregister(words), 713);
	CHECK_EQ(cudaHostRegister((void *)(uintptr_t)text, sizeof(text), 8), 0);
	cudaMalloc(&p, sizeof(text));
	CHECK_EQ(cudaMemcpy(p, text, sizeof(text), TO_DEVICE), 0);
	CHECK_EQ(cudaMemcpy(back, p, sizeof(text), TO_HOST), 0);
	CHECK_STR(back, "read-only");
	CHECK_EQ(cudaHostUnregister((void *)(uintptr_t)text), 0);
	cudaFree(p);
	CHECK_EQ(cudaHostAlloc(&pinned, 4096, 5), 0);
	CHECK_EQ(cudaHostGetFlags(&flags, pinned), 0);
	CHECK_EQ(flags, 6);
	pinned[9] = 1;
	CHECK_EQ(memory_add(module, pinned, 10, 3, NULL), 0);
	CHECK_EQ(cudaDeviceSynchronize(), 0);
	CHECK_EQ(pinned[9], 4);
	CHECK_EQ(cudaHostGetFlags(&flags, &flags), 1);
	CHECK_EQ(cudaFreeHost(pinned), 0);
	CHECK_EQ(cudaHostAlloc(&pinned, 16, 8), 1);
}

static void test_managed(void)
{
	struct location dev = {1, 0}, cpu = {2, 0};
	unsigned *m;
	int v, list[3];

	CHECK_EQ(cudaMallocManaged(&m, 8192, 3), 1);
	CHECK_EQ(cudaMallocManaged(&m, 8192, 1), 0);
	m[2047] = 40;
	CHECK_EQ(memory_add(module, m, 2048, 2, NULL), 0);
	CHECK_EQ(cudaDeviceSynchronize(), 0);
	CHECK(m[0] == 2 && m[2047] == 42);
	CHECK_EQ(cudaMemAdvise(m, 8192, 1, dev), 0);
	CHECK_EQ(cudaMemAdvise(m, 8192, 3, cpu), 0);
	CHECK_EQ(cudaMemAdvise(m, 8192, 5, dev), 0);
	CHECK_EQ(cudaMemAdvise(m, 8193, 5, dev), 1);
	CHECK_EQ(cudaMemAdvise(m, 8192, 5, (struct location){1, 77}), 1);
	CHECK_EQ(cudaMemPrefetchAsync(m, 4096, dev, 0, NULL), 0);
	CHECK_EQ(cudaMemPrefetchAsync(&v, 4, dev, 0, NULL), 1);
	CHECK_EQ(cudaMemRangeGetAttribute(&v, 4, 1, m, 8192), 0);
	CHECK_EQ(v, 1);
	CHECK_EQ(cudaMemRangeGetAttribute(&v, 4, 2, m, 8192), 0);
	CHECK_EQ(v, -1);
	CHECK_EQ(cudaMemRangeGetAttribute(list, 12, 3, m, 8192), 0);
	CHECK(list[0] == 0 && list[1] == -2 && list[2] == -2);
	CHECK_EQ(cudaMemRangeGetAttribute(&v, 4, 4, m, 8192), 0);
	CHECK_EQ(v, 0);
	CHECK_EQ(cudaFree(m), 0);
}

static void test_pool(void)
{
	struct pool_props props = {.alloc_type = 1, .location = {1, 0}};
	uint64_t used, high, threshold = 1 << 28, reserved;
	void *stream, *pool, *p, *q;
	unsigned back;

	CHECK_EQ(cudaStreamCreateWithFlags(&stream, 1), 0);
	CHECK_EQ(cudaMallocAsync(&p, 4000, stream), 0);
	CHECK_EQ(cudaMemcpyAsync(p, &(unsigned){1}, 4, TO_DEVICE, stream), 0);
	CHECK_EQ(memory_add(module, p, 1, 6, stream), 0);
	CHECK_EQ(cudaMemcpyAsync(&back, p, 4, TO_HOST, stream), 0);
	CHECK_EQ(back, 7);
	CHECK_EQ(cudaFreeAsync(p, stream), 0);
	CHECK_EQ(cudaFreeAsync(p, stream), 1);
	CHECK_EQ(cudaMemPoolCreate(&pool, &props), 0);
	CHECK_EQ(cudaMemPoolSetAttribute(pool, 4, &threshold), 0);
	CHECK_EQ(cudaMallocFromPoolAsync(&p, 1 << 20, pool, stream), 0);
	CHECK_EQ(cudaMallocFromPoolAsync(&q, 1 << 20, pool, stream), 0);
	CHECK_EQ(cudaFreeAsync(q, stream), 0);
	CHECK_EQ(cudaStreamSynchronize(stream), 0);
	CHECK_EQ(cudaMemPoolGetAttribute(pool, 7, &used), 0);
	CHECK_EQ(cudaMemPoolGetAttribute(pool, 8, &high), 0);
	CHECK(used == 1 << 20 && high == 2 << 20);
	CHECK_EQ(cudaFree(p), 0);
	CHECK_EQ(cudaMemPoolGetAttribute(pool, 5, &reserved), 0);
	CHECK(reserved >= 2 << 20);
	CHECK_EQ(cudaMemPoolTrimTo(pool, 0), 0);
	CHECK_EQ(cudaMemPoolGetAttribute(pool, 5, &reserved), 0);
	CHECK_EQ(reserved, 0);
	CHECK_EQ(cudaMemPoolDestroy(pool), 0);
	CHECK_EQ(cudaMemPoolDestroy(pool), 1);
	CHECK_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), 0);
	CHECK_EQ(cudaMemPoolDestroy(pool), 1);
	CHECK_EQ(cudaStreamDestroy(stream), 0);
}

/* A kernel that waits for the host: what is issued after it is read now, and done later. */
static void test_order(void)
{
	unsigned *flag, *pinned, source = 5, word = 0;
	void *stream, *p, *f, *args[] = {&flag};

	cudaHostAlloc(&flag, 4, 2);
	cudaMallocHost(&pinned, 4);
	cudaMalloc(&p, 8);
	cudaStreamCreateWithFlags(&stream, 1);
	*flag = 0;
	*pinned = 6;
	cuModuleGetFunction(&f, module, "spin");
	CHECK_EQ(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL), 0);
	CHECK_EQ(cudaMemcpyAsync(p, &source, 4, TO_DEVICE, stream), 0);
	CHECK_EQ(cudaMemcpyAsync((char *)p + 4, pinned, 4, TO_DEVICE, stream), 0);
	CHECK_EQ(cudaStreamQuery(stream), 600);
	source = 55;
	*pinned = 66;
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
	CHECK_EQ(cudaMemcpyAsync(&word, p, 4, TO_HOST, stream), 0);
	CHECK_EQ(word, 5);
	CHECK_EQ(cudaMemcpy(&word, (char *)p + 4, 4, TO_HOST), 0);
	CHECK_EQ(word, 66);
	cudaStreamDestroy(stream);
	cudaFree(p);
	cudaFreeHost(flag);
	cudaFreeHost(pinned);
}

static void test_peers(void)
{
	unsigned word = 3;
	void *p, *q, *second;
	int can = 9;

	CHECK_EQ(cudaDeviceCanAccessPeer(&can, 0, 0), 0);
	CHECK_EQ(can, 0);
	CHECK_EQ(cudaDeviceEnablePeerAccess(0, 0), 217);
	CHECK_EQ(cudaDeviceEnablePeerAccess(9, 0), 101);
	CHECK_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), 0);
	CHECK_EQ(can, 1);
	cudaMalloc(&p, 64);
	CHECK_EQ(cudaMemcpy(p, &word, 4, TO_DEVICE), 0);
	cudaSetDevice(1);
	cudaMalloc(&q, 64);
	CHECK_EQ(cudaMemcpyPeer(q, 1, p, 0, 4), 0);
	CHECK_EQ(cudaDeviceDisablePeerAccess(0), 705);
	CHECK_EQ(cudaDeviceEnablePeerAccess(0, 0), 0);
	CHECK_EQ(cudaDeviceEnablePeerAccess(0, 0), 704);
	CHECK_EQ(cuModuleLoadData(&second, memory_ptx), 0);
	CHECK_EQ(memory_add(second, p, 1, 4, NULL), 0);
	CHECK_EQ(memory_add(second, q, 1, 9, NULL), 0);
	CHECK_EQ(cudaMemcpy(&word, p, 4, ANYWHERE), 0);
	CHECK_EQ(word, 7);
	CHECK_EQ(cudaMemcpy(&word, q, 4, ANYWHERE), 0);
	CHECK_EQ(word, 12);
	CHECK_EQ(cudaDeviceDisablePeerAccess(0), 0);
	CHECK_EQ(memory_add(second, p, 1, 4, NULL), 0);
	CHECK_EQ(cudaDeviceSynchronize(), 700);
	CHECK_EQ(cudaDeviceReset(), 0);
	cudaSetDevice(0);
	CHECK_EQ(cudaMemcpy(&word, p, 4, TO_HOST), 0);
	CHECK_EQ(word, 7);
	CHECK_EQ(cudaFree(p), 0);
}

/* Ten thousand rounds: nothing stays. */
static void test_rounds(void)
{
	size_t before, after, total;
	int bad = 0;
	void *p;

	cudaMemGetInfo(&before, &total);
	for (unsigned i = 0; i < 10000; i++) {
		bad |= cudaMalloc(&p, 1000 + i) | memory_add(module, p, 32, 1, NULL);
		bad |= cudaFree(p);
	}
	cudaMemGetInfo(&after, &total);
	CHECK_EQ(bad, 0);
	CHECK_EQ(before, after);
}

int main(void)
{
	setenv("PTXLOOM_DEVICE", "2xa100", 1);
	cuInit(0);
	CHECK_EQ(cudaFree(NULL), 0);
	if (!CHECK(cuModuleLoadData(&module, memory_ptx) == 0))
		return check_done();
	test_allocation();
	test_linear();
	test_plane();
	test_box();
	test_array();
	test_pointers();
	test_host();
	test_managed();
	test_pool();
	test_order();
	test_rounds();
	test_peers();
	return check_done();
}
