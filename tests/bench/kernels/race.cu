/*
 * Kernels whose accesses have no pattern, or are made by copies, for the cost of the race check.
 * race.ptx beside this file is made by:
 *     nvcc -ptx -arch=compute_90 -o race.ptx race.cu
 */
#include <cuda_pipeline.h>

/* A table that all threads read. */
template <class T> __device__ void look_up(const T *table, T *out, unsigned mask, int rounds)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, at = i * 2654435761u;
	T sum = 0;

	for (int k = 0; k < rounds; k++) {
		at = at * 1664525 + 1013904223;
		sum += table[at >> 9 & mask];
	}
	out[i] = sum;
}

extern "C" __global__ void table_f32(const float *table, float *out, unsigned mask, int rounds)
{
	look_up(table, out, mask, rounds);
}

extern "C" __global__ void table_f64(const double *table, double *out, unsigned mask, int rounds)
{
	look_up(table, out, mask, rounds);
}

extern "C" __global__ void table_v4(const float4 *table, float *out, unsigned mask, int rounds)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, at = i * 2654435761u;
	float sum = 0;

	for (int k = 0; k < rounds; k++) {
		at = at * 1664525 + 1013904223;
		float4 v = table[at >> 9 & mask];
		sum += v.x + v.y + v.z + v.w;
	}
	out[i] = sum;
}

/* Sparse matrix times vector: 16 elements a row, of any columns. */
extern "C" __global__ void sparse(const unsigned *column, const float *value, const float *x, float *out, unsigned mask)
{
	unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	for (unsigned k = row * 16; k < row * 16 + 16; k++)
		sum += value[k] * x[column[k] & mask];
	out[row] = sum;
}

/* Counters of the grid: more of them than threads run at once. */
extern "C" __global__ void histogram_global(const unsigned *in, unsigned *count, unsigned mask, int rounds)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int k = 0; k < rounds; k++)
		atomicAdd(&count[(in[i] >> k) & mask], 1);
}

/* Each word is written once, by any thread; n is a power of two. */
extern "C" __global__ void permute(const unsigned *in, unsigned *out, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i * 40503u & (n - 1)] = in[i];
}

/* The pass of a radix sort that writes: 256 digits, each its own end of the output. */
extern "C" __global__ void radix_scatter(const unsigned *in, unsigned *next, unsigned *out, unsigned each)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, digit = in[i] & 255;

	out[digit * each + atomicAdd(&next[digit], 1)] = in[i];
}

/* A step of a breadth-first search: four neighbours of each vertex, claimed by compare and swap. */
extern "C" __global__ void search(const unsigned *edge, unsigned *level, unsigned *queue, unsigned *length,
				  unsigned mask)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int k = 0; k < 4; k++) {
		unsigned to = edge[i * 4 + k] & mask;

		if (atomicCAS(&level[to], 0u, 1u) == 0)
			queue[atomicAdd(length, 1)] = to;
	}
}

/* Values that all threads read, one of 64 words of it written by each block. */
extern "C" __global__ void relax(const unsigned *in, unsigned *value, unsigned mask, int rounds)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, at = in[i], best = ~0u;

	for (int k = 0; k < rounds; k++) {
		at = at * 1664525 + 1013904223;
		best = min(best, ((volatile unsigned *)value)[at >> 9 & mask]);
	}
	atomicMin(&value[i & mask], best);
}

/* Tiles that are copied in the background, two under way. */
extern "C" __global__ void pipeline(const float4 *in, float *out, int rounds)
{
	__shared__ float4 tile[3][256];
	unsigned t = threadIdx.x;
	const float4 *from = in + blockIdx.x * (size_t)blockDim.x * rounds;
	float sum = 0;

	for (int k = 0; k < 2; k++) {
		__pipeline_memcpy_async(&tile[k][t], from + k * 256 + t, 16);
		__pipeline_commit();
	}
	for (int k = 0; k < rounds; k++) {
		__pipeline_wait_prior(1);
		__syncthreads();
		if (k + 2 < rounds)
			__pipeline_memcpy_async(&tile[(k + 2) % 3][t], from + (k + 2) * 256 + t, 16);
		__pipeline_commit();
		for (int j = 0; j < 4; j++) {
			float4 v = tile[k % 3][(t + j * 32) & 255];
			sum += v.x * v.y + v.z * v.w;
		}
	}
	out[blockIdx.x * blockDim.x + t] = sum;
}

static __device__ unsigned shared_address(const void *p)
{
	return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ void wait_for(unsigned long long *bar, unsigned phase)
{
	asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(
			     shared_address(bar)),
		     "r"(phase)
		     : "memory");
}

/* The same by bulk copies and mbarriers: of those that are full, and those that are empty. */
extern "C" __global__ void bulk(const float4 *in, float *out, int rounds)
{
	__shared__ alignas(128) float4 tile[2][256];
	__shared__ unsigned long long full[2], empty[2];
	unsigned t = threadIdx.x;
	const float4 *from = in + blockIdx.x * (size_t)blockDim.x * rounds;
	float sum = 0;

	if (t == 0) {
		for (int k = 0; k < 2; k++) {
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[k])));
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 256;" ::"r"(shared_address(&empty[k])));
		}
		asm volatile("fence.mbarrier_init.release.cluster;");
	}
	__syncthreads();
	for (int k = 0; k < rounds; k++) {
		unsigned slot = k & 1, phase = k / 2 & 1;

		if (t == 0) {
			if (k >= 2)
				wait_for(&empty[slot], phase ^ 1);
			asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(
				shared_address(&full[slot])));
			asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
				     "4096, [%2];" ::"r"(shared_address(tile[slot])),
				     "l"(from + k * 256), "r"(shared_address(&full[slot]))
				     : "memory");
		}
		wait_for(&full[slot], phase);
		for (int j = 0; j < 4; j++) {
			float4 v = tile[slot][(t + j * 32) & 255];
			sum += v.x * v.y + v.z * v.w;
		}
		asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&empty[slot])) : "memory");
	}
	out[blockIdx.x * blockDim.x + t] = sum;
}
