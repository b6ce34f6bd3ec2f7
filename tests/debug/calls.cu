// Two CTAs of two warps that call functions: a template, an inlined one, a recursive one.
#include <cstdio>
template <typename T> __device__ __noinline__ T square(T x)
{
	T y = x * x;
	return y;
}
__device__ __forceinline__ int thrice(int a)
{
	int b = a + 1;
	b *= 3;
	return b;
}
__device__ __noinline__ int factorial(int n)
{
	if (n < 2)
		return 1;
	return n * factorial(n - 1);
}
__device__ int counter;
__global__ void mix(int *out, int n)
{
	__shared__ int s[64];
	int t = threadIdx.x;
	s[t] = square(t);
	__syncthreads();
	int v = s[(t + 1) % 64];
	v += thrice(t);
	int f = factorial(t % 4 + 1);
	for (int i = 0; i < n; i++) {
		v += i;
		f -= i;
	}
	atomicAdd(&counter, 1);
	out[blockIdx.x * 64 + t] = v + f + (int)square(1.5f);
}
int main()
{
	int *d, h[128];
	cudaMalloc(&d, sizeof(h));
	for (int i = 0; i < 2; i++)
		mix<<<2, 64>>>(d, i + 2);
	cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
	printf("%d %d %s\n", h[0], h[127], cudaGetErrorName(cudaGetLastError()));
	return 3;
}
