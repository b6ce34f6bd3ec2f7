/*
 * What CUDA C++ has beyond C++, each part in a kernel of its own: run by `ptxloom cc` alone, without a
 * toolkit. Every part counts what is wrong.
 */
#include <algorithm>
#include <cassert>
#include <cmath>
#include <complex>
#include <cstdio>
#include <memory>
#include <vector>

#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuComplex.h>
#include <device_launch_parameters.h>
#include <math_constants.h>

static int wrong;

#define CHECK(what)                                                                        \
	do {                                                                               \
		if (!(what)) {                                                             \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #what);                  \
			wrong++;                                                           \
		}                                                                          \
	} while (0)
/* In a kernel: a bit for each thing that is not so. */
#define IS(bit, what)                                                                      \
	do {                                                                               \
		if (!(what))                                                               \
			atomicOr(out, 1u << (bit));                                        \
	} while (0)

static unsigned *result;

/* What the kernel before found wrong. */
static unsigned found()
{
	unsigned r = ~0u;
	cudaError_t e = cudaMemcpy(&r, result, sizeof(r), cudaMemcpyDeviceToHost);

	if (e != cudaSuccess)
		printf("%s\n", cudaGetErrorString(e));
	if (r)
		printf("bits 0x%x\n", r);
	cudaMemset(result, 0, sizeof(r));
	return r;
}

/* ---- variables and memory ---- */

__constant__ float scale[4];
__device__ int counter;
__device__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};

template <typename T, int N> __global__ void variables(unsigned *out)
{
	extern __shared__ unsigned char dynamic[];
	__shared__ T fixed[N];
	T *d = reinterpret_cast<T *>(dynamic);

	fixed[threadIdx.x] = static_cast<T>(threadIdx.x);
	d[threadIdx.x] = static_cast<T>(2 * threadIdx.x);
	__syncthreads();
	IS(0, fixed[N - 1 - threadIdx.x] == static_cast<T>(N - 1 - threadIdx.x));
	IS(1, d[N - 1 - threadIdx.x] == static_cast<T>(2 * (N - 1 - threadIdx.x)));
	IS(2, scale[threadIdx.x % 4] == 1.5f * static_cast<float>(threadIdx.x % 4));
	IS(3, table[threadIdx.x % 8] == static_cast<int>(threadIdx.x % 8) + 1);
	IS(4, blockDim.x == N && gridDim.x == 2 && warpSize == 32);
	atomicAdd(&counter, 1);
}

static void test_variables()
{
	float s[4] = {0, 1.5f, 3, 4.5f};
	int n = 0;
	void *address;
	size_t size;

	cudaMemcpyToSymbol(scale, s, sizeof(s));
	variables<double, 64><<<2, 64, 64 * sizeof(double)>>>(result);
	CHECK(!found());
	variables<int, 32><<<dim3(2), dim3(32), 32 * sizeof(int)>>>(result);
	CHECK(!found());
	cudaMemcpyFromSymbol(&n, counter, sizeof(n));
	CHECK(n == 2 * 64 + 2 * 32);
	CHECK(cudaGetSymbolAddress(&address, table) == cudaSuccess && address);
	CHECK(cudaGetSymbolSize(&size, table) == cudaSuccess && size == sizeof(table));
}

/* ---- atomics ---- */

__global__ void atomics(int *i, unsigned *u, unsigned long long *l, float *f, double *d)
{
	atomicAdd(i, 1);
	atomicSub(i + 1, 2);
	atomicMin(i + 2, -static_cast<int>(threadIdx.x));
	atomicMax(i + 3, static_cast<int>(threadIdx.x));
	atomicInc(u, 9);
	atomicDec(u + 1, 9);
	atomicAnd(u + 2, ~(1u << (threadIdx.x % 16)));
	atomicOr(u + 3, 1u << (threadIdx.x % 16));
	atomicXor(u + 4, threadIdx.x);
	atomicExch(u + 5, 7u);
	atomicAdd_block(u + 6, 1u);
	atomicAdd_system(u + 7, 1u);
	atomicAdd(l, 1ull << 33);
	atomicMax(l + 1, static_cast<unsigned long long>(threadIdx.x) << 40);
	atomicAdd(f, 0.5f);
	atomicAdd(d, 0.25);
	for (int seen = i[4], old; (old = atomicCAS(i + 4, seen, seen + 3)) != seen;)
		seen = old;
}

