/*
 * The headers beside cuda_runtime.h that `ptxloom cc` brings along: numbers of 16 bits, cooperative
 * groups, and textures and surfaces with the references that CUDA had until version 11.
 */
#include <cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

static int wrong;

#define CHECK(what)                                                                        \
	do {                                                                               \
		if (!(what)) {                                                             \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #what);                  \
			wrong++;                                                           \
		}                                                                          \
	} while (0)

/* ---- 16 bits ---- */

/* The same conversion and sums in a kernel as on the host, for every pattern. */
template <class H> __global__ void every(const float *f, H *to, H *sum, H *fma, float *back)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	to[i] = H(f[i]);
	sum[i] = to[i] + H(1.25f) * to[i];
	fma[i] = __hfma(to[i], H(0.3f), to[i ^ 1]);
	back[i] = static_cast<float>(to[i]);
}

template <class H> static void test_half(const char *name)
{
	const int n = 65536;
	static float f[n], back[n];
	static H to[n], sum[n], fma[n];
	float *df, *dback;
	H *dto, *dsum, *dfma;
	unsigned state = 1;
	int bad = 0;

	for (int i = 0; i < n; i++) {
		state = state * 1664525u + 1013904223u;
		f[i] = ldexpf(static_cast<float>(state >> 8) / 16777216.0f - 0.5f, static_cast<int>(state % 37) - 26);
	}
	cudaMalloc(&df, sizeof(f));
	cudaMalloc(&dback, sizeof(f));
	cudaMalloc(&dto, sizeof(to));
	cudaMalloc(&dsum, sizeof(to));
	cudaMalloc(&dfma, sizeof(to));
	cudaMemcpy(df, f, sizeof(f), cudaMemcpyHostToDevice);
	every<H><<<n / 256, 256>>>(df, dto, dsum, dfma, dback);
	every<H><<<n / 256, 256>>>(df, dto, dsum, dfma, dback);
	cudaMemcpy(to, dto, sizeof(to), cudaMemcpyDeviceToHost);
	cudaMemcpy(sum, dsum, sizeof(to), cudaMemcpyDeviceToHost);
	cudaMemcpy(fma, dfma, sizeof(to), cudaMemcpyDeviceToHost);
	cudaMemcpy(back, dback, sizeof(f), cudaMemcpyDeviceToHost);
	for (int i = 0; i < n; i++) {
		H t(f[i]), s = t + H(1.25f) * t, m = __hfma(t, H(0.3f), H(f[i ^ 1]));

		if (memcmp(&to[i], &t, 2) || memcmp(&sum[i], &s, 2) || memcmp(&fma[i], &m, 2) ||
		    back[i] != static_cast<float>(t))
			bad++;
		bad += fabsf(back[i] - f[i]) > fabsf(f[i]) / 256 + 1e-7f;
	}
	if (bad)
		printf("%s: %d of %d differ\n", name, bad, n);
	CHECK(!bad);
	cudaFree(df), cudaFree(dback), cudaFree(dto), cudaFree(dsum), cudaFree(dfma);
}

__global__ void pairs(__half2 *h, __half *s, float *f)
{
	int i = threadIdx.x;
	__half2 v = __floats2half2_rn(static_cast<float>(i), 0.5f);

	v = __hfma2(v, __float2half2_rn(2.0f), __half2half2(__float2half(1.0f)));
	v = __hadd2(v, __shfl_xor_sync(0xffffffffu, v, 1));
	h[i] = v;
	atomicAdd(s, __float2half(1.0f));
	f[i] = __high2float(v) + __half2float(hsqrt(__float2half(16.0f))) +
	       (__hgt(__low2half(v), __float2half(3.0f)) ? 100.0f : 0.0f);
}

static void test_pairs()
{
	__half2 *h;
	__half *s;
	float *f;

	cudaMallocManaged(&h, 32 * sizeof(*h));
	cudaMallocManaged(&s, 4);
	cudaMallocManaged(&f, 32 * sizeof(*f));
	memset(s, 0, 4);
	pairs<<<1, 32>>>(h, s, f);
	CHECK(cudaDeviceSynchronize() == cudaSuccess);
	CHECK(__low2float(h[6]) == 2 * 6 + 1 + 2 * 7 + 1 && __high2float(h[6]) == 4);
	CHECK(__half2float(*s) == 32 && f[6] == 4 + 4 + 100);
	cudaFree(h), cudaFree(s), cudaFree(f);
}

/* ---- groups ---- */

__device__ int sum_of(cg::thread_group g, int *room, int v)
{
	int rank = static_cast<int>(g.thread_rank());

	for (int i = static_cast<int>(g.size()) / 2; i > 0; i /= 2) {
		room[rank] = v;
		g.sync();
		if (rank < i)
			v += room[rank + i];
		g.sync();
	}
	return v;
}

