// Functions that are inlined everywhere; built with -lineinfo alone, clang tells lines and no calls.
/* int helper(int x) { in a comment */
#include <cstdio>
__device__ inline int helper(int x, int k)
{
	int y = x * k;
	if (y > 10)
		y -= 3;
	return y + 1;
}
__global__ void one(int *out)
{
	int t = threadIdx.x;
	out[t] = helper(t, 3);
}
__global__ void two(int *out)
{
	int t = threadIdx.x;
	int s = 0;
	for (int i = 0; i < t; i++)
		s += helper(i, out[i]);
	out[t] = s;
}
int main()
{
	int *o;
	cudaMalloc(&o, 4096);
	cudaMemset(o, 0, 4096);
	one<<<1, 32>>>(o);
	two<<<1, 32>>>(o);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