static void test_atomics()
{
	int hi[8] = {}, *i;
	unsigned hu[8] = {0, 0, 0xffffffffu}, *u;
	unsigned long long hl[2] = {}, *l;
	float hf = 0, *f;
	double hd = 0, *d;

	cudaMalloc(&i, sizeof(hi));
	cudaMalloc(&u, sizeof(hu));
	cudaMalloc(&l, sizeof(hl));
	cudaMalloc(&f, sizeof(hf));
	cudaMalloc(&d, sizeof(hd));
	cudaMemset(i, 0, sizeof(hi));
	cudaMemcpy(u, hu, sizeof(hu), cudaMemcpyHostToDevice);
	cudaMemset(l, 0, sizeof(hl));
	cudaMemset(f, 0, sizeof(hf));
	cudaMemset(d, 0, sizeof(hd));
	atomics<<<2, 64>>>(i, u, l, f, d);
	cudaMemcpy(hi, i, sizeof(hi), cudaMemcpyDeviceToHost);
	cudaMemcpy(hu, u, sizeof(hu), cudaMemcpyDeviceToHost);
	cudaMemcpy(hl, l, sizeof(hl), cudaMemcpyDeviceToHost);
	cudaMemcpy(&hf, f, sizeof(hf), cudaMemcpyDeviceToHost);
	cudaMemcpy(&hd, d, sizeof(hd), cudaMemcpyDeviceToHost);
	CHECK(hi[0] == 128 && hi[1] == -256 && hi[2] == -63 && hi[3] == 63 && hi[4] == 384);
	CHECK(hu[0] == 128 % 10 && hu[1] == 2 && hu[2] == 0xffff0000u && hu[3] == 0xffffu && hu[4] == 0);
	CHECK(hu[5] == 7 && hu[6] == 128 && hu[7] == 128);
	CHECK(hl[0] == 128ull << 33 && hl[1] == 63ull << 40);
	CHECK(hf == 64 && hd == 32);
	cudaFree(i), cudaFree(u), cudaFree(l), cudaFree(f), cudaFree(d);
}

/* ---- warps ---- */

__global__ void warps(unsigned *out)
{
	unsigned lane = threadIdx.x % 32, all = 0xffffffffu;
	int same;

	IS(0, __shfl_sync(all, lane, 5) == 5);
	IS(1, __shfl_up_sync(all, static_cast<float>(lane), 1) == (lane ? lane - 1 : 0));
	IS(2, __shfl_down_sync(all, static_cast<double>(lane), 2) == (lane < 30 ? lane + 2 : lane));
	IS(3, __shfl_xor_sync(all, static_cast<long long>(lane), 16) == (lane ^ 16));
	IS(4, __shfl_sync(all, lane, 1, 8) == (lane & ~7u) + 1);
	IS(5, __ballot_sync(all, lane % 2) == 0xaaaaaaaau);
	IS(6, __any_sync(all, lane == 3) && !__all_sync(all, lane == 3));
	IS(7, __match_any_sync(all, lane / 8) == 0xffu << lane / 8 * 8);
	IS(8, __match_all_sync(all, 7, &same) == all && same);
	IS(9, __reduce_add_sync(all, lane) == 496);
	IS(10, __popc(__activemask()) == 32);
	IS(11, __syncthreads_count(threadIdx.x < 10) == 10);
	IS(12, __syncthreads_or(threadIdx.x == 3) && !__syncthreads_and(threadIdx.x == 3));
	__syncwarp();
	__threadfence_block();
	__threadfence();
	__threadfence_system();
}

/* ---- functions that are instructions ---- */

