// Functions that call themselves, that are called through pointers, that are inlined.
#include <cstdio>
typedef int (*Op)(int, int);
__device__ __noinline__ int gcd(int a, int b)
{
	if (b == 0)
		return a;
	int r = a % b;
	return gcd(b, r);
}
__device__ int add(int a, int b)
{
	return a + b;
}
__device__ int mul(int a, int b)
{
	int p = a * b;
	return p;
}
__device__ Op ops[2] = {add, mul};
__device__ __forceinline__ int twice(int v)
{
	int w = v + v;
	return w;
}
__device__ __noinline__ int fib(int n)
{
	if (n < 2)
		return n;
	int x = fib(n - 1);
	int y = fib(n - 2);
	return x + y;
}
__global__ void recurse(int *out)
{
	int t = threadIdx.x;
	int g = gcd(36, t + 4);
	int f = fib(t % 4 + 2);
	int o = ops[t % 2](g, f);
	out[t] = twice(o);
}
int main()
{
	int out[32], *d;
	cudaMalloc(&d, sizeof(out));
	recurse<<<1, 32>>>(d);
	cudaMemcpy(out, d, sizeof(out), cudaMemcpyDeviceToHost);
	for (int i = 0; i < 8; i++)
		printf("%d ", out[i]);
	printf("\n");
	return 0;
}