__global__ void groups(int *out)
{
	__shared__ int room[256];
	cg::thread_block block = cg::this_thread_block();
	cg::grid_group grid = cg::this_grid();
	auto tile = cg::tiled_partition<16>(block);
	auto small = cg::tiled_partition<4>(tile);
	int v = cg::reduce(tile, static_cast<int>(threadIdx.x), cg::plus<int>());

	if (tile.thread_rank() == 0)
		atomicAdd(out, v);
	v = sum_of(block, room, 1);
	if (block.thread_rank() == 0)
		atomicAdd(out + 1, v);
	if (threadIdx.x % 3 == 0) {
		cg::coalesced_group together = cg::coalesced_threads();

		v = cg::reduce(together, 1, cg::plus<int>());
		if (together.thread_rank() == 0)
			atomicAdd(out + 2, v == static_cast<int>(together.size()) ? v : 10000);
	}
	grid.sync();
	if (grid.thread_rank() == grid.size() - 1)
		out[3] = out[0];
	grid.sync();
	atomicAdd(out + 4, out[3] == out[0] ? cg::inclusive_scan(tile, 1) : 0);
	atomicAdd(out + 5, small.shfl(static_cast<int>(small.thread_rank()), 3) + tile.any(tile.thread_rank() == 2));
	grid.sync();
}

static void test_groups()
{
	int *out;
	void *arguments[] = {&out};

	cudaMallocManaged(&out, 8 * sizeof(*out));
	memset(out, 0, 8 * sizeof(*out));
	CHECK(cudaLaunchCooperativeKernel(groups, dim3(4), dim3(256), arguments) == cudaSuccess);
	CHECK(cudaDeviceSynchronize() == cudaSuccess);
	CHECK(out[0] == 4 * 255 * 128 && out[1] == 4 * 256 && out[2] == 4 * 86 && out[3] == out[0]);
	CHECK(out[4] == 4 * 16 * 136 && out[5] == 4 * 256 * 4);
	cudaFree(out);
}

/* ---- textures and surfaces ---- */

texture<float, 1> line;
texture<uchar4, cudaTextureType2D, cudaReadModeNormalizedFloat> image;

__global__ void fetch(float *out, cudaTextureObject_t object, cudaSurfaceObject_t surface)
{
	int i = static_cast<int>(threadIdx.x), x = i % 4, y = i / 4;
	float v;

	out[i] = tex1Dfetch(line, i) + tex2D(image, static_cast<float>(x), static_cast<float>(y)).y;
	surf2Dwrite(static_cast<float>(i), surface, x * 4, y);
	surf2Dread(&v, surface, x * 4, y);
	out[i] += 100 * v + 10000 * surf2Dread<float>(surface, -4, y, cudaBoundaryModeZero);
	surf2Dwrite(0.0f, surface, 400, y, cudaBoundaryModeZero);
	out[i] += 1000000 * tex2D<float>(object, 0.5f, 0.5f);
}

static void test_textures()
{
	float h[16], *d, *out;
	uchar4 pixels[16];
	cudaArray_t array, plane;
	cudaChannelFormatDesc of_image = cudaCreateChannelDesc<uchar4>(), of_plane = cudaCreateChannelDesc<float>();
	cudaResourceDesc resource = {};
	cudaTextureDesc texture = {};
	cudaTextureObject_t object;
	cudaSurfaceObject_t surface;

	for (int i = 0; i < 16; i++) {
		h[i] = static_cast<float>(i);
		pixels[i] = make_uchar4(0, i % 2 ? 255 : 0, 0, 0);
	}
	cudaMalloc(&d, sizeof(h));
	cudaMallocManaged(&out, sizeof(h));
	cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice);
	CHECK(cudaBindTexture(NULL, line, d, sizeof(h)) == cudaSuccess);
	cudaMallocArray(&array, &of_image, 4, 4);
	cudaMemcpy2DToArray(array, 0, 0, pixels, 16, 16, 4, cudaMemcpyHostToDevice);
	image.filterMode = cudaFilterModePoint;
	image.addressMode[0] = cudaAddressModeWrap;
	CHECK(cudaBindTextureToArray(image, array) == cudaSuccess);
	cudaMallocArray(&plane, &of_plane, 4, 4, cudaArraySurfaceLoadStore);
	resource.resType = cudaResourceTypeArray;
	resource.res.array.array = plane;
	CHECK(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
	CHECK(cudaCreateTextureObject(&object, &resource, &texture, NULL) == cudaSuccess);
	fetch<<<1, 16>>>(out, object, surface);
	CHECK(cudaDeviceSynchronize() == cudaSuccess);
	for (int i = 0; i < 16; i++)
		CHECK(out[i] == static_cast<float>(i + i % 2 + 100 * i));
	CHECK(cudaUnbindTexture(line) == cudaSuccess);
}

int main()
{
	test_half<__half>("half");
	test_half<__nv_bfloat16>("bfloat16");
	test_pairs();
	test_groups();
	test_textures();
	puts(wrong ? "wrong" : "all right");
	return wrong != 0;
}
