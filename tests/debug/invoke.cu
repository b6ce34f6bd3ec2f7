// Functions for a debugger to call: overloads, structures, references, some that fail or wait, one that no kernel calls.
#include <cstdio>
#define KEPT __device__ __noinline__ __attribute__((used))
struct Pair
{
	double x;
	int y;
};
__device__ int calls;
__shared__ int box[32];
template <typename T> __device__ __noinline__ T twice(T x)
{
	return x + x;
}
KEPT int add(int a, int b)
{
	calls++;
	return a + b;
}
KEPT float add(float a, float b)
{
	return a + b;
}
KEPT Pair swap(Pair p, int more)
{
	Pair q = {(double)p.y, (int)p.x + more};
	return q;
}
KEPT void bump(int &at, int by)
{
	at += by;
}
KEPT int factorial(int n)
{
	if (n < 2)
		return 1;
	return n * factorial(n - 1);
}
KEPT int sum(const int *p, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += p[i];
	return s;
}
KEPT int meet(int x)
{
	calls += 100;
	__syncthreads();
	return x;
}
KEPT void leave()
{
	asm("exit;");
}
KEPT void spin()
{
	while (true)
		calls++;
}
KEPT bool odd(signed char c)
{
	printf("odd(%d)\n", c);
	return c & 1;
}
__global__ void work(int *out, Pair *pairs)
{
	int t = threadIdx.x;
	Pair p = pairs[t];
	int mine[4] = {t, 1, 2, 3};
	box[t] = twice(t);
	int r = add(t, 1);
	bump(r, 5);
	p = swap(p, r);
	bump(mine[1], t);
	__syncthreads();
	out[t] = r + mine[1] + p.y + box[31 - t] + (int)twice(1.5f);
}
int main()
{
	int *d, h[32];
	Pair *pairs, host[32];
	for (int i = 0; i < 32; i++)
		host[i] = {i + 0.5, 10 * i};
	cudaMalloc(&d, sizeof(h));
	cudaMalloc(&pairs, sizeof(host));
	cudaMemcpy(pairs, host, sizeof(host), cudaMemcpyHostToDevice);
	work<<<1, 32>>>(d, pairs);
	cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
	printf("%d %d %s\n", h[0], h[31], cudaGetErrorName(cudaGetLastError()));
	return 0;
}
