/* A device reads and writes the memory of another one, and of the host; data is copied between all three. */
#include <cuda_runtime.h>

#include <stdio.h>

#define N 4096

__global__ void take(const int *from, int *to)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	to[i] = from[i];
}

int main()
{
	int *near, *far, *host, devices = 0;

	cudaGetDeviceCount(&devices);
	if (devices < 2)
		return puts("two devices are needed"), 1;
	cudaSetDevice(1);
	cudaMalloc(&far, N * sizeof(int));
	cudaSetDevice(0);
	cudaDeviceEnablePeerAccess(1, 0);
	cudaMalloc(&near, N * sizeof(int));
	cudaMallocHost(&host, N * sizeof(int));
	cudaMemcpy(near, host, N * sizeof(int), cudaMemcpyHostToDevice);
	cudaMemcpyPeer(far, 1, near, 0, N * sizeof(int));
	cudaMemcpyPeer(near, 0, far, 1, 1024);
	take<<<N / 256, 256>>>(far, near);
	take<<<N / 256 / 2, 256>>>(near, far);
	take<<<N / 256, 256>>>(host, near);
	return cudaDeviceSynchronize();
}
