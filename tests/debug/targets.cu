// Lines that call several functions: called, inlined, overloaded, in templates, of headers.
#include <cstdio>
#include <cuda_fp16.h>
static __device__ __noinline__ int add(int a, int b)
{
	return a + b;
}
static __device__ __noinline__ float add(float a, float b)
{
	return a + b;
}
template <typename T> static __device__ __forceinline__ T twice(T v)
{
	T w = v;
	w += v;
	return w;
}
static __device__ __noinline__ int outer(int v)
{
	return add(v, 1);
}
__global__ void targets(int *out)
{
	int t = threadIdx.x;
	int r = add(outer(t), twice(t)) + (int)add(1.5f, __half2float(__float2half(2.0f)));
	r += t;
	out[t] = r;
}
int main()
{
	int *out;
	cudaMalloc(&out, 128);
	targets<<<1, 32>>>(out);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
