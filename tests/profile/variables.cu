/* A variable, two allocations and local memory, each accessed in a way of its own. */
#include <cuda_runtime.h>

__device__ int table[1024];

__global__ void use(const int *in, int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	volatile int own[4];

	own[i & 3] = in[i];
	out[i] = table[i] + table[i ^ 1] + own[i & 3];
}

int main()
{
	int *in, *out, *unused;

	cudaMalloc(&in, 4096);
	cudaMalloc(&unused, 4096);
	cudaMalloc(&out, 8192);
	use<<<4, 256>>>(in, out);
	return cudaDeviceSynchronize();
}
