// What hosts do wrong with memory, one function each, and right beside it. `calls` alone lists them; `calls NAME` runs one.
// mem_: for --check=mem, leak_: for --check=leak, api_: for --check=api, fine_: for none of them.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__device__ int symbol[16];

__global__ void touch(int *p)
{
	p[threadIdx.x] = 1;
}

__global__ void keep_heap(int **out)
{
	out[threadIdx.x] = (int *)malloc(24);
}

template <int n> __device__ __forceinline__ int *take_heap()
{
	return (int *)malloc(n);
}

__global__ void keep_heap_twice(int **out)
{
	out[2 * threadIdx.x] = take_heap<24>();
	out[2 * threadIdx.x + 1] = take_heap<8>();
}

__global__ void free_heap(int **out)
{
	free(out[threadIdx.x]);
}

static int host[256];

#define CASE(name) __attribute__((noinline)) static void name()
#define BYTES 1024

static char *make(size_t bytes = BYTES)
{
	void *p = nullptr;

	cudaMalloc(&p, bytes);
	return (char *)p;
}

CASE(fine_copies)
{
	char *p = make(), *q = make();

	cudaMemcpy(p, host, BYTES, cudaMemcpyHostToDevice);
	cudaMemcpy(q, p, BYTES, cudaMemcpyDeviceToDevice);
	cudaMemcpy(host, q + 512, 512, cudaMemcpyDeviceToHost);
	cudaMemset(p + 1000, 0, 24);
	cudaMemcpy2D(p, 64, q, 32, 32, 16, cudaMemcpyDeviceToDevice);
	cudaMemcpyToSymbol(symbol, host, 64);
	cudaMemcpyFromSymbol(host, symbol, 32, 32);
	cudaFree(p);
	cudaFree(q);
	cudaFree(nullptr);
}

CASE(fine_frees)
{
	cudaStream_t s;
	void *p, *q, *h, *m;

	cudaStreamCreate(&s);
	cudaMallocAsync(&p, 256, s);
	cudaMemsetAsync(p, 0, 256, s);
	cudaFreeAsync(p, s);
	cudaMallocHost(&h, 100);
	cudaMallocManaged(&m, 100);
	cudaHostAlloc(&q, 100, 0);
	cudaStreamSynchronize(s);
	cudaStreamDestroy(s);
	cudaFreeHost(h);
	cudaFreeHost(q);
	cudaFree(m);
}

CASE(fine_pitched)
{
	size_t pitch;
	void *p;

	cudaMallocPitch(&p, &pitch, 100, 8);
	cudaMemset2D(p, pitch, 1, 100, 8);
	cudaMemcpy2D(host, 100, p, pitch, 100, 8, cudaMemcpyDeviceToHost);
	cudaFree(p);
}

CASE(fine_questions)
{
	cudaPointerAttributes a;
	cudaStream_t s;
	cudaEvent_t e;
	cudaLaunchConfig_t many = {};
	cudaLaunchAttribute size = {};
	int clusters;
	char *p = make();

	many.gridDim = many.blockDim = dim3(64);
	many.attrs = &size;
	many.numAttrs = 1;
	size.id = cudaLaunchAttributeClusterDimension;
	size.val.clusterDim.x = 64;
	size.val.clusterDim.y = size.val.clusterDim.z = 1;
	cudaOccupancyMaxActiveClusters(&clusters, touch, &many);
	cudaPointerGetAttributes(&a, host);
	cudaStreamCreate(&s);
	cudaEventCreate(&e);
	touch<<<64, 32, 0, s>>>((int *)p);
	cudaEventRecord(e, s);
	cudaStreamQuery(s);
	cudaEventQuery(e);
	cudaStreamSynchronize(s);
	cudaEventDestroy(e);
	cudaStreamDestroy(s);
	cudaGetLastError();
	cudaFree(p);
}

CASE(fine_heap)
{
	char *p = make();

	keep_heap<<<1, 4>>>((int **)p);
	free_heap<<<1, 4>>>((int **)p);
	cudaDeviceSynchronize();
	cudaFree(p);
}

CASE(fine_reset)
{
	char *p = make();

	cudaFree(p);
	cudaDeviceReset();
}

CASE(mem_copy_to_device)
{
	char *p = make(64);

	cudaMemcpy(p, host, 65, cudaMemcpyHostToDevice);
	cudaFree(p);
}

CASE(mem_copy_from_device)
{
	char *p = make(64);

	cudaMemcpy(host, p + 32, 64, cudaMemcpyDeviceToHost);
	cudaFree(p);
}

