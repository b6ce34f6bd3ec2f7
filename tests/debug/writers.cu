// Memory that is read and written by other than loads and stores, often with the value that was there.
#include <cstdio>
#include "writers.h"
// The lines of this file are named in moves.txt.
__device__ int box[64];
__global__ void matrix(float *out)
{
	__shared__ float tile[256];
	float f[8] = {0, 0, 0, 0, 0, 0, 0, 0}, *at = tile;
	asm volatile("" : "+l"(at));
	at[threadIdx.x] = 0;
	STORE(at, f);
	LOAD(f, at);
	STORE(out, f);
}
__global__ void surface(cudaSurfaceObject_t s)
{
	int x = threadIdx.x, v;
	asm volatile("sust.b.2d.b32.trap [%0, {%1, %2}], {%3};" : : "l"(s), "r"(4 * x), "r"(1), "r"(0));
	asm volatile("suld.b.2d.b32.trap {%0}, [%1, {%2, %3}];" : "=r"(v) : "l"(s), "r"(4 * x), "r"(1));
	box[x] = v;
}
__global__ void copy(int *from)
{
	__shared__ int part[64];
	int t = threadIdx.x;
	part[t] = 0;
	unsigned long long at;
	asm("cvta.to.shared.u64 %0, %1;" : "=l"(at) : "l"(&part[t]));
	unsigned to = (unsigned)at;
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(to), "l"(from + t) : "memory");
	asm volatile("cp.async.wait_all;" : : : "memory");
	int seen = part[t];
	if (t == 5)
		printf("%d\n", seen);
}
int main()
{
	cudaArray_t a;
	cudaChannelFormatDesc d = cudaCreateChannelDesc<int>();
	cudaResourceDesc r = {};
	cudaSurfaceObject_t s;
	void *out;
	cudaMalloc(&out, 1024);
	cudaMemset(out, 0, 1024);
	cudaMallocArray(&a, &d, 32, 4, cudaArraySurfaceLoadStore);
	r.resType = cudaResourceTypeArray;
	r.res.array.array = a;
	cudaCreateSurfaceObject(&s, &r);
	matrix<<<1, 32>>>((float *)out);
	surface<<<1, 32>>>(s);
	copy<<<1, 32>>>((int *)out);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
