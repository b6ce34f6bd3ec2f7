// More programs for planted.sh: memory that graphs, mappings, textures and surfaces show.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#define K template <bool BAD> __global__ void
#define GO(k, g, b, ...)                                                                                     \
	do {                                                                                                 \
		if (bad)                                                                                     \
			k<true><<<g, b>>>(__VA_ARGS__);                                                      \
		else                                                                                         \
			k<false><<<g, b>>>(__VA_ARGS__);                                                     \
	} while (0)

static void expect(cudaError_t got, cudaError_t wanted)
{
	if (got != wanted)
		exit(3);
}

static int *alloc(int n)
{
	int *p;
	cudaMalloc(&p, n * 4);
	cudaMemset(p, 0, n * 4);
	return p;
}

// ---- graphs ----
static void launch_graph(cudaGraph_t g, int *freed)
{
	cudaGraphExec_t e;
	cudaStream_t s;
	cudaStreamCreate(&s);
	cudaGraphInstantiate(&e, g, 0);
	if (freed)
		cudaFree(freed);
	cudaGraphLaunch(e, s);
	cudaStreamSynchronize(s);
	cudaGraphExecDestroy(e);
	cudaGraphDestroy(g);
	cudaStreamDestroy(s);
}

static void mem_graph_copy(bool bad)
{
	int *a = alloc(64), *b = alloc(64);
	cudaGraph_t g;
	cudaGraphNode_t n;
	cudaGraphCreate(&g, 0);
	cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, b, a, 256, cudaMemcpyDeviceToDevice); // !mem_graph_copy
	launch_graph(g, bad ? a : nullptr);
	if (!bad)
		cudaFree(a);
	cudaFree(b);
}

static void mem_graph_fill(bool bad)
{
	int *a = alloc(64);
	cudaGraph_t g;
	cudaGraphNode_t n;
	cudaMemsetParams m = {a, 0, 0, 4, 64, 1};
	cudaGraphCreate(&g, 0);
	cudaGraphAddMemsetNode(&n, g, nullptr, 0, &m); // !mem_graph_fill
	launch_graph(g, bad ? a : nullptr);
	if (!bad)
		cudaFree(a);
}

static cudaGraph_t captured(int *a, int *b)
{
	cudaGraph_t g;
	cudaStream_t s;
	cudaStreamCreate(&s);
	cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
	if (b)
		cudaMemcpyAsync(b, a, 256, cudaMemcpyDeviceToDevice, s); // !mem_graph_captured
	else
		cudaMemsetAsync(a, 1, 256, s); // !mem_graph_captured_fill
	cudaStreamEndCapture(s, &g);
	cudaStreamDestroy(s);
	return g;
}

static void mem_graph_captured(bool bad)
{
	int *a = alloc(64), *b = alloc(64);
	launch_graph(captured(a, b), bad ? b : nullptr);
	if (!bad)
		cudaFree(b);
	cudaFree(a);
}

static void mem_graph_captured_fill(bool bad)
{
	int *a = alloc(64);
	launch_graph(captured(a, nullptr), bad ? a : nullptr);
	if (!bad)
		cudaFree(a);
}

// ---- read-only ----
K put(int *p)
{
	p[threadIdx.x] = 1; // !mem_readonly
}

K putatom(int *p)
{
	atomicAdd(p, 1); // !mem_readonly_atomic
}

K get(const int *p, int *o)
{
	o[threadIdx.x] = p[threadIdx.x];
}

