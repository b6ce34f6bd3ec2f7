/*
 * Kernels whose results are flipped: one that prints, vectors, predicates, doubles, one launched by
 * a kernel's result; by argument. Prints what they compute.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void copy(const float4 *from, float4 *to)
{
	to[threadIdx.x] = from[threadIdx.x];
}

__global__ void shout(int *sum)
{
	int v = threadIdx.x * 3 + 1;

	printf("thread %d has %d\n", threadIdx.x, v);
	atomicAdd(sum, v);
}

__global__ void halve(double *x)
{
	x[threadIdx.x] = x[threadIdx.x] * 0.5 + 1.0;
}

__device__ __noinline__ int triple(int v)
{
	return v * 3;
}

__global__ void called(int *to)
{
	to[threadIdx.x] = triple((int)threadIdx.x + to[threadIdx.x]);
}

__global__ void reduce(int *sum)
{
	__shared__ int part[128];

	part[threadIdx.x] = threadIdx.x;
	__syncthreads();
	for (int n = 64; n; n /= 2) {
		if (threadIdx.x < n)
			part[threadIdx.x] += part[threadIdx.x + n];
		__syncthreads();
	}
	if (!threadIdx.x)
		*sum = part[0];
}

static char memory[4096];

static void put(void *p, size_t bytes)
{
	cudaMemcpy(p, memory, bytes, cudaMemcpyHostToDevice);
}

static cudaError_t get(void *p, size_t bytes)
{
	cudaError_t e = cudaDeviceSynchronize();

	cudaMemcpy(memory, p, bytes, cudaMemcpyDeviceToHost);
	return e;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "shout";
	cudaError_t e = cudaSuccess;
	int *p, sum = 0;

	if (cudaMalloc(&p, sizeof(memory)))
		return 2;
	put(p, sizeof(memory));
	if (!strcmp(what, "shout")) {
		shout<<<1, 4>>>(p);
		e = get(p, 4);
	} else if (!strcmp(what, "copy")) {
		copy<<<1, 8>>>((float4 *)p, (float4 *)p + 8);
		e = get(p, 256);
	} else if (!strcmp(what, "halve")) {
		halve<<<1, 32>>>((double *)p);
		e = get(p, 256);
		for (int i = 0; i < 32; i++)
			sum += ((double *)memory)[i] != 1.0;
		printf("%d wrong\n", sum);
		return e;
	} else if (!strcmp(what, "called")) {
		called<<<2, 64>>>(p);
		e = get(p, 256);
	} else {
		reduce<<<1, 128>>>(p);
		e = get(p, 4);
	}
	for (int i = 0; i < 64; i++)
		sum += ((int *)memory)[i];
	printf("%s %d %s\n", what, sum, cudaGetErrorName(e));
	return e != cudaSuccess;
}
