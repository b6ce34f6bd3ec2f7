// Variables that nvcc keeps in one register after the other, in a function that is inlined and one that is called.
#include <cstdio>
static __device__ __forceinline__ int twist(int v, int k)
{
	int acc = v;
	for (int i = 0; i < k; i++)
		acc = acc * 3 + i;
	acc ^= 5;
	return acc;
}
static __device__ __noinline__ int deep(int n)
{
	int r = n;
	if (n > 2)
		r = r * 2;
	r += 7;
	return r;
}
__global__ void moving(int *out, int n)
{
	int t = threadIdx.x;
	int x = t;
	for (int j = 0; j < n; j++) {
		if (t & 1)
			x += j;
		else
			x = twist(x, j);
	}
	int y = deep(x);
	x = y + 1;
	out[t] = x;
	out[t + 32] = y;
}
int main()
{
	int *out, host[64];
	cudaMalloc(&out, 256);
	moving<<<1, 32>>>(out, 3);
	cudaMemcpy(host, out, 256, cudaMemcpyDeviceToHost);
	printf("%d %d\n", host[0], host[1]);
	return 0;
}