__global__ void intrinsics(unsigned *out, const float *f, const int4 *v)
{
	int x = static_cast<int>(threadIdx.x) - 5;
	long long big = static_cast<long long>(x) * 10000000019ll;

	IS(0, __popc(0xf0f0u) == 8 && __popcll(~0ull) == 64 && __clz(1) == 31 && __clzll(1) == 63);
	IS(1, __ffs(8) == 4 && __ffs(0) == 0 && __ffsll(1ll << 40) == 41 && __brev(1u) == 0x80000000u);
	IS(2, __mulhi(x, 0x10000000) == static_cast<int>(static_cast<long long>(x) * 0x10000000 >> 32));
	IS(3, __byte_perm(0x03020100u, 0x07060504u, 0x7531) == 0x07050301u);
	IS(4, __float_as_int(1.0f) == 0x3f800000 && __int_as_float(0x40000000) == 2.0f);
	IS(5, __double2int_rn(2.5) == 2 && __float2int_ru(1.1f) == 2 && __float2uint_rd(1.9f) == 1);
	IS(6, __hiloint2double(__double2hiint(3.25), __double2loint(3.25)) == 3.25);
	IS(7, __fadd_ru(1.0f, 1e-9f) > 1.0f && __fadd_rd(1.0f, 1e-9f) == 1.0f && __dmul_rn(3, 0.5) == 1.5);
	IS(8, __saturatef(2.0f) == 1.0f && fabsf(__fdividef(6.0f, 3.0f) - 2.0f) < 1e-5f);
	IS(9, __ldg(f + 1) == 2.0f && __ldg(v).z == 3 && __ldcg(f + 1) == 2.0f && __ldca(v).w == 4);
	IS(10, __dp4a(0x01010101, 0x02020202, 1) == 9 && __umul24(3u, 5u) == 15 && __sad(1, 5, 2) == 6u);
	IS(11, __funnelshift_l(0x80000000u, 1u, 1) == 3u && __funnelshift_r(2u, 1u, 1) == 0x80000001u);
	IS(12, min(3, x) == (x < 3 ? x : 3) && max(big, 0ll) == (big > 0 ? big : 0) && min(1.5f, 2.0f) == 1.5f);
	IS(13, min(3u, 7u) == 3 && max(2.0, 3.0f) == 3 && std::min(1, 2) == 1 && abs(-3) == 3);
	IS(14, __vadd2(0x00010002u, 0x00030004u) == 0x00040006u && __vcmpeq4(0x01020304u, 0x01ff0304u) == 0xff00ffffu);
	IS(15, fabsf(__sinf(0.5f) - 0.4794255f) < 1e-5f && fabsf(__expf(1.0f) - 2.7182818f) < 1e-5f);
	IS(16, fabsf(__powf(2.0f, 3.0f) - 8.0f) < 1e-4f && fabsf(__logf(2.0f) - 0.6931472f) < 1e-6f);
	IS(17, isnan(CUDART_NAN_F) && isinf(CUDART_INF) && !isfinite(CUDART_INF_F) && signbit(-0.0f));
	IS(18, std::sin(0.5f) == sinf(0.5f) && pow(2.0f, 3) == 8 && sqrt(2.25) == 1.5 && rsqrtf(4.0f) == 0.5f);
	IS(20, log2(8.0f) == 3 && fmax(1.0f, 2.0f) == 2 && std::hypot(3.0f, 4.0f) == 5 && exp2(3.0f) == 8);
	IS(21, round(2.5f) == 3 && lround(2.5f) == 3 && fma(2.0f, 3.0f, 1.0f) == 7 && std::cbrt(27.0f) == 3);
	IS(22, trunc(-1.5f) == -1 && copysign(1.0f, -2.0f) == -1 && ilogb(8.0f) == 3 && scalbn(1.0f, 4) == 16);
	IS(19, __isGlobal(f) && !__isShared(f) && clock64() > 0 &&
		       __cvta_global_to_generic(__cvta_generic_to_global(f)) == f);
}

/* ---- C and C++ in kernels ---- */

struct shape {
	__device__ virtual ~shape() {}
	__device__ virtual int sides() const = 0;
};
struct square : shape {
	__device__ int sides() const override { return 4; }
};
struct triangle : shape {
	__device__ int sides() const override { return 3; }
};

template <class F> __global__ void apply(unsigned *out, F f) { IS(0, f(static_cast<int>(threadIdx.x)) >= 10); }

__global__ void library(unsigned *out)
{
	int *p = static_cast<int *>(malloc(32));
	shape *s = threadIdx.x % 2 ? static_cast<shape *>(new square) : new triangle;
	cuDoubleComplex z = cuCmul(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, 4));
	float3 v = make_float3(1, 2, 3);
	dim3 t = threadIdx;

	IS(0, p && s->sides() == (threadIdx.x % 2 ? 4 : 3));
	memset(p, 0, 32);
	IS(1, p[7] == 0 && z.x == -5 && z.y == 10 && v.z == 3 && t.x == threadIdx.x);
	assert(p != nullptr);
	if (threadIdx.x == 0)
		printf("kernel says %d %s %.2f %lld\n", 42, "text", 1.5, 1ll << 40);
	free(p);
	delete s;
}

