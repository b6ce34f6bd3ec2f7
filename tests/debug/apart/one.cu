// A program of two files that are compiled apart: each has names of its own, and names that both have.
#include <cstdio>
void launch_two(int *out);
namespace alpha { __device__ int level = 3; }
static __device__ int hidden = 11;
__device__ int only_one[4] = {1, 2, 3, 4};
__device__ __noinline__ int add_one(int x)
{
	int y = x + hidden;
	return y + only_one[x & 3];
}
__global__ void first(int *out)
{
	int t = threadIdx.x;
	out[t] = add_one(t) + alpha::level;
}
int main()
{
	int *out;
	cudaMalloc(&out, 4096);
	launch_two(out);
	first<<<1, 32>>>(out);
	launch_two(out);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
