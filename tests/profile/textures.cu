// Launches of kernels that fetch from textures, and read and write surfaces and memory of the host,
// in the order of tests/counters/textures.tsv. Each prints its line there: kernel, two numbers of the
// pattern, threads.
#include <cstdio>
#include <cuda_runtime.h>
#include <initializer_list>

enum kernel {
	FETCH_2D, FETCH_BY_NUMBER, FETCH_1D, FETCH_3D, FETCH_LAYERED,
	LOAD_2D, STORE_2D, LOAD_1D, STORE_1D, LOAD_3D, LOAD_LAYERED,
	FETCH_TWICE, FETCH_WIDE = 13, LOAD_WIDE = 15, STORE_WIDE, FETCH_WIDE_BY_NUMBER,
	LOAD = 19, STORE, ADD = 22, LOAD_CACHED = 29,
};

static __device__ float sum(float4 q)
{
	return q.x + q.y + q.z + q.w;
}

template <int what>
__global__ void run(cudaTextureObject_t t, cudaSurfaceObject_t s, float *p, float *out, int w, float h)
{
	int l = threadIdx.x, x = l % w, y = l / w;
	float v = 0, a = x + .5f + h, b = y + .5f + h;

	if (what == FETCH_2D)
		v = tex2D<float>(t, a, b);
	if (what == FETCH_BY_NUMBER)
		v = tex1Dfetch<float>(t, l * w + (int)h);
	if (what == FETCH_1D)
		v = tex1D<float>(t, l * w + .5f);
	if (what == FETCH_3D)
		v = tex3D<float>(t, l % 4 + .5f, l / 4 % w + .5f, l / 4 / w + .5f);
	if (what == FETCH_LAYERED)
		v = tex2DLayered<float>(t, a, .5f, y);
	if (what == LOAD_2D)
		v = surf2Dread<float>(s, x * 4, y);
	if (what == STORE_2D)
		surf2Dwrite(v, s, x * 4, y);
	if (what == LOAD_1D)
		v = surf1Dread<float>(s, l * w * 4);
	if (what == STORE_1D)
		surf1Dwrite(v, s, l * w * 4);
	if (what == LOAD_3D)
		v = surf3Dread<float>(s, l % 4 * 4, l / 4 % w, l / 4 / w);
	if (what == LOAD_LAYERED)
		v = surf2DLayeredread<float>(s, x * 4, 0, y);
	if (what == FETCH_TWICE) {
		v = tex2D<float>(t, a, b);
		v += tex2D<float>(t, a + v, b);
	}
	if (what == FETCH_WIDE)
		v = sum(tex2D<float4>(t, a, b));
	if (what == LOAD_WIDE)
		v = sum(surf2Dread<float4>(s, x * 16, y));
	if (what == STORE_WIDE)
		surf2Dwrite(make_float4(v, v, v, v), s, x * 16, y);
	if (what == FETCH_WIDE_BY_NUMBER)
		v = sum(tex1Dfetch<float4>(t, l * w));
	if (what == LOAD)
		v = p[l * w];
	if (what == STORE)
		p[l * w] = v;
	if (what == ADD)
		v = atomicAdd(p + l * w, 1.f);
	if (what == LOAD_CACHED) {
		v = __ldg(p + l * w);
		v += __ldg(p + l * w + (int)v);
	}
	out[l] = v;
}

static float *memory, *out;
static cudaTextureObject_t fetched;
static cudaSurfaceObject_t surface;
static cudaResourceDesc resource;

template <int what> static void launch(int w, float h = 0, int threads = 32)
{
	printf("%d %d %g %d\n", what, w, h, threads);
	run<what><<<1, threads>>>(fetched, surface, memory, out, w, h);
}

static void make_texture(bool linear)
{
	cudaTextureDesc d = {};

	d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
	for (int i = 0; i < 3; i++)
		d.addressMode[i] = cudaAddressModeClamp;
	cudaCreateTextureObject(&fetched, &resource, &d, NULL);
}

static void make_array(cudaChannelFormatDesc c, size_t x, size_t y, size_t z, unsigned flags)
{
	cudaMalloc3DArray(&resource.res.array.array, &c, make_cudaExtent(x, y, z), flags);
	cudaCreateSurfaceObject(&surface, &resource);
	make_texture(false);
}

static void make_linear(cudaChannelFormatDesc c)
{
	resource = cudaResourceDesc();
	resource.resType = cudaResourceTypeLinear;
	resource.res.linear.devPtr = memory;
	resource.res.linear.desc = c;
	resource.res.linear.sizeInBytes = 1 << 20;
	make_texture(false);
}

static void planes(void)
{
	make_array(cudaCreateChannelDesc<float>(), 256, 256, 0, cudaArraySurfaceLoadStore);
	for (int w : {32, 16, 8, 4, 2, 1}) {
		launch<FETCH_2D>(w);
		launch<LOAD_2D>(w);
		launch<STORE_2D>(w);
	}
	launch<FETCH_2D>(256, 0, 256);
	launch<FETCH_2D>(8, 0, 20);
	launch<LOAD_2D>(16, 0, 128);
	launch<FETCH_TWICE>(8);
	launch<FETCH_TWICE>(32);
	make_texture(true);
	for (int w : {32, 8, 1})
		launch<FETCH_2D>(w, .25f);
	launch<FETCH_2D>(8, .5f);
}

static void others(void)
{
	make_array(cudaCreateChannelDesc<float>(), 1024, 0, 0, cudaArraySurfaceLoadStore);
	for (int w : {1, 2, 8}) {
		launch<FETCH_1D>(w);
		launch<LOAD_1D>(w);
		launch<STORE_1D>(w);
	}
	make_array(cudaCreateChannelDesc<float>(), 64, 64, 64, cudaArraySurfaceLoadStore);
	for (int w : {1, 2, 4, 8}) {
		launch<FETCH_3D>(w);
		launch<LOAD_3D>(w);
	}
	make_array(cudaCreateChannelDesc<float>(), 64, 64, 8,
		   cudaArraySurfaceLoadStore | cudaArrayLayered);
	for (int w : {32, 8, 4}) {
		launch<FETCH_LAYERED>(w);
		launch<LOAD_LAYERED>(w);
	}
	make_array(cudaCreateChannelDesc<float4>(), 256, 256, 0, cudaArraySurfaceLoadStore);
	for (int w : {32, 8, 1}) {
		launch<FETCH_WIDE>(w);
		launch<LOAD_WIDE>(w);
		launch<STORE_WIDE>(w);
	}
}

int main()
{
	float *host;

	cudaMalloc(&memory, 1 << 20);
	cudaMalloc(&out, 4096);
	cudaHostAlloc(&host, 1 << 20, cudaHostAllocMapped);
	planes();
	others();
	make_linear(cudaCreateChannelDesc<float>());
	for (int w : {1, 2, 8, 32})
		launch<FETCH_BY_NUMBER>(w);
	launch<FETCH_BY_NUMBER>(1, 3);
	make_linear(cudaCreateChannelDesc<float4>());
	for (int w : {1, 2, 8})
		launch<FETCH_WIDE_BY_NUMBER>(w);
	memory = host;
	for (int w : {1, 8, 32}) {
		launch<LOAD>(w);
		launch<STORE>(w);
		launch<ADD>(w);
		launch<LOAD_CACHED>(w);
	}
	return cudaDeviceSynchronize() != cudaSuccess;
}