CASE(mem_copy_between)
{
	char *p = make(64), *q = make(128);

	cudaMemcpy(q, p, 128, cudaMemcpyDeviceToDevice);
	cudaFree(p);
	cudaFree(q);
}

CASE(mem_copy_default)
{
	char *p = make(64);

	cudaMemcpy(p, host, 100, cudaMemcpyDefault);
	cudaFree(p);
}

CASE(mem_copy_async)
{
	char *p = make(64);

	cudaMemcpyAsync(p, host, 100, cudaMemcpyHostToDevice, 0);
	cudaDeviceSynchronize();
	cudaFree(p);
}

CASE(mem_copy_freed)
{
	char *p = make();

	cudaFree(p);
	cudaMemcpy(host, p, 64, cudaMemcpyDeviceToHost);
}

CASE(mem_copy_freed_reused)
{
	char *p = make(), *q;

	cudaFree(p);
	q = make();
	cudaMemcpy(host, p, 64, cudaMemcpyDeviceToHost);
	cudaFree(q);
}

CASE(mem_copy_direction)
{
	char *p = make();

	cudaMemcpy(host, p, 64, cudaMemcpyHostToDevice);
	cudaFree(p);
}

CASE(mem_copy_pinned)
{
	char *p = make();
	void *h;

	cudaMallocHost(&h, 64);
	cudaMemcpy(p, h, 128, cudaMemcpyHostToDevice);
	cudaFreeHost(h);
	cudaFree(p);
}

CASE(mem_copy_managed)
{
	char *p = make();
	void *m;

	cudaMallocManaged(&m, 64);
	cudaMemcpy(p, m, 65, cudaMemcpyDefault);
	cudaFree(m);
	cudaFree(p);
}

CASE(mem_copy_2d)
{
	char *p = make(64 * 8);

	cudaMemcpy2D(p, 64, host, 64, 64, 9, cudaMemcpyHostToDevice);
	cudaFree(p);
}

CASE(mem_copy_3d)
{
	cudaMemcpy3DParms c = {};
	cudaPitchedPtr p;

	cudaMalloc3D(&p, make_cudaExtent(64, 4, 4));
	c.srcPtr = make_cudaPitchedPtr(calloc(64, 20), 64, 64, 4);
	c.dstPtr = p;
	c.extent = make_cudaExtent(64, 4, 5);
	c.kind = cudaMemcpyHostToDevice;
	cudaMemcpy3D(&c);
	cudaFree(p.ptr);
}

CASE(mem_copy_peer)
{
	char *p = make(64), *q = make(64);

	cudaMemcpyPeer(p, 0, q, 0, 96);
	cudaFree(p);
	cudaFree(q);
}

CASE(mem_copy_array)
{
	cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
	cudaArray_t a;

	cudaMallocArray(&a, &d, 16, 4);
	cudaMemcpy2DToArray(a, 0, 0, host, 64, 64, 5, cudaMemcpyHostToDevice);
	cudaFreeArray(a);
}

CASE(mem_set)
{
	char *p = make(100);

	cudaMemset(p, 0, 101);
	cudaFree(p);
}

CASE(mem_set_async)
{
	char *p = make(100);

	cudaMemsetAsync(p + 50, 0, 51, 0);
	cudaDeviceSynchronize();
	cudaFree(p);
}

CASE(mem_set_2d)
{
	char *p = make(1000);

	cudaMemset2D(p, 100, 0, 100, 11);
	cudaFree(p);
}

CASE(mem_set_freed)
{
	char *p = make(100);

	cudaFree(p);
	cudaMemset(p, 0, 100);
}

CASE(mem_set_host)
{
	cudaMemset(host, 0, 100);
}

CASE(mem_to_symbol)
{
	cudaMemcpyToSymbol(symbol, host, 65);
}

CASE(mem_from_symbol)
{
	cudaMemcpyFromSymbol(host, symbol, 64, 4);
}

CASE(mem_free_twice)
{
	char *p = make();

	cudaFree(p);
	cudaFree(p);
}

CASE(mem_free_inside)
{
	char *p = make();

	cudaFree(p + 256);
	cudaFree(p);
}

CASE(mem_free_host_pointer)
{
	cudaFree(host);
}

CASE(mem_free_malloced)
{
	void *p = malloc(100);

	cudaFree(p);
	free(p);
}