static void test_host()
{
	cudaDeviceProp prop;
	cudaStream_t stream;
	cudaEvent_t begin, end;
	cudaFuncAttributes a;
	float ms = -1;
	int blocks = 0, threads = 0, grid = 0;
	std::vector<float> data(64, 1.0f);
	std::shared_ptr<int> shared = std::make_shared<int>(3);
	float *device;

	CHECK(cudaGetDeviceProperties(&prop, 0) == cudaSuccess && prop.warpSize == 32 && prop.clockRate > 0);
	CHECK(prop.maxThreadsPerBlock >= 1024 && prop.name[0] && *shared == 3);
	CHECK(cudaStreamCreate(&stream) == cudaSuccess && cudaEventCreate(&begin) == cudaSuccess);
	CHECK(cudaEventCreateWithFlags(&end, cudaEventDefault) == cudaSuccess);
	CHECK(cudaMallocAsync(&device, 64 * sizeof(float), stream) == cudaSuccess);
	cudaEventRecord(begin, stream);
	cudaMemcpyAsync(device, data.data(), 64 * sizeof(float), cudaMemcpyHostToDevice, stream);
	warps<<<1, 64, 0, stream>>>(result);
	cudaEventRecord(end, stream);
	CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
	CHECK(cudaEventElapsedTime(&ms, begin, end) == cudaSuccess && ms >= 0);
	CHECK(!found());
	CHECK(cudaFuncGetAttributes(&a, warps) == cudaSuccess && a.maxThreadsPerBlock >= 64);
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, warps, 64, 0) == cudaSuccess && blocks > 0);
	CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, warps) == cudaSuccess && threads >= 64);
	CHECK(cudaThreadSynchronize() == cudaSuccess && cudaProfilerStop() == cudaSuccess);
	warps<<<1, 5000>>>(result);
	CHECK(cudaGetLastError() != cudaSuccess && cudaGetLastError() == cudaSuccess);
	CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
	CHECK(cuInit(0) == CUDA_SUCCESS);
	CHECK(std::max(1, 2) == 2 && max(1, 2) == 2 && rsqrtf(4) == 0.5f && std::abs(std::complex<float>(3, 4)) == 5);
	cudaFreeAsync(device, stream);
	cudaStreamDestroy(stream);
}

/* What one thread takes for all of its block: no load of it may move across the barrier. */
__global__ void in_turns(unsigned *out, unsigned *next)
{
	__shared__ unsigned turn;

	for (;;) {
		unsigned mine;

		if (!threadIdx.x)
			turn = atomicAdd(next, 1u);
		__syncthreads();
		mine = turn;
		if (mine >= 8)
			break;
		__syncthreads();
		atomicAdd(next + 1, 1u);
	}
	__syncthreads();
	if (!threadIdx.x && !blockIdx.x)
		IS(0, next[1] == 8 * blockDim.x);
}

int main()
{
	unsigned *next;
	float hf[4] = {1, 2, 3, 4}, *f;
	int4 hv = make_int4(1, 2, 3, 4), *v;
	int ten = 10;

	cudaMalloc(&result, sizeof(*result));
	cudaMemset(result, 0, sizeof(*result));
	cudaMalloc(&f, sizeof(hf));
	cudaMalloc((void **)&v, sizeof(hv));
	cudaMemcpy(f, hf, sizeof(hf), cudaMemcpyHostToDevice);
	cudaMemcpy(v, &hv, sizeof(hv), cudaMemcpyHostToDevice);
	test_variables();
	test_atomics();
	intrinsics<<<1, 32>>>(result, f, v);
	CHECK(!found());
	apply<<<1, 32>>>(result, [=] __device__(int x) { return x + ten; });
	CHECK(!found());
	library<<<2, 32>>>(result);
	CHECK(!found());
	cudaMalloc(&next, 2 * sizeof(*next));
	cudaMemset(next, 0, 2 * sizeof(*next));
	in_turns<<<1, 64>>>(result, next);
	CHECK(!found());
	test_host();
	puts(wrong ? "wrong" : "all right");
	return wrong != 0;
}
