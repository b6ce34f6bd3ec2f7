#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <stdio.h>

/* Blocks that wait for each other: thread 0 of each polls, the others are at a barrier. */
__global__ void rounds(int *sums)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();
	int t = blockIdx.x * blockDim.x + threadIdx.x;
	atomicAdd(&sums[0], t);
	grid.sync();
	int seen = sums[0];
	if (t == 0)
		sums[1] = seen * 2;
	grid.sync();
	sums[2 + blockIdx.x] = seen + sums[1];
}

/* Warp 0 waits in a loop for what warp 1 writes. */
__global__ void handover(volatile int *flag, int *out)
{
	int warp = threadIdx.x / 32;
	if (warp == 0) {
		while (!*flag)
			;
		out[threadIdx.x] = *flag;
	} else {
		out[threadIdx.x] = threadIdx.x;
		__threadfence();
		*flag = 7;
	}
}

/* Lanes that wait behind the if have not run what is in it. */
__global__ void few(int *out)
{
	int t = threadIdx.x;
	if (t < 4)
		out[t] = t;
}

int main(void)
{
	int *sums, *out, got[5];
	cudaMalloc((void **)&sums, sizeof(got));
	cudaMalloc((void **)&out, 64 * sizeof(int));
	cudaMemset(sums, 0, sizeof(got));
	void *args[] = {&sums};
	cudaLaunchCooperativeKernel((void *)rounds, dim3(3), dim3(32), args, 0, 0);
	cudaMemcpy(got, sums, sizeof(got), cudaMemcpyDeviceToHost);
	printf("%d %d %d\n", got[0], got[1], got[4]);
	cudaMemset(sums, 0, sizeof(got));
	handover<<<1, 64>>>(sums, out);
	few<<<1, 32>>>(out);
	printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
	return 0;
}