CASE(mem_free_pinned)
{
	void *h;

	cudaMallocHost(&h, 64);
	cudaFree(h);
	cudaFreeHost(h);
}

CASE(mem_free_host_of_device)
{
	char *p = make();

	cudaFreeHost(p);
	cudaFree(p);
}

CASE(mem_free_host_twice)
{
	void *h;

	cudaMallocHost(&h, 64);
	cudaFreeHost(h);
	cudaFreeHost(h);
}

CASE(mem_free_async_twice)
{
	void *p;

	cudaMallocAsync(&p, 256, 0);
	cudaFreeAsync(p, 0);
	cudaFreeAsync(p, 0);
	cudaDeviceSynchronize();
}

CASE(mem_free_async_then_free)
{
	void *p;

	cudaMallocAsync(&p, 256, 0);
	cudaFreeAsync(p, 0);
	cudaDeviceSynchronize();
	cudaFree(p);
}

CASE(mem_free_array_twice)
{
	cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
	cudaArray_t a;

	cudaMallocArray(&a, &d, 16, 4);
	cudaFreeArray(a);
	cudaFreeArray(a);
}

CASE(mem_unregister)
{
	cudaHostUnregister(host);
}

CASE(mem_kernel_freed)
{
	char *p = make();

	cudaFree(p);
	touch<<<1, 32>>>((int *)p);
	cudaDeviceSynchronize();
}

CASE(mem_kernel_freed_reused)
{
	char *p = make(), *q;

	cudaFree(p);
	q = make();
	touch<<<1, 32>>>((int *)p);
	cudaDeviceSynchronize();
	cudaFree(q);
}

CASE(mem_kernel_freed_async)
{
	cudaStream_t s;
	void *p;

	cudaStreamCreate(&s);
	cudaMallocAsync(&p, 256, s);
	cudaFreeAsync(p, s);
	touch<<<1, 32, 0, s>>>((int *)p);
	cudaStreamSynchronize(s);
}

CASE(mem_copy_freed_async)
{
	cudaStream_t s;
	void *p;

	cudaStreamCreate(&s);
	cudaMallocAsync(&p, 256, s);
	cudaFreeAsync(p, s);
	cudaMemcpyAsync(host, p, 256, cudaMemcpyDeviceToHost, s);
	cudaStreamSynchronize(s);
}

CASE(mem_set_freed_async)
{
	cudaStream_t s;
	void *p;

	cudaStreamCreate(&s);
	cudaMallocAsync(&p, 256, s);
	cudaFreeAsync(p, s);
	cudaMemsetAsync(p, 0, 256, s);
	cudaStreamSynchronize(s);
}

CASE(mem_kernel_freed_async_elsewhere)
{
	cudaStream_t s, t;
	void *p;

	cudaStreamCreate(&s);
	cudaStreamCreate(&t);
	cudaMallocAsync(&p, 256, s);
	cudaStreamSynchronize(s);
	cudaFreeAsync(p, s);
	touch<<<1, 32, 0, t>>>((int *)p);
	cudaDeviceSynchronize();
}

CASE(mem_managed)
{
	void *m;

	cudaMallocManaged(&m, 100);
	touch<<<1, 32>>>((int *)m);
	cudaDeviceSynchronize();
}

CASE(mem_pinned)
{
	void *m;

	cudaMallocHost(&m, 100);
	touch<<<1, 32>>>((int *)m);
	cudaDeviceSynchronize();
}

CASE(mem_registered)
{
	cudaHostRegister(host, 100, 0);
	touch<<<1, 32>>>(host);
	cudaDeviceSynchronize();
}

CASE(leak_device)
{
	make();
}

CASE(leak_one_of_two)
{
	char *p = make();

	make(64);
	cudaFree(p);
}

CASE(leak_pinned)
{
	void *h;

	cudaMallocHost(&h, 64);
}

CASE(leak_managed)
{
	void *h;

	cudaMallocManaged(&h, 64);
}

CASE(leak_pitched)
{
	size_t pitch;
	void *p;

	cudaMallocPitch(&p, &pitch, 100, 8);
}

CASE(leak_3d)
{
	cudaPitchedPtr p;

	cudaMalloc3D(&p, make_cudaExtent(64, 4, 4));
}

CASE(leak_array)
{
	cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
	cudaArray_t a;

	cudaMallocArray(&a, &d, 16, 4);
}

CASE(leak_async)
{
	void *p;

	cudaMallocAsync(&p, 256, 0);
	cudaDeviceSynchronize();
}

