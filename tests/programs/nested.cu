/*
 * Kernels that launch kernels: in the default stream, in one of their own, as a tail, in depth, and
 * with memory operations in between. Needs -rdc=true and libcudadevrt.
 */
#include <cstdio>

__global__ void add(int *p, int n, int value)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i] += value;
}

/* Doubles a value in each of `depth` generations. */
__global__ void generations(int *p, int depth)
{
	*p *= 2;
	if (depth > 1)
		generations<<<1, 1>>>(p, depth - 1);
}

__global__ void tail(int *p, int *seen)
{
	*seen = p[0] + p[63];
}

__global__ void parent(int *p, int *results)
{
	cudaStream_t stream;
	int devices = 0;

	if (threadIdx.x)
		return;
	tail<<<1, 1, 0, cudaStreamTailLaunch>>>(p, results);
	cudaMemsetAsync(p, 0, 64 * sizeof(int), 0);
	add<<<2, 32>>>(p, 64, 5);
	add<<<1, 64>>>(p, 64, 2);
	cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
	results[1] = 1;
	generations<<<1, 1, 0, stream>>>(results + 1, 10);
	cudaMemcpyAsync(results + 2, results + 1, sizeof(int), cudaMemcpyDeviceToDevice, stream);
	cudaStreamDestroy(stream);
	add<<<1, 2000>>>(p, 64, 1);
	results[3] = cudaGetLastError() != cudaSuccess;
	results[4] = cudaGetLastError();
	cudaGetDeviceCount(&devices);
	results[5] = devices;
}

int main()
{
	int *p, *results, h[6] = {0, 0, 0, 0, 0, 0};

	if (cudaMalloc(&p, 64 * sizeof(int)) || cudaMalloc(&results, sizeof(h)) ||
	    cudaMemset(p, 1, 64 * sizeof(int)))
		return 1;
	parent<<<1, 32>>>(p, results);
	if (cudaMemcpy(h, results, sizeof(h), cudaMemcpyDeviceToHost)) {
		fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
		return 1;
	}
	printf("%d %d %d %d %d %d\n", h[0], h[1], h[2], h[3], h[4], h[5]);
	if (h[0] != 14 || h[1] != 1024 || h[2] != 1024 || h[3] != 1 || h[4] != 0 || h[5] < 1)
		return 1;
	puts("all right");
	return 0;
}
