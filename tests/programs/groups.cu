// Cooperative groups and libcu++: groups of every size, reductions and scans, asynchronous copies, barriers,
// pipelines, atomic references, semaphores, the barrier of a grid.
#include "try.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/semaphore>

namespace cg = cooperative_groups;

constexpr int threads = 256, tiles = 16;

// All CTAs write, meet, and read what the next one has written.
__global__ void meet(int *out, int rounds)
{
	cg::grid_group grid = cg::this_grid();

	for (int i = 1; i <= rounds; i++) {
		if (threadIdx.x == 0)
			out[blockIdx.x] = i;
		grid.sync();
		if (out[(blockIdx.x + 1) % gridDim.x] < i)
			__trap();
		grid.sync();
	}
}

__global__ void small_groups(int *out)
{
	auto block = cg::this_thread_block();
	auto four = cg::tiled_partition<4>(block);
	auto warp = cg::tiled_partition<32>(block);
	int t = threadIdx.x;

	out[t] = cg::reduce(four, t, cg::plus<int>());
	out[threads + t] = cg::inclusive_scan(warp, t);
	out[2 * threads + t] = four.shfl_xor(t, 1) * 100 + four.meta_group_rank();
	if (t % 3 == 0) {
		auto some = cg::coalesced_threads();
		auto alike = cg::labeled_partition(some, t % 2);

		out[3 * threads + t] = some.size() * 100 + some.thread_rank();
		out[4 * threads + t] = cg::reduce(some, 1, cg::plus<int>()) * 100 + alike.size();
	}
}

// A tile of two warps keeps its barrier in shared memory that belongs to the system.
__global__ void large_tiles(int *out)
{
	__shared__ cg::block_tile_memory<threads> memory;
	auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));

	out[threadIdx.x] = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>());
	tile.sync();
	out[threads + threadIdx.x] = tile.meta_group_rank() * 100 + tile.num_threads();
}

__global__ void copies(const int *in, int *out)
{
	__shared__ int tile[threads];
	auto block = cg::this_thread_block();

	cg::memcpy_async(block, tile, in + blockIdx.x * threads, sizeof(tile));
	cg::wait(block);
	out[blockIdx.x * threads + threadIdx.x] = tile[threads - 1 - threadIdx.x];
}

#pragma nv_diag_suppress static_var_with_dynamic_init
__global__ void barriers(const int *in, int *out, int rounds)
{
	__shared__ cuda::barrier<cuda::thread_scope_block> barrier;
	__shared__ int tile[threads];
	int sum = 0;

	if (threadIdx.x == 0)
		init(&barrier, threads);
	__syncthreads();
	for (int i = 0; i < rounds; i++) {
		cuda::memcpy_async(tile + threadIdx.x, in + i * threads + threadIdx.x, sizeof(int), barrier);
		barrier.arrive_and_wait();
		sum += tile[threads - 1 - threadIdx.x];
		auto token = barrier.arrive();
		barrier.wait(std::move(token));
	}
	out[threadIdx.x] = sum;
}

__global__ void pipelines(const int *in, int *out, int rounds)
{
	constexpr int stages = 2;
	__shared__ int tile[stages][threads];
	__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
	auto block = cg::this_thread_block();
	auto pipeline = cuda::make_pipeline(block, &state);
	int sum = 0, next = 0;

	for (int i = 0; i < rounds; i++) {
		for (; next < rounds && next < i + stages; next++) {
			pipeline.producer_acquire();
			cuda::memcpy_async(block, tile[next % stages], in + next * threads, sizeof(tile[0]),
							   pipeline);
			pipeline.producer_commit();
		}
		pipeline.consumer_wait();
		sum += tile[i % stages][threads - 1 - threadIdx.x];
		pipeline.consumer_release();
	}
	out[threadIdx.x] = sum;
}

__global__ void references(int *out)
{
	cuda::atomic_ref<int, cuda::thread_scope_device> sum(out[0]), most(out[1]), pairs(out[2]);
	int seen = pairs.load(cuda::memory_order_relaxed);

	sum.fetch_add(1, cuda::memory_order_relaxed);
	most.fetch_max(blockIdx.x * blockDim.x + threadIdx.x);
	while (!pairs.compare_exchange_weak(seen, seen + 2))
		;
}