CASE(leak_before_reset)
{
	make();
	cudaDeviceReset();
}

CASE(leak_heap)
{
	char *p = make();

	keep_heap<<<1, 4>>>((int **)p);
	cudaDeviceSynchronize();
	cudaFree(p);
}

CASE(leak_heap_line)
{
	char *p = make();

	keep_heap_twice<<<1, 4>>>((int **)p);
	cudaDeviceSynchronize();
	cudaFree(p);
}

CASE(leak_full_stream)
{
	cudaStream_t s;

	cudaStreamCreate(&s);
}

CASE(leak_full_event)
{
	cudaEvent_t e;

	cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
}

CASE(api_too_many_threads)
{
	char *p = make();

	touch<<<1, 2048>>>((int *)p);
	cudaFree(p);
}

CASE(api_no_blocks)
{
	touch<<<0, 32>>>(nullptr);
}

CASE(api_too_much_shared)
{
	touch<<<1, 32, 1 << 20>>>(nullptr);
}

CASE(api_device)
{
	cudaSetDevice(77);
}

CASE(api_too_much_memory)
{
	make((size_t)1 << 50);
}

CASE(api_stream)
{
	cudaStream_t s;

	cudaStreamCreate(&s);
	cudaStreamDestroy(s);
	cudaStreamSynchronize(s);
}

CASE(api_event_time)
{
	cudaEvent_t a, b;
	float ms;

	cudaEventCreate(&a);
	cudaEventCreate(&b);
	cudaEventElapsedTime(&ms, a, b);
}

CASE(api_attribute)
{
	int x;

	cudaDeviceGetAttribute(&x, (cudaDeviceAttr)9999, 0);
}

static const struct {
	const char *name;
	void (*run)();
} cases[] = {
#define ROW(name)                                                                                  \
	{                                                                                          \
#name, name                                                                        \
	}
	ROW(fine_copies),
	ROW(fine_frees),
	ROW(fine_pitched),
	ROW(fine_questions),
	ROW(fine_heap),
	ROW(fine_reset),
	ROW(mem_copy_to_device),
	ROW(mem_copy_from_device),
	ROW(mem_copy_between),
	ROW(mem_copy_default),
	ROW(mem_copy_async),
	ROW(mem_copy_freed),
	ROW(mem_copy_freed_reused),
	ROW(mem_copy_direction),
	ROW(mem_copy_pinned),
	ROW(mem_copy_managed),
	ROW(mem_copy_2d),
	ROW(mem_copy_3d),
	ROW(mem_copy_peer),
	ROW(mem_copy_array),
	ROW(mem_set),
	ROW(mem_set_async),
	ROW(mem_set_2d),
	ROW(mem_set_freed),
	ROW(mem_set_host),
	ROW(mem_to_symbol),
	ROW(mem_from_symbol),
	ROW(mem_free_twice),
	ROW(mem_free_inside),
	ROW(mem_free_host_pointer),
	ROW(mem_free_malloced),
	ROW(mem_free_pinned),
	ROW(mem_free_host_of_device),
	ROW(mem_free_host_twice),
	ROW(mem_free_async_twice),
	ROW(mem_free_async_then_free),
	ROW(mem_free_array_twice),
	ROW(mem_unregister),
	ROW(mem_kernel_freed),
	ROW(mem_kernel_freed_reused),
	ROW(mem_kernel_freed_async),
	ROW(mem_copy_freed_async),
	ROW(mem_set_freed_async),
	ROW(mem_kernel_freed_async_elsewhere),
	ROW(mem_managed),
	ROW(mem_pinned),
	ROW(mem_registered),
	ROW(leak_device),
	ROW(leak_one_of_two),
	ROW(leak_pinned),
	ROW(leak_managed),
	ROW(leak_pitched),
	ROW(leak_3d),
	ROW(leak_array),
	ROW(leak_async),
	ROW(leak_before_reset),
	ROW(leak_heap),
	ROW(leak_heap_line),
	ROW(leak_full_stream),
	ROW(leak_full_event),
	ROW(api_too_many_threads),
	ROW(api_no_blocks),
	ROW(api_too_much_shared),
	ROW(api_device),
	ROW(api_too_much_memory),
	ROW(api_stream),
	ROW(api_event_time),
	ROW(api_attribute),
};

int main(int argc, char **argv)
{
	for (const auto &c : cases)
		if (argc < 2)
			puts(c.name);
		else if (!strcmp(argv[1], c.name))
			c.run();
	return 0;
}
