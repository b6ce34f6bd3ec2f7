/*
 * Kernels on two devices at once, twice each; atomics in shared memory; a kernel that takes memory of
 * the heap. Prints what they leave behind.
 */
#include <cstdio>
#include <cstring>

__global__ void put(int *p)
{
	p[threadIdx.x] = threadIdx.x;
}

__global__ void gather(int *p)
{
	__shared__ float sum;

	if (threadIdx.x == 0)
		sum = 0;
	__syncthreads();
	atomicAdd(&sum, 1.0f);
	__syncthreads();
	if (threadIdx.x == 0)
		*p = (int)sum;
}

__global__ void heap(int *p)
{
	int *volatile *at = (int *volatile *)(p + 2);

	*at = (int *)malloc(4);
	*p = *at != nullptr;
	free(*at);
	*at = nullptr;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "put";
	int *p[2], n[32], devices = strcmp(what, "put") ? 1 : 2;

	for (int d = 0; d < devices; d++)
		if (cudaSetDevice(d) || cudaMalloc(&p[d], 128) || cudaMemset(p[d], 0, 128))
			return 2;
	for (int i = 0; i < 2 * devices; i++) {
		cudaSetDevice(i % devices);
		if (!strcmp(what, "gather"))
			gather<<<1, 64>>>(p[0]);
		else if (!strcmp(what, "heap"))
			heap<<<1, 1>>>(p[0]);
		else
			put<<<1, 32>>>(p[i % 2]);
	}
	for (int d = 0; d < devices; d++) {
		int sum = 0;

		cudaSetDevice(d);
		if (cudaMemcpy(n, p[d], 128, cudaMemcpyDeviceToHost))
			return 1;
		for (int i = 0; i < 32; i++)
			sum += n[i];
		printf("%s %d\n", what, sum);
	}
	return 0;
}
