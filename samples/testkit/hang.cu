/*
 * A kernel that never ends: the threads of the first warp wait for a flag that nobody sets, the
 * others for them at a barrier.
 */
#include <stdio.h>

__global__ void wait_for_ever(volatile int *flag)
{
	if (threadIdx.x < 32)
		while (!*flag)
			;
	__syncthreads();
}

int main()
{
	int *flag;

	if (cudaMalloc(&flag, sizeof(int)) || cudaMemset(flag, 0, sizeof(int)))
		return 1;
	wait_for_ever<<<1, 128>>>(flag);
	return cudaDeviceSynchronize() ? 1 : 0;
}