struct mapping {
	CUdeviceptr at;
	size_t size;
	CUmemGenericAllocationHandle handle;
};
static mapping map_memory(bool writable)
{
	mapping m;
	CUmemAllocationProp prop = {};
	CUmemAccessDesc access = {};
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	cuMemGetAllocationGranularity(&m.size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
	cuMemCreate(&m.handle, m.size, &prop, 0);
	cuMemAddressReserve(&m.at, m.size, 0, 0, 0);
	cuMemMap(m.at, m.size, 0, m.handle, 0);
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	cuMemSetAccess(m.at, m.size, &access, 1);
	cuMemsetD8(m.at, 0, m.size);
	if (!writable) {
		access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
		cuMemSetAccess(m.at, m.size, &access, 1);
	}
	return m;
}

static void unmap_memory(mapping m)
{
	cuMemUnmap(m.at, m.size);
	cuMemAddressFree(m.at, m.size);
	cuMemRelease(m.handle);
}

static void mem_readonly(bool bad)
{
	cudaFree(0);
	mapping m = map_memory(!bad);
	GO(put, 1, 32, (int *)m.at);
	expect(cudaDeviceSynchronize(), bad ? cudaErrorIllegalAddress : cudaSuccess);
	unmap_memory(m);
}

static void mem_readonly_atomic(bool bad)
{
	cudaFree(0);
	mapping m = map_memory(!bad);
	GO(putatom, 1, 32, (int *)m.at);
	expect(cudaDeviceSynchronize(), bad ? cudaErrorIllegalAddress : cudaSuccess);
	unmap_memory(m);
}

static void mem_readonly_set(bool bad)
{
	cudaFree(0);
	mapping m = map_memory(!bad);
	auto got = cudaMemset((void *)m.at, 1, 64); // !mem_readonly_set
	expect(got, bad ? cudaErrorInvalidValue : cudaSuccess);
	unmap_memory(m);
}

static void mem_readonly_copy(bool bad)
{
	int h[64] = {};
	cudaFree(0);
	mapping m = map_memory(!bad);
	auto got = cudaMemcpy((void *)m.at, h, 64, cudaMemcpyHostToDevice); // !mem_readonly_copy
	expect(got, bad ? cudaErrorInvalidValue : cudaSuccess);
	expect(cudaMemcpy(h, (void *)m.at, 64, cudaMemcpyDeviceToHost), cudaSuccess);
	unmap_memory(m);
}

// ---- textures ----
static cudaTextureObject_t linear(int *p, int n)
{
	cudaResourceDesc r = {};
	cudaTextureDesc d = {};
	cudaTextureObject_t t;
	r.resType = cudaResourceTypeLinear;
	r.res.linear.devPtr = p;
	r.res.linear.desc = cudaCreateChannelDesc<int>();
	r.res.linear.sizeInBytes = n * 4;
	cudaCreateTextureObject(&t, &r, &d, nullptr);
	return t;
}

K fetch(cudaTextureObject_t t, int *o, int n)
{
	o[threadIdx.x] = tex1Dfetch<int>(t, n + threadIdx.x); // !mem_texture_end !init_texture_linear
}

static void mem_texture_end(bool bad)
{
	int *p = alloc(64), *o = alloc(64);
	cudaTextureObject_t t = linear(p, 64);
	GO(fetch, 1, 32, t, o, bad ? 33 : 32);
	cudaDeviceSynchronize();
	cudaDestroyTextureObject(t);
	cudaFree(p);
	cudaFree(o);
}

static void init_texture_linear(bool bad)
{
	int *p, *o = alloc(64);
	cudaMalloc(&p, 256);
	cudaMemset(p, 0, bad ? 200 : 256);
	cudaTextureObject_t t = linear(p, 64);
	GO(fetch, 1, 32, t, o, 32);
	cudaDeviceSynchronize();
	cudaDestroyTextureObject(t);
	cudaFree(p);
	cudaFree(o);
}

K fetch2(cudaTextureObject_t t, float *o)
{
	o[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 3.5f); // !mem_texture_array !init_texture_array
}

static void texture_array(bool bad, bool fill)
{
	int *o = alloc(64);
	cudaArray_t a;
	cudaResourceDesc r = {};
	cudaTextureDesc d = {};
	cudaTextureObject_t t;
	cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
	float h[32 * 32] = {};
	cudaMallocArray(&a, &f, 32, 32);
	if (fill)
		cudaMemcpy2DToArray(a, 0, 0, h, 128, 128, 32, cudaMemcpyHostToDevice);
	r.resType = cudaResourceTypeArray;
	r.res.array.array = a;
	cudaCreateTextureObject(&t, &r, &d, nullptr);
	if (bad && fill)
		cudaFreeArray(a);
	GO(fetch2, 1, 32, t, (float *)o);
	cudaDeviceSynchronize();
	cudaDestroyTextureObject(t);
	if (!bad || !fill)
		cudaFreeArray(a);
	cudaFree(o);
}

static void mem_texture_array(bool bad)
{
	texture_array(bad, true);
}

static void init_texture_array(bool bad)
{
	texture_array(bad, !bad);
}

static void init_texture_rows(bool bad)
{
	int *o = alloc(64);
	cudaArray_t a;
	cudaResourceDesc r = {};
	cudaTextureDesc d = {};
	cudaTextureObject_t t;
	cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
	float h[32 * 32] = {};
	cudaMallocArray(&a, &f, 32, 32);
	cudaMemcpy2DToArray(a, 0, 0, h, 128, 128, bad ? 3 : 4, cudaMemcpyHostToDevice);
	r.resType = cudaResourceTypeArray;
	r.res.array.array = a;
	cudaCreateTextureObject(&t, &r, &d, nullptr);
	GO(fetch2, 1, 32, t, (float *)o);
	cudaDeviceSynchronize();
	cudaDestroyTextureObject(t);
	cudaFreeArray(a);
	cudaFree(o);
}

template <int MODE> __global__ void surf(cudaSurfaceObject_t s, int x)
{
	x += 4 * threadIdx.x;
	if (MODE == 0)
		surf2Dwrite(1, s, x, 3); // !mem_surface_trap !mem_surface_freed !mem_surface_odd
	if (MODE == 1)
		surf2Dwrite(1, s, x, 3, cudaBoundaryModeZero);
	if (MODE == 2 && threadIdx.x == 31)
		surf2Dwrite(1, s, x, 3, cudaBoundaryModeClamp);
}

__global__ void surfget(cudaSurfaceObject_t s, int *o)
{
	o[threadIdx.x] = surf2Dread<int>(s, threadIdx.x * 4, 3); // !init_surface
}

static cudaSurfaceObject_t surface(cudaArray_t *a)
{
	cudaResourceDesc r = {};
	cudaSurfaceObject_t s;
	cudaChannelFormatDesc f = cudaCreateChannelDesc<int>();
	cudaMallocArray(a, &f, 32, 32, cudaArraySurfaceLoadStore);
	r.resType = cudaResourceTypeArray;
	r.res.array.array = *a;
	cudaCreateSurfaceObject(&s, &r);
	return s;
}

static void mem_surface_trap(bool bad)
{
	cudaArray_t a;
	cudaSurfaceObject_t s = surface(&a);
	surf<0><<<1, 32>>>(s, bad ? 4 : 0);
	surf<1><<<1, 32>>>(s, 4);
	surf<2><<<1, 32>>>(s, 4);
	cudaDeviceSynchronize();
	cudaDestroySurfaceObject(s);
	cudaFreeArray(a);
}

static void mem_surface_odd(bool bad)
{
	cudaArray_t a;
	cudaSurfaceObject_t s = surface(&a);
	surf<0><<<1, 31>>>(s, bad ? 2 : 0);
	surf<1><<<1, 32>>>(s, 128);
	cudaDeviceSynchronize();
	cudaDestroySurfaceObject(s);
	cudaFreeArray(a);
}

static void mem_surface_freed(bool bad)
{
	cudaArray_t a;
	cudaSurfaceObject_t s = surface(&a);
	if (bad)
		cudaFreeArray(a);
	surf<0><<<1, 32>>>(s, 0);
	cudaDeviceSynchronize();
	cudaDestroySurfaceObject(s);
	if (!bad)
		cudaFreeArray(a);
}

static void init_surface(bool bad)
{
	cudaArray_t a;
	int *o = alloc(32);
	cudaSurfaceObject_t s = surface(&a);
	surf<0><<<1, bad ? 16 : 32>>>(s, 0);
	surfget<<<1, 32>>>(s, o);
	cudaDeviceSynchronize();
	cudaDestroySurfaceObject(s);
	cudaFreeArray(a);
	cudaFree(o);
}
// ---- managed ----
K sum(int *p, size_t n, int *o)
{
	int s = 0;
	for (size_t i = threadIdx.x; i < n; i += 1 << 20)
		s += p[i]; // !init_managed_large
	o[threadIdx.x] = s;
}

static void init_managed_large(bool bad)
{
	int *p, *o = alloc(32);
	size_t n = (size_t)40 << 20;
	cudaMallocManaged(&p, n * 4);
	for (size_t i = 0; i < n - (bad ? 1 << 20 : 0); i += 1 << 20)
		memset(p + i, 1, 128);
	GO(sum, 1, 32, p, n, o);
	cudaDeviceSynchronize();
	cudaFree(p);
	cudaFree(o);
}

// ---- leak ----
K device_leak(int **keep)
{
	int *p = (int *)malloc(40); // !leak_device_heap
	keep[threadIdx.x] = p;
	if (!BAD)
		free(p);
}

static void leak_device_heap(bool bad)
{
	int *o = alloc(64);
	GO(device_leak, 1, 4, (int **)o);
	cudaDeviceSynchronize();
	cudaFree(o);
}

K device_leak_new(int **keep)
{
	int *p = new int[10]; // !leak_device_new
	keep[threadIdx.x] = p;
	if (!BAD)
		delete[] p;
}

static void leak_device_new(bool bad)
{
	int *o = alloc(64);
	GO(device_leak_new, 1, 4, (int **)o);
	cudaDeviceSynchronize();
	cudaFree(o);
}

int main(int argc, char **argv)
{
	bool bad = !strcmp(argv[2], "bad");
#define CASE(n)                                                                                              \
	if (!strcmp(argv[1], #n))                                                                            \
		n(bad);
#include "planted_memory.inc"
	return 0;
}