__device__ int inside, most_inside, passed;

// At most three threads between acquire and release, all over the grid.
__device__ cuda::counting_semaphore<cuda::thread_scope_device, 3> *gate;

__global__ void open_gate(void *memory)
{
	gate = new (memory) cuda::counting_semaphore<cuda::thread_scope_device, 3>(3);
}

__global__ void through_gate()
{
	gate->acquire();
	atomicMax(&most_inside, atomicAdd(&inside, 1) + 1);
	__nanosleep(10);
	atomicSub(&inside, 1);
	gate->release();
	atomicAdd(&passed, 1);
}

static int test_groups(int *out)
{
	small_groups<<<1, threads>>>(out);
	TRY(cudaDeviceSynchronize());
	for (int t = 0; t < threads; t++) {
		int w = t / 32 * 32, all = 0, before = 0, alike = 0;

		RIGHT(out[t] == t / 4 * 16 + 6);
		RIGHT(out[threads + t] == (w + t) * (t - w + 1) / 2);
		RIGHT(out[2 * threads + t] == (t ^ 1) * 100 + t / 4);
		for (int x = w; t % 3 == 0 && x < w + 32; x++)
			if (x % 3 == 0) {
				all++;
				before += x < t;
				alike += x % 2 == t % 2;
			}
		RIGHT(t % 3 || out[3 * threads + t] == all * 100 + before);
		RIGHT(t % 3 || out[4 * threads + t] == all * 100 + alike);
	}
	large_tiles<<<1, threads>>>(out);
	TRY(cudaDeviceSynchronize());
	for (int t = 0; t < threads; t++) {
		RIGHT(out[t] == t / 64 * 64 * 64 + 63 * 32);
		RIGHT(out[threads + t] == t / 64 * 100 + 64);
	}
	return 0;
}

static int test_copies(int *in, int *out)
{
	int sum;

	for (int i = 0; i < tiles * threads; i++)
		in[i] = i * 7 + 1;
	copies<<<tiles, threads>>>(in, out);
	TRY(cudaDeviceSynchronize());
	for (int i = 0; i < tiles * threads; i++)
		RIGHT(out[i] == in[i / threads * threads + threads - 1 - i % threads]);
	for (int way = 0; way < 2; way++) {
		if (way)
			pipelines<<<1, threads>>>(in, out, tiles);
		else
			barriers<<<1, threads>>>(in, out, tiles);
		TRY(cudaDeviceSynchronize());
		for (int t = 0; t < threads; t++) {
			sum = 0;
			for (int k = 0; k < tiles; k++)
				sum += in[k * threads + threads - 1 - t];
			RIGHT(out[t] == sum);
		}
	}
	return 0;
}

static int test_atomics(int *out)
{
	int most, left, all;

	out[0] = out[1] = out[2] = 0;
	references<<<4, 64>>>(out);
	TRY(cudaDeviceSynchronize());
	RIGHT(out[0] == 256 && out[1] == 255 && out[2] == 512);
	open_gate<<<1, 1>>>(out);
	through_gate<<<4, 48>>>();
	TRY(cudaDeviceSynchronize());
	TRY(cudaMemcpyFromSymbol(&most, most_inside, sizeof(int)));
	TRY(cudaMemcpyFromSymbol(&left, inside, sizeof(int)));
	TRY(cudaMemcpyFromSymbol(&all, passed, sizeof(int)));
	RIGHT(most >= 1 && most <= 3 && left == 0 && all == 192);
	return 0;
}

int main()
{
	int *in, *out, rounds = 50;
	void *args[] = {&out, &rounds};

	TRY(cudaMallocManaged(&in, tiles * threads * sizeof(int)));
	TRY(cudaMallocManaged(&out, tiles * threads * sizeof(int)));
	TRY(cudaLaunchCooperativeKernel((void *)meet, dim3(64), dim3(64), args, 0, 0));
	TRY(cudaDeviceSynchronize());
	for (int i = 0; i < 64; i++)
		RIGHT(out[i] == rounds);
	if (test_groups(out) || test_copies(in, out) || test_atomics(out))
		return 1;
	printf("all right\n");
	return 0;
}
